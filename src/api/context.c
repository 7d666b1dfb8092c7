/* context.c - contexts, and the defaults from the environment. */
#include "api/context.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cuda/backend.h"
#include "device/known_gpus.h"
#include "host/features.h"

enum { MAX_THREADS = 4095 };

/* A whole number in 1 .. MAX_THREADS at the start of the variable ("4,2" of OMP counts as 4), or 0.
 */
static int threads_of_variable(const char *name) {
    const char *text = secure_getenv(name);
    if (!text)
        return 0;
    const long value = strtol(text, NULL, 10);
    return value >= 1 && value <= MAX_THREADS ? (int)value : 0;
}

static int default_threads(void) {
    static atomic_int known;
    int threads = atomic_load_explicit(&known, memory_order_relaxed);
    if (threads > 0)
        return threads;
    threads = threads_of_variable("TCGEMM_NUM_THREADS");
    if (threads == 0)
        threads = threads_of_variable("OMP_NUM_THREADS");
    if (threads == 0)
        threads = tcgemm_cpu_count();
    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    atomic_store_explicit(&known, threads, memory_order_relaxed);
    return threads;
}

int tcgemm_context_threads(const tcgemm_context_t *context) {
    return context ? context->num_threads : default_threads();
}

const struct tcgemm_device *tcgemm_context_known(const tcgemm_context_t *context) {
    return context ? context->known : NULL;
}

int tcgemm_context_device(const tcgemm_context_t *context) {
    return context ? context->device : TCGEMM_DEVICE_AUTO;
}

/* The known GPU of the options, if they name one. */
static tcgemm_status_t find_known(const char *key, const tcgemm_device_t **known) {
    char keys[256] = "";
    *known = key ? tcgemm_known_gpu_find(key) : NULL;
    if (!key || *known)
        return TCGEMM_STATUS_OK;
    for (int i = 0; i < tcgemm_known_gpu_count(); ++i) {
        const size_t used = strlen(keys);
        (void)snprintf(keys + used, sizeof keys - used, "%s%s", i ? ", " : "",
                       tcgemm_known_gpu_key(i));
    }
    return tcgemm_error_set(TCGEMM_STATUS_BAD_ARGUMENT, "no GPU '%.40s' is known, only %s", key,
                            keys);
}

tcgemm_status_t tcgemm_context_create(const tcgemm_context_options_t *options,
                                      tcgemm_context_t **context) {
    TCGEMM_RETURN_IF(!context, TCGEMM_STATUS_BAD_ARGUMENT, "context is NULL");
    *context = NULL;
    const tcgemm_context_options_t o = options ? *options : tcgemm_context_options();
    TCGEMM_RETURN_IF(o.struct_size != sizeof o, TCGEMM_STATUS_BAD_ARGUMENT,
                     "options->struct_size is %zu, expected %zu: build it with "
                     "tcgemm_context_options()",
                     o.struct_size, sizeof o);
    TCGEMM_RETURN_IF(o.device < TCGEMM_DEVICE_AUTO, TCGEMM_STATUS_BAD_ARGUMENT,
                     "device is %d, neither a GPU number nor CPU (-1) nor AUTO (-2)", o.device);
    TCGEMM_RETURN_IF(o.num_threads < 0 || o.num_threads > MAX_THREADS, TCGEMM_STATUS_BAD_ARGUMENT,
                     "num_threads is %d, not in 0 .. %d", o.num_threads, MAX_THREADS);
    const tcgemm_device_t *device = NULL;
    const tcgemm_device_t *known;
    TCGEMM_FORWARD(find_known(o.known_gpu, &known));
    if (!known && o.device >= 0)
        TCGEMM_FORWARD(tcgemm_gpu_find(o.device, &device));
    tcgemm_context_t *made = malloc(sizeof *made);
    TCGEMM_RETURN_IF(!made, TCGEMM_STATUS_OUT_OF_MEMORY, "no memory for a context");
    made->num_threads = o.num_threads ? o.num_threads : default_threads();
    made->device = known ? TCGEMM_DEVICE_KNOWN : o.device;
    made->known = known;
    *context = made;
    return TCGEMM_STATUS_OK;
}

void tcgemm_context_destroy(tcgemm_context_t *context) {
    free(context);
}
