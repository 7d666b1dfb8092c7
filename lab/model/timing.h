/* timing.h - plans timed on GPU 0, by its own clock: matrices and workspace on the GPU, random
 * data, launches one after the other. Operands of few rows or columns are others in each call, as
 * weights are, which no call before has left in the L2; those of other products are the same. */
#ifndef LAB_MODEL_TIMING_H
#define LAB_MODEL_TIMING_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu_clock.h"
#include "gpu_random.h"
#include "problem.h"
#include "tcgemm/tcgemm.h"

enum { TIMING_ROUNDS = 3, TIMING_PAGE = 4096 /* bytes */ };
typedef enum timing_place { PLACE_A, PLACE_B, PLACE_C, NUM_OPERANDS } timing_place_t;
static const size_t timing_most_elements = (size_t)16384 * 16384; /* of a matrix */

static tcgemm_context_t *timing_context;
static gpu_clock_t *timing_clock;

/* False, having said why, where there is no GPU. */
static bool timing_start(void) {
    const char *why;
    tcgemm_context_options_t options = tcgemm_context_options();
    options.device = 0;
    timing_clock = gpu_clock_open(0, &why);
    if (timing_clock && tcgemm_context_create(&options, &timing_context) == TCGEMM_STATUS_OK)
        return true;
    (void)fprintf(stderr, "skipped: no GPU\n");
    return false;
}

/* One pool of random elements for each dtype serves all shapes, its first third A, its second B,
 * its last C; another every D. */
static void *timing_pool(tcgemm_dtype_t dtype) {
    static void *pools[64];
    if (!pools[dtype])
        pools[dtype] = random_matrix(dtype, NUM_OPERANDS * timing_most_elements);
    if (!pools[dtype])
        exit(1);
    return pools[dtype];
}

static void *timing_pool_of_d(void) {
    static void *memory;
    if (!memory && tcgemm_device_alloc(0, timing_most_elements * 8, &memory) != TCGEMM_STATUS_OK)
        exit(1);
    return memory;
}

/* One workspace for all plans; NULL, and the plan takes one by itself, if it wants more. */
static void *timing_workspace(const tcgemm_plan_t *plan, size_t *bytes) {
    enum { MOST = 1 << 30 };
    static void *memory;
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    if (!memory && tcgemm_device_alloc(0, MOST, &memory) != TCGEMM_STATUS_OK)
        exit(1);
    const bool fits =
        tcgemm_plan_get_info(plan, &info) == TCGEMM_STATUS_OK && info.workspace_bytes <= MOST;
    *bytes = fits ? MOST : 0;
    return fits ? memory : NULL;
}

/* An operand in its third of a pool, and how far on the next call finds its own: 0, here again. */
typedef struct timing_operand {
    const char *third;
    size_t third_bytes, bytes, step;
} timing_operand_t;

static timing_operand_t timing_operand(tcgemm_dtype_t dtype, timing_place_t place, int64_t elements,
                                       bool is_cold) {
    const size_t size = (size_t)tcgemm_dtype_bits(dtype) / 8;
    const size_t third = timing_most_elements * size, bytes = (size_t)elements * size;
    const size_t pages = (bytes + TIMING_PAGE - 1) / TIMING_PAGE;
    return (timing_operand_t){.third = (const char *)timing_pool(dtype) + place * third,
                              .third_bytes = third,
                              .bytes = bytes,
                              .step = is_cold ? pages * TIMING_PAGE : 0};
}

static const void *timing_operand_of_call(const timing_operand_t *x, int call) {
    const size_t steps = x->step ? (x->third_bytes - x->bytes) / x->step + 1 : 1;
    return x->third + (size_t)call % steps * x->step;
}

/* A, B and C; no C: beta is 0. */
typedef struct timing_operands {
    timing_operand_t a, b, c;
} timing_operands_t;

static timing_operands_t timing_operands(const tcgemm_problem_t *p) {
    const tcgemm_type_info_t *t = tcgemm_type_info(p->type);
    const bool is_cold = kind_of(p) == FEW_ROWS || kind_of(p) == FEW_COLUMNS;
    timing_operands_t x = {.a = timing_operand(t->a, PLACE_A, p->m * p->k * p->batch, is_cold),
                           .b = timing_operand(t->b, PLACE_B, p->k * p->n * p->batch, is_cold)};
    if (p->flags & TCGEMM_FLAG_ADDS_C)
        x.c = timing_operand(t->d, PLACE_C, p->m * p->n * p->batch, is_cold);
    return x;
}

static bool timing_calls(const tcgemm_plan_t *plan, const timing_operands_t *x, int calls,
                         double *seconds) {
    size_t bytes;
    void *const workspace = timing_workspace(plan, &bytes), *const d = timing_pool_of_d();
    bool good = gpu_clock_start(timing_clock);
    for (int i = 0; i < calls && good; ++i)
        good = tcgemm_run_async(plan, 1, timing_operand_of_call(&x->a, i),
                                timing_operand_of_call(&x->b, i), x->c.third ? 1 : 0,
                                x->c.third ? timing_operand_of_call(&x->c, i) : NULL, d, workspace,
                                bytes, gpu_clock_stream(timing_clock)) == TCGEMM_STATUS_OK;
    return gpu_clock_stop(timing_clock, seconds) && good;
}

/* The least of three rounds of `sample_seconds` each, of one run; 0 if it fails. What else runs on
 * the machine keeps launches waiting, now and then for ten times what they take. */
static double timing_of(const tcgemm_plan_t *plan, const tcgemm_problem_t *p,
                        double sample_seconds) {
    const timing_operands_t x = timing_operands(p);
    double least = HUGE_VAL, once = 0;
    bool good = timing_calls(plan, &x, 1, &once) && timing_calls(plan, &x, 2, &once);
    const double wanted = sample_seconds / (once / 2);
    const int calls = wanted < 1 ? 1 : wanted > 4000 ? 4000 : (int)wanted;
    for (int i = 0; i < TIMING_ROUNDS && good; ++i) {
        double seconds = 0;
        good = timing_calls(plan, &x, calls, &seconds);
        least = fmin(least, seconds / calls);
    }
    return good ? least : 0;
}

#endif
