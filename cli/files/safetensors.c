/* safetensors.c - the header of .safetensors files.
 *
 * The reader works in three passes, so that each can trust the one before: the frame (N, the
 * nesting of brackets) on the raw bytes; jansson, which rejects bad UTF-8, NULs and duplicate keys;
 * then the rules of the format, over a table of all tensors:
 *
 *     0      begin[0] == 0              begin[1] == end[0]            end[last] == bytes of data
 *     |------- tensor 0 -----------------|------- tensor 1 ----- ... ------|
 */
#include "files/safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_BYTES     8
#define MAX_HEADER_BYTES 100000000 /* the limit of the reference implementation */
#define MAX_DEPTH        8         /* a sound header nests three deep; the parser recurses */
/* Five a tensor, so some 50000 tensors; as a tree that is 55 MB, which is enough for one file. */
#define MAX_COMMAS 250000

/* ---- Types ---------------------------------------------------------------------------------- */

typedef struct format_row {
    const char *text;
    int bits;
    tcgemm_dtype_t dtype; /* 0: known to the format, but not to tcgemm */
} format_row_t;

static const format_row_t format_table[] = {
    {"F64", 64, TCGEMM_DTYPE_F64},
    {"F32", 32, TCGEMM_DTYPE_F32},
    {"F16", 16, TCGEMM_DTYPE_F16},
    {"BF16", 16, TCGEMM_DTYPE_BF16},
    {"F8_E4M3", 8, TCGEMM_DTYPE_E4M3},
    {"F8_E5M2", 8, TCGEMM_DTYPE_E5M2},
    {"I32", 32, TCGEMM_DTYPE_S32},
    {"I8", 8, TCGEMM_DTYPE_S8},
    {"U8", 8, TCGEMM_DTYPE_U8},
    {"BOOL", 8, (tcgemm_dtype_t)0},
    {"I16", 16, (tcgemm_dtype_t)0},
    {"U16", 16, (tcgemm_dtype_t)0},
    {"U32", 32, (tcgemm_dtype_t)0},
    {"I64", 64, (tcgemm_dtype_t)0},
    {"U64", 64, (tcgemm_dtype_t)0},
    {"C64", 64, (tcgemm_dtype_t)0},
    {"F8_E8M0", 8, (tcgemm_dtype_t)0},
    {"F8_E4M3FNUZ", 8, (tcgemm_dtype_t)0},
    {"F8_E5M2FNUZ", 8, (tcgemm_dtype_t)0},
    {"F6_E2M3", 6, (tcgemm_dtype_t)0},
    {"F6_E3M2", 6, (tcgemm_dtype_t)0},
    {"F4", 4, (tcgemm_dtype_t)0},
};
#define NUM_FORMAT_ROWS (sizeof format_table / sizeof format_table[0])

static const format_row_t *find_format(const char *text) {
    for (size_t i = 0; i < NUM_FORMAT_ROWS; i++)
        if (strcmp(text, format_table[i].text) == 0)
            return &format_table[i];
    return NULL;
}

/* ---- Pass 1: the frame ---------------------------------------------------------------------- */

static bool fail(file_error_t *err, const char *name, const char *reason) {
    return file_fail(err, FILE_EXIT_BAD_FILE, name, "damaged .safetensors header: %s", reason);
}

static uint64_t header_length(const uint8_t *bytes) {
    uint64_t length = 0;
    for (size_t i = LENGTH_BYTES; i-- > 0;)
        length = length << 8 | bytes[i];
    return length;
}

bool safetensors_has_magic(const uint8_t *bytes, size_t num_bytes) {
    return num_bytes > LENGTH_BYTES && bytes[LENGTH_BYTES] == '{' &&
           header_length(bytes) <= num_bytes - LENGTH_BYTES;
}

/* Looks at brackets and commas outside of strings, before any memory is taken; everything else is
 * left to the JSON parser. Returns what is wrong, or NULL. */
