/* The model of matrix tiles against the processor's: the same panels through the kernels and
 * through the functions that stand in for instructions, bit by bit - rounding, subnormals,
 * infinities, the order of sums. Skipped where there are no tiles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/kernels/amx_model.h"
#include "cpu/kernels/kernels.h"
#include "host/features.h"
#include "support/support.h"

enum { STEPS = 3, SIDE = 32, WORDS = STEPS * SIDE * 16 };

static uint32_t a[WORDS], b[WORDS];
static float got[SIDE][SIDE];
static uint32_t expected[SIDE][SIDE];

typedef enum operands { BF16, F16, S8S8, S8U8, U8S8, U8U8 } operands_t;

static bool is_float(operands_t of) {
    return of == BF16 || of == F16;
}

static bool a_is_signed(operands_t of) {
    return of == S8S8 || of == S8U8;
}

static bool b_is_signed(operands_t of) {
    return of == S8S8 || of == U8S8;
}

/* bf16 or f16 of any size, or around one size so that sums cancel and become subnormal. */
static uint32_t random_half(operands_t of, uint64_t *random, int kind) {
    const uint16_t bits = (uint16_t)random_next(random);
    if (kind == 0)
        return bits; /* NaN and infinities, too */
    if (of == F16)   /* normal, or subnormal and zero as often */
        return kind == 1 ? (bits & 0x83FFu) | (12 + (uint32_t)random_below(random, 6)) << 10
                         : bits & (bits & 1u ? 0x83FFu : 0xBFFFu);
    const uint32_t exponent =
        (uint32_t)(kind == 1 ? 120 + random_below(random, 12) : random_below(random, 3) * 63);
    return (bits & 0x807Fu) | exponent << 7;
}

static void fill(uint32_t *panel, operands_t of, int kind, uint64_t *random) {
    for (int i = 0; i < WORDS; ++i)
        panel[i] = is_float(of)
                       ? random_half(of, random, kind) | random_half(of, random, kind) << 16
                       : (uint32_t)random_next(random);
}

/* The loops of a kernel, for one of the four tiles of sums. */
static void play(int i, int j, operands_t of) {
    amx_config_t config = {.palette = 1};
    memset(config.rows, 16, 8);
    for (int t = 0; t < 8; ++t)
        config.row_bytes[t] = 64;
    amx_model_configure(&config);
    amx_model_zero(0);
    for (int step = 0; step < STEPS; ++step) {
        amx_model_load(1, a + (step * SIDE + i) * 16, 64);
        amx_model_load(2, b + step * SIDE * 16 + j, (int64_t)SIDE * 4);
        if (is_float(of))
            amx_model_dot_pairs(0, 1, 2, of == BF16);
        else
            amx_model_dot_bytes(0, 1, 2, a_is_signed(of), b_is_signed(of));
    }
    amx_model_store(0, &expected[i][j], (int64_t)SIDE * 4);
}

static bool is_same(uint32_t x, uint32_t y, operands_t of) {
    const bool x_is_nan = (x & 0x7FFFFFFFu) > 0x7F800000u;
    const bool y_is_nan = (y & 0x7FFFFFFFu) > 0x7F800000u;
    return x == y || (is_float(of) && x_is_nan && y_is_nan);
}

static void compare(operands_t of, int kind, uint64_t seed) {
    uint64_t random = seed;
    fill(a, of, kind, &random);
    fill(b, of, kind, &random);
    tcgemm_tile_t t = {.steps = STEPS,
                       .a = a,
                       .a_row = 1,
                       .a_step = SIDE,
                       .b = b,
                       .d = got,
                       .ldd = SIDE,
                       .m = SIDE,
                       .n = SIDE,
                       .a_is_signed = a_is_signed(of),
                       .b_is_signed = b_is_signed(of)};
    if (is_float(of))
        t.alpha.f32 = 1.0f;
    else
        t.alpha.s32 = 1;
    tcgemm_begin_amx();
    (of == BF16  ? tcgemm_tile_amx_bf16x32
     : of == F16 ? tcgemm_tile_amx_f16x32
                 : tcgemm_tile_amx_i8x64)(&t);
    tcgemm_end_amx();
    for (int i = 0; i < SIDE; i += 16)
        for (int j = 0; j < SIDE; j += 16)
            play(i, j, of);
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j) {
            uint32_t bits;
            memcpy(&bits, &got[i][j], sizeof bits);
            if (!is_same(bits, expected[i][j], of)) {
                report_failure("operands %d, kind %d, seed %llu: (%d, %d) is %#x, by the model %#x",
                               of, kind, (unsigned long long)seed, i, j, bits, expected[i][j]);
                return;
            }
        }
}

static void compare_all(uint32_t needs, operands_t first, operands_t last) {
    if ((tcgemm_cpu_features() & needs) != needs)
        skip();
    for (int64_t seed = 1; seed <= at_level(20, 50, 5000); ++seed)
        for (operands_t of = first; of <= last; ++of)
            for (int kind = 0; kind < (is_float(of) ? 3 : 1); ++kind)
                compare(of, kind, (uint64_t)seed);
    assert_no_failures();
}

static void products_of_bf16(void **state) {
    (void)state;
    compare_all(TCGEMM_CPU_AMX_BF16, BF16, BF16);
}

static void products_of_f16(void **state) {
    (void)state;
    compare_all(TCGEMM_CPU_AMX_FP16, F16, F16);
}

static void products_of_bytes(void **state) {
    (void)state;
    compare_all(TCGEMM_CPU_AMX_INT8, S8S8, U8U8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_bf16),
        cmocka_unit_test(products_of_f16),
        cmocka_unit_test(products_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
