/* dlpack.h - the binary interface of DLPack 1.3: how array packages hand each other a matrix.
 *
 * A capsule named "dltensor_versioned" holds a tcpy_dl_managed_t, one named "dltensor" its older
 * form without version and flags. Who takes it renames the capsule to "used_..." and calls the
 * deleter, once. A package may beside that offer a table of C functions, tcpy_dl_exchange_t, on its
 * array type: no capsule, no Python call.
 */
#ifndef TCGEMM_PYTHON_DLPACK_H
#define TCGEMM_PYTHON_DLPACK_H

#include <stdint.h>

enum { DL_MAJOR = 1, DL_MINOR = 1 }; /* what we write; what we read may be any minor of 1 */

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };

enum {
    DL_INT = 0,
    DL_UINT = 1,
    DL_FLOAT = 2,
    DL_BFLOAT = 4,
    DL_COMPLEX = 5,
    DL_BOOL = 6,
    DL_FLOAT8_E4M3FN = 10,
    DL_FLOAT8_E5M2 = 12
};

enum { DL_READ_ONLY = 1, DL_IS_COPIED = 2, DL_SUBBYTE_PADDED = 4 }; /* flags */

typedef struct {
    uint32_t major, minor;
} tcpy_dl_version_t;

typedef struct {
    int32_t type, id;
} tcpy_dl_device_t;

typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} tcpy_dl_type_t;

typedef struct {
    void *data;
    tcpy_dl_device_t device;
    int32_t ndim;
    tcpy_dl_type_t dtype;
    int64_t *shape;
    int64_t *strides; /* elements; NULL: row-major without gaps */
    uint64_t byte_offset;
} tcpy_dl_tensor_t;

typedef struct tcpy_dl_old {
    tcpy_dl_tensor_t tensor;
    void *manager;
    void (*deleter)(struct tcpy_dl_old *self);
} tcpy_dl_old_t;

typedef struct tcpy_dl_managed {
    tcpy_dl_version_t version;
    void *manager;
    void (*deleter)(struct tcpy_dl_managed *self);
    uint64_t flags;
    tcpy_dl_tensor_t tensor;
} tcpy_dl_managed_t;

typedef void tcpy_dl_set_error_t(void *context, const char *kind, const char *message);

typedef struct tcpy_dl_exchange {
    tcpy_dl_version_t version;
    struct tcpy_dl_exchange *previous; /* of an older major version, or NULL */
    int (*allocate)(tcpy_dl_tensor_t *prototype, tcpy_dl_managed_t **out, void *error_context,
                    tcpy_dl_set_error_t *set_error);
    int (*from_object)(void *object, tcpy_dl_managed_t **out);
    int (*to_object)(tcpy_dl_managed_t *tensor, void **object);
    int (*view_object)(void *object, tcpy_dl_tensor_t *out); /* may be NULL */
    int (*current_stream)(int32_t device_type, int32_t device_id, void **stream);
} tcpy_dl_exchange_t;

#endif
