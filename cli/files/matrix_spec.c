/* matrix_spec.c - how the user names a matrix in a file. */
#include "files/matrix_spec.h"

#include <string.h>

#define NPY         ".npy"
#define SAFETENSORS ".safetensors"

static bool ends_with(const char *text, const char *suffix) {
    const size_t length = strlen(text);
    const size_t tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

static file_kind_t kind_of(const char *path) {
    return ends_with(path, NPY)           ? FILE_KIND_NPY
           : ends_with(path, SAFETENSORS) ? FILE_KIND_SAFETENSORS
                                          : FILE_KIND_UNKNOWN;
}

/* `length` < PATH_MAX. */
static void set_path(matrix_spec_t *spec, const char *text, size_t length, const char *tensor) {
    memcpy(spec->path, text, length);
    spec->path[length] = '\0';
    spec->tensor = tensor;
    spec->kind = kind_of(spec->path);
}

bool matrix_spec_parse(const char *text, matrix_spec_t *spec, file_error_t *err) {
    const char *split = strstr(text, SAFETENSORS ":");
    const size_t length = split ? (size_t)(split - text) + strlen(SAFETENSORS) : strlen(text);
    if (length >= sizeof spec->path)
        return file_fail(err, FILE_EXIT_BAD_FILE, text, "the path is too long");
    if (length == 0)
        return file_fail(err, FILE_EXIT_BAD_FILE, "''", "the path is empty");
    set_path(spec, text, length, split ? text + length + 1 : NULL);
    return true;
}

bool matrix_spec_split(const char *text, matrix_spec_t *spec) {
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text)
        return false;
    set_path(spec, text, (size_t)(colon - text), colon + 1);
    return true;
}
