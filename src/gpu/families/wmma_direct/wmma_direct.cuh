/* wmma_direct.cuh - D straight from global memory: every warp owns one warp-matrix tile.
 *
 * For: the shortest way from a matrix in memory to a tensor core. Every type pair and every tile
 * shape that nvcuda::wmma knows, no shared memory, no barrier, no packing; small products start at
 * once. It loses wherever a kernel may stage operands: a warp-matrix tile uses each element it
 * loads 16 times, so the L1 cache works at its limit while the tensor cores idle.
 *
 *     grid: one block a tile of D      block: 4 x 4 warps       warp: one tile, all of k
 *     +------+------+------+           w0   w1   w2   w3             k ->
 *     |      |      |      |           w4   w5   w6   w7         A [  chunk 0  |  chunk 1  | ..
 *     +------+------+------+           w8   w9   w10  w11          s0 | s1 ..
 *     |      |      |      |           w12  w13  w14  w15        B [  chunk 0  |  chunk 1  | ..
 *     +------+------+------+           four warps share a row    a chunk is 64 bytes of k, a step
 *       raster.h: grouped rows         of tiles through L1       one warp-matrix instruction
 *
 * Shared memory: none. Registers: DEPTH chunks of A and B, each refilled as soon as it is used:
 *
 *     chunk        0    1    2    3    4        DEPTH = 2; with DEPTH = 1 the other 31 warps of
 *     loaded       ==   ==   ==   ==   ==       the SM fill the time
 *     multiplied        s0s1 s0s1 s0s1 s0s1
 *
 * Edges and pointers that wide loads cannot take: the same registers are filled one element at a
 * time, zeros beyond k in both operands and beyond m and n too; nothing outside the matrices is
 * read.
 *
 * What was learnt. An L1 lookup seems to serve one 128-byte line a cycle, whatever is taken from
 * it; counting lines explains most of the speed of such kernels. In the order of load_matrix_sync,
 * words of four bytes, a 16x16x16 product of half needs 64 lines, which caps 132 SMs at 1980 MHz
 * at 33 TFLOP/s; a plain kernel that loads so measures 28 on an H200. So the order of the elements
 * was changed (tile/wmma.h). Lines of A + B for a product, the cap they set, and the measurement:
 *
 *                    load_matrix_sync      here             H200, 10000^3, TFLOP/s (cap)
 *                    (inferred)            row-major        row-major        B transposed
 *     16-bit   k16   32 + 32               8 + 16            87  (89)        124  (134)
 *      8-bit   k16                         4 + 16            91 (107)        203  (268)
 *      tf32    k8    32 + 16               8 + 16            40  (45)         58   (67)
 *      f64     k4     8 +  8               4 +  4            13.2 (17)        16.5 (17)
 *
 * Loads of 8 bytes are looked up for each half of the warp, those of 16 for each quarter: hence
 * turn(), without which f64 reaches 11.1. Dropped: DEPTH 2 with two blocks on an SM, which spills;
 * row addresses as multiples of the pitch, which the compiler keeps in 64 registers.
 */
#ifndef TCGEMM_SM70_WMMA_DIRECT_CUH
#define TCGEMM_SM70_WMMA_DIRECT_CUH

/* Else numbers of quotients stay in registers, which some tiles have none of: they would spill. */
#define TCGEMM_DIVIDES

#include "gpu/families/wmma/fragments.cuh"
#include "gpu/families/wmma_direct/shape.h"

/* One chunk of an operand in a lane's registers: BLOCKS blocks, as loaded.
 * K_FORM: k is contiguous in memory; otherwise m (n for B) is. */
