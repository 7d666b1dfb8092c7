/* product.c - see product.h. */
#include "sim/product.h"

#include <string.h>

/* ---- operands ---- */

/* The rows and slots that the names belong to; false if they contradict each other. */
static bool find_names(tcgemm_sim_operand_t *x) {
    bool is_sound = true;
    for (int r = 0; r < x->rows; ++r)
        x->mn[r] = TCGEMM_SIM_ZERO;
    for (int s = 0; s < x->slots; ++s)
        x->k[s] = TCGEMM_SIM_ZERO;
    x->is_empty = true;
    for (int r = 0; r < x->rows; ++r)
        for (int s = 0; s < x->slots; ++s) {
            const tcgemm_sim_name_t name = x->name[r][s];
            if (name.mn == TCGEMM_SIM_ZERO)
                continue;
            if (x->mn[r] == TCGEMM_SIM_ZERO)
                x->mn[r] = name.mn;
            if (x->k[s] == TCGEMM_SIM_ZERO)
                x->k[s] = name.k;
            is_sound = is_sound && x->mn[r] == name.mn && x->k[s] == name.k;
            x->is_empty = false;
        }
    return is_sound;
}

/* False if there is a zero where row and slot are those of an element. */
static bool is_filled(const tcgemm_sim_operand_t *x) {
    for (int r = 0; r < x->rows; ++r)
        for (int s = 0; s < x->slots; ++s)
            if (x->name[r][s].mn == TCGEMM_SIM_ZERO && x->mn[r] != TCGEMM_SIM_ZERO &&
                x->k[s] != TCGEMM_SIM_ZERO)
                return false;
    return true;
}

void tcgemm_sim_identify(tcgemm_sim_t *sim, int side, tcgemm_sim_operand_t *x) {
    const bool is_a = side == TCGEMM_SIDE_A;
    if (!find_names(x))
        tcgemm_sim_fault(sim,
                         "an instruction receives elements of %s that do not belong together, such "
                         "as (%d, %d) and (%d, %d)",
                         is_a ? "A" : "B", x->name[0][0].mn, x->name[0][0].k,
                         x->name[x->rows - 1][x->slots - 1].mn,
                         x->name[x->rows - 1][x->slots - 1].k);
    else if (!is_filled(x))
        tcgemm_sim_fault(sim, "an instruction receives a zero instead of an element of %s",
                         is_a ? "A" : "B");
    sim->report->warp_loads += (int64_t)x->rows * x->slots;
    if (x->is_empty)
        return;
    for (int r = 0; r < x->rows; ++r)
        for (int s = 0; s < x->slots; ++s)
            x->value[s][r] = x->name[r][s].mn == TCGEMM_SIM_ZERO
                                 ? 0.0
                                 : tcgemm_sim_value(sim, side, x->name[r][s]);
}

/* ---- products ---- */

/* Rows (columns) of a product stay what they are at its first step. */
static void keep_names(tcgemm_sim_t *sim, int32_t *kept, const int32_t *names, int count,
                       const char *what) {
    for (int i = 0; i < count; ++i) {
        if (names[i] == TCGEMM_SIM_ZERO)
            continue;
        if (kept[i] == TCGEMM_SIM_ZERO)
            kept[i] = names[i];
        else if (kept[i] != names[i])
            tcgemm_sim_fault(sim, "an accumulator of %s %d receives products of %s %d", what,
                             kept[i], what, names[i]);
    }
}

/* Marks k as added; a fault if it was. Kernels walk along k, so a window of it is enough. */
static void add_k(tcgemm_sim_t *sim, tcgemm_sim_product_t *product, int32_t k) {
    for (; product->highest < k; ++product->highest) {
        const int64_t next = (product->highest + 1) % TCGEMM_SIM_WINDOW;
        product->seen[next / 64] &= ~(UINT64_C(1) << next % 64);
    }
    const int64_t at = k % TCGEMM_SIM_WINDOW;
    const uint64_t bit = UINT64_C(1) << at % 64;
    if (k <= product->highest - TCGEMM_SIM_WINDOW || (product->seen[at / 64] & bit))
        tcgemm_sim_fault(sim, "k = %d is added twice to row %d, column %d", k, product->row[0],
                         product->col[0]);
    product->seen[at / 64] |= bit;
    product->terms += 1;
}

static void agree_on_k(tcgemm_sim_t *sim, tcgemm_sim_product_t *product,
                       const tcgemm_sim_operand_t *a, const tcgemm_sim_operand_t *b) {
    for (int s = 0; s < a->slots; ++s) {
        if (a->k[s] != b->k[s])
            tcgemm_sim_fault(sim,
                             a->k[s] == TCGEMM_SIM_ZERO || b->k[s] == TCGEMM_SIM_ZERO
                                 ? "a zero beyond k is multiplied by an element: k %d of A, %d of "
                                   "B, which may be NaN"
                                 : "k = %d of A is multiplied by k = %d of B",
                             a->k[s], b->k[s]);
        else if (a->k[s] != TCGEMM_SIM_ZERO)
            add_k(sim, product, a->k[s]);
    }
}

void tcgemm_sim_multiply(tcgemm_sim_t *sim, tcgemm_sim_product_t *product,
                         const tcgemm_sim_operand_t *a, const tcgemm_sim_operand_t *b) {
    sim->report->num_products += 1;
    sim->report->num_macs += (int64_t)a->rows * b->rows * a->slots;
    keep_names(sim, product->row, a->mn, a->rows, "row");
    keep_names(sim, product->col, b->mn, b->rows, "column");
    if (a->is_empty || b->is_empty) /* rows or columns beyond D, or steps beyond k */
        return;
    agree_on_k(sim, product, a, b);
    for (int i = 0; i < a->rows; ++i) {
        if (a->mn[i] == TCGEMM_SIM_ZERO)
            continue;
        double *sum = product->sum + (size_t)i * (size_t)product->cols;
        for (int s = 0; s < a->slots; ++s) {
            const double x = a->value[s][i];
            const double *y = b->value[s];
            for (int j = 0; j < b->rows; ++j)
                sum[j] += x * y[j];
        }
    }
}

/* ---- arrays of them ---- */

tcgemm_sim_product_t *tcgemm_sim_products_make(tcgemm_sim_t *sim, int64_t count, int rows,
                                               int cols) {
    tcgemm_sim_product_t *products = tcgemm_sim_allocate(sim, count, sizeof *products);
    for (int64_t i = 0; products && i < count; ++i) {
        products[i].rows = rows;
        products[i].cols = cols;
    }
    return products;
}

void tcgemm_sim_products_clear(tcgemm_sim_product_t *products, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        tcgemm_sim_product_t *x = &products[i];
        memset(x->sum, 0, sizeof x->sum);
        memset(x->seen, 0, sizeof x->seen);
        for (int r = 0; r < TCGEMM_SIM_MAX_ROWS; ++r)
            x->row[r] = x->col[r] = TCGEMM_SIM_ZERO;
        x->terms = 0;
        x->highest = -1;
    }
}
