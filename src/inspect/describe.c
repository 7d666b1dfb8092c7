/* describe.c - a plan as a struct, as a page of text and as JSON: three views of the one value that
 * the run uses. Its drawings are made in draw/. */
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/fpmode.h"
#include "base/num.h"
#include "base/struct.h"
#include "base/text.h"
#include "cpu/gemm.h"
#include "cpu/kernels/ukernel.h"
#include "gpu/gpu_row.h"
#include "plan/plan.h"

/* ---- the struct ---- */

/* m and n are canonical; the caller's are the other way round if the plan swapped A and B. */
static void add_level(const struct tcgemm_plan *plan, tcgemm_plan_info_t *info, const char *name,
                      const char *home, int64_t m, int64_t n, int64_t k) {
    const tcgemm_canonical_t *g = &plan->g;
    int64_t count = ceil_div(g->m, m);
    if (__builtin_mul_overflow(count, ceil_div(g->n, n), &count) ||
        __builtin_mul_overflow(count, k ? ceil_div(g->k, k) : 0, &count))
        count = INT64_MAX; /* a problem that fits the address space may have more tiles */
    info->levels[info->num_levels++] = (tcgemm_level_t){
        .name = name,
        .home = home,
        .m = g->swapped ? n : m,
        .n = g->swapped ? m : n,
        .k = k,
        .count = count,
    };
}

static size_t matrix_bytes(int64_t rows, int64_t cols, tcgemm_dtype_t dtype) {
    return (size_t)(((double)rows * (double)cols * tcgemm_dtype_bits(dtype) + 7.0) / 8.0);
}

static void describe_cpu(const struct tcgemm_plan *plan, tcgemm_plan_info_t *info) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_blocking_t *s = &plan->cpu;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    if (g->m == 0 || g->n == 0)
        return;
    const int64_t mt = min_i64(s->mt, g->m);
    const int64_t nc = min_i64(s->nc, g->n);
    const int64_t mc = min_i64(s->mc, mt);
    const int64_t nb = min_i64(s->nb, nc);
    const int64_t kc = min_i64(s->kc, g->k);
    add_level(plan, info, "problem", "memory", g->m, g->n, g->k);
    add_level(plan, info, "panel", "L3", mt, nc, kc);
    add_level(plan, info, "block", "L2", mc, nb, kc);
    add_level(plan, info, "register tile", "registers", u->mr, u->nr, u->ku);
    info->num_blocks =
        ceil_div(g->m, mt) * ceil_div(g->n, nc) * ceil_div(mt, mc) * ceil_div(nc, nb);
    const int64_t padded_m = round_up(g->m, u->mr);
    const int64_t padded_n = round_up(g->n, u->nr);
    info->padded_m = g->swapped ? padded_n : padded_m;
    info->padded_n = g->swapped ? padded_m : padded_n;
    info->padded_k = round_up(g->k, u->ku);
    const tcgemm_cpu_sizes_t sizes = tcgemm_cpu_sizes(plan);
    info->packed_a_bytes = g->swapped ? sizes.packed_b_bytes : sizes.packed_a_bytes;
    info->packed_b_bytes = g->swapped ? sizes.packed_a_bytes : sizes.packed_b_bytes;
}

static void describe_gpu(const struct tcgemm_plan *plan, tcgemm_plan_info_t *info) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_gpu_row_t *row = plan->kernel->gpu;
    const tcgemm_gpu_launch_t *launch = &tcgemm_plan_product(plan)->gpu;
    info->device = plan->device->name;
    info->device_index = plan->device->index;
    info->grid_blocks = launch->grid_blocks;
    info->threads_per_block = row->threads;
    info->registers_per_thread = launch->registers;
    info->smem_bytes = launch->smem_bytes;
    info->blocks_per_sm = launch->blocks_per_sm;
    info->stages = row->smem_bytes ? row->stages : 0;
    info->raster_group = (int)launch->raster_group;
    info->is_persistent = row->persistent;
    if (g->m == 0 || g->n == 0)
        return;
    const bool tensor = plan->g.type->type != TCGEMM_F32_F32;
    add_level(plan, info, "problem", "memory", g->m, g->n, g->k);
    add_level(plan, info, "block", row->smem_bytes ? "shared memory" : "L2", row->bm, row->bn,
              row->bk);
    add_level(plan, info, tensor && row->tensor_maps ? "warpgroup" : "warp", "registers", row->wm,
              row->wn, row->ik);
    add_level(plan, info, tensor ? "instruction" : "thread", tensor ? "tensor core" : "registers",
              row->im, row->in, row->ik);
    const int64_t tiles_m = ceil_div(g->m, row->bm);
    const int64_t tiles_n = ceil_div(g->n, row->bn);
    info->num_blocks = tiles_m * tiles_n;
    info->padded_m = g->swapped ? tiles_n * row->bn : tiles_m * row->bm;
    info->padded_n = g->swapped ? tiles_m * row->bm : tiles_n * row->bn;
    info->padded_k = round_up(g->k, row->bk);
}

