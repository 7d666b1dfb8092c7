/* panel_clock.h - what the way of a unit of host matrices through a GPU costs, by a model.
 *
 * Four clocks run: the way in, the SMs, the way out, and one for each product that is under way
 * beside another. A panel comes when the way in is free; a strip is computed when its panel has
 * come, an SM and a buffer of D are free; it leaves when it is computed and the way out is free.
 *
 * A copy of parts of lines takes longer than its bytes do, by about as much as the bytes from its
 * first to its last line would with 1.1 TB/s: measured on an H200 with both ways and the SMs busy,
 * whatever the number of lines; it looks as if the GPU walked through the pages in between. So an
 * operand whose panels would be parts of its lines had better come whole, or in few panels.
 */
#ifndef TCGEMM_GPU_PANEL_CLOCK_H
#define TCGEMM_GPU_PANEL_CLOCK_H

#include "gpu/partition.h"
#include "plan/plan.h"

/* Seconds of an H200's kind of bus (PCIe 5, 16 lanes) and of the plan's device. Matrices are taken
 * as pinned. */
double tcgemm_panel_clock(const struct tcgemm_plan *plan, const tcgemm_partition_t *c);

#endif
