/* page_json.c - the analysis as JSON, {"schema": "tcgemm.explain/1", ...}. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "draw/page.h"
#include "draw/picture.h"

/* ---- values by name ---- */

/* A name that begins with '{' opens the object whose first value it names. */
static void name(tcgemm_text_t *out, const char *text) {
    const char last = text[0] == '{' ? '{' : ',';
    tcgemm_text_add(out, "%c\n\"%s\": ", last, text + (last == '{'));
}

static void string(tcgemm_text_t *out, const char *text) {
    tcgemm_text_char(out, '"');
    for (; *text; ++text) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            tcgemm_text_add(out, "\\%c", c);
        else if (c < ' ' || c == '<')
            tcgemm_text_add(out, "\\u%04x", c);
        else
            tcgemm_text_char(out, (char)c);
    }
    tcgemm_text_char(out, '"');
}

/* A real number stays one for readers that tell 1 from 1.0. */
static void real(tcgemm_text_t *out, double value) {
    char text[40];
    if (!isfinite(value)) {
        tcgemm_text_put(out, "null");
        return;
    }
    (void)snprintf(text, sizeof text, "%.17g", value);
    tcgemm_text_add(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void add_string(tcgemm_text_t *out, const char *key, const char *value) {
    name(out, key);
    string(out, value ? value : "");
}

static void add_real(tcgemm_text_t *out, const char *key, double value) {
    name(out, key);
    real(out, value);
}

static void add_int(tcgemm_text_t *out, const char *key, int64_t value) {
    name(out, key);
    tcgemm_text_add(out, "%" PRId64, value);
}

static void add_bool(tcgemm_text_t *out, const char *key, bool value) {
    name(out, key);
    tcgemm_text_put(out, value ? "true" : "false");
}

/* ---- the parts ---- */

static void write_problem(tcgemm_text_t *out, const tcgemm_analysis_t *f) {
    const tcgemm_problem_t *p = &f->problem;
    name(out, "{formula");
    tcgemm_text_put(out, "\"D = ");
    tcgemm_picture_formula(f, out);
    tcgemm_text_put(out, "\"");
    add_string(out, "type", f->type->name);
    add_string(out, "order", p->order == TCGEMM_ROW_MAJOR ? "row" : "col");
    add_bool(out, "trans_a", p->op_a == TCGEMM_OP_T);
    add_bool(out, "trans_b", p->op_b == TCGEMM_OP_T);
    add_int(out, "m", p->m);
    add_int(out, "n", p->n);
    add_int(out, "k", p->k);
    add_int(out, "batch", p->batch);
    add_real(out, "alpha", f->alpha);
    add_real(out, "beta", f->beta);
    tcgemm_text_put(out, "}");
}

static void write_machine(tcgemm_text_t *out, const tcgemm_analysis_machine_t *m) {
    add_string(out, "{name", m->name);
    add_bool(out, "is_gpu", m->is_gpu);
    add_bool(out, "is_here", m->is_here);
    add_int(out, "num_units", m->num_units);
    add_real(out, "macs_per_clock", m->macs_per_clock);
    add_real(out, "clock_hz", m->clock_hz);
    add_real(out, "peak_ops_per_second", m->peak);
    add_bool(out, "peak_is_measured", m->peak_is_measured);
    add_real(out, "bandwidth_bytes_per_second", m->bandwidth);
    add_bool(out, "bandwidth_is_measured", m->bandwidth_is_measured);
    add_int(out, "l2_bytes", (int64_t)m->l2_bytes);
    add_int(out, "smem_sm_bytes", (int64_t)m->smem_sm_bytes);
    add_int(out, "smem_block_bytes", (int64_t)m->smem_block_bytes);
    add_int(out, "registers_per_sm", m->registers_per_sm);
    add_int(out, "threads_per_sm", m->threads_per_sm);
    tcgemm_text_put(out, "}");
}

static void write_work(tcgemm_text_t *out, const tcgemm_analysis_t *f) {
    add_real(out, "{eops", f->eops);
    add_real(out, "operations", f->flop);
    add_real(out, "bytes", f->bytes);
    add_real(out, "operations_per_byte", f->intensity);
    add_real(out, "balance_operations_per_byte", f->balance);
    add_real(out, "multiply_floor_seconds", f->multiply_floor);
    add_real(out, "memory_floor_seconds", f->memory_floor);
    if (f->machine.bandwidth > 0) {
        add_string(out, "bound_by", f->is_memory_bound ? "memory" : "peak");
    } else {
        name(out, "bound_by");
        tcgemm_text_put(out, "null");
    }
    tcgemm_text_put(out, "}");
}

static void write_level(tcgemm_text_t *out, const tcgemm_analysis_level_t *l) {
    add_string(out, "{name", l->tile.name);
    add_string(out, "home", l->tile.home);
    add_int(out, "m", l->tile.m);
    add_int(out, "n", l->tile.n);
    add_int(out, "k", l->tile.k);
    add_int(out, "count", l->tile.count);
    add_int(out, "rows", l->rows);
    add_int(out, "cols", l->cols);
    add_real(out, "tile_bytes", l->tile_bytes);
    add_real(out, "a_reads", l->a_reads);
    add_real(out, "b_reads", l->b_reads);
    add_real(out, "a_bytes", l->a_bytes);
    add_real(out, "b_bytes", l->b_bytes);
    add_real(out, "multiply_adds_per_byte", l->reuse);
    tcgemm_text_put(out, "}");
}

static void write_occupancy(tcgemm_text_t *out, const tcgemm_occupancy_info_t *o) {
    add_int(out, "{blocks_per_sm", o->blocks);
    add_int(out, "warps_per_sm", o->warps);
    add_int(out, "most_warps_per_sm", o->most_warps);
    add_int(out, "by_threads", o->by_threads);
    add_int(out, "by_registers", o->by_registers);
    add_int(out, "by_smem", o->by_smem);
    add_int(out, "by_slots", o->by_slots);
    tcgemm_text_put(out, "}");
}

static void write_launch(tcgemm_text_t *out, const tcgemm_analysis_t *f) {
    const tcgemm_plan_info_t *p = &f->info;
    if (!f->machine.is_gpu) {
        add_int(out, "{num_threads", p->num_threads);
        add_int(out, "num_blocks", p->num_blocks);
        add_int(out, "packed_a_bytes", (int64_t)p->packed_a_bytes);
        add_int(out, "packed_b_bytes", (int64_t)p->packed_b_bytes);
        tcgemm_text_put(out, "}");
        return;
    }
    add_int(out, "{grid_blocks", p->grid_blocks);
    add_int(out, "threads_per_block", p->threads_per_block);
    add_int(out, "registers_per_thread", p->registers_per_thread);
    add_int(out, "smem_bytes", (int64_t)p->smem_bytes);
    add_int(out, "stages", p->stages);
    add_int(out, "raster_group", p->raster_group);
    add_bool(out, "persistent", p->is_persistent);
    name(out, "occupancy");
    write_occupancy(out, &f->occupancy);
    tcgemm_text_put(out, "}");
}

static void write_estimate(tcgemm_text_t *out, const tcgemm_estimate_t *e) {
    add_string(out, "{kernel", e->kernel);
    add_string(out, "algo", e->algo);
    add_real(out, "predicted_seconds", e->seconds);
    name(out, "parts_seconds");
    tcgemm_text_put(out, e->num_parts == 0 ? "{" : "");
    for (int i = 0; i < e->num_parts; ++i) {
        tcgemm_text_add(out, "%s\"%s\": ", i ? ", " : "{", e->parts[i].name);
        real(out, e->parts[i].seconds);
    }
    tcgemm_text_put(out, "}");
    add_real(out, "memory_seconds", e->memory_seconds);
    add_real(out, "tile_efficiency", e->tile_efficiency);
    add_real(out, "rounds", e->rounds);
    add_real(out, "wave_efficiency", e->wave_efficiency);
    tcgemm_text_put(out, "}");
}

static void write_arrays(tcgemm_text_t *out, const tcgemm_analysis_t *f, bool levels) {
    const int count = levels ? f->num_levels : f->num_estimates;
    name(out, levels ? "levels" : "estimates");
    tcgemm_text_put(out, "[");
    for (int i = 0; i < count; ++i) {
        tcgemm_text_put(out, i ? ", " : "");
        if (levels)
            write_level(out, &f->levels[i]);
        else
            write_estimate(out, &f->estimates[i]);
    }
    tcgemm_text_put(out, "]");
}

static void write_steps(tcgemm_text_t *out, const tcgemm_plan_t *plan) {
    tcgemm_step_info_t s = {.struct_size = sizeof s};
    name(out, "steps");
    tcgemm_text_put(out, "[");
    for (int i = 0; i < tcgemm_plan_step_count(plan); ++i) {
        (void)tcgemm_plan_get_step(plan, i, &s);
        tcgemm_text_put(out, i ? ", " : "");
        add_string(out, "{name", s.name);
        add_string(out, "reads", s.reads[0]);
        add_string(out, "and", s.reads[1]);
        add_string(out, "writes", s.writes);
        add_int(out, "splits", s.splits);
        add_int(out, "written_bytes", (int64_t)s.written_bytes);
        if (s.rows > 0) {
            add_int(out, "row", s.row);
            add_int(out, "rows", s.rows);
            add_int(out, "col", s.col);
            add_int(out, "cols", s.cols);
        }
        add_real(out, "predicted_seconds", s.seconds);
        tcgemm_text_put(out, "}");
    }
    tcgemm_text_put(out, "]");
}

void tcgemm_page_json(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    const tcgemm_plan_info_t *p = &f->info;
    const double seconds = f->estimates[0].seconds;
    add_string(out, "{schema", "tcgemm.explain/1");
    name(out, "problem");
    write_problem(out, f);
    name(out, "machine");
    write_machine(out, &f->machine);
    name(out, "work");
    write_work(out, f);
    add_string(out, "kernel", p->kernel);
    add_string(out, "algo", p->algo);
    add_string(out, "reason", p->reason);
    write_arrays(out, f, true);
    write_steps(out, f->plan);
    name(out, "launch");
    write_launch(out, f);
    add_int(out, "k_steps", f->k_steps);
    name(out, "padded");
    tcgemm_text_add(out, "{\"m\": %" PRId64 ", \"n\": %" PRId64 ", \"k\": %" PRId64 "}",
                    p->padded_m, p->padded_n, p->padded_k);
    add_real(out, "predicted_seconds", seconds);
    add_real(out, "predicted_fraction_of_peak",
             seconds > 0 && f->machine.peak > 0 ? f->flop / seconds / f->machine.peak : NAN);
    write_arrays(out, f, false);
    tcgemm_text_put(out, "}");
}
