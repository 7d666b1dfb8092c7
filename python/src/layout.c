/* layout.c - shapes and strides of Python as the problem of the library.
 *
 * The axes of an operand are batch axes, rows and columns. A matrix goes in as it lies if one of
 * its two axes has the stride of one element and the other at least the length of a line; it is the
 * library's row-major matrix then, or its transpose. Broadcast axes have stride 0. Batch axes that
 * follow one another in all operands are taken as one; the longest that is left is the library's
 * batch, and the rest is looped over. What fits none of this is copied once, and tcgemm.CopyWarning
 * says so.
 */
#include <stdlib.h>
#include <string.h>

#include "core.h"

#define NOT_WHOLE INT64_MIN /* a stride that is no number of elements */

/* ---- shapes ---- */

/* Extent of an axis in elements. */
static int64_t extent(const operand_t *x, int axis) {
    return (int64_t)x->shape[axis] << (axis == x->ndim - 1 ? x->shift : 0);
}

static int check_axes(const operand_t *x, bool is_transposed) {
    if (x->ndim == 0) {
        PyErr_Format(PyExc_ValueError, "%s has no axes: a product takes vectors and matrices",
                     x->name);
        return -1;
    }
    if (x->ndim == 1 && is_transposed) {
        PyErr_Format(PyExc_ValueError, "%s is a vector, which has no transpose", x->name);
        return -1;
    }
    return 0;
}

static int broadcast(const operand_t *a, const operand_t *b, shape_t *s) {
    const int na = a->ndim > 2 ? a->ndim - 2 : 0, nb = b->ndim > 2 ? b->ndim - 2 : 0;
    s->num_batch = na > nb ? na : nb;
    for (int i = 0; i < s->num_batch; ++i) {
        const int ia = i - (s->num_batch - na), ib = i - (s->num_batch - nb);
        const Py_ssize_t ea = ia >= 0 ? a->shape[ia] : 1, eb = ib >= 0 ? b->shape[ib] : 1;
        if (ea != eb && ea != 1 && eb != 1) {
            PyErr_Format(PyExc_ValueError,
                         "%s has %zd matrices where %s has %zd: batch axes are equal or 1", a->name,
                         ea, b->name, eb);
            return -1;
        }
        s->batch[i] = ea == 1 ? eb : ea;
    }
    return 0;
}

int tcpy_shape_of(const operand_t *a, bool trans_a, const operand_t *b, bool trans_b, shape_t *s) {
    if (check_axes(a, trans_a) < 0 || check_axes(b, trans_b) < 0)
        return -1;
    s->drops_row = a->ndim == 1;
    s->drops_col = b->ndim == 1;
    const int64_t a_rows = s->drops_row ? 1 : extent(a, a->ndim - 2);
    const int64_t a_cols = extent(a, a->ndim - 1);
    const int64_t b_last = extent(b, b->ndim - 1);
    const int64_t b_rows = s->drops_col ? b_last : extent(b, b->ndim - 2);
    const int64_t b_cols = s->drops_col ? 1 : b_last;
    s->m = trans_a ? a_cols : a_rows;
    s->k = trans_a ? a_rows : a_cols;
    s->n = trans_b ? b_rows : b_cols;
    const int64_t other_k = trans_b ? b_cols : b_rows;
    if (s->k != other_k) {
        PyErr_Format(PyExc_ValueError,
                     "%s is %lld x %lld and %s is %lld x %lld: %lld columns do not meet %lld rows",
                     a->name, (long long)s->m, (long long)s->k, b->name, (long long)other_k,
                     (long long)s->n, (long long)s->k, (long long)other_k);
        return -1;
    }
    return broadcast(a, b, s);
}

int tcpy_result_shape(const shape_t *s, Py_ssize_t *result) {
    int ndim = s->num_batch;
    memcpy(result, s->batch, (size_t)ndim * sizeof *result);
    if (!s->drops_row)
        result[ndim++] = (Py_ssize_t)s->m;
    if (!s->drops_col)
        result[ndim++] = (Py_ssize_t)s->n;
    return ndim;
}

/* ---- one operand ---- */

/* The stride of an axis in bits. */
static int64_t stride_bits(const operand_t *x, int axis, int bits) {
    const int64_t stride = (int64_t)x->strides[axis];
    if (x->is_packed)
        return stride * bits;
    if (x->shift && axis == x->ndim - 1) /* the elements of a byte follow one another */
        return stride == 1 || x->shape[axis] <= 1 ? bits : NOT_WHOLE;
    return stride * 8;
}

