/* pack.cu - copies the rows of an operand to 16-byte boundaries, so that the product may load them
 * wide; what is left of the last 16 bytes of a row becomes zero.
 *
 *     from      |..e0 e1 e2 e3 e4 e5 e6 e7|e8 ..          rows start anywhere
 *     to        |e0 e1 e2 e3 e4 e5 e6 e7|e8 e9 .. 0 0|    a thread makes 16 bytes at a time
 *
 * A thread reads the aligned pieces that hold its 16 bytes and shifts them into place; at the ends
 * of a row, where a piece would reach beyond it, element by element. The price is one trip of the
 * operand through memory. Threads side by side take the pieces of a row, four each; a block takes
 * as many short rows of the whole batch at once as it has threads left over, or one stretch of a
 * long row (row_cut):
 *
 *     across = 8, 16 .. 256 threads      row 0    | t0 t1 t2 .. | t0 t1 t2 .. | .. | .. |
 *                                        row 1    | t8 t9 ..
 *
 * Or widens it, fp8 to bf16, which holds every number of either format: a thread reads 8 bytes and
 * writes 16.
 *
 * Or turns it round: row i of the copy is column i of the operand. A block takes tiles, 128 x 128
 * bytes, 64 x 128 halves or 64 x 64 words, through shared memory. A thread reads four rows of one
 * piece, turns them round in registers (e: its elements) and lays down what belongs to each column
 * as one word:
 *
 *     rows 4g .. 4g+3 of piece p       shared memory: column 16p + j, rows in groups of four
 *     | e00 e01 e02 .. e0F |           row j    | .. g = 0 | g = 1 | g = 2 | ..
 *     | e10 e11 e12 .. e1F |    ->              | e0j e1j e2j e3j at g, moved by p
 *     | e20 ..             |
 *     | e30 ..             |
 *
 * Groups are moved within their column by exclusive or with p, so that neither threads that write
 * (eight p side by side) nor those that read 16 bytes of a column meet in a bank.
 *
 * A and B go in one launch if one kernel packs both, some blocks each: a launch of its own takes
 * longer than most copies do. A launch may begin before the one ahead, which packs the other
 * operand, has ended; it waits at its end, so that who waits for it waits for both. Where copies
 * are small the next launch may begin at once; beside large ones its blocks would only be in the
 * way (bench/results/notes.md).
 */
#include <stdint.h>

#include "gpu/gpu_args.h"
#include "gpu/ptx/griddepcontrol.cuh"
#include "gpu/ptx/shared.cuh"
#include "gpu/words.cuh"

enum {
    PIECE = 16, /* bytes */
    /* Blocks on an SM, for which registers are kept: as many as do not spill. */
    PACK_BLOCKS = 3,
    MOVE_BLOCKS = 4
};

/* What this block works on, and which of the operand's blocks it is. */
struct assignment {
    const tcgemm_gpu_args_t &args;
    uint32_t block, blocks;

    __device__ __forceinline__ assignment(const tcgemm_pack_args_t &all)
        : args(all.operand[blockIdx.x >= all.first_blocks]),
          block(blockIdx.x >= all.first_blocks ? blockIdx.x - all.first_blocks : blockIdx.x),
          blocks(blockIdx.x >= all.first_blocks ? gridDim.x - all.first_blocks : all.first_blocks) {
    }
};

static __device__ __forceinline__ void let_next_begin(const tcgemm_gpu_args_t &args,
                                                      int element_bytes) {
    if (args.m * args.k * args.batch * element_bytes <= TCGEMM_SMALL_COPY)
        tcgemm_let_next_grid_begin();
}

/* How many elements beside a row are the operand's, too: where rows lie one behind another without
 * gaps, all of those before and behind it. */
struct surroundings {
    int64_t m, k, all;
    bool rows_touch, items_touch;

