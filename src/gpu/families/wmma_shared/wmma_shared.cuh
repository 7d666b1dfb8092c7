/* wmma_shared.cuh - warp-matrix products from shared memory: persistent blocks slide over tiles.
 *
 * For: the second step after wmma_direct.cuh. A and B come into shared memory once for a 128 x 128
 * tile of D, so an element is used 128 times for each time it is fetched. It loses to deeper
 * pipelines between shared memory and registers (mma-pipelined) and, on sm_90, to wgmma, which
 * needs no registers for operands at all.
 *
 *     grid: as many blocks as fit         block 128 x 128, 8 warps         warp 64 x 32
 *     tile 0  132  264 ..  to block 0     +-------+-------+-------+-----+  4 x 2 tiles of
 *          1  133  265 ..  to block 1     |  w0   |  w1   |  w2   | w3  |  16 x 16
 *          (in the order of raster.h)     +-------+-------+-------+-----+  large: 4 x 4, in a
 *                                         |  w4   |  w5   |  w6   | w7  |  block 128 x 256
 *                                         +-------+-------+-------+-----+
 *     f64, tiles of 8 x 8: block 128 x 64, warp 32 x 32; large: block 128 x 128, warp 64 x 32
 *     f64 k64: two blocks share an SM; one gets ahead of the other and leaves it alone in the end.
 *     So there are as many blocks as tiles, and the hardware deals them out.
 *
 * Shared memory: a ring of stages, each one chunk of 64 bytes of k:
 *
 *     stage  [ A 128 rows, 8 KiB | B 64, 128 or 256 columns, 4, 8 or 16 KiB ]
 *     k64    4 stages of 16 KiB, 64 KiB: what an sm_75 has; f64: 5 of 12 KiB
 *     large  4 stages of 24 KiB, 96 KiB: what an sm_86 has; f64: 6 of 16 KiB
 *
 * An operand lies as it lies in memory, in 16-byte pieces: rows of k, or rows of m (n). The pieces
 * are permuted (tile/wmma.h), so that every read of a quarter warp meets eight different bank
 * groups; rows skewed by 16 bytes would do for one of the two forms only. Transposition happens in
 * registers.
 *
 *     stage       0    1    2    3    4      STAGES = 4, one barrier a stage
 *     copied      ======================     cp.async, three stages ahead (sm_75: load, store)
 *     multiplied                 0    1      .. and on into the stages of the block's next tile
 *
 * The ring does not stop at the end of a tile: while D is written, the next tile is on its way. D
 * goes from the registers to memory: by the choice of columns (tile/wmma.h) a lane holds eight
 * neighbours, so 16-byte accesses to C and D are whole without a detour through shared memory.
 *
 * Edges: cp.async fills with zeros beyond m, n and k. Rows that are not aligned to 16 bytes are
 * copied by four bytes, or, under that, element by element through registers: correct, and slow.
 *
 * H200, row-major, TFLOP/s at 4096^3 and 8192^3:     k64            large
 *     f16_f32                                        166  179       214  234
 *     bf16_f32                                       166  177       209  227
 *     tf32_f32                                        70   72        96  101
 *     s8_s32, u8_s32                                 295  320       332  380
 *     f64_f64 (33.2 is all that 8x8x4 can do)        26.6 27.4      24.8 25.1
 *
 * Tried, f64 at 4096^3: persistent blocks 25.3 (on average 3.3 of 4 warps a scheduler were there);
 * block 64 x 64, three an SM, 25.6; 64 x 128 26.7; warp 64 x 16 26.8; 4 or 8 stages 26.6.
 * Tried: two blocks of k64 on an SM, or a stage of two chunks: more than 128 registers, spills. The
 * copies before the products, rather than behind the first ones, and no look-ahead in A: large with
 * A transposed 6 to 12 % slower, k64 with B transposed alone 6 % faster, the rest within 4 %.
 * Not explained: f16 spends 16 cycles of a scheduler on each HMMA.16816, twice what s8 spends on
 * an IMMA in the same loop: time goes into the stage, not into the products.
 */
