/* memory.c - device, managed and pinned memory.
 *
 *     device pointer   ->  pages that nobody may touch         what the caller holds
 *                          [canary][bytes, 0xFF][canary]       where the bytes are; only we know
 *
 * 0xFF is NaN in every float and -1 in every integer. What is freed is never given out again, so
 * that a stale pointer is known for what it is.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_driver/driver/state.h"

enum { PAGE = 4096, CANARY_BYTES = 256, POISON = 0xFF, CANARY = 0xC5, MOST_POISON = 1 << 20 };

typedef enum kind { DEVICE, MANAGED, PINNED, REGISTERED } kind_t;

typedef struct allocation {
    kind_t kind;
    uintptr_t address;
    size_t bytes;
    unsigned char *data; /* inside block */
    unsigned char *block;
    size_t block_bytes;
    CUcontext context;
    bool is_freed;
    struct allocation *next;
} allocation_t;

static allocation_t *allocations;

/* ---- making and freeing ---- */

static size_t whole_pages(size_t bytes) {
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* Pages between two that nobody may touch; NULL if there are none. */
static unsigned char *map_pages(size_t bytes, int protection) {
    const size_t whole = whole_pages(bytes);
    unsigned char *const base =
        mmap(NULL, whole + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    if (protection != PROT_NONE && mprotect(base + PAGE, whole, protection) != 0)
        return NULL;
    return base + PAGE;
}

static bool place(allocation_t *x) {
    const size_t whole = whole_pages(x->bytes);
    if (x->kind == DEVICE) {
        x->address = (uintptr_t)map_pages(x->bytes, PROT_NONE);
        x->block_bytes = (x->bytes + 2 * CANARY_BYTES + PAGE - 1) / PAGE * PAGE;
        x->block = aligned_alloc(PAGE, x->block_bytes);
        x->data = x->block ? x->block + CANARY_BYTES : NULL;
    } else {
        x->data = x->block = map_pages(x->bytes, PROT_READ | PROT_WRITE);
        x->block_bytes = whole;
        x->address = (uintptr_t)x->data;
    }
    if (!x->address || !x->block)
        return false;
    const size_t poisoned = x->kind == PINNED && x->bytes > MOST_POISON ? MOST_POISON : x->bytes;
    if (x->kind == DEVICE)
        memset(x->block, CANARY, CANARY_BYTES);
    memset(x->data, POISON, poisoned);
    memset(x->data + x->bytes, CANARY, x->block_bytes - (size_t)(x->data - x->block) - x->bytes);
    return true;
}

static size_t free_memory(CUcontext context) {
    const size_t used = context->used_bytes + context->others_bytes;
    return used < context->facts.memory_bytes ? context->facts.memory_bytes - used : 0;
}

static CUresult make(kind_t kind, size_t bytes, uintptr_t *address) {
    CUcontext context = fake_current();
    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (kind != PINNED && bytes > free_memory(context))
        return CUDA_ERROR_OUT_OF_MEMORY;
    allocation_t *const x = calloc(1, sizeof *x);
    if (!x)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *x = (allocation_t){.kind = kind, .bytes = bytes, .context = context, .next = allocations};
    if (!place(x)) {
        free(x);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (kind != PINNED)
        context->used_bytes += bytes;
    allocations = x;
    *address = x->address;
    return CUDA_SUCCESS;
}

static bool all_are(const unsigned char *bytes, size_t count, int value) {
    for (size_t i = 0; i < count; ++i)
        if (bytes[i] != value)
            return false;
    return true;
}

static void check_canaries(const allocation_t *x) {
    if (x->kind == REGISTERED)
        return;
    const size_t before = (size_t)(x->data - x->block);
    const size_t after = before + x->bytes;
    if (!all_are(x->block, before, CANARY) ||
        !all_are(x->block + after, x->block_bytes - after, CANARY))
        fake_complain("bytes around an allocation of %zu were written", x->bytes);
}

static allocation_t *find(uintptr_t address) {
    for (allocation_t *x = allocations; x; x = x->next)
        if (address >= x->address && address - x->address < x->bytes &&
            !(x->kind == REGISTERED && x->is_freed)) /* ordinary memory again */
            return x;
    return NULL;
}

static CUresult release(uintptr_t address, bool pinned) {
    allocation_t *const x = find(address);
    if (!x || x->address != address || x->is_freed || x->kind == REGISTERED ||
        (x->kind == PINNED) != pinned) {
        fake_complain("what is freed is %s", x && x->is_freed ? "free already" : "no allocation");
        return CUDA_ERROR_INVALID_VALUE;
    }
    check_canaries(x);
    x->is_freed = true;
    if (x->kind != PINNED)
        x->context->used_bytes -= x->bytes;
    if (x->kind == DEVICE) {
        free(x->block);
        x->block = x->data = NULL;
    } else {
        (void)madvise(x->block, x->block_bytes, MADV_DONTNEED);
        (void)mprotect(x->block, x->block_bytes, PROT_NONE);
    }
    return CUDA_SUCCESS;
}

void fake_free_now(uintptr_t address) {
    (void)release(address, false);
}

/* ---- finding ---- */

void *fake_resolve(CUcontext context, uintptr_t address, size_t bytes, const char *what) {
    const allocation_t *x = find(address);
    if (!x)
        return (void *)address; /* NOLINT(performance-no-int-to-ptr) */
    const size_t offset = address - x->address;
    if (x->is_freed)
        fake_complain("%s lies in memory that was freed", what);
    else if (bytes > x->bytes - offset)
        fake_complain("%s ends %zu bytes beyond its allocation of %zu", what,
                      bytes - (x->bytes - offset), x->bytes);
    else if (context && x->kind == DEVICE && x->context != context)
        fake_complain("%s lies on GPU %d, but GPU %d uses it", what, x->context->index,
                      context->index);
    else
        return x->data + offset;
    return NULL;
}

bool fake_is_pinned(uintptr_t address) {
    const allocation_t *x = find(address);
    return x && x->kind != DEVICE && !x->is_freed;
}

bool fake_all_pinned(uintptr_t address, size_t bytes) {
    const allocation_t *x = find(address);
    return fake_is_pinned(address) && bytes <= x->bytes - (address - x->address);
}

bool fake_is_on_device(uintptr_t address) {
    const allocation_t *x = find(address);
    return x && x->kind == DEVICE;
}

void *fake_reach(const void *device_pointer, size_t bytes) {
    (void)fake_lock();
    void *const data = fake_resolve(NULL, (uintptr_t)device_pointer, bytes, "what a test reaches");
    fake_unlock(NULL);
    return data;
}

void fake_count_memory(fake_live_t *live) {
    for (const allocation_t *x = allocations; x; x = x->next) {
        if (x->is_freed)
            continue;
        live->device += x->kind == DEVICE;
        live->managed += x->kind == MANAGED;
        live->pinned += x->kind == PINNED;
        live->registered += x->kind == REGISTERED;
        live->device_bytes += x->kind == DEVICE ? x->bytes : 0;
    }
}

void fake_check_canaries(void) {
    for (const allocation_t *x = allocations; x; x = x->next)
        if (!x->is_freed)
            check_canaries(x);
}

/* ---- the driver's calls ---- */

CUresult cuMemGetInfo(size_t *available, size_t *total) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    *total = fake_current()->facts.memory_bytes;
    *available = free_memory(fake_current());
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    uintptr_t address = 0;
    const CUresult result = make(DEVICE, bytes, &address);
    if (result == CUDA_SUCCESS)
        *pointer = (CUdeviceptr)address;
    return result;
}

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    (void)flags;
    uintptr_t address = 0;
    const CUresult result = make(MANAGED, bytes, &address);
    if (result == CUDA_SUCCESS)
        *pointer = (CUdeviceptr)address;
    return result;
}

/* Waits for the GPU, as the driver does for memory of cuMemAlloc. */
CUresult cuMemFree(CUdeviceptr pointer) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    if (!pointer)
        return CUDA_SUCCESS;
    fake_finish_all();
    const CUresult lost = fake_current()->lost;
    return lost != CUDA_SUCCESS ? lost : release((uintptr_t)pointer, false);
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    (void)flags;
    uintptr_t address = 0;
    const CUresult result = make(PINNED, bytes, &address);
    if (result == CUDA_SUCCESS)
        *pointer = (void *)address; /* NOLINT(performance-no-int-to-ptr) */
    return result;
}

