/* amx.c - products with matrix tiles: TDPBF16PS for bf16 and fp8, TDPB??D for bytes of any signs.
 *
 * 32 x 32 of D are four tiles of sums; a step of k is two tiles of A and two of B, 4 KiB that are
 * loaded for four products of 8192 (bf16) or 16384 (bytes) multiply-adds:
 *
 *                    B 6   B 7         a product keeps the unit busy for 16 cycles, so a step takes
 *           A 4     D 0   D 1          64 and loads 64 bytes a cycle: what the L2 cache gives when
 *           A 5     D 2   D 3          all goes well, and half of what the L1 cache does.
 *
 * A thread has its tiles between tcgemm_begin_amx and tcgemm_end_amx. Sums leave the tiles once a
 * block of k, and come back for the next one if alpha is 1 (`continues`); then a tile at the edge
 * of D takes the same way through memory, so that its elements are those of a whole tile.
 *
 * TDPBF16PS takes bf16 subnormals for zero and flushes tiny sums to zero, as VDPBF16PS does:
 * packing reports the panels that hold a subnormal, and the driver sends their tiles to the kernel
 * of f32 multiply-adds below.
 */
#include "cpu/kernels/amx_tiles.h"
#include "cpu/kernels/kernels.h"

enum { ROWS = 32, COLS = 32, STEP_BYTES = 32 * 64, HALF = 16 * 64 };
enum { A_PITCH = 64, B_PITCH = COLS * 4, SUMS_PITCH = COLS * 4 };

void tcgemm_begin_amx(void) {
    amx_config_t config = {.palette = 1};
    for (int t = 0; t < 8; ++t) {
        config.rows[t] = 16;
        config.row_bytes[t] = 64;
    }
    AMX_CONFIGURE(&config);
}

void tcgemm_end_amx(void) {
    AMX_RELEASE();
}

/* ---- sums ---- */

/* All sums of a tile, or the four of them wherever they lie `pitch` bytes apart. */
static TCGEMM_ALWAYS_INLINE void load_sums(const void *p, int64_t pitch) {
    AMX_LOAD(0, (const char *)p, pitch);
    AMX_LOAD(1, (const char *)p + 64, pitch);
    AMX_LOAD(2, (const char *)p + 16 * pitch, pitch);
    AMX_LOAD(3, (const char *)p + 16 * pitch + 64, pitch);
}

static TCGEMM_ALWAYS_INLINE void store_sums(void *p, int64_t pitch) {
    AMX_STORE(0, (char *)p, pitch);
    AMX_STORE(1, (char *)p + 64, pitch);
    AMX_STORE(2, (char *)p + 16 * pitch, pitch);
    AMX_STORE(3, (char *)p + 16 * pitch + 64, pitch);
}

static TCGEMM_ALWAYS_INLINE void zero_sums(void) {
    AMX_ZERO(0);
    AMX_ZERO(1);
    AMX_ZERO(2);
    AMX_ZERO(3);
}

static bool is_whole(const tcgemm_tile_t *t) {
    return t->m == ROWS && t->n == COLS;
}

/* The sums so far: zeros, or those in C, which may end at the edge of a page. */
static void begin_sums(const tcgemm_tile_t *t) {
    if (!t->continues) {
        zero_sums();
        return;
    }
    if (is_whole(t)) {
        load_sums(t->c, t->ldc * 4);
        return;
    }
    _Alignas(64) uint32_t sums[ROWS][COLS];
    memset(sums, 0, sizeof sums);
    for (int i = 0; i < t->m; ++i)
        memcpy(sums[i], (const uint32_t *)t->c + i * t->ldc, (size_t)t->n * sizeof sums[i][0]);
    load_sums(sums, SUMS_PITCH);
}

static TCGEMM_ALWAYS_INLINE void rows_of_f32(const tcgemm_tile_t *t, const float sums[ROWS][COLS],
                                             int n) {
    for (int i = 0; i < t->m; ++i) {
        float *d = (float *)t->d + i * t->ldd;
        const float *c = t->c ? (const float *)t->c + i * t->ldc : NULL;
        if (c)
            for (int j = 0; j < n; ++j)
                d[j] = t->beta.f32 * c[j] + t->alpha.f32 * sums[i][j];
        else
            for (int j = 0; j < n; ++j)
                d[j] = t->alpha.f32 * sums[i][j];
    }
}

static TCGEMM_ALWAYS_INLINE void rows_of_s32(const tcgemm_tile_t *t,
                                             const uint32_t sums[ROWS][COLS], int n) {
    for (int i = 0; i < t->m; ++i) {
        uint32_t *d = (uint32_t *)t->d + i * t->ldd;
        const uint32_t *c = t->c ? (const uint32_t *)t->c + i * t->ldc : NULL;
        if (c)
            for (int j = 0; j < n; ++j)
                d[j] = t->beta.s32 * c[j] + t->alpha.s32 * sums[i][j];
        else
            for (int j = 0; j < n; ++j)
                d[j] = t->alpha.s32 * sums[i][j];
    }
}

/* D = alpha * sums + beta * C, without what the tile has beyond m and n. */
static void finish_f32(const tcgemm_tile_t *t, const float sums[ROWS][COLS]) {
    if (t->n == COLS)
        rows_of_f32(t, sums, COLS);
    else
        rows_of_f32(t, sums, t->n);
}

static void finish_s32(const tcgemm_tile_t *t, const uint32_t sums[ROWS][COLS]) {
    if (t->n == COLS)
        rows_of_s32(t, sums, COLS);
    else
        rows_of_s32(t, sums, t->n);
}

