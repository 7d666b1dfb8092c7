/* cpuid.c - see cpuid.h. */
#include "host/cpuid.h"

#include <pthread.h>
#include <stdatomic.h>
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

/* CPUID leaf 7, EDX (Intel SDM vol. 2A): tiles, and what multiplies them. */
#define TILES      (1u << 24)
#define TILES_BF16 (1u << 22)
#define TILES_INT8 (1u << 25)

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

#else

static void find_facts(void) {
}

#endif

const tcgemm_cpuid_t *tcgemm_cpuid(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find_facts);
    return &facts;
}
