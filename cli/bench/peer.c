/* peer.c - finds the routines of a library and calls them. */
#include "bench/peer.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peer_dnnl.h"
#include "bench/peer_table.h"
#include "files/layout.h"

enum { SYMBOL_SIZE = 64 };

struct peer {
    void *handle;
    const peer_library_t *library;
    char name[PEER_LABEL_SIZE];
    char version[160];
    void *set_threads;                 /* NULL: it has no such call */
    void *routines[PEER_MAX_ROUTINES]; /* of library->routines; NULL: this version lacks it */
    dnnl_t *dnnl;                      /* what primitives take */
};

struct peer_product {
    const peer_t *peer;
    const peer_routine_t *routine;
    void *function;
    tcgemm_problem_t problem;
    double alpha, beta;
    dnnl_product_t *matmul;
    char label[PEER_LABEL_SIZE];
};

/* ---- the library ---- */

static void *find(void *handle, const peer_library_t *library, const char *name) {
    char symbol[SYMBOL_SIZE];
    (void)snprintf(symbol, sizeof symbol, "%s%s%s", library->prefix, name, library->suffix);
    return dlsym(handle, symbol);
}

/* ISO C has no cast from an object pointer to a function pointer; POSIX promises equal bits. */
#define FUNCTION(type, variable, pointer)                                                          \
    type *variable;                                                                                \
    memcpy(&variable, &(void *){pointer}, sizeof variable)

typedef char *text_t(void);
typedef void buffer_t(char *text, int size);
typedef void set_int_t(int threads);
typedef void set_long_t(int64_t threads);

static void read_version(peer_t *peer) {
    const peer_library_t *library = peer->library;
    void *symbol = library->version ? find(peer->handle, library, library->version) : NULL;
    if (!symbol)
        return;
    if (library->version_kind == VERSION_TEXT) {
        FUNCTION(text_t, get, symbol);
        (void)snprintf(peer->version, sizeof peer->version, "%s", get());
    } else if (library->version_kind == VERSION_BUFFER) {
        FUNCTION(buffer_t, get, symbol);
        get(peer->version, (int)sizeof peer->version - 1);
    } else if (library->version_kind == VERSION_DNNL) {
        dnnl_version_text(symbol, peer->version, sizeof peer->version);
    }
    size_t length = strlen(peer->version);
    while (length > 0 && peer->version[length - 1] == ' ')
        peer->version[--length] = '\0';
}

/* "libfoo.so.3" is "foo". */
static void name_file(peer_t *peer, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    file += strncmp(file, "lib", 3) == 0 ? 3 : 0;
    const char *end = strstr(file, ".so");
    (void)snprintf(peer->name, sizeof peer->name, "%.*s", end ? (int)(end - file) : 40, file);
}

/* What the peer takes of the library. False if there is nothing to multiply with. */
static bool take_routines(peer_t *peer) {
    const peer_library_t *library = peer->library;
    bool any = false;
    for (size_t i = 0; i < library->num_routines; ++i) {
        peer->routines[i] = find(peer->handle, library, library->routines[i].symbol);
        any |= peer->routines[i] != NULL;
    }
    peer->set_threads = find(peer->handle, library, library->set_threads);
    if (library->version_kind == VERSION_DNNL)
        peer->dnnl = dnnl_open(peer->handle);
    read_version(peer);
    return any;
}

static const peer_library_t *library_of_name(const char *name) {
    for (size_t i = 0; i < num_peer_libraries; ++i)
        if (peer_libraries[i].name && strcmp(peer_libraries[i].name, name) == 0)
            return &peer_libraries[i];
    return NULL;
}

static const peer_library_t *library_of_file(void *handle) {
    for (size_t i = 0; i < num_peer_libraries; ++i)
        if (dlsym(handle, peer_libraries[i].mark))
            return &peer_libraries[i];
    return NULL;
}

