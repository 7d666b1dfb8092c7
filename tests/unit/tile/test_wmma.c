/* Warp-matrix fragments: the orders of k and of rows are permutations, and the copies, loads and
 * exchanges of wmma-shared and wmma-direct, played on the host for every tile, lane, step and
 * block, bring each lane the elements that the order promises, each once, without bank conflicts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tile/wmma.h"
#include "tile_shapes.h"

#define COPY_THREADS 256

typedef struct element {
    uint16_t outer, k;
} element_t;

/* Every operand of a wmma-shared block: rows of A (columns of B) of the block and of a warp. */
typedef struct operand {
    uint32_t bytes, outer, warp;
} operand_t;
static const operand_t operands[] = {
    {1, 128, 64}, {1, 128, 32}, {1, 256, 64}, {2, 128, 64}, {2, 128, 32}, {2, 256, 64},
    {4, 128, 64}, {4, 128, 32}, {4, 256, 64}, {8, 128, 64}, {8, 128, 32}, {8, 64, 32},
};
#define NUM_OPERANDS (sizeof operands / sizeof operands[0])

/* Every tile of a wmma-direct warp, and of how many lines the loads of A and B for one product take
 * in wmma_direct.cuh: row-major, then B transposed; 0, 0: it does not say. */
typedef struct direct_tile {
    uint32_t bytes, m, n;
    uint32_t lines_a, lines_b;
} direct_tile_t;
static const direct_tile_t direct_tiles[] = {
    {1, 16, 16, 4, 16}, {1, 32, 8, 0, 0}, {1, 8, 32, 0, 0},   {2, 16, 16, 8, 16},
    {2, 32, 8, 0, 0},   {2, 8, 32, 0, 0}, {4, 16, 16, 8, 16}, {8, 8, 8, 4, 4},
};
#define NUM_DIRECT_TILES (sizeof direct_tiles / sizeof direct_tiles[0])

static uint32_t chunk_k(uint32_t bytes) {
    return TCGEMM_WMMA_CHUNK / bytes;
}

/* ---- the orders ------------------------------------------------------------------------------ */

static void steps_are_those_of_the_instruction(void **state) {
    (void)state;
    static const struct {
        uint32_t bytes, k, per_step, steps;
    } expected[] = {{1, 16, 4, 4}, {2, 16, 4, 2}, {4, 8, 2, 2}, {8, 4, 1, 2}};
    assert_int_equal(TCGEMM_WMMA_CHUNK, 64);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; ++i) {
        const uint32_t bytes = expected[i].bytes;
        assert_int_equal(tcgemm_wmma_per_step(bytes), expected[i].per_step);
        assert_int_equal(tcgemm_wmma_steps(bytes), expected[i].steps);
        assert_int_equal(4 * tcgemm_wmma_per_step(bytes), expected[i].k);
        assert_int_equal(tcgemm_wmma_steps(bytes) * expected[i].k, chunk_k(bytes));
    }
}

static void k_is_permuted(void **state) {
    (void)state;
    for (uint32_t bytes = 1; bytes <= 8; bytes *= 2) {
        unsigned char seen[64] = {0};
        for (uint32_t q = 0; q < 4; ++q) {
            uint32_t next = q * 16 / bytes; /* 16 contiguous bytes, step after step */
            for (uint32_t s = 0; s < tcgemm_wmma_steps(bytes); ++s)
                for (uint32_t i = 0; i < tcgemm_wmma_per_step(bytes); ++i) {
                    const uint32_t k = tcgemm_wmma_k(q, s, i, bytes);
                    assert_int_equal(k, next++);
                    assert_true(k < chunk_k(bytes) && !seen[k]++);
                }
            assert_int_equal(next, (q + 1) * 16 / bytes);
        }
    }
    for (uint32_t q = 0; q < 3; ++q) /* the drawing */
        for (uint32_t i = 0; i < 8; ++i)
            assert_int_equal(tcgemm_wmma_k(q, i / 4, i % 4, 2), 8 * q + i);
}