static void end_sums(const tcgemm_tile_t *t, bool is_float) {
    const bool is_one = is_float ? t->alpha.f32 == 1.0f : t->alpha.s32 == 1u;
    if (is_whole(t) && is_one && (!t->c || t->continues)) {
        store_sums(t->d, t->ldd * 4);
        return;
    }
    _Alignas(64) union {
        float f32[ROWS][COLS];
        uint32_t s32[ROWS][COLS];
    } sums;
    store_sums(&sums, SUMS_PITCH);
    tcgemm_tile_t rest = *t;
    if (t->continues)
        rest.c = NULL; /* it is in the sums already */
    if (is_float)
        finish_f32(&rest, (const float(*)[COLS])sums.f32);
    else
        finish_s32(&rest, (const uint32_t(*)[COLS])sums.s32);
}

/* ---- products ---- */

enum { BF16, S8S8, S8U8, U8S8, U8U8 };

#define DOT(kind, c, a, b)                                                                         \
    do {                                                                                           \
        if ((kind) == BF16)                                                                        \
            AMX_DOT_BF16(c, a, b);                                                                 \
        else if ((kind) == S8S8)                                                                   \
            AMX_DOT_S8S8(c, a, b);                                                                 \
        else if ((kind) == S8U8)                                                                   \
            AMX_DOT_S8U8(c, a, b);                                                                 \
        else if ((kind) == U8S8)                                                                   \
            AMX_DOT_U8S8(c, a, b);                                                                 \
        else                                                                                       \
            AMX_DOT_U8U8(c, a, b);                                                                 \
    } while (0)

/* Halves of the tile beyond m and n are left out: they hold zeros. */
static TCGEMM_ALWAYS_INLINE void multiply(const tcgemm_tile_t *t, const int kind, const bool both_a,
                                          const bool both_b) {
    const char *a = t->a;
    const char *b = t->b;
    for (int64_t p = t->steps; p > 0; --p) {
        AMX_LOAD(4, a, A_PITCH);
        AMX_LOAD(6, b, B_PITCH);
        DOT(kind, 0, 4, 6);
        if (both_b) {
            AMX_LOAD(7, b + 64, B_PITCH);
            DOT(kind, 1, 4, 7);
        }
        if (both_a) {
            AMX_LOAD(5, a + HALF, A_PITCH);
            DOT(kind, 2, 5, 6);
        }
        if (both_a && both_b)
            DOT(kind, 3, 5, 7);
        a += STEP_BYTES;
        b += STEP_BYTES;
    }
}

static TCGEMM_ALWAYS_INLINE void tile(const tcgemm_tile_t *t, const int kind) {
    begin_sums(t);
    if (t->m > 16 && t->n > 16)
        multiply(t, kind, true, true);
    else if (t->m > 16)
        multiply(t, kind, true, false);
    else if (t->n > 16)
        multiply(t, kind, false, true);
    else
        multiply(t, kind, false, false);
    end_sums(t, kind == BF16);
}

void tcgemm_tile_amx_bf16x32(const tcgemm_tile_t *t) {
    tile(t, BF16);
}

void tcgemm_tile_amx_i8x64(const tcgemm_tile_t *t) {
    if (t->a_is_signed && t->b_is_signed)
        tile(t, S8S8);
    else if (t->a_is_signed)
        tile(t, S8U8);
    else if (t->b_is_signed)
        tile(t, U8S8);
    else
        tile(t, U8U8);
}

/* ---- the same without tiles, for subnormals ---- */

typedef float floats_t __attribute__((vector_size(64)));
typedef uint32_t pairs_t __attribute__((vector_size(64)));

enum { EXACT_ROWS = 8 };

/* The low and high bf16 of each pair, as f32. */
#define LOW(pairs)  ((floats_t)((pairs) << 16))
#define HIGH(pairs) ((floats_t)((pairs)&0xFFFF0000u))

/* Rows i .. i + 7 of one half of the columns: each sum in one register, k ascending. */
static void exact_part(const tcgemm_tile_t *t, int i, int half, float sums[ROWS][COLS]) {
    floats_t sum[EXACT_ROWS];
    const char *a = (const char *)t->a + i * A_PITCH;
    const char *b = (const char *)t->b + (ptrdiff_t)half * 64;
    memset(sum, 0, sizeof sum);
    for (int64_t p = t->steps; p > 0; --p) {
        for (int w = 0; w < 16; ++w) {
            pairs_t column;
            memcpy(&column, b + w * B_PITCH, sizeof column);
            TCGEMM_UNROLL
            for (int r = 0; r < EXACT_ROWS; ++r) {
                uint32_t pair;
                memcpy(&pair, a + r * A_PITCH + (ptrdiff_t)w * 4, sizeof pair);
                const pairs_t row = pair - (pairs_t){0};
                sum[r] += LOW(row) * LOW(column);
                sum[r] += HIGH(row) * HIGH(column);
            }
        }
        a += STEP_BYTES;
        b += STEP_BYTES;
    }
    for (int r = 0; r < EXACT_ROWS; ++r)
        memcpy(&sums[i + r][half * 16], &sum[r], sizeof sum[r]);
}

void tcgemm_tile_amx_bf16x32_exact(const tcgemm_tile_t *t) {
    _Alignas(64) float sums[ROWS][COLS];
    for (int i = 0; i < t->m; i += EXACT_ROWS)
        for (int half = 0; half * 16 < t->n; ++half)
            exact_part(t, i, half, sums);
    finish_f32(t, (const float(*)[COLS])sums);
}

/* ---- packing ---- */

#define PACK_ISA amx
#include "cpu/kernels/finish_tmpl.h"

#include "cpu/kernels/pack_amx_tmpl.h"
