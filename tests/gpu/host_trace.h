/* host_trace.h - what the GPU does in one product of host matrices, copy by copy and kernel by
 * kernel, with times: events before and after each call that the library makes. */
#ifndef TCGEMM_TESTS_GPU_HOST_TRACE_H
#define TCGEMM_TESTS_GPU_HOST_TRACE_H

/* From now on calls are noted. */
void host_trace_begin(void);

/* Ends that, and prints a line for each call: when it was made, began and ended on the GPU. The
 * GPU's context is current and nothing is on its way. */
void host_trace_end(void);

#endif
