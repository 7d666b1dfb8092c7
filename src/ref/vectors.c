/* vectors.c - see vectors.h.
 *
 *     x (n)  --B-->  y (k)  --A-->  z (m);     D x and C x (m);     r = D x - alpha z - beta C x
 *
 * Floats: x_j = +-1. The sums are those of reference.h, so r holds D's errors and none of its own.
 * Beside each sum goes that of the squares, which tells how large the rounding errors of a row
 * should be: sum_p a_ip^2 |b_p|^2 for the product. Rows differ by orders of magnitude; divided by
 * this they are comparable, and the median over the rows gives sigma.
 *
 * Integers: modulo 2^32. x_j of the first vector is odd, hence invertible: one wrong element of a
 * row always shows. The second takes all values, so that two errors that cancel in the first (both
 * 2^31, say) may show there. Any residual that is not zero proves an error.
 */
#include "ref/vectors.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "base/error.h"
#include "ref/split.h"

/* One element of a pair of vectors. */
typedef union entry {
    struct {
        tcgemm_wide_t sum[2];
        double square;
    } f;
    struct {
        uint32_t sum[2];
        uint32_t ones; /* the plain sum, for XOR: a ^ b = a + b - 2ab */
    } i;
} entry_t;

/* A matrix in memory, and where its element (row, col) is. */
typedef struct matrix {
    tcgemm_operand_t operand;
    const void *data;
    int64_t start;
    int64_t num_cols;
    bool is_output; /* C or D: never rounded to tf32 */
} matrix_t;

typedef struct job {
    const tcgemm_judge_t *judge;
    int64_t batch;
    entry_t *x, *y;       /* n and k */
    entry_t *z, *dx, *cx; /* m each */
    uint32_t y_total[2];
    tcgemm_row_score_t *rows; /* m: of this batch item */
    double *scores;           /* 2 m */
    double *scales;           /* m */
} job_t;

/* ---- a matrix times the two vectors ---- */

static void add_float(const matrix_t *matrix, const tcgemm_canonical_t *g, int64_t index,
                      const entry_t *in, entry_t *out) {
    const double a = matrix->is_output
                         ? tcgemm_load_float(matrix->operand.dtype, matrix->data, index)
                         : tcgemm_reference_load(g, &matrix->operand, matrix->data, index);
    for (int v = 0; v < 2; ++v) {
        tcgemm_wide_add_product(&out->f.sum[v], a, in->f.sum[v].hi);
        out->f.sum[v].lo += a * in->f.sum[v].lo;
    }
    out->f.square += a * a * in->f.square;
}

static void add_integer(const matrix_t *matrix, int64_t index, const entry_t *in, entry_t *out) {
    const uint32_t a = (uint32_t)tcgemm_load_integer(matrix->operand.dtype, matrix->data, index);
    out->i.sum[0] += a * in->i.sum[0];
    out->i.sum[1] += a * in->i.sum[1];
    out->i.ones += a;
}

static void add_one(const job_t *job, const matrix_t *matrix, int64_t row, int64_t col,
                    const entry_t *in, entry_t *out) {
    const int64_t index =
        matrix->start + row * matrix->operand.row_stride + col * matrix->operand.col_stride;
    if (job->judge->is_integer)
        add_integer(matrix, index, &in[col], &out[row]);
    else
        add_float(matrix, job->judge->g, index, &in[col], &out[row]);
}

/* out = matrix * in for the rows begin .. end-1, in the order in which the matrix is stored. */
static void multiply(const job_t *job, const matrix_t *matrix, int64_t begin, int64_t end,
                     const entry_t *in, entry_t *out) {
    for (int64_t row = begin; row < end; ++row)
        out[row] = (entry_t){0};
    if (matrix->operand.col_stride == 1) {
        for (int64_t row = begin; row < end; ++row)
            for (int64_t col = 0; col < matrix->num_cols; ++col)
                add_one(job, matrix, row, col, in, out);
    } else {
        for (int64_t col = 0; col < matrix->num_cols; ++col)
            for (int64_t row = begin; row < end; ++row)
                add_one(job, matrix, row, col, in, out);
    }
}

