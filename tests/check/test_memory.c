/* Nothing outside the operands is read or written (S1), wide addresses (S6), no memory (S8), small
 * stacks (S9), the caller's own workspace.
 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/guard.h"
#include "support/oracle.h"
#include "support/testcase.h"

/* ---- allocation that fails when told to (the build links with --wrap for these names) ---- */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
int __real_posix_memalign(void **memory, size_t alignment, size_t bytes);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);

static struct {
    bool armed, only_threads, all_from_then_on;
    int left;     /* calls until the one that fails */
    int failures; /* that were given */
} faults;

static bool must_fail(bool is_thread) {
    if (!faults.armed || faults.only_threads != is_thread || --faults.left > 0)
        return false;
    if (faults.left < 0 && !faults.all_from_then_on)
        return false;
    faults.failures += 1;
    return true;
}

void *__wrap_malloc(size_t bytes) {
    return must_fail(false) ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes) {
    return must_fail(false) ? NULL : __real_calloc(count, bytes);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes) {
    return must_fail(false) ? 12 : __real_posix_memalign(memory, alignment, bytes);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument) {
    return must_fail(true) ? 11 : __real_pthread_create(thread, attributes, start, argument);
}

static void arm(int call, bool all_from_then_on) {
    faults.left = call;
    faults.failures = 0;
    faults.all_from_then_on = all_from_then_on;
    faults.armed = true;
}

/* Returns how many allocations failed since arm(). */
static int disarm(void) {
    faults.armed = false;
    return faults.failures;
}

/* ---- S8: entry points, each to be called until none of its allocations fails ---- */

typedef struct scene {
    testcase_t t;
    operands_t x;
    tcgemm_plan_t *plan;
    tcgemm_verify_mode_t mode;
} scene_t;

typedef tcgemm_status_t entry_t(scene_t *s);

static tcgemm_status_t enter_gemm(scene_t *s) {
    return tcgemm_gemm(&s->t.p, 1.0, s->x.a.data, s->x.b.data, 0.0, NULL, s->x.d.data);
}

static tcgemm_status_t enter_run(scene_t *s) {
    return tcgemm_run(s->plan, 1.0, s->x.a.data, s->x.b.data, 0.0, NULL, s->x.d.data);
}

static tcgemm_status_t enter_plan(scene_t *s) {
    tcgemm_plan_t *plan = (tcgemm_plan_t *)s; /* must become NULL */
    const tcgemm_status_t status = tcgemm_plan_create(NULL, &s->t.p, NULL, &plan);
    if ((status == TCGEMM_STATUS_OK) != (plan != NULL))
        report_failure("plan_create returned %d and plan %p", (int)status, (void *)plan);
    tcgemm_plan_destroy(plan);
    return status;
}

static tcgemm_status_t enter_context(scene_t *s) {
    tcgemm_context_t *context = (tcgemm_context_t *)s;
    const tcgemm_status_t status = tcgemm_context_create(NULL, &context);
    if ((status == TCGEMM_STATUS_OK) != (context != NULL))
        report_failure("context_create returned %d and context %p", (int)status, (void *)context);
    tcgemm_context_destroy(context);
    return status;
}

static tcgemm_status_t enter_verify(scene_t *s) {
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    return tcgemm_verify(s->plan, 1.0, s->x.a.data, s->x.b.data, 0.0, NULL, s->x.d.data, s->mode, 1,
                         &report);
}

static int num_failed_calls;

/* Fails the first, second, ... allocation until the call needs no more. */
static void fail_each_allocation(const char *name, scene_t *s, entry_t *entry, bool from_then_on) {
    for (int call = 1; call < 200; ++call) {
        memset(s->x.d.data, 0x5A, (size_t)(s->x.d.span * oracle_bits(s->x.d.dtype) / 8));
        operands_save(&s->x);
        arm(call, from_then_on);
        const tcgemm_status_t status = entry(s);
        const int failed = disarm();
        num_failed_calls += failed > 0;
        if (failed == 0) {
            if (status != TCGEMM_STATUS_OK)
                testcase_fail(&s->t, "%s: %s though no allocation failed", name,
                              tcgemm_status_name(status));
            return;
        }
        if (status != TCGEMM_STATUS_OUT_OF_MEMORY || tcgemm_last_error()[0] == '\0')
            testcase_fail(&s->t, "%s: allocation %d failed, status is %s '%s'", name, call,
                          tcgemm_status_name(status), tcgemm_last_error());
        if (memcmp(s->x.d.block, s->x.d_was, s->x.d.block_bytes) != 0)
            testcase_fail(&s->t, "%s: allocation %d failed and D was written", name, call);
    }
    testcase_fail(&s->t, "%s: does not stop allocating", name);
}

