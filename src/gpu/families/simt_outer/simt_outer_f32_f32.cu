/* simt_outer_f32_f32.cu - fp32 on the CUDA cores: C stays in shared memory, outer products are
 * added to it.
 *
 * For: a lesson in where the bytes go, after FastGeMM: fp32 without tensor cores. It loses to any
 * kernel that keeps C in registers: here every product that is added to C costs a share of a trip
 * to shared memory and back. It is a complete kernel where the original was one block with k = 1.
 *
 *     grid: blocks of C       block: one thread a float4 of n       thread: BM x 4
 *     +------+------+         +--+--+--+--+     +--+                b   [float4], KSTEP of them
 *     |24x512|      |         |t0|t1|t2|t3| ..  |tN|  BM rows       a0  [c0 float4]
 *     +------+------+         |  |  |  |  |     |  |  of float4     a1  [c1 float4]
 *     |      |      |         |  |  |  |  |     |  |                ..
 *
 * Shared memory: the block of C and nothing else, BM * BN * 4 bytes (24 x 512: 49,152; 56 x 1024:
 * 229,376), float4 [row][thread]. Each thread touches its own column only: no barrier in the
 * kernel. How m and n follow from the device: tile/outer.h.
 *
 * Time, for one thread: KSTEP rows of B go to registers, then row after row of C:
 *
 *     A    a0  a1  a2  a3 ..     KSTEP elements of a row; the next row's while this one is used;
 *     C    c0  c1  c2  c3 ..     all lanes want the same of A: one broadcast from L1
 *     fma      ==  ==  ==        4 * KSTEP each
 *
 * A row costs 8 cycles of shared memory a warp (4 to read C, 4 to write it) and KSTEP / 4 of L1 for
 * A; its products take KSTEP cycles of the four schedulers. So KSTEP 4 cannot pass 4 / 9 of the
 * peak, 8 cannot pass 8 / 10, 16 might hide it (16 against 12): KSTEP is the knob, and the price is
 * registers. Measured it stays at half of these limits.
 *
 * Layouts: A is read KSTEP elements of a row at a time (transposed: one by one, each a broadcast),
 * B float4 along n (transposed: along k, four columns, 32 lines a load). Edges and pointers that
 * are not aligned to 16 bytes: element by element, zeros beyond n and k; rows beyond m are not
 * computed.
 *
 * H200, 8192^3, TFLOP/s of 66.9:     nn     nt     tn     tt
 *     24x512   k4                    15.2   10.5   14.3   11.8
 *     24x512   k8                    19.9   14.5   14.3   12.5
 *     24x512   k16                   23.1   18.8   11.7   10.9      34 % of the peak
 *     56x1024  k16                   14.4   12.9   11.4   10.7
 *
 * Tried: the next row of C under way while this one is summed. The speed is the same to 2 %, the
 * k16 kernel takes 130 registers instead of 168; it stays.
 */
#include <stdint.h>

#include "gpu/arch.cuh"
#include "gpu/families/simt_outer/shape.h"
#include "gpu/gpu_args.h"
#include "tile/outer.h"
#include "tile/raster.h"