/* C or D, which have no operand of their own. */
static matrix_t output_matrix(const job_t *job, const void *data, int64_t ld, int64_t stride) {
    const tcgemm_canonical_t *g = job->judge->g;
    const tcgemm_operand_t operand = {.dtype = g->type->d, .row_stride = ld, .col_stride = 1};
    return (matrix_t){operand, data, job->batch * stride, g->n, true};
}

static matrix_t input_matrix(const job_t *job, const tcgemm_operand_t *operand, const void *data,
                             int64_t num_cols) {
    return (matrix_t){*operand, data, job->batch * operand->batch_stride, num_cols, false};
}

/* ---- the residuals ---- */

/* |r| / scale, or what stands for it: see tcgemm_row_score_t. */
static double ratio_of(double residual, double scale) {
    if (!isfinite(residual) || !isfinite(scale))
        return (double)NAN;
    if (scale == 0.0)
        return residual == 0.0 ? 0.0 : DBL_MAX;
    return fmin(fabs(residual) / scale, DBL_MAX);
}

/* sqrt(x^2 + y^2) of numbers that are not negative, without overflow. Not hypot: glibc has had two
 * versions of it since 2.35, and a binary would ask for the newer one. */
static double length_of(double x, double y) {
    const double large = x > y ? x : y, small = x > y ? y : x;
    if (!(large > 0.0) || !isfinite(large))
        return x + y;
    return large * sqrt(1.0 + (small / large) * (small / large));
}

static void score_float_row(const job_t *job, int64_t i) {
    const tcgemm_judge_t *judge = job->judge;
    const tcgemm_call_t *call = judge->call;
    const bool has_product = tcgemm_reads_product(judge->g, call);
    double inner = 0.0; /* the squares of what is rounded in the accumulator's precision */
    if (has_product)
        inner += call->alpha * call->alpha * job->z[i].f.square;
    if (call->beta != 0)
        inner += call->beta * call->beta * job->cx[i].f.square;
    const double scale = length_of(judge->accumulator_unit * sqrt(inner),
                                   judge->rounding * sqrt(job->dx[i].f.square));
    job->scales[i] = scale;
    for (int v = 0; v < 2; ++v) {
        tcgemm_wide_t r = job->dx[i].f.sum[v];
        if (has_product) {
            tcgemm_wide_add_product(&r, -call->alpha, job->z[i].f.sum[v].hi);
            r.lo -= call->alpha * job->z[i].f.sum[v].lo;
        }
        if (call->beta != 0) {
            tcgemm_wide_add_product(&r, -call->beta, job->cx[i].f.sum[v].hi);
            r.lo -= call->beta * job->cx[i].f.sum[v].lo;
        }
        job->scores[2 * i + v] = ratio_of(r.hi + r.lo, scale);
    }
}

static void score_integer_row(const job_t *job, int64_t i) {
    const tcgemm_canonical_t *g = job->judge->g;
    const tcgemm_call_t *call = job->judge->call;
    const bool use_xor = g->type->type == TCGEMM_B1_S32 && (g->flags & TCGEMM_FLAG_XOR);
    uint32_t x_total[2] = {0, 0};
    for (int64_t j = 0; use_xor && j < g->n; ++j) {
        x_total[0] += job->x[j].i.sum[0];
        x_total[1] += job->x[j].i.sum[1];
    }
    for (int v = 0; v < 2; ++v) {
        uint32_t expected = 0;
        if (tcgemm_reads_product(g, call)) {
            uint32_t z = job->z[i].i.sum[v];
            if (use_xor)
                z = job->z[i].i.ones * x_total[v] + job->y_total[v] - 2 * z;
            expected += tcgemm_integer_scalar(call->alpha) * z;
        }
        if (call->beta != 0)
            expected += tcgemm_integer_scalar(call->beta) * job->cx[i].i.sum[v];
        job->scores[2 * i + v] = job->dx[i].i.sum[v] == expected ? 0.0 : DBL_MAX;
    }
}

