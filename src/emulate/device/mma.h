/* mma.h - nvcuda::wmma on the products of emulate/instructions.h, as far as the kernels use it:
 * fragments that are filled by hand, mma_sync and the accumulators.
 *
 * A fragment has the elements that CUDA's has, in the order in which an sm_90 was found to keep
 * them (gpu/families/wmma/fragments.cuh): a block is 8 rows of A (columns of B), h half of the k of
 * an instruction; both are those of m16n8 (tile/fragment.h). mma_sync then is the m16n8 products
 * that the tile consists of; a tile of 8 rows is the transposed product.
 *
 *     words of A of 16 or 32 rows, of B of 32 columns    b0h0 b1h0 b0h1 b1h1 | b2h0 b3h0 ..
 *     words of B of 8 or 16 columns, of A of 8 rows      b0h0 b0h1 | b1h0 b1h1
 *     8-bit, f64                                         b0 b1 b2 b3
 *     accumulator [n block][m block][place], 8 x 32: [n block][place of the row]
 */
#ifndef TCGEMM_EMULATE_DEVICE_MMA_H
#define TCGEMM_EMULATE_DEVICE_MMA_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
namespace precision {
struct tf32 {};
} // namespace precision

/* ---- what a type is, and how many elements a lane holds of a tile of so many rows ---- */

template <class T> struct traits;
template <> struct traits<__half> {
    typedef __half element;
    enum { TYPE = TCGEMM_EMULATE_F16, WORDS = 2, LEAST = 16 };
};
template <> struct traits<__nv_bfloat16> {
    typedef __nv_bfloat16 element;
    enum { TYPE = TCGEMM_EMULATE_BF16, WORDS = 2, LEAST = 0 };
};
template <> struct traits<precision::tf32> {
    typedef float element;
    enum { TYPE = TCGEMM_EMULATE_TF32, WORDS = 2, LEAST = 0 };
};
template <> struct traits<signed char> {
    typedef signed char element;
    enum { TYPE = TCGEMM_EMULATE_S8, WORDS = 1, LEAST = 0 };
};
template <> struct traits<unsigned char> {
    typedef unsigned char element;
    enum { TYPE = TCGEMM_EMULATE_U8, WORDS = 1, LEAST = 0 };
};
template <> struct traits<double> {
    typedef double element;
    enum { TYPE = TCGEMM_EMULATE_F64, WORDS = 2, LEAST = 0 };
};

template <class Element, int COUNT> struct held {
    static constexpr int num_elements = COUNT;
    Element x[COUNT];
};

/* Elements of `rows` x `k` that a lane has; half is repeated up to 16. */
template <class T> constexpr int elements_of(int rows, int k) {
    return rows * k / 32 < traits<T>::LEAST ? (int)traits<T>::LEAST : rows * k / 32;
}

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment;
template <int M, int N, int K, class T, class Layout>
struct fragment<matrix_a, M, N, K, T, Layout>
    : held<typename traits<T>::element, elements_of<T>(M, K)> {};
template <int M, int N, int K, class T, class Layout>
struct fragment<matrix_b, M, N, K, T, Layout>
    : held<typename traits<T>::element, elements_of<T>(N, K)> {};
template <int M, int N, int K, class T>
struct fragment<accumulator, M, N, K, T> : held<T, M * N / 32> {};

static __forceinline__ float __float_to_tf32(float x) {
    return __uint_as_float(tcgemm_emulate_tf32_of_f32(__float_as_uint(x)));
}

template <class Fragment, class T> __forceinline__ void fill_fragment(Fragment &f, T value) {
    for (int i = 0; i < Fragment::num_elements; ++i)
        f.x[i] = value;
}

/* ---- the words of a block and half of a fragment ---- */

template <class T, int BLOCKS, bool PAIRED, class Fragment>
__forceinline__ uint32_t word_of(const Fragment &f, int block, int half) {
    uint32_t w[sizeof f.x / 4];
    memcpy(w, f.x, sizeof w);
    if (traits<T>::WORDS == 1)
        return w[block];
    return PAIRED ? w[block / 2 * 4 + half * 2 + block % 2] : w[block * 2 + half];
}

/* ---- m16n8 products of blocks i, i + 1 of one side and j of the other ---- */

/* Accumulators c0 .. c3 of two blocks (first side) by one (second side). */
template <class T>
__forceinline__ void multiply_add(float (&c)[4], tcgemm_emulate_u4_t a, tcgemm_emulate_u2_t b) {
    const uint32_t k = traits<T>::TYPE == TCGEMM_EMULATE_TF32 ? 8 : 16;
    const tcgemm_emulate_f4_t r = tcgemm_emulate_mma_f32((tcgemm_emulate_element_t)traits<T>::TYPE,
                                                         k, {{c[0], c[1], c[2], c[3]}}, a, b);
    for (int i = 0; i < 4; ++i)
        c[i] = r.r[i];
}

