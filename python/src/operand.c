/* operand.c - an array of any package as pointer, dtype, shape and strides, without a copy.
 *
 * Three ways, the fastest that the array's type has: the buffer protocol (NumPy, array.array,
 * memoryview, mmap), the exchange table of DLPack (a C call), and the methods __dlpack__ and
 * __cuda_array_interface__. A type is looked at once (tcpy_package_of). No package is imported
 * here: who passes its array has imported it.
 */
#include <string.h>

#include "core.h"

/* ---- whose array ---- */

static PyObject *loaded_module(const char *name) { /* borrowed, or NULL without an exception */
    PyObject *const modules = PyImport_GetModuleDict();
    return modules ? PyDict_GetItemString(modules, name) : NULL;
}

static PyObject *root_of(PyTypeObject *type) {
    PyObject *const module = PyObject_GetAttrString((PyObject *)type, "__module__");
    PyObject *root = NULL;
    if (module && PyUnicode_Check(module)) {
        const Py_ssize_t length = PyUnicode_GetLength(module);
        const Py_ssize_t dot = PyUnicode_FindChar(module, '.', 0, length, 1);
        root = PyUnicode_Substring(module, 0, dot < 0 ? length : dot);
    }
    Py_XDECREF(module);
    if (!root) {
        PyErr_Clear();
        root = PyUnicode_FromString("?");
    }
    return root;
}

static bool is_numpy(PyTypeObject *type) {
    PyObject *const numpy = loaded_module("numpy");
    PyObject *const ndarray = numpy ? PyObject_GetAttrString(numpy, "ndarray") : NULL;
    const bool is =
        ndarray && PyType_Check(ndarray) && PyType_IsSubtype(type, (PyTypeObject *)ndarray);
    Py_XDECREF(ndarray);
    PyErr_Clear();
    return is;
}

/* The table of a type whose version is ours, or NULL. */
static const tcpy_dl_exchange_t *exchange_of(PyTypeObject *type) {
    PyObject *const capsule = PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
    const tcpy_dl_exchange_t *table = NULL;
    if (capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
        table = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    while (table && table->version.major != DL_MAJOR)
        table = table->previous;
    Py_XDECREF(capsule);
    PyErr_Clear();
    return table;
}

static kind_t kind_of(const state_t *state, PyTypeObject *type, PyObject *object) {
    if (type == state->packed_type)
        return KIND_PACKED;
    if (type == state->ahead_type)
        return KIND_AHEAD;
    if (is_numpy(type))
        return PyObject_HasAttrString((PyObject *)type, "mask") ? KIND_UNKNOWN : KIND_NUMPY;
    if (type != state->array_type && PyObject_HasAttrString((PyObject *)type, "__dlpack__"))
        return KIND_DLPACK;
    if (PyObject_CheckBuffer(object))
        return KIND_BUFFER;
    if (PyObject_HasAttrString(object, "__cuda_array_interface__"))
        return KIND_CUDA;
    return KIND_UNKNOWN;
}

static const package_t *find_package(const state_t *state, const PyTypeObject *type) {
    for (int i = 0; i < state->num_packages; ++i)
        if (state->packages[i].type == type)
            return &state->packages[i];
    return NULL;
}

/* Looking asks Python, which may let other threads in: they see the whole of it or nothing. */
static const package_t *learn_package(state_t *state, PyTypeObject *type, PyObject *object) {
    package_t p = {.type = type, .kind = kind_of(state, type, object)};
    p.name = root_of(type);
    p.exchange = p.kind == KIND_DLPACK ? exchange_of(type) : NULL;
    p.head_bytes = p.kind == KIND_NUMPY ? tcpy_numpy_head_bytes(type) : 0;
    p.is_torch = p.kind == KIND_DLPACK &&
                 PyObject_HasAttrString((PyObject *)type, "requires_grad") &&
                 PyObject_HasAttrString((PyObject *)type, "is_neg");
    PyErr_Clear();
    const package_t *const known = find_package(state, type);
    if (known) { /* another thread was here */
        Py_XDECREF(p.name);
        return known;
    }
    if (state->num_packages < MAX_PACKAGES)
        ++state->num_packages;
    else /* the last one changes often; names are few, and operands of this call may use them */
        Py_DECREF(state->packages[MAX_PACKAGES - 1].type);
    package_t *const kept = &state->packages[state->num_packages - 1];
    *kept = p;
    Py_INCREF((PyObject *)type);
    return kept;
}

const package_t *tcpy_package_of(state_t *state, PyObject *object) {
    PyTypeObject *const type = Py_TYPE(object);
    const package_t *const known = find_package(state, type);
    return known ? known : learn_package(state, type, object);
}

/* ---- the parts of an operand ---- */

void tcpy_operand_init(operand_t *x, const char *name) {
    x->name = name;
    x->data = NULL;
    x->dtype = 0;
    x->ndim = 0;
    x->shift = 0;
    x->device = TCGEMM_DEVICE_CPU;
    x->is_readonly = false;
    x->package.kind = KIND_UNKNOWN;
    x->object = NULL;
    x->owner = OWNER_NONE;
    x->keep = NULL;
    x->managed = NULL;
    x->managed_old = NULL;
    x->is_packed = x->was_raw = false;
    x->has_stream = false;
    x->stream = NULL;
    x->shape = x->own_shape;
    x->strides = x->own_strides;
}

/* Deleters may be Python: an exception on its way must not meet them. */
static void call_deleters(operand_t *x) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (x->managed && x->managed->deleter)
        x->managed->deleter(x->managed);
    if (x->managed_old && x->managed_old->deleter)
        x->managed_old->deleter(x->managed_old);
    PyErr_Restore(type, value, traceback);
}