template <class Pair, int BLOCKS, bool K_FORM> struct tcgemm_direct_operand {
    static constexpr int BYTES = Pair::BYTES;
    static constexpr bool TURNED = BYTES == 8 && !K_FORM;                /* see turn() */
    static constexpr int WIDTH = K_FORM || TURNED ? 16 : BLOCKS * BYTES; /* bytes of a load */
    static constexpr int LOADS = K_FORM ? BLOCKS : TURNED ? 1 : Pair::LANE_K;
    static constexpr int ROW_WORDS = WIDTH < 4 ? 1 : WIDTH / 4;
    static constexpr int PER_LOAD = WIDTH / BYTES;

    /* The first k and the first outer index that a lane loads. */
    static __device__ __forceinline__ int first_k(int g, int q) {
        return TURNED ? g : tcgemm_wmma_k(q, 0, 0, BYTES);
    }
    static __device__ __forceinline__ int first_outer(int g, int q) {
        return TURNED ? 2 * q : tcgemm_wmma_outer(0, g, BLOCKS);
    }

    uint32_t raw[LOADS * ROW_WORDS];

    /* `from` is the lane's first element of the chunk, `pitch` the bytes from load to load. */
    __device__ __forceinline__ void load(const char *from, int64_t pitch) {
#pragma unroll
        for (int i = 0; i < LOADS; i++, from += pitch)
            tcgemm_load_words<WIDTH>(raw + i * ROW_WORDS, from);
    }

    /* Loads the first `lines` loads and of each the first `run` elements; zeros elsewhere. */
    __device__ __forceinline__ void load_careful(const char *from, int64_t pitch, int lines,
                                                 int run) {
#pragma unroll
        for (int i = 0; i < LOADS * ROW_WORDS; i++)
            raw[i] = 0;
#pragma unroll
        for (int i = 0; i < LOADS; i++, from += pitch) {
            if (i < lines) {
#pragma unroll
                for (int j = 0; j < PER_LOAD; j++)
                    if (j < run)
                        tcgemm_put_element<BYTES>(raw + i * ROW_WORDS, j * BYTES, from + j * BYTES);
            }
        }
    }

    /* f64 with 8 bytes a lane would look up every line twice, once for each half of the warp. So
     * lane (g, q) loads k = g, columns 2q and 2q + 1, eight lines in one access, and two exchanges
     * bring (k = 2q, 2q + 1; column g) to it. In each exchange a lane gives one element to one lane
     * only:
     *
     *     first      lanes of even k give their even column, of odd k their odd one
     *     second     the other way round; even columns g get k = 2q first, odd ones k = 2q + 1
     */
    __device__ __forceinline__ void turn() {
        if constexpr (TURNED) {
            const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4, odd = g % 2;
            const uint32_t low0 = odd ? raw[2] : raw[0], low1 = odd ? raw[3] : raw[1];
            const uint32_t high0 = odd ? raw[0] : raw[2], high1 = odd ? raw[1] : raw[3];
            const int first = (2 * q + odd) * 4 + g / 2, second = first ^ 4;
            const uint32_t a0 = __shfl_sync(0xffffffffu, low0, first);
            const uint32_t a1 = __shfl_sync(0xffffffffu, low1, first);
            const uint32_t b0 = __shfl_sync(0xffffffffu, high0, second);
            const uint32_t b1 = __shfl_sync(0xffffffffu, high1, second);
            raw[0] = odd ? b0 : a0, raw[1] = odd ? b1 : a1;
            raw[2] = odd ? a0 : b0, raw[3] = odd ? a1 : b1;
        }
    }

    /* The words of step s, w[block * WORDS + word]. */
    __device__ __forceinline__ void step(int s, uint32_t *w) const {
        if constexpr (K_FORM || TURNED) {
#pragma unroll
            for (int i = 0; i < BLOCKS * Pair::WORDS; i++)
                w[i] = raw[i / Pair::WORDS * 4 + s * Pair::WORDS + i % Pair::WORDS];
        } else {
            tcgemm_pack_rows<Pair, BLOCKS, ROW_WORDS>(w, raw + s * Pair::PER_STEP * ROW_WORDS);
        }
    }
};

