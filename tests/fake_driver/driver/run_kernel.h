/* run_kernel.h - what a kernel does to memory. */
#ifndef TCGEMM_TESTS_FAKE_DRIVER_RUN_KERNEL_H
#define TCGEMM_TESTS_FAKE_DRIVER_RUN_KERNEL_H

#include <stddef.h>

/* Computes the kernel of this name. `params` is a kernel_params_t whose pointers have been checked
 * and can be read and written here; grid and threads are those of the launch, smem its dynamic
 * shared memory. What a kernel computes follows from its name and its arguments alone. */
void run_kernel(const char *name, const void *params, unsigned grid, unsigned threads, size_t smem);

#endif
