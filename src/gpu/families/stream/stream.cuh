/* stream.cuh - D has few rows or few columns: the large operand passes once, from memory to
 * registers.
 *
 * For: up to 16 rows (or columns) of D, where no element of the large operand is used more often
 * than that and the product takes as long as its bytes. Shared memory, barriers and tensor maps
 * would be in its way: lanes load it into registers in the order in which mma.sync wants it, so
 * that nothing has to be moved once it is there. The small operand waits in shared memory. (More
 * than 8 lines of f32 come by boxes on sm_90: stream_tma.)
 *
 *     few rows: B is large                      few columns: A is large
 *
 *               n ->                                    D, m x few
 *     A, few x k   B, k x n   D, few x n        a line is a row of A there, a column of B here
 *
 * A block has 32 lines of the large operand at a time, its 16 warps share k; it takes tiles of
 * lines gridDim.x apart, and what a warp multiplies next is under way while it multiplies:
 *
 *                k ->   a round: 2 KB of each line            next round, or the next tile
 *     line 0     | warp 0 | warp 1 | warp 2 | ..  | warp 15 | warp 0 | ..
 *      ..        | 128 B  |        |        |     |         |
 *     line 31    | a step: 4 KB, eight loads of 16 bytes for each lane
 *
 * How the lane (g, t), g = lane / 4, t = lane % 4, loads a step of two halves, 64 bytes of k each:
 *
 *     k contiguous       a load of the warp is all 128 bytes of four lines, memory's favourite:
 *                        lanes of even g get the first half of line g / 2 + 4 i, those of odd g
 *                        the second. mma.sync wants one half of eight lines: loads of odd i are
 *                        the other way round, so each lane has, of two loads, one of either half,
 *                        but of two lines. Hence sums of each half apart, of which g and g ^ 1
 *                        exchange one in the end. Where registers do not allow as many sums, a
 *                        load is one half of eight lines, g + 8 i.
 *     lines contiguous   lines 4 g .. 4 g + 3 of one k, as wide as four elements; words along k
 *                        are made of them by byte permutations.
 *
 * k is permuted alike in both operands: the 16 bytes of a lane are its words of two (f64: one) of
 * the instruction's steps. f32 has multiply-adds instead, and four lanes that add up in the end.
 *
 * The small operand is brought in whatever layout, held_k elements of k of its lines at a time,
 * while the first loads are under way. The warps' sums meet in shared memory and are added in the
 * order of the warps: the same bits on every run. Parts of k (tile/split.h) are items of the
 * batch, here as elsewhere. Rows that wide loads cannot take, and the last k of a row, come element
 * by element, in the same order. The last tile begins earlier, so that it is a whole one, too;
 * lines that it shares with the one before are written by that.
 *
 * A launch may begin before the one ahead has ended, and waits before its first load.
 *
 * What was learnt on an H200, with the figures: bench/results/notes.md, "Few rows and columns".
 */
#ifndef TCGEMM_STREAM_CUH
#define TCGEMM_STREAM_CUH

#include <stdint.h>
#include <string.h>

#include "gpu/elements.cuh"
#include "gpu/families/stream/shape.h"
#include "gpu/gpu_args.h"
#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/griddepcontrol.cuh"
#include "gpu/ptx/ldg.cuh"
#include "gpu/words.cuh"
#include "tile/split.h"

/* How the lines of the large operand lie, and how a warp's loads cover 32 of them. */
enum stream_form {
    STREAM_SIDE_BY_SIDE, /* lines 4 g .. 4 g + 3, one k: as wide as four elements */
    STREAM_HALVES,       /* k contiguous: a load is half of 128 bytes of eight lines, */
    STREAM_LINES         /* or all of them of four */
};

/* A step of a lane (g, t): 32 lines, two halves of k of 64 bytes each; of each half the lane has
 * four lines, 16 bytes of k. */