static bool open_name(peer_t *peer, const char *name, char why[PEER_WHY_SIZE]) {
    char known[PEER_WHY_SIZE / 2] = "";
    peer->library = library_of_name(name);
    for (size_t i = 0; !peer->library && i + 1 < num_peer_libraries; ++i)
        (void)snprintf(known + strlen(known), sizeof known - strlen(known), "%s, ",
                       peer_libraries[i].name);
    if (!peer->library) {
        (void)snprintf(why, PEER_WHY_SIZE, "'%.40s' is none of %sa path of a library", name, known);
        return false;
    }
    for (int i = 0; i < PEER_MAX_FILES && peer->library->files[i] && !peer->handle; ++i)
        peer->handle = dlopen(peer->library->files[i], RTLD_NOW | RTLD_LOCAL);
    (void)snprintf(peer->name, sizeof peer->name, "%s", name);
    if (!peer->handle)
        (void)snprintf(why, PEER_WHY_SIZE,
                       "%s is not installed (%s), or not where the loader looks (LD_LIBRARY_PATH)",
                       peer->library->files[0], peer->library->package);
    return peer->handle != NULL;
}

static bool open_path(peer_t *peer, const char *path, char why[PEER_WHY_SIZE]) {
    peer->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!peer->handle) {
        (void)snprintf(why, PEER_WHY_SIZE, "%.190s", dlerror());
        return false;
    }
    peer->library = library_of_file(peer->handle);
    if (!peer->library) {
        (void)snprintf(why, PEER_WHY_SIZE, "%.120s has no cblas_sgemm", path);
        return false;
    }
    name_file(peer, path);
    return true;
}

peer_t *peer_open(const char *name, char why[PEER_WHY_SIZE]) {
    peer_t *peer = calloc(1, sizeof *peer);
    (void)snprintf(why, PEER_WHY_SIZE, "no memory");
    if (!peer)
        return NULL;
    if (strchr(name, '/') ? open_path(peer, name, why) : open_name(peer, name, why)) {
        if (take_routines(peer))
            return peer;
        (void)snprintf(why, PEER_WHY_SIZE, "%s lacks %s%s%s", peer->name, peer->library->prefix,
                       peer->library->routines[0].symbol, peer->library->suffix);
    }
    peer_close(peer);
    return NULL;
}

/* The library stays open: its threads may still be on their way to sleep. */
void peer_close(peer_t *peer) {
    if (peer)
        dnnl_close(peer->dnnl);
    free(peer);
}

const char *peer_name(const peer_t *peer) {
    return peer->name;
}

int peer_label_width(const peer_t *peer) {
    size_t longest = 0;
    for (size_t i = 0; i < peer->library->num_routines; ++i) {
        const size_t length = peer->routines[i] ? strlen(peer->library->routines[i].label) : 0;
        longest = length > longest ? length : longest;
    }
    return (int)(strlen(peer->name) + 1 + longest);
}

const char *peer_version(const peer_t *peer) {
    return peer->version;
}

bool peer_set_threads(peer_t *peer, int threads) {
    if (!peer->set_threads)
        return false;
    if (peer->library->threads == THREADS_LONG) {
        FUNCTION(set_long_t, set, peer->set_threads);
        set(threads);
    } else {
        FUNCTION(set_int_t, set, peer->set_threads);
        set(threads);
    }
    return true;
}

/* ---- one product ---- */

/* Whether the interface can say the problem at all. */
static bool can_say(const peer_t *peer, const peer_routine_t *routine, const tcgemm_problem_t *p,
                    double alpha, double beta) {
    const bool by_rows = p->order == TCGEMM_ROW_MAJOR;
    if (p->flags & ~(TCGEMM_FLAG_REPRODUCIBLE | TCGEMM_FLAG_ADDS_C))
        return false;
    switch (routine->call) {
    case CALL_OFFSETS:
        if (by_rows != (routine->type == TCGEMM_U8S8_S32))
            return false;
        break;
    case CALL_DNNL:
    case CALL_DNNL_BYTES:
        return by_rows;
    case CALL_DNNL_MATMUL:
        return alpha == 1 && beta == 0;
    case CALL_FLOAT:
    case CALL_DOUBLE:
    case CALL_HALF:
        break;
    }
    return peer->library->long_sizes ||
           (p->m <= INT_MAX && p->n <= INT_MAX && p->k <= INT_MAX &&
            layout_of(p, 'A').ld <= INT_MAX && layout_of(p, 'B').ld <= INT_MAX &&
            layout_of(p, 'D').ld <= INT_MAX);
}

