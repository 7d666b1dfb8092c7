/* product.c - one product, from Python's arguments to the library and back. */
#include <string.h>

#include "core.h"

/* Up to so many multiply-adds, some microseconds, handing the GIL over costs more than others gain;
 * without a GIL only the module's critical section is left, which takes 30 ns. */
#ifdef Py_GIL_DISABLED
#define FEW_MACS (16.0 * 16.0 * 16.0)
#else
#define FEW_MACS (64.0 * 64.0 * 64.0)
#endif

typedef struct product {
    operand_t a, b, c, out, bias;
    operand_t *has_c, *has_out; /* &c, &out or NULL */
    tcgemm_type_t type;
    shape_t shape;
    layout_t layout;
    int device;
    void *stream;
    PyObject *result; /* owned */
} product_t;

/* ---- operands ---- */

static int read_operand(state_t *state, operand_t *x, const call_t *call, PyObject *object,
                        bool is_written) {
    x->has_stream = call->has_stream;
    x->stream = call->stream;
    return tcpy_operand_read(state, x, object, is_written);
}

static bool is_same_kind(const operand_t *x, const operand_t *y) {
    const package_t *const p = &x->package, *const q = &y->package;
    if (p->kind == KIND_AHEAD || q->kind == KIND_AHEAD)
        return true;
    if (p->kind != q->kind)
        return false;
    return p->kind == KIND_NUMPY || p->kind == KIND_BUFFER || p->type == q->type ||
           PyUnicode_Compare(p->name, q->name) == 0;
}

static int check_kinds(const operand_t *x, const operand_t *y) {
    if (is_same_kind(x, y))
        return 0;
    PyObject *const one = PyType_GetQualName(Py_TYPE(x->object));
    PyObject *const other = PyType_GetQualName(Py_TYPE(y->object));
    if (one && other)
        PyErr_Format(PyExc_TypeError,
                     "%s is a %U of %U and %s a %U of %U: bring both to one package first", x->name,
                     one, x->package.name, y->name, other, y->package.name);
    Py_XDECREF(one);
    Py_XDECREF(other);
    return -1;
}

static int check_place(const operand_t *x, const operand_t *y) {
    if (x->device == y->device || x->package.kind == KIND_CUDA || y->package.kind == KIND_CUDA)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s and %s lie on different devices", x->name, y->name);
    return -1;
}

static int read_inputs(state_t *state, product_t *p, const call_t *call) {
    if (read_operand(state, &p->a, call, call->a, false) < 0 ||
        read_operand(state, &p->b, call, call->b, false) < 0 || check_kinds(&p->a, &p->b) < 0 ||
        check_place(&p->a, &p->b) < 0)
        return -1;
    if (call->c && call->beta != 0.0) {
        p->has_c = &p->c;
        if (read_operand(state, &p->c, call, call->c, false) < 0 || check_kinds(&p->a, &p->c) < 0 ||
            check_place(&p->a, &p->c) < 0)
            return -1;
    }
    return 0;
}

/* What was packed ahead brings its type and its kernel, and must stand where it was packed for. */
static int take_ahead(const operand_t *x, unsigned operand, bool is_transposed, call_t *call) {
    if (x->package.kind != KIND_AHEAD)
        return 0;
    const ahead_t *const ahead = (const ahead_t *)x->object;
    if (ahead->operand != operand || is_transposed) {
        PyErr_Format(PyExc_ValueError, "%s was packed ahead as operand %s, %s", x->name,
                     ahead->operand == TCGEMM_OPERAND_A ? "a" : "b",
                     is_transposed ? "which has no transpose" : "not for this place");
        return -1;
    }
    if (call->options.type == 0)
        call->options.type = (int)ahead->type;
    if (call->options.kernel[0] == '\0' && call->options.algo[0] == '\0')
        memcpy(call->options.kernel, ahead->kernel, sizeof ahead->kernel);
    call->options.packed |= operand;
    call->options.device = TCGEMM_DEVICE_CPU;
    call->options.is_set = 1;
    return 0;
}

