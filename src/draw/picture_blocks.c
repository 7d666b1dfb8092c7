/* picture_blocks.c - how blocks map to D: the whole of D, coloured by the round in which each
 * tile is computed, and, where its tiles are too small for numbers, its corner enlarged.
 *
 * Up to most_drawn tiles are drawn one by one. Of more, D is sampled on a lattice, and colours
 * stand for sixths of the work instead of rounds.
 */
#include <math.h>

#include "draw/picture_blocks.h"

static const blocks_detail_t full_detail = {4096, 1024, 1024, 64};
static const blocks_detail_t compact_detail = {256, 64, 64, 20};

enum {
    MOST_ROUNDS = 36, /* that have a colour each, or share one with a distant round */
    CORNER_ROWS = 8,
    CORNER_COLS = 8
};

static const double full_height = 540;

static tcgemm_tile_info_t tile_at(const blocks_view_t *v, int64_t index) {
    tcgemm_tile_info_t tile = {.struct_size = sizeof tile};
    (void)tcgemm_plan_get_tile(v->f->plan, index, &tile);
    return tile;
}

static int64_t round_of(const blocks_view_t *v, const tcgemm_tile_info_t *tile) {
    return v->f->machine.is_gpu ? tile->index / tcgemm_picture_round_size(v->f) : tile->panel;
}

static int colour_of(const blocks_view_t *v, const tcgemm_tile_info_t *tile) {
    if (!v->by_sixths)
        return (int)(round_of(v, tile) % BLOCKS_COLOURS);
    return (int)((double)tile->index / (double)v->count * BLOCKS_COLOURS);
}

/* ---- D as a whole ---- */

static tcgemm_picture_box_t box_of(const blocks_view_t *v, const tcgemm_tile_info_t *t) {
    const double per_row = v->box.h / (double)v->f->problem.m;
    const double per_col = v->box.w / (double)v->f->problem.n;
    return (tcgemm_picture_box_t){v->box.x + (double)t->col * per_col,
                                  v->box.y + (double)t->row * per_row, (double)t->cols * per_col,
                                  (double)t->rows * per_row};
}

/* True if `next` lies right below `run` and may be drawn with it. */
static bool extends(const tcgemm_tile_info_t *run, const tcgemm_tile_info_t *next) {
    return next->col == run->col && next->cols == run->cols && next->row == run->row + run->rows;
}

static void add_run(const blocks_view_t *v, const tcgemm_tile_info_t *run) {
    const tcgemm_picture_box_t b = box_of(v, run);
    if (run->rows > 0)
        tcgemm_svg_path_rect(v->svg, b.x, b.y, b.w + v->overlap, b.h + v->overlap);
}

static void draw_tiles_of(const blocks_view_t *v, int colour, bool outlined) {
    tcgemm_tile_info_t run = {.rows = 0};
    for (int64_t i = 0; i < v->count; ++i) {
        const tcgemm_tile_info_t tile = tile_at(v, i);
        if (colour_of(v, &tile) != colour)
            continue;
        if (!outlined && extends(&run, &tile)) {
            run.rows += tile.rows;
            continue;
        }
        add_run(v, &run);
        run = tile;
    }
    add_run(v, &run);
}

/* The lattice's point in column x of row y; 0 where the plan does not know. */
static int sampled_colour(const blocks_view_t *v, int x, int y) {
    const tcgemm_problem_t *p = &v->f->problem;
    const int64_t row = (int64_t)((y + 0.5) * (double)p->m / v->detail.lattice);
    const int64_t col = (int64_t)((x + 0.5) * (double)p->n / v->detail.lattice);
    tcgemm_tile_info_t tile = {.struct_size = sizeof tile};
    const tcgemm_status_t status = tcgemm_plan_find_tile(v->f->plan, row, col, &tile);
    return status == TCGEMM_STATUS_OK ? colour_of(v, &tile) : 0;
}

static void draw_samples_of(const blocks_view_t *v, int colour) {
    const double w = v->box.w / v->detail.lattice;
    const double h = v->box.h / v->detail.lattice;
    for (int x = 0; x < v->detail.lattice; ++x) {
        int length = 0;
        for (int y = 0; y <= v->detail.lattice; ++y) {
            if (y < v->detail.lattice && sampled_colour(v, x, y) == colour) {
                ++length;
                continue;
            }
            if (length > 0)
                tcgemm_svg_path_rect(v->svg, v->box.x + x * w, v->box.y + (y - length) * h,
                                     w + v->overlap, length * h + v->overlap);
            length = 0;
        }
    }
}

static bool lines_fit(const blocks_view_t *v) {
    if (v->count > v->detail.most_outlined)
        return false;
    const tcgemm_tile_info_t first = tile_at(v, 0);
    const tcgemm_picture_box_t b = box_of(v, &first);
    return b.w >= 4 && b.h >= 4;
}

