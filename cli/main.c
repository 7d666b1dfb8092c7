/* main.c - the program. Everything else is a library, so that the tests can call its parts. */
#include "cli.h"

int main(int argc, char **argv) {
    return tcgemm_cli_main(argc, argv);
}