static int choose_type(product_t *p, call_t *call) {
    if (take_ahead(&p->a, TCGEMM_OPERAND_A, call->trans_a, call) < 0 ||
        take_ahead(&p->b, TCGEMM_OPERAND_B, call->trans_b, call) < 0)
        return -1;
    if (tcpy_choose_type(&p->a, &p->b, call->options.type, &p->type) < 0)
        return -1;
    const tcgemm_type_info_t *const type = tcgemm_type_info(p->type);
    if (tcpy_take_as(&p->a, type->a, type->name) < 0 ||
        tcpy_take_as(&p->b, type->b, type->name) < 0)
        return -1;
    return p->has_c ? tcpy_take_as(&p->c, type->d, type->name) : 0;
}

static int check_out_type(product_t *p) {
    const tcgemm_type_info_t *const type = tcgemm_type_info(p->type);
    if (p->out.dtype == (int)type->d)
        return 0;
    if (p->out.dtype == RAW_16 && tcpy_take_as(&p->out, type->d, type->name) == 0)
        return 0;
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError,
                 "out is %s, but type %s makes %s; type= names another, see tcgemm.types()",
                 tcpy_dtype_text(&p->out), type->name, tcpy_numpy_name(type->d));
    return -1;
}

/* Where D goes: to the caller's array, or to a new one of the kind of A. */
static int find_out(state_t *state, product_t *p, const call_t *call) {
    if (call->out) {
        p->result = Py_NewRef(call->out);
        if (read_operand(state, &p->out, call, call->out, true) < 0 || check_out_type(p) < 0)
            return -1;
        return check_place(&p->a, &p->out);
    }
    Py_ssize_t shape[MAX_DIMS];
    const int ndim = tcpy_result_shape(&p->shape, shape);
    const tcgemm_dtype_t dtype = tcgemm_type_info(p->type)->d;
    const operand_t *const like = p->a.package.kind == KIND_AHEAD ? &p->b : &p->a;
    const bool is_raw = dtype == TCGEMM_DTYPE_BF16 && like->was_raw;
    p->result = tcpy_new_result(state, like, dtype, is_raw, ndim, shape, &p->out);
    return p->result ? (is_raw ? check_out_type(p) : 0) : -1;
}

/* n elements of D's type, one behind the other, where the operands lie. */
static int read_bias(state_t *state, product_t *p, const call_t *call) {
    operand_t *const x = &p->bias;
    const tcgemm_type_info_t *const type = tcgemm_type_info(p->type);
    if (!call->bias)
        return 0;
    if (read_operand(state, x, call, call->bias, false) < 0 || check_place(&p->a, x) < 0 ||
        tcpy_take_as(x, type->d, type->name) < 0)
        return -1;
    if (x->ndim != 1 || x->shape[0] != (Py_ssize_t)p->shape.n) {
        PyErr_Format(PyExc_ValueError, "bias has %d dimensions%s, not one of %lld elements",
                     x->ndim, x->ndim == 1 ? " of another length" : "", (long long)p->shape.n);
        return -1;
    }
    if (x->shape[0] > 1 && x->strides[0] != x->itemsize) {
        PyErr_SetString(PyExc_ValueError, "bias must be contiguous");
        return -1;
    }
    return 0;
}

/* ---- running ---- */

typedef struct run {
    const tcgemm_plan_t *plan; /* NULL: tcgemm_gemm */
    bool is_async;
    void *stream;
    double alpha, beta;
    const void *bias;
    tcgemm_activation_t activation;
} run_t;

static bool has_epilogue(const run_t *run) {
    return run->bias || run->activation != TCGEMM_ACTIVATION_NONE;
}

static run_t run_of(const product_t *p, const call_t *call) {
    return (run_t){.alpha = call->alpha,
                   .beta = call->beta,
                   .bias = call->bias ? p->bias.data : NULL,
                   .activation = call->activation};
}

