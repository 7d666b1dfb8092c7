/* verify.c - is D right? (tcgemm.h, section 10; docs/numerics.md)
 *
 *     FULL      every element: block.h computes the reference, judge.h compares
 *     SAMPLE    1  vectors.h scores all rows
 *               2  rows that stick out, and the four highest scores in any case: every element
 *               3  some thousand elements all over D, more of them at its edges
 *
 * Only the comparison with the element's own bound makes an element wrong; the random vectors only
 * say where to compare. So there are no false alarms.
 */
#include "ref/verify.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/fpmode.h"
#include "base/struct.h"
#include "ref/block.h"
#include "ref/judge.h"
#include "ref/split.h"
#include "ref/vectors.h"

enum { SAMPLES_PER_EDGE = 64 };

/* Work that may be done without asking: AUTO takes FULL up to here. */
static const double cheap_products = 0x1p31;

typedef struct verification {
    const tcgemm_judge_t *judge;
    uint64_t seed;
    int num_workers;
    tcgemm_tally_t tally;
    tcgemm_vectors_t vectors;
} verification_t;

static void *allocate(int64_t count, size_t size) {
    return (uint64_t)count > SIZE_MAX / size / 2 ? NULL : malloc((size_t)(count + 1) * size);
}

static tcgemm_status_t out_of_memory(void) {
    return tcgemm_error_set(TCGEMM_STATUS_OUT_OF_MEMORY, "no memory for verification");
}

/* ---- whole rows ---- */

/* Neighbouring entries of a list of rows that one block takes. */
typedef struct row_group {
    int64_t batch;
    int64_t first;
    int64_t count;
} row_group_t;

typedef struct rows_job {
    const tcgemm_judge_t *judge;
    const int64_t *rows;
    const row_group_t *groups;
    int64_t num_chunks; /* blocks side by side */
    char *scratch;      /* tcgemm_block_scratch_bytes() for each worker */
    tcgemm_tally_t tallies[TCGEMM_SPLIT_MAX];
} rows_job_t;

static void judge_blocks(void *context, int worker, int64_t begin, int64_t end) {
    rows_job_t *job = context;
    char *scratch = job->scratch + (size_t)worker * tcgemm_block_scratch_bytes();
    for (int64_t unit = begin; unit < end; ++unit) {
        const row_group_t *group = &job->groups[unit / job->num_chunks];
        const int64_t col = unit % job->num_chunks * TCGEMM_BLOCK_COLS;
        tcgemm_block_judge(job->judge, group->batch, job->rows + group->first, group->count, col,
                           scratch, &job->tallies[worker]);
    }
}

