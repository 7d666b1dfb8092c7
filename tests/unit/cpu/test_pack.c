/* Packing: every family, source format and direction against one scalar expectation; missing lines
 * and the rest of the last step are zero; terms, subnormal flags, offsets within a byte; and not a
 * byte of the source beyond the lines is read (guard pages).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/kernels/ukernel.h"
#include "cpu/packing.h"
#include "support/guard.h"
#include "support/oracle.h"
#include "support/support.h"
#include "table/family.h"

enum { MAX_K = 300, MAX_BYTES = 1 << 16, CANARY = 64, TILE_WORDS = 16, MOST_TERMS = 64 };

typedef struct packing {
    const tcgemm_kernel_t *kernel;
    tcgemm_pack_t pack;
    int width, lines;
    int64_t first;
    bool wants_terms;
    const char *what;
} packing_t;

static guard_t source;

/* Raw bits of element p of a line, widened as the family wants them. */
static uint64_t element_bits(const packing_t *x, int64_t line, int64_t p) {
    const tcgemm_pack_t *pack = &x->pack;
    const int64_t index = pack->origin + (x->first + line) * pack->line_stride + p * pack->k_stride;
    const uint64_t bits = oracle_get_bits(pack->dtype, pack->source, index);
    const double value = oracle_decode(pack->dtype, bits);
    switch (x->kernel->cpu->family) {
    case TCGEMM_FAMILY_F64:
    case TCGEMM_FAMILY_B1:
        return bits;
    case TCGEMM_FAMILY_F32: {
        const float f = pack->round_to_tf32 ? oracle_tf32((float)value) : (float)value;
        return oracle_encode(TCGEMM_DTYPE_F32, (double)f);
    }
    case TCGEMM_FAMILY_BF16:
    case TCGEMM_FAMILY_BF16X32:
    case TCGEMM_FAMILY_BF16X4:
        return oracle_encode(TCGEMM_DTYPE_BF16, value);
    case TCGEMM_FAMILY_F16X32:
        return bits;
    case TCGEMM_FAMILY_S16:
        return (uint64_t)(int64_t)value & 0xFFFFu;
    case TCGEMM_FAMILY_I8X8:
    case TCGEMM_FAMILY_I8X64: /* nothing is shifted */
        return (uint64_t)(int64_t)value & 0xFFu;
    case TCGEMM_FAMILY_U8S8:
    case TCGEMM_FAMILY_I8X4:
    default:
        return ((uint64_t)(int64_t)value & 0xFFu) ^ pack->flip;
    }
}

static int bits_per_element(const packing_t *x) {
    return x->kernel->cpu->lane_bytes * 8 / x->kernel->cpu->ku;
}

/* The lane of one line and step: elements in ascending bits, zero beyond k or the lines. */
static uint64_t expected_lane(const packing_t *x, int line, int64_t step) {
    uint64_t lane = 0;
    for (int h = 0; line < x->lines && h < x->kernel->cpu->ku; ++h) {
        const int64_t p = step * x->kernel->cpu->ku + h;
        if (p < x->pack.k)
            lane |= element_bits(x, line, p) << (h * bits_per_element(x));
    }
    return lane;
}

/* Word `word` of a lane of 16. */
static uint32_t expected_word(const packing_t *x, int line, int64_t step, int word) {
    const int each = x->kernel->cpu->ku / TILE_WORDS;
    uint32_t bits = 0;
    for (int h = 0; line < x->lines && h < each; ++h) {
        const int64_t p = step * x->kernel->cpu->ku + word * each + h;
        if (p < x->pack.k)
            bits |= (uint32_t)(element_bits(x, line, p) << (h * 32 / each));
    }
    return bits;
}

/* What the term of a line is before it is packed: stale, or the sum so far. */
static uint32_t earlier_term(int line) {
    return 0xA5A5A5A5u + 0x10001u * (uint32_t)line;
}

static void set_earlier_terms(uint32_t terms[MOST_TERMS + 1]) {
    for (int i = 0; i < MOST_TERMS + 1; ++i)
        terms[i] = earlier_term(i);
}

static uint32_t expected_term(const packing_t *x, int line) {
    if (line >= x->lines)
        return 0;
    uint32_t sum = 0;
    for (int64_t p = 0; p < x->pack.k; ++p) {
        const uint64_t bits = element_bits(x, line, p);
        const uint32_t byte = (uint32_t)(bits & 0xFFu);
        if (x->kernel->cpu->family == TCGEMM_FAMILY_B1)
            sum += byte;
        else if (x->pack.sum_is_signed)
            sum += (byte ^ 0x80u) - 0x80u; /* its sign extended */
        else
            sum += byte;
    }
    return x->pack.sum_factor * sum + x->pack.sum_offset +
           (x->pack.adds_terms ? earlier_term(line) : 0);
}

