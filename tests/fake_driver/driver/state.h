/* state.h - what the files of the fake driver share. One mutex guards all of it. */
#ifndef TCGEMM_TESTS_FAKE_DRIVER_STATE_H
#define TCGEMM_TESTS_FAKE_DRIVER_STATE_H

#include "fake_driver/driver/fake.h"

struct CUstream_st {
    CUcontext context;
    bool is_blocking; /* waits for the legacy stream, and it for this */
    bool is_legacy;
    bool is_live;
    CUstream next;
};

struct CUevent_st {
    CUcontext context;
    bool has_timing;
    bool is_live;
    uint64_t recorded; /* the operation, 0: none yet */
    double time;
    CUevent next;
};

/* A GPU and its primary context. */
struct CUctx_st {
    fake_gpu_t facts;
    int index;
    int retained;
    size_t used_bytes;
    size_t others_bytes; /* of memory */
    CUresult lost;       /* CUDA_SUCCESS: it is well */
    double clock;        /* seconds that its work has taken */
    struct CUstream_st legacy;
};

enum { FAKE_MAX_GPUS = 8 };
extern struct CUctx_st fake_contexts[FAKE_MAX_GPUS];
extern int fake_num_gpus;

/* ---- calls.c ---- */

typedef enum fake_needs { FAKE_NEEDS_NOTHING, FAKE_NEEDS_INIT, FAKE_NEEDS_CONTEXT } fake_needs_t;

int fake_lock(void);
void fake_unlock(const int *locked);
CUresult fake_enter(const char *function, fake_needs_t needs);
void fake_mark_initialised(void);

/* The first line of every entry point: it holds the mutex until the function returns. */
#define FAKE_CALL(needs) FAKE_CALL_AS(__func__, needs)
#define FAKE_CALL_AS(function, needs)                                                              \
    const int locked_ __attribute__((cleanup(fake_unlock), unused)) = fake_lock();                 \
    const CUresult refused_ = fake_enter(function, needs);                                         \
    if (refused_ != CUDA_SUCCESS)                                                                  \
    return refused_

void fake_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool fake_is_sticky(CUresult result);

/* True if the kernel about to run was ordered to fault. */
bool fake_kernel_faults(CUresult *result);

/* ---- device.c ---- */

CUcontext fake_current(void); /* NULL: none */

/* ---- memory.c ---- */

/* Where the bytes at an address really are, or NULL with a complaint about `what`: beyond the end
 * of an allocation, freed, or on another GPU than `context`'s. Host memory is where it is. */
void *fake_resolve(CUcontext context, uintptr_t address, size_t bytes, const char *what);

bool fake_is_pinned(uintptr_t address);
bool fake_all_pinned(uintptr_t address, size_t bytes); /* in one allocation or registration */
bool fake_is_on_device(uintptr_t address);
void fake_free_now(uintptr_t address); /* the end of cuMemFreeAsync */
void fake_count_memory(fake_live_t *live);
void fake_check_canaries(void);

/* ---- queue.c ---- */

/* The stream of a handle (NULL: the legacy stream of the current context), or NULL if it is none of
 * this context. */
CUstream fake_stream(CUstream handle);

/* So many lines of so many bytes, and from one to the next. */
typedef struct fake_lines {
    size_t bytes, lines, to_pitch, from_pitch;
    int value; /* of a memory set */
} fake_lines_t;

void fake_queue_lines(CUstream stream, uintptr_t to, uintptr_t from, const fake_lines_t *lines,
                      void *snapshot);
void fake_queue_set(CUstream stream, uintptr_t to, const fake_lines_t *lines);
void fake_queue_copy(CUstream stream, uintptr_t to, uintptr_t from, size_t bytes, void *snapshot);
void fake_queue_free(CUstream stream, uintptr_t address);

/* Takes the launch over and frees it when it has run. */
struct fake_launch;
void fake_queue_kernel(CUstream stream, struct fake_launch *launch);

/* Runs all that is queued in a stream, or in all of them. */
void fake_finish_stream(CUstream stream);
void fake_finish_all(void);
void fake_count_queue(fake_live_t *live);

/* ---- module.c ---- */

/* Runs the kernel of a launch and frees it. Returns the seconds it takes. */
double fake_run_launch(CUcontext context, struct fake_launch *launch);
int fake_count_modules(void);

#endif
