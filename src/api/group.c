/* group.c - many products at once, each with a plan of its own.
 *
 * Products that one thread multiplies are shared out among the threads, the longest first, so that
 * the short ones fill what is left at the end; the others, which many threads multiply, and those
 * of a GPU run one after another.
 *
 *     time   thread 0  [product 7          ][product 2][1]
 *            thread 1  [product 4      ][product 0  ][5][3]
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "api/execution.h"
#include "base/error.h"
#include "base/fpmode.h"
#include "host/memory.h"
#include "host/pool.h"
#include "host/threads.h"
#include "problem/canonical.h"

/* One product of the group, and what it is sorted by. */
typedef struct member {
    const struct tcgemm_plan *plan;
    tcgemm_data_t data;
    int64_t index; /* as the caller counts */
} member_t;

typedef struct group {
    const tcgemm_run_options_t *options;
    member_t *shared; /* those that are shared out, the longest first */
    int64_t num_shared;
    tcgemm_workspace_t *workspaces; /* of each thread; data NULL: not taken yet */
    size_t workspace_bytes;         /* that the neediest of them needs */
    atomic_int_fast64_t failed;     /* the index of the first product that failed, or INT64_MAX */
    bool is_begun;
} group_t;

static bool is_shared_out(const struct tcgemm_plan *plan) {
    return !plan->device && plan->num_threads == 1;
}

static int compare_times(const void *left, const void *right) {
    const member_t *const x = left, *const y = right;
    const double a = x->plan->steps.seconds, b = y->plan->steps.seconds;
    if (a != b)
        return a < b ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

/* ---- the threads ---- */

static int64_t all_members(void *argument) {
    group_t *const group = argument;
    if (group->is_begun)
        return 0;
    group->is_begun = true;
    return group->num_shared;
}

static void note_failure(group_t *group, int64_t index) {
    int_fast64_t first = atomic_load(&group->failed);
    while (index < first && !atomic_compare_exchange_weak(&group->failed, &first, index))
        ;
}

static void do_member(void *argument, int thread, int64_t item) {
    group_t *const group = argument;
    const member_t *const member = &group->shared[item];
    tcgemm_workspace_t *const own = &group->workspaces[thread];
    tcgemm_run_options_t o = *group->options;
    if (!own->data && group->workspace_bytes > 0)
        *own = tcgemm_workspace_take(group->workspace_bytes);
    o.workspace = own->data;
    o.workspace_bytes = group->workspace_bytes;
    if ((group->workspace_bytes > 0 && !own->data) ||
        tcgemm_execution_run(member->plan, &member->data, &o) != TCGEMM_STATUS_OK)
        note_failure(group, member->index);
}

/* All arguments are right, so what fails is memory. */
static tcgemm_status_t run_shared(group_t *group, int num_threads) {
    if (group->num_shared == 0)
        return TCGEMM_STATUS_OK;
    group->workspaces = calloc((size_t)num_threads, sizeof *group->workspaces);
    TCGEMM_RETURN_IF(!group->workspaces, TCGEMM_STATUS_OUT_OF_MEMORY, "no memory for a group");
    qsort(group->shared, (size_t)group->num_shared, sizeof *group->shared, compare_times);
    tcgemm_pool_work(num_threads, &(tcgemm_work_t){all_members, do_member, group});
    for (int t = 0; t < num_threads; ++t)
        if (group->workspaces[t].data)
            tcgemm_workspace_give_back(group->workspaces[t]);
    free(group->workspaces);
    const int64_t failed = atomic_load(&group->failed);
    TCGEMM_RETURN_IF(failed != INT64_MAX, TCGEMM_STATUS_OUT_OF_MEMORY,
                     "no memory for product %lld of the group", (long long)failed);
    return TCGEMM_STATUS_OK;
}

/* ---- the call ---- */

static tcgemm_status_t check_group(const tcgemm_plan_t *const *plans, const tcgemm_data_t *data,
                                   int64_t count, const tcgemm_run_options_t *o) {
    TCGEMM_RETURN_IF(count < 0, TCGEMM_STATUS_BAD_ARGUMENT, "count is %lld", (long long)count);
    TCGEMM_RETURN_IF(count > 0 && !plans, TCGEMM_STATUS_BAD_ARGUMENT, "plans is NULL");
    TCGEMM_RETURN_IF(count > 0 && !data, TCGEMM_STATUS_BAD_ARGUMENT, "data is NULL");
    TCGEMM_RETURN_IF(o->num_threads < 0 || o->num_threads > TCGEMM_MAX_THREADS,
                     TCGEMM_STATUS_BAD_ARGUMENT, "num_threads is %d, not 0 .. %d", o->num_threads,
                     TCGEMM_MAX_THREADS);
    TCGEMM_RETURN_IF(o->workspace, TCGEMM_STATUS_BAD_ARGUMENT,
                     "a workspace is for a single product; a group takes its own");
    TCGEMM_RETURN_IF(o->stats, TCGEMM_STATUS_BAD_ARGUMENT, "a group has no statistics");
    return TCGEMM_STATUS_OK;
}

/* The data of product i, in an array of another version's structs, too. */
static tcgemm_status_t read_member(const tcgemm_plan_t *const *plans, const tcgemm_data_t *data,
                                   int64_t i, const tcgemm_run_options_t *o, member_t *member) {
    const size_t pitch = data->struct_size;
    member->index = i;
    member->plan = plans[i];
    TCGEMM_FORWARD(tcgemm_data_read(
        (const tcgemm_data_t *)(const void *)((const char *)data + (size_t)i * pitch),
        &member->data));
    return tcgemm_execution_check(member->plan, &member->data, o);
}

static void share_out(group_t *group, const member_t *member) {
    const size_t needed = tcgemm_plan_workspace(member->plan);
    group->shared[group->num_shared++] = *member;
    if (needed > group->workspace_bytes)
        group->workspace_bytes = needed;
}

tcgemm_status_t tcgemm_execute_group(const tcgemm_plan_t *const *plans, const tcgemm_data_t *data,
                                     int64_t count, const tcgemm_run_options_t *options) {
    TCGEMM_DEFAULT_FP_MODES;
    tcgemm_run_options_t o;
    TCGEMM_FORWARD(tcgemm_execution_options(options, &o));
    TCGEMM_FORWARD(check_group(plans, data, count, &o));
    if (count == 0)
        return TCGEMM_STATUS_OK;
    member_t *const members = malloc((size_t)count * sizeof *members);
    TCGEMM_RETURN_IF(!members, TCGEMM_STATUS_OUT_OF_MEMORY, "no memory for a group");
    group_t group = {.options = &o, .shared = members};
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    int64_t num_alone = 0; /* at the end of the array */
    atomic_init(&group.failed, INT64_MAX);
    for (int64_t i = 0; i < count && status == TCGEMM_STATUS_OK; ++i) {
        member_t member;
        status = read_member(plans, data, i, &o, &member);
        if (status == TCGEMM_STATUS_OK && is_shared_out(member.plan))
            share_out(&group, &member);
        else if (status == TCGEMM_STATUS_OK)
            members[count - ++num_alone] = member;
    }
    for (int64_t i = count; i > count - num_alone && status == TCGEMM_STATUS_OK; --i)
        status = tcgemm_execution_run(members[i - 1].plan, &members[i - 1].data, &o);
    if (status == TCGEMM_STATUS_OK)
        status = run_shared(&group, o.num_threads > 0 ? o.num_threads : tcgemm_default_threads());
    free(members);
    return status;
}
