/* module.c - the extension module tcgemm._core: its functions, types, exceptions and state. */
#include "core.h"

static const char *const key_names[NUM_KEYS] = {
    [KEY_C] = "c",
    [KEY_ALPHA] = "alpha",
    [KEY_BETA] = "beta",
    [KEY_OUT] = "out",
    [KEY_TYPE] = "type",
    [KEY_TRANS_A] = "trans_a",
    [KEY_TRANS_B] = "trans_b",
    [KEY_ACCURACY] = "accuracy",
    [KEY_REPRODUCIBLE] = "reproducible",
    [KEY_XOR] = "xor",
    [KEY_ALGO] = "algo",
    [KEY_KERNEL] = "kernel",
    [KEY_TILE] = "tile",
    [KEY_DEVICE] = "device",
    [KEY_GPU] = "gpu",
    [KEY_STREAM] = "stream",
    [KEY_THREADS] = "threads",
    [KEY_SHAPE] = "shape",
    [KEY_MODE] = "mode",
    [KEY_SEED] = "seed",
    [KEY_OPERAND] = "operand",
    [KEY_TRANS] = "trans",
    [KEY_BIAS] = "bias",
    [KEY_ACTIVATION] = "activation",
    [KEY_SCALE_A] = "scale_a",
    [KEY_SCALE_B] = "scale_b",
};

#define FAST(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS

static const char matmul_doc[] =
    "matmul(a, b, /, c=None, *, alpha=1, beta=None, out=None, type=None, trans_a=False, "
    "trans_b=False, accuracy=None, reproducible=False, xor=False, bias=None, activation=None, "
    "scale_a=None, scale_b=None, algo=None, kernel=None, tile=None, device=None, stream=None, "
    "threads=None)\n--\n\n"
    "activation(alpha * a @ b + beta * c + bias), for arrays of any package.\n\n"
    "a and b are vectors, matrices or batches of them, as in numpy.matmul; batch axes are\n"
    "broadcast without copies. beta is 1 if c is given. The result is an array of the kind of a,\n"
    "or `out`, which has the shape and the dtype of the result. bias is a vector of n elements of\n"
    "that dtype, activation 'relu', 'gelu', 'gelu_tanh', 'silu', 'sigmoid' or 'tanh': on the CPU.\n"
    "No kernel serves scale_a and scale_b yet: they are refused.\n\n"
    ">>> import numpy as np\n"
    ">>> a = np.array([[1, 2], [3, 4]], np.float32)\n"
    ">>> tcgemm.matmul(a, a)\n"
    "array([[ 7., 10.],\n"
    "       [15., 22.]], dtype=float32)\n"
    ">>> tcgemm.matmul(a, a, a, alpha=2, beta=-1).tolist()\n"
    "[[13.0, 18.0], [27.0, 40.0]]\n"
    ">>> tcgemm.matmul(a, a, bias=np.array([-8, 1], np.float32), activation='relu').tolist()\n"
    "[[0.0, 11.0], [7.0, 23.0]]\n";

static const char plan_doc[] =
    "plan(a=None, b=None, /, c=None, *, shape=None, alpha=1, beta=None, out=None, type=None, "
    "trans_a=False, "
    "trans_b=False, accuracy=None, reproducible=False, xor=False, scale_a=None, scale_b=None, "
    "algo=None, kernel=None, tile=None, device=None, gpu=None, threads=None)\n--\n\n"
    "A product that is planned once and run often, for arrays like these or for a shape: (m, n, "
    "k)\n"
    "or the shapes of a and b.\n\n"
    ">>> plan = tcgemm.plan(shape=(2, 2, 3), type='f32_f32')\n"
    ">>> import numpy as np\n"
    ">>> plan(np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)).tolist()\n"
    "[[3.0, 3.0], [3.0, 3.0]]\n"
    ">>> plan.info['device']\n"
    "'cpu'\n";

static const char pack_doc[] =
    "pack(x, /, *, operand='b', type=None, trans=False, algo=None, kernel=None, tile=None, "
    "threads=None)\n--\n\n"
    "Packs a matrix ahead, for products that take it often.\n\n"
    ">>> import numpy as np\n"
    ">>> weights = tcgemm.pack(np.eye(4, dtype=np.float32))\n"
    ">>> tcgemm.matmul(np.ones((1, 4), np.float32), weights).tolist()\n"
    "[[1.0, 1.0, 1.0, 1.0]]\n";

static PyMethodDef methods[] = {
    {"matmul", FAST(tcpy_matmul), matmul_doc},
    {"plan", FAST(tcpy_plan), plan_doc},
    {"pack", FAST(tcpy_pack), pack_doc},
    {"verify", FAST(tcpy_verify),
     "verify(a, b, d, c=None, /, **options)\n--\n\nThe report of the library's own check, as a "
     "dictionary."},
    {"types", tcpy_types, METH_NOARGS, "types()\n--\n\nThe types of a product, as dictionaries."},
    {"kernels", tcpy_kernels, METH_NOARGS,
     "kernels()\n--\n\nThe rows of the kernel table, as dictionaries."},
    {"machine", tcpy_machine, METH_NOARGS, "machine()\n--\n\nThe processor, as a dictionary."},
    {"devices", tcpy_devices, METH_NOARGS,
     "devices()\n--\n\nThe GPUs that can be used, as dictionaries."},
    {"device_reason", tcpy_device_reason, METH_NOARGS,
     "device_reason()\n--\n\nWhy there is no GPU; '' if there is one."},
    {"known_gpus", tcpy_known_gpus, METH_NOARGS,
     "known_gpus()\n--\n\nGPUs that plans can be made for."},
    {"ffi_address", tcpy_ffi_address, METH_NOARGS,
     "ffi_address()\n--\n\nWhere a compiler's custom call finds the product (ffi_call.h)."},
    {"build_info", tcpy_build_info, METH_NOARGS, "build_info()\n--\n\nHow the library was built."},
    {NULL, NULL, 0, NULL}};

