/* interleave.c - warm-up and rounds. */
#include "bench/interleave.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "files/layout.h"
#include "support/clock.h"
#include "support/exit_status.h"
#include "support/interrupt.h"
#include "support/message.h"
#include "support/random.h"

static const double shortest_sample = 2e-4; /* seconds */
static const double shortest_gpu_sample = 5e-3;
static const double patience = 30; /* seconds for one case, unless more are asked for */

enum { FEWEST_SAMPLES = 3, MAX_COPIES = 4096, NUM_BLOCKS = 4, LONG_BLOCK = 8, MOST_BLOCKS = 12 };
enum { STEADY_TURNS = 3, STEADY_SAMPLES = 4 }; /* of a turn */

static double copy_bytes(const tcgemm_problem_t *problem) {
    double bytes = 0;
    for (const char *x = "ABCD"; *x; ++x)
        bytes += (double)layout_of(problem, *x).bytes;
    return bytes;
}

static int64_t num_copies(double bytes, double min_bytes) {
    const double count = bytes > 0 ? min_bytes / bytes + 1 : 1;
    return count > MAX_COPIES ? MAX_COPIES : (int64_t)count;
}

double rotation_bytes(const tcgemm_problem_t *problem, double min_bytes) {
    const double bytes = copy_bytes(problem);
    return bytes * (double)num_copies(bytes, min_bytes);
}

int rotation_create(rotation_t *data, const tcgemm_problem_t *problem, uint64_t seed, bool with_c,
                    double min_bytes) {
    const int64_t count = num_copies(copy_bytes(problem), min_bytes);
    *data = (rotation_t){.copies = calloc((size_t)count, sizeof *data->copies)};
    if (!data->copies)
        return message_fail(CLI_NO_MEMORY, "no memory for the operands");
    int status = CLI_OK;
    while (status == CLI_OK && data->count < count) {
        status = workload_create(&data->copies[data->count], problem, seed + (uint64_t)data->count,
                                 with_c, false);
        data->count += status == CLI_OK;
    }
    return status;
}

void rotation_free(rotation_t *data) {
    for (int64_t i = 0; i < data->count; ++i)
        workload_free(&data->copies[i]);
    free(data->copies);
    *data = (rotation_t){0};
}

int candidate_call(const candidate_t *c) {
    if (c->lt)
        return cublaslt_run(c->lt, gpu_data_next(c->gpu))
                   ? CLI_OK
                   : message_fail(CLI_NO_DEVICE, "cublasLt refuses a call that it has done before");
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    if (c->clock) {
        const gpu_set_t *set = gpu_data_next(c->gpu);
        status = tcgemm_run_async(c->plan, c->alpha, set->a, set->b, c->beta, set->c, set->d,
                                  c->workspace, c->workspace_bytes, gpu_clock_stream(c->clock));
    } else {
        const workload_t *w = &c->data->copies[c->data->next];
        c->data->next = (c->data->next + 1) % c->data->count;
        if (c->plan)
            status = tcgemm_run(c->plan, c->alpha, w->a, w->b, c->beta, w->d, w->d);
        else
            return peer_product_run(c->peer, w->a, w->b, w->d)
                       ? CLI_OK
                       : message_fail(CLI_NO_DEVICE, "%s refuses a call",
                                      peer_product_label(c->peer));
    }
    return status == TCGEMM_STATUS_OK ? CLI_OK : message_library(status);
}

static int call_often(const candidate_t *c) {
    int status = CLI_OK;
    for (int64_t i = 0; i < c->inner && status == CLI_OK; ++i)
        status = candidate_call(c);
    return status;
}

/* By the GPU's own time, from the first launch to the end of the last. */
static int time_on_gpu(const candidate_t *c, double *elapsed) {
    bool good = gpu_clock_start(c->clock);
    const int status = good ? call_often(c) : CLI_OK;
    good = good && gpu_clock_stop(c->clock, elapsed);
    if (status != CLI_OK || good)
        return status;
    return message_fail(CLI_NO_DEVICE, "the GPU failed while it was timed");
}

