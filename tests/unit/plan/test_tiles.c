/* Tiles by number and by place: every element of D in exactly one tile, the numbers 0, 1, ... in
 * the order of the raster (GPU) and of the loops (CPU), and the way back from each element.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/gpu_row.h"
#include "plan/plan.h"
#include "tcgemm/tcgemm.h"
#include "tile/raster.h"

static tcgemm_plan_t *make_plan(const char *gpu, const tcgemm_problem_t *p, const char *algo,
                                tcgemm_context_t **context) {
    tcgemm_context_options_t options = tcgemm_context_options();
    tcgemm_plan_options_t how = tcgemm_plan_options();
    tcgemm_plan_t *plan = NULL;
    options.known_gpu = gpu;
    options.device = gpu ? TCGEMM_DEVICE_AUTO : TCGEMM_DEVICE_CPU;
    options.num_threads = gpu ? 0 : 3;
    how.algo = algo;
    assert_int_equal(tcgemm_context_create(&options, context), TCGEMM_STATUS_OK);
    assert_int_equal(tcgemm_plan_create(*context, p, &how, &plan), TCGEMM_STATUS_OK);
    return plan;
}

static tcgemm_tile_info_t tile_at(const tcgemm_plan_t *plan, int64_t index) {
    tcgemm_tile_info_t tile = {.struct_size = sizeof tile};
    assert_int_equal(tcgemm_plan_get_tile(plan, index, &tile), TCGEMM_STATUS_OK);
    assert_int_equal(tile.index, index);
    return tile;
}

static tcgemm_tile_info_t tile_with(const tcgemm_plan_t *plan, int64_t row, int64_t col) {
    tcgemm_tile_info_t tile = {.struct_size = sizeof tile};
    assert_int_equal(tcgemm_plan_find_tile(plan, row, col, &tile), TCGEMM_STATUS_OK);
    return tile;
}

/* Paints the tiles one by one; every element once. */
static void assert_covers(const tcgemm_plan_t *plan, int64_t m, int64_t n) {
    unsigned char *const painted = calloc((size_t)(m * n), 1);
    assert_non_null(painted);
    for (int64_t i = 0; i < tcgemm_plan_tile_count(plan); ++i) {
        const tcgemm_tile_info_t t = tile_at(plan, i);
        assert_true(t.rows > 0 && t.cols > 0 && t.row + t.rows <= m && t.col + t.cols <= n);
        for (int64_t row = t.row; row < t.row + t.rows; ++row)
            for (int64_t col = t.col; col < t.col + t.cols; ++col)
                assert_int_equal(painted[row * n + col]++, 0);
    }
    for (int64_t i = 0; i < m * n; ++i)
        assert_int_equal(painted[i], 1);
    free(painted);
}

/* From the corners of each tile, and a point inside, back to the tile. */
static void assert_found(const tcgemm_plan_t *plan) {
    for (int64_t i = 0; i < tcgemm_plan_tile_count(plan); ++i) {
        const tcgemm_tile_info_t t = tile_at(plan, i);
        const int64_t rows[] = {0, t.rows / 2, t.rows - 1};
        const int64_t cols[] = {0, t.cols / 3, t.cols - 1};
        for (int at = 0; at < 9; ++at) {
            const tcgemm_tile_info_t found =
                tile_with(plan, t.row + rows[at / 3], t.col + cols[at % 3]);
            assert_memory_equal(&found, &t, sizeof t);
        }
    }
}

static const struct {
    int64_t m, n;
} shapes[] = {{1, 1},      {1, 700},    {700, 1},    {128, 256}, {129, 257},
              {1000, 999}, {3000, 200}, {200, 5000}, {511, 2049}};

static void check(const char *gpu, tcgemm_type_t type, const char *algo, tcgemm_order_t order) {
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
        tcgemm_problem_t p = tcgemm_problem(type, shapes[i].m, shapes[i].n, 300);
        tcgemm_context_t *context;
        p.order = order;
        tcgemm_plan_t *const plan = make_plan(gpu, &p, algo, &context);
        assert_covers(plan, p.m, p.n);
        assert_found(plan);
        tcgemm_plan_destroy(plan);
        tcgemm_context_destroy(context);
    }
}

