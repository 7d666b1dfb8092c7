/* tile_tmpl.h - the body of every micro-kernel. The includer defines the vector type and its few
 * operations, and the name; this file holds the loops once.
 *
 *      step p:     b0     b1     b2       nr = NV vectors of LANES lanes, loaded once
 *            a0   c00    c01    c02
 *            a1   c10    c11    c12       mr x NV accumulators stay in registers for all k;
 *            ..   ...    ...    ...       one broadcast of A feeds NV multiply-adds
 *            a7   c70    c71    c72
 *
 * Every m in 1..MR and every vector count in 1..NV has its own straight-line copy, so an edge tile
 * pays for what it computes. Columns beyond n in the last vector are masked on every access to C
 * and D, and to B where it is read in place: nothing outside the matrices is touched.
 *
 * To be defined:
 *   TILE_PACKED, TILE_STRIDED      names of the functions (TILE_STRIDED only if wanted)
 *   TILE_MR, TILE_NV, TILE_LANES   register tile: rows, vectors, lanes of a vector
 *   TILE_LANE, TILE_VEC            a lane of a panel; a vector of accumulators
 *   TILE_BVEC                      a vector of lanes of B, or of one broadcast lane of A
 *   TILE_FLIP(a, flip)             defined if tile.a_flip says what to xor to lanes of A
 *   TILE_AVEC                      what TILE_BROADCAST gives, if that is no TILE_BVEC
 *   TILE_ZERO(), TILE_LOAD(p), TILE_BROADCAST(p), TILE_MAC(sum, a, b)
 *   TILE_MASK, TILE_TAIL(n), TILE_LOAD_MASKED(p, mask)   TILE_TAIL where `t` is the tile
 *   TILE_SCALAR                    the accumulator's C type
 *   TILE_GET(p, mask), TILE_PUT(p, mask, x)   masked access to C and D
 *   TILE_SET1(x), TILE_MUL(x, y), TILE_ADD(x, y), TILE_FMA(x, y, z)   in the accumulator type: x*y,
 *                                  x + y, x*y + z
 *   TILE_FIELD                     the member of union tcgemm_tile_scalar
 *   TILE_INTEGER                   1: scale and terms apply
 *   TILE_STEPS                     steps in a round of the loop, if that is not 1
 *   TILE_IS_PACKED                 false: TILE_PACKED goes by strides, too
 *   TILE_FETCHES                   if tile.fetches is heeded by strides, and by short vectors of
 *                                  panels, of some rows and vectors: a second copy of the loop
 *   TILE_STORE(p, x)               if it heeds tile.copy: a third one, of all rows
 */

#define TILE_PASTE_(x, y) x##y
#define TILE_PASTE(x, y)  TILE_PASTE_(x, y)
#define TILE_LOCAL(name)  TILE_PASTE(TILE_PASTE(TILE_PACKED, _), name)
#ifndef TILE_AVEC
#define TILE_AVEC TILE_BVEC
#endif
#ifndef TILE_STEPS
#define TILE_STEPS 1
#endif
#ifndef TILE_IS_PACKED
#define TILE_IS_PACKED true
#endif

/* One vector of D from one vector of sums. */
static TCGEMM_ALWAYS_INLINE void TILE_LOCAL(store)(const tcgemm_tile_t *t, TILE_VEC sum, int i,
                                                   int v, TILE_MASK mask) {
    const int64_t column = (int64_t)v * TILE_LANES;
    TILE_SCALAR *d = (TILE_SCALAR *)t->d + i * t->ldd + column;
#if TILE_INTEGER
    if (t->scale != 1u) {
        sum = TILE_MUL(sum, TILE_SET1(t->scale));
        if (t->row_term)
            sum = TILE_ADD(sum, TILE_SET1(t->row_term[i]));
        if (t->col_term)
            sum = TILE_ADD(sum, TILE_GET(t->col_term + column, mask));
    }
#endif
    TILE_VEC result = TILE_MUL(TILE_SET1(t->alpha.TILE_FIELD), sum);
    if (t->c) {
        const TILE_SCALAR *c = (const TILE_SCALAR *)t->c + i * t->ldc + column;
        result = TILE_FMA(TILE_SET1(t->beta.TILE_FIELD), TILE_GET(c, mask), result);
    }
    TILE_PUT(d, mask, result);
}

