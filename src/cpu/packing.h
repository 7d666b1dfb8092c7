/* packing.h - what the packing of a block of A or B has to do, for gemm.c and for the simulator.
 *
 * Bytes of other signs than the kernel's u8 x s8 are shifted while packing, or as a tile reads an A
 * that stays where it is, a' = a + za and b' = b - zb with za, zb 0 or 128, and the tile's terms
 * undo it exactly modulo 2^32:
 *     sum ab = sum a'b' + zb * sum a' - za * sum b' - k * za * zb
 * SDOT of Arm multiplies bytes of one sign: where they differ the unsigned ones are shifted, those
 * of A by za = -128. XOR of bits uses popcount(a ^ b) = popcount(a) + popcount(b) - 2 popcount(a &
 * b) the same way.
 */
#ifndef TCGEMM_CPU_PACKING_H
#define TCGEMM_CPU_PACKING_H

#include "cpu/kernels/ukernel.h"
#include "problem/canonical.h"

typedef struct tcgemm_signs {
    bool a_is_signed, b_is_signed; /* the packed bytes; of u8s8 the matrices' own */
    uint8_t flip_a, flip_b;
    uint32_t za, zb;
    bool use_a_terms, use_b_terms;
} tcgemm_signs_t;

/* A block of the three outer loops of gemm.c. */
typedef struct tcgemm_cpu_block {
    int64_t row, rows; /* within D */
    int64_t col, cols;
    int64_t k, ks;
    bool first, last; /* of k */
} tcgemm_cpu_block_t;

/* True if tiles of the family may need a sum of every line of A or B. */
static inline bool tcgemm_family_has_terms(tcgemm_family_t family) {
    return family == TCGEMM_FAMILY_U8S8 || family == TCGEMM_FAMILY_I8X4 ||
           family == TCGEMM_FAMILY_B1;
}

tcgemm_signs_t tcgemm_signs_of(const tcgemm_canonical_t *g, tcgemm_family_t family);

/* The block's part of A or B; `offset` elements from `source` on the item of the batch begins. */
tcgemm_pack_t tcgemm_pack_of_a(const tcgemm_canonical_t *g, tcgemm_family_t family,
                               const tcgemm_signs_t *signs, const void *source, int64_t offset,
                               const tcgemm_cpu_block_t *block);
tcgemm_pack_t tcgemm_pack_of_b(const tcgemm_canonical_t *g, tcgemm_family_t family,
                               const tcgemm_signs_t *signs, const void *source, int64_t offset,
                               const tcgemm_cpu_block_t *block);

/* Whole panels of A, one behind the other, that the kernel's `pack` takes at most by one call: more
 * than one of lines across k alone. */
int tcgemm_panels_at_once(const tcgemm_cpu_ukernel_t *u, const tcgemm_pack_t *pack);

/* The call with C and D of an item of the batch, A and B as they are. */
tcgemm_call_t tcgemm_item_output(const tcgemm_canonical_t *g, const tcgemm_call_t *call,
                                 int64_t item);

#endif
