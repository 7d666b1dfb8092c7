/* errors.c - a status of the library as an exception with the library's sentence. */
#include "core.h"

static PyObject *exception_of(const state_t *state, tcgemm_status_t status) {
    switch (status) {
    case TCGEMM_STATUS_BAD_TYPE:
        return PyExc_TypeError;
    case TCGEMM_STATUS_BAD_ALIGNMENT:
        return PyExc_BufferError;
    case TCGEMM_STATUS_OUT_OF_MEMORY:
        return PyExc_MemoryError;
    case TCGEMM_STATUS_NO_DEVICE:
    case TCGEMM_STATUS_DEVICE_ERROR:
    case TCGEMM_STATUS_DEVICE_LOST:
    case TCGEMM_STATUS_AFTER_FORK:
        return state->device_error;
    case TCGEMM_STATUS_INTERNAL:
        return PyExc_SystemError;
    default:
        return PyExc_ValueError;
    }
}

/* The exception says which status it was: error.status == "BAD_LD". */
PyObject *tcpy_raise(state_t *state, tcgemm_status_t status) {
    PyObject *const kind = exception_of(state, status);
    PyObject *const error = PyObject_CallFunction(kind, "s", tcgemm_last_error());
    if (!error)
        return NULL;
    PyObject *const name = PyUnicode_FromString(tcgemm_status_name(status));
    if (name && PyObject_SetAttrString(error, "status", name) == 0)
        PyErr_SetObject(kind, error);
    Py_XDECREF(name);
    Py_DECREF(error);
    return NULL;
}
