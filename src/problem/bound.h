/* bound.h - which bound the error of a kernel obeys; docs/numerics.md has the theory. */
#ifndef TCGEMM_PROBLEM_BOUND_H
#define TCGEMM_PROBLEM_BOUND_H

typedef enum tcgemm_bound {
    TCGEMM_BOUND_EXACT,        /* integers modulo 2^32 */
    TCGEMM_BOUND_ONE_ROUNDING, /* wide accumulation, D rounded once: the reference */
    TCGEMM_BOUND_NEAREST,      /* every sum rounded to nearest */
    TCGEMM_BOUND_FLUSHED,      /* the same; sums below the smallest normal f32 may become 0 */
    TCGEMM_BOUND_ODD,          /* pairs of products and sums rounded to odd; the same flushing */
    TCGEMM_BOUND_TRUNCATED,    /* tensor cores align some products and truncate their sum */
    TCGEMM_BOUND_SHORT         /* those of FP8 do, in 14 bits, 128 products at the most */
} tcgemm_bound_t;

#define TCGEMM_NEAREST_TEXT "T(k) u s + rounding of D, T(k) = min(k + 2, 3 sqrt(k) + 4)"

/* The bound in words. */
static inline const char *tcgemm_bound_text(tcgemm_bound_t bound) {
    switch (bound) {
    case TCGEMM_BOUND_EXACT:
        return "exact modulo 2^32";
    case TCGEMM_BOUND_ONE_ROUNDING:
        return "one rounding of D (wide accumulation); integers exact modulo 2^32";
    case TCGEMM_BOUND_NEAREST:
        return TCGEMM_NEAREST_TEXT;
    case TCGEMM_BOUND_FLUSHED:
        return TCGEMM_NEAREST_TEXT "; sums below 2^-126 may become 0";
    case TCGEMM_BOUND_ODD:
        return "T(k) u s + rounding of D, T(k) = min(k + 3, 3 sqrt(2 k) + 4): sums are rounded to "
               "odd; "
               "below 2^-126 they may become 0";
    case TCGEMM_BOUND_SHORT:
        return "T(k) u s + rounding of D, T(k) = min(k + 4, 72): FP8 tensor "
               "cores sum 128 products in 14 bits";
    case TCGEMM_BOUND_TRUNCATED:
    default:
        return "T(k) u s + rounding of D, T(k) = min(2 k + 4, k / 8 + 3 sqrt(k) + 8): tensor cores "
               "truncate";
    }
}

#endif
