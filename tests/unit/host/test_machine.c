/* Facts of the machine: each is asked once where asking is dear, and told as it stands. */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/affinity.h"
#include "host/caches.h"
#include "host/clock.h"
#include "host/cpuid.h"
#include "host/heap.h"
#include "host/threads.h"
#include "support/support.h"
#include "tcgemm/tcgemm.h"

/* ---- CPUID ---- */

static void plans_execute_no_cpuid(void **state) {
    (void)state;
    tcgemm_plan_t *plan;
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 8, 8, 8);
    assert_int_equal(tcgemm_plan_create(NULL, &p, NULL, &plan), TCGEMM_STATUS_OK);
    tcgemm_plan_destroy(plan);
    const unsigned before = tcgemm_cpuid_executed();
#ifdef __x86_64__
    assert_true(before > 0);
#endif
    for (int type = 1; type <= tcgemm_type_count(); ++type) {
        const tcgemm_problem_t q = tcgemm_problem((tcgemm_type_t)type, 300, 200, 100);
        assert_int_equal(tcgemm_plan_create(NULL, &q, NULL, &plan), TCGEMM_STATUS_OK);
        tcgemm_plan_destroy(plan);
    }
    tcgemm_machine_info_t machine = {.struct_size = sizeof machine};
    assert_int_equal(tcgemm_machine_get_info(&machine), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_cpuid_executed(), before);
}

/* ---- files of a made-up machine ---- */

static char root[] = "/tmp/tcgemm-machine-XXXXXX";

