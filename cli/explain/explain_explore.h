/* explain_explore.h - the part of the page where one points at a tile of D and walks along k. */
#ifndef CLI_EXPLAIN_EXPLORE_H
#define CLI_EXPLAIN_EXPLORE_H

#include <stdio.h>

#include "explain/explain.h"

/* Writes the section; its script is page/explain.js. */
void explain_explore(const explain_facts_t *facts, FILE *out);

#endif