static void tiles_of_gpus_cover_d(void **state) {
    (void)state;
    for (tcgemm_order_t order = TCGEMM_ROW_MAJOR; order <= TCGEMM_COL_MAJOR; ++order) {
        check("h200", TCGEMM_BF16_F32, NULL, order);
        check("orin", TCGEMM_S8_S32, "wmma-shared", order);
        check("t4", TCGEMM_F16_F32, "wmma-direct", order);
        check("a100", TCGEMM_F32_F32, "simt-outer", order);
    }
}

static void tiles_of_the_cpu_cover_d(void **state) {
    (void)state;
    for (tcgemm_order_t order = TCGEMM_ROW_MAJOR; order <= TCGEMM_COL_MAJOR; ++order) {
        check(NULL, TCGEMM_F32_F32, NULL, order);
        check(NULL, TCGEMM_BF16_BF16, NULL, order); /* panels of at most 1024 rows */
        check(NULL, TCGEMM_F64_F64, "reference", order);
    }
}

/* Those of a tail, rows or columns of D, come behind all others. */
static void tiles_of_a_tail_come_last(void **state) {
    (void)state;
    static const struct {
        int64_t m, n;
        bool is_columns;
    } cases[] = {{2288, 2288, false}, {500, 9000, true}};
    for (int i = 0; i < 4; ++i) {
        tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, cases[i / 2].m, cases[i / 2].n, 2000);
        tcgemm_context_t *context;
        const bool by_rows = i % 2 == 0;
        p.op_a = TCGEMM_OP_T;
        if (!by_rows) { /* the same product, transposed */
            p.order = TCGEMM_COL_MAJOR;
            p.m = cases[i / 2].n, p.n = cases[i / 2].m;
            p.op_a = TCGEMM_OP_N, p.op_b = TCGEMM_OP_T;
            p.ldd = p.ldc = p.m, p.lda = p.m, p.ldb = p.n;
        }
        tcgemm_plan_t *const plan = make_plan("h200", &p, NULL, &context);
        assert_covers(plan, p.m, p.n);
        assert_found(plan);
        tcgemm_step_info_t tail = {.struct_size = sizeof tail};
        assert_int_equal(tcgemm_plan_step_count(plan), 3);
        assert_int_equal(tcgemm_plan_get_step(plan, 1, &tail), TCGEMM_STATUS_OK);
        const bool has_columns = cases[i / 2].is_columns == by_rows;
        assert_true((has_columns ? tail.col : tail.row) > 0);
        assert_int_equal(has_columns ? tail.row : tail.col, 0);
        assert_int_equal(tail.row + tail.rows, p.m);
        assert_int_equal(tail.col + tail.cols, p.n);
        const tcgemm_tile_info_t last = tile_at(plan, tcgemm_plan_tile_count(plan) - 1);
        const tcgemm_tile_info_t first = tile_at(plan, 0);
        assert_true(last.row >= tail.row && last.col >= tail.col);
        assert_true(first.row < tail.row || first.col < tail.col);
        tcgemm_plan_destroy(plan);
        tcgemm_context_destroy(context);
    }
}

/* The order is that of the raster, written down here as the kernels ask for it. */
static void gpu_tiles_come_in_raster_order(void **state) {
    (void)state;
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F16_F32, 5000, 3000, 64);
    tcgemm_context_t *context;
    tcgemm_plan_t *const plan = make_plan("h100", &p, NULL, &context);
    const tcgemm_gpu_row_t *const row = plan->kernel->gpu;
    const uint32_t tiles_m = (uint32_t)((p.m + row->bm - 1) / row->bm);
    const uint32_t tiles_n = (uint32_t)((p.n + row->bn - 1) / row->bn);
    const tcgemm_raster_t raster =
        tcgemm_raster_of(tiles_m, tiles_n, tcgemm_plan_product(plan)->gpu.raster_group);
    assert_int_equal(tcgemm_plan_tile_count(plan), tiles_m * tiles_n);
    for (uint32_t i = 0; i < tiles_m * tiles_n; ++i) {
        const tcgemm_tile_coord_t at = tcgemm_raster(&raster, i);
        const tcgemm_tile_info_t tile = tile_at(plan, i);
        assert_int_equal(tile.row, (int64_t)at.m * row->bm);
        assert_int_equal(tile.col, (int64_t)at.n * row->bn);
    }
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);
}

