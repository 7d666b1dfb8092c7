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

/* bf16 of any size, or around one size so that sums cancel and become subnormal. */
static uint16_t random_bf16(uint64_t *random, int kind) {
    const uint16_t bits = (uint16_t)random_next(random);
    if (kind == 0)
        return bits; /* NaN and infinities, too */
    const uint16_t exponent =
        (uint16_t)(kind == 1 ? 120 + random_below(random, 12) : random_below(random, 3) * 63);
    return (uint16_t)((bits & 0x807Fu) | (unsigned)exponent << 7);
}

static void fill(uint32_t *panel, bool is_bf16, int kind, uint64_t *random) {
    for (int i = 0; i < WORDS; ++i)
        panel[i] = is_bf16 ? random_bf16(random, kind) | (uint32_t)random_bf16(random, kind) << 16
                           : (uint32_t)random_next(random);
}

/* The loops of a kernel, for one of the four tiles of sums. */
static void play(int i, int j, bool is_bf16, bool a_is_signed, bool b_is_signed) {
    amx_config_t config = {.palette = 1};
    memset(config.rows, 16, 8);
    for (int t = 0; t < 8; ++t)
        config.row_bytes[t] = 64;
    amx_model_configure(&config);
    amx_model_zero(0);
    for (int step = 0; step < STEPS; ++step) {
        amx_model_load(1, a + (step * SIDE + i) * 16, 64);
        amx_model_load(2, b + step * SIDE * 16 + j, (int64_t)SIDE * 4);
        if (is_bf16)
            amx_model_dot_bf16(0, 1, 2);
        else
            amx_model_dot_bytes(0, 1, 2, a_is_signed, b_is_signed);
    }
    amx_model_store(0, &expected[i][j], (int64_t)SIDE * 4);
}

static bool is_same(uint32_t x, uint32_t y, bool is_float) {
    const bool x_is_nan = (x & 0x7FFFFFFFu) > 0x7F800000u;
    const bool y_is_nan = (y & 0x7FFFFFFFu) > 0x7F800000u;
    return x == y || (is_float && x_is_nan && y_is_nan);
}

static void compare(bool is_bf16, bool a_is_signed, bool b_is_signed, int kind, uint64_t seed) {
    uint64_t random = seed;
    fill(a, is_bf16, kind, &random);
    fill(b, is_bf16, kind, &random);
    tcgemm_tile_t t = {.steps = STEPS,
                       .a = a,
                       .b = b,
                       .d = got,
                       .ldd = SIDE,
                       .m = SIDE,
                       .n = SIDE,
                       .a_is_signed = a_is_signed,
                       .b_is_signed = b_is_signed};
    if (is_bf16)
        t.alpha.f32 = 1.0f;
    else
        t.alpha.s32 = 1;
    tcgemm_begin_amx();
    (is_bf16 ? tcgemm_tile_amx_bf16x32 : tcgemm_tile_amx_i8x64)(&t);
    tcgemm_end_amx();
    for (int i = 0; i < SIDE; i += 16)
        for (int j = 0; j < SIDE; j += 16)
            play(i, j, is_bf16, a_is_signed, b_is_signed);
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j) {
            uint32_t bits;
            memcpy(&bits, &got[i][j], sizeof bits);
            if (!is_same(bits, expected[i][j], is_bf16)) {
                report_failure("bf16=%d signed=%d,%d kind=%d seed=%llu: (%d, %d) is %#x, by the "
                               "model %#x",
                               is_bf16, a_is_signed, b_is_signed, kind, (unsigned long long)seed, i,
                               j, bits, expected[i][j]);
                return;
            }
        }
}

static void the_model_is_the_processor(void **state) {
    const uint32_t needs = TCGEMM_CPU_AMX_BF16 | TCGEMM_CPU_AMX_INT8;
    (void)state;
    if ((tcgemm_cpu_features() & needs) != needs)
        skip();
    for (int64_t seed = 1; seed <= at_level(20, 50, 5000); ++seed) {
        for (int kind = 0; kind < 3; ++kind)
            compare(true, false, false, kind, (uint64_t)seed);
        for (int signs = 0; signs < 4; ++signs)
            compare(false, signs & 1, signs & 2, 0, (uint64_t)seed);
    }
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_is_the_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
