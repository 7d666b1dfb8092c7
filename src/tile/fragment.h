/* fragment.h - which lane of a warp owns which element of an mma.sync product.
 *
 * All types share one frame. A `unit` is 16 rows of A (or 16 columns of B) by one `step` of k: 32
 * bytes of k, or 64 for f64. A lane holds a unit as four words, g = lane / 4, q = lane % 4:
 *
 *              side A: half of the step           side B: half of the step
 *                  first        second                first        second
 *     half 0   word 0       word 2               word 0       word 1         of the unit, slot g
 *     half 1   word 1       word 3               word 2       word 3
 *
 * The words 0..3 of side A are the A operand of m16n8; words 0, 1 and words 2, 3 of side B are the
 * B operands of two n8 products (the hardware wants them in neighbouring registers). The
 * accumulators c0..c3 of m16n8: c0, c1 in half 0 of the rows, c2, c3 in half 1, slot g; columns 2q,
 * 2q+1 of the eight.
 *
 *     type     instruction     word              k of lane q in half h of the step
 *     8-bit    m16n8k32        4 x 8 bit         16h + 4q .. 4q+3
 *     16-bit   m16n8k16        2 x 16 bit         8h + 2q, 2q+1
 *     tf32     m16n8k8         1 x 32 bit         4h + q
 *     f64      m16n8k8         1 x 64 bit         2q + h      any order will do if A and B agree:
 *                                                             4h + q for singles of the K form
 *
 * m and n may be dealt out to (unit, half, slot) in any order too, as long as the result is stored
 * accordingly. That makes the operands whose m or n is contiguous cheap to read:
 *
 *     dealing   used for                                       unit u, half h, slot s stands for
 *     plain     K form; MN form of 16 bit, of tf32 on side B       16u + 8h + s
 *               and of singles
 *     pairs     MN form of 8 bit, of f64, and of tf32 on side A    16u + 2s + h
 *
 *     8 bit:  ldmatrix.trans on pairs of bytes gives a lane two m (or n) and two k in a register;
 *             one byte permutation of two registers makes two words.
 *     tf32:   an 8-byte load gives a lane two m of one k: two neighbouring words of side A. On
 *             side B neighbouring words are of different k: 4-byte loads. (16-byte loads work
 *             too, but then most words must be moved to another register first.)
 *     f64:    one 16-byte load gives a lane two m (or n) of one k, or two k of one m.
 *
 * Singles: words of f64 that a lane loads one by one. In m16n8k16 of sm_90 neighbouring words of
 * side A are two m of one k, and of side B two k of one n; where a 16-byte load gives the other
 * two, every word would have to be moved to another register.
 */
#ifndef TCGEMM_TILE_FRAGMENT_H
#define TCGEMM_TILE_FRAGMENT_H

#include "tile/swizzle.h"

#define TCGEMM_SIDE_A 0
#define TCGEMM_SIDE_B 1

/* Whether mma-pipelined computes the transposed product, B^T as side A and A^T as side B. Side A
 * wants two m of one k in neighbouring registers, side B two k of one n; where words are loaded one
 * by one or in pairs (tf32, f64), NN offers each side what the other wants. compute_capability: ten
 * times the number; before sm_90 each f64 of a product is a register pair by itself. */
TCGEMM_HD int tcgemm_fragment_swaps(uint32_t element_bytes, int a_form, int b_form,
                                    int compute_capability) {
    return (element_bytes == 4 || (element_bytes == 8 && compute_capability >= 90)) &&
           a_form == TCGEMM_FORM_K && b_form == TCGEMM_FORM_MN;
}

/* Whether `side` is loaded in singles, for an m16n8k16 of f64 with these forms. */
TCGEMM_HD int tcgemm_fragment_singles(int side, int a_form, int b_form) {
    return side == TCGEMM_SIDE_A ? a_form == TCGEMM_FORM_K : b_form == a_form;
}

/* Bytes of k in a step. */
TCGEMM_HD uint32_t tcgemm_fragment_step_bytes(uint32_t element_bytes) {
    return element_bytes == 8 ? 64u : 32u;
}

/* The row of A (column of B), from the start of the warp's tile, that a slot stands for. */
TCGEMM_HD uint32_t tcgemm_fragment_mn(int side, int form, uint32_t element_bytes, int singles,
                                      uint32_t unit, uint32_t half, uint32_t slot) {
    const int pairs = form == TCGEMM_FORM_MN && element_bytes != 2 && !singles &&
                      !(element_bytes == 4 && side == TCGEMM_SIDE_B);
    return 16u * unit + (pairs ? 2u * slot + half : 8u * half + slot);
}

/* Which half of the unit's 16 rows, and which half of the step, a word belongs to. */
TCGEMM_HD uint32_t tcgemm_fragment_mn_half(int side, uint32_t word) {
    return side == TCGEMM_SIDE_A ? word & 1u : word >> 1;
}
TCGEMM_HD uint32_t tcgemm_fragment_k_half(int side, uint32_t word) {
    return side == TCGEMM_SIDE_A ? word >> 1 : word & 1u;
}

