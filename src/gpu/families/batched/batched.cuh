/* batched.cuh - many small products: a warp takes items of a batch by itself.
 *
 * For: up to 32 rows and columns of D. A block a tile would be mostly padding there (of 64 x 64 an
 * item of 17 x 17 fills a fourteenth), and each block would start, load, multiply and write by
 * turns. Here an item costs what its bytes cost: no barrier but the warp's own, what a warp
 * multiplies next is under way while it multiplies, on CUDA cores in every type.
 *
 *     a warp         group 0: items 0 .. G-1       group 1             ...     gridDim x 4 apart
 *                    | wait | products | D out |   | wait | products | D out |
 *     cp.async       group 1 ................ |    group 2 ................ |
 *     memory         stage 0                       stage 1                     stage 0 again
 *
 *     products       D of an item in pieces of 4 x 8, a lane each; where an item has fewer pieces
 *                    than the warp has lanes, G items are multiplied side by side:
 *
 *          17 x 17   +--------+--------+--+     15 pieces an item: two items, lanes 0 .. 14
 *                    | lane 0 | lane 1 | 2|     and 15 .. 29
 *                    +--------+--------+--+
 *                    | lane 3 | ..
 *
 * How operands come, into a stage as they lie in memory, so that either may be transposed:
 *
 *     STREAM    items one behind another without gaps: the group is one piece of memory, read by
 *               16 bytes from the boundary before it on (that is the item before, or for the first
 *               item element by element)
 *     PIECES    rows of whole 16-byte pieces: 16 bytes further apart than they are long, so that
 *               they begin in other banks
 *     ELEMENTS  any other, an odd number of elements apart
 *
 * An item that is too large for a stage comes in parts of k, in PIECES or ELEMENTS; sums stay in
 * registers. Each sum is one lane's, k in order, fused: the same bits for every batch, stride and
 * alignment. The sums go through the stage that was multiplied, so that D is written, and C read,
 * in lines of 32 elements; a group's D, where nothing is between its rows and items, in pieces of
 * 16 bytes, whose boundaries the sums keep in the stage.
 *
 * A launch may begin before the one ahead has ended, and waits before its first copy.
 */
#ifndef TCGEMM_BATCHED_CUH
#define TCGEMM_BATCHED_CUH

#include <stdint.h>

#include "gpu/families/batched/shape.h"
#include "gpu/gpu_args.h"
#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/griddepcontrol.cuh"

/* Division of numbers below 2^15 by one that is not known before. */
struct batched_divisor {
    uint32_t by, factor;
    __device__ __forceinline__ void begin(uint32_t x) {
        by = x;
        factor = 0x80000000u / x + 1;
    }
    __device__ __forceinline__ uint32_t of(uint32_t x) const {
        return (uint32_t)((uint64_t)x * factor >> 31);
    }
};

enum batched_way { BATCHED_STREAM, BATCHED_PIECES, BATCHED_ELEMENTS };

