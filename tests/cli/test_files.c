/* test_files.c - good and bad matrix files, made here byte by byte.
 *
 * Every refusal must have the right exit status and one line that begins with the file's name and
 * says what is wrong. Run it under the address sanitizer to see that refusals leak nothing. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <dirent.h>

#include "files/matrix.h"
#include "files/npy.h"
#include "files/safetensors.h"

#define NPY_TEXT(descr, order, shape)                                                              \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"
#define NPY_PLAIN NPY_TEXT("'<f4'", "False", "(2, 3)")
#define ST_ENTRY  "{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}"
#define ST_PLAIN  "{\"a\":" ST_ENTRY "}"

/* ---- Making files --------------------------------------------------------------------------- */

typedef struct bytes {
    uint8_t at[262144];
    size_t size;
} bytes_t;

static bytes_t file; /* the one being made */

static void begin(void) {
    file.size = 0;
}

static void add(const void *bytes, size_t size) {
    assert_true(file.size + size <= sizeof file.at);
    memcpy(file.at + file.size, bytes, size);
    file.size += size;
}

static void add_number(uint64_t number, size_t size) {
    for (size_t i = 0; i < size; i++) {
        const uint8_t byte = (uint8_t)(number >> 8 * i);
        add(&byte, 1);
    }
}

static void add_counting(size_t size) {
    for (size_t i = 0; i < size; i++)
        add_number(i * 37 + 11, 1);
}

static void save_file(const char *name) {
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(file.at, 1, file.size, f), file.size);
    assert_int_equal(fclose(f), 0);
}

static void make_npy_sized(const char *text, size_t length, size_t data_bytes) {
    begin();
    add("\x93NUMPY\x01", 8);
    add_number(length, 2);
    add(text, length);
    add_counting(data_bytes);
}

static void make_npy(const char *text, size_t data_bytes) {
    make_npy_sized(text, strlen(text), data_bytes);
}

static void make_st(const char *text, size_t data_bytes) {
    begin();
    add_number(strlen(text), 8);
    add(text, strlen(text));
    add_counting(data_bytes);
}

/* ---- Judging -------------------------------------------------------------------------------- */

static void check_refusal(const file_error_t *err, int status, const char *name,
                          const char *reason) {
    const size_t length = strlen(name);
    if (err->exit_status != status || strncmp(err->message, name, length) != 0 ||
        strncmp(err->message + length, ": ", 2) != 0 || strstr(err->message, reason) == NULL)
        fail_msg("exit status %d, \"%s\"; expected %d, \"%s: ... %s ...\"", err->exit_status,
                 err->message, status, name, reason);
    for (const char *p = err->message; *p; p++)
        assert_true((unsigned char)*p >= 0x20);
}

/* The file `path` must be refused under the name `spec`. */
static void refuse_spec(const char *spec, const char *path, int status, const char *reason) {
    matrix_t m;
    file_error_t err;
    if (matrix_load(spec, MATRIX_NO_HINT, &m, &err))
        fail_msg("%s was accepted, not refused with \"%s\"", spec, reason);
    assert_null(m.data);
    matrix_free(&m);
    check_refusal(&err, status, path, reason);
}

static void refuse_hint(const char *name, const array_hint_t *hint, const char *reason) {
    matrix_t m;
    file_error_t err;
    if (matrix_load(name, hint, &m, &err))
        fail_msg("%s was accepted, not refused with \"%s\"", name, reason);
    check_refusal(&err, FILE_EXIT_BAD_FILE, name, reason);
}

static void refuse(const char *name, const char *reason) {
    save_file(name);
    refuse_spec(name, name, FILE_EXIT_BAD_FILE, reason);
}

static void refuse_npy(const char *text, const char *reason) {
    make_npy(text, 24);
    refuse("bad.npy", reason);
}

static void refuse_st(const char *text, const char *reason) {
    make_st(text, 24);
    refuse("bad.safetensors", reason);
}

static matrix_t accept_spec(const char *spec, const array_hint_t *hint) {
    matrix_t m;
    file_error_t err;
    if (!matrix_load(spec, hint, &m, &err))
        fail_msg("%s", err.message);
    assert_non_null(m.data);
    const uintptr_t bits = (uintptr_t)tcgemm_dtype_bits(m.dtype);
    assert_int_equal((uintptr_t)m.data % (bits < 8 ? 1 : bits / 8), 0);
    return m;
}

/* The file being made must load as rows x cols of `dtype` with the last bytes of the file. */
static void accept_file(const char *name, const array_hint_t *hint, tcgemm_dtype_t dtype,
                        int64_t rows, int64_t cols, tcgemm_order_t order) {
    save_file(name);
    matrix_t m = accept_spec(name, hint);
    const size_t size = (size_t)(rows * cols * tcgemm_dtype_bits(dtype) / 8);
    assert_int_equal(m.dtype, dtype);
    assert_int_equal(m.rows, rows);
    assert_int_equal(m.cols, cols);
    assert_int_equal(m.order, order);
    assert_int_equal(m.ld, order == TCGEMM_COL_MAJOR ? rows : cols);
    if (!m.swapped)
        assert_memory_equal(m.data, file.at + file.size - size, size);
    matrix_free(&m);
    matrix_free(&m);
}

static void accept_npy(const char *text, tcgemm_dtype_t dtype, size_t data_bytes) {
    make_npy(text, data_bytes);
    accept_file("good.npy", MATRIX_NO_HINT, dtype, 2, 3, TCGEMM_ROW_MAJOR);
}

static int count_hidden_files(void) {
    int count = 0;
    DIR *dir = opendir(".");
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] == '.' && strstr(entry->d_name, "tcgemm") != NULL;
    closedir(dir);
    return count;
}

/* ---- .npy ----------------------------------------------------------------------------------- */

static void test_npy_good(void **state) {
    (void)state;
    accept_npy(NPY_TEXT("'<f8'", "False", "(2, 3)"), TCGEMM_DTYPE_F64, 48);
    accept_npy(NPY_TEXT("'<f4'", "False", "(2, 3)"), TCGEMM_DTYPE_F32, 24);
    accept_npy(NPY_TEXT("'<f2'", "False", "(2, 3)"), TCGEMM_DTYPE_F16, 12);
    accept_npy(NPY_TEXT("'<V2'", "False", "(2, 3)"), TCGEMM_DTYPE_BF16, 12);
    accept_npy(NPY_TEXT("'<f1'", "False", "(2, 3)"), TCGEMM_DTYPE_E5M2, 6);
    accept_npy(NPY_TEXT("'<i4'", "False", "(2, 3)"), TCGEMM_DTYPE_S32, 24);
    accept_npy(NPY_TEXT("'|i1'", "False", "(2, 3)"), TCGEMM_DTYPE_S8, 6);
    accept_npy(NPY_TEXT("'|u1'", "False", "(2, 3)"), TCGEMM_DTYPE_U8, 6);
    accept_npy(NPY_TEXT("'>u1'", "False", "(2, 3)"), TCGEMM_DTYPE_U8, 6);
    accept_npy("{\"shape\":(2L,3L,),\"fortran_order\":False,\"descr\":\"<f4\"}", TCGEMM_DTYPE_F32,
               24);
    accept_npy("{'fortran_order' : False,\n\t'shape' : ( 2 , 3 ) , 'descr' : '<f4' , } \n ",
               TCGEMM_DTYPE_F32, 24);
}

