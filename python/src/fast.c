/* fast.c - the short way for a product of matrices that has been seen before: of NumPy's arrays,
 * and of tensors whose package has an exchange table (torch), on the host or on a GPU.
 *
 * Most of a small product's time goes by finding out what it is. Where the types, dtypes, shapes
 * and strides of a, b and out are those of an earlier call, its plan is the plan; what depends on
 * the addresses (alignment, overlap) the library checks in every call. Everything else takes the
 * long way, also what fails here: it finds the right words.
 *
 * A signature that comes for the first time is only noted: a plan is worth its making from the
 * second time on.
 */
#include <stdlib.h>

#include "core.h"

/* ---- what a matrix is ---- */

static bool matches_array(const mark_t *mark, PyObject *object, bool is_written) {
    const numpy_head_t *const head = (const numpy_head_t *)(const void *)object;
    return Py_TYPE(object) == mark->type && head->dtype == mark->dtype && head->ndim == 2 &&
           head->shape[0] == mark->shape[0] && head->shape[1] == mark->shape[1] &&
           head->strides[0] == mark->strides[0] && head->strides[1] == mark->strides[1] &&
           (!is_written || (head->flags & NUMPY_WRITEABLE));
}

static uint64_t element_of(tcpy_dl_type_t dtype, tcpy_dl_device_t device) {
    return (uint64_t)dtype.code | (uint64_t)dtype.bits << 8 | (uint64_t)dtype.lanes << 16 |
           (uint64_t)(uint16_t)device.type << 32 | (uint64_t)(uint16_t)device.id << 48;
}

static bool matches_tensor(const mark_t *mark, const tcpy_dl_tensor_t *t) {
    return t->shape[0] == mark->shape[0] && t->shape[1] == mark->shape[1] &&
           t->strides[0] == mark->strides[0] && t->strides[1] == mark->strides[1] &&
           element_of(t->dtype, t->device) == mark->element;
}

static char *data_of(PyObject *object) {
    return ((const numpy_head_t *)(const void *)object)->data;
}

static char *data_of_tensor(const tcpy_dl_tensor_t *t) {
    return (char *)t->data + t->byte_offset;
}

/* Whether the object may be marked: of a NumPy type and a dtype whose heads have been proved. */
static bool set_array_mark(const state_t *state, const operand_t *x, mark_t *mark) {
    const numpy_head_t *const head = (const numpy_head_t *)(const void *)x->object;
    for (int i = 0; i < state->num_learned; ++i)
        if (state->learned[i].object == head->dtype) {
            mark->dtype = head->dtype;
            for (int axis = 0; axis < 2; ++axis) {
                mark->shape[axis] = head->shape[axis];
                mark->strides[axis] = head->strides[axis];
            }
            return true;
        }
    return false;
}

static bool set_tensor_mark(const operand_t *x, mark_t *mark) {
    const bool on_gpu = x->device != TCGEMM_DEVICE_CPU;
    const tcpy_dl_device_t device = {on_gpu ? DL_CUDA : DL_CPU, on_gpu ? x->device : 0};
    mark->element = element_of(tcpy_dl_of_dtype((tcgemm_dtype_t)x->dtype), device);
    for (int axis = 0; axis < 2; ++axis) {
        mark->shape[axis] = x->shape[axis];
        mark->strides[axis] = x->strides[axis] / x->itemsize;
    }
    return true;
}

/* Tensors that a table shows without a call of Python's. */
static bool is_viewed(const package_t *package) {
    return package->exchange && package->exchange->view_object;
}

static bool set_mark(const state_t *state, const operand_t *x, mark_t *mark) {
    *mark = (mark_t){.type = Py_TYPE(x->object)};
    if (x->ndim != 2)
        return false;
    if (mark->type == state->numpy_type)
        return set_array_mark(state, x, mark);
    return is_viewed(&x->package) && !x->was_raw && set_tensor_mark(x, mark);
}

/* ---- where it would be kept ---- */

static fast_t *slot_of(state_t *state, size_t mix) {
    return &state->fast[(mix ^ mix >> 4) % MAX_FAST];
}

