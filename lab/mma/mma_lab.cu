/* mma_lab.cu - checks and times the mma-pipelined kernels of one type, outside the library.
 *
 *     nvcc -O2 -std=c++17 -Isrc -DLAB_TYPE=f16_f32 -gencode arch=compute_90a,code=sm_90a \
 *         lab/mma/mma_lab.cu -o lab_f16_f32 && ./lab_f16_f32          all types: bash
 * lab/mma/run.sh
 *
 * Every kernel and layout is compared, element by element, with a plain loop in f64 (integers: in
 * 64 bits): odd and even shapes, padded ld, misaligned pointers, alpha and beta, C with NaN when
 * beta is 0, batches. The padding of A and B holds NaN, D is surrounded by a pattern that must
 * survive. Then times: random data, 3 warm-ups, median of 7. One argument: "check" or "time" alone.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define STRING2(x)   #x
#define STRING(x)    STRING2(x)
#define IS_f16_f32   1
#define IS_f16_f16   2
#define IS_bf16_f32  3
#define IS_bf16_bf16 4
#define IS_tf32_f32  5
#define IS_s8_s32    6
#define IS_u8_s32    7
#define IS_u8s8_s32  8
#define IS_s8u8_s32  9
#define IS_f64_f64   10
#define IS_f32_f32   11
#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define KIND         PASTE(IS_, LAB_TYPE)
#include LAB_SOURCE /* the kernels: run.sh names the file */

/* ---- what the type is ---- */

#if KIND <= 4
typedef uint16_t in_t;
#elif KIND == 5 || KIND == 11
typedef float in_t;
#elif KIND <= 9
typedef uint8_t in_t;
#else
typedef double in_t;
#endif
#if KIND == 2 || KIND == 4
typedef uint16_t out_t;
#elif KIND == 10
typedef double out_t;
#elif KIND >= 6 && KIND <= 9
typedef uint32_t out_t;
#else
typedef float out_t;
#endif
#define INTEGER (KIND >= 6 && KIND <= 9)

static __device__ double value_of(in_t x, bool is_a) {
#if KIND <= 2
    return tcgemm_cvt_f32_f16(x);
#elif KIND <= 4
    return tcgemm_cvt_f32_bf16(x);
#elif KIND == 5
    return __uint_as_float(tcgemm_cvt_rna_tf32(__float_as_uint(x)));
#elif INTEGER
    const bool is_signed = KIND == 6 || (KIND == 8 && !is_a) || (KIND == 9 && is_a);
    return is_signed ? (double)(int8_t)x : (double)x;
#else
    return x;
#endif
}

static __device__ in_t random_element(uint64_t at, uint32_t seed) {
    uint64_t h = (at + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1B54A32D192ED03ull;
    h ^= h >> 29;
    h *= 0xBF58476D1CE4E5B9ull;
    h ^= h >> 32;
    const float x = (float)(uint32_t)h * (2.0f / 4294967296.0f) - 1.0f;
#if KIND <= 2
    return tcgemm_cvt_rn_f16_f32(x);
#elif KIND <= 4
    return tcgemm_cvt_rn_bf16_f32(x);
#elif INTEGER
    return (uint8_t)(h >> 7);
#else
    return x;
#endif
}

static __device__ double value_of_out(out_t x) {
#if KIND == 2
    return tcgemm_cvt_f32_f16(x);
#elif KIND == 4
    return tcgemm_cvt_f32_bf16(x);
#else
    return x;
#endif
}

static __device__ out_t nan_out(void) {
#if KIND == 2 || KIND == 4
    return 0x7fff;
#elif INTEGER
    return 0x7fffffff;
#else
    return (out_t)__int_as_float(0x7fffffff);
#endif
}

static __device__ in_t nan_in(void) {
#if KIND <= 4
    return 0x7fff;
#elif INTEGER
    return 0x55;
#else
    return (in_t)__int_as_float(0x7fffffff);
#endif
}

/* ---- device helpers ---- */

/* Rows of `width` elements with ld, after `off` elements; padding is NaN. */
__global__ void fill_in(in_t *x, int64_t count, int64_t off, int64_t rows, int64_t width,
                        int64_t ld, int64_t batch, int64_t stride, uint32_t seed) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x) {
        const int64_t at = i - off, item = at < 0 ? -1 : at / stride, within = at - item * stride;
        const bool inside = at >= 0 && item < batch && within / ld < rows && within % ld < width;
        x[i] = inside ? random_element(i, seed) : nan_in();
    }
}

