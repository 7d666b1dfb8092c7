/* The canonical form: for every order and pair of transposes, element (i, p) of the canonical A is
 * the element that the documented layout of the caller's A or B names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "problem/canonical.h"
#include "support/support.h"

/* Index of element (i, j) of op(X) by the words of tcgemm.h. */
static int64_t documented(tcgemm_order_t order, tcgemm_op_t op, int64_t ld, int64_t i, int64_t j) {
    const int64_t row = op == TCGEMM_OP_T ? j : i; /* as stored */
    const int64_t col = op == TCGEMM_OP_T ? i : j;
    return order == TCGEMM_ROW_MAJOR ? row * ld + col : row + col * ld;
}

static void check_layout(const tcgemm_problem_t *p) {
    tcgemm_canonical_t g;
    assert_int_equal(tcgemm_canonicalize(p, &g), TCGEMM_STATUS_OK);
    assert_int_equal(g.swapped, p->order == TCGEMM_COL_MAJOR);
    assert_int_equal(g.swapped ? g.n : g.m, p->m);
    assert_int_equal(g.swapped ? g.m : g.n, p->n);
    assert_int_equal(g.k, p->k);
    const tcgemm_operand_t *a = g.swapped ? &g.b : &g.a; /* the caller's */
    const tcgemm_operand_t *b = g.swapped ? &g.a : &g.b;
    for (int64_t i = 0; i < p->m; ++i)
        for (int64_t q = 0; q < p->k; ++q)
            assert_int_equal(g.swapped ? q * a->row_stride + i * a->col_stride
                                       : i * a->row_stride + q * a->col_stride,
                             documented(p->order, p->op_a, p->lda, i, q));
    for (int64_t q = 0; q < p->k; ++q)
        for (int64_t j = 0; j < p->n; ++j)
            assert_int_equal(g.swapped ? j * b->row_stride + q * b->col_stride
                                       : q * b->row_stride + j * b->col_stride,
                             documented(p->order, p->op_b, p->ldb, q, j));
    for (int64_t i = 0; i < p->m; ++i)
        for (int64_t j = 0; j < p->n; ++j)
            assert_int_equal(g.swapped ? j * g.ldd + i : i * g.ldd + j,
                             documented(p->order, TCGEMM_OP_N, p->ldd, i, j));
    assert_true(a->row_stride == 1 || a->col_stride == 1);
    assert_true(b->row_stride == 1 || b->col_stride == 1);
    assert_int_equal(a->batch_stride, p->stride_a);
    assert_int_equal(b->batch_stride, p->stride_b);
    assert_int_equal(a->dtype, tcgemm_type_info(p->type)->a);
    assert_int_equal(b->dtype, tcgemm_type_info(p->type)->b);
}

static void every_order_and_transpose(void **state) {
    (void)state;
    for (int which = 0; which < 8; ++which) {
        tcgemm_problem_t p = tcgemm_problem(TCGEMM_U8S8_S32, 3, 4, 5);
        p.op_a = which & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
        p.op_b = which & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
        p.order = which & 4 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
        p.lda = 17;
        p.ldb = 19;
        p.ldc = 21;
        p.ldd = 23;
        p.batch = 2;
        p.stride_a = 1000;
        p.stride_b = 2000;
        p.stride_d = 3000;
        check_layout(&p);
    }
}

static void zero_means_tight(void **state) {
    (void)state;
    for (int which = 0; which < 8; ++which) {
        tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 3, 4, 5);
        p.op_a = which & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
        p.op_b = which & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
        p.order = which & 4 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
        tcgemm_canonical_t tight;
        tcgemm_canonical_t named;
        assert_int_equal(tcgemm_canonicalize(&p, &tight), TCGEMM_STATUS_OK);
        const bool by_rows = p.order == TCGEMM_ROW_MAJOR;
        p.lda = by_rows == (p.op_a == TCGEMM_OP_N) ? 5 : 3;
        p.ldb = by_rows == (p.op_b == TCGEMM_OP_N) ? 4 : 5;
        p.ldc = p.ldd = by_rows ? 4 : 3;
        assert_int_equal(tcgemm_canonicalize(&p, &named), TCGEMM_STATUS_OK);
        assert_int_equal(tight.a.row_stride, named.a.row_stride);
        assert_int_equal(tight.a.col_stride, named.a.col_stride);
        assert_int_equal(tight.b.row_stride, named.b.row_stride);
        assert_int_equal(tight.b.col_stride, named.b.col_stride);
        assert_int_equal(tight.ldc, named.ldc);
        assert_int_equal(tight.ldd, named.ldd);
    }
}

/* What a run will read: NULL stands for "not to be read". */
static void a_call_says_what_is_read(void **state) {
    (void)state;
    float x[64];
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 2, 2, 2);
    tcgemm_canonical_t g;
    tcgemm_call_t call;
    for (int col = 0; col < 2; ++col) {
        p.order = (tcgemm_order_t)col;
        assert_int_equal(tcgemm_canonicalize(&p, &g), TCGEMM_STATUS_OK);
        assert_int_equal(tcgemm_check_call(&g, 1, x, x + 4, 0, x + 8, x + 12, true, &call), 0);
        assert_ptr_equal(call.a, col ? x + 4 : x);
        assert_ptr_equal(call.b, col ? x : x + 4);
        assert_null(call.c);
        assert_int_equal(tcgemm_check_call(&g, 0, x, x + 4, 1, x + 8, x + 12, true, &call), 0);
        assert_null(call.a);
        assert_null(call.b);
        assert_ptr_equal(call.c, x + 8);
        assert_int_equal(tcgemm_check_call(&g, 0, x, x + 4, 0, x + 8, x + 12, true, &call), 0);
        assert_null(call.a);
        assert_null(call.b);
        assert_null(call.c);
        /* alpha is rounded to f32 first: this one is 0 */
        assert_int_equal(tcgemm_check_call(&g, 1e-60, x, x + 4, 1, x + 8, x + 12, true, &call), 0);
        assert_null(call.a);
        assert_true(call.alpha == 0.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_and_transpose),
        cmocka_unit_test(zero_means_tight),
        cmocka_unit_test(a_call_says_what_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
