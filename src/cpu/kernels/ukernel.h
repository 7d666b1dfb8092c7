/* ukernel.h - the contract between the CPU driver and a micro-kernel.
 *
 * A micro-kernel computes one register tile of D from a panel of A and a panel of B:
 *
 *                     nr                      a lane is 32 bits, for f64 64 bits, and holds
 *              +--------------+               `ku` steps of k:
 *         k    |  panel of B  |                 f32   1 x f32        u8s8  4 x u8 (A), s8 (B)
 *              +--------------+                 f64   1 x f64        s16   2 x s16
 *        +---+ +--------------+                 bf16  2 x bf16       b1    32 bits
 *     mr | A | |     tile     |
 *        +---+ +--------------+               packed panels: step p at a + p * mr, b + p * nr
 *                                             lanes, rows and columns beyond m and n are zero
 *
 * On Arm i8x4 holds 4 bytes and i8x8 8, of signs that the tile names, and bf16x4 4 bf16.
 *
 * Matrix tiles (AMX) have lanes of 64 bytes, 16 words of 4: bf16x32 holds 32 bf16, f16x32 32 f16,
 * i8x64 64 bytes. A step of A is its lanes one after the other; a step of B holds their words 0,
 * then their words 1, ...: so that 16 lanes are a tile of A, and 16 rows of words one of B
 * (panel.h).
 *
 * The sum over k of an element is formed in one accumulator, p ascending, whatever the tile's m and
 * n, so an element's bits do not depend on where its tile lies or how large it is.
 */
#ifndef TCGEMM_CPU_UKERNEL_H
#define TCGEMM_CPU_UKERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/epilogue.h"
#include "base/num.h"
#include "tcgemm/tcgemm.h"

typedef enum tcgemm_family {
    TCGEMM_FAMILY_F32,
    TCGEMM_FAMILY_F64,
    TCGEMM_FAMILY_BF16,
    TCGEMM_FAMILY_U8S8,
    TCGEMM_FAMILY_S16,
    TCGEMM_FAMILY_B1,
    TCGEMM_FAMILY_BF16X32,
    TCGEMM_FAMILY_F16X32,
    TCGEMM_FAMILY_I8X64,
    TCGEMM_FAMILY_I8X4,
    TCGEMM_FAMILY_I8X8,
    TCGEMM_FAMILY_BF16X4
} tcgemm_family_t;

/* D's tile = alpha * (scale * sum + row_term[i] + col_term[j]) + beta * C's tile, in the
 * accumulator type (f32, f64 or s32 modulo 2^32). The terms and the scale exist for integers alone.
 */
typedef struct tcgemm_tile {
    int64_t steps; /* lanes along k */
    const void *a;
    const void *b;
    int64_t a_row, a_step; /* lanes from row to row and step to step; packed: 1 and mr */
    int64_t b_step;        /* lanes from step to step; packed: nr */
    void *d;
    const void *c; /* NULL: beta is 0 */
    int64_t ldd, ldc;
    int m, n; /* 1..mr, by strides any number; 1..nr */
    union tcgemm_tile_scalar {
        float f32;
        double f64;
        uint32_t s32;
    } alpha, beta;
    uint32_t scale;
    const uint32_t *row_term; /* NULL: none */
    const uint32_t *col_term;
    bool a_is_signed, b_is_signed; /* of i8x..: the bytes are s8, else u8 */
    uint32_t a_flip;               /* of u8s8 by strides, wide vectors: xor to every lane of A */
    bool continues;    /* C holds this product's own sums so far, alpha and beta are 1 */
    bool streams;      /* D is larger than caches are: past them */
    bool stores_parts; /* AVX2: what a mask would store, by some plain stores */
    const struct tcgemm_finish *finish; /* the sums become this narrow D, and D is not written */
    /* Tiles may stop and go on later (tcgemm_can_pause): mr x nr sums on a 64-byte boundary. */
    void *partial;
    bool resumes; /* the sums so far are in `partial` */
    bool pauses;  /* they are to be left there, and D as it is */
    void *copy;   /* by strides, mr rows: what is read of B is left here, in whole vectors ... */
    int64_t copy_step; /* ... and lanes from step to step; NULL: it is not */
    bool fetches;      /* by strides, or of panels, at each step of k: */
    int64_t ahead;     /* by strides, and of a copy, B so many lanes behind it, and ... */
    const void *next;  /* ... two lines of memory of what is needed after this tile, and ... */
    int64_t next_step; /* ... so many bytes on; 0: the same again; after `next_count` steps ... */
    int64_t next_count, next_line; /* ... so many more; 0: never */
} tcgemm_tile_t;

enum { TCGEMM_MOST_NEXT = 128 }; /* bytes, of next_step, if none is to be missed */

typedef void tcgemm_tile_fn(const tcgemm_tile_t *tile);

/* D[i][l] = alpha * (sum over p of x[p][i] * line l [p]) + beta * C[i][l], sums in f32 or f64, p
 * ascending in one accumulator as in a tile; or of bytes, modulo 2^32. Steps and strides in
 * elements. A kernel takes lines that lie along k, or across it, side by side. */
