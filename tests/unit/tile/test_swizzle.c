/* The swizzle: a permutation of every tile, linear, and harmless to the writes of the copy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tile_shapes.h"

static void every_chunk_has_its_own_place(void **state) {
    (void)state;
    for (size_t s = 0; s < NUM_TILE_SHAPES; ++s)
        for (int form = 0; form < 2; ++form) {
            const tile_shape_t *t = &tile_shapes[s];
            const uint32_t pitch = tile_pitch(t, form), chunks = tile_bytes(t) / 16;
            unsigned char *seen = calloc(chunks, 1);
            assert_non_null(seen);
            for (uint32_t row = 0; row < tile_rows(t, form); ++row)
                for (uint32_t chunk = 0; chunk < pitch / 16; ++chunk) {
                    const uint32_t at = tcgemm_swizzle(form, t->element_bytes, pitch, row, chunk);
                    assert_int_equal(at % 16, 0);
                    assert_int_equal(at / pitch, row);
                    assert_true(at / 16 < chunks && !seen[at / 16]++);
                }
            free(seen);
        }
}

static void keys_are_linear_and_small(void **state) {
    (void)state;
    static const uint32_t bytes[] = {1, 2, 4, 8};
    for (int b = 0; b < 4; ++b)
        for (int form = 0; form < 2; ++form)
            for (uint32_t pitch = 64; pitch <= 2048; pitch *= 2)
                for (uint32_t x = 0; x < 64; ++x)
                    for (uint32_t y = 0; y < 64; ++y) {
                        const uint32_t kx = tcgemm_swizzle_key(form, bytes[b], pitch, x);
                        const uint32_t ky = tcgemm_swizzle_key(form, bytes[b], pitch, y);
                        assert_int_equal(tcgemm_swizzle_key(form, bytes[b], pitch, x ^ y), kx ^ ky);
                        assert_true(kx < (pitch < 128 ? 4u : 8u));
                    }
}

/* The copy: thread -> (row, chunk) as in operand_copy, 16 bytes each, eight threads a cycle. A pass
 * moves down by whole keys, or flips the chunk by the key of its first row. */
static void writes_are_free_of_conflicts(void **state) {
    (void)state;
    for (size_t s = 0; s < NUM_TILE_SHAPES; ++s)
        for (int form = 0; form < 2; ++form) {
            const tile_shape_t *t = &tile_shapes[s];
            const uint32_t pitch = tile_pitch(t, form), chunks = pitch / 16;
            const uint32_t rows_a_pass = t->threads / chunks;
            assert_true(rows_a_pass > 0 && tile_rows(t, form) % rows_a_pass == 0);
            for (uint32_t pass = 0; pass < tile_rows(t, form) / rows_a_pass; ++pass)
                for (uint32_t first = 0; first < t->threads; first += 8) {
                    uint32_t at[8];
                    for (uint32_t i = 0; i < 8; ++i) {
                        const uint32_t row = (first + i) / chunks, chunk = (first + i) % chunks;
                        const uint32_t to =
                            tcgemm_swizzle(form, t->element_bytes, pitch, row, chunk);
                        const uint32_t key =
                            tcgemm_swizzle_key(form, t->element_bytes, pitch, pass * rows_a_pass);
                        at[i] = (to ^ key << 4) + pass * rows_a_pass * pitch;
                        assert_int_equal(at[i], tcgemm_swizzle(form, t->element_bytes, pitch,
                                                               row + pass * rows_a_pass, chunk));
                    }
                    assert_true(free_of_conflicts(at, 8, 16));
                }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunk_has_its_own_place),
        cmocka_unit_test(keys_are_linear_and_small),
        cmocka_unit_test(writes_are_free_of_conflicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
