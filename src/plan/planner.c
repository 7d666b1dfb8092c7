/* planner.c - scores the rows of the kernel table and cuts the problem into blocks for the best.
 *
 * On the CPU the row depends on the type and the processor alone, its blocks and threads on
 * cpu_model.c; on a GPU the row is the one of least time by gpu_model.c.
 */
#include "plan/planner.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cpu/gemm.h"
#include "plan/cpu_model.h"
#include "plan/gpu_launch.h"
#include "plan/gpu_model.h"
#include "table/gpu_row.h"

/* ---- the choice ---- */

/* GPU rows belong to a device, the others to the CPU. */
static bool has_place(const tcgemm_kernel_t *kernel, const tcgemm_device_t *device) {
    return (kernel->gpu != NULL) == (device != NULL);
}

/* A row that accumulates in f16 serves the flag and nothing else; if a family has such rows, the
 * flag takes them first (find_best). */
static bool does_type(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g) {
    if (!(kernel->types & TCGEMM_TYPE_BIT(g->type->type)))
        return false;
    return !kernel->gpu || !tcgemm_gpu_row_sums_f16(kernel->gpu) ||
           (g->flags & TCGEMM_FLAG_F16_ACCUMULATE) != 0;
}

static bool fits(const tcgemm_kernel_t *kernel, const tcgemm_device_t *device) {
    return kernel->gpu ? tcgemm_gpu_row_fits(kernel->gpu, device)
                       : tcgemm_kernel_is_runnable(kernel);
}

void tcgemm_plan_with(const tcgemm_kernel_t *kernel, int max_threads, struct tcgemm_plan *plan) {
    plan->kernel = kernel;
    plan->max_threads = max_threads;
    plan->workspace_bytes = 0;
    if (kernel->gpu && plan->device) { /* has_place: they come together */
        plan->num_threads = max_threads;
        plan->gpu.raster_group = tcgemm_gpu_raster_group(kernel->gpu, &plan->g, plan->device);
        plan->predicted_seconds = tcgemm_gpu_predict(kernel->gpu, &plan->g, plan->device);
        if (plan->device->index == TCGEMM_DEVICE_KNOWN)
            tcgemm_gpu_sketch(plan);
        return;
    }
    plan->predicted_seconds = tcgemm_cpu_plan(plan, max_threads).total;
    if (kernel->cpu)
        plan->workspace_bytes = tcgemm_cpu_sizes(plan).workspace_bytes;
}

bool tcgemm_plan_can_use(const struct tcgemm_plan *plan, const tcgemm_kernel_t *kernel) {
    return (kernel->cpu || kernel->gpu) && has_place(kernel, plan->device) &&
           does_type(kernel, &plan->g) && fits(kernel, plan->device);
}

static tcgemm_status_t find_named(const char *name, struct tcgemm_plan *plan,
                                  const tcgemm_kernel_t **kernel) {
    for (int i = 0; i < tcgemm_num_kernels; ++i) {
        *kernel = &tcgemm_kernels[i];
        if (strcmp((*kernel)->name, name) != 0)
            continue;
        TCGEMM_RETURN_IF(!does_type(*kernel, &plan->g), TCGEMM_STATUS_UNSUPPORTED,
                         (*kernel)->types & TCGEMM_TYPE_BIT(plan->g.type->type)
                             ? "kernel %s accumulates in f16: type %s needs "
                               "TCGEMM_FLAG_F16_ACCUMULATE for it"
                             : "kernel %s does not compute type %s",
                         name, plan->g.type->name);
        TCGEMM_RETURN_IF(!has_place(*kernel, plan->device), TCGEMM_STATUS_UNSUPPORTED,
                         "kernel %s runs on %s, but the context is for %s", name,
                         (*kernel)->gpu ? "a GPU" : "the CPU", plan->device ? "a GPU" : "the CPU");
        TCGEMM_RETURN_IF(!fits(*kernel, plan->device), TCGEMM_STATUS_UNSUPPORTED,
                         "kernel %s needs %s, which this %s lacks", name, (*kernel)->isa,
                         plan->device ? "GPU" : "processor");
        return TCGEMM_STATUS_OK;
    }
    return tcgemm_error_set(TCGEMM_STATUS_UNKNOWN_ALGO,
                            "unknown kernel '%.60s'; `tcgemm list` shows them", name);
}