static tcgemm_data_t data_of(const run_t *run, const void *a, const void *b, const void *c,
                             void *d) {
    tcgemm_data_t x = tcgemm_data(a, b, d);
    x.alpha.re = run->alpha;
    x.beta.re = run->beta;
    x.c = c;
    x.bias = run->bias;
    x.activation = run->activation;
    return x;
}

static tcgemm_status_t run_one(const run_t *run, const layout_t *l, const int64_t *offsets) {
    const void *const a = l->a.data + offsets[0], *const b = l->b.data + offsets[1];
    const void *const c = l->has_c ? l->c.data + offsets[2] : NULL;
    void *const d = l->d.data + offsets[3];
    if (has_epilogue(run)) {
        const tcgemm_data_t x = data_of(run, a, b, c, d);
        return tcgemm_execute(run->plan, &x, NULL);
    }
    if (run->is_async)
        return tcgemm_run_async(run->plan, run->alpha, a, b, run->beta, c, d, NULL, 0, run->stream);
    if (run->plan)
        return tcgemm_run(run->plan, run->alpha, a, b, run->beta, c, d);
    return tcgemm_gemm(&l->problem, run->alpha, a, b, run->beta, c, d);
}

/* Where item `index` of the looped axes begins, in bytes. */
static void find_item(const layout_t *l, int64_t index, int64_t *offsets) {
    const side_t *const sides[] = {&l->a, &l->b, &l->c, &l->d};
    offsets[0] = offsets[1] = offsets[2] = offsets[3] = 0;
    for (int axis = l->num_outer - 1; axis >= 0; --axis) {
        const int64_t at = index % l->outer[axis];
        index /= l->outer[axis];
        for (int s = 0; s < 4; ++s)
            if (s != 2 || l->has_c)
                offsets[s] += at * sides[s]->batch[axis] / 8;
    }
}

static int64_t num_items(const layout_t *l) {
    int64_t count = 1;
    for (int axis = 0; axis < l->num_outer; ++axis)
        count *= l->outer[axis];
    return count;
}

static tcgemm_status_t run_all(const run_t *run, const shape_t *shape, const layout_t *l) {
    const int64_t count = num_items(l);
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    int64_t offsets[4] = {0, 0, 0, 0};
    if (l->num_outer == 0) {
        status = run_one(run, l, offsets);
    } else {
        for (int64_t i = 0; i < count && status == TCGEMM_STATUS_OK; ++i) {
            find_item(l, i, offsets);
            status = run_one(run, l, offsets);
        }
    }
    if (status == TCGEMM_STATUS_OK)
        tcpy_deliver(shape, l);
    return status;
}

static bool is_short(const layout_t *l) {
    const tcgemm_problem_t *const p = &l->problem;
    return (double)p->m * (double)p->n * (double)p->k * (double)p->batch * (double)num_items(l) <=
           FEW_MACS;
}

static tcgemm_status_t run_without_gil(const run_t *run, const product_t *p) {
    tcgemm_status_t status;
    if (!run->is_async && is_short(&p->layout))
        return run_all(run, &p->shape, &p->layout);
    Py_BEGIN_ALLOW_THREADS status = run_all(run, &p->shape, &p->layout);
    Py_END_ALLOW_THREADS return status;
}

static int on_gpu(const product_t *p) {
    return p->a.device != TCGEMM_DEVICE_CPU || p->a.package.kind == KIND_CUDA;
}

/* Arrays on a GPU are multiplied there. */
static options_t options_of(const product_t *p, const call_t *call) {
    options_t options = call->options;
    if (on_gpu(p) && options.device == TCGEMM_DEVICE_AUTO && options.gpu[0] == '\0')
        options.device = p->a.device;
    return options;
}

/* Products on a GPU are queued in the stream of the caller's package; those of the host are done
 * when the call returns. */
