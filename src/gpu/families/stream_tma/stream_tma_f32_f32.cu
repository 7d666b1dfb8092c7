/* stream_tma_f32_f32.cu - stream, f32_f32, for sm_90: the large operand comes by boxes.
 *
 * For up to 32 rows (or columns) of D, on CUDA cores. Where lanes load to registers (stream.cuh),
 * an SM has 32 KB under way at most, beside sums that take half of its registers: that is half of
 * what the memory can do. Here the tensor memory accelerator (TMA) fills a ring of slots in shared
 * memory far ahead, and registers are for sums.
 *
 *     few rows: B is large                      few columns: A is large
 *
 *               n ->                                    D, m x few
 *     A, few x k   B, k x n   D, few x n        a line is a row of A there, a column of B here
 *
 *     grid        a block an SM takes tiles of D, gridDim.x apart: LINES lines, all of the few
 *     ring        STAGES slots, each BK elements of k of the lines and of the few, in boxes whose
 *                 rows are 128 bytes, in the 128-byte swizzle (gpu/tensor_map.h)
 *     warps       eight multiply; one asks for boxes; three gather the few where no box can bring
 *                 them, four bytes at a time by cp.async, laid as boxes would lie
 *
 * A lane has 8 of the few and 8 lines, so that 16 loads of 16 bytes serve 256 multiply-adds: such a
 * load takes an SM three cycles and more, also where all lanes read the same, for it is what comes
 * to registers that counts. Lanes that are left have other k:
 *
 *     16 x 32   2 x 4 lanes, four slices of k       a lane has 4 k of its slice, and a slot is as
 *     16 x 64   2 x 8 lanes, two                    many as all warps have
 *     32 x 64   4 x 8 lanes, one
 *
 *     k contiguous       a lane reads 4 k of each of its lines
 *     lines contiguous   a lane reads 4 of its lines for each k; a row of a box is one k
 *
 *     time, a warp    slot is filled | its products | loads are done, slot is empty, the next one
 * .. time, a tile    .. last slot | sums to shared memory, all are there, added up in the order of
 *                     slices, D | meanwhile boxes of the next tile come
 *
 * Which lane multiplies which k depends on neither the launch nor the tile: the same bits on every
 * run. Parts of k (tile/split.h) are whole slots but for the last, and what lies beyond k is zero
 * in both operands, for it is outside both tensors. Of the few, those beyond D are zero, too; their
 * sums are nobody's.
 *
 * Measured, with what was tried: bench/results/notes.md, "Few rows of f32 by boxes".
 */
#include "gpu/arch.cuh"
#include "gpu/families/stream_tma/shape.h"
#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/griddepcontrol.cuh"
#include "gpu/ptx/ldmatrix.cuh"
#include "gpu/ptx/mbarrier.cuh"
#include "gpu/ptx/shared.cuh"
#include "gpu/ptx/special.cuh"
#include "gpu/ptx/tma.cuh"
#include "gpu/tensor_map.h"
#include "tile/pipeline.h"
#include "tile/split.h"

template <int FEW, int LINES, int BK, int WARPS, int STAGES, bool IS_K_FORM>
struct stream_tma_kernel {
    enum {
        ATOM = 32,  /* elements in a row of a box */
        CHUNK = 4,  /* elements of k that a lane multiplies at a time, ... */
        SQUARE = 8, /* ... of so many lines and of the few */
        FEW_GROUPS = FEW / SQUARE,
        LINE_GROUPS = LINES / SQUARE,
        SLICES = 32 / (FEW_GROUPS * LINE_GROUPS), /* chunks side by side in a warp */
        CHUNKS = BK / CHUNK / (WARPS * SLICES),   /* one behind another */
        LARGE_BYTES = LINES * BK * 4,
        FEW_BYTES = FEW * BK * 4,
        SLOT_BYTES = LARGE_BYTES + FEW_BYTES,
        RING_BYTES = STAGES * SLOT_BYTES,
        SUMS_PITCH = LINES + 1, /* floats */
        SUMS = WARPS * SLICES,  /* of each element of D */
        GATHERERS = TCGEMM_STREAM_TMA_FETCHERS - 1
    };
    static_assert(SLOT_BYTES == TCGEMM_STREAM_TMA_SLOT(FEW, LINES, BK) &&
                      SUMS * FEW * SUMS_PITCH * 4 == TCGEMM_STREAM_TMA_SUMS(FEW, LINES, WARPS),
                  "shape.h");
    static_assert(CHUNKS * CHUNK * SLICES * WARPS == BK && BK % ATOM == 0, "a slot is shared out");

