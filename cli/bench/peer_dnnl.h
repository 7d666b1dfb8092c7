/* peer_dnnl.h - the matmul primitive of oneDNN, whose interface changed between versions 2 and 3;
 * both are spoken. */
#ifndef CLI_PEER_DNNL_H
#define CLI_PEER_DNNL_H

#include <stdbool.h>
#include <stddef.h>

#include "tcgemm/tcgemm.h"

typedef struct dnnl dnnl_t;
typedef struct dnnl_product dnnl_product_t;

/* On a library that dlopen has opened. NULL if it lacks a function or does not start. */
dnnl_t *dnnl_open(void *handle);
void dnnl_close(dnnl_t *dnnl); /* NULL is fine */

/* "3.2.1", by the function dnnl_version. */
void dnnl_version_text(void *function, char *text, size_t size);

/* D = op(A)*op(B) of a problem that was placed. NULL if the library cannot. */
dnnl_product_t *dnnl_product(const dnnl_t *dnnl, const tcgemm_problem_t *problem);
void dnnl_product_free(dnnl_product_t *product); /* NULL is fine */
bool dnnl_product_run(dnnl_product_t *product, const void *a, const void *b, void *d);

#endif