/* Row and column of accumulator c0..c3 inside its 16 x 8 product, as half * 8 + slot and slot. */
TCGEMM_HD uint32_t tcgemm_fragment_c_row(uint32_t lane, uint32_t c) {
    return 8u * (c >> 1) + (lane >> 2);
}
TCGEMM_HD uint32_t tcgemm_fragment_c_col(uint32_t lane, uint32_t c) {
    return 2u * (lane & 3u) + (c & 1u);
}

/* The row of shared memory, from the first row of a unit (K form) or of a step (MN form), that a
 * lane reads. 1-, 2- and 4-byte K form and 1- and 2-byte MN form: the address it hands to
 * ldmatrix.x4. The others load by themselves, f64 16 bytes, or 8 in singles, tf32 8 bytes on side A
 * and 4 on side B, from this row and from the one tcgemm_fragment_second_row further down; side B
 * of tf32, and of singles in MN form, also eight columns further, singles in K form four k further.
 */
TCGEMM_HD uint32_t tcgemm_fragment_row(int side, int form, uint32_t element_bytes, uint32_t lane) {
    const uint32_t matrix = lane >> 3, line = lane & 7u;
    if (form == TCGEMM_FORM_K) {
        if (element_bytes == 8)
            return lane >> 2;
        return 8u * tcgemm_fragment_mn_half(side, matrix) + line;
    }
    switch (element_bytes) {
    case 1: /* matrix rows in the order k = 0,1, 4,5, 8,9, 12,13 and 2,3, 6,7, ... */
        return 16u * (matrix >> 1) + 4u * (line >> 1) + 2u * (matrix & 1u) + (line & 1u);
    case 2:
        return 8u * tcgemm_fragment_k_half(side, matrix) + line;
    case 4:
        return lane & 3u;
    default:
        return 2u * (lane & 3u);
    }
}

TCGEMM_HD uint32_t tcgemm_fragment_second_row(int form, uint32_t element_bytes) {
    if (form == TCGEMM_FORM_K)
        return 8u;
    return element_bytes == 4 ? 4u : 1u;
}

/* The 16-byte chunk, from the first of a step (K form) or of a unit (MN form), that a lane reads,
 * and the byte of the chunk where it begins. */
TCGEMM_HD uint32_t tcgemm_fragment_chunk(int side, int form, uint32_t element_bytes, int singles,
                                         uint32_t lane) {
    const uint32_t matrix = lane >> 3, g = lane >> 2, q = lane & 3u;
    if (form == TCGEMM_FORM_K && element_bytes == 8)
        return singles ? q >> 1 : q;
    if (form == TCGEMM_FORM_K)
        return tcgemm_fragment_k_half(side, matrix);
    switch (element_bytes) {
    case 1:
        return 0u;
    case 2:
        return tcgemm_fragment_mn_half(side, matrix);
    case 4:
        return side == TCGEMM_SIDE_A ? g >> 1 : g >> 2;
    default:
        return singles ? g >> 1 : g;
    }
}
TCGEMM_HD uint32_t tcgemm_fragment_byte(int side, int form, uint32_t element_bytes, int singles,
                                        uint32_t lane) {
    const uint32_t g = lane >> 2;
    if (singles)
        return ((form == TCGEMM_FORM_K ? lane : g) & 1u) << 3;
    if (form == TCGEMM_FORM_K || element_bytes != 4)
        return 0u;
    return side == TCGEMM_SIDE_A ? (g & 1u) << 3 : (g & 3u) << 2;
}

/* ---- the two together: bytes from the start of a tile with rows of `pitch` bytes ---- */

/* What a lane reads of unit 0 and step 0, for a warp whose rows (columns) begin at `first`, a
 * multiple of the warp's own number of them. */
TCGEMM_HD uint32_t tcgemm_fragment_lane_at(int side, int form, uint32_t element_bytes, int singles,
                                           uint32_t pitch, uint32_t lane, uint32_t first) {
    const uint32_t row = tcgemm_fragment_row(side, form, element_bytes, lane);
    const uint32_t chunk = tcgemm_fragment_chunk(side, form, element_bytes, singles, lane);
    const uint32_t byte = tcgemm_fragment_byte(side, form, element_bytes, singles, lane);
    if (form == TCGEMM_FORM_K)
        return tcgemm_swizzle(form, element_bytes, pitch, first + row, chunk) + byte;
    return tcgemm_swizzle(form, element_bytes, pitch, row, first * element_bytes / 16 + chunk) +
           byte;
}

/* The same for any unit and step; `more` bytes along the row. Moving by whole chunks inside 128
 * bytes is an XOR, as the swizzle is one. */
TCGEMM_HD uint32_t tcgemm_fragment_at(int form, uint32_t element_bytes, uint32_t pitch,
                                      uint32_t lane_at, uint32_t step, uint32_t unit,
                                      uint32_t more) {
    const uint32_t step_bytes = tcgemm_fragment_step_bytes(element_bytes);
    if (form == TCGEMM_FORM_K)
        return (lane_at ^ (step * step_bytes + more)) + unit * 16 * pitch;
    const uint32_t along = unit * 16 * element_bytes + more;
    return (lane_at ^ (along & 127u)) + (along & ~127u) +
           step * (step_bytes / element_bytes) * pitch;
}

#endif