/* Elements have 1, 4, 8, 16, 32 or 64 bits: a shift, where a division would take longer than all
 * else. */
static int64_t in_elements(int64_t bits, int element) {
    return bits == NOT_WHOLE || (bits & (element - 1)) != 0
               ? NOT_WHOLE
               : bits >> __builtin_ctz((unsigned)element);
}

/* Strides of the matrix, in bits; those of an axis of one element do not matter. */
static void set_steps(side_t *s, int64_t row_bits, int64_t col_bits) {
    s->row_bits = s->rows > 1 ? row_bits : 0;
    s->col_bits = s->cols > 1 ? col_bits : 0;
    s->row = in_elements(s->row_bits, s->bits);
    s->col = in_elements(s->col_bits, s->bits);
}

static void set_side(side_t *s, const operand_t *x, int64_t rows, int64_t cols) {
    s->data = x->data;
    s->rows = rows;
    s->cols = cols;
    s->bits = tcgemm_dtype_bits((tcgemm_dtype_t)x->dtype);
    s->device = x->device;
    s->copy = NULL;
    s->in_columns = false;
    s->ld = 0;
    s->is_empty = tcpy_operand_count(x) == 0;
}

/* A or B: batch axes by the rules of broadcasting, then the two axes of the matrix. */
static void side_of_input(side_t *s, const operand_t *x, bool is_transposed, const shape_t *shape,
                          int64_t rows, int64_t cols, bool is_column) {
    set_side(s, x, rows, cols);
    const int own = x->ndim > 2 ? x->ndim - 2 : 0, skipped = shape->num_batch - own;
    for (int i = 0; i < shape->num_batch; ++i)
        s->batch[i] =
            i < skipped || x->shape[i - skipped] == 1 ? 0 : stride_bits(x, i - skipped, s->bits);
    const int64_t last = stride_bits(x, x->ndim - 1, s->bits);
    const int64_t before = x->ndim > 1 ? stride_bits(x, x->ndim - 2, s->bits) : 0;
    const bool last_is_row = x->ndim == 1 ? is_column : is_transposed;
    set_steps(s, last_is_row ? last : before, last_is_row ? before : last);
}

/* C or D, whose axes are those of the result; C is broadcast to them. */
static int side_of_result(side_t *s, const operand_t *x, const shape_t *shape, bool is_exact) {
    Py_ssize_t result[MAX_DIMS];
    int64_t strides[MAX_DIMS];
    const int ndim = tcpy_result_shape(shape, result);
    set_side(s, x, shape->m, shape->n);
    bool fits = is_exact ? x->ndim == ndim : x->ndim <= ndim;
    for (int i = 0; fits && i < ndim; ++i) {
        const int axis = i - (ndim - x->ndim);
        const Py_ssize_t count = axis >= 0 ? x->shape[axis] : 1;
        fits = count == result[i] || (!is_exact && count == 1);
        strides[i] = count == 1 && result[i] != 1 ? 0
                     : axis >= 0                  ? stride_bits(x, axis, s->bits)
                                                  : 0;
    }
    if (!fits) {
        PyObject *const wanted = PyTuple_New(ndim), *const has = PyTuple_New(x->ndim);
        for (int i = 0; wanted && i < ndim; ++i)
            PyTuple_SetItem(wanted, i, PyLong_FromSsize_t(result[i]));
        for (int i = 0; has && i < x->ndim; ++i)
            PyTuple_SetItem(has, i, PyLong_FromSsize_t(x->shape[i]));
        if (wanted && has)
            PyErr_Format(PyExc_ValueError, "%s has shape %R, but the product has %R", x->name, has,
                         wanted);
        Py_XDECREF(wanted);
        Py_XDECREF(has);
        return -1;
    }
    memcpy(s->batch, strides, (size_t)shape->num_batch * sizeof *strides);
    const int row = shape->num_batch, col = row + !shape->drops_row;
    set_steps(s, shape->drops_row ? 0 : strides[row], shape->drops_col ? 0 : strides[col]);
    return 0;
}

