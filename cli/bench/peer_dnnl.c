/* peer_dnnl.c - memory descriptors by strides say any layout; a primitive is made once for a
 * problem. */
#include "bench/peer_dnnl.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/layout.h"

/* The numbers of dnnl_types.h; they are its binary interface. */
enum {
    KIND_CPU = 1,
    STREAM_IN_ORDER = 1,
    ARG_SRC = 1,
    ARG_WEIGHTS = 33,
    ARG_DST = 17,
    TYPE_F16 = 1,
    TYPE_BF16 = 2,
    TYPE_F32 = 3,
    TYPE_S32 = 4,
    TYPE_S8 = 5,
    TYPE_U8 = 6,
    TYPE_F64 = 7,
    TYPE_E5M2 = 9,
    TYPE_E4M3 = 10,
};

/* Version 2 fills structs that the caller owns: 696 bytes for a memory, 2800 for a matmul in 2.6.
 */
enum { MEMORY_DESC_BYTES = 4096, MATMUL_DESC_BYTES = 16384, MAX_DIMS = 12 };

typedef struct argument {
    int name;
    void *memory;
} argument_t;

struct dnnl {
    void *engine, *stream;
    int (*engine_create)(void **engine, int kind, size_t index);
    int (*engine_destroy)(void *engine);
    int (*stream_create)(void **stream, void *engine, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*stream_wait)(void *stream);
    int (*primitive_create)(void **primitive, const void *desc);
    int (*primitive_destroy)(void *primitive);
    int (*primitive_desc_destroy)(void *desc);
    int (*memory_create)(void **memory, const void *desc, void *engine, void *data);
    int (*memory_destroy)(void *memory);
    int (*set_data)(void *memory, void *data);
    int (*execute)(const void *primitive, void *stream, int count, const argument_t *arguments);
    /* Version 3: */
    int (*memory_desc_create)(void **desc, int num_dims, const int64_t *dims, int type,
                              const int64_t *strides);
    int (*memory_desc_destroy)(void *desc);
    int (*matmul_create)(void **desc, void *engine, const void *a, const void *b, const void *bias,
                         const void *d, const void *attributes);
    /* Version 2: */
    int (*memory_desc_init)(void *desc, int num_dims, const int64_t *dims, int type,
                            const int64_t *strides);
    int (*matmul_init)(void *desc, const void *a, const void *b, const void *bias, const void *d);
    int (*desc_create)(void **desc, const void *operation, const void *attributes, void *engine,
                       const void *hint);
};

struct dnnl_product {
    const dnnl_t *dnnl;
    void *descs[3]; /* of A, B and D */
    void *primitive;
    void *memories[3];
};

