/* suite_texts.h - the files of bench/suites as arrays, which the build makes of them. */
#ifndef CLI_SUITE_TEXTS_H
#define CLI_SUITE_TEXTS_H

#include <stddef.h>

extern const char tcgemm_suite_h200[];
extern const size_t tcgemm_suite_h200_size;
extern const char tcgemm_suite_cpu[];
extern const size_t tcgemm_suite_cpu_size;

#endif
