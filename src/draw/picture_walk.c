/* picture_walk.c - along k: the steps that A and B are cut into, and what happens to them in
 * time. Three kinds of time line:
 *
 *     ring         slots in shared memory; the copy of a step runs ahead of its products (GPU)
 *     interleaved  no slots: each warp loads and multiplies, and the others fill the time (GPU)
 *     barriers     threads pack panels, wait, multiply units, wait (CPU)
 */
#include <math.h>

#include "draw/picture.h"

enum {
    MOST_STEPS = 12,
    SHOWN_FIRST = 8,
    SHOWN_LAST = 2,
    MOST_SLOTS = 8,
    MOST_WORKERS = 4,
    WARP_THREADS = 32
};

static const double left = 112, width = PICTURE_WIDTH - 112 - 36;
static const double lines_y = 292, lines_height = 176;

/* ---- k, cut into steps ---- */

typedef struct k_axis {
    int64_t steps, step_k, k;
    int shown;   /* boxes, the gap not counted */
    double each; /* width of a box */
} k_axis_t;

static k_axis_t k_axis_of(const tcgemm_analysis_t *f) {
    k_axis_t r = {.steps = 1, .step_k = f->problem.k, .k = f->problem.k};
    if (f->num_levels > 1 && f->k_steps > 0) {
        r.steps = f->k_steps;
        r.step_k = f->levels[1].tile.k;
    }
    const bool all = r.steps <= MOST_STEPS;
    r.shown = all ? (int)r.steps : SHOWN_FIRST + SHOWN_LAST;
    r.each = width / (r.shown + (all ? 0 : 1));
    return r;
}

/* The step in box `i`, and where the box begins. */
static int64_t step_in(const k_axis_t *r, int i, double *x) {
    const bool behind_gap = r->steps > MOST_STEPS && i >= SHOWN_FIRST;
    *x = left + (i + (behind_gap ? 1 : 0)) * r->each;
    return behind_gap ? r->steps - r->shown + i : i;
}

static void draw_strip(const tcgemm_svg_t *svg, const k_axis_t *r, const char *fill, double y,
                       double h) {
    for (int i = 0; i < r->shown; ++i) {
        double x;
        const int64_t step = step_in(r, i, &x);
        const double inside =
            fmin(1, ((double)r->k - (double)step * (double)r->step_k) / (double)r->step_k);
        char classes[UNITS_SIZE];
        (void)snprintf(classes, sizeof classes, "%s line", fill);
        tcgemm_svg_rect(svg, classes, x, y, r->each, h, 0);
        if (inside < 1)
            tcgemm_svg_rect(svg, "box", x + inside * r->each, y + 0.5, (1 - inside) * r->each,
                            h - 1, 0);
        if (inside < 1)
            tcgemm_svg_rect(svg, "h line", x + inside * r->each, y, (1 - inside) * r->each, h, 0);
        const double room = r->each * (inside < 0.5 ? 1 : inside);
        tcgemm_svg_text(svg, SVG_FIGURE, SVG_MIDDLE, x + room / 2, y + h / 2 + 5, room - 2, "%lld",
                        (long long)step);
    }
    if (r->steps > MOST_STEPS)
        tcgemm_svg_text(svg, SVG_LABEL, SVG_MIDDLE, left + (SHOWN_FIRST + 0.5) * r->each,
                        y + h / 2 + 5, r->each, "...");
}

/* A GPU block takes whole steps; on the CPU the last one is as short as what is left. */
static const char *last_step(const tcgemm_analysis_t *f, const k_axis_t *r) {
    if (r->k % r->step_k == 0)
        return "";
    return f->machine.is_gpu ? "; what is missing of the last one (hatched) counts as zeros"
                             : "; the last one is shorter";
}

static void draw_k_axis(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f, const k_axis_t *r) {
    char text[UNITS_SIZE];
    draw_strip(svg, r, "a", 112, 40);
    draw_strip(svg, r, "b", 164, 40);
    tcgemm_svg_text(svg, SVG_LABEL, SVG_END, left - 12, 129, 90, "A");
    tcgemm_svg_text(svg, SVG_SMALL, SVG_END, left - 12, 145, 90, "its rows");
    tcgemm_svg_text(svg, SVG_LABEL, SVG_END, left - 12, 181, 90, "B");
    tcgemm_svg_text(svg, SVG_SMALL, SVG_END, left - 12, 197, 90, "its columns");
    tcgemm_svg_text(svg, SVG_SMALL, SVG_START, left, 104, 60, "k = 0");
    tcgemm_svg_text(svg, SVG_SMALL, SVG_END, left + width, 104, 130, "k = %s",
                    units_grouped((double)r->k, text));
    tcgemm_svg_arrow(svg, "line", left + 60, 100, left + width - 136, 100);
    tcgemm_svg_text(svg, SVG_NOTE, SVG_START, left, 224, width, "%s of %lld along k%s",
                    tcgemm_picture_plural((double)r->steps, "step", text), (long long)r->step_k,
                    last_step(f, r));
}