void tcpy_operand_release(operand_t *x) {
    if (x->owner == OWNER_BUFFER)
        PyBuffer_Release(&x->view);
    if (x->managed || x->managed_old)
        call_deleters(x);
    x->owner = OWNER_NONE;
    x->managed = NULL;
    x->managed_old = NULL;
    Py_CLEAR(x->keep);
}

void tcpy_own_strides(operand_t *x) {
    Py_ssize_t stride = x->itemsize;
    for (int i = x->ndim - 1; i >= 0; --i) {
        x->own_strides[i] = stride;
        stride *= x->shape[i] > 0 ? x->shape[i] : 1;
    }
    x->strides = x->own_strides;
}

size_t tcpy_operand_count(const operand_t *x) {
    size_t count = 1;
    for (int i = 0; i < x->ndim; ++i)
        count *= (size_t)x->shape[i];
    return count;
}

static int too_many_axes(const operand_t *x, long ndim) {
    PyErr_Format(PyExc_ValueError, "%s has %ld axes, more than %d", x->name, ndim, MAX_DIMS);
    return -1;
}

static int refuse_readonly(const operand_t *x) {
    PyErr_Format(PyExc_ValueError, "%s is read-only", x->name);
    return -1;
}

/* ---- the buffer protocol ---- */

static int take_view(operand_t *x) {
    const Py_buffer *const v = &x->view;
    x->owner = OWNER_BUFFER;
    if (v->ndim > MAX_DIMS)
        return too_many_axes(x, v->ndim);
    if (v->suboffsets)
        for (int i = 0; i < v->ndim; ++i)
            if (v->suboffsets[i] >= 0) {
                PyErr_Format(PyExc_BufferError, "%s is a buffer of pointers to its parts", x->name);
                return -1;
            }
    x->data = v->buf;
    x->ndim = v->ndim;
    x->itemsize = v->itemsize;
    x->shape = v->shape ? v->shape : &v->len;
    x->is_readonly = v->readonly;
    if (v->strides)
        x->strides = v->strides;
    else
        tcpy_own_strides(x);
    return 0;
}

/* What NumPy has no format for: bfloat16 and FP8 of ml_dtypes. Their bits are read through a view
 * as unsigned words, their meaning is in the dtype's name. */
