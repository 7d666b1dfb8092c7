/* struct.h - structs of callers that were compiled for another version of this library.
 *
 * Every public struct begins with its struct_size, and grows at its end alone. So
 *
 *     an older caller's is shorter     what it lacks has the default that it had then
 *     a newer caller's is longer       an input is taken if all that we do not know is zero;
 *                                      of an output we write what we know
 *
 * Nothing is read or written beyond the caller's struct_size.
 */
#ifndef TCGEMM_BASE_STRUCT_H
#define TCGEMM_BASE_STRUCT_H

#include <stddef.h>

#include "tcgemm/tcgemm.h"

/* The bytes of `type` up to the end of `member`: the least that an input may hold is the end of
 * the last member that has no default. */
#define TCGEMM_STRUCT_END(type, member) (offsetof(type, member) + sizeof(((type *)NULL)->member))

/* Copies the caller's input `from` over the defaults in `to`, which has `size` bytes and whose
 * struct_size becomes `size`. `name` is what the header calls the argument. Returns OK or
 * BAD_ARGUMENT: `from` is NULL, shorter than `least`, or its unknown tail is not zero. */
tcgemm_status_t tcgemm_struct_read(const char *name, const void *from, size_t least, void *to,
                                   size_t size);

/* Whether the caller's output can take a result: BAD_ARGUMENT if it is NULL or its struct_size,
 * of `size` that we know, covers no member. */
tcgemm_status_t tcgemm_struct_check(const char *name, const void *out, size_t size);

/* Writes ours (`size` bytes) into the caller's output as far as that goes, but for its struct_size,
 * which stays. */
void tcgemm_struct_write(void *out, const void *ours, size_t size);

#endif
