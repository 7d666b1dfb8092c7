/* ways.c - see ways.h. */
#include "cpu/ways.h"

#include <stdint.h>
#include <string.h>

#include "base/dtype.h"
#include "base/num.h"
#include "cpu/dots.h"
#include "cpu/kernels/ukernel.h"
#include "cpu/model.h"
#include "host/caches.h"
#include "host/features.h"

tcgemm_cpu_way_t tcgemm_forced_way = TCGEMM_NUM_WAYS;

enum {
    MOST_FEW = 32,             /* rows or columns that were measured */
    MOST_WAY_BYTES = 10 << 20, /* of both operands: what no cache holds is another matter, ... */
    MOST_SHORT_BYTES = 8 << 20 /* ... sooner where lines of a few steps lie across k */
};

/* How many they are, ... */
static int64_t num_few(const tcgemm_canonical_t *g, tcgemm_few_t few) {
    return few.of == TCGEMM_DOTS_ROWS ? g->m : g->n;
}

/* ... the lines, ... */
static double num_lines(const tcgemm_canonical_t *g, tcgemm_few_t few) {
    return (double)(few.of == TCGEMM_DOTS_ROWS ? g->n : g->m);
}

/* ... and whether the few lie along k themselves. */
static bool few_are_along(const tcgemm_canonical_t *g, tcgemm_few_t few) {
    return (few.of == TCGEMM_DOTS_ROWS ? g->a.col_stride : g->b.row_stride) == 1;
}

int64_t tcgemm_most_read_again(int64_t few) {
    enum { AT_ONCE = 3 };
    return (int64_t)tcgemm_far_bytes() * (few <= AT_ONCE ? 7 : 6) / 4;
}

/* Bytes of both operands up to which ways are chosen so. Lines along k of a Zen 4's last cache are
 * read as those that were measured by a few rows; more of them lose to who else uses it. */
static int64_t most_way_bytes(const tcgemm_canonical_t *g, tcgemm_few_t few) {
    /* Tiles read a line of memory of each step for a few rows: f32 TN 40196 x 12 x 61 took three
     * times as long by them as by lanes, 20000 x 12 x 61 0.9 times. */
    enum { FEW_STEPS = 512, SOME = 6 };
    if (few.across)
        return g->k < FEW_STEPS ? MOST_SHORT_BYTES : MOST_WAY_BYTES;
    const int64_t most = tcgemm_most_read_again(num_few(g, few));
    return tcgemm_cpu_is_zen4() && num_few(g, few) <= SOME && most > MOST_WAY_BYTES
               ? most
               : MOST_WAY_BYTES;
}

static int lanes_of(const tcgemm_cpu_ukernel_t *u) {
    return tcgemm_vector_bytes(u) / tcgemm_sum_bytes(u);
}

/* The least power of two, of `least` or more, that is no less than n. */
static int64_t power_of_2(int64_t least, int64_t n) {
    while (least < n)
        least *= 2;
    return least;
}

/* Columns of parts of a vector, of 16 bytes at least. */
static int64_t width_of_parts(const tcgemm_cpu_ukernel_t *u, int64_t few) {
    return power_of_2(16 / tcgemm_sum_bytes(u), few);
}

static void count_tiles(const struct tcgemm_plan *plan, double count[TCGEMM_NUM_WAY_COUNTS]) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const double a = (double)g->m * (double)g->k, b = (double)g->n * (double)g->k;
    const double vectors = (double)g->m * (double)ceil_div(g->n, lanes_of(u));
    const bool are_elements = tcgemm_cpu_lanes_are_elements(g);
    const bool b_is_along = g->b.row_stride == 1;
    /* not by one call, as A along k is: of one thread, if the product is small */
    const bool a_is_turned = g->a.col_stride != 1 && !tcgemm_cpu_packs_lines_of_a(plan);
    const bool b_is_lines = tcgemm_cpu_packs_lines_of_b(plan);
    count[1] = vectors * (double)ceil_div(g->k, u->ku);
    count[2] = b_is_along ? b : 0.0;
    count[3] = b_is_along || are_elements || b_is_lines ? 0.0 : b;
    count[4] = a_is_turned ? a : 0.0;
    count[5] = (a_is_turned || are_elements ? 0.0 : a) + (b_is_lines ? b : 0.0);
    count[6] = vectors;
    count[7] = a_is_turned ? (double)g->k : 0.0;
    count[8] = count[3] > 0.0 ? (double)g->k : 0.0;
    count[9] = (double)ceil_div(g->k, u->kc) - 1.0;
    count[10] = (double)g->m * (double)ceil_div(g->n, u->nr) * (double)ceil_div(g->k, u->ku);
}

