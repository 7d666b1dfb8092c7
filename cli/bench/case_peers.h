/* case_peers.h - one problem of `bench`, its operands, and what the peers make of it. */
#ifndef CLI_CASE_PEERS_H
#define CLI_CASE_PEERS_H

#include <stdbool.h>

#include "bench/bench_case.h"
#include "bench/bench_plans.h"

/* The operands of a problem: on the CPU in as many copies as a cold run needs, for a GPU once here
 * and the copies there. */
typedef struct operands {
    tcgemm_problem_t problem;
    rotation_t data;
    gpu_data_t gpu;
    tcgemm_plan_t *plan; /* by which results are verified; f32's is a peer, too */
} operands_t;

typedef struct case_peer {
    peer_product_t *product;
    cublaslt_plan_t *lt;
    const char *name; /* "openblas sgemm"; NULL: it has nothing for this problem */
    const char *version;
    bool stands_in; /* computes in f32 */
} case_peer_t;

typedef struct bench_case {
    const bench_item_t *item;
    operands_t ours, f32; /* f32: for peers that stand in with their own */
    tcgemm_plan_t *plans[BENCH_MAX_PLANS];
    int num_plans;
    case_peer_t peers[BENCH_MAX_PEERS];
    int num_peers;
    candidate_t candidates[BENCH_MAX_PLANS + BENCH_MAX_PEERS];
} bench_case_t;

/* Fills the operands of `x->problem`, which was placed. Returns an exit status. */
int operands_create(const bench_t *b, operands_t *x, const bench_item_t *item);
void operands_free(operands_t *x);

/* The first result of a candidate, on `x`, of whose plan the verdict is. Returns an exit status. */
int case_judge(const bench_t *b, operands_t *x, const tcgemm_plan_t *plan,
               const candidate_t *candidate, tcgemm_verify_report_t *report);

/* Makes what the libraries need before there are operands, and so the names of the peers; cublasLt
 * is asked later. */
int case_peers_name(const bench_t *b, bench_case_t *bc);

/* The rest of the peers, with a candidate each behind those of `bc->num_plans` plans. A peer whose
 * result is wrong is told and left out. Returns an exit status. */
int case_peers_add(const bench_t *b, bench_case_t *bc);

/* The peers that a row can be measured beside; of them the one with the least median, if it
 * computes the problem's type or all of them stand in. -1: none. */
int case_peers_best(const bench_case_t *bc, int64_t num_samples);

void case_peers_free(bench_case_t *bc);

#endif
