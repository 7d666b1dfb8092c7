/* progress.h - one line on a terminal's stderr for work of more than a second.
 *
 * Nothing is drawn when stderr is piped, TERM is "dumb", or during the first second. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

/* Allows or forbids the bar altogether (--quiet, --no-progress). */
void progress_enable(int enabled);

/* Starts a bar. With `seconds` > 0 it advances by the clock towards that estimate and never beyond
 * 99 %; otherwise progress_set moves it. Ends a bar that is still there. */
void progress_begin(const char *label, double seconds);

/* Sets the part that is done, 0 .. 1. */
void progress_set(double fraction);

/* Wipes the bar off its line, so that a row can be printed; it comes back by itself. */
void progress_clear(void);

/* Ends the bar. Harmless without one. */
void progress_end(void);

#endif
