/* Micro-kernels called directly: every m and n of the register tile, C, D and operands read in
 * place ending at a page that may not be touched, D's neighbours in its rows kept, the exact sum.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cpu/kernels/ukernel.h"
#include "support/guard.h"
#include "support/oracle.h"
#include "support/support.h"
#include "table/family.h"

enum { STEPS = 9, MAX_MR = 32, MAX_NR = 48, MAX_LANE = 64, WORDS = 16, MAX_ALL = 8 };

static guard_t guards[4]; /* A, B, C, D */
static char current[160];

static void on_fault(int number) {
    (void)fprintf(stderr, "FAILED %s: signal %d\n", current, number);
    _exit(1);
}

static bool is_f64(const tcgemm_cpu_ukernel_t *u) {
    return u->family == TCGEMM_FAMILY_F64;
}

static bool is_integer(const tcgemm_cpu_ukernel_t *u) {
    return u->family == TCGEMM_FAMILY_U8S8 || u->family == TCGEMM_FAMILY_S16 ||
           u->family == TCGEMM_FAMILY_B1 || u->family == TCGEMM_FAMILY_I8X64 ||
           u->family == TCGEMM_FAMILY_I8X4 || u->family == TCGEMM_FAMILY_I8X8;
}

static tcgemm_dtype_t output_dtype(const tcgemm_cpu_ukernel_t *u) {
    return is_f64(u) ? TCGEMM_DTYPE_F64 : is_integer(u) ? TCGEMM_DTYPE_S32 : TCGEMM_DTYPE_F32;
}

/* Element h of a lane is small and whole; the lane that holds it. */
static int value_of(int64_t line, int64_t step, int h, bool is_bit) {
    const int64_t x = line * 7 + step * 5 + h * 3;
    return is_bit ? (int)(x % 3 == 0) : (int)(x % 4);
}

static uint64_t lane_of(const tcgemm_cpu_ukernel_t *u, int64_t line, int64_t step) {
    uint64_t lane = 0;
    for (int h = 0; h < u->ku; ++h) {
        const int value = value_of(line, step, h, u->family == TCGEMM_FAMILY_B1);
        switch (u->family) {
        case TCGEMM_FAMILY_F64:
            return oracle_encode(TCGEMM_DTYPE_F64, value);
        case TCGEMM_FAMILY_F32:
            return oracle_encode(TCGEMM_DTYPE_F32, value);
        case TCGEMM_FAMILY_BF16:
        case TCGEMM_FAMILY_BF16X4:
            lane |= oracle_encode(TCGEMM_DTYPE_BF16, value) << (16 * h);
            break;
        case TCGEMM_FAMILY_S16:
            lane |= (uint64_t)value << (16 * h);
            break;
        case TCGEMM_FAMILY_U8S8:
        case TCGEMM_FAMILY_I8X4:
        case TCGEMM_FAMILY_I8X8:
            lane |= (uint64_t)value << (8 * h);
            break;
        case TCGEMM_FAMILY_B1:
        default:
            lane |= (uint64_t)value << h;
            break;
        }
    }
    return lane;
}

static void put_lane(const tcgemm_cpu_ukernel_t *u, uint8_t *base, int64_t index, int64_t line,
                     int64_t step) {
    const uint64_t lane = lane_of(u, line, step);
    memcpy(base + index * u->lane_bytes, &lane, (size_t)u->lane_bytes);
}

static bool has_words(const tcgemm_cpu_ukernel_t *u) {
    return u->lane_bytes == 4 * WORDS;
}

/* A lane of 16 words, where a panel of A or B has it (ukernel.h). */
static void put_words(const tcgemm_cpu_ukernel_t *u, uint8_t *base, bool is_b, int64_t step,
                      int64_t at, int64_t line) {
    const int each = u->ku / WORDS;
    for (int w = 0; w < WORDS; ++w) {
        uint32_t word = 0;
        for (int h = 0; h < each; ++h) {
            const int value = value_of(line, step, w * each + h, false);
            const uint64_t bits =
                u->family == TCGEMM_FAMILY_BF16X32  ? oracle_encode(TCGEMM_DTYPE_BF16, value)
                : u->family == TCGEMM_FAMILY_F16X32 ? oracle_encode(TCGEMM_DTYPE_F16, value)
                                                    : (uint64_t)value;
            word |= (uint32_t)bits << (h * 32 / each);
        }
        const int64_t index =
            is_b ? (step * WORDS + w) * u->nr + at : (step * u->mr + at) * WORDS + w;
        memcpy(base + index * 4, &word, sizeof word);
    }
}