static void test_npy_orders_and_zeros(void **state) {
    (void)state;
    make_npy(NPY_TEXT("'<f4'", "True", "(2, 3)"), 24);
    accept_file("good.npy", MATRIX_NO_HINT, TCGEMM_DTYPE_F32, 2, 3, TCGEMM_COL_MAJOR);
    make_npy(NPY_TEXT("'<f8'", "False", "(0, 3)"), 0);
    accept_file("good.npy", MATRIX_NO_HINT, TCGEMM_DTYPE_F64, 0, 3, TCGEMM_ROW_MAJOR);
    make_npy(NPY_TEXT("'<f8'", "True", "(3, 0)"), 0);
    accept_file("good.npy", MATRIX_NO_HINT, TCGEMM_DTYPE_F64, 3, 0, TCGEMM_COL_MAJOR);
    make_npy(NPY_TEXT("'<f4'", "False", "(2, 3)"), 24);
    accept_file("by.magic", MATRIX_NO_HINT, TCGEMM_DTYPE_F32, 2, 3, TCGEMM_ROW_MAJOR);
}

/* NumPy's void says nothing of its elements: the user's word goes before what the product wants,
 * and without either the file is refused. */
static void test_npy_raw(void **state) {
    (void)state;
    const array_hint_t says_e5m2 = {.said = TCGEMM_DTYPE_E5M2, .wanted = TCGEMM_DTYPE_E4M3};
    const array_hint_t wants_e4m3 = {.wanted = TCGEMM_DTYPE_E4M3};
    const array_hint_t says_f32 = {.said = TCGEMM_DTYPE_F32};
    const array_hint_t wants_f32 = {.wanted = TCGEMM_DTYPE_F32};
    const array_hint_t says_bf16 = {.said = TCGEMM_DTYPE_BF16};
    static const char *const texts[] = {NPY_TEXT("'|V1'", "False", "(2, 3)"),
                                        NPY_TEXT("'<V1'", "False", "(2, 3)")};
    for (int i = 0; i < 2; ++i) {
        make_npy(texts[i], 6);
        accept_file("raw.npy", &says_e5m2, TCGEMM_DTYPE_E5M2, 2, 3, TCGEMM_ROW_MAJOR);
        accept_file("raw.npy", &wants_e4m3, TCGEMM_DTYPE_E4M3, 2, 3, TCGEMM_ROW_MAJOR);
        refuse("raw.npy", "does not say what it holds: add :int4, :uint4, :e4m3 or :e5m2");
        refuse_hint("raw.npy", &wants_f32, "does not say what it holds");
        refuse_hint("raw.npy", &says_f32, "does not hold f32");
        refuse_hint("raw.npy", &says_bf16, "does not hold bf16");
    }
    make_npy(NPY_TEXT("'|V2'", "False", "(2, 3)"), 12);
    accept_file("raw.npy", &says_bf16, TCGEMM_DTYPE_BF16, 2, 3, TCGEMM_ROW_MAJOR);
    refuse("raw.npy", "add :bf16 to the name");
    make_npy(NPY_TEXT("'<f4'", "False", "(2, 3)"), 24);
    save_file("raw.npy");
    refuse_hint("raw.npy", &says_e5m2, "the type '<f4' is f32, not e5m2");
}

/* Three dimensions in Fortran's order: element (t, i, j) is at t + 2 * (i + 2 * j); in C's order
 * here. */
static void test_npy_batch(void **state) {
    (void)state;
    static const uint8_t in_c_order[] = {0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11};
    make_npy(NPY_TEXT("'|u1'", "True", "(2, 2, 3)"), 0);
    add("\0\1\2\3\4\5\6\7\10\11\12\13", 12);
    save_file("batch.npy");
    matrix_t m = accept_spec("batch.npy", MATRIX_NO_HINT);
    assert_int_equal(m.num_dims, 3);
    assert_int_equal(m.batch, 2);
    assert_int_equal(m.stride, 6);
    assert_int_equal(m.order, TCGEMM_ROW_MAJOR);
    assert_int_equal(m.ld, 3);
    assert_memory_equal(m.data, in_c_order, 12);
    matrix_free(&m);
    make_npy(NPY_TEXT("'|u1'", "True", "(4,)"), 4);
    save_file("batch.npy");
    m = accept_spec("batch.npy", MATRIX_NO_HINT);
    assert_int_equal(m.num_dims, 1);
    assert_int_equal(m.rows, 1);
    assert_int_equal(m.cols, 4);
    assert_int_equal(m.order, TCGEMM_ROW_MAJOR);
    matrix_free(&m);
}

/* ml_dtypes keeps one four-bit value in the low half of each byte; the library packs two. */
static void test_npy_int4(void **state) {
    (void)state;
    static const uint8_t packed[] = {0x50, 0xFE, 0x07};
    make_npy(NPY_TEXT("'<V1'", "True", "(1, 5)"), 0);
    add("\x00\x05\x0E\xFF\x07", 5); /* the high half of -1 is not looked at */
    save_file("four.npy");
    for (int i = 0; i < 2; ++i) {
        const tcgemm_dtype_t dtype = i ? TCGEMM_DTYPE_U4 : TCGEMM_DTYPE_S4;
        const array_hint_t wants = {.wanted = dtype};
        matrix_t m = accept_spec(i ? "four.npy:uint4" : "four.npy:int4", MATRIX_NO_HINT);
        assert_int_equal(m.dtype, dtype);
        assert_memory_equal(m.data, packed, 3);
        assert_false(m.taken);
        matrix_free(&m);
        m = accept_spec("four.npy", &wants);
        assert_memory_equal(m.data, packed, 3);
        assert_true(m.taken);
        matrix_free(&m);
    }
    refuse_spec("four.npy:float", "four.npy", FILE_EXIT_BAD_FILE, "'float' is no type");
    const array_hint_t says = {.said = TCGEMM_DTYPE_E4M3};
    matrix_t m;
    file_error_t err;
    assert_false(matrix_load("four.npy:int4", &says, &m, &err));
    check_refusal(&err, FILE_EXIT_USAGE, "four.npy", "is said to hold s4 and e4m3");
}