/* ---- tiles by their names ---- */

enum { TILE_TEXT = 48 };

/* The tile of a row as plan_options.tile names it, m and n the caller's way round. */
static void tile_text(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g,
                      char text[TILE_TEXT]) {
    const tcgemm_gpu_row_t *row = kernel->gpu;
    const bool instruction = row && row->by_instruction;
    const int m = instruction ? row->im : kernel->mr;
    const int n = instruction ? row->in : kernel->nr;
    (void)snprintf(text, TILE_TEXT, "%dx%dx%d", g->swapped ? n : m, g->swapped ? m : n,
                   instruction ? row->ik : kernel->ku);
}

static bool has_tile(const tcgemm_kernel_t *kernel, const tcgemm_canonical_t *g, const char *tile) {
    char text[TILE_TEXT];
    tile_text(kernel, g, text);
    return !tile || strcmp(text, tile) == 0;
}

/* ---- families ---- */

typedef struct wanted {
    const char *algo; /* "auto": any fast one */
    const char *tile; /* NULL: any */
} wanted_t;

static bool is_wanted(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan, wanted_t w) {
    const bool any = strcmp(w.algo, "auto") == 0 && (row->cpu || row->gpu);
    return (any || strcmp(row->algo, w.algo) == 0) && has_place(row, plan->device) &&
           does_type(row, &plan->g);
}

