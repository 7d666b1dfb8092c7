/* seed_lab.cu - checks and times the seed kernels (wmma-direct, wmma-shared, simt-outer) on a GPU,
 * without the library: its rows (run.sh writes them to rows.h), the kernels and the
 * CUDA runtime.
 *
 *     seed_lab [check | time | all] [substring of algo_type_tag]
 *     LAB_GROUP=8   raster group
 *     LAB_TIGHT=1   A and B end where their memory ends, for compute-sanitizer
 *
 * Check: every kernel and layout over odd and even shapes, padded ld, misaligned pointers, alpha
 * and beta, batches, C = D, NaN in the padding of A and B and in D where C does not count, canaries
 * around D; against a naive product in double (integers: modulo 2^32, exactly). Bound:
 * |d - exact| <= 4 sqrt(k) u s + rounding of D, s = |alpha| sum |a||b| + |beta||c|.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/gpu_args.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess) {                                                              \
            printf("%s: %s\n", #call, cudaGetErrorString(status_));                                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define SYMBOL(algo, type, tag, bm, bn, bk, layout)                                                \
    tcgemm_##algo##_##type##_##bm##x##bn##x##bk##_##tag##_##layout
#define TCGEMM_GPU(algo, type, module, tag, min_cc, max_cc, bm, bn, bk, wm, wn, im, in, ik,        \
                   threads, stages, smem, blocks, persistent)                                      \
    extern "C" __global__ void SYMBOL(algo, type, tag, bm, bn, bk, nn)(const tcgemm_gpu_args_t);   \
    extern "C" __global__ void SYMBOL(algo, type, tag, bm, bn, bk, nt)(const tcgemm_gpu_args_t);   \
    extern "C" __global__ void SYMBOL(algo, type, tag, bm, bn, bk, tn)(const tcgemm_gpu_args_t);   \
    extern "C" __global__ void SYMBOL(algo, type, tag, bm, bn, bk, tt)(const tcgemm_gpu_args_t);
#include "rows.h"

enum type { f16_f32, f16_f16, bf16_f32, tf32_f32, f32_f32, f64_f64, s8_s32, u8_s32 };
static const int in_bytes[] = {2, 2, 2, 4, 4, 8, 1, 1}, out_bytes[] = {4, 2, 4, 4, 4, 8, 4, 4};

struct row {
    const char *algo, *type_name, *tag;
    type t;
    int bm, bn, bk, threads, smem, persistent;
    const void *kernel[4];
};
#define TCGEMM_GPU(algo, type, module, tag, min_cc, max_cc, bm, bn, bk, wm, wn, im, in, ik,        \
                   threads, stages, smem, blocks, persistent)                                      \
    {#algo,                                                                                        \
     #type,                                                                                        \
     #tag,                                                                                         \
     type,                                                                                         \
     bm,                                                                                           \
     bn,                                                                                           \
     bk,                                                                                           \
     threads,                                                                                      \
     smem,                                                                                         \
     persistent,                                                                                   \
     {(const void *)SYMBOL(algo, type, tag, bm, bn, bk, nn),                                       \
      (const void *)SYMBOL(algo, type, tag, bm, bn, bk, nt),                                       \
      (const void *)SYMBOL(algo, type, tag, bm, bn, bk, tn),                                       \
      (const void *)SYMBOL(algo, type, tag, bm, bn, bk, tt)}},
static const row rows[] = {
#include "rows.h"
};
static const char *const layouts[] = {"nn", "nt", "tn", "tt"};

/* ---- data ----------------------------------------------------------------------------------- */

static __host__ __device__ uint32_t mix(uint64_t x) {
    x ^= x >> 31, x *= 0x9e3779b97f4a7c15ull, x ^= x >> 29, x *= 0xbf58476d1ce4e5b9ull;
    return (uint32_t)(x >> 32);
}