    __device__ __forceinline__ surroundings(const tcgemm_gpu_args_t &args) {
        m = args.m;
        k = args.k;
        rows_touch = args.lda == args.k || args.m == 1;
        items_touch = rows_touch && (args.batch == 1 || args.stride_a == args.m * args.k);
        all = items_touch ? args.batch * args.m * args.k : rows_touch ? args.m * args.k : args.k;
    }
    __device__ __forceinline__ int64_t before(int64_t item, int64_t row) const {
        return items_touch ? (item * m + row) * k : rows_touch ? row * k : 0;
    }
    __device__ __forceinline__ int64_t end(int64_t before) const {
        return all - before;
    }
};

/* How the rows of all items are shared out among blocks: a unit is `stretch` pieces of `at_once`
 * rows. gpu/launch.c counts the units likewise. */
struct row_cut {
    int64_t m, batch, lines, stretches, units;
    int across, at_once;

    __device__ __forceinline__ row_cut(const tcgemm_gpu_args_t &args, int64_t pieces, int least) {
        across = least;
        while (across < TCGEMM_MOVE_THREADS && across * TCGEMM_ROW_PIECES < pieces)
            across *= 2;
        const int64_t stretch = across * TCGEMM_ROW_PIECES;
        m = args.m;
        batch = args.batch;
        lines = args.m * args.batch;
        stretches = (pieces + stretch - 1) / stretch;
        at_once = TCGEMM_MOVE_THREADS / across;
        units = (lines + at_once - 1) / at_once * stretches;
    }
};

/* This thread's share of a unit: pieces first, first + across .. of a row. */
struct row_share {
    int64_t item, row, first;
    bool exists;

    __device__ __forceinline__ row_share(const row_cut &cut, int64_t unit) {
        const int64_t group = cut.stretches > 1 ? unit / cut.stretches : unit;
        const int64_t line = group * cut.at_once + threadIdx.x / cut.across;
        first = (unit - group * cut.stretches) * cut.across * TCGEMM_ROW_PIECES +
                threadIdx.x % cut.across;
        item = cut.batch > 1 ? line / cut.m : 0;
        row = line - item * cut.m;
        exists = line < cut.lines;
    }
};

/* Calls row(from, to, share) for each share of this thread: From and To are elements of the operand
 * and of the copy. */
template <class From, class To, class Row>
static __device__ __forceinline__ void each_row(const assignment &our, const row_cut &cut,
                                                const Row &row) {
    const tcgemm_gpu_args_t &args = our.args;
#pragma unroll 1
    for (int64_t unit = our.block; unit < cut.units; unit += our.blocks) {
        const row_share my(cut, unit);
        if (my.exists)
            row((const From *)args.a + my.item * args.stride_a + my.row * args.lda,
                (uint4 *)((To *)args.d + my.item * args.stride_d + my.row * args.ldd), my);
    }
}

/* ---- pieces from anywhere ---- */

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

/* Bytes off .. off + 15 of x and y. */
static __device__ __forceinline__ uint4 shift_pieces(uint4 x, uint4 y, uint32_t off) {
    const bool by_two = off & 8, by_one = off & 4; /* words */
    const uint32_t a0 = by_two ? x.z : x.x, a1 = by_two ? x.w : x.y, a2 = by_two ? y.x : x.z,
                   a3 = by_two ? y.y : x.w, a4 = by_two ? y.z : y.x, a5 = by_two ? y.w : y.y;
    const uint32_t w0 = by_one ? a1 : a0, w1 = by_one ? a2 : a1, w2 = by_one ? a3 : a2,
                   w3 = by_one ? a4 : a3, w4 = by_one ? a5 : a4;
    const uint32_t bits = (off & 3) * 8;
    return make_uint4(__funnelshift_r(w0, w1, bits), __funnelshift_r(w1, w2, bits),
                      __funnelshift_r(w2, w3, bits), __funnelshift_r(w3, w4, bits));
}

