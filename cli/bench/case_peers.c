/* case_peers.c - operands, judgement, peers. */
#include "bench/case_peers.h"

#include <stdlib.h>
#include <string.h>

#include "files/layout.h"
#include "measure/statistics.h"
#include "support/exit_status.h"
#include "support/message.h"

static const char f32_name[] = "tcgemm f32_f32";

/* A peer may round more coarsely than we promise; what is so far beyond our bound is another
 * product. */
static const double wrong_from = 100;

/* ---- operands ---- */

/* cuBLAS may cut what it takes as tf32 instead of rounding it; elements that are tf32 already meet
 * both alike. */
static void make_tf32(const tcgemm_problem_t *p, char operand, void *data) {
    const layout_t x = layout_of(p, operand);
    unsigned char *at = data;
    for (int64_t i = 0; i < x.elements; ++i, at += sizeof(uint32_t)) {
        uint32_t bits;
        memcpy(&bits, at, sizeof bits);
        bits &= 0xFFFFE000u;
        memcpy(at, &bits, sizeof bits);
    }
}

int operands_create(const bench_t *b, operands_t *x, const bench_item_t *item) {
    const settings_t *s = b->settings;
    const double bytes = item->cold ? b->cold_bytes : 0;
    int status = rotation_create(&x->data, &x->problem, (uint64_t)s->seed, item->beta != 0,
                                 bench_is_on_gpu(b) ? 0 : bytes);
    if (status != CLI_OK || !bench_is_on_gpu(b))
        return status;
    if (x->problem.type == TCGEMM_TF32_F32) {
        make_tf32(&x->problem, 'A', x->data.copies[0].a);
        make_tf32(&x->problem, 'B', x->data.copies[0].b);
    }
    return gpu_data_create(&x->gpu, b->device, &x->data.copies[0], bytes);
}

void operands_free(operands_t *x) {
    tcgemm_plan_destroy(x->plan);
    gpu_data_free(&x->gpu);
    rotation_free(&x->data);
}

/* ---- judgement ---- */

/* D of the first copy as no run has left it; on the CPU all work in place, as CBLAS does, and find
 * C there. */
static int mark(const bench_t *b, operands_t *x, const candidate_t *candidate) {
    workload_t *w = &x->data.copies[0];
    x->data.next = 0;
    x->gpu.next = 0;
    if (bench_is_on_gpu(b))
        return gpu_data_mark(&x->gpu, w);
    workload_reset(w);
    if (candidate->beta != 0)
        memcpy(w->d, w->c, layout_of(&x->problem, 'D').bytes);
    return CLI_OK;
}

static int run_on_gpu(const bench_t *b, operands_t *x, const candidate_t *candidate) {
    double seconds;
    const bool started = gpu_clock_start(b->clock);
    const int status = candidate_call(candidate);
    if (status != CLI_OK)
        return status;
    if (!gpu_clock_stop(b->clock, &seconds) || !started)
        return message_fail(CLI_NO_DEVICE, "the GPU failed in a product");
    return gpu_data_fetch(&x->gpu, &x->data.copies[0]);
}

int case_judge(const bench_t *b, operands_t *x, const tcgemm_plan_t *plan,
               const candidate_t *candidate, tcgemm_verify_report_t *report) {
    const settings_t *s = b->settings;
    const workload_t *w = &x->data.copies[0];
    int status = mark(b, x, candidate);
    if (status == CLI_OK)
        status = bench_is_on_gpu(b) ? run_on_gpu(b, x, candidate) : candidate_call(candidate);
    if (status != CLI_OK)
        return status;
    const tcgemm_status_t judged =
        tcgemm_verify(plan, candidate->alpha, w->a, w->b, candidate->beta, w->c, w->d,
                      TCGEMM_VERIFY_SAMPLE, (uint64_t)s->seed, report);
    return judged == TCGEMM_STATUS_OK ? CLI_OK : message_library(judged);
}

/* ---- peers ---- */

static void take_product(case_peer_t *peer, const bench_t *b, const bench_case_t *bc,
                         peer_t *library) {
    peer->product = peer_product(library, &bc->ours.problem, b->settings->alpha, bc->item->beta);
    if (!peer->product)
        return;
    peer->name = peer_product_label(peer->product);
    peer->version = peer_version(library);
    peer->stands_in = peer_product_problem(peer->product)->type != bc->ours.problem.type;
}

int case_peers_name(const bench_t *b, bench_case_t *bc) {
    for (int i = 0; i < b->peers.count; ++i) {
        const bench_peer_t *from = &b->peers.values[i];
        case_peer_t *peer = &bc->peers[bc->num_peers++];
        *peer = (case_peer_t){.name = NULL};
        if (from->library)
            take_product(peer, b, bc, from->library);
        else if (!from->lt)
            *peer = (case_peer_t){.name = f32_name, .stands_in = true};
    }
    return CLI_OK;
}

