/* model.c - the model of a product on a GPU.
 *
 * Tiles of D go over the SMs in rounds, `resident` blocks on each SM at a time; the last round may
 * be short. A round takes, in cycles,
 *
 *     start + finish * blocks + k * (wait + blocks * bm * bn / macs) * layout
 *
 *     start    first loads, until the first product; longer by narrow loads (as measured on Hopper)
 *     finish   D of each block, in proportion to the SMs that write at once, longer where its rows
 *              begin inside a sector
 *     macs     multiply-adds a cycle of all resident blocks together
 *     wait     what they do not hide from one another
 *     layout   NN, NT, TN, TT; or, where rows are not aligned to 16 bytes, the narrow loads;
 *              without shared memory a ragged edge of m, n or k makes loads narrow, too
 *
 * and the product takes a launch and, of all its rounds and the bytes of A, B, C and D through the
 * memory, the longer, with some of the shorter: (x^4 + y^4)^(1/4). What fits in the L2 comes faster
 * than from the memory, except weights: few rows or columns of D are a layer's. Boxes are slower
 * where much of them lies beyond an edge, or where their rows begin inside a line of the L2 and
 * products do not hide that (pairs of blocks that fetch B together draw less), and what more than
 * one block reads comes from the L2, which takes its time beside the memory likewise. A kernel that
 * streams an operand starts once, for it fetches its next tile while it ends the one before, takes
 * k in steps of all its warps, and longer where lines begin inside lines of the L2. The constants
 * of each row are measured (measured/cost.def); for other devices they are scaled: at most nine
 * tenths of the units that they have, `finish` by their memory's bytes a cycle and SM. How well
 * that fits: docs/measuring.md.
 */
#include "gpu/model.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/num.h"
#include "gpu/launch.h"
#include "gpu/measured.h"

/* Fitted to random problems, most of whose operands stay in the L2 from call to call. */
static const double launch_seconds = 2.46e-6;
static const double least_seconds = 3.7e-6; /* from one launch to the next, however small */
/* Of kernels that copy by warps, whose launches overlap; the others need tensor maps, which the CPU
 * has to make. */
static const double overlap_seconds = 1.98e-6, least_copied_seconds = 2.8e-6;
static const double step_seconds = 3.73e-6; /* of one more launch, beside its bytes ... */
static const double step_efficiency = 0.84; /* ... which come at this part of the bandwidth */
/* Of the launch that adds up parts of k, beside its bytes, which come from the L2: bytes a clock
 * and SM (H100). */
static const double reduce_seconds = 2.38e-6, seconds_a_part = 5e-9, reduce_rate = 8.4;
/* Parts of the bandwidth: what a kernel streams, weights that threads bring or boxes, and matrices
 * that do not fit in the L2, that do, and that leave most of it to others. */
static const double stream_efficiency = 0.92;
static const double weights_efficiency = 0.88;
/* Of what boxes bring to a block at a time, weights are the share that its tile has of their lines;
 * of large tiles fewer blocks ask. */
static const double boxed_weights_efficiency = 0.72, more_by_share = 0.26, less_by_line = 0.00025;
static const double memory_efficiency = 0.9;
static const double near_efficiency = 1.34;
static const double nearest_efficiency = 1.73;
/* Bytes a clock of weights that an SM draws from the memory while the other one of its pair (TPC)
 * does, too, and alone: what is under way is limited for both together. (H200; an H100, whose
 * memory has less for each, seldom comes to it.) */
static const double weights_beside = 20.5, weights_alone = 35.0;
static const double exposed_stream = 0.5; /* of the shorter of bytes and products */
static const double off_line_bytes = 2.0; /* times longer: lines that begin inside one of the L2 */
static const double copying = 1.15;       /* times longer: what one block an SM brings by threads */
static const double again_rate = 60.0; /* bytes a clock and SM: boxes that others have read, too */
static const double exposed_again = 0.4; /* of these, beside weights */
static const double unaligned_d = 3.4;   /* bytes of D whose rows begin inside a sector */
static const double ragged_end = 1.5;    /* times longer: rows that end inside a wide load */
static const double beyond = 1.0;        /* rows of boxes beyond an edge, to the other side's */
/* From the request of a box to its arrival: a ring that is full of requests brings one ring's worth
 * in that time, and no SM draws more. Operands from memory, and those below a third of the L2. */
static const double box_latency = 0.7e-6;
static const double near_latency = 0.4e-6;
static const double near_share = 1.0 / 3.0;
/* What threads gather queues behind the boxes: so long a block of k takes an SM; beside FFMA, whose
 * slots it takes, products are so many times longer. */
static const double gather_seconds = 0.28e-6, gathered_beside_fma = 1.38;
/* Ranks of a cluster: to meet twice, and what each draws from the others. */
static const double cluster_barriers = 0.5e-6;
static const double cluster_bytes_per_clock = 37.5;
/* Pairs of blocks: to meet twice, and what of B each still has to fetch, as if it were alone. */
static const double pair_barriers = 0.7e-6;
static const double part_of_pair = 0.5;
/* A B that is read twice, from the memory in part: of products that take so much of the L2. */
static const double apart_share = 0.8, apart_bytes = 1.3;
/* Cycles of an SM for an element of C, beside its bytes (H100; notes.md, "A hint that there is a
 * C"): by boxes; by threads that take pieces of its rows; by such whose neighbours in D are not
 * neighbours of a thread, of tf32. */
static const double c_by_boxes = 0.15, c_by_pieces = 0.55, c_across = 1.5;
static const double c_in_two_boxes = 0.4; /* by boxes that overlap: one waits for the next */
/* Of kernels that copy by warps, and of f32 by boxes. */
static const double c_by_warps = 0.7;
static const double sms_of_large_clusters = 120.0 / 132.0;
static const double part_of_peak = 0.9;
static const double measured_bytes_per_clock = 4.8e12 / 132 / 1.98e9; /* of one SM of an H200 */
/* Pageable matrices to the GPU and back beside the product, with 16 threads of the CPU: what the
 * ways take is the shorter of both lines (8192^3, 16384^3; 2048^3; bench/results/notes.md). */