static int run_product(state_t *state, product_t *p, const call_t *call, shared_plan_t *preferred) {
    run_t run = run_of(p, call);
    shared_plan_t *plan = NULL;
    if (on_gpu(p)) {
        const options_t options = options_of(p, call);
        run.is_async = true;
        run.stream = call->stream;
        if (!call->has_stream && tcpy_current_stream(&p->a, &run.stream) < 0)
            return -1;
        if (tcpy_find_plan(state, &options, &p->layout.problem, &plan) < 0)
            return -1;
    } else if (preferred && tcpy_is_same_problem(&preferred->problem, &p->layout.problem)) {
        plan = preferred;
        ++plan->users;
    } else if (preferred || call->options.is_set || has_epilogue(&run)) {
        options_t options = call->options;
        if (has_epilogue(&run) && options.device == TCGEMM_DEVICE_AUTO)
            options.device = TCGEMM_DEVICE_CPU; /* which alone serves them */
        if (tcpy_find_plan(state, &options, &p->layout.problem, &plan) < 0)
            return -1;
    }
    run.plan = plan ? plan->plan : NULL;
    const tcgemm_status_t status = run_without_gil(&run, p);
    if (plan)
        tcpy_drop_plan(plan);
    if (status == TCGEMM_STATUS_OK)
        return 0;
    tcpy_raise(state, status);
    return -1;
}

/* ---- the product ---- */

static void begin(product_t *p) {
    tcpy_operand_init(&p->a, "a");
    tcpy_operand_init(&p->b, "b");
    tcpy_operand_init(&p->c, "c");
    tcpy_operand_init(&p->out, "out");
    tcpy_operand_init(&p->bias, "bias");
    p->has_c = p->has_out = NULL;
    p->result = NULL;
    p->layout.reads_d = false;
    p->layout.a.copy = p->layout.b.copy = p->layout.c.copy = p->layout.d.copy = NULL;
}

static void end(product_t *p) {
    tcpy_layout_free(&p->layout);
    tcpy_operand_release(&p->a);
    tcpy_operand_release(&p->b);
    tcpy_operand_release(&p->c);
    tcpy_operand_release(&p->out);
    tcpy_operand_release(&p->bias);
}

static int check_shape(const operand_t *x, const Py_ssize_t *shape, int ndim) {
    if (!shape || (x->ndim == ndim && memcmp(x->shape, shape, (size_t)ndim * sizeof *shape) == 0))
        return 0;
    PyErr_Format(PyExc_ValueError, "%s has another shape than the plan was made for", x->name);
    return -1;
}

static int prepare(state_t *state, product_t *p, call_t *call) {
    if (read_inputs(state, p, call) < 0 ||
        check_shape(&p->a, call->shape_of_a, call->ndim_of_a) < 0 ||
        check_shape(&p->b, call->shape_of_b, call->ndim_of_b) < 0 || choose_type(p, call) < 0 ||
        tcpy_shape_of(&p->a, call->trans_a, &p->b, call->trans_b, &p->shape) < 0 ||
        read_bias(state, p, call) < 0 || find_out(state, p, call) < 0)
        return -1;
    return tcpy_layout(state, &p->shape, p->type, call->options.flags, &p->a, call->trans_a, &p->b,
                       call->trans_b, p->has_c, &p->out, &p->layout);
}

/* The next one like it takes the short way. */
static void note(state_t *state, fast_t *fast, const product_t *p, const call_t *call,
                 shared_plan_t *preferred) {
    const layout_t *const l = &p->layout;
    const bool is_plain = !call->c && !call->bias && !call->activation && !call->has_stream &&
                          call->options.packed == 0 && p->shape.num_batch == 0 && !l->a.copy &&
                          !l->b.copy && !l->d.copy && p->a.keep == NULL;
    if (!is_plain || p->out.object == NULL)
        return;
    if (preferred && !tcpy_is_same_problem(&preferred->problem, &l->problem))
        return;
    const options_t options = options_of(p, call);
    tcpy_fast_note(state, fast, &p->a, &p->b, &p->out, &l->problem, &options, preferred,
                   is_short(l));
}

