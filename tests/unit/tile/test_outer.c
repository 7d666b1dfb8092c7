/* simt-outer's block of C: how its shape follows from the device, and who owns which element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tile/outer.h"
#include "tile_shapes.h"

#define MAX_SHARED (260u * 1024)

/* Too few for any shape, just below and just above what some need, a device's 255, and more. */
static const uint32_t register_limits[] = {1, 40, 47, 48, 64, 87, 88, 128, 151, 152, 168, 255, 512};
#define NUM_LIMITS (sizeof register_limits / sizeof register_limits[0])

static void expect_shape(tcgemm_outer_shape_t shape, uint32_t m, uint32_t n) {
    assert_int_equal(shape.m, m);
    assert_int_equal(shape.n, n);
    assert_int_equal(shape.threads, n / 4);
    assert_int_equal(shape.bytes, m * n * 4);
}

/* The two shapes that simt_outer.cu is stamped for. */
static void known_devices_get_their_shapes(void **state) {
    (void)state;
    expect_shape(tcgemm_outer_shape(48 * 1024, 255, 4), 24, 512);
    assert_int_equal(tcgemm_outer_shape(48 * 1024, 255, 4).bytes, 49152);
    expect_shape(tcgemm_outer_shape(227 * 1024, 255, 4), 56, 1024);
    assert_int_equal(tcgemm_outer_shape(227 * 1024, 255, 4).bytes, 229376);
    /* What twice the threads avoid: 112 rows of 512, 264 registers. */
    expect_shape(tcgemm_outer_shape(227 * 1024, 264, 4), 112, 512);
    expect_shape(tcgemm_outer_shape(227 * 1024, 263, 4), 56, 1024);
    /* The registers of a shape are 2 * m + 40, to the last one. */
    expect_shape(tcgemm_outer_shape(48 * 1024, 88, 4), 24, 512);
    expect_shape(tcgemm_outer_shape(48 * 1024, 87, 4), 12, 1024);
    /* A byte less than a whole float4 of A. */
    expect_shape(tcgemm_outer_shape(48 * 1024 - 1, 255, 4), 20, 512);
}

static void nothing_fits(void **state) {
    (void)state;
    expect_shape(tcgemm_outer_shape(0, 255, 4), 0, 0);
    expect_shape(tcgemm_outer_shape(4 * 512 * 4 - 1, 255, 4), 0, 0);
    expect_shape(tcgemm_outer_shape(4 * 512 * 4, 255, 4), 4, 512);
    expect_shape(tcgemm_outer_shape(48 * 1024, 47, 4), 0, 0);
    expect_shape(tcgemm_outer_shape(48 * 1024, 0, 4), 0, 0);
    expect_shape(tcgemm_outer_shape(227 * 1024, 255, 0), 0, 0);
    expect_shape(tcgemm_outer_shape(227 * 1024, 255, 32), 12, 4096);
    expect_shape(tcgemm_outer_shape(227 * 1024, 255, 33), 0, 0);
}

/* The three rules of the header for every device; a shape of none is right too. */
static void shapes_follow_the_rules(void **state) {
    (void)state;
    for (uint32_t schedulers = 1; schedulers <= 33; ++schedulers)
        for (size_t r = 0; r < NUM_LIMITS; ++r)
            for (uint32_t shared = 0; shared <= MAX_SHARED; shared += 508) {
                const uint32_t registers = register_limits[r];
                const tcgemm_outer_shape_t shape =
                    tcgemm_outer_shape(shared, registers, schedulers);
                uint32_t threads = 32 * schedulers, m = 0;
                for (; threads <= 1024; threads *= 2) {
                    for (m = 0; (m + 4) * threads * 4 * 4 <= shared;)
                        m += 4;
                    if (m == 0 || 40 + 2 * m <= registers)
                        break;
                }
                if (threads > 1024 || m == 0)
                    expect_shape(shape, 0, 0);
                else
                    expect_shape(shape, m, 4 * threads);
                assert_true(shape.bytes <= shared);
                assert_true(shape.threads <= 1024 && shape.m % 4 == 0);
            }
}

