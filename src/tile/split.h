/* split.h - which part of k a block multiplies.
 *
 * Parts are like items of a batch, and come in their place: with two items and three parts
 *
 *     item      0  0  0  1  1  1
 *     part      0  1  2  0  1  2
 *     index     0  1  2  3  4  5        of the matrices of sums, too
 *
 * The blocks of k of a part may be shared out once more, among the ranks of a cluster: ten of them
 * among four
 *
 *     block     0  1  2  3  4  5  6  7  8  9
 *     rank      0  0  1  1  1  2  2  3  3  3
 */
#ifndef TCGEMM_TILE_SPLIT_H
#define TCGEMM_TILE_SPLIT_H

#include "tile/divide.h"
#include "tile/hd.h"

typedef struct tcgemm_part {
    uint32_t item; /* of the batch */
    int64_t first; /* element of k */
    int64_t k;     /* elements of it */
} tcgemm_part_t;

/* The index-th part, of split_k elements but for the last of an item. */
TCGEMM_HD tcgemm_part_t tcgemm_part_of_k(uint32_t index, tcgemm_divisor_t splits, int64_t k,
                                         int64_t split_k) {
    tcgemm_part_t part = {index, 0, k};
    if (splits.by > 1) {
        part.item = tcgemm_divide(index, splits);
        part.first = (index - part.item * splits.by) * split_k;
        part.k = k - part.first < split_k ? k - part.first : split_k;
    }
    return part;
}

typedef struct tcgemm_share {
    uint32_t first, count; /* 0: there are fewer than ranks */
} tcgemm_share_t;

/* The rank-th share of `count` things: none is larger than another by more than one. */
TCGEMM_HD tcgemm_share_t tcgemm_share_of(uint32_t count, uint32_t rank, uint32_t ranks) {
    const uint32_t first = (uint32_t)((uint64_t)count * rank / ranks);
    const uint32_t end = (uint32_t)((uint64_t)count * (rank + 1) / ranks);
    const tcgemm_share_t share = {first, end - first};
    return share;
}

#endif
