/* What the planner takes at the level of the processor that TCGEMM_ARCH plays, for every type: a
 * sample of check/kernels, semantics and threads that is small enough for an emulated processor.
 * The builds for Arm run it once for each level (tests/CMakeLists.txt).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/oracle.h"
#include "support/testcase.h"

static tcgemm_kernel_info_t kernel_of(tcgemm_type_t type) {
    const tcgemm_problem_t p = tcgemm_problem(type, 64, 64, 64);
    tcgemm_plan_t *plan = plan_of(context_of(1), &p, NULL);
    tcgemm_plan_info_t chosen = {.struct_size = sizeof chosen};
    assert_int_equal(tcgemm_plan_get_info(plan, &chosen), TCGEMM_STATUS_OK);
    tcgemm_kernel_info_t info = {.struct_size = sizeof info};
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        if (tcgemm_kernel_get_info(row, &info) == TCGEMM_STATUS_OK &&
            strcmp(info.name, chosen.kernel) == 0)
            break;
    assert_string_equal(info.name, chosen.kernel);
    tcgemm_plan_destroy(plan);
    return info;
}

/* TCGEMM_TEST_EMULATED: every instruction is played by a program, and large products take minutes.
 */
static bool is_emulated(void) {
    return getenv("TCGEMM_TEST_EMULATED") != NULL;
}

/* TCGEMM_TEST_KERNEL beside it: what the level has beyond the one below it. */
static bool is_part_of_levels(void) {
    return is_emulated() && getenv("TCGEMM_TEST_KERNEL") != NULL;
}

static void for_each_type(void (*body)(const tcgemm_kernel_info_t *, tcgemm_type_t)) {
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        const tcgemm_kernel_info_t info = kernel_of((tcgemm_type_t)type);
        if (is_about_kernel(info.name))
            body(&info, (tcgemm_type_t)type);
    }
    assert_no_failures();
}

/* TCGEMM_TEST_EXPECTS, a part of a kernel's name: some type must have it. */
static void the_level_is_the_one_asked_for(void **state) {
    (void)state;
    const char *part = getenv("TCGEMM_TEST_EXPECTS");
    bool found = part == NULL;
    for (int type = 1; type <= tcgemm_type_count(); ++type)
        found |= part && strstr(kernel_of((tcgemm_type_t)type).name, part) != NULL;
    if (!found)
        report_failure("no type is multiplied by a kernel whose name has %s", part);
    assert_no_failures();
}

/* Around the register tile, all layouts, scalars, misaligned, steps of k around a lane; the bytes
 * around D are compared. */
