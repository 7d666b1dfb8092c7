/* numpy.c - arrays of NumPy read in place.
 *
 * The buffer protocol costs NumPy some 60 ns an array: it writes a format string and keeps a
 * record. The head of its array object - data, axes, strides, dtype, flags - is what every
 * extension compiled against NumPy reads with inlined accessors, from 1.x to 2.x alike. Here it is
 * read only after it has proved itself: the first array of a dtype goes through the buffer
 * protocol, and only where the head says the same is that dtype learned. An unknown layout is thus
 * never believed, it is just slower.
 *
 * Dtypes are compared by address, and learned with a reference that keeps the address theirs.
 */
#include <string.h>

#include "core.h"

bool tcpy_numpy_read(const state_t *state, operand_t *x) {
    const numpy_head_t *const head = (const numpy_head_t *)(const void *)x->object;
    if (x->package.head_bytes < sizeof *head)
        return false;
    for (int i = 0; i < state->num_learned; ++i) {
        if (state->learned[i].object != head->dtype)
            continue;
        x->data = head->data;
        x->ndim = head->ndim;
        x->shape = head->shape;
        x->strides = head->strides;
        x->dtype = state->learned[i].dtype;
        x->itemsize = tcpy_itemsize(x->dtype);
        x->is_readonly = !(head->flags & NUMPY_WRITEABLE);
        return true;
    }
    return false;
}

static bool is_same(const numpy_head_t *head, const operand_t *x, PyObject *dtype) {
    const size_t bytes = (size_t)x->ndim * sizeof(Py_ssize_t);
    return head->data == x->data && head->ndim == x->ndim && head->dtype == dtype &&
           !(head->flags & NUMPY_WRITEABLE) == x->is_readonly &&
           (bytes == 0 || (memcmp(head->shape, x->shape, bytes) == 0 &&
                           memcmp(head->strides, x->strides, bytes) == 0));
}

/* Compares what the buffer protocol said of an array with its head. */
void tcpy_numpy_learn(state_t *state, const operand_t *x) {
    const numpy_head_t *const head = (const numpy_head_t *)(const void *)x->object;
    if (x->package.head_bytes < sizeof *head || x->dtype == 0 || state->num_learned == MAX_LEARNED)
        return;
    PyObject *const dtype = PyObject_GetAttrString(x->object, "dtype");
    bool is_new = state->num_learned < MAX_LEARNED; /* Python may have let other threads in */
    for (int i = 0; i < state->num_learned; ++i)
        is_new &= state->learned[i].object != dtype;
    if (dtype && is_new && is_same(head, x, dtype)) {
        state->learned[state->num_learned].object = Py_NewRef(dtype);
        state->learned[state->num_learned++].dtype = x->dtype;
    }
    Py_XDECREF(dtype);
    if (!state->numpy_type && state->num_learned > 0 &&
        PyUnicode_CompareWithASCIIString(x->package.name, "numpy") == 0)
        state->numpy_type = Py_TYPE(x->object); /* kept by the list of packages */
    tcpy_numpy_empty(state);
    PyErr_Clear();
}

/* Bytes of the object as its type has them: room for a head, or not. */
size_t tcpy_numpy_head_bytes(PyTypeObject *type) {
    PyObject *const size = PyObject_GetAttrString((PyObject *)type, "__basicsize__");
    const size_t bytes = size ? PyLong_AsSize_t(size) : 0;
    Py_XDECREF(size);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return bytes;
}
