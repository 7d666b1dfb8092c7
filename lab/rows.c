/* rows.c - the GPU rows of the kernel table as the labs read them: one line each,
 *
 *     TCGEMM_GPU(algo, type, module, tag, min_cc, max_cc, bm, bn, bk, wm, wn, im, in, ik, threads,
 *                stages, smem_bytes, blocks_per_sm, persistent)
 *
 *     cc -std=gnu17 -Isrc -Iinclude lab/rows.c build/src/libtcgemm.a -lpthread -ldl -lm -o rows
 *     rows [family ...]     of these folders of src/gpu/families alone
 *
 * Not those that run the kernels of another row.
 */
#include <stdio.h>
#include <string.h>

#include "gpu/gpu_row.h"

static bool is_wanted(const tcgemm_gpu_row_t *row, int count, char **families) {
    for (int i = 0; i < count; ++i) {
        const size_t length = strlen(families[i]);
        if (strncmp(row->module, families[i], length) == 0 && row->module[length] == '_')
            return true;
    }
    return count == 0;
}

/* The entry is tcgemm_<algo>_<type>_<bm>x...: what stands before the type. */
static int algo_length(const char *algo, const char *type) {
    char between[32];
    (void)snprintf(between, sizeof between, "_%s_", type);
    const char *end = strstr(algo, between);
    return end ? (int)(end - algo) : 0;
}

int main(int argc, char **argv) {
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_gpu_row_t *r = tcgemm_kernel_at(i)->gpu;
        if (!r || tcgemm_gpu_widens(r) || !is_wanted(r, argc - 1, argv + 1))
            continue;
        const char *type = tcgemm_type_info(r->type)->name;
        const char *algo = r->entry + strlen("tcgemm_");
        (void)printf("TCGEMM_GPU(%.*s, %s, %s, %s, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, "
                     "%zu, %d, %d)\n",
                     algo_length(algo, type), algo, type, r->module, r->tag, r->min_cc, r->max_cc,
                     r->bm, r->bn, r->bk, r->wm, r->wn, r->im, r->in, r->ik, r->threads, r->stages,
                     r->smem_bytes, r->blocks_per_sm, r->persistent);
    }
    return 0;
}
