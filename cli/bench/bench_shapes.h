/* bench_shapes.h - the shapes that a command line of `bench` names. */
#ifndef CLI_BENCH_SHAPES_H
#define CLI_BENCH_SHAPES_H

#include "options/options.h"
#include "support/sizes.h"

/* Those of --shapes, then of --shape, then the cross product of -m, -n and -k. Returns an exit
 * status; the caller frees the list with sizes_free_shapes. */
int bench_shapes(const settings_t *settings, size_shapes_t *shapes);

#endif
