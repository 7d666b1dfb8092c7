#include "support/support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/oracle.h"

level_t test_level(void) {
    const char *level = getenv("TCGEMM_TEST_LEVEL");
    if (level && strcmp(level, "sanitize") == 0)
        return LEVEL_SANITIZE;
    return level && strcmp(level, "full") == 0 ? LEVEL_FULL : LEVEL_NORMAL;
}

int64_t at_level(int64_t sanitize, int64_t normal, int64_t full) {
    const level_t level = test_level();
    return level == LEVEL_SANITIZE ? sanitize : level == LEVEL_FULL ? full : normal;
}

/* ---- random numbers ---- */

uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

int64_t random_below(uint64_t *state, int64_t end) {
    return (int64_t)(random_next(state) % (uint64_t)end);
}

double random_unit(uint64_t *state) {
    return 0x1p-53 * (double)(random_next(state) >> 11);
}

double random_normal(uint64_t *state) {
    const double radius = sqrt(-2.0 * log(1.0 - random_unit(state)));
    return radius * cos(6.283185307179586 * random_unit(state));
}

/* ---- fills ---- */

const char *fill_name(fill_t fill) {
    static const char *const names[] = {"uniform",   "positive", "small-int",
                                        "lognormal", "wide",     "cycle"};
    return names[fill];
}

/* The largest r so that sums of k products of whole numbers up to r stay below 2^20, capped by what
 * the format holds exactly and by 64. */
static int64_t small_int_range(tcgemm_dtype_t dtype, int64_t k) {
    int64_t most = 64;
    if (dtype == TCGEMM_DTYPE_F16 || dtype == TCGEMM_DTYPE_BF16)
        most = 8;
    else if (dtype == TCGEMM_DTYPE_E4M3)
        most = 4;
    else if (dtype == TCGEMM_DTYPE_E5M2)
        most = 2;
    if (most * most * k <= 1 << 20)
        return most;
    const int64_t fits =
        (int64_t)sqrt((double)((1 << 20) / k)); /* a square is a square of a double */
    return fits > 1 ? fits : 1;
}

static double integer_value(fill_t fill, tcgemm_dtype_t dtype, int64_t position, uint64_t *random) {
    const uint64_t bits = fill == FILL_CYCLE ? (uint64_t)(position % 251) : random_next(random);
    return oracle_decode(dtype, bits & ((UINT64_C(1) << oracle_bits(dtype)) - 1));
}

double fill_value(fill_t fill, tcgemm_dtype_t dtype, int64_t k, int64_t position,
                  uint64_t *random) {
    if (!oracle_is_float(dtype))
        return integer_value(fill, dtype, position, random);
    const bool short_range =
        dtype == TCGEMM_DTYPE_E4M3 || dtype == TCGEMM_DTYPE_E5M2 || dtype == TCGEMM_DTYPE_F16;
    const double uniform = 2.0 * random_unit(random) - 1.0;
    const bool is_whole = fill == FILL_SMALL_INT || fill == FILL_CYCLE;
    const int64_t range = is_whole ? small_int_range(dtype, k) : 0;
    switch (fill) {
    case FILL_POSITIVE:
        return fabs(uniform);
    case FILL_SMALL_INT:
        return (double)(random_below(random, 2 * range + 1) - range);
    case FILL_LOGNORMAL:
        return copysign(exp((short_range ? 1.0 : 3.0) * random_normal(random)), uniform);
    case FILL_WIDE:
        return ldexp(uniform,
                     (int)random_below(random, short_range ? 11 : 41) - (short_range ? 5 : 20));
    case FILL_CYCLE:
        return (double)(position % 251 % (2 * range + 1) - range);
    case FILL_UNIFORM:
    default:
        return uniform;
    }
}

/* ---- failures ---- */

static atomic_int failures;

