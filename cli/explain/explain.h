/* explain.h - what a product does on a machine, for the very plan that would run.
 *
 *     explain_facts.c    gathers the facts: problem, machine, peaks, hierarchy, times
 *     explain_text.c     a screen of text
 *     explain_data.c     the same as JSON, {"schema": "tcgemm.explain/1", ...}
 *     explain_svg.c      six pictures, one in each explain_svg_NAME.c
 *     explain_html.c     a page with the pictures; explain_explore.c: and one to step through k
 *     explain_files.c    both as files
 *     explain.c          the command
 */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "commands/options.h"
#include "tcgemm/tcgemm.h"

/* `tcgemm explain`. Returns an exit status. */
int command_explain(const settings_t *settings);

enum { EXPLAIN_MAX_ESTIMATES = 3 };

/* One level of the hierarchy, the outermost first. Elements of A and B move from the level above
 * into each tile of this one; D stays in the tile while k passes. */
typedef struct explain_level {
    tcgemm_level_t tile;     /* name, home, m x n x k, how many in the whole problem */
    int64_t rows, cols;      /* tiles of it down and across one tile of the level above */
    double tile_bytes;       /* one step of k of A and B, at their stored size */
    double a_reads, b_reads; /* times each element of A (B) is read from the level above, in all */
    double a_bytes, b_bytes; /* moved into this level in the whole problem */
    double reuse;            /* multiply-adds for each byte of A and B that moves in */
} explain_level_t;

/* What computes: SMs of a GPU, threads of the CPU. */
typedef struct explain_machine {
    char name[128];
    bool is_gpu, is_here;
    int num_units;         /* SMs, or threads of the plan */
    double macs_per_clock; /* of one unit, for this type; 0 if not known */
    double clock_hz;
    double peak; /* operations a second: 2 * units * macs * clock; measured if not known */
    bool peak_is_measured;
    double bandwidth; /* of the memory, bytes a second; of the CPU measured */
    bool bandwidth_is_measured;
    size_t l2_bytes, smem_sm_bytes, smem_block_bytes;
    int registers_per_sm, threads_per_sm;
} explain_machine_t;

typedef struct explain_facts {
    const settings_t *settings;
    const tcgemm_type_info_t *type;
    const tcgemm_plan_t *handle; /* of `plan`: its tiles are asked for one by one */
    tcgemm_problem_t problem;
    tcgemm_plan_info_t plan;
    explain_machine_t machine;
    tcgemm_occupancy_info_t occupancy; /* GPU */

    double eops, flop;                   /* as `run` reports them */
    double bytes;                        /* A, B and D once, and C if beta is not 0 */
    double intensity;                    /* flop / bytes */
    double balance;                      /* peak / bandwidth: the intensity where the roofs meet */
    double multiply_floor, memory_floor; /* seconds at the peak, and at the bandwidth */
    bool is_memory_bound;

    int num_levels;
    explain_level_t levels[TCGEMM_MAX_LEVELS];
    int64_t k_steps; /* of the block tile (CPU: the panel), for one tile of D */

    int num_estimates; /* the plan's own kernel, then the next best */
    tcgemm_estimate_t estimates[EXPLAIN_MAX_ESTIMATES];
} explain_facts_t;

/* Fills in all of it for a plan of `problem`. Returns an exit status. */
int explain_facts(const settings_t *settings, const tcgemm_problem_t *problem,
                  const tcgemm_plan_t *plan, explain_facts_t *facts);

void explain_text(const explain_facts_t *facts, FILE *out);

/* The facts as a JSON object that the caller owns; NULL without memory. */
json_t *explain_data(const explain_facts_t *facts);

/* The pictures, in order. */
typedef enum explain_picture {
    PICTURE_BLOCKS,   /* how blocks map to D, in the order of the raster, round by round */
    PICTURE_WARPS,    /* warps inside a block, and the rows of A and columns of B they read */
    PICTURE_WALK,     /* the walk along k: steps, stages */
    PICTURE_EDGES,    /* the overrun at the edges, and how it is padded or predicated */
    PICTURE_MEMORY,   /* the memory hierarchy with bytes per level */
    PICTURE_ROOFLINE, /* this problem under the two roofs */
    NUM_PICTURES
} explain_picture_t;

/* "blocks", "warps", ...: its file is NAME.svg; and a line that says what it shows. */
const char *explain_picture_name(explain_picture_t picture);
const char *explain_picture_caption(explain_picture_t picture);

/* Writes one picture as a complete <svg> element, to stand alone or inside a page. */
void explain_svg(const explain_facts_t *facts, explain_picture_t picture, FILE *out);

/* Writes the page: one file that loads nothing. Returns false without memory. */
bool explain_html(const explain_facts_t *facts, FILE *out);

#endif
