/* gpu_row.h - what a GPU row of the kernel table says beside the columns of every row. */
#ifndef TCGEMM_GPU_GPU_ROW_H
#define TCGEMM_GPU_GPU_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/tensor_map.h"
#include "table/family.h"

/* A kernel that streams an operand has two entries, by the layout of that operand alone: _nt where
 * k is contiguous in it, _nn where it is not. */
typedef enum tcgemm_streams {
    TCGEMM_STREAMS_NONE,
    TCGEMM_STREAMS_A,
    TCGEMM_STREAMS_B
} tcgemm_streams_t;

/* Short numbers, and names in place: a pointer would have to be put right when the library is
 * loaded, and takes 32 bytes of it beside what it points to. */
typedef struct tcgemm_gpu_row {
    char entry[48];  /* the kernel's symbol without _nn, _nt, _tn, _tt */
    char module[24]; /* the .cu file that holds it: <family>_<type> */
    char tag[12];
    uint8_t type;           /* a tcgemm_type_t; ... */
    uint8_t code;           /* ... whose code runs: its own, or one that operands are widened to */
    int16_t min_cc, max_cc; /* 10 x compute capability of the devices that it is offered on */
    int16_t bm, bn, bk;     /* block tile */
    int16_t wm, wn;         /* warp tile; of a warpgroup where that is what multiplies */
    int16_t im, in, ik;     /* instruction tile */
    int16_t threads;        /* per block */
    int16_t stages;
    int16_t blocks_per_sm;
    size_t smem_bytes; /* dynamic, per block */
    bool persistent;   /* a block takes tiles gridDim.x apart until none is left */
    int16_t max_ranks; /* most blocks of a cluster that share the k of a tile; 0, 1: none */
    bool pairs; /* two blocks, one below the other, may share what they fetch of B: in clusters */
    bool splits_k;    /* the kernel knows parts of k (gpu_args.h) */
    bool pads_rows;   /* ... and rows that end in padding of zeros */
    bool whole_rows;  /* ... and none but such, or of whole 16-byte pieces: others are packed */
    bool waits;       /* it waits by itself for the launch ahead (ptx/griddepcontrol.cuh) */
    bool not_on_90;   /* of those devices all but sm_90 have it */
    bool fp8_mma;     /* multiplies by mma.sync of FP8, which of those devices not all have */
    bool tensor_maps; /* operands come by tensor maps (tensor_map.h): 16-byte rows, or packed */
    tcgemm_takes_t takes_a;    /* A in these layouts, */
    tcgemm_takes_t takes_b;    /* B in these; in others they are turned round while they are packed;
                                  0: in all */
    bool gathers_a, gathers_b; /* threads bring it where no map can describe it */
    bool by_warps;             /* warps bring both, however they lie: neither has a map */
    int16_t box_rows;          /* ... and D can leave by boxes of so many rows; 0: it cannot */
    bool boxes_of_c;           /* ... and C can come by such */
    bool items_a_warp;         /* a warp takes items of the batch by itself, D being one tile */
    tcgemm_streams_t streams;  /* the operand that passes once, where D is narrow */
} tcgemm_gpu_row_t;

/* Whether threads may bring A, or B, of a product of the row, ... */
static inline bool tcgemm_gpu_may_gather(const tcgemm_gpu_row_t *row, bool is_b) {
    return is_b ? row->gathers_b : row->gathers_a;
}

/* ... and have to, for no box can: its k is not contiguous, or its rows begin on fewer bytes than a
 * box wants. */
static inline bool tcgemm_gpu_gathers(const tcgemm_gpu_row_t *row, bool is_b, bool k_is_contiguous,
                                      int64_t alignment) {
    enum { BOX_ALIGNMENT = 16 };
    return tcgemm_gpu_may_gather(row, is_b) && (!k_is_contiguous || alignment < BOX_ALIGNMENT);
}

/* Whether rows of the operand may begin anywhere, for threads or warps bring them. */
static inline bool tcgemm_gpu_takes_any_rows(const tcgemm_gpu_row_t *row, bool is_b) {
    return row->by_warps || tcgemm_gpu_may_gather(row, is_b);
}

/* What the column `sums` of a rows.def needs: in the accumulator of the type; in f16; in the 14
 * bits of FP8 tensor cores. */
#define TCGEMM_SUMS_NEED_wide  0
#define TCGEMM_SUMS_NEED_half  TCGEMM_FLAG_F16_ACCUMULATE
#define TCGEMM_SUMS_NEED_short TCGEMM_FLAG_FAST_ACCUMULATE

/* One row of the kernel table, for the rows.h of a family: the columns that the name is made of,
 * and its bound, the tile that plan_options.tile names, and the others of tcgemm_gpu_row_t by their
 * names. */
#define TCGEMM_GPU_ROW(family, algo_id, type, ...)                                                 \
    TCGEMM_GPU_WIDE_ROW(family, algo_id, type, type, __VA_ARGS__)

