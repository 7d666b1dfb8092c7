#ifndef TCGEMM_WGMMA_CUH
#define TCGEMM_WGMMA_CUH

#include "gpu/arch.cuh"
#include "gpu/elements.cuh"
#include "gpu/families/wgmma/shape.h"
#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/mbarrier.cuh"
#include "gpu/ptx/setmaxnreg.cuh"
#include "gpu/ptx/tma.cuh"
#include "gpu/ptx/wgmma.cuh"
#include "gpu/tensor_map.h"
#include "tile/pipeline.h"
#include "tile/raster.h"
#include "tile/split.h"
#include "tile/swizzle.h"

/* TYPE, see wgmma_types.cuh:
 *     KIND                 of the instruction
 *     sum                  an accumulator: float or uint32_t
 *     scalar               alpha, beta and the arithmetic of D
 *     out                  an element of C and D
 *     ELEMENT_BYTES        of an element of A and B
 *     load(out), store(s)  conversions of an element of C and D
 *
 * LEFT x RIGHT is the tile as the instruction sees it: the tile of D, or with SWAP the tile of its
 * transpose, A standing for the columns of B and B for the rows of A.
 */
template <class TYPE, int LEFT, int RIGHT, int CONSUMERS, int TURNS, int STAGES, int LEFT_FORM,
          int RIGHT_FORM, int SWAP>
struct wgmma_kernel {
    typedef typename TYPE::sum sum;
    typedef typename TYPE::scalar scalar;
    typedef typename TYPE::out out;
    enum {
        ROW = 128, /* bytes */
        BK = ROW / TYPE::ELEMENT_BYTES,
        ATOM = 64,          /* elements of a row where m (n) is contiguous */
        STEPS = 4,          /* products of 32 bytes of k in a block */
        STEP_K = BK / STEPS, /* elements of k of one */
        SHARERS = TURNS ? 1 : CONSUMERS, /* warpgroups that share a tile */
        UNITS = LEFT / 64 / SHARERS,
        THREADS = TCGEMM_WGMMA_THREADS(CONSUMERS),
        LEFT_BYTES = TCGEMM_WGMMA_LINES(LEFT) * ROW,
        RIGHT_BYTES = TCGEMM_WGMMA_LINES(RIGHT) * ROW,
        STAGE_BYTES = LEFT_BYTES + RIGHT_BYTES,
        SMEM_BYTES = STAGES * (STAGE_BYTES + 16) + CONSUMERS * 8,
        LEFT_ARRIVE = LEFT_FORM == TCGEMM_FORM_K ? LEFT * ROW : LEFT_BYTES,
        RIGHT_ARRIVE = RIGHT_FORM == TCGEMM_FORM_K ? RIGHT * ROW : RIGHT_BYTES,
        ATOM_BYTES = BK * ROW,
        ROWS_D = SWAP ? RIGHT : LEFT,
        COLS_D = SWAP ? LEFT : RIGHT,
        MANY_REGISTERS = UNITS * RIGHT >= 256 && CONSUMERS == 2
    };
    static_assert(LEFT_FORM == TCGEMM_FORM_K || TYPE::ELEMENT_BYTES == 2, "only 16 bit by m");
    static_assert(RIGHT_FORM == TCGEMM_FORM_K || TYPE::ELEMENT_BYTES == 2, "only 16 bit by n");
    static_assert(LEFT % (64 * SHARERS) == 0, "whole instructions");
    static_assert(!TURNS || CONSUMERS == 2, "one after the other");

    uint32_t smem;

    /* ---- the ring ---- */

    __device__ __forceinline__ uint32_t slot_at(uint32_t slot) const {
        return smem + slot * STAGE_BYTES;
    }
    __device__ __forceinline__ uint32_t filled(uint32_t slot) const {
        return smem + STAGES * STAGE_BYTES + slot * 16;
    }
    __device__ __forceinline__ uint32_t emptied(uint32_t slot) const {
        return filled(slot) + 8;
    }