    uint32_t ring; /* its first byte; behind it the sums, then the barriers */

    __device__ __forceinline__ uint32_t slot_at(uint32_t slot) const {
        return ring + slot * SLOT_BYTES;
    }
    __device__ __forceinline__ uint32_t sums_at(uint32_t slice) const {
        return ring + RING_BYTES + slice * (FEW * SUMS_PITCH * 4);
    }
    __device__ __forceinline__ uint32_t filled(uint32_t slot) const {
        return ring + RING_BYTES + TCGEMM_STREAM_TMA_SUMS(FEW, LINES, WARPS) + 8 * slot;
    }
    __device__ __forceinline__ uint32_t emptied(uint32_t slot) const {
        return filled(STAGES + slot);
    }
    __device__ __forceinline__ uint32_t laid(void) const { /* the sums of a tile */
        return filled(2 * STAGES);
    }
    __device__ __forceinline__ uint32_t taken(void) const { /* ... which are in D */
        return filled(2 * STAGES + 1);
    }

    /* A place in the sequence of slots. */
    struct cursor {
        uint32_t slot, parity;
        __device__ __forceinline__ void advance(void) {
            if (++slot == STAGES) {
                slot = 0;
                parity ^= 1;
            }
        }
    };

    /* ---- tiles ---- */

    static __device__ __forceinline__ int64_t lines(const tcgemm_gpu_args_t &args) {
        return args.streams_a ? args.m : args.n;
    }
    static __device__ __forceinline__ int32_t few(const tcgemm_gpu_args_t &args) {
        return (int32_t)(args.streams_a ? args.n : args.m);
    }
    static __device__ __forceinline__ uint32_t tiles_of_item(const tcgemm_gpu_args_t &args) {
        return (uint32_t)((lines(args) + LINES - 1) / LINES);
    }
    static __device__ __forceinline__ uint32_t num_tiles(const tcgemm_gpu_args_t &args) {
        return tiles_of_item(args) * (uint32_t)(args.batch * args.splits.by);
    }

    struct work {
        uint32_t index;  /* of the matrix of D: item and part */
        int64_t line;    /* the first */
        uint32_t blocks; /* of k */
        tcgemm_part_t part;
    };

    static __device__ __forceinline__ work find_work(const tcgemm_gpu_args_t &args, uint32_t tile) {
        work w;
        w.index = tile / tiles_of_item(args);
        w.line = (int64_t)(tile - w.index * tiles_of_item(args)) * LINES;
        w.part = tcgemm_part_of_k(w.index, args.splits, args.k, args.split_k);
        w.blocks = tcgemm_pipeline_blocks(w.part.k, BK);
        return w;
    }

    /* ---- a warp that asks for boxes ---- */

    __device__ __forceinline__ void fetch(const tcgemm_tensor_args_t &x) const {
        const tcgemm_gpu_args_t &args = x.args;
        const bool a = args.streams_a != 0, boxes_of_few = args.gathers == 0;
        const tcgemm_tensor_map_t *const large = a ? &x.a : &x.b, *const small = a ? &x.b : &x.a;
        const uint64_t read_once = tcgemm_l2_policy(true);
        cursor at = {0, 0};
#pragma unroll 1
        for (uint32_t tile = blockIdx.x; tile < num_tiles(args); tile += gridDim.x) {
            const work w = find_work(args, tile);
            const int32_t item = (a ? args.stride_a : args.stride_b) ? (int32_t)w.part.item : 0;
            const int32_t item_few = (a ? args.stride_b : args.stride_a) ? (int32_t)w.part.item : 0;
#pragma unroll 1
            for (uint32_t block = 0; block < w.blocks; ++block) {
                const int32_t line = (int32_t)w.line, k = (int32_t)w.part.first + block * BK;
                const uint32_t to = slot_at(at.slot), barrier = filled(at.slot);
                tcgemm_mbarrier_wait(emptied(at.slot), at.parity ^ 1);
                tcgemm_mbarrier_arrive_expect(barrier, boxes_of_few ? SLOT_BYTES : LARGE_BYTES);
                if constexpr (IS_K_FORM) {
#pragma unroll
                    for (int i = 0; i < BK / ATOM; ++i)
                        tcgemm_tma_load_by(to + i * (LINES * TCGEMM_TENSOR_ROW), large, barrier,
                                           k + i * ATOM, line, item, read_once);
                } else {
#pragma unroll
                    for (int i = 0; i < LINES / ATOM; ++i)
                        tcgemm_tma_load_by(to + i * (BK * TCGEMM_TENSOR_ROW), large, barrier,
                                           line + i * ATOM, k, item, read_once);
                }
                if (boxes_of_few)
#pragma unroll
                    for (int i = 0; i < BK / ATOM; ++i)
                        tcgemm_tma_load(to + LARGE_BYTES + i * (FEW * TCGEMM_TENSOR_ROW), small,
                                        barrier, k + i * ATOM, 0, item_few);
                at.advance();
            }
        }
    }

