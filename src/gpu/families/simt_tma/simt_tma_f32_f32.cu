/* simt_tma_f32_f32.cu - mma-pipelined, f32_f32, on FFMA, for sm_90: operands come by boxes.
 *
 * The plan of simt_ffma_f32_f32.cu without its copies. What bounds a kernel on FFMA are the slots
 * of the four schedulers of an SM: each instruction that is no FFMA takes the place of one. Here
 * the tensor memory accelerator (TMA) brings the operands and works out their addresses, and a lane
 * has twice as many elements of D, so that there are 6 loads for 128 FFMA, not 4 for 64: 60
 * instructions beside 1000 FFMA, where the other kernel has 110 to 150.
 *
 *     grid        one block a tile of D, in the order of tile/raster.h, batch by batch; two an SM
 *     block       128 x 128, 4 warps (2 x 2)
 *     warp        64 x 64: lanes 8 x 4, each 8 x 16 of D as 2 x 4 squares of 4 x 4
 *
 *        n   0    4    8    12  | 16 .. 63     a lane reads, for each k, two 16-byte pieces of A
 *     m  0   l0   l1   l2   l3  | l0 ..        and four of B, and multiplies them 128 times
 *        4   l4   l5   l6   l7  | l4
 *        ..                                    shared memory: a ring of 3 slots of
 *        28  l28  l29  l30  l31 | l28              A: 4 boxes of 32 k by 32 m    16 KiB
 *        32  l0 ..                                 B: 4 boxes of 32 k by 32 n    16 KiB
 *
 * A row of a box is one k, 128 bytes of m (n), in the 128-byte swizzle (gpu/tensor_map.h): piece c
 * of row k lies at c ^ (k % 8). So a lane keeps where its piece of A lies for each k % 8, and its
 * piece of B for each k % 4; the rest is a constant of the load. No two of a warp's loads want one
 * bank. Operands with k contiguous are turned round while they are packed (steps/pack.cu).
 *
 *     time, block b of k    products of k 0 .. 30, eight in a turn of the loop | every warp is done
 *                           with this slot, sync | ask for b + 3, into it | b + 1 is here |
 * products of k 31; what the next k multiplies is on its way all along
 *
 * The order of the products, and why it counts: a quarter of an SM has two banks of registers, of
 * even and of odd numbers, each of which gives one register a cycle; an FFMA wants three, but one
 * that shares an operand with the FFMA ahead of it has that in a cache (.reuse). Measured on an
 * H200 with registers of our choice: three of one parity take 3 cycles, two of one parity and one
 * of the other 2, one of each and the third in the cache 1; the second cycle is free behind an
 * instruction that is no FFMA. So products go down a column of D and up the next, hopping between
 * the two pieces of A. ptxas keeps to that and finds registers of both parities if loads have a
 * predicate that it does not know: registers that may keep their values are not dealt out anew at
 * each k. Without it 8 FFMA in 100 wait for a register, and loads come just before their use. That
 * the predicate be the same for all loads matters: with one that says whether there is a next k,
 * they become branches. scripts/ffma-parity counts, in CI.
 *
 * Tried (H200, 4096^3 TN, TFLOP/s, each alone in an experiment of plain boxes, 512 bytes a row;
 * simt-ffma 52.8, cuBLASLt 53.8):
 *     8 x 8 a lane, 8 warps, ring of 4 slots of 16 k        53.2
 *     8 x 16 a lane, 16 k a slot, loop of 16 k              54.5
 *     32 k a slot, loop of 8 k; of 32 (64 KB of code)       54.4; 53.5, and 46.7 at 2048^3
 *     loads with a predicate, loop of 2, 4, 8 k             55.5, 55.4, 56.3
 *     ... products without hops; row by row                 56.6 (loop of 8); 56.0
 *     a warp that fetches                                   168 registers, for three share a
 *                                                           scheduler: spills
 *     this kernel with a predicate that varies              47.6: loads in branches
 *     as it stands, beside cuBLASLt         TN 55.2 (1.04), NN 54.5 (1.07), NT 53.6 (1.07),
 *                                           TT 54.4 (1.04), copies included; 8192^3 TN 55.7 (1.03)
 */
#include "gpu/arch.cuh"
#include "gpu/families/simt/finish.cuh"
#include "gpu/families/simt_tma/shape.h"
#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/fma.cuh"
#include "gpu/ptx/griddepcontrol.cuh"
#include "gpu/ptx/ldmatrix.cuh"
#include "gpu/ptx/mbarrier.cuh"
#include "gpu/ptx/special.cuh"
#include "gpu/ptx/tma.cuh"
#include "gpu/tensor_map.h"
#include "tile/pipeline.h"
#include "tile/raster.h"
#include "tile/split.h"

