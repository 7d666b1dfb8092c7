/* host_panels.h - a product whose matrices lie in host memory, of any size.
 *
 * The matrices travel through two pinned buffers, copied there by the CPU's threads while the other
 * is on its way, and are stored tightly on the GPU, every row on a 16-byte boundary. If all of them
 * do not fit there, or to overlap the ways with the work, D is computed in panels:
 *
 *             B panel      while a panel is computed, the next A panel arrives and the panel before
 *            k x pn        leaves; B stays while A passes by
 *     A     +-------+
 *    +---+  |   D   |      a whole batch item is one panel if it is small; small items go in groups
 *    |   |  +-------+      k is split only where even the smallest panels would not fit the GPU
 *    +---+  |   D   |      whatever is free there; then D adds up: beta = 1
 *    |   |  +-------+
 *    pm x k   pm x pn
 *
 * Each panel is planned like a product of its own, with the kernels and the parts of k of the
 * whole, so the bits of D do not depend on the partition.
 *
 * TCGEMM_CUDA_MEMORY_LIMIT (bytes) in the environment bounds the GPU memory used this way.
 */
#ifndef TCGEMM_CUDA_HOST_PANELS_H
#define TCGEMM_CUDA_HOST_PANELS_H

#include "cuda/device.h"
#include "plan/plan.h"

/* Runs the plan. The GPU's context is current. */
tcgemm_status_t tcgemm_gpu_run_panels(tcgemm_gpu_t *gpu, const struct tcgemm_plan *plan,
                                      const tcgemm_call_t *call, tcgemm_run_stats_t *stats);

#endif
