/* finish.cuh - D = alpha * sums + beta * C of kernels whose lanes have pieces of rows (simt_ffma,
 * simt_tma). */
#ifndef TCGEMM_SIMT_FINISH_CUH
#define TCGEMM_SIMT_FINISH_CUH

#include "gpu/gpu_args.h"
#include "gpu/words.cuh"
#include "tile/raster.h"

/* Four neighbouring elements of a row of C; zeros without a C. WHOLE: all are inside, on a boundary
 * of 16 bytes; else `cols_left` are. */
template <bool WHOLE>
static __device__ __forceinline__ float4 simt_piece_of_c(const tcgemm_gpu_args_t &args,
                                                         const float *from, int64_t cols_left) {
    if (!args.c)
        return make_float4(0, 0, 0, 0);
    if constexpr (WHOLE) {
        return *(const float4 *)from;
    } else {
        float v[4] = {0, 0, 0, 0};
#pragma unroll
        for (int x = 0; x < 4; ++x)
            if (x < cols_left)
                v[x] = from[x];
        return make_float4(v[0], v[1], v[2], v[3]);
    }
}

/* The same of D, from their sums and what they were in C. */
template <bool WHOLE>
static __device__ __forceinline__ void simt_finish(const tcgemm_gpu_args_t &args, const float c[4],
                                                   float4 old, float *to, int64_t cols_left) {
    const float alpha = args.alpha.f32, beta = args.beta.f32;
    float d[4] = {alpha * c[0], alpha * c[1], alpha * c[2], alpha * c[3]};
    if (args.c) {
        d[0] += beta * old.x;
        d[1] += beta * old.y;
        d[2] += beta * old.z;
        d[3] += beta * old.w;
    }
    if constexpr (WHOLE) {
        tcgemm_store_piece(to, d);
    } else {
#pragma unroll
        for (int x = 0; x < 4; ++x)
            if (x < cols_left)
                to[x] = d[x];
    }
}

/* Four rows of D from `row` on, by PIECES pieces, one every 16 columns from `col` on. C, which may
 * be D, is loaded for up to eight pieces before the first of them is written: loads that the
 * compiler must not move ahead of stores would each be waited for. */
template <bool WHOLE, int PIECES>
static __device__ __forceinline__ void
simt_finish_pieces(const tcgemm_gpu_args_t &args, const float c[4][PIECES][4], const float *from,
                   float *to, int64_t rows_left, int64_t cols_left) {
    enum { ROWS = PIECES > 4 ? 1 : PIECES > 2 ? 2 : 4 /* at once */ };
#pragma unroll
    for (int first = 0; first < 4; first += ROWS) {
        float4 old[ROWS][PIECES];
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
#pragma unroll
            for (int piece = 0; piece < PIECES; ++piece)
                if (first + i < rows_left)
                    old[i][piece] = simt_piece_of_c<WHOLE>(
                        args, from + (first + i) * args.ldc + 16 * piece, cols_left - 16 * piece);
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
#pragma unroll
            for (int piece = 0; piece < PIECES; ++piece)
                if (first + i < rows_left)
                    simt_finish<WHOLE>(args, c[first + i][piece], old[i][piece],
                                       to + (first + i) * args.ldd + 16 * piece,
                                       cols_left - 16 * piece);
    }
}

/* whole: pieces are on boundaries of 16 bytes. */
template <int PIECES>
static __device__ __forceinline__ void simt_finish_rows(const tcgemm_gpu_args_t &args,
                                                        const float c[4][PIECES][4], int64_t batch,
                                                        int64_t row, int64_t col, bool whole) {
    const float *from = (const float *)args.c + batch * args.stride_c + row * args.ldc + col;
    float *to = (float *)args.d + batch * args.stride_d + row * args.ldd + col;
    const int64_t rows_left = args.m - row, cols_left = args.n - col;
    if (whole && cols_left >= 16 * PIECES - 12)
        simt_finish_pieces<true, PIECES>(args, c, from, to, rows_left, cols_left);
    else
        simt_finish_pieces<false, PIECES>(args, c, from, to, rows_left, cols_left);
}

#endif