static fast_t *slot_of_arrays(state_t *state, PyObject *a, PyObject *b) {
    const numpy_head_t *const x = (const numpy_head_t *)(const void *)a;
    const numpy_head_t *const y = (const numpy_head_t *)(const void *)b;
    if (state->num_learned == 0 || Py_TYPE(b) != state->numpy_type || x->ndim != 2 || y->ndim != 2)
        return NULL;
    return slot_of(state, (size_t)x->shape[0] * 31 + (size_t)x->shape[1] * 7 + (size_t)y->shape[1] +
                              ((size_t)x->strides[0] >> 3) + ((size_t)y->strides[0] >> 2));
}

static fast_t *slot_of_tensors(state_t *state, const views_t *v) {
    return slot_of(state, (size_t)v->a.shape[0] * 31 + (size_t)v->a.shape[1] * 7 +
                              (size_t)v->b.shape[1] + (size_t)v->a.strides[0] +
                              ((size_t)v->b.strides[0] << 1) + v->a.dtype.bits);
}

/* ---- running ---- */

/* The caller is a user of the plan: its slot may be given to another while the GIL is away. */
static tcgemm_status_t run(const shared_plan_t *plan, bool is_short, double alpha, const char *a,
                           const char *b, char *d) {
    tcgemm_status_t status;
    if (is_short)
        return tcgemm_run(plan->plan, alpha, a, b, 0.0, NULL, d);
    Py_BEGIN_ALLOW_THREADS status = tcgemm_run(plan->plan, alpha, a, b, 0.0, NULL, d);
    Py_END_ALLOW_THREADS return status;
}

static tcgemm_status_t run_queued(const shared_plan_t *plan, double alpha, const char *a,
                                  const char *b, char *d, void *stream) {
    tcgemm_status_t status;
    Py_BEGIN_ALLOW_THREADS status =
        tcgemm_run_async(plan->plan, alpha, a, b, 0.0, NULL, d, NULL, 0, stream);
    Py_END_ALLOW_THREADS return status;
}

/* ---- arrays of NumPy ---- */

static PyObject *fast_arrays(state_t *state, const fast_t *f, double alpha, PyObject *a,
                             PyObject *b, PyObject *out) {
    if (!f || !f->plan || !matches_array(&f->a, a, false) || !matches_array(&f->b, b, false))
        return NULL;
    shared_plan_t *const plan = f->plan;
    ++plan->users; /* making an array may let others in, who may take the slot */
    PyObject *d;
    if (out) {
        d = Py_NewRef(out);
    } else {
        PyObject *const shape = Py_NewRef(f->shape);
        d = PyObject_CallFunctionObjArgs(state->numpy_empty, shape, f->d.dtype, NULL);
        Py_DECREF(shape);
    }
    const bool is_done =
        d && f->plan == plan && matches_array(&f->d, d, true) &&
        run(plan, f->is_short, alpha, data_of(a), data_of(b), data_of(d)) == TCGEMM_STATUS_OK;
    tcpy_drop_plan(plan);
    if (is_done)
        return d;
    if (!d)
        PyErr_Clear();
    Py_XDECREF(d);
    return NULL;
}

/* ---- tensors ---- */

static bool view_matrix(const tcpy_dl_exchange_t *table, PyObject *object, tcpy_dl_tensor_t *t) {
    if (table->view_object(object, t) == 0)
        return t->ndim == 2 && t->strides;
    PyErr_Clear();
    return false;
}

/* What takes its time only where such calls are noted, or will be. */
static bool view_tensors(state_t *state, PyObject *a, PyObject *b, PyObject *out, views_t *v) {
    PyTypeObject *const type = Py_TYPE(a);
    v->package = NULL;
    if (Py_TYPE(b) != type || (out && Py_TYPE(out) != type))
        return false;
    for (int i = 0; i < state->num_packages && i < MAX_PACKAGES - 1; ++i) /* the last one changes */
        if (state->packages[i].type == type && is_viewed(&state->packages[i]))
            v->package = &state->packages[i];
    if (!v->package)
        return false;
    const tcpy_dl_exchange_t *const table = v->package->exchange;
    return view_matrix(table, a, &v->a) && view_matrix(table, b, &v->b) &&
           (!out || view_matrix(table, out, &v->d));
}