static const double transfer_bandwidth = 62e9;
static const double transfer_ramp = 0.9e-3;
static const double small_transfer_bandwidth = 16e9;
static const double transfer_seconds = 60e-6; /* of the smallest */

enum {
    MAX_GROUP = 16,
    FEW = 64,
    MOST_BESIDE_DEEP_K = 640,
    L2_LINE = 128, /* bytes */
    WIDEST_LOAD = 16,
    NARROWEST_COPY = 4 /* of cp.async */
};

static double bytes_of(tcgemm_dtype_t dtype) {
    return tcgemm_bits_of_dtype(dtype) / 8.0;
}

/* What is asked about: one row for one problem on one device. */
typedef struct question {
    const tcgemm_gpu_row_t *row;
    const tcgemm_gpu_cost_t *cost;
    const tcgemm_canonical_t *g;
    const tcgemm_device_t *device;
    int ranks; /* blocks of a cluster that share k */
    bool in_pairs;
    double macs;             /* multiply-adds a cycle and SM that the row reaches on the device */
    double tiles_m, tiles_n; /* rows and columns of tiles of D */
    double slower;           /* times longer D takes to write than on an H200 */
} question_t;

/* Whether lanes load the operand that passes once; where boxes bring it, all is as with boxes. */
static bool streams_by_loads(const tcgemm_gpu_row_t *row) {
    return row->streams && !row->tensor_maps;
}

static double slower_memory(const tcgemm_device_t *device) {
    const double bytes_per_clock = device->bandwidth / device->num_sms / device->clock_hz;
    return bytes_per_clock > 0.0 ? max_f64(1.0, measured_bytes_per_clock / bytes_per_clock) : 1.0;
}

static question_t ask(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g, int ranks,
                      bool in_pairs, const tcgemm_device_t *device) {
    const tcgemm_gpu_row_t *const row = kernel->gpu;
    const tcgemm_gpu_cost_t *const cost = tcgemm_gpu_cost_on(kernel, device);
    const double peak = part_of_peak * tcgemm_device_macs(device, row->code);
    return (question_t){.row = row,
                        .cost = cost,
                        .g = g,
                        .device = device,
                        .ranks = ranks,
                        .in_pairs = in_pairs,
                        .macs = peak > 0.0 && peak < cost->macs ? peak : cost->macs,
                        .tiles_m = ceil_f64((double)g->m / row->bm),
                        .tiles_n = ceil_f64((double)g->n / row->bn),
                        .slower = slower_memory(device)};
}

/* A cluster lies on the SMs of one GPC, whose number is not a multiple of four or eight: an H200
 * with 132 SMs holds 66 clusters of two blocks, but 30 of four and 15 of eight. */
double tcgemm_gpu_resident_blocks(const tcgemm_gpu_row_t *row, int ranks,
                                  const tcgemm_device_t *device) {
    const double sms = ranks > 2 ? device->num_sms * sms_of_large_clusters : device->num_sms;
    return max_f64(1.0, floor_f64(sms * row->blocks_per_sm / ranks)) * ranks;
}

static double resident_blocks(const question_t *q) {
    return tcgemm_gpu_resident_blocks(q->row, q->in_pairs ? 2 : q->ranks, q->device);
}

/* What the sum of a tile by a cluster adds to the product. */
static double sum_seconds(const question_t *q) {
    const double bytes = 4.0 * q->row->bm * q->row->bn;
    return cluster_barriers + bytes / (cluster_bytes_per_clock * q->device->clock_hz);
}

/* That, or the meetings of a pair. */
static double cluster_seconds(const question_t *q) {
    return q->in_pairs ? pair_barriers : q->ranks == 1 ? 0.0 : sum_seconds(q);
}

/* ---- bytes ---- */

/* The resident blocks cover group x width tiles; they read least if that is nearly a square. */
static uint32_t raster_group(const question_t *q) {
    const double bm = q->row->bm;
    const double columns = resident_blocks(q) * q->row->bn;
    const double square = min_f64(sqrt(columns / bm), min_f64(MAX_GROUP, q->tiles_m));
    const double rows = max_f64(1.0, floor_f64(square)), more = max_f64(1.0, ceil_f64(square));
    return (uint32_t)(more * bm + columns / more < rows * bm + columns / rows ? more : rows);
}

static double d_factor(const question_t *q) {
    const bool is_aligned = q->g->n * tcgemm_bits_of_dtype(q->g->type->d) / 8 % WIDEST_LOAD == 0;
    return is_aligned ? 1.0 : unaligned_d;
}

static double d_bytes(const question_t *q) {
    return (double)q->g->m * (double)q->g->n * bytes_of(q->g->type->d);
}

static bool adds_c(const question_t *q) {
    return (q->g->flags & TCGEMM_FLAG_ADDS_C) != 0 && !streams_by_loads(q->row);
}

static double c_bytes(const question_t *q) {
    return adds_c(q) ? d_bytes(q) : 0.0;
}

/* Bytes from memory: a sweep of `group` tile rows reads its rows of A once and all of B. Rows of D
 * that begin inside a sector come to 1.15 TB/s (measured, whatever the kernel). */
static double memory_bytes(const question_t *q) {
    const tcgemm_canonical_t *g = q->g;
    const double k = (double)g->k;
    const double a = (double)g->m * k * bytes_of(g->a.dtype);
    const double b = k * (double)g->n * bytes_of(g->b.dtype);
    const double d = d_bytes(q);
    const bool b_stays = b < 0.5 * (double)q->device->l2_bytes;
    const double sweeps =
        b_stays ? 1.0 : ceil_f64((double)g->m / (q->row->bm * (double)raster_group(q)));
    return a + b * sweeps + d * d_factor(q) + c_bytes(q);
}

