/* stream_copy.h - copies of what nobody reads soon. */
#ifndef TCGEMM_HOST_STREAM_COPY_H
#define TCGEMM_HOST_STREAM_COPY_H

#include <stddef.h>

/* memcpy past the caches where the processor can (x86-64): memory is not read before it is
 * overwritten. Other threads see the bytes after whatever hands them over. */
void tcgemm_stream_copy(void *restrict to, const void *restrict from, size_t bytes);

#endif
