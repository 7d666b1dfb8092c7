/* shared.c - see shared.h. */
#include "sim/shared.h"

#include <stdlib.h>
#include <string.h>

bool tcgemm_sim_shared_make(tcgemm_sim_shared_t *shared, tcgemm_sim_t *sim, size_t bytes,
                            int cell_bytes) {
    *shared = (tcgemm_sim_shared_t){
        .sim = sim, .bytes = (uint32_t)bytes, .cell_bytes = (uint32_t)cell_bytes};
    const int64_t count = (int64_t)bytes / cell_bytes;
    shared->cells = tcgemm_sim_allocate(sim, count, sizeof *shared->cells);
    shared->sums = tcgemm_sim_allocate(sim, count, sizeof *shared->sums);
    if (shared->cells && shared->sums)
        return true;
    tcgemm_sim_shared_free(shared);
    return false;
}

void tcgemm_sim_shared_free(tcgemm_sim_shared_t *shared) {
    free(shared->cells);
    free(shared->sums);
}

void tcgemm_sim_shared_poison(tcgemm_sim_shared_t *shared) {
    const uint32_t count = shared->bytes / shared->cell_bytes;
    const tcgemm_sim_cell_t poison = {.name = {TCGEMM_SIM_POISON, 0}};
    for (uint32_t i = 0; i < count; ++i)
        shared->cells[i] = poison;
    shared->interval = shared->turn = 1;
    shared->committed = shared->waited = shared->landed = 0;
}

/* ---- who may touch what ---- */

/* Whether an access of a thread and the last one of another kind may come in either order. */
static bool collides(const tcgemm_sim_shared_t *shared, const tcgemm_sim_touch_t *last,
                     int thread) {
    if (last->interval != shared->interval || last->thread == thread)
        return false;
    return !(last->warp == thread / 32 && last->turn < shared->turn);
}

static void touch(const tcgemm_sim_shared_t *shared, tcgemm_sim_touch_t *last, int thread) {
    const bool is_first = last->interval != shared->interval;
    last->thread = is_first || last->thread == thread ? thread : -1;
    last->warp = is_first || last->warp == thread / 32 ? thread / 32 : -1;
    last->interval = shared->interval;
    last->turn = shared->turn;
}

/* The first cell of an access of `count` cells at byte `at`; NULL after a fault. */
static tcgemm_sim_cell_t *cells_at(const tcgemm_sim_shared_t *shared, uint32_t at, uint32_t count) {
    const uint32_t bytes = count * shared->cell_bytes;
    if (at + bytes > shared->bytes || at + bytes < at) {
        tcgemm_sim_fault(shared->sim, "byte %u of %u bytes of shared memory is touched",
                         at + bytes - 1, shared->bytes);
        return NULL;
    }
    if (at % bytes != 0) {
        tcgemm_sim_fault(shared->sim, "%u bytes at byte %u of shared memory are not aligned", bytes,
                         at);
        return NULL;
    }
    return shared->cells + at / shared->cell_bytes;
}

static void write_cell(tcgemm_sim_shared_t *shared, tcgemm_sim_cell_t *cell, int thread) {
    if (collides(shared, &cell->read, thread))
        tcgemm_sim_fault(shared->sim,
                         "warp %d overwrites byte %u of shared memory while it is being read",
                         thread / 32, (uint32_t)(cell - shared->cells) * shared->cell_bytes);
    else if (collides(shared, &cell->write, thread))
        tcgemm_sim_fault(shared->sim,
                         "byte %u of shared memory is written twice between two barriers",
                         (uint32_t)(cell - shared->cells) * shared->cell_bytes);
    touch(shared, &cell->write, thread);
}

