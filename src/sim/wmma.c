/* wmma.c - see wmma.h. */
#include "sim/wmma.h"

/* Where the instruction has word `word` of a fragment, each of `words` to a block. */
static uint32_t block_of_word(uint32_t word, int paired, uint32_t words) {
    static const uint32_t in_pairs[8] = {0, 1, 0, 1, 2, 3, 2, 3};
    return paired && words == 2 ? in_pairs[word] : word / words;
}

static uint32_t half_of_word(uint32_t word, int paired, uint32_t words) {
    static const uint32_t in_pairs[8] = {0, 0, 1, 1, 0, 0, 1, 1};
    return paired && words == 2 ? in_pairs[word] : word % words;
}

/* The k of the instruction that element e of a half is for. */
static uint32_t slot_of(uint32_t element_bytes, uint32_t q, uint32_t half, uint32_t e) {
    switch (element_bytes) {
    case 1:
        return 4 * q + e;
    case 2:
        return 8 * half + 2 * q + e;
    case 4:
        return 4 * half + q;
    default:
        return q;
    }
}

void tcgemm_sim_wmma_operand(tcgemm_sim_t *sim, int side, const tcgemm_sim_chunk_t *chunk,
                             uint32_t first, uint32_t count, uint32_t step, uint32_t element_bytes,
                             int paired, tcgemm_sim_operand_t *operand) {
    const uint32_t per_step = tcgemm_wmma_per_step(element_bytes);
    const uint32_t words = element_bytes == 2 || element_bytes == 4 ? 2 : 1; /* f64: of 8 bytes */
    const uint32_t per_word = per_step / words;
    operand->rows = (int)(8 * count);
    operand->slots = (int)(4 * per_step);
    for (uint32_t lane = 0; lane < TCGEMM_SIM_LANES; ++lane)
        for (uint32_t word = 0; word < count * words; ++word) {
            const uint32_t from = tcgemm_wmma_fill_word(word, paired, words);
            const uint32_t row = 8 * block_of_word(word, paired, words) + lane / 4;
            const uint32_t half = half_of_word(word, paired, words);
            for (uint32_t e = 0; e < per_word; ++e)
                operand->name[row][slot_of(element_bytes, lane % 4, half, e)] =
                    chunk->at[lane][first + from / words]
                             [step * per_step + from % words * per_word + e];
        }
    tcgemm_sim_identify(sim, side, operand);
}

tcgemm_sim_sum_t tcgemm_sim_wmma_sum(const tcgemm_sim_product_t *product, uint32_t lane,
                                     uint32_t x) {
    const uint32_t g = lane / 4, q = lane % 4, place = x % 2;
    if (product->cols == 32)
        return tcgemm_sim_sum_of(product, (int)(2 * q + place), (int)(x / 2 * 8 + g));
    if (product->rows == 16)
        return tcgemm_sim_sum_of(product, (int)(x / 2 % 2 * 8 + g),
                                 (int)(x / 4 * 8 + 2 * q + place));
    return tcgemm_sim_sum_of(product, (int)(x / 2 * 8 + g), (int)(2 * q + place));
}