static __device__ double get(const void *p, int64_t i, type t) {
    switch (t) {
    case f16_f32:
    case f16_f16:
        return __half2float(((const __half *)p)[i]);
    case bf16_f32:
        return __bfloat162float(((const __nv_bfloat16 *)p)[i]);
    case tf32_f32:
        return __uint_as_float((__float_as_uint(((const float *)p)[i]) + 0x1000) & 0xffffe000);
    case f32_f32:
        return ((const float *)p)[i];
    case f64_f64:
        return ((const double *)p)[i];
    case s8_s32:
        return ((const signed char *)p)[i];
    default:
        return ((const unsigned char *)p)[i];
    }
}

/* Fills an operand, rows x run of `ld`, with uniform numbers in [-1, 1) or random bytes, and what
 * lies between the rows with NaN. */
__global__ void fill(void *p, int64_t count, int64_t run, int64_t ld, type t, uint64_t seed) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x) {
        const uint32_t r = mix(seed + i);
        const bool in = i % ld < run;
        const float x = in ? (int32_t)r * 0x1p-31f : __int_as_float(0x7fffffff);
        if (t == f16_f32 || t == f16_f16)
            ((__half *)p)[i] = __float2half(x);
        else if (t == bf16_f32)
            ((__nv_bfloat16 *)p)[i] = __float2bfloat16(x);
        else if (t == f64_f64)
            ((double *)p)[i] = x;
        else if (t == s8_s32 || t == u8_s32)
            ((uint8_t *)p)[i] = (uint8_t)(r >> 13);
        else
            ((float *)p)[i] = x;
    }
}

/* C and D hold small numbers of their own type, or NaN. */
__global__ void fill_c(void *p, int64_t count, type t, uint64_t seed, bool nan) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x) {
        const uint32_t r = mix(seed + i);
        const float x = nan ? __int_as_float(0x7fffffff) : (int32_t)r * 0x1p-31f;
        if (t == f16_f16)
            ((__half *)p)[i] = __float2half(x);
        else if (t == f64_f64)
            ((double *)p)[i] = x;
        else if (t == s8_s32 || t == u8_s32)
            ((int *)p)[i] = (int)r;
        else
            ((float *)p)[i] = x;
    }
}

static __device__ double get_c(const void *p, int64_t i, type t) {
    return t == f16_f16   ? (double)__half2float(((const __half *)p)[i])
           : t == f64_f64 ? ((const double *)p)[i]
                          : (double)((const float *)p)[i];
}

/* ---- check ---------------------------------------------------------------------------------- */

struct verdict {
    unsigned long long wrong, canaries;
    int64_t row, col;
    double got, wanted, bound;
};

/* `before` is D as it was. One thread an element of the whole buffer of D. */
__global__ void check(tcgemm_gpu_args_t g, const void *c, const void *before, const char *d,
                      int64_t count, type t, int bytes, double u, verdict *v) {
    const int64_t e = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (e >= count)
        return;
    const int64_t offset = ((const char *)g.d - d) / bytes;
    const int64_t at = e - offset;
    const int64_t item = at < 0 ? 0 : g.stride_d ? at / g.stride_d : 0;
    const int64_t i = at < 0 ? -1 : (at - item * g.stride_d) / g.ldd;
    const int64_t j = at < 0 ? -1 : (at - item * g.stride_d) % g.ldd;
    if (at < 0 || item >= g.batch || i >= g.m || j >= g.n) {
        bool same = true;
        for (int b = 0; b < bytes; b++)
            same = same && d[e * bytes + b] == ((const char *)before)[e * bytes + b];
        if (!same)
            atomicAdd(&v->canaries, 1ull);
        return;
    }
    double sum = 0, size = 0;
    uint32_t whole = 0;
    for (int64_t p = 0; p < g.k; p++) {
        const double x =
            get(g.a, item * g.stride_a + (g.a_trans ? p * g.lda + i : i * g.lda + p), t);
        const double y =
            get(g.b, item * g.stride_b + (g.b_trans ? j * g.ldb + p : p * g.ldb + j), t);
        sum += x * y, size += fabs(x * y);
        whole += (uint32_t)(int)x * (uint32_t)(int)y;
    }
    const int64_t at_c = item * g.stride_c + i * g.ldc + j;
    double got, wanted, bound;
    if (t == s8_s32 || t == u8_s32) {
        whole *= g.alpha.s32;
        if (c)
            whole += g.beta.s32 * (uint32_t)((const int *)c)[at_c];
        got = ((const int *)d)[e], wanted = (int)whole, bound = 0;
    } else {
        const double alpha = t == f64_f64 ? g.alpha.f64 : g.alpha.f32;
        const double beta = t == f64_f64 ? g.beta.f64 : g.beta.f32;
        const double old = c ? get_c(c, at_c, t) : 0;
        wanted = alpha * sum + beta * old, size = fabs(alpha) * size + fabs(beta * old);
        got = get_c(d, e, t);
        bound =
            4 * sqrt((double)g.k) * u * size + (t == f16_f16 ? 0x1p-11 * fabs(wanted) : 0) + 1e-30;
    }
    if (!(fabs(got - wanted) <= bound)) {
        if (atomicAdd(&v->wrong, 1ull) == 0)
            v->row = i, v->col = j, v->got = got, v->wanted = wanted, v->bound = bound;
    }
}

