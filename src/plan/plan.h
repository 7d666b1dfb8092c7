/* plan.h - what a plan is made of: the problem, the kernel row, and the steps of a run.
 *
 *     split of k, 8191 odd elements a row:
 *
 *       PACK_A    A ------------> workspace        rows on 16-byte boundaries
 *       PACK_B    B ------------> workspace
 *       PRODUCT   both ---------> workspace        sums of the parts of k, side by side
 *       REDUCE    sums, C ------> D                added in order, alpha, beta, rounded once
 *
 * Where the tiles of D are some more than fill the SMs once, or twice ..., the last rows of D (or
 * columns) are a tail, whose k is split, so that all SMs have their share of it:
 *
 *       PRODUCT   A, B ---------> D                whole rounds of tiles
 *       PRODUCT   A, B ---------> workspace        the tail
 *       REDUCE    sums, C ------> D
 *
 * Most plans have the PRODUCT alone. describe, explain and estimate print these very steps.
 */
#ifndef TCGEMM_PLAN_PLAN_H
#define TCGEMM_PLAN_PLAN_H

#include "device/facts.h"
#include "problem/canonical.h"
#include "table/family.h"
#include "table/table.h"

enum { TCGEMM_MAX_STEPS = 5 };

typedef enum tcgemm_step_kind {
    TCGEMM_STEP_PACK_A,
    TCGEMM_STEP_PACK_B,
    TCGEMM_STEP_PRODUCT,
    TCGEMM_STEP_REDUCE
} tcgemm_step_kind_t;

/* Where a matrix of a step lies. */
typedef enum tcgemm_home {
    TCGEMM_HOME_A, /* the caller's, in the places of the canonical problem */
    TCGEMM_HOME_B,
    TCGEMM_HOME_D,
    TCGEMM_HOME_WORKSPACE
} tcgemm_home_t;

typedef struct tcgemm_view {
    tcgemm_home_t home;
    size_t offset;       /* bytes, of one in the workspace */
    tcgemm_operand_t at; /* its dtype and strides */
} tcgemm_view_t;

/* Rows and columns of D. */
typedef struct tcgemm_area {
    int64_t row, rows, col, cols;
} tcgemm_area_t;

/* The launch of a step on a GPU; functions are filled in by tcgemm_gpu_prepare. */
typedef struct tcgemm_gpu_launch {
    uint32_t raster_group; /* tile rows of D that are swept together (tile/raster.h) */
    void *function;        /* CUfunction */
    int64_t grid_blocks;
    int registers;     /* per thread */
    size_t smem_bytes; /* per block, static and dynamic */
    int blocks_per_sm; /* that can be resident */
} tcgemm_gpu_launch_t;

typedef struct tcgemm_step {
    tcgemm_step_kind_t kind;
    const tcgemm_kernel_t *kernel; /* the row whose code multiplies; NULL for the others */
    tcgemm_view_t a, b;            /* what is read: A and B; what is packed or reduced in a */
    tcgemm_view_t d;               /* what is written */
    tcgemm_area_t area;            /* of D that it stands for; views are of whole matrices, but for
                                    * sums in the workspace, which are those of the area */
    int splits;                    /* of k: part s of item t is item t * splits + s of d */
    int64_t split_k;               /* elements of k in each part but the last */
    bool joins;                    /* the launch of the step ahead, which packs the other operand */
    int ranks;     /* blocks of a cluster that share a part of k and sum it up; 1: there are none */
    bool in_pairs; /* blocks, one below the other, that fetch each block of B together */
    tcgemm_gpu_launch_t gpu;
    size_t written_bytes; /* all items and parts of k */
    double seconds;       /* that it is expected to take */
} tcgemm_step_t;

typedef struct tcgemm_steps {
    int count;
    tcgemm_step_t step[TCGEMM_MAX_STEPS];
    size_t workspace_bytes;
    double seconds;
} tcgemm_steps_t;

/* How the CPU back end cuts the problem. The loops, from the outside in:
 *
 *     columns of D in steps of nc            one packed panel of B: kc x nc
 *       k in steps of kc
 *         rows of D in steps of mt           one packed panel of A: mt x kc
 *           blocks of mc x nb                the unit of work that a thread takes
 *             register tiles of mr x nr
 */
