/* ahead.c - tcgemm.pack: an operand brought into the kernel's panels once, multiplied often. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

enum { BOUNDARY = 64, OTHER_SIZE = 256 }; /* the size that packing does not depend on */

/* ---- packing ---- */

/* The problem in which the matrix is the operand that is packed. */
static void set_problem(ahead_t *x, const side_t *s) {
    tcgemm_problem_t *const p = &x->problem;
    const tcgemm_op_t op = s->in_columns ? TCGEMM_OP_T : TCGEMM_OP_N;
    if (x->operand == TCGEMM_OPERAND_A) {
        *p = tcgemm_problem(x->type, x->rows, OTHER_SIZE, x->cols);
        p->op_a = op;
        p->lda = s->ld;
    } else {
        *p = tcgemm_problem(x->type, OTHER_SIZE, x->cols, x->rows);
        p->op_b = op;
        p->ldb = s->ld;
    }
}

static tcgemm_status_t run_packing(ahead_t *x, const tcgemm_plan_t *plan, const void *matrix) {
    tcgemm_status_t status;
    const bool is_a = x->operand == TCGEMM_OPERAND_A;
    Py_BEGIN_ALLOW_THREADS status =
        tcgemm_run(plan, 1.0, is_a ? matrix : NULL, is_a ? NULL : matrix, 0.0, NULL, x->data);
    Py_END_ALLOW_THREADS return status;
}

static int pack_side(state_t *state, ahead_t *x, const side_t *s, options_t *options) {
    shared_plan_t *plan = NULL;
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    options->device = TCGEMM_DEVICE_CPU;
    set_problem(x, s);
    tcgemm_status_t status = tcpy_make_plan(options, &x->problem, x->operand, &plan);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_plan_get_info(plan->plan, &info);
    if (status == TCGEMM_STATUS_OK) {
        x->bytes = info.packed_bytes;
        (void)PyOS_snprintf(x->kernel, sizeof x->kernel, "%s", info.kernel);
        x->data = aligned_alloc(BOUNDARY, (x->bytes / BOUNDARY + 1) * BOUNDARY);
        status = x->data ? run_packing(x, plan->plan, s->data) : TCGEMM_STATUS_OUT_OF_MEMORY;
    }
    if (plan)
        tcpy_drop_plan(plan);
    if (status == TCGEMM_STATUS_OK)
        return 0;
    tcpy_raise(state, status);
    return -1;
}

/* ---- arguments ---- */

static int read_operand_name(PyObject *object, unsigned *operand) {
    *operand = TCGEMM_OPERAND_B;
    if (!object || (PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, "b") == 0))
        return 0;
    *operand = TCGEMM_OPERAND_A;
    if (PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, "a") == 0)
        return 0;
    PyErr_Format(PyExc_ValueError, "operand is %R: use \"a\" or \"b\"", object);
    return -1;
}

static int read_matrix(state_t *state, ahead_t *x, operand_t *matrix, bool is_transposed,
                       options_t *options, side_t *side) {
    tcgemm_type_t type;
    if (tcpy_choose_type(matrix, matrix, options->type, &type) < 0)
        return -1;
    const tcgemm_type_info_t *const facts = tcgemm_type_info(type);
    const tcgemm_dtype_t dtype = x->operand == TCGEMM_OPERAND_A ? facts->a : facts->b;
    if (tcpy_take_as(matrix, dtype, facts->name) < 0)
        return -1;
    if (matrix->ndim != 2 || matrix->device != TCGEMM_DEVICE_CPU) {
        PyErr_Format(PyExc_ValueError, "%s is no matrix in host memory: only such are packed ahead",
                     matrix->name);
        return -1;
    }
    const int64_t rows = matrix->shape[0], cols = (int64_t)matrix->shape[1] << matrix->shift;
    options->type = (int)type;
    x->type = type;
    x->rows = is_transposed ? cols : rows;
    x->cols = is_transposed ? rows : cols;
    return tcpy_place_alone(state, side, matrix, is_transposed, x->rows, x->cols);
}

