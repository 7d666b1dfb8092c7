/* explain.h - what a product does on a machine, for the very plan that would run.
 *
 *     explain_facts.c    measures what the library's analysis of the plan wants of the CPU
 *     explain_text.c     the analysis as a screen of text
 *     explain_files.c    the library's pictures and page as files
 *     explain_simulate.c the plan's loop nest, run on the CPU
 *     explain.c          the command
 *
 * JSON, pictures and page are tcgemm_plan_draw's.
 */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "options/options.h"
#include "tcgemm/tcgemm.h"

/* `tcgemm explain`. Returns an exit status. */
int command_explain(const settings_t *settings);

typedef struct explain_facts {
    const settings_t *settings;
    tcgemm_analysis_options_t given; /* the scalars, and what was measured */
    tcgemm_analysis_t analysis;
} explain_facts_t;

/* Measures the CPU, for a plan that runs there, and analyzes the plan. Returns an exit status. */
int explain_facts(const settings_t *settings, const tcgemm_plan_t *plan, explain_facts_t *facts);

void explain_text(const explain_facts_t *facts, FILE *out);

/* What the library draws: a picture by its name for TCGEMM_FORMAT_SVG, the page, or the JSON
 * object. The caller frees it; NULL without memory. */
char *explain_draw(const explain_facts_t *facts, tcgemm_format_t format, const char *picture);

/* The facts as a JSON object that the caller owns; NULL without memory. */
json_t *explain_data(const explain_facts_t *facts);

#endif
