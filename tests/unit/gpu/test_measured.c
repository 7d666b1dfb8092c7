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

static const struct {
    const char *row;
    double macs;
} lines[] = {
#define TCGEMM_COST(row, macs, wait, start, finish, narrow, unaligned, nt, tn, tt) {#row, (macs)},
#include "gpu/measured/cost.def"
};

enum { NUM_LINES = sizeof lines / sizeof lines[0] };

/* The figure of the line of the row, or of the row whose code it runs; 0 if it has none. */
static double measured_macs(const tcgemm_kernel_t *row) {
    for (size_t i = 0; i < NUM_LINES; ++i)
        if (strcmp(lines[i].row, row->gpu->entry + strlen("tcgemm_")) == 0)
            return lines[i].macs;
    return 0.0;
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

static const struct {
    const char *row;
    double macs;
} lines_on_h200[] = {
#define TCGEMM_COST(row, macs, wait, start, finish, narrow, unaligned, nt, tn, tt) {#row, (macs)},
#include "gpu/measured/cost_h200.def"
};

/* Its own lines where it has them, which an H100 does not see. */
static void an_h200_has_lines_of_its_own(void **state) {
    (void)state;
    const tcgemm_device_t *const h200 = tcgemm_known_gpu_find("h200");
    const tcgemm_device_t *const h100 = tcgemm_known_gpu_find("h100");
    assert_true(h100 && h200);
    enum { COUNT = sizeof lines_on_h200 / sizeof *lines_on_h200 };
    bool has_row[COUNT] = {false};
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_kernel_t *row = tcgemm_kernel_at(i);
        double macs = row->gpu ? tcgemm_gpu_cost_of(row)->macs : 0.0;
        assert_true(!row->gpu || tcgemm_gpu_cost_on(row, h100)->macs == macs);
        for (int j = 0; row->gpu && j < COUNT; ++j)
            if (strcmp(lines_on_h200[j].row, row->gpu->entry + strlen("tcgemm_")) == 0) {
                macs = lines_on_h200[j].macs;
                has_row[j] = true;
            }
        assert_true(!row->gpu || tcgemm_gpu_cost_on(row, h200)->macs == macs);
    }
    for (int j = 0; j < COUNT; ++j)
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
