/* dots_tmpl.h - a few rows times many lines along k: rows of A times columns of B that lie along
 * k, or columns of B times such rows of A. The includer defines one type of lines.
 *
 *      x, packed:  k, `width` rows beside each other
 *
 *      line 0  p ->       DOTS_STEPS of DOTS_LANES lines are transposed in registers, so that a
 *      line 1  p ->       vector holds one step of all of them; its multiply-adds with the rows of
 *      ..                 x are those of a tile: k in order, one sum for each element, same bits
 *
 * As many rows as a vector has lanes may be the lanes themselves, beside an element of each of some
 * lines, which costs no shuffle but for the sums:
 *
 *      x  k ->  vector of rows          sum of line l += x[k] * element k of line l
 *
 * Nothing of the lines is packed: they are streams that prefetchers follow. Two sets of short
 * vectors take turns, 64 bytes of each line: one waits for its last multiply-add while the other is
 * transposed, and lines a power of two apart leave room for one another in the first-level cache.
 *
 * To be defined:
 *   DOTS_NAME                      of the function
 *   DOTS_ELEMENT                   of a line
 *   DOTS_STEPS                     of k that are transposed at a time, at most 64 bytes
 *   DOTS_RAW, DOTS_RAWS            what the transposition leaves: so many of such vectors
 *   DOTS_LOAD(line, p, raw)        fills them from element p of the lines on
 *   DOTS_LOAD_SOME(line, p, n, raw)  the same of n elements, fewer than DOTS_STEPS, and zeros: no
 *                                  byte beyond; if not defined, they are taken one by one
 *   DOTS_STEP(raw, s)              step s of them as numbers
 *   DOTS_ONE(x)                    an element as a number; these may look at t, the tcgemm_dots_t
 *   LINE_LOAD(p)                   DOTS_LANES elements of a line as numbers
 *   LINE_SOME(p, n)                the first n, fewer than DOTS_LANES, and no byte beyond
 * and once for all types with the same numbers, kept from one inclusion to the next:
 *   DOTS_TYPE, DOTS_FIELD          of x, sums and D, and its member of union tcgemm_tile_scalar
 *   DOTS_VEC, DOTS_LANES, DOTS_ZERO(), DOTS_SET1(x), DOTS_GET(p), DOTS_PUT(p, x),
 *   DOTS_MUL(x, y), DOTS_FMA(x, y, z)
 *   DOTS_MOST                      rows: 8 or 16
 *   DOTS_SETS(width)               of lines, that take turns: 1 or 2
 *   DOTS_BESIDE                    lines beside a vector of rows, as many chains as two units
 *                                  need; not defined: lines are always transposed
 *   DOTS_TURN(at, v)               then: transposes DOTS_LANES lines at[] of as many sums
 */

/* With the width of x and what follows from it as constants. */
#ifndef DOTS_BY_WIDTH
#define DOTS_WIDTH(body, width, by)                                                                \
    case width:                                                                                    \
        body(t, width, by(width));                                                                 \
        break;
#if DOTS_MOST == 16
#define DOTS_WIDTH_16(body, by) DOTS_WIDTH(body, 16, by)
#else
#define DOTS_WIDTH_16(body, by)
#endif
#define DOTS_BY_WIDTH(body, by)                                                                    \
    switch (t->width) {                                                                            \
        DOTS_WIDTH(body, 1, by)                                                                    \
        DOTS_WIDTH(body, 2, by)                                                                    \
        DOTS_WIDTH(body, 4, by)                                                                    \
        DOTS_WIDTH(body, 8, by)                                                                    \
        DOTS_WIDTH_16(body, by)                                                                    \
    default:                                                                                       \
        break;                                                                                     \
    }
#endif

#define DOTS_PASTE_(x, y) x##y
#define DOTS_PASTE(x, y)  DOTS_PASTE_(x, y)
#define DOTS_LOCAL(name)  DOTS_PASTE(DOTS_PASTE(DOTS_NAME, _), name)
#define DOTS_BURST        (64 / (int)sizeof(DOTS_ELEMENT)) /* elements of a line of memory */

