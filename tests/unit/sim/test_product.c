/* Products of names and the store to D: the right ones give D, and every wrong one is seen. */
#include "sim_fixture.h"

#include <stdlib.h>

#include "sim/product.h"

/* An operand of all rows and k of A, or all columns and k of B. */
static void fill(tcgemm_sim_operand_t *x) {
    x->rows = x->slots = SIZE;
    for (int r = 0; r < SIZE; ++r)
        for (int s = 0; s < SIZE; ++s)
            x->name[r][s] = (tcgemm_sim_name_t){r, s};
}

typedef struct setting {
    fixture_t f;
    tcgemm_sim_operand_t a, b;
    tcgemm_sim_product_t *product;
} setting_t;

static setting_t *begin(void) {
    setting_t *x = calloc(1, sizeof *x);
    assert_non_null(x);
    fixture_make(&x->f);
    fill(&x->a);
    fill(&x->b);
    x->product = tcgemm_sim_products_make(&x->f.sim, 1, SIZE, SIZE);
    assert_non_null(x->product);
    tcgemm_sim_products_clear(x->product, 1);
    return x;
}

static void end(setting_t *x) {
    free(x->product);
    free(x);
}

static void multiply(setting_t *x) {
    tcgemm_sim_identify(&x->f.sim, TCGEMM_SIDE_A, &x->a);
    tcgemm_sim_identify(&x->f.sim, TCGEMM_SIDE_B, &x->b);
    tcgemm_sim_multiply(&x->f.sim, x->product, &x->a, &x->b);
}

static void the_right_product(void **state) {
    (void)state;
    setting_t *x = begin();
    multiply(x);
    for (int i = 0; i < SIZE; ++i)
        for (int j = 0; j < SIZE; ++j) {
            const tcgemm_sim_sum_t sum = tcgemm_sim_sum_of(x->product, i, j);
            tcgemm_sim_store(&x->f.sim, 0, i, j, &sum);
            float expected = 0;
            for (int p = 0; p < SIZE; ++p)
                expected += x->f.a[i * SIZE + p] * x->f.b[p * SIZE + j];
            assert_true(x->f.d[i * SIZE + j] == expected);
        }
    expect_none(&x->f);
    assert_int_equal(x->f.report.num_written, SIZE * SIZE);
    end(x);
}

/* Rows beyond m and slots beyond k are zeros in both operands. */
static void zeros_at_the_edge(void **state) {
    (void)state;
    setting_t *x = begin();
    for (int i = 0; i < SIZE; ++i) {
        x->a.name[SIZE - 1][i].mn = TCGEMM_SIM_ZERO;
        x->a.name[i][SIZE - 1].mn = x->b.name[i][SIZE - 1].mn = TCGEMM_SIM_ZERO;
    }
    multiply(x);
    expect_none(&x->f);
    const tcgemm_sim_sum_t sum = tcgemm_sim_sum_of(x->product, 0, 0);
    assert_int_equal(sum.terms, SIZE - 1);
    tcgemm_sim_store(&x->f.sim, 0, 0, 0, &sum);
    expect_fault(&x->f, "the sum of 7 products, not of 8");
    const tcgemm_sim_sum_t outside = tcgemm_sim_sum_of(x->product, SIZE - 1, 0);
    tcgemm_sim_store(&x->f.sim, 0, SIZE - 1, 0, &outside);
    expect_fault(&x->f, "receives a sum of row -1");
    end(x);
}

static void names_that_do_not_belong(void **state) {
    (void)state;
    setting_t *x = begin();
    x->a.name[2][3].mn = 3;
    multiply(x);
    expect_fault(&x->f, "do not belong together");
    end(x);
    x = begin();
    x->b.name[2][3].k = 4;
    multiply(x);
    expect_fault(&x->f, "do not belong together");
    end(x);
    x = begin();
    x->a.name[2][3].mn = TCGEMM_SIM_ZERO;
    multiply(x);
    expect_fault(&x->f, "a zero instead of an element of A");
    end(x);
}