#ifndef TCGEMM_SM70_WMMA_SHARED_CUH
#define TCGEMM_SM70_WMMA_SHARED_CUH

#include "gpu/families/wmma/fragments.cuh"
#include "gpu/families/wmma_shared/shape.h"
#include "gpu/ptx/cp_async.cuh"

/* ---- global to shared ----------------------------------------------------------------------- */

#if __CUDA_ARCH__ >= 800
/* 16 bytes, of which the first `bytes` come from `from`; all rows start at multiples of 4 bytes. */
static __device__ __forceinline__ void tcgemm_copy_words(char *to, const char *from, int bytes) {
#pragma unroll 1
    for (int i = 0; i < 16; i += 4, bytes -= 4) {
        const int left = bytes < 0 ? 0 : bytes < 4 ? bytes : 4;
        tcgemm_cp_async_4(tcgemm_smem_address(to) + i, from + (left ? i : 0), (uint32_t)left);
    }
}
#endif

/* One operand of a tile as a thread copies it, chunk after chunk: TIMES pieces, HOP rows apart.
 * OUTER: rows of A or columns of B in the tile. GROUP: of the warp's fragments. */
template <class Pair, int OUTER, int GROUP, bool K_FORM> struct tcgemm_shared_source {
    static constexpr int BYTES = Pair::BYTES, PER_PIECE = 16 / BYTES;
    static constexpr int PIECES = K_FORM ? 4 : OUTER / PER_PIECE; /* in a row of shared memory */
    static constexpr int ROWS = K_FORM ? OUTER : Pair::CHUNK;
    static constexpr int HOP = TCGEMM_WMMA_SHARED_THREADS / PIECES;
    static constexpr int TIMES = ROWS / HOP;
    static_assert(TIMES * HOP == ROWS && PIECES * HOP == TCGEMM_WMMA_SHARED_THREADS, "whole rows");

    const char *from; /* this thread's first piece of the next chunk */
    int outer_left;   /* rows of A (columns of B) of the tile that exist, at most OUTER */

    __device__ __forceinline__ void open(const char *base, int64_t pitch, int64_t outer0,
                                         int64_t outer) {
        const int row = threadIdx.x / PIECES, piece = threadIdx.x % PIECES;
        from = base + (K_FORM ? (outer0 + row) * pitch + piece * 16
                              : row * pitch + (outer0 + piece * PER_PIECE) * BYTES);
        outer_left = outer - outer0 < OUTER ? (int)(outer - outer0) : OUTER;
    }

    /* Copies a chunk element by element, up to four in flight. */
    __device__ __forceinline__ void copy_elements(char *to, int64_t pitch, int left) const {
        constexpr int RUN = K_FORM ? Pair::CHUNK : OUTER; /* elements in a row of shared memory */
        constexpr int ELEMENTS = OUTER * Pair::CHUNK / TCGEMM_WMMA_SHARED_THREADS;
        constexpr int BATCH = ELEMENTS < 4 ? ELEMENTS : 4;
        static_assert(ELEMENTS > 0 && ELEMENTS % BATCH == 0 &&
                          ELEMENTS * TCGEMM_WMMA_SHARED_THREADS == OUTER * Pair::CHUNK,
                      "the threads share the elements evenly, in whole batches");
        const int rows = K_FORM ? outer_left : left, run = K_FORM ? left : outer_left;
        const char *tile = from - threadIdx.x / PIECES * pitch - threadIdx.x % PIECES * 16;
#pragma unroll 1
        for (int done = 0; done < ELEMENTS; done += BATCH) {
            uint32_t words[BATCH][BYTES == 8 ? 2 : 1];
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                const int e = threadIdx.x + (done + i) * TCGEMM_WMMA_SHARED_THREADS;
                words[i][0] = 0;
                if constexpr (BYTES == 8)
                    words[i][1] = 0;
                if (e / RUN < rows && e % RUN < run)
                    tcgemm_load_words<BYTES>(words[i], tile + e / RUN * pitch + e % RUN * BYTES);
            }
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                const int e = threadIdx.x + (done + i) * TCGEMM_WMMA_SHARED_THREADS;
                const int r = e / RUN, c = e % RUN / PER_PIECE;
                char *at = to + e % PER_PIECE * BYTES +
                           (K_FORM ? tcgemm_wmma_offset_k(r, c, GROUP)
                                   : tcgemm_wmma_offset_mn(r, c, PIECES, BYTES));
                if constexpr (BYTES == 8)
                    *(uint2 *)at = make_uint2(words[i][0], words[i][1]);
                else if constexpr (BYTES == 4)
                    *(uint32_t *)at = words[i][0];
                else if constexpr (BYTES == 2)
                    *(uint16_t *)at = (uint16_t)words[i][0];
                else
                    *(uint8_t *)at = (uint8_t)words[i][0];
            }
        }
    }

    /* Copies the next chunk; `left` elements of k exist. `base` is any readable address. */
    __device__ __forceinline__ void copy(char *to, int64_t pitch, int left, uint32_t aligned,
                                         const char *base) {
        const int row = threadIdx.x / PIECES, piece = threadIdx.x % PIECES;
        auto bytes_of = [&](int i) {
            const int bytes = K_FORM ? (row + i * HOP < outer_left ? left * BYTES - piece * 16 : 0)
                              : row + i * HOP < left ? (outer_left - piece * PER_PIECE) * BYTES
                                                     : 0;
            return bytes < 0 ? 0 : bytes > 16 ? 16 : bytes;
        };
        auto offset_of = [&](int i) {
            return K_FORM ? tcgemm_wmma_offset_k(row + i * HOP, piece, GROUP)
                          : tcgemm_wmma_offset_mn(row + i * HOP, piece, PIECES, BYTES);
        };
#if __CUDA_ARCH__ >= 800
        if (aligned >= 16) {
#pragma unroll
            for (int i = 0; i < TIMES; i++) {
                const int bytes = bytes_of(i);
                tcgemm_cp_async_16(tcgemm_smem_address(to + offset_of(i)),
                                   bytes ? from + i * HOP * pitch : base, (uint32_t)bytes);
            }
        } else if (BYTES >= 4 || aligned >= 4) {
#pragma unroll 1
            for (int i = 0; i < TIMES; i++)
                tcgemm_copy_words(to + offset_of(i), bytes_of(i) ? from + i * HOP * pitch : base,
                                  bytes_of(i));
        } else {
            copy_elements(to, pitch, left);
        }
#else
        if (aligned >= 16 && left == Pair::CHUNK && outer_left == OUTER) {
            uint4 v[TIMES];
#pragma unroll
            for (int i = 0; i < TIMES; i++)
                v[i] = *(const uint4 *)(from + i * HOP * pitch);
#pragma unroll
            for (int i = 0; i < TIMES; i++)
                *(uint4 *)(to + offset_of(i)) = v[i];
        } else {
            copy_elements(to, pitch, left);
        }
#endif
        from += K_FORM ? TCGEMM_WMMA_CHUNK : Pair::CHUNK * pitch;
    }
};

