/* suggest.c - the optimal string alignment distance. */
#include "support/suggest.h"

#include <ctype.h>
#include <string.h>

enum { MOST = 63 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static int letter(const char *text, size_t index) {
    return tolower((unsigned char)text[index]);
}

/* d[i][j]: from the first i letters of a to the first j of b. */
size_t suggest_distance(const char *a, const char *b) {
    size_t d[MOST + 1][MOST + 1];
    const size_t m = strnlen(a, MOST);
    const size_t n = strnlen(b, MOST);
    for (size_t i = 0; i <= m; ++i)
        for (size_t j = 0; j <= n; ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            const size_t changed = d[i - 1][j - 1] + (letter(a, i - 1) != letter(b, j - 1));
            d[i][j] = least(changed, 1 + least(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && letter(a, i - 1) == letter(b, j - 2) &&
                letter(a, i - 2) == letter(b, j - 1))
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[m][n];
}

suggestion_t suggest(const char *word) {
    return (suggestion_t){.word = word};
}

void suggest_consider(suggestion_t *s, const char *candidate) {
    const size_t distance = suggest_distance(s->word, candidate);
    if (s->best && s->distance <= distance)
        return;
    s->best = candidate;
    s->distance = distance;
}

const char *suggest_best(const suggestion_t *s) {
    if (!s->best)
        return NULL;
    const size_t third = strlen(s->best) / 3;
    return s->distance <= (third > 1 ? third : 1) ? s->best : NULL;
}