/* ISO C has no cast from an object pointer to a function pointer; POSIX promises equal bits. */
static bool find(void *handle, const char *name, void *function) {
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_all(dnnl_t *d, void *handle) {
    if (!find(handle, "dnnl_engine_create", &d->engine_create) ||
        !find(handle, "dnnl_engine_destroy", &d->engine_destroy) ||
        !find(handle, "dnnl_stream_create", &d->stream_create) ||
        !find(handle, "dnnl_stream_destroy", &d->stream_destroy) ||
        !find(handle, "dnnl_stream_wait", &d->stream_wait) ||
        !find(handle, "dnnl_primitive_create", &d->primitive_create) ||
        !find(handle, "dnnl_primitive_destroy", &d->primitive_destroy) ||
        !find(handle, "dnnl_primitive_desc_destroy", &d->primitive_desc_destroy) ||
        !find(handle, "dnnl_memory_create", &d->memory_create) ||
        !find(handle, "dnnl_memory_destroy", &d->memory_destroy) ||
        !find(handle, "dnnl_memory_set_data_handle", &d->set_data) ||
        !find(handle, "dnnl_primitive_execute", &d->execute))
        return false;
    if (find(handle, "dnnl_memory_desc_create_with_strides", &d->memory_desc_create) &&
        find(handle, "dnnl_memory_desc_destroy", &d->memory_desc_destroy) &&
        find(handle, "dnnl_matmul_primitive_desc_create", &d->matmul_create))
        return true;
    d->matmul_create = NULL;
    return find(handle, "dnnl_memory_desc_init_by_strides", &d->memory_desc_init) &&
           find(handle, "dnnl_matmul_desc_init", &d->matmul_init) &&
           find(handle, "dnnl_primitive_desc_create", &d->desc_create);
}

dnnl_t *dnnl_open(void *handle) {
    dnnl_t *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    if (find_all(d, handle) && d->engine_create(&d->engine, KIND_CPU, 0) == 0 &&
        d->stream_create(&d->stream, d->engine, STREAM_IN_ORDER) == 0)
        return d;
    dnnl_close(d);
    return NULL;
}

void dnnl_close(dnnl_t *d) {
    if (!d)
        return;
    if (d->stream)
        (void)d->stream_destroy(d->stream);
    if (d->engine)
        (void)d->engine_destroy(d->engine);
    free(d);
}

void dnnl_version_text(void *function, char *text, size_t size) {
    const int *(*version)(void); /* of a struct that begins with major, minor and patch */
    memcpy(&version, &function, sizeof version);
    const int *numbers = version();
    (void)snprintf(text, size, "%d.%d.%d", numbers[0], numbers[1], numbers[2]);
}

/* ---- one problem ---- */

/* The library's name of a dtype, or 0. */
static int type_of(tcgemm_dtype_t dtype) {
    switch (dtype) {
    case TCGEMM_DTYPE_F64:
        return TYPE_F64;
    case TCGEMM_DTYPE_F32:
        return TYPE_F32;
    case TCGEMM_DTYPE_F16:
        return TYPE_F16;
    case TCGEMM_DTYPE_BF16:
        return TYPE_BF16;
    case TCGEMM_DTYPE_E4M3:
        return TYPE_E4M3;
    case TCGEMM_DTYPE_E5M2:
        return TYPE_E5M2;
    case TCGEMM_DTYPE_S32:
        return TYPE_S32;
    case TCGEMM_DTYPE_S8:
        return TYPE_S8;
    case TCGEMM_DTYPE_U8:
        return TYPE_U8;
    case TCGEMM_DTYPE_S4:
    case TCGEMM_DTYPE_U4:
    case TCGEMM_DTYPE_B1:
        break;
    }
    return 0;
}

/* The matrix op(X) of `rows` x `cols`: of one step along a column or row of X as it is stored. */
static bool describe(dnnl_product_t *product, int index, const tcgemm_problem_t *p, char operand,
                     tcgemm_op_t op) {
    const dnnl_t *d = product->dnnl;
    const layout_t x = layout_of(p, operand);
    const bool by_rows = (x.order == TCGEMM_ROW_MAJOR) != (op == TCGEMM_OP_T);
    const bool is_batch = p->batch > 1;
    int64_t dims[MAX_DIMS] = {p->batch};
    int64_t strides[MAX_DIMS] = {x.stride};
    int64_t *const sizes = dims + is_batch;
    int64_t *const steps = strides + is_batch;
    sizes[0] = op == TCGEMM_OP_T ? x.cols : x.rows;
    sizes[1] = op == TCGEMM_OP_T ? x.rows : x.cols;
    steps[0] = by_rows ? x.ld : 1;
    steps[1] = by_rows ? 1 : x.ld;
    const int type = type_of(x.dtype);
    if (type == 0)
        return false;
    if (d->matmul_create)
        return d->memory_desc_create(&product->descs[index], 2 + is_batch, dims, type, strides) ==
               0;
    product->descs[index] = calloc(1, MEMORY_DESC_BYTES);
    return product->descs[index] &&
           d->memory_desc_init(product->descs[index], 2 + is_batch, dims, type, strides) == 0;
}

static bool make_primitive(dnnl_product_t *product) {
    const dnnl_t *d = product->dnnl;
    void **const x = product->descs;
    void *desc = NULL;
    bool good;
    if (d->matmul_create)
        good = d->matmul_create(&desc, d->engine, x[0], x[1], NULL, x[2], NULL) == 0;
    else {
        void *operation = calloc(1, MATMUL_DESC_BYTES);
        good = operation && d->matmul_init(operation, x[0], x[1], NULL, x[2]) == 0 &&
               d->desc_create(&desc, operation, NULL, d->engine, NULL) == 0;
        free(operation);
    }
    good = good && d->primitive_create(&product->primitive, desc) == 0;
    if (desc)
        (void)d->primitive_desc_destroy(desc);
    for (int i = 0; i < 3 && good; ++i)
        good = d->memory_create(&product->memories[i], x[i], d->engine, NULL) == 0;
    return good;
}

dnnl_product_t *dnnl_product(const dnnl_t *dnnl, const tcgemm_problem_t *p) {
    dnnl_product_t *product = calloc(1, sizeof *product);
    if (!product)
        return NULL;
    product->dnnl = dnnl;
    if (p->m > 0 && p->n > 0 && p->k > 0 && p->batch > 0 && describe(product, 0, p, 'A', p->op_a) &&
        describe(product, 1, p, 'B', p->op_b) && describe(product, 2, p, 'D', TCGEMM_OP_N) &&
        make_primitive(product))
        return product;
    dnnl_product_free(product);
    return NULL;
}

void dnnl_product_free(dnnl_product_t *product) {
    if (!product)
        return;
    const dnnl_t *d = product->dnnl;
    for (int i = 0; i < 3; ++i)
        if (product->memories[i])
            (void)d->memory_destroy(product->memories[i]);
    if (product->primitive)
        (void)d->primitive_destroy(product->primitive);
    for (int i = 0; i < 3; ++i) {
        if (d->matmul_create && product->descs[i])
            (void)d->memory_desc_destroy(product->descs[i]);
        else
            free(product->descs[i]);
    }
    free(product);
}

/* The interface has no const; A and B are only read. */
bool dnnl_product_run(dnnl_product_t *product, const void *a, const void *b, void *d) {
    const dnnl_t *dnnl = product->dnnl;
    void *const *x = product->memories;
    const argument_t arguments[3] = {{ARG_SRC, x[0]}, {ARG_WEIGHTS, x[1]}, {ARG_DST, x[2]}};
    return dnnl->set_data(x[0], (void *)(uintptr_t)a) == 0 &&
           dnnl->set_data(x[1], (void *)(uintptr_t)b) == 0 && dnnl->set_data(x[2], d) == 0 &&
           dnnl->execute(product->primitive, dnnl->stream, 3, arguments) == 0 &&
           dnnl->stream_wait(dnnl->stream) == 0;
}