    /* ---- warps that gather the few, however they lie ---- */

    /* A lane has one of the few and, of every STEP k, one: as a box would lay them, zeros beyond
     * them and beyond k. */
    __device__ __forceinline__ void gather_block(const tcgemm_gpu_args_t &args, const work &w,
                                                 uint32_t block, uint32_t slot) const {
        enum { STEP = 32 / FEW };
        const bool a = args.streams_a != 0, in_k = a ? args.b_trans != 0 : args.a_trans == 0;
        const int64_t ld = a ? args.ldb : args.lda;
        const int64_t to_k = in_k ? 1 : ld, to_next = in_k ? ld : 1;
        const uint32_t lane = threadIdx.x % 32, f = lane % FEW, own = lane / FEW;
        const int64_t first = w.part.first + (int64_t)block * BK;
        const float *from = (const float *)(a ? args.b : args.a) +
                            w.part.item * (a ? args.stride_b : args.stride_a) +
                            (first + own) * to_k + f * to_next;
        uint32_t to = slot_at(slot) + LARGE_BYTES + f * TCGEMM_TENSOR_ROW + f % 8 * 16 + own * 4;
        const int64_t beyond = w.part.first + w.part.k - first - own;
        const int left = f >= (uint32_t)few(args) ? 0 : beyond < BK ? (int)beyond : (int)BK;
#pragma unroll 1
        for (int atom = 0; atom < BK; atom += ATOM, to += FEW * TCGEMM_TENSOR_ROW)
#pragma unroll
            for (int k = 0; k < ATOM; k += STEP, from += STEP * to_k)
                tcgemm_cp_async_4_if((to ^ k / CHUNK * 16) + k % CHUNK * 4, from, atom + k < left);
    }

    /* The barrier of a slot hears of its copies when they are there; nobody waits for them here. */
    __device__ __forceinline__ void gather(const tcgemm_gpu_args_t &args, uint32_t gatherer) const {
        cursor at = {0, 0};
        uint32_t turn = 0;
#pragma unroll 1
        for (uint32_t tile = blockIdx.x; tile < num_tiles(args); tile += gridDim.x) {
            const work w = find_work(args, tile);
#pragma unroll 1
            for (uint32_t block = 0; block < w.blocks; ++block, ++turn, at.advance()) {
                if (turn % GATHERERS != gatherer)
                    continue;
                tcgemm_mbarrier_wait(emptied(at.slot), at.parity ^ 1);
                gather_block(args, w, block, at.slot);
                tcgemm_cp_async_arrive(filled(at.slot));
            }
        }
    }

    /* ---- warps that multiply ---- */

    typedef float sums_t[SQUARE][SQUARE]; /* of the few, of lines */

    /* Where a lane is in its warp: which of the few, which lines, which slice of k. */
    static __device__ __forceinline__ uint32_t few_group(void) {
        return threadIdx.x % FEW_GROUPS;
    }
    static __device__ __forceinline__ uint32_t line_group(void) {
        return threadIdx.x / FEW_GROUPS % LINE_GROUPS;
    }
    static __device__ __forceinline__ uint32_t slice(void) {
        return threadIdx.x / (FEW_GROUPS * LINE_GROUPS) % (WARPS * SLICES);
    }

    enum { NEIGHBOURS = IS_K_FORM ? 8 / LINE_GROUPS : 4 }; /* lines side by side */

    static __device__ __forceinline__ uint32_t few_of(int i) {
        return few_group() + i * FEW_GROUPS;
    }
    static __device__ __forceinline__ uint32_t line_of(int i) {
        return (line_group() + i / NEIGHBOURS * LINE_GROUPS) * NEIGHBOURS + i % NEIGHBOURS;
    }

    /* Where a lane reads in the first slot, its first chunk: 16 bytes of each row that lies
     * otherwise in the swizzle than those before; the others are constants away. */
    enum {
        FEW_PLACES = 8 / FEW_GROUPS,
        LINE_PLACES = IS_K_FORM          ? NEIGHBOURS
                      : LINE_GROUPS == 8 ? CHUNK
                                         : 2 * CHUNK
    };
    struct places {
        uint32_t few[FEW_PLACES], lines[LINE_PLACES];
    };