/* ---- the steps of one batch item ---- */

static void draw_vectors(const job_t *job, uint64_t seed) {
    uint64_t state = seed + (uint64_t)job->batch * UINT64_C(0xD1342543DE82EF95);
    for (int64_t j = 0; j < job->judge->g->n; ++j) {
        const uint64_t random = tcgemm_next_random(&state);
        entry_t *x = &job->x[j];
        *x = (entry_t){0};
        if (job->judge->is_integer) {
            x->i.sum[0] = (uint32_t)random | 1u;
            x->i.sum[1] = (uint32_t)(random >> 32);
        } else {
            x->f.sum[0].hi = random >> 63 ? 1.0 : -1.0;
            x->f.sum[1].hi = random >> 62 & 1 ? 1.0 : -1.0;
            x->f.square = 1.0;
        }
    }
}

/* y = B x; rows of B. */
static void multiply_b(void *context, int worker, int64_t begin, int64_t end) {
    const job_t *job = context;
    (void)worker;
    const matrix_t b = input_matrix(job, &job->judge->g->b, job->judge->call->b, job->judge->g->n);
    multiply(job, &b, begin, end, job->x, job->y);
}

/* z = A y, D x, C x and the scores; rows of D. */
static void score_rows(void *context, int worker, int64_t begin, int64_t end) {
    const job_t *job = context;
    (void)worker;
    const tcgemm_canonical_t *g = job->judge->g;
    const tcgemm_call_t *call = job->judge->call;
    if (tcgemm_reads_product(g, call)) {
        const matrix_t a = input_matrix(job, &g->a, call->a, g->k);
        multiply(job, &a, begin, end, job->y, job->z);
    }
    if (call->beta != 0) {
        const matrix_t c = output_matrix(job, call->c, g->ldc, g->stride_c);
        multiply(job, &c, begin, end, job->x, job->cx);
    }
    const matrix_t d = output_matrix(job, call->d, g->ldd, g->stride_d);
    multiply(job, &d, begin, end, job->x, job->dx);
    for (int64_t i = begin; i < end; ++i) {
        if (job->judge->is_integer)
            score_integer_row(job, i);
        else
            score_float_row(job, i);
        const double first = job->scores[2 * i];
        const double second = job->scores[2 * i + 1];
        const double worst = isnan(first) || isnan(second) ? (double)NAN : fmax(first, second);
        job->rows[i] = (tcgemm_row_score_t){job->batch, i, worst};
    }
}

static void score_item(job_t *job, uint64_t seed, int num_workers) {
    const tcgemm_canonical_t *g = job->judge->g;
    draw_vectors(job, seed);
    job->y_total[0] = job->y_total[1] = 0;
    if (tcgemm_reads_product(g, job->judge->call)) {
        tcgemm_split(num_workers, g->k, multiply_b, job);
        for (int64_t p = 0; job->judge->is_integer && p < g->k; ++p) {
            job->y_total[0] += job->y[p].i.sum[0];
            job->y_total[1] += job->y[p].i.sum[1];
        }
    }
    tcgemm_split(num_workers, g->m, score_rows, job);
}

/* ---- all items ---- */

static int compare_doubles(const void *left, const void *right) {
    const double x = *(const double *)left;
    const double y = *(const double *)right;
    return (x > y) - (x < y);
}

/* The median of the finite numbers among `values`, which are put in order. */
static double median_of(double *values, int64_t count) {
    int64_t num_finite = 0;
    for (int64_t i = 0; i < count; ++i)
        if (isfinite(values[i]) && values[i] < DBL_MAX)
            values[num_finite++] = values[i];
    qsort(values, (size_t)num_finite, sizeof *values, compare_doubles);
    return num_finite > 0 ? values[num_finite / 2] : 0.0;
}

/* So many of the batch items that their matrices hold about 2^32 elements. */
static int64_t num_items(const tcgemm_canonical_t *g) {
    const double elements =
        ((double)g->n + (double)g->m) * (double)g->k + 2.0 * (double)g->m * (double)g->n;
    const double affordable = fmax(1.0, 0x1p32 / elements);
    return affordable < (double)g->batch ? (int64_t)affordable : g->batch;
}

