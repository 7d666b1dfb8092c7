/* mma_pipelined.cuh - the production kernel of sm_75 .. sm_89, and the fallback on sm_90.
 *
 * Warp-wide products mma.sync fed by ldmatrix from a ring of shared-memory slots that cp.async
 * fills. One body for every type of the tensor cores; the .cu files name the types and the tiles.
 * It wins wherever there is no wgmma, and on sm_90 where a tensor map cannot describe the operand.
 * It loses to wgmma on sm_90 (mma.sync reaches some 62 % of that peak), and small D starve it: a
 * block owns a tile and all of k.
 *
 *     grid        one block a tile of D, in the order of tile/raster.h, batch by batch
 *     block       128 x 256, 8 warps (2 x 4); or 128 x 128, 64 x 64, 4 warps (2 x 2)
 *     +-------+-------+-------+-------+     warp 64 x 64 = 4 x 8 products of 16 x 8
 *     | warp0 | warp1 | warp2 | warp3 |     +-+-+-+-+-+-+-+-+
 *     +-------+-------+-------+-------+     |>|>|>|>|>|>|>|v|     serpentine: the next
 *     | warp4 | warp5 | warp6 | warp7 |     |v|<|<|<|<|<|<|<|     product keeps one operand
 *     +-------+-------+-------+-------+     |>|>| ...
 *
 * Shared memory of the 128 x 256 tile, a block of k is 128 bytes of k (64 f16, 128 s8, 32 tf32):
 *
 *     0        16384               49152      65536               98304            147456
 *     | A slot 0 | B slot 0          | A slot 1 | B slot 1          | slot 2         |
 *     | 16 KiB   | 32 KiB            |                              |                |
 *     after the last block of k: 16 rows of each warp's D at a time, 4608 bytes a warp
 *
 * Operands stay in shared memory the way global memory has them (tile/swizzle.h), rows of k or rows
 * of m and n, so all four layouts run through the same 16-byte copies; the transposition happens on
 * the way to registers (tile/fragment.h): ldmatrix.trans for 16 bit, ldmatrix.trans and one byte
 * permutation for 8 bit, loads of 4, 8 or 16 bytes for tf32 and f64. In the K form all but
 * f64 use plain ldmatrix.
 *
 * Time, for a block b of k with four steps, 3 slots (one __syncthreads a block):
 *
 *     step            0                1                2                3
 *     cp.async        b+2, 1st third   b+2, 2nd third   b+2, 3rd third   commit, wait for b+1, sync
 *     ldmatrix        b: step 1        b: step 2        b: step 3        b+1: step 0
 *     mma             b: step 0        b: step 1        b: step 2        b: step 3
 *
 *     The slot of b+2 is that of b-1, whose last reads came before the sync of block b-1.
 *
 * sm_75 has no cp.async: two slots, the same places in time, but the copy fetches into registers
 * before the products of a step and stores after them.
 *
 * Edges: cp.async fills what lies outside m, n or k with zeros, in A and in B, so the tail of k
 * adds 0 * 0. Rows that are not 16-byte aligned (args.vector_a, vector_b) or end inside a 16-byte
 * chunk take a second, plainer loop in the same kernel: 16-, 8- or 4-byte cp.async, or element by
 * element. D leaves through shared memory in rows of 16-byte pieces; pieces that cross an edge, or
 * rows that are not aligned, go element by element.
 *
 * The main loop of the 128 x 256 tile, f16: 242 instructions a block of k, of which 128 HMMA, 32
 * LDSM and 12 LDGSTS. Tried (H200, 8192^3, TFLOP/s):
 *     words of side B in the order of A       128 moves a block: HMMA wants its pair side by side
 *     any number of bytes in the main loop    6 instructions a copy instead of 3, and spills: whole
 *                                             chunks only, the rest is for the second loop
 *     tf32, 16-byte loads in the MN form      tn 154, 300 moves a block; 8- and 4-byte loads: 195
 *     tf32, rounding between rows             nt 198; all of it ahead of the products: 210
 *     unaligned, one chunk at a time          f16 at 4095^3: 75; four chunks in flight: 120
 */
#ifndef TCGEMM_MMA_PIPELINED_CUH
#define TCGEMM_MMA_PIPELINED_CUH

