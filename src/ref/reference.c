/* reference.c - see reference.h. */
#include "ref/reference.h"

#include "base/clock.h"
#include "base/dtype.h"
#include "plan/plan.h"

double tcgemm_reference_load(const tcgemm_canonical_t *g, const tcgemm_operand_t *operand,
                             const void *array, int64_t index) {
    const double value = tcgemm_load_float(operand->dtype, array, index);
    return g->type->type == TCGEMM_TF32_F32 ? (double)tcgemm_tf32_of_f32((float)value) : value;
}

/* ---- floats ---- */

/* x * scale, but never a zero of what is none: times an infinity that would be a NaN. */
static double scaled(double x, double scale) {
    const double y = scale * x;
    return y == 0.0 && x != 0.0 ? copysign(0x1p-1074, x) : y;
}

/* Sums a_ip * b_pj and |a_ip * b_pj| over p, a and b first multiplied by `scale`. */
static void sum_products(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int64_t batch,
                         int64_t i, int64_t j, double scale, tcgemm_wide_t *sum, double *product) {
    const bool is_f64 = g->type->accumulator == TCGEMM_DTYPE_F64;
    const int64_t a0 = batch * g->a.batch_stride + i * g->a.row_stride;
    const int64_t b0 = batch * g->b.batch_stride + j * g->b.col_stride;
    *sum = (tcgemm_wide_t){0.0, 0.0};
    *product = 0.0;
    for (int64_t p = 0; p < g->k; ++p) {
        const double a =
            scaled(tcgemm_reference_load(g, &g->a, call->a, a0 + p * g->a.col_stride), scale);
        const double b =
            scaled(tcgemm_reference_load(g, &g->b, call->b, b0 + p * g->b.row_stride), scale);
        if (is_f64)
            tcgemm_wide_add_product(sum, a, b);
        else
            sum->hi += a * b; /* at most 48 bits: exact */
        *product += fabs(a * b);
    }
}

/* The combination for f64 operands that are all finite. Every factor is taken apart into fraction
 * and exponent, so that nothing on the way overflows, and what underflows is 2^-1000 of the rest.
 */
static void combine_f64(double alpha, tcgemm_wide_t sum, double product, int exponent, double beta,
                        double c, tcgemm_ref_value_t *out) {
    int alpha_exponent, beta_exponent, c_exponent, sum_exponent;
    const double alpha_fraction = frexp(alpha, &alpha_exponent);
    const double beta_fraction = frexp(beta, &beta_exponent);
    const double c_fraction = frexp(c, &c_exponent);
    const double product_fraction = frexp(product, &sum_exponent);
    const double sum_hi = ldexp(sum.hi, -sum_exponent);
    const double sum_lo = ldexp(sum.lo, -sum_exponent);

    int x = alpha_exponent + sum_exponent + exponent; /* of alpha * sum */
    int y = beta_exponent + c_exponent;               /* of beta * c */
    if (alpha_fraction * product_fraction == 0.0)
        x = y;
    if (beta_fraction * c_fraction == 0.0)
        y = x;
    const int common = x > y ? x : y;
    const double alpha_part = ldexp(alpha_fraction, x - common);
    const double beta_part = ldexp(beta_fraction, y - common);

    tcgemm_wide_t value = {0.0, alpha_part * sum_lo};
    tcgemm_wide_add_product(&value, alpha_part, sum_hi);
    tcgemm_wide_add_product(&value, beta_part, c_fraction);
    out->hi = value.hi + value.lo;
    out->lo = (value.hi - out->hi) + value.lo;
    out->magnitude = fabs(alpha_part) * product_fraction + fabs(beta_part * c_fraction);
    out->exponent = common;
    if (isfinite(ldexp(out->magnitude, common))) { /* the ordinary case */
        out->hi = ldexp(out->hi, common);
        out->lo = ldexp(out->lo, common);
        out->magnitude = ldexp(out->magnitude, common);
        out->exponent = 0;
    }
}

/* How wrong an activation may be: its value by some units, and below zero, where all but tanh and
 * sigmoid fall to zero like exp(-x^2 / 2), by as many more as the rounded argument of exp makes. */
static double activation_units(tcgemm_activation_t activation, double x, double y) {
    const double steep = x < 0.0 ? fmin(x * x, 200.0) : 0.0;
    return activation == TCGEMM_ACTIVATION_NONE || activation == TCGEMM_ACTIVATION_RELU
               ? 0.0
               : 8.0 * fabs(y) * (1.0 + steep);
}

