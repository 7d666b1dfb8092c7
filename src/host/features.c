/* features.c - CPUID on x86-64, nothing but the portable kernels elsewhere. */
#include "host/features.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef TCGEMM_X86
#include <cpuid.h>

/* Register states that the operating system saves: XCR0 bits (Intel SDM vol. 1, 13.3). */
#define XCR0_AVX    0x6u
#define XCR0_AVX512 0xE6u

static uint32_t xgetbv0(void) {
    uint32_t low;
    uint32_t high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static uint32_t detect(void) {
    uint32_t a;
    uint32_t b;
    uint32_t c;
    uint32_t d;
    uint32_t features = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    const uint32_t avx_family = bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C;
    if ((c & avx_family) != avx_family || (xgetbv0() & XCR0_AVX) != XCR0_AVX)
        return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return 0;
    const uint32_t max_subleaf = a;
    const uint32_t avx2_family = bit_AVX2 | bit_BMI2;
    if ((b & avx2_family) != avx2_family)
        return 0;
    features |= TCGEMM_CPU_AVX2;
    const uint32_t avx512_family = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    if ((b & avx512_family) != avx512_family || (xgetbv0() & XCR0_AVX512) != XCR0_AVX512)
        return features;
    features |= TCGEMM_CPU_AVX512;
    if (c & bit_AVX512VNNI)
        features |= TCGEMM_CPU_AVX512_VNNI;
    if (c & bit_AVX512VPOPCNTDQ)
        features |= TCGEMM_CPU_AVX512_VPOPCNTDQ;
    if (max_subleaf >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & (1u << 5)))
        features |= TCGEMM_CPU_AVX512_BF16;
    return features;
}

static uint32_t family_and_model(char vendor[13]) {
    uint32_t a;
    uint32_t regs[3] = {0, 0, 0};
    if (!__get_cpuid(0, &a, &regs[0], &regs[2], &regs[1]))
        return 0;
    memcpy(vendor, regs, 12);
    vendor[12] = '\0';
    uint32_t b;
    uint32_t c;
    uint32_t d;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    const uint32_t family = ((a >> 8) & 0xF) + (((a >> 8) & 0xF) == 0xF ? (a >> 20) & 0xFF : 0);
    const uint32_t model = ((a >> 4) & 0xF) | ((a >> 12) & 0xF0);
    return family << 8 | model;
}

/* Sources: AMD software optimization guides for families 17h, 19h and 1Ah; Intel optimization
 * reference manual. Zen 5 is given for its full-width data path; parts with a 256-bit one (and
 * virtual machines that present as such) measure half of it. */
double tcgemm_cpu_fma_per_cycle(int vector_bits) {
    char vendor[13] = "";
    const uint32_t family = family_and_model(vendor) >> 8;
    const int wide = vector_bits == 512;
    if (strcmp(vendor, "AuthenticAMD") == 0) {
        if (family == 0x17 || family == 0x19)
            return wide ? 1.0 : 2.0;
        if (family == 0x1A)
            return 2.0;
    }
    if (strcmp(vendor, "GenuineIntel") == 0 && family == 6)
        return 2.0;
    return 0.0;
}

void tcgemm_cpu_brand(char *buffer, size_t size) {
    uint32_t regs[12];
    char brand[sizeof regs + 1];
    for (uint32_t leaf = 0; leaf < 3; ++leaf) {
        uint32_t *const r = regs + (size_t)4 * leaf;
        if (!__get_cpuid(0x80000002u + leaf, &r[0], &r[1], &r[2], &r[3])) {
            (void)snprintf(buffer, size, "x86-64 processor");
            return;
        }
    }
    memcpy(brand, regs, sizeof regs);
    brand[sizeof regs] = '\0';
    (void)snprintf(buffer, size, "%s", brand + strspn(brand, " "));
    for (size_t end = strlen(buffer); end > 0 && buffer[end - 1] == ' '; --end)
        buffer[end - 1] = '\0';
}

#else

static uint32_t detect(void) {
    return 0;
}

double tcgemm_cpu_fma_per_cycle(int vector_bits) {
    (void)vector_bits;
    return 0.0;
}

void tcgemm_cpu_brand(char *buffer, size_t size) {
    (void)snprintf(buffer, size, "unknown processor");
}

#endif

static uint32_t allowed_by_environment(void) {
    const char *arch = secure_getenv("TCGEMM_ARCH");
    if (arch && strcmp(arch, "any") == 0)
        return 0;
    if (arch && strcmp(arch, "avx2") == 0)
        return TCGEMM_CPU_AVX2;
    if (arch && strcmp(arch, "avx512") == 0)
        return TCGEMM_CPU_AVX2 | TCGEMM_CPU_AVX512;
    return UINT32_MAX;
}

uint32_t tcgemm_cpu_features(void) {
    /* Two threads may both detect; they find the same. */
    static atomic_uint_fast64_t found; /* bit 32: known */
    uint64_t value = atomic_load_explicit(&found, memory_order_relaxed);
    if (!value) {
        value = (UINT64_C(1) << 32) | (detect() & allowed_by_environment());
        atomic_store_explicit(&found, value, memory_order_relaxed);
    }
    return (uint32_t)value;
}

int tcgemm_cpu_feature_names(uint32_t features, char *buffer, size_t size) {
    static const char *const names[] = {"avx2", "avx512", "avx512_bf16", "avx512_vnni",
                                        "avx512_vpopcntdq"};
    size_t used = 0;
    if (size)
        buffer[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (features >> i & 1u)
            used +=
                (size_t)snprintf(buffer + (used < size ? used : size),
                                 used < size ? size - used : 0, "%s%s", used ? " " : "", names[i]);
    }
    return (int)used;
}

/* glibc answers 0 or -1 for what it does not know. */
static size_t cache_bytes(int name) {
    const long bytes = sysconf(name);
    return bytes > 0 ? (size_t)bytes : 0;
}

void tcgemm_cpu_caches(size_t *l1, size_t *l2, size_t *l3) {
    *l1 = cache_bytes(_SC_LEVEL1_DCACHE_SIZE);
    *l2 = cache_bytes(_SC_LEVEL2_CACHE_SIZE);
    *l3 = cache_bytes(_SC_LEVEL3_CACHE_SIZE);
}

int tcgemm_cpu_count(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}
