/* sample_cpu.h - what draws and times products on the CPU have in common. */
#ifndef LAB_MODEL_SAMPLE_CPU_H
#define LAB_MODEL_SAMPLE_CPU_H

#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "tcgemm/tcgemm.h"

/* The generator's, to be set from a seed. */
static unsigned long long state;

/* From 0 up to 1. */
static double uniform(void) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) * 0x1p-53;
}

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *random_matrix(tcgemm_dtype_t dtype, size_t count) {
    const size_t bytes = (count * (size_t)tcgemm_dtype_bits(dtype) + 7) / 8 + 64;
    unsigned char *const bits = malloc(bytes);
    double *const values = malloc(4096 * sizeof *values);
    if (!bits || !values)
        exit(1);
    for (size_t i = 0; i < bytes; ++i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        bits[i] = (unsigned char)(state >> 56);
    }
    for (size_t at = 0; dtype < TCGEMM_DTYPE_S32 && at < count; at += 4096) {
        const size_t some = count - at < 4096 ? count - at : 4096;
        for (size_t i = 0; i < some; ++i) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            values[i] = (double)(long long)state * 0x1p-63;
        }
        (void)tcgemm_convert(dtype, bits + at * (size_t)tcgemm_dtype_bits(dtype) / 8,
                             TCGEMM_DTYPE_F64, values, (int64_t)some);
    }
    free(values);
    return bits;
}

#endif
