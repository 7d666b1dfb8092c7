/* The simulated shared memory: what is in order passes, and every breach of its rules is seen. */
#include "sim_fixture.h"

#include "sim/shared.h"

enum { BYTES = 256, OTHER_WARP = 32 };

typedef struct setting {
    fixture_t f;
    tcgemm_sim_shared_t shared;
} setting_t;

static void begin(setting_t *x) {
    fixture_make(&x->f);
    assert_true(tcgemm_sim_shared_make(&x->shared, &x->f.sim, BYTES, 4));
    tcgemm_sim_shared_poison(&x->shared);
}

static void end(setting_t *x) {
    tcgemm_sim_shared_free(&x->shared);
}

static const tcgemm_sim_name_t names[4] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}};

static void write(setting_t *x, int thread, uint32_t at, bool async) {
    tcgemm_sim_shared_write(&x->shared, thread, at, 4, names, async);
}

static void read(setting_t *x, int thread, uint32_t at) {
    tcgemm_sim_name_t got[4];
    tcgemm_sim_shared_read(&x->shared, thread, at, 4, got);
    for (int i = 0; i < 4 && x->f.report.num_faults == 0; ++i)
        assert_int_equal(got[i].k, names[i].k);
}

static void what_is_in_order(void **state) {
    (void)state;
    setting_t x;
    begin(&x);
    write(&x, 0, 0, false);
    read(&x, 0, 0); /* a thread sees its own */
    tcgemm_sim_barrier(&x.shared);
    read(&x, OTHER_WARP, 0);
    read(&x, 1, 0);
    tcgemm_sim_barrier(&x.shared);
    write(&x, OTHER_WARP, 0, true);
    tcgemm_sim_commit(&x.shared);
    tcgemm_sim_wait(&x.shared, 0);
    tcgemm_sim_barrier(&x.shared);
    read(&x, 0, 0);
    tcgemm_sim_barrier(&x.shared);
    write(&x, 3, 16, false); /* within a warp __syncwarp is enough, both ways */
    tcgemm_sim_syncwarp(&x.shared);
    read(&x, 4, 16);
    read(&x, 5, 16);
    tcgemm_sim_syncwarp(&x.shared);
    write(&x, 6, 16, false);
    expect_none(&x.f);
    end(&x);
}

static void poison_and_places(void **state) {
    (void)state;
    setting_t x;
    begin(&x);
    read(&x, 0, 0);
    expect_fault(&x.f, "never written");
    write(&x, 0, BYTES, false);
    expect_fault(&x.f, "of 256 bytes of shared memory is touched");
    write(&x, 0, 0xFFFFFFF0u, false);
    expect_fault(&x.f, "is touched");
    write(&x, 0, 8, false);
    expect_fault(&x.f, "not aligned");
    tcgemm_sim_barrier(&x.shared);
    write(&x, 0, 0, false);
    tcgemm_sim_shared_poison(&x.shared); /* a new block finds nothing of the old one */
    read(&x, 0, 0);
    expect_fault(&x.f, "never written");
    end(&x);
}

static void races(void **state) {
    (void)state;
    setting_t x;
    begin(&x);
    write(&x, 0, 0, false);
    read(&x, 1, 0);
    expect_fault(&x.f, "without a barrier");
    tcgemm_sim_syncwarp(&x.shared);
    read(&x, OTHER_WARP, 0); /* __syncwarp says nothing to other warps */
    expect_fault(&x.f, "without a barrier");
    tcgemm_sim_barrier(&x.shared);
    read(&x, 0, 0);
    write(&x, OTHER_WARP, 0, false);
    expect_fault(&x.f, "while it is being read");
    tcgemm_sim_barrier(&x.shared);
    write(&x, 0, 0, false);
    tcgemm_sim_syncwarp(&x.shared);
    write(&x, OTHER_WARP, 0, false);
    expect_fault(&x.f, "written twice");
    tcgemm_sim_barrier(&x.shared);
    read(&x, 0, 0); /* read by two warps: neither's __syncwarp clears it for a write */
    read(&x, OTHER_WARP, 0);
    tcgemm_sim_syncwarp(&x.shared);
    write(&x, 0, 0, false);
    expect_fault(&x.f, "while it is being read");
    end(&x);
}

static void copies_under_way(void **state) {
    (void)state;
    setting_t x;
    begin(&x);
    for (uint32_t group = 0; group < 3; ++group) {
        write(&x, 0, 16 * group, true);
        tcgemm_sim_commit(&x.shared);
    }
    tcgemm_sim_wait(&x.shared, 1); /* the last one may be under way */
    read(&x, 0, 0);
    expect_fault(&x.f, "waited for"); /* nobody has said so to the others yet */
    tcgemm_sim_barrier(&x.shared);
    read(&x, 0, 0);
    read(&x, 0, 16);
    expect_none(&x.f);
    read(&x, 0, 32);
    expect_fault(&x.f, "waited for");
    tcgemm_sim_barrier(&x.shared); /* a barrier alone brings nothing */
    read(&x, 0, 32);
    expect_fault(&x.f, "waited for");
    end(&x);
}

static void sums_take_their_place(void **state) {
    (void)state;
    setting_t x;
    begin(&x);
    const tcgemm_sim_sum_t sum = {2.5, 3, 4, 5};
    tcgemm_sim_sum_t got;
    tcgemm_sim_shared_put(&x.shared, 0, 64, 4, &sum);
    tcgemm_sim_shared_get(&x.shared, 0, 64, 4, &got);
    assert_true(got.sum == 2.5 && got.row == 3 && got.col == 4 && got.terms == 5);
    expect_none(&x.f);
    tcgemm_sim_shared_get(&x.shared, 0, 68, 4, &got);
    expect_fault(&x.f, "never written");
    tcgemm_sim_shared_put(&x.shared, 1, 64, 4, &sum);
    expect_fault(&x.f, "while it is being read");
    end(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_order),
        cmocka_unit_test(poison_and_places),
        cmocka_unit_test(races),
        cmocka_unit_test(copies_under_way),
        cmocka_unit_test(sums_take_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
