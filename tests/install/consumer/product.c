/* A product by a program outside the tree; C and C++ alike. */
#include <stdio.h>
#include <tcgemm/tcgemm.h>

int main(void) {
    const float a[2 * 3] = {1, 2, 3, 4, 5, 6};
    const float b[3 * 2] = {1, 0, 0, 1, 1, 1};
    float d[2 * 2] = {0, 0, 0, 0};

    if (tcgemm_version() !=
        10000 * TCGEMM_VERSION_MAJOR + 100 * TCGEMM_VERSION_MINOR + TCGEMM_VERSION_PATCH) {
        fprintf(stderr, "header and library differ in their version\n");
        return 1;
    }
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 2, 2, 3);
    if (tcgemm_gemm(&p, 1.0, a, b, 0.0, NULL, d) != TCGEMM_STATUS_OK) {
        fprintf(stderr, "%s\n", tcgemm_last_error());
        return 1;
    }
    printf("%g %g\n%g %g\n", (double)d[0], (double)d[1], (double)d[2], (double)d[3]);
    return 0;
}
