/* peer_cublaslt.c - the few functions of cublasLt that the bench needs.
 *
 * It thinks in columns. A row-major D = op(A) op(B) is, read by columns, D^T = op(B)^T op(A)^T, and
 * the stored arrays are already those transposes: swapping A with B and m with n is all there is.
 */
#include "bench/peer_cublaslt.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/layout.h"

/* The numbers of cublasLt.h and library_types.h; they are its binary interface. */
enum {
    R_32F = 0,
    R_64F = 1,
    R_16F = 2,
    R_8I = 3,
    R_32I = 10,
    R_16BF = 14,
    R_8F_E4M3 = 28,
    R_8F_E5M2 = 29,

    COMPUTE_16F = 64,
    COMPUTE_32F = 68,
    COMPUTE_64F = 70,
    COMPUTE_32I = 72,
    COMPUTE_32F_FAST_TF32 = 77,

    DESC_TRANSA = 3,
    DESC_TRANSB = 4,
    LAYOUT_BATCH_COUNT = 5,
    LAYOUT_BATCH_STRIDE = 6,
    PREF_MAX_WORKSPACE = 1,
};

enum { MAX_PROPOSALS = 32, RUNS = 3 };

/* What takes longer needs no repetition, and what is so much slower at first no second chance: a
 * suite must not spend its minutes on choosing. */
static const double long_run = 2e-3;
static const double hopeless = 1.25;

static const size_t workspace_bytes = (size_t)64 << 20;

typedef struct algorithm {
    uint64_t data[8];
} algorithm_t;

typedef struct proposal {
    algorithm_t algorithm;
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
} proposal_t;

struct cublaslt {
    void *library, *handle, *workspace;
    int device;
    gpu_clock_t *clock;
    char version[32];
    size_t (*get_version)(void);
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*desc_create)(void **desc, int compute, int scale);
    int (*desc_set)(void *desc, int attribute, const void *value, size_t size);
    int (*desc_destroy)(void *desc);
    int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld);
    int (*layout_set)(void *layout, int attribute, const void *value, size_t size);
    int (*layout_destroy)(void *layout);
    int (*pref_create)(void **pref);
    int (*pref_set)(void *pref, int attribute, const void *value, size_t size);
    int (*pref_destroy)(void *pref);
    int (*propose)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *pref,
                   int wanted, proposal_t *proposals, int *count);
    int (*matmul)(void *handle, void *desc, const void *alpha, const void *a, void *a_layout,
                  const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,
                  void *d, void *d_layout, const algorithm_t *algorithm, void *workspace,
                  size_t workspace_bytes, void *stream);
};

/* A scalar in any of its types; the library reads as many bytes as the type has. */
typedef union scalar {
    double f64;
    float f32;
    int32_t s32;
    uint16_t f16;
} scalar_t;

struct cublaslt_plan {
    const cublaslt_t *lt;
    bool swapped;
    void *desc, *layouts[4]; /* of the first and second factor, C and D */
    scalar_t alpha, beta;
    algorithm_t algorithm;
};

/* ---- the library ---- */

/* ISO C has no cast from an object pointer to a function pointer; POSIX promises equal bits. */
static bool find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_all(cublaslt_t *lt) {
    void *const library = lt->library;
    return find(library, "cublasLtGetVersion", &lt->get_version) &&
           find(library, "cublasLtCreate", &lt->create) &&
           find(library, "cublasLtDestroy", &lt->destroy) &&
           find(library, "cublasLtMatmulDescCreate", &lt->desc_create) &&
           find(library, "cublasLtMatmulDescSetAttribute", &lt->desc_set) &&
           find(library, "cublasLtMatmulDescDestroy", &lt->desc_destroy) &&
           find(library, "cublasLtMatrixLayoutCreate", &lt->layout_create) &&
           find(library, "cublasLtMatrixLayoutSetAttribute", &lt->layout_set) &&
           find(library, "cublasLtMatrixLayoutDestroy", &lt->layout_destroy) &&
           find(library, "cublasLtMatmulPreferenceCreate", &lt->pref_create) &&
           find(library, "cublasLtMatmulPreferenceSetAttribute", &lt->pref_set) &&
           find(library, "cublasLtMatmulPreferenceDestroy", &lt->pref_destroy) &&
           find(library, "cublasLtMatmulAlgoGetHeuristic", &lt->propose) &&
           find(library, "cublasLtMatmul", &lt->matmul);
}