tcgemm_status_t tcgemm_plan_get_info(const tcgemm_plan_t *plan, tcgemm_plan_info_t *info) {
    TCGEMM_DEFAULT_FP_MODES;
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    TCGEMM_FORWARD(tcgemm_struct_check("info", info, sizeof(tcgemm_plan_info_t)));
    const tcgemm_problem_t *p = &plan->problem;
    const tcgemm_type_info_t *type = plan->g.type;
    tcgemm_plan_info_t filled = {
        .struct_size = sizeof filled,
        .algo = plan->kernel->family->algo,
        .kernel = plan->kernel->name,
        .device = "cpu",
        .device_index = TCGEMM_DEVICE_CPU,
        .reason = plan->reason,
        .num_threads = plan->num_threads,
        .num_blocks = 1,
        .padded_m = p->m,
        .padded_n = p->n,
        .padded_k = p->k,
        .a_bytes = matrix_bytes(p->m, p->k, type->a),
        .b_bytes = matrix_bytes(p->k, p->n, type->b),
        .c_bytes = matrix_bytes(p->m, p->n, type->d),
        .d_bytes = matrix_bytes(p->m, p->n, type->d),
        .workspace_bytes = tcgemm_plan_workspace(plan),
        .predicted_seconds = plan->steps.seconds,
        .error_unit = tcgemm_plan_sum_unit(plan),
        .error_bound = tcgemm_bound_text(plan->kernel->bound),
        .packed_bytes = plan->packs ? plan->steps.step[0].written_bytes : 0,
    };
    if (plan->kernel->cpu)
        describe_cpu(plan, &filled);
    else if (plan->kernel->gpu)
        describe_gpu(plan, &filled);
    else if (p->m > 0 && p->n > 0)
        add_level(plan, &filled, "problem", "memory", plan->g.m, plan->g.n, plan->g.k);
    tcgemm_struct_write(info, &filled, sizeof filled);
    return TCGEMM_STATUS_OK;
}

/* ---- text and JSON ---- */

static const char *op_name(tcgemm_op_t op, const char *name) {
    static const char *const transposed[] = {"A^T", "B^T"};
    return op == TCGEMM_OP_T ? transposed[name[0] - 'A'] : name;
}

/* A line for each step, if there are more than the product. */
static void write_steps(tcgemm_text_t *t, const tcgemm_plan_t *plan) {
    tcgemm_step_info_t s = {.struct_size = sizeof s};
    const int count = tcgemm_plan_step_count(plan);
    for (int i = 0; count > 1 && i < count; ++i) {
        (void)tcgemm_plan_get_step(plan, i, &s);
        tcgemm_text_add(t, "%-10s %-8s %s%s%s -> %s, %.3g s", i ? "" : "steps", s.name, s.reads[0],
                        s.reads[1] ? ", " : "", s.reads[1] ? s.reads[1] : "", s.writes, s.seconds);
        if (s.splits > 1)
            tcgemm_text_add(t, "; %lld parts of k", (long long)s.splits);
        if (s.rows > 0 && s.rows < plan->problem.m)
            tcgemm_text_add(t, "; rows %lld .. %lld", (long long)s.row,
                            (long long)(s.row + s.rows - 1));
        if (s.cols > 0 && s.cols < plan->problem.n)
            tcgemm_text_add(t, "; columns %lld .. %lld", (long long)s.col,
                            (long long)(s.col + s.cols - 1));
        tcgemm_text_add(t, "\n");
    }
}