/* The same, of a type whose operands are widened while they are packed: all that follows is of the
 * row `code_` with this tile, whose kernels run. */
#define TCGEMM_GPU_WIDE_ROW(family, algo_id, type, code, sums, min_cc, max_cc, bm_, bn_, bk_, tag, \
                            ...)                                                                   \
    TCGEMM_GPU_ROW_OF("tcgemm_" #algo_id "_" #code "_" #bm_ "x" #bn_ "x" #bk_ "_" #tag, family,    \
                      algo_id, type, code, sums, min_cc, max_cc, bm_, bn_, bk_, tag, __VA_ARGS__)

/* The same, of a kernel that several rows share. */
#define TCGEMM_GPU_ROW_OF(entry_, family_, algo_id, type_, code_, sums, min_cc_, max_cc_, bm_,     \
                          bn_, bk_, tag_, bound_, tile_m, tile_n, tile_k, ...)                     \
    {.name = "gpu_" #algo_id "_" #type_ "_" #bm_ "x" #bn_ "x" #bk_ "_" #tag_,                      \
     .isa = "sm_" #min_cc_,                                                                        \
     .family = &tcgemm_family_##family_,                                                           \
     .types = TCGEMM_TYPE_BIT(TCGEMM_ID_##type_),                                                  \
     .mr = (bm_),                                                                                  \
     .nr = (bn_),                                                                                  \
     .ku = (bk_),                                                                                  \
     .tile = {(tile_m), (tile_n), (tile_k)},                                                       \
     .needs = TCGEMM_SUMS_NEED_##sums,                                                             \
     .bound = (tcgemm_bound_t)(bound_),                                                            \
     .gpu = &(const tcgemm_gpu_row_t){.entry = entry_,                                             \
                                      .module = #family_ "_" #code_,                               \
                                      .tag = #tag_,                                                \
                                      .type = TCGEMM_ID_##type_,                                   \
                                      .code = TCGEMM_ID_##code_,                                   \
                                      .min_cc = (min_cc_),                                         \
                                      .max_cc = (max_cc_),                                         \
                                      .bm = (bm_),                                                 \
                                      .bn = (bn_),                                                 \
                                      .bk = (bk_),                                                 \
                                      __VA_ARGS__}},

/* TCGEMM_TENSOR_BOUND_f16_f32: of the error of tensor cores. */
enum {
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    TCGEMM_TENSOR_BOUND_##name = TCGEMM_BOUND_##bound,
#include "base/types.def"
};

/* TCGEMM_SUM_BYTES_f16_f32: of a sum. */
enum {
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    TCGEMM_SUM_BYTES_##name = TCGEMM_BITS_##accumulator / 8,
#include "base/types.def"
};

/* The types whose operands become those of a wider one: which have narrower ones, and these. */
#define TCGEMM_WIDENS_bf16_f32   1
#define TCGEMM_WIDENS_bf16_bf16  1
#define TCGEMM_E4M3_OF_bf16_f32  e4m3_f32
#define TCGEMM_E4M3_OF_bf16_bf16 e4m3_bf16
#define TCGEMM_E5M2_OF_bf16_f32  e5m2_f32
#define TCGEMM_E5M2_OF_bf16_bf16 e5m2_bf16

/* Whether operands are widened: only a copy of them can be read. */
static inline bool tcgemm_gpu_widens(const tcgemm_gpu_row_t *row) {
    return row->code != row->type;
}

/* Whether an operand is read as it lies, with k contiguous or not. */
static inline bool tcgemm_gpu_takes_layout(const tcgemm_gpu_row_t *row, bool is_b,
                                           bool k_is_contiguous) {
    const tcgemm_takes_t takes = is_b ? row->takes_b : row->takes_a;
    return !takes || (takes & (k_is_contiguous ? TCGEMM_TAKES_K : TCGEMM_TAKES_MN));
}

/* Whether the last boxes of D that a tile sends begin inside those before: elements leave twice. */
static inline bool tcgemm_gpu_boxes_overlap(const tcgemm_gpu_row_t *row, int element_bytes) {
    return row->box_rows > 0 && row->bn * element_bytes % TCGEMM_TENSOR_ROW != 0;
}

/* True if the device has the architecture and the shared memory for the row. */
static inline bool tcgemm_gpu_row_fits(const tcgemm_gpu_row_t *row, const tcgemm_device_t *device) {
    return device->cc >= row->min_cc && device->cc <= row->max_cc &&
           row->smem_bytes <= device->smem_block_bytes && !(row->not_on_90 && device->cc == 90) &&
           (device->takes_tensor_maps || !row->tensor_maps) &&
           (device->has_fp8_mma || !row->fp8_mma);
}

/* k of a warp-matrix instruction, by the bits of an element of A: 16 for f16, 8 for tf32 (which is
 * kept in 32), 4 for f64, 16 for 8 bits. */
#define TCGEMM_WMMA_K(bits) ((bits) == 64 ? 4 : (bits) == 32 ? 8 : 16)

#endif
