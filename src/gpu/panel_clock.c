/* panel_clock.c - see panel_clock.h. */
#include "gpu/panel_clock.h"

#include <math.h>

#include "base/num.h"
#include "gpu/gpu_row.h"
#include "gpu/model.h"

static const double bus = 50.3e9;        /* bytes a second, each of both ways at once */
static const double bus_alone = 55.4e9;  /* ... and one way alone */
static const double pages = 1.1e12;      /* bytes a second between the ends of parts of lines */
static const double copy_seconds = 6e-6; /* of a copy, beside its bytes */
static const double launch_seconds = 3e-6;
/* Of what is promised of a GPU that is busy all the time, where it waits for the bus: it keeps cool
 * (bf16 16384^3 on an H200 by three rows 0.86 to 0.96). */
static const double while_cool = 0.96;

typedef struct clocks {
    const tcgemm_canonical_t *g;
    const tcgemm_partition_t *c;
    const tcgemm_gpu_row_t *row;
    double tile;      /* seconds of the GPU for each tile of D, all SMs busy */
    double resident;  /* tiles at a time */
    double read_rate; /* bytes a second of the GPU's memory */
    double in, sms, product[2], out, left[TCGEMM_MOST_STRIPS];
    int64_t strips;
} clocks_t;

static double bytes_of(tcgemm_dtype_t dtype) {
    return tcgemm_dtype_bits(dtype) / 8.0;
}

/* Of m rows of A and n columns of B. */
static double operand_bytes(const tcgemm_canonical_t *g, int64_t m, int64_t n, int64_t k) {
    return (double)k * ((double)m * bytes_of(g->a.dtype) + (double)n * bytes_of(g->b.dtype));
}

/* Of the copy of so many of `whole` elements of each line. */
static double copy_of(double lines, int64_t length, int64_t whole, int64_t ld, double size,
                      double rate) {
    const double ends = length < whole ? lines * (double)ld * size / pages : 0.0;
    return copy_seconds + lines * (double)length * size / rate + ends;
}

static void panel_comes(clocks_t *x, bool is_a, int64_t width) {
    const tcgemm_operand_t *o = is_a ? &x->g->a : &x->g->b;
    const bool is_part = is_a ? o->col_stride != 1 : o->col_stride == 1;
    const int64_t ld = tcgemm_operand_ld(o);
    const double size = bytes_of(o->dtype);
    const double rate = x->out > x->in ? bus : bus_alone;
    const int64_t side = is_a ? x->c->unit.m : x->c->unit.n;
    x->in += is_part ? copy_of((double)x->c->unit.k, width, side, ld, size, rate)
                     : copy_of((double)width, x->c->unit.k, x->c->unit.k, ld, size, rate);
}

static void strip_goes(clocks_t *x, int64_t m, int64_t n) {
    double *const left = &x->left[x->strips % x->c->num_d];
    double *const product = &x->product[x->strips % x->c->num_lanes];
    const double tiles = (double)(ceil_div(m, x->row->bm) * ceil_div(n, x->row->bn));
    const double operands = operand_bytes(x->g, m, n, x->c->unit.k);
    const double start = fmax(fmax(x->in, *product), *left) + launch_seconds;
    x->sms = fmax(x->sms, start) + fmax(tiles * x->tile, operands / x->read_rate);
    *product = fmax(x->sms, start + x->resident * x->tile);
    x->out = fmax(x->out, *product) +
             copy_of((double)m, n, x->g->n, x->g->ldd, bytes_of(x->g->type->d), bus);
    *left = x->out;
    x->strips += 1;
}

/* A long strip in pieces, as host_panels.c runs it. */
static void pieces_go(clocks_t *x, int64_t m, int64_t n, bool is_a) {
    const int64_t most_m = is_a ? m : x->c->piece_m;
    const int64_t most_n = is_a ? x->c->piece_n : n;
    for (int64_t i = 0; i < m; i += most_m)
        for (int64_t j = 0; j < n; j += most_n)
            strip_goes(x, min_i64(most_m, m - i), min_i64(most_n, n - j));
}

double tcgemm_panel_clock(const struct tcgemm_plan *plan, const tcgemm_partition_t *c) {
    const tcgemm_gpu_row_t *row = plan->kernel->gpu;
    const tcgemm_device_t *device = plan->device;
    const tcgemm_canonical_t *g = &plan->g;
    clocks_t x = {.g = g, .c = c, .row = row};
    tcgemm_canonical_t unit = *g;
    unit.m = c->unit.m;
    unit.n = c->unit.n;
    unit.k = c->unit.k;
    unit.batch = 1;
    const double product = tcgemm_gpu_time(plan->kernel, &unit, 1, false, device).total;
    x.tile = (product < operand_bytes(g, unit.m, unit.n, unit.k) / bus_alone ? while_cool : 1.0) *
             product / (double)(ceil_div(unit.m, row->bm) * ceil_div(unit.n, row->bn));
    x.resident = (double)device->num_sms * row->blocks_per_sm;
    x.resident = fmin(x.resident, ceil((double)unit.m / row->bm) * ceil((double)unit.n / row->bn));
    x.read_rate = device->bandwidth > 0.0 ? device->bandwidth / 2 : 1e11; /* beside the copies */
    tcgemm_side_t a = tcgemm_side_of_a(plan, c, &c->unit);
    tcgemm_side_t b = tcgemm_side_of_b(plan, c, &c->unit);
    bool is_a;
    int64_t begin;
    while (tcgemm_next_panel(&a, &b, &is_a, &begin)) {
        panel_comes(&x, is_a, (is_a ? a.used : b.used) - begin);
        pieces_go(&x, is_a ? a.used - begin : a.used, is_a ? b.used : b.used - begin, is_a);
    }
    return x.out;
}
