/* Each way of a few rows or columns (cpu/ways.h), whether or not this processor is the one that it
 * is soonest on, and the one that is chosen, on each processor that chooses otherwise: against the
 * reference, and where ways sum in the order of k bit for bit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/ways.h"
#include "host/caches.h"
#include "support/oracle.h"
#include "support/testcase.h"

/* The processor that is played; what its kernels need is this one's. */
typedef struct processor {
    int ways; /* of the first cache */
    bool is_zen4, is_zen5, is_intel;
} processor_t;

static const processor_t zen4 = {.ways = 8, .is_zen4 = true}, zen5 = {.ways = 12, .is_zen5 = true},
                         xeon = {.ways = 12, .is_intel = true}, unmeasured = {.ways = 12};
static processor_t played;

tcgemm_ways_t __wrap_tcgemm_first_level(void);
tcgemm_ways_t __wrap_tcgemm_first_level(void) {
    return (tcgemm_ways_t){played.ways, 4096};
}

bool __wrap_tcgemm_cpu_is_zen4(void);
bool __wrap_tcgemm_cpu_is_zen4(void) {
    return played.is_zen4;
}

bool __wrap_tcgemm_cpu_is_zen5(void);
bool __wrap_tcgemm_cpu_is_zen5(void) {
    return played.is_zen5;
}

bool __wrap_tcgemm_cpu_is_intel(void);
bool __wrap_tcgemm_cpu_is_intel(void) {
    return played.is_intel;
}

static testcase_t random_case(uint64_t seed, tcgemm_type_t type) {
    uint64_t random = seed * 1000 + (uint64_t)type;
    const int64_t few = 1 + random_below(&random, random_below(&random, 4) ? 12 : 36);
    const int64_t many = 1 + random_below(&random, random_below(&random, 3) ? 70 : 300);
    const int64_t k = 1 + random_below(&random, random_below(&random, 4) ? 80 : 700);
    const bool are_rows = random_below(&random, 2);
    testcase_t t = testcase_make(
        NULL, tcgemm_problem(type, are_rows ? few : many, are_rows ? many : few, k), random);
    testcase_draw(&t, &random);
    return t;
}

static void all_ways_are_right_on(processor_t processor) {
    played = processor;
    for (tcgemm_cpu_way_t way = TCGEMM_WAY_TILES; way <= TCGEMM_NUM_WAYS; ++way) {
        tcgemm_forced_way = way;
        for (int type = 1; type <= tcgemm_type_count(); ++type)
            for (int64_t i = 0; i < at_level(12, 60, 600); ++i) {
                if (oracle_bits(tcgemm_type_info((tcgemm_type_t)type)->a) < 8)
                    break; /* has no other way, and rows of whole words */
                const testcase_t t = random_case((uint64_t)i, (tcgemm_type_t)type);
                (void)testcase_check(&t);
            }
    }
    tcgemm_forced_way = TCGEMM_NUM_WAYS;
    assert_no_failures();
}

static void all_ways_are_right(void **state) {
    (void)state;
    all_ways_are_right_on(zen4);
    all_ways_are_right_on(zen5);
    all_ways_are_right_on(xeon);
    all_ways_are_right_on(unmeasured);
}

/* So that what is taken for its speed does not change what comes out. */
static void f32_and_f64_have_the_bits_of_tiles(void **state) {
    (void)state;
    static const tcgemm_cpu_way_t ways[] = {TCGEMM_WAY_DOTS, TCGEMM_WAY_PARTS, TCGEMM_WAY_ACROSS};
    for (int64_t i = 0; i < at_level(40, 200, 2000); ++i) {
        const testcase_t t = random_case((uint64_t)i, i & 1 ? TCGEMM_F32_F32 : TCGEMM_F64_F64);
        operands_t tiles, other;
        operands_make(&t, &tiles);
        operands_make(&t, &other);
        tcgemm_forced_way = TCGEMM_WAY_TILES;
        assert_int_equal(testcase_run_on(&t, &tiles), TCGEMM_STATUS_OK);
        for (size_t w = 0; w < sizeof ways / sizeof *ways; ++w) {
            tcgemm_forced_way = ways[w];
            assert_int_equal(testcase_run_on(&t, &other), TCGEMM_STATUS_OK);
            if (memcmp(tiles.d.block, other.d.block, tiles.d.block_bytes) != 0)
                testcase_fail(&t, "way %d has other bits than tiles", (int)ways[w]);
        }
        operands_free(&tiles);
        operands_free(&other);
    }
    tcgemm_forced_way = TCGEMM_NUM_WAYS;
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ways_are_right),
        cmocka_unit_test(f32_and_f64_have_the_bits_of_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
