/* check.c - checks a problem and the data of one run, and brings both into canonical form. */
#include <limits.h>
#include <math.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/struct.h"
#include "problem/canonical.h"

/* One stored matrix: `lines` contiguous runs of `length` elements, `ld` apart. */
typedef struct stored {
    const char *name;
    tcgemm_dtype_t dtype;
    int64_t lines, length, ld, stride;
} stored_t;

enum { A, B, C, D, NUM_MATRICES };

static bool is_fp8(const tcgemm_type_info_t *type) {
    return type->a == TCGEMM_DTYPE_E4M3 || type->a == TCGEMM_DTYPE_E5M2;
}

static void describe_storage(const tcgemm_problem_t *p, const tcgemm_type_info_t *type,
                             stored_t s[NUM_MATRICES]) {
    const int64_t rows[NUM_MATRICES] = {p->op_a ? p->k : p->m, p->op_b ? p->n : p->k, p->m, p->m};
    const int64_t cols[NUM_MATRICES] = {p->op_a ? p->m : p->k, p->op_b ? p->k : p->n, p->n, p->n};
    const int64_t ld[NUM_MATRICES] = {p->lda, p->ldb, p->ldc, p->ldd};
    const int64_t stride[NUM_MATRICES] = {p->stride_a, p->stride_b, p->stride_c, p->stride_d};
    const tcgemm_dtype_t dtype[NUM_MATRICES] = {type->a, type->b, type->d, type->d};
    static const char *const name[NUM_MATRICES] = {"a", "b", "c", "d"};
    for (int x = 0; x < NUM_MATRICES; ++x) {
        s[x].name = name[x];
        s[x].dtype = dtype[x];
        s[x].lines = p->order == TCGEMM_ROW_MAJOR ? rows[x] : cols[x];
        s[x].length = p->order == TCGEMM_ROW_MAJOR ? cols[x] : rows[x];
        s[x].ld = ld[x] ? ld[x] : (s[x].length > 1 ? s[x].length : 1);
        s[x].stride = stride[x];
    }
}

/* Elements from the first to the last of one batch item, or -1 if that does not fit in 63 bits. */
static int64_t item_span(const stored_t *s) {
    int64_t span;
    if (s->lines == 0 || s->length == 0)
        return 0;
    if (__builtin_mul_overflow(s->lines - 1, s->ld, &span) ||
        __builtin_add_overflow(span, s->length, &span))
        return -1;
    return span;
}

/* The same for the whole batch, in bytes (rounded up), or -1. */
static int64_t batch_bytes(const stored_t *s, int64_t batch) {
    const int64_t item = item_span(s);
    int64_t span;
    int64_t bits;
    if (item <= 0 || batch == 0)
        return item < 0 ? -1 : 0;
    if (__builtin_mul_overflow(batch - 1, s->stride, &span) ||
        __builtin_add_overflow(span, item, &span) ||
        __builtin_mul_overflow(span, (int64_t)tcgemm_dtype_bits(s->dtype), &bits) ||
        bits > INT64_MAX - 7)
        return -1;
    return (bits + 7) / 8;
}

