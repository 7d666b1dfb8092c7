/* arguments.c - keyword arguments by interned name, and what they mean.
 *
 * The common call has none or `out` alone; names that callers write in their source are interned,
 * so that a comparison of pointers finds them.
 */
#include <stdlib.h>
#include <string.h>

#include "core.h"

static int find_key(const state_t *state, PyObject *name) {
    for (int i = 0; i < NUM_KEYS; ++i)
        if (state->keys[i] == name)
            return i;
    for (int i = 0; i < NUM_KEYS; ++i)
        if (PyUnicode_Compare(state->keys[i], name) == 0)
            return i;
    return -1;
}

/* Sorts the keyword arguments into `found`; None counts as not given. */
int tcpy_match_keywords(state_t *state, const char *function, PyObject *names,
                        PyObject *const *values, uint32_t allowed, PyObject **found) {
    const Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject *const name = PyTuple_GetItem(names, i);
        const int key = find_key(state, name);
        if (key < 0 || !(allowed & 1u << key)) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_TypeError, "%s() has no keyword argument '%U'", function, name);
            return -1;
        }
        if (found[key]) {
            PyErr_Format(PyExc_TypeError, "%s() got '%U' twice", function, name);
            return -1;
        }
        if (values[i] != Py_None)
            found[key] = values[i];
    }
    return 0;
}

bool tcpy_is_plain(const state_t *state, PyObject *const *args, Py_ssize_t count, PyObject *names,
                   PyObject **out) {
    if (!names)
        return true;
    if (PyTuple_Size(names) != 1 || PyTuple_GetItem(names, 0) != state->keys[KEY_OUT])
        return false;
    *out = args[count] == Py_None ? NULL : args[count];
    return true;
}

int tcpy_read_scalar(const char *name, PyObject *object, double *value) {
    *value = PyFloat_AsDouble(object);
    if (*value == -1.0 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s is %R, not a real number", name, object);
        return -1;
    }
    return 0;
}

int tcpy_read_bool(const char *name, PyObject *object, bool *value) {
    if (!object)
        return 0;
    if (!PyBool_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s is %R, not True or False", name, object);
        return -1;
    }
    *value = object == Py_True;
    return 0;
}

static int read_int(const char *name, PyObject *object, int least, int most, int *value) {
    const long number = PyLong_AsLong(object);
    if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s is %R, not a whole number", name, object);
        return -1;
    }
    if (number < least || number > most) {
        PyErr_Format(PyExc_ValueError, "%s is %ld, not within %d .. %d", name, number, least, most);
        return -1;
    }
    *value = (int)number;
    return 0;
}

static int read_name(const char *name, PyObject *object, char *buffer, size_t size) {
    Py_ssize_t length;
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s is %R, not a name", name, object);
        return -1;
    }
    const char *const text = PyUnicode_AsUTF8AndSize(object, &length);
    if (!text)
        return -1;
    if ((size_t)length >= size || strlen(text) != (size_t)length || length == 0) {
        PyErr_Format(PyExc_ValueError, "%s is %R, which is no name", name, object);
        return -1;
    }
    memcpy(buffer, text, (size_t)length);
    return 0;
}

static int read_type(PyObject *object, int *type) {
    char name[MAX_NAME] = "";
    tcgemm_type_t found;
    if (read_name("type", object, name, sizeof name) < 0)
        return -1;
    if (tcgemm_type_from_name(name, &found) != TCGEMM_STATUS_OK) {
        PyErr_SetString(PyExc_TypeError, tcgemm_last_error());
        return -1;
    }
    *type = (int)found;
    return 0;
}

