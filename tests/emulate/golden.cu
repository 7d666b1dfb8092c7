/* golden.cu - the kernels of golden.h: a warp reads its registers, executes one instruction, and
 * writes them. The same source for the GPU (record.cu includes it) and for the emulator. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>

#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/cvt.cuh"
#include "gpu/ptx/ldmatrix.cuh"
#include "gpu/ptx/mma.cuh"

#define GOLDEN_KERNEL(name)                                                                        \
    extern "C" __global__ void golden_##name(const uint32_t *all_in, uint32_t *all_out)

/* A lane's words. */
template <int COUNT, class T> static __device__ void take(T *to, const uint32_t *&in) {
    uint32_t w[COUNT];
    for (int i = 0; i < COUNT; ++i)
        w[i] = *in++;
    memcpy(to, w, sizeof w);
}
template <int COUNT, class T> static __device__ void give(uint32_t *out, const T *from) {
    uint32_t w[COUNT];
    memcpy(w, from, sizeof w);
    for (int i = 0; i < COUNT; ++i)
        out[i] = w[i];
}

/* ---- mma.sync ---- */

#define GOLDEN_MMA(name, sum, word, c_count, a_count, b_count)                                     \
    GOLDEN_KERNEL(mma_##name) {                                                                    \
        enum {                                                                                     \
            C_WORDS = c_count * sizeof(sum) / 4,                                                   \
            A_WORDS = a_count * sizeof(word) / 4,                                                  \
            B_WORDS = b_count * sizeof(word) / 4                                                   \
        };                                                                                         \
        const uint32_t *in = all_in + threadIdx.x * (C_WORDS + A_WORDS + B_WORDS);                 \
        sum c[c_count];                                                                            \
        word a[a_count], b[b_count];                                                               \
        take<C_WORDS>(c, in);                                                                      \
        take<A_WORDS>(a, in);                                                                      \
        take<B_WORDS>(b, in);                                                                      \
        tcgemm_mma_##name(c, a, b);                                                                \
        give<C_WORDS>(all_out + threadIdx.x * C_WORDS, c);                                         \
    }

GOLDEN_MMA(m16n8k16_f32_f16, float, uint32_t, 4, 4, 2)
GOLDEN_MMA(m16n8k8_f32_f16, float, uint32_t, 4, 2, 1)
GOLDEN_MMA(m16n8k16_f16_f16, uint32_t, uint32_t, 2, 4, 2)
GOLDEN_MMA(m16n8k8_f16_f16, uint32_t, uint32_t, 2, 2, 1)
GOLDEN_MMA(m16n8k16_f32_bf16, float, uint32_t, 4, 4, 2)
GOLDEN_MMA(m16n8k8_f32_tf32, float, uint32_t, 4, 4, 2)
GOLDEN_MMA(m16n8k32_s8_s8, uint32_t, uint32_t, 4, 4, 2)
GOLDEN_MMA(m16n8k32_s8_u8, uint32_t, uint32_t, 4, 4, 2)
GOLDEN_MMA(m16n8k32_u8_s8, uint32_t, uint32_t, 4, 4, 2)
GOLDEN_MMA(m16n8k32_u8_u8, uint32_t, uint32_t, 4, 4, 2)
GOLDEN_MMA(m8n8k16_s8_s8, uint32_t, uint32_t, 2, 1, 1)
GOLDEN_MMA(m8n8k16_s8_u8, uint32_t, uint32_t, 2, 1, 1)
GOLDEN_MMA(m8n8k16_u8_s8, uint32_t, uint32_t, 2, 1, 1)
GOLDEN_MMA(m8n8k16_u8_u8, uint32_t, uint32_t, 2, 1, 1)
GOLDEN_MMA(m8n8k4_f64, double, double, 2, 1, 1)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
GOLDEN_MMA(m16n8k4_f64, double, double, 4, 2, 1)
GOLDEN_MMA(m16n8k8_f64, double, double, 4, 4, 2)
GOLDEN_MMA(m16n8k16_f64, double, double, 4, 8, 4)
#else /* recorded as zeros */
GOLDEN_KERNEL(mma_m16n8k4_f64) {
}
GOLDEN_KERNEL(mma_m16n8k8_f64) {
}
GOLDEN_KERNEL(mma_m16n8k16_f64) {
}
#endif

