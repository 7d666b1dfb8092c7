/* host_trace.c - see host_trace.h. The library asks dlsym for the driver's functions: linked with
 * --wrap=dlsym, it gets these here. */
#include "host_trace.h"

#include <cuda.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST_CALLS = 1024 };

typedef struct traced {
    const char *what;
    CUstream stream;
    double bytes, made; /* made: seconds after the first, by the CPU's clock */
    CUevent before, after;
} traced_t;

typedef struct functions {
    CUresult (*event_create)(CUevent *, unsigned);
    CUresult (*event_record)(CUevent, CUstream);
    CUresult (*event_elapsed)(float *, CUevent, CUevent);
    CUresult (*event_destroy)(CUevent);
    CUresult (*to_device)(CUdeviceptr, const void *, size_t, CUstream);
    CUresult (*to_host)(void *, CUdeviceptr, size_t, CUstream);
    CUresult (*copy_lines)(const CUDA_MEMCPY2D *, CUstream);
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, CUstream, void **, void **);
    CUresult (*launch_overlapping)(const CUlaunchConfig *, CUfunction, void **, void **);
} functions_t;

static functions_t real;

static bool notes;
static traced_t calls[MOST_CALLS];
static int num_calls;

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The next entry, its first event recorded; NULL: there is no room. */
static traced_t *before(const char *what, double bytes, CUstream stream) {
    if (!notes || num_calls == MOST_CALLS)
        return NULL;
    traced_t *const t = &calls[num_calls++];
    *t = (traced_t){.what = what, .stream = stream, .bytes = bytes, .made = now()};
    (void)real.event_create(&t->before, CU_EVENT_DEFAULT);
    (void)real.event_create(&t->after, CU_EVENT_DEFAULT);
    (void)real.event_record(t->before, stream);
    return t;
}

static CUresult after(traced_t *t, CUresult result) {
    if (t)
        (void)real.event_record(t->after, t->stream);
    return result;
}

static CUresult to_device(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    traced_t *const t = before("in", (double)bytes, stream);
    return after(t, real.to_device(to, from, bytes, stream));
}

static CUresult to_host(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    traced_t *const t = before("out", (double)bytes, stream);
    return after(t, real.to_host(to, from, bytes, stream));
}

static CUresult copy_lines(const CUDA_MEMCPY2D *x, CUstream stream) {
    const double bytes = (double)x->WidthInBytes * (double)x->Height;
    traced_t *const t =
        before(x->dstMemoryType == CU_MEMORYTYPE_HOST ? "out, lines" : "in, lines", bytes, stream);
    return after(t, real.copy_lines(x, stream));
}

static CUresult launch(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned smem, CUstream stream, void **params,
                       void **extra) {
    traced_t *const t = before("kernel", 0, stream);
    return after(t, real.launch(function, gx, gy, gz, bx, by, bz, smem, stream, params, extra));
}

static CUresult launch_overlapping(const CUlaunchConfig *config, CUfunction function, void **params,
                                   void **extra) {
    traced_t *const t = before("kernel", 0, config->hStream);
    return after(t, real.launch_overlapping(config, function, params, extra));
}

void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);

/* Keeps the real function and gives ours instead. */
static void *instead(void *found, void *kept, const void *ours) {
    void *given = NULL;
    memcpy(kept, &found, sizeof found);
    memcpy(&given, ours, sizeof given);
    return found ? given : NULL;
}

void *__wrap_dlsym(void *library, const char *name) {
    void *const found = __real_dlsym(library, name);
    const functions_t ours = {.to_device = to_device,
                              .to_host = to_host,
                              .copy_lines = copy_lines,
                              .launch = launch,
                              .launch_overlapping = launch_overlapping};
#define INSTEAD(member, function)                                                                  \
    if (strcmp(name, function) == 0)                                                               \
        return instead(found, &real.member, &ours.member);
    INSTEAD(to_device, "cuMemcpyHtoDAsync_v2")
    INSTEAD(to_host, "cuMemcpyDtoHAsync_v2")
    INSTEAD(copy_lines, "cuMemcpy2DAsync_v2")
    INSTEAD(launch, "cuLaunchKernel")
    INSTEAD(launch_overlapping, "cuLaunchKernelEx")
#undef INSTEAD
#define KEEP(member, function)                                                                     \
    if (strcmp(name, function) == 0)                                                               \
        memcpy(&real.member, &found, sizeof found);
    KEEP(event_create, "cuEventCreate")
    KEEP(event_record, "cuEventRecord")
    KEEP(event_elapsed, "cuEventElapsedTime")
    KEEP(event_elapsed, "cuEventElapsedTime_v2")
    KEEP(event_destroy, "cuEventDestroy_v2")
#undef KEEP
    return found;
}

void host_trace_begin(void) {
    num_calls = 0;
    notes = real.event_create && real.event_record && real.event_elapsed && real.event_destroy;
}

void host_trace_end(void) {
    notes = false;
    (void)printf("    ms: made    begun    ended\n");
    for (int i = 0; i < num_calls; ++i) {
        const traced_t *const t = &calls[i];
        float from = 0.0F;
        float to = 0.0F;
        (void)real.event_elapsed(&from, calls[0].before, t->before);
        (void)real.event_elapsed(&to, calls[0].before, t->after);
        (void)printf("    %8.3f %8.3f %8.3f  %-10s", 1e3 * (t->made - calls[0].made), (double)from,
                     (double)to, t->what);
        if (t->bytes > 0)
            (void)printf(" %8.2f MB, %5.1f GB/s", 1e-6 * t->bytes,
                         1e-6 * t->bytes / (double)(to - from));
        (void)printf("\n");
    }
    for (int i = 0; i < num_calls; ++i) {
        (void)real.event_destroy(calls[i].before);
        (void)real.event_destroy(calls[i].after);
    }
}
