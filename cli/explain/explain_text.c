/* explain_text.c - the facts on one screen, at most 100 columns. */
#include <inttypes.h>
#include <string.h>

#include "commands/report.h"
#include "explain/explain.h"
#include "support/units.h"

/* Every line begins with what it is about, as those of `run` do. */
static void line(FILE *out, const char *about) {
    (void)fprintf(out, "%-12s ", about);
}

static bool is_integer(const tcgemm_analysis_t *f) {
    return f->type->d == TCGEMM_DTYPE_S32;
}

static const char *rate(const tcgemm_analysis_t *f, double operations, char text[UNITS_SIZE]) {
    return units_rate(operations, is_integer(f), text);
}

static void show_problem(const settings_t *s, const tcgemm_analysis_t *f, FILE *out) {
    const tcgemm_problem_t *p = &f->problem;
    char formula[128];
    report_formula(s, formula, sizeof formula);
    (void)fprintf(out, "D = %s   %s, %s-major, m %" PRId64 ", n %" PRId64 ", k %" PRId64, formula,
                  f->type->name, p->order == TCGEMM_ROW_MAJOR ? "row" : "column", p->m, p->n, p->k);
    if (p->batch != 1)
        (void)fprintf(out, ", batch %" PRId64, p->batch);
    (void)fprintf(out, "\non %s%s\n\n", f->machine.name,
                  f->machine.is_here ? "" : ", by its data sheet");
}

static void show_work(const tcgemm_analysis_t *f, FILE *out) {
    char text[UNITS_SIZE];
    char text2[UNITS_SIZE];
    line(out, "work");
    (void)fprintf(out, "%s eOPS; 2 m n k = %s operations\n", units_grouped(f->eops, text),
                  units_grouped(f->flop, text2));
    line(out, "bytes");
    (void)fprintf(out, "%s for A, B%s and D once: %.1f operations a byte\n",
                  units_grouped(f->bytes, text), f->beta != 0 ? ", C" : "", f->intensity);
}

static void show_peak(const tcgemm_analysis_t *f, FILE *out) {
    const tcgemm_analysis_machine_t *m = &f->machine;
    char text[UNITS_SIZE];
    line(out, "peak");
    if (m->peak <= 0)
        (void)fprintf(out, "no units for this type\n");
    else if (m->peak_is_measured)
        (void)fprintf(out, "%s, measured on %d thread%s\n", rate(f, m->peak, text), m->num_units,
                      m->num_units == 1 ? "" : "s");
    else
        (void)fprintf(out, "%d %s%s x %.0f multiply-adds a clock x 2 x %.3f GHz = %s\n",
                      m->num_units, m->is_gpu ? "SM" : "thread", m->num_units == 1 ? "" : "s",
                      m->macs_per_clock, m->clock_hz * 1e-9, rate(f, m->peak, text));
    if (m->bandwidth <= 0) {
        line(out, "memory");
        (void)fprintf(out, "its speed could not be measured: no memory for that\n");
        line(out, "floor");
        (void)fprintf(out, "%s to multiply\n", units_seconds(f->multiply_floor, text));
        return;
    }
    line(out, "memory");
    (void)fprintf(out, "%.0f GB/s%s; the peak needs %.1f operations a byte\n", m->bandwidth * 1e-9,
                  m->bandwidth_is_measured ? ", measured" : "", f->balance);
    line(out, "floor");
    (void)fprintf(out, "%s to multiply", units_seconds(f->multiply_floor, text));
    (void)fprintf(out, ", %s to move the bytes: the %s bounds it\n",
                  units_seconds(f->memory_floor, text), f->is_memory_bound ? "memory" : "peak");
}

/* Exact while it fits its column. */
static const char *count_text(double count, char text[UNITS_SIZE]) {
    if (count < 1e9)
        return units_grouped(count, text);
    (void)snprintf(text, UNITS_SIZE, "%.3e", count);
    return text;
}

static void show_level(const tcgemm_analysis_t *f, int index, FILE *out) {
    const tcgemm_analysis_level_t *l = &f->levels[index];
    char shape[UNITS_SIZE];
    char count[UNITS_SIZE];
    char tile[UNITS_SIZE];
    char moved[UNITS_SIZE];
    const int length = snprintf(shape, sizeof shape, "%" PRId64 "x%" PRId64 "x%" PRId64, l->tile.m,
                                l->tile.n, l->tile.k);
    const int beyond = length > 17 ? length - 17 : 0; /* taken from the next column */
    (void)fprintf(out, "%-13s %-17s %*s  %-13s %9s %6.0f %6.0f %9s %6.5g\n", l->tile.name, shape,
                  12 - beyond, count_text((double)l->tile.count, count), l->tile.home,
                  units_bytes(l->tile_bytes, tile), l->a_reads, l->b_reads,
                  units_bytes(l->a_bytes + l->b_bytes, moved), l->reuse);
}

static void show_levels(const tcgemm_analysis_t *f, FILE *out) {
    (void)fprintf(out, "\n%-13s %-17s %12s  %-13s %9s %6s %6s %9s %6s\n", "tile", "m x n x k",
                  "of them", "lives in", "A and B", "A read", "B read", "moved in", "reuse");
    for (int i = 0; i < f->num_levels; ++i)
        show_level(f, i, out);
    (void)fprintf(out, "  (A, B read: times each element; reuse: multiply-adds for each byte moved)"
                       "\n\n");
}

