/* neon_mmla_tmpl.h - the body of the micro-kernels of Arm's small matrix products: an instruction
 * multiplies two rows of A by two columns of B, 8 bytes of k of each, onto a block of 2 x 2 sums.
 *
 *            b0 b1  b2 b3  ...  b10 b11        lanes of 8 bytes: a vector holds two rows of A, or
 *      a0   +------+------+---+--------+       two columns of B, as packing leaves them
 *      a1   | 2x2  |      |   |        |
 *           +------+------+---+--------+       4 x 6 blocks of sums in 24 of the 32 registers,
 *      ..   |      |      |   |        |       four for A, one and the next for B
 *
 * Of an edge tile pairs of rows and groups of four columns are computed that D has a part of: the
 * panels have zeros there. The includer defines, and this file undefines:
 *   MMLA_NAME                    the function, static
 *   MMLA_SUM, MMLA_SCALAR        a vector of sums; their C type
 *   MMLA_ZERO()                  sums
 *   MMLA_MAC(sum, a, b)          the instruction
 *   MMLA_ROW(x, y, r)            row r of two blocks side by side, as a vector of D
 *   MMLA_GET(p, lanes), MMLA_PUT(p, lanes, x), MMLA_SET1, MMLA_MUL, MMLA_FMA(x, y, z), MMLA_FIELD
 */
#define MMLA_PASTE_(x, y) x##y
#define MMLA_PASTE(x, y)  MMLA_PASTE_(x, y)
#define MMLA_LOCAL(name)  MMLA_PASTE(MMLA_PASTE(MMLA_NAME, _), name)

static TCGEMM_ALWAYS_INLINE void MMLA_LOCAL(store)(const tcgemm_tile_t *t, MMLA_SUM sum, int i,
                                                   int column) {
    const int lanes = t->n - column;
    if (i >= t->m)
        return;
    MMLA_SUM result = MMLA_MUL(MMLA_SET1(t->alpha.MMLA_FIELD), sum);
    if (t->c) {
        const MMLA_SCALAR *c = (const MMLA_SCALAR *)t->c + i * t->ldc + column;
        result = MMLA_FMA(MMLA_SET1(t->beta.MMLA_FIELD), MMLA_GET(c, lanes), result);
    }
    MMLA_PUT((MMLA_SCALAR *)t->d + i * t->ldd + column, lanes, result);
}

/* Pairs of rows and groups of four columns: constants wherever this is inlined. */
static TCGEMM_ALWAYS_INLINE void MMLA_LOCAL(body)(const tcgemm_tile_t *t, const int pairs,
                                                  const int groups) {
    const uint8_t *a = t->a;
    const uint8_t *b = t->b;
    MMLA_SUM sum[4][6];

    TCGEMM_UNROLL
    for (int i = 0; i < pairs; ++i) {
        TCGEMM_UNROLL
        for (int j = 0; j < 2 * groups; ++j)
            sum[i][j] = MMLA_ZERO();
        TCGEMM_PREFETCH_WRITE((const MMLA_SCALAR *)t->d + 2 * i * t->ldd);
        TCGEMM_PREFETCH_WRITE((const MMLA_SCALAR *)t->d + (2 * i + 1) * t->ldd);
    }

    for (int64_t p = t->steps; p > 0; --p) {
        uint8x16_t av[4];
        TCGEMM_UNROLL
        for (int i = 0; i < pairs; ++i)
            av[i] = vld1q_u8(a + 16 * i);
        TCGEMM_UNROLL
        for (int j = 0; j < 2 * groups; ++j) {
            const uint8x16_t bv = vld1q_u8(b + 16 * j);
            TCGEMM_UNROLL
            for (int i = 0; i < pairs; ++i)
                sum[i][j] = MMLA_MAC(sum[i][j], av[i], bv);
        }
        a += 8 * 8;
        b += 12 * 8;
    }

    TCGEMM_UNROLL
    for (int i = 0; i < pairs; ++i) {
        TCGEMM_UNROLL
        for (int j = 0; j < groups; ++j) {
            const MMLA_SUM x = sum[i][2 * j];
            const MMLA_SUM y = sum[i][2 * j + 1];
            MMLA_LOCAL(store)(t, MMLA_ROW(x, y, 0), 2 * i, 4 * j);
            MMLA_LOCAL(store)(t, MMLA_ROW(x, y, 1), 2 * i + 1, 4 * j);
        }
    }
}

#define MMLA_CASES(pairs)                                                                          \
    case (pairs)*4 + 1:                                                                            \
        MMLA_LOCAL(body)(t, pairs, 1);                                                             \
        break;                                                                                     \
    case (pairs)*4 + 2:                                                                            \
        MMLA_LOCAL(body)(t, pairs, 2);                                                             \
        break;                                                                                     \
    case (pairs)*4 + 3:                                                                            \
        MMLA_LOCAL(body)(t, pairs, 3);                                                             \
        break;

static void MMLA_NAME(const tcgemm_tile_t *t) {
    switch ((t->m + 1) / 2 * 4 + (t->n + 3) / 4) {
        MMLA_CASES(1)
        MMLA_CASES(2)
        MMLA_CASES(3)
        MMLA_CASES(4)
    default:
        break;
    }
}

#undef MMLA_CASES
#undef MMLA_LOCAL
#undef MMLA_PASTE
#undef MMLA_PASTE_
#undef MMLA_NAME
#undef MMLA_SUM
#undef MMLA_SCALAR
#undef MMLA_ZERO
#undef MMLA_MAC
#undef MMLA_ROW
#undef MMLA_GET
#undef MMLA_PUT
#undef MMLA_SET1
#undef MMLA_MUL
#undef MMLA_FMA
#undef MMLA_FIELD