static int64_t exact_sum(const tcgemm_cpu_ukernel_t *u, int64_t i, int64_t j) {
    const bool is_bit = u->family == TCGEMM_FAMILY_B1;
    int64_t sum = 0;
    for (int64_t step = 0; step < STEPS; ++step)
        for (int h = 0; h < u->ku; ++h)
            sum += value_of(i, step, h, is_bit) * value_of(j + 100, step, h, is_bit);
    return sum;
}

/* Panels as packing makes them; or A and B as the caller stores them, B's rows n apart. */
static void set_operands(const tcgemm_cpu_ukernel_t *u, tcgemm_tile_t *t, bool packed) {
    const int64_t a_row = packed ? 1 : STEPS;
    const int64_t a_step = packed ? u->mr : 1;
    const int64_t b_step = packed ? u->nr : t->n;
    const int64_t rows = packed ? u->mr : t->m;
    const int64_t cols = packed ? u->nr : t->n;
    uint8_t *a = guard_place(&guards[0], (size_t)(rows * STEPS * u->lane_bytes), true);
    uint8_t *b = guard_place(&guards[1], (size_t)(cols * STEPS * u->lane_bytes), true);
    for (int64_t step = 0; step < STEPS; ++step) {
        for (int64_t i = 0; i < rows && !has_words(u); ++i)
            put_lane(u, a, i * a_row + step * a_step, i, step);
        for (int64_t j = 0; j < cols && !has_words(u); ++j)
            put_lane(u, b, j + step * b_step, j + 100, step);
        for (int64_t i = 0; i < rows && has_words(u); ++i)
            put_words(u, a, false, step, i, i);
        for (int64_t j = 0; j < cols && has_words(u); ++j)
            put_words(u, b, true, step, j, j + 100);
    }
    t->a = a;
    t->b = b;
    t->a_row = a_row;
    t->a_step = a_step;
    t->b_step = b_step;
    t->fetches = !packed && t->m % 2 == 0;
    t->ahead = 3 * b_step; /* beyond the last step, too */
    t->next = a;
    t->next_step = 48;
}

static void set_scalars(const tcgemm_cpu_ukernel_t *u, tcgemm_tile_t *t, int alpha, int beta) {
    t->scale = 1;
    if (is_f64(u)) {
        t->alpha.f64 = alpha;
        t->beta.f64 = beta;
    } else if (is_integer(u)) {
        t->alpha.s32 = (uint32_t)alpha;
        t->beta.s32 = (uint32_t)beta;
    } else {
        t->alpha.f32 = (float)alpha;
        t->beta.f32 = (float)beta;
    }
}

/* Sums left in memory after every fourth step and taken up again; nothing else is touched. */
static void run_in_parts(const tcgemm_cpu_ukernel_t *u, tcgemm_tile_fn *function,
                         const tcgemm_tile_t *whole) {
    enum { PART = 4 };
    static _Alignas(64) uint8_t partial[MAX_MR * MAX_NR * 8];
    tcgemm_tile_t t = *whole;
    t.partial = partial;
    for (int64_t step = 0; step < whole->steps; step += PART) {
        t.steps = whole->steps - step < PART ? whole->steps - step : PART;
        t.a = (const uint8_t *)whole->a + step * whole->a_step * u->lane_bytes;
        t.b = (const uint8_t *)whole->b + step * whole->b_step * u->lane_bytes;
        t.resumes = step > 0;
        t.pauses = step + PART < whole->steps;
        t.d = t.pauses ? NULL : whole->d;
        function(&t);
    }
}

/* How a tile is done, and all combinations of it. */
enum { WITH_C = 1, PLAIN = 2, STORES_PARTS = 4, IN_PARTS = 8, ALL_WAYS = 16 };

