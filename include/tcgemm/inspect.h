/* inspect.h - a plan taken apart: where its time and its bytes go, tile by tile, played on the CPU,
 * and written.
 *
 * tcgemm.h includes it at its end; it may also be included by itself. The functions and structs
 * here may still change from version to version, unlike those of tcgemm.h.
 *
 * The tour: 12 occupancy   13 tiles of D      14 estimate     15 describe     16 the kernel table
 *           17 simulate    18 known GPUs
 */
#ifndef TCGEMM_INSPECT_H
#define TCGEMM_INSPECT_H

#include "tcgemm/tcgemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 12. Occupancy ------------------------------------------------------------------------- */

/* Blocks that an SM can hold by each of its limits; the least of them are resident. */
typedef struct tcgemm_occupancy_info {
    size_t struct_size;
    int blocks;            /* resident */
    int by_threads;        /* threads of an SM / threads of a block, ... */
    int by_registers;      /* ... registers, ... */
    int by_smem;           /* ... shared memory, ... */
    int by_slots;          /* ... and the blocks that an SM keeps track of */
    int warps, most_warps; /* resident, and as many as an SM can hold */
} tcgemm_occupancy_info_t;

/* Fills `info` (set its struct_size first) for a plan for a GPU. Returns OK or BAD_ARGUMENT. */
TCGEMM_API tcgemm_status_t tcgemm_plan_get_occupancy(const tcgemm_plan_t *plan,
                                                     tcgemm_occupancy_info_t *info);

/* ---- 13. Tiles of D ------------------------------------------------------------------------ */

/* One tile of D as a plan shares it out: what a GPU block computes, or what a thread of the CPU
 * takes at a time. Tiles at the edges are as small as what is left. */
typedef struct tcgemm_tile_info {
    size_t struct_size;
    int64_t index;      /* in the order in which they are begun, from 0, within a batch item */
    int64_t row, col;   /* of D: of its first element, ... */
    int64_t rows, cols; /* ... and its extent */
    int64_t panel;      /* CPU: tiles of one panel of A and B, 0, 1, ...; 0 for a GPU */
} tcgemm_tile_info_t;

/* Tiles of one batch item, which the next item's follow; 0 if D has no elements. */
TCGEMM_API int64_t tcgemm_plan_tile_count(const tcgemm_plan_t *plan);

/* Fills `tile` (set its struct_size first) for the index-th tile.
 * Returns OK, BAD_ARGUMENT, or TOO_LARGE (2^31 tiles of a GPU and more). */
TCGEMM_API tcgemm_status_t tcgemm_plan_get_tile(const tcgemm_plan_t *plan, int64_t index,
                                                tcgemm_tile_info_t *tile);

/* The same for the tile that holds element (row, col) of D. */
TCGEMM_API tcgemm_status_t tcgemm_plan_find_tile(const tcgemm_plan_t *plan, int64_t row,
                                                 int64_t col, tcgemm_tile_info_t *tile);

/* ---- 14. Estimate -------------------------------------------------------------------------- */

#define TCGEMM_MAX_PARTS 6

/* What the planner's model expects of one kernel for a plan's problem, and where the time goes.
 * On the CPU: "pack", "multiply", "store" (D), "meet" (threads waiting for one another). On a GPU:
 * "launch", "start" (first loads of each round of blocks), "wait" (what resident blocks do not hide
 * from one another), "multiply", "finish" (D). The parts follow one another; beside them the memory
 * moves A, B and D, and if that takes longer it decides. */
typedef struct tcgemm_estimate {
    size_t struct_size;
    const char *kernel, *algo;
    int64_t tile_m, tile_n, tile_k; /* as tcgemm_kernel_info_t */
    double seconds;                 /* of the whole product */
    int num_parts;
    struct {
        const char *name;
        double seconds;
    } parts[TCGEMM_MAX_PARTS];
    double memory_seconds;  /* GPU: the bytes through the memory; 0 for the CPU */
    double tile_efficiency; /* m * n * k / the same of whole tiles */
    double rounds;          /* GPU: of resident blocks; 0 for the CPU */
    double wave_efficiency; /* tiles / (tiles of the busiest SM or thread x their number) */
} tcgemm_estimate_t;

/* The kernels that could do the plan's problem where it is to run, the reference left out. */
TCGEMM_API int tcgemm_plan_estimate_count(const tcgemm_plan_t *plan);

/* Fills `estimate` (set its struct_size first) for the kernel of rank 0, the least time, to
 * tcgemm_plan_estimate_count() - 1. Returns OK or BAD_ARGUMENT. */