static void test_npy_big_endian(void **state) {
    (void)state;
    static const char *const texts[] = {NPY_TEXT("'>f2'", "False", "(2, 3)"),
                                        NPY_TEXT("'>i4'", "False", "(2, 3)"),
                                        NPY_TEXT("'>f8'", "True", "(2, 3)")};
    for (size_t t = 0; t < 3; t++) {
        const size_t size = (size_t)2 << t;
        make_npy(texts[t], 6 * size);
        save_file("big.npy");
        matrix_t m = accept_spec("big.npy", MATRIX_NO_HINT);
        assert_true(m.swapped && m.owned);
        const uint8_t *original = file.at + file.size - 6 * size;
        for (size_t i = 0; i < 6 * size; i++)
            assert_int_equal(((const uint8_t *)m.data)[i],
                             original[i / size * size + size - 1 - i % size]);
        matrix_free(&m);
    }
}

static void test_npy_versions(void **state) {
    (void)state;
    for (int version = 0; version < 6; version++) {
        const char head[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', (char)version, 0};
        begin();
        add(head, 8);
        add_number(strlen(NPY_PLAIN), version == 1 ? 2 : 4);
        add(NPY_PLAIN, strlen(NPY_PLAIN));
        add_counting(24);
        if (version >= 1 && version <= 3)
            accept_file("good.npy", MATRIX_NO_HINT, TCGEMM_DTYPE_F32, 2, 3, TCGEMM_ROW_MAJOR);
        else
            refuse("bad.npy", "version");
    }
    make_npy(NPY_PLAIN, 24);
    file.at[7] = 1;
    refuse("bad.npy", "version 1.1");
}

/* Every beginning of a good file is a bad file. */
static void test_npy_truncated(void **state) {
    (void)state;
    make_npy(NPY_PLAIN, 24);
    for (const size_t whole = file.size; file.size-- > 0; assert_true(file.size < whole))
        refuse("bad.npy", file.size == 0 ? "empty" : "");
    make_npy(NPY_PLAIN, 25);
    refuse("bad.npy", "the header says 2 x 3 f32 (24 bytes) but 25 bytes follow");
    make_npy(NPY_PLAIN, 23);
    refuse("bad.npy", "the header says 2 x 3 f32 (24 bytes) but only 23 bytes follow");
}

static void test_npy_lengths(void **state) {
    (void)state;
    make_npy(NPY_PLAIN, 24);
    file.at[8] = file.at[9] = 0xFF;
    refuse("bad.npy", "the file ends within it");
    file.at[8] = file.at[9] = 0;
    refuse("bad.npy", "begin with '{'");
    static const uint64_t lengths[] = {65537, 0x7FFFFFFF, 0xFFFFFFFF};
    for (size_t i = 0; i < 3; i++) {
        begin();
        add("\x93NUMPY\x02", 8);
        add_number(lengths[i], 4);
        for (int spaces = 0; spaces < 70000; spaces++)
            add(" ", 1);
        refuse("bad.npy", "more than 65536 are refused");
    }
    begin();
    add("\x93NUMPX\x01", 8);
    refuse("bad.npy", "not an .npy file");
}

/* The classic: a file that could sit in a tweet asks for all memory there is. */
static void test_npy_declares_too_much(void **state) {
    (void)state;
    make_npy(NPY_TEXT("'<f8'", "False", "(65536, 65536)"), 0);
    file.at[8] = 70; /* 80 bytes of file in all; the text may end in spaces */
    while (file.size < 80)
        add(" ", 1);
    refuse("bad.npy",
           "the header says 65536 x 65536 f64 (34359738368 bytes) but only 0 bytes follow");
    refuse_npy(NPY_TEXT("'<f4'", "False", "(4294967296, 4294967296)"), "more than any memory");
    refuse_npy(NPY_TEXT("'<f4'", "False", "(9223372036854775807, 1)"), "more than any memory");
    refuse_npy(NPY_TEXT("'<f4'", "False", "(9223372036854775807, 0)"), "more than any memory");
    refuse_npy(NPY_TEXT("'<f4'", "False", "(9223372036854775808, 1)"), "2^63 or more");
    refuse_npy(NPY_TEXT("'<f4'", "False", "(18446744073709551616, 1)"), "2^63 or more");
    refuse_npy(NPY_TEXT("'<f4'", "False", "(99999999999999999999999999999999, 1)"), "2^63");
}

static void test_npy_shapes(void **state) {
    (void)state;
    refuse_npy(NPY_TEXT("'<f4'", "False", "()"), "0 dimensions, shape ()");
    refuse_npy(NPY_TEXT("'<f4'", "False", "(1, 1, 2, 3)"), "4 dimensions, shape 1 x 1 x 2 x 3");
    refuse_npy(NPY_TEXT("'<f4'", "False",
                        "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                        "1,1,1,1,1,6)"),
               "33 dimensions");
    static const char *const bad[] = {
        NPY_TEXT("'<f4'", "False", "(-2, -3)"), NPY_TEXT("'<f4'", "False", "(2 3)"),
        NPY_TEXT("'<f4'", "False", "(2,,3)"),   NPY_TEXT("'<f4'", "False", "(,)"),
        NPY_TEXT("'<f4'", "False", "(6)"),      NPY_TEXT("'<f4'", "False", "6"),
        NPY_TEXT("'<f4'", "False", "[2, 3]"),   NPY_TEXT("'<f4'", "False", "(2.0, 3)"),
        NPY_TEXT("'<f4'", "False", "(2, 3"),    NPY_TEXT("'<f4'", "False", "(+2, 3)"),
        NPY_TEXT("'<f4'", "False", "(2, '3')"), NPY_TEXT("'<f4'", "False", "((2, 3))"),
        NPY_TEXT("'<f4'", "False", "(2l, 3)"),  NPY_TEXT("'<f4'", "False", "None"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuse_npy(bad[i], "shape");
}

static void test_npy_types(void **state) {
    (void)state;
    refuse_npy(NPY_TEXT("'|O'", "False", "(2, 3)"), "Python objects");
    refuse_npy(NPY_TEXT("'|O8'", "False", "(2, 3)"), "Python objects");
    refuse_npy(NPY_TEXT("[('x', '<f4')]", "False", "(2, 3)"), "structured");
    refuse_npy(NPY_TEXT("('<f4', (2,))", "False", "(2, 3)"), "structured");
    refuse_npy(NPY_TEXT("{'names': ['x']}", "False", "(2, 3)"), "structured");
    static const char *const bad[] = {
        NPY_TEXT("'<c8'", "False", "(2, 3)"), NPY_TEXT("'<i3'", "False", "(2, 3)"),
        NPY_TEXT("'|i2'", "False", "(2, 3)"), NPY_TEXT("'f4'", "False", "(2, 3)"),
        NPY_TEXT("'=f4'", "False", "(2, 3)"), NPY_TEXT("'|f4'", "False", "(2, 3)"),
        NPY_TEXT("'>V2'", "False", "(2, 3)"), NPY_TEXT("''", "False", "(2, 3)"),
        NPY_TEXT("'<'", "False", "(2, 3)"),   NPY_TEXT("'<f16'", "False", "(2, 3)"),
        NPY_TEXT("'|V3'", "False", "(2, 3)"), NPY_TEXT("'<U1'", "False", "(2, 3)"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuse_npy(bad[i], "the type '");
    refuse_npy(NPY_TEXT("None", "False", "(2, 3)"), "descr");
    refuse_npy(NPY_TEXT("4", "False", "(2, 3)"), "descr");
    refuse_npy(NPY_TEXT("'<f4", "False", "(2, 3)"), "no ',' between");
    refuse_npy(NPY_TEXT("'<f4\xc3\xa4'", "False", "(2, 3)"), "descr");
    refuse_npy(NPY_TEXT("'\\x3cf4'", "False", "(2, 3)"), "descr");
    refuse_npy(NPY_TEXT("'<ffffffffffffffffffffff4'", "False", "(2, 3)"), "descr");
}

static void test_npy_dictionaries(void **state) {
    (void)state;
    refuse_npy("{}", "missing");
    refuse_npy("{'descr': '<f4', 'fortran_order': False}", "missing");
    refuse_npy("{'descr': '<f4', 'shape': (2, 3)}", "missing");
    refuse_npy("{'fortran_order': False, 'shape': (2, 3)}", "missing");
    refuse_npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
               "twice");
    refuse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", "other than");
    refuse_npy("{'Descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", "other than");
    refuse_npy("{'descr' '<f4', 'fortran_order': False, 'shape': (2, 3)}", "':'");
    refuse_npy("{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3)}", "','");
    refuse_npy("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}", "fortran_order");
    refuse_npy("{'descr': '<f4', 'fortran_order': Falsey, 'shape': (2, 3)}", "','");
    refuse_npy("{'descr': '<f4', 'fortran_order': Fal", "fortran_order");
    refuse_npy("{,}", "key");
    refuse_npy("{'descr': '<f4',, 'fortran_order': False, 'shape': (2, 3)}", "key");
    refuse_npy("{descr: '<f4', 'fortran_order': False, 'shape': (2, 3)}", "key");
    refuse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} + {}", "follows");
    refuse_npy("['descr', '<f4']", "begin with '{'");
    refuse_npy("\x1b[31m", "begin with '{'");
    refuse_npy("{'\xff\xfe': 1}", "key");
    static const char with_nul[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}\0 ";
    make_npy_sized(with_nul, sizeof with_nul, 24);
    refuse("bad.npy", "follows");
}

/* ---- .safetensors --------------------------------------------------------------------------- */

static void test_st_good(void **state) {
    (void)state;
    static const struct {
        const char *text;
        tcgemm_dtype_t dtype;
        size_t bytes;
    } rows[] = {
        {"F64", TCGEMM_DTYPE_F64, 8},      {"F32", TCGEMM_DTYPE_F32, 4},
        {"F16", TCGEMM_DTYPE_F16, 2},      {"BF16", TCGEMM_DTYPE_BF16, 2},
        {"F8_E4M3", TCGEMM_DTYPE_E4M3, 1}, {"F8_E5M2", TCGEMM_DTYPE_E5M2, 1},
        {"I32", TCGEMM_DTYPE_S32, 4},      {"I8", TCGEMM_DTYPE_S8, 1},
        {"U8", TCGEMM_DTYPE_U8, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int spaces = 0; spaces < 9; spaces++) { /* every alignment of the data */
            char text[256];
            snprintf(text, sizeof text,
                     "{\"a\":{\"dtype\":\"%s\",\"shape\":[2,3],\"data_offsets\":[0,%zu]}}%*s",
                     rows[i].text, 6 * rows[i].bytes, spaces, "");
            make_st(text, 6 * rows[i].bytes);
            accept_file("good.safetensors", MATRIX_NO_HINT, rows[i].dtype, 2, 3, TCGEMM_ROW_MAJOR);
        }
    }
    accept_file("by.magic", MATRIX_NO_HINT, TCGEMM_DTYPE_U8, 2, 3, TCGEMM_ROW_MAJOR);
    make_st("{\"a\":{\"dtype\":\"F64\",\"shape\":[0,3],\"data_offsets\":[0,0]}}", 0);
    accept_file("good.safetensors", MATRIX_NO_HINT, TCGEMM_DTYPE_F64, 0, 3, TCGEMM_ROW_MAJOR);
    make_st("{\"__metadata__\":{\"format\":\"pt\"},\"a\":" ST_ENTRY "}", 24);
    accept_file("good.safetensors", MATRIX_NO_HINT, TCGEMM_DTYPE_F32, 2, 3, TCGEMM_ROW_MAJOR);
}

static void test_st_choosing(void **state) {
    (void)state;
    make_st("{\"b.w:x\":{\"dtype\":\"U8\",\"shape\":[3,4],\"data_offsets\":[24,36]},\"a\":" ST_ENTRY
            ",\"v\":{\"dtype\":\"BOOL\",\"shape\":[5],\"data_offsets\":[36,41]}"
            ",\"s\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[41,49]}}",
            49);
    save_file("m.safetensors");
    save_file("model.bin");
    static const char *const specs[] = {"m.safetensors:b.w:x", "m.safetensors:a", "model.bin:a"};
    for (size_t i = 0; i < 3; i++) {
        matrix_t m = accept_spec(specs[i], MATRIX_NO_HINT);
        assert_int_equal(m.dtype, i ? TCGEMM_DTYPE_F32 : TCGEMM_DTYPE_U8);
        assert_int_equal(m.rows, i ? 2 : 3);
        assert_memory_equal(m.data, file.at + file.size - (i ? 49 : 25), 12);
        matrix_free(&m);
    }
    const char *path = "m.safetensors";
    refuse_spec("m.safetensors", path, 3, "not exactly one matrix; it holds b.w:x (U8 3 x 4), a (");
    refuse_spec("m.safetensors:c", path, 3, "no tensor 'c'; it holds b.w:x");
    refuse_spec("m.safetensors:", path, 3, "no tensor ''");
    refuse_spec("m.safetensors:__metadata__", path, 3, "no tensor");
    refuse_spec("m.safetensors:v", path, 3, "dtype BOOL");
    refuse_spec("m.safetensors:s", path, 3, "dtype I64");

    char text[200];
    file_error_t err;
    assert_true(matrix_list(path, text, sizeof text, &err));
    assert_string_equal(text, "b.w:x (U8 3 x 4), a (F32 2 x 3), v (BOOL (5,)), s (I64 ())");
    assert_true(matrix_list(path, text, 60, &err));
    assert_string_equal(text, "b.w:x (U8 3 x 4) ... and 3 more");
    assert_true(matrix_list(path, text, 40, &err));
    assert_string_equal(text, "4 more");

    make_st("{}", 0);
    refuse("none.safetensors", "not exactly one matrix; it holds no tensors");
    make_st("{\"a\":{\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":[0,24]}}", 24);
    save_file("v.safetensors");
    matrix_t vector = accept_spec("v.safetensors:a", MATRIX_NO_HINT);
    assert_int_equal(vector.num_dims, 1);
    assert_int_equal(vector.rows, 1);
    assert_int_equal(vector.cols, 6);
    matrix_free(&vector);
    vector = accept_spec("v.safetensors", MATRIX_NO_HINT); /* no matrix, but the only tensor */
    matrix_free(&vector);
    make_st("{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4);
    save_file("v.safetensors");
    refuse_spec("v.safetensors:a", "v.safetensors", 3, "0 dimensions, shape ()");
}

static void test_st_frame(void **state) {
    (void)state;
    make_st(ST_PLAIN, 24);
    for (const size_t whole = file.size; file.size-- > 0; assert_true(file.size < whole))
        refuse("bad.safetensors", file.size == 0 ? "empty" : "");
    static const uint64_t lengths[] = {100000, 100000001, UINT32_MAX, UINT64_MAX - 7, UINT64_MAX};
    for (size_t i = 0; i < 5; i++) {
        begin();
        add_number(lengths[i], 8);
        add(ST_PLAIN, strlen(ST_PLAIN));
        refuse("bad.safetensors", "bytes but only");
    }
    refuse_st("", "begin with '{'");
    refuse_st(" " ST_PLAIN, "begin with '{'");
    refuse_st("[]", "begin with '{'");
    refuse_st("\xef\xbb\xbf" ST_PLAIN, "begin with '{'");
    make_st(ST_PLAIN, 25);
    refuse("bad.safetensors", "the header says 24 bytes of data but 25 bytes follow");
    make_st(ST_PLAIN, 23);
    refuse("bad.safetensors", "the header says 24 bytes of data but only 23 bytes follow");
}

static void test_st_json(void **state) {
    (void)state;
    static char deep[100001];
    memset(deep, '[', 100000);
    memcpy(deep, "{\"a\":", 5);
    refuse_st(deep, "nested too deeply");
    static char many[250100];
    memset(many, ',', sizeof many - 1);
    many[0] = '{';
    make_st(many, 0);
    refuse("bad.safetensors", "far too many entries");
    refuse_st("{\"a\":[[[[[[[[[[1]]]]]]]]]]}", "nested too deeply");
    refuse_st("{\"a\":" ST_ENTRY ",\"a\":" ST_ENTRY "}", "duplicate");
    refuse_st("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2,3],"
              "\"data_offsets\":[0,24]}}",
              "duplicate");
    refuse_st(ST_PLAIN "x", "header");
    refuse_st("{\"a\":" ST_ENTRY, "header");
    refuse_st("{\"\xff\":" ST_ENTRY "}", "header");
    refuse_st("{\"a\\u0000\":" ST_ENTRY "}", "header");
    refuse_st("{\"a\":{\"dtype\":\"F32\",\"shape\":[2,18446744073709551616],"
              "\"data_offsets\":[0,24]}}",
              "header");
    refuse_st("{\"__metadata__\":{\"x\":1},\"a\":" ST_ENTRY "}", "__metadata__");
    refuse_st("{\"__metadata__\":[],\"a\":" ST_ENTRY "}", "__metadata__");
    make_st("{\"\\u00e4 [[[[[[[[[[[[ \\\"[[\":" ST_ENTRY "}",
            24); /* brackets in a string are text */
    accept_file("good.safetensors", MATRIX_NO_HINT, TCGEMM_DTYPE_F32, 2, 3, TCGEMM_ROW_MAJOR);
}

#define ENTRY(dtype, shape, offsets)                                                               \
    "{\"a\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void test_st_entries(void **state) {
    (void)state;
    refuse_st("{\"a\":1}", "tensor 'a': not an object");
    refuse_st("{\"a\":{}}", "tensor 'a': not an object");
    refuse_st("{\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"offsets\":[0,24]}}", "data_offsets");
    refuse_st("{\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24],\"x\":1}}",
              "not an object of");
    refuse_st(ENTRY("4", "[2,3]", "[0,24]"), "dtype is missing");
    refuse_st(ENTRY("\"I4\"", "[6,8]", "[0,24]"), "dtype 'I4', which is unknown");
    refuse_st(ENTRY("\"f32\"", "[2,3]", "[0,24]"), "unknown");
    refuse_st(ENTRY("\"\\u001b[31m\"", "[2,3]", "[0,24]"), "'?[31m'");
    refuse_st(ENTRY("\"F4\"", "[6,8]", "[0,24]"), "dtype F4");
    refuse_st(ENTRY("\"F4\"", "[3,1]", "[0,1]"), "does not take 1 bytes");
    refuse_st(ENTRY("\"F32\"", "[-2,-3]", "[0,24]"), "shape");
    refuse_st(ENTRY("\"F32\"", "[2.0,3]", "[0,24]"), "shape");
    refuse_st(ENTRY("\"F32\"", "6", "[0,24]"), "shape");
    refuse_st(ENTRY("\"F32\"", "[[2],[3]]", "[0,24]"), "shape");
    refuse_st(ENTRY("\"F32\"", "[2,4]", "[0,24]"), "2 x 4 of F32 does not take 24 bytes");
    refuse_st(ENTRY("\"F32\"", "[4294967296,4294967296]", "[0,0]"), "more elements");
    refuse_st(ENTRY("\"F32\"", "[0,9223372036854775807]", "[0,0]"), "more elements");
    refuse_st(ENTRY("\"F32\"", "[2,3]", "[24,0]"), "data_offsets");
    refuse_st(ENTRY("\"F32\"", "[2,3]", "[-24,0]"), "data_offsets");
    refuse_st(ENTRY("\"F32\"", "[2,3]", "[0,24,24]"), "data_offsets");
    refuse_st(ENTRY("\"F32\"", "[2,3]", "[0]"), "data_offsets");
    refuse_st(ENTRY("\"F32\"", "[2,3]", "{}"), "data_offsets");
    refuse_st(ENTRY("\"F32\"", "[2,3]", "[\"0\",24]"), "data_offsets");
    refuse_st(ENTRY("\"F32\"", "[2,3]", "[1,25]"), "leaving a hole from byte 0");
    refuse_st(ENTRY("\"F32\"", "[2,3]", "[9223372036854775783,9223372036854775807]"), "a hole");
}

#define TWO(begin, end)                                                                            \
    "{\"b\":{\"dtype\":\"U8\",\"shape\":[2,2],\"data_offsets\":[" begin "," end                    \
    "]},\"a\":" ST_ENTRY "}"

static void test_st_layout(void **state) {
    (void)state;
    make_st(TWO("25", "29"), 29);
    refuse("bad.safetensors",
           "tensor 'b' begins at byte 25 of the data, leaving a hole from byte 24");
    make_st(TWO("20", "24"), 24);
    refuse("bad.safetensors", "overlapping the one up to byte 24");
    make_st(TWO("0", "4"), 24);
    refuse("bad.safetensors", "overlapping");
    make_st(TWO("24", "28"), 24);
    refuse("bad.safetensors", "28 bytes of data but only 24 bytes follow");
}

/* ---- Files that are no files ---------------------------------------------------------------- */

static void test_paths(void **state) {
    (void)state;
    refuse_spec("missing.npy", "missing.npy", 3, "No such file");
    refuse_spec("missing", "missing", 3, "No such file");
    refuse_spec("missing.safetensors:a", "missing.safetensors", 3, "No such file");
    refuse_spec("", "''", 3, "empty");
    assert_int_equal(mkdir("dir.npy", 0777), 0);
    refuse_spec("dir.npy", "dir.npy", 3, "is a directory");
    refuse_spec("/dev/null", "/dev/null", 3, "there is nothing to read");
    begin();
    add("hello, world", 12);
    refuse("text.bin", "neither");
    refuse("text.npy", "not an .npy file");
    make_npy(NPY_PLAIN, 24);
    save_file("a.npy");
    refuse_spec("a.npy:w", "a.npy", 3, "without a name, and 'w' is no type");
    char longer[5000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    file_error_t err;
    matrix_t m;
    assert_false(matrix_load(longer, MATRIX_NO_HINT, &m, &err));
    assert_non_null(strstr(err.message, "too long"));
    assert_false(matrix_load("a\nb\x1b[31m.npy", MATRIX_NO_HINT, &m, &err));
    check_refusal(&err, 3, "a?b?[31m.npy", "No such file");
}

/* ---- Writing -------------------------------------------------------------------------------- */

static const tcgemm_dtype_t all_dtypes[] = {
    TCGEMM_DTYPE_F64,  TCGEMM_DTYPE_F32, TCGEMM_DTYPE_F16, TCGEMM_DTYPE_BF16, TCGEMM_DTYPE_E4M3,
    TCGEMM_DTYPE_E5M2, TCGEMM_DTYPE_S32, TCGEMM_DTYPE_S8,  TCGEMM_DTYPE_U8,
};

static bool save(const char *spec, tcgemm_dtype_t dtype, int64_t rows, int64_t cols,
                 tcgemm_order_t order, int64_t ld, const void *data, bool overwrite,
                 file_error_t *err) {
    const matrix_t m = {.dtype = dtype,
                        .num_dims = 2,
                        .dims = {rows, cols},
                        .batch = 1,
                        .rows = rows,
                        .cols = cols,
                        .ld = ld,
                        .order = order,
                        .data = (void *)(uintptr_t)data};
    return matrix_save(spec, &m, overwrite, err);
}

/* Saves a 5 x 7 window of a larger matrix and compares what comes back, element by element. */
static void check_round_trip(const char *spec, tcgemm_dtype_t dtype, tcgemm_order_t order,
                             int64_t padding) {
    enum { ROWS = 5, COLS = 7 };
    uint8_t data[10 * 10 * 8];
    file_error_t err;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 151 + 7);
    const size_t size = (size_t)tcgemm_dtype_bits(dtype) / 8;
    const bool col = order == TCGEMM_COL_MAJOR;
    const int64_t ld = (col ? ROWS : COLS) + padding;
    if (!save(spec, dtype, ROWS, COLS, order, padding ? ld : 0, data, true, &err))
        fail_msg("%s", err.message);
    const array_hint_t says = {.said = dtype};
    matrix_t m = accept_spec(spec, strchr(spec, ':') ? MATRIX_NO_HINT : &says);
    assert_int_equal(m.dtype, dtype);
    assert_int_equal(m.rows, ROWS);
    assert_int_equal(m.cols, COLS);
    const bool got_col = m.order == TCGEMM_COL_MAJOR;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < COLS; j++) {
            const int64_t from = col ? i + j * ld : i * ld + j;
            const int64_t to = got_col ? i + j * m.ld : i * m.ld + j;
            assert_memory_equal((const uint8_t *)m.data + (size_t)to * size,
                                data + (size_t)from * size, size);
        }
    }
    matrix_free(&m);
}

