/* F4: whatever floating-point modes a thread has, bits and verdicts are the same, and the thread's
 * registers are what they were. ("threads" in the name: the thread sanitizer runs it, too.) */
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"
#include "tcgemm/tcgemm.h"

#ifdef __x86_64__
#include <xmmintrin.h>

enum { FTZ = 0x8000, DAZ = 0x0040, UP = 0x4000, DOWN = 0x2000, TO_ZERO = 0x6000, FLAGS = 0x3F };

static unsigned get_modes(void) {
    return _mm_getcsr();
}

static void set_modes(unsigned modes) {
    _mm_setcsr(modes);
}

static const unsigned modes_tried[] = {
    0x1F80 | FTZ | DAZ, 0x1F80 | UP,         0x1F80 | DOWN,     0x1F80 | TO_ZERO | FTZ,
    0x1F80 | FLAGS,     0x1F80 | DAZ | 0x25, 0x1F80 & ~0x1E80u, /* traps: invalid, division by zero,
                                                                   overflow, underflow */
};

static const unsigned default_modes = 0x1F80;

#else /* what C can say */

static unsigned get_modes(void) {
    return (unsigned)fegetround();
}

static void set_modes(unsigned modes) {
    (void)fesetround((int)modes);
}

static const unsigned modes_tried[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
static const unsigned default_modes = FE_TONEAREST;
#endif

enum { M = 120, N = 130, K = 700, NUM_MODES = sizeof modes_tried / sizeof modes_tried[0] };

/* Products near 1e-41: subnormal in f32, and inexact. */
static float a[M * K], b[K * N], c[M * N], d[M * N];
static const float alpha = 0.7f;

static void fill(float *x, int64_t count, float scale, uint64_t seed) {
    for (int64_t i = 0; i < count; ++i)
        x[i] = scale * (float)(2 * random_unit(&seed) - 1);
}

/* Everything that computes, as one hash of bits and verdicts. */
static uint64_t hash_of_work(int num_threads, const char *kernel) {
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, M, N, K);
    tcgemm_plan_t *const plan = plan_of(context_of(num_threads), &p, kernel);
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    uint16_t halves[M];
    uint64_t hash = 0;
    assert_int_equal(tcgemm_run(plan, (double)alpha, a, b, 0.3, c, d), TCGEMM_STATUS_OK);
    hash = hash_bytes(d, sizeof d);
    assert_int_equal(
        tcgemm_verify(plan, (double)alpha, a, b, 0.3, c, d, TCGEMM_VERIFY_FULL, 1, &report),
        TCGEMM_STATUS_OK);
    if (report.num_wrong != 0)
        report_failure("%d threads: %lld wrong", num_threads, (long long)report.num_wrong);
    hash = hash * 31 + hash_bytes(&report.max_ratio, sizeof report.max_ratio);
    d[7] = 1.0f; /* a wrong element stays wrong */
    assert_int_equal(
        tcgemm_verify(plan, (double)alpha, a, b, 0.3, c, d, TCGEMM_VERIFY_SAMPLE, 1, &report),
        TCGEMM_STATUS_OK);
    if (report.num_wrong != 1 || report.wrong_col != 7)
        report_failure("%d threads: %lld wrong where one is", num_threads,
                       (long long)report.num_wrong);
    assert_int_equal(tcgemm_convert(TCGEMM_DTYPE_F16, halves, TCGEMM_DTYPE_F32, a, M),
                     TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_plan_get_info(plan, &info), TCGEMM_STATUS_OK);
    hash = hash * 31 + hash_bytes(halves, sizeof halves);
    hash = hash * 31 + hash_bytes(&info.predicted_seconds, sizeof info.predicted_seconds);
    tcgemm_plan_destroy(plan);
    return hash;
}

