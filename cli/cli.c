/* cli.c - picks the command, and sees to it that what was printed has arrived. */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "commands/generate.h"
#include "commands/info.h"
#include "commands/list.h"
#include "commands/run.h"
#include "commands/verify.h"
#include "explain/explain.h"
#include "options/options.h"
#include "plot/plot.h"
#include "support/environment.h"
#include "support/interrupt.h"
#include "support/message.h"
#include "support/progress.h"
#include "support/suggest.h"

static void print_help(void) {
    (void)fputs("Usage: tcgemm COMMAND [OPTION...] [FILE...]\n"
                "Matrix multiply of every type, with proven results:\n"
                "D = alpha * op(A) * op(B) + beta * C\n\n",
                stdout);
    for (int i = 0; i < NUM_COMMANDS; ++i)
        (void)printf("  %-8s %s\n", command_table[i].name, command_table[i].summary);
    (void)fputs("\n  tcgemm help COMMAND      the options of a command\n"
                "  tcgemm --version         the version and how it was built\n\n"
                "Exit status: 0 ok, 1 wrong result, 2 usage, 3 bad input or output file,\n"
                "4 no usable device or feature, 5 out of memory, 6 internal fault, 77 skipped,\n"
                "130 interrupted.\n",
                stdout);
}

static int run_command(const settings_t *settings) {
    message_set_quiet(settings->quiet);
    progress_enable(!settings->quiet && !settings->no_progress);
    if (settings->version) {
        info_version();
        return CLI_OK;
    }
    environment_check();
    switch (settings->command) {
    case COMMAND_RUN:
        return command_run(settings);
    case COMMAND_VERIFY:
        return command_verify(settings);
    case COMMAND_BENCH:
        return command_bench(settings);
    case COMMAND_PLOT:
        return command_plot(settings);
    case COMMAND_EXPLAIN:
        return command_explain(settings);
    case COMMAND_INFO:
        return command_info(settings);
    case COMMAND_LIST:
        return command_list(settings);
    case NUM_COMMANDS:
        break;
    }
    return CLI_INTERNAL;
}

static int no_command(const char *word) {
    if (word[0] == '-')
        return message_usage(NULL, "'%s' is not an option, and no command is named", word);
    suggestion_t s = suggest(word);
    for (int i = 0; i < NUM_COMMANDS; ++i)
        suggest_consider(&s, command_table[i].name);
    suggest_consider(&s, "help");
    const char *meant = suggest_best(&s);
    return meant ? message_usage(NULL, "there is no command '%s'; did you mean %s?", word, meant)
                 : message_usage(NULL, "there is no command '%s'", word);
}

/* tcgemm help, and tcgemm help COMMAND. */
static int help(int argc, char **argv) {
    settings_t settings;
    if (argc == 2) {
        print_help();
        return CLI_OK;
    }
    if (argc > 3)
        return message_usage(NULL, "'%s' is one operand too many", argv[3]);
    const int command = options_find_command(argv[2]);
    if (command < 0)
        return no_command(argv[2]);
    char *words[] = {(char[]){"tcgemm"}, (char[]){"--help"}, NULL};
    return options_parse((command_id_t)command, 2, words, &settings);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2)
        return message_usage(NULL,
                             "which command? run, verify, bench, plot, explain, info or list");
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_help();
        return CLI_OK;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        info_version();
        return CLI_OK;
    }
    if (strcmp(word, "--generate") == 0 && argc == 3)
        return generate(argv[2]);
    const int command = options_find_command(word);
    if (strcmp(word, "help") == 0)
        return help(argc, argv);
    if (command < 0)
        return no_command(word);
    settings_t settings;
    argv[1] = (char[]){"tcgemm"}; /* getopt's name for its faults */
    const int status = options_parse((command_id_t)command, argc - 1, argv + 1, &settings);
    return status >= 0 ? status : run_command(&settings);
}

/* A full disk or a closed pipe shows when the buffer is written, at the latest here. */
static int close_output(int status) {
    const int failed = ferror(stdout) || interrupt_pipe_broke();
    if (fflush(stdout) == 0 && !failed)
        return status;
    const int reason = errno;
    if (interrupt_pipe_broke()) { /* whoever read has read enough: end as other tools do */
        (void)signal(SIGPIPE, SIG_DFL);
        (void)raise(SIGPIPE);
    }
    return message_fail(CLI_BAD_FILE, "stdout: %s", reason ? strerror(reason) : "write failed");
}

int tcgemm_cli_main(int argc, char **argv) {
    interrupt_install();
    return close_output(dispatch(argc, argv));
}
