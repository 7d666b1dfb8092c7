/* pipeline.h - the ring of shared-memory slots that blocks of k go through.
 *
 * Block b of k lives in slot b % stages. The copy runs stages - 1 blocks ahead of the products:
 *
 *     stages = 3        time ->
 *     copy      0  1 |  2   3   4   5   .   .      block that is being asked for
 *     wait           |  0   1   2   3   4   5      block that must have arrived
 *     products       |  0   1   2   3   4   5
 *     slot written      2   0   1   2   .   .      = the slot that products left one block ago
 *
 * With cp.async every block is one committed group, empty groups at the end included.
 */
#ifndef TCGEMM_TILE_PIPELINE_H
#define TCGEMM_TILE_PIPELINE_H

#include "tile/hd.h"

/* Blocks of bk elements that k elements fill, the last one perhaps in part. */
TCGEMM_HD uint32_t tcgemm_pipeline_blocks(int64_t k, uint32_t bk) {
    return (uint32_t)((k + bk - 1) / bk);
}

#endif
