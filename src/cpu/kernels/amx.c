/* amx.c - products with matrix tiles: TDPBF16PS for bf16 and fp8, TDPFP16PS for f16, TDPB??D for
 * bytes of any signs.
 *
 * 32 x 32 of D are four tiles of sums; a step of k is two tiles of A and two of B, 4 KiB that are
 * loaded for four products of 8192 (16 bit) or 16384 (bytes) multiply-adds:
 *
 *                    B 6   B 7         a product keeps the unit busy for 16 cycles, so a step takes
 *           A 4     D 0   D 1          64 and loads 64 bytes a cycle: what the L2 cache gives when
 *           A 5     D 2   D 3          all goes well, and half of what the L1 cache does.
 *
 * A's panels, or its rows where they lie on whole lanes, 16 or 32 of them: `a_row` and `a_step` say
 * which.
 *
 * A thread has its tiles between tcgemm_begin_amx and tcgemm_end_amx. Sums leave the tiles once a
 * block of k, and come back for the next one if alpha is 1 (`continues`); then a tile at the edge
 * of D takes the same way through memory, so that its elements are those of a whole tile.
 *
 * TDPBF16PS takes bf16 subnormals for zero and flushes tiny sums to zero, as VDPBF16PS does:
 * packing reports the panels that hold a subnormal, and the driver sends their tiles to the kernel
 * of f32 multiply-adds below. TDPFP16PS takes f16 subnormals as they are, and no sum of products of
 * f16 comes near what it flushes (Intel SDM vol. 2).
 */
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "cpu/kernels/amx_tiles.h"
#include "cpu/kernels/kernels.h"

enum { ROWS = 32, COLS = 32, LANE_BYTES = 64, STEP_BYTES = COLS * LANE_BYTES };
enum { B_PITCH = COLS * 4, SUMS_PITCH = COLS * 4 };

