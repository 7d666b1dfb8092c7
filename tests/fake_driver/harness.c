/* harness.c - see harness.h. */
#include "fake_driver/harness.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a driver that lacks symbols ---- */

void *__real_dlsym(void *library, const char *symbol);
void *__wrap_dlsym(void *library, const char *symbol);
void *__wrap_dlsym(void *library, const char *symbol) {
    return fake_is_hidden(symbol) ? NULL : __real_dlsym(library, symbol);
}

/* ---- processes ---- */

enum { CHILD_SECONDS = 60, CAME_TO_ITS_END = 7 };

bool passes_alone(const char *name, body_t *body, const void *argument) {
    int status = 0;
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(CHILD_SECONDS);
        body(argument);
        (void)fflush(NULL);
        _exit(num_failures() == 0 ? CAME_TO_ITS_END : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (WIFSIGNALED(status))
        (void)printf("%s: signal %d\n", name, WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == CAME_TO_ITS_END;
}

int run_alone(const char *name, body_t *body, const void *argument) {
    const double start = seconds_now();
    const bool passes = passes_alone(name, body, argument);
    (void)printf("%-6s %s (%.2f s)\n", passes ? "ok" : "FAILED", name, seconds_now() - start);
    return passes ? 0 : 1;
}

void check_end(void) {
    const fake_live_t live = fake_live();
    const int gpus = tcgemm_device_count();
    CHECK(fake_complaints() == 0, "%d complaints of the driver", fake_complaints());
    CHECK(live.pending == 0, "%d operations were not waited for", live.pending);
    CHECK(fake_depth() == 0, "%d contexts on the stack", fake_depth());
    CHECK(live.device <= gpus && live.pinned <= 6 * gpus && live.registered == 0 &&
              live.managed == 0,
          "%d allocations on %d GPUs, %d pinned, %d managed", live.device, gpus, live.pinned,
          live.managed);
    CHECK(live.streams <= 4 * gpus && live.events <= 46 * gpus, "%d streams, %d events on %d GPUs",
          live.streams, live.events, gpus);
}

/* ---- operands on a GPU ---- */

tcgemm_context_t *context_on(int device) {
    tcgemm_context_options_t options = tcgemm_context_options();
    tcgemm_context_t *context = NULL;
    options.device = device;
    options.num_threads = 2;
    if (tcgemm_context_create(&options, &context) != TCGEMM_STATUS_OK)
        report_failure("no context on GPU %d: %s", device, tcgemm_last_error());
    return context;
}

static const matrix_t *operand(const operands_t *x, int index) {
    const matrix_t *const all[] = {&x->a, &x->b, &x->c, &x->d};
    return all[index];
}

bool on_gpu_make(const operands_t *host, int device, on_gpu_t *x) {
    *x = (on_gpu_t){.device = device, .host = host};
    for (int i = 0; i < 4; ++i) {
        const matrix_t *m = operand(host, i);
        if (i == 3 && m->block == host->c.block) {
            x->block[3] = x->block[2];
        } else if (tcgemm_device_alloc(device, m->block_bytes, &x->block[i]) != TCGEMM_STATUS_OK ||
                   tcgemm_device_copy(device, x->block[i], m->block, m->block_bytes) !=
                       TCGEMM_STATUS_OK) {
            on_gpu_free(x);
            return false;
        }
    }
    return true;
}

void on_gpu_free(on_gpu_t *x) {
    if (x->block[3] != x->block[2])
        (void)tcgemm_device_free(x->device, x->block[3]);
    for (int i = 0; i < 3; ++i)
        (void)tcgemm_device_free(x->device, x->block[i]);
    memset(x->block, 0, sizeof x->block);
}

void *on_gpu_data(const on_gpu_t *x, int index) {
    const matrix_t *m = operand(x->host, index);
    return (uint8_t *)x->block[index] + (m->data - m->block);
}

bool on_gpu_fetch(const on_gpu_t *x) {
    const matrix_t *d = &x->host->d;
    return tcgemm_device_copy(x->device, d->block, x->block[3], d->block_bytes) == TCGEMM_STATUS_OK;
}

/* ---- products ---- */

bool judge(const testcase_t *t, const operands_t *x, const tcgemm_plan_t *plan) {
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    const uint8_t *c = x->c_was + (x->c.data - x->c.block);
    const tcgemm_status_t status = tcgemm_verify(plan, t->alpha, x->a.data, x->b.data, t->beta, c,
                                                 x->d.data, TCGEMM_VERIFY_FULL, t->seed, &report);
    if (status != TCGEMM_STATUS_OK || report.num_wrong > 0) {
        testcase_fail(t, "%s, %lld wrong, first (%lld; %lld, %lld): %.17g, expected %.17g",
                      tcgemm_status_name(status), (long long)report.num_wrong,
                      (long long)report.wrong_batch, (long long)report.wrong_row,
                      (long long)report.wrong_col, report.wrong_got, report.wrong_expected);
        return false;
    }
    return testcase_untouched(t, x);
}

static tcgemm_status_t run_async(const testcase_t *t, const tcgemm_plan_t *plan, int device,
                                 void *const data[4]) {
    CUcontext context;
    CUstream stream;
    if (cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS ||
        cuCtxPushCurrent(context) != CUDA_SUCCESS ||
        cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
        return TCGEMM_STATUS_DEVICE_ERROR;
    const tcgemm_status_t status = tcgemm_run_async(plan, t->alpha, data[0], data[1], t->beta,
                                                    data[2], data[3], NULL, 0, stream);
    CUcontext current = NULL;
    CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context,
          "the caller's context is another after tcgemm_run_async");
    CHECK(fake_order() == FAKE_EAGER || fake_live().pending > 0, "tcgemm_run_async has waited");
    CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS, "waiting for the stream");
    (void)cuStreamDestroy(stream);
    (void)cuCtxPopCurrent(&context);
    (void)cuDevicePrimaryCtxRelease(device);
    return status;
}

/* With a workspace of the caller's, after one that is a byte too small has been refused. */
static tcgemm_status_t run_in_workspace(const testcase_t *t, const tcgemm_plan_t *plan, int device,
                                        void *const data[4]) {
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    void *workspace = NULL;
    if (tcgemm_plan_get_info(plan, &info) != TCGEMM_STATUS_OK ||
        tcgemm_device_alloc(device, info.workspace_bytes, &workspace) != TCGEMM_STATUS_OK)
        return TCGEMM_STATUS_OUT_OF_MEMORY;
    const long launches = fake_count("cuLaunchKernel");
    if (info.workspace_bytes > 0)
        CHECK(tcgemm_run_with(plan, t->alpha, data[0], data[1], t->beta, data[2], data[3],
                              workspace, info.workspace_bytes - 1,
                              NULL) == TCGEMM_STATUS_BAD_ARGUMENT &&
                  fake_count("cuLaunchKernel") == launches,
              "a workspace of %zu bytes is a byte too small", info.workspace_bytes - 1);
    const tcgemm_status_t status =
        tcgemm_run_with(plan, t->alpha, data[0], data[1], t->beta, data[2], data[3], workspace,
                        info.workspace_bytes, NULL);
    (void)tcgemm_device_free(device, workspace);
    return status;
}

/* ---- pinned operands ---- */

static CUcontext enter(int device) {
    CUcontext context = NULL;
    CHECK(cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS &&
              cuCtxPushCurrent(context) == CUDA_SUCCESS,
          "the caller's context");
    return context;
}

static void leave(CUcontext context, int device) {
    (void)cuCtxPopCurrent(&context);
    (void)cuDevicePrimaryCtxRelease(device);
}

/* Registers those of A, B, C, D whose bit is set, one after the other. */
static void pin(const operands_t *x, int device, unsigned which) {
    CUcontext context = enter(device);
    for (int i = 0; i < 4; ++i)
        if ((which >> i & 1) && !(i == 3 && x->d.block == x->c.block))
            CHECK(cuMemHostRegister(operand(x, i)->block, operand(x, i)->block_bytes, 0) ==
                      CUDA_SUCCESS,
                  "registering operand %d", i);
    leave(context, device);
}

static void unpin(const operands_t *x, int device, unsigned which) {
    CUcontext context = enter(device);
    for (int i = 0; i < 4; ++i)
        if ((which >> i & 1) && !(i == 3 && x->d.block == x->c.block))
            CHECK(cuMemHostUnregister(operand(x, i)->block) == CUDA_SUCCESS, "operand %d", i);
    leave(context, device);
}

/* ---- one run ---- */

static tcgemm_status_t run_on(const testcase_t *t, const tcgemm_plan_t *plan, int device, way_t way,
                              void *const data[4]) {
    tcgemm_run_stats_t stats = {.struct_size = sizeof stats};
    if (way == GPU_ASYNC)
        return run_async(t, plan, device, data);
    if (way == GPU_WORKSPACE)
        return run_in_workspace(t, plan, device, data);
    if (way == HOST || way == GPU)
        return tcgemm_run(plan, t->alpha, data[0], data[1], t->beta, data[2], data[3]);
    const tcgemm_status_t status = tcgemm_run_with(plan, t->alpha, data[0], data[1], t->beta,
                                                   data[2], data[3], NULL, 0, &stats);
    if (way == HOST_STATS && (t->alpha == 0 || t->p.k == 0))
        return status; /* nothing goes to the GPU */
    CHECK(stats.product_seconds > 0 && stats.total_seconds > 0, "%g s of products, %g s in all",
          stats.product_seconds, stats.total_seconds);
    CHECK((stats.transfer_seconds > 0) == (way == HOST_STATS), "%g s of transfers",
          stats.transfer_seconds);
    return status;
}

bool product_is_right(const testcase_t *t, tcgemm_context_t *context, int device, way_t way) {
    const int before = num_failures();
    operands_t x;
    on_gpu_t there = {.device = device};
    operands_make(t, &x);
    tcgemm_plan_t *plan = plan_of(context, &t->p, t->kernel);
    const bool on_gpu = way >= GPU;
    const unsigned pinned = way == HOST_STATS ? 15 - (unsigned)(t->seed % 16) : 0;
    void *data[4] = {x.a.data, x.b.data, x.c.data, x.d.data};
    if (pinned)
        pin(&x, device, pinned);
    if (plan && on_gpu && !on_gpu_make(&x, device, &there))
        testcase_fail(t, "no memory on the GPU: %s", tcgemm_last_error());
    for (int i = 0; on_gpu && i < 4; ++i)
        data[i] = on_gpu_data(&there, i);
    if (plan && num_failures() == before) {
        const tcgemm_status_t status = run_on(t, plan, device, way, data);
        if (status != TCGEMM_STATUS_OK)
            testcase_fail(t, "%s: %s", tcgemm_status_name(status), tcgemm_last_error());
        else if (on_gpu && !on_gpu_fetch(&there))
            testcase_fail(t, "D does not come back: %s", tcgemm_last_error());
        else
            (void)judge(t, &x, plan);
    }
    tcgemm_plan_destroy(plan);
    on_gpu_free(&there);
    if (pinned)
        unpin(&x, device, pinned);
    operands_free(&x);
    return num_failures() == before;
}

/* ---- random cases ---- */

static const tcgemm_type_t gpu_types[] = {
    TCGEMM_F16_F32,  TCGEMM_F16_F16,  TCGEMM_BF16_F32, TCGEMM_BF16_BF16, TCGEMM_TF32_F32,
    TCGEMM_F32_F32,  TCGEMM_F64_F64,  TCGEMM_S8_S32,   TCGEMM_U8_S32,    TCGEMM_U8S8_S32,
    TCGEMM_S8U8_S32, TCGEMM_E4M3_F32, TCGEMM_E5M2_BF16};

int num_common_types(void) {
    int count = 0;
    while (tcgemm_dtype_bits(tcgemm_type_info(gpu_types[count])->a) > 8 ||
           tcgemm_type_info(gpu_types[count])->d == TCGEMM_DTYPE_S32)
        ++count;
    return count;
}

int num_gpu_types(void) {
    return (int)(sizeof gpu_types / sizeof gpu_types[0]);
}

tcgemm_type_t gpu_type(int index) {
    return gpu_types[index];
}

static int64_t lines_of(const tcgemm_problem_t *p, int64_t rows, int64_t cols) {
    return p->order == TCGEMM_ROW_MAJOR ? rows : cols;
}

/* A leading dimension that is tight, odd, or a multiple of 16 bytes. */
static int64_t some_ld(uint64_t *random, int64_t length) {
    static const int64_t more[] = {0, 0, 3, 16};
    const int64_t ld = length + more[random_below(random, 4)];
    return random_below(random, 3) == 0 ? (ld + 15) / 16 * 16 : ld;
}

testcase_t random_case(uint64_t *random, tcgemm_type_t type, int64_t most) {
    tcgemm_problem_t p =
        tcgemm_problem(type, 1 + random_below(random, most), 1 + random_below(random, most),
                       1 + random_below(random, most));
    p.order = random_below(random, 2) ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
    p.op_a = random_below(random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.op_b = random_below(random, 2) ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.batch = random_below(random, 3) ? 1 : 1 + random_below(random, 4);
    const int64_t rows[] = {p.op_a ? p.k : p.m, p.op_b ? p.n : p.k, p.m, p.m};
    const int64_t cols[] = {p.op_a ? p.m : p.k, p.op_b ? p.k : p.n, p.n, p.n};
    int64_t *const lds[] = {&p.lda, &p.ldb, &p.ldc, &p.ldd};
    int64_t *const strides[] = {&p.stride_a, &p.stride_b, &p.stride_c, &p.stride_d};
    for (int i = 0; i < 4; ++i) {
        *lds[i] = some_ld(random, lines_of(&p, cols[i], rows[i]));
        if (p.batch > 1)
            *strides[i] = *lds[i] * lines_of(&p, rows[i], cols[i]) + random_below(random, 9);
    }
    if (p.batch > 1 && random_below(random, 3) == 0)
        p.stride_b = 0;
    testcase_t t = testcase_make(NULL, p, random_next(random));
    const int scalars = (int)random_below(random, 4);
    t.alpha = scalars == 0 ? 1 : 2;
    t.beta = scalars < 2 ? 0 : scalars == 2 ? 1 : -3;
    t.in_place = t.beta != 0 && random_below(random, 2) == 0;
    if (t.in_place) {
        t.p.ldd = t.p.ldc;
        t.p.stride_d = t.p.stride_c;
    }
    t.misalign = random_below(random, 2) ? tcgemm_dtype_bits(tcgemm_type_info(type)->d) / 8 : 0;
    return t;
}
