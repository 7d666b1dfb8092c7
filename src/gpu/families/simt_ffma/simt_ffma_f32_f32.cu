/* simt_ffma_f32_f32.cu - mma-pipelined, f32_f32: the same plan without tensor cores, on FFMA.
 *
 * For true f32 products; every tensor-core format has fewer bits. Wins wherever tf32 is not exact
 * enough; tf32 is four times as fast.
 *
 *     grid        one block a tile of D, in the order of tile/raster.h, batch by batch
 *     block       128 x 128, 8 warps (2 x 4); 64 x 64, 4 warps (1 x 4), for small D and parts of k
 *     warp        64 x 32: lanes 8 x 4, each 8 x 8 of D as 2 x 2 squares of 4 x 4 (64 x 16: 8 x 4)
 *
 *        n   0    4    8    12  | 16 ...      a lane reads, for each k, two 16-byte pieces of A
 *     m  0   l0   l1   l2   l3  | l0   l1     and two of B, and multiplies them 64 times
 *        4   l4   l5   l6   l7  | l4
 *        ..                                   shared memory: 2 slots of
 *        28  l28  l29  l30  l31 | l28             A: 16 k x (128 + 4) floats    8448 bytes
 *        32  l0   l1  ...                         B: 16 k x (128 + 4) floats    8448 bytes
 *
 * Both operands lie in shared memory with m or n contiguous. An operand that global memory has
 * that way is copied by 16-byte cp.async. One with k contiguous is turned round: runs of four k
 * are loaded into registers ahead of the products and stored element by element after half of
 * them; rows 8 further or nearer in the second half of the block keep the 32 stores of a warp in
 * 32 banks. Without 16-byte runs everything goes by 4-byte cp.async, 8 k x 4 rows a warp, and
 * there is no alignment to think of.
 *
 *     time, block b of k       ask for b+1 (the other slot) | products of k 0 .. 14 | b+1 is here,
 *                              sync | products of k 15; what the next k multiplies is on its way
 *
 * The order of the products. An FFMA reads three registers, and a quarter of an SM gives one even
 * and one odd register a cycle (simt_tma_f32_f32.cu): a product goes out every cycle if it shares
 * an operand with the one before it and the other two registers differ in parity. So the products
 * go down a column of D and up the next, hopping between the two pieces of A, and ptxas finds such
 * registers in all four layouts: 10 to 13 % of the FFMA read three registers, up to 2 % two of one
 * parity. Row by row it is 20 to 27 % and, in tt, 34 %. tcgemm_fma keeps the order.
 *
 * sm_75: the copies go through registers, at the place where they are asked for.
 *
 * sm_90: a launch may begin before the one ahead has ended, and waits first of all: behind its
 * addresses, ptxas pairs registers of one parity in 39 FFMA of 100 (tt).
 *
 * Tried (H200, 8192^3, TFLOP/s nn nt tn tt): this 50.4 50.0 52.9 51.8; row by row, and the next k
 * not on its way, 47.6 47.7 49.0 46.0; down and up without hops 50.8 47.4 52.0 49.9; 8 x 16 a lane,
 * 128 threads, two blocks an SM, 8 k a block 49.3 46.2 54.0 49.4; turned by 4-byte cp.async always
 * 46.9 42.8 49.8 46.7; 8 x 16 a lane, 128 x 256 a block 45.6 41.1 47.1 44.4. A block of k is 1141
 * (tn) to 1179 (nt) instructions for 1024 FFMA. Reads with a predicate, as simt_tma_f32_f32.cu has
 * them, let next to no FFMA wait for a register, and are no faster (4096^3: before 51.4 49.1 52.9
 * 51.5; so 50.9 47.4 53.2 51.0; with 8 x 16 a lane 48.9 44.6 52.4 44.6).
 */
#include "gpu/arch.cuh"
#include "gpu/families/simt/finish.cuh"
#include "gpu/families/simt_ffma/shape.h"
#include "gpu/gpu_args.h"
#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/fma.cuh"
#include "gpu/ptx/griddepcontrol.cuh"
#include "gpu/ptx/special.cuh"
#include "tile/pipeline.h"
#include "tile/raster.h"
#include "tile/split.h"

enum { BK = 16 };

