/* picture_legend.c - what stands beside the tiles of D: how many, how they are shared out and
 * in which order, and what their colours mean.
 */
#include "draw/picture_blocks.h"

enum { LEGEND_ROWS = 4 };

const char *tcgemm_blocks_colour(const blocks_view_t *v, int colour, bool outlined,
                                 char text[UNITS_SIZE]) {
    (void)snprintf(text, UNITS_SIZE, "%c%d%s", v->by_sixths ? 'w' : 'r', colour,
                   outlined ? " line thin" : "");
    return text;
}

static double swatch(const blocks_view_t *v, double y, int colour, const char *text) {
    char class[UNITS_SIZE];
    tcgemm_svg_rect(v->svg, tcgemm_blocks_colour(v, colour, true, class), BLOCKS_LEGEND_X, y - 11,
                    20, 14, 3);
    tcgemm_svg_text(v->svg, SVG_NOTE, SVG_START, BLOCKS_LEGEND_X + 28, y, BLOCKS_LEGEND_WIDTH - 28,
                    "%s", text);
    return y + 20;
}

static double round_row(const blocks_view_t *v, double y, int64_t round) {
    const int64_t size = tcgemm_picture_round_size(v->f);
    const int64_t all = v->count * v->f->problem.batch;
    const int64_t first = round * size;
    const int64_t end = first + size < all ? first + size : all;
    const int slots =
        v->f->machine.num_units * (v->f->info.blocks_per_sm > 1 ? v->f->info.blocks_per_sm : 1);
    char text[4 * UNITS_SIZE];
    char busy[UNITS_SIZE] = "";
    if (end - first < slots)
        (void)snprintf(busy, sizeof busy, ": %lld of %d slots taken", (long long)(end - first),
                       slots);
    (void)snprintf(text, sizeof text, "round %lld: tiles %lld .. %lld%s", (long long)round + 1,
                   (long long)first, (long long)end - 1, busy);
    return swatch(v, y, (int)(round % BLOCKS_COLOURS), text);
}

static double panel_row(const blocks_view_t *v, double y, int64_t panel) {
    char text[UNITS_SIZE];
    (void)snprintf(text, sizeof text, "panel %lld%s", (long long)panel + 1,
                   v->f->info.packed_a_bytes + v->f->info.packed_b_bytes > 0 ? ", packed together"
                                                                             : "");
    return swatch(v, y, (int)(panel % BLOCKS_COLOURS), text);
}

static double sixths_row(const blocks_view_t *v, double y) {
    char class[UNITS_SIZE];
    for (int i = 0; i < BLOCKS_COLOURS; ++i)
        tcgemm_svg_rect(v->svg, tcgemm_blocks_colour(v, i, true, class), BLOCKS_LEGEND_X + i * 28,
                        y - 11, 28, 14, 0);
    tcgemm_svg_text(v->svg, SVG_NOTE, SVG_START, BLOCKS_LEGEND_X + BLOCKS_COLOURS * 28 + 10, y,
                    BLOCKS_LEGEND_WIDTH - BLOCKS_COLOURS * 28 - 10, "sixths of the work,");
    tcgemm_svg_text(v->svg, SVG_NOTE, SVG_START, BLOCKS_LEGEND_X + BLOCKS_COLOURS * 28 + 10, y + 17,
                    BLOCKS_LEGEND_WIDTH - BLOCKS_COLOURS * 28 - 10, "the first one first");
    return y + 37;
}

static double colour_rows(const blocks_view_t *v, double y) {
    if (v->by_sixths)
        return sixths_row(v, y);
    if (!tcgemm_picture_unit(v->f))
        return y;
    if (v->rounds > BLOCKS_COLOURS) {
        tcgemm_svg_text(v->svg, SVG_NOTE, SVG_START, BLOCKS_LEGEND_X, y + 2, BLOCKS_LEGEND_WIDTH,
                        "Colours come again every %d %s.", BLOCKS_COLOURS,
                        v->f->machine.is_gpu ? "rounds" : "panels");
        y += 24;
    }
    for (int64_t i = 0; i < v->rounds; ++i) {
        const bool shown = i < LEGEND_ROWS - 1 || i == v->rounds - 1 || v->rounds <= LEGEND_ROWS;
        if (shown)
            y = v->f->machine.is_gpu ? round_row(v, y, i) : panel_row(v, y, i);
        else if (i == LEGEND_ROWS - 1) {
            tcgemm_svg_text(v->svg, SVG_NOTE, SVG_START, BLOCKS_LEGEND_X + 4, y - 3, 100, "...");
            y += 14;
        }
    }
    return y;
}