/* ---- time lines ---- */

static bool has_ring(const tcgemm_analysis_t *f) {
    return f->info.stages > 1 && !tcgemm_picture_keeps_d(f);
}

/* Slots of the ring; of warps or threads as many as make the point. */
static int count_lines(const tcgemm_analysis_t *f) {
    const bool ring = f->machine.is_gpu && has_ring(f);
    const int all = ring                ? f->info.stages
                    : f->machine.is_gpu ? f->info.threads_per_block / WARP_THREADS
                                        : f->info.num_threads;
    const int most = ring ? MOST_SLOTS : MOST_WORKERS;
    return all < 1 ? 1 : all < most ? all : most;
}

static double height_of_line(int count) {
    return fmin(44, lines_height / count);
}

/* Where the words below the lines begin. */
static double words_y(const tcgemm_analysis_t *f) {
    const int count = count_lines(f);
    return lines_y + count * height_of_line(count) + 50;
}

/* Lanes and the columns of time that fit. */
typedef struct timelines {
    const tcgemm_svg_t *svg;
    int count, columns;
    double column_width, line_height;
} timelines_t;

static timelines_t timelines_of(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f, int columns) {
    const int count = count_lines(f);
    return (timelines_t){.svg = svg,
                         .count = count,
                         .columns = columns,
                         .column_width = width / columns,
                         .line_height = height_of_line(count)};
}

static void draw_line_names(const timelines_t *l, const char *format) {
    for (int i = 0; i < l->count; ++i) {
        char name[UNITS_SIZE];
        const double y = lines_y + (i + 0.5) * l->line_height;
        (void)snprintf(name, sizeof name, "%s %d", format, i);
        tcgemm_svg_text(l->svg, SVG_NOTE, SVG_END, left - 12, y + 4, 84, "%s", name);
        tcgemm_svg_line(l->svg, "line thin", left, y, left + width, y);
    }
}

/* A bar in a line from one time to another, in columns. */
static void draw_bar(const timelines_t *l, int line, double from, double to, const char *upper,
                     const char *lower, const char *text) {
    const double end = fmin(to, l->columns);
    if (from >= end)
        return;
    const double x = left + from * l->column_width + 1;
    const double w = (end - from) * l->column_width - 2;
    const double y = lines_y + line * l->line_height + 3;
    const double h = l->line_height - 6;
    tcgemm_svg_rect(l->svg, upper, x, y, w, h / 2, 0);
    tcgemm_svg_rect(l->svg, lower, x, y + h / 2, w, h / 2, 0);
    tcgemm_svg_rect(l->svg, "none line", x, y, w, h, 2);
    tcgemm_svg_text(l->svg, SVG_FIGURE, SVG_MIDDLE, x + w / 2, y + h / 2 + 4, w - 4, "%s", text);
}

static void draw_time(const timelines_t *l) {
    const double y = lines_y + l->count * l->line_height + 12;
    tcgemm_svg_arrow(l->svg, "line", left, y, left + width, y);
    tcgemm_svg_text(l->svg, SVG_SMALL, SVG_END, left + width, y + 16, 260, "time, not to scale");
}

static void draw_heading(const tcgemm_svg_t *svg, const char *text) {
    tcgemm_svg_text(svg, SVG_LABEL, SVG_START, left, lines_y - 30, width, "%s", text);
}

/* Column 0 is what happens before the first product; step j is multiplied in column j + 1. */
static void draw_ring(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f, const k_axis_t *r) {
    const int stages = f->info.stages;
    const int steps = (int)fmin((double)r->steps, 9);
    const timelines_t l = timelines_of(svg, f, steps + 1);
    char text[UNITS_SIZE];
    draw_line_names(&l, "slot");
    for (int j = 0; j < steps + stages && j < r->steps; ++j) {
        const int asked = j < stages - 1 ? 0 : j + 2 - stages;
        (void)snprintf(text, sizeof text, "copy %d", j);
        draw_bar(&l, j % stages, asked, j + 1, "a", "b", text);
        (void)snprintf(text, sizeof text, "multiply %d", j);
        if (j < steps)
            draw_bar(&l, j % stages, j + 1, j + 2, "d2", "d2", text);
    }
    draw_time(&l);
}

