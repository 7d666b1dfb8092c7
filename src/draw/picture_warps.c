/* picture_warps.c - one block from the inside: the warps it is made of (CPU: the register
 * tiles), the rows of A and columns of B that one of them reads, and that one enlarged.
 *
 *                 +-----------+
 *                 |  B  |##|  |
 *                 +-----------+
 *        +-----+  +-----------+       +---+---+---+
 *        |  A  |  |  0 |  1 | |       |   |   |   |  the chosen warp's
 *        |#####|  |  2 |##3#| |       +---+---+---+  instruction tiles
 *        +-----+  +-----------+
 */
#include <math.h>

#include "draw/picture.h"

enum { MOST_PARTS = 1200, MOST_COMPACT_PARTS = 200, WARP_THREADS = 32 };

static const double least_height = 490; /* the words beside it */
static const double side_x = 566, side_width = PICTURE_WIDTH - 566 - 28;
static const double least = 5; /* a chosen part is drawn at least this large */

typedef struct inside {
    const tcgemm_svg_t *svg;
    const tcgemm_analysis_t *f;
    int64_t m, n, k; /* of the block, and of a step of k */
    int64_t part_m, part_n;
    const char *part_name;    /* "warp", "register tile", "element" */
    int64_t rows, cols;       /* of parts */
    int64_t row, col;         /* the chosen part */
    tcgemm_picture_box_t box; /* of the block */
} inside_t;

static inside_t inside_of(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f) {
    const tcgemm_analysis_level_t *unit = tcgemm_picture_unit(f);
    const tcgemm_analysis_level_t *part = tcgemm_picture_part(f);
    inside_t in = {.svg = svg, .f = f, .part_m = 1, .part_n = 1, .part_name = "element"};
    in.m = unit ? unit->tile.m : f->problem.m;
    in.n = unit ? unit->tile.n : f->problem.n;
    in.k = unit ? unit->tile.k : f->problem.k;
    if (part) {
        in.part_m = part->tile.m;
        in.part_n = part->tile.n;
        in.part_name = part->tile.name;
    }
    in.rows = (in.m + in.part_m - 1) / in.part_m;
    in.cols = (in.n + in.part_n - 1) / in.part_n;
    in.row = in.rows > 1 && in.part_m < f->problem.m ? 1 : 0;
    in.col = in.cols > 1 && in.part_n < f->problem.n ? 1 : 0;
    in.box = tcgemm_picture_fit((double)in.m, (double)in.n, 300, 310, 2.2);
    in.box.x = 222;
    in.box.y = 196 + fmax(0, (230 - in.box.h) / 3);
    return in;
}

/* GPU warps are numbered along the rows that the kernel sees, which are the columns of a
 * column-major D; the register tiles of the CPU down its columns. */
static int64_t number_of(const inside_t *in, int64_t row, int64_t col) {
    const bool swapped = in->f->problem.order == TCGEMM_COL_MAJOR;
    return swapped == in->f->machine.is_gpu ? col * in->rows + row : row * in->cols + col;
}

static tcgemm_picture_box_t part_box(const inside_t *in, int64_t row, int64_t col) {
    const double h = in->box.h / (double)in->m;
    const double w = in->box.w / (double)in->n;
    const double top = (double)(row * in->part_m);
    const double left = (double)(col * in->part_n);
    tcgemm_picture_box_t b = {in->box.x + left * w, in->box.y + top * h,
                              w * fmin((double)in->part_n, (double)in->n - left),
                              h * fmin((double)in->part_m, (double)in->m - top)};
    b.w = fmax(b.w, least);
    b.h = fmax(b.h, least);
    b.x = fmin(b.x, in->box.x + in->box.w - b.w);
    b.y = fmin(b.y, in->box.y + in->box.h - b.h);
    return b;
}

/* ---- A, B and the block ---- */

