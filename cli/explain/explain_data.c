/* explain_data.c - the facts as JSON. */
#include "commands/report.h"
#include "explain/explain.h"

static json_t *problem_data(const explain_facts_t *f) {
    const tcgemm_problem_t *p = &f->problem;
    char formula[128];
    report_formula(f->settings, formula, sizeof formula);
    return json_pack("{s:s+, s:s, s:s, s:b, s:b, s:I, s:I, s:I, s:I, s:f, s:f}", "formula",
                     "D = ", formula, "type", f->type->name, "order",
                     p->order == TCGEMM_ROW_MAJOR ? "row" : "col", "trans_a",
                     p->op_a == TCGEMM_OP_T, "trans_b", p->op_b == TCGEMM_OP_T, "m",
                     (json_int_t)p->m, "n", (json_int_t)p->n, "k", (json_int_t)p->k, "batch",
                     (json_int_t)p->batch, "alpha", f->settings->alpha, "beta", f->settings->beta);
}

static json_t *machine_data(const explain_facts_t *f) {
    const explain_machine_t *m = &f->machine;
    return json_pack("{s:s, s:b, s:b, s:i, s:f, s:f, s:f, s:b, s:f, s:b, s:I, s:I, s:I, s:i, s:i}",
                     "name", m->name, "is_gpu", m->is_gpu, "is_here", m->is_here, "num_units",
                     m->num_units, "macs_per_clock", m->macs_per_clock, "clock_hz", m->clock_hz,
                     "peak_ops_per_second", m->peak, "peak_is_measured", m->peak_is_measured,
                     "bandwidth_bytes_per_second", m->bandwidth, "bandwidth_is_measured",
                     m->bandwidth_is_measured, "l2_bytes", (json_int_t)m->l2_bytes, "smem_sm_bytes",
                     (json_int_t)m->smem_sm_bytes, "smem_block_bytes",
                     (json_int_t)m->smem_block_bytes, "registers_per_sm", m->registers_per_sm,
                     "threads_per_sm", m->threads_per_sm);
}

static json_t *work_data(const explain_facts_t *f) {
    const char *const bound = f->machine.bandwidth <= 0 ? NULL
                              : f->is_memory_bound      ? "memory"
                                                        : "peak";
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s?}", "eops", f->eops, "operations",
                     f->flop, "bytes", f->bytes, "operations_per_byte", f->intensity,
                     "balance_operations_per_byte", f->balance, "multiply_floor_seconds",
                     f->multiply_floor, "memory_floor_seconds", f->memory_floor, "bound_by", bound);
}

static json_t *levels_data(const explain_facts_t *f) {
    json_t *levels = json_array();
    for (int i = 0; i < f->num_levels; ++i) {
        const explain_level_t *l = &f->levels[i];
        (void)json_array_append_new(
            levels,
            json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f}",
                      "name", l->tile.name, "home", l->tile.home, "m", (json_int_t)l->tile.m, "n",
                      (json_int_t)l->tile.n, "k", (json_int_t)l->tile.k, "count",
                      (json_int_t)l->tile.count, "rows", (json_int_t)l->rows, "cols",
                      (json_int_t)l->cols, "tile_bytes", l->tile_bytes, "a_reads", l->a_reads,
                      "b_reads", l->b_reads, "a_bytes", l->a_bytes, "b_bytes", l->b_bytes,
                      "multiply_adds_per_byte", l->reuse));
    }
    return levels;
}

static json_t *launch_data(const explain_facts_t *f) {
    const tcgemm_plan_info_t *p = &f->plan;
    const tcgemm_occupancy_info_t *o = &f->occupancy;
    if (!f->machine.is_gpu)
        return json_pack("{s:i, s:I, s:I, s:I}", "num_threads", p->num_threads, "num_blocks",
                         (json_int_t)p->num_blocks, "packed_a_bytes", (json_int_t)p->packed_a_bytes,
                         "packed_b_bytes", (json_int_t)p->packed_b_bytes);
    return json_pack("{s:I, s:i, s:i, s:I, s:i, s:i, s:b, s:{s:i, s:i, s:i, s:i, s:i, s:i, s:i}}",
                     "grid_blocks", (json_int_t)p->grid_blocks, "threads_per_block",
                     p->threads_per_block, "registers_per_thread", p->registers_per_thread,
                     "smem_bytes", (json_int_t)p->smem_bytes, "stages", p->stages, "raster_group",
                     p->raster_group, "persistent", p->is_persistent, "occupancy", "blocks_per_sm",
                     o->blocks, "warps_per_sm", o->warps, "most_warps_per_sm", o->most_warps,
                     "by_threads", o->by_threads, "by_registers", o->by_registers, "by_smem",
                     o->by_smem, "by_slots", o->by_slots);
}

static json_t *estimates_data(const explain_facts_t *f) {
    json_t *estimates = json_array();
    for (int i = 0; i < f->num_estimates; ++i) {
        const tcgemm_estimate_t *e = &f->estimates[i];
        json_t *parts = json_object();
        for (int part = 0; part < e->num_parts; ++part)
            (void)json_object_set_new(parts, e->parts[part].name,
                                      json_real(e->parts[part].seconds));
        (void)json_array_append_new(
            estimates,
            json_pack("{s:s, s:s, s:f, s:o, s:f, s:f, s:f, s:f}", "kernel", e->kernel, "algo",
                      e->algo, "predicted_seconds", e->seconds, "parts_seconds", parts,
                      "memory_seconds", e->memory_seconds, "tile_efficiency", e->tile_efficiency,
                      "rounds", e->rounds, "wave_efficiency", e->wave_efficiency));
    }
    return estimates;
}

json_t *explain_data(const explain_facts_t *f) {
    const tcgemm_plan_info_t *p = &f->plan;
    const double seconds = f->estimates[0].seconds;
    const bool known = seconds > 0 && f->machine.peak > 0;
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:s, s:s, s:s, s:o, s:o, s:I, s:{s:I, s:I, s:I}, s:f, s:o, s:o}",
        "schema", "tcgemm.explain/1", "problem", problem_data(f), "machine", machine_data(f),
        "work", work_data(f), "kernel", p->kernel, "algo", p->algo, "reason", p->reason, "levels",
        levels_data(f), "launch", launch_data(f), "k_steps", (json_int_t)f->k_steps, "padded", "m",
        (json_int_t)p->padded_m, "n", (json_int_t)p->padded_n, "k", (json_int_t)p->padded_k,
        "predicted_seconds", seconds, "predicted_fraction_of_peak",
        known ? json_real(f->flop / seconds / f->machine.peak) : json_null(), "estimates",
        estimates_data(f));
}
