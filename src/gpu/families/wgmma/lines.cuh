/* lines.cuh - lines of an operand that begin anywhere in memory, brought to shared memory by warps
 * and laid down there as a box would: rows of 128 bytes in the 128-byte swizzle.
 *
 * A line is 128 bytes of k (a row of A, a column of B), or 64 elements of m (n), as the operand
 * lies. A warp brings one by one instruction, a word of four bytes a lane, from the word that it
 * begins in:
 *
 *     memory     .. y|x x|x x| .. |x z| ..    x: of the line, y: before it, z: behind it
 *     words           0   1         32        one a lane, from the one that the line begins in
 *     bring      them as they lie, but the word that the line ends in to `ends`
 *     settle     x x|x x| .. |x x|            each lane, of its word and the next one's
 *
 * Lines that begin and end with words are where they belong at once. Nothing behind a line's end is
 * read; what stands before it in its first word is of the line before, or between them.
 */
#ifndef TCGEMM_WGMMA_LINES_CUH
#define TCGEMM_WGMMA_LINES_CUH

#include <stdint.h>

#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/shared.cuh"
#include "tile/swizzle.h"

/* Of elements of two bytes, so that every other line begins alike; WARPS share the lines of a
 * block. */
template <int ELEMENT_BYTES, int WARPS> struct wgmma_lines {
    static_assert(ELEMENT_BYTES == 2, "every other line begins alike");
    enum {
        ROW = 128,                 /* bytes */
        BK = ROW / ELEMENT_BYTES,  /* elements of k in a block, and ... */
        ATOM = ROW / ELEMENT_BYTES /* ... of m (n) in a line */
    };

    static __device__ __forceinline__ uint32_t fetcher(void) {
        return threadIdx.x / 32 % WARPS;
    }

    /* A warp's lines of an operand, in one block of k after the other. */
    template <int FORM> struct side {
        const char *from; /* where the first line begins, */
        int64_t step;     /* and how much farther in the next block: bytes */
        int64_t lines;    /* that exist from the first on, */
        int64_t length;   /* and of each: elements */
        int64_t pitch;    /* from line to line: bytes */

        /* Of the operand at `base` + `item` elements, `extent` lines (in k contiguous), the tile
         * has those from `first` on, and of these the warp those from `own` on; from element k. */
        __device__ __forceinline__ side(const void *base, int64_t item, int64_t ld, int64_t extent,
                                        int64_t end_of_k, uint32_t own, int64_t first, int64_t k) {
            const uint32_t atom = FORM == TCGEMM_FORM_K ? 0 : own / ATOM * ATOM;
            const int64_t line = (FORM == TCGEMM_FORM_K ? first : k) + own - atom;
            const int64_t along = FORM == TCGEMM_FORM_K ? k : first + atom;
            from = (const char *)base + (item + line * ld + along) * ELEMENT_BYTES;
            step = FORM == TCGEMM_FORM_K ? ROW : ld * (BK * ELEMENT_BYTES);
            lines = (FORM == TCGEMM_FORM_K ? extent : end_of_k) - line;
            length = (FORM == TCGEMM_FORM_K ? end_of_k : extent) - along;
            pitch = ld * ELEMENT_BYTES;
        }
        __device__ __forceinline__ void advance(void) {
            from += step;
            (FORM == TCGEMM_FORM_K ? length : lines) -= BK;
        }
        __device__ __forceinline__ int32_t bytes(void) const {
            return length >= ATOM ? ROW : length > 0 ? (int32_t)length * ELEMENT_BYTES : 0;
        }
    };

    /* Where the word begins that `from` lies in. */
    static __device__ __forceinline__ const char *word_of(const char *from) {
        return (const char *)((uintptr_t)from & ~(uintptr_t)3);
    }

    /* Whether lines that have come are not yet as they should lie: they begin or end in a word. */
    static __device__ __forceinline__ bool is_raw(uint32_t from, uint32_t pitch, uint32_t bytes) {
        return (from | pitch | bytes) % 4 != 0;
    }

    /* COUNT lines to rows from `to` on, a multiple of eight of them; the words they end in, if they
     * are raw, to COUNT words at `ends`. Zeros stand for what is not there. */
    template <int COUNT, int FORM>
    static __device__ __forceinline__ void bring(uint32_t to, uint32_t ends, const side<FORM> &s) {
        const int32_t lane = threadIdx.x % 32, bytes = s.bytes();
        const int32_t lines = bytes == 0 ? 0 : s.lines < COUNT ? (int32_t)s.lines : COUNT;
        const uint32_t own = to + lane * 4;
        const char *at = s.from + lane * 4;
        const int32_t words_even = (bytes + (int32_t)((uintptr_t)at % 4)) / 4;
        const int32_t words_odd = (bytes + (int32_t)((uintptr_t)(at + s.pitch) % 4)) / 4;
        const int32_t even = lane < words_even ? lines : 0, odd = lane < words_odd ? lines : 0;
#pragma unroll
        for (int line = 0; line < COUNT; ++line) {
            tcgemm_cp_async_4_if((own ^ line % 8 * 16) + line * ROW, word_of(at),
                                 line < (line % 2 ? odd : even));
            at += s.pitch;
        }
        if (lane < COUNT && is_raw((uint32_t)(uintptr_t)s.from, (uint32_t)s.pitch, bytes)) {
            const char *const mine = s.from + lane * s.pitch;
            const uint32_t end = (uint32_t)bytes + (uint32_t)((uintptr_t)mine % 4);
            tcgemm_cp_async_4(ends + lane * 4, word_of(mine) + end / 4 * 4,
                              lane < lines ? end % 4 : 0);
        }
    }

    /* What settle() asks of lines that were brought: 8 bits. */
    template <int FORM> static __device__ __forceinline__ uint32_t note_of(const side<FORM> &s) {
        return (uint32_t)((uintptr_t)s.from % 4) << 6 | (uint32_t)s.bytes() / 2;
    }

    /* Moves COUNT lines, `pitch` bytes apart in memory, to where they belong. All lanes' words are
     * there. */
    template <int COUNT>
    static __device__ __forceinline__ void settle(uint32_t at, uint32_t ends, uint32_t note,
                                                  uint32_t pitch) {
        const uint32_t lane = threadIdx.x % 32, own = at + lane * 4;
        const uint32_t phase = note >> 6 & 2, bytes = note % 128 * 2;
        if (!is_raw(phase, pitch, bytes))
            return;
#pragma unroll
        for (uint32_t line = 0; line < COUNT; line += 8) {
            uint32_t word[8], next[8];
#pragma unroll
            for (uint32_t r = 0; r < 8; ++r) {
                word[r] = tcgemm_lds_32((own ^ r * 16) + (line + r) * ROW);
                next[r] = tcgemm_lds_32(ends + (line + r) * 4);
            }
#pragma unroll
            for (uint32_t r = 0; r < 8; ++r) {
                const uint32_t last = ((phase + r * pitch) % 4 + bytes) / 4, end = next[r];
                if (lane == last)
                    word[r] = end;
                next[r] = __shfl_sync(0xFFFFFFFF, word[r], (lane + 1) % 32);
                if (lane == 31)
                    next[r] = last == 32 ? end : 0;
            }
#pragma unroll
            for (uint32_t r = 0; r < 8; ++r)
                tcgemm_sts_32((own ^ r * 16) + (line + r) * ROW,
                              __funnelshift_r(word[r], next[r], (phase + r * pitch) % 4 * 8));
        }
    }
};

#endif
