/* explore.c - A, B and D as bands and tiles that page/page.js lights up:
 *
 *                +---------------+
 *                |  B, by column |         each band of A feeds a row of tiles, each band of B
 *                +---------------+         a column; of D at most MOST tiles a side are drawn,
 *     +-------+  +---------------+         the first ones and the last
 *     | A, by |  |  D, by tile   |
 *     |  row  |  |               |
 *     +-------+  +---------------+
 *
 * Tiles are as D's shape has them, but never too small for their numbers while there is room: a
 * tall D becomes wider, a wide one taller.
 *
 * What the script says of a tile stands in its data attributes, so that nothing is worked out
 * twice.
 */
#include "draw/page.h"

#include <inttypes.h>
#include <math.h>

#include "draw/picture.h"

enum { MOST = 14 };

static const double a_width = 200, b_height = 130, gap = 26;
static const double d_width = 460, d_height = 370, least_width = 240;
static const double margin = 30;
static const double number_font = 11, smallest_font = 6, number_height = 16;

/* The tile rows (or columns) that are drawn. */
typedef struct lines {
    int count;
    bool has_gap; /* before the last one */
    int64_t from[MOST], size[MOST];
} lines_t;

/* Tile after tile along the first column (or row) of D, then the last one. */
static lines_t lines_of(const tcgemm_analysis_t *f, bool rows) {
    const int64_t all = rows ? f->problem.m : f->problem.n;
    lines_t l = {.count = 0};
    int64_t at = 0;
    while (at < all) {
        tcgemm_tile_info_t tile = {.struct_size = sizeof tile};
        if (l.count == MOST - 1 && at < all) {
            (void)tcgemm_plan_find_tile(f->plan, rows ? all - 1 : 0, rows ? 0 : all - 1, &tile);
            l.has_gap = (rows ? tile.row : tile.col) > at;
        } else if (tcgemm_plan_find_tile(f->plan, rows ? at : 0, rows ? 0 : at, &tile) !=
                   TCGEMM_STATUS_OK) {
            break;
        }
        l.from[l.count] = rows ? tile.row : tile.col;
        l.size[l.count] = rows ? tile.rows : tile.cols;
        at = l.from[l.count] + l.size[l.count];
        ++l.count;
    }
    return l;
}

typedef struct scene {
    const tcgemm_analysis_t *f;
    tcgemm_text_t *out;
    lines_t rows, cols;
    double row_step, col_step; /* from tile to tile on the drawing */
    double font;               /* of the numbers */
    double d_x, d_y;
} scene_t;

/* The gap is as wide as half a tile. */
static double slots_of(const lines_t *l) {
    return l->count + (l->has_gap ? 0.5 : 0);
}

static double start_of(const lines_t *l, int i, double step) {
    return step * (i + (l->has_gap && i == l->count - 1 ? 0.5 : 0));
}

/* The widest number of the tiles that are drawn. */
static double number_width(const scene_t *s) {
    double widest = 0;
    for (int row = 0; row < s->rows.count; ++row)
        for (int col = 0; col < s->cols.count; ++col) {
            tcgemm_tile_info_t t = {.struct_size = sizeof t};
            char number[UNITS_SIZE];
            if (tcgemm_plan_find_tile(s->f->plan, s->rows.from[row], s->cols.from[col], &t) !=
                TCGEMM_STATUS_OK)
                continue;
            (void)snprintf(number, sizeof number, "%" PRId64, t.index);
            widest = fmax(widest, tcgemm_svg_text_width(number, number_font));
        }
    return widest;
}

/* Makes room for all numbers, by larger tiles or else by smaller letters. */
static void fit_numbers(scene_t *s) {
    const double needed = number_width(s) + 4;
    const double most_col = d_width / slots_of(&s->cols);
    const double most_row = d_height / slots_of(&s->rows);
    s->col_step = fmax(s->col_step, fmin(needed, most_col));
    s->row_step = fmax(s->row_step, fmin(number_height, most_row));
    s->font = fmax(smallest_font, fmin(1, (s->col_step - 4) / (needed - 4)) * number_font);
}

