/* Formats bit by bit: every pattern of the short ones, every rounding between neighbours, every
 * pair of tcgemm_convert, against the definitions in tests/support/oracle.c and facts known from
 * outside.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "support/oracle.h"
#include "support/support.h"

static const tcgemm_dtype_t short_floats[] = {TCGEMM_DTYPE_F16, TCGEMM_DTYPE_BF16,
                                              TCGEMM_DTYPE_E4M3, TCGEMM_DTYPE_E5M2};

static bool same(double x, double y) {
    return isnan(x) ? isnan(y) : x == y && signbit(x) == signbit(y);
}

/* What ml_dtypes and the OCP specification say. */
static void known_values(void **state) {
    (void)state;
    static const struct {
        tcgemm_dtype_t dtype;
        uint16_t bits;
        double value;
    } facts[] = {
        {TCGEMM_DTYPE_E4M3, 0x7E, 448.0},
        {TCGEMM_DTYPE_E4M3, 0x01, 0x1p-9},
        {TCGEMM_DTYPE_E4M3, 0x08, 0x1p-6},
        {TCGEMM_DTYPE_E4M3, 0x38, 1.0},
        {TCGEMM_DTYPE_E4M3, 0xFE, -448.0},
        {TCGEMM_DTYPE_E4M3, 0x78, 256.0},
        {TCGEMM_DTYPE_E4M3, 0x7F, (double)NAN},
        {TCGEMM_DTYPE_E4M3, 0xFF, (double)NAN},
        {TCGEMM_DTYPE_E5M2, 0x7B, 57344.0},
        {TCGEMM_DTYPE_E5M2, 0x01, 0x1p-16},
        {TCGEMM_DTYPE_E5M2, 0x04, 0x1p-14},
        {TCGEMM_DTYPE_E5M2, 0x3C, 1.0},
        {TCGEMM_DTYPE_E5M2, 0x7C, (double)INFINITY},
        {TCGEMM_DTYPE_E5M2, 0xFC, -(double)INFINITY},
        {TCGEMM_DTYPE_E5M2, 0x7D, (double)NAN},
        {TCGEMM_DTYPE_E5M2, 0x7F, (double)NAN},
        {TCGEMM_DTYPE_F16, 0x7BFF, 65504.0},
        {TCGEMM_DTYPE_F16, 0x0001, 0x1p-24},
        {TCGEMM_DTYPE_F16, 0x3C00, 1.0},
        {TCGEMM_DTYPE_F16, 0x8000, -0.0},
        {TCGEMM_DTYPE_BF16, 0x3F80, 1.0},
        {TCGEMM_DTYPE_BF16, 0x0001, 0x1p-133},
        {TCGEMM_DTYPE_BF16, 0x7F7F, 0x1.FEp127},
    };
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; ++i) {
        uint16_t array[4] = {0};
        oracle_set_bits(facts[i].dtype, array, 1, facts[i].bits);
        const double library = tcgemm_load_float(facts[i].dtype, array, 1);
        const double oracle = oracle_decode(facts[i].dtype, facts[i].bits);
        if (!same(library, facts[i].value) || !same(oracle, facts[i].value))
            report_failure("%s 0x%X: library %a, oracle %a, known %a",
                           tcgemm_dtype_name(facts[i].dtype), facts[i].bits, library, oracle,
                           facts[i].value);
    }
    assert_no_failures();
}

static void every_pattern_decodes_and_returns(void **state) {
    (void)state;
    for (size_t f = 0; f < 4; ++f) {
        const tcgemm_dtype_t dtype = short_floats[f];
        for (uint32_t bits = 0; bits < 1u << oracle_bits(dtype); ++bits) {
            const uint16_t array[2] = {(uint16_t)bits, 0};
            uint16_t back[2] = {0, 0};
            const double value = tcgemm_load_float(dtype, array, 0);
            tcgemm_store_float(dtype, back, 0, value);
            const bool kept = isnan(value) ? isnan(oracle_decode(dtype, back[0])) : back[0] == bits;
            if (!same(value, oracle_decode(dtype, bits)) || !kept)
                report_failure("%s 0x%X: %a, expected %a; stored as 0x%X", tcgemm_dtype_name(dtype),
                               bits, value, oracle_decode(dtype, bits), back[0]);
        }
    }
    assert_no_failures();
}

