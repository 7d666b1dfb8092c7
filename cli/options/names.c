/* names.c - types, families, kernels and GPUs, one by one. */
#include "options/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "support/exit_status.h"
#include "support/message.h"
#include "support/suggest.h"
#include "tcgemm/tcgemm.h"

enum { WORD_SIZE = 64 };

static const char *kernel_at(int index) {
    tcgemm_kernel_info_t info = {.struct_size = sizeof info};
    return tcgemm_kernel_get_info(index, &info) == TCGEMM_STATUS_OK ? info.name : NULL;
}

/* Families follow one another in the table, so each is named once. */
static const char *algo_at(int index) {
    tcgemm_kernel_info_t info = {.struct_size = sizeof info};
    const char *last = "auto";
    for (int i = 0; i < tcgemm_kernel_count() && index > 0; ++i)
        if (tcgemm_kernel_get_info(i, &info) == TCGEMM_STATUS_OK && strcmp(info.algo, last) != 0) {
            last = info.algo;
            --index;
        }
    return index == 0 ? last : NULL;
}

/* Whether any type can be planned for the GPU: one may be known by its data sheet alone. */
static bool has_kernels(const char *gpu) {
    tcgemm_context_options_t options = tcgemm_context_options();
    tcgemm_context_t *context = NULL;
    tcgemm_plan_t *plan = NULL;
    options.known_gpu = gpu;
    if (tcgemm_context_create(&options, &context) != TCGEMM_STATUS_OK)
        return false;
    for (int type = 1; type <= tcgemm_type_count() && !plan; ++type) {
        const tcgemm_problem_t p = tcgemm_problem((tcgemm_type_t)type, 64, 64, 64);
        if (tcgemm_plan_create(context, &p, NULL, &plan) != TCGEMM_STATUS_OK)
            plan = NULL;
    }
    const bool good = plan != NULL;
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);
    return good;
}

static const char *gpu_at(int index) {
    for (int i = 0; i < tcgemm_known_gpu_count(); ++i)
        if (has_kernels(tcgemm_known_gpu_key(i)) && index-- == 0)
            return tcgemm_known_gpu_key(i);
    return NULL;
}

const char *names_at(const char *kind, int index) {
    if (strcmp(kind, "@type") == 0)
        return index < tcgemm_type_count() ? tcgemm_type_info((tcgemm_type_t)(index + 1))->name
                                           : NULL;
    if (strcmp(kind, "@kernel") == 0)
        return kernel_at(index);
    if (strcmp(kind, "@algo") == 0)
        return algo_at(index);
    return strcmp(kind, "@gpu") == 0 ? gpu_at(index) : NULL;
}

/* "t4, a100 or h200" for "@gpu". */
static void print_words(const char *kind, FILE *out) {
    const char *word = names_at(kind, 0);
    for (int i = 0; word; ++i) {
        const char *next = names_at(kind, i + 1);
        (void)fprintf(out, "%s%s", i == 0 ? "" : next ? ", " : " or ", word);
        word = next;
    }
}

char *names_text(const char *text) {
    char *result = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&result, &size);
    if (!out)
        return NULL;
    for (const char *brace; (brace = strstr(text, "{@")) != NULL;) {
        char kind[16];
        const size_t length = strcspn(brace, "}");
        (void)snprintf(kind, sizeof kind, "%.*s", (int)length - 1, brace + 1);
        (void)fprintf(out, "%.*s", (int)(brace - text), text);
        print_words(kind, out);
        text = brace + length + (brace[length] == '}');
    }
    (void)fputs(text, out);
    if (fclose(out) == 0)
        return result;
    free(result);
    return NULL;
}

const char *names_gpu(const char *name) {
    for (int i = 0; i < tcgemm_known_gpu_count(); ++i)
        if (strcasecmp(tcgemm_known_gpu_key(i), name) == 0)
            return tcgemm_known_gpu_key(i);
    return NULL;
}

/* One word of an option: NULL if it is known, or nothing is near to it. */
static const char *meant(const char *kind, const char *word) {
    suggestion_t s = suggest(word);
    const char *name;
    for (int i = 0; (name = names_at(kind, i)); ++i)
        suggest_consider(&s, name);
    return s.best && strcmp(s.best, word) == 0 ? NULL : suggest_best(&s);
}

static int check_list(const settings_t *s, const option_row_t *row, const char *list) {
    char word[WORD_SIZE];
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        const char *name = strcmp(word, "all") == 0 ? NULL : meant(row->values, word);
        if (name)
            return message_usage(command_table[s->command].name,
                                 "--%s: '%s' is unknown; did you mean %s?", row->name, word, name);
    }
    return CLI_OK;
}

static int check_gpu(settings_t *s) {
    const char *name = names_gpu(s->gpu);
    if (name) {
        s->gpu = name;
        return CLI_OK;
    }
    const char *near = meant("@gpu", s->gpu);
    char known[512] = "";
    for (int i = 0; (name = names_at("@gpu", i)); ++i)
        (void)snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                       name);
    return message_usage(command_table[s->command].name,
                         "--gpu: no GPU '%.40s' is known, only %s%s%s%s", s->gpu, known,
                         near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

int names_check(settings_t *s) {
    int status = s->gpu ? check_gpu(s) : CLI_OK;
    if (s->command == COMMAND_PLOT) /* its words choose among rows, of other versions, too */
        return status;
    for (size_t i = 0; i < num_options && status == CLI_OK; ++i) {
        const option_row_t *row = &option_table[i];
        const char *const *text = (const void *)((const char *)s + row->offset);
        if (row->kind == OPTION_TEXT && row->commands & 1u << s->command && row->values &&
            row->values[0] == '@' && *text && *text != s->gpu)
            status = check_list(s, row, *text);
    }
    return status;
}
