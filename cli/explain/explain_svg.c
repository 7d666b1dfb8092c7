/* explain_svg.c - the six pictures: their names, titles and captions, and what they share. */
#include "explain/explain_pictures.h"

#include <string.h>

typedef struct picture_row {
    const char *name, *title, *caption;
    void (*draw)(const explain_facts_t *facts, FILE *out);
} picture_row_t;

static const picture_row_t pictures[NUM_PICTURES] = {
    [PICTURE_BLOCKS] = {"blocks", "Blocks on D",
                        "Each tile of D is one unit of work. Numbers: the order in which they are "
                        "begun.",
                        picture_blocks},
    [PICTURE_WARPS] =
        {"warps", "Inside a block",
         "What the block is made of, and the rows of A and columns of B that a chosen "
         "part reads.",
         picture_warps},
    [PICTURE_WALK] = {"walk", "The walk along k",
                      "A tile of D stays where it is while steps of k of A and B pass.",
                      picture_walk},
    [PICTURE_EDGES] = {"edges", "At the edges",
                       "The last tiles reach beyond the matrices: by how much, and what happens "
                       "there.",
                       picture_edges},
    [PICTURE_MEMORY] = {"memory", "Bytes on their way",
                        "What moves between the levels of memory in the whole product, and how "
                        "often it is used.",
                        picture_memory},
    [PICTURE_ROOFLINE] = {"roofline", "Under the roof",
                          "What the memory and the multipliers allow, and where this product is "
                          "predicted to be.",
                          picture_roofline},
};

const char *explain_picture_name(explain_picture_t picture) {
    return pictures[picture].name;
}

const char *explain_picture_caption(explain_picture_t picture) {
    return pictures[picture].caption;
}

void explain_svg(const explain_facts_t *facts, explain_picture_t picture, FILE *out) {
    pictures[picture].draw(facts, out);
}

/* ---- what they share ---- */

void picture_begin(svg_t *svg, FILE *out, const explain_facts_t *f, explain_picture_t picture,
                   double height) {
    char title[512];
    (void)snprintf(title, sizeof title,
                   "%s: %s, %lld " PICTURE_TIMES " %lld " PICTURE_TIMES " %lld on %s",
                   pictures[picture].title, f->type->name, (long long)f->problem.m,
                   (long long)f->problem.n, (long long)f->problem.k, f->machine.name);
    svg_begin(svg, out, pictures[picture].name, PICTURE_WIDTH, height, title,
              pictures[picture].caption);
}

void picture_empty(const explain_facts_t *f, explain_picture_t picture, const char *why,
                   FILE *out) {
    svg_t svg;
    picture_begin(&svg, out, f, picture, 180);
    svg_rect(&svg, "box line dash", 28, 84, PICTURE_WIDTH - 56, 68, 8);
    svg_text(&svg, SVG_LABEL, SVG_MIDDLE, PICTURE_WIDTH / 2.0, 123, PICTURE_WIDTH - 90, "%s", why);
    svg_end(&svg);
}

bool picture_d_is_empty(const explain_facts_t *f) {
    return f->problem.m == 0 || f->problem.n == 0 || f->problem.batch == 0;
}

const char *picture_count(double count, const char *noun, char text[UNITS_SIZE]) {
    char number[UNITS_SIZE];
    (void)snprintf(text, UNITS_SIZE, "%.30s %.30s%s", units_grouped(count, number), noun,
                   count == 1 ? "" : "s");
    return text;
}

picture_box_t picture_fit(double rows, double cols, double w, double h, double most) {
    double ratio = rows > 0 ? cols / rows : 1;
    ratio = ratio > most ? most : ratio < 1 / most ? 1 / most : ratio;
    picture_box_t box = {.w = w, .h = w / ratio};
    if (box.h > h) {
        box.h = h;
        box.w = h * ratio;
    }
    return box;
}

const explain_level_t *picture_unit(const explain_facts_t *f) {
    const int index = f->machine.is_gpu ? 1 : 2;
    return f->num_levels > index ? &f->levels[index] : NULL;
}

const explain_level_t *picture_part(const explain_facts_t *f) {
    const int index = f->machine.is_gpu ? 2 : 3;
    return f->num_levels > index ? &f->levels[index] : NULL;
}

bool picture_keeps_d(const explain_facts_t *f) {
    return strcmp(f->plan.algo, "simt-outer") == 0;
}

int64_t picture_round_size(const explain_facts_t *f) {
    const int64_t each = f->machine.is_gpu && f->plan.blocks_per_sm > 1 ? f->plan.blocks_per_sm : 1;
    const int64_t size = f->machine.num_units * each;
    return size > 0 ? size : 1;
}
