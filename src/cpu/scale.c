/* scale.c - D = epilogue(beta * C). */
#include <string.h>

#include "base/dtype.h"
#include "cpu/gemm.h"

static void scale_row(tcgemm_dtype_t dtype, double beta, const void *c, void *d, int64_t n) {
    switch (dtype) {
    case TCGEMM_DTYPE_F64:
        for (int64_t j = 0; j < n; ++j)
            ((double *)d)[j] = beta * ((const double *)c)[j];
        break;
    case TCGEMM_DTYPE_F32:
        for (int64_t j = 0; j < n; ++j)
            ((float *)d)[j] = (float)beta * ((const float *)c)[j];
        break;
    case TCGEMM_DTYPE_S32:
        for (int64_t j = 0; j < n; ++j)
            ((uint32_t *)d)[j] = tcgemm_integer_scalar(beta) * ((const uint32_t *)c)[j];
        break;
    default: /* f16, bf16: the product of two short floats is exact in f64, so one rounding */
        for (int64_t j = 0; j < n; ++j)
            tcgemm_store_float(dtype, d, j, beta * tcgemm_load_float(dtype, c, j));
        break;
    }
}

/* One element of row i of an item with an epilogue: seldom enough for f64. */
static void finish_element(const tcgemm_canonical_t *g, const tcgemm_call_t *call, const void *c,
                           void *d, int64_t i, int64_t j) {
    const tcgemm_epilogue_t *e = &call->epilogue;
    const tcgemm_dtype_t dtype = g->type->d;
    const int64_t at = e->is_of_rows ? i : j;
    if (dtype == TCGEMM_DTYPE_S32) {
        uint32_t x = c ? tcgemm_integer_scalar(call->beta) * ((const uint32_t *)c)[j] : 0;
        x += e->bias ? ((const uint32_t *)e->bias)[at] : 0;
        ((uint32_t *)d)[j] = e->activation == TCGEMM_ACTIVATION_RELU && x >> 31 ? 0 : x;
        return;
    }
    double x = c ? call->beta * tcgemm_load_float(dtype, c, j) : 0.0;
    x += e->bias ? tcgemm_load_float(dtype, e->bias, at) : 0.0;
    tcgemm_store_float(dtype, d, j, tcgemm_activate(e->activation, x));
}

void tcgemm_cpu_scale(const tcgemm_canonical_t *g, const tcgemm_call_t *call) {
    const tcgemm_dtype_t dtype = g->type->d;
    const int64_t bytes = tcgemm_dtype_bits(dtype) / 8;
    const bool has_epilogue = !tcgemm_epilogue_is_empty(&call->epilogue);
    if (call->beta == 1.0 && call->c == call->d && !has_epilogue)
        return;
    for (int64_t t = 0; t < g->batch; ++t) {
        for (int64_t i = 0; i < g->m; ++i) {
            char *const d = (char *)call->d + (t * g->stride_d + i * g->ldd) * bytes;
            const char *const c =
                call->c ? (const char *)call->c + (t * g->stride_c + i * g->ldc) * bytes : NULL;
            for (int64_t j = 0; has_epilogue && j < g->n; ++j)
                finish_element(g, call, c, d, i, j);
            if (has_epilogue)
                continue;
            if (!c)
                memset(d, 0, (size_t)(g->n * bytes));
            else if (call->beta == 1.0)
                memcpy(d, c, (size_t)(g->n * bytes));
            else
                scale_row(dtype, call->beta, c, d, g->n);
        }
    }
}