static int read_extension_dtype(operand_t *x, bool is_written) {
    PyObject *const dtype = PyObject_GetAttrString(x->object, "dtype");
    PyObject *const name = dtype ? PyObject_GetAttrString(dtype, "name") : NULL;
    const char *const text =
        name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    int result = -1;
    if (text) {
        x->dtype = tcpy_dtype_of_name(text);
        (void)PyOS_snprintf(x->type_name, sizeof x->type_name, "%s", text);
        if (x->dtype == 0) {
            PyErr_Format(PyExc_TypeError, "%s has elements of dtype %s, which no type multiplies",
                         x->name, text);
        } else {
            x->keep = PyObject_CallMethod(x->object, "view", "s",
                                          tcpy_itemsize(x->dtype) == 2 ? "u2" : "u1");
            if (x->keep &&
                PyObject_GetBuffer(x->keep, &x->view,
                                   PyBUF_STRIDES | (is_written ? PyBUF_WRITABLE : 0)) == 0)
                result = take_view(x);
        }
    }
    Py_XDECREF(dtype);
    Py_XDECREF(name);
    return result;
}

static int read_buffer(operand_t *x, bool is_written) {
    if (PyObject_GetBuffer(x->object, &x->view,
                           PyBUF_STRIDES | PyBUF_FORMAT | (is_written ? PyBUF_WRITABLE : 0)) == 0) {
        x->dtype = tcpy_dtype_of_format(x->view.format, x->view.itemsize);
        if (x->dtype == 0)
            (void)PyOS_snprintf(x->type_name, sizeof x->type_name, "of format '%.8s'",
                                x->view.format ? x->view.format : "");
        return take_view(x);
    }
    PyErr_Clear();
    if (is_written) {
        Py_buffer view;
        if (PyObject_GetBuffer(x->object, &view, PyBUF_STRIDES | PyBUF_FORMAT) == 0) {
            PyBuffer_Release(&view);
            return refuse_readonly(x);
        }
        PyErr_Clear();
    }
    if (x->package.kind == KIND_NUMPY)
        return read_extension_dtype(x, is_written);
    (void)PyObject_GetBuffer(x->object, &x->view,
                             PyBUF_STRIDES | PyBUF_FORMAT | (is_written ? PyBUF_WRITABLE : 0));
    if (!PyErr_Occurred()) {
        x->owner = OWNER_BUFFER;
        PyErr_Format(PyExc_BufferError, "%s changed while it was read", x->name);
    }
    return -1;
}

/* Complex numbers and the like by their NumPy name, for the sentence. */
static void name_of_dtype(operand_t *x) {
    if (x->dtype != 0 || x->is_packed)
        return;
    PyObject *const dtype = PyObject_GetAttrString(x->object, "dtype");
    PyObject *const name = dtype ? PyObject_Str(dtype) : NULL;
    const char *const text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (text)
        (void)PyOS_snprintf(x->type_name, sizeof x->type_name, "%s", text);
    Py_XDECREF(dtype);
    Py_XDECREF(name);
    PyErr_Clear();
}

/* ---- DLPack ---- */

static int take_tensor(operand_t *x, const tcpy_dl_tensor_t *t) {
    if (t->ndim > MAX_DIMS || t->ndim < 0)
        return too_many_axes(x, t->ndim);
    switch (t->device.type) {
    case DL_CPU:
    case DL_CUDA_HOST:
        x->device = TCGEMM_DEVICE_CPU;
        break;
    case DL_CUDA:
    case DL_CUDA_MANAGED:
        x->device = t->device.id;
        break;
    default:
        PyErr_Format(PyExc_BufferError,
                     "%s lies on a device of kind %d; tcgemm reads host and CUDA memory", x->name,
                     (int)t->device.type);
        return -1;
    }
    x->dtype = tcpy_dtype_of_dl(t->dtype);
    if (x->dtype == 0)
        (void)PyOS_snprintf(x->type_name, sizeof x->type_name, "of code %d, %d bits", t->dtype.code,
                            t->dtype.bits);
    x->itemsize = (t->dtype.bits * t->dtype.lanes + 7) / 8;
    x->data = (char *)t->data + t->byte_offset;
    x->ndim = t->ndim;
    for (int i = 0; i < t->ndim; ++i) {
        x->own_shape[i] = (Py_ssize_t)t->shape[i];
        if (t->strides)
            x->own_strides[i] = (Py_ssize_t)t->strides[i] * x->itemsize;
    }
    if (!t->strides)
        tcpy_own_strides(x);
    return 0;
}