__global__ void fill_out(out_t *x, int64_t count, int mode,
                         uint32_t seed) { /* 0 pattern 1 random 2 NaN */
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x) {
        if (mode == 0)
            memset(&x[i], 0xA5, sizeof x[i]);
        else if (mode == 2)
            x[i] = nan_out();
        else {
#if KIND == 2
            x[i] = tcgemm_cvt_rn_f16_f32((float)(int)(i * 7919 % 2001 - 1000) / 512);
#elif KIND == 4
            x[i] = tcgemm_cvt_rn_bf16_f32((float)(int)(i * 7919 % 2001 - 1000) / 512);
#elif INTEGER
            x[i] = (uint32_t)(i * 2654435761u + seed);
#else
            x[i] = (out_t)(int)(i * 7919 % 2001 - 1000) / 512;
#endif
        }
    }
}

/* Compares all of D (every `sparse`-th element), and what surrounds it, with a plain loop. */
__global__ void compare(tcgemm_gpu_args_t g, const out_t *all, int64_t count, int64_t off,
                        int f16_sums, uint32_t sparse, unsigned long long *wrong,
                        unsigned long long *first) {
    for (int64_t x = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; x < count;
         x += (int64_t)gridDim.x * blockDim.x) {
        const int64_t at = x - off;
        const int64_t item = at < 0 ? -1 : at / g.stride_d, within = at - item * g.stride_d;
        const int64_t i = within / g.ldd, j = within % g.ldd;
        bool good = true;
        if (at < 0 || item >= g.batch || i >= g.m || j >= g.n) {
            for (unsigned byte = 0; byte < sizeof(out_t); ++byte)
                good = good && ((const uint8_t *)&all[x])[byte] == 0xA5;
        } else {
            if (sparse > 1 && (uint64_t)(x * 0x9E3779B97F4A7C15ull >> 20) % sparse != 0)
                continue;
            const in_t *a = (const in_t *)g.a + item * g.stride_a;
            const in_t *b = (const in_t *)g.b + item * g.stride_b;
            const int64_t ai = g.a_trans ? 1 : g.lda, ap = g.a_trans ? g.lda : 1;
            const int64_t bj = g.b_trans ? g.ldb : 1, bp = g.b_trans ? 1 : g.ldb;
            double sum = 0, size = 0;
            for (int64_t p = 0; p < g.k; ++p) {
                const double y =
                    value_of(a[i * ai + p * ap], true) * value_of(b[j * bj + p * bp], false);
                sum += y;
                size += fabs(y);
            }
            const out_t *c = g.c ? (const out_t *)g.c + item * g.stride_c + i * g.ldc + j : NULL;
#if INTEGER
            const uint32_t want = g.alpha.s32 * (uint32_t)(int64_t)sum + (c ? g.beta.s32 * *c : 0);
            good = all[x] == want;
#else
            const double alpha = KIND == 10 ? g.alpha.f64 : g.alpha.f32;
            const double beta = KIND == 10 ? g.beta.f64 : g.beta.f32;
            const double cv = c ? beta * value_of_out(*c) : 0;
            const double want = alpha * sum + cv;
            size = fabs(alpha) * size + fabs(cv);
            const double unit = KIND == 10 ? 1.2e-16 : 6e-8;
            double bound =
                (f16_sums ? 4 * sqrt((double)g.k) * 4.9e-4 : (2.0 * g.k + 8) * unit) * size;
            bound += KIND == 2 ? fabs(want) * 5e-4 + 6e-8 : KIND == 4 ? fabs(want) * 4e-3 : 0;
            good = fabs(value_of_out(all[x]) - want) <= bound;
#endif
        }
        if (!good) {
            atomicAdd(wrong, 1ull);
            atomicMin(first, (unsigned long long)x);
        }
    }
}

/* ---- kernels ---- */

typedef void kernel_t(tcgemm_gpu_args_t);
typedef struct kernel {
    const char *name;
    kernel_t *run;
    int bm, bn, bk, threads, smem, a_trans, b_trans, f16_sums;
} lab_kernel_t;

