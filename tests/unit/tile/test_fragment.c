/* Fragments: ldmatrix, the loads and the byte permutation played on the host, for every tile shape,
 * warp, step and unit: each lane gets the elements that its mma words stand for, without bank
 * conflicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tile_shapes.h"

/* One byte of shared memory, as the element it belongs to. */
typedef struct piece {
    uint16_t mn, k;
} piece_t;

typedef struct lane_words {
    piece_t byte[4][8]; /* word, byte */
} lane_words_t;

static piece_t *fill_tile(const tile_shape_t *t, int form) {
    piece_t *memory = malloc(tile_bytes(t) * sizeof *memory);
    assert_non_null(memory);
    const uint32_t pitch = tile_pitch(t, form), size = t->element_bytes;
    for (uint32_t mn = 0; mn < t->mn; ++mn)
        for (uint32_t k = 0; k < t->bk; ++k) {
            const uint32_t row = form == TCGEMM_FORM_K ? mn : k;
            const uint32_t along = (form == TCGEMM_FORM_K ? k : mn) * size;
            const uint32_t at = tcgemm_swizzle(form, size, pitch, row, along / 16) + along % 16;
            for (uint32_t b = 0; b < size; ++b)
                memory[at + b] = (piece_t){(uint16_t)mn, (uint16_t)k};
        }
    return memory;
}

static void copy_bytes(piece_t *to, const piece_t *memory, uint32_t at, uint32_t bytes) {
    memcpy(to, memory + at, bytes * sizeof *to);
}

/* How a side of an instruction is read. */
typedef struct reading {
    int side, form;
    int singles; /* f64, word by word */
} reading_t;

static const reading_t readings[] = {
    {TCGEMM_SIDE_A, TCGEMM_FORM_K, 0},  {TCGEMM_SIDE_B, TCGEMM_FORM_K, 0},
    {TCGEMM_SIDE_A, TCGEMM_FORM_MN, 0}, {TCGEMM_SIDE_B, TCGEMM_FORM_MN, 0},
    {TCGEMM_SIDE_A, TCGEMM_FORM_K, 1},  {TCGEMM_SIDE_B, TCGEMM_FORM_K, 1},
    {TCGEMM_SIDE_B, TCGEMM_FORM_MN, 1},
};
enum { NUM_READINGS = sizeof readings / sizeof *readings };

/* The first k, inside the step, of a word in half `half` of it; a word holds max(1, 4 /
 * element_bytes) of them. */
static uint32_t word_k(const reading_t *r, uint32_t element_bytes, uint32_t lane, uint32_t half) {
    const uint32_t q = lane & 3u;
    if (element_bytes == 8)
        return r->singles && r->form == TCGEMM_FORM_K ? 4u * half + q : 2u * q + half;
    return (16u * half + 4u * q) / element_bytes;
}

/* All 32 lanes load `bytes` each; the hardware serves 128 bytes at a time. */
static void expect_no_conflicts(const uint32_t at[32], uint32_t bytes) {
    const uint32_t lanes = 128 / bytes < 32 ? 128 / bytes : 32;
    for (uint32_t first = 0; first < 32; first += lanes)
        assert_true(free_of_conflicts(at + first, lanes, bytes));
}

/* ldmatrix.x4: register r of lane l holds, of matrix r, row l/4, columns 2(l%4) and the next; with
 * .trans column l/4, rows 2(l%4) and the next. */
static void ldmatrix(lane_words_t w[32], const piece_t *memory, const uint32_t at[32], int trans) {
    expect_no_conflicts(at, 16);
    for (uint32_t l = 0; l < 32; ++l)
        for (uint32_t r = 0; r < 4; ++r)
            for (uint32_t i = 0; i < 2; ++i) {
                const uint32_t two = 2 * (l % 4) + i;
                const uint32_t row = trans ? two : l / 4, col = trans ? l / 4 : two;
                copy_bytes(&w[l].byte[r][2 * i], memory, at[8 * r + row] + 2 * col, 2);
            }
}

/* prmt of registers x and y: bytes 0, 2 of both or 1, 3 of both. */
static void bytes_to_words(int side, lane_words_t *w) {
    const lane_words_t two = *w;
    for (uint32_t word = 0; word < 4; ++word) {
        const uint32_t mn_half = tcgemm_fragment_mn_half(side, word);
        const uint32_t k_half = tcgemm_fragment_k_half(side, word);
        for (uint32_t b = 0; b < 4; ++b)
            w->byte[word][b] = two.byte[2 * k_half + b / 2][2 * (b % 2) + mn_half];
    }
}

