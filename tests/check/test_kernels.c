/* Every kernel row this machine can run, on every type it computes: shapes around its register tile
 * and beyond its blocks, all transposes and orders, padded rows, batches, offsets, scalars. Uniform
 * data against the judge, whole numbers against 64-bit integers, bytes around D against themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/oracle.h"
#include "support/testcase.h"

/* ---- one random setting of everything but the shape ---- */

static int64_t padded(uint64_t *random, int64_t length) {
    static const int64_t extra[] = {0, 0, 1, 3, 17, 64};
    const int64_t pad = extra[random_below(random, 6)];
    return pad == 0 && length > 0 && random_below(random, 2) ? 0 : (length > 1 ? length : 1) + pad;
}

typedef struct storage {
    int64_t lines, length;
} storage_t;

static storage_t stored(const tcgemm_problem_t *p, int64_t rows, int64_t cols, tcgemm_op_t op) {
    const bool lines_are_rows = (p->order == TCGEMM_ROW_MAJOR) == (op == TCGEMM_OP_N);
    return lines_are_rows ? (storage_t){rows, cols} : (storage_t){cols, rows};
}

static int64_t tight(int64_t ld, storage_t s) {
    return ld ? ld : s.length > 1 ? s.length : 1;
}

/* Items one after the other with a gap (odd: sub-byte items start within a byte), shared, or side
 * by side within longer rows. */
static void choose_stride(uint64_t *random, int64_t batch, storage_t s, bool may_share, int64_t *ld,
                          int64_t *stride) {
    const int64_t kind = random_below(random, 4);
    if (kind == 0 && may_share) {
        *stride = 0;
    } else if (kind == 1) {
        *stride = s.length + random_below(random, 3);
        *ld = *stride * (batch - 1) + s.length + random_below(random, 3);
        *ld = *ld > 1 ? *ld : 1;
    } else {
        *stride =
            (s.lines > 0 ? (s.lines - 1) * tight(*ld, s) + s.length : 0) + random_below(random, 5);
    }
}

static void choose_batch(uint64_t *random, testcase_t *t) {
    tcgemm_problem_t *p = &t->p;
    const storage_t a = stored(p, p->m, p->k, p->op_a);
    const storage_t b = stored(p, p->k, p->n, p->op_b);
    const storage_t d = stored(p, p->m, p->n, TCGEMM_OP_N);
    p->batch = 2 + random_below(random, 3);
    choose_stride(random, p->batch, a, true, &p->lda, &p->stride_a);
    choose_stride(random, p->batch, b, true, &p->ldb, &p->stride_b);
    choose_stride(random, p->batch, d, true, &p->ldc, &p->stride_c);
    choose_stride(random, p->batch, d, false, &p->ldd, &p->stride_d);
}

static void choose_scalars(uint64_t *random, testcase_t *t) {
    static const double whole[] = {1, 1, 0, -1, -2, 3};
    static const double broken[] = {1, 0, 0.7, -1.3, 1e-30, 1000};
    static const double integer[] = {1, 0, -1, 1000, 2147483647.0, 4294967295.0, -2147483648.0};
    const bool is_integer = !oracle_is_float(tcgemm_type_info(t->p.type)->d);
    if (is_integer) {
        t->alpha = integer[random_below(random, 7)];
        t->beta = integer[random_below(random, 7)];
    } else if (t->fill == FILL_SMALL_INT || t->fill == FILL_CYCLE) {
        t->alpha = whole[random_below(random, 6)];
        t->beta = whole[random_below(random, 6)];
    } else {
        t->alpha = broken[random_below(random, 6)];
        t->beta = broken[random_below(random, 6)];
    }
    if (random_below(random, 3) == 0)
        t->beta = 0;
}

