/* gpu_test.h - products on the GPU with everything around them watched; for the tests of this
 * folder.
 *
 * The matrices are made on the host, all bytes 0xFF (NaN, or large integers) but for their
 * elements, and copied to the GPU at an offset, so that neither pointers nor rows need be aligned.
 * What lies around and between the rows of D must be the same afterwards.
 */
#ifndef GPU_TEST_H
#define GPU_TEST_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tcgemm/tcgemm.h"

static int num_passed;
static int num_failed;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (condition) {                                                                           \
            ++num_passed;                                                                          \
        } else {                                                                                   \
            ++num_failed;                                                                          \
            (void)printf("FAILED %s:%d: %s: ", __FILE__, __LINE__, #condition);                    \
            (void)printf(__VA_ARGS__);                                                             \
            (void)printf(" [%s]\n", tcgemm_last_error());                                          \
        }                                                                                          \
    } while (0)

enum { GUARD = 256 };

/* One stored matrix. */
typedef struct matrix {
    tcgemm_dtype_t dtype;
    int64_t lines, length, ld, items, stride;
    size_t bytes;        /* guards included */
    size_t offset;       /* of element 0 */
    unsigned char *host; /* `bytes` of it */
    void *device;        /* a copy of that */
} matrix_t;

static uint64_t random_state = 1;

static uint32_t random_bits(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

static void put_random(matrix_t *x, int64_t element) {
    unsigned char *at = x->host + x->offset;
    const int bytes = tcgemm_dtype_bits(x->dtype) / 8;
    const uint32_t bits = random_bits();
    if (x->dtype >= TCGEMM_DTYPE_S32) {
        memcpy(at + element * bytes, &bits, (size_t)bytes);
        return;
    }
    const double value = (double)(int32_t)bits * 0x1p-31;
    (void)tcgemm_convert(x->dtype, at + element * bytes, TCGEMM_DTYPE_F64, &value, 1);
}

static void *host_data(const matrix_t *x) {
    return x->host + x->offset;
}

static void *device_data(const matrix_t *x) {
    return (char *)x->device + x->offset;
}

/* False if there is no memory. */
static int make_matrix(matrix_t *x, tcgemm_dtype_t dtype, int64_t lines, int64_t length,
                       int64_t pad, int64_t items, int64_t skew) {
    const int64_t size = tcgemm_dtype_bits(dtype) / 8;
    x->dtype = dtype;
    x->lines = lines;
    x->length = length;
    x->ld = length + pad;
    x->items = items;
    x->stride = lines * x->ld + pad;
    x->offset = (size_t)(GUARD + skew * size);
    x->bytes = x->offset + (size_t)(items * x->stride * size) + GUARD;
    x->host = malloc(x->bytes);
    x->device = NULL;
    if (!x->host || tcgemm_device_alloc(0, x->bytes, &x->device) != TCGEMM_STATUS_OK)
        return 0;
    memset(x->host, 0xFF, x->bytes);
    for (int64_t t = 0; t < items; ++t)
        for (int64_t l = 0; l < lines; ++l)
            for (int64_t e = 0; e < length; ++e)
                put_random(x, t * x->stride + l * x->ld + e);
    return tcgemm_device_copy(0, x->device, x->host, x->bytes) == TCGEMM_STATUS_OK;
}

static void free_matrix(matrix_t *x) {
    free(x->host);
    (void)tcgemm_device_free(0, x->device);
    memset(x, 0, sizeof *x);
}

/* Everything about one product. */
typedef struct product {
    tcgemm_problem_t problem;
    matrix_t a, b, c, d;
} product_t;

static void free_product(product_t *p) {
    free_matrix(&p->a);
    free_matrix(&p->b);
    free_matrix(&p->c);
    free_matrix(&p->d);
}

/* Fills in the leading dimensions and strides of a problem with `pad` elements after each row and
 * `skew` elements before the first, and makes its matrices. */
static int make_product(product_t *p, int64_t pad, int64_t skew) {
    tcgemm_problem_t *q = &p->problem;
    const tcgemm_type_info_t *type = tcgemm_type_info(q->type);
    const int col = q->order == TCGEMM_COL_MAJOR;
    const int64_t a_rows = q->op_a ? q->k : q->m;
    const int64_t a_cols = q->op_a ? q->m : q->k;
    const int64_t b_rows = q->op_b ? q->n : q->k;
    const int64_t b_cols = q->op_b ? q->k : q->n;
    const int64_t items = q->batch;
    memset(&p->a, 0, 4 * sizeof p->a);
    const int good =
        make_matrix(&p->a, type->a, col ? a_cols : a_rows, col ? a_rows : a_cols, pad, items,
                    skew) &&
        make_matrix(&p->b, type->b, col ? b_cols : b_rows, col ? b_rows : b_cols, pad, items,
                    skew) &&
        make_matrix(&p->c, type->d, col ? q->n : q->m, col ? q->m : q->n, pad, items, skew) &&
        make_matrix(&p->d, type->d, col ? q->n : q->m, col ? q->m : q->n, pad, items, skew);
    q->lda = p->a.ld;
    q->ldb = p->b.ld;
    q->ldc = p->c.ld;
    q->ldd = p->d.ld;
    q->stride_a = p->a.stride;
    q->stride_b = p->b.stride;
    q->stride_c = p->c.stride;
    q->stride_d = p->d.stride;
    return good;
}

/* Fetches D from the GPU; the number of bytes outside of its elements that have changed. */
static size_t fetch_d(product_t *p) {
    matrix_t *d = &p->d;
    const size_t size = (size_t)tcgemm_dtype_bits(d->dtype) / 8;
    unsigned char *got = malloc(d->bytes);
    size_t damage = 0;
    if (!got || tcgemm_device_copy(0, got, d->device, d->bytes) != TCGEMM_STATUS_OK) {
        free(got);
        return SIZE_MAX;
    }
    for (int64_t t = 0; t < d->items; ++t)
        for (int64_t l = 0; l < d->lines; ++l)
            memcpy(d->host + d->offset + (size_t)(t * d->stride + l * d->ld) * size,
                   got + d->offset + (size_t)(t * d->stride + l * d->ld) * size,
                   (size_t)d->length * size);
    for (size_t i = 0; i < d->bytes; ++i)
        damage += got[i] != d->host[i];
    free(got);
    return damage;
}

static int report_counts(void) {
    (void)printf("%d passed, %d failed\n", num_passed, num_failed);
    return num_failed > 0;
}

#endif
