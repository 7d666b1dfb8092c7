/* table.c - the registry, derived from kernels.def. */
#include "table/table.h"

#include <string.h>

#include "base/error.h"
#include "base/struct.h"
#include "cpu/gemm.h"
#include "cpu/kernels/kernels.h"
#include "cpu/ukernel.h"
#include "cuda/backend.h"
#include "host/features.h"
#include "ref/reference.h"
#include "table/gpu_row.h"

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

/* ---- the GPU rows ---- */

#define ID_OF_f16_f32   TCGEMM_F16_F32
#define ID_OF_f16_f16   TCGEMM_F16_F16
#define ID_OF_bf16_f32  TCGEMM_BF16_F32
#define ID_OF_bf16_bf16 TCGEMM_BF16_BF16
#define ID_OF_tf32_f32  TCGEMM_TF32_F32
#define ID_OF_f32_f32   TCGEMM_F32_F32
#define ID_OF_f64_f64   TCGEMM_F64_F64
#define ID_OF_s8_s32    TCGEMM_S8_S32
#define ID_OF_u8_s32    TCGEMM_U8_S32
#define ID_OF_u8s8_s32  TCGEMM_U8S8_S32
#define ID_OF_s8u8_s32  TCGEMM_S8U8_S32
#define ID_OF_e4m3_f32  TCGEMM_E4M3_F32
#define ID_OF_e5m2_f32  TCGEMM_E5M2_F32
#define ID_OF_e4m3_bf16 TCGEMM_E4M3_BF16
#define ID_OF_e5m2_bf16 TCGEMM_E5M2_BF16
#define ID_OF_s4_s32    TCGEMM_S4_S32
#define ID_OF_u4_s32    TCGEMM_U4_S32
#define ID_OF_b1_s32    TCGEMM_B1_S32

#define ALGO_OF_wmma_direct   "wmma-direct"
#define ALGO_OF_wmma_shared   "wmma-shared"
#define ALGO_OF_simt_outer    "simt-outer"
#define ALGO_OF_mma_pipelined "mma-pipelined"

#define BY_INSTRUCTION_wmma_direct   true
#define BY_INSTRUCTION_wmma_shared   false
#define BY_INSTRUCTION_simt_outer    false
#define BY_INSTRUCTION_mma_pipelined false

#define TENSOR_BOUND                                                                               \
    "T(k) u s + rounding of D, T(k) = min(2 k + 4, k / 8 + 3 sqrt(k) + 8): tensor cores truncate"

#define GPU_BOUND_f16_f32   TENSOR_BOUND
#define GPU_BOUND_f16_f16   TENSOR_BOUND
#define GPU_BOUND_bf16_f32  TENSOR_BOUND
#define GPU_BOUND_bf16_bf16 TENSOR_BOUND
#define GPU_BOUND_tf32_f32  TENSOR_BOUND
#define GPU_BOUND_f32_f32   FLOAT_BOUND
#define GPU_BOUND_f64_f64   FLOAT_BOUND
#define GPU_BOUND_s8_s32    EXACT_BOUND
#define GPU_BOUND_u8_s32    EXACT_BOUND
#define GPU_BOUND_u8s8_s32  EXACT_BOUND
#define GPU_BOUND_s8u8_s32  EXACT_BOUND
#define GPU_BOUND_e4m3_f32  TENSOR_BOUND
#define GPU_BOUND_e5m2_f32  TENSOR_BOUND
#define GPU_BOUND_e4m3_bf16 TENSOR_BOUND
#define GPU_BOUND_e5m2_bf16 TENSOR_BOUND
#define GPU_BOUND_s4_s32    EXACT_BOUND
#define GPU_BOUND_u4_s32    EXACT_BOUND
#define GPU_BOUND_b1_s32    EXACT_BOUND

#define TCGEMM_COST(row, macs_, wait_, start_, finish_, narrow_, nt_, tn_, tt_)                    \
    static const tcgemm_gpu_cost_t cost_##row = {                                                  \
        .macs = (macs_),                                                                           \
        .wait = (wait_),                                                                           \
        .start = (start_),                                                                         \
        .finish = (finish_),                                                                       \
        .narrow = (narrow_),                                                                       \
        .layout = {1.0, (nt_), (tn_), (tt_)},                                                      \
    };
#include "table/gpu_cost.def"

#define TCGEMM_REGISTERS(row, number) enum { registers_##row = (number) };
#include "table/gpu_registers.def"

