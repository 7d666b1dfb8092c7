/* lines.cuh - lines of an operand that begin anywhere in memory, brought to shared memory by a warp
 * and laid down there as a box would: rows of 128 bytes in the 128-byte swizzle.
 *
 * A line is 128 bytes of k (a row of A, a column of B), or as many of m (n), as the operand lies. A
 * warp has 32 of them in a block, and brings one by one instruction, a word of four bytes a lane,
 * from the word that it begins in. Of 16 bit a line may begin and end inside a word:
 *
 *     memory     .. y|x x|x x| .. |x z| ..    x: of the line, y: before it, z: behind it
 *     words           0   1         32        one a lane, from the one that the line begins in
 *     bring      y x|x x| .. |x x|            as they lie, but the word that it ends in to `ends`
 *     settle     x x|x x| .. |x x|            each lane, of its word and the next one's
 *
 * Lines of 16 bit that begin and end with words are where they belong at once. Elements of 32 bits
 * are rounded to tf32, and where m (n) is contiguous the 32 lines are turned round: the instruction
 * wants k contiguous. Nothing behind a line's end is read; what stands before it in its first word
 * is of the line before, or between them.
 */
#ifndef TCGEMM_WGMMA_LINES_CUH
#define TCGEMM_WGMMA_LINES_CUH

#include <stdint.h>

#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/cvt.cuh"
#include "gpu/ptx/ldmatrix.cuh"
#include "gpu/ptx/shared.cuh"
#include "tile/swizzle.h"

/* A warp's lines of an operand, in one block of k after the other. Every other one begins alike, so
 * that a lane aligns two pointers of its own once a tile. How the operand lies, `by_k`, is a number
 * and no parameter: the same code serves both operands, and of 16 bit all layouts. */
