/* packed.c - tcgemm.Packed: bytes that hold elements of 4 bits or of one, with the shape in
 * elements.
 *
 * Element e of the matrix (row after row, without gaps) lies in bits [e * bits, (e + 1) * bits), so
 * that a row need not begin on a byte: shapes that an array of bytes cannot tell.
 */
#include <string.h>

#include "core.h"

static int read_dtype(const char *name) {
    static const struct {
        const char *name;
        tcgemm_dtype_t dtype;
    } known[] = {{"s4", TCGEMM_DTYPE_S4}, {"u4", TCGEMM_DTYPE_U4}, {"b1", TCGEMM_DTYPE_B1}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (strcmp(known[i].name, name) == 0)
            return (int)known[i].dtype;
    PyErr_Format(PyExc_ValueError, "dtype is '%s': packed elements are \"s4\", \"u4\" or \"b1\"",
                 name);
    return 0;
}

static int read_shape(packed_t *x, PyObject *shape, Py_ssize_t *count) {
    const Py_ssize_t ndim = PyTuple_Check(shape) ? PyTuple_Size(shape) : -1;
    if (ndim < 1 || ndim > MAX_DIMS) {
        PyErr_Format(PyExc_TypeError, "shape is %R, not a tuple of sizes", shape);
        return -1;
    }
    x->ndim = (int)ndim;
    *count = 1;
    for (Py_ssize_t i = 0; i < ndim; ++i) {
        x->shape[i] = PyLong_AsSsize_t(PyTuple_GetItem(shape, i));
        if (x->shape[i] == -1 && PyErr_Occurred())
            return -1;
        if (x->shape[i] < 0 || (x->shape[i] > 0 && *count > PY_SSIZE_T_MAX / 8 / x->shape[i])) {
            PyErr_Format(PyExc_ValueError, "shape is %R: no memory holds it", shape);
            return -1;
        }
        *count *= x->shape[i];
    }
    return 0;
}

/* The bytes are contiguous, and there are enough of them. */
static int check_bytes(const packed_t *x, Py_ssize_t count) {
    Py_buffer view;
    const Py_ssize_t bits = tcgemm_dtype_bits((tcgemm_dtype_t)x->dtype);
    const Py_ssize_t needed = (count * bits + 7) / 8;
    if (PyObject_GetBuffer(x->data, &view, PyBUF_SIMPLE) < 0)
        return -1;
    const Py_ssize_t has = view.len;
    PyBuffer_Release(&view);
    if (has >= needed)
        return 0;
    PyErr_Format(PyExc_ValueError, "the data have %zd bytes, but %zd elements of %zd bits need %zd",
                 has, count, bits, needed);
    return -1;
}

static PyObject *packed_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"", "shape", "dtype", NULL};
    PyObject *data, *shape;
    const char *dtype;
    Py_ssize_t count;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOs:Packed", names, &data, &shape, &dtype))
        return NULL;
    packed_t *const x = PyObject_New(packed_t, type);
    if (!x)
        return NULL;
    x->data = Py_NewRef(data);
    x->dtype = read_dtype(dtype);
    if (x->dtype == 0 || read_shape(x, shape, &count) < 0 || check_bytes(x, count) < 0) {
        Py_DECREF(x);
        return NULL;
    }
    return (PyObject *)x;
}

static void packed_dealloc(PyObject *self) {
    PyTypeObject *const type = Py_TYPE(self);
    Py_XDECREF(((packed_t *)self)->data);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *packed_shape(PyObject *self, void *closure) {
    packed_t *const x = (packed_t *)self;
    (void)closure;
    PyObject *const shape = PyTuple_New(x->ndim);
    for (int i = 0; shape && i < x->ndim; ++i)
        PyTuple_SetItem(shape, i, PyLong_FromSsize_t(x->shape[i]));
    return shape;
}

static PyObject *packed_dtype(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_FromString(tcgemm_dtype_name((tcgemm_dtype_t)((packed_t *)self)->dtype));
}

static PyObject *packed_data(PyObject *self, void *closure) {
    (void)closure;
    return Py_NewRef(((packed_t *)self)->data);
}

static PyGetSetDef packed_getset[] = {
    {"shape", packed_shape, NULL, "Extents of the axes, in elements.", NULL},
    {"dtype", packed_dtype, NULL, "\"s4\", \"u4\" or \"b1\".", NULL},
    {"data", packed_data, NULL, "What holds the bytes.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot packed_slots[] = {
    {Py_tp_new, packed_new},
    {Py_tp_dealloc, packed_dealloc},
    {Py_tp_getset, packed_getset},
    {Py_tp_doc,
     "Packed(data, /, shape, dtype)\n--\n\n"
     "Bytes that hold packed elements of 4 bits (\"s4\", \"u4\") or of one (\"b1\"), the first in\n"
     "the lowest bits, row after row without gaps.\n\n"
     ">>> a = tcgemm.Packed(bytes([0x21, 0x03]), (1, 3), \"u4\")   # 1 2 3\n"
     ">>> b = tcgemm.Packed(bytes([0x11, 0x01]), (3, 1), \"u4\")   # 1 1 1\n"
     ">>> tcgemm.matmul(a, b).tolist()\n"
     "[[6]]"},
    {0, NULL}};

PyType_Spec tcpy_packed_spec = {.name = "tcgemm.Packed",
                                .basicsize = sizeof(packed_t),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                                .slots = packed_slots};
