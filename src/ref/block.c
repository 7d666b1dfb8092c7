/* block.c - see block.h. The error terms of f64 need -ffp-contract=off. */
#include "ref/block.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"

enum { ROWS = TCGEMM_BLOCK_ROWS, COLS = TCGEMM_BLOCK_COLS, DEPTH = TCGEMM_BLOCK_DEPTH };

typedef struct float_panels {
    double a[ROWS * DEPTH];
    double b[DEPTH * COLS];
    double a_top[ROWS * DEPTH]; /* the upper halves of a and b: f64 only */
    double b_top[DEPTH * COLS];
    double hi[ROWS * COLS];
    double lo[ROWS * COLS];
    double size[ROWS * COLS]; /* sum |a||b| */
} float_panels_t;

typedef struct integer_panels {
    uint32_t a[ROWS * DEPTH];
    uint32_t b[DEPTH * COLS];
    uint32_t sum[ROWS * COLS];
} integer_panels_t;

/* Which elements a block holds. */
typedef struct block {
    const tcgemm_judge_t *judge;
    int64_t batch;
    const int64_t *rows;
    int64_t num_rows;
    int64_t col;
    int64_t num_cols;
} block_t;

size_t tcgemm_block_scratch_bytes(void) {
    return sizeof(float_panels_t) > sizeof(integer_panels_t) ? sizeof(float_panels_t)
                                                             : sizeof(integer_panels_t);
}

static int64_t a_index(const block_t *block, int64_t row, int64_t p) {
    const tcgemm_operand_t *a = &block->judge->g->a;
    return block->batch * a->batch_stride + block->rows[row] * a->row_stride + p * a->col_stride;
}

static int64_t b_index(const block_t *block, int64_t p, int64_t col) {
    const tcgemm_operand_t *b = &block->judge->g->b;
    return block->batch * b->batch_stride + p * b->row_stride + (block->col + col) * b->col_stride;
}

/* ---- floats ---- */

/* The upper 26 bits of x, so that products of halves are exact (Veltkamp and Dekker). Beyond 2^996
 * this overflows; the sum is then not finite and tcgemm_reference_element does it again. */
static double upper_half(double x) {
    const double shifted = 134217729.0 * x; /* 2^27 + 1 */
    return shifted - (shifted - x);
}

static void load_float_panels(const block_t *block, int64_t p0, int64_t depth,
                              float_panels_t *panels) {
    const tcgemm_canonical_t *g = block->judge->g;
    for (int64_t i = 0; i < block->num_rows; ++i) {
        for (int64_t p = 0; p < depth; ++p) {
            const double a =
                tcgemm_reference_load(g, &g->a, block->judge->call->a, a_index(block, i, p0 + p));
            panels->a[i * DEPTH + p] = a;
            panels->a_top[i * DEPTH + p] = upper_half(a);
        }
    }
    for (int64_t p = 0; p < depth; ++p) {
        for (int64_t j = 0; j < block->num_cols; ++j) {
            const double b =
                tcgemm_reference_load(g, &g->b, block->judge->call->b, b_index(block, p0 + p, j));
            panels->b[p * COLS + j] = b;
            panels->b_top[p * COLS + j] = upper_half(b);
        }
        for (int64_t j = block->num_cols; j < COLS; ++j) /* summed, and never looked at */
            panels->b[p * COLS + j] = panels->b_top[p * COLS + j] = 0.0;
    }
}

/* Products of operands up to f32: exact in f64. */
static void add_products(double a, const double *restrict b, double *restrict hi,
                         double *restrict size) {
    for (int j = 0; j < COLS; ++j) {
        const double product = a * b[j];
        hi[j] += product;
        size[j] += fabs(product);
    }
}

/* The same of four rows of b, in the same order: the sums come and go once. */
static void add_four_products(const double *restrict a, const double *restrict b,
                              double *restrict hi, double *restrict size) {
    for (int j = 0; j < COLS; ++j) {
        const double first = a[0] * b[j], second = a[1] * b[j + COLS];
        const double third = a[2] * b[j + 2 * COLS], fourth = a[3] * b[j + 3 * COLS];
        hi[j] = hi[j] + first + second + third + fourth;
        size[j] = size[j] + fabs(first) + fabs(second) + fabs(third) + fabs(fourth);
    }
}