#define K4(type, bm, bn, bk, threads, smem, tag, f16)                                              \
    {#type " " #bm "x" #bn "x" #bk " " #tag " nn",                                                 \
     tcgemm_mma_pipelined_##type##_##bm##x##bn##x##bk##_##tag##_nn,                                \
     bm,                                                                                           \
     bn,                                                                                           \
     bk,                                                                                           \
     threads,                                                                                      \
     smem,                                                                                         \
     0,                                                                                            \
     0,                                                                                            \
     f16},                                                                                         \
        {#type " " #bm "x" #bn "x" #bk " " #tag " nt",                                             \
         tcgemm_mma_pipelined_##type##_##bm##x##bn##x##bk##_##tag##_nt,                            \
         bm,                                                                                       \
         bn,                                                                                       \
         bk,                                                                                       \
         threads,                                                                                  \
         smem,                                                                                     \
         0,                                                                                        \
         1,                                                                                        \
         f16},                                                                                     \
        {#type " " #bm "x" #bn "x" #bk " " #tag " tn",                                             \
         tcgemm_mma_pipelined_##type##_##bm##x##bn##x##bk##_##tag##_tn,                            \
         bm,                                                                                       \
         bn,                                                                                       \
         bk,                                                                                       \
         threads,                                                                                  \
         smem,                                                                                     \
         1,                                                                                        \
         0,                                                                                        \
         f16},                                                                                     \
        {#type " " #bm "x" #bn "x" #bk " " #tag " tt",                                             \
         tcgemm_mma_pipelined_##type##_##bm##x##bn##x##bk##_##tag##_tt,                            \
         bm,                                                                                       \
         bn,                                                                                       \
         bk,                                                                                       \
         threads,                                                                                  \
         smem,                                                                                     \
         1,                                                                                        \
         1,                                                                                        \
         f16},
#define ALL_TILES(type, wide, mid)                                                                 \
    K4(type, 128, 256, wide, 256, 147456, s3, 0)                                                   \
    K4(type, 128, 128, mid, 128, 49152, s3, 0)                                                     \
    K4(type, 64, 64, wide, 128, 49152, s3, 0)

static const lab_kernel_t kernels[] = {
#ifdef LAB_TURING
#if KIND == 1
    K4(f16_f32, 128, 128, 32, 256, 32768, s2, 0)
#elif KIND == 2
    K4(f16_f16, 128, 128, 32, 256, 32768, s2, 0) K4(f16_f16, 128, 64, 32, 128, 24576, f16acc, 1)
#elif KIND == 6
    K4(s8_s32, 128, 128, 64, 256, 32768, s2, 0)
#elif KIND == 7
    K4(u8_s32, 128, 128, 64, 256, 32768, s2, 0)
#elif KIND == 8
    K4(u8s8_s32, 128, 128, 64, 256, 32768, s2, 0)
#elif KIND == 9
    K4(s8u8_s32, 128, 128, 64, 256, 32768, s2, 0)
#elif KIND == 11
    K4(f32_f32, 128, 128, 16, 256, 33792, ffma, 0)

#endif
#else
#if KIND == 1
    ALL_TILES(f16_f32, 64, 32)
#elif KIND == 2
    ALL_TILES(f16_f16, 64, 32) K4(f16_f16, 128, 128, 32, 128, 49152, f16acc, 1)
#elif KIND == 3
    ALL_TILES(bf16_f32, 64, 32)
#elif KIND == 4
    ALL_TILES(bf16_bf16, 64, 32)
#elif KIND == 5
    ALL_TILES(tf32_f32, 32, 16)
#elif KIND == 6
    ALL_TILES(s8_s32, 128, 64)
#elif KIND == 7
    ALL_TILES(u8_s32, 128, 64)
#elif KIND == 8
    ALL_TILES(u8s8_s32, 128, 64)
#elif KIND == 9
    ALL_TILES(s8u8_s32, 128, 64)
#elif KIND == 10
    K4(f64_f64, 128, 128, 16, 256, 98304, s3, 0) K4(f64_f64, 64, 64, 16, 128, 49152, s3, 0)
#elif KIND == 11
    K4(f32_f32, 128, 128, 16, 256, 33792, ffma, 0)

#endif
#endif
};
#define NUM_KERNELS (sizeof kernels / sizeof kernels[0])

