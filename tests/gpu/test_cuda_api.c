/* test_cuda_api.c - the rules of the API on a GPU: where matrices may lie, streams, graphs, panels,
 * threads, forks, faults. Skips (77) without a GPU.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu_test.h"
#include "tcgemm/inspect.h"

/* ---- the few functions of the driver that a caller would use ---- */

static struct {
    CUresult (*init)(unsigned);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*push)(CUcontext);
    CUresult (*pop)(CUcontext *);
    CUresult (*current)(CUcontext *);
    CUresult (*stream_create)(CUstream *, unsigned);
    CUresult (*stream_synchronize)(CUstream);
    CUresult (*stream_query)(CUstream);
    CUresult (*begin)(CUstream, CUstreamCaptureMode);
    CUresult (*end)(CUstream, CUgraph *);
    CUresult (*instantiate)(CUgraphExec *, CUgraph, unsigned long long);
    CUresult (*launch)(CUgraphExec, CUstream);
    CUresult (*managed)(CUdeviceptr *, size_t, unsigned);
    CUresult (*release)(CUdeviceptr);
} cu;

static int find(void *library, const char *name, void *member, size_t size) {
    void *const address = dlsym(library, name);
    if (address)
        memcpy(member, &address, size);
    else
        (void)printf("no %s in the driver\n", name);
    return address != NULL;
}

static int find_driver(void) {
    void *const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return 0;
#define FIND(member, name) find(library, name, &cu.member, sizeof cu.member)
    return FIND(init, "cuInit") && FIND(retain, "cuDevicePrimaryCtxRetain") &&
           FIND(push, "cuCtxPushCurrent_v2") && FIND(pop, "cuCtxPopCurrent_v2") &&
           FIND(current, "cuCtxGetCurrent") && FIND(stream_create, "cuStreamCreate") &&
           FIND(stream_synchronize, "cuStreamSynchronize") && FIND(stream_query, "cuStreamQuery") &&
           FIND(begin, "cuStreamBeginCapture_v2") && FIND(end, "cuStreamEndCapture") &&
           FIND(instantiate, "cuGraphInstantiateWithFlags") && FIND(launch, "cuGraphLaunch") &&
           FIND(managed, "cuMemAllocManaged") && FIND(release, "cuMemFree_v2");
#undef FIND
}

/* ---- helpers ---- */

static tcgemm_context_t *gpu;

static tcgemm_plan_t *plan_of(const tcgemm_problem_t *p) {
    tcgemm_plan_t *plan = NULL;
    CHECK(tcgemm_plan_create(gpu, p, NULL, &plan) == TCGEMM_STATUS_OK, "plan for %s",
          tcgemm_type_info(p->type)->name);
    return plan;
}

static int is_right(const tcgemm_plan_t *plan, const product_t *p, double alpha, double beta,
                    const void *d) {
    tcgemm_verify_report_t r = {.struct_size = sizeof r};
    return tcgemm_verify(plan, alpha, host_data(&p->a), host_data(&p->b), beta, host_data(&p->c), d,
                         TCGEMM_VERIFY_AUTO, 1, &r) == TCGEMM_STATUS_OK &&
           r.num_wrong == 0;
}

