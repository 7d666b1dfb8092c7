/* amx_dots.h - some rows of bf16, f16 or bytes times lines along k with matrix tiles: lines are
 * tiles of the first operand where they lie in memory, and the product is D^T = B^T A^T:
 *
 *                     x, packed as panels of B       a step of k is two tiles of lines, 16 x 64
 *                         x 6   x 7                  bytes each at the distance of the lines, and
 *      lines   -> k  4    D 0   D 1                  one or two of x, which is small and packed
 * once lines   -> k  5    D 2   D 3                  (amx.c)
 *
 * Nothing of the lines is written anywhere; 32 of them are as many streams as prefetchers follow.
 * TDPBF16PS takes bf16 subnormals for zero: vectors look for them on the same lines of memory, and
 * where one is found these lines are multiplied once more without tiles. Included by amx.c, with
 * the names of pack_amx_tmpl.h.
 */

static TCGEMM_ALWAYS_INLINE int lines_of_group(const tcgemm_dots_t *t, int first) {
    return t->num_lines - first < LINES ? t->num_lines - first : LINES;
}

/* 64 bytes of each of 32 lines, from element p on. */
static TCGEMM_ALWAYS_INLINE rows_t step_of_dots(const tcgemm_dots_t *t, int first, int64_t p,
                                                const int bytes) {
    return (rows_t){
        .base = (const uint8_t *)t->lines + (first * t->line_stride + p) * bytes,
        .pitch = t->line_stride * bytes,
        .count = lines_of_group(t, first),
        .mask = mask_of((t->steps - p) * bytes),
    };
}

/* As `multiply` in amx.c. What is beyond the lines or k is not read, but takes part as zeros. */
static TCGEMM_ALWAYS_INLINE void multiply_lines(const tcgemm_dots_t *t, int first, const int kind,
                                                const bool both_lines, const bool both_x,
                                                halves_t *found) {
    const char *x = t->x;
    _Alignas(64) uint8_t stage[LINES][LANE];
    const int bytes = is_of_floats(kind) ? 2 : 1;
    zero_sums();
    for (int64_t p = 0; p < t->steps; p += LANE / bytes) {
        const rows_t rows = step_of_dots(t, first, p, bytes);
        const bool is_whole = rows.count == LINES && rows.mask == UINT64_MAX;
        for (int i = 0; (kind == BF16 || !is_whole) && i < (both_lines ? LINES : LINES / 2); ++i) {
            halves_t line;
            load_row(&rows, i, is_whole, &line, sizeof line);
            if (kind == BF16)
                note_subnormals(&line, found);
            if (!is_whole)
                memcpy(stage[i], &line, sizeof line);
        }
        const char *const lines = is_whole ? (const char *)rows.base : (const char *)stage[0];
        const int64_t pitch = is_whole ? rows.pitch : LANE;
        multiply_step(lines, pitch, x, kind, both_lines, both_x);
        x += STEP_BYTES;
    }
}

/* Lines i .. i + 7 by one half of x without tiles: each sum in one register, k ascending. */
static void exact_lines(const tcgemm_dots_t *t, int first, int i, int half, sums_t *sums) {
    floats_t sum[EXACT_ROWS] = {{0}};
    const char *x = (const char *)t->x + (ptrdiff_t)half * 64;
    for (int64_t p = 0; p < t->steps; p += LANE / 2) {
        const rows_t rows = step_of_dots(t, first, p, 2);
        uint32_t line[EXACT_ROWS][WORDS];
        for (int r = 0; r < EXACT_ROWS; ++r)
            load_row(&rows, i + r, false, line[r], sizeof line[r]);
        for (int w = 0; w < WORDS; ++w) {
            pairs_t column;
            memcpy(&column, x + w * B_PITCH, sizeof column);
            TCGEMM_UNROLL
            for (int r = 0; r < EXACT_ROWS; ++r) {
                const pairs_t row = line[r][w] - (pairs_t){0};
                sum[r] += LOW(row) * LOW(column);
                sum[r] += HIGH(row) * HIGH(column);
            }
        }
        x += STEP_BYTES;
    }
    for (int r = 0; r < EXACT_ROWS; ++r)
        memcpy(&sums->f32[i + r][half * 16], &sum[r], sizeof sum[r]);
}