static void count_dots(const struct tcgemm_plan *plan, tcgemm_few_t few,
                       double count[TCGEMM_NUM_WAY_COUNTS]) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const int64_t rows = num_few(&plan->g, few);
    const int64_t at_once = few.across && u->across_width > 0 ? u->across_width : u->dots_width;
    const int64_t last = rows % at_once;
    const int64_t width = rows - last + (last > 0 ? power_of_2(1, last) : 0);
    const double lines = num_lines(&plan->g, few) / (double)lanes_of(u);
    count[1] = lines * (double)plan->g.k * (double)ceil_div(rows, at_once);
    count[2] = lines * (double)ceil_div(plan->g.k, u->ku) * (double)width;
    count[3] = (double)plan->g.m * (double)plan->g.n;
    count[4] = (double)rows * (double)plan->g.k;
    count[5] = few.of == TCGEMM_DOTS_COLUMNS ? count[3] : 0.0;
    count[6] = few_are_along(&plan->g, few) ? 0.0 : count[4];
}

static void count_parts(const struct tcgemm_plan *plan, tcgemm_few_t few,
                        double count[TCGEMM_NUM_WAY_COUNTS]) {
    const int64_t rows = num_few(&plan->g, few);
    const double width = (double)width_of_parts(plan->kernel->cpu, rows);
    count[1] = num_lines(&plan->g, few) * width * (double)plan->g.k;
    count[2] = (double)plan->g.m * (double)plan->g.n;
    count[3] = (double)rows * (double)plan->g.k;
}

static void count_inner(const struct tcgemm_plan *plan, tcgemm_few_t few,
                        double count[TCGEMM_NUM_WAY_COUNTS]) {
    const int64_t rows = num_few(&plan->g, few);
    const int64_t at_once = tcgemm_inner_at_a_time(plan->kernel->cpu);
    const double vectors = (double)ceil_div(plan->g.k, lanes_of(plan->kernel->cpu));
    count[1] = (double)plan->g.m * (double)plan->g.n * vectors;
    count[2] = (double)ceil_div(rows, at_once) * num_lines(&plan->g, few) * vectors;
    count[3] = (double)plan->g.m * (double)plan->g.n;
    count[4] = few_are_along(&plan->g, few) ? 0.0 : (double)rows * (double)plan->g.k;
}

void tcgemm_count_way(const struct tcgemm_plan *plan, tcgemm_few_t few, tcgemm_cpu_way_t way,
                      double count[TCGEMM_NUM_WAY_COUNTS]) {
    memset(count, 0, TCGEMM_NUM_WAY_COUNTS * sizeof *count);
    count[0] = 1.0;
    if (way == TCGEMM_WAY_TILES)
        count_tiles(plan, count);
    else if (way == TCGEMM_WAY_DOTS || way == TCGEMM_WAY_ACROSS)
        count_dots(plan, few, count);
    else if (way == TCGEMM_WAY_PARTS)
        count_parts(plan, few, count);
    else
        count_inner(plan, few, count);
}

/* Cycles of each count; a way without a line is not there. */
typedef struct line {
    uint8_t type, way;
    float cycles[TCGEMM_NUM_WAY_COUNTS];
} line_t;

/* In floats, which have as many digits as the lines. */
#define WAY(type, way, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10)                                \
    {TCGEMM_##type,                                                                                \
     TCGEMM_WAY_##way,                                                                             \
     {(float)(c0), (float)(c1), (float)(c2), (float)(c3), (float)(c4), (float)(c5), (float)(c6),   \
      (float)(c7), (float)(c8), (float)(c9), (float)(c10)}},
static const line_t of_zen4[] = {
#include "cpu/ways_zen4.def"
};
static const line_t of_zen4_avx2[] = {
#include "cpu/ways_zen4_avx2.def"
};
static const line_t of_zen5[] = {
#include "cpu/ways_zen5.def"
};
static const line_t of_zen5_avx2[] = {
#include "cpu/ways_zen5_avx2.def"
};
static const line_t of_xeon[] = {
#include "cpu/ways_xeon.def"
};
static const line_t of_xeon_avx2[] = {
#include "cpu/ways_xeon_avx2.def"
};
#undef WAY

typedef struct lines {
    const line_t *first;
    size_t count;
} lines_t;

#define LINES(array) ((lines_t){array, sizeof(array) / sizeof *(array)})

/* Whether ways of such vectors were measured: of bytes, long ones with VNNI and short ones without,
 * whose tiles take twice as long. */
static bool is_measured(const tcgemm_cpu_ukernel_t *u) {
    return tcgemm_is_wide(u) ? u->family != TCGEMM_FAMILY_S16
                             : tcgemm_is_avx2(u) && u->family != TCGEMM_FAMILY_U8S8;
}

/* Those of this processor; a Zen 3 is taken for a Zen 4, and all of Intel's for the Xeon. */
static lines_t lines_of(const tcgemm_cpu_ukernel_t *u) {
    const bool is_wide = tcgemm_is_wide(u);
    if (!is_measured(u))
        return (lines_t){NULL, 0};
    if (tcgemm_cpu_is_zen4())
        return is_wide ? LINES(of_zen4) : LINES(of_zen4_avx2);
    if (tcgemm_cpu_is_zen5())
        return is_wide ? LINES(of_zen5) : LINES(of_zen5_avx2);
    if (tcgemm_cpu_is_intel())
        return is_wide ? LINES(of_xeon) : LINES(of_xeon_avx2);
    return (lines_t){NULL, 0};
}