/* Host pointers through the library's copies, against the bits of device pointers. */
static void check_places(tcgemm_type_t type, int64_t m, int64_t n, int64_t k, int64_t batch,
                         int way, const char *what) {
    product_t p;
    p.problem = tcgemm_problem(type, m, n, k);
    p.problem.batch = batch;
    p.problem.op_a = way & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.problem.op_b = way & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.problem.order = way & 4 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
    if (!make_product(&p, 3, 1)) {
        CHECK(0, "no memory for %s", what);
        free_product(&p);
        return;
    }
    tcgemm_plan_t *plan = plan_of(&p.problem);
    unsigned char *const before = malloc(p.d.bytes);
    unsigned char *const host = malloc(p.d.bytes);
    if (plan && before && host) {
        memcpy(before, p.d.host, p.d.bytes);
        memcpy(host, p.d.host, p.d.bytes);
        tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
        CHECK(tcgemm_run_with(plan, 2, host_data(&p.a), host_data(&p.b), -1, host_data(&p.c),
                              host + p.d.offset, NULL, 0, &stats) == TCGEMM_STATUS_OK,
              "%s from the host", what);
        CHECK(stats.transfer_seconds > 0 && stats.product_seconds > 0 &&
                  stats.total_seconds >= stats.transfer_seconds,
              "%s: %g s of transfers, %g s of products, %g s in all", what, stats.transfer_seconds,
              stats.product_seconds, stats.total_seconds);
        CHECK(is_right(plan, &p, 2, -1, host + p.d.offset), "%s: wrong result", what);
        CHECK(tcgemm_run(plan, 2, device_data(&p.a), device_data(&p.b), -1, device_data(&p.c),
                         device_data(&p.d)) == TCGEMM_STATUS_OK,
              "%s on the GPU", what);
        CHECK(fetch_d(&p) == 0, "%s: bytes around D changed", what);
        CHECK(is_right(plan, &p, 2, -1, host_data(&p.d)), "%s: wrong result on the GPU", what);
        if (!getenv("TCGEMM_CUDA_MEMORY_LIMIT"))
            CHECK(memcmp(host, p.d.host, p.d.bytes) == 0, "%s: host and GPU differ", what);
    }
    free(before);
    free(host);
    tcgemm_plan_destroy(plan);
    free_product(&p);
}

/* ---- the tests ---- */

static const tcgemm_type_t types[] = {TCGEMM_F32_F32,   TCGEMM_BF16_F32, TCGEMM_F16_F16,
                                      TCGEMM_TF32_F32,  TCGEMM_F64_F64,  TCGEMM_S8_S32,
                                      TCGEMM_BF16_BF16, TCGEMM_U8_S32,   TCGEMM_F16_F32,
                                      TCGEMM_E4M3_F32,  TCGEMM_E5M2_BF16};
enum { NUM_TYPES = sizeof types / sizeof types[0] };

static int has_kernel(tcgemm_type_t type) {
    const tcgemm_problem_t p = tcgemm_problem(type, 64, 64, 64);
    tcgemm_plan_t *plan = NULL;
    const int has = tcgemm_plan_create(gpu, &p, NULL, &plan) == TCGEMM_STATUS_OK;
    tcgemm_plan_destroy(plan);
    return has;
}

static void test_places(void) {
    for (int i = 0; i < NUM_TYPES; ++i)
        if (has_kernel(types[i])) {
            check_places(types[i], 301, 203, 157, 1, i, tcgemm_type_info(types[i])->name);
            check_places(types[i], 33, 65, 40, 7, i + 3, "a batch");
        }
    check_places(TCGEMM_F32_F32, 5000, 1500, 300, 1, 0, "several panels of rows");
    check_places(TCGEMM_F32_F32, 200, 300, 64, 500, 2, "several groups of items");
}

static void test_panels(void) {
    static const char *const limits[] = {"1000000", "4000000", "30000000"};
    for (int l = 0; l < 3; ++l) {
        (void)setenv("TCGEMM_CUDA_MEMORY_LIMIT", limits[l], 1);
        check_places(TCGEMM_F32_F32, 1100, 900, 700, 1, l, "panels");
        check_places(TCGEMM_S8_S32, 700, 1100, 900, 1, l + 1, "panels of s8");
        check_places(TCGEMM_F64_F64, 300, 300, 9000, 1, l + 2, "panels with k cut");
        check_places(TCGEMM_F32_F32, 100, 120, 90, 40, 4, "panels of a batch");
    }
    (void)setenv("TCGEMM_CUDA_MEMORY_LIMIT", "20000", 1);
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 512, 512, 512);
    float *const x = calloc(512 * 512, sizeof *x);
    float *const d = calloc(512 * 512, sizeof *d);
    tcgemm_plan_t *plan = plan_of(&p);
    CHECK(x && d && tcgemm_run(plan, 1, x, x, 0, NULL, d) == TCGEMM_STATUS_OUT_OF_MEMORY,
          "20 kB suffice for nothing");
    (void)unsetenv("TCGEMM_CUDA_MEMORY_LIMIT");
    CHECK(tcgemm_run(plan, 1, x, x, 0, NULL, d) == TCGEMM_STATUS_OK, "and afterwards all is well");
    tcgemm_plan_destroy(plan);
    free(x);
    free(d);
}