static void edges(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    const int64_t m[] = {1, info->tile_m - 1, info->tile_m, info->tile_m + 3};
    const int64_t n[] = {1, 5, info->tile_n - 1, info->tile_n, info->tile_n + 7};
    const int64_t k[] = {1, info->tile_k + 1, 2 * info->tile_k - 1, 67};
    const bool is_float = oracle_is_float(tcgemm_type_info(type)->d);
    for (int i = 0; i < 20; ++i) {
        uint64_t random = (uint64_t)type * 1000 + (uint64_t)i;
        testcase_t t =
            testcase_make(NULL, tcgemm_problem(type, m[i % 4], n[i % 5], k[i / 5]), random);
        t.p.op_a = random_below(&random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.op_b = random_below(&random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.order = random_below(&random, 2) ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
        t.p.flags = type == TCGEMM_B1_S32 && i & 1 ? TCGEMM_FLAG_XOR : 0;
        t.fill = i & 1 ? FILL_UNIFORM : FILL_SMALL_INT;
        t.alpha = i % 3 == 0 ? 1 : t.fill == FILL_SMALL_INT || !is_float ? -2 : 0.7;
        t.beta = i % 4 < 2 ? 0 : t.fill == FILL_SMALL_INT || !is_float ? 3 : -1.3;
        t.misalign = (int)random_below(&random, 5) * oracle_bits(tcgemm_type_info(type)->d) / 8;
        (void)testcase_check(&t);
    }
}

static void every_type_at_its_edges(void **state) {
    (void)state;
    for_each_type(edges);
}

/* Bytes whose rows may be taken as words where they lie, and those that may not: in a batch with
 * odd strides some items may and others not. */
static void rows_of_bytes(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    const tcgemm_type_info_t *t_info = tcgemm_type_info(type);
    if (oracle_bits(t_info->a) != 8 || oracle_is_float(t_info->a))
        return;
    for (int i = 0; i < 16; ++i) {
        const int64_t k = i & 1 ? 4 + 8 * i : 16;
        testcase_t t = testcase_make(
            NULL,
            tcgemm_problem(type, i % 3 ? info->tile_m + 3 : 2 * i + 1, i % 5 * 16 + 8 + i / 8, k),
            100 + (uint64_t)i);
        t.p.op_b = i & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.lda = k + i % 4 * 2;
        t.p.ldb = (t.p.op_b == TCGEMM_OP_T ? k : t.p.n) + i / 4 % 2 * 4;
        t.p.batch = 3;
        t.p.stride_a = t.p.m * t.p.lda + (i & 4 ? 1 : 0);
        t.p.stride_b = t.p.op_b == TCGEMM_OP_T ? t.p.n * t.p.ldb + 1 : k * t.p.ldb;
        t.p.stride_d = t.p.m * t.p.n;
        t.p.stride_c = t.p.stride_d;
        t.fill = FILL_UNIFORM;
        t.alpha = i % 4 == 3 ? -5 : 1;
        t.beta = i % 8 < 6 ? 0 : 7;
        (void)testcase_check(&t);
    }
}

static void bytes_in_place(void **state) {
    (void)state;
    for_each_type(rows_of_bytes);
}

/* A whose rows may be taken as lanes where they lie, and that may not, of products of more than one
 * block: by a pointer, a pitch or a k that is not on lanes, a pitch that packs all the same, items
 * off lanes; some threads; numbers of bf16 that are subnormal. */
static void lanes_in_place(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    const int64_t lane = 32 / oracle_bits(tcgemm_type_info(type)->a); /* elements */
    const bool has_tiles = strstr(info->name, "amx");                 /* rows_in_tiles */
    if (lane != 2 && lane != 4)
        return;
    const int step = has_tiles ? 5 : is_emulated() ? 10 : 1;
    for (int i = is_emulated() ? 5 : 0; i < 16; i += step) {
        const int64_t m = i & 1 ? 531 : 64, n = i & 2 ? 70 : 203;
        const int64_t k = (i & 1 ? 32 : 816 * lane) + (i % 8 == 5 ? 1 : 0);
        testcase_t t = testcase_make(NULL, tcgemm_problem(type, m, n, k), 300 + (uint64_t)i);
        t.p.op_b = i & 4 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.lda =
            i == 6 ? 2048 * lane : (k + lane - 1) / lane * lane + (i % 8 == 3 ? 1 : i % 4 * lane);
        t.p.batch = i % 8 == 7 ? 2 : 1;
        t.p.stride_a = m * t.p.lda + (i == 15 ? 1 : 0);
        t.p.stride_b = k * n;
        t.p.stride_c = t.p.stride_d = m * n;
        t.misalign = i % 8 == 4 ? oracle_bits(tcgemm_type_info(type)->d) / 8 : 0;
        t.num_threads = 1 + i % 3;
        t.fill = i % 8 < 3 ? FILL_WIDE : i & 1 ? FILL_UNIFORM : FILL_SMALL_INT;
        t.alpha = i % 4 == 3 ? -5 : 1;
        t.beta = i % 8 < 6 ? 0 : 7;
        (void)testcase_check(&t);
    }
}

/* The same on matrix tiles, whose lanes are 64 bytes: rows that fill halves of tiles, or not; near
 * each other, or not; one unit for each thread, or many. */
static void rows_in_tiles(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    const int64_t lane = 512 / oracle_bits(tcgemm_type_info(type)->a);
    if (!strstr(info->name, "amx") || (type != TCGEMM_BF16_F32 && type != TCGEMM_BF16_BF16 &&
                                       type != TCGEMM_F16_F32 && type != TCGEMM_U8S8_S32))
        return;
    for (int i = 0; i < 12; ++i) {
        const bool is_large = i % 4 == 1; /* enough for some threads */
        const int64_t m = i == 4 ? 55 : is_large ? 304 : 176, n = i & 2 ? 37 : 203;
        const int64_t k = i == 7 ? 9 * lane : is_large ? 16 * lane - i / 9 : (2 + i % 3) * lane;
        testcase_t t = testcase_make(NULL, tcgemm_problem(type, m, n, k), 400 + (uint64_t)i);
        t.p.op_b = i & 4 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.lda = i == 10 ? 16 * lane + 8 : k + (i % 4 == 3 ? lane : 0);
        t.p.batch = i == 8 ? 2 : 1;
        t.p.stride_a = m * t.p.lda;
        t.p.stride_b = k * n;
        t.p.stride_c = t.p.stride_d = m * n;
        t.misalign = i == 6 ? 16 : 0;
        t.num_threads = 1 + i % 6;
        t.fill = i % 3 == 0 ? FILL_WIDE : i % 3 == 1 ? FILL_UNIFORM : FILL_SMALL_INT;
        t.alpha = i % 4 == 3 ? -5 : 1;
        t.beta = i < 8 ? 0 : 7;
        (void)testcase_check(&t);
    }
}

static void lanes_in_place_of_large_products(void **state) {
    (void)state;
    for_each_type(lanes_in_place);
    for_each_type(rows_in_tiles);
}

/* A vector or more behind the last whole panel of B, A where it lies or not; some units, threads
 * and blocks of k. */
static void last_columns(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    if (type != TCGEMM_F32_F32 && type != TCGEMM_F64_F64)
        return;
    const int64_t tile = info->tile_n, lanes = tile / 3;
    const int64_t n[] = {2 * tile + 1, 3 * tile + lanes, 3 * tile + lanes + 1, 11 * tile + 2};
    const int count = is_part_of_levels() ? 2 : 8;
    for (int i = 0; i < count; ++i) {
        testcase_t t = testcase_make(
            NULL, tcgemm_problem(type, 131, n[i / 2], i < 6 ? 2200000 / 131 / n[i / 2] : 801),
            30 + (uint64_t)i);
        t.p.op_b = i & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.op_a = i == 4 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.fill = FILL_SMALL_INT;
        t.beta = i & 2 ? 2 : 0;
        t.num_threads = 1 + i % 4;
        (void)testcase_check(&t);
    }
}

static void last_columns_of_large_products(void **state) {
    (void)state;
    for_each_type(last_columns);
}

/* k beyond a block: the sums come back. */
static void deep(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    testcase_t t =
        testcase_make(NULL, tcgemm_problem(type, 3, 5, type == TCGEMM_B1_S32 ? 8200 : 1300), 5);
    (void)info;
    t.fill = FILL_UNIFORM;
    t.beta = 1;
    (void)testcase_check(&t);
}

/* Matrix tiles have longer blocks, and few rows another way: more rows than a unit has, ragged. */
static void deep_in_tiles(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    const bool is_float = type == TCGEMM_BF16_F32 || type == TCGEMM_F16_F32;
    if (!strstr(info->name, "amx") || (!is_float && type != TCGEMM_S8_S32))
        return;
    testcase_t t =
        testcase_make(NULL, tcgemm_problem(type, 259, info->tile_n + 7, is_float ? 4200 : 8300), 6);
    t.fill = FILL_UNIFORM;
    t.beta = 1;
    (void)testcase_check(&t);
}

static void every_type_beyond_its_block_of_k(void **state) {
    (void)state;
    for_each_type(deep);
    for_each_type(deep_in_tiles);
}

/* The product of operands that were altered, as the judge has it; frees them. */
static void check_on(const testcase_t *t, operands_t *x) {
    double ratio;
    operands_save(x);
    if (testcase_run_on(t, x) == TCGEMM_STATUS_OK)
        (void)(testcase_judge(t, x, &ratio) && testcase_untouched(t, x));
    else
        testcase_fail(t, "%s", tcgemm_last_error());
    operands_free(x);
}

/* A row of A that tiles would read where it lies, and whose only number is a subnormal bf16 that B
 * makes large. */
static void subnormal_in_tiles(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    enum { ROW = 37, AT = 41 };
    if (!strstr(info->name, "amx") || tcgemm_type_info(type)->a != TCGEMM_DTYPE_BF16)
        return;
    for (int i = 0; i < 2; ++i) {
        testcase_t t = testcase_make(NULL, tcgemm_problem(type, 64 << i, 203, 256 << i), 77);
        operands_t x;
        t.num_threads = 1 + 3 * i;
        operands_make(&t, &x);
        for (int64_t k = 0; k < t.p.k; ++k)
            oracle_set(x.a.dtype, x.a.data, matrix_index(&x.a, 0, ROW, k),
                       k == AT ? 0x1p-130 : 0.0);
        for (int64_t j = 0; j < t.p.n; ++j)
            oracle_set(x.b.dtype, x.b.data, matrix_index(&x.b, 0, AT, j), 0x1p40);
        check_on(&t, &x);
    }
}

/* NaN, infinities, subnormal and largest numbers in some rows and columns, as the judge has them.
 */
static void specials(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    if (!oracle_is_float(tcgemm_type_info(type)->d))
        return;
    testcase_t t = testcase_make(
        NULL, tcgemm_problem(type, info->tile_m + 3, info->tile_n + 3, 2 * info->tile_k + 5), 7);
    operands_t x;
    operands_make(&t, &x);
    const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY,
                             0x1p-130,    0x1p-1040,        0.0};
    for (int i = 0; i < 6; ++i) {
        if (x.a.dtype == TCGEMM_DTYPE_E4M3 && isinf(values[i]))
            continue;
        oracle_set(x.a.dtype, x.a.data, matrix_index(&x.a, 0, i + 1, i), values[i]);
        oracle_set(x.b.dtype, x.b.data, matrix_index(&x.b, 0, (i + 3) % t.p.k, 2 * i), values[i]);
    }
    check_on(&t, &x);
}

static void specials_go_where_the_formula_sends_them(void **state) {
    (void)state;
    for_each_type(specials);
    for_each_type(subnormal_in_tiles);
}

/* The same bits on one thread and on three. */
static void threads(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    testcase_t t = testcase_make(
        NULL, tcgemm_problem(type, 6 * info->tile_m + 1, 2 * info->tile_n + 1, 131), 9);
    uint64_t bits[2];
    for (int i = 0; i < 2; ++i) {
        operands_t x;
        operands_make(&t, &x);
        t.num_threads = 1 + 2 * i;
        if (testcase_run_on(&t, &x) != TCGEMM_STATUS_OK)
            testcase_fail(&t, "%s", tcgemm_last_error());
        bits[i] = hash_bytes(x.d.data, (size_t)(x.d.span * oracle_bits(x.d.dtype) / 8));
        operands_free(&x);
    }
    if (bits[0] != bits[1])
        testcase_fail(&t, "other bits on three threads than on one");
}

static void threads_do_not_show(void **state) {
    (void)state;
    for_each_type(threads);
}

/* Few rows against a large B: sums come and go many times in a block of k. Any number of threads.
 */
static void few_rows(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    const int64_t m[] = {1, 5, 19};
    (void)info;
    if (type != TCGEMM_F32_F32 && type != TCGEMM_F64_F64 && type != TCGEMM_F16_F32 &&
        type != TCGEMM_BF16_BF16 && type != TCGEMM_E4M3_BF16 && type != TCGEMM_E5M2_F32)
        return;
    /* Blocks have at most 240 columns and 320 of k; vectors of 512 bits take qemu a minute for
     * more. */
    const bool is_slow = is_emulated();
    const int64_t n = is_slow ? 270 : 530, k = is_slow ? 331 : 503, longer = is_slow ? 521 : 801;
    for (int i = 0; i < (is_slow ? 8 : 11); ++i) {
        const tcgemm_problem_t p = i < 6
                                       ? tcgemm_problem(type, m[i / 2], n + i, i == 4 ? longer : k)
                                   : i < 8 ? tcgemm_problem(type, is_slow ? 37 : 139, 1, longer)
                                           : tcgemm_problem(type, n + i, 4 * i - 30, k);
        testcase_t t = testcase_make(NULL, p, 10 + (uint64_t)i);
        t.p.op_b = i & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.op_a = i == 9 || (i % 3 && i < 7) ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.fill = FILL_UNIFORM;
        t.alpha = i == 2 ? 1 : -0.7;
        t.beta = i > 3 ? 0.3 : 0;
        t.num_threads = 1 + i / 2;
        (void)testcase_check(&t);
    }
}

/* The same of types with several elements of k in a lane, whose units pack whole rows of B: parts
 * of k, terms of both operands, more than a block of k. */
static void few_rows_of_lanes(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    const int64_t m[] = {1, 7, 19, 40};
    (void)info;
    if (is_part_of_levels() ||
        (type != TCGEMM_S8_S32 && type != TCGEMM_U8_S32 && type != TCGEMM_S8U8_S32 &&
         type != TCGEMM_U8S8_S32 && type != TCGEMM_BF16_F32 && type != TCGEMM_E4M3_BF16))
        return;
    for (int i = 0; i < 8; ++i) {
        testcase_t t = testcase_make(
            NULL, tcgemm_problem(type, m[i / 2], 1150 + i, i == 4 ? 3301 : 811 + i), 20);
        t.p.op_b = i & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.op_a = i % 3 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.fill = FILL_UNIFORM;
        t.alpha = i == 2 ? 1 : -3;
        t.beta = i > 3 ? 2 : 0;
        t.num_threads = 1 + i / 3;
        (void)testcase_check(&t);
    }
}

/* A few rows, or columns, of bytes against lines along k, with every mixture of signs, x along k
 * and across it, ends of vectors: lines are flipped, and terms of x undo it. */
static void few_rows_of_bytes(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    static const int64_t few[] = {1, 2, 3, 6, 16, 19, 32};
    enum { NUM_FEW = sizeof few / sizeof *few };
    (void)info;
    if (is_part_of_levels() || (type != TCGEMM_S8_S32 && type != TCGEMM_U8_S32 &&
                                type != TCGEMM_U8S8_S32 && type != TCGEMM_S8U8_S32))
        return;
    for (int i = 0; i < 2 * NUM_FEW; ++i) {
        const int64_t many = 521 + i, k = 511 + 7 * i;
        const bool rows = i < NUM_FEW;
        const tcgemm_problem_t p = rows ? tcgemm_problem(type, few[i], many, k)
                                        : tcgemm_problem(type, many, few[i - NUM_FEW], k);
        testcase_t t = testcase_make(NULL, p, 40 + (uint64_t)i);
        t.p.op_a = rows && i % 3 == 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.op_b = rows || i % 3 == 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.fill = FILL_UNIFORM;
        t.alpha = i % 4 == 2 ? 1 : -3;
        t.beta = i % 4 > 1 ? 2 : 0;
        t.num_threads = 1 + i % 3;
        (void)testcase_check(&t);
    }
}

/* Rows of k of an A across it that lie thousands of bytes apart: panels of A are packed together, a
 * few steps of each in turn. */
static void long_rows(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    (void)info;
    if (is_part_of_levels() ||
        (type != TCGEMM_S8_S32 && type != TCGEMM_U8_S32 && type != TCGEMM_S8U8_S32 &&
         type != TCGEMM_BF16_F32 && type != TCGEMM_E5M2_F32))
        return;
    for (int i = 0; i < 4; ++i) {
        testcase_t t =
            testcase_make(NULL, tcgemm_problem(type, 61 + 11 * i, 30 + 9 * i, 1021 + 3 * i), 21);
        t.p.op_a = TCGEMM_OP_T;
        t.p.op_b = i & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.lda = 4099 - i;
        t.fill = FILL_UNIFORM;
        t.beta = i & 1;
        t.num_threads = 1 + i % 3;
        (void)testcase_check(&t);
    }
}

/* Small ones, of one product and of a batch: tiles below one another by one call, more rows than
 * are packed at a time, few rows or columns beside lines that stay near, along k and across it, and
 * rows of D a multiple of 4096 bytes apart. */
static void skinny(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    enum { SIZES = 14 };
    static const int64_t sizes[SIZES][3] = {
        {37, 3, 5},    {611, 16, 2},  {1301, 7, 9}, {90, 17, 70}, {2, 70, 77},
        {150, 4, 101}, {1, 40, 65},   {5, 9, 301},  {1, 300, 80}, {300, 1, 80},
        {70, 1024, 4}, {21, 1024, 9}, {67, 5, 71},  {19, 30, 130}};
    (void)info;
    for (int i = 0; i < (is_emulated() ? 4 : 4 * SIZES); ++i) {
        const int64_t *const size = sizes[i % SIZES];
        testcase_t t =
            testcase_make(NULL, tcgemm_problem(type, size[0], size[1], size[2]), 30 + (uint64_t)i);
        t.p.op_a = i / SIZES % 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.op_b = i / SIZES / 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.batch = i % 3 == 1 ? 5 : 1;
        t.p.stride_a = size[0] * size[2] + 3;
        t.p.stride_b = size[2] * size[1];
        t.p.stride_c = t.p.stride_d = size[0] * size[1] + 1;
        t.fill = i % 2 ? FILL_WIDE : FILL_UNIFORM;
        t.alpha = i % 4 == 2 ? -2 : 1;
        t.beta = i % 7 == 1 ? 3 : 0;
        t.num_threads = 1 + i % 3 / 2;
        (void)testcase_check(&t);
    }
}

static void small_skinny_products(void **state) {
    (void)state;
    if (!is_part_of_levels())
        for_each_type(skinny);
}

static void few_rows_of_large_products(void **state) {
    (void)state;
    for_each_type(few_rows);
    for_each_type(few_rows_of_lanes);
    for_each_type(few_rows_of_bytes);
    for_each_type(long_rows);
}

/* One row of D, and one column, whose other operand lies along k have the bits that they have in a
 * larger product, however they are computed, if they are to be reproducible: else each may be sums
 * of lanes of k, or not. */
static void one_line(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    enum { LINES = 70, K = 803 };
    (void)info;
    if (type != TCGEMM_F32_F32 && type != TCGEMM_F64_F64)
        return;
    const size_t bytes = type == TCGEMM_F64_F64 ? 8 : 4;
    const tcgemm_dtype_t dtype = tcgemm_type_info(type)->d;
    static double lines[LINES * K], vectors[2 * K], one[LINES], two[2 * LINES];
    uint64_t random = 77;
    for (int64_t e = 0; e < LINES * K; ++e)
        oracle_set(dtype, lines, e, (double)random_below(&random, 1000) / 999 - 0.4);
    for (int64_t e = 0; e < 2 * K; ++e)
        oracle_set(dtype, vectors, e, (double)random_below(&random, 1000) / 999 - 0.6);
    tcgemm_problem_t row = tcgemm_problem(type, 1, LINES, K);
    row.op_b = TCGEMM_OP_T;
    row.flags = TCGEMM_FLAG_REPRODUCIBLE;
    tcgemm_problem_t rows = row;
    rows.m = 2;
    assert_int_equal(tcgemm_gemm(&row, 0.7, vectors, lines, 0, NULL, one), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_gemm(&rows, 0.7, vectors, lines, 0, NULL, two), TCGEMM_STATUS_OK);
    assert_memory_equal(one, two, LINES * bytes);
    tcgemm_problem_t column = tcgemm_problem(type, LINES, 1, K);
    column.ldb = column.ldd = column.ldc = 2;
    column.flags = TCGEMM_FLAG_REPRODUCIBLE;
    tcgemm_problem_t columns = column;
    columns.n = 2;
    assert_int_equal(tcgemm_gemm(&columns, 0.7, lines, vectors, 0, NULL, two), TCGEMM_STATUS_OK);
    for (int64_t i = 0; i < LINES; ++i)
        oracle_set(dtype, one, i, oracle_get(dtype, two, 2 * i));
    assert_int_equal(tcgemm_gemm(&column, 0.7, lines, vectors, 0, NULL, two), TCGEMM_STATUS_OK);
    for (int64_t i = 0; i < LINES; ++i)
        assert_true(oracle_get(dtype, two, 2 * i) == oracle_get(dtype, one, i));
}

/* So have few columns of which each line along k has a part of a vector (parts_tmpl.h). */
static void parts_of_lines(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    enum { LINES = 150, MOST_K = 701, ALL = 40 };
    static const int64_t ks[] = {2, 3, 5, 64, MOST_K};
    (void)info;
    if (type != TCGEMM_F32_F32 && type != TCGEMM_F64_F64)
        return;
    const tcgemm_dtype_t dtype = tcgemm_type_info(type)->d;
    static double a[LINES * MOST_K], b[MOST_K * ALL], few[MOST_K * 8], d[LINES * 8],
        want[LINES * ALL];
    uint64_t random = 78;
    for (int64_t e = 0; e < LINES * MOST_K; ++e)
        oracle_set(dtype, a, e, (double)random_below(&random, 1000) / 999 - 0.4);
    for (int64_t e = 0; e < MOST_K * ALL; ++e)
        oracle_set(dtype, b, e, (double)random_below(&random, 1000) / 999 - 0.6);
    for (int i = 0; i < (int)(sizeof ks / sizeof *ks); ++i) {
        tcgemm_problem_t all = tcgemm_problem(type, LINES, ALL, ks[i]);
        all.flags = TCGEMM_FLAG_REPRODUCIBLE;
        assert_int_equal(tcgemm_gemm(&all, 0.7, a, b, 0, NULL, want), TCGEMM_STATUS_OK);
        for (int64_t n = 2; n <= 8; ++n) {
            tcgemm_problem_t p = tcgemm_problem(type, LINES, n, ks[i]);
            p.flags = TCGEMM_FLAG_REPRODUCIBLE;
            for (int64_t e = 0; e < ks[i] * n; ++e)
                oracle_set(dtype, few, e, oracle_get(dtype, b, e / n * ALL + e % n));
            assert_int_equal(tcgemm_gemm(&p, 0.7, a, few, 0, NULL, d), TCGEMM_STATUS_OK);
            for (int64_t e = 0; e < LINES * n; ++e)
                if (oracle_get(dtype, d, e) != oracle_get(dtype, want, e / n * ALL + e % n))
                    report_failure("%d columns, k %d: element %d has other bits", (int)n,
                                   (int)ks[i], (int)e);
        }
    }
}

/* So have some rows beside a large B that lies along k, if they are to be reproducible, or across
 * it; by columns it is a large A. */
static void some_lines(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    enum { LINES = 517, K = 521, MANY = 70 };
    const bool is_fp8 = type == TCGEMM_E4M3_F32 || type == TCGEMM_E5M2_BF16;
    const bool is_half = type == TCGEMM_F16_F16;
    if (type != TCGEMM_F32_F32 && type != TCGEMM_F64_F64 &&
        !((is_half || is_fp8) && strstr(info->name, "_f32_"))) /* others add up pairs */
        return;
    const tcgemm_dtype_t in = tcgemm_type_info(type)->a;
    const tcgemm_dtype_t dtype = tcgemm_type_info(type)->d;
    const size_t bytes = (size_t)tcgemm_dtype_bits(dtype) / 8;
    static double lines[LINES * K], rows[MANY * K], few[MANY * LINES], many[MANY * LINES];
    uint64_t random = 78;
    for (int64_t e = 0; e < LINES * K; ++e)
        oracle_set(in, lines, e, (double)random_below(&random, 1000) / 999 - 0.4);
    for (int64_t e = 0; e < MANY * K; ++e)
        oracle_set(in, rows, e, (double)random_below(&random, 1000) / 999 - 0.6);
    for (int layout = 0; layout < 4; ++layout) {
        const bool is_by_columns = layout >= 2;
        tcgemm_problem_t p = tcgemm_problem(type, MANY, LINES, K);
        p.op_b = layout % 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
        p.flags = is_by_columns == (p.op_b == TCGEMM_OP_N) ? TCGEMM_FLAG_REPRODUCIBLE : 0;
        p.order = is_by_columns ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
        p.lda = is_by_columns ? MANY : K;
        p.ldc = p.ldd = is_by_columns ? MANY : LINES;
        assert_int_equal(tcgemm_gemm(&p, 0.7, rows, lines, 0, NULL, many), TCGEMM_STATUS_OK);
        for (p.m = 2; p.m < 30; p.m += 3) {
            memcpy(few, many, sizeof few);
            for (int64_t e = 0; e < p.m * LINES; ++e)
                oracle_set(dtype, few, is_by_columns ? e % p.m + e / p.m * MANY : e, -1);
            assert_int_equal(tcgemm_gemm(&p, 0.7, rows, lines, 0, NULL, few), TCGEMM_STATUS_OK);
            assert_memory_equal(few, many, (size_t)MANY * LINES * bytes);
        }
    }
}

static void some_lines_have_the_bits_of_many(void **state) {
    (void)state;
    if (!is_part_of_levels())
        for_each_type(some_lines);
}

static void one_line_has_the_bits_of_many(void **state) {
    (void)state;
    for_each_type(one_line);
    for_each_type(parts_of_lines);
}

/* Every number of fp8, moved along k from line to line, that a row or column of D picks by a one:
 * one of them, whose lines are converted as they are multiplied, and many, for which they are
 * packed. */
static void every_number(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    enum { SIZE = 256, MANY = 37 };
    const tcgemm_type_info_t *t = tcgemm_type_info(type);
    (void)info;
    if (oracle_bits(t->a) != 8 || !oracle_is_float(t->a))
        return;
    static uint8_t lines[SIZE * SIZE], picks[MANY * SIZE];
    static double d[MANY * SIZE];
    for (int at = 0; at < SIZE * SIZE; ++at) {
        const uint8_t byte = (uint8_t)(at / SIZE + at % SIZE); /* as a matrix it is symmetric */
        lines[at] = isfinite(oracle_get(t->a, &byte, 0)) ? byte : 0;
    }
    memset(picks, 0, sizeof picks);
    for (int64_t i = 0; i < MANY; ++i)
        oracle_set(t->a, picks, i * SIZE + i * 7, 1.0);
    for (int layout = 0; layout < 8; ++layout) {
        const bool is_by_columns = layout & 2;
        const int64_t count = layout & 4 ? MANY : 1;
        tcgemm_problem_t p =
            tcgemm_problem(type, is_by_columns ? SIZE : count, is_by_columns ? count : SIZE, SIZE);
        const bool is_turned = layout & 1;
        p.op_a = is_by_columns && is_turned ? TCGEMM_OP_T : TCGEMM_OP_N;
        p.op_b = is_by_columns || is_turned ? TCGEMM_OP_T : TCGEMM_OP_N;
        p.lda = p.ldb = SIZE;
        assert_int_equal(tcgemm_gemm(&p, 1.0, is_by_columns ? lines : picks,
                                     is_by_columns ? picks : lines, 0.0, NULL, d),
                         TCGEMM_STATUS_OK);
        for (int64_t i = 0; i < count; ++i)
            for (int64_t line = 0; line < SIZE; ++line) {
                const double expected = oracle_get(t->a, lines, i * 7 * SIZE + line);
                const double found =
                    oracle_get(t->d, d, is_by_columns ? line * count + i : i * SIZE + line);
                if (found != expected)
                    report_failure("%s, layout %d: %g is taken for %g", t->name, layout, expected,
                                   found);
            }
    }
}

static void every_number_of_fp8(void **state) {
    (void)state;
    for_each_type(every_number);
}

/* Few rows or many, of an A along k or across it, and late in k the only product of a row that is
 * not zero: that of a bf16 subnormal of B or A. */
static void late_subnormal(const tcgemm_kernel_info_t *info, tcgemm_type_t type) {
    const int64_t k = 700;
    (void)info;
    if (type != TCGEMM_BF16_F32 && type != TCGEMM_BF16_BF16)
        return;
    const int64_t many = is_emulated() ? 110 : 600, n = is_emulated() ? 200 : 1000;
    const int64_t rows[] = {5, 20, many, many};
    for (int i = 0; i < 16; ++i) {
        const bool is_in_a = i % 4 >= 2, is_across = i >= 12;
        const int64_t late = k - 10 + is_across; /* the first or second of a pair */
        const int64_t m = rows[i / 4], row = m > 100 ? m - 3 : 0;
        testcase_t t = testcase_make(NULL, tcgemm_problem(type, m, n, k), 8);
        t.p.op_b = i % 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
        t.p.op_a = is_across ? TCGEMM_OP_T : TCGEMM_OP_N;
        operands_t x;
        operands_make(&t, &x);
        for (int64_t p = 0; p < k; ++p)
            oracle_set(x.a.dtype, x.a.data,
                       is_across ? matrix_index(&x.a, 0, p, row) : matrix_index(&x.a, 0, row, p),
                       p != late ? 0.0
                       : is_in_a ? 0x1p-127
                                 : 0x1p127);
        oracle_set(x.b.dtype, x.b.data,
                   i % 2 ? matrix_index(&x.b, 0, 77, late) : matrix_index(&x.b, 0, late, 77),
                   is_in_a ? 0x1p127 : 0x1p-127);
        check_on(&t, &x);
    }
}

static void subnormals_late_in_k(void **state) {
    (void)state;
    for_each_type(late_subnormal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_level_is_the_one_asked_for),
        cmocka_unit_test(every_type_at_its_edges),
        cmocka_unit_test(bytes_in_place),
        cmocka_unit_test(lanes_in_place_of_large_products),
        cmocka_unit_test(last_columns_of_large_products),
        cmocka_unit_test(every_type_beyond_its_block_of_k),
        cmocka_unit_test(few_rows_of_large_products),
        cmocka_unit_test(small_skinny_products),
        cmocka_unit_test(one_line_has_the_bits_of_many),
        cmocka_unit_test(some_lines_have_the_bits_of_many),
        cmocka_unit_test(every_number_of_fp8),
        cmocka_unit_test(subnormals_late_in_k),
        cmocka_unit_test(specials_go_where_the_formula_sends_them),
        cmocka_unit_test(threads_do_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
