/* The kernels of wgmma in the emulator, called without plan or driver: every row of its rows.def,
 * in every layout it has, at sizes around the tile, blocks of k around the ring, with batches,
 * parts of k and few blocks that take turns with many tiles; whole numbers, exact, in every order
 * of warps and of boxes that arrive.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "base/types.h"
#include "emulate/emulate.h"
#include "gpu/families/wgmma/shape.h"
#include "gpu/tensor_map.h"
#include "support/module.h"
#include "support/support.h"

typedef struct row {
    const char *entry;
    tcgemm_type_t type;
    int bm, bn, bk, consumers, stages, swap, blocks_per_sm, max_ranks;
    int takes_left, takes_right; /* A and B, of swapped tiles B and A */
    bool pairs, gathers;         /* the right operand may be brought by threads, ... */
    bool by_warps;               /* ... and here both are, by warps */
    bool boxes_of_c;
} row_t;

#define ROW(...)          ROW_OF(false, __VA_ARGS__)
#define ROW_BY_WARPS(...) ROW_OF(true, __VA_ARGS__)
#define ROW_OF(by_warps, type, sums, min_cc, max_cc, bm, bn, bk, consumers, turns, swap, stages,   \
               blocks, ranks, tag)                                                                 \
    {"tcgemm_wgmma_" #type "_" #bm "x" #bn "x" #bk "_" #tag,                                       \
     (tcgemm_type_t)TCGEMM_ID_##type,                                                              \
     bm,                                                                                           \
     bn,                                                                                           \
     bk,                                                                                           \
     consumers,                                                                                    \
     stages,                                                                                       \
     swap,                                                                                         \
     blocks,                                                                                       \
     ranks,                                                                                        \
     TCGEMM_WGMMA_TAKES_LEFT(TCGEMM_INPUT_BITS_##type, bm, bn, consumers, turns, swap, by_warps),  \
     TCGEMM_WGMMA_TAKES_RIGHT(TCGEMM_INPUT_BITS_##type, (swap) ? (bm) : (bn), by_warps),           \
     TCGEMM_WGMMA_PAIRED(TCGEMM_INPUT_BITS_##type, (swap) ? (bm) : (bn), consumers, swap, ranks,   \
                         by_warps),                                                                \
     TCGEMM_WGMMA_GATHERS(TCGEMM_INPUT_BITS_##type, (swap) ? (bm) : (bn)),                         \
     by_warps,                                                                                     \
     TCGEMM_WGMMA_C_BOXES(TCGEMM_WGMMA_PROMOTES_##sums,                                            \
                          TCGEMM_WGMMA_SUMS(bm, bn, consumers, turns))},
static const row_t rows[] = {
#include "gpu/families/wgmma/rows.def"
};
enum { NUM_ROWS = sizeof rows / sizeof rows[0] };

static void *module;

/* ---- matrices of whole numbers ---- */

typedef struct matrix {
    tcgemm_dtype_t dtype;
    int64_t lines, width, ld, batch, stride; /* elements */
    int64_t offset;                          /* ... behind a boundary that it begins */
    char *memory, *data;
    int *value; /* tight */
} matrix_t;

static void store(matrix_t *x, int64_t at, int value) {
    if (tcgemm_dtype_is_integer(x->dtype))
        tcgemm_store_integer(x->dtype, x->data, at, value);
    else
        tcgemm_store_float(x->dtype, x->data, at, value);
}

static double load(const matrix_t *x, int64_t at) {
    return tcgemm_dtype_is_integer(x->dtype) ? tcgemm_load_integer(x->dtype, x->data, at)
                                             : tcgemm_load_float(x->dtype, x->data, at);
}

static size_t bytes_of(const matrix_t *x) {
    return (size_t)tcgemm_dtype_bits(x->dtype) / 8;
}

static void *allocate(size_t bytes) {
    void *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
    assert_non_null(p);
    return p;
}

/* Numbers of -2 .. 3 (unsigned: 0 .. 5); between lines lie bytes of all ones. */
static void fill(matrix_t *x, uint64_t *random) {
    const int least = x->dtype == TCGEMM_DTYPE_U8 ? 0 : -2;
    const size_t bytes = bytes_of(x);
    const size_t size = (size_t)((x->batch - 1) * x->stride + x->lines * x->ld) * bytes;
    x->memory = allocate((size_t)x->offset * bytes + size);
    x->data = x->memory + (size_t)x->offset * bytes;
    x->value = allocate((size_t)(x->batch * x->lines * x->width) * sizeof *x->value);
    memset(x->data, 0xFF, size);
    for (int64_t b = 0; b < x->batch; ++b)
        for (int64_t i = 0; i < x->lines; ++i)
            for (int64_t j = 0; j < x->width; ++j) {
                const int value = least + (int)random_below(random, 6);
                store(x, b * x->stride + i * x->ld + j, value);
                x->value[(b * x->lines + i) * x->width + j] = value;
            }
}

static void drop(matrix_t *x) {
    free(x->memory);
    free(x->value);
}

/* ---- a problem, and its kernel's arguments ---- */

typedef struct problem {
    const row_t *row;
    int64_t m, n, k, batch, splits, split_k;
    bool a_mn, b_mn; /* m, n contiguous */
    int beta, alpha, padding;
    bool shares_b, boxes; /* rows of D on 16-byte boundaries, to leave by boxes */
    bool in_place;        /* C is D */
    bool in_pairs;
    bool is_loose; /* rows of what threads may bring begin anywhere */
    uint64_t seed;
    matrix_t a, b, c, d;
} problem_t;

static matrix_t operand(tcgemm_dtype_t dtype, int64_t extent, int64_t k, bool mn, int64_t batch,
                        int padding, bool is_loose) {
    matrix_t x = {.dtype = dtype, .batch = batch};
    const int64_t in_16 = is_loose ? 1 : 128 / tcgemm_dtype_bits(dtype);
    x.lines = mn ? k : extent;
    x.width = mn ? extent : k;
    x.ld = ((x.width + in_16 - 1) / in_16 + padding) * in_16;
    x.stride = x.ld * (x.lines + padding);
    return x;
}

/* Rows `unit` elements apart, or a multiple of that. */
static matrix_t result(tcgemm_dtype_t dtype, int64_t m, int64_t n, int64_t batch, int padding,
                       int64_t unit) {
    const int64_t ld = (n + unit - 1) / unit * unit + padding * unit;
    return (matrix_t){.dtype = dtype,
                      .lines = m,
                      .width = n,
                      .ld = ld,
                      .batch = batch,
                      .stride = ld * m + padding * unit};
}

/* Boxes of so many lines of 128 bytes. */
static tcgemm_tensor_map_t map_of(const matrix_t *x, int box_lines, bool is_shared,
                                  bool rounds_to_tf32) {
    const uint32_t bytes = (uint32_t)bytes_of(x);
    const tcgemm_tensor_t t = {
        .base = x->data,
        .size = {(uint64_t)x->width, (uint64_t)x->lines, is_shared ? 1 : (uint64_t)x->batch},
        .stride = {(uint64_t)x->ld * bytes, (uint64_t)x->stride * bytes},
        .box = {128 / bytes, (uint32_t)box_lines, 1},
        .element_bytes = (uint16_t)bytes,
        .rounds_to_tf32 = rounds_to_tf32,
    };
    tcgemm_tensor_map_t map;
    memset(&map, 0, sizeof map);
    memcpy(map.opaque, &t, sizeof t);
    return map;
}

static uint32_t aligned_to(const matrix_t *x) {
    uint32_t bytes = 16;
    while ((uint64_t)x->ld * bytes_of(x) % bytes || (uint64_t)x->stride * bytes_of(x) % bytes)
        bytes /= 2;
    return bytes;
}

/* Whether the operand has no map, for threads bring it. */
static bool is_gathered(const problem_t *p, bool is_b) {
    if (p->row->by_warps)
        return true;
    const bool is_right = p->row->swap ? !is_b : is_b;
    return p->row->gathers && is_right && (p->is_loose || (is_b ? p->b_mn : p->a_mn));
}

/* Two tile rows, or rows of pairs, are swept together. */
static tcgemm_raster_t raster_of(const problem_t *p) {
    const int64_t down = (p->m + p->row->bm - 1) / p->row->bm, of_pair = p->in_pairs ? 2 : 1;
    return tcgemm_raster_of((uint32_t)((down + of_pair - 1) / of_pair),
                            (uint32_t)((p->n + p->row->bn - 1) / p->row->bn), 2);
}

static tcgemm_tensor_args_t args_of(const problem_t *p) {
    const row_t *row = p->row;
    const bool is_integer = p->d.dtype == TCGEMM_DTYPE_S32;
    tcgemm_tensor_args_t x;
    memset(&x, 0, sizeof x);
    const bool is_tf32 = row->type == TCGEMM_TF32_F32;
    const int box_rows = TCGEMM_WGMMA_BOX_ROWS(row->bm, row->bn, row->consumers, row->swap,
                                               row->stages, row->blocks_per_sm, row->max_ranks);
    if (!is_gathered(p, false))
        x.a = map_of(&p->a, p->a_mn ? row->bk : row->bm, false, is_tf32);
    if (!is_gathered(p, true))
        x.b = map_of(&p->b,
                     p->b_mn       ? row->bk
                     : p->in_pairs ? row->bn / 2
                                   : row->bn,
                     p->shares_b, is_tf32);
    x.has_d =
        p->boxes && box_rows > 0 && (!p->beta || (row->boxes_of_c && aligned_to(&p->c) == 16));
    x.has_c = x.has_d && p->beta;
    if (x.has_c)
        x.c = map_of(&p->c, box_rows, false, false);
    if (x.has_d)
        x.d = map_of(&p->d, box_rows, false, false);
    x.args = (tcgemm_gpu_args_t){
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .a = p->a.data,
        .b = p->b.data,
        .c = p->beta ? p->c.data : NULL,
        .d = p->d.data,
        .lda = p->a.ld,
        .ldb = p->b.ld,
        .ldc = p->c.ld,
        .ldd = p->d.ld,
        .batch = p->batch,
        .stride_a = p->a.stride,
        .stride_b = p->shares_b ? 0 : p->b.stride,
        .stride_c = p->c.stride,
        .stride_d = p->d.stride,
        .a_trans = p->a_mn,
        .b_trans = !p->b_mn,
        .raster = raster_of(p),
        .vector_a = 16,
        .vector_b = 16,
        .vector_c = aligned_to(&p->c),
        .vector_d = aligned_to(&p->d),
        .splits = tcgemm_divisor_of((uint32_t)p->splits),
        .split_k = p->split_k,
        .gathers = !row->by_warps && (is_gathered(p, false) || is_gathered(p, true)),
    };
    if (is_integer) {
        x.args.alpha.s32 = (uint32_t)p->alpha;
        x.args.beta.s32 = (uint32_t)p->beta;
    } else {
        x.args.alpha.f32 = (float)p->alpha;
        x.args.beta.f32 = (float)p->beta;
    }
    return x;
}

/* Blocks of a cluster: one, two, four, eight in turns, or a pair. */
static uint32_t ranks_of(const problem_t *p) {
    return p->in_pairs ? 2 : p->row->max_ranks > 1 ? 1u << p->seed / 4 % 4 : 1;
}

/* One block (pair) or two take turns with all tiles; a cluster has one. */
static uint32_t grid_of(const problem_t *p) {
    const int64_t tiles = (p->m + p->row->bm - 1) / p->row->bm *
                          ((p->n + p->row->bn - 1) / p->row->bn) * p->batch * p->splits;
    return p->row->max_ranks > 1 ? (uint32_t)tiles * ranks_of(p)
                                 : (1 + (uint32_t)(p->seed / 7 % 2)) * ranks_of(p);
}

static tcgemm_emulate_region_t region_of(const char *name, const matrix_t *x, unsigned flags) {
    const int64_t bytes = (int64_t)bytes_of(x);
    return (tcgemm_emulate_region_t){
        .name = name,
        .line = "line",
        .col = "column",
        .base = x->data,
        .width = x->width * bytes,
        .lines = x->lines,
        .pitch = x->ld * bytes,
        .batch = x->batch,
        .stride = x->stride * bytes,
        .element_bytes = (int)bytes,
        .flags = flags,
    };
}

/* ---- one product ---- */

static void fail_of(const problem_t *p, const char *what) {
    report_failure("%s_%c%c%s%s %lldx%lldx%lld, batch %lld, splits %lld, beta %d, seed %llu: %s",
                   p->row->entry, p->a_mn ? 't' : 'n', p->b_mn ? 'n' : 't',
                   p->in_pairs ? " in pairs" : "", p->in_place ? " in place" : "", (long long)p->m,
                   (long long)p->n, (long long)p->k, (long long)p->batch, (long long)p->splits,
                   p->beta, (unsigned long long)p->seed, what);
}

/* A row of the product of k from `from` to `to`. */
static void product_row(const problem_t *p, int64_t item, int64_t i, int64_t from, int64_t to,
                        int *sums) {
    const int64_t item_b = p->shares_b ? 0 : item;
    const int *a = p->a.value + item * p->a.lines * p->a.width + (p->a_mn ? i : i * p->a.width);
    const int *b = p->b.value + item_b * p->b.lines * p->b.width;
    const int64_t a_step = p->a_mn ? p->a.width : 1;
    memset(sums, 0, (size_t)p->n * sizeof *sums);
    for (int64_t q = from; p->b_mn && q < to; ++q)
        for (int64_t j = 0; j < p->n; ++j)
            sums[j] += a[q * a_step] * b[q * p->b.width + j];
    for (int64_t j = 0; !p->b_mn && j < p->n; ++j)
        for (int64_t q = from; q < to; ++q)
            sums[j] += a[q * a_step] * b[j * p->b.width + q];
}

/* Row i of a part of an item of D; the first wrong element in words, and false. */
static bool compare_row(const problem_t *p, int64_t item, int64_t part, int64_t i, int *sums,
                        char *text, size_t bytes) {
    const int64_t at = item * p->splits + part, first = part * p->split_k;
    const int64_t end = first + p->split_k < p->k ? first + p->split_k : p->k;
    product_row(p, item, i, first, end, sums);
    for (int64_t j = 0; j < p->n; ++j) {
        double wanted = p->alpha * (double)sums[j];
        if (p->beta)
            wanted += p->beta * (double)p->c.value[(item * p->m + i) * p->n + j];
        if (!tcgemm_dtype_is_integer(p->d.dtype))
            wanted = tcgemm_round_float(p->d.dtype, wanted);
        const double got = load(&p->d, at * p->d.stride + i * p->d.ld + j);
        if (got == wanted)
            continue;
        (void)snprintf(text, bytes, "D(%lld, %lld) of %lld is %g, not %g", (long long)i,
                       (long long)j, (long long)at, got, wanted);
        return false;
    }
    return true;
}

/* The first wrong element of D, in words; "" if there is none. */
static void compare(const problem_t *p, char *text, size_t bytes) {
    int *const sums = malloc((size_t)p->n * sizeof *sums);
    assert_non_null(sums);
    bool is_right = true;
    for (int64_t item = 0; item < p->batch; ++item)
        for (int64_t part = 0; part < p->splits; ++part)
            for (int64_t i = 0; is_right && i < p->m; ++i)
                is_right = compare_row(p, item, part, i, sums, text, bytes);
    free(sums);
}

static void launch(problem_t *p, void *kernel) {
    tcgemm_emulate_run_fn *go;
    void *const door = dlsym(module, TCGEMM_EMULATE_RUN);
    memcpy(&go, &door, sizeof go);
    const row_t *row = p->row;
    const tcgemm_tensor_args_t args = args_of(p);
    const bool overlaps = args.has_d && (size_t)row->bn * bytes_of(&p->d) % TCGEMM_TENSOR_ROW != 0;
    const unsigned reads = TCGEMM_EMULATE_READ | (row->by_warps ? TCGEMM_EMULATE_WORDS : 0);
    tcgemm_emulate_region_t regions[] = {
        region_of("A", &p->a, reads), region_of("B", &p->b, reads),
        region_of("C", &p->c, p->beta ? TCGEMM_EMULATE_READ : 0),
        region_of("D", &p->d,
                  TCGEMM_EMULATE_WRITE | (overlaps ? TCGEMM_EMULATE_TWICE : TCGEMM_EMULATE_ONCE))};
    const size_t d_bytes = (size_t)(p->d.batch * p->d.lines) * (size_t)regions[3].width;
    regions[3].written = calloc(d_bytes, 1);
    assert_non_null(regions[3].written);
    tcgemm_emulate_launch_t x = {
        .struct_size = sizeof x,
        .kernel = kernel,
        .parameters = &args,
        .parameter_bytes = sizeof args,
        .grid = grid_of(p),
        .ranks = ranks_of(p),
        .block = (uint32_t)TCGEMM_WGMMA_THREADS(row->bm, row->bn, row->consumers, row->by_warps),
        .smem_bytes =
            (size_t)TCGEMM_WGMMA_SMEM(row->bm, row->bn, row->consumers, row->swap, row->stages,
                                      row->blocks_per_sm, row->max_ranks, row->by_warps),
        .regions = regions,
        .num_regions = 4,
        .order = (tcgemm_emulate_order_t)(p->seed % TCGEMM_EMULATE_NUM_ORDERS),
        .seed = p->seed,
    };
    char text[200] = "";
    assert_int_equal(go(&x), 0);
    compare(p, text, sizeof text);
    if (x.num_faults)
        fail_of(p, x.fault);
    else if (*text)
        fail_of(p, text);
    else if (memchr(regions[3].written, 0, d_bytes))
        fail_of(p, "not all of D is written");
    free(regions[3].written);
}

static void check(problem_t *p, void *kernel) {
    const tcgemm_type_info_t *info = tcgemm_type_info(p->row->type);
    uint64_t random = p->seed;
    p->a = operand(info->a, p->m, p->k, p->a_mn, p->batch, p->padding,
                   p->is_loose && is_gathered(p, false));
    p->b = operand(info->b, p->n, p->k, p->b_mn, p->shares_b ? 1 : p->batch, p->padding,
                   p->is_loose && is_gathered(p, true));
    if (p->row->by_warps && p->is_loose) {
        p->a.offset = (int64_t)p->seed % 3;
        p->b.offset = (int64_t)p->seed / 3 % 3;
    }
    const int64_t unit = p->boxes ? 128 / tcgemm_dtype_bits(info->d) : 1;
    p->c = result(info->d, p->m, p->n, p->batch, p->padding, p->seed % 4 ? unit : 1);
    p->d = result(info->d, p->m, p->n, p->batch * p->splits, 2 * p->padding, unit);
    fill(&p->a, &random);
    fill(&p->b, &random);
    fill(&p->c, &random);
    fill(&p->d, &random);
    if (p->in_place) {
        drop(&p->c);
        p->c = p->d;
    }
    launch(p, kernel);
    drop(&p->a);
    drop(&p->b);
    if (!p->in_place)
        drop(&p->c);
    drop(&p->d);
}

/* ---- every row ---- */

/* The kernel of a layout; NULL: there is none. What threads bring has k contiguous in the end. */
static void *kernel_of(const row_t *row, int layout) {
    char name[128];
    if (row->gathers)
        layout &= row->swap ? ~1 : ~2;
    (void)snprintf(name, sizeof name, "%s_%c%c", row->entry, layout & 1 ? 't' : 'n',
                   layout & 2 ? 'n' : 't');
    return dlsym(module, name);
}

/* Case i of a row: sizes, k, batch and parts go round at different speeds. */
static problem_t problem_of(const row_t *row, int layout, int i) {
    const int64_t bm = row->bm, bn = row->bn, bk = row->bk, stages = row->stages;
    const int64_t sizes[][2] = {{bm + 3, bn - 5}, {1, 1},   {2 * bm + 5, 19},    {13, bn + 8},
                                {bm, bn},         {37, 41}, {bm - 1, 3 * bn - 2}};
    const int64_t ks[] = {
        bk, bk - 3, (stages - 1) * bk, stages * bk - 1, (stages + 1) * bk, 2 * bk + 11, 1};
    problem_t p = {.row = row, .a_mn = layout & 1, .b_mn = (layout & 2) != 0};
    p.m = sizes[i % 7][0];
    p.n = sizes[i % 7][1];
    p.k = ks[(i / 7 + i + layout) % 7];
    p.batch = i % 3 == 2 ? 2 : 1;
    p.splits = i % 4 == 1 && p.k > bk ? 2 : 1;
    p.split_k = p.splits == 1 ? p.k : (p.k / 2 + bk - 1) / bk * bk;
    p.alpha = p.splits == 1 && i % 2 ? 3 : 1;
    p.beta = p.splits == 1 && i % 5 < 2 ? -2 : 0;
    p.in_place = p.beta && i % 2;
    p.padding = i % 3 == 0 ? 0 : i % 3;
    p.shares_b = p.batch == 2 && i % 2;
    p.is_loose = (row->gathers || row->by_warps) && i % 2;
    p.boxes = i / 2 % 2 == 0;
    if (p.boxes) /* whole chunks of 16 bytes */
        p.n = (p.n + 7) / 8 * 8;
    p.seed = (uint64_t)(i + layout + 4 * (row - rows));
    return p;
}

/* Which kernels a row has beside the one with k contiguous in both operands. */
static bool takes(const row_t *row, int layout) {
    const int left = row->swap ? layout >> 1 & 1 : layout & 1;
    const int right = row->swap ? layout & 1 : layout >> 1 & 1;
    return (row->takes_left >> left & 1) && (row->gathers || row->takes_right >> right & 1);
}

static void every_row_multiplies(void **state) {
    (void)state;
    const int cases = (int)at_level(1, 3, 49);
    for (int r = 0; r < NUM_ROWS; ++r) {
        for (int layout = 0; layout < 4; ++layout) {
            void *kernel = takes(&rows[r], layout) ? kernel_of(&rows[r], layout) : NULL;
            assert_true(kernel || !takes(&rows[r], layout));
            for (int i = 0; kernel && i < cases; ++i) {
                problem_t p = problem_of(&rows[r], layout, 5 * (r + layout) + i);
                check(&p, kernel);
            }
        }
    }
    assert_no_failures();
}

/* The same product in many schedules. */
static void the_schedule_does_not_matter(void **state) {
    (void)state;
    for (int r = 0; r < NUM_ROWS; r += (int)at_level(9, 3, 1))
        for (uint64_t seed = 0; seed < 8; ++seed) {
            const row_t *row = &rows[r];
            const int layout = takes(row, 0) ? 0 : 2;
            problem_t p = problem_of(row, layout, 2);
            p.n = 2 * row->bn + 1; /* more tiles than consumers */
            p.m = 9;
            p.k = (row->stages / 2 + 1) * row->bk;
            p.split_k = p.k;
            p.boxes = seed / 4 % 2 == 0;
            p.n += p.boxes ? 7 : 0;
            p.seed = seed;
            check(&p, kernel_of(row, layout));
        }
    assert_no_failures();
}

/* Shares of k of ranks that have many blocks of it, one or none; D in pairs or not, and with C. */
static void ranks_of_a_cluster_sum_up(void **state) {
    (void)state;
    const int64_t blocks[] = {9, 1, 17, 3};
    for (int r = 0; r < NUM_ROWS; ++r)
        for (uint64_t seed = 0; rows[r].max_ranks > 1 && seed < 16; ++seed) {
            problem_t p = problem_of(&rows[r], (int)(seed % 4), (int)(seed / 2));
            p.m = seed % 3 ? rows[r].bm + 5 : 3;
            p.n = seed % 2 ? rows[r].bn - 3 : rows[r].bn + 8;
            p.k = blocks[(seed + seed / 4) % 4] * rows[r].bk - (int64_t)seed;
            p.batch = p.splits = 1;
            p.shares_b = 0;
            p.split_k = p.k;
            p.alpha = seed % 5 ? 2 : 1;
            p.beta = seed % 3 == 1 ? -3 : 0;
            p.in_place = p.beta && seed % 2;
            p.seed = seed;
            check(&p, kernel_of(&rows[r], (int)(seed % 4)));
        }
    assert_no_failures();
}

/* C by boxes, where D replaces it and where it does not, and by rows: tiles that a block takes one
 * after the other, the last ones at the edges. */
static void c_comes_by_boxes(void **state) {
    (void)state;
    const int step = getenv("TCGEMM_TEST_KERNEL") ? 1 : (int)at_level(5, 2, 1);
    int seen = 0;
    for (int r = 0; r < NUM_ROWS; r += step) {
        const row_t *row = &rows[r];
        if (row->swap || !row->boxes_of_c || !is_about_kernel(row->entry))
            continue;
        for (int i = 0; i < 3; ++i, ++seen) {
            problem_t p = problem_of(row, 0, seen);
            p.m = row->bm + 3;
            p.n = 2 * row->bn + 8;
            p.k = p.split_k = (1 + seen % 3) * row->bk - 7;
            p.batch = 1 + seen / 2 % 2;
            p.splits = 1;
            p.shares_b = 0;
            p.boxes = i < 2;
            p.beta = -2;
            p.in_place = i != 1;
            p.seed = (uint64_t)(seen % 7 == 0 ? 1 : seen % 7); /* one block; C as aligned as D */
            p.seed += p.seed == 4;
            check(&p, kernel_of(row, 0));
        }
    }
    assert_true(seen > 0);
    assert_no_failures();
}

/* The narrow operand by threads, in layouts and at addresses that no box can take: fewer blocks of
 * k than warps that gather, and more than slots; fewer lines than the tile has. */
static void threads_bring_the_narrow_operand(void **state) {
    (void)state;
    const int cases = (int)at_level(2, 4, 14);
    int seen = 0;
    for (int r = 0; r < NUM_ROWS; ++r)
        for (int i = 0; rows[r].gathers && i < cases; ++i, ++seen) {
            const row_t *row = &rows[r];
            const int left = row->takes_left == 3 ? i / 2 % 2 : 0, right = i % 2;
            const int layout = row->swap ? right | left << 1 : left | right << 1;
            const int64_t blocks[] = {2, row->stages + 2, 1, 5}, lines[] = {1, 5, 16, 13, 37};
            problem_t p = problem_of(row, layout, seen);
            *(row->swap ? &p.m : &p.n) = lines[seen % 5];
            p.k = blocks[seen % 4] * row->bk - seen % 3;
            p.splits = 1;
            p.split_k = p.k;
            p.boxes = false;
            p.is_loose = seen % 3 > 0;
            check(&p, kernel_of(row, layout));
        }
    assert_no_failures();
}

/* Lines that begin and end anywhere, bytes of all ones between them or none, in all layouts; tiles
 * of one line and more, parts of k and batches. */
static void warps_bring_what_begins_anywhere(void **state) {
    (void)state;
    const int cases = (int)at_level(8, 24, 100);
    int seen = 0;
    for (int r = 0; r < NUM_ROWS; ++r)
        for (int i = 0; rows[r].by_warps && i < cases; ++i, ++seen) {
            const row_t *row = &rows[r];
            const int64_t sizes[] = {row->bm - 17, 1, 2 * row->bm + 1, 34, row->bm + 3};
            problem_t p = problem_of(row, i % 4, seen);
            p.m = sizes[seen % 5];
            p.n = sizes[seen / 4 % 5];
            p.k = (seen % 7 + 1) * row->bk - seen % row->bk;
            p.batch = 1 + seen / 5 % 3;
            p.splits = seen % 6 ? 1 : 2;
            p.split_k = p.splits == 1 ? p.k : (p.k / 2 + row->bk - 1) / row->bk * row->bk;
            p.splits = (p.k + p.split_k - 1) / p.split_k;
            p.alpha = 1;
            p.beta = p.splits == 1 && seen % 3 == 0 ? -2 : 0;
            p.in_place = p.shares_b = p.boxes = false;
            p.padding = seen / 2 % 3;
            p.is_loose = seen % 8 > 0;
            p.seed = (uint64_t)seen;
            check(&p, kernel_of(row, i % 4));
        }
    assert_no_failures();
}

/* D whose rows begin anywhere, written while another tile is multiplied for long. */
static void rows_are_written_in_the_shade(void **state) {
    (void)state;
    for (int r = 0, seen = 0; r < NUM_ROWS; ++r) {
        if (!strstr(rows[r].entry, "_turns") || rows[r].swap || rows[r].type == TCGEMM_U8_S32 ||
            rows[r].bm * rows[r].bn > 128 * 128 * (1 + (r % 2)))
            continue;
        problem_t p = problem_of(&rows[r], 0, seen);
        p.m = rows[r].bm - 27;
        p.n = rows[r].bn + 3;
        p.k = p.split_k = 32 * (int64_t)rows[r].bk - 5;
        p.batch = p.splits = 1;
        p.shares_b = p.boxes = false;
        p.beta = seen++ % 2 ? -2 : 0;
        p.in_place = false;
        p.seed = (uint64_t)(seen % 7); /* one block */
        check(&p, kernel_of(&rows[r], 0));
    }
    assert_no_failures();
}

/* Blocks of which each fetches half of B for both: tiles in pairs, of which the last may have no
 * rows of D; one pair of blocks or two; fewer blocks of k than slots, and more. */
static void pairs_share_b(void **state) {
    (void)state;
    const uint64_t cases = (uint64_t)at_level(4, 12, 48);
    for (int r = 0, pairs = 0; r < NUM_ROWS; ++r) {
        const row_t *row = &rows[r];
        pairs += row->pairs;
        for (uint64_t i = 0; row->pairs && i < cases; ++i) {
            const int first = (int)((i + (uint64_t)pairs) % 4);
            const int layout = takes(row, first) ? first : takes(row, 1) ? (int)(i % 2) : 0;
            problem_t p = problem_of(row, layout, (int)i + 3 * pairs);
            const int64_t m[] = {row->bm + 5, 2 * row->bm + 1, 9, 3 * row->bm - 7, 4 * row->bm};
            p.m = m[(i + (uint64_t)pairs) % 5];
            p.in_pairs = true;
            p.seed = i + (uint64_t)r;
            check(&p, kernel_of(row, layout));
        }
    }
    assert_no_failures();
}

int main(void) {
    module = module_of_sm90();
    if (!module)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_multiplies),
        cmocka_unit_test(the_schedule_does_not_matter),
        cmocka_unit_test(ranks_of_a_cluster_sum_up),
        cmocka_unit_test(c_comes_by_boxes),
        cmocka_unit_test(pairs_share_b),
        cmocka_unit_test(threads_bring_the_narrow_operand),
        cmocka_unit_test(warps_bring_what_begins_anywhere),
        cmocka_unit_test(rows_are_written_in_the_shade),
    };
    if (getenv("TCGEMM_TEST_KERNEL")) /* of a module that has no other kernels */
        cmocka_set_test_filter("c_comes_by_boxes");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
