/* The copies of mma-pipelined: every chunk of a tile exactly once, to its place, in all parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tile/copy.h"
#include "tile_shapes.h"

static tcgemm_copy_shape_t shape_of(const tile_shape_t *t, int form) {
    return tcgemm_copy_shape(form, t->element_bytes, t->mn, t->bk, t->threads);
}

static void every_chunk_once(void **state) {
    (void)state;
    for (size_t i = 0; i < NUM_TILE_SHAPES; ++i)
        for (int form = 0; form < 2; ++form) {
            const tile_shape_t *t = &tile_shapes[i];
            const tcgemm_copy_shape_t s = shape_of(t, form);
            assert_int_equal(s.pitch, tile_pitch(t, form));
            assert_int_equal(s.rows, tile_rows(t, form));
            assert_int_equal(s.bytes, tile_bytes(t));
            unsigned char *seen = calloc(s.bytes / 16, 1);
            assert_non_null(seen);
            for (uint32_t pass = 0; pass < s.passes; ++pass)
                for (uint32_t thread = 0; thread < t->threads; ++thread) {
                    const uint32_t row = tcgemm_copy_row(&s, thread, pass);
                    const uint32_t chunk = tcgemm_copy_chunk(&s, thread);
                    const uint32_t to = tcgemm_copy_to(form, t->element_bytes, &s, thread, pass);
                    assert_true(row < s.rows && chunk < s.chunks);
                    assert_int_equal(to,
                                     tcgemm_swizzle(form, t->element_bytes, s.pitch, row, chunk));
                    assert_true(to % 16 == 0 && to < s.bytes && !seen[to / 16]++);
                }
            for (uint32_t c = 0; c < s.bytes / 16; ++c)
                assert_int_equal(seen[c], 1);
            free(seen);
        }
}

static void parts_are_all_passes(void **state) {
    (void)state;
    for (uint32_t passes = 1; passes <= 32; ++passes)
        for (uint32_t parts = 1; parts <= 8; ++parts) {
            assert_int_equal(tcgemm_copy_first_pass(passes, 0, parts), 0);
            assert_int_equal(tcgemm_copy_first_pass(passes, parts, parts), passes);
            for (uint32_t part = 0; part < parts; ++part)
                assert_true(tcgemm_copy_first_pass(passes, part, parts) <=
                            tcgemm_copy_first_pass(passes, part + 1, parts));
        }
}

/* Summed over all chunks, the bytes inside are those of the part of the matrix in the tile. */
static void bytes_inside(void **state) {
    (void)state;
    for (int form = 0; form < 2; ++form)
        for (int64_t mn = -3; mn < 70; mn += 7)
            for (int64_t k = 0; k < 40; k += 3) {
                const tcgemm_copy_shape_t s = tcgemm_copy_shape(form, 2, 64, 32, 128);
                int64_t bytes = 0;
                for (uint32_t row = 0; row < s.rows; ++row)
                    for (uint32_t chunk = 0; chunk < s.chunks; ++chunk)
                        bytes += tcgemm_copy_bytes(form, 2, row, chunk, mn, k);
                const int64_t rows = mn < 0 ? 0 : mn < 64 ? mn : 64, depth = k < 32 ? k : 32;
                assert_int_equal(bytes, 2 * rows * depth);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunk_once),
        cmocka_unit_test(parts_are_all_passes),
        cmocka_unit_test(bytes_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
