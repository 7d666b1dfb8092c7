/* Matrices on a GPU, in host, managed and mixed memory: the products and the refusals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_driver/harness.h"

static void all_ways(const void *argument) {
    const fake_order_t order = *(const fake_order_t *)argument;
    uint64_t random = 1 + (uint64_t)order;
    fake_set_order(order, 77);
    tcgemm_context_t *context = context_on(0);
    for (int i = 0; context && i < num_gpu_types(); ++i)
        for (int way = HOST; way <= GPU_ASYNC; ++way) {
            const testcase_t t = random_case(&random, gpu_type(i), 150);
            if (!product_is_right(&t, context, 0, (way_t)way))
                report_failure("  ^ way %d", way);
        }
    tcgemm_context_destroy(context);
    check_end();
}

int main(void) {
    int failed = 0;
    static const fake_order_t orders[] = {FAKE_EAGER, FAKE_LAZY, FAKE_RANDOM};
    failed += run_alone("every type and way, eager", all_ways, &orders[0]);
    failed += run_alone("every type and way, lazy", all_ways, &orders[1]);
    failed += run_alone("every type and way, at random", all_ways, &orders[2]);
    return failed != 0;
}