static void check_tile(const tcgemm_kernel_t *kernel, tcgemm_tile_fn *function, int m, int n,
                       bool packed, int way) {
    const bool with_c = way & WITH_C;
    const int alpha = way & PLAIN ? 1 : 2, beta = way & PLAIN ? 1 : 3;
    const tcgemm_cpu_ukernel_t *u = kernel->cpu;
    const tcgemm_dtype_t dtype = output_dtype(u);
    const int bytes = oracle_bits(dtype) / 8;
    tcgemm_tile_t t = {.steps = STEPS,
                       .m = m,
                       .n = n,
                       .ldd = n + 3,
                       .ldc = n + 1,
                       .stores_parts = way & STORES_PARTS};
    t.a_is_signed = m & 1; /* of either sign the elements are the same */
    t.b_is_signed = u->family == TCGEMM_FAMILY_I8X4 ? t.a_is_signed : n & 1;
    set_operands(u, &t, packed);
    set_scalars(u, &t, alpha, beta);
    uint8_t *d = guard_place(&guards[3], (size_t)(((m - 1) * t.ldd + n) * bytes), true);
    uint8_t *c = guard_place(&guards[2], (size_t)(((m - 1) * t.ldc + n) * bytes), true);
    memset(d - 64, 0x5A, (size_t)(64 + ((m - 1) * t.ldd + n) * bytes));
    for (int64_t e = 0; e < (m - 1) * t.ldc + n; ++e)
        oracle_set(dtype, c, e, (double)(e % 5));
    t.d = d;
    t.c = with_c ? c : NULL;
    if (u->begin)
        u->begin();
    if (way & IN_PARTS)
        run_in_parts(u, function, &t);
    else
        function(&t);
    if (u->end)
        u->end();
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
            const double expected = alpha * (double)exact_sum(u, i, j) +
                                    (with_c ? beta * (double)((i * t.ldc + j) % 5) : 0.0);
            const double got = oracle_get(dtype, d, i * t.ldd + j);
            if (got != expected) {
                report_failure("%s: (%lld, %lld) is %g, expected %g", current, (long long)i,
                               (long long)j, got, expected);
                return;
            }
        }
    for (int64_t i = -64; i < ((m - 1) * t.ldd + n) * bytes; ++i) {
        const int64_t column = i < 0 ? t.ldd : i / bytes % t.ldd;
        if (column >= n && d[i] != 0x5A) {
            report_failure("%s: byte %lld beside D changed", current, (long long)i);
            return;
        }
    }
}

/* Of large tiles those sizes that are near a boundary, and every fifth. */
static bool is_tried(int size, int most) {
    return most <= MAX_ALL || size % 5 == 0 || size % 16 <= 1 || size % 16 == 15;
}

/* Tiles of m rows, and all columns, in so many of the ways. */
static void check_rows(const tcgemm_kernel_t *kernel, tcgemm_tile_fn *function, const char *name,
                       int m, bool packed, int ways) {
    for (int n = 1; n <= kernel->nr; ++n)
        for (int way = 0; way < ways; ++way) {
            if (kernel->mr > MAX_ALL && !is_tried(n, kernel->nr))
                continue;
            (void)snprintf(current, sizeof current, "%s %s tile m=%d n=%d%s%s%s%s", kernel->name,
                           name, m, n, way & WITH_C ? " with C" : "", way & PLAIN ? " plain" : "",
                           way & STORES_PARTS ? ", stored in parts" : "",
                           way & IN_PARTS ? ", in parts" : "");
            check_tile(kernel, function, m, n, packed, way);
        }
}

static void check_kernel(const tcgemm_kernel_t *kernel) {
    const tcgemm_cpu_ukernel_t *u = kernel->cpu;
    const struct {
        const char *name;
        tcgemm_tile_fn *function;
        bool packed;
    } functions[] = {{"packed", u->packed, true},
                     {"strided", u->strided, false},
                     {"exact", u->exact, true},
                     {"exact, by strides", u->strided ? u->exact : NULL, false}};
    const int ways = tcgemm_can_pause(u->family) ? ALL_WAYS : IN_PARTS;
    for (int f = 0; f < 4; ++f)
        for (int m = 1; functions[f].function && m <= kernel->mr; ++m)
            if (is_tried(m, kernel->mr))
                check_rows(kernel, functions[f].function, functions[f].name, m, functions[f].packed,
                           ways);
    /* By strides of several tiles below one another. */
    for (int m = 2 * kernel->mr - 1; u->strided && m <= MAX_MR; m += 3)
        check_rows(kernel, u->strided, "strided", m, false, IN_PARTS);
}

