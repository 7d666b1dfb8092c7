/* exit_status.h - what the tool says to the shell. */
#ifndef CLI_EXIT_STATUS_H
#define CLI_EXIT_STATUS_H

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

#endif
