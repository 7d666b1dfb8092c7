/* report_data.c - the report as data: one JSON object that every machine format is made of. */
#include <jansson.h>
#include <math.h>

#include "report/report.h"

/* NaN and infinities have no JSON number. */
static json_t *real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

/* A scalar or an element, of which "nan" and "inf" say more than null. */
static json_t *value(double number) {
    return isfinite(number) ? json_real(number)
           : isnan(number)  ? json_string("nan")
                            : json_string(number > 0 ? "inf" : "-inf");
}

static json_t *rate(double operations, double time) {
    return time > 0 ? json_real(operations / time * 1e-12) : json_null();
}

static json_t *count(size_t number) {
    return json_integer((json_int_t)number);
}

static json_t *problem_data(const run_facts_t *f) {
    const settings_t *s = f->settings;
    const tcgemm_problem_t *p = &f->problem;
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:s?, s:s, s:b, s:b, s:s, s:I, s:I, s:I, s:I}", "type",
        f->type->name, "a_dtype", tcgemm_dtype_name(f->type->a), "b_dtype",
        tcgemm_dtype_name(f->type->b), "accumulator_dtype", tcgemm_dtype_name(f->type->accumulator),
        "d_dtype", tcgemm_dtype_name(f->type->d), "alpha", value(s->alpha), "beta", value(s->beta),
        "bias", s->bias, "activation", tcgemm_activation_name((tcgemm_activation_t)s->activation),
        "trans_a", s->trans_a, "trans_b", s->trans_b, "order",
        p->order == TCGEMM_ROW_MAJOR ? "row" : "col", "m", (json_int_t)p->m, "n", (json_int_t)p->n,
        "k", (json_int_t)p->k, "batch", (json_int_t)p->batch);
}

static json_t *source_data(const run_facts_t *f) {
    const settings_t *s = f->settings;
    if (s->num_files == 0)
        return json_pack("{s:s, s:I}", "kind", "random", "seed", (json_int_t)s->seed);
    return json_pack("{s:s, s:s, s:s, s:s?, s:s?}", "kind", "files", "a", s->files[0], "b",
                     s->files[1], "c", s->c, "output", s->output);
}

static json_t *level_data(const tcgemm_plan_info_t *plan) {
    json_t *levels = json_array();
    for (int i = 0; i < plan->num_levels && i < TCGEMM_MAX_LEVELS; ++i) {
        const tcgemm_level_t *level = &plan->levels[i];
        (void)json_array_append_new(
            levels, json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "name", level->name, "home",
                              level->home, "m", (json_int_t)level->m, "n", (json_int_t)level->n,
                              "k", (json_int_t)level->k, "count", (json_int_t)level->count));
    }
    return levels;
}

/* How the work lies on a GPU; null on the CPU. */
static json_t *gpu_data(const run_facts_t *f) {
    const tcgemm_plan_info_t *plan = &f->plan;
    if (!report_is_gpu(f))
        return json_null();
    return json_pack("{s:i, s:s, s:I, s:i, s:i, s:o, s:i}", "index", plan->device_index, "name",
                     plan->device, "grid_blocks", (json_int_t)plan->grid_blocks,
                     "threads_per_block", plan->threads_per_block, "registers_per_thread",
                     plan->registers_per_thread, "smem_bytes", count(plan->smem_bytes),
                     "blocks_per_sm", plan->blocks_per_sm);
}

