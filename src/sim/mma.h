/* mma.h - what the files of mma-pipelined's simulator share: mma_operand.c brings operands from
 * memory to the lanes of a warp, mma.c runs the loops and the epilogue. */
#ifndef TCGEMM_SIM_MMA_H
#define TCGEMM_SIM_MMA_H

#include "gpu/gpu_row.h"
#include "sim/product.h"
#include "sim/shared.h"
#include "tile/copy.h"

enum {
    TCGEMM_SIM_MMA_LANES = 32,
    TCGEMM_SIM_MMA_UNITS = 8, /* at most, of an operand of a warp */
    TCGEMM_SIM_MMA_ROWS = 16, /* of the instruction */
    TCGEMM_SIM_MMA_COLS = 8
};

/* A word of a fragment holds up to four elements: [lane][word][element]. */
typedef struct tcgemm_sim_mma_words {
    tcgemm_sim_name_t at[TCGEMM_SIM_MMA_LANES][4][4];
} tcgemm_sim_mma_words_t;

/* One operand: how it is copied and read. */
typedef struct tcgemm_sim_mma_side {
    int side;   /* of the instruction */
    int matrix; /* TCGEMM_SIDE_A or _B: whose elements they are; the other one's if swapped */
    int form;
    uint32_t size; /* of an element, in bytes */
    tcgemm_copy_shape_t copy;
    uint32_t base; /* of the operand in a slot */
    int64_t first; /* row of A (column of B) that the block begins with */
    uint32_t mn;   /* of the block */
    uint32_t warp; /* of a warp */
    int units;
} tcgemm_sim_mma_side_t;

typedef struct tcgemm_sim_mma {
    tcgemm_sim_t *sim;
    const tcgemm_gpu_row_t *row;
    tcgemm_sim_shared_t shared;
    tcgemm_sim_mma_side_t a, b;
    int warps, warps_n;
    uint32_t slot_bytes, blocks, steps, step_k;
    int64_t item;
    bool is_whole; /* 16-byte chunks throughout */
    bool swap;     /* the transposed product: fragment.h */
    tcgemm_sim_product_t *products;
    tcgemm_sim_mma_words_t words; /* of the unit that was read last */
    tcgemm_sim_operand_t operand_a[TCGEMM_SIM_MMA_UNITS], operand_b[2 * TCGEMM_SIM_MMA_UNITS];
} tcgemm_sim_mma_t;

/* All threads copy part `part` of `parts` of a block of k into its slot. */
void tcgemm_sim_mma_copy(tcgemm_sim_mma_t *x, const tcgemm_sim_mma_side_t *s, uint32_t block,
                         uint32_t part, uint32_t parts, bool async);

/* A warp whose rows (columns) begin at `first` reads a unit of the operand that lies at byte
 * `tile`: x->words, and one operand of the instruction for A, two for B. */
void tcgemm_sim_mma_read(tcgemm_sim_mma_t *x, const tcgemm_sim_mma_side_t *s, int warp,
                         uint32_t first, uint32_t tile, uint32_t step, uint32_t unit);
void tcgemm_sim_mma_gather(const tcgemm_sim_mma_t *x, const tcgemm_sim_mma_side_t *s,
                           tcgemm_sim_operand_t *operands);

#endif