static bool expected_flag(const packing_t *x) {
    if (!x->kernel->cpu->exact)
        return false;
    for (int line = 0; line < x->lines; ++line)
        for (int64_t p = 0; p < x->pack.k; ++p) {
            const uint64_t bits = element_bits(x, line, p);
            if ((bits & 0x7F80) == 0 && (bits & 0x7F) != 0)
                return true;
        }
    return false;
}

static void fail_packing(const packing_t *x, const char *format, long long at,
                         unsigned long long got, unsigned long long expected) {
    char reason[160];
    (void)snprintf(reason, sizeof reason, format, at, got, expected);
    report_failure(
        "%s: pack %s, %s, width=%d lines=%d first=%lld k=%lld origin=%lld strides=%lld,%lld"
        " flip=%u: %s",
        x->what, x->kernel->name, tcgemm_dtype_name(x->pack.dtype), x->width, x->lines,
        (long long)x->first, (long long)x->pack.k, (long long)x->pack.origin,
        (long long)x->pack.line_stride, (long long)x->pack.k_stride, x->pack.flip, reason);
}

static void check_packing(const packing_t *x) {
    static _Alignas(64) uint8_t panel[MAX_BYTES];
    uint32_t terms[MOST_TERMS + 1];
    const int lane_bytes = x->kernel->cpu->lane_bytes;
    const int64_t steps = (x->pack.k + x->kernel->cpu->ku - 1) / x->kernel->cpu->ku;
    const int64_t lanes = steps * x->width;
    memset(panel, 0xA5, (size_t)(lanes * lane_bytes + CANARY)); /* stale data that must go */
    set_earlier_terms(terms);
    const bool flag = x->kernel->cpu->pack(&x->pack, x->first, x->lines, x->width, panel,
                                           x->wants_terms ? terms : NULL);
    for (int64_t i = 0; i < lanes * TILE_WORDS && lane_bytes == 4 * TILE_WORDS; ++i) {
        const int64_t in_step = i % (x->width * TILE_WORDS);
        const int line = (int)(x->pack.is_b ? in_step % x->width : in_step / TILE_WORDS);
        const int word = (int)(x->pack.is_b ? in_step / x->width : in_step % TILE_WORDS);
        const uint32_t expected = expected_word(x, line, i / (x->width * TILE_WORDS), word);
        uint32_t got;
        memcpy(&got, panel + i * 4, sizeof got);
        if (got != expected) {
            fail_packing(x, "word %lld is %#llx, expected %#llx", i, got, expected);
            return;
        }
    }
    for (int64_t i = 0; i < lanes && lane_bytes <= 8; ++i) {
        uint64_t got = 0;
        memcpy(&got, panel + i * lane_bytes, (size_t)lane_bytes);
        const uint64_t expected = expected_lane(x, (int)(i % x->width), i / x->width);
        if (got != expected) {
            fail_packing(x, "lane %lld is %#llx, expected %#llx", i, got, expected);
            return;
        }
    }
    for (int i = 0; x->wants_terms && i < x->width; ++i)
        if (terms[i] != expected_term(x, i)) {
            fail_packing(x, "term %lld is %llu, expected %llu", i, terms[i], expected_term(x, i));
            return;
        }
    if (flag != expected_flag(x))
        fail_packing(x, "at %lld the flag is %llu, expected %llu", 0, flag, expected_flag(x));
    for (int i = 0; i < CANARY; ++i)
        if (panel[lanes * lane_bytes + i] != 0xA5) {
            fail_packing(x, "byte %lld behind the panel is %#llx (%llu)", i,
                         panel[lanes * lane_bytes + i], 0);
            return;
        }
    const int behind = x->wants_terms ? x->width : 0;
    if (terms[behind] != earlier_term(behind))
        fail_packing(x, "term %lld was written: %llu (%llu)", x->width, terms[x->width], 0);
}

/* The last element lies at the end of the memory that may be read. */
static void place_source(packing_t *x, bool lines_are_contiguous, uint64_t *random) {
    const int64_t ld =
        (lines_are_contiguous ? x->pack.k : x->first + x->lines) + random_below(random, 9);
    const int64_t last_line = x->first + x->lines - 1;
    x->pack.line_stride = lines_are_contiguous ? ld : 1;
    x->pack.k_stride = lines_are_contiguous ? 1 : ld;
    x->pack.origin = random_below(random, 11);
    const int64_t elements =
        x->pack.origin + last_line * x->pack.line_stride + (x->pack.k - 1) * x->pack.k_stride + 1;
    const size_t bytes = (size_t)(elements * oracle_bits(x->pack.dtype) + 7) / 8;
    assert_true(bytes <= source.bytes);
    x->pack.source = guard_place(&source, bytes, true);
}

