/* operand_copy.cuh - how mma-pipelined brings a tile of A or B from global to shared memory.
 *
 * A tile has MN rows of A (columns of B) and BK elements of k, and stays as it lies in global
 * memory. The block's threads copy it in passes; a thread keeps its 16-byte chunk of the row and
 * moves down the rows.
 *
 * Where rows of f64 begin between two chunks a thread has two pieces of 8 bytes a pass instead;
 * which thread has which piece of a row of 8 chunks:
 *
 *     piece                            0  1  2  3  4  5  6  7  8  9 .. 15
 *     MN form                          0  1  2  3  4  5  6  7  0  1 ..  7
 *     K form, and the same of another row
 *                                      0  1  2  3  4  5  6  7  8  9 .. 15
 *     K form, 256 threads and more     0  0  1  1  2  2  3  3  4  4 ..  7
 *
 * Two halves of a chunk are every other piece for a warp, which takes lines and banks twice then:
 * tiles of 64 x 64 took 50 to 55 us for 1023^3, 44 to 48 as it is. Tiles of 128 x 128 do not wait
 * for that, and an address more for each copy costs them 2 % in K form.
 */
#ifndef TCGEMM_OPERAND_COPY_CUH
#define TCGEMM_OPERAND_COPY_CUH

#include "gpu/arch.cuh"
#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/ldmatrix.cuh"
#include "tile/swizzle.h"

static __device__ __forceinline__ uint32_t clamp_bytes(int64_t bytes, uint32_t most) {
    return bytes < 0 ? 0 : bytes > most ? most : (uint32_t)bytes;
}

/* ---- elements that no wide load can take ---- */

