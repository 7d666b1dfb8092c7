/* inspect.h - a plan taken apart: where its time and its bytes go, tile by tile, played on the CPU,
 * written and drawn.
 *
 * tcgemm.h includes it at its end; it may also be included by itself. The functions and structs
 * here may still change from version to version, unlike those of tcgemm.h.
 *
 * The tour: 12 occupancy   13 tiles of D      14 estimate     15 describe     16 the kernel table
 *           17 simulate    18 known GPUs      19 analysis     20 pictures
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

/* ---- 12b. Steps ---------------------------------------------------------------------------- */

/* One step of a plan, in the order of the run. Strings live as long as the library. */
typedef struct tcgemm_step_info {
    size_t struct_size;
    const char *name;     /* "pack A", "pack B", "product", "reduce" */
    const char *kernel;   /* of a product, the row whose code multiplies; else NULL */
    const char *reads[2]; /* "A", "B", "C" of the caller, "workspace", or NULL; C beside others is
                           * not named */
    const char *writes;   /* "D" or "workspace" */
    int64_t splits;       /* of a product, parts of k that are summed apart; of a reduction, parts
                           * that are added up, in order; else 1 */
    int64_t split_k;      /* elements of k in each part but the last */
    size_t written_bytes; /* all items and parts */
    double seconds;       /* that the model expects */
    int64_t row, rows;    /* of a product or reduction, the rows and columns of D that it stands */
    int64_t col, cols;    /* for: all, or those of the tail and of the rest; else 0 */
} tcgemm_step_info_t;

/* The steps of a plan: 1 to 5. If A or B do not lie on a 16-byte boundary of GPU memory, a plan may
 * take other packing steps than these; the bits of D are the same. 0 for a NULL plan. */
TCGEMM_API int tcgemm_plan_step_count(const tcgemm_plan_t *plan);

/* Fills `step` (set its struct_size first) for step 0 .. tcgemm_plan_step_count() - 1.
 * Returns OK or BAD_ARGUMENT. */
TCGEMM_API tcgemm_status_t tcgemm_plan_get_step(const tcgemm_plan_t *plan, int index,
                                                tcgemm_step_info_t *step);

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

#define TCGEMM_MAX_PARTS 8

/* What the planner's model expects of one kernel for a plan's problem, and where the time goes.
 * On the CPU: "pack", "multiply", "store" (D), "barrier" (threads waiting for one another). On a
 * GPU: "launch", "start" (first loads of each round of blocks), "wait" (what resident blocks do not
 * hide from one another), "multiply", "finish" (D), where they are needed "exposed" (what bytes and
 * products do not hide of one another, and the meetings of a pair) and "cluster" (the sums of a
 * cluster's blocks), and where the plan has such steps "pack" and "reduce", or "tail" (the last
 * rows or columns of D). The parts follow one another; beside those of the product (all but
 * "launch", "exposed", "cluster", "pack", "reduce" and "tail") the memory moves A, B and D, and if
 * that takes longer it decides. */
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

typedef enum tcgemm_format {
    TCGEMM_FORMAT_TEXT = 0,
    TCGEMM_FORMAT_JSON = 1,
    TCGEMM_FORMAT_SVG = 2,      /* one picture of section 20, a complete <svg> element */
    TCGEMM_FORMAT_HTML = 3,     /* a page with all pictures and tables, a file that loads nothing */
    TCGEMM_FORMAT_HTML_PART = 4 /* all pictures in a <div>, for a page of one's own or a notebook */
} tcgemm_format_t;

/* Writes the plan as a page of text or as one JSON object, NUL-terminated and cut to `size` bytes,
 * like snprintf; the other formats are tcgemm_plan_draw with its default options. Decimal points
 * are points in every locale. Returns the length of the whole, without the NUL; 0 for a NULL plan
 * or an unknown format. */
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
    int runnable;                   /* 1 if this machine can run it; for a GPU's row the first
                                     * such question wakes the driver */
    int64_t tile_m, tile_n, tile_k; /* the register tile, for a GPU the block tile; k per step */
    uint64_t types;                 /* bit (type - 1) is set if the row does that tcgemm_type_t */
    uint32_t needs_flags;           /* TCGEMM_FLAG_* without which a problem never gets the row */
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
    int64_t block_loads;  /* ... that warps read from what their block holds; DATA: the epilogue's
                           * sums included */
    int64_t warp_loads;   /* ... that instructions or threads read from what their warp holds */
    int64_t num_written;  /* elements of D; each must be written once */
    int64_t num_wrong;    /* that break the bound of section 9 */
    int64_t wrong_batch, wrong_row, wrong_col; /* the first of these, -1 if none */
    double wrong_got, wrong_expected;
    double max_ratio;   /* largest error as a fraction of its bound */
    int64_t num_faults; /* what is read but was not written, races, out of bounds, sums of other
                         * rows or columns, ... */
    char fault[240];    /* the first of these, in words; "" if none */
    double seconds;
} tcgemm_simulate_report_t;

