/* tcgemm - matrix multiply for C programmers.
 *
 *     D = alpha * op(A) * op(B) + beta * C          op(X) = X or its transpose X^T
 *
 *     op(A) is m x k, op(B) is k x n, C and D are m x n
 *
 * A complete program (tests/api/header_example.sh compiles and runs these very lines):
 *
 * @code
 *     #include <stdio.h>
 *     #include <tcgemm/tcgemm.h>
 *
 *     int main(void) {
 *         const float a[2 * 3] = {1, 2, 3, 4, 5, 6};           // 2 x 3, row after row
 *         const float b[3 * 2] = {1, 0, 0, 1, 1, 1};           // 3 x 2
 *         float d[2 * 2];                                      // 2 x 2
 *
 *         tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 2, 2, 3); // m, n, k
 *         if (tcgemm_gemm(&p, 1.0, a, b, 0.0, NULL, d) != TCGEMM_STATUS_OK) {
 *             fprintf(stderr, "%s\n", tcgemm_last_error());
 *             return 1;
 *         }
 *         printf("%g %g\n%g %g\n", d[0], d[1], d[2], d[3]);    // 4 5 / 10 11
 *         return 0;
 *     }
 * @endcode
 *
 * Compile it with `cc product.c $(pkg-config --cflags --libs tcgemm)`.
 *
 * The tour:  1 version   2 statuses   3 types   4 the problem   5 the one call
 *            6 context   7 plan       8 what a plan will do       9 verify
 *           10 the machine           11 GPUs
 *
 * At the end it includes tcgemm/inspect.h (sections 12 to 20): plans taken apart, simulated and
 * drawn. What stands here stays; what stands there may still change from version to version.
 *
 * Everywhere below: sizes, leading dimensions and strides count elements, `*_bytes` counts bytes,
 * `*_seconds` counts seconds. Nothing here exits, or prints but what TCGEMM_VERBOSE asks for (7).
 * Every function may be called from any thread. Matrices lie in host memory unless a function says
 * that they may lie on a GPU.
 *
 * Text - sentences, names, JSON - is that of the C locale in every locale.
 *
 * Floating-point modes: everything is computed to nearest, with subnormals and without traps,
 * whatever modes the calling thread has set (or -ffast-math has set for it). On return its control
 * and status registers are what they were: sticky exception flags are neither raised nor cleared.
 *
 * struct_size: every struct that is passed begins with its own size, `sizeof` where you compile. It
 * lets structs grow at their end. A program that was compiled with an older header passes shorter
 * ones: what they lack has the defaults of the functions that build them. One compiled with a newer
 * header passes longer ones: in inputs, what this library does not know must be zero, else the call
 * returns BAD_ARGUMENT; of outputs, it writes what it knows. struct_size itself is never written.
 */
#ifndef TCGEMM_TCGEMM_H
#define TCGEMM_TCGEMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TCGEMM_API __attribute__((visibility("default")))
#else
#define TCGEMM_API
#endif

/* ---- 1. Version --------------------------------------------------------------------------- */

#define TCGEMM_VERSION_MAJOR 0
#define TCGEMM_VERSION_MINOR 1
#define TCGEMM_VERSION_PATCH 0

/* The version of the library that is running: 10000 * major + 100 * minor + patch. */
TCGEMM_API int tcgemm_version(void);

/* The same as text, "0.1.0". Static storage. */
TCGEMM_API const char *tcgemm_version_string(void);

/* How the library was built: compiler, kernel sets, back ends, licence; one fact a line.
 * Static storage. */
TCGEMM_API const char *tcgemm_build_info(void);

/* ---- 2. Statuses -------------------------------------------------------------------------- */

/* What every fallible call returns. The groups have gaps so that they can grow. Unless a function
 * says otherwise, D is untouched whenever the status is not TCGEMM_STATUS_OK. */
typedef enum tcgemm_status {
    TCGEMM_STATUS_OK = 0,

    /* The arguments contradict each other or the documentation. */
    TCGEMM_STATUS_BAD_ARGUMENT = 10, /* NULL where data is needed, or an unknown enum value */
    TCGEMM_STATUS_BAD_TYPE = 11,     /* an unknown type or dtype */
    TCGEMM_STATUS_BAD_SHAPE = 12,    /* a negative size or batch count */
    TCGEMM_STATUS_BAD_LD = 13,       /* a leading dimension shorter than a stored row */
    TCGEMM_STATUS_BAD_STRIDE = 14, /* a negative batch stride, or one that makes D overlap itself */
    TCGEMM_STATUS_BAD_SCALAR = 15, /* alpha or beta that an integer type cannot hold */
    TCGEMM_STATUS_BAD_ALIGNMENT = 16, /* a pointer that is not aligned to its element */
    TCGEMM_STATUS_OVERLAP = 17,       /* D overlaps A, B, or C without being C itself */
    TCGEMM_STATUS_TOO_LARGE = 18,     /* a matrix that no address space can hold */

    /* The request is sound, but it cannot be met here. */
    TCGEMM_STATUS_UNKNOWN_ALGO = 30, /* no algorithm or kernel has that name */
    TCGEMM_STATUS_UNSUPPORTED = 31,  /* that algorithm cannot do this problem on this machine */
    TCGEMM_STATUS_NO_DEVICE = 32,    /* the device asked for is not there */

    /* Resources. */
    TCGEMM_STATUS_OUT_OF_MEMORY = 50, /* of the host or of the GPU */

    /* A GPU failed. D is undefined then. */
    TCGEMM_STATUS_DEVICE_ERROR = 60, /* the driver refused a call; the next one may succeed */
    TCGEMM_STATUS_DEVICE_LOST =
        61, /* for good, in this process: a kernel faulted, the GPU fell off */
    TCGEMM_STATUS_AFTER_FORK = 62, /* a child of a process that used its GPU cannot use it */

    TCGEMM_STATUS_INTERNAL = 90 /* a fault in tcgemm itself */
} tcgemm_status_t;