static TCGEMM_ALWAYS_INLINE void DOTS_LOCAL(some)(const tcgemm_dots_t *t,
                                                  const DOTS_ELEMENT *const line[DOTS_LANES],
                                                  int64_t p, const int width, DOTS_VEC sum[]) {
    const DOTS_TYPE *const x = t->x;
    DOTS_RAW raw[DOTS_RAWS];
    DOTS_LOAD(line, p, raw);
    TCGEMM_UNROLL_BY(DOTS_STEPS)
    for (int s = 0; s < DOTS_STEPS; ++s) {
        const DOTS_VEC step = DOTS_STEP(raw, s);
        TCGEMM_UNROLL
        for (int i = 0; i < width; ++i)
            sum[i] = DOTS_FMA(DOTS_SET1(x[(p + s) * width + i]), step, sum[i]);
    }
}

#ifdef DOTS_LOAD_SOME
/* The last steps of k as numbers; once for all widths, for it is long code. */
static TCGEMM_NEVER_INLINE int DOTS_LOCAL(load_last)(const tcgemm_dots_t *t,
                                                     const DOTS_ELEMENT *const line[DOTS_LANES],
                                                     int64_t p,
                                                     DOTS_TYPE numbers[DOTS_STEPS][DOTS_LANES]) {
    const int count = (int)(t->steps - p);
    DOTS_RAW raw[DOTS_RAWS];
    DOTS_LOAD_SOME(line, p, count, raw);
    TCGEMM_UNROLL_BY(DOTS_STEPS)
    for (int s = 0; s < DOTS_STEPS; ++s)
        DOTS_PUT(numbers[s], DOTS_STEP(raw, s));
    return count;
}
#endif

/* The last steps of k, or one of them: there are fewer than DOTS_STEPS. How many it took. */
static TCGEMM_ALWAYS_INLINE int DOTS_LOCAL(last)(const tcgemm_dots_t *t,
                                                 const DOTS_ELEMENT *const line[DOTS_LANES],
                                                 int64_t p, const int width, DOTS_VEC sum[]) {
    const DOTS_TYPE *const x = t->x;
#ifdef DOTS_LOAD_SOME
    DOTS_TYPE numbers[DOTS_STEPS][DOTS_LANES];
    const int count = DOTS_LOCAL(load_last)(t, line, p, numbers);
#else
    const int count = 1;
    DOTS_TYPE numbers[1][DOTS_LANES];
    for (int l = 0; l < DOTS_LANES; ++l)
        numbers[0][l] = DOTS_ONE(line[l][p]);
#endif
    for (int s = 0; s < count; ++s) {
        const DOTS_VEC step = DOTS_GET(numbers[s]);
        TCGEMM_UNROLL
        for (int i = 0; i < width; ++i)
            sum[i] = DOTS_FMA(DOTS_SET1(x[(p + s) * width + i]), step, sum[i]);
    }
    return count;
}

/* D's elements of row i and of one set of lines: where they do not lie side by side, or are fewer
 * than a vector's, and once for all, for it is long code. */
static TCGEMM_NEVER_INLINE void DOTS_LOCAL(scatter)(const tcgemm_dots_t *t, DOTS_VEC product, int i,
                                                    int first) {
    DOTS_TYPE *d = (DOTS_TYPE *)t->d + i * t->d_row + first * t->d_line;
    const DOTS_TYPE *c = t->c ? (const DOTS_TYPE *)t->c + i * t->c_row + first * t->c_line : NULL;
    const int count = t->num_lines - first;
    DOTS_TYPE numbers[DOTS_LANES];
    DOTS_TYPE olds[DOTS_LANES] = {0};
    for (int l = 0; c && l < DOTS_LANES && l < count; ++l)
        olds[l] = c[l * t->c_line];
    DOTS_PUT(numbers,
             c ? DOTS_FMA(DOTS_SET1(t->beta.DOTS_FIELD), DOTS_GET(olds), product) : product);
    for (int l = 0; l < DOTS_LANES && l < count; ++l)
        d[l * t->d_line] = numbers[l];
}

