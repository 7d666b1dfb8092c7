/* tile_shapes.h - every operand tile of the mma-pipelined kernels, for the tests of src/tile. */
#ifndef TCGEMM_TESTS_UNIT_TILE_SHAPES_H
#define TCGEMM_TESTS_UNIT_TILE_SHAPES_H

#include <stdint.h>
#include <string.h>

#include "tile/fragment.h"

typedef struct tile_shape {
    uint32_t element_bytes;
    uint32_t mn, warp; /* rows of A (columns of B) of the block and of a warp */
    uint32_t bk, threads;
} tile_shape_t;

/* In bytes of k: wide 128 x 256 x 128, mid 128 x 128 x 64, small 64 x 64 x 128, turing; f64. */
static const tile_shape_t tile_shapes[] = {
    {1, 128, 64, 128, 256}, {1, 256, 64, 128, 256}, {1, 128, 64, 64, 128}, {1, 64, 32, 128, 128},
    {1, 128, 64, 64, 256},  {1, 128, 32, 64, 256},  {2, 128, 64, 64, 256}, {2, 256, 64, 64, 256},
    {2, 128, 64, 32, 128},  {2, 64, 32, 64, 128},   {2, 128, 64, 32, 256}, {2, 128, 32, 32, 256},
    {2, 64, 32, 32, 128},   {4, 128, 64, 32, 256},  {4, 256, 64, 32, 256}, {4, 128, 64, 16, 128},
    {4, 64, 32, 32, 128},   {8, 128, 64, 16, 256},  {8, 128, 32, 16, 256}, {8, 64, 32, 16, 128},
};
#define NUM_TILE_SHAPES (sizeof tile_shapes / sizeof tile_shapes[0])

static inline uint32_t tile_pitch(const tile_shape_t *t, int form) {
    return (form == TCGEMM_FORM_K ? t->bk : t->mn) * t->element_bytes;
}
static inline uint32_t tile_rows(const tile_shape_t *t, int form) {
    return form == TCGEMM_FORM_K ? t->mn : t->bk;
}
static inline uint32_t tile_bytes(const tile_shape_t *t) {
    return t->mn * t->bk * t->element_bytes;
}

/* Whether lanes that access `bytes` each at these offsets can be served in one cycle: no bank of
 * the 32 is asked for two different words. */
static inline int free_of_conflicts(const uint32_t *offset, uint32_t lanes, uint32_t bytes) {
    uint32_t word_of_bank[32];
    memset(word_of_bank, 0xff, sizeof word_of_bank);
    for (uint32_t i = 0; i < lanes; ++i)
        for (uint32_t at = offset[i]; at < offset[i] + bytes; at += 4) {
            uint32_t *word = &word_of_bank[at / 4 % 32];
            if (*word != UINT32_MAX && *word != at / 4)
                return 0;
            *word = at / 4;
        }
    return 1;
}

#endif
