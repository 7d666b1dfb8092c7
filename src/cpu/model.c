/* model.c - how the CPU back end cuts a problem into blocks, and how long that takes.
 *
 * The model, in cycles of one core:
 *     multiply  the padded volume / the multiply-adds that its vector units do in a cycle
 *     pack      for each 4 bytes of the panels of A and B, by the way they lie in memory
 *     store     for each 8 bytes of D and each step of k
 * divided among the threads, some for the call, and some for each barrier of the threads. The
 * constants of each type were measured, on a Zen 5 (base/types.def); with AVX2 more is
 * counted, with constants of each type and instruction set of an Intel Xeon and of a Zen 5
 * (cost.h). How well that fits: docs/measuring.md. Cycles become seconds by the nominal clock
 * (host/clock.h): a plan must not depend on how busy the machine is.
 */
#include "cpu/model.h"

#include <math.h>

#include "base/dtype.h"
#include "base/num.h"
#include "cpu/cost.h"
#include "cpu/dots.h"
#include "cpu/kernels/ukernel.h"
#include "cpu/packing.h"
#include "cpu/ways.h"
#include "host/caches.h"
#include "host/clock.h"
#include "host/features.h"

enum {
    MAX_ROWS = 2048,        /* of D in flight: A's panel, mt x kc, stays in the L3 cache */
    MAX_COLS = 3840,        /* the same for B's panel, kc x nc */
    MAX_NARROW_ROWS = 1024, /* f16 and bf16 results also keep mt x nc sums in f32 */
    MAX_NARROW_COLS = 1920,
    MANY_THREADS = 8, /* share more rows and columns, twice as many, or wait too often; ... */
    MANY_COLS = 240,  /* ... with parts of B that leave room for what other cores packed */
    MAX_MATRIX_ROWS =
        4096, /* matrix units are so fast that packing twice would show, so these ... */
    MAX_MATRIX_COLS = 8192,        /* ... may lie in memory */
    OWN_PANEL_BYTES = 1 << 19,     /* of B, that a thread packs for its own unit, ... */
    FETCHED_PANEL_BYTES = 1 << 18, /* ... if what is packed next is to have room beside it, ... */
    COPIED_PANEL_BYTES = 5 << 16,  /* ... if tiles leave it as they come to it, ... */
    OWN_SUMS_BYTES = 1 << 18,      /* ... and of its sums: in the L2 cache */
    MOST_OWN_COLS = 1024,          /* of that unit, ... */
    LEAST_OWN_COLS = 128,          /* ... and if there are enough: long pieces of B's rows */
    COPIED_COLS = 192,             /* where tiles leave panels: more steps of k before sums go */
    MOST_FEW_ROWS = 64,            /* without matrix units: more rows are worth packing B first */
    FEW_ROWS_LEAST_COLS = 512,     /* else there would be few units */
    FEW_ROWS_LEAST_B = 1 << 18,    /* elements of B: less stays in the L2 cache */
    FEW_ROWS_ACROSS_K = 24,        /* rows of B at a time: no more than prefetchers follow */
    VERY_FEW_ROWS = 16,            /* with more, sums that come and go cost more than B */
    LEAST_COPIED_ROWS = 33,        /* fewer have B packed as soon as tiles leave its panels; ... */
    MOST_COPIED_ROWS = 192,        /* ... all are one block of A; ... */
    LEAST_COPIED_STEPS = 100,      /* ... and so have fewer steps of k */
    FEW_ROWS_ALONG_K = 1024,       /* elements of columns of B: the whole block */
    FEW_ROWS_SUMS_BYTES = 1 << 20, /* of a unit's sums, and its ... */
    FEW_ROWS_COLS = 4096,          /* ... columns: longer pieces of B's rows are nothing better */
    MOST_NARROW_PANELS = 3,        /* of B, for which A is not worth packing, ... */
    SMALL_B_BYTES = 32 << 10,      /* ... or more, of a B that stays near, ... */
    SMALL_A_BYTES = 1 << 20,       /* of f32 that tiles of AVX2 read where they lie */
    LEAST_LONG_ROW = 128,          /* ... nor, if it is one of lanes, where its rows are so long */
    NEAR_A_OF_TILES = 1 << 19,     /* bytes of an A whose rows tiles read where they lie, ... */
    NEAR_ROWS_OF_TILES = 1024,     /* ... so far apart at most */
    STREAM_PITCH = 1024,           /* from row to row of B: prefetchers see one stream */
    SHARED_BYTES = 5 << 20,        /* of an operand that stays as it is in the L2 caches of many */
    NEAR_PITCH = 6144,             /* threads; its lines so far apart at most, and ... */
    BAD_PITCH = 4096,              /* ... not in one set of the first-level cache */
    MOST_F32_DOTS = 16,   /* along k: of more rows B is packed, whose next lines come meanwhile */
    MOST_TILE_DOTS = 128, /* rows of matrix tiles, for each 32 of which lines are read ... */
    MOST_NEAR_TILE_DOTS = 64,         /* ... again; fewer where ... */
    LEAST_FAR_LINES = 1 << 20,        /* ... all lines, so many elements, stay in the L2 cache */
    LEAST_TILE_DOTS_VOLUME = 1 << 16, /* vectors take less in half the time of matrix tiles */
    DOTS_OF_UNIT = 64,                /* lines along k, ... */
    NEAR_DOTS_OF_UNIT = 1024,         /* ... of one thread, that no other one helps */
    ACROSS_MOST_LINES = 4096,    /* of a unit, lines across k: longer ones are nothing better, */
    ACROSS_LEAST_LINES = 256,    /* ... and shorter ones are read at 0.7 of the rate */
    ACROSS_SUMS_BYTES = 1 << 18, /* of all its sums, that come and go every few rows of k, or half
                                  * of what is near, beside the lines */
    MOST_BF16_ROWS = 32, /* along k: more are worth packing for dot products of pairs; ... */
    MOST_FP8_ROWS = 2,
    MOST_BF16_COLUMNS = 24,
    MOST_BF16_ROWS_ACROSS = 8, /* ... across k, where fp8 is more work */
    MOST_FP8_ROWS_ACROSS = 4,
    MOST_LANE_ROWS = 16,      /* across k, interleaved to lanes: more are worth packing B, ... */
    MOST_NEAR_LANE_ROWS = 3,  /* ... of pairs of s16 that stay near, ... */
    MOST_LANE_COLUMNS = 64,   /* ... and columns A */
    MOST_SHORT_ACROSS = 32,   /* rows or columns, with short vectors */
    MOST_SLOW_COLUMNS = 64,   /* columns beside an A of halves that become f32: slow to pack */
    LEAST_LANE_ROWS = 3,      /* of bf16: fewer are converted to f32 as fast */
    MOST_VECTOR_BYTES = 8,    /* rows of bytes that vectors multiply faster than matrix tiles */
    LEAST_BYTES_IN_LANES = 5, /* along k, of lines that are far: others gain nothing, nor a Xeon */
    MOST_BYTE_ROWS = 24,      /* of bytes: more are worth packing B for, ... */
    MOST_FAR_BYTE_ROWS = 16,  /* ... where tiles have its lines fetched, ... */
    MOST_BYTE_COLUMNS = 32,   /* ... and columns A, which is slower; ... */
    MOST_NEAR_BYTES = 8,      /* ... where lines stay in the L2 cache, rows and half of columns */
    MOST_BESIDE_SWIFT = 8,    /* along k, where packing is swift: of bf16 and far bytes, ... */
    MOST_F32_BESIDE_SWIFT = 12,
    MOST_WIDE_BESIDE_SWIFT = 16, /* ... and of far f64 and f16 */
    FAR_FROM_SWIFT = 12 << 20,   /* bytes of B */
    LEAST_SLOW_A =
        1 << 23, /* elements of an A across k, that take longer to pack than to read twice */
    MOST_MATRIX_ACROSS =
        8, /* rows or columns that vectors multiply faster than tiles, which pack */
    LEAST_ACROSS_VOLUME = 1 << 15, /* less is read in place as fast by tiles, if it can be */
    LEAST_DOTS_STEPS = 64,         /* along k, and ... */
    LEAST_DOTS_VOLUME = 4096,      /* ... elements in all: less is done by tiles as fast */
    INNER_STEPS = 16, /* of k for each row or column whose lanes it fills; bytes of both operands */
    MOST_INNER_BYTES = 12 << 20,
    MATRIX_PANEL_BYTES = 1 << 20, /* of A, mc x kc: half of the L2 cache of who has such a unit */
    BRIEF_UNIT_VOLUME = 1 << 18, /* multiply-adds of a unit that has more rows than others: of so */
    MOST_BRIEF_ROWS = 512,       /* few columns and steps of k that its beginning would show */
    FAR_ROWS_BYTES = 8 << 20,    /* of an operand whose rows tiles have fetched ahead, and of ... */
    FAR_LINES_BYTES = 48 << 20, /* ... one of f32 or f64 lines along k, or f64 across it, at most */
    TINY_VOLUME = 128 * 128 * 128, /* multiply-adds below which packing costs more than it gains */
    CYCLES_PER_THREAD = 10000,     /* the least work that is worth waking a thread for */
    CYCLES_PER_BARRIER = 5000,
    CYCLES_PER_ITEM = 1200,
    SMALL_ITEM_CYCLES = 1000000 /* batch items below this are computed whole by one thread */
};

/* Equal parts of `size`, none above `most`, multiples of `unit`. */
static int64_t even_part(int64_t size, int64_t most, int64_t unit) {
    if (size == 0)
        return unit;
    return round_up(ceil_div(size, ceil_div(size, most)), unit);
}

/* ---- blocking ---- */

/* Bytes of an operand of so many lines along k, of one item, ... */
static double bytes_of_item(const tcgemm_canonical_t *g, const tcgemm_operand_t *x, int64_t lines) {
    return (double)lines * (double)g->k * tcgemm_dtype_bits(x->dtype) / 8.0;
}

/* ... and of all items of the batch. */
static double bytes_of(const tcgemm_canonical_t *g, const tcgemm_operand_t *x, int64_t lines) {
    return (x->batch_stride == 0 ? 1.0 : (double)g->batch) * bytes_of_item(g, x, lines);
}

/* Of A, B and D, of one item. */
static double bytes_of_matrices(const tcgemm_canonical_t *g) {
    const double d = (double)g->m * (double)g->n * tcgemm_dtype_bits(g->type->d) / 8.0;
    return bytes_of_item(g, &g->a, g->m) + bytes_of_item(g, &g->b, g->n) + d;
}

/* Steps of k after which lines along k are as well aligned as where they begin. */
static int64_t step_of(const struct tcgemm_plan *plan) {
    enum { CACHE_LINE_BITS = 512 };
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const int64_t step = CACHE_LINE_BITS / tcgemm_dtype_bits(plan->g.type->a);
    return u->kc % step == 0 && step % u->ku == 0 ? step : u->ku;
}

bool tcgemm_cpu_lanes_are_elements(const tcgemm_canonical_t *g) {
    return g->type->type == TCGEMM_F32_F32 || g->type->type == TCGEMM_F64_F64;
}