/* "BAD_LD" for TCGEMM_STATUS_BAD_LD; "UNKNOWN_STATUS" for anything else. Static storage. */
TCGEMM_API const char *tcgemm_status_name(tcgemm_status_t status);

/* One clause of English for the status. Static storage. */
TCGEMM_API const char *tcgemm_status_text(tcgemm_status_t status);

/* The sentence of the last failing call of this thread, naming the argument and its value, such as
 * "lda is 96, but a stored row of A has 128 elements". "" if nothing has failed yet. Valid until
 * the next failing call of the same thread. */
TCGEMM_API const char *tcgemm_last_error(void);

/* ---- 3. Types ----------------------------------------------------------------------------- */

/* How one element is stored. Elements smaller than a byte are packed without gaps, the first one
 * in the lowest bits: s4 and u4 two per byte, b1 eight per byte. Element e of such a matrix lives
 * at bits [e * bits, (e + 1) * bits) of the array, so a row need not start on a byte. */
typedef enum tcgemm_dtype {
    TCGEMM_DTYPE_F64 = 1, /* IEEE binary64 */
    TCGEMM_DTYPE_F32,     /* IEEE binary32 */
    TCGEMM_DTYPE_F16,     /* IEEE binary16 */
    TCGEMM_DTYPE_BF16,    /* bfloat16: the upper half of a binary32 */
    TCGEMM_DTYPE_E4M3,    /* OCP FP8 E4M3: no infinity, 0x7F and 0xFF are NaN, largest 448 */
    TCGEMM_DTYPE_E5M2,    /* OCP FP8 E5M2: infinities and NaN as in IEEE, largest 57344 */
    TCGEMM_DTYPE_S32,     /* two's complement */
    TCGEMM_DTYPE_S8,
    TCGEMM_DTYPE_U8,
    TCGEMM_DTYPE_S4,
    TCGEMM_DTYPE_U4,
    TCGEMM_DTYPE_B1
} tcgemm_dtype_t;

/* Bits of one element: 64, 32, 16, 8, 4 or 1; 0 for an unknown dtype. */
TCGEMM_API int tcgemm_dtype_bits(tcgemm_dtype_t dtype);

/* "f16", "e4m3", ...; "unknown" for an unknown dtype. Static storage. */
TCGEMM_API const char *tcgemm_dtype_name(tcgemm_dtype_t dtype);

/* Which types enter and leave a product: <inputs>_<output>. */
typedef enum tcgemm_type {
    TCGEMM_F16_F32 = 1,
    TCGEMM_F16_F16,
    TCGEMM_BF16_F32,
    TCGEMM_BF16_BF16,
    TCGEMM_TF32_F32, /* f32 in memory; A and B rounded to tf32, to nearest, ties either way */
    TCGEMM_F32_F32,
    TCGEMM_F64_F64,
    TCGEMM_S8_S32,
    TCGEMM_U8_S32,
    TCGEMM_U8S8_S32, /* A unsigned, B signed */
    TCGEMM_S8U8_S32, /* A signed, B unsigned */
    TCGEMM_E4M3_F32,
    TCGEMM_E5M2_F32,
    TCGEMM_E4M3_BF16,
    TCGEMM_E5M2_BF16,
    TCGEMM_S4_S32,
    TCGEMM_U4_S32,
    TCGEMM_B1_S32 /* counts the ones of a AND b; of a XOR b with TCGEMM_FLAG_XOR */
} tcgemm_type_t;

/* The facts of a type. Floating-point products are exact and summed in `accumulator`, alpha and
 * beta are rounded to `scalar`, and D is rounded once, to nearest, ties to even. Integer results
 * are exact modulo 2^32, alpha and beta included. */
typedef struct tcgemm_type_info {
    tcgemm_type_t type;
    const char *name; /* "f16_f32" */
    tcgemm_dtype_t a;
    tcgemm_dtype_t b;
    tcgemm_dtype_t accumulator;
    tcgemm_dtype_t d; /* of C and D */
    tcgemm_dtype_t scalar;
} tcgemm_type_info_t;

/* NULL for an unknown type. Static storage. */
TCGEMM_API const tcgemm_type_info_t *tcgemm_type_info(tcgemm_type_t type);

/* The number of types; they are numbered 1 .. tcgemm_type_count(). */
TCGEMM_API int tcgemm_type_count(void);

/* Finds a type by its name, "bf16_f32".
 * Returns OK, BAD_ARGUMENT (NULL) or BAD_TYPE (the sentence lists the names). */
TCGEMM_API tcgemm_status_t tcgemm_type_from_name(const char *name, tcgemm_type_t *type);

/* Converts `count` elements between dtypes, through f64 or s32 as the exact middle: to a narrower
 * float it rounds to nearest, ties to even (e4m3 overflows to NaN, the others to infinity); to an
 * integer it rounds to nearest and saturates, NaN becomes 0. `src` and `dst` start at element 0 of
 * their arrays and must not overlap.
 * Returns OK, BAD_ARGUMENT (NULL with count > 0), BAD_TYPE or BAD_SHAPE (count < 0). */
