/* page.c - the page: the facts as tables, the pictures, and tiles to point at. One file
 * that loads nothing; its style and script come from page/. */
#include "draw/page.h"

#include <inttypes.h>

#include "draw/picture.h"

#define TIMES "&times;"

static bool is_integer(const tcgemm_analysis_t *f) {
    return f->type->d == TCGEMM_DTYPE_S32;
}

static double predicted_speed(const tcgemm_analysis_t *f) {
    return f->estimates[0].seconds > 0 ? f->flop / f->estimates[0].seconds : 0;
}

/* ---- head ---- */

static void write_head(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    const tcgemm_problem_t *p = &f->problem;
    tcgemm_text_add(out,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                    "<title>%s, %" PRId64 " x %" PRId64 " x %" PRId64 " on ",
                    f->type->name, p->m, p->n, p->k);
    tcgemm_svg_escape(out, f->machine.name);
    tcgemm_text_put(out, "</title>\n<style>\n");
    tcgemm_text_put_bytes(out, tcgemm_page_css, tcgemm_page_css_size);
    tcgemm_text_put(out, "</style>\n</head>\n<body>\n");
}

static void write_title(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    const tcgemm_problem_t *p = &f->problem;
    tcgemm_text_put(out, "<header>\n<h1>D = ");
    tcgemm_picture_formula(f, out);
    tcgemm_text_add(
        out, "</h1>\n<p class=\"soft\">%s, %s-major, m %" PRId64 ", n %" PRId64 ", k %" PRId64,
        f->type->name, p->order == TCGEMM_ROW_MAJOR ? "row" : "column", p->m, p->n, p->k);
    if (p->batch != 1)
        tcgemm_text_add(out, ", batch %" PRId64, p->batch);
    tcgemm_text_put(out, ", on ");
    tcgemm_svg_escape(out, f->machine.name);
    tcgemm_text_add(out,
                    "%s. A and B stand for op(A), %" PRId64 " " TIMES " %" PRId64
                    ", and op(B), %" PRId64 " " TIMES " %" PRId64 ".</p>\n</header>\n<main>\n",
                    f->machine.is_here ? "" : ", by its data sheet", p->m, p->k, p->k, p->n);
}