static int time_here(const candidate_t *c, double *elapsed) {
    const double start = clock_seconds();
    const int status = call_often(c);
    *elapsed = clock_seconds() - start;
    return status;
}

/* One sample: the mean of `inner` calls. Returns an exit status. */
static int sample(candidate_t *c, double *value) {
    double elapsed = 0;
    const int status = c->clock ? time_on_gpu(c, &elapsed) : time_here(c, &elapsed);
    c->sum += elapsed;
    c->last = elapsed;
    *value = elapsed / (double)c->inner;
    return status;
}

/* Runs until the time settles on how many calls make a sample. */
static int warm_up(candidate_t *c) {
    const double shortest = c->clock ? shortest_gpu_sample : shortest_sample;
    double value = 0;
    c->inner = 1;
    for (int i = 0; i < 24; ++i) {
        const int status = interrupt_came() ? CLI_INTERRUPTED : sample(c, &value);
        if (status != CLI_OK)
            return status;
        const bool long_enough = value * (double)c->inner >= shortest;
        if (long_enough && (i > 0 || value > 0.5))
            break;
        if (!long_enough)
            c->inner *= 2;
    }
    c->sum = 0;
    return CLI_OK;
}

static bool all_have(const candidate_t *candidates, int count, double seconds) {
    for (int i = 0; i < count; ++i)
        if (candidates[i].sum < seconds)
            return false;
    return true;
}

static bool is_enough(const candidate_t *candidates, int count, const sampling_limits_t *limits,
                      int64_t rounds, double elapsed) {
    const double limit = patience > 20 * limits->min_seconds ? patience : 20 * limits->min_seconds;
    if (rounds == INTERLEAVE_MAX_SAMPLES || (rounds >= FEWEST_SAMPLES && elapsed > limit))
        return true;
    return rounds >= limits->min_samples && all_have(candidates, count, limits->min_seconds);
}

static bool make_room_for(candidate_t *candidates, int count, int64_t rounds) {
    if (rounds & (rounds - 1)) /* a power of two: the arrays are full */
        return true;
    for (int i = 0; i < count; ++i) {
        double *more =
            realloc(candidates[i].samples, (size_t)(rounds ? 2 * rounds : 1) * sizeof *more);
        if (!more)
            return false;
        candidates[i].samples = more;
    }
    return true;
}

/* For the next `length` rounds. Returns an exit status. */
static int make_room(candidate_t *candidates, int count, int64_t first, int64_t length) {
    for (int64_t j = 0; j < length; ++j)
        if (!make_room_for(candidates, count, first + j))
            return message_fail(CLI_NO_MEMORY, "no memory for the samples");
    return CLI_OK;
}

/* The order of a round, by chance; of two it is always the same. */
static void shuffle(candidate_t *candidates, int count, int64_t round) {
    for (int i = count - 1; i > 0 && count > 2; --i) {
        const int other = (int)(random_word((uint64_t)round, (uint64_t)i) % ((uint64_t)i + 1));
        const int whose = candidates[i].whose;
        candidates[i].whose = candidates[other].whose;
        candidates[other].whose = whose;
    }
}

/* The next `length` samples of one candidate. */
static int sample_block(candidate_t *c, int64_t first, int64_t length) {
    for (int64_t j = 0; j < length; ++j) {
        const int status = interrupt_came() ? CLI_INTERRUPTED : sample(c, &c->samples[first + j]);
        if (status != CLI_OK)
            return status;
    }
    return CLI_OK;
}

/* The next round: a sample of each. */
static int sample_round(candidate_t *candidates, int count, int64_t round) {
    int status = CLI_OK;
    for (int i = 0; i < count && status == CLI_OK; ++i)
        status = sample_block(&candidates[candidates[i].whose], round, 1);
    return status;
}

static void rest(double seconds) {
    const struct timespec time = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    (void)nanosleep(&time, NULL);
}

/* The same with pauses. */
static int sample_rested(candidate_t *candidates, int count, int64_t first, int64_t length,
                         double pause) {
    int status = CLI_OK;
    for (int i = 0; i < count && status == CLI_OK; ++i) {
        rest(pause);
        status = candidate_call(&candidates[i]);
        if (status == CLI_OK)
            status = sample_block(&candidates[i], first, length);
    }
    return status;
}