TCGEMM_API tcgemm_status_t tcgemm_convert(tcgemm_dtype_t dst_dtype, void *dst,
                                          tcgemm_dtype_t src_dtype, const void *src, int64_t count);

/* ---- 4. The problem ----------------------------------------------------------------------- */

typedef enum tcgemm_op {
    TCGEMM_OP_N = 0, /* as stored */
    TCGEMM_OP_T = 1  /* transposed */
} tcgemm_op_t;

typedef enum tcgemm_order {
    TCGEMM_ROW_MAJOR = 0, /* C's order: a stored row is contiguous */
    TCGEMM_COL_MAJOR = 1  /* Fortran's order: a stored column is contiguous */
} tcgemm_order_t;

/* Flags of a problem, to be or-ed. */
#define TCGEMM_FLAG_XOR            1u /* b1_s32: count a XOR b instead of a AND b */
#define TCGEMM_FLAG_F16_ACCUMULATE 2u
/* ^ f16_f16: a kernel may accumulate in f16 where the hardware is faster that way. Algorithms
 *   without such a kernel, the CPU's among them, accumulate in f32, within the tighter bound. */
#define TCGEMM_FLAG_REPRODUCIBLE 4u
/* ^ Row i of D depends on row i of A, on B, on k, n and the type alone: not on m, the batch, or
 *   the row's place. (Without it: same problem, same machine, same library, same bits.) */
#define TCGEMM_FLAG_FAST_ACCUMULATE 8u
/* ^ e4m3_*, e5m2_*: a kernel may sum up to 128 products as FP8 tensor cores do, in 14 bits, before
 *   they are added in f32; within the bound of tcgemm_verify for it. All other algorithms, the
 *   CPU's among them, accumulate in f32. */
#define TCGEMM_FLAG_ADDS_C 16u
/* ^ A hint: beta will not be 0, and C is about as large as D. The planner then takes the kernel
 * that is fastest with a C (on a GPU often another one); the plan is right for any beta.
 * tcgemm_gemm sees beta and needs no hint. */

/* One product, or a strided batch of them. Build it with tcgemm_problem(), then change what
 * differs. A leading dimension of 0 means tight. With row-major order A is stored as m x k rows
 * (k x m if transposed) of lda elements each: element (i, j) as stored is at a + i*lda + j. With
 * column-major order it is at a + i + j*lda. Item t of a batch starts t*stride elements further
 * on; a stride of 0 shares one A, B or C among the items (D's must be apart). */
typedef struct tcgemm_problem {
    size_t struct_size; /* sizeof(tcgemm_problem_t), so that the struct may grow */
    tcgemm_type_t type;
    tcgemm_order_t order;
    tcgemm_op_t op_a;
    tcgemm_op_t op_b;
    uint32_t flags;
    int64_t m; /* rows of op(A), C and D */
    int64_t n; /* columns of op(B), C and D */
    int64_t k; /* columns of op(A), rows of op(B) */
    int64_t lda, ldb, ldc, ldd;
    int64_t batch; /* 1 for a single product */
    int64_t stride_a, stride_b, stride_c, stride_d;
} tcgemm_problem_t;

/* A single row-major product without transposes, tight leading dimensions. */
static inline tcgemm_problem_t tcgemm_problem(tcgemm_type_t type, int64_t m, int64_t n, int64_t k) {
    tcgemm_problem_t p;
    p.struct_size = sizeof p;
    p.type = type;
    p.order = TCGEMM_ROW_MAJOR;
    p.op_a = TCGEMM_OP_N;
    p.op_b = TCGEMM_OP_N;
    p.flags = 0;
    p.m = m;
    p.n = n;
    p.k = k;
    p.lda = p.ldb = p.ldc = p.ldd = 0;
    p.batch = 1;
    p.stride_a = p.stride_b = p.stride_c = p.stride_d = 0;
    return p;
}

/* Checks a problem without running it, in wide arithmetic, before any pointer is known.
 * Returns OK, BAD_ARGUMENT, BAD_TYPE, BAD_SHAPE, BAD_LD, BAD_STRIDE or TOO_LARGE: the first fault
 * in the order of the struct. */
TCGEMM_API tcgemm_status_t tcgemm_problem_check(const tcgemm_problem_t *problem);

/* ---- 5. The one call ---------------------------------------------------------------------- */

/* D = alpha * op(A) * op(B) + beta * C on the default context, with the planner's choice of kernel.
 *
 *   m == 0, n == 0 or batch == 0    nothing is read or written; pointers may be NULL
 *   k == 0 or alpha == 0            A and B are not read and may be NULL; D = beta * C
 *   beta == 0                       C is not read and may be NULL or full of NaN
 *   otherwise                       NaN and infinities go where the formula sends them
 *
 * alpha multiplies the accumulated product, never the inputs. D may be C itself (the same pointer,
 * ldd == ldc, the same stride); any other overlap of D with an operand is refused. A and B may
 * overlap. Only the m x n elements of D are written: the padding of its rows stays as it was.
 * For the *_s32 types alpha and beta must be whole numbers in -2^31 .. 2^32-1.
 * The call returns when D is complete. All matrices lie in host memory, or all on one GPU (or in
 * managed memory): then the product runs there, behind the work of its default stream.
 *
 * Returns OK; any status of tcgemm_problem_check; BAD_ARGUMENT (a NULL pointer that is needed, or
 * matrices in different places); BAD_SCALAR, BAD_ALIGNMENT, OVERLAP; UNSUPPORTED (no kernel for the
 * type on the matrices' GPU, or a driver too old for them); OUT_OF_MEMORY; DEVICE_ERROR,
 * DEVICE_LOST, AFTER_FORK. D is untouched by all but OK and these last four. */