static void test_refusals(void) {
    product_t p;
    p.problem = tcgemm_problem(TCGEMM_F32_F32, 40, 50, 60);
    CHECK(make_product(&p, 0, 0), "memory");
    tcgemm_plan_t *plan = plan_of(&p.problem);
    CHECK(tcgemm_run(plan, 1, host_data(&p.a), device_data(&p.b), 0, NULL, device_data(&p.d)) ==
              TCGEMM_STATUS_BAD_ARGUMENT,
          "A on the host, D on the GPU");
    CHECK(strstr(tcgemm_last_error(), "A lies in host memory") != NULL, "the sentence names A");
    CHECK(tcgemm_run_async(plan, 1, host_data(&p.a), host_data(&p.b), 0, NULL, host_data(&p.d),
                           NULL, 0, NULL) == TCGEMM_STATUS_BAD_ARGUMENT,
          "a queue for host matrices");
    tcgemm_context_options_t o = tcgemm_context_options();
    o.device = TCGEMM_DEVICE_CPU;
    tcgemm_context_t *cpu = NULL;
    tcgemm_plan_t *cpu_plan = NULL;
    CHECK(tcgemm_context_create(&o, &cpu) == TCGEMM_STATUS_OK, "a CPU context");
    CHECK(tcgemm_plan_create(cpu, &p.problem, NULL, &cpu_plan) == TCGEMM_STATUS_OK, "a CPU plan");
    CHECK(tcgemm_run(cpu_plan, 1, device_data(&p.a), device_data(&p.b), 0, NULL,
                     device_data(&p.d)) == TCGEMM_STATUS_BAD_ARGUMENT,
          "GPU matrices in a CPU plan");
    CHECK(tcgemm_run_async(cpu_plan, 1, device_data(&p.a), device_data(&p.b), 0, NULL,
                           device_data(&p.d), NULL, 0, NULL) == TCGEMM_STATUS_BAD_ARGUMENT,
          "a queue in a CPU plan");
    tcgemm_plan_destroy(cpu_plan);
    tcgemm_context_destroy(cpu);
    o.device = 99;
    CHECK(tcgemm_context_create(&o, &cpu) == TCGEMM_STATUS_NO_DEVICE, "GPU 99");
    tcgemm_plan_options_t po = tcgemm_plan_options();
    tcgemm_plan_t *none = NULL;
    po.algo = "cpu";
    CHECK(tcgemm_plan_create(gpu, &p.problem, &po, &none) == TCGEMM_STATUS_UNSUPPORTED,
          "the CPU's algorithm on a GPU");
    po.algo = "wmma-direct";
    po.tile = "7x7x7";
    tcgemm_problem_t half = tcgemm_problem(TCGEMM_F16_F32, 64, 64, 64);
    CHECK(tcgemm_plan_create(gpu, &half, &po, &none) == TCGEMM_STATUS_UNSUPPORTED, "a wrong tile");
    CHECK(strstr(tcgemm_last_error(), "32x8x16") != NULL, "the sentence lists the tiles");
    po.tile = "32x8x16";
    CHECK(tcgemm_plan_create(gpu, &half, &po, &none) == TCGEMM_STATUS_OK, "a right tile");
    tcgemm_plan_destroy(none);
    void *memory = NULL;
    CHECK(tcgemm_device_alloc(0, (size_t)1 << 46, &memory) == TCGEMM_STATUS_OUT_OF_MEMORY,
          "64 TiB");
    CHECK(memory == NULL, "and no pointer");
    /* a stream of nobody */
    tcgemm_plan_destroy(plan);
    free_product(&p);
}

