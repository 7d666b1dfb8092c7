/* environment.c - the same grammar as the library's readers of these variables. */
#include "support/environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "support/message.h"
#include "tcgemm/tcgemm.h"

/* A whole number in low .. high, up to `end`, a set of characters that may follow. */
static bool is_number(const char *text, unsigned long long low, unsigned long long high,
                      const char *follow) {
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    return errno == 0 && end != text && *text != '-' && number >= low && number <= high &&
           (*end == '\0' || strchr(follow, *end) != NULL);
}

static bool is_thread_count(const char *text) {
    return is_number(text, 1, 4095, "");
}

static bool is_omp_list(const char *text) {
    return is_number(text, 1, 4095, ", ");
}

/* A set that the processor lacks hides nothing, so it does not do what its name says either. */
static bool is_arch(const char *text) {
    tcgemm_machine_info_t machine = {.struct_size = sizeof machine};
    if (strcmp(text, "any") == 0 || strcmp(text, "generic") == 0)
        return true;
    static const char *const sets[] = {"avx2", "avx_vnni", "avx512", "avx512_vnni", "amx",
                                       "neon", "dotprod",  "i8mm",   "bf16",        "sve"};
    bool is_set = false;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; ++i)
        is_set |= strcmp(text, sets[i]) == 0;
    if (!is_set)
        return false;
    return tcgemm_machine_get_info(&machine) == TCGEMM_STATUS_OK &&
           strstr(machine.features, text) != NULL;
}

static bool is_cuda_arch(const char *text) {
    return is_number(text, 50, 999, "");
}

static bool is_bytes(const char *text) {
    return is_number(text, 1, ~0ull, "");
}

/* 0 and nothing mean no, as the library has it. */
static bool is_verbose(const char *text) {
    return *text == '\0' || strcmp(text, "0") == 0 || strcmp(text, "1") == 0 ||
           (strncmp(text, "1:", 2) == 0 && text[2] != '\0');
}

static bool is_seed(const char *text) {
    return is_number(text, 0, ~0ull, "");
}

const environment_row_t environment_table[] = {
    {"TCGEMM_NUM_THREADS", "threads, unless --threads is given", "a whole number in 1 .. 4095",
     is_thread_count},
    {"OMP_NUM_THREADS", "threads, if TCGEMM_NUM_THREADS does not say; of a list the first number",
     "a whole number in 1 .. 4095", is_omp_list},
    {"TCGEMM_ARCH",
     "plays an older processor: any hides all vector instructions, avx2, avx_vnni, avx512, "
     "avx512_vnni and amx, on Arm neon, dotprod, i8mm, bf16 and sve, what is newer",
     "any, or one of avx2, avx_vnni, avx512, avx512_vnni and amx (Arm: neon, dotprod, i8mm, bf16, "
     "sve) that this processor has",
     is_arch},
    {"TCGEMM_CUDA_ARCH", "plays an older GPU: 75, 80, 86, ...", "a whole number in 50 .. 999",
     is_cuda_arch},
    {"TCGEMM_CUDA_MEMORY_LIMIT",
     "bytes of GPU memory that panels of matrices in host memory may take", "a number of bytes",
     is_bytes},
    {"TCGEMM_VERBOSE",
     "1 writes a line on each product to the standard error, 1:FILE to the end of FILE: what was "
     "multiplied, by which kernel and threads or device, its seconds and GFLOP/s",
     "0, 1 or 1:FILE", is_verbose},
    {"TCGEMM_EMULATOR", "explain --simulate: the folder of the emulator of GPU kernels", NULL,
     NULL},
    {"TCGEMM_EMULATOR_SEED", "explain --simulate: the order of warps, blocks and copies",
     "a whole number", is_seed},
    {"CUDA_VISIBLE_DEVICES", "which GPUs the driver shows; empty hides all", NULL, NULL},
    {"OPENBLAS_CORETYPE", "bench --vs openblas: the kernels that OpenBLAS takes, such as SkylakeX",
     NULL, NULL},
    {"TERM", "with dumb no progress bar is drawn", NULL, NULL},
};

const size_t num_environment_rows = sizeof environment_table / sizeof environment_table[0];

void environment_check(void) {
    for (size_t i = 0; i < num_environment_rows; ++i) {
        const environment_row_t *row = &environment_table[i];
        const char *value = getenv(row->name);
        if (value && row->counts && !row->counts(value))
            message_note("%s is '%s', which is not %s", row->name, value, row->values);
    }
}
