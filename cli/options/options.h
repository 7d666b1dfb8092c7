/* options.h - the commands and options of the tool, in one table.
 *
 * The table feeds the parser, --help, the man pages and the shells' completions, so that an option
 * is written once. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tables/table_writer.h"

typedef enum command_id {
    COMMAND_RUN,
    COMMAND_VERIFY,
    COMMAND_BENCH,
    COMMAND_PLOT,
    COMMAND_EXPLAIN,
    COMMAND_INFO,
    COMMAND_LIST,
    NUM_COMMANDS
} command_id_t;

typedef struct command {
    const char *name;
    const char *operands; /* "[A B]", or "" */
    const char *summary;  /* a few words for lists */
    const char *description;
    const char *examples; /* one a line: "command  # what it does" */
} command_t;

extern const command_t command_table[NUM_COMMANDS];

typedef enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_TEXT,   /* const char *, read later */
    OPTION_NUMBER, /* double */
    OPTION_COUNT,  /* int64_t in low .. high */
    OPTION_CHOICE, /* int: the index of the word in `values` */
    OPTION_HELP
} option_kind_t;

typedef enum option_group {
    GROUP_PROBLEM,
    GROUP_METHOD,
    GROUP_MEASURE,
    GROUP_CHECK,
    GROUP_OUTPUT,
    GROUP_HELP,
    NUM_GROUPS
} option_group_t;

extern const char *const option_group_titles[NUM_GROUPS];

typedef struct option_row {
    const char *name; /* the long name */
    char key;         /* the short name, or 0 */
    option_kind_t kind;
    const char *argument; /* "FILE"; NULL for a flag */
    option_group_t group;
    unsigned commands; /* bit (1 << command_id) for each it belongs to */
    const char *help;
    const char *values; /* "row|col" of a choice; "@file", "@type", "@algo", "@kernel", "@gpu": what
                           a shell completes; NULL */
    size_t offset;      /* in settings_t */
    int64_t low, high;  /* of a count */
} option_row_t;

extern const option_row_t option_table[];
extern const size_t num_options;

/* In the order of the options' values. */
typedef enum verify_choice { VERIFY_AUTO, VERIFY_NONE, VERIFY_SAMPLE, VERIFY_FULL } verify_choice_t;
typedef enum print_choice { PRINT_NOTHING = -1, PRINT_PYTHON, PRINT_TABLE } print_choice_t;
typedef enum elements_choice {
    ELEMENTS_NOT_SAID = -1,
    ELEMENTS_BF16,
    ELEMENTS_E4M3,
    ELEMENTS_E5M2,
    ELEMENTS_INT4,
    ELEMENTS_UINT4
} elements_choice_t;
typedef enum plot_choice {
    PLOT_AUTO = -1,
    PLOT_SIZE,
    PLOT_K,
    PLOT_TILE,
    PLOT_PEER,
    PLOT_ROOFLINE,
    PLOT_MODEL
} plot_choice_t;

enum { OPTIONS_MAX_FILES = 64 };

/* A number that no option is given. */
#define OPTIONS_NOT_SAID (-1e300)

/* Everything a command line can say. Sizes, types and threads are texts, because `bench` takes
 * lists of what `run` takes one of. */
typedef struct settings {
    command_id_t command;
    const char *files[OPTIONS_MAX_FILES];
    int64_t num_files;

    const char *m, *n, *k, *shape, *shapes;
    const char *type;
    bool trans_a, trans_b;
    int order; /* tcgemm_order_t */
    double alpha, beta;
    const char *c, *bias;
    int activation;                /* tcgemm_activation_t */
    int a_dtype, b_dtype, c_dtype; /* elements_choice_t */
    int64_t batch, pad, seed;
    bool xor, f16_accumulate, fast_accumulate, reproducible, in_place;

    const char *algo, *kernel, *tile, *device, *gpu, *threads;

    int64_t repeat, samples;   /* samples: 0 if not said */
    double min_seconds, pause; /* OPTIONS_NOT_SAID */
    double steady;             /* 0: not said */
    bool cold;
    const char *vs, *suite, *classes;

    bool simulate, trace;

    int verify; /* verify_choice_t */
    bool quick, full;

    const char *output, *csv, *resume, *html, *svg, *plot;
    int plot_kind; /* plot_choice_t */
    bool force;
    int print;  /* print_choice_t */
    int format; /* table_format_t */
    bool json, quiet, no_progress, version;
} settings_t;

/* Reads the words after the command's name, of which argv[0] is taken for the name of the program.
 * Returns an exit status, or -1 to go on; --help has then been printed, a fault has been told. */
int options_parse(command_id_t command, int argc, char **argv, settings_t *settings);

/* The command of that name, or -1. */
int options_find_command(const char *name);

/* The `index`-th word of "row|col|..." into `word`; false beyond the last. */
bool options_choice(const char *values, int index, char *word, size_t size);

#endif
