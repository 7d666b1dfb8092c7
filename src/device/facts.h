/* device.h - what the planner knows of a GPU: plain numbers, filled in by src/cuda. */
#ifndef TCGEMM_PLAN_DEVICE_H
#define TCGEMM_PLAN_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "tcgemm/tcgemm.h"

typedef struct tcgemm_device {
    int index; /* TCGEMM_DEVICE_KNOWN: not here, only to be planned for */
    char name[128];
    int cc; /* 10 x compute capability */
    int num_sms;
    double clock_hz;  /* highest */
    double bandwidth; /* of the memory, bytes a second */
    size_t memory_bytes;
    size_t l2_bytes;
    size_t smem_block_bytes; /* most that one block may ask for */
    size_t smem_sm_bytes;
    size_t smem_reserved_bytes; /* that the system takes from each block's share */
    int registers_per_sm;
    int threads_per_sm;
    bool takes_tensor_maps; /* sm_90: hardware, driver and the library's code for such kernels */
    bool has_fp8_mma;       /* mma.sync of FP8, and the library's code for it */
    bool half_rate_f32;     /* GeForce: tensor cores that accumulate in f32 run at half rate */
} tcgemm_device_t;

/* Where mma.sync of FP8 is an instruction. On sm_90 and sm_100 to 110, whose tensor cores take FP8
 * another way, ptxas makes two of f16 of it, no faster than those of bf16. TCGEMM_FP8_ON_90 is for
 * who has no other GPU to try such kernels on. */
#ifdef TCGEMM_FP8_ON_90
#define TCGEMM_HAS_FP8_MMA(cc) ((cc) == 89 || (cc) == 90 || (cc) >= 120)
#else
#define TCGEMM_HAS_FP8_MMA(cc) ((cc) == 89 || (cc) >= 120)
#endif

/* Types that the same units compute at one rate. The first four are sums of floats in f32. */
typedef enum tcgemm_rate {
    TCGEMM_RATE_F16,
    TCGEMM_RATE_BF16,
    TCGEMM_RATE_TF32,
    TCGEMM_RATE_FP8,
    TCGEMM_RATE_S8,
    TCGEMM_RATE_S4,
    TCGEMM_RATE_B1,
    TCGEMM_RATE_F64,
    TCGEMM_RATE_F32,
    TCGEMM_NUM_RATES
} tcgemm_rate_t;

tcgemm_rate_t tcgemm_rate_of(tcgemm_type_t type);

/* Multiply-adds per clock and SM that the device's units can do for the type; 0: no such units. */
double tcgemm_device_macs(const tcgemm_device_t *device, tcgemm_type_t type);

/* The theoretical peak: operations (2 per multiply-add) a second. */
double tcgemm_device_peak(const tcgemm_device_t *device, tcgemm_type_t type);

/* The largest shared memory of one block on an architecture, for a device that plays an older one.
 */
size_t tcgemm_smem_of_cc(int cc);

#endif