static void test_scaling(void) {
    product_t p;
    for (int i = 0; i < NUM_TYPES; ++i) {
        if (!has_kernel(types[i]))
            continue;
        for (int zero_k = 0; zero_k < 2; ++zero_k) {
            p.problem = tcgemm_problem(types[i], 67, 45, zero_k ? 0 : 12);
            p.problem.batch = 2;
            CHECK(make_product(&p, 5, 1), "memory");
            tcgemm_plan_t *plan = plan_of(&p.problem);
            CHECK(tcgemm_run(plan, zero_k ? 1 : 0, NULL, NULL, -3, device_data(&p.c),
                             device_data(&p.d)) == TCGEMM_STATUS_OK,
                  "D = beta * C");
            CHECK(fetch_d(&p) == 0 && is_right(plan, &p, 0, -3, host_data(&p.d)), "of type %s",
                  tcgemm_type_info(types[i])->name);
            CHECK(tcgemm_run(plan, 0, NULL, NULL, 0, NULL, device_data(&p.d)) == TCGEMM_STATUS_OK &&
                      fetch_d(&p) == 0 && is_right(plan, &p, 0, 0, host_data(&p.d)),
                  "D = 0");
            tcgemm_plan_destroy(plan);
            free_product(&p);
        }
    }
}

/* Every number of fp8 times 1, from a row that begins anywhere: widened to bf16 it is the same. */
static void check_every_number(tcgemm_type_t type, int64_t skew) {
    const float one = 1;
    product_t p;
    p.problem = tcgemm_problem(type, 2 * 256 + 5, 1, 1);
    p.problem.op_a = TCGEMM_OP_T;
    CHECK(make_product(&p, 0, skew), "memory");
    for (int64_t i = 0; i < p.problem.m; ++i)
        ((unsigned char *)host_data(&p.a))[i] = (unsigned char)i;
    CHECK(tcgemm_convert(p.b.dtype, host_data(&p.b), TCGEMM_DTYPE_F32, &one, 1) ==
                  TCGEMM_STATUS_OK &&
              tcgemm_device_copy(0, p.a.device, p.a.host, p.a.bytes) == TCGEMM_STATUS_OK &&
              tcgemm_device_copy(0, p.b.device, p.b.host, p.b.bytes) == TCGEMM_STATUS_OK,
          "copies");
    tcgemm_plan_t *plan = plan_of(&p.problem);
    CHECK(tcgemm_run(plan, 1, device_data(&p.a), device_data(&p.b), 0, NULL, device_data(&p.d)) ==
                  TCGEMM_STATUS_OK &&
              fetch_d(&p) == 0,
          "a product with all numbers of %s", tcgemm_type_info(type)->name);
    for (int64_t i = 0; i < p.problem.m; ++i) {
        double from = 0;
        (void)tcgemm_convert(TCGEMM_DTYPE_F64, &from, p.a.dtype, (char *)host_data(&p.a) + i, 1);
        const double to = (double)((const float *)host_data(&p.d))[i];
        CHECK(isnan(from) ? isnan(to) : from == to, "number 0x%02x of %s: %g, not %g",
              (unsigned)(i & 0xFF), tcgemm_type_info(type)->name, to, from);
    }
    tcgemm_plan_destroy(plan);
    free_product(&p);
}

static void test_every_number(void) {
    for (int64_t skew = 0; skew < 8; ++skew) {
        if (has_kernel(TCGEMM_E4M3_F32))
            check_every_number(TCGEMM_E4M3_F32, skew);
        if (has_kernel(TCGEMM_E5M2_F32))
            check_every_number(TCGEMM_E5M2_F32, skew);
    }
}