/* Whether the matrix is one of the library's as it lies, its lines being rows or columns. */
static bool fits(side_t *s, bool in_columns) {
    const int64_t lines = in_columns ? s->cols : s->rows;
    const int64_t length = in_columns ? s->rows : s->cols;
    const int64_t step = in_columns ? s->row : s->col;
    const int64_t pitch = in_columns ? s->col : s->row;
    s->in_columns = in_columns;
    s->ld = 0;
    if (s->is_empty)
        return true;
    if (length > 1 && step != 1)
        return false;
    if (lines > 1 && length > 0 && pitch < length)
        return false;
    if (s->bits > 8 && (uintptr_t)s->data % (uintptr_t)(s->bits / 8) != 0)
        return false;
    s->ld = lines > 1 && length > 0 ? pitch : 0;
    return true;
}

/* ---- copies ---- */

static bool is_dense(const int64_t *strides, const int64_t *shape, int ndim, size_t bytes) {
    int64_t expected = (int64_t)bytes;
    for (int i = ndim - 1; i >= 0; --i) {
        if (shape[i] > 1 && strides[i] != expected)
            return false;
        expected *= shape[i];
    }
    return true;
}

static void copy_line(char *to, int64_t to_stride, const char *from, int64_t from_stride,
                      int64_t count, size_t bytes) {
    for (int64_t i = 0; i < count; ++i)
        memcpy(to + i * to_stride, from + i * from_stride, bytes);
}

/* Copies an array, axis by axis; strides in bytes. */
void tcpy_copy_strided(char *to, const int64_t *to_strides, const char *from,
                       const int64_t *from_strides, const int64_t *shape, int ndim, size_t bytes) {
    if (is_dense(to_strides, shape, ndim, bytes) && is_dense(from_strides, shape, ndim, bytes)) {
        size_t total = bytes;
        for (int i = 0; i < ndim; ++i)
            total *= (size_t)shape[i];
        if (total > 0)
            memcpy(to, from, total);
        return;
    }
    if (ndim == 1) {
        switch (bytes) { /* a size that the compiler knows makes a load and a store of memcpy */
        case 4:
            copy_line(to, to_strides[0], from, from_strides[0], shape[0], 4);
            return;
        case 8:
            copy_line(to, to_strides[0], from, from_strides[0], shape[0], 8);
            return;
        case 2:
            copy_line(to, to_strides[0], from, from_strides[0], shape[0], 2);
            return;
        default:
            copy_line(to, to_strides[0], from, from_strides[0], shape[0], bytes);
            return;
        }
    }
    for (int64_t i = 0; i < shape[0]; ++i)
        tcpy_copy_strided(to + i * to_strides[0], to_strides + 1, from + i * from_strides[0],
                          from_strides + 1, shape + 1, ndim - 1, bytes);
}

/* The axes (batch axes, rows, columns) in bytes, as they lie and in a dense copy. */
typedef struct axes {
    int64_t shape[MAX_DIMS + 2], strides[MAX_DIMS + 2], dense[MAX_DIMS + 2];
    int count;
    size_t bytes; /* of all, dense */
} axes_t;

/* The dense axes of a copy: batch axes that are broadcast are copied once. */
static void dense_axes(const side_t *s, const shape_t *shape, bool in_columns, axes_t *x) {
    const int64_t bytes = s->bits / 8;
    int64_t size = bytes * s->rows * s->cols;
    x->count = shape->num_batch + 2;
    for (int i = shape->num_batch - 1; i >= 0; --i) {
        const bool is_shared = s->batch[i] == 0;
        x->shape[i] = is_shared ? 1 : shape->batch[i];
        x->strides[i] = s->batch[i] / 8;
        x->dense[i] = is_shared ? 0 : size;
        size *= x->shape[i];
    }
    const int row = shape->num_batch, col = row + 1;
    x->shape[row] = s->rows;
    x->shape[col] = s->cols;
    x->strides[row] = s->row_bits / 8;
    x->strides[col] = s->col_bits / 8;
    x->dense[row] = in_columns ? bytes : s->cols * bytes;
    x->dense[col] = in_columns ? s->rows * bytes : bytes;
    x->bytes = (size_t)size;
}

static int refuse_copy(const operand_t *x) {
    PyErr_Format(x->shift || x->device != TCGEMM_DEVICE_CPU ? PyExc_BufferError : PyExc_ValueError,
                 "%s has strides that no leading dimension describes, and %s; make it contiguous "
                 "first",
                 x->name,
                 x->device != TCGEMM_DEVICE_CPU ? "lies on a GPU"
                                                : "packed elements are not copied");
    return -1;
}

static int warn_of_copy(state_t *state, const operand_t *x) {
    char text[160];
    (void)PyOS_snprintf(text, sizeof text,
                        "%s is copied: its strides or its alignment are not those of a matrix with "
                        "a leading dimension",
                        x->name);
    return PyErr_WarnEx(state->copy_warning, text, 1);
}

