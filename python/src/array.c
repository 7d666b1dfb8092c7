/* array.c - tcgemm.Array: memory of our own, for callers whose arrays no package makes.
 *
 * It speaks the buffer protocol and DLPack, so NumPy, torch and the others take it without a copy.
 * bfloat16 and FP8 have no buffer format: as such a buffer it is refused, rather than read as whole
 * numbers, and `numpy.asarray` comes to __array__, which knows ml_dtypes.
 */
#include <stdlib.h>

#include "core.h"

typedef struct array {
    PyObject_HEAD void *data;
    tcgemm_dtype_t dtype;
    Py_ssize_t bytes;
    int ndim;
    Py_ssize_t shape[MAX_DIMS], strides[MAX_DIMS];
} array_t;

/* What a consumer of __dlpack__ holds: the array, and the shape in DLPack's integers. */
typedef struct export {
    tcpy_dl_managed_t managed;
    tcpy_dl_old_t old;
    PyObject *array;
    int64_t shape[MAX_DIMS], strides[MAX_DIMS];
}
export_t;

enum { BOUNDARY = 64 };

PyObject *tcpy_array_new(state_t *state, tcgemm_dtype_t dtype, int ndim, const Py_ssize_t *shape) {
    array_t *const x = PyObject_New(array_t, state->array_type);
    if (!x)
        return NULL;
    x->data = NULL;
    x->dtype = dtype;
    x->ndim = ndim;
    Py_ssize_t bytes = tcpy_itemsize((int)dtype);
    for (int i = ndim - 1; i >= 0; --i) {
        x->shape[i] = shape[i];
        x->strides[i] = bytes;
        bytes *= shape[i] > 0 ? shape[i] : 1;
    }
    x->bytes = bytes;
    for (int i = 0; i < ndim; ++i)
        if (shape[i] == 0)
            x->bytes = 0;
    const size_t whole = ((size_t)bytes + BOUNDARY - 1) / BOUNDARY * BOUNDARY;
    x->data = aligned_alloc(BOUNDARY, whole);
    if (!x->data) {
        Py_DECREF(x);
        return PyErr_NoMemory();
    }
    return (PyObject *)x;
}

/* Our own array as an operand, bfloat16 and FP8 among them. */
int tcpy_array_read(operand_t *operand) {
    const array_t *const x = (const array_t *)operand->object;
    operand->data = x->data;
    operand->dtype = (int)x->dtype;
    operand->itemsize = tcpy_itemsize((int)x->dtype);
    operand->ndim = x->ndim;
    operand->shape = x->shape;
    operand->strides = x->strides;
    return 0;
}

static void array_dealloc(PyObject *self) {
    PyTypeObject *const type = Py_TYPE(self);
    free(((array_t *)self)->data);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- buffer protocol ---- */

static int array_get_buffer(PyObject *self, Py_buffer *view, int flags) {
    array_t *const x = (array_t *)self;
    const char *const format = tcpy_format_of_dtype(x->dtype);
    view->obj = NULL;
    if (!format && (flags & PyBUF_FORMAT)) {
        PyErr_Format(PyExc_BufferError, "%s has no buffer format; use DLPack or numpy.asarray",
                     tcpy_numpy_name(x->dtype));
        return -1;
    }
    view->buf = x->data;
    view->len = x->bytes;
    view->itemsize = tcpy_itemsize((int)x->dtype);
    view->readonly = 0;
    view->ndim = x->ndim;
    view->format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)format : NULL;
    view->shape = flags & PyBUF_ND ? x->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? x->strides : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    view->obj = Py_NewRef(self);
    return 0;
}

/* ---- DLPack ---- */

/* Consumers call from any thread, also when the interpreter is gone. */
static void let_go(export_t *x) {
    if (Py_IsInitialized()) {
        const PyGILState_STATE gil = PyGILState_Ensure();
        Py_DECREF(x->array);
        PyGILState_Release(gil);
    }
    free(x);
}

static void delete_managed(tcpy_dl_managed_t *managed) {
    let_go(managed->manager);
}

