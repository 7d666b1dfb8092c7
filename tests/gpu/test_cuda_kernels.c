/* test_cuda_kernels.c - every GPU row against the reference, matrices on the GPU.
 *
 *     test_cuda_kernels [--quick | --full | --cover | --list] [--algo NAME] [--kernel NAME]
 *                       [--type NAME]
 *
 * --list prints the names of the rows. --cover takes one small product of each layout a row, for
 * compute-sanitizer. The seed of a case is its number, so a failing line is the same in every run.
 */
#include "gpu_test.h"

typedef struct settings {
    int full, cover, list;
    const char *algo, *kernel, *type;
} settings_t;

typedef struct result {
    int cases, failures;
    double ratio;
} result_t;

static tcgemm_context_t *context;
static int num_that_pair; /* rows that may have their blocks fetch an operand together, ... */
static int num_in_pairs;  /* plans that did */

static int may_pair(const tcgemm_kernel_info_t *k) {
    return strcmp(k->algo, "wgmma") == 0 &&
           (k->tile_m >= 128 || strstr(k->name, "64x128x64_share") ||
            strstr(k->name, "64x128x32_share"));
}

static void note_pairs(const tcgemm_plan_t *plan) {
    char text[4096];
    (void)tcgemm_plan_describe(plan, TCGEMM_FORMAT_TEXT, text, sizeof text);
    num_in_pairs += strstr(text, "in pairs that share") != NULL;
}

static const double scalars[][2] = {{1, 0}, {1, 1}, {2, -3}, {-1, 0}, {0, 2}, {-2, 1}, {3, 2}};
enum { NUM_SCALARS = sizeof scalars / sizeof scalars[0] };

static int64_t random_below(int64_t limit) {
    return (int64_t)(random_bits() % (uint64_t)limit);
}

/* One product. What fails is told; returns 1 if it is right. */
static int run_case(const tcgemm_kernel_info_t *kernel, product_t *p, double alpha, double beta,
                    int in_place, int repeat, double *ratio) {
    tcgemm_plan_options_t options = tcgemm_plan_options();
    tcgemm_plan_t *plan = NULL;
    options.kernel = kernel->name;
    if (tcgemm_plan_create(context, &p->problem, &options, &plan) != TCGEMM_STATUS_OK)
        return 0;
    note_pairs(plan);
    matrix_t *const c = in_place ? &p->d : &p->c;
    const size_t c_bytes = c->bytes;
    unsigned char *const c_before = malloc(c_bytes);
    int good = c_before != NULL;
    if (good)
        memcpy(c_before, c->host, c_bytes);
    good = good &&
           tcgemm_run_async(plan, alpha, device_data(&p->a), device_data(&p->b), beta,
                            device_data(c), device_data(&p->d), NULL, 0, NULL) == TCGEMM_STATUS_OK;
    good = good && fetch_d(p) == 0;
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    good = good && tcgemm_verify(plan, alpha, host_data(&p->a), host_data(&p->b), beta,
                                 c_before + c->offset, host_data(&p->d), TCGEMM_VERIFY_FULL, 1,
                                 &report) == TCGEMM_STATUS_OK;
    if (good && report.num_wrong > 0) {
        (void)printf("  %" PRId64 " wrong, first [%" PRId64 "][%" PRId64 "] of item %" PRId64
                     ": %.9g, not %.9g\n",
                     report.num_wrong, report.wrong_row, report.wrong_col, report.wrong_batch,
                     report.wrong_got, report.wrong_expected);
        good = 0;
    }
    *ratio = report.max_ratio;
    if (good && repeat && !in_place) { /* the same bits again */
        unsigned char *const first = malloc(p->d.bytes);
        if (first)
            memcpy(first, p->d.host, p->d.bytes);
        good = first &&
               tcgemm_run(plan, alpha, device_data(&p->a), device_data(&p->b), beta, device_data(c),
                          device_data(&p->d)) == TCGEMM_STATUS_OK &&
               fetch_d(p) == 0 && memcmp(first, p->d.host, p->d.bytes) == 0;
        free(first);
    }
    free(c_before);
    tcgemm_plan_destroy(plan);
    return good;
}