/* Takes what a capsule holds: from here on the deleter is ours to call. */
static int take_capsule(operand_t *x, PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        tcpy_dl_managed_t *const m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (PyCapsule_SetName(capsule, "used_dltensor_versioned") < 0)
            return -1;
        x->managed = m;
        if (m->version.major != DL_MAJOR) {
            PyErr_Format(PyExc_BufferError, "%s speaks DLPack %u, but this is DLPack %d", x->name,
                         (unsigned)m->version.major, DL_MAJOR);
            return -1;
        }
        x->is_readonly = (m->flags & DL_READ_ONLY) != 0;
        return take_tensor(x, &m->tensor);
    }
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        tcpy_dl_old_t *const m = PyCapsule_GetPointer(capsule, "dltensor");
        if (PyCapsule_SetName(capsule, "used_dltensor") < 0)
            return -1;
        x->managed_old = m;
        return take_tensor(x, &m->tensor);
    }
    PyErr_Format(PyExc_BufferError, "__dlpack__ of %s gave %R, which is no tensor", x->name,
                 capsule);
    return -1;
}

/* -1: an exception; else whether the array is on a GPU; then its stream is found, too. */
static int asks_for_stream(operand_t *x) {
    PyObject *const device = PyObject_CallMethod(x->object, "__dlpack_device__", NULL);
    PyObject *const type = device ? PySequence_GetItem(device, 0) : NULL;
    PyObject *const id = type ? PySequence_GetItem(device, 1) : NULL;
    const long number = type ? PyLong_AsLong(type) : -1;
    const long index = id ? PyLong_AsLong(id) : -1;
    Py_XDECREF(device);
    Py_XDECREF(type);
    Py_XDECREF(id);
    if (PyErr_Occurred())
        return -1;
    if (number != DL_CUDA && number != DL_CUDA_MANAGED)
        return 0;
    x->device = (int)index;
    if (!x->has_stream && tcpy_current_stream(x, &x->stream) < 0)
        return -1;
    return 1;
}

/* DLPack's number of a stream: 0 would not say which default stream. */
static PyObject *number_of_stream(const void *stream) {
    return stream ? PyLong_FromVoidPtr((void *)(uintptr_t)stream) : PyLong_FromLong(1);
}

static PyObject *call_dlpack(state_t *state, operand_t *x) {
    PyObject *const method = PyObject_GetAttrString(x->object, "__dlpack__");
    PyObject *const none = PyTuple_New(0);
    PyObject *arguments = NULL, *capsule = NULL;
    const int on_gpu = method && none ? asks_for_stream(x) : -1;
    if (on_gpu >= 0)
        arguments =
            on_gpu ? PyDict_Copy(state->dlpack_arguments) : Py_NewRef(state->dlpack_arguments);
    if (arguments && on_gpu) {
        PyObject *const number = number_of_stream(x->stream);
        if (!number || PyDict_SetItemString(arguments, "stream", number) < 0)
            Py_CLEAR(arguments);
        Py_XDECREF(number);
    }
    if (arguments) {
        capsule = PyObject_Call(method, none, arguments);
        if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) { /* older than DLPack 1 */
            PyErr_Clear();
            PyObject *const older = on_gpu ? PyDict_Copy(arguments) : NULL;
            if (!on_gpu || (older && PyDict_DelItemString(older, "max_version") == 0))
                capsule = PyObject_Call(method, none, older);
            Py_XDECREF(older);
        }
    }
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(arguments);
    return capsule;
}

static int read_exchange(operand_t *x, const tcpy_dl_exchange_t *table) {
    if (table->from_object(x->object, &x->managed) == 0 && x->managed) {
        x->is_readonly = (x->managed->flags & DL_READ_ONLY) != 0;
        return take_tensor(x, &x->managed->tensor);
    }
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_BufferError, "%s cannot be exchanged", x->name);
    return -1;
}

/* A view is good while the object lives, which is an argument of the running call. */
static int view_exchange(operand_t *x, const tcpy_dl_exchange_t *table) {
    tcpy_dl_tensor_t tensor;
    if (table->view_object(x->object, &tensor) == 0)
        return take_tensor(x, &tensor);
    PyErr_Clear();
    return read_exchange(x, table);
}

