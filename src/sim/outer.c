/* outer.c - the data path of simt-outer, as simt_outer.cu runs it: the sums live in shared memory,
 * a thread adds KSTEP outer products to its column of float4 and needs no barrier. */
#include <stdlib.h>

#include "base/num.h"
#include "gpu/gpu_row.h"
#include "sim/shared.h"
#include "tile/outer.h"

enum { COLS = 4, BYTES = 4, MAX_KSTEP = 32 };

typedef struct machine {
    tcgemm_sim_t *sim;
    const tcgemm_gpu_row_t *row;
    tcgemm_sim_shared_t shared;
    int64_t item, m0, n0; /* n0: of the thread */
    int rows, cols;       /* inside the matrices, of the thread */
    tcgemm_sim_name_t a[MAX_KSTEP], b[MAX_KSTEP][COLS];
    double b_value[MAX_KSTEP][COLS];
} machine_t;

static uint32_t place(const machine_t *x, int row, int thread, int col) {
    const uint32_t at =
        tcgemm_outer_index((uint32_t)row, (uint32_t)thread, (uint32_t)x->row->threads);
    return at * 16 + (uint32_t)col * BYTES;
}

/* `left` of the KSTEP elements of a row of A exist. */
static void load_a(machine_t *x, int row, int64_t k, int left) {
    const tcgemm_sim_matrix_t *a = &x->sim->side[TCGEMM_SIDE_A];
    const bool wide = a->form == TCGEMM_FORM_K && a->vector >= 16 && left >= x->row->bk;
    const int64_t from = tcgemm_sim_offset(a, x->m0 + row, k);
    for (int i = 0; i < left; i += wide ? 4 : 1)
        tcgemm_sim_load(x->sim, TCGEMM_SIDE_A, x->item,
                        from + (a->form == TCGEMM_FORM_K ? i : i * a->ld), wide ? 4 : 1,
                        wide ? 16 : BYTES, &x->a[i]);
}

static void load_b(machine_t *x, int64_t k, int left) {
    const tcgemm_sim_matrix_t *b = &x->sim->side[TCGEMM_SIDE_B];
    const bool k_form = b->form == TCGEMM_FORM_K;
    const bool wide = b->vector >= 16 && x->cols >= COLS && left >= x->row->bk;
    const int64_t from = tcgemm_sim_offset(b, x->n0, k);
    for (int i = 0; i < left; ++i)
        for (int j = 0; j < x->cols; ++j) {
            const int64_t at = from + (k_form ? j * b->ld + i : i * b->ld + j);
            const bool starts = wide && (k_form ? i : j) % 4 == 0;
            tcgemm_sim_load(x->sim, TCGEMM_SIDE_B, x->item, at, 1, starts ? 16 : BYTES,
                            &x->b[i][j]);
            x->b_value[i][j] = tcgemm_sim_value(x->sim, TCGEMM_SIDE_B, x->b[i][j]);
        }
}

/* One product on its way into a sum; k comes in order. */
static void add(machine_t *x, tcgemm_sim_sum_t *sum, double a_value, tcgemm_sim_name_t a, int i,
                int j) {
    const tcgemm_sim_name_t b = x->b[i][j];
    if (sum->terms == 0) {
        sum->row = a.mn;
        sum->col = b.mn;
    }
    if (a.k != b.k || a.k != sum->terms || a.mn != sum->row || b.mn != sum->col)
        tcgemm_sim_fault(x->sim,
                         "A(%d, %d) * B(%d, %d) is added to a sum of row %d and column %d that has "
                         "%lld products",
                         a.mn, a.k, b.k, b.mn, sum->row, sum->col, (long long)sum->terms);
    sum->sum += a_value * x->b_value[i][j];
    sum->terms += 1;
}

static void add_row(machine_t *x, int thread, int row, int left) {
    double value[MAX_KSTEP];
    for (int i = 0; i < left; ++i)
        value[i] = tcgemm_sim_value(x->sim, TCGEMM_SIDE_A, x->a[i]);
    for (int j = 0; j < COLS; ++j) {
        tcgemm_sim_sum_t sum;
        const uint32_t at = place(x, row, thread, j);
        tcgemm_sim_shared_get(&x->shared, thread, at, BYTES, &sum);
        for (int i = 0; j < x->cols && i < left; ++i)
            add(x, &sum, value[i], x->a[i], i, j);
        tcgemm_sim_shared_put(&x->shared, thread, at, BYTES, &sum);
    }
    x->sim->report->num_products += 1;
    x->sim->report->num_macs += (int64_t)COLS * x->row->bk;
    x->sim->report->warp_loads += (int64_t)(COLS + 1) * x->row->bk;
}

