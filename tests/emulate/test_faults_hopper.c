/* The emulator sees what goes wrong among mbarriers, boxes and wgmma: each kernel of
 * faulty_hopper.cu has one fault, and in every order of warps and boxes it is told, in the right
 * words, or D is wrong where no rule of the machine is broken; the sound ones have none.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "emulate/emulate.h"
#include "gpu/tensor_map.h"
#include "support/module.h"

enum {
    MAX_TILES = 6,
    MAX_BLOCKS = 5,
    ROWS = 64,
    N = 16,
    BK = 64,
    SMEM_BYTES = 3 * (ROWS + N) * 128 + 1024 + 8 * 1024,
    SEEDS = 12
};

static void *module;
static uint16_t a[MAX_TILES * ROWS][MAX_BLOCKS * BK] __attribute__((aligned(16)));
static uint16_t b[N][MAX_BLOCKS * BK] __attribute__((aligned(16)));
static float d[MAX_TILES * ROWS][N] __attribute__((aligned(16)));

static void fill(void) {
    uint32_t x = 1;
    for (int i = 0; i < MAX_TILES * ROWS + N; ++i)
        for (int p = 0; p < MAX_BLOCKS * BK; ++p) {
            x = x * 1664525u + 1013904223u;
            const uint16_t value = tcgemm_bf16_of_f32((float)(x >> 24) / 64.0F - 2.0F);
            *(i < N ? &b[i][p] : &a[i - N][p]) = value;
        }
}

static tcgemm_tensor_map_t map_of(const void *base, int lines, int k, int box) {
    const tcgemm_tensor_t t = {.base = base,
                               .size = {(uint64_t)k, (uint64_t)lines, 1},
                               .stride = {sizeof a[0], sizeof a},
                               .box = {BK, (uint32_t)box, 1},
                               .element_bytes = 2};
    tcgemm_tensor_map_t map;
    memset(&map, 0, sizeof map);
    memcpy(map.opaque, &t, sizeof t);
    return map;
}

static tcgemm_emulate_region_t region(const char *name, void *base, size_t pitch, int width,
                                      int lines, int element_bytes) {
    return (tcgemm_emulate_region_t){.name = name,
                                     .line = "row",
                                     .col = "column",
                                     .base = base,
                                     .width = (int64_t)width * element_bytes,
                                     .lines = lines,
                                     .pitch = (int64_t)pitch,
                                     .batch = 1,
                                     .element_bytes = element_bytes,
                                     .flags = TCGEMM_EMULATE_READ};
}

static tcgemm_emulate_launch_t run(const char *name, int tiles, int blocks, uint64_t seed) {
    tcgemm_emulate_run_fn *go;
    void *const door = dlsym(module, TCGEMM_EMULATE_RUN);
    assert_non_null(door);
    memcpy(&go, &door, sizeof go);
    const int m = tiles * ROWS, k = blocks * BK;
    tcgemm_tensor_args_t args;
    memset(&args, 0, sizeof args);
    args.a = map_of(a, m, k, ROWS);
    const bool in_pairs = strncmp(name, "pairs", 5) == 0;
    args.b = map_of(b, N, k, in_pairs ? N / 2 : N);
    const bool is_ragged = strstr(name, "rows_end_within_a_chunk") != NULL;
    const tcgemm_tensor_t of_d = {.base = d,
                                  .size = {is_ragged ? N - 1 : N, (uint64_t)m, 1},
                                  .stride = {sizeof d[0], sizeof d},
                                  .box = {32, 8, 1},
                                  .element_bytes = 4};
    memcpy(args.d.opaque, &of_d, sizeof of_d);
    args.args.m = m;
    args.args.n = args.args.ldd = N;
    args.args.k = k;
    args.args.b = b;
    args.args.ldb = sizeof b[0] / sizeof b[0][0];
    args.args.d = d;
    tcgemm_emulate_region_t regions[] = {region("A", a, sizeof a[0], k, m, 2),
                                         region("B", b, sizeof b[0], k, N, 2),
                                         region("D", d, sizeof d[0], is_ragged ? N - 1 : N, m, 4)};
    regions[2].flags = TCGEMM_EMULATE_WRITE;
    tcgemm_emulate_launch_t launch = {
        .struct_size = sizeof launch,
        .kernel = dlsym(module, name),
        .parameters = &args,
        .parameter_bytes = sizeof args,
        .grid = in_pairs ? 2 : 1,
        .ranks = in_pairs ? 2 : 1,
        .block = strncmp(name, "turns", 5) == 0 ? 384 : 256,
        .smem_bytes = SMEM_BYTES,
        .regions = regions,
        .num_regions = 3,
        .order = (tcgemm_emulate_order_t)(seed % TCGEMM_EMULATE_NUM_ORDERS),
        .seed = seed,
    };
    if (!launch.kernel)
        fail_msg("faulty_hopper.cu has no %s", name);
    memset(d, 0xFF, sizeof d);
    assert_int_equal(go(&launch), 0);
    return launch;
}

static double number(uint16_t bf16) {
    return (double)tcgemm_f32_of_bf16(bf16);
}

/* Sums of multiples of 1/4096 below 2^12: exact. */
static bool is_right(int tiles, int blocks) {
    for (int i = 0; i < tiles * ROWS; ++i)
        for (int j = 0; j < N; ++j) {
            double sum = 0;
            for (int p = 0; p < blocks * BK; ++p)
                sum += number(a[i][p]) * number(b[j][p]);
            if ((double)d[i][j] != (double)(float)sum)
                return false;
        }
    return true;
}