static void draw_operands(const inside_t *in, const tcgemm_picture_box_t *chosen) {
    const tcgemm_picture_box_t *b = &in->box;
    const double wide = 96;
    const double high = 72;
    const double ax = b->x - wide - 22;
    const double by = b->y - high - 22;
    char text[UNITS_SIZE];
    tcgemm_svg_rect(in->svg, "a line", ax, b->y, wide, b->h, 2);
    tcgemm_svg_rect(in->svg, "a2 sa", ax, chosen->y, wide, chosen->h, 2);
    tcgemm_svg_rect(in->svg, "b line", b->x, by, b->w, high, 2);
    tcgemm_svg_rect(in->svg, "b2 sb", chosen->x, by, chosen->w, high, 2);
    tcgemm_svg_rect(in->svg, "a faint", ax + wide, chosen->y, chosen->x - ax - wide, chosen->h, 0);
    tcgemm_svg_rect(in->svg, "b faint", chosen->x, by + high, chosen->w, chosen->y - by - high, 0);
    tcgemm_svg_text(in->svg, SVG_NOTE, SVG_MIDDLE, ax + wide / 2, b->y + b->h + 20, 150,
                    "A: %lld " PICTURE_TIMES " %s", (long long)in->m,
                    units_grouped((double)in->k, text));
    tcgemm_svg_text(in->svg, SVG_NOTE, SVG_END, b->x - 12, by + high / 2 + 4, 150,
                    "B: %s " PICTURE_TIMES " %lld", units_grouped((double)in->k, text),
                    (long long)in->n);
}

static void draw_part_lines(const inside_t *in) {
    const tcgemm_picture_box_t *b = &in->box;
    tcgemm_svg_path_begin(in->svg, "none line");
    for (int64_t row = 1; row < in->rows; ++row) {
        const double y = part_box(in, row, 0).y;
        tcgemm_svg_path_line(in->svg, b->x, y, b->x + b->w, y);
    }
    for (int64_t col = 1; col < in->cols; ++col) {
        const double x = part_box(in, 0, col).x;
        tcgemm_svg_path_line(in->svg, x, b->y, x, b->y + b->h);
    }
    tcgemm_svg_path_end(in->svg);
}

static void draw_part_numbers(const inside_t *in) {
    for (int64_t row = 0; row < in->rows; ++row) {
        for (int64_t col = 0; col < in->cols; ++col) {
            const tcgemm_picture_box_t b = part_box(in, row, col);
            if (b.w >= 18 && b.h >= 13)
                tcgemm_svg_text(in->svg, b.h >= 24 ? SVG_LABEL : SVG_FIGURE, SVG_MIDDLE,
                                b.x + b.w / 2, b.y + b.h / 2 + (b.h >= 24 ? 5 : 4), b.w - 4, "%lld",
                                (long long)number_of(in, row, col));
        }
    }
}

/* A D smaller than the block leaves part of it without work. */
static void hatch_outside(const inside_t *in) {
    const tcgemm_picture_box_t *b = &in->box;
    const double h = b->h * fmin(1, (double)in->f->problem.m / (double)in->m);
    const double w = b->w * fmin(1, (double)in->f->problem.n / (double)in->n);
    if (h < b->h)
        tcgemm_svg_rect(in->svg, "h", b->x, b->y + h, b->w, b->h - h, 0);
    if (w < b->w)
        tcgemm_svg_rect(in->svg, "h", b->x + w, b->y, b->w - w, h, 0);
}

static void draw_block(const inside_t *in) {
    const tcgemm_picture_box_t *b = &in->box;
    const tcgemm_picture_box_t chosen = part_box(in, in->row, in->col);
    const int most = in->svg->canvas->is_compact ? MOST_COMPACT_PARTS : MOST_PARTS;
    const bool few = in->rows <= most && in->cols <= most && in->rows * in->cols <= most;
    tcgemm_svg_rect(in->svg, "d line", b->x, b->y, b->w, b->h, 2);
    draw_operands(in, &chosen);
    if (few)
        draw_part_lines(in);
    tcgemm_svg_rect(in->svg, "d2 sd", chosen.x, chosen.y, chosen.w, chosen.h, 0);
    hatch_outside(in);
    if (few)
        draw_part_numbers(in);
    tcgemm_svg_rect(in->svg, "none ink", b->x, b->y, b->w, b->h, 2);
    tcgemm_svg_text(in->svg, SVG_NOTE, SVG_MIDDLE, b->x + b->w / 2, b->y + b->h + 20, 320,
                    tcgemm_picture_unit(in->f) ? "block of D: %lld " PICTURE_TIMES " %lld"
                                               : "D: %lld " PICTURE_TIMES " %lld",
                    (long long)in->m, (long long)in->n);
}

/* ---- the chosen part, enlarged ---- */

