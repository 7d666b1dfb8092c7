/* Kernels of a few rows times lines along or across k, called directly: lines that end at a page
 * that may not be touched have the bits that ukernel.h promises, also fetched ahead and crowded;
 * pairs and lanes of matrix tiles those of the kernel's tiles; and bytes are summed exactly.
 */
#include <math.h>
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
#include "host/features.h"
#include "support/guard.h"
#include "support/oracle.h"
#include "support/support.h"
#include "table/family.h"

enum { MOST_STEPS = 450, MOST_LINES = 35, MOST_WIDTH = 16, PAD = 5 };

static guard_t lines_guard, x_guard;
static char current[160];

static void on_fault(int number) {
    (void)fprintf(stderr, "FAILED %s: signal %d\n", current, number);
    _exit(1);
}

/* Whether its vectors can be called: beside matrix tiles that are played there may be none. */
static bool has_vectors(const tcgemm_kernel_t *kernel) {
    return kernel->family->fits(kernel, NULL) &&
           (kernel->cpu->dots_features & ~tcgemm_cpu_features()) == 0;
}

static double number(uint64_t *random) {
    return (double)(random_below(random, 2001) - 1000) / 64;
}

static void fill(uint64_t *random, tcgemm_dtype_t dtype, uint8_t *to, int64_t count) {
    const int bytes = oracle_bits(dtype) / 8;
    for (int64_t i = 0; i < count; ++i) {
        const uint64_t bits = oracle_encode(dtype, number(random));
        memcpy(to + i * bytes, &bits, (size_t)bytes);
    }
}

static int some_lines(uint64_t *random) {
    return 1 + (int)random_below(random, MOST_LINES);
}

/* `rows` of x along `steps`, `lines` of them, whose last element is the last one of a page. */
static tcgemm_dots_t random_dots(uint64_t *random, tcgemm_dtype_t dtype, tcgemm_dtype_t sums,
                                 int width, int64_t steps, int num_lines, bool across) {
    const int64_t length = across ? num_lines : steps;
    const int64_t pitch = length + random_below(random, PAD);
    const int64_t count = ((across ? steps : num_lines) - 1) * pitch + length;
    const size_t bytes = (size_t)(count * oracle_bits(dtype) / 8);
    const size_t x_bytes = (size_t)(steps * width * oracle_bits(sums) / 8);
    uint8_t *const lines = guard_place(&lines_guard, bytes, true);
    uint8_t *const x = guard_place(&x_guard, x_bytes, true);
    fill(random, dtype, lines, count);
    fill(random, sums, x, steps * width);
    tcgemm_dots_t t = {.dtype = dtype,
                       .steps = steps,
                       .x = x,
                       .width = width,
                       .num_rows = 1 + (int)random_below(random, width),
                       .lines = lines,
                       .line_stride = across ? 1 : pitch,
                       .k_stride = across ? pitch : 1,
                       .num_lines = num_lines,
                       .d_row = MOST_LINES,
                       .d_line = 1};
    if (sums == TCGEMM_DTYPE_F64)
        t.alpha.f64 = 1.5;
    else
        t.alpha.f32 = 1.5F;
    return t;
}

/* What an element of D is, to the bit: k in order, one sum, the multiply-adds of the format. */
static double dot(const tcgemm_dots_t *t, tcgemm_dtype_t sums, int row, int line) {
    const bool is_f64 = sums == TCGEMM_DTYPE_F64;
    double sum = 0;
    for (int64_t k = 0; k < t->steps; ++k) {
        const double x = oracle_get(sums, t->x, k * t->width + row);
        const double in = oracle_get(t->dtype, t->lines, line * t->line_stride + k * t->k_stride);
        const double y = t->rounds_to_tf32 ? (double)oracle_tf32((float)in) : in;
        sum = is_f64 ? fma(x, y, sum) : (double)fmaf((float)x, (float)y, (float)sum);
    }
    const double product = is_f64 ? t->alpha.f64 * sum : (double)(t->alpha.f32 * (float)sum);
    if (!t->c)
        return product;
    const double c = oracle_get(sums, t->c, row * t->c_row + line * t->c_line);
    return is_f64 ? fma(t->beta.f64, c, product)
                  : (double)fmaf(t->beta.f32, (float)c, (float)product);
}

static void check_elements(const tcgemm_dots_t *t, tcgemm_dtype_t sums, uint64_t *random) {
    enum { ELEMENTS = 4 };
    for (int i = 0; i < ELEMENTS; ++i) {
        const int row = (int)random_below(random, t->num_rows);
        const int line = i == 0 ? t->num_lines - 1 : (int)random_below(random, t->num_lines);
        const double d = oracle_get(sums, t->d, row * t->d_row + line * t->d_line);
        const double want = dot(t, sums, row, line);
        if (d != want && !(isnan(d) && isnan(want)))
            report_failure("%s: row %d, line %d is wrong", current, row, line);
    }
}