static void test_streams_and_graphs(void) {
    CUcontext primary = NULL;
    CUcontext popped = NULL;
    CUcontext current = NULL;
    CUstream stream = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CHECK(cu.init(0) == CUDA_SUCCESS && cu.retain(&primary, 0) == CUDA_SUCCESS &&
              cu.push(primary) == CUDA_SUCCESS,
          "a context");
    CHECK(cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS, "a stream");
    product_t p;
    p.problem = tcgemm_problem(TCGEMM_F32_F32, 500, 400, 300);
    CHECK(make_product(&p, 0, 0), "memory");
    tcgemm_plan_t *plan = plan_of(&p.problem);
    CHECK(tcgemm_run_async(plan, 1, device_data(&p.a), device_data(&p.b), 0, NULL,
                           device_data(&p.d), NULL, 0, stream) == TCGEMM_STATUS_OK,
          "in a stream");
    CHECK(cu.stream_synchronize(stream) == CUDA_SUCCESS && fetch_d(&p) == 0 &&
              is_right(plan, &p, 1, 0, host_data(&p.d)),
          "the right result");
    CHECK(cu.begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS, "capture begins");
    CHECK(tcgemm_run_async(plan, 1, device_data(&p.a), device_data(&p.b), 1, device_data(&p.d),
                           device_data(&p.d), NULL, 0, stream) == TCGEMM_STATUS_OK,
          "captured");
    CHECK(tcgemm_run_async(plan, 0, NULL, NULL, 2, device_data(&p.d), device_data(&p.d), NULL, 0,
                           stream) == TCGEMM_STATUS_OK,
          "captured D = 2 D");
    CHECK(cu.end(stream, &graph) == CUDA_SUCCESS && graph, "capture ends");
    CHECK(cu.instantiate(&exec, graph, 0) == CUDA_SUCCESS, "instantiated");
    for (int i = 0; i < 2; ++i)
        CHECK(cu.launch(exec, stream) == CUDA_SUCCESS, "launched");
    /* d: P -> 2 (P + P) = 4 P -> 2 (P + 4 P) = 10 P */
    CHECK(cu.stream_synchronize(stream) == CUDA_SUCCESS && fetch_d(&p) == 0 &&
              is_right(plan, &p, 10, 0, host_data(&p.d)),
          "twice the graph");
    CHECK(cu.current(&current) == CUDA_SUCCESS && current == primary, "the caller's context stays");
    CHECK(cu.pop(&popped) == CUDA_SUCCESS && popped == primary, "alone on its stack");
    tcgemm_plan_destroy(plan);
    free_product(&p);
}

/* ---- one behind another ---- */

enum { LINKS = 9 }; /* odd: the last one writes D */

/* Products of which each reads what the one before has written, and writes what that has read; with
 * `waits` one at a time, else as a stream takes them: a launch may begin before the one ahead has
 * ended, and has to wait by itself. */
static int run_chain(const tcgemm_plan_t *plan, product_t *p, int by_rows, int waits,
                     CUstream stream) {
    matrix_t *const first = by_rows ? &p->a : &p->b;
    const double alpha = sqrt(3.0 / (double)p->problem.k); /* elements stay as large as they are */
    int good = tcgemm_device_copy(0, first->device, first->host, first->bytes) == TCGEMM_STATUS_OK;
    for (int i = 0; i < LINKS && good; ++i) {
        const void *const from = device_data(i % 2 ? &p->d : first);
        good = tcgemm_run_async(plan, alpha, by_rows ? from : device_data(&p->a),
                                by_rows ? device_data(&p->b) : from, 0, NULL,
                                device_data(i % 2 ? first : &p->d), NULL, 0,
                                stream) == TCGEMM_STATUS_OK &&
               (!waits || cu.stream_synchronize(stream) == CUDA_SUCCESS);
    }
    return good && cu.stream_synchronize(stream) == CUDA_SUCCESS && fetch_d(p) == 0;
}