template <class Pair, int TM, int TN, int DEPTH, bool A_TRANS, bool B_TRANS>
static __device__ __forceinline__ void tcgemm_wmma_direct(const tcgemm_gpu_args_t &args) {
    typedef tcgemm_wmma_tile<Pair, TM, TN> tile_t;
    typedef typename Pair::out out_t;
    constexpr int BYTES = Pair::BYTES, CHUNK = Pair::CHUNK;
    constexpr int ROWS_LANE = TM / 8, COLS_LANE = TN / 8; /* rows of A, columns of B of a lane */
    constexpr bool A_K_FORM = !A_TRANS, B_K_FORM = B_TRANS;
    typedef tcgemm_direct_operand<Pair, ROWS_LANE, A_K_FORM> a_t;
    typedef tcgemm_direct_operand<Pair, COLS_LANE, B_K_FORM> b_t;

    // ---- which tile --------------------------------------------------------------------------
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    const tcgemm_batch_tile_t tile = tcgemm_batch_raster(&args.raster, blockIdx.x);
    const int64_t m0 = ((int64_t)tile.at.m * 4 + warp / 4) * TM;
    const int64_t n0 = ((int64_t)tile.at.n * 4 + warp % 4) * TN;
    if (m0 >= args.m || n0 >= args.n)
        return;

    // ---- where this lane reads -----------------------------------------------------------------
    const int64_t row = m0 + a_t::first_outer(g, q), col = n0 + b_t::first_outer(g, q);
    const int ka = a_t::first_k(g, q), kb = b_t::first_k(g, q);
    const int64_t pitch_a = args.lda * BYTES, pitch_b = args.ldb * BYTES;
    const char *a = (const char *)args.a + tile.batch * args.stride_a * BYTES +
                    (A_K_FORM ? row * pitch_a + ka * BYTES : ka * pitch_a + row * BYTES);
    const char *b = (const char *)args.b + tile.batch * args.stride_b * BYTES +
                    (B_K_FORM ? col * pitch_b + kb * BYTES : kb * pitch_b + col * BYTES);
    const int64_t advance_a = A_K_FORM ? TCGEMM_WMMA_CHUNK : CHUNK * pitch_a;
    const int64_t advance_b = B_K_FORM ? TCGEMM_WMMA_CHUNK : CHUNK * pitch_b;
    const int rows = tcgemm_clamp_count(args.m - row), cols = tcgemm_clamp_count(args.n - col);
    const bool wide_a = m0 + TM <= args.m && args.vector_a >= a_t::WIDTH;
    const bool wide_b = n0 + TN <= args.n && args.vector_b >= b_t::WIDTH;

    typename tile_t::sum_t sum;
    nvcuda::wmma::fill_fragment(sum, (typename Pair::sum)0);
    auto multiply = [&sum](a_t chunk_a, b_t chunk_b) {
        chunk_a.turn();
        chunk_b.turn();
#pragma unroll
        for (int s = 0; s < Pair::STEPS; s++) {
            uint32_t words_a[ROWS_LANE * Pair::WORDS], words_b[COLS_LANE * Pair::WORDS];
            chunk_a.step(s, words_a);
            chunk_b.step(s, words_b);
            tcgemm_round_words<Pair, ROWS_LANE * Pair::WORDS>(words_a);
            tcgemm_round_words<Pair, COLS_LANE * Pair::WORDS>(words_b);
            typename tile_t::a_t fragment_a;
            typename tile_t::b_t fragment_b;
            tile_t::fill_a(fragment_a, words_a);
            tile_t::fill_b(fragment_b, words_b);
            nvcuda::wmma::mma_sync(sum, fragment_a, fragment_b, sum);
        }
    };

    // ---- whole chunks with wide loads, DEPTH - 1 chunks ahead
    // ------------------------------------
    int64_t chunk = 0;
    if (wide_a && wide_b) {
        const int64_t whole = args.k / CHUNK / DEPTH * DEPTH;
        if (whole > 0) {
            a_t ahead_a[DEPTH];
            b_t ahead_b[DEPTH];
#pragma unroll
            for (int i = 0; i < DEPTH; i++) {
                ahead_a[i].load(a, pitch_a);
                ahead_b[i].load(b, pitch_b);
                a += advance_a, b += advance_b;
            }
#pragma unroll 1
            for (; chunk + DEPTH < whole; chunk += DEPTH) {
#pragma unroll
                for (int i = 0; i < DEPTH; i++) {
                    multiply(ahead_a[i], ahead_b[i]);
                    ahead_a[i].load(a, pitch_a);
                    ahead_b[i].load(b, pitch_b);
                    a += advance_a, b += advance_b;
                }
            }
#pragma unroll
            for (int i = 0; i < DEPTH; i++)
                multiply(ahead_a[i], ahead_b[i]);
            chunk = whole;
        }
    }

    // ---- the rest, and everything at edges
    // -------------------------------------------------------
#pragma unroll 1
    for (; chunk * CHUNK < args.k; chunk++) {
        a_t chunk_a;
        b_t chunk_b;
        const int64_t left = args.k - chunk * CHUNK;
        const int have_a = tcgemm_clamp_count(left - ka), have_b = tcgemm_clamp_count(left - kb);
        if (wide_a && left >= CHUNK)
            chunk_a.load(a, pitch_a);
        else
            chunk_a.load_careful(a, pitch_a, A_K_FORM ? rows : have_a, A_K_FORM ? have_a : rows);
        if (wide_b && left >= CHUNK)
            chunk_b.load(b, pitch_b);
        else
            chunk_b.load_careful(b, pitch_b, B_K_FORM ? cols : have_b, B_K_FORM ? have_b : cols);
        a += advance_a, b += advance_b;
        multiply(chunk_a, chunk_b);
    }

    // ---- D
    // -----------------------------------------------------------------------------------------
    const int64_t row_d = m0 + (tile_t::TURNED ? q : g) * tile_t::ROWS;
    const int64_t col_d = n0 + (tile_t::TURNED ? g : q) * tile_t::COLS;
    const int rows_d = tcgemm_clamp_count(args.m - row_d);
    const int cols_d = tcgemm_clamp_count(args.n - col_d);
    const bool runs = tcgemm_runs_are_whole(args, tile_t::COLS * sizeof(out_t));
    const out_t *c =
        args.c ? (const out_t *)args.c + tile.batch * args.stride_c + row_d * args.ldc + col_d
               : NULL;
    out_t *d = (out_t *)args.d + tile.batch * args.stride_d + row_d * args.ldd + col_d;
#pragma unroll
    for (int r = 0; r < tile_t::ROWS; r++) {
        typename Pair::sum values[tile_t::COLS];
#pragma unroll
        for (int i = 0; i < tile_t::COLS; i++)
            values[i] = sum.x[tile_t::at(r, i)];
        if (r < rows_d)
            tcgemm_store_run<tile_t::COLS>(args, c ? c + r * args.ldc : NULL, d + r * args.ldd,
                                           cols_d, runs, values);
    }
}

#endif
