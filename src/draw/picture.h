/* picture.h - what the pictures share: their names, size, words, and one function each. */
#ifndef TCGEMM_DRAW_PICTURE_H
#define TCGEMM_DRAW_PICTURE_H

#include <stdbool.h>

#include "base/units.h"
#include "draw/svg.h"
#include "tcgemm/tcgemm.h"

#define PICTURE_TIMES "\u00d7"

enum { PICTURE_WIDTH = 900 };

/* The pictures, in order. */
typedef enum tcgemm_picture {
    PICTURE_BLOCKS,   /* how blocks map to D, in the order of the raster, round by round */
    PICTURE_WARPS,    /* warps inside a block, and the rows of A and columns of B they read */
    PICTURE_WALK,     /* the walk along k: steps, stages */
    PICTURE_EDGES,    /* the overrun at the edges, and how it is padded or predicated */
    PICTURE_MEMORY,   /* the memory hierarchy with bytes per level */
    PICTURE_ROOFLINE, /* this problem under the two roofs */
    NUM_PICTURES
} tcgemm_picture_t;

/* Writes one picture as a complete <svg> element, to stand alone or inside a page. */
void tcgemm_picture_draw(const tcgemm_analysis_t *facts, tcgemm_picture_t picture,
                         const tcgemm_svg_canvas_t *canvas);

/* "2 * A * B^T + 3 * C". */
void tcgemm_picture_formula(const tcgemm_analysis_t *facts, tcgemm_text_t *out);

/* Opens a picture with the title and caption that all renderings share. */
void tcgemm_picture_begin(tcgemm_svg_t *svg, const tcgemm_svg_canvas_t *canvas,
                          const tcgemm_analysis_t *facts, tcgemm_picture_t picture, double height);

/* A picture of nothing: D has no elements, or there is nothing to multiply. */
void tcgemm_picture_empty(const tcgemm_analysis_t *facts, tcgemm_picture_t picture, const char *why,
                          const tcgemm_svg_canvas_t *canvas);

bool tcgemm_picture_d_is_empty(const tcgemm_analysis_t *facts);

/* "1 block", "2 blocks", "12 345 blocks". */
const char *tcgemm_picture_plural(double count, const char *noun, char text[UNITS_SIZE]);

/* The larger rectangle of that many rows and columns inside w x h, no longer than `most` times its
 * other side. */
typedef struct picture_box {
    double x, y, w, h;
} tcgemm_picture_box_t;

tcgemm_picture_box_t tcgemm_picture_fit(double rows, double cols, double w, double h, double most);

/* Levels by their place: the unit that D is shared out in (GPU: block; CPU: block of a panel), and
 * what it is made of. NULL if the plan has none. */
const tcgemm_analysis_level_t *tcgemm_picture_unit(const tcgemm_analysis_t *facts);
const tcgemm_analysis_level_t *tcgemm_picture_part(const tcgemm_analysis_t *facts);

/* True for a kernel that keeps its tile of D in shared memory, and A and B out of it. */
bool tcgemm_picture_keeps_d(const tcgemm_analysis_t *facts);

/* Tiles of D that are worked on at the same time: of all SMs, or threads. */
int64_t tcgemm_picture_round_size(const tcgemm_analysis_t *facts);

void tcgemm_picture_blocks(const tcgemm_analysis_t *facts, const tcgemm_svg_canvas_t *canvas);
void tcgemm_picture_warps(const tcgemm_analysis_t *facts, const tcgemm_svg_canvas_t *canvas);
void tcgemm_picture_walk(const tcgemm_analysis_t *facts, const tcgemm_svg_canvas_t *canvas);
void tcgemm_picture_edges(const tcgemm_analysis_t *facts, const tcgemm_svg_canvas_t *canvas);
void tcgemm_picture_memory(const tcgemm_analysis_t *facts, const tcgemm_svg_canvas_t *canvas);
void tcgemm_picture_roofline(const tcgemm_analysis_t *facts, const tcgemm_svg_canvas_t *canvas);

#endif