/* What is done seldom is there once for all sizes of a tile: its sums come from memory. */
static TCGEMM_NEVER_INLINE void TILE_LOCAL(store_all)(const tcgemm_tile_t *t,
                                                      const TILE_SCALAR *sums) {
    const int nv = (t->n + TILE_LANES - 1) / TILE_LANES;
    const TILE_MASK full = TILE_TAIL(TILE_LANES);
    const TILE_MASK tail = TILE_TAIL(t->n - (nv - 1) * TILE_LANES);
    for (int i = 0; i < t->m; ++i)
        for (int v = 0; v < nv; ++v) {
            const TILE_VEC sum = TILE_GET(sums + (i * TILE_NV + v) * TILE_LANES, full);
            TILE_LOCAL(store)(t, sum, i, v, v + 1 < nv ? full : tail);
        }
}

/* Nothing is to be done with the sums but to add C, if there is one. */
static TCGEMM_ALWAYS_INLINE bool TILE_LOCAL(is_plain)(const tcgemm_tile_t *t) {
#if TILE_INTEGER
    if (t->scale != 1u)
        return false;
#endif
    return t->alpha.TILE_FIELD == (TILE_SCALAR)1 && (!t->c || t->beta.TILE_FIELD == (TILE_SCALAR)1);
}

#if TILE_INTEGER
/* Where no factor comes between, sums begin with their terms. */
static TCGEMM_ALWAYS_INLINE void TILE_LOCAL(begin_with_terms)(const tcgemm_tile_t *t,
                                                              TILE_VEC sum[TILE_MR][TILE_NV],
                                                              const int mr, const int nv,
                                                              TILE_MASK full, TILE_MASK tail) {
    if (t->scale != 1u)
        return;
    if (t->col_term) {
        TCGEMM_UNROLL
        for (int v = 0; v < nv; ++v) {
            const TILE_VEC term = TILE_GET(t->col_term + v * TILE_LANES, v + 1 < nv ? full : tail);
            TCGEMM_UNROLL
            for (int i = 0; i < mr; ++i)
                sum[i][v] = term;
        }
    }
    if (t->row_term) {
        TCGEMM_UNROLL
        for (int i = 0; i < mr; ++i) {
            TCGEMM_UNROLL
            for (int v = 0; v < nv; ++v)
                sum[i][v] = TILE_ADD(sum[i][v], TILE_SET1(t->row_term[i]));
        }
    }
}
#endif

/* The sums of a tile that stops at some k and goes on later, as they are: nothing is rounded.
 * Integers are added to the terms. */
static TCGEMM_ALWAYS_INLINE void TILE_LOCAL(resume)(const tcgemm_tile_t *t,
                                                    TILE_VEC sum[TILE_MR][TILE_NV], const int mr,
                                                    const int nv, TILE_MASK full) {
    const TILE_SCALAR *partial = t->partial;
    TCGEMM_UNROLL
    for (int i = 0; i < mr; ++i) {
        TCGEMM_UNROLL
        for (int v = 0; v < nv; ++v)
#if TILE_INTEGER
            sum[i][v] =
                TILE_ADD(sum[i][v], TILE_GET(partial + (i * TILE_NV + v) * TILE_LANES, full));
#else
            sum[i][v] = TILE_GET(partial + (i * TILE_NV + v) * TILE_LANES, full);
#endif
    }
}

static TCGEMM_ALWAYS_INLINE void TILE_LOCAL(pause)(TILE_VEC sum[TILE_MR][TILE_NV], const int mr,
                                                   const int nv, TILE_MASK full,
                                                   TILE_SCALAR *partial) {
    TCGEMM_UNROLL
    for (int i = 0; i < mr; ++i) {
        TCGEMM_UNROLL
        for (int v = 0; v < nv; ++v)
            TILE_PUT(partial + (i * TILE_NV + v) * TILE_LANES, full, sum[i][v]);
    }
}

/* D of a plain tile; has_c is a constant, too. */
static TCGEMM_ALWAYS_INLINE void TILE_LOCAL(write)(const tcgemm_tile_t *t,
                                                   TILE_VEC sum[TILE_MR][TILE_NV], const int mr,
                                                   const int nv, const bool has_c, TILE_MASK full,
                                                   TILE_MASK tail) {
    const TILE_SCALAR *c = t->c;
    TILE_SCALAR *d = t->d;
    const int64_t ldc = t->ldc, ldd = t->ldd;
    TCGEMM_UNROLL
    for (int i = 0; i < mr; ++i) {
        TCGEMM_UNROLL
        for (int v = 0; v < nv; ++v) {
            const int64_t at = (int64_t)v * TILE_LANES;
            const TILE_MASK mask = v + 1 < nv ? full : tail;
            if (has_c)
                sum[i][v] = TILE_ADD(sum[i][v], TILE_GET(c + at, mask));
            TILE_PUT(d + at, mask, sum[i][v]);
        }
        d += ldd;
        c = has_c ? c + ldc : c;
    }
}