/* Judges every element of the rows. */
static tcgemm_status_t judge_rows(verification_t *v, const int64_t *rows, const row_group_t *groups,
                                  int64_t num_groups) {
    rows_job_t *job = malloc(sizeof *job);
    char *scratch = allocate(v->num_workers, tcgemm_block_scratch_bytes());
    if (!job || !scratch) {
        free(job);
        free(scratch);
        return out_of_memory();
    }
    job->judge = v->judge;
    job->rows = rows;
    job->groups = groups;
    job->num_chunks = (v->judge->g->n + TCGEMM_BLOCK_COLS - 1) / TCGEMM_BLOCK_COLS;
    job->scratch = scratch;
    for (int w = 0; w < v->num_workers; ++w)
        tcgemm_tally_init(&job->tallies[w]);
    tcgemm_split(v->num_workers, num_groups * job->num_chunks, judge_blocks, job);
    for (int w = 0; w < v->num_workers; ++w)
        tcgemm_tally_merge(&v->tally, &job->tallies[w]);
    free(job);
    free(scratch);
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t verify_full(verification_t *v) {
    const int64_t m = v->judge->g->m;
    const int64_t batch = v->judge->g->batch;
    const int64_t groups_per_item = (m + TCGEMM_BLOCK_ROWS - 1) / TCGEMM_BLOCK_ROWS;
    int64_t *rows = allocate(m, sizeof *rows);
    row_group_t *groups = allocate(groups_per_item * batch, sizeof *groups);
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    if (rows && groups) {
        for (int64_t i = 0; i < m; ++i)
            rows[i] = i;
        for (int64_t s = 0; s < groups_per_item * batch; ++s) {
            const int64_t first = s % groups_per_item * TCGEMM_BLOCK_ROWS;
            const int64_t left = m - first;
            groups[s] = (row_group_t){s / groups_per_item, first,
                                      left < TCGEMM_BLOCK_ROWS ? left : TCGEMM_BLOCK_ROWS};
        }
        status = judge_rows(v, rows, groups, groups_per_item * batch);
    } else {
        status = out_of_memory();
    }
    free(rows);
    free(groups);
    return status;
}

/* ---- the rows that the random vectors suspect ---- */

static int by_score(const void *left, const void *right) {
    const tcgemm_row_score_t *x = left;
    const tcgemm_row_score_t *y = right;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->batch != y->batch)
        return x->batch < y->batch ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int by_place(const void *left, const void *right) {
    const tcgemm_row_score_t *x = left;
    const tcgemm_row_score_t *y = right;
    if (x->batch != y->batch)
        return x->batch < y->batch ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Puts the rows to be checked first, in order of place, and returns their number. Rows with NaN or
 * infinities have no score; they come after those that stick out, in random order, so that some of
 * them are checked even if not all can be. */
static int64_t choose_rows(verification_t *v) {
    const tcgemm_canonical_t *g = v->judge->g;
    tcgemm_vectors_t *vectors = &v->vectors;
    const double threshold = fmax(TCGEMM_SUSPECT_SIGMAS * vectors->sigma, DBL_MIN);
    uint64_t random = v->seed;
    for (int64_t i = 0; i < vectors->num_rows; ++i) {
        const double fraction = 0x1p-64 * (double)tcgemm_next_random(&random);
        if (isnan(vectors->rows[i].score))
            vectors->rows[i].score = threshold * (1.0 + 1e-6 + 1e-6 * fraction);
    }
    qsort(vectors->rows, (size_t)vectors->num_rows, sizeof *vectors->rows, by_score);

    const double affordable = cheap_products / ((double)g->n * ((double)g->k + 1.0));
    int64_t chosen = 0;
    while (chosen < vectors->num_rows &&
           (chosen < TCGEMM_VERIFY_ALWAYS_ROWS || vectors->rows[chosen].score > threshold) &&
           (chosen < TCGEMM_VERIFY_MIN_ROWS || (double)chosen < affordable))
        ++chosen;
    qsort(vectors->rows, (size_t)chosen, sizeof *vectors->rows, by_place);
    return chosen;
}

static tcgemm_status_t judge_chosen_rows(verification_t *v, int64_t chosen) {
    int64_t *rows = allocate(chosen, sizeof *rows);
    row_group_t *groups = allocate(chosen, sizeof *groups);
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    if (rows && groups) {
        int64_t num_groups = 0;
        for (int64_t i = 0; i < chosen; ++i) {
            const tcgemm_row_score_t *row = &v->vectors.rows[i];
            row_group_t *last = num_groups > 0 ? &groups[num_groups - 1] : NULL;
            rows[i] = row->row;
            if (last && last->batch == row->batch && last->count < TCGEMM_BLOCK_ROWS)
                last->count += 1;
            else
                groups[num_groups++] = (row_group_t){row->batch, i, 1};
        }
        status = judge_rows(v, rows, groups, num_groups);
    } else {
        status = out_of_memory();
    }
    free(rows);
    free(groups);
    return status;
}

/* ---- single elements ---- */

typedef struct samples_job {
    const tcgemm_judge_t *judge;
    const int64_t *places; /* (batch * m + i) * n + j */
    tcgemm_tally_t tallies[TCGEMM_SPLIT_MAX];
} samples_job_t;

static void judge_places(void *context, int worker, int64_t begin, int64_t end) {
    samples_job_t *job = context;
    const tcgemm_canonical_t *g = job->judge->g;
    for (int64_t s = begin; s < end; ++s) {
        const int64_t row = job->places[s] / g->n;
        const int64_t batch = row / g->m;
        const int64_t i = row % g->m;
        const int64_t j = job->places[s] % g->n;
        tcgemm_ref_value_t ref;
        tcgemm_reference_element(g, job->judge->call, batch, i, j, &ref);
        tcgemm_judge_element(job->judge, batch, i, j, &ref, &job->tallies[worker]);
    }
}

static int64_t random_below(uint64_t *random, int64_t end) {
    return (int64_t)(tcgemm_next_random(random) % (uint64_t)end);
}

/* The corners of the first and the last item, and pieces of all four edges. */
static int64_t pick_edges(const tcgemm_canonical_t *g, uint64_t *random, int64_t *places) {
    int64_t count = 0;
    for (int corner = 0; corner < 8; ++corner) {
        const int64_t batch = corner & 4 ? g->batch - 1 : 0;
        const int64_t i = corner & 2 ? g->m - 1 : 0;
        const int64_t j = corner & 1 ? g->n - 1 : 0;
        places[count++] = (batch * g->m + i) * g->n + j;
    }
    for (int s = 0; s < 4 * SAMPLES_PER_EDGE; ++s) {
        const int64_t batch = random_below(random, g->batch);
        int64_t i = random_below(random, g->m);
        int64_t j = random_below(random, g->n);
        if (s & 2)
            i = s & 1 ? g->m - 1 : 0;
        else
            j = s & 1 ? g->n - 1 : 0;
        places[count++] = (batch * g->m + i) * g->n + j;
    }
    return count;
}

/* One place in each of `count` equal pieces of D, so that small matrices are covered entirely. */
static int64_t pick_everywhere(const tcgemm_canonical_t *g, int64_t count, uint64_t *random,
                               int64_t *places) {
    const int64_t total = g->batch * g->m * g->n;
    if (count > total)
        count = total;
    int64_t begin = 0;
    for (int64_t s = 0; s < count; ++s) {
        const int64_t length = total / count + (s < total % count);
        places[s] = begin + random_below(random, length);
        begin += length;
    }
    return count;
}

static int compare_places(const void *left, const void *right) {
    const int64_t x = *(const int64_t *)left;
    const int64_t y = *(const int64_t *)right;
    return (x > y) - (x < y);
}

/* Sorts the places and drops those that come twice or lie in a row that has been checked. */
static int64_t drop_checked(const verification_t *v, int64_t chosen, int64_t *places,
                            int64_t count) {
    const tcgemm_canonical_t *g = v->judge->g;
    qsort(places, (size_t)count, sizeof *places, compare_places);
    int64_t kept = 0;
    for (int64_t s = 0; s < count; ++s) {
        const int64_t row = places[s] / g->n;
        const tcgemm_row_score_t key = {.batch = row / g->m, .row = row % g->m};
        const bool is_repeated = kept > 0 && places[kept - 1] == places[s];
        const bool is_checked =
            chosen > 0 && bsearch(&key, v->vectors.rows, (size_t)chosen, sizeof key, by_place);
        if (!is_repeated && !is_checked)
            places[kept++] = places[s];
    }
    return kept;
}

static tcgemm_status_t judge_samples(verification_t *v, int64_t chosen) {
    const tcgemm_canonical_t *g = v->judge->g;
    const double affordable = cheap_products / ((double)g->k + 1.0);
    const int64_t most =
        affordable < TCGEMM_VERIFY_MAX_SAMPLES ? (int64_t)affordable : TCGEMM_VERIFY_MAX_SAMPLES;
    const int64_t num_edges = 8 + 4 * SAMPLES_PER_EDGE;
    const int64_t wanted = most < TCGEMM_VERIFY_MIN_SAMPLES ? TCGEMM_VERIFY_MIN_SAMPLES : most;
    int64_t *places = allocate(wanted, sizeof *places);
    samples_job_t *job = malloc(sizeof *job);
    if (!places || !job) {
        free(places);
        free(job);
        return out_of_memory();
    }
    uint64_t random = ~v->seed;
    int64_t count = pick_edges(g, &random, places);
    count += pick_everywhere(g, wanted - num_edges, &random, places + count);
    count = drop_checked(v, chosen, places, count);

    job->judge = v->judge;
    job->places = places;
    for (int w = 0; w < v->num_workers; ++w)
        tcgemm_tally_init(&job->tallies[w]);
    tcgemm_split(v->num_workers, count, judge_places, job);
    for (int w = 0; w < v->num_workers; ++w)
        tcgemm_tally_merge(&v->tally, &job->tallies[w]);
    free(places);
    free(job);
    return TCGEMM_STATUS_OK;
}

/* An epilogue is applied to each element alone, so that no vector can be multiplied through it. */
static tcgemm_status_t verify_sample(verification_t *v) {
    if (!tcgemm_epilogue_is_empty(&v->judge->call->epilogue))
        return judge_samples(v, 0);
    TCGEMM_FORWARD(tcgemm_vectors_run(v->judge, v->seed, v->num_workers, &v->vectors));
    const int64_t chosen = choose_rows(v);
    tcgemm_status_t status = judge_chosen_rows(v, chosen);
    if (status == TCGEMM_STATUS_OK)
        status = judge_samples(v, chosen);
    free(v->vectors.rows);
    v->vectors.rows = NULL;
    return status;
}

/* ---- the report ---- */

/* What SAMPLE promises. An error of 10 sigma in one element of a row stays unseen if in both
 * vectors the other errors of the row, with their random signs, pull the residual below 6.75 sigma:
 * by 3.25 sigma to one side, which Hoeffding's inequality puts at exp(-3.25^2 / 2) each, whatever
 * the errors are. And an error is only wrong beyond its bound: one of twice the bound is, even
 * where honest rounding pulls the other way. For integers a single error always shows. */
static void report_promise(const verification_t *v, tcgemm_verify_report_t *report) {
    report->num_vector_rows = v->vectors.num_rows;
    if (!tcgemm_epilogue_is_empty(&v->judge->call->epilogue)) {
        report->smallest_error_caught = (double)INFINITY;
        return;
    }
    if (v->judge->is_integer) {
        report->smallest_error_caught = 1.0;
        return;
    }
    const double margin = TCGEMM_CAUGHT_SIGMAS - TCGEMM_SUSPECT_SIGMAS;
    report->miss_probability = exp(-margin * margin);
    report->smallest_error_caught =
        fmax(TCGEMM_CAUGHT_SIGMAS * v->vectors.error, 2.0 * v->tally.max_bound);
}

static void report_tally(const verification_t *v, tcgemm_verify_report_t *report) {
    const tcgemm_tally_t *tally = &v->tally;
    const bool swapped = v->judge->g->swapped;
    report->num_checked = tally->num_checked;
    report->num_wrong = tally->num_wrong;
    report->wrong_batch = tally->batch;
    report->wrong_row = swapped ? tally->col : tally->row;
    report->wrong_col = swapped ? tally->row : tally->col;
    report->wrong_got = tally->got;
    report->wrong_expected = tally->expected;
    report->max_ratio = tally->max_ratio;
}

static tcgemm_verify_mode_t resolve_mode(const tcgemm_canonical_t *g, tcgemm_verify_mode_t mode) {
    if (mode != TCGEMM_VERIFY_AUTO)
        return mode;
    const double products = (double)g->m * (double)g->n * (double)g->k * (double)g->batch;
    return products <= cheap_products ? TCGEMM_VERIFY_FULL : TCGEMM_VERIFY_SAMPLE;
}

static tcgemm_status_t verify_call(const tcgemm_plan_t *plan, const tcgemm_call_t *call,
                                   uint64_t seed, tcgemm_verify_report_t *report) {
    tcgemm_judge_t judge;
    tcgemm_judge_init(&judge, plan, call);
    verification_t v = {.judge = &judge, .seed = seed, .num_workers = plan->num_threads};
    if (v.num_workers < 1)
        v.num_workers = 1;
    if (v.num_workers > TCGEMM_SPLIT_MAX)
        v.num_workers = TCGEMM_SPLIT_MAX;
    tcgemm_tally_init(&v.tally);
    const bool is_empty = plan->g.m == 0 || plan->g.n == 0 || plan->g.batch == 0;
    if (!is_empty) {
        TCGEMM_FORWARD(report->mode == TCGEMM_VERIFY_FULL ? verify_full(&v) : verify_sample(&v));
        if (report->mode == TCGEMM_VERIFY_SAMPLE)
            report_promise(&v, report);
    }
    report_tally(&v, report);
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t verify(const tcgemm_plan_t *plan, const tcgemm_data_t *x,
                              tcgemm_verify_mode_t mode, uint64_t seed,
                              tcgemm_verify_report_t *report) {
    const double start = now_seconds();
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    TCGEMM_FORWARD(tcgemm_struct_check("report", report, sizeof *report));
    TCGEMM_RETURN_IF(plan->packs, TCGEMM_STATUS_BAD_ARGUMENT,
                     "the plan packs an operand ahead: there is no product to be verified");
    TCGEMM_RETURN_IF(mode != TCGEMM_VERIFY_AUTO && mode != TCGEMM_VERIFY_SAMPLE &&
                         mode != TCGEMM_VERIFY_FULL,
                     TCGEMM_STATUS_BAD_ARGUMENT, "verification mode %d is unknown", (int)mode);
    tcgemm_call_t call;
    TCGEMM_FORWARD(tcgemm_check_data(&plan->g, x, false, &call));

    tcgemm_verify_report_t result = {.struct_size = sizeof result};
    result.mode = resolve_mode(&plan->g, mode);
    TCGEMM_FORWARD(verify_call(plan, &call, seed, &result));
    result.seconds = now_seconds() - start;
    tcgemm_struct_write(report, &result, sizeof result);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_verify(const tcgemm_plan_t *plan, double alpha, const void *a, const void *b,
                              double beta, const void *c, const void *d, tcgemm_verify_mode_t mode,
                              uint64_t seed, tcgemm_verify_report_t *report) {
    TCGEMM_DEFAULT_FP_MODES;
    void *const read_only = (void *)(uintptr_t)d;
    const tcgemm_data_t x = tcgemm_data_of(alpha, a, b, beta, c, read_only);
    return verify(plan, &x, mode, seed, report);
}

tcgemm_status_t tcgemm_verify_data(const tcgemm_plan_t *plan, const tcgemm_data_t *data,
                                   tcgemm_verify_mode_t mode, uint64_t seed,
                                   tcgemm_verify_report_t *report) {
    TCGEMM_DEFAULT_FP_MODES;
    tcgemm_data_t x;
    TCGEMM_FORWARD(tcgemm_data_read(data, &x));
    return verify(plan, &x, mode, seed, report);
}
