/* wmma.h - the warp-matrix instruction on names, for the simulators of wmma-direct and wmma-shared.
 *
 * A lane holds, of every block of eight rows of A (columns of B), the elements of one step of the
 * instruction; fill_word (tile/wmma.h) puts them into the fragment. Where the hardware then has
 * them is written here a second time, as it was read back from one (fragments.cuh):
 *
 *     word of the fragment     block     half      blocks in pairs (A of 16 or 32 rows, B of 32
 *     0 1 2 3 4 5 6 7          01012323  00110011  columns) with two words each; otherwise in order
 *
 *     16-bit  k of half h, element e: 8h + 2q + e     8-bit  4q + e     tf32  4h + q     f64  q
 */
#ifndef TCGEMM_SIM_WMMA_H
#define TCGEMM_SIM_WMMA_H

#include "sim/product.h"
#include "tile/wmma.h"

enum { TCGEMM_SIM_LANES = 32, TCGEMM_SIM_MAX_BLOCKS = 16, TCGEMM_SIM_MAX_CHUNK = 16 };

/* What a lane has of one operand and chunk: [block][i-th k], 16 bytes of k. */
typedef struct tcgemm_sim_chunk {
    tcgemm_sim_name_t at[TCGEMM_SIM_LANES][TCGEMM_SIM_MAX_BLOCKS][TCGEMM_SIM_MAX_CHUNK];
} tcgemm_sim_chunk_t;

/* Fills the fragment of `count` blocks from `first` on, for step `step`, and gathers the operand as
 * the instruction sees it. `extent`: rows of A (columns of B) of the tile, `paired` as it is for
 * fill_word. */
void tcgemm_sim_wmma_operand(tcgemm_sim_t *sim, int side, const tcgemm_sim_chunk_t *chunk,
                             uint32_t first, uint32_t count, uint32_t step, uint32_t element_bytes,
                             int paired, tcgemm_sim_operand_t *operand);

/* Accumulator x of a lane in a tile of tm x tn. */
tcgemm_sim_sum_t tcgemm_sim_wmma_sum(const tcgemm_sim_product_t *product, uint32_t lane,
                                     uint32_t x);

#endif