typedef enum tcgemm_dots_of {
    TCGEMM_DOTS_NONE,
    TCGEMM_DOTS_ROWS,   /* of D are few: their lines are columns of B */
    TCGEMM_DOTS_COLUMNS /* of D are few: their lines are rows of A */
} tcgemm_dots_of_t;

enum { TCGEMM_MOST_UNITS_APART = 256 }; /* one for each thread (packs_both) */

typedef struct tcgemm_cpu_blocking {
    int64_t mc, kc, nc, mt, nb;
    bool pack_a;      /* false: A is read in place */
    bool pack_b;      /* false: B is read in place */
    bool packs_units; /* B's panels are packed by who takes the unit: no other one needs them ... */
    int64_t kb;       /* ... and so many elements of k at a time: multiplied from the cache */
    bool packs_both;  /* who takes a unit packs its A, too, and all elements of k of a block: there
                       * is one for each thread, and nobody waits for panels or fetches them */
    tcgemm_dots_of_t dots; /* few rows or columns: no operand is packed but the small one */
    bool across;           /* the lines of the other one lie across k, else along it */
    bool inner;            /* both lie along k: lanes of k are summed at the end */
    bool dots_in_lanes;    /* by the kernel's own lanes, matrix tiles or pairs; else as f32, f64 */
    bool is_crowded;       /* they share few sets of the first-level cache, ... */
    bool is_roomy;         /* ... or it has ways for as many as are read at once, ... */
    bool is_spread;        /* ... and they lie in many, and prefetchers do not follow them */
    int64_t lines;         /* of them in a unit of work */
    bool fetches;          /* the larger operand lies beyond the caches: it is fetched ahead */
    bool copies_b;         /* B's panels are left by the first row of tiles, which reads B where it
                            * lies: of one thread, or of a unit that packs them */
    bool stores_parts;     /* rows of D that end within a vector, by some plain stores, with AVX2 */
    bool packs_a_late;     /* A's panels of a row of units when the row begins: by one thread, where
                            * those of the last row were, in a cache near it */
    bool overlaps;         /* panels of the next step are packed while this one is multiplied */
    bool split_batch;      /* each thread computes whole items of the batch */
    int64_t
        small_rows; /* of a tile, where items are of one block and one thread: no units; else 0 */
    int64_t small_steps; /* lanes along k of such items */
    bool small_by_rows;  /* their tiles go along the rows of D, not down its columns */
    bool small_a_lines;  /* A^T and ... */
    bool small_b_rows;   /* ... B are packed as lines across k, not as panels */
    bool small_turned; /* they are of D's transposed, whose rows become columns, if there is no C */
    bool direct_output; /* true: tiles are stored straight into D; false: through f32 sums */
} tcgemm_cpu_blocking_t;

struct tcgemm_plan {
    tcgemm_problem_t problem; /* the caller's */
    tcgemm_canonical_t g;
    const tcgemm_kernel_t *kernel; /* the row that was chosen */
    int num_threads;
    int max_threads; /* that it was made for */
    const char *reason;
    const tcgemm_device_t *device; /* NULL: the CPU */
    tcgemm_cpu_blocking_t cpu;
    tcgemm_steps_t steps;
    tcgemm_steps_t if_unaligned; /* for pointers that are not on 16-byte boundaries; count 0: the
                                  * same steps serve */
    unsigned packs; /* TCGEMM_OPERAND_A or _B of the canonical problem: that is all it does; or 0 */
    void *scale;    /* CUfunction of D = beta * C */
};

/* The product as one step, which takes no time yet. */
tcgemm_step_t tcgemm_whole_product(const struct tcgemm_plan *plan);

/* ... and as the only one. */
tcgemm_steps_t tcgemm_single_step(const struct tcgemm_plan *plan, double seconds);

/* The step that multiplies; the first, if there is a tail. */
const tcgemm_step_t *tcgemm_plan_product(const struct tcgemm_plan *plan);

/* The step that multiplies the tail, or NULL. */
const tcgemm_step_t *tcgemm_plan_tail(const struct tcgemm_plan *plan);

/* The unit roundoff of its sums; 0 for exact types. */
double tcgemm_plan_sum_unit(const struct tcgemm_plan *plan);

/* Bytes of workspace for whichever steps a run takes. */
size_t tcgemm_plan_workspace(const struct tcgemm_plan *plan);

#endif