CUresult cuMemFreeHost(void *pointer) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    fake_finish_all();
    return release((uintptr_t)pointer, true);
}

/* Whole bytes of the caller's: the real driver counts in pages. */
CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned flags) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    const allocation_t *known = find((uintptr_t)pointer);
    allocation_t *const x = calloc(1, sizeof *x);
    (void)flags;
    if (known || !x || bytes == 0) {
        free(x);
        return known ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED : CUDA_ERROR_INVALID_VALUE;
    }
    *x = (allocation_t){.kind = REGISTERED,
                        .address = (uintptr_t)pointer,
                        .bytes = bytes,
                        .data = pointer,
                        .context = fake_current(),
                        .next = allocations};
    allocations = x;
    return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *pointer) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    allocation_t *const x = find((uintptr_t)pointer);
    fake_finish_all();
    if (!x || x->kind != REGISTERED || x->address != (uintptr_t)pointer)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    x->is_freed = true;
    return CUDA_SUCCESS;
}

/* Pools are told apart by nothing here: a handle that is not NULL. */
CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
    static char handle;
    FAKE_CALL(FAKE_NEEDS_INIT);
    if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    *pool = (CUmemoryPool)(void *)&handle;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value) {
    FAKE_CALL(FAKE_NEEDS_INIT);
    return pool && value && which == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? CUDA_SUCCESS
                                                                       : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool,
                                 CUstream handle) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    if (!pool || !fake_stream(handle))
        return CUDA_ERROR_INVALID_HANDLE;
    uintptr_t address = 0;
    const CUresult result = make(DEVICE, bytes, &address);
    if (result == CUDA_SUCCESS)
        *pointer = (CUdeviceptr)address;
    return result;
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    CUstream stream = fake_stream(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    fake_queue_free(stream, (uintptr_t)pointer);
    return CUDA_SUCCESS;
}