TCGEMM_API tcgemm_status_t tcgemm_gemm(const tcgemm_problem_t *problem, double alpha, const void *a,
                                       const void *b, double beta, const void *c, void *d);

/* ---- 6. Context --------------------------------------------------------------------------- */

/* Where products run and with how many threads. NULL stands for the default context everywhere:
 * device AUTO, and TCGEMM_NUM_THREADS or else OMP_NUM_THREADS (as they stand at the first product)
 * or else all processors that the calling thread may run on when it makes the plan, as far as the
 * quota of its control group reaches. Worker threads run where the thread may that they serve.
 *
 * AUTO is GPU 0 for what it does sooner than the CPU, the way of host matrices to the GPU and back
 * included, and the CPU for the rest, or where no GPU or no kernel for one is at hand. */
typedef struct tcgemm_context tcgemm_context_t;

#define TCGEMM_DEVICE_AUTO (-2)
#define TCGEMM_DEVICE_CPU  (-1)
/* 0, 1, ... : a GPU by number */
#define TCGEMM_DEVICE_KNOWN (-3) /* in plan_info.device_index: a GPU that is known, not here */

#define TCGEMM_MAX_THREADS 4095 /* of one product */

typedef struct tcgemm_context_options {
    size_t struct_size;
    int device;
    int num_threads;       /* 0: as above, anew for each plan */
    const char *known_gpu; /* NULL, or in place of `device` a GPU of section 18 that need not be
                            * here, such as "orin": its plans can be described, but not run */
} tcgemm_context_options_t;

static inline tcgemm_context_options_t tcgemm_context_options(void) {
    tcgemm_context_options_t o;
    o.struct_size = sizeof o;
    o.device = TCGEMM_DEVICE_AUTO;
    o.num_threads = 0;
    o.known_gpu = NULL;
    return o;
}

/* Makes a context; the caller owns it. `options` may be NULL for the defaults.
 * Returns OK, BAD_ARGUMENT (NULL context, num_threads < 0 or > TCGEMM_MAX_THREADS, unknown device
 * or GPU), NO_DEVICE, AFTER_FORK or OUT_OF_MEMORY; *context is NULL unless OK. */
TCGEMM_API tcgemm_status_t tcgemm_context_create(const tcgemm_context_options_t *options,
                                                 tcgemm_context_t **context);

/* Frees a context; its plans must be gone. NULL is fine. What the library keeps on a GPU (modules,
 * staging buffers) stays for the process. */
TCGEMM_API void tcgemm_context_destroy(tcgemm_context_t *context);

/* ---- 7. Plan ------------------------------------------------------------------------------ */

/* A problem together with the kernel, blocking and threads chosen for it. Immutable: one plan may
 * run in many threads at once, with different data. */
typedef struct tcgemm_plan tcgemm_plan_t;

#define TCGEMM_OPERAND_A 1u
#define TCGEMM_OPERAND_B 2u

typedef struct tcgemm_plan_options {
    size_t struct_size;
    const char *algo;   /* a family: "auto" (also NULL), "cpu", "reference"; on a GPU "wmma-direct",
                         * "wmma-shared", "simt-outer", "mma-pipelined", "wgmma", "stream",
                         * "batched" */
    const char *kernel; /* one row of the kernel table by its name; NULL: the planner's choice */
    const char *tile;   /* "32x8x16", m x n x k: only rows with this tile, of an instruction for
                         * wmma-direct, of a block for other GPU rows, of registers for the CPU's;
                         * NULL: any */
    unsigned packed;    /* TCGEMM_OPERAND_A, _B or both: given as a plan that packs them has made
                         * them; CPU alone */
    unsigned pack; /* TCGEMM_OPERAND_A or _B: the plan packs this operand ahead and does nothing
                    * else; CPU alone */
} tcgemm_plan_options_t;

static inline tcgemm_plan_options_t tcgemm_plan_options(void) {
    tcgemm_plan_options_t o;
    o.struct_size = sizeof o;
    o.algo = NULL;
    o.kernel = NULL;
    o.tile = NULL;
    o.packed = 0;
    o.pack = 0;
    return o;
}

/* Plans a problem. `options` may be NULL. The caller owns the plan; strings and structs are copied.
 * Returns OK; any status of tcgemm_problem_check; UNKNOWN_ALGO, UNSUPPORTED (the sentence of a tile
 * that no row has lists those there are); NO_DEVICE (a context or an algorithm for a GPU that is
 * not there); OUT_OF_MEMORY; DEVICE_ERROR, DEVICE_LOST, AFTER_FORK; *plan is NULL unless OK. */
TCGEMM_API tcgemm_status_t tcgemm_plan_create(tcgemm_context_t *context,
                                              const tcgemm_problem_t *problem,
                                              const tcgemm_plan_options_t *options,
                                              tcgemm_plan_t **plan);

TCGEMM_API void tcgemm_plan_destroy(tcgemm_plan_t *plan); /* NULL is fine */