typedef struct tcgemm_dots {
    tcgemm_dtype_t dtype; /* of the lines: f16, bf16 and fp8 with sums in f32, else theirs */
    bool rounds_to_tf32;  /* lines of f32 */
    int64_t steps;
    const void *x; /* packed: `width` numbers of the sums' type a step, or so many lanes; for tiles
                    * a panel of B */
    int width;     /* 1, 2, 4, 8 or 16, no more than the kernel's dots_width, of tiles nr ... */
    int num_rows;  /* ... of which so many are rows of D */
    const void *lines;
    int64_t line_stride, k_stride; /* along k: k_stride is 1; across: line_stride */
    int num_lines;                 /* along k, in lanes or of more rows than are multiplied at
                                    * once: 1 .. 128 bytes of sums */
    void *d;
    const void *c; /* NULL: beta is 0 */
    int64_t d_row, d_line, c_row, c_line;
    union tcgemm_tile_scalar alpha, beta;
    /* Across k the sums may wait, as they are: width x num_lines of them. */
    void *partial;
    bool resumes;  /* the sums so far are in `partial` */
    bool pauses;   /* they are to be left there, and D as it is */
    bool is_exact; /* of lanes: x holds a bf16 subnormal */
    /* Rows of x that lie along k, x_pitch bytes apart: of `inner` as they are; of bytes that are no
     * lanes zero from `steps` to whole vectors, and as many as a multiple of 4, or 1 or 2. */
    int64_t x_pitch;
    bool x_is_signed;     /* s8, else u8 */
    uint8_t flip;         /* xor to every byte of a line: then one factor is u8, the other s8, or,
                           * beside rows of s16, the line is s8 */
    const uint32_t *term; /* of each row, added to its sums: undoes the flip */
    bool fetches;         /* lines are to be fetched ahead: they lie beyond the caches ... */
    bool is_crowded;      /* ... and share so few sets of the first one that few have room there, */
    bool is_roomy;        /* ... or have room there wherever they lie: it is the one to fetch to, */
    bool is_spread;       /* ... even beside many rows, which prefetchers do not follow */
} tcgemm_dots_t;

/* Bytes from line to line along k, at most, of lines that prefetchers follow as one stream. */
enum { TCGEMM_STREAM_PITCH = 512 };

/* Of lines across k: steps a call, those of lanes at most so many, and lines that a kernel takes at
 * once at most. */
enum { TCGEMM_STEPS_ACROSS = 16, TCGEMM_LINES_ACROSS = 64 };

typedef void tcgemm_dots_fn(const tcgemm_dots_t *dots);

/* D[i][l] = alpha * sums[i * pitch + l] for all rows i and `lines` lines, of a D in which the rows
 * are columns (d_row is 1), without C. */
typedef void tcgemm_turn_fn(const tcgemm_dots_t *dots, const void *sums, int64_t pitch, int lines);

/* A flip of one byte for all four of a lane. */
static inline uint32_t tcgemm_flip_of_lane(uint8_t flip) {
    return flip * 0x01010101u;
}

/* One matrix to be packed, seen along k. For A a "line" is a row, for B a column. */
typedef struct tcgemm_pack {
    const void *source;
    tcgemm_dtype_t dtype;
    bool round_to_tf32;
    int64_t origin;      /* element index of line 0, step 0 */
    int64_t line_stride; /* elements; one of the two strides is 1 */
    int64_t k_stride;
    int64_t k;          /* elements along k in this block */
    bool is_b;          /* the lines are columns of B */
    uint8_t flip;       /* u8s8, i8x4: xor to every byte, 0x80 moves between s8 and u8 */
    bool sum_is_signed; /* the packed bytes are s8 (of u8s8 B's, of i8x4 all) rather than u8 */
    uint32_t
        sum_factor; /* term of a line = sum_factor * (sum of its packed elements) + sum_offset */
    uint32_t sum_offset;
    bool adds_terms; /* to the terms that are there, of elements of k before */
} tcgemm_pack_t;

/* Packs lines [first, first + lines) as one panel of `width` lanes a step, zero beyond `lines` and
 * beyond k. `terms` (or NULL) receives one sum a line, zero beyond `lines`. Returns true if the
 * panel holds a bf16 subnormal, which VDPBF16PS would take for zero.
 *
 * `lines` may be some whole panels, one behind the other: as many as tcgemm_panels_at_once says. */
typedef bool tcgemm_pack_fn(const tcgemm_pack_t *pack, int64_t first, int lines, int width,
                            void *panel, uint32_t *terms);

/* Packs lines 0 .. lines - 1, which lie along k, as rows of lanes one behind the other, zero beyond
 * k. `terms` and what is returned as above. Lines of bf16 that stay where they are, `rows` NULL,
 * are only looked at. */
typedef bool tcgemm_pack_rows_fn(const tcgemm_pack_t *pack, int lines, void *rows, uint32_t *terms);

/* Writes rows x cols sums as f16 or bf16: D = epilogue(alpha * sums + beta * C), rounded once; of
 * other types D, which has its sums, becomes epilogue(D). */