/* Kernels that stream an operand take D with few rows or columns, as few as their tile has; of a
 * column-major D it is the other way round. */
static void make_few(const tcgemm_kernel_info_t *kernel, tcgemm_problem_t *p) {
    if (strcmp(kernel->algo, "batched") == 0) { /* small items, many of them */
        p->m = (p->m - 1) % kernel->tile_m + 1;
        p->n = (p->n - 1) % kernel->tile_n + 1;
        const int64_t most = 2000000 / (p->m * p->n * p->k); /* the judge takes its time */
        p->batch = 1 + random_below(most < 4 ? 4 : most > 9000 ? 9000 : most);
    }
    if (strcmp(kernel->algo, "stream") != 0)
        return;
    const int are_rows = kernel->tile_m < kernel->tile_n;
    const int64_t few = are_rows ? kernel->tile_m : kernel->tile_n;
    int64_t *const size = are_rows == (p->order == TCGEMM_ROW_MAJOR) ? &p->m : &p->n;
    *size = (*size - 1) % few + 1;
}

static void one_case(const tcgemm_kernel_info_t *kernel, tcgemm_type_t type, const int64_t size[3],
                     int way, int number, result_t *result) {
    random_state = (uint64_t)number * 7919 + (uint64_t)type;
    (void)random_bits();
    const double *s = scalars[number % NUM_SCALARS];
    static const int64_t pads[] = {0, 0, 1, 3, 8, 16};
    static const int64_t skews[] = {0, 0, 1, 2, 3, 4, 8};
    const int64_t pad = pads[random_below(6)];
    const int64_t skew = skews[random_below(7)];
    const int in_place = s[1] != 0 && random_below(3) == 0;
    product_t p;
    p.problem = tcgemm_problem(type, size[0], size[1], size[2]);
    p.problem.op_a = way & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.problem.op_b = way & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.problem.order = way & 4 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
    p.problem.batch = random_below(4) == 0 ? 3 : 1;
    make_few(kernel, &p.problem);
    p.problem.flags |= kernel->needs_flags;
    double ratio = 0;
    int good = make_product(&p, pad, skew);
    if (good && s[1] == 0) { /* C must not be read */
        memset(p.c.host, 0xFF, p.c.bytes);
        good = tcgemm_device_copy(0, p.c.device, p.c.host, p.c.bytes) == TCGEMM_STATUS_OK;
    }
    good = good && run_case(kernel, &p, s[0], s[1], in_place, number % 8 == 0, &ratio);
    free_product(&p);
    ++result->cases;
    if (ratio > result->ratio)
        result->ratio = ratio;
    if (good) {
        ++num_passed;
        return;
    }
    ++num_failed;
    ++result->failures;
    (void)printf(
        "  FAILED %s %s %" PRId64 " x %" PRId64 " x %" PRId64
        " way %d alpha %g beta %g pad %" PRId64 " skew %" PRId64 " batch %" PRId64 "%s: %s\n",
        kernel->name, tcgemm_type_info(type)->name, p.problem.m, p.problem.n, p.problem.k, way,
        s[0], s[1], pad, skew, p.problem.batch, in_place ? " in place" : "", tcgemm_last_error());
}

enum { MAX_SIZES = 32 };