static uint32_t word_of(int side, uint32_t mn_half, uint32_t k_half) {
    for (uint32_t word = 0; word < 4; ++word)
        if (tcgemm_fragment_mn_half(side, word) == mn_half &&
            tcgemm_fragment_k_half(side, word) == k_half)
            return word;
    fail();
    return 0;
}

static void read_unit(lane_words_t w[32], const piece_t *memory, const tile_shape_t *t,
                      const reading_t *r, uint32_t first, uint32_t step, uint32_t unit) {
    const int side = r->side, form = r->form;
    const uint32_t size = t->element_bytes, pitch = tile_pitch(t, form);
    const uint32_t second = tcgemm_fragment_second_row(form, size) * pitch;
    uint32_t lane_at[32], at[32], next[32];
    for (uint32_t l = 0; l < 32; ++l) {
        lane_at[l] = tcgemm_fragment_lane_at(side, form, size, r->singles, pitch, l, first);
        at[l] = tcgemm_fragment_at(form, size, pitch, lane_at[l], step, unit, 0);
    }
    if (r->singles) {
        const uint32_t more = form == TCGEMM_FORM_K ? 4 * size : 8 * size;
        for (uint32_t word = 0; word < 4; ++word) {
            const uint32_t mn_half = tcgemm_fragment_mn_half(side, word);
            const uint32_t k_half = tcgemm_fragment_k_half(side, word);
            const uint32_t row = form == TCGEMM_FORM_K ? mn_half : k_half;
            const uint32_t along = form == TCGEMM_FORM_K ? k_half : mn_half;
            for (uint32_t l = 0; l < 32; ++l) {
                next[l] =
                    tcgemm_fragment_at(form, size, pitch, lane_at[l], step, unit, along * more) +
                    row * second;
                copy_bytes(w[l].byte[word], memory, next[l], 8);
            }
            expect_no_conflicts(next, 8);
        }
    } else if (size == 8) {
        for (uint32_t half = 0; half < 2; ++half) {
            for (uint32_t l = 0; l < 32; ++l) {
                next[l] = at[l] + half * second;
                for (uint32_t i = 0; i < 2; ++i)
                    copy_bytes(w[l].byte[form == TCGEMM_FORM_K ? word_of(side, half, i)
                                                               : word_of(side, i, half)],
                               memory, next[l] + 8 * i, 8);
            }
            expect_no_conflicts(next, 16);
        }
    } else if (size == 4 && form == TCGEMM_FORM_MN) {
        for (uint32_t half = 0; half < 2; ++half)
            for (uint32_t other = 0; other < (side == TCGEMM_SIDE_A ? 1 : 2); ++other) {
                for (uint32_t l = 0; l < 32; ++l)
                    if (side == TCGEMM_SIDE_A) { /* two m of k half `half` */
                        next[l] = at[l] + half * second;
                        copy_bytes(w[l].byte[word_of(side, 0, half)], memory, next[l], 4);
                        copy_bytes(w[l].byte[word_of(side, 1, half)], memory, next[l] + 4, 4);
                    } else { /* n half `half`, k half `other` */
                        next[l] = tcgemm_fragment_at(form, size, pitch, lane_at[l], step, unit,
                                                     half * 32) +
                                  other * second;
                        copy_bytes(w[l].byte[word_of(side, half, other)], memory, next[l], 4);
                    }
                expect_no_conflicts(next, side == TCGEMM_SIDE_A ? 8 : 4);
            }
    } else {
        ldmatrix(w, memory, at, form == TCGEMM_FORM_MN);
        for (uint32_t l = 0; l < 32 && size == 1 && form == TCGEMM_FORM_MN; ++l)
            bytes_to_words(side, &w[l]);
    }
}

