/* sim.c - see sim.h: global memory, D, faults and the trace. */
#include "sim/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "ref/reference.h"

/* ---- telling ---- */

void tcgemm_sim_fault(tcgemm_sim_t *sim, const char *format, ...) {
    tcgemm_simulate_report_t *report = sim->report;
    if (report->num_faults++ > 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(report->fault, sizeof report->fault, format, arguments);
    va_end(arguments);
    tcgemm_sim_trace(sim, 0, "fault: %s", report->fault);
}

void tcgemm_sim_trace(tcgemm_sim_t *sim, int depth, const char *format, ...) {
    if (!tcgemm_sim_is_traced(sim))
        return;
    char line[320];
    const int indent = 2 * depth;
    memset(line, ' ', (size_t)indent);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line + indent, sizeof line - (size_t)indent, format, arguments);
    va_end(arguments);
    sim->trace_is_over = sim->trace(sim->trace_user, line) != 0;
}

tcgemm_sim_span_t tcgemm_sim_span(const char *what, int64_t first, int64_t count, int64_t end) {
    tcgemm_sim_span_t span;
    const int64_t last = (count < end - first ? first + count : end) - 1;
    if (first >= end)
        (void)snprintf(span.text, sizeof span.text, "%s %lld.. (beyond)", what, (long long)first);
    else
        (void)snprintf(span.text, sizeof span.text, "%s %lld..%lld", what, (long long)first,
                       (long long)last);
    return span;
}

void *tcgemm_sim_allocate(tcgemm_sim_t *sim, int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (!memory)
        sim->is_out_of_memory = true;
    return memory;
}

/* ---- A and B ---- */

/* Bits that are to be XORed count as 1 and -1: the sum of their products is the number of equal
 * pairs less that of unequal ones, so that XOR too is a sum of products. */
static bool counts_xor(const tcgemm_canonical_t *g) {
    return g->type->type == TCGEMM_B1_S32 && (g->flags & TCGEMM_FLAG_XOR) != 0;
}

double tcgemm_sim_value(const tcgemm_sim_t *sim, int side, tcgemm_sim_name_t name) {
    const tcgemm_sim_matrix_t *x = &sim->side[side];
    const int64_t item = name.mn / x->mn;
    const int64_t mn = name.mn - item * x->mn;
    const tcgemm_operand_t *o = x->operand;
    const int64_t index = item * o->batch_stride +
                          mn * (side == TCGEMM_SIDE_A ? o->row_stride : o->col_stride) +
                          name.k * (side == TCGEMM_SIDE_A ? o->col_stride : o->row_stride);
    if (tcgemm_dtype_is_integer(o->dtype)) {
        const int32_t value = tcgemm_load_integer(o->dtype, x->data, index);
        return counts_xor(sim->g) ? 1 - 2 * value : value;
    }
    return tcgemm_reference_load(sim->g, o, x->data, index);
}

/* ---- C and D ---- */

tcgemm_batch_tile_t tcgemm_sim_tile(const tcgemm_sim_t *sim, uint32_t index, uint32_t tiles_m,
                                    uint32_t tiles_n) {
    const tcgemm_raster_t raster = tcgemm_raster_of(tiles_m, tiles_n, sim->group);
    return tcgemm_batch_raster(&raster, index);
}

double tcgemm_sim_scaled(const tcgemm_sim_t *sim, int64_t item, int64_t row, int64_t col,
                         double sum) {
    const tcgemm_canonical_t *g = sim->g;
    const tcgemm_call_t *call = sim->call;
    if (tcgemm_dtype_is_integer(g->type->d)) {
        const double unequal = ((double)g->k - sum) / 2.0;
        const uint32_t whole = (uint32_t)(int64_t)(counts_xor(g) ? unequal : sum);
        return tcgemm_reference_combine_integer(g, call, item, row, col, whole);
    }
    const double product = call->alpha * sum;
    if (!call->c)
        return product;
    const int64_t at = item * g->stride_c + row * g->ldc + col;
    return product + call->beta * tcgemm_load_float(g->type->d, call->c, at);
}

void tcgemm_sim_put(tcgemm_sim_t *sim, int64_t item, int64_t row, int64_t col, double value) {
    const tcgemm_canonical_t *g = sim->g;
    if (item < 0 || item >= g->batch || row < 0 || row >= g->m || col < 0 || col >= g->n) {
        tcgemm_sim_fault(sim, "D(%lld, %lld) is written, which lies outside D", (long long)row,
                         (long long)col);
        return;
    }
    uint8_t *times = &sim->written[(item * g->m + row) * g->n + col];
    if (*times == 1)
        tcgemm_sim_fault(sim, "D(%lld, %lld) of item %lld is written twice", (long long)row,
                         (long long)col, (long long)item);
    if (*times == 0)
        sim->report->num_written += 1;
    *times = *times < 2 ? *times + 1 : 2;
    const int64_t at = item * g->stride_d + row * g->ldd + col;
    if (tcgemm_dtype_is_integer(g->type->d))
        tcgemm_store_integer(g->type->d, sim->call->d, at, (int32_t)(uint32_t)(int64_t)value);
    else
        tcgemm_store_float(g->type->d, sim->call->d, at, value);
}

void tcgemm_sim_store(tcgemm_sim_t *sim, int64_t item, int64_t row, int64_t col,
                      const tcgemm_sim_sum_t *sum) {
    const tcgemm_canonical_t *g = sim->g;
    if (sum->row != item * g->m + row || sum->col != item * g->n + col)
        tcgemm_sim_fault(sim,
                         "D(%lld, %lld) of item %lld receives a sum of row %lld of A and column "
                         "%lld of B",
                         (long long)row, (long long)col, (long long)item,
                         (long long)sum->row - item * g->m, (long long)sum->col - item * g->n);
    else if (sum->terms != g->k)
        tcgemm_sim_fault(sim, "D(%lld, %lld) of item %lld is the sum of %lld products, not of %lld",
                         (long long)row, (long long)col, (long long)item, (long long)sum->terms,
                         (long long)g->k);
    tcgemm_sim_put(sim, item, row, col, tcgemm_sim_scaled(sim, item, row, col, sum->sum));
}
