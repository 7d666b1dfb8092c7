/* plan.c - the plans that options ask for, kept for the next call, and tcgemm.Plan. */
#include "core.h"

#include <stdlib.h>
#include <string.h>
#include <structmember.h>

/* ---- plans of the library that calls share ---- */

static uint64_t hash_of(const options_t *o, const tcgemm_problem_t *p) {
    uint64_t words[sizeof *o / sizeof(uint64_t)], hash = UINT64_C(0xCBF29CE484222325);
    const int64_t numbers[] = {p->type,  p->order,    p->op_a,     p->op_b,     p->flags,   p->m,
                               p->n,     p->k,        p->lda,      p->ldb,      p->ldc,     p->ldd,
                               p->batch, p->stride_a, p->stride_b, p->stride_c, p->stride_d};
    memcpy(words, o, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        hash = (hash ^ (hash >> 29) ^ (uint64_t)numbers[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return hash;
}

bool tcpy_is_same_problem(const tcgemm_problem_t *p, const tcgemm_problem_t *q) {
    return p->type == q->type && p->order == q->order && p->op_a == q->op_a && p->op_b == q->op_b &&
           p->flags == q->flags && p->m == q->m && p->n == q->n && p->k == q->k &&
           p->lda == q->lda && p->ldb == q->ldb && p->ldc == q->ldc && p->ldd == q->ldd &&
           p->batch == q->batch && p->stride_a == q->stride_a && p->stride_b == q->stride_b &&
           p->stride_c == q->stride_c && p->stride_d == q->stride_d;
}

void tcpy_drop_plan(shared_plan_t *plan) {
    if (--plan->users > 0)
        return;
    tcgemm_plan_destroy(plan->plan);
    tcgemm_context_destroy(plan->context);
    free(plan);
}

static const char *or_null(const char *name) {
    return *name ? name : NULL;
}

static tcgemm_status_t fill_plan(shared_plan_t *s, unsigned pack) {
    const options_t *const o = &s->options;
    tcgemm_context_options_t where = tcgemm_context_options();
    tcgemm_plan_options_t how = tcgemm_plan_options();
    where.device = o->device;
    where.num_threads = o->threads;
    where.known_gpu = or_null(o->gpu);
    how.algo = or_null(o->algo);
    how.kernel = or_null(o->kernel);
    how.tile = or_null(o->tile);
    how.packed = o->packed;
    how.pack = pack;
    const tcgemm_status_t status = tcgemm_context_create(&where, &s->context);
    return status == TCGEMM_STATUS_OK ? tcgemm_plan_create(s->context, &s->problem, &how, &s->plan)
                                      : status;
}

tcgemm_status_t tcpy_make_plan(const options_t *options, const tcgemm_problem_t *problem,
                               unsigned pack, shared_plan_t **made) {
    shared_plan_t *const s = malloc(sizeof *s);
    *made = NULL;
    if (!s)
        return TCGEMM_STATUS_OUT_OF_MEMORY;
    s->options = *options;
    s->problem = *problem;
    s->context = NULL;
    s->plan = NULL;
    s->users = 1;
    s->hash = hash_of(options, problem);
    const tcgemm_status_t status = fill_plan(s, pack);
    if (status == TCGEMM_STATUS_OK)
        *made = s;
    else
        tcpy_drop_plan(s);
    return status;
}

/* The plan for these options and this problem, made or found; the caller drops it. */
int tcpy_find_plan(state_t *state, const options_t *options, const tcgemm_problem_t *problem,
                   shared_plan_t **plan) {
    const uint64_t hash = hash_of(options, problem);
    for (int i = 0; i < MAX_CACHED_PLANS; ++i) {
        shared_plan_t *const s = state->plans[i];
        if (s && s->hash == hash && memcmp(&s->options, options, sizeof *options) == 0 &&
            tcpy_is_same_problem(&s->problem, problem)) {
            ++s->users;
            *plan = s;
            return 0;
        }
    }
    const tcgemm_status_t status = tcpy_make_plan(options, problem, 0, plan);
    if (status != TCGEMM_STATUS_OK) {
        tcpy_raise(state, status);
        return -1;
    }
    shared_plan_t **const slot = &state->plans[state->next_plan++ % MAX_CACHED_PLANS];
    if (*slot)
        tcpy_drop_plan(*slot);
    *slot = *plan;
    ++(*plan)->users;
    return 0;
}

/* ---- tcgemm.Plan ---- */

typedef struct plan {
    PyObject_HEAD state_t *state;
    PyObject *module;    /* owned: it has the state */
    PyObject *arguments; /* keyword arguments that make this plan again */
    shared_plan_t *first;
    options_t options;
    bool trans_a, trans_b;
    double alpha, beta;
    bool has_beta;
    tcgemm_type_t type;
    int a_ndim, b_ndim; /* operands have these shapes in every call */
    Py_ssize_t a_shape[MAX_DIMS], b_shape[MAX_DIMS];
    fast_t fast;
    PyObject *(*vectorcall)(PyObject *self, PyObject *const *args, size_t count, PyObject *names);
} plan_t;

enum {
    OF_CALL = 1 << KEY_C | 1 << KEY_ALPHA | 1 << KEY_BETA | 1 << KEY_OUT | 1 << KEY_STREAM |
              1 << KEY_BIAS | 1 << KEY_ACTIVATION
};

/* One bit of the count says that args[-1] may be used: nobody does here. */
static PyObject *call_plan(PyObject *self, PyObject *const *args, size_t flagged, PyObject *names) {
    plan_t *const plan = (plan_t *)self;
    const Py_ssize_t count = (Py_ssize_t)(flagged & ~((size_t)1 << (8 * sizeof(size_t) - 1)));
    PyObject *found[NUM_KEYS] = {NULL}, *out = NULL;
    fast_t *slot;
    call_t call;
    if (count == 2 && tcpy_is_plain(plan->state, args, count, names, &out)) {
        PyObject *const result =
            tcpy_fast(plan->state, &plan->fast, plan->alpha, args[0], args[1], out, &slot);
        if (result)
            return result;
    }
    if (count < 2 || count > 3) {
        PyErr_Format(PyExc_TypeError, "a plan takes a, b and perhaps c, not %zd arrays", count);
        return NULL;
    }
    if (count == 3 && args[2] != Py_None)
        found[KEY_C] = args[2];
    if (names && tcpy_match_keywords(plan->state, "plan", names, args + count, OF_CALL, found) < 0)
        return NULL;
    memset(&call, 0, sizeof call);
    if (tcpy_read_call(plan->state, found, &call) < 0)
        return NULL;
    call.a = args[0];
    call.b = args[1];
    if (!found[KEY_ALPHA])
        call.alpha = plan->alpha;
    if (!found[KEY_BETA] && plan->has_beta && call.c)
        call.beta = plan->beta;
    call.trans_a = plan->trans_a;
    call.trans_b = plan->trans_b;
    call.options = plan->options;
    call.shape_of_a = plan->a_shape;
    call.shape_of_b = plan->b_shape;
    call.ndim_of_a = plan->a_ndim;
    call.ndim_of_b = plan->b_ndim;
    return tcpy_multiply(plan->state, &call, plan->first, &plan->fast);
}

static PyObject *plan_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    PyObject *result;
    TCPY_BEGIN(((plan_t *)self)->module)
    result = call_plan(self, args, count, names);
    TCPY_END
    return result;
}

static PyObject *plan_tp_call(PyObject *self, PyObject *args, PyObject *keywords) {
    PyObject *values[NUM_KEYS + 3], *names = NULL;
    const Py_ssize_t count = PyTuple_Size(args);
    const Py_ssize_t more = keywords ? PyDict_Size(keywords) : 0;
    if (count > 3 || more > NUM_KEYS) {
        PyErr_SetString(PyExc_TypeError, "a plan takes a, b and perhaps c");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; ++i)
        values[i] = PyTuple_GetItem(args, i);
    if (more > 0) {
        Py_ssize_t at = 0, i = 0;
        PyObject *key, *value;
        names = PyTuple_New(more);
        while (names && PyDict_Next(keywords, &at, &key, &value)) {
            PyTuple_SetItem(names, i, Py_NewRef(key));
            values[count + i++] = value;
        }
        if (!names)
            return NULL;
    }
    PyObject *const result = plan_call(self, values, (size_t)count, names);
    Py_XDECREF(names);
    return result;
}

static void plan_dealloc(PyObject *self) {
    plan_t *const plan = (plan_t *)self;
    PyTypeObject *const type = Py_TYPE(self);
    tcpy_fast_clear(&plan->fast);
    if (plan->first)
        tcpy_drop_plan(plan->first);
    Py_XDECREF(plan->arguments);
    Py_XDECREF(plan->module);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- what a plan says of itself ---- */

static PyObject *plan_info(PyObject *self, void *closure) {
    tcgemm_plan_info_t i = {.struct_size = sizeof i};
    plan_t *const plan = (plan_t *)self;
    (void)closure;
    const tcgemm_status_t status = tcgemm_plan_get_info(plan->first->plan, &i);
    if (status != TCGEMM_STATUS_OK)
        return tcpy_raise(plan->state, status);
    PyObject *const levels = PyList_New(0);
    for (int l = 0; levels && l < i.num_levels; ++l) {
        const tcgemm_level_t *const x = &i.levels[l];
        PyObject *const level = Py_BuildValue("{s:s,s:s,s:L,s:L,s:L,s:L}", "name", x->name, "home",
                                              x->home, "m", (long long)x->m, "n", (long long)x->n,
                                              "k", (long long)x->k, "count", (long long)x->count);
        if (level)
            PyList_Append(levels, level);
        Py_XDECREF(level);
    }
    if (!levels)
        return NULL;
    return Py_BuildValue(
        "{s:s,s:s,s:s,s:s,s:i,s:i,s:L,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:d,s:d,s:s,s:N}", "algo", i.algo,
        "kernel", i.kernel, "device", i.device, "reason", i.reason, "device_index", i.device_index,
        "num_threads", i.num_threads, "num_blocks", (long long)i.num_blocks, "a_bytes",
        (Py_ssize_t)i.a_bytes, "b_bytes", (Py_ssize_t)i.b_bytes, "c_bytes", (Py_ssize_t)i.c_bytes,
        "d_bytes", (Py_ssize_t)i.d_bytes, "packed_a_bytes", (Py_ssize_t)i.packed_a_bytes,
        "packed_b_bytes", (Py_ssize_t)i.packed_b_bytes, "workspace_bytes",
        (Py_ssize_t)i.workspace_bytes, "predicted_seconds", i.predicted_seconds, "error_unit",
        i.error_unit, "error_bound", i.error_bound, "levels", levels);
}

static PyObject *plan_problem(PyObject *self, void *closure) {
    const tcgemm_problem_t *const p = &((plan_t *)self)->first->problem;
    (void)closure;
    return Py_BuildValue(
        "{s:s,s:s,s:O,s:O,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L}", "type",
        tcgemm_type_info(p->type)->name, "order", p->order == TCGEMM_COL_MAJOR ? "col" : "row",
        "trans_a", p->op_a == TCGEMM_OP_T ? Py_True : Py_False, "trans_b",
        p->op_b == TCGEMM_OP_T ? Py_True : Py_False, "m", (long long)p->m, "n", (long long)p->n,
        "k", (long long)p->k, "lda", (long long)p->lda, "ldb", (long long)p->ldb, "ldc",
        (long long)p->ldc, "ldd", (long long)p->ldd, "batch", (long long)p->batch, "stride_a",
        (long long)p->stride_a, "stride_b", (long long)p->stride_b, "stride_c",
        (long long)p->stride_c, "stride_d", (long long)p->stride_d);
}

static PyObject *plan_type_name(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_FromString(tcgemm_type_info(((plan_t *)self)->type)->name);
}

static PyObject *plan_kernel(PyObject *self, void *closure) {
    PyObject *const info = plan_info(self, closure);
    PyObject *const name = info ? PyDict_GetItemString(info, "kernel") : NULL;
    Py_XINCREF(name);
    Py_XDECREF(info);
    return name;
}

static PyObject *plan_estimates(PyObject *self, PyObject *none) {
    plan_t *const plan = (plan_t *)self;
    const int count = tcgemm_plan_estimate_count(plan->first->plan);
    PyObject *const list = PyList_New(0);
    (void)none;
    for (int i = 0; list && i < count; ++i) {
        tcgemm_estimate_t e = {.struct_size = sizeof e};
        if (tcgemm_plan_get_estimate(plan->first->plan, i, &e) != TCGEMM_STATUS_OK)
            break;
        PyObject *const row =
            Py_BuildValue("{s:s,s:s,s:d,s:L,s:L,s:L}", "kernel", e.kernel, "algo", e.algo,
                          "seconds", e.seconds, "tile_m", (long long)e.tile_m, "tile_n",
                          (long long)e.tile_n, "tile_k", (long long)e.tile_k);
        if (!row || PyList_Append(list, row) < 0) {
            Py_XDECREF(row);
            Py_DECREF(list);
            return NULL;
        }
        Py_DECREF(row);
    }
    return list;
}

/* Text of a length that is asked for first. */
static PyObject *drawn(plan_t *plan, const tcgemm_draw_options_t *options) {
    const tcgemm_plan_t *const p = plan->first->plan;
    const bool is_text = options->format == TCGEMM_FORMAT_TEXT;
    const size_t length = is_text ? tcgemm_plan_describe(p, TCGEMM_FORMAT_TEXT, NULL, 0)
                                  : tcgemm_plan_draw(p, options, NULL, 0);
    if (length == 0)
        return tcpy_raise(plan->state, TCGEMM_STATUS_BAD_ARGUMENT);
    char *const text = malloc(length + 1);
    if (!text)
        return PyErr_NoMemory();
    if (is_text)
        (void)tcgemm_plan_describe(p, TCGEMM_FORMAT_TEXT, text, length + 1);
    else
        (void)tcgemm_plan_draw(p, options, text, length + 1);
    PyObject *const result = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
    free(text);
    return result;
}

static PyObject *plan_describe(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"format", NULL};
    plan_t *const plan = (plan_t *)self;
    const char *format = "text";
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|s:describe", names, &format))
        return NULL;
    tcgemm_draw_options_t o = tcgemm_draw_options(TCGEMM_FORMAT_TEXT);
    if (strcmp(format, "text") == 0)
        return drawn(plan, &o);
    if (strcmp(format, "json") != 0)
        return PyErr_Format(PyExc_ValueError, "format is '%s': use \"text\" or \"json\"", format);
    const size_t length = tcgemm_plan_describe(plan->first->plan, TCGEMM_FORMAT_JSON, NULL, 0);
    char *const text = malloc(length + 1);
    if (!text)
        return PyErr_NoMemory();
    (void)tcgemm_plan_describe(plan->first->plan, TCGEMM_FORMAT_JSON, text, length + 1);
    PyObject *const result = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
    free(text);
    return result;
}

static int find_word(const char *name, const char *word, const char *const *words, int count) {
    for (int i = 0; i < count; ++i)
        if (strcmp(words[i], word) == 0)
            return i;
    PyErr_Format(PyExc_ValueError, "%s is '%s', which is none", name, word);
    return -1;
}

static PyObject *plan_explain(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"format", "picture", "scheme", "width", "id", NULL};
    static const char *const formats[] = {"text", "json", "svg", "html", "html_part"};
    static const char *const schemes[] = {"auto", "light", "dark"};
    const char *format = "text", *picture = NULL, *scheme = "auto", *id = NULL;
    int width = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|szsiz:explain", names, &format, &picture,
                                     &scheme, &width, &id))
        return NULL;
    const int f = find_word("format", format, formats, 5);
    const int s = f < 0 ? -1 : find_word("scheme", scheme, schemes, 3);
    if (s < 0)
        return NULL;
    tcgemm_draw_options_t o = tcgemm_draw_options((tcgemm_format_t)f);
    o.picture = picture;
    o.scheme = (tcgemm_scheme_t)s;
    o.width = width;
    o.id = id;
    return drawn((plan_t *)self, &o);
}

