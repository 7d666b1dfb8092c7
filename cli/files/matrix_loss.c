/* matrix_loss.c - both sides of a conversion as f64, which holds every element of every type. */
#include <math.h>
#include <stddef.h>

#include "files/matrix.h"

enum { CHUNK = 4096 };

/* A number that rounding has moved lies within a quarter of what it became, or within a half for
 * whole numbers; one that was beyond the range does not, unless by so little that nobody minds. */
static bool is_clipped(double before, double after) {
    const double moved = fabs(before - after);
    return isinf(before) ||
           (fabs(after) < fabs(before) && moved > 0.5 && moved > 0.25 * fabs(after));
}

static void look(double before, double after, int64_t index, matrix_loss_t *loss) {
    if (before == after || (isnan(before) && isnan(after)))
        return;
    if (isnan(before))
        ++loss->nans;
    else if (isnan(after) || isinf(after))
        ++loss->overflowed;
    else if (is_clipped(before, after))
        ++loss->clipped;
    if (loss->inexact++ > 0)
        return;
    loss->index = index;
    loss->value = before;
}

void matrix_compare(const matrix_t *before, const matrix_t *after, matrix_loss_t *loss) {
    double old[CHUNK];
    double new[CHUNK];
    const int64_t lines = before->order == TCGEMM_COL_MAJOR ? before->cols : before->rows;
    const int64_t count = before->batch * lines * before->ld; /* from a file: tight */
    *loss = (matrix_loss_t){.index = -1};
    for (int64_t at = 0; at < count; at += CHUNK) {
        const int64_t n = count - at < CHUNK ? count - at : CHUNK;
        const int64_t from = at * tcgemm_dtype_bits(before->dtype) / 8;
        const int64_t to = at * tcgemm_dtype_bits(after->dtype) / 8;
        if (tcgemm_convert(TCGEMM_DTYPE_F64, old, before->dtype, (const char *)before->data + from,
                           n) != TCGEMM_STATUS_OK ||
            tcgemm_convert(TCGEMM_DTYPE_F64, new, after->dtype, (const char *)after->data + to,
                           n) != TCGEMM_STATUS_OK)
            return;
        for (int64_t i = 0; i < n; ++i)
            look(old[i], new[i], at + i, loss);
    }
}