/* Makes out->hi, out->lo and what bounds them those of epilogue(out). */
static void add_epilogue(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int64_t i,
                         int64_t j, tcgemm_ref_value_t *out) {
    const tcgemm_epilogue_t *e = &call->epilogue;
    const bool is_f32 = g->type->accumulator != TCGEMM_DTYPE_F64;
    const double slope = tcgemm_activation_slope(e->activation);
    const double bias =
        e->bias ? tcgemm_load_float(g->type->d, e->bias, e->is_of_rows ? i : j) : 0.0;
    tcgemm_wide_t x = {ldexp(out->hi, out->exponent), ldexp(out->lo, out->exponent)};
    if (e->bias)
        tcgemm_wide_add_product(&x, bias, 1.0);
    const double sum = isfinite(x.hi) ? x.hi + x.lo : x.hi;
    const double magnitude = ldexp(out->magnitude, out->exponent) + fabs(bias);
    const bool is_linear = e->activation == TCGEMM_ACTIVATION_NONE ||
                           (e->activation == TCGEMM_ACTIVATION_RELU && sum > 0.0);
    out->exponent = 0;
    out->hi = tcgemm_activate(e->activation, sum);
    out->lo = is_linear && isfinite(x.hi) ? (x.hi - sum) + x.lo : 0.0;
    out->magnitude = slope * magnitude;
    out->epilogue_units =
        (e->bias ? slope * magnitude : 0.0) + activation_units(e->activation, sum, out->hi);
    if (e->activation != TCGEMM_ACTIVATION_NONE)
        out->epilogue_tiny = is_f32 ? 0x1p-116 : 0x1p-1000;
}

static void combine(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int64_t batch,
                    int64_t i, int64_t j, tcgemm_wide_t sum, double product, int exponent,
                    tcgemm_ref_value_t *out) {
    const bool has_product = tcgemm_reads_product(g, call);
    const bool has_c = call->beta != 0;
    const double alpha = has_product ? call->alpha : 0.0;
    double c = 0.0;
    if (has_c)
        c = tcgemm_load_float(g->type->d, call->c, batch * g->stride_c + i * g->ldc + j);

    *out = (tcgemm_ref_value_t){.product = ldexp(product, exponent)};
    const bool is_finite =
        isfinite(sum.hi) && isfinite(alpha) && isfinite(call->beta) && isfinite(c);
    if (g->type->accumulator == TCGEMM_DTYPE_F64 && is_finite) {
        combine_f64(alpha, sum, product, exponent, call->beta, c, out);
        return;
    }
    /* In f64 without overflow, because the operands are f32 or some is not finite anyway. A term
     * that is not there is not added: 0 * infinity would be NaN. */
    if (has_product) {
        out->hi = alpha * sum.hi;
        out->magnitude = fabs(alpha) * product;
    }
    if (has_c) {
        out->hi = has_product ? out->hi + call->beta * c : call->beta * c;
        out->magnitude += fabs(call->beta * c);
    }
}

void tcgemm_reference_combine(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int64_t batch,
                              int64_t i, int64_t j, tcgemm_wide_t sum, double product, int exponent,
                              tcgemm_ref_value_t *out) {
    combine(g, call, batch, i, j, sum, product, exponent, out);
    if (!tcgemm_epilogue_is_empty(&call->epilogue))
        add_epilogue(g, call, i, j, out);
}

/* From the tf32 that the element is rounded to, to the other one that is as near; 0: there is none.
 */
static double tie_of(const tcgemm_operand_t *operand, const void *array, int64_t index) {
    const float x = (float)tcgemm_load_float(operand->dtype, array, index);
    if (!isfinite(x) || (tcgemm_bits_of_f32(x) & 0x1FFFu) != 0x1000u)
        return 0.0;
    return 2.0 * ((double)tcgemm_tf32_of_f32(x) - (double)x);
}

double tcgemm_reference_ties(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int64_t batch,
                             int64_t i, int64_t j) {
    const int64_t a0 = batch * g->a.batch_stride + i * g->a.row_stride;
    const int64_t b0 = batch * g->b.batch_stride + j * g->b.col_stride;
    double moved = 0.0;
    if (g->type->type != TCGEMM_TF32_F32 || !tcgemm_reads_product(g, call))
        return 0.0;
    for (int64_t p = 0; p < g->k; ++p) {
        const int64_t at_a = a0 + p * g->a.col_stride, at_b = b0 + p * g->b.row_stride;
        const double a = fabs(tcgemm_reference_load(g, &g->a, call->a, at_a));
        const double b = fabs(tcgemm_reference_load(g, &g->b, call->b, at_b));
        const double other_a = fabs(tie_of(&g->a, call->a, at_a));
        const double other_b = fabs(tie_of(&g->b, call->b, at_b));
        moved += a * other_b + other_a * (b + other_b);
    }
    return fabs(call->alpha) * moved;
}

double tcgemm_reference_finite_magnitude(const tcgemm_canonical_t *g, const tcgemm_call_t *call,
                                         int64_t batch, int64_t i, int64_t j) {
    const int64_t a0 = batch * g->a.batch_stride + i * g->a.row_stride;
    const int64_t b0 = batch * g->b.batch_stride + j * g->b.col_stride;
    double product = 0.0;
    for (int64_t p = 0; tcgemm_reads_product(g, call) && p < g->k; ++p) {
        const double a = tcgemm_reference_load(g, &g->a, call->a, a0 + p * g->a.col_stride);
        const double b = tcgemm_reference_load(g, &g->b, call->b, b0 + p * g->b.row_stride);
        if (isfinite(a) && isfinite(b))
            product += fabs(a * b);
    }
    double added = 0.0;
    if (call->beta != 0) {
        const double c =
            tcgemm_load_float(g->type->d, call->c, batch * g->stride_c + i * g->ldc + j);
        if (isfinite(c) && isfinite(call->beta))
            added = fabs(call->beta * c);
    }
    const double times_alpha = isfinite(call->alpha) ? fabs(call->alpha) * product : product;
    return fmax(product, times_alpha + added);
}

