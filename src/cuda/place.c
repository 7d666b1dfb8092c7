/* place.c - where the matrices of a call lie. */
#include <stdio.h>

#include "cuda/backend.h"
#include "cuda/driver.h"
#include "cuda/place.h"
#include "host/heap.h"

enum { ON_HOST = TCGEMM_PLACE_HOST, MANAGED = -2, ABSENT = -3 };

typedef struct pointer_facts {
    unsigned memory_type;
    unsigned is_managed;
    int device;
} pointer_facts_t;

/* One call where the driver has it, else one for each fact. */
static CUresult ask(const void *pointer, pointer_facts_t *facts) {
    const tcgemm_driver_t *const driver = tcgemm_driver(NULL);
    const CUdeviceptr address = (CUdeviceptr)(uintptr_t)pointer;
    if (tcgemm_driver_has(TCGEMM_DRIVER_POINTERS)) {
        CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                       CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                       CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
        void *values[] = {&facts->memory_type, &facts->is_managed, &facts->device};
        return driver->pointer_attributes(3, which, values, address);
    }
    const CUresult known =
        driver->pointer_attribute(&facts->memory_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    if (known != CUDA_SUCCESS)
        return known;
    (void)driver->pointer_attribute(&facts->is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
    return driver->pointer_attribute(&facts->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
}

/* Pointers that the driver has never heard of are the host's. It takes 0.7 us to say so, six times
 * as long as a product of 8 x 8: nobody asks about the heap. */
static tcgemm_status_t place_of(const void *pointer, int *place) {
    pointer_facts_t facts = {0};
    *place = pointer ? ON_HOST : ABSENT;
    if (!pointer || tcgemm_is_in_heap(pointer))
        return TCGEMM_STATUS_OK;
    const CUresult known = ask(pointer, &facts);
    if (tcgemm_driver_error_is_sticky(known))
        return tcgemm_driver_status(known, "asking where a matrix lies");
    if (known != CUDA_SUCCESS)
        return TCGEMM_STATUS_OK;
    if (facts.is_managed)
        *place = MANAGED;
    else if (facts.memory_type == CU_MEMORYTYPE_DEVICE)
        *place = facts.device;
    return TCGEMM_STATUS_OK;
}

static const char *place_name(int place, char buffer[32]) {
    (void)snprintf(buffer, 32, place == ON_HOST ? "in host memory" : "on GPU %d", place);
    return buffer;
}

tcgemm_status_t tcgemm_gpu_place(const tcgemm_canonical_t *g, const tcgemm_call_t *call, int home,
                                 int *place) {
    *place = TCGEMM_PLACE_HOST;
    if (!tcgemm_driver_is_present() || tcgemm_driver_is_forked() || !tcgemm_driver(NULL))
        return TCGEMM_STATUS_OK;
    const void *const pointers[] = {call->d, g->swapped ? call->b : call->a,
                                    g->swapped ? call->a : call->b, call->c};
    int found = ABSENT;
    int first = 0;
    for (int i = 0; i < 4; ++i) {
        int at;
        TCGEMM_FORWARD(place_of(pointers[i], &at));
        if (at == ABSENT || at == MANAGED) {
            found = found == ABSENT ? at : found;
            continue;
        }
        if (found == ABSENT || found == MANAGED) {
            found = at;
            first = i;
        }
        char here[32];
        char there[32];
        TCGEMM_RETURN_IF(at != found, TCGEMM_STATUS_BAD_ARGUMENT, "%c lies %s, but %c lies %s",
                         "DABC"[first], place_name(found, here), "DABC"[i], place_name(at, there));
    }
    *place = found == MANAGED ? home : found == ABSENT ? TCGEMM_PLACE_HOST : found;
    return TCGEMM_STATUS_OK;
}

/* ---- pinned memory ---- */

static bool is_registered(const void *pointer) {
    unsigned type = 0;
    return tcgemm_driver(NULL)->pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                  (CUdeviceptr)(uintptr_t)pointer) ==
               CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_HOST;
}

/* A part of an array may be registered, or two parts with a gap: one range must hold it all. */
bool tcgemm_gpu_is_pinned(const void *data, size_t bytes) {
    const tcgemm_driver_t *const driver = tcgemm_driver(NULL);
    const char *const last = (const char *)data + bytes - 1;
    CUdeviceptr first_range = 0;
    CUdeviceptr last_range = 0;
    if (!is_registered(data) || !is_registered(last))
        return false;
    const CUresult first = driver->pointer_attribute(
        &first_range, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, (CUdeviceptr)(uintptr_t)data);
    const CUresult second = driver->pointer_attribute(
        &last_range, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, (CUdeviceptr)(uintptr_t)last);
    return first == CUDA_SUCCESS && second == CUDA_SUCCESS && first_range == last_range;
}