/* "cpu", "cuda", "cuda:1" or the number of a GPU. */
static int read_device(PyObject *object, int *device) {
    if (!PyUnicode_Check(object))
        return read_int("device", object, -1, 1023, device);
    char name[MAX_NAME] = "";
    if (read_name("device", object, name, sizeof name) < 0)
        return -1;
    if (strcmp(name, "cpu") == 0) {
        *device = TCGEMM_DEVICE_CPU;
        return 0;
    }
    if (strcmp(name, "cuda") == 0) {
        *device = 0;
        return 0;
    }
    if (strncmp(name, "cuda:", 5) == 0 && name[5] >= '0' && name[5] <= '9') {
        char *end;
        const long index = strtol(name + 5, &end, 10);
        if (*end == '\0' && index < 1024) {
            *device = (int)index;
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "device is %R: use \"cpu\", \"cuda\", \"cuda:1\" or a number",
                 object);
    return -1;
}

static int read_flags(PyObject **found, uint32_t *flags) {
    bool is_reproducible = false, is_xor = false;
    if (tcpy_read_bool("reproducible", found[KEY_REPRODUCIBLE], &is_reproducible) < 0 ||
        tcpy_read_bool("xor", found[KEY_XOR], &is_xor) < 0)
        return -1;
    if (is_reproducible)
        *flags |= TCGEMM_FLAG_REPRODUCIBLE;
    if (is_xor)
        *flags |= TCGEMM_FLAG_XOR;
    if (found[KEY_ACCURACY]) {
        char name[MAX_NAME] = "";
        if (read_name("accuracy", found[KEY_ACCURACY], name, sizeof name) < 0)
            return -1;
        if (strcmp(name, "f16") == 0) {
            *flags |= TCGEMM_FLAG_F16_ACCUMULATE;
        } else if (strcmp(name, "fast") == 0) {
            *flags |= TCGEMM_FLAG_FAST_ACCUMULATE;
        } else if (strcmp(name, "full") != 0) {
            PyErr_Format(
                PyExc_ValueError,
                "accuracy is '%s': use \"full\", \"f16\" to let f16_f16 accumulate in f16, "
                "or \"fast\" to let FP8 types accumulate as FP8 tensor cores do",
                name);
            return -1;
        }
    }
    return 0;
}

int tcpy_read_options(PyObject **found, options_t *o) {
    memset(o, 0, sizeof *o);
    o->device = TCGEMM_DEVICE_AUTO;
    if (found[KEY_TYPE] && read_type(found[KEY_TYPE], &o->type) < 0)
        return -1;
    if (read_flags(found, &o->flags) < 0)
        return -1;
    if (found[KEY_DEVICE] && read_device(found[KEY_DEVICE], &o->device) < 0)
        return -1;
    if (found[KEY_THREADS] &&
        read_int("threads", found[KEY_THREADS], 1, TCGEMM_MAX_THREADS, &o->threads) < 0)
        return -1;
    const struct {
        int key;
        const char *name;
        char *buffer;
        size_t size;
    } names[] = {{KEY_ALGO, "algo", o->algo, sizeof o->algo},
                 {KEY_KERNEL, "kernel", o->kernel, sizeof o->kernel},
                 {KEY_TILE, "tile", o->tile, sizeof o->tile},
                 {KEY_GPU, "gpu", o->gpu, sizeof o->gpu}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (found[names[i].key] &&
            read_name(names[i].name, found[names[i].key], names[i].buffer, names[i].size) < 0)
            return -1;
    o->is_set = found[KEY_DEVICE] || found[KEY_THREADS] || found[KEY_ALGO] || found[KEY_KERNEL] ||
                found[KEY_TILE] || found[KEY_GPU];
    return 0;
}

/* A stream of CUDA: a number, or an object that knows one. */
static int read_stream(PyObject *object, void **stream) {
    static const char *const attributes[] = {"cuda_stream", "ptr", "handle"};
    PyObject *number = NULL;
    if (PyLong_Check(object)) {
        number = Py_NewRef(object);
    } else if (PyObject_HasAttrString(object, "__cuda_stream__")) {
        PyObject *const pair = PyObject_CallMethod(object, "__cuda_stream__", NULL);
        number = pair ? PySequence_GetItem(pair, 1) : NULL;
        Py_XDECREF(pair);
    } else {
        for (size_t i = 0; !number && i < sizeof attributes / sizeof attributes[0]; ++i)
            if (PyObject_HasAttrString(object, attributes[i]))
                number = PyObject_GetAttrString(object, attributes[i]);
        if (!number && !PyErr_Occurred())
            PyErr_Format(PyExc_TypeError,
                         "stream is %R: use the number of a CUDA stream, or an object with "
                         "__cuda_stream__",
                         object);
    }
    if (!number)
        return -1;
    *stream = PyLong_AsVoidPtr(number);
    Py_DECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

/* What the library has fields for, which its kernels do not serve yet: it says so itself. On the
 * day it does not refuse them, neither may we keep quiet: the run without a plan fails. */
static int check_unserved(state_t *state, PyObject **found) {
    static const double one = 1.0;
    tcgemm_data_t data = tcgemm_data(&one, &one, NULL);
    if (!found[KEY_SCALE_A] && !found[KEY_SCALE_B])
        return 0;
    if (found[KEY_SCALE_A])
        data.row_scale = &one;
    if (found[KEY_SCALE_B])
        data.col_scale = &one;
    tcpy_raise(state, tcgemm_execute(NULL, &data, NULL));
    return -1;
}

static int read_activation(PyObject *object, tcgemm_activation_t *activation) {
    char name[MAX_NAME] = "";
    const char *known;
    if (read_name("activation", object, name, sizeof name) < 0)
        return -1;
    for (int i = 0; (known = tcgemm_activation_name((tcgemm_activation_t)i)) != NULL; ++i)
        if (strcmp(name, known) == 0) {
            *activation = (tcgemm_activation_t)i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError,
                 "activation is '%s': the library knows \"relu\", \"gelu\", \"gelu_tanh\", "
                 "\"silu\", \"sigmoid\" and \"tanh\"",
                 name);
    return -1;
}

/* What matmul, plan and verify have in common. */
int tcpy_read_call(state_t *state, PyObject **found, call_t *call) {
    call->c = found[KEY_C];
    call->out = found[KEY_OUT];
    call->bias = found[KEY_BIAS];
    call->activation = TCGEMM_ACTIVATION_NONE;
    if (found[KEY_ACTIVATION] && read_activation(found[KEY_ACTIVATION], &call->activation) < 0)
        return -1;
    call->alpha = 1.0;
    if (found[KEY_ALPHA] && tcpy_read_scalar("alpha", found[KEY_ALPHA], &call->alpha) < 0)
        return -1;
    call->beta = call->c ? 1.0 : 0.0;
    if (found[KEY_BETA]) {
        if (tcpy_read_scalar("beta", found[KEY_BETA], &call->beta) < 0)
            return -1;
        if (!call->c && call->beta != 0.0) {
            PyErr_SetString(PyExc_ValueError, "beta is given, but c is not");
            return -1;
        }
    }
    if (tcpy_read_bool("trans_a", found[KEY_TRANS_A], &call->trans_a) < 0 ||
        tcpy_read_bool("trans_b", found[KEY_TRANS_B], &call->trans_b) < 0)
        return -1;
    if (found[KEY_STREAM]) {
        call->has_stream = true;
        if (read_stream(found[KEY_STREAM], &call->stream) < 0)
            return -1;
    }
    if (tcpy_read_options(found, &call->options) < 0)
        return -1;
    if (call->beta != 0.0)
        call->options.flags |= TCGEMM_FLAG_ADDS_C;
    return check_unserved(state, found);
}