/* Computes D = alpha * op(A) * op(B) + beta * C on the CPU as the plan's kernel would, tile by tile
 * down to `depth`, and compares every element with the reference. The plan may be for a GPU that is
 * not here. With TCGEMM_DEPTH_DATA a GPU row's own kernels run, compiled for the CPU, in an
 * emulator that is a module of its own (tcgemm/emulate-sm80.so beside the library, or in the folder
 * that the environment variable TCGEMM_EMULATOR names): a fiber a thread, poisoned shared memory of
 * the row's size, races and accesses out of bounds told, cp.async data as late as they may come.
 * CPU rows are followed element by element through the packed panels. `trace` (or NULL) is told who
 * loads and computes what. D must not be C. Fills `report` (set its struct_size first). Returns OK
 * - the verdict is report->num_faults == 0 and report->num_wrong == 0 -; the statuses of
 * tcgemm_run; TOO_LARGE beyond TCGEMM_SIMULATE_MAX_*; UNSUPPORTED if there is no emulator;
 * OUT_OF_MEMORY. D is undefined after OUT_OF_MEMORY, and after a fault. */
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

/* ---- 19. Analysis ------------------------------------------------------------------------- */

/* Fills `problem` (set its struct_size first) with what the plan was made for.
 * Returns OK or BAD_ARGUMENT. */
TCGEMM_API tcgemm_status_t tcgemm_plan_get_problem(const tcgemm_plan_t *plan,
                                                   tcgemm_problem_t *problem);

/* What a plan does not know: the scalars of the call, and what was measured of the CPU. For a GPU
 * the data sheet tells. */
typedef struct tcgemm_analysis_options {
    size_t struct_size;
    double alpha, beta;      /* with beta = 0 C is not read */
    double theoretical_peak; /* of tcgemm_measure_peak, for the plan's threads; 0: not known */
    double measured_peak;    /* the same */
    double bandwidth;        /* of the memory, bytes a second; 0: not known */
    double clock_hz;         /* of tcgemm_machine_get_info; 0: not known */
} tcgemm_analysis_options_t;

static inline tcgemm_analysis_options_t tcgemm_analysis_options(void) {
    tcgemm_analysis_options_t o;
    o.struct_size = sizeof o;
    o.alpha = 1;
    o.beta = 0;
    o.theoretical_peak = o.measured_peak = o.bandwidth = o.clock_hz = 0;
    return o;
}

/* What computes: SMs of a GPU, threads of the CPU. Unknown numbers are 0. */
typedef struct tcgemm_analysis_machine {
    char name[128];
    int is_gpu, is_here;
    int num_units;         /* SMs, or threads of the plan */
    double macs_per_clock; /* of one unit, for this type */
    double clock_hz;
    double peak; /* operations a second: 2 * units * macs * clock; measured if that is not known */
    int peak_is_measured;
    double bandwidth; /* of the memory, bytes a second */
    int bandwidth_is_measured;
    size_t l2_bytes, smem_sm_bytes, smem_block_bytes;
    int registers_per_sm, threads_per_sm;
} tcgemm_analysis_machine_t;

/* One level of the hierarchy, the outermost first. Elements of A and B move from the level above
 * into each tile of this one; D stays in the tile while k passes. */
typedef struct tcgemm_analysis_level {
    tcgemm_level_t tile;     /* name, home, m x n x k, how many in the whole problem */
    int64_t rows, cols;      /* tiles of it down and across one tile of the level above */
    double tile_bytes;       /* one step of k of A and B, at their stored size */
    double a_reads, b_reads; /* times each element of A (B) is read from the level above, in all */
    double a_bytes, b_bytes; /* moved into this level in the whole problem */
    double reuse;            /* multiply-adds for each byte of A and B that moves in */
} tcgemm_analysis_level_t;

#define TCGEMM_ANALYSIS_ESTIMATES 3

