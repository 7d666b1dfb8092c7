/* threads.h - how many threads a product takes unless it is told. */
#ifndef TCGEMM_HOST_THREADS_H
#define TCGEMM_HOST_THREADS_H

/* TCGEMM_NUM_THREADS or OMP_NUM_THREADS as they stood at the first call; else the processors that
 * the calling thread may run on now, but no more than its control group may use now. Between 1 and
 * TCGEMM_MAX_THREADS. A system call, and files of the control group at most once a second: for
 * products that are worth threads. */
int tcgemm_default_threads(void);

/* The processors' worth of time that the control groups of this process allow, rounded up, INT_MAX
 * without a limit: the least of cpu.max (version 2) and cpu.cfs_quota_us / cpu.cfs_period_us
 * (version 1) of the group and all above it. `root` stands before /proc and /sys, "" for those of
 * this machine. */
int tcgemm_cgroup_cpus(const char *root);

#endif