/* Gives the side memory of its own, filled unless it is D. */
/* `state` is NULL where nobody wants to hear of it. */
static int copy_side(state_t *state, side_t *s, const operand_t *x, const shape_t *shape,
                     bool in_columns, bool is_filled) {
    axes_t axes;
    if (s->bits < 8 || s->device != TCGEMM_DEVICE_CPU)
        return refuse_copy(x);
    if (state && warn_of_copy(state, x) < 0)
        return -1;
    dense_axes(s, shape, in_columns, &axes);
    s->copy = malloc(axes.bytes ? axes.bytes : 1);
    if (!s->copy) {
        PyErr_NoMemory();
        return -1;
    }
    if (is_filled && axes.bytes)
        tcpy_copy_strided(s->copy, axes.dense, s->data, axes.strides, axes.shape, axes.count,
                          (size_t)s->bits / 8);
    s->data = s->copy;
    s->row = in_columns ? 1 : s->cols;
    s->col = in_columns ? s->rows : 1;
    s->row_bits = s->row * s->bits;
    s->col_bits = s->col * s->bits;
    for (int i = 0; i < shape->num_batch; ++i)
        s->batch[i] = axes.dense[i] * 8;
    (void)fits(s, in_columns);
    return 0;
}

void tcpy_deliver(const shape_t *shape, const layout_t *layout) {
    axes_t axes;
    if (!layout->d.copy)
        return;
    dense_axes(&layout->out, shape, layout->d.in_columns, &axes);
    tcpy_copy_strided(layout->out.data, axes.strides, layout->d.copy, axes.dense, axes.shape,
                      axes.count, (size_t)layout->out.bits / 8);
}

void tcpy_layout_free(layout_t *layout) {
    free(layout->a.copy);
    free(layout->b.copy);
    free(layout->c.copy);
    free(layout->d.copy);
}

/* ---- overlap, where the library sees only one item at a time ---- */

typedef struct range {
    uintptr_t low, high;
} range_t;

static range_t range_of(const side_t *s, const shape_t *shape) {
    int64_t low = 0, high = s->bits;
    const int64_t steps[2] = {s->row_bits, s->col_bits}, counts[2] = {s->rows, s->cols};
    for (int i = 0; i < shape->num_batch + 2; ++i) {
        const bool is_batch = i < shape->num_batch;
        const int64_t step = is_batch ? s->batch[i] : steps[i - shape->num_batch];
        const int64_t count = is_batch ? shape->batch[i] : counts[i - shape->num_batch];
        *(step < 0 ? &low : &high) += (count - 1) * step;
    }
    return (range_t){(uintptr_t)(s->data + low / 8), (uintptr_t)(s->data + (high + 7) / 8)};
}

static bool is_in_place(const side_t *c, const side_t *d, const shape_t *shape) {
    if (c->data != d->data || c->row_bits != d->row_bits || c->col_bits != d->col_bits)
        return false;
    for (int i = 0; i < shape->num_batch; ++i)
        if (shape->batch[i] > 1 && c->batch[i] != d->batch[i])
            return false;
    return true;
}

static int check_apart(const side_t *d, const side_t *x, const operand_t *operand,
                       const shape_t *shape) {
    const range_t r = range_of(d, shape), o = range_of(x, shape);
    if (r.low >= o.high || o.low >= r.high)
        return 0;
    PyErr_Format(PyExc_ValueError, "out overlaps %s", operand->name);
    return -1;
}

/* Sorted by stride each axis must reach beyond all smaller ones. */
static int check_self_overlap(const side_t *d, const shape_t *shape) {
    int64_t steps[MAX_DIMS + 2], counts[MAX_DIMS + 2];
    int count = 0;
    for (int i = 0; i < shape->num_batch + 2; ++i) {
        const bool is_batch = i < shape->num_batch;
        const int64_t n = is_batch ? shape->batch[i] : i == shape->num_batch ? d->rows : d->cols;
        int64_t step = is_batch ? d->batch[i] : i == shape->num_batch ? d->row_bits : d->col_bits;
        if (n <= 1)
            continue;
        step = step < 0 ? -step : step;
        int at = count++;
        for (; at > 0 && steps[at - 1] > step; --at) {
            steps[at] = steps[at - 1];
            counts[at] = counts[at - 1];
        }
        steps[at] = step;
        counts[at] = n;
    }
    int64_t reach = d->bits;
    for (int i = 0; i < count; ++i) {
        if (steps[i] < reach) {
            PyErr_SetString(PyExc_ValueError, "out overlaps itself");
            return -1;
        }
        reach += steps[i] * (counts[i] - 1);
    }
    return 0;
}

