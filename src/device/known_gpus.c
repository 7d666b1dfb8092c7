/* known_gpus.c - known_gpus.def as devices. */
#include "device/known_gpus.h"

#include <string.h>

enum { KIB = 1024, MIB = KIB * KIB, REGISTERS = 65536 };

/* From sm_80 on the system keeps 1 KiB of each block's shared memory. */
#define RESERVED(cc) ((cc) >= 80 ? KIB : 0)

static const struct {
    const char *key;
    tcgemm_device_t device;
} gpus[] = {
#define TCGEMM_KNOWN_GPU(key_, name_, cc_, sms, mhz, gbps, mib, l2_kib, smem_kib, threads,         \
                         geforce)                                                                  \
    {.key = (key_),                                                                                \
     .device = {.index = TCGEMM_DEVICE_KNOWN,                                                      \
                .name = name_,                                                                     \
                .cc = (cc_),                                                                       \
                .num_sms = (sms),                                                                  \
                .clock_hz = (mhz)*1e6,                                                             \
                .bandwidth = (gbps)*1e9,                                                           \
                .memory_bytes = (size_t)(mib)*MIB,                                                 \
                .l2_bytes = (size_t)(l2_kib)*KIB,                                                  \
                .smem_block_bytes = (size_t)(smem_kib)*KIB - RESERVED(cc_),                        \
                .smem_sm_bytes = (size_t)(smem_kib)*KIB,                                           \
                .smem_reserved_bytes = RESERVED(cc_),                                              \
                .registers_per_sm = REGISTERS,                                                     \
                .threads_per_sm = (threads),                                                       \
                .takes_tensor_maps = (cc_) == 90,                                                  \
                .has_fp8_mma = TCGEMM_HAS_FP8_MMA(cc_),                                            \
                .half_rate_f32 = (geforce) != 0}},
#include "device/known_gpus.def"
};

enum { NUM_GPUS = sizeof gpus / sizeof gpus[0] };

int tcgemm_known_gpu_count(void) {
    return NUM_GPUS;
}

const tcgemm_device_t *tcgemm_known_gpu(int index) {
    return index >= 0 && index < NUM_GPUS ? &gpus[index].device : NULL;
}

const char *tcgemm_known_gpu_key(int index) {
    return index >= 0 && index < NUM_GPUS ? gpus[index].key : NULL;
}

const tcgemm_device_t *tcgemm_known_gpu_find(const char *key) {
    for (int i = 0; i < NUM_GPUS; ++i)
        if (strcmp(gpus[i].key, key) == 0)
            return &gpus[i].device;
    return NULL;
}
