/* setup.h - settings made into what the library takes. Each function returns an exit status and has
 * told the fault when that is not CLI_OK. */
#ifndef CLI_SETUP_H
#define CLI_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "options/options.h"
#include "support/sizes.h"
#include "tcgemm/tcgemm.h"

enum { SETUP_MAX_TYPES = 64 };

/* The types of a list "bf16_f32,s8_s32" (or "all"), in its order. */
int setup_types(const settings_t *s, tcgemm_type_t types[SETUP_MAX_TYPES], int *count);

/* One type by its name. */
int setup_type(const settings_t *s, const char *name, tcgemm_type_t *type);

/* One size, of option --`option`. */
int setup_size(const settings_t *s, const char *option, const char *text, int64_t *value);

/* The sizes of one product, from -m -n -k or --shape. */
int setup_shape(const settings_t *s, size_shape_t *shape);

/* One number of threads; 0 if none is given. */
int setup_threads(const settings_t *s, int *threads);

/* The device asked for: AUTO if none is, CPU, or a number that the library has yet to accept. */
int setup_device(const settings_t *s, int *device);

/* The facts of the known GPU that calls itself `name` ("NVIDIA H200"); false if there is none. */
bool setup_known_gpu(const char *name, tcgemm_device_info_t *gpu);

/* A context on that device, and on the one asked for. */
int setup_context_on(int device, int threads, tcgemm_context_t **context);
int setup_context(const settings_t *s, int threads, tcgemm_context_t **context);

/* Flags, order and batch of a problem. */
void setup_problem(const settings_t *s, tcgemm_problem_t *problem);

/* A file of at most 16 MiB as text; the caller frees it. */
int setup_read_text(const char *path, char **text, size_t *length);

#endif
