/* picture_blocks.h - the picture of blocks on D, which two files draw: the tiles and the legend. */
#ifndef TCGEMM_DRAW_PICTURE_BLOCKS_H
#define TCGEMM_DRAW_PICTURE_BLOCKS_H

#include "draw/picture.h"

enum { BLOCKS_COLOURS = 6, BLOCKS_LEGEND_X = 528, BLOCKS_LEGEND_WIDTH = 344 };

/* How much detail is drawn, in tiles of D. */
typedef struct blocks_detail {
    int most_drawn, most_outlined, most_numbered;
    int lattice; /* points a side at which D is sampled beyond most_drawn */
} blocks_detail_t;

typedef struct blocks_view {
    const tcgemm_svg_t *svg;
    const tcgemm_analysis_t *f;
    tcgemm_picture_box_t box; /* of D */
    int64_t count;            /* tiles of one batch item */
    int64_t rounds;           /* of the whole batch; CPU: panels */
    double overlap;           /* of neighbours without an outline: no seam shows */
    bool by_sixths;           /* colours: sixths of the work; else rounds or panels */
    blocks_detail_t detail;
} blocks_view_t;

/* The classes of a tile of that colour. */
const char *tcgemm_blocks_colour(const blocks_view_t *view, int colour, bool outlined,
                                 char text[UNITS_SIZE]);

/* Words and colours beside D. Returns the y below them. */
double tcgemm_blocks_legend(const blocks_view_t *view);

#endif