static void must(cudaError_t e, const char *what) {
    if (e != cudaSuccess) {
        printf("%s: %s\n", what, cudaGetErrorString(e));
        exit(1);
    }
}

static uint32_t vector_of(const void *p, int64_t ld, int64_t stride, int64_t batch, size_t size) {
    uint64_t bits = (uint64_t)p | (uint64_t)(ld * size) | 16;
    if (batch > 1)
        bits |= (uint64_t)(stride * size);
    return (uint32_t)(bits & -bits);
}

static void launch(const lab_kernel_t *k, const tcgemm_gpu_args_t &g) {
    const int64_t tiles = (g.m + k->bm - 1) / k->bm * ((g.n + k->bn - 1) / k->bn) * g.batch;
    must(cudaFuncSetAttribute((const void *)k->run, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              k->smem),
         k->name);
    k->run<<<(unsigned)tiles, k->threads, k->smem>>>(g);
    must(cudaGetLastError(), k->name);
}

typedef struct lab_case {
    int64_t m, n, k, pad_a, pad_b, pad_d, off, batch;
    int beta, alias;
} lab_case_t;

static in_t *mem_a, *mem_b;
static out_t *mem_c, *mem_d;
static unsigned long long *counters;

/* lie: compare with a product that lacks the last k; it must be found wrong. */
static tcgemm_raster_t raster_of(const lab_kernel_t *k, const tcgemm_gpu_args_t *g,
                                 uint32_t group) {
    return tcgemm_raster_of((uint32_t)((g->m + k->bm - 1) / k->bm),
                            (uint32_t)((g->n + k->bn - 1) / k->bn), group);
}