/* What a tensor of torch has beside its memory and its table does not tell: a gradient to be
 * recorded ... */
static int has_gradient(const state_t *state, PyObject *tensor) {
    PyObject *const flag = PyObject_GetAttr(tensor, state->requires_grad);
    const int is_recording = flag == Py_True;
    Py_XDECREF(flag);
    return is_recording ? 1 : PyErr_Occurred() ? -1 : 0;
}

static int check_gradient(const state_t *state, const operand_t *x) {
    const int found = has_gradient(state, x->object);
    if (found > 0)
        PyErr_Format(PyExc_BufferError,
                     "%s requires a gradient, which this product would not record: use "
                     "torch.ops.tcgemm.mm (import tcgemm.torch), or %s.detach()",
                     x->name, x->name);
    return found == 0 ? 0 : -1;
}

/* ... and a sign that is yet to be applied. */
static int has_sign(const state_t *state, PyObject *tensor) {
    PyObject *const sign = PyObject_CallMethodObjArgs(tensor, state->is_neg, NULL);
    const int is_negative = sign == Py_True;
    Py_XDECREF(sign);
    return is_negative ? 1 : PyErr_Occurred() ? -1 : 0;
}

/* Only imaginary parts of conjugates have a sign, whose strides are all even: the question costs
 * more than a small product. */
static int check_sign(const state_t *state, const operand_t *x) {
    for (int i = 0; i < x->ndim; ++i)
        if (x->itemsize > 0 && x->strides[i] / x->itemsize % 2 != 0)
            return 0;
    const int found = has_sign(state, x->object);
    if (found > 0)
        PyErr_Format(PyExc_BufferError, "%s is a negative view of its memory: use %s.resolve_neg()",
                     x->name, x->name);
    return found == 0 ? 0 : -1;
}

bool tcpy_tensor_is_plain(const state_t *state, PyObject *tensor, bool may_be_negative) {
    if (has_gradient(state, tensor) == 0 && (!may_be_negative || has_sign(state, tensor) == 0))
        return true;
    PyErr_Clear();
    return false;
}

static int read_tensor(state_t *state, operand_t *x) {
    const tcpy_dl_exchange_t *const table = x->package.exchange;
    if (table && table->view_object)
        return view_exchange(x, table);
    if (table && table->from_object)
        return read_exchange(x, table);
    PyObject *const capsule = call_dlpack(state, x);
    if (!capsule)
        return -1;
    const int result = take_capsule(x, capsule);
    Py_DECREF(capsule);
    return result;
}

static int read_dlpack(state_t *state, operand_t *x) {
    if (!x->package.is_torch)
        return read_tensor(state, x);
    if (check_gradient(state, x) < 0 || read_tensor(state, x) < 0)
        return -1;
    return check_sign(state, x);
}

/* The stream on which the caller's package queues its work: of the exchange table, of torch and
 * CuPy by their own words, else the default stream. Found once for a call, by its first GPU
 * operand. */
