/* parts_tmpl.h - a few columns, two to eight, beside lines along k that are near: each line has a
 * part of a vector, as many lanes as there are columns, so that no lane is idle and sums lie as D
 * wants them.
 *
 *      16 bytes of each line       a0 a1 a2 a3 | b0 b1 b2 b3 | ..
 *      step 1 of them              a1 a1 a1 a1 | b1 b1 b1 b1 | ..      a shuffle in each 16 bytes
 *      times step 1 of x           x0 x1 x2 x3 | x0 x1 x2 x3 | ..      and so for eight columns of
 *      adds to sums                line a's    | line b's    | ..      f32, whose parts are twice
 * so
 *
 * An element's multiply-adds are those of a tile: k in order, one sum, the same bits. Lines from
 * memory are read sooner in whole lines of the cache, by dots_tmpl.h.
 *
 * To be defined, beside what dots_tmpl.h keeps for all types:
 *   PARTS_NAME                     of the function
 *   PARTS_STEPS                    elements of 16 bytes: 4 or 2
 *   PARTS_MOST                     columns: twice or four times as many, no more than a vector's
 *   PARTS_LINES(p, pitch, width)   16 bytes from p on of each line of a vector, with parts of 32
 *                                  or 64 bytes twice or four times; lines lie `pitch` elements
 * apart PARTS_SOME(p, pitch, width, n) the same of n elements, fewer, and zeros: no byte beyond
 *   PARTS_STEP(v, s)               element s of each 16 bytes in all of their lanes
 *   PARTS_REPEAT(p, width)         `width` elements in each part
 */
#define PARTS_PASTE_(x, y) x##y
#define PARTS_PASTE(x, y)  PARTS_PASTE_(x, y)
#define PARTS_LOCAL(name)  PARTS_PASTE(PARTS_PASTE(PARTS_NAME, _), name)

#ifndef PARTS_TMPL_ONCE
#define PARTS_TMPL_ONCE
enum { PARTS_VECTORS = 6 }; /* of lines at a time, as many as AVX2's registers have room for */
#endif

/* D's elements of lines first .. end, of sums of all lines from `from` on: the columns as one
 * piece, or half a part from their begin and half a part to their end, for they are more than that.
 */
static TCGEMM_ALWAYS_INLINE void PARTS_LOCAL(put)(const tcgemm_dots_t *t, const DOTS_TYPE *sums,
                                                  int from, int first, int end, const int width) {
    enum { BYTES = sizeof(DOTS_TYPE) };
    const int half = width / 2, last = t->num_rows - half;
    DOTS_TYPE *d = (DOTS_TYPE *)t->d + first * t->d_line;
    sums += (first - from) * width;
    if (last == half)
        for (int l = first; l < end; ++l, d += t->d_line, sums += width)
            memcpy(d, sums, (size_t)width * BYTES);
    else
        for (int l = first; l < end; ++l, d += t->d_line, sums += width) {
            memcpy(d, sums, (size_t)half * BYTES);
            memcpy(d + last, sums + last, (size_t)half * BYTES);
        }
}

/* sums + beta * C, of lines first .. end. */
static TCGEMM_NEVER_INLINE void PARTS_LOCAL(add_c)(const tcgemm_dots_t *t, DOTS_TYPE *sums,
                                                   int from, int first, int end) {
    const int width = t->width;
    DOTS_TYPE olds[PARTS_VECTORS * DOTS_LANES] = {0};
    for (int l = first; l < end; ++l)
        for (int i = 0; i < t->num_rows; ++i)
            olds[(l - from) * width + i] = ((const DOTS_TYPE *)t->c)[l * t->c_line + i];
    for (int at = 0; at < (end - from) * width; at += DOTS_LANES)
        DOTS_PUT(sums + at,
                 DOTS_FMA(DOTS_SET1(t->beta.DOTS_FIELD), DOTS_GET(olds + at), DOTS_GET(sums + at)));
}

/* The last steps of k, fewer than 16 bytes of each line. */
static TCGEMM_ALWAYS_INLINE void PARTS_LOCAL(add_last)(const tcgemm_dots_t *t,
                                                       const DOTS_TYPE *line, const DOTS_TYPE *x,
                                                       int count, const int width,
                                                       DOTS_TYPE *sums) {
    const int64_t next = DOTS_LANES / width * t->line_stride;
    TCGEMM_UNROLL_BY(1)
    for (int v = 0; v < PARTS_VECTORS; ++v, sums += DOTS_LANES, line += next) {
        const DOTS_VEC some = PARTS_SOME(line, t->line_stride, width, count);
        DOTS_VEC sum = DOTS_GET(sums);
        TCGEMM_UNROLL
        for (int s = 0; s + 1 < PARTS_STEPS; ++s)
            if (s < count)
                sum = DOTS_FMA(PARTS_STEP(some, s), PARTS_REPEAT(x + s * width, width), sum);
        DOTS_PUT(sums, sum);
    }
}

