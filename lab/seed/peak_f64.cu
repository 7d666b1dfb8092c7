/* peak_f64.cu - what wmma's 8x8x4 double product can do at most: from registers, nothing loaded. */
#include <mma.h>
#include <stdio.h>
using namespace nvcuda::wmma;
__global__ void peak(double *out, int n) {
    fragment<matrix_a, 8, 8, 4, double, row_major> a;
    fragment<matrix_b, 8, 8, 4, double, col_major> b;
    fragment<accumulator, 8, 8, 4, double> c[8];
    a.x[0] = threadIdx.x * 0.37 - 3, b.x[0] = threadIdx.x * 0.11 - 1;
    for (int i = 0; i < 8; i++)
        fill_fragment(c[i], 0.0);
    for (int j = 0; j < n; j++)
#pragma unroll
        for (int i = 0; i < 8; i++)
            mma_sync(c[i], a, b, c[i]);
    double s = 0;
    for (int i = 0; i < 8; i++)
        s += c[i].x[0] + c[i].x[1];
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
int main(void) {
    double *out;
    cudaMalloc(&out, 8 << 20);
    cudaEvent_t e[2];
    cudaEventCreate(e), cudaEventCreate(e + 1);
    float ms = 0;
    for (int i = 0; i < 3; i++) {
        cudaEventRecord(e[0]);
        peak<<<132 * 4, 256>>>(out, 20000);
        cudaEventRecord(e[1]);
        cudaEventSynchronize(e[1]);
        cudaEventElapsedTime(&ms, e[0], e[1]);
    }
    printf("wmma 8x8x4 double from registers: %.1f TFLOP/s\n",
           132. * 4 * 8 * 20000 * 8 * 512 / ms * 1e-9);
}