void report_failure(const char *format, ...) {
    char line[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (atomic_fetch_add(&failures, 1) < 20)
        (void)fprintf(stderr, "FAILED %s\n", line);
}

int num_failures(void) {
    return atomic_load(&failures);
}

void assert_no_failures(void) {
    const int count = atomic_exchange(&failures, 0);
    if (count > 0)
        fail_msg("%d failures", count);
}

/* ---- plans ---- */

bool is_about_kernel(const char *name) {
    const char *const part = getenv("TCGEMM_TEST_KERNEL");
    return !part || strstr(name, part) != NULL;
}

bool is_about_type(tcgemm_type_t type) {
    const tcgemm_problem_t p = tcgemm_problem(type, 64, 64, 64);
    tcgemm_plan_t *const plan = plan_of(context_of(1), &p, NULL);
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    assert_int_equal(tcgemm_plan_get_info(plan, &info), TCGEMM_STATUS_OK);
    const bool is_about = is_about_kernel(info.kernel);
    tcgemm_plan_destroy(plan);
    return is_about;
}

bool kernel_does(int index, tcgemm_type_t type, tcgemm_kernel_info_t *info) {
    info->struct_size = sizeof *info;
    if (tcgemm_kernel_get_info(index, info) != TCGEMM_STATUS_OK)
        return false;
    /* Rows of other devices have tests of their own. */
    const bool is_host = strcmp(info->algo, "cpu") == 0 || strcmp(info->algo, "reference") == 0;
    return is_host && info->runnable && (info->types >> (type - 1) & 1) &&
           is_about_kernel(info->name);
}

/* Without a lock: a thread may hold it while another forks, and the child would wait for it. */
tcgemm_context_t *context_of(int num_threads) {
    static _Atomic(tcgemm_context_t *) contexts[65];
    tcgemm_context_t *kept = atomic_load(&contexts[num_threads]);
    if (kept)
        return kept;
    tcgemm_context_t *made = NULL;
    tcgemm_context_options_t options = tcgemm_context_options();
    options.device = TCGEMM_DEVICE_CPU;
    options.num_threads = num_threads;
    if (tcgemm_context_create(&options, &made) != TCGEMM_STATUS_OK) {
        report_failure("context of %d threads: %s", num_threads, tcgemm_last_error());
        return NULL;
    }
    if (atomic_compare_exchange_strong(&contexts[num_threads], &kept, made))
        return made;
    tcgemm_context_destroy(made);
    return kept;
}

tcgemm_plan_t *plan_of(tcgemm_context_t *context, const tcgemm_problem_t *problem,
                       const char *kernel) {
    tcgemm_plan_options_t options = tcgemm_plan_options();
    options.kernel = kernel;
    tcgemm_plan_t *plan = NULL;
    if (tcgemm_plan_create(context, problem, &options, &plan) != TCGEMM_STATUS_OK)
        report_failure("plan for kernel=%s: %s", kernel ? kernel : "auto", tcgemm_last_error());
    return plan;
}

uint64_t hash_bytes(const void *data, size_t bytes) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    const uint8_t *p = data;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = (hash ^ word) * UINT64_C(0x100000001B3);
        hash ^= hash >> 29;
    }
    for (; bytes > 0; --bytes, ++p)
        hash = (hash ^ *p) * UINT64_C(0x100000001B3);
    return hash;
}

double seconds_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double in_a_process(double (*find)(void)) {
    int ends[2];
    double found = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        found = find();
        _exit(write(ends[1], &found, sizeof found) == sizeof found ? 0 : 1);
    }
    assert_int_equal(read(ends[0], &found, sizeof found), sizeof found);
    assert_int_equal(waitpid(child, NULL, 0), child);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return found;
}

double multiplications_hz(void) {
    enum { WINDOWS = 200, CHAIN = 10000 };
    uint64_t x = 3;
    double least = INFINITY;
    for (int window = 0; window < WINDOWS; ++window) {
        const double start = seconds_now();
        for (int i = 0; i < CHAIN; ++i) {
            x *= x;
            __asm__ volatile("" : "+r"(x));
        }
        least = fmin(least, seconds_now() - start);
    }
    return 3.0 * CHAIN / least;
}

bool has_emulator(void) {
    char path[4096];
    const char *build = getenv("TCGEMM_BUILD_DIR");
    (void)snprintf(path, sizeof path, "%s/src/emulate/emulate-sm80.so", build ? build : "build");
    return access(path, R_OK) == 0;
}
