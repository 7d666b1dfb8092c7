/* ffi.c - products for a compiler of array programs: without Python, in any thread, perhaps at the
 * same time.
 *
 * The address of tcpy_ffi_multiply goes to the handler in tcgemm/xla_ffi.cc (docs/decisions/0017).
 * Plans for GPUs are kept here, under a lock; those for the CPU are kept by the library.
 */
#include "core.h"

#include <pthread.h>
#include <string.h>

#include "../tcgemm/ffi_call.h"

/* ---- the batch: its inner axes as one stride, the outer ones as a loop ---- */

typedef struct item {
    int64_t m, n, k;
    int64_t a, b, c, d; /* bytes of one matrix; 0: there is none */
} item_t;

static int64_t extent(const tcpy_ffi_call_t *x, int64_t axis) {
    int64_t most = x->a_dims[axis] == 1 ? x->b_dims[axis] : x->a_dims[axis];
    if (most == 1 && x->c_dims)
        most = x->c_dims[axis];
    return most;
}

/* Whether the axis continues what the batch inside it does, for an operand. */
static bool continues(const int64_t *dims, int64_t axis, bool is_shared, int64_t inner) {
    return !dims || inner == 1 || (dims[axis] == 1) == is_shared;
}

static bool is_shared(const int64_t *dims, int64_t first, int64_t end) {
    for (int64_t axis = first; dims && axis < end; ++axis)
        if (dims[axis] != 1)
            return false;
    return true;
}

/* Axes first .. rank-2 make one batch; the first of them. */
static int64_t find_inner(const tcpy_ffi_call_t *x, int64_t *batch) {
    const int64_t end = x->rank - 2;
    int64_t first = end;
    *batch = 1;
    while (first > 0) {
        const int64_t axis = first - 1, size = extent(x, axis);
        if (size != 1 && (!continues(x->a_dims, axis, is_shared(x->a_dims, first, end), *batch) ||
                          !continues(x->b_dims, axis, is_shared(x->b_dims, first, end), *batch) ||
                          !continues(x->c_dims, axis, is_shared(x->c_dims, first, end), *batch)))
            break;
        *batch *= size;
        first = axis;
    }
    return first;
}

/* Matrices of an operand before the item with this number of the outer axes 0 .. outer. */
static int64_t matrices_before(const tcpy_ffi_call_t *x, const int64_t *dims, int64_t outer,
                               int64_t item) {
    int64_t before = 0, stride = 1;
    for (int64_t axis = x->rank - 3; axis >= outer; --axis)
        stride *= dims[axis];
    for (int64_t axis = outer - 1; axis >= 0; --axis) {
        const int64_t size = extent(x, axis);
        if (dims[axis] != 1)
            before += item % size * stride;
        item /= size;
        stride *= dims[axis];
    }
    return before;
}

/* ---- plans for GPUs ---- */

enum { MAX_GPU_PLANS = 64 };

