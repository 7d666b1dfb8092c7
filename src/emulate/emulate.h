/* emulate.h - the one door of the emulator: a kernel of src/gpu, compiled for the host, is run as a
 * GPU would run it, one fiber a thread.
 *
 * A loadable module (tcgemm/emulate-sm<cc>.so) holds the machine and every kernel as it is compiled
 * for one architecture; both are found by name with dlsym. The library opens it when the data path
 * of a GPU row is simulated (sim/emulated.c). What is checked, and what is modelled: machine.h.
 */
#ifndef TCGEMM_EMULATE_EMULATE_H
#define TCGEMM_EMULATE_EMULATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TCGEMM_EMULATE_READ = 1, /* a kernel may ... */
    TCGEMM_EMULATE_WRITE = 2,
    TCGEMM_EMULATE_ONCE = 4,  /* every byte is written once at most */
    TCGEMM_EMULATE_TWICE = 8, /* ... twice at most; */
    TCGEMM_EMULATE_WORDS = 16 /* read words of four bytes that an element lies in */
};

/* A matrix in global memory, or with one line any piece of it: `batch` items `stride` apart of
 * `lines` lines `pitch` apart of `width`, all in bytes. What lies between is out of bounds. */
typedef struct tcgemm_emulate_region {
    const char *name;       /* "A" */
    const char *line, *col; /* what its lines and columns are: "rows", "k" */
    void *base;
    int64_t width, lines, pitch, batch, stride;
    int element_bytes;
    unsigned flags;
    uint8_t *written; /* or NULL: [batch][lines][width], how often (255: so often and more) */
    int64_t bytes_read, bytes_written;
} tcgemm_emulate_region_t;

/* Which warp, and which block, goes first while several could. Barriers, races and copies are
 * checked in all of them alike. */
typedef enum tcgemm_emulate_order {
    TCGEMM_EMULATE_FIRST = 0, /* warp 0 runs until it waits, ... */
    TCGEMM_EMULATE_LAST,
    TCGEMM_EMULATE_RANDOM,
    TCGEMM_EMULATE_STARVED, /* a warp and a block chosen by the seed run when nobody else can */
    TCGEMM_EMULATE_NUM_ORDERS
} tcgemm_emulate_order_t;

/* One line without newline; not 0: no more lines. */
typedef int tcgemm_emulate_trace_fn(void *user, const char *line);

typedef struct tcgemm_emulate_launch {
    size_t struct_size;
    void *kernel;           /* dlsym of its name */
    const void *parameters; /* more than 32 bytes: one struct; else up to 4 of 8 bytes */
    size_t parameter_bytes;
    uint32_t grid, block; /* blocks; threads of one, whole warps */
    size_t smem_bytes;    /* dynamic */
    uint32_t ranks; /* blocks of a cluster, up to 8, that divide the grid; 0, 1: no clusters */
    tcgemm_emulate_region_t *regions;
    int num_regions; /* 0: global memory is not checked */
    tcgemm_emulate_order_t order;
    uint64_t seed;
    tcgemm_emulate_trace_fn *trace; /* or NULL */
    void *trace_user;
    /* What came of it. */
    int trace_was_stopped;
    int64_t num_faults;
    char fault[240]; /* the first, in words */
    int64_t num_products;
    int64_t num_macs;      /* of products and of fused multiply-adds */
    int64_t num_fma;       /* of these */
    int64_t shared_reads;  /* bytes */
    int64_t operand_reads; /* elements that products took from registers */
} tcgemm_emulate_launch_t;

/* Runs all blocks. 0: they ran, and num_faults says how; 1: no memory; 2: what is asked for is not
 * a launch (threads, shared memory, struct_size). One launch at a time: others wait. */
#define TCGEMM_EMULATE_RUN "tcgemm_emulate_run"
typedef int tcgemm_emulate_run_fn(tcgemm_emulate_launch_t *launch);
tcgemm_emulate_run_fn tcgemm_emulate_run;

#ifdef __cplusplus
}
#endif

#endif