/* Low and wide: the panel of B makes the workspace, and there is little to multiply. */
static void scene_of(scene_t *s, tcgemm_type_t type, int64_t n) {
    memset(s, 0, sizeof *s);
    s->t = testcase_make(NULL, tcgemm_problem(type, 16, n, 100), 5);
    operands_make(&s->t, &s->x);
    s->plan = plan_of(context_of(2), &s->t.p, NULL);
}

static void scene_end(scene_t *s) {
    tcgemm_plan_destroy(s->plan);
    operands_free(&s->x);
}

/* The first product of a thread makes room for the plans to keep; without that it does as well.
 * Must be the first test of all. */
static void no_memory_for_kept_plans(void **state) {
    (void)state;
    scene_t s;
    scene_of(&s, TCGEMM_F32_F32, 20);
    for (int call = 0; call < 3; ++call) {
        arm(1, false);
        const tcgemm_status_t status = enter_gemm(&s);
        assert_int_equal(disarm(), 1);
        assert_int_equal(status, TCGEMM_STATUS_OK);
        assert_true(testcase_judge(&s.t, &s.x, NULL));
    }
    assert_int_equal(enter_gemm(&s), TCGEMM_STATUS_OK); /* from here on there is room */
    scene_end(&s);
    assert_no_failures();
}

/* Before other products: the workspaces that the library keeps grow with each larger problem. */
static void no_memory_is_a_status(void **state) {
    (void)state;
    static const tcgemm_type_t types[] = {TCGEMM_S8_S32, TCGEMM_BF16_BF16, TCGEMM_F32_F32,
                                          TCGEMM_F16_F16, TCGEMM_F64_F64}; /* by size of a lane */
    int64_t n = 1500;
    scene_t first; /* makes this thread's cache of plans, without which a product goes on */
    scene_of(&first, TCGEMM_F32_F32, 1);
    assert_int_equal(enter_gemm(&first), TCGEMM_STATUS_OK);
    scene_end(&first);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i)
        for (int from_then_on = 0; from_then_on < 2; ++from_then_on) {
            scene_t s;
            scene_of(&s, types[i], n);
            fail_each_allocation("gemm", &s, enter_gemm, from_then_on);
            scene_end(&s);
            n += 150;
            scene_of(&s, types[i], n);
            fail_each_allocation("run", &s, enter_run, from_then_on);
            fail_each_allocation("plan_create", &s, enter_plan, from_then_on);
            fail_each_allocation("context_create", &s, enter_context, from_then_on);
            /* Wrong D, so that the judge also walks its way of collecting faults. */
            s.mode = TCGEMM_VERIFY_FULL;
            fail_each_allocation("verify full", &s, enter_verify, from_then_on);
            s.mode = TCGEMM_VERIFY_SAMPLE;
            fail_each_allocation("verify sample", &s, enter_verify, from_then_on);
            scene_end(&s);
            n += 150;
        }
    assert_true(num_failed_calls >= 40);
    assert_no_failures();
}

/* A thread's cache of plans that cannot be had costs time, nothing else. */
static void *multiply_without_cache(void *argument) {
    scene_t *const s = argument;
    for (int round = 0; round < 2; ++round) {
        arm(1, false);
        const tcgemm_status_t status = enter_gemm(s);
        num_failed_calls += disarm();
        if (status != TCGEMM_STATUS_OK)
            testcase_fail(&s->t, "without a cache: %s", tcgemm_status_name(status));
        else
            (void)testcase_judge(&s->t, &s->x, NULL);
    }
    return NULL;
}