/* ---- what a pointer is ---- */

static bool attribute(const allocation_t *x, CUpointer_attribute which, void *value) {
    switch (which) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: {
        const bool on_host = x->kind == PINNED || x->kind == REGISTERED;
        const CUmemorytype type = on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        memcpy(value, &type, sizeof type);
        return true;
    }
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: {
        const unsigned managed = x->kind == MANAGED;
        memcpy(value, &managed, sizeof managed);
        return true;
    }
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        memcpy(value, &x->address, sizeof x->address);
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        memcpy(value, &x->context->index, sizeof x->context->index);
        return true;
    default:
        return false;
    }
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute which, CUdeviceptr pointer) {
    FAKE_CALL(FAKE_NEEDS_INIT);
    const allocation_t *x = find((uintptr_t)pointer);
    if (!x || x->is_freed || !attribute(x, which, value))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* Unlike the singular, no error for a pointer of the host: its attributes are 0. */
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *which, void **values,
                                CUdeviceptr pointer) {
    FAKE_CALL(FAKE_NEEDS_INIT);
    const allocation_t *x = find((uintptr_t)pointer);
    for (unsigned i = 0; i < count; ++i) {
        memset(values[i], 0, sizeof(int)); /* each that we know has the size of an int */
        if (x && !x->is_freed && !attribute(x, which[i], values[i]))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}