/* Of f32, numbers that are no tf32; in some cases the last one is a NaN, which would be infinity if
 * it were rounded as they are. */
static void lengthen(uint64_t *random, const tcgemm_dots_t *t) {
    float *const lines = (float *)(uintptr_t)t->lines;
    for (int64_t k = 0; k < t->steps; ++k)
        for (int64_t line = 0; line < t->num_lines; ++line)
            lines[line * t->line_stride + k * t->k_stride] *= 1.0007F;
    const uint32_t nan = 0x7F800001u;
    if (random_below(random, 4) == 0)
        memcpy(lines + (t->num_lines - 1) * t->line_stride + (t->steps - 1) * t->k_stride, &nan,
               sizeof nan);
}

/* A C that lies as D does. */
static void add_c(uint64_t *random, tcgemm_dtype_t sums, uint8_t *c, tcgemm_dots_t *t) {
    fill(random, sums, c, (int64_t)MOST_WIDTH * MOST_LINES);
    t->c = c;
    t->c_row = t->d_row;
    t->c_line = t->d_line;
    if (sums == TCGEMM_DTYPE_F64)
        t->beta.f64 = 0.75;
    else
        t->beta.f32 = 0.75F;
}

static void check_dots(const tcgemm_kernel_t *kernel, tcgemm_dots_fn *dots, tcgemm_dtype_t dtype,
                       int width, bool across, bool rounds) {
    const tcgemm_dtype_t sums =
        kernel->cpu->family == TCGEMM_FAMILY_F64 ? TCGEMM_DTYPE_F64 : TCGEMM_DTYPE_F32;
    enum { NEAR, CROWDED, ROOMY, NUM_PLACES }; /* where the lines lie */
    static _Alignas(64) uint8_t d[NUM_PLACES][MOST_WIDTH * MOST_LINES * sizeof(double)];
    static _Alignas(64) uint8_t c[sizeof d[0]];
    uint64_t random = (uint64_t)dtype * 100 + (uint64_t)width;
    for (int64_t i = 0; i < at_level(4, 20, 100); ++i) {
        /* At first one step behind whole lines of memory of any type. */
        const int64_t steps = i == 0 ? 65 : 1 + random_below(&random, MOST_STEPS);
        tcgemm_dots_t t =
            random_dots(&random, dtype, sums, width, steps, some_lines(&random), across);
        t.rounds_to_tf32 = rounds;
        if (random_below(&random, 2)) { /* the rows of x are columns of D, with gaps or without */
            t.d_row = 1;
            t.d_line = random_below(&random, 2) ? MOST_WIDTH : t.num_rows;
        }
        if (random_below(&random, 3) == 0)
            add_c(&random, sums, c, &t);
        if (rounds)
            lengthen(&random, &t);
        (void)snprintf(current, sizeof current,
                       "%s %s dtype %d%s width %d steps %d lines %d, case %d", kernel->name,
                       across ? "across" : "along", (int)dtype, rounds ? " rounded" : "", width,
                       (int)t.steps, t.num_lines, (int)i);
        memset(d, 0xFF, sizeof d);
        for (int place = 0; place < NUM_PLACES; ++place) {
            t.fetches = place != NEAR;
            t.is_crowded = place == CROWDED;
            t.is_roomy = place == ROOMY;
            t.d = d[place];
            dots(&t);
        }
        check_elements(&t, sums, &random);
        if (memcmp(d[NEAR], d[CROWDED], sizeof d[NEAR]) != 0)
            report_failure("%s: other bits in a crowd", current);
        if (memcmp(d[NEAR], d[ROOMY], sizeof d[NEAR]) != 0)
            report_failure("%s: other bits where there is room", current);
    }
}