static void outer_is_permuted(void **state) {
    (void)state;
    for (uint32_t bytes = 1; bytes <= 8; bytes *= 2)
        for (uint32_t blocks = 1; blocks <= 32; blocks *= 2) {
            const uint32_t group = tcgemm_wmma_group(blocks, bytes);
            assert_true(group <= blocks && group * bytes <= 16);
            assert_true(group == blocks || group * bytes == 16);
            unsigned char seen[32 * 8] = {0};
            for (uint32_t block = 0; block < blocks; ++block)
                for (uint32_t g = 0; g < 8; ++g) {
                    const uint32_t outer = tcgemm_wmma_outer(block, g, group);
                    assert_true(outer < 8 * blocks && !seen[outer]++);
                    /* neighbours for a lane; then the lanes; then the segments */
                    assert_int_equal(outer % group, block % group);
                    assert_int_equal(outer / group % 8, g);
                    assert_int_equal(outer / (8 * group), block / group);
                }
        }
    for (uint32_t g = 0; g < 8; ++g) /* the drawing */
        for (uint32_t block = 0; block < 2; ++block)
            assert_int_equal(tcgemm_wmma_outer(block, g, 2), 2 * g + block);
}

/* ---- places in shared memory ----------------------------------------------------------------- */

static void every_piece_has_its_own_place(void **state) {
    (void)state;
    static unsigned char seen[64 * 64];
    for (uint32_t group = 2; group <= 16; group *= 2) {
        memset(seen, 0, sizeof seen);
        for (uint32_t row = 0; row < 256; ++row)
            for (uint32_t c = 0; c < 4; ++c) {
                const uint32_t at = tcgemm_wmma_offset_k(row, c, group);
                assert_int_equal(at % 16, 0);
                assert_true(at / 16 < 256 * 4 && !seen[at / 16]++);
                assert_int_equal(at / 64, row ^ (row / group % 2)); /* rows trade places whole */
                assert_int_equal(at / 16 % 4, c);
            }
    }
    for (uint32_t bytes = 1; bytes <= 8; bytes *= 2)
        for (uint32_t pieces = 8; pieces <= 64; pieces += 8) {
            memset(seen, 0, sizeof seen);
            for (uint32_t row = 0; row < chunk_k(bytes); ++row)
                for (uint32_t c = 0; c < pieces; ++c) {
                    const uint32_t at = tcgemm_wmma_offset_mn(row, c, pieces, bytes);
                    assert_int_equal(at % 16, 0);
                    assert_int_equal(at / 16 / pieces, row);
                    assert_true(!seen[at / 16]++);
                    assert_int_equal(at / 16 % pieces / 8, c / 8); /* among eight, in pairs */
                    assert_int_equal(at / 16 % 2, c % 2);
                }
        }
}

/* What the header says of the reads of any such tile. */
static void rows_of_a_read_lie_in_their_own_banks(void **state) {
    (void)state;
    for (uint32_t group = 2; group <= 16; group += 2)
        for (uint32_t row = 0; row < 256; ++row) {
            uint32_t at[8];
            for (uint32_t i = 0; i < 8; ++i)
                at[i] = tcgemm_wmma_offset_k(row + i / 4 * group, i % 4, group);
            assert_true(free_of_conflicts(at, 8, 16));
        }
    for (uint32_t bytes = 1; bytes <= 8; bytes *= 2)
        for (uint32_t pieces = 8; pieces <= 64; pieces += 8)
            for (uint32_t row = 0; row < 16 / bytes; ++row)
                for (uint32_t c = 0; c < pieces; c += 2) {
                    uint32_t at[8];
                    for (uint32_t i = 0; i < 8; ++i)
                        at[i] = tcgemm_wmma_offset_mn(row + i / 2 * (16 / bytes), c + i % 2, pieces,
                                                      bytes);
                    assert_true(free_of_conflicts(at, 8, 16));
                }
}

