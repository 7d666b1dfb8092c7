/* OpenBLAS, through the door by which bench opens it, multiplies what it is given: every order,
 * transpose and batch against three plain loops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bench/peer.h"
#include "files/layout.h"

enum { M = 5, N = 7, K = 4, BATCH = 2, ROOM = 256 };

static peer_t *peer;

/* Element (i, j) of op(X): where it lies in item 0. */
static int64_t at(const tcgemm_problem_t *p, char operand, tcgemm_op_t op, int64_t i, int64_t j) {
    const layout_t x = layout_of(p, operand);
    const int64_t row = op == TCGEMM_OP_T ? j : i;
    const int64_t col = op == TCGEMM_OP_T ? i : j;
    return p->order == TCGEMM_ROW_MAJOR ? row * x.ld + col : row + col * x.ld;
}

/* Small whole numbers, so that f32 and f64 are exact. */
static double entry(int operand, int64_t index) {
    return (double)((index * (7 + operand) + operand) % 9 - 4);
}

static void check(tcgemm_problem_t p) {
    const bool wide = p.type == TCGEMM_F64_F64;
    float f[3][ROOM];
    double d[3][ROOM];
    for (int x = 0; x < 3; ++x)
        for (int i = 0; i < ROOM; ++i)
            f[x][i] = (float)(d[x][i] = entry(x, i));
    peer_product_t *product = peer_product(peer, &p, 2, 3);
    assert_non_null(product);
    assert_int_equal(peer_product_problem(product)->type, p.type);
    assert_string_equal(peer_product_label(product), wide ? "openblas dgemm" : "openblas sgemm");
    assert_true(wide ? peer_product_run(product, d[0], d[1], d[2])
                     : peer_product_run(product, f[0], f[1], f[2]));
    peer_product_free(product);
    for (int64_t t = 0; t < BATCH; ++t)
        for (int64_t i = 0; i < M; ++i)
            for (int64_t j = 0; j < N; ++j) {
                const int64_t to = t * p.stride_d + at(&p, 'D', TCGEMM_OP_N, i, j);
                double sum = 3 * entry(2, to);
                for (int64_t l = 0; l < K; ++l)
                    sum += 2 * entry(0, t * p.stride_a + at(&p, 'A', p.op_a, i, l)) *
                           entry(1, t * p.stride_b + at(&p, 'B', p.op_b, l, j));
                assert_true((wide ? d[2][to] : (double)f[2][to]) == sum);
            }
}

static void every_order_transpose_and_batch(void **state) {
    (void)state;
    for (int way = 0; way < 16; ++way) {
        tcgemm_problem_t p = tcgemm_problem(way & 8 ? TCGEMM_F64_F64 : TCGEMM_F32_F32, M, N, K);
        p.op_a = way & 1 ? TCGEMM_OP_T : TCGEMM_OP_N;
        p.op_b = way & 2 ? TCGEMM_OP_T : TCGEMM_OP_N;
        p.order = way & 4 ? TCGEMM_COL_MAJOR : TCGEMM_ROW_MAJOR;
        p.batch = BATCH;
        assert_int_equal(layout_place(&p, 0), TCGEMM_STATUS_OK);
        check(p);
    }
}

static bool can(tcgemm_problem_t p) {
    assert_int_equal(layout_place(&p, 0), TCGEMM_STATUS_OK);
    peer_product_t *product = peer_product(peer, &p, 1, 0);
    const bool good = product != NULL;
    peer_product_free(product);
    return good;
}

static void sizes_beyond_an_int(void **state) {
    (void)state;
    assert_false(can(tcgemm_problem(TCGEMM_F32_F32, 3, 3, (int64_t)1 << 31)));
    assert_true(can(tcgemm_problem(TCGEMM_F32_F32, 3, 3, 3)));
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 3, 1, 3);
    p.lda = (int64_t)1 << 31;
    p.ldb = p.ldd = p.ldc = 1;
    peer_product_t *product = peer_product(peer, &p, 1, 0);
    assert_null(product);
}

/* Its f32 stands in for what it lacks, in the same layout; for f64 nothing would. */
static void a_type_that_it_lacks(void **state) {
    (void)state;
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_S8_S32, M, N, K);
    p.op_b = TCGEMM_OP_T;
    p.order = TCGEMM_COL_MAJOR;
    assert_int_equal(layout_place(&p, 3), TCGEMM_STATUS_OK);
    peer_product_t *product = peer_product(peer, &p, 1, 0);
    assert_non_null(product);
    const tcgemm_problem_t *theirs = peer_product_problem(product);
    assert_int_equal(theirs->type, TCGEMM_F32_F32);
    assert_string_equal(peer_product_label(product), "openblas sgemm");
    for (const char *x = "ABD"; *x; ++x)
        assert_int_equal(layout_of(theirs, *x).ld, layout_of(&p, *x).ld);
    peer_product_free(product);
}

static void names_that_nobody_knows(void **state) {
    (void)state;
    char why[PEER_WHY_SIZE];
    assert_null(peer_open("openblass", why));
    assert_non_null(strstr(why, "'openblass' is none of openblas, "));
    assert_null(peer_open("./nowhere.so", why));
    assert_non_null(strstr(why, "nowhere.so"));
}

int main(void) {
    char why[PEER_WHY_SIZE];
    peer = peer_open("openblas", why);
    if (!peer) {
        printf("skipped: %s\n", why);
        return 77;
    }
    peer_set_threads(peer, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_transpose_and_batch),
        cmocka_unit_test(sizes_beyond_an_int),
        cmocka_unit_test(a_type_that_it_lacks),
        cmocka_unit_test(names_that_nobody_knows),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    peer_close(peer);
    return failed;
}