static TCGEMM_ALWAYS_INLINE void DOTS_LOCAL(store)(const tcgemm_dots_t *t, DOTS_VEC sum, int i,
                                                   int first) {
    DOTS_TYPE *d = (DOTS_TYPE *)t->d + i * t->d_row + first * t->d_line;
    const DOTS_TYPE *c = t->c ? (const DOTS_TYPE *)t->c + i * t->c_row + first * t->c_line : NULL;
    const DOTS_VEC product = DOTS_MUL(DOTS_SET1(t->alpha.DOTS_FIELD), sum);
    if (t->num_lines - first >= DOTS_LANES && t->d_line == 1 && (!c || t->c_line == 1))
        DOTS_PUT(d, c ? DOTS_FMA(DOTS_SET1(t->beta.DOTS_FIELD), DOTS_GET(c), product) : product);
    else
        DOTS_LOCAL(scatter)(t, product, i, first);
}

/* What is to be read of a line so far behind p: of f32 and f64 less far where the first level has
 * room for it. */
static TCGEMM_ALWAYS_INLINE void DOTS_LOCAL(fetch)(const tcgemm_dots_t *t, const DOTS_ELEMENT *p,
                                                   const int width) {
    enum { IS_DOUBLE = sizeof(DOTS_ELEMENT) == 8, NEAR = (IS_DOUBLE ? 12 : 8) * DOTS_BURST };
    if (t->is_roomy && sizeof(DOTS_ELEMENT) >= 4)
        __builtin_prefetch(p + NEAR);
    else
        TCGEMM_PREFETCH_FAR(p + (IS_DOUBLE && width <= 4 ? 32 : 16) * DOTS_BURST);
}

/* All whole bursts of one row and two sets of lines that share few sets of the cache: the second
 * one lags behind, so that it needs others. The step behind them. */
static TCGEMM_ALWAYS_INLINE int64_t DOTS_LOCAL(crowd)(const tcgemm_dots_t *t,
                                                      const DOTS_ELEMENT *line[2][DOTS_LANES],
                                                      DOTS_VEC sum[2][DOTS_MOST]) {
    enum { BURST = DOTS_BURST, AHEAD = 16 * BURST, LAG = 8 * BURST };
    const int64_t whole = t->steps / BURST * BURST;
    for (int64_t p = 0; p < whole + LAG; p += BURST) {
        TCGEMM_UNROLL
        for (int set = 0; set < 2; ++set) {
            const int64_t at = p - set * LAG;
            if (at < 0 || at >= whole)
                continue;
            for (int l = 0; t->fetches && l < DOTS_LANES; ++l)
                TCGEMM_PREFETCH_FAR(line[set][l] + at + AHEAD);
            for (int64_t q = at; q < at + BURST; q += DOTS_STEPS)
                DOTS_LOCAL(some)(t, line[set], q, 1, sum[set]);
        }
    }
    return whole;
}

/* Lines that are missing are line 0 once more, and are not stored. */
static TCGEMM_ALWAYS_INLINE void DOTS_LOCAL(sets)(const tcgemm_dots_t *t, int first,
                                                  const int width, const int sets) {
    enum { BURST = DOTS_BURST };
    const DOTS_ELEMENT *line[2][DOTS_LANES];
    DOTS_VEC sum[2][DOTS_MOST];
    for (int l = 0; l < sets * DOTS_LANES; ++l)
        line[l / DOTS_LANES][l % DOTS_LANES] =
            (const DOTS_ELEMENT *)t->lines +
            (first + l < t->num_lines ? first + l : 0) * t->line_stride;
    TCGEMM_UNROLL
    for (int set = 0; set < sets; ++set) {
        TCGEMM_UNROLL
        for (int i = 0; i < width; ++i)
            sum[set][i] = DOTS_ZERO();
    }
    int64_t p = 0;
    if (sets == 2 && DOTS_LANES == 8 && width == 1 && t->is_crowded)
        p = DOTS_LOCAL(crowd)(t, line, sum);
    for (; p + BURST <= t->steps; p += BURST) {
        for (int l = 0; t->fetches && l < sets * DOTS_LANES; ++l)
            DOTS_LOCAL(fetch)(t, line[l / DOTS_LANES][l % DOTS_LANES] + p, width);
        TCGEMM_UNROLL
        for (int set = 0; set < sets; ++set)
            for (int64_t q = p; q < p + BURST; q += DOTS_STEPS)
                DOTS_LOCAL(some)(t, line[set], q, width, sum[set]);
    }
    TCGEMM_UNROLL
    for (int set = 0; set < sets; ++set) {
        int64_t q = p;
        for (; DOTS_STEPS < BURST && q + DOTS_STEPS <= t->steps; q += DOTS_STEPS)
            DOTS_LOCAL(some)(t, line[set], q, width, sum[set]);
        while (q < t->steps)
            q += DOTS_LOCAL(last)(t, line[set], q, width, sum[set]);
    }
    TCGEMM_UNROLL
    for (int set = 0; set < sets; ++set) {
        TCGEMM_UNROLL
        for (int i = 0; i < width; ++i)
            if (i < t->num_rows && first + set * DOTS_LANES < t->num_lines)
                DOTS_LOCAL(store)(t, sum[set][i], i, first + set * DOTS_LANES);
    }
}