static json_t *plan_data(const run_facts_t *f) {
    const tcgemm_plan_info_t *plan = &f->plan;
    return json_pack(
        "{s:s, s:s, s:s, s:s?, s:i, s:I, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:s?, s:o}",
        "algo", plan->algo, "kernel", plan->kernel, "device", plan->device, "reason", plan->reason,
        "num_threads", plan->num_threads, "num_blocks", (json_int_t)plan->num_blocks, "levels",
        level_data(plan), "padded_m", (json_int_t)plan->padded_m, "padded_n",
        (json_int_t)plan->padded_n, "padded_k", (json_int_t)plan->padded_k, "a_bytes",
        count(plan->a_bytes), "b_bytes", count(plan->b_bytes), "c_bytes", count(plan->c_bytes),
        "d_bytes", count(plan->d_bytes), "packed_a_bytes", count(plan->packed_a_bytes),
        "packed_b_bytes", count(plan->packed_b_bytes), "workspace_bytes",
        count(plan->workspace_bytes), "predicted_seconds", real(plan->predicted_seconds),
        "error_unit", real(plan->error_unit), "error_bound", plan->error_bound, "gpu", gpu_data(f));
}

static json_t *work_data(const run_facts_t *f) {
    const double input = report_input_bytes(f);
    const double output = (double)f->plan.d_bytes;
    const double eops = report_eops(&f->problem);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "total_eops", real(eops), "total_flop",
                     real(report_flop(&f->problem)), "input_bytes", real(input), "output_bytes",
                     real(output), "eops_per_byte",
                     input + output > 0 ? real(eops / (input + output)) : json_null());
}

static json_t *time_data(const run_facts_t *f) {
    const double eops = report_eops(&f->problem);
    const double flop = report_flop(&f->problem);
    const tcgemm_run_stats_t *t = &f->stats;
    return json_pack(
        "{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "runs",
        (json_int_t)f->settings->repeat, "pack_seconds", real(t->pack_seconds), "product_seconds",
        real(t->product_seconds), "product_etops", rate(eops, t->product_seconds), "product_tflops",
        rate(flop, t->product_seconds), "total_seconds", real(t->total_seconds), "total_etops",
        rate(eops, t->total_seconds), "total_tflops", rate(flop, t->total_seconds),
        "transfer_seconds", report_is_gpu(f) ? real(t->transfer_seconds) : json_null(),
        "extraction_seconds",
        f->extraction_seconds >= 0 ? real(f->extraction_seconds) : json_null());
}

static json_t *wrong_data(const tcgemm_verify_report_t *r) {
    if (r->num_wrong == 0)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:o, s:o}", "batch", (json_int_t)r->wrong_batch, "row",
                     (json_int_t)r->wrong_row, "col", (json_int_t)r->wrong_col, "got",
                     value(r->wrong_got), "expected", value(r->wrong_expected));
}

static json_t *check_data(const run_facts_t *f) {
    const tcgemm_verify_report_t *r = &f->check;
    if (!f->verified)
        return json_pack("{s:s, s:s}", "verdict", report_verdict(f), "mode", "none");
    const bool full = r->mode == TCGEMM_VERIFY_FULL;
    return json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:I, s:o, s:o, s:o, s:o}", "verdict",
                     report_verdict(f), "mode", full ? "full" : "sample", "num_checked",
                     (json_int_t)r->num_checked, "num_wrong", (json_int_t)r->num_wrong,
                     "first_wrong", wrong_data(r), "max_ratio_of_bound", real(r->max_ratio),
                     "num_vector_rows", (json_int_t)r->num_vector_rows, "smallest_error_caught",
                     real(r->smallest_error_caught), "miss_probability", real(r->miss_probability),
                     "reference_seconds", real(r->seconds), "reference_etops",
                     full ? rate(report_eops(&f->problem), r->seconds) : json_null());
}

bool report_data(const run_facts_t *f, table_format_t format, FILE *out) {
    char formula[128];
    report_formula(f->settings, formula, sizeof formula);
    json_t *facts = json_pack("{s:s, s:s+, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "tcgemm.run/1",
                              "formula", "D = ", formula, "problem", problem_data(f), "data",
                              source_data(f), "plan", plan_data(f), "work", work_data(f), "time",
                              time_data(f), "verification", check_data(f));
    const bool good = facts && table_write_facts(facts, format, out);
    json_decref(facts);
    return good;
}