/* Pack once, multiply often. A plan with options.pack reads that operand and writes
 * plan_info.packed_bytes bytes to d; a plan of the same problem - any m for a packed B, any n for a
 * packed A, any alpha, beta, C, threads - with options.packed takes what it wrote in the operand's
 * place. D has the bits that it would have without; but a few rows or columns of floating types may
 * be summed in another order where nothing is packed, unless TCGEMM_FLAG_REPRODUCIBLE is set:
 *
 * @code
 *     tcgemm_plan_options_t o = tcgemm_plan_options();
 *     o.pack = TCGEMM_OPERAND_B;                          // 1. the plan that packs B
 *     tcgemm_plan_create(context, &p, &o, &packer);
 *     tcgemm_plan_get_info(packer, &info);
 *     void *ahead = aligned_alloc(64, info.packed_bytes); // owned by the caller
 *     tcgemm_run(packer, 1, NULL, b, 0, NULL, ahead);
 *     o = tcgemm_plan_options();
 *     o.packed = TCGEMM_OPERAND_B;                        // 2. the plan that multiplies
 *     tcgemm_plan_create(context, &p, &o, &product);
 *     tcgemm_run(product, 1, a, ahead, 0, NULL, d);
 * @endcode
 *
 * Packed data lie on a 64-byte boundary (BAD_ALIGNMENT) and begin with a mark of what they are: of
 * another kernel, size or type they are refused (BAD_ARGUMENT). They are good for this version of
 * the library on this kind of processor. */

/* Runs a plan: the formula, the rules and the statuses of tcgemm_gemm. A plan for a GPU takes
 * matrices on that GPU or in host memory; the latter travel in pieces, so they may be larger than
 * the GPU's memory. A plan for the CPU takes host memory. A plan for a known GPU that is not here
 * returns NO_DEVICE. */
TCGEMM_API tcgemm_status_t tcgemm_run(const tcgemm_plan_t *plan, double alpha, const void *a,
                                      const void *b, double beta, const void *c, void *d);

/* Where the time of one run went, summed over the steps. With several threads a step lasts until
 * the last of them is through with it; the time on a CPU is that of the slowest thread, divided as
 * the time that all threads had on cores is. */
typedef struct tcgemm_run_stats {
    size_t struct_size;
    double pack_seconds;     /* copying and converting A and B into panels, and waiting for it */
    double transfer_seconds; /* host matrices on their way to a GPU and back, and waiting for it */
    double product_seconds;  /* multiplying, alpha, beta and storing D */
    double total_seconds;    /* the whole call; on a GPU the steps overlap */
} tcgemm_run_stats_t;

/* alpha and beta: im is 0 until there are complex types. */
typedef struct tcgemm_scalar {
    double re, im;
} tcgemm_scalar_t;

/* What an element x of D becomes before it is stored. The limit stands at infinities: of -infinity
 * GELU, GELU_TANH and SILU make a zero. */
typedef enum tcgemm_activation {
    TCGEMM_ACTIVATION_NONE = 0,
    TCGEMM_ACTIVATION_RELU = 1,      /* max(x, 0); the only one of integer types */
    TCGEMM_ACTIVATION_GELU = 2,      /* x (1 + erf(x / sqrt 2)) / 2; Hendrycks, Gimpel, 2016 */
    TCGEMM_ACTIVATION_GELU_TANH = 3, /* the same with tanh(sqrt(2 / pi) (x + 0.044715 x^3)) */
    TCGEMM_ACTIVATION_SILU = 4,      /* x / (1 + exp(-x)), which is also called swish */
    TCGEMM_ACTIVATION_SIGMOID = 5,   /* 1 / (1 + exp(-x)) */
    TCGEMM_ACTIVATION_TANH = 6
} tcgemm_activation_t;

/* "gelu_tanh" for TCGEMM_ACTIVATION_GELU_TANH; NULL for anything else than an activation. Static
 * storage. */
TCGEMM_API const char *tcgemm_activation_name(tcgemm_activation_t activation);

/* What one run multiplies. Build it with tcgemm_data(), then change what differs:
 *
 *     D = activation(alpha * op(A) * op(B) + beta * C + bias)
 *
 * computed in the type that sums have and rounded to D's once. On the CPU; a plan for a GPU, and
 * one that packs an operand, serve neither bias nor activation. Fields that are not served are
 * refused by their names (UNSUPPORTED) unless they are NULL (or 0). */
typedef struct tcgemm_data {
    size_t struct_size;
    tcgemm_scalar_t alpha, beta;
    const void *a, *b, *c;
    void *d;
    const void *bias; /* n elements of D's type, added to each row of D of each item; or NULL */
    const void *row_scale, *col_scale; /* not served yet: m and n factors of the product */
    tcgemm_activation_t activation;
} tcgemm_data_t;

/* D = op(A) * op(B). */
static inline tcgemm_data_t tcgemm_data(const void *a, const void *b, void *d) {
    tcgemm_data_t x;
    x.struct_size = sizeof x;
    x.alpha.re = 1.0;
    x.alpha.im = x.beta.re = x.beta.im = 0.0;
    x.a = a;
    x.b = b;
    x.c = NULL;
    x.d = d;
    x.bias = x.row_scale = x.col_scale = NULL;
    x.activation = TCGEMM_ACTIVATION_NONE;
    return x;
}

/* How one run goes. Build it with tcgemm_run_options(). */
typedef struct tcgemm_run_options {
    size_t struct_size;
    void *workspace; /* as tcgemm_run_with */
    size_t workspace_bytes;
    void *stream;              /* as tcgemm_run_async; NULL: the default stream */
    int is_async;              /* 1: queued in the stream; 0: the call returns when D is complete */
    tcgemm_run_stats_t *stats; /* filled in if not NULL (set its struct_size first); not if async */
    int num_threads; /* of a group (tcgemm_execute_group); 0: as many as the default context's */
} tcgemm_run_options_t;

