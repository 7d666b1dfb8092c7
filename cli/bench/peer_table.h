/* peer_table.h - the libraries that `bench` can run beside ours, and what it calls in them.
 *
 * The one place to add a peer: a library is a row, what it multiplies a list of routines. All of
 * them are opened at run time; nothing here is linked. */
#ifndef CLI_PEER_TABLE_H
#define CLI_PEER_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "tcgemm/tcgemm.h"

/* How a routine is called. */
typedef enum peer_call {
    CALL_FLOAT,      /* cblas_sgemm: alpha and beta are float */
    CALL_DOUBLE,     /* cblas_dgemm */
    CALL_HALF,       /* cblas_hgemm: alpha and beta are the bits of an f16 */
    CALL_OFFSETS,    /* cblas_gemm_s8u8s32: offsets of A, B and C, which we leave at 0 */
    CALL_DNNL,       /* dnnl_sgemm: characters for the transposes, rows only */
    CALL_DNNL_BYTES, /* dnnl_gemm_s8s8s32 */
    CALL_DNNL_MATMUL /* a primitive of oneDNN, made for one problem */
} peer_call_t;

typedef struct peer_routine {
    tcgemm_type_t type;
    peer_call_t call;
    const char *symbol;
    const char *label; /* behind the library's name in the column `peer` */
} peer_routine_t;

typedef enum peer_threads { THREADS_INT, THREADS_LONG } peer_threads_t;
typedef enum peer_version {
    VERSION_TEXT,
    VERSION_BUFFER,
    VERSION_DNNL,
    VERSION_NONE
} peer_version_t;

enum { PEER_MAX_FILES = 4, PEER_MAX_ROUTINES = 16 };

typedef struct peer_library {
    const char *name;
    const char *files[PEER_MAX_FILES]; /* what to open for the name, in this order */
    const char *package;               /* where to find it, for the sentence that it is not there */
    const char *mark;            /* a symbol that no other library has: whose file a path names */
    const char *prefix, *suffix; /* of every symbol */
    bool long_sizes;             /* sizes are 64-bit */
    const char *set_threads;     /* called with the number of threads */
    peer_threads_t threads;
    const char *version;
    peer_version_t version_kind;
    /* Those of a type in the order in which they are tried. */
    const peer_routine_t *routines;
    size_t num_routines;
} peer_library_t;

/* The last one is any library with the CBLAS interface, and has no name. */
extern const peer_library_t peer_libraries[];
extern const size_t num_peer_libraries;

#endif
