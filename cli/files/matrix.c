/* matrix.c - reads matrices from files, and converts them. */
#include "files/matrix.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "files/array_view.h"
#include "files/matrix_spec.h"
#include "files/npy.h"
#include "files/npz.h"
#include "files/safetensors.h"
#include "files/text_matrix.h"
#include "files/whole_file.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are read as they lie in memory");

#define ALIGNMENT 64 /* of memory of ours: a cache line */

/* ---- The file ------------------------------------------------------------------------------- */

/* By the first bytes. */
static file_kind_t recognize(const whole_file_t *file) {
    return npy_has_magic(file->bytes, file->num_bytes)           ? FILE_KIND_NPY
           : safetensors_has_magic(file->bytes, file->num_bytes) ? FILE_KIND_SAFETENSORS
           : npz_has_magic(file->bytes, file->num_bytes)         ? FILE_KIND_NPZ
           : mtx_has_magic(file->bytes, file->num_bytes)         ? FILE_KIND_MTX
                                                                 : FILE_KIND_UNKNOWN;
}

/* The array of an archive takes the place of the archive, and its name goes with the path. */
static bool open_npz(matrix_spec_t *spec, whole_file_t *file, file_error_t *err) {
    whole_file_t member;
    const char *word;
    const bool good = npz_take(file, spec->path, spec->tensor, &member, &word, err);
    whole_file_free(file);
    if (!good)
        return false;
    const size_t length = strlen(spec->path);
    if (spec->tensor)
        (void)snprintf(spec->path + length, sizeof spec->path - length, ":%s", spec->tensor);
    *file = member;
    spec->tensor = word;
    spec->kind = FILE_KIND_NPY;
    return true;
}

/* Parses `text` into `spec`, maps its file, and settles what kind of file it is. */
static bool map_spec(const char *text, matrix_spec_t *spec, whole_file_t *file, file_error_t *err) {
    if (!matrix_spec_parse(text, spec, err))
        return false;
    int fd = whole_file_open(spec->path);
    if (fd < 0 && errno == ENOENT && spec->kind == FILE_KIND_UNKNOWN &&
        matrix_spec_split(text, spec))
        fd = whole_file_open(spec->path);
    if (fd < 0)
        return file_fail(err, FILE_EXIT_BAD_FILE, spec->path, "%s", strerror(errno));
    if (!whole_file_take(fd, spec->path, file, err))
        return false;

    if (spec->kind == FILE_KIND_UNKNOWN)
        spec->kind = recognize(file);
    if (spec->kind == FILE_KIND_UNKNOWN) {
        whole_file_free(file);
        return file_fail(err, FILE_EXIT_BAD_FILE, spec->path,
                         "neither an .npy, .npz, .safetensors nor .mtx file (of text, the name "
                         "ends in .csv, .tsv or .txt)");
    }
    return spec->kind != FILE_KIND_NPZ || open_npz(spec, file, err);
}

/* ---- The data ------------------------------------------------------------------------------- */

static void *allocate(size_t num_bytes) {
    if (num_bytes > PTRDIFF_MAX - ALIGNMENT)
        return NULL;
    return aligned_alloc(ALIGNMENT, (num_bytes / ALIGNMENT + 1) * ALIGNMENT);
}

/* Copies `count` elements of 2, 4 or 8 bytes, turning their bytes around. */
static void copy_swapped(uint8_t *dst, const uint8_t *src, size_t count, size_t element_bytes) {
    for (size_t e = 0; e < count; e++)
        for (size_t b = 0; b < element_bytes; b++)
            dst[e * element_bytes + b] = src[e * element_bytes + element_bytes - 1 - b];
}

static bool decode(const uint8_t *src, const array_view_t *view, const char *path, matrix_t *out,
                   file_error_t *err) {
    const size_t size = array_view_element_bytes(view);
    const size_t count = view->num_bytes / size;
    const size_t at = element_decode(view->coding, src, count, view->big_endian, out->data);
    if (at == count)
        return true;
    char text[32];
    char index[64];
    element_text(view->coding, src + at * size, view->big_endian, text, sizeof text);
    matrix_index_text(out, (int64_t)at, index, sizeof index);
    free(out->data);
    return file_fail(err, FILE_EXIT_BAD_FILE, path, "element %s is %s, which no type of ours holds",
                     index, text);
}

