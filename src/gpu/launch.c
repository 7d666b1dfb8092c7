/* launch.c - grids, occupancy and alignment, by arithmetic alone. */
#include "gpu/launch.h"

#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "base/num.h"

enum {
    WARP = 32,
    REGISTERS_PER_UNIT = 256, /* registers are given to warps in units of 8 a thread */
    MAX_TILES = INT32_MAX,
    MOVE_BLOCKS_PER_SM = 8,
    PACK_BLOCKS_PER_SM = 12, /* of 3 or 4 at a time: all rounds are full */
    PIECE = 16,              /* bytes that a thread of the reduction adds up */
    WIDEST = 16              /* bytes of a load */
};

/* Shorter products of boxes gain nothing: an SM gives its memory another shape first. */
static const double least_seconds_to_spread = 10e-6;

/* Blocks that an SM keeps track of. */
static int slots_of(int cc) {
    switch (cc) {
    case 75:
    case 86:
    case 87:
        return 16;
    case 89:
    case 120:
        return 24;
    default:
        return 32;
    }
}

static int least(int x, int y) {
    return x < y ? x : y;
}

tcgemm_occupancy_t tcgemm_gpu_occupancy(const tcgemm_gpu_row_t *row, int registers,
                                        const tcgemm_device_t *device) {
    const int warps = row->threads / WARP;
    const int of_warp = (int)ceil_div((int64_t)registers * WARP, REGISTERS_PER_UNIT) * 256;
    const size_t smem = row->smem_bytes + device->smem_reserved_bytes;
    tcgemm_occupancy_t o = {
        .by_threads = device->threads_per_sm / row->threads,
        .by_registers = of_warp > 0 ? device->registers_per_sm / of_warp / warps : 0,
        .by_smem = smem > 0 ? (int)(device->smem_sm_bytes / smem) : slots_of(device->cc),
        .by_slots = slots_of(device->cc),
    };
    o.blocks = least(least(o.by_threads, o.by_registers), least(o.by_smem, o.by_slots));
    return o;
}

uint32_t tcgemm_gpu_alignment(const void *data, tcgemm_dtype_t dtype, int64_t lines, int64_t ld,
                              int64_t batch, int64_t stride) {
    const uint64_t bits = (uint64_t)tcgemm_bits_of_dtype(dtype);
    uint64_t offsets = (uint64_t)(uintptr_t)data * 8;
    if (lines > 1)
        offsets |= (uint64_t)ld * bits;
    if (batch > 1)
        offsets |= (uint64_t)stride * bits;
    offsets |= 8 * WIDEST;
    const uint32_t lowest = (uint32_t)(offsets & (~offsets + 1)) / 8;
    return lowest > 1 ? lowest : 1;
}

uint32_t tcgemm_gpu_row_alignment(const tcgemm_operand_t *x) {
    return tcgemm_gpu_alignment(NULL, x->dtype, 2, tcgemm_operand_ld(x), 2, x->batch_stride);
}

int64_t tcgemm_gpu_tile_rows(const tcgemm_step_t *step, int64_t m) {
    const int64_t rows = ceil_div(m, step->kernel->gpu->bm);
    return step->in_pairs ? round_up(rows, 2) : rows;
}

int tcgemm_gpu_cluster(const tcgemm_step_t *step) {
    return step->in_pairs ? 2 : step->ranks;
}

int64_t tcgemm_gpu_tiles(const struct tcgemm_plan *plan, const tcgemm_step_t *step) {
    const tcgemm_gpu_row_t *row = step->kernel->gpu;
    const double tiles = (double)tcgemm_gpu_tile_rows(step, step->area.rows) *
                         (double)ceil_div(step->area.cols, row->bn) * (double)plan->g.batch *
                         (double)step->splits * (double)step->ranks;
    return tiles < MAX_TILES ? (int64_t)tiles : MAX_TILES;
}

int64_t tcgemm_gpu_grid(const struct tcgemm_plan *plan, const tcgemm_step_t *step, int64_t tiles) {
    const int64_t sms = plan->device->num_sms;
    const int64_t even = sms < 2 ? 2 : sms / 2 * 2; /* no GPU with clusters has fewer than two */
    const int64_t resident = (step->in_pairs ? even : sms) * step->gpu.blocks_per_sm;
    return step->kernel->gpu->persistent ? min_i64(tiles, resident) : tiles;
}

static int64_t grid_of(const tcgemm_device_t *device, double units, int blocks_per_sm) {
    const int64_t most = (int64_t)device->num_sms * blocks_per_sm;
    const int64_t grid = units < (double)most ? (int64_t)units : most;
    return grid > 0 ? grid : 1;
}

int64_t tcgemm_gpu_move_grid(const tcgemm_device_t *device, double units) {
    return grid_of(device, units, MOVE_BLOCKS_PER_SM);
}

