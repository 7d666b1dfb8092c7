/* gpu_data.c - operands on a GPU through the library's own calls. */
#include "bench/gpu_data.h"

#include <stdlib.h>

#include "files/layout.h"
#include "support/exit_status.h"
#include "support/message.h"

enum { MAX_SETS = 1024 };

/* A copy on the GPU of what lies in host or GPU memory. */
static tcgemm_status_t copy_of(int device, const void *from, size_t bytes, void **memory) {
    if (bytes == 0)
        return TCGEMM_STATUS_OK;
    const tcgemm_status_t status = tcgemm_device_alloc(device, bytes, memory);
    return status == TCGEMM_STATUS_OK ? tcgemm_device_copy(device, *memory, from, bytes) : status;
}

static tcgemm_status_t make_set(const gpu_data_t *data, const tcgemm_problem_t *p,
                                const gpu_set_t *from, gpu_set_t *set) {
    const struct {
        char name;
        const void *from;
        void **to;
    } all[] = {{'A', from->a, &set->a},
               {'B', from->b, &set->b},
               {'C', from->c, &set->c},
               {'D', from->d, &set->d}};
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    for (int i = 0; i < 4 && status == TCGEMM_STATUS_OK; ++i)
        status = copy_of(data->device, all[i].from, layout_of(p, all[i].name).bytes, all[i].to);
    return status;
}

static int64_t num_sets(const tcgemm_problem_t *p, double min_bytes) {
    double bytes = 0;
    for (const char *x = "ABCD"; *x; ++x)
        bytes += (double)layout_of(p, *x).bytes;
    const double count = bytes > 0 ? min_bytes / bytes + 1 : 1;
    return count < MAX_SETS ? (int64_t)count : MAX_SETS;
}

int gpu_data_create(gpu_data_t *data, int device, const workload_t *w, double min_bytes) {
    const int64_t count = num_sets(&w->problem, min_bytes);
    *data = (gpu_data_t){.device = device, .sets = calloc((size_t)count, sizeof *data->sets)};
    if (!data->sets)
        return message_fail(CLI_NO_MEMORY, "no memory for the operands");
    const gpu_set_t host = {w->a, w->b, w->c, w->d};
    while (data->count < count) {
        const int64_t i = data->count++;
        const tcgemm_status_t status =
            make_set(data, &w->problem, i == 0 ? &host : &data->sets[0], &data->sets[i]);
        if (status != TCGEMM_STATUS_OK)
            return message_library(status);
    }
    return CLI_OK;
}

void gpu_data_free(gpu_data_t *data) {
    for (int64_t i = 0; i < data->count; ++i) {
        const gpu_set_t *set = &data->sets[i];
        (void)tcgemm_device_free(data->device, set->a);
        (void)tcgemm_device_free(data->device, set->b);
        (void)tcgemm_device_free(data->device, set->c);
        (void)tcgemm_device_free(data->device, set->d);
    }
    free(data->sets);
    *data = (gpu_data_t){0};
}

const gpu_set_t *gpu_data_next(gpu_data_t *data) {
    const gpu_set_t *set = &data->sets[data->next];
    data->next = (data->next + 1) % data->count;
    return set;
}

static int copy_d(const gpu_data_t *data, workload_t *w, bool to_gpu) {
    const size_t bytes = layout_of(&w->problem, 'D').bytes;
    void *const gpu = data->sets[0].d;
    const tcgemm_status_t status =
        tcgemm_device_copy(data->device, to_gpu ? gpu : w->d, to_gpu ? w->d : gpu, bytes);
    return status == TCGEMM_STATUS_OK ? CLI_OK : message_library(status);
}

int gpu_data_mark(const gpu_data_t *data, workload_t *w) {
    workload_reset(w);
    return copy_d(data, w, true);
}

int gpu_data_fetch(const gpu_data_t *data, workload_t *w) {
    return copy_d(data, w, false);
}
