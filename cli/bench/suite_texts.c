/* suite_texts.c - the suites by name. */
#include "bench/suite_texts.h"

#include <string.h>

#include "bench/suite.h"

const char *suite_text(const char *name, size_t *length) {
    if (strcmp(name, "h200") == 0) {
        *length = tcgemm_suite_h200_size;
        return tcgemm_suite_h200;
    }
    if (strcmp(name, "cpu") == 0) {
        *length = tcgemm_suite_cpu_size;
        return tcgemm_suite_cpu;
    }
    return NULL;
}