template <class T>
__forceinline__ void multiply_add(__half (&c)[4], tcgemm_emulate_u4_t a, tcgemm_emulate_u2_t b) {
    const tcgemm_emulate_u2_t r = tcgemm_emulate_mma_f16(
        16, {{c[0].bits | (uint32_t)c[1].bits << 16, c[2].bits | (uint32_t)c[3].bits << 16}}, a, b);
    for (int i = 0; i < 4; ++i)
        c[i].bits = (uint16_t)(r.r[i / 2] >> 16 * (i % 2));
}

/* 8-bit: one word a block, 16 k; two m8n8k16. */
template <class T>
__forceinline__ void multiply_add(int (&c)[4], tcgemm_emulate_u4_t a, tcgemm_emulate_u2_t b) {
    const tcgemm_emulate_element_t type = (tcgemm_emulate_element_t)traits<T>::TYPE;
    for (int half = 0; half < 2; ++half) {
        const tcgemm_emulate_u4_t r = tcgemm_emulate_mma_s32(
            type, type, 8, {{(uint32_t)c[2 * half], (uint32_t)c[2 * half + 1], 0, 0}},
            {{a.r[half], 0, 0, 0}}, {{b.r[0], 0}});
        c[2 * half] = (int)r.r[0];
        c[2 * half + 1] = (int)r.r[1];
    }
}

/* first: the side that gives rows, two blocks at a time. at(i, j): where the sums of rows of block
 * i and columns of block j begin in the accumulator, two of them. */
template <class T, int ROW_BLOCKS, int COL_BLOCKS, bool ROWS_PAIRED, bool COLS_PAIRED, class Sum,
          class First, class Second, class At>
__forceinline__ void multiply_blocks(Sum *x, const First &first, const Second &second, At at) {
    for (int j = 0; j < COL_BLOCKS; ++j)
        for (int i = 0; i < ROW_BLOCKS; i += 2) {
            tcgemm_emulate_u4_t a;
            tcgemm_emulate_u2_t b;
            for (int h = 0; h < (int)traits<T>::WORDS; ++h) {
                a.r[2 * h] = word_of<T, ROW_BLOCKS, ROWS_PAIRED>(first, i, h);
                a.r[2 * h + 1] = word_of<T, ROW_BLOCKS, ROWS_PAIRED>(first, i + 1, h);
                b.r[h] = word_of<T, COL_BLOCKS, COLS_PAIRED>(second, j, h);
            }
            if (traits<T>::WORDS == 1) {
                a.r[0] = word_of<T, ROW_BLOCKS, ROWS_PAIRED>(first, i, 0);
                a.r[1] = word_of<T, ROW_BLOCKS, ROWS_PAIRED>(first, i + 1, 0);
            }
            Sum c[4];
            for (int r = 0; r < 4; ++r)
                c[r] = x[at(i + r / 2, j) + r % 2];
            multiply_add<T>(c, a, b);
            for (int r = 0; r < 4; ++r)
                x[at(i + r / 2, j) + r % 2] = c[r];
        }
}

/* ---- mma_sync ---- */

template <int M, int N, int K, class Sum, class T, class LA, class LB>
__forceinline__ void mma_sync(fragment<accumulator, M, N, K, Sum> &d,
                              const fragment<matrix_a, M, N, K, T, LA> &a,
                              const fragment<matrix_b, M, N, K, T, LB> &b,
                              const fragment<accumulator, M, N, K, Sum> &c, TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    Sum x[M * N / 32];
    for (int i = 0; i < M * N / 32; ++i)
        x[i] = c.x[i];
    if constexpr (N == 32) /* D^T: rows of the product are columns of B */
        multiply_blocks<T, N / 8, 1, true, false>(x, b, a, [](int i, int) { return 2 * i; });
    else
        multiply_blocks<T, M / 8, N / 8, true, false>(
            x, a, b, [](int i, int j) { return M / 4 * j + 2 * i; });
    for (int i = 0; i < M * N / 32; ++i)
        d.x[i] = x[i];
}

/* f64: m8n8k4. */
template <class LA, class LB>
__forceinline__ void mma_sync(fragment<accumulator, 8, 8, 4, double> &d,
                              const fragment<matrix_a, 8, 8, 4, double, LA> &a,
                              const fragment<matrix_b, 8, 8, 4, double, LB> &b,
                              const fragment<accumulator, 8, 8, 4, double> &c,
                              TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    const tcgemm_emulate_d4_t r =
        tcgemm_emulate_mma_f64(8, 4, {{c.x[0], c.x[1], 0, 0}}, {{a.x[0]}}, {{b.x[0]}});
    d.x[0] = r.r[0];
    d.x[1] = r.r[1];
}

} // namespace wmma
} // namespace nvcuda

#endif