/* Appends ", text" to a list unless it is there already. */
static void list(char *buffer, size_t size, const char *text) {
    const size_t length = strlen(text);
    for (const char *at = buffer; (at = strstr(at, text)) != NULL; at += length)
        if ((at == buffer || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
            return;
    const size_t used = strlen(buffer);
    (void)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "", text);
}

static tcgemm_status_t unknown_algo(const char *algo) {
    char known[256] = "auto, cpu, reference";
    for (int i = 0; i < tcgemm_num_kernels; ++i)
        list(known, sizeof known, tcgemm_kernels[i].algo);
    return tcgemm_error_set(TCGEMM_STATUS_UNKNOWN_ALGO, "unknown algo '%.60s'; known are %s", algo,
                            known);
}

/* Why no row will do: wrong tile, wrong place, wrong type, wrong machine. */
static tcgemm_status_t no_row(const struct tcgemm_plan *plan, wanted_t w) {
    const char *const type = plan->g.type->name;
    char tiles[320] = "";
    bool is_known = strcmp(w.algo, "auto") == 0;
    bool is_elsewhere = false;
    for (int i = 0; i < tcgemm_num_kernels; ++i) {
        const tcgemm_kernel_t *row = &tcgemm_kernels[i];
        if (strcmp(row->algo, w.algo) == 0) {
            is_known = true;
            is_elsewhere = !has_place(row, plan->device);
        }
        char text[TILE_TEXT];
        tile_text(row, &plan->g, text);
        if (is_wanted(row, plan, w) && fits(row, plan->device))
            list(tiles, sizeof tiles, text);
    }
    if (!is_known)
        return unknown_algo(w.algo);
    TCGEMM_RETURN_IF(is_elsewhere, TCGEMM_STATUS_UNSUPPORTED,
                     "algo %s runs on %s, but the context is for %s", w.algo,
                     plan->device ? "the CPU" : "a GPU", plan->device ? "a GPU" : "the CPU");
    TCGEMM_RETURN_IF(w.tile && tiles[0], TCGEMM_STATUS_UNSUPPORTED,
                     "algo %s has no tile '%.40s' for type %s; it has %s", w.algo, w.tile, type,
                     tiles);
    return tcgemm_error_set(TCGEMM_STATUS_UNSUPPORTED,
                            "algo %s has no kernel for type %s on this %s", w.algo, type,
                            plan->device ? "GPU" : "processor");
}

static bool is_faster(const tcgemm_kernel_t *row, const tcgemm_kernel_t *than,
                      const struct tcgemm_plan *plan) {
    /* Of equals the later row: the table goes from the general to the special. */
    if (!row->gpu)
        return row->macs_per_cycle >= than->macs_per_cycle;
    /* Who allows sums in f16 gets them from the family that has them. */
    const bool sums_f16 = tcgemm_gpu_row_sums_f16(row->gpu);
    if (sums_f16 != tcgemm_gpu_row_sums_f16(than->gpu) && strcmp(row->algo, than->algo) == 0)
        return sums_f16;
    return tcgemm_gpu_predict(row->gpu, &plan->g, plan->device) <
           tcgemm_gpu_predict(than->gpu, &plan->g, plan->device);
}

/* The fastest row of the family by the model; the reference only if it is asked for. */
static const tcgemm_kernel_t *find_best(const struct tcgemm_plan *plan, wanted_t w) {
    const tcgemm_kernel_t *best = NULL;
    for (int i = 0; i < tcgemm_num_kernels; ++i) {
        const tcgemm_kernel_t *row = &tcgemm_kernels[i];
        if (is_wanted(row, plan, w) && fits(row, plan->device) && has_tile(row, &plan->g, w.tile) &&
            (!best || is_faster(row, best, plan)))
            best = row;
    }
    return best;
}

static tcgemm_status_t choose(const tcgemm_plan_options_t *options, struct tcgemm_plan *plan,
                              const tcgemm_kernel_t **kernel) {
    const wanted_t w = {options && options->algo ? options->algo : "auto",
                        options ? options->tile : NULL};
    plan->reason = plan->device
                       ? "least time by the model among the kernels for this type and GPU"
                       : "most multiply-adds a cycle among the kernels for this type and processor";
    *kernel = find_best(plan, w);
    if (*kernel)
        return TCGEMM_STATUS_OK;
    if (plan->device && strcmp(w.algo, "wmma-shared") == 0 && !w.tile) {
        const wanted_t direct = {"wmma-direct", NULL};
        *kernel = find_best(plan, direct);
        plan->reason = "wmma-shared has no kernel for this type that fits into this GPU's shared "
                       "memory, so wmma-direct takes its place";
        if (*kernel)
            return TCGEMM_STATUS_OK;
    }
    return no_row(plan, w);
}

/* True if a row that the options name by algorithm or kernel runs there. */
static bool wants(const tcgemm_plan_options_t *options, bool gpu) {
    if (!options || options->struct_size != sizeof *options)
        return false;
    for (int i = 0; i < tcgemm_num_kernels; ++i) {
        const tcgemm_kernel_t *row = &tcgemm_kernels[i];
        if ((row->gpu != NULL) == gpu &&
            (options->kernel ? strcmp(options->kernel, row->name) == 0
                             : options->algo && strcmp(options->algo, row->algo) == 0))
            return true;
    }
    return false;
}

bool tcgemm_plan_wants_gpu(const tcgemm_plan_options_t *options) {
    return wants(options, true);
}

bool tcgemm_plan_wants_cpu(const tcgemm_plan_options_t *options) {
    return wants(options, false);
}

tcgemm_status_t tcgemm_plan_make_on(const tcgemm_device_t *device, const tcgemm_problem_t *problem,
                                    const tcgemm_plan_options_t *options, int threads,
                                    struct tcgemm_plan *plan) {
    memset(plan, 0, sizeof *plan);
    TCGEMM_FORWARD(tcgemm_canonicalize(problem, &plan->g));
    TCGEMM_RETURN_IF(options && options->struct_size != sizeof *options, TCGEMM_STATUS_BAD_ARGUMENT,
                     "options->struct_size is %zu, expected %zu: build it with "
                     "tcgemm_plan_options()",
                     options->struct_size, sizeof *options);
    TCGEMM_FORWARD(tcgemm_problem_read(problem, &plan->problem));
    plan->device = device;
    const tcgemm_kernel_t *kernel = NULL;
    if (options && options->kernel) {
        TCGEMM_FORWARD(find_named(options->kernel, plan, &kernel));
        plan->reason = "asked for by name";
    } else {
        TCGEMM_FORWARD(choose(options, plan, &kernel));
    }
    TCGEMM_RETURN_IF(!kernel, TCGEMM_STATUS_INTERNAL, "no kernel was chosen and nobody said why");
    tcgemm_plan_with(kernel, threads, plan);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_plan_make(const tcgemm_problem_t *problem,
                                 const tcgemm_plan_options_t *options, int max_threads,
                                 struct tcgemm_plan *plan) {
    return tcgemm_plan_make_on(NULL, problem, options, max_threads, plan);
}
