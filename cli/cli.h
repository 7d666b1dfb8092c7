/* cli.h - the tool: its way in.
 *
 *     main -> tcgemm_cli_main -> options -> run | verify | bench | plot | explain | info | list
 *                             -> generate (for the build)
 *
 * The tool sees the public header only. Results go to stdout, everything else to stderr. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

/* Runs the tool and returns its exit status. */
int tcgemm_cli_main(int argc, char **argv);

#endif
