/* pack.cu - copies the rows of an operand to 16-byte boundaries, so that the product may load them
 * wide; what is left of the last 16 bytes of a row becomes zero.
 *
 *     from      |..e0 e1 e2 e3 e4 e5 e6 e7|e8 ..          rows start anywhere
 *     to        |e0 e1 e2 e3 e4 e5 e6 e7|e8 e9 .. 0 0|    a thread makes 16 bytes at a time
 *
 * Threads side by side take the pieces of a row; a block takes as many short rows of the whole
 * batch at once as it has threads left over. A thread reads the aligned pieces that hold its 16
 * bytes and shifts them into place; at the ends of a row, where a word would reach beyond it,
 * element by element. The price is one trip of the operand through memory.
 *
 * Or widens it, fp8 to bf16, which holds every number of either format: a thread reads 8 bytes and
 * writes 16. Threads side by side take the pieces of a row, four each; a block takes as many short
 * rows as it has threads left over, or one stretch of a long row.
 *
 *     across = 8, 16 .. 256 threads      row 0    | t0 t1 t2 .. | t0 t1 t2 .. | .. | .. |
 *                                        row 1    | t8 t9 ..
 *
 * Or turns it round: row i of the copy is column i of the operand. A block takes squares of 64 x 64
 * through shared memory, in words of four bytes: of one row on the way in, of one column on the
 * way out.
 *
 * A launch may begin before the one ahead, which packs the other operand, has ended; it waits at
 * its end, so that who waits for it waits for both. Where copies are small the next launch may
 * begin at once; beside large ones its blocks would only be in the way (bench/results/notes.md).
 */
#include <stdint.h>

#include "gpu/gpu_args.h"
#include "gpu/ptx/griddepcontrol.cuh"
#include "gpu/ptx/shared.cuh"

enum { PIECE = 16 }; /* bytes */

static __device__ __forceinline__ void let_next_begin(const tcgemm_gpu_args_t &args,
                                                      int element_bytes) {
    if (args.m * args.k * args.batch * element_bytes <= TCGEMM_SMALL_COPY)
        tcgemm_let_next_grid_begin();
}

/* Elements i .. of a row, those from `length` on zero. */
template <class Element>
static __device__ __forceinline__ uint4 gather_piece(const Element *row, int64_t first,
                                                     int64_t length) {
    enum { COUNT = PIECE / sizeof(Element) };
    union {
        Element element[COUNT];
        uint4 all;
    } piece;
    for (int i = 0; i < COUNT; ++i)
        piece.element[i] = first + i < length ? row[first + i] : Element(0);
    return piece.all;
}

/* COUNT words from an address that is aligned to a byte alone, out of the aligned words that hold
 * them. */
template <int COUNT>
static __device__ __forceinline__ void shift_words(const void *from, uint32_t (&words)[COUNT]) {
    const uint32_t *at = (const uint32_t *)((uintptr_t)from & ~(uintptr_t)3);
    const uint32_t bits = (uint32_t)((uintptr_t)from & 3) * 8;
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        words[i] = __funnelshift_r(at[i], i + 1 < COUNT || bits ? at[i + 1] : 0, bits);
}

/* 16 bytes from an address that is aligned to an element alone, out of the one or two aligned
 * pieces that hold them. */
static __device__ __forceinline__ uint4 shift_piece(const char *from) {
    const uint4 *piece = (const uint4 *)((uintptr_t)from & ~(uintptr_t)(PIECE - 1));
    const uint32_t off = (uint32_t)((uintptr_t)from & (PIECE - 1));
    const uint4 x = piece[0];
    if (off == 0)
        return x;
    const uint4 y = piece[1];
    const bool by_two = off & 8, by_one = off & 4; /* words */
    const uint32_t a0 = by_two ? x.z : x.x, a1 = by_two ? x.w : x.y, a2 = by_two ? y.x : x.z,
                   a3 = by_two ? y.y : x.w, a4 = by_two ? y.z : y.x, a5 = by_two ? y.w : y.y;
    const uint32_t w0 = by_one ? a1 : a0, w1 = by_one ? a2 : a1, w2 = by_one ? a3 : a2,
                   w3 = by_one ? a4 : a3, w4 = by_one ? a5 : a4;
    const uint32_t bits = (off & 3) * 8;
    return make_uint4(__funnelshift_r(w0, w1, bits), __funnelshift_r(w1, w2, bits),
                      __funnelshift_r(w2, w3, bits), __funnelshift_r(w3, w4, bits));
}