TCGEMM_API tcgemm_status_t tcgemm_plan_get_estimate(const tcgemm_plan_t *plan, int rank,
                                                    tcgemm_estimate_t *estimate);

/* ---- 15. Describe -------------------------------------------------------------------------- */

typedef enum tcgemm_format { TCGEMM_FORMAT_TEXT = 0, TCGEMM_FORMAT_JSON = 1 } tcgemm_format_t;

/* Writes the plan as a page of text or as one JSON object, NUL-terminated and cut to `size` bytes,
 * like snprintf. Returns the length of the whole, without the NUL; 0 for a NULL plan. */
TCGEMM_API size_t tcgemm_plan_describe(const tcgemm_plan_t *plan, tcgemm_format_t format,
                                       char *buffer, size_t size);

/* ---- 16. The kernel table ------------------------------------------------------------------ */

/* One row of the kernel table. Strings live as long as the library. */
typedef struct tcgemm_kernel_info {
    size_t struct_size;
    const char *name;               /* computed from the row */
    const char *algo;               /* its family */
    const char *isa;                /* the instruction set it needs, "any" if none; "sm_80" */
    const char *device;             /* "cpu" or "gpu" */
    int runnable;                   /* 1 if this machine can run it */
    int64_t tile_m, tile_n, tile_k; /* the register tile, for a GPU the block tile; k per step */
    uint64_t types;                 /* bit (type - 1) is set if the row does that tcgemm_type_t */
} tcgemm_kernel_info_t;

TCGEMM_API int tcgemm_kernel_count(void);

/* Fills `info` (set its struct_size first) for row 0 .. tcgemm_kernel_count()-1.
 * Returns OK or BAD_ARGUMENT. */
TCGEMM_API tcgemm_status_t tcgemm_kernel_get_info(int index, tcgemm_kernel_info_t *info);

/* ---- 17. Simulate -------------------------------------------------------------------------- */

/* How far down a simulation follows the hierarchy. The first three are loop nests over tiles; the
 * last plays the kernel itself, through the index functions that host and device share. */
typedef enum tcgemm_depth {
    TCGEMM_DEPTH_BLOCKS = 1,  /* for tiles of D, for steps of k: the tile of one thread block */
    TCGEMM_DEPTH_WARPS = 2,   /* ... for the tiles of its warps, in steps of k of their own */
    TCGEMM_DEPTH_THREADS = 3, /* ... for the tiles of instructions or threads */
    TCGEMM_DEPTH_DATA = 4     /* memory, ring of shared memory or packed panels, fragments, D */
} tcgemm_depth_t;

/* Tiles of any size, in elements: they need divide neither each other nor the problem; what sticks
 * out is cut off. The tile of D of a block is bm x bn and moves along k by bk, and so on inwards.
 *
 *     +---------+---+         block bm x bn x bk        order of the blocks (`group` = 2):
 *     | warp    |   |           warp wm x wn x wk           0 2 4    down the rows of a group,
 *     | +--+--+ |   |             thread tm x tn x tk       1 3 5    then to the right
 *     +-+--+--+-+---+                                       6 7 8 */
typedef struct tcgemm_tiles {
    size_t struct_size;
    int64_t bm, bn, bk;
    int64_t wm, wn, wk;
    int64_t tm, tn, tk;
    int64_t group; /* rows of blocks that are swept together; 0: 1 */
} tcgemm_tiles_t;

/* Block, warp and thread tiles all alike: change what differs. */
static inline tcgemm_tiles_t tcgemm_tiles(int64_t m, int64_t n, int64_t k) {
    tcgemm_tiles_t t;
    t.struct_size = sizeof t;
    t.bm = t.wm = t.tm = m;
    t.bn = t.wn = t.tn = n;
    t.bk = t.wk = t.tk = k;
    t.group = 1;
    return t;
}

/* The tiles of a plan, as its kernel walks them: m and n of the kernel's D, which for a
 * column-major problem is D^T. For the CPU a block is a unit of work with kc steps of k, a warp
 * one panel of B, a thread a register tile. Fills `tiles` (set its struct_size first).
 * Returns OK or BAD_ARGUMENT. */
TCGEMM_API tcgemm_status_t tcgemm_plan_get_tiles(const tcgemm_plan_t *plan, tcgemm_tiles_t *tiles);

/* Receives one line of a trace, without its newline; the line is gone on return. Two spaces for
 * each level of the hierarchy. Not 0: no more lines. */
