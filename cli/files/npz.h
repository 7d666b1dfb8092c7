/* npz.h - the arrays of NumPy's .npz files: ZIP archives of .npy files, stored or deflated. */
#ifndef TCGEMM_CLI_NPZ_H
#define TCGEMM_CLI_NPZ_H

#include "files/whole_file.h"

/* Whether the bytes begin like a ZIP archive. */
bool npz_has_magic(const uint8_t *bytes, size_t num_bytes);

/* Unpacks the array called `wanted`, or the only one if that is NULL, into pages of its own. What
 * follows the last ':' of a name that is not there may be a word for the array's elements
 * (matrix.h): *word, else NULL. `name` is for the message. Fails with FILE_EXIT_BAD_FILE,
 * FILE_EXIT_NO_MEMORY. */
bool npz_take(const whole_file_t *archive, const char *name, const char *wanted, whole_file_t *out,
              const char **word, file_error_t *err);

#endif /* TCGEMM_CLI_NPZ_H */
