/* The kernels of gpu/steps/pack.cu in the emulator, each by itself: whatever the size of an
 * element, the length of rows, where they begin and how far they are apart, the copy holds every
 * element in its place and zeros in what is left of the last 16 bytes, and nothing outside the
 * operand is read.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "base/num.h"
#include "emulate/emulate.h"
#include "gpu/gpu_args.h"
#include "support/module.h"

enum { PIECE = 16, MAX_BYTES = 1 << 20, BLOCKS = 3, CANARY = 0xA5 };

static void *module;
static uint8_t source[MAX_BYTES] __attribute__((aligned(64)));
static uint8_t copies[2][2 * MAX_BYTES] __attribute__((aligned(64)));
static uint8_t expected[2 * MAX_BYTES];

typedef struct packing {
    const char *kernel;
    int bytes, out_bytes; /* of an element of the operand and of the copy */
    bool turns;
} packing_t;

static const packing_t packings[] = {
    {"tcgemm_pack_8", 1, 1, false},     {"tcgemm_pack_16", 2, 2, false},
    {"tcgemm_pack_32", 4, 4, false},    {"tcgemm_pack_64", 8, 8, false},
    {"tcgemm_turn_8", 1, 1, true},      {"tcgemm_turn_16", 2, 2, true},
    {"tcgemm_turn_32", 4, 4, true},     {"tcgemm_widen_e4m3", 1, 2, false},
    {"tcgemm_widen_e5m2", 1, 2, false},
};

/* m rows of k elements, `gap` between them, the first `off` elements behind a 16-byte boundary. */
typedef struct shape {
    int64_t m, k, batch, gap, item_gap, off;
} shape_t;

static void put_element(const packing_t *p, const uint8_t *from, uint8_t *to) {
    if (p->out_bytes == p->bytes) {
        memcpy(to, from, (size_t)p->bytes);
        return;
    }
    const tcgemm_dtype_t format = strstr(p->kernel, "e4m3") ? TCGEMM_DTYPE_E4M3 : TCGEMM_DTYPE_E5M2;
    const uint16_t wide = tcgemm_bf16_of_f32((float)tcgemm_load_float(format, from, 0));
    memcpy(to, &wide, sizeof wide);
}

static void expect(const packing_t *p, const tcgemm_gpu_args_t *x) {
    const int64_t rows = p->turns ? x->k : x->m, cols = p->turns ? x->m : x->k;
    memset(expected, CANARY, sizeof expected);
    for (int64_t item = 0; item < x->batch; ++item)
        for (int64_t i = 0; i < rows; ++i) {
            uint8_t *to = expected + (item * x->stride_d + i * x->ldd) * p->out_bytes;
            memset(to, 0, (size_t)round_up(cols * p->out_bytes, PIECE));
            for (int64_t j = 0; j < cols; ++j)
                put_element(
                    p,
                    (const uint8_t *)x->a +
                        (item * x->stride_a + (p->turns ? j : i) * x->lda + (p->turns ? i : j)) *
                            p->bytes,
                    to + j * p->out_bytes);
        }
}

static tcgemm_gpu_args_t args_of(const packing_t *p, const shape_t *s, uint8_t *copy) {
    const int64_t out_rows = p->turns ? s->k : s->m, out_cols = p->turns ? s->m : s->k;
    tcgemm_gpu_args_t x = {.m = s->m,
                           .n = 1,
                           .k = s->k,
                           .batch = s->batch,
                           .a = source + PIECE + s->off * p->bytes,
                           .d = copy,
                           .lda = s->k + s->gap,
                           .ldd = round_up(out_cols * p->out_bytes, PIECE) / p->out_bytes};
    x.stride_a = s->m * x.lda + s->item_gap;
    x.stride_d = out_rows * x.ldd;
    assert_true((s->batch * x.stride_a + 2 * PIECE) * p->bytes < MAX_BYTES);
    assert_true(s->batch * x.stride_d * p->out_bytes < 2 * MAX_BYTES);
    return x;
}

/* What lies between the rows is not ours to read; rows without gaps are one. */
static tcgemm_emulate_region_t region_to_read(const packing_t *p, const shape_t *s,
                                              const tcgemm_gpu_args_t *x) {
    tcgemm_emulate_region_t region = {.name = "A",
                                      .line = "rows",
                                      .col = "k",
                                      .base = (void *)x->a,
                                      .width = s->k * p->bytes,
                                      .lines = s->m,
                                      .pitch = x->lda * p->bytes,
                                      .batch = s->batch,
                                      .stride = x->stride_a * p->bytes,
                                      .element_bytes = p->bytes,
                                      .flags = TCGEMM_EMULATE_READ};
    if (s->gap == 0 || s->m == 1) { /* reads may span rows */
        region.width = s->m * s->k * p->bytes;
        region.lines = 1;
        if (s->batch == 1 || x->stride_a == s->m * s->k) {
            region.width *= s->batch;
            region.batch = 1;
        }
    }
    return region;
}

