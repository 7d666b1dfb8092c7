/* The ring of slots: played through, no slot is overwritten while it is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tile/pipeline.h"

static void slots_follow_each_other(void **state) {
    (void)state;
    for (uint32_t stages = 2; stages <= 8; ++stages) {
        uint32_t slot = 0;
        for (uint32_t block = 0; block < 100; ++block) {
            assert_int_equal(tcgemm_pipeline_slot(block, stages), slot);
            slot = tcgemm_pipeline_next(slot, stages);
        }
    }
}

/* As the kernels do: lead, then in block b ask for b + lead, wait for b + 1, multiply b. */
static void a_ring_that_is_played_through(void **state) {
    (void)state;
    for (uint32_t stages = 2; stages <= 8; ++stages)
        for (uint32_t blocks = 1; blocks <= 40; ++blocks) {
            uint32_t holds[8] = {0}, committed = 0;
            for (; committed < tcgemm_pipeline_lead(stages); ++committed)
                holds[tcgemm_pipeline_slot(committed, stages)] = committed;
            assert_int_equal(tcgemm_pipeline_pending(committed, 0), stages - 2);
            for (uint32_t block = 0; block < blocks; ++block) {
                const uint32_t into = tcgemm_pipeline_slot(committed, stages);
                assert_int_not_equal(into, tcgemm_pipeline_slot(block, stages));
                holds[into] = committed++;
                assert_int_equal(tcgemm_pipeline_pending(committed, block + 1), stages - 2);
                assert_int_equal(holds[tcgemm_pipeline_slot(block, stages)], block);
            }
        }
}

static void parity_flips_when_the_ring_wraps(void **state) {
    (void)state;
    for (uint32_t stages = 1; stages <= 8; ++stages) {
        uint32_t uses[8] = {0};
        for (uint32_t block = 0; block < 100; ++block) {
            const uint32_t slot = tcgemm_pipeline_slot(block, stages);
            assert_int_equal(tcgemm_pipeline_parity(block, stages), uses[slot]++ & 1u);
        }
    }
}

static void blocks_cover_k(void **state) {
    (void)state;
    for (int64_t k = 1; k <= 1000; ++k)
        for (uint32_t bk = 16; bk <= 128; bk *= 2) {
            const int64_t blocks = tcgemm_pipeline_blocks(k, bk);
            assert_true(blocks * bk >= k && (blocks - 1) * bk < k);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_follow_each_other),
        cmocka_unit_test(a_ring_that_is_played_through),
        cmocka_unit_test(parity_flips_when_the_ring_wraps),
        cmocka_unit_test(blocks_cover_k),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