static void check_chain(const tcgemm_kernel_info_t *kernel, tcgemm_type_t type, CUstream stream) {
    enum { SMALL = 24, SIDE = 520, ITEMS = 3000 };
    const int is_stream = strcmp(kernel->algo, "stream") == 0;
    const int is_batch = strcmp(kernel->algo, "batched") == 0;
    const int by_rows = is_stream && kernel->tile_m < kernel->tile_n;
    const int64_t side = is_batch ? SMALL : SIDE;
    tcgemm_plan_options_t options = tcgemm_plan_options();
    tcgemm_plan_t *plan = NULL;
    product_t p;
    options.kernel = kernel->name;
    p.problem = tcgemm_problem(type, by_rows ? kernel->tile_m : side,
                               is_stream && !by_rows ? kernel->tile_n : side, side);
    p.problem.batch = is_batch ? ITEMS : 1;
    unsigned char *bits = NULL;
    CHECK(make_product(&p, 0, 0) && (bits = malloc(p.d.bytes)), "memory for %s", kernel->name);
    CHECK(tcgemm_plan_create(gpu, &p.problem, &options, &plan) == TCGEMM_STATUS_OK, "plan of %s",
          kernel->name);
    if (bits && plan) {
        CHECK(run_chain(plan, &p, by_rows, 1, stream), "%s one at a time", kernel->name);
        memcpy(bits, p.d.host, p.d.bytes);
        CHECK(run_chain(plan, &p, by_rows, 0, stream), "%s one behind another", kernel->name);
        CHECK(memcmp(bits, p.d.host, p.d.bytes) == 0, "%s %s: other bits", kernel->name,
              tcgemm_type_info(type)->name);
    }
    free(bits);
    tcgemm_plan_destroy(plan);
    free_product(&p);
}

static void test_chains(void) {
    static const tcgemm_type_t squares[] = {TCGEMM_F32_F32, TCGEMM_F64_F64, TCGEMM_F16_F16,
                                            TCGEMM_BF16_BF16};
    CUcontext primary = NULL;
    CUcontext popped = NULL;
    CUstream stream = NULL;
    CHECK(cu.init(0) == CUDA_SUCCESS && cu.retain(&primary, 0) == CUDA_SUCCESS &&
              cu.push(primary) == CUDA_SUCCESS &&
              cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS,
          "a stream");
    for (int i = 0; i < tcgemm_kernel_count(); ++i) {
        tcgemm_kernel_info_t kernel = {.struct_size = sizeof kernel};
        if (tcgemm_kernel_get_info(i, &kernel) != TCGEMM_STATUS_OK || !kernel.runnable ||
            strcmp(kernel.device, "gpu") != 0 || kernel.needs_flags != 0)
            continue;
        for (size_t t = 0; t < sizeof squares / sizeof squares[0]; ++t)
            if (kernel.types >> (squares[t] - 1) & 1)
                check_chain(&kernel, squares[t], stream);
    }
    CHECK(cu.pop(&popped) == CUDA_SUCCESS, "the context goes");
}

static void test_automatic(void) {
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    tcgemm_plan_t *plan = NULL;
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 8, 8, 8);
    CHECK(tcgemm_plan_create(NULL, &p, NULL, &plan) == TCGEMM_STATUS_OK &&
              tcgemm_plan_get_info(plan, &info) == TCGEMM_STATUS_OK && info.device_index == -1,
          "the small on the CPU");
    tcgemm_plan_destroy(plan);
    p = tcgemm_problem(TCGEMM_F32_F32, 8192, 8192, 8192);
    CHECK(tcgemm_plan_create(NULL, &p, NULL, &plan) == TCGEMM_STATUS_OK &&
              tcgemm_plan_get_info(plan, &info) == TCGEMM_STATUS_OK && info.device_index == 0,
          "the large on the GPU");
    char text[4096];
    (void)tcgemm_plan_describe(plan, TCGEMM_FORMAT_TEXT, text, sizeof text);
    (void)printf("%s", text);
    tcgemm_plan_destroy(plan);
    product_t x;
    x.problem = tcgemm_problem(TCGEMM_F32_F32, 30, 20, 10);
    CHECK(make_product(&x, 0, 0), "memory");
    CHECK(tcgemm_gemm(&x.problem, 1, device_data(&x.a), device_data(&x.b), 0, NULL,
                      device_data(&x.d)) == TCGEMM_STATUS_OK &&
              fetch_d(&x) == 0,
          "the one call on GPU matrices");
    plan = plan_of(&x.problem);
    CHECK(is_right(plan, &x, 1, 0, host_data(&x.d)), "and right");
    tcgemm_plan_destroy(plan);
    free_product(&x);
}