/* ---- wmma-shared ----------------------------------------------------------------------------- */

static uint32_t operand_group(const operand_t *o) {
    return tcgemm_wmma_group(o->warp / 8, o->bytes);
}
static uint32_t operand_pieces(const operand_t *o, int k_form) {
    return k_form ? 4 : o->outer * o->bytes / 16;
}
static uint32_t operand_place(const operand_t *o, int k_form, uint32_t row, uint32_t piece) {
    return k_form ? tcgemm_wmma_offset_k(row, piece, operand_group(o))
                  : tcgemm_wmma_offset_mn(row, piece, operand_pieces(o, 0), o->bytes);
}

/* A chunk of the operand in shared memory, by element; {UINT16_MAX, ..}: nothing was written. */
static element_t *empty_tile(const operand_t *o) {
    const size_t size = o->outer * chunk_k(o->bytes) * sizeof(element_t);
    element_t *memory = malloc(size);
    assert_non_null(memory);
    memset(memory, 0xff, size);
    return memory;
}

static void put(element_t *memory, const operand_t *o, int k_form, uint32_t at, uint32_t row,
                uint32_t along) {
    assert_int_equal(at % o->bytes, 0);
    assert_true(at < o->outer * TCGEMM_WMMA_CHUNK);
    assert_int_equal(memory[at / o->bytes].outer, UINT16_MAX);
    memory[at / o->bytes] = k_form ? (element_t){(uint16_t)row, (uint16_t)along}
                                   : (element_t){(uint16_t)along, (uint16_t)row};
}

/* The copy: thread -> (row, piece), 16 bytes each, eight threads a cycle. */
static element_t *copy_pieces(const operand_t *o, int k_form) {
    element_t *memory = empty_tile(o);
    const uint32_t pieces = operand_pieces(o, k_form), per_piece = 16 / o->bytes;
    const uint32_t rows = k_form ? o->outer : chunk_k(o->bytes), hop = COPY_THREADS / pieces;
    assert_true(hop > 0 && COPY_THREADS % pieces == 0 && rows % hop == 0);
    for (uint32_t i = 0; i < rows / hop; ++i)
        for (uint32_t first = 0; first < COPY_THREADS; first += 8) {
            uint32_t at[8];
            for (uint32_t t = 0; t < 8; ++t) {
                const uint32_t row = (first + t) / pieces + i * hop, piece = (first + t) % pieces;
                at[t] = operand_place(o, k_form, row, piece);
                for (uint32_t e = 0; e < per_piece; ++e)
                    put(memory, o, k_form, at[t] + e * o->bytes, row, piece * per_piece + e);
            }
            assert_true(free_of_conflicts(at, 8, 16));
        }
    return memory;
}

/* Rows that are not aligned to 4 bytes, hence elements of 1 or 2 bytes only. */
static element_t *copy_elements(const operand_t *o, int k_form) {
    element_t *memory = empty_tile(o);
    const uint32_t run = k_form ? chunk_k(o->bytes) : o->outer, per_piece = 16 / o->bytes;
    const uint32_t elements = o->outer * chunk_k(o->bytes) / COPY_THREADS;
    assert_int_equal(elements % 4, 0); /* four in flight */
    for (uint32_t done = 0; done < elements; ++done)
        for (uint32_t t = 0; t < COPY_THREADS; ++t) {
            const uint32_t e = t + done * COPY_THREADS;
            put(memory, o, k_form,
                e % per_piece * o->bytes + operand_place(o, k_form, e / run, e % run / per_piece),
                e / run, e % run);
        }
    return memory;
}