/* Few columns of D beside any number of lines along k. */
static void check_few_columns(const tcgemm_kernel_t *kernel, tcgemm_dtype_t sums, int width) {
    enum { FEW_STEPS = 21, ROUNDS = 3 };
    static _Alignas(64) uint8_t d[MOST_WIDTH * MOST_LINES * sizeof(double)], c[sizeof d];
    uint64_t random = (uint64_t)width;
    for (int i = 0; i < ROUNDS * MOST_LINES; ++i) {
        const int64_t steps = 1 + random_below(&random, FEW_STEPS);
        tcgemm_dots_t t = random_dots(&random, sums, sums, width, steps, i % MOST_LINES + 1, false);
        t.num_rows = width / 2 + 1 + (int)random_below(&random, width - width / 2);
        t.d = d;
        t.d_row = 1;
        t.d_line = random_below(&random, 2) ? MOST_WIDTH : t.num_rows;
        if (random_below(&random, 3) == 0)
            add_c(&random, sums, c, &t);
        (void)snprintf(current, sizeof current, "%s: %d columns, %d lines, %d steps", kernel->name,
                       t.num_rows, t.num_lines, (int)steps);
        memset(d, 0xFF, sizeof d);
        kernel->cpu->dots(&t);
        for (int line = 0; line < t.num_lines; ++line)
            for (int row = 0; row < t.num_rows; ++row)
                if (oracle_get(sums, d, row + line * t.d_line) != dot(&t, sums, row, line))
                    report_failure("%s: row %d, line %d is wrong", current, row, line);
    }
}

static void check_kernel(const tcgemm_kernel_t *kernel) {
    static const tcgemm_dtype_t f32[] = {TCGEMM_DTYPE_F32, TCGEMM_DTYPE_F16, TCGEMM_DTYPE_BF16,
                                         TCGEMM_DTYPE_E4M3, TCGEMM_DTYPE_E5M2};
    static const tcgemm_dtype_t f64[] = {TCGEMM_DTYPE_F64};
    const tcgemm_cpu_ukernel_t *u = kernel->cpu;
    const bool is_f64 = u->family == TCGEMM_FAMILY_F64;
    for (int i = 0; i < (is_f64 ? 1 : 5); ++i)
        for (int width = 1; width <= u->dots_width; width *= 2) {
            check_dots(kernel, u->dots, (is_f64 ? f64 : f32)[i], width, false, false);
            if (width <= u->across_width || oracle_bits(f32[i]) == 8)
                check_dots(kernel, u->across, (is_f64 ? f64 : f32)[i], width, true, false);
        }
    for (int width = 2; width <= u->dots_width; width *= 2)
        check_few_columns(kernel, is_f64 ? TCGEMM_DTYPE_F64 : TCGEMM_DTYPE_F32, width);
    for (int width = 1; !is_f64 && width <= 8; width *= 2)
        check_dots(kernel, u->across, TCGEMM_DTYPE_F32, width, true, true);
}

static void crowded_lines_have_the_same_bits(void **state) {
    (void)state;
    lines_guard = guard_make((size_t)MOST_STEPS * (MOST_LINES + PAD) * 8 * 2);
    x_guard = guard_make((size_t)MOST_STEPS * MOST_WIDTH * 8);
    (void)signal(SIGSEGV, on_fault);
    for (int row = 0; row < tcgemm_num_kernels(); ++row) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(row);
        if (kernel->cpu && kernel->cpu->across && has_vectors(kernel))
            check_kernel(kernel);
    }
    (void)signal(SIGSEGV, SIG_DFL);
    guard_free(&lines_guard);
    guard_free(&x_guard);
    assert_no_failures();
}

/* ---- lanes of k ---- */

/* Small whole numbers, whose sums are exact in any order. */
static void fill_whole(uint64_t *random, tcgemm_dtype_t dtype, uint8_t *to, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
        oracle_set(dtype, to, i, (double)random_below(random, 9) - 4);
}