/* Few rows or columns of D are those of a layer, whose weights come from the memory although they
 * would fit in the L2: other layers have passed since. (Both few: an inner product.) */
static bool has_weights(const question_t *q) {
    const int64_t m = q->g->m, n = q->g->n;
    return (m < n ? m : n) <= FEW && (m < n ? n : m) > MOST_BESIDE_DEEP_K;
}

/* How much longer the bytes of boxes take for the rows and columns of a tile that do not exist, but
 * beside weights, which have the memory to wait for. */
static double box_waste(const question_t *q) {
    if (has_weights(q) || q->row->by_warps)
        return 1.0;
    const double m = (double)q->g->m, n = (double)q->g->n, bm = q->row->bm, bn = q->row->bn;
    return 1.0 + beyond * ((bm - m / q->tiles_m) / bn + (bn - n / q->tiles_n) / bm);
}

/* How much longer boxes take for what the row itself makes of them; weights wait for the memory. */
static double box_factor(const question_t *q) {
    return has_weights(q) ? 1.0 : q->cost->narrow;
}

/* Rows of tiles that read B. */
static double readers_of_b(const question_t *q) {
    return q->in_pairs ? ceil_f64(q->tiles_m / 2.0) : q->tiles_m;
}

/* Bytes that blocks read after another one has. */
static double bytes_again(const question_t *q) {
    const tcgemm_canonical_t *g = q->g;
    const double m = (double)g->m, n = (double)g->n, k = (double)g->k;
    return k * (m * bytes_of(g->a.dtype) * (q->tiles_n - 1.0) +
                n * bytes_of(g->b.dtype) * (readers_of_b(q) - 1.0));
}

static double operand_bytes(const question_t *q) {
    const tcgemm_canonical_t *g = q->g;
    return (double)g->batch * (double)g->k *
           ((double)g->m * bytes_of(g->a.dtype) + (double)g->n * bytes_of(g->b.dtype));
}

static double product_bytes(const question_t *q) {
    return operand_bytes(q) + (double)q->g->batch * d_bytes(q);
}

/* Whether the operands leave most of the L2 to others, where a call before may have left them. */
static bool is_near(const question_t *q) {
    return operand_bytes(q) < near_share * (double)q->device->l2_bytes && !has_weights(q);
}

static double box_latency_for(const question_t *q) {
    return is_near(q) ? near_latency : box_latency;
}

/* Whether two blocks read the B of each item of a batch that the L2 does not hold: each for itself,
 * they have some of it from the memory twice. More rows of tiles are no slower than pairs, nor are
 * parts of k, which have no stride. */
static bool reads_b_apart(const question_t *q) {
    return q->row->pairs && !q->in_pairs && q->g->batch > 1 && q->g->b.batch_stride != 0 &&
           q->tiles_m == 2.0 && product_bytes(q) >= apart_share * (double)q->device->l2_bytes;
}

/* Of the memory, bytes a second. */
static double bandwidth_at(double efficiency, const tcgemm_device_t *device) {
    return device->bandwidth > 0.0 ? efficiency * device->bandwidth : 1e11;
}

static double weights_efficiency_for(const question_t *q) {
    if (!q->row->tensor_maps)
        return weights_efficiency;
    const double rows = q->row->bm, cols = q->row->bn, lines = rows + cols;
    const double share = (q->g->m < q->g->n ? cols : rows) / lines;
    return boxed_weights_efficiency + more_by_share * share - less_by_line * lines;
}

static double efficiency_for(const question_t *q) {
    const double bytes = product_bytes(q);
    const double l2_bytes = (double)q->device->l2_bytes;
    return streams_by_loads(q->row)        ? stream_efficiency
           : has_weights(q)                ? weights_efficiency_for(q)
           : bytes < near_share * l2_bytes ? nearest_efficiency
           : bytes < l2_bytes              ? near_efficiency
                                           : memory_efficiency;
}

static double bandwidth_for(const question_t *q) {
    return bandwidth_at(efficiency_for(q), q->device);
}

/* What two take beside one another: the longer, and some of the shorter. */
static double beside(double x, double y) {
    const double longer = max_f64(x, y), part = longer > 0.0 ? min_f64(x, y) / longer : 0.0;
    return longer * sqrt(sqrt(1.0 + part * part * part * part));
}

/* What bytes take that blocks read after another one has: the L2 runs with the SMs, whatever memory
 * is behind it. */
static double again_seconds(const question_t *q) {
    const double rate = again_rate * q->device->num_sms * q->device->clock_hz;
    return (double)q->g->batch * bytes_again(q) / rate;
}

/* Bytes from the memory, and those from the L2 beside them; but what weights take, which boxes
 * bring at the memory's pace, grows by a part of what is read again. */
static double with_again(const question_t *q, double seconds) {
    const double again = again_seconds(q);
    return has_weights(q) ? seconds + exposed_again * again : beside(seconds, again);
}

/* How often the ring of a block is filled for one tile. */
static double rings(const question_t *q) {
    return ceil_f64((double)q->g->k / q->row->bk) / q->row->stages;
}

/* What one block of each of so many SMs takes for its weights: all bytes from the memory, or its
 * own, which come no faster. As long as there are no more than pairs of SMs each has one. */
static double weights_of_round(const question_t *q, double blocks, double bytes) {
    const double rate = blocks > q->device->num_sms / 2.0 ? weights_beside : weights_alone;
    return max_f64(blocks * bytes / bandwidth_for(q), bytes / (rate * q->device->clock_hz));
}

/* The weights of all rounds: of `tiles`, each multiplied by the ranks of a cluster together. Those
 * that share weights have them from the memory once. */
