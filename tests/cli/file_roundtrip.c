/* file_roundtrip.c - reads a matrix and writes it again, for tests/cli/files_numpy.py.
 *
 *     file_roundtrip FROM TO     one pair
 *     file_roundtrip             pairs from the standard input, "FROM<tab>TO" a line
 *
 * For each pair it prints "dtype rows cols order" or the message of the failure. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "files/matrix.h"

static int convey(const char *from, const char *to) {
    matrix_t m;
    file_error_t err;
    bool ok = matrix_load(from, MATRIX_NO_HINT, &m, &err);
    if (ok)
        ok = matrix_save(to, &m, true, &err);
    if (ok)
        printf("%s %" PRId64 " %" PRId64 " %s\n", tcgemm_dtype_name(m.dtype), m.rows, m.cols,
               m.order == TCGEMM_COL_MAJOR ? "col" : "row");
    else
        printf("error %d: %s\n", err.exit_status, err.message);
    matrix_free(&m);
    return ok ? 0 : err.exit_status;
}

static int convey_all(void) {
    char line[8192];
    int worst = 0;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        char *tab = strchr(line, '\t');
        if (tab == NULL)
            return 2;
        *tab = '\0';
        const int status = convey(line, tab + 1);
        worst = status > worst ? status : worst;
    }
    return worst;
}

int main(int argc, char **argv) {
    if (argc != 1 && argc != 3) {
        fprintf(stderr, "usage: file_roundtrip [FROM TO]\n");
        return 2;
    }
    return argc == 3 ? convey(argv[1], argv[2]) : convey_all();
}
