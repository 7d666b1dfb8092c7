/* core.h - what the files of the extension module `tcgemm._core` share.
 *
 * A product passes through them so:
 *
 *     operand.c    an array of any package becomes an operand_t: pointer, dtype, shape, strides
 *     dtype.c      dtypes of the operands -> type of the product
 *     layout.c     strides -> leading dimensions, transposes, batches; copies where there are none
 *     result.c     where no `out` was given, an array of the caller's kind for D
 *     product.c    all of that in order, and the call of the library, without the GIL if it is long
 *     plan.c       the same for repeated products: a Plan, and the plans that options ask for
 *
 * Written on the limited API of CPython 3.11, so that one binary serves every later version: heap
 * types, slots, state in the module, nothing static that belongs to an interpreter.
 */
#ifndef TCGEMM_PYTHON_CORE_H
#define TCGEMM_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <tcgemm/tcgemm.h>

#include "dlpack.h"

/* What the functions of the module share - packages, plans, notes of fast.c - is guarded by the
 * GIL. A free-threaded Python has none: there a function holds the module's critical section, which
 * Python suspends where it would let go of the GIL, and whoever may come in then could have come in
 * before. Plans are counted apart: they go when the last of their users does, also while nobody
 * holds a section. */
#ifdef Py_GIL_DISABLED
#include <stdatomic.h>
typedef atomic_int tcpy_count_t;
#define TCPY_BEGIN(module) Py_BEGIN_CRITICAL_SECTION(module);
#define TCPY_END           Py_END_CRITICAL_SECTION();
#else
typedef int tcpy_count_t;
#define TCPY_BEGIN(module) (void)(module);
#define TCPY_END
#endif

enum { MAX_DIMS = 64, MAX_PACKAGES = 32, MAX_CACHED_PLANS = 64, MAX_LEARNED = 16, MAX_FAST = 16 };

/* What arrays hold beside the dtypes of the library: bits that only a type gives a meaning. */
enum { RAW_16 = 100 };

/* ---- Packages: whose array is it? --------------------------------------------------------- */

typedef enum kind {
    KIND_UNKNOWN = 0,
    KIND_NUMPY,
    KIND_BUFFER, /* the buffer protocol, and no package that we know */
    KIND_DLPACK, /* __dlpack__, perhaps with an exchange table */
    KIND_CUDA,   /* __cuda_array_interface__ alone */
    KIND_PACKED, /* tcgemm.Packed: sub-byte elements with a shape */
    KIND_AHEAD   /* what tcgemm.pack has made */
} kind_t;

/* One array type that has been seen: looked at once, then found by its pointer. */
typedef struct package {
    PyTypeObject *type; /* owned, so that no other type can have this address */
    kind_t kind;
    PyObject *name; /* of the root module, "torch"; kept for good */
    const tcpy_dl_exchange_t *exchange;
    bool is_torch;     /* its arrays have requires_grad and is_neg */
    size_t head_bytes; /* NumPy: of the object, see numpy.c */
} package_t;

/* ---- Options of a product ------------------------------------------------------------------ */

#define MAX_NAME 48

/* What is not the default of a call. All bytes count: it is zeroed first, and its size is a
 * multiple of 8. */
typedef struct options {
    int type; /* 0: by the operands */
    int device;
    int threads;
    uint32_t flags;
    uint32_t packed; /* operands that were packed ahead */
    uint32_t is_set; /* something of this struct asks for a plan of its own */
    char algo[MAX_NAME], kernel[2 * MAX_NAME], tile[MAX_NAME], gpu[MAX_NAME];
} options_t;

/* A plan of the library that calls share. */
typedef struct shared_plan {
    options_t options;
    tcgemm_problem_t problem;
    uint64_t hash;
    tcgemm_context_t *context;
    tcgemm_plan_t *plan;
    tcpy_count_t users; /* running calls, the cache, notes, a tcgemm.Plan */
} shared_plan_t;

/* ---- NumPy's arrays, and products that have been seen ------------------------------------------
 */

typedef struct numpy_head { /* see numpy.c */
    PyObject_HEAD char *data;
    int ndim;
    Py_ssize_t *shape, *strides;
    PyObject *base, *dtype;
    int flags;
} numpy_head_t;

enum { NUMPY_WRITEABLE = 0x0400 };

