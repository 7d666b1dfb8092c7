/* explain_text.c - the facts on one screen, at most 100 columns. */
#include <inttypes.h>
#include <string.h>

#include "explain/explain.h"
#include "report/report.h"
#include "support/units.h"

enum { LINE_WIDTH = 100, INDENT = 13 };

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
    char sizes[128];
    report_formula(s, formula, sizeof formula);
    const int used = fprintf(out, "D = %s   %s, %s-major,", formula, f->type->name,
                             p->order == TCGEMM_ROW_MAJOR ? "row" : "column");
    int length =
        snprintf(sizes, sizeof sizes, "m %" PRId64 ", n %" PRId64 ", k %" PRId64, p->m, p->n, p->k);
    if (p->batch != 1)
        length +=
            snprintf(sizes + length, sizeof sizes - (size_t)length, ", batch %" PRId64, p->batch);
    (void)fprintf(out, "%s%s\non %s%s\n\n", used + 1 + length > LINE_WIDTH ? "\n    " : " ", sizes,
                  f->machine.name, f->machine.is_here ? "" : ", by its data sheet");
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
    (void)fprintf(
        out, ", %s to move the bytes: %s bounds it\n", units_seconds(f->memory_floor, text),
        units_bound(f->multiply_floor, f->memory_floor, f->estimates[0].seconds, m->is_gpu));
}

/* The number with as many of six digits as `width` >= 5 characters hold: 0.850460 in 6 -> "0.8505",
 * 16777216 -> "1.7e+07". */
static const char *fitted(double number, int width, char text[UNITS_SIZE]) {
    for (int digits = 6; digits > 0; --digits)
        if (snprintf(text, UNITS_SIZE, "%.*g", digits, number) <= width)
            break;
    return text;
}

/* "m x n x k" of a tile in at most `width` characters: exact if it fits, else each to what does. */
static void shape_text(const tcgemm_analysis_level_t *l, int width, char text[UNITS_SIZE]) {
    const int64_t sizes[3] = {l->tile.m, l->tile.n, l->tile.k};
    char rounded[3][UNITS_SIZE];
    const int length = snprintf(text, UNITS_SIZE, "%" PRId64 "x%" PRId64 "x%" PRId64, sizes[0],
                                sizes[1], sizes[2]);
    if (length <= width)
        return;
    for (int i = 0; i < 3; ++i)
        fitted((double)sizes[i], (width - 2) / 3, rounded[i]);
    (void)snprintf(text, UNITS_SIZE, "%.20sx%.20sx%.20s", rounded[0], rounded[1], rounded[2]);
}

/* A count of 11 columns: its thousands apart while they fit. */
static const char *count_text(double count, char text[UNITS_SIZE]) {
    return count < 1e9 ? units_grouped(count, text) : fitted(count, 9, text);
}

static void show_level(const tcgemm_analysis_level_t *l, FILE *out) {
    char shape[UNITS_SIZE];
    char count[UNITS_SIZE];
    char tile[UNITS_SIZE];
    char a_reads[UNITS_SIZE];
    char b_reads[UNITS_SIZE];
    char moved[UNITS_SIZE];
    char reuse[UNITS_SIZE];
    const int wanted = (int)strlen(count_text((double)l->tile.count, count));
    shape_text(l, 17 + 11 - wanted, shape); /* it may reach into the blanks of the next column */
    const int length = (int)strlen(shape);
    (void)fprintf(out, "%-13s %-17s %*s %-13s %10s %6s %6s %10s %6s\n", l->tile.name, shape,
                  length > 17 ? 11 - (length - 17) : 11, count, l->tile.home,
                  units_bytes(l->tile_bytes, tile), fitted(l->a_reads, 6, a_reads),
                  fitted(l->b_reads, 6, b_reads), units_bytes(l->a_bytes + l->b_bytes, moved),
                  fitted(l->reuse, 6, reuse));
}