/* ---- shared to fragments -------------------------------------------------------------------- */

/* The warp's part of one operand's chunk: BLOCKS blocks from outer index `first` on. */
template <class Pair, int OUTER, int BLOCKS, bool K_FORM> struct tcgemm_shared_operand {
    static constexpr int BYTES = Pair::BYTES, WORDS = Pair::WORDS;
    static constexpr int GROUP = tcgemm_wmma_group(BLOCKS, BYTES);
    static constexpr int WIDTH = GROUP * BYTES, ROW_WORDS = WIDTH / 4;
    static constexpr int PITCH = K_FORM ? TCGEMM_WMMA_CHUNK : OUTER * BYTES;
    static_assert(GROUP % 2 == 0 && WIDTH >= 4, "tile/wmma.h");

    /* Offset of the lane's first element; everything else is a constant away from it. */
    static __device__ __forceinline__ uint32_t lane_offset(int first) {
        const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
        if constexpr (K_FORM)
            return tcgemm_wmma_offset_k(first + tcgemm_wmma_outer(0, g, GROUP), q, GROUP);
        const int byte = (first + tcgemm_wmma_outer(0, g, GROUP)) * BYTES;
        return tcgemm_wmma_offset_mn(tcgemm_wmma_k(q, 0, 0, BYTES), byte / 16, PITCH / 16, BYTES) +
               byte % 16;
    }

    /* K_FORM: COUNT blocks from `first` on, the words of all steps: w[step][block * WORDS ..]. */
    template <int COUNT>
    static __device__ __forceinline__ void blocks(int first, const char *tile, uint32_t lane,
                                                  uint32_t (&w)[Pair::STEPS][COUNT * WORDS]) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            /* Rows of a lane differ in bit 0 of the block, which is bit 6 of the offset. */
            const int b = first + i;
            const uint32_t row = tcgemm_wmma_outer(b, 0, GROUP) & ~1u;
            uint32_t raw[4];
            tcgemm_load_words<16>(raw, tile + (lane ^ (b & 1) << 6) + row * TCGEMM_WMMA_CHUNK);
#pragma unroll
            for (int word = 0; word < 4; word++)
                w[word / WORDS][i * WORDS + word % WORDS] = raw[word];
        }