/* NULL for count * size that no address space holds, too; never NULL for 0 elements. */
static void *allocate(int64_t count, size_t size) {
    return (uint64_t)count > SIZE_MAX / size / 2 ? NULL : calloc((size_t)count + 1, size);
}

static void free_job(job_t *job) {
    free(job->x);
    free(job->y);
    free(job->z);
    free(job->dx);
    free(job->cx);
}

static bool allocate_job(job_t *job) {
    const tcgemm_canonical_t *g = job->judge->g;
    job->x = allocate(g->n, sizeof(entry_t));
    job->y = allocate(g->k, sizeof(entry_t));
    job->z = allocate(g->m, sizeof(entry_t));
    job->dx = allocate(g->m, sizeof(entry_t));
    job->cx = allocate(g->m, sizeof(entry_t));
    return job->x && job->y && job->z && job->dx && job->cx;
}

/* The items, and who takes them: many are shared out among the workers, few are taken one after the
 * other by all. */
typedef struct items {
    int64_t count;
    uint64_t seed;
    int num_takers, workers_each;
    job_t takers[TCGEMM_SPLIT_MAX];
    tcgemm_row_score_t *rows;
    double *scores, *scales;
} items_t;

static void score_items(void *context, int taker, int64_t begin, int64_t end) {
    items_t *items = context;
    job_t *job = &items->takers[taker];
    const tcgemm_canonical_t *g = job->judge->g;
    for (int64_t item = begin; item < end; ++item) {
        /* Evenly spaced, without multiplying two large numbers. */
        job->batch = g->batch / items->count * item;
        job->rows = items->rows + item * g->m;
        job->scores = items->scores + 2 * item * g->m;
        job->scales = items->scales + item * g->m;
        score_item(job, items->seed, items->workers_each);
    }
}

static items_t *make_items(const tcgemm_judge_t *judge, uint64_t seed, int num_workers) {
    items_t *items = calloc(1, sizeof *items);
    if (!items)
        return NULL;
    items->count = num_items(judge->g);
    items->seed = seed;
    items->num_takers = items->count >= num_workers ? num_workers : 1;
    items->workers_each = items->count >= num_workers ? 1 : num_workers;
    const int64_t num_rows = items->count * judge->g->m;
    items->rows = allocate(num_rows, sizeof *items->rows);
    items->scores = allocate(2 * num_rows, sizeof *items->scores);
    items->scales = allocate(num_rows, sizeof *items->scales);
    bool good = items->rows && items->scores && items->scales;
    for (int i = 0; i < items->num_takers; ++i) {
        items->takers[i].judge = judge;
        good = allocate_job(&items->takers[i]) && good;
    }
    if (!good)
        items->count = -1;
    return items;
}

/* All but the rows. */
static void free_items(items_t *items) {
    for (int i = 0; i < items->num_takers; ++i)
        free_job(&items->takers[i]);
    free(items->scores);
    free(items->scales);
    free(items);
}

tcgemm_status_t tcgemm_vectors_run(const tcgemm_judge_t *judge, uint64_t seed, int num_workers,
                                   tcgemm_vectors_t *out) {
    *out = (tcgemm_vectors_t){.num_rows = 0};
    items_t *items = make_items(judge, seed, num_workers);
    if (!items || items->count < 0) {
        if (items) {
            free(items->rows);
            free_items(items);
        }
        return tcgemm_error_set(TCGEMM_STATUS_OUT_OF_MEMORY,
                                "no memory for the random vectors of verification");
    }
    tcgemm_split(items->num_takers, items->count, score_items, items);
    out->rows = items->rows;
    out->num_rows = items->count * judge->g->m;
    /* For a normal distribution the median of |r| is 0.6745 sigma. */
    out->sigma = median_of(items->scores, 2 * out->num_rows) / 0.6745;
    out->error = out->sigma * median_of(items->scales, out->num_rows);
    free_items(items);
    return TCGEMM_STATUS_OK;
}
