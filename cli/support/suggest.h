/* suggest.h - the word that somebody may have meant.
 *
 *     suggestion_t s = suggest("bnech");
 *     suggest_consider(&s, "bench");                    each word that there is
 *     if (suggest_best(&s)) ...                          "bench"; NULL if none is near */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

typedef struct suggestion {
    const char *word;
    const char *best; /* so far; the first of equals */
    size_t distance;
} suggestion_t;

suggestion_t suggest(const char *word);
void suggest_consider(suggestion_t *suggestion, const char *candidate);

/* The best word if at most a third of its letters, at least one, would have to change; else NULL.
 */
const char *suggest_best(const suggestion_t *suggestion);

/* How many letters are wrong, missing, too many, or exchanged with their neighbour; cases do not
 * count. Of long words only the first 63 letters are looked at. */
size_t suggest_distance(const char *a, const char *b);

#endif