static int sizes_of(const tcgemm_kernel_info_t *k, const settings_t *s,
                    int64_t sizes[MAX_SIZES][3]) {
    const int64_t m = k->tile_m;
    const int64_t n = k->tile_n;
    const int64_t d = k->tile_k;
    const int64_t all[][3] = {
        {m + 1, n + 1, 2 * d + 1},
        {1, 1, 1},
        {m, n, d},
        {2 * m, 2 * n, 4 * d},
        {m - 1, n + 3, d - 1 > 0 ? d - 1 : 1},
        {1, n + 5, 3 * d},
        {m + 7, 1, 5 * d},
        {37, 41, 43},
        {m / 2 + 1, n / 2 + 1, 8 * d + 3},
        {2 * m + 8, n + 8, 6 * d + 8},
        {m, 2 * n, 1},
        {3 * m + 16, n, 2 * d + 16},
        {17, 300, 7},
        {129, 257, 511},
        {5, 3, 1000},
        {m / 2 + 3, n / 3 + 1, 64 * d + 5}, /* k is split */
        {70, 50, 8195},
        {2 * m + 1, 3 * n + 1, 1031}, /* rows are packed */
        {m, n, 17 * 1024 + 3},        /* more of a small operand than shared memory holds */
        {2 * m + 9, n + d / 8, 17 * d + d / 8}, /* rows off a line of the L2: blocks in pairs */
    };
    const int every = (int)(sizeof all / sizeof all[0]);
    const int count = s->cover ? 2 + may_pair(k) : s->full ? every : 5;
    memcpy(sizes, all, (size_t)count * sizeof all[0]);
    if (s->cover) { /* a sanitizer is slow: one ragged tile and a bit */
        sizes[1][0] = m / 2 + 3;
        sizes[1][1] = n / 2 + 5;
        sizes[1][2] = d + 8;
        sizes[2][0] = m + 9; /* two blocks in a pair */
        sizes[2][1] = n + d / 8;
        sizes[2][2] = 4 * d + d / 8;
    }
    return count;
}

static int is_wanted(const tcgemm_kernel_info_t *k, const settings_t *s) {
    return k->runnable && strcmp(k->device, "gpu") == 0 &&
           (!s->algo || strcmp(s->algo, k->algo) == 0) &&
           (!s->kernel || strcmp(s->kernel, k->name) == 0);
}

static void one_kernel(const tcgemm_kernel_info_t *kernel, const settings_t *s) {
    int64_t sizes[MAX_SIZES][3];
    const int count = sizes_of(kernel, s, sizes);
    for (int t = 1; t <= tcgemm_type_count(); ++t) {
        const char *name = tcgemm_type_info((tcgemm_type_t)t)->name;
        result_t result = {0};
        if (!(kernel->types >> (t - 1) & 1) || (s->type && strcmp(s->type, name) != 0))
            continue;
        for (int i = 0; i < count; ++i)
            for (int way = 0; way < (s->full ? 8 : 4); ++way)
                one_case(kernel, (tcgemm_type_t)t, sizes[i], way, 8 * i + way + (i + way) % 5,
                         &result);
        (void)printf("%-56s %-9s %4d cases %3d failed   %.3f of the bound\n", kernel->name, name,
                     result.cases, result.failures, result.ratio);
        (void)fflush(stdout);
    }
}

int main(int argc, char **argv) {
    settings_t s = {0};
    for (int i = 1; i < argc; ++i) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--full") == 0)
            s.full = 1;
        else if (strcmp(argv[i], "--cover") == 0)
            s.cover = 1;
        else if (strcmp(argv[i], "--list") == 0)
            s.list = 1;
        else if (strcmp(argv[i], "--algo") == 0)
            s.algo = value, ++i;
        else if (strcmp(argv[i], "--kernel") == 0)
            s.kernel = value, ++i;
        else if (strcmp(argv[i], "--type") == 0)
            s.type = value, ++i;
    }
    if (tcgemm_device_count() == 0) {
        (void)printf("skipped: %s\n", tcgemm_device_reason());
        return 77;
    }
    tcgemm_context_options_t options = tcgemm_context_options();
    options.device = 0;
    if (tcgemm_context_create(&options, &context) != TCGEMM_STATUS_OK) {
        (void)printf("%s\n0 passed, 1 failed\n", tcgemm_last_error());
        return 1;
    }
    for (int i = 0; i < tcgemm_kernel_count(); ++i) {
        tcgemm_kernel_info_t kernel = {.struct_size = sizeof kernel};
        if (tcgemm_kernel_get_info(i, &kernel) != TCGEMM_STATUS_OK || !is_wanted(&kernel, &s))
            continue;
        if (s.list)
            (void)puts(kernel.name);
        else
            one_kernel(&kernel, &s);
        num_that_pair += may_pair(&kernel);
    }
    tcgemm_context_destroy(context);
    if (s.list)
        return 0;
    (void)printf("%d in pairs\n", num_in_pairs);
    if (s.full && !s.kernel && !s.type && num_that_pair > 0 && num_in_pairs == 0) {
        (void)printf("  FAILED no plan had its blocks in pairs\n");
        ++num_failed;
    }
    return report_counts();
}
