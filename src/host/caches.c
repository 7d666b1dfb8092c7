/* caches.c - see caches.h. sysfs describes the caches of each processor with who shares them, and
 * is right in containers, too; some hypervisors make it up, so CPUID is asked as well. */
#include "host/caches.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/affinity.h"
#include "host/cpuid.h"
#include "host/textfile.h"

enum { MAX_INDEX = 8, LEVELS = 3, TEXT = 64 };

static bool read_of_index(const char *root, int cpu, int index, const char *name, char text[TEXT]) {
    char path[512];
    const int length =
        snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/cache/index%d/%s", root, cpu,
                 index, name);
    return length > 0 && (size_t)length < sizeof path && tcgemm_read_file(path, text, TEXT);
}

/* "32768K", "32M" or "49152"; 0 if it is none of them. */
static size_t bytes_of(const char *text) {
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    const int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    return value <= SIZE_MAX >> shift ? (size_t)value << shift : 0;
}

tcgemm_caches_t tcgemm_caches_of_sysfs(const char *root, int cpu) {
    tcgemm_caches_t c = {{0, 0, 0}};
    char text[TEXT];
    for (int index = 0; index < MAX_INDEX; ++index) {
        if (!read_of_index(root, cpu, index, "level", text))
            break;
        const long level = strtol(text, NULL, 10);
        if (level < 1 || level > LEVELS || !read_of_index(root, cpu, index, "type", text) ||
            strncmp(text, "Instruction", strlen("Instruction")) == 0)
            continue;
        if (read_of_index(root, cpu, index, "size", text))
            c.bytes[level - 1] = bytes_of(text);
    }
    return c;
}

static size_t of_cpuid(int level) {
    const tcgemm_cpuid_t *const cpu = tcgemm_cpuid();
    for (int i = 0; i < TCGEMM_CPUID_CACHES; ++i)
        if (cpu->caches[i].level == level && cpu->caches[i].holds_data)
            return (size_t)cpu->caches[i].bytes;
    return 0;
}

tcgemm_ways_t tcgemm_first_level(void) {
    const tcgemm_cpuid_t *const cpu = tcgemm_cpuid();
    for (int i = 0; i < TCGEMM_CPUID_CACHES; ++i) {
        const tcgemm_cpuid_cache_t *const cache = &cpu->caches[i];
        if (cache->level == 1 && cache->holds_data && cache->ways > 0)
            return (tcgemm_ways_t){cache->ways, (int64_t)cache->bytes / cache->ways};
    }
    return (tcgemm_ways_t){0, 0};
}

/* glibc answers 0 or -1 for what it does not know. */
static size_t of_sysconf(int level) {
    static const int names[LEVELS] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                      _SC_LEVEL3_CACHE_SIZE};
    const long bytes = sysconf(names[level - 1]);
    return bytes > 0 ? (size_t)bytes : 0;
}

tcgemm_caches_t tcgemm_cpu_caches(void) {
    tcgemm_caches_t c = tcgemm_caches_of_sysfs("", tcgemm_first_cpu());
    for (int level = 1; level <= LEVELS; ++level) {
        size_t *const bytes = &c.bytes[level - 1];
        const size_t told = of_cpuid(level);
        if (*bytes == 0 || (told > 0 && *bytes / 2 > told))
            *bytes = told;
        if (*bytes == 0)
            *bytes = of_sysconf(level);
    }
    return c;
}

static size_t near_bytes, far_bytes;

static void find_bytes(void) {
    const tcgemm_caches_t c = tcgemm_cpu_caches();
    const size_t last = c.bytes[2] ? c.bytes[2] : c.bytes[1];
    near_bytes = (c.bytes[1] ? c.bytes[1] : 1 << 20) / 8 * 5;
    far_bytes = last / 4 > c.bytes[1] ? last / 4 : last ? last : 8 << 20;
}

static void find_bytes_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find_bytes);
}

size_t tcgemm_near_bytes(void) {
    find_bytes_once();
    return near_bytes;
}

size_t tcgemm_far_bytes(void) {
    find_bytes_once();
    return far_bytes;
}
