/* table.c - the rows of all families as one list. */
#include "table/table.h"

#include "table/family.h"

static const tcgemm_kernel_family_t *const families[] = {
#define FAMILY(name) &tcgemm_family_##name,
#include "table/families.def"
};

enum { NUM_FAMILIES = sizeof families / sizeof families[0] };

int tcgemm_num_kernels(void) {
    int count = 0;
    for (int f = 0; f < NUM_FAMILIES; ++f)
        count += families[f]->num_rows;
    return count;
}

const tcgemm_kernel_t *tcgemm_kernel_at(int index) {
    for (int f = 0; f < NUM_FAMILIES && index >= 0; ++f) {
        if (index < families[f]->num_rows)
            return &families[f]->rows[index];
        index -= families[f]->num_rows;
    }
    return NULL;
}

int tcgemm_kernel_index(const tcgemm_kernel_t *kernel) {
    int before = 0;
    for (int f = 0; f < NUM_FAMILIES; ++f) {
        if (kernel && kernel->family == families[f] && kernel >= families[f]->rows &&
            kernel < families[f]->rows + families[f]->num_rows)
            return before + (int)(kernel - families[f]->rows);
        before += families[f]->num_rows;
    }
    return -1;
}
