/* inner_tmpl.h - a few rows times lines, both along k: vectors of both are multiplied as they lie.
 *
 *              k ->
 *      row i   x x x x | x x x x | ..     sum(i, l), a vector, += vector of row i * that of line l;
 *      line l  . . . . | . . . . | ..     at the end its lanes are added up
 *
 * Nothing is transposed, and a short row of D, or even one element, has chains of multiply-adds
 * enough. But an element is the sum of as many sums as a vector has lanes: not the bits of a tile.
 *
 * To be defined, beside what dots_tmpl.h keeps for all types, and LINE_LOAD and LINE_SOME of this
 * one:
 *   INNER_NAME                     of the function
 *   INNER_ELEMENT                  of a line
 * and, once for all types with the same numbers:
 *   INNER_ROWS                     of x at a time, at most: 2 or 6, as many as there are registers
 *   INNER_SOME(p, n)               n numbers, fewer than DOTS_LANES, and zeros
 *   INNER_SUM4(v, out)             the sums of the lanes of each of four vectors
 */
#define INNER_MOST         8 /* lines beside one row; with more rows fewer */
#define INNER_PASTE_(x, y) x##y
#define INNER_PASTE(x, y)  INNER_PASTE_(x, y)
#define INNER_LOCAL(name)  INNER_PASTE(INNER_PASTE(INNER_NAME, _), name)

/* D's elements of `rows` x `lines`. */
static TCGEMM_NEVER_INLINE void INNER_LOCAL(store)(const tcgemm_dots_t *t,
                                                   DOTS_TYPE sums[][INNER_MOST], int row, int rows,
                                                   int first, int lines) {
    const DOTS_TYPE alpha = t->alpha.DOTS_FIELD, beta = t->beta.DOTS_FIELD;
    DOTS_TYPE *const d = (DOTS_TYPE *)t->d + row * t->d_row + first * t->d_line;
    const DOTS_TYPE *const c =
        t->c ? (const DOTS_TYPE *)t->c + row * t->c_row + first * t->c_line : NULL;
    for (int i = 0; i < rows; ++i)
        for (int l = 0; l < lines; ++l) {
            const DOTS_TYPE product = alpha * sums[i][l];
            d[i * t->d_row + l * t->d_line] =
                c ? product + beta * c[i * t->c_row + l * t->c_line] : product;
        }
}

/* Rows from `row` on and lines from `first` on; what is missing of these is the first one once
 * more, and is not stored. */
static TCGEMM_ALWAYS_INLINE void INNER_LOCAL(some)(const tcgemm_dots_t *t, int row, int first,
                                                   const int rows, const int lines) {
    const int64_t pitch = t->x_pitch / (int64_t)sizeof(DOTS_TYPE);
    const INNER_ELEMENT *line[INNER_MOST];
    const DOTS_TYPE *x[INNER_ROWS];
    DOTS_VEC sum[INNER_ROWS][INNER_MOST];
    DOTS_TYPE sums[INNER_ROWS][INNER_MOST];
    TCGEMM_UNROLL
    for (int l = 0; l < lines; ++l)
        line[l] = (const INNER_ELEMENT *)t->lines +
                  (first + l < t->num_lines ? first + l : first) * t->line_stride;
    TCGEMM_UNROLL
    for (int i = 0; i < rows; ++i) {
        x[i] = (const DOTS_TYPE *)t->x + (row + i) * pitch;
        TCGEMM_UNROLL
        for (int l = 0; l < lines; ++l)
            sum[i][l] = DOTS_ZERO();
    }
    int64_t p = 0;
    for (; p + DOTS_LANES <= t->steps; p += DOTS_LANES) {
        DOTS_VEC number[INNER_ROWS];
        TCGEMM_UNROLL
        for (int i = 0; i < rows; ++i)
            number[i] = DOTS_GET(x[i] + p);
        TCGEMM_UNROLL
        for (int l = 0; l < lines; ++l) {
            DOTS_VEC v = LINE_LOAD(line[l] + p);
            if (rows > 1)
                __asm__("" : "+v"(v)); /* else each row loads it again */
            TCGEMM_UNROLL
            for (int i = 0; i < rows; ++i)
                sum[i][l] = DOTS_FMA(number[i], v, sum[i][l]);
        }
    }
    const int left = (int)(t->steps - p);
    if (left > 0) {
        DOTS_VEC v[INNER_MOST];
        TCGEMM_UNROLL
        for (int l = 0; l < lines; ++l)
            v[l] = LINE_SOME(line[l] + p, left);
        TCGEMM_UNROLL
        for (int i = 0; i < rows; ++i) {
            const DOTS_VEC number = INNER_SOME(x[i] + p, left);
            TCGEMM_UNROLL
            for (int l = 0; l < lines; ++l)
                sum[i][l] = DOTS_FMA(number, v[l], sum[i][l]);
        }
    }
    /* Whole pieces of rows of D go there at once. */
    const int some_lines = (int)min_i64(lines, t->num_lines - first);
    const bool is_plain =
        t->d_line == 1 && !t->c && t->alpha.DOTS_FIELD == 1 && some_lines == lines;
    DOTS_TYPE *const to = is_plain ? (DOTS_TYPE *)t->d + row * t->d_row + first : sums[0];
    const int64_t to_row = is_plain ? t->d_row : INNER_MOST;
    TCGEMM_UNROLL
    for (int i = 0; i < rows; ++i) {
        TCGEMM_UNROLL
        for (int l = 0; l < lines; l += 4)
            INNER_SUM4(sum[i] + l, to + i * to_row + l);
    }
    if (!is_plain)
        INNER_LOCAL(store)(t, sums, row, rows, first, some_lines);
}

static TCGEMM_ALWAYS_INLINE void INNER_LOCAL(all)(const tcgemm_dots_t *t, int row, const int rows,
                                                  const int lines) {
    for (int first = 0; first < t->num_lines; first += lines)
        if (rows == 1 && t->num_lines - first <= 4) /* of more rows code for little */
            INNER_LOCAL(some)(t, row, first, rows, 4);
        else
            INNER_LOCAL(some)(t, row, first, rows, lines);
}

/* As few passes over the lines as registers allow, of about as many rows each: for one row alone
 * lines take as long to come as for some. */
static void INNER_NAME(const tcgemm_dots_t *t) {
    int passes = (t->num_rows + INNER_ROWS - 1) / INNER_ROWS;
    for (int row = 0, rows; passes > 0; row += rows, --passes) {
        rows = (t->num_rows - row + passes - 1) / passes;
        if (rows == 1)
            INNER_LOCAL(all)(t, row, 1, INNER_MOST);
        else if (rows == 2)
            INNER_LOCAL(all)(t, row, 2, INNER_ROWS == 2 ? 4 : INNER_MOST);
#if INNER_ROWS == 6
        else if (rows == 3)
            INNER_LOCAL(all)(t, row, 3, 8);
        else if (rows == 4)
            INNER_LOCAL(all)(t, row, 4, 4);
        else if (rows == 5)
            INNER_LOCAL(all)(t, row, 5, 4);
        else
            INNER_LOCAL(all)(t, row, 6, 4);
#endif
    }
}

#undef INNER_MOST
#undef INNER_PASTE
#undef INNER_PASTE_
#undef INNER_LOCAL
#undef INNER_NAME
#undef INNER_ELEMENT