#include "cuda/gpu_args.h"
#include "cuda/ptx/cp_async.cuh"
#include "cuda/ptx/cvt.cuh"
#include "cuda/ptx/ldmatrix.cuh"
#include "cuda/ptx/mma.cuh"
#include "cuda/ptx/special.cuh"
#include "tile/fragment.h"
#include "tile/pipeline.h"
#include "tile/raster.h"
#include "tile/swizzle.h"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define TCGEMM_HAVE_CP_ASYNC 0
#else
#define TCGEMM_HAVE_CP_ASYNC 1
#endif

static __device__ __forceinline__ uint32_t clamp_bytes(int64_t bytes) {
    return bytes < 0 ? 0 : bytes > 16 ? 16 : (uint32_t)bytes;
}

/* ---- elements that no wide load can take ---- */

/* Sixteen bytes of which the first `bytes` come from `from`, element by element. */
template <int ELEMENT_BYTES>
static __device__ __forceinline__ uint4 gather_chunk(const char *from, uint32_t bytes) {
    uint32_t word[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint32_t at = 0; at < 16; at += ELEMENT_BYTES) {
        uint32_t element = 0;
        if (at < bytes) {
            if (ELEMENT_BYTES == 1)
                element = *(const uint8_t *)(from + at);
            else if (ELEMENT_BYTES == 2)
                element = *(const uint16_t *)(from + at);
            else
                element = *(const uint32_t *)(from + at);
        }
        word[at / 4] |= element << 8 * (at % 4);
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* ---- one operand on its way into shared memory ---- */

/* A tile of MN rows of A (columns of B) by BK elements of k. The block's threads copy it in passes;
 * a thread keeps its chunk of the row and moves down the rows. */
template <int FORM, int ELEMENT_BYTES, int MN, int BK, int THREADS> struct operand_copy {
    enum {
        PITCH = (FORM == TCGEMM_FORM_K ? BK : MN) * ELEMENT_BYTES,
        ROWS = FORM == TCGEMM_FORM_K ? MN : BK,
        CHUNKS = PITCH / 16, /* in a row */
        ROWS_A_PASS = THREADS / CHUNKS,
        PASSES = ROWS / ROWS_A_PASS,
        BYTES = ROWS * PITCH
    };
    static_assert(THREADS % CHUNKS == 0 && ROWS % ROWS_A_PASS == 0,
                  "the threads share rows evenly");

    const char *from;  /* this thread's chunk of the pass that comes next */
    int64_t pass_step; /* bytes from pass to pass */
    int64_t rewind;    /* bytes from past the last pass to the first pass of the next block of k */
    int32_t rows_left; /* rows inside the matrix, from this thread's first one */
    uint32_t bytes_left; /* bytes of this thread's chunk inside the matrix */
    int32_t whole_rows;  /* rows_left, or 0 when the chunk is not whole */
    uint32_t to;         /* offset in the tile */

    /* base: the operand of this item of the batch; mn_left: rows of A (columns of B) from mn on. */
    __device__ __forceinline__ void begin(const void *base, int64_t ld, int64_t mn,
                                          int64_t mn_left) {
        const uint32_t row = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
        to = tcgemm_swizzle(FORM, ELEMENT_BYTES, PITCH, row, chunk);
        pass_step = ld * (ROWS_A_PASS * ELEMENT_BYTES);
        const int64_t first = FORM == TCGEMM_FORM_K ? (mn + row) * ld : row * ld + mn;
        from = (const char *)base + first * ELEMENT_BYTES + chunk * 16;
        if (FORM == TCGEMM_FORM_K) {
            rewind = BK * ELEMENT_BYTES - PASSES * pass_step;
            rows_left = (int32_t)((mn_left < MN ? mn_left : MN) - (int64_t)row);
        } else {
            rewind = 0;
            bytes_left = clamp_bytes(mn_left * ELEMENT_BYTES - (int64_t)chunk * 16);
        }
    }

    /* The next block of k has k_left elements inside the matrix, 0 .. BK. */
    __device__ __forceinline__ void begin_block(int32_t k_left) {
        if (FORM == TCGEMM_FORM_K) {
            const int32_t left = k_left * ELEMENT_BYTES - (int32_t)(threadIdx.x % CHUNKS) * 16;
            bytes_left = left < 0 ? 0 : left > 16 ? 16 : left;
        } else {
            rows_left = k_left - (int32_t)(threadIdx.x / CHUNKS);
        }
        whole_rows = bytes_left == 16 ? rows_left : 0;
    }

    __device__ __forceinline__ uint32_t pass_bytes(int pass) const {
        return pass * ROWS_A_PASS < rows_left ? bytes_left : 0;
    }

    __device__ __forceinline__ uint32_t pass_to(uint32_t tile, int pass) const {
        const uint32_t key = tcgemm_swizzle_key(FORM, ELEMENT_BYTES, PITCH, pass * ROWS_A_PASS);
        return tile + (to ^ key << 4) + pass * ROWS_A_PASS * PITCH;
    }

    __device__ __forceinline__ void next_pass(int pass) {
        from += pass_step;
        if (pass == PASSES - 1)
            from += rewind;
    }

    /* Part `part` of `parts` of the block, 16 bytes at a time; every chunk is whole or outside. */
    __device__ __forceinline__ void copy(uint32_t tile, int part, int parts) {
#pragma unroll
        for (int pass = part * PASSES / parts; pass < (part + 1) * PASSES / parts; ++pass) {
            tcgemm_cp_async_16(pass_to(tile, pass), from, pass * ROWS_A_PASS < whole_rows ? 16 : 0);
            next_pass(pass);
        }
    }

    /* The same without cp.async, in two halves: into registers, and from there. */
    __device__ __forceinline__ void fetch(uint4 kept[PASSES], int part, int parts) {
#pragma unroll
        for (int pass = part * PASSES / parts; pass < (part + 1) * PASSES / parts; ++pass) {
            kept[pass] = make_uint4(0, 0, 0, 0);
            if (pass * ROWS_A_PASS < whole_rows)
                kept[pass] = *(const uint4 *)from;
            next_pass(pass);
        }
    }
    __device__ __forceinline__ void store(uint32_t tile, const uint4 kept[PASSES], int part,
                                          int parts) {
#pragma unroll
        for (int pass = part * PASSES / parts; pass < (part + 1) * PASSES / parts; ++pass)
            tcgemm_sts_128(pass_to(tile, pass), kept[pass]);
    }

    /* The whole block, whatever the alignment of the rows and the edges. */
    __device__ __forceinline__ void copy_any(uint32_t tile, uint32_t vector) {
        const int narrow = ELEMENT_BYTES == 8 ? 8 : 4;
        if (TCGEMM_HAVE_CP_ASYNC && vector >= narrow) {
#pragma unroll 1
            for (int pass = 0; pass < PASSES; ++pass) {
                const uint32_t bytes = pass_bytes(pass);
                const uint32_t chunk_to = pass_to(tile, pass);
                if (vector >= 16) {
                    tcgemm_cp_async_16(chunk_to, from, bytes);
                } else {
#pragma unroll
                    for (int at = 0; at < 16; at += narrow) {
                        const uint32_t left = bytes > at ? bytes - at : 0;
                        const uint32_t read = left < narrow ? left : narrow;
                        if (narrow == 8)
                            tcgemm_cp_async_8(chunk_to + at, from + at, read);
                        else
                            tcgemm_cp_async_4(chunk_to + at, from + at, read);
                    }
                }
                next_pass(pass);
            }
        } else if (ELEMENT_BYTES < narrow || !TCGEMM_HAVE_CP_ASYNC) {
            const int group = PASSES % 4 == 0 && ELEMENT_BYTES > 1 ? 4 : 2; /* loads in flight */
            static_assert(PASSES % group == 0, "whole groups");
#pragma unroll 1
            for (int pass = 0; pass < PASSES; pass += group) {
                uint4 kept[group];
#pragma unroll
                for (int i = 0; i < group; ++i) {
                    kept[i] = gather_chunk<ELEMENT_BYTES>(from, pass_bytes(pass + i));
                    next_pass(pass + i);
                }
#pragma unroll
                for (int i = 0; i < group; ++i)
                    tcgemm_sts_128(pass_to(tile, pass + i), kept[i]);
            }
        }
    }
};

/* ---- one operand on its way into registers ---- */

/* The WARP rows of A (columns of B) of one warp, UNITS units of four words a step of k. */
template <int SIDE, int FORM, int ELEMENT_BYTES, int MN, int BK, int WARP> struct operand_reader {
    enum { PITCH = (FORM == TCGEMM_FORM_K ? BK : MN) * ELEMENT_BYTES, UNITS = WARP / 16 };

    uint32_t lane_at; /* offset in the tile of what this lane reads of unit 0, step 0 */

    __device__ __forceinline__ void begin(uint32_t lane, uint32_t first) {
        lane_at = tcgemm_fragment_lane_at(SIDE, FORM, ELEMENT_BYTES, PITCH, lane, first);
    }

    static __device__ __forceinline__ constexpr int place(int mn_half, int k_half) {
        return SIDE == TCGEMM_SIDE_A ? 2 * k_half + mn_half : 2 * mn_half + k_half;
    }

    __device__ __forceinline__ uint32_t at(uint32_t tile, int step, int unit, int more = 0) const {
        return tile + tcgemm_fragment_at(FORM, ELEMENT_BYTES, PITCH, lane_at, step, unit, more);
    }

    __device__ __forceinline__ void read(uint32_t (&word)[UNITS][4], uint32_t tile,
                                         int step) const {
        if constexpr (FORM == TCGEMM_FORM_MN && ELEMENT_BYTES == 4) {
            const int second = tcgemm_fragment_second_row(FORM, ELEMENT_BYTES) * PITCH;
#pragma unroll
            for (int unit = 0; unit < UNITS; ++unit)
#pragma unroll
                for (int half = 0; half < 2; ++half) { /* of the step on side A, of the unit on B */
                    if (SIDE == TCGEMM_SIDE_A) {
                        tcgemm_lds_64(&word[unit][2 * half], at(tile, step, unit) + half * second);
                    } else {
                        const uint32_t from = at(tile, step, unit, half * 32);
                        tcgemm_lds_32(&word[unit][2 * half], from);
                        tcgemm_lds_32(&word[unit][2 * half + 1], from + second);
                    }
                }
        } else if constexpr (FORM == TCGEMM_FORM_MN && ELEMENT_BYTES == 1) {
#pragma unroll
            for (int unit = 0; unit < UNITS; ++unit) {
                uint32_t two[4]; /* bytes: (k, mn), (k, mn+1), (k+1, mn), (k+1, mn+1) */
                tcgemm_ldmatrix_x4_trans(two, at(tile, step, unit));
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const uint32_t x = two[2 * half], y = two[2 * half + 1];
                    word[unit][place(0, half)] = tcgemm_prmt(x, y, 0x6420);
                    word[unit][place(1, half)] = tcgemm_prmt(x, y, 0x7531);
                }
            }
        } else {
#pragma unroll
            for (int unit = 0; unit < UNITS; ++unit) {
                if (FORM == TCGEMM_FORM_K)
                    tcgemm_ldmatrix_x4(word[unit], at(tile, step, unit));
                else
                    tcgemm_ldmatrix_x4_trans(word[unit], at(tile, step, unit));
            }
        }
    }

    __device__ __forceinline__ void read(double (&word)[UNITS][4], uint32_t tile, int step) const {
#pragma unroll
        for (int unit = 0; unit < UNITS; ++unit) {
            const uint32_t from = at(tile, step, unit);
            const int second = tcgemm_fragment_second_row(FORM, ELEMENT_BYTES);
            double x[2], y[2];
            tcgemm_lds_128_f64(x, from);
            tcgemm_lds_128_f64(y, from + second * PITCH);
            word[unit][place(0, 0)] = x[0];
            word[unit][place(1, 0)] = FORM == TCGEMM_FORM_K ? y[0] : x[1];
            word[unit][place(0, 1)] = FORM == TCGEMM_FORM_K ? x[1] : y[0];
            word[unit][place(1, 1)] = y[1];
        }
    }
};

/* ---- the kernel ---- */

static __device__ __forceinline__ void scalars(const tcgemm_gpu_args_t &args, float *alpha,
                                               float *beta) {
    *alpha = args.alpha.f32;
    *beta = args.beta.f32;
}
static __device__ __forceinline__ void scalars(const tcgemm_gpu_args_t &args, double *alpha,
                                               double *beta) {
    *alpha = args.alpha.f64;
    *beta = args.beta.f64;
}
static __device__ __forceinline__ void scalars(const tcgemm_gpu_args_t &args, uint32_t *alpha,
                                               uint32_t *beta) {
    *alpha = args.alpha.s32;
    *beta = args.beta.s32;
}

/* TYPE, see the .cu files:
 *     word                 what mma takes: uint32_t or double
 *     sum, SUMS            an accumulator, and how many a lane has of a 16 x 8 product
 *     scalar               float, double or uint32_t: alpha, beta and the arithmetic of D
 *     out                  an element of C and D
 *     ELEMENT_BYTES        of an element of A and B
 *     mma(c, a, b)         c += a * b, 16 x 8 by one step of k
 *     prepare(word)        what happens to a word between shared memory and mma
 *     value(c, i)          accumulator i of 4 as a scalar
 *     load(out), store(s)  conversions of an element of C and D
 */
template <class TYPE, int BM, int BN, int BK, int WM, int WN, int STAGES, int A_FORM, int B_FORM>
struct mma_pipelined {
    typedef typename TYPE::word word;
    typedef typename TYPE::sum sum;
    typedef typename TYPE::scalar scalar;
    typedef typename TYPE::out out;
    enum {
        ELEMENT_BYTES = TYPE::ELEMENT_BYTES,
        SUMS = TYPE::SUMS,
        WARPS_N = BN / WN,
        THREADS = BM / WM * WARPS_N * 32,
        STEPS = BK * ELEMENT_BYTES / (ELEMENT_BYTES == 8 ? 64 : 32),
        UNITS_M = WM / 16,
        UNITS_N = WN / 16,
        PARTS = STEPS - 1 /* the copy of a block is spread over all steps but the last */
    };
    typedef operand_copy<A_FORM, ELEMENT_BYTES, BM, BK, THREADS> copy_a;
    typedef operand_copy<B_FORM, ELEMENT_BYTES, BN, BK, THREADS> copy_b;
    typedef operand_reader<TCGEMM_SIDE_A, A_FORM, ELEMENT_BYTES, BM, BK, WM> reader_a;
    typedef operand_reader<TCGEMM_SIDE_B, B_FORM, ELEMENT_BYTES, BN, BK, WN> reader_b;
    enum { STAGE_BYTES = copy_a::BYTES + copy_b::BYTES };
    static_assert(STEPS % 2 == 0, "the fragments of two steps take turns");

    copy_a load_a;
    copy_b load_b;
    reader_a read_a;
    reader_b read_b;
    uint32_t smem;
    uint32_t blocks; /* of k */
    int32_t tail;    /* elements of k in the last one */
    sum c[UNITS_M][2 * UNITS_N][SUMS];

    /* ---- copies ---- */

    __device__ __forceinline__ void begin_block(uint32_t block) {
        const int32_t k_left = block + 1 < blocks ? BK : block + 1 == blocks ? tail : 0;
        load_a.begin_block(k_left);
        load_b.begin_block(k_left);
    }

    __device__ __forceinline__ void copy_whole(uint32_t slot) {
#if TCGEMM_HAVE_CP_ASYNC
        load_a.copy(slot, 0, 1);
        load_b.copy(slot + copy_a::BYTES, 0, 1);
#else
        uint4 kept_a[copy_a::PASSES], kept_b[copy_b::PASSES];
        load_a.fetch(kept_a, 0, 1);
        load_b.fetch(kept_b, 0, 1);
        load_a.store(slot, kept_a, 0, 1);
        load_b.store(slot + copy_a::BYTES, kept_b, 0, 1);
#endif
    }

    static __device__ __forceinline__ void commit(void) {
#if TCGEMM_HAVE_CP_ASYNC
        tcgemm_cp_async_commit();
#endif
    }

    /* Waits for the block after the current one and for every warp to be done with the current one.
     */
    static __device__ __forceinline__ void arrive(void) {
#if TCGEMM_HAVE_CP_ASYNC
        tcgemm_cp_async_wait<STAGES - 2>();
#endif
        __syncthreads();
    }

    __device__ __forceinline__ uint32_t next_slot(uint32_t slot) const {
        return slot == smem + (STAGES - 1) * STAGE_BYTES ? smem : slot + STAGE_BYTES;
    }

    /* ---- products ---- */

    __device__ __forceinline__ void read(word (&a)[UNITS_M][4], word (&b)[UNITS_N][4],
                                         uint32_t slot, int step) {
        read_a.read(a, slot, step);
        read_b.read(b, slot + copy_a::BYTES, step);
    }

    __device__ __forceinline__ void multiply(word (&a)[UNITS_M][4], word (&b)[UNITS_N][4]) {
#pragma unroll
        for (int w = 0; w < 4; ++w) {
#pragma unroll
            for (int i = 0; i < UNITS_M; ++i)
                a[i][w] = TYPE::prepare(a[i][w]);
#pragma unroll
            for (int j = 0; j < UNITS_N; ++j)
                b[j][w] = TYPE::prepare(b[j][w]);
        }
#pragma unroll
        for (int i = 0; i < UNITS_M; ++i)
#pragma unroll
            for (int there = 0; there < 2 * UNITS_N; ++there) {
                const int j = i % 2 ? 2 * UNITS_N - 1 - there : there;
                TYPE::mma(c[i][j], a[i], &b[j / 2][2 * (j % 2)]);
            }
    }

    /* ---- 16-byte chunks throughout ---- */

    __device__ __forceinline__ void run_whole(void) {
        uint32_t into = smem;
#pragma unroll 1
        for (uint32_t block = 0; block < STAGES - 1; ++block) {
            begin_block(block);
            copy_whole(into);
            commit();
            into = next_slot(into);
        }
        word a[2][UNITS_M][4], b[2][UNITS_N][4];
        uint32_t slot = smem;
        arrive();
        read(a[0], b[0], slot, 0);

#pragma unroll 1
        for (uint32_t block = 0; block < blocks; ++block) {
            begin_block(block + STAGES - 1);
#pragma unroll
            for (int step = 0; step < STEPS; ++step) {
#if TCGEMM_HAVE_CP_ASYNC
                if (step < PARTS) {
                    load_a.copy(into, step, PARTS);
                    load_b.copy(into + copy_a::BYTES, step, PARTS);
                }
#else
                uint4 kept_a[copy_a::PASSES], kept_b[copy_b::PASSES];
                if (step < PARTS) {
                    load_a.fetch(kept_a, step, PARTS);
                    load_b.fetch(kept_b, step, PARTS);
                }
#endif
                if (step == STEPS - 1) {
                    commit();
                    arrive();
                    slot = next_slot(slot);
                    into = next_slot(into);
                }
                read(a[(step + 1) % 2], b[(step + 1) % 2], slot, (step + 1) % STEPS);
                multiply(a[step % 2], b[step % 2]);
#if !TCGEMM_HAVE_CP_ASYNC
                if (step < PARTS) {
                    load_a.store(into, kept_a, step, PARTS);
                    load_b.store(into + copy_a::BYTES, kept_b, step, PARTS);
                }
#endif
            }
        }
    }

    /* ---- anything else: the same ring, nothing overlapped by hand ---- */

    __device__ __forceinline__ void copy_any(uint32_t slot, uint32_t block, uint32_t vector) {
        begin_block(block);
        load_a.copy_any(slot, vector);
        load_b.copy_any(slot + copy_a::BYTES, vector);
        commit();
    }

    __device__ __forceinline__ void run_any(uint32_t vector) {
        uint32_t into = smem, slot = smem;
#pragma unroll 1
        for (uint32_t block = 0; block < STAGES - 1; ++block) {
            copy_any(into, block, vector);
            into = next_slot(into);
        }
#pragma unroll 1
        for (uint32_t block = 0; block < blocks; ++block) {
            arrive();
            copy_any(into, block + STAGES - 1, vector);
            into = next_slot(into);
#pragma unroll 1
            for (int step = 0; step < STEPS; ++step) {
                word a[UNITS_M][4], b[UNITS_N][4];
                read(a, b, slot, step);
                multiply(a, b);
            }
            slot = next_slot(slot);
        }
    }

    /* ---- epilogue: D = alpha * c + beta * C, 16 rows of a warp at a time through shared memory
     * ---- */

    __device__ __forceinline__ void finish(const tcgemm_gpu_args_t &args, char *memory) {
        enum {
            PITCH = WN + (sizeof(scalar) == 8 ? 4 : 8), /* scalars; the lanes of a store spread */
            PIECE = 16 / sizeof(scalar),                /* columns that a lane stores at once */
            LANES = WN / PIECE,                         /* for a row */
            ROWS = 32 / LANES
        };
        struct alignas(sizeof(out) * PIECE) piece_t {
            out v[PIECE];
        };
        const tcgemm_batch_tile_t tile = which_tile(args);
        const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const int64_t row0 = (int64_t)tile.at.m * BM + warp / WARPS_N * WM;
        const int64_t col0 = (int64_t)tile.at.n * BN + warp % WARPS_N * WN;
        scalar *staged = (scalar *)memory + warp * (16 * PITCH);
        scalar alpha, beta;
        scalars(args, &alpha, &beta);
        const uint32_t col_in_warp = lane % LANES * PIECE;
        const int64_t col = col0 + col_in_warp;
        const int64_t cols_left = args.n - col;
        out *d = (out *)args.d + tile.batch * args.stride_d + col;
        const out *from = args.c ? (const out *)args.c + tile.batch * args.stride_c + col : NULL;
        const bool whole = cols_left >= PIECE && args.vector_d >= sizeof(piece_t) &&
                           (!from || args.vector_c >= sizeof(piece_t));

#pragma unroll
        for (int i = 0; i < UNITS_M; ++i) {
            __syncwarp();
#pragma unroll
            for (int j = 0; j < 2 * UNITS_N; ++j)
#pragma unroll
                for (int r = 0; r < 4; ++r) {
                    const uint32_t at =
                        tcgemm_fragment_mn(TCGEMM_SIDE_B, B_FORM, ELEMENT_BYTES, j / 2, j % 2,
                                           tcgemm_fragment_c_col(lane, r));
                    staged[tcgemm_fragment_c_row(lane, r) * PITCH + at] = TYPE::value(c[i][j], r);
                }
            __syncwarp();
#pragma unroll 2
            for (uint32_t line = lane / LANES; line < 16; line += ROWS) {
                const int64_t row = row0 + tcgemm_fragment_mn(TCGEMM_SIDE_A, A_FORM, ELEMENT_BYTES,
                                                              i, line / 8, line % 8);
                if (row >= args.m || cols_left <= 0)
                    continue;
                scalar v[PIECE];
#pragma unroll
                for (int x = 0; x < PIECE; ++x)
                    v[x] = alpha * staged[line * PITCH + col_in_warp + x];
                if (whole) {
                    piece_t piece;
                    if (from) {
                        piece = *(const piece_t *)(from + row * args.ldc);
#pragma unroll
                        for (int x = 0; x < PIECE; ++x)
                            v[x] += beta * TYPE::load(piece.v[x]);
                    }
#pragma unroll
                    for (int x = 0; x < PIECE; ++x)
                        piece.v[x] = TYPE::store(v[x]);
                    *(piece_t *)(d + row * args.ldd) = piece;
                } else {
#pragma unroll
                    for (int x = 0; x < PIECE; ++x)
                        if (x < cols_left) {
                            if (from)
                                v[x] += beta * TYPE::load(from[row * args.ldc + x]);
                            d[row * args.ldd + x] = TYPE::store(v[x]);
                        }
                }
            }
        }
    }

    /* ---- one tile of D ---- */

    /* The tile of this block. Worked out twice, so that nothing of it occupies registers meanwhile.
     */
    static __device__ __forceinline__ tcgemm_batch_tile_t
    which_tile(const tcgemm_gpu_args_t &args) {
        const uint32_t tiles_m = (uint32_t)((args.m + BM - 1) / BM);
        const uint32_t tiles_n = (uint32_t)((args.n + BN - 1) / BN);
        return tcgemm_batch_raster(tcgemm_block_index(), tiles_m, tiles_n, args.raster_group);
    }

    __device__ __forceinline__ void run(const tcgemm_gpu_args_t &args) {
        extern __shared__ __align__(1024) char memory[];
        const tcgemm_batch_tile_t tile = which_tile(args);
        const int64_t m0 = (int64_t)tile.at.m * BM, n0 = (int64_t)tile.at.n * BN;
        const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;

        smem = tcgemm_smem_address(memory);
        blocks = tcgemm_pipeline_blocks(args.k, BK);
        tail = (int32_t)(args.k - (int64_t)(blocks - 1) * BK);
        load_a.begin((const char *)args.a + tile.batch * args.stride_a * ELEMENT_BYTES, args.lda,
                     m0, args.m - m0);
        load_b.begin((const char *)args.b + tile.batch * args.stride_b * ELEMENT_BYTES, args.ldb,
                     n0, args.n - n0);
        read_a.begin(lane, warp / WARPS_N * WM);
        read_b.begin(lane, warp % WARPS_N * WN);
#pragma unroll
        for (int i = 0; i < UNITS_M; ++i)
#pragma unroll
            for (int j = 0; j < 2 * UNITS_N; ++j)
#pragma unroll
                for (int r = 0; r < SUMS; ++r)
                    c[i][j][r] = 0;

        const uint32_t vector = args.vector_a < args.vector_b ? args.vector_a : args.vector_b;
        const int64_t a_row = A_FORM == TCGEMM_FORM_K ? args.k : args.m;
        const int64_t b_row = B_FORM == TCGEMM_FORM_K ? args.k : args.n;
        if (vector >= 16 && a_row * ELEMENT_BYTES % 16 == 0 && b_row * ELEMENT_BYTES % 16 == 0)
            run_whole();
        else
            run_any(vector);

#if TCGEMM_HAVE_CP_ASYNC
        tcgemm_cp_async_wait<0>();
#endif
        __syncthreads();
        finish(args, memory);
    }
};

/* ---- kernels ---- */

/* Shared memory that a block may have on the architecture being compiled. */
#if !defined(__CUDA_ARCH__)
#define TCGEMM_ARCH      0
#define TCGEMM_ARCH_SMEM 0
#elif __CUDA_ARCH__ < 800
#define TCGEMM_ARCH_SMEM 65536
#elif __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200
#define TCGEMM_ARCH_SMEM 101376
#elif __CUDA_ARCH__ < 900
#define TCGEMM_ARCH_SMEM 166912
#else
#define TCGEMM_ARCH_SMEM 232448
#endif
#ifndef TCGEMM_ARCH
#define TCGEMM_ARCH (__CUDA_ARCH__ / 10)
#endif

/* The body is empty where the table has no row for the architecture. */
#define TCGEMM_MMA_KERNEL(traits, bm, bn, bk, wm, wn, stages, blocks_per_sm, min_cc, max_cc, name, \
                          a_form, b_form)                                                          \
    extern "C" __global__ void __launch_bounds__(bm / wm * (bn / wn) * 32, blocks_per_sm)          \
        name(const __grid_constant__ tcgemm_gpu_args_t args) {                                     \
        if constexpr (TCGEMM_ARCH >= min_cc && TCGEMM_ARCH <= max_cc &&                            \
                      (bm + bn) * bk * traits::ELEMENT_BYTES * stages <= TCGEMM_ARCH_SMEM) {       \
            mma_pipelined<traits, bm, bn, bk, wm, wn, stages, a_form, b_form> tile;                \
            tile.run(args);                                                                        \
        }                                                                                          \
    }

