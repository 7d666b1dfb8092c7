/* npy.c - the header of .npy files.
 *
 * The header is a Python literal, but only three keys with three kinds of values are ever in it, so
 * a cursor over the bytes reads exactly these. The cursor never passes the end of the header, and
 * the header never passes the end of the file. The first fault stops the parse with a sentence. */
#include "files/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAGIC       "\x93NUMPY"
#define MAGIC_BYTES 6
/* NumPy itself refuses more than 10000 bytes; a matrix needs less than 200. */
#define MAX_HEADER_BYTES 65536

/* ---- What the letters of `descr` mean ------------------------------------------------------- */

typedef struct descr_row {
    const char *code; /* without the byte order */
    tcgemm_dtype_t dtype;
    const char *written; /* as NumPy, or ml_dtypes, writes it; NULL: read only */
    element_coding_t coding;
} descr_row_t;

static const descr_row_t descr_table[] = {
    {"f8", TCGEMM_DTYPE_F64, "<f8", ELEMENT_PLAIN},
    {"f4", TCGEMM_DTYPE_F32, "<f4", ELEMENT_PLAIN},
    {"f2", TCGEMM_DTYPE_F16, "<f2", ELEMENT_PLAIN},
    {"V2", TCGEMM_DTYPE_BF16, "<V2", ELEMENT_PLAIN},
    {"V1", TCGEMM_DTYPE_E4M3, "|V1", ELEMENT_PLAIN},
    {"f1", TCGEMM_DTYPE_E5M2, "<f1", ELEMENT_PLAIN},
    {"i4", TCGEMM_DTYPE_S32, "<i4", ELEMENT_PLAIN},
    {"i1", TCGEMM_DTYPE_S8, "|i1", ELEMENT_PLAIN},
    {"u1", TCGEMM_DTYPE_U8, "|u1", ELEMENT_PLAIN},
    {"b1", TCGEMM_DTYPE_B1, NULL, ELEMENT_BOOL},
    {"i2", TCGEMM_DTYPE_F32, NULL, ELEMENT_S16},
    {"u2", TCGEMM_DTYPE_F32, NULL, ELEMENT_U16},
    {"u4", TCGEMM_DTYPE_F64, NULL, ELEMENT_U32},
    {"i8", TCGEMM_DTYPE_F64, NULL, ELEMENT_S64},
    {"u8", TCGEMM_DTYPE_F64, NULL, ELEMENT_U64},
};
#define NUM_DESCR_ROWS (sizeof descr_table / sizeof descr_table[0])

/* ---- The cursor ----------------------------------------------------------------------------- */

typedef struct cursor {
    const uint8_t *at, *end;
    const char *name;
    file_error_t *err;
} cursor_t;

static bool fail(cursor_t *c, const char *reason) {
    return file_fail(c->err, FILE_EXIT_BAD_FILE, c->name, "damaged .npy header: %s", reason);
}

static int peek(const cursor_t *c) {
    return c->at < c->end ? *c->at : -1;
}

