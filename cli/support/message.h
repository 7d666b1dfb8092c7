/* message.h - what the tool says on stderr: one sentence a line, prefixed "tcgemm: ". */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include "support/exit_status.h"
#include "tcgemm/tcgemm.h"

/* Each prints its sentence and returns the status, so that `return message_fail(...)` reads well.
 */
int message_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A usage fault: the sentence, and where to read on. `command` is "run", or NULL. */
int message_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The library's own sentence for its last failing call. */
int message_library(tcgemm_status_t status);

/* Something worth knowing that is no fault. */
void message_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Notes off (--quiet); faults are still told. */
void message_set_quiet(int quiet);

int message_exit_of(tcgemm_status_t status);

#endif