/* Every word of every lane, of one unit and step, is the element that the instruction takes. */
static void expect_elements(const tile_shape_t *t, const reading_t *r, const piece_t *memory,
                            uint32_t first, uint32_t step, uint32_t unit) {
    const uint32_t size = t->element_bytes;
    const uint32_t step_k = tcgemm_fragment_step_bytes(size) / size;
    lane_words_t w[32];
    read_unit(w, memory, t, r, first, step, unit);
    for (uint32_t l = 0; l < 32; ++l)
        for (uint32_t word = 0; word < 4; ++word)
            for (uint32_t b = 0; b < (size == 8 ? 8 : 4); ++b) {
                const uint32_t mn_half = tcgemm_fragment_mn_half(r->side, word);
                const uint32_t k_half = tcgemm_fragment_k_half(r->side, word);
                const uint32_t mn = first + tcgemm_fragment_mn(r->side, r->form, size, r->singles,
                                                               unit, mn_half, l / 4);
                const uint32_t k = step * step_k + word_k(r, size, l, k_half) + b / size;
                assert_int_equal(w[l].byte[word][b].mn, mn);
                assert_int_equal(w[l].byte[word][b].k, k);
            }
}

static void lanes_get_their_elements(void **state) {
    (void)state;
    for (size_t s = 0; s < NUM_TILE_SHAPES; ++s)
        for (size_t i = 0; i < NUM_READINGS; ++i) {
            const tile_shape_t *t = &tile_shapes[s];
            const reading_t *r = &readings[i];
            const uint32_t size = t->element_bytes;
            if (r->singles && size != 8)
                continue;
            piece_t *memory = fill_tile(t, r->form);
            for (uint32_t first = 0; first < t->mn; first += t->warp)
                for (uint32_t step = 0; step < t->bk * size / tcgemm_fragment_step_bytes(size);
                     ++step)
                    for (uint32_t unit = 0; unit < t->warp / 16; ++unit)
                        expect_elements(t, r, memory, first, step, unit);
            free(memory);
        }
}

static void maps_are_bijective(void **state) {
    (void)state;
    for (uint32_t size = 1; size <= 8; size *= 2)
        for (size_t r = 0; r < NUM_READINGS; ++r) {
            if (readings[r].singles && size != 8)
                continue;
            unsigned char rows[64] = {0}, ks[32] = {0};
            for (uint32_t i = 0; i < 64; ++i) {
                const uint32_t mn =
                    tcgemm_fragment_mn(readings[r].side, readings[r].form, size,
                                       readings[r].singles, i / 16, i / 8 % 2, i % 8);
                assert_true(mn < 64 && mn / 16 == i / 16 && !rows[mn]++);
            }
            const uint32_t in_a_word = size < 4 ? 4 / size : 1;
            for (uint32_t q = 0; q < 4; ++q)
                for (uint32_t half = 0; half < 2; ++half)
                    for (uint32_t i = 0; i < in_a_word; ++i) {
                        const uint32_t k = word_k(&readings[r], size, q, half) + i;
                        assert_true(k < 8 * in_a_word && !ks[k]++);
                    }
        }
}

/* Both sides of an m16n8k16 of f64 have the same k in the same word. */
static void both_sides_agree_on_k(void **state) {
    (void)state;
    for (int a_form = 0; a_form < 2; ++a_form)
        for (int b_form = 0; b_form < 2; ++b_form) {
            if (a_form == TCGEMM_FORM_K && b_form == TCGEMM_FORM_MN)
                continue; /* the transposed product instead */
            const reading_t a = {TCGEMM_SIDE_A, a_form,
                                 tcgemm_fragment_singles(TCGEMM_SIDE_A, a_form, b_form)};
            const reading_t b = {TCGEMM_SIDE_B, b_form,
                                 tcgemm_fragment_singles(TCGEMM_SIDE_B, a_form, b_form)};
            for (uint32_t lane = 0; lane < 32; ++lane)
                for (uint32_t half = 0; half < 2; ++half)
                    assert_int_equal(word_k(&a, 8, lane, half), word_k(&b, 8, lane, half));
        }
}

static void accumulators_cover_the_product(void **state) {
    (void)state;
    unsigned char seen[16][8] = {{0}};
    for (uint32_t lane = 0; lane < 32; ++lane)
        for (uint32_t c = 0; c < 4; ++c) {
            const uint32_t row = tcgemm_fragment_c_row(lane, c);
            const uint32_t col = tcgemm_fragment_c_col(lane, c);
            assert_true(row < 16 && col < 8 && !seen[row][col]++);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_get_their_elements),
        cmocka_unit_test(maps_are_bijective),
        cmocka_unit_test(both_sides_agree_on_k),
        cmocka_unit_test(accumulators_cover_the_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