static void transpose_sums(const sums_t *sums, sums_t *transposed) {
    for (int i = 0; i < ROWS; i += WORDS)
        for (int j = 0; j < COLS; j += WORDS) {
            words_t r[WORDS];
            for (int w = 0; w < WORDS; ++w)
                memcpy(&r[w], &sums->s32[i + w][j], sizeof r[w]);
            transpose_words(r);
            for (int w = 0; w < WORDS; ++w)
                memcpy(&transposed->s32[j + w][i], &r[w], sizeof r[w]);
        }
}

/* D = alpha * sums + beta * C, whose rows are those of x or the lines. */
static void finish_lines(const tcgemm_dots_t *t, int first, bool is_float, const sums_t *sums) {
    const int count = lines_of_group(t, first);
    const bool is_by_rows = t->d_line == 1;
    _Alignas(64) sums_t transposed;
    const tcgemm_tile_t tile = {
        .d = (uint32_t *)t->d + first * t->d_line,
        .c = t->c ? (const uint32_t *)t->c + first * t->c_line : NULL,
        .ldd = is_by_rows ? t->d_row : t->d_line,
        .ldc = is_by_rows ? t->c_row : t->c_line,
        .m = is_by_rows ? t->num_rows : count,
        .n = is_by_rows ? count : t->num_rows,
        .alpha = t->alpha,
        .beta = t->beta,
    };
    if (is_by_rows)
        transpose_sums(sums, &transposed);
    finish_rows(&tile, is_by_rows ? &transposed : sums, is_float);
}

static TCGEMM_ALWAYS_INLINE void multiply_group(const tcgemm_dots_t *t, int first, const int kind) {
    const bool both_lines = t->num_lines - first > 16, both_x = t->num_rows > 16;
    halves_t found = {0};
    _Alignas(64) sums_t sums;
    if (both_lines && both_x)
        multiply_lines(t, first, kind, true, true, &found);
    else if (both_lines)
        multiply_lines(t, first, kind, true, false, &found);
    else if (both_x)
        multiply_lines(t, first, kind, false, true, &found);
    else
        multiply_lines(t, first, kind, false, false, &found);
    if (kind == BF16 && (t->is_exact || is_any(&found)))
        for (int i = 0; i < (both_lines ? LINES : LINES / 2); i += EXACT_ROWS)
            for (int half = 0; half < (both_x ? 2 : 1); ++half)
                exact_lines(t, first, i, half, &sums);
    else
        store_some_sums(&sums, SUMS_PITCH, both_lines ? ROWS : 16, both_x ? COLS : 16);
    finish_lines(t, first, is_of_floats(kind), &sums);
}

static TCGEMM_ALWAYS_INLINE void multiply_groups(const tcgemm_dots_t *t, const int kind) {
    for (int first = 0; first < t->num_lines; first += LINES)
        multiply_group(t, first, kind);
}

void tcgemm_dots_amx_bf16x32(const tcgemm_dots_t *t) {
    multiply_groups(t, BF16);
}

void tcgemm_dots_amx_f16x32(const tcgemm_dots_t *t) {
    multiply_groups(t, F16);
}

void tcgemm_dots_amx_i8x64(const tcgemm_dots_t *t) {
    const bool are_lines_signed = t->dtype == TCGEMM_DTYPE_S8;
    if (are_lines_signed && t->x_is_signed)
        multiply_groups(t, S8S8);
    else if (are_lines_signed)
        multiply_groups(t, S8U8);
    else if (t->x_is_signed)
        multiply_groups(t, U8S8);
    else
        multiply_groups(t, U8U8);
}
