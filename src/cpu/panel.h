/* panel.h - where the CPU's packed panels keep their lanes, and which unit of work is where.
 *
 * A packed operand is cut into panels of `width` lines (mr rows of A, nr columns of B), one after
 * the other; a panel is its steps of k, each a lane of every line:
 *
 *     lines     0..w-1            w..2w-1          a lane holds ku elements of k
 *     panel   | s0 s1 s2 ... | s0 s1 s2 ... |      step s: lane of line 0, line 1, ... line w-1
 *
 * A block of D is cut into units of mc x nb, numbered down the rows first: 0 1 2 | 3 4 5 | ..
 */
#ifndef TCGEMM_CPU_PANEL_H
#define TCGEMM_CPU_PANEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lanes along k. */
static inline int64_t tcgemm_panel_steps(int64_t k, int ku) {
    return k / ku + (k % ku != 0);
}

/* The byte where the panel begins whose first line is `line`, a multiple of the width. */
static inline int64_t tcgemm_panel_at(int64_t line, int64_t steps, int lane_bytes) {
    return line * steps * lane_bytes;
}

/* The lane of a step and line inside a panel. */
static inline int64_t tcgemm_panel_lane(int64_t step, int line, int width) {
    return step * width + line;
}

/* The word of 4 bytes of a panel of 64-byte lanes that is word `word` of a lane (ukernel.h). */
static inline int64_t tcgemm_panel_word(int64_t step, int line, int word, int width, bool is_b) {
    return is_b ? (step * 16 + word) * width + line
                : tcgemm_panel_lane(step, line, width) * 16 + word;
}

/* Parts of a workspace begin on a line of memory. */
static inline size_t tcgemm_align64(int64_t bytes) {
    return ((size_t)bytes + 63) & ~(size_t)63;
}

static inline char *tcgemm_element_at(const void *base, int64_t index, int bytes) {
    return (char *)(uintptr_t)base + index * bytes;
}

typedef struct tcgemm_unit {
    int64_t row, col; /* of the block, where the unit begins */
} tcgemm_unit_t;

static inline int64_t tcgemm_unit_count(int64_t rows, int64_t cols, int64_t mc, int64_t nb) {
    return (rows / mc + (rows % mc != 0)) * (cols / nb + (cols % nb != 0));
}

static inline tcgemm_unit_t tcgemm_unit_at(int64_t unit, int64_t rows, int64_t mc, int64_t nb) {
    const int64_t down = rows / mc + (rows % mc != 0);
    tcgemm_unit_t at = {0, 0};
    at.row = unit % down * mc;
    at.col = unit / down * nb;
    return at;
}

#endif