static void write_steps_json(tcgemm_text_t *t, const tcgemm_plan_t *plan) {
    tcgemm_step_info_t s = {.struct_size = sizeof s};
    tcgemm_text_add(t, "\"steps\":[");
    for (int i = 0; i < tcgemm_plan_step_count(plan); ++i) {
        (void)tcgemm_plan_get_step(plan, i, &s);
        tcgemm_text_add(t, "%s{\"name\":\"%s\",\"reads\":[\"%s\"", i ? "," : "", s.name,
                        s.reads[0]);
        if (s.reads[1])
            tcgemm_text_add(t, ",\"%s\"", s.reads[1]);
        tcgemm_text_add(t, "],\"writes\":\"%s\",\"splits\":%lld,\"written_bytes\":%zu,", s.writes,
                        (long long)s.splits, s.written_bytes);
        if (s.rows > 0)
            tcgemm_text_add(t, "\"row\":%lld,\"rows\":%lld,\"col\":%lld,\"cols\":%lld,",
                            (long long)s.row, (long long)s.rows, (long long)s.col,
                            (long long)s.cols);
        tcgemm_text_add(t, "\"seconds\":%.6g}", s.seconds);
    }
    tcgemm_text_add(t, "],");
}

/* The blocks of a launch. */
static void write_launch(tcgemm_text_t *t, const tcgemm_plan_t *plan, const tcgemm_plan_info_t *i) {
    const tcgemm_step_t *product = tcgemm_plan_product(plan);
    tcgemm_text_add(t, "launch     %lld blocks of %d threads", (long long)i->grid_blocks,
                    i->threads_per_block);
    if (product->ranks > 1)
        tcgemm_text_add(t, ", in clusters of %d that share k", product->ranks);
    if (product->in_pairs)
        tcgemm_text_add(t, ", in pairs that share %s", plan->g.swapped ? "A" : "B");
    tcgemm_text_add(t, ", %d an SM; %d registers a thread, %zu bytes of shared memory a block\n",
                    i->blocks_per_sm, i->registers_per_thread, i->smem_bytes);
}

static void write_text(tcgemm_text_t *t, const tcgemm_plan_t *plan, const tcgemm_plan_info_t *i) {
    const tcgemm_problem_t *p = &plan->problem;
    tcgemm_text_add(
        t, "D = alpha * %s * %s + beta * C   %s, %s-major, m %lld, n %lld, k %lld, batch %lld\n",
        op_name(p->op_a, "A"), op_name(p->op_b, "B"), tcgemm_type_info(p->type)->name,
        p->order == TCGEMM_ROW_MAJOR ? "row" : "column", (long long)p->m, (long long)p->n,
        (long long)p->k, (long long)p->batch);
    tcgemm_text_add(t, "kernel     %s (algo %s, device %s): %s\n", i->kernel, i->algo, i->device,
                    i->reason);
    if (i->device_index == TCGEMM_DEVICE_CPU)
        tcgemm_text_add(t, "threads    %d, %lld blocks\n", i->num_threads,
                        (long long)i->num_blocks);
    else
        write_launch(t, plan, i);
    for (int l = 0; l < i->num_levels; ++l)
        tcgemm_text_add(t, "%-10s %-14s %8lld x %8lld x %8lld   %lld of them, in %s\n",
                        l ? "" : "tiles", i->levels[l].name, (long long)i->levels[l].m,
                        (long long)i->levels[l].n, (long long)i->levels[l].k,
                        (long long)i->levels[l].count, i->levels[l].home);
    tcgemm_text_add(t, "padded     %lld x %lld x %lld\n", (long long)i->padded_m,
                    (long long)i->padded_n, (long long)i->padded_k);
    tcgemm_text_add(t, "packing    A %zu bytes, B %zu bytes; workspace %zu bytes\n",
                    i->packed_a_bytes, i->packed_b_bytes, i->workspace_bytes);
    write_steps(t, plan);
    tcgemm_text_add(t, "predicted  %.3g s\n", i->predicted_seconds);
    tcgemm_text_add(t, "error      %s, u = %.3g\n", i->error_bound, i->error_unit);
}

