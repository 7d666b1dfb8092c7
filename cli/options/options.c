/* options.c - reads a command line by the table, through glibc's argp. */
#include "options/options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "options/names.h"
#include "support/exit_status.h"
#include "support/message.h"
#include "support/suggest.h"

enum { LONG_ONLY = 0x100, MAX_OPTIONS = 64 };

static const char exit_statuses[] =
    "Exit status: 0 ok, 1 wrong result, 2 usage, 3 bad input or output file, 4 no\n"
    "usable device or feature, 5 out of memory, 6 internal fault, 77 skipped,\n"
    "130 interrupted.\n";

/* What argp hands to the parser. */
typedef struct parse {
    settings_t *settings;
    const struct argp *argp;
    const char *command;
    int result; /* -1: go on */
} parse_t;

int options_find_command(const char *name) {
    for (int i = 0; i < NUM_COMMANDS; ++i)
        if (strcmp(name, command_table[i].name) == 0)
            return i;
    return -1;
}

bool options_choice(const char *values, int index, char *word, size_t size) {
    for (; index > 0 && values; --index) {
        values = strchr(values, '|');
        values = values ? values + 1 : NULL;
    }
    if (!values || size == 0)
        return false;
    size_t length = strcspn(values, "|");
    length = length < size ? length : size - 1;
    memcpy(word, values, length);
    word[length] = '\0';
    return true;
}

static int key_of(size_t index) {
    return option_table[index].key ? option_table[index].key : LONG_ONLY + (int)index;
}

static const option_row_t *row_of(int key) {
    for (size_t i = 0; i < num_options; ++i)
        if (key_of(i) == key)
            return &option_table[i];
    return NULL;
}

static bool parse_count(const char *text, int64_t low, int64_t high, int64_t *value) {
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < low || number > high)
        return false;
    *value = number;
    return true;
}

static bool parse_number(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end); /* inf and nan are numbers that the formula knows */
    return end != text && !*end;
}

static bool parse_choice(const char *values, const char *text, int *value) {
    char word[32];
    for (int i = 0; options_choice(values, i, word, sizeof word); ++i)
        if (strcmp(word, text) == 0) {
            *value = i;
            return true;
        }
    return false;
}

static int refuse(parse_t *parse, const option_row_t *row, const char *text) {
    if (row->kind == OPTION_CHOICE)
        parse->result = message_usage(parse->command, "--%s is '%s', not one of %s", row->name,
                                      text, row->values);
    else if (row->kind == OPTION_NUMBER)
        parse->result =
            message_usage(parse->command, "--%s is '%s', not a number", row->name, text);
    else
        parse->result = message_usage(parse->command,
                                      "--%s is '%s', not a whole number in %lld "
                                      ".. %lld",
                                      row->name, text, (long long)row->low, (long long)row->high);
    return EINVAL;
}

static int store(parse_t *parse, const option_row_t *row, const char *text) {
    void *const place = (char *)parse->settings + row->offset;
    bool good = true;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)place = true;
        break;
    case OPTION_TEXT:
        *(const char **)place = text;
        break;
    case OPTION_NUMBER:
        good = parse_number(text, place);
        break;
    case OPTION_COUNT:
        good = parse_count(text, row->low, row->high, place);
        break;
    case OPTION_CHOICE:
        good = parse_choice(row->values, text, place);
        break;
    case OPTION_HELP:
        break;
    }
    return good ? 0 : refuse(parse, row, text);
}

static int store_operand(parse_t *parse, const char *text) {
    settings_t *s = parse->settings;
    const int most = s->command == COMMAND_RUN       ? 2
                     : s->command == COMMAND_EXPLAIN ? 3
                     : s->command == COMMAND_PLOT    ? OPTIONS_MAX_FILES
                                                     : 0;
    if (s->num_files == most) {
        parse->result = message_usage(parse->command, "'%s' is one operand too many", text);
        return EINVAL;
    }
    s->files[s->num_files++] = text;
    return 0;
}

/* argp breaks lines where it likes and leaves lines of blanks; what is not cut off is passed on. */
static void print_without_blanks(char *text) {
    while (*text) {
        const size_t length = strcspn(text, "\n");
        size_t kept = length;
        while (kept > 0 && text[kept - 1] == ' ')
            --kept;
        if (kept > 0 || length == 0)
            (void)printf("%.*s\n", (int)kept, text);
        text += length + (text[length] == '\n');
    }
}

/* A command too long for a line goes on behind a backslash, so that all of it can be pasted. */
static void print_command(const char *line, size_t length) {
    enum { WIDTH = 77 };
    (void)fputs("  ", stdout);
    while (length > WIDTH) {
        size_t cut = WIDTH - 2;
        while (cut > 0 && line[cut] != ' ')
            --cut;
        (void)printf("%.*s \\\n      ", (int)cut, line);
        line += cut + 1;
        length -= cut + 1;
    }
    (void)printf("%.*s\n", (int)length, line);
}