static int check_overlap(const shape_t *shape, const layout_t *l, const operand_t *a,
                         const operand_t *b, const operand_t *c) {
    const side_t *const d = l->d.copy ? &l->out : &l->d;
    for (int i = 0; i < shape->num_batch; ++i)
        if (shape->batch[i] == 0)
            return 0;
    if (d->rows == 0 || d->cols == 0)
        return 0;
    if (check_self_overlap(d, shape) < 0)
        return -1;
    if (!l->a.copy && a->package.kind != KIND_AHEAD && check_apart(d, &l->a, a, shape) < 0)
        return -1;
    if (!l->b.copy && b->package.kind != KIND_AHEAD && check_apart(d, &l->b, b, shape) < 0)
        return -1;
    if (l->has_c && !l->c.copy && !is_in_place(&l->c, d, shape))
        return check_apart(d, &l->c, c, shape);
    return 0;
}

/* ---- batch axes ---- */

enum { NUM_SIDES = 4 };

static bool follow(side_t *const *sides, int outer, int inner, int64_t count) {
    for (int i = 0; i < NUM_SIDES; ++i)
        if (sides[i]->batch[outer] != count * sides[i]->batch[inner])
            return false;
    return true;
}

/* Leaves out axes of one item and joins those that follow one another. */
static int join_axes(const shape_t *shape, side_t *const *sides, int64_t *counts) {
    int num = 0;
    for (int i = 0; i < shape->num_batch; ++i) {
        if (shape->batch[i] == 1)
            continue;
        counts[num] = shape->batch[i];
        for (int s = 0; s < NUM_SIDES; ++s)
            sides[s]->batch[num] = sides[s]->batch[i];
        if (num > 0 && follow(sides, num - 1, num, counts[num])) {
            counts[num - 1] *= counts[num];
            for (int s = 0; s < NUM_SIDES; ++s)
                sides[s]->batch[num - 1] = sides[s]->batch[num];
        } else {
            ++num;
        }
    }
    return num;
}

static bool is_for_library(side_t *const *sides, int axis) {
    for (int s = 0; s < NUM_SIDES; ++s)
        if (sides[s]->batch[axis] < 0 || sides[s]->batch[axis] % sides[s]->bits != 0)
            return false;
    return true;
}

static void set_batch(tcgemm_problem_t *p, side_t *const *sides, int axis, int64_t count) {
    p->batch = count;
    p->stride_a = sides[0]->batch[axis] / sides[0]->bits;
    p->stride_b = sides[1]->batch[axis] / sides[1]->bits;
    p->stride_c = sides[2]->batch[axis] / sides[2]->bits;
    p->stride_d = sides[3]->batch[axis] / sides[3]->bits;
}

/* The longest axis that the library takes as its batch; -1: none. */
static int library_axis(tcgemm_problem_t *p, side_t *const *sides, const int64_t *counts, int num) {
    int best = -1;
    for (int i = 0; i < num; ++i)
        if (is_for_library(sides, i) && (best < 0 || counts[i] > counts[best]))
            best = i;
    if (best < 0)
        return -1;
    set_batch(p, sides, best, counts[best]);
    if (tcgemm_problem_check(p) != TCGEMM_STATUS_BAD_STRIDE) /* D's items may interleave */
        return best;
    p->batch = 1;
    p->stride_a = p->stride_b = p->stride_c = p->stride_d = 0;
    return -1;
}

/* Items that begin within a byte cannot be looped over. */
static int check_bytes(side_t *const *sides, int axis) {
    for (int s = 0; s < NUM_SIDES; ++s)
        if (sides[s]->batch[axis] % 8 != 0) {
            PyErr_SetString(PyExc_ValueError,
                            "items of a batch of packed elements begin on a byte where they are "
                            "broadcast against each other");
            return -1;
        }
    return 0;
}

