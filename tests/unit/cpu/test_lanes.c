/* Kernels of a few rows in lanes of pairs and quads, called directly as dots.c calls them: quads
 * have the sums of integer arithmetic, pairs across k the bits of tiles that pause after as many
 * steps. Lines and x end at pages that may not be touched. (Pairs along k: test_dots.c.)
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
#include "support/support.h"
#include "table/family.h"

enum {
    MOST_STEPS = 200,
    MOST_LINES = 150,
    MOST_WIDTH = 16,
    PAD = 5,
    PIECE =
        TCGEMM_LINES_ACROSS, /* lines across k that a kernel looks for subnormals together ... */
    STEPS_AT_ONCE = TCGEMM_STEPS_ACROSS /* ... and so many steps of k */
};

static guard_t lines_guard, x_guard;
static char current[160];

/* A product: x and lines as the kernel has them, D twice, and C. */
typedef struct product {
    tcgemm_dots_t t;
    bool across;
    int bytes, x_bytes; /* of an element of a line, and of x */
    uint8_t *lines, *x; /* the same, to be written */
    uint32_t terms[MOST_WIDTH];
    uint32_t c[MOST_WIDTH * MOST_LINES];
} product_t;

static _Alignas(64) uint32_t got[MOST_WIDTH * MOST_LINES], expected[MOST_WIDTH * MOST_LINES];
static _Alignas(64) uint32_t partial[MOST_WIDTH * (MOST_LINES + PIECE)];

static void on_fault(int number) {
    (void)fprintf(stderr, "FAILED %s: signal %d\n", current, number);
    _exit(1);
}

/* Where element k of row i of x is, and of a line. */
static uint8_t *x_at(const product_t *p, int64_t k, int i) {
    const int of_lane = 4 / p->x_bytes;
    return p->x + ((k / of_lane * p->t.width + i) * of_lane + k % of_lane) * p->x_bytes;
}

static uint8_t *line_at(const product_t *p, int64_t k, int64_t line) {
    return p->lines + (line * p->t.line_stride + k * p->t.k_stride) * p->bytes;
}

static void draw(product_t *p, uint64_t *random, int bytes, int x_bytes, int width, bool across) {
    const int64_t steps = 1 + random_below(random, MOST_STEPS);
    const int num_lines = 1 + (int)random_below(random, across ? MOST_LINES : 32);
    const int64_t length = across ? num_lines : steps;
    const int64_t pitch = length + random_below(random, PAD);
    const int64_t count = ((across ? steps : num_lines) - 1) * pitch + length;
    const int64_t x_count = round_up(steps * x_bytes, 4) * width;
    const bool by_lines = random_below(random, 3) == 0; /* D's lines do not lie side by side */
    memset(p, 0, sizeof *p);
    p->across = across;
    p->bytes = bytes;
    p->x_bytes = x_bytes;
    p->lines = guard_place(&lines_guard, (size_t)(count * bytes), true);
    p->x = guard_place(&x_guard, (size_t)x_count, true);
    memset(p->x, 0, (size_t)x_count);
    for (size_t i = 0; i < sizeof p->c / sizeof p->c[0]; ++i)
        p->c[i] = (uint32_t)(0x3F800000u + (random_next(random) & 0x7FFFFF));
    p->t = (tcgemm_dots_t){.dtype = bytes == 2 ? TCGEMM_DTYPE_BF16 : TCGEMM_DTYPE_S8,
                           .steps = steps,
                           .x = p->x,
                           .width = width,
                           .num_rows = 1 + (int)random_below(random, width),
                           .lines = p->lines,
                           .line_stride = across ? 1 : pitch,
                           .k_stride = across ? pitch : 1,
                           .num_lines = num_lines,
                           .d_row = by_lines ? 1 : MOST_LINES,
                           .d_line = by_lines ? MOST_WIDTH : 1,
                           .c_row = by_lines ? 1 : MOST_LINES,
                           .c_line = by_lines ? MOST_WIDTH : 1,
                           .c = random_below(random, 2) ? p->c : NULL,
                           .fetches = random_below(random, 2) == 0};
}

/* As the driver does: lines along k at once, lines across k in steps whose sums wait. */
static void run(const tcgemm_cpu_ukernel_t *u, product_t *p) {
    tcgemm_dots_t t = p->t;
    memset(got, 0xFF, sizeof got);
    memset(expected, 0xFF, sizeof expected);
    memset(partial, 0xFF, sizeof partial);
    t.d = got;
    t.partial = partial;
    if (!p->across) {
        u->lane_dots(&t);
        return;
    }
    for (int64_t k = 0; k < p->t.steps; k += STEPS_AT_ONCE) {
        t.steps = min_i64(STEPS_AT_ONCE, p->t.steps - k);
        t.resumes = k > 0;
        t.pauses = k + STEPS_AT_ONCE < p->t.steps;
        t.x = x_at(p, k, 0);
        t.lines = line_at(p, k, 0);
        u->lane_across(&t);
    }
}

