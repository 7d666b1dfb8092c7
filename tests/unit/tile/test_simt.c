/* The f32 kernel without tensor cores: copies fill the tile once, in every way of copying, without
 * bank conflicts where the header says so; lanes share out D. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tile/simt.h"

enum { MN = 128, THREADS = 256 };

/* Where each (row, k) of a tile goes, by all threads and passes. */
static void every_element_once(void **state) {
    (void)state;
    for (int turn = 0; turn < 2; ++turn)
        for (int wide = 0; wide < 2; ++wide) {
            const tcgemm_simt_copy_t c = tcgemm_simt_copy(MN, turn, wide, THREADS);
            unsigned char seen[TCGEMM_SIMT_BK][MN];
            memset(seen, 0, sizeof seen);
            for (uint32_t thread = 0; thread < THREADS; ++thread)
                for (uint32_t pass = 0; pass < c.passes; ++pass)
                    for (uint32_t e = 0; e < c.run; ++e) {
                        const uint32_t row0 = tcgemm_simt_copy_row(&c, turn, thread);
                        const uint32_t k0 = tcgemm_simt_copy_k(&c, turn, thread);
                        const uint32_t row = row0 + (turn ? pass * c.down : e);
                        const uint32_t k = k0 + (turn ? e : pass * c.down);
                        const uint32_t to = k0 * c.pitch + tcgemm_simt_place(turn, row0, k0) +
                                            pass * c.pass_floats + (turn ? e * c.pitch : e);
                        assert_true(row < MN && k < TCGEMM_SIMT_BK);
                        assert_int_equal(to, k * c.pitch + tcgemm_simt_place(turn, row, k));
                        assert_false(seen[k][row]++);
                    }
            for (uint32_t k = 0; k < TCGEMM_SIMT_BK; ++k)
                for (uint32_t row = 0; row < MN; ++row)
                    assert_int_equal(seen[k][row], 1);
        }
}

/* The 32 stores of a warp that turns its runs round meet 32 banks. */
static void turned_stores_have_no_conflicts(void **state) {
    (void)state;
    const tcgemm_simt_copy_t c = tcgemm_simt_copy(MN, 1, 1, THREADS);
    for (uint32_t warp = 0; warp < THREADS / 32; ++warp)
        for (uint32_t e = 0; e < 4; ++e) {
            uint32_t banks = 0;
            for (uint32_t thread = 32 * warp; thread < 32 * warp + 32; ++thread) {
                const uint32_t k = tcgemm_simt_copy_k(&c, 1, thread);
                const uint32_t to = (k + e) * c.pitch +
                                    tcgemm_simt_place(1, tcgemm_simt_copy_row(&c, 1, thread), k);
                banks |= UINT32_C(1) << to % 32;
            }
            assert_int_equal(banks, UINT32_MAX);
        }
}

static void lanes_share_out_d(void **state) {
    (void)state;
    for (uint32_t wn = 32; wn <= 64; wn *= 2) {
        static unsigned char seen[MN][MN];
        memset(seen, 0, sizeof seen);
        const uint32_t warps_n = MN / wn;
        for (uint32_t warp = 0; warp < 2 * warps_n; ++warp)
            for (uint32_t lane = 0; lane < 32; ++lane)
                for (uint32_t i = 0; i < 8; ++i)
                    for (uint32_t j = 0; j < wn / 4; ++j)
                        ++seen[tcgemm_simt_row(warp, warps_n, lane) + tcgemm_simt_row_step(i)]
                              [tcgemm_simt_col(warp, warps_n, wn, lane) + tcgemm_simt_col_step(j)];
        for (uint32_t i = 0; i < MN * MN; ++i)
            assert_int_equal(seen[i / MN][i % MN], 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_once),
        cmocka_unit_test(turned_stores_have_no_conflicts),
        cmocka_unit_test(lanes_share_out_d),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