static double weights_seconds(const question_t *q, double tiles) {
    const tcgemm_canonical_t *g = q->g;
    const bool is_b = g->m < g->n;
    const double lines = min_f64(is_b ? q->row->bn : q->row->bm, (double)(is_b ? g->n : g->m));
    const double bytes = lines * (double)g->k * bytes_of(is_b ? g->b.dtype : g->a.dtype);
    const double each = bytes / q->ranks / (is_b ? q->tiles_m : q->tiles_n);
    const double blocks = tiles * q->ranks, sms = q->device->num_sms;
    const double full = floor_f64(blocks / sms), rest = blocks - full * sms;
    return full * weights_of_round(q, sms, each) +
           (rest > 0.0 ? weights_of_round(q, rest, each) : 0.0);
}

/* Whether threads bring the narrow operand. */
static bool gathers(const question_t *q) {
    const tcgemm_canonical_t *g = q->g;
    const bool is_b = q->row->gathers_b;
    const tcgemm_operand_t *x = is_b ? &g->b : &g->a;
    return tcgemm_gpu_gathers(q->row, is_b, (is_b ? x->row_stride : x->col_stride) == 1,
                              tcgemm_gpu_alignment(NULL, x->dtype, is_b ? g->n : g->m,
                                                   tcgemm_operand_ld(x), g->batch,
                                                   x->batch_stride));
}

static const tcgemm_operand_t *streamed_of(const question_t *q) {
    return q->row->streams == TCGEMM_STREAMS_A ? &q->g->a : &q->g->b;
}

/* ---- products ---- */

/* Cycles of one resident block for each element of k, on the way of wide loads. */
static double cycles_per_k(const question_t *q, double blocks) {
    return q->cost->wait + blocks * q->row->bm * q->row->bn / q->macs;
}

/* ---- loads ---- */

static const double late_for_narrow = 1300.0;
static const double most_box_bytes = 70.0;
static const double words_per_clock = 21.0, shifted_per_clock = 15.0, rounded_per_clock = 17.0;

/* Bytes a clock that an SM draws by boxes whose rows are so many bytes apart: such as do not begin
 * with a line of the L2, or a sector, take more of them (measured, whatever the row and type). */
static double box_bytes_per_clock(const tcgemm_operand_t *x) {
    const int64_t pitch = tcgemm_operand_ld(x) * tcgemm_bits_of_dtype(x->dtype) / 8;
    return pitch % L2_LINE == 0 ? most_box_bytes
           : pitch % 64 == 0    ? 44.0
           : pitch % 32 == 0    ? 40.0
                                : 28.0;
}

/* The same where warps bring lines by cp.async of four bytes, few of which an SM has under way;
 * those that begin inside a word are shifted, elements of 32 bits rounded. */
static double warp_bytes_per_clock(const tcgemm_operand_t *x) {
    return bytes_of(x->dtype) == 4                             ? rounded_per_clock
           : tcgemm_gpu_row_alignment(x) % NARROWEST_COPY == 0 ? words_per_clock
                                                               : shifted_per_clock;
}

/* How much longer the loads of an operand take for being narrow. Kernels without shared memory then
 * load element by element, the others as wide as cp.async can, down to 4 bytes: twice as long for 8
 * bytes and three times for 4, as measured. Rows that end inside 16 bytes leave the pipelined loop,
 * too; so do those of a whole matrix that starts off a boundary. */
static double narrow_factor(const question_t *q, const tcgemm_operand_t *x) {
    const uint32_t aligned = tcgemm_gpu_row_alignment(x);
    if (aligned >= WIDEST_LOAD)
        return 1.0;
    if (q->row->smem_bytes == 0 || aligned < NARROWEST_COPY)
        return q->cost->narrow;
    return min_f64(q->cost->narrow, aligned > NARROWEST_COPY ? 2.0 : 3.0);
}

static double load_factor(const question_t *q, const tcgemm_operand_t *x, int64_t length) {
    const double factor = narrow_factor(q, x);
    const bool ends =
        q->row->pads_rows && !x->padded && length * tcgemm_bits_of_dtype(x->dtype) % 128 != 0;
    return factor == 1.0 && ends ? min_f64(q->cost->narrow, ragged_end) : factor;
}

/* Of a kernel that streams an operand, that one alone counts: whether its lines begin inside lines
 * of the L2, and reach into others (shorter ones share them). */
static bool begins_off_line(const question_t *q) {
    const tcgemm_operand_t *x = streamed_of(q);
    const int64_t pitch = tcgemm_operand_ld(x) * tcgemm_bits_of_dtype(x->dtype) / 8;
    return pitch > L2_LINE && pitch % L2_LINE != 0;
}

/* How much longer it takes as it is stored. Lines side by side need no more than four elements at a
 * time. */
static double stream_factor(const question_t *q) {
    const tcgemm_operand_t *x = streamed_of(q);
    const bool is_a = x == &q->g->a;
    const bool in_k = tcgemm_gpu_streams_k(q->row, &q->g->a, &q->g->b);
    const double aligned = tcgemm_gpu_row_alignment(x);
    const int64_t lines = is_a ? q->g->m : q->g->n;
    const bool is_narrow =
        lines < (is_a ? q->row->bm : q->row->bn) ||
        aligned < (in_k ? WIDEST_LOAD : min_f64(WIDEST_LOAD, 4.0 * bytes_of(x->dtype)));
    if (is_narrow)
        return in_k ? q->cost->narrow : q->cost->layout[2];
    return (in_k ? 1.0 : q->cost->layout[1]) * (begins_off_line(q) ? q->cost->layout[3] : 1.0);
}

/* How much longer loads take than products, for each element of k: `clocks` for a byte of all lines
 * of a tile, of which such a part exists. */