/* With the first of its routines for the problem's type. */
static bool choose_routine(peer_product_t *product) {
    const peer_t *peer = product->peer;
    const peer_library_t *library = peer->library;
    for (size_t i = 0; i < library->num_routines; ++i) {
        const peer_routine_t *routine = &library->routines[i];
        if (routine->type != product->problem.type || !peer->routines[i] ||
            !can_say(peer, routine, &product->problem, product->alpha, product->beta))
            continue;
        if (routine->call == CALL_DNNL_MATMUL) {
            product->matmul = peer->dnnl ? dnnl_product(peer->dnnl, &product->problem) : NULL;
            if (!product->matmul)
                continue;
        }
        product->routine = routine;
        product->function = peer->routines[i];
        (void)snprintf(product->label, sizeof product->label, "%.40s %s", peer->name,
                       routine->label);
        return true;
    }
    return false;
}

peer_product_t *peer_product(peer_t *peer, const tcgemm_problem_t *problem, double alpha,
                             double beta) {
    peer_product_t *product = calloc(1, sizeof *product);
    if (!product)
        return NULL;
    *product = (peer_product_t){.peer = peer, .problem = *problem, .alpha = alpha, .beta = beta};
    if (choose_routine(product))
        return product;
    tcgemm_problem_t *p = &product->problem;
    const layout_t lines[3] = {layout_of(p, 'A'), layout_of(p, 'B'), layout_of(p, 'D')};
    p->flags &= TCGEMM_FLAG_REPRODUCIBLE;
    p->type = TCGEMM_F32_F32;
    if (problem->type != TCGEMM_F64_F64 &&
        layout_place(p, lines[0].ld - lines[0].length) == TCGEMM_STATUS_OK &&
        choose_routine(product))
        return product;
    peer_product_free(product);
    return NULL;
}

void peer_product_free(peer_product_t *product) {
    if (product)
        dnnl_product_free(product->matmul);
    free(product);
}

const tcgemm_problem_t *peer_product_problem(const peer_product_t *product) {
    return &product->problem;
}

const char *peer_product_label(const peer_product_t *product) {
    return product->label;
}

/* What the calls of the BLAS family take, for one item of the batch. */
typedef struct arguments {
    const peer_product_t *product;
    int order, op_a, op_b; /* cblas.h's numbers */
    int64_t m, n, k, lda, ldb, ldd;
    const void *a, *b;
    void *d;
} arguments_t;

/* The function takes its sizes as int or as int64_t. */
#define CALL_WITH(size_t_, scalar_t_, alpha, beta)                                                 \
    do {                                                                                           \
        typedef void call_t(int, int, int, size_t_, size_t_, size_t_, scalar_t_, const void *,     \
                            size_t_, const void *, size_t_, scalar_t_, void *, size_t_);           \
        FUNCTION(call_t, call, x->product->function);                                              \
        call(x->order, x->op_a, x->op_b, (size_t_)x->m, (size_t_)x->n, (size_t_)x->k, alpha, x->a, \
             (size_t_)x->lda, x->b, (size_t_)x->ldb, beta, x->d, (size_t_)x->ldd);                 \
    } while (0)

static void call_float(const arguments_t *x) {
    if (x->product->peer->library->long_sizes)
        CALL_WITH(int64_t, float, (float)x->product->alpha, (float)x->product->beta);
    else
        CALL_WITH(int, float, (float)x->product->alpha, (float)x->product->beta);
}

static void call_double(const arguments_t *x) {
    if (x->product->peer->library->long_sizes)
        CALL_WITH(int64_t, double, x->product->alpha, x->product->beta);
    else
        CALL_WITH(int, double, x->product->alpha, x->product->beta);
}

static void call_half(const arguments_t *x) {
    uint16_t alpha;
    uint16_t beta;
    (void)tcgemm_convert(TCGEMM_DTYPE_F16, &alpha, TCGEMM_DTYPE_F64, &x->product->alpha, 1);
    (void)tcgemm_convert(TCGEMM_DTYPE_F16, &beta, TCGEMM_DTYPE_F64, &x->product->beta, 1);
    CALL_WITH(int, uint16_t, alpha, beta);
}