PyObject *tcpy_multiply(state_t *state, call_t *call, shared_plan_t *preferred, fast_t *fast) {
    product_t p;
    begin(&p);
    int failed = prepare(state, &p, call);
    if (!failed)
        failed = run_product(state, &p, call, preferred);
    if (!failed && fast)
        note(state, fast, &p, call, preferred);
    if (failed)
        Py_CLEAR(p.result);
    else if (!call->out)
        p.result =
            tcpy_finish_result(state, p.a.package.kind == KIND_AHEAD ? &p.b : &p.a, p.result);
    end(&p);
    return p.result;
}

static int read_positional(state_t *state, const char *function, PyObject *const *args,
                           Py_ssize_t count, PyObject *names, uint32_t allowed, call_t *call) {
    PyObject *found[NUM_KEYS] = {NULL};
    if (count < 2 || count > 3) {
        PyErr_Format(PyExc_TypeError, "%s() takes a, b and perhaps c, not %zd arrays", function,
                     count);
        return -1;
    }
    call->a = args[0];
    call->b = args[1];
    if (count == 3 && args[2] != Py_None)
        found[KEY_C] = args[2];
    if (names && tcpy_match_keywords(state, function, names, args + count, allowed, found) < 0)
        return -1;
    return tcpy_read_call(state, found, call);
}

enum {
    OF_PRODUCT = 1 << KEY_BIAS | 1 << KEY_ACTIVATION | 1 << KEY_SCALE_A | 1 << KEY_SCALE_B |
                 1 << KEY_C | 1 << KEY_ALPHA | 1 << KEY_BETA | 1 << KEY_OUT | 1 << KEY_TYPE |
                 1 << KEY_TRANS_A | 1 << KEY_TRANS_B | 1 << KEY_ACCURACY | 1 << KEY_REPRODUCIBLE |
                 1 << KEY_XOR | 1 << KEY_ALGO | 1 << KEY_KERNEL | 1 << KEY_TILE | 1 << KEY_DEVICE |
                 1 << KEY_STREAM | 1 << KEY_THREADS
};

static PyObject *matmul(PyObject *module, PyObject *const *args, Py_ssize_t count,
                        PyObject *names) {
    state_t *const state = PyModule_GetState(module);
    fast_t *slot = NULL;
    call_t call;
    PyObject *out = NULL;
    if (count == 2 && tcpy_is_plain(state, args, count, names, &out)) {
        PyObject *const result = tcpy_fast(state, NULL, 1.0, args[0], args[1], out, &slot);
        if (result)
            return result;
    }
    memset(&call, 0, sizeof call);
    if (read_positional(state, "matmul", args, count, names, OF_PRODUCT, &call) < 0)
        return NULL;
    return tcpy_multiply(state, &call, NULL, slot);
}

PyObject *tcpy_matmul(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    PyObject *result;
    TCPY_BEGIN(module)
    result = matmul(module, args, count, names);
    TCPY_END
    return result;
}

/* ---- the layout that a plan is made for ---- */

/* D as it will be made: dense, at an address that overlaps nothing. */
static void stand_in(operand_t *x, int dtype, int device) {
    static const uintptr_t far_away = (uintptr_t)1 << 46;
    x->dtype = dtype;
    x->itemsize = tcpy_itemsize(dtype);
    x->device = device;
    x->data = (char *)far_away;
    tcpy_own_strides(x);
}

