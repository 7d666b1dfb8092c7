/* faulty_hopper.cu - the pipeline of wgmma in small, and the same with one fault each.
 *
 * D (tiles x 64 x 16, floats) = A (tiles x 64 rows of k) * B (16 rows of k), bf16, k contiguous. A
 * warpgroup fetches blocks of 64 k into a ring of three slots, others multiply: one, or two that
 * take turns with the tiles (gpu/families/wgmma/wgmma.cuh). D is written, or leaves by boxes. In
 * pairs two blocks share out the tiles, and each fetches half of every block of B for both. Or a
 * warp gathers the blocks of B, chunk by chunk.
 * test_faults_hopper.c knows the words that are expected of each.
 */
#include "gpu/ptx/cluster.cuh"
#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/ldmatrix.cuh"
#include "gpu/ptx/mbarrier.cuh"
#include "gpu/ptx/setmaxnreg.cuh"
#include "gpu/ptx/shared.cuh"
#include "gpu/ptx/tma.cuh"
#include "gpu/ptx/wgmma.cuh"
#include "gpu/tensor_map.h"

#define FAULTS(X)                                                                                  \
    X(sound)                                                                                       \
    X(no_wait_for_the_box)                                                                         \
    X(waits_at_the_first_slot)                                                                     \
    X(waits_for_the_other_parity)                                                                  \
    X(fetches_for_the_other_parity)                                                                \
    X(released_before_the_wait)                                                                    \
    X(released_a_block_early)                                                                      \
    X(never_released)                                                                              \
    X(one_block_is_never_released)                                                                 \
    X(expects_too_little)                                                                          \
    X(expects_too_much)                                                                            \
    X(no_wait_before_the_epilogue)                                                                 \
    X(no_commit_of_the_last_group)                                                                 \
    X(no_wgmma_fence)                                                                              \
    X(no_wgmma_fence_after_clearing)                                                               \
    X(multiplies_registers)                                                                        \
    X(no_wgmma_fence_after_a_register)                                                             \
    X(a_register_is_written_too_early)                                                             \
    X(groups_half_as_far_apart)                                                                    \
    X(groups_twice_as_far_apart)                                                                   \
    X(not_swizzled)                                                                                \
    X(a_step_too_short)                                                                            \
    X(too_many_arrivals)                                                                           \
    X(too_few_arrivals)                                                                            \
    X(one_warp_goes_another_way)                                                                   \
    X(one_warp_skips_a_product)                                                                    \
    X(warps_at_different_operands)                                                                 \
    X(no_syncthreads_after_init)                                                                   \
    X(barriers_are_made_twice)                                                                     \
    X(barriers_are_not_made_known)                                                                 \
    X(a_wait_where_no_barrier_is)                                                                  \
    X(the_box_lies_unaligned)                                                                      \
    X(the_box_covers_the_barriers)                                                                 \
    X(reads_the_slot_too_early)                                                                    \
    X(writes_into_the_slot)                                                                        \
    X(fetches_twice_into_a_slot)                                                                   \
    X(ends_with_a_box_under_way)                                                                   \
    X(too_many_registers)                                                                          \
    X(no_turns)                                                                                    \
    X(the_turn_is_passed_too_early)                                                                \
    X(no_fence_before_the_box_leaves)                                                              \
    X(no_syncwarp_before_the_box_leaves)                                                           \
    X(writes_again_before_the_box_is_read)                                                         \
    X(others_write_again_without_syncwarp)                                                         \
    X(ends_while_a_box_leaves)                                                                     \
    X(no_commit_of_the_box_that_leaves)                                                            \
    X(the_box_leaves_unswizzled)                                                                   \
    X(the_box_leaves_for_the_wrong_row)                                                            \
    X(rows_end_within_a_chunk)                                                                     \
    X(the_other_block_is_not_waited_for)                                                           \
    X(arrives_at_its_own_block_alone)                                                              \
    X(expects_its_own_half)                                                                        \
    X(fetches_for_itself)                                                                          \
    X(both_fetch_the_first_half)                                                                   \
    X(no_meeting_before_the_boxes)                                                                 \
    X(no_meeting_at_the_end)                                                                       \
    X(arrives_after_the_meeting_at_the_end)                                                        \
    X(arrives_beyond_the_cluster)                                                                  \
    X(no_fence_after_gathering)                                                                    \
    X(no_syncwarp_after_gathering)                                                                 \
    X(arrives_before_gathering)                                                                    \
    X(gathers_into_a_slot_in_use)                                                                  \
    X(gathers_half_of_the_lines)                                                                   \
    X(gathers_unasked)