static void check_inner(const tcgemm_kernel_t *kernel, tcgemm_dtype_t dtype, uint64_t seed) {
    enum { MOST_ROWS = 16, SIDE = MOST_LINES + 2 };
    static double d[SIDE * SIDE], was[SIDE * SIDE], c[SIDE * SIDE];
    const bool is_f64 = dtype == TCGEMM_DTYPE_F64;
    const tcgemm_dtype_t sums = is_f64 ? TCGEMM_DTYPE_F64 : TCGEMM_DTYPE_F32;
    uint64_t random = seed;
    const int64_t steps = 1 + random_below(&random, random_below(&random, 3) ? 70 : MOST_STEPS);
    const int rows = 1 + (int)random_below(&random, MOST_ROWS);
    const int64_t pitch = steps + random_below(&random, PAD);
    tcgemm_dots_t t = random_dots(&random, dtype, sums, 1, steps, some_lines(&random), false);
    fill_whole(&random, dtype, (uint8_t *)(uintptr_t)t.lines,
               (t.num_lines - 1) * t.line_stride + steps);
    const int64_t x_count = (rows - 1) * pitch + steps;
    uint8_t *const x = guard_place(&x_guard, (size_t)(x_count * oracle_bits(sums) / 8), true);
    fill_whole(&random, sums, x, x_count);
    const bool is_columns = random_below(&random, 2), has_c = random_below(&random, 2);
    t.x = x;
    t.x_pitch = pitch * oracle_bits(sums) / 8;
    t.num_rows = rows;
    t.d = d;
    t.d_row = is_columns ? 1 : SIDE;
    t.d_line = is_columns ? SIDE : 1;
    t.c = has_c ? c : NULL;
    t.c_row = t.d_line; /* C is turned */
    t.c_line = t.d_row;
    if (is_f64)
        t.beta.f64 = -2;
    else
        t.beta.f32 = -2;
    fill_whole(&random, sums, (uint8_t *)c, SIDE * SIDE);
    fill_whole(&random, sums, (uint8_t *)d, SIDE * SIDE);
    memcpy(was, d, sizeof was);
    (void)snprintf(current, sizeof current, "%s inner dtype %d, %d rows, %d lines, %d steps",
                   kernel->name, (int)dtype, rows, t.num_lines, (int)steps);
    kernel->cpu->inner(&t);
    for (int row = 0; row < rows; ++row)
        for (int line = 0; line < t.num_lines; ++line) {
            double want = 0;
            for (int64_t k = 0; k < steps; ++k)
                want += oracle_get(sums, x, row * pitch + k) *
                        oracle_get(dtype, t.lines, line * t.line_stride + k);
            want *= 1.5;
            if (has_c)
                want -= 2 * oracle_get(sums, c, row * t.c_row + line * t.c_line);
            const int64_t at = row * t.d_row + line * t.d_line;
            if (oracle_get(sums, d, at) != want)
                report_failure("%s: row %d, line %d is wrong", current, row, line);
            oracle_set(sums, was, at, want);
        }
    if (memcmp(was, d, sizeof was) != 0)
        report_failure("%s: more than the product was written", current);
}

static void lanes_of_k_add_up(void **state) {
    (void)state;
    static const tcgemm_dtype_t f32[] = {TCGEMM_DTYPE_F32, TCGEMM_DTYPE_F16, TCGEMM_DTYPE_BF16};
    lines_guard = guard_make((size_t)MOST_STEPS * (MOST_LINES + PAD) * 8 * 2);
    x_guard = guard_make((size_t)(MOST_STEPS + PAD) * MOST_WIDTH * 8);
    (void)signal(SIGSEGV, on_fault);
    int count = 0;
    for (int row = 0; row < tcgemm_num_kernels(); ++row) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(row);
        if (!kernel->cpu || !kernel->cpu->inner || !has_vectors(kernel))
            continue;
        for (int64_t i = 0; i < at_level(60, 300, 2000); ++i)
            check_inner(kernel,
                        kernel->cpu->family == TCGEMM_FAMILY_F64 ? TCGEMM_DTYPE_F64 : f32[i % 3],
                        (uint64_t)i);
        ++count;
    }
    (void)signal(SIGSEGV, SIG_DFL);
    guard_free(&lines_guard);
    guard_free(&x_guard);
    if (count == 0)
        skip();
    assert_no_failures();
}

/* ---- pairs ---- */

enum { PAIR_STEPS = MOST_STEPS / 2 + 1, MOST_NR = 48 };

/* x, of which an odd last element has zeros beside it, and tiles' panels of the same numbers. */
static void pack_pairs(const tcgemm_cpu_ukernel_t *u, const tcgemm_dots_t *t, uint16_t *x,
                       uint16_t *a, uint16_t *b) {
    memset(a, 0, sizeof(uint32_t) * PAIR_STEPS * MOST_WIDTH);
    memset(b, 0, sizeof(uint32_t) * PAIR_STEPS * MOST_NR);
    for (int64_t k = 0; k < t->steps; ++k) {
        for (int i = 0; i < t->width; ++i)
            a[(i / u->mr * PAIR_STEPS + k / 2) * u->mr * 2 + i % u->mr * 2 + k % 2] =
                x[(k / 2 * t->width + i) * 2 + k % 2];
        for (int l = 0; l < t->num_lines; ++l)
            b[(k / 2 * u->nr + l) * 2 + k % 2] =
                ((const uint16_t *)t->lines)[l * t->line_stride + k];
    }
    for (int i = 0; t->steps % 2 && i < t->width; ++i)
        x[(t->steps / 2 * t->width + i) * 2 + 1] = 0;
}

static bool is_subnormal(uint16_t bf16) {
    return (bf16 & 0x7F80) == 0 && (bf16 & 0x7F) != 0;
}

/* Whether one of 16 lines, of which missing ones are line 0 again, holds a subnormal: they are
 * computed anew together. */