static double loads_factor(const question_t *q, double exists, double clocks) {
    const double blocks = q->row->blocks_per_sm;
    const double loads = exists * blocks * bytes_of(q->g->a.dtype) * clocks;
    return max_f64(1.0, loads / cycles_per_k(q, blocks));
}

/* Of boxes, where their rows begin anywhere; a step of the products is whole where a box is not.
 * What threads gather is little. */
static double boxes_factor(const question_t *q) {
    const double a = q->row->gathers_a ? most_box_bytes : box_bytes_per_clock(&q->g->a);
    const double b = q->row->gathers_b ? most_box_bytes : box_bytes_per_clock(&q->g->b);
    const double rows = min_f64(q->row->bm, (double)q->g->m);
    const double cols = min_f64(q->row->bn, (double)q->g->n);
    const double part_of_b = q->in_pairs ? part_of_pair : 1.0;
    const double exists = min_f64(1.0, (double)q->g->k / q->row->bk);
    return loads_factor(q, exists, rows / a + part_of_b * cols / b);
}

/* Of what warps bring, which takes them as long whether it exists or not. */
static double warps_factor(const question_t *q) {
    return loads_factor(q, 1.0,
                        q->row->bm / warp_bytes_per_clock(&q->g->a) +
                            q->row->bn / warp_bytes_per_clock(&q->g->b));
}

/* Of products on FFMA, while other warps gather. */
static double gathering_factor(const question_t *q) {
    return q->row->streams && gathers(q) ? gathered_beside_fma : 1.0;
}

/* NN, NT, TN, TT. */
static int layout_index(const tcgemm_canonical_t *g) {
    return 2 * (g->a.col_stride != 1) + (g->b.col_stride != 1);
}

static double layout_factor(const question_t *q) {
    const tcgemm_canonical_t *g = q->g;
    if (streams_by_loads(q->row))
        return stream_factor(q);
    const double layout = q->cost->layout[layout_index(g)];
    if (q->row->by_warps)
        return layout * warps_factor(q);
    if (q->row->tensor_maps)
        return layout * boxes_factor(q) * gathering_factor(q);
    const double a = load_factor(q, &g->a, tcgemm_operand_length(&g->a, g->m, g->k));
    const double b = load_factor(q, &g->b, tcgemm_operand_length(&g->b, g->k, g->n));
    if (a > 1.0 || b > 1.0) /* in a ring of stages the slower copy holds up both */
        return q->row->smem_bytes == 0 ? (a + b) / 2.0 : max_f64(a, b);
    return layout;
}

/* What the kernel takes of k at a time. */
static int step_of_k(const tcgemm_gpu_row_t *row) {
    return streams_by_loads(row) ? row->bk * row->threads / 32 : row->bk;
}

/* k in whole steps. */
static double whole_k(const question_t *q) {
    const int bk = step_of_k(q->row);
    return ceil_f64((double)q->g->k / bk) * bk;
}

/* Elements of k as if all were loaded wide. Without shared memory the last, ragged step is not. */
static double weighted_k(const question_t *q) {
    const double layout = layout_factor(q);
    const int bk = step_of_k(q->row);
    const double whole = whole_k(q) * layout;
    const bool is_slow = q->row->smem_bytes == 0 && q->g->k % bk != 0;
    return whole + (is_slow ? bk * max_f64(0.0, q->cost->narrow - layout) : 0.0);
}

/* Nor is a tile at a ragged edge, for which the last round waits. */
static double edge_seconds(const question_t *q) {
    const tcgemm_gpu_row_t *row = q->row;
    if (row->smem_bytes != 0 || (q->g->m % row->wm == 0 && q->g->n % row->wn == 0))
        return 0.0;
    const double k = ceil_f64((double)q->g->k / row->bk) * row->bk;
    return k * max_f64(0.0, q->cost->narrow - layout_factor(q)) * cycles_per_k(q, 1.0) /
           q->device->clock_hz;
}

/* ---- the whole ---- */

/* How much longer `finish` takes where rows of D begin inside a sector. */
static double finish_factor(const question_t *q) {
    return d_factor(q) == 1.0 ? 1.0 : q->cost->unaligned;
}

/* Whether all of C is on its way before D is written: its bytes are all that it costs. */
static bool loads_c_early(const tcgemm_gpu_row_t *row) {
    return row->code == TCGEMM_F64_F64 || (row->code == TCGEMM_F32_F32 && !row->tensor_maps);
}

/* Cycles that an element of D takes longer because one of C is added. */
static double c_cycles(const question_t *q) {
    const tcgemm_gpu_row_t *const row = q->row;
    const double bytes = bytes_of(q->g->a.dtype);
    if (!adds_c(q))
        return 0.0;
    if (row->boxes_of_c && d_factor(q) == 1.0)
        return tcgemm_gpu_boxes_overlap(row, (int)bytes_of(q->g->type->d)) ? c_in_two_boxes
                                                                           : c_by_boxes;
    if (loads_c_early(row))
        return 0.0;
    if (!row->tensor_maps || row->code == TCGEMM_F32_F32)
        return c_by_warps;
    return row->box_rows == 0 && bytes == 4.0 ? c_across : c_by_pieces;
}

/* Adds `count` rounds of `blocks` on an SM, a share of the SMs at work. */
static void add_rounds(const question_t *q, double k, double count, double blocks, double share,
                       tcgemm_gpu_time_t *t) {
    const double seconds = count / q->device->clock_hz;
    t->start += seconds * q->cost->start;
    t->finish += seconds * q->cost->finish * blocks * share * q->slower * finish_factor(q);
    t->finish += seconds * c_cycles(q) * q->row->bm * q->row->bn * blocks * share;
    t->wait += seconds * k * q->cost->wait;
    t->multiply += seconds * k * (cycles_per_k(q, blocks) - q->cost->wait);
}

