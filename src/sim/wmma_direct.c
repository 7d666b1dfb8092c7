/* wmma_direct.c - the data path of wmma-direct, as wmma_direct.cuh runs it: every lane loads its
 * share of a chunk of k straight from memory, 4 x 4 warps a block, one tile of D a warp. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "gpu/gpu_row.h"
#include "sim/wmma.h"

enum { WARPS_M = 4, WARPS_N = 4 };

/* One operand of a warp. */
typedef struct side {
    int side, k_form, turned, paired;
    uint32_t size;   /* of an element */
    uint32_t blocks; /* of eight rows of A, columns of B */
    uint32_t width;  /* bytes of a load */
    int64_t first;   /* row of A, column of B, of the warp */
    bool wide;       /* the warp's tile lies inside and its loads are aligned */
    tcgemm_sim_chunk_t chunk;
    tcgemm_sim_operand_t operand;
} side_t;

typedef struct machine {
    tcgemm_sim_t *sim;
    const tcgemm_gpu_row_t *row;
    side_t a, b;
    uint32_t chunk_k, steps;
    int64_t item;
    tcgemm_sim_product_t *product;
} machine_t;

/* ---- loads ---- */

/* Load i of a lane: neighbours along k (k_form), or along m or n. */
static void load_line(machine_t *x, const side_t *s, uint32_t lane, uint32_t i, int64_t k0,
                      tcgemm_sim_name_t *names) {
    const tcgemm_sim_matrix_t *matrix = &x->sim->side[s->side];
    const uint32_t g = lane / 4, q = lane % 4;
    const int64_t outer =
        s->first + tcgemm_wmma_first_outer(g, q, s->blocks, s->turned) + (s->k_form ? i : 0);
    const int64_t k = k0 + tcgemm_wmma_first_k(g, q, s->size, s->turned) + (s->k_form ? 0 : i);
    const int count = (int)(s->width / s->size);
    const int64_t left_outer = matrix->mn - outer, left_k = x->sim->g->k - k;
    const int64_t line = s->k_form ? left_outer : left_k, run = s->k_form ? left_k : left_outer;
    const bool is_whole = s->wide && x->sim->g->k - k0 >= x->chunk_k;
    const int inside = line > 0 && run > 0 ? (int)min_i64(run, count) : 0;
    tcgemm_sim_zeros(names, count);
    if (is_whole || inside > 0)
        tcgemm_sim_load(x->sim, s->side, x->item, tcgemm_sim_offset(matrix, outer, k),
                        is_whole ? count : inside, (int)(is_whole ? s->width : s->size), names);
}

/* Two exchanges between lanes; in each a lane gives one element to one other. */
static void turn(side_t *s, tcgemm_sim_name_t raw[TCGEMM_SIM_LANES][2]) {
    for (uint32_t lane = 0; lane < TCGEMM_SIM_LANES; ++lane) {
        const uint32_t odd = lane / 4 % 2;
        const uint32_t first = tcgemm_wmma_turn_lane(lane / 4, lane % 4), second = first ^ 4;
        const tcgemm_sim_name_t low = raw[first][first / 4 % 2];        /* even k: even column */
        const tcgemm_sim_name_t high = raw[second][1 - second / 4 % 2]; /* the other way round */
        s->chunk.at[lane][0][0] = odd ? high : low;
        s->chunk.at[lane][0][1] = odd ? low : high;
    }
}

static void load_chunk(machine_t *x, side_t *s, int64_t k0) {
    tcgemm_sim_name_t raw[TCGEMM_SIM_LANES][2];
    const uint32_t lane_k = 16 / s->size;
    const uint32_t loads = s->k_form ? s->blocks : s->turned ? 1 : lane_k;
    for (uint32_t lane = 0; lane < TCGEMM_SIM_LANES; ++lane)
        for (uint32_t i = 0; i < loads; ++i) {
            tcgemm_sim_name_t names[16];
            load_line(x, s, lane, i, k0, names);
            if (s->turned)
                memcpy(raw[lane], names, sizeof raw[lane]);
            for (uint32_t e = 0; !s->turned && e < s->width / s->size; ++e) {
                if (s->k_form)
                    s->chunk.at[lane][i][e] = names[e];
                else
                    s->chunk.at[lane][e][i] = names[e];
            }
        }
    if (s->turned)
        turn(s, raw);
}

