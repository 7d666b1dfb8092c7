/* run_kernel.c - the kernels' results by the formula, in wide arithmetic. */
#include "fake_driver/driver/run_kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "fake_driver/driver/kernel_args.h"
#include "fake_driver/driver/state.h"

typedef tcgemm_gpu_args_t args_t;

/* ---- floats ---- */

static double scalar(const kernel_t *kernel, double f64, float f32) {
    return kernel->d == TCGEMM_DTYPE_F64 ? f64 : (double)f32;
}

/* op(X) of one item, rows x cols, row after row. */
static double *floats_of(tcgemm_dtype_t dtype, const void *data, int64_t rows, int64_t cols,
                         int64_t ld, bool trans, bool is_tf32) {
    double *const values = malloc((size_t)(rows * cols) * sizeof *values);
    if (!values)
        abort();
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < cols; ++j) {
            const double x = tcgemm_load_float(dtype, data, trans ? j * ld + i : i * ld + j);
            values[i * cols + j] = is_tf32 ? (double)tcgemm_tf32_of_f32((float)x) : x;
        }
    return values;
}

static void store_floats(const kernel_t *kernel, const args_t *x, int64_t item, int64_t i,
                         const double *sums) {
    const double alpha = scalar(kernel, x->alpha.f64, x->alpha.f32);
    const double beta = scalar(kernel, x->beta.f64, x->beta.f32);
    for (int64_t j = 0; j < x->n; ++j) {
        double value = alpha * sums[j];
        if (x->c)
            value += beta * tcgemm_load_float(kernel->d, x->c, item * x->stride_c + i * x->ldc + j);
        tcgemm_store_float(kernel->d, x->d, item * x->stride_d + i * x->ldd + j, value);
    }
}

/* Part `part` of an item as a product of its own, item 0: its steps of k, and where it goes. */
static args_t part_of(const kernel_t *kernel, const args_t *x, int64_t item, int64_t part) {
    args_t p = *x;
    const int64_t first = part * x->split_k;
    p.k = x->splits.by == 1 ? x->k : x->k - first < x->split_k ? x->k - first : x->split_k;
    p.a = (const char *)x->a + (item * x->stride_a + first * (x->a_trans ? x->lda : 1)) *
                                   tcgemm_dtype_bits(kernel->a) / 8;
    p.b = (const char *)x->b + (item * x->stride_b + first * (x->b_trans ? 1 : x->ldb)) *
                                   tcgemm_dtype_bits(kernel->b) / 8;
    p.d = (char *)x->d +
          (item * x->splits.by + part) * x->stride_d * tcgemm_dtype_bits(kernel->d) / 8;
    p.c = x->c ? (const char *)x->c + item * x->stride_c * tcgemm_dtype_bits(kernel->d) / 8 : NULL;
    return p;
}

static void multiply_floats(const kernel_t *kernel, const args_t *x) {
    const bool is_tf32 = kernel->row->code == TCGEMM_TF32_F32;
    double *const a = floats_of(kernel->a, x->a, x->m, x->k, x->lda, x->a_trans, is_tf32);
    double *const b = floats_of(kernel->b, x->b, x->k, x->n, x->ldb, x->b_trans, is_tf32);
    double *const sums = malloc((size_t)x->n * sizeof *sums);
    if (!sums)
        abort();
    for (int64_t i = 0; i < x->m; ++i) {
        memset(sums, 0, (size_t)x->n * sizeof *sums);
        for (int64_t p = 0; p < x->k; ++p) {
            const double factor = a[i * x->k + p];
            const double *const row = b + p * x->n;
            for (int64_t j = 0; j < x->n; ++j)
                sums[j] += factor * row[j];
        }
        store_floats(kernel, x, 0, i, sums);
    }
    free(a);
    free(b);
    free(sums);
}

/* ---- integers, modulo 2^32 ---- */

static uint32_t integer_at(tcgemm_dtype_t dtype, const void *data, int64_t index) {
    return (uint32_t)tcgemm_load_integer(dtype, data, index);
}

static uint32_t *integers_of(tcgemm_dtype_t dtype, const void *data, int64_t rows, int64_t cols,
                             int64_t ld, bool trans) {
    uint32_t *const values = malloc((size_t)(rows * cols) * sizeof *values);
    if (!values)
        abort();
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < cols; ++j)
            values[i * cols + j] = integer_at(dtype, data, trans ? j * ld + i : i * ld + j);
    return values;
}