void tcgemm_begin_amx(void) {
    static const amx_config_t config = {.palette = 1,
                                        .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
                                        .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    AMX_CONFIGURE(&config);
}

/* What was stored past the caches is there for other threads, too, when they are told. */
void tcgemm_end_amx(void) {
    AMX_FENCE();
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

/* Those of the first m rows and n columns, at least. */
static TCGEMM_ALWAYS_INLINE void store_some_sums(void *p, int64_t pitch, int m, int n) {
    AMX_STORE(0, (char *)p, pitch);
    if (n > 16)
        AMX_STORE(1, (char *)p + 64, pitch);
    if (m > 16)
        AMX_STORE(2, (char *)p + 16 * pitch, pitch);
    if (m > 16 && n > 16)
        AMX_STORE(3, (char *)p + 16 * pitch + 64, pitch);
}

static TCGEMM_ALWAYS_INLINE void zero_sums(void) {
    AMX_ZERO(0);
    AMX_ZERO(1);
    AMX_ZERO(2);
    AMX_ZERO(3);
}

/* One comparison of both at once would read what two stores have written, and wait for those and
 * all before them, the last tile of D: 140 ns. */
static bool is_whole(const tcgemm_tile_t *t) {
    return ((t->m ^ ROWS) | (t->n ^ COLS)) == 0;
}

/* The sums so far: zeros, or those of a pause, or those in C, which may end at the edge of a page.
 */
static void begin_sums(const tcgemm_tile_t *t) {
    if (t->resumes) {
        load_sums(t->partial, SUMS_PITCH);
        return;
    }
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

typedef float floats_t __attribute__((vector_size(64)));
typedef uint32_t pairs_t __attribute__((vector_size(64)));
typedef uint16_t narrow_t __attribute__((vector_size(32)));

typedef union sums {
    float f32[ROWS][COLS];
    uint32_t s32[ROWS][COLS];
} sums_t;

/* `n` of 16 words, zeros beyond; and `n` of them to memory. Not by value: a plain processor has no
 * register for them. */
static TCGEMM_ALWAYS_INLINE void get_words(pairs_t *x, const void *p, int n) {
#ifdef __AVX512F__
    *x = (pairs_t)_mm512_maskz_loadu_epi32((__mmask16)((1u << n) - 1u), p);
#else
    *x = (pairs_t){0};
    memcpy(x, p, (size_t)n * sizeof(*x)[0]);
#endif
}

static TCGEMM_ALWAYS_INLINE void put_words(void *p, int n, const pairs_t *x) {
#ifdef __AVX512F__
    _mm512_mask_storeu_epi32(p, (__mmask16)((1u << n) - 1u), (__m512i)*x);
#else
    memcpy(p, x, (size_t)n * sizeof(*x)[0]);
#endif
}

/* D = alpha * sums + beta * C, 16 columns or fewer at a time. */
static TCGEMM_ALWAYS_INLINE void finish_16(const tcgemm_tile_t *t, const uint32_t *c,
                                           const sums_t *sums, bool is_float, int j, int n) {
    for (int i = 0; i < t->m; ++i) {
        pairs_t x;
        pairs_t old = {0};
        get_words(&x, &sums->s32[i][j], 16);
        if (c)
            get_words(&old, c + i * t->ldc + j, n);
        if (is_float) {
            const floats_t product = t->alpha.f32 * (floats_t)x;
            x = (pairs_t)(c ? t->beta.f32 * (floats_t)old + product : product);
        } else {
            x = t->beta.s32 * old + t->alpha.s32 * x;
        }
        put_words((uint32_t *)t->d + i * t->ldd + j, n, &x);
    }
}

/* What the tiles have beyond m and n is left out. */
static TCGEMM_ALWAYS_INLINE void finish_rows(const tcgemm_tile_t *t, const sums_t *sums,
                                             bool is_float) {
    const uint32_t *c = t->continues ? NULL : t->c; /* else it is in the sums already */
    for (int j = 0; j < t->n; j += 16)
        finish_16(t, c, sums, is_float, j, t->n - j < 16 ? t->n - j : 16);
}

/* Sums that are D itself, past the caches. */
static void stream_rows(const tcgemm_tile_t *t, const sums_t *sums) {
    for (int i = 0; i < ROWS; ++i) {
        char *d = (char *)t->d + i * t->ldd * 4;
        AMX_STREAM(d, &sums->s32[i][0]);
        AMX_STREAM(d + 64, &sums->s32[i][16]);
    }
}

/* 16 sums become bf16, as tcgemm_bf16_of_f32 does it. */
static TCGEMM_ALWAYS_INLINE void narrow_16(const tcgemm_finish_t *f, const float *sums,
                                           const uint16_t *c, uint16_t *d) {
    floats_t x;
    memcpy(&x, sums, sizeof x);
    x *= f->alpha;
    if (c) {
        narrow_t old;
        memcpy(&old, c, sizeof old);
        x += f->beta * (floats_t)(__builtin_convertvector(old, pairs_t) << 16);
    }
    const pairs_t bits = (pairs_t)x;
    const pairs_t rounded = bits + 0x7FFFu + ((bits >> 16) & 1u);
    const pairs_t is_nan = (pairs_t)((bits & 0x7FFFFFFFu) > 0x7F800000u);
    const pairs_t kept = (is_nan & (bits | 0x00400000u)) | (~is_nan & rounded);
    const narrow_t result = __builtin_convertvector(kept >> 16, narrow_t);
    memcpy(d, &result, sizeof result);
}

static void finish_narrow(const tcgemm_tile_t *t, const sums_t *sums) {
    tcgemm_finish_t f = *t->finish;
    if (t->n != COLS || f.dtype != TCGEMM_DTYPE_BF16 || !tcgemm_epilogue_is_empty(&f.epilogue)) {
        f.sums = sums->f32[0];
        f.ld_sums = COLS;
        f.rows = t->m;
        f.cols = t->n;
        tcgemm_finish_amx(&f);
        return;
    }
    for (int i = 0; i < t->m; ++i) {
        const uint16_t *c = f.c ? (const uint16_t *)f.c + i * f.ldc : NULL;
        uint16_t *d = (uint16_t *)f.d + i * f.ldd;
        narrow_16(&f, sums->f32[i], c, d);
        narrow_16(&f, sums->f32[i] + 16, c ? c + 16 : NULL, d + 16);
    }
}

static void finish_f32(const tcgemm_tile_t *t, const sums_t *sums) {
    if (t->finish)
        finish_narrow(t, sums);
    else
        finish_rows(t, sums, true);
}

static bool is_on_lines(const tcgemm_tile_t *t) {
    return ((uintptr_t)t->d | (uintptr_t)t->ldd * 4) % 64 == 0;
}

/* True if the sums are D's tile as they are. */
static bool is_plain(const tcgemm_tile_t *t, bool is_float) {
    const bool is_one = is_float ? t->alpha.f32 == 1.0f : t->alpha.s32 == 1u;
    return is_whole(t) && is_one && (!t->c || t->continues) && !t->finish;
}

static bool goes_past_caches(const tcgemm_tile_t *t, bool is_float) {
    return t->streams && is_on_lines(t) && is_plain(t, is_float);
}

/* `sums` NULL: straight to D. */
static void end_sums(const tcgemm_tile_t *t, bool is_float, sums_t *sums) {
    if (!sums) {
        store_sums(t->d, t->ldd * 4);
        return;
    }
    store_some_sums(sums, SUMS_PITCH, t->m, t->n);
    if (goes_past_caches(t, is_float))
        stream_rows(t, sums);
    else if (is_float)
        finish_f32(t, sums);
    else
        finish_rows(t, sums, false);
}

/* ---- products ---- */

enum { BF16, F16, S8S8, S8U8, U8S8, U8U8 };

static TCGEMM_ALWAYS_INLINE bool is_of_floats(const int kind) {
    return kind == BF16 || kind == F16;
}

#define DOT(kind, c, a, b)                                                                         \
    do {                                                                                           \
        if ((kind) == BF16)                                                                        \
            AMX_DOT_BF16(c, a, b);                                                                 \
        else if ((kind) == F16)                                                                    \
            AMX_DOT_F16(c, a, b);                                                                  \
        else if ((kind) == S8S8)                                                                   \
            AMX_DOT_S8S8(c, a, b);                                                                 \
        else if ((kind) == S8U8)                                                                   \
            AMX_DOT_S8U8(c, a, b);                                                                 \
        else if ((kind) == U8S8)                                                                   \
            AMX_DOT_U8S8(c, a, b);                                                                 \
        else                                                                                       \
            AMX_DOT_U8U8(c, a, b);                                                                 \
    } while (0)

/* The lines that the sums will be stored to, which the last steps fetch: one that is not in the
 * first cache makes all stores behind it wait. All at once would take the places of what the steps
 * themselves wait for, and to ask anew in each step what is to be fetched takes a tenth of its
 * time. */
typedef struct fetched {
    const char *row;
    int64_t pitch;  /* bytes from row to row */
    int rows, each; /* in each step so many of them */
    bool is_narrow; /* one line a row, else two */
} fetched_t;

enum { FETCH_STEPS = 16, LEAST_FETCH_STEPS = 9 };

/* Rows of D, if there is something that they would be behind. */
static TCGEMM_ALWAYS_INLINE fetched_t fetched_rows(const tcgemm_tile_t *t) {
    const bool is_none = t->pauses || t->streams || t->steps < LEAST_FETCH_STEPS;
    return (fetched_t){
        .row = t->finish ? t->finish->d : t->d,
        .pitch = t->finish ? t->finish->ldd * 2 : t->ldd * 4,
        .rows = is_none ? 0 : t->m,
        .each = t->steps >= FETCH_STEPS ? ROWS / FETCH_STEPS : 2 * ROWS / FETCH_STEPS,
        .is_narrow = t->finish != NULL,
    };
}

static TCGEMM_ALWAYS_INLINE void fetch_rows(fetched_t *f) {
    for (int i = 0; i < f->each && f->rows > 0; ++i, --f->rows, f->row += f->pitch) {
        TCGEMM_PREFETCH_WRITE(f->row);
        if (!f->is_narrow)
            TCGEMM_PREFETCH_WRITE(f->row + 64);
    }
}

/* A step of k. Halves of the tile beyond m and n are left out: they hold zeros. */
static TCGEMM_ALWAYS_INLINE void multiply_step(const char *a, int64_t a_pitch, const char *b,
                                               const int kind, const bool both_a,
                                               const bool both_b) {
    AMX_LOAD(4, a, a_pitch);
    AMX_LOAD(6, b, B_PITCH);
    if (both_b)
        AMX_LOAD(7, b + 64, B_PITCH);
    if (both_a)
        AMX_LOAD(5, a + 16 * a_pitch, a_pitch);
    DOT(kind, 0, 4, 6);
    if (both_b)
        DOT(kind, 1, 4, 7);
    if (both_a)
        DOT(kind, 2, 5, 6);
    if (both_a && both_b)
        DOT(kind, 3, 5, 7);
}

static TCGEMM_ALWAYS_INLINE void multiply(const tcgemm_tile_t *t, const int kind, const bool both_a,
                                          const bool both_b) {
    const char *a = t->a;
    const char *b = t->b;
    const int64_t a_pitch = t->a_row * LANE_BYTES, a_step = t->a_step * LANE_BYTES;
    fetched_t f = fetched_rows(t);
    const int64_t late = f.rows > 0 ? ROWS / f.each : 0;
    int64_t p = t->steps;
    for (; p > late; --p, a += a_step, b += STEP_BYTES)
        multiply_step(a, a_pitch, b, kind, both_a, both_b);
    for (; p > 0; --p, a += a_step, b += STEP_BYTES) {
        fetch_rows(&f);
        multiply_step(a, a_pitch, b, kind, both_a, both_b);
    }
}

static TCGEMM_ALWAYS_INLINE void tile(const tcgemm_tile_t *t, const int kind) {
    const bool is_float = is_of_floats(kind);
    const bool is_direct = is_plain(t, is_float) && !goes_past_caches(t, is_float);
    _Alignas(64) sums_t memory;
    sums_t *const sums = is_direct ? NULL : &memory;
    begin_sums(t);
    if (t->m > 16 && t->n > 16)
        multiply(t, kind, true, true);
    else if (t->m > 16)
        multiply(t, kind, true, false);
    else if (t->n > 16)
        multiply(t, kind, false, true);
    else
        multiply(t, kind, false, false);
    if (t->pauses)
        store_sums(t->partial, SUMS_PITCH);
    else
        end_sums(t, is_float, sums);
}

void tcgemm_tile_amx_bf16x32(const tcgemm_tile_t *t) {
    tile(t, BF16);
}

void tcgemm_tile_amx_f16x32(const tcgemm_tile_t *t) {
    tile(t, F16);
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

enum { EXACT_ROWS = 8 };

/* The low and high bf16 of each pair, as f32. */
#define LOW(pairs)  ((floats_t)((pairs) << 16))
#define HIGH(pairs) ((floats_t)((pairs)&0xFFFF0000u))

/* Rows i .. i + 7 of one half of the columns: each sum in one register, k ascending. */
static void exact_part(const tcgemm_tile_t *t, int i, int half, sums_t *sums) {
    floats_t sum[EXACT_ROWS];
    const int64_t a_pitch = t->a_row * LANE_BYTES;
    const char *a = (const char *)t->a + i * a_pitch;
    const char *b = (const char *)t->b + (ptrdiff_t)half * 64;
    for (int r = 0; r < EXACT_ROWS; ++r)
        memcpy(&sum[r], &sums->f32[i + r][half * 16], sizeof sum[r]);
    for (int64_t p = t->steps; p > 0; --p) {
        for (int w = 0; w < 16; ++w) {
            pairs_t column;
            memcpy(&column, b + w * B_PITCH, sizeof column);
            TCGEMM_UNROLL
            for (int r = 0; r < EXACT_ROWS; ++r) {
                uint32_t pair;
                memcpy(&pair, a + r * a_pitch + (ptrdiff_t)w * 4, sizeof pair);
                const pairs_t row = pair - (pairs_t){0};
                sum[r] += LOW(row) * LOW(column);
                sum[r] += HIGH(row) * HIGH(column);
            }
        }
        a += t->a_step * LANE_BYTES;
        b += STEP_BYTES;
    }
    for (int r = 0; r < EXACT_ROWS; ++r)
        memcpy(&sums->f32[i + r][half * 16], &sum[r], sizeof sum[r]);
}

void tcgemm_tile_amx_bf16x32_exact(const tcgemm_tile_t *t) {
    _Alignas(64) sums_t sums;
    if (t->resumes)
        memcpy(&sums, t->partial, sizeof sums);
    else
        memset(&sums, 0, sizeof sums);
    for (int i = 0; i < t->m; i += EXACT_ROWS)
        for (int half = 0; half * 16 < t->n; ++half)
            exact_part(t, i, half, &sums);
    if (t->pauses) {
        memcpy(t->partial, &sums, sizeof sums);
        return;
    }
    const float *c = t->c;
    for (int i = 0; t->continues && i < t->m; ++i)
        for (int j = 0; j < t->n; ++j)
            sums.f32[i][j] += c[i * t->ldc + j];
    finish_f32(t, &sums);
}

/* ---- packing ---- */

#define PACK_ISA amx
#include "cpu/kernels/finish_tmpl.h"

#include "cpu/kernels/pack_amx_tmpl.h"

/* Lines that stay where they are: is a bf16 of them subnormal? (`rows` is NULL.) */
bool tcgemm_pack_rows_amx_bf16x32(const tcgemm_pack_t *pack, int lines, void *rows,
                                  uint32_t *terms) {
    halves_t found = {0};
    (void)rows;
    (void)terms;
    for (int64_t k = 0; k < pack->k; k += LINES) {
        const rows_t some = {
            .base = (const uint8_t *)pack->source + (pack->origin + k) * 2,
            .pitch = pack->line_stride * 2,
            .count = lines,
            .mask = mask_of((pack->k - k) * 2),
        };
        for (int i = 0; i < lines; ++i) {
            halves_t x;
            load_row(&some, i, some.mask == UINT64_MAX, &x, sizeof x);
            note_subnormals(&x, &found);
        }
    }
    return is_any(&found);
}

/* ---- lines where they lie ---- */

#include "cpu/kernels/amx_dots.h"
