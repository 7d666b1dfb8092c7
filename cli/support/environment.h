/* environment.h - the environment variables that the library and the tool look at, in one table.
 *
 * It feeds the man pages, and a note about values that the library would pass over in silence. */
#ifndef CLI_ENVIRONMENT_H
#define CLI_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct environment_row {
    const char *name;
    const char *help;
    const char *values; /* what a value that counts looks like, for the note; NULL: any counts */
    bool (*counts)(const char *value);
} environment_row_t;

extern const environment_row_t environment_table[];
extern const size_t num_environment_rows;

/* Notes on stderr, one a variable, whose value is none of those that it may have. */
void environment_check(void);

#endif