/* ---- items of a batch, each a warp's ---- */

/* Whether matrices lie one behind another, each without gaps. */
static bool is_dense(int64_t ld, int64_t length, int64_t lines, int64_t stride, int64_t batch) {
    return ld == length && (batch == 1 || stride == lines * length);
}

/* How much longer loads take than those of 16 bytes: element by element. */
static double item_factor(const question_t *q, const tcgemm_operand_t *x, int64_t rows,
                          int64_t cols) {
    const int64_t ld = tcgemm_operand_ld(x), length = tcgemm_operand_length(x, rows, cols);
    const int64_t lines = tcgemm_operand_lines(x, rows, cols);
    const bool is_whole = tcgemm_gpu_alignment(NULL, x->dtype, lines, ld, q->g->batch,
                                               x->batch_stride) >= WIDEST_LOAD &&
                          length * tcgemm_bits_of_dtype(x->dtype) % (8 * WIDEST_LOAD) == 0;
    return is_whole || is_dense(ld, length, lines, x->batch_stride, q->g->batch) ? 1.0
                                                                                 : q->cost->narrow;
}

static double bytes_of_items(const question_t *q) {
    const tcgemm_canonical_t *g = q->g;
    const double batch = (double)g->batch, m = (double)g->m, n = (double)g->n, k = (double)g->k;
    const bool is_stream = is_dense(g->ldd, g->n, g->m, g->stride_d, g->batch) ||
                           g->n * tcgemm_bits_of_dtype(g->type->d) / 8 % WIDEST_LOAD == 0;
    return m * k * bytes_of(g->a.dtype) * (g->a.batch_stride ? batch : 1.0) +
           k * n * bytes_of(g->b.dtype) * (g->b.batch_stride ? batch : 1.0) +
           m * n * bytes_of(g->type->d) * batch * (is_stream ? 1.0 : unaligned_d);
}

/* Items that a warp multiplies side by side: as many as its lanes have room for and its memory,
 * and as there are for each of all warps. */
static double items_of_group(const question_t *q, double warps) {
    const tcgemm_canonical_t *g = q->g;
    const double m = (double)g->m, n = (double)g->n, k = (double)g->k;
    const double stage = (double)q->row->smem_bytes / (q->row->stages * q->row->threads / 32.0);
    const double item = max_f64(k * (m * bytes_of(g->a.dtype) + n * bytes_of(g->b.dtype)),
                                m * n * max_f64(4.0, bytes_of(g->type->d)));
    const double lanes = 32.0 / (ceil_f64(m / q->row->im) * ceil_f64(n / q->row->in));
    const double each = (double)g->batch / ((double)q->device->num_sms * warps);
    return max_f64(1.0, floor_f64(min_f64(min_f64(lanes, each), stage / item)));
}

/* Whether warps bring to shared memory, or registers, what they multiply. */
static bool copies_by_warps(const question_t *q) {
    return !q->row->tensor_maps && !q->row->streams;
}

static bool copies_overlap(const question_t *q) {
    return q->row->waits && q->device->takes_tensor_maps && copies_by_warps(q);
}

/* Cycles that a tile begins later for narrow loads, of which its first steps of k are many.
 * Measured on Hopper alone; the constants of other devices' rows have it in them. */
static double narrow_start(const question_t *q) {
    if (!q->device->takes_tensor_maps || !copies_by_warps(q) || q->row->smem_bytes == 0)
        return 0.0;
    const bool is_narrow = narrow_factor(q, &q->g->a) > 1.0 || narrow_factor(q, &q->g->b) > 1.0;
    return is_narrow ? late_for_narrow : 0.0;
}

static double launch_of(const question_t *q) {
    return copies_overlap(q) ? launch_seconds - overlap_seconds : launch_seconds;
}

static double least_of(const question_t *q) {
    return copies_overlap(q) ? least_copied_seconds : least_seconds;
}

/* Groups of items shared out among SMs. `wait` is what a warp takes for an element of k while it is
 * alone, `finish` what a group costs beside its products. */
static tcgemm_gpu_time_t time_of_items(const question_t *q, double bandwidth) {
    const tcgemm_canonical_t *g = q->g;
    const double warps = q->row->blocks_per_sm * q->row->threads / 32.0;
    const double groups = ceil_f64(ceil_f64((double)g->batch / items_of_group(q, warps)) /
                                   (double)q->device->num_sms);
    const double clock = q->device->clock_hz, k = (double)g->k;
    const double loads =
        max_f64(item_factor(q, &g->a, g->m, g->k), item_factor(q, &g->b, g->k, g->n));
    const double macs = 32.0 * q->row->im * q->row->in;
    tcgemm_gpu_time_t t;
    memset(&t, 0, sizeof t);
    t.launch = launch_of(q);
    t.rounds = ceil_f64(groups / warps);
    t.start = q->cost->start / clock;
    t.wait = t.rounds * k * q->cost->wait / clock;
    t.finish = groups * q->cost->finish * loads / clock;
    t.multiply = groups * k * macs / q->macs * q->cost->layout[layout_index(g)] / clock;
    t.memory = bytes_of_items(q) / bandwidth;
    t.total = t.launch + t.start + max_f64(t.wait + t.multiply + t.finish, t.memory);
    return t;
}

/* Bytes from memory and products hide one another only as far as one of them is much the shorter:
 * what that costs beyond the longer of them. What a kernel streams is half in the open. */
static double exposed_seconds(const question_t *q, double products, double bytes) {
    return streams_by_loads(q->row) ? exposed_stream * min_f64(products, bytes)
                                    : beside(products, bytes) - max_f64(products, bytes);
}

/* Blocks of a short last round on an SM. Where boxes bring the operands, the blocks of an SM work
 * in step and end together, so that as many new ones come to it while other SMs get none. */