template <class Element>
static __device__ __forceinline__ void pack(const tcgemm_gpu_args_t &args) {
    let_next_begin(args, sizeof(Element));
    enum { COUNT = PIECE / sizeof(Element) };
    const int64_t pieces = (args.k + COUNT - 1) / COUNT;
    int across = TCGEMM_PACK_LEAST;
    while (across < (int)blockDim.x && across < pieces)
        across *= 2;
    const int64_t at_once = blockDim.x / across, lines = args.m * args.batch;
    for (int64_t line = blockIdx.x * at_once + threadIdx.x / across; line < lines;
         line += gridDim.x * at_once) {
        const int64_t item = line / args.m;
        const int64_t row = line - item * args.m;
        const Element *from = (const Element *)args.a + item * args.stride_a + row * args.lda;
        Element *to = (Element *)args.d + item * args.stride_d + row * args.ldd;
        for (int64_t p = threadIdx.x % across; p < pieces; p += across) {
            const int64_t first = p * COUNT;
            /* A piece before the first element or behind the last one is not ours to read. */
            const bool inside = p > 0 && first + 2 * COUNT <= args.k;
            ((uint4 *)to)[p] = inside ? shift_piece((const char *)(from + first))
                                      : gather_piece(from, first, args.k);
        }
    }
    tcgemm_wait_for_grids();
}

/* ---- widening ---- */

/* e4m3: 4 bits of exponent, bias 7; all ones is NaN. As an f32 its bits, moved to their places, are
 * the number times 2^-120, subnormal or not. */
struct widen_e4m3 {
    static __device__ __forceinline__ uint32_t magnitude(uint32_t bits) {
        return bits == 0x7F ? 0x7FC0u
                            : __float_as_uint(__uint_as_float(bits << 20) * 0x1p120f) >> 16;
    }
};

/* e5m2: 5 bits of exponent, bias 15; infinities and NaN as in IEEE. */
struct widen_e5m2 {
    static __device__ __forceinline__ uint32_t magnitude(uint32_t bits) {
        return bits >= 0x7C ? bits << 5 | 0x7000u
                            : __float_as_uint(__uint_as_float(bits << 21) * 0x1p112f) >> 16;
    }
};

/* Two bytes of `word`, from byte `first` on, as two bf16. */
template <class Format>
static __device__ __forceinline__ uint32_t widen_pair(uint32_t word, int first) {
    const uint32_t low = word >> 8 * first & 0xFF, high = word >> 8 * (first + 1) & 0xFF;
    return Format::magnitude(low & 0x7F) | (low & 0x80) << 8 |
           (Format::magnitude(high & 0x7F) | (high & 0x80) << 8) << 16;
}

template <class Format> static __device__ __forceinline__ uint4 widen_piece(uint2 x) {
    return make_uint4(widen_pair<Format>(x.x, 0), widen_pair<Format>(x.x, 2),
                      widen_pair<Format>(x.y, 0), widen_pair<Format>(x.y, 2));
}

/* Piece p of a row; elements from `length` on are zero. */
static __device__ __forceinline__ uint2 gather_bytes(const uint8_t *row, int64_t p,
                                                     int64_t length) {
    uint64_t bytes = 0;
    const int64_t first = p * TCGEMM_WIDEN_PIECE;
    for (int i = 0; i < TCGEMM_WIDEN_PIECE && first + i < length; ++i)
        bytes |= (uint64_t)row[first + i] << 8 * i;
    return make_uint2((uint32_t)bytes, (uint32_t)(bytes >> 32));
}