/* Sixteen bytes of which the first `bytes` come from `from`, element by element. */
template <int ELEMENT_BYTES>
static __device__ __forceinline__ uint4 gather_chunk(const char *from, uint32_t bytes) {
    uint32_t word[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint32_t at = 0; at < 16; at += ELEMENT_BYTES) {
        uint32_t element = 0;
        if (at < bytes) {
            if (ELEMENT_BYTES == 1)
                element = *(const uint8_t *)(from + at);
            else if (ELEMENT_BYTES == 2)
                element = *(const uint16_t *)(from + at);
            else
                element = *(const uint32_t *)(from + at);
        }
        word[at / 4] |= element << 8 * (at % 4);
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* ---- one operand on its way into shared memory ---- */

/* SLICES: the block's threads are as many teams of THREADS, each with its own of that many blocks
 * of k that follow one another. */
template <int FORM, int ELEMENT_BYTES, int MN, int BK, int THREADS, int SLICES>
struct operand_copy {
    enum {
        PITCH = (FORM == TCGEMM_FORM_K ? BK : MN) * ELEMENT_BYTES,
        ROWS = FORM == TCGEMM_FORM_K ? MN : BK,
        CHUNKS = PITCH / 16, /* in a row */
        ROWS_A_PASS = THREADS / CHUNKS,
        PASSES = ROWS / ROWS_A_PASS,
        BYTES = ROWS * PITCH,
        PIECE = 8,
        TWO_ROWS = FORM == TCGEMM_FORM_K && THREADS < 256,
        LANES = FORM == TCGEMM_FORM_K ? 1
                : CHUNKS < 32         ? CHUNKS
                                      : 32, /* with pieces in a row */
        FAR = LANES * PIECE,        /* bytes from one piece of a thread to the other in a row */
        ROWS_BETWEEN = ROWS_A_PASS / 2
    };
    static_assert(THREADS % CHUNKS == 0 && ROWS % ROWS_A_PASS == 0,
                  "the threads share rows evenly");

    const char *from;  /* this thread's chunk of the pass that comes next */
    int64_t pass_step; /* bytes from pass to pass */
    int64_t rewind; /* bytes from past the last pass to the first pass of the team's next block */
    int32_t rows_left;   /* rows inside the matrix, from this thread's first one */
    uint32_t bytes_left; /* bytes inside the matrix, from this thread's first one to its last */
    int32_t whole_rows;  /* rows_left, or 0 when the chunk is not whole */
    uint32_t to;         /* offset in the tile */

    static __device__ __forceinline__ uint32_t thread_of_team(void) {
        return SLICES > 1 ? threadIdx.x % THREADS : threadIdx.x;
    }

    /* This thread's row of a pass, and where in it its chunk begins, or the first of its pieces
     * (`halves`); bytes. */
    static __device__ __forceinline__ uint32_t row_of_thread(bool halves) {
        return thread_of_team() / (halves && TWO_ROWS ? 2 * CHUNKS : CHUNKS);
    }
    static __device__ __forceinline__ uint32_t at_in_row(bool halves) {
        const uint32_t chunk = thread_of_team() % CHUNKS;
        if (!halves)
            return chunk * 16;
        return TWO_ROWS ? thread_of_team() % (2 * CHUNKS) * PIECE
                        : chunk / LANES * (2 * FAR) + chunk % LANES * PIECE;
    }

    /* From there to the end of its chunk, or of its pieces of the row. */
    static __device__ __forceinline__ constexpr uint32_t reach(bool halves) {
        return !halves ? 16 : TWO_ROWS ? PIECE : FAR + PIECE;
    }

    /* base: the operand of this item of the batch; mn_left: rows of A (columns of B) from mn on. */
    __device__ __forceinline__ void begin(const void *base, int64_t ld, int64_t mn, int64_t mn_left,
                                          bool halves) {
        const uint32_t row = row_of_thread(halves), at = at_in_row(halves);
        to = tcgemm_swizzle(FORM, ELEMENT_BYTES, PITCH, row, at / 16) + at % 16;
        pass_step = ld * (ROWS_A_PASS * ELEMENT_BYTES);
        const int64_t first = FORM == TCGEMM_FORM_K ? (mn + row) * ld : row * ld + mn;
        from = (const char *)base + first * ELEMENT_BYTES + at;
        if (FORM == TCGEMM_FORM_K) {
            rewind = SLICES * BK * ELEMENT_BYTES - PASSES * pass_step;
            rows_left = (int32_t)((mn_left < MN ? mn_left : MN) - (int64_t)row);
        } else {
            rewind = (SLICES - 1) * BK * ld * ELEMENT_BYTES;
            bytes_left = clamp_bytes(mn_left * ELEMENT_BYTES - (int64_t)at, reach(halves));
        }
    }

    /* The next block of k has k_left elements inside the matrix, 0 .. BK. */
    __device__ __forceinline__ void begin_block(int32_t k_left, bool halves) {
        if (FORM == TCGEMM_FORM_K) {
            const int32_t left = k_left * ELEMENT_BYTES - (int32_t)at_in_row(halves);
            const int32_t most = reach(halves);
            bytes_left = left < 0 ? 0 : left > most ? most : left;
        } else {
            rows_left = k_left - (int32_t)row_of_thread(halves);
        }
        whole_rows = bytes_left > 0 ? rows_left : 0; /* a chunk that ends early ends in zeros */
    }

    __device__ __forceinline__ uint32_t pass_bytes(int pass) const {
        return pass * ROWS_A_PASS < rows_left ? bytes_left : 0;
    }

    __device__ __forceinline__ uint32_t pass_to(uint32_t tile, int pass) const {
        const uint32_t key = tcgemm_swizzle_key(FORM, ELEMENT_BYTES, PITCH, pass * ROWS_A_PASS);
        return tile + (to ^ key << 4) + pass * ROWS_A_PASS * PITCH;
    }

    __device__ __forceinline__ void next_pass(int pass) {
        from += pass_step;
        if (pass == PASSES - 1)
            from += rewind;
    }

    /* Part `part` of `parts` of the block, 16 bytes at a time; every chunk is outside,
     * whole, or goes on with zeros. */
    __device__ __forceinline__ void copy(uint32_t tile, int part, int parts) {
#pragma unroll
        for (int pass = part * PASSES / parts; pass < (part + 1) * PASSES / parts; ++pass) {
            tcgemm_cp_async_16(pass_to(tile, pass), from, pass * ROWS_A_PASS < whole_rows ? 16 : 0);
            next_pass(pass);
        }
    }

    /* The same of f64, by two pieces. Keys repeat after four rows in K form and are less than FAR
     * in MN form, so both pieces are as far from one another in the tile as without them: the
     * places of all copies differ by what an instruction adds. */
    __device__ __forceinline__ void copy_halves(uint32_t tile, int part, int parts) {
        static_assert(PITCH % (2 * FAR) == 0, "a row has both pieces");
        static_assert(TWO_ROWS ? ROWS_BETWEEN % 4 == 0 : FAR == PIECE || FAR > 7 * 16,
                      "the key of one is that of the other");
#pragma unroll
        for (int pass = part * PASSES / parts; pass < (part + 1) * PASSES / parts; ++pass) {
            const uint32_t bytes = pass_bytes(pass), piece_to = pass_to(tile, pass);
            tcgemm_cp_async_8(piece_to, from, bytes >= PIECE ? PIECE : 0);
            if (TWO_ROWS) {
                const bool inside = pass * ROWS_A_PASS + ROWS_BETWEEN < whole_rows;
                tcgemm_cp_async_8(piece_to + ROWS_BETWEEN * PITCH, from + (pass_step >> 1),
                                  inside ? PIECE : 0);
            } else {
                tcgemm_cp_async_8(piece_to + FAR, from + FAR, bytes >= FAR + PIECE ? PIECE : 0);
            }
            next_pass(pass);
        }
    }

    /* The same without cp.async, in two halves: into registers, and from there. */
    __device__ __forceinline__ void fetch(uint4 kept[PASSES], int part, int parts) {
#pragma unroll
        for (int pass = part * PASSES / parts; pass < (part + 1) * PASSES / parts; ++pass) {
            kept[pass] = make_uint4(0, 0, 0, 0);
            if (pass * ROWS_A_PASS < whole_rows)
                kept[pass] = *(const uint4 *)from;
            next_pass(pass);
        }
    }
    __device__ __forceinline__ void store(uint32_t tile, const uint4 kept[PASSES], int part,
                                          int parts) {
#pragma unroll
        for (int pass = part * PASSES / parts; pass < (part + 1) * PASSES / parts; ++pass)
            tcgemm_sts_128(pass_to(tile, pass), kept[pass]);
    }

    /* The whole block, whatever the alignment of the rows and the edges. */
    __device__ __forceinline__ void copy_any(uint32_t tile, uint32_t vector) {
        const int narrow = 4;
        static_assert(ELEMENT_BYTES <= narrow, "f64 comes by halves");
        if (TCGEMM_HAVE_CP_ASYNC && vector >= narrow) {
#pragma unroll 1
            for (int pass = 0; pass < PASSES; ++pass) {
                const uint32_t bytes = pass_bytes(pass);
                const uint32_t chunk_to = pass_to(tile, pass);
                if (vector >= 16) {
                    tcgemm_cp_async_16(chunk_to, from, bytes);
                } else {
#pragma unroll
                    for (int at = 0; at < 16; at += narrow) {
                        const uint32_t left = bytes > at ? bytes - at : 0;
                        tcgemm_cp_async_4(chunk_to + at, from + at, left < narrow ? left : narrow);
                    }
                }
                next_pass(pass);
            }
        } else if (ELEMENT_BYTES < narrow || !TCGEMM_HAVE_CP_ASYNC) {
            const int group = PASSES % 4 == 0 && ELEMENT_BYTES > 1 ? 4 : 2; /* loads in flight */
            static_assert(PASSES % group == 0, "whole groups");
#pragma unroll 1
            for (int pass = 0; pass < PASSES; pass += group) {
                uint4 kept[group];
#pragma unroll
                for (int i = 0; i < group; ++i) {
                    kept[i] = gather_chunk<ELEMENT_BYTES>(from, pass_bytes(pass + i));
                    next_pass(pass + i);
                }
#pragma unroll
                for (int i = 0; i < group; ++i)
                    tcgemm_sts_128(pass_to(tile, pass + i), kept[i]);
            }
        }
    }
};

#endif
