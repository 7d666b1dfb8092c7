/* kernel_args.h - what can be said of a launch from the kernel's name and its arguments. */
#ifndef TCGEMM_TESTS_FAKE_DRIVER_KERNEL_ARGS_H
#define TCGEMM_TESTS_FAKE_DRIVER_KERNEL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/gpu_args.h"
#include "gpu/gpu_row.h"
#include "gpu/tensor_map.h"

typedef enum kernel_kind {
    KERNEL_PRODUCT,
    KERNEL_SCALE,
    KERNEL_PACK,
    KERNEL_WIDEN,
    KERNEL_TURN,
    KERNEL_REDUCE,
    KERNEL_PEAK
} kernel_kind_t;

/* What a symbol of the library's modules is. */
typedef struct kernel {
    kernel_kind_t kind;
    const char *module;
    const tcgemm_gpu_row_t *row; /* of a product */
    int registers;               /* that it is said to take */
    uint32_t a_trans, b_trans;   /* of a product: the end of its name */
    tcgemm_dtype_t a, b, d;      /* of a product; d of a scale kernel; a and d of the others */
    int min_cc;                  /* that has code for it */
} kernel_t;

/* False if no kernel has this name. */
bool kernel_of_name(const char *name, kernel_t *kernel);

/* Whether it packs, widens or turns operands round. */
bool kernel_packs(const kernel_t *kernel);

/* What a kernel receives; peak kernels the second. */
typedef union kernel_params {
    tcgemm_gpu_args_t product;
    tcgemm_tensor_args_t with_maps; /* the same, and the maps of A, B and D */
    tcgemm_pack_args_t packing;
    struct {
        int64_t steps;
        void *never;
    } peak;
} kernel_params_t;

/* Copies the parameters of a launch out of cuLaunchKernel's array. */
void kernel_take_params(const kernel_t *kernel, void *const *array, kernel_params_t *params);

/* The kernel as these parameters call it. */
kernel_t kernel_as_called(const kernel_t *named, const kernel_params_t *params);

/* What is wrong with a launch, in one sentence, or NULL. */
const char *kernel_fault(const kernel_t *named, const kernel_params_t *params, unsigned grid,
                         unsigned ranks, unsigned threads, size_t smem);

/* An operand as the kernel may touch it: from where, how many bytes. */
typedef struct kernel_operand {
    const char *name;
    void **pointer; /* in params */
    size_t bytes;
} kernel_operand_t;

/* Fills in up to 4; returns how many are not NULL. */
int kernel_operands(const kernel_t *named, kernel_params_t *params, kernel_operand_t operands[4]);

#endif
