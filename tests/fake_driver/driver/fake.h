/* fake.h - a libcuda.so.1 without a GPU: what a test may ask of it beside <cuda.h>.
 *
 * The library opens it as it would open the driver. Device memory is host memory that only the fake
 * can reach: to everybody else a device pointer is a fault, as on a real machine. Streams run late
 * and out of order, as far as the rules of CUDA allow:
 *
 *     calls.c     every entry point passes here: counts, failures that a test has ordered,
 * complaints device.c    GPUs, primary contexts, the stack of contexts of each thread memory.c
 * device, managed and pinned memory between canaries, poisoned, quarantined queue.c     streams and
 * events: nothing runs before somebody waits for it module.c    modules, functions, launches and
 * what must hold of them run_kernel.c  what the kernels compute, from their arguments alone
 *
 * A use that CUDA forbids is a complaint: one line on stderr, counted.
 */
#ifndef TCGEMM_TESTS_FAKE_DRIVER_FAKE_H
#define TCGEMM_TESTS_FAKE_DRIVER_FAKE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_gpu {
    const char *name;
    int cc; /* 10 x compute capability */
    int num_sms;
    size_t memory_bytes;
    size_t smem_block_bytes; /* most of one block */
} fake_gpu_t;

extern const fake_gpu_t fake_hopper, fake_ampere, fake_turing, fake_pascal;

/* The GPUs of the machine, one fake_hopper at first. Before cuInit. */
void fake_set_gpus(int count, const fake_gpu_t *gpus);

/* The memory of a GPU, and what other processes leave of it to this one (at first all). */
void fake_set_memory(int gpu, size_t bytes);
void fake_set_free_memory(int gpu, size_t bytes);

/* ---- calls ---- */

/* The calls of a function ("cuMemAlloc_v2") since the counts were last forgotten; NULL: of all. */
long fake_count(const char *function);
void fake_forget_counts(void);
void fake_print_counts(void);

/* The call-th call from now on (1: the next) of the function (NULL: of any but cuCtxPopCurrent,
 * after which nobody can put the stack of contexts in order) returns `result` and does nothing. A
 * result after which CUDA gives a context up costs the context. */
void fake_fail(const char *function, long call, CUresult result);
const char *fake_failed(void); /* the function that failed so, or NULL */

/* The n-th kernel that runs from now on (1: the next) faults: nothing is written, the GPU is lost.
 */
void fake_fault_kernel(long n, CUresult result);

/* Symbols that this driver does not have; the test's dlsym asks (harness.c). */
void fake_hide(const char *symbol);
bool fake_is_hidden(const char *symbol);

/* ---- streams ---- */

typedef enum fake_order {
    FAKE_EAGER, /* everything at once, as it is queued */
    FAKE_LAZY,  /* only what the awaited depends on */
    FAKE_RANDOM /* that and whatever else may run, by the seed */
} fake_order_t;

/* FAKE_LAZY at first. */
void fake_set_order(fake_order_t order, uint64_t seed);
fake_order_t fake_order(void);

/* ---- what is left ---- */

typedef struct fake_live {
    int device, managed, pinned; /* allocations */
    int registered;              /* ranges of the caller's memory */
    int streams, events, modules;
    int pending; /* operations queued and not run */
    size_t device_bytes;
} fake_live_t;

fake_live_t fake_live(void);

/* Contexts on this thread's stack. */
int fake_depth(void);

/* Checks all canaries; then the number of complaints. */
int fake_complaints(void);

/* Reads and writes device memory at once, behind the queue's back. */
void *fake_reach(const void *device_pointer, size_t bytes);

#endif