/* Tame: no subnormals. Never NaN, whose bits are nobody's promise. */
static void fill_source(const packing_t *x, bool tame, uint64_t *random) {
    uint8_t *const first = (uint8_t *)(uintptr_t)x->pack.source;
    uint8_t *const end = source.data + source.bytes;
    const bool is_float = oracle_is_float(x->pack.dtype);
    if (tame && is_float) {
        const int64_t count = (end - first) * 8 / oracle_bits(x->pack.dtype);
        for (int64_t e = 0; e < count; ++e)
            oracle_set(x->pack.dtype, first, e, 1.0 + random_unit(random));
        return;
    }
    for (uint8_t *p = first; p < end; ++p)
        *p = (uint8_t)(random_next(random) & (is_float ? 0xBF : 0xFF));
}

/* The same lines where they are: are they bf16 that are subnormal? */
static void check_stay(const packing_t *x) {
    if (x->kernel->cpu->pack_rows(&x->pack, x->lines, NULL, NULL) != expected_flag(x))
        fail_packing(x, "rows that stay: flag is %lld, expected %llu (%llu)", !expected_flag(x),
                     expected_flag(x), 0);
}

/* The same lines as rows of lanes, which may take 63 bytes more. */
static void check_rows(const packing_t *x) {
    static _Alignas(64) uint8_t rows[MAX_BYTES];
    uint32_t terms[MOST_TERMS + 1];
    const int ku = x->kernel->cpu->ku;
    const int64_t steps = (x->pack.k + ku - 1) / ku;
    const int64_t bytes = steps * x->lines * 4;
    memset(rows, 0xA5, sizeof rows);
    set_earlier_terms(terms);
    const bool found =
        x->kernel->cpu->pack_rows(&x->pack, x->lines, rows, x->wants_terms ? terms : NULL);
    if (found != expected_flag(x))
        fail_packing(x, "as rows flag is %lld, expected %llu (%llu)", found, expected_flag(x), 0);
    for (int64_t i = 0; i < steps * x->lines; ++i) {
        uint32_t got;
        memcpy(&got, rows + i * 4, sizeof got);
        const uint64_t expected = expected_lane(x, (int)(i / steps), i % steps);
        if (got != expected) {
            fail_packing(x, "as rows lane %lld is %#llx, expected %#llx", i, got, expected);
            return;
        }
    }
    for (int i = 0; x->wants_terms && i < x->lines; ++i)
        if (terms[i] != expected_term(x, i)) {
            fail_packing(x, "as rows term %lld is %llu, expected %llu", i, terms[i],
                         expected_term(x, i));
            return;
        }
    const int behind = x->wants_terms ? x->lines : 0;
    if (terms[behind] != earlier_term(behind))
        fail_packing(x, "as rows term %lld was written: %llu (%llu)", x->lines, terms[x->lines], 0);
    for (int i = CANARY - 1; i < 2 * CANARY; ++i)
        if (rows[bytes + i] != 0xA5) {
            fail_packing(x, "byte %lld behind the rows is %#llx (%llu)", i, rows[bytes + i], 0);
            return;
        }
}

static void random_packing(const tcgemm_kernel_t *kernel, const tcgemm_type_info_t *type,
                           uint64_t seed) {
    uint64_t random = seed;
    const bool is_b = random_below(&random, 2);
    packing_t x = {.kernel = kernel, .what = is_b ? "B" : "A"};
    static const int64_t depths[] = {1,  2,  3,  4,  5,   7,   8,   31, 32,
                                     33, 63, 64, 65, 127, 128, 129, 257};
    x.width = is_b ? kernel->nr : kernel->mr;
    x.lines = random_below(&random, 2) ? x.width : 1 + (int)random_below(&random, x.width);
    x.first = random_below(&random, 3) * x.width;
    x.pack.dtype = is_b ? type->b : type->a;
    x.pack.round_to_tf32 = type->type == TCGEMM_TF32_F32;
    x.pack.is_b = is_b;
    x.pack.k = depths[random_below(&random, 17)];
    const bool is_shifted =
        kernel->cpu->family == TCGEMM_FAMILY_U8S8 || kernel->cpu->family == TCGEMM_FAMILY_I8X4;
    if (is_shifted) {
        x.pack.flip = random_below(&random, 2) ? 0x80 : 0;
        x.pack.sum_is_signed = is_b || kernel->cpu->family == TCGEMM_FAMILY_I8X4;
    }
    if (is_shifted || kernel->cpu->family == TCGEMM_FAMILY_B1)
        x.wants_terms = random_below(&random, 2);
    x.pack.sum_factor = random_below(&random, 2) ? 1u : 0u - 128u;
    x.pack.sum_offset = (uint32_t)random_next(&random);
    x.pack.adds_terms = random_below(&random, 2);
    place_source(&x, random_below(&random, 2), &random);
    fill_source(&x, random_below(&random, 3) != 0, &random);
    check_packing(&x);
    if (!kernel->cpu->pack_rows || x.first > 0 || x.pack.k_stride != 1)
        return;
    if (kernel->cpu->exact && x.pack.dtype == TCGEMM_DTYPE_BF16)
        check_stay(&x);
    if (kernel->cpu->lane_bytes == 4 && !x.pack.sum_is_signed) /* rows of matrix tiles only stay */
        check_rows(&x);
}

