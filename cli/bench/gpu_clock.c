/* gpu_clock.c - the few functions of the CUDA driver that it takes. */
#include "bench/gpu_clock.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cuda.h's types and numbers: a status is an int, 0 is good; handles are pointers. */
enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DEFAULT = 0 };

struct gpu_clock {
    void *library;
    int device;
    int version; /* 13000 for 13.0 */
    void *context, *stream, *start, *stop;
    int (*init)(unsigned flags);
    int (*driver_version)(int *version);
    int (*device_get)(int *device, int ordinal);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*event_create)(void **event, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_synchronize)(void *event);
    int (*event_elapsed)(float *milliseconds, void *start, void *stop);
};

/* ISO C has no cast from an object pointer to a function pointer; POSIX promises equal bits. */
static bool find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_all(gpu_clock_t *g) {
    void *const library = g->library;
    return find(library, "cuInit", &g->init) &&
           find(library, "cuDriverGetVersion", &g->driver_version) &&
           find(library, "cuDeviceGet", &g->device_get) &&
           find(library, "cuDevicePrimaryCtxRetain", &g->retain) &&
           find(library, "cuDevicePrimaryCtxRelease_v2", &g->release) &&
           find(library, "cuCtxPushCurrent_v2", &g->push) &&
           find(library, "cuCtxPopCurrent_v2", &g->pop) &&
           find(library, "cuStreamCreate", &g->stream_create) &&
           find(library, "cuStreamDestroy_v2", &g->stream_destroy) &&
           find(library, "cuEventCreate", &g->event_create) &&
           find(library, "cuEventDestroy_v2", &g->event_destroy) &&
           find(library, "cuEventRecord", &g->event_record) &&
           find(library, "cuEventSynchronize", &g->event_synchronize) &&
           find(library, "cuEventElapsedTime", &g->event_elapsed);
}

static bool take_context(gpu_clock_t *g, int device) {
    void *context = NULL;
    if (g->init(0) != 0 || g->driver_version(&g->version) != 0 ||
        g->device_get(&g->device, device) != 0 || g->retain(&context, g->device) != 0)
        return false;
    if (g->push(context) != 0) {
        (void)g->release(g->device);
        return false;
    }
    g->context = context;
    return true;
}

static bool make_marks(gpu_clock_t *g) {
    return g->stream_create(&g->stream, CU_STREAM_NON_BLOCKING) == 0 &&
           g->event_create(&g->start, CU_EVENT_DEFAULT) == 0 &&
           g->event_create(&g->stop, CU_EVENT_DEFAULT) == 0;
}

gpu_clock_t *gpu_clock_open(int device, const char **why) {
    gpu_clock_t *g = calloc(1, sizeof *g);
    *why = "no memory";
    if (!g)
        return NULL;
    g->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    *why = "libcuda.so.1 is not there";
    if (g->library) {
        *why = "libcuda.so.1 lacks a function";
        if (find_all(g)) {
            *why = "the driver gives no context, stream or event";
            if (take_context(g, device) && make_marks(g))
                return g;
        }
    }
    gpu_clock_close(g);
    return NULL;
}

/* The library stays open: others use it, too. */
void gpu_clock_close(gpu_clock_t *g) {
    if (!g)
        return;
    if (g->stop)
        (void)g->event_destroy(g->stop);
    if (g->start)
        (void)g->event_destroy(g->start);
    if (g->stream)
        (void)g->stream_destroy(g->stream);
    if (g->context) {
        void *popped;
        (void)g->pop(&popped);
        (void)g->release(g->device);
    }
    free(g);
}

void *gpu_clock_stream(const gpu_clock_t *g) {
    return g->stream;
}

bool gpu_clock_start(gpu_clock_t *g) {
    return g->event_record(g->start, g->stream) == 0;
}

bool gpu_clock_stop(gpu_clock_t *g, double *seconds) {
    float milliseconds = 0;
    if (g->event_record(g->stop, g->stream) != 0 || g->event_synchronize(g->stop) != 0 ||
        g->event_elapsed(&milliseconds, g->start, g->stop) != 0)
        return false;
    *seconds = 1e-3 * (double)milliseconds;
    return true;
}

void gpu_clock_driver(const gpu_clock_t *g, char *text, size_t size) {
    char version[32] = "";
    FILE *file = fopen("/sys/module/nvidia/version", "re");
    if (file) {
        if (!fgets(version, sizeof version, file))
            version[0] = '\0';
        (void)fclose(file);
    }
    version[strcspn(version, "\n")] = '\0';
    (void)snprintf(text, size, "%s%sCUDA %d.%d", version, version[0] ? ", " : "", g->version / 1000,
                   g->version % 1000 / 10);
}