static tcgemm_emulate_region_t region_to_write(const packing_t *p, const tcgemm_gpu_args_t *x) {
    return (tcgemm_emulate_region_t){.name = "copy",
                                     .line = "row",
                                     .col = "column",
                                     .base = x->d,
                                     .width = x->ldd * p->out_bytes,
                                     .lines = p->turns ? x->k : x->m,
                                     .pitch = x->ldd * p->out_bytes,
                                     .batch = x->batch,
                                     .stride = x->stride_d * p->out_bytes,
                                     .element_bytes = p->out_bytes,
                                     .flags = TCGEMM_EMULATE_WRITE};
}

static bool is_copied(const packing_t *p, const tcgemm_gpu_args_t *x) {
    expect(p, x);
    return memcmp(x->d, expected, sizeof expected) == 0;
}

/* One operand, or two in one launch; the second is smaller, and has a copy of its own. */
static bool is_packed(const packing_t *p, const shape_t shapes[2], int count, uint64_t seed) {
    tcgemm_pack_args_t args = {.first_blocks = BLOCKS};
    tcgemm_emulate_region_t regions[4];
    memset(copies, CANARY, sizeof copies);
    for (int i = 0; i < count; ++i) {
        args.operand[i] = args_of(p, &shapes[i], copies[i]);
        regions[2 * i] = region_to_read(p, &shapes[i], &args.operand[i]);
        regions[2 * i + 1] = region_to_write(p, &args.operand[i]);
    }
    tcgemm_emulate_run_fn *go;
    void *const door = dlsym(module, TCGEMM_EMULATE_RUN);
    assert_non_null(door);
    memcpy(&go, &door, sizeof go);
    tcgemm_emulate_launch_t launch = {
        .struct_size = sizeof launch,
        .kernel = dlsym(module, p->kernel),
        .parameters = &args,
        .parameter_bytes = sizeof args,
        .grid = (uint32_t)(BLOCKS + 2 * (count - 1)),
        .block = TCGEMM_MOVE_THREADS,
        .regions = regions,
        .num_regions = 2 * count,
        .order = (tcgemm_emulate_order_t)(seed % TCGEMM_EMULATE_NUM_ORDERS),
        .seed = seed,
    };
    assert_non_null(launch.kernel);
    assert_int_equal(go(&launch), 0);
    bool good = launch.num_faults == 0;
    for (int i = 0; i < count; ++i)
        good = is_copied(p, &args.operand[i]) && good;
    const shape_t *s = shapes;
    if (!good)
        print_message("FAILED %s, %d operands, %d x %d * %d, gaps %d and %d, %d elements off: %lld "
                      "faults (%s)%s\n",
                      p->kernel, count, (int)s->m, (int)s->k, (int)s->batch, (int)s->gap,
                      (int)s->item_gap, (int)s->off, (long long)launch.num_faults, launch.fault,
                      launch.num_faults ? "" : ", wrong elements");
    return good;
}

/* Rows that touch and rows that do not, of one piece, of a few, of more than a block takes at a
 * time. */
static void every_copy_is_whole(void **state) {
    (void)state;
    static const int64_t lengths[] = {1, 3, 16, 17, 33, 64, 65, 130, 300, 1029, 4200};
    static const int64_t gaps[] = {0, 1, 5, 16};
    int wrong = 0;
    uint64_t seed = 1;
    for (size_t p = 0; p < sizeof packings / sizeof *packings; ++p)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; ++l)
            for (size_t g = 0; g < sizeof gaps / sizeof *gaps; ++g) {
                const int64_t most = l > 8 ? 6 : 140;
                ++seed;
                shape_t s[2] = {
                    {.m = 1 + (int64_t)(seed * 37 % (uint64_t)most),
                     .k = lengths[l],
                     .batch = seed % 3 == 0 ? 3 : 1,
                     .gap = gaps[g],
                     .item_gap = seed % 2 ? 0 : (int64_t)(seed % 7),
                     .off = (int64_t)(seed * 11 % (PIECE / (uint64_t)packings[p].bytes))}};
                s[1] = (shape_t){.m = 1 + s->m / 3, .k = 1 + s->k / 2, .batch = 1, .gap = s->gap};
                wrong += !is_packed(&packings[p], s, 1, seed);
                wrong += !is_packed(&packings[p], s, 2, seed);
            }
    assert_int_equal(wrong, 0);
}

int main(void) {
    module = module_of_sm90();
    if (!module)
        return 1;
    uint32_t x = 1;
    for (int i = 0; i < MAX_BYTES; ++i) {
        x = x * 1664525u + 1013904223u;
        source[i] = (uint8_t)(x >> 24);
        if ((source[i] & 0x7F) >= 0x7C) /* no NaN of FP8: emulate/rows has those */
            source[i] &= 0x83;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_copy_is_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
