/* features.h - what this processor can do, as far as the kernels here care.
 *
 * TCGEMM_ARCH=generic|avx2|avx_vnni|avx512|amx in the environment makes the library see a lesser
 * processor (avx_vnni is AVX2 and AVX-VNNI), so that every kernel set can be tested on one machine
 * ("any" is the same as "generic"; ignored in set-user-id programs). On Arm its values are
 * generic|neon|dotprod|i8mm|bf16|sve, each with what is to the left of it.
 *
 * The 8 KiB of a thread's AMX tiles are saved by Linux only for a process that has asked for them
 * (arch_prctl). That is asked here, once, where the processor has them and TCGEMM_ARCH does not
 * hide them; if the answer is no, the processor counts as one without.
 */
#ifndef TCGEMM_HOST_FEATURES_H
#define TCGEMM_HOST_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TCGEMM_CPU_AVX2 = 1 << 0,   /* AVX2, FMA, F16C, BMI2 */
    TCGEMM_CPU_AVX512 = 1 << 1, /* AVX-512 F, BW, DQ, VL */
    TCGEMM_CPU_AVX512_BF16 = 1 << 2,
    TCGEMM_CPU_AVX512_VNNI = 1 << 3,
    TCGEMM_CPU_AVX512_VPOPCNTDQ = 1 << 4,
    TCGEMM_CPU_AMX_BF16 = 1 << 5,
    TCGEMM_CPU_AMX_INT8 = 1 << 6,
    TCGEMM_CPU_AVX_VNNI = 1 << 7, /* VPDPBUSD of 256 bits, also where AVX-512 is not */
    TCGEMM_CPU_AMX_FP16 = 1 << 8,

    TCGEMM_CPU_NEON = 1 << 16,    /* Advanced SIMD: every 64-bit Arm processor that runs Linux */
    TCGEMM_CPU_DOTPROD = 1 << 17, /* SDOT, UDOT */
    TCGEMM_CPU_I8MM = 1 << 18,    /* SMMLA, UMMLA, USMMLA */
    TCGEMM_CPU_BF16 = 1 << 19,    /* BFMMLA */
    TCGEMM_CPU_SVE256 = 1 << 20,  /* SVE with vectors of this many bits */
    TCGEMM_CPU_SVE512 = 1 << 21,
};

/* The TCGEMM_CPU_* bits of this processor, with the operating system's consent to their registers.
 * Found once; cheap afterwards. */
uint32_t tcgemm_cpu_features(void);

/* The kernel set that is the widest of those bits: "any", "avx2", ..., "neon", "sve256", ... */
const char *tcgemm_cpu_isa(uint32_t features);

/* "avx2 avx512 ..." of a set of bits. Returns the length, as snprintf. */
int tcgemm_cpu_feature_names(uint32_t features, char *buffer, size_t size);

/* Vector multiply-add instructions of `vector_bits` (256 or 512) that one core starts each cycle,
 * 0 if this processor is not in the table. */
double tcgemm_cpu_fma_per_cycle(int vector_bits);

/* The same of VDPBF16PS, where that is known to differ; 0 where it is not. */
double tcgemm_cpu_bf16_dots_per_cycle(void);

/* Vector instructions that move elements within 512 bits and that one core starts each cycle; 1
 * where this processor is not in the table. */
double tcgemm_cpu_shuffles_per_cycle(void);

/* Whether its prefetchers follow sixteen streams of which one line of memory at a time is read. */
bool tcgemm_cpu_follows_streams(void);

/* Whether fetching rows of memory ahead that are read side by side is in its prefetchers' way. */
bool tcgemm_cpu_fetches_rows_itself(void);

/* Whether a masked store of AVX2 takes as long as many plain ones. */
bool tcgemm_cpu_stores_by_masks_slowly(void);

/* Whether it is of AMD's family 19h: with AVX-512 a Zen 4, without a Zen 3. */
bool tcgemm_cpu_is_zen4(void);

/* Whether it is of AMD's family 1Ah: a Zen 5. */
bool tcgemm_cpu_is_zen5(void);

/* Whether it is Intel's: measured is a Xeon, an Emerald Rapids. */
bool tcgemm_cpu_is_intel(void);

/* The processor's own name, cut to `size` bytes. */
void tcgemm_cpu_brand(char *buffer, size_t size);

#endif