static void draw_colours(const blocks_view_t *v) {
    const bool outlined = v->overlap <= 0;
    const int most = v->by_sixths ? BLOCKS_COLOURS : (int)fmin(BLOCKS_COLOURS, (double)v->rounds);
    char text[UNITS_SIZE];
    for (int colour = 0; colour < most; ++colour) {
        tcgemm_svg_path_begin(v->svg, tcgemm_blocks_colour(v, colour, outlined, text));
        if (v->count > v->detail.most_drawn)
            draw_samples_of(v, colour);
        else
            draw_tiles_of(v, colour, outlined);
        tcgemm_svg_path_end(v->svg);
    }
}

static bool numbers_fit(const blocks_view_t *v) {
    if (v->count > v->detail.most_numbered)
        return false;
    const tcgemm_tile_info_t first = tile_at(v, 0);
    const tcgemm_picture_box_t b = box_of(v, &first);
    return b.w >= 24 && b.h >= 14;
}

static void draw_numbers(const blocks_view_t *v) {
    for (int64_t i = 0; i < v->count; ++i) {
        const tcgemm_tile_info_t tile = tile_at(v, i);
        const tcgemm_picture_box_t b = box_of(v, &tile);
        if (b.w >= 12 && b.h >= 12)
            tcgemm_svg_text(v->svg, SVG_FIGURE, SVG_MIDDLE, b.x + b.w / 2, b.y + b.h / 2 + 4,
                            b.w - 2, "%lld", (long long)i);
    }
}

static void draw_axes(const blocks_view_t *v) {
    const tcgemm_problem_t *p = &v->f->problem;
    const tcgemm_picture_box_t *b = &v->box;
    char text[UNITS_SIZE];
    tcgemm_svg_rect(v->svg, "none ink", b->x, b->y, b->w, b->h, 0);
    tcgemm_svg_text(v->svg, SVG_LABEL, SVG_MIDDLE, b->x + b->w / 2, b->y - 10, fmax(b->w, 130),
                    "n = %s", units_grouped((double)p->n, text));
    tcgemm_svg_text_up(v->svg, SVG_LABEL, b->x - 10, b->y + b->h / 2, fmax(b->h, 130), "m = %s",
                       units_grouped((double)p->m, text));
}

/* ---- the corner, enlarged ---- */

typedef struct corner {
    double x, y, w, h; /* of its first cell */
    int rows, cols;
    int64_t row_at[CORNER_ROWS + 1], col_at[CORNER_COLS + 1]; /* where tile rows (columns) begin */
} corner_t;

static corner_t corner_of(const blocks_view_t *v, double y) {
    const tcgemm_problem_t *p = &v->f->problem;
    corner_t c = {.x = BLOCKS_LEGEND_X + 4, .y = y + 22, .w = 38, .h = 23};
    tcgemm_tile_info_t tile = {.struct_size = sizeof tile};
    while (c.rows < CORNER_ROWS && c.row_at[c.rows] < p->m &&
           tcgemm_plan_find_tile(v->f->plan, c.row_at[c.rows], 0, &tile) == TCGEMM_STATUS_OK) {
        c.row_at[c.rows + 1] = tile.row + tile.rows;
        ++c.rows;
    }
    while (c.cols < CORNER_COLS && c.col_at[c.cols] < p->n &&
           tcgemm_plan_find_tile(v->f->plan, 0, c.col_at[c.cols], &tile) == TCGEMM_STATUS_OK) {
        c.col_at[c.cols + 1] = tile.col + tile.cols;
        ++c.cols;
    }
    const double room = full_height - 34 - c.y;
    if (c.rows * c.h > room)
        c.rows = (int)(room / c.h);
    return c;
}

static int index_of(const int64_t *begins, int count, int64_t at) {
    for (int i = 0; i < count; ++i)
        if (begins[i] == at)
            return i;
    return -1;
}

/* Short lines from each tile to the next one where that is below it. */
static void draw_order(const blocks_view_t *v, const corner_t *c) {
    int last_row = -1;
    int last_col = -1;
    tcgemm_svg_path_begin(v->svg, "none ink faint");
    for (int64_t i = 0; i < v->count && i < (int64_t)16 * CORNER_COLS; ++i) {
        const tcgemm_tile_info_t tile = tile_at(v, i);
        const int row = index_of(c->row_at, c->rows, tile.row);
        const int col = index_of(c->col_at, c->cols, tile.col);
        const double x = c->x + (col + 0.16) * c->w;
        const double y = c->y + (row + 0.5) * c->h;
        if (row > 0 && col >= 0 && last_row == row - 1 && last_col == col)
            tcgemm_svg_path_line(v->svg, x, y - c->h, x, y);
        last_row = row;
        last_col = col;
    }
    tcgemm_svg_path_end(v->svg);
}