typedef int tcgemm_trace_fn(void *user, const char *line);

/* The most that a simulation takes on, some seconds' worth: multiply-adds, padding not counted
 * (645^3); elements of D (4096^2); and, for the data path of a GPU, which walks through the
 * padding, too, tiles of D times k. */
#define TCGEMM_SIMULATE_MAX_MACS     (INT64_C(1) << 28)
#define TCGEMM_SIMULATE_MAX_ELEMENTS (INT64_C(1) << 24)
#define TCGEMM_SIMULATE_MAX_TILE_K   (INT64_C(1) << 19)

typedef struct tcgemm_simulate_report {
    size_t struct_size;
    tcgemm_depth_t depth;
    int64_t num_blocks;   /* tiles of D, of all items of the batch */
    int64_t num_steps;    /* of k, of all blocks */
    int64_t num_warps;    /* tiles of warps, of all blocks and steps of k; DATA: of all blocks */
    int64_t num_products; /* tiles of instructions or threads that were multiplied */
    int64_t num_macs;     /* multiply-adds of them; DATA: padding included */
    int64_t memory_loads; /* elements of A and B that blocks read from memory */
    int64_t block_loads;  /* ... that warps read from what their block holds */
    int64_t warp_loads;   /* ... that instructions or threads read from what their warp holds */
    int64_t num_written;  /* elements of D; each must be written once */
    int64_t num_wrong;    /* that break the bound of section 9 */
    int64_t wrong_batch, wrong_row, wrong_col; /* the first of these, -1 if none */
    double wrong_got, wrong_expected;
    double max_ratio;   /* largest error as a fraction of its bound */
    int64_t num_faults; /* of index arithmetic: what is read but was not written, products of
                         * unequal k, sums of other rows or columns, ... */
    char fault[240];    /* the first of these, in words; "" if none */
    double seconds;
} tcgemm_simulate_report_t;

/* Computes D = alpha * op(A) * op(B) + beta * C on the CPU as the plan's kernel would, tile by tile
 * down to `depth`, and compares every element with the reference. The plan may be for a GPU that is
 * not here. With TCGEMM_DEPTH_DATA each element is followed from memory to D by its name: through
 * the copies into a poisoned shared memory of the row's size, cp.async groups and barriers, the
 * fragments of each lane, the instruction's layout and the epilogue; for CPU rows through the
 * packed panels. `trace` (or NULL) is told who loads and computes what. D must not be C. Fills
 * `report` (set its struct_size first). Returns OK - the verdict is report->num_faults == 0 and
 * report->num_wrong == 0 -; the statuses of tcgemm_run; TOO_LARGE beyond TCGEMM_SIMULATE_MAX_*;
 * UNSUPPORTED for the data path of a kernel that has no simulator; OUT_OF_MEMORY. D is undefined
 * after OUT_OF_MEMORY. */
TCGEMM_API tcgemm_status_t tcgemm_plan_simulate(const tcgemm_plan_t *plan, tcgemm_depth_t depth,
                                                double alpha, const void *a, const void *b,
                                                double beta, const void *c, void *d,
                                                tcgemm_trace_fn *trace, void *trace_user,
                                                tcgemm_simulate_report_t *report);

/* The first three depths with tiles of your own, without a plan. Returns what tcgemm_plan_simulate
 * returns, and BAD_ARGUMENT for a tile without elements or the depth DATA. */
TCGEMM_API tcgemm_status_t tcgemm_simulate_tiles(const tcgemm_problem_t *problem,
                                                 const tcgemm_tiles_t *tiles, tcgemm_depth_t depth,
                                                 double alpha, const void *a, const void *b,
                                                 double beta, const void *c, void *d,
                                                 tcgemm_trace_fn *trace, void *trace_user,
                                                 tcgemm_simulate_report_t *report);

/* ---- 18. Known GPUs ------------------------------------------------------------------------ */

/* GPUs that a context can plan for without having them, from data sheets: keys ("orin", "h200",
 * ...) for 0 .. tcgemm_known_gpu_count()-1, NULL beyond. */
TCGEMM_API int tcgemm_known_gpu_count(void);
TCGEMM_API const char *tcgemm_known_gpu_key(int index);

/* Fills `info` (set its struct_size first). Returns OK or BAD_ARGUMENT. */
TCGEMM_API tcgemm_status_t tcgemm_known_gpu_get_info(int index, tcgemm_device_info_t *info);

#ifdef __cplusplus
}
#endif

#endif /* TCGEMM_INSPECT_H */
