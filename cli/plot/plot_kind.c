/* plot_kind.c - the kind follows from what varies:
 *
 *     k alone (one m, one n)                      k
 *     cubes of several sizes                      size
 *     else, with a peer beside them               peer
 *     one problem, several kernels                tile
 *     all else                                    roofline */
#include "plot/plot_kind.h"

#include "plot/plot_label.h"
#include "support/exit_status.h"
#include "support/message.h"

static bool is_cube(const plot_row_t *row) {
    return row->m == row->n && row->n == row->k;
}

/* Whether some row has this one's m, n and type, but another k. */
static bool varies_in_k(const plot_data_t *data, const plot_row_t *row) {
    for (size_t i = 0; i < data->count; ++i) {
        const plot_row_t *other = &data->rows[i];
        if (other->k != row->k && other->type == row->type && other->m == row->m &&
            other->n == row->n)
            return true;
    }
    return false;
}

static bool fits(const plot_data_t *data, plot_choice_t kind, const plot_row_t *row) {
    switch (kind) {
    case PLOT_SIZE:
        return is_cube(row);
    case PLOT_K:
        return varies_in_k(data, row);
    case PLOT_PEER:
        return row->theirs.rate > 0;
    case PLOT_MODEL:
        return row->predicted > 0 && row->seconds > 0;
    case PLOT_AUTO:
    case PLOT_TILE:
    case PLOT_ROOFLINE:
        break;
    }
    return true;
}

static size_t num_fitting(const plot_data_t *data, plot_choice_t kind) {
    size_t count = 0;
    for (size_t i = 0; i < data->count; ++i)
        count += fits(data, kind, &data->rows[i]);
    return count;
}

static plot_choice_t kind_for(const plot_data_t *data) {
    const unsigned varying = plot_label_varying(data);
    const unsigned problem = PROPERTIES_ALL & ~(unsigned)PROPERTIES_OF_METHOD;
    if ((varying & PROPERTY_SHAPE) && !(varying & PROPERTY_MN))
        return PLOT_K;
    if ((varying & PROPERTY_SHAPE) && num_fitting(data, PLOT_SIZE) == data->count)
        return PLOT_SIZE;
    if (num_fitting(data, PLOT_PEER) > 0)
        return PLOT_PEER;
    if ((varying & PROPERTIES_OF_METHOD) && !(varying & problem))
        return PLOT_TILE;
    return PLOT_ROOFLINE;
}

int plot_kind_choose(plot_data_t *data, plot_choice_t wanted, plot_choice_t *kind) {
    if (data->count == 0)
        return message_fail(CLI_BAD_FILE, "there is no measurement to draw");
    *kind = wanted == PLOT_AUTO ? kind_for(data) : wanted;
    const size_t before = data->count;
    const size_t fitting = num_fitting(data, *kind);
    if (fitting == 0)
        return message_fail(CLI_USAGE, "no measurement fits that kind of plot: %s",
                            *kind == PLOT_SIZE    ? "size takes cubes"
                            : *kind == PLOT_K     ? "k takes one m and n with several k"
                            : *kind == PLOT_MODEL ? "model takes tables that have predicted_seconds"
                                                  : "peer takes what was measured with --vs");
    /* In place: rows that vary in k do so among themselves, so none of those already moved to the
     * front is missed by a later one. */
    size_t kept = 0;
    for (size_t i = 0; i < before; ++i)
        if (fits(data, *kind, &data->rows[i]))
            data->rows[kept++] = data->rows[i];
    data->count = kept;
    if (kept < before)
        message_note("%zu of %zu measurements do not fit this kind of plot", before - kept, before);
    return CLI_OK;
}