enum fault {
#define FAULT(name) name,
    FAULTS(FAULT)
};

enum {
    STAGES = 3,
    ROW = 128,
    BK = 64,
    N = 16,
    A_BYTES = 64 * ROW,
    B_BYTES = N * ROW,
    SLOT = A_BYTES + B_BYTES,
    BARRIERS = STAGES * SLOT,
    PLACES = BARRIERS + 1024, /* of each warp, for a box that leaves: 8 rows of D */
    PLACE = 8 * ROW
};

template <int FAULT, int CONSUMERS, int BOXES, int PAIR, int GATHER> struct ring {
    enum { BLOCKS = 1 + PAIR };
    uint32_t smem;

    uint32_t filled(uint32_t slot) const {
        return smem + BARRIERS + 16 * slot;
    }
    uint32_t emptied(uint32_t slot) const {
        return filled(slot) + 8;
    }
    uint32_t turn_of(uint32_t consumer) const {
        return smem + BARRIERS + 16 * STAGES + 8 * consumer;
    }

    struct cursor {
        uint32_t slot, parity;
        void skip(uint32_t blocks) {
            for (; blocks > 0; --blocks)
                if (++slot == STAGES) {
                    slot = 0;
                    parity ^= 1;
                }
        }
    };

    void make_barriers(void) {
        for (uint32_t slot = 0; slot < STAGES; ++slot) {
            tcgemm_mbarrier_init(filled(slot), GATHER && FAULT != gathers_unasked ? 2 : 1);
            tcgemm_mbarrier_init(emptied(slot), FAULT == too_many_arrivals  ? 5
                                                : FAULT == too_few_arrivals ? 3
                                                : FAULT == the_other_block_is_not_waited_for
                                                    ? 4
                                                    : 4 * BLOCKS);
        }
        for (uint32_t consumer = 0; consumer < CONSUMERS; ++consumer)
            tcgemm_mbarrier_init(turn_of(consumer), 4);
        if (FAULT == barriers_are_made_twice)
            tcgemm_mbarrier_init(filled(0), 1);
        if (FAULT != barriers_are_not_made_known)
            tcgemm_mbarrier_fence_init();
    }

    /* ---- the thread that fetches ---- */

    void fetch(const tcgemm_tensor_args_t &x, uint32_t slot, int32_t k, int32_t row) {
        const int32_t all = GATHER ? A_BYTES : SLOT;
        const int32_t bytes = all + (FAULT == expects_too_little     ? -ROW
                                     : FAULT == expects_too_much     ? ROW
                                     : FAULT == expects_its_own_half ? -B_BYTES / 2
                                                                     : 0);
        const uint32_t to = FAULT == the_box_lies_unaligned && slot == 1 ? 512 : smem + slot * SLOT;
        const uint32_t further = FAULT == the_box_covers_the_barriers && slot == 2 ? B_BYTES : 0;
        tcgemm_mbarrier_arrive_expect(filled(slot), (uint32_t)bytes);
        tcgemm_tma_load(to, &x.a, filled(slot), k, row, 0);
        if (PAIR)
            fetch_half(x, to + A_BYTES, filled(slot), k);
        else if (!GATHER)
            tcgemm_tma_load(to + A_BYTES + further, &x.b, filled(slot), k, 0, 0);
    }

    void fetch_half(const tcgemm_tensor_args_t &x, uint32_t to, uint32_t barrier, int32_t k) {
        const uint32_t half = FAULT == both_fetch_the_first_half ? 0 : tcgemm_cluster_rank();
        const int32_t row = (int32_t)half * (N / 2);
        if (FAULT == fetches_for_itself)
            tcgemm_tma_load(to + half * (B_BYTES / 2), &x.b, barrier, k, row, 0);
        else
            tcgemm_tma_load_both(to + half * (B_BYTES / 2), &x.b, barrier, k, row, 0);
    }

    void produce(const tcgemm_tensor_args_t &x, uint32_t tiles, uint32_t blocks) {
        cursor at = {0, 0};
        for (uint32_t tile = blockIdx.x; tile < tiles; tile += BLOCKS)
            for (uint32_t block = 0; block < blocks; ++block, at.skip(1)) {
                tcgemm_mbarrier_wait(emptied(at.slot), FAULT == fetches_for_the_other_parity
                                                           ? at.parity
                                                           : at.parity ^ 1);
                fetch(x, at.slot, (int32_t)block * BK, (int32_t)tile * 64);
                if (FAULT == fetches_twice_into_a_slot)
                    tcgemm_tma_load(smem + at.slot * SLOT, &x.a, filled(at.slot), 0, 0, 0);
            }
        if (FAULT == ends_with_a_box_under_way) {
            tcgemm_mbarrier_wait(emptied(at.slot), at.parity ^ 1);
            fetch(x, at.slot, 0, 0);
        }
    }

    /* ---- the warp that gathers ---- */

    /* Chunk c, lane % 8, of every fourth of the lines, as the 128-byte swizzle has them. */
    static void lay_b(const tcgemm_gpu_args_t &args, uint32_t to, uint32_t block) {
        const uint32_t lane = threadIdx.x % 32, chunk = lane % 8;
        const uint32_t lines = FAULT == gathers_half_of_the_lines ? N / 2 : N;
        for (uint32_t line = lane / 8; line < lines; line += 4) {
            uint4 bits;
            memcpy(&bits,
                   (const uint16_t *)args.b + line * args.ldb + block * BK + chunk * (16 / 2),
                   sizeof bits);
            tcgemm_sts_128(to + line * ROW + (chunk ^ line % 8) * 16, bits);
        }
    }

    void gather(const tcgemm_gpu_args_t &args, uint32_t tiles, uint32_t blocks) {
        cursor at = {0, 0};
        for (uint32_t tile = blockIdx.x; tile < tiles; tile += BLOCKS)
            for (uint32_t block = 0; block < blocks; ++block, at.skip(1)) {
                if (FAULT != gathers_into_a_slot_in_use)
                    tcgemm_mbarrier_wait(emptied(at.slot), at.parity ^ 1);
                if (FAULT == arrives_before_gathering)
                    arrive(filled(at.slot));
                lay_b(args, smem + at.slot * SLOT + A_BYTES, block);
                if (FAULT != no_fence_after_gathering)
                    tcgemm_tma_fence();
                if (FAULT != no_syncwarp_after_gathering)
                    __syncwarp();
                if (FAULT != arrives_before_gathering)
                    arrive(filled(at.slot));
            }
    }

    /* ---- a warpgroup that multiplies ---- */

    static uint64_t operand(uint32_t at) {
        const uint32_t group = FAULT == groups_half_as_far_apart    ? 4 * ROW
                               : FAULT == groups_twice_as_far_apart ? 16 * ROW
                                                                    : 8 * ROW;
        const uint64_t swizzle = (uint64_t)1 << 62;
        return tcgemm_wgmma_operand(at, 0, group) ^ (FAULT == not_swizzled ? swizzle : 0);
    }

    void product(float (&c)[N / 2], uint64_t a, uint64_t b, int add) {
        const uint32_t warp = threadIdx.x / 32 % 4;
        if (FAULT == warps_at_different_operands && warp == 2)
            a = tcgemm_wgmma_advance(a, 16);
        if (FAULT == one_warp_skips_a_product && warp == 1)
            return;
        if (FAULT == one_warp_goes_another_way && warp == 1)
            tcgemm_wgmma<TCGEMM_WGMMA_BF16, N>::template run<0, 0>(c, a, b, add);
        else
            tcgemm_wgmma<TCGEMM_WGMMA_BF16, N>::template run<0, 0>(c, a, b, add);
    }

    void multiply(float (&c)[N / 2], uint32_t slot, uint32_t block) {
        const uint64_t a = operand(smem + slot * SLOT);
        const uint64_t b = operand(smem + slot * SLOT + A_BYTES);
        const uint32_t bytes = FAULT == a_step_too_short ? 16 : 32;
        for (uint32_t step = 0; step < 4; ++step)
            product(c, tcgemm_wgmma_advance(a, step * bytes), tcgemm_wgmma_advance(b, step * bytes),
                    step > 0 || block > 0);
    }

    /* Beside the tile, and of no use to it: two products of registers, one after the other. */
    void multiply_registers(uint32_t slot) {
        float c[N / 2] = {};
        uint32_t a[4] = {};
        for (uint32_t turn = 0; turn < 2; ++turn) {
            a[0] = turn;
            if (FAULT != no_wgmma_fence_after_a_register || turn == 0)
                tcgemm_wgmma_fence();
            tcgemm_wgmma_registers<TCGEMM_WGMMA_TF32, N>::run(
                c, a, operand(smem + slot * SLOT + A_BYTES), 0);
            if (FAULT == a_register_is_written_too_early)
                a[1] = turn;
            tcgemm_wgmma_commit();
            tcgemm_wgmma_wait<0>();
        }
    }

    void arrive(uint32_t barrier) {
        if (threadIdx.x % 32 == 0)
            tcgemm_mbarrier_arrive(barrier);
    }

    /* A slot: at all blocks that fetch for this one. */
    void release(uint32_t slot) {
        const uint32_t lane = threadIdx.x % 32, own = tcgemm_cluster_rank();
        if (!PAIR)
            arrive(emptied(slot));
        else if (lane < BLOCKS && (lane == own || !is_at_own_alone()))
            tcgemm_mbarrier_arrive_at(emptied(slot),
                                      FAULT == arrives_beyond_the_cluster ? lane + 1 : lane);
    }
    static bool is_at_own_alone(void) {
        return FAULT == arrives_at_its_own_block_alone ||
               FAULT == the_other_block_is_not_waited_for;
    }

    void wait_for_box(cursor at) {
        if (FAULT == waits_at_the_first_slot)
            tcgemm_mbarrier_wait(filled(0), at.parity);
        else if (FAULT == waits_for_the_other_parity)
            tcgemm_mbarrier_wait(filled(at.slot), at.parity ^ 1);
        else if (FAULT == a_wait_where_no_barrier_is)
            tcgemm_mbarrier_wait(filled(at.slot) + 4, at.parity);
        else if (FAULT != no_wait_for_the_box)
            tcgemm_mbarrier_wait(filled(at.slot), at.parity);
    }

    void use_slot(uint32_t slot, float (&c)[N / 2], bool early) {
        extern __shared__ __align__(1024) float hopper_memory[];
        const uint32_t word = slot * (SLOT / 4) + threadIdx.x % 128;
        if (FAULT == reads_the_slot_too_early && early)
            c[0] = hopper_memory[word];
        if (FAULT == writes_into_the_slot && !early)
            hopper_memory[word] = 0;
    }

    /* All blocks of a tile; the last slot is still to be released. */
    uint32_t multiply_blocks(float (&c)[N / 2], cursor &at, uint32_t blocks) {
        uint32_t before = 0;
        for (uint32_t block = 0; block < blocks; ++block, at.skip(1)) {
            use_slot(at.slot, c, true);
            wait_for_box(at);
            use_slot(at.slot, c, false);
            if (FAULT >= multiplies_registers && FAULT <= a_register_is_written_too_early)
                multiply_registers(at.slot);
            if (FAULT != no_wgmma_fence)
                tcgemm_wgmma_fence();
            if (FAULT == no_wgmma_fence_after_clearing && block == 0)
                c[0] = 0;
            multiply(c, at.slot, FAULT == no_wgmma_fence_after_clearing ? 1 : block);
            if (FAULT != no_commit_of_the_last_group || block + 1 < blocks)
                tcgemm_wgmma_commit();
            if (FAULT == released_before_the_wait)
                release(at.slot);
            tcgemm_wgmma_wait<1>();
            if (FAULT == released_a_block_early)
                release(at.slot);
            else if (block > 0 && FAULT != never_released && FAULT != released_before_the_wait)
                release(before);
            before = at.slot;
        }
        return before;
    }

    void finish(const tcgemm_gpu_args_t &args, const float (&c)[N / 2], uint32_t tile) {
        const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
        float *d = (float *)args.d + (tile * 64 + warp * 16 + lane / 4) * args.ldd + lane % 4 * 2;
        for (uint32_t i = 0; i < N / 2; ++i)
            d[i / 2 % 2 * 8 * args.ldd + i / 4 * 8 + i % 2] = c[i];
    }

    /* One row of 8 of a place: 16 columns of D, and 16 that lie beyond it. */
    static void lay_down(uint32_t place, uint32_t row, const float (&c)[N / 2], uint32_t half) {
        for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t at = i * 32 + threadIdx.x % 4 * 8;
            const uint32_t chunk = FAULT == the_box_leaves_unswizzled ? at / 16 : at / 16 ^ row;
            const float v[2] = {i < 2 ? c[4 * i + 2 * half] : 0,
                                i < 2 ? c[4 * i + 2 * half + 1] : 0};
            uint2 bits;
            memcpy(&bits, v, sizeof bits);
            tcgemm_sts_64(place + row * ROW + chunk * 16 + at % 16, bits);
        }
    }

    void send(const tcgemm_tensor_args_t &x, const float (&c)[N / 2], uint32_t tile) {
        const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        for (uint32_t half = 0; half < 2; ++half) {
            const uint32_t place = smem + PLACES + warp * PLACE;
            if (lane == 0 && FAULT != writes_again_before_the_box_is_read)
                tcgemm_tma_wait_read<0>();
            if (FAULT != others_write_again_without_syncwarp)
                __syncwarp();
            lay_down(place, lane / 4, c, half);
            if (FAULT != no_fence_before_the_box_leaves)
                tcgemm_tma_fence();
            if (FAULT != no_syncwarp_before_the_box_leaves)
                __syncwarp();
            if (lane == 0) {
                const uint32_t row = FAULT == the_box_leaves_for_the_wrong_row ? 0 : 8 * half;
                tcgemm_tma_store(&x.d, place, 0, (int32_t)(tile * 64 + warp % 4 * 16 + row), 0);
                if (FAULT != no_commit_of_the_box_that_leaves)
                    tcgemm_tma_commit();
            }
        }
    }

    void consume(const tcgemm_tensor_args_t &x, uint32_t consumer, uint32_t tiles,
                 uint32_t blocks) {
        cursor at = {0, 0};
        float c[N / 2];
        uint32_t turn = consumer ^ 1;
        at.skip(consumer * blocks);
        for (uint32_t tile = consumer + blockIdx.x; tile < tiles; tile += CONSUMERS * BLOCKS) {
            if (CONSUMERS == 2 && FAULT != no_turns) {
                tcgemm_mbarrier_wait(turn_of(consumer), turn);
                turn ^= 1;
            }
            if (CONSUMERS == 2 && FAULT == the_turn_is_passed_too_early)
                arrive(turn_of(consumer ^ 1));
            const uint32_t last = multiply_blocks(c, at, blocks);
            if (CONSUMERS == 2 && FAULT != the_turn_is_passed_too_early)
                arrive(turn_of(consumer ^ 1));
            if (FAULT != no_wait_before_the_epilogue)
                tcgemm_wgmma_wait<0>();
            if (FAULT == arrives_after_the_meeting_at_the_end && tile + BLOCKS >= tiles)
                meet();
            if ((FAULT != one_block_is_never_released || blocks > 1) && FAULT != never_released &&
                FAULT != released_before_the_wait && FAULT != released_a_block_early)
                release(last);
            if (BOXES)
                send(x, c, tile);
            else
                finish(x.args, c, tile);
            at.skip((CONSUMERS - 1) * blocks);
        }
        if (BOXES && threadIdx.x % 32 == 0 && FAULT != ends_while_a_box_leaves)
            tcgemm_tma_wait_read<0>();
    }

    static void meet(void) {
        __syncwarp();
        tcgemm_cluster_arrive();
        tcgemm_cluster_wait();
    }

    void run(const tcgemm_tensor_args_t &x) {
        extern __shared__ __align__(1024) float hopper_memory[];
        const uint32_t tiles = (uint32_t)(x.args.m / 64), blocks = (uint32_t)(x.args.k / BK);
        const uint32_t warpgroup = threadIdx.x / 128;
        smem = tcgemm_smem_address(hopper_memory);
        if (threadIdx.x == 0)
            make_barriers();
        if (FAULT != no_syncthreads_after_init)
            __syncthreads();
        if (PAIR && FAULT != no_meeting_before_the_boxes)
            meet();
        if (warpgroup == CONSUMERS) {
            tcgemm_registers_less<40>();
            if (threadIdx.x == CONSUMERS * 128)
                produce(x, tiles, blocks);
            if (GATHER && threadIdx.x / 32 == CONSUMERS * 4 + 1)
                gather(x.args, tiles, blocks);
        } else {
            if (FAULT == too_many_registers)
                tcgemm_registers_more<256>();
            consume(x, warpgroup, tiles, blocks);
        }
        const bool has_met = FAULT == arrives_after_the_meeting_at_the_end && warpgroup < CONSUMERS;
        if (PAIR && FAULT != no_meeting_at_the_end && !has_met)
            meet();
    }
};