/* Whether a packing step makes its elements wider. */
static bool widens(const tcgemm_step_t *step) {
    return step->a.at.dtype != step->d.at.dtype;
}

/* Blocks' shares of rows that are packed or widened, as steps/pack.cu cuts them (row_cut). */
static double units_of_rows(int64_t lines, int64_t pieces, int64_t least) {
    int64_t across = least;
    while (across < TCGEMM_MOVE_THREADS && across * TCGEMM_ROW_PIECES < pieces)
        across *= 2;
    return (double)ceil_div(lines, TCGEMM_MOVE_THREADS / across) *
           (double)ceil_div(pieces, across * TCGEMM_ROW_PIECES);
}

/* Likewise of one packing step; one that turns takes tiles. */
static double units_of_packing(const tcgemm_step_t *step, const tcgemm_gpu_args_t *args) {
    const int64_t bytes = tcgemm_dtype_bits(step->a.at.dtype) / 8;
    if (tcgemm_step_turns(step))
        return (double)ceil_div(args->m, TCGEMM_TURN_ROWS(bytes)) *
               (double)ceil_div(args->k, TCGEMM_TURN_COLS(bytes)) * (double)args->batch;
    const int64_t lines = args->m * args->batch;
    return widens(step)
               ? units_of_rows(lines, ceil_div(args->k, TCGEMM_WIDEN_PIECE), TCGEMM_WIDEN_LEAST)
               : units_of_rows(lines, ceil_div(args->k * bytes, PIECE), TCGEMM_PACK_LEAST);
}

/* A block of the reduction adds up as many pieces of D as its threads are not lanes of one. */
static double units_of_reduction(const tcgemm_step_t *step, const tcgemm_gpu_args_t *args) {
    const int in_piece = PIECE * 8 / tcgemm_dtype_bits(step->a.at.dtype);
    const int64_t pieces = args->stride_a * args->batch / in_piece;
    return (double)ceil_div(pieces, TCGEMM_MOVE_THREADS / TCGEMM_REDUCE_LANES(args->splits.by));
}

static int64_t grid_of_move(const struct tcgemm_plan *plan, const tcgemm_step_t *step,
                            const tcgemm_gpu_args_t *args) {
    return step->kind == TCGEMM_STEP_REDUCE
               ? tcgemm_gpu_move_grid(plan->device, units_of_reduction(step, args))
               : grid_of(plan->device, units_of_packing(step, args), PACK_BLOCKS_PER_SM);
}

size_t tcgemm_gpu_smem_for(const tcgemm_gpu_row_t *row, int64_t blocks,
                           const tcgemm_device_t *device) {
    enum { UNIT = 1024 }; /* in which an SM shares out its memory, at most */
    const size_t reserved = device->smem_reserved_bytes;
    const size_t share = device->smem_sm_bytes / (size_t)(blocks + 1) + UNIT;
    const size_t bytes = share > reserved ? share - reserved : 0;
    const bool fits = (bytes + reserved) * (size_t)blocks <= device->smem_sm_bytes &&
                      bytes <= device->smem_block_bytes;
    return row->waits && device->takes_tensor_maps && fits && bytes > row->smem_bytes
               ? bytes
               : row->smem_bytes;
}

/* Whether all blocks of a launch are resident at once, and an SM could hold more than its share:
 * `blocks`. */
static bool is_to_be_spread(const tcgemm_step_t *step, int64_t blocks) {
    return step->kernel->gpu->tensor_maps ? blocks == 1 && tcgemm_gpu_cluster(step) == 1 &&
                                                step->seconds > least_seconds_to_spread
                                          : blocks < step->gpu.blocks_per_sm;
}

tcgemm_gpu_shape_t tcgemm_gpu_shape(const struct tcgemm_plan *plan, const tcgemm_step_t *step,
                                    const tcgemm_gpu_args_t *args) {
    if (step->kind != TCGEMM_STEP_PRODUCT)
        return (tcgemm_gpu_shape_t){
            .grid = grid_of_move(plan, step, args), .threads = TCGEMM_MOVE_THREADS, .ranks = 1};
    const tcgemm_gpu_row_t *row = step->kernel->gpu;
    const int64_t tiles = tcgemm_gpu_tile_rows(step, args->m) * ceil_div(args->n, row->bn) *
                          args->splits.by * args->batch * step->ranks;
    const int64_t grid = tcgemm_gpu_grid(plan, step, tiles);
    const int64_t share = ceil_div(grid, plan->device->num_sms); /* of an SM */
    return (tcgemm_gpu_shape_t){.grid = grid,
                                .threads = row->threads,
                                .smem_bytes = row->smem_bytes,
                                .ranks = tcgemm_gpu_cluster(step),
                                .spread_bytes = is_to_be_spread(step, share)
                                                    ? tcgemm_gpu_smem_for(row, share, plan->device)
                                                    : row->smem_bytes};
}