/* ---- nvcuda::wmma: fragments filled by hand, as gpu/families/wmma/fragments.cuh does ---- */

template <class Fragment, int COUNT> static __device__ void fill(Fragment &f, const uint32_t *w) {
    enum { HELD = sizeof(f.x[0]) * Fragment::num_elements / 4 };
    uint32_t x[HELD];
    for (int i = 0; i < HELD; ++i)
        x[i] = w[i % COUNT];
    memcpy(&f.x[0], x, sizeof x);
}

template <int M, int N, int K, class T, class Sum, int A_WORDS, int B_WORDS>
static __device__ void golden_wmma(const uint32_t *all_in, uint32_t *all_out) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, M, N, K, T, row_major> a;
    fragment<matrix_b, M, N, K, T, col_major> b;
    fragment<accumulator, M, N, K, Sum> c;
    enum { C_WORDS = sizeof(Sum) * M * N / 32 / 4 };
    const uint32_t *in = all_in + threadIdx.x * (C_WORDS + A_WORDS + B_WORDS);
    uint32_t a_words[A_WORDS], b_words[B_WORDS];
    take<C_WORDS>(&c.x[0], in);
    take<A_WORDS>(a_words, in);
    take<B_WORDS>(b_words, in);
    fill<decltype(a), A_WORDS>(a, a_words);
    fill<decltype(b), B_WORDS>(b, b_words);
    mma_sync(c, a, b, c);
    give<C_WORDS>(all_out + threadIdx.x * C_WORDS, &c.x[0]);
}

#define GOLDEN_WMMA(name, m, n, k, type, sum, a_words, b_words)                                    \
    GOLDEN_KERNEL(wmma_##name) {                                                                   \
        golden_wmma<m, n, k, type, sum, a_words, b_words>(all_in, all_out);                        \
    }

GOLDEN_WMMA(f16_f32_16x16, 16, 16, 16, __half, float, 4, 4)
GOLDEN_WMMA(f16_f32_32x8, 32, 8, 16, __half, float, 8, 2)
GOLDEN_WMMA(f16_f32_8x32, 8, 32, 16, __half, float, 2, 8)
GOLDEN_WMMA(f16_f16_16x16, 16, 16, 16, __half, __half, 4, 4)
GOLDEN_WMMA(f16_f16_32x8, 32, 8, 16, __half, __half, 8, 2)
GOLDEN_WMMA(f16_f16_8x32, 8, 32, 16, __half, __half, 2, 8)
GOLDEN_WMMA(bf16_f32_16x16, 16, 16, 16, __nv_bfloat16, float, 4, 4)
GOLDEN_WMMA(bf16_f32_32x8, 32, 8, 16, __nv_bfloat16, float, 8, 2)
GOLDEN_WMMA(bf16_f32_8x32, 8, 32, 16, __nv_bfloat16, float, 2, 8)
GOLDEN_WMMA(tf32_f32_16x16, 16, 16, 8, nvcuda::wmma::precision::tf32, float, 4, 4)
GOLDEN_WMMA(s8_s32_16x16, 16, 16, 16, signed char, int, 2, 2)
GOLDEN_WMMA(s8_s32_32x8, 32, 8, 16, signed char, int, 4, 1)
GOLDEN_WMMA(s8_s32_8x32, 8, 32, 16, signed char, int, 1, 4)
GOLDEN_WMMA(u8_s32_16x16, 16, 16, 16, unsigned char, int, 2, 2)
GOLDEN_WMMA(u8_s32_32x8, 32, 8, 16, unsigned char, int, 4, 1)
GOLDEN_WMMA(u8_s32_8x32, 8, 32, 16, unsigned char, int, 1, 4)
GOLDEN_WMMA(f64_f64_8x8, 8, 8, 4, double, double, 2, 2)

/* ---- the rest ---- */

