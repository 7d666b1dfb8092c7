/* names.h - the words that the library knows, for completions and for suggestions. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include <stdbool.h>

#include "options/options.h"

/* The `index`-th word of "@type", "@algo", "@kernel" or "@gpu" (GPUs known by name for which there
 * are kernels); NULL beyond the last, and for other kinds. */
const char *names_at(const char *kind, int index);

/* A help text in which "{@gpu}" and the like stand for all such words: "t4, a100 or h200". The
 * caller frees it; NULL without memory. */
char *names_text(const char *text);

/* The known GPU of that name in the library's spelling, whatever the case; NULL if there is none.
 */
const char *names_gpu(const char *name);

/* Looks at the words that were given for options of such kinds. A GPU gets the library's spelling;
 * a word that nobody knows but that is near to one is told. Returns an exit status. What is not
 * near to any is left to those who read it, who list all that they know. */
int names_check(settings_t *settings);

#endif