/* What a matrix was, but for its address. Types and dtypes are kept by the state. */
typedef struct mark {
    PyTypeObject *type;
    PyObject *dtype;                 /* NumPy's; NULL: a tensor */
    uint64_t element;                /* of a tensor: its dtype and its device as DLPack has them */
    Py_ssize_t shape[2], strides[2]; /* strides in bytes, of a tensor in elements */
} mark_t;

typedef struct fast { /* see fast.c */
    mark_t a, b, d;
    PyObject *shape;     /* of the result, for numpy.empty; NULL: a tensor */
    shared_plan_t *plan; /* NULL: only noted */
    bool is_noted, is_short;
} fast_t;

/* Two operands of a call, perhaps out, as their package's exchange table shows them. */
typedef struct views {
    const package_t *package; /* NULL: they are not all tensors of one type */
    tcpy_dl_tensor_t a, b, d;
} views_t;

/* ---- State of the module -------------------------------------------------------------------- */

enum { /* keyword arguments, in the order of `keyword_names` (arguments.c) */
       KEY_C,
       KEY_ALPHA,
       KEY_BETA,
       KEY_OUT,
       KEY_TYPE,
       KEY_TRANS_A,
       KEY_TRANS_B,
       KEY_ACCURACY,
       KEY_REPRODUCIBLE,
       KEY_XOR,
       KEY_ALGO,
       KEY_KERNEL,
       KEY_TILE,
       KEY_DEVICE,
       KEY_GPU,
       KEY_STREAM,
       KEY_THREADS,
       KEY_SHAPE,
       KEY_MODE,
       KEY_SEED,
       KEY_OPERAND,
       KEY_TRANS,
       KEY_BIAS,
       KEY_ACTIVATION,
       KEY_SCALE_A,
       KEY_SCALE_B,
       NUM_KEYS
};

typedef struct state {
    PyObject *device_error, *copy_warning;
    PyTypeObject *array_type, *packed_type, *ahead_type, *plan_type;
    PyObject *keys[NUM_KEYS];         /* interned */
    PyObject *requires_grad, *is_neg; /* names */
    package_t packages[MAX_PACKAGES];
    int num_packages;
    PyObject *numpy_empty;
    PyObject *numpy_dtypes[TCGEMM_DTYPE_B1 + 1];
    PyObject *dlpack_arguments; /* {"max_version": (1, 1)} */
    struct {
        PyObject *object;
        int dtype;
    } learned[MAX_LEARNED]; /* dtypes of NumPy, see numpy.c */
    int num_learned;
    PyTypeObject *numpy_type; /* numpy.ndarray, once its head has proved itself */
    fast_t fast[MAX_FAST];
    shared_plan_t *plans[MAX_CACHED_PLANS];
    unsigned next_plan;
} state_t;

/* ---- Operands ------------------------------------------------------------------------------- */

typedef enum owner { OWNER_NONE, OWNER_BUFFER, OWNER_CAPSULE } owner_t;

typedef struct operand {
    const char *name; /* "a", "out", for sentences */
    char *data;
    int dtype; /* tcgemm_dtype_t, RAW_16 or 0: none that we multiply */
    int ndim;
    const Py_ssize_t *shape;
    const Py_ssize_t *strides; /* bytes; of a tcgemm.Packed: elements */
    int shift;                 /* the last axis counts bytes of 2^shift elements */
    Py_ssize_t itemsize;
    int device; /* TCGEMM_DEVICE_CPU or a GPU */
    bool is_readonly;
    bool is_packed;  /* a tcgemm.Packed */
    bool was_raw;    /* bits that only the type gives a meaning */
    bool has_stream; /* the stream of the call, if it names one */
    void *stream;
    package_t package;
    PyObject *object; /* borrowed */

    owner_t owner;
    Py_buffer view;
    PyObject *keep; /* owned: what else must live, or NULL */
    tcpy_dl_managed_t *managed;
    tcpy_dl_old_t *managed_old;
    char type_name[24]; /* of a dtype that we do not multiply */
    Py_ssize_t own_shape[MAX_DIMS], own_strides[MAX_DIMS];
} operand_t;