/* m * n * k as a double: it may pass 2^63. */
static double volume(const tcgemm_canonical_t *g) {
    return (double)g->m * (double)g->n * (double)g->k;
}

bool tcgemm_cpu_packs_whole_units(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const bool reads_rows =
        u->ku > 1 || (plan->g.m > VERY_FEW_ROWS && (plan->cpu.fetches || !tcgemm_is_wide(u)));
    return tcgemm_is_matrix(u) || (reads_rows && plan->g.b.row_stride != 1);
}

bool tcgemm_cpu_fetches_units(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const bool is_copied = tcgemm_cpu_lanes_are_elements(&plan->g); /* which takes little time */
    return plan->cpu.packs_units && plan->cpu.pack_b && plan->cpu.fetches && tcgemm_is_wide(u) &&
           tcgemm_cpu_packs_whole_units(plan) && !(is_copied && tcgemm_cpu_follows_streams());
}

/* Lines, or rows across k, whose distance is a multiple of a way of the first-level cache want one
 * set of it. Sixteen of them find no room where it has eight ways; with twelve they are read as
 * fast as others (a Zen 5, a Xeon), and fastest if they are fetched there (a Xeon). */
enum { FEW_WAYS = 8 };

static bool is_roomy(void) {
    return tcgemm_first_level().ways > FEW_WAYS;
}

bool tcgemm_cpu_lie_apart(const tcgemm_operand_t *lines, int64_t bytes) {
    const int64_t pitch = lines->row_stride == 1 ? lines->col_stride : lines->row_stride;
    /* The remainder first: where nothing is read a pitch may be any number. */
    return pitch % (8 * bytes) * tcgemm_dtype_bits(lines->dtype) % (8 * bytes) == 0;
}

static bool want_one_set(const tcgemm_operand_t *lines) {
    const tcgemm_ways_t l1 = tcgemm_first_level();
    return l1.ways > 0 && tcgemm_cpu_lie_apart(lines, l1.way_bytes);
}

/* Whether the first tile of each panel of a unit can read B as it lies and leave the panel, which
 * spares packing it: on a Zen 4 a fifth of the time of 64 rows. (A Xeon, which follows more rows of
 * B at a time, takes 1.05 to 1.1 times as long.) Where B's next rows are fetched beside the tiles
 * of few rows, they are packed from a cache instead; 96 rows take 1.3 times as long so on a Zen 5.
 */
static bool can_copy_units(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const bool follows = tcgemm_cpu_follows_streams(), gains = !follows || !is_roomy();
    const int64_t least = follows ? LEAST_COPIED_ROWS : MOST_FEW_ROWS + 1;
    return gains && g->m >= least && g->m <= MOST_COPIED_ROWS && g->k >= LEAST_COPIED_STEPS &&
           tcgemm_can_copy(plan->kernel->cpu) && tcgemm_cpu_lanes_are_elements(g) &&
           g->b.col_stride == 1;
}

/* It does where it waits for B longer than packing takes. */
static bool may_copy_units(const struct tcgemm_plan *plan) {
    return plan->cpu.fetches && can_copy_units(plan);
}

/* Few rows against a B that no cache near the core holds: what counts is how B is read. Then units
 * have all rows, and go down k in small steps (gemm.c). */
static bool has_few_rows(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const bool pauses = tcgemm_can_pause(u->family) && u->family != TCGEMM_FAMILY_S16;
    return pauses && !plan->packs && !g->a.packed_bytes && !g->b.packed_bytes && g->m > 0 &&
           (g->m <= MOST_FEW_ROWS || may_copy_units(plan)) && g->n >= FEW_ROWS_LEAST_COLS &&
           (double)g->n * (double)g->k >= FEW_ROWS_LEAST_B;
}

static bool is_byte(tcgemm_dtype_t dtype) {
    return dtype == TCGEMM_DTYPE_S8 || dtype == TCGEMM_DTYPE_U8;
}

static bool has_bytes(const tcgemm_canonical_t *g) {
    return is_byte(g->a.dtype) && is_byte(g->b.dtype);
}

/* Whether vectors multiply a few rows beside lines along k; a processor that tests play has matrix
 * tiles alone. */
static bool has_vector_dots(const tcgemm_cpu_ukernel_t *u) {
    return u->dots && (u->dots_features & ~tcgemm_cpu_features()) == 0;
}

/* The same beside lines across it, which those of bytes do not. */
static bool has_vectors_across(const tcgemm_cpu_ukernel_t *u) {
    return u->across && has_vector_dots(u);
}

/* Elements that lanes are made of where they lie. */
static bool are_lanes_in_place(const tcgemm_canonical_t *g) {
    return tcgemm_dtype_bits(g->a.dtype) == 16 || has_bytes(g);
}

/* Whether the kernel's own lanes are read in place from lines along k, ... */
static bool has_lane_dots(const struct tcgemm_plan *plan) {
    return plan->kernel->cpu->lane_dots && are_lanes_in_place(&plan->g);
}

/* ... and from lines across it. */
static bool has_lane_across(const struct tcgemm_plan *plan) {
    return plan->kernel->cpu->lane_across && are_lanes_in_place(&plan->g);
}

/* Whether vectors multiply rows of bytes as s16. */
static bool widens_bytes(const tcgemm_cpu_ukernel_t *u) {
    return u->x_bytes == 2;
}

static bool is_fp8(const tcgemm_canonical_t *g) {
    return g->a.dtype == TCGEMM_DTYPE_E4M3 || g->a.dtype == TCGEMM_DTYPE_E5M2;
}

/* Types whose lines a kernel of sums in f32 or f64, or of bytes, reads as they are. */
static bool has_dots_type(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    if (!has_vector_dots(u) && !has_lane_dots(plan))
        return false;
    const bool is_bf16 = is_fp8(g) || g->a.dtype == TCGEMM_DTYPE_BF16;
    if (u->family == TCGEMM_FAMILY_U8S8 || u->family == TCGEMM_FAMILY_I8X64 ||
        u->family == TCGEMM_FAMILY_S16)
        return has_bytes(g);
    if (u->family == TCGEMM_FAMILY_F32 || u->family == TCGEMM_FAMILY_F64)
        return true; /* of all types that they compute */
    /* Not the bits of a tile of bf16 or f16: rows must not know there that they are few. */
    const bool is_of_lane = u->family == TCGEMM_FAMILY_F16X32 || is_bf16;
    return is_of_lane && !(g->flags & TCGEMM_FLAG_REPRODUCIBLE);
}

static bool are_dots(const struct tcgemm_plan *plan, int64_t few, int64_t most, int64_t many) {
    const tcgemm_canonical_t *g = &plan->g;
    if (few == 1 && most > 0)
        return g->k >= LEAST_DOTS_STEPS && volume(g) >= LEAST_DOTS_VOLUME;
    return few > 0 && few <= most && many >= FEW_ROWS_LEAST_COLS &&
           (double)many * (double)g->k >= FEW_ROWS_LEAST_B;
}

/* Rows of f32 beside lines along k that ways (ways.h) say nothing of: if these are short, more are
 * multiplied sooner by tiles. (16 x 20000 x 200 in 0.55 of the time on a Zen 4, 9 x 10000 x 400 in
 * 0.6 on it and on a Xeon; there short vectors do 8 x 13333 x 300 in 1.15 to 1.3 times as long.) */
static int64_t most_f32_dots(const struct tcgemm_plan *plan) {
    enum { SHORT_LINES = 600, SOME_LINES = 1000 };
    if (plan->g.k >= SOME_LINES || (is_roomy() && !tcgemm_is_wide(plan->kernel->cpu)))
        return MOST_F32_DOTS;
    return plan->g.k >= SHORT_LINES ? MOST_F32_DOTS / 2 : MOST_F32_DOTS / 4;
}

/* Rows, or columns, of D that are few beside `many` lines along k. */
static int64_t most_dots(const struct tcgemm_plan *plan, int64_t many) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    if (tcgemm_is_matrix(u) && !has_lane_dots(plan))
        return MOST_MATRIX_ACROSS;
    if (!u->lane_dots)
        return min_i64(plan->g.a.dtype == TCGEMM_DTYPE_F32 ? most_f32_dots(plan) : INT64_MAX,
                       2 * (int64_t)u->dots_width);
    return (double)many * (double)plan->g.k >= LEAST_FAR_LINES ? MOST_TILE_DOTS
                                                               : MOST_NEAR_TILE_DOTS;
}

/* The same of bytes. */
static int64_t most_bytes(const struct tcgemm_plan *plan, int64_t many, int64_t far, int64_t near) {
    if (tcgemm_is_matrix(plan->kernel->cpu))
        return most_dots(plan, many);
    return (double)many * (double)plan->g.k >= LEAST_FAR_LINES ? far : near;
}

/* Twelve ways are too few where prefetchers do not follow: of one to four rows or columns, of more
 * than eight (these eight at a time), and of any number with short vectors, half as many rows of k
 * are read at a time, and with these two to eight have them fetched to the second level, but of
 * halves; one row beside lines along k takes these in two sets. (On a Zen 5 1.05 to 1.3 times as
 * fast; five to eight are slower so with long vectors.) */
static void make_room(struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    tcgemm_cpu_blocking_t *s = &plan->cpu;
    const int64_t few = s->dots == TCGEMM_DOTS_ROWS ? g->m : g->n;
    const bool is_wide = tcgemm_is_wide(plan->kernel->cpu);
    s->is_crowded = s->across ? !is_wide || few <= 4 || few > 8 : !is_wide && few == 1;
    const bool is_short = tcgemm_dtype_bits(g->a.dtype) < 32;
    s->is_roomy = is_wide || !s->across || is_short || few == 1 || few > 8;
}

/* Where lines that lie beyond the caches have room once they are fetched. */
static void choose_fetching(struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    tcgemm_cpu_blocking_t *s = &plan->cpu;
    s->is_roomy = is_roomy();
    s->is_crowded = s->is_spread = false;
    if (!s->dots)
        return;
    const bool in_one_set = want_one_set(s->dots == TCGEMM_DOTS_ROWS ? &g->b : &g->a);
    s->is_crowded = !s->is_roomy && in_one_set;
    if (!s->fetches)
        return;
    s->is_spread = s->is_roomy && !in_one_set && !tcgemm_cpu_follows_streams();
    if (s->is_roomy && in_one_set && !tcgemm_cpu_follows_streams())
        make_room(plan);
}

/* Whether rows beside a B across k are multiplied in lanes sooner than B is packed: where packing
 * it is slow, or, on a Zen 4, always. (On a Xeon 1 to 16 rows of bytes take half of the time with
 * rows of B 4096 bytes apart, 1.4 times as long with 3000.) */
static bool gain_by_lanes(const struct tcgemm_plan *plan) {
    return has_lane_across(plan) && (!is_roomy() || want_one_set(&plan->g.b));
}