/* All k of some vectors of lines, from `from` on; those before `first` have their D. */
static TCGEMM_ALWAYS_INLINE void PARTS_LOCAL(body)(const tcgemm_dots_t *t, int from, int first,
                                                   const int width) {
    const int64_t pitch = t->line_stride, next = DOTS_LANES / width * pitch;
    const DOTS_TYPE *line = (const DOTS_TYPE *)t->lines + from * pitch;
    const DOTS_TYPE *x = t->x;
    DOTS_TYPE sums[PARTS_VECTORS * DOTS_LANES];
    DOTS_VEC sum[PARTS_VECTORS];
    TCGEMM_UNROLL
    for (int v = 0; v < PARTS_VECTORS; ++v)
        sum[v] = DOTS_ZERO();
    int64_t p = t->steps;
    for (; p >= PARTS_STEPS; p -= PARTS_STEPS) {
        const DOTS_TYPE *at = line;
        DOTS_VEC step[PARTS_STEPS];
        TCGEMM_UNROLL
        for (int s = 0; s < PARTS_STEPS; ++s)
            step[s] = PARTS_REPEAT(x + s * width, width);
        TCGEMM_UNROLL
        for (int v = 0; v < PARTS_VECTORS; ++v) {
            const DOTS_VEC some = PARTS_LINES(at, pitch, width);
            TCGEMM_UNROLL
            for (int s = 0; s < PARTS_STEPS; ++s)
                sum[v] = DOTS_FMA(PARTS_STEP(some, s), step[s], sum[v]);
            at += next;
            __asm__("" : "+r"(at)); /* else an address for each line waits on the stack */
        }
        line += PARTS_STEPS;
        x += PARTS_STEPS * width;
    }
    if (p > 0) {
        TCGEMM_UNROLL
        for (int v = 0; v < PARTS_VECTORS; ++v)
            DOTS_PUT(sums + v * DOTS_LANES, sum[v]);
        PARTS_LOCAL(add_last)(t, line, x, (int)p, width, sums);
        TCGEMM_UNROLL
        for (int v = 0; v < PARTS_VECTORS; ++v)
            sum[v] = DOTS_GET(sums + v * DOTS_LANES);
    }
    /* A D without gaps takes vectors as they are, those of lines that it has once more. */
    const bool is_dense = t->d_line == width && t->num_rows == width && !t->c;
    DOTS_TYPE *const to = is_dense ? (DOTS_TYPE *)t->d + from * t->d_line : sums;
    TCGEMM_UNROLL
    for (int v = 0; v < PARTS_VECTORS; ++v)
        DOTS_PUT(to + v * DOTS_LANES, DOTS_MUL(DOTS_SET1(t->alpha.DOTS_FIELD), sum[v]));
    if (is_dense)
        return;
    const int end = from + PARTS_VECTORS * DOTS_LANES / width;
    if (t->c)
        PARTS_LOCAL(add_c)(t, sums, from, first, end);
    PARTS_LOCAL(put)(t, sums, from, first, end, width);
}

/* Some vectors at a time, the last ones from where they end with the last line: some lines are
 * computed again then. */
static TCGEMM_ALWAYS_INLINE void PARTS_LOCAL(all)(const tcgemm_dots_t *t, const int width) {
    const int at_once = PARTS_VECTORS * DOTS_LANES / width;
    const int64_t bytes = t->line_stride * (int64_t)sizeof(DOTS_TYPE);
    const int64_t fetched = t->fetches && bytes >= 64 ? at_once * bytes : 0;
    const char *next = (const char *)t->lines;
    for (int first = 0; first < t->num_lines; first += at_once) {
        next += at_once * bytes;
        for (int64_t at = 0; at < fetched; at += 64)
            __builtin_prefetch(next + at);
        PARTS_LOCAL(body)(t, (int)min_i64(first, t->num_lines - at_once), first, width);
    }
}

/* Whether there are as many lines as are taken at a time, and columns lie side by side in D and
 * fill more than half a part; and lines are near, or such short ones one behind the other that they
 * are one stream, which prefetchers follow. */
static bool PARTS_LOCAL(suit)(const tcgemm_dots_t *t) {
    const bool are_stream = t->line_stride * (int64_t)sizeof(DOTS_TYPE) <= TCGEMM_STREAM_PITCH;
    return t->width >= PARTS_STEPS && t->width <= PARTS_MOST && 2 * t->num_rows > t->width &&
           t->d_row == 1 && (!t->c || t->c_row == 1) && (!t->fetches || are_stream) &&
           t->num_lines * t->width >= PARTS_VECTORS * DOTS_LANES;
}

static void PARTS_NAME(const tcgemm_dots_t *t) {
    if (t->width == PARTS_STEPS)
        PARTS_LOCAL(all)(t, PARTS_STEPS);
    else if (t->width == 2 * PARTS_STEPS)
        PARTS_LOCAL(all)(t, 2 * PARTS_STEPS);
#if PARTS_MOST == 4 * PARTS_STEPS
    else
        PARTS_LOCAL(all)(t, 4 * PARTS_STEPS);
#endif
}

#undef PARTS_PASTE
#undef PARTS_PASTE_
#undef PARTS_LOCAL
#undef PARTS_STEPS
#undef PARTS_NAME