static scene_t scene_of(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    scene_t s = {.f = f, .out = out, .rows = lines_of(f, true), .cols = lines_of(f, false)};
    const tcgemm_picture_box_t box =
        tcgemm_picture_fit((double)f->problem.m, (double)f->problem.n, d_width, d_height, 3);
    s.row_step = box.h / slots_of(&s.rows);
    s.col_step = box.w / slots_of(&s.cols);
    fit_numbers(&s);
    s.d_x = margin + a_width + gap;
    s.d_y = margin + b_height + gap;
    return s;
}

/* ---- shapes ---- */

static void draw_band(const scene_t *s, char name, int index, int64_t from, int64_t size) {
    const bool is_a = name == 'a';
    const double x = is_a ? margin : s->d_x + start_of(&s->cols, index, s->col_step);
    const double y = is_a ? s->d_y + start_of(&s->rows, index, s->row_step) : margin;
    tcgemm_text_add(s->out,
                    "<rect class=\"%c\" data-%s=\"%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                    "height=\"%.1f\"><title>%s %" PRId64 " .. %" PRId64 " of %c</title></rect>\n",
                    name, is_a ? "row" : "col", index, x, y, is_a ? a_width : s->col_step - 2,
                    is_a ? s->row_step - 2 : b_height, is_a ? "rows" : "columns", from,
                    from + size - 1, is_a ? 'A' : 'B');
}

/* ", round 2 of blocks", ", panel 3". */
static void write_when(const scene_t *s, const tcgemm_tile_info_t *tile) {
    if (s->f->machine.is_gpu)
        tcgemm_text_add(s->out, ", in round %" PRId64,
                        tile->index / tcgemm_picture_round_size(s->f) + 1);
    else if (tcgemm_picture_unit(s->f))
        tcgemm_text_add(s->out, ", of panel %" PRId64, tile->panel + 1);
}

