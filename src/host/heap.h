/* heap.h - addresses that are surely ordinary memory of the process. */
#ifndef TCGEMM_HOST_HEAP_H
#define TCGEMM_HOST_HEAP_H

#include <stdbool.h>

/* True for an address below the program break and from the heap's beginning on, where no driver
 * maps memory of its own: most of what malloc gives the main thread of a glibc program. False tells
 * nothing. A few nanoseconds, after the first call. */
bool tcgemm_is_in_heap(const void *pointer);

#endif