/* What a product does on its machine, worked out from its plan. */
typedef struct tcgemm_analysis {
    size_t struct_size;
    const tcgemm_plan_t *plan; /* must outlive the analysis */
    const tcgemm_type_info_t *type;
    tcgemm_problem_t problem;
    double alpha, beta;
    tcgemm_plan_info_t info;
    tcgemm_analysis_machine_t machine;
    tcgemm_occupancy_info_t occupancy; /* GPU */

    double eops;      /* elementary operations: m*k + (2k-1)*m*n + 2*m*n for each batch item */
    double flop;      /* operations: 2*m*n*k for each batch item */
    double bytes;     /* A, B and D once, and C if beta is not 0 */
    double intensity; /* flop / bytes */
    double balance;   /* peak / bandwidth: the intensity where the roofs meet */
    double multiply_floor, memory_floor; /* seconds at the peak, and at the bandwidth */
    int is_memory_bound;                 /* 1: the memory's floor is the higher one */

    int num_levels;
    tcgemm_analysis_level_t levels[TCGEMM_MAX_LEVELS];
    int64_t k_steps; /* of the block tile (CPU: the panel), for one tile of D */

    int num_estimates; /* the plan's own kernel, then the next best */
    tcgemm_estimate_t estimates[TCGEMM_ANALYSIS_ESTIMATES];
} tcgemm_analysis_t;

/* Fills `analysis` (set its struct_size first); `options` may be NULL. Measures nothing.
 * Returns OK, BAD_ARGUMENT, or for a GPU the statuses of tcgemm_device_get_info. */
TCGEMM_API tcgemm_status_t tcgemm_plan_analyze(const tcgemm_plan_t *plan,
                                               const tcgemm_analysis_options_t *options,
                                               tcgemm_analysis_t *analysis);

/* ---- 20. Pictures ------------------------------------------------------------------------- */

/* The pictures by number, 0 .. tcgemm_picture_count() - 1: "blocks" (how they map to D), "warps"
 * (inside a block), "walk" (along k), "edges", "memory" (bytes from level to level), "roofline";
 * and a line that says what each shows. NULL beyond. Static storage. */
TCGEMM_API int tcgemm_picture_count(void);
TCGEMM_API const char *tcgemm_picture_name(int index);
TCGEMM_API const char *tcgemm_picture_caption(int index);

typedef enum tcgemm_scheme {
    TCGEMM_SCHEME_AUTO = 0, /* as the reader's browser asks for */
    TCGEMM_SCHEME_LIGHT = 1,
    TCGEMM_SCHEME_DARK = 2
} tcgemm_scheme_t;

typedef struct tcgemm_draw_options {
    size_t struct_size;
    tcgemm_format_t format;
    const char *picture;    /* SVG: its name; NULL: "blocks". The HTML formats hold all of them */
    tcgemm_scheme_t scheme; /* colours of the SVG and HTML_PART formats */
    int width;              /* of a picture in pixels, 100 .. 10000; 0: 900. Heights follow */
    const char *id; /* letters, digits, '-' and '_': begins the ids within, which must differ for
                     * two drawings of one page; NULL: none */
    const tcgemm_analysis_options_t *analysis; /* NULL: the defaults */
} tcgemm_draw_options_t;

static inline tcgemm_draw_options_t tcgemm_draw_options(tcgemm_format_t format) {
    tcgemm_draw_options_t o;
    o.struct_size = sizeof o;
    o.format = format;
    o.picture = NULL;
    o.scheme = TCGEMM_SCHEME_AUTO;
    o.width = 0;
    o.id = NULL;
    o.analysis = NULL;
    return o;
}

/* Draws the plan, NUL-terminated and cut to `size` bytes, like snprintf: ask for the length with a
 * NULL buffer first. The same plan and options give the same bytes. As HTML_PART at most 60000
 * bytes; a complete page is larger. As JSON, the analysis that the pictures show, an object of
 * schema "tcgemm.explain/1".
 *
 *     tcgemm_draw_options_t o = tcgemm_draw_options(TCGEMM_FORMAT_SVG);
 *     o.picture = "roofline";
 *     size_t length = tcgemm_plan_draw(plan, &o, NULL, 0);
 *     char *svg = malloc(length + 1);
 *     tcgemm_plan_draw(plan, &o, svg, length + 1);
 *
 * Returns the length of the whole in UTF-8, without the NUL; 0 for a NULL plan, wrong options, or
 * what tcgemm_plan_analyze refuses: tcgemm_last_error() then says why. */
TCGEMM_API size_t tcgemm_plan_draw(const tcgemm_plan_t *plan, const tcgemm_draw_options_t *options,
                                   char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* TCGEMM_INSPECT_H */