/* Pieces first, first + across .. of a row of `pieces`, of which `whole` are whole. */
template <class Format>
static __device__ __forceinline__ void widen_row(const uint8_t *from, uint4 *to, int64_t length,
                                                 int64_t first, int across, bool is_aligned) {
    enum { COUNT = TCGEMM_WIDEN_PIECE, IN_FLIGHT = TCGEMM_WIDEN_PIECES };
    const int64_t whole = length / COUNT, pieces = (length + COUNT - 1) / COUNT;
    uint2 v[IN_FLIGHT];
    if (is_aligned) {
#pragma unroll
        for (int i = 0; i < IN_FLIGHT; ++i) {
            const int64_t p = first + i * across;
            v[i] = p < whole ? ((const uint2 *)from)[p] : make_uint2(0, 0);
        }
    } else {
#pragma unroll
        for (int i = 0; i < IN_FLIGHT; ++i) {
            const int64_t p = first + i * across;
            /* A piece before the first element or behind the last one is not ours to read. */
            uint32_t words[2] = {0, 0};
            if (p > 0 && p + 1 < whole)
                shift_words(from + p * COUNT, words);
            v[i] = make_uint2(words[0], words[1]);
        }
    }
#pragma unroll
    for (int i = 0; i < IN_FLIGHT; ++i) {
        const int64_t p = first + i * across;
        if (p >= pieces)
            return;
        if (p >= whole || (!is_aligned && (p == 0 || p + 1 == whole)))
            v[i] = gather_bytes(from, p, length);
        to[p] = widen_piece<Format>(v[i]);
    }
}

template <class Format>
static __device__ __forceinline__ void widen(const tcgemm_gpu_args_t &args) {
    let_next_begin(args, sizeof(uint16_t));
    const int64_t pieces = (args.k + TCGEMM_WIDEN_PIECE - 1) / TCGEMM_WIDEN_PIECE;
    int across = TCGEMM_WIDEN_LEAST;
    while (across < TCGEMM_WIDEN_MOST && across * TCGEMM_WIDEN_PIECES < pieces)
        across *= 2;
    const int64_t stretch = across * TCGEMM_WIDEN_PIECES;
    const int64_t stretches = (pieces + stretch - 1) / stretch;
    const int at_once = TCGEMM_WIDEN_MOST / across;
    const int64_t lines = args.m * args.batch;
    const int64_t units = (lines + at_once - 1) / at_once * stretches;
    const bool is_aligned =
        ((uintptr_t)args.a | (uintptr_t)args.lda | (uintptr_t)args.stride_a) % TCGEMM_WIDEN_PIECE ==
        0;
    for (int64_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
        const int64_t group = unit / stretches;
        const int64_t first = (unit - group * stretches) * stretch + threadIdx.x % across;
        const int64_t line = group * at_once + threadIdx.x / across;
        if (line >= lines)
            continue;
        const int64_t item = args.batch > 1 ? line / args.m : 0;
        const int64_t row = line - item * args.m;
        const uint8_t *from = (const uint8_t *)args.a + item * args.stride_a + row * args.lda;
        uint16_t *to = (uint16_t *)args.d + item * args.stride_d + row * args.ldd;
        widen_row<Format>(from, (uint4 *)to, args.k, first, across, is_aligned);
    }
    tcgemm_wait_for_grids();
}

/* ---- turning round ---- */

/* COUNT elements of a row from `first` on; those from `length` on are zero. */
template <class Element, int COUNT> union turn_word {
    Element element[COUNT];
    uint32_t word[COUNT * sizeof(Element) / 4];
};

template <class Element, int COUNT>
static __device__ __forceinline__ turn_word<Element, COUNT>
turn_read(const Element *row, int64_t first, int64_t length) {
    turn_word<Element, COUNT> w;
    if (sizeof(Element) < 4 && first > 0 && first + 2 * COUNT <= length) {
        shift_words(row + first, w.word);
        return w;
    }
    for (int i = 0; i < COUNT; ++i)
        w.element[i] = first + i < length ? row[first + i] : Element(0);
    return w;
}

