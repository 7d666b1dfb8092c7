/* picture_edges.c - the last tile of D and the last step of k, which reach beyond the matrices:
 * by how much, what it costs, and who fills it with what. */
#include <math.h>

#include "draw/picture.h"

static const double corner_x = 88, corner_y = 118, corner_size = 236;
static const double table_x = 430;

/* One dimension of the problem in whole tiles. */
typedef struct edge {
    char name;
    int64_t size, padded, tile;
} edge_t;

static int64_t inside_last(const edge_t *e) {
    return e->tile - (e->padded - e->size);
}

/* The tile that rounding up follows: a GPU block's; on the CPU the register tile's. */
static void edges_of(const tcgemm_analysis_t *f, edge_t edges[3]) {
    const tcgemm_analysis_level_t *unit =
        f->machine.is_gpu ? tcgemm_picture_unit(f) : tcgemm_picture_part(f);
    const tcgemm_problem_t *p = &f->problem;
    const tcgemm_plan_info_t *i = &f->info;
    edges[0] = (edge_t){'m', p->m, i->padded_m, unit ? unit->tile.m : 1};
    edges[1] = (edge_t){'n', p->n, i->padded_n, unit ? unit->tile.n : 1};
    edges[2] = (edge_t){'k', p->k, i->padded_k, unit ? unit->tile.k : 1};
}

/* ---- the corner of D ---- */

static void label_side(const tcgemm_svg_t *svg, const tcgemm_picture_box_t *b,
                       const edge_t edges[3], double w, double h) {
    char inside[UNITS_SIZE];
    char tile[UNITS_SIZE];
    tcgemm_svg_line(svg, "sd", b->x, b->y + b->h + 12, b->x + w, b->y + b->h + 12);
    tcgemm_svg_text(svg, SVG_NOTE, SVG_MIDDLE, b->x + b->w / 2, b->y + b->h + 31, 240,
                    "%s of %s column%s", units_grouped((double)inside_last(&edges[1]), inside),
                    units_grouped((double)edges[1].tile, tile), edges[1].tile == 1 ? "" : "s");
    tcgemm_svg_line(svg, "sd", b->x + b->w + 12, b->y, b->x + b->w + 12, b->y + h);
    tcgemm_svg_text_up(svg, SVG_NOTE, b->x + b->w + 30, b->y + b->h / 2, 220, "%s of %s row%s",
                       units_grouped((double)inside_last(&edges[0]), inside),
                       units_grouped((double)edges[0].tile, tile), edges[0].tile == 1 ? "" : "s");
}

static tcgemm_picture_box_t corner_box(const edge_t edges[3]) {
    tcgemm_picture_box_t b = tcgemm_picture_fit((double)edges[0].tile, (double)edges[1].tile,
                                                corner_size, corner_size, 3);
    b.x = corner_x;
    b.y = corner_y;
    return b;
}

static void draw_corner(const tcgemm_svg_t *svg, const edge_t edges[3]) {
    const tcgemm_picture_box_t b = corner_box(edges);
    const double w = b.w * (double)inside_last(&edges[1]) / (double)edges[1].tile;
    const double h = b.h * (double)inside_last(&edges[0]) / (double)edges[0].tile;
    /* its neighbours above and to the left, as much of them as shows */
    if (edges[0].size > edges[0].tile)
        tcgemm_svg_rect(svg, "d", b.x, b.y - 24, w, 22, 0);
    if (edges[1].size > edges[1].tile)
        tcgemm_svg_rect(svg, "d", b.x - 34, b.y, 32, h, 0);
    if (edges[0].size > edges[0].tile && edges[1].size > edges[1].tile)
        tcgemm_svg_rect(svg, "d", b.x - 34, b.y - 24, 32, 22, 0);
    tcgemm_svg_rect(svg, "box", b.x, b.y, b.w, b.h, 0);
    tcgemm_svg_rect(svg, "h", b.x, b.y, b.w, b.h, 0);
    tcgemm_svg_rect(svg, "d2", b.x, b.y, fmax(w, 3), fmax(h, 3), 0);
    tcgemm_svg_rect(svg, "none line dash", b.x, b.y, b.w, b.h, 0);
    tcgemm_svg_rect(svg, "none sd", b.x, b.y, fmax(w, 3), fmax(h, 3), 0);
    if (w > 60 && h > 24)
        tcgemm_svg_text(svg, SVG_LABEL, SVG_MIDDLE, b.x + w / 2, b.y + h / 2 + 5, w - 6,
                        "inside D");
    label_side(svg, &b, edges, w, h);
}

static void draw_last_step(const tcgemm_svg_t *svg, const edge_t *k, double y) {
    const double w = corner_size;
    const double inside = k->tile > 0 ? (double)inside_last(k) / (double)k->tile : 1;
    char text[UNITS_SIZE];
    char tile[UNITS_SIZE];
    tcgemm_svg_rect(svg, "box", corner_x, y, w, 22, 0);
    tcgemm_svg_rect(svg, "h", corner_x, y, w, 22, 0);
    tcgemm_svg_rect(svg, "a2", corner_x, y, w * inside, 11, 0);
    tcgemm_svg_rect(svg, "b2", corner_x, y + 11, w * inside, 11, 0);
    tcgemm_svg_rect(svg, "none line", corner_x, y, w, 22, 0);
    tcgemm_svg_text(svg, SVG_NOTE, SVG_MIDDLE, corner_x + w / 2, y + 42, 300,
                    "the last step of k: %s of %s", units_grouped((double)inside_last(k), text),
                    units_grouped((double)k->tile, tile));
}

