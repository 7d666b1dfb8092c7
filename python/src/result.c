/* result.c - a new array of the caller's kind, on its device, for D. */
#include <string.h>

#include "core.h"

static PyObject *tuple_of(int ndim, const Py_ssize_t *shape) {
    PyObject *const tuple = PyTuple_New(ndim);
    for (int i = 0; tuple && i < ndim; ++i)
        PyTuple_SetItem(tuple, i, PyLong_FromSsize_t(shape[i]));
    return tuple;
}

/* ---- NumPy ---- */

/* The dtype object; bfloat16 of ml_dtypes, or where that is not in use the bits as uint16. */
static PyObject *numpy_dtype(state_t *state, tcgemm_dtype_t dtype) {
    if (state->numpy_dtypes[dtype])
        return state->numpy_dtypes[dtype];
    PyObject *const modules = PyImport_GetModuleDict();
    PyObject *const numpy = PyDict_GetItemString(modules, "numpy");
    const char *name = tcpy_numpy_name(dtype);
    PyObject *found = NULL;
    if (!tcpy_format_of_dtype(dtype)) {
        PyObject *const more = PyDict_GetItemString(modules, "ml_dtypes");
        PyObject *const type = more ? PyObject_GetAttrString(more, name) : NULL;
        if (!type) {
            PyErr_Clear();
            return PyObject_GetAttrString(numpy, dtype == TCGEMM_DTYPE_BF16 ? "uint16" : "uint8");
        }
        found = PyObject_CallMethod(numpy, "dtype", "O", type);
        Py_DECREF(type);
    } else {
        found = PyObject_CallMethod(numpy, "dtype", "s", name);
    }
    if (state->numpy_dtypes[dtype]) /* by another thread, meanwhile */
        Py_XDECREF(found);
    else
        state->numpy_dtypes[dtype] = found;
    return state->numpy_dtypes[dtype];
}

PyObject *tcpy_numpy_empty(state_t *state) {
    PyObject *const numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
    if (state->numpy_empty || !numpy)
        return state->numpy_empty;
    PyObject *const found = PyObject_GetAttrString(numpy, "empty");
    if (state->numpy_empty)
        Py_XDECREF(found);
    else
        state->numpy_empty = found;
    return state->numpy_empty;
}

static PyObject *new_numpy(state_t *state, tcgemm_dtype_t dtype, bool is_raw, int ndim,
                           const Py_ssize_t *shape) {
    PyObject *const type = !tcpy_numpy_empty(state) ? NULL
                           : is_raw                 ? (PyObject *)NULL
                                                    : numpy_dtype(state, dtype);
    PyObject *const tuple = tuple_of(ndim, shape);
    PyObject *result = NULL;
    if (tuple && is_raw)
        result = PyObject_CallFunction(state->numpy_empty, "Os", tuple, "u2");
    else if (tuple && type)
        result = PyObject_CallFunctionObjArgs(state->numpy_empty, tuple, type, NULL);
    Py_XDECREF(tuple);
    return result;
}

/* ---- packages with DLPack ---- */

static void keep_error(void *context, const char *kind, const char *message) {
    (void)context;
    PyErr_Format(strcmp(kind, "MemoryError") == 0 ? PyExc_MemoryError : PyExc_RuntimeError, "%s",
                 message);
}

static PyObject *new_by_table(const operand_t *like, tcgemm_dtype_t dtype, int ndim,
                              const Py_ssize_t *shape) {
    const tcpy_dl_exchange_t *const table = like->package.exchange;
    int64_t extents[MAX_DIMS];
    for (int i = 0; i < ndim; ++i)
        extents[i] = shape[i];
    const bool on_gpu = like->device != TCGEMM_DEVICE_CPU;
    tcpy_dl_tensor_t prototype = {.device = {on_gpu ? DL_CUDA : DL_CPU, on_gpu ? like->device : 0},
                                  .ndim = ndim,
                                  .dtype = tcpy_dl_of_dtype(dtype),
                                  .shape = extents};
    tcpy_dl_managed_t *managed = NULL;
    void *object = NULL;
    if (table->allocate(&prototype, &managed, NULL, keep_error) != 0 || !managed) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return NULL;
    }
    if (table->to_object(managed, &object) != 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_RuntimeError, "the package of the operands made no array");
        return NULL;
    }
    return object;
}