#define TCGEMM_GPU(algo, type_, module_, tag_, min_cc_, max_cc_, bm_, bn_, bk_, wm_, wn_, im_,     \
                   in_, ik_, threads_, stages_, smem_, blocks_per_sm_, persistent_)                \
    static const tcgemm_gpu_row_t gpu_##algo##_##type_##_##bm_##x##bn_##x##bk_##_##tag_ = {        \
        .entry = "tcgemm_" #algo "_" #type_ "_" #bm_ "x" #bn_ "x" #bk_ "_" #tag_,                  \
        .module = #module_,                                                                        \
        .tag = #tag_,                                                                              \
        .type = ID_OF_##type_,                                                                     \
        .min_cc = (min_cc_),                                                                       \
        .max_cc = (max_cc_),                                                                       \
        .bm = (bm_),                                                                               \
        .bn = (bn_),                                                                               \
        .bk = (bk_),                                                                               \
        .wm = (wm_),                                                                               \
        .wn = (wn_),                                                                               \
        .im = (im_),                                                                               \
        .in = (in_),                                                                               \
        .ik = (ik_),                                                                               \
        .threads = (threads_),                                                                     \
        .stages = (stages_),                                                                       \
        .smem_bytes = (smem_),                                                                     \
        .blocks_per_sm = (blocks_per_sm_),                                                         \
        .persistent = (persistent_) != 0,                                                          \
        .by_instruction = BY_INSTRUCTION_##algo,                                                   \
        .registers = registers_##algo##_##type_##_##bm_##x##bn_##x##bk_##_##tag_,                  \
        .cost = &cost_##algo##_##type_##_##bm_##x##bn_##x##bk_##_##tag_,                           \
    };                                                                                             \
    _Static_assert((bm_) % (wm_) == 0 && (bn_) % (wn_) == 0,                                       \
                   #algo "_" #type_ "_" #tag_ ": the block tile must hold whole warp tiles");      \
    _Static_assert((wm_) % (im_) == 0 && (wn_) % (in_) == 0 && (bk_) % (ik_) == 0, #algo           \
                   "_" #type_ "_" #tag_ ": the warp tile must hold whole instruction tiles");      \
    _Static_assert((threads_) % 32 == 0 && (threads_) <= 1024,                                     \
                   #algo "_" #type_ "_" #tag_ ": threads must be whole warps, at most 1024");      \
    _Static_assert((smem_) <= 232448, #algo "_" #type_ "_" #tag_ ": no device has that much "      \
                                            "smem");
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
#define TCGEMM_GPU(algo_, type, module, tag, min_cc, max_cc, bm, bn, bk, wm, wn, im, in, ik,       \
                   threads, stages, smem, blocks_per_sm, persistent)                               \
    {.name = "gpu_" #algo_ "_" #type "_" #bm "x" #bn "x" #bk "_" #tag,                             \
     .algo = ALGO_OF_##algo_,                                                                      \
     .isa = "sm_" #min_cc,                                                                         \
     .types = TCGEMM_TYPE_BIT(ID_OF_##type),                                                       \
     .mr = (bm),                                                                                   \
     .nr = (bn),                                                                                   \
     .ku = (bk),                                                                                   \
     .error_bound = GPU_BOUND_##type,                                                              \
     .gpu = &gpu_##algo_##_##type##_##bm##x##bn##x##bk##_##tag},
const tcgemm_kernel_t tcgemm_kernels[] = {
#include "table/kernels.def"
};

const int tcgemm_num_kernels = (int)(sizeof tcgemm_kernels / sizeof tcgemm_kernels[0]);

bool tcgemm_kernel_is_runnable(const tcgemm_kernel_t *kernel) {
    if (kernel->gpu)
        return tcgemm_gpu_row_is_runnable(kernel->gpu);
    return (kernel->features & ~tcgemm_cpu_features()) == 0;
}

/* ---- the public view ---- */

int tcgemm_kernel_count(void) {
    return tcgemm_num_kernels;
}

tcgemm_status_t tcgemm_kernel_get_info(int index, tcgemm_kernel_info_t *info) {
    TCGEMM_RETURN_IF(index < 0 || index >= tcgemm_num_kernels, TCGEMM_STATUS_BAD_ARGUMENT,
                     "kernel %d is not in 0 .. %d", index, tcgemm_num_kernels - 1);
    TCGEMM_FORWARD(tcgemm_struct_check("info", info, sizeof *info));
    const tcgemm_kernel_t *kernel = &tcgemm_kernels[index];
    const tcgemm_kernel_info_t filled = {
        .struct_size = sizeof filled,
        .name = kernel->name,
        .algo = kernel->algo,
        .isa = kernel->isa,
        .device = kernel->gpu ? "gpu" : "cpu",
        .runnable = tcgemm_kernel_is_runnable(kernel),
        .tile_m = kernel->mr,
        .tile_n = kernel->nr,
        .tile_k = kernel->ku,
        .types = kernel->types,
    };
    tcgemm_struct_write(info, &filled, sizeof filled);
    return TCGEMM_STATUS_OK;
}