/* ---- a warp ---- */

static void tell_chunk(machine_t *x, int64_t k0) {
    if (tcgemm_sim_is_told(x->sim))
        tcgemm_sim_tell(
            x->sim, 2,
            "k %lld..%lld: lane 5 loads %u bytes a time, A from (%lld, %lld), B from "
            "(%lld, %lld); %u products of %d x %d x %d",
            (long long)k0, (long long)min_i64(k0 + x->chunk_k, x->sim->g->k) - 1, x->a.width,
            (long long)x->a.first + tcgemm_wmma_first_outer(1, 1, x->a.blocks, x->a.turned),
            (long long)k0 + tcgemm_wmma_first_k(1, 1, x->a.size, x->a.turned),
            (long long)k0 + tcgemm_wmma_first_k(1, 1, x->b.size, x->b.turned),
            (long long)x->b.first + tcgemm_wmma_first_outer(1, 1, x->b.blocks, x->b.turned),
            x->steps, x->row->im, x->row->in, x->row->ik);
}

static void store_lane(machine_t *x, uint32_t lane) {
    const tcgemm_canonical_t *g = x->sim->g;
    const uint32_t tm = (uint32_t)x->row->im, tn = (uint32_t)x->row->in;
    const uint32_t rows = tcgemm_wmma_sum_rows(tm, tn), cols = tcgemm_wmma_sum_cols(tn);
    const bool exchanged = tn == 32;
    const int64_t row0 = x->a.first + (exchanged ? lane % 4 : lane / 4) * (int64_t)rows;
    const int64_t col0 = x->b.first + (exchanged ? lane / 4 : lane % 4) * (int64_t)cols;
    const uint32_t bytes = cols * (uint32_t)tcgemm_dtype_bits(g->type->d) / 8;
    const bool is_run = g->n - col0 >= cols && x->sim->vector_d >= bytes &&
                        (!x->sim->call->c || x->sim->vector_c >= bytes);
    for (uint32_t r = 0; r < rows && row0 + r < g->m; ++r) {
        if (is_run)
            tcgemm_sim_check_alignment(x->sim, x->item, row0 + r, col0, (int)bytes);
        for (uint32_t i = 0; i < cols && col0 + i < g->n; ++i) {
            const tcgemm_sim_sum_t sum =
                tcgemm_sim_wmma_sum(x->product, lane, tcgemm_wmma_sum_at(tm, tn, r, i));
            tcgemm_sim_store(x->sim, x->item, row0 + r, col0 + i, &sum);
        }
    }
}

static void run_warp(machine_t *x, int warp) {
    const tcgemm_canonical_t *g = x->sim->g;
    if (x->a.first >= g->m || x->b.first >= g->n)
        return;
    x->a.wide = x->a.first + x->row->im <= g->m && x->sim->side[TCGEMM_SIDE_A].vector >= x->a.width;
    x->b.wide = x->b.first + x->row->in <= g->n && x->sim->side[TCGEMM_SIDE_B].vector >= x->b.width;
    tcgemm_sim_tell(x->sim, 1, "warp %d: D rows from %lld, columns from %lld", warp,
                    (long long)x->a.first, (long long)x->b.first);
    tcgemm_sim_products_clear(x->product, 1);
    x->sim->report->num_warps += 1;
    for (int64_t k0 = 0; k0 < g->k; k0 += x->chunk_k) {
        tell_chunk(x, k0);
        load_chunk(x, &x->a, k0);
        load_chunk(x, &x->b, k0);
        for (uint32_t s = 0; s < x->steps; ++s) {
            tcgemm_sim_wmma_operand(x->sim, TCGEMM_SIDE_A, &x->a.chunk, 0, x->a.blocks, s,
                                    x->a.size, x->a.paired, &x->a.operand);
            tcgemm_sim_wmma_operand(x->sim, TCGEMM_SIDE_B, &x->b.chunk, 0, x->b.blocks, s,
                                    x->b.size, x->b.paired, &x->b.operand);
            tcgemm_sim_multiply(x->sim, x->product, &x->a.operand, &x->b.operand);
        }
    }
    for (uint32_t lane = 0; lane < TCGEMM_SIM_LANES; ++lane)
        store_lane(x, lane);
}

