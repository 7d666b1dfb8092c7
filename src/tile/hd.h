/* hd.h - functions for host and device alike.
 *
 * The headers of this room hold the integer arithmetic of the kernels (which tile comes next, where
 * an element lies in shared memory, which lane owns which element) in plain C, so that the host can
 * test it exhaustively and nvcc compiles the same lines for the GPU, where they are constant
 * expressions, too.
 */
#ifndef TCGEMM_TILE_HD_H
#define TCGEMM_TILE_HD_H

#include <stdint.h>

#ifdef __CUDACC__
#define TCGEMM_HD static constexpr __host__ __device__ __forceinline__
#else
#define TCGEMM_HD static inline
#endif

#endif
