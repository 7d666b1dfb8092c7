/* message.c - sentences on stderr, and the exit status that belongs to a library status. */
#include "support/message.h"

#include <stdarg.h>
#include <stdio.h>

#include "support/progress.h"

static int notes_are_off;

void message_set_quiet(int quiet) {
    notes_are_off = quiet;
}

static void say(const char *prefix, const char *format, va_list args) {
    progress_end(); /* a message must not share its line with the bar */
    flockfile(stderr);
    (void)fputs(prefix, stderr);
    /* Every caller has started `args`; clang-tidy 14 does not see across the call. */
    (void)vfprintf(stderr, format, args); // NOLINT(clang-analyzer-valist.Uninitialized)
    (void)fputc('\n', stderr);
    funlockfile(stderr);
}

int message_fail(int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say("tcgemm: ", format, args);
    va_end(args);
    return status;
}

int message_usage(const char *command, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say("tcgemm: ", format, args);
    va_end(args);
    (void)fprintf(stderr, "Try 'tcgemm %s%s--help'.\n", command ? command : "", command ? " " : "");
    return CLI_USAGE;
}

void message_note(const char *format, ...) {
    if (notes_are_off)
        return;
    va_list args;
    va_start(args, format);
    say("tcgemm: note: ", format, args);
    va_end(args);
}

int message_exit_of(tcgemm_status_t status) {
    switch (status) {
    case TCGEMM_STATUS_OK:
        return CLI_OK;
    case TCGEMM_STATUS_BAD_ARGUMENT:
    case TCGEMM_STATUS_BAD_TYPE:
    case TCGEMM_STATUS_BAD_SHAPE:
    case TCGEMM_STATUS_BAD_LD:
    case TCGEMM_STATUS_BAD_STRIDE:
    case TCGEMM_STATUS_BAD_SCALAR:
    case TCGEMM_STATUS_TOO_LARGE:
    case TCGEMM_STATUS_UNKNOWN_ALGO:
        return CLI_USAGE;
    case TCGEMM_STATUS_UNSUPPORTED:
    case TCGEMM_STATUS_NO_DEVICE:
    case TCGEMM_STATUS_DEVICE_ERROR:
    case TCGEMM_STATUS_DEVICE_LOST:
    case TCGEMM_STATUS_AFTER_FORK:
        return CLI_NO_DEVICE;
    case TCGEMM_STATUS_OUT_OF_MEMORY:
        return CLI_NO_MEMORY;
    case TCGEMM_STATUS_BAD_ALIGNMENT: /* the tool places the matrices: its own fault */
    case TCGEMM_STATUS_OVERLAP:
    case TCGEMM_STATUS_INTERNAL:
        break;
    }
    return CLI_INTERNAL;
}

int message_library(tcgemm_status_t status) {
    return message_fail(message_exit_of(status), "%s", tcgemm_last_error());
}