static bool check(const lab_kernel_t *k, const lab_case_t *t, uint32_t sparse, bool lie = false) {
    tcgemm_gpu_args_t g = {};
    const int64_t E = 16 / sizeof(in_t);
    const int64_t wa = k->a_trans ? t->m : t->k, ra = k->a_trans ? t->k : t->m;
    const int64_t wb = k->b_trans ? t->k : t->n, rb = k->b_trans ? t->n : t->k;
    g.m = t->m, g.n = t->n, g.k = t->k, g.batch = t->batch;
    /* pad < 0: ld rounded up to whole 16 bytes, or to 4 bytes with -2 */
    const int64_t four = sizeof(in_t) >= 4 ? 1 : 4 / sizeof(in_t);
    const int64_t unit_a = t->pad_a == -1 ? E : t->pad_a == -2 ? four : 1;
    g.lda = (wa + unit_a - 1) / unit_a * unit_a + std::max<int64_t>(t->pad_a, 0);
    g.ldb = (wb + unit_a - 1) / unit_a * unit_a + std::max<int64_t>(t->pad_b, 0);
    g.ldd = t->n + t->pad_d, g.ldc = t->alias ? g.ldd : t->n + 2 * t->pad_d;
    g.stride_a = g.lda * ra + (unit_a > 1 ? 0 : 3 * (t->pad_a > 0)), g.stride_b = g.ldb * rb;
    g.stride_d = g.ldd * t->m, g.stride_c = g.ldc * t->m;
    g.a_trans = k->a_trans, g.b_trans = k->b_trans, g.raster = raster_of(k, &g, 3 + t->m % 3);
    const int64_t na = t->off + g.stride_a * t->batch + 64,
                  nb = t->off + g.stride_b * t->batch + 64;
    const int64_t nc = t->off + g.stride_c * t->batch + 64,
                  nd = t->off + g.stride_d * t->batch + 64;
    g.a = mem_a + t->off, g.b = mem_b + t->off, g.d = mem_d + t->off;
    out_t *c = t->alias ? mem_d + t->off : mem_c + t->off;
    fill_in<<<256, 256>>>(mem_a, na, t->off, ra, wa, g.lda, t->batch, g.stride_a, 1);
    fill_in<<<256, 256>>>(mem_b, nb, t->off, rb, wb, g.ldb, t->batch, g.stride_b, 2);
    fill_out<<<256, 256>>>(mem_d, nd, 0, 0);
    fill_out<<<256, 256>>>(mem_c, nc, t->beta ? 1 : 2, 3);
    if (t->alias) /* C is D: a pattern all around, and it is a number */
        g.ldc = g.ldd, g.stride_c = g.stride_d;
    g.c = t->beta ? c : NULL;
#if INTEGER
    g.alpha.s32 = t->beta ? 3 : 1, g.beta.s32 = t->beta ? (uint32_t)-2 : 0;
#elif KIND == 10
    g.alpha.f64 = t->beta ? 1.25 : 1, g.beta.f64 = t->beta ? -0.5 : 0;
#else
    g.alpha.f32 = t->beta ? 1.25f : 1, g.beta.f32 = t->beta ? -0.5f : 0;
#endif
    g.vector_a = vector_of(g.a, g.lda, g.stride_a, t->batch, sizeof(in_t));
    g.vector_b = vector_of(g.b, g.ldb, g.stride_b, t->batch, sizeof(in_t));
    g.vector_c = vector_of(c, g.ldc, g.stride_c, t->batch, sizeof(out_t));
    g.vector_d = vector_of(g.d, g.ldd, g.stride_d, t->batch, sizeof(out_t));
    if (t->alias) { /* the reference reads C after D is written: keep a copy */
        must(cudaMemcpy(mem_c, mem_d, nd * sizeof(out_t), cudaMemcpyDeviceToDevice), "copy");
    }
    must(cudaMemset(counters, 0, 8), "memset");
    must(cudaMemset(counters + 1, 0xff, 8), "memset");
    launch(k, g);
    if (t->alias)
        g.c = mem_c + t->off;
    g.k -= lie;
    compare<<<512, 256>>>(g, mem_d, nd, t->off, k->f16_sums, sparse, counters, counters + 1);
    unsigned long long found[2];
    must(cudaMemcpy(found, counters, 16, cudaMemcpyDeviceToHost), k->name);
    if (lie)
        return found[0] > 0;
    if (found[0]) {
        const int64_t at = (int64_t)found[1] - t->off;
        printf(
            "WRONG %s m %ld n %ld k %ld lda %ld ldb %ld ldd %ld off %ld batch %ld beta %d alias %d "
            "vec %u %u %u: %llu, first item %ld row %ld col %ld\n",
            k->name, t->m, t->n, t->k, g.lda, g.ldb, g.ldd, t->off, t->batch, t->beta, t->alias,
            g.vector_a, g.vector_b, g.vector_d, found[0], at / g.stride_d, at % g.stride_d / g.ldd,
            at % g.stride_d % g.ldd);
        return false;
    }
    return true;
}

static const lab_case_t cases[] = {
    /* m, n, k, pad_a, pad_b, pad_d, off, batch, beta, alias */
    {256, 512, 512, 0, 0, 0, 0, 1, 0, 0},    {256, 512, 256, 16, 32, 16, 0, 1, 1, 0},
    {128, 256, 64, 0, 0, 0, 0, 1, 1, 1},     {384, 272, 336, 0, 0, 0, 0, 2, 0, 0},
    {304, 400, 1008, -1, -1, 3, 0, 1, 1, 0}, {131, 257, 67, -1, -1, 1, 0, 1, 0, 0},
    {131, 257, 67, -2, -2, 0, 0, 1, 1, 0},   {131, 257, 67, 0, 0, 5, 1, 1, 1, 1},
    {1, 1, 1, 0, 0, 0, 0, 1, 0, 0},          {1, 1, 1, 2, 1, 3, 3, 5, 1, 0},
    {7, 300, 130, 0, 0, 0, 2, 1, 0, 0},      {257, 129, 1000, 8, 8, 0, 4, 1, 0, 0},
    {65, 63, 31, 1, 2, 1, 1, 3, 1, 0},       {64, 1000, 33, 1, 1, 1, 0, 2, 1, 0},
    {600, 520, 2048, 0, 0, 0, 0, 1, 0, 0},   {100, 1, 999, 3, 0, 0, 5, 1, 0, 0},
    {16, 16, 16, 0, 0, 0, 0, 40, 1, 0},      {513, 769, 255, 0, 0, 0, 0, 1, 0, 0},
};

