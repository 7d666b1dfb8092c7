/* clock.h - cycles a second: what the processor is said to do, and what it does.
 *
 * The nominal clock is a fact of the machine and the same in every run: the planner reckons with
 * it, so that neither a busy nor an idle machine changes what a plan does. The measured clock is
 * for showing, and for peaks beside which measured rates are set.
 */
#ifndef TCGEMM_HOST_CLOCK_H
#define TCGEMM_HOST_CLOCK_H

/* The first that is told of: the base frequency of CPUID leaf 0x16; the one in the processor's name
 * ("... CPU @ 2.60GHz"); base_frequency, then cpuinfo_max_freq of sysfs; else 3 GHz. */
double tcgemm_nominal_clock_hz(void);

/* The number before "GHz" or "MHz" at the end of a processor's name, in Hz; 0 if there is none. */
double tcgemm_clock_of_brand(const char *brand);

/* Cycles a second of one core at work, measured at the first call in 10 to 20 ms: a chain of
 * dependent additions in short windows, until the fastest three agree. (A core needs milliseconds
 * to speed up; what interrupts a window makes it slower, never faster.) Never above the highest
 * frequency that CPUID or sysfs names. */
double tcgemm_clock_hz(void);

/* Measures again and keeps the faster result: for who has seen more than this clock can do. */
double tcgemm_clock_again(void);

#endif
