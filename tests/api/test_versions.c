/* Programs that were compiled with an older or a newer header: every public struct may be shorter
 * or longer than this library's. Each stands at the end of its own allocation, so that a sanitizer
 * sees a byte too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"
#include "tcgemm/tcgemm.h"

enum { MORE = 24 }; /* bytes by which a newer struct is longer */

/* `size` bytes that begin with struct_size = size and then what `from` has. */
static void *sized(const void *from, size_t known, size_t size) {
    char *const copy = calloc(1, size);
    assert_non_null(copy);
    memcpy(copy, from, known < size ? known : size);
    memcpy(copy, &size, size < sizeof size ? size : sizeof size);
    return copy;
}

/* ---- outputs ---- */

static tcgemm_plan_t *plan;
static const float ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static float product[16];

typedef tcgemm_status_t ask_fn(void *out);

static tcgemm_status_t ask_plan(void *out) {
    return tcgemm_plan_get_info(plan, out);
}

static tcgemm_status_t ask_tile(void *out) {
    return tcgemm_plan_get_tile(plan, 0, out);
}

static tcgemm_status_t find_tile(void *out) {
    return tcgemm_plan_find_tile(plan, 1, 1, out);
}

static tcgemm_status_t ask_estimate(void *out) {
    return tcgemm_plan_get_estimate(plan, 0, out);
}

static tcgemm_status_t ask_kernel(void *out) {
    return tcgemm_kernel_get_info(0, out);
}

static tcgemm_status_t ask_tiles(void *out) {
    return tcgemm_plan_get_tiles(plan, out);
}

static tcgemm_status_t ask_simulation(void *out) {
    return tcgemm_plan_simulate(plan, TCGEMM_DEPTH_BLOCKS, 1, ones, ones, 0, NULL, product, NULL,
                                NULL, out);
}

static tcgemm_status_t ask_verification(void *out) {
    (void)tcgemm_run(plan, 1, ones, ones, 0, NULL, product);
    return tcgemm_verify(plan, 1, ones, ones, 0, NULL, product, TCGEMM_VERIFY_FULL, 0, out);
}

static tcgemm_status_t ask_machine(void *out) {
    return tcgemm_machine_get_info(out);
}

static tcgemm_status_t ask_known_gpu(void *out) {
    return tcgemm_known_gpu_get_info(0, out);
}

static const struct output {
    const char *name;
    ask_fn *ask;
    size_t size;
} outputs[] = {
    {"plan_info", ask_plan, sizeof(tcgemm_plan_info_t)},
    {"tile_info", ask_tile, sizeof(tcgemm_tile_info_t)},
    {"tile_info found", find_tile, sizeof(tcgemm_tile_info_t)},
    {"estimate", ask_estimate, sizeof(tcgemm_estimate_t)},
    {"kernel_info", ask_kernel, sizeof(tcgemm_kernel_info_t)},
    {"tiles", ask_tiles, sizeof(tcgemm_tiles_t)},
    {"simulate_report", ask_simulation, sizeof(tcgemm_simulate_report_t)},
    {"verify_report", ask_verification, sizeof(tcgemm_verify_report_t)},
    {"machine_info", ask_machine, sizeof(tcgemm_machine_info_t)},
    {"device_info", ask_known_gpu, sizeof(tcgemm_device_info_t)},
};

static size_t size_in(const void *any) {
    size_t size;
    memcpy(&size, any, sizeof size);
    return size;
}

/* Asked with `size` bytes: the struct's own size stays, something behind it is filled in, and what
 * we do not know stays zero. */
static void check_output(const struct output *o, size_t size) {
    static const char zeros[4096];
    const size_t known = size < o->size ? size : o->size;
    char *const out = sized(&size, sizeof size, size);
    if (o->ask(out) != TCGEMM_STATUS_OK)
        report_failure("%s of %zu bytes: %s", o->name, size, tcgemm_last_error());
    else if (size_in(out) != size)
        report_failure("%s of %zu bytes: struct_size became %zu", o->name, size, size_in(out));
    else if (size >= o->size && memcmp(out + sizeof size, zeros, known - sizeof size) == 0)
        report_failure("%s of %zu bytes: nothing was written", o->name, size);
    else if (memcmp(out + known, zeros, size - known) != 0)
        report_failure("%s of %zu bytes: written beyond what is known", o->name, size);
    free(out);
}

