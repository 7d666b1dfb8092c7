/* table.c - the registry, derived from kernels.def. */
#include "table/table.h"

#include <string.h>

#include "base/error.h"
#include "cpu/features.h"
#include "cpu/gemm.h"
#include "cpu/kernels/kernels.h"
#include "cpu/ukernel.h"
#include "ref/reference.h"

/* ---- which types a family computes ---- */

#define BIT(id) TCGEMM_TYPE_BIT(TCGEMM_##id)
#define TYPES_BF16                                                                                 \
    (BIT(BF16_F32) | BIT(BF16_BF16) | BIT(E4M3_F32) | BIT(E5M2_F32) | BIT(E4M3_BF16) |             \
     BIT(E5M2_BF16))
#define TYPES_BYTES                                                                                \
    (BIT(S8_S32) | BIT(U8_S32) | BIT(U8S8_S32) | BIT(S8U8_S32) | BIT(S4_S32) | BIT(U4_S32))

#define TYPES_OF_f32  (BIT(F32_F32) | BIT(TF32_F32) | BIT(F16_F32) | BIT(F16_F16) | TYPES_BF16)
#define TYPES_OF_f64  BIT(F64_F64)
#define TYPES_OF_bf16 TYPES_BF16
#define TYPES_OF_u8s8 TYPES_BYTES
#define TYPES_OF_s16  TYPES_BYTES
#define TYPES_OF_b1   BIT(B1_S32)
#define TYPES_ALL     (BIT(B1_S32) | (BIT(B1_S32) - 1))

#define FAMILY_OF_f32  TCGEMM_FAMILY_F32
#define FAMILY_OF_f64  TCGEMM_FAMILY_F64
#define FAMILY_OF_bf16 TCGEMM_FAMILY_BF16
#define FAMILY_OF_u8s8 TCGEMM_FAMILY_U8S8
#define FAMILY_OF_s16  TCGEMM_FAMILY_S16
#define FAMILY_OF_b1   TCGEMM_FAMILY_B1

#define FLOAT_BOUND "T(k) u s + rounding of D, T(k) = min(k + 2, 3 sqrt(k) + 4)"
#define BF16_BOUND  FLOAT_BOUND "; sums below 2^-126 may become 0"
#define EXACT_BOUND "exact modulo 2^32"

#define BOUND_OF_f32  FLOAT_BOUND
#define BOUND_OF_f64  FLOAT_BOUND
#define BOUND_OF_bf16 BF16_BOUND
#define BOUND_OF_u8s8 EXACT_BOUND
#define BOUND_OF_s16  EXACT_BOUND
#define BOUND_OF_b1   EXACT_BOUND

#define FINISH_OF_f32(kernels)  tcgemm_finish_##kernels
#define FINISH_OF_bf16(kernels) tcgemm_finish_##kernels
#define FINISH_OF_f64(kernels)  NULL
#define FINISH_OF_u8s8(kernels) NULL
#define FINISH_OF_s16(kernels)  NULL
#define FINISH_OF_b1(kernels)   NULL

#define tcgemm_tile_any_NONE    NULL
#define tcgemm_tile_avx2_NONE   NULL
#define tcgemm_tile_avx512_NONE NULL

/* ---- the micro-kernels ---- */

