/* cpuid.c - see cpuid.h. */
#include "host/cpuid.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "host/features.h"

static tcgemm_cpuid_t facts;
static atomic_uint executed;

unsigned tcgemm_cpuid_executed(void) {
    return atomic_load_explicit(&executed, memory_order_relaxed);
}

#ifdef TCGEMM_X86
#include <cpuid.h>

/* Register states that the operating system saves: XCR0 bits (Intel SDM vol. 1, 13.3). */
#define XCR0_AVX    0x6u
#define XCR0_AVX512 0xE6u
#define XCR0_TILES  0x60000u

typedef struct leaf {
    uint32_t a, b, c, d;
} leaf_t;

/* CPUID leaf 7 (Intel SDM vol. 2A), EDX: tiles, and what multiplies them; of subleaf 1, EAX. */
#define TILES      (1u << 24)
#define TILES_BF16 (1u << 22)
#define TILES_INT8 (1u << 25)
#define TILES_FP16 (1u << 21)

/* All zero for a leaf that the processor does not have. */
static leaf_t ask(uint32_t leaf, uint32_t subleaf) {
    static uint32_t highest[2]; /* of the basic leaves, of 0x80000000 .. */
    uint32_t *const most = &highest[leaf >> 31];
    leaf_t r = {0, 0, 0, 0};
    if (*most == 0) {
        atomic_fetch_add_explicit(&executed, 1, memory_order_relaxed);
        *most = (uint32_t)__get_cpuid_max(leaf & 0x80000000u, NULL);
    }
    if (*most < leaf)
        return r;
    atomic_fetch_add_explicit(&executed, 1, memory_order_relaxed);
    __cpuid_count(leaf, subleaf, r.a, r.b, r.c, r.d);
    return r;
}

