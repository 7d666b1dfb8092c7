/* split.h - a loop cut into one piece for each thread. Verification starts threads of its own, so
 * that it shares nothing with the code that it judges. */
#ifndef TCGEMM_REF_SPLIT_H
#define TCGEMM_REF_SPLIT_H

#include <stdint.h>

#define TCGEMM_SPLIT_MAX 64

/* Calls work(context, worker, begin, end) for num_workers (1 .. TCGEMM_SPLIT_MAX) neighbouring
 * pieces of [0, count) and returns when all are done. A thread that cannot be started costs time
 * only: the caller does its piece. */
void tcgemm_split(int num_workers, int64_t count,
                  void (*work)(void *context, int worker, int64_t begin, int64_t end),
                  void *context);

#endif
