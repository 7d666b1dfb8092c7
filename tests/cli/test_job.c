/* What `run` makes of arrays in files: the problem that the library gets, and the array that D
 * becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands/job.h"
#include "support/exit_status.h"

static char folder[] = "/tmp/tcgemm-test-job-XXXXXX";

/* An array of the numbers 0, 1, 2, ... in C's order, from its first dimension that is not 0. */
static void write_array(const char *name, int64_t first, int64_t second, int64_t third) {
    file_error_t err;
    float data[256];
    const int64_t dims[3] = {first, second, third};
    matrix_t m = {.dtype = TCGEMM_DTYPE_F32, .num_dims = 3, .batch = 1, .data = data};
    for (int i = 0; i < 256; i++)
        data[i] = (float)i;
    while (m.num_dims > 1 && dims[3 - m.num_dims] == 0)
        m.num_dims--;
    memcpy(m.dims, dims + 3 - m.num_dims, (size_t)m.num_dims * sizeof *dims);
    m.batch = m.num_dims == 3 ? first : 1;
    m.rows = m.num_dims >= 2 ? second : 1;
    m.cols = third;
    if (!matrix_save(name, &m, true, &err))
        fail_msg("%s", err.message);
}

static settings_t settings_of(void) {
    return (settings_t){.files = {"a.npy", "b.npy"},
                        .num_files = 2,
                        .alpha = 1,
                        .batch = 1,
                        .repeat = 1,
                        .a_dtype = ELEMENTS_NOT_SAID,
                        .b_dtype = ELEMENTS_NOT_SAID,
                        .c_dtype = ELEMENTS_NOT_SAID,
                        .quiet = true};
}

static job_t job_of(const settings_t *s) {
    job_t job;
    assert_int_equal(job_create(&job, s), CLI_OK);
    return job;
}

static void expect_dims(const job_t *job, int num_dims, int64_t first, int64_t second,
                        int64_t third) {
    const matrix_t d = job_result(job);
    const int64_t dims[3] = {first, second, third};
    assert_int_equal(d.num_dims, num_dims);
    for (int i = 0; i < num_dims; i++)
        assert_int_equal(d.dims[i], dims[i]);
}

static void expect_sizes(const job_t *job, int64_t m, int64_t n, int64_t k, int64_t batch) {
    assert_int_equal(job->problem.m, m);
    assert_int_equal(job->problem.n, n);
    assert_int_equal(job->problem.k, k);
    assert_int_equal(job->problem.batch, batch);
}

/* A vector is a row of A and a column of B, and D lacks its dimension. */
static void test_vectors(void **state) {
    (void)state;
    const settings_t s = settings_of();
    write_array("a.npy", 0, 3, 4);
    write_array("b.npy", 0, 0, 4);
    job_t job = job_of(&s);
    expect_sizes(&job, 3, 1, 4, 1);
    expect_dims(&job, 1, 3, 0, 0);
    assert_int_equal(job.problem.ldb, 1);
    job_free(&job);
    write_array("a.npy", 0, 0, 4);
    write_array("b.npy", 0, 4, 5);
    job = job_of(&s);
    expect_sizes(&job, 1, 5, 4, 1);
    expect_dims(&job, 1, 5, 0, 0);
    job_free(&job);
    write_array("b.npy", 0, 0, 4);
    job = job_of(&s);
    expect_sizes(&job, 1, 1, 4, 1);
    expect_dims(&job, 0, 0, 0, 0);
    job_free(&job);
}

/* One matrix for all of a batch is not copied: its stride is 0. */
static void test_batches(void **state) {
    (void)state;
    const settings_t s = settings_of();
    write_array("a.npy", 2, 3, 4);
    write_array("b.npy", 2, 4, 5);
    job_t job = job_of(&s);
    expect_sizes(&job, 3, 5, 4, 2);
    expect_dims(&job, 3, 2, 3, 5);
    assert_int_equal(job.problem.stride_a, 12);
    assert_int_equal(job.problem.stride_b, 20);
    assert_int_equal(job.problem.stride_d, 15);
    job_free(&job);
    for (int i = 0; i < 2; i++) {
        write_array("b.npy", i, 4, 5); /* without a first dimension, and with one of 1 */
        job = job_of(&s);
        expect_sizes(&job, 3, 5, 4, 2);
        expect_dims(&job, 3, 2, 3, 5);
        assert_int_equal(job.problem.stride_a, 12);
        assert_int_equal(job.problem.stride_b, 0);
        job_free(&job);
    }
}

static void test_c(void **state) {
    (void)state;
    settings_t s = settings_of();
    s.c = "c.npy";
    s.beta = 1;
    write_array("a.npy", 2, 3, 4);
    write_array("b.npy", 0, 4, 5);
    write_array("c.npy", 0, 3, 5);
    job_t job = job_of(&s);
    assert_int_equal(job.problem.stride_c, 0);
    assert_ptr_equal(job.c, job.files[2].data);
    job_free(&job);
    s.in_place = true; /* D has items of its own, so C must have them */
    job = job_of(&s);
    assert_int_equal(job.problem.stride_c, 15);
    for (int i = 0; i < 30; i++)
        assert_true(((const float *)job.d)[i] == (float)(i % 15));
    job_free(&job);
    s.in_place = false;
    write_array("c.npy", 2, 3, 5);
    job = job_of(&s);
    assert_int_equal(job.problem.stride_c, 15);
    job_free(&job);
}

static int enter(void **state) {
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state) {
    (void)state;
    (void)unlink("a.npy");
    (void)unlink("b.npy");
    (void)unlink("c.npy");
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_c),
    };
    return cmocka_run_group_tests_name("job", tests, enter, leave);
}