static __device__ __forceinline__ void copy_4(float *to, const float *from, bool inside) {
#if TCGEMM_HAVE_CP_ASYNC
    tcgemm_cp_async_4(tcgemm_smem_address(to), from, inside ? 4 : 0);
#else
    *to = inside ? *from : 0.0f;
#endif
}

static __device__ __forceinline__ void copy_16(float *to, const float *from, bool inside) {
#if TCGEMM_HAVE_CP_ASYNC
    tcgemm_cp_async_16(tcgemm_smem_address(to), from, inside ? 16 : 0);
#else
    *(float4 *)to = inside ? *(const float4 *)from : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#endif
}

/* ---- one operand on its way into shared memory: MN rows of A (columns of B), BK of k ---- */

/* TURN: k is contiguous, element (row, p) at x[row * ld + p]. Otherwise at x[p * ld + row].
 * WIDE: runs of four elements are aligned to 16 bytes and whole. */
template <int MN, int TURN, int WIDE, int THREADS, int SLICES> struct simt_copy {
    enum {
        PITCH = MN + 4,                  /* floats in a row of shared memory */
        RUN = WIDE ? 4 : 1,              /* elements that are copied at once */
        ACROSS = (TURN ? BK : MN) / RUN, /* threads side by side */
        DOWN = THREADS / ACROSS,         /* rows (TURN) or k of a pass */
        PASSES = (TURN ? MN : BK) / DOWN,
        PASS_FLOATS = DOWN * (TURN ? 1 : PITCH),
        THROUGH_REGISTERS = TURN && WIDE
    };
    static_assert(THREADS % ACROSS == 0 && DOWN * PASSES == (TURN ? MN : BK), "even passes");
    static_assert(!TURN || !WIDE || DOWN % 16 == 0 || DOWN == 8, "what a pass does to place()");

    const float *from;
    float *to;
    int64_t pass_step, rewind; /* elements */
    int32_t limit, k0, left;

    /* Runs that are turned lie 8 rows further or nearer in the second half of the block of k. */
    static __device__ __forceinline__ int32_t place(int32_t row, int32_t k) {
        return TURN && WIDE ? row ^ (k & 8) : row;
    }

    /* rows: those inside the matrix, at most MN. */
    __device__ __forceinline__ void begin(const float *x, int64_t ld, int32_t rows, float *tile) {
        const int32_t t = SLICES > 1 ? threadIdx.x % THREADS : threadIdx.x;
        int32_t row;
        if (TURN && WIDE) {
            k0 = t % 4 * 4;
            row = t / 4;
        } else if (TURN && THREADS == 32) {
            k0 = t % 16;
            row = t / 16;
        } else if (TURN) { /* a warp: 8 k by 4 rows */
            k0 = t % 8 + t / 32 % 2 * 8;
            row = t / 8 % 4 + t / 64 * 4;
        } else {
            k0 = t / ACROSS;
            row = t % ACROSS * RUN;
        }
        from = x + (TURN ? row * ld + k0 : k0 * ld + row);
        to = tile + k0 * PITCH + (DOWN == 8 ? row : place(row, k0));
        pass_step = DOWN * ld;
        rewind = (TURN ? SLICES * BK : SLICES * BK * ld) - PASSES * pass_step;
        limit = rows - row;
    }

    /* TURN: rows left if k is inside; otherwise k left if the row is inside. */
    __device__ __forceinline__ void begin_block(int32_t k_left) {
        left = TURN ? (k0 < k_left ? limit : 0) : (limit > 0 ? k_left - k0 : 0);
    }

    __device__ __forceinline__ void next_pass(int pass) {
        from += pass_step;
        if (pass == PASSES - 1)
            from += rewind;
    }

    __device__ __forceinline__ void copy(uint32_t slot) {
#pragma unroll
        for (int pass = 0; pass < PASSES; ++pass) {
            if (RUN == 4)
                copy_16(to + slot + pass * PASS_FLOATS, from, pass * DOWN < left);
            else
                copy_4(to + slot + pass * PASS_FLOATS, from, pass * DOWN < left);
            next_pass(pass);
        }
    }

    __device__ __forceinline__ float4 fetch(int pass) {
        float4 run = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (pass * DOWN < left)
            run = *(const float4 *)from;
        next_pass(pass);
        return run;
    }
    __device__ __forceinline__ void store(uint32_t slot, int pass, float4 run) {
        float *at = to + slot + (DOWN == 8 ? place(pass * DOWN, k0) : pass * PASS_FLOATS);
        at[0] = run.x;
        at[PITCH] = run.y;
        at[2 * PITCH] = run.z;
        at[3 * PITCH] = run.w;
    }
};

