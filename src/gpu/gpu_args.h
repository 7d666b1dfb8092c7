/* gpu_args.h - what every GPU kernel receives, by value. Plain C for host and device.
 *
 * The problem is canonical (problem/canonical.h): D is row-major, m x n, row i at d + i * ldd.
 *
 *     A, m x k:  a_trans 0: element (i, p) at a[i * lda + p]      a_trans 1: a[p * lda + i]
 *     B, k x n:  b_trans 0: element (p, j) at b[p * ldb + j]      b_trans 1: b[j * ldb + p]
 *
 * D = alpha * A * B + beta * C, alpha on the accumulated product; c is NULL when beta is 0, and
 * then nothing of C is read. Any m, n, k >= 1, any ld, any element-aligned pointer: kernels take
 * care of edges and of pointers that their wide loads cannot take. Nothing outside m x n of D is
 * written.
 *
 * Parts of k are like items of a batch: item t, part s multiplies k from s * split_k on and writes
 * to d + (t * splits + s) * stride_d. steps/reduce.cu adds them up:
 *
 *     a      partial sums, part s of item t at a + (t * splits + s) * stride_a, row i at + i * lda;
 *            rows of whole 16-byte pieces, one behind another, so that stride_a is m * lda
 *     k      is not used, nor is b
 *
 * steps/pack.cu copies rows to where wide loads can take them:
 *
 *     a      m rows of k elements, lda apart, items stride_a apart
 *     d      the same, ldd and stride_d apart; what is left of the last 16 bytes becomes zero
 *
 * or turns them round, element (i, j) to (j, i): d has k rows of m elements, and zeros likewise; or
 * widens them: a has elements of fp8, d of bf16. One launch may take two operands
 * (tcgemm_pack_args_t).
 */
#ifndef TCGEMM_CUDA_GPU_ARGS_H
#define TCGEMM_CUDA_GPU_ARGS_H

#include <stdint.h>

#include "tile/divide.h"
#include "tile/raster.h"

enum {
    TCGEMM_MOVE_THREADS = 256, /* of a block that packs, widens, turns, adds up or scales */
    TCGEMM_ROW_PIECES = 4,     /* pieces of one row that a thread of steps/pack.cu has in flight */
    TCGEMM_PACK_LEAST = 1,     /* threads side by side along a row that is packed, at least */
    TCGEMM_WIDEN_LEAST = 8,    /* and along one that is widened */
    TCGEMM_WIDEN_PIECE = 8,    /* elements that a thread widens at a time: 16 bytes of the copy */
    TCGEMM_SMALL_COPY = 20 << 20 /* bytes: beside such a packing another launch begins */
};

/* Rows and columns of what steps/pack.cu turns at a time, of elements of 1, 2 or 4 bytes. */
#define TCGEMM_TURN_ROWS(element_bytes) ((element_bytes) == 1 ? 128 : 64)
#define TCGEMM_TURN_COLS(element_bytes) ((element_bytes) == 4 ? 64 : 128)

/* Threads of steps/reduce.cu that share the parts of one place: as few as have no more than sixteen
 * parts each. Twice as many take longer (bench/results/notes.md). */
#define TCGEMM_REDUCE_LANES(splits)                                                                \
    ((splits) >= 128 ? 32U : (splits) >= 64 ? 8U : (splits) >= 16 ? 4U : 1U)

/* Layouts of an operand that a kernel takes: with k contiguous, with m (n) contiguous. */
typedef enum tcgemm_takes {
    TCGEMM_TAKES_K = 1,
    TCGEMM_TAKES_MN = 2,
    TCGEMM_TAKES_BOTH = TCGEMM_TAKES_K | TCGEMM_TAKES_MN
} tcgemm_takes_t;

/* By lines of 64 bytes, for each of which a kernel waits once: where its block of D is, where the
 * operands are, which item and part, and what is asked for last. */
typedef struct tcgemm_gpu_args {
    int64_t m, n, k;
    tcgemm_raster_t raster; /* the tiles of one matrix of D; rows of pairs, where blocks are */
    const void *a;
    const void *b;
    const void *c;
    void *d;
    int64_t lda, ldb, ldc, ldd; /* elements */
    int64_t batch;
    int64_t stride_a, stride_b, stride_c, stride_d; /* elements from item to item */
    int64_t split_k;                                /* elements of k in each part but the last */
    tcgemm_divisor_t splits; /* of k: D is so many matrices for each item, of a part of k each */
    union {
        float f32;
        double f64;
        uint32_t s32; /* integer types: modulo 2^32 */
    } alpha, beta;
    uint32_t a_trans, b_trans;
    uint32_t flags;    /* TCGEMM_FLAG_* of the problem */
    uint32_t vector_a; /* bytes that every row start of A is aligned to: 16, 8, 4, 2, 1 */
    uint32_t vector_b; /* the same for B, C and D */
    uint32_t vector_c;
    uint32_t vector_d;
    /* 1: rows of A, on 16-byte boundaries, are whole 16-byte pieces or end in zeros up to one. */
    uint32_t whole_a;
    uint32_t whole_b;   /* the same for B */
    uint32_t streams_a; /* of kernels that stream an operand: 1 it is A, 0 it is B */
    uint32_t gathers;   /* of kernels with tensor maps: 1 threads bring the operand that the row
                         * may gather, which has no map */
    uint32_t leaves_l2; /* of wgmma: 1: A is the first to leave the L2, 2: B, 3: both */
} tcgemm_gpu_args_t;

/* What the kernels of steps/pack.cu receive: an operand, or A and B. */
typedef struct tcgemm_pack_args {
    tcgemm_gpu_args_t operand[2];
    uint32_t first_blocks; /* of the grid take the first operand, the others the second */
} tcgemm_pack_args_t;

#endif