/* An operand: lines of memory, k along them (IS_K) or side by side. */
template <int BYTES, bool IS_K> struct batched_operand {
    enum { PIECE = 16, IN_PIECE = PIECE / BYTES };
    const char *base;
    int64_t item_bytes, line_bytes; /* apart, in memory */
    int mn, k;                      /* elements of an item */
    int way;
    int pitch, item_pitch; /* bytes in a stage */

    __device__ __forceinline__ int lines(int part) const {
        return IS_K ? mn : part;
    }
    __device__ __forceinline__ int length(int part) const {
        return IS_K ? part : mn;
    }

    __device__ __forceinline__ void begin(const void *at, int64_t ld, int64_t stride, int mn_,
                                          int k_, int64_t batch, bool is_whole) {
        base = (const char *)at;
        item_bytes = stride * BYTES;
        line_bytes = ld * BYTES;
        mn = mn_;
        k = k_;
        way = is_whole                                                       ? BATCHED_PIECES
              : ld == length(k) && (batch == 1 || stride == (int64_t)mn * k) ? BATCHED_STREAM
                                                                             : BATCHED_ELEMENTS;
    }

    /* Lays out a stage for parts of so many k; of these there are several or one. */
    __device__ __forceinline__ void set_part(int part) {
        if (part < k && way == BATCHED_STREAM)
            way = BATCHED_ELEMENTS;
        const int bytes = length(part) * BYTES;
        pitch = way == BATCHED_STREAM   ? bytes
                : way == BATCHED_PIECES ? (bytes + PIECE - 1) / PIECE * PIECE + PIECE
                                        : (length(part) | 1) * BYTES;
        item_pitch = lines(part) * pitch + (way == BATCHED_PIECES ? PIECE : 0);
    }

    /* Bytes in a stage of so many items, with what a lane may read beyond the end. */
    __device__ __forceinline__ int bytes(int items) const {
        return (items * item_pitch + PIECE + TCGEMM_BATCHED_LANE_N * BYTES + PIECE - 1) / PIECE *
               PIECE;
    }

    /* Bytes before the first element. */
    __device__ __forceinline__ int shift(int item) const {
        return way == BATCHED_STREAM ? (int)((uintptr_t)(base + item * item_bytes) % PIECE) : 0;
    }

    __device__ __forceinline__ void copy_stream(char *to, int item, int items) const {
        const char *const first = base + item * item_bytes;
        const int skip = shift(item), end = skip + items * mn * k * BYTES;
        const char *const from = first - skip;
        const uint32_t address = tcgemm_smem_address(to);
        int at = threadIdx.x % 32 * PIECE;
        if (at == 0 && from < base) { /* nobody's, before the first item */
#pragma unroll 1
            for (int i = skip; i < end && i < PIECE; i += BYTES)
                copy_element(to + i, from + i);
            at += 32 * PIECE;
        }
#pragma unroll 1
        for (; at + PIECE <= end; at += 32 * PIECE)
            tcgemm_cp_async_16(address + at, from + at, PIECE);
        if (at < end)
            tcgemm_cp_async_16(address + at, from + at, end - at);
    }

    static __device__ __forceinline__ void copy_element(char *to, const char *from) {
        if constexpr (BYTES == 8)
            *(uint64_t *)to = *(const uint64_t *)from;
        else if constexpr (BYTES == 4)
            *(uint32_t *)to = *(const uint32_t *)from;
        else if constexpr (BYTES == 2)
            *(uint16_t *)to = *(const uint16_t *)from;
        else
            *to = *from;
    }

    /* part: that of whole ones; left: elements of k of this one. */
    __device__ __forceinline__ void copy_lines(char *to, int item, int items, int first_k,
                                               int left) const {
        const int unit = way == BATCHED_PIECES ? PIECE : BYTES;
        const int units =
            (length(left) * BYTES + unit - 1) / unit; /* of a line, or with its zeros */
        const int count = items * lines(left) * units;
        const char *const from =
            base + item * item_bytes + (IS_K ? first_k * (int64_t)BYTES : first_k * line_bytes);
        const uint32_t address = tcgemm_smem_address(to);
        batched_divisor by_units, by_lines;
        by_units.begin(units);
        by_lines.begin(lines(left));
        const int lane = threadIdx.x % 32;
#pragma unroll 1
        for (int i = lane; i < count; i += 32) {
            const int line = by_units.of(i), at = (i - line * units) * unit;
            const int which = by_lines.of(line), row = line - which * by_lines.by;
            const char *const source = from + which * item_bytes + row * line_bytes + at;
            const int place = which * item_pitch + row * pitch + at;
            if (way == BATCHED_PIECES)
                tcgemm_cp_async_16(address + place, source, 16);
            else if constexpr (BYTES == 8)
                tcgemm_cp_async_8(address + place, source, 8);
            else if constexpr (BYTES == 4)
                tcgemm_cp_async_4(address + place, source, 4);
            else
                copy_element(to + place, source);
        }
    }

    __device__ __forceinline__ void copy(char *to, int item, int items, int first_k,
                                         int left) const {
        if (way == BATCHED_STREAM)
            copy_stream(to, item, items);
        else
            copy_lines(to, item, items, first_k, left);
    }
};