static uint32_t xgetbv0(void) {
    uint32_t low;
    uint32_t high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static uint32_t find_features(void) {
    uint32_t features = 0;
    const uint32_t avx_family = bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C;
    if ((ask(1, 0).c & avx_family) != avx_family || (xgetbv0() & XCR0_AVX) != XCR0_AVX)
        return 0;
    const leaf_t seven = ask(7, 0);
    const uint32_t avx2_family = bit_AVX2 | bit_BMI2;
    if ((seven.b & avx2_family) != avx2_family)
        return 0;
    features |= TCGEMM_CPU_AVX2;
    if (seven.a >= 1 && (ask(7, 1).a & (1u << 4)))
        features |= TCGEMM_CPU_AVX_VNNI;
    const uint32_t avx512_family = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    if ((seven.b & avx512_family) != avx512_family || (xgetbv0() & XCR0_AVX512) != XCR0_AVX512)
        return features;
    features |= TCGEMM_CPU_AVX512;
    if (seven.c & bit_AVX512VNNI)
        features |= TCGEMM_CPU_AVX512_VNNI;
    if (seven.c & bit_AVX512VPOPCNTDQ)
        features |= TCGEMM_CPU_AVX512_VPOPCNTDQ;
    if (seven.a >= 1 && (ask(7, 1).a & (1u << 5)))
        features |= TCGEMM_CPU_AVX512_BF16;
    if (!(seven.d & TILES) || (xgetbv0() & XCR0_TILES) != XCR0_TILES)
        return features;
    if (seven.d & TILES_BF16)
        features |= TCGEMM_CPU_AMX_BF16;
    if (seven.d & TILES_INT8)
        features |= TCGEMM_CPU_AMX_INT8;
    if (seven.a >= 1 && (ask(7, 1).a & TILES_FP16))
        features |= TCGEMM_CPU_AMX_FP16;
    return features;
}

static void find_name(void) {
    const leaf_t zero = ask(0, 0);
    memcpy(facts.vendor, &zero.b, 4);
    memcpy(facts.vendor + 4, &zero.d, 4);
    memcpy(facts.vendor + 8, &zero.c, 4);
    const uint32_t a = ask(1, 0).a;
    facts.family = ((a >> 8) & 0xF) + (((a >> 8) & 0xF) == 0xF ? (a >> 20) & 0xFF : 0);
    facts.model = ((a >> 4) & 0xF) | ((a >> 12) & 0xF0);
    for (uint32_t i = 0; i < 3; ++i) {
        const leaf_t part = ask(0x80000002u + i, 0);
        memcpy(facts.brand + (size_t)16 * i, &part, 16);
    }
}

/* Leaf 4 of Intel and leaf 0x8000001D of AMD look alike (Intel SDM vol. 2A, CPUID; AMD APM vol. 3,
 * E.4.15): kind and level in EAX, ways, partitions and line size in EBX, sets in ECX, each less 1.
 */
static void find_caches(uint32_t leaf) {
    for (uint32_t i = 0; i < TCGEMM_CPUID_CACHES; ++i) {
        const leaf_t r = ask(leaf, i);
        const uint32_t kind = r.a & 0x1F; /* 0 none, 1 data, 2 instructions, 3 both */
        if (kind == 0)
            return;
        facts.caches[i].level = (int)(r.a >> 5 & 7);
        facts.caches[i].holds_data = kind != 2;
        facts.caches[i].ways = (int)(r.b >> 22) + 1;
        facts.caches[i].bytes = ((uint64_t)(r.b >> 22) + 1) * ((r.b >> 12 & 0x3FF) + 1) *
                                ((r.b & 0xFFF) + 1) * ((uint64_t)r.c + 1);
    }
}

static void find_facts(void) {
    find_name();
    facts.features = find_features();
    facts.base_mhz = ask(0x16, 0).a & 0xFFFF;
    facts.max_mhz = ask(0x16, 0).b & 0xFFFF;
    find_caches(strcmp(facts.vendor, "AuthenticAMD") == 0 ? 0x8000001Du : 4);
}

#elif defined(TCGEMM_ARM)

#if defined(__linux__)
#include <sys/auxv.h>
#include <sys/prctl.h>

/* The kernel's documentation, arch/arm64/elf_hwcaps.rst; older headers lack the newer ones. */
enum { HAS_MIDR = 1 << 11, HAS_DOTPROD = 1 << 20, HAS_SVE = 1 << 22 }; /* AT_HWCAP */
enum { HAS_I8MM = 1 << 13, HAS_BF16 = 1 << 14 };                       /* AT_HWCAP2 */

/* Bytes of a vector: of this thread, but who changes them does so for the whole process. */
static int sve_bytes(void) {
    enum { GET_VECTOR_LENGTH = 51, LENGTH = 0xFFFF };
    const int answer = prctl(GET_VECTOR_LENGTH);
    return answer < 0 ? 0 : answer & LENGTH;
}

static uint32_t find_features(void) {
    const unsigned long has = getauxval(AT_HWCAP);
    const unsigned long has2 = getauxval(AT_HWCAP2);
    uint32_t features = TCGEMM_CPU_NEON;
    if (has & HAS_DOTPROD)
        features |= TCGEMM_CPU_DOTPROD;
    if (has2 & HAS_I8MM)
        features |= TCGEMM_CPU_I8MM;
    if (has2 & HAS_BF16)
        features |= TCGEMM_CPU_BF16;
    if (has & HAS_SVE && sve_bytes() == 32)
        features |= TCGEMM_CPU_SVE256;
    if (has & HAS_SVE && sve_bytes() == 64)
        features |= TCGEMM_CPU_SVE512;
    return features;
}

/* The main identification register, which the kernel lets programs read. */
static uint32_t main_id(void) {
    uint64_t midr = 0;
    if (getauxval(AT_HWCAP) & HAS_MIDR)
        __asm__ volatile("mrs %0, midr_el1" : "=r"(midr));
    return (uint32_t)midr;
}
#else
static uint32_t find_features(void) {
    return TCGEMM_CPU_NEON;
}

static uint32_t main_id(void) {
    return 0;
}
#endif

/* Parts of implementer 0x41 by their technical reference manuals, MIDR_EL1. */
static const struct {
    uint32_t part;
    const char *name;
} arm_parts[] = {
    {0xD03, "Cortex-A53"},   {0xD07, "Cortex-A57"},  {0xD08, "Cortex-A72"},
    {0xD0B, "Cortex-A76"},   {0xD0C, "Neoverse N1"}, {0xD40, "Neoverse V1"},
    {0xD42, "Cortex-A78AE"}, {0xD49, "Neoverse N2"}, {0xD4F, "Neoverse V2"},
};

static void find_facts(void) {
    const uint32_t id = main_id();
    facts.features = find_features();
    for (size_t i = 0; i < sizeof arm_parts / sizeof arm_parts[0]; ++i)
        if (id >> 24 == 0x41 && (id >> 4 & 0xFFF) == arm_parts[i].part)
            (void)snprintf(facts.brand, sizeof facts.brand, "Arm %s", arm_parts[i].name);
    if (!facts.brand[0])
        (void)snprintf(facts.brand, sizeof facts.brand, "64-bit Arm processor");
}

#else

static void find_facts(void) {
}

#endif

const tcgemm_cpuid_t *tcgemm_cpuid(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find_facts);
    return &facts;
}
