/* Structs of callers that were compiled for another version: nothing is read or written beyond
 * their struct_size (each stands at the end of its own allocation, which a sanitizer watches). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/struct.h"
#include "support/support.h"

typedef struct small {
    size_t struct_size;
    int64_t first;
} small_t;

typedef struct ours {
    size_t struct_size;
    int64_t first, second;
} ours_t;

typedef struct large {
    size_t struct_size;
    int64_t first, second, third;
} large_t;

static const ours_t defaults = {.struct_size = 77, .first = -1, .second = -2};

static tcgemm_status_t read_from(const void *from, ours_t *to) {
    *to = defaults;
    return tcgemm_struct_read("options", from, TCGEMM_STRUCT_END(ours_t, first), to, sizeof *to);
}

/* A copy of `bytes` bytes without a byte to spare. */
static void *exact(const void *from, size_t bytes) {
    void *const copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, from, bytes);
    return copy;
}

static void an_older_input_gets_defaults(void **state) {
    (void)state;
    ours_t got;
    const small_t old = {.struct_size = sizeof old, .first = 5};
    void *const from = exact(&old, sizeof old);
    assert_int_equal(read_from(from, &got), TCGEMM_STATUS_OK);
    assert_int_equal(got.struct_size, sizeof got);
    assert_int_equal(got.first, 5);
    assert_int_equal(got.second, -2);
    free(from);
}

static void a_newer_input_must_end_in_zeros(void **state) {
    (void)state;
    ours_t got;
    large_t new = {.struct_size = sizeof new, .first = 5, .second = 6};
    assert_int_equal(read_from(&new, &got), TCGEMM_STATUS_OK);
    assert_int_equal(got.struct_size, sizeof got);
    assert_int_equal(got.first, 5);
    assert_int_equal(got.second, 6);
    for (size_t byte = sizeof(ours_t); byte < sizeof new; ++byte) {
        large_t set = new;
        ((char *)&set)[byte] = 1;
        assert_int_equal(read_from(&set, &got), TCGEMM_STATUS_BAD_ARGUMENT);
        assert_non_null(strstr(tcgemm_last_error(), "options->struct_size is 32"));
        assert_non_null(strstr(tcgemm_last_error(), "24 bytes"));
    }
}

static void sizes_that_no_version_has_are_refused(void **state) {
    (void)state;
    ours_t got;
    for (size_t size = 0; size < sizeof(small_t); ++size) {
        void *const from = exact(&size, sizeof size);
        assert_int_equal(read_from(from, &got), TCGEMM_STATUS_BAD_ARGUMENT);
        assert_non_null(strstr(tcgemm_last_error(), "expected 24"));
        free(from);
    }
    assert_int_equal(read_from(NULL, &got), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(tcgemm_last_error(), "options is NULL"));
}

static void an_output_is_written_as_far_as_it_goes(void **state) {
    (void)state;
    const ours_t result = {.struct_size = sizeof result, .first = 8, .second = 9};
    const small_t old = {.struct_size = sizeof old, .first = 1};
    small_t *const out = exact(&old, sizeof old);
    assert_int_equal(tcgemm_struct_check("info", out, sizeof result), TCGEMM_STATUS_OK);
    tcgemm_struct_write(out, &result, sizeof result);
    assert_int_equal(out->struct_size, sizeof old);
    assert_int_equal(out->first, 8);
    free(out);
    large_t new = {.struct_size = sizeof new, .first = 1, .second = 2, .third = 3};
    tcgemm_struct_write(&new, &result, sizeof result);
    assert_int_equal(new.struct_size, sizeof new);
    assert_int_equal(new.second, 9);
    assert_int_equal(new.third, 3);
}

static void an_output_without_members_is_refused(void **state) {
    (void)state;
    for (size_t size = 0; size <= sizeof size; ++size) {
        void *const out = exact(&size, sizeof size);
        assert_int_equal(tcgemm_struct_check("info", out, 24), TCGEMM_STATUS_BAD_ARGUMENT);
        assert_non_null(strstr(tcgemm_last_error(), "expected 24"));
        free(out);
    }
    assert_int_equal(tcgemm_struct_check("info", NULL, 24), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(tcgemm_last_error(), "info is NULL"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_input_gets_defaults),
        cmocka_unit_test(a_newer_input_must_end_in_zeros),
        cmocka_unit_test(sizes_that_no_version_has_are_refused),
        cmocka_unit_test(an_output_is_written_as_far_as_it_goes),
        cmocka_unit_test(an_output_without_members_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
