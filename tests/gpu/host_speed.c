/* host_speed.c - products of host matrices on GPU 0, against what the bus and the GPU allow.
 *
 *     host_speed [--size N [--type NAME] [--layout nn] [--kernel ROW]] [--runs N] [--trace 1]
 *
 * First the bus: copies of pinned memory, one way, both at once, and of parts of lines; and how
 * fast the CPU's threads copy. Then products whose matrices are pinned and pageable, in time and
 * against
 *
 *     bound   the longest of: bytes in, bytes out (each at the speed of its way alone), the product
 *     least   what the best order of the panels of a cube takes: of D no more than s * s can be
 *             done when a part s of A and B has come, so s * in + (1 - s * s) * (out or product)
 * for the worst s
 *
 * Every result is compared, bit for bit, with the one that the same product gives on the GPU, and
 * some elements with sums in f64.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host_trace.h"
#include "tcgemm/tcgemm.h"

enum { MAX_RUNS = 100, MAX_THREADS = 64, WAYS = 2 };

static struct {
    CUresult (*init)(unsigned);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*push)(CUcontext);
    CUresult (*stream_create)(CUstream *, unsigned);
    CUresult (*stream_synchronize)(CUstream);
    CUresult (*alloc)(CUdeviceptr *, size_t);
    CUresult (*release)(CUdeviceptr);
    CUresult (*alloc_pinned)(void **, size_t, unsigned);
    CUresult (*release_pinned)(void *);
    CUresult (*to_device)(CUdeviceptr, const void *, size_t, CUstream);
    CUresult (*to_host)(void *, CUdeviceptr, size_t, CUstream);
    CUresult (*lines)(const CUDA_MEMCPY2D *, CUstream);
} cu;

static double bus_in, bus_out; /* bytes a second, one way alone */
static tcgemm_context_t *context;
static int num_wrong;
static int traces; /* whether one more run of each product is told call by call */

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(int condition, const char *what) {
    if (condition)
        return;
    (void)printf("FAILED: %s; last error: %s\n", what, tcgemm_last_error());
    exit(1);
}

static int find(void *library, const char *name, void *member, size_t size) {
    void *const address = dlsym(library, name);
    if (address)
        memcpy(member, &address, size);
    return address != NULL;
}

static int find_driver(void) {
    void *const library = dlopen("libcuda.so.1", RTLD_NOW);
#define FIND(member, name) find(library, name, &cu.member, sizeof cu.member)
    return library && FIND(init, "cuInit") && FIND(retain, "cuDevicePrimaryCtxRetain") &&
           FIND(push, "cuCtxPushCurrent_v2") && FIND(stream_create, "cuStreamCreate") &&
           FIND(stream_synchronize, "cuStreamSynchronize") && FIND(alloc, "cuMemAlloc_v2") &&
           FIND(release, "cuMemFree_v2") && FIND(alloc_pinned, "cuMemHostAlloc") &&
           FIND(release_pinned, "cuMemFreeHost") && FIND(to_device, "cuMemcpyHtoDAsync_v2") &&
           FIND(to_host, "cuMemcpyDtoHAsync_v2") && FIND(lines, "cuMemcpy2DAsync_v2");
#undef FIND
}

static int by_value(const void *x, const void *y) {
    const double a = *(const double *)x;
    const double b = *(const double *)y;
    return (a > b) - (a < b);
}

/* ---- the bus ---- */

typedef struct bus {
    char *from, *to; /* pinned */
    CUdeviceptr a, b;
    CUstream in, out;
} bus_t;

enum { BUS_BYTES = 512 << 20 };

/* Bytes a second, each way, of copies in, out, or both, whole or of `width` bytes of each `pitch`:
 * a panel of a matrix with rows of so many bytes. */
