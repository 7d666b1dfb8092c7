/* fragments.cuh - operand fragments of nvcuda::wmma, filled by hand, and the way out to D.
 *
 * wmma::load_matrix_sync reads an operand in the instruction's own order, in words of four bytes
 * that are spread over as many rows as there are lane groups. What limits a kernel that feeds
 * itself from global memory is not bytes but rows (wmma_direct.cuh). Filling the fragments through
 * wide loads, in the order of tile/wmma.h, needs a third to a half of the lookups, no transposing
 * instruction, and no shared memory for edges.
 *
 * The order of the elements in fragment.x is not promised by the language. It was read back on
 * sm_90 for every type and shape used here; on any other architecture the tests of these kernels
 * confirm it or fail. Two orders of words occur (b: block of eight, h: half of the step's k):
 *
 *     A of 16 or 32 rows, B of 32 columns     b0h0 b1h0 b0h1 b1h1 | b2h0 b3h0 b2h1 b3h1
 *     B of 8 or 16 columns, A of 8 rows       b0h0 b0h1 | b1h0 b1h1    (half: repeated, 8 words)
 *     8-bit, f64                              b0 b1 b2 b3
 */
#ifndef TCGEMM_SM70_WMMA_FRAGMENTS_CUH
#define TCGEMM_SM70_WMMA_FRAGMENTS_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>

#include "gpu/arch.cuh"
#include "gpu/gpu_args.h"
#include "gpu/words.cuh"
#include "tile/raster.h"
#include "tile/wmma.h"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
namespace nvcuda {
namespace wmma {
namespace precision {
struct tf32; /* <mma.h> has it from sm_80 on; rows of it are stamped empty before */
}
} // namespace wmma
} // namespace nvcuda
#endif

/* ---- types ---------------------------------------------------------------------------------- */

/* Bytes of an element; tf32 is kept as float. */
template <class Element> struct tcgemm_wmma_element {
    static constexpr int BYTES = sizeof(Element);
};
template <> struct tcgemm_wmma_element<nvcuda::wmma::precision::tf32> {
    static constexpr int BYTES = 4;
};

/* A type pair: what is multiplied, what it is summed in, what D is. */
template <class In, class Sum, class Out> struct tcgemm_wmma_pair {
    typedef In in;
    typedef Sum sum;
    typedef Out out;
    static constexpr int BYTES = tcgemm_wmma_element<In>::BYTES;
    static constexpr int LANE_K = 16 / BYTES; /* elements of k a lane holds of a chunk */
    static constexpr int CHUNK = 4 * LANE_K;  /* elements of k in a chunk */
    static constexpr int PER_STEP = tcgemm_wmma_per_step(BYTES);
    static constexpr int STEPS = tcgemm_wmma_steps(BYTES);
    static constexpr int STEP_K = CHUNK / STEPS;       /* k of the instruction */
    static constexpr int WORDS = PER_STEP * BYTES / 4; /* of a block and step */
};

typedef tcgemm_wmma_pair<__half, float, float> tcgemm_wmma_f16_f32;
typedef tcgemm_wmma_pair<__half, float, __half> tcgemm_wmma_f16_f16;
typedef tcgemm_wmma_pair<__half, __half, __half> tcgemm_wmma_f16_f16acc;
typedef tcgemm_wmma_pair<__nv_bfloat16, float, float> tcgemm_wmma_bf16_f32;
typedef tcgemm_wmma_pair<nvcuda::wmma::precision::tf32, float, float> tcgemm_wmma_tf32_f32;
typedef tcgemm_wmma_pair<double, double, double> tcgemm_wmma_f64_f64;
typedef tcgemm_wmma_pair<signed char, int, int> tcgemm_wmma_s8_s32;
typedef tcgemm_wmma_pair<unsigned char, int, int> tcgemm_wmma_u8_s32;

/* ---- words ---------------------------------------------------------------------------------- */

/* Turns PER_STEP rows, each one step of k and GROUP elements along m or n, into GROUP blocks:
 * row[i] word .. -> w[b * WORDS ..]. A transposition within registers. */