template <int ELEMENT_BYTES> struct wgmma_lines {
    static_assert(ELEMENT_BYTES == 2 || ELEMENT_BYTES == 4, "every other line begins alike");
    enum {
        COUNT = 32,
        AT_ONCE = 16,
        ROW = 128, /* bytes */
        WORDS = 32,
        BK = ROW / ELEMENT_BYTES,  /* elements of k in a block, and ... */
        ATOM = ROW / ELEMENT_BYTES /* ... of m (n) in a line */
    };

    const char *word[2]; /* this lane's of the first and the second line, and ... */
    int32_t begin[2];    /* where in their first words these begin: bytes; */
    int64_t pitch;       /* from line to line, */
    int64_t step;        /* and from a line to the one of the next block: bytes */
    int32_t lines;       /* that exist from the first on, */
    int32_t length;      /* and of each: elements */
    int32_t of_k;        /* of the elements of a block, those that are along lines: all or none */

    /* Of the operand at `base` + `item` elements, `extent` lines (in k contiguous), the tile has
     * those from `first` on, and of these the warp those from `mine` on; from element k. */
    __device__ __forceinline__ wgmma_lines(bool by_k, const void *base, int64_t item, int64_t ld,
                                           int32_t extent, int32_t end_of_k, int32_t mine,
                                           int32_t first, int32_t k)
        : of_k(by_k ? BK : 0) {
        const int32_t atom = by_k ? 0 : mine / ATOM * ATOM;
        const int32_t line = (by_k ? first : k) + mine - atom;
        const int32_t along = by_k ? k : first + atom;
        const char *const from = (const char *)base + (item + line * ld + along) * ELEMENT_BYTES;
        pitch = ld * ELEMENT_BYTES;
        step = by_k ? ROW : pitch * BK;
        lines = (by_k ? extent : end_of_k) - line;
        length = (by_k ? end_of_k : extent) - along;
        begin[0] = in_word(from);
        begin[1] = in_word(from + pitch);
        word[0] = from - begin[0] + lane() * 4;
        word[1] = from + pitch - begin[1] + lane() * 4;
    }

    __device__ __forceinline__ void advance(void) {
        word[0] += step;
        word[1] += step;
        length -= of_k;
        lines -= BK - of_k;
    }

    /* To rows from `to` on; the words that the lines end in, if they are raw, to as many words at
     * `ends`. Zeros stand for what is not there. */
    __device__ __forceinline__ void bring(uint32_t to, uint32_t ends) const {
        const int32_t size = bytes(), count = size == 0 ? 0 : lines;
        const int32_t even = lane() < (begin[0] + size) / 4 ? count : 0;
        const int32_t odd = lane() < (begin[1] + size) / 4 ? count : 0;
        if (count >= COUNT)
            bring_words<true>(to, even, odd);
        else
            bring_words<false>(to, even, odd);
        if (is_raw(begin[0], (uint32_t)pitch, size)) {
            const char *const end = word[0] - lane() * 4 + begin[0] + lane() * pitch + size;
            tcgemm_cp_async_4(ends + lane() * 4, end - in_word(end),
                              lane() < count ? in_word(end) : 0);
        }
    }

    /* What settle() asks of lines that were brought: 8 bits. */
    __device__ __forceinline__ uint32_t note(void) const {
        return (uint32_t)begin[0] << 6 | (uint32_t)bytes() / 2;
    }

    /* Moves lines, `pitch` bytes apart in memory, to where they belong. All lanes' words are
     * there. */
    static __device__ __forceinline__ void settle(bool by_k, uint32_t to, uint32_t ends,
                                                  uint32_t note, uint32_t pitch) {
        if (ELEMENT_BYTES == 2)
            shift(to, ends, note, pitch);
        else if (by_k)
            round(to);
        else
            turn(to);
    }

  private:
    static __device__ __forceinline__ int32_t lane(void) {
        return threadIdx.x % 32;
    }

    /* Bytes of the word that `at` lies in, before it. */
    static __device__ __forceinline__ int32_t in_word(const char *at) {
        return ELEMENT_BYTES % 4 == 0 ? 0 : (int32_t)((uintptr_t)at % 4);
    }

    /* This lane's word of each of the first `even` and `odd` lines; ALL: of all of either, unless
     * it is 0. (A loop for each: what is asked within one costs it predicates, for which lines
     * wait.) */
    template <bool ALL>
    __device__ __forceinline__ void bring_words(uint32_t to, int32_t even, int32_t odd) const {
        const int32_t there[2] = {even, odd};
        const char *from[2] = {word[0], word[1]};
        uint32_t own = to + lane() * 4;
#pragma unroll 1
        for (int32_t first = 0; first < COUNT; first += AT_ONCE, own += AT_ONCE * ROW) {
#pragma unroll
            for (int line = 0; line < AT_ONCE; ++line) {
                const uint32_t at = (own ^ line % 8 * 16) + line * ROW;
                tcgemm_cp_async_4_if(at, from[line % 2],
                                     (ALL ? 0 : first + line) < there[line % 2]);
                from[line % 2] += 2 * pitch;
            }
        }
    }

    /* Whether lines that have come are not yet as they should lie: they begin or end in a word. */
    static __device__ __forceinline__ bool is_raw(uint32_t begin, uint32_t pitch, uint32_t bytes) {
        return ELEMENT_BYTES % 4 != 0 && (begin | pitch | bytes) % 4 != 0;
    }

    /* Of each line. */
    __device__ __forceinline__ int32_t bytes(void) const {
        return length >= ATOM ? ROW : length > 0 ? length * ELEMENT_BYTES : 0;
    }

    /* The word that a line ends in comes first: as the 33rd it takes the place of what the first
     * one has before the line, so that the next word of the last is the first. */
    static __device__ __forceinline__ void shift(uint32_t to, uint32_t ends, uint32_t note,
                                                 uint32_t pitch) {
        const uint32_t begin = note >> 6 & 2, bytes = note % 128 * 2;
        if (!is_raw(begin, pitch, bytes))
            return;
        const uint32_t row = to + lane() * ROW, turn = lane() % 8 * 16;
        const uint32_t first = (begin + lane() * pitch) % 4, end = first + bytes;
        const uint32_t last = tcgemm_lds_32(ends + lane() * 4);
        if (first)
            tcgemm_sts_32(row + turn,
                          (tcgemm_lds_32(row + turn) & 0xFFFF0000) | (end / 4 == WORDS ? last : 0));
        if (end % 4 && end / 4 < WORDS)
            tcgemm_sts_32(row + (turn ^ end / 4 * 4), last);
        __syncwarp();
#pragma unroll
        for (uint32_t odd = 0; odd < 2; ++odd)
            if ((begin + odd * pitch) % 4 != 0)
                shift_every_other(to + odd * ROW + (lane() * 4 ^ odd * 16));
    }

    /* From the one on of which this lane's word is there. */
    static __device__ __forceinline__ void shift_every_other(uint32_t own) {
#pragma unroll 1
        for (int first = 0; first < COUNT; first += AT_ONCE, own += AT_ONCE * ROW) {
            uint32_t mine[AT_ONCE / 2];
#pragma unroll
            for (int i = 0; i < AT_ONCE / 2; ++i)
                mine[i] = tcgemm_lds_32((own ^ i % 4 * 32) + i * (2 * ROW));
#pragma unroll
            for (int i = 0; i < AT_ONCE / 2; ++i) {
                const uint32_t next = __shfl_sync(0xFFFFFFFF, mine[i], (lane() + 1) % WORDS);
                tcgemm_sts_32((own ^ i % 4 * 32) + i * (2 * ROW),
                              __funnelshift_r(mine[i], next, 16));
            }
        }
    }

    static __device__ __forceinline__ void round(uint32_t to) {
#pragma unroll
        for (int piece = 0; piece < COUNT * ROW / 512; ++piece) {
            uint32_t x[4];
            tcgemm_lds_128(x, to + piece * 512 + lane() * 16);
#pragma unroll
            for (int i = 0; i < 4; ++i)
                x[i] = tcgemm_cvt_rna_tf32(x[i]);
            tcgemm_sts_128(to + piece * 512 + lane() * 16, make_uint4(x[0], x[1], x[2], x[3]));
        }
    }

    /* And the elements of m (n) `lane` of all lines of k become row `lane`. */
    static __device__ __forceinline__ void turn(uint32_t to) {
        uint32_t x[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; ++k)
            x[k] = tcgemm_cvt_rna_tf32(tcgemm_lds_32(to + k * ROW + (lane() * 4 ^ k % 8 * 16)));
        __syncwarp();
#pragma unroll
        for (int piece = 0; piece < COUNT / 4; ++piece)
            tcgemm_sts_128(
                to + lane() * ROW + (piece ^ lane() % 8) * 16,
                make_uint4(x[4 * piece], x[4 * piece + 1], x[4 * piece + 2], x[4 * piece + 3]));
    }
};

#endif