extern __shared__ __align__(1024) uint32_t golden_memory[];

/* A row of 16 bytes a lane, then the address of another lane's row. */
template <int TRANS> static __device__ void golden_ldmatrix(const uint32_t *in, uint32_t *out) {
    const uint32_t lane = threadIdx.x;
    for (int i = 0; i < 4; ++i)
        golden_memory[4 * lane + i] = in[5 * lane + i];
    __syncwarp();
    uint32_t r[4];
    const uint32_t from = tcgemm_smem_address(golden_memory + 4 * (lane ^ 5));
    if (TRANS)
        tcgemm_ldmatrix_x4_trans(r, from);
    else
        tcgemm_ldmatrix_x4(r, from);
    give<4>(out + 4 * lane, r);
}
GOLDEN_KERNEL(ldmatrix_x4) {
    golden_ldmatrix<0>(all_in, all_out);
}
GOLDEN_KERNEL(ldmatrix_x4_trans) {
    golden_ldmatrix<1>(all_in, all_out);
}

/* The first `bytes` of a copy are the source's, the rest zeros. The source is the input itself,
 * from the first word that is aligned. */
GOLDEN_KERNEL(cp_async_zeros) {
    const uint32_t lane = threadIdx.x;
    for (int i = 0; i < 4; ++i)
        golden_memory[4 * lane + i] = 0xA5A5A5A5u;
    __syncwarp();
    const uint32_t to = tcgemm_smem_address(golden_memory + 4 * lane);
    if (lane < 17) {
        tcgemm_cp_async_16(to, all_in + 4 * lane, lane);
    } else if (lane < 24) {
        tcgemm_cp_async_8(to, all_in + 2 * lane, lane - 17);
    } else {
        tcgemm_cp_async_4(to + 4, all_in + lane, lane % 5);
    }
    tcgemm_cp_async_commit();
    tcgemm_cp_async_wait<0>();
    give<4>(all_out + 4 * lane, golden_memory + 4 * lane);
}

GOLDEN_KERNEL(shfl) {
    const uint32_t *in = all_in + 3 * threadIdx.x;
    all_out[2 * threadIdx.x] = __shfl_sync(0xFFFFFFFFu, in[0], in[1] % 32);
    all_out[2 * threadIdx.x + 1] = __shfl_sync(0xFFFFFFFFu, in[1], in[2] ^ 4);
}

GOLDEN_KERNEL(prmt) {
    const uint32_t *in = all_in + 3 * threadIdx.x;
    uint32_t *out = all_out + 4 * threadIdx.x;
    out[0] = tcgemm_prmt(in[0], in[1], 0x6420);
    out[1] = tcgemm_prmt(in[0], in[1], 0x7531);
    out[2] = __byte_perm(in[0], in[1], 0x5140);
    out[3] = __byte_perm(in[0], in[1], in[0] & 0x7777);
}

/* Half to single is exact; what becomes of a NaN's bits is not asked. */
GOLDEN_KERNEL(cvt_f16) {
    const uint32_t *in = all_in + 8 * threadIdx.x + 4;
    uint32_t *out = all_out + 4 * threadIdx.x;
    for (int i = 0; i < 4; ++i) {
        const float x = tcgemm_cvt_f32_f16((uint16_t)in[i]);
        out[i] = x != x ? 0x7FC00000u : __float_as_uint(x);
    }
}

GOLDEN_KERNEL(cvt_rn) {
    const uint32_t *in = all_in + 4 * threadIdx.x;
    uint32_t *out = all_out + 8 * threadIdx.x;
    for (int i = 0; i < 4; ++i) {
        const float x = __uint_as_float(in[i]), small = x * 0x1p-12f;
        const uint32_t tf32 = tcgemm_cvt_rna_tf32(in[i]);
        out[2 * i] = x != x ? 0
                            : tcgemm_cvt_rn_f16_f32(i % 2 ? small : x) |
                                  (uint32_t)tcgemm_cvt_rn_bf16_f32(x) << 16;
        out[2 * i + 1] = x != x ? 0 : tf32;
    }
}
