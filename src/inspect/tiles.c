/* tiles.c - the tiles of D, one by one: from their number to their rows and columns and back.
 *
 * On a GPU they are the block tiles in the order of tile/raster.h, those of a tail behind all
 * others (plan/plan.h). On the CPU they are the units of work in the order of the loops of
 * cpu/gemm.c (the pass over k begins anew in each panel):
 *
 *     columns of D in steps of nc                 +-------+---+
 *         rows of D in steps of mt                | 0 | 2 | 8 |    a panel of mt x nc holds units
 *             units of nb columns                 | 1 | 3 | 9 |    of mc x nb, numbered downwards
 *                 units of mc rows                +---+---+---+
 *                                                 | 4 | 6 | 10|    the last panel is as small as
 *                                                 | 5 | 7 | 11|    what is left
 */
#include "base/error.h"
#include "base/num.h"
#include "base/struct.h"
#include "gpu/gpu_row.h"
#include "plan/plan.h"
#include "tile/raster.h"

/* How D is split in one direction: parts of `outer`, split again into parts of `inner`. */
typedef struct split {
    int64_t size, outer, inner;
} split_t;

static int64_t parts_before(const split_t *c, int64_t at) {
    const int64_t whole = at / c->outer;
    return whole * ceil_div(c->outer, c->inner) + ceil_div(at - whole * c->outer, c->inner);
}

static int64_t parts_of(const split_t *c) {
    return parts_before(c, c->size);
}

/* The outer part that begins at `from`, in inner parts. */
static int64_t parts_from(const split_t *c, int64_t from) {
    return ceil_div(min_i64(c->outer, c->size - from), c->inner);
}

typedef struct partition {
    split_t rows, cols;
} partition_t;

/* Of the canonical D. The reference computes it as a whole. */
static partition_t partition_of(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_gpu_row_t *row = plan->kernel->gpu;
    partition_t c = {{g->m, g->m, g->m}, {g->n, g->n, g->n}};
    if (row) {
        c.rows.outer = c.rows.inner = row->bm;
        c.cols.outer = c.cols.inner = row->bn;
    } else if (plan->kernel->cpu) {
        c.rows.outer = plan->cpu.mt;
        c.rows.inner = plan->cpu.mc;
        c.cols.outer = plan->cpu.nc;
        c.cols.inner = plan->cpu.nb;
    }
    return c;
}

int64_t tcgemm_plan_tile_count(const tcgemm_plan_t *plan) {
    if (!plan || plan->g.m == 0 || plan->g.n == 0)
        return 0;
    const partition_t c = partition_of(plan);
    int64_t count;
    return __builtin_mul_overflow(parts_of(&c.rows), parts_of(&c.cols), &count) ? INT64_MAX : count;
}

/* The tile at canonical (row, col), with the caller's rows and columns. */
static void fill_tile(const struct tcgemm_plan *plan, const partition_t *c, int64_t row,
                      int64_t col, int64_t index, tcgemm_tile_info_t *tile) {
    const int64_t panel_row = row / c->rows.outer;
    const int64_t panel_col = col / c->cols.outer;
    const int64_t row_end = min_i64(c->rows.size, (panel_row + 1) * c->rows.outer);
    const int64_t col_end = min_i64(c->cols.size, (panel_col + 1) * c->cols.outer);
    const int64_t rows = min_i64(c->rows.inner, row_end - row);
    const int64_t cols = min_i64(c->cols.inner, col_end - col);
    const bool swapped = plan->g.swapped;
    const tcgemm_tile_info_t placed = {
        .struct_size = sizeof placed,
        .index = index,
        .row = swapped ? col : row,
        .col = swapped ? row : col,
        .rows = swapped ? cols : rows,
        .cols = swapped ? rows : cols,
        .panel =
            plan->kernel->cpu ? panel_col * ceil_div(c->rows.size, c->rows.outer) + panel_row : 0,
    };
    tcgemm_struct_write(tile, &placed, sizeof placed);
}

/* The tiles that one product of a plan for a GPU computes. */
typedef struct gpu_tiles {
    tcgemm_area_t area;
    tcgemm_raster_t raster;
    int64_t first; /* their numbers begin there */
} gpu_tiles_t;

static gpu_tiles_t tiles_of(const tcgemm_step_t *step, const partition_t *c, int64_t first) {
    return (gpu_tiles_t){.area = step->area,
                         .raster =
                             tcgemm_raster_of((uint32_t)ceil_div(step->area.rows, c->rows.inner),
                                              (uint32_t)ceil_div(step->area.cols, c->cols.inner),
                                              step->gpu.raster_group),
                         .first = first};
}

/* Of the product, or of the tail, which comes last. */
static gpu_tiles_t gpu_tiles(const struct tcgemm_plan *plan, const partition_t *c, bool of_tail) {
    const gpu_tiles_t first = tiles_of(tcgemm_plan_product(plan), c, 0);
    return of_tail ? tiles_of(tcgemm_plan_tail(plan), c, first.raster.tiles.by) : first;
}