static bool is_plain(const state_t *state, const views_t *v, PyObject *tensor,
                     const tcpy_dl_tensor_t *t) {
    return !v->package->is_torch ||
           tcpy_tensor_is_plain(state, tensor, t->strides[0] % 2 == 0 && t->strides[1] % 2 == 0);
}

static void drop_error(void *context, const char *kind, const char *message) {
    (void)context;
    (void)kind;
    (void)message;
}

/* D's memory, and behind it what DLPack says of it. */
typedef struct host_tensor {
    tcpy_dl_managed_t managed;
    int64_t shape[2], strides[2];
} host_tensor_t;

static void free_host_tensor(tcpy_dl_managed_t *managed) {
    free(managed->tensor.data);
}

/* Torch makes two tensors of the one that its table allocates; this way it makes one. */
static PyObject *new_host_tensor(const fast_t *f, views_t *v) {
    enum { BOUNDARY = 64 };
    const Py_ssize_t rows = f->d.shape[0], cols = f->d.shape[1];
    const size_t bytes = (size_t)(rows * cols) * (uint8_t)(f->d.element >> 8) / 8;
    const size_t at = (bytes + BOUNDARY - 1) / BOUNDARY * BOUNDARY;
    const size_t whole = (at + sizeof(host_tensor_t) + BOUNDARY - 1) / BOUNDARY * BOUNDARY;
    if (f->d.strides[0] != cols || f->d.strides[1] != 1) /* noted of an `out` */
        return NULL;
    char *const data = aligned_alloc(BOUNDARY, whole);
    if (!data)
        return NULL;
    host_tensor_t *const t = (host_tensor_t *)(void *)(data + at);
    *t = (host_tensor_t){
        .managed = {.version = {DL_MAJOR, DL_MINOR}, .deleter = free_host_tensor},
        .shape = {rows, cols},
        .strides = {cols, 1},
    };
    t->managed.tensor = (tcpy_dl_tensor_t){
        .data = data,
        .device = {DL_CPU, 0},
        .ndim = 2,
        .dtype = {(uint8_t)f->d.element, (uint8_t)(f->d.element >> 8), 1},
        .shape = t->shape,
        .strides = t->strides,
    };
    void *object = NULL;
    if (v->package->exchange->to_object(&t->managed, &object) != 0)
        return NULL;
    v->d = t->managed.tensor; /* which lives as long as the object */
    return object;
}

/* A new tensor for D, and what it is. */
static PyObject *new_tensor(const fast_t *f, views_t *v) {
    const tcpy_dl_exchange_t *const table = v->package->exchange;
    if (v->package->is_torch && v->a.device.type == DL_CPU && table->to_object)
        return new_host_tensor(f, v);
    int64_t shape[2] = {f->d.shape[0], f->d.shape[1]};
    tcpy_dl_tensor_t prototype = {.device = v->a.device,
                                  .ndim = 2,
                                  .dtype = {(uint8_t)f->d.element, (uint8_t)(f->d.element >> 8), 1},
                                  .shape = shape};
    tcpy_dl_managed_t *managed = NULL;
    void *object = NULL;
    if (!table->allocate || !table->to_object ||
        table->allocate(&prototype, &managed, NULL, drop_error) != 0 || !managed)
        return NULL;
    if (table->to_object(managed, &object) != 0)
        return NULL;
    if (view_matrix(table, object, &v->d))
        return object;
    Py_DECREF((PyObject *)object);
    return NULL;
}

static tcgemm_status_t run_tensors(const shared_plan_t *plan, bool is_short, double alpha,
                                   const views_t *v) {
    const char *const a = data_of_tensor(&v->a), *const b = data_of_tensor(&v->b);
    void *stream = NULL;
    if (v->a.device.type == DL_CPU)
        return run(plan, is_short, alpha, a, b, data_of_tensor(&v->d));
    if (!v->package->exchange->current_stream ||
        v->package->exchange->current_stream(DL_CUDA, v->a.device.id, &stream) != 0)
        return TCGEMM_STATUS_UNSUPPORTED;
    return run_queued(plan, alpha, a, b, data_of_tensor(&v->d), stream);
}