static const tcgemm_analysis_level_t *piece_of(const tcgemm_analysis_t *f) {
    return f->machine.is_gpu && f->num_levels > 3 ? &f->levels[3] : NULL;
}

static double draw_pieces(const inside_t *in, const tcgemm_analysis_level_t *piece) {
    tcgemm_picture_box_t b =
        tcgemm_picture_fit((double)in->part_m, (double)in->part_n, 230, 150, 3);
    b.x = side_x;
    b.y = 130;
    const double w = b.w * fmin(1, (double)piece->tile.n / (double)in->part_n);
    const double h = b.h * fmin(1, (double)piece->tile.m / (double)in->part_m);
    tcgemm_svg_rect(in->svg, "d", b.x, b.y, b.w, b.h, 0);
    tcgemm_svg_rect(in->svg, "d2", b.x, b.y, w, h, 0);
    tcgemm_svg_path_begin(in->svg, "none sd thin");
    for (int i = 1; i * w < b.w - 0.5; ++i)
        tcgemm_svg_path_line(in->svg, b.x + i * w, b.y, b.x + i * w, b.y + b.h);
    for (int i = 1; i * h < b.h - 0.5; ++i)
        tcgemm_svg_path_line(in->svg, b.x, b.y + i * h, b.x + b.w, b.y + i * h);
    tcgemm_svg_path_end(in->svg);
    tcgemm_svg_rect(in->svg, "none sd", b.x, b.y, b.w, b.h, 0);
    tcgemm_svg_text(in->svg, SVG_LABEL, SVG_START, side_x, 112, side_width,
                    "%s %lld, enlarged: %lld " PICTURE_TIMES " %lld", in->part_name,
                    (long long)number_of(in, in->row, in->col), (long long)in->part_m,
                    (long long)in->part_n);
    return b.y + b.h + 24;
}

static double describe_pieces(const inside_t *in, const tcgemm_analysis_level_t *piece, double y) {
    const int64_t across = (in->part_n + piece->tile.n - 1) / piece->tile.n;
    const int64_t down = (in->part_m + piece->tile.m - 1) / piece->tile.m;
    const int64_t depth = in->k > 0 ? (in->k + piece->tile.k - 1) / piece->tile.k : 0;
    char macs[UNITS_SIZE];
    char grid[UNITS_SIZE];
    const bool one = down * across == 1;
    (void)snprintf(grid, sizeof grid, "%lld " PICTURE_TIMES " %lld", (long long)down,
                   (long long)across);
    return tcgemm_svg_paragraph(
        in->svg, SVG_NOTE, side_x, y, side_width,
        "%s %s tile%s of %lld " PICTURE_TIMES
        " %lld%s, %lld deep in k: %s multiply-adds at a time, "
        "%lld time%s in a step of k.",
        one ? "One" : grid, piece->tile.name, one ? "" : "s", (long long)piece->tile.m,
        (long long)piece->tile.n, one ? "" : ", one marked", (long long)piece->tile.k,
        units_grouped((double)piece->tile.m * (double)piece->tile.n * (double)piece->tile.k, macs),
        (long long)depth, depth == 1 ? "" : "s");
}

static void describe_reading(const inside_t *in, double y) {
    const int64_t top = in->row * in->part_m;
    const int64_t left = in->col * in->part_n;
    const int64_t bottom = (int64_t)fmin((double)(top + in->part_m), (double)in->m);
    const int64_t right = (int64_t)fmin((double)(left + in->part_n), (double)in->n);
    if (bottom - top == 1 && right - left == 1)
        y = tcgemm_svg_paragraph(in->svg, SVG_NOTE, side_x, y + 6, side_width,
                                 "The chosen %s reads row %lld of A and column %lld of B.",
                                 in->part_name, (long long)top, (long long)left);
    else
        y = tcgemm_svg_paragraph(
            in->svg, SVG_NOTE, side_x, y + 6, side_width,
            "The chosen %s reads rows %lld .. %lld of this A and columns %lld .. %lld "
            "of this B.",
            in->part_name, (long long)top, (long long)bottom - 1, (long long)left,
            (long long)right - 1);
    char rows[UNITS_SIZE];
    char cols[UNITS_SIZE];
    (void)tcgemm_svg_paragraph(in->svg, SVG_NOTE, side_x, y + 6, side_width,
                               "A row of A is wanted by %s, a column of B by %s.",
                               tcgemm_picture_plural((double)in->cols, in->part_name, cols),
                               tcgemm_picture_plural((double)in->rows, in->part_name, rows));
}