/* ---- state ---- */

static int add_type(PyObject *module, PyType_Spec *spec, const char *name, PyTypeObject **type) {
    *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *type ? PyModule_AddObjectRef(module, name, (PyObject *)*type) : -1;
}

static int add_exception(PyObject *module, const char *full, const char *name, const char *doc,
                         PyObject *base, PyObject **exception) {
    *exception = PyErr_NewExceptionWithDoc(full, doc, base, NULL);
    return *exception ? PyModule_AddObjectRef(module, name, *exception) : -1;
}

static int fill_state(PyObject *module, state_t *state) {
    for (int i = 0; i < NUM_KEYS; ++i) {
        state->keys[i] = PyUnicode_InternFromString(key_names[i]);
        if (!state->keys[i])
            return -1;
    }
    state->requires_grad = PyUnicode_InternFromString("requires_grad");
    state->is_neg = PyUnicode_InternFromString("is_neg");
    state->dlpack_arguments = Py_BuildValue("{s:(ii)}", "max_version", DL_MAJOR, DL_MINOR);
    if (!state->requires_grad || !state->is_neg || !state->dlpack_arguments)
        return -1;
    if (add_type(module, &tcpy_array_spec, "Array", &state->array_type) < 0 ||
        add_type(module, &tcpy_packed_spec, "Packed", &state->packed_type) < 0 ||
        add_type(module, &tcpy_ahead_spec, "PackedAhead", &state->ahead_type) < 0 ||
        add_type(module, &tcpy_plan_spec, "Plan", &state->plan_type) < 0)
        return -1;
    return add_exception(module, "tcgemm.DeviceError", "DeviceError",
                         "A GPU is not there, failed, or belongs to the parent process.",
                         PyExc_RuntimeError, &state->device_error) < 0 ||
                   add_exception(
                       module, "tcgemm.CopyWarning", "CopyWarning",
                       "An operand was copied, because no leading dimension describes it.",
                       PyExc_UserWarning, &state->copy_warning) < 0
               ? -1
               : 0;
}

static int module_exec(PyObject *module) {
    state_t *const state = PyModule_GetState(module);
    if (fill_state(module, state) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "__version__", tcgemm_version_string());
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    state_t *const state = PyModule_GetState(module);
    if (!state)
        return 0;
    Py_VISIT(state->device_error);
    Py_VISIT(state->copy_warning);
    Py_VISIT((PyObject *)state->array_type);
    Py_VISIT((PyObject *)state->packed_type);
    Py_VISIT((PyObject *)state->ahead_type);
    Py_VISIT((PyObject *)state->plan_type);
    Py_VISIT(state->numpy_empty);
    for (int i = 0; i < state->num_packages; ++i)
        Py_VISIT((PyObject *)state->packages[i].type);
    return 0;
}

static int module_clear(PyObject *module) {
    state_t *const state = PyModule_GetState(module);
    if (!state)
        return 0;
    Py_CLEAR(state->device_error);
    Py_CLEAR(state->copy_warning);
    Py_CLEAR(state->numpy_empty);
    Py_CLEAR(state->dlpack_arguments);
    Py_CLEAR(state->requires_grad);
    Py_CLEAR(state->is_neg);
    for (int i = 0; i < NUM_KEYS; ++i)
        Py_CLEAR(state->keys[i]);
    for (int i = 0; i <= (int)TCGEMM_DTYPE_B1; ++i)
        Py_CLEAR(state->numpy_dtypes[i]);
    for (int i = 0; i < state->num_learned; ++i)
        Py_CLEAR(state->learned[i].object);
    state->num_learned = 0;
    state->numpy_type = NULL;
    for (int i = 0; i < MAX_FAST; ++i)
        tcpy_fast_clear(&state->fast[i]);
    for (int i = 0; i < state->num_packages; ++i) {
        Py_CLEAR(state->packages[i].name);
        Py_CLEAR(state->packages[i].type);
    }
    state->num_packages = 0;
    Py_CLEAR(state->array_type);
    Py_CLEAR(state->packed_type);
    Py_CLEAR(state->ahead_type);
    Py_CLEAR(state->plan_type);
    return 0;
}

static void module_free(void *module) {
    state_t *const state = PyModule_GetState(module);
    (void)module_clear(module);
    for (int i = 0; state && i < MAX_CACHED_PLANS; ++i)
        if (state->plans[i])
            tcpy_drop_plan(state->plans[i]);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)module_exec},
#ifdef Py_GIL_DISABLED
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED}, /* see TCPY_BEGIN */
#endif
                                   {0, NULL}};

static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                 .m_name = "tcgemm._core",
                                 .m_doc = "The library tcgemm; import tcgemm instead.",
                                 .m_size = sizeof(state_t),
                                 .m_methods = methods,
                                 .m_slots = slots,
                                 .m_traverse = module_traverse,
                                 .m_clear = module_clear,
                                 .m_free = module_free};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void) {
    return PyModuleDef_Init(&definition);
}