/* ---- quads of bytes, and pairs of them that are s16 in x ---- */

static int32_t value(uint8_t byte, bool is_signed) {
    return is_signed ? (int8_t)byte : byte;
}

static int32_t value_of_x(const product_t *p, int64_t k, int row) {
    int16_t wide = 0;
    memcpy(&wide, x_at(p, k, row), (size_t)p->x_bytes);
    return p->x_bytes == 2 ? wide : value(*x_at(p, k, row), p->t.x_is_signed);
}

static void multiply_integers(product_t *p, bool lines_are_signed) {
    const tcgemm_dots_t *const t = &p->t;
    for (int i = 0; i < t->num_rows; ++i)
        for (int l = 0; l < t->num_lines; ++l) {
            const uint32_t *const c = t->c;
            const int64_t at = i * t->d_row + l * t->d_line;
            uint32_t sum = 0;
            for (int64_t k = 0; k < t->steps; ++k)
                sum += (uint32_t)(value_of_x(p, k, i) * value(*line_at(p, k, l), lines_are_signed));
            expected[at] = t->alpha.s32 * sum + (c ? t->beta.s32 * c[at] : 0);
        }
}

static void check_quads(const tcgemm_kernel_t *kernel, int width, bool across) {
    uint64_t random = (uint64_t)width + (across ? 100 : 0);
    for (int64_t i = 0; i < at_level(40, 150, 600); ++i) {
        static product_t p;
        const bool x_is_signed = random_below(&random, 2) == 0;
        const bool lines_are_signed = random_below(&random, 2) == 0;
        const uint32_t shift = x_is_signed != lines_are_signed ? 0u
                               : x_is_signed                   ? 0u - 128u
                                                               : 128u;
        draw(&p, &random, 1, kernel->cpu->x_bytes, width, across);
        for (int64_t k = 0; k < p.t.steps; ++k) {
            for (int row = 0; row < width; ++row) {
                const int32_t x = value((uint8_t)random_next(&random), x_is_signed);
                memcpy(x_at(&p, k, row), &x, (size_t)p.x_bytes);
                p.terms[row] += shift * (uint32_t)x;
            }
            for (int l = 0; l < p.t.num_lines; ++l)
                *line_at(&p, k, l) = (uint8_t)random_next(&random);
        }
        p.t.dtype = lines_are_signed ? TCGEMM_DTYPE_S8 : TCGEMM_DTYPE_U8;
        p.t.x_is_signed = x_is_signed;
        p.t.flip = shift ? 0x80 : 0;
        p.t.term = p.terms;
        p.t.alpha.s32 = 3;
        p.t.beta.s32 = 0u - 5u;
        (void)snprintf(current, sizeof current, "%s quads %s width %d steps %d lines %d, case %d",
                       kernel->name, across ? "across" : "along", width, (int)p.t.steps,
                       p.t.num_lines, (int)i);
        run(kernel->cpu, &p);
        multiply_integers(&p, lines_are_signed);
        if (memcmp(got, expected, sizeof got) != 0)
            report_failure("%s: wrong", current);
    }
}

/* ---- pairs across k ---- */

static bool is_subnormal(uint16_t bf16) {
    return (bf16 & 0x7F80) == 0 && (bf16 & 0x7F) != 0;
}

static uint16_t half_at(const uint8_t *p) {
    uint16_t half;
    memcpy(&half, p, sizeof half);
    return half;
}

static bool has_subnormal(const product_t *p, int64_t k, int piece) {
    for (int64_t step = k; step < k + STEPS_AT_ONCE && step < p->t.steps; ++step)
        for (int l = piece; l < piece + PIECE && l < p->t.num_lines; ++l)
            if (is_subnormal(half_at(line_at(p, step, l))))
                return true;
    return false;
}

