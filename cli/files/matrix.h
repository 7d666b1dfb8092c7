/* Matrices in files: NumPy's .npy and .npz, Hugging Face's .safetensors, Matrix Market's .mtx, and
 * rows of numbers as text.
 *
 *     matrix_t a;
 *     file_error_t err;
 *     if (!matrix_load("model.safetensors:layer.0.weight", MATRIX_NO_HINT, &a, &err)) {
 *         fprintf(stderr, "tcgemm: %s\n", err.message);
 *         return err.exit_status;
 *     }
 *     ... a.rows x a.cols elements of a.dtype at a.data ...
 *     matrix_free(&a);
 *
 * Files are untrusted: everything in a header is checked against the size of the file before
 * memory is taken or data are touched. Every function that returns bool returns false after filling
 * `err`, and then its output is an empty matrix that matrix_free accepts.
 */
#ifndef TCGEMM_CLI_MATRIX_H
#define TCGEMM_CLI_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tcgemm/tcgemm.h>

#include "files/array_view.h"
#include "files/file_error.h"

#define MATRIX_NO_HINT ((const array_hint_t *)NULL)

/* A dense matrix, or a batch of them, as tcgemm_problem_t wants to hear of it. */
typedef struct matrix {
    tcgemm_dtype_t dtype;
    int num_dims; /* of the array in the file, ... */
    int64_t dims[3];
    int64_t batch, stride; /* ... which holds so many matrices so far apart: 1 unless it has three
                              dimensions */
    int64_t rows, cols;    /* of each; an array of one dimension is one row */
    int64_t ld;            /* elements from one stored row (column-major: column) to the next */
    tcgemm_order_t order;
    void *data;    /* element 0, aligned to its element, never NULL after a success;
                      read-only unless `owned` */
    bool taken;    /* the file leaves its type open: it was taken for what the product wants */
    bool whole;    /* the file holds integers, which a conversion must keep */
    bool swapped;  /* the file was big-endian; `data` is little-endian all the same */
    bool owned;    /* `data` is memory of ours, else it lies in the mapping */
    void *mapping; /* of the whole file; NULL if there is none */
    size_t mapping_bytes;
    char dtype_text[32]; /* the file's own word for the type: "<f4", "BF16" */
} matrix_t;

/* Reads a matrix. `spec` names it:
 *
 *     A.npy                        the array of the file: a vector, a matrix or a batch of them
 *     A.npy:int4                   and what its raw elements are: a word of element.h
 *     model.safetensors:w.0        the tensor "w.0"
 *     model.safetensors            its only tensor, or its only one of two dimensions
 *
 *     m.npz:w                      the array "w" (m.npz:w:int4, with a word for its elements)
 *     m.npz                        its only array
 *     A.mtx  A.csv  A.tsv  A.txt   text (text_matrix.h), which comes as f64
 *
 *     -                            what comes from the standard input, until its end
 *
 * With another extension the first bytes of the file tell its kind, unless it is rows of numbers. A
 * pipe is read to its end. `hint`, or MATRIX_NO_HINT, settles what the file leaves open: .npy "V1"
 * may be int4, uint4, e4m3 or e5m2, "|V2" may be bf16; a file that nobody says a word about is
 * refused. The matrix comes as the file has it, so compare its dtype and use matrix_convert. A size
 * of zero is legal. Fails with FILE_EXIT_BAD_FILE, FILE_EXIT_NO_MEMORY. */
bool matrix_load(const char *spec, const array_hint_t *hint, matrix_t *out, file_error_t *err);

/* Releases what matrix_load or matrix_convert made and empties the struct; may be repeated. */
void matrix_free(matrix_t *matrix);

/* Makes a copy with elements of type `to` (any, also s4, u4, b1), by the rules of tcgemm_convert:
 * to nearest, ties to even. Order and leading dimension stay as they are.
 * Fails with FILE_EXIT_NO_MEMORY, FILE_EXIT_USAGE (no such type). */
bool matrix_convert(const matrix_t *in, tcgemm_dtype_t to, matrix_t *out, file_error_t *err);

/* Which element the `index`-th of a tight array is: "[2][3]", as its dimensions count. */
void matrix_index_text(const matrix_t *matrix, int64_t index, char *text, size_t size);

/* What a conversion has changed. Rounding to the nearest is no loss. */
typedef struct matrix_loss {
    int64_t clipped;    /* beyond the type's range: its end instead */
    int64_t overflowed; /* beyond its range: infinity or NaN instead */
    int64_t nans;       /* NaN: a number instead */
    int64_t inexact;    /* any other number than before: ... */
    int64_t index;      /* ... the first of them, */
    double value;       /* which was */
} matrix_loss_t;

/* Compares a matrix with what matrix_convert made of it. */
void matrix_compare(const matrix_t *before, const matrix_t *after, matrix_loss_t *loss);

/* Writes dtype, batch, rows, cols, order and data of `matrix`, as an array of its dims; a stride or
 * ld of 0 is tight. The extension of `spec` decides: "D.npy", "D.safetensors" (the tensor is called
 * "d") or "D.safetensors:name". The file is written under a temporary name in the same directory
 * and then renamed, so a reader sees the old one, the new one, or none, but never half a file. "-"
 * is the standard output; it, a pipe and a device get the bytes of an .npy file as they come.
 * Without `overwrite` a file that is already there is an error. Fails with FILE_EXIT_USAGE (unknown
 * extension; s4, u4 or b1), FILE_EXIT_BAD_FILE, FILE_EXIT_NO_MEMORY. */
bool matrix_save(const char *spec, const matrix_t *matrix, bool overwrite, file_error_t *err);

/* Whether matrix_save would accept this name and type, as far as can be told without writing; call
 * it before a long computation. Fails as matrix_save does. */
bool matrix_save_check(const char *spec, tcgemm_dtype_t dtype, bool overwrite, file_error_t *err);

/* Removes the temporary file of a matrix_save that is under way. Async-signal-safe, from any
 * thread: for the handler of SIGINT and SIGTERM, which should _exit() afterwards. */
void matrix_save_abort(void);

/* Describes what a file holds, such as "a (F32 2x3), b (BF16 1024x1024)", cut to `size` bytes with
 * "... and N more". For .npy it is "(<f4 2x3)". Tensors of any rank and type are listed. */
bool matrix_list(const char *path, char *text, size_t size, file_error_t *err);

#endif /* TCGEMM_CLI_MATRIX_H */