/* The module whose functions make the caller's arrays; a new reference or NULL. */
static PyObject *namespace_of(const operand_t *like) {
    const char *const root =
        like->package.name ? PyUnicode_AsUTF8AndSize(like->package.name, NULL) : NULL;
    PyObject *const modules = PyImport_GetModuleDict();
    const bool is_jax = root && (strcmp(root, "jax") == 0 || strcmp(root, "jaxlib") == 0);
    PyObject *const module =
        root ? PyDict_GetItemString(modules, is_jax ? "jax.numpy" : root) : NULL;
    if (module && PyObject_HasAttrString(module, "from_dlpack"))
        return Py_NewRef(module);
    PyErr_Clear();
    if (!PyObject_HasAttrString(like->object, "__array_namespace__"))
        return NULL;
    return PyObject_CallMethod(like->object, "__array_namespace__", NULL);
}

static PyObject *new_on_gpu(const operand_t *like, tcgemm_dtype_t dtype, int ndim,
                            const Py_ssize_t *shape) {
    PyObject *const module = namespace_of(like);
    PyObject *const type = module ? PyObject_GetAttrString(module, tcpy_numpy_name(dtype)) : NULL;
    PyObject *const empty = type ? PyObject_GetAttrString(module, "empty") : NULL;
    PyObject *const arguments = empty ? Py_BuildValue("(N)", tuple_of(ndim, shape)) : NULL;
    PyObject *const keywords = arguments ? Py_BuildValue("{s:O}", "dtype", type) : NULL;
    PyObject *result = NULL;
    if (keywords) {
        const char *const root = PyUnicode_AsUTF8AndSize(like->package.name, NULL);
        PyObject *const device = root && strcmp(root, "torch") == 0
                                     ? PyObject_GetAttrString(like->object, "device")
                                     : NULL;
        if (!device || PyDict_SetItemString(keywords, "device", device) == 0)
            result = PyErr_Occurred() ? NULL : PyObject_Call(empty, arguments, keywords);
        Py_XDECREF(device);
    }
    if (!result && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "tcgemm cannot make an array like %s: pass out=", like->name);
    Py_XDECREF(module);
    Py_XDECREF(type);
    Py_XDECREF(empty);
    Py_XDECREF(arguments);
    Py_XDECREF(keywords);
    return result;
}

/* ---- the door ---- */

static PyObject *new_array(state_t *state, const operand_t *like, tcgemm_dtype_t dtype, bool is_raw,
                           int ndim, const Py_ssize_t *shape) {
    const tcpy_dl_exchange_t *const table = like->package.exchange;
    const bool has_table = table && table->allocate && table->to_object;
    if (like->package.kind == KIND_NUMPY)
        return new_numpy(state, dtype, is_raw, ndim, shape);
    if (has_table)
        return new_by_table(like, dtype, ndim, shape);
    if (like->device == TCGEMM_DEVICE_CPU)
        return tcpy_array_new(state, dtype, ndim, shape);
    return new_on_gpu(like, dtype, ndim, shape);
}

/* Makes the array and reads it as the operand `out`. */
PyObject *tcpy_new_result(state_t *state, const operand_t *like, tcgemm_dtype_t dtype, bool is_raw,
                          int ndim, const Py_ssize_t *shape, operand_t *out) {
    PyObject *const made = new_array(state, like, dtype, is_raw, ndim, shape);
    if (!made)
        return NULL;
    if (tcpy_operand_read(state, out, made, true) == 0)
        return made;
    Py_DECREF(made);
    return NULL;
}

/* An Array becomes one of the caller's package, if that takes it. Steals `made`. */
PyObject *tcpy_finish_result(state_t *state, const operand_t *like, PyObject *made) {
    if (Py_TYPE(made) != state->array_type || like->package.kind != KIND_DLPACK)
        return made;
    PyObject *const module = namespace_of(like);
    if (!module) {
        PyErr_Clear();
        return made;
    }
    PyObject *const result = PyObject_CallMethod(module, "from_dlpack", "O", made);
    Py_DECREF(module);
    Py_DECREF(made);
    return result;
}