/* Rows or columns of D that are few beside lines across k; ... */
static int64_t most_across(const struct tcgemm_plan *plan) {
    if (has_bytes(&plan->g))
        return 0;
    if (tcgemm_is_matrix(plan->kernel->cpu))
        return MOST_MATRIX_ACROSS;
    const int64_t width = plan->kernel->cpu->dots_width;
    if (!tcgemm_is_wide(plan->kernel->cpu))
        return is_fp8(&plan->g)                        ? width
               : plan->g.type->type == TCGEMM_TF32_F32 ? 2 * width
                                                       : MOST_SHORT_ACROSS;
    return (tcgemm_cpu_lanes_are_elements(&plan->g) ? 2 : 1) * width;
}

/* ... rows, ... */
static int64_t most_rows_across(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const double lines = (double)plan->g.n * (double)plan->g.k;
    if (gain_by_lanes(plan) && widens_bytes(u) && lines < 4 * LEAST_FAR_LINES)
        return lines < LEAST_FAR_LINES ? MOST_NEAR_LANE_ROWS : MOST_LANE_ROWS / 2;
    if (gain_by_lanes(plan))
        return MOST_LANE_ROWS;
    if (plan->g.type->type == TCGEMM_TF32_F32 && tcgemm_is_wide(u))
        return most_across(plan) / 2; /* which vectors half as long multiply */
    if (u->family == TCGEMM_FAMILY_BF16)
        return plan->g.a.dtype == TCGEMM_DTYPE_BF16 ? MOST_BF16_ROWS_ACROSS : MOST_FP8_ROWS_ACROSS;
    return most_across(plan);
}

/* Columns of D are written one by one, which takes as long as the steps of k that so many columns
 * are worth: more than these are left to tiles. (Measured on a Zen 4, up to four times as fast; on
 * a Xeon tiles of pairs of bf16 are slower, and of f16 on eight threads.) */
static int64_t most_columns_of_steps(const struct tcgemm_plan *plan, int max_threads) {
    enum { OF_BYTES = 2, OF_PAIRS = 6, OF_OTHERS = 60 };
    const bool are_bytes = has_bytes(&plan->g);
    const bool are_pairs = plan->kernel->cpu->family == TCGEMM_FAMILY_BF16;
    if (max_threads > 1 && !are_bytes && !are_pairs)
        return INT64_MAX;
    const int worth = are_bytes ? OF_BYTES : are_pairs && !is_roomy() ? OF_PAIRS : OF_OTHERS;
    return (int64_t)sqrt(worth * (double)plan->g.k);
}

/* ... and columns, beside an A that takes longer to pack; pairs of s16 are soon multiplied as fast
 * by tiles, and by more threads that share what is packed. */
static int64_t most_columns_across(const struct tcgemm_plan *plan, int max_threads) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const double lines = (double)plan->g.m * (double)plan->g.k;
    const bool are_far = lines >= LEAST_FAR_LINES;
    if (has_lane_across(plan)) {
        const bool are_swift = widens_bytes(u) && (tcgemm_is_wide(u) || max_threads > 1);
        const int64_t far = are_swift             ? MOST_LANE_ROWS / (tcgemm_is_wide(u) ? 2 : 1)
                            : has_bytes(&plan->g) ? MOST_LANE_COLUMNS / 2
                                                  : MOST_LANE_COLUMNS;
        const int64_t near = are_swift ? MOST_NEAR_LANE_ROWS : MOST_LANE_ROWS;
        return min_i64(are_far ? far : near, most_columns_of_steps(plan, max_threads));
    }
    if (u->family == TCGEMM_FAMILY_F32 && tcgemm_dtype_bits(plan->g.a.dtype) == 16)
        return min_i64(MOST_SLOW_COLUMNS, most_columns_of_steps(plan, max_threads));
    if (!tcgemm_is_wide(u) && !tcgemm_is_matrix(u))
        return MOST_SHORT_ACROSS;
    if (u->family != TCGEMM_FAMILY_BF16)
        return most_across(plan);
    return (lines >= LEAST_SLOW_A ? 2 : 1) * (int64_t)u->dots_width;
}

/* So few rows or columns, and so many elements of lines for each of them, that lines are read in
 * place sooner, though all of them stay near. Measured on a Zen 5 with AVX-512 and AVX2. */
typedef struct near_rule {
    int64_t most_few, least_elements;
} near_rule_t;

/* Across k halves that become f32 are slow to pack, ... */
static const near_rule_t near_columns_of_halves[] = {{8, 64}, {16, 256}, {32, 512}, {0, 0}};
static const near_rule_t near_rows_of_halves[] = {{4, 512}, {8, 1024}, {0, 0}};
/* ... tiles of few columns leave lanes idle, ... */
static const near_rule_t near_columns_of_f32[] = {{4, 256}, {8, 512}, {0, 0}};
static const near_rule_t near_columns_of_f64[] = {{1, 256}, {4, 2048}, {8, 16384}, {0, 0}};
/* ... and those of pairs of bf16 are twice as fast. */
static const near_rule_t near_columns_of_pairs[] = {{1, 256}, {2, 512}, {8, 16384}, {0, 0}};
static const near_rule_t near_rows_of_pairs[] = {{4, 2048}, {0, 0}};
/* Bytes along k. */
static const near_rule_t near_columns_of_bytes[] = {{2, 1024}, {4, 2048}, {0, 0}};
static const near_rule_t near_rows_of_bytes[] = {{1, 3072}, {4, 8192}, {0, 0}};
static const near_rule_t near_widened[] = {{2, 500}, {4, 8000}, {0, 0}};
static const near_rule_t near_none[] = {{0, 0}};

static const near_rule_t *near_rules(const struct tcgemm_plan *plan, bool of_rows) {
    const tcgemm_family_t family = plan->kernel->cpu->family;
    const tcgemm_type_t type = plan->g.type->type;
    const int bits = tcgemm_dtype_bits(plan->g.a.dtype);
    if (has_bytes(&plan->g))
        return family == TCGEMM_FAMILY_S16                                       ? near_widened
               : family != TCGEMM_FAMILY_U8S8 || widens_bytes(plan->kernel->cpu) ? near_none
               : of_rows ? near_rows_of_bytes
                         : near_columns_of_bytes;
    if (family == TCGEMM_FAMILY_F32 && bits == 16)
        return of_rows ? near_rows_of_halves : near_columns_of_halves;
    if (family == TCGEMM_FAMILY_BF16 && bits == 16)
        return of_rows ? near_rows_of_pairs : near_columns_of_pairs;
    return of_rows || !tcgemm_cpu_lanes_are_elements(&plan->g) ? near_none
           : type == TCGEMM_F64_F64                            ? near_columns_of_f64
                                                               : near_columns_of_f32;
}

static bool are_near_dots(const struct tcgemm_plan *plan, int64_t few, int64_t many, bool of_rows) {
    enum { LEAST_MANY = 32, LEAST_MANY_BYTES = 64, STEPS_OF_ROWS = 48, STEPS_OF_COLUMNS = 12 };
    const near_rule_t *rule = near_rules(plan, of_rows);
    const int64_t k = plan->g.k;
    if (few < 1 || many < LEAST_MANY)
        return false;
    if (has_bytes(&plan->g) &&
        (many < LEAST_MANY_BYTES || k < (of_rows ? STEPS_OF_ROWS : STEPS_OF_COLUMNS)))
        return false;
    for (; rule->most_few > 0; ++rule)
        if (few <= rule->most_few)
            return (double)many * (double)k >= (double)(rule->least_elements * few);
    return false;
}

/* The same of columns beside lines along k that vectors multiply in parts (parts_tmpl.h): it gains
 * most where columns fill them. */
typedef struct parts_rule {
    int64_t columns;     /* up to so many */
    int64_t least_lines; /* where tiles write a D that leaves the first-level cache, ... */
    int64_t least_elements, least_steps; /* ... of lines for each column, and of k */
} parts_rule_t;

static const parts_rule_t parts_of_f32[] = {{2, INT64_MAX, 0, 0}, {3, 48, 1600, 3}, {4, 48, 250, 3},
                                            {7, 48, 1600, 8},     {8, 48, 250, 3},  {0, 0, 0, 0}};
static const parts_rule_t parts_of_f64[] = {
    {1, INT64_MAX, 0, 0}, {2, 48, 1000, 2}, {3, 4000, 0, 3}, {4, 48, 500, 3},
    {7, INT64_MAX, 0, 0}, {8, 4000, 0, 3},  {0, 0, 0, 0}};

/* Columns of f64 for which short vectors have room, unless their lines come from memory. */
enum { MOST_SHORT_F64 = 4 };

/* Where one shuffle starts each cycle (a Xeon; others were not measured) half as many gain. */
static int64_t most_in_parts(const struct tcgemm_plan *plan) {
    const bool is_short = !tcgemm_is_wide(plan->kernel->cpu);
    const int64_t most = plan->g.type->type == TCGEMM_F64_F64 && is_short ? MOST_SHORT_F64 : 8;
    return tcgemm_cpu_shuffles_per_cycle() < 2.0 ? most / 2 : most;
}

static bool are_in_parts(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const bool is_double = g->type->type == TCGEMM_F64_F64;
    if (!tcgemm_cpu_lanes_are_elements(g) || !has_vector_dots(plan->kernel->cpu) || g->n < 1 ||
        g->n > most_in_parts(plan))
        return false;
    for (const parts_rule_t *rule = is_double ? parts_of_f64 : parts_of_f32; rule->columns; ++rule)
        if (g->n <= rule->columns)
            return g->m >= rule->least_lines && g->k >= rule->least_steps &&
                   (double)g->m * (double)g->k >= (double)rule->least_elements * (double)g->n;
    return false;
}

/* Of one whose rows tiles have fetched ahead, or what the next panel of it is made of. */
static int64_t far_rows_bytes(void) {
    return min_i64((int64_t)tcgemm_far_bytes(), FAR_ROWS_BYTES);
}

/* Of lines of f32 or f64 along k, or of f64 across it. */
static int64_t far_lines_bytes(void) {
    return min_i64((int64_t)tcgemm_far_bytes(), FAR_LINES_BYTES);
}

/* Rows or columns of bytes beside `many` lines along k where pairs of them, widened, are multiplied
 * by vectors whose lanes are added up for each element of D: more from longer k on; and fewer where
 * they lie across k, if there are too few lines to be worth turning them. Where tiles multiply
 * bytes by quads they are sooner with two already, by pairs in long vectors with more than eight.
 * (Measured on a Zen 4 and a Xeon.) */
static int64_t most_widened(const struct tcgemm_plan *plan, int64_t many, bool along) {
    enum { SOME_STEPS = 512, MANY_STEPS = 1000, LINES_FOR_EACH = 96 };
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const int64_t k = plan->g.k;
    if (u->family == TCGEMM_FAMILY_U8S8)
        return 1;
    const int64_t by_steps = k >= MANY_STEPS ? MOST_BYTE_ROWS : k >= SOME_STEPS ? 8 : 4;
    const int64_t most = tcgemm_is_wide(u) ? min_i64(by_steps, 8) : by_steps;
    return along ? most : min_i64(most, many < 2 * LINES_FOR_EACH ? 2 : many / LINES_FOR_EACH);
}