static bool runs_here(const tcgemm_kernel_t *kernel) {
    return kernel->cpu && kernel->family->fits(kernel, NULL);
}

/* B's panel, in whole vectors, from a B in place that is to be fetched ahead as well. */
static void check_copy(const tcgemm_kernel_t *kernel, int n) {
    enum { BEYOND = 64 };
    static _Alignas(64) uint8_t panel[STEPS * MAX_NR * 8 + BEYOND];
    const tcgemm_cpu_ukernel_t *u = kernel->cpu;
    const int bytes = u->lane_bytes, lanes = tcgemm_vector_bytes(u) / bytes;
    const int width = (n + lanes - 1) / lanes * lanes;
    tcgemm_tile_t t = {.steps = STEPS, .m = u->mr, .n = n, .ldd = n, .copy_step = width};
    set_operands(u, &t, false);
    set_scalars(u, &t, 2, 3);
    t.d = guard_place(&guards[3], (size_t)(u->mr * n * bytes), true);
    t.copy = panel;
    memset(panel, 0x5A, sizeof panel);
    u->strided(&t);
    for (int64_t e = 0; e < (int64_t)u->mr * n; ++e)
        if (oracle_get(output_dtype(u), t.d, e) != 2.0 * (double)exact_sum(u, e / n, e % n))
            report_failure("%s: element %lld of D is wrong", current, (long long)e);
    for (int64_t step = 0; step < STEPS; ++step)
        for (int64_t j = 0; j < width; ++j) {
            const uint64_t expected = j < n ? lane_of(u, j + 100, step) : 0;
            if (memcmp(panel + (step * width + j) * bytes, &expected, (size_t)bytes) != 0)
                report_failure("%s: column %lld of step %lld is not B's", current, (long long)j,
                               (long long)step);
        }
    for (int64_t at = (int64_t)STEPS * width * bytes; at < (int64_t)sizeof panel; ++at)
        if (panel[at] != 0x5A)
            report_failure("%s: byte %lld behind the panel changed", current, (long long)at);
}

static void tiles_leave_their_panel_of_b(void **state) {
    (void)state;
    for (int row = 0; row < tcgemm_num_kernels(); ++row) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(row);
        const tcgemm_cpu_ukernel_t *u = kernel->cpu;
        if (!runs_here(kernel) || !u->strided || !tcgemm_can_copy(u) ||
            (u->family != TCGEMM_FAMILY_F32 && u->family != TCGEMM_FAMILY_F64))
            continue;
        for (int n = 1; n <= u->nr; ++n) {
            (void)snprintf(current, sizeof current, "%s copy n=%d", kernel->name, n);
            check_copy(kernel, n);
        }
    }
    assert_no_failures();
}

static void tiles_keep_within_their_matrices(void **state) {
    (void)state;
    for (int row = 0; row < tcgemm_num_kernels(); ++row)
        if (runs_here(tcgemm_kernel_at(row)))
            check_kernel(tcgemm_kernel_at(row));
    assert_no_failures();
}

static int make_guards(void **state) {
    (void)state;
    for (int i = 0; i < 4; ++i)
        guards[i] = guard_make((size_t)(MAX_MR + 4) * (MAX_NR + 4) * STEPS * MAX_LANE);
    (void)signal(SIGSEGV, on_fault);
    return 0;
}

static int free_guards(void **state) {
    (void)state;
    (void)signal(SIGSEGV, SIG_DFL);
    for (int i = 0; i < 4; ++i)
        guard_free(&guards[i]);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_keep_within_their_matrices),
        cmocka_unit_test(tiles_leave_their_panel_of_b),
    };
    return cmocka_run_group_tests(tests, make_guards, free_guards);
}