static void test_round_trips(void **state) {
    (void)state;
    static const char *const specs[] = {"d.npy", "d.safetensors", "e.safetensors:layer.0/w:\"x\""};
    for (size_t s = 0; s < 3; s++)
        for (size_t t = 0; t < sizeof all_dtypes / sizeof all_dtypes[0]; t++)
            for (int64_t padding = 0; padding < 3; padding += 2) {
                check_round_trip(specs[s], all_dtypes[t], TCGEMM_ROW_MAJOR, padding);
                check_round_trip(specs[s], all_dtypes[t], TCGEMM_COL_MAJOR, padding);
            }
    matrix_t m = accept_spec("d.safetensors:d", MATRIX_NO_HINT); /* the name when none is given */
    matrix_free(&m);
    assert_int_equal(count_hidden_files(), 0);
}

static void test_round_trip_of_nothing(void **state) {
    (void)state;
    static const char *const specs[] = {"z.npy", "z.safetensors"};
    file_error_t err;
    for (int64_t rows = 0; rows < 4; rows += 3) {
        for (size_t s = 0; s < 2; s++) {
            assert_true(save(specs[s], TCGEMM_DTYPE_F32, rows, 3 - rows, TCGEMM_COL_MAJOR, 0, NULL,
                             true, &err));
            matrix_t m = accept_spec(specs[s], MATRIX_NO_HINT);
            assert_int_equal(m.rows, rows);
            assert_int_equal(m.cols, 3 - rows);
            matrix_free(&m);
        }
    }
}

