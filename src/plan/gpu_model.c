/* gpu_model.c - the model of a product on a GPU.
 *
 * Tiles of D go over the SMs in rounds, `resident` blocks on each SM at a time; the last round may
 * be short. A round takes, in cycles,
 *
 *     start + finish * blocks + k * (wait + blocks * bm * bn / macs) * layout
 *
 *     start    first loads, until the first product
 *     finish   D of each block, in proportion to the SMs that write at once
 *     macs     multiply-adds a cycle of all resident blocks together
 *     wait     what they do not hide from one another
 *     layout   NN, NT, TN, TT; or, where rows are not aligned to 16 bytes, the narrow loads;
 *              without shared memory a ragged edge of m, n or k makes loads narrow, too
 *
 * and the product takes a launch and all its rounds, or the bytes of A, B, C and D through the
 * memory if that is longer. The constants of each row were measured on an H200 (gpu_cost.def); for
 * other devices they are scaled: at most nine tenths of the units that they have, `finish` by their
 * memory's bytes a cycle and SM. How well that fits: docs/measuring.md.
 */
#include "plan/gpu_model.h"

#include <math.h>
#include <string.h>

#include "plan/gpu_launch.h"

static const double launch_seconds = 2e-6;
static const double memory_efficiency = 0.85;
static const double part_of_peak = 0.9;
static const double measured_bytes_per_clock = 4.8e12 / 132 / 1.98e9; /* of one SM of an H200 */
static const double transfer_bandwidth = 20e9; /* host memory to GPU through pinned buffers */
static const double transfer_seconds = 60e-6;  /* of the smallest */

enum {
    MAX_GROUP = 16,
    WIDEST_LOAD = 16,  /* bytes */
    NARROWEST_COPY = 4 /* bytes, of cp.async */
};

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

/* How much longer the loads of an operand take for being narrow. Kernels without shared memory then
 * load element by element, the others as wide as cp.async can, down to 4 bytes: twice as long for 8
 * bytes and three times for 4, as measured. */
static double load_factor(const tcgemm_gpu_row_t *row, const tcgemm_operand_t *x) {
    const int64_t ld = x->col_stride == 1 ? x->row_stride : x->col_stride;
    const double aligned =
        tcgemm_gpu_alignment(NULL, x->dtype, 2, ld, 2, x->batch_stride); /* more rows than one */
    if (aligned >= WIDEST_LOAD)
        return 1.0;
    if (row->smem_bytes == 0 || aligned < NARROWEST_COPY)
        return row->cost->narrow;
    return fmin(row->cost->narrow, 1.0 + log2(WIDEST_LOAD / aligned));
}

static double layout_factor(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g) {
    const double a = load_factor(row, &g->a);
    const double b = load_factor(row, &g->b);
    if (a > 1.0 || b > 1.0) /* in a ring of stages the slower copy holds up both */
        return row->smem_bytes == 0 ? (a + b) / 2.0 : fmax(a, b);
    return row->cost->layout[2 * (g->a.col_stride != 1) + (g->b.col_stride != 1)];
}

/* Multiply-adds a cycle and SM that the row reaches on the device. */
static double macs_on(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g,
                      const tcgemm_device_t *device) {
    const double peak = part_of_peak * tcgemm_device_macs(device, g->type->type);
    return peak > 0.0 ? fmin(row->cost->macs, peak) : row->cost->macs;
}

/* Cycles of one resident block for each element of k, on the way of wide loads. */
static double cycles_per_k(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g,
                           const tcgemm_device_t *device, double blocks) {
    return row->cost->wait + blocks * row->bm * row->bn / macs_on(row, g, device);
}

/* Elements of k as if all were loaded wide. Without shared memory the last, ragged step is not. */
static double weighted_k(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g) {
    const double layout = layout_factor(row, g);
    const double whole = ceil((double)g->k / row->bk) * row->bk * layout;
    const bool is_slow = row->smem_bytes == 0 && g->k % row->bk != 0;
    return whole + (is_slow ? row->bk * fmax(0.0, row->cost->narrow - layout) : 0.0);
}

/* Nor is a tile at a ragged edge, for which the last round waits. */
static double edge_seconds(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g,
                           const tcgemm_device_t *device) {
    if (row->smem_bytes != 0 || (g->m % row->wm == 0 && g->n % row->wn == 0))
        return 0.0;
    const double k = ceil((double)g->k / row->bk) * row->bk;
    return k * fmax(0.0, row->cost->narrow - layout_factor(row, g)) *
           cycles_per_k(row, g, device, 1.0) / device->clock_hz;
}

/* Adds `count` rounds of `blocks` on an SM, a share of the SMs at work. */
static void add_rounds(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g,
                       const tcgemm_device_t *device, double count, double blocks, double share,
                       tcgemm_gpu_time_t *t) {
    const tcgemm_gpu_cost_t *const c = row->cost;
    const double k = weighted_k(row, g);
    const double bytes_per_clock = device->bandwidth / device->num_sms / device->clock_hz;
    const double slower =
        bytes_per_clock > 0.0 ? fmax(1.0, measured_bytes_per_clock / bytes_per_clock) : 1.0;
    const double seconds = count / device->clock_hz;
    t->start += seconds * c->start;
    t->finish += seconds * c->finish * blocks * share * slower;
    t->wait += seconds * k * c->wait;
    t->multiply += seconds * k * (cycles_per_k(row, g, device, blocks) - c->wait);
}

tcgemm_gpu_time_t tcgemm_gpu_time(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g,
                                  const tcgemm_device_t *device) {
    const double batch = (double)g->batch;
    const double tiles = ceil((double)g->m / row->bm) * ceil((double)g->n / row->bn) * batch;
    const double resident = resident_blocks(row, device);
    const double full = floor(tiles / resident);
    const double rest = tiles - full * resident;
    tcgemm_gpu_time_t t;
    memset(&t, 0, sizeof t);
    t.launch = launch_seconds;
    t.rounds = full + (rest > 0.0);
    add_rounds(row, g, device, full, row->blocks_per_sm, 1.0, &t);
    if (rest > 0.0)
        add_rounds(row, g, device, 1.0, ceil(rest / device->num_sms),
                   fmin(1.0, rest / device->num_sms), &t);
    t.wait += edge_seconds(row, g, device);
    t.memory = batch * memory_bytes(row, g, device) /
               (device->bandwidth > 0.0 ? memory_efficiency * device->bandwidth : 1e11);
    t.total = t.launch + fmax(t.start + t.wait + t.multiply + t.finish, t.memory);
    return t;
}

double tcgemm_gpu_predict(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g,
                          const tcgemm_device_t *device) {
    return tcgemm_gpu_time(row, g, device).total;
}

double tcgemm_gpu_predict_transfer(const tcgemm_canonical_t *g) {
    const double m = (double)g->m;
    const double n = (double)g->n;
    const double k = (double)g->k;
    const double bytes =
        m * k * bytes_of(g->a.dtype) + k * n * bytes_of(g->b.dtype) + m * n * bytes_of(g->type->d);
    return transfer_seconds + (double)g->batch * bytes / transfer_bandwidth;
}
