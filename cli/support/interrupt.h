/* interrupt.h - SIGINT and SIGTERM leave no partial file and end with status 130. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stdbool.h>

void interrupt_install(void);

/* From now on the first signal is only remembered (and said); the second ends the program. */
void interrupt_defer(void);

/* Whether a pipe was closed by its reader; writing to it is an error then, no sudden end. */
bool interrupt_pipe_broke(void);

/* Whether a deferred signal has come. */
bool interrupt_came(void);

/* A temporary file to remove on interruption; NULL when it is gone. The text must stay. */
void interrupt_guard(const char *path);

/* What the handler calls before it ends the program; async-signal-safe, NULL for nothing. */
void interrupt_on_stop(void (*clean_up)(void));

#endif