/* Reads the operands of the call, or takes `a` and `b` as they are if it has none. */
int tcpy_plan_layout(state_t *state, call_t *call, operand_t *a, operand_t *b, layout_t *layout) {
    product_t p;
    begin(&p);
    int failed = 0;
    if (call->a) {
        failed = read_inputs(state, &p, call) < 0;
    } else {
        p.a = *a;
        p.b = *b;
        p.a.shape = p.a.own_shape;
        p.b.shape = p.b.own_shape;
        p.a.strides = p.a.own_strides;
        p.b.strides = p.b.own_strides;
    }
    if (!failed)
        failed = choose_type(&p, call) < 0 ||
                 tcpy_shape_of(&p.a, call->trans_a, &p.b, call->trans_b, &p.shape) < 0;
    if (!failed && call->out) {
        failed = read_operand(state, &p.out, call, call->out, true) < 0 || check_out_type(&p) < 0;
    } else if (!failed) {
        p.out.ndim = tcpy_result_shape(&p.shape, p.out.own_shape);
        stand_in(&p.out, (int)tcgemm_type_info(p.type)->d, p.a.device);
    }
    if (!failed)
        failed = tcpy_layout(state, &p.shape, p.type, call->options.flags, &p.a, call->trans_a,
                             &p.b, call->trans_b, p.has_c, &p.out, &p.layout) < 0;
    if (!failed) {
        call->options.type = (int)p.type;
        if (on_gpu(&p) && call->options.device == TCGEMM_DEVICE_AUTO &&
            call->options.gpu[0] == '\0')
            call->options.device = p.a.device;
        layout->problem = p.layout.problem;
        a->ndim = p.a.ndim;
        b->ndim = p.b.ndim;
        memcpy(a->own_shape, p.a.shape, (size_t)p.a.ndim * sizeof *p.a.shape);
        memcpy(b->own_shape, p.b.shape, (size_t)p.b.ndim * sizeof *p.b.shape);
    }
    end(&p);
    return failed ? -1 : 0;
}

/* ---- verify ---- */

static int read_mode(PyObject *object, tcgemm_verify_mode_t *mode) {
    static const char *const modes[] = {"auto", "sample", "full"};
    for (int i = 0; object && i < 3; ++i)
        if (PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, modes[i]) == 0) {
            *mode = (tcgemm_verify_mode_t)i;
            return 0;
        }
    if (!object)
        return 0;
    PyErr_Format(PyExc_ValueError, "mode is %R: use \"auto\", \"sample\" or \"full\"", object);
    return -1;
}

/* Adds the report of one item to that of all; -1 rows stay where no element is wrong. */
static void add_report(tcgemm_verify_report_t *sum, const tcgemm_verify_report_t *r, int64_t item,
                       int64_t batch) {
    if (sum->num_wrong == 0 && r->num_wrong > 0) {
        sum->wrong_batch = item * batch + r->wrong_batch;
        sum->wrong_row = r->wrong_row;
        sum->wrong_col = r->wrong_col;
        sum->wrong_got = r->wrong_got;
        sum->wrong_expected = r->wrong_expected;
    }
    if (item == 0 || r->mode == TCGEMM_VERIFY_SAMPLE)
        sum->mode = r->mode;
    sum->num_checked += r->num_checked;
    sum->num_wrong += r->num_wrong;
    if (!(r->max_ratio <= sum->max_ratio))
        sum->max_ratio = r->max_ratio;
    sum->miss_probability += r->miss_probability;
    sum->seconds += r->seconds;
}

static tcgemm_status_t verify_all(const product_t *p, const tcgemm_plan_t *plan, const call_t *call,
                                  tcgemm_verify_mode_t mode, uint64_t seed,
                                  tcgemm_verify_report_t *sum) {
    const layout_t *const l = &p->layout;
    const int64_t count = num_items(l);
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    const run_t run = run_of(p, call);
    *sum = (tcgemm_verify_report_t){.wrong_batch = -1, .wrong_row = -1, .wrong_col = -1};
    for (int64_t i = 0; i < count && status == TCGEMM_STATUS_OK; ++i) {
        int64_t offsets[4];
        tcgemm_verify_report_t r = {.struct_size = sizeof r};
        find_item(l, i, offsets);
        const tcgemm_data_t x =
            data_of(&run, l->a.data + offsets[0], l->b.data + offsets[1],
                    l->has_c ? l->c.data + offsets[2] : NULL, l->d.data + offsets[3]);
        status = tcgemm_verify_data(plan, &x, mode, seed + (uint64_t)i, &r);
        add_report(sum, &r, i, l->problem.batch);
    }
    return status;
}

