/* dots.h - a few rows or columns of D times lines of the other operand, that are read where they
 * are. */
#ifndef TCGEMM_CPU_DOTS_H
#define TCGEMM_CPU_DOTS_H

#include "plan/plan.h"
#include "problem/canonical.h"

/* Bytes of workspace that the plan's blocking takes, whose `dots` says which are few. */
size_t tcgemm_dots_bytes(const struct tcgemm_plan *plan);

/* The product, by the plan's threads; the workspace begins on 64 bytes. */
void tcgemm_run_dots(const struct tcgemm_plan *plan, const tcgemm_call_t *call, char *workspace);

#endif