#define KERNELS(name)                                                                              \
    extern "C" __global__ void alone_##name(const __grid_constant__ tcgemm_tensor_args_t x) {      \
        ring<name, 1, 0, 0, 0> kernel;                                                             \
        kernel.run(x);                                                                             \
    }                                                                                              \
    extern "C" __global__ void turns_##name(const __grid_constant__ tcgemm_tensor_args_t x) {      \
        ring<name, 2, 0, 0, 0> kernel;                                                             \
        kernel.run(x);                                                                             \
    }                                                                                              \
    extern "C" __global__ void boxes_##name(const __grid_constant__ tcgemm_tensor_args_t x) {      \
        ring<name, 1, 1, 0, 0> kernel;                                                             \
        kernel.run(x);                                                                             \
    }                                                                                              \
    extern "C" __global__ void pairs_##name(const __grid_constant__ tcgemm_tensor_args_t x) {      \
        ring<name, 1, 0, 1, 0> kernel;                                                             \
        kernel.run(x);                                                                             \
    }                                                                                              \
    extern "C" __global__ void gather_##name(const __grid_constant__ tcgemm_tensor_args_t x) {     \
        ring<name, 1, 0, 0, 1> kernel;                                                             \
        kernel.run(x);                                                                             \
    }
FAULTS(KERNELS)
