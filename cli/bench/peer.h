/* peer.h - another library on the CPU, opened at run time so that nothing here depends on it.
 *
 *     peer_t *peer = peer_open("mkl", why);              by its name in peer_table.h, or the path
 * of a library peer_set_threads(peer, 4); peer_product_t *product = peer_product(peer, &problem, 1,
 * 0); peer_product_run(product, a, b, d);                as often as one likes */
#ifndef CLI_PEER_H
#define CLI_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "tcgemm/tcgemm.h"

enum { PEER_WHY_SIZE = 200, PEER_LABEL_SIZE = 64 };

typedef struct peer peer_t;                 /* the library */
typedef struct peer_product peer_product_t; /* one problem */

/* Opens a library by a name of the table, or by a path (it has a slash); NULL with a clause in
 * `why` if it is not there, not known or lacks what it takes. */
peer_t *peer_open(const char *name, char why[PEER_WHY_SIZE]);
void peer_close(peer_t *peer); /* NULL is fine */

/* "openblas"; of a path that nobody knows the file's name without "lib" and ".so". */
const char *peer_name(const peer_t *peer);

/* The characters of its longest label. */
int peer_label_width(const peer_t *peer);

/* "0.3.21 ... SkylakeX": what the library says of itself, or "". */
const char *peer_version(const peer_t *peer);

/* False if it has no such call. */
bool peer_set_threads(peer_t *peer, int threads);

/* D = alpha*op(A)*op(B) + beta*D, for each item of the batch. Where the library lacks the type its
 * f32 stands in (but not for f64), on data of f32 in the same layout. NULL if neither will do. The
 * problem is one that was placed; the peer must outlive the product. */
peer_product_t *peer_product(peer_t *peer, const tcgemm_problem_t *problem, double alpha,
                             double beta);
void peer_product_free(peer_product_t *product); /* NULL is fine */

/* The problem that it computes: the one it was made for, or the same in f32. */
const tcgemm_problem_t *peer_product_problem(const peer_product_t *product);

/* "openblas sgemm" */
const char *peer_product_label(const peer_product_t *product);

/* False if the library refuses. */
bool peer_product_run(const peer_product_t *product, const void *a, const void *b, void *d);

#endif