static void no_cache_is_no_failure(void **state) {
    (void)state;
    pthread_t thread;
    scene_t s;
    scene_of(&s, TCGEMM_F32_F32, 100);
    num_failed_calls = 0;
    assert_int_equal(pthread_create(&thread, NULL, multiply_without_cache, &s), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    scene_end(&s);
    assert_int_equal(num_failed_calls, 2); /* asked for again, each time */
    assert_no_failures();
}

/* A product in a destructor of the thread, when the library's own has run. */
static void multiply_at_the_end(void *argument) {
    scene_t *const s = argument;
    if (enter_gemm(s) != TCGEMM_STATUS_OK)
        testcase_fail(&s->t, "at the end of a thread: %s", tcgemm_last_error());
    else
        (void)testcase_judge(&s->t, &s->x, NULL);
}

static pthread_key_t at_the_end;

static void *multiply_and_end(void *argument) {
    scene_t *const s = argument;
    if (enter_gemm(s) != TCGEMM_STATUS_OK || pthread_setspecific(at_the_end, s) != 0)
        testcase_fail(&s->t, "before the end of a thread: %s", tcgemm_last_error());
    return NULL;
}

static void a_product_at_the_end_of_a_thread(void **state) {
    (void)state;
    pthread_t thread;
    scene_t s;
    scene_of(&s, TCGEMM_F32_F32, 100);
    assert_int_equal(enter_gemm(&s), TCGEMM_STATUS_OK); /* the library's key comes first */
    assert_int_equal(pthread_key_create(&at_the_end, multiply_at_the_end), 0);
    assert_int_equal(pthread_create(&thread, NULL, multiply_and_end, &s), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pthread_key_delete(at_the_end), 0);
    scene_end(&s);
    assert_no_failures();
}

/* Threads that cannot be had cost time, nothing else. */
static void no_threads_are_no_failure(void **state) {
    (void)state;
    int num_refused = 0;
    /* More than the tests before this one have begun, which stay. */
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const int num_threads = (int)(processors > 0 ? processors : 1) + 8;
    for (int call = 1; call <= 8; ++call) {
        testcase_t t = testcase_make(
            NULL, tcgemm_problem(TCGEMM_F32_F32, 64 * (int64_t)num_threads, 310, 80), 3);
        t.num_threads = num_threads;
        operands_t x;
        operands_make(&t, &x);
        faults.only_threads = true;
        arm(call, true);
        const tcgemm_status_t status = testcase_run_on(&t, &x);
        num_refused += disarm();
        faults.only_threads = false;
        if (status != TCGEMM_STATUS_OK)
            testcase_fail(&t, "thread %d failed: %s", call, tcgemm_status_name(status));
        else
            (void)testcase_judge(&t, &x, NULL);
        operands_free(&x);
    }
    assert_true(num_refused > 0);
    assert_no_failures();
}

/* ---- S1: guard pages ---- */

static testcase_t current; /* what the signal handler prints */
static volatile sig_atomic_t current_sides;

static void on_fault(int signal_number) {
    char line[512];
    testcase_print(&current, line, sizeof line); /* we are about to exit anyway */
    (void)fprintf(stderr,
                  "FAILED %s: signal %d, operands at %c%c%c%c (s: start, e: end of a page)\n", line,
                  signal_number, current_sides & 1 ? 'e' : 's', current_sides & 2 ? 'e' : 's',
                  current_sides & 4 ? 'e' : 's', current_sides & 8 ? 'e' : 's');
    _exit(1);
}

static void catch_faults(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_fault;
    action.sa_flags = SA_NODEFER;
    (void)sigaction(SIGSEGV, &action, NULL);
    (void)sigaction(SIGBUS, &action, NULL);
}

enum { LARGEST = 67 };

static size_t bytes_of(tcgemm_dtype_t dtype, int64_t elements) {
    return (size_t)(elements * oracle_bits(dtype) + 7) / 8;
}

static void guarded_call(const guard_t guards[4], uint64_t *random) {
    const tcgemm_problem_t *p = &current.p;
    const tcgemm_type_info_t *type = tcgemm_type_info(p->type);
    const int sides = (int)random_below(random, 16);
    current_sides = sides;
    const void *a = guard_place(&guards[0], bytes_of(type->a, p->m * p->k), sides & 1);
    const void *b = guard_place(&guards[1], bytes_of(type->b, p->k * p->n), sides & 2);
    const void *c = guard_place(&guards[2], bytes_of(type->d, p->m * p->n), sides & 4);
    void *d = guard_place(&guards[3], bytes_of(type->d, p->m * p->n), sides & 8);
    tcgemm_plan_t *plan = plan_of(context_of(1), p, current.kernel);
    const tcgemm_status_t status = tcgemm_run(plan, current.alpha, a, b, current.beta, c, d);
    tcgemm_plan_destroy(plan);
    if (status != TCGEMM_STATUS_OK)
        testcase_fail(&current, "%s", tcgemm_status_name(status));
}

static bool is_reference(const tcgemm_kernel_info_t *info) {
    return info->tile_n == 1;
}

/* Calls of each height by a row that is not the reference: by the level, or so many that all rows
 * together make the calls that TCGEMM_TEST_GUARDED_CALLS asks for. */
static int64_t guarded_repeats(void) {
    const char *wanted = getenv("TCGEMM_TEST_GUARDED_CALLS");
    const int64_t calls = wanted ? strtoll(wanted, NULL, 10) : 0;
    if (calls <= 0)
        return at_level(1, 27, 150);
    tcgemm_kernel_info_t info;
    int64_t pairs = 0;
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        for (int type = 1; type <= tcgemm_type_count(); ++type)
            pairs += kernel_does(row, (tcgemm_type_t)type, &info) && !is_reference(&info);
    return pairs > 0 ? calls / (pairs * LARGEST) + 1 : 1;
}

static int64_t guard_row(const tcgemm_kernel_info_t *info, tcgemm_type_t type,
                         const guard_t guards[4], int64_t most) {
    uint64_t random = (uint64_t)type * 31 + (uint64_t)info->tile_n;
    const int64_t repeats = is_reference(info) ? at_level(0, 1, 4) : most;
    int64_t calls = 0;
    for (int64_t m = 1; m <= LARGEST; ++m)
        for (int64_t r = 0; r < repeats; ++r) {
            const int64_t n = 1 + random_below(&random, LARGEST);
            const int64_t k = 1 + 3 * random_below(&random, 23);
            current = testcase_make(info->name, tcgemm_problem(type, m, n, k), random);
            current.p.op_a = r & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
            current.p.op_b = r & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
            current.p.order = random_below(&random, 2) ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
            current.beta = (double)random_below(&random, 3);
            guarded_call(guards, &random);
            calls += 1;
        }
    return calls;
}

static void nothing_outside_is_touched(void **state) {
    (void)state;
    guard_t guards[4];
    for (int i = 0; i < 4; ++i) {
        guards[i] = guard_make((size_t)LARGEST * LARGEST * 8);
        memset(guards[i].data, 0x11, guards[i].bytes); /* small numbers in every format */
    }
    catch_faults();
    const int64_t repeats = guarded_repeats();
    int64_t calls = 0;
    tcgemm_kernel_info_t info;
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        for (int type = 1; type <= tcgemm_type_count(); ++type)
            if (kernel_does(row, (tcgemm_type_t)type, &info))
                calls += guard_row(&info, (tcgemm_type_t)type, guards, repeats);
    print_message("%lld guarded calls\n", (long long)calls);
    (void)signal(SIGSEGV, SIG_DFL);
    (void)signal(SIGBUS, SIG_DFL);
    for (int i = 0; i < 4; ++i)
        guard_free(&guards[i]);
    assert_no_failures();
}

/* The same with padded rows: the gap after the last row's last element is nobody's. */
static void the_last_row_ends_at_its_last_element(void **state) {
    (void)state;
    guard_t guards[4];
    for (int i = 0; i < 4; ++i) {
        guards[i] = guard_make(400000);
        memset(guards[i].data, 0x11, guards[i].bytes);
    }
    catch_faults();
    const int64_t count = at_level(200, 6000, 40000);
    for (int64_t i = 0; i < count; ++i) {
        uint64_t random = (uint64_t)i;
        const tcgemm_type_t type = (tcgemm_type_t)(1 + i % tcgemm_type_count());
        const tcgemm_type_info_t *info = tcgemm_type_info(type);
        const int64_t m = 1 + random_below(&random, 60);
        const int64_t n = 1 + random_below(&random, 110);
        const int64_t k = 1 + random_below(&random, 150);
        current = testcase_make(NULL, tcgemm_problem(type, m, n, k), (uint64_t)i);
        tcgemm_problem_t *p = &current.p;
        p->lda = k + random_below(&random, 20);
        p->ldb = n + random_below(&random, 20);
        p->ldc = n + random_below(&random, 20);
        p->ldd = n + random_below(&random, 20);
        current_sides = 15;
        const void *a = guard_place(&guards[0], bytes_of(info->a, (m - 1) * p->lda + k), 1);
        const void *b = guard_place(&guards[1], bytes_of(info->b, (k - 1) * p->ldb + n), 1);
        const void *c = guard_place(&guards[2], bytes_of(info->d, (m - 1) * p->ldc + n), 1);
        void *d = guard_place(&guards[3], bytes_of(info->d, (m - 1) * p->ldd + n), 1);
        if (tcgemm_gemm(p, 1.0, a, b, 2.0, c, d) != TCGEMM_STATUS_OK)
            testcase_fail(&current, "%s", tcgemm_last_error());
    }
    (void)signal(SIGSEGV, SIG_DFL);
    (void)signal(SIGBUS, SIG_DFL);
    for (int i = 0; i < 4; ++i)
        guard_free(&guards[i]);
    assert_no_failures();
}

/* Few rows or columns of D, the other operand read where it lies: its lines end anywhere in a
 * vector. */
static void long_lines_end_at_their_last_element(void **state) {
    (void)state;
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32,  TCGEMM_F64_F64,  TCGEMM_F16_F32,
                                          TCGEMM_F16_F16,  TCGEMM_BF16_F32, TCGEMM_BF16_BF16,
                                          TCGEMM_E4M3_F32, TCGEMM_S8_S32,   TCGEMM_U8S8_S32};
    enum { NUM_TYPES = sizeof types / sizeof *types, ALONG = 36 * NUM_TYPES, ACROSS = ALONG / 2 };
    guard_t guards[4];
    for (int i = 0; i < 4; ++i) {
        guards[i] = guard_make((size_t)540 * 512 * 8);
        memset(guards[i].data, 0x11, guards[i].bytes);
    }
    catch_faults();
    for (uint64_t i = 0; i < ALONG + ACROSS; ++i) {
        uint64_t random = i;
        const int64_t many = 512 + random_below(&random, 28);
        const int64_t k = 512 - random_below(&random, 12) % (many - 511);
        const bool is_rows = i % 4 < 2;
        const bool is_across = i >= ALONG; /* k, else along it */
        const int64_t few = 1 + (int64_t)(is_across ? i % 18 : i * 5 % 41);
        current = testcase_make(
            NULL,
            tcgemm_problem(types[i % NUM_TYPES], is_rows ? few : many, is_rows ? many : few, k), i);
        current.p.op_a = !is_rows && is_across ? TCGEMM_OP_T : TCGEMM_OP_N;
        current.p.op_b = is_rows && !is_across ? TCGEMM_OP_T : TCGEMM_OP_N;
        current.beta = (double)random_below(&random, 2);
        guarded_call(guards, &random);
    }
    (void)signal(SIGSEGV, SIG_DFL);
    (void)signal(SIGBUS, SIG_DFL);
    for (int i = 0; i < 4; ++i)
        guard_free(&guards[i]);
    assert_no_failures();
}

