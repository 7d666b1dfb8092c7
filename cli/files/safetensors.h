/* Hugging Face's .safetensors files: their header in both directions.
 *
 *     N          {"w": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}, ...}   data
 *     8 bytes    N bytes of JSON, perhaps with spaces at the end                           to the
 * end
 *
 * The tensors are little-endian and row-major, and they fill the data without holes or overlaps.
 */
#ifndef TCGEMM_CLI_SAFETENSORS_H
#define TCGEMM_CLI_SAFETENSORS_H

#include "files/array_view.h"

/* Whether the bytes begin like a .safetensors file. */
bool safetensors_has_magic(const uint8_t *bytes, size_t num_bytes);

/* Reads the header of a whole file that lies in memory, checks all of its tensors, and describes
 * the one called `tensor`, or if that is NULL the only one, or the only one of two dimensions.
 * Pure: touches nothing but its arguments and the heap. `name` is for the message. */
bool safetensors_parse(const uint8_t *bytes, size_t num_bytes, const char *name, const char *tensor,
                       array_view_t *view, file_error_t *err);

/* Checks the file likewise and lists its tensors, as matrix_list. */
bool safetensors_list(const uint8_t *bytes, size_t num_bytes, const char *name, char *text,
                      size_t size, file_error_t *err);

/* Makes the header of a file with one tensor; the caller frees *header. The dtype must fill whole
 * bytes. `name` is for the message. Fails if no tensor can be called `tensor`. */
bool safetensors_make_header(const char *name, const char *tensor, tcgemm_dtype_t dtype,
                             const array_shape_t *shape, uint8_t **header, size_t *header_bytes,
                             file_error_t *err);

#endif /* TCGEMM_CLI_SAFETENSORS_H */
