/* info.c - what the library knows of types, kernels, this machine and GPUs, as dictionaries. */
#include "core.h"

/* Steals `row`. */
static int append(PyObject *list, PyObject *row) {
    const int result = row ? PyList_Append(list, row) : -1;
    Py_XDECREF(row);
    return result;
}

static PyObject *finish(PyObject *list, int failed) {
    if (!failed)
        return list;
    Py_XDECREF(list);
    return NULL;
}

PyObject *tcpy_types(PyObject *module, PyObject *none) {
    PyObject *const list = PyList_New(0);
    int failed = !list;
    (void)module;
    (void)none;
    for (int t = 1; !failed && t <= tcgemm_type_count(); ++t) {
        const tcgemm_type_info_t *const i = tcgemm_type_info((tcgemm_type_t)t);
        failed = append(list, Py_BuildValue("{s:s,s:s,s:s,s:s,s:s,s:s}", "name", i->name, "a",
                                            tcgemm_dtype_name(i->a), "b", tcgemm_dtype_name(i->b),
                                            "accumulator", tcgemm_dtype_name(i->accumulator), "d",
                                            tcgemm_dtype_name(i->d), "scalar",
                                            tcgemm_dtype_name(i->scalar))) < 0;
    }
    return finish(list, failed);
}

static PyObject *types_of(uint64_t bits) {
    PyObject *const list = PyList_New(0);
    int failed = !list;
    for (int t = 1; !failed && t <= tcgemm_type_count(); ++t)
        if (bits >> (t - 1) & 1)
            failed =
                append(list, PyUnicode_FromString(tcgemm_type_info((tcgemm_type_t)t)->name)) < 0;
    return finish(list, failed);
}

PyObject *tcpy_kernels(PyObject *module, PyObject *none) {
    PyObject *const list = PyList_New(0);
    int failed = !list;
    (void)module;
    (void)none;
    for (int k = 0; !failed && k < tcgemm_kernel_count(); ++k) {
        tcgemm_kernel_info_t i = {.struct_size = sizeof i};
        if (tcgemm_kernel_get_info(k, &i) != TCGEMM_STATUS_OK)
            continue;
        failed =
            append(list, Py_BuildValue("{s:s,s:s,s:s,s:s,s:O,s:L,s:L,s:L,s:N}", "name", i.name,
                                       "algo", i.algo, "isa", i.isa, "device", i.device, "runnable",
                                       i.runnable ? Py_True : Py_False, "tile_m",
                                       (long long)i.tile_m, "tile_n", (long long)i.tile_n, "tile_k",
                                       (long long)i.tile_k, "types", types_of(i.types))) < 0;
    }
    return finish(list, failed);
}

PyObject *tcpy_machine(PyObject *module, PyObject *none) {
    tcgemm_machine_info_t i = {.struct_size = sizeof i};
    (void)none;
    const tcgemm_status_t status = tcgemm_machine_get_info(&i);
    if (status != TCGEMM_STATUS_OK)
        return tcpy_raise(PyModule_GetState(module), status);
    return Py_BuildValue("{s:s,s:s,s:s,s:i,s:n,s:n,s:n,s:d}", "cpu", i.cpu, "features", i.features,
                         "isa", i.isa, "num_processors", i.num_processors, "l1_bytes",
                         (Py_ssize_t)i.l1_bytes, "l2_bytes", (Py_ssize_t)i.l2_bytes, "l3_bytes",
                         (Py_ssize_t)i.l3_bytes, "clock_hz", i.clock_hz);
}

static PyObject *device_row(const tcgemm_device_info_t *i) {
    return Py_BuildValue("{s:s,s:(ii),s:i,s:d,s:n,s:d,s:i}", "name", i->name, "compute_capability",
                         i->cc_major, i->cc_minor, "num_sms", i->num_sms, "clock_hz", i->clock_hz,
                         "memory_bytes", (Py_ssize_t)i->memory_bytes, "bandwidth", i->bandwidth,
                         "num_kernels", i->num_kernels);
}

PyObject *tcpy_devices(PyObject *module, PyObject *none) {
    PyObject *const list = PyList_New(0);
    int failed = !list;
    (void)none;
    for (int d = 0; !failed && d < tcgemm_device_count(); ++d) {
        tcgemm_device_info_t i = {.struct_size = sizeof i};
        const tcgemm_status_t status = tcgemm_device_get_info(d, &i);
        if (status != TCGEMM_STATUS_OK) {
            tcpy_raise(PyModule_GetState(module), status);
            failed = 1;
        } else {
            failed = append(list, device_row(&i)) < 0;
        }
    }
    return finish(list, failed);
}

PyObject *tcpy_known_gpus(PyObject *module, PyObject *none) {
    PyObject *const list = PyList_New(0);
    int failed = !list;
    (void)module;
    (void)none;
    for (int d = 0; !failed && d < tcgemm_known_gpu_count(); ++d)
        failed = append(list, PyUnicode_FromString(tcgemm_known_gpu_key(d))) < 0;
    return finish(list, failed);
}

PyObject *tcpy_build_info(PyObject *module, PyObject *none) {
    (void)module;
    (void)none;
    return PyUnicode_FromString(tcgemm_build_info());
}

PyObject *tcpy_device_reason(PyObject *module, PyObject *none) {
    (void)module;
    (void)none;
    return PyUnicode_FromString(tcgemm_device_reason());
}
