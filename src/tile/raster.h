/* raster.h - the order in which the tiles of D are computed.
 *
 * Blocks that run at the same time should share their rows of A and columns of B in the L2 cache,
 * so tiles are swept in groups of `group` tile rows: down the group, then one column to the right.
 *
 *     group = 2                              the last group is as short as what is left:
 *            n0  n1  n2
 *       m0    0   2   4      two rows of A stay in L2 while a sweep of B passes
 *       m1    1   3   5
 *       m2    6   8  10
 *       m3    7   9  11
 *       m4   12  13  14      a group of one row
 *
 * A batch is one grid after the other: tile -> (item of the batch, index in its grid). The host
 * works out what a grid is divided by, and kernels receive it (gpu/gpu_args.h).
 */
#ifndef TCGEMM_TILE_RASTER_H
#define TCGEMM_TILE_RASTER_H

#include "tile/divide.h"
#include "tile/hd.h"

typedef struct tcgemm_tile_coord {
    uint32_t m; /* tile row */
    uint32_t n; /* tile column */
} tcgemm_tile_coord_t;

typedef struct tcgemm_batch_tile {
    uint32_t batch; /* item */
    tcgemm_tile_coord_t at;
} tcgemm_batch_tile_t;

/* A grid of tiles, and the order in which they come. */
typedef struct tcgemm_raster {
    uint32_t cols;          /* of tiles */
    uint32_t last;          /* first tile row of a last, lower group; beyond all without one */
    tcgemm_divisor_t tiles; /* of the grid, and ... */
    tcgemm_divisor_t group; /* ... of a group */
    tcgemm_divisor_t down;  /* tile rows of a group, and ... */
    tcgemm_divisor_t low;   /* ... of the last one */
} tcgemm_raster_t;

/* Of rows x cols tiles; a group of 0 counts as 1. */
TCGEMM_HD tcgemm_raster_t tcgemm_raster_of(uint32_t rows, uint32_t cols, uint32_t group) {
    const uint32_t most = rows ? rows : 1, wanted = group ? group : 1;
    const uint32_t down = wanted < most ? wanted : most;
    const uint32_t rest = rows % down;
    const tcgemm_raster_t r = {cols,
                               rest ? rows - rest : UINT32_MAX,
                               tcgemm_divisor_of(rows * cols),
                               tcgemm_divisor_of(down * cols),
                               tcgemm_divisor_of(down),
                               tcgemm_divisor_of(rest ? rest : 1)};
    return r;
}

/* The index-th tile. */
TCGEMM_HD tcgemm_tile_coord_t tcgemm_raster(const tcgemm_raster_t *r, uint32_t index) {
    const uint32_t first = tcgemm_divide(index, r->group) * r->down.by; /* opens the group */
    const uint32_t within = index - first * r->cols;
    const tcgemm_divisor_t down = first == r->last ? r->low : r->down;
    tcgemm_tile_coord_t at = {0, 0};
    at.n = tcgemm_divide(within, down);
    at.m = first + within - at.n * down.by;
    return at;
}

/* Which tile stands there: the inverse of tcgemm_raster. */
TCGEMM_HD uint32_t tcgemm_raster_index(const tcgemm_raster_t *r, tcgemm_tile_coord_t at) {
    const uint32_t first = tcgemm_divide(at.m, r->down) * r->down.by;
    const uint32_t down = first == r->last ? r->low.by : r->down.by;
    return first * r->cols + at.n * down + (at.m - first);
}

/* tcgemm_raster for a batch of such grids. */
TCGEMM_HD tcgemm_batch_tile_t tcgemm_batch_raster(const tcgemm_raster_t *r, uint32_t tile) {
    tcgemm_batch_tile_t found = {0, {0, 0}};
    found.batch = tcgemm_divide(tile, r->tiles);
    found.at = tcgemm_raster(r, tile - found.batch * r->tiles.by);
    return found;
}

#endif