/* BM x BN: D of a block; WM x WN: of a warp, a lane has WM / 8 x WN / 4 elements. */
template <int BM, int BN, int WM, int WN, int STAGES> struct simt_tma_kernel {
    enum {
        BK = 32,
        ATOM = 32, /* elements of m or n in a box */
        ATOM_BYTES = BK * TCGEMM_TENSOR_ROW,
        A_BYTES = BM / ATOM * ATOM_BYTES,
        B_BYTES = BN / ATOM * ATOM_BYTES,
        SLOT_BYTES = A_BYTES + B_BYTES,
        RING_BYTES = STAGES * SLOT_BYTES,
        WARPS_N = BN / WN,
        WARPS = BM / WM * WARPS_N,
        HALVES = WM / 32, /* pieces of A of a lane */
        PIECES = WN / 16, /* of B */
        TURN = 8          /* k in a turn of the loop: the swizzle begins anew */
    };
    static_assert(BM % (ATOM * WARPS) == 0 && BN % (ATOM * WARPS) == 0,
                  "each warp asks for as many");
    static_assert(SLOT_BYTES == TCGEMM_SIMT_TMA_SLOT(BM, BN, BK), "shape.h");

    uint32_t ring; /* its first byte; behind it a barrier for each slot */
    uint32_t warp, lane;
    int32_t row, col, item_a, item_b, first_k; /* where the boxes of a tile begin */

    __device__ __forceinline__ uint32_t filled(uint32_t slot) const {
        return ring + RING_BYTES + 8 * slot;
    }

    /* ---- fetching: a lane of each warp, a share of the boxes ---- */

    __device__ __forceinline__ void fetch(const tcgemm_tensor_args_t &x, uint32_t slot,
                                          uint32_t block) const {
        const uint32_t barrier = filled(slot), at = ring + slot * SLOT_BYTES;
        const int32_t k = first_k + (int32_t)block * BK;
        tcgemm_mbarrier_arrive_expect(barrier, SLOT_BYTES / WARPS);
#pragma unroll
        for (int i = 0; i < BM / ATOM / WARPS; ++i) {
            const uint32_t atom = warp * (BM / ATOM / WARPS) + i;
            tcgemm_tma_load(at + atom * ATOM_BYTES, &x.a, barrier, row + (int32_t)atom * ATOM, k,
                            item_a);
        }
#pragma unroll
        for (int i = 0; i < BN / ATOM / WARPS; ++i) {
            const uint32_t atom = warp * (BN / ATOM / WARPS) + i;
            tcgemm_tma_load(at + A_BYTES + atom * ATOM_BYTES, &x.b, barrier,
                            col + (int32_t)atom * ATOM, k, item_b);
        }
    }

    /* ---- the kernel ---- */

    __device__ __forceinline__ void run(const tcgemm_tensor_args_t &x) {
        const tcgemm_gpu_args_t &args = x.args;
        extern __shared__ __align__(1024) char memory[];
        ring = tcgemm_smem_address(memory);
        warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        if (threadIdx.x == 0) {
            for (uint32_t slot = 0; slot < STAGES; ++slot)
                tcgemm_mbarrier_init(filled(slot), WARPS);
            tcgemm_mbarrier_fence_init();
        }
        __syncthreads();
        tcgemm_wait_for_grids();
        tcgemm_let_next_grid_begin();

        const tcgemm_batch_tile_t tile = tcgemm_batch_raster(&args.raster, tcgemm_block_index());
        const tcgemm_part_t part = tcgemm_part_of_k(tile.batch, args.splits, args.k, args.split_k);
        const uint32_t blocks = tcgemm_pipeline_blocks(part.k, BK);
        row = (int32_t)(tile.at.m * BM);
        col = (int32_t)(tile.at.n * BN);
        item_a = args.stride_a ? (int32_t)part.item : 0;
        item_b = args.stride_b ? (int32_t)part.item : 0;
        first_k = (int32_t)part.first;
        if (lane == 0)
            for (uint32_t slot = 0; slot < STAGES && slot < blocks; ++slot)
                fetch(x, slot, slot);

        float c[HALVES][4][PIECES][4] = {}; /* (half of m, row, piece of n, column) */
        multiply(x, blocks, c);

        const uint32_t row0 = warp / WARPS_N * WM + lane / 4 * 4; /* and 32 further down */
        const uint32_t col0 = warp % WARPS_N * WN + lane % 4 * 4; /* and every 16 to the right */
        const bool whole = args.vector_d >= 16 && (!args.c || args.vector_c >= 16);
#pragma unroll
        for (int h = 0; h < HALVES; ++h)
            simt_finish_rows<PIECES>(args, c[h], tile.batch, row + (int64_t)(row0 + 32 * h),
                                     col + (int64_t)col0, whole);
    }

    __device__ __forceinline__ void multiply(const tcgemm_tensor_args_t &x, uint32_t blocks,
                                             float c[HALVES][4][PIECES][4]) const {
        /* Where the pieces of a lane lie in the first slot, for each row of the swizzle. */
        uint32_t a_at[8], b_at[4];
#pragma unroll
        for (uint32_t k = 0; k < 8; ++k) {
            a_at[k] = ring + warp / WARPS_N * HALVES * ATOM_BYTES + ((lane / 4 ^ k) * 16);
            tcgemm_keep(&a_at[k]);
        }
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            b_at[k] =
                ring + A_BYTES + warp % WARPS_N * (PIECES / 2) * ATOM_BYTES + ((lane % 4 ^ k) * 16);
            tcgemm_keep(&b_at[k]);
        }
        /* What a lane multiplies at one k, and at the next. */
        float a[2][HALVES][4] = {}, b[2][PIECES][4] = {};
        const bool wanted = blocks < UINT32_MAX; /* always so, which ptxas does not know */
        auto read = [&](uint32_t from, int k) {
#pragma unroll
            for (int h = 0; h < HALVES; ++h)
                tcgemm_lds_128_f32_if(a[k % 2][h],
                                      a_at[k % 8] + from + k * TCGEMM_TENSOR_ROW + h * ATOM_BYTES,
                                      wanted);
#pragma unroll
            for (int piece = 0; piece < PIECES; ++piece)
                tcgemm_lds_128_f32_if(b[k % 2][piece],
                                      b_at[k % 4] + from + k * TCGEMM_TENSOR_ROW +
                                          piece / 2 * ATOM_BYTES + (piece % 2 ^ k / 4 % 2) * 64,
                                      wanted);
        };

        uint32_t slot = 0, parity = 0, block = 0, turns_left = BK / TURN;
        uint32_t from = 0; /* of this turn, beyond the ring's first byte */
        tcgemm_mbarrier_wait(filled(0), 0);
        read(0, 0);
#pragma unroll 1
        while (block < blocks) {
#pragma unroll
            for (int k = 0; k < TURN; ++k) {
                if (k + 1 < TURN) {
                    read(from, k + 1);
                } else {
                    from += TURN * TCGEMM_TENSOR_ROW;
                    if (--turns_left == 0) {
                        turns_left = BK / TURN;
                        __syncthreads(); /* all have read this slot */
                        if (lane == 0 && block + STAGES < blocks)
                            fetch(x, slot, block + STAGES);
                        /* Behind the last block this one is read once more, for nothing. */
                        if (++block < blocks) {
                            if (++slot == STAGES) {
                                slot = 0;
                                parity ^= 1;
                            }
                            tcgemm_mbarrier_wait(filled(slot), parity);
                        }
                        from = slot * SLOT_BYTES;
                    }
                    read(from, 0);
                }
                /* Down a column and up the next, hopping between the halves of m. */
#pragma unroll
                for (int j = 0; j < 4 * PIECES; ++j)
#pragma unroll
                    for (int there = 0; there < 4 * HALVES; ++there) {
                        const int t = j % 2 ? 4 * HALVES - 1 - there : there;
                        const int h = t % HALVES, i = t / HALVES;
                        tcgemm_fma(&c[h][i][j / 4][j % 4], a[k % 2][h][i], b[k % 2][j / 4][j % 4]);
                    }
            }
        }
    }
};

#define TCGEMM_WANTS(type)   TCGEMM_WANTS_##type
#define TCGEMM_WANTS_f32_f32 1
#define ROW(type, sums, min_cc, max_cc, bm, bn, bk, wm, wn, stages, blocks, tag)                   \
    extern "C" __global__ void __launch_bounds__(TCGEMM_SIMT_TMA_THREADS(bm, bn, wm, wn), blocks)  \
        tcgemm_mma_pipelined_##type##_##bm##x##bn##x##bk##_##tag##_tn(                             \
            const __grid_constant__ tcgemm_tensor_args_t x) {                                      \
        static_assert(bk == simt_tma_kernel<bm, bn, wm, wn, stages>::BK, "32 of k in a slot");     \
        if constexpr (TCGEMM_IS_FOR_ARCH(min_cc, max_cc,                                           \
                                         TCGEMM_SIMT_TMA_SMEM(bm, bn, bk, stages))) {              \
            simt_tma_kernel<bm, bn, wm, wn, stages> kernel;                                        \
            kernel.run(x);                                                                         \
        }                                                                                          \
    }
#include "gpu/families/simt_tma/rows.def"