static void add_all_products(const double *restrict a, const double *restrict b, int64_t depth,
                             double *restrict hi, double *restrict size) {
    int64_t p = 0;
    for (; p + 4 <= depth; p += 4)
        add_four_products(a + p, b + p * COLS, hi, size);
    for (; p < depth; ++p)
        add_products(a[p], b + p * COLS, hi, size);
}

/* Products of f64 operands with their errors: Dekker's product, since fma() is a function call
 * where the compiler may not assume the instruction, and Knuth's sum. */
static void add_products_f64(double a, double a_top, const double *restrict b,
                             const double *restrict b_top, double *restrict hi, double *restrict lo,
                             double *restrict size) {
    const double a_low = a - a_top;
    for (int j = 0; j < COLS; ++j) {
        const double b_low = b[j] - b_top[j];
        const double product = a * b[j];
        const double product_error =
            a_low * b_low - (((product - a_top * b_top[j]) - a_low * b_top[j]) - a_top * b_low);
        const double sum = hi[j] + product;
        const double rest = sum - hi[j];
        const double sum_error = (hi[j] - (sum - rest)) + (product - rest);
        hi[j] = sum;
        lo[j] += product_error + sum_error;
        size[j] += fabs(product);
    }
}

static void multiply_float_panels(const block_t *block, int64_t depth, float_panels_t *s) {
    const bool is_f64 = block->judge->g->type->accumulator == TCGEMM_DTYPE_F64;
    for (int64_t i = 0; i < block->num_rows; ++i) {
        double *hi = &s->hi[i * COLS];
        double *lo = &s->lo[i * COLS];
        double *size = &s->size[i * COLS];
        if (!is_f64)
            add_all_products(&s->a[i * DEPTH], s->b, depth, hi, size);
        for (int64_t p = 0; is_f64 && p < depth; ++p)
            add_products_f64(s->a[i * DEPTH + p], s->a_top[i * DEPTH + p], &s->b[p * COLS],
                             &s->b_top[p * COLS], hi, lo, size);
    }
}

/* Dekker's product loses up to some 2^-1074 where it is below 2^-969. Beside a sum of this size
 * that is nothing, and if every product is 0 the underflow term of the bound covers it. */
static const double smallest_safe_f64 = 0x1p-900;

static void judge_float(const block_t *block, int64_t row, int64_t j, const float_panels_t *s,
                        tcgemm_tally_t *tally) {
    const tcgemm_judge_t *judge = block->judge;
    const int64_t i = block->rows[row];
    const int64_t col = block->col + j;
    const tcgemm_wide_t sum = {s->hi[row * COLS + j], s->lo[row * COLS + j]};
    const double size = s->size[row * COLS + j];
    const bool is_f64 = judge->g->type->accumulator == TCGEMM_DTYPE_F64;
    const bool is_safe = isfinite(sum.hi) && isfinite(sum.lo) && isfinite(size) &&
                         (size == 0.0 || size > smallest_safe_f64);
    tcgemm_ref_value_t ref;
    if (!is_f64 || is_safe)
        tcgemm_reference_combine(judge->g, judge->call, block->batch, i, col, sum, size, 0, &ref);
    else
        tcgemm_reference_element(judge->g, judge->call, block->batch, i, col, &ref);
    tcgemm_judge_element(judge, block->batch, i, col, &ref, tally);
}

static void judge_floats(const block_t *block, float_panels_t *s, tcgemm_tally_t *tally) {
    const tcgemm_canonical_t *g = block->judge->g;
    const int64_t k = tcgemm_reads_product(g, block->judge->call) ? g->k : 0;
    memset(s->hi, 0, sizeof s->hi);
    memset(s->lo, 0, sizeof s->lo);
    memset(s->size, 0, sizeof s->size);
    for (int64_t p0 = 0; p0 < k; p0 += DEPTH) {
        const int64_t depth = k - p0 < DEPTH ? k - p0 : DEPTH;
        load_float_panels(block, p0, depth, s);
        multiply_float_panels(block, depth, s);
    }
    for (int64_t i = 0; i < block->num_rows; ++i)
        for (int64_t j = 0; j < block->num_cols; ++j)
            judge_float(block, i, j, s, tally);
}