static void get_gpu_tile(const struct tcgemm_plan *plan, const partition_t *c, int64_t index,
                         tcgemm_tile_info_t *tile) {
    const gpu_tiles_t first = gpu_tiles(plan, c, false);
    const bool of_tail = tcgemm_plan_tail(plan) && index >= (int64_t)first.raster.tiles.by;
    const gpu_tiles_t x = gpu_tiles(plan, c, of_tail);
    const tcgemm_tile_coord_t at = tcgemm_raster(&x.raster, (uint32_t)(index - x.first));
    fill_tile(plan, c, x.area.row + at.m * c->rows.inner, x.area.col + at.n * c->cols.inner, index,
              tile);
}

/* Down the panels of a column of panels, then to the next. */
static void get_cpu_tile(const struct tcgemm_plan *plan, const partition_t *c, int64_t index,
                         tcgemm_tile_info_t *tile) {
    const int64_t down = parts_of(&c->rows);
    int64_t left = index;
    const int64_t col_step = down * ceil_div(c->cols.outer, c->cols.inner);
    const int64_t col = left / col_step * c->cols.outer;
    left %= col_step;
    const int64_t across = parts_from(&c->cols, col);
    const int64_t row_step = ceil_div(c->rows.outer, c->rows.inner) * across;
    const int64_t row = left / row_step * c->rows.outer;
    left %= row_step;
    const int64_t panel_down = parts_from(&c->rows, row);
    fill_tile(plan, c, row + left % panel_down * c->rows.inner,
              col + left / panel_down * c->cols.inner, index, tile);
}

static tcgemm_status_t check(const tcgemm_plan_t *plan, const tcgemm_tile_info_t *tile) {
    TCGEMM_RETURN_IF(!plan, TCGEMM_STATUS_BAD_ARGUMENT, "plan is NULL");
    TCGEMM_FORWARD(tcgemm_struct_check("tile", tile, sizeof *tile));
    TCGEMM_RETURN_IF(plan->kernel->gpu && tcgemm_plan_tile_count(plan) > INT32_MAX,
                     TCGEMM_STATUS_TOO_LARGE, "the tiles of D are more than one launch takes");
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_plan_get_tile(const tcgemm_plan_t *plan, int64_t index,
                                     tcgemm_tile_info_t *tile) {
    TCGEMM_FORWARD(check(plan, tile));
    const int64_t count = tcgemm_plan_tile_count(plan);
    TCGEMM_RETURN_IF(index < 0 || index >= count, TCGEMM_STATUS_BAD_ARGUMENT,
                     "tile %lld is not in 0 .. %lld", (long long)index, (long long)count - 1);
    const partition_t c = partition_of(plan);
    if (plan->kernel->gpu)
        get_gpu_tile(plan, &c, index, tile);
    else
        get_cpu_tile(plan, &c, index, tile);
    return TCGEMM_STATUS_OK;
}

static int64_t find_gpu_index(const struct tcgemm_plan *plan, const partition_t *c, int64_t row,
                              int64_t col) {
    const tcgemm_step_t *tail = tcgemm_plan_tail(plan);
    const gpu_tiles_t x =
        gpu_tiles(plan, c, tail && row >= tail->area.row && col >= tail->area.col);
    const tcgemm_tile_coord_t at = {(uint32_t)((row - x.area.row) / c->rows.inner),
                                    (uint32_t)((col - x.area.col) / c->cols.inner)};
    return x.first + tcgemm_raster_index(&x.raster, at);
}

static int64_t find_cpu_index(const partition_t *c, int64_t row, int64_t col) {
    const int64_t panel_row = row / c->rows.outer * c->rows.outer;
    const int64_t panel_col = col / c->cols.outer * c->cols.outer;
    const int64_t across = parts_from(&c->cols, panel_col);
    return parts_before(&c->cols, panel_col) * parts_of(&c->rows) +
           parts_before(&c->rows, panel_row) * across +
           (col - panel_col) / c->cols.inner * parts_from(&c->rows, panel_row) +
           (row - panel_row) / c->rows.inner;
}

tcgemm_status_t tcgemm_plan_find_tile(const tcgemm_plan_t *plan, int64_t row, int64_t col,
                                      tcgemm_tile_info_t *tile) {
    TCGEMM_FORWARD(check(plan, tile));
    TCGEMM_RETURN_IF(row < 0 || row >= plan->problem.m || col < 0 || col >= plan->problem.n,
                     TCGEMM_STATUS_BAD_ARGUMENT, "D has no element (%lld, %lld)", (long long)row,
                     (long long)col);
    const partition_t c = partition_of(plan);
    const int64_t i = plan->g.swapped ? col : row; /* canonical */
    const int64_t j = plan->g.swapped ? row : col;
    const int64_t index =
        plan->kernel->gpu ? find_gpu_index(plan, &c, i, j) : find_cpu_index(&c, i, j);
    const int64_t panel_row = i / c.rows.outer * c.rows.outer;
    const int64_t panel_col = j / c.cols.outer * c.cols.outer;
    fill_tile(plan, &c, i - (i - panel_row) % c.rows.inner, j - (j - panel_col) % c.cols.inner,
              index, tile);
    return TCGEMM_STATUS_OK;
}
