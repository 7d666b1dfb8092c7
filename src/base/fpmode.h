/* fpmode.h - the floating-point modes in which this library computes, whatever its caller's are.
 *
 * A thread may round upwards, flush subnormals to zero (everything that is linked with -ffast-math
 * does), or trap on an inexact result; and a new thread inherits all that. Here every public call
 * that computes, and every thread of ours, works in the default modes: to nearest, subnormals kept,
 * no traps. On return the caller's control and status register is what it was, to the bit: its
 * sticky flags are neither raised nor cleared by a product.
 *
 *     x86-64   MXCSR; nothing here uses the x87 unit
 *     Arm      FPCR and FPSR
 *
 * Loading MXCSR empties the pipeline, twice a call that is half of the time of an 8 x 8 product, so
 * it is loaded only where the caller's modes are others, and afterwards where a flag was raised.
 * The compiler does not know what the register means and may move arithmetic across its change, so
 * a function that changes it leaves all arithmetic to the functions that it calls.
 */
#ifndef TCGEMM_HOST_FPMODE_H
#define TCGEMM_HOST_FPMODE_H

#include <stdint.h>

typedef struct tcgemm_fpmode {
    uint64_t control, status;
} tcgemm_fpmode_t;

#if defined(__x86_64__)

/* All exceptions masked, to nearest, no FTZ (bit 15), no DAZ (bit 6), no flag raised. */
#define TCGEMM_MXCSR_DEFAULT 0x1F80u
#define TCGEMM_MXCSR_FLAGS   0x003Fu

static inline uint32_t tcgemm_mxcsr(void) {
    uint32_t now;
    __asm__ volatile("stmxcsr %0" : "=m"(now) : : "memory");
    return now;
}

static inline tcgemm_fpmode_t tcgemm_fpmode_enter(void) {
    const uint32_t before = tcgemm_mxcsr();
    const uint32_t ours = TCGEMM_MXCSR_DEFAULT;
    if ((before & ~TCGEMM_MXCSR_FLAGS) != ours)
        __asm__ volatile("ldmxcsr %0" : : "m"(ours) : "memory");
    return (tcgemm_fpmode_t){.control = before};
}

static inline void tcgemm_fpmode_leave(const tcgemm_fpmode_t *before) {
    const uint32_t mxcsr = (uint32_t)before->control;
    if (tcgemm_mxcsr() != mxcsr)
        __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr) : "memory");
}

#elif defined(__aarch64__)

static inline tcgemm_fpmode_t tcgemm_fpmode_enter(void) {
    tcgemm_fpmode_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before.control) : : "memory");
    __asm__ volatile("mrs %0, fpsr" : "=r"(before.status) : : "memory");
    __asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(0)) : "memory");
    return before;
}

static inline void tcgemm_fpmode_leave(const tcgemm_fpmode_t *before) {
    __asm__ volatile("msr fpcr, %0" : : "r"(before->control) : "memory");
    __asm__ volatile("msr fpsr, %0" : : "r"(before->status) : "memory");
}

#else
#error "this processor's floating-point control register is not known here"
#endif

/* For the rest of the block, by whatever way it is left. */
#define TCGEMM_DEFAULT_FP_MODES                                                                    \
    const tcgemm_fpmode_t callers_modes_ __attribute__((cleanup(tcgemm_fpmode_leave), unused)) =   \
        tcgemm_fpmode_enter()

#endif