/* Two column-major items of 2 x 3 with gaps between columns and items, as an array of three
 * dimensions: in C's order in both formats. */
static void test_saving_a_batch(void **state) {
    (void)state;
    static const char *const specs[] = {"batch.npy", "batch.safetensors"};
    file_error_t err;
    float data[40];
    for (int i = 0; i < 40; i++)
        data[i] = (float)i;
    const matrix_t m = {.dtype = TCGEMM_DTYPE_F32,
                        .num_dims = 3,
                        .dims = {2, 2, 3},
                        .batch = 2,
                        .stride = 20,
                        .rows = 2,
                        .cols = 3,
                        .ld = 5,
                        .order = TCGEMM_COL_MAJOR,
                        .data = data};
    for (size_t s = 0; s < 2; s++) {
        assert_true(matrix_save(specs[s], &m, true, &err));
        matrix_t got = accept_spec(specs[s], MATRIX_NO_HINT);
        assert_int_equal(got.num_dims, 3);
        assert_int_equal(got.batch, 2);
        assert_int_equal(got.stride, 6);
        assert_int_equal(got.order, TCGEMM_ROW_MAJOR);
        for (int t = 0; t < 2; t++)
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 3; j++)
                    assert_true(((float *)got.data)[6 * t + 3 * i + j] ==
                                (float)(20 * t + i + 5 * j));
        matrix_free(&got);
    }
}