static inline tcgemm_run_options_t tcgemm_run_options(void) {
    tcgemm_run_options_t o;
    o.struct_size = sizeof o;
    o.workspace = NULL;
    o.workspace_bytes = 0;
    o.stream = NULL;
    o.is_async = 0;
    o.stats = NULL;
    o.num_threads = 0;
    return o;
}

/* Runs a plan; `options` may be NULL. The three calls beside it are shorthands. Returns their
 * statuses, UNSUPPORTED for a field that is not served, and BAD_ARGUMENT for statistics of an async
 * run. */
TCGEMM_API tcgemm_status_t tcgemm_execute(const tcgemm_plan_t *plan, const tcgemm_data_t *data,
                                          const tcgemm_run_options_t *options);

/* Runs `count` products of any sizes and types, plans[i] with data[i], in any order: a group, such
 * as the experts of a layer. The same plan may come again; no D may overlap another matrix of the
 * group, which nobody checks. On the CPU those that one thread multiplies are shared out among as
 * many as options.num_threads says, the largest first, and the others run one after another; on a
 * GPU all run one after another in the stream. D has the bits that tcgemm_execute would give it.
 *
 * @code
 *     for (int i = 0; i < count; ++i)                       // a plan for each size
 *         tcgemm_plan_create(context, &problem[i], NULL, &plans[i]);
 *     tcgemm_execute_group((const tcgemm_plan_t *const *)plans, data, count, NULL);
 * @endcode
 *
 * `options` may be NULL; a workspace and statistics are for single products (BAD_ARGUMENT). Returns
 * OK or the first status of tcgemm_execute; what the arguments are refused for, is refused before
 * any product has begun. */
TCGEMM_API tcgemm_status_t tcgemm_execute_group(const tcgemm_plan_t *const *plans,
                                                const tcgemm_data_t *data, int64_t count,
                                                const tcgemm_run_options_t *options);

/* As tcgemm_run with two more rights. `workspace`: plan_info.workspace_bytes bytes at any address,
 * owned by the caller and free again on return; NULL: the library takes its own and keeps it for
 * the next call. For a GPU plan the workspace lies on the GPU. `stats`: filled in if not NULL (set
 * its struct_size first). Returns what tcgemm_run returns, and BAD_ARGUMENT if the workspace is
 * smaller than needed. */
TCGEMM_API tcgemm_status_t tcgemm_run_with(const tcgemm_plan_t *plan, double alpha, const void *a,
                                           const void *b, double beta, const void *c, void *d,
                                           void *workspace, size_t workspace_bytes,
                                           tcgemm_run_stats_t *stats);

/* As tcgemm_run_with for matrices (and workspace) on the plan's GPU, without waiting: the work is
 * queued in `stream`, a CUstream (or cudaStream_t) of the device's primary context, NULL for its
 * default stream; D is complete when the stream has got there. May be captured into a CUDA graph:
 * everything that loads or allocates happened in tcgemm_plan_create, if plan_info.workspace_bytes
 * is 0 or the workspace is the caller's. A fault of the kernel itself shows in a later call.
 * Returns the statuses of tcgemm_run, and BAD_ARGUMENT for host pointers or a plan for the CPU. */
TCGEMM_API tcgemm_status_t tcgemm_run_async(const tcgemm_plan_t *plan, double alpha, const void *a,
                                            const void *b, double beta, const void *c, void *d,
                                            void *workspace, size_t workspace_bytes, void *stream);

/* What a call did: the parameter of a hook, good while the hook runs. */
typedef struct tcgemm_call_info {
    size_t struct_size;
    const tcgemm_problem_t *problem;
    double alpha, beta;
    unsigned packs; /* TCGEMM_OPERAND_A or _B: the plan packed that operand ahead; else 0 */
    const char *algo, *kernel, *device; /* as in plan_info */
    int device_index;
    int num_threads;
    int is_async; /* 1: queued in a stream, and `seconds` is how long that took */
    tcgemm_status_t status;
    double seconds; /* from the beginning of the call to its end, a plan that it made included */
} tcgemm_call_info_t;

typedef void (*tcgemm_call_hook_t)(const tcgemm_call_info_t *call, void *data);

/* From now on `hook` gets every call of this process that runs a product, by tcgemm_gemm or with a
 * plan, whether it succeeds or not; NULL: none does. Calls whose problem has no plan, since it is
 * faulty, do not come. The hook runs in the thread that called, before that call returns, so in
 * several threads at once; it may use this library, whose calls come to it, too. May be called from
 * any thread at any time: a call that is under way elsewhere may still come to the hook before, so
 * `data` and code must outlive it. Without a hook a call pays one load for the question.
 * Returns OK or OUT_OF_MEMORY; then the hook is the one before.
 *
 * The same as text: with TCGEMM_VERBOSE=1 in the environment, as it stands at the first product,
 * each call writes a line to the standard error, with TCGEMM_VERBOSE=1:FILE to the end of that
 * file:
 *
 *     tcgemm: call status=OK type=f32_f32 m=2 n=2 k=3 ... kernel=... seconds=1.2e-06 gflops=0.02
 *
 * always the same names in the same order; new ones will come at the end. */
TCGEMM_API tcgemm_status_t tcgemm_set_call_hook(tcgemm_call_hook_t hook, void *data);