/* Fortran's order of three dimensions, in which the elements of one matrix lie `batch` apart: that
 * is no stride of ours. A copy in C's order, which the caller frees. */
static uint8_t *copy_in_c_order(const uint8_t *src, const array_view_t *view) {
    const size_t size = array_view_element_bytes(view);
    const size_t batch = (size_t)view->batch;
    const size_t rows = (size_t)view->rows;
    const size_t cols = (size_t)view->cols;
    uint8_t *copy = allocate(view->num_bytes);
    uint8_t *to = copy;
    for (size_t t = 0; copy && t < batch; t++)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++, to += size)
                memcpy(to, src + (t + batch * (i + rows * j)) * size, size);
    return copy;
}

static bool copy_data(const uint8_t *src, const array_view_t *view, const char *path, matrix_t *out,
                      file_error_t *err) {
    const size_t element_bytes = array_view_element_bytes(view);
    const size_t count = view->num_bytes / element_bytes;
    const size_t num_bytes = count * (size_t)tcgemm_dtype_bits(view->dtype) / 8 + 1;
    out->data = allocate(num_bytes);
    if (out->data == NULL)
        return file_fail(err, FILE_EXIT_NO_MEMORY, path, "out of memory for %zu bytes", num_bytes);
    out->owned = true;
    if (view->coding != ELEMENT_PLAIN)
        return decode(src, view, path, out, err);
    if (view->big_endian)
        copy_swapped(out->data, src, count, element_bytes);
    else
        memcpy(out->data, src, view->num_bytes);
    return true;
}

/* All that the header says. */
static matrix_t matrix_of(const array_view_t *view) {
    const array_shape_t shape = array_view_shape(view);
    matrix_t m = {.dtype = view->dtype,
                  .num_dims = view->num_dims,
                  .batch = view->batch,
                  .stride = view->num_dims == 3 ? view->rows * view->cols : 0,
                  .rows = view->rows,
                  .cols = view->cols,
                  .ld = view->order == TCGEMM_COL_MAJOR ? view->rows : view->cols,
                  .order = view->order,
                  .taken = view->taken,
                  .whole = view->coding >= ELEMENT_S16 || view->dtype == TCGEMM_DTYPE_S32,
                  .swapped = view->big_endian};
    memcpy(m.dims, shape.dims, sizeof m.dims);
    memcpy(m.dtype_text, view->dtype_text, sizeof m.dtype_text);
    return m;
}

static bool take_reordered(const uint8_t *data, const array_view_t *view, const char *path,
                           matrix_t *out, file_error_t *err) {
    uint8_t *copy = copy_in_c_order(data, view);
    if (copy == NULL)
        return file_fail(err, FILE_EXIT_NO_MEMORY, path, "out of memory for %zu bytes",
                         view->num_bytes);
    out->order = TCGEMM_ROW_MAJOR;
    out->ld = view->cols;
    const bool good = copy_data(copy, view, path, out, err);
    free(copy);
    return good;
}

/* Takes over the mapping if the data can be used where they lie; the caller unmaps it otherwise. */
static bool take_data(const whole_file_t *file, const array_view_t *view, const char *path,
                      matrix_t *out, file_error_t *err) {
    const uint8_t *data = file->bytes + view->offset;
    const size_t element_bytes = array_view_element_bytes(view);

    *out = matrix_of(view);
    if (view->num_dims == 3 && view->order == TCGEMM_COL_MAJOR)
        return take_reordered(data, view, path, out, err);
    if (view->coding != ELEMENT_PLAIN || view->big_endian || (uintptr_t)data % element_bytes != 0)
        return copy_data(data, view, path, out, err);
    out->mapping = (void *)(uintptr_t)file->bytes;
    out->mapping_bytes = file->num_bytes;
    out->data = (void *)(uintptr_t)data;
    return true;
}

/* What stands after the name of an .npy file is the user's word for its elements. */
static bool hint_of(const matrix_spec_t *spec, array_hint_t *hint, file_error_t *err) {
    tcgemm_dtype_t said;
    if (!spec->tensor)
        return true;
    if (!element_from_word(spec->tensor, &said))
        return file_fail(
            err, FILE_EXIT_BAD_FILE, spec->path,
            "an .npy file holds one array without a name, and '%.100s' is no type such "
            "as int4, e4m3 or bf16",
            spec->tensor);
    if (hint->said != 0 && hint->said != said)
        return file_fail(err, FILE_EXIT_USAGE, spec->path, "is said to hold %s and %s",
                         tcgemm_dtype_name(said), tcgemm_dtype_name(hint->said));
    hint->said = said;
    return true;
}