static tcgemm_status_t check_storage(const tcgemm_problem_t *p, const stored_t s[NUM_MATRICES]) {
    const char *const line = p->order == TCGEMM_ROW_MAJOR ? "row" : "column";
    for (int x = 0; x < NUM_MATRICES; ++x)
        TCGEMM_RETURN_IF(s[x].ld < s[x].length, TCGEMM_STATUS_BAD_LD,
                         "ld%s is %lld, but a stored %s of %c has %lld elements", s[x].name,
                         (long long)s[x].ld, line, s[x].name[0] - 'a' + 'A',
                         (long long)s[x].length);
    for (int x = 0; x < NUM_MATRICES; ++x)
        TCGEMM_RETURN_IF(s[x].stride < 0, TCGEMM_STATUS_BAD_STRIDE, "stride_%s is %lld, below 0",
                         s[x].name, (long long)s[x].stride);
    for (int x = 0; x < NUM_MATRICES; ++x) {
        const int64_t bytes = batch_bytes(&s[x], p->batch);
        TCGEMM_RETURN_IF(bytes < 0 || bytes > PTRDIFF_MAX, TCGEMM_STATUS_TOO_LARGE,
                         "%c is %lld x %lld with ld%s %lld, batch %lld and stride_%s %lld: more "
                         "bytes than an address space holds",
                         s[x].name[0] - 'a' + 'A', (long long)s[x].lines, (long long)s[x].length,
                         s[x].name, (long long)s[x].ld, (long long)p->batch, s[x].name,
                         (long long)s[x].stride);
    }
    /* The items of D must be apart: one after the other, or side by side within the rows. */
    const stored_t *d = &s[D];
    const bool after = d->stride >= item_span(d);
    const bool beside = d->stride >= d->length &&
                        d->stride <= (d->ld - d->length) / (p->batch > 1 ? p->batch - 1 : 1);
    TCGEMM_RETURN_IF(p->batch > 1 && item_span(d) > 0 && !after && !beside,
                     TCGEMM_STATUS_BAD_STRIDE,
                     "stride_d is %lld, so that the items of D overlap: one spans %lld elements",
                     (long long)d->stride, (long long)item_span(d));
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t check_scalars(const tcgemm_problem_t *p) {
    TCGEMM_RETURN_IF(p->order != TCGEMM_ROW_MAJOR && p->order != TCGEMM_COL_MAJOR,
                     TCGEMM_STATUS_BAD_ARGUMENT, "order is %d, neither row nor column major",
                     (int)p->order);
    TCGEMM_RETURN_IF(p->op_a != TCGEMM_OP_N && p->op_a != TCGEMM_OP_T, TCGEMM_STATUS_BAD_ARGUMENT,
                     "op_a is %d, neither N nor T", (int)p->op_a);
    TCGEMM_RETURN_IF(p->op_b != TCGEMM_OP_N && p->op_b != TCGEMM_OP_T, TCGEMM_STATUS_BAD_ARGUMENT,
                     "op_b is %d, neither N nor T", (int)p->op_b);
    const uint32_t known = TCGEMM_FLAG_XOR | TCGEMM_FLAG_F16_ACCUMULATE | TCGEMM_FLAG_REPRODUCIBLE |
                           TCGEMM_FLAG_FAST_ACCUMULATE | TCGEMM_FLAG_ADDS_C;
    TCGEMM_RETURN_IF(p->flags & ~known, TCGEMM_STATUS_BAD_ARGUMENT, "flags 0x%x are unknown",
                     (unsigned)(p->flags & ~known));
    TCGEMM_RETURN_IF((p->flags & TCGEMM_FLAG_XOR) && p->type != TCGEMM_B1_S32,
                     TCGEMM_STATUS_BAD_ARGUMENT, "TCGEMM_FLAG_XOR is for type b1_s32 only");
    TCGEMM_RETURN_IF((p->flags & TCGEMM_FLAG_F16_ACCUMULATE) && p->type != TCGEMM_F16_F16,
                     TCGEMM_STATUS_BAD_ARGUMENT,
                     "TCGEMM_FLAG_F16_ACCUMULATE is for type f16_f16 only");
    TCGEMM_RETURN_IF((p->flags & TCGEMM_FLAG_FAST_ACCUMULATE) && !is_fp8(tcgemm_type_info(p->type)),
                     TCGEMM_STATUS_BAD_ARGUMENT,
                     "TCGEMM_FLAG_FAST_ACCUMULATE is for types e4m3_* and e5m2_* only");
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {{"m", p->m}, {"n", p->n}, {"k", p->k}, {"batch", p->batch}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
        TCGEMM_RETURN_IF(sizes[i].value < 0, TCGEMM_STATUS_BAD_SHAPE, "%s is %lld, below 0",
                         sizes[i].name, (long long)sizes[i].value);
    return TCGEMM_STATUS_OK;
}

/* The strides of the matrix that op(X) is, row index first. */
static tcgemm_operand_t operand(const stored_t *s, tcgemm_order_t order, tcgemm_op_t op) {
    const bool rows_are_lines = (order == TCGEMM_ROW_MAJOR) == (op == TCGEMM_OP_N);
    return (tcgemm_operand_t){
        .dtype = s->dtype,
        .row_stride = rows_are_lines ? s->ld : 1,
        .col_stride = rows_are_lines ? 1 : s->ld,
        .batch_stride = s->stride,
        .in_columns = !rows_are_lines,
    };
}

static tcgemm_operand_t transposed(tcgemm_operand_t x) {
    const int64_t row_stride = x.row_stride;
    x.row_stride = x.col_stride;
    x.col_stride = row_stride;
    x.in_columns = !x.in_columns;
    return x;
}

tcgemm_status_t tcgemm_problem_read(const tcgemm_problem_t *problem, tcgemm_problem_t *whole) {
    *whole = tcgemm_problem(TCGEMM_F32_F32, 0, 0, 0);
    return tcgemm_struct_read("problem", problem, TCGEMM_STRUCT_END(tcgemm_problem_t, k), whole,
                              sizeof *whole);
}

tcgemm_status_t tcgemm_problem_whole(const tcgemm_problem_t *problem, tcgemm_problem_t *copy,
                                     const tcgemm_problem_t **whole) {
    const bool is_ours = problem && problem->struct_size == sizeof *problem;
    *whole = is_ours ? problem : copy;
    return is_ours ? TCGEMM_STATUS_OK : tcgemm_problem_read(problem, copy);
}

static uint64_t most_bytes(const stored_t s[NUM_MATRICES], int64_t batch) {
    int64_t most = 0;
    for (int i = 0; i < NUM_MATRICES; ++i) {
        const int64_t bytes = batch_bytes(&s[i], batch);
        most = bytes > most ? bytes : most;
    }
    return (uint64_t)most;
}

tcgemm_status_t tcgemm_canonicalize(const tcgemm_problem_t *problem,
                                    tcgemm_canonical_t *canonical) {
    tcgemm_problem_t whole;
    const tcgemm_problem_t *const p = &whole;
    TCGEMM_FORWARD(tcgemm_problem_read(problem, &whole));
    const tcgemm_type_info_t *type = tcgemm_type_info(p->type);
    TCGEMM_RETURN_IF(!type, TCGEMM_STATUS_BAD_TYPE, "type %d is unknown", (int)p->type);
    TCGEMM_FORWARD(check_scalars(p));
    stored_t s[NUM_MATRICES];
    describe_storage(p, type, s);
    TCGEMM_FORWARD(check_storage(p, s));
    if (!canonical)
        return TCGEMM_STATUS_OK;

    const tcgemm_operand_t a = operand(&s[A], p->order, p->op_a);
    const tcgemm_operand_t b = operand(&s[B], p->order, p->op_b);
    const bool swapped = p->order == TCGEMM_COL_MAJOR;
    *canonical = (tcgemm_canonical_t){
        .type = type,
        .flags = p->flags,
        .swapped = swapped,
        .m = swapped ? p->n : p->m,
        .n = swapped ? p->m : p->n,
        .k = p->k,
        .batch = p->batch,
        .a = swapped ? transposed(b) : a,
        .b = swapped ? transposed(a) : b,
        .ldc = s[C].ld,
        .ldd = s[D].ld,
        .stride_c = s[C].stride,
        .stride_d = s[D].stride,
        .most_bytes = most_bytes(s, p->batch),
    };
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_problem_check(const tcgemm_problem_t *problem) {
    return tcgemm_canonicalize(problem, NULL);
}

/* ---- the data of one run ---- */

/* Where a matrix lies: rows of `width` bytes, `pitch` bytes apart. */
typedef struct region {
    uintptr_t start;
    uint64_t span, width, pitch, rows; /* rows is 0 if a batch makes it more than one block */
} region_t;

static region_t region_of(const void *start, tcgemm_dtype_t dtype, int64_t lines, int64_t length,
                          int64_t ld, int64_t stride, int64_t batch) {
    const stored_t s = {"", dtype, lines, length, ld, stride};
    const uint64_t bits = (uint64_t)tcgemm_dtype_bits(dtype);
    return (region_t){
        .start = (uintptr_t)start,
        .span = (uint64_t)batch_bytes(&s, batch),
        .width = ((uint64_t)length * bits + 7) / 8,
        .pitch = bits % 8 ? 0 : (uint64_t)ld * bits / 8,
        .rows = batch == 1 ? (uint64_t)lines : 0,
    };
}

/* Two blocks of one larger matrix interleave their rows without sharing a byte: with the same pitch
 * only the two nearest rows of y can meet a row of x. Otherwise the address ranges decide. */
static bool regions_overlap(region_t x, region_t y) {
    if (x.span == 0 || y.span == 0 || x.start + x.span <= y.start || y.start + y.span <= x.start)
        return false;
    if (x.start > y.start) {
        const region_t z = x;
        x = y;
        y = z;
    }
    if (x.rows == 0 || y.rows == 0 || x.pitch == 0 || x.pitch != y.pitch)
        return true;
    const uint64_t row = (y.start - x.start) / x.pitch;
    const uint64_t offset = (y.start - x.start) % x.pitch;
    const bool same_row = row < x.rows && offset < x.width;
    const bool next_row = row + 1 < x.rows && offset + y.width > x.pitch;
    return same_row || next_row;
}

static region_t operand_region(const tcgemm_operand_t *x, const void *start, int64_t rows,
                               int64_t cols, int64_t batch) {
    if (x->packed_bytes)
        return region_of(start, TCGEMM_DTYPE_U8, 1, (int64_t)x->packed_bytes, 1, 0, 1);
    if (x->col_stride == 1)
        return region_of(start, x->dtype, rows, cols, x->row_stride, x->batch_stride, batch);
    return region_of(start, x->dtype, cols, rows, x->col_stride, x->batch_stride, batch);
}

/* Too far apart for any of the matrices to reach the other: nearly always, and quickly seen. */
static bool is_far(const tcgemm_canonical_t *g, const void *x, const void *d) {
    const uintptr_t from = (uintptr_t)x;
    const uintptr_t to = (uintptr_t)d;
    return (from < to ? to - from : from - to) >= g->most_bytes;
}

static bool all_are_far(const tcgemm_canonical_t *g, const tcgemm_call_t *call) {
    return !g->a.packed_bytes && !g->b.packed_bytes && (!call->a || is_far(g, call->a, call->d)) &&
           (!call->b || is_far(g, call->b, call->d)) && (!call->c || is_far(g, call->c, call->d));
}

static tcgemm_status_t check_overlap(const tcgemm_canonical_t *g, const tcgemm_call_t *call) {
    const tcgemm_dtype_t dtype = g->type->d;
    const region_t d = region_of(call->d, dtype, g->m, g->n, g->ldd, g->stride_d, g->batch);
    const char *const name_a = g->swapped ? "B" : "A";
    const char *const name_b = g->swapped ? "A" : "B";
    TCGEMM_RETURN_IF(call->a &&
                         regions_overlap(d, operand_region(&g->a, call->a, g->m, g->k, g->batch)),
                     TCGEMM_STATUS_OVERLAP, "D overlaps %s", name_a);
    TCGEMM_RETURN_IF(call->b &&
                         regions_overlap(d, operand_region(&g->b, call->b, g->k, g->n, g->batch)),
                     TCGEMM_STATUS_OVERLAP, "D overlaps %s", name_b);
    const bool in_place =
        call->c == call->d && g->ldc == g->ldd && (g->batch <= 1 || g->stride_c == g->stride_d);
    TCGEMM_RETURN_IF(call->c && !in_place &&
                         regions_overlap(d, region_of(call->c, dtype, g->m, g->n, g->ldc,
                                                      g->stride_c, g->batch)),
                     TCGEMM_STATUS_OVERLAP,
                     "D overlaps C without being C itself (same pointer, ld and stride)");
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t check_pointer(const char *name, const void *pointer, tcgemm_dtype_t dtype) {
    const size_t bytes = (size_t)tcgemm_dtype_bits(dtype) / 8;
    TCGEMM_RETURN_IF(!pointer, TCGEMM_STATUS_BAD_ARGUMENT, "%s is NULL", name);
    /* A power of two; 0 of what is smaller than a byte. */
    TCGEMM_RETURN_IF(bytes > 1 && (uintptr_t)pointer & (bytes - 1), TCGEMM_STATUS_BAD_ALIGNMENT,
                     "%s is not aligned to its %zu-byte elements", name, bytes);
    return TCGEMM_STATUS_OK;
}

/* All that the call needs is there and on a boundary for every type, as nearly always. */
static bool all_are_aligned(const void *a, const void *b, const void *c, const void *d,
                            const tcgemm_call_t *call) {
    enum { LARGEST_ELEMENT = 8 };
    const uintptr_t all = (uintptr_t)a | (uintptr_t)b | (uintptr_t)c | (uintptr_t)d;
    return a && b && d && (c || call->beta == 0.0) && all % LARGEST_ELEMENT == 0;
}

static tcgemm_status_t check_pointers(const tcgemm_canonical_t *g, const void *a, const void *b,
                                      const void *c, const void *d, const tcgemm_call_t *call) {
    if (call->alpha != 0.0) {
        TCGEMM_FORWARD(check_pointer("A", a, g->swapped ? g->b.dtype : g->a.dtype));
        TCGEMM_FORWARD(check_pointer("B", b, g->swapped ? g->a.dtype : g->b.dtype));
    }
    if (call->beta != 0.0)
        TCGEMM_FORWARD(check_pointer("C", c, g->type->d));
    return check_pointer("D", d, g->type->d);
}

static tcgemm_status_t round_scalar(const tcgemm_canonical_t *g, const char *name, double value,
                                    double *rounded) {
    if (!tcgemm_dtype_is_integer(g->type->scalar)) {
        *rounded = g->type->scalar == TCGEMM_DTYPE_F32 ? (double)(float)value : value;
        return TCGEMM_STATUS_OK;
    }
    TCGEMM_RETURN_IF(!(value >= -2147483648.0 && value <= 4294967295.0) || value != floor(value),
                     TCGEMM_STATUS_BAD_SCALAR,
                     "%s is %.*g, but type %s needs a whole number in -2^31 .. 2^32-1", name,
                     value == floor(value) && fabs(value) < 1e15 ? 15 : 6, value, g->type->name);
    *rounded = value;
    return TCGEMM_STATUS_OK;
}

/* As if it lay tight and alone. */
static void stand_alone(tcgemm_operand_t *x, int64_t rows, int64_t cols) {
    x->row_stride = x->in_columns ? 1 : cols;
    x->col_stride = x->in_columns ? rows : 1;
    x->batch_stride = 0;
}

tcgemm_canonical_t tcgemm_choice_problem(const tcgemm_canonical_t *g) {
    tcgemm_canonical_t c = *g;
    if (!(g->flags & TCGEMM_FLAG_REPRODUCIBLE))
        return c;
    c.batch = 1;
    if (g->swapped)
        c.n = tcgemm_choice_rows;
    else
        c.m = tcgemm_choice_rows;
    stand_alone(&c.a, c.m, c.k);
    stand_alone(&c.b, c.k, c.n);
    return c;
}

tcgemm_status_t tcgemm_check_call(const tcgemm_canonical_t *g, double alpha, const void *a,
                                  const void *b, double beta, const void *c, const void *d,
                                  bool d_is_written, tcgemm_call_t *call) {
    TCGEMM_FORWARD(round_scalar(g, "alpha", alpha, &call->alpha));
    TCGEMM_FORWARD(round_scalar(g, "beta", beta, &call->beta));
    if (g->k == 0)
        call->alpha = 0.0;
    call->a = call->alpha == 0.0 ? NULL : g->swapped ? b : a;
    call->b = call->alpha == 0.0 ? NULL : g->swapped ? a : b;
    call->c = call->beta == 0.0 ? NULL : c;
    call->d = (void *)(uintptr_t)d; /* verification promises not to write */
    call->epilogue = (tcgemm_epilogue_t){0};
    if (g->m == 0 || g->n == 0 || g->batch == 0)
        return TCGEMM_STATUS_OK;
    if (!all_are_aligned(a, b, c, d, call))
        TCGEMM_FORWARD(check_pointers(g, a, b, c, d, call));
    return d_is_written && !all_are_far(g, call) ? check_overlap(g, call) : TCGEMM_STATUS_OK;
}

/* ---- the data as a struct, and the epilogue ---- */

static tcgemm_status_t refuse(bool is_set, const char *field) {
    TCGEMM_RETURN_IF(is_set, TCGEMM_STATUS_UNSUPPORTED,
                     "data->%s is set, but no kernel serves it yet", field);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_data_read(const tcgemm_data_t *data, tcgemm_data_t *whole) {
    *whole = tcgemm_data(NULL, NULL, NULL);
    TCGEMM_FORWARD(tcgemm_struct_read("data", data, TCGEMM_STRUCT_END(tcgemm_data_t, d), whole,
                                      sizeof *whole));
    TCGEMM_FORWARD(refuse(whole->alpha.im != 0.0, "alpha.im"));
    TCGEMM_FORWARD(refuse(whole->beta.im != 0.0, "beta.im"));
    TCGEMM_FORWARD(refuse(whole->row_scale != NULL, "row_scale"));
    TCGEMM_FORWARD(refuse(whole->col_scale != NULL, "col_scale"));
    TCGEMM_RETURN_IF(!tcgemm_activation_name(whole->activation), TCGEMM_STATUS_BAD_ARGUMENT,
                     "activation %d is unknown", (int)whole->activation);
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t check_activation(const tcgemm_canonical_t *g, tcgemm_activation_t f) {
    TCGEMM_RETURN_IF(tcgemm_dtype_is_integer(g->type->d) && f != TCGEMM_ACTIVATION_NONE &&
                         f != TCGEMM_ACTIVATION_RELU,
                     TCGEMM_STATUS_UNSUPPORTED,
                     "activation %s is for floating-point types; type %s has relu alone",
                     tcgemm_activation_name(f), g->type->name);
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t check_bias(const tcgemm_canonical_t *g, const void *bias,
                                  const tcgemm_call_t *call, bool d_is_written) {
    const tcgemm_dtype_t dtype = g->type->d;
    const region_t d = region_of(call->d, dtype, g->m, g->n, g->ldd, g->stride_d, g->batch);
    const int64_t count = g->swapped ? g->m : g->n;
    if (!bias || g->m == 0 || g->n == 0 || g->batch == 0)
        return TCGEMM_STATUS_OK;
    TCGEMM_FORWARD(check_pointer("bias", bias, dtype));
    TCGEMM_RETURN_IF(d_is_written &&
                         regions_overlap(d, region_of(bias, dtype, 1, count, count, 0, 1)),
                     TCGEMM_STATUS_OVERLAP, "D overlaps the bias");
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_check_epilogue(const tcgemm_canonical_t *g, const tcgemm_data_t *x,
                                      bool d_is_written, tcgemm_call_t *call) {
    TCGEMM_FORWARD(check_activation(g, x->activation));
    TCGEMM_FORWARD(check_bias(g, x->bias, call, d_is_written));
    call->epilogue =
        (tcgemm_epilogue_t){.bias = x->bias, .is_of_rows = g->swapped, .activation = x->activation};
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_check_packing(const tcgemm_canonical_t *g, bool is_b, const void *source,
                                     const void *d, size_t bytes) {
    const tcgemm_operand_t *x = is_b ? &g->b : &g->a;
    const region_t from =
        operand_region(x, source, is_b ? g->k : g->m, is_b ? g->n : g->k, g->batch);
    const region_t to = region_of(d, TCGEMM_DTYPE_U8, 1, (int64_t)bytes, 1, 0, 1);
    const char *const name = is_b != g->swapped ? "B" : "A";
    TCGEMM_FORWARD(check_pointer(name, source, x->dtype));
    TCGEMM_FORWARD(check_pointer("D", d, TCGEMM_DTYPE_U8));
    TCGEMM_RETURN_IF(regions_overlap(from, to), TCGEMM_STATUS_OVERLAP, "D overlaps %s", name);
    return TCGEMM_STATUS_OK;
}
