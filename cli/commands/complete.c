/* complete.c - bash, zsh and fish.
 *
 * Names of types, families and kernels are written into the file: they change with the version of
 * the tool, and the file is made anew with it. */
#include "commands/complete.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/names.h"
#include "options/options.h"

/* The words that may follow an option, separated by blanks. */
static void print_words(const char *values) {
    const char *name;
    for (int i = 0; values[0] == '@' && (name = names_at(values, i)); ++i)
        (void)printf("%s%s", i > 0 ? " " : "", name);
    for (; values[0] != '@' && *values; ++values)
        (void)putchar(*values == '|' ? ' ' : *values);
}

static bool takes_file(const option_row_t *row) {
    return row->values && strcmp(row->values, "@file") == 0;
}

static bool takes_words(const option_row_t *row) {
    return row->values && !takes_file(row);
}

static void print_command_names(void) {
    for (int i = 0; i < NUM_COMMANDS; ++i)
        (void)printf("%s%s", i > 0 ? " " : "", command_table[i].name);
}

/* ---- bash ---- */

/* "--shapes|-x": the patterns of a case branch. */
static void bash_pattern(const option_row_t *row) {
    (void)printf("--%s", row->name);
    if (row->key)
        (void)printf("|-%c", row->key);
}

static void bash_values(void) {
    for (size_t i = 0; i < num_options; ++i) {
        const option_row_t *row = &option_table[i];
        if (!row->argument)
            continue;
        (void)fputs("    ", stdout);
        bash_pattern(row);
        if (takes_file(row)) {
            (void)fputs(") compopt -o default 2>/dev/null; return ;;\n", stdout);
        } else if (takes_words(row)) {
            (void)fputs(") COMPREPLY=($(compgen -W '", stdout);
            print_words(row->values);
            (void)fputs("' -- \"$cur\")); return ;;\n", stdout);
        } else {
            (void)fputs(") return ;;\n", stdout);
        }
    }
}

static void bash_command(command_id_t command) {
    (void)printf("    %s) words='", command_table[command].name);
    for (size_t i = 0; i < num_options; ++i)
        if (option_table[i].commands & 1u << command)
            (void)printf("--%s ", option_table[i].name);
    (void)fputs("' ;;\n", stdout);
}

void complete_bash(void) {
    (void)fputs("# bash completion for tcgemm, generated from its option table\n"
                "_tcgemm() {\n"
                "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words\n"
                "    COMPREPLY=()\n"
                "    if [ \"$prev\" = '=' ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                "    if [ \"$cur\" = '=' ]; then cur=; fi\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                "        COMPREPLY=($(compgen -W '",
                stdout);
    print_command_names();
    (void)fputs(" --help --version' -- \"$cur\"))\n        return\n    fi\n    case $prev in\n",
                stdout);
    bash_values();
    (void)fputs("    esac\n    case ${COMP_WORDS[1]} in\n", stdout);
    for (int i = 0; i < NUM_COMMANDS; ++i)
        bash_command((command_id_t)i);
    (void)fputs("    esac\n"
                "    case $cur in\n"
                "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
                "    *) compopt -o default 2>/dev/null ;;\n"
                "    esac\n"
                "}\n"
                "complete -F _tcgemm tcgemm\n",
                stdout);
}

/* ---- zsh ---- */

/* A text inside '...:[...]': quotes and brackets would end it. */
static void zsh_text(const char *text) {
    for (; *text; ++text) {
        if (*text == '\'')
            (void)fputs("'\\''", stdout);
        else if (strchr("[]:", *text))
            (void)printf("\\%c", *text);
        else
            (void)putchar(*text);
    }
}

static void zsh_spec(const option_row_t *row, const char *flag) {
    (void)printf(" \\\n            '%s%s[", flag,
                 row->argument ? (flag[1] == '-' ? "=" : "+") : "");
    char *help = names_text(row->help);
    zsh_text(help ? help : row->help);
    free(help);
    (void)putchar(']');
    if (row->argument) {
        (void)printf(":%s:", row->argument);
        if (takes_file(row)) {
            (void)fputs("_files", stdout);
        } else if (takes_words(row)) {
            (void)putchar('(');
            print_words(row->values);
            (void)putchar(')');
        }
    }
    (void)putchar('\'');
}

static void zsh_command(command_id_t command) {
    (void)printf("    %s)\n        _arguments -s", command_table[command].name);
    for (size_t i = 0; i < num_options; ++i) {
        const option_row_t *row = &option_table[i];
        if (!(row->commands & 1u << command))
            continue;
        char flag[64];
        (void)snprintf(flag, sizeof flag, "--%s", row->name);
        zsh_spec(row, flag);
        if (row->key) {
            (void)snprintf(flag, sizeof flag, "-%c", row->key);
            zsh_spec(row, flag);
        }
    }
    (void)fputs(command == COMMAND_RUN || command == COMMAND_PLOT
                    ? " \\\n            '*:file:_files'\n        ;;\n"
                    : "\n        ;;\n",
                stdout);
}

void complete_zsh(void) {
    (void)fputs("#compdef tcgemm\n# zsh completion for tcgemm, generated from its option table\n"
                "if (( CURRENT == 2 )); then\n    local -a commands=(\n",
                stdout);
    for (int i = 0; i < NUM_COMMANDS; ++i)
        (void)printf("        '%s:%s'\n", command_table[i].name, command_table[i].summary);
    (void)fputs("    )\n    _describe command commands\n    return\nfi\n"
                "local command=$words[2]\nshift words\n(( CURRENT-- ))\ncase $command in\n",
                stdout);
    for (int i = 0; i < NUM_COMMANDS; ++i)
        zsh_command((command_id_t)i);
    (void)fputs("esac\n", stdout);
}

/* ---- fish ---- */

static void fish_text(const char *text) {
    (void)putchar('\'');
    for (; *text; ++text)
        (void)printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    (void)putchar('\'');
}

static void fish_option(const option_row_t *row) {
    (void)fputs("complete -c tcgemm -n '__fish_seen_subcommand_from", stdout);
    for (int i = 0; i < NUM_COMMANDS; ++i)
        if (row->commands & 1u << i)
            (void)printf(" %s", command_table[i].name);
    (void)printf("' -l %s", row->name);
    if (row->key)
        (void)printf(" -s %c", row->key);
    if (row->argument)
        (void)fputs(takes_file(row) ? " -r -F" : " -x", stdout);
    if (takes_words(row)) {
        (void)fputs(" -a '", stdout);
        print_words(row->values);
        (void)putchar('\'');
    }
    (void)fputs(" -d ", stdout);
    char *help = names_text(row->help);
    fish_text(help ? help : row->help);
    free(help);
    (void)putchar('\n');
}

void complete_fish(void) {
    (void)fputs("# fish completion for tcgemm, generated from its option table\n", stdout);
    for (int i = 0; i < NUM_COMMANDS; ++i) {
        (void)printf("complete -c tcgemm -n __fish_use_subcommand -f -a %s -d ",
                     command_table[i].name);
        fish_text(command_table[i].summary);
        (void)putchar('\n');
    }
    for (size_t i = 0; i < num_options; ++i)
        fish_option(&option_table[i]);
}