static const char *scan_json(const uint8_t *json, size_t length) {
    int depth = 0;
    size_t num_commas = 0;
    bool in_string = false;
    for (size_t i = 0; i < length; i++) {
        const uint8_t byte = json[i];
        if (in_string && byte == '\\')
            i++;
        else if (byte == '"')
            in_string = !in_string;
        else if (in_string)
            continue;
        else if (byte == '{' || byte == '[')
            depth++;
        else if (byte == '}' || byte == ']')
            depth--;
        else if (byte == ',')
            num_commas++;
        if (depth > MAX_DEPTH)
            return "it is nested too deeply";
    }
    return num_commas > MAX_COMMAS ? "it has far too many entries" : NULL;
}

static bool check_frame(const uint8_t *bytes, size_t num_bytes, const char *name,
                        file_error_t *err) {
    if (num_bytes < LENGTH_BYTES)
        return fail(err, name, "the file ends within its first 8 bytes");
    const uint64_t length = header_length(bytes);
    if (length > num_bytes - LENGTH_BYTES)
        return file_fail(err, FILE_EXIT_BAD_FILE, name,
                         "the .safetensors header claims %" PRIu64 " bytes but only %zu follow",
                         length, num_bytes - LENGTH_BYTES);
    if (length > MAX_HEADER_BYTES)
        return file_fail(err, FILE_EXIT_BAD_FILE, name,
                         "the .safetensors header claims %" PRIu64
                         " bytes; more than %d are refused",
                         length, MAX_HEADER_BYTES);
    if (length == 0 || bytes[LENGTH_BYTES] != '{')
        return fail(err, name, "it does not begin with '{'");
    const char *reason = scan_json(bytes + LENGTH_BYTES, (size_t)length);
    return reason == NULL || fail(err, name, reason);
}

/* ---- Pass 2: JSON --------------------------------------------------------------------------- */

/* Returns NULL after filling `err`. */
static json_t *read_json(const uint8_t *bytes, const char *name, file_error_t *err) {
    json_error_t why;
    json_t *root = json_loadb((const char *)bytes + LENGTH_BYTES, (size_t)header_length(bytes),
                              JSON_REJECT_DUPLICATES, &why);
    if (root == NULL) {
        if (json_error_code(&why) == json_error_out_of_memory)
            file_fail(err, FILE_EXIT_NO_MEMORY, name, "out of memory for the header");
        else
            fail(err, name, why.text);
    }
    return root;
}

/* ---- Pass 3: the rules ---------------------------------------------------------------------- */

typedef struct tensor {
    const char *name; /* in the JSON tree, like `format` in its table */
    const format_row_t *format;
    array_shape_t shape;
} tensor_t;

typedef struct extent {
    int64_t begin, end;
    const char *name;
} extent_t;

typedef struct header {
    json_t *root;
    extent_t *extents; /* of all tensors, in the order of the data */
    size_t num_tensors;
    size_t data_offset; /* in the file */
} header_t;

static bool fail_tensor(file_error_t *err, const char *name, const char *tensor,
                        const char *reason) {
    return file_fail(err, FILE_EXIT_BAD_FILE, name, "tensor '%.100s': %s", tensor, reason);
}

static bool read_shape(const json_t *array, array_shape_t *shape) {
    const size_t num_dims = json_array_size(array); /* 0 if it is no array */
    if (!json_is_array(array) || num_dims > ARRAY_MAX_DIMS)
        return false;
    shape->num_dims = (int)num_dims;
    for (size_t d = 0; d < num_dims; d++) {
        const json_t *dim = json_array_get(array, d);
        if (!json_is_integer(dim) || json_integer_value(dim) < 0)
            return false;
        shape->dims[d] = json_integer_value(dim);
    }
    return true;
}

