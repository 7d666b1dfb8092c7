/* table.c - the rows of all families as one list. */
#include "table/table.h"

#include <pthread.h>

#include "base/types.h"
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
        const int rows = families[f]->num_rows;
        if (kernel && kernel->family == families[f])
            return kernel >= families[f]->rows && kernel < families[f]->rows + rows
                       ? before + (int)(kernel - families[f]->rows)
                       : -1;
        before += rows;
    }
    return -1;
}

/* ---- by type ---- */

/* Room for all rows once for each of their types, and the ends of the lists. */
enum { MAX_TYPES = 64, ROOM = 4096 };

static const tcgemm_kernel_t *by_type[ROOM];
static const tcgemm_kernel_t *const *first_of[2][MAX_TYPES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void list_by_type(void) {
    const int count = tcgemm_num_kernels();
    int used = 0;
    for (int gpu = 0; gpu < 2; ++gpu)
        for (int type = 1; type <= tcgemm_type_count() && type < MAX_TYPES; ++type) {
            first_of[gpu][type] = &by_type[used];
            for (int i = 0; i < count && used < ROOM - 1; ++i) {
                const tcgemm_kernel_t *row = tcgemm_kernel_at(i);
                if ((row->gpu != NULL) == gpu && (row->types & TCGEMM_TYPE_BIT(type)) != 0)
                    by_type[used++] = row;
            }
            used += used < ROOM - 1; /* the NULL that is there */
        }
}

const tcgemm_kernel_t *const *tcgemm_kernels_for(tcgemm_type_t type, bool gpu) {
    (void)pthread_once(&once, list_by_type);
    return first_of[gpu][type];
}