template <int BYTES, int FORM> struct stream_step {
    enum {
        LANE_K = 16 / BYTES, /* elements of k of a half */
        HALF_K = 4 * LANE_K, /* ... of all four lanes t */
        IS_K_FORM = FORM != STREAM_SIDE_BY_SIDE,
        LOADS = IS_K_FORM ? 8 : 2 * LANE_K,
        WIDTH = IS_K_FORM ? 16 : 4 * BYTES, /* bytes of a load */
        WORDS = WIDTH / 4,
        PER_LOAD = WIDTH / BYTES,         /* elements */
        ALIGNED = WIDTH < 16 ? WIDTH : 16 /* bytes that it needs */
    };
    uint32_t raw[32];

    /* Where the i-th load of the lane begins, in the tile: line and k. */
    static __device__ __forceinline__ int line_of(int i) {
        const int g = threadIdx.x % 32 / 4;
        return FORM == STREAM_SIDE_BY_SIDE ? 4 * g
               : FORM == STREAM_HALVES     ? g + i % 4 * 8
                                           : g / 2 + 4 * i;
    }
    static __device__ __forceinline__ int k_of(int i) {
        const int odd = threadIdx.x / 4 % 2, t = threadIdx.x % 4;
        const int half = FORM == STREAM_SIDE_BY_SIDE ? i / LANE_K
                         : FORM == STREAM_HALVES     ? i / 4
                                                     : (i + odd) % 2;
        return half * HALF_K + t * LANE_K + (IS_K_FORM ? 0 : i % LANE_K);
    }

    /* `from` is where the lane's first load begins, `pitch` the bytes from line to line, or from k
     * to k. */
    __device__ __forceinline__ void load(const char *from, int64_t pitch) {
        const char *const other = from + 4 * pitch + (k_of(1) - k_of(0)) * BYTES;
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            if constexpr (FORM == STREAM_LINES)
                tcgemm_ldg_once_16(raw + 4 * i, (i % 2 ? other : from) + 8 * (i / 2) * pitch);
            else if constexpr (FORM == STREAM_HALVES)
                tcgemm_load_words<16>(raw + 4 * i, from + i % 4 * 8 * pitch + i / 4 * 64);
            else
                tcgemm_load_words<WIDTH>(raw + i * WORDS,
                                         from + (i / LANE_K * HALF_K + i % LANE_K) * pitch);
        }
    }

    /* Element by element: of lines below `lines` of the tile those below k; zeros elsewhere. A loop
     * that is not unrolled knows no register by number: each load is put behind those before it. */
    __device__ __forceinline__ void load_careful(const char *tile, int64_t pitch, int k,
                                                 int64_t lines) {
#pragma unroll 1
        for (int i = 0; i < LOADS; ++i) {
            const int line = line_of(i), at = k_of(i);
            const char *const from =
                tile + (IS_K_FORM ? line * pitch + at * BYTES : at * pitch + line * BYTES);
#pragma unroll
            for (int j = 0; j < 32 - WORDS; ++j)
                raw[j] = raw[j + WORDS];
            uint32_t *const last = raw + (32 - WORDS);
#pragma unroll
            for (int j = 0; j < WORDS; ++j)
                last[j] = 0;
#pragma unroll
            for (int j = 0; j < PER_LOAD; ++j)
                if (IS_K_FORM ? line < lines && at + j < k : line + j < lines && at < k)
                    tcgemm_put_element<BYTES>(last, j * BYTES, from + j * BYTES);
        }
    }

    /* Four words of k of each of the lane's lines of a half. */
    __device__ __forceinline__ void words(int half, uint32_t (&line)[4][4]) const {
        const uint32_t *const r = raw + 16 * half;
        const bool second = FORM == STREAM_LINES && ((threadIdx.x / 4 + half) & 1) != 0;
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int w = 0; w < 4; ++w) {
                if constexpr (FORM == STREAM_LINES)
                    line[i][w] = second ? raw[8 * i + 4 + w] : raw[8 * i + w];
                else if constexpr (FORM == STREAM_HALVES)
                    line[i][w] = r[4 * i + w];
                else if constexpr (BYTES == 8)
                    line[i][w] = r[w / 2 * 8 + 2 * i + w % 2];
                else if constexpr (BYTES == 4)
                    line[i][w] = r[4 * w + i];
                else if constexpr (BYTES == 2)
                    line[i][w] = __byte_perm(r[4 * w + i / 2], r[4 * w + 2 + i / 2],
                                             i % 2 ? 0x7632 : 0x5410);
            }
        if constexpr (FORM == STREAM_SIDE_BY_SIDE && BYTES == 1) {
#pragma unroll
            for (int w = 0; w < 4; ++w) { /* four k of four lines, turned round */
                uint32_t turned[4];
                tcgemm_turn_bytes(turned, r[4 * w], r[4 * w + 1], r[4 * w + 2], r[4 * w + 3]);
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    line[i][w] = turned[i];
            }
        }
    }

    /* The i-th of the lane's lines in the tile, once the sums of both halves have met. */
    static __device__ __forceinline__ int line_of_sum(int i) {
        const int g = threadIdx.x % 32 / 4;
        return FORM == STREAM_SIDE_BY_SIDE ? 4 * g + i
               : FORM == STREAM_HALVES     ? g + 8 * i
                                           : g / 2 + 4 * (2 * i + g % 2);
    }
};

