/* Products as a processor multiplies them whose caches hold next to nothing: what is done for
 * matrices that lie in memory, on such as are small enough for the reference. With first caches of
 * eight and of twelve ways, and prefetchers that follow streams or do not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "host/caches.h"
#include "host/features.h"
#include "support/oracle.h"
#include "support/testcase.h"

enum { FAR_BYTES = 64 << 10, WAY_BYTES = 4096 };

static struct {
    int ways; /* of the first cache */
    bool follows_streams;
} played;

size_t __wrap_tcgemm_far_bytes(void);
size_t __wrap_tcgemm_far_bytes(void) {
    return FAR_BYTES;
}

tcgemm_ways_t __wrap_tcgemm_first_level(void);
tcgemm_ways_t __wrap_tcgemm_first_level(void) {
    return (tcgemm_ways_t){played.ways, WAY_BYTES};
}

bool __wrap_tcgemm_cpu_follows_streams(void);
bool __wrap_tcgemm_cpu_follows_streams(void) {
    return played.follows_streams;
}

/* Few rows, or columns, beside a matrix of at least 2^18 elements, or anything; one in three with
 * lines that share a set of the first cache. */
static testcase_t random_case(uint64_t seed, tcgemm_type_t type) {
    uint64_t random = seed * 1000 + (uint64_t)type;
    const bool is_any = random_below(&random, 4) == 0;
    const int64_t few = 1 + random_below(&random, random_below(&random, 2) ? 16 : 210);
    const int64_t many = is_any ? 1 + random_below(&random, 300) : 512 + random_below(&random, 150);
    const int64_t k = is_any ? 1 + random_below(&random, 900) : 512 + random_below(&random, 200);
    const bool are_rows = random_below(&random, 3) != 0;
    testcase_t t = testcase_make(
        NULL, tcgemm_problem(type, are_rows ? few : many, are_rows ? many : few, k), random);
    testcase_draw(&t, &random);
    if (random_below(&random, 3) == 0)
        t.p.lda = t.p.ldb = 16 * WAY_BYTES / oracle_bits(tcgemm_type_info(type)->a);
    return t;
}

/* More of those whose tiles leave panels of B, which few draws come to. */
static int64_t times_of(tcgemm_type_t type) {
    return type == TCGEMM_F32_F32 || type == TCGEMM_F64_F64 ? 4 : 1;
}

static void products_from_memory_are_right(void **state) {
    static const int ways[] = {8, 12};
    (void)state;
    for (int w = 0; w < 4; ++w) {
        played.ways = ways[w & 1];
        played.follows_streams = w & 2;
        for (int type = 1; type <= tcgemm_type_count(); ++type)
            for (int64_t i = 0; i < at_level(3, 12, 200) * times_of((tcgemm_type_t)type); ++i) {
                const testcase_t t = random_case((uint64_t)(4 * i + w), (tcgemm_type_t)type);
                (void)testcase_check(&t);
            }
    }
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_from_memory_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