static void describe_ring(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f) {
    const tcgemm_analysis_level_t *block = &f->levels[1];
    char step[UNITS_SIZE];
    char all[UNITS_SIZE];
    char text[512];
    (void)snprintf(text, sizeof text, "A ring of %d slots in shared memory", f->info.stages);
    draw_heading(svg, text);
    (void)tcgemm_svg_paragraph(
        svg, SVG_NOTE, left, words_y(f), width,
        "Copies run %d step%s ahead of the products; where a slot turns from copy to "
        "multiply, the block waits until all of it has come%s. A slot takes %s of A "
        "and B; the block has %s of shared memory.",
        f->info.stages - 1, f->info.stages == 2 ? "" : "s",
        f->info.is_persistent ? "; the ring runs on into the block's next tile" : "",
        units_bytes(block->tile_bytes, step), units_bytes((double)f->info.smem_bytes, all));
}

/* Each line is a warp: it loads, then multiplies, a little later than the one above. */
static void draw_interleaved(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f,
                             const k_axis_t *r) {
    const timelines_t l = timelines_of(svg, f, 10);
    char text[UNITS_SIZE];
    draw_line_names(&l, "warp");
    for (int line = 0; line < l.count; ++line) {
        double at = 0.5 * line;
        for (int j = 0; j < r->steps && at < l.columns; ++j, at += 2) {
            (void)snprintf(text, sizeof text, "load %d", j);
            draw_bar(&l, line, at, at + 1.5, "a", "b", text);
            (void)snprintf(text, sizeof text, "%d", j);
            draw_bar(&l, line, at + 1.5, at + 2, "d2", "d2", text);
        }
    }
    draw_time(&l);
}

static void describe_interleaved(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f) {
    draw_heading(svg, "Loads go straight to registers");
    (void)tcgemm_svg_paragraph(
        svg, SVG_NOTE, left, words_y(f), width, "%s",
        tcgemm_picture_keeps_d(f)
            ? "Shared memory holds the tile of D, to which outer products are added; A and B pass "
              "through registers. While one warp waits for its loads, the others multiply (green)."
            : "No shared memory and no barrier: each warp loads its own part of A and B through "
              "the caches. While one warp waits for its loads, the others multiply (green).");
}

/* Two or three steps of: pack, barrier, multiply, barrier. */
static void draw_barriers(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f, const k_axis_t *r) {
    const bool packs = f->info.packed_a_bytes + f->info.packed_b_bytes > 0;
    const int steps = (int)fmin((double)r->steps, 3);
    const timelines_t l = timelines_of(svg, f, (packs ? 4 : 3) * steps);
    char text[UNITS_SIZE];
    draw_line_names(&l, "thread");
    for (int j = 0; j < steps; ++j) {
        const double begin = j * (packs ? 4 : 3);
        const double multiply = begin + (packs ? 1 : 0);
        for (int line = 0; line < l.count; ++line) {
            (void)snprintf(text, sizeof text, "pack %d", j);
            if (packs)
                draw_bar(&l, line, begin, multiply, "a", "b", text);
            (void)snprintf(text, sizeof text, "multiply step %d", j);
            draw_bar(&l, line, multiply, multiply + 3, "d2", "d2", text);
        }
        const double x = left + (multiply + 3) * l.column_width;
        tcgemm_svg_line(svg, "sv dash", x, lines_y - 4, x, lines_y + l.count * l.line_height + 4);
    }
    draw_time(&l);
}

static void describe_barriers(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f) {
    const bool packs = f->info.packed_a_bytes + f->info.packed_b_bytes > 0;
    draw_heading(svg,
                 packs ? "Pack, wait at a barrier, multiply" : "Multiply straight from A and B");
    (void)tcgemm_svg_paragraph(
        svg, SVG_NOTE, left, words_y(f), width, "%s",
        packs ? "In each step threads copy a panel of A and B into the order of the products, wait "
                "for one another, and then take units of D as they become free. A dashed line is a "
                "barrier, where all of them wait again."
              : "Nothing is packed: threads take units of D as they become free, and read A and B "
                "where they are. A dashed line is a barrier, where all of them wait.");
}

void tcgemm_picture_walk(const tcgemm_analysis_t *f, const tcgemm_svg_canvas_t *canvas) {
    if (tcgemm_picture_d_is_empty(f) || f->problem.k == 0) {
        tcgemm_picture_empty(f, PICTURE_WALK,
                             "There are no steps: D = beta * C needs neither A nor B.", canvas);
        return;
    }
    const k_axis_t r = k_axis_of(f);
    tcgemm_svg_t svg;
    tcgemm_picture_begin(&svg, canvas, f, PICTURE_WALK, words_y(f) + 56);
    draw_k_axis(&svg, f, &r);
    if (!f->machine.is_gpu) {
        draw_barriers(&svg, f, &r);
        describe_barriers(&svg, f);
    } else if (has_ring(f)) {
        draw_ring(&svg, f, &r);
        describe_ring(&svg, f);
    } else {
        draw_interleaved(&svg, f, &r);
        describe_interleaved(&svg, f);
    }
    tcgemm_svg_end(&svg);
}