/* The operands of f32 and a plan for them, once for all that stand in. */
static int make_f32(const bench_t *b, bench_case_t *bc) {
    if (bc->f32.plan)
        return CLI_OK;
    tcgemm_problem_t *p = &bc->f32.problem;
    *p = bc->ours.problem;
    p->type = TCGEMM_F32_F32;
    p->flags &= TCGEMM_FLAG_REPRODUCIBLE;
    tcgemm_status_t status = layout_place(p, bc->item->pad);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_plan_create(b->context, p, NULL, &bc->f32.plan);
    return status == TCGEMM_STATUS_OK ? operands_create(b, &bc->f32, bc->item)
                                      : message_library(status);
}

/* A candidate of the peer, judged: a wrong description of the problem would be a wrong comparison.
 */
static int add_candidate(const bench_t *b, bench_case_t *bc, case_peer_t *peer, operands_t *x,
                         candidate_t *candidate) {
    const tcgemm_problem_t *p = &bc->ours.problem;
    tcgemm_verify_report_t report = {.struct_size = sizeof report};
    *candidate = (candidate_t){.plan = peer->product || peer->lt ? NULL : x->plan,
                               .peer = peer->product,
                               .lt = peer->lt,
                               .data = &x->data,
                               .clock = b->clock,
                               .gpu = &x->gpu,
                               .alpha = b->settings->alpha,
                               .beta = bc->item->beta};
    const int status =
        case_judge(b, x, x == &bc->ours ? bc->plans[0] : x->plan, candidate, &report);
    if (status != CLI_OK || report.num_wrong == 0)
        return status;
    const bool wrong = !(report.max_ratio <= wrong_from);
    message_note("%s is %s for %s %lld x %lld x %lld%s: %.3g of it", peer->name,
                 wrong ? "WRONG, far beyond our bound," : "beyond our bound",
                 tcgemm_type_info(p->type)->name, (long long)p->m, (long long)p->n, (long long)p->k,
                 wrong ? ", and is not timed" : "", report.max_ratio);
    if (wrong)
        peer->name = NULL;
    return CLI_OK;
}

static int add_peer(const bench_t *b, bench_case_t *bc, int index, candidate_t *candidate) {
    const bench_peer_t *from = &b->peers.values[index];
    case_peer_t *peer = &bc->peers[index];
    operands_t *x = peer->stands_in ? &bc->f32 : &bc->ours;
    if (from->lt) {
        peer->lt = cublaslt_plan(from->lt, &bc->ours.problem, b->settings->alpha, bc->item->beta,
                                 &bc->ours.gpu.sets[0]);
        peer->name = peer->lt ? "cublaslt" : NULL;
        peer->version = cublaslt_version(from->lt);
    }
    if (!peer->name)
        return CLI_OK;
    const int status = peer->stands_in ? make_f32(b, bc) : CLI_OK;
    return status == CLI_OK ? add_candidate(b, bc, peer, x, candidate) : status;
}

int case_peers_add(const bench_t *b, bench_case_t *bc) {
    int kept = 0;
    for (int i = 0; i < bc->num_peers; ++i) {
        candidate_t *candidate = &bc->candidates[bc->num_plans + kept];
        const int status = add_peer(b, bc, i, candidate);
        if (status != CLI_OK)
            return status;
        if (bc->peers[i].name) {
            const case_peer_t peer = bc->peers[i];
            bc->peers[i] = bc->peers[kept];
            bc->peers[kept++] = peer;
        }
    }
    for (int i = kept; i < bc->num_peers; ++i) {
        peer_product_free(bc->peers[i].product);
        cublaslt_plan_free(bc->peers[i].lt);
    }
    bc->num_peers = kept;
    return CLI_OK;
}

int case_peers_best(const bench_case_t *bc, int64_t num_samples) {
    int best = -1;
    double least = 0;
    for (int i = 0; i < bc->num_peers; ++i) {
        const double *samples = bc->candidates[bc->num_plans + i].samples;
        const double median = statistics_summarize(samples, num_samples).median;
        const bool own = best < 0 || (bc->peers[best].stands_in && !bc->peers[i].stands_in);
        const bool alike = best >= 0 && bc->peers[best].stands_in == bc->peers[i].stands_in;
        if (own || (alike && median < least)) {
            best = i;
            least = median;
        }
    }
    return best;
}

void case_peers_free(bench_case_t *bc) {
    for (int i = 0; i < bc->num_peers; ++i) {
        peer_product_free(bc->peers[i].product);
        cublaslt_plan_free(bc->peers[i].lt);
    }
    bc->num_peers = 0;
}