static void store_thread(machine_t *x, int thread) {
    const bool wide =
        x->cols == COLS && x->sim->vector_d >= 16 && (!x->sim->call->c || x->sim->vector_c >= 16);
    for (int i = 0; i < x->rows; ++i) {
        if (wide)
            tcgemm_sim_check_alignment(x->sim, x->item, x->m0 + i, x->n0, 16);
        for (int j = 0; j < x->cols; ++j) {
            tcgemm_sim_sum_t sum;
            tcgemm_sim_shared_get(&x->shared, thread, place(x, i, thread, j), BYTES, &sum);
            tcgemm_sim_store(x->sim, x->item, x->m0 + i, x->n0 + j, &sum);
        }
    }
}

static void run_thread(machine_t *x, int thread) {
    const int64_t k_all = x->sim->g->k;
    const int kstep = x->row->bk;
    const tcgemm_sim_sum_t zero = {.row = TCGEMM_SIM_ZERO, .col = TCGEMM_SIM_ZERO};
    for (int i = 0; i < x->row->bm; ++i)
        for (int j = 0; j < COLS; ++j)
            tcgemm_sim_shared_put(&x->shared, thread, place(x, i, thread, j), BYTES, &zero);
    for (int64_t k = 0; k < k_all; k += kstep) {
        const int left = (int)min_i64(k_all - k, kstep);
        if (thread == 0)
            tcgemm_sim_tell(x->sim, 2,
                            "thread 0, k %lld..%lld: B(k, columns %lld..%lld) to registers, then "
                            "row after row of A, added to the sums in shared memory",
                            (long long)k, (long long)k + left - 1, (long long)x->n0,
                            (long long)x->n0 + x->cols - 1);
        load_b(x, k, left);
        for (int i = 0; i < x->rows; ++i) {
            load_a(x, i, k, left);
            add_row(x, thread, i, left);
        }
    }
    store_thread(x, thread);
}

static void run_block(machine_t *x, uint32_t index, uint32_t tiles_m, uint32_t tiles_n) {
    const tcgemm_canonical_t *g = x->sim->g;
    const tcgemm_batch_tile_t tile = tcgemm_sim_tile(x->sim, index, tiles_m, tiles_n);
    x->item = tile.batch;
    x->m0 = (int64_t)tile.at.m * x->row->bm;
    x->rows = (int)min_i64(g->m - x->m0, x->row->bm);
    x->sim->report->num_blocks += 1;
    x->sim->report->num_steps += ceil_div(g->k, x->row->bk);
    x->sim->report->num_warps += x->row->threads / 32;
    tcgemm_sim_tell(x->sim, 0, "block %u, %d threads: tile (%u, %u) of D, item %u", index,
                    x->row->threads, tile.at.m, tile.at.n, tile.batch);
    tcgemm_sim_tell(x->sim, 1, "a thread has 4 columns and all %d rows, in shared memory",
                    x->row->bm);
    tcgemm_sim_shared_poison(&x->shared);
    for (int thread = 0; thread < x->row->threads; ++thread) {
        x->n0 = (int64_t)tile.at.n * x->row->bn + thread * (int64_t)COLS;
        if (x->n0 >= g->n)
            break;
        x->cols = (int)min_i64(g->n - x->n0, COLS);
        run_thread(x, thread);
    }
}

void tcgemm_sim_outer(tcgemm_sim_t *sim) {
    machine_t *x = tcgemm_sim_allocate(sim, 1, sizeof *x);
    if (!x)
        return;
    x->sim = sim;
    x->row = sim->plan->kernel->gpu;
    const uint32_t tiles_m = (uint32_t)ceil_div(sim->g->m, x->row->bm);
    const uint32_t tiles_n = (uint32_t)ceil_div(sim->g->n, x->row->bn);
    if (x->row->bk > MAX_KSTEP || x->row->threads * COLS != x->row->bn)
        tcgemm_sim_fault(sim, "%d threads of 4 columns do not make a block of %d", x->row->threads,
                         x->row->bn);
    else if (tcgemm_sim_shared_make(&x->shared, sim, x->row->smem_bytes, BYTES)) {
        for (uint32_t i = 0; i < tiles_m * tiles_n * (uint32_t)sim->g->batch; ++i)
            run_block(x, i, tiles_m, tiles_n);
        tcgemm_sim_shared_free(&x->shared);
    }
    free(x);
}
