/* Packed panels: every lane has a place of its own, panels follow each other without gaps, and
 * units cover a block once, down the rows first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/panel.h"

static void lanes_have_their_places(void **state) {
    (void)state;
    for (int width = 1; width <= 12; ++width)
        for (int64_t k = 1; k <= 20; ++k)
            for (int ku = 1; ku <= 4; ku *= 2) {
                const int64_t steps = tcgemm_panel_steps(k, ku);
                assert_true(steps * ku >= k && (steps - 1) * ku < k);
                unsigned char seen[3 * 12 * 20] = {0};
                for (int64_t panel = 0; panel < 3; ++panel)
                    for (int64_t step = 0; step < steps; ++step)
                        for (int line = 0; line < width; ++line) {
                            const int64_t at = tcgemm_panel_at(panel * width, steps, 4) / 4 +
                                               tcgemm_panel_lane(step, line, width);
                            assert_true(at < 3 * width * steps && !seen[at]++);
                        }
            }
}

static void units_cover_a_block(void **state) {
    (void)state;
    for (int64_t rows = 1; rows <= 20; ++rows)
        for (int64_t cols = 1; cols <= 20; ++cols) {
            unsigned char seen[20][20];
            memset(seen, 0, sizeof seen);
            const int64_t mc = 1 + rows % 7, nb = 1 + cols % 5;
            int64_t last_col = 0;
            for (int64_t u = 0; u < tcgemm_unit_count(rows, cols, mc, nb); ++u) {
                const tcgemm_unit_t at = tcgemm_unit_at(u, rows, mc, nb);
                assert_true(at.col >= last_col);
                last_col = at.col;
                for (int64_t i = at.row; i < at.row + mc && i < rows; ++i)
                    for (int64_t j = at.col; j < at.col + nb && j < cols; ++j)
                        ++seen[i][j];
            }
            for (int64_t i = 0; i < rows; ++i)
                for (int64_t j = 0; j < cols; ++j)
                    assert_int_equal(seen[i][j], 1);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_have_their_places),
        cmocka_unit_test(units_cover_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