/* ---- S6: leading dimensions beyond 2^31 ---- */

typedef struct wide {
    uint8_t *memory;
    size_t bytes;
} wide_t;

static bool wide_make(wide_t *w, tcgemm_dtype_t dtype, int64_t elements) {
    w->bytes = bytes_of(dtype, elements) + 4096;
    void *map = mmap(NULL, w->bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    w->memory = map;
    return map != MAP_FAILED;
}

/* Element (i, j) of op(X), by the definition of the layout. */
static int64_t place(const tcgemm_problem_t *p, tcgemm_op_t op, int64_t ld, int64_t i, int64_t j) {
    return (p->order == TCGEMM_ROW_MAJOR) == (op == TCGEMM_OP_N) ? i * ld + j : j * ld + i;
}

static void check_wide(const testcase_t *t, const wide_t w[4]) {
    const tcgemm_problem_t *p = &t->p;
    const tcgemm_type_info_t *type = tcgemm_type_info(p->type);
    for (int64_t i = 0; i < p->m; ++i)
        for (int64_t j = 0; j < p->n; ++j) {
            double sum = 3.0 * oracle_get(type->d, w[2].memory, place(p, 0, p->ldc, i, j));
            for (int64_t q = 0; q < p->k; ++q)
                sum += 2.0 * oracle_get(type->a, w[0].memory, place(p, p->op_a, p->lda, i, q)) *
                       oracle_get(type->b, w[1].memory, place(p, p->op_b, p->ldb, q, j));
            const double got = oracle_get(type->d, w[3].memory, place(p, 0, p->ldd, i, j));
            if (got != sum) {
                testcase_fail(t, "(%lld, %lld) is %g, expected %g", (long long)i, (long long)j, got,
                              sum);
                return;
            }
        }
}

static void wide_case(const char *kernel, tcgemm_type_t type, tcgemm_order_t order,
                      tcgemm_op_t op_a, tcgemm_op_t op_b, int64_t ld) {
    enum { SIZE = 3 };
    testcase_t t = testcase_make(kernel, tcgemm_problem(type, SIZE, SIZE, SIZE), 1);
    tcgemm_problem_t *p = &t.p;
    const tcgemm_type_info_t *info = tcgemm_type_info(type);
    const tcgemm_dtype_t dtype[4] = {info->a, info->b, info->d, info->d};
    const tcgemm_op_t op[4] = {op_a, op_b, TCGEMM_OP_N, TCGEMM_OP_N};
    wide_t w[4];
    p->order = order;
    p->op_a = op_a;
    p->op_b = op_b;
    p->lda = p->ldb = p->ldc = p->ldd = ld;
    for (int x = 0; x < 4; ++x) {
        if (!wide_make(&w[x], dtype[x], (SIZE - 1) * ld + SIZE)) {
            while (--x >= 0)
                (void)munmap(w[x].memory, w[x].bytes);
            print_message("no address space for ld %lld\n", (long long)ld);
            return;
        }
        for (int64_t i = 0; i < SIZE; ++i)
            for (int64_t j = 0; j < SIZE; ++j)
                oracle_set(dtype[x], w[x].memory, place(p, op[x], ld, i, j),
                           (double)((i * 3 + j + x) % 2));
    }
    tcgemm_plan_t *plan = plan_of(context_of(1), p, kernel);
    if (tcgemm_run(plan, 2.0, w[0].memory, w[1].memory, 3.0, w[2].memory, w[3].memory) !=
        TCGEMM_STATUS_OK)
        testcase_fail(&t, "%s", tcgemm_last_error());
    else
        check_wide(&t, w);
    tcgemm_plan_destroy(plan);
    for (int x = 0; x < 4; ++x)
        (void)munmap(w[x].memory, w[x].bytes);
}

static void wide_rows(void **state) {
    (void)state;
    static const int64_t lds[] = {(INT64_C(1) << 30) + 1, (INT64_C(1) << 31) - 1,
                                  (INT64_C(1) << 31) + 5, (INT64_C(1) << 32) + 3};
    const int64_t num_lds = at_level(2, 4, 4);
    tcgemm_kernel_info_t info;
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        for (int type = 1; type <= tcgemm_type_count(); ++type)
            if (kernel_does(row, (tcgemm_type_t)type, &info))
                for (int64_t i = 0; i < num_lds; ++i)
                    wide_case(info.name, (tcgemm_type_t)type, (tcgemm_order_t)((row + type) & 1),
                              (tcgemm_op_t)(i & 1), (tcgemm_op_t)((i + row) >> 1 & 1),
                              lds[num_lds == 2 ? 2 * i + 1 : i]);
    assert_no_failures();
}

/* Batch strides beyond 2^31 elements. */
static void wide_strides(void **state) {
    (void)state;
    const int64_t stride = (INT64_C(1) << 31) + 7;
    static const tcgemm_type_t types[] = {TCGEMM_F32_F32, TCGEMM_BF16_F32, TCGEMM_S8_S32,
                                          TCGEMM_S4_S32,  TCGEMM_B1_S32,   TCGEMM_BF16_BF16};
    for (size_t i = 0; i < 6; ++i) {
        const tcgemm_type_info_t *info = tcgemm_type_info(types[i]);
        testcase_t t = testcase_make(NULL, tcgemm_problem(types[i], 1, 1, 1), 0);
        wide_t a = {NULL, 0};
        wide_t b = {NULL, 0};
        wide_t d = {NULL, 0};
        t.p.batch = 3;
        t.p.stride_a = t.p.stride_b = t.p.stride_d = stride;
        assert_true(wide_make(&a, info->a, 2 * stride + 1) &&
                    wide_make(&b, info->b, 2 * stride + 1) &&
                    wide_make(&d, info->d, 2 * stride + 1));
        for (int64_t item = 0; item < 3; ++item) {
            oracle_set(info->a, a.memory, item * stride, 1.0);
            oracle_set(info->b, b.memory, item * stride, item == 1 ? 0.0 : 1.0);
        }
        if (tcgemm_gemm(&t.p, 1.0, a.memory, b.memory, 0.0, NULL, d.memory) != TCGEMM_STATUS_OK)
            testcase_fail(&t, "%s", tcgemm_last_error());
        for (int64_t item = 0; item < 3; ++item)
            if (oracle_get(info->d, d.memory, item * stride) != (item == 1 ? 0.0 : 1.0))
                testcase_fail(&t, "item %lld is wrong", (long long)item);
        (void)munmap(a.memory, a.bytes);
        (void)munmap(b.memory, b.bytes);
        (void)munmap(d.memory, d.bytes);
    }
    assert_no_failures();
}

/* ---- S9: small stacks ---- */

/* AddressSanitizer, as no optimisation, gives every variable of every copy of a micro-kernel its
 * own place: up to 60 KiB in all with AVX-512, where plain code takes 24. Such a frame may reach
 * past the guard page, into whatever lies behind it, and so a stack that was too small failed on
 * some runs and not on others. The model of matrix tiles lies on the stack, as do the buffers with
 * which plain C packs for them. */
#ifdef __has_feature /* clang's way to say that it instruments */
#define HAS(feature) __has_feature(feature)
#else
#define HAS(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HAS(address_sanitizer) ||     \
    HAS(thread_sanitizer) || !defined(__OPTIMIZE__)
enum { STACK_SIZE = 256 * 1024 };
#elif defined(TCGEMM_EMULATED_AMX)
enum { STACK_SIZE = 96 * 1024 };
#else
enum { STACK_SIZE = 32 * 1024 };
#endif
enum { STACK_MATRIX = 150 };

static struct {
    tcgemm_problem_t p;
    tcgemm_status_t status;
    double a[STACK_MATRIX * STACK_MATRIX];
    double b[STACK_MATRIX * STACK_MATRIX];
    double d[STACK_MATRIX * STACK_MATRIX];
} small_stack;

static void *multiply_on_small_stack(void *unused) {
    (void)unused;
    small_stack.status =
        tcgemm_gemm(&small_stack.p, 1.0, small_stack.a, small_stack.b, 0.0, NULL, small_stack.d);
    return NULL;
}

static void small_stacks(void **state) {
    (void)state;
    catch_faults();
    pthread_attr_t attributes;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK_SIZE), 0);
    for (int type = 1; type <= tcgemm_type_count(); ++type)
        for (int ops = 0; ops < 4; ++ops) {
            current =
                testcase_make(NULL, tcgemm_problem((tcgemm_type_t)type, STACK_MATRIX, 149, 133), 0);
            current.p.op_a = ops & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
            current.p.op_b = ops & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
            small_stack.p = current.p;
            small_stack.status = TCGEMM_STATUS_INTERNAL;
            pthread_t thread;
            assert_int_equal(pthread_create(&thread, &attributes, multiply_on_small_stack, NULL),
                             0);
            assert_int_equal(pthread_join(thread, NULL), 0);
            if (small_stack.status != TCGEMM_STATUS_OK)
                testcase_fail(&current, "%s on a small stack",
                              tcgemm_status_name(small_stack.status));
        }
    (void)pthread_attr_destroy(&attributes);
    (void)signal(SIGSEGV, SIG_DFL);
    (void)signal(SIGBUS, SIG_DFL);
    assert_no_failures();
}

