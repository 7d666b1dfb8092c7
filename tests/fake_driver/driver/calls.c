/* calls.c - the gate of every entry point: counts, ordered failures, complaints. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fake_driver/driver/state.h"

enum { MAX_FUNCTIONS = 96, MAX_HIDDEN = 64, MAX_LINES = 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t initialised_by; /* 0: nobody */

static struct {
    const char *name;
    long count;
} functions[MAX_FUNCTIONS];
static int num_functions;

static struct {
    const char *function; /* NULL: any */
    long calls_left;      /* 0: nothing is ordered */
    CUresult result;
    const char *failed; /* the function that has failed so, NULL: none yet */
} failure;

static struct {
    long kernels_left;
    CUresult result;
} fault;

static const char *hidden[MAX_HIDDEN];
static int num_hidden;
static int complaints;

int fake_lock(void) {
    (void)pthread_mutex_lock(&mutex);
    return 1;
}

void fake_unlock(const int *locked) {
    (void)locked;
    (void)pthread_mutex_unlock(&mutex);
}

void fake_complain(const char *format, ...) {
    va_list args;
    complaints += 1;
    if (complaints > MAX_LINES)
        return;
    va_start(args, format);
    (void)fputs("fake driver: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
}

/* CUDA Driver API, CUresult: "leaves the process in an inconsistent state". */
bool fake_is_sticky(CUresult result) {
    switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_UNKNOWN:
        return true;
    default:
        return false;
    }
}

static void count(const char *function) {
    int i = 0;
    while (i < num_functions && strcmp(functions[i].name, function) != 0)
        ++i;
    if (i == MAX_FUNCTIONS)
        return;
    if (i == num_functions) {
        functions[i].name = function; /* a __func__, which lives as long as we */
        functions[i].count = 0;
        num_functions += 1;
    }
    functions[i].count += 1;
}

/* The result that was ordered for this call, or CUDA_SUCCESS. */
static CUresult ordered_failure(const char *function) {
    if (failure.calls_left == 0 ||
        strcmp(failure.function ? failure.function : function, function) != 0 ||
        (!failure.function && strcmp(function, "cuCtxPopCurrent_v2") == 0))
        return CUDA_SUCCESS;
    failure.calls_left -= 1;
    if (failure.calls_left > 0)
        return CUDA_SUCCESS;
    failure.failed = function;
    if (fake_is_sticky(failure.result) && fake_current())
        fake_current()->lost = failure.result;
    return failure.result;
}

CUresult fake_enter(const char *function, fake_needs_t needs) {
    count(function);
    if (initialised_by && initialised_by != getpid()) {
        fake_complain("%s in a child forked after cuInit", function);
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    const CUresult ordered = ordered_failure(function);
    if (ordered != CUDA_SUCCESS)
        return ordered;
    if (needs == FAKE_NEEDS_NOTHING)
        return CUDA_SUCCESS;
    if (!initialised_by) {
        fake_complain("%s before cuInit", function);
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    if (needs == FAKE_NEEDS_INIT)
        return CUDA_SUCCESS;
    if (!fake_current()) {
        fake_complain("%s without a context", function);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return fake_current()->lost;
}

void fake_mark_initialised(void) {
    initialised_by = getpid();
}

/* ---- what tests ask ---- */

long fake_count(const char *function) {
    long sum = 0;
    (void)fake_lock();
    for (int i = 0; i < num_functions; ++i)
        if (!function || strcmp(functions[i].name, function) == 0)
            sum += functions[i].count;
    fake_unlock(NULL);
    return sum;
}

void fake_forget_counts(void) {
    (void)fake_lock();
    num_functions = 0;
    fake_unlock(NULL);
}

void fake_print_counts(void) {
    (void)fake_lock();
    for (int i = 0; i < num_functions; ++i)
        (void)printf("    %4ld %s\n", functions[i].count, functions[i].name);
    fake_unlock(NULL);
}

void fake_fail(const char *function, long call, CUresult result) {
    (void)fake_lock();
    failure.function = function;
    failure.calls_left = call;
    failure.result = result;
    failure.failed = NULL;
    fake_unlock(NULL);
}

const char *fake_failed(void) {
    return failure.failed;
}

void fake_fault_kernel(long n, CUresult result) {
    (void)fake_lock();
    fault.kernels_left = n;
    fault.result = result;
    fake_unlock(NULL);
}

bool fake_kernel_faults(CUresult *result) {
    *result = fault.result;
    if (fault.kernels_left == 0)
        return false;
    fault.kernels_left -= 1;
    return fault.kernels_left == 0;
}

void fake_hide(const char *symbol) {
    if (num_hidden < MAX_HIDDEN)
        hidden[num_hidden++] = symbol;
}

bool fake_is_hidden(const char *symbol) {
    for (int i = 0; i < num_hidden; ++i)
        if (strcmp(hidden[i], symbol) == 0)
            return true;
    return false;
}

fake_live_t fake_live(void) {
    fake_live_t live = {.modules = 0};
    (void)fake_lock();
    fake_count_memory(&live);
    fake_count_queue(&live);
    live.modules = fake_count_modules();
    fake_unlock(NULL);
    return live;
}

int fake_complaints(void) {
    (void)fake_lock();
    fake_check_canaries();
    const int found = complaints;
    fake_unlock(NULL);
    return found;
}
