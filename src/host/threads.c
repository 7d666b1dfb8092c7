/* threads.c - see threads.h.
 *
 * /proc/self/cgroup has a line for each hierarchy, "ID:controllers:path":
 *
 *     0::/user.slice/job       version 2: <mount>/user.slice/job/cpu.max holds "QUOTA PERIOD" or
 *                              "max PERIOD", in microseconds
 *     4:cpu,cpuacct:/job       version 1: <mount>/cpu/job/cpu.cfs_quota_us and cpu.cfs_period_us
 *
 * In a container the path may be that of the host, of which only the end is mounted. So every
 * group from there up to the mount itself is asked, which the kernel's own rule asks for anyway:
 * the tightest limit on the way up holds. */
#include "host/threads.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/affinity.h"
#include "host/textfile.h"
#include "tcgemm/tcgemm.h"

enum { PATH = 1024, TEXT = 64, LIST = 4096 };

/* ---- control groups ---- */

/* quota / period, rounded up; INT_MAX if there is no limit. */
static int cpus_of(long long quota, long long period) {
    if (quota <= 0 || period <= 0 || quota / period >= INT_MAX)
        return INT_MAX;
    return (int)((quota + period - 1) / period);
}

static bool read_of_group(const char *group, const char *file, char text[TEXT]) {
    char path[PATH];
    const int length = snprintf(path, sizeof path, "%s/%s", group, file);
    return length > 0 && (size_t)length < sizeof path && tcgemm_read_file(path, text, TEXT);
}

static int limit_v2(const char *group) {
    char text[TEXT];
    char *end;
    if (!read_of_group(group, "cpu.max", text))
        return INT_MAX;
    const long long quota = strtoll(text, &end, 10); /* "max": 0 */
    return cpus_of(quota, strtoll(end, NULL, 10));
}

static int limit_v1(const char *group) {
    char quota[TEXT];
    char period[TEXT];
    if (!read_of_group(group, "cpu.cfs_quota_us", quota) ||
        !read_of_group(group, "cpu.cfs_period_us", period))
        return INT_MAX;
    return cpus_of(strtoll(quota, NULL, 10), strtoll(period, NULL, 10)); /* -1: none */
}

/* The least limit of the group at `path` below `mount` and of all above it. */
static int limit_upwards(const char *root, const char *mount, const char *path,
                         int (*limit)(const char *group)) {
    char group[PATH];
    const int length = snprintf(group, sizeof group, "%s%s%s", root, mount, path);
    if (length < 0 || (size_t)length >= sizeof group)
        return INT_MAX;
    const size_t shortest = strlen(root) + strlen(mount);
    int least = INT_MAX;
    for (;;) {
        const int here = limit(group);
        least = here < least ? here : least;
        char *const slash = strrchr(group, '/');
        if (!slash || (size_t)(slash - group) < shortest)
            return least;
        *slash = '\0';
    }
}

static bool has_cpu(const char *controllers, size_t length) {
    for (const char *at = controllers; at < controllers + length;) {
        const size_t name = strcspn(at, ",:");
        if (name == 3 && strncmp(at, "cpu", 3) == 0)
            return true;
        at += name + 1;
    }
    return false;
}

/* One line of /proc/self/cgroup, NUL-terminated. */
static int limit_of_line(const char *root, const char *line) {
    if (strncmp(line, "0::", 3) == 0)
        return limit_upwards(root, "/sys/fs/cgroup", line + 3, limit_v2);
    const char *const controllers = strchr(line, ':');
    const char *const path = controllers ? strchr(controllers + 1, ':') : NULL;
    return path && has_cpu(controllers + 1, (size_t)(path - controllers) - 1)
               ? limit_upwards(root, "/sys/fs/cgroup/cpu", path + 1, limit_v1)
               : INT_MAX;
}

int tcgemm_cgroup_cpus(const char *root) {
    char path[PATH];
    char list[LIST];
    int least = INT_MAX;
    (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!tcgemm_read_file(path, list, sizeof list))
        return INT_MAX;
    for (char *line = list; line && *line;) {
        char *const end = strchr(line, '\n');
        if (end)
            *end = '\0';
        const int here = limit_of_line(root, line);
        least = here < least ? here : least;
        line = end ? end + 1 : NULL;
    }
    return least;
}

/* The limit as it stood within the last second. Two threads may both look. */
static int present_limit(void) {
    static atomic_uint_fast64_t known; /* second of the look << 32 | limit; 0: none yet */
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    const uint64_t second = ((uint64_t)now.tv_sec & 0x7FFFFFFF) + 1;
    const uint64_t value = atomic_load_explicit(&known, memory_order_relaxed);
    if (value >> 32 == second)
        return (int)(value & INT_MAX);
    const int limit = tcgemm_cgroup_cpus("");
    atomic_store_explicit(&known, second << 32 | (uint64_t)limit, memory_order_relaxed);
    return limit;
}

/* ---- the environment ---- */

/* A whole number in 1 .. TCGEMM_MAX_THREADS at the start of the variable ("4,2" of OMP counts as
 * 4), or 0. */
static int threads_of_variable(const char *name) {
    const char *text = secure_getenv(name);
    if (!text)
        return 0;
    const long value = strtol(text, NULL, 10);
    return value >= 1 && value <= TCGEMM_MAX_THREADS ? (int)value : 0;
}

static int wanted_by_environment;

/* Once: getenv in the middle of a program races with any setenv of its other threads. */
static void read_environment(void) {
    wanted_by_environment = threads_of_variable("TCGEMM_NUM_THREADS");
    if (wanted_by_environment == 0)
        wanted_by_environment = threads_of_variable("OMP_NUM_THREADS");
}

int tcgemm_default_threads(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, read_environment);
    if (wanted_by_environment)
        return wanted_by_environment;
    int threads = tcgemm_cpu_count();
    if (threads > 1) {
        const int limit = present_limit();
        threads = limit < threads ? limit : threads;
    }
    return threads < TCGEMM_MAX_THREADS ? threads : TCGEMM_MAX_THREADS;
}
