/* stream_types.cuh - the types of stream.cuh: how 16 bytes of k of a line meet 16 bytes of k of the
 * small operand, and what an element of D is.
 *
 * A lane (g, t) of a warp holds LINES = 4 lines of the large operand, 16 bytes of k of each, t the
 * quarter of the 64 bytes; `few` lines of the small operand are in shared memory.
 */
#ifndef TCGEMM_STREAM_TYPES_CUH
#define TCGEMM_STREAM_TYPES_CUH

#include "gpu/elements.cuh"
#include "gpu/families/mma/products.cuh"
#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/cvt_fp8.cuh"
#include "gpu/ptx/ldmatrix.cuh"
#include "gpu/words.cuh"

/* x of another lane. */
static __device__ __forceinline__ uint32_t from_lane(uint32_t x, int lane) {
    return __shfl_sync(0xffffffffu, x, lane);
}
static __device__ __forceinline__ float from_lane(float x, int lane) {
    return __uint_as_float(from_lane(__float_as_uint(x), lane));
}
static __device__ __forceinline__ double from_lane(double x, int lane) {
    uint32_t w[2];
    memcpy(w, &x, sizeof x);
    w[0] = from_lane(w[0], lane);
    w[1] = from_lane(w[1], lane);
    memcpy(&x, w, sizeof x);
    return x;
}

/* ---- on tensor cores: the lines are rows of mma.sync, two of the lane's four in each ---- */

/* Elements that the product takes as they are. */
template <class PRODUCT> struct stream_as_is : PRODUCT {
    enum { WIDER = 1 };
    static __device__ __forceinline__ void widen(uint32_t *to, const uint32_t from[4]) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            to[i] = from[i];
    }
};

/* fp8 is multiplied as f16, which holds every number of either format. */
struct stream_e4m3 : product_f16 {
    enum { WIDER = 2 };
    static __device__ __forceinline__ void widen(uint32_t *to, const uint32_t from[4]) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            to[2 * i] = tcgemm_cvt_rn_f16x2_e4m3x2((uint16_t)from[i]);
            to[2 * i + 1] = tcgemm_cvt_rn_f16x2_e4m3x2((uint16_t)(from[i] >> 16));
        }
    }
};

/* e5m2 is the upper half of an f16. */
struct stream_e5m2 : product_f16 {
    enum { WIDER = 2 };
    static __device__ __forceinline__ void widen(uint32_t *to, const uint32_t from[4]) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            to[2 * i] = __byte_perm(from[i], 0, 0x1404);
            to[2 * i + 1] = __byte_perm(from[i], 0, 0x3424);
        }
    }
};

template <class PRODUCT, int BYTES> struct stream_by_mma : PRODUCT {
    enum { ELEMENT_BYTES = BYTES, HOLDS_WORDS = 0 };
    typedef typename PRODUCT::word word;

    /* Whether registers allow sums of each half of a step. */
    template <int FEW> static constexpr bool can_halve(void) {
        return FEW * sizeof(typename PRODUCT::sum) <= 64;
    }

    /* Sums of the lane's four lines and FEW lines of the small operand; IN_HALVES: of each half of
     * a step, which are of other lines. */
    template <int FEW, bool IN_HALVES> struct sums {
        enum {
            WORDS = 16 * PRODUCT::WIDER / (int)sizeof(word),
            EIGHTS = FEW / 8,
            SETS = IN_HALVES ? 2 : 1
        };
        typename PRODUCT::sum c[SETS][EIGHTS][2][4];

        __device__ __forceinline__ void clear(void) {
#pragma unroll
            for (int i = 0; i < SETS * EIGHTS * 8; ++i)
                c[i / 8 / EIGHTS][i / 8 % EIGHTS][i / 4 % 2][i % 4] = 0;
        }

        static __device__ __forceinline__ void prepare(word to[WORDS], const uint32_t from[4]) {
            if constexpr (sizeof(word) == 8) {
#pragma unroll
                for (int i = 0; i < WORDS; ++i)
                    memcpy(&to[i], from + 2 * i, sizeof(word));
            } else {
                PRODUCT::widen(to, from);
#pragma unroll
                for (int i = 0; i < WORDS; ++i)
                    to[i] = PRODUCT::prepare(to[i]);
            }
        }

        /* Adds the products of the lines, four words of k of each, and of those of the small
         * operand, the first at `x` and each so many bytes further. */
        __device__ __forceinline__ void add(int half, const uint32_t (&line)[4][4], int few,
                                            const char *x, int to_next) {
            const int g = threadIdx.x % 32 / 4;
            word a[4][WORDS];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                prepare(a[i], line[i]);
#pragma unroll
            for (int eighth = 0; eighth < EIGHTS; ++eighth) {
                const int f = 8 * eighth + g;
                uint32_t raw[4];
                word b[WORDS];
                const int held = f < few ? f : few - 1; /* a sum too many is nobody's */
                tcgemm_load_words<16>(raw, x + held * to_next);
                prepare(b, raw);
#pragma unroll
                for (int i = 0; i < WORDS; i += 2)
#pragma unroll
                    for (int pair = 0; pair < 2; ++pair) {
                        const word x[4] = {a[2 * pair][i], a[2 * pair + 1][i], a[2 * pair][i + 1],
                                           a[2 * pair + 1][i + 1]};
                        PRODUCT::mma(c[half % SETS][eighth][pair], x, b + i);
                    }
            }
        }

        /* Gives each sum that this lane has to `put`: which of the lane's lines, which of the few.
         * The second half of a line is its neighbour's, four lanes away. */
        template <class PUT> __device__ __forceinline__ void finish(int, PUT put) {
            const int t = threadIdx.x % 4;
#pragma unroll
            for (int eighth = 0; eighth < EIGHTS; ++eighth)
#pragma unroll
                for (int pair = 0; pair < 2; ++pair)
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        typename PRODUCT::scalar x = PRODUCT::value(c[0][eighth][pair], i);
                        if constexpr (IN_HALVES)
                            x += from_lane(PRODUCT::value(c[1][eighth][pair], i),
                                           threadIdx.x % 32 ^ 4);
                        put(2 * pair + i / 2, 8 * eighth + 2 * t + i % 2, x);
                    }
        }
    };
};

