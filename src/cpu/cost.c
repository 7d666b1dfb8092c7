/* cost.c - see cost.h. */
#include "cpu/cost.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/num.h"
#include "cpu/dots.h"
#include "cpu/kernels/ukernel.h"
#include "cpu/model.h"
#include "host/features.h"

enum {
    NEAR_CACHE = 1 << 20, /* bytes */
    LEAST_MACS = 8,       /* vectors of multiply-adds in a step, that a tile takes the time of */
    LEAST_PRODUCTS = 2    /* the same of matrix tiles */
};

/* Vectors of multiply-adds, or products of matrix tiles, in a step of a tile. */
static double step_of_tile(const tcgemm_cpu_ukernel_t *u, int64_t rows, int64_t cols) {
    const int64_t unit_rows = tcgemm_is_matrix(u) ? 16 : 1;
    const int64_t unit_cols = tcgemm_is_matrix(u) ? 16 : u->nr / 3;
    const double products = (double)(ceil_div(rows, unit_rows) * ceil_div(cols, unit_cols));
    return fmax(products, tcgemm_is_matrix(u) ? LEAST_PRODUCTS : LEAST_MACS);
}

/* The same of all tiles, those at the edges too. */
static double step_of_all(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const int64_t m = plan->g.m, n = plan->g.n;
    const double below = m % u->mr ? 1.0 : 0.0;
    const double beside = n % u->nr ? 1.0 : 0.0;
    const int64_t whole_down = m / u->mr, whole_across = n / u->nr;
    const double down = (double)whole_down, across = (double)whole_across;
    return down * across * step_of_tile(u, u->mr, u->nr) +
           below * across * step_of_tile(u, m % u->mr, u->nr) +
           down * beside * step_of_tile(u, u->mr, n % u->nr) +
           below * beside * step_of_tile(u, m % u->mr, n % u->nr);
}

/* Of so many bytes. */
static double far_lines(double bytes) {
    return fmax(bytes - NEAR_CACHE, 0.0) / 64.0;
}

/* Elements along k that packing has to do with: whole lanes, of what it need not take apart. */
static double packed_depth(const struct tcgemm_plan *plan, tcgemm_dtype_t dtype) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    return tcgemm_dtype_bits(dtype) < 8 ? (double)plan->g.k
                                        : (double)ceil_div(plan->g.k, u->ku) * u->ku;
}

static void count_packing(const struct tcgemm_plan *plan, double k_steps,
                          double count[TCGEMM_NUM_COUNTS]) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const bool packs_a = plan->cpu.pack_a && !g->a.packed_bytes && !tcgemm_cpu_leaves_a(plan);
    const bool packs_b = plan->cpu.pack_b && !g->b.packed_bytes && !plan->cpu.copies_b;
    const bool a_along = g->a.col_stride == 1, b_along = g->b.row_stride == 1;
    const double lanes = (double)ceil_div(g->k, u->ku);
    const double a = packs_a ? (double)g->m * packed_depth(plan, g->a.dtype) : 0.0;
    const double b = packs_b ? (double)g->n * packed_depth(plan, g->b.dtype) : 0.0;
    const bool has_rows = tcgemm_cpu_packs_rows(plan); /* all by one call */
    const double a_panels = !packs_a ? 0.0 : has_rows ? 1.0 : (double)ceil_div(g->m, u->mr);
    const double b_panels = !packs_b                 ? 0.0
                            : plan->cpu.small_b_rows ? 1.0
                                                     : (double)ceil_div(g->n, u->nr);
    count[a_along ? TCGEMM_COUNT_A_ALONG : TCGEMM_COUNT_A_ACROSS] = a;
    count[b_along ? TCGEMM_COUNT_B_ALONG : TCGEMM_COUNT_B_ACROSS] = b;
    count[TCGEMM_COUNT_PANEL] = (a_panels + b_panels) * k_steps;
    if (packs_a && !a_along && !has_rows) {
        count[TCGEMM_COUNT_A_PIECE] = a_panels * lanes;
        count[TCGEMM_COUNT_ROW] += (double)g->k * (double)ceil_div(g->m, 128);
        count[TCGEMM_COUNT_FAR_A] = far_lines(a * tcgemm_dtype_bits(g->a.dtype) / 8.0);
    }
    if (packs_b && !b_along && !plan->cpu.small_b_rows) {
        count[TCGEMM_COUNT_B_PIECE] = b_panels * lanes;
        count[TCGEMM_COUNT_ROW] += (double)g->k * (double)ceil_div(g->n, 128);
        count[TCGEMM_COUNT_FAR_B] = far_lines(b * tcgemm_dtype_bits(g->b.dtype) / 8.0);
    }
}

