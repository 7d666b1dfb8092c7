/* split.h - which part of k a block multiplies.
 *
 * Parts are like items of a batch, and come in their place: with two items and three parts
 *
 *     item      0  0  0  1  1  1
 *     part      0  1  2  0  1  2
 *     index     0  1  2  3  4  5        of the matrices of sums, too
 */
#ifndef TCGEMM_TILE_SPLIT_H
#define TCGEMM_TILE_SPLIT_H

#include "tile/hd.h"

typedef struct tcgemm_part {
    uint32_t item; /* of the batch */
    int64_t first; /* element of k */
    int64_t k;     /* elements of it */
} tcgemm_part_t;

/* The index-th part, of split_k elements but for the last of an item. */
TCGEMM_HD tcgemm_part_t tcgemm_part_of_k(uint32_t index, uint32_t splits, int64_t k,
                                         int64_t split_k) {
    tcgemm_part_t part = {index, 0, k};
    if (splits > 1) {
        part.item = index / splits;
        part.first = (index - part.item * splits) * split_k;
        part.k = k - part.first < split_k ? k - part.first : split_k;
    }
    return part;
}

#endif
