/* verify.h - the numbers of tcgemm_verify, which itself is public (tcgemm.h, section 10). */
#ifndef TCGEMM_REF_VERIFY_H
#define TCGEMM_REF_VERIFY_H

enum {
    /* Elements that SAMPLE compares one by one; if k is very long, fewer. */
    TCGEMM_VERIFY_MAX_SAMPLES = 4096,
    TCGEMM_VERIFY_MIN_SAMPLES = 512,
    /* Rows with the highest scores of the random vectors that it compares whole in any case, and
     * suspected rows that it compares whole whatever that costs. */
    TCGEMM_VERIFY_ALWAYS_ROWS = 4,
    TCGEMM_VERIFY_MIN_ROWS = 8
};

#endif