/* ---- integers ---- */

static void load_integer_panels(const block_t *block, int64_t p0, int64_t depth,
                                integer_panels_t *panels) {
    const tcgemm_canonical_t *g = block->judge->g;
    const tcgemm_call_t *call = block->judge->call;
    for (int64_t i = 0; i < block->num_rows; ++i)
        for (int64_t p = 0; p < depth; ++p)
            panels->a[i * DEPTH + p] =
                (uint32_t)tcgemm_load_integer(g->a.dtype, call->a, a_index(block, i, p0 + p));
    for (int64_t p = 0; p < depth; ++p) {
        for (int64_t j = 0; j < block->num_cols; ++j)
            panels->b[p * COLS + j] =
                (uint32_t)tcgemm_load_integer(g->b.dtype, call->b, b_index(block, p0 + p, j));
        for (int64_t j = block->num_cols; j < COLS; ++j)
            panels->b[p * COLS + j] = 0;
    }
}

static void add_integer_products(uint32_t a, const uint32_t *restrict b, uint32_t *restrict sum) {
    for (int j = 0; j < COLS; ++j)
        sum[j] += a * b[j];
}

static void add_xors(uint32_t a, const uint32_t *restrict b, uint32_t *restrict sum) {
    for (int j = 0; j < COLS; ++j)
        sum[j] += a ^ b[j];
}

static void multiply_integer_panels(const block_t *block, int64_t depth, integer_panels_t *s) {
    const tcgemm_canonical_t *g = block->judge->g;
    const bool use_xor = g->type->type == TCGEMM_B1_S32 && (g->flags & TCGEMM_FLAG_XOR);
    for (int64_t i = 0; i < block->num_rows; ++i) {
        for (int64_t p = 0; p < depth; ++p) {
            if (use_xor)
                add_xors(s->a[i * DEPTH + p], &s->b[p * COLS], &s->sum[i * COLS]);
            else
                add_integer_products(s->a[i * DEPTH + p], &s->b[p * COLS], &s->sum[i * COLS]);
        }
    }
}

static void judge_integers(const block_t *block, integer_panels_t *s, tcgemm_tally_t *tally) {
    const tcgemm_judge_t *judge = block->judge;
    const int64_t k = tcgemm_reads_product(judge->g, judge->call) ? judge->g->k : 0;
    memset(s->sum, 0, sizeof s->sum);
    for (int64_t p0 = 0; p0 < k; p0 += DEPTH) {
        const int64_t depth = k - p0 < DEPTH ? k - p0 : DEPTH;
        load_integer_panels(block, p0, depth, s);
        multiply_integer_panels(block, depth, s);
    }
    for (int64_t i = 0; i < block->num_rows; ++i) {
        for (int64_t j = 0; j < block->num_cols; ++j) {
            tcgemm_ref_value_t ref = {0};
            ref.integer = tcgemm_reference_combine_integer(judge->g, judge->call, block->batch,
                                                           block->rows[i], block->col + j,
                                                           s->sum[i * COLS + j]);
            tcgemm_judge_element(judge, block->batch, block->rows[i], block->col + j, &ref, tally);
        }
    }
}

void tcgemm_block_judge(const tcgemm_judge_t *judge, int64_t batch, const int64_t *rows,
                        int64_t num_rows, int64_t col, void *scratch, tcgemm_tally_t *tally) {
    const int64_t left = judge->g->n - col;
    const block_t block = {.judge = judge,
                           .batch = batch,
                           .rows = rows,
                           .num_rows = num_rows,
                           .col = col,
                           .num_cols = left < COLS ? left : COLS};
    if (judge->is_integer)
        judge_integers(&block, scratch, tally);
    else
        judge_floats(&block, scratch, tally);
}