/* ---- the caller's workspace ---- */

/* At an odd address, full of signalling NaN, with canaries: same bits as without. */
static void own_workspace_case(const testcase_t *t) {
    enum { EDGE = 128 };
    operands_t x;
    operands_make(t, &x);
    const size_t d_bytes = bytes_of(x.d.dtype, x.d.span);
    tcgemm_plan_t *plan = plan_of(context_of(t->num_threads), &t->p, t->kernel);
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    (void)tcgemm_plan_get_info(plan, &info);
    uint8_t *memory = malloc(info.workspace_bytes + 2 * EDGE + 1);
    assert_non_null(memory);
    memset(memory, 0xA7, info.workspace_bytes + 2 * EDGE + 1);
    uint8_t *workspace = memory + EDGE + 1;
    for (size_t i = 0; i + 4 <= info.workspace_bytes; i += 4)
        memcpy(workspace + i, &(uint32_t){0x7FA07FA0u}, 4);

    (void)tcgemm_run(plan, t->alpha, x.a.data, x.b.data, t->beta, x.c.data, x.d.data);
    const uint64_t expected = hash_bytes(x.d.data, d_bytes);
    memset(x.d.data, 0xFF, d_bytes);
    tcgemm_status_t status = tcgemm_run_with(plan, t->alpha, x.a.data, x.b.data, t->beta, x.c.data,
                                             x.d.data, workspace, info.workspace_bytes, NULL);
    if (status != TCGEMM_STATUS_OK || hash_bytes(x.d.data, d_bytes) != expected)
        testcase_fail(t, "own workspace: %s, other bits than without", tcgemm_status_name(status));
    for (size_t i = 0; i < EDGE; ++i)
        if (memory[i] != 0xA7 || workspace[info.workspace_bytes + i] != 0xA7) {
            testcase_fail(t, "own workspace of %zu bytes: a canary died", info.workspace_bytes);
            break;
        }
    if (info.workspace_bytes > 0) {
        memset(x.d.data, 0x5A, d_bytes);
        operands_save(&x);
        status = tcgemm_run_with(plan, t->alpha, x.a.data, x.b.data, t->beta, x.c.data, x.d.data,
                                 workspace, info.workspace_bytes - 1, NULL);
        if (status != TCGEMM_STATUS_BAD_ARGUMENT ||
            memcmp(x.d.block, x.d_was, x.d.block_bytes) != 0)
            testcase_fail(t, "a workspace one byte too small gives %s", tcgemm_status_name(status));
    }
    free(memory);
    tcgemm_plan_destroy(plan);
    operands_free(&x);
}