static TCGEMM_ALWAYS_INLINE void DOTS_LOCAL(all)(const tcgemm_dots_t *t, const int width,
                                                 const int sets) {
    for (int first = 0; first < t->num_lines; first += sets * DOTS_LANES)
        DOTS_LOCAL(sets)(t, first, width, sets);
}

#ifdef DOTS_BESIDE
/* DOTS_BURST elements of each of these lines as numbers: read one by one where they are, lines a
 * power of two apart would drive out one another from the first-level cache. */
static TCGEMM_ALWAYS_INLINE void DOTS_LOCAL(convert)(const tcgemm_dots_t *t,
                                                     const DOTS_ELEMENT *const line[DOTS_BESIDE],
                                                     int64_t p,
                                                     DOTS_TYPE numbers[DOTS_BESIDE][DOTS_BURST]) {
    TCGEMM_UNROLL_BY(1)
    for (int l = 0; l < DOTS_BESIDE; ++l) {
        if (t->fetches)
            DOTS_LOCAL(fetch)(t, line[l] + p, DOTS_LANES);
        TCGEMM_UNROLL
        for (int q = 0; q < DOTS_BURST; q += DOTS_LANES)
            DOTS_PUT(numbers[l] + q, LINE_LOAD(line[l] + p + q));
    }
}

/* The last ones, `count` of each, and zeros. */
static TCGEMM_NEVER_INLINE void
DOTS_LOCAL(convert_last)(const tcgemm_dots_t *t, const DOTS_ELEMENT *const line[DOTS_BESIDE],
                         int64_t p, int count, DOTS_TYPE numbers[DOTS_BESIDE][DOTS_BURST]) {
    (void)t; /* some types look at it */
    for (int l = 0; l < DOTS_BESIDE; ++l)
        for (int q = 0; q < count; q += DOTS_LANES)
            DOTS_PUT(numbers[l] + q, q + DOTS_LANES <= count
                                         ? LINE_LOAD(line[l] + p + q)
                                         : LINE_SOME(line[l] + p + q, count - q));
}

static TCGEMM_ALWAYS_INLINE void DOTS_LOCAL(add)(const tcgemm_dots_t *t, const DOTS_TYPE *x,
                                                 int count,
                                                 DOTS_TYPE numbers[DOTS_BESIDE][DOTS_BURST],
                                                 DOTS_VEC sum[DOTS_BESIDE]) {
    const int64_t width = t->width;
    TCGEMM_UNROLL_BY(1)
    for (int q = 0; q < count; ++q, x += width) {
        const DOTS_VEC rows = DOTS_GET(x);
        TCGEMM_UNROLL
        for (int l = 0; l < DOTS_BESIDE; ++l)
            sum[l] = DOTS_FMA(DOTS_SET1(numbers[l][q]), rows, sum[l]);
    }
}

