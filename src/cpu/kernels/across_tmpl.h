/* across_tmpl.h - a few rows times many lines across k: rows of A times a row-major B, or columns
 * of B times rows of A that lie side by side. The includer defines one type of lines.
 *
 *           lines ->
 *      k   v v v v | v v v v | ...     a few rows of k at a time (TCGEMM_STEPS_ACROSS), along
 *          v v v v | v v v v |         all lines: as many streams as prefetchers follow, each long.
 *          ..                          Down the rows of k they would lose each page after a piece.
 *      sums, i x 4 vectors, in registers down these rows; they wait in `partial` for the next rows
 *
 * An element's multiply-adds are those of a tile: k in order, one sum, the same bits. Nothing of
 * the lines is packed; what is not of the sums' type is converted as it is loaded.
 *
 * To be defined, beside what dots_tmpl.h keeps for all types, and LINE_LOAD and LINE_SOME of this
 * one:
 *   ACROSS_NAME                    of the function
 *   ACROSS_ELEMENT                 of a line
 *   ACROSS_STORE                   what dots_tmpl.h made of the same sums: <DOTS_NAME>_store
 * and, once for all types with the same numbers:
 *   ACROSS_TURN(t, sums, pitch, first, lines)
 *                                  stores the sums of rows that lie `pitch` apart to a D in which
 *                                  rows of x are columns
 *   ACROSS_VECTORS(width)          of lines beside each other: 1 to 4
 *   ACROSS_MOST                    rows at a time, DOTS_MOST if ACROSS_IS_SLOW: if elements take
 *                                  several instructions to widen
 */

/* Bytes that each row of k is fetched ahead, to the second level or to the first one, if it has
 * room; and rows of x with which that does not take longer than it gains, or more where prefetchers
 * lose rows and these lie in many sets. */
#ifndef ACROSS_AHEAD
#define ACROSS_AHEAD        1024
#define ACROSS_NEAR         512
#define ACROSS_MOST_FETCHED 8
#endif
#ifndef ACROSS_IS_SLOW
#define ACROSS_IS_SLOW 0
#endif
#define ACROSS_PASTE_(x, y) x##y
#define ACROSS_PASTE(x, y)  ACROSS_PASTE_(x, y)
#define ACROSS_LOCAL(name)  ACROSS_PASTE(ACROSS_PASTE(ACROSS_NAME, _), name)

/* D's elements of all rows and of `vectors` vectors of lines. Once for all widths, for it is long
 * code. */
static TCGEMM_NEVER_INLINE void ACROSS_LOCAL(store)(const tcgemm_dots_t *t, const DOTS_VEC *sums,
                                                    int vectors, int first) {
    if (t->num_rows > 1 && t->d_line != 1 && t->d_row == 1 && !t->c) {
        const int lines = (int)min_i64(t->num_lines - first, vectors * DOTS_LANES);
        ACROSS_TURN(t, (const DOTS_TYPE *)sums, vectors * DOTS_LANES, first, lines);
        return;
    }
    for (int i = 0; i < t->num_rows; ++i)
        for (int v = 0; v < vectors; ++v)
            ACROSS_STORE(t, sums[i * vectors + v], i, first + v * DOTS_LANES);
}

/* Lines from `first` on: `vectors` whole ones, or what is left and less than one. */
static TCGEMM_ALWAYS_INLINE void ACROSS_LOCAL(piece)(const tcgemm_dots_t *t, int first,
                                                     const int width, const int vectors,
                                                     const bool is_whole) {
    const ACROSS_ELEMENT *line = (const ACROSS_ELEMENT *)t->lines + first;
    const DOTS_TYPE *x = t->x;
    DOTS_TYPE *const partial = (DOTS_TYPE *)t->partial + (int64_t)first * width;
    DOTS_VEC sum[DOTS_MOST][4];
    TCGEMM_UNROLL
    for (int i = 0; i < width; ++i) {
        TCGEMM_UNROLL
        for (int v = 0; v < vectors; ++v)
            sum[i][v] =
                t->resumes ? DOTS_GET(partial + (i * vectors + v) * DOTS_LANES) : DOTS_ZERO();
    }
    for (int64_t p = t->steps; p > 0; --p) {
        DOTS_VEC step[4];
        TCGEMM_UNROLL
        for (int v = 0; v < vectors * (int)sizeof(step[0]); v += 64) {
            if (!t->fetches ||
                (width > ACROSS_MOST_FETCHED && sizeof(ACROSS_ELEMENT) != 2 && !t->is_spread))
                continue;
            if (t->is_roomy)
                __builtin_prefetch((const char *)line + v + ACROSS_NEAR);
            else
                TCGEMM_PREFETCH_FAR((const char *)line + v + ACROSS_AHEAD);
        }
        TCGEMM_UNROLL
        for (int v = 0; v < vectors; ++v)
            step[v] =
                is_whole ? LINE_LOAD(line + v * DOTS_LANES) : LINE_SOME(line, t->num_lines - first);
        TCGEMM_UNROLL
        for (int i = 0; i < width; ++i) {
            const DOTS_VEC row = DOTS_SET1(x[i]);
            TCGEMM_UNROLL
            for (int v = 0; v < vectors; ++v)
                sum[i][v] = DOTS_FMA(row, step[v], sum[i][v]);
        }
        line += t->k_stride;
        x += width;
    }
    DOTS_VEC sums[DOTS_MOST * 4]; /* of these the address is taken */
    DOTS_TYPE *const to = t->pauses ? partial : (DOTS_TYPE *)(void *)sums;
    TCGEMM_UNROLL
    for (int i = 0; i < width; ++i) {
        TCGEMM_UNROLL
        for (int v = 0; v < vectors; ++v)
            DOTS_PUT(to + (i * vectors + v) * DOTS_LANES, sum[i][v]);
    }
    if (!t->pauses)
        ACROSS_LOCAL(store)(t, sums, vectors, first);
}

static TCGEMM_ALWAYS_INLINE int ACROSS_LOCAL(pieces)(const tcgemm_dots_t *t, const int width,
                                                     const int vectors) {
    int first = 0;
    for (; first + vectors * DOTS_LANES <= t->num_lines; first += vectors * DOTS_LANES)
        ACROSS_LOCAL(piece)(t, first, width, vectors, true);
    return first;
}

static TCGEMM_ALWAYS_INLINE void ACROSS_LOCAL(body)(const tcgemm_dots_t *t, const int width,
                                                    const int vectors) {
    if (width > (ACROSS_IS_SLOW ? DOTS_MOST : ACROSS_MOST))
        return; /* never asked for (ukernel.h) */
    /* Three vectors suit the registers; two, whole lines, what is fetched to the second level. */
    int first = vectors == 3 && t->fetches && !t->is_roomy
                    ? ACROSS_LOCAL(pieces)(t, width, 2)
                    : ACROSS_LOCAL(pieces)(t, width, vectors);
    for (; first + DOTS_LANES <= t->num_lines; first += DOTS_LANES)
        ACROSS_LOCAL(piece)(t, first, width, 1, true);
    if (first < t->num_lines)
        ACROSS_LOCAL(piece)(t, first, width, 1, false);
}

static void ACROSS_NAME(const tcgemm_dots_t *t) {
    DOTS_BY_WIDTH(ACROSS_LOCAL(body), ACROSS_VECTORS)
}

#undef ACROSS_PASTE
#undef ACROSS_PASTE_
#undef ACROSS_LOCAL
#undef ACROSS_NAME
#undef ACROSS_IS_SLOW
#undef ACROSS_ELEMENT
#undef LINE_LOAD
#undef LINE_SOME
#undef ACROSS_STORE