static void float_element(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int64_t batch,
                          int64_t i, int64_t j, tcgemm_ref_value_t *out) {
    tcgemm_wide_t sum = {0.0, 0.0};
    double product = 0.0;
    int exponent = 0;
    if (tcgemm_reads_product(g, call)) {
        sum_products(g, call, batch, i, j, 1.0, &sum, &product);
        if (!isfinite(sum.hi) || !isfinite(sum.lo) || !isfinite(product)) {
            /* Again, so small that only NaN or infinite elements can lead beyond f64. What
             * underflows now is below 2^-1000 of the overflow that brought us here. */
            sum_products(g, call, batch, i, j, 0x1p-544, &sum, &product);
            exponent = 2 * 544;
        }
    }
    tcgemm_reference_combine(g, call, batch, i, j, sum, product, exponent, out);
}

/* ---- integers ---- */

uint32_t tcgemm_reference_combine_integer(const tcgemm_canonical_t *g, const tcgemm_call_t *call,
                                          int64_t batch, int64_t i, int64_t j, uint32_t sum) {
    uint32_t c = 0;
    if (call->beta != 0)
        c = (uint32_t)tcgemm_load_integer(g->type->d, call->c,
                                          batch * g->stride_c + i * g->ldc + j);
    const tcgemm_epilogue_t *e = &call->epilogue;
    uint32_t x = tcgemm_integer_scalar(call->alpha) * sum + tcgemm_integer_scalar(call->beta) * c;
    if (e->bias)
        x += (uint32_t)tcgemm_load_integer(g->type->d, e->bias, e->is_of_rows ? i : j);
    return e->activation == TCGEMM_ACTIVATION_RELU && x >> 31 ? 0 : x;
}

static uint32_t integer_element(const tcgemm_canonical_t *g, const tcgemm_call_t *call,
                                int64_t batch, int64_t i, int64_t j) {
    const bool use_xor = g->type->type == TCGEMM_B1_S32 && (g->flags & TCGEMM_FLAG_XOR);
    const int64_t a0 = batch * g->a.batch_stride + i * g->a.row_stride;
    const int64_t b0 = batch * g->b.batch_stride + j * g->b.col_stride;
    uint32_t sum = 0;
    for (int64_t p = 0; tcgemm_reads_product(g, call) && p < g->k; ++p) {
        const uint32_t a =
            (uint32_t)tcgemm_load_integer(g->a.dtype, call->a, a0 + p * g->a.col_stride);
        const uint32_t b =
            (uint32_t)tcgemm_load_integer(g->b.dtype, call->b, b0 + p * g->b.row_stride);
        sum += use_xor ? a ^ b : a * b; /* of single bits a * b is a AND b */
    }
    return tcgemm_reference_combine_integer(g, call, batch, i, j, sum);
}

/* ---- the element and the kernel ---- */

void tcgemm_reference_element(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int64_t batch,
                              int64_t i, int64_t j, tcgemm_ref_value_t *out) {
    *out = (tcgemm_ref_value_t){0};
    if (tcgemm_dtype_is_integer(g->type->d))
        out->integer = integer_element(g, call, batch, i, j);
    else
        float_element(g, call, batch, i, j, out);
}

/* c_ij has been read before d_ij is written, so D may be C. */
static void compute_element(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int64_t batch,
                            int64_t i, int64_t j) {
    const int64_t index = batch * g->stride_d + i * g->ldd + j;
    tcgemm_ref_value_t value;
    tcgemm_reference_element(g, call, batch, i, j, &value);
    if (tcgemm_dtype_is_integer(g->type->d))
        tcgemm_store_integer(g->type->d, call->d, index, (int32_t)value.integer);
    else
        tcgemm_store_float(g->type->d, call->d, index, ldexp(value.hi, value.exponent));
}

tcgemm_status_t tcgemm_reference_run(const struct tcgemm_plan *plan, const struct tcgemm_call *call,
                                     tcgemm_run_stats_t *stats) {
    const tcgemm_canonical_t *g = &plan->g;
    const double start = now_seconds();
    for (int64_t batch = 0; batch < g->batch; ++batch)
        for (int64_t i = 0; i < g->m; ++i)
            for (int64_t j = 0; j < g->n; ++j)
                compute_element(g, call, batch, i, j);
    if (stats) {
        stats->pack_seconds = 0.0;
        stats->product_seconds = now_seconds() - start;
        stats->total_seconds = stats->product_seconds;
    }
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t prepare(struct tcgemm_plan *plan) {
    (void)plan;
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t run(const struct tcgemm_plan *plan, const tcgemm_run_t *run) {
    return tcgemm_reference_run(plan, &run->call, run->stats);
}

const tcgemm_backend_t tcgemm_reference_backend = {.prepare = prepare, .run = run};
