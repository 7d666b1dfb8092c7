/* picture.c - the six pictures: their names, titles and captions, and what they share. */
#include "draw/picture.h"

#include <math.h>
#include <string.h>

typedef struct picture_row {
    const char *name, *title, *caption;
    void (*draw)(const tcgemm_analysis_t *facts, const tcgemm_svg_canvas_t *canvas);
} picture_row_t;

static const picture_row_t pictures[NUM_PICTURES] = {
    [PICTURE_BLOCKS] = {"blocks", "Blocks on D",
                        "Each tile of D is one unit of work. Numbers: the order in which they are "
                        "begun.",
                        tcgemm_picture_blocks},
    [PICTURE_WARPS] =
        {"warps", "Inside a block",
         "What the block is made of, and the rows of A and columns of B that a chosen "
         "part reads.",
         tcgemm_picture_warps},
    [PICTURE_WALK] = {"walk", "The walk along k",
                      "A tile of D stays where it is while steps of k of A and B pass.",
                      tcgemm_picture_walk},
    [PICTURE_EDGES] = {"edges", "At the edges",
                       "The last tiles reach beyond the matrices: by how much, and what happens "
                       "there.",
                       tcgemm_picture_edges},
    [PICTURE_MEMORY] = {"memory", "Bytes on their way",
                        "What moves between the levels of memory in the whole product, and how "
                        "often it is used.",
                        tcgemm_picture_memory},
    [PICTURE_ROOFLINE] = {"roofline", "Under the roof",
                          "What the memory and the multipliers allow, and where this product is "
                          "predicted to be.",
                          tcgemm_picture_roofline},
};

int tcgemm_picture_count(void) {
    return NUM_PICTURES;
}

const char *tcgemm_picture_name(int index) {
    return index >= 0 && index < NUM_PICTURES ? pictures[index].name : NULL;
}

const char *tcgemm_picture_caption(int index) {
    return index >= 0 && index < NUM_PICTURES ? pictures[index].caption : NULL;
}

void tcgemm_picture_draw(const tcgemm_analysis_t *f, tcgemm_picture_t picture,
                         const tcgemm_svg_canvas_t *canvas) {
    pictures[picture].draw(f, canvas);
}

/* ---- what they share ---- */

void tcgemm_picture_begin(tcgemm_svg_t *svg, const tcgemm_svg_canvas_t *canvas,
                          const tcgemm_analysis_t *f, tcgemm_picture_t picture, double height) {
    char title[512];
    (void)snprintf(title, sizeof title,
                   "%s: %s, %lld " PICTURE_TIMES " %lld " PICTURE_TIMES " %lld on %s",
                   pictures[picture].title, f->type->name, (long long)f->problem.m,
                   (long long)f->problem.n, (long long)f->problem.k, f->machine.name);
    tcgemm_svg_begin(svg, canvas, pictures[picture].name, PICTURE_WIDTH, height, title,
                     pictures[picture].caption);
}

void tcgemm_picture_empty(const tcgemm_analysis_t *f, tcgemm_picture_t picture, const char *why,
                          const tcgemm_svg_canvas_t *canvas) {
    tcgemm_svg_t svg;
    tcgemm_picture_begin(&svg, canvas, f, picture, 180);
    tcgemm_svg_rect(&svg, "box line dash", 28, 84, PICTURE_WIDTH - 56, 68, 8);
    tcgemm_svg_text(&svg, SVG_LABEL, SVG_MIDDLE, PICTURE_WIDTH / 2.0, 123, PICTURE_WIDTH - 90, "%s",
                    why);
    tcgemm_svg_end(&svg);
}

bool tcgemm_picture_d_is_empty(const tcgemm_analysis_t *f) {
    return f->problem.m == 0 || f->problem.n == 0 || f->problem.batch == 0;
}

const char *tcgemm_picture_plural(double count, const char *noun, char text[UNITS_SIZE]) {
    char number[UNITS_SIZE];
    (void)snprintf(text, UNITS_SIZE, "%.30s %.30s%s", units_grouped(count, number), noun,
                   count == 1 ? "" : "s");
    return text;
}

tcgemm_picture_box_t tcgemm_picture_fit(double rows, double cols, double w, double h, double most) {
    double ratio = rows > 0 ? cols / rows : 1;
    ratio = ratio > most ? most : ratio < 1 / most ? 1 / most : ratio;
    tcgemm_picture_box_t box = {.w = w, .h = w / ratio};
    if (box.h > h) {
        box.h = h;
        box.w = h * ratio;
    }
    return box;
}

const tcgemm_analysis_level_t *tcgemm_picture_unit(const tcgemm_analysis_t *f) {
    const int index = f->machine.is_gpu ? 1 : 2;
    return f->num_levels > index ? &f->levels[index] : NULL;
}

const tcgemm_analysis_level_t *tcgemm_picture_part(const tcgemm_analysis_t *f) {
    const int index = f->machine.is_gpu ? 2 : 3;
    return f->num_levels > index ? &f->levels[index] : NULL;
}

bool tcgemm_picture_keeps_d(const tcgemm_analysis_t *f) {
    return strcmp(f->info.algo, "simt-outer") == 0;
}

int64_t tcgemm_picture_round_size(const tcgemm_analysis_t *f) {
    const int64_t each = f->machine.is_gpu && f->info.blocks_per_sm > 1 ? f->info.blocks_per_sm : 1;
    const int64_t size = f->machine.num_units * each;
    return size > 0 ? size : 1;
}

void tcgemm_picture_formula(const tcgemm_analysis_t *f, tcgemm_text_t *out) {
    if (f->alpha != 1)
        tcgemm_text_add(out, "%.15g * ", f->alpha);
    tcgemm_text_add(out, "A%s * B%s", f->problem.op_a == TCGEMM_OP_T ? "^T" : "",
                    f->problem.op_b == TCGEMM_OP_T ? "^T" : "");
    if (f->beta != 0)
        tcgemm_text_add(out, " %c %.15g * C", f->beta < 0 ? '-' : '+', fabs(f->beta));
}
