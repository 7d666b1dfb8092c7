/* harness.h - what the tests on the fake driver share.
 *
 * The library asks for the driver once in a process, so each test is a process of its own: the body
 * sets the fake driver up, uses the public API, and ends with check_end().
 */
#ifndef TCGEMM_TESTS_FAKE_DRIVER_HARNESS_H
#define TCGEMM_TESTS_FAKE_DRIVER_HARNESS_H

#include <stdbool.h>

#include "fake_driver/driver/fake.h"
#include "support/testcase.h"

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            report_failure(__VA_ARGS__);                                                           \
            report_failure("  ^ %s:%d: %s; last error: %s", __FILE__, __LINE__, #condition,        \
                           tcgemm_last_error());                                                   \
        }                                                                                          \
    } while (0)

/* Runs the body in a child and returns true if nothing failed there and it came to its end. What a
 * child counts reaches its parent through `add_counts`. */
typedef void body_t(const void *argument);
bool passes_alone(const char *name, body_t *body, const void *argument);

/* A test: passes_alone(), and the result printed. Returns 1 if it failed. */
int run_alone(const char *name, body_t *body, const void *argument);

/* At the end of a body: no complaint, no work left over, this thread's contexts as they were, and
 * nothing left but what the library keeps on each GPU: six pinned buffers, an arena, four streams
 * and 46 events (staging.c). */
void check_end(void);

/* ---- GPUs ---- */

/* A context on GPU `device` with 2 threads; NULL and a failure if there is none. */
tcgemm_context_t *context_on(int device);

/* The operands of a case in GPU memory, with the bytes around them. */
typedef struct on_gpu {
    int device;
    void *block[4]; /* of A, B, C, D; block[3] is block[2] if in place */
    const operands_t *host;
} on_gpu_t;

/* False, with a sentence, if there is no memory: nothing is to be freed then. */
bool on_gpu_make(const operands_t *host, int device, on_gpu_t *x);
void on_gpu_free(on_gpu_t *x);
void *on_gpu_data(const on_gpu_t *x, int operand);

/* Brings D's block back into the host operands. */
bool on_gpu_fetch(const on_gpu_t *x);

/* The case in host memory or on GPU `device`, by a plan of this context; what comes out is judged,
 * what was around D must be there. True if all is well. With HOST_STATS some operands are pinned,
 * by the seed: all of them where it is a multiple of 16. */
typedef enum way { HOST, HOST_STATS, GPU, GPU_STATS, GPU_ASYNC, GPU_WORKSPACE } way_t;
bool product_is_right(const testcase_t *t, tcgemm_context_t *context, int device, way_t way);

/* Fails unless the case's D in host memory is right, its surroundings included. */
bool judge(const testcase_t *t, const operands_t *x, const tcgemm_plan_t *plan);

/* A random case of a type that has GPU kernels: shape up to `most`, layouts, strides, scalars. */
testcase_t random_case(uint64_t *random, tcgemm_type_t type, int64_t most);

/* The types that some GPU row computes. */
int num_gpu_types(void);
/* The first so many by rows of every GPU; fp8, behind them, by plans with a workspace on Hopper. */
int num_common_types(void);
tcgemm_type_t gpu_type(int index);

#endif
