/* driver.c - opens libcuda and translates its errors. */
#include "cuda/driver.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char library_name[] =
    "libcuda.so.1"; /* no path: the loader knows where drivers live */

static tcgemm_driver_t driver;
static const char *absence; /* NULL once the driver is ready */
static char absence_text[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool is_ready;
static atomic_bool is_forked;

static void after_fork_in_child(void) {
    if (atomic_load(&is_ready))
        atomic_store(&is_forked, true);
}

/* By feature, the first function that the driver lacks, or NULL. */
static const char *missing[TCGEMM_DRIVER_NUM_FEATURES];

/* The same function by the name that it had before CUDA 12.8, or NULL. */
static const char *older_name(const char *function) {
    return strcmp(function, "cuEventElapsedTime_v2") == 0 ? "cuEventElapsedTime" : NULL;
}

static void *find_function(void *library, const char *function, tcgemm_driver_feature_t feature) {
    const char *const older = older_name(function);
    void *address = dlsym(library, function);
    if (!address && older)
        address = dlsym(library, older);
    if (!address && !missing[feature])
        missing[feature] = function;
    return address;
}

/* The addresses of all functions. dlsym gives data pointers; POSIX promises that copying works. */
static void find_functions(void *library) {
#define TEXT(x) #x
#define FIND(member, function, feature)                                                            \
    {                                                                                              \
        void *const address = find_function(library, TEXT(function), TCGEMM_DRIVER_##feature);     \
        memcpy(&driver.member, &address, sizeof address);                                          \
    }
    TCGEMM_DRIVER_FUNCTIONS(FIND)
#undef FIND
#undef TEXT
}

/* " (CUDA 11.0)", or "" if the driver does not say. */
static const char *version_text(char buffer[24]) {
    int version = 0;
    buffer[0] = '\0';
    if (driver.driver_version && driver.driver_version(&version) == CUDA_SUCCESS)
        (void)snprintf(buffer, 24, " (CUDA %d.%d)", version / 1000, version % 1000 / 10);
    return buffer;
}

static const char *words_of(CUresult result) {
    const char *words = NULL;
    if (driver.error_string)
        (void)driver.error_string(result, &words);
    return words ? words : "unknown error";
}

static void open_driver(void) {
    void *const library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    char version[24];
    absence = absence_text;
    if (!library) {
        (void)snprintf(absence_text, sizeof absence_text, "no NVIDIA driver (%s) on this machine",
                       library_name);
        return;
    }
    find_functions(library);
    if (missing[TCGEMM_DRIVER_CORE]) {
        (void)snprintf(absence_text, sizeof absence_text,
                       "the NVIDIA driver%s is too old: it has no %s", version_text(version),
                       missing[TCGEMM_DRIVER_CORE]);
        return;
    }
    const CUresult result = driver.init(0);
    if (result != CUDA_SUCCESS) {
        (void)snprintf(absence_text, sizeof absence_text,
                       "the NVIDIA driver%s has no usable GPU: %s (CUDA error %d)",
                       version_text(version), words_of(result), (int)result);
        return;
    }
    (void)pthread_atfork(NULL, NULL, after_fork_in_child);
    absence = NULL;
    atomic_store(&is_ready, true);
}

const tcgemm_driver_t *tcgemm_driver(const char **why) {
    (void)pthread_once(&once, open_driver);
    if (why)
        *why = absence;
    return absence ? NULL : &driver;
}

bool tcgemm_driver_has(tcgemm_driver_feature_t feature) {
    return !missing[feature];
}

tcgemm_status_t tcgemm_driver_need(tcgemm_driver_feature_t feature, const char *what) {
    char version[24];
    TCGEMM_RETURN_IF(missing[feature], TCGEMM_STATUS_UNSUPPORTED,
                     "%s needs %s, which this NVIDIA driver%s lacks", what, missing[feature],
                     version_text(version));
    return TCGEMM_STATUS_OK;
}

/* How many libraries the process has loaded so far. */
static int note_loads(struct dl_phdr_info *info, size_t size, void *loads) {
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1; /* each entry tells the same */
}

/* Whether somebody has opened the driver by now. To ask for it takes microseconds: only where the
 * process has loaded something since. */
static bool is_loaded(void) {
    static atomic_ullong asked_at;
    unsigned long long loads = 0;
    (void)dl_iterate_phdr(note_loads, &loads);
    if (loads != 0 && atomic_load_explicit(&asked_at, memory_order_relaxed) == loads)
        return false;
    if (dlopen(library_name, RTLD_NOW | RTLD_NOLOAD))
        return true; /* and the reference stays: nobody unloads it under us */
    atomic_store_explicit(&asked_at, loads, memory_order_relaxed);
    return false;
}

bool tcgemm_driver_is_present(void) {
    enum { UNKNOWN, NO_GPU, PERHAPS, PRESENT };
    if (atomic_load_explicit(&is_ready, memory_order_relaxed))
        return true; /* we opened it ourselves, whatever its device nodes are called */
    static atomic_int state = UNKNOWN;
    if (atomic_load_explicit(&state, memory_order_relaxed) == UNKNOWN) {
        static const char *const nodes[] = {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvhost-ctrl",
                                            "/dev/nvmap", "/dev/dxg"};
        int found = NO_GPU;
        for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; ++i)
            if (access(nodes[i], F_OK) == 0)
                found = PERHAPS;
        atomic_store(&state, found);
    }
    const int known = atomic_load_explicit(&state, memory_order_relaxed);
    if (known != PERHAPS)
        return known == PRESENT;
    if (!is_loaded())
        return false;
    atomic_store(&state, PRESENT);
    return true;
}

bool tcgemm_driver_is_forked(void) {
    return atomic_load_explicit(&is_forked, memory_order_relaxed);
}

bool tcgemm_driver_error_is_sticky(CUresult result) {
    switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_UNKNOWN:
        return true;
    default:
        return false;
    }
}

static tcgemm_status_t status_of(CUresult result) {
    if (tcgemm_driver_error_is_sticky(result))
        return TCGEMM_STATUS_DEVICE_LOST;
    switch (result) {
    case CUDA_SUCCESS:
        return TCGEMM_STATUS_OK;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return TCGEMM_STATUS_OUT_OF_MEMORY;
    case CUDA_ERROR_INVALID_HANDLE: /* a stream that is none, or of another context */
        return TCGEMM_STATUS_BAD_ARGUMENT;
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_INVALID_IMAGE:
        return TCGEMM_STATUS_UNSUPPORTED;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
        return TCGEMM_STATUS_NO_DEVICE;
    default:
        return TCGEMM_STATUS_DEVICE_ERROR;
    }
}

tcgemm_status_t tcgemm_driver_status(CUresult result, const char *what) {
    if (result == CUDA_SUCCESS)
        return TCGEMM_STATUS_OK;
    return tcgemm_error_set(status_of(result), "%s: %s (CUDA error %d)", what, words_of(result),
                            (int)result);
}
