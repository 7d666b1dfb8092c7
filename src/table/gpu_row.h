/* gpu_row.h - the columns of a GPU row of kernels.def. */
#ifndef TCGEMM_TABLE_GPU_ROW_H
#define TCGEMM_TABLE_GPU_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "device/facts.h"

/* What a row costs, in cycles of one SM: a line of gpu_cost.def. */
typedef struct tcgemm_gpu_cost {
    double macs, wait, start, finish, narrow;
    double layout[4]; /* NN, NT, TN, TT */
} tcgemm_gpu_cost_t;

typedef struct tcgemm_gpu_row {
    const char *entry; /* the kernel's symbol without _nn, _nt, _tn, _tt */
    const char *module;
    const char *tag;
    tcgemm_type_t type;
    int min_cc, max_cc; /* 10 x compute capability; max_cc 0: no limit */
    int bm, bn, bk;     /* block tile */
    int wm, wn;         /* warp tile */
    int im, in, ik;     /* instruction tile */
    int threads;        /* per block */
    int stages;
    size_t smem_bytes; /* dynamic, per block */
    int blocks_per_sm;
    bool persistent;
    bool by_instruction; /* plan_options.tile names im x in x ik rather than bm x bn x bk */
    int registers;       /* per thread, the most on any architecture: gpu_registers.def */
    const tcgemm_gpu_cost_t *cost;
} tcgemm_gpu_row_t;

/* True if the device has the architecture and the shared memory for the row. */
static inline bool tcgemm_gpu_row_fits(const tcgemm_gpu_row_t *row, const tcgemm_device_t *device) {
    return device->cc >= row->min_cc && (row->max_cc == 0 || device->cc <= row->max_cc) &&
           row->smem_bytes <= device->smem_block_bytes;
}

/* True for a row that accumulates in f16: it serves TCGEMM_FLAG_F16_ACCUMULATE alone. */
static inline bool tcgemm_gpu_row_sums_f16(const tcgemm_gpu_row_t *row) {
    return strstr(row->tag, "f16acc") != NULL;
}

#endif