static PyObject *fast_tensors(const state_t *state, const fast_t *f, double alpha, views_t *v,
                              PyObject *a, PyObject *b, PyObject *out) {
    if (!is_plain(state, v, a, &v->a) || !is_plain(state, v, b, &v->b) ||
        (out && !is_plain(state, v, out, &v->d)) || !f->plan || f->shape ||
        Py_TYPE(a) != f->a.type || !matches_tensor(&f->a, &v->a) || !matches_tensor(&f->b, &v->b))
        return NULL;
    shared_plan_t *const plan = f->plan;
    ++plan->users;
    PyObject *const d = out ? Py_NewRef(out) : new_tensor(f, v);
    const bool is_done = d && f->plan == plan && matches_tensor(&f->d, &v->d) &&
                         run_tensors(plan, f->is_short, alpha, v) == TCGEMM_STATUS_OK;
    tcpy_drop_plan(plan);
    if (is_done)
        return d;
    PyErr_Clear();
    Py_XDECREF(d);
    return NULL;
}

/* ---- the door ---- */

/* The result, or NULL without an exception: then the long way is to be taken. Notes are taken from
 * `own`, a plan's, or from a slot of the module; *slot tells where this call may be noted. */
PyObject *tcpy_fast(state_t *state, fast_t *own, double alpha, PyObject *a, PyObject *b,
                    PyObject *out, fast_t **slot) {
    views_t v;
    *slot = NULL;
    if (state->numpy_type && Py_TYPE(a) == state->numpy_type) {
        *slot = own ? own : slot_of_arrays(state, a, b);
        return fast_arrays(state, *slot, alpha, a, b, out);
    }
    if (!view_tensors(state, a, b, out, &v))
        return NULL;
    *slot = own ? own : slot_of_tensors(state, &v);
    return fast_tensors(state, *slot, alpha, &v, a, b, out);
}

/* ---- notes ---- */

void tcpy_fast_clear(fast_t *f) {
    if (f->plan)
        tcpy_drop_plan(f->plan);
    Py_CLEAR(f->shape);
    f->plan = NULL;
    f->is_noted = false;
}

static bool is_same_mark(const mark_t *x, const mark_t *y) {
    return x->type == y->type && x->dtype == y->dtype && x->element == y->element &&
           x->shape[0] == y->shape[0] && x->shape[1] == y->shape[1] &&
           x->strides[0] == y->strides[0] && x->strides[1] == y->strides[1];
}

static bool is_noted(const fast_t *f, const mark_t *marks) {
    return f->is_noted && !f->plan && is_same_mark(&f->a, &marks[0]) &&
           is_same_mark(&f->b, &marks[1]) && is_same_mark(&f->d, &marks[2]);
}

/* A GPU that arrays of the host are sent to may be lost: the library looks after those. */
static bool is_where(const shared_plan_t *plan, int device) {
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    return tcgemm_plan_get_info(plan->plan, &info) == TCGEMM_STATUS_OK &&
           info.device_index == device;
}

/* Notes a product that went well, with its plan from the second time on (`plan` if it is one's
 * own). Never raises. */
void tcpy_fast_note(state_t *state, fast_t *f, const operand_t *a, const operand_t *b,
                    const operand_t *d, const tcgemm_problem_t *problem, const options_t *options,
                    shared_plan_t *plan, bool is_short) {
    mark_t marks[3];
    if (!set_mark(state, a, &marks[0]) || !set_mark(state, b, &marks[1]) ||
        !set_mark(state, d, &marks[2]) || marks[0].type != marks[1].type ||
        marks[0].type != marks[2].type)
        return;
    const bool is_known = plan || is_noted(f, marks);
    tcpy_fast_clear(f);
    if (plan) {
        f->plan = plan;
        ++plan->users;
    } else if (is_known) {
        (void)tcpy_make_plan(options, problem, 0, &f->plan);
    }
    if (f->plan && !is_where(f->plan, a->device))
        tcpy_fast_clear(f);
    f->a = marks[0];
    f->b = marks[1];
    f->d = marks[2];
    f->is_noted = true;
    f->is_short = is_short;
    if (f->plan && marks[0].dtype) {
        f->shape = Py_BuildValue("(nn)", marks[2].shape[0], marks[2].shape[1]);
        if (!f->shape || !state->numpy_empty)
            tcpy_fast_clear(f);
        PyErr_Clear();
    }
}
