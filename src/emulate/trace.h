/* trace.h - who does what, in words: what the lanes of a warp do between two meetings is one line.
 * Nothing happens unless somebody listens. */
#ifndef TCGEMM_EMULATE_TRACE_H
#define TCGEMM_EMULATE_TRACE_H

#include "emulate/machine.h"

void tcgemm_trace_begin(void);
void tcgemm_trace_block(void);
/* The block in hand, which has begun before. */
void tcgemm_trace_turn(void);
void tcgemm_trace_copy(uint32_t to, uint32_t size, uint32_t bytes);
/* The running thread has a box brought there. */
void tcgemm_trace_box(uint32_t to, uint32_t size);
void tcgemm_trace_phase(uint32_t at, uint32_t phase);
void tcgemm_trace_commit(void);
void tcgemm_trace_wait(uint32_t pending);
/* The running thread's access to a matrix, at byte `at` of a line. */
void tcgemm_trace_access(const tcgemm_emulate_region_t *x, int64_t line, int64_t at, uint32_t size,
                         bool write);
void tcgemm_trace_shared_read(uint32_t at, uint32_t size);
void tcgemm_trace_shared_write(uint32_t at, uint32_t size);
/* What lay there is known no longer. */
void tcgemm_trace_forget(uint32_t at, uint32_t size);
/* A warp has met; all lanes of the thread's warp have come to a barrier or to their end. */
void tcgemm_trace_meeting(const thread_t *lanes);
void tcgemm_trace_barrier(const thread_t *thread);

#endif
