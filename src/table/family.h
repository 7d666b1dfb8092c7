/* family.h - kernels that share a plan: one folder, one line of families.def.
 *
 *     src/gpu/families/<name>/   rows.def   its tiles: kernels and the kernel table come from there
 *                                shape.h    what follows from a tile: threads, shared memory
 *                                family.c   this struct
 *                                *.cuh, .cu the kernels and their story
 */
#ifndef TCGEMM_TABLE_FAMILY_H
#define TCGEMM_TABLE_FAMILY_H

#include "device/facts.h"
#include "table/table.h"

struct tcgemm_canonical;
struct tcgemm_plan;

typedef struct tcgemm_kernel_family {
    const char *algo; /* by which plan_options.algo names its rows; several may share one */
    const tcgemm_kernel_t *rows;
    int num_rows;
    const char *fallback; /* the algo that takes its place where no row of its own fits, or NULL */
    bool by_name_only;    /* never the planner's own choice */

    /* True if the machine - a GPU, or with NULL this processor - has what the row needs. */
    bool (*fits)(const tcgemm_kernel_t *row, const tcgemm_device_t *device);

    /* False for problems beyond what the row can count or address; NULL: it takes all. */
    bool (*takes)(const tcgemm_kernel_t *row, const struct tcgemm_canonical *g);
    const char *takes_what; /* "... takes <what>", where takes is not NULL */

    /* Fills in the steps of the plan for this row: what packs, multiplies and reduces, the
     * workspace that they need and the time that they take, for plan->max_threads threads of the
     * CPU or for plan->device. All else of the plan is complete. */
    void (*expand)(const tcgemm_kernel_t *row, struct tcgemm_plan *plan);

    /* Multiply-adds a cycle of the row on this processor, in a product of such sizes; NULL:
     * macs_per_cycle. */
    double (*rate)(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan);

    /* The time that expand would predict. NULL: rows are ranked by their rates. */
    double (*predict)(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan);

    /* For rows that predict: no more than that time, but known much sooner; of products with
     * elements. */
    double (*bound)(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan);
} tcgemm_kernel_family_t;

#define FAMILY(name) extern const tcgemm_kernel_family_t tcgemm_family_##name;
#include "table/families.def"

#endif
