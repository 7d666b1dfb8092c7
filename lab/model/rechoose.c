/* rechoose.c - what the planner of today would choose and expect for the problems of choices.c, by
 * plans for an H200 that need not be here.
 *
 *     bash lab/model/run.sh rechoose choices.csv >today.csv
 *
 * The table as it was read, but for the columns `chosen` and `predicted_seconds`: a row's time is
 * that of the steps it had when it was measured, although today's might pack or split otherwise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"

static tcgemm_context_t *context;

/* The name of the row that is taken, and the time that is expected of it. */
static double predict(const choice_line_t *x, const char *kernel, char name[CHOICE_NAME]) {
    tcgemm_problem_t p;
    tcgemm_plan_options_t o = tcgemm_plan_options();
    tcgemm_plan_t *plan = NULL;
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    o.kernel = kernel;
    if (!problem_of_choice(x, &p))
        exit(2);
    if (tcgemm_plan_create(context, &p, &o, &plan) != TCGEMM_STATUS_OK)
        return 0;
    (void)tcgemm_plan_get_info(plan, &info);
    (void)snprintf(name, CHOICE_NAME, "%s", info.kernel);
    tcgemm_plan_destroy(plan);
    return info.predicted_seconds;
}

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    tcgemm_context_options_t where = tcgemm_context_options();
    char text[CHOICE_LINE], name[CHOICE_NAME], chosen[CHOICE_NAME] = "";
    long long last = -1;
    where.known_gpu = gpu_of_tables();
    if (!file || !fgets(text, sizeof text, file) ||
        tcgemm_context_create(&where, &context) != TCGEMM_STATUS_OK) {
        (void)fprintf(stderr, "rechoose: a table of choices.c is wanted\n");
        return 2;
    }
    (void)fputs(text, stdout);
    while (fgets(text, sizeof text, file)) {
        choice_line_t x;
        if (!read_choice_line(text, &x))
            return 2;
        if (x.number != last)
            (void)predict(&x, NULL, chosen);
        last = x.number;
        const double seconds = predict(&x, x.kernel, name);
        (void)printf("%lld,%s,%s,%lld,%lld,%lld,%lld,%u,%s,%s,%lld,%d,%.6g,%.6g\n", x.number,
                     x.type, x.ops, x.m, x.n, x.k, x.batch, x.flags, x.kernel, x.steps, x.splits,
                     strcmp(chosen, x.kernel) == 0, x.seconds, seconds);
    }
    return 0;
}