/* ---- 8. What a plan will do ---------------------------------------------------------------- */

#define TCGEMM_MAX_LEVELS 6

/* One level of the tile hierarchy, the outermost first. */
typedef struct tcgemm_level {
    const char *name; /* "problem", "panel", "block", "register tile", "warp", "warpgroup" ... */
    const char *home; /* where it lives: "memory", "L3", "L2", "L1", "shared memory", "registers" */
    int64_t m, n, k;  /* extent of one tile */
    int64_t count;    /* tiles of this level in the whole problem (one batch item) */
} tcgemm_level_t;

/* What a plan will do: the values that the run itself uses. Strings live as long as the library. */
typedef struct tcgemm_plan_info {
    size_t struct_size;
    const char *algo;
    const char *kernel;
    const char *device; /* "cpu", or the GPU's name */
    const char *reason; /* why the planner took this kernel */
    int device_index;   /* of the GPU; TCGEMM_DEVICE_CPU */
    int num_threads;    /* of the CPU that will work; for a GPU plan, that copy and verify */
    int64_t num_blocks; /* units of work shared out among them, per batch item */
    int num_levels;
    tcgemm_level_t levels[TCGEMM_MAX_LEVELS];
    int64_t padded_m, padded_n, padded_k;      /* sizes after rounding up to whole tiles */
    size_t a_bytes, b_bytes, c_bytes, d_bytes; /* as the caller stores them, without gaps */
    size_t packed_a_bytes, packed_b_bytes;     /* rewritten as panels; 0: read in place */
    size_t workspace_bytes;
    int64_t grid_blocks;   /* GPU: blocks of one launch ... */
    int threads_per_block; /* ... threads and registers of each, shared memory in bytes, ... */
    int registers_per_thread;
    size_t smem_bytes;
    int blocks_per_sm;        /* ... blocks that an SM holds at once, ... */
    int stages;               /* ... steps of k in shared memory at once (0: it is not used), ... */
    int raster_group;         /* ... tile rows of D that are swept together, ... */
    int is_persistent;        /* ... 1: a block takes tiles until none is left; all 0 for the CPU */
    double predicted_seconds; /* of one run by the planner's model, matrices in place */
    double error_unit;        /* u of the accumulator; 0 for exact types */
    const char *error_bound;  /* the bound |d - exact| obeys, in words */
    size_t packed_bytes; /* of a plan that packs an operand ahead: what it writes to d, 0 for an
                          * operand without elements; else 0 */
} tcgemm_plan_info_t;

/* Fills `info` (set its struct_size first). Returns OK or BAD_ARGUMENT. */
TCGEMM_API tcgemm_status_t tcgemm_plan_get_info(const tcgemm_plan_t *plan,
                                                tcgemm_plan_info_t *info);

/* ---- 9. Verify ----------------------------------------------------------------------------- */

/* Is D right? For element (i, j), with s = |alpha| * sum_p |a_ip * b_pj| + |beta * c_ij|,
 *
 *     |d_ij - exact| <= T(k) * u * s  +  rounding of D  +  what underflow may lose
 *
 * with u the unit roundoff of the accumulator and T(k) = min(k + 2, 3*sqrt(k) + 4), the first the
 * classical bound (Higham, Accuracy and Stability, 2nd ed., section 3.1), the second calibrated
 * (docs/numerics.md). Tensor cores truncate: for them T(k) = min(2*k + 4, k/8 + 3*sqrt(k) + 8).
 * Sums of TCGEMM_FLAG_FAST_ACCUMULATE have u = 2^-13, T(k) = min(k + 4, 72).
 * Integers must be exact. NaN and infinities must stand where they belong. Host matrices only. */
typedef enum tcgemm_verify_mode {
    TCGEMM_VERIFY_AUTO = 0,   /* FULL while it stays cheap (2^31 products), else SAMPLE */
    TCGEMM_VERIFY_SAMPLE = 1, /* some thousand elements, and all rows through random vectors */
    TCGEMM_VERIFY_FULL = 2    /* every element against the reference */
} tcgemm_verify_mode_t;

typedef struct tcgemm_verify_report {
    size_t struct_size;
    tcgemm_verify_mode_t mode;                 /* what was done: SAMPLE or FULL */
    int64_t num_checked;                       /* elements compared with the reference */
    int64_t num_wrong;                         /* of these */
    int64_t wrong_batch, wrong_row, wrong_col; /* the first wrong element, -1 if none */
    double wrong_got, wrong_expected;
    double max_ratio;             /* largest error as a fraction of its bound; <= 1 is right */
    int64_t num_vector_rows;      /* rows checked through random vectors (SAMPLE) */
    double smallest_error_caught; /* SAMPLE: a single element off by this much is caught ... */
    double miss_probability;      /* ... but for this probability; 0 for FULL */
    double seconds;
} tcgemm_verify_report_t;

/* Compares D with the reference, computed in wider arithmetic (f64 for 8- to 32-bit floats,
 * double-double for f64, integers modulo 2^32). `c` is what C held before the run: keep a copy if
 * D is C itself. `seed` picks the samples and vectors. A and B are the matrices themselves, also
 * for a plan that takes them packed ahead. Fills `report` (set its struct_size first). Returns OK -
 * the verdict is report->num_wrong == 0 -, the statuses of tcgemm_run but OVERLAP, or
 * OUT_OF_MEMORY. */