static void test_managed(void) {
    CUcontext primary = NULL;
    CUdeviceptr at = 0;
    CHECK(cu.retain(&primary, 0) == CUDA_SUCCESS && cu.push(primary) == CUDA_SUCCESS, "context");
    CHECK(cu.managed(&at, 3 * 64 * 64 * sizeof(float), CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS,
          "managed memory");
    float *const x = (float *)(uintptr_t)at;
    for (int i = 0; i < 64 * 64; ++i) {
        x[i] = (float)(i % 7);
        x[4096 + i] = i % 65 == 0 ? 2.0F : 0.0F; /* 2 I */
    }
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 64, 64, 64);
    tcgemm_plan_t *plan = plan_of(&p);
    CHECK(tcgemm_run(plan, 1, x, x + 4096, 0, NULL, x + 8192) == TCGEMM_STATUS_OK, "runs");
    CHECK(x[8192 + 100] == 2.0F * x[100], "and is right");
    tcgemm_plan_destroy(plan);
    CHECK(cu.release(at) == CUDA_SUCCESS, "freed");
    (void)cu.pop(&primary);
}

static void *worker(void *argument) {
    const int index = *(const int *)argument;
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 300 + index, 200, 100);
    const size_t count = (size_t)400 * 400;
    float *const x = malloc(count * sizeof *x);
    float *const d = malloc(count * sizeof *d);
    tcgemm_plan_t *plan = NULL;
    void *result = NULL;
    if (x && d && tcgemm_plan_create(gpu, &p, NULL, &plan) == TCGEMM_STATUS_OK) {
        for (size_t i = 0; i < count; ++i)
            x[i] = (float)((i * 31 + (size_t)index) % 17) - 8.0F;
        tcgemm_verify_report_t r = {.struct_size = sizeof r};
        int good = 1;
        for (int i = 0; i < 10 && good; ++i)
            good = tcgemm_run(plan, 1, x, x, 0, NULL, d) == TCGEMM_STATUS_OK &&
                   tcgemm_verify(plan, 1, x, x, 0, NULL, d, TCGEMM_VERIFY_FULL, 1, &r) ==
                       TCGEMM_STATUS_OK &&
                   r.num_wrong == 0;
        result = good ? (void *)x : NULL;
    }
    tcgemm_plan_destroy(plan);
    free(x);
    free(d);
    return result;
}

static void test_threads(void) {
    pthread_t threads[6];
    int numbers[6];
    for (int i = 0; i < 6; ++i) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, worker, &numbers[i]) == 0, "a thread");
    }
    for (int i = 0; i < 6; ++i) {
        void *result = NULL;
        (void)pthread_join(threads[i], &result);
        CHECK(result != NULL, "thread %d", i);
    }
}

/* In a child: what the parent's GPU says, and the CPU. Returns the exit status. */
static int child_of_fork(const tcgemm_plan_t *plan, const product_t *p) {
    const tcgemm_status_t run =
        tcgemm_run(plan, 1, host_data(&p->a), host_data(&p->b), 0, NULL, host_data(&p->d));
    const tcgemm_status_t queued = tcgemm_run_async(plan, 1, device_data(&p->a), device_data(&p->b),
                                                    0, NULL, device_data(&p->d), NULL, 0, NULL);
    tcgemm_context_options_t o = tcgemm_context_options();
    tcgemm_context_t *context = NULL;
    o.device = 0;
    const tcgemm_status_t again = tcgemm_context_create(&o, &context);
    const tcgemm_status_t one =
        tcgemm_gemm(&p->problem, 1, host_data(&p->a), host_data(&p->b), 0, NULL, host_data(&p->d));
    return run == TCGEMM_STATUS_AFTER_FORK && queued == TCGEMM_STATUS_AFTER_FORK &&
                   again == TCGEMM_STATUS_AFTER_FORK && one == TCGEMM_STATUS_OK
               ? 0
               : 10 + (run != TCGEMM_STATUS_AFTER_FORK) + 2 * (queued != TCGEMM_STATUS_AFTER_FORK) +
                     4 * (again != TCGEMM_STATUS_AFTER_FORK) + 8 * (one != TCGEMM_STATUS_OK);
}