#pragma unroll
        for (int s = 0; s < Pair::STEPS; s++)
            tcgemm_round_words<Pair, COUNT * WORDS>(w[s]);
    }

    /* Otherwise: all blocks, the words of one step: w[block * WORDS ..]. */
    static __device__ __forceinline__ void step(int s, const char *tile, uint32_t lane,
                                                uint32_t (&w)[BLOCKS * WORDS]) {
#pragma unroll
        for (int segment = 0; segment < BLOCKS / GROUP; segment++) {
            uint32_t rows[Pair::PER_STEP * ROW_WORDS];
#pragma unroll
            for (int i = 0; i < Pair::PER_STEP; i++)
                tcgemm_load_words<WIDTH>(rows + i * ROW_WORDS,
                                         tile + lane + (s * Pair::PER_STEP + i) * PITCH +
                                             segment * 8 * WIDTH);
            tcgemm_pack_rows<Pair, GROUP, ROW_WORDS>(w + segment * GROUP * WORDS, rows);
        }
        tcgemm_round_words<Pair, BLOCKS * WORDS>(w);
    }
};

/* ---- the kernel ----------------------------------------------------------------------------- */

template <class Pair, int BM, int BN, int WM, int WN, int STAGES, bool A_TRANS, bool B_TRANS>
static __device__ __forceinline__ void tcgemm_wmma_shared(const tcgemm_gpu_args_t &args,
                                                          char *smem) {
    constexpr int T = Pair::BYTES == 8 ? 8 : 16;
    typedef tcgemm_wmma_tile<Pair, T, T> tile_t;
    typedef typename Pair::out out_t;
    constexpr bool A_K_FORM = !A_TRANS, B_K_FORM = B_TRANS;
    typedef tcgemm_shared_operand<Pair, BM, WM / 8, A_K_FORM> a_t;
    typedef tcgemm_shared_operand<Pair, BN, WN / 8, B_K_FORM> b_t;
    constexpr int A_BYTES = BM * TCGEMM_WMMA_CHUNK, B_BYTES = BN * TCGEMM_WMMA_CHUNK;
    constexpr int STAGE_BYTES = A_BYTES + B_BYTES;
    constexpr int WARPS_N = BN / WN, TILES_M = WM / T, TILES_N = WN / T;
    static_assert(BM / WM * WARPS_N * 32 == TCGEMM_WMMA_SHARED_THREADS, "8 warps");

    const uint32_t tiles = args.raster.tiles.by * (uint32_t)args.batch;
    const int64_t pitch_a = args.lda * Pair::BYTES, pitch_b = args.ldb * Pair::BYTES;
    const uint32_t chunks = (uint32_t)((args.k + Pair::CHUNK - 1) / Pair::CHUNK);
    const int tail = (int)(args.k - (int64_t)(chunks - 1) * Pair::CHUNK);
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    const int warp_m = warp / WARPS_N * WM, warp_n = warp % WARPS_N * WN;
    const uint32_t lane_a = a_t::lane_offset(warp_m), lane_b = b_t::lane_offset(warp_n);

    // One tile row of the warp: the products of a step.
    auto multiply = [](typename tile_t::sum_t(&sums)[TILES_N], const uint32_t *words_a,
                       const uint32_t *words_b) {
        typename tile_t::a_t fragment_a;
        tile_t::fill_a(fragment_a, words_a);
#pragma unroll
        for (int j = 0; j < TILES_N; j++) {
            typename tile_t::b_t fragment_b;
            tile_t::fill_b(fragment_b, words_b + j * (T / 8) * Pair::WORDS);
            nvcuda::wmma::mma_sync(sums[j], fragment_a, fragment_b, sums[j]);
        }
    };

    // ---- producer's place: a tile and how much of its k is left, STAGES - 1 stages ahead
    // ---------
    tcgemm_shared_source<Pair, BM, a_t::GROUP, A_K_FORM> source_a;
    tcgemm_shared_source<Pair, BN, b_t::GROUP, B_K_FORM> source_b;
    uint32_t copy_tile = blockIdx.x;
    uint32_t copy_left = 0; /* chunks of its k */
    auto open = [&]() {
        if (copy_tile < tiles) {
            const tcgemm_batch_tile_t t = tcgemm_batch_raster(&args.raster, copy_tile);
            source_a.open((const char *)args.a + t.batch * args.stride_a * Pair::BYTES, pitch_a,
                          (int64_t)t.at.m * BM, args.m);
            source_b.open((const char *)args.b + t.batch * args.stride_b * Pair::BYTES, pitch_b,
                          (int64_t)t.at.n * BN, args.n);
            copy_left = chunks;
        }
    };
    auto copy_stage = [&](int slot) {
        if (copy_left > 0) {
            char *to = smem + slot * STAGE_BYTES;
            const int left = copy_left > 1 ? Pair::CHUNK : tail;
            source_a.copy(to, pitch_a, left, args.vector_a, (const char *)args.a);
            source_b.copy(to + A_BYTES, pitch_b, left, args.vector_b, (const char *)args.b);
            if (--copy_left == 0) {
                copy_tile += gridDim.x;
                open();
            }
        }
#if __CUDA_ARCH__ >= 800
        tcgemm_cp_async_commit();
#endif
    };
    open();
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++)
        copy_stage(i);

    int slot = 0;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        // ---- products
        // ----------------------------------------------------------------------------
        typename tile_t::sum_t sum[TILES_M][TILES_N];