static int place_batch(const shape_t *shape, layout_t *l) {
    side_t none;
    if (!l->has_c)
        none = l->d;
    side_t *const sides[NUM_SIDES] = {&l->a, &l->b, l->has_c ? &l->c : &none, &l->d};
    int64_t counts[MAX_DIMS];
    const int num = join_axes(shape, sides, counts);
    const int taken = library_axis(&l->problem, sides, counts, num);
    l->num_outer = 0;
    for (int i = 0; i < num; ++i) {
        if (i == taken)
            continue;
        if (check_bytes(sides, i) < 0)
            return -1;
        l->outer[l->num_outer] = counts[i];
        for (int s = 0; s < NUM_SIDES; ++s)
            sides[s]->batch[l->num_outer] = sides[s]->batch[i];
        ++l->num_outer;
    }
    return 0;
}

/* ---- the whole ---- */

static bool is_ahead(const operand_t *x) {
    return x->package.kind == KIND_AHEAD;
}

static int place_input(state_t *state, side_t *s, operand_t *x, bool is_transposed,
                       const shape_t *shape, int64_t rows, int64_t cols, bool is_column) {
    if (is_ahead(x)) {
        *s = (side_t){.data = x->data, .rows = rows, .cols = cols, .bits = 8, .device = x->device};
        return 0;
    }
    side_of_input(s, x, is_transposed, shape, rows, cols, is_column);
    return fits(s, false) || fits(s, true) ? 0 : copy_side(state, s, x, shape, false, true);
}

/* D goes in as it lies, by rows if it may; C must lie by rows or by columns as D does. */
static int place_results(state_t *state, layout_t *l, const shape_t *shape, operand_t *c,
                         operand_t *d, bool only_rows) {
    if (side_of_result(&l->d, d, shape, true) < 0 ||
        (c && side_of_result(&l->c, c, shape, false) < 0))
        return -1;
    if (!fits(&l->d, false) && (only_rows || !fits(&l->d, true))) {
        l->out = l->d;
        if (copy_side(state, &l->d, d, shape, false, l->reads_d) < 0)
            return -1;
    }
    if (!c || fits(&l->c, l->d.in_columns))
        return 0;
    return copy_side(state, &l->c, c, shape, l->d.in_columns, true);
}

static void set_problem(layout_t *l, const shape_t *shape, tcgemm_type_t type, uint32_t flags,
                        const operand_t *a, const operand_t *b) {
    tcgemm_problem_t *const p = &l->problem;
    *p = tcgemm_problem(type, shape->m, shape->n, shape->k);
    const bool in_columns = l->d.in_columns;
    p->flags = flags;
    p->order = in_columns ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
    p->op_a = l->a.in_columns != in_columns ? TCGEMM_OP_T : TCGEMM_OP_N;
    p->op_b = l->b.in_columns != in_columns ? TCGEMM_OP_T : TCGEMM_OP_N;
    p->lda = l->a.ld;
    p->ldb = l->b.ld;
    p->ldc = l->has_c ? l->c.ld : l->d.ld; /* so that a plan without C is one with it, too */
    p->ldd = l->d.ld;
    if (is_ahead(a))
        p->op_a = ((ahead_t *)a->object)->problem.op_a;
    if (is_ahead(b))
        p->op_b = ((ahead_t *)b->object)->problem.op_b;
}

int tcpy_layout(state_t *state, const shape_t *shape, tcgemm_type_t type, uint32_t flags,
                operand_t *a, bool trans_a, operand_t *b, bool trans_b, operand_t *c, operand_t *d,
                layout_t *l) {
    const bool only_rows = is_ahead(a) || is_ahead(b);
    l->a.copy = l->b.copy = l->c.copy = l->d.copy = NULL;
    l->has_c = c != NULL;
    l->num_outer = 0;
    if (place_input(state, &l->a, a, trans_a, shape, shape->m, shape->k, false) < 0 ||
        place_input(state, &l->b, b, trans_b, shape, shape->k, shape->n, true) < 0 ||
        place_results(state, l, shape, c, d, only_rows) < 0)
        return -1;
    set_problem(l, shape, type, flags, a, b);
    if (!l->reads_d && (shape->num_batch > 0 || l->d.copy))
        if (check_overlap(shape, l, a, b, c) < 0)
            return -1;
    return shape->num_batch > 0 ? place_batch(shape, l) : 0;
}

/* One matrix by itself, for packing it ahead. */
int tcpy_place_alone(state_t *state, side_t *s, operand_t *x, bool is_transposed, int64_t rows,
                     int64_t cols) {
    const shape_t shape = {.num_batch = 0};
    s->copy = NULL;
    return place_input(state, s, x, is_transposed, &shape, rows, cols, false);
}
