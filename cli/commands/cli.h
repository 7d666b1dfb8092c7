/* cli.h - the tool: its way in and its exit statuses.
 *
 *     main -> tcgemm_cli_main -> options -> run | verify | bench | plot | explain | info | list
 *                             -> generate (for the build)
 *
 * The tool sees the public header only. Results go to stdout, everything else to stderr. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

enum {
    CLI_OK = 0,
    CLI_WRONG = 1,         /* a wrong result */
    CLI_USAGE = 2,         /* a bad option or value */
    CLI_BAD_FILE = 3,      /* an input or output file: contents, shapes, unwritable */
    CLI_NO_DEVICE = 4,     /* no usable device or feature */
    CLI_NO_MEMORY = 5,     /* out of memory */
    CLI_INTERNAL = 6,      /* a fault in tcgemm itself */
    CLI_SKIPPED = 77,      /* nothing to do here */
    CLI_INTERRUPTED = 130, /* SIGINT or SIGTERM; no partial file is left, bench keeps whole rows */
};

/* Runs the tool and returns its exit status. */
int tcgemm_cli_main(int argc, char **argv);

#endif