static void write_file(const char *path, const char *text) {
    char whole[512];
    (void)snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *slash = strchr(whole + sizeof root, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *const file = fopen(whole, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void remove_root(void) {
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s/proc %s/sys", root, root);
    assert_int_equal(system(command), 0);
}

static void write_cache(int cpu, int index, const char *level, const char *type, const char *size) {
    char path[256];
    const char *const names[] = {"level", "type", "size"};
    const char *const texts[] = {level, type, size};
    for (int i = 0; i < 3; ++i) {
        (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu,
                       index, names[i]);
        write_file(path, texts[i]);
    }
}

/* A Zen 3 of two core complexes: each core sees 32 MiB, the package has 64. */
static void caches_are_those_of_one_core(void **state) {
    (void)state;
    write_cache(3, 0, "1\n", "Data\n", "32K\n");
    write_cache(3, 1, "1\n", "Instruction\n", "64K\n");
    write_cache(3, 2, "2\n", "Unified\n", "512K\n");
    write_cache(3, 3, "3\n", "Unified\n", "32M\n");
    const tcgemm_caches_t c = tcgemm_caches_of_sysfs(root, 3);
    assert_int_equal(c.bytes[0], 32 << 10);
    assert_int_equal(c.bytes[1], 512 << 10);
    assert_int_equal(c.bytes[2], 32 << 20);
    const tcgemm_caches_t none = tcgemm_caches_of_sysfs(root, 4);
    assert_int_equal(none.bytes[0] + none.bytes[1] + none.bytes[2], 0);
    remove_root();
}

static void the_caches_of_this_machine_are_sound(void **state) {
    (void)state;
    const tcgemm_caches_t c = tcgemm_cpu_caches();
    const tcgemm_caches_t told = tcgemm_caches_of_sysfs("", tcgemm_first_cpu());
    for (int i = 0; i < 3; ++i)
        assert_true(told.bytes[i] == 0 || c.bytes[i] <= told.bytes[i]);
    assert_true(c.bytes[0] == 0 || (c.bytes[0] >= 4 << 10 && c.bytes[0] <= 1 << 20));
    assert_true(c.bytes[1] == 0 || c.bytes[1] >= c.bytes[0]);
    const tcgemm_ways_t ways = tcgemm_first_level();
    assert_true(ways.ways == 0 || (ways.ways <= 64 && ways.way_bytes >= 512));
    assert_true(ways.ways == 0 || ways.ways * ways.way_bytes <= 1 << 20);
}

/* ---- control groups ---- */

static void expect_cpus(const char *groups, int expected) {
    write_file("/proc/self/cgroup", groups);
    const int got = tcgemm_cgroup_cpus(root);
    if (got != expected)
        report_failure("%s: %d processors, expected %d", groups, got, expected);
}

static void quotas_of_version_2(void **state) {
    (void)state;
    write_file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    expect_cpus("0::/a/b\n", INT_MAX);
    write_file("/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
    expect_cpus("0::/a/b\n", 2);
    write_file("/sys/fs/cgroup/a/b/cpu.max", "250000 100000\n");
    expect_cpus("0::/a/b\n", 3);
    write_file("/sys/fs/cgroup/a/b/cpu.max", "5000 100000\n");
    expect_cpus("0::/a/b\n", 1);
    write_file("/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
    write_file("/sys/fs/cgroup/a/cpu.max", "300000 100000\n"); /* the tighter one is above */
    expect_cpus("0::/a/b\n", 3);
    expect_cpus("0::/not/mounted/here\n", INT_MAX);
    write_file("/sys/fs/cgroup/cpu.max", "700000 100000\n"); /* a container sees its end alone */
    expect_cpus("0::/not/mounted/here\n", 7);
    expect_cpus("0::/\n", 7);
    expect_cpus("", INT_MAX);
    expect_cpus("nonsense\n:\n::\n", INT_MAX);
    remove_root();
    assert_int_equal(tcgemm_cgroup_cpus(root), INT_MAX);
    assert_no_failures();
}

static void quotas_of_version_1(void **state) {
    (void)state;
    write_file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000\n");
    write_file("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "50000\n");
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    expect_cpus("5:memory:/job\n4:cpu,cpuacct:/job\n0::/\n", 3);
    expect_cpus("4:cpuacct,cpu:/job\n", 3);
    expect_cpus("4:cpuacct:/job\n3:cpuset:/job\n", INT_MAX);
    expect_cpus("4:cpu:/\n", INT_MAX);
    remove_root();
    assert_no_failures();
}

/* ---- the clock ---- */

static void the_nominal_clock_is_in_the_name(void **state) {
    (void)state;
    static const struct {
        const char *brand;
        double hz;
    } names[] = {
        {"Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz", 3.00e9},
        {"Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", 1.90e9},
        {"Intel(R) Pentium(R) III CPU family 1133MHz", 1133e6},
        {"AMD EPYC 7763 64-Core Processor", 0},
        {"GHz", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        assert_true(fabs(tcgemm_clock_of_brand(names[i].brand) - names[i].hz) < 1.0);
}

static void the_nominal_clock_stays(void **state) {
    (void)state;
    const double nominal = tcgemm_nominal_clock_hz();
    assert_true(nominal >= 1e8 && nominal <= 1e10);
    (void)tcgemm_clock_again();
    assert_true(tcgemm_nominal_clock_hz() == nominal);
}

/* Of several looks behind the first. */
static double best_clock(double first) {
    double best = first;
    for (int i = 0; i < 5; ++i)
        best = fmax(best, tcgemm_clock_again());
    return best;
}

/* The first call of a fresh process, on a core that has slept a while, over the best of several
 * later looks. */
static double first_over_best(void) {
    (void)usleep(20000);
    const double first = tcgemm_clock_hz();
    return first / best_clock(first);
}

static int compare_doubles(const void *x, const void *y) {
    const double a = *(const double *)x;
    const double b = *(const double *)y;
    return (a > b) - (a < b);
}

/* From the first call, and quickly. It is a promise to a core that it has to itself: the fastest of
 * several later looks tells what that is, and of several processes most must have known it; in one
 * of a few rounds, for others may take half of the core meanwhile. */
static void the_clock_is_right_from_the_first_call(void **state) {
    (void)state;
    enum { ROUNDS = 4, PROCESSES = 7 };
    if (test_level() == LEVEL_SANITIZE)
        skip();
    double ratio = 0;
    for (int round = 0; round < ROUNDS && ratio < 0.9; ++round) {
        double ratios[PROCESSES];
        for (int i = 0; i < PROCESSES; ++i)
            ratios[i] = in_a_process(first_over_best);
        qsort(ratios, PROCESSES, sizeof ratios[0], compare_doubles);
        ratio = ratios[PROCESSES / 2];
    }
    const double start = seconds_now();
    const double first = tcgemm_clock_hz();
    const double seconds = seconds_now() - start;
    assert_true(first == tcgemm_clock_hz()); /* measured once */
    const double best = best_clock(first);
    assert_true(tcgemm_clock_hz() == best);
    print_message("%.3f of the clock in %.1f ms, %.3f GHz at best\n", ratio, seconds * 1e3,
                  best * 1e-9);
    if (ratio < 0.9)
        report_failure("%.3f of the later clock at the first call", ratio);
    assert_no_failures();
}

#ifdef __x86_64__
/* The time stamp counter runs at the nominal clock, whatever the core does. */
static double stamps_hz(void) {
    const double start = seconds_now();
    const uint64_t from = __builtin_ia32_rdtsc();
    double seconds;
    do
        seconds = seconds_now() - start;
    while (seconds < 0.02);
    return (double)(__builtin_ia32_rdtsc() - from) / seconds;
}
#endif

/* A clock that is a few times too high or too low makes every peak and fraction of it wrong. Where
 * others run on the same core, each may get half of it for a while, so that both are looked at in
 * turn until they agree; a clock that is wrong never does. */
static void the_clock_is_that_of_other_instructions(void **state) {
    (void)state;
    enum { LOOKS = 40, PAUSE_US = 25000 };
    double clock = tcgemm_clock_hz();
    double other = 0;
    bool agree = false;
    for (int look = 0; look < LOOKS && !agree; ++look) {
        if (look > 0)
            (void)usleep(PAUSE_US);
        clock = fmax(clock, tcgemm_clock_again());
        other = fmax(other, multiplications_hz());
        agree = clock < 2 * other && other < 2 * clock;
    }
    print_message("%.3f GHz, %.3f by multiplications\n", clock * 1e-9, other * 1e-9);
    if (!agree)
        report_failure("%.3f GHz, but multiplications run at %.3f", clock * 1e-9, other * 1e-9);
#ifdef __x86_64__
    /* Cores go up to some 2.7 times their nominal clock, and down to a quarter of it. */
    const double stamps = stamps_hz();
    if (!(clock < 3.2 * stamps && clock > 0.2 * stamps))
        report_failure("%.3f GHz, but the time stamp counter runs at %.3f", clock * 1e-9,
                       stamps * 1e-9);
    const double nominal = tcgemm_nominal_clock_hz();
    if (!(nominal < 3.2 * stamps && nominal > 0.3 * stamps))
        report_failure("%.3f GHz are nominal, but the time stamp counter runs at %.3f",
                       nominal * 1e-9, stamps * 1e-9);
#endif
    assert_no_failures();
}

/* What malloc gives for small sizes in a program's first thread; not what is mapped, nor a stack.
 */
static void the_heap_is_told_apart(void **state) {
    (void)state;
    char on_stack = 0;
    char *const small = malloc(64);
    char *const mapped =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(small && mapped != MAP_FAILED);
    char *const top = sbrk(0);
    if (small < top && small >= top - (1 << 24)) /* sanitizers have a heap of their own */
        assert_true(tcgemm_is_in_heap(small) && !tcgemm_is_in_heap(top));
    assert_false(tcgemm_is_in_heap(mapped) || tcgemm_is_in_heap(&on_stack) ||
                 tcgemm_is_in_heap(NULL) || tcgemm_is_in_heap((void *)UINTPTR_MAX));
    free(small);
    (void)munmap(mapped, 4096);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_heap_is_told_apart),
        cmocka_unit_test(the_clock_is_right_from_the_first_call),
        cmocka_unit_test(the_clock_is_that_of_other_instructions),
        cmocka_unit_test(plans_execute_no_cpuid),
        cmocka_unit_test(caches_are_those_of_one_core),
        cmocka_unit_test(the_caches_of_this_machine_are_sound),
        cmocka_unit_test(quotas_of_version_2),
        cmocka_unit_test(quotas_of_version_1),
        cmocka_unit_test(the_nominal_clock_is_in_the_name),
        cmocka_unit_test(the_nominal_clock_stays),
    };
    if (!mkdtemp(root))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)rmdir(root);
    return failed;
}
