/* destination.h - the file that a rename will replace: behind its links, and with its permissions.
 */
#ifndef TCGEMM_CLI_DESTINATION_H
#define TCGEMM_CLI_DESTINATION_H

#include <limits.h>
#include <stdbool.h>

/* Follows the links at the end of `path`, also one that leads to no file yet, into `out`. False
 * with errno (ELOOP, ENAMETOOLONG, ...). */
bool destination_resolve(const char *path, char out[PATH_MAX]);

/* Gives the open file the permissions of the one at `path`, if there is one. */
void destination_keep_mode(int fd, const char *path);

#endif