/* ---- the figures ---- */

static void draw_row(const tcgemm_svg_t *svg, const edge_t *e, double y) {
    static const double columns[] = {120, 230, 330, 430};
    char text[UNITS_SIZE];
    const double over = (double)(e->padded - e->size);
    tcgemm_svg_text(svg, SVG_LABEL, SVG_START, table_x, y, 20, "%c", e->name);
    tcgemm_svg_text(svg, SVG_LABEL, SVG_END, table_x + columns[0], y, 100, "%s",
                    units_grouped((double)e->size, text));
    tcgemm_svg_text(svg, SVG_LABEL, SVG_END, table_x + columns[1], y, 104, "%s",
                    units_grouped((double)e->padded, text));
    tcgemm_svg_text(svg, SVG_LABEL, SVG_END, table_x + columns[2], y, 94, "%s",
                    units_grouped(over, text));
    tcgemm_svg_text(svg, SVG_LABEL, SVG_END, table_x + columns[3], y, 90, "%.2f %%",
                    e->padded > 0 ? 100 * over / (double)e->padded : 0);
    tcgemm_svg_line(svg, "line thin", table_x, y + 9, table_x + columns[3], y + 9);
}

static void draw_table(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f, const edge_t edges[3]) {
    const double y = 118;
    tcgemm_svg_text(svg, SVG_NOTE, SVG_END, table_x + 120, y, 90, "in the problem");
    tcgemm_svg_text(svg, SVG_NOTE, SVG_END, table_x + 230, y, 96, "in whole tiles");
    tcgemm_svg_text(svg, SVG_NOTE, SVG_END, table_x + 330, y, 90, "beyond");
    tcgemm_svg_text(svg, SVG_NOTE, SVG_END, table_x + 430, y, 90, "share");
    tcgemm_svg_line(svg, "line", table_x, y + 9, table_x + 430, y + 9);
    for (int i = 0; i < 3; ++i)
        draw_row(svg, &edges[i], y + 33 + 30 * i);
    const double useful = f->estimates[0].tile_efficiency;
    const double bar = y + 140;
    tcgemm_svg_text(svg, SVG_NOTE, SVG_START, table_x, bar - 8, 430,
                    "%.2f %% of the multiply-adds of whole tiles belong to the product",
                    100 * useful);
    tcgemm_svg_rect(svg, "box", table_x, bar, 430, 20, 3);
    tcgemm_svg_rect(svg, "h", table_x, bar, 430, 20, 3);
    tcgemm_svg_rect(svg, "d2", table_x, bar, 430 * fmin(useful, 1), 20, 3);
    tcgemm_svg_rect(svg, "none line", table_x, bar, 430, 20, 3);
}

static void describe(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f, bool even) {
    double y = 316;
    const bool packs = f->info.packed_a_bytes + f->info.packed_b_bytes > 0;
    char a[UNITS_SIZE];
    char b[UNITS_SIZE];
    if (even)
        y = tcgemm_svg_paragraph(svg, SVG_LABEL, table_x, y, 430,
                                 "All three sizes fit whole tiles.");
    if (f->machine.is_gpu) {
        (void)tcgemm_svg_paragraph(
            svg, SVG_NOTE, table_x, y + 4, 430,
            "Inside the kernel: where a load would leave A or B, zeros come in its "
            "place, and sums outside D are not stored. The matrices stay as they "
            "are; nobody pads or copies them, and nothing outside them is touched.");
        return;
    }
    if (packs)
        y = tcgemm_svg_paragraph(
            svg, SVG_NOTE, table_x, y + 4, 430,
            "Packing fills the last panels with zeros: %s of A, %s of B, written once "
            "and read many times.",
            units_bytes((double)f->info.packed_a_bytes, a),
            units_bytes((double)f->info.packed_b_bytes, b));
    else
        y = tcgemm_svg_paragraph(svg, SVG_NOTE, table_x, y + 4, 430,
                                 "A and B are read in place, and nothing outside them is touched.");
    if (tcgemm_picture_part(f))
        (void)tcgemm_svg_paragraph(
            svg, SVG_NOTE, table_x, y + 4, 430,
            "A register tile at the edge runs a loop of its own height and width; "
            "its last vector is masked, so that D is written inside alone.");
}

void tcgemm_picture_edges(const tcgemm_analysis_t *f, const tcgemm_svg_canvas_t *canvas) {
    if (tcgemm_picture_d_is_empty(f)) {
        tcgemm_picture_empty(f, PICTURE_EDGES, "D has no elements, and so no edge.", canvas);
        return;
    }
    edge_t edges[3];
    edges_of(f, edges);
    bool even = true;
    for (int i = 0; i < 3; ++i)
        even = even && edges[i].padded == edges[i].size;
    tcgemm_svg_t svg;
    const tcgemm_picture_box_t corner = corner_box(edges);
    const double strip_y = corner.y + corner.h + 66;
    tcgemm_picture_begin(&svg, canvas, f, PICTURE_EDGES, fmax(strip_y + 68, 450));
    draw_corner(&svg, edges);
    if (edges[2].size > 0 && edges[2].tile > 1)
        draw_last_step(&svg, &edges[2], strip_y);
    draw_table(&svg, f, edges);
    describe(&svg, f, even);
    tcgemm_svg_end(&svg);
}
