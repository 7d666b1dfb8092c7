/* backend.h - what a back end does with a plan: the CPU, the reference, a GPU. */
#ifndef TCGEMM_PLAN_BACKEND_H
#define TCGEMM_PLAN_BACKEND_H

#include "plan/plan.h"

enum { TCGEMM_PLACE_HOST = -1 };

/* One run of a plan. Nothing of the problem is empty. */
typedef struct tcgemm_run {
    tcgemm_call_t call;
    int place;       /* of the matrices: TCGEMM_PLACE_HOST or the number of a GPU */
    void *workspace; /* tcgemm_plan_workspace() bytes at least, or NULL: the back end's own */
    void *stream;    /* of a GPU; NULL: its default one */
    bool is_async;   /* the work is queued in the stream, and nobody waits */
    tcgemm_run_stats_t *stats; /* or NULL */
} tcgemm_run_t;

typedef struct tcgemm_backend {
    /* Loads and allocates what runs of the plan would have to. */
    tcgemm_status_t (*prepare)(struct tcgemm_plan *plan);
    tcgemm_status_t (*run)(const struct tcgemm_plan *plan, const tcgemm_run_t *run);
} tcgemm_backend_t;

#endif