/* So many calls in a sample that it lasts as long as is wanted. */
static void lengthen_samples(candidate_t *candidates, int count, double wanted) {
    for (int i = 0; i < count; ++i) {
        candidate_t *c = &candidates[i];
        if (c->last > 0 && c->last < wanted)
            c->inner = (int64_t)ceil((double)c->inner * wanted / c->last);
    }
}

/* How many samples make a block. A sample has so many calls that NUM_BLOCKS blocks last as long as
 * is asked for, since the pauses are long beside a short product. */
static int64_t plan_blocks(candidate_t *candidates, int count, const sampling_limits_t *limits) {
    double longest = 0;
    for (int i = 0; i < count; ++i)
        longest = fmax(longest, candidates[i].last / (double)candidates[i].inner);
    int64_t length = (limits->min_samples + NUM_BLOCKS - 1) / NUM_BLOCKS;
    if (length < LONG_BLOCK && longest * NUM_BLOCKS * LONG_BLOCK <= limits->min_seconds)
        length = LONG_BLOCK;
    const double wanted = limits->min_seconds / (double)(NUM_BLOCKS * length);
    lengthen_samples(candidates, count, wanted);
    return length;
}

/* One turn of each candidate: STEADY_SAMPLES samples in its second half. */
static int sample_steady(candidate_t *candidates, int count, int64_t first, double seconds) {
    for (int i = 0; i < count; ++i) {
        candidate_t *c = &candidates[i];
        const double start = clock_seconds();
        double value = 0;
        while (clock_seconds() - start < seconds / 2) {
            const int status = interrupt_came() ? CLI_INTERRUPTED : sample(c, &value);
            if (status != CLI_OK)
                return status;
        }
        const int status = sample_block(c, first, STEADY_SAMPLES);
        if (status != CLI_OK)
            return status;
    }
    return CLI_OK;
}

static int run_steady(candidate_t *candidates, int count, double seconds, int64_t *num_samples) {
    lengthen_samples(candidates, count, seconds / 2 / STEADY_SAMPLES);
    for (int turn = 0; turn < STEADY_TURNS; ++turn) {
        int status = make_room(candidates, count, *num_samples, STEADY_SAMPLES);
        if (status == CLI_OK)
            status = sample_steady(candidates, count, *num_samples, seconds);
        if (status != CLI_OK)
            return status;
        *num_samples += STEADY_SAMPLES;
    }
    return CLI_OK;
}

int interleave_run(candidate_t *candidates, int count, const sampling_limits_t *limits,
                   int64_t *num_samples) {
    *num_samples = 0;
    for (int i = 0; i < count; ++i) {
        candidates[i].whose = i;
        const int status = warm_up(&candidates[i]);
        if (status != CLI_OK)
            return status;
    }
    if (limits->steady_seconds > 0)
        return run_steady(candidates, count, limits->steady_seconds, num_samples);
    const bool rested = limits->pause_seconds > 0 && count > 1;
    const int64_t length = rested ? plan_blocks(candidates, count, limits) : 1;
    const int64_t most = rested ? MOST_BLOCKS * length : INTERLEAVE_MAX_SAMPLES;
    const double start = clock_seconds();
    int64_t rounds = 0;
    while (rounds < most &&
           !is_enough(candidates, count, limits, rounds, clock_seconds() - start)) {
        const int64_t now =
            length < INTERLEAVE_MAX_SAMPLES - rounds ? length : INTERLEAVE_MAX_SAMPLES - rounds;
        int status = make_room(candidates, count, rounds, now);
        if (!rested)
            shuffle(candidates, count, rounds);
        if (status == CLI_OK)
            status = rested ? sample_rested(candidates, count, rounds, now, limits->pause_seconds)
                            : sample_round(candidates, count, rounds);
        if (status != CLI_OK)
            return status;
        rounds += now;
    }
    *num_samples = rounds;
    return CLI_OK;
}

void candidates_free(candidate_t *candidates, int count) {
    for (int i = 0; i < count; ++i)
        free(candidates[i].samples);
}