static TCGEMM_ALWAYS_INLINE void TILE_LOCAL(fetch)(const tcgemm_tile_t *t, const int mr,
                                                   const int nv) {
    TCGEMM_UNROLL
    for (int i = 0; i < mr; ++i) {
        TCGEMM_UNROLL
        for (int v = 0; v < nv; ++v)
            TCGEMM_PREFETCH_WRITE((const TILE_SCALAR *)t->d + i * t->ldd + v * TILE_LANES);
    }
}

#define TILE_IS_LONG (sizeof(TILE_VEC) == 64)

#ifndef TILE_TMPL_ONCE
#define TILE_TMPL_ONCE
/* Steps that a panel of B, which lies in the second-level cache, is fetched ahead. */
enum { AHEAD = 16 };

/* How B is read. A mask of a vector of 64 bytes takes one of two multiply-adds' turns on Intel's
 * processors, 4 % of a whole tile's time, one of 32 bytes with AVX2 10 % on a Zen 5. */
typedef enum tile_way {
    PANEL,         /* packed ... */
    PANEL_FETCHED, /* ... and longer than the first-level cache, or tile.fetches */
    WHOLE,         /* by strides, in whole vectors */
    MASKED,        /* by strides, the last vector by its mask; and so: */
    COPYING,       /* tile.copy */
    FETCHING       /* tile.fetches */
} tile_way_t;
#endif

/* mr, nv and way are constants wherever this is inlined; and so below. */
static TCGEMM_ALWAYS_INLINE void TILE_LOCAL(multiply)(const tcgemm_tile_t *t,
                                                      TILE_VEC sum[TILE_MR][TILE_NV], const int mr,
                                                      const int nv, const tile_way_t way,
                                                      const bool flips, TILE_MASK tail) {
    const bool packed = way == PANEL || way == PANEL_FETCHED;
    const bool fetches = way == PANEL_FETCHED || way == FETCHING;
    const TILE_LANE *b = t->b;
    const int64_t a_row = packed ? 1 : t->a_row;
    const int64_t a_step = packed ? TILE_MR : t->a_step;
    const int64_t b_step = packed ? TILE_NV * TILE_LANES : t->b_step;
    const int64_t ahead = packed ? AHEAD * b_step : t->ahead;
    const bool reads_ahead = fetches && (!packed || TILE_IS_LONG);
    const bool has_next = fetches && t->fetches; /* else a line that is near, again and again */
    const char *next = has_next ? t->next : t->b;
    const int64_t next_step = has_next ? t->next_step : 0;
    int64_t until_line = has_next ? t->next_count : 0;
#ifdef TILE_STORE
    TILE_LANE *copy = t->copy;
#endif
    /* Many rows of A in two halves: as many strides as a processor has registers for. */
    const int half = packed || TILE_MR <= 4 ? mr : (mr + 1) / 2;
    const TILE_LANE *a[2] = {t->a, (const TILE_LANE *)t->a + half * a_row};
    (void)tail;  /* some kernels have no masks, ... */
    (void)flips; /* ... most take lanes of A as they are */

    TCGEMM_UNROLL_BY(TILE_STEPS)
    for (int64_t p = t->steps; p > 0; --p) {
        TILE_BVEC bv[TILE_NV];
        if (reads_ahead) {
            TCGEMM_UNROLL
            for (int v = 0; v < nv; ++v)
                __builtin_prefetch(b + ahead + v * TILE_LANES);
        }
        TCGEMM_UNROLL
        for (int v = 0; way == COPYING && v < nv; ++v)
            TCGEMM_PREFETCH_FAR(b + ahead + v * TILE_LANES);
        if (fetches) {
            TCGEMM_UNROLL
            for (int line = 0; line < 2; ++line)
                if (packed) /* it would not stay in the first level, through which a panel passes */
                    TCGEMM_PREFETCH_FAR(next + 64 * line);
                else
                    __builtin_prefetch(next + 64 * line);
            next += next_step;
            if (--until_line == 0) {
                next += t->next_line;
                until_line = t->next_count;
            }
        }
        TCGEMM_UNROLL
        for (int v = 0; v < nv; ++v)
            bv[v] = packed || way == WHOLE || v + 1 < nv
                        ? TILE_LOAD(b + v * TILE_LANES)
                        : TILE_LOAD_MASKED(b + v * TILE_LANES, tail);
#ifdef TILE_STORE
        TCGEMM_UNROLL
        for (int v = 0; way == COPYING && v < nv; ++v)
            TILE_STORE(copy + v * TILE_LANES, bv[v]);
        copy += way == COPYING ? t->copy_step : 0;
#endif
        TCGEMM_UNROLL
        for (int i = 0; i < mr; ++i) {
            TILE_AVEC av = TILE_BROADCAST(a[i >= half] + (i - (i >= half) * half) * a_row);
#ifdef TILE_FLIP
            if (flips)
                av = TILE_FLIP(av, TILE_SET1(t->a_flip));
#endif
            TCGEMM_UNROLL
            for (int v = 0; v < nv; ++v)
                sum[i][v] = TILE_MAC(sum[i][v], av, bv[v]);
        }
        a[0] += a_step;
        a[1] += a_step;
        b += b_step;
    }
}