/* Ids begin with the object's address: pages of a notebook hold many plans. */
static PyObject *plan_repr_html(PyObject *self, PyObject *none) {
    char id[40];
    (void)none;
    tcgemm_draw_options_t o = tcgemm_draw_options(TCGEMM_FORMAT_HTML_PART);
    (void)PyOS_snprintf(id, sizeof id, "tcgemm-%zx", (size_t)self);
    o.id = id;
    return drawn((plan_t *)self, &o);
}

static PyObject *plan_repr(PyObject *self) {
    const tcgemm_problem_t *const p = &((plan_t *)self)->first->problem;
    tcgemm_plan_info_t i = {.struct_size = sizeof i};
    if (tcgemm_plan_get_info(((plan_t *)self)->first->plan, &i) != TCGEMM_STATUS_OK)
        i.kernel = "?";
    return PyUnicode_FromFormat("<tcgemm.Plan %s, %lld x %lld x %lld, batch %lld, kernel %s>",
                                tcgemm_type_info(p->type)->name, (long long)p->m, (long long)p->n,
                                (long long)p->k, (long long)p->batch, i.kernel);
}

/* ---- making one, and making it again ---- */

static PyObject *shape_tuple(const operand_t *x) {
    PyObject *const tuple = PyTuple_New(x->ndim);
    for (int i = 0; tuple && i < x->ndim; ++i)
        PyTuple_SetItem(tuple, i, PyLong_FromSsize_t(x->own_shape[i]));
    return tuple;
}