static void count_tiles(const struct tcgemm_plan *plan, double count[TCGEMM_NUM_COUNTS]) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const int64_t depth = s->packs_units ? min_i64(s->kb, s->kc) : s->kc;
    const double macs_of_step = tcgemm_is_matrix(u) ? 16.0 * 16.0 * u->ku : u->nr / 3.0 * u->ku;
    const double macs = tcgemm_cpu_theoretical_macs(plan->kernel);
    const double k_steps = (double)ceil_div(g->k, depth);
    const int64_t whole_down = g->m / u->mr, whole_across = g->n / u->nr;
    const double tiles = (double)ceil_div(g->m, u->mr) * (double)ceil_div(g->n, u->nr);
    count[TCGEMM_COUNT_TILE] = tiles * k_steps;
    count[TCGEMM_COUNT_EDGE] = (tiles - (double)whole_down * (double)whole_across) * k_steps;
    count[TCGEMM_COUNT_MULTIPLY] = step_of_all(plan) * (double)ceil_div(g->k, u->ku) *
                                   macs_of_step /
                                   (macs > 0.0 ? macs : (double)plan->kernel->macs_per_cycle);
    count_packing(plan, k_steps, count);
    if (!s->pack_a || tcgemm_cpu_leaves_a(plan))
        count[TCGEMM_COUNT_IN_PLACE] = (double)g->m * (double)g->k * (double)ceil_div(g->n, u->nr);
    count[TCGEMM_COUNT_OWN] = s->packs_units ? (double)g->n * (double)g->k : 0.0;
    count[TCGEMM_COUNT_STORE] = (double)g->m * (double)g->n * (double)ceil_div(g->k, s->kc);
    const double panels = (double)g->n * (double)g->k / u->ku * u->lane_bytes;
    const double again = (double)ceil_div(g->m, u->mc) - 1.0;
    count[TCGEMM_COUNT_AGAIN] = panels > NEAR_CACHE && again > 0.0 ? again * panels / 64.0 : 0.0;
}

/* Integers are quads, in lanes or one row after the other. */
static void count_dots(const struct tcgemm_plan *plan, double count[TCGEMM_NUM_COUNTS]) {
    const tcgemm_canonical_t *g = &plan->g;
    const int64_t few = tcgemm_dots_few(plan);
    const double lines = (double)tcgemm_dots_lines(plan) * (double)g->k;
    const double read = lines * (double)ceil_div(few, tcgemm_dots_at_a_time(plan));
    const double dots = lines * (double)few / 16.0;
    count[TCGEMM_COUNT_STORE] = (double)g->m * (double)g->n;
    if (plan->cpu.inner) {
        const int64_t vectors = ceil_div(g->k, tcgemm_vector_bytes(plan->kernel->cpu) /
                                                   tcgemm_sum_bytes(plan->kernel->cpu));
        count[TCGEMM_COUNT_INNER] = (double)g->m * (double)g->n * (double)vectors;
        count[TCGEMM_COUNT_INNER_SUM] = (double)g->m * (double)g->n;
        return;
    }
    if (plan->cpu.dots_in_lanes && tcgemm_is_matrix(plan->kernel->cpu)) {
        count[TCGEMM_COUNT_TILE_LINE] = read;
        count[TCGEMM_COUNT_MULTIPLY] =
            lines * (double)round_up(few, 16) / tcgemm_cpu_theoretical_macs(plan->kernel);
    } else {
        count[plan->cpu.across ? TCGEMM_COUNT_ACROSS : TCGEMM_COUNT_LINE] = read;
        count[plan->cpu.across ? TCGEMM_COUNT_ACROSS_DOT : TCGEMM_COUNT_DOT] =
            plan->cpu.dots_in_lanes && !tcgemm_dots_are_integers(plan) ? dots / 2.0
                                                                       : dots; /* pairs */
    }
}

