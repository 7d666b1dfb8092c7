/* explain_pictures.h - what the pictures share: their size, words, and one function each. */
#ifndef CLI_EXPLAIN_PICTURES_H
#define CLI_EXPLAIN_PICTURES_H

#include "explain/explain.h"
#include "explain/svg.h"
#include "support/units.h"

#define PICTURE_TIMES "\u00d7"

enum { PICTURE_WIDTH = 900 };

/* Opens a picture with the title and caption that all renderings share. */
void picture_begin(svg_t *svg, FILE *out, const explain_facts_t *facts, explain_picture_t picture,
                   double height);

/* A picture of nothing: D has no elements, or there is nothing to multiply. */
void picture_empty(const explain_facts_t *facts, explain_picture_t picture, const char *why,
                   FILE *out);

bool picture_d_is_empty(const explain_facts_t *facts);

/* "1 block", "2 blocks", "12 345 blocks". */
const char *picture_count(double count, const char *noun, char text[UNITS_SIZE]);

/* The larger rectangle of that many rows and columns inside w x h, no longer than `most` times its
 * other side. */
typedef struct picture_box {
    double x, y, w, h;
} picture_box_t;

picture_box_t picture_fit(double rows, double cols, double w, double h, double most);

/* Levels by their place: the unit that D is shared out in (GPU: block; CPU: block of a panel), and
 * what it is made of. NULL if the plan has none. */
const explain_level_t *picture_unit(const explain_facts_t *facts);
const explain_level_t *picture_part(const explain_facts_t *facts);

/* True for a kernel that keeps its tile of D in shared memory, and A and B out of it. */
bool picture_keeps_d(const explain_facts_t *facts);

/* Tiles of D that are worked on at the same time: of all SMs, or threads. */
int64_t picture_round_size(const explain_facts_t *facts);

void picture_blocks(const explain_facts_t *facts, FILE *out);
void picture_warps(const explain_facts_t *facts, FILE *out);
void picture_walk(const explain_facts_t *facts, FILE *out);
void picture_edges(const explain_facts_t *facts, FILE *out);
void picture_memory(const explain_facts_t *facts, FILE *out);
void picture_roofline(const explain_facts_t *facts, FILE *out);

#endif