static void call_offsets(const arguments_t *x) {
    enum { ONE_OFFSET_FOR_ALL = 173 };
    typedef void call_t(int order, int op_a, int op_b, int offset, int m, int n, int k, float alpha,
                        const void *a, int lda, int8_t a_offset, const void *b, int ldb,
                        int8_t b_offset, float beta, int32_t *c, int ldc, const int32_t *c_offset);
    FUNCTION(call_t, call, x->product->function);
    const int32_t none = 0;
    call(x->order, x->op_a, x->op_b, ONE_OFFSET_FOR_ALL, (int)x->m, (int)x->n, (int)x->k,
         (float)x->product->alpha, x->a, (int)x->lda, 0, x->b, (int)x->ldb, 0,
         (float)x->product->beta, x->d, (int)x->ldd, &none);
}

static bool call_dnnl(const arguments_t *x, tcgemm_op_t op_a, tcgemm_op_t op_b) {
    typedef int call_t(char op_a, char op_b, int64_t m, int64_t n, int64_t k, float alpha,
                       const void *a, int64_t lda, const void *b, int64_t ldb, float beta, void *c,
                       int64_t ldc);
    FUNCTION(call_t, call, x->product->function);
    return call(op_a == TCGEMM_OP_T ? 'T' : 'N', op_b == TCGEMM_OP_T ? 'T' : 'N', x->m, x->n, x->k,
                (float)x->product->alpha, x->a, x->lda, x->b, x->ldb, (float)x->product->beta, x->d,
                x->ldd) == 0;
}

static bool call_dnnl_bytes(const arguments_t *x, tcgemm_op_t op_a, tcgemm_op_t op_b) {
    typedef int call_t(char op_a, char op_b, char offset, int64_t m, int64_t n, int64_t k,
                       float alpha, const void *a, int64_t lda, int a_offset, const void *b,
                       int64_t ldb, int b_offset, float beta, int32_t *c, int64_t ldc,
                       const int32_t *c_offset);
    FUNCTION(call_t, call, x->product->function);
    const int32_t none = 0;
    return call(op_a == TCGEMM_OP_T ? 'T' : 'N', op_b == TCGEMM_OP_T ? 'T' : 'N', 'F', x->m, x->n,
                x->k, (float)x->product->alpha, x->a, x->lda, 0, x->b, x->ldb, 0,
                (float)x->product->beta, x->d, x->ldd, &none) == 0;
}

static bool run_item(const arguments_t *x) {
    const tcgemm_problem_t *p = &x->product->problem;
    switch (x->product->routine->call) {
    case CALL_FLOAT:
        call_float(x);
        break;
    case CALL_DOUBLE:
        call_double(x);
        break;
    case CALL_HALF:
        call_half(x);
        break;
    case CALL_OFFSETS:
        call_offsets(x);
        break;
    case CALL_DNNL:
        return call_dnnl(x, p->op_a, p->op_b);
    case CALL_DNNL_BYTES:
        return call_dnnl_bytes(x, p->op_a, p->op_b);
    case CALL_DNNL_MATMUL:
        return false; /* takes the whole batch */
    }
    return true;
}

bool peer_product_run(const peer_product_t *product, const void *a, const void *b, void *d) {
    const tcgemm_problem_t *p = &product->problem;
    if (product->matmul)
        return dnnl_product_run(product->matmul, a, b, d);
    const layout_t la = layout_of(p, 'A');
    const layout_t lb = layout_of(p, 'B');
    const layout_t ld = layout_of(p, 'D');
    arguments_t x = {.product = product,
                     .order = p->order == TCGEMM_ROW_MAJOR ? 101 : 102,
                     .op_a = p->op_a == TCGEMM_OP_T ? 112 : 111,
                     .op_b = p->op_b == TCGEMM_OP_T ? 112 : 111,
                     .m = p->m,
                     .n = p->n,
                     .k = p->k,
                     .lda = la.ld,
                     .ldb = lb.ld,
                     .ldd = ld.ld};
    const int64_t size_a = tcgemm_dtype_bits(la.dtype) / 8;
    const int64_t size_b = tcgemm_dtype_bits(lb.dtype) / 8;
    const int64_t size_d = tcgemm_dtype_bits(ld.dtype) / 8;
    bool good = true;
    for (int64_t t = 0; t < p->batch && good; ++t) {
        x.a = (const char *)a + t * la.stride * size_a;
        x.b = (const char *)b + t * lb.stride * size_b;
        x.d = (char *)d + t * ld.stride * size_d;
        good = run_item(&x);
    }
    return good;
}