static PyObject *pack(state_t *state, PyObject *object, unsigned operand, bool is_transposed,
                      options_t *options) {
    operand_t matrix;
    side_t side = {.copy = NULL};
    ahead_t *const x = PyObject_New(ahead_t, state->ahead_type);
    if (!x)
        return NULL;
    x->data = NULL;
    x->operand = operand;
    tcpy_operand_init(&matrix, operand == TCGEMM_OPERAND_A ? "a" : "b");
    int failed = tcpy_operand_read(state, &matrix, object, false) < 0;
    if (!failed)
        failed = read_matrix(state, x, &matrix, is_transposed, options, &side) < 0 ||
                 pack_side(state, x, &side, options) < 0;
    free(side.copy);
    tcpy_operand_release(&matrix);
    if (!failed)
        return (PyObject *)x;
    Py_DECREF(x);
    return NULL;
}

static PyObject *read_and_pack(PyObject *module, PyObject *const *args, Py_ssize_t count,
                               PyObject *names) {
    state_t *const state = PyModule_GetState(module);
    PyObject *found[NUM_KEYS] = {NULL};
    enum {
        ALLOWED = 1 << KEY_TYPE | 1 << KEY_TRANS | 1 << KEY_OPERAND | 1 << KEY_ALGO |
                  1 << KEY_KERNEL | 1 << KEY_TILE | 1 << KEY_THREADS
    };
    options_t options;
    unsigned operand;
    bool is_transposed = false;
    if (count != 1) {
        PyErr_Format(PyExc_TypeError, "pack() takes one matrix, not %zd", count);
        return NULL;
    }
    if (tcpy_match_keywords(state, "pack", names, args + count, ALLOWED, found) < 0 ||
        tcpy_read_options(found, &options) < 0 ||
        tcpy_read_bool("trans", found[KEY_TRANS], &is_transposed) < 0 ||
        read_operand_name(found[KEY_OPERAND], &operand) < 0)
        return NULL;
    return pack(state, args[0], operand, is_transposed, &options);
}

PyObject *tcpy_pack(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    PyObject *result;
    TCPY_BEGIN(module)
    result = read_and_pack(module, args, count, names);
    TCPY_END
    return result;
}

/* ---- the object ---- */

static void ahead_dealloc(PyObject *self) {
    PyTypeObject *const type = Py_TYPE(self);
    free(((ahead_t *)self)->data);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *ahead_shape(PyObject *self, void *closure) {
    const ahead_t *const x = (const ahead_t *)self;
    (void)closure;
    return Py_BuildValue("(LL)", (long long)x->rows, (long long)x->cols);
}

static PyObject *ahead_nbytes(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromSize_t(((ahead_t *)self)->bytes);
}

static PyObject *ahead_type_name(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_FromString(tcgemm_type_info(((ahead_t *)self)->type)->name);
}

static PyObject *ahead_kernel(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_FromString(((ahead_t *)self)->kernel);
}

static PyObject *ahead_operand(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_FromString(((ahead_t *)self)->operand == TCGEMM_OPERAND_A ? "a" : "b");
}

static PyGetSetDef ahead_getset[] = {
    {"shape", ahead_shape, NULL, "Rows and columns, after a transpose.", NULL},
    {"nbytes", ahead_nbytes, NULL, "Bytes of the panels.", NULL},
    {"type", ahead_type_name, NULL, "The name of the type.", NULL},
    {"kernel", ahead_kernel, NULL, "The kernel whose panels they are.", NULL},
    {"operand", ahead_operand, NULL, "\"a\" or \"b\".", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot ahead_slots[] = {
    {Py_tp_dealloc, ahead_dealloc},
    {Py_tp_getset, ahead_getset},
    {Py_tp_doc, "An operand that tcgemm.pack has packed ahead; matmul takes it in its place."},
    {0, NULL}};

PyType_Spec tcpy_ahead_spec = {.name = "tcgemm.PackedAhead",
                               .basicsize = sizeof(ahead_t),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                        Py_TPFLAGS_IMMUTABLETYPE,
                               .slots = ahead_slots};