static void read_cell(tcgemm_sim_shared_t *shared, tcgemm_sim_cell_t *cell, int thread) {
    const uint32_t at = (uint32_t)(cell - shared->cells) * shared->cell_bytes;
    if (cell->name.mn == TCGEMM_SIM_POISON)
        tcgemm_sim_fault(shared->sim,
                         "warp %d reads byte %u of shared memory, which was never written",
                         thread / 32, at);
    else if (cell->group > shared->landed)
        tcgemm_sim_fault(
            shared->sim,
            "warp %d reads byte %u of shared memory before its cp.async has been waited for",
            thread / 32, at);
    else if (cell->group == 0 && collides(shared, &cell->write, thread))
        tcgemm_sim_fault(shared->sim,
                         "warp %d reads byte %u of shared memory without a barrier after its write",
                         thread / 32, at);
    touch(shared, &cell->read, thread);
}

/* ---- elements ---- */

void tcgemm_sim_shared_write(tcgemm_sim_shared_t *shared, int thread, uint32_t at, int count,
                             const tcgemm_sim_name_t *names, bool async) {
    tcgemm_sim_cell_t *cells = cells_at(shared, at, (uint32_t)count);
    for (int i = 0; cells && i < count; ++i) {
        write_cell(shared, &cells[i], thread);
        cells[i].name = names[i];
        cells[i].group = async ? shared->committed + 1 : 0;
    }
}

void tcgemm_sim_shared_read(tcgemm_sim_shared_t *shared, int thread, uint32_t at, int count,
                            tcgemm_sim_name_t *names) {
    tcgemm_sim_cell_t *cells = cells_at(shared, at, (uint32_t)count);
    for (int i = 0; i < count; ++i) {
        names[i] = (tcgemm_sim_name_t){TCGEMM_SIM_ZERO, 0};
        if (!cells)
            continue;
        read_cell(shared, &cells[i], thread);
        if (cells[i].name.mn != TCGEMM_SIM_POISON)
            names[i] = cells[i].name;
    }
    shared->sim->report->block_loads += count;
}

/* ---- sums ---- */

void tcgemm_sim_shared_put(tcgemm_sim_shared_t *shared, int thread, uint32_t at, uint32_t bytes,
                           const tcgemm_sim_sum_t *sum) {
    tcgemm_sim_cell_t *cells = cells_at(shared, at, bytes / shared->cell_bytes);
    if (!cells)
        return;
    for (uint32_t i = 0; i < bytes / shared->cell_bytes; ++i) {
        write_cell(shared, &cells[i], thread);
        cells[i].name = (tcgemm_sim_name_t){TCGEMM_SIM_ZERO, 0};
        cells[i].group = 0;
    }
    shared->sums[cells - shared->cells] = *sum;
}

void tcgemm_sim_shared_get(tcgemm_sim_shared_t *shared, int thread, uint32_t at, uint32_t bytes,
                           tcgemm_sim_sum_t *sum) {
    *sum = (tcgemm_sim_sum_t){.row = TCGEMM_SIM_ZERO, .col = TCGEMM_SIM_ZERO};
    tcgemm_sim_cell_t *cells = cells_at(shared, at, bytes / shared->cell_bytes);
    if (!cells)
        return;
    for (uint32_t i = 0; i < bytes / shared->cell_bytes; ++i)
        read_cell(shared, &cells[i], thread);
    *sum = shared->sums[cells - shared->cells];
}

/* ---- time ---- */

void tcgemm_sim_commit(tcgemm_sim_shared_t *shared) {
    shared->committed += 1;
}

void tcgemm_sim_wait(tcgemm_sim_shared_t *shared, uint32_t pending) {
    const uint32_t done = shared->committed > pending ? shared->committed - pending : 0;
    if (done > shared->waited)
        shared->waited = done;
}

void tcgemm_sim_barrier(tcgemm_sim_shared_t *shared) {
    shared->interval += 1;
    shared->turn += 1;
    shared->landed = shared->waited;
}

void tcgemm_sim_syncwarp(tcgemm_sim_shared_t *shared) {
    shared->turn += 1;
}