static void key(tcgemm_text_t *out, const char *name, const char *value) {
    tcgemm_text_add(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

static const char *bound_of(const tcgemm_analysis_t *f) {
    return units_bound(f->multiply_floor, f->memory_floor, f->estimates[0].seconds,
                       f->machine.is_gpu);
}

static void write_keys(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    char text[2 * UNITS_SIZE];
    tcgemm_text_put(out, "<dl class=\"keys\">\n");
    key(out, "predicted time", units_seconds(f->estimates[0].seconds, text));
    key(out, "predicted speed", units_rate(predicted_speed(f), is_integer(f), text));
    if (f->machine.peak > 0) {
        (void)snprintf(text, sizeof text, "%.1f %%", 100 * predicted_speed(f) / f->machine.peak);
        key(out, "of the peak", text);
    }
    key(out, "operations, 2 m n k", units_grouped(f->flop, text));
    key(out, "A, B and D", units_bytes(f->bytes, text));
    (void)snprintf(text, sizeof text, f->intensity < 1e4 ? "%.4g" : "%.0f", f->intensity);
    key(out, "operations a byte", text);
    key(out, "tiles of D",
        units_grouped((double)f->problem.batch * (double)tcgemm_plan_tile_count(f->plan), text));
    if (f->machine.peak > 0 && f->machine.bandwidth > 0)
        key(out, "bounded by", bound_of(f));
    tcgemm_text_put(out, "</dl>\n");
}

/* ---- the peak, step by step ---- */

static void step(tcgemm_text_t *out, const char *what, const char *how, const char *result) {
    tcgemm_text_add(out, "<tr><td>%s</td><td>%s</td><td>%s</td></tr>\n", what, how, result);
}

static void write_peak_steps(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    const tcgemm_analysis_machine_t *m = &f->machine;
    const char *const unit = m->is_gpu ? "SM" : "thread";
    const double macs = m->num_units * m->macs_per_clock;
    char how[4 * UNITS_SIZE];
    char result[UNITS_SIZE];
    char number[UNITS_SIZE];
    if (m->peak_is_measured) {
        step(out, "peak", "measured on operands that stay in the first cache",
             units_rate(m->peak, is_integer(f), result));
        return;
    }
    if (m->macs_per_clock <= 0) {
        step(out, "peak", "in theory", units_rate(m->peak, is_integer(f), result));
        return;
    }
    (void)snprintf(how, sizeof how, "%d %s%s " TIMES " %.0f", m->num_units, unit,
                   m->num_units == 1 ? "" : "s", m->macs_per_clock);
    step(out, "multiply-adds a clock", how, units_grouped(macs, result));
    (void)snprintf(how, sizeof how, "%s " TIMES " 2", units_grouped(macs, number));
    step(out, "operations a clock", how, units_grouped(2 * macs, result));
    (void)snprintf(how, sizeof how, "%s " TIMES " %.4g GHz", units_grouped(2 * macs, number),
                   m->clock_hz * 1e-9);
    step(out, "peak", how, units_rate(m->peak, is_integer(f), result));
}

static void write_roof_steps(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    const tcgemm_analysis_machine_t *m = &f->machine;
    char how[4 * UNITS_SIZE];
    char result[UNITS_SIZE];
    char a[UNITS_SIZE];
    char b[UNITS_SIZE];
    (void)snprintf(how, sizeof how, "%s / %.0f GB/s%s", units_rate(m->peak, is_integer(f), a),
                   m->bandwidth * 1e-9, m->bandwidth_is_measured ? ", measured" : "");
    (void)snprintf(result, sizeof result, "%.4g operations a byte", f->balance);
    step(out, "the peak needs", how, result);
    (void)snprintf(how, sizeof how, "%s / %s bytes", units_grouped(f->flop, a),
                   units_grouped(f->bytes, b));
    (void)snprintf(result, sizeof result, "%.4g operations a byte", f->intensity);
    step(out, "this product has", how, result);
    (void)snprintf(how, sizeof how, "%s / %s", units_grouped(f->flop, a),
                   units_rate(m->peak, is_integer(f), b));
    step(out, "floor of multiplying", how, units_seconds(f->multiply_floor, result));
    (void)snprintf(how, sizeof how, "%s bytes / %.0f GB/s", units_grouped(f->bytes, a),
                   m->bandwidth * 1e-9);
    step(out, "floor of the memory", how, units_seconds(f->memory_floor, result));
}

static void write_roofs(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    const bool has_roofs = f->machine.bandwidth > 0;
    tcgemm_text_put(out, "<div class=\"scroll\"><table>\n");
    write_peak_steps(f, out);
    if (has_roofs)
        write_roof_steps(f, out);
    tcgemm_text_put(out, "</table></div>\n");
    if (has_roofs)
        tcgemm_text_add(out, "<p>T%s bounds it.</p>\n", bound_of(f) + 1); /* the peak */
    else
        tcgemm_text_put(out, "<p>The bandwidth of the memory was not measured.</p>\n");
}

static void write_peak(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    tcgemm_text_put(out, "<section id=\"peak\"><h2>The peak, step by step</h2>\n");
    if (f->machine.peak > 0)
        write_roofs(f, out);
    else
        tcgemm_text_put(out, f->machine.is_gpu
                                 ? "<p>This machine has no units for the type.</p>\n"
                                 : "<p>The peak of this machine was not measured.</p>\n");
    tcgemm_text_put(out, "</section>\n");
}

/* ---- the time ---- */

static void write_part(tcgemm_text_t *out, int colour, const char *name, double seconds,
                       double all) {
    char text[UNITS_SIZE];
    tcgemm_text_add(out, "<li><i class=\"c%d\"></i>%s %s, %.1f %%</li>\n", colour, name,
                    units_seconds(seconds, text), all > 0 ? 100 * seconds / all : 0);
}

static void write_time(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    const tcgemm_estimate_t *e = &f->estimates[0];
    char text[UNITS_SIZE];
    tcgemm_text_add(out, "<section id=\"time\"><h2>Where the time goes</h2>\n<p>%s by the model.",
                    units_seconds(e->seconds, text));
    if (e->memory_seconds > 0)
        tcgemm_text_add(out, " Beside it the memory moves A, B and D in %s%s.",
                        units_seconds(e->memory_seconds, text),
                        e->memory_seconds < e->seconds ? "" : ", which decides");
    tcgemm_text_put(out,
                    "</p>\n<div class=\"bar\" role=\"img\" aria-label=\"the parts of the time\">");
    for (int i = 0; i < e->num_parts; ++i)
        tcgemm_text_add(out, "<span class=\"c%d\" style=\"flex:%.6f 0 0\"></span>", i % 6,
                        e->seconds > 0 ? e->parts[i].seconds / e->seconds : 0);
    tcgemm_text_put(out, "</div>\n<ul class=\"legend\">\n");
    for (int i = 0; i < e->num_parts; ++i)
        write_part(out, i % 6, e->parts[i].name, e->parts[i].seconds, e->seconds);
    tcgemm_text_put(out, "</ul></section>\n");
}

/* ---- the hierarchy, the launch, the choice ---- */

static void write_level(const tcgemm_analysis_level_t *l, tcgemm_text_t *out) {
    char count[UNITS_SIZE];
    char a[UNITS_SIZE];
    char b[UNITS_SIZE];
    char tile[UNITS_SIZE];
    char moved[UNITS_SIZE];
    tcgemm_text_add(
        out,
        "<tr><td>%s</td><td>%s</td><td>%" PRId64 " " TIMES " %" PRId64 " " TIMES " %" PRId64
        "</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%.1f</td></tr>\n",
        l->tile.name, l->tile.home, l->tile.m, l->tile.n, l->tile.k,
        units_grouped((double)l->tile.count, count), units_bytes(l->tile_bytes, tile),
        units_grouped(l->a_reads, a), units_grouped(l->b_reads, b),
        units_bytes(l->a_bytes + l->b_bytes, moved), l->reuse);
}

static void write_levels(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    if (f->num_levels == 0)
        return;
    tcgemm_text_put(
        out, "<section id=\"hierarchy\"><h2>The hierarchy</h2>\n"
             "<p class=\"soft\">Each level is made of tiles of the next. A and B read: how often "
             "each of their elements comes in; reuse: multiply-adds for each byte moved.</p>\n"
             "<div class=\"scroll\"><table>\n<tr><th>tile</th><th>lives in</th><th>m " TIMES
             " n " TIMES " k</th><th>of them</th><th>A and B of one</th><th>A read</th>"
             "<th>B read</th><th>moved in</th><th>reuse</th></tr>\n");
    for (int i = 0; i < f->num_levels; ++i)
        write_level(&f->levels[i], out);
    tcgemm_text_put(out, "</table></div></section>\n");
}

static void fact(tcgemm_text_t *out, const char *name, const char *value) {
    tcgemm_text_add(out, "<tr><td>%s</td><td>%s</td></tr>\n", name, value);
}

static void write_occupancy(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    const tcgemm_plan_info_t *p = &f->info;
    const tcgemm_occupancy_info_t *o = &f->occupancy;
    char text[4 * UNITS_SIZE];
    char a[UNITS_SIZE];
    char b[UNITS_SIZE];
    (void)snprintf(text, sizeof text, "%" PRId64 " blocks of %d threads%s", p->grid_blocks,
                   p->threads_per_block,
                   p->is_persistent ? ", each takes tiles until none is left" : "");
    fact(out, "grid", text);
    (void)snprintf(text, sizeof text, "%d of 255 a thread", p->registers_per_thread);
    fact(out, "registers", text);
    (void)snprintf(text, sizeof text, "%s of %s a block", units_bytes((double)p->smem_bytes, a),
                   units_bytes((double)f->machine.smem_block_bytes, b));
    fact(out, "shared memory", text);
    (void)snprintf(text, sizeof text, "%d block%s an SM, %d of %d warps", o->blocks,
                   o->blocks == 1 ? "" : "s", o->warps, o->most_warps);
    fact(out, "occupancy", text);
    (void)snprintf(text, sizeof text, "threads %d, registers %d, shared memory %d, slots %d",
                   o->by_threads, o->by_registers, o->by_smem, o->by_slots);
    fact(out, "blocks allowed by", text);
}

static void write_threads(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    const tcgemm_plan_info_t *p = &f->info;
    char text[4 * UNITS_SIZE];
    char a[UNITS_SIZE];
    char b[UNITS_SIZE];
    (void)snprintf(text, sizeof text, "%d, sharing %" PRId64 " blocks", p->num_threads,
                   p->num_blocks);
    fact(out, "threads", text);
    if (p->packed_a_bytes + p->packed_b_bytes == 0) {
        fact(out, "packing", "none: A and B are read in place");
        return;
    }
    (void)snprintf(text, sizeof text, "panels of A %s, of B %s",
                   units_bytes((double)p->packed_a_bytes, a),
                   units_bytes((double)p->packed_b_bytes, b));
    fact(out, "packing", text);
}

static void write_quantisation(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    const tcgemm_plan_info_t *p = &f->info;
    const tcgemm_estimate_t *e = &f->estimates[0];
    char text[4 * UNITS_SIZE];
    if (f->num_levels > 1) {
        (void)snprintf(text, sizeof text, "%" PRId64 " of %" PRId64, f->k_steps,
                       f->levels[1].tile.k);
        fact(out, "steps of k", text);
    }
    (void)snprintf(text, sizeof text,
                   "%" PRId64 " " TIMES " %" PRId64 " " TIMES " %" PRId64
                   "; %.1f %% of it is the product",
                   p->padded_m, p->padded_n, p->padded_k, 100 * e->tile_efficiency);
    fact(out, "whole tiles", text);
    if (f->machine.is_gpu)
        (void)snprintf(text, sizeof text, "%.0f round%s of blocks, the busiest SM %.1f %% in use",
                       e->rounds, e->rounds == 1 ? "" : "s", 100 * e->wave_efficiency);
    else
        (void)snprintf(text, sizeof text, "the busiest thread is %.1f %% in use",
                       100 * e->wave_efficiency);
    fact(out, "balance", text);
}

static void write_launch(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    tcgemm_text_add(out,
                    "<section id=\"launch\"><h2>%s</h2>\n<div class=\"scroll\">"
                    "<table class=\"words\">\n",
                    f->machine.is_gpu ? "The launch" : "The threads");
    if (f->machine.is_gpu)
        write_occupancy(f, out);
    else
        write_threads(f, out);
    write_quantisation(f, out);
    tcgemm_text_put(out, "</table></div></section>\n");
}

static void write_choice(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    char text[UNITS_SIZE];
    const double first = f->estimates[0].seconds;
    tcgemm_text_put(out, "<section id=\"choice\"><h2>Why this kernel</h2>\n<p>");
    tcgemm_svg_escape(out, f->info.reason ? f->info.reason : "");
    tcgemm_text_put(out, ".</p>\n<div class=\"scroll\"><table>\n<tr><th>kernel</th><th>time</th>"
                         "<th>times as long</th><th>whole tiles used</th><th>balance</th></tr>\n");
    for (int i = 0; i < f->num_estimates; ++i) {
        const tcgemm_estimate_t *e = &f->estimates[i];
        tcgemm_text_add(out,
                        "<tr%s><td>%s</td><td>%s</td><td>%.2f</td><td>%.1f %%</td><td>%.1f "
                        "%%</td></tr>\n",
                        i == 0 ? " class=\"chosen\"" : "", e->kernel,
                        units_seconds(e->seconds, text), first > 0 ? e->seconds / first : 1,
                        100 * e->tile_efficiency, 100 * e->wave_efficiency);
    }
    tcgemm_text_add(out, "</table></div>%s</section>\n",
                    f->num_estimates == 1 ? "<p>No other kernel does this type here.</p>" : "");
}

/* ---- pictures, data, script ---- */

static void write_pictures(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    const tcgemm_svg_canvas_t canvas = {.out = out, .id = ""};
    for (tcgemm_picture_t i = 0; i < NUM_PICTURES; ++i) {
        tcgemm_text_add(out, "<figure id=\"picture-%s\"><div>\n", tcgemm_picture_name((int)i));
        tcgemm_picture_draw(f, i, &canvas);
        tcgemm_text_put(out, "</div></figure>\n");
    }
}

static void write_end(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    tcgemm_text_add(out, "</main>\n<footer>Written by tcgemm %s for kernel ",
                    tcgemm_version_string());
    tcgemm_svg_escape(out, f->info.kernel);
    tcgemm_text_put(out, ".</footer>\n<script type=\"application/json\" id=\"facts\">\n");
    tcgemm_page_json(f, out);
    tcgemm_text_put(out, "\n</script>\n<script>\n");
    tcgemm_text_put_bytes(out, tcgemm_page_js, tcgemm_page_js_size);
    tcgemm_text_put(out, "</script>\n</body>\n</html>\n");
}

void tcgemm_page_draw(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    write_head(f, out);
    write_title(f, out);
    write_keys(f, out);
    tcgemm_page_explore(f, out);
    write_pictures(f, out);
    write_peak(f, out);
    write_time(f, out);
    write_levels(f, out);
    write_launch(f, out);
    write_choice(f, out);
    write_end(f, out);
}

void tcgemm_page_draw_part(const tcgemm_analysis_t *f, const tcgemm_svg_canvas_t *canvas) {
    tcgemm_text_put(canvas->out, "<div>\n");
    tcgemm_svg_style(canvas, tcgemm_picture_name(0));
    for (tcgemm_picture_t i = 0; i < NUM_PICTURES; ++i)
        tcgemm_picture_draw(f, i, canvas);
    tcgemm_text_put(canvas->out, "</div>\n");
}