template <class Pair, int GROUP, int ROW_WORDS>
static __device__ __forceinline__ void tcgemm_pack_rows(uint32_t *w, const uint32_t *rows) {
#define ROW(i, word) rows[(i)*ROW_WORDS + (word)]
    if constexpr (Pair::BYTES == 8) {
#pragma unroll
        for (int b = 0; b < 2 * GROUP; b++)
            w[b] = rows[b];
    } else if constexpr (Pair::BYTES == 4) {
#pragma unroll
        for (int b = 0; b < GROUP; b++)
            w[2 * b] = ROW(0, b), w[2 * b + 1] = ROW(1, b);
    } else if constexpr (Pair::BYTES == 2) {
#pragma unroll
        for (int b = 0; b < GROUP; b++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                w[2 * b + h] =
                    __byte_perm(ROW(2 * h, b / 2), ROW(2 * h + 1, b / 2), b % 2 ? 0x7632 : 0x5410);
    } else {
#pragma unroll
        for (int word = 0; word < ROW_WORDS; word++) {
            uint32_t turned[4];
            tcgemm_turn_bytes(turned, ROW(0, word), ROW(1, word), ROW(2, word), ROW(3, word));
#pragma unroll
            for (int b = 0; b < 4 && word * 4 + b < GROUP; b++)
                w[word * 4 + b] = turned[b];
        }
    }
#undef ROW
}

/* Rounds COUNT words of a tf32 operand to nearest, ties away from zero; leaves other types alone.
 */
template <class Pair, int COUNT>
static __device__ __forceinline__ void tcgemm_round_words(uint32_t *w) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if constexpr (Pair::BYTES == 4) {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            w[i] = __float_as_uint(nvcuda::wmma::__float_to_tf32(__uint_as_float(w[i])));
    }
#endif
}

/* ---- fragments ------------------------------------------------------------------------------ */

/* Fills the fragment of BLOCKS blocks from their words, w[block * WORDS + word]. */
template <class Pair, int BLOCKS, bool PAIRED, class Fragment>
static __device__ __forceinline__ void tcgemm_fill(Fragment &fragment, const uint32_t *w) {
    constexpr int WORDS = Pair::WORDS, COUNT = BLOCKS * WORDS;
    constexpr int HELD = (int)(sizeof fragment.x[0]) * Fragment::num_elements / 4;
    static_assert(HELD % COUNT == 0, "the fragment holds its words, or repeats them");
    uint32_t x[HELD];
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const int j = i % COUNT;
        if constexpr (PAIRED && Pair::PER_STEP > 1 && WORDS == 2)
            x[i] = w[(j / 4 * 2 + j % 2) * 2 + j % 4 / 2];
        else
            x[i] = w[j];
    }
    memcpy(&fragment.x[0], x, sizeof x);
}

/* The warp-matrix product TM x TN x STEP_K on hand-filled fragments. */
template <class Pair, int TM, int TN> struct tcgemm_wmma_tile {
    typedef nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, TM, TN, Pair::STEP_K, typename Pair::in,
                                   nvcuda::wmma::row_major>
        a_t;
    typedef nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, TM, TN, Pair::STEP_K, typename Pair::in,
                                   nvcuda::wmma::col_major>
        b_t;
    typedef nvcuda::wmma::fragment<nvcuda::wmma::accumulator, TM, TN, Pair::STEP_K,
                                   typename Pair::sum>
        sum_t;

    static __device__ __forceinline__ void fill_a(a_t &a, const uint32_t *w) {
        tcgemm_fill<Pair, TM / 8, (TM >= 16)>(a, w);
    }
    static __device__ __forceinline__ void fill_b(b_t &b, const uint32_t *w) {
        tcgemm_fill<Pair, TN / 8, (TN == 32)>(b, w);
    }

    /* The accumulator: a lane holds ROWS rows of COLS neighbouring columns of the tile, at row
     * r_lane * ROWS and column c_lane * COLS, where the two lane numbers are g and q, or q and g
     * for the tile of 32 columns. Valid when group = number of blocks, for A and for B. */
    static constexpr bool TURNED = TN == 32;
    static constexpr int ROWS = TURNED ? 2 : TM / 8;
    static constexpr int COLS = TURNED ? 4 : TN / 4;
    static __device__ __forceinline__ constexpr int at(int row, int col) {
        return TURNED ? col * 2 + row : TM == 16 ? col % 2 * 4 + row * 2 + col / 2 : row * 2 + col;
    }
};

