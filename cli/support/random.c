/* random.c - splitmix64 as a counter-based generator: mixing the counter is the whole state. */
#include "support/random.h"

#include <stdbool.h>
#include <string.h>

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t random_word(uint64_t stream, uint64_t index) {
    return mix(stream + (index + 1) * 0x9E3779B97F4A7C15u);
}

static bool is_float(tcgemm_dtype_t dtype) {
    return dtype <= TCGEMM_DTYPE_E5M2;
}

static void fill_floats(tcgemm_dtype_t dtype, unsigned char *data, int64_t count, uint64_t stream) {
    enum { CHUNK = 512 };
    double values[CHUNK];
    const size_t size = (size_t)tcgemm_dtype_bits(dtype) / 8;
    for (int64_t done = 0; done < count; done += CHUNK) {
        const int64_t now = count - done < CHUNK ? count - done : CHUNK;
        for (int64_t i = 0; i < now; ++i) /* 53 bits, so that every step is exact */
            values[i] = (double)(random_word(stream, (uint64_t)(done + i)) >> 11) * 0x1p-52 - 1.0;
        (void)tcgemm_convert(dtype, data + (size_t)done * size, TCGEMM_DTYPE_F64, values, now);
    }
}

/* Integers up to 8 bits: byte j of the array is byte j % 8 of word j / 8. */
static void fill_bytes(unsigned char *data, size_t bytes, uint64_t stream) {
    for (size_t j = 0; j < bytes; j += 8) {
        const uint64_t word = random_word(stream, j / 8);
        const size_t now = bytes - j < 8 ? bytes - j : 8;
        for (size_t i = 0; i < now; ++i)
            data[j + i] = (unsigned char)(word >> (8 * i));
    }
}

static void fill_s32(int32_t *data, int64_t count, uint64_t stream) {
    for (int64_t i = 0; i < count; ++i) {
        const uint32_t bits = (uint32_t)(random_word(stream, (uint64_t)i) >> 32);
        memcpy(&data[i], &bits, sizeof bits);
    }
}

void random_fill(tcgemm_dtype_t dtype, void *data, int64_t count, uint64_t seed, char operand) {
    const uint64_t stream = mix(mix(seed) + (uint64_t)(unsigned char)operand);
    if (is_float(dtype))
        fill_floats(dtype, data, count, stream);
    else if (dtype == TCGEMM_DTYPE_S32)
        fill_s32(data, count, stream);
    else
        fill_bytes(data, ((size_t)count * (size_t)tcgemm_dtype_bits(dtype) + 7) / 8, stream);
}