static void copies_are_whole_and_free_of_conflicts(void **state) {
    (void)state;
    for (size_t n = 0; n < NUM_OPERANDS; ++n)
        for (int k_form = 0; k_form < 2; ++k_form) {
            const operand_t *o = &operands[n];
            const uint32_t elements = o->outer * chunk_k(o->bytes);
            element_t *memory = copy_pieces(o, k_form);
            for (uint32_t i = 0; i < elements; ++i)
                assert_true(memory[i].outer < o->outer && memory[i].k < chunk_k(o->bytes));
            if (o->bytes < 4) {
                element_t *same = copy_elements(o, k_form);
                assert_memory_equal(memory, same, elements * sizeof *memory);
                free(same);
            }
            free(memory);
        }
}

/* All 32 lanes load `bytes` each; the hardware serves 128 bytes at a time. */
static void expect_no_conflicts(const uint32_t at[32], uint32_t bytes) {
    const uint32_t lanes = 128 / bytes < 32 ? 128 / bytes : 32;
    for (uint32_t first = 0; first < 32; first += lanes)
        assert_true(free_of_conflicts(at + first, lanes, bytes));
}

/* held[lane][step][block][element] of a warp. */
typedef element_t held_t[32][4][8][4];

static void read_k_form(held_t held, const element_t *memory, const operand_t *o, uint32_t first) {
    const uint32_t group = operand_group(o), per_step = tcgemm_wmma_per_step(o->bytes);
    for (uint32_t b = 0; b < o->warp / 8; ++b) {
        uint32_t at[32];
        for (uint32_t l = 0; l < 32; ++l) {
            const uint32_t lane = tcgemm_wmma_offset_k(first + l / 4 * group, l % 4, group);
            const uint32_t row = (b / group * 8 * group + b % group) & ~1u;
            at[l] = (lane ^ (b & 1) << 6) + row * TCGEMM_WMMA_CHUNK;
            assert_true(at[l] % 16 == 0 && at[l] < o->outer * TCGEMM_WMMA_CHUNK);
            for (uint32_t i = 0; i < 16 / o->bytes; ++i)
                held[l][i / per_step][b][i % per_step] = memory[at[l] / o->bytes + i];
        }
        expect_no_conflicts(at, 16);
    }
}

static void read_mn_form(held_t held, const element_t *memory, const operand_t *o, uint32_t first) {
    const uint32_t group = operand_group(o), per_step = tcgemm_wmma_per_step(o->bytes);
    const uint32_t width = group * o->bytes, pitch = o->outer * o->bytes;
    for (uint32_t s = 0; s < tcgemm_wmma_steps(o->bytes); ++s)
        for (uint32_t i = 0; i < per_step; ++i)
            for (uint32_t segment = 0; segment < o->warp / 8 / group; ++segment) {
                uint32_t at[32];
                for (uint32_t l = 0; l < 32; ++l) {
                    const uint32_t byte = (first + l / 4 * group) * o->bytes;
                    at[l] = tcgemm_wmma_offset_mn(l % 4 * (16 / o->bytes), byte / 16, pitch / 16,
                                                  o->bytes) +
                            byte % 16 + (s * per_step + i) * pitch + segment * 8 * width;
                    assert_true(at[l] % width == 0 && at[l] < o->outer * TCGEMM_WMMA_CHUNK);
                    for (uint32_t b = 0; b < group; ++b)
                        held[l][s][segment * group + b][i] = memory[at[l] / o->bytes + b];
                }
                expect_no_conflicts(at, width);
            }
}

