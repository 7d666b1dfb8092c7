/* struct.c - see struct.h. */
#include "base/struct.h"

#include <string.h>

#include "base/error.h"

static size_t size_of(const void *any) {
    size_t size;
    memcpy(&size, any, sizeof size);
    return size;
}

static size_t least_of(size_t x, size_t y) {
    return x < y ? x : y;
}

/* The first byte of [begin, end) that is not zero, or `end`. */
static size_t first_set(const void *any, size_t begin, size_t end) {
    const unsigned char *const bytes = any;
    size_t at = begin;
    while (at < end && bytes[at] == 0)
        ++at;
    return at;
}

tcgemm_status_t tcgemm_struct_read(const char *name, const void *from, size_t least, void *to,
                                   size_t size) {
    TCGEMM_RETURN_IF(!from, TCGEMM_STATUS_BAD_ARGUMENT, "%s is NULL", name);
    const size_t given = size_of(from);
    TCGEMM_RETURN_IF(given < least, TCGEMM_STATUS_BAD_ARGUMENT,
                     "%s->struct_size is %zu, expected %zu: build it with its function of the "
                     "header",
                     name, given, size);
    const size_t set = given > size ? first_set(from, size, given) : given;
    TCGEMM_RETURN_IF(set < given, TCGEMM_STATUS_BAD_ARGUMENT,
                     "%s->struct_size is %zu, but this library knows %zu bytes, and what comes "
                     "after them is not zero (byte %zu)",
                     name, given, size, set);
    memcpy((char *)to + sizeof given, (const char *)from + sizeof given,
           least_of(given, size) - sizeof given);
    memcpy(to, &size, sizeof size);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_struct_check(const char *name, const void *out, size_t size) {
    TCGEMM_RETURN_IF(!out, TCGEMM_STATUS_BAD_ARGUMENT, "%s is NULL", name);
    const size_t given = size_of(out);
    TCGEMM_RETURN_IF(given <= sizeof given, TCGEMM_STATUS_BAD_ARGUMENT,
                     "%s->struct_size is %zu, expected %zu: set it before the call", name, given,
                     size);
    return TCGEMM_STATUS_OK;
}

void tcgemm_struct_write(void *out, const void *ours, size_t size) {
    const size_t skip = sizeof(size_t);
    memcpy((char *)out + skip, (const char *)ours + skip, least_of(size_of(out), size) - skip);
}