/* "command  # what it does" a line: the remark above the command. */
static void print_examples(const char *examples) {
    (void)fputs("Examples:\n", stdout);
    while (*examples) {
        const size_t length = strcspn(examples, "\n");
        const char *remark = strstr(examples, "  # ");
        const bool remarked = remark && remark < examples + length;
        if (remarked)
            (void)printf("  # %.*s\n", (int)(examples + length - remark - 4), remark + 4);
        print_command(examples, remarked ? (size_t)(remark - examples) : length);
        examples += length + (examples[length] == '\n');
    }
}

static int show_help(const parse_t *parse) {
    char name[32];
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return message_fail(CLI_NO_MEMORY, "no memory for the help");
    (void)snprintf(name, sizeof name, "tcgemm %s", parse->command);
    argp_help(parse->argp, memory, ARGP_HELP_STD_HELP, name);
    if (fclose(memory) == 0)
        print_without_blanks(text);
    free(text);
    (void)putchar('\n');
    print_examples(command_table[parse->settings->command].examples);
    (void)printf("\n%s", exit_statuses);
    return CLI_OK;
}

static error_t parse_one(int key, char *text, struct argp_state *state) {
    parse_t *parse = state->input;
    if (key == ARGP_KEY_INIT) {
        state->err_stream = NULL; /* getopt has told the fault; the closing line is ours */
        return 0;
    }
    if (key == ARGP_KEY_ARG)
        return store_operand(parse, text);
    const option_row_t *row = row_of(key);
    if (!row)
        return ARGP_ERR_UNKNOWN;
    if (row->kind == OPTION_HELP) {
        parse->result = show_help(parse);
        return ECANCELED;
    }
    return store(parse, row, text);
}

/* The rows of a command as argp wants them, each group below its title. */
static void argp_rows(command_id_t command, struct argp_option rows[MAX_OPTIONS]) {
    size_t count = 0;
    int last_group = -1;
    for (size_t i = 0; i < num_options; ++i) {
        const option_row_t *row = &option_table[i];
        if (!(row->commands & 1u << command))
            continue;
        if ((int)row->group != last_group)
            rows[count++] = (struct argp_option){.doc = option_group_titles[row->group],
                                                 .group = (int)row->group + 1};
        last_group = (int)row->group;
        rows[count++] = (struct argp_option){row->name, key_of(i), row->argument,
                                             0,         row->help, (int)row->group + 1};
    }
    rows[count] = (struct argp_option){0};
}

static settings_t defaults(command_id_t command) {
    return (settings_t){
        .command = command,
        .alpha = 1,
        .batch = 1,
        .repeat = 1,
        .min_seconds = OPTIONS_NOT_SAID,
        .pause = OPTIONS_NOT_SAID,
        .a_dtype = ELEMENTS_NOT_SAID,
        .b_dtype = ELEMENTS_NOT_SAID,
        .c_dtype = ELEMENTS_NOT_SAID,
        .print = PRINT_NOTHING,
        .plot_kind = PLOT_AUTO,
    };
}

/* What the first long option that nobody knows, even as an abbreviation, may have meant; or NULL.
 */
static const char *option_meant(command_id_t command, int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i) {
        if (strncmp(argv[i], "--", 2) != 0)
            continue;
        char word[64];
        bool known = false;
        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(argv[i] + 2, "="), argv[i] + 2);
        suggestion_t s = suggest(word);
        for (size_t j = 0; j < num_options; ++j)
            if (option_table[j].commands & 1u << command) {
                known |= strncmp(option_table[j].name, word, strlen(word)) == 0;
                suggest_consider(&s, option_table[j].name);
            }
        if (!known)
            return suggest_best(&s);
    }
    return NULL;
}

/* argp's help_filter: the words that the library knows are looked up when they are to be read. */
static char *with_names(int key, const char *text, void *input) {
    (void)key;
    (void)input;
    char *filled = text && strstr(text, "{@") ? names_text(text) : NULL;
    return filled ? filled : (char *)(uintptr_t)text;
}

int options_parse(command_id_t command, int argc, char **argv, settings_t *settings) {
    const command_t *about = &command_table[command];
    struct argp_option rows[MAX_OPTIONS];
    argp_rows(command, rows);
    const struct argp argp = {rows,       parse_one, about->operands, about->description, NULL,
                              with_names, NULL};
    parse_t parse = {settings, &argp, about->name, -1};
    *settings = defaults(command);
    const error_t err = argp_parse(&argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &parse);
    if (err && parse.result < 0) { /* an option that getopt did not know, and has named */
        const char *meant = option_meant(command, argc, argv);
        if (meant)
            (void)fprintf(stderr, "Did you mean --%s? ", meant);
        (void)fprintf(stderr, "Try 'tcgemm %s --help'.\n", about->name);
        return CLI_USAGE;
    }
    if (settings->json)
        settings->format = TABLE_FORMAT_JSON;
    if (parse.result < 0 && !settings->version) {
        const int status = names_check(settings);
        return status == CLI_OK ? -1 : status;
    }
    return parse.result;
}
