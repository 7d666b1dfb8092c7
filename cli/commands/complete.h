/* complete.h - completions for the three shells, printed from the option table. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

void complete_bash(void);
void complete_zsh(void);
void complete_fish(void);

#endif
