/* explain_blocks.h - the picture of blocks on D, which two files draw: the tiles and the legend. */
#ifndef CLI_EXPLAIN_BLOCKS_H
#define CLI_EXPLAIN_BLOCKS_H

#include "explain/explain_pictures.h"

enum { BLOCKS_COLOURS = 6, BLOCKS_LEGEND_X = 528, BLOCKS_LEGEND_WIDTH = 344 };

typedef struct blocks_view {
    const svg_t *svg;
    const explain_facts_t *f;
    picture_box_t box; /* of D */
    int64_t count;     /* tiles of one batch item */
    int64_t rounds;    /* of the whole batch; CPU: panels */
    double overlap;    /* of neighbours without an outline: no seam shows */
    bool by_sixths;    /* colours: sixths of the work; else rounds or panels */
} blocks_view_t;

/* The classes of a tile of that colour. */
const char *blocks_colour(const blocks_view_t *view, int colour, bool outlined,
                          char text[UNITS_SIZE]);

/* Words and colours beside D. Returns the y below them. */
double blocks_legend(const blocks_view_t *view);

#endif