static double blocks_of_rest(const question_t *q, double full, double rest) {
    const bool ends_together = q->row->tensor_maps && !q->row->persistent && full > 0.0;
    return ends_together ? min_f64(rest, q->row->blocks_per_sm)
                         : ceil_f64(rest / q->device->num_sms);
}

tcgemm_gpu_time_t tcgemm_gpu_time(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g,
                                  int ranks, bool in_pairs, const tcgemm_device_t *device) {
    const question_t q = ask(kernel, g, ranks, in_pairs, device);
    const double batch = (double)g->batch;
    const double bandwidth = bandwidth_for(&q);
    if (q.row->items_a_warp)
        return time_of_items(&q, bandwidth);
    const double rows = in_pairs ? 2.0 * readers_of_b(&q) : readers_of_b(&q);
    const double tiles = rows * q.tiles_n * batch;
    const double resident = resident_blocks(&q);
    const double full = floor_f64(tiles / resident);
    const double rest = tiles - full * resident;
    const double k = weighted_k(&q);
    tcgemm_gpu_time_t t;
    memset(&t, 0, sizeof t);
    t.launch = launch_of(&q);
    t.rounds = full + (rest > 0.0);
    t.cluster = cluster_seconds(&q);
    add_rounds(&q, k, full, q.row->blocks_per_sm, 1.0, &t);
    if (rest > 0.0)
        add_rounds(&q, k, 1.0, blocks_of_rest(&q, full, rest), min_f64(1.0, rest / device->num_sms),
                   &t);
    t.start += t.rounds * narrow_start(&q) / device->clock_hz;
    if (streams_by_loads(q.row)) {
        t.start /= t.rounds;
        t.finish = t.rounds * q.cost->finish / device->clock_hz;
    }
    t.wait += edge_seconds(&q);
    t.memory = batch * memory_bytes(&q) / bandwidth;
    if (copies_by_warps(&q) && min_f64(tiles, resident) <= device->num_sms)
        t.memory *= copying;
    if (streams_by_loads(q.row) && begins_off_line(&q))
        t.memory *= off_line_bytes;
    if (q.row->tensor_maps)
        t.memory = max_f64(with_again(&q, t.memory * box_waste(&q) * box_factor(&q)),
                           t.rounds * rings(&q) * box_latency_for(&q));
    if (reads_b_apart(&q))
        t.memory *= apart_bytes;
    if (gathers(&q) && !q.row->streams)
        t.memory = max_f64(t.memory, gather_seconds * ceil_f64(tiles / device->num_sms) *
                                         ceil_f64((double)g->k / q.row->bk));
    if (has_weights(&q) && !copies_by_warps(&q))
        t.memory = max_f64(t.memory, weights_seconds(&q, tiles));
    const double products = t.start + t.wait + t.multiply + t.finish;
    t.exposed = exposed_seconds(&q, products, t.memory);
    t.total = t.launch + max_f64(products, t.memory) + t.exposed + t.cluster;
    const double least = least_of(&q);
    if (t.total < least) {
        t.launch += least - t.total;
        t.total = least;
    }
    return t;
}

uint32_t tcgemm_gpu_raster_group(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g,
                                 const tcgemm_device_t *device) {
    const question_t q = ask(kernel, g, 1, false, device);
    return raster_group(&q);
}

/* ---- bounds from below ---- */

/* tcgemm_gpu_time has one way to do a product; there are many: parts of k, ranks of clusters,
 * tails, pairs. Bounds have its terms, each at the least that any of them makes of it:
 *
 *     whole    tiles, each multiplied by one block, in pairs or not: rounds and blocks are known
 *     shared   tiles: many parts of k are as much as the whole, on all SMs from first to last, in
 * no less than the rounds that this takes, and one start; each part writes a D, of which there are
 * two at least. Where D may have a tail, nothing is known of how large it is: it may fit in the L2,
 * its rows be aligned, its boxes small.
 */
typedef struct spread {
    double rounds, blocks;             /* of whole tiles; blocks of the SM that has the most */
    double least_rounds, least_blocks; /* of shared ones */
    bool may_have_tail;                /* D fills a round */
    double cycles;                     /* of a block alone, for an element of k */
} spread_t;

static spread_t spread_of(const question_t *q) {
    const tcgemm_gpu_row_t *const row = q->row;
    const double tiles = q->tiles_m * q->tiles_n * (double)q->g->batch;
    const double resident = tcgemm_gpu_resident_blocks(row, 1, q->device);
    const double share = tiles / resident;
    const double full = floor_f64(share), rest = tiles - full * resident;
    return (spread_t){.rounds = full + (rest > 0.0),
                      .blocks = full * row->blocks_per_sm +
                                (rest > 0.0 ? blocks_of_rest(q, full, rest) : 0.0),
                      .least_rounds = share,
                      .least_blocks = tiles / q->device->num_sms,
                      .may_have_tail = share >= 1.0,
                      .cycles = row->bm * row->bn / q->macs};
}

/* layout_factor, if what need not be packed is: no row is narrow, but some may end inside a load.
 */
static double copied_layout(const question_t *q) {
    const double as_stored = q->cost->layout[layout_index(q->g)];
    return q->row->pads_rows ? min_f64(as_stored, min_f64(ragged_end, q->cost->narrow)) : as_stored;
}

/* layout_factor where tiles are shared: parts of k end on boundaries, as the whole may not; a tail
 * may have fewer lines than a box, or than a kernel streams at full speed. */
static double shared_layout(const question_t *q, const spread_t *s) {
    const double *const layout = q->cost->layout;
    if (streams_by_loads(q->row))
        return min_f64(layout_factor(q),
                       s->may_have_tail ? min_f64(q->cost->narrow, layout[2]) : HUGE_VAL);
    if (q->row->tensor_maps)
        return s->may_have_tail ? copied_layout(q) : layout_factor(q);
    const double narrow = max_f64(narrow_factor(q, &q->g->a), narrow_factor(q, &q->g->b));
    return narrow > 1.0 ? narrow : copied_layout(q);
}

