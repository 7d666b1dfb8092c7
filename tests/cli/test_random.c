/* Random data depend on seed, operand and index alone, and are spread as promised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/random.h"

enum { COUNT = 5000 };

static void test_known_values(void **state) {
    (void)state;
    /* Written down once: a change here changes everybody's "seed 0". */
    uint8_t bytes[8];
    random_fill(TCGEMM_DTYPE_U8, bytes, 8, 0, 'A');
    static const uint8_t expected[8] = {254, 51, 147, 14, 113, 51, 73, 112};
    assert_memory_equal(bytes, expected, 8);
}

static void test_prefix(void **state) {
    (void)state;
    for (int dtype = TCGEMM_DTYPE_F64; dtype <= TCGEMM_DTYPE_B1; ++dtype) {
        unsigned char whole[COUNT * 8];
        unsigned char part[COUNT * 8];
        const size_t bits = (size_t)tcgemm_dtype_bits((tcgemm_dtype_t)dtype);
        random_fill((tcgemm_dtype_t)dtype, whole, COUNT, 5, 'B');
        random_fill((tcgemm_dtype_t)dtype, part, COUNT / 2, 5, 'B');
        assert_memory_equal(whole, part, COUNT / 2 * bits / 8);
        random_fill((tcgemm_dtype_t)dtype, part, COUNT / 2, 6, 'B');
        assert_memory_not_equal(whole, part, COUNT / 2 * bits / 8);
        random_fill((tcgemm_dtype_t)dtype, part, COUNT / 2, 5, 'A');
        assert_memory_not_equal(whole, part, COUNT / 2 * bits / 8);
    }
}

static void test_float_range(void **state) {
    (void)state;
    double values[COUNT];
    double sum = 0;
    double squares = 0;
    random_fill(TCGEMM_DTYPE_F64, values, COUNT, 1, 'A');
    for (int i = 0; i < COUNT; ++i) {
        assert_true(values[i] >= -1 && values[i] < 1);
        sum += values[i];
        squares += values[i] * values[i];
    }
    assert_true(sum / COUNT > -0.05 && sum / COUNT < 0.05);
    assert_true(squares / COUNT > 0.31 && squares / COUNT < 0.36); /* 1/3 */
}

static void test_integer_range(void **state) {
    (void)state;
    uint8_t values[COUNT];
    int seen[256] = {0};
    random_fill(TCGEMM_DTYPE_U8, values, COUNT, 1, 'A');
    for (int i = 0; i < COUNT; ++i)
        ++seen[values[i]];
    for (int i = 0; i < 256; ++i)
        assert_true(seen[i] > 0);
    int32_t wide[COUNT];
    int negative = 0;
    random_fill(TCGEMM_DTYPE_S32, wide, COUNT, 1, 'C');
    for (int i = 0; i < COUNT; ++i)
        negative += wide[i] < 0;
    assert_true(negative > COUNT * 2 / 5 && negative < COUNT * 3 / 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_float_range),
        cmocka_unit_test(test_integer_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