/* ---- the kernel ---- */

/* The index of the block is read again for the epilogue, so that ptxas finds registers for the sums
 * as told above: with blockIdx.x it pairs registers of one parity in four FFMA of ten in three of
 * the layouts, 45 instead of 50 TFLOP/s. Whoever changes this file has them counted:
 * scripts/ffma-parity, in CI. */
/* BM x BN: D of a block; WM x WN: of a warp, a lane has WM/8 x WN/4 elements. */
template <int BM, int BN, int WM, int WN, int SLICES, int WIDE, int A_TRANS, int B_TRANS>
static __device__ __forceinline__ void simt_pipelined(const tcgemm_gpu_args_t &args) {
    enum {
        WARPS_N = BN / WN,
        THREADS = BM / WM * WARPS_N * 32, /* of a slice */
        HALVES = WM / 32,
        PIECES = WN / 16,
        /* Which end the first column begins at: one leaves ptxas registers of both parities. */
        FIRST = BM == 64 && !A_TRANS && !B_TRANS,
        PITCH_A = BM + 4,
        PITCH_B = BN + 4,
        SLOT_FLOATS = BK * (PITCH_A + PITCH_B)
    };
    static_assert(THREADS * SLICES == TCGEMM_FFMA_THREADS(BM, BN, WM, WN, SLICES) &&
                      2 * SLICES * SLOT_FLOATS * sizeof(float) == TCGEMM_FFMA_SMEM(BM, BN, SLICES),
                  "shape.h");
    extern __shared__ __align__(16) float whole_memory[];
    const uint32_t slice = SLICES > 1 ? threadIdx.x / THREADS : 0;
    float *const memory = whole_memory + slice * (2 * SLOT_FLOATS);
    const tcgemm_batch_tile_t tile = tcgemm_batch_raster(&args.raster, tcgemm_block_index());
    const int64_t m0 = (int64_t)tile.at.m * BM, n0 = (int64_t)tile.at.n * BN;
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t warp = (SLICES > 1 ? threadIdx.x % THREADS : threadIdx.x) / 32;
    const uint32_t row0 = warp / WARPS_N * WM + lane / 4 * 4; /* and 32 further down */
    const uint32_t col0 = warp % WARPS_N * WN + lane % 4 * 4; /* and every 16 to the right */
    const tcgemm_part_t part = tcgemm_part_of_k(tile.batch, args.splits, args.k, args.split_k);
    const uint32_t blocks = tcgemm_pipeline_blocks(part.k, SLICES * BK);
    int32_t tail = (int32_t)(part.k - (int64_t)(blocks - 1) * (SLICES * BK));
    if (SLICES > 1) { /* what is left of it for this slice, perhaps nothing */
        tail -= (int32_t)slice * BK;
        tail = tail < BK ? tail : BK;
    }
    const int64_t first_k = part.first + slice * BK;
    const int64_t a_first = part.item * args.stride_a + first_k * (A_TRANS ? args.lda : 1);
    const int64_t b_first = part.item * args.stride_b + first_k * (B_TRANS ? 1 : args.ldb);

    typedef simt_copy<BM, !A_TRANS, WIDE, THREADS, SLICES> copy_a_t;
    typedef simt_copy<BN, B_TRANS, WIDE, THREADS, SLICES> copy_b_t;
    copy_a_t copy_a;
    copy_b_t copy_b;
    copy_a.begin((const float *)args.a + a_first + m0 * (A_TRANS ? 1 : args.lda), args.lda,
                 args.m - m0 < BM ? (int32_t)(args.m - m0) : BM, memory);
    copy_b.begin((const float *)args.b + b_first + n0 * (B_TRANS ? args.ldb : 1), args.ldb,
                 args.n - n0 < BN ? (int32_t)(args.n - n0) : BN, memory + BK * PITCH_A);

    float c[HALVES][4][PIECES][4] = {}; /* (half of m, row, piece of n, column) */
    uint32_t into = 0;                  /* the slot that is being filled */
    auto begin_block = [&](uint32_t block) {
        const int32_t k_left = block + 1 < blocks ? BK : block + 1 == blocks ? tail : 0;
        copy_a.begin_block(k_left);
        copy_b.begin_block(k_left);
        if (!copy_a_t::THROUGH_REGISTERS)
            copy_a.copy(into);
        if (!copy_b_t::THROUGH_REGISTERS)
            copy_b.copy(into);
#if TCGEMM_HAVE_CP_ASYNC
        tcgemm_cp_async_commit();
#endif
    };
    /* The copies that go through registers take turns with the products. */
    float4 run_a, run_b;
    auto fetch = [&](int pass) {
        if (copy_a_t::THROUGH_REGISTERS && pass < copy_a_t::PASSES)
            run_a = copy_a.fetch(pass);
        if (copy_b_t::THROUGH_REGISTERS && pass < copy_b_t::PASSES)
            run_b = copy_b.fetch(pass);
    };
    auto store = [&](int pass) {
        if (copy_a_t::THROUGH_REGISTERS && pass < copy_a_t::PASSES)
            copy_a.store(into, pass, run_a);
        if (copy_b_t::THROUGH_REGISTERS && pass < copy_b_t::PASSES)
            copy_b.store(into, pass, run_b);
    };
    enum { MOST_PASSES = BM * BK / 4 / THREADS, TURN_STEPS = (BK - 2) / MOST_PASSES };
    static_assert((!copy_a_t::THROUGH_REGISTERS || copy_a_t::PASSES <= MOST_PASSES) &&
                      (!copy_b_t::THROUGH_REGISTERS || copy_b_t::PASSES <= MOST_PASSES) &&
                      TURN_STEPS * MOST_PASSES < BK - 1,
                  "every pass arrives before the last products");
    auto arrive = [&]() {
#if TCGEMM_HAVE_CP_ASYNC
        tcgemm_cp_async_wait<0>();
#endif
        if (THREADS == 32)
            __syncwarp(); /* a slice has nothing to do with the others until the end */
        else
            __syncthreads();
    };
    /* What a lane multiplies at one k: HALVES pieces of A, PIECES of B; those of the next k are on
     * their way meanwhile. */
    float ra[2][HALVES][4], rb[2][PIECES][4];
    auto read = [&](uint32_t slot, int k) {
        const float *a = memory + slot + k * PITCH_A + copy_a_t::place(row0, k);
        const float *b = memory + slot + BK * PITCH_A + k * PITCH_B + copy_b_t::place(col0, k);
#pragma unroll
        for (int h = 0; h < HALVES; ++h) {
            const float4 x = *(const float4 *)(a + 32 * h);
            float *r = ra[k % 2][h];
            r[0] = x.x, r[1] = x.y, r[2] = x.z, r[3] = x.w;
        }
#pragma unroll
        for (int h = 0; h < PIECES; ++h) {
            const float4 y = *(const float4 *)(b + 16 * h);
            float *r = rb[k % 2][h];
            r[0] = y.x, r[1] = y.y, r[2] = y.z, r[3] = y.w;
        }
    };

    begin_block(0);
#pragma unroll
    for (int pass = 0; pass < MOST_PASSES; ++pass) {
        fetch(pass);
        store(pass);
    }
    arrive();
    read(0, 0);
#pragma unroll 1
    for (uint32_t block = 0; block < blocks; ++block) {
        const uint32_t slot = into;
        into = SLOT_FLOATS - into;
        begin_block(block + 1);
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            if (k % TURN_STEPS == 0 && k / TURN_STEPS <= MOST_PASSES) {
                if (k > 0)
                    store(k / TURN_STEPS - 1);
                if (k / TURN_STEPS < MOST_PASSES)
                    fetch(k / TURN_STEPS);
            }
            if (k + 1 < BK) {
                read(slot, k + 1);
            } else {
                arrive();
                read(into, 0);
            }
            /* Down a column and up the next, hopping between the halves of m. */
#pragma unroll
            for (int j = 0; j < 4 * PIECES; ++j)
#pragma unroll
                for (int there = 0; there < 4 * HALVES; ++there) {
                    const int t = (j + FIRST) % 2 ? 4 * HALVES - 1 - there : there;
                    const int h = t % HALVES, i = t / HALVES;
                    tcgemm_fma(&c[h][i][j / 4][j % 4], ra[k % 2][h][i], rb[k % 2][j / 4][j % 4]);
                }
        }
    }

    const bool whole = args.vector_d >= 16 && (!args.c || args.vector_c >= 16);
    if constexpr (SLICES == 1) {
#pragma unroll
        for (int h = 0; h < HALVES; ++h)
            simt_finish_rows<PIECES>(args, c[h], tile.batch, m0 + row0 + 32 * h, n0 + col0, whole);
    } else { /* each slice adds up its share of the pieces, in the order of the slices */
        enum { SHARES = HALVES * 4 * PIECES };
        static_assert(SHARES * 4 <= 2 * SLOT_FLOATS / THREADS, "sums fit where operands were");
        float4 *const sums = (float4 *)whole_memory + threadIdx.x % THREADS;
        __syncthreads();
#pragma unroll
        for (int x = 0; x < SHARES; ++x) {
            const float *v = c[x / PIECES / 4][x / PIECES % 4][x % PIECES];
            sums[(slice * SHARES + x) * THREADS] = make_float4(v[0], v[1], v[2], v[3]);
        }
        __syncthreads();
#pragma unroll 1
        for (int x = slice; x < SHARES; x += SLICES) {
            float4 sum = sums[x * THREADS];
#pragma unroll
            for (int other = 1; other < SLICES; ++other) {
                const float4 v = sums[(other * SHARES + x) * THREADS];
                sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
            }
            const float four[4] = {sum.x, sum.y, sum.z, sum.w};
            const int64_t row = m0 + row0 + 32 * (x / PIECES / 4) + x / PIECES % 4;
            const int64_t col = n0 + col0 + 16 * (x % PIECES), cols_left = args.n - col;
            if (row >= args.m)
                continue;
            const float *from = (const float *)args.c + tile.batch * args.stride_c + row * args.ldc;
            float *to = (float *)args.d + tile.batch * args.stride_d + row * args.ldd;
            if (whole && cols_left >= 4)
                simt_finish<true>(args, four, simt_piece_of_c<true>(args, from + col, cols_left),
                                  to + col, cols_left);
            else
                simt_finish<false>(args, four, simt_piece_of_c<false>(args, from + col, cols_left),
                                   to + col, cols_left);
        }
    }
}

