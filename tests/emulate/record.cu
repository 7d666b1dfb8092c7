/* record.cu - what the instructions of golden.h give on the GPU at hand, for test_golden.c.
 *
 *     sh tests/emulate/record.sh
 *
 * A kernel that the GPU has not (m16n8 of f64 before sm_90) is recorded as zeros, and the test
 * leaves it out.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include "golden.cu"
#include "golden.h"

static void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "record: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

typedef void kernel_t(const uint32_t *, uint32_t *);

#define GOLDEN_POINTER(name, c_kind, c_words, d_words, ab_kind, a_words, b_words, terms)           \
    golden_##name,
static kernel_t *const kernels[] = {GOLDEN_LIST(GOLDEN_POINTER)};

int main(int argc, char **argv) {
    enum { WORDS = GOLDEN_LANES * GOLDEN_MAX_WORDS };
    static uint32_t in[WORDS], out[WORDS];
    uint32_t *device_in, *device_out;
    FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: record FILE\n");
        return 2;
    }
    check(cudaMalloc((void **)&device_in, sizeof in), "memory");
    check(cudaMalloc((void **)&device_out, sizeof out), "memory");
    fwrite(GOLDEN_MAGIC, 1, sizeof GOLDEN_MAGIC - 1, file);
    for (int i = 0; i < GOLDEN_NUM; ++i)
        for (int which = 0; which < GOLDEN_CASES; ++which) {
            const size_t words = GOLDEN_LANES * (size_t)golden_cases[i].d_words;
            golden_input(i, which, in);
            check(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice), "copying");
            check(cudaMemset(device_out, 0, sizeof out), "clearing");
            kernels[i]<<<1, GOLDEN_LANES, 1024>>>(device_in, device_out);
            check(cudaGetLastError(), golden_cases[i].name);
            check(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost),
                  golden_cases[i].name);
            fwrite(out, sizeof *out, words, file);
        }
    if (fclose(file) != 0) {
        fprintf(stderr, "record: %s cannot be written\n", argv[1]);
        return 1;
    }
    printf("%d kernels, %d cases each\n", (int)GOLDEN_NUM, (int)GOLDEN_CASES);
    return 0;
}
