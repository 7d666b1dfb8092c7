/* explain_files.h - the pictures and the page as files. */
#ifndef CLI_EXPLAIN_FILES_H
#define CLI_EXPLAIN_FILES_H

#include "explain/explain.h"

/* Refuses, before anything is worked out, to overwrite what --html and --svg name without --force.
 * Returns an exit status. */
int explain_files_check(const settings_t *settings);

/* Writes what --html and --svg name. A file is there as a whole or not at all. Returns an exit
 * status. */
int explain_files_write(const explain_facts_t *facts);

#endif
