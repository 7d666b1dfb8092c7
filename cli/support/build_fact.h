/* build_fact.h - one fact of how the library was built. */
#ifndef CLI_BUILD_FACT_H
#define CLI_BUILD_FACT_H

#include <stddef.h>

/* The value of the line "name   value" of tcgemm_build_info(), or "unknown". */
void build_fact(const char *name, char *value, size_t size);

#endif
