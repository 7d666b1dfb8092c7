/* interrupt.h - SIGINT and SIGTERM leave no partial output and end with status 130. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

void interrupt_install(void);

/* A temporary file to remove on interruption; NULL when it is gone. The text must stay. */
void interrupt_guard(const char *path);

#endif
