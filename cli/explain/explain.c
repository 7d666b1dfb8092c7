/* explain.c - the command: a plan for the machine that is meant, its facts, and how to show them.
 */
#include "explain/explain.h"

#include <string.h>

#include "explain/explain_files.h"
#include "explain/explain_simulate.h"
#include "files/layout.h"
#include "options/setup.h"
#include "support/exit_status.h"
#include "support/message.h"

/* explain M N K, explain MxNxK, or the options that the other commands have. */
static int read_shape(const settings_t *s, size_shape_t *shape) {
    settings_t given = *s;
    if (s->num_files == 0)
        return setup_shape(&given, shape);
    if (s->num_files == 2)
        return message_usage("explain", "two sizes are given; three are needed, or one shape");
    if (s->shape || s->m || s->n || s->k)
        return message_usage("explain", "sizes are given twice: as operands and as options");
    if (s->num_files == 1) {
        given.shape = s->files[0];
    } else {
        given.m = s->files[0];
        given.n = s->files[1];
        given.k = s->files[2];
    }
    return setup_shape(&given, shape);
}

static int read_problem(const settings_t *s, tcgemm_problem_t *problem) {
    size_shape_t shape = {0};
    tcgemm_type_t type = TCGEMM_F32_F32;
    int status = read_shape(s, &shape);
    if (status == CLI_OK && s->type)
        status = setup_type(s, s->type, &type);
    if (status != CLI_OK)
        return status;
    *problem = tcgemm_problem(type, shape.m, shape.n, shape.k);
    setup_problem(s, problem);
    const tcgemm_status_t checked = layout_place(problem, 0);
    return checked == TCGEMM_STATUS_OK ? CLI_OK : message_library(checked);
}

static int make_context(const settings_t *s, tcgemm_context_t **context) {
    int threads;
    *context = NULL;
    const int status = setup_threads(s, &threads);
    if (status != CLI_OK)
        return status;
    if (!s->gpu)
        return setup_context(s, threads, context);
    if (s->device)
        return message_usage("explain",
                             "--gpu names a GPU that need not be here, --device one that "
                             "is: give one of them");
    tcgemm_context_options_t options = tcgemm_context_options();
    options.known_gpu = s->gpu;
    options.num_threads = threads;
    const tcgemm_status_t made = tcgemm_context_create(&options, context);
    if (made == TCGEMM_STATUS_BAD_ARGUMENT)
        return message_usage("explain", "--gpu: %s", tcgemm_last_error());
    return made == TCGEMM_STATUS_OK ? CLI_OK : message_library(made);
}

static int make_plan(const settings_t *s, tcgemm_context_t *context,
                     const tcgemm_problem_t *problem, tcgemm_plan_t **plan) {
    tcgemm_plan_options_t options = tcgemm_plan_options();
    options.algo = s->algo;
    options.kernel = s->kernel;
    options.tile = s->tile;
    const tcgemm_status_t made = tcgemm_plan_create(context, problem, &options, plan);
    return made == TCGEMM_STATUS_OK ? CLI_OK : message_library(made);
}

static int show(const explain_facts_t *facts) {
    const table_format_t format = (table_format_t)facts->settings->format;
    if (facts->settings->quiet)
        return CLI_OK;
    if (format == TABLE_FORMAT_TEXT) {
        explain_text(facts, stdout);
        return CLI_OK;
    }
    json_t *data = explain_data(facts);
    const bool good = data && table_write_facts(data, format, stdout);
    json_decref(data);
    return good ? CLI_OK : message_fail(CLI_NO_MEMORY, "no memory for the facts");
}

/* In place of the facts, which are of sizes that no simulation could do. */
static int simulate(const settings_t *s, const tcgemm_problem_t *problem,
                    const tcgemm_plan_t *plan) {
    explain_simulate_options_t options = explain_simulate_options();
    if (s->format != TABLE_FORMAT_TEXT && s->format != TABLE_FORMAT_JSON)
        return message_usage("explain", "a simulation is printed as text or as JSON");
    options.trace = s->trace;
    options.json = s->format == TABLE_FORMAT_JSON;
    options.seed = (uint64_t)s->seed;
    options.alpha = s->alpha;
    options.beta = s->beta;
    return explain_simulate(plan, problem, &options);
}

static int explain(const settings_t *s, const tcgemm_plan_t *plan) {
    explain_facts_t facts;
    int status = explain_facts(s, plan, &facts);
    if (status == CLI_OK)
        status = explain_files_write(&facts);
    if (status == CLI_OK)
        status = show(&facts);
    return status;
}

int command_explain(const settings_t *s) {
    tcgemm_problem_t problem;
    tcgemm_context_t *context = NULL;
    tcgemm_plan_t *plan = NULL;
    int status = explain_files_check(s);
    if (status == CLI_OK)
        status = read_problem(s, &problem);
    if (status == CLI_OK)
        status = make_context(s, &context);
    if (status == CLI_OK)
        status = make_plan(s, context, &problem, &plan);
    if (status == CLI_OK)
        status = s->simulate || s->trace ? simulate(s, &problem, plan) : explain(s, plan);
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);
    return status;
}