/* The first `bytes` of a piece, the others zero. */
static __device__ __forceinline__ uint32_t first_bytes(uint32_t word, int bytes) {
    return bytes >= 4 ? word : bytes <= 0 ? 0 : word & ((1u << 8 * bytes) - 1);
}

static __device__ __forceinline__ uint4 cut_piece(uint4 x, int bytes) {
    return make_uint4(first_bytes(x.x, bytes), first_bytes(x.y, bytes - 4),
                      first_bytes(x.z, bytes - 8), first_bytes(x.w, bytes - 12));
}

/* Piece p of a row, 16 bytes, by the aligned pieces that hold it. First several are asked for, then
 * each is taken: so they are under way together. */
template <class Element> struct row_reader {
    enum { COUNT = PIECE / sizeof(Element) };
    const uint4 *at; /* the aligned piece that holds the first element of the row */
    int ahead;       /* elements of it that come before that one */

    __device__ __forceinline__ row_reader(const Element *row)
        : at((const uint4 *)((uintptr_t)row & ~(uintptr_t)(PIECE - 1))),
          ahead((int)((uintptr_t)row & (PIECE - 1)) / (int)sizeof(Element)) {
    }
    /* Whether aligned pieces are the operand's: its elements -before .. end - 1 of this row. */
    __device__ __forceinline__ bool is_ours(int64_t p, int64_t before, int64_t end) const {
        const int64_t first = p * COUNT;
        return first + before >= ahead && first + (ahead ? 2 * COUNT - ahead : COUNT) <= end;
    }
    __device__ __forceinline__ void ask(int64_t p, uint4 &x, uint4 &y) const {
        x = at[p];
        y = ahead ? at[p + 1] : make_uint4(0, 0, 0, 0); /* not x, which is under way */
    }
    __device__ __forceinline__ uint4 take(uint4 x, uint4 y) const {
        return shift_pieces(x, y, ahead * (uint32_t)sizeof(Element));
    }
};

/* Pieces first, first + across .. of a row; around it the operand begins `before` elements earlier
 * and ends at `end`. */
template <class Element>
static __device__ __forceinline__ void pack_row(const Element *from, uint4 *to, int64_t length,
                                                int64_t before, int64_t end, int64_t first,
                                                int across) {
    enum { COUNT = PIECE / sizeof(Element) };
    const row_reader<Element> row(from);
    const int64_t pieces = (length + COUNT - 1) / COUNT;
    const int in_last = (int)(length - (pieces - 1) * COUNT) * (int)sizeof(Element); /* bytes */
    uint4 x[TCGEMM_ROW_PIECES], y[TCGEMM_ROW_PIECES];
    uint32_t ours = 0, left = 0; /* left: pieces at the ends of the operand */
#pragma unroll
    for (int i = 0; i < TCGEMM_ROW_PIECES; ++i) {
        const int64_t p = first + i * across;
        if (p < pieces && row.is_ours(p, before, end)) {
            row.ask(p, x[i], y[i]);
            ours |= 1u << i;
        } else if (p < pieces) {
            left |= 1u << i;
        }
    }
#pragma unroll
    for (int i = 0; i < TCGEMM_ROW_PIECES; ++i) {
        const int64_t p = first + i * across;
        if (ours >> i & 1)
            to[p] = cut_piece(row.take(x[i], y[i]), p + 1 < pieces ? PIECE : in_last);
    }
#pragma unroll 1
    for (int64_t p = first; left; left >>= 1, p += across)
        if (left & 1)
            to[p] = gather_piece(from, p * COUNT, length);
}

