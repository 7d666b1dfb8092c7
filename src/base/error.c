/* error.c - status texts and the last sentence of each thread. */
#include "base/error.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[512];
static _Thread_local int hushed;

tcgemm_status_t tcgemm_error_set(tcgemm_status_t status, const char *format, ...) {
    if (hushed > 0)
        return status;
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* 0.5, never 0,5 */
    const locale_t callers_locale = c_locale ? uselocale(c_locale) : (locale_t)0;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    if (c_locale) {
        (void)uselocale(callers_locale);
        freelocale(c_locale);
    }
    return status;
}

void tcgemm_error_hush(void) {
    ++hushed;
}

void tcgemm_error_speak(void) {
    --hushed;
}

const char *tcgemm_last_error(void) {
    return last_error;
}

static const struct {
    tcgemm_status_t status;
    const char *name;
    const char *text;
} status_table[] = {
    {TCGEMM_STATUS_OK, "OK", "no error"},
    {TCGEMM_STATUS_BAD_ARGUMENT, "BAD_ARGUMENT", "an argument is NULL or has an unknown value"},
    {TCGEMM_STATUS_BAD_TYPE, "BAD_TYPE", "unknown type"},
    {TCGEMM_STATUS_BAD_SHAPE, "BAD_SHAPE", "a size is negative"},
    {TCGEMM_STATUS_BAD_LD, "BAD_LD", "a leading dimension is shorter than a stored row"},
    {TCGEMM_STATUS_BAD_STRIDE, "BAD_STRIDE",
     "a batch stride is negative or makes D overlap itself"},
    {TCGEMM_STATUS_BAD_SCALAR, "BAD_SCALAR", "alpha or beta does not fit the type"},
    {TCGEMM_STATUS_BAD_ALIGNMENT, "BAD_ALIGNMENT", "a pointer is not aligned to its element"},
    {TCGEMM_STATUS_OVERLAP, "OVERLAP", "D overlaps an operand"},
    {TCGEMM_STATUS_TOO_LARGE, "TOO_LARGE", "a matrix exceeds the address space"},
    {TCGEMM_STATUS_UNKNOWN_ALGO, "UNKNOWN_ALGO", "no algorithm or kernel has that name"},
    {TCGEMM_STATUS_UNSUPPORTED, "UNSUPPORTED", "that algorithm cannot do this problem here"},
    {TCGEMM_STATUS_NO_DEVICE, "NO_DEVICE", "the device is not there"},
    {TCGEMM_STATUS_OUT_OF_MEMORY, "OUT_OF_MEMORY", "out of memory"},
    {TCGEMM_STATUS_DEVICE_ERROR, "DEVICE_ERROR", "the GPU's driver refused a call"},
    {TCGEMM_STATUS_DEVICE_LOST, "DEVICE_LOST", "the GPU is lost to this process"},
    {TCGEMM_STATUS_AFTER_FORK, "AFTER_FORK", "a forked child cannot use its parent's GPU"},
    {TCGEMM_STATUS_INTERNAL, "INTERNAL", "a fault in tcgemm"},
};

#define NUM_STATUSES (sizeof status_table / sizeof status_table[0])

const char *tcgemm_status_name(tcgemm_status_t status) {
    for (size_t i = 0; i < NUM_STATUSES; ++i)
        if (status_table[i].status == status)
            return status_table[i].name;
    return "UNKNOWN_STATUS";
}

const char *tcgemm_status_text(tcgemm_status_t status) {
    for (size_t i = 0; i < NUM_STATUSES; ++i)
        if (status_table[i].status == status)
            return status_table[i].text;
    return "unknown status";
}
