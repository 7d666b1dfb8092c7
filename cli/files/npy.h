/* NumPy's .npy files: their header in both directions.
 *
 *     \x93NUMPY  major minor  length  {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
 *     6 bytes    1     1      2 or 4  a Python literal, then spaces and a newline, then the data
 *
 * Versions 1, 2 and 3 are read (they differ in the size of `length` and the encoding of names,
 * which matrices do not have), version 1 is written.
 */
#ifndef TCGEMM_CLI_NPY_H
#define TCGEMM_CLI_NPY_H

#include "files/array_view.h"

/* Whether the bytes begin like an .npy file. */
bool npy_has_magic(const uint8_t *bytes, size_t num_bytes);

/* Reads the header of a whole file that lies in memory. Pure: touches nothing but its arguments,
 * allocates nothing. `name` is for the message; `hint` decides what "V1" is (matrix.h);
 * NULL: nothing is known. */
bool npy_parse(const uint8_t *bytes, size_t num_bytes, const char *name, const array_hint_t *hint,
               array_view_t *view, file_error_t *err);

#define NPY_MAX_WRITTEN_HEADER 192

/* Writes the header that NumPy itself would write (bf16 and fp8 as ml_dtypes would) and returns its
 * length, a multiple of 64. The dtype must fill whole bytes; at most three dimensions. */
size_t npy_write_header(uint8_t header[NPY_MAX_WRITTEN_HEADER], tcgemm_dtype_t dtype,
                        const array_shape_t *shape, tcgemm_order_t order);

#endif /* TCGEMM_CLI_NPY_H */