static bool save_1x1(const char *spec, tcgemm_dtype_t dtype, bool overwrite, file_error_t *err) {
    const double zero = 0;
    const bool checked = matrix_save_check(spec, dtype, overwrite, err);
    file_error_t again;
    const bool saved = save(spec, dtype, 1, 1, TCGEMM_ROW_MAJOR, 0, &zero, overwrite, &again);
    assert_int_equal(checked, saved);
    if (!saved) {
        assert_int_equal(err->exit_status, again.exit_status);
        assert_string_equal(err->message, again.message);
    }
    return saved;
}

static void test_save_refusals(void **state) {
    (void)state;
    file_error_t err;
    assert_false(save_1x1("d.bin", TCGEMM_DTYPE_F32, true, &err));
    check_refusal(&err, FILE_EXIT_USAGE, "d.bin", ".npy or .safetensors");
    assert_false(save_1x1("d.npy:x", TCGEMM_DTYPE_F32, true, &err));
    check_refusal(&err, FILE_EXIT_USAGE, "d.npy:x", ".npy or .safetensors");
    assert_false(save_1x1("d.npy", TCGEMM_DTYPE_S4, true, &err));
    check_refusal(&err, FILE_EXIT_USAGE, "d.npy", "type s4");
    assert_false(save_1x1("d.npy", TCGEMM_DTYPE_B1, true, &err));
    check_refusal(&err, FILE_EXIT_USAGE, "d.npy", "type b1");
    assert_false(save_1x1("d.safetensors:", TCGEMM_DTYPE_F32, true, &err));
    check_refusal(&err, FILE_EXIT_USAGE, "d.safetensors", "cannot be the name");
    assert_false(save_1x1("d.safetensors:__metadata__", TCGEMM_DTYPE_F32, true, &err));
    check_refusal(&err, FILE_EXIT_USAGE, "d.safetensors", "cannot be the name");
    assert_false(save_1x1("d.safetensors:\xff", TCGEMM_DTYPE_F32, true, &err));
    check_refusal(&err, FILE_EXIT_USAGE, "d.safetensors", "cannot be the name");
    assert_false(save_1x1("nowhere/d.npy", TCGEMM_DTYPE_F32, true, &err));
    check_refusal(&err, FILE_EXIT_BAD_FILE, "nowhere/d.npy", "No such file");
    assert_int_equal(mkdir("out.npy", 0777), 0);
    assert_false(save_1x1("out.npy", TCGEMM_DTYPE_F32, true, &err));
    check_refusal(&err, FILE_EXIT_BAD_FILE, "out.npy", "directory");
    const double zero = 0;
    assert_false(
        save("/dev/full", TCGEMM_DTYPE_F64, 1, 1, TCGEMM_ROW_MAJOR, 0, &zero, false, &err));
    check_refusal(&err, FILE_EXIT_BAD_FILE, "/dev/full", "No space left");
    assert_false(save("d.npy", TCGEMM_DTYPE_F64, 1, 1, TCGEMM_ROW_MAJOR, -1, &zero, true, &err));
    check_refusal(&err, FILE_EXIT_USAGE, "d.npy", "leading dimension -1");
    assert_false(save("d.npy", TCGEMM_DTYPE_F64, INT64_MAX, INT64_MAX, TCGEMM_ROW_MAJOR, 0, &zero,
                      true, &err));
    assert_int_equal(err.exit_status, FILE_EXIT_USAGE);
    assert_int_equal(count_hidden_files(), 0);
}