static struct {
    pthread_mutex_t lock;
    shared_plan_t *plans[MAX_GPU_PLANS];
    unsigned next;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The plan, with one user more. */
static tcgemm_status_t take_plan(int device, const tcgemm_problem_t *problem,
                                 shared_plan_t **plan) {
    options_t options;
    memset(&options, 0, sizeof options);
    options.device = device;
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    *plan = NULL;
    (void)pthread_mutex_lock(&kept.lock);
    for (int i = 0; i < MAX_GPU_PLANS && !*plan; ++i)
        if (kept.plans[i] && kept.plans[i]->options.device == device &&
            tcpy_is_same_problem(&kept.plans[i]->problem, problem))
            *plan = kept.plans[i];
    if (!*plan) {
        shared_plan_t **const slot = &kept.plans[kept.next++ % MAX_GPU_PLANS];
        status = tcpy_make_plan(&options, problem, 0, plan);
        if (status == TCGEMM_STATUS_OK) {
            if (*slot)
                tcpy_drop_plan(*slot);
            *slot = *plan;
        }
    }
    if (*plan)
        ++(*plan)->users;
    (void)pthread_mutex_unlock(&kept.lock);
    return status;
}

static void give_plan(shared_plan_t *plan) {
    (void)pthread_mutex_lock(&kept.lock);
    tcpy_drop_plan(plan);
    (void)pthread_mutex_unlock(&kept.lock);
}

/* ---- the product ---- */

static tcgemm_status_t run_item(const tcpy_ffi_call_t *x, const tcgemm_problem_t *p,
                                const shared_plan_t *plan, const char *a, const char *b,
                                const char *c, char *d) {
    if (plan)
        return tcgemm_run_async(plan->plan, x->alpha, a, b, x->beta, c, d, NULL, 0, x->stream);
    return tcgemm_gemm(p, x->alpha, a, b, x->beta, c, d);
}

static tcgemm_problem_t problem_of(const tcpy_ffi_call_t *x, tcgemm_type_t type, item_t *item,
                                   int64_t inner, int64_t batch) {
    const tcgemm_type_info_t *const facts = tcgemm_type_info(type);
    const int64_t end = x->rank - 2;
    const int64_t *const a = x->a_dims + end, *const b = x->b_dims + end;
    item->m = a[x->trans_a ? 1 : 0];
    item->k = a[x->trans_a ? 0 : 1];
    item->n = b[x->trans_b ? 0 : 1];
    item->a = item->m * item->k * tcgemm_dtype_bits(facts->a) / 8;
    item->b = item->k * item->n * tcgemm_dtype_bits(facts->b) / 8;
    item->d = item->m * item->n * tcgemm_dtype_bits(facts->d) / 8;
    item->c = x->c_dims ? item->d : 0;
    tcgemm_problem_t p = tcgemm_problem(type, item->m, item->n, item->k);
    p.op_a = x->trans_a ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.op_b = x->trans_b ? TCGEMM_OP_T : TCGEMM_OP_N;
    p.batch = batch;
    p.stride_a = is_shared(x->a_dims, inner, end) ? 0 : item->m * item->k;
    p.stride_b = is_shared(x->b_dims, inner, end) ? 0 : item->k * item->n;
    p.stride_c = is_shared(x->c_dims, inner, end) ? 0 : item->m * item->n;
    p.stride_d = item->m * item->n;
    return p;
}

static tcgemm_status_t multiply(const tcpy_ffi_call_t *x, tcgemm_type_t type) {
    int64_t batch, count = 1;
    item_t item;
    const int64_t inner = find_inner(x, &batch);
    const tcgemm_problem_t p = problem_of(x, type, &item, inner, batch);
    shared_plan_t *plan = NULL;
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    if (x->device != TCPY_FFI_HOST)
        status = take_plan(x->device, &p, &plan);
    for (int64_t axis = 0; axis < inner; ++axis)
        count *= extent(x, axis);
    for (int64_t i = 0; i < count && status == TCGEMM_STATUS_OK; ++i) {
        const char *const a = (const char *)x->a + matrices_before(x, x->a_dims, inner, i) * item.a;
        const char *const b = (const char *)x->b + matrices_before(x, x->b_dims, inner, i) * item.b;
        const char *const c =
            x->c_dims ? (const char *)x->c + matrices_before(x, x->c_dims, inner, i) * item.c
                      : NULL;
        status = run_item(x, &p, plan, a, b, c, (char *)x->d + i * batch * item.d);
    }
    if (plan)
        give_plan(plan);
    return status;
}

static const char *ffi_multiply(const tcpy_ffi_call_t *call) {
    tcgemm_type_t type;
    if (call->version != TCPY_FFI_VERSION)
        return "the handler was compiled for another version of tcgemm";
    if (tcgemm_type_from_name(call->type, &type) != TCGEMM_STATUS_OK)
        return tcgemm_last_error();
    return multiply(call, type) == TCGEMM_STATUS_OK ? NULL : tcgemm_last_error();
}

PyObject *tcpy_ffi_address(PyObject *module, PyObject *none) {
    tcpy_ffi_multiply_t *const address = ffi_multiply;
    (void)module;
    (void)none;
    return PyLong_FromVoidPtr((void *)(uintptr_t)address);
}