/* ---- entries ---- */

/* A swapped product of mixed signs: the caller's u8 x s8 is s8 x u8 for the kernel. */
static tcgemm_type_t kernel_type(tcgemm_type_t type, bool swapped) {
    if (!swapped || (type != TCGEMM_U8S8_S32 && type != TCGEMM_S8U8_S32))
        return type;
    return type == TCGEMM_U8S8_S32 ? TCGEMM_S8U8_S32 : TCGEMM_U8S8_S32;
}

/* The row whose code runs: the step's own, or its mirror image for the other mixture of signs. A
 * kernel that streams an operand takes it for A. */
static const tcgemm_gpu_row_t *row_of_code(const struct tcgemm_plan *plan,
                                           const tcgemm_kernel_t *kernel) {
    const tcgemm_type_t type = kernel_type(
        kernel->gpu->type, plan->g.swapped != (kernel->gpu->streams == TCGEMM_STREAMS_B));
    return type == kernel->gpu->type ? kernel->gpu : tcgemm_gpu_twin(kernel, type);
}

const tcgemm_gpu_row_t *tcgemm_gpu_twin(const tcgemm_kernel_t *kernel, tcgemm_type_t type) {
    const tcgemm_gpu_row_t *own = kernel->gpu;
    for (int i = 0; i < kernel->family->num_rows; ++i) {
        const tcgemm_gpu_row_t *row = kernel->family->rows[i].gpu;
        if (row->type == type && strcmp(row->tag, own->tag) == 0 && row->bm == own->bm &&
            row->bn == own->bn && row->bk == own->bk && row->wm == own->wm && row->wn == own->wn &&
            row->stages == own->stages)
            return row;
    }
    return NULL;
}

static int is_transposed(const tcgemm_operand_t *x) {
    return x->col_stride == 1 ? 0 : 1;
}

bool tcgemm_gpu_streams_k(const tcgemm_gpu_row_t *row, const tcgemm_operand_t *a,
                          const tcgemm_operand_t *b) {
    return row->streams == TCGEMM_STREAMS_A ? !is_transposed(a) : is_transposed(b);
}

/* Which of the kernel's entries: 0 nn, 1 nt, 2 tn, 3 tt. However an operand lies that the row may
 * gather, k is contiguous in it once it is in shared memory. */
static int layout_of(const tcgemm_gpu_row_t *row, const tcgemm_operand_t *a,
                     const tcgemm_operand_t *b) {
    if (row->streams)
        return tcgemm_gpu_streams_k(row, a, b);
    const bool a_trans = is_transposed(a) && !row->gathers_a;
    const bool b_trans = is_transposed(b) || row->gathers_b;
    return 2 * a_trans + b_trans;
}

bool tcgemm_step_turns(const tcgemm_step_t *step) {
    return step->kind != TCGEMM_STEP_PRODUCT &&
           is_transposed(&step->a.at) != is_transposed(&step->d.at);
}

bool tcgemm_step_packs(const tcgemm_step_t *step) {
    return step->kind == TCGEMM_STEP_PACK_A || step->kind == TCGEMM_STEP_PACK_B;
}

int tcgemm_gpu_steps_of_launch(const tcgemm_steps_t *steps, int first) {
    return first + 1 < steps->count && steps->step[first + 1].joins ? 2 : 1;
}

bool tcgemm_gpu_entry(const struct tcgemm_plan *plan, const tcgemm_step_t *step,
                      char entry[TCGEMM_ENTRY_CHARS], const char **module) {
    static const char *const layouts[] = {"nn", "nt", "tn", "tt"};
    if (step->kind == TCGEMM_STEP_PRODUCT) {
        const tcgemm_gpu_row_t *row = row_of_code(plan, step->kernel);
        if (!row)
            return false;
        *module = row->module;
        (void)snprintf(entry, TCGEMM_ENTRY_CHARS, "%s_%s", row->entry,
                       layouts[layout_of(row, &step->a.at, &step->b.at)]);
    } else if (step->kind == TCGEMM_STEP_REDUCE) {
        *module = "reduce";
        (void)snprintf(entry, TCGEMM_ENTRY_CHARS, "tcgemm_reduce_%s",
                       tcgemm_dtype_name(step->d.at.dtype));
    } else if (widens(step)) {
        *module = "pack";
        (void)snprintf(entry, TCGEMM_ENTRY_CHARS, "tcgemm_widen_%s",
                       tcgemm_dtype_name(step->a.at.dtype));
    } else {
        *module = "pack";
        (void)snprintf(entry, TCGEMM_ENTRY_CHARS, "tcgemm_%s_%d",
                       tcgemm_step_turns(step) ? "turn" : "pack",
                       tcgemm_dtype_bits(step->a.at.dtype));
    }
    return true;
}
