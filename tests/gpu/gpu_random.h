/* gpu_random.h - random matrices on GPU 0, for what times kernels (speed.c, lab/model/sample.c). */
#ifndef TESTS_GPU_RANDOM_H
#define TESTS_GPU_RANDOM_H

#include <stdlib.h>
#include <string.h>

#include "tcgemm/tcgemm.h"

/* GPU memory full of random elements between -1 and 1 (or random integers); NULL without memory. */
static void *random_matrix(tcgemm_dtype_t dtype, size_t count) {
    enum { CHUNK = 1 << 20 };
    const size_t size = (size_t)tcgemm_dtype_bits(dtype) / 8;
    void *memory = NULL;
    double *const values = malloc(CHUNK * sizeof *values);
    char *const bits = malloc(CHUNK * size);
    if (!values || !bits || tcgemm_device_alloc(0, count * size, &memory) != TCGEMM_STATUS_OK)
        return NULL;
    unsigned long long state = 88172645463325252ull;
    for (int i = 0; i < CHUNK; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[i] = (double)(long long)state * 0x1p-63;
        if (dtype >= TCGEMM_DTYPE_S32)
            memcpy(bits + (size_t)i * size, &state, size);
    }
    if (dtype < TCGEMM_DTYPE_S32)
        (void)tcgemm_convert(dtype, bits, TCGEMM_DTYPE_F64, values, CHUNK);
    for (size_t i = 0; i < count; i += CHUNK)
        (void)tcgemm_device_copy(0, (char *)memory + i * size, bits,
                                 (count - i < CHUNK ? count - i : CHUNK) * size);
    free(values);
    free(bits);
    return memory;
}

#endif