/* Whole panels of A by one call, one behind the other: each as if it was packed by itself. */
static void some_panels(const tcgemm_kernel_t *kernel, const tcgemm_type_info_t *type,
                        uint64_t seed) {
    static _Alignas(64) uint8_t panels[MAX_BYTES];
    const int lane_bytes = kernel->cpu->lane_bytes, width = kernel->mr;
    uint64_t random = seed;
    packing_t x = {.kernel = kernel, .what = "panels of A", .width = width, .lines = width};
    x.first = random_below(&random, 3) * width;
    x.pack.dtype = type->a;
    x.pack.round_to_tf32 = type->type == TCGEMM_TF32_F32;
    x.pack.k = 1 + random_below(&random, 200);
    x.pack.k_stride = 2; /* it lies across k */
    const int most = tcgemm_panels_at_once(kernel->cpu, &x.pack);
    if (most == 1)
        return;
    const int count = 2 + (int)random_below(&random, most - 1);
    x.lines = count * width;
    if (kernel->cpu->family == TCGEMM_FAMILY_U8S8) {
        x.pack.flip = random_below(&random, 2) ? 0x80 : 0;
        x.wants_terms = random_below(&random, 2);
        x.pack.adds_terms = random_below(&random, 2);
        x.pack.sum_factor = 0u - 128u;
        x.pack.sum_offset = (uint32_t)random_next(&random);
    }
    place_source(&x, false, &random);
    fill_source(&x, random_below(&random, 2), &random);
    uint32_t terms[MOST_TERMS + 1];
    set_earlier_terms(terms);
    const int64_t lanes = (x.pack.k + kernel->cpu->ku - 1) / kernel->cpu->ku * width;
    uint8_t *const end = panels + count * lanes * lane_bytes;
    memset(end, 0xA5, CANARY);
    const bool flag =
        kernel->cpu->pack(&x.pack, x.first, x.lines, width, panels, x.wants_terms ? terms : NULL);
    for (int64_t i = 0; i < count * lanes; ++i) {
        uint64_t got = 0;
        memcpy(&got, panels + i * lane_bytes, (size_t)lane_bytes);
        const int line = (int)(i / lanes * width + i % width);
        const uint64_t expected = expected_lane(&x, line, i % lanes / width);
        if (got != expected) {
            fail_packing(&x, "lane %lld is %#llx, expected %#llx", i, got, expected);
            return;
        }
    }
    const int summed = x.wants_terms ? x.lines : 0;
    for (int i = 0; i <= summed; ++i) {
        const uint32_t expected = i < summed ? expected_term(&x, i) : earlier_term(i);
        if (terms[i] != expected)
            fail_packing(&x, "term %lld is %llu, expected %llu", i, terms[i], expected);
    }
    if (flag != expected_flag(&x))
        fail_packing(&x, "at %lld the flag is %llu, expected %llu", 0, flag, expected_flag(&x));
    for (int i = 0; i < CANARY; ++i)
        if (end[i] != 0xA5)
            fail_packing(&x, "byte %lld behind the panels is %#llx (%llu)", i, end[i], 0);
}

static void panels_are_what_the_contract_says(void **state) {
    (void)state;
    source = guard_make(400000);
    const int64_t count = at_level(10, 60, 1500);
    for (int row = 0; row < tcgemm_num_kernels(); ++row) {
        const tcgemm_kernel_t *kernel = tcgemm_kernel_at(row);
        if (!kernel->cpu || !kernel->family->fits(kernel, NULL))
            continue;
        for (int type = 1; type <= tcgemm_type_count(); ++type)
            for (int64_t i = 0; i < count && (kernel->types >> (type - 1) & 1); ++i) {
                const tcgemm_type_info_t *info = tcgemm_type_info((tcgemm_type_t)type);
                const uint64_t seed = (uint64_t)(row * 1000003 + type * 1009 + i);
                random_packing(kernel, info, seed);
                some_panels(kernel, info, seed);
            }
    }
    guard_free(&source);
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_are_what_the_contract_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