static uint32_t aligned_to(const void *p, int64_t ld, int64_t stride, int bytes) {
    uint64_t bits = (uint64_t)p | (uint64_t)(ld * bytes) | (uint64_t)(stride * bytes);
    uint32_t a = 1;
    while (a < 16 && !(bits & a))
        a *= 2;
    return a;
}

static int sms;

static void launch(const row &r, int layout, const tcgemm_gpu_args_t &g) {
    static const void *last = NULL;
    static int resident = 1;
    const void *kernel = r.kernel[layout];
    if (kernel != last) {
        OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, r.smem));
        OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, r.threads, r.smem));
        last = kernel;
    }
    tcgemm_gpu_args_t args = g;
    const int64_t tiles = (g.m + r.bm - 1) / r.bm * ((g.n + r.bn - 1) / r.bn) * g.batch;
    const int64_t fit = (int64_t)sms * resident;
    const uint32_t group = getenv("LAB_GROUP") ? (uint32_t)atoi(getenv("LAB_GROUP"))
                                               : (uint32_t)(sqrt((double)fit * r.bn / r.bm) + 0.5);
    args.raster = tcgemm_raster_of((uint32_t)((g.m + r.bm - 1) / r.bm),
                                   (uint32_t)((g.n + r.bn - 1) / r.bn), group);
    void *list[] = {&args};
    OK(cudaLaunchKernel(kernel, dim3((unsigned)(r.persistent && fit < tiles ? fit : tiles)),
                        dim3((unsigned)r.threads), list, (size_t)r.smem, 0));
}

struct shape {
    int64_t m, n, k, batch;
    int pad, shift; /* elements: beyond the row length in ld, before the first element */
    double alpha, beta;
    bool in_place;
};
static const shape shapes[] = {
    {128, 256, 128, 1, 0, 0, 1, 0, false}, {1, 1, 1, 1, 0, 0, 1, 0, false},
    {257, 131, 67, 2, 3, 1, 3, -2, false}, {640, 528, 1040, 1, 16, 0, 1, 1, true},
    {100, 300, 44, 3, 4, 4, -1, 0, false}, {300, 24, 513, 1, 8, 0, 2, 1, false},
    {33, 600, 5, 1, 2, 2, 1, 0, false},    {130, 1032, 80, 1, 16, 16, 1, -1, false},
    {16, 16, 3000, 1, 0, 0, 1, 0, false},
};

static char *pool[5]; /* A, B, C, D, D before */
#define POOL_BYTES ((size_t)820 << 20)