static bool has_subnormal(const tcgemm_dots_t *t, int first) {
    const uint16_t *const lines = t->lines;
    for (int l = first; l < first + 16; ++l)
        for (int64_t k = 0; k < t->steps; ++k)
            if (is_subnormal(lines[(l < t->num_lines ? l : 0) * t->line_stride + k]))
                return true;
    return false;
}

/* Magnitudes so different that sums are rounded at each step; now and then a subnormal. */
static void fill_halves(uint64_t *random, bool is_bf16, bool some_subnormal, uint16_t *to,
                        int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        const unsigned sign_and_mantissa =
            (unsigned)random_next(random) & (is_bf16 ? 0x807Fu : 0x83FFu);
        const unsigned exponent = is_bf16 ? (117u + (unsigned)random_below(random, 20)) << 7
                                          : (5u + (unsigned)random_below(random, 18)) << 10;
        const bool is_least = some_subnormal && random_below(random, 200) == 0;
        to[i] = (uint16_t)(sign_and_mantissa | (is_least ? 1u : exponent));
    }
}

/* All rows of x by lines first .. first + 15. */
static void multiply_tiles(const tcgemm_cpu_ukernel_t *u, const tcgemm_dots_t *t, const uint16_t *a,
                           const uint16_t *b, int first, float *d) {
    const bool is_exact = t->is_exact || has_subnormal(t, first);
    for (int row = 0; row < t->num_rows; row += u->mr) {
        const tcgemm_tile_t tile = {.steps = (t->steps + 1) / 2,
                                    .a = a + (ptrdiff_t)row * PAIR_STEPS * 2,
                                    .b = b + (ptrdiff_t)first * 2,
                                    .a_row = 1,
                                    .a_step = u->mr,
                                    .b_step = u->nr,
                                    .d = d + row * MOST_LINES + first,
                                    .ldd = MOST_LINES,
                                    .m = t->num_rows - row < u->mr ? t->num_rows - row : u->mr,
                                    .n = t->num_lines - first < 16 ? t->num_lines - first : 16,
                                    .alpha = t->alpha,
                                    .scale = 1};
        (is_exact ? u->exact : u->packed)(&tile);
    }
}

/* In some cases a line, or x, holds a subnormal. */
static void check_pairs(const tcgemm_kernel_t *kernel, int width) {
    const tcgemm_cpu_ukernel_t *const u = kernel->cpu;
    static _Alignas(64) uint16_t a[PAIR_STEPS * MOST_WIDTH * 2], b[PAIR_STEPS * MOST_NR * 2];
    static _Alignas(64) float d[2][MOST_WIDTH * MOST_LINES];
    uint64_t random = (uint64_t)width;
    for (int64_t i = 0; i < at_level(20, 100, 400); ++i) {
        const int64_t steps = 1 + random_below(&random, MOST_STEPS);
        tcgemm_dots_t t = random_dots(&random, TCGEMM_DTYPE_BF16, TCGEMM_DTYPE_BF16, width, steps,
                                      some_lines(&random), false);
        const int64_t count = (t.steps + 1) / 2 * 2 * width;
        uint16_t *const x = (uint16_t *)(void *)guard_place(&x_guard, (size_t)count * 2, true);
        uint16_t *const line =
            (uint16_t *)(uintptr_t)t.lines + random_below(&random, t.num_lines) * t.line_stride;
        fill_halves(&random, true, false, x, count);
        for (int l = 0; l < t.num_lines; ++l)
            fill_halves(&random, true, false, (uint16_t *)(uintptr_t)t.lines + l * t.line_stride,
                        t.steps);
        if (random_below(&random, 3) == 0)
            line[random_below(&random, t.steps)] = (uint16_t)(0x8001 + random_below(&random, 0x7F));
        t.is_exact = random_below(&random, 4) == 0;
        if (t.is_exact)
            x[2 * random_below(&random, width)] = (uint16_t)(1 + random_below(&random, 0x7F));
        t.fetches = t.is_crowded = random_below(&random, 2) == 0;
        t.x = x;
        pack_pairs(u, &t, x, a, b);
        (void)snprintf(current, sizeof current, "%s pairs width %d steps %d lines %d, case %d",
                       kernel->name, width, (int)t.steps, t.num_lines, (int)i);
        memset(d, 0xFF, sizeof d);
        t.d = d[0];
        u->lane_dots(&t);
        for (int first = 0; first < t.num_lines; first += 16)
            multiply_tiles(u, &t, a, b, first, d[1]);
        if (memcmp(d[0], d[1], sizeof d[0]) != 0)
            report_failure("%s: not the bits of tiles", current);
    }
}

