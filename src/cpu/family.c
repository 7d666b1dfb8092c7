/* family.c - the CPU as a family of kernels: its rows, from rows.def. */
#include "table/family.h"
#include "cpu/gemm.h"
#include "cpu/kernels/kernels.h"
#include "cpu/kernels/ukernel.h"
#include "cpu/model.h"
#include "cpu/prepack.h"
#include "host/features.h"
#include "plan/plan.h"

/* ---- which types a lane computes: by the column `cpu` of types.def ---- */

enum { FLOAT = 1, DOUBLE = 2, BF16 = 4, BYTES = 8, BITS = 16, HALF = 32 };
enum {
    LANE_f32 = FLOAT | BF16 | HALF,
    LANE_f64 = DOUBLE,
    LANE_bf16 = BF16,
    LANE_u8s8 = BYTES,
    LANE_s16 = BYTES,
    LANE_b1 = BITS,
    LANE_bf16x32 = BF16,
    LANE_f16x32 = HALF,
    LANE_i8x64 = BYTES,
    LANE_i8x4 = BYTES,
    LANE_i8x8 = BYTES,
    LANE_bf16x4 = BF16
};

/* clang-format off */
enum {
    TYPES_OF_f32 = 0
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    | ((cpu & LANE_f32) != 0 ? 1 << (TCGEMM_##ID - 1) : 0)
#include "base/types.def"
};
enum {
    TYPES_OF_f64 = 0
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    | ((cpu & LANE_f64) != 0 ? 1 << (TCGEMM_##ID - 1) : 0)
#include "base/types.def"
};
enum {
    TYPES_OF_bf16 = 0
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    | ((cpu & LANE_bf16) != 0 ? 1 << (TCGEMM_##ID - 1) : 0)
#include "base/types.def"
};
enum {
    TYPES_OF_u8s8 = 0
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    | ((cpu & LANE_u8s8) != 0 ? 1 << (TCGEMM_##ID - 1) : 0)
#include "base/types.def"
};
enum {
    TYPES_OF_s16 = 0
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    | ((cpu & LANE_s16) != 0 ? 1 << (TCGEMM_##ID - 1) : 0)
#include "base/types.def"
};
enum {
    TYPES_OF_b1 = 0
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    | ((cpu & LANE_b1) != 0 ? 1 << (TCGEMM_##ID - 1) : 0)
#include "base/types.def"
};
enum {
    TYPES_OF_bf16x32 = 0
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    | ((cpu & LANE_bf16x32) != 0 ? 1 << (TCGEMM_##ID - 1) : 0)
#include "base/types.def"
};
enum {
    TYPES_OF_f16x32 = 0
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    | ((cpu & LANE_f16x32) != 0 ? 1 << (TCGEMM_##ID - 1) : 0)
#include "base/types.def"
};
enum {
    TYPES_OF_i8x64 = 0
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    | ((cpu & LANE_i8x64) != 0 ? 1 << (TCGEMM_##ID - 1) : 0)
#include "base/types.def"
};
enum {
    TYPES_OF_i8x4 = 0
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    | ((cpu & LANE_i8x4) != 0 ? 1 << (TCGEMM_##ID - 1) : 0)
#include "base/types.def"
};
enum {
    TYPES_OF_i8x8 = 0
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    | ((cpu & LANE_i8x8) != 0 ? 1 << (TCGEMM_##ID - 1) : 0)
#include "base/types.def"
};
enum {
    TYPES_OF_bf16x4 = 0
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    | ((cpu & LANE_bf16x4) != 0 ? 1 << (TCGEMM_##ID - 1) : 0)
#include "base/types.def"
};
/* clang-format on */
_Static_assert(TCGEMM_NUM_TYPES < 31, "a set of types is an enumerator here");

/* ---- what a lane has besides ---- */

#define CPU_LANE_f32     TCGEMM_FAMILY_F32
#define CPU_LANE_f64     TCGEMM_FAMILY_F64
#define CPU_LANE_bf16    TCGEMM_FAMILY_BF16
#define CPU_LANE_u8s8    TCGEMM_FAMILY_U8S8
#define CPU_LANE_s16     TCGEMM_FAMILY_S16
#define CPU_LANE_b1      TCGEMM_FAMILY_B1
#define CPU_LANE_bf16x32 TCGEMM_FAMILY_BF16X32
#define CPU_LANE_f16x32  TCGEMM_FAMILY_F16X32
#define CPU_LANE_i8x64   TCGEMM_FAMILY_I8X64
#define CPU_LANE_i8x4    TCGEMM_FAMILY_I8X4
#define CPU_LANE_i8x8    TCGEMM_FAMILY_I8X8
#define CPU_LANE_bf16x4  TCGEMM_FAMILY_BF16X4

#define BOUND_OF_f32     TCGEMM_BOUND_NEAREST
#define BOUND_OF_f64     TCGEMM_BOUND_NEAREST
#define BOUND_OF_bf16    TCGEMM_BOUND_FLUSHED
#define BOUND_OF_u8s8    TCGEMM_BOUND_EXACT
#define BOUND_OF_s16     TCGEMM_BOUND_EXACT
#define BOUND_OF_b1      TCGEMM_BOUND_EXACT
#define BOUND_OF_bf16x32 TCGEMM_BOUND_FLUSHED
#define BOUND_OF_f16x32  TCGEMM_BOUND_FLUSHED
#define BOUND_OF_i8x64   TCGEMM_BOUND_EXACT
#define BOUND_OF_i8x4    TCGEMM_BOUND_EXACT
#define BOUND_OF_i8x8    TCGEMM_BOUND_EXACT
#define BOUND_OF_bf16x4  TCGEMM_BOUND_ODD

#define FINISHES_f32     false
#define FINISHES_f64     false
#define FINISHES_bf16    false
#define FINISHES_u8s8    false
#define FINISHES_s16     false
#define FINISHES_b1      false
#define FINISHES_bf16x32 true
#define FINISHES_f16x32  true
#define FINISHES_i8x64   false
#define FINISHES_i8x4    false
#define FINISHES_i8x8    false
#define FINISHES_bf16x4  false

/* A few rows times lines along or across k (ukernel.h): the kernels, their rows along and across,
 * the features that they need beyond the row's own, and how x is packed; and those of x packed as
 * lanes. */
#define DOTS(kernel, rows, rows_across, needs, pack)                                               \
    .dots = tcgemm_dots_##kernel, .across = tcgemm_across_##kernel,                                \
    .inner = tcgemm_inner_##kernel, .turn = tcgemm_turn_##kernel, .dots_width = (rows),            \
    .across_width = (rows_across), .dots_features = (needs), .pack_x = tcgemm_pack_##pack,
#define BYTE_DOTS(kernel, rows, needs, pack, bytes)                                                \
    .dots = tcgemm_dots_##kernel, .dots_width = (rows), .dots_features = (needs),                  \
    .pack_x = tcgemm_pack_##pack, .x_bytes = (bytes),
#define LANES_ALONG(kernel)  .lane_dots = tcgemm_dots_##kernel,
#define LANES_ACROSS(kernel) .lane_across = tcgemm_across_##kernel,
#define LANES(kernel)        LANES_ALONG(kernel) LANES_ACROSS(kernel)
#define NO_DOTS
#define DOTS_any_f32     NO_DOTS
#define DOTS_any_f64     NO_DOTS
#define DOTS_neon_f32    NO_DOTS
#define DOTS_neon_f64    NO_DOTS
#define DOTS_neon_bf16   NO_DOTS
#define DOTS_avx2_f32    DOTS(avx2_f32, 8, 4, 0, avx2_f32)
#define DOTS_avx2_f64    DOTS(avx2_f64, 8, 4, 0, avx2_f64)
#define DOTS_avx512_f32  DOTS(avx512_f32, 16, 16, 0, avx512_f32)
#define DOTS_avx512_f64  DOTS(avx512_f64, 16, 16, 0, avx512_f64)
#define DOTS_avx512_bf16 DOTS(avx512_f32, 16, 16, 0, avx512_f32) LANES(avx512_pairs)
#define DOTS_amx_bf16x32                                                                           \
    DOTS(avx512_f32, 16, 16, TCGEMM_CPU_AVX512, avx512_f32) LANES_ALONG(amx_bf16x32)
#define DOTS_amx_f16x32                                                                            \
    DOTS(avx512_f32, 16, 16, TCGEMM_CPU_AVX512, avx512_f32) LANES_ALONG(amx_f16x32)
#define DOTS_any_u8s8    NO_DOTS
#define DOTS_avx2_u8s8   BYTE_DOTS(avx2_bytes, 16, 0, avx2_s16, 2)
#define DOTS_neon_u8s8   NO_DOTS
#define DOTS_avx512_u8s8 BYTE_DOTS(avx512_bytes, 16, 0, avx512_u8s8, 1) LANES(avx512_quads)
#define DOTS_amx_i8x64                                                                             \
    BYTE_DOTS(avx512_bytes, 16, TCGEMM_CPU_AVX512 | TCGEMM_CPU_AVX512_VNNI, avx512_u8s8, 1)        \
    LANES_ALONG(amx_i8x64)
#define DOTS_any_s16    NO_DOTS
#define DOTS_avx2_s16   BYTE_DOTS(avx2_bytes, 16, 0, avx2_s16, 2) LANES_ACROSS(avx2_bytes)
#define DOTS_avx512_s16 DOTS_avx2_s16
#define DOTS_neon_s16   NO_DOTS

#define DOTS_OF_f32(kernels)     DOTS_##kernels##_f32
#define DOTS_OF_f64(kernels)     DOTS_##kernels##_f64
#define DOTS_OF_bf16(kernels)    DOTS_##kernels##_bf16
#define DOTS_OF_u8s8(kernels)    DOTS_##kernels##_u8s8
#define DOTS_OF_s16(kernels)     DOTS_##kernels##_s16
#define DOTS_OF_b1(kernels)      NO_DOTS
#define DOTS_OF_bf16x32(kernels) DOTS_##kernels##_bf16x32
#define DOTS_OF_f16x32(kernels)  DOTS_##kernels##_f16x32
#define DOTS_OF_i8x64(kernels)   DOTS_##kernels##_i8x64
#define DOTS_OF_i8x4(kernels)    NO_DOTS
#define DOTS_OF_i8x8(kernels)    NO_DOTS
#define DOTS_OF_bf16x4(kernels)  NO_DOTS

/* Rows of lanes of what is converted, for strided tiles. */
#define ROWS_OF_f32(kernels)     tcgemm_pack_rows_##kernels##_f32
#define ROWS_OF_f64(kernels)     NULL
#define ROWS_OF_bf16(kernels)    tcgemm_pack_rows_##kernels##_bf16
#define ROWS_OF_u8s8(kernels)    tcgemm_pack_rows_##kernels##_u8s8
#define ROWS_OF_s16(kernels)     tcgemm_pack_rows_##kernels##_s16
#define ROWS_OF_b1(kernels)      NULL
#define ROWS_OF_bf16x32(kernels) tcgemm_pack_rows_##kernels##_bf16x32
#define ROWS_OF_f16x32(kernels)  NULL
#define ROWS_OF_i8x64(kernels)   NULL
#define ROWS_OF_i8x4(kernels)    NULL
#define ROWS_OF_i8x8(kernels)    NULL
#define ROWS_OF_bf16x4(kernels)  NULL

#define tcgemm_tile_any_NONE    NULL
#define tcgemm_tile_avx2_NONE   NULL
#define tcgemm_tile_avx512_NONE NULL
#define tcgemm_tile_amx_NONE    NULL
#define tcgemm_tile_neon_NONE   NULL
#define tcgemm_tile_sve256_NONE NULL
#define tcgemm_tile_sve512_NONE NULL

/* What a thread does before and after tiles. */
#define BEGIN_any    NULL
#define BEGIN_avx2   NULL
#define BEGIN_avx512 NULL
#define BEGIN_neon   NULL
#define BEGIN_sve256 NULL
#define BEGIN_sve512 NULL
#define BEGIN_amx    tcgemm_begin_amx
#define END_any      NULL
#define END_avx2     NULL
#define END_avx512   NULL
#define END_neon     NULL
#define END_sve256   NULL
#define END_sve512   NULL
#define END_amx      tcgemm_end_amx

/* ---- the rows ---- */

#define ROW(isa, lane, kernels, features, mr_, nr_, ku_, lane_bytes, macs, kc_, mc_, nb_, strided, \
            exact)                                                                                 \
    _Static_assert(((mr_) & ((mr_)-1)) == 0, #isa "_" #lane ": mr must be a power of two");        \
    _Static_assert((mc_) % (mr_) == 0, #isa "_" #lane ": mc must be a multiple of mr");            \
    _Static_assert((nb_) % (nr_) == 0, #isa "_" #lane ": nb must be a multiple of nr");            \
    _Static_assert((kc_) % (ku_) == 0, #isa "_" #lane ": kc must be a multiple of ku");            \
    _Static_assert((nr_) <= 48, #isa "_" #lane ": packing knows panels up to 48 wide");
#include "cpu/rows.def"

static const tcgemm_kernel_t rows[] = {
#define ROW(isa_, lane, kernels, features_, mr_, nr_, ku_, lane_bytes_, macs, kc_, mc_, nb_,       \
            strided_, exact_)                                                                      \
    {.name = "cpu_" #isa_ "_" #lane "_" #mr_ "x" #nr_,                                             \
     .isa = #isa_,                                                                                 \
     .family = &tcgemm_family_cpu,                                                                 \
     .types = TYPES_OF_##lane,                                                                     \
     .features = (features_),                                                                      \
     .mr = (mr_),                                                                                  \
     .nr = (nr_),                                                                                  \
     .ku = (ku_),                                                                                  \
     .tile = {(mr_), (nr_), (ku_)},                                                                \
     .macs_per_cycle = (macs),                                                                     \
     .bound = BOUND_OF_##lane,                                                                     \
     .cpu = &(const tcgemm_cpu_ukernel_t){                                                         \
         .family = CPU_LANE_##lane,                                                                \
         .mr = (mr_),                                                                              \
         .nr = (nr_),                                                                              \
         .ku = (ku_),                                                                              \
         .lane_bytes = (lane_bytes_),                                                              \
         .kc = (kc_),                                                                              \
         .mc = (mc_),                                                                              \
         .nb = (nb_),                                                                              \
         .packed = tcgemm_tile_##isa_##_##lane,                                                    \
         .strided = tcgemm_tile_##isa_##_##strided_,                                               \
         .exact = tcgemm_tile_##isa_##_##exact_,                                                   \
         DOTS_OF_##lane(kernels).begin = BEGIN_##isa_,                                             \
         .end = END_##isa_,                                                                        \
         .pack = tcgemm_pack_##kernels##_##lane,                                                   \
         .pack_rows = ROWS_OF_##lane(kernels),                                                     \
         .finish = tcgemm_finish_##kernels,                                                        \
         .finishes_tiles = FINISHES_##lane,                                                        \
     }},
#include "cpu/rows.def"
};

static bool fits(const tcgemm_kernel_t *row, const tcgemm_device_t *device) {
    return !device && (row->features & ~tcgemm_cpu_features()) == 0;
}

/* A product that takes less time than to prepare matrix tiles and fill them. */
static bool is_small(const struct tcgemm_plan *plan) {
    enum { MOST_SMALL = 64, MOST_VOLUME = 32 * 32 * 32 };
    const tcgemm_canonical_t c = tcgemm_choice_problem(&plan->g);
    return !plan->packs && !c.a.packed_bytes && !c.b.packed_bytes && c.m <= MOST_SMALL &&
           c.n <= MOST_SMALL && c.k <= MOST_VOLUME && c.m * c.n * c.k <= MOST_VOLUME;
}

/* Between those of dot products of vectors, which are faster then, and of anything less. */
enum { RATE_OF_SMALL = 40 };

/* Where VDPBF16PS is slow, bf16 are multiplied as f32: by the processor, not by its feature bit. */
static double rate(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan) {
    if (row->cpu->family == TCGEMM_FAMILY_I8X64 && is_small(plan))
        return RATE_OF_SMALL;
    const double dots = tcgemm_cpu_bf16_dots_per_cycle();
    const bool is_slow = row->cpu->family == TCGEMM_FAMILY_BF16 && dots > 0.0;
    return is_slow ? 0.75 * dots * row->macs_per_cycle : (double)row->macs_per_cycle;
}

/* The plan that packs one operand ahead. */
static void expand_packing(struct tcgemm_plan *plan, double seconds) {
    const bool is_b = plan->packs == TCGEMM_OPERAND_B;
    const bool is_shared = (is_b ? plan->g.b.batch_stride : plan->g.a.batch_stride) == 0;
    const double items = is_shared && plan->g.batch > 1 ? (double)plan->g.batch : 1.0;
    plan->steps = tcgemm_single_step(plan, seconds / items);
    tcgemm_step_t *const step = &plan->steps.step[0];
    step->kind = is_b ? TCGEMM_STEP_PACK_B : TCGEMM_STEP_PACK_A;
    step->kernel = NULL;
    if (is_b)
        step->a = step->b;
    step->written_bytes =
        tcgemm_operand_is_empty(&plan->g, is_b) ? 0 : tcgemm_cpu_prepacked(plan, is_b).bytes;
}

/* One step: panels are packed on the way, between the products. */
static void expand(const tcgemm_kernel_t *row, struct tcgemm_plan *plan) {
    (void)row;
    const tcgemm_cpu_time_t time = tcgemm_cpu_plan(plan, plan->max_threads);
    if (plan->packs) {
        expand_packing(plan, time.pack);
        return;
    }
    if (plan->g.a.packed_bytes)
        plan->g.a.packed_bytes = tcgemm_cpu_prepacked(plan, false).bytes;
    if (plan->g.b.packed_bytes)
        plan->g.b.packed_bytes = tcgemm_cpu_prepacked(plan, true).bytes;
    plan->steps = tcgemm_single_step(plan, time.total);
    plan->steps.workspace_bytes = tcgemm_cpu_sizes(plan).workspace_bytes;
}

const tcgemm_kernel_family_t tcgemm_family_cpu = {
    .algo = "cpu",
    .rows = rows,
    .num_rows = (int)(sizeof rows / sizeof rows[0]),
    .fits = fits,
    .expand = expand,
    .rate = rate,
};