static void shared_fragments_get_their_elements(void **state) {
    (void)state;
    static held_t held;
    for (size_t n = 0; n < NUM_OPERANDS; ++n)
        for (int k_form = 0; k_form < 2; ++k_form) {
            const operand_t *o = &operands[n];
            const uint32_t group = operand_group(o), ks = chunk_k(o->bytes);
            assert_int_equal(group % 2, 0);
            assert_int_equal(o->warp / 8 % group, 0);
            element_t *memory = copy_pieces(o, k_form);
            unsigned char *seen = calloc(o->outer, ks);
            assert_non_null(seen);
            for (uint32_t first = 0; first < o->outer; first += o->warp) {
                memset(held, 0xff, sizeof held);
                (k_form ? read_k_form : read_mn_form)(held, memory, o, first);
                for (uint32_t l = 0; l < 32; ++l)
                    for (uint32_t s = 0; s < tcgemm_wmma_steps(o->bytes); ++s)
                        for (uint32_t b = 0; b < o->warp / 8; ++b)
                            for (uint32_t i = 0; i < tcgemm_wmma_per_step(o->bytes); ++i) {
                                const element_t e = held[l][s][b][i];
                                assert_int_equal(e.outer,
                                                 first + tcgemm_wmma_outer(b, l / 4, group));
                                assert_int_equal(e.k, tcgemm_wmma_k(l % 4, s, i, o->bytes));
                                assert_true(!seen[e.outer * ks + e.k]++);
                            }
            }
            for (uint32_t i = 0; i < o->outer * ks; ++i)
                assert_int_equal(seen[i], 1);
            free(memory);
            free(seen);
        }
}

/* The way out of wmma-shared: rows, and runs of neighbouring columns, as the kernel walks them. */
static void shared_products_cover_the_warp_tile(void **state) {
    (void)state;
    for (size_t x = 0; x < NUM_OPERANDS; ++x)
        for (size_t y = 0; y < NUM_OPERANDS; ++y) {
            const operand_t *a = &operands[x], *b = &operands[y];
            if (a->bytes != b->bytes)
                continue;
            const uint32_t group_a = operand_group(a), group_b = operand_group(b);
            unsigned char seen[64][64] = {{0}};
            for (uint32_t l = 0; l < 32; ++l) {
                const uint32_t g = l / 4, q = l % 4;
                uint32_t walked = g * group_a;
                for (uint32_t block_a = 0; block_a < a->warp / 8; ++block_a) {
                    const uint32_t row = tcgemm_wmma_outer(block_a, g, group_a);
                    assert_int_equal(row, walked);
                    walked += block_a % group_a == group_a - 1 ? 7 * group_a + 1 : 1;
                    for (uint32_t at = 0; at < b->warp / 4; ++at) {
                        const uint32_t segment = at / (2 * group_b), within = at % (2 * group_b);
                        const uint32_t block_b = segment * group_b + within % group_b;
                        const uint32_t col =
                            tcgemm_wmma_outer(block_b, 2 * q + within / group_b, group_b);
                        assert_int_equal(col, 2 * q * group_b + segment * 8 * group_b + within);
                        assert_true(row < a->warp && col < b->warp && !seen[row][col]++);
                    }
                }
            }
            for (uint32_t i = 0; i < a->warp; ++i)
                for (uint32_t j = 0; j < b->warp; ++j)
                    assert_int_equal(seen[i][j], 1);
        }
}

/* ---- wmma-direct ----------------------------------------------------------------------------- */

/* Where a lane's load begins in the chunk. */
typedef struct direct_load {
    uint32_t outer, k;
} direct_load_t;

static int is_turned(uint32_t bytes, int k_form) {
    return bytes == 8 && !k_form;
}
static uint32_t direct_width(uint32_t bytes, uint32_t blocks, int k_form) {
    return k_form || is_turned(bytes, k_form) ? 16 : blocks * bytes;
}
static uint32_t direct_loads(uint32_t bytes, uint32_t blocks, int k_form) {
    return k_form ? blocks : is_turned(bytes, k_form) ? 1 : 16 / bytes;
}
static direct_load_t direct_load(uint32_t bytes, uint32_t blocks, int k_form, uint32_t l,
                                 uint32_t i) {
    const uint32_t g = l / 4, q = l % 4;
    if (is_turned(bytes, k_form))
        return (direct_load_t){2 * q, g};
    return (direct_load_t){g * blocks + (k_form ? i : 0), q * (16 / bytes) + (k_form ? 0 : i)};
}