static bool read_extent(const json_t *array, extent_t *extent) {
    const json_t *begin = json_array_get(array, 0);
    const json_t *end = json_array_get(array, 1);
    if (json_array_size(array) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return false;
    extent->begin = json_integer_value(begin);
    extent->end = json_integer_value(end);
    return extent->begin >= 0 && extent->begin <= extent->end;
}

/* Reads one entry and checks that its extent has the size that its shape asks for. */
static bool read_tensor(const char *key, const json_t *entry, const char *name, tensor_t *tensor,
                        extent_t *extent, file_error_t *err) {
    tensor->name = extent->name = key;
    if (!json_is_object(entry) || json_object_size(entry) != 3)
        return fail_tensor(err, name, key, "not an object of dtype, shape and data_offsets");
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (dtype == NULL)
        return fail_tensor(err, name, key, "its dtype is missing or not a string");
    tensor->format = find_format(dtype);
    if (tensor->format == NULL)
        return file_fail(err, FILE_EXIT_BAD_FILE, name,
                         "tensor '%.100s' has the dtype '%.40s', which is unknown", key, dtype);
    if (!read_shape(json_object_get(entry, "shape"), &tensor->shape))
        return fail_tensor(err, name, key, "its shape is not a list of whole numbers");
    if (!read_extent(json_object_get(entry, "data_offsets"), extent))
        return fail_tensor(err, name, key, "its data_offsets are not [begin, end]");

    int64_t bits;
    if (!array_shape_bits(&tensor->shape, tensor->format->bits, &bits))
        return fail_tensor(err, name, key, "it has more elements than any memory can hold");
    if (bits % 8 != 0 || bits / 8 != extent->end - extent->begin) {
        char shape[128];
        return file_fail(err, FILE_EXIT_BAD_FILE, name,
                         "tensor '%.100s': %s of %s does not take %" PRId64 " bytes", key,
                         array_shape_text(&tensor->shape, shape, sizeof shape), dtype,
                         extent->end - extent->begin);
    }
    return true;
}

static bool is_metadata(const char *key) {
    return strcmp(key, "__metadata__") == 0;
}

static bool check_metadata(json_t *metadata, const char *name, file_error_t *err) {
    const char *key;
    json_t *value;
    bool sound = json_is_object(metadata);
    json_object_foreach(metadata, key, value) {
        sound = sound && json_is_string(value);
    }
    return sound || fail(err, name, "__metadata__ is not an object of strings");
}

static int compare_extents(const void *left, const void *right) {
    const extent_t *l = left;
    const extent_t *r = right;
    if (l->begin != r->begin)
        return l->begin < r->begin ? -1 : 1;
    return (l->end > r->end) - (l->end < r->end);
}

/* No hole, no overlap, nothing left over. `h->extents` is sorted. */
static bool check_layout(const header_t *h, size_t data_bytes, const char *name,
                         file_error_t *err) {
    int64_t at = 0;
    for (size_t t = 0; t < h->num_tensors; t++) {
        const extent_t *e = &h->extents[t];
        if (e->begin != at)
            return file_fail(
                err, FILE_EXIT_BAD_FILE, name,
                "tensor '%.100s' begins at byte %" PRId64 " of the data, %s byte %" PRId64, e->name,
                e->begin, e->begin > at ? "leaving a hole from" : "overlapping the one up to", at);
        at = e->end;
    }
    if ((uint64_t)at > data_bytes)
        return file_fail(err, FILE_EXIT_BAD_FILE, name,
                         "the header says %" PRId64 " bytes of data but only %zu bytes follow", at,
                         data_bytes);
    if ((uint64_t)at < data_bytes)
        return file_fail(err, FILE_EXIT_BAD_FILE, name,
                         "the header says %" PRId64 " bytes of data but %zu bytes follow", at,
                         data_bytes);
    return true;
}

static bool read_extents(header_t *h, const char *name, file_error_t *err) {
    const size_t num_entries = json_object_size(h->root);
    h->extents = malloc((num_entries ? num_entries : 1) * sizeof *h->extents);
    if (h->extents == NULL)
        return file_fail(err, FILE_EXIT_NO_MEMORY, name, "out of memory for the header");
    const char *key;
    json_t *value;
    json_object_foreach(h->root, key, value) {
        tensor_t tensor;
        const bool sound = is_metadata(key) ? check_metadata(value, name, err)
                                            : read_tensor(key, value, name, &tensor,
                                                          &h->extents[h->num_tensors++], err);
        if (!sound)
            return false;
    }
    qsort(h->extents, h->num_tensors, sizeof *h->extents, compare_extents);
    return true;
}

static void free_header(header_t *h) {
    free(h->extents);
    json_decref(h->root);
}

/* All three passes. If it succeeds, the caller must free_header(). */
static bool read_header(const uint8_t *bytes, size_t num_bytes, const char *name, header_t *h,
                        file_error_t *err) {
    if (!check_frame(bytes, num_bytes, name, err))
        return false;
    *h = (header_t){.data_offset = LENGTH_BYTES + (size_t)header_length(bytes)};
    h->root = read_json(bytes, name, err);
    if (h->root == NULL)
        return false;
    if (read_extents(h, name, err) && check_layout(h, num_bytes - h->data_offset, name, err))
        return true;
    free_header(h);
    return false;
}

/* ---- Listing -------------------------------------------------------------------------------- */

/* Room that is kept for " ... and 12345678 more". */
#define LIST_TAIL 32

static void list_tensors(const header_t *h, char *text, size_t size) {
    const char *key;
    json_t *value;
    size_t used = 0;
    size_t listed = 0;
    text[0] = '\0';
    json_object_foreach(h->root, key, value) {
        if (is_metadata(key))
            continue;
        array_shape_t shape;
        char dims[128];
        char item[256];
        if (!read_shape(json_object_get(value, "shape"), &shape))
            continue; /* not reached: read_tensor has accepted it */
        const int length = snprintf(item, sizeof item, "%s%.60s (%s %s)", used ? ", " : "", key,
                                    json_string_value(json_object_get(value, "dtype")),
                                    array_shape_text(&shape, dims, sizeof dims));
        if (used + (size_t)length + LIST_TAIL > size)
            break;
        memcpy(text + used, item, (size_t)length + 1);
        used += (size_t)length;
        listed++;
    }
    if (h->num_tensors == 0)
        snprintf(text, size, "no tensors");
    else if (listed < h->num_tensors)
        snprintf(text + used, size - used, "%s%zu more", used ? " ... and " : "",
                 h->num_tensors - listed);
}

bool safetensors_list(const uint8_t *bytes, size_t num_bytes, const char *name, char *text,
                      size_t size, file_error_t *err) {
    header_t h;
    if (!read_header(bytes, num_bytes, name, &h, err))
        return false;
    list_tensors(&h, text, size);
    free_header(&h);
    return true;
}

/* ---- Choosing ------------------------------------------------------------------------------- */

/* The only tensor, or the only one of two dimensions; NULL if there are none or several. */
static const char *find_only_matrix(const header_t *h) {
    const char *key;
    json_t *value;
    const char *found = NULL;
    json_object_foreach(h->root, key, value) {
        const bool is_matrix = json_array_size(json_object_get(value, "shape")) == 2;
        if (is_metadata(key) || (!is_matrix && h->num_tensors > 1))
            continue;
        if (found)
            return NULL;
        found = key;
    }
    return found;
}

static bool choose_tensor(const header_t *h, const char *name, const char *wanted, tensor_t *tensor,
                          extent_t *extent, file_error_t *err) {
    char list[300];
    const char *key = wanted ? wanted : find_only_matrix(h);
    const json_t *entry = key && !is_metadata(key) ? json_object_get(h->root, key) : NULL;
    if (entry != NULL)
        return read_tensor(key, entry, name, tensor, extent, err);
    list_tensors(h, list, sizeof list);
    if (wanted)
        return file_fail(err, FILE_EXIT_BAD_FILE, name, "no tensor '%.100s'; it holds %s", wanted,
                         list);
    return file_fail(err, FILE_EXIT_BAD_FILE, name,
                     "name a tensor as FILE:TENSOR, for there is not exactly one matrix; "
                     "it holds %s",
                     list);
}

static bool make_view(const header_t *h, const char *name, const tensor_t *tensor,
                      const extent_t *extent, array_view_t *view, file_error_t *err) {
    view->dtype = tensor->format->dtype;
    if (view->dtype == (tcgemm_dtype_t)0)
        return file_fail(err, FILE_EXIT_BAD_FILE, name,
                         "tensor '%.100s' has the dtype %s; known are F64 F32 F16 BF16 F8_E4M3 "
                         "F8_E5M2 I32 I8 U8",
                         tensor->name, tensor->format->text);
    snprintf(view->dtype_text, sizeof view->dtype_text, "%s", tensor->format->text);
    view->order = TCGEMM_ROW_MAJOR;
    view->coding = ELEMENT_PLAIN;
    view->taken = false;
    view->big_endian = false;
    view->offset = h->data_offset + (size_t)extent->begin;
    return array_view_set_shape(view, &tensor->shape, name, err);
}

bool safetensors_parse(const uint8_t *bytes, size_t num_bytes, const char *name,
                       const char *tensor_name, array_view_t *view, file_error_t *err) {
    header_t h;
    if (!read_header(bytes, num_bytes, name, &h, err))
        return false;
    tensor_t tensor;
    extent_t extent;
    const bool ok = choose_tensor(&h, name, tensor_name, &tensor, &extent, err) &&
                    make_view(&h, name, &tensor, &extent, view, err);
    free_header(&h);
    return ok;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static const char *text_of(tcgemm_dtype_t dtype) {
    for (size_t i = 0; i < NUM_FORMAT_ROWS; i++)
        if (format_table[i].dtype == dtype)
            return format_table[i].text;
    return ""; /* not reached: the caller has refused what is not in the table */
}

/* Returns the JSON text, or NULL. */
static char *make_json(const char *tensor, tcgemm_dtype_t dtype, const array_shape_t *shape) {
    int64_t num_bytes = tcgemm_dtype_bits(dtype) / 8;
    json_t *dims = json_array();
    for (int d = 0; d < shape->num_dims; d++) {
        num_bytes *= shape->dims[d];
        (void)json_array_append_new(dims, json_integer((json_int_t)shape->dims[d]));
    }
    json_t *root = json_pack("{s:{s:s, s:o, s:[I,I]}}", tensor, "dtype", text_of(dtype), "shape",
                             dims, "data_offsets", (json_int_t)0, (json_int_t)num_bytes);
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return text;
}

bool safetensors_make_header(const char *name, const char *tensor, tcgemm_dtype_t dtype,
                             const array_shape_t *shape, uint8_t **header, size_t *header_bytes,
                             file_error_t *err) {
    char *json = make_json(tensor, dtype, shape);
    if (json == NULL || tensor[0] == '\0' || is_metadata(tensor)) {
        free(json);
        return file_fail(err, FILE_EXIT_USAGE, name, "'%.100s' cannot be the name of a tensor",
                         tensor);
    }
    const size_t length = strlen(json);
    const size_t padded = (length + 7) / 8 * 8; /* the data begin on a multiple of 8 */
    uint8_t *bytes = malloc(LENGTH_BYTES + padded);
    if (bytes == NULL) {
        free(json);
        return file_fail(err, FILE_EXIT_NO_MEMORY, name, "out of memory for the header");
    }
    for (size_t i = 0; i < LENGTH_BYTES; i++)
        bytes[i] = (uint8_t)(padded >> 8 * i);
    memcpy(bytes + LENGTH_BYTES, json, length);
    memset(bytes + LENGTH_BYTES + length, ' ', padded - length);
    free(json);
    *header = bytes;
    *header_bytes = LENGTH_BYTES + padded;
    return true;
}