static void delete_old(tcpy_dl_old_t *old) {
    let_go(old->manager);
}

/* A capsule that nobody has taken still owns its tensor. */
static void destroy_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        tcpy_dl_managed_t *const m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        m->deleter(m);
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        tcpy_dl_old_t *const m = PyCapsule_GetPointer(capsule, "dltensor");
        m->deleter(m);
    }
}

static export_t *new_export(array_t *x) {
    export_t *const e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    const Py_ssize_t itemsize = tcpy_itemsize((int)x->dtype);
    for (int i = 0; i < x->ndim; ++i) {
        e->shape[i] = x->shape[i];
        e->strides[i] = x->strides[i] / itemsize;
    }
    e->array = Py_NewRef((PyObject *)x);
    e->managed.version = (tcpy_dl_version_t){DL_MAJOR, DL_MINOR};
    e->managed.manager = e->old.manager = e;
    e->managed.deleter = delete_managed;
    e->old.deleter = delete_old;
    e->managed.tensor = (tcpy_dl_tensor_t){.data = x->data,
                                           .device = {DL_CPU, 0},
                                           .ndim = x->ndim,
                                           .dtype = tcpy_dl_of_dtype(x->dtype),
                                           .shape = e->shape,
                                           .strides = e->strides};
    e->old.tensor = e->managed.tensor;
    return e;
}

/* Whether a keyword has a value other than None. */
static PyObject *given(PyObject *keywords, const char *name) {
    PyObject *const value = keywords ? PyDict_GetItemString(keywords, name) : NULL;
    return value == Py_None ? NULL : value;
}

static int check_device(PyObject *device) {
    int type = 0, id = 0;
    if (!device)
        return 0;
    if (!PyTuple_Check(device)) {
        PyErr_SetString(PyExc_TypeError, "dl_device is a pair of numbers");
        return -1;
    }
    if (!PyArg_ParseTuple(device, "ii;dl_device is a pair of numbers", &type, &id))
        return -1;
    if (type == DL_CPU)
        return 0;
    PyErr_SetString(PyExc_BufferError, "the array lies in host memory");
    return -1;
}

static PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *keywords) {
    int major = 0, minor = 0;
    if (PyTuple_Size(args) != 0) {
        PyErr_SetString(PyExc_TypeError, "__dlpack__ takes keyword arguments");
        return NULL;
    }
    if (given(keywords, "stream")) {
        PyErr_SetString(PyExc_BufferError, "the array lies in host memory, which has no streams");
        return NULL;
    }
    if (given(keywords, "copy") && PyObject_IsTrue(given(keywords, "copy"))) {
        PyErr_SetString(PyExc_BufferError, "the array is handed over without a copy");
        return NULL;
    }
    PyObject *const version = given(keywords, "max_version");
    if (version && !PyTuple_Check(version)) {
        PyErr_SetString(PyExc_TypeError, "max_version is a pair of numbers");
        return NULL;
    }
    if (version &&
        !PyArg_ParseTuple(version, "ii;max_version is a pair of numbers", &major, &minor))
        return NULL;
    if (check_device(given(keywords, "dl_device")) < 0)
        return NULL;
    export_t *const e = new_export((array_t *)self);
    if (!e)
        return PyErr_NoMemory();
    PyObject *const capsule =
        major >= 1 ? PyCapsule_New(&e->managed, "dltensor_versioned", destroy_capsule)
                   : PyCapsule_New(&e->old, "dltensor", destroy_capsule);
    if (!capsule)
        let_go(e);
    return capsule;
}

static PyObject *array_dlpack_device(PyObject *self, PyObject *none) {
    (void)self;
    (void)none;
    return Py_BuildValue("(ii)", DL_CPU, 0);
}

/* ---- NumPy, if it is there ---- */