static void pairs_have_the_bits_of_tiles(void **state) {
    (void)state;
    lines_guard = guard_make((size_t)MOST_STEPS * (MOST_LINES + PAD) * 8 * 2);
    x_guard = guard_make((size_t)MOST_STEPS * MOST_WIDTH * 8);
    (void)signal(SIGSEGV, on_fault);
    for (int row = 0; row < tcgemm_num_kernels(); ++row) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(row);
        if (kernel->cpu && kernel->cpu->family == TCGEMM_FAMILY_BF16 && kernel->cpu->lane_dots &&
            kernel->family->fits(kernel, NULL))
            for (int width = 1; width <= kernel->cpu->dots_width; width *= 2)
                check_pairs(kernel, width);
    }
    (void)signal(SIGSEGV, SIG_DFL);
    guard_free(&lines_guard);
    guard_free(&x_guard);
    assert_no_failures();
}

/* ---- bytes along k ---- */

enum { MOST_BYTE_ROWS = 16, BYTE_PITCH = (MOST_STEPS / 64 + 2) * 64 };

static int byte_at(tcgemm_dtype_t dtype, const uint8_t *bytes, int64_t at) {
    return dtype == TCGEMM_DTYPE_S8 ? (int8_t)bytes[at] : bytes[at];
}

/* Rows of x as dots.c packs them: elements of one or two bytes, zeros behind them and below them,
 * and what undoes that one factor is flipped. */
static void pack_byte_rows(const tcgemm_cpu_ukernel_t *u, const uint8_t *from, int64_t steps,
                           tcgemm_dtype_t of_x, tcgemm_dots_t *t, uint8_t *x, uint32_t *term) {
    memset(x, 0, (size_t)MOST_BYTE_ROWS * BYTE_PITCH * 2);
    t->x = x;
    t->x_pitch = (int64_t)BYTE_PITCH * u->x_bytes;
    t->x_is_signed = of_x == TCGEMM_DTYPE_S8;
    const bool widens = u->x_bytes == 2, lines_are_signed = t->dtype == TCGEMM_DTYPE_S8;
    t->flip = (widens ? !lines_are_signed : t->x_is_signed == lines_are_signed) ? 0x80 : 0;
    t->term = term;
    const uint32_t factor = t->flip == 0 ? 0u : t->x_is_signed && !widens ? 0u - 128u : 128u;
    for (int row = 0; row < MOST_BYTE_ROWS; ++row) {
        term[row] = 0;
        for (int64_t k = 0; row < t->num_rows && k < steps; ++k) {
            const int value = byte_at(of_x, from, row * steps + k);
            memcpy(x + row * t->x_pitch + k * u->x_bytes, &value, (size_t)u->x_bytes);
            term[row] += factor * (uint32_t)value;
        }
    }
}