#define SIMT_KERNEL(min_cc, max_cc, bm, bn, bk, wm, wn, slices, blocks_per_sm, tag, layout,        \
                    a_trans, b_trans)                                                              \
    extern "C" __global__ void __launch_bounds__(TCGEMM_FFMA_THREADS(bm, bn, wm, wn, slices),      \
                                                 blocks_per_sm)                                    \
        tcgemm_mma_pipelined_f32_f32_##bm##x##bn##x##bk##_##tag##_##layout(                        \
            const __grid_constant__ tcgemm_gpu_args_t args) {                                      \
        static_assert(bk == slices * BK, "16 of k in a slice");                                    \
        tcgemm_wait_for_grids();                                                                   \
        tcgemm_let_next_grid_begin();                                                              \
        if constexpr (TCGEMM_IS_FOR_ARCH(min_cc, max_cc, TCGEMM_FFMA_SMEM(bm, bn, slices))) {      \
            if (args.whole_a && args.whole_b)                                                      \
                simt_pipelined<bm, bn, wm, wn, slices, 1, a_trans, b_trans>(args);                 \
            else                                                                                   \
                simt_pipelined<bm, bn, wm, wn, slices, 0, a_trans, b_trans>(args);                 \
        }                                                                                          \
    }

/* The four layouts of each row: f32 is the only type of this file. */
#define ROW(type, sums, min_cc, max_cc, bm, bn, bk, wm, wn, slices, blocks, tag)                   \
    SIMT_KERNEL(min_cc, max_cc, bm, bn, bk, wm, wn, slices, blocks, tag, nn, 0, 0)                 \
    SIMT_KERNEL(min_cc, max_cc, bm, bn, bk, wm, wn, slices, blocks, tag, nt, 0, 1)                 \
    SIMT_KERNEL(min_cc, max_cc, bm, bn, bk, wm, wn, slices, blocks, tag, tn, 1, 0)                 \
    SIMT_KERNEL(min_cc, max_cc, bm, bn, bk, wm, wn, slices, blocks, tag, tt, 1, 1)
#include "gpu/families/simt_ffma/rows.def"