static double bus_rate(const bus_t *x, int in, int out, size_t width, size_t pitch) {
    double best = 0;
    const size_t height = BUS_BYTES / pitch;
    const size_t bytes = width ? width * height : BUS_BYTES;
    for (int run = 0; run < 4; ++run) {
        const double start = now();
        if (in && !width)
            need(cu.to_device(x->a, x->from, bytes, x->in) == CUDA_SUCCESS, "a copy in");
        if (out && !width)
            need(cu.to_host(x->to, x->b, bytes, x->out) == CUDA_SUCCESS, "a copy out");
        CUDA_MEMCPY2D lines = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                               .srcHost = x->from,
                               .srcPitch = pitch,
                               .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                               .dstDevice = x->a,
                               .dstPitch = pitch,
                               .WidthInBytes = width,
                               .Height = height};
        if (in && width)
            need(cu.lines(&lines, x->in) == CUDA_SUCCESS, "a copy of lines in");
        lines = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = x->b,
                                .srcPitch = pitch,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = x->to,
                                .dstPitch = pitch,
                                .WidthInBytes = width,
                                .Height = height};
        if (out && width)
            need(cu.lines(&lines, x->out) == CUDA_SUCCESS, "a copy of lines out");
        need(cu.stream_synchronize(x->in) == CUDA_SUCCESS &&
                 cu.stream_synchronize(x->out) == CUDA_SUCCESS,
             "waiting for the bus");
        const double rate = (double)bytes / (now() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

static void measure_bus(void) {
    bus_t x;
    void *from = NULL;
    void *to = NULL;
    need(cu.alloc_pinned(&from, BUS_BYTES, 0) == CUDA_SUCCESS &&
             cu.alloc_pinned(&to, BUS_BYTES, 0) == CUDA_SUCCESS &&
             cu.alloc(&x.a, BUS_BYTES) == CUDA_SUCCESS &&
             cu.alloc(&x.b, BUS_BYTES) == CUDA_SUCCESS &&
             cu.stream_create(&x.in, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
             cu.stream_create(&x.out, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS,
         "memory and streams");
    memset(from, 1, BUS_BYTES);
    memset(to, 2, BUS_BYTES);
    x.from = from;
    x.to = to;
    bus_in = bus_rate(&x, 1, 0, 0, BUS_BYTES);
    bus_out = bus_rate(&x, 0, 1, 0, BUS_BYTES);
    (void)printf("bus, GB/s         in %.1f, out %.1f, each way of both at once %.1f\n",
                 1e-9 * bus_in, 1e-9 * bus_out, 1e-9 * bus_rate(&x, 1, 1, 0, BUS_BYTES));
    for (size_t pitch = 8192; pitch <= 65536; pitch *= 2)
        for (size_t width = 1024; width < pitch && width <= 16384; width *= 2)
            (void)printf("  %5zu of each %5zu bytes: in %.1f, out %.1f, each of both %.1f\n", width,
                         pitch, 1e-9 * bus_rate(&x, 1, 0, width, pitch),
                         1e-9 * bus_rate(&x, 0, 1, width, pitch),
                         1e-9 * bus_rate(&x, 1, 1, width, pitch));
    (void)cu.release_pinned(from);
    (void)cu.release_pinned(to);
    (void)cu.release(x.a);
    (void)cu.release(x.b);
}

/* ---- the CPU's threads ---- */

typedef struct share {
    char *buffers;
    const char *memory;
    size_t bytes, at, of;
} share_t;

enum { RING_BYTES = 24 << 20 };

static void *copy_share(void *argument) {
    const share_t *s = argument;
    const size_t each = s->bytes / s->of;
    const size_t ring = RING_BYTES / s->of;
    for (size_t done = 0; done < each; done += 1 << 18)
        memcpy(s->buffers + s->at * ring + done % ring / (1 << 18) * (1 << 18) % ring,
               s->memory + s->at * each + done, 1 << 18);
    return NULL;
}

/* From ordinary memory into a ring of pinned buffers. */
static void measure_cpu(void) {
    const size_t bytes = (size_t)512 << 20;
    const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    char *const memory = malloc(bytes);
    void *ring = NULL;
    need(memory && cu.alloc_pinned(&ring, RING_BYTES + (1 << 18), 0) == CUDA_SUCCESS, "memory");
    memset(memory, 1, bytes);
    (void)printf("CPU copies, GB/s ");
    for (int threads = 1; threads <= MAX_THREADS && threads <= cores; threads *= 2) {
        pthread_t id[MAX_THREADS];
        share_t share[MAX_THREADS];
        const double start = now();
        for (int i = 0; i < threads; ++i) {
            share[i] = (share_t){ring, memory, bytes, (size_t)i, (size_t)threads};
            need(pthread_create(&id[i], NULL, copy_share, &share[i]) == 0, "a thread");
        }
        for (int i = 0; i < threads; ++i)
            (void)pthread_join(id[i], NULL);
        (void)printf(" %d: %.1f", threads, 1e-9 * (double)bytes / (now() - start));
    }
    (void)printf("  (threads: rate)\n");
    free(memory);
    (void)cu.release_pinned(ring);
}

/* ---- products ---- */

typedef struct settings {
    long long size;
    const char *type, *layout, *kernel; /* kernel: a row, NULL for the planner's */
    int runs;
} settings_t;

typedef struct product {
    tcgemm_problem_t p;
    const tcgemm_type_info_t *type;
    tcgemm_plan_t *plan;
    size_t operand, result; /* bytes */
    void *there[3];         /* A, B, D on the GPU */
    char *expected;         /* D from there */
    double on_gpu;          /* seconds */
} product_t;

/* Elements of either sign between 0.5 and 2, no two lines alike. */
static void fill(void *memory, size_t bytes, tcgemm_dtype_t dtype, uint64_t seed) {
    const uint64_t keep =
        dtype == TCGEMM_DTYPE_BF16 ? UINT64_C(0x80FF80FF80FF80FF) : UINT64_C(0x80FFFFFF80FFFFFF);
    const uint64_t set =
        dtype == TCGEMM_DTYPE_BF16 ? UINT64_C(0x3F003F003F003F00) : UINT64_C(0x3F0000003F000000);
    uint64_t *const words = memory;
    for (size_t i = 0; i < bytes / sizeof *words; ++i) {
        uint64_t z = (seed << 40) + i * UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        words[i] = ((z ^ (z >> 27)) & keep) | set;
    }
}

static double element(const void *matrix, int64_t index, tcgemm_dtype_t dtype) {
    const size_t size = (size_t)tcgemm_dtype_bits(dtype) / 8;
    double value = 0;
    (void)tcgemm_convert(TCGEMM_DTYPE_F64, &value, dtype,
                         (const char *)matrix + index * (int64_t)size, 1);
    return value;
}

/* Some elements of what the GPU computed, from host matrices in the same places. */
static void check_some(const product_t *x, const void *a, const void *b) {
    const int64_t n = x->p.n;
    for (int64_t s = 0; s < 64; ++s) {
        const int64_t i = (s * 2654435761) % n;
        const int64_t j = (s * 40503 + 17) % n;
        double sum = 0;
        double size = 0;
        for (int64_t p = 0; p < n; ++p) {
            const double u = element(a, x->p.op_a ? p * n + i : i * n + p, x->type->a);
            const double v = element(b, x->p.op_b ? j * n + p : p * n + j, x->type->b);
            sum += u * v;
            size += fabs(u * v);
        }
        const double got = element(x->expected, i * n + j, x->type->d);
        const double most = 1e-6 * size + (x->type->d == TCGEMM_DTYPE_BF16 ? fabs(sum) / 128 : 0);
        if (!(fabs(got - sum) <= most)) {
            (void)printf("WRONG: (%lld, %lld) is %g, not %g\n", (long long)i, (long long)j, got,
                         sum);
            num_wrong += 1;
        }
    }
}

static double median_on_gpu(const product_t *x) {
    double seconds[5];
    for (int i = -2; i < 5; ++i) {
        tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
        need(tcgemm_run_with(x->plan, 1, x->there[0], x->there[1], 0, NULL, x->there[2], NULL, 0,
                             &stats) == TCGEMM_STATUS_OK,
             "the product on the GPU");
        seconds[i < 0 ? 0 : i] = stats.product_seconds;
    }
    qsort(seconds, 5, sizeof *seconds, by_value);
    return seconds[2];
}

/* The worst s of s * in + (1 - s * s) * rest. */
static double least_seconds(double in, double rest) {
    const double s = rest > 0 && in < 2 * rest ? in / (2 * rest) : 1;
    return s * in + (1 - s * s) * rest;
}

static void report(const product_t *x, const char *way, const double *seconds, int runs,
                   const tcgemm_run_stats_t *stats) {
    const double in = 2 * (double)x->operand / bus_in;
    const double out = (double)x->result / bus_out;
    const double rest = out > x->on_gpu ? out : x->on_gpu;
    const double bound = in > rest ? in : rest;
    const double least = least_seconds(in, rest);
    const double median = seconds[runs / 2];
    (void)printf("%-10s %5lld %s %-8s  %7.2f ms (best %.2f, worst %.2f)  bound %6.2f (in %.2f, out "
                 "%.2f, product %.2f): %.3f x  least %.2f: %.3f x  [transfer %.2f, product %.2f]\n",
                 x->type->name, (long long)x->p.n,
                 x->p.op_a ? (x->p.op_b ? "tt" : "tn") : (x->p.op_b ? "nt" : "nn"), way,
                 1e3 * median, 1e3 * seconds[0], 1e3 * seconds[runs - 1], 1e3 * bound, 1e3 * in,
                 1e3 * out, 1e3 * x->on_gpu, median / bound, 1e3 * least, median / least,
                 1e3 * stats->transfer_seconds, 1e3 * stats->product_seconds);
    (void)fflush(stdout);
}

static void *host_memory(int pinned, size_t bytes) {
    void *memory = NULL;
    if (pinned)
        need(cu.alloc_pinned(&memory, bytes, 0) == CUDA_SUCCESS, "pinned memory");
    else
        memory = malloc(bytes);
    need(memory != NULL, "host memory");
    return memory;
}

static void free_host(int pinned, void *memory) {
    if (pinned)
        (void)cu.release_pinned(memory);
    else
        free(memory);
}

static void run_way(product_t *x, int pinned, int runs) {
    void *const a = host_memory(pinned, x->operand);
    void *const b = host_memory(pinned, x->operand);
    void *const d = host_memory(pinned, x->result);
    double seconds[MAX_RUNS];
    fill(a, x->operand, x->type->a, 1);
    fill(b, x->operand, x->type->b, 2);
    memset(d, 0xFF, x->result);
    if (!x->expected) {
        need((x->expected = malloc(x->result)) != NULL &&
                 tcgemm_device_copy(0, x->there[0], a, x->operand) == TCGEMM_STATUS_OK &&
                 tcgemm_device_copy(0, x->there[1], b, x->operand) == TCGEMM_STATUS_OK,
             "copying to the GPU");
        x->on_gpu = median_on_gpu(x);
        need(tcgemm_device_copy(0, x->expected, x->there[2], x->result) == TCGEMM_STATUS_OK,
             "copying from the GPU");
        check_some(x, a, b);
    }
    for (int i = -2; i < runs; ++i) {
        const double start = now();
        need(tcgemm_run(x->plan, 1, a, b, 0, NULL, d) == TCGEMM_STATUS_OK, "the product");
        seconds[i < 0 ? 0 : i] = now() - start;
        if (i == -2 && memcmp(d, x->expected, x->result) != 0) {
            (void)printf("WRONG: other bits than on the GPU\n");
            num_wrong += 1;
        }
    }
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
    need(tcgemm_run_with(x->plan, 1, a, b, 0, NULL, d, NULL, 0, &stats) == TCGEMM_STATUS_OK,
         "the product");
    qsort(seconds, (size_t)runs, sizeof *seconds, by_value);
    report(x, pinned ? "pinned" : "pageable", seconds, runs, &stats);
    if (traces) {
        host_trace_begin();
        need(tcgemm_run(x->plan, 1, a, b, 0, NULL, d) == TCGEMM_STATUS_OK, "the product");
        host_trace_end();
    }
    if (memcmp(d, x->expected, x->result) != 0) {
        (void)printf("WRONG: other bits than on the GPU, at last\n");
        num_wrong += 1;
    }
    free_host(pinned, a);
    free_host(pinned, b);
    free_host(pinned, d);
}

static void measure(tcgemm_type_t type, long long size, const char *layout, const char *kernel,
                    int runs) {
    product_t x = {.p = tcgemm_problem(type, size, size, size), .type = tcgemm_type_info(type)};
    x.p.op_a = layout[0] == 't' ? TCGEMM_OP_T : TCGEMM_OP_N;
    x.p.op_b = layout[1] == 't' ? TCGEMM_OP_T : TCGEMM_OP_N;
    x.operand = (size_t)(size * size) * (size_t)tcgemm_dtype_bits(x.type->a) / 8;
    x.result = (size_t)(size * size) * (size_t)tcgemm_dtype_bits(x.type->d) / 8;
    tcgemm_plan_options_t options = tcgemm_plan_options();
    options.kernel = kernel;
    need(tcgemm_plan_create(context, &x.p, &options, &x.plan) == TCGEMM_STATUS_OK, "a plan");
    for (int i = 0; i < 3; ++i)
        need(tcgemm_device_alloc(0, i < 2 ? x.operand : x.result, &x.there[i]) == TCGEMM_STATUS_OK,
             "GPU memory");
    for (int way = 0; way < WAYS; ++way)
        run_way(&x, way == 0, runs);
    for (int i = 0; i < 3; ++i)
        (void)tcgemm_device_free(0, x.there[i]);
    free(x.expected);
    tcgemm_plan_destroy(x.plan);
}

static tcgemm_type_t type_by_name(const char *name) {
    static const tcgemm_type_t known[] = {TCGEMM_BF16_BF16, TCGEMM_BF16_F32, TCGEMM_F32_F32,
                                          TCGEMM_TF32_F32};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (strcmp(tcgemm_type_info(known[i])->name, name) == 0)
            return known[i];
    (void)fprintf(stderr, "host_speed: the types are bf16_bf16, bf16_f32, f32_f32 and tf32_f32\n");
    exit(2);
}

static void measure_all(int runs) {
    measure(TCGEMM_BF16_BF16, 16384, "nn", NULL, runs);
    measure(TCGEMM_BF16_F32, 16384, "nn", NULL, runs);
    measure(TCGEMM_BF16_BF16, 8192, "nn", NULL, runs);
    measure(TCGEMM_BF16_BF16, 8192, "tn", NULL, runs);
    measure(TCGEMM_BF16_BF16, 8192, "nt", NULL, runs);
    measure(TCGEMM_BF16_F32, 8192, "nn", NULL, runs);
    measure(TCGEMM_F32_F32, 8192, "nn", NULL, runs);
    measure(TCGEMM_BF16_BF16, 4096, "nn", NULL, runs);
    measure(TCGEMM_BF16_BF16, 2048, "nn", NULL, runs);
}

int main(int argc, char **argv) {
    settings_t s = {0, "bf16_bf16", "nn", NULL, 9};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--size") == 0)
            s.size = strtoll(argv[i + 1], NULL, 10) / 8 * 8;
        else if (strcmp(argv[i], "--type") == 0)
            s.type = argv[i + 1];
        else if (strcmp(argv[i], "--layout") == 0)
            s.layout = argv[i + 1];
        else if (strcmp(argv[i], "--kernel") == 0)
            s.kernel = argv[i + 1];
        else if (strcmp(argv[i], "--trace") == 0)
            traces = strcmp(argv[i + 1], "0") != 0;
        else if (strcmp(argv[i], "--runs") == 0)
            s.runs = (int)strtol(argv[i + 1], NULL, 10);
    }
    s.runs = s.runs < 1 ? 1 : s.runs < MAX_RUNS ? s.runs : MAX_RUNS;
    tcgemm_context_options_t options = tcgemm_context_options();
    options.device = 0;
    CUcontext ours;
    if (!find_driver() || tcgemm_context_create(&options, &context) != TCGEMM_STATUS_OK) {
        (void)printf("skipped: %s\n", tcgemm_last_error());
        return 77;
    }
    need(cu.init(0) == CUDA_SUCCESS && cu.retain(&ours, 0) == CUDA_SUCCESS &&
             cu.push(ours) == CUDA_SUCCESS,
         "a context");
    measure_bus();
    measure_cpu();
    if (s.size > 0)
        measure(type_by_name(s.type), s.size, s.layout, s.kernel, s.runs);
    else
        measure_all(s.runs);
    tcgemm_context_destroy(context);
    (void)printf("%d wrong\n", num_wrong);
    return num_wrong > 0;
}