/* The two exchanges of f64: by element, not by word. */
static void turn(element_t raw[32][2]) {
    element_t low[32], high[32];
    unsigned char gave_low[32] = {0}, gave_high[32] = {0};
    for (uint32_t l = 0; l < 32; ++l) {
        low[l] = raw[l][l / 4 % 2];
        high[l] = raw[l][1 - l / 4 % 2];
    }
    for (uint32_t l = 0; l < 32; ++l) {
        const uint32_t g = l / 4, q = l % 4, odd = g % 2;
        const uint32_t first = (2 * q + odd) * 4 + g / 2, second = first ^ 4;
        assert_true(!gave_low[first]++ && !gave_high[second]++);
        raw[l][odd] = low[first];
        raw[l][1 - odd] = high[second];
    }
}

static void expect_direct_operand(uint32_t bytes, uint32_t blocks, int k_form) {
    const uint32_t per_step = tcgemm_wmma_per_step(bytes), group = tcgemm_wmma_group(blocks, bytes);
    const uint32_t loads = direct_loads(bytes, blocks, k_form);
    const uint32_t per_load = direct_width(bytes, blocks, k_form) / bytes;
    unsigned char loaded[32][64] = {{0}}, seen[32][64] = {{0}};
    static element_t raw[32][16][16];
    assert_int_equal(group, blocks); /* the accumulator's map counts on it */
    for (uint32_t l = 0; l < 32; ++l)
        for (uint32_t i = 0; i < loads; ++i)
            for (uint32_t j = 0; j < per_load; ++j) {
                const direct_load_t from = direct_load(bytes, blocks, k_form, l, i);
                const uint32_t outer = from.outer + (k_form ? 0 : j), k = from.k + (k_form ? j : 0);
                assert_true(outer < 8 * blocks && k < chunk_k(bytes) && !loaded[outer][k]++);
                raw[l][i][j] = (element_t){(uint16_t)outer, (uint16_t)k};
            }
    if (is_turned(bytes, k_form)) {
        element_t two[32][2];
        for (uint32_t l = 0; l < 32; ++l)
            memcpy(two[l], raw[l][0], sizeof two[l]);
        turn(two);
        for (uint32_t l = 0; l < 32; ++l)
            memcpy(raw[l][0], two[l], sizeof two[l]);
    }
    for (uint32_t l = 0; l < 32; ++l)
        for (uint32_t s = 0; s < tcgemm_wmma_steps(bytes); ++s)
            for (uint32_t b = 0; b < blocks; ++b)
                for (uint32_t i = 0; i < per_step; ++i) {
                    const element_t e = k_form || is_turned(bytes, k_form)
                                            ? raw[l][b][s * per_step + i]
                                            : raw[l][s * per_step + i][b];
                    assert_int_equal(e.outer, tcgemm_wmma_outer(b, l / 4, group));
                    assert_int_equal(e.k, tcgemm_wmma_k(l % 4, s, i, bytes));
                    assert_true(!seen[e.outer][e.k]++);
                }
    for (uint32_t outer = 0; outer < 8 * blocks; ++outer)
        for (uint32_t k = 0; k < chunk_k(bytes); ++k)
            assert_true(loaded[outer][k] == 1 && seen[outer][k] == 1);
}

static void direct_fragments_get_their_elements(void **state) {
    (void)state;
    for (size_t t = 0; t < NUM_DIRECT_TILES; ++t)
        for (int k_form = 0; k_form < 2; ++k_form) {
            expect_direct_operand(direct_tiles[t].bytes, direct_tiles[t].m / 8, k_form);
            expect_direct_operand(direct_tiles[t].bytes, direct_tiles[t].n / 8, k_form);
        }
}

/* Lines that the loads of a chunk look up, if each row of the operand lies in a line of its own:
 * loads of 16 bytes by quarter warps, of 8 by halves. */