static void write_json(tcgemm_text_t *t, const tcgemm_plan_t *plan, const tcgemm_plan_info_t *i) {
    const tcgemm_problem_t *p = &plan->problem;
    tcgemm_text_add(t, "{\"schema\":\"tcgemm.plan/1\",\"type\":\"%s\",\"order\":\"%s\",",
                    tcgemm_type_info(p->type)->name, p->order == TCGEMM_ROW_MAJOR ? "row" : "col");
    tcgemm_text_add(
        t, "\"trans_a\":%s,\"trans_b\":%s,\"m\":%lld,\"n\":%lld,\"k\":%lld,\"batch\":%lld,",
        p->op_a ? "true" : "false", p->op_b ? "true" : "false", (long long)p->m, (long long)p->n,
        (long long)p->k, (long long)p->batch);
    tcgemm_text_add(t, "\"algo\":\"%s\",\"kernel\":\"%s\",\"device\":\"%s\",\"reason\":\"%s\",",
                    i->algo, i->kernel, i->device, i->reason);
    tcgemm_text_add(t, "\"num_threads\":%d,\"num_blocks\":%lld,\"levels\":[", i->num_threads,
                    (long long)i->num_blocks);
    for (int l = 0; l < i->num_levels; ++l)
        tcgemm_text_add(
            t,
            "%s{\"name\":\"%s\",\"home\":\"%s\",\"m\":%lld,\"n\":%lld,\"k\":%lld,\"count\":%lld}",
            l ? "," : "", i->levels[l].name, i->levels[l].home, (long long)i->levels[l].m,
            (long long)i->levels[l].n, (long long)i->levels[l].k, (long long)i->levels[l].count);
    tcgemm_text_add(t, "],\"padded_m\":%lld,\"padded_n\":%lld,\"padded_k\":%lld,",
                    (long long)i->padded_m, (long long)i->padded_n, (long long)i->padded_k);
    tcgemm_text_add(t, "\"a_bytes\":%zu,\"b_bytes\":%zu,\"c_bytes\":%zu,\"d_bytes\":%zu,",
                    i->a_bytes, i->b_bytes, i->c_bytes, i->d_bytes);
    tcgemm_text_add(t, "\"packed_a_bytes\":%zu,\"packed_b_bytes\":%zu,\"workspace_bytes\":%zu,",
                    i->packed_a_bytes, i->packed_b_bytes, i->workspace_bytes);
    if (i->device_index != TCGEMM_DEVICE_CPU)
        tcgemm_text_add(t,
                        "\"grid_blocks\":%lld,\"threads_per_block\":%d,\"registers_per_thread\":%d,"
                        "\"smem_bytes\":%zu,\"blocks_per_sm\":%d,",
                        (long long)i->grid_blocks, i->threads_per_block, i->registers_per_thread,
                        i->smem_bytes, i->blocks_per_sm);
    write_steps_json(t, plan);
    tcgemm_text_add(t, "\"predicted_seconds\":%.6g,\"error_unit\":%.17g,\"error_bound\":\"%s\"}",
                    i->predicted_seconds, i->error_unit, i->error_bound);
}

size_t tcgemm_plan_describe(const tcgemm_plan_t *plan, tcgemm_format_t format, char *buffer,
                            size_t size) {
    tcgemm_plan_info_t info;
    info.struct_size = sizeof info;
    if (format != TCGEMM_FORMAT_TEXT && format != TCGEMM_FORMAT_JSON) {
        const tcgemm_draw_options_t options = tcgemm_draw_options(format);
        return tcgemm_plan_draw(plan, &options, buffer, size);
    }
    if (tcgemm_plan_get_info(plan, &info) != TCGEMM_STATUS_OK)
        return 0;
    tcgemm_text_t t;
    tcgemm_text_begin(&t, buffer, size);
    if (format == TCGEMM_FORMAT_JSON)
        write_json(&t, plan, &info);
    else
        write_text(&t, plan, &info);
    return tcgemm_text_end(&t);
}
