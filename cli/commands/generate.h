/* generate.h - man pages and shell completions, printed from the option table. */
#ifndef CLI_GENERATE_H
#define CLI_GENERATE_H

/* `what` is man, man-run, man-verify, ..., bash, zsh or fish. Returns an exit status. */
int generate(const char *what);

#endif