/* A tile as the loads of a lane see it. */
struct stream_place {
    const char *from; /* where the lane's first load begins */
    int k;            /* elements of k of this part */
    bool is_wide;     /* wide loads can take what is inside */
};

template <class TYPE, int FEW, int WARPS, bool IS_K_FORM> struct stream_kernel {
    enum {
        FORM = !IS_K_FORM                        ? STREAM_SIDE_BY_SIDE
               : TYPE::template can_halve<FEW>() ? STREAM_LINES
                                                 : STREAM_HALVES,
        BYTES = TYPE::ELEMENT_BYTES,
        LINES = TCGEMM_STREAM_LINES,
        THREADS = TCGEMM_STREAM_THREADS(WARPS),
        REGISTERS = 65536 / THREADS, /* of a thread, all in all */
        STEP_K = 128 / BYTES,        /* elements of k: of a warp's step, */
        ROUND_K = WARPS * STEP_K,    /* of all warps' */
        SHIFT = 64,                  /* bytes between held lines, which lie in other banks so */
        SUMS_PITCH = LINES + 4       /* sums; lanes that store spread over the banks */
    };
    typedef stream_step<BYTES, FORM> step_t;
    typedef typename TYPE::template sums<FEW, FORM == STREAM_LINES> sums_t;
    typedef typename TYPE::scalar scalar_t;
    typedef typename TYPE::out out_t;
    /* Halves of a step that may wait in registers of their own while the next step is fetched. */
    enum {
        FREE = REGISTERS - (int)sizeof(sums_t) / 4, /* registers */
        WAITING = FREE > 96   ? 2
                  : FREE > 64 ? 1
                              : 0
    };
    static_assert(WARPS * FEW * SUMS_PITCH * sizeof(scalar_t) ==
                          TCGEMM_STREAM_SUMS(FEW, WARPS, sizeof(scalar_t)) &&
                      FEW * (ROUND_K * BYTES + SHIFT) <= TCGEMM_STREAM_HELD,
                  "shape.h");

    const tcgemm_gpu_args_t &args;
    char *held;             /* the small operand, held_k elements of k of each of its lines */
    int held_k, held_pitch; /* elements; bytes from line to line */
    uint32_t held_index;    /* of which item and part, */
    int held_base;          /* from which k on */
    sums_t sums;

    /* Lines of the large operand, bytes between them or from k to k; lines of the small one. Worked
     * out each time, so that they need not stay in registers. */
    __device__ __forceinline__ bool a(void) const {
        return args.streams_a != 0;
    }
    __device__ __forceinline__ int64_t lines(void) const {
        return a() ? args.m : args.n;
    }
    __device__ __forceinline__ int64_t pitch(void) const {
        return (a() ? args.lda : args.ldb) * BYTES;
    }
    __device__ __forceinline__ int few(void) const {
        return (int)(a() ? args.n : args.m);
    }
    __device__ __forceinline__ uint32_t tiles(void) const { /* of an item and part */
        return (uint32_t)((lines() + LINES - 1) / LINES);
    }

    /* ---- the small operand ---- */

    /* Whole pieces of 16 bytes along k. */
    __device__ __forceinline__ void hold_pieces(const char *small, int64_t small_few, int count) {
        const int pieces = count * BYTES / 16, end = (count + STEP_K - 1) / STEP_K * 8;
        const uint32_t to = tcgemm_smem_address(held);
        for (int f = 0; f < few(); ++f)
#pragma unroll 1
            for (int i = threadIdx.x; i < end; i += THREADS)
                tcgemm_cp_async_16(to + f * held_pitch + 16 * i,
                                   small + f * small_few * BYTES + (i < pieces ? 16 * i : 0),
                                   i < pieces ? 16 : 0);
        tcgemm_cp_async_commit();
        tcgemm_cp_async_wait<0>();
    }

    /* Word by word, by copies that need no registers. Where the few lie side by side, four of them
     * and eight k are a warp's: some lines of memory, two words a bank. */
    __device__ __forceinline__ void hold_words(const char *small, int64_t small_k,
                                               int64_t small_few, int count) {
        const int end = (count + STEP_K - 1) / STEP_K * STEP_K;
        const bool along_few = small_few == 1;
        const int few_step = along_few ? 4 : 1, k_step = THREADS / few_step;
        const int first = threadIdx.x % few_step;
        const uint32_t to = tcgemm_smem_address(held);
        for (int f = first; f < few(); f += few_step)
#pragma unroll 4
            for (int i = threadIdx.x / few_step; i < end; i += k_step) {
                const char *const from =
                    small + (i < count ? (i * small_k + f * small_few) * BYTES : 0);
                tcgemm_cp_async_4(to + f * held_pitch + i * 4, from, i < count ? 4 : 0);
            }
        tcgemm_cp_async_commit();
        tcgemm_cp_async_wait<0>();
    }

    /* Through registers, all lines of one k at a time. */
    template <class BITS>
    __device__ __forceinline__ void hold_elements(const char *small, int64_t small_k,
                                                  int64_t small_few, int count) {
        enum { AT_ONCE = BYTES >= 4 ? 4 : 8 };
        const int end = (count + STEP_K - 1) / STEP_K * STEP_K;
#pragma unroll(FEW == 8 && BYTES < 4 ? 2 : 1)
        for (int i = threadIdx.x; i < end; i += THREADS) {
            const BITS *x = (const BITS *)small + i * small_k;
#pragma unroll
            for (int f0 = 0; f0 < FEW; f0 += AT_ONCE) {
                BITS v[AT_ONCE];
#pragma unroll
                for (int f = 0; f < AT_ONCE; ++f, x += small_few)
                    v[f] = f0 + f < few() && i < count ? *x : BITS(0);
#pragma unroll
                for (int f = 0; f < AT_ONCE; ++f)
                    if (f0 + f < few())
                        *(BITS *)(held + (f0 + f) * held_pitch + i * BYTES) = v[f];
            }
        }
    }

    /* Brings held_k elements from k = base on, or what is left; zeros to the end of the last step.
     */
    __device__ __forceinline__ void hold(uint32_t index, const tcgemm_part_t &part, int base) {
        const int left = (int)part.k - base, count = left < held_k ? left : held_k;
        const bool is_in_k = a() ? args.b_trans != 0 : args.a_trans == 0;
        const int64_t ld = a() ? args.ldb : args.lda;
        const int64_t small_k = is_in_k ? 1 : ld, small_few = is_in_k ? ld : 1;
        const char *const small =
            (const char *)(a() ? args.b : args.a) +
            (part.item * (a() ? args.stride_b : args.stride_a) + (part.first + base) * small_k) *
                BYTES;
        const bool is_wide = small_k == 1 && (uintptr_t)small % 16 == 0 &&
                             count * BYTES % 16 == 0 && (few() == 1 || small_few * BYTES % 16 == 0);
        __syncthreads(); /* nobody reads what was held */
        if (is_wide)
            hold_pieces(small, small_few, count);
        else if constexpr (TYPE::HOLDS_WORDS)
            hold_words(small, small_k, small_few, count);
        else if constexpr (BYTES == 8)
            hold_elements<uint64_t>(small, small_k, small_few, count);
        else if constexpr (BYTES == 4)
            hold_elements<uint32_t>(small, small_k, small_few, count);
        else if constexpr (BYTES == 2)
            hold_elements<uint16_t>(small, small_k, small_few, count);
        else
            hold_elements<uint8_t>(small, small_k, small_few, count);
        __syncthreads();
        held_index = index;
        held_base = base;
    }

    /* ---- the large operand ---- */

    __device__ __forceinline__ tcgemm_part_t part_of(uint32_t index) const {
        return tcgemm_part_of_k(index, args.splits, args.k, args.split_k);
    }

    /* The first line of a tile. The last tile begins earlier if that makes it a whole one, which
     * wide loads can read: lines that it shares with the tile before it does not write. */
    __device__ __forceinline__ bool can_shift(void) const {
        return lines() >= LINES && (IS_K_FORM || lines() % 4 == 0);
    }
    __device__ __forceinline__ int64_t first_line(int64_t begin) const {
        return begin + LINES > lines() && can_shift() ? lines() - LINES : begin;
    }

    /* The first element of the tile. */
    __device__ __forceinline__ const char *begin_of(uint32_t tile) const {
        const uint32_t index = tile / tiles();
        const tcgemm_part_t part = part_of(index);
        const int64_t line = first_line((int64_t)(tile - index * tiles()) * LINES);
        const int64_t ld = a() ? args.lda : args.ldb;
        return (const char *)(a() ? args.a : args.b) +
               (part.item * (a() ? args.stride_a : args.stride_b) +
                (IS_K_FORM ? line * ld + part.first : part.first * ld + line)) *
                   BYTES;
    }

    __device__ __forceinline__ stream_place place_of(uint32_t tile) const {
        const uint32_t index = tile / tiles();
        const int64_t begin = (int64_t)(tile - index * tiles()) * LINES;
        const char *const from = begin_of(tile);
        stream_place place;
        place.k = (int)part_of(index).k;
        place.is_wide = (begin + LINES <= lines() || can_shift()) &&
                        (a() ? args.vector_a : args.vector_b) >= (uint32_t)step_t::ALIGNED;
        const int line = step_t::line_of(0), k = step_t::k_of(0);
        place.from = from + (IS_K_FORM ? line * pitch() + k * BYTES : k * pitch() + line * BYTES);
        return place;
    }

    __device__ __forceinline__ int64_t bytes_to(int at) const {
        return IS_K_FORM ? (int64_t)at * BYTES : at * pitch();
    }

    /* The warp's step in the round that begins at `base`. */
    static __device__ __forceinline__ int step_at(int base) {
        return base + (int)(threadIdx.x / 32) * STEP_K;
    }

    __device__ __forceinline__ void multiply(int half, const uint32_t (&line)[4][4], int at) {
        const char *const x = held + (at - held_base) * BYTES + half * 64 + threadIdx.x % 4 * 16;
        sums.add(half, line, few(), x, held_pitch);
    }

    /* ---- D ---- */

    /* The warps' sums meet, and leave as D = alpha * sum + beta * C. */
    __device__ __forceinline__ void finish(uint32_t tile) {
        const uint32_t item = tile / tiles();
        const int64_t begin = (int64_t)(tile - item * tiles()) * LINES, line0 = first_line(begin);
        scalar_t *const staged = (scalar_t *)(held + TCGEMM_STREAM_HELD);
        const int warp = threadIdx.x / 32;
        scalar_t *const own = staged + warp * (FEW * SUMS_PITCH);
        __syncthreads(); /* nobody reads the sums of the tile before */
        sums.finish(few(), [own](int i, int f, scalar_t x) {
            own[f * SUMS_PITCH + step_t::line_of_sum(i)] = x;
        });
        sums.clear();
        __syncthreads();
        scalar_t alpha, beta;
        scalars(args, &alpha, &beta);
        out_t *const d = (out_t *)args.d + item * args.stride_d;
        const out_t *const c = args.c ? (const out_t *)args.c + item * args.stride_c : NULL;
#pragma unroll 1
        for (int i = threadIdx.x; i < FEW * LINES; i += THREADS) { /* side by side in D */
            const int f = a() ? i % FEW : i / LINES;
            const int64_t line = line0 + (a() ? i / FEW : i % LINES);
            if (f >= few() || line < begin || line >= lines())
                continue;
            const scalar_t *const sum = staged + f * SUMS_PITCH + (line - line0);
            scalar_t x = sum[0];
#pragma unroll
            for (int w = 1; w < WARPS; ++w)
                x += sum[w * FEW * SUMS_PITCH];
            x *= alpha;
            if (c)
                x += beta * TYPE::load(a() ? c[line * args.ldc + f] : c[f * args.ldc + line]);
            d[a() ? line * args.ldd + f : f * args.ldd + line] = TYPE::store(x);
        }
    }

    /* ---- one block: tiles gridDim.x apart ---- */

    __device__ __forceinline__ stream_kernel(const tcgemm_gpu_args_t &x, char *smem)
        : args(x), held(smem), held_index(UINT32_MAX), held_base(0) {
        held_k = (TCGEMM_STREAM_HELD / few() - SHIFT) / (ROUND_K * BYTES) * ROUND_K;
        held_pitch = held_k * BYTES + SHIFT;
        sums.clear();
    }

    __device__ __forceinline__ void run(void) {
        const uint32_t end = tiles() * (uint32_t)(args.batch * args.splits.by);
        step_t step;
        stream_place coming = place_of(blockIdx.x);
        auto fetch = [&](int at) {
            if (coming.is_wide && at + STEP_K <= coming.k)
                step.load(coming.from + bytes_to(at), pitch());
        };
        tcgemm_wait_for_grids();
        tcgemm_let_next_grid_begin();
        fetch(step_at(0));
#pragma unroll 1
        for (uint32_t tile = blockIdx.x; tile < end; tile += gridDim.x) {
            const uint32_t index = tile / tiles();
            const int k = coming.k;
            const bool is_wide = coming.is_wide;
#pragma unroll 1
            for (int base = 0; base < k; base += ROUND_K) {
                const int at = step_at(base);
                const bool is_last = base + ROUND_K >= k;
                if (held_index != index || base < held_base || base >= held_base + held_k)
                    hold(index, part_of(index), base);
                if (at < k && !(is_wide && at + STEP_K <= k)) {
                    const int64_t begin = (int64_t)(tile - index * tiles()) * LINES;
                    step.load_careful(begin_of(tile) + bytes_to(at), pitch(), k - at,
                                      lines() - first_line(begin));
                }
                auto fetch_next = [&]() {
                    if (is_last) {
                        coming.is_wide = false;
                        if (tile + gridDim.x < end)
                            coming = place_of(tile + gridDim.x);
                    }
                    fetch(is_last ? step_at(0) : at + ROUND_K);
                };
                uint32_t first[4][4], second[4][4];
                step.words(0, first);
                if (WAITING < 2 && at < k)
                    multiply(0, first, at);
                step.words(1, second);
                if (WAITING < 1 && at < k)
                    multiply(1, second, at);
                fetch_next();
                if (WAITING >= 2 && at < k)
                    multiply(0, first, at);
                if (WAITING >= 1 && at < k)
                    multiply(1, second, at);
            }
            finish(tile);
        }
    }
};

#endif