static bool start(cublaslt_t *lt, const char **why) {
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !lt->library; ++i)
        lt->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    *why = "libcublasLt.so.13 or .12 is not where the loader looks (see LD_LIBRARY_PATH)";
    if (!lt->library)
        return false;
    *why = "libcublasLt lacks a function";
    if (!find_all(lt))
        return false;
    *why = "libcublasLt does not start on this GPU";
    if (lt->create(&lt->handle) != 0)
        return false;
    *why = "no GPU memory for its workspace";
    return tcgemm_device_alloc(lt->device, workspace_bytes, &lt->workspace) == TCGEMM_STATUS_OK;
}

cublaslt_t *cublaslt_open(gpu_clock_t *clock, int device, const char **why) {
    cublaslt_t *lt = calloc(1, sizeof *lt);
    *why = "no memory";
    if (!lt)
        return NULL;
    lt->clock = clock;
    lt->device = device;
    if (!start(lt, why)) {
        cublaslt_close(lt);
        return NULL;
    }
    const size_t version = lt->get_version(); /* 130002 is 13.0.2 */
    (void)snprintf(lt->version, sizeof lt->version, "%zu.%zu.%zu", version / 10000,
                   version / 100 % 100, version % 100);
    return lt;
}

/* The library stays open: it keeps state in the context that it cannot take with it. */
void cublaslt_close(cublaslt_t *lt) {
    if (!lt)
        return;
    (void)tcgemm_device_free(lt->device, lt->workspace);
    if (lt->handle)
        (void)lt->destroy(lt->handle);
    free(lt);
}

const char *cublaslt_version(const cublaslt_t *lt) {
    return lt->version;
}

/* ---- one problem ---- */

/* The library's name of a dtype, or -1. */
static int type_of(tcgemm_dtype_t dtype) {
    switch (dtype) {
    case TCGEMM_DTYPE_F64:
        return R_64F;
    case TCGEMM_DTYPE_F32:
        return R_32F;
    case TCGEMM_DTYPE_F16:
        return R_16F;
    case TCGEMM_DTYPE_BF16:
        return R_16BF;
    case TCGEMM_DTYPE_E4M3:
        return R_8F_E4M3;
    case TCGEMM_DTYPE_E5M2:
        return R_8F_E5M2;
    case TCGEMM_DTYPE_S32:
        return R_32I;
    case TCGEMM_DTYPE_S8:
        return R_8I;
    case TCGEMM_DTYPE_U8:
    case TCGEMM_DTYPE_S4:
    case TCGEMM_DTYPE_U4:
    case TCGEMM_DTYPE_B1:
        break;
    }
    return -1;
}

/* How it computes: the sum's type, which is that of alpha and beta, too. */
static int compute_of(const tcgemm_problem_t *p, int *scale) {
    *scale = R_32F;
    if (p->type == TCGEMM_F64_F64) {
        *scale = R_64F;
        return COMPUTE_64F;
    }
    if (p->type == TCGEMM_S8_S32) {
        *scale = R_32I;
        return COMPUTE_32I;
    }
    if (p->type == TCGEMM_F16_F16 && (p->flags & TCGEMM_FLAG_F16_ACCUMULATE)) {
        *scale = R_16F;
        return COMPUTE_16F;
    }
    return p->type == TCGEMM_TF32_F32 ? COMPUTE_32F_FAST_TF32 : COMPUTE_32F;
}

static scalar_t scalar_of(double value, int type) {
    scalar_t s = {0};
    if (type == R_64F)
        s.f64 = value;
    else if (type == R_32I)
        s.s32 = (int32_t)value;
    else if (type == R_16F)
        (void)tcgemm_convert(TCGEMM_DTYPE_F16, &s.f16, TCGEMM_DTYPE_F64, &value, 1);
    else
        s.f32 = (float)value;
    return s;
}

/* Read by columns, a stored line is a column. */
static bool make_layout(const cublaslt_t *lt, const tcgemm_problem_t *p, char operand,
                        void **layout) {
    const layout_t x = layout_of(p, operand);
    if (type_of(x.dtype) < 0 || x.batch > INT32_MAX ||
        lt->layout_create(layout, type_of(x.dtype), (uint64_t)x.length, (uint64_t)x.lines, x.ld) !=
            0)
        return false;
    if (x.batch == 1)
        return true;
    const int32_t batch = (int32_t)x.batch;
    return lt->layout_set(*layout, LAYOUT_BATCH_COUNT, &batch, sizeof batch) == 0 &&
           lt->layout_set(*layout, LAYOUT_BATCH_STRIDE, &x.stride, sizeof x.stride) == 0;
}