/* Rows of bytes beside a B along k, ... */
static int64_t most_byte_rows(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    if (widens_bytes(plan->kernel->cpu))
        return most_widened(plan, g->n, g->a.col_stride == 1);
    if (tcgemm_is_wide(plan->kernel->cpu) && (double)g->n * (double)g->k > (double)far_rows_bytes())
        return MOST_FAR_BYTE_ROWS;
    return most_bytes(plan, g->n, MOST_BYTE_ROWS, MOST_NEAR_BYTES);
}

/* ... and columns beside an A. */
static int64_t most_byte_columns(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    return widens_bytes(plan->kernel->cpu)
               ? most_widened(plan, g->m, g->b.row_stride == 1)
               : most_bytes(plan, g->m, MOST_BYTE_COLUMNS, 2 * MOST_NEAR_BYTES);
}

/* Columns of what needs no conversion beside an A along k. Tiles beside panels of it are sooner
 * with more than eight, unless k is long, and in f32 with more than four beside lines from memory
 * that are no stream (parts_tmpl.h). (On a Zen 5 1.4 to 2.7 times as fast.) */
static int64_t most_columns_along(const struct tcgemm_plan *plan) {
    enum { LONG_LINES = 2048, FEW = 8 }; /* elements; columns */
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const bool is_double = g->type->type == TCGEMM_F64_F64;
    const bool is_far = bytes_of_item(g, &g->a, g->m) > (double)far_lines_bytes();
    if (is_double && !tcgemm_is_wide(u) && !is_far)
        return MOST_SHORT_F64;
    if (g->k >= LONG_LINES)
        return u->dots_width;
    return !is_double && is_far && g->a.row_stride > TCGEMM_STREAM_PITCH / u->lane_bytes ? FEW / 2
                                                                                         : FEW;
}

/* More rows beside a B along k are worth packing it for where two shuffles of long vectors start
 * each cycle (a Zen 5). Two threads wait for memory instead, but for bf16. With short vectors more
 * rows than one pass takes are, of what needs no conversion. (On a Xeon 0.8 to 1.07 times as fast
 * so.) */
static int64_t most_beside_swift(const struct tcgemm_plan *plan, int max_threads) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    if (tcgemm_is_matrix(u) || tcgemm_cpu_shuffles_per_cycle() < 2.0)
        return INT64_MAX;
    if (!tcgemm_is_wide(u))
        return tcgemm_cpu_lanes_are_elements(g) ? u->dots_width : INT64_MAX;
    if (u->family == TCGEMM_FAMILY_BF16)
        return MOST_BESIDE_SWIFT;
    if (max_threads > 1)
        return INT64_MAX;
    if (g->type->type == TCGEMM_F32_F32)
        return MOST_F32_BESIDE_SWIFT;
    const double bytes = bytes_of_item(g, &g->b, g->n);
    return bytes <= FAR_FROM_SWIFT ? INT64_MAX
           : has_bytes(g)          ? MOST_BESIDE_SWIFT
                                   : MOST_WIDE_BESIDE_SWIFT;
}

/* Few rows or columns whose k is multiplied in vectors as it lies, where both operands lie along k,
 * or the lines do and the few are a small part to turn: from so many steps of k on for each of them
 * that the lanes are worth adding up; fewer where tiles would leave most of their lanes idle, or
 * pack halves. Measured on a Zen 5 with AVX-512 and AVX2. Not the bits of a tile. */
static bool are_inner(const struct tcgemm_plan *plan, int64_t few, int64_t many, bool along,
                      bool of_rows) {
    enum { SHORT_STEPS = 12, LEAST_MANY = 64 };
    const tcgemm_canonical_t *g = &plan->g;
    const bool is_slow = g->a.dtype == TCGEMM_DTYPE_BF16; /* beside tiles of pairs */
    const bool is_double = g->a.dtype == TCGEMM_DTYPE_F64;
    const int64_t least = is_slow ? 4 : 3;
    if (few < 1 ||
        few > (along && !is_slow && !is_double ? TCGEMM_MOST_INNER : TCGEMM_MOST_INNER / 2))
        return false;
    if (!along)
        return g->k >= INNER_STEPS * (few > least ? few : least) &&
               many >= (is_slow ? 16 : 8) * few;
    if (few <= 2 && many >= LEAST_MANY && (!of_rows || g->a.dtype == TCGEMM_DTYPE_F16))
        return g->k >= SHORT_STEPS * few;
    const int64_t times = !is_slow ? 1 : few > 4 ? 4 : 2;
    return g->k >= times * INNER_STEPS * (few > 2 ? few : 2);
}

/* most_far_inner where prefetchers do not follow sixteen lines at a time, as transposing reads them
 * (a Zen 5). More rows of what half of the last cache holds, and of f16 and, by short vectors,
 * bf16, whose lines take longest to transpose. */
static int64_t most_streams_inner(const struct tcgemm_plan *plan, tcgemm_dtype_t dtype,
                                  bool in_one_set, double bytes) {
    enum { SOME = 6, FEW = 3 };
    const bool is_wide = tcgemm_is_wide(plan->kernel->cpu);
    const bool is_near = bytes <= 2.0 * (double)tcgemm_far_bytes();
    switch (dtype) {
    case TCGEMM_DTYPE_F16:
        return TCGEMM_MOST_INNER;
    case TCGEMM_DTYPE_BF16:
        return !is_wide ? TCGEMM_MOST_INNER : is_near ? SOME : FEW;
    case TCGEMM_DTYPE_F32:
        return is_near ? TCGEMM_MOST_INNER : is_wide && in_one_set ? FEW : 1;
    default: /* f64 */
        return is_near ? SOME : is_wide ? FEW : 1;
    }
}

/* So many rows or columns beside lines along k that are more than MOST_INNER_BYTES, where the first
 * level has eight ways (a Zen 4): eight lines at a time find room there although they are a power
 * of two apart, which sixteen, or parts of their bursts, do not; and one row needs no turning. */
static int64_t most_far_inner(const struct tcgemm_plan *plan, const tcgemm_operand_t *lines,
                              double bytes) {
    const bool in_one_set = want_one_set(lines);
    if (!tcgemm_cpu_follows_streams())
        return most_streams_inner(plan, lines->dtype, in_one_set, bytes);
    if (is_roomy())
        return 0;
    switch (lines->dtype) {
    case TCGEMM_DTYPE_F16:
        return in_one_set ? 12 : 2;
    case TCGEMM_DTYPE_BF16:
        return in_one_set ? 6 : 1;
    case TCGEMM_DTYPE_F32:
        return !in_one_set ? 0 : tcgemm_is_wide(plan->kernel->cpu) ? 3 : 1;
    default: /* f64 */
        return bytes > 3.0 * (double)tcgemm_far_bytes() ? 1 : 0;
    }
}

/* A Zen 4 reads nearly half of the last cache sooner so: one row of 8 to 15 MiB f32 and f64 1.3 to
 * 1.9 times, some rows as they may be read again before others have taken their place. A Xeon,
 * whose caches are far, reads f32 and f64 of the last one sooner the other way, if there are many
 * rows or by short vectors. Both have rows pass again and again through the first one alone. */
static int64_t most_inner_bytes(const struct tcgemm_plan *plan, int64_t few) {
    enum { AT_ONCE = 4 }; /* rows */
    const int64_t most = min_i64((int64_t)tcgemm_far_bytes(), MOST_INNER_BYTES);
    if (!tcgemm_cpu_follows_streams())
        return most;
    const tcgemm_ways_t l1 = tcgemm_first_level();
    const double row_bytes = (double)plan->g.k * tcgemm_sum_bytes(plan->kernel->cpu);
    if (few > AT_ONCE && (double)few * row_bytes > (double)(l1.ways * l1.way_bytes))
        return 0;
    if (!is_roomy())
        return tcgemm_most_read_again(few);
    const bool is_late = few > TCGEMM_MOST_INNER / 2 || !tcgemm_is_wide(plan->kernel->cpu);
    return is_late && tcgemm_cpu_lanes_are_elements(&plan->g) ? (int64_t)tcgemm_near_bytes() : most;
}

static tcgemm_dots_of_t inner_of(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const double bytes = bytes_of(g, &g->a, g->m) + bytes_of(g, &g->b, g->n);
    if (!u->inner || tcgemm_is_matrix(u) || is_fp8(g) || g->type->type == TCGEMM_TF32_F32 ||
        g->flags & TCGEMM_FLAG_REPRODUCIBLE)
        return TCGEMM_DOTS_NONE;
    const bool a_along = g->a.col_stride == 1, b_along = g->b.row_stride == 1;
    const bool is_wide = g->m <= g->n || !a_along;
    const int64_t few = min_i64(g->m, g->n);
    if (bytes > (double)most_inner_bytes(plan, few) &&
        few > most_far_inner(plan, is_wide ? &g->b : &g->a, bytes))
        return TCGEMM_DOTS_NONE;
    if (b_along && is_wide && are_inner(plan, g->m, g->n, a_along, true))
        return TCGEMM_DOTS_ROWS;
    if (a_along && (!is_wide || !b_along) && are_inner(plan, g->n, g->m, b_along, false))
        return TCGEMM_DOTS_COLUMNS;
    return TCGEMM_DOTS_NONE;
}

/* Cycles of tiles of so many rows and columns; those of one vector load one by one what they
 * multiply. */
static double tile_cycles(const struct tcgemm_plan *plan, int64_t rows, int64_t cols) {
    const int64_t vectors = ceil_div(cols, plan->kernel->cpu->nr / 3);
    const double each = vectors == 1 ? 0.6 : 0.5;
    return each * (double)rows * (double)vectors * (double)plan->g.k;
}

/* Whether a small product of f32 or f64 takes less as D's transposed (gemm.c): its A lies across k,
 * so that nothing is packed, and its rows fill vectors better than D's few columns do, or B, which
 * lies along k, would have to be turned. Against that stands turning D. In cycles of a Zen 5. */
static bool is_sooner_turned(const struct tcgemm_plan *plan, int max_threads) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const double bytes = bytes_of_matrices(g);
    if (!u->turn || !u->strided || !tcgemm_cpu_lanes_are_elements(g) || g->a.row_stride != 1 ||
        g->n > TCGEMM_MOST_TURNED || g->k > u->kc || bytes > (double)tcgemm_near_bytes())
        return false;
    const double to_turn_d = g->type->type == TCGEMM_F64_F64 ? 1.2 : 0.6;
    const double to_pack_b = g->b.col_stride == 1 ? 0.0 : 0.4;
    const double in_order = tile_cycles(plan, g->m, g->n) + to_pack_b * (double)g->n * (double)g->k;
    const double turned = tile_cycles(plan, g->n, g->m) + to_turn_d * (double)g->m * (double)g->n;
    /* What is worth a second thread is no small product. */
    if (max_threads > 1 && g->batch == 1 && in_order >= 2.0 * CYCLES_PER_THREAD)
        return false;
    return turned < 0.9 * in_order;
}

/* The rows, or the columns, of D if their ways can be measured (ways.h): the other operand lies
 * along k or across it without gaps. */