template <class Element>
static __device__ __forceinline__ void turn(const tcgemm_gpu_args_t &args, Element *tile) {
    let_next_begin(args, sizeof(Element));
    enum {
        TILE = TCGEMM_TURN_TILE,
        COUNT = sizeof(Element) < 4 ? 4 / sizeof(Element) : 1,
        WORDS = TILE / COUNT,
        LINES = 256 / WORDS, /* that a block takes at a time */
        IN_FLIGHT = TILE / LINES < 8 ? TILE / LINES : 8,
        PITCH = TILE + COUNT /* elements; columns spread over the banks */
    };
    typedef turn_word<Element, COUNT> word_t;
    const int64_t rows = (args.m + TILE - 1) / TILE, cols = (args.k + TILE - 1) / TILE;
    for (int64_t square = blockIdx.x; square < rows * cols * args.batch; square += gridDim.x) {
        const int64_t item = square / (rows * cols);
        const int64_t at = square - item * rows * cols;
        const int64_t row0 = at / cols * TILE, col0 = at % cols * TILE;
        const Element *from = (const Element *)args.a + item * args.stride_a;
        Element *to = (Element *)args.d + item * args.stride_d;
        __syncthreads(); /* the square before has been written out */
        const int word = threadIdx.x % WORDS, line = threadIdx.x / WORDS;
#pragma unroll
        for (int first = 0; first < TILE; first += LINES * IN_FLIGHT) {
            word_t v[IN_FLIGHT];
#pragma unroll
            for (int i = 0; i < IN_FLIGHT; ++i) {
                const int64_t row = row0 + first + i * LINES + line;
                if (row < args.m && col0 + word * COUNT < args.k)
                    v[i] = turn_read<Element, COUNT>(from + row * args.lda, col0 + word * COUNT,
                                                     args.k);
            }
#pragma unroll
            for (int i = 0; i < IN_FLIGHT; ++i)
                *(word_t *)(tile + (first + i * LINES + line) * PITCH + word * COUNT) = v[i];
        }
        __syncthreads();
        const int64_t first = row0 + word * COUNT;
        const int64_t end =
            (args.m * sizeof(Element) + PIECE - 1) / PIECE * (PIECE / sizeof(Element));
#pragma unroll
        for (int i = 0; i < TILE; i += LINES) {
            const int col = i + line;
            word_t v;
#pragma unroll
            for (int e = 0; e < COUNT; ++e)
                v.element[e] =
                    first + e < args.m ? tile[(word * COUNT + e) * PITCH + col] : Element(0);
            if (col0 + col < args.k && first < end)
                *(word_t *)(to + (col0 + col) * args.ldd + first) = v;
        }
    }
    tcgemm_wait_for_grids();
}

extern "C" __global__ void __launch_bounds__(256)
    tcgemm_pack_8(const __grid_constant__ tcgemm_gpu_args_t args) {
    pack<uint8_t>(args);
}

extern "C" __global__ void __launch_bounds__(256)
    tcgemm_pack_16(const __grid_constant__ tcgemm_gpu_args_t args) {
    pack<uint16_t>(args);
}

extern "C" __global__ void __launch_bounds__(256)
    tcgemm_pack_32(const __grid_constant__ tcgemm_gpu_args_t args) {
    pack<uint32_t>(args);
}

extern "C" __global__ void __launch_bounds__(256)
    tcgemm_pack_64(const __grid_constant__ tcgemm_gpu_args_t args) {
    pack<uint64_t>(args);
}

extern "C" __global__ void __launch_bounds__(256)
    tcgemm_widen_e4m3(const __grid_constant__ tcgemm_gpu_args_t args) {
    widen<widen_e4m3>(args);
}

extern "C" __global__ void __launch_bounds__(256)
    tcgemm_widen_e5m2(const __grid_constant__ tcgemm_gpu_args_t args) {
    widen<widen_e5m2>(args);
}

extern "C" __global__ void __launch_bounds__(256)
    tcgemm_turn_8(const __grid_constant__ tcgemm_gpu_args_t args) {
    TCGEMM_SHARED_ARRAY(uint32_t, tile, 1088);
    turn(args, (uint8_t *)tile);
}

extern "C" __global__ void __launch_bounds__(256)
    tcgemm_turn_32(const __grid_constant__ tcgemm_gpu_args_t args) {
    TCGEMM_SHARED_ARRAY(uint32_t, tile, 4160);
    turn(args, (uint32_t *)tile);
}