/* operand.c. Each returns -1 with an exception set. An operand is released even after a failure. */
void tcpy_operand_init(operand_t *x, const char *name);
int tcpy_operand_read(state_t *state, operand_t *x, PyObject *object, bool is_written);
void tcpy_operand_release(operand_t *x);
const package_t *tcpy_package_of(state_t *state, PyObject *object);
int tcpy_current_stream(const operand_t *x, void **stream);
/* Whether a tensor of torch is no more than its memory: no gradient to record, no sign to apply. */
bool tcpy_tensor_is_plain(const state_t *state, PyObject *tensor, bool may_be_negative);
/* The operand's axes as stored in C order, of a new block of memory. */
void tcpy_own_strides(operand_t *x);
size_t tcpy_operand_count(const operand_t *x);

/* numpy.c */
bool tcpy_numpy_read(const state_t *state, operand_t *x);
void tcpy_numpy_learn(state_t *state, const operand_t *x);
size_t tcpy_numpy_head_bytes(PyTypeObject *type);
PyObject *tcpy_numpy_empty(state_t *state); /* borrowed */

/* dtype.c */
int tcpy_dtype_of_format(const char *format, Py_ssize_t itemsize);
int tcpy_dtype_of_dl(tcpy_dl_type_t dtype);
tcpy_dl_type_t tcpy_dl_of_dtype(tcgemm_dtype_t dtype);
int tcpy_dtype_of_name(const char *name);
const char *tcpy_format_of_dtype(tcgemm_dtype_t dtype); /* NULL: none */
const char *tcpy_numpy_name(tcgemm_dtype_t dtype);
Py_ssize_t tcpy_itemsize(int dtype);
const char *tcpy_dtype_text(const operand_t *x);
int tcpy_choose_type(const operand_t *a, const operand_t *b, int asked, tcgemm_type_t *type);
int tcpy_take_as(operand_t *x, tcgemm_dtype_t dtype, const char *type_name);

/* layout.c: the axes of a product, and the problem they make */
typedef struct side {
    char *data;
    int64_t row_bits, col_bits; /* strides in bits ... */
    int64_t row, col;           /* ... and in elements; INT64_MIN: no whole number of them */
    int64_t rows, cols;
    bool in_columns;         /* a stored line is a column */
    int64_t ld;              /* 0: tight */
    int64_t batch[MAX_DIMS]; /* strides of the batch axes, in bits */
    int bits;                /* of an element */
    int device;
    bool is_empty; /* NumPy gives such arrays any strides */
    void *copy;    /* owned, or NULL */
} side_t;

typedef struct layout {
    tcgemm_problem_t problem;
    int num_outer; /* axes that are looped over */
    int64_t outer[MAX_DIMS];
    side_t a, b, c, d;
    bool has_c;
    bool reads_d; /* D is compared, not written; set by the caller */
    side_t out;   /* where D belongs, if it is made in d.copy */
} layout_t;

typedef struct shape {
    int64_t m, n, k;
    int num_batch;
    Py_ssize_t batch[MAX_DIMS];
    bool drops_row, drops_col; /* a, b was a vector */
} shape_t;

int tcpy_shape_of(const operand_t *a, bool trans_a, const operand_t *b, bool trans_b,
                  shape_t *shape);
int tcpy_result_shape(const shape_t *shape, Py_ssize_t *result); /* its number of axes */
int tcpy_layout(state_t *state, const shape_t *shape, tcgemm_type_t type, uint32_t flags,
                operand_t *a, bool trans_a, operand_t *b, bool trans_b, operand_t *c, operand_t *d,
                layout_t *layout);
int tcpy_place_alone(state_t *state, side_t *side, operand_t *x, bool is_transposed, int64_t rows,
                     int64_t cols);
void tcpy_layout_free(layout_t *layout);
void tcpy_deliver(const shape_t *shape, const layout_t *layout); /* D from its copy to out */
void tcpy_copy_strided(char *to, const int64_t *to_strides, const char *from,
                       const int64_t *from_strides, const int64_t *shape, int ndim, size_t bytes);

/* result.c */
PyObject *tcpy_new_result(state_t *state, const operand_t *like, tcgemm_dtype_t dtype, bool is_raw,
                          int ndim, const Py_ssize_t *shape, operand_t *out);
PyObject *tcpy_finish_result(state_t *state, const operand_t *like, PyObject *made);

