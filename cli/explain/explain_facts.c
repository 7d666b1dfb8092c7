/* explain_facts.c - what the library is given about the CPU, and what it makes of the plan. */
#include <stdlib.h>

#include "explain/explain.h"
#include "measure/stream.h"
#include "support/exit_status.h"
#include "support/message.h"

static int measure_cpu(tcgemm_type_t type, int num_threads, tcgemm_analysis_options_t *given) {
    tcgemm_machine_info_t cpu = {.struct_size = sizeof cpu};
    tcgemm_status_t status = tcgemm_machine_get_info(&cpu);
    if (status == TCGEMM_STATUS_OK)
        status =
            tcgemm_measure_peak(type, num_threads, &given->theoretical_peak, &given->measured_peak);
    if (status != TCGEMM_STATUS_OK)
        return message_library(status);
    given->clock_hz = cpu.clock_hz;
    given->bandwidth = stream_bandwidth(num_threads, (double)cpu.l3_bytes);
    return CLI_OK;
}

int explain_facts(const settings_t *settings, const tcgemm_plan_t *plan, explain_facts_t *f) {
    *f = (explain_facts_t){.settings = settings, .given = tcgemm_analysis_options()};
    f->given.alpha = settings->alpha;
    f->given.beta = settings->beta;
    f->analysis.struct_size = sizeof f->analysis;
    tcgemm_problem_t problem = {.struct_size = sizeof problem};
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    tcgemm_status_t status = tcgemm_plan_get_problem(plan, &problem);
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_plan_get_info(plan, &info);
    if (status != TCGEMM_STATUS_OK)
        return message_library(status);
    if (info.device_index == TCGEMM_DEVICE_CPU) {
        const int measured = measure_cpu(problem.type, info.num_threads, &f->given);
        if (measured != CLI_OK)
            return measured;
    }
    status = tcgemm_plan_analyze(plan, &f->given, &f->analysis);
    return status == TCGEMM_STATUS_OK ? CLI_OK : message_library(status);
}

char *explain_draw(const explain_facts_t *f, tcgemm_format_t format, const char *picture) {
    tcgemm_draw_options_t options = tcgemm_draw_options(format);
    options.picture = picture;
    options.analysis = &f->given;
    const size_t length = tcgemm_plan_draw(f->analysis.plan, &options, NULL, 0);
    char *const text = length > 0 ? malloc(length + 1) : NULL;
    if (text)
        (void)tcgemm_plan_draw(f->analysis.plan, &options, text, length + 1);
    return text;
}

json_t *explain_data(const explain_facts_t *f) {
    char *const text = explain_draw(f, TCGEMM_FORMAT_JSON, NULL);
    json_t *const data = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return data;
}