    static __device__ __forceinline__ uint32_t place(uint32_t boxes, uint32_t row, uint32_t piece) {
        uint32_t at = boxes + row * TCGEMM_TENSOR_ROW + ((piece ^ row % 8) * 16);
        tcgemm_keep(&at);
        return at;
    }

    __device__ __forceinline__ places find_places(void) const {
        const uint32_t box = slice() / (ATOM / CHUNK), piece = slice() % (ATOM / CHUNK);
        places at;
#pragma unroll
        for (int i = 0; i < FEW_PLACES; ++i)
            at.few[i] =
                place(ring + LARGE_BYTES + box * (FEW * TCGEMM_TENSOR_ROW), few_of(i), piece);
#pragma unroll
        for (int i = 0; i < LINE_PLACES; ++i)
            at.lines[i] = IS_K_FORM
                              ? place(ring + box * (LINES * TCGEMM_TENSOR_ROW), line_of(i), piece)
                              : place(ring, slice() * CHUNK + i % CHUNK,
                                      line_group() + i / CHUNK * LINE_GROUPS);
        return at;
    }

    static __device__ __forceinline__ void read(uint32_t from, float (&x)[4]) {
        uint32_t raw[4];
        tcgemm_lds_128(raw, from);
#pragma unroll
        for (int i = 0; i < 4; ++i)
            x[i] = __uint_as_float(raw[i]);
    }

    /* `from`: the first byte of the slot, from that of the first. */
    static __device__ __forceinline__ void multiply(const places &at, uint32_t from, sums_t &sums) {
        uint32_t few[FEW_PLACES], lines[LINE_PLACES];
#pragma unroll
        for (int i = 0; i < FEW_PLACES; ++i)
            few[i] = at.few[i] + from;
#pragma unroll
        for (int i = 0; i < LINE_PLACES; ++i)
            lines[i] = at.lines[i] + from;
#pragma unroll
        for (int i = 0; i < CHUNKS; ++i) {
            const int boxes = i * (WARPS * SLICES) / (ATOM / CHUNK);
            float y[SQUARE][CHUNK];
#pragma unroll
            for (int f = 0; f < SQUARE; ++f)
                read(few[f % FEW_PLACES] + (boxes * FEW + f / FEW_PLACES * 8) * TCGEMM_TENSOR_ROW,
                     y[f]);
            if constexpr (IS_K_FORM) {
#pragma unroll
                for (int l = 0; l < SQUARE; ++l) {
                    float x[CHUNK];
                    read(lines[l % NEIGHBOURS] +
                             (boxes * LINES + l / NEIGHBOURS * 8) * TCGEMM_TENSOR_ROW,
                         x);
#pragma unroll
                    for (int k = 0; k < CHUNK; ++k)
#pragma unroll
                        for (int f = 0; f < SQUARE; ++f)
                            sums[f][l] = fmaf(x[k], y[f][k], sums[f][l]);
                }
            } else {
#pragma unroll
                for (int k = 0; k < CHUNK; ++k)
#pragma unroll
                    for (int half = 0; half < 2; ++half) {
                        float x[NEIGHBOURS];
                        read(lines[(half * CHUNK + k) % LINE_PLACES] +
                                 (boxes * ATOM + (LINE_PLACES == CHUNK ? half * BK : 0)) *
                                     TCGEMM_TENSOR_ROW,
                             x);
#pragma unroll
                        for (int f = 0; f < SQUARE; ++f)
#pragma unroll
                            for (int l = 0; l < NEIGHBOURS; ++l)
                                sums[f][half * NEIGHBOURS + l] =
                                    fmaf(x[l], y[f][k], sums[f][half * NEIGHBOURS + l]);
                    }
            }
        }
    }