#define TCGEMM_CPU(isa, family_, kernels, features, mr_, nr_, ku_, lane, macs, kc_, mc_, nb_,      \
                   strided_, exact_)                                                               \
    static const tcgemm_cpu_ukernel_t ukernel_##isa##_##family_ = {                                \
        .family = FAMILY_OF_##family_,                                                             \
        .mr = (mr_),                                                                               \
        .nr = (nr_),                                                                               \
        .ku = (ku_),                                                                               \
        .lane_bytes = (lane),                                                                      \
        .kc = (kc_),                                                                               \
        .mc = (mc_),                                                                               \
        .nb = (nb_),                                                                               \
        .packed = tcgemm_tile_##isa##_##family_,                                                   \
        .strided = tcgemm_tile_##isa##_##strided_,                                                 \
        .exact = tcgemm_tile_##isa##_##exact_,                                                     \
        .pack = tcgemm_pack_##kernels##_##family_,                                                 \
        .finish = FINISH_OF_##family_(kernels),                                                    \
    };                                                                                             \
    _Static_assert((mc_) % (mr_) == 0, #isa "_" #family_ ": mc must be a multiple of mr");         \
    _Static_assert((nb_) % (nr_) == 0, #isa "_" #family_ ": nb must be a multiple of nr");         \
    _Static_assert((kc_) % (ku_) == 0, #isa "_" #family_ ": kc must be a multiple of ku");         \
    _Static_assert((nr_) <= 48, #isa "_" #family_ ": packing knows panels up to 48 wide");
#include "table/kernels.def"

/* ---- the rows ---- */

#define TCGEMM_REFERENCE()                                                                         \
    {.name = "reference",                                                                          \
     .algo = "reference",                                                                          \
     .isa = "any",                                                                                 \
     .types = TYPES_ALL,                                                                           \
     .mr = 1,                                                                                      \
     .nr = 1,                                                                                      \
     .ku = 1,                                                                                      \
     .macs_per_cycle = 0,                                                                          \
     .error_bound = "one rounding of D (wide accumulation); integers exact modulo 2^32",           \
     .run = tcgemm_reference_run},
#define TCGEMM_CPU(isa_, family, kernels, features_, mr_, nr_, ku_, lane, macs, kc, mc, nb,        \
                   strided, exact)                                                                 \
    {.name = "cpu_" #isa_ "_" #family "_" #mr_ "x" #nr_,                                           \
     .algo = "cpu",                                                                                \
     .isa = #isa_,                                                                                 \
     .types = TYPES_OF_##family,                                                                   \
     .features = (features_),                                                                      \
     .mr = (mr_),                                                                                  \
     .nr = (nr_),                                                                                  \
     .ku = (ku_),                                                                                  \
     .macs_per_cycle = (macs),                                                                     \
     .error_bound = BOUND_OF_##family,                                                             \
     .cpu = &ukernel_##isa_##_##family,                                                            \
     .run = tcgemm_cpu_run},
const tcgemm_kernel_t tcgemm_kernels[] = {
#include "table/kernels.def"
};

const int tcgemm_num_kernels = (int)(sizeof tcgemm_kernels / sizeof tcgemm_kernels[0]);

bool tcgemm_kernel_is_runnable(const tcgemm_kernel_t *kernel) {
    return (kernel->features & ~tcgemm_cpu_features()) == 0;
}

/* ---- the public view ---- */

int tcgemm_kernel_count(void) {
    return tcgemm_num_kernels;
}

tcgemm_status_t tcgemm_kernel_get_info(int index, tcgemm_kernel_info_t *info) {
    TCGEMM_RETURN_IF(index < 0 || index >= tcgemm_num_kernels, TCGEMM_STATUS_BAD_ARGUMENT,
                     "kernel %d is not in 0 .. %d", index, tcgemm_num_kernels - 1);
    TCGEMM_RETURN_IF(!info || info->struct_size != sizeof *info, TCGEMM_STATUS_BAD_ARGUMENT,
                     "info is NULL or its struct_size is not set");
    const tcgemm_kernel_t *kernel = &tcgemm_kernels[index];
    *info = (tcgemm_kernel_info_t){
        .struct_size = sizeof *info,
        .name = kernel->name,
        .algo = kernel->algo,
        .isa = kernel->isa,
        .runnable = tcgemm_kernel_is_runnable(kernel),
        .tile_m = kernel->mr,
        .tile_n = kernel->nr,
        .tile_k = kernel->ku,
        .types = kernel->types,
    };
    return TCGEMM_STATUS_OK;
}
