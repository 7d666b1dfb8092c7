/* The way out of mma-pipelined: the lanes store each element of their 16 lines once, in whole
 * pieces, and the warps stay apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tile/epilogue.h"

static void every_element_once(void **state) {
    (void)state;
    for (uint32_t wn = 16; wn <= 128; wn *= 2)
        for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
            const uint32_t lanes = tcgemm_epilogue_lanes(wn, bytes);
            const uint32_t piece = tcgemm_epilogue_piece(bytes);
            if (lanes > 32)
                continue; /* no kernel has one */
            unsigned char seen[TCGEMM_EPILOGUE_LINES][128];
            memset(seen, 0, sizeof seen);
            for (uint32_t lane = 0; lane < 32; ++lane)
                for (uint32_t line = tcgemm_epilogue_line(lane, lanes);
                     line < TCGEMM_EPILOGUE_LINES; line += tcgemm_epilogue_line_step(lanes))
                    for (uint32_t i = 0; i < piece; ++i)
                        ++seen[line][tcgemm_epilogue_col(lane, lanes, bytes) + i];
            for (uint32_t line = 0; line < TCGEMM_EPILOGUE_LINES; ++line)
                for (uint32_t col = 0; col < wn; ++col)
                    assert_int_equal(seen[line][col], 1);
        }
}

static void lines_are_apart_and_aligned(void **state) {
    (void)state;
    for (uint32_t wn = 16; wn <= 128; wn *= 2)
        for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
            const uint32_t pitch = tcgemm_epilogue_pitch(wn, bytes);
            assert_true(pitch >= wn && pitch * bytes % 16 == 0);
            assert_int_equal(tcgemm_epilogue_bytes(wn, bytes), 16 * pitch * bytes);
        }
    assert_int_equal(tcgemm_epilogue_bytes(64, 4), 4608); /* mma_pipelined.cuh says so */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_once),
        cmocka_unit_test(lines_are_apart_and_aligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
