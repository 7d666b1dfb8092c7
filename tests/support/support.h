/* support.h - what the tests share: how much to test, seeded random numbers, fills, failures. */
#ifndef TCGEMM_TESTS_SUPPORT_SUPPORT_H
#define TCGEMM_TESTS_SUPPORT_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tcgemm/tcgemm.h"

/* TCGEMM_TEST_LEVEL=sanitize is small enough for a sanitizer, =full large enough for a night. */
typedef enum level { LEVEL_SANITIZE, LEVEL_NORMAL, LEVEL_FULL } level_t;

level_t test_level(void);

/* The value for the level at hand. */
int64_t at_level(int64_t sanitize, int64_t normal, int64_t full);

/* splitmix64: the same numbers on every machine. */
uint64_t random_next(uint64_t *state);
int64_t random_below(uint64_t *state, int64_t end);
double random_unit(uint64_t *state); /* in [0, 1) */
double random_normal(uint64_t *state);

typedef enum fill {
    FILL_UNIFORM,   /* -1 .. 1; integers: every value */
    FILL_POSITIVE,  /* 0 .. 1 */
    FILL_SMALL_INT, /* whole numbers so small that all sums are exact */
    FILL_LOGNORMAL, /* sigma 3 */
    FILL_WIDE,      /* uniform times 2^e, e in -20 .. 20 as far as the format goes */
    FILL_CYCLE      /* period 251: swapped or repeated tiles do not look alike */
} fill_t;

const char *fill_name(fill_t fill);

/* Element `position` of a matrix filled in this way; `k` bounds the small integers. */
double fill_value(fill_t fill, tcgemm_dtype_t dtype, int64_t k, int64_t position, uint64_t *random);

/* Prints "FAILED ..." in one line and counts it. After 20 lines only counts. */
void report_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));
int num_failures(void);

/* For the end of a cmocka test: asserts that nothing has failed since the last call. */
void assert_no_failures(void);

/* TCGEMM_TEST_KERNEL, a part of the names of kernels: a test that goes through all of them, or
 * through all types, is about these, and the types for which the planner takes one. */
bool is_about_kernel(const char *name);
bool is_about_type(tcgemm_type_t type);

/* True if row `index` of the kernel table runs on this processor and computes `type`, and the test
 * is about it. */
bool kernel_does(int index, tcgemm_type_t type, tcgemm_kernel_info_t *info);

/* A context on the CPU with this many threads, made at the first call and kept. */
tcgemm_context_t *context_of(int num_threads);

/* One plan by kernel name (NULL: the planner's choice); fails the test if it cannot be made. */
tcgemm_plan_t *plan_of(tcgemm_context_t *context, const tcgemm_problem_t *problem,
                       const char *kernel);

/* False in a build without the emulator of GPU kernels: what needs it is skipped. */
bool has_emulator(void);

uint64_t hash_bytes(const void *data, size_t bytes); /* FNV-1a, eight bytes at a time */

double seconds_now(void);

/* What `find` gives in a process of its own. */
double in_a_process(double (*find)(void));

/* Clocks a second by another instruction than the library's: a multiplication waits three clocks
 * for the one before it, on x86 as on arm64; four or five on some small cores. */
double multiplications_hz(void);

#endif