static void test_fork(void) {
    product_t p;
    p.problem = tcgemm_problem(TCGEMM_F32_F32, 64, 64, 64);
    CHECK(make_product(&p, 0, 0), "memory");
    tcgemm_plan_t *plan = plan_of(&p.problem);
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(20);
        _exit(child_of_fork(plan, &p));
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
              WEXITSTATUS(status) == 0,
          "the child ended with 0x%x", (unsigned)status);
    CHECK(tcgemm_run(plan, 1, host_data(&p.a), host_data(&p.b), 0, NULL, host_data(&p.d)) ==
              TCGEMM_STATUS_OK,
          "the parent goes on");
    tcgemm_plan_destroy(plan);
    free_product(&p);
}

/* A process of its own: a product whose matrices are far larger than their memory. */
static int main_of_fault(void) {
    (void)alarm(60);
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 16384, 16384, 512);
    tcgemm_plan_t *plan = plan_of(&p);
    void *small = NULL;
    void *other = NULL;
    CHECK(tcgemm_device_alloc(0, 4096, &small) == TCGEMM_STATUS_OK, "memory");
    CHECK(tcgemm_device_alloc(0, (size_t)16384 * 512 * 4, &other) == TCGEMM_STATUS_OK, "memory");
    const tcgemm_status_t first = tcgemm_run(plan, 1, other, other, 0, NULL, small);
    CHECK(first == TCGEMM_STATUS_DEVICE_LOST, "the fault: %s", tcgemm_status_name(first));
    for (int i = 0; i < 3; ++i)
        CHECK(tcgemm_run(plan, 1, other, other, 0, NULL, other) != TCGEMM_STATUS_OK, "for ever");
    tcgemm_plan_t *none = NULL;
    CHECK(tcgemm_plan_create(gpu, &p, NULL, &none) == TCGEMM_STATUS_DEVICE_LOST, "no new plan");
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(gpu);
    const float one[1] = {3};
    float d[1] = {0};
    const tcgemm_problem_t tiny = tcgemm_problem(TCGEMM_F32_F32, 1, 1, 1);
    CHECK(tcgemm_gemm(&tiny, 1, one, one, 0, NULL, d) == TCGEMM_STATUS_OK && d[0] == 9.0F,
          "the CPU still works");
    return report_counts();
}

static void test_fault(const char *self) {
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        (void)execl(self, self, "--fault", (char *)NULL);
        _exit(127);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
              WEXITSTATUS(status) == 0,
          "the faulting process ended with 0x%x", (unsigned)status);
}

int main(int argc, char **argv) {
    if (tcgemm_device_count() == 0 || !find_driver()) {
        (void)printf("skipped: %s\n", tcgemm_device_reason());
        return 77;
    }
    tcgemm_device_info_t info = {.struct_size = sizeof info};
    tcgemm_context_options_t options = tcgemm_context_options();
    options.device = 0;
    CHECK(tcgemm_device_get_info(0, &info) == TCGEMM_STATUS_OK, "facts");
    CHECK(tcgemm_context_create(&options, &gpu) == TCGEMM_STATUS_OK, "a context on GPU 0");
    if (argc > 1 && strcmp(argv[1], "--fault") == 0)
        return main_of_fault();
    (void)printf("%s, %d.%d, %d SMs at %.0f MHz, %.0f GB/s, %zu KiB of shared memory a block, "
                 "bf16 %.1f TFLOP/s in theory\n",
                 info.name, info.cc_major, info.cc_minor, info.num_sms, info.clock_hz * 1e-6,
                 info.bandwidth * 1e-9, info.smem_block_bytes >> 10,
                 info.peak[TCGEMM_BF16_F32] * 1e-12);
    static void (*const tests[])(void) = {test_places,  test_panels,       test_refusals,
                                          test_scaling, test_every_number, test_streams_and_graphs,
                                          test_chains,  test_automatic,    test_managed,
                                          test_threads, test_fork};
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; ++i)
        tests[i]();
    test_fault(argv[0]);
    tcgemm_context_destroy(gpu);
    return report_counts();
}