    /* Consumer 0 and 1 take turns with the tiles: the next may begin. */
    __device__ __forceinline__ uint32_t turn_of(uint32_t consumer) const {
        return smem + STAGES * (STAGE_BYTES + 16) + consumer * 8;
    }

    /* A place in the ring, and how often it went round. */
    struct cursor {
        uint32_t slot, parity;
        __device__ __forceinline__ void skip(uint32_t blocks) {
            slot += blocks;
            parity ^= slot / STAGES & 1;
            slot %= STAGES;
        }
        __device__ __forceinline__ void advance(void) {
            if (++slot == STAGES) {
                slot = 0;
                parity ^= 1;
            }
        }
    };

    __device__ __forceinline__ void make_barriers(void) {
        for (uint32_t slot = 0; slot < STAGES; ++slot) {
            tcgemm_mbarrier_init(filled(slot), 1);
            tcgemm_mbarrier_init(emptied(slot), SHARERS * 4);
        }
        for (uint32_t consumer = 0; consumer < CONSUMERS; ++consumer)
            tcgemm_mbarrier_init(turn_of(consumer), 4);
        tcgemm_mbarrier_fence_init();
    }

    /* ---- tiles ---- */

    struct work {
        uint32_t index;      /* of the matrix of D: item and part */
        uint32_t blocks;     /* of k */
        int32_t item, first; /* of the batch; element of k */
        int64_t left, right; /* first row and column */
    };

    static __device__ __forceinline__ uint32_t num_tiles(const tcgemm_gpu_args_t &args,
                                                         uint32_t *rows, uint32_t *cols) {
        *rows = (uint32_t)((args.m + ROWS_D - 1) / ROWS_D);
        *cols = (uint32_t)((args.n + COLS_D - 1) / COLS_D);
        return *rows * *cols * (uint32_t)args.batch * args.splits;
    }

    static __device__ __forceinline__ work find_work(const tcgemm_gpu_args_t &args, uint32_t tile,
                                                     uint32_t rows, uint32_t cols) {
        const tcgemm_batch_tile_t at = tcgemm_batch_raster(tile, rows, cols, args.raster_group);
        const tcgemm_part_t part = tcgemm_part_of_k(at.batch, args.splits, args.k, args.split_k);
        work w;
        w.index = at.batch;
        w.blocks = tcgemm_pipeline_blocks(part.k, BK);
        w.item = (int32_t)part.item;
        w.first = (int32_t)part.first;
        w.left = (int64_t)(SWAP ? at.at.n : at.at.m) * LEFT;
        w.right = (int64_t)(SWAP ? at.at.m : at.at.n) * RIGHT;
        return w;
    }

    /* ---- the warp that fetches ---- */

    /* One side of a block of k: one box, or one for each 64 m (n). */
    template <int FORM, int BYTES>
    static __device__ __forceinline__ void fetch(uint32_t to, const tcgemm_tensor_map_t *map,
                                                 uint32_t barrier, int32_t k, int32_t from,
                                                 int32_t item) {
        if (FORM == TCGEMM_FORM_K) {
            tcgemm_tma_load(to, map, barrier, k, from, item);
        } else {
#pragma unroll
            for (int atom = 0; atom < BYTES / ATOM_BYTES; ++atom)
                tcgemm_tma_load(to + atom * ATOM_BYTES, map, barrier, from + atom * ATOM, k, item);
        }
    }

