/* What was measured of a row is what its line says; a row without a line is never planned as faster
 * than one of its algorithm and type that has one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/known_gpus.h"
#include "gpu/gpu_row.h"
#include "gpu/measured.h"

typedef struct line {
    const char *row;
    float macs;
} line_t;

#define TCGEMM_LINE(row, macs, ...) {#row, (float)(macs)},
static const line_t lines[] = {
#define TCGEMM_COST TCGEMM_LINE
#include "gpu/measured/cost.def"
};
static const line_t lines_on_h200[] = {
#define TCGEMM_COST TCGEMM_LINE
#include "gpu/measured/cost_h200.def"
};

enum {
    NUM_LINES = sizeof lines / sizeof *lines,
    NUM_ON_H200 = sizeof lines_on_h200 / sizeof *lines_on_h200
};

/* The line of the row, or of the row whose code it runs, among `count`; NULL if it has none. */
static const line_t *line_of(const tcgemm_kernel_t *row, const line_t *among, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (strcmp(among[i].row, row->gpu->entry + strlen("tcgemm_")) == 0)
            return &among[i];
    return NULL;
}

/* Its figure; 0 if it has none. */
static double measured_macs(const tcgemm_kernel_t *row) {
    const line_t *const line = line_of(row, lines, NUM_LINES);
    return line ? line->macs : 0.0;
}

static void lines_belong_to_their_rows(void **state) {
    (void)state;
    size_t found = 0;
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_kernel_t *row = tcgemm_kernel_at(i);
        const double macs = row->gpu ? measured_macs(row) : 0.0;
        if (macs > 0.0) {
            assert_true(tcgemm_gpu_cost_of(row)->macs == macs);
            /* Rows of few columns share the line of few rows. */
            found += !tcgemm_gpu_widens(row->gpu) && row->gpu->streams != TCGEMM_STREAMS_A;
        }
    }
    assert_int_equal(found, NUM_LINES); /* no line without a row */
}

/* Its own lines where it has them, which an H100 does not see. */
static void an_h200_has_lines_of_its_own(void **state) {
    (void)state;
    const tcgemm_device_t *const h200 = tcgemm_known_gpu_find("h200");
    const tcgemm_device_t *const h100 = tcgemm_known_gpu_find("h100");
    assert_true(h100 && h200);
    bool has_row[NUM_ON_H200] = {false};
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_kernel_t *row = tcgemm_kernel_at(i);
        if (!row->gpu)
            continue;
        const double macs = tcgemm_gpu_cost_of(row)->macs;
        const line_t *const own = line_of(row, lines_on_h200, NUM_ON_H200);
        assert_true(tcgemm_gpu_cost_on(row, h100)->macs == macs);
        assert_true(tcgemm_gpu_cost_on(row, h200)->macs == (own ? own->macs : macs));
        if (own)
            has_row[own - lines_on_h200] = true;
    }
    for (int j = 0; j < NUM_ON_H200; ++j)
        assert_true(has_row[j]);
}

static void unmeasured_rows_are_not_preferred(void **state) {
    (void)state;
    int pairs = 0;
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_kernel_t *row = tcgemm_kernel_at(i);
        for (int j = 0; row->gpu && j < tcgemm_num_kernels(); ++j) {
            const tcgemm_kernel_t *other = tcgemm_kernel_at(j);
            if (!other->gpu || other->gpu->type != row->gpu->type ||
                strcmp(other->family->algo, row->family->algo) != 0 ||
                !(measured_macs(other) > 0.0))
                continue;
            assert_true(tcgemm_gpu_cost_unmeasured(row).macs <= measured_macs(other));
            if (!(measured_macs(row) > 0.0))
                assert_true(tcgemm_gpu_cost_of(row)->macs <= measured_macs(other));
            ++pairs;
        }
    }
    assert_true(pairs > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_belong_to_their_rows),
        cmocka_unit_test(an_h200_has_lines_of_its_own),
        cmocka_unit_test(unmeasured_rows_are_not_preferred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
