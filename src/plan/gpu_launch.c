/* gpu_launch.c - grids, occupancy and alignment, by arithmetic alone. */
#include "plan/gpu_launch.h"

#include "base/num.h"
#include "table/table.h"

enum {
    WARP = 32,
    REGISTERS_PER_UNIT = 256, /* registers are given to warps in units of 8 a thread */
    MAX_TILES = INT32_MAX
};

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
    const uint64_t bits = (uint64_t)tcgemm_dtype_bits(dtype);
    uint64_t offsets = (uint64_t)(uintptr_t)data * 8;
    if (lines > 1)
        offsets |= (uint64_t)ld * bits;
    if (batch > 1)
        offsets |= (uint64_t)stride * bits;
    for (uint32_t bytes = 16; bytes > 1; bytes /= 2)
        if (offsets % (8 * (uint64_t)bytes) == 0)
            return bytes;
    return 1;
}

int64_t tcgemm_gpu_grid(const struct tcgemm_plan *plan, int64_t tiles) {
    const int64_t resident = (int64_t)plan->device->num_sms * plan->gpu.blocks_per_sm;
    return plan->kernel->gpu->persistent ? min_i64(tiles, resident) : tiles;
}

int64_t tcgemm_gpu_tiles(const struct tcgemm_plan *plan) {
    const tcgemm_gpu_row_t *row = plan->kernel->gpu;
    const double tiles = (double)ceil_div(plan->g.m, row->bm) *
                         (double)ceil_div(plan->g.n, row->bn) * (double)plan->g.batch;
    return tiles < MAX_TILES ? (int64_t)tiles : MAX_TILES;
}

void tcgemm_gpu_sketch(struct tcgemm_plan *plan) {
    const tcgemm_gpu_row_t *row = plan->kernel->gpu;
    plan->gpu.registers = row->registers;
    plan->gpu.smem_bytes = row->smem_bytes;
    plan->gpu.blocks_per_sm = tcgemm_gpu_occupancy(row, row->registers, plan->device).blocks;
    plan->gpu.grid_blocks = tcgemm_gpu_grid(plan, tcgemm_gpu_tiles(plan));
}