    __device__ __forceinline__ void produce(const tcgemm_tensor_args_t &x) {
        const tcgemm_gpu_args_t &args = x.args;
        const tcgemm_tensor_map_t *left = SWAP ? &x.b : &x.a;
        const tcgemm_tensor_map_t *right = SWAP ? &x.a : &x.b;
        const bool left_varies = (SWAP ? args.stride_b : args.stride_a) != 0;
        const bool right_varies = (SWAP ? args.stride_a : args.stride_b) != 0;
        uint32_t rows, cols;
        const uint32_t tiles = num_tiles(args, &rows, &cols);
        cursor at = {0, 0};
        tcgemm_tma_prefetch(left);
        tcgemm_tma_prefetch(right);
        for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            const work w = find_work(args, tile, rows, cols);
            int32_t k = w.first;
#pragma unroll 1
            for (uint32_t block = 0; block < w.blocks; ++block) {
                tcgemm_mbarrier_wait(emptied(at.slot), at.parity ^ 1);
                tcgemm_mbarrier_arrive_expect(filled(at.slot), LEFT_ARRIVE + RIGHT_ARRIVE);
                fetch<LEFT_FORM, LEFT_BYTES>(slot_at(at.slot), left, filled(at.slot), k,
                                             (int32_t)w.left, left_varies ? w.item : 0);
                fetch<RIGHT_FORM, RIGHT_BYTES>(slot_at(at.slot) + LEFT_BYTES, right,
                                               filled(at.slot), k, (int32_t)w.right,
                                               right_varies ? w.item : 0);
                k += BK;
                at.advance();
            }
        }
    }

    /* ---- warpgroups that multiply ---- */

    static __device__ __forceinline__ uint64_t operand(int form, uint32_t at) {
        return form == TCGEMM_FORM_K ? tcgemm_wgmma_operand(at, 0, 8 * ROW)
                                     : tcgemm_wgmma_operand(at, ATOM_BYTES, 8 * ROW);
    }

    /* Bytes from one step of k to the next. */
    static __device__ __forceinline__ constexpr uint32_t step_bytes(int form) {
        return form == TCGEMM_FORM_K ? ROW / STEPS : STEP_K * ROW;
    }

    __device__ __forceinline__ void multiply(sum (&c)[UNITS][RIGHT / 2], uint32_t slot,
                                             uint32_t consumer, uint32_t block) {
        const uint64_t left = operand(LEFT_FORM, slot_at(slot) + consumer * (UNITS * 64 * ROW));
        const uint64_t right = operand(RIGHT_FORM, slot_at(slot) + LEFT_BYTES);
#pragma unroll
        for (int step = 0; step < STEPS; ++step)
#pragma unroll
            for (int unit = 0; unit < UNITS; ++unit)
                tcgemm_wgmma<TYPE::KIND, RIGHT>::template run<LEFT_FORM, RIGHT_FORM>(
                    c[unit],
                    tcgemm_wgmma_advance(left, unit * 64 * ROW + step * step_bytes(LEFT_FORM)),
                    tcgemm_wgmma_advance(right, step * step_bytes(RIGHT_FORM)),
                    step > 0 || block > 0);
    }

    /* One arrival of each warp. */
    __device__ __forceinline__ void release(uint32_t slot) {
        if (threadIdx.x % 32 == 0)
            tcgemm_mbarrier_arrive(emptied(slot));
    }

    __device__ __forceinline__ void consume(const tcgemm_gpu_args_t &args, uint32_t consumer) {
        const uint32_t step = gridDim.x;
        uint32_t rows, cols, turn = consumer ^ 1;
        const uint32_t tiles = num_tiles(args, &rows, &cols);
        cursor at = {0, 0};
        sum c[UNITS][RIGHT / 2];
        uint32_t tile = blockIdx.x;
        if (TURNS && consumer == 1 && tile < tiles) {
            at.skip(find_work(args, tile, rows, cols).blocks);
            tile += step;
        }
        while (tile < tiles) {
            const work w = find_work(args, tile, rows, cols);
            uint32_t before = 0;
            if (TURNS) {
                tcgemm_mbarrier_wait(turn_of(consumer), turn);
                turn ^= 1;
            }
#pragma unroll 1
            for (uint32_t block = 0; block < w.blocks; ++block) {
                tcgemm_mbarrier_wait(filled(at.slot), at.parity);
                tcgemm_wgmma_fence();
                multiply(c, at.slot, TURNS ? 0 : consumer, block);
                tcgemm_wgmma_commit();
                tcgemm_wgmma_wait<1>();
                if (block > 0)
                    release(before);
                before = at.slot;
                at.advance();
            }
            if (TURNS && threadIdx.x % 32 == 0)
                tcgemm_mbarrier_arrive(turn_of(consumer ^ 1));
            tcgemm_wgmma_wait<0>();
            release(before);
            finish(args, w, TURNS ? 0 : consumer, c);
            tile += step;
            if (TURNS && tile < tiles) {
                at.skip(find_work(args, tile, rows, cols).blocks);
                tile += step;
            }
        }
    }

    /* ---- epilogue: D = alpha * c + beta * C, from registers ---- */

    struct alignas(2 * sizeof(out)) pair {
        out v[2];
    };

    __device__ __forceinline__ void finish(const tcgemm_gpu_args_t &args, const work &w,
                                           uint32_t consumer,
                                           const sum (&c)[UNITS][RIGHT / 2]) {
        const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
        const int64_t left = w.left + consumer * (UNITS * 64) + warp * 16 + lane / 4;
        const int64_t right = w.right + 2 * (lane % 4);
        const int64_t left_end = SWAP ? args.n : args.m, right_end = SWAP ? args.m : args.n;
        scalar alpha, beta;
        scalars(args, &alpha, &beta);
        out *const d = (out *)args.d + w.index * args.stride_d;
        const out *const from =
            args.c ? (const out *)args.c + (int64_t)w.index * args.stride_c : NULL;
        const bool in_pairs = !SWAP && args.vector_d >= sizeof(pair) &&
                              (!from || args.vector_c >= sizeof(pair));
        const int64_t d_left = SWAP ? 1 : args.ldd, d_right = SWAP ? args.ldd : 1;
        const int64_t c_left = SWAP ? 1 : args.ldc, c_right = SWAP ? args.ldc : 1;
#pragma unroll
        for (int unit = 0; unit < UNITS; ++unit)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int64_t i = left + unit * 64 + half * 8;
                if (i >= left_end)
                    continue;
                out *const line = d + i * d_left;
                const out *const old = from ? from + i * c_left : NULL;
#pragma unroll
                for (int j = 0; j < RIGHT / 8; ++j) {
                    const int64_t col = right + 8 * j;
                    scalar v[2] = {alpha * (scalar)c[unit][4 * j + 2 * half],
                                   alpha * (scalar)c[unit][4 * j + 2 * half + 1]};
                    if (in_pairs && col + 1 < right_end) {
                        pair p;
                        if (old) {
                            p = *(const pair *)(old + col);
                            v[0] += beta * TYPE::load(p.v[0]);
                            v[1] += beta * TYPE::load(p.v[1]);
                        }
                        p.v[0] = TYPE::store(v[0]);
                        p.v[1] = TYPE::store(v[1]);
                        *(pair *)(line + col) = p;
                        continue;
                    }
#pragma unroll
                    for (int x = 0; x < 2; ++x)
                        if (col + x < right_end) {
                            if (old)
                                v[x] += beta * TYPE::load(old[(col + x) * c_right]);
                            line[(col + x) * d_right] = TYPE::store(v[x]);
                        }
                }
            }
    }

    /* ---- roles ---- */

    __device__ __forceinline__ void run(const tcgemm_tensor_args_t &x) {
        extern __shared__ __align__(1024) char memory[];
        smem = tcgemm_smem_address(memory);
        const uint32_t warpgroup = threadIdx.x / 128;
        if (threadIdx.x == 0)
            make_barriers();
        __syncthreads();
        if (warpgroup == CONSUMERS) {
            if (MANY_REGISTERS)
                tcgemm_registers_less<40>();
            if (threadIdx.x == CONSUMERS * 128)
                produce(x);
        } else {
            if (MANY_REGISTERS)
                tcgemm_registers_more<232>();
            consume(x.args, warpgroup);
        }
    }
};

#endif
