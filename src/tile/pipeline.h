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
 * With cp.async every block is one committed group, empty groups at the end included; with
 * mbarriers a slot's parity is that of the number of times the ring has wrapped.
 */
#ifndef TCGEMM_TILE_PIPELINE_H
#define TCGEMM_TILE_PIPELINE_H

#include "tile/hd.h"

/* The slot after `slot`. */
TCGEMM_HD uint32_t tcgemm_pipeline_next(uint32_t slot, uint32_t stages) {
    return slot + 1 == stages ? 0 : slot + 1;
}

TCGEMM_HD uint32_t tcgemm_pipeline_slot(uint32_t block, uint32_t stages) {
    return block % stages;
}

/* Parity of the phase of slot block % stages in which `block` lives. */
TCGEMM_HD uint32_t tcgemm_pipeline_parity(uint32_t block, uint32_t stages) {
    return block / stages & 1u;
}

/* Blocks that are asked for before the first product. */
TCGEMM_HD uint32_t tcgemm_pipeline_lead(uint32_t stages) {
    return stages - 1;
}

/* Groups that may still be in flight when block b is needed, after `committed` groups in all
 * (group i carries block i). */
TCGEMM_HD uint32_t tcgemm_pipeline_pending(uint32_t committed, uint32_t block) {
    return committed - (block + 1);
}

/* Blocks of bk elements that k elements fill, the last one perhaps in part. */
TCGEMM_HD uint32_t tcgemm_pipeline_blocks(int64_t k, uint32_t bk) {
    return (uint32_t)((k + bk - 1) / bk);
}

#endif
