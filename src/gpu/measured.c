/* measured.c - finds the lines of measured/ by the names of rows, once: for rows that run the code
 * of others, by the names of those. */
#include "gpu/measured.h"

#include <pthread.h>
#include <string.h>

#include "gpu/gpu_row.h"

typedef struct cost_line {
    const char *row; /* its name without "gpu_" */
    tcgemm_gpu_cost_t cost;
} cost_line_t;

#define COST_LINE(row, macs_, wait_, start_, finish_, narrow_, unaligned_, nt_, tn_, tt_)          \
    {#row,                                                                                         \
     {.macs = (macs_),                                                                             \
      .wait = (wait_),                                                                             \
      .start = (start_),                                                                           \
      .finish = (finish_),                                                                         \
      .narrow = (narrow_),                                                                         \
      .unaligned = (unaligned_),                                                                   \
      .layout = {1.0, (nt_), (tn_), (tt_)}}},

static const cost_line_t costs[] = {
#define TCGEMM_COST(...) COST_LINE(__VA_ARGS__)
#include "gpu/measured/cost.def"
};

static const cost_line_t costs_on_h200[] = {
#define TCGEMM_COST(...) COST_LINE(__VA_ARGS__)
#include "gpu/measured/cost_h200.def"
};

static const struct {
    const char *row;
    int number;
} registers[] = {
#define TCGEMM_REGISTERS(row, number) {#row, (number)},
#include "gpu/measured/registers.def"
};

enum {
    NUM_COSTS = sizeof costs / sizeof costs[0],
    NUM_ON_H200 = sizeof costs_on_h200 / sizeof costs_on_h200[0],
    NUM_REGISTERS = sizeof registers / sizeof registers[0],
    MAX_ROWS = 512,
    CAUTIOUS_REGISTERS = 128
};

/* As fast as the device's units allow (model.c takes nine tenths of them), slow to start. */
static const tcgemm_gpu_cost_t cautious = {.macs = 1e9,
                                           .start = 8000,
                                           .finish = 4000,
                                           .narrow = 4,
                                           .unaligned = 3.3,
                                           .layout = {1, 1, 1, 1}};

static tcgemm_gpu_cost_t cost_of[MAX_ROWS];
static tcgemm_gpu_cost_t cost_on_h200[NUM_ON_H200];
static int line_on_h200[MAX_ROWS]; /* and one more; 0: it has none of its own */
static bool is_measured[MAX_ROWS];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int registers_of[MAX_ROWS];

static void find_line(int i) {
    const tcgemm_gpu_row_t *const row = tcgemm_kernel_at(i)->gpu;
    cost_of[i] = cautious;
    registers_of[i] = CAUTIOUS_REGISTERS;
    if (!row)
        return;
    const char *const name = row->entry + strlen("tcgemm_");
    for (int j = 0; j < NUM_COSTS; ++j)
        if (strcmp(costs[j].row, name) == 0) {
            cost_of[i] = costs[j].cost;
            is_measured[i] = true;
        }
    for (int j = 0; j < NUM_ON_H200; ++j)
        if (strcmp(costs_on_h200[j].row, name) == 0) {
            cost_on_h200[j] = costs_on_h200[j].cost;
            line_on_h200[i] = j + 1;
        }
    for (int j = 0; j < NUM_REGISTERS; ++j)
        if (strcmp(registers[j].row, name) == 0)
            registers_of[i] = registers[j].number;
}

static int num_rows(void) {
    return tcgemm_num_kernels() < MAX_ROWS ? tcgemm_num_kernels() : MAX_ROWS;
}

/* The units say what is possible, not what these instructions reach: no faster than the slowest
 * row of the same algorithm and type that was measured. */
static tcgemm_gpu_cost_t cost_without_line(const tcgemm_kernel_t *row) {
    tcgemm_gpu_cost_t cost = cautious;
    for (int i = 0; i < num_rows(); ++i) {
        const tcgemm_kernel_t *const other = tcgemm_kernel_at(i);
        if (is_measured[i] && other->types == row->types &&
            strcmp(other->family->algo, row->family->algo) == 0 && cost_of[i].macs < cost.macs)
            cost.macs = cost_of[i].macs;
    }
    return cost;
}

static void find_lines(void) {
    for (int i = 0; i < num_rows(); ++i)
        find_line(i);
    for (int i = 0; i < num_rows(); ++i)
        if (tcgemm_kernel_at(i)->gpu && !is_measured[i])
            cost_of[i] = cost_without_line(tcgemm_kernel_at(i));
}

/* The row's number in the table, the lines found; -1 for a row that is not in it. */
static int index_of(const tcgemm_kernel_t *kernel) {
    (void)pthread_once(&once, find_lines);
    const int index = tcgemm_kernel_index(kernel);
    return index < MAX_ROWS ? index : -1;
}

const tcgemm_gpu_cost_t *tcgemm_gpu_cost_of(const tcgemm_kernel_t *kernel) {
    const int index = index_of(kernel);
    return index >= 0 ? &cost_of[index] : &cautious;
}

/* A Hopper with HBM3e: an H100 has 2 to 3.35 TB/s. */
static bool is_h200(const tcgemm_device_t *device) {
    static const double least_bandwidth = 4e12;
    return device->cc == 90 && device->bandwidth > least_bandwidth;
}

const tcgemm_gpu_cost_t *tcgemm_gpu_cost_on(const tcgemm_kernel_t *kernel,
                                            const tcgemm_device_t *device) {
    const int index = index_of(kernel);
    return index >= 0 && is_h200(device) && line_on_h200[index] > 0
               ? &cost_on_h200[line_on_h200[index] - 1]
               : tcgemm_gpu_cost_of(kernel);
}

int tcgemm_gpu_registers_of(const tcgemm_kernel_t *kernel) {
    const int index = index_of(kernel);
    return index >= 0 ? registers_of[index] : CAUTIOUS_REGISTERS;
}

tcgemm_gpu_cost_t tcgemm_gpu_cost_unmeasured(const tcgemm_kernel_t *kernel) {
    (void)pthread_once(&once, find_lines);
    return cost_without_line(kernel);
}