static tcgemm_few_t few_of(const struct tcgemm_plan *plan, bool are_rows) {
    const tcgemm_canonical_t *g = &plan->g;
    const int64_t along = are_rows ? g->b.row_stride : g->a.col_stride;
    const int64_t across = are_rows ? g->b.col_stride : g->a.row_stride;
    const bool can_be_across = !has_bytes(g) || has_lane_across(plan);
    if (is_fp8(g) || g->type->type == TCGEMM_TF32_F32 || tcgemm_is_matrix(plan->kernel->cpu) ||
        along == across || !(along == 1 || (across == 1 && can_be_across)))
        return (tcgemm_few_t){TCGEMM_DOTS_NONE, false};
    return (tcgemm_few_t){are_rows ? TCGEMM_DOTS_ROWS : TCGEMM_DOTS_COLUMNS, along != 1};
}

/* The soonest way of the fewer of rows and columns. Where the lines beside these lie across k, and
 * the others are few, too, it may be theirs, beside lines along k, by lanes of it: f32 TT 12 x 6 x
 * 25932 takes 115 us by columns and 98 by rows, 4 x 3 x 27771 of f64 91 and 43. */
static bool soonest_way(const struct tcgemm_plan *plan, tcgemm_few_t *few, tcgemm_cpu_way_t *way) {
    const tcgemm_canonical_t *g = &plan->g;
    const bool rows_are_fewer = g->m < g->n || (g->m == g->n && g->b.row_stride == 1);
    double cycles, cycles_of_others;
    tcgemm_cpu_way_t way_of_others;
    *few = few_of(plan, rows_are_fewer);
    if (few->of == TCGEMM_DOTS_NONE || !tcgemm_soonest_way(plan, *few, way, &cycles))
        return false;
    if (!few->across || tcgemm_forced_way != TCGEMM_NUM_WAYS)
        return true;
    const tcgemm_few_t others = few_of(plan, !rows_are_fewer);
    if (others.of != TCGEMM_DOTS_NONE && !others.across &&
        tcgemm_soonest_way(plan, others, &way_of_others, &cycles_of_others) &&
        way_of_others == TCGEMM_WAY_INNER && cycles_of_others < cycles) {
        *few = others;
        *way = way_of_others;
    }
    return true;
}

/* A few rows of D against columns of B that lie along k or across it, or a few columns against such
 * rows of A. */
static tcgemm_dots_of_t dots_of(const struct tcgemm_plan *plan, int max_threads, bool *across,
                                bool *inner) {
    const tcgemm_canonical_t *g = &plan->g;
    *across = *inner = false;
    if (!has_dots_type(plan) || plan->packs || g->a.packed_bytes || g->b.packed_bytes)
        return TCGEMM_DOTS_NONE;
    tcgemm_few_t few;
    tcgemm_cpu_way_t way;
    if (soonest_way(plan, &few, &way)) {
        if (few.across && few.of == TCGEMM_DOTS_COLUMNS && is_sooner_turned(plan, max_threads))
            return TCGEMM_DOTS_NONE;
        *inner = way == TCGEMM_WAY_INNER;
        *across = way == TCGEMM_WAY_ACROSS;
        return way == TCGEMM_WAY_TILES ? TCGEMM_DOTS_NONE : few.of;
    }
    const tcgemm_dots_of_t lanes_of_k = inner_of(plan);
    *inner = lanes_of_k != TCGEMM_DOTS_NONE;
    if (*inner)
        return lanes_of_k;
    const bool is_bf16 = plan->kernel->cpu->family == TCGEMM_FAMILY_BF16;
    const bool of_bytes = has_bytes(g);
    const int64_t most_bf16 = g->a.dtype == TCGEMM_DTYPE_BF16 ? MOST_BF16_ROWS : MOST_FP8_ROWS;
    const int64_t most_rows = min_i64(of_bytes  ? most_byte_rows(plan)
                                      : is_bf16 ? most_bf16
                                                : most_dots(plan, g->n),
                                      most_beside_swift(plan, max_threads));
    /* What needs no conversion is read in place by tiles, too, once and not twice. */
    const int64_t most_cols = of_bytes                           ? most_byte_columns(plan)
                              : tcgemm_cpu_lanes_are_elements(g) ? most_columns_along(plan)
                              : is_bf16                          ? MOST_BF16_COLUMNS
                                                                 : most_dots(plan, g->m);
    const bool along = g->type->type != TCGEMM_TF32_F32;
    if (along && g->b.row_stride == 1 && g->b.col_stride != 1 &&
        (are_dots(plan, g->m, most_rows, g->n) ||
         (of_bytes && are_near_dots(plan, g->m, g->n, true))))
        return TCGEMM_DOTS_ROWS;
    if (along && g->a.col_stride == 1 && g->a.row_stride != 1 &&
        (are_dots(plan, g->n, most_cols, g->m) || are_in_parts(plan) ||
         (of_bytes && are_near_dots(plan, g->n, g->m, false))))
        return TCGEMM_DOTS_COLUMNS;
    *across = !of_bytes || has_lane_across(plan);
    if (!*across)
        return TCGEMM_DOTS_NONE;
    const bool is_large = !tcgemm_cpu_lanes_are_elements(g) || volume(g) >= LEAST_ACROSS_VOLUME;
    /* One tile down k is as good as short pieces of rows of k. */
    const bool is_long = !tcgemm_cpu_lanes_are_elements(g) || g->n >= ACROSS_LEAST_LINES;
    if (g->b.col_stride == 1 &&
        ((is_large && is_long && are_dots(plan, g->m, most_rows_across(plan), g->n)) ||
         (!of_bytes && are_near_dots(plan, g->m, g->n, true))))
        return TCGEMM_DOTS_ROWS;
    if (g->a.row_stride == 1 &&
        ((is_large && are_dots(plan, g->n, most_columns_across(plan, max_threads), g->m)) ||
         (!of_bytes && are_near_dots(plan, g->n, g->m, false) &&
          !is_sooner_turned(plan, max_threads))))
        return TCGEMM_DOTS_COLUMNS;
    *across = false;
    return TCGEMM_DOTS_NONE;
}

/* Whether an operand, lines of which lie `pitch` elements apart, is so small. */
static bool is_near(const struct tcgemm_plan *plan, int64_t pitch, int64_t lines, double most) {
    const int lane_bytes = plan->kernel->cpu->lane_bytes;
    return pitch <= NEAR_PITCH / lane_bytes && pitch * lane_bytes % BAD_PITCH != 0 &&
           (double)(pitch * lane_bytes) * (double)lines <= most;
}

/* Bytes of an operand that is faster in place: by a twentieth for one thread and many rows, where
 * it leaves most of the second-level cache to the others, and two or three times for many threads,
 * each of which would fetch most panels from the caches of those that packed them. */
static double most_near_bytes(const struct tcgemm_plan *plan, int max_threads) {
    static const double part_of_one = 0.375; /* a little less than a quarter of that cache */
    if (max_threads >= MANY_THREADS)
        return SHARED_BYTES;
    const bool is_alone = max_threads == 1 && tcgemm_can_copy(plan->kernel->cpu);
    return (double)tcgemm_near_bytes() *
           (is_alone && plan->g.m > MOST_FEW_ROWS ? part_of_one : 1.0);
}

/* Lines of a unit of work, of a few rows or columns of D. */
static int64_t lines_of_unit(const struct tcgemm_plan *plan, int num_threads) {
    const int64_t lines = tcgemm_dots_lines(plan);
    const bool share_near = num_threads > 1 && widens_bytes(plan->kernel->cpu); /* slower ones */
    if (!plan->cpu.across)
        return plan->cpu.fetches || share_near
                   ? DOTS_OF_UNIT
                   : even_part(lines, num_threads == 1 ? NEAR_DOTS_OF_UNIT : 4 * DOTS_OF_UNIT,
                               DOTS_OF_UNIT);
    const int64_t bytes = min_i64(ACROSS_SUMS_BYTES, (int64_t)tcgemm_near_bytes() / 2);
    const int64_t by_sums = bytes / (tcgemm_dots_few(plan) * tcgemm_sum_bytes(plan->kernel->cpu));
    const int64_t most = min_i64(by_sums, ACROSS_MOST_LINES) / 64 * 64;
    const int64_t each = ceil_div(lines, num_threads);
    return even_part(lines, min_i64(most, each < ACROSS_LEAST_LINES ? ACROSS_LEAST_LINES : each),
                     64);
}

/* Vectors of half the length have twice as many panels, if all of B stays near beside them; shorter
 * ones were not measured. */
bool tcgemm_cpu_is_narrow(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const bool is_small = (double)g->n * (double)g->k * u->lane_bytes <= SMALL_B_BYTES;
    const int more = tcgemm_vector_bytes(u) == 32 && is_small ? 2 : 1;
    return g->n <= (int64_t)more * MOST_NARROW_PANELS * u->nr;
}

/* Bytes of an operand that is to be fetched ahead: more than a core finds in the last cache, of
 * which one of many cores has a part, and one that it does not reach soon; or, where prefetchers do
 * not follow lines across k, more than is near. (On a Zen 5 that costs up to 2 % if they lie in the
 * last cache, and takes half of the time if they do not.) */
static int64_t far_bytes(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const int64_t most = (int64_t)tcgemm_far_bytes();
    const bool is_double = plan->g.type->type == TCGEMM_F64_F64;
    const bool follows = tcgemm_cpu_follows_streams();
    /* Rows of the last cache as well where packing them would cost as much: 33 to 192 rows of A are
     * 1.06 times as fast so on a Zen 4, 96 x 2000 x 1000 of f32 1.2 times. */
    if (!s->dots)
        return follows && can_copy_units(plan) ? (int64_t)tcgemm_near_bytes() : far_rows_bytes();
    if (s->across && !follows)
        return (int64_t)tcgemm_near_bytes();
    return is_double || (tcgemm_cpu_lanes_are_elements(&plan->g) && !s->across) ? far_lines_bytes()
                                                                                : most;
}

/* Whether few rows are packed as lanes, beside lines along k ... */
static bool takes_lanes(const struct tcgemm_plan *plan) {
    if (!has_lane_dots(plan))
        return false;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const int64_t few = tcgemm_dots_few(plan);
    if (!has_bytes(&plan->g))
        return !tcgemm_is_matrix(u) || volume(&plan->g) >= LEAST_TILE_DOTS_VOLUME;
    if (tcgemm_is_matrix(u))
        return few > MOST_VECTOR_BYTES || !has_vector_dots(u);
    return few >= LEAST_BYTES_IN_LANES && plan->cpu.fetches && !is_roomy();
}

/* ... and across it. */
static bool takes_lanes_across(const struct tcgemm_plan *plan) {
    const bool is_rows = plan->cpu.dots == TCGEMM_DOTS_ROWS;
    return (is_rows ? gain_by_lanes(plan) : has_lane_across(plan)) &&
           (has_bytes(&plan->g) || tcgemm_dots_few(plan) >= LEAST_LANE_ROWS);
}