static PyObject *dtype_of(tcgemm_dtype_t dtype) {
    const bool is_extension = !tcpy_format_of_dtype(dtype);
    PyObject *const module = PyImport_ImportModule(is_extension ? "ml_dtypes" : "numpy");
    PyObject *const result = module ? PyObject_GetAttrString(module, tcpy_numpy_name(dtype)) : NULL;
    Py_XDECREF(module);
    return result;
}

/* The bytes as a NumPy array, then as their dtype and shape: none of it copies. */
static PyObject *array_array(PyObject *self, PyObject *args, PyObject *keywords) {
    array_t *const x = (array_t *)self;
    (void)args;
    (void)keywords; /* NumPy converts and copies what it gets, if it was asked to */
    PyObject *const numpy = PyImport_ImportModule("numpy");
    PyObject *const dtype = numpy ? dtype_of(x->dtype) : NULL;
    PyObject *const shape = dtype ? PyTuple_New(x->ndim) : NULL;
    for (int i = 0; shape && i < x->ndim; ++i)
        PyTuple_SetItem(shape, i, PyLong_FromSsize_t(x->shape[i]));
    PyObject *flat = NULL, *result = NULL;
    if (shape)
        flat = x->bytes ? PyObject_CallMethod(numpy, "frombuffer", "OO", self, dtype)
                        : PyObject_CallMethod(numpy, "empty", "iO", 0, dtype);
    if (flat)
        result = PyObject_CallMethod(flat, "reshape", "O", shape);
    Py_XDECREF(numpy);
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    Py_XDECREF(flat);
    return result;
}

/* ---- attributes ---- */

static PyObject *array_shape(PyObject *self, void *closure) {
    array_t *const x = (array_t *)self;
    (void)closure;
    PyObject *const shape = PyTuple_New(x->ndim);
    for (int i = 0; shape && i < x->ndim; ++i)
        PyTuple_SetItem(shape, i, PyLong_FromSsize_t(x->shape[i]));
    return shape;
}

static PyObject *array_dtype(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_FromString(tcpy_numpy_name(((array_t *)self)->dtype));
}

static PyObject *array_nbytes(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromSsize_t(((array_t *)self)->bytes);
}

static PyObject *array_to_list(PyObject *self, PyObject *none) {
    (void)none;
    PyObject *const view = PyMemoryView_FromObject(self);
    PyObject *const list = view ? PyObject_CallMethod(view, "tolist", NULL) : NULL;
    Py_XDECREF(view);
    return list;
}

static PyObject *array_repr(PyObject *self) {
    PyObject *const shape = array_shape(self, NULL);
    PyObject *const text =
        shape ? PyUnicode_FromFormat("<tcgemm.Array of %s, shape %R>",
                                     tcpy_numpy_name(((array_t *)self)->dtype), shape)
              : NULL;
    Py_XDECREF(shape);
    return text;
}

static PyMethodDef array_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "The array as a DLPack capsule, without a copy."},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS, "(1, 0): host memory."},
    {"__array__", (PyCFunction)(void (*)(void))array_array, METH_VARARGS | METH_KEYWORDS,
     "The array as a numpy.ndarray, without a copy."},
    {"tolist", array_to_list, METH_NOARGS, "The elements as nested lists."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef array_getset[] = {
    {"shape", array_shape, NULL, "Extents of the axes.", NULL},
    {"dtype", array_dtype, NULL, "The name of the elements' dtype, such as 'float32'.", NULL},
    {"nbytes", array_nbytes, NULL, "Bytes of all elements.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot array_slots[] = {
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_repr, array_repr},
    {Py_tp_methods, array_methods},
    {Py_tp_getset, array_getset},
    {Py_bf_getbuffer, array_get_buffer},
    {Py_tp_doc,
     "A matrix, or a batch of them, in memory of tcgemm: what matmul returns to callers\n"
     "whose operands are plain buffers. Read it by the buffer protocol or DLPack."},
    {0, NULL}};

PyType_Spec tcpy_array_spec = {.name = "tcgemm.Array",
                               .basicsize = sizeof(array_t),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                        Py_TPFLAGS_IMMUTABLETYPE,
                               .slots = array_slots};
