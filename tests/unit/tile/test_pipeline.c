/* The blocks of k: they cover it, and none is empty. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tile/pipeline.h"

static void blocks_cover_k(void **state) {
    (void)state;
    for (int64_t k = 1; k <= 1000; ++k)
        for (uint32_t bk = 16; bk <= 128; bk *= 2) {
            const int64_t blocks = tcgemm_pipeline_blocks(k, bk);
            assert_true(blocks * bk >= k && (blocks - 1) * bk < k);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_cover_k)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
