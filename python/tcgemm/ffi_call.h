/* ffi_call.h - one product of dense row-major arrays, as a compiler of array programs (XLA) asks
 * for it.
 *
 * Shared by src/ffi.c, which does it, and xla_ffi.cc, which is compiled where JAX is and is given
 * the address of tcpy_ffi_multiply. A change of the struct changes its `version`.
 */
#ifndef TCGEMM_PYTHON_FFI_CALL_H
#define TCGEMM_PYTHON_FFI_CALL_H

#include <stddef.h>
#include <stdint.h>

enum { TCPY_FFI_VERSION = 1, TCPY_FFI_HOST = -1 };

typedef struct tcpy_ffi_call {
    int32_t version;
    int32_t device;   /* number of a GPU; TCPY_FFI_HOST */
    const char *type; /* "bf16_f32" */
    int64_t rank;     /* of all operands, at least 2 */
    const int64_t *a_dims, *b_dims,
        *c_dims; /* c_dims: NULL without C. An axis of 1 in a batch is broadcast */
    const void *a, *b, *c;
    void *d;
    double alpha, beta;
    int32_t trans_a, trans_b;
    void *stream; /* of the GPU: the product is queued there */
} tcpy_ffi_call_t;

/* NULL, or why it could not be done: a sentence that is good until the thread's next call. */
typedef const char *tcpy_ffi_multiply_t(const tcpy_ffi_call_t *call);

#endif
