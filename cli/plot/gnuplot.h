/* gnuplot.h - the plotting program, found on the PATH when a plot is asked for. */
#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include <stddef.h>
#include <stdio.h>

/* That there is one; else an exit status, and the fault has been reported. */
int gnuplot_check(void);

/* Runs a script; what it draws goes to `out`, a file that this process has flushed. Returns an exit
 * status, having reported the fault. */
int gnuplot_run(const char *script, size_t length, FILE *out);

#endif