static bool check_one(const row &r, int layout, const shape &s, verdict *v) {
    tcgemm_gpu_args_t g;
    memset(&g, 0, sizeof g);
    g.m = s.m, g.n = s.n, g.k = s.k, g.batch = s.batch;
    g.a_trans = layout / 2, g.b_trans = layout % 2;
    const int64_t run_a = g.a_trans ? g.m : g.k, lines_a = g.a_trans ? g.k : g.m;
    const int64_t run_b = g.b_trans ? g.k : g.n, lines_b = g.b_trans ? g.n : g.k;
    g.lda = run_a + s.pad, g.ldb = run_b + s.pad, g.ldc = g.n + s.pad, g.ldd = g.n + s.pad;
    g.stride_a = lines_a * g.lda, g.stride_b = lines_b * g.ldb;
    g.stride_c = g.m * g.ldc, g.stride_d = g.m * g.ldd;
    const int in = in_bytes[r.t], out = out_bytes[r.t];
    g.a = pool[0] + s.shift * in, g.b = pool[1] + s.shift * in;
    if (getenv("LAB_TIGHT")) { /* A and B end where their memory ends: for compute-sanitizer */
        g.a = pool[0] + POOL_BYTES - (g.batch * g.stride_a - s.pad) * in;
        g.b = pool[1] + POOL_BYTES - (g.batch * g.stride_b - s.pad) * in;
    }
    void *c = s.in_place ? pool[3] + s.shift * out : pool[2] + s.shift * out;
    g.d = pool[3] + s.shift * out;
    const bool has_c = s.beta != 0;
    g.c = has_c ? c : NULL;
    if (r.t == f64_f64)
        g.alpha.f64 = s.alpha, g.beta.f64 = s.beta;
    else if (r.t == s8_s32 || r.t == u8_s32)
        g.alpha.s32 = (uint32_t)(int)s.alpha, g.beta.s32 = (uint32_t)(int)s.beta;
    else
        g.alpha.f32 = (float)s.alpha, g.beta.f32 = (float)s.beta;
    g.vector_a = aligned_to(g.a, g.lda, g.batch > 1 ? g.stride_a : 0, in);
    g.vector_b = aligned_to(g.b, g.ldb, g.batch > 1 ? g.stride_b : 0, in);
    g.vector_c = aligned_to(g.c, g.ldc, g.batch > 1 ? g.stride_c : 0, out);
    g.vector_d = aligned_to(g.d, g.ldd, g.batch > 1 ? g.stride_d : 0, out);
    const int64_t count = s.shift + g.batch * g.stride_d + 1024;
    fill<<<256, 256>>>((void *)g.a, g.batch * g.stride_a - s.pad, run_a, g.lda, r.t, 1);
    fill<<<256, 256>>>((void *)g.b, g.batch * g.stride_b - s.pad, run_b, g.ldb, r.t, 1ull << 40);
    fill_c<<<256, 256>>>(pool[2], count, r.t, 7, false);
    fill_c<<<256, 256>>>(pool[3], count, r.t, 9, !has_c);
    OK(cudaMemcpyAsync(pool[4], pool[3], (size_t)(count * out), cudaMemcpyDeviceToDevice));
    OK(cudaMemsetAsync(v, 0, sizeof *v));
    launch(r, layout, g);
    const bool half = !strcmp(r.tag, "f16acc");
    const double u = half ? 0x1p-10 : r.t == f64_f64 ? 0x1p-53 : r.t == f32_f32 ? 0x1p-24 : 0x1p-23;
    const void *old = !has_c ? NULL : s.in_place ? pool[4] + s.shift * out : c;
    check<<<(unsigned)((count + 255) / 256), 256>>>(g, old, pool[4], pool[3], count, r.t, out, u,
                                                    v);
    verdict h;
    OK(cudaMemcpy(&h, v, sizeof h, cudaMemcpyDeviceToHost));
    if (h.wrong || h.canaries)
        printf("FAIL %s %s %dx%dx%d %s %s: %lldx%lldx%lld batch %lld pad %d shift %d: %llu wrong, "
               "%llu canaries; (%lld, %lld) is %.9g, not %.9g +- %.2g\n",
               r.algo, r.type_name, r.bm, r.bn, r.bk, r.tag, layouts[layout], (long long)s.m,
               (long long)s.n, (long long)s.k, (long long)s.batch, s.pad, s.shift, h.wrong,
               h.canaries, (long long)h.row, (long long)h.col, h.got, h.wanted, h.bound);
    return !h.wrong && !h.canaries;
}

/* ---- time ----------------------------------------------------------------------------------- */