static bool describe(cublaslt_plan_t *plan, const tcgemm_problem_t *p, double alpha, double beta) {
    const cublaslt_t *lt = plan->lt;
    int scale;
    const int compute = compute_of(p, &scale);
    plan->swapped = p->order == TCGEMM_ROW_MAJOR;
    plan->alpha = scalar_of(alpha, scale);
    plan->beta = scalar_of(beta, scale);
    if (lt->desc_create(&plan->desc, compute, scale) != 0)
        return false;
    const int32_t op_a = p->op_a == TCGEMM_OP_T;
    const int32_t op_b = p->op_b == TCGEMM_OP_T;
    return lt->desc_set(plan->desc, DESC_TRANSA, plan->swapped ? &op_b : &op_a, sizeof op_a) == 0 &&
           lt->desc_set(plan->desc, DESC_TRANSB, plan->swapped ? &op_a : &op_b, sizeof op_b) == 0 &&
           make_layout(lt, p, plan->swapped ? 'B' : 'A', &plan->layouts[0]) &&
           make_layout(lt, p, plan->swapped ? 'A' : 'B', &plan->layouts[1]) &&
           make_layout(lt, p, 'C', &plan->layouts[2]) && make_layout(lt, p, 'D', &plan->layouts[3]);
}

static int ask(const cublaslt_plan_t *plan, proposal_t proposals[MAX_PROPOSALS]) {
    const cublaslt_t *lt = plan->lt;
    void *pref = NULL;
    int count = 0;
    if (lt->pref_create(&pref) != 0)
        return 0;
    if (lt->pref_set(pref, PREF_MAX_WORKSPACE, &workspace_bytes, sizeof workspace_bytes) != 0 ||
        lt->propose(lt->handle, plan->desc, plan->layouts[0], plan->layouts[1], plan->layouts[2],
                    plan->layouts[3], pref, MAX_PROPOSALS, proposals, &count) != 0)
        count = 0;
    (void)lt->pref_destroy(pref);
    return count;
}

bool cublaslt_run(const cublaslt_plan_t *plan, const gpu_set_t *set) {
    const cublaslt_t *lt = plan->lt;
    return lt->matmul(lt->handle, plan->desc, &plan->alpha, plan->swapped ? set->b : set->a,
                      plan->layouts[0], plan->swapped ? set->a : set->b, plan->layouts[1],
                      &plan->beta, set->c, plan->layouts[2], set->d, plan->layouts[3],
                      &plan->algorithm, lt->workspace, workspace_bytes,
                      gpu_clock_stream(lt->clock)) == 0;
}

/* Of one run with the plan's algorithm; infinity if it does not run. */
static double time_of(const cublaslt_plan_t *plan, const gpu_set_t *set) {
    double seconds = INFINITY;
    gpu_clock_t *clock = plan->lt->clock;
    bool good =
        gpu_clock_start(clock) && cublaslt_run(plan, set) && gpu_clock_stop(clock, &seconds);
    if (!good || seconds > long_run)
        return good ? seconds : INFINITY;
    good = gpu_clock_start(clock);
    for (int i = 0; i < RUNS && good; ++i)
        good = cublaslt_run(plan, set);
    return good && gpu_clock_stop(clock, &seconds) ? seconds / RUNS : INFINITY;
}

static bool choose(cublaslt_plan_t *plan, const gpu_set_t *set) {
    proposal_t proposals[MAX_PROPOSALS];
    double first[MAX_PROPOSALS];
    for (int i = 0; i < MAX_PROPOSALS; ++i)
        first[i] = INFINITY;
    const int count = ask(plan, proposals);
    double least = INFINITY;
    algorithm_t best = {{0}};
    for (int i = 0; i < 2 * count; ++i) {
        const int which = i % count;
        if (proposals[which].state != 0 || (i >= count && !(first[which] <= hopeless * least)))
            continue;
        plan->algorithm = proposals[which].algorithm;
        const double seconds = time_of(plan, set);
        if (i < count)
            first[which] = seconds;
        if (seconds < least) {
            least = seconds;
            best = plan->algorithm;
        }
    }
    plan->algorithm = best;
    return least < INFINITY;
}

cublaslt_plan_t *cublaslt_plan(cublaslt_t *lt, const tcgemm_problem_t *problem, double alpha,
                               double beta, const gpu_set_t *set) {
    cublaslt_plan_t *plan = calloc(1, sizeof *plan);
    if (!plan)
        return NULL;
    plan->lt = lt;
    if (describe(plan, problem, alpha, beta) && choose(plan, set))
        return plan;
    cublaslt_plan_free(plan);
    return NULL;
}

void cublaslt_plan_free(cublaslt_plan_t *plan) {
    if (!plan)
        return;
    for (int i = 0; i < 4; ++i)
        if (plan->layouts[i])
            (void)plan->lt->layout_destroy(plan->layouts[i]);
    if (plan->desc)
        (void)plan->lt->desc_destroy(plan->desc);
    free(plan);
}
