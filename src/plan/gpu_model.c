/* gpu_model.c - the model of a product on a GPU. The slowest of three pipes, and a start:
 *
 *     multiply  the tiles of the busiest SM, edges padded, at the row's multiply-adds per clock
 *     L2        each tile reads bm rows of A and bn columns of B
 *     memory    D, C, and A and B once for each sweep of the raster that has lost them
 *
 * A block alone on its SM hides nothing: its first loads and its epilogue are added once for each
 * round of resident blocks.
 */
#include "plan/gpu_model.h"

#include <math.h>

static const double launch_seconds = 3e-6;
static const double round_seconds = 1.5e-6; /* first loads and epilogue */
static const double memory_efficiency = 0.85;
static const double l2_bytes_per_clock = 48.0; /* of one SM */
static const double transfer_bandwidth = 20e9; /* host memory to GPU through pinned buffers */
static const double transfer_seconds = 60e-6;  /* of the smallest */

enum { MAX_GROUP = 16 };

static double bytes_of(tcgemm_dtype_t dtype) {
    return tcgemm_dtype_bits(dtype) / 8.0;
}

static double resident_blocks(const tcgemm_gpu_row_t *row, const tcgemm_device_t *device) {
    return (double)device->num_sms * row->blocks_per_sm;
}

/* The resident blocks cover group x width tiles; they read least if that is nearly a square. */
uint32_t tcgemm_gpu_raster_group(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g,
                                 const tcgemm_device_t *device) {
    const double tiles_m = ceil((double)g->m / row->bm);
    const double resident = resident_blocks(row, device);
    double best = HUGE_VAL;
    uint32_t group = 1;
    for (uint32_t rows = 1; rows <= MAX_GROUP && rows <= tiles_m; ++rows) {
        const double read = (double)rows * row->bm + resident / rows * row->bn;
        if (read < best) {
            best = read;
            group = rows;
        }
    }
    return group;
}

/* Bytes from memory: a sweep of `group` tile rows reads its rows of A once and all of B. */
static double memory_bytes(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g,
                           const tcgemm_device_t *device) {
    const double k = (double)g->k;
    const double group = tcgemm_gpu_raster_group(row, g, device);
    const double sweeps = ceil((double)g->m / (row->bm * group));
    const double a = (double)g->m * k * bytes_of(g->a.dtype);
    const double b = k * (double)g->n * bytes_of(g->b.dtype);
    const double d = (double)g->m * (double)g->n * bytes_of(g->type->d);
    const bool b_stays = b < 0.5 * (double)device->l2_bytes;
    return a + b * (b_stays ? 1.0 : sweeps) + d;
}

double tcgemm_gpu_predict(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g,
                          const tcgemm_device_t *device) {
    const double batch = (double)g->batch;
    const double tiles = ceil((double)g->m / row->bm) * ceil((double)g->n / row->bn) * batch;
    const double k = ceil((double)g->k / row->bk) * row->bk;
    const double peak = tcgemm_device_macs(device, g->type->type);
    const double macs = peak > 0.0 && row->macs > peak ? peak : row->macs;
    const double tiles_per_sm = ceil(tiles / device->num_sms);
    const double multiply = tiles_per_sm * row->bm * row->bn * k / (macs * device->clock_hz);
    const double tile_bytes =
        k * (row->bm * bytes_of(g->a.dtype) + row->bn * bytes_of(g->b.dtype)) +
        row->bm * row->bn * bytes_of(g->type->d);
    const double l2 = tiles_per_sm * tile_bytes / (l2_bytes_per_clock * device->clock_hz);
    const double memory = batch * memory_bytes(row, g, device) /
                          (device->bandwidth > 0.0 ? memory_efficiency * device->bandwidth : 1e11);
    const double rounds = ceil(tiles / resident_blocks(row, device));
    return launch_seconds + round_seconds * rounds + fmax(multiply, fmax(l2, memory));
}

double tcgemm_gpu_predict_transfer(const tcgemm_canonical_t *g) {
    const double m = (double)g->m;
    const double n = (double)g->n;
    const double k = (double)g->k;
    const double bytes =
        m * k * bytes_of(g->a.dtype) + k * n * bytes_of(g->b.dtype) + m * n * bytes_of(g->type->d);
    return transfer_seconds + (double)g->batch * bytes / transfer_bandwidth;
}