/* The four layouts of one row of the table. */
#define TCGEMM_MMA_PIPELINED(traits, type, bm, bn, bk, wm, wn, stages, blocks_per_sm, min_cc,      \
                             max_cc, tag)                                                          \
    TCGEMM_MMA_KERNEL(traits, bm, bn, bk, wm, wn, stages, blocks_per_sm, min_cc, max_cc,           \
                      tcgemm_mma_pipelined_##type##_##bm##x##bn##x##bk##_##tag##_nn,               \
                      TCGEMM_FORM_K, TCGEMM_FORM_MN)                                               \
    TCGEMM_MMA_KERNEL(traits, bm, bn, bk, wm, wn, stages, blocks_per_sm, min_cc, max_cc,           \
                      tcgemm_mma_pipelined_##type##_##bm##x##bn##x##bk##_##tag##_nt,               \
                      TCGEMM_FORM_K, TCGEMM_FORM_K)                                                \
    TCGEMM_MMA_KERNEL(traits, bm, bn, bk, wm, wn, stages, blocks_per_sm, min_cc, max_cc,           \
                      tcgemm_mma_pipelined_##type##_##bm##x##bn##x##bk##_##tag##_tn,               \
                      TCGEMM_FORM_MN, TCGEMM_FORM_MN)                                              \
    TCGEMM_MMA_KERNEL(traits, bm, bn, bk, wm, wn, stages, blocks_per_sm, min_cc, max_cc,           \
                      tcgemm_mma_pipelined_##type##_##bm##x##bn##x##bk##_##tag##_tt,               \
                      TCGEMM_FORM_MN, TCGEMM_FORM_K)

#endif