/* ---- blocks ---- */

static void run_block(machine_t *x, uint32_t index, uint32_t tiles_m, uint32_t tiles_n) {
    const tcgemm_batch_tile_t tile = tcgemm_sim_tile(x->sim, index, tiles_m, tiles_n);
    x->item = tile.batch;
    x->sim->report->num_blocks += 1;
    x->sim->report->num_steps += ceil_div(x->sim->g->k, x->chunk_k);
    tcgemm_sim_tell(x->sim, 0, "block %u, %d warps: tile (%u, %u) of D, item %u", index,
                    WARPS_M * WARPS_N, tile.at.m, tile.at.n, tile.batch);
    for (int warp = 0; warp < WARPS_M * WARPS_N; ++warp) {
        x->a.first = (int64_t)tile.at.m * x->row->bm + (int64_t)(warp / WARPS_N) * x->row->im;
        x->b.first = (int64_t)tile.at.n * x->row->bn + (int64_t)(warp % WARPS_N) * x->row->in;
        run_warp(x, warp);
    }
}

static void set_up_side(machine_t *x, side_t *s, int side, int extent) {
    const tcgemm_sim_matrix_t *matrix = &x->sim->side[side];
    s->side = side;
    s->k_form = matrix->form == TCGEMM_FORM_K;
    s->size = (uint32_t)matrix->element_bytes;
    s->blocks = (uint32_t)extent / 8;
    s->turned = tcgemm_wmma_is_turned(s->size, s->k_form);
    s->width = s->k_form || s->turned ? 16 : s->blocks * s->size;
    s->paired = side == TCGEMM_SIDE_A ? extent >= 16 : extent == 32;
}

void tcgemm_sim_wmma_direct(tcgemm_sim_t *sim) {
    machine_t *x = tcgemm_sim_allocate(sim, 1, sizeof *x);
    if (!x)
        return;
    x->sim = sim;
    x->row = sim->plan->kernel->gpu;
    set_up_side(x, &x->a, TCGEMM_SIDE_A, x->row->im);
    set_up_side(x, &x->b, TCGEMM_SIDE_B, x->row->in);
    x->chunk_k = TCGEMM_WMMA_CHUNK / x->a.size;
    x->steps = tcgemm_wmma_steps(x->a.size);
    x->product = tcgemm_sim_products_make(sim, 1, x->row->im, x->row->in);
    if (x->row->bm != WARPS_M * x->row->im || x->row->bn != WARPS_N * x->row->in) {
        tcgemm_sim_fault(sim, "a block of %d x %d is not 4 x 4 tiles of %d x %d", x->row->bm,
                         x->row->bn, x->row->im, x->row->in);
    } else if (x->product) {
        const uint32_t tiles_m = (uint32_t)ceil_div(sim->g->m, x->row->bm);
        const uint32_t tiles_n = (uint32_t)ceil_div(sim->g->n, x->row->bn);
        for (uint32_t i = 0; i < tiles_m * tiles_n * (uint32_t)sim->g->batch; ++i)
            run_block(x, i, tiles_m, tiles_n);
    }
    free(x->product);
    free(x);
}