static int set_item(PyObject *dict, const char *name, PyObject *value) { /* steals value */
    const int result = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return result;
}

/* The keyword arguments without arrays: the shapes stand for them. */
static PyObject *arguments_of(const state_t *state, PyObject *const *found, const operand_t *a,
                              const operand_t *b, tcgemm_type_t type) {
    PyObject *const dict = PyDict_New();
    PyObject *const sa = shape_tuple(a), *const sb = shape_tuple(b);
    bool failed = !dict || !sa || !sb;
    for (int key = 0; !failed && key < NUM_KEYS; ++key)
        if (found[key] && key != KEY_C && key != KEY_OUT && key != KEY_SHAPE && key != KEY_TYPE)
            failed = PyDict_SetItem(dict, state->keys[key], found[key]) < 0;
    if (!failed)
        failed = set_item(dict, "shape", PyTuple_Pack(2, sa, sb)) < 0 ||
                 set_item(dict, "type", PyUnicode_FromString(tcgemm_type_info(type)->name)) < 0;
    Py_XDECREF(sa);
    Py_XDECREF(sb);
    if (!failed)
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *plan_reduce(PyObject *self, PyObject *none) {
    plan_t *const plan = (plan_t *)self;
    (void)none;
    PyObject *const functools = PyImport_ImportModule("functools");
    PyObject *const partial = functools ? PyObject_GetAttrString(functools, "partial") : NULL;
    PyObject *const maker = PyObject_GetAttrString(plan->module, "plan");
    PyObject *const args = maker ? PyTuple_Pack(1, maker) : NULL;
    PyObject *const call = partial && args ? PyObject_Call(partial, args, plan->arguments) : NULL;
    Py_XDECREF(functools);
    Py_XDECREF(partial);
    Py_XDECREF(maker);
    Py_XDECREF(args);
    return call ? Py_BuildValue("(N())", call) : NULL;
}

static int read_extents(PyObject *tuple, operand_t *x) {
    const Py_ssize_t ndim = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (ndim < 0 || ndim > MAX_DIMS) {
        PyErr_Format(PyExc_TypeError, "shape of %s is %R, not a tuple of sizes", x->name, tuple);
        return -1;
    }
    x->ndim = (int)ndim;
    for (Py_ssize_t i = 0; i < ndim; ++i) {
        x->own_shape[i] = PyLong_AsSsize_t(PyTuple_GetItem(tuple, i));
        if (x->own_shape[i] == -1 && PyErr_Occurred())
            return -1;
        if (x->own_shape[i] < 0) {
            PyErr_Format(PyExc_ValueError, "shape of %s is %R", x->name, tuple);
            return -1;
        }
    }
    return 0;
}

static void set_pair(operand_t *x, Py_ssize_t rows, Py_ssize_t cols, bool is_transposed) {
    x->ndim = 2;
    x->own_shape[0] = is_transposed ? cols : rows;
    x->own_shape[1] = is_transposed ? rows : cols;
}

/* (m, n, k), or the shapes of a and b. */
static int read_shapes(PyObject *shape, const call_t *call, operand_t *a, operand_t *b) {
    const Py_ssize_t count = PyTuple_Check(shape) ? PyTuple_Size(shape) : 0;
    Py_ssize_t m, n, k;
    if (count == 2)
        return read_extents(PyTuple_GetItem(shape, 0), a) < 0
                   ? -1
                   : read_extents(PyTuple_GetItem(shape, 1), b);
    if (count != 3) {
        PyErr_Format(PyExc_TypeError, "shape is %R: use (m, n, k), or the shapes of a and b",
                     shape);
        return -1;
    }
    if (!PyArg_ParseTuple(shape, "nnn;shape is (m, n, k)", &m, &n, &k))
        return -1;
    if (m < 0 || n < 0 || k < 0) {
        PyErr_Format(PyExc_ValueError, "shape is %R, but no size is negative", shape);
        return -1;
    }
    set_pair(a, m, k, call->trans_a);
    set_pair(b, k, n, call->trans_b);
    return 0;
}

/* Operands that have a shape and a dtype, and stand at addresses that overlap nothing. */
static int stand_in(PyObject *shape, const call_t *call, operand_t *a, operand_t *b) {
    static const uintptr_t at[] = {(uintptr_t)1 << 44, (uintptr_t)1 << 45};
    operand_t *const sides[] = {a, b};
    if (call->options.type == 0) {
        PyErr_SetString(PyExc_TypeError, "a plan for a shape needs type=, such as \"f32_f32\"");
        return -1;
    }
    const tcgemm_type_info_t *const type = tcgemm_type_info((tcgemm_type_t)call->options.type);
    if (read_shapes(shape, call, a, b) < 0)
        return -1;
    for (int i = 0; i < 2; ++i) {
        operand_t *const x = sides[i];
        x->dtype = (int)(i == 0 ? type->a : type->b);
        x->is_packed = tcgemm_dtype_bits((tcgemm_dtype_t)x->dtype) < 8;
        x->itemsize = tcpy_itemsize(x->dtype);
        x->data = (char *)at[i];
        tcpy_own_strides(x);
    }
    return 0;
}

static plan_t *new_plan(PyObject *module, state_t *state) {
    plan_t *const plan = PyObject_New(plan_t, state->plan_type);
    if (!plan)
        return NULL;
    plan->state = state;
    plan->module = Py_NewRef(module);
    plan->arguments = NULL;
    plan->first = NULL;
    memset(&plan->fast, 0, sizeof plan->fast);
    plan->vectorcall = plan_call;
    return plan;
}

static void set_plan(plan_t *plan, const call_t *call, bool has_beta, const operand_t *a,
                     const operand_t *b) {
    plan->options = call->options;
    plan->trans_a = call->trans_a;
    plan->trans_b = call->trans_b;
    plan->alpha = call->alpha;
    plan->beta = call->beta;
    plan->has_beta = has_beta;
    plan->type = (tcgemm_type_t)call->options.type;
    plan->a_ndim = a->ndim;
    plan->b_ndim = b->ndim;
    memcpy(plan->a_shape, a->own_shape, sizeof plan->a_shape);
    memcpy(plan->b_shape, b->own_shape, sizeof plan->b_shape);
}

enum {
    OF_PLAN = 1 << KEY_SCALE_A | 1 << KEY_SCALE_B | 1 << KEY_C | 1 << KEY_ALPHA | 1 << KEY_BETA |
              1 << KEY_OUT | 1 << KEY_TYPE | 1 << KEY_TRANS_A | 1 << KEY_TRANS_B |
              1 << KEY_ACCURACY | 1 << KEY_REPRODUCIBLE | 1 << KEY_XOR | 1 << KEY_ALGO |
              1 << KEY_KERNEL | 1 << KEY_TILE | 1 << KEY_DEVICE | 1 << KEY_GPU | 1 << KEY_THREADS |
              1 << KEY_SHAPE
};

static int read_arguments(state_t *state, PyObject *const *args, Py_ssize_t count, PyObject *names,
                          PyObject **found, call_t *call) {
    if (count == 1 || count > 3) {
        PyErr_Format(PyExc_TypeError, "plan() takes a, b and perhaps c, or shape=, not %zd arrays",
                     count);
        return -1;
    }
    if (count == 3 && args[2] != Py_None)
        found[KEY_C] = args[2];
    if (tcpy_match_keywords(state, "plan", names, args + count, OF_PLAN, found) < 0)
        return -1;
    if ((count == 0) != (found[KEY_SHAPE] != NULL)) {
        PyErr_SetString(PyExc_TypeError, "plan() takes either arrays or shape=");
        return -1;
    }
    if (count > 0) {
        call->a = args[0];
        call->b = args[1];
        return tcpy_read_call(state, found, call);
    }
    PyObject *const beta = found[KEY_BETA]; /* of calls that will have c */
    found[KEY_BETA] = NULL;
    const int failed = tcpy_read_call(state, found, call);
    found[KEY_BETA] = beta;
    return failed || (beta && tcpy_read_scalar("beta", beta, &call->beta) < 0) ? -1 : 0;
}

static PyObject *read_and_plan(PyObject *module, PyObject *const *args, Py_ssize_t count,
                               PyObject *names) {
    state_t *const state = PyModule_GetState(module);
    PyObject *found[NUM_KEYS] = {NULL};
    operand_t a, b;
    layout_t layout;
    call_t call = {.a = NULL};
    if (read_arguments(state, args, count, names, found, &call) < 0)
        return NULL;
    tcpy_operand_init(&a, "a");
    tcpy_operand_init(&b, "b");
    if (count == 0 && stand_in(found[KEY_SHAPE], &call, &a, &b) < 0)
        return NULL;
    if (tcpy_plan_layout(state, &call, &a, &b, &layout) < 0)
        return NULL;
    plan_t *const plan = new_plan(module, state);
    if (!plan)
        return NULL;
    set_plan(plan, &call, found[KEY_BETA] != NULL, &a, &b);
    plan->arguments = arguments_of(state, found, &a, &b, plan->type);
    const tcgemm_status_t status =
        plan->arguments ? tcpy_make_plan(&plan->options, &layout.problem, 0, &plan->first)
                        : TCGEMM_STATUS_OK;
    if (plan->first)
        return (PyObject *)plan;
    if (!PyErr_Occurred())
        tcpy_raise(state, status);
    Py_DECREF(plan);
    return NULL;
}

PyObject *tcpy_plan(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    PyObject *result;
    TCPY_BEGIN(module)
    result = read_and_plan(module, args, count, names);
    TCPY_END
    return result;
}

static PyMethodDef plan_methods[] = {
    {"describe", (PyCFunction)(void (*)(void))plan_describe, METH_VARARGS | METH_KEYWORDS,
     "describe($self, /, format='text')\n--\n\nWhat the plan will do, as a page of text or as "
     "JSON."},
    {"explain", (PyCFunction)(void (*)(void))plan_explain, METH_VARARGS | METH_KEYWORDS,
     "explain($self, /, format='text', picture=None, scheme='auto', width=0, id=None)\n--\n\n"
     "The plan drawn: 'svg' (one picture), 'html' (a page), 'html_part', 'json' or 'text'."},
    {"estimates", plan_estimates, METH_NOARGS,
     "estimates($self, /)\n--\n\nWhat the planner's model expects of each kernel that could do "
     "this, the best first."},
    {"_repr_html_", plan_repr_html, METH_NOARGS, "The pictures, for a notebook."},
    {"__reduce__", plan_reduce, METH_NOARGS, "Pickled as its problem, planned anew on arrival."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef plan_getset[] = {
    {"info", plan_info, NULL, "What the run will do, as a dictionary.", NULL},
    {"problem", plan_problem, NULL, "The problem of the library, as a dictionary.", NULL},
    {"type", plan_type_name, NULL, "The name of the type, such as 'f32_f32'.", NULL},
    {"kernel", plan_kernel, NULL, "The name of the kernel.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

/* In the limited API since 3.12, but understood by the type machinery since 3.9. */
#ifndef Py_TPFLAGS_HAVE_VECTORCALL
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
#endif

static PyMemberDef plan_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(plan_t, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot plan_slots[] = {{Py_tp_dealloc, plan_dealloc},
                                   {Py_tp_call, plan_tp_call},
                                   {Py_tp_repr, plan_repr},
                                   {Py_tp_methods, plan_methods},
                                   {Py_tp_getset, plan_getset},
                                   {Py_tp_members, plan_members},
                                   {Py_tp_doc, "A product that is planned once and run often: "
                                               "plan(a, b, c=None, *, alpha, beta, out, stream)."},
                                   {0, NULL}};

PyType_Spec tcpy_plan_spec = {.name = "tcgemm.Plan",
                              .basicsize = sizeof(plan_t),
                              .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                       Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
                              .slots = plan_slots};