static void check_store(tcgemm_dtype_t dtype, double value) {
    uint16_t bits = 0;
    tcgemm_store_float(dtype, &bits, 0, value);
    const double expected = oracle_decode(dtype, oracle_encode(dtype, value));
    if (!same(oracle_decode(dtype, bits), expected))
        report_failure("%s of %a is %a, expected %a", tcgemm_dtype_name(dtype), value,
                       oracle_decode(dtype, bits), expected);
}

/* At, just below, half-way, just above and beside every number of the format, of both signs. */
static void every_rounding(void **state) {
    (void)state;
    for (size_t f = 0; f < 4; ++f) {
        const tcgemm_dtype_t dtype = short_floats[f];
        for (uint32_t bits = 0; bits + 1 < 1u << (oracle_bits(dtype) - 1); ++bits) {
            const double low = oracle_decode(dtype, bits);
            double high = oracle_decode(dtype, bits + 1);
            if (!isfinite(low))
                continue;
            if (!isfinite(high)) /* the step past the largest number */
                high = low + (low - oracle_decode(dtype, bits - 1));
            const double half = low + (high - low) / 2;
            const double points[] = {low,  nextafter(half, low), half, nextafter(half, high),
                                     high, high * 1.001};
            for (size_t i = 0; i < sizeof points / sizeof points[0]; ++i) {
                check_store(dtype, points[i]);
                check_store(dtype, -points[i]);
            }
        }
        check_store(dtype, (double)INFINITY);
        check_store(dtype, -(double)INFINITY);
        check_store(dtype, (double)NAN);
        check_store(dtype, 1e300);
        check_store(dtype, 0x1p-1074);
    }
    assert_no_failures();
}

/* The float-to-float functions that packing and finishing use. */
static void fast_roundings(void **state) {
    (void)state;
    uint64_t random = 1;
    const int64_t count = at_level(200000, 4000000, 100000000);
    for (int64_t i = 0; i < count; ++i) {
        uint32_t bits = (uint32_t)random_next(&random);
        if (i % 4 == 0) /* near a tie of f16, bf16 or tf32 */
            bits = (bits & 0xFFFF0000u) | ((bits & 1u) ? 0x8000u : 0x1000u) | (bits >> 7 & 0x3000u);
        const float x = tcgemm_f32_of_bits(bits);
        const double h = oracle_decode(TCGEMM_DTYPE_F16, tcgemm_f16_of_f32(x));
        const double b = oracle_decode(TCGEMM_DTYPE_BF16, tcgemm_bf16_of_f32(x));
        const double t = (double)tcgemm_tf32_of_f32(x);
        const double expected_h =
            oracle_decode(TCGEMM_DTYPE_F16, oracle_encode(TCGEMM_DTYPE_F16, (double)x));
        const double expected_b =
            oracle_decode(TCGEMM_DTYPE_BF16, oracle_encode(TCGEMM_DTYPE_BF16, (double)x));
        if (!same(h, expected_h) || !same(b, expected_b) || !same(t, (double)oracle_tf32(x)))
            report_failure("0x%08X: f16 %a (%a), bf16 %a (%a), tf32 %a (%a)", bits, h, expected_h,
                           b, expected_b, t, (double)oracle_tf32(x));
    }
    assert_no_failures();
}

/* ---- tcgemm_convert, every pair ---- */

static double expected_value(tcgemm_dtype_t to, double value) {
    static const double low[] = {-2147483648.0, -128, 0, -8, 0, 0};
    static const double high[] = {2147483647.0, 127, 255, 7, 15, 1};
    if (oracle_is_float(to))
        return oracle_decode(to, oracle_encode(to, value));
    if (isnan(value))
        return 0.0;
    const int i = (int)to - (int)TCGEMM_DTYPE_S32;
    return value <= low[i] ? low[i] : value >= high[i] ? high[i] : rint(value) + 0.0;
}

