/* generate.c - `tcgemm --generate WHAT`, for the build alone: the install step keeps the output. */
#include "commands/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/complete.h"
#include "options/names.h"
#include "options/options.h"
#include "support/environment.h"
#include "support/exit_status.h"
#include "support/message.h"
#include "tcgemm/tcgemm.h"

/* Text in roff: a backslash, a hyphen and a leading dot or quote mean something to it. */
static void roff(const char *text) {
    bool line_start = true;
    for (; *text; ++text) {
        if (line_start && (*text == '.' || *text == '\''))
            (void)fputs("\\&", stdout);
        if (*text == '\\')
            (void)fputs("\\e", stdout);
        else if (*text == '-')
            (void)fputs("\\-", stdout);
        else
            (void)putchar(*text);
        line_start = *text == '\n';
    }
}

static void man_title(const char *page, const char *summary) {
    (void)printf(".TH %s 1 \"\" \"tcgemm %s\" \"User Commands\"\n.SH NAME\n", page,
                 tcgemm_version_string());
    roff(page);
    (void)fputs(" \\- ", stdout);
    roff(summary);
    (void)putchar('\n');
}

static void man_option(const option_row_t *row) {
    (void)fputs(".TP\n\\fB", stdout);
    if (row->key)
        (void)printf("\\-%c\\fR, \\fB", row->key);
    roff("--");
    roff(row->name);
    (void)fputs("\\fR", stdout);
    if (row->argument)
        (void)printf("=\\fI%s\\fR", row->argument);
    (void)putchar('\n');
    char *help = names_text(row->help);
    roff(help ? help : row->help);
    free(help);
    (void)fputs(".\n", stdout);
}

static void man_options(command_id_t command) {
    int last_group = -1;
    for (size_t i = 0; i < num_options; ++i) {
        const option_row_t *row = &option_table[i];
        if (!(row->commands & 1u << command))
            continue;
        if ((int)row->group != last_group) {
            (void)fputs(".SS ", stdout);
            roff(option_group_titles[row->group]);
            (void)putchar('\n');
        }
        last_group = (int)row->group;
        man_option(row);
    }
}

/* "command  # what it does" a line. */
static void man_examples(const char *examples) {
    while (*examples) {
        const size_t length = strcspn(examples, "\n");
        char line[256];
        (void)snprintf(line, sizeof line, "%.*s", (int)length, examples);
        char *remark = strstr(line, "  # ");
        if (remark)
            *remark = '\0';
        (void)fputs(".TP\n.B ", stdout);
        roff(line);
        (void)putchar('\n');
        roff(remark ? remark + 4 : "");
        (void)putchar('\n');
        examples += length + (examples[length] == '\n');
    }
}

static void man_exit_statuses(void) {
    static const char *const statuses[][2] = {
        {"0", "Done, and the result is right."},
        {"1", "A result is wrong."},
        {"2", "Usage: a bad option or value."},
        {"3", "A bad input or output file: its contents, shapes that do not fit, unwritable."},
        {"4", "No usable device or feature."},
        {"5", "Out of memory."},
        {"6", "An internal fault."},
        {"77", "Skipped: nothing here to do it with."},
        {"130", "Interrupted; no partial file is left, of a bench the rows measured so far."},
    };
    (void)fputs(".SH EXIT STATUS\n", stdout);
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; ++i)
        (void)printf(".TP\n.B %s\n%s\n", statuses[i][0], statuses[i][1]);
}

static void man_environment(void) {
    (void)fputs(".SH ENVIRONMENT\n", stdout);
    for (size_t i = 0; i < num_environment_rows; ++i) {
        (void)printf(".TP\n.B %s\n", environment_table[i].name);
        roff(environment_table[i].help);
        (void)fputs(".\n", stdout);
    }
}

static void man_command(command_id_t command) {
    const command_t *about = &command_table[command];
    char page[32];
    (void)snprintf(page, sizeof page, "tcgemm-%s", about->name);
    man_title(page, about->summary);
    (void)printf(".SH SYNOPSIS\n.B tcgemm %s\n[\\fIOPTION\\fR...] %s\n", about->name,
                 about->operands);
    (void)fputs(".SH DESCRIPTION\n", stdout);
    roff(about->description);
    (void)fputs("\n.SH OPTIONS\n", stdout);
    man_options(command);
    (void)fputs(".SH EXAMPLES\n", stdout);
    man_examples(about->examples);
    man_exit_statuses();
    man_environment();
    (void)fputs(".SH SEE ALSO\n.BR tcgemm (1)\n", stdout);
}

static void man_tool(void) {
    man_title("tcgemm", "matrix multiply of every type, with proven results");
    (void)fputs(".SH SYNOPSIS\n.B tcgemm\n\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIFILE\\fR...]\n"
                ".SH DESCRIPTION\nD = alpha * op(A) * op(B) + beta * C, where op(X) is X or its "
                "transpose.\n.SH COMMANDS\n",
                stdout);
    for (int i = 0; i < NUM_COMMANDS; ++i) {
        (void)printf(".TP\n.BR tcgemm\\-%s (1)\n", command_table[i].name);
        roff(command_table[i].summary);
        (void)putchar('\n');
    }
    man_exit_statuses();
    man_environment();
}

int generate(const char *what) {
    if (strcmp(what, "man") == 0)
        man_tool();
    else if (strncmp(what, "man-", 4) == 0 && options_find_command(what + 4) >= 0)
        man_command((command_id_t)options_find_command(what + 4));
    else if (strcmp(what, "bash") == 0)
        complete_bash();
    else if (strcmp(what, "zsh") == 0)
        complete_zsh();
    else if (strcmp(what, "fish") == 0)
        complete_fish();
    else
        return message_usage(NULL, "--generate is '%s', not man, man-COMMAND, bash, zsh or fish",
                             what);
    return CLI_OK;
}
