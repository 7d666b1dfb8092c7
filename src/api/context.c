/* context.c - contexts and their defaults. */
#include "api/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/struct.h"
#include "cuda/backend.h"
#include "device/known_gpus.h"
#include "host/features.h"
#include "host/threads.h"
#include "problem/canonical.h"

/* Problems of so few multiply-adds run on one thread whatever the number, and need not ask it: with
 * vector units, and without. */
static double most_of_one_thread(void) {
    return tcgemm_cpu_features() & TCGEMM_CPU_AVX2 ? 40.0 * 40.0 * 40.0 : 25.0 * 25.0 * 25.0;
}

static int is_for_one_thread(const tcgemm_problem_t *problem) {
    tcgemm_problem_t p;
    if (tcgemm_problem_read(problem, &p) != TCGEMM_STATUS_OK)
        return 1; /* it will be refused */
    return p.batch <= 1 && (double)p.m * (double)p.n * (double)p.k <= most_of_one_thread() &&
           p.m <= 4096 && p.n <= 4096 && p.k <= 4096;
}

int tcgemm_context_threads(const tcgemm_context_t *context, const tcgemm_problem_t *problem) {
    if (context && context->num_threads > 0)
        return context->num_threads;
    return is_for_one_thread(problem) ? 1 : tcgemm_default_threads();
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
    tcgemm_context_options_t o = tcgemm_context_options();
    if (options)
        TCGEMM_FORWARD(tcgemm_struct_read("options", options,
                                          TCGEMM_STRUCT_END(tcgemm_context_options_t, num_threads),
                                          &o, sizeof o));
    TCGEMM_RETURN_IF(o.device < TCGEMM_DEVICE_AUTO, TCGEMM_STATUS_BAD_ARGUMENT,
                     "device is %d, neither a GPU number nor CPU (-1) nor AUTO (-2)", o.device);
    TCGEMM_RETURN_IF(o.num_threads < 0 || o.num_threads > TCGEMM_MAX_THREADS,
                     TCGEMM_STATUS_BAD_ARGUMENT, "num_threads is %d, not in 0 .. %d", o.num_threads,
                     TCGEMM_MAX_THREADS);
    const tcgemm_device_t *device = NULL;
    const tcgemm_device_t *known;
    TCGEMM_FORWARD(find_known(o.known_gpu, &known));
    if (!known && o.device >= 0)
        TCGEMM_FORWARD(tcgemm_gpu_find(o.device, &device));
    tcgemm_context_t *made = malloc(sizeof *made);
    TCGEMM_RETURN_IF(!made, TCGEMM_STATUS_OUT_OF_MEMORY, "no memory for a context");
    made->num_threads = o.num_threads;
    made->device = known ? TCGEMM_DEVICE_KNOWN : o.device;
    made->known = known;
    *context = made;
    return TCGEMM_STATUS_OK;
}

void tcgemm_context_destroy(tcgemm_context_t *context) {
    free(context);
}