int tcpy_current_stream(const operand_t *x, void **stream) {
    *stream = NULL;
    if (x->package.exchange && x->package.exchange->current_stream) {
        if (x->package.exchange->current_stream(DL_CUDA, x->device, stream) == 0)
            return 0;
        PyErr_Clear();
        return 0;
    }
    const char *const name =
        x->package.name ? PyUnicode_AsUTF8AndSize(x->package.name, NULL) : NULL;
    PyObject *current = NULL, *number = NULL;
    if (name && strcmp(name, "torch") == 0) {
        PyObject *const cuda = loaded_module("torch.cuda");
        current = cuda ? PyObject_CallMethod(cuda, "current_stream", "i", x->device) : NULL;
        number = current ? PyObject_GetAttrString(current, "cuda_stream") : NULL;
    } else if (name && strcmp(name, "cupy") == 0) {
        PyObject *const cuda = loaded_module("cupy.cuda");
        current = cuda ? PyObject_CallMethod(cuda, "get_current_stream", NULL) : NULL;
        number = current ? PyObject_GetAttrString(current, "ptr") : NULL;
    }
    if (number)
        *stream = PyLong_AsVoidPtr(number);
    Py_XDECREF(current);
    Py_XDECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- the CUDA array interface ---- */

static PyObject *entry_of(const operand_t *x, PyObject *interface, const char *key,
                          bool is_needed) {
    PyObject *const entry = PyDict_GetItemString(interface, key);
    if ((!entry || entry == Py_None) && is_needed)
        PyErr_Format(PyExc_BufferError, "__cuda_array_interface__ of %s has no '%s'", x->name, key);
    return entry == Py_None ? NULL : entry;
}

static int read_axes(const operand_t *x, PyObject *tuple, Py_ssize_t *axes, int *count) {
    const Py_ssize_t length = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (length < 0 || length > MAX_DIMS) {
        PyErr_Format(PyExc_BufferError, "__cuda_array_interface__ of %s: %R is no shape", x->name,
                     tuple);
        return -1;
    }
    for (Py_ssize_t i = 0; i < length; ++i) {
        axes[i] = PyLong_AsSsize_t(PyTuple_GetItem(tuple, i));
        if (axes[i] == -1 && PyErr_Occurred())
            return -1;
    }
    *count = (int)length;
    return 0;
}

/* "<f4": byte order, kind, bytes. */
static int read_typestr(operand_t *x, PyObject *typestr) {
    static const struct {
        const char *text;
        int dtype;
    } known[] = {{"f8", TCGEMM_DTYPE_F64},
                 {"f4", TCGEMM_DTYPE_F32},
                 {"f2", TCGEMM_DTYPE_F16},
                 {"i4", TCGEMM_DTYPE_S32},
                 {"i1", TCGEMM_DTYPE_S8},
                 {"u1", TCGEMM_DTYPE_U8},
                 {"u2", RAW_16}};
    const char *const text =
        PyUnicode_Check(typestr) ? PyUnicode_AsUTF8AndSize(typestr, NULL) : NULL;
    (void)PyOS_snprintf(x->type_name, sizeof x->type_name, "of typestr %.8s", text ? text : "?");
    for (size_t i = 0; text && i < sizeof known / sizeof known[0]; ++i)
        if (strlen(text) == 3 && *text != '>' && strcmp(text + 1, known[i].text) == 0) {
            x->dtype = known[i].dtype;
            x->itemsize = tcpy_itemsize(x->dtype);
            return 0;
        }
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s has elements %s, which no type multiplies", x->name,
                 x->type_name);
    return -1;
}

/* The producer's work must be done before ours: both in one stream, or nothing pending. */
static int check_stream(const operand_t *x, PyObject *theirs) {
    if (!theirs)
        return 0;
    const size_t number = PyLong_AsSize_t(theirs);
    if (number == (size_t)-1 && PyErr_Occurred())
        return -1;
    if (number == 0) {
        PyErr_Format(PyExc_BufferError,
                     "__cuda_array_interface__ of %s names stream 0, which says not which default "
                     "stream it means",
                     x->name);
        return -1;
    }
    if (number != (size_t)(uintptr_t)x->stream && !(number == 1 && !x->stream)) {
        PyErr_Format(PyExc_BufferError,
                     "%s is in use by stream %zu: pass stream=%zu, or wait for it first", x->name,
                     number, number);
        return -1;
    }
    return 0;
}

static int take_interface(operand_t *x, PyObject *interface) {
    int count = 0;
    PyObject *const shape = entry_of(x, interface, "shape", true);
    PyObject *const typestr = shape ? entry_of(x, interface, "typestr", true) : NULL;
    PyObject *const data = typestr ? entry_of(x, interface, "data", true) : NULL;
    if (!data)
        return -1;
    if (entry_of(x, interface, "mask", false)) {
        PyErr_Format(PyExc_BufferError, "%s has a mask", x->name);
        return -1;
    }
    if (!PyTuple_Check(data) || PyTuple_Size(data) != 2) {
        PyErr_Format(PyExc_BufferError, "__cuda_array_interface__ of %s: data is %R", x->name,
                     data);
        return -1;
    }
    if (read_axes(x, shape, x->own_shape, &x->ndim) < 0 || read_typestr(x, typestr) < 0)
        return -1;
    x->data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    x->is_readonly = PyObject_IsTrue(PyTuple_GetItem(data, 1)) != 0;
    if (PyErr_Occurred())
        return -1;
    PyObject *const strides = entry_of(x, interface, "strides", false);
    tcpy_own_strides(x);
    if (strides && read_axes(x, strides, x->own_strides, &count) < 0)
        return -1;
    if (strides && count != x->ndim) {
        PyErr_Format(PyExc_BufferError, "%s has %d axes, but %d strides", x->name, x->ndim, count);
        return -1;
    }
    x->device = 0; /* the library asks the driver where the pointer lies */
    return check_stream(x, entry_of(x, interface, "stream", false));
}