/* The loops of cpu/gemm.c, written down a second time. */
static void cpu_tiles_come_in_the_order_of_the_loops(void **state) {
    (void)state;
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_BF16_BF16, 10000, 36400, 100);
    tcgemm_context_t *context;
    tcgemm_plan_t *const plan = make_plan(NULL, &p, NULL, &context);
    const tcgemm_cpu_blocking_t *const s = &plan->cpu;
    int64_t next = 0;
    int64_t panel = 0;
    for (int64_t col = 0; col < p.n; col += s->nc) {
        for (int64_t row = 0; row < p.m; row += s->mt, ++panel) {
            const int64_t cols = s->nc < p.n - col ? s->nc : p.n - col;
            const int64_t rows = s->mt < p.m - row ? s->mt : p.m - row;
            for (int64_t j = 0; j < cols; j += s->nb) {
                for (int64_t i = 0; i < rows; i += s->mc, ++next) {
                    const tcgemm_tile_info_t tile = tile_at(plan, next);
                    assert_int_equal(tile.row, row + i);
                    assert_int_equal(tile.col, col + j);
                    assert_int_equal(tile.panel, panel);
                }
            }
        }
    }
    assert_true(panel > 3);
    assert_int_equal(tcgemm_plan_tile_count(plan), next);
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);
}

static void statuses(void **state) {
    (void)state;
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F16_F32, 100, 200, 64);
    tcgemm_context_t *context;
    tcgemm_plan_t *plan = make_plan("l4", &p, NULL, &context);
    tcgemm_tile_info_t t = {.struct_size = sizeof t};
    const int64_t count = tcgemm_plan_tile_count(plan);
    assert_int_equal(tcgemm_plan_get_tile(NULL, 0, &t), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_plan_get_tile(plan, 0, NULL), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_plan_get_tile(plan, -1, &t), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_plan_get_tile(plan, count, &t), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_plan_find_tile(plan, 100, 0, &t), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_plan_find_tile(plan, 0, -1, &t), TCGEMM_STATUS_BAD_ARGUMENT);
    t.struct_size = 1;
    assert_int_equal(tcgemm_plan_find_tile(plan, 0, 0, &t), TCGEMM_STATUS_BAD_ARGUMENT);
    assert_int_equal(tcgemm_plan_tile_count(NULL), 0);
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);

    p.m = 0;
    plan = make_plan("l4", &p, NULL, &context);
    assert_int_equal(tcgemm_plan_tile_count(plan), 0);
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);

    p = tcgemm_problem(TCGEMM_F16_F32, INT64_C(1) << 28, INT64_C(1) << 28, 1);
    plan = make_plan("l4", &p, NULL, &context);
    t.struct_size = sizeof t;
    assert_true(tcgemm_plan_tile_count(plan) > INT32_MAX);
    assert_int_equal(tcgemm_plan_get_tile(plan, 0, &t), TCGEMM_STATUS_TOO_LARGE);
    tcgemm_plan_destroy(plan);
    tcgemm_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_gpus_cover_d),
        cmocka_unit_test(tiles_of_a_tail_come_last),
        cmocka_unit_test(tiles_of_the_cpu_cover_d),
        cmocka_unit_test(gpu_tiles_come_in_raster_order),
        cmocka_unit_test(cpu_tiles_come_in_the_order_of_the_loops),
        cmocka_unit_test(statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