static void check_bytes(const tcgemm_kernel_t *kernel, uint64_t seed) {
    enum { SIDE = MOST_LINES + 2 };
    static _Alignas(64) uint8_t x[MOST_BYTE_ROWS * BYTE_PITCH * 2];
    static uint8_t from[MOST_BYTE_ROWS * MOST_STEPS];
    static uint32_t d[SIDE * SIDE], was[SIDE * SIDE], c[SIDE * SIDE], term[MOST_BYTE_ROWS];
    uint64_t random = seed;
    const tcgemm_dtype_t of_lines = random_below(&random, 2) ? TCGEMM_DTYPE_S8 : TCGEMM_DTYPE_U8;
    const tcgemm_dtype_t of_x = random_below(&random, 2) ? TCGEMM_DTYPE_S8 : TCGEMM_DTYPE_U8;
    const int64_t steps = 1 + random_below(&random, random_below(&random, 3) ? 70 : MOST_STEPS);
    const int num_lines = some_lines(&random);
    const int64_t pitch = steps + random_below(&random, PAD);
    const int64_t count = (num_lines - 1) * pitch + steps;
    uint8_t *const lines = guard_place(&lines_guard, (size_t)count, random_below(&random, 2) != 0);
    const bool is_columns = random_below(&random, 2), has_c = random_below(&random, 2);
    const bool is_extreme = random_below(&random, 4) == 0;
    for (int64_t i = 0; i < count; ++i)
        lines[i] = is_extreme ? 0x80 : (uint8_t)random_next(&random);
    for (size_t i = 0; i < sizeof from; ++i)
        from[i] = is_extreme ? 0x80 : (uint8_t)random_next(&random);
    for (int i = 0; i < SIDE * SIDE; ++i)
        c[i] = (uint32_t)random_next(&random), d[i] = (uint32_t)random_next(&random);
    tcgemm_dots_t t = {.dtype = of_lines,
                       .steps = steps,
                       .num_rows = 1 + (int)random_below(&random, MOST_BYTE_ROWS),
                       .lines = lines,
                       .line_stride = pitch,
                       .k_stride = 1,
                       .num_lines = num_lines,
                       .d = d,
                       .d_row = is_columns ? 1 : SIDE,
                       .d_line = is_columns ? SIDE : 1,
                       .fetches = random_below(&random, 2) != 0};
    t.c = has_c ? c : NULL;
    t.c_row = t.d_line; /* C is turned */
    t.c_line = t.d_row;
    t.alpha.s32 = (uint32_t)random_next(&random);
    t.beta.s32 = (uint32_t)random_next(&random);
    pack_byte_rows(kernel->cpu, from, steps, of_x, &t, x, term);
    memcpy(was, d, sizeof was);
    (void)snprintf(current, sizeof current, "%s bytes %d by %d, %d rows, %d lines, %d steps",
                   kernel->name, (int)of_x, (int)of_lines, t.num_rows, num_lines, (int)steps);
    kernel->cpu->dots(&t);
    for (int row = 0; row < t.num_rows; ++row)
        for (int line = 0; line < num_lines; ++line) {
            uint32_t sum = 0;
            for (int64_t k = 0; k < steps; ++k)
                sum += (uint32_t)(byte_at(of_x, from, row * steps + k) *
                                  byte_at(of_lines, lines, line * pitch + k));
            sum *= t.alpha.s32;
            if (has_c)
                sum += t.beta.s32 * c[row * t.c_row + line * t.c_line];
            was[row * t.d_row + line * t.d_line] = sum;
        }
    if (memcmp(was, d, sizeof was) != 0)
        report_failure("%s: another D", current);
}

static void bytes_along_k_are_exact(void **state) {
    (void)state;
    lines_guard = guard_make((size_t)MOST_STEPS * (MOST_LINES + PAD) * 2);
    (void)signal(SIGSEGV, on_fault);
    for (int row = 0; row < tcgemm_num_kernels(); ++row) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(row);
        if (kernel->cpu && kernel->cpu->x_bytes > 0 && has_vectors(kernel))
            for (int64_t seed = 1; seed <= at_level(200, 1000, 5000); ++seed)
                check_bytes(kernel, (uint64_t)seed);
    }
    (void)signal(SIGSEGV, SIG_DFL);
    guard_free(&lines_guard);
    assert_no_failures();
}

/* ---- matrix tiles ---- */

enum { MATRIX = 32, MATRIX_STEPS = (MOST_STEPS + MATRIX - 1) / MATRIX, GROUPS = 2 };

/* The same product by tiles, lines first .. first + 31 as the rows of a panel of A. */
static void multiply_panels(const tcgemm_cpu_ukernel_t *u, const tcgemm_dots_t *t,
                            const tcgemm_pack_t *lines, int first, bool x_is_special, float *d) {
    static _Alignas(64) uint8_t panel[MATRIX_STEPS * MATRIX * 64];
    const int count = t->num_lines - first < MATRIX ? t->num_lines - first : MATRIX;
    const bool is_special = u->pack(lines, first, count, MATRIX, panel, NULL) || x_is_special;
    const tcgemm_tile_t tile = {.steps = (t->steps + u->ku - 1) / u->ku,
                                .a = panel,
                                .a_row = 1,
                                .a_step = MATRIX,
                                .b = t->x,
                                .d = d,
                                .ldd = MATRIX,
                                .m = count,
                                .n = t->num_rows,
                                .alpha = t->alpha,
                                .scale = 1,
                                .a_is_signed = t->dtype == TCGEMM_DTYPE_S8,
                                .b_is_signed = t->x_is_signed};
    (is_special ? u->exact : u->packed)(&tile);
}

/* Elements of lines or of x, as the kernel takes them; subnormals among them if it is bf16. */
static tcgemm_dtype_t fill_matrix(const tcgemm_cpu_ukernel_t *u, uint64_t *random,
                                  bool some_subnormal, void *to, int64_t count) {
    if (u->family == TCGEMM_FAMILY_I8X64) {
        for (int64_t i = 0; i < count; ++i)
            ((uint8_t *)to)[i] = (uint8_t)random_below(random, 256);
        return random_below(random, 2) == 0 ? TCGEMM_DTYPE_S8 : TCGEMM_DTYPE_U8;
    }
    const bool is_bf16 = u->family == TCGEMM_FAMILY_BF16X32;
    fill_halves(random, is_bf16, some_subnormal, to, count);
    return is_bf16 ? TCGEMM_DTYPE_BF16 : TCGEMM_DTYPE_F16;
}