/* How many of the elements ahead exist, in an int: none is ever asked about beyond 1024. */
static __device__ __forceinline__ int tcgemm_clamp_count(int64_t left) {
    return left < 0 ? 0 : left > 1024 ? 1024 : (int)left;
}

/* ---- the way out ---------------------------------------------------------------------------- */

static __device__ __forceinline__ float tcgemm_scaled(const tcgemm_gpu_args_t &args, float sum) {
    return args.alpha.f32 * sum;
}
static __device__ __forceinline__ float tcgemm_scaled(const tcgemm_gpu_args_t &args, __half sum) {
    return args.alpha.f32 * __half2float(sum);
}
static __device__ __forceinline__ double tcgemm_scaled(const tcgemm_gpu_args_t &args, double sum) {
    return args.alpha.f64 * sum;
}
static __device__ __forceinline__ int tcgemm_scaled(const tcgemm_gpu_args_t &args, int sum) {
    return (int)(args.alpha.s32 * (uint32_t)sum);
}

static __device__ __forceinline__ float tcgemm_plus_c(const tcgemm_gpu_args_t &args, float x,
                                                      float c) {
    return fmaf(args.beta.f32, c, x);
}
static __device__ __forceinline__ float tcgemm_plus_c(const tcgemm_gpu_args_t &args, float x,
                                                      __half c) {
    return fmaf(args.beta.f32, __half2float(c), x);
}
static __device__ __forceinline__ double tcgemm_plus_c(const tcgemm_gpu_args_t &args, double x,
                                                       double c) {
    return fma(args.beta.f64, c, x);
}
static __device__ __forceinline__ int tcgemm_plus_c(const tcgemm_gpu_args_t &args, int x, int c) {
    return (int)((uint32_t)x + args.beta.s32 * (uint32_t)c);
}

static __device__ __forceinline__ void tcgemm_round_to(float &d, float x) {
    d = x;
}
static __device__ __forceinline__ void tcgemm_round_to(__half &d, float x) {
    d = __float2half_rn(x);
}
static __device__ __forceinline__ void tcgemm_round_to(double &d, double x) {
    d = x;
}
static __device__ __forceinline__ void tcgemm_round_to(int &d, int x) {
    d = x;
}

/* Whether runs of BYTES bytes of C and D can be moved in one access. */
static __device__ __forceinline__ bool tcgemm_runs_are_whole(const tcgemm_gpu_args_t &args,
                                                             uint32_t bytes) {
    return args.vector_d >= bytes && (!args.c || args.vector_c >= bytes);
}

/* COLS neighbouring elements of D, of which the first `left` exist. `from` is where C is, NULL if
 * it counts for nothing; it may be `to`. */
template <int COLS, class Sum, class Out>
static __device__ __forceinline__ void tcgemm_store_run(const tcgemm_gpu_args_t &args,
                                                        const Out *from, Out *to, int left,
                                                        bool whole, const Sum (&sum)[COLS]) {
    constexpr int BYTES = COLS * (int)sizeof(Out);
    static_assert(BYTES >= 4 && BYTES <= 16, "one access");
    if (left >= COLS && whole) {
        uint32_t words[BYTES / 4];
        Out out[COLS];
        if (from) {
            tcgemm_load_words<BYTES>(words, (const char *)from);
            memcpy(out, words, BYTES);
        }
#pragma unroll
        for (int i = 0; i < COLS; i++) {
            auto x = tcgemm_scaled(args, sum[i]);
            if (from)
                x = tcgemm_plus_c(args, x, out[i]);
            tcgemm_round_to(out[i], x);
        }
        memcpy(words, out, BYTES);
        if constexpr (BYTES == 16)
            *(uint4 *)to = make_uint4(words[0], words[1], words[2], words[3]);
        else if constexpr (BYTES == 8)
            *(uint2 *)to = make_uint2(words[0], words[1]);
        else
            *(uint32_t *)to = words[0];
        return;
    }
#pragma unroll
    for (int i = 0; i < COLS; i++) {
        if (i < left) {
            auto x = tcgemm_scaled(args, sum[i]);
            if (from)
                x = tcgemm_plus_c(args, x, from[i]);
            tcgemm_round_to(to[i], x);
        }
    }
}

#endif