static __device__ __forceinline__ float tcgemm_component(const float4 &v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/* KSTEP elements of a row of A from k on; `left` of them exist. */
template <int KSTEP, bool A_TRANS>
static __device__ __forceinline__ void tcgemm_outer_load_a(float (&a)[KSTEP], const float *from,
                                                           int64_t lda, int left, bool wide) {
    if (!A_TRANS && wide && left >= KSTEP) {
#pragma unroll
        for (int i = 0; i < KSTEP; i += 4) {
            const float4 v = *(const float4 *)(from + i);
            a[i] = v.x, a[i + 1] = v.y, a[i + 2] = v.z, a[i + 3] = v.w;
        }
    } else {
#pragma unroll
        for (int i = 0; i < KSTEP; i++)
            a[i] = i < left ? from[A_TRANS ? i * lda : i] : 0.0f;
    }
}

/* KSTEP rows of the thread's four columns of B. */
template <int KSTEP, bool B_TRANS>
static __device__ __forceinline__ void tcgemm_outer_load_b(float (&b)[KSTEP][4], const float *from,
                                                           int64_t ldb, int left, int cols,
                                                           bool wide) {
    if (wide && cols >= 4 && left >= KSTEP) {
        if constexpr (B_TRANS) {
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int i = 0; i < KSTEP; i += 4) {
                    const float4 v = *(const float4 *)(from + j * ldb + i);
                    b[i][j] = v.x, b[i + 1][j] = v.y, b[i + 2][j] = v.z, b[i + 3][j] = v.w;
                }
        } else {
#pragma unroll
            for (int i = 0; i < KSTEP; i++) {
                const float4 v = *(const float4 *)(from + i * ldb);
                b[i][0] = v.x, b[i][1] = v.y, b[i][2] = v.z, b[i][3] = v.w;
            }
        }
    } else {
#pragma unroll
        for (int i = 0; i < KSTEP; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                b[i][j] = i < left && j < cols ? from[B_TRANS ? j * ldb + i : i * ldb + j] : 0.0f;
    }
}

/* A row of the thread's C with KSTEP outer products added. */
template <int KSTEP>
static __device__ __forceinline__ float4 tcgemm_outer_row(float4 sum, const float (&a)[KSTEP],
                                                          const float (&b)[KSTEP][4]) {
#pragma unroll
    for (int i = 0; i < KSTEP; i++) {
        sum.x = fmaf(a[i], b[i][0], sum.x);
        sum.y = fmaf(a[i], b[i][1], sum.y);
        sum.z = fmaf(a[i], b[i][2], sum.z);
        sum.w = fmaf(a[i], b[i][3], sum.w);
    }
    return sum;
}

template <int BM, int BN, int KSTEP, bool A_TRANS, bool B_TRANS>
static __device__ __forceinline__ void tcgemm_simt_outer(const tcgemm_gpu_args_t &args,
                                                         float4 *smem) {
    constexpr int THREADS = BN / 4;
    static_assert(BM % 2 == 0 && KSTEP % 4 == 0, "rows are taken in pairs, A in float4");
    constexpr tcgemm_outer_shape_t shape = tcgemm_outer_shape(BM * BN * 4, 255, 4);
    static_assert(shape.m == BM && shape.n == BN && shape.threads == THREADS,
                  "the block that a device with so much shared memory asks for");
    constexpr int ROW = tcgemm_outer_index(1, 0, THREADS); /* from row to row of C */

    const tcgemm_batch_tile_t tile = tcgemm_batch_raster(&args.raster, blockIdx.x);
    const int64_t m0 = (int64_t)tile.at.m * BM;
    const int64_t n0 = (int64_t)tile.at.n * BN + threadIdx.x * 4;
    if (n0 >= args.n)
        return;
    const int rows = args.m - m0 < BM ? (int)(args.m - m0) : BM;
    const int cols = args.n - n0 < 4 ? (int)(args.n - n0) : 4;
    const float *a =
        (const float *)args.a + tile.batch * args.stride_a + (A_TRANS ? m0 : m0 * args.lda);
    const float *b =
        (const float *)args.b + tile.batch * args.stride_b + (B_TRANS ? n0 * args.ldb : n0);
    const int64_t row_a = A_TRANS ? 1 : args.lda; /* from row to row of A */
    const int64_t step_a = A_TRANS ? KSTEP * args.lda : KSTEP;
    const int64_t step_b = B_TRANS ? KSTEP : KSTEP * args.ldb;
    const bool wide_a = args.vector_a >= 16, wide_b = args.vector_b >= 16;
    float4 *mine = smem + tcgemm_outer_index(0, threadIdx.x, THREADS);

    // ---- C = 0
    // -----------------------------------------------------------------------------------
#pragma unroll 8
    for (int i = 0; i < BM; i++)
        mine[i * ROW] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

        // ---- C += column of A x row of B, KSTEP at a time
        // ----------------------------------------------
#pragma unroll 1
    for (int64_t k = 0; k < args.k; k += KSTEP, a += step_a, b += step_b) {
        const int left = args.k - k < KSTEP ? (int)(args.k - k) : KSTEP;
        float step[KSTEP][4], even[KSTEP], odd[KSTEP];
        tcgemm_outer_load_a<KSTEP, A_TRANS>(even, a, args.lda, left, wide_a);
        tcgemm_outer_load_b<KSTEP, B_TRANS>(step, b, args.ldb, left, cols, wide_b);
        // Rows in pairs, the next row of A and of C on its way; beyond m a row is repeated in vain.
        const float *next = a;
        float4 *c = mine;
        float4 c_even = c[0];
#pragma unroll 1
        for (int i = 0; i < rows; i += 2) {
            next += i + 1 < rows ? row_a : 0;
            tcgemm_outer_load_a<KSTEP, A_TRANS>(odd, next, args.lda, left, wide_a);
            const float4 c_odd = c[ROW];
            c[0] = tcgemm_outer_row<KSTEP>(c_even, even, step);
            next += i + 2 < rows ? row_a : 0;
            tcgemm_outer_load_a<KSTEP, A_TRANS>(even, next, args.lda, left, wide_a);
            c_even = c[i + 2 < BM ? 2 * ROW : 0];
            c[ROW] = tcgemm_outer_row<KSTEP>(c_odd, odd, step);
            c += 2 * ROW;
        }
    }

    // ---- D = alpha * C + beta * what was there
    // -------------------------------------------------------
    const float alpha = args.alpha.f32, beta = args.beta.f32;
    const float *from =
        args.c ? (const float *)args.c + tile.batch * args.stride_c + m0 * args.ldc + n0 : NULL;
    float *to = (float *)args.d + tile.batch * args.stride_d + m0 * args.ldd + n0;
    const bool wide = cols == 4 && args.vector_d >= 16 && (!from || args.vector_c >= 16);
#pragma unroll 1
    for (int i = 0; i < rows; i++, to += args.ldd) {
        float4 v = mine[i * ROW];
        v.x *= alpha, v.y *= alpha, v.z *= alpha, v.w *= alpha;
        if (wide) {
            if (from) {
                const float4 c = *(const float4 *)from;
                v.x = fmaf(beta, c.x, v.x), v.y = fmaf(beta, c.y, v.y);
                v.z = fmaf(beta, c.z, v.z), v.w = fmaf(beta, c.w, v.w);
            }
            *(float4 *)to = v;
        } else {
#pragma unroll
            for (int j = 0; j < 4; j++)
                if (j < cols)
                    to[j] =
                        from ? fmaf(beta, from[j], tcgemm_component(v, j)) : tcgemm_component(v, j);
        }
        if (from)
            from += args.ldc;
    }
}

/* A strip of A that is transposed takes registers: half the blocks then. */
#define TCGEMM_SIMT_OUTER_KERNEL(min_cc, max_cc, bm, bn, kstep, blocks, tag, layout, ta, tb)       \
    extern "C" __global__ void __launch_bounds__(TCGEMM_OUTER_THREADS(bn),                         \
                                                 (ta) && kstep >= 16 ? (blocks + 1) / 2 : blocks)  \
        tcgemm_simt_outer_f32_f32_##bm##x##bn##x##kstep##_##tag##_##layout(                        \
            const __grid_constant__ tcgemm_gpu_args_t args) {                                      \
        extern __shared__ float4 tcgemm_outer_smem[];                                              \
        if constexpr (TCGEMM_IS_FOR_ARCH(min_cc, max_cc, TCGEMM_OUTER_SMEM(bm, bn)))               \
            tcgemm_simt_outer<bm, bn, kstep, ta, tb>(args, tcgemm_outer_smem);                     \
    }

/* The four layouts of each row: f32 is the only type of this family. */
#define ROW(type, sums, min_cc, max_cc, bm, bn, kstep, blocks, tag)                                \
    TCGEMM_SIMT_OUTER_KERNEL(min_cc, max_cc, bm, bn, kstep, blocks, tag, nn, false, false)         \
    TCGEMM_SIMT_OUTER_KERNEL(min_cc, max_cc, bm, bn, kstep, blocks, tag, nt, false, true)          \
    TCGEMM_SIMT_OUTER_KERNEL(min_cc, max_cc, bm, bn, kstep, blocks, tag, tn, true, false)          \
    TCGEMM_SIMT_OUTER_KERNEL(min_cc, max_cc, bm, bn, kstep, blocks, tag, tt, true, true)
#include "gpu/families/simt_outer/rows.def"
