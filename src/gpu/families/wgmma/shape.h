/* shape.h - what follows from the tile of a row of wgmma, for the kernel table and, checked there,
 * for the kernel. */
#ifndef TCGEMM_WGMMA_SHAPE_H
#define TCGEMM_WGMMA_SHAPE_H

/* Warpgroups that multiply, and one that fetches; where all its warps do, one for every 128 lines
 * of a block, 32 a warp. */
#define TCGEMM_WGMMA_THREADS(bm, bn, consumers, by_warps)                                          \
    (((consumers) + ((by_warps) ? ((bm) + (bn)) / 128 : 1)) * 128)

/* Rows and columns of D that a warpgroup computes: all of one side, its share of the other. */
#define TCGEMM_WGMMA_SHARE(extent, consumers, turns) ((extent) / ((turns) ? 1 : (consumers)))
#define TCGEMM_WGMMA_ROWS(bm, consumers, turns, swap)                                              \
    ((swap) ? (bm) : TCGEMM_WGMMA_SHARE(bm, consumers, turns))
#define TCGEMM_WGMMA_COLS(bn, consumers, turns, swap)                                              \
    ((swap) ? TCGEMM_WGMMA_SHARE(bn, consumers, turns) : (bn))

/* Whether two blocks of one launch, one below the other, may share what boxes fetch of B: tiles of
 * 128 columns and more, as they are; of bytes the large ones alone, for the room. */
#define TCGEMM_WGMMA_PAIRED(bits, bn, consumers, swap, ranks, by_warps)                            \
    (((consumers) == 2 || ((bn) == 128 && (bits) > 8)) && !(swap) && (ranks) == 1 && !(by_warps))

/* Sums of a thread of the warpgroup. */
#define TCGEMM_WGMMA_SUMS(bm, bn, consumers, turns)                                                \
    (TCGEMM_WGMMA_SHARE(bm, consumers, turns) * (bn) / 128)

/* How the operands may lie (TCGEMM_TAKES_K, _MN): the one whose side of D an instruction has 64 of,
 * A, or B where the tile is swapped, and the other. 16-bit operands lie as they like, of others k
 * is contiguous; but elements of 32 bits may come by registers, where there is room for them beside
 * the sums; and in large swapped tiles they always do, for their D is written in no other way. Of
 * the other operand n is contiguous in whole boxes of 64 alone: those of other tiles would begin
 * inside lines of the L2 (NN 8192^3 by 128 x 176: 2313 us, by 128 x 192 1494). What warps bring
 * lies as it likes: they turn elements of 32 bits round. */
#define TCGEMM_WGMMA_TAKES_LEFT(bits, bm, bn, consumers, turns, swap, by_warps)                    \
    ((bits) == 16 || (by_warps)                                          ? TCGEMM_TAKES_BOTH       \
     : (bits) != 32 || TCGEMM_WGMMA_SUMS(bm, bn, consumers, turns) > 128 ? TCGEMM_TAKES_K          \
     : (swap) && TCGEMM_WGMMA_SUMS(bm, bn, consumers, turns) > 64        ? TCGEMM_TAKES_MN         \
                                                                         : TCGEMM_TAKES_BOTH)
#define TCGEMM_WGMMA_TAKES_RIGHT(bits, right, by_warps)                                            \
    (((bits) == 16 && ((right) < 64 || (right) % 64 == 0)) || (by_warps) ? TCGEMM_TAKES_BOTH       \
                                                                         : TCGEMM_TAKES_K)

/* Whether threads may bring the other operand, element by element, where no box can: its side of
 * the tile is narrow. (Twice as many bytes would take longer than to turn them round first.) In
 * shared memory k is contiguous then. */
#define TCGEMM_WGMMA_GATHERS(bits, right) ((right) == 16 && (bits) == 16)

/* Rows of shared memory, 128 bytes each, of an operand's block: side A is rows of D, side B
 * columns, in units of 64 where m (n) is contiguous. */
#define TCGEMM_WGMMA_LINES(extent) ((extent) < 64 ? 64 : (extent))

/* A ring of `stages` slots, each a block of A and one of B. */
#define TCGEMM_WGMMA_STAGE(bm, bn)        ((TCGEMM_WGMMA_LINES(bm) + TCGEMM_WGMMA_LINES(bn)) * 128)
#define TCGEMM_WGMMA_RING(bm, bn, stages) (TCGEMM_WGMMA_STAGE(bm, bn) * (stages))

/* D leaves, and C may come, by boxes of 128 bytes by so many rows of D, and a warp has places for
 * two: 16 rows where there is room (in 227 KiB, of which two blocks an SM have 1 KiB less than half
 * each, and of which barriers take at most 384 bytes), else 8; 0 where the tile is transposed,
 * whose rows of D lie across warps, is narrower than boxes, or is summed by a cluster. */
#define TCGEMM_WGMMA_PLACES(consumers, rows) ((consumers)*4 * 2 * (rows)*128)
#define TCGEMM_WGMMA_BOX_ROWS(bm, bn, consumers, swap, stages, blocks_per_sm, ranks)               \
    ((swap) || (bn) < 64 || (ranks) > 1 ? 0                                                        \
     : TCGEMM_WGMMA_RING(bm, bn, stages) + TCGEMM_WGMMA_PLACES(consumers, 16) + 384 <=             \
             ((blocks_per_sm) > 1 ? 115712 : 232448)                                               \
         ? 16                                                                                      \
         : 8)

/* Whether C comes by boxes, too: where there are registers left for it beside the sums, and these
 * are not `short` ones, whose loop ptxas makes 7 % slower beside it (e4m3, 128 x 128). */
#define TCGEMM_WGMMA_PROMOTES_wide               0
#define TCGEMM_WGMMA_PROMOTES_short              1
#define TCGEMM_WGMMA_C_BOXES(promotes, num_sums) ((num_sums) < 192 && !(promotes))

/* Sums of 4 bytes, of a tile that the blocks of a cluster sum up: beside the ring, so that no block
 * waits until its own is free. */
#define TCGEMM_WGMMA_SUM_BYTES(bm, bn, ranks) ((ranks) > 1 ? (bm) * (bn)*4 : 0)

/* Where warps bring the operands, a word behind each line of a slot: that of lines which begin
 * inside a word. */
#define TCGEMM_WGMMA_ENDS(bm, bn, stages, by_warps)                                                \
    ((by_warps) ? TCGEMM_WGMMA_STAGE(bm, bn) / 128 * 4 * (stages) : 0)

/* Two barriers of 8 bytes for each slot; one for each consumer and two for each of its warps. */
#define TCGEMM_WGMMA_BARRIERS(consumers, stages) (16 * (stages) + 72 * (consumers))

/* The ring, the places or the sums, words behind lines, the barriers. */
#define TCGEMM_WGMMA_SMEM(bm, bn, consumers, swap, stages, blocks_per_sm, ranks, by_warps)         \
    (TCGEMM_WGMMA_RING(bm, bn, stages) +                                                           \
     TCGEMM_WGMMA_PLACES(consumers, TCGEMM_WGMMA_BOX_ROWS(bm, bn, consumers, swap, stages,         \
                                                          blocks_per_sm, ranks)) +                 \
     TCGEMM_WGMMA_SUM_BYTES(bm, bn, ranks) + TCGEMM_WGMMA_ENDS(bm, bn, stages, by_warps) +         \
     TCGEMM_WGMMA_BARRIERS(consumers, stages))

#endif
