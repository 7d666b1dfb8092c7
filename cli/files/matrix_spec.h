/* How the user names a matrix in a file: "A.npy", "m.safetensors", "m.safetensors:tensor",
 * "m.npz:array", "A.csv". */
#ifndef TCGEMM_CLI_MATRIX_SPEC_H
#define TCGEMM_CLI_MATRIX_SPEC_H

#include <limits.h>
#include <stdbool.h>

#include "files/file_error.h"

typedef enum file_kind {
    FILE_KIND_UNKNOWN,
    FILE_KIND_NPY,
    FILE_KIND_SAFETENSORS,
    FILE_KIND_NPZ,
    FILE_KIND_MTX,
    FILE_KIND_ROWS /* .csv, .tsv, .txt */
} file_kind_t;

typedef struct matrix_spec {
    char path[PATH_MAX];
    const char *tensor; /* within the text that was parsed; NULL if none is named */
    file_kind_t kind;   /* by the extension */
} matrix_spec_t;

/* Splits `text`, which must outlive `spec`. An unknown extension is no error here, but an empty or
 * overlong path is. */
bool matrix_spec_parse(const char *text, matrix_spec_t *spec, file_error_t *err);

/* For a text of unknown kind: takes what follows its last ':' for the name of a tensor. False, with
 * `spec` as it was, if there is no ':'. */
bool matrix_spec_split(const char *text, matrix_spec_t *spec);

#endif /* TCGEMM_CLI_MATRIX_SPEC_H */
