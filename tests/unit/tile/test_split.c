/* Shares of blocks of k: every one belongs to one rank, in order, and none has two more than
 * another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tile/split.h"

static void shares_are_whole_and_even(void **state) {
    (void)state;
    for (uint32_t ranks = 1; ranks <= 8; ++ranks)
        for (uint32_t count = 0; count < 100; ++count) {
            uint32_t next = 0;
            for (uint32_t rank = 0; rank < ranks; ++rank) {
                const tcgemm_share_t share = tcgemm_share_of(count, rank, ranks);
                assert_int_equal(share.first, next);
                assert_true(share.count == count / ranks || share.count == count / ranks + 1);
                next += share.count;
            }
            assert_int_equal(next, count);
        }
}

static void large_counts_do_not_wrap(void **state) {
    (void)state;
    const tcgemm_share_t last = tcgemm_share_of(UINT32_MAX, 7, 8);
    assert_int_equal(last.first + last.count, UINT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_whole_and_even),
        cmocka_unit_test(large_counts_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