static double describe_gpu(const inside_t *in) {
    const tcgemm_analysis_level_t *piece = piece_of(in->f);
    double y = 130;
    if (piece) {
        y = draw_pieces(in, piece);
        y = describe_pieces(in, piece, y);
    }
    const int num_warps = in->f->info.threads_per_block / WARP_THREADS;
    char threads[UNITS_SIZE];
    char warps[UNITS_SIZE];
    return tcgemm_svg_paragraph(
        in->svg, SVG_NOTE, side_x, y + 6, side_width,
        "The block: %s, in %s of %d. Sums stay in %s.",
        tcgemm_picture_plural(in->f->info.threads_per_block, "thread", threads),
        tcgemm_picture_plural(num_warps, "warp", warps), WARP_THREADS,
        tcgemm_picture_keeps_d(in->f) ? "shared memory" : "registers");
}

/* A register tile, with the column of A and the row of B that one k adds to it. */
static double draw_outer_product(const inside_t *in) {
    const double strip = 14;
    tcgemm_picture_box_t b =
        tcgemm_picture_fit((double)in->part_m, (double)in->part_n, 250, 120, 3);
    b.x = side_x + strip + 6;
    b.y = 126 + strip + 6;
    const double w = b.w / (double)in->part_n;
    const double h = b.h / (double)in->part_m;
    tcgemm_svg_rect(in->svg, "a2 sa", b.x - strip - 6, b.y, strip, b.h, 0);
    tcgemm_svg_rect(in->svg, "b2 sb", b.x, b.y - strip - 6, b.w, strip, 0);
    tcgemm_svg_rect(in->svg, "d2", b.x, b.y, b.w, b.h, 0);
    tcgemm_svg_path_begin(in->svg, "none line thin");
    for (int64_t row = 1; row < in->part_m; ++row)
        tcgemm_svg_path_line(in->svg, b.x, b.y + (double)row * h, b.x + b.w, b.y + (double)row * h);
    for (int64_t col = 1; col < in->part_n; ++col)
        tcgemm_svg_path_line(in->svg, b.x + (double)col * w, b.y, b.x + (double)col * w, b.y + b.h);
    tcgemm_svg_path_end(in->svg);
    tcgemm_svg_rect(in->svg, "none sd", b.x, b.y, b.w, b.h, 0);
    return b.y + b.h + 26;
}

static double describe_cpu(const inside_t *in) {
    if (!tcgemm_picture_part(in->f))
        return tcgemm_svg_paragraph(
            in->svg, SVG_NOTE, side_x, 130, side_width,
            "The reference computes each element by itself, in arithmetic wider "
            "than the type's.");
    char sums[UNITS_SIZE];
    tcgemm_svg_text(in->svg, SVG_LABEL, SVG_START, side_x, 112, side_width,
                    "Register tile %lld " PICTURE_TIMES " %lld", (long long)in->part_m,
                    (long long)in->part_n);
    const double y = draw_outer_product(in);
    return tcgemm_svg_paragraph(
        in->svg, SVG_NOTE, side_x, y, side_width,
        "Its %s sums stay in vector registers while k passes. For each k it loads a row of B, %lld "
        "elements, and spreads %lld elements of A, one after the other, over all lanes.",
        units_grouped((double)in->part_m * (double)in->part_n, sums),
        (long long)(in->f->problem.order == TCGEMM_COL_MAJOR ? in->part_m : in->part_n),
        (long long)(in->f->problem.order == TCGEMM_COL_MAJOR ? in->part_n : in->part_m));
}

void tcgemm_picture_warps(const tcgemm_analysis_t *f, const tcgemm_svg_canvas_t *canvas) {
    if (tcgemm_picture_d_is_empty(f)) {
        tcgemm_picture_empty(f, PICTURE_WARPS, "D has no elements: there is no block.", canvas);
        return;
    }
    tcgemm_svg_t svg;
    const inside_t in = inside_of(&svg, f);
    tcgemm_picture_begin(&svg, canvas, f, PICTURE_WARPS,
                         fmax(in.box.y + in.box.h + 40, least_height));
    draw_block(&in);
    describe_reading(&in, f->machine.is_gpu ? describe_gpu(&in) : describe_cpu(&in));
    tcgemm_svg_end(&svg);
}