/* A column-major D is swept as its transpose. */
static double describe_sweep(const blocks_view_t *v, double y) {
    const bool swapped = v->f->problem.order == TCGEMM_COL_MAJOR;
    const int group = v->f->info.raster_group;
    if (group <= 1)
        return tcgemm_svg_paragraph(v->svg, SVG_NOTE, BLOCKS_LEGEND_X, y, BLOCKS_LEGEND_WIDTH,
                                    "Swept one tile %s at a time.", swapped ? "column" : "row");
    if (swapped)
        return tcgemm_svg_paragraph(
            v->svg, SVG_NOTE, BLOCKS_LEGEND_X, y, BLOCKS_LEGEND_WIDTH,
            "Swept %d tile columns at a time: to the right, then one row down, so "
            "that neighbours share A and B in L2.",
            group);
    return tcgemm_svg_paragraph(
        v->svg, SVG_NOTE, BLOCKS_LEGEND_X, y, BLOCKS_LEGEND_WIDTH,
        "Swept %d tile rows at a time: down, then one column to the right, so "
        "that neighbours share A and B in L2.",
        group);
}

static double describe_gpu(const blocks_view_t *v, double y) {
    const tcgemm_analysis_t *f = v->f;
    const int each = f->info.blocks_per_sm > 1 ? f->info.blocks_per_sm : 1;
    char rounds[UNITS_SIZE];
    char blocks[UNITS_SIZE];
    y = tcgemm_svg_paragraph(v->svg, SVG_NOTE, BLOCKS_LEGEND_X, y, BLOCKS_LEGEND_WIDTH,
                             "%d SMs with %s each hold %lld at a time: %s.", f->machine.num_units,
                             tcgemm_picture_plural(each, "block", blocks),
                             (long long)tcgemm_picture_round_size(f),
                             tcgemm_picture_plural((double)v->rounds, "round", rounds));
    if (f->info.is_persistent && f->info.grid_blocks > 0)
        y = tcgemm_svg_paragraph(
            v->svg, SVG_NOTE, BLOCKS_LEGEND_X, y, BLOCKS_LEGEND_WIDTH,
            "%s stay: each takes every %lldth tile until none is left.",
            tcgemm_picture_plural((double)f->info.grid_blocks, "block", blocks),
            (long long)f->info.grid_blocks);
    return describe_sweep(v, y);
}

static double describe_cpu(const blocks_view_t *v, double y) {
    const tcgemm_analysis_t *f = v->f;
    char threads[UNITS_SIZE];
    if (!tcgemm_picture_unit(f))
        return tcgemm_svg_paragraph(v->svg, SVG_NOTE, BLOCKS_LEGEND_X, y, BLOCKS_LEGEND_WIDTH,
                                    "The reference takes one element after the other.");
    return tcgemm_svg_paragraph(
        v->svg, SVG_NOTE, BLOCKS_LEGEND_X, y, BLOCKS_LEGEND_WIDTH,
        f->problem.batch > 1 ? "%s take%s tiles, or whole items, as they become free."
                             : "%s take%s tiles as they become free, step of k by step of k.",
        tcgemm_picture_plural(f->info.num_threads, "thread", threads),
        f->info.num_threads == 1 ? "s" : "");
}

double tcgemm_blocks_legend(const blocks_view_t *v) {
    const tcgemm_analysis_t *f = v->f;
    const tcgemm_analysis_level_t *unit = tcgemm_picture_unit(f);
    char count[UNITS_SIZE];
    double y = 106;
    if (unit)
        tcgemm_svg_text(v->svg, SVG_LABEL, SVG_START, BLOCKS_LEGEND_X, y, BLOCKS_LEGEND_WIDTH,
                        "%s of %lld " PICTURE_TIMES " %lld",
                        tcgemm_picture_plural((double)v->count, "tile", count),
                        (long long)unit->tile.m, (long long)unit->tile.n);
    else
        tcgemm_svg_text(v->svg, SVG_LABEL, SVG_START, BLOCKS_LEGEND_X, y, BLOCKS_LEGEND_WIDTH,
                        "One tile: all of D");
    y += 22;
    if (f->problem.batch > 1) {
        tcgemm_svg_text(v->svg, SVG_NOTE, SVG_START, BLOCKS_LEGEND_X, y, BLOCKS_LEGEND_WIDTH,
                        "for each of %lld items of the batch, one after the other",
                        (long long)f->problem.batch);
        y += 20;
    }
    y = f->machine.is_gpu ? describe_gpu(v, y) : describe_cpu(v, y);
    return colour_rows(v, y + 8);
}