void tcgemm_cpu_work(const struct tcgemm_plan *plan, double count[TCGEMM_NUM_COUNTS]) {
    const tcgemm_canonical_t *g = &plan->g;
    memset(count, 0, TCGEMM_NUM_COUNTS * sizeof *count);
    count[TCGEMM_COUNT_CALL] = 1.0 / (double)g->batch;
    count[TCGEMM_COUNT_ITEM] = plan->cpu.small_rows > 0 ? 0.0 : 1.0;
    if (plan->cpu.dots)
        count_dots(plan, count);
    else
        count_tiles(plan, count);
    const double a = (double)g->m * (double)g->k * tcgemm_dtype_bits(g->a.dtype) / 8.0;
    const double b = (double)g->n * (double)g->k * tcgemm_dtype_bits(g->b.dtype) / 8.0;
    const double d = (double)g->m * (double)g->n * tcgemm_dtype_bits(g->type->d) / 8.0;
    count[TCGEMM_COUNT_FAR] = far_lines(a + b + d);
    count[TCGEMM_COUNT_FAR_D] = far_lines(d);
}

/* ---- measured ---- */

enum { COSTS_avx2, COSTS_avx512, COSTS_amx, NUM_SETS };

typedef double costs_t[NUM_SETS][TCGEMM_NUM_TYPES + 1][TCGEMM_NUM_COUNTS];

static const costs_t costs_of_intel = {
#define COST(isa, TYPE, ...) [COSTS_##isa][TCGEMM_##TYPE] = {__VA_ARGS__},
#include "cpu/cost.def"
};

static const costs_t costs_of_zen5 = {
#define COST(isa, TYPE, ...) [COSTS_##isa][TCGEMM_##TYPE] = {__VA_ARGS__},
#include "cpu/cost_zen5.def"
};

static const costs_t costs_of_zen4 = {
#define COST(isa, TYPE, ...) [COSTS_##isa][TCGEMM_##TYPE] = {__VA_ARGS__},
#include "cpu/cost_zen4.def"
};

/* A Zen 3 is of the family of a Zen 4; what is neither this nor Intel's counts as a Zen 5. */
static const costs_t *costs_of_this(void) {
    if (tcgemm_cpu_is_intel())
        return &costs_of_intel;
    return tcgemm_cpu_is_zen4() ? &costs_of_zen4 : &costs_of_zen5;
}

/* Bytes in lanes across k have what they take on a Zen 4 in the other two tables as well, and with
 * AVX2 those along k on a Zen 5; lanes of k have what they take on a Zen 5. What 4-bit numbers take
 * to be packed on Intel's is of another Xeon, as its multiply-adds are to this one's. VDPBF16PS,
 * which is slow on Intel's, was not measured there, nor products of f16 on matrix tiles: they are
 * those of bf16 but for what looks for subnormals. */
const double *tcgemm_cpu_costs(const struct tcgemm_plan *plan) {
    const tcgemm_kernel_t *row = plan->kernel;
    const costs_t *const costs = costs_of_this();
    if (costs == &costs_of_intel && row->cpu->family == TCGEMM_FAMILY_BF16)
        return NULL;
    const int set = tcgemm_is_matrix(row->cpu)          ? COSTS_amx
                    : row->features & TCGEMM_CPU_AVX512 ? COSTS_avx512
                    : row->features & TCGEMM_CPU_AVX2   ? COSTS_avx2
                                                        : NUM_SETS;
    const tcgemm_type_t type = row->cpu->family != TCGEMM_FAMILY_F16X32 ? plan->g.type->type
                               : plan->g.type->type == TCGEMM_F16_F32   ? TCGEMM_BF16_F32
                                                                        : TCGEMM_BF16_BF16;
    if (set == NUM_SETS || (*costs)[set][type][TCGEMM_COUNT_MULTIPLY] <= 0.0)
        return NULL;
    return (*costs)[set][type];
}