    /* The sums meet, and leave as D = alpha * sum + beta * C. */
    __device__ __forceinline__ void finish(const tcgemm_gpu_args_t &args, const work &w,
                                           uint32_t parity, const sums_t &sums,
                                           const float *staged) const {
        const bool a = args.streams_a != 0;
        tcgemm_mbarrier_wait(taken(), parity ^ 1);
#pragma unroll
        for (int f = 0; f < SQUARE; ++f)
#pragma unroll
            for (int l = 0; l < SQUARE; ++l)
                tcgemm_sts_32(sums_at(slice()) + (few_of(f) * SUMS_PITCH + line_of(l)) * 4,
                              __float_as_uint(sums[f][l]));
        tcgemm_mbarrier_arrive(laid());
        tcgemm_mbarrier_wait(laid(), parity);
        float *const d = (float *)args.d + w.index * args.stride_d;
        const float *const c = args.c ? (const float *)args.c + w.index * args.stride_c : NULL;
#pragma unroll 1
        for (int i = threadIdx.x; i < FEW * LINES; i += 32 * WARPS) { /* side by side in D */
            const int f = a ? i % FEW : i / LINES;
            const int at = a ? i / FEW : i % LINES;
            const int64_t line = w.line + at;
            if (f >= few(args) || line >= lines(args))
                continue;
            const float *const sum = staged + f * SUMS_PITCH + at;
            float x = sum[0];
#pragma unroll 8
            for (int j = 1; j < SUMS; ++j)
                x += sum[j * FEW * SUMS_PITCH];
            x *= args.alpha.f32;
            if (c)
                x += args.beta.f32 * (a ? c[line * args.ldc + f] : c[f * args.ldc + line]);
            d[a ? line * args.ldd + f : f * args.ldd + line] = x;
        }
        tcgemm_mbarrier_arrive(taken());
    }

    __device__ __forceinline__ void consume(const tcgemm_gpu_args_t &args,
                                            const float *staged) const {
        const places lane = find_places();
        cursor at = {0, 0};
        uint32_t parity = 0;
#pragma unroll 1
        for (uint32_t tile = blockIdx.x; tile < num_tiles(args); tile += gridDim.x) {
            const work w = find_work(args, tile);
            sums_t sums = {};
#pragma unroll 1
            for (uint32_t block = 0; block < w.blocks; ++block) {
                tcgemm_mbarrier_wait(filled(at.slot), at.parity);
                multiply(lane, at.slot * SLOT_BYTES, sums);
                /* Else the arrival overtakes loads, and a box comes before them. */
                tcgemm_tma_fence();
                __syncwarp();
                if (threadIdx.x % 32 == 0)
                    tcgemm_mbarrier_arrive(emptied(at.slot));
                at.advance();
            }
            finish(args, w, parity, sums, staged);
            parity ^= 1;
        }
    }

    __device__ __forceinline__ void run(const tcgemm_tensor_args_t &x) {
        extern __shared__ __align__(1024) char memory[];
        const uint32_t warp = threadIdx.x / 32;
        ring = tcgemm_smem_address(memory);
        if (threadIdx.x == 0) {
            for (uint32_t slot = 0; slot < STAGES; ++slot) {
                tcgemm_mbarrier_init(filled(slot), 1 + (x.args.gathers ? 32 : 0));
                tcgemm_mbarrier_init(emptied(slot), WARPS);
            }
            tcgemm_mbarrier_init(laid(), 32 * WARPS);
            tcgemm_mbarrier_init(taken(), 32 * WARPS);
            tcgemm_mbarrier_fence_init();
        }
        __syncthreads();
        tcgemm_wait_for_grids();
        tcgemm_let_next_grid_begin();
        if (warp < WARPS)
            consume(x.args, (const float *)(memory + RING_BYTES));
        else if (warp == WARPS) {
            if (threadIdx.x % 32 == 0)
                fetch(x);
        } else if (x.args.gathers)
            gather(x.args, warp - WARPS - 1);
    }
};

#define TCGEMM_WANTS(type)   TCGEMM_WANTS_##type
#define TCGEMM_WANTS_f32_f32 1

#define TCGEMM_STREAM_TMA_KERNEL(min_cc, max_cc, few, lines, bk, warps, stages, name, is_k_form)   \
    extern "C" __global__ void __launch_bounds__(TCGEMM_STREAM_TMA_THREADS(warps), 1)              \
        name(const __grid_constant__ tcgemm_tensor_args_t x) {                                     \
        if constexpr (TCGEMM_IS_FOR_ARCH(min_cc, max_cc,                                           \
                                         TCGEMM_STREAM_TMA_SMEM(few, lines, bk, warps, stages))) { \
            stream_tma_kernel<few, lines, bk, warps, stages, is_k_form> kernel;                    \
            kernel.run(x);                                                                         \
        }                                                                                          \
    }
#define ROW(type, sums, min_cc, max_cc, few, lines, bk, warps, stages)                             \
    TCGEMM_STREAM_TMA_KERNEL(min_cc, max_cc, few, lines, bk, warps, stages,                        \
                             tcgemm_stream_##type##_##few##x##lines##_ring_nt, true)               \
    TCGEMM_STREAM_TMA_KERNEL(min_cc, max_cc, few, lines, bk, warps, stages,                        \
                             tcgemm_stream_##type##_##few##x##lines##_ring_nn, false)
#include "gpu/families/stream_tma/rows.def"