static void own_workspaces(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {{130, 135, 137}, {9, 200, 801}, {97, 3, 33}, {50, 50, 50}};
    tcgemm_kernel_info_t info;
    for (int row = 0; row < tcgemm_kernel_count(); ++row)
        for (int type = 1; type <= tcgemm_type_count(); ++type) {
            if (!kernel_does(row, (tcgemm_type_t)type, &info))
                continue;
            const int64_t *s = sizes[(row + type) % 4];
            testcase_t t = testcase_make(
                info.name, tcgemm_problem((tcgemm_type_t)type, s[0], s[1], s[2]), (uint64_t)row);
            t.p.op_a = row & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
            t.p.op_b = type & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
            t.num_threads = 1 + (row + type) % 3;
            own_workspace_case(&t);
            t.p = tcgemm_problem((tcgemm_type_t)type, 20, 21, 22);
            t.p.batch = 12; /* each thread takes whole items */
            t.p.stride_a = 20 * 22;
            t.p.stride_b = 22 * 21;
            t.p.stride_d = t.p.stride_c = 20 * 21;
            own_workspace_case(&t);
        }
    assert_no_failures();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_for_kept_plans),
        cmocka_unit_test(no_memory_is_a_status),
        cmocka_unit_test(no_cache_is_no_failure),
        cmocka_unit_test(a_product_at_the_end_of_a_thread),
        cmocka_unit_test(no_threads_are_no_failure),
        cmocka_unit_test(nothing_outside_is_touched),
        cmocka_unit_test(the_last_row_ends_at_its_last_element),
        cmocka_unit_test(long_lines_end_at_their_last_element),
        cmocka_unit_test(wide_rows),
        cmocka_unit_test(wide_strides),
        cmocka_unit_test(small_stacks),
        cmocka_unit_test(own_workspaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