TCGEMM_API tcgemm_status_t tcgemm_verify(const tcgemm_plan_t *plan, double alpha, const void *a,
                                         const void *b, double beta, const void *c, const void *d,
                                         tcgemm_verify_mode_t mode, uint64_t seed,
                                         tcgemm_verify_report_t *report);

/* The same of what tcgemm_execute did with `data`, whose c is what C held before. A bias counts as
 * one more term of the sum. The bound behind an activation f is that of its argument, as far as f
 * stretches it, and some units of f(x) for f itself (docs/numerics.md). SAMPLE has no vectors then,
 * and promises nothing beyond its samples: smallest_error_caught is infinite. */
TCGEMM_API tcgemm_status_t tcgemm_verify_data(const tcgemm_plan_t *plan, const tcgemm_data_t *data,
                                              tcgemm_verify_mode_t mode, uint64_t seed,
                                              tcgemm_verify_report_t *report);

/* ---- 10. The machine ----------------------------------------------------------------------- */

typedef struct tcgemm_machine_info {
    size_t struct_size;
    char cpu[128];      /* the processor's own name */
    char features[256]; /* instruction sets found that kernels here use, space-separated */
    char isa[32];       /* the best kernel set that will be used */
    int num_processors; /* this process may run on */
    size_t l1_bytes, l2_bytes, l3_bytes; /* data caches that one core sees; 0 if unknown */
    double clock_hz; /* of a core at work, measured with a chain of dependent additions */
} tcgemm_machine_info_t;

/* Fills `info` (set its struct_size first); the first call takes up to 20 ms to measure the clock.
 * What is planned does not depend on that clock: `predicted_seconds` and the choice of device
 * reckon with the nominal one, which is the same in every run.
 * Returns OK or BAD_ARGUMENT. */
TCGEMM_API tcgemm_status_t tcgemm_machine_get_info(tcgemm_machine_info_t *info);

/* Two peaks for one type on `num_threads` threads, in operations (2 per multiply-add) per second:
 * `theoretical` from vector units x lanes x clock (0 if this processor's units are not known, or if
 * the measurement shows that what is known of them is wrong), and `measured`, the kernel's inner
 * loop on operands that stay in the first-level cache.
 * Returns OK, BAD_ARGUMENT, BAD_TYPE or OUT_OF_MEMORY. */
TCGEMM_API tcgemm_status_t tcgemm_measure_peak(tcgemm_type_t type, int num_threads,
                                               double *theoretical, double *measured);

/* ---- 11. GPUs ------------------------------------------------------------------------------ */

#define TCGEMM_MAX_TYPES 64

typedef struct tcgemm_device_info {
    size_t struct_size;
    char name[128];
    int cc_major, cc_minor; /* compute capability */
    int num_sms;            /* streaming multiprocessors */
    double clock_hz;        /* highest */
    size_t memory_bytes;
    double bandwidth;                       /* of the memory, bytes a second, in theory */
    size_t smem_block_bytes, smem_sm_bytes; /* shared memory: most of one block; of one SM */
    size_t l2_bytes;
    int registers_per_sm; /* of 32 bits */
    int threads_per_sm;
    int num_kernels;               /* rows of the kernel table that it can run */
    double peak[TCGEMM_MAX_TYPES]; /* [type]: theoretical, units x rate x clock, operations (2 per
                                    * multiply-add) a second; 0: it has no units for the type */
} tcgemm_device_info_t;

/* The number of GPUs that this library can use: 0 without a driver, a GPU, or kernels in this
 * build; tcgemm_device_reason() then says which. */
TCGEMM_API int tcgemm_device_count(void);

/* Why there is no GPU, in one sentence; "" if there is one. Lives as long as the library. */
TCGEMM_API const char *tcgemm_device_reason(void);

/* Fills `info` (set its struct_size first) for GPU 0 .. tcgemm_device_count()-1.
 * Returns OK, BAD_ARGUMENT, NO_DEVICE, DEVICE_LOST or AFTER_FORK. */
TCGEMM_API tcgemm_status_t tcgemm_device_get_info(int index, tcgemm_device_info_t *info);

/* Operations (2 per multiply-add) a second that GPU `index` does for the type when its operands
 * stay in registers: the ceiling of the instructions that this library's kernels use there
 * (mma.sync, fused multiply-adds). 0 if no kernel measures the type. Takes some 100 ms. Returns OK,
 * BAD_ARGUMENT, BAD_TYPE, NO_DEVICE, UNSUPPORTED, DEVICE_ERROR, DEVICE_LOST or AFTER_FORK.
 */
TCGEMM_API tcgemm_status_t tcgemm_device_measure_peak(int index, tcgemm_type_t type,
                                                      double *measured);

/* GPU memory for programs that do not use CUDA themselves: matrices that stay there from product to
 * product. `copy` takes host and GPU memory on either side, comes behind the work of the default
 * stream, and returns when it is done. Free what you allocate; NULL is fine.
 * Return OK, BAD_ARGUMENT (a NULL pointer), NO_DEVICE, OUT_OF_MEMORY, DEVICE_ERROR, DEVICE_LOST or
 * AFTER_FORK; *memory is NULL unless OK. */
TCGEMM_API tcgemm_status_t tcgemm_device_alloc(int index, size_t bytes, void **memory);
TCGEMM_API tcgemm_status_t tcgemm_device_free(int index, void *memory);
TCGEMM_API tcgemm_status_t tcgemm_device_copy(int index, void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif

/* ============ Above this line: stable. Below it: may still change. ============================ */

#include "tcgemm/inspect.h"

#endif /* TCGEMM_TCGEMM_H */