static void choose_packing(struct tcgemm_plan *plan, int max_threads) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    tcgemm_cpu_blocking_t *s = &plan->cpu;
    const double a_bytes = bytes_of_item(g, &g->a, g->m);
    const double b_bytes = bytes_of_item(g, &g->b, g->n);
    s->dots = dots_of(plan, max_threads, &s->across, &s->inner);
    const double all_bytes =
        s->dots ? fmax(bytes_of(g, &g->a, g->m), bytes_of(g, &g->b, g->n)) : fmax(a_bytes, b_bytes);
    s->fetches = all_bytes > (double)far_bytes(plan);
    s->dots_in_lanes =
        !s->inner && s->dots && (s->across ? takes_lanes_across(plan) : takes_lanes(plan));
    if (!s->dots_in_lanes && !(s->across ? has_vectors_across(u) : has_vector_dots(u))) {
        s->dots = TCGEMM_DOTS_NONE;
        s->across = s->inner = false;
    }
    choose_fetching(plan);
    s->pack_a = s->pack_b = !s->dots;
    s->copies_b = false;
    if (s->dots || !u->strided || !tcgemm_cpu_lanes_are_elements(g))
        return;
    const bool a_ahead = g->a.packed_bytes || plan->packs == TCGEMM_OPERAND_A;
    const bool b_ahead = g->b.packed_bytes || plan->packs == TCGEMM_OPERAND_B;
    const bool tiny = volume(g) <= TINY_VOLUME;
    const bool few = has_few_rows(plan);
    /* A broadcast reads A from anywhere, best from a few rows along k. */
    const bool is_small = tcgemm_is_avx2(u) && u->lane_bytes == 4 && a_bytes <= SMALL_A_BYTES;
    const bool stays = (tcgemm_is_wide(u) || is_small) && g->a.col_stride == 1;
    const bool narrow = tcgemm_cpu_is_narrow(plan);
    const bool near = g->m <= MOST_FEW_ROWS && g->b.row_stride <= STREAM_PITCH / u->lane_bytes;
    const bool wide_b = tcgemm_is_wide(u) && g->b.col_stride == 1 && !b_ahead;
    const double most = most_near_bytes(plan, max_threads);
    const bool near_b = wide_b && is_near(plan, g->b.row_stride, g->k, most);
    const bool near_a =
        near_b && g->a.row_stride == 1 && is_near(plan, g->a.col_stride, g->k, most);
    /* Short vectors multiply a few rows beside a B that is transposed faster from panels. */
    const bool few_packed = few && tcgemm_is_avx2(u) && g->b.row_stride == 1;
    s->pack_a = a_ahead || (few_packed && !tiny) || !(tiny || few || narrow || stays || near_a);
    /* A vector of B needs its columns side by side. */
    s->pack_b = b_ahead ||
                !(g->b.col_stride == 1 && (tiny || (few && !tcgemm_cpu_packs_whole_units(plan)) ||
                                           near || near_b || g->m <= u->mr));
    s->copies_b = s->pack_b && wide_b && tcgemm_can_copy(u) && max_threads == 1 &&
                  g->m > MOST_FEW_ROWS &&
                  is_near(plan, g->b.row_stride, g->k, (double)tcgemm_near_bytes());
}

/* Bytes of a packed row of A, or column of B, for a step of k. */
static int64_t line_bytes(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const int64_t depth = plan->g.k > 0 ? min_i64(plan->cpu.kc, plan->g.k) : 1;
    return ceil_div(depth, u->ku) * u->lane_bytes;
}

/* Rows of a unit of work that is not over as soon as it has begun; its panel of A is no larger than
 * others are. */
static int64_t rows_of_brief_unit(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const double cols = (double)min_i64(plan->cpu.nc, plan->g.n), kc = (double)plan->cpu.kc;
    const double rows = fmin(BRIEF_UNIT_VOLUME / fmax(1.0, cols * (double)plan->g.k),
                             (double)u->mc * (double)u->kc / kc);
    return (int64_t)fmin(rows, MOST_BRIEF_ROWS) / u->mr * u->mr;
}

/* Rows of a unit of work. */
static int64_t most_rows(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    if (!tcgemm_is_matrix(u)) {
        const int64_t brief = rows_of_brief_unit(plan);
        return brief > u->mc ? brief : u->mc;
    }
    return min_i64(u->mc, MATRIX_PANEL_BYTES / line_bytes(plan) / u->mr * u->mr);
}

/* Where a unit has all rows of D, whoever takes it packs its part of B: into a cache of its own,
 * and no thread waits for others to pack theirs. If there are units enough. */
static bool packs_units(const struct tcgemm_plan *plan, int num_threads) {
    const int64_t panels = ceil_div(min_i64(plan->cpu.nc, plan->g.n), plan->kernel->cpu->nr);
    if (!tcgemm_is_matrix(plan->kernel->cpu))
        return has_few_rows(plan) && !plan->cpu.dots;
    return plan->cpu.pack_b && !plan->g.b.packed_bytes && plan->g.m > 0 &&
           plan->g.m <= most_rows(plan) && panels >= 4 * (int64_t)num_threads;
}

/* Of a unit whose part of B is read again for each panel of A: no more than stay in the L2 cache.
 */
static int64_t near_columns(const struct tcgemm_plan *plan, int num_threads) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const int64_t most = num_threads >= MANY_THREADS ? min_i64(u->nb, MANY_COLS) : u->nb;
    if (plan->cpu.copies_b) /* all of it stays there */
        return plan->cpu.nc;
    if (!plan->cpu.pack_b || plan->g.m <= u->mc)
        return most;
    const int64_t panels = (int64_t)tcgemm_near_bytes() / line_bytes(plan) / u->nr;
    return min_i64(most, (panels > 2 ? panels : 2) * u->nr);
}

/* Columns of a unit of work. */
static int64_t most_columns(const struct tcgemm_plan *plan, int num_threads) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    if (!plan->cpu.packs_units)
        return tcgemm_is_matrix(u) ? u->nb : near_columns(plan, num_threads);
    if (plan->g.b.row_stride == 1) /* long pieces of the columns of B instead */
        return LEAST_OWN_COLS;
    if (plan->cpu.copies_b)
        return COPIED_COLS;
    const bool all = tcgemm_cpu_packs_whole_units(plan);
    const int64_t most_bytes = all ? OWN_SUMS_BYTES : FEW_ROWS_SUMS_BYTES;
    const int64_t by_sums = most_bytes / (tcgemm_sum_bytes(u) * round_up(plan->g.m, u->mr));
    const int64_t most = tcgemm_is_matrix(u) ? MOST_OWN_COLS
                         : all               ? TCGEMM_MOST_OWN_PANELS * u->nr
                                             : FEW_ROWS_COLS;
    return min_i64(most, by_sums / u->nr * u->nr);
}

/* Elements of k that are packed and multiplied at a time, where units pack. */
static int64_t own_depth(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    if (!tcgemm_cpu_packs_whole_units(plan))
        return plan->g.b.row_stride == 1    ? FEW_ROWS_ALONG_K * u->ku
               : plan->g.m <= VERY_FEW_ROWS ? FEW_ROWS_ACROSS_K
                                            : 2 * FEW_ROWS_ACROSS_K;
    const int64_t bytes = plan->cpu.copies_b               ? COPIED_PANEL_BYTES
                          : tcgemm_cpu_fetches_units(plan) ? FETCHED_PANEL_BYTES
                                                           : OWN_PANEL_BYTES;
    const int64_t steps = bytes / (plan->cpu.nb * u->lane_bytes);
    return (steps > 1 ? steps : 1) * u->ku;
}

/* Enough units of work that no thread waits long for the last one. */
static void share_out(struct tcgemm_plan *plan, int num_threads) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    tcgemm_cpu_blocking_t *s = &plan->cpu;
    const int64_t rows = min_i64(s->mt, plan->g.m);
    const int64_t cols = min_i64(s->nc, plan->g.n);
    s->mc = even_part(rows, most_rows(plan), u->mr);
    s->lines = s->dots ? lines_of_unit(plan, num_threads) : 0;
    s->packs_units = packs_units(plan, num_threads);
    if (s->packs_units)
        s->copies_b = s->pack_b && may_copy_units(plan);
    s->nb = even_part(cols, most_columns(plan, num_threads), u->nr);
    /* Units that pack for themselves are as wide as possible, if there is one for each thread. */
    while (s->packs_units && s->nb > LEAST_OWN_COLS && ceil_div(cols, s->nb) < num_threads)
        s->nb = round_up(s->nb / 2, u->nr);
    if (s->packs_units) {
        s->kb = own_depth(plan);
        return;
    }
    while (num_threads > 1 && ceil_div(rows, s->mc) * ceil_div(cols, s->nb) < 4 * num_threads) {
        if (s->mc > 4 * u->mr && s->mc * u->nr >= s->nb * u->mr)
            s->mc = round_up(s->mc / 2, u->mr);
        else if (s->nb > u->nr)
            s->nb = round_up(s->nb / 2, u->nr);
        else if (s->mc > u->mr)
            s->mc = round_up(s->mc / 2, u->mr);
        else
            break;
    }
}

/* Whether many threads have so little to do that their turns at the pool's word show. */
static bool is_brief(const struct tcgemm_plan *plan, double cycles, int num_threads) {
    enum { LEAST_THREADS = 4, BRIEF_CYCLES = 14000 };
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    return num_threads >= LEAST_THREADS && !s->split_batch && !s->dots && !s->packs_units &&
           !tcgemm_is_matrix(plan->kernel->cpu) && cycles < (double)BRIEF_CYCLES * num_threads;
}

/* Its units: of all ways to cut rows and columns the one that is done first, if each thread waits
 * for the turns of all others before each unit. `cycles`: of an item, by one thread. */
static void share_out_briefly(struct tcgemm_plan *plan, double cycles, int num_threads) {
    enum { CYCLES_OF_TURN = 100, MOST_ROUNDS = 3 };
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    tcgemm_cpu_blocking_t *s = &plan->cpu;
    const int64_t rows = min_i64(s->mt, plan->g.m), cols = min_i64(s->nc, plan->g.n);
    const int64_t panels = ceil_div(rows, u->mr);
    const double tile = cycles / (double)(ceil_div(plan->g.m, u->mr) * ceil_div(plan->g.n, u->nr));
    double least = INFINITY;
    for (int64_t down = 1; down <= min_i64(panels, MOST_ROUNDS * num_threads); ++down)
        for (int64_t rounds = 1; rounds <= MOST_ROUNDS; ++rounds) {
            const int64_t across = ceil_div(rounds * num_threads, down);
            const int64_t mc = round_up(ceil_div(rows, down), u->mr);
            const int64_t nb = round_up(ceil_div(cols, across), u->nr);
            const int64_t units = ceil_div(rows, mc) * ceil_div(cols, nb);
            const int64_t tiles = mc / u->mr * (nb / u->nr);
            const double time = (double)ceil_div(units, num_threads) *
                                ((double)tiles * tile + (double)CYCLES_OF_TURN * num_threads);
            if (time < least && mc <= u->mc && nb <= u->nb) {
                least = time;
                s->mc = mc;
                s->nb = nb;
            }
        }
}