#pragma unroll
        for (int i = 0; i < TILES_M; i++)
#pragma unroll
            for (int j = 0; j < TILES_N; j++)
                nvcuda::wmma::fill_fragment(sum[i][j], (typename Pair::sum)0);

#pragma unroll 1
        for (uint32_t chunk = 0; chunk < chunks; chunk++) {
#if __CUDA_ARCH__ >= 800
            tcgemm_cp_async_wait<STAGES - 2>();
#endif
            __syncthreads(); // the stage is here, and everybody has left the one before it
            const int slot_left = slot == 0 ? STAGES - 1 : slot - 1;
            const char *stage = smem + slot * STAGE_BYTES;
            uint32_t words_b[Pair::STEPS][WN / 8 * Pair::WORDS];
            if constexpr (B_K_FORM) {
                b_t::template blocks<WN / 8>(0, stage + A_BYTES, lane_b, words_b);
            } else {
#pragma unroll
                for (int s = 0; s < Pair::STEPS; s++)
                    b_t::step(s, stage + A_BYTES, lane_b, words_b[s]);
            }
            // k contiguous: a tile row has all its steps at once, and the next one's are under way.
            // Otherwise a step has all its rows. The copies hide behind the first products.
            if constexpr (A_K_FORM) {
                uint32_t words_a[2][Pair::STEPS][T / 8 * Pair::WORDS];
                a_t::template blocks<T / 8>(0, stage, lane_a, words_a[0]);
#pragma unroll
                for (int i = 0; i < TILES_M; i++) {
                    if (i + 1 < TILES_M)
                        a_t::template blocks<T / 8>((i + 1) * (T / 8), stage, lane_a,
                                                    words_a[(i + 1) % 2]);
#pragma unroll
                    for (int s = 0; s < Pair::STEPS; s++)
                        multiply(sum[i], words_a[i % 2][s], words_b[s]);
                    if (i == 0)
                        copy_stage(slot_left);
                }
            } else {
#pragma unroll
                for (int s = 0; s < Pair::STEPS; s++) {
                    uint32_t words_a[WM / 8 * Pair::WORDS];
                    a_t::step(s, stage, lane_a, words_a);
#pragma unroll
                    for (int i = 0; i < TILES_M; i++)
                        multiply(sum[i], words_a + i * (T / 8) * Pair::WORDS, words_b[s]);
                    if (s == 0)
                        copy_stage(slot_left);
                }
            }
            slot = slot + 1 == STAGES ? 0 : slot + 1;
        }

        // ---- D
        // -------------------------------------------------------------------------------------
        const tcgemm_batch_tile_t t = tcgemm_batch_raster(&args.raster, tile);
        const int64_t row0 = (int64_t)t.at.m * BM + warp_m + tcgemm_wmma_outer(0, g, a_t::GROUP);
        const int64_t col0 =
            (int64_t)t.at.n * BN + warp_n + tcgemm_wmma_outer(0, 2 * q, b_t::GROUP);
        const int rows_left = tcgemm_clamp_count(args.m - row0);
        const int cols_left = tcgemm_clamp_count(args.n - col0);
        const out_t *c =
            args.c ? (const out_t *)args.c + t.batch * args.stride_c + row0 * args.ldc + col0
                   : NULL;
        out_t *d = (out_t *)args.d + t.batch * args.stride_d + row0 * args.ldd + col0;
        // Lane q holds places 2q and 2q + 1 of every block: 2 * GROUP neighbours in a segment.
        constexpr int RUN =
            16 / (int)sizeof(out_t) < 2 * b_t::GROUP ? 16 / (int)sizeof(out_t) : 2 * b_t::GROUP;
        constexpr int PER = T / 8;
        const bool runs = tcgemm_runs_are_whole(args, RUN * sizeof(out_t));