static void show_levels(const tcgemm_analysis_t *f, FILE *out) {
    (void)fprintf(out, "\n%-13s %-17s %11s %-13s %10s %6s %6s %10s %6s\n", "tile", "m x n x k",
                  "of them", "lives in", "A and B", "A read", "B read", "moved in", "reuse");
    for (int i = 0; i < f->num_levels; ++i)
        show_level(&f->levels[i], out);
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
                  "%d block%s an SM, %d of %d warps; threads allow %d, registers %d,\n"
                  "%*sshared memory %d, slots %d\n",
                  o->blocks, o->blocks == 1 ? "" : "s", o->warps, o->most_warps, o->by_threads,
                  o->by_registers, INDENT, "", o->by_smem, o->by_slots);
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

/* "launch 2.0 us, start 3.1 us, ...": on as many lines as it takes. */
static void show_parts(const tcgemm_estimate_t *e, FILE *out) {
    char time[UNITS_SIZE];
    char part[2 * UNITS_SIZE];
    int column = INDENT;
    line(out, "");
    for (int i = 0; i < e->num_parts; ++i) {
        const int length =
            snprintf(part, sizeof part, "%s %s%s", e->parts[i].name,
                     units_seconds(e->parts[i].seconds, time), i + 1 < e->num_parts ? "," : "");
        const bool fits = column + 1 + length <= LINE_WIDTH;
        if (!fits)
            (void)fprintf(out, "\n%*s", INDENT, "");
        (void)fprintf(out, "%s%s", i > 0 && fits ? " " : "", part);
        column = (fits ? column + 1 : INDENT) + length;
    }
    (void)fprintf(out, "\n");
}

/* Which rows or columns of D a step stands for, if not all: a line of its own. */
static void show_area(const tcgemm_analysis_t *f, const tcgemm_step_info_t *s, FILE *out) {
    const bool by_rows = s->rows < f->problem.m;
    const int64_t first = by_rows ? s->row : s->col, count = by_rows ? s->rows : s->cols;
    if (s->rows == 0 || (!by_rows && s->cols == f->problem.n))
        return;
    line(out, "");
    (void)fprintf(out, "%-8s %s %" PRId64 " .. %" PRId64 " of D\n", "",
                  by_rows ? "rows" : "columns", first, first + count - 1);
}

/* The steps, where there are more than the product. */
static void show_steps(const tcgemm_analysis_t *f, FILE *out) {
    tcgemm_step_info_t s = {.struct_size = sizeof s};
    char bytes[UNITS_SIZE];
    char time[UNITS_SIZE];
    const int count = tcgemm_plan_step_count(f->plan);
    for (int i = 0; count > 1 && i < count; ++i) {
        if (tcgemm_plan_get_step(f->plan, i, &s) != TCGEMM_STATUS_OK)
            return;
        line(out, i ? "" : "steps");
        (void)fprintf(out, "%-8s %s%s%s -> %s (%s)", s.name, s.reads[0], s.reads[1] ? ", " : "",
                      s.reads[1] ? s.reads[1] : "", s.writes,
                      units_bytes((double)s.written_bytes, bytes));
        if (s.splits > 1)
            (void)fprintf(out, ", %" PRId64 " parts of k", s.splits);
        (void)fprintf(out, ", %s\n", units_seconds(s.seconds, time));
        show_area(f, &s, out);
    }
}

static void show_prediction(const tcgemm_analysis_t *f, FILE *out) {
    const tcgemm_estimate_t *e = &f->estimates[0];
    const double speed = e->seconds > 0 ? f->flop / e->seconds : 0;
    char text[UNITS_SIZE];
    char text2[UNITS_SIZE];
    show_steps(f, out);
    line(out, "predicted");
    (void)fprintf(out, "%s = %s", units_seconds(e->seconds, text), rate(f, speed, text2));
    if (f->machine.peak > 0)
        (void)fprintf(out, ", %.1f %% of the peak", 100 * speed / f->machine.peak);
    (void)fprintf(out, "\n");
    if (e->num_parts == 0)
        return;
    show_parts(e, out);
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