template <class TYPE, int STAGE, bool A_K, bool B_K> struct batched_kernel {
    typedef typename TYPE::element element_t;
    typedef typename TYPE::scalar scalar_t;
    typedef typename TYPE::out out_t;
    enum {
        BYTES = sizeof(element_t),
        RM = TCGEMM_BATCHED_LANE_M,
        RN = TCGEMM_BATCHED_LANE_N,
        WARPS = TCGEMM_BATCHED_WARPS,
        STEP_K = 64 / BYTES, /* k is cut after whole ones */
        IN_PIECE = 16 / sizeof(out_t)
    };

    const tcgemm_gpu_args_t &args;
    char *own; /* the warp's stages */
    int m, n, k, lane;
    int part, parts; /* of k */
    int group_items;
    batched_operand<BYTES, A_K> a;
    batched_operand<BYTES, B_K> b;
    int b_at;                                 /* where B begins in a stage */
    int item, row0, col0, row_step, col_step; /* of this lane in a group */
    bool works;
    bool d_is_stream;
    scalar_t c[RM][RN];

    /* ---- how items are grouped and cut ---- */

    __device__ __forceinline__ bool fits(int items, int part_k) {
        a.set_part(part_k);
        b.set_part(part_k);
        b_at = a.bytes(items);
        return b_at + b.bytes(items) <= STAGE &&
               (items * m * n + IN_PIECE) * (int)sizeof(scalar_t) <= STAGE;
    }

    __device__ __forceinline__ void divide(void) {
        const int tiles_n = (n + RN - 1) / RN, tiles = (m + RM - 1) / RM * tiles_n;
        const int each = (int)((uint32_t)args.batch / (gridDim.x * WARPS)); /* a warp's */
        group_items = 32 / tiles;
        if (each < group_items)
            group_items = each > 1 ? each : 1;
        part = k;
        while (!fits(group_items, part)) {
            if (group_items > 1)
                --group_items;
            else
                part = (part - 1) / STEP_K * STEP_K;
        }
        parts = (k + part - 1) / part;
        const int piece = lane % tiles;
        item = lane / tiles;
        works = item < group_items;
        if (!works)
            item = 0;
        /* Rows that a lane finds by pointers are taken in turns, so that neighbours read
         * neighbours; those side by side in memory lie side by side. */
        const int piece_m = piece / tiles_n, piece_n = piece % tiles_n;
        row0 = A_K ? piece_m : piece_m * RM;
        col0 = B_K ? piece_n : piece_n * RN;
        row_step = A_K ? (m + RM - 1) / RM : 1;
        col_step = B_K ? tiles_n : 1;
    }

    /* ---- a part of k of a group ---- */

    __device__ __forceinline__ int items_of(int group) const {
        const int left = (int)args.batch - group * group_items;
        return left < group_items ? left : group_items;
    }
    __device__ __forceinline__ int k_of(int which) const {
        return which + 1 < parts ? part : k - which * part;
    }

    __device__ __forceinline__ void fetch(char *stage, int group, int which) {
        const int first = group * group_items;
        const int items = items_of(group);
        a.copy(stage, first, items, which * part, k_of(which));
        b.copy(stage + b_at, first, items, which * part, k_of(which));
    }

    __device__ __forceinline__ void clear(void) {
#pragma unroll
        for (int i = 0; i < RM; ++i)
#pragma unroll
            for (int j = 0; j < RN; ++j)
                c[i][j] = 0;
    }

    static __device__ __forceinline__ int least(int x, int y) {
        return x < y ? x : y;
    }

    /* What lies beyond m or n is somebody's element or nobody's: so are the sums. */
    __device__ __forceinline__ void multiply(const char *stage, int group, int which) {
        const int first = group * group_items;
        const int at = works && item < items_of(group) ? item : 0;
        const char *from_a[A_K ? RM : 1], *from_b[B_K ? RN : 1];
#pragma unroll
        for (int i = 0; i < (A_K ? RM : 1); ++i)
            from_a[i] = stage + a.shift(first) + at * a.item_pitch +
                        (A_K ? least(row0 + i * row_step, m - 1) * a.pitch : row0 * BYTES);
#pragma unroll
        for (int j = 0; j < (B_K ? RN : 1); ++j)
            from_b[j] = stage + b_at + b.shift(first) + at * b.item_pitch +
                        (B_K ? least(col0 + j * col_step, n - 1) * b.pitch : col0 * BYTES);
        const int end = k_of(which);
#pragma unroll 4
        for (int p = 0; p < end; ++p) {
            scalar_t x[RM], y[RN];
#pragma unroll
            for (int i = 0; i < RM; ++i)
                x[i] = TYPE::widen(
                    *(const element_t *)(A_K ? from_a[i] + p * BYTES : from_a[0] + i * BYTES));
#pragma unroll
            for (int j = 0; j < RN; ++j)
                y[j] = TYPE::widen(
                    *(const element_t *)(B_K ? from_b[j] + p * BYTES : from_b[0] + j * BYTES));
            if (!A_K)
                from_a[0] += a.pitch;
            if (!B_K)
                from_b[0] += b.pitch;
#pragma unroll
            for (int i = 0; i < RM; ++i)
#pragma unroll
                for (int j = 0; j < RN; ++j)
                    TYPE::add(c[i][j], x[i], y[j]);
        }
    }

    /* ---- D ---- */

    __device__ __forceinline__ void stage_sums(scalar_t *sums, int items) {
        if (!works || item >= items)
            return;
#pragma unroll
        for (int i = 0; i < RM; ++i) {
            const int row = row0 + i * row_step;
            if (row >= m)
                continue;
            scalar_t *const to = sums + (item * m + row) * n + col0;
#pragma unroll
            for (int j = 0; j < RN; ++j)
                if (col0 + j * col_step < n)
                    to[j * col_step] = c[i][j];
        }
    }

    __device__ __forceinline__ void write(scalar_t sum, scalar_t alpha, scalar_t beta,
                                          const out_t *from, out_t *to) {
        scalar_t x = alpha * sum;
        if (from)
            x += beta * TYPE::load(*from);
        *to = TYPE::store(x);
    }

    /* A piece of D that lies on its boundary, and of C likewise. */
    __device__ __forceinline__ void write_piece(const scalar_t *sums, scalar_t alpha, scalar_t beta,
                                                const out_t *from, out_t *to) {
        struct alignas(16) sums_t {
            scalar_t v[IN_PIECE];
        };
        struct alignas(16) piece_t {
            out_t v[IN_PIECE];
        } piece;
        const sums_t sum = *(const sums_t *)sums;
        if (from)
            piece = *(const piece_t *)from;
#pragma unroll
        for (int i = 0; i < IN_PIECE; ++i) {
            scalar_t x = alpha * sum.v[i];
            if (from)
                x += beta * TYPE::load(piece.v[i]);
            piece.v[i] = TYPE::store(x);
        }
        *(piece_t *)to = piece;
    }

    static __device__ __forceinline__ int elements_beyond(const out_t *x) {
        return (int)((uintptr_t)x % 16 / sizeof(out_t));
    }

    /* `skip` sums before the first are nobody's: the pieces are those of memory. */
    __device__ __forceinline__ void write_stream(const scalar_t *sums, int skip, int count,
                                                 scalar_t alpha, scalar_t beta, const out_t *from,
                                                 out_t *d) {
        const bool whole_c = !from || elements_beyond(from) == skip;
#pragma unroll 1
        for (int at = lane * IN_PIECE; at < skip + count; at += 32 * IN_PIECE) {
            const int i = at - skip;
            if (whole_c && i >= 0 && i + IN_PIECE <= count)
                write_piece(sums + at, alpha, beta, from ? from + i : NULL, d + i);
            else
#pragma unroll 1
                for (int j = i; j < i + IN_PIECE; ++j)
                    if (j >= 0 && j < count)
                        write(sums[skip + j], alpha, beta, from ? from + j : NULL, d + j);
        }
    }

    __device__ __forceinline__ void write_lines(const scalar_t *sums, int count, scalar_t alpha,
                                                scalar_t beta, const out_t *from, out_t *d) {
        batched_divisor by_n, by_m;
        by_n.begin(n);
        by_m.begin(m);
#pragma unroll 1
        for (int i = lane; i < count; i += 32) {
            const int line = by_n.of(i), col = i - line * n;
            const int which = by_m.of(line), row = line - which * m;
            write(sums[i], alpha, beta,
                  from ? from + which * args.stride_c + row * args.ldc + col : NULL,
                  d + which * args.stride_d + row * args.ldd + col);
        }
    }

    __device__ __forceinline__ void finish(char *stage, int group) {
        const int first = group * group_items, items = items_of(group), count = items * m * n;
        scalar_t *const sums = (scalar_t *)stage;
        scalar_t alpha, beta;
        scalars(args, &alpha, &beta);
        out_t *const d = (out_t *)args.d + first * args.stride_d;
        const out_t *const from = args.c ? (const out_t *)args.c + first * args.stride_c : NULL;
        const int skip = d_is_stream ? elements_beyond(d) : 0;
        __syncwarp(); /* nobody reads the operands any more */
        stage_sums(sums + skip, items);
        __syncwarp();
        if (d_is_stream)
            write_stream(sums, skip, count, alpha, beta, from, d);
        else
            write_lines(sums, count, alpha, beta, from, d);
    }

    /* ---- one warp ---- */

    __device__ __forceinline__ batched_kernel(const tcgemm_gpu_args_t &x, char *smem)
        : args(x), own(smem + threadIdx.x / 32 * (2 * STAGE)) {
        m = (int)x.m;
        n = (int)x.n;
        k = (int)x.k;
        lane = threadIdx.x % 32;
        a.begin(x.a, x.lda, x.stride_a, m, k, x.batch, x.whole_a != 0);
        b.begin(x.b, x.ldb, x.stride_b, n, k, x.batch, x.whole_b != 0);
        const int64_t item_d = (int64_t)m * n;
        d_is_stream = x.ldd == n && (x.batch == 1 || x.stride_d == item_d) &&
                      (!x.c || (x.ldc == n && (x.batch == 1 || x.stride_c == item_d)));
        divide();
    }

    /* Lanes at the edge of an item read beyond it. */
    __device__ __forceinline__ void zero_stages(void) {
#pragma unroll 1
        for (int at = lane * 16; at < 2 * STAGE; at += 32 * 16)
            *(uint4 *)(own + at) = make_uint4(0, 0, 0, 0);
        __syncwarp();
    }

    __device__ __forceinline__ void run(void) {
        const int groups = (int)((uint32_t)(args.batch + group_items - 1) / group_items);
        const int apart = gridDim.x * WARPS;
        int group = blockIdx.x + gridDim.x * (threadIdx.x / 32);
        int coming = group; /* what is fetched, one round ahead */
        int which = 0, coming_part = 0;
        char *oldest = own, *newest = own + STAGE;
        zero_stages();
        clear();
        tcgemm_wait_for_grids();
        tcgemm_let_next_grid_begin();
#pragma unroll 1
        for (bool is_first = true; group < groups; is_first = false) {
            if (coming < groups)
                fetch(oldest, coming, coming_part);
            tcgemm_cp_async_commit();
            if (++coming_part == parts) {
                coming_part = 0;
                coming += apart;
            }
            char *const filled = oldest;
            oldest = newest;
            newest = filled;
            if (is_first)
                continue;
            tcgemm_cp_async_wait<1>();
            __syncwarp();
            multiply(oldest, group, which);
            if (++which == parts) {
                finish(oldest, group);
                clear();
                which = 0;
                group += apart;
            }
            __syncwarp(); /* the stage may be filled again */
        }
        tcgemm_cp_async_wait<0>();
    }
};

#endif
