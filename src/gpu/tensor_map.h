/* tensor_map.h - matrices that the tensor memory accelerator moves, box by box (sm_90). Plain C for
 * host and device.
 *
 * A kernel of such a family (gpu_row.h, tensor_maps) receives tcgemm_tensor_args_t instead of
 * tcgemm_gpu_args_t: the same, then maps of A, B, C and D. A map says what the tensor is like
 * (tcgemm_tensor_t); its 128 bytes are the driver's (cuTensorMapEncodeTiled), in the emulator a
 * tcgemm_tensor_t as it stands here.
 *
 *     dimension 0   along the row: contiguous elements     box[0] x element_bytes = 128 bytes
 *     dimension 1   the rows, stride[0] bytes apart
 *     dimension 2   the items of the batch, stride[1] apart; one, where they share an operand
 *
 * A box lies in shared memory row by row, 128 bytes a row, at a multiple of 1024 bytes, its 16-byte
 * chunks in the order of the 128-byte swizzle: chunk c of row r at chunk c ^ (r & 7). What of it
 * lies outside the tensor comes as zeros; of what leaves, chunks that lie outside are not written,
 * so that rows have to end with a chunk.
 */
#ifndef TCGEMM_GPU_TENSOR_MAP_H
#define TCGEMM_GPU_TENSOR_MAP_H

#include <stdint.h>

#include "gpu/gpu_args.h"

enum { TCGEMM_TENSOR_ROW = 128 }; /* bytes of a row of a box */

typedef struct tcgemm_tensor {
    const void *base;   /* a multiple of 16 */
    uint64_t size[3];   /* elements, 1 .. 2^32 */
    uint64_t stride[2]; /* bytes, multiples of 16 below 2^40 */
    uint32_t box[3];    /* elements, 1 .. 256 */
    uint16_t element_bytes;
    uint16_t rounds_to_tf32; /* f32 is rounded on its way */
} tcgemm_tensor_t;

#ifdef __cplusplus
#define TCGEMM_TENSOR_ALIGNED alignas(64)
#else
#define TCGEMM_TENSOR_ALIGNED _Alignas(64)
#endif

typedef struct tcgemm_tensor_map {
    TCGEMM_TENSOR_ALIGNED uint64_t opaque[16];
} tcgemm_tensor_map_t;

typedef struct tcgemm_tensor_args {
    tcgemm_gpu_args_t args;
    tcgemm_tensor_map_t a, b, c, d;
    uint32_t has_c; /* 0: there is no C to add, or none of D */
    uint32_t has_d; /* 0: there is no map of D: rows of D, or of C, are not on 16-byte boundaries */
} tcgemm_tensor_args_t;

#endif
