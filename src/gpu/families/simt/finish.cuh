/* finish.cuh - D = alpha * sums + beta * C of kernels whose lanes have pieces of rows (simt_ffma,
 * simt_tma). */
#ifndef TCGEMM_SIMT_FINISH_CUH
#define TCGEMM_SIMT_FINISH_CUH

#include "gpu/gpu_args.h"

/* Four neighbouring elements of a row of D, of which `cols_left` are inside: `from` in C, `to` in
 * D. whole: pieces of 16 bytes may be taken. */
static __device__ __forceinline__ void simt_finish(const tcgemm_gpu_args_t &args, const float c[4],
                                                   const float *from, float *to, int64_t cols_left,
                                                   bool whole) {
    const float alpha = args.alpha.f32, beta = args.beta.f32;
    if (whole && cols_left >= 4) {
        float4 d = make_float4(alpha * c[0], alpha * c[1], alpha * c[2], alpha * c[3]);
        if (args.c) {
            const float4 old = *(const float4 *)from;
            d.x += beta * old.x;
            d.y += beta * old.y;
            d.z += beta * old.z;
            d.w += beta * old.w;
        }
        *(float4 *)to = d;
        return;
    }
#pragma unroll
    for (int x = 0; x < 4; ++x)
        if (x < cols_left)
            to[x] = args.c ? alpha * c[x] + beta * from[x] : alpha * c[x];
}

#endif