static uint32_t direct_lines(uint32_t bytes, uint32_t blocks, int k_form) {
    const uint32_t width = direct_width(bytes, blocks, k_form);
    const uint32_t lanes = width == 16 ? 8 : width == 8 ? 16 : 32;
    uint32_t lines = 0;
    for (uint32_t i = 0; i < direct_loads(bytes, blocks, k_form); ++i)
        for (uint32_t first = 0; first < 32; first += lanes) {
            unsigned char line[64] = {0};
            for (uint32_t l = first; l < first + lanes; ++l) {
                const direct_load_t from = direct_load(bytes, blocks, k_form, l, i);
                lines += !line[k_form ? from.outer : from.k]++;
            }
        }
    return lines;
}

static void direct_loads_take_the_lines_that_are_told(void **state) {
    (void)state;
    for (size_t i = 0; i < NUM_DIRECT_TILES; ++i) {
        const direct_tile_t *t = &direct_tiles[i];
        const uint32_t steps = tcgemm_wmma_steps(t->bytes);
        if (t->lines_a == 0)
            continue;
        assert_int_equal(direct_lines(t->bytes, t->m / 8, 1), t->lines_a * steps);
        assert_int_equal(direct_lines(t->bytes, t->n / 8, 0), t->lines_b * steps);
    }
}

/* The accumulator: element x of a lane is of block x / 2, A's blocks first; its place in the block
 * is row g, column 2q + x % 2, or turned, row 2q + x % 2, column g. */
static void direct_products_cover_the_tile(void **state) {
    (void)state;
    for (size_t n = 0; n < NUM_DIRECT_TILES; ++n) {
        const direct_tile_t *t = &direct_tiles[n];
        const uint32_t blocks_a = t->m / 8, blocks_b = t->n / 8;
        const int turned = t->n == 32;
        const uint32_t rows = turned ? 2 : t->m / 8, cols = turned ? 4 : t->n / 4;
        unsigned char seen[32][32] = {{0}};
        for (uint32_t l = 0; l < 32; ++l)
            for (uint32_t r = 0; r < rows; ++r)
                for (uint32_t c = 0; c < cols; ++c) {
                    const uint32_t g = l / 4, q = l % 4;
                    const uint32_t x = turned       ? c * 2 + r
                                       : t->m == 16 ? c % 2 * 4 + r * 2 + c / 2
                                                    : r * 2 + c;
                    const uint32_t two = 2 * q + x % 2;
                    const uint32_t block_a = x / 2 % blocks_a, block_b = x / 2 / blocks_a;
                    const uint32_t row = tcgemm_wmma_outer(block_a, turned ? two : g, blocks_a);
                    const uint32_t col = tcgemm_wmma_outer(block_b, turned ? g : two, blocks_b);
                    assert_int_equal(row, (turned ? q : g) * rows + r);
                    assert_int_equal(col, (turned ? g : q) * cols + c);
                    assert_true(row < t->m && col < t->n && !seen[row][col]++);
                }
        for (uint32_t i = 0; i < t->m; ++i)
            for (uint32_t j = 0; j < t->n; ++j)
                assert_int_equal(seen[i][j], 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_the_instruction),
        cmocka_unit_test(k_is_permuted),
        cmocka_unit_test(outer_is_permuted),
        cmocka_unit_test(every_piece_has_its_own_place),
        cmocka_unit_test(rows_of_a_read_lie_in_their_own_banks),
        cmocka_unit_test(copies_are_whole_and_free_of_conflicts),
        cmocka_unit_test(shared_fragments_get_their_elements),
        cmocka_unit_test(shared_products_cover_the_warp_tile),
        cmocka_unit_test(direct_fragments_get_their_elements),
        cmocka_unit_test(direct_loads_take_the_lines_that_are_told),
        cmocka_unit_test(direct_products_cover_the_tile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