static double median_seconds(const lab_kernel_t *k, int64_t n, uint32_t group) {
    tcgemm_gpu_args_t g = {};
    g.m = g.n = g.k = g.lda = g.ldb = g.ldc = g.ldd = n;
    g.batch = 1, g.stride_a = g.stride_b = g.stride_c = g.stride_d = n * n;
    g.a = mem_a, g.b = mem_b, g.d = mem_d;
    g.a_trans = k->a_trans, g.b_trans = k->b_trans, g.raster = raster_of(k, &g, group);
    g.vector_a = vector_of(g.a, n, 0, 1, sizeof(in_t)), g.vector_b = g.vector_a;
    g.vector_c = g.vector_d = vector_of(g.d, n, 0, 1, sizeof(out_t));
#if INTEGER
    g.alpha.s32 = 1;
#elif KIND == 10
    g.alpha.f64 = 1;
#else
    g.alpha.f32 = 1;
#endif
    cudaEvent_t from, to;
    cudaEventCreate(&from), cudaEventCreate(&to);
    std::vector<float> ms(7);
    for (int i = 0; i < 3; ++i)
        launch(k, g);
    for (float &x : ms) {
        cudaEventRecord(from);
        launch(k, g);
        cudaEventRecord(to);
        must(cudaEventSynchronize(to), k->name);
        cudaEventElapsedTime(&x, from, to);
    }
    std::sort(ms.begin(), ms.end());
    return ms[3] * 1e-3;
}

int main(int argc, char **argv) {
    const bool checks = argc < 2 || strcmp(argv[1], "time") != 0;
    const bool times = argc < 2 || strcmp(argv[1], "check") != 0;
    const int64_t most = 8192 * (int64_t)8192;
    must(cudaMalloc(&mem_a, most * sizeof(in_t)), "malloc");
    must(cudaMalloc(&mem_b, most * sizeof(in_t)), "malloc");
    must(cudaMalloc(&mem_c, most * sizeof(out_t)), "malloc");
    must(cudaMalloc(&mem_d, (most + 1024) * sizeof(out_t)), "malloc");
    must(cudaMalloc(&counters, 16), "malloc");

    int wrong = 0, done = 0;
    if (checks) {
        for (const lab_kernel_t &k : kernels) {
            int bad = 0;
            for (const lab_case_t &t : cases)
                bad += !check(&k, &t, 1), ++done;
            const lab_case_t large = {2048, 2304, 4096, 0, 0, 0, 0, 1, 0, 0};
            bad += !check(&k, &large, 997), ++done;
            if (!k.f16_sums && !check(&k, &cases[0], 1, true))
                printf("%s: the comparison is blind\n", k.name), ++bad;
            wrong += bad;
        }
        printf("%-10s %d checks, %d wrong\n", STRING(LAB_TYPE), done, wrong);
    }
    if (!times)
        return wrong != 0;
    fill_in<<<1024, 256>>>(mem_a, most, 0, 8192, 8192, 8192, 1, most, 1);
    fill_in<<<1024, 256>>>(mem_b, most, 0, 8192, 8192, 8192, 1, most, 2);
    const double target = KIND <= 4 ? 400 : KIND == 5 ? 200 : INTEGER ? 800 : KIND == 10 ? 55 : 50;
    for (size_t first = 0; first < NUM_KERNELS; first += 4) {
        printf("%-30.*s", (int)strlen(kernels[first].name) - 3, kernels[first].name);
        for (int64_t n : {4096, 8192}) {
            printf(" | %ld:", n);
            for (int l = 0; l < 4; ++l)
                printf(" %6.1f",
                       2.0 * n * n * n / median_seconds(&kernels[first + l], n, 8) * 1e-12);
        }
        printf(" | 4095:");
        for (int l = 0; l < 4; ++l)
            printf(" %6.1f",
                   2.0 * 4095 * 4095 * 4095 / median_seconds(&kernels[first + l], 4095, 8) * 1e-12);
        printf(" | target %g\n", target);
        if (first == 0) {
            printf("   groups 2 4 16 32, 8192 nn:");
            for (uint32_t group : {2, 4, 16, 32})
                printf(" %6.1f",
                       2.0 * 8192 * 8192 * 8192 / median_seconds(&kernels[0], 8192, group) * 1e-12);
            printf("\n");
        }
        fflush(stdout);
    }
    return wrong != 0;
}