static int read_interface(operand_t *x) {
    PyObject *const interface = PyObject_GetAttrString(x->object, "__cuda_array_interface__");
    if (!interface)
        return -1;
    if (!PyDict_Check(interface)) {
        PyErr_Format(PyExc_BufferError, "__cuda_array_interface__ of %s is %R", x->name, interface);
        Py_DECREF(interface);
        return -1;
    }
    x->keep = interface;
    return take_interface(x, interface);
}

/* ---- sub-byte elements with a shape ---- */

static int read_packed(state_t *state, operand_t *x) {
    packed_t *const packed = (packed_t *)x->object;
    x->object = packed->data;
    if (tcpy_operand_read(state, x, packed->data, false) < 0)
        return -1;
    x->object = (PyObject *)packed;
    x->is_packed = true;
    x->dtype = packed->dtype;
    x->ndim = packed->ndim;
    x->shape = packed->shape;
    x->shift = 0; /* the shape counts elements */
    x->itemsize = 1;
    Py_ssize_t stride = 1; /* in elements */
    for (int i = x->ndim - 1; i >= 0; --i) {
        x->own_strides[i] = stride;
        stride *= x->shape[i] > 0 ? x->shape[i] : 1;
    }
    x->strides = x->own_strides;
    return 0;
}

/* ---- what was packed ahead ---- */

static int read_ahead(operand_t *x) {
    const ahead_t *const ahead = (const ahead_t *)x->object;
    const tcgemm_type_info_t *const type = tcgemm_type_info(ahead->type);
    x->data = ahead->data;
    x->dtype = (int)(ahead->operand == TCGEMM_OPERAND_A ? type->a : type->b);
    x->itemsize = tcpy_itemsize(x->dtype);
    x->ndim = 2;
    x->own_shape[0] = (Py_ssize_t)ahead->rows;
    x->own_shape[1] = (Py_ssize_t)ahead->cols;
    tcpy_own_strides(x);
    x->is_readonly = true;
    return 0;
}

/* ---- all of them ---- */

static int read_by_kind(state_t *state, operand_t *x, bool is_written) {
    switch (x->package.kind) {
    case KIND_NUMPY:
        if (tcpy_numpy_read(state, x))
            return 0;
        if (read_buffer(x, is_written) < 0)
            return -1;
        tcpy_numpy_learn(state, x);
        return 0;
    case KIND_BUFFER:
        if (Py_TYPE(x->object) == state->array_type)
            return tcpy_array_read(x);
        return read_buffer(x, is_written);
    case KIND_DLPACK:
        return read_dlpack(state, x);
    case KIND_CUDA:
        return read_interface(x);
    case KIND_PACKED:
        return read_packed(state, x);
    case KIND_AHEAD:
        return read_ahead(x);
    default: {
        PyObject *const name = PyType_GetName(Py_TYPE(x->object));
        if (name)
            PyErr_Format(PyExc_TypeError,
                         "%s is a %U, not an array: tcgemm reads the buffer protocol, DLPack and "
                         "the CUDA array interface",
                         x->name, name);
        Py_XDECREF(name);
        return -1;
    }
    }
}

int tcpy_operand_read(state_t *state, operand_t *x, PyObject *object, bool is_written) {
    x->object = object;
    x->package = *tcpy_package_of(state, object);
    if (read_by_kind(state, x, is_written) < 0)
        return -1;
    if (x->dtype == 0)
        name_of_dtype(x);
    return is_written && x->is_readonly ? refuse_readonly(x) : 0;
}