/* array.c: tcgemm.Array, memory of our own that every package can read */
PyObject *tcpy_array_new(state_t *state, tcgemm_dtype_t dtype, int ndim, const Py_ssize_t *shape);
int tcpy_array_read(operand_t *operand);
extern PyType_Spec tcpy_array_spec, tcpy_packed_spec, tcpy_ahead_spec, tcpy_plan_spec;

/* ahead.c: operands packed ahead, tcgemm.pack */
typedef struct ahead {
    PyObject_HEAD void *data;
    size_t bytes;
    tcgemm_type_t type;
    unsigned operand;   /* TCGEMM_OPERAND_A or _B */
    int64_t rows, cols; /* of op(A) or op(B) */
    tcgemm_problem_t problem;
    char kernel[2 * MAX_NAME];
} ahead_t;
PyObject *tcpy_pack(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);

/* packed.c: tcgemm.Packed */
typedef struct packed {
    PyObject_HEAD PyObject *data; /* the array that holds the bytes */
    int dtype;
    int ndim;
    Py_ssize_t shape[MAX_DIMS];
} packed_t;

/* product.c */
typedef struct call { /* arguments of one product */
    PyObject *a, *b, *c, *out, *bias;
    tcgemm_activation_t activation;
    double alpha, beta;
    bool has_beta, trans_a, trans_b;
    bool has_stream;
    void *stream;
    const Py_ssize_t *shape_of_a, *shape_of_b; /* that the operands must have; NULL: any */
    int ndim_of_a, ndim_of_b;
    options_t options;
} call_t;

PyObject *tcpy_matmul(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *tcpy_multiply(state_t *state, call_t *call, shared_plan_t *preferred, fast_t *fast);
PyObject *tcpy_verify(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);

/* plan.c */
PyObject *tcpy_plan(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
/* Plans for arrays, or for operands that only have a shape. */
int tcpy_plan_layout(state_t *state, call_t *call, operand_t *a, operand_t *b, layout_t *layout);
int tcpy_find_plan(state_t *state, const options_t *options, const tcgemm_problem_t *problem,
                   shared_plan_t **plan);
void tcpy_drop_plan(shared_plan_t *plan);
bool tcpy_is_same_problem(const tcgemm_problem_t *p, const tcgemm_problem_t *q);
tcgemm_status_t tcpy_make_plan(const options_t *options, const tcgemm_problem_t *problem,
                               unsigned pack, shared_plan_t **made);

/* fast.c */
PyObject *tcpy_fast(state_t *state, fast_t *own, double alpha, PyObject *a, PyObject *b,
                    PyObject *out, fast_t **slot);
void tcpy_fast_note(state_t *state, fast_t *fast, const operand_t *a, const operand_t *b,
                    const operand_t *d, const tcgemm_problem_t *problem, const options_t *options,
                    shared_plan_t *plan, bool is_short);
void tcpy_fast_clear(fast_t *fast);

/* arguments.c */
int tcpy_match_keywords(state_t *state, const char *function, PyObject *names,
                        PyObject *const *values, uint32_t allowed, PyObject **found);
/* No keyword but `out`. */
bool tcpy_is_plain(const state_t *state, PyObject *const *args, Py_ssize_t count, PyObject *names,
                   PyObject **out);
int tcpy_read_scalar(const char *name, PyObject *object, double *value);
int tcpy_read_call(state_t *state, PyObject **found, call_t *call);
int tcpy_read_options(PyObject **found, options_t *options);
int tcpy_read_bool(const char *name, PyObject *object, bool *value);

/* ffi.c */
PyObject *tcpy_ffi_address(PyObject *module, PyObject *none);

/* info.c */

PyObject *tcpy_types(PyObject *module, PyObject *none);
PyObject *tcpy_machine(PyObject *module, PyObject *none);
PyObject *tcpy_devices(PyObject *module, PyObject *none);
PyObject *tcpy_kernels(PyObject *module, PyObject *none);
PyObject *tcpy_build_info(PyObject *module, PyObject *none);
PyObject *tcpy_known_gpus(PyObject *module, PyObject *none);
PyObject *tcpy_device_reason(PyObject *module, PyObject *none);

/* errors.c */
PyObject *tcpy_raise(state_t *state, tcgemm_status_t status); /* NULL; the library's sentence */

#endif