static uint64_t hash_of_simulation(void) {
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 20, 20, 20);
    tcgemm_plan_t *const plan = plan_of(context_of(1), &p, NULL);
    tcgemm_simulate_report_t report = {.struct_size = sizeof report};
    assert_int_equal(
        tcgemm_plan_simulate(plan, TCGEMM_DEPTH_THREADS, 1, a, b, 0, NULL, d, NULL, NULL, &report),
        TCGEMM_STATUS_OK);
    assert_int_equal(report.num_wrong, 0);
    tcgemm_plan_destroy(plan);
    return hash_bytes(d, 400 * sizeof *d);
}

static uint64_t hash_of_all(void) {
    uint64_t hash = hash_of_work(1, NULL);
    hash = hash * 31 + hash_of_work(4, NULL);
    hash = hash * 31 + hash_of_work(1, "reference");
    return hash * 31 + hash_of_simulation();
}

static void modes_change_nothing(void **state) {
    (void)state;
    const unsigned before = get_modes();
    const uint64_t expected = hash_of_all();
    for (int i = 0; i < NUM_MODES; ++i) {
        set_modes(modes_tried[i]);
        const uint64_t hash = hash_of_all();
        const unsigned after = get_modes();
        set_modes(before);
        if (hash != expected)
            report_failure("modes 0x%x give other bits", modes_tried[i]);
#ifdef __x86_64__
        /* Flags that this test's own hashing raised are not the library's. */
        if ((after & ~(unsigned)FLAGS) != (modes_tried[i] & ~(unsigned)FLAGS))
            report_failure("modes 0x%x became 0x%x", modes_tried[i], after);
#else
        if (after != modes_tried[i])
            report_failure("modes 0x%x became 0x%x", modes_tried[i], after);
#endif
    }
    assert_no_failures();
}

/* To the bit, the sticky flags included: no product raises or clears one. */
static void the_register_is_what_it_was(void **state) {
    (void)state;
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, M, N, K);
    tcgemm_plan_t *const plan = plan_of(context_of(3), &p, NULL);
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    const unsigned before = get_modes();
    unsigned found[NUM_MODES][4];
    for (int i = 0; i < NUM_MODES; ++i) {
        set_modes(modes_tried[i]);
        (void)tcgemm_gemm(&p, 1, a, b, 0, NULL, d);
        found[i][0] = get_modes();
        (void)tcgemm_run(plan, 1, a, b, 0, NULL, d);
        found[i][1] = get_modes();
        (void)tcgemm_verify(plan, 1, a, b, 0, NULL, d, TCGEMM_VERIFY_FULL, 0, &report);
        found[i][2] = get_modes();
        (void)tcgemm_convert(TCGEMM_DTYPE_E4M3, d, TCGEMM_DTYPE_F32, a, M);
        found[i][3] = get_modes();
    }
    set_modes(before);
    for (int i = 0; i < NUM_MODES; ++i)
        for (int call = 0; call < 4; ++call)
            if (found[i][call] != modes_tried[i])
                report_failure("modes 0x%x became 0x%x in call %d", modes_tried[i], found[i][call],
                               call);
    tcgemm_plan_destroy(plan);
    assert_no_failures();
}

/* A thread with odd modes makes the first product of a fresh pool, and ends. */
static void *work_oddly(void *hash) {
    set_modes(modes_tried[0]);
    *(uint64_t *)hash = hash_of_work(4, NULL);
    return NULL;
}

static void workers_inherit_no_modes(void **state) {
    (void)state;
    uint64_t odd = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work_oddly, &odd), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (hash_of_work(4, NULL) != odd)
        report_failure("the thread that made the pool left its modes in it");
    assert_no_failures();
}

static int make_data(void **state) {
    (void)state;
    fill(a, M * K, 1e-20f, 1);
    fill(b, K * N, 1e-21f, 2);
    fill(c, M * N, 1e-40f, 3);
    set_modes(default_modes);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_inherit_no_modes),
        cmocka_unit_test(modes_change_nothing),
        cmocka_unit_test(the_register_is_what_it_was),
    };
    return cmocka_run_group_tests(tests, make_data, NULL);
}