static bool parse(const whole_file_t *file, const matrix_spec_t *spec, const array_hint_t *hint,
                  array_view_t *view, file_error_t *err) {
    array_hint_t known = hint ? *hint : (array_hint_t){0};
    if (spec->kind == FILE_KIND_SAFETENSORS)
        return safetensors_parse(file->bytes, file->num_bytes, spec->path, spec->tensor, view,
                                 err) &&
               (known.said == 0 || known.said == view->dtype ||
                file_fail(err, FILE_EXIT_BAD_FILE, spec->path, "the type '%s' is %s, not %s",
                          view->dtype_text, tcgemm_dtype_name(view->dtype),
                          tcgemm_dtype_name(known.said)));
    return hint_of(spec, &known, err) &&
           npy_parse(file->bytes, file->num_bytes, spec->path, &known, view, err);
}

/* ---- Text ----------------------------------------------------------------------------------- */

static bool parse_text(const whole_file_t *file, const matrix_spec_t *spec, text_matrix_t *text,
                       file_error_t *err) {
    return spec->kind == FILE_KIND_MTX
               ? mtx_parse(file->bytes, file->num_bytes, spec->path, text, err)
               : rows_parse(file->bytes, file->num_bytes, spec->path, text, err);
}

static bool load_text(const whole_file_t *file, const matrix_spec_t *spec, const array_hint_t *hint,
                      matrix_t *out, file_error_t *err) {
    text_matrix_t text;
    if (spec->tensor)
        return file_fail(err, FILE_EXIT_BAD_FILE, spec->path,
                         "a text holds one matrix of f64, so '%.100s' means nothing", spec->tensor);
    if (hint && hint->said != 0)
        return file_fail(err, FILE_EXIT_BAD_FILE, spec->path,
                         "the numbers of a text are f64, not %s", tcgemm_dtype_name(hint->said));
    if (!parse_text(file, spec, &text, err))
        return false;
    *out = (matrix_t){.dtype = TCGEMM_DTYPE_F64,
                      .num_dims = 2,
                      .dims = {text.rows, text.cols},
                      .batch = 1,
                      .rows = text.rows,
                      .cols = text.cols,
                      .ld = text.order == TCGEMM_COL_MAJOR ? text.rows : text.cols,
                      .order = text.order,
                      .data = text.values,
                      .whole = text.whole,
                      .owned = true};
    (void)snprintf(out->dtype_text, sizeof out->dtype_text, text.whole ? "integer" : "text");
    return true;
}

/* ---- The whole ------------------------------------------------------------------------------ */

bool matrix_load(const char *spec_text, const array_hint_t *hint, matrix_t *out,
                 file_error_t *err) {
    matrix_spec_t spec;
    whole_file_t file;
    array_view_t view;

    *out = (matrix_t){.data = NULL};
    if (!map_spec(spec_text, &spec, &file, err))
        return false;
    const bool is_text = spec.kind == FILE_KIND_MTX || spec.kind == FILE_KIND_ROWS;
    const bool ok = is_text ? load_text(&file, &spec, hint, out, err)
                            : parse(&file, &spec, hint, &view, err) &&
                                  take_data(&file, &view, spec.path, out, err);
    if (!ok)
        *out = (matrix_t){.data = NULL};
    if (out->mapping == NULL)
        whole_file_free(&file);
    return ok;
}

void matrix_free(matrix_t *matrix) {
    if (matrix->owned)
        free(matrix->data);
    if (matrix->mapping)
        (void)munmap(matrix->mapping, matrix->mapping_bytes);
    *matrix = (matrix_t){.data = NULL};
}

/* ---- Listing -------------------------------------------------------------------------------- */

static bool list_npy(const whole_file_t *file, const char *path, char *text, size_t size,
                     file_error_t *err) {
    array_view_t view;
    char dims[128];
    if (!npy_parse(file->bytes, file->num_bytes, path, MATRIX_NO_HINT, &view, err))
        return false;
    const array_shape_t shape = array_view_shape(&view);
    snprintf(text, size, "(%s %s)", view.dtype_text, array_shape_text(&shape, dims, sizeof dims));
    return true;
}