static void outputs_of_every_size(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; ++i) {
        const struct output *o = &outputs[i];
        check_output(o, o->size);
        check_output(o, o->size + MORE);
        check_output(o, o->size - sizeof(double));
        check_output(o, 2 * sizeof(size_t));
        for (size_t size = 0; size <= sizeof(size_t); size += sizeof(size_t)) {
            size_t *const out = malloc(sizeof *out);
            assert_non_null(out);
            *out = size;
            if (o->ask(out) != TCGEMM_STATUS_BAD_ARGUMENT ||
                !strstr(tcgemm_last_error(), "struct_size") ||
                !strstr(tcgemm_last_error(), "expected"))
                report_failure("%s with struct_size %zu: %s", o->name, size, tcgemm_last_error());
            free(out);
        }
    }
    assert_no_failures();
}

/* ---- inputs ---- */

static tcgemm_status_t give_context(const void *in) {
    tcgemm_context_t *context;
    const tcgemm_status_t status = tcgemm_context_create(in, &context);
    tcgemm_context_destroy(context);
    return status;
}

static tcgemm_status_t give_problem(const void *in) {
    tcgemm_plan_t *made;
    const tcgemm_status_t status = tcgemm_plan_create(NULL, in, NULL, &made);
    tcgemm_plan_destroy(made);
    return status;
}

static tcgemm_status_t give_tiles(const void *in) {
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 4, 4, 4);
    tcgemm_simulate_report_t report = {.struct_size = sizeof report};
    return tcgemm_simulate_tiles(&p, in, TCGEMM_DEPTH_BLOCKS, 1, ones, ones, 0, NULL, product, NULL,
                                 NULL, &report);
}

typedef struct input {
    const char *name;
    tcgemm_status_t (*give)(const void *in);
    const void *value;
    size_t size, least;
} input_t;

static void expect_status(const input_t *in, const void *value, tcgemm_status_t status) {
    const tcgemm_status_t got = in->give(value);
    if (got != status)
        report_failure("%s of %zu bytes: %s: %s", in->name, size_in(value), tcgemm_status_name(got),
                       tcgemm_last_error());
}

static void check_input(const input_t *in) {
    for (size_t size = in->least; size <= in->size + MORE; size += sizeof(int)) {
        char *const value = sized(in->value, in->size, size);
        expect_status(in, value, TCGEMM_STATUS_OK);
        if (size > in->size) {
            value[size - 1] = 1;
            expect_status(in, value, TCGEMM_STATUS_BAD_ARGUMENT);
        }
        free(value);
    }
    for (size_t size = 0; size < in->least; ++size) {
        char *const value = sized(in->value, in->size, size < sizeof size ? sizeof size : size);
        memcpy(value, &size, sizeof size);
        expect_status(in, value, TCGEMM_STATUS_BAD_ARGUMENT);
        free(value);
    }
}

static void inputs_of_every_size(void **state) {
    (void)state;
    const tcgemm_context_options_t context = tcgemm_context_options();
    const tcgemm_problem_t problem = tcgemm_problem(TCGEMM_F32_F32, 4, 4, 4);
    const tcgemm_tiles_t tiles = tcgemm_tiles(2, 2, 2);
    check_input(&(input_t){"context_options", give_context, &context, sizeof context,
                           offsetof(tcgemm_context_options_t, known_gpu)});
    check_input(&(input_t){"problem", give_problem, &problem, sizeof problem,
                           offsetof(tcgemm_problem_t, lda)});
    check_input(
        &(input_t){"tiles", give_tiles, &tiles, sizeof tiles, offsetof(tcgemm_tiles_t, group)});
    assert_no_failures();
}

/* An old problem is one product without strides, whatever comes after it in memory. */
static void what_an_old_problem_lacks_is_as_it_was(void **state) {
    (void)state;
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 4, 4, 4);
    p.batch = 1000;
    p.lda = 1;
    p.struct_size = offsetof(tcgemm_problem_t, lda);
    memset(product, 0, sizeof product);
    assert_int_equal(tcgemm_gemm(&p, 1, ones, ones, 0, NULL, product), TCGEMM_STATUS_OK);
    for (int i = 0; i < 16; ++i)
        assert_true(product[i] == 4.0f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_of_every_size),
        cmocka_unit_test(inputs_of_every_size),
        cmocka_unit_test(what_an_old_problem_lacks_is_as_it_was),
    };
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 4, 4, 4);
    if (tcgemm_plan_create(context_of(1), &p, NULL, &plan) != TCGEMM_STATUS_OK)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tcgemm_plan_destroy(plan);
    return failed;
}