/* NULL where nobody has measured that. */
static const float *cycles_of_way(lines_t lines, tcgemm_type_t type, tcgemm_cpu_way_t way) {
    for (size_t i = 0; i < lines.count; ++i)
        if (lines.first[i].type == type && lines.first[i].way == way)
            return lines.first[i].cycles;
    return NULL;
}

static double cycles_of(const struct tcgemm_plan *plan, tcgemm_few_t few, tcgemm_cpu_way_t way,
                        const float *each) {
    double count[TCGEMM_NUM_WAY_COUNTS], sum = 0.0;
    tcgemm_count_way(plan, few, way, count);
    for (int i = 0; i < TCGEMM_NUM_WAY_COUNTS; ++i)
        sum += (double)each[i] * count[i];
    return sum;
}

/* Cycles that tiles wait, and lines across k do not, for lines of memory of a B across k that the
 * second level does not hold: what was measured is mostly smaller. More where rows of B share sets
 * of the first level, of four rows of A at most with long vectors, of which tiles take eight. (Zen
 * 4: f32 NN 2 x 1024 x 1024 takes 1.4 times as long by tiles, with AVX2 twice.) */
static double cycles_of_waits(const struct tcgemm_plan *plan, tcgemm_few_t few) {
    enum { MEMORY_LINE = 64, SHARING_PITCH = 1024, FEW_OF_WIDE = 4 };
    const tcgemm_canonical_t *g = &plan->g;
    const bool is_wide = tcgemm_is_wide(plan->kernel->cpu);
    const int bits = tcgemm_dtype_bits(g->b.dtype);
    const double bytes = (double)g->n * (double)g->k * bits / 8.0;
    if (!few.across || few.of != TCGEMM_DOTS_ROWS || !tcgemm_cpu_is_zen4() ||
        bytes <= (double)tcgemm_near_bytes())
        return 0.0;
    const bool share_sets = tcgemm_cpu_lie_apart(&g->b, SHARING_PITCH);
    const bool are_slower = share_sets && (!is_wide || bits < 32 || g->m <= FEW_OF_WIDE);
    const double each = !is_wide || bits < 32 ? 2.0 : g->m > 2 ? 1.5 : 0.5;
    return bytes / MEMORY_LINE * (are_slower ? each + 3.0 : each);
}

/* Columns in parts are those that their kernel takes; it has them whoever asks for lines. */
static bool has_way(const struct tcgemm_plan *plan, tcgemm_few_t few, tcgemm_cpu_way_t way) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    enum { MOST_COLUMNS = 8 };
    const bool are_parts = few.of == TCGEMM_DOTS_COLUMNS && tcgemm_cpu_lanes_are_elements(g) &&
                           g->n <= MOST_COLUMNS && 2 * g->n > width_of_parts(u, g->n);
    switch (way) {
    case TCGEMM_WAY_TILES:
        return true;
    case TCGEMM_WAY_ACROSS:
        return few.across;
    case TCGEMM_WAY_INNER:
        return !few.across && u->inner && num_few(g, few) <= TCGEMM_MOST_INNER &&
               !(g->flags & TCGEMM_FLAG_REPRODUCIBLE);
    default:
        return !few.across && (way == TCGEMM_WAY_PARTS) == are_parts;
    }
}

bool tcgemm_soonest_way(const struct tcgemm_plan *plan, tcgemm_few_t few, tcgemm_cpu_way_t *way,
                        double *least) {
    const tcgemm_canonical_t *g = &plan->g;
    const double bytes = ((double)g->m * tcgemm_dtype_bits(g->a.dtype) +
                          (double)g->n * tcgemm_dtype_bits(g->b.dtype)) *
                         (double)g->k / 8.0;
    const int64_t rows = num_few(g, few);
    *least = 0.0;
    if (tcgemm_forced_way != TCGEMM_NUM_WAYS) {
        *way = has_way(plan, few, tcgemm_forced_way) ? tcgemm_forced_way : TCGEMM_WAY_TILES;
        return rows > 0;
    }
    if (rows < 2 || rows > MOST_FEW || bytes > (double)most_way_bytes(g, few))
        return false;
    const tcgemm_type_t type = g->type->type;
    const lines_t lines = lines_of(plan->kernel->cpu);
    if (!cycles_of_way(lines, type, TCGEMM_WAY_TILES))
        return false;
    *way = TCGEMM_NUM_WAYS;
    for (tcgemm_cpu_way_t w = TCGEMM_WAY_TILES; w < TCGEMM_NUM_WAYS; ++w) {
        const float *const each = has_way(plan, few, w) ? cycles_of_way(lines, type, w) : NULL;
        const double waits = w == TCGEMM_WAY_TILES ? cycles_of_waits(plan, few) : 0.0;
        const double cycles = each ? cycles_of(plan, few, w, each) + waits : 0.0;
        if (each && (*way == TCGEMM_NUM_WAYS || cycles < *least)) {
            *least = cycles;
            *way = w;
        }
    }
    return true;
}
