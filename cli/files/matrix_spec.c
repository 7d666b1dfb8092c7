/* matrix_spec.c - how the user names a matrix in a file. */
#include "files/matrix_spec.h"

#include <string.h>

/* Files that hold several arrays are named with one of them: FILE:ARRAY. */
static const struct {
    const char *extension;
    file_kind_t kind;
    bool has_names;
} kinds[] = {
    {".npy", FILE_KIND_NPY, false},  {".safetensors", FILE_KIND_SAFETENSORS, true},
    {".npz", FILE_KIND_NPZ, true},   {".mtx", FILE_KIND_MTX, false},
    {".csv", FILE_KIND_ROWS, false}, {".tsv", FILE_KIND_ROWS, false},
    {".txt", FILE_KIND_ROWS, false},
};
#define NUM_KINDS (sizeof kinds / sizeof kinds[0])

static bool ends_with(const char *text, const char *suffix) {
    const size_t length = strlen(text);
    const size_t tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

static file_kind_t kind_of(const char *path) {
    for (size_t i = 0; i < NUM_KINDS; i++)
        if (ends_with(path, kinds[i].extension))
            return kinds[i].kind;
    return FILE_KIND_UNKNOWN;
}

/* The ':' behind the first extension that has names; NULL. */
static const char *find_split(const char *text) {
    const char *first = NULL;
    for (size_t i = 0; i < NUM_KINDS; i++) {
        const size_t length = strlen(kinds[i].extension);
        const char *at = kinds[i].has_names ? strstr(text, kinds[i].extension) : NULL;
        while (at != NULL && at[length] != ':')
            at = strstr(at + 1, kinds[i].extension);
        if (at != NULL && (first == NULL || at + length < first))
            first = at + length;
    }
    return first;
}

/* `length` < PATH_MAX. */
static void set_path(matrix_spec_t *spec, const char *text, size_t length, const char *tensor) {
    memcpy(spec->path, text, length);
    spec->path[length] = '\0';
    spec->tensor = tensor;
    spec->kind = kind_of(spec->path);
}

bool matrix_spec_parse(const char *text, matrix_spec_t *spec, file_error_t *err) {
    const char *split = find_split(text);
    const size_t length = split ? (size_t)(split - text) : strlen(text);
    if (length >= sizeof spec->path)
        return file_fail(err, FILE_EXIT_BAD_FILE, text, "the path is too long");
    if (length == 0)
        return file_fail(err, FILE_EXIT_BAD_FILE, "''", "the path is empty");
    set_path(spec, text, length, split ? split + 1 : NULL);
    return true;
}

bool matrix_spec_split(const char *text, matrix_spec_t *spec) {
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text)
        return false;
    set_path(spec, text, (size_t)(colon - text), colon + 1);
    return true;
}