static void convert_pair(tcgemm_dtype_t to, tcgemm_dtype_t from) {
    enum { COUNT = 203 };
    uint64_t source[COUNT + 1];
    uint64_t target[COUNT + 1];
    uint64_t random = (uint64_t)to * 64 + (uint64_t)from;
    for (int i = 0; i <= COUNT; ++i)
        source[i] = random_next(&random);
    static const double special[] = {0.5,
                                     1.5,
                                     2.5,
                                     -0.5,
                                     7.5,
                                     127.5,
                                     255.5,
                                     -128.5,
                                     1e30,
                                     -1e30,
                                     (double)NAN,
                                     (double)INFINITY,
                                     -(double)INFINITY};
    for (int i = 0; oracle_is_float(from) && i < COUNT; ++i)
        oracle_set(from, source, i,
                   i < 13 ? special[i] : ldexp(2 * random_unit(&random) - 1, i % 12));
    memset(target, 0x5A, sizeof target);
    const tcgemm_status_t status = tcgemm_convert(to, target, from, source, COUNT);
    if (status != TCGEMM_STATUS_OK)
        report_failure("%s to %s: %s", tcgemm_dtype_name(from), tcgemm_dtype_name(to),
                       tcgemm_status_name(status));
    for (int i = 0; i < COUNT; ++i) {
        const double value = oracle_get(from, source, i);
        const double got = oracle_get(to, target, i);
        const double expected = expected_value(to, value);
        if (!(got == expected || (isnan(got) && isnan(expected))))
            report_failure("%s to %s: %a became %a, expected %a", tcgemm_dtype_name(from),
                           tcgemm_dtype_name(to), value, got, expected);
    }
    const size_t written = (size_t)(COUNT * oracle_bits(to) + 7) / 8;
    for (size_t i = written; i < sizeof target; ++i)
        if (((uint8_t *)target)[i] != 0x5A) {
            report_failure("%s to %s wrote beyond its end", tcgemm_dtype_name(from),
                           tcgemm_dtype_name(to));
            break;
        }
    if (COUNT * oracle_bits(to) % 8 != 0 &&
        oracle_get_bits(to, target, COUNT) !=
            (0x5Au >> (COUNT * oracle_bits(to) % 8) & ((1u << oracle_bits(to)) - 1)))
        report_failure("%s to %s changed the rest of its last byte", tcgemm_dtype_name(from),
                       tcgemm_dtype_name(to));
}

static void convert_every_pair(void **state) {
    (void)state;
    for (int to = 1; to <= 12; ++to)
        for (int from = 1; from <= 12; ++from)
            convert_pair((tcgemm_dtype_t)to, (tcgemm_dtype_t)from);
    assert_no_failures();
}

static void convert_statuses(void **state) {
    (void)state;
    float x[2] = {1, 2};
    float y[2];
    const tcgemm_dtype_t f32 = TCGEMM_DTYPE_F32;
    assert_int_equal(tcgemm_convert((tcgemm_dtype_t)0, y, f32, x, 1), TCGEMM_STATUS_BAD_TYPE);
    assert_int_equal(tcgemm_convert(f32, y, (tcgemm_dtype_t)13, x, 1), TCGEMM_STATUS_BAD_TYPE);
    assert_non_null(strstr(tcgemm_last_error(), "13"));
    assert_int_equal(tcgemm_convert(f32, y, f32, x, -1), TCGEMM_STATUS_BAD_SHAPE);
    assert_non_null(strstr(tcgemm_last_error(), "-1"));
    assert_int_equal(tcgemm_convert(f32, NULL, f32, x, 1), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_convert(f32, y, f32, NULL, 1), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_convert(f32, NULL, f32, NULL, 0), TCGEMM_STATUS_OK);
}

static void widths(void **state) {
    (void)state;
    for (int d = TCGEMM_DTYPE_F64; d <= TCGEMM_DTYPE_B1; ++d) {
        assert_int_equal(tcgemm_bits_of_dtype((tcgemm_dtype_t)d),
                         tcgemm_dtype_bits((tcgemm_dtype_t)d));
        assert_int_equal(tcgemm_bits_of_dtype((tcgemm_dtype_t)d), oracle_bits((tcgemm_dtype_t)d));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(every_pattern_decodes_and_returns),
        cmocka_unit_test(every_rounding),
        cmocka_unit_test(fast_roundings),
        cmocka_unit_test(convert_every_pair),
        cmocka_unit_test(convert_statuses),
        cmocka_unit_test(widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