static testcase_t random_case(const char *kernel, tcgemm_type_t type, int64_t m, int64_t n,
                              int64_t k, uint64_t seed) {
    uint64_t random = seed;
    testcase_t t = testcase_make(kernel, tcgemm_problem(type, m, n, k), seed);
    t.p.op_a = random_below(&random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
    t.p.op_b = random_below(&random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
    t.p.order = random_below(&random, 2) ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
    if (type == TCGEMM_B1_S32 && random_below(&random, 2))
        t.p.flags |= TCGEMM_FLAG_XOR;
    if (random_below(&random, 8) == 0)
        t.p.flags |= TCGEMM_FLAG_REPRODUCIBLE;
    t.p.lda = padded(&random, stored(&t.p, m, k, t.p.op_a).length);
    t.p.ldb = padded(&random, stored(&t.p, k, n, t.p.op_b).length);
    t.p.ldc = padded(&random, stored(&t.p, m, n, TCGEMM_OP_N).length);
    t.p.ldd = padded(&random, stored(&t.p, m, n, TCGEMM_OP_N).length);
    static const fill_t fills[] = {FILL_SMALL_INT, FILL_UNIFORM, FILL_CYCLE, FILL_UNIFORM};
    t.fill = fills[random_below(&random, 4)];
    if (random_below(&random, 5) == 0 && m * n * k < 200000)
        choose_batch(&random, &t);
    choose_scalars(&random, &t);
    t.in_place = random_below(&random, 4) == 0;
    if (t.in_place) {
        t.p.ldc = t.p.ldd;
        t.p.stride_c = t.p.stride_d;
    }
    /* Only as aligned as the widest element asks; for bytes and less, odd addresses. */
    const tcgemm_type_info_t *info = tcgemm_type_info(type);
    const int widest = oracle_bits(info->d) / 8;
    t.misalign = (int)random_below(&random, 5) * widest;
    t.num_threads = random_below(&random, 6) == 0 ? 3 : 1;
    return t;
}

/* ---- shapes ---- */

enum { MAX_SIZES = 16 };

typedef struct sizes {
    int64_t value[MAX_SIZES];
    int count;
} sizes_t;

static sizes_t around(int64_t tile, int64_t prime) {
    const int64_t all[] = {0, 1, 2, tile - 1, tile, tile + 1, 2 * tile + 3, prime};
    sizes_t s = {{0}, 0};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
        s.value[s.count++] = all[i];
    return s;
}

static sizes_t depths(int64_t ku) {
    const int64_t all[] = {0, 1, ku > 1 ? ku - 1 : 3, ku, ku + 1, 2 * ku + 1, 67, 131};
    sizes_t s = {{0}, 0};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
        s.value[s.count++] = all[i];
    return s;
}

static void all_shapes(const tcgemm_kernel_info_t *info, tcgemm_type_t type, int64_t sparsity) {
    const sizes_t m = around(info->tile_m > 1 ? info->tile_m : 5, 67);
    const sizes_t n = around(info->tile_n > 1 ? info->tile_n : 5, 101);
    const sizes_t k = depths(info->tile_k);
    uint64_t seed = (uint64_t)type * 1000003;
    for (const char *c = info->name; *c; ++c)
        seed = seed * 31 + (uint64_t)*c;
    for (int x = 0; x < m.count; ++x)
        for (int y = 0; y < n.count; ++y)
            for (int z = 0; z < k.count; ++z) {
                seed += 1;
                uint64_t dice = seed;
                if (random_below(&dice, sparsity) != 0)
                    continue;
                const testcase_t t =
                    random_case(info->name, type, m.value[x], n.value[y], k.value[z], seed);
                (void)testcase_check(&t);
            }
}

/* For each row and type: the body of the tests below. */
static void for_each_row(void (*body)(const tcgemm_kernel_info_t *, tcgemm_type_t, int64_t),
                         int64_t argument) {
    tcgemm_kernel_info_t info;
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        for (int type = 1; type <= tcgemm_type_count(); ++type)
            if (kernel_does(row, (tcgemm_type_t)type, &info))
                body(&info, (tcgemm_type_t)type, argument);
    assert_no_failures();
}

static void every_row_at_every_shape(void **state) {
    (void)state;
    for_each_row(all_shapes, at_level(14, 1, 1));
}

/* k beyond the kernel's block, so that D (or the sums) are updated several times. */
static void deep_shapes(const tcgemm_kernel_info_t *info, tcgemm_type_t type, int64_t count) {
    static const int64_t kc[] = {256, 320, 384, 512, 768, 1536, 8192, 12288};
    for (int64_t i = 0; i < count; ++i) {
        uint64_t random = (uint64_t)(type * 1000 + i);
        const int64_t limit = type == TCGEMM_B1_S32 ? 8 : info->tile_k >= 4 ? 6 : 5;
        const int64_t k = kc[limit - 1 - i % 3] * (1 + i % 2) + random_below(&random, 5) - 1;
        testcase_t t =
            random_case(info->name, type, 1 + random_below(&random, 2 * info->tile_m + 3),
                        1 + random_below(&random, 2 * info->tile_n + 3), k, random_next(&random));
        t.alpha = t.alpha == 0 ? 1 : t.alpha;
        (void)testcase_check(&t);
    }
}

static void every_row_beyond_its_block_of_k(void **state) {
    (void)state;
    for_each_row(deep_shapes, at_level(3, 18, 60));
}

/* Tall, wide and larger than one unit of work, or one panel, in m or n. */
static void long_shapes(const tcgemm_kernel_info_t *info, tcgemm_type_t type, int64_t count) {
    static const int64_t sizes[][3] = {{2051, 3, 5},  {3, 3847, 5},  {1031, 2, 33},
                                       {5, 1931, 7},  {197, 487, 9}, {389, 49, 70},
                                       {1, 500, 300}, {500, 1, 300}, {193, 1, 1}};
    const int64_t num_sizes = (int64_t)(sizeof sizes / sizeof sizes[0]);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t *s = sizes[(i * 5 + type) % num_sizes];
        const testcase_t t =
            random_case(info->name, type, s[0], s[1], s[2], (uint64_t)(type * 77 + i));
        (void)testcase_check(&t);
    }
}

static void every_row_on_long_matrices(void **state) {
    (void)state;
    for_each_row(long_shapes, at_level(1, 9, 27));
}

/* Operands that no near cache holds, with lines a power of two apart: what is fetched ahead, and
 * lines that are crowded (docs/kernels.md). */
static void far_shapes(const tcgemm_kernel_info_t *info, tcgemm_type_t type, int64_t count) {
    static const struct {
        int64_t m, n, k;
        tcgemm_op_t a, b;
    } shapes[] = {
        {1, 2304, 1024, TCGEMM_OP_N, TCGEMM_OP_T}, {3, 2304, 1024, TCGEMM_OP_N, TCGEMM_OP_T},
        {1, 1024, 2304, TCGEMM_OP_N, TCGEMM_OP_N}, {10, 1024, 2304, TCGEMM_OP_N, TCGEMM_OP_N},
        {1024, 2, 2304, TCGEMM_OP_T, TCGEMM_OP_N}, {11, 2304, 1024, TCGEMM_OP_N, TCGEMM_OP_T},
        {20, 40, 60001, TCGEMM_OP_N, TCGEMM_OP_N}, {35037, 64, 64, TCGEMM_OP_N, TCGEMM_OP_N},
        {18003, 50, 131, TCGEMM_OP_N, TCGEMM_OP_N}};
    const int64_t num_shapes = (int64_t)(sizeof shapes / sizeof shapes[0]);
    if (type != TCGEMM_F32_F32 && type != TCGEMM_F64_F64 && type != TCGEMM_BF16_F32)
        return;
    if (strcmp(info->algo, "cpu") != 0)
        return;
    for (int64_t i = 0; i < count && i < num_shapes; ++i) {
        const int64_t at = (i * 4 + type) % num_shapes;
        testcase_t t = testcase_make(info->name,
                                     tcgemm_problem(type, shapes[at].m, shapes[at].n, shapes[at].k),
                                     (uint64_t)(type * 77 + i));
        t.p.op_a = shapes[at].a;
        t.p.op_b = shapes[at].b;
        t.fill = i % 2 ? FILL_UNIFORM : FILL_SMALL_INT;
        t.num_threads = i % 3 == 2 ? 3 : 1;
        (void)testcase_check(&t);
    }
}

static void every_row_beyond_the_caches(void **state) {
    (void)state;
    for_each_row(far_shapes, at_level(2, 9, 9));
}

/* The planner's choices and the one-call entry, with more shapes. */
static void random_problems(void **state) {
    (void)state;
    const int64_t count = at_level(150, 3000, 30000);
    for (int64_t i = 0; i < count; ++i) {
        uint64_t random = (uint64_t)i + 424242;
        const int64_t m = random_below(&random, random_below(&random, 6) ? 70 : 300);
        const int64_t n = random_below(&random, random_below(&random, 6) ? 70 : 300);
        const int64_t k = random_below(&random, random_below(&random, 6) ? 70 : 900);
        const tcgemm_type_t type = (tcgemm_type_t)(1 + i % tcgemm_type_count());
        const testcase_t t = random_case(NULL, type, m, n, k, random_next(&random));
        (void)testcase_check(&t);
    }
    assert_no_failures();
}

/* C1: whole numbers over the sizes where kernels change their way, all op pairs and orders. */
static void whole_numbers_are_exact(void **state) {
    (void)state;
    static const int64_t sizes[] = {1,  2,  3,  5,  7,  8,   9,   15,  16,  17,  31,
                                    32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257};
    const int64_t count = at_level(100, 3000, 30000);
    for (int64_t i = 0; i < count; ++i) {
        uint64_t random = (uint64_t)i + 99;
        const int64_t m = sizes[random_below(&random, 22)];
        const int64_t n = sizes[random_below(&random, m > 64 ? 16 : 22)];
        const int64_t k = sizes[random_below(&random, 22)];
        const tcgemm_type_t type = (tcgemm_type_t)(1 + i % tcgemm_type_count());
        testcase_t t = testcase_make(NULL, tcgemm_problem(type, m, n, k), (uint64_t)i);
        t.fill = FILL_SMALL_INT;
        t.p.op_a = i & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.op_b = i & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.order = i & 4 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
        t.alpha = i % 5 == 0 ? -2 : 1;
        t.beta = i % 3 == 0 ? 1 : 0;
        (void)testcase_check(&t);
    }
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_at_every_shape),
        cmocka_unit_test(every_row_beyond_its_block_of_k),
        cmocka_unit_test(every_row_on_long_matrices),
        cmocka_unit_test(every_row_beyond_the_caches),
        cmocka_unit_test(random_problems),
        cmocka_unit_test(whole_numbers_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
