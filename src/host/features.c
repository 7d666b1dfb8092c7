/* features.c - what the kernels make of the processor's facts. */
#include "host/features.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/cpuid.h"

static bool is_of_amd(uint32_t family) {
    const tcgemm_cpuid_t *const cpu = tcgemm_cpuid();
    return strcmp(cpu->vendor, "AuthenticAMD") == 0 && cpu->family == family;
}

bool tcgemm_cpu_is_zen4(void) {
    return is_of_amd(0x19);
}

bool tcgemm_cpu_is_intel(void) {
    return strcmp(tcgemm_cpuid()->vendor, "GenuineIntel") == 0;
}

bool tcgemm_cpu_is_zen5(void) {
    return is_of_amd(0x1A);
}

/* Sources: AMD software optimization guides for families 17h, 19h and 1Ah; Intel optimization
 * reference manual. Zen 5 is given for its full-width data path; parts with a 256-bit one (and
 * virtual machines that present as such) measure half of it. */
double tcgemm_cpu_fma_per_cycle(int vector_bits) {
    const tcgemm_cpuid_t *const cpu = tcgemm_cpuid();
    const int wide = vector_bits == 512;
    if (tcgemm_cpu_is_zen5())
        return 2.0;
    if (strcmp(cpu->vendor, "AuthenticAMD") == 0 && (cpu->family == 0x17 || cpu->family == 0x19))
        return wide ? 1.0 : 2.0;
    if (tcgemm_cpu_is_intel() && cpu->family == 6)
        return 2.0;
    return 0.0;
}

/* Measured on a Sapphire Rapids class Xeon: 0.63 of the speed of f32 multiply-adds, which do half
 * as much each, at bf16 products of 512^3. AMD's do one wherever they do one FMA. */
double tcgemm_cpu_bf16_dots_per_cycle(void) {
    return tcgemm_cpu_is_intel() ? 0.5 : 0.0;
}

/* Measured on a Zen 4: 13 cycles, and 2 at most for a plain one. */
bool tcgemm_cpu_stores_by_masks_slowly(void) {
    return strcmp(tcgemm_cpuid()->vendor, "AuthenticAMD") == 0;
}

/* Sources: those of multiply-adds. A Zen 4 has two of half the width, Intel's processors one, on
 * port 5. */
double tcgemm_cpu_shuffles_per_cycle(void) {
    return tcgemm_cpu_is_zen5() ? 2.0 : 1.0;
}

/* Measured: 9 to 16 rows times lines across k take 1.25 to 2.5 times as long on a Zen 5 if these
 * are not fetched by software, and 0.77 to 1.0 times on a Xeon. */
bool tcgemm_cpu_follows_streams(void) {
    return !tcgemm_cpu_is_zen5();
}

/* Measured on a Zen 3, models 00h to 0Fh and 20h to 5Fh of family 19h (those of a Zen 4 lie between
 * and behind): one to eight rows times rows of k 4096 long take 1.05 to 1.7 times as long where
 * these are fetched by software. */
bool tcgemm_cpu_fetches_rows_itself(void) {
    const uint32_t model = tcgemm_cpuid()->model;
    return tcgemm_cpu_is_zen4() && (model < 0x10 || (model >= 0x20 && model < 0x60));
}

void tcgemm_cpu_brand(char *buffer, size_t size) {
    const char *const brand = tcgemm_cpuid()->brand;
    const char *const unknown =
        tcgemm_cpuid()->vendor[0] ? "x86-64 processor" : "unknown processor";
    (void)snprintf(buffer, size, "%s", brand[0] ? brand + strspn(brand, " ") : unknown);
    for (size_t end = strlen(buffer); end > 0 && buffer[end - 1] == ' '; --end)
        buffer[end - 1] = '\0';
}

enum { TILES = TCGEMM_CPU_AMX_BF16 | TCGEMM_CPU_AMX_INT8 | TCGEMM_CPU_AMX_FP16 };

/* True if this process may use tiles: the kernel's documentation, arch/x86/xstate.rst. The answer
 * holds for all threads and for forked processes. */