typedef struct tcgemm_finish {
    tcgemm_dtype_t dtype;
    const float *sums; /* of narrow types, as are C, alpha and beta */
    int64_t ld_sums;
    const void *c; /* NULL: beta is 0 */
    void *d;
    int64_t ldc, ldd;
    int64_t rows, cols;
    float alpha, beta;
    tcgemm_epilogue_t epilogue; /* its bias begins with the first row or column */
} tcgemm_finish_t;

typedef void tcgemm_finish_fn(const tcgemm_finish_t *finish);

typedef struct tcgemm_cpu_ukernel {
    tcgemm_family_t family;
    int mr, nr;
    int ku; /* elements of k in a lane */
    int lane_bytes;
    int kc;     /* default blocking: k elements a block ... */
    int mc, nb; /* ... rows and columns of a unit of work */
    tcgemm_tile_fn *packed;
    tcgemm_tile_fn *strided;   /* reads A and B by a_row, a_step, b_step; NULL: none */
    tcgemm_tile_fn *exact;     /* as these, keeps bf16 subnormals; NULL: they do */
    tcgemm_dots_fn *dots;      /* of lines that lie along k; NULL: none */
    tcgemm_dots_fn *across;    /* of lines that lie across k; NULL where dots is, and of bytes */
    tcgemm_dots_fn *inner;     /* of lines along k, x as rows: sums of sums; NULL where across is */
    tcgemm_turn_fn *turn;      /* of sums whose rows are columns of D; NULL where dots is */
    int dots_width;            /* rows that they do at a time, ... */
    int across_width;          /* ... and best across k, where one instruction widens elements */
    uint64_t dots_features;    /* TCGEMM_CPU_* that they need beside the row's */
    tcgemm_pack_fn *pack_x;    /* for them, and ... */
    int x_bytes;               /* ... what an element of bytes becomes: one, or an s16 */
    tcgemm_dots_fn *lane_dots; /* of more rows and lines along k: x packed as lanes, nr of matrix
                                * tiles or dots_width of vectors at a time; NULL: none */
    tcgemm_dots_fn *lane_across; /* the same of lines across k */
    void (*begin)(void); /* to be called by a thread before tiles, and after them; NULL: none */
    void (*end)(void);
    tcgemm_pack_fn *pack;
    tcgemm_pack_rows_fn *pack_rows; /* for strided tiles of lanes that are no elements; or NULL */
    tcgemm_finish_fn *finish;
    bool finishes_tiles; /* packed and exact heed tile.finish */
} tcgemm_cpu_ukernel_t;

/* Of a sum, in a register or where a tile pauses. */
static inline int tcgemm_sum_bytes(const tcgemm_cpu_ukernel_t *u) {
    return u->family == TCGEMM_FAMILY_F64 ? 8 : 4;
}

/* Its tiles, of vectors, may stop and go on later; those of matrix units, which do as well, have
 * ways of their own. */
static inline bool tcgemm_can_pause(tcgemm_family_t family) {
    return family == TCGEMM_FAMILY_F32 || family == TCGEMM_FAMILY_F64 ||
           family == TCGEMM_FAMILY_BF16 || family == TCGEMM_FAMILY_U8S8 ||
           family == TCGEMM_FAMILY_S16;
}

/* Whether it multiplies in matrix tiles, whose lanes are rows of them, else in vectors. */
static inline bool tcgemm_is_matrix(const tcgemm_cpu_ukernel_t *u) {
    return u->lane_bytes == 64;
}

/* Of `rows` rows, those of a tile, about as many in each, lest the last one be too small to keep
 * the multiply-adds busy. A matrix tile computes a half of its rows or all. */
static inline int64_t tcgemm_even_tile_rows(const tcgemm_cpu_ukernel_t *u, int64_t rows) {
    if (tcgemm_is_matrix(u) || rows <= u->mr)
        return u->mr;
    return ceil_div(rows, ceil_div(rows, u->mr));
}

/* Of a vector, three of which are side by side in a tile. */
static inline int tcgemm_vector_bytes(const tcgemm_cpu_ukernel_t *u) {
    return u->nr * u->lane_bytes / 3;
}

/* Tiles of long vectors, three side by side: their panel of A, as 8 rows where it lies, stays in
 * the first-level cache while B's pass, and D is written along its rows. */
static inline bool tcgemm_is_wide(const tcgemm_cpu_ukernel_t *u) {
    return !tcgemm_is_matrix(u) && u->nr * u->lane_bytes >= 3 * 64;
}

/* Of these, whose tiles of f32 and f64 heed `copy` and whose packing takes several panels at once:
 * those of AVX-512, not of SVE. */
static inline bool tcgemm_can_copy(const tcgemm_cpu_ukernel_t *u) {
#ifdef __x86_64__
    return tcgemm_is_wide(u);
#else
    (void)u;
    return false;
#endif
}

/* Tiles of AVX2, not of NEON or SVE. */
static inline bool tcgemm_is_avx2(const tcgemm_cpu_ukernel_t *u) {
#ifdef __x86_64__
    return tcgemm_vector_bytes(u) == 32;
#else
    (void)u;
    return false;
#endif
}

#endif