static bool is_space(int byte) {
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static bool is_digit(int byte) {
    return byte >= '0' && byte <= '9';
}

static void skip_spaces(cursor_t *c) {
    while (is_space(peek(c)))
        c->at++;
}

/* Takes `byte` if it comes next, spaces aside. */
static bool take(cursor_t *c, char byte) {
    skip_spaces(c);
    if (peek(c) != byte)
        return false;
    c->at++;
    return true;
}

static bool take_word(cursor_t *c, const char *word) {
    const size_t length = strlen(word);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

/* A quoted string without escapes, as short as keys and type codes are. */
static bool take_string(cursor_t *c, char *text, size_t size, const char *what) {
    skip_spaces(c);
    const int quote = peek(c);
    if (quote != '\'' && quote != '"')
        return fail(c, what);
    c->at++;
    size_t length = 0;
    while (peek(c) != quote) {
        const int byte = peek(c);
        if (byte < 0x20 || byte > 0x7E || byte == '\\' || length + 1 >= size)
            return fail(c, what);
        text[length++] = (char)byte;
        c->at++;
    }
    c->at++;
    text[length] = '\0';
    return true;
}

/* ---- The three values ----------------------------------------------------------------------- */

/* A number of the shape. Python 2 wrote long integers as "3L". */
static bool take_dim(cursor_t *c, int64_t *dim) {
    skip_spaces(c);
    if (peek(c) == '-')
        return fail(c, "the shape has a negative dimension");
    if (!is_digit(peek(c)))
        return fail(c, "the shape is not a tuple of whole numbers");
    int64_t value = 0;
    while (is_digit(peek(c))) {
        if (__builtin_mul_overflow(value, INT64_C(10), &value) ||
            __builtin_add_overflow(value, (int64_t)(*c->at - '0'), &value))
            return fail(c, "the shape has a dimension of 2^63 or more");
        c->at++;
    }
    if (peek(c) == 'L')
        c->at++;
    *dim = value;
    return true;
}

/* () or (3,) or (3, 4) or (3, 4,): as in Python, one number needs its comma. */
static bool take_shape(cursor_t *c, array_shape_t *shape) {
    if (!take(c, '('))
        return fail(c, "the shape is not a tuple");
    shape->num_dims = 0;
    bool comma = true;
    while (!take(c, ')')) {
        if (!comma)
            return fail(c, "the shape is not a tuple of whole numbers");
        if (shape->num_dims == ARRAY_MAX_DIMS)
            return fail(c, "the shape has too many dimensions");
        if (!take_dim(c, &shape->dims[shape->num_dims]))
            return false;
        shape->num_dims++;
        comma = take(c, ',');
    }
    if (shape->num_dims == 1 && !comma)
        return fail(c, "the shape is a number, not a tuple");
    return true;
}

static bool take_bool(cursor_t *c, bool *value) {
    skip_spaces(c);
    if (take_word(c, "True"))
        *value = true;
    else if (take_word(c, "False"))
        *value = false;
    else
        return fail(c, "fortran_order is neither True nor False");
    return true;
}

/* The type stays a text until the whole header has proved sound. */
static bool take_descr(cursor_t *c, char *text, size_t size) {
    skip_spaces(c);
    if (peek(c) == '[' || peek(c) == '(' || peek(c) == '{')
        return file_fail(c->err, FILE_EXIT_BAD_FILE, c->name,
                         "the array has a structured type; only plain numbers make a matrix");
    return take_string(c, text, size, "descr is not a short string");
}

/* ---- The dictionary ------------------------------------------------------------------------- */

typedef struct header {
    char descr[16];
    bool fortran_order;
    array_shape_t shape;
} header_t;

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static bool take_value(cursor_t *c, unsigned key, header_t *h) {
    if (key == HAS_DESCR)
        return take_descr(c, h->descr, sizeof h->descr);
    if (key == HAS_ORDER)
        return take_bool(c, &h->fortran_order);
    return take_shape(c, &h->shape);
}

static bool take_item(cursor_t *c, header_t *h, unsigned *seen) {
    char key[16];
    if (!take_string(c, key, sizeof key, "a key is not a short string"))
        return false;
    const unsigned bit = strcmp(key, "descr") == 0           ? HAS_DESCR
                         : strcmp(key, "fortran_order") == 0 ? HAS_ORDER
                         : strcmp(key, "shape") == 0         ? HAS_SHAPE
                                                             : 0u;
    if (bit == 0)
        return fail(c, "a key other than descr, fortran_order and shape");
    if (*seen & bit)
        return fail(c, "a key is there twice");
    *seen |= bit;
    if (!take(c, ':'))
        return fail(c, "no ':' after a key");
    return take_value(c, bit, h);
}

static bool take_header(cursor_t *c, header_t *h) {
    unsigned seen = 0;
    if (!take(c, '{'))
        return fail(c, "it does not begin with '{'");
    bool comma = true;
    while (!take(c, '}')) {
        if (!comma)
            return fail(c, "no ',' between two items");
        if (!take_item(c, h, &seen))
            return false;
        comma = take(c, ',');
    }
    if (seen != HAS_ALL)
        return fail(c, "descr, fortran_order or shape is missing");
    skip_spaces(c);
    return c->at == c->end || fail(c, "something follows the closing '}'");
}

/* ---- From the header to the view ------------------------------------------------------------ */

/* ml_dtypes writes int4, uint4, e4m3 and more as V1, NumPy's void, which is no type; '<V2' is its
 * bfloat16, but whoever loads that without ml_dtypes and saves it again writes '|V2'. */
static bool may_be(const char *code, tcgemm_dtype_t dtype) {
    if (strcmp(code, "V2") == 0)
        return dtype == TCGEMM_DTYPE_BF16;
    return dtype == TCGEMM_DTYPE_E4M3 || dtype == TCGEMM_DTYPE_E5M2 || dtype == TCGEMM_DTYPE_S4 ||
           dtype == TCGEMM_DTYPE_U4;
}

/* Which type raw bytes are: what the user says, or the product wants; never a guess. */
static bool set_raw_dtype(const char *descr, const array_hint_t *hint, array_view_t *view,
                          const char *name, file_error_t *err) {
    const char *code = descr + 1;
    if (hint->said != 0 && may_be(code, hint->said))
        view->dtype = hint->said;
    else if (hint->said != 0)
        return file_fail(err, FILE_EXIT_BAD_FILE, name, "the type '%s' does not hold %s", descr,
                         tcgemm_dtype_name(hint->said));
    else if (strcmp(descr, "<V2") == 0)
        view->dtype = TCGEMM_DTYPE_BF16;
    else if (hint->wanted != 0 && may_be(code, hint->wanted)) {
        view->dtype = hint->wanted;
        view->taken = true;
    } else
        return file_fail(err, FILE_EXIT_BAD_FILE, name,
                         "the type '%s' does not say what it holds: add :%s to the name, or give "
                         "--a-dtype, --b-dtype or --c-dtype",
                         descr, code[1] == '2' ? "bf16" : "int4, :uint4, :e4m3 or :e5m2");
    view->coding = view->dtype == TCGEMM_DTYPE_S4   ? ELEMENT_INT4
                   : view->dtype == TCGEMM_DTYPE_U4 ? ELEMENT_UINT4
                                                    : ELEMENT_PLAIN;
    return true;
}

static bool check_said(const char *descr, const array_hint_t *hint, const array_view_t *view,
                       const char *name, file_error_t *err) {
    if (hint->said == 0 || hint->said == view->dtype)
        return true;
    return file_fail(err, FILE_EXIT_BAD_FILE, name, "the type '%s' is %s, not %s", descr,
                     tcgemm_dtype_name(view->dtype), tcgemm_dtype_name(hint->said));
}

static bool set_dtype(const char *descr, const array_hint_t *hint, array_view_t *view,
                      const char *name, file_error_t *err) {
    static const array_hint_t nothing = {0};
    if (strchr(descr, 'O') != NULL)
        return file_fail(err, FILE_EXIT_BAD_FILE, name,
                         "the array holds Python objects ('%s'), which are never read", descr);

    const char order = descr[0];
    const char *code = order ? descr + 1 : descr;
    const descr_row_t *row = NULL;
    for (size_t i = 0; i < NUM_DESCR_ROWS; i++)
        if (strcmp(code, descr_table[i].code) == 0)
            row = &descr_table[i];
    const int bits = !row                           ? 0
                     : row->coding == ELEMENT_PLAIN ? tcgemm_dtype_bits(row->dtype)
                                                    : 8 * (int)element_file_bytes(row->coding);
    const bool raw = code[0] == 'V'; /* no number to NumPy, so it has no byte order */
    const bool known = (order == '<') || (order == '>' && !(raw && bits > 8)) ||
                       (order == '|' && (raw || bits == 8));
    if (row == NULL || !known)
        return file_fail(err, FILE_EXIT_BAD_FILE, name,
                         "the type '%s' is not one of f2 f4 f8, i1 i2 i4 i8 u1 u2 u4 u8, b1, V2 "
                         "(bf16), V1 (fp8, int4) and f1 (e5m2)",
                         descr);
    hint = hint ? hint : &nothing;
    view->dtype = row->dtype;
    view->coding = row->coding;
    view->taken = false;
    view->big_endian = order == '>' && bits > 8;
    snprintf(view->dtype_text, sizeof view->dtype_text, "%s", descr);
    return raw ? set_raw_dtype(descr, hint, view, name, err)
               : check_said(descr, hint, view, name, err);
}

/* The data must fill the rest of the file exactly. */
static bool check_size(const array_view_t *view, size_t num_bytes, const char *name,
                       file_error_t *err) {
    const size_t rest = num_bytes - view->offset;
    const array_shape_t shape = array_view_shape(view);
    char text[128];
    return rest == view->num_bytes ||
           file_fail(err, FILE_EXIT_BAD_FILE, name,
                     "the header says %s %s (%zu bytes) but %s%zu bytes follow",
                     array_shape_text(&shape, text, sizeof text), tcgemm_dtype_name(view->dtype),
                     view->num_bytes, rest < view->num_bytes ? "only " : "", rest);
}

/* Finds where the header's text begins and ends. */
static bool find_text(cursor_t *c, const uint8_t *bytes, size_t num_bytes) {
    if (!npy_has_magic(bytes, num_bytes))
        return file_fail(c->err, FILE_EXIT_BAD_FILE, c->name,
                         "not an .npy file (it does not begin with \\x93NUMPY)");
    if (num_bytes < MAGIC_BYTES + 2)
        return fail(c, "the file ends within it");
    const unsigned major = bytes[MAGIC_BYTES];
    const unsigned minor = bytes[MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor != 0)
        return file_fail(c->err, FILE_EXIT_BAD_FILE, c->name,
                         "version %u.%u of the .npy format is unknown (1.0, 2.0 and 3.0 are known)",
                         major, minor);
    const size_t length_bytes = major == 1 ? 2 : 4;
    const size_t start = MAGIC_BYTES + 2 + length_bytes;
    if (num_bytes < start)
        return fail(c, "the file ends within it");
    size_t length = 0;
    for (size_t i = length_bytes; i-- > 0;)
        length = length << 8 | bytes[MAGIC_BYTES + 2 + i];
    if (length > MAX_HEADER_BYTES)
        return file_fail(c->err, FILE_EXIT_BAD_FILE, c->name,
                         "the .npy header claims %zu bytes; more than %d are refused", length,
                         MAX_HEADER_BYTES);
    if (length > num_bytes - start)
        return fail(c, "the file ends within it");
    c->at = bytes + start;
    c->end = c->at + length;
    return true;
}

bool npy_has_magic(const uint8_t *bytes, size_t num_bytes) {
    return num_bytes >= MAGIC_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0;
}

bool npy_parse(const uint8_t *bytes, size_t num_bytes, const char *name, const array_hint_t *hint,
               array_view_t *view, file_error_t *err) {
    cursor_t c = {bytes, bytes, name, err};
    header_t h = {.descr = ""};
    if (!find_text(&c, bytes, num_bytes))
        return false;
    if (!take_header(&c, &h))
        return false;
    view->offset = (size_t)(c.end - bytes);
    const bool is_fortran = h.fortran_order && h.shape.num_dims != 1;
    view->order = is_fortran ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
    return set_dtype(h.descr, hint, view, name, err) &&
           array_view_set_shape(view, &h.shape, name, err) &&
           check_size(view, num_bytes, name, err);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static const char *descr_of(tcgemm_dtype_t dtype) {
    for (size_t i = 0; i < NUM_DESCR_ROWS; i++)
        if (descr_table[i].dtype == dtype && descr_table[i].written)
            return descr_table[i].written;
    return "|V0"; /* not reached: the caller has refused what is not in the table */
}

/* "(2, 3)", or "(2,)" of one dimension. */
static int shape_literal(const array_shape_t *shape, char *text, size_t size) {
    int used = snprintf(text, size, "(");
    for (int d = 0; d < shape->num_dims; d++)
        used +=
            snprintf(text + used, size - (size_t)used, "%s%" PRId64, d ? ", " : "", shape->dims[d]);
    return used + snprintf(text + used, size - (size_t)used, shape->num_dims == 1 ? ",)" : ")");
}

size_t npy_write_header(uint8_t header[NPY_MAX_WRITTEN_HEADER], tcgemm_dtype_t dtype,
                        const array_shape_t *shape, tcgemm_order_t order) {
    const size_t start = MAGIC_BYTES + 2 + 2;
    const bool col_major = order == TCGEMM_COL_MAJOR;
    char *text = (char *)header + start;
    char dims[NPY_MAX_WRITTEN_HEADER / 2];
    (void)shape_literal(shape, dims, sizeof dims);
    const int written = snprintf(text, NPY_MAX_WRITTEN_HEADER - start,
                                 "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
                                 descr_of(dtype), col_major ? "True" : "False", dims);
    /* NumPy leaves room for the growing dimension to reach 21 digits. */
    const int last = shape->num_dims - 1;
    const int digits =
        last < 0 ? 21 : snprintf(NULL, 0, "%" PRId64, shape->dims[col_major ? last : 0]);
    const size_t used = start + (size_t)written + (size_t)(21 - digits) + 1; /* 1: the newline */
    const size_t total = (used + 63) / 64 * 64;
    const size_t length = total - start;

    memcpy(header, MAGIC "\x01", MAGIC_BYTES + 2); /* with the NUL: version 1.0 */
    header[MAGIC_BYTES + 2] = (uint8_t)(length & 0xFF);
    header[MAGIC_BYTES + 3] = (uint8_t)(length >> 8);
    memset(text + written, ' ', length - (size_t)written);
    header[total - 1] = '\n';
    return total;
}
