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
 * A batch is one grid after the other: tile -> (item of the batch, index in its grid).
 */
#ifndef TCGEMM_TILE_RASTER_H
#define TCGEMM_TILE_RASTER_H

#include "tile/hd.h"

typedef struct tcgemm_tile_coord {
    uint32_t m; /* tile row */
    uint32_t n; /* tile column */
} tcgemm_tile_coord_t;

typedef struct tcgemm_batch_tile {
    uint32_t batch; /* item */
    tcgemm_tile_coord_t at;
} tcgemm_batch_tile_t;

/* The index-th tile of a grid of tiles_m x tiles_n; a group of 0 counts as 1. */
TCGEMM_HD tcgemm_tile_coord_t tcgemm_raster(uint32_t index, uint32_t tiles_m, uint32_t tiles_n,
                                            uint32_t group) {
    const uint32_t least = group == 0 ? 1 : group;
    const uint32_t wanted = least < tiles_m ? least : tiles_m;
    const uint32_t first = index / (wanted * tiles_n) * wanted; /* tile row that opens the group */
    const uint32_t rows = tiles_m - first < wanted ? tiles_m - first : wanted;
    const uint32_t within = index - first * tiles_n;
    tcgemm_tile_coord_t at = {0, 0};
    /* An index below tiles_m * tiles_n lies in a group with rows. */
    at.m = first + within % rows; /* NOLINT(clang-analyzer-core.DivideZero) */
    at.n = within / rows;         /* NOLINT(clang-analyzer-core.DivideZero) */
    return at;
}

/* Which tile stands there: the inverse of tcgemm_raster. */
TCGEMM_HD uint32_t tcgemm_raster_index(tcgemm_tile_coord_t at, uint32_t tiles_m, uint32_t tiles_n,
                                       uint32_t group) {
    const uint32_t least = group == 0 ? 1 : group;
    const uint32_t wanted = least < tiles_m ? least : tiles_m;
    /* Where a tile is, tiles_m is not 0. */
    const uint32_t first = at.m / wanted * wanted; /* NOLINT(clang-analyzer-core.DivideZero) */
    const uint32_t rows = tiles_m - first < wanted ? tiles_m - first : wanted;
    return first * tiles_n + at.n * rows + (at.m - first);
}

/* tcgemm_raster for a batch of such grids. */
TCGEMM_HD tcgemm_batch_tile_t tcgemm_batch_raster(uint32_t tile, uint32_t tiles_m, uint32_t tiles_n,
                                                  uint32_t group) {
    const uint32_t grid = tiles_m * tiles_n;
    tcgemm_batch_tile_t found = {0, {0, 0}};
    found.batch = tile / grid;
    found.at = tcgemm_raster(tile - found.batch * grid, tiles_m, tiles_n, group);
    return found;
}

#endif