static void k_that_do_not_agree(void **state) {
    (void)state;
    setting_t *x = begin();
    for (int r = 0; r < SIZE; ++r) { /* exchange two k of B */
        x->b.name[r][0].k = 1;
        x->b.name[r][1].k = 0;
    }
    multiply(x);
    expect_fault(&x->f, "k = 0 of A is multiplied by k = 1 of B");
    end(x);
    x = begin();
    for (int r = 0; r < SIZE; ++r)
        x->b.name[r][5].mn = TCGEMM_SIM_ZERO;
    multiply(x);
    expect_fault(&x->f, "which may be NaN");
    end(x);
    x = begin();
    multiply(x);
    multiply(x);
    expect_fault(&x->f, "is added twice");
    end(x);
}

static void sums_that_go_astray(void **state) {
    (void)state;
    setting_t *x = begin();
    multiply(x);
    const tcgemm_sim_sum_t sum = tcgemm_sim_sum_of(x->product, 1, 2);
    tcgemm_sim_store(&x->f.sim, 0, 2, 1, &sum);
    expect_fault(&x->f, "receives a sum of row 1 of A and column 2 of B");
    tcgemm_sim_store(&x->f.sim, 0, 1, 2, &sum);
    expect_none(&x->f);
    tcgemm_sim_store(&x->f.sim, 0, 1, 2, &sum);
    expect_fault(&x->f, "is written twice");
    tcgemm_sim_put(&x->f.sim, 0, SIZE, 0, 1.0);
    expect_fault(&x->f, "outside D");
    for (int r = 0; r < SIZE; ++r) /* other rows for the same accumulators */
        for (int s = 0; s < SIZE; ++s)
            x->a.name[r][s].mn = (r + 1) % SIZE;
    tcgemm_sim_identify(&x->f.sim, TCGEMM_SIDE_A, &x->a);
    tcgemm_sim_multiply(&x->f.sim, x->product, &x->a, &x->b);
    expect_fault(&x->f, "an accumulator of row");
    end(x);
}

static void loads_from_memory(void **state) {
    (void)state;
    setting_t *x = begin();
    tcgemm_sim_name_t names[4];
    tcgemm_sim_load(&x->f.sim, TCGEMM_SIDE_A, 0, 2 * SIZE + 4, 4, 4, names);
    assert_int_equal(names[3].mn, 2);
    assert_int_equal(names[3].k, 7);
    tcgemm_sim_load(&x->f.sim, TCGEMM_SIDE_B, 0, 3 * SIZE + 5, 1, 4, names);
    assert_int_equal(names[0].mn, 5);
    assert_int_equal(names[0].k, 3);
    expect_none(&x->f);
    tcgemm_sim_load(&x->f.sim, TCGEMM_SIDE_A, 0, SIZE * SIZE - 2, 4, 4, names);
    expect_fault(&x->f, "outside the matrix");
    tcgemm_sim_load(&x->f.sim, TCGEMM_SIDE_A, 0, -1, 1, 4, names);
    expect_fault(&x->f, "outside the matrix");
    tcgemm_sim_load(&x->f.sim, TCGEMM_SIDE_A, 1, 0, 1, 4, names);
    expect_fault(&x->f, "outside the matrix");
    const uintptr_t off = (uintptr_t)x->f.a % 16 / 4; /* elements past a multiple of 16 bytes */
    tcgemm_sim_load(&x->f.sim, TCGEMM_SIDE_A, 0, (int64_t)((5 - off) % 4), 4, 16, names);
    expect_fault(&x->f, "not aligned");
    end(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_product),        cmocka_unit_test(zeros_at_the_edge),
        cmocka_unit_test(names_that_do_not_belong), cmocka_unit_test(k_that_do_not_agree),
        cmocka_unit_test(sums_that_go_astray),      cmocka_unit_test(loads_from_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