/* Without the sweeps that read B again; what boxes read again, for pairs if the row has them. */
static double whole_memory(const question_t *q, const spread_t *s) {
    const double batch = (double)q->g->batch, bandwidth = bandwidth_for(q);
    const double bytes = operand_bytes(q) + batch * d_bytes(q) * d_factor(q);
    if (!q->row->tensor_maps)
        return bytes / bandwidth;
    return max_f64(with_again(q, bytes * box_waste(q) * box_factor(q) / bandwidth),
                   s->rounds * rings(q) * box_latency_for(q));
}

static double shared_memory(const question_t *q, const spread_t *s) {
    const tcgemm_gpu_row_t *const row = q->row;
    const double d = (double)q->g->batch * d_bytes(q);
    const double bytes = operand_bytes(q) + (s->may_have_tail ? d : 2.0 * d * d_factor(q));
    const double bandwidth =
        s->may_have_tail ? bandwidth_at(nearest_efficiency, q->device) : bandwidth_for(q);
    const double latency = s->may_have_tail ? near_latency : box_latency_for(q);
    if (!row->tensor_maps)
        return bytes / bandwidth;
    return max_f64(bytes * box_factor(q) / bandwidth,
                   s->least_rounds * (double)q->g->k / (row->bk * row->stages) * latency);
}

/* Cycles of `start` and `finish`. */
static double whole_ends(const question_t *q, const spread_t *s) {
    const tcgemm_gpu_cost_t *const cost = q->cost;
    return streams_by_loads(q->row) ? cost->start + s->rounds * cost->finish
                                    : s->rounds * cost->start + s->least_blocks * cost->finish *
                                                                    q->slower * finish_factor(q);
}

static double shared_ends(const question_t *q, const spread_t *s) {
    const double parts = s->may_have_tail ? 1.0 : 2.0;
    const double aligned = min_f64(1.0, finish_factor(q));
    const double finish =
        streams_by_loads(q->row) ? 1.0 : parts * s->least_blocks * q->slower * aligned;
    return q->cost->start + finish * q->cost->finish;
}

/* With exposed_seconds at its chord, 2^(1/4) - 1: no root. */
static double floor_of(const question_t *q, double cycles, double memory) {
    const double products = cycles / q->device->clock_hz;
    const double longer = max_f64(products, memory), shorter = min_f64(products, memory);
    const double part = shorter / longer;
    const double exposed = streams_by_loads(q->row) ? exposed_stream * shorter
                                                    : 0.1892 * longer * part * part * part * part;
    return max_f64(least_of(q), just_below(launch_of(q) + longer + exposed));
}

tcgemm_gpu_floors_t tcgemm_gpu_floors(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g,
                                      bool may_copy, const tcgemm_device_t *device) {
    const tcgemm_gpu_row_t *const row = kernel->gpu;
    const question_t q = ask(kernel, g, 1, row->pairs, device);
    tcgemm_gpu_floors_t floors = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, false};
    if (row->items_a_warp) {
        floors.whole = just_below(time_of_items(&q, bandwidth_for(&q)).total);
        return floors;
    }
    const spread_t s = spread_of(&q);
    const double whole = whole_k(&q) * (s.rounds * q.cost->wait + s.blocks * s.cycles);
    const double ends = whole_ends(&q, &s), memory = whole_memory(&q, &s);
    floors.may_have_tail = s.may_have_tail;
    floors.whole = floor_of(&q, ends + whole * layout_factor(&q), memory);
    if (may_copy)
        floors.copied = floor_of(&q, ends + whole * copied_layout(&q), memory);
    if (!row->splits_k && row->max_ranks <= 1)
        return floors;
    const double part = (double)g->k * (s.least_rounds * q.cost->wait + s.least_blocks * s.cycles);
    const double part_ends = shared_ends(&q, &s), part_memory = shared_memory(&q, &s);
    const double sums = row->max_ranks > 1 ? sum_seconds(&q) : 0.0;
    floors.shared = sums + floor_of(&q, part_ends + part * shared_layout(&q, &s), part_memory);
    if (may_copy)
        floors.copied_shared =
            sums + floor_of(&q, part_ends + part * copied_layout(&q), part_memory);
    return floors;
}

bool tcgemm_gpu_waits_for_boxes(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g,
                                const tcgemm_device_t *device) {
    const question_t q = ask(kernel, g, 1, false, device);
    return boxes_factor(&q) > 1.0 || reads_b_apart(&q);
}

double tcgemm_gpu_least_seconds(void) {
    return least_copied_seconds;
}

double tcgemm_gpu_copy_seconds(double bytes, const tcgemm_device_t *device) {
    return bytes / bandwidth_at(step_efficiency, device);
}

double tcgemm_gpu_move_seconds(double bytes, const tcgemm_device_t *device) {
    return step_seconds + tcgemm_gpu_copy_seconds(bytes, device);
}

double tcgemm_gpu_reduce_seconds(double bytes, int64_t parts, const tcgemm_device_t *device) {
    const double rate = reduce_rate * device->num_sms * device->clock_hz;
    return reduce_seconds + (double)parts * seconds_a_part + bytes / rate;
}

double tcgemm_gpu_predict_transfer(const tcgemm_canonical_t *g) {
    const double m = (double)g->m;
    const double n = (double)g->n;
    const double k = (double)g->k;
    const double bytes =
        m * k * bytes_of(g->a.dtype) + k * n * bytes_of(g->b.dtype) + m * n * bytes_of(g->type->d);
    const double all = (double)g->batch * bytes;
    return transfer_seconds +
           min_f64(all / small_transfer_bandwidth, transfer_ramp + all / transfer_bandwidth);
}