static double seconds(const row &r, int layout, int64_t size, double budget) {
    tcgemm_gpu_args_t g;
    memset(&g, 0, sizeof g);
    g.m = g.n = g.k = g.lda = g.ldb = g.ldc = g.ldd = size;
    g.batch = 1, g.a_trans = layout / 2, g.b_trans = layout % 2;
    g.a = pool[0], g.b = pool[1], g.d = pool[3];
    if (r.t == f64_f64)
        g.alpha.f64 = 1;
    else if (r.t == s8_s32 || r.t == u8_s32)
        g.alpha.s32 = 1;
    else
        g.alpha.f32 = 1;
    g.vector_a = g.vector_b = aligned_to(g.a, g.lda, 0, in_bytes[r.t]);
    g.vector_c = g.vector_d = aligned_to(g.d, g.ldd, 0, out_bytes[r.t]);
    cudaEvent_t e[2];
    OK(cudaEventCreate(e));
    OK(cudaEventCreate(e + 1));
    std::vector<float> times;
    double spent = 0;
    for (int i = 0; i < 10 && (spent < budget || times.empty()); i++) {
        OK(cudaEventRecord(e[0]));
        launch(r, layout, g);
        OK(cudaEventRecord(e[1]));
        OK(cudaEventSynchronize(e[1]));
        float ms;
        OK(cudaEventElapsedTime(&ms, e[0], e[1]));
        spent += ms * 1e-3;
        if (i >= 3 || (i >= 1 && ms > 25))
            times.push_back(ms);
    }
    OK(cudaEventDestroy(e[0]));
    OK(cudaEventDestroy(e[1]));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] * 1e-3;
}

int main(int argc, char **argv) {
    const std::string mode = argc > 1 ? argv[1] : "all", only = argc > 2 ? argv[2] : "";
    cudaDeviceProp p;
    OK(cudaGetDeviceProperties(&p, 0));
    sms = p.multiProcessorCount;
    for (int i = 0; i < 5; i++)
        OK(cudaMalloc(&pool[i], POOL_BYTES));
    verdict *v;
    OK(cudaMalloc(&v, sizeof *v));
    auto wanted = [&](const row &r) {
        return (std::string(r.algo) + "_" + r.type_name + "_" + r.tag).find(only) !=
               std::string::npos;
    };

    int failed = 0, run = 0;
    if (mode != "time") {
        for (const row &r : rows) {
            if (!wanted(r))
                continue;
            int bad = 0;
            for (int layout = 0; layout < 4; layout++)
                for (const shape &s : shapes)
                    run++, bad += bad < 6 && !check_one(r, layout, s, v);
            failed += bad;
        }
        printf("check: %d products, %d failed\n", run, failed);
    }
    if (mode == "check")
        return failed != 0;

    static const int64_t sizes[] = {4096, 8192, 10000};
    printf("%s, %d SMs; TFLOP/s (TOP/s)\n%-34s", p.name, sms, "kernel");
    for (int64_t size : sizes)
        for (int l = 0; l < 4; l++)
            printf(" %5lld%s", (long long)size, layouts[l]);
    printf("\n");
    type filled = (type)-1;
    for (const row &r : rows) {
        if (!wanted(r))
            continue;
        if (r.t != filled) {
            const int64_t count = 10000ll * 10000;
            fill<<<1024, 256>>>(pool[0], count, 1, 1, r.t, 3);
            fill<<<1024, 256>>>(pool[1], count, 1, 1, r.t, 5);
            filled = r.t;
        }
        const bool direct = !strcmp(r.algo, "wmma_direct"), square = r.bm == r.bn;
        printf("%s %s %dx%dx%d %s%*s", r.algo + (r.algo[0] == 'w' ? 5 : 0), r.type_name, r.bm, r.bn,
               r.bk, r.tag, 1, "");
        for (int64_t size : sizes)
            for (int l = 0; l < 4; l++) {
                if ((direct && (size == 8192 || (size == 10000 && (!square || l > 1)))) ||
                    (r.algo[0] == 's' && size == 10000)) {
                    printf("       -");
                    continue;
                }
                const double t = seconds(r, l, size, 0.12);
                printf(" %7.1f", 2e-12 * size * size * size / t);
            }
        printf("\n");
        fflush(stdout);
    }
    OK(cudaDeviceSynchronize());
    return failed != 0;
}