static void draw_tile(const scene_t *s, int row, int col) {
    tcgemm_tile_info_t t = {.struct_size = sizeof t};
    const double x = s->d_x + start_of(&s->cols, col, s->col_step);
    const double y = s->d_y + start_of(&s->rows, row, s->row_step);
    if (tcgemm_plan_find_tile(s->f->plan, s->rows.from[row], s->cols.from[col], &t) !=
        TCGEMM_STATUS_OK)
        return;
    tcgemm_text_add(s->out,
                    "<rect class=\"tile\" role=\"button\" tabindex=\"-1\" data-row=\"%d\" "
                    "data-col=\"%d\" data-index=\"%" PRId64 "\" data-m0=\"%" PRId64
                    "\" data-m=\"%" PRId64 "\" data-n0=\"%" PRId64 "\" data-n=\"%" PRId64
                    "\" data-when=\"",
                    row, col, t.index, t.row, t.rows, t.col, t.cols);
    write_when(s, &t);
    tcgemm_text_add(s->out,
                    "\" aria-label=\"tile %" PRId64
                    "\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                    t.index, x, y, s->col_step - 2, s->row_step - 2);
    tcgemm_text_add(s->out, "<text class=\"number\" x=\"%.1f\" y=\"%.1f\"", x + s->col_step / 2 - 1,
                    y + s->row_step / 2 + 3);
    if (s->font < number_font)
        tcgemm_text_add(s->out, " style=\"font-size:%.1fpx\"", s->font);
    tcgemm_text_add(s->out, ">%" PRId64 "</text>\n", t.index);
}

static void draw_label(const scene_t *s, double x, double y, const char *anchor, const char *text) {
    tcgemm_text_add(s->out,
                    "<text class=\"quiet\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x,
                    y, anchor, text);
}

static void draw_scene(const scene_t *s) {
    const double w = s->col_step * slots_of(&s->cols);
    const double h = s->row_step * slots_of(&s->rows);
    tcgemm_text_add(
        s->out,
        "<div class=\"scroll\"><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f "
        "%.0f\" role=\"group\" aria-label=\"Tiles of D, rows of A, columns of B\">\n",
        s->d_x + fmax(w, least_width) + 20, s->d_y + h + 34);
    draw_label(s, s->d_x + w / 2, margin - 12, "middle", "B: k from top to bottom");
    draw_label(s, margin + a_width / 2, s->d_y + h + 20, "middle", "A: k from left to right");
    draw_label(s, s->d_x + w / 2, s->d_y + h + 20, "middle", "D");
    for (int row = 0; row < s->rows.count; ++row)
        draw_band(s, 'a', row, s->rows.from[row], s->rows.size[row]);
    for (int col = 0; col < s->cols.count; ++col)
        draw_band(s, 'b', col, s->cols.from[col], s->cols.size[col]);
    tcgemm_text_put(s->out, "<rect class=\"chunk-a\"/><rect class=\"chunk-b\"/>\n");
    for (int row = 0; row < s->rows.count; ++row)
        for (int col = 0; col < s->cols.count; ++col)
            draw_tile(s, row, col);
    tcgemm_text_put(s->out, "</svg></div>\n");
}

/* ---- controls ---- */

static bool has_ring(const tcgemm_analysis_t *f) {
    return f->info.stages > 1 && !tcgemm_picture_keeps_d(f);
}

static void write_slots(const scene_t *s) {
    const tcgemm_analysis_t *f = s->f;
    if (has_ring(f)) {
        tcgemm_text_put(
            s->out, "<ul class=\"slots\" id=\"slots\" aria-label=\"slots of shared memory\">\n");
        for (int i = 0; i < f->info.stages; ++i)
            tcgemm_text_add(s->out, "<li>slot %d<br><b></b></li>\n", i);
        tcgemm_text_put(s->out, "</ul>\n");
        return;
    }
    tcgemm_text_add(s->out, "<p class=\"soft\">%s</p>\n",
                    f->machine.is_gpu ? "The warps load this part of A and B straight to registers."
                    : f->info.packed_a_bytes + f->info.packed_b_bytes > 0
                        ? "The threads pack this part of A and B, wait at a barrier, and multiply."
                        : "The threads read this part of A and B where it is.");
}

static void write_controls(const scene_t *s, int64_t steps) {
    tcgemm_text_add(s->out,
                    "<p id=\"which\" aria-live=\"polite\"></p>\n"
                    "<div class=\"controls\"><button type=\"button\" id=\"back\" "
                    "aria-label=\"one step back\">&larr;</button>"
                    "<button type=\"button\" id=\"next\" aria-label=\"one step on\">&rarr;</button>"
                    "<button type=\"button\" id=\"play\">Play</button>"
                    "<input type=\"range\" id=\"step\" min=\"0\" max=\"%" PRId64
                    "\" value=\"0\" aria-label=\"step along k\"></div>\n"
                    "<p id=\"where\" aria-live=\"polite\"></p>\n",
                    steps - 1);
    write_slots(s);
}

void tcgemm_page_explore(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    if (tcgemm_picture_d_is_empty(f) || f->problem.k == 0) {
        tcgemm_text_put(out,
                        "<section><h2>Tiles and steps</h2><p>There is nothing to walk through: "
                        "no product is formed.</p></section>\n");
        return;
    }
    const scene_t s = scene_of(f, out);
    const bool stepped = f->num_levels > 1 && f->k_steps > 0;
    const int64_t steps = stepped ? f->k_steps : 1;
    tcgemm_text_add(
        out,
        "<section id=\"explore\" data-k=\"%" PRId64 "\" data-steps=\"%" PRId64
        "\" data-step-k=\"%" PRId64 "\" data-stages=\"%d\" data-mode=\"%s\">\n"
        "<h2>Tiles and steps</h2>\n<p class=\"soft\">Point at a tile of D, or move with the "
        "arrow keys: the rows of A and columns of B that feed it light up. Walk along k to "
        "see which part of them is multiplied%s.%s</p>\n",
        f->problem.k, steps, stepped ? f->levels[1].tile.k : f->problem.k, f->info.stages,
        has_ring(f) ? "ring" : "plain",
        has_ring(f) ? ", and what is on its way to shared memory" : "",
        s.rows.has_gap || s.cols.has_gap ? " Of D the first tiles are drawn, and the last." : "");
    draw_scene(&s);
    write_controls(&s, steps);
    tcgemm_text_put(out, "</section>\n");
}
