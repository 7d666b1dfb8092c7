/* fast.c - the short way for a product of NumPy matrices that has been seen before.
 *
 * Most of a small product's time goes by finding out what it is. Where the types, dtypes, shapes
 * and strides of a, b and out are those of an earlier call, its plan is the plan; what depends on
 * the addresses (alignment, overlap) the library checks in every call. Everything else takes the
 * long way, also what fails here: it finds the right words.
 *
 * A signature that comes for the first time is only noted: a plan is worth its making from the
 * second time on.
 */
#include "core.h"

static bool matches(const mark_t *mark, PyObject *object, bool is_written) {
    const numpy_head_t *const head = (const numpy_head_t *)(const void *)object;
    return Py_TYPE(object) == mark->type && head->dtype == mark->dtype && head->ndim == 2 &&
           head->shape[0] == mark->shape[0] && head->shape[1] == mark->shape[1] &&
           head->strides[0] == mark->strides[0] && head->strides[1] == mark->strides[1] &&
           (!is_written || (head->flags & NUMPY_WRITEABLE));
}

static char *data_of(PyObject *object) {
    return ((const numpy_head_t *)(const void *)object)->data;
}

/* Whether the object may be marked: of a NumPy type and a dtype whose heads have been proved. */
static bool set_mark(const state_t *state, const operand_t *x, mark_t *mark) {
    const numpy_head_t *const head = (const numpy_head_t *)(const void *)x->object;
    if (Py_TYPE(x->object) != state->numpy_type || x->ndim != 2)
        return false;
    for (int i = 0; i < state->num_learned; ++i)
        if (state->learned[i].object == head->dtype) {
            mark->type = Py_TYPE(x->object);
            mark->dtype = head->dtype;
            for (int axis = 0; axis < 2; ++axis) {
                mark->shape[axis] = head->shape[axis];
                mark->strides[axis] = head->strides[axis];
            }
            return true;
        }
    return false;
}

fast_t *tcpy_fast_slot(state_t *state, PyObject *a, PyObject *b) {
    if (state->num_learned == 0 || Py_TYPE(a) != state->numpy_type ||
        Py_TYPE(b) != state->numpy_type)
        return NULL;
    const numpy_head_t *const x = (const numpy_head_t *)(const void *)a;
    const numpy_head_t *const y = (const numpy_head_t *)(const void *)b;
    if (x->ndim != 2 || y->ndim != 2)
        return NULL;
    const size_t mix = (size_t)x->shape[0] * 31 + (size_t)x->shape[1] * 7 + (size_t)y->shape[1] +
                       ((size_t)x->strides[0] >> 3) + ((size_t)y->strides[0] >> 2);
    return &state->fast[(mix ^ mix >> 4) % MAX_FAST];
}

static tcgemm_status_t run(const fast_t *f, double alpha, PyObject *a, PyObject *b, PyObject *d) {
    const char *const pa = data_of(a), *const pb = data_of(b);
    char *const pd = data_of(d);
    shared_plan_t *const plan = f->plan;
    tcgemm_status_t status;
    if (f->is_short)
        return tcgemm_run(plan->plan, alpha, pa, pb, 0.0, NULL, pd);
    ++plan->users; /* the slot may be given to another while the GIL is away */
    Py_BEGIN_ALLOW_THREADS status = tcgemm_run(plan->plan, alpha, pa, pb, 0.0, NULL, pd);
    Py_END_ALLOW_THREADS tcpy_drop_plan(plan);
    return status;
}

/* The result, or NULL without an exception: then the long way is to be taken. */
PyObject *tcpy_fast(state_t *state, const fast_t *f, double alpha, PyObject *a, PyObject *b,
                    PyObject *out) {
    if (!f || !f->plan || !matches(&f->a, a, false) || !matches(&f->b, b, false))
        return NULL;
    PyObject *d = out;
    if (!out) {
        d = PyObject_CallFunctionObjArgs(state->numpy_empty, f->shape, f->d.dtype, NULL);
        if (!d) {
            PyErr_Clear();
            return NULL;
        }
    } else {
        Py_INCREF(d);
    }
    if (matches(&f->d, d, true) && run(f, alpha, a, b, d) == TCGEMM_STATUS_OK)
        return d;
    Py_DECREF(d);
    return NULL;
}

void tcpy_fast_clear(fast_t *f) {
    if (f->plan)
        tcpy_drop_plan(f->plan);
    Py_CLEAR(f->shape);
    f->plan = NULL;
    f->is_noted = false;
}

static bool is_noted(const fast_t *f, const mark_t *a, const mark_t *b, const mark_t *d) {
    const mark_t *const has[] = {&f->a, &f->b, &f->d}, *const sees[] = {a, b, d};
    bool same = f->is_noted && !f->plan;
    for (int i = 0; same && i < 3; ++i)
        same = has[i]->type == sees[i]->type && has[i]->dtype == sees[i]->dtype &&
               has[i]->shape[0] == sees[i]->shape[0] && has[i]->shape[1] == sees[i]->shape[1] &&
               has[i]->strides[0] == sees[i]->strides[0] &&
               has[i]->strides[1] == sees[i]->strides[1];
    return same;
}

/* Notes a product that went well, with its plan from the second time on (`plan` if it is one's
 * own). Never raises. */
void tcpy_fast_note(state_t *state, fast_t *f, const operand_t *a, const operand_t *b,
                    const operand_t *d, const tcgemm_problem_t *problem, const options_t *options,
                    shared_plan_t *plan, bool is_short) {
    mark_t marks[3];
    if (!set_mark(state, a, &marks[0]) || !set_mark(state, b, &marks[1]) ||
        !set_mark(state, d, &marks[2]))
        return;
    const bool is_known = plan || is_noted(f, &marks[0], &marks[1], &marks[2]);
    if (!is_known) {
        tcpy_fast_clear(f);
    } else if (plan) {
        tcpy_fast_clear(f);
        f->plan = plan;
        ++plan->users;
    } else if (tcpy_make_plan(options, problem, 0, &f->plan) == TCGEMM_STATUS_OK) {
        tcgemm_plan_info_t info = {.struct_size = sizeof info};
        (void)tcgemm_plan_get_info(f->plan->plan, &info);
        if (info.device_index != TCGEMM_DEVICE_CPU) /* may be lost: the library looks after those */
            tcpy_fast_clear(f);
    }
    f->a = marks[0];
    f->b = marks[1];
    f->d = marks[2];
    f->is_noted = true;
    f->is_short = is_short;
    if (f->plan && !f->shape) {
        f->shape = Py_BuildValue("(nn)", marks[2].shape[0], marks[2].shape[1]);
        if (!f->shape || !state->numpy_empty)
            tcpy_fast_clear(f);
        PyErr_Clear();
    }
}
