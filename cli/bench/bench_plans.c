/* bench_plans.c - families x kernels x tiles; what nothing can compute is told and skipped. */
#include "bench/bench_plans.h"

#include <stdio.h>
#include <string.h>

#include "support/exit_status.h"
#include "support/message.h"

enum { NAME_SIZE = 64, LIST_SIZE = BENCH_MAX_PLANS * NAME_SIZE };

/* What plans are made of and where they go. */
typedef struct entry_list {
    const settings_t *settings;
    tcgemm_context_t *context;
    const tcgemm_problem_t *problem;
    bool on_gpu;
    tcgemm_plan_t **plans;
    int *count;
} entry_list_t;

static bool knows_type(const entry_list_t *e, const tcgemm_kernel_info_t *kernel) {
    return kernel->runnable && strcmp(kernel->device, e->on_gpu ? "gpu" : "cpu") == 0 &&
           (kernel->types & (uint64_t)1 << (e->problem->type - 1));
}

/* Every family with a kernel for the type, as a list; the reference only where it ends soon. */
static void all_algos(const entry_list_t *e, char names[LIST_SIZE]) {
    const tcgemm_problem_t *p = e->problem;
    const double products = (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
    names[0] = '\0';
    for (int i = 0; i < tcgemm_kernel_count(); ++i) {
        tcgemm_kernel_info_t kernel = {.struct_size = sizeof kernel};
        if (tcgemm_kernel_get_info(i, &kernel) != TCGEMM_STATUS_OK || !knows_type(e, &kernel))
            continue;
        if (strcmp(kernel.algo, "reference") == 0 && products > 0x1p27)
            continue;
        char padded[NAME_SIZE];
        char list[LIST_SIZE + 3];
        (void)snprintf(padded, sizeof padded, ",%.*s,", NAME_SIZE - 3, kernel.algo);
        (void)snprintf(list, sizeof list, ",%s,", names);
        const size_t used = strlen(names);
        if (!strstr(list, padded))
            (void)snprintf(names + used, LIST_SIZE - used, "%s%s", used ? "," : "", kernel.algo);
    }
}

/* The next word of "a,b,c" into `word`, and where to go on; NULL behind the last. A list that is
 * not given is one word that says nothing. */
static const char *next_word(const char *list, char word[NAME_SIZE]) {
    const size_t length = list ? strcspn(list, ",") : 0;
    (void)snprintf(word, NAME_SIZE, "%.*s", (int)length, list ? list : "");
    return list && list[length] ? list + length + 1 : NULL;
}

static const char *given(const char *word) {
    return *word ? word : NULL;
}

static int add_plan(const entry_list_t *e, const char *algo, const char *kernel, const char *tile) {
    tcgemm_plan_options_t options = tcgemm_plan_options();
    options.algo = given(algo);
    options.kernel = given(kernel);
    options.tile = given(tile);
    if (*e->count == BENCH_MAX_PLANS)
        return message_usage("bench", "--algo, --kernel and --tile list more than %d together",
                             BENCH_MAX_PLANS);
    const tcgemm_status_t status =
        tcgemm_plan_create(e->context, e->problem, &options, &e->plans[*e->count]);
    if (status == TCGEMM_STATUS_UNSUPPORTED) {
        message_note("%s: skipped", tcgemm_last_error());
        return CLI_OK;
    }
    if (status != TCGEMM_STATUS_OK)
        return message_library(status);
    ++*e->count;
    return CLI_OK;
}

static int add_algo(const entry_list_t *e, const char *algo) {
    char kernel[NAME_SIZE];
    char tile[NAME_SIZE];
    int status = CLI_OK;
    const char *kernels = e->settings->kernel;
    do {
        kernels = next_word(kernels, kernel);
        const char *tiles = e->settings->tile;
        do {
            tiles = next_word(tiles, tile);
            status = add_plan(e, algo, kernel, tile);
        } while (tiles && status == CLI_OK);
    } while (kernels && status == CLI_OK);
    return status;
}

int bench_plans(const settings_t *settings, tcgemm_context_t *context, bool on_gpu,
                const tcgemm_problem_t *problem, tcgemm_plan_t *plans[BENCH_MAX_PLANS],
                int *count) {
    const entry_list_t e = {settings, context, problem, on_gpu, plans, count};
    const char *algos = settings->algo ? settings->algo : "auto";
    char names[LIST_SIZE];
    char algo[NAME_SIZE];
    int status = CLI_OK;
    if (strcmp(algos, "all") == 0) {
        all_algos(&e, names);
        algos = names;
    }
    do {
        algos = next_word(algos, algo);
        status = add_algo(&e, algo);
    } while (algos && status == CLI_OK);
    return status;
}