static TCGEMM_ALWAYS_INLINE void TILE_LOCAL(body)(const tcgemm_tile_t *t, const int mr,
                                                  const int nv, const bool packed,
                                                  const bool flips) {
    const TILE_MASK tail = TILE_TAIL(t->n - (nv - 1) * TILE_LANES);
    const TILE_MASK full = TILE_TAIL(TILE_LANES);
#ifdef TILE_FETCHES
    const bool fetches = mr > 1 && nv > 1 && t->fetches;
#else
    const bool fetches = false;
#endif
    TILE_VEC sum[TILE_MR][TILE_NV];

    TCGEMM_UNROLL
    for (int i = 0; i < mr; ++i) {
        TCGEMM_UNROLL
        for (int v = 0; v < nv; ++v)
            sum[i][v] = TILE_ZERO();
    }
#if TILE_INTEGER
    TILE_LOCAL(begin_with_terms)(t, sum, mr, nv, full, tail);
#endif
    if (t->resumes)
        TILE_LOCAL(resume)(t, sum, mr, nv, full);
    if (!t->pauses)
        TILE_LOCAL(fetch)(t, mr, nv);

    if (packed && (TILE_IS_LONG || (fetches && mr == TILE_MR && nv == TILE_NV)))
        TILE_LOCAL(multiply)(t, sum, mr, nv, PANEL_FETCHED, flips, tail);
    else if (packed)
        TILE_LOCAL(multiply)(t, sum, mr, nv, PANEL, flips, tail);
#ifdef TILE_STORE
    else if (mr == TILE_MR && t->copy)
        TILE_LOCAL(multiply)(t, sum, mr, nv, COPYING, flips, tail);
#endif
    else if (fetches)
        TILE_LOCAL(multiply)(t, sum, mr, nv, FETCHING, flips, tail);
    else if (mr == TILE_MR && nv == TILE_NV && t->n == nv * TILE_LANES)
        TILE_LOCAL(multiply)(t, sum, mr, nv, WHOLE, flips, tail);
    else
        TILE_LOCAL(multiply)(t, sum, mr, nv, MASKED, flips, tail);

    if (t->pauses) {
        TILE_LOCAL(pause)(sum, mr, nv, full, t->partial);
        return;
    }
    if (!TILE_LOCAL(is_plain)(t)) {
        TILE_SCALAR sums[TILE_MR * TILE_NV * TILE_LANES];
        TILE_LOCAL(pause)(sum, mr, nv, full, sums);
        TILE_LOCAL(store_all)(t, sums);
        return;
    }
    if (t->c)
        TILE_LOCAL(write)(t, sum, mr, nv, true, full, tail);
    else
        TILE_LOCAL(write)(t, sum, mr, nv, false, full, tail);
}

#define TILE_CASES(mr, packed, flips)                                                              \
    case (mr)*4 + 1:                                                                               \
        TILE_LOCAL(body)(t, mr, 1, packed, flips);                                                 \
        break;                                                                                     \
    case (mr)*4 + 2:                                                                               \
        TILE_LOCAL(body)(t, mr, 2, packed, flips);                                                 \
        break;                                                                                     \
    case (mr)*4 + 3:                                                                               \
        TILE_LOCAL(body)(t, mr, 3, packed, flips);                                                 \
        break;
#if TILE_MR == 8
#define TILE_PART_CASES(packed, flips)                                                             \
    TILE_CASES(1, packed, flips)                                                                   \
    TILE_CASES(2, packed, flips)                                                                   \
    TILE_CASES(3, packed, flips)                                                                   \
    TILE_CASES(4, packed, flips)                                                                   \
    TILE_CASES(5, packed, flips)                                                                   \
    TILE_CASES(6, packed, flips)                                                                   \
    TILE_CASES(7, packed, flips)
#elif TILE_MR == 4
#define TILE_PART_CASES(packed, flips)                                                             \
    TILE_CASES(1, packed, flips)                                                                   \
    TILE_CASES(2, packed, flips)                                                                   \
    TILE_CASES(3, packed, flips)
