/* measured.c - finds the lines of measured/ by the names of rows, once: for rows that run the code
 * of others, by the names of those. */
#include "gpu/measured.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "gpu/gpu_row.h"

/* A line of cost.def, by its number there. */
enum {
#define TCGEMM_COST(row, ...) LINE_##row,
#include "gpu/measured/cost.def"
};

/* The constants of a line, with as many digits as it has. There are pointers nowhere in these
 * tables: each would have to be put right when the library is loaded, and is three times as long in
 * it. */
typedef struct constants {
    float macs, wait, start, finish, narrow, unaligned, nt, tn, tt;
} constants_t;

#define CONSTANTS(macs, wait, start, finish, narrow, unaligned, nt, tn, tt)                        \
    {                                                                                              \
        (float)(macs), (float)(wait), (float)(start), (float)(finish), (float)(narrow),            \
            (float)(unaligned), (float)(nt), (float)(tn), (float)(tt)                              \
    }

static const constants_t costs[] = {
#define TCGEMM_COST(row, ...) CONSTANTS(__VA_ARGS__),
#include "gpu/measured/cost.def"
};

/* The names of the lines, of rows without "gpu_", one behind another. */
static const struct {
#define TCGEMM_COST(row, ...) char row[sizeof #row];
#include "gpu/measured/cost.def"
} names_of_costs = {
#define TCGEMM_COST(row, ...) #row,
#include "gpu/measured/cost.def"
};

static const struct {
    int16_t line; /* of cost.def */
    constants_t cost;
} costs_on_h200[] = {
#define TCGEMM_COST(row, ...) {LINE_##row, CONSTANTS(__VA_ARGS__)},
#include "gpu/measured/cost_h200.def"
};

static const uint8_t registers[] = {
#define TCGEMM_REGISTERS(row, number) (number),
#include "gpu/measured/registers.def"
};

static const struct {
#define TCGEMM_REGISTERS(row, number) char row[sizeof #row];
#include "gpu/measured/registers.def"
} names_of_registers = {
#define TCGEMM_REGISTERS(row, number) #row,
#include "gpu/measured/registers.def"
};

enum {
    NUM_ON_H200 = sizeof costs_on_h200 / sizeof costs_on_h200[0],
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

static tcgemm_gpu_cost_t cost_of[MAX_ROWS], cost_on_h200[MAX_ROWS];
static bool is_measured[MAX_ROWS];
static int registers_of[MAX_ROWS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static tcgemm_gpu_cost_t cost_of_constants(const constants_t *c) {
    return (tcgemm_gpu_cost_t){.macs = c->macs,
                               .wait = c->wait,
                               .start = c->start,
                               .finish = c->finish,
                               .narrow = c->narrow,
                               .unaligned = c->unaligned,
                               .layout = {1.0, c->nt, c->tn, c->tt}};
}

/* The number of a name among `bytes` of names; -1 if it is not there. */
static int find_name(const char *name, const void *names, size_t bytes) {
    const size_t length = strlen(name) + 1;
    const char *at = names;
    for (int i = 0; bytes > 0; ++i) {
        const size_t other = strlen(at) + 1;
        if (other == length && memcmp(at, name, length) == 0)
            return i;
        at += other;
        bytes -= other;
    }
    return -1;
}

static void find_line(int i) {
    const tcgemm_gpu_row_t *const row = tcgemm_kernel_at(i)->gpu;
    cost_of[i] = cost_on_h200[i] = cautious;
    registers_of[i] = CAUTIOUS_REGISTERS;
    if (!row)
        return;
    const char *const name = row->entry + strlen("tcgemm_");
    const int line = find_name(name, &names_of_costs, sizeof names_of_costs);
    const int of_registers = find_name(name, &names_of_registers, sizeof names_of_registers);
    is_measured[i] = line >= 0;
    if (line >= 0)
        cost_of[i] = cost_on_h200[i] = cost_of_constants(&costs[line]);
    for (int j = 0; j < NUM_ON_H200; ++j)
        if (costs_on_h200[j].line == line)
            cost_on_h200[i] = cost_of_constants(&costs_on_h200[j].cost);
    if (of_registers >= 0)
        registers_of[i] = registers[of_registers];
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
            cost_of[i] = cost_on_h200[i] = cost_without_line(tcgemm_kernel_at(i));
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
    return index >= 0 && is_h200(device) ? &cost_on_h200[index] : tcgemm_gpu_cost_of(kernel);
}

int tcgemm_gpu_registers_of(const tcgemm_kernel_t *kernel) {
    const int index = index_of(kernel);
    return index >= 0 ? registers_of[index] : CAUTIOUS_REGISTERS;
}

tcgemm_gpu_cost_t tcgemm_gpu_cost_unmeasured(const tcgemm_kernel_t *kernel) {
    (void)pthread_once(&once, find_lines);
    return cost_without_line(kernel);
}
