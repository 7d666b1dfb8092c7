/* record_hopper.cu - what the kernels of golden_hopper.h give on the sm_90 at hand, for
 * test_golden_hopper.c.
 *
 *     sh tests/emulate/record.sh
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include "golden_hopper.cu"

typedef void kernel_t(const tcgemm_tensor_args_t);

static void check(int error, const char *what) {
    if (error == 0)
        return;
    fprintf(stderr, "record: %s: error %d (%s)\n", what, error,
            cudaGetErrorString((cudaError_t)error));
    exit(1);
}

/* ---- maps ---- */

typedef CUresult encode_t(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                          const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                          const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                          CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static encode_t *encode;

static void find_encode(void) {
    void *found = NULL;
    cudaDriverEntryPointQueryResult result;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                           cudaEnableDefault, &result),
          "cuTensorMapEncodeTiled");
    check(found ? 0 : 1, "cuTensorMapEncodeTiled");
    encode = (encode_t *)found;
}

static tcgemm_tensor_map_t map_of(const tcgemm_tensor_t *t) {
    CUtensorMap map;
    tcgemm_tensor_map_t result;
    const CUtensorMapDataType type = t->rounds_to_tf32       ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
                                     : t->element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                     : t->element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                                             : CU_TENSOR_MAP_DATA_TYPE_UINT8;
    cuuint64_t size[3], stride[2];
    cuuint32_t box[3], steps[3] = {1, 1, 1};
    for (int i = 0; i < 3; ++i) {
        size[i] = t->size[i];
        box[i] = t->box[i];
    }
    for (int i = 0; i < 2; ++i)
        stride[i] = t->stride[i];
    check(encode(&map, type, 3, (void *)t->base, size, stride, box, steps,
                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                 CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
          "a tensor map");
    memcpy(&result, &map, sizeof result);
    return result;
}

/* ---- launches ---- */

static uint8_t *device_a, *device_b;
static uint32_t *device_out;

static void launch(kernel_t *kernel, tcgemm_tensor_args_t *x, uint32_t words, const char *kind,
                   int number, FILE *file) {
    char what[40];
    snprintf(what, sizeof what, "%s %d", kind, number);
    static uint32_t out[HOPPER_WORDS];
    x->args.d = device_out;
    check(cudaMemset(device_out, 0, sizeof out), "clearing");
    kernel<<<1, HOPPER_THREADS, HOPPER_SMEM>>>(*x);
    check(cudaGetLastError(), "a launch");
    check(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost), what);
    fwrite(out, sizeof *out, words, file);
}

static void give(hopper_element_t element, int seed, int round, uint8_t *to) {
    static uint8_t bytes[HOPPER_BYTES];
    hopper_fill(element, seed, round, bytes);
    check(cudaMemcpy(to, bytes, sizeof bytes, cudaMemcpyHostToDevice), "copying");
}

static void record_box(int i, int round, FILE *file) {
    const hopper_box_t *box = &hopper_boxes[i];
    tcgemm_tensor_args_t x;
    memset(&x, 0, sizeof x);
    give(box->element, i, round, device_a);
    const tcgemm_tensor_t t = hopper_tensor_of_box(box, device_a);
    x.a = map_of(&t);
    x.args.m = box->lines * box->items;
    x.args.lda = box->at[0];
    x.args.ldb = box->at[1];
    x.args.ldc = box->at[2];
    launch(golden_box, &x, (uint32_t)x.args.m * 32, "box", i, file);
}

#define HOPPER_POINTER(name, kind, a, b, n, a_mn, b_mn, sum) golden_wgmma_##name,
static kernel_t *const kernels[] = {HOPPER_PRODUCTS(HOPPER_POINTER)};

static void record_product(int i, int round, FILE *file) {
    const hopper_product_t *p = &hopper_products[i];
    tcgemm_tensor_args_t x;
    memset(&x, 0, sizeof x);
    give(p->a, 100 + i, round, device_a);
    give(p->b, 200 + i, round, device_b);
    const tcgemm_tensor_t a = hopper_tensor_of_operand(p->a, p->a_mn, 64, device_a);
    const tcgemm_tensor_t b = hopper_tensor_of_operand(p->b, p->b_mn, p->n, device_b);
    x.a = map_of(&a);
    x.b = map_of(&b);
    launch(kernels[i], &x, 64 * p->n, "product", i, file);
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: record_hopper FILE\n");
        return 2;
    }
    check(cudaMalloc((void **)&device_a, HOPPER_BYTES), "memory");
    check(cudaMalloc((void **)&device_b, HOPPER_BYTES), "memory");
    check(cudaMalloc((void **)&device_out, HOPPER_WORDS * 4), "memory");
    find_encode();
    fwrite(GOLDEN_HOPPER_MAGIC, 1, sizeof GOLDEN_HOPPER_MAGIC - 1, file);
    for (int round = 0; round < HOPPER_ROUNDS; ++round) {
        for (int i = 0; i < HOPPER_NUM_BOXES; ++i)
            record_box(i, round, file);
        for (int i = 0; i < HOPPER_NUM_PRODUCTS; ++i)
            record_product(i, round, file);
    }
    if (fclose(file) != 0) {
        fprintf(stderr, "record: %s cannot be written\n", argv[1]);
        return 1;
    }
    printf("%d boxes, %d products, %d rounds\n", (int)HOPPER_NUM_BOXES, (int)HOPPER_NUM_PRODUCTS,
           (int)HOPPER_ROUNDS);
    return 0;
}