static bool list_text(const whole_file_t *file, const matrix_spec_t *spec, char *text, size_t size,
                      file_error_t *err) {
    text_matrix_t matrix;
    if (!parse_text(file, spec, &matrix, err))
        return false;
    free(matrix.values);
    snprintf(text, size, "(%s %" PRId64 " x %" PRId64 ")", matrix.whole ? "integer" : "text",
             matrix.rows, matrix.cols);
    return true;
}

bool matrix_list(const char *path, char *text, size_t size, file_error_t *err) {
    matrix_spec_t spec;
    whole_file_t file;
    if (!map_spec(path, &spec, &file, err))
        return false;
    const bool ok = spec.kind == FILE_KIND_NPY ? list_npy(&file, spec.path, text, size, err)
                    : spec.kind == FILE_KIND_SAFETENSORS
                        ? safetensors_list(file.bytes, file.num_bytes, spec.path, text, size, err)
                        : list_text(&file, &spec, text, size, err);
    whole_file_free(&file);
    return ok;
}

/* ---- Converting ----------------------------------------------------------------------------- */

/* The elements from the first to the last one, gaps between the rows included; false on overflow.
 */
static bool count_elements(const matrix_t *matrix, int64_t *count) {
    const bool col_major = matrix->order == TCGEMM_COL_MAJOR;
    const int64_t lines = col_major ? matrix->cols : matrix->rows;
    const int64_t length = col_major ? matrix->rows : matrix->cols;
    const int64_t ld = matrix->ld ? matrix->ld : length;
    int64_t before;
    *count = 0;
    if (matrix->batch == 0 || lines == 0 || length == 0)
        return true;
    return !__builtin_mul_overflow(lines - 1, ld, count) &&
           !__builtin_add_overflow(*count, length, count) &&
           !__builtin_mul_overflow(matrix->batch - 1, matrix->stride, &before) &&
           !__builtin_add_overflow(*count, before, count);
}

void matrix_index_text(const matrix_t *matrix, int64_t index, char *text, size_t size) {
    const bool col_major = matrix->order == TCGEMM_COL_MAJOR;
    const int64_t ld = matrix->ld > 0 ? matrix->ld : 1;
    const int64_t items = matrix->stride > 0 ? matrix->stride : INT64_MAX;
    const int64_t in_item = index % items;
    const int64_t row = col_major ? in_item % ld : in_item / ld;
    const int64_t col = col_major ? in_item / ld : in_item % ld;
    if (matrix->num_dims == 1)
        (void)snprintf(text, size, "[%" PRId64 "]", col);
    else if (matrix->num_dims == 3)
        (void)snprintf(text, size, "[%" PRId64 "][%" PRId64 "][%" PRId64 "]", index / items, row,
                       col);
    else
        (void)snprintf(text, size, "[%" PRId64 "][%" PRId64 "]", row, col);
}

bool matrix_convert(const matrix_t *in, tcgemm_dtype_t to, matrix_t *out, file_error_t *err) {
    const char *name = tcgemm_dtype_name(to);
    int64_t count;
    int64_t bits;
    matrix_t copy = *in;

    *out = (matrix_t){.data = NULL};
    if (!count_elements(in, &count) ||
        __builtin_mul_overflow(count, (int64_t)tcgemm_dtype_bits(to), &bits))
        return file_fail(err, FILE_EXIT_NO_MEMORY, name, "the matrix would be too large");
    const size_t num_bytes = (size_t)(bits / 8 + (bits % 8 != 0));
    copy.dtype = to;
    copy.data = allocate(num_bytes);
    copy.owned = true;
    copy.swapped = false;
    copy.mapping = NULL;
    copy.mapping_bytes = 0;
    snprintf(copy.dtype_text, sizeof copy.dtype_text, "%s", name);
    if (copy.data == NULL)
        return file_fail(err, FILE_EXIT_NO_MEMORY, name, "out of memory for %zu bytes", num_bytes);

    if (to == in->dtype) { /* also keeps the bits of a NaN */
        memcpy(copy.data, in->data, num_bytes);
    } else if (tcgemm_convert(to, copy.data, in->dtype, in->data, count) != TCGEMM_STATUS_OK) {
        free(copy.data);
        return file_fail(err, FILE_EXIT_USAGE, name, "no conversion from %s",
                         tcgemm_dtype_name(in->dtype));
    }
    *out = copy;
    return true;
}