static bool may_use_tiles(void) {
#if defined(TCGEMM_X86) && defined(__linux__) && defined(SYS_arch_prctl)
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return false;
#endif
}

#ifdef TCGEMM_EMULATED_AMX
/* Tests (tests/CMakeLists.txt): a processor that has tiles in plain C, and nothing else. */
static uint32_t with_tiles(uint32_t features) {
    const char *arch = secure_getenv("TCGEMM_ARCH");
    (void)may_use_tiles;
    return arch && strcmp(arch, "amx") == 0 ? TILES : features & ~(uint32_t)TILES;
}
#else
static uint32_t with_tiles(uint32_t features) {
    return features & TILES && may_use_tiles() ? features : features & ~(uint32_t)TILES;
}
#endif

static uint32_t allowed_by_environment(void) {
    const char *arch = secure_getenv("TCGEMM_ARCH");
    if (arch && (strcmp(arch, "generic") == 0 || strcmp(arch, "any") == 0))
        return 0;
    if (arch && strcmp(arch, "avx2") == 0)
        return TCGEMM_CPU_AVX2;
    if (arch && strcmp(arch, "avx_vnni") == 0)
        return TCGEMM_CPU_AVX2 | TCGEMM_CPU_AVX_VNNI;
    if (arch && strcmp(arch, "avx512") == 0)
        return TCGEMM_CPU_AVX2 | TCGEMM_CPU_AVX512;
    if (arch && strcmp(arch, "avx512_vnni") == 0)
        return TCGEMM_CPU_AVX2 | TCGEMM_CPU_AVX512 | TCGEMM_CPU_AVX512_VNNI;
    /* Of Arm in the order in which architectures 8.0, 8.2 and 8.6 made them a duty. */
    static const struct {
        const char *name;
        uint32_t bit;
    } levels[] = {{"neon", TCGEMM_CPU_NEON},
                  {"dotprod", TCGEMM_CPU_DOTPROD},
                  {"i8mm", TCGEMM_CPU_I8MM},
                  {"bf16", TCGEMM_CPU_BF16}};
    uint32_t allowed = 0;
    for (size_t i = 0; arch && i < sizeof levels / sizeof levels[0]; ++i) {
        allowed |= levels[i].bit;
        if (strcmp(arch, levels[i].name) == 0 && tcgemm_cpuid()->features & levels[i].bit)
            return allowed;
    }
    return UINT32_MAX;
}

uint32_t tcgemm_cpu_features(void) {
    /* Two threads may both look; they find the same. */
    static atomic_uint_fast64_t found; /* bit 32: known */
    uint64_t value = atomic_load_explicit(&found, memory_order_relaxed);
    if (!value) {
        value =
            (UINT64_C(1) << 32) | with_tiles(tcgemm_cpuid()->features & allowed_by_environment());
        atomic_store_explicit(&found, value, memory_order_relaxed);
    }
    return (uint32_t)value;
}

const char *tcgemm_cpu_isa(uint32_t features) {
    return features & TILES               ? "amx"
           : features & TCGEMM_CPU_AVX512 ? "avx512"
           : features & TCGEMM_CPU_AVX2   ? "avx2"
           : features & TCGEMM_CPU_SVE512 ? "sve512"
           : features & TCGEMM_CPU_SVE256 ? "sve256"
           : features & TCGEMM_CPU_NEON   ? "neon"
                                          : "any";
}

int tcgemm_cpu_feature_names(uint32_t features, char *buffer, size_t size) {
    static const char *const names[] = {
        "avx2",     "avx512",   "avx512_bf16", "avx512_vnni", "avx512_vpopcntdq",
        "amx_bf16", "amx_int8", "avx_vnni",    "amx_fp16",    [16] = "neon",
        "dotprod",  "i8mm",     "bf16",        "sve256",      "sve512"};
    size_t used = 0;
    if (size)
        buffer[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (names[i] && features >> i & 1u)
            used +=
                (size_t)snprintf(buffer + (used < size ? used : size),
                                 used < size ? size - used : 0, "%s%s", used ? " " : "", names[i]);
    }
    return (int)used;
}