static void check_matrix(const tcgemm_kernel_t *kernel, uint64_t seed) {
    const tcgemm_cpu_ukernel_t *const u = kernel->cpu;
    static _Alignas(64) uint16_t rows[MATRIX * MOST_STEPS];
    static _Alignas(64) uint8_t x[MATRIX_STEPS * MATRIX * 64];
    static float got[MATRIX * GROUPS * MATRIX], expected[GROUPS * MATRIX * MATRIX];
    uint64_t random = seed;
    const bool are_bytes = u->family == TCGEMM_FAMILY_I8X64;
    const int64_t steps = 1 + random_below(&random, MOST_STEPS);
    const int num_rows = 1 + (int)random_below(&random, MATRIX);
    const int num_lines = 1 + (int)random_below(&random, (int64_t)GROUPS * MATRIX);
    const int64_t pitch = steps + random_below(&random, PAD);
    const int64_t count = (num_lines - 1) * pitch + steps;
    void *const lines = guard_place(&lines_guard, (size_t)count * (are_bytes ? 1 : 2), true);
    const tcgemm_dtype_t dtype = fill_matrix(u, &random, seed % 3 == 1, lines, count);
    const tcgemm_dtype_t of_x = fill_matrix(u, &random, seed % 3 == 2, rows, num_rows * steps);
    const tcgemm_pack_t pack_x = {.source = rows,
                                  .dtype = of_x,
                                  .line_stride = steps,
                                  .k_stride = 1,
                                  .k = steps,
                                  .is_b = true};
    const tcgemm_pack_t pack_lines = {
        .source = lines, .dtype = dtype, .line_stride = pitch, .k_stride = 1, .k = steps};
    const bool is_special = u->pack(&pack_x, 0, num_rows, MATRIX, x, NULL);
    const bool is_by_rows = seed % 2; /* rows of D are those of x, or the lines */
    tcgemm_dots_t t = {.dtype = dtype,
                       .steps = steps,
                       .x = x,
                       .width = MATRIX,
                       .num_rows = num_rows,
                       .x_is_signed = of_x == TCGEMM_DTYPE_S8,
                       .is_exact = is_special,
                       .lines = lines,
                       .line_stride = pitch,
                       .k_stride = 1,
                       .num_lines = num_lines,
                       .d = got,
                       .d_row = is_by_rows ? (int64_t)GROUPS * MATRIX : 1,
                       .d_line = is_by_rows ? 1 : MATRIX};
    if (are_bytes)
        t.alpha.s32 = 3;
    else
        t.alpha.f32 = 1.5F;
    (void)snprintf(current, sizeof current, "%s steps %d lines %d rows %d, case %d", kernel->name,
                   (int)steps, num_lines, num_rows, (int)seed);
    u->begin();
    u->lane_dots(&t);
    for (int first = 0; first < num_lines; first += MATRIX)
        multiply_panels(u, &t, &pack_lines, first, is_special,
                        expected + (ptrdiff_t)first * MATRIX);
    u->end();
    for (int row = 0; row < num_rows; ++row)
        for (int line = 0; line < num_lines; ++line)
            if (memcmp(&got[row * t.d_row + line * t.d_line], &expected[line * MATRIX + row],
                       sizeof got[0]) != 0) {
                report_failure("%s: row %d, line %d has not the bits of tiles", current, row, line);
                return;
            }
}

static void lines_on_matrix_tiles_have_the_bits_of_panels(void **state) {
    (void)state;
    lines_guard = guard_make((size_t)MOST_STEPS * ((size_t)GROUPS * MATRIX + PAD) * 2 * 2);
    (void)signal(SIGSEGV, on_fault);
    for (int row = 0; row < tcgemm_num_kernels(); ++row) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(row);
        if (kernel->cpu && kernel->cpu->lane_dots && tcgemm_is_matrix(kernel->cpu) &&
            kernel->family->fits(kernel, NULL))
            for (int64_t seed = 1; seed <= at_level(30, 100, 1000); ++seed)
                check_matrix(kernel, (uint64_t)seed);
    }
    (void)signal(SIGSEGV, SIG_DFL);
    guard_free(&lines_guard);
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowded_lines_have_the_same_bits),
        cmocka_unit_test(lanes_of_k_add_up),
        cmocka_unit_test(pairs_have_the_bits_of_tiles),
        cmocka_unit_test(bytes_along_k_are_exact),
        cmocka_unit_test(lines_on_matrix_tiles_have_the_bits_of_panels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