/* More shared memory never makes a block smaller, nor do more registers; the former never takes
 * threads away, the latter never adds any. */
static void shapes_grow_with_the_device(void **state) {
    (void)state;
    for (uint32_t schedulers = 1; schedulers <= 32; ++schedulers)
        for (size_t r = 0; r < NUM_LIMITS; ++r) {
            tcgemm_outer_shape_t last = {0, 0, 0, 0};
            for (uint32_t shared = 0; shared <= MAX_SHARED; shared += 256) {
                const tcgemm_outer_shape_t shape =
                    tcgemm_outer_shape(shared, register_limits[r], schedulers);
                if (shape.m == 0 && last.m > 0) {
                    /* Even 1024 threads cannot: it stays so. */
                    assert_int_equal(
                        tcgemm_outer_shape(MAX_SHARED, register_limits[r], schedulers).m, 0);
                    break;
                }
                assert_true(shape.bytes >= last.bytes && shape.threads >= last.threads);
                last = shape;
            }
        }
    for (uint32_t schedulers = 1; schedulers <= 32; ++schedulers)
        for (uint32_t shared = 0; shared <= MAX_SHARED; shared += 1020) {
            tcgemm_outer_shape_t last = {0, 0, 0, 0};
            for (uint32_t registers = 0; registers <= 512; ++registers) {
                const tcgemm_outer_shape_t shape =
                    tcgemm_outer_shape(shared, registers, schedulers);
                assert_true(shape.bytes >= last.bytes && shape.m >= last.m);
                assert_true(last.m == 0 || shape.threads <= last.threads);
                last = shape;
            }
        }
}

/* Whatever the shape: each element of the block belongs to one thread, which keeps it where the
 * kernel's walk down the rows finds it, and a warp's accesses are whole. */
static void every_element_has_one_owner(void **state) {
    (void)state;
    for (uint32_t schedulers = 1; schedulers <= 8; ++schedulers)
        for (uint32_t shared = 4 * 1024; shared <= MAX_SHARED; shared += 11 * 1024) {
            const tcgemm_outer_shape_t shape = tcgemm_outer_shape(shared, 255, schedulers);
            if (shape.m == 0)
                continue;
            uint16_t *owner = calloc(shape.bytes / 16, sizeof *owner);
            assert_non_null(owner);
            for (uint32_t thread = 0; thread < shape.threads; ++thread)
                for (uint32_t row = 0; row < shape.m; ++row) {
                    const uint32_t at = tcgemm_outer_index(row, thread, shape.threads);
                    assert_int_equal(at, thread + row * shape.threads); /* mine[row * THREADS] */
                    assert_true(at < shape.bytes / 16 && owner[at] == 0);
                    owner[at] = (uint16_t)(thread + 1);
                }
            for (uint32_t i = 0; i < shape.m; ++i)
                for (uint32_t j = 0; j < shape.n; ++j)
                    assert_int_equal(owner[(i * shape.n + j) / 4], j / 4 + 1);
            for (uint32_t row = 0; row < shape.m; ++row)
                for (uint32_t first = 0; first < shape.threads; first += 8) {
                    uint32_t at[8];
                    for (uint32_t t = 0; t < 8; ++t)
                        at[t] = 16 * tcgemm_outer_index(row, first + t, shape.threads);
                    assert_int_equal(at[0] % 128, 0);
                    assert_int_equal(at[7] - at[0], 7 * 16);
                    assert_true(free_of_conflicts(at, 8, 16));
                }
            free(owner);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_devices_get_their_shapes),
        cmocka_unit_test(nothing_fits),
        cmocka_unit_test(shapes_follow_the_rules),
        cmocka_unit_test(shapes_grow_with_the_device),
        cmocka_unit_test(every_element_has_one_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