/* The sums of all rows of x and of lines from `first` on, at most DOTS_BESIDE of them. */
static TCGEMM_NEVER_INLINE void DOTS_LOCAL(beside)(const tcgemm_dots_t *t, int first,
                                                   DOTS_TYPE sums[DOTS_BESIDE][DOTS_LANES]) {
    const DOTS_TYPE *x = t->x;
    const DOTS_ELEMENT *line[DOTS_BESIDE];
    DOTS_TYPE numbers[DOTS_BESIDE][DOTS_BURST];
    DOTS_VEC sum[DOTS_BESIDE];
    TCGEMM_UNROLL
    for (int l = 0; l < DOTS_BESIDE; ++l) {
        line[l] = (const DOTS_ELEMENT *)t->lines +
                  (first + l < t->num_lines ? first + l : first) * t->line_stride;
        sum[l] = DOTS_ZERO();
    }
    int64_t p = 0;
    for (; p + DOTS_BURST <= t->steps; p += DOTS_BURST, x += DOTS_BURST * t->width) {
        DOTS_LOCAL(convert)(t, line, p, numbers);
        DOTS_LOCAL(add)(t, x, DOTS_BURST, numbers, sum);
    }
    if (p < t->steps) {
        const int count = (int)(t->steps - p);
        DOTS_LOCAL(convert_last)(t, line, p, count, numbers);
        DOTS_LOCAL(add)(t, x, count, numbers, sum);
    }
    TCGEMM_UNROLL
    for (int l = 0; l < DOTS_BESIDE; ++l)
        DOTS_PUT(sums[l], sum[l]);
}

/* D's elements of all rows and of DOTS_LANES lines from `first` on. */
static TCGEMM_NEVER_INLINE void DOTS_LOCAL(square)(const tcgemm_dots_t *t, int first) {
    DOTS_TYPE sums[DOTS_LANES][DOTS_LANES] = {{0}};
    const DOTS_TYPE *at[DOTS_LANES];
    DOTS_VEC turned[DOTS_LANES];
    for (int l = 0; l < DOTS_LANES && first + l < t->num_lines; l += DOTS_BESIDE)
        DOTS_LOCAL(beside)(t, first + l, sums + l);
    for (int l = 0; l < DOTS_LANES; ++l)
        at[l] = sums[l];
    DOTS_TURN(at, turned);
    for (int i = 0; i < t->num_rows; ++i)
        DOTS_LOCAL(store)(t, turned[i], i, first);
}
#endif

/* One row of eight lines of f64 waits for their chain of multiply-adds: two chains in turn, if the
 * first-level cache has room for both. In a crowd two rows, which have two chains, are multiplied
 * eight lines at a time: so many streams from memory are read sooner than sixteen. */
static TCGEMM_ALWAYS_INLINE void DOTS_LOCAL(body)(const tcgemm_dots_t *t, const int width,
                                                  const int sets) {
#ifdef DOTS_BESIDE
    if (width == DOTS_LANES) {
        for (int first = 0; first < t->num_lines; first += DOTS_LANES)
            DOTS_LOCAL(square)(t, first);
        return;
    }
#endif
    if (sizeof(DOTS_ELEMENT) == 8 && DOTS_LANES == 8 && width == 1 && t->is_roomy)
        DOTS_LOCAL(all)(t, width, 2);
    else if (sizeof(DOTS_ELEMENT) == 4 && sets == 2 && width > 1 && t->is_crowded)
        DOTS_LOCAL(all)(t, width, 1);
    else
        DOTS_LOCAL(all)(t, width, sets);
}

static void DOTS_NAME(const tcgemm_dots_t *t) {
    DOTS_BY_WIDTH(DOTS_LOCAL(body), DOTS_SETS)
}

#undef DOTS_PASTE
#undef DOTS_PASTE_
#undef DOTS_LOCAL
#undef DOTS_BURST
#undef DOTS_NAME
#undef DOTS_ELEMENT
#undef DOTS_STEPS
#undef DOTS_RAW
#undef DOTS_RAWS
#undef DOTS_LOAD
#undef DOTS_LOAD_SOME
#undef DOTS_STEP
#undef DOTS_ONE