static void draw_cell(const blocks_view_t *v, const corner_t *c, int row, int col) {
    tcgemm_tile_info_t tile = {.struct_size = sizeof tile};
    char text[UNITS_SIZE];
    if (tcgemm_plan_find_tile(v->f->plan, c->row_at[row], c->col_at[col], &tile) !=
        TCGEMM_STATUS_OK)
        return;
    (void)snprintf(text, sizeof text, "r%d line thin", (int)(round_of(v, &tile) % BLOCKS_COLOURS));
    tcgemm_svg_rect(v->svg, text, c->x + col * c->w, c->y + row * c->h, c->w, c->h, 0);
}

static void draw_cell_number(const blocks_view_t *v, const corner_t *c, int row, int col) {
    tcgemm_tile_info_t tile = {.struct_size = sizeof tile};
    if (tcgemm_plan_find_tile(v->f->plan, c->row_at[row], c->col_at[col], &tile) ==
        TCGEMM_STATUS_OK)
        tcgemm_svg_text(v->svg, SVG_FIGURE, SVG_END, c->x + (col + 1) * c->w - 3,
                        c->y + (row + 0.5) * c->h + 4, c->w - 12, "%lld", (long long)tile.index);
}

static void draw_corner(const blocks_view_t *v, double y) {
    const corner_t c = corner_of(v, y);
    tcgemm_svg_text(v->svg, SVG_LABEL, SVG_START, BLOCKS_LEGEND_X, y + 10, BLOCKS_LEGEND_WIDTH,
                    "The corner of D%s",
                    v->by_sixths ? ", with a colour for each round" : ", enlarged");
    for (int row = 0; row < c.rows; ++row)
        for (int col = 0; col < c.cols; ++col)
            draw_cell(v, &c, row, col);
    if (v->f->info.raster_group <= c.rows)
        draw_order(v, &c);
    for (int row = 0; row < c.rows; ++row)
        for (int col = 0; col < c.cols; ++col)
            draw_cell_number(v, &c, row, col);
    const double w = (double)c.col_at[c.cols] / (double)v->f->problem.n * v->box.w;
    const double h = (double)c.row_at[c.rows] / (double)v->f->problem.m * v->box.h;
    tcgemm_svg_rect(v->svg, "none ink", v->box.x, v->box.y, fmax(w, 4), fmax(h, 4), 0);
    tcgemm_svg_rect(v->svg, "none ink", c.x, c.y, c.cols * c.w, c.rows * c.h, 0);
}

/* ---- the picture ---- */

static int64_t count_rounds(const blocks_view_t *v) {
    if (!v->f->machine.is_gpu)
        return tile_at(v, v->count - 1).panel + 1;
    const double all = (double)v->count * (double)v->f->problem.batch;
    return (int64_t)fmin(ceil(all / (double)tcgemm_picture_round_size(v->f)), 1e18);
}

/* The picture ends below whichever reaches further, D or what stands beside it, which is drawn once
 * for nobody to find out. */
static double height_of(const blocks_view_t *view, bool numbered) {
    tcgemm_text_t nobody = {.buffer = NULL};
    const tcgemm_svg_t nothing = {.out = &nobody, .canvas = view->svg->canvas};
    blocks_view_t v = *view;
    v.svg = &nothing;
    double beside = tcgemm_blocks_legend(&v);
    if (!numbered) {
        const corner_t c = corner_of(&v, beside + 8);
        beside = c.y + c.rows * c.h + 14;
    }
    return fmin(fmax(v.box.y + v.box.h, beside) + 34, full_height);
}

void tcgemm_picture_blocks(const tcgemm_analysis_t *f, const tcgemm_svg_canvas_t *canvas) {
    if (tcgemm_picture_d_is_empty(f)) {
        tcgemm_picture_empty(f, PICTURE_BLOCKS, "D has no elements: nothing is computed.", canvas);
        return;
    }
    tcgemm_svg_t svg;
    blocks_view_t v = {.svg = &svg, .f = f, .count = tcgemm_plan_tile_count(f->plan)};
    v.box = tcgemm_picture_fit((double)f->problem.m, (double)f->problem.n, 410, 398, 5);
    v.box.x = 64;
    v.box.y = 108;
    v.detail = canvas->is_compact ? compact_detail : full_detail;
    v.rounds = count_rounds(&v);
    v.by_sixths = v.rounds > MOST_ROUNDS || v.count > v.detail.most_drawn;
    v.overlap = lines_fit(&v) ? 0 : 0.6;
    const bool numbered = numbers_fit(&v);
    svg.canvas = canvas;
    tcgemm_picture_begin(&svg, canvas, f, PICTURE_BLOCKS, height_of(&v, numbered));
    draw_colours(&v);
    if (numbered)
        draw_numbers(&v);
    draw_axes(&v);
    const double y = tcgemm_blocks_legend(&v);
    if (!numbered)
        draw_corner(&v, y + 8);
    tcgemm_svg_end(&svg);
}