static PyObject *report_of(const tcgemm_verify_report_t *r) {
    return Py_BuildValue(
        "{s:s,s:L,s:L,s:L,s:L,s:L,s:d,s:d,s:d,s:d,s:d}", "mode",
        r->mode == TCGEMM_VERIFY_SAMPLE ? "sample" : "full", "num_checked",
        (long long)r->num_checked, "num_wrong", (long long)r->num_wrong, "wrong_batch",
        (long long)r->wrong_batch, "wrong_row", (long long)r->wrong_row, "wrong_col",
        (long long)r->wrong_col, "wrong_got", r->wrong_got, "wrong_expected", r->wrong_expected,
        "max_ratio", r->max_ratio, "miss_probability", r->miss_probability, "seconds", r->seconds);
}

static PyObject *verify(state_t *state, call_t *call, tcgemm_verify_mode_t mode, uint64_t seed) {
    product_t p;
    shared_plan_t *plan = NULL;
    tcgemm_verify_report_t report;
    tcgemm_status_t status = TCGEMM_STATUS_OK;
    begin(&p);
    p.layout.reads_d = true;
    int failed = read_inputs(state, &p, call) < 0 || choose_type(&p, call) < 0 ||
                 tcpy_shape_of(&p.a, call->trans_a, &p.b, call->trans_b, &p.shape) < 0 ||
                 read_bias(state, &p, call) < 0 ||
                 read_operand(state, &p.out, call, call->out, false) < 0 || check_out_type(&p) < 0;
    if (!failed && (p.a.package.kind == KIND_AHEAD || p.b.package.kind == KIND_AHEAD)) {
        PyErr_SetString(PyExc_TypeError, "verify takes the matrices themselves, not packed ahead");
        failed = 1;
    }
    if (!failed)
        failed = tcpy_layout(NULL, &p.shape, p.type, call->options.flags, &p.a, call->trans_a, &p.b,
                             call->trans_b, p.has_c, &p.out, &p.layout) < 0 ||
                 tcpy_find_plan(state, &call->options, &p.layout.problem, &plan) < 0;
    if (!failed) {
        Py_BEGIN_ALLOW_THREADS status = verify_all(&p, plan->plan, call, mode, seed, &report);
        Py_END_ALLOW_THREADS if (status != TCGEMM_STATUS_OK) tcpy_raise(state, status);
    }
    if (plan)
        tcpy_drop_plan(plan);
    end(&p);
    return failed || status != TCGEMM_STATUS_OK ? NULL : report_of(&report);
}

static PyObject *read_and_verify(PyObject *module, PyObject *const *args, Py_ssize_t count,
                                 PyObject *names) {
    state_t *const state = PyModule_GetState(module);
    PyObject *found[NUM_KEYS] = {NULL};
    tcgemm_verify_mode_t mode = TCGEMM_VERIFY_AUTO;
    call_t call = {.a = NULL};
    uint64_t seed = 0;
    if (count < 3 || count > 4) {
        PyErr_SetString(PyExc_TypeError, "verify() takes a, b, d and perhaps c");
        return NULL;
    }
    if (count == 4 && args[3] != Py_None)
        found[KEY_C] = args[3];
    if (tcpy_match_keywords(state, "verify", names, args + count,
                            (OF_PRODUCT & ~(1u << KEY_OUT | 1u << KEY_STREAM)) | 1u << KEY_MODE |
                                1u << KEY_SEED,
                            found) < 0 ||
        tcpy_read_call(state, found, &call) < 0 || read_mode(found[KEY_MODE], &mode) < 0)
        return NULL;
    if (found[KEY_SEED]) {
        seed = PyLong_AsUnsignedLongLongMask(found[KEY_SEED]);
        if (PyErr_Occurred())
            return NULL;
    }
    call.a = args[0];
    call.b = args[1];
    call.out = args[2];
    return verify(state, &call, mode, seed);
}

PyObject *tcpy_verify(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    PyObject *result;
    TCPY_BEGIN(module)
    result = read_and_verify(module, args, count, names);
    TCPY_END
    return result;
}