/* Rows of D in flight, `usual` ones or, of several threads, more if k is short: where their panels
 * and sums are small. Each step waits for all of them. */
static int64_t rows_in_flight(const struct tcgemm_plan *plan, int64_t usual, int max_threads) {
    enum { BYTES_OF_THREAD = 1 << 19, MOST_BYTES = 16 << 20 };
    const int64_t bytes = min_i64(max_threads * (int64_t)BYTES_OF_THREAD, MOST_BYTES);
    const int64_t sums = plan->cpu.direct_output ? 0 : plan->cpu.nc * (int64_t)sizeof(float);
    const int64_t most = bytes / (line_bytes(plan) + sums);
    return max_threads > 1 && most > usual ? most : usual;
}

static void choose_blocks(struct tcgemm_plan *plan, int max_threads) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    tcgemm_cpu_blocking_t *s = &plan->cpu;
    s->direct_output = g->type->d == g->type->accumulator;
    /* Of k, the type and the kernel alone: it decides the bits. */
    s->kc = even_part(g->k, u->kc, step_of(plan));
    if (tcgemm_is_matrix(u)) {
        s->nc = even_part(g->n, MAX_MATRIX_COLS, u->nr);
        s->mt = even_part(g->m, rows_in_flight(plan, MAX_MATRIX_ROWS, max_threads), u->mr);
    } else {
        const int more = max_threads >= MANY_THREADS ? 2 : 1;
        s->nc = even_part(g->n, more * (s->direct_output ? MAX_COLS : MAX_NARROW_COLS), u->nr);
        const int64_t rows = more * (s->direct_output ? MAX_ROWS : MAX_NARROW_ROWS);
        s->mt = even_part(g->m, rows_in_flight(plan, rows, max_threads), u->mr);
    }
    s->split_batch = s->overlaps = s->packs_a_late = s->packs_both = false;
    s->stores_parts = tcgemm_cpu_stores_by_masks_slowly();
    choose_packing(plan, max_threads);
}

/* Items of one unit, or of more that stay near. */
static bool is_unit_or_near(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    return (g->n <= plan->cpu.nb && g->m <= plan->cpu.mc) ||
           (!tcgemm_is_matrix(plan->kernel->cpu) &&
            bytes_of_matrices(g) <= (double)tcgemm_near_bytes());
}

/* Rows of D that want the same lines of the caches, about a multiple of 2048 bytes apart: a column
 * of tiles writes more of them than there are ways. */
static bool has_crowded_rows_of_d(const tcgemm_canonical_t *g) {
    enum { PITCH = 2048, NEAR = 16 };
    /* The remainder first: where nothing is written it may be any number. */
    const int64_t pitch = g->ldd % PITCH * (tcgemm_dtype_bits(g->type->d) / 8);
    return (pitch + NEAR) % PITCH <= 2 * NEAR;
}

/* Whether such columns take longer than to pack all of B, along whose panels a unit's tiles go. */
static bool writes_crowded_columns(const struct tcgemm_plan *plan) {
    enum { LEAST_TILES = 4, MOST_STEPS = 8 };
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *const u = plan->kernel->cpu;
    return tcgemm_is_wide(u) && g->n > u->nr && g->m >= LEAST_TILES * u->mr &&
           ceil_div(g->k, u->ku) <= MOST_STEPS && has_crowded_rows_of_d(g);
}

/* Items of one block, each by one thread: all that is needed is tiles, and panels of what cannot
 * stay where it is. Lines with terms need a kernel that reads rows of lanes. */
static bool has_small_items(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *const u = plan->kernel->cpu;
    return !s->dots && (plan->num_threads == 1 || s->split_batch) && s->direct_output &&
           g->k <= s->kc && is_unit_or_near(plan) && !g->a.packed_bytes && !g->b.packed_bytes &&
           !s->packs_units && !s->copies_b && !(s->pack_b && writes_crowded_columns(plan)) &&
           (!tcgemm_family_has_terms(u->family) || (u->pack_rows && u->strided));
}

/* (Half of the second level takes as long as panels.) */
static bool packs_lines(const struct tcgemm_plan *plan, int64_t stride, int64_t line) {
    const tcgemm_cpu_ukernel_t *const u = plan->kernel->cpu;
    return u->family == TCGEMM_FAMILY_F32 && !tcgemm_cpu_lanes_are_elements(&plan->g) &&
           u->pack_rows && u->strided && stride == 1 && plan->g.k <= u->kc &&
           line * plan->g.k * u->lane_bytes <= (int64_t)tcgemm_near_bytes() / 4;
}

/* Of a tile each step takes some numbers of another line: these are to be near one another. */
bool tcgemm_cpu_packs_lines_of_a(const struct tcgemm_plan *plan) {
    enum { MOST_ROWS = 256 };
    const tcgemm_canonical_t *const g = &plan->g;
    return g->m <= MOST_ROWS && packs_lines(plan, g->a.row_stride, g->m);
}

bool tcgemm_cpu_packs_lines_of_b(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *const g = &plan->g;
    return packs_lines(plan, g->b.col_stride, g->n);
}

static void note_small_items(struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    plan->cpu.small_rows = has_small_items(plan) ? tcgemm_even_tile_rows(u, plan->g.m) : 0;
    plan->cpu.small_steps = ceil_div(plan->g.k, u->ku);
    plan->cpu.small_turned = plan->cpu.small_rows > 0 && is_sooner_turned(plan, 1);
    plan->cpu.small_by_rows = plan->g.n > u->nr && has_crowded_rows_of_d(&plan->g);
    const bool is_small = plan->cpu.small_rows > 0;
    plan->cpu.small_a_lines = is_small && plan->cpu.pack_a && tcgemm_cpu_packs_lines_of_a(plan);
    plan->cpu.small_b_rows = is_small && plan->cpu.pack_b && tcgemm_cpu_packs_lines_of_b(plan);
}

bool tcgemm_cpu_packs_rows(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    return plan->cpu.small_a_lines ||
           (plan->cpu.small_rows > 0 && plan->cpu.pack_a && u->pack_rows && u->strided &&
            plan->g.a.col_stride == 1 && !tcgemm_cpu_lanes_are_elements(&plan->g));
}

/* What needs no conversion, in rows that fill halves of tiles. */
static bool is_lane_of_tiles(const tcgemm_canonical_t *g) {
    return g->m % 16 == 0 && (tcgemm_dtype_bits(g->a.dtype) == 16 || is_byte(g->a.dtype));
}

/* Tiles of long vectors flip the signs of s8 as they read them: for nothing where multiply-adds
 * leave another port to that, else sooner than a copy beside one panel of B. */
static bool is_lane_of_bytes(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *const u = plan->kernel->cpu;
    return plan->g.a.dtype == TCGEMM_DTYPE_U8 ||
           (plan->g.a.dtype == TCGEMM_DTYPE_S8 && tcgemm_is_wide(u) &&
            (!tcgemm_cpu_is_intel() || plan->g.n <= u->nr));
}

bool tcgemm_cpu_has_lanes(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_family_t family = plan->kernel->cpu->family;
    const bool is_lane = tcgemm_is_matrix(plan->kernel->cpu) ? is_lane_of_tiles(g)
                         : family == TCGEMM_FAMILY_BF16      ? g->a.dtype == TCGEMM_DTYPE_BF16
                         : family == TCGEMM_FAMILY_U8S8      ? is_lane_of_bytes(plan)
                                                             : false;
    const int64_t ku = plan->kernel->cpu->ku;
    return is_lane && g->a.col_stride == 1 && g->k % ku == 0 && g->a.row_stride % ku == 0 &&
           !tcgemm_signs_of(g, family).use_a_terms;
}

/* Rows so far apart that they want the same lines of the caches are nearer in panels, and so is
 * what units of all rows of D need again and again; of short rows for many columns the copy costs
 * nothing. */
bool tcgemm_cpu_leaves_a(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const int64_t bits = tcgemm_dtype_bits(g->a.dtype);
    if (!s->pack_a || s->small_rows > 0 || g->a.packed_bytes || plan->packs ||
        !tcgemm_cpu_has_lanes(plan) || g->a.batch_stride % u->ku != 0)
        return false;
    if (tcgemm_is_matrix(u))
        return g->a.row_stride * bits / 8 <= NEAR_ROWS_OF_TILES &&
               (double)g->m * (double)g->k * (double)bits / 8.0 <= NEAR_A_OF_TILES;
    return !s->packs_units && tcgemm_is_wide(u) && u->strided && u->pack_rows &&
           (g->k >= LEAST_LONG_ROW || g->n <= MOST_NARROW_PANELS * u->nr) &&
           g->a.row_stride % (BAD_PITCH * 8 / bits) != 0;
}

/* Numbers of an A along k are made f32, or lanes of bf16 and bytes, as they lie instead of turned
 * round into panels, which takes four times as long. Not if they come from memory in pieces:
 * turning reads eight rows at a time, so that these do not wait for one another. With many panels
 * of B it takes as long either way. */
bool tcgemm_cpu_has_rows_of_lanes(const struct tcgemm_plan *plan) {
    enum { MOST_PANELS = 16 }; /* of B */
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const bool is_packed = s->pack_a && s->pack_b && !s->packs_units && !g->a.packed_bytes;
    const bool is_one_piece = g->a.row_stride == g->k && g->k <= s->kc;
    const bool has_lanes =
        u->family == TCGEMM_FAMILY_BF16 ||
        (u->family == TCGEMM_FAMILY_F32 && g->type->type != TCGEMM_F32_F32) ||
        (u->family == TCGEMM_FAMILY_U8S8 && !tcgemm_signs_of(g, u->family).use_a_terms);
    return is_packed && has_lanes && u->strided && u->pack_rows && g->a.col_stride == 1 &&
           g->n <= MOST_PANELS * u->nr && (!s->fetches || is_one_piece);
}

/* ---- the model ---- */

/* n threads are worth n to this power: they share the memory and the power. Measured for two. */
static const double thread_power = 0.91;

/* Of the multiply-adds that the vector units could do, the part that a long product reaches. */
static const double multiply_efficiency = 0.97;

/* The same of a matrix unit, which waits for the L2 cache and for D; and its cycles to pack 4
 * bytes, at the rate of the L3 cache. Measured on a Sapphire Rapids class Xeon
 * (bench/results/notes.md). */
static const double matrix_efficiency = 0.4;
static const double matrix_pack = 1.5;

typedef struct cost {
    double along, across, store;
} cost_t;