#else
#error "tile_tmpl.h: TILE_MR must be 4 or 8"
#endif
_Static_assert(TILE_NV == 3, "TILE_CASES lists the copies for 1 to 3 vectors");

void TILE_PACKED(const tcgemm_tile_t *t) {
    switch (t->m * 4 + (t->n + TILE_LANES - 1) / TILE_LANES) {
        TILE_PART_CASES(TILE_IS_PACKED, false)
        TILE_CASES(TILE_MR, TILE_IS_PACKED, false)
    default:
        break;
    }
}

#ifdef TILE_STRIDED
/* By strides a function for tiles of all rows and each number of vectors, and one for the others:
 * none has to save what another one needs. */
#define TILE_ROWS(name, nv, flips)                                                                 \
    static TCGEMM_NEVER_INLINE void TILE_LOCAL(name##_by_##nv)(const tcgemm_tile_t *t) {           \
        TILE_LOCAL(body)(t, TILE_MR, nv, false, flips);                                            \
    }
#define TILE_ROWS_OF(name, n)                                                                      \
    ((n) <= TILE_LANES       ? TILE_LOCAL(name##_by_1)                                             \
     : (n) <= 2 * TILE_LANES ? TILE_LOCAL(name##_by_2)                                             \
                             : TILE_LOCAL(name##_by_3))
TILE_ROWS(rows, 1, false)
TILE_ROWS(rows, 2, false)
TILE_ROWS(rows, 3, false)
#ifdef TILE_FLIP
TILE_ROWS(flipped, 1, true)
TILE_ROWS(flipped, 2, true)
TILE_ROWS(flipped, 3, true)
#endif
static TCGEMM_NEVER_INLINE void TILE_LOCAL(fewer_rows)(const tcgemm_tile_t *t) {
    switch (t->m * 4 + (t->n + TILE_LANES - 1) / TILE_LANES) {
        TILE_PART_CASES(false, true)
    default:
        break;
    }
}

/* Tiles of all rows below one another, and one of what is left. */
static TCGEMM_NEVER_INLINE void TILE_LOCAL(tall)(const tcgemm_tile_t *t, tcgemm_tile_fn *rows) {
    tcgemm_tile_t tile = *t;
    tile.m = TILE_MR;
    for (int i = 0; i + TILE_MR <= t->m; i += TILE_MR) {
        rows(&tile);
        tile.a = (const TILE_LANE *)tile.a + TILE_MR * tile.a_row;
        tile.d = (TILE_SCALAR *)tile.d + TILE_MR * tile.ldd;
        if (tile.c)
            tile.c = (const TILE_SCALAR *)tile.c + TILE_MR * tile.ldc;
        if (TILE_INTEGER && tile.row_term)
            tile.row_term += TILE_MR;
    }
    tile.m = t->m % TILE_MR;
    if (tile.m > 0)
        TILE_LOCAL(fewer_rows)(&tile);
}

void TILE_STRIDED(const tcgemm_tile_t *t) {
    tcgemm_tile_fn *rows = TILE_ROWS_OF(rows, t->n);
#ifdef TILE_FLIP
    if (t->a_flip)
        rows = TILE_ROWS_OF(flipped, t->n);
#endif
    if (t->m == TILE_MR)
        rows(t);
    else if (t->m < TILE_MR)
        TILE_LOCAL(fewer_rows)(t);
    else
        TILE_LOCAL(tall)(t, rows);
}
#undef TILE_ROWS
#undef TILE_ROWS_OF
#endif

#undef TILE_CASES
#undef TILE_PART_CASES
#undef TILE_LOCAL
#undef TILE_PASTE
#undef TILE_PASTE_
#undef TILE_PACKED
#undef TILE_STRIDED
#undef TILE_MR
#undef TILE_NV
#undef TILE_LANES
#undef TILE_LANE
#undef TILE_VEC
#undef TILE_BVEC
#undef TILE_AVEC
#undef TILE_ZERO
#undef TILE_LOAD
#undef TILE_BROADCAST
#undef TILE_MAC
#undef TILE_FLIP
#undef TILE_MASK
#undef TILE_TAIL
#undef TILE_LOAD_MASKED
#undef TILE_SCALAR
#undef TILE_GET
#undef TILE_PUT
#undef TILE_SET1
#undef TILE_MUL
#undef TILE_ADD
#undef TILE_FMA
#undef TILE_FIELD
#undef TILE_INTEGER
#undef TILE_STEPS
#undef TILE_IS_PACKED
#undef TILE_FETCHES
#undef TILE_IS_LONG
#undef TILE_STORE
