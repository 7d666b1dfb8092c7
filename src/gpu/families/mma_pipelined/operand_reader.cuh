/* operand_reader.cuh - how mma-pipelined brings fragments from shared memory to registers, as
 * tile/fragment.h maps them: ldmatrix, with .trans where m or n is contiguous, and one byte
 * permutation then for 8 bit; loads of 4 and 8 bytes for tf32 there, of 16 or 8 bytes for f64.
 */
#ifndef TCGEMM_OPERAND_READER_CUH
#define TCGEMM_OPERAND_READER_CUH

#include "gpu/ptx/ldmatrix.cuh"
#include "tile/fragment.h"

/* The WARP rows of A (columns of B) of one warp, UNITS units of four words a step of k. */
template <int SIDE, int FORM, int ELEMENT_BYTES, int SINGLES, int MN, int BK, int WARP>
struct operand_reader {
    enum { PITCH = (FORM == TCGEMM_FORM_K ? BK : MN) * ELEMENT_BYTES, UNITS = WARP / 16 };

    uint32_t lane_at; /* offset in the tile of what this lane reads of unit 0, step 0 */

    __device__ __forceinline__ void begin(uint32_t lane, uint32_t first) {
        lane_at = tcgemm_fragment_lane_at(SIDE, FORM, ELEMENT_BYTES, SINGLES, PITCH, lane, first);
    }

    static __device__ __forceinline__ constexpr int place(int mn_half, int k_half) {
        return SIDE == TCGEMM_SIDE_A ? 2 * k_half + mn_half : 2 * mn_half + k_half;
    }

    __device__ __forceinline__ uint32_t at(uint32_t tile, int step, int unit, int more = 0) const {
        return tile + tcgemm_fragment_at(FORM, ELEMENT_BYTES, PITCH, lane_at, step, unit, more);
    }

    __device__ __forceinline__ void read(uint32_t (&word)[UNITS][4], uint32_t tile,
                                         int step) const {
        if constexpr (FORM == TCGEMM_FORM_MN && ELEMENT_BYTES == 4) {
            const int second = tcgemm_fragment_second_row(FORM, ELEMENT_BYTES) * PITCH;
#pragma unroll
            for (int unit = 0; unit < UNITS; ++unit)
#pragma unroll
                for (int half = 0; half < 2; ++half) { /* of the step on side A, of the unit on B */
                    if (SIDE == TCGEMM_SIDE_A) {
                        tcgemm_lds_64(&word[unit][2 * half], at(tile, step, unit) + half * second);
                    } else {
                        const uint32_t from = at(tile, step, unit, half * 32);
                        tcgemm_lds_32(&word[unit][2 * half], from);
                        tcgemm_lds_32(&word[unit][2 * half + 1], from + second);
                    }
                }
        } else if constexpr (FORM == TCGEMM_FORM_MN && ELEMENT_BYTES == 1) {
#pragma unroll
            for (int unit = 0; unit < UNITS; ++unit) {
                uint32_t two[4]; /* bytes: (k, mn), (k, mn+1), (k+1, mn), (k+1, mn+1) */
                tcgemm_ldmatrix_x4_trans(two, at(tile, step, unit));
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const uint32_t x = two[2 * half], y = two[2 * half + 1];
                    word[unit][place(0, half)] = tcgemm_prmt(x, y, 0x6420);
                    word[unit][place(1, half)] = tcgemm_prmt(x, y, 0x7531);
                }
            }
        } else {
#pragma unroll
            for (int unit = 0; unit < UNITS; ++unit) {
                if (FORM == TCGEMM_FORM_K)
                    tcgemm_ldmatrix_x4(word[unit], at(tile, step, unit));
                else
                    tcgemm_ldmatrix_x4_trans(word[unit], at(tile, step, unit));
            }
        }
    }

    /* f64: the four words of one unit, if they are wanted; they keep their values otherwise. */
    __device__ __forceinline__ void read_unit(double *word, uint32_t tile, int step, int unit,
                                              bool wanted) const {
        const int second = tcgemm_fragment_second_row(FORM, ELEMENT_BYTES) * PITCH;
#pragma unroll
        for (int row = 0; row < 2; ++row) { /* of m or n in K form, of k in MN form */
            double *const first = &word[FORM == TCGEMM_FORM_K ? place(row, 0) : place(0, row)];
            double *const other = &word[FORM == TCGEMM_FORM_K ? place(row, 1) : place(1, row)];
            if constexpr (SINGLES) {
                const int more = FORM == TCGEMM_FORM_K ? 4 * ELEMENT_BYTES : 8 * ELEMENT_BYTES;
                tcgemm_lds_64_f64_if(first, at(tile, step, unit) + row * second, wanted);
                tcgemm_lds_64_f64_if(other, at(tile, step, unit, more) + row * second, wanted);
            } else {
                double two[2] = {*first, *other};
                tcgemm_lds_128_f64_if(two, at(tile, step, unit) + row * second, wanted);
                *first = two[0];
                *other = two[1];
            }
        }
    }

    __device__ __forceinline__ void read(double (&word)[UNITS][4], uint32_t tile, int step) const {
#pragma unroll
        for (int unit = 0; unit < UNITS; ++unit) {
            word[unit][0] = word[unit][1] = word[unit][2] = word[unit][3] = 0;
            read_unit(word[unit], tile, step, unit, true);
        }
    }
};

#endif