static const cost_t costs[] = {
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    [TCGEMM_##ID] = {along, across, store},
#include "base/types.def"
};

/* Multiply-adds that one vector instruction of the family does for each 32 bits of the vector. */
static double macs_per_lane(tcgemm_family_t family) {
    switch (family) {
    case TCGEMM_FAMILY_F64:
        return 0.5;
    case TCGEMM_FAMILY_F32:
        return 1.0;
    case TCGEMM_FAMILY_BF16:
    case TCGEMM_FAMILY_S16:
        return 2.0;
    case TCGEMM_FAMILY_U8S8:
        return 4.0;
    case TCGEMM_FAMILY_BF16X32: /* not of vectors: tcgemm_cpu_theoretical_macs */
    case TCGEMM_FAMILY_F16X32:
    case TCGEMM_FAMILY_I8X64:
    case TCGEMM_FAMILY_B1:
    default:
        return 0.0; /* several instructions: no simple figure */
    }
}

double tcgemm_cpu_theoretical_macs(const tcgemm_kernel_t *kernel) {
    if (tcgemm_is_matrix(kernel->cpu)) /* a product of tiles, 16 x 16 x ku, takes 16 cycles */
        return 16.0 * kernel->cpu->ku;
    const double dots = tcgemm_cpu_bf16_dots_per_cycle();
    if (kernel->cpu->family == TCGEMM_FAMILY_BF16 && dots > 0.0)
        return dots * 32.0;
    const int bits = kernel->features & TCGEMM_CPU_AVX512 ? 512
                     : kernel->features & TCGEMM_CPU_AVX2 ? 256
                                                          : 0;
    return bits ? tcgemm_cpu_fma_per_cycle(bits) * bits / 32.0 * macs_per_lane(kernel->cpu->family)
                : 0.0;
}

static double macs_of(const tcgemm_kernel_t *kernel) {
    const double theoretical = tcgemm_cpu_theoretical_macs(kernel);
    const double efficiency =
        tcgemm_is_matrix(kernel->cpu) ? matrix_efficiency : multiply_efficiency;
    return theoretical > 0.0 ? efficiency * theoretical : (double)kernel->macs_per_cycle;
}

/* Whether threads would fetch panels that others have packed for longer than they need to pack them
 * for themselves: those of matrix tiles, and of other lanes where a thread has less to do than
 * this. Measured on 2, 4 and 16 threads. */
static bool is_worth_packing_apart(const struct tcgemm_plan *plan, double cycles, int threads) {
    enum { MOST_CYCLES = 400000 };
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    return threads > 1 && (s->pack_a || s->pack_b) && !s->split_batch && !s->dots && !plan->packs &&
           s->mt >= plan->g.m && s->nc >= plan->g.n &&
           (tcgemm_is_matrix(plan->kernel->cpu) ||
            (!s->packs_units && cycles < (double)MOST_CYCLES * threads));
}

/* One unit for each thread or for fewer, whose operands the thread packs for itself, if they have
 * room in its second-level cache: of all ways to cut rows and columns the one that is done first.
 * `cycles`: of an item, by one thread. */
static bool share_out_apart(struct tcgemm_plan *plan, double cycles, int max_threads) {
    enum { CYCLES_OF_THREAD = 400 };
    static const double cycles_of_byte = 0.14; /* of a panel: measured on a Xeon with AMX */
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    tcgemm_cpu_blocking_t *s = &plan->cpu;
    const int threads = (int)min_i64(max_threads, TCGEMM_MOST_UNITS_APART);
    const double line = (double)line_bytes(plan), macs = macs_of(plan->kernel);
    double least = INFINITY;
    if (!is_worth_packing_apart(plan, cycles, threads))
        return false;
    for (int64_t down = 1; down <= threads; ++down) {
        const int64_t rows = round_up(ceil_div(g->m, down), u->mr);
        const int64_t cols = round_up(ceil_div(g->n, threads / down), u->nr);
        const int64_t units = ceil_div(g->m, rows) * ceil_div(g->n, cols);
        const double bytes = (double)((s->pack_a ? rows : 0) + (s->pack_b ? cols : 0)) * line;
        const double time = (double)rows * (double)cols * (double)g->k / macs +
                            bytes * cycles_of_byte + (double)units * CYCLES_OF_THREAD;
        if (rows <= u->mc && cols <= u->nb && bytes <= (double)tcgemm_near_bytes() &&
            time < least) {
            least = time;
            s->mc = rows;
            s->nb = cols;
            s->packs_units = false;
        }
    }
    return least < INFINITY;
}

/* Cycles of one core for one batch item. */
typedef struct cycles {
    double pack, multiply, store;
} cycles_t;

/* By what was measured (cost.h). */
static cycles_t measured_cycles(const struct tcgemm_plan *plan, const double *cost) {
    double count[TCGEMM_NUM_COUNTS];
    cycles_t c = {0};
    tcgemm_cpu_work(plan, count);
    for (int i = 0; i < TCGEMM_NUM_COUNTS; ++i) {
        const double cycles = count[i] * cost[i];
        if (i >= TCGEMM_COUNT_A_ALONG && i <= TCGEMM_COUNT_B_ACROSS)
            c.pack += cycles;
        else if (i == TCGEMM_COUNT_STORE)
            c.store += cycles;
        else
            c.multiply += cycles;
    }
    return c;
}

/* Cycles for 4 bytes of a line that lies along k or across it. */
static double pack_cost(const tcgemm_cpu_ukernel_t *u, const cost_t *cost, bool along_k) {
    return tcgemm_is_matrix(u) ? matrix_pack : along_k ? cost->along : cost->across;
}

static cycles_t item_cycles(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    if (plan->kernel->cpu && !plan->packs && tcgemm_cpu_costs(plan))
        return measured_cycles(plan, tcgemm_cpu_costs(plan));
    if (!plan->kernel->cpu)
        return (cycles_t){.multiply = 8.0 * volume(g), .store = 20.0 * (double)g->m * (double)g->n};
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const cost_t *cost = &costs[g->type->type];
    const double k = (double)ceil_div(g->k, u->ku) * u->ku;
    /* The narrowest tile is one vector wide. */
    const int vector = tcgemm_is_matrix(u) ? 16 : u->nr / 3;
    const int height = tcgemm_is_matrix(u) ? 16 : 1;
    const double multiply = (double)ceil_div(g->m, height) * height *
                            ((double)ceil_div(g->n, vector) * vector) * k / macs_of(plan->kernel);
    const double lane = (double)u->lane_bytes / 4.0 / (double)u->ku;
    const double a = pack_cost(u, cost, g->a.col_stride == 1);
    const double b = pack_cost(u, cost, g->b.row_stride == 1);
    const double pack_a = s->pack_a && !g->a.packed_bytes ? lane * k * a * (double)g->m : 0.0;
    const double pack_b = s->pack_b && !g->b.packed_bytes ? lane * k * b * (double)g->n : 0.0;
    if (plan->packs)
        return (cycles_t){.pack = plan->packs == TCGEMM_OPERAND_A ? pack_a : pack_b};
    const double pack = pack_a + pack_b;
    const double d_bytes = tcgemm_dtype_bits(g->type->d) / 8.0;
    const double store =
        cost->store * (double)g->m * (double)g->n * d_bytes / 8.0 * (double)ceil_div(g->k, s->kc);
    return (cycles_t){.pack = pack, .multiply = multiply + CYCLES_PER_ITEM, .store = store};
}

static double sum(cycles_t c) {
    return c.pack + c.multiply + c.store;
}

/* With this many threads the last units of a step leave some of them idle for long enough that it
 * is worth twice the workspace to let them pack. */
enum { THREADS_TO_OVERLAP = 4 };

static bool overlaps(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const bool has_many_steps = g->batch > 1 || s->kc < g->k || s->mt < g->m || s->nc < g->n;
    return plan->num_threads >= THREADS_TO_OVERLAP && has_many_steps && !s->split_batch &&
           !s->packs_both && (s->pack_a || s->pack_b);
}

/* One thread: nobody waits for A's panels, which need not leave the caches near it. Matrix tiles
 * were not measured. */
static bool packs_a_late(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    return (plan->num_threads == 1 || s->split_batch) && s->pack_a && !plan->g.a.packed_bytes &&
           !plan->packs && !s->packs_units && !tcgemm_is_matrix(plan->kernel->cpu);
}

/* Units of work of a step of k. */
static int64_t num_units(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const tcgemm_canonical_t *g = &plan->g;
    if (s->dots)
        return ceil_div(tcgemm_dots_lines(plan), s->lines);
    return ceil_div(min_i64(s->mt, g->m), s->mc) * ceil_div(min_i64(s->nc, g->n), s->nb);
}

/* As many as have something worth waking them for. Matrix tiles are so fast that one thread is
 * through with a small product before others have begun. */
static int useful_threads(const struct tcgemm_plan *plan, double cycles, int max_threads) {
    enum { CYCLES_ALONE = 40000, CYCLES_PER_THREAD_OF_TILES = 5000 };
    const bool is_of_tiles = tcgemm_is_matrix(plan->kernel->cpu);
    if (plan->g.m == 0 || plan->g.n == 0)
        return 1;
    const double useful =
        fmax(1.0, cycles / (is_of_tiles ? CYCLES_PER_THREAD_OF_TILES : CYCLES_PER_THREAD));
    if (is_of_tiles && plan->g.batch == 1 && !plan->cpu.dots && cycles < CYCLES_ALONE)
        return 1;
    return useful < max_threads ? (int)useful : max_threads;
}

/* Returns how often the threads wait for one another in the whole product. */
static double choose_threads(struct tcgemm_plan *plan, double item, int max_threads) {
    const double all = item * (double)plan->g.batch;
    int threads = useful_threads(plan, all, max_threads);
    plan->cpu.split_batch =
        threads > 1 && plan->g.batch >= 2 * (int64_t)threads && item < SMALL_ITEM_CYCLES;
    share_out(plan, plan->cpu.split_batch ? 1 : threads);
    const bool is_short = is_brief(plan, all, threads);
    if (is_short)
        threads = threads < max_threads / 2 ? 2 * threads : max_threads;
    plan->cpu.packs_both = share_out_apart(plan, item, threads);
    if (is_short && !plan->cpu.packs_both)
        share_out_briefly(plan, item, threads);
    const int64_t units = num_units(plan);
    if (!plan->cpu.split_batch && threads > units)
        threads = units > 1 ? (int)units : 1;
    plan->num_threads = threads;
    plan->cpu.overlaps = overlaps(plan);
    plan->cpu.packs_a_late = packs_a_late(plan);
    note_small_items(plan);
    return threads > 1 ? (double)plan->g.batch * (double)ceil_div(plan->g.k, plan->cpu.kc) : 0.0;
}

tcgemm_cpu_time_t tcgemm_cpu_plan(struct tcgemm_plan *plan, int max_threads) {
    double barriers = 0.0;
    plan->num_threads = 1;
    if (plan->kernel->cpu) {
        choose_blocks(plan, max_threads);
        share_out(plan, 1);
        note_small_items(plan);
    }
    const cycles_t item = item_cycles(plan);
    if (plan->kernel->cpu)
        barriers = choose_threads(plan, sum(item), max_threads);
    const double seconds =
        (double)plan->g.batch / pow(plan->num_threads, thread_power) / tcgemm_nominal_clock_hz();
    tcgemm_cpu_time_t t = {
        .pack = item.pack * seconds,
        .multiply = item.multiply * seconds,
        .store = item.store * seconds,
        .barrier = barriers * CYCLES_PER_BARRIER / tcgemm_nominal_clock_hz(),
    };
    t.total = t.pack + t.multiply + t.store + t.barrier;
    return t;
}