#pragma unroll
        for (int block_a = 0; block_a < WM / 8; block_a++) {
            // The rows of a lane: GROUP neighbours, then those of the next segment.
            const int row = tcgemm_wmma_outer(block_a, 0, a_t::GROUP);
            if (row < rows_left) {
#pragma unroll
                for (int at = 0; at < WN / 4; at += RUN) {
                    const int segment = at / (2 * b_t::GROUP), within = at % (2 * b_t::GROUP);
                    const int col = segment * 8 * b_t::GROUP + within;
                    typename Pair::sum values[RUN];
#pragma unroll
                    for (int i = 0; i < RUN; i++) {
                        const int place = (within + i) / b_t::GROUP;
                        const int block_b = segment * b_t::GROUP + (within + i) % b_t::GROUP;
                        values[i] = sum[block_a / PER][block_b / PER]
                                        .x[block_b % PER * 4 + block_a % PER * 2 + place];
                    }
                    tcgemm_store_run<RUN>(args, c ? c + col : NULL, d + col, cols_left - col, runs,
                                          values);
                }
            }
            const int hop = block_a % a_t::GROUP == a_t::GROUP - 1 ? 7 * a_t::GROUP + 1 : 1;
            d += hop * args.ldd;
            if (c)
                c += hop * args.ldc;
        }
    }
}

/* Stamps the kernels of one row, one for each layout. */

#endif