static void test_overwriting(void **state) {
    (void)state;
    file_error_t err;
    struct stat st;
    const mode_t old_mask = umask(027);
    assert_true(save_1x1("once.npy", TCGEMM_DTYPE_F32, false, &err));
    assert_int_equal(stat("once.npy", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    (void)umask(old_mask);
    assert_false(save_1x1("once.npy", TCGEMM_DTYPE_F64, false, &err));
    check_refusal(&err, FILE_EXIT_BAD_FILE, "once.npy", "exists already");
    matrix_t m = accept_spec("once.npy", MATRIX_NO_HINT);
    assert_int_equal(m.dtype, TCGEMM_DTYPE_F32);
    /* An input may be its own output: the mapping keeps the old file alive. */
    assert_true(save_1x1("once.npy", TCGEMM_DTYPE_F64, true, &err));
    assert_int_equal(m.dtype, TCGEMM_DTYPE_F32);
    assert_memory_equal(m.data, "\0\0\0\0", 4);
    matrix_free(&m);
    m = accept_spec("once.npy", MATRIX_NO_HINT);
    assert_int_equal(m.dtype, TCGEMM_DTYPE_F64);
    matrix_free(&m);
}

/* A disk that is full, played by a limit on the size of files. */
static void test_failing_write(void **state) {
    (void)state;
    file_error_t err;
    struct rlimit old;
    static const double data[1000];
    assert_true(save_1x1("full.npy", TCGEMM_DTYPE_F32, false, &err));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    const struct rlimit small = {4096, old.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const bool row =
        save("full.npy", TCGEMM_DTYPE_F64, 10, 100, TCGEMM_ROW_MAJOR, 0, data, true, &err);
    file_error_t second;
    const bool transposed = save("full.safetensors", TCGEMM_DTYPE_F64, 10, 100, TCGEMM_COL_MAJOR, 0,
                                 data, true, &second);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, handler);
    assert_false(row);
    assert_false(transposed);
    check_refusal(&err, FILE_EXIT_BAD_FILE, "full.npy", "cannot be written");
    check_refusal(&second, FILE_EXIT_BAD_FILE, "full.safetensors", "cannot be written");
    assert_int_equal(count_hidden_files(), 0);
    assert_int_equal(access("full.safetensors", F_OK), -1);
    matrix_t m = accept_spec("full.npy", MATRIX_NO_HINT); /* the old one is unharmed */
    assert_int_equal(m.rows, 1);
    matrix_free(&m);
}

static void abort_on_alarm(int number) {
    (void)number;
    matrix_save_abort();
}

/* A signal in the midst of saving takes the temporary file away; nothing half-written appears. */
static void test_abort(void **state) {
    (void)state;
    file_error_t err;
    matrix_save_abort(); /* nothing is under way */
    const size_t size = (size_t)64 << 20;
    void *data = calloc(1, size);
    assert_non_null(data);
    void (*handler)(int) = signal(SIGALRM, abort_on_alarm);
    (void)ualarm(3000, 0);
    const bool saved =
        save("abort.npy", TCGEMM_DTYPE_U8, 8192, 8192, TCGEMM_ROW_MAJOR, 0, data, false, &err);
    (void)ualarm(0, 0);
    (void)signal(SIGALRM, handler);
    free(data);
    assert_int_equal(count_hidden_files(), 0);
    if (saved) { /* it was faster than the alarm */
        matrix_t m = accept_spec("abort.npy", MATRIX_NO_HINT);
        matrix_free(&m);
    } else {
        check_refusal(&err, FILE_EXIT_BAD_FILE, "abort.npy", "cannot be written");
        assert_int_equal(access("abort.npy", F_OK), -1);
    }
}

/* ---- Converting ----------------------------------------------------------------------------- */

static void test_convert(void **state) {
    (void)state;
    file_error_t err;
    /* 1 + 2^-8 lies halfway between two bf16 numbers: it goes to the even one, 1. */
    const float data[4] = {1.00390625f, 1.01171875f, -3.0f, 7.0f};
    assert_true(save("c.npy", TCGEMM_DTYPE_F32, 2, 2, TCGEMM_COL_MAJOR, 0, data, true, &err));
    matrix_t m = accept_spec("c.npy", MATRIX_NO_HINT);
    matrix_t out;

    assert_true(matrix_convert(&m, TCGEMM_DTYPE_BF16, &out, &err));
    static const uint16_t bf16[4] = {0x3F80, 0x3F82, 0xC040, 0x40E0};
    assert_int_equal(out.dtype, TCGEMM_DTYPE_BF16);
    assert_int_equal(out.order, TCGEMM_COL_MAJOR);
    assert_int_equal(out.ld, 2);
    assert_true(out.owned);
    assert_memory_equal(out.data, bf16, sizeof bf16);
    matrix_free(&out);

    assert_true(matrix_convert(&m, TCGEMM_DTYPE_S4, &out, &err));
    assert_memory_equal(out.data, "\x11\x7d", 2);
    matrix_free(&out);

    assert_true(matrix_convert(&m, TCGEMM_DTYPE_F32, &out, &err));
    assert_memory_equal(out.data, data, sizeof data);
    matrix_free(&out);

    assert_false(matrix_convert(&m, (tcgemm_dtype_t)99, &out, &err));
    assert_int_equal(err.exit_status, FILE_EXIT_USAGE);
    matrix_free(&out);
    matrix_free(&m);
}

static void test_convert_limits(void **state) {
    (void)state;
    file_error_t err;
    matrix_t out;
    float one = 1;
    matrix_t m = {
        .dtype = TCGEMM_DTYPE_F32, .batch = 1, .rows = 0, .cols = 5, .ld = 5, .data = &one};
    assert_true(matrix_convert(&m, TCGEMM_DTYPE_F64, &out, &err));
    assert_non_null(out.data);
    matrix_free(&out);
    m.rows = m.cols = m.ld = INT64_C(1) << 40;
    assert_false(matrix_convert(&m, TCGEMM_DTYPE_F64, &out, &err));
    assert_int_equal(err.exit_status, FILE_EXIT_NO_MEMORY);
    m.rows = 1 << 20;
    m.cols = m.ld = INT64_C(1) << 36;
    assert_false(matrix_convert(&m, TCGEMM_DTYPE_F64, &out, &err));
    assert_int_equal(err.exit_status, FILE_EXIT_NO_MEMORY);
}

/* ---- The whole ------------------------------------------------------------------------------ */

static char folder[] = "/tmp/tcgemm-test-files-XXXXXX";

static int enter_folder(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int leave_folder(void **state) {
    (void)state;
    DIR *dir = opendir(".");
    if (dir == NULL)
        return 1;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)remove(entry->d_name);
    closedir(dir);
    return chdir("/") != 0 || rmdir(folder) != 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy_good),
        cmocka_unit_test(test_npy_orders_and_zeros),
        cmocka_unit_test(test_npy_raw),
        cmocka_unit_test(test_npy_int4),
        cmocka_unit_test(test_npy_batch),
        cmocka_unit_test(test_npy_big_endian),
        cmocka_unit_test(test_npy_versions),
        cmocka_unit_test(test_npy_truncated),
        cmocka_unit_test(test_npy_lengths),
        cmocka_unit_test(test_npy_declares_too_much),
        cmocka_unit_test(test_npy_shapes),
        cmocka_unit_test(test_npy_types),
        cmocka_unit_test(test_npy_dictionaries),
        cmocka_unit_test(test_st_good),
        cmocka_unit_test(test_st_choosing),
        cmocka_unit_test(test_st_frame),
        cmocka_unit_test(test_st_json),
        cmocka_unit_test(test_st_entries),
        cmocka_unit_test(test_st_layout),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_round_trip_of_nothing),
        cmocka_unit_test(test_saving_a_batch),
        cmocka_unit_test(test_save_refusals),
        cmocka_unit_test(test_overwriting),
        cmocka_unit_test(test_failing_write),
        cmocka_unit_test(test_abort),
        cmocka_unit_test(test_convert),
        cmocka_unit_test(test_convert_limits),
    };
    return cmocka_run_group_tests_name("files", tests, enter_folder, leave_folder);
}