static void store_integers(const kernel_t *kernel, const args_t *x, int64_t item, int64_t i,
                           const uint32_t *sums) {
    for (int64_t j = 0; j < x->n; ++j) {
        uint32_t value = x->alpha.s32 * sums[j];
        if (x->c)
            value += x->beta.s32 * integer_at(kernel->d, x->c, item * x->stride_c + i * x->ldc + j);
        tcgemm_store_integer(kernel->d, x->d, item * x->stride_d + i * x->ldd + j, (int32_t)value);
    }
}

static void multiply_integers(const kernel_t *kernel, const args_t *x) {
    uint32_t *const a = integers_of(kernel->a, x->a, x->m, x->k, x->lda, x->a_trans);
    uint32_t *const b = integers_of(kernel->b, x->b, x->k, x->n, x->ldb, x->b_trans);
    uint32_t *const sums = malloc((size_t)x->n * sizeof *sums);
    if (!sums)
        abort();
    for (int64_t i = 0; i < x->m; ++i) {
        memset(sums, 0, (size_t)x->n * sizeof *sums);
        for (int64_t p = 0; p < x->k; ++p) {
            const uint32_t factor = a[i * x->k + p];
            const uint32_t *const row = b + p * x->n;
            for (int64_t j = 0; j < x->n; ++j)
                sums[j] += factor * row[j];
        }
        store_integers(kernel, x, 0, i, sums);
    }
    free(a);
    free(b);
    free(sums);
}

/* ---- D = beta * C ---- */

static void scale(const kernel_t *kernel, const args_t *x, int64_t item) {
    for (int64_t i = 0; i < x->m; ++i)
        for (int64_t j = 0; j < x->n; ++j) {
            const int64_t from = item * x->stride_c + i * x->ldc + j;
            const int64_t to = item * x->stride_d + i * x->ldd + j;
            if (tcgemm_dtype_is_integer(kernel->d))
                tcgemm_store_integer(
                    kernel->d, x->d, to,
                    x->c ? (int32_t)(x->beta.s32 * integer_at(kernel->d, x->c, from)) : 0);
            else
                tcgemm_store_float(kernel->d, x->d, to,
                                   x->c ? scalar(kernel, x->beta.f64, x->beta.f32) *
                                              tcgemm_load_float(kernel->d, x->c, from)
                                        : 0.0);
        }
}

/* ---- copies and sums of parts ---- */

static void pack(const kernel_t *kernel, const args_t *x, int64_t item) {
    const int64_t size = tcgemm_dtype_bits(kernel->a) / 8;
    const int64_t end = (x->k * size + 15) / 16 * 16;
    for (int64_t i = 0; i < x->m; ++i) {
        char *const to = (char *)x->d + (item * x->stride_d + i * x->ldd) * size;
        memcpy(to, (const char *)x->a + (item * x->stride_a + i * x->lda) * size,
               (size_t)(x->k * size));
        memset(to + x->k * size, 0, (size_t)(end - x->k * size));
    }
}

static void widen(const kernel_t *kernel, const args_t *x, int64_t item) {
    const int64_t in_piece = 128 / tcgemm_dtype_bits(kernel->d);
    for (int64_t i = 0; i < x->m; ++i)
        for (int64_t j = 0; j < (x->k + in_piece - 1) / in_piece * in_piece; ++j)
            tcgemm_store_float(
                kernel->d, x->d, item * x->stride_d + i * x->ldd + j,
                j < x->k ? tcgemm_load_float(kernel->a, x->a, item * x->stride_a + i * x->lda + j)
                         : 0.0);
}

static void turn(const kernel_t *kernel, const args_t *x, int64_t item) {
    const int64_t size = tcgemm_dtype_bits(kernel->a) / 8;
    const char *const from = (const char *)x->a + item * x->stride_a * size;
    char *const to = (char *)x->d + item * x->stride_d * size;
    for (int64_t j = 0; j < x->k; ++j) {
        memset(to + j * x->ldd * size, 0, (size_t)((x->m * size + 15) / 16 * 16));
        for (int64_t i = 0; i < x->m; ++i)
            memcpy(to + (j * x->ldd + i) * size, from + (i * x->lda + j) * size, (size_t)size);
    }
}