/* Rows from `row` on, as many as a tile has, by 16 lines, in as many steps. */
static void multiply_by_tiles(const tcgemm_cpu_ukernel_t *u, product_t *p, int row, int first) {
    enum { LINES = 16, LANES = STEPS_AT_ONCE / 2, MOST_MR = 16, MOST_NR = 48 };
    static _Alignas(64) float sums[MOST_MR * MOST_NR];
    const tcgemm_dots_t *const t = &p->t;
    const uint32_t *const c = t->c;
    float d[MOST_MR * LINES], old[MOST_MR * LINES];
    const int rows = t->num_rows - row < u->mr ? t->num_rows - row : u->mr;
    const int lines = t->num_lines - first < LINES ? t->num_lines - first : LINES;
    for (int at = 0; c && at < rows * lines; ++at)
        memcpy(&old[at / lines * LINES + at % lines],
               &c[(row + at / lines) * t->c_row + (first + at % lines) * t->c_line], sizeof old[0]);
    for (int64_t k = 0; k < t->steps; k += STEPS_AT_ONCE) {
        _Alignas(64) uint16_t a[LANES * MOST_MR * 2] = {0}, b[LANES * MOST_NR * 2] = {0};
        for (int64_t step = k; step < k + STEPS_AT_ONCE && step < t->steps; ++step) {
            for (int i = 0; i < rows; ++i)
                a[((step - k) / 2 * u->mr + i) * 2 + step % 2] = half_at(x_at(p, step, row + i));
            for (int l = 0; l < lines; ++l)
                b[((step - k) / 2 * u->nr + l) * 2 + step % 2] =
                    half_at(line_at(p, step, first + l));
        }
        const tcgemm_tile_t tile = {.steps = (min_i64(STEPS_AT_ONCE, t->steps - k) + 1) / 2,
                                    .a = a,
                                    .b = b,
                                    .a_row = 1,
                                    .a_step = u->mr,
                                    .b_step = u->nr,
                                    .d = d,
                                    .c = c ? old : NULL,
                                    .ldd = LINES,
                                    .ldc = LINES,
                                    .m = rows,
                                    .n = lines,
                                    .alpha = t->alpha,
                                    .beta = t->beta,
                                    .scale = 1,
                                    .partial = sums,
                                    .resumes = k > 0,
                                    .pauses = k + STEPS_AT_ONCE < t->steps};
        const bool is_exact = t->is_exact || has_subnormal(p, k, first / PIECE * PIECE);
        (is_exact ? u->exact : u->packed)(&tile);
    }
    for (int at = 0; at < rows * lines; ++at)
        memcpy(&expected[(row + at / lines) * t->d_row + (first + at % lines) * t->d_line],
               &d[at / lines * LINES + at % lines], sizeof d[0]);
}

/* Magnitudes so different that sums are rounded at each step; now and then a subnormal, or zero. */
static void put_half(uint64_t *random, bool some_subnormal, uint8_t *to) {
    const unsigned exponent = (117u + (unsigned)random_below(random, 20)) << 7;
    const bool is_special = random_below(random, 400) == 0;
    const unsigned least = some_subnormal ? 1u + (unsigned)random_below(random, 0x7F) : 0;
    const uint16_t half =
        (uint16_t)(((unsigned)random_next(random) & 0x8000u) |
                   (is_special ? least : exponent | ((unsigned)random_next(random) & 0x7F)));
    memcpy(to, &half, sizeof half);
}

static void check_pairs(const tcgemm_kernel_t *kernel, int width) {
    uint64_t random = (uint64_t)width;
    for (int64_t i = 0; i < at_level(20, 100, 400); ++i) {
        static product_t p;
        draw(&p, &random, 2, 2, width, true);
        const bool some_subnormal = random_below(&random, 2) == 0;
        for (int64_t k = 0; k < p.t.steps; ++k) {
            for (int row = 0; row < width; ++row)
                put_half(&random, false, x_at(&p, k, row));
            for (int l = 0; l < p.t.num_lines; ++l)
                put_half(&random, some_subnormal, line_at(&p, k, l));
        }
        p.t.is_exact = random_below(&random, 4) == 0;
        if (p.t.is_exact)
            memcpy(x_at(&p, 0, 0), &(uint16_t){0x8011}, sizeof(uint16_t));
        p.t.alpha.f32 = 1.5F;
        p.t.beta.f32 = -0.75F;
        (void)snprintf(current, sizeof current, "%s pairs width %d steps %d lines %d, case %d",
                       kernel->name, width, (int)p.t.steps, p.t.num_lines, (int)i);
        run(kernel->cpu, &p);
        for (int row = 0; row < p.t.num_rows; row += kernel->cpu->mr)
            for (int first = 0; first < p.t.num_lines; first += 16)
                multiply_by_tiles(kernel->cpu, &p, row, first);
        if (memcmp(got, expected, sizeof got) != 0)
            report_failure("%s: not the bits of tiles", current);
    }
}

static void check_kernel(const tcgemm_kernel_t *kernel) {
    const tcgemm_cpu_ukernel_t *const u = kernel->cpu;
    for (int width = 1; width <= u->dots_width; width *= 2)
        if (u->family == TCGEMM_FAMILY_BF16) {
            check_pairs(kernel, width);
        } else {
            check_quads(kernel, width, true);
            if (u->lane_dots && width >= 8)
                check_quads(kernel, width, false);
        }
}

static void lanes_have_the_right_sums(void **state) {
    (void)state;
    lines_guard = guard_make((size_t)MOST_STEPS * (MOST_LINES + PAD) * 2 * 2);
    x_guard = guard_make((size_t)(MOST_STEPS + 3) * MOST_WIDTH * 2);
    (void)signal(SIGSEGV, on_fault);
    for (int row = 0; row < tcgemm_num_kernels(); ++row) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(row);
        if (kernel->cpu && kernel->cpu->lane_across && kernel->family->fits(kernel, NULL))
            check_kernel(kernel);
    }
    (void)signal(SIGSEGV, SIG_DFL);
    guard_free(&lines_guard);
    guard_free(&x_guard);
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_have_the_right_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