static void show_launch(const tcgemm_analysis_t *f, FILE *out) {
    const tcgemm_plan_info_t *p = &f->info;
    const tcgemm_occupancy_info_t *o = &f->occupancy;
    char text[UNITS_SIZE];
    char text2[UNITS_SIZE];
    line(out, "grid");
    (void)fprintf(out, "%" PRId64 " blocks of %d threads%s; rasters of %d tile rows\n",
                  p->grid_blocks, p->threads_per_block,
                  p->is_persistent ? ", each takes tiles until none is left" : "", p->raster_group);
    line(out, "each block");
    (void)fprintf(out, "%d registers a thread of 255; %s of %s shared memory\n",
                  p->registers_per_thread, units_bytes((double)p->smem_bytes, text),
                  units_bytes((double)f->machine.smem_block_bytes, text2));
    line(out, "occupancy");
    (void)fprintf(out,
                  "%d block%s an SM, %d of %d warps (threads allow %d, registers %d, shared memory "
                  "%d, slots %d)\n",
                  o->blocks, o->blocks == 1 ? "" : "s", o->warps, o->most_warps, o->by_threads,
                  o->by_registers, o->by_smem, o->by_slots);
}

static void show_threads(const tcgemm_analysis_t *f, FILE *out) {
    const tcgemm_plan_info_t *p = &f->info;
    char text[UNITS_SIZE];
    char text2[UNITS_SIZE];
    line(out, "threads");
    (void)fprintf(out, "%d, sharing %" PRId64 " blocks\n", p->num_threads, p->num_blocks);
    line(out, "packing");
    if (p->packed_a_bytes + p->packed_b_bytes == 0)
        (void)fprintf(out, "none: A and B are read in place\n");
    else
        (void)fprintf(out, "panels of A %s, of B %s\n",
                      units_bytes((double)p->packed_a_bytes, text),
                      units_bytes((double)p->packed_b_bytes, text2));
}

static void show_quantisation(const tcgemm_analysis_t *f, FILE *out) {
    const tcgemm_plan_info_t *p = &f->info;
    const tcgemm_estimate_t *e = &f->estimates[0];
    if (f->num_levels > 1) {
        line(out, "k");
        (void)fprintf(out, "%" PRId64 " step%s of %" PRId64, f->k_steps, f->k_steps == 1 ? "" : "s",
                      f->levels[1].tile.k);
        if (p->stages > 0)
            (void)fprintf(out, ", %d stage%s in shared memory", p->stages,
                          p->stages == 1 ? "" : "s");
        (void)fprintf(out, "\n");
    }
    line(out, "padded to");
    (void)fprintf(out, "%" PRId64 " x %" PRId64 " x %" PRId64 "%s: %.1f %% of it is the product\n",
                  p->padded_m, p->padded_n, p->padded_k,
                  f->machine.is_gpu ? " inside the kernel" : "", 100 * e->tile_efficiency);
    line(out, "balance");
    if (f->machine.is_gpu)
        (void)fprintf(out, "%.0f round%s of blocks; the busiest SM is %.1f %% in use\n", e->rounds,
                      e->rounds == 1 ? "" : "s", 100 * e->wave_efficiency);
    else
        (void)fprintf(out, "the busiest thread is %.1f %% in use\n", 100 * e->wave_efficiency);
}

static void show_prediction(const tcgemm_analysis_t *f, FILE *out) {
    const tcgemm_estimate_t *e = &f->estimates[0];
    const double speed = e->seconds > 0 ? f->flop / e->seconds : 0;
    char text[UNITS_SIZE];
    char text2[UNITS_SIZE];
    line(out, "predicted");
    (void)fprintf(out, "%s = %s", units_seconds(e->seconds, text), rate(f, speed, text2));
    if (f->machine.peak > 0)
        (void)fprintf(out, ", %.1f %% of the peak", 100 * speed / f->machine.peak);
    (void)fprintf(out, "\n");
    if (e->num_parts == 0)
        return;
    line(out, "");
    for (int i = 0; i < e->num_parts; ++i)
        (void)fprintf(out, "%s%s %s", i ? ", " : "", e->parts[i].name,
                      units_seconds(e->parts[i].seconds, text));
    (void)fprintf(out, "\n");
    if (e->memory_seconds > 0) {
        line(out, "");
        (void)fprintf(out, "beside all but the launch, the memory is busy for %s\n",
                      units_seconds(e->memory_seconds, text));
    }
}

static void show_choice(const tcgemm_analysis_t *f, FILE *out) {
    const tcgemm_estimate_t *first = &f->estimates[0];
    char text[UNITS_SIZE];
    line(out, "kernel");
    (void)fprintf(out, "%s\n", f->info.kernel);
    line(out, "");
    (void)fprintf(out, "%s\n", f->info.reason);
    for (int i = 1; i < f->num_estimates; ++i) {
        const tcgemm_estimate_t *e = &f->estimates[i];
        line(out, i == 1 ? "next" : "");
        (void)fprintf(out, "%s: %s, %.2f times as long\n", e->kernel,
                      units_seconds(e->seconds, text),
                      first->seconds > 0 ? e->seconds / first->seconds : 0);
    }
    if (f->num_estimates == 1) {
        line(out, "next");
        (void)fprintf(out, "no other kernel does this type here\n");
    }
}

void explain_text(const explain_facts_t *facts, FILE *out) {
    const tcgemm_analysis_t *const f = &facts->analysis;
    show_problem(facts->settings, f, out);
    show_work(f, out);
    show_peak(f, out);
    if (f->num_levels > 0)
        show_levels(f, out);
    if (f->machine.is_gpu)
        show_launch(f, out);
    else
        show_threads(f, out);
    show_quantisation(f, out);
    show_prediction(f, out);
    show_choice(f, out);
}