/* ---- the faults ---- */

static const struct {
    const char *kernel, *words; /* "": sound; "D": only D is wrong; "this|or that" */
    int tiles, blocks;
} cases[] = {
    {"alone_sound", "", 4, 1},
    {"alone_sound", "", 2, 2},
    {"alone_sound", "", 2, 3},
    {"alone_sound", "", 1, 4},
    {"turns_sound", "", 6, 1},
    {"turns_sound", "", 5, 2},
    {"turns_sound", "", 4, 4},
    {"alone_no_wait_for_the_box", "shared byte", 1, 1},
    {"alone_no_wait_for_the_box", "shared byte", 2, 4},
    {"alone_waits_at_the_first_slot", "shared byte", 1, 2},
    {"alone_waits_at_the_first_slot", "shared byte", 1, 5},
    {"alone_waits_for_the_other_parity", "shared byte|waits for phase 1", 1, 1},
    {"alone_fetches_for_the_other_parity", "waits for phase 0", 1, 1},
    {"alone_released_before_the_wait", "shared byte", 2, 4},
    {"alone_released_a_block_early", "shared byte", 2, 4},
    {"alone_never_released", "waits for phase 0 of the mbarrier", 1, 4},
    {"alone_one_block_is_never_released", "waits for phase 0 of the mbarrier", 4, 1},
    {"turns_one_block_is_never_released", "waits for phase 0 of the mbarrier", 4, 1},
    {"alone_expects_too_little", "expects", 1, 1},
    {"alone_expects_too_much", "0 of 1 arrivals and 128 bytes are missing", 1, 1},
    {"alone_no_wait_before_the_epilogue", "before the wgmma|ends while a wgmma", 1, 2},
    {"turns_no_wait_before_the_epilogue", "before the wgmma|ends while a wgmma", 2, 1},
    {"alone_no_commit_of_the_last_group", "before the wgmma|ends while a wgmma", 1, 1},
    {"alone_no_commit_of_the_last_group", "before the wgmma|ends while a wgmma", 1, 2},
    {"alone_no_wgmma_fence", "without wgmma.fence", 1, 1},
    {"alone_no_wgmma_fence_after_clearing", "without wgmma.fence", 2, 2},
    {"alone_multiplies_registers", "", 2, 4},
    {"alone_no_wgmma_fence_after_a_register", "wrote an operand's registers", 1, 2},
    {"alone_a_register_is_written_too_early", "register 1 of an operand is written before", 1, 2},
    {"alone_groups_half_as_far_apart", "D", 1, 1},
    {"alone_groups_twice_as_far_apart", "shared byte", 1, 1},
    {"alone_not_swizzled", "not in the 128-byte swizzle", 1, 1},
    {"alone_a_step_too_short", "D", 1, 1},
    {"alone_too_many_arrivals", "1 of 5 arrivals", 2, 2},
    {"alone_too_many_arrivals", "1 of 5 arrivals", 1, 1},
    {"alone_too_few_arrivals", "overwritten", 2, 4},
    {"alone_too_few_arrivals", "2 of 3 arrivals", 1, 1},
    {"alone_one_warp_goes_another_way", "calls wgmma in line", 1, 1},
    {"alone_one_warp_skips_a_product", "wgmma", 1, 1},
    {"alone_warps_at_different_operands", "do not agree on operands", 1, 1},
    {"alone_no_syncthreads_after_init", "mbarrier", 1, 1},
    {"alone_barriers_are_made_twice", "is made again", 1, 1},
    {"alone_barriers_are_not_made_known", "which no fence has made known", 1, 1},
    {"alone_a_wait_where_no_barrier_is", "where nobody has made an mbarrier", 1, 1},
    {"alone_the_box_lies_unaligned", "no multiple of 1024", 1, 2},
    {"alone_the_box_covers_the_barriers", "where an mbarrier is", 1, 3},
    {"alone_reads_the_slot_too_early", "shared byte", 1, 1},
    {"alone_writes_into_the_slot", "has called no fence since", 1, 1},
    {"alone_fetches_twice_into_a_slot", "shared byte", 1, 1},
    {"alone_ends_with_a_box_under_way", "under way", 1, 1},
    {"turns_too_many_registers", "registers a thread together", 1, 1},
    {"turns_no_turns", "shared byte", 4, 4},
    {"turns_the_turn_is_passed_too_early", "shared byte|waits at wgmma", 4, 4},
    {"boxes_sound", "", 1, 1},
    {"boxes_sound", "", 3, 2},
    {"boxes_no_fence_before_the_box_leaves", "has called no fence since", 1, 1},
    {"boxes_no_syncwarp_before_the_box_leaves", "shared byte|no fence since", 1, 1},
    {"boxes_writes_again_before_the_box_is_read", "a box that leaves has yet to read", 2, 1},
    {"boxes_others_write_again_without_syncwarp", "shared byte", 3, 1},
    {"boxes_ends_while_a_box_leaves", "ends while a box leaves", 1, 1},
    {"boxes_no_commit_of_the_box_that_leaves", "has yet to read|ends while a box leaves", 2, 1},
    {"boxes_the_box_leaves_unswizzled", "D", 1, 1},
    {"boxes_the_box_leaves_for_the_wrong_row", "D", 1, 1},
    {"boxes_rows_end_within_a_chunk", "beside D are written", 1, 1},
    {"pairs_sound", "", 2, 1},
    {"pairs_sound", "", 4, 5},
    {"pairs_sound", "", 6, 3},
    {"pairs_no_wait_for_the_box", "shared byte", 2, 4},
    {"pairs_released_a_block_early", "shared byte", 4, 4},
    {"pairs_never_released", "waits for phase 0 of the mbarrier", 2, 4},
    {"pairs_too_few_arrivals", "overwritten|one more arrival", 4, 4},
    {"pairs_the_other_block_is_not_waited_for", "two boxes|overwritten", 4, 4},
    {"pairs_arrives_at_its_own_block_alone", "4 of 8 arrivals", 4, 4},
    {"pairs_expects_its_own_half", "which nobody has brought", 2, 1},
    {"pairs_fetches_for_itself", "0 of 1 arrivals and 1024 bytes are missing", 2, 1},
    {"pairs_both_fetch_the_first_half", "two boxes|overwritten by a box", 2, 1},
    {"pairs_no_meeting_before_the_boxes", "which may not have begun", 2, 1},
    {"pairs_no_meeting_at_the_end", "which has ended", 2, 1},
    {"pairs_arrives_after_the_meeting_at_the_end", "which has ended", 2, 1},
    {"pairs_arrives_beyond_the_cluster", "which is not in the cluster", 2, 1},
    {"pairs_barriers_are_not_made_known", "which no fence has made known", 2, 1},
    {"pairs_no_syncthreads_after_init", "", 2, 1},
    {"gather_sound", "", 1, 1},
    {"gather_sound", "", 4, 3},
    {"gather_sound", "", 2, 5},
    {"gather_no_fence_after_gathering", "has called no fence since", 1, 1},
    {"gather_no_syncwarp_after_gathering", "a wgmma reads shared byte", 1, 2},
    {"gather_arrives_before_gathering", "shared byte", 1, 1},
    {"gather_gathers_into_a_slot_in_use", "shared byte|phase", 2, 4},
    {"gather_gathers_half_of_the_lines", "which nobody has brought", 1, 1},
    {"gather_gathers_unasked", "shared byte|phase", 2, 4},
    {"gather_released_a_block_early", "shared byte", 2, 4},
};

static bool is_told(const char *fault, const char *words) {
    const char * or = strchr(words, '|');
    char first[64];
    (void)snprintf(first, sizeof first, "%.*s", or ? (int)(or -words) : 60, words);
    return strstr(fault, first) || (or &&strstr(fault, or +1));
}

static void each_is_told(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        for (uint64_t seed = 0; seed < SEEDS; ++seed) {
            const int tiles = cases[i].tiles, blocks = cases[i].blocks;
            const char *words = cases[i].words;
            const tcgemm_emulate_launch_t x = run(cases[i].kernel, tiles, blocks, seed);
            const bool right = x.num_faults == 0 && is_right(tiles, blocks);
            if (*words == '\0'            ? right
                : strcmp(words, "D") == 0 ? x.num_faults == 0 && !right
                                          : x.num_faults > 0 && is_told(x.fault, words))
                continue;
            print_message("%s, %d tiles, %d blocks, seed %d: %lld faults: %s\n", cases[i].kernel,
                          tiles, blocks, (int)seed, (long long)x.num_faults, x.fault);
            ++wrong;
        }
    assert_int_equal(wrong, 0);
}

int main(void) {
    module = module_of_build("tests/emulate-faulty-hopper.so");
    if (!module)
        return 1;
    fill();
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
