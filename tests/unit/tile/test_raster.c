/* The order of the tiles: every tile of every grid once, groups as drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tile/raster.h"

enum { MOST = 40 };

static void every_tile_is_visited_once(void **state) {
    (void)state;
    static unsigned char seen[MOST * MOST];
    for (uint32_t m = 1; m <= MOST; ++m)
        for (uint32_t n = 1; n <= MOST; ++n)
            for (uint32_t group = 0; group <= MOST + 1; ++group) {
                const tcgemm_raster_t r = tcgemm_raster_of(m, n, group);
                memset(seen, 0, sizeof seen);
                for (uint32_t i = 0; i < m * n; ++i) {
                    const tcgemm_tile_coord_t at = tcgemm_raster(&r, i);
                    if (at.m >= m || at.n >= n || seen[at.m * MOST + at.n]++)
                        fail_msg("grid %u x %u, group %u: tile %u", m, n, group, i);
                    if (tcgemm_raster_index(&r, at) != i)
                        fail_msg("grid %u x %u, group %u: no way back to %u", m, n, group, i);
                }
            }
}

static void the_picture_is_right(void **state) {
    (void)state;
    static const uint32_t picture[5][3] = {
        {0, 2, 4}, {1, 3, 5}, {6, 8, 10}, {7, 9, 11}, {12, 13, 14}};
    const tcgemm_raster_t r = tcgemm_raster_of(5, 3, 2);
    for (uint32_t i = 0; i < 15; ++i) {
        const tcgemm_tile_coord_t at = tcgemm_raster(&r, i);
        assert_int_equal(picture[at.m][at.n], i);
    }
}

static void a_batch_is_one_grid_after_the_other(void **state) {
    (void)state;
    const tcgemm_raster_t r = tcgemm_raster_of(5, 3, 2);
    for (uint32_t tile = 0; tile < 7 * 15; ++tile) {
        const tcgemm_batch_tile_t found = tcgemm_batch_raster(&r, tile);
        const tcgemm_tile_coord_t at = tcgemm_raster(&r, tile % 15);
        assert_int_equal(found.batch, tile / 15);
        assert_int_equal(found.at.m, at.m);
        assert_int_equal(found.at.n, at.n);
    }
}

static void large_grids_do_not_overflow(void **state) {
    (void)state;
    const uint32_t m = 65535, n = 32768;
    const tcgemm_raster_t r = tcgemm_raster_of(m, n, 8);
    const tcgemm_tile_coord_t last = tcgemm_raster(&r, m * n - 1);
    assert_int_equal(last.m, m - 1);
    assert_int_equal(last.n, n - 1);
    assert_int_equal(tcgemm_raster_index(&r, last), m * n - 1);
}

static void quotients_are_exact(void **state) {
    (void)state;
    uint32_t x = 1; /* xorshift */
    for (uint32_t i = 0; i < 2000; ++i) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        const uint32_t by = i < 1000   ? i + 1
                            : i < 1033 ? (uint32_t)(((uint64_t)1 << (i - 1000)) - 1)
                                       : x;
        const tcgemm_divisor_t d = tcgemm_divisor_of(by);
        const uint32_t least = by ? by : 1;
        assert_int_equal(d.by, least);
        for (uint32_t j = 0; j < 300; ++j) {
            x ^= x << 13, x ^= x >> 17, x ^= x << 5;
            const uint32_t near = UINT32_MAX / least * least; /* where quotients step */
            const uint32_t n = j < 100 ? j : j < 200 ? x : near + (j - 250);
            assert_int_equal(tcgemm_divide(n, d), n / least);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tile_is_visited_once),
        cmocka_unit_test(the_picture_is_right),
        cmocka_unit_test(a_batch_is_one_grid_after_the_other),
        cmocka_unit_test(large_grids_do_not_overflow),
        cmocka_unit_test(quotients_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
