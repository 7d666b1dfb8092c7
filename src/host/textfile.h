/* textfile.h - the small files under /proc and /sys in which Linux tells its facts. */
#ifndef TCGEMM_HOST_TEXTFILE_H
#define TCGEMM_HOST_TEXTFILE_H

#include <stdbool.h>
#include <stddef.h>

/* The beginning of a file as a string of at most `size` - 1 bytes; false if it cannot be read.
 * Allocates nothing: a product may call it. */
bool tcgemm_read_file(const char *path, char *text, size_t size);

#endif
