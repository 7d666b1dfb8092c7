/* The emulator sees what it must: each kernel of faulty.cu has one fault, and in every order of
 * warps it is told in the right words; the sound ones have none.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emulate/emulate.h"
#include "support/module.h"

enum { THREADS = 64, PITCH = 6, WIDTH = 4 };

static float in[THREADS * PITCH], out[THREADS * PITCH];
static uint8_t written[THREADS * WIDTH * sizeof(float)];
static void *module;

static tcgemm_emulate_region_t region(const char *name, float *base, unsigned flags) {
    return (tcgemm_emulate_region_t){
        .name = name,
        .line = "row",
        .col = "column",
        .base = base,
        .width = WIDTH * sizeof(float),
        .lines = THREADS,
        .pitch = PITCH * sizeof(float),
        .batch = 1,
        .element_bytes = sizeof(float),
        .flags = flags,
    };
}

static tcgemm_emulate_launch_t run(const char *name, uint64_t seed) {
    tcgemm_emulate_run_fn *go;
    void *const door = dlsym(module, TCGEMM_EMULATE_RUN);
    assert_non_null(door);
    memcpy(&go, &door, sizeof go);
    tcgemm_emulate_region_t regions[] = {
        region("in", in, TCGEMM_EMULATE_READ),
        region("out", out, TCGEMM_EMULATE_WRITE | TCGEMM_EMULATE_ONCE)};
    regions[1].written = written;
    memset(written, 0, sizeof written);
    const void *parameters[] = {in, out};
    tcgemm_emulate_launch_t launch = {
        .struct_size = sizeof launch,
        .kernel = dlsym(module, name),
        .parameters = parameters,
        .parameter_bytes = sizeof parameters,
        .grid = 1,
        .block = THREADS,
        .smem_bytes = 1024,
        .regions = regions,
        .num_regions = 2,
        .order = (tcgemm_emulate_order_t)(seed % TCGEMM_EMULATE_NUM_ORDERS),
        .seed = seed,
    };
    if (!launch.kernel)
        fail_msg("faulty.cu has no %s", name);
    assert_int_equal(go(&launch), 0);
    return launch;
}

static const struct {
    const char *kernel, *words; /* "": sound */
} cases[] = {
    {"sound_exchange", ""}, /* races: who reads first finds nothing written */
    {"no_syncthreads", "shared byte"},
    {"sound_exchange_in_a_warp", ""},
    {"no_syncwarp", "shared byte"},
    {"no_syncwarp_before_the_next_write", "shared byte"},
    {"syncwarp_between_warps", "shared byte"},
    {"two_writers", "has written it since the last barrier"},
    {"sound_bytes", ""},
    {"never_written", "shared byte 28 is read, which nobody has written"},
    {"beyond_shared", "at 1024 of shared memory are written, but there are 1024"},
    {"some_do_not_sync", "waits at __syncthreads, but thread 5 has ended"},
    {"some_end_early", "has ended"},
    {"two_barriers", "at that of line"},
    {"half_a_warp_multiplies", "mma.sync f32"},
    {"a_product_in_two_places", "in line"},
    {"sound_rows", ""},
    {"a_column_too_many", "4 bytes"},
    {"a_row_too_many", "belong to no matrix"},
    {"writes_between_rows", "4 bytes"},
    {"writes_its_input", "in is written"},
    {"reads_its_output", "out is read"},
    {"writes_twice", "is written twice"},
    {"misaligned", "wants 16 bytes of alignment"},
    {"sound_copies", ""},
    {"no_wait", "has yet to bring"},
    {"waits_for_too_few", "has yet to bring"},
    {"no_commit", "has yet to bring"},
    {"waits_without_a_barrier", "shared byte"},
    {"overwrites_what_is_read", "shared byte"},
    {"copies_off_by_two_bytes", "cp.async of 4 bytes to an address that is not aligned"},
    {"copies_a_row_too_many", "belong to no matrix"},
    {"ends_in_flight", "are in flight"},
};

static void each_is_told(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        for (uint64_t seed = 0; seed < 12; ++seed) {
            const tcgemm_emulate_launch_t x = run(cases[i].kernel, seed);
            const char *words = cases[i].words;
            if (*words ? x.num_faults == 0 || !strstr(x.fault, words) : x.num_faults > 0)
                fail_msg("%s, seed %d: %lld faults: %s", cases[i].kernel, (int)seed,
                         (long long)x.num_faults, x.fault);
        }
}

/* What sound kernels compute does not depend on the order. */
static void sound_kernels_compute(void **state) {
    (void)state;
    for (int i = 0; i < THREADS * PITCH; ++i)
        in[i] = (float)i;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        memset(out, 0, sizeof out);
        (void)run("sound_copies", seed);
        for (int t = 0; t < THREADS; ++t) {
            assert_true(out[t * PITCH] == (float)((t ^ 33) * PITCH));
            assert_true(out[t * PITCH + 1] == (float)((t ^ 33) * PITCH + 1));
        }
    }
}

static void what_is_no_launch(void **state) {
    (void)state;
    tcgemm_emulate_run_fn *go;
    void *const door = dlsym(module, TCGEMM_EMULATE_RUN);
    memcpy(&go, &door, sizeof go);
    tcgemm_emulate_launch_t launch = {.struct_size = sizeof launch,
                                      .kernel = dlsym(module, "sound_rows"),
                                      .parameters = in,
                                      .parameter_bytes = 16,
                                      .grid = 1,
                                      .block = 48};
    assert_int_equal(go(&launch), 2); /* no whole warps */
    launch.block = 2048;
    assert_int_equal(go(&launch), 2);
    launch.block = 64;
    launch.smem_bytes = 300000;
    assert_int_equal(go(&launch), 2);
    launch.smem_bytes = 0;
    launch.struct_size = 8;
    assert_int_equal(go(&launch), 2);
}

int main(void) {
    module = module_of_build("tests/emulate-faulty.so");
    if (!module)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_told),
        cmocka_unit_test(sound_kernels_compute),
        cmocka_unit_test(what_is_no_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