static void reduce(const kernel_t *kernel, const args_t *x, int64_t item) {
    double *const sums = malloc((size_t)x->n * sizeof *sums);
    if (!sums)
        abort();
    for (int64_t i = 0; i < x->m; ++i) {
        memset(sums, 0, (size_t)x->n * sizeof *sums);
        for (uint32_t part = 0; part < x->splits.by; ++part)
            for (int64_t j = 0; j < x->n; ++j)
                sums[j] += tcgemm_load_float(
                    kernel->a, x->a, (item * x->splits.by + part) * x->stride_a + i * x->lda + j);
        store_floats(kernel, x, item, i, sums);
    }
    free(sums);
}

static void reduce_integers(const kernel_t *kernel, const args_t *x, int64_t item) {
    uint32_t *const sums = malloc((size_t)x->n * sizeof *sums);
    if (!sums)
        abort();
    for (int64_t i = 0; i < x->m; ++i) {
        memset(sums, 0, (size_t)x->n * sizeof *sums);
        for (uint32_t part = 0; part < x->splits.by; ++part)
            for (int64_t j = 0; j < x->n; ++j)
                sums[j] += integer_at(kernel->a, x->a,
                                      (item * x->splits.by + part) * x->stride_a + i * x->lda + j);
        store_integers(kernel, x, item, i, sums);
    }
    free(sums);
}

/* What whole_a and whole_b promise: the last 16 bytes of each row are the matrix's or zeros. */
static bool ends_in_zeros(tcgemm_dtype_t dtype, const void *data, int64_t origin, int64_t lines,
                          int64_t length, int64_t ld) {
    const int64_t size = tcgemm_dtype_bits(dtype) / 8;
    for (int64_t i = 0; i < lines; ++i) {
        const char *const row = (const char *)data + (origin + i * ld) * size;
        for (int64_t at = length * size; at % 16 != 0; ++at)
            if (row[at] != 0)
                return false;
    }
    return true;
}

static void check_ends(const kernel_t *kernel, const args_t *x, int64_t item) {
    if (x->whole_a && !ends_in_zeros(kernel->a, x->a, item * x->stride_a, x->a_trans ? x->k : x->m,
                                     x->a_trans ? x->m : x->k, x->lda))
        fake_complain("rows of A do not go on with zeros, as whole_a says");
    if (x->whole_b && !ends_in_zeros(kernel->b, x->b, item * x->stride_b, x->b_trans ? x->n : x->k,
                                     x->b_trans ? x->k : x->n, x->ldb))
        fake_complain("rows of B do not go on with zeros, as whole_b says");
}

static void multiply(const kernel_t *kernel, const args_t *x, int64_t item) {
    check_ends(kernel, x, item);
    for (uint32_t part = 0; part < x->splits.by; ++part) {
        const args_t p = part_of(kernel, x, item, part);
        if (tcgemm_dtype_is_integer(kernel->d))
            multiply_integers(kernel, &p);
        else
            multiply_floats(kernel, &p);
    }
}

/* One operand into its copy. */
static void move(const kernel_t *kernel, const args_t *x) {
    for (int64_t item = 0; item < x->batch; ++item) {
        if (kernel->kind == KERNEL_PACK)
            pack(kernel, x, item);
        else if (kernel->kind == KERNEL_WIDEN)
            widen(kernel, x, item);
        else
            turn(kernel, x, item);
    }
}

void run_kernel(const char *name, const void *params, unsigned grid, unsigned threads,
                size_t smem) {
    const args_t *const x = params;
    const tcgemm_pack_args_t *const packing = params;
    kernel_t kernel;
    (void)grid;
    (void)threads;
    (void)smem;
    if (!kernel_of_name(name, &kernel) || kernel.kind == KERNEL_PEAK)
        return; /* a peak kernel stores nothing */
    kernel = kernel_as_called(&kernel, params);
    if (kernel_packs(&kernel)) {
        for (int i = 0; i < 2 && packing->operand[i].d; ++i)
            move(&kernel, &packing->operand[i]);
        return;
    }
    for (int64_t item = 0; item < x->batch; ++item) {
        if (kernel.kind == KERNEL_SCALE)
            scale(&kernel, x, item);
        else if (kernel.kind == KERNEL_REDUCE && tcgemm_dtype_is_integer(kernel.d))
            reduce_integers(&kernel, x, item);
        else if (kernel.kind == KERNEL_REDUCE)
            reduce(&kernel, x, item);
        else
            multiply(&kernel, x, item);
    }
}
