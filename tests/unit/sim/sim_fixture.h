/* sim_fixture.h - a simulated machine for a product of 8 x 8 x 8 floats, for the tests of src/sim.
 */
#ifndef TCGEMM_TESTS_UNIT_SIM_FIXTURE_H
#define TCGEMM_TESTS_UNIT_SIM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "plan/planner.h"
#include "sim/sim.h"

enum { SIZE = 8 };

typedef struct fixture {
    float a[SIZE * SIZE], b[SIZE * SIZE], d[SIZE * SIZE];
    uint8_t written[SIZE * SIZE];
    struct tcgemm_plan plan;
    tcgemm_call_t call;
    tcgemm_simulate_report_t report;
    tcgemm_sim_t sim;
} fixture_t;

static inline tcgemm_sim_matrix_t fixture_matrix(const tcgemm_operand_t *o, const float *data,
                                                 int form) {
    return (tcgemm_sim_matrix_t){.operand = o,
                                 .data = data,
                                 .element_bytes = 4,
                                 .trans = o->col_stride != 1,
                                 .form = form,
                                 .mn = SIZE,
                                 .ld = SIZE,
                                 .vector = 16};
}

/* A is row-major, k contiguous; B is row-major, n contiguous: a(i, p) = 10 i + p, b(p, j) = p - j.
 */
static inline void fixture_make(fixture_t *f) {
    memset(f, 0, sizeof *f);
    const tcgemm_problem_t problem = tcgemm_problem(TCGEMM_F32_F32, SIZE, SIZE, SIZE);
    assert_int_equal(tcgemm_plan_make(&problem, NULL, 1, &f->plan), TCGEMM_STATUS_OK);
    for (int i = 0; i < SIZE * SIZE; ++i) {
        f->a[i] = (float)(i / SIZE * 10 + i % SIZE);
        f->b[i] = (float)(i / SIZE - i % SIZE);
    }
    f->call = (tcgemm_call_t){.alpha = 1.0, .a = f->a, .b = f->b, .d = f->d};
    f->sim = (tcgemm_sim_t){.plan = &f->plan,
                            .g = &f->plan.g,
                            .call = &f->call,
                            .written = f->written,
                            .report = &f->report};
    f->sim.side[TCGEMM_SIDE_A] = fixture_matrix(&f->plan.g.a, f->a, TCGEMM_FORM_K);
    f->sim.side[TCGEMM_SIDE_B] = fixture_matrix(&f->plan.g.b, f->b, TCGEMM_FORM_MN);
}

/* Asserts that something has been found since the last call, and that the sentence says it. */
static inline void expect_fault(fixture_t *f, const char *words) {
    assert_true(f->report.num_faults > 0);
    assert_non_null(strstr(f->report.fault, words));
    f->report.num_faults = 0;
}

static inline void expect_none(const fixture_t *f) {
    if (f->report.num_faults)
        fail_msg("%s", f->report.fault);
}

#endif
