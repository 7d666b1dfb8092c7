/* emulated.h - the data path of a GPU row: the kernels of a plan's steps, run by the emulator. */
#ifndef TCGEMM_SIM_EMULATED_H
#define TCGEMM_SIM_EMULATED_H

#include "emulate/emulate.h"
#include "sim/sim.h"

/* A kernel that can be run. */
typedef struct tcgemm_emulated_kernel {
    tcgemm_emulate_run_fn *run; /* of the module */
    void *kernel;
} tcgemm_emulated_kernel_t;

/* Opens the module for the architecture of the plan's device and finds the kernel of the step by
 * its name. Modules are looked for in the folder TCGEMM_EMULATOR, beside the library and the
 * program, and stay open. Returns OK, or UNSUPPORTED with a sentence. */
tcgemm_status_t tcgemm_emulated_find(const struct tcgemm_plan *plan, const tcgemm_step_t *step,
                                     tcgemm_emulated_kernel_t *found);

/* The same for all steps of the plan. */
tcgemm_status_t tcgemm_emulated_check(const struct tcgemm_plan *plan);

#endif