/* ---- on CUDA cores: four lanes share a line, and add up in the end ---- */

struct stream_by_fma {
    typedef float sum;
    typedef float scalar;
    enum { ELEMENT_BYTES = 4, HOLDS_WORDS = 1 };

    template <int FEW> static constexpr bool can_halve(void) {
        return true;
    }

    template <int FEW, bool IN_HALVES> struct sums {
        enum { SETS = IN_HALVES ? 2 : 1, AT_ONCE = 2 };
        float c[SETS][FEW][4];

        __device__ __forceinline__ void clear(void) {
#pragma unroll
            for (int i = 0; i < SETS * FEW * 4; ++i)
                c[i / 4 / FEW][i / 4 % FEW][i % 4] = 0.0f;
        }

        __device__ __forceinline__ void add(int half, const uint32_t (&line)[4][4], int few,
                                            const char *x, int to_next) {
            float(&sum)[FEW][4] = c[half % SETS];
            /* The next are on their way while some are multiplied. */
            float held[2][AT_ONCE][4] = {};
            fetch(held[0], x, 0, few, to_next);
#pragma unroll
            for (int f0 = 0; f0 < FEW; f0 += AT_ONCE) {
                if (f0 >= few)
                    break;
                if (f0 + AT_ONCE < FEW)
                    fetch(held[(f0 / AT_ONCE + 1) % 2], x, f0 + AT_ONCE, few, to_next);
#pragma unroll
                for (int f = 0; f < AT_ONCE; ++f)
#pragma unroll
                    for (int k = 0; k < 4; ++k)
#pragma unroll
                        for (int i = 0; i < 4; ++i)
                            sum[f0 + f][i] = fmaf(__uint_as_float(line[i][k]),
                                                  held[f0 / AT_ONCE % 2][f][k], sum[f0 + f][i]);
            }
        }

        /* Four k of some of the few; a sum too many is nobody's. With many sums a warp has few
         * beside it to hide a load, which ptxas then must not put off. */
        static __device__ __forceinline__ void fetch(float (&to)[AT_ONCE][4], const char *x, int f0,
                                                     int few, int to_next) {
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                const int f = f0 + i;
                if constexpr (FEW > 8) {
                    tcgemm_lds_128_f32_if(to[i], tcgemm_smem_address(x) + f * to_next, f < few);
                } else {
                    uint32_t words[4];
                    tcgemm_load_words<16>(words, x + (f < few ? f : few - 1) * to_next);
                    memcpy(to[i], words, 16);
                }
            }
        }

        template <class PUT> __device__ __forceinline__ void finish(int few, PUT put) {
#pragma unroll
            for (int f = 0; f < FEW; ++f) {
                if (f < few) {
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        const int lane = threadIdx.x % 32;
                        float x = c[0][f][i];
                        if constexpr (IN_HALVES)
                            x += from_lane(c[1][f][i], lane ^ 4);
                        x += from_lane(x, lane ^ 1);
                        x += from_lane(x, lane ^ 2);
                        if (threadIdx.x % 4 == 0)
                            put(i, f, x);
                    }
                }
            }
        }
    };
};

/* ---- the types ---- */

struct f16_f32 : stream_by_mma<stream_as_is<product_f16>, 2>, store_f32 {};
struct f16_f16 : stream_by_mma<stream_as_is<product_f16>, 2>, store_f16 {};
struct bf16_f32 : stream_by_mma<stream_as_is<product_bf16>, 2>, store_f32 {};
struct bf16_bf16 : stream_by_mma<stream_as_is<product_bf16>, 2>, store_bf16 {};
struct tf32_f32 : stream_by_mma<stream_as_is<product_tf32>, 4>, store_f32 {};
struct f64_f64 : stream_by_mma<stream_as_is<product_f64>, 8>, store_f64 {};
struct e4m3_f32 : stream_by_mma<stream_e4m3, 1>, store_f32 {};
struct e5m2_f32 : stream_by_mma<stream_e5m2, 1>, store_f32 {};
struct e4m3_bf16 : stream_by_mma<stream_e4m3, 1>, store_bf16 {};
struct e5m2_bf16 : stream_by_mma<stream_e5m2, 1>, store_bf16 {};
struct f32_f32 : stream_by_fma, store_f32 {};
struct s8_s32 : stream_by_mma<stream_as_is<product_8bit<1, 1>>, 1>, store_s32 {};
struct u8_s32 : stream_by_mma<stream_as_is<product_8bit<0, 0>>, 1>, store_s32 {};
struct u8s8_s32 : stream_by_mma<stream_as_is<product_8bit<0, 1>>, 1>, store_s32 {};
struct s8u8_s32 : stream_by_mma<stream_as_is<product_8bit<1, 0>>, 1>, store_s32 {};

#endif
