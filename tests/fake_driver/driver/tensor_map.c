/* tensor_map.c - cuTensorMapEncodeTiled: refuses what the driver refuses, and writes down what the
 * map says for those who launch with it (kernel_args.c).
 */
#include <string.h>

#include "fake_driver/driver/state.h"
#include "gpu/tensor_map.h"

enum { RANK = 3, MOST_BOX = 256, MOST_INNER_BYTES = 128 };

static int bytes_of(CUtensorMapDataType type) {
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
        return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
        return 2;
    default:
        return 4;
    }
}

static bool is_legal(const tcgemm_tensor_t *t) {
    bool good = (uintptr_t)t->base % 16 == 0 && t->base;
    for (int i = 0; i < RANK; ++i)
        good = good && t->size[i] >= 1 && t->size[i] <= UINT64_C(1) << 32 && t->box[i] >= 1 &&
               t->box[i] <= MOST_BOX;
    for (int i = 0; i < RANK - 1; ++i)
        good = good && t->stride[i] % 16 == 0 && t->stride[i] < UINT64_C(1) << 40;
    return good && t->box[0] * t->element_bytes <= MOST_INNER_BYTES;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *base, const cuuint64_t *size, const cuuint64_t *stride,
                                const cuuint32_t *box, const cuuint32_t *each,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    FAKE_CALL(FAKE_NEEDS_NOTHING);
    (void)promotion;
    if (rank != RANK || interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
        swizzle != CU_TENSOR_MAP_SWIZZLE_128B || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ||
        each[0] != 1 || each[1] != 1 || each[2] != 1)
        return CUDA_ERROR_INVALID_VALUE;
    const tcgemm_tensor_t t = {
        .base = base,
        .size = {size[0], size[1], size[2]},
        .stride = {stride[0], stride[1]},
        .box = {box[0], box[1], box[2]},
        .element_bytes = (uint16_t)bytes_of(type),
        .rounds_to_tf32 = type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
    };
    if (!is_legal(&t))
        return CUDA_ERROR_INVALID_VALUE;
    memset(map, 0, sizeof *map);
    memcpy(map, &t, sizeof t);
    return CUDA_SUCCESS;
}