template <class Element> static __device__ __forceinline__ void pack(const assignment &our) {
    const tcgemm_gpu_args_t &args = our.args;
    let_next_begin(args, sizeof(Element));
    enum { COUNT = PIECE / sizeof(Element) };
    const row_cut cut(args, (args.k + COUNT - 1) / COUNT, TCGEMM_PACK_LEAST);
    const surroundings around(args);
    each_row<Element, Element>(our, cut, [&](const Element *from, uint4 *to, const row_share &my) {
        const int64_t before = around.before(my.item, my.row);
        pack_row(from, to, args.k, before, around.end(before), my.first, cut.across);
    });
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

/* Eight bytes of a row from piece p on, by aligned words. */
static __device__ __forceinline__ uint2 read_bytes(const uint8_t *row, int64_t p, bool is_aligned) {
    if (is_aligned)
        return ((const uint2 *)row)[p];
    uint32_t words[2];
    shift_words(row + p * TCGEMM_WIDEN_PIECE, words);
    return make_uint2(words[0], words[1]);
}

template <class Format>
static __device__ __forceinline__ void widen_row(const uint8_t *from, uint4 *to, int64_t length,
                                                 int64_t first, int across, bool is_aligned) {
    const int64_t whole = length / TCGEMM_WIDEN_PIECE;
    const int64_t pieces = (length + TCGEMM_WIDEN_PIECE - 1) / TCGEMM_WIDEN_PIECE;
    /* Nothing before the first element or behind the last one is ours to read. */
    const int64_t begin = is_aligned ? 0 : 1, end = is_aligned ? whole : whole - 1;
    uint2 v[TCGEMM_ROW_PIECES];
    uint32_t left = 0; /* pieces at the ends of the row */
#pragma unroll
    for (int i = 0; i < TCGEMM_ROW_PIECES; ++i) {
        const int64_t p = first + i * across;
        if (p >= begin && p < end)
            v[i] = read_bytes(from, p, is_aligned);
        else
            left |= (uint32_t)(p < pieces) << i;
    }
#pragma unroll
    for (int i = 0; i < TCGEMM_ROW_PIECES; ++i) {
        const int64_t p = first + i * across;
        if (p >= begin && p < end)
            to[p] = widen_piece<Format>(v[i]);
    }
#pragma unroll 1
    for (int64_t p = first; left; left >>= 1, p += across)
        if (left & 1)
            to[p] = widen_piece<Format>(gather_bytes(from, p, length));
}

template <class Format> static __device__ __forceinline__ void widen(const assignment &our) {
    const tcgemm_gpu_args_t &args = our.args;
    let_next_begin(args, sizeof(uint16_t));
    const row_cut cut(args, (args.k + TCGEMM_WIDEN_PIECE - 1) / TCGEMM_WIDEN_PIECE,
                      TCGEMM_WIDEN_LEAST);
    const bool is_aligned =
        ((uintptr_t)args.a | (uintptr_t)args.lda | (uintptr_t)args.stride_a) % TCGEMM_WIDEN_PIECE ==
        0;
    each_row<uint8_t, uint16_t>(our, cut, [&](const uint8_t *from, uint4 *to, const row_share &my) {
        widen_row<Format>(from, to, args.k, my.first, cut.across, is_aligned);
    });
    tcgemm_wait_for_grids();
}

/* ---- turning round ---- */

/* Four rows of one piece, turned round: column j as one word, of four bytes, halves or words. */
struct turn_8 {
    typedef uint8_t element;
    typedef uint32_t column;
    /* Where group g of a column of piece p lies: 32 groups of 4 bytes, moved by 16 bytes. */
    static __device__ __forceinline__ int place(int g, int p) {
        return g ^ p << 2;
    }
    static __device__ __forceinline__ void round(column (&to)[16], const uint4 (&row)[4]) {
        tcgemm_turn_bytes(to, row[0].x, row[1].x, row[2].x, row[3].x);
        tcgemm_turn_bytes(to + 4, row[0].y, row[1].y, row[2].y, row[3].y);
        tcgemm_turn_bytes(to + 8, row[0].z, row[1].z, row[2].z, row[3].z);
        tcgemm_turn_bytes(to + 12, row[0].w, row[1].w, row[2].w, row[3].w);
    }
};

struct turn_16 {
    typedef uint16_t element;
    typedef uint2 column;
    /* 16 groups of 8 bytes, two of which are read as one. */
    static __device__ __forceinline__ int place(int g, int p) {
        return g ^ p % 8 << 1;
    }
    static __device__ __forceinline__ void round(column (&to)[8], const uint4 (&row)[4]) {
        tcgemm_turn_halves(to, row[0].x, row[1].x, row[2].x, row[3].x);
        tcgemm_turn_halves(to + 2, row[0].y, row[1].y, row[2].y, row[3].y);
        tcgemm_turn_halves(to + 4, row[0].z, row[1].z, row[2].z, row[3].z);
        tcgemm_turn_halves(to + 6, row[0].w, row[1].w, row[2].w, row[3].w);
    }
};

struct turn_32 {
    typedef uint32_t element;
    typedef uint4 column;
    /* 16 groups of 16 bytes. */
    static __device__ __forceinline__ int place(int g, int p) {
        return g ^ p;
    }
    static __device__ __forceinline__ void round(column (&to)[4], const uint4 (&row)[4]) {
        to[0] = make_uint4(row[0].x, row[1].x, row[2].x, row[3].x);
        to[1] = make_uint4(row[0].y, row[1].y, row[2].y, row[3].y);
        to[2] = make_uint4(row[0].z, row[1].z, row[2].z, row[3].z);
        to[3] = make_uint4(row[0].w, row[1].w, row[2].w, row[3].w);
    }
};

/* Piece p of each of four rows, of which `rows` exist; the operand begins `before` elements before
 * the first and ends at `end`. */
template <class Element>
static __device__ __forceinline__ void read_rows(uint4 (&to)[4], const Element *from, int64_t lda,
                                                 int64_t rows, int64_t before, int64_t end,
                                                 int64_t p, int64_t length) {
    enum { COUNT = PIECE / sizeof(Element) };
    const int64_t step = before > 0 || end > length ? lda : 0; /* rows without gaps */
    uint4 x[4], y[4];
    bool ours[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const row_reader<Element> row(from + i * lda);
        ours[i] =
            i < rows && p * COUNT < length && row.is_ours(p, before + i * step, end - i * step);
        if (ours[i])
            row.ask(p, x[i], y[i]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        to[i] = ours[i] ? row_reader<Element>(from + i * lda).take(x[i], y[i])
                        : gather_piece(from + i * lda, p * COUNT, i < rows ? length : 0);
}

template <class Turn>
static __device__ __forceinline__ void turn(const assignment &our, uint4 *tile) {
    const tcgemm_gpu_args_t &args = our.args;
    typedef typename Turn::element element;
    typedef typename Turn::column column;
    let_next_begin(args, sizeof(element));
    enum {
        ROWS = TCGEMM_TURN_ROWS(sizeof(element)),
        COLS = TCGEMM_TURN_COLS(sizeof(element)),
        COUNT = PIECE / sizeof(element),
        PIECES = COLS / COUNT,                 /* of a row of the tile */
        GROUPS = ROWS / 4,                     /* of four rows */
        COPIED = ROWS / COUNT,                 /* pieces of a row of the copy */
        WORDS = COUNT / 4,                     /* groups of one of these */
        COLUMNS = TCGEMM_MOVE_THREADS / COPIED /* that are written at a time */
    };
    static_assert(PIECES * GROUPS == TCGEMM_MOVE_THREADS, "a thread takes four rows of a piece");
    column *const groups = (column *)tile;
    const surroundings around(args);
    const int piece = threadIdx.x % PIECES, group = threadIdx.x / PIECES;
    const int copied = threadIdx.x % COPIED, column_of_copy = threadIdx.x / COPIED;
    const int64_t rows = (args.m + ROWS - 1) / ROWS, cols = (args.k + COLS - 1) / COLS;
    for (int64_t unit = our.block; unit < rows * cols * args.batch; unit += our.blocks) {
        const int64_t item = args.batch > 1 ? unit / (rows * cols) : 0;
        const int64_t at = unit - item * rows * cols;
        const int64_t row0 = at / cols * ROWS, col0 = at % cols * COLS;
        const element *from = (const element *)args.a + item * args.stride_a;
        element *to = (element *)args.d + item * args.stride_d;

        const int64_t row = row0 + 4 * group, before = around.before(item, row);
        uint4 four[4];
        column turned[COUNT];
        read_rows(four, from + row * args.lda, args.lda, args.m - row, before, around.end(before),
                  col0 / COUNT + piece, args.k);
        Turn::round(turned, four);
        __syncthreads(); /* the tile before has been written out */
#pragma unroll
        for (int j = 0; j < COUNT; ++j)
            groups[(piece * COUNT + j) * GROUPS + Turn::place(group, piece)] = turned[j];
        __syncthreads();

        const int64_t first = row0 + copied * COUNT;
#pragma unroll
        for (int i = 0; i < COLS; i += COLUMNS) {
            const int c = i + column_of_copy;
            const int at_group = c * GROUPS + Turn::place(copied * WORDS, c / COUNT);
            if (col0 + c < args.k && first < args.m)
                *(uint4 *)(to + (col0 + c) * args.ldd + first) =
                    *(const uint4 *)(groups + at_group);
        }
    }
    tcgemm_wait_for_grids();
}

extern "C" __global__ void __launch_bounds__(TCGEMM_MOVE_THREADS, PACK_BLOCKS)
    tcgemm_pack_8(const __grid_constant__ tcgemm_pack_args_t args) {
    pack<uint8_t>(args);
}

extern "C" __global__ void __launch_bounds__(TCGEMM_MOVE_THREADS, PACK_BLOCKS)
    tcgemm_pack_16(const __grid_constant__ tcgemm_pack_args_t args) {
    pack<uint16_t>(args);
}

extern "C" __global__ void __launch_bounds__(TCGEMM_MOVE_THREADS, PACK_BLOCKS)
    tcgemm_pack_32(const __grid_constant__ tcgemm_pack_args_t args) {
    pack<uint32_t>(args);
}

extern "C" __global__ void __launch_bounds__(TCGEMM_MOVE_THREADS, PACK_BLOCKS)
    tcgemm_pack_64(const __grid_constant__ tcgemm_pack_args_t args) {
    pack<uint64_t>(args);
}

extern "C" __global__ void __launch_bounds__(TCGEMM_MOVE_THREADS, MOVE_BLOCKS)
    tcgemm_widen_e4m3(const __grid_constant__ tcgemm_pack_args_t args) {
    widen<widen_e4m3>(args);
}

extern "C" __global__ void __launch_bounds__(TCGEMM_MOVE_THREADS, MOVE_BLOCKS)
    tcgemm_widen_e5m2(const __grid_constant__ tcgemm_pack_args_t args) {
    widen<widen_e5m2>(args);
}

extern "C" __global__ void __launch_bounds__(TCGEMM_MOVE_THREADS, MOVE_BLOCKS)
    tcgemm_turn_8(const __grid_constant__ tcgemm_pack_args_t args) {
    TCGEMM_SHARED_ARRAY(uint4, tile, 1024);
    turn<turn_8>(args, tile);
}

/* For tiles of wgmma that take k contiguous alone. */
extern "C" __global__ void __launch_bounds__(TCGEMM_MOVE_THREADS, MOVE_BLOCKS)
    tcgemm_turn_16(const __grid_constant__ tcgemm_pack_args_t args) {
#if __CUDA_ARCH__ == 900
    TCGEMM_SHARED_ARRAY(uint4, tile, 1024);
    turn<turn_16>(args, tile);
#endif
}

extern "C" __global__ void __launch_bounds__(TCGEMM_MOVE_THREADS, MOVE_BLOCKS)
    tcgemm_turn_32(const __grid_constant__ tcgemm_pack_args_t args) {
    TCGEMM_SHARED_ARRAY(uint4, tile, 1024);
    turn<turn_32>(args, tile);
}
