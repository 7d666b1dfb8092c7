/* mma_pipelined.cuh - the production kernel of sm_75 .. sm_89, and the fallback on sm_90.
 *
 * Warp-wide products mma.sync fed by ldmatrix from a ring of shared-memory slots that cp.async
 * fills. One body for every type of the tensor cores; rows.def names the types and the tiles.
 * It wins wherever there is no wgmma, and on sm_90 where a tensor map cannot describe the operand.
 * It loses to wgmma on sm_90 (mma.sync reaches some 62 % of that peak).
 *
 *     grid        one block a tile of D, in the order of tile/raster.h, batch by batch
 *     block       128 x 256, 8 warps (2 x 4); or 128 x 128, 64 x 64, 4 warps (2 x 2);
 *                 f64, FP8: 128 x 128, 8 warps of 64 x 32; f64 64 x 64 on sm_90 three an SM
 *     +-------+-------+-------+-------+     warp 64 x 64 = 4 x 8 products of 16 x 8
 *     | warp0 | warp1 | warp2 | warp3 |     +-+-+-+-+-+-+-+-+
 *     +-------+-------+-------+-------+     |>|>|>|>|>|>|>|v|     serpentine: the next
 *     | warp4 | warp5 | warp6 | warp7 |     |v|<|<|<|<|<|<|<|     product keeps one operand
 *     +-------+-------+-------+-------+     |>|>| ...
 *
 * Shared memory of the 128 x 256 tile, a block of k is 128 bytes of k (64 f16, 128 s8, 32 tf32):
 *
 *     0        16384               49152      65536               98304            147456
 *     | A slot 0 | B slot 0          | A slot 1 | B slot 1          | slot 2         |
 *     | 16 KiB   | 32 KiB            |                              |                |
 *     after the last block of k: 16 rows of each warp's D at a time, 4608 bytes a warp
 *
 * Operands stay in shared memory the way global memory has them (tile/swizzle.h), rows of k or
 * rows of m and n, so all four layouts run through the same 16-byte copies (operand_copy.cuh); the
 * transposition happens on the way to registers (operand_reader.cuh, tile/fragment.h).
 *
 * Side A of an instruction wants two m of one k in neighbouring registers, side B two k of one n.
 * So tf32 and f64, whose words are loaded one by one or in pairs, are best served by an A with m
 * and a B with k contiguous: TT. NN is the reverse and is therefore computed as the transposed
 * product (SWAP): B^T, n contiguous, is side A and A^T, k contiguous, is side B; D is turned back
 * on its way out.
 *
 * Time, for a block b of k with four steps, 3 slots (one __syncthreads a block):
 *
 *     step            0                1                2                3
 *     cp.async        b+2, 1st third   b+2, 2nd third   b+2, 3rd third   commit, wait for b+1, sync
 *     ldmatrix        b: step 1        b: step 2        b: step 3        b+1: step 0
 *     mma             b: step 0        b: step 1        b: step 2        b: step 3
 *
 *     The slot of b+2 is that of b-1, whose last reads came before the sync of block b-1.
 *
 * sm_75 has no cp.async: two slots, the same places in time, but the copy fetches into registers
 * before the products of a step and stores after them.
 *
 * f64 on sm_90 takes two steps in one m16n8k16 (run_long), in turns of 16 rows of A:
 *
 *     turn            0                1                2                3
 *     loads           A: rows 16..31   A: rows 32..47   A: rows 48..63   A: rows 0..15, B; of b+1
 *     mma             A: rows 0..15    A: rows 16..31   A: rows 32..47   A: rows 48..63
 *
 * A launch on sm_90 may begin before the one ahead has ended: it waits before its first copy
 * (ptx/griddepcontrol.cuh), and lets the next one begin when its products are done. Let in at once,
 * blocks that only wait for the end come to some SMs, and what is behind them, the sum of parts,
 * to the others: f64 64 x 4096 x 4096 took 61 us so, 57 as it is, 59 without any of it (H100).
 *
 * FP8 (sm_89, sm_120 and newer), whose tensor cores keep 14 bits of a sum: each product begins its
 * sums anew, and four additions bring them to those in f32 (families/mma/products.cuh). That takes
 * registers: warps of 64 x 64, or 32 x 32 in 128 registers, spill. Only k contiguous, and rows of
 * whole chunks (WHOLE): the rest is packed, as for wgmma, and all four types are 90 KB of code.
 *
 * Edges: cp.async fills what lies outside m, n or k with zeros, in A and in B, so the tail of k
 * adds 0 * 0; a row that was packed ends in zeros. Other rows that are not 16-byte aligned
 * (args.vector_a, vector_b) or end inside a 16-byte chunk take a second, plainer loop in the same
 * kernel: 16-, 8- or 4-byte cp.async, or element by element. With a split of k a block owns a tile
 * of one part (tile/split.h). D leaves through shared memory in rows of 16-byte pieces; pieces that
 * cross an edge, or rows that are not aligned, go element by element.
 *
 * f64 on sm_90: D, and C, are as long as all that a short k reads. A warp whose part is inside and
 * aligned writes it out of registers (finish_pairs), having asked for eight pairs of C before each
 * eight that it writes; else D leaves as above, and C comes by cp.async, to a lane's own places. A
 * ring of four slots and three blocks an SM let one block's products go on beside another's D. With
 * beta 1 and NN, us (H100): 4096 x 4096 x 64 227 as it was, 142 with C by cp.async alone, 122 with
 * three blocks too, 117 with four slots, 107 with pairs; 66 and 73 without C, by cuBLASLt and so.
 *
 * The main loop of the 128 x 256 tile, f16: 242 instructions a block of k, of which 128 HMMA, 32
 * LDSM and 12 LDGSTS. Tried (H200, 8192^3, TFLOP/s):
 *     words of side B in the order of A       128 moves a block: HMMA wants its pair side by side
 *     any number of bytes in the main loop    6 instructions a copy instead of 3, and spills: whole
 *                                             chunks only, the rest is for the second loop
 *     tf32, 16-byte loads in the MN form      tn 154, 300 moves a block; 8- and 4-byte loads: 195
 *     unaligned, one chunk at a time          f16 at 4095^3: 75; four chunks in flight: 120
 *     tf32, rounding between rows             nt 198; all of it ahead of the products: 210
 *     tf32, rounded once, on its way through  nn 155, nt 165, tn 152, tt 171, against 200, 219,
 *     registers, and turned into the K form   186, 196: loads and stores wait for one another
 *     tf32, no rounding at all (wrong)        nn 207, against 200: there is not much to be had
 *     tf32, nn not transposed                 193, against 203
 *     f64, k8 rather than k16                 nn 48, nt 52.6, tn 50.5, tt 54.4, against 52, 53.1,
 *                                             52.9, 54.0
 *     f64, nn not transposed                  176 moves a block, 337 instructions; transposed 14,
 *                                             179
 *     f64, 128 x 64, two blocks an SM         nn 48.8, against 51.7; blocks of 32 k: 47.9
 *     f64, A of all turns in the same         nn 56.7, nt 55.1, tn 56.4, tt 56.0,
 * against 57.5, 57.5, registers, words in pairs throughout    57.4, 57.7; 150 moves a block in nt
 * tf32 and f64 run at the limit of power (700 W, 1.7 to 1.85 GHz): what saves energy is speed
 * there, and figures of different runs differ by 5 %.
 */
#ifndef TCGEMM_MMA_PIPELINED_CUH
#define TCGEMM_MMA_PIPELINED_CUH

#include "gpu/arch.cuh"
#include "gpu/elements.cuh"
#include "gpu/families/mma_pipelined/operand_copy.cuh"
#include "gpu/families/mma_pipelined/operand_reader.cuh"
#include "gpu/gpu_args.h"
#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/griddepcontrol.cuh"
#include "gpu/ptx/ldmatrix.cuh"
#include "gpu/ptx/mma.cuh"
#include "gpu/ptx/special.cuh"
#include "gpu/words.cuh"
#include "tile/fragment.h"
#include "tile/pipeline.h"
#include "tile/raster.h"
#include "tile/split.h"
#include "tile/swizzle.h"

/* ---- the kernel ---- */

/* TYPE, see the .cu files:
 *     word                 what mma takes: uint32_t or double
 *     sum, SUMS            an accumulator, and how many a lane has of a 16 x 8 product
 *     scalar               float, double or uint32_t: alpha, beta and the arithmetic of D
 *     out                  an element of C and D
 *     ELEMENT_BYTES        of an element of A and B
 *     mma(c, a, b)         c += a * b, 16 x 8 by one step of k
 *     prepare(word)        what happens to a word between shared memory and mma
 *     value(c, i)          accumulator i of 4 as a scalar
 *     load(out), store(s)  conversions of an element of C and D
 *     LONG                 f64 on sm_90: run_long
 *     WHOLE                rows are whole 16-byte pieces, or were packed: of FP8
 *
 * SWAP: the transposed product. A stands for the columns of B and B for the rows of A; m and n of
 * the tile trade places, too.
 */
template <class TYPE, int BM, int BN, int BK, int WM, int WN, int SLICES, int STAGES, int A_FORM,
          int B_FORM, int SWAP>
struct mma_pipelined {
    typedef typename TYPE::word word;
    typedef typename TYPE::sum sum;
    typedef typename TYPE::scalar scalar;
    typedef typename TYPE::out out;
    enum {
        ELEMENT_BYTES = TYPE::ELEMENT_BYTES,
        SUMS = TYPE::SUMS,
        WARPS_N = BN / WN,
        THREADS = BM / WM * WARPS_N * 32, /* of a slice */
        STEPS = BK * ELEMENT_BYTES / (ELEMENT_BYTES == 8 ? 64 : 32),
        ROWS_D = SWAP ? BN : BM,
        COLS_D = SWAP ? BM : BN,
        UNITS_M = WM / 16,
        UNITS_N = WN / 16,
        PARTS = STEPS - 1 /* the copy of a block is spread over all steps but the last */
    };
    typedef operand_copy<A_FORM, ELEMENT_BYTES, BM, BK, THREADS, SLICES> copy_a;
    typedef operand_copy<B_FORM, ELEMENT_BYTES, BN, BK, THREADS, SLICES> copy_b;
    enum { /* f64 alone loads its words one by one anywhere */
           SINGLES_A = TYPE::LONG && tcgemm_fragment_singles(TCGEMM_SIDE_A, A_FORM, B_FORM),
           SINGLES_B = TYPE::LONG && tcgemm_fragment_singles(TCGEMM_SIDE_B, A_FORM, B_FORM)
    };
    typedef operand_reader<TCGEMM_SIDE_A, A_FORM, ELEMENT_BYTES, SINGLES_A, BM, BK, WM> reader_a;
    typedef operand_reader<TCGEMM_SIDE_B, B_FORM, ELEMENT_BYTES, SINGLES_B, BN, BK, WN> reader_b;
    enum { STAGE_BYTES = copy_a::BYTES + copy_b::BYTES };
    static_assert(STEPS % 2 == 0, "the fragments of two steps take turns");

    copy_a load_a;
    copy_b load_b;
    reader_a read_a;
    reader_b read_b;
    uint32_t smem;   /* the slice's ring */
    uint32_t blocks; /* of k, of all slices */
    int32_t tail;    /* elements of k of this slice in the last one */
    sum c[UNITS_M][2 * UNITS_N][SUMS];

    /* ---- copies ---- */

    /* halves: copy_halves will bring it (operand_copy.cuh). */
    __device__ __forceinline__ void begin_block(uint32_t block, bool halves) {
        const int32_t k_left = block + 1 < blocks ? BK : block + 1 == blocks ? tail : 0;
        load_a.begin_block(k_left, halves);
        load_b.begin_block(k_left, halves);
    }

    /* Part `part` of `parts` of the block that comes next: by whole chunks, or f64 by halves. */
    template <bool HALVES>
    __device__ __forceinline__ void copy_part(uint32_t slot, int part, int parts) {
        if constexpr (HALVES) {
            load_a.copy_halves(slot, part, parts);
            load_b.copy_halves(slot + copy_a::BYTES, part, parts);
        } else {
            load_a.copy(slot, part, parts);
            load_b.copy(slot + copy_a::BYTES, part, parts);
        }
    }

    template <bool HALVES> __device__ __forceinline__ void copy_whole(uint32_t slot) {
#if TCGEMM_HAVE_CP_ASYNC
        copy_part<HALVES>(slot, 0, 1);
#else
        uint4 kept_a[copy_a::PASSES], kept_b[copy_b::PASSES];
        load_a.fetch(kept_a, 0, 1);
        load_b.fetch(kept_b, 0, 1);
        load_a.store(slot, kept_a, 0, 1);
        load_b.store(slot + copy_a::BYTES, kept_b, 0, 1);
#endif
    }

    static __device__ __forceinline__ void commit(void) {
#if TCGEMM_HAVE_CP_ASYNC
        tcgemm_cp_async_commit();
#endif
    }

    /* Waits for the block after the current one and for every warp to be done with the current one.
     */
    static __device__ __forceinline__ void arrive(void) {
#if TCGEMM_HAVE_CP_ASYNC
        tcgemm_cp_async_wait<STAGES - 2>();
#endif
        __syncthreads();
    }

    __device__ __forceinline__ uint32_t next_slot(uint32_t slot) const {
        return slot == smem + (STAGES - 1) * STAGE_BYTES ? smem : slot + STAGE_BYTES;
    }

    /* ---- products ---- */

    __device__ __forceinline__ void read(word (&a)[UNITS_M][4], word (&b)[UNITS_N][4],
                                         uint32_t slot, int step) {
        read_a.read(a, slot, step);
        read_b.read(b, slot + copy_a::BYTES, step);
    }

    __device__ __forceinline__ void multiply(word (&a)[UNITS_M][4], word (&b)[UNITS_N][4]) {
#pragma unroll
        for (int w = 0; w < 4; ++w) {
#pragma unroll
            for (int i = 0; i < UNITS_M; ++i)
                a[i][w] = TYPE::prepare(a[i][w]);
#pragma unroll
            for (int j = 0; j < UNITS_N; ++j)
                b[j][w] = TYPE::prepare(b[j][w]);
        }
#pragma unroll
        for (int i = 0; i < UNITS_M; ++i)
#pragma unroll
            for (int there = 0; there < 2 * UNITS_N; ++there) {
                const int j = i % 2 ? 2 * UNITS_N - 1 - there : there;
                TYPE::mma(c[i][j], a[i], &b[j / 2][2 * (j % 2)]);
            }
    }

    /* ---- 16-byte chunks throughout ---- */

    template <bool HALVES> __device__ __forceinline__ void run_whole(void) {
        uint32_t into = smem;
#pragma unroll 1
        for (uint32_t block = 0; block < STAGES - 1; ++block) {
            begin_block(block, HALVES);
            copy_whole<HALVES>(into);
            commit();
            into = next_slot(into);
        }
        word a[2][UNITS_M][4], b[2][UNITS_N][4];
        uint32_t slot = smem;
        arrive();
        read(a[0], b[0], slot, 0);

#pragma unroll 1
        for (uint32_t block = 0; block < blocks; ++block) {
            begin_block(block + STAGES - 1, HALVES);
#pragma unroll
            for (int step = 0; step < STEPS; ++step) {
#if TCGEMM_HAVE_CP_ASYNC
                if (step < PARTS)
                    copy_part<HALVES>(into, step, PARTS);
#else
                uint4 kept_a[copy_a::PASSES], kept_b[copy_b::PASSES];
                if (step < PARTS) {
                    load_a.fetch(kept_a, step, PARTS);
                    load_b.fetch(kept_b, step, PARTS);
                }
#endif
                if (step == STEPS - 1) {
                    commit();
                    arrive();
                    slot = next_slot(slot);
                    into = next_slot(into);
                }
                read(a[(step + 1) % 2], b[(step + 1) % 2], slot, (step + 1) % STEPS);
                multiply(a[step % 2], b[step % 2]);
#if !TCGEMM_HAVE_CP_ASYNC
                if (step < PARTS) {
                    load_a.store(into, kept_a, step, PARTS);
                    load_b.store(into + copy_a::BYTES, kept_b, step, PARTS);
                }
#endif
            }
        }
    }

    /* ---- f64 on sm_90: two steps in one instruction ---- */

    /* 16 columns of B of a pair of steps, in the order of the instruction. */
    __device__ __forceinline__ void read_b_pair(double (&b)[8], uint32_t slot, int pair, int unit) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            double four[4] = {};
            read_b.read_unit(four, slot + copy_a::BYTES, 2 * pair + half, unit, true);
#pragma unroll
            for (int w = 0; w < 4; ++w)
                b[w / 2 * 4 + 2 * half + w % 2] = four[w];
        }
    }

    /* A turn is 16 rows of A, all columns of B and two steps; meanwhile the A of the next turn is
     * on its way, and in the last turn of a pair the B of the next pair: all of it ahead of the
     * products where registers allow, else each unit as soon as the products are done with it. */
    template <bool HALVES> __device__ __forceinline__ void run_long(void) {
        enum {
            PAIRS = STEPS / 2,
            TURNS = PAIRS * UNITS_M,
            LAST = TURNS - 1,
            AHEAD = UNITS_M * UNITS_N < 4,
            COPIES = AHEAD ? LAST : TURNS /* turns with a part of the copy */
        };
        uint32_t into = smem, slot = smem;
#pragma unroll 1
        for (uint32_t block = 0; block < STAGES - 1; ++block) {
            begin_block(block, HALVES);
            copy_whole<HALVES>(into);
            commit();
            into = next_slot(into);
        }
        double a[2][8] = {}, b[UNITS_N][8], next_b[UNITS_N][8];
        /* Always so, which ptxas does not know. It would give the A of two turns the same registers
         * and load the next one after the products of this one; what a load may leave as it is
         * keeps its own. */
        const bool wanted = blocks < UINT32_MAX;
        auto read_a_turn = [&](int turn) {
            const int pair = turn / UNITS_M % PAIRS, unit = turn % UNITS_M;
            const bool if_wanted = AHEAD || wanted;
            read_a.read_unit(a[turn % 2], slot, 2 * pair, unit, if_wanted);
            read_a.read_unit(a[turn % 2] + 4, slot, 2 * pair + 1, unit, if_wanted);
        };
        static_assert(TURNS % 2 == 0, "the A of two turns take turns");
        arrive();
        read_a_turn(0);
#pragma unroll
        for (int unit = 0; unit < UNITS_N; ++unit)
            read_b_pair(AHEAD ? next_b[unit] : b[unit], slot, 0, unit);
#pragma unroll 1
        for (uint32_t block = 0; block < blocks; ++block) {
            begin_block(block + STAGES - 1, HALVES);
#pragma unroll
            for (int turn = 0; turn < TURNS; ++turn) {
                const int i = turn % UNITS_M, next_pair = (turn + 1) / UNITS_M % PAIRS;
                if (AHEAD && i == 0)
#pragma unroll
                    for (int unit = 0; unit < UNITS_N; ++unit)
#pragma unroll
                        for (int w = 0; w < 8; ++w)
                            b[unit][w] = next_b[unit][w];
                if (turn < COPIES)
                    copy_part<HALVES>(into, turn, COPIES);
                if (turn == LAST) {
                    commit();
                    arrive();
                    slot = next_slot(slot);
                    into = next_slot(into);
                }
                read_a_turn(turn + 1);
                if (AHEAD && i == UNITS_M - 1)
#pragma unroll
                    for (int unit = 0; unit < UNITS_N; ++unit)
                        read_b_pair(next_b[unit], slot, next_pair, unit);
#pragma unroll
                for (int there = 0; there < 2 * UNITS_N; ++there) {
                    /* the last turn begins where the first one will: with what it loads first */
                    const bool back = i % 2 && (AHEAD || i < UNITS_M - 1);
                    const int j = back ? 2 * UNITS_N - 1 - there : there;
                    tcgemm_mma_m16n8k16_f64(c[i][j], a[turn % 2], &b[j / 2][4 * (j % 2)]);
                    if (!AHEAD && i == UNITS_M - 1 && there % 2)
                        read_b_pair(b[j / 2], slot, next_pair, j / 2);
                }
            }
        }
    }

    template <bool HALVES> __device__ __forceinline__ void run_aligned(void) {
        if constexpr (TYPE::LONG)
            run_long<HALVES>();
        else
            run_whole<HALVES>();
    }

    /* ---- anything else: the same ring, nothing overlapped by hand ---- */

    __device__ __forceinline__ void copy_any(uint32_t slot, uint32_t block, uint32_t vector) {
        begin_block(block, false);
        load_a.copy_any(slot, vector);
        load_b.copy_any(slot + copy_a::BYTES, vector);
        commit();
    }

    __device__ __forceinline__ void run_any(uint32_t vector) {
        uint32_t into = smem, slot = smem;
#pragma unroll 1
        for (uint32_t block = 0; block < STAGES - 1; ++block) {
            copy_any(into, block, vector);
            into = next_slot(into);
        }
#pragma unroll 1
        for (uint32_t block = 0; block < blocks; ++block) {
            arrive();
            copy_any(into, block + STAGES - 1, vector);
            into = next_slot(into);
#pragma unroll 1
            for (int step = 0; step < STEPS; ++step) {
                word a[UNITS_M][4], b[UNITS_N][4];
                read(a, b, slot, step);
                multiply(a, b);
            }
            slot = next_slot(slot);
        }
    }

    /* ---- where the accumulators belong, inside the warp's part of D ---- */

    static __device__ __forceinline__ uint32_t of_side_a(uint32_t unit, uint32_t half,
                                                         uint32_t slot) {
        return tcgemm_fragment_mn(TCGEMM_SIDE_A, A_FORM, ELEMENT_BYTES, SINGLES_A, unit, half,
                                  slot);
    }
    static __device__ __forceinline__ uint32_t of_side_b(uint32_t unit, uint32_t half,
                                                         uint32_t slot) {
        return tcgemm_fragment_mn(TCGEMM_SIDE_B, B_FORM, ELEMENT_BYTES, SINGLES_B, unit, half,
                                  slot);
    }
    static __device__ __forceinline__ uint32_t row_of_unit(uint32_t unit, uint32_t half,
                                                           uint32_t slot) {
        return SWAP ? of_side_b(unit, half, slot) : of_side_a(unit, half, slot);
    }
    static __device__ __forceinline__ uint32_t col_of_unit(uint32_t unit, uint32_t half,
                                                           uint32_t slot) {
        return SWAP ? of_side_a(unit, half, slot) : of_side_b(unit, half, slot);
    }

    /* In the block's tile. */
    static __device__ __forceinline__ uint32_t first_row_of(uint32_t warp) {
        return SWAP ? warp % WARPS_N * WN : warp / WARPS_N * WM;
    }
    static __device__ __forceinline__ uint32_t first_col_of(uint32_t warp) {
        return SWAP ? warp / WARPS_N * WM : warp % WARPS_N * WN;
    }

    /* Writes the 16 rows of D that unit i stands for, a line each: half * 8 + slot. */
    __device__ __forceinline__ void stage(scalar *staged, uint32_t pitch, int i,
                                          uint32_t lane) const {
#pragma unroll
        for (int j = 0; j < (SWAP ? UNITS_M : UNITS_N); ++j)
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int r = 0; r < 4; ++r) {
                    const uint32_t c_row = tcgemm_fragment_c_row(lane, r);
                    const uint32_t c_col = tcgemm_fragment_c_col(lane, r);
                    if (SWAP) /* the half is one of rows of D: which of two products */
                        staged[(8 * half + c_col) * pitch + col_of_unit(j, c_row / 8, c_row % 8)] =
                            TYPE::value(c[j][2 * i + half], r);
                    else
                        staged[c_row * pitch + col_of_unit(j, half, c_col)] =
                            TYPE::value(c[i][2 * j + half], r);
                }
    }

    /* ---- epilogue: D = alpha * c + beta * C, 16 rows of a warp at a time ---- */

    __device__ __forceinline__ void finish(const tcgemm_gpu_args_t &args, char *memory) {
        enum {
            COLS = SWAP ? WM : WN,                        /* of D in a warp */
            PITCH = COLS + (sizeof(scalar) == 8 ? 4 : 8), /* scalars; the lanes of a store spread */
            PIECE = 16 / sizeof(scalar),                  /* columns that a lane stores at once */
            LANES = COLS / PIECE,                         /* for a row */
            ROWS = 32 / LANES,
            LINES = 16 / ROWS, /* of a lane, of 16 rows */
            UNITS = SWAP ? UNITS_N : UNITS_M,
            STAGED = THREADS / 32 * 16 * PITCH * sizeof(scalar), /* bytes; behind them C's */
            PIECES = (SLICES * STAGES * STAGE_BYTES - STAGED) / (THREADS * PIECE * sizeof(out)),
            AHEAD = PIECES < LINES ? PIECES : LINES /* pieces of C that a lane asks for early */
        };
        static_assert(!TYPE::LONG || AHEAD > 0, "C fits behind D where the operands were");
        struct alignas(sizeof(out) * PIECE) piece_t {
            out v[PIECE];
        };
        const tcgemm_batch_tile_t tile = which_tile(args);
        const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const int64_t row0 = (int64_t)tile.at.m * ROWS_D + first_row_of(warp);
        const int64_t col0 = (int64_t)tile.at.n * COLS_D + first_col_of(warp);
        scalar *staged = (scalar *)memory + warp * (16 * PITCH);
        scalar alpha, beta;
        scalars(args, &alpha, &beta);
        const uint32_t col_in_warp = lane % LANES * PIECE;
        const int64_t col = col0 + col_in_warp;
        const int64_t cols_left = args.n - col;
        out *d = (out *)args.d + tile.batch * args.stride_d + col;
        const out *from = args.c ? (const out *)args.c + tile.batch * args.stride_c + col : NULL;
        const bool whole = !TYPE::LONG && cols_left >= PIECE && args.vector_d >= sizeof(piece_t) &&
                           (!from || args.vector_c >= sizeof(piece_t));
        /* The row of D that line x of unit i is. */
        auto row_of = [&](int i, int x) {
            const uint32_t line = lane / LANES + x * ROWS;
            return row0 + row_of_unit(i, line / 8, line % 8);
        };
        /* C of f64, which is as long as all else, comes through shared memory, a lane's own pieces
         * AHEAD of one another: loads among stores, which may be to the same matrix, would be
         * waited for. */
        piece_t *const early = (piece_t *)(memory + STAGED) + threadIdx.x;
        int at = 0;
        auto fetch = [&](int i, int x) {
            if constexpr (TYPE::LONG) {
                const int64_t row = row_of(i + x / LINES, x % LINES);
                const uint32_t to = tcgemm_smem_address(early + at * THREADS);
#pragma unroll
                for (int e = 0; e < PIECE; ++e)
                    if (i * LINES + x < UNITS * LINES && row < args.m && e < cols_left)
                        tcgemm_cp_async_8(to + 8 * e, from + row * args.ldc + e, 8);
                commit();
                at = at + 1 < AHEAD ? at + 1 : 0;
            }
        };

        if (TYPE::LONG && from)
#pragma unroll 1
            for (int x = 0; x < AHEAD; ++x)
                fetch(0, x);
#pragma unroll
        for (int i = 0; i < UNITS; ++i) {
            __syncwarp();
            stage(staged, PITCH, i, lane);
            __syncwarp();
#pragma unroll TYPE::LONG ? 1 : 2
            for (int x = 0; x < LINES; ++x) {
                const int64_t row = row_of(i, x);
                piece_t old;
                if constexpr (TYPE::LONG)
                    if (from) {
                        tcgemm_cp_async_wait<AHEAD - 1>();
                        old = early[at * THREADS];
                        fetch(i, x + AHEAD);
                    }
                if (row >= args.m || cols_left <= 0)
                    continue;
                scalar v[PIECE];
#pragma unroll
                for (int e = 0; e < PIECE; ++e)
                    v[e] = alpha * staged[(lane / LANES + x * ROWS) * PITCH + col_in_warp + e];
                if (whole) {
                    piece_t piece;
                    if (from) {
                        piece = *(const piece_t *)(from + row * args.ldc);
#pragma unroll
                        for (int e = 0; e < PIECE; ++e)
                            v[e] += beta * TYPE::load(piece.v[e]);
                    }
#pragma unroll
                    for (int e = 0; e < PIECE; ++e)
                        piece.v[e] = TYPE::store(v[e]);
                    tcgemm_store_piece(d + row * args.ldd, piece);
                } else {
#pragma unroll
                    for (int e = 0; e < PIECE; ++e)
                        if (e < cols_left) {
                            if (from)
                                v[e] += beta * TYPE::load(TYPE::LONG ? old.v[e]
                                                                     : from[row * args.ldc + e]);
                            d[row * args.ldd + e] = TYPE::store(v[e]);
                        }
                }
            }
        }
    }

    /* ---- the epilogue of f64 on sm_90 for a whole warp's part of D, out of registers ---- */

    /* The sums of a lane are pairs of neighbours in rows of D, LINES of them: two n of a product,
     * or with SWAP two m, which lie side by side in an A with m contiguous. A quad has 64 bytes of
     * a row, with SWAP eight lanes 128; shared memory would have cost more than it saves. */
    __device__ __forceinline__ void finish_pairs(const tcgemm_gpu_args_t &args) {
        enum {
            LINES = SWAP ? 4 * UNITS_N : 2 * UNITS_M,
            IN_LINE = SWAP ? UNITS_M : 2 * UNITS_N,
            NEXT = SWAP ? 16 : 8, /* columns from one pair of a line to the next */
            PAIRS = LINES * IN_LINE,
            AT_ONCE = PAIRS < 8 ? PAIRS : 8 /* pairs of C that are asked for together */
        };
        const tcgemm_batch_tile_t tile = which_tile(args);
        const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const uint32_t c_row = tcgemm_fragment_c_row(lane, 0);
        const uint32_t c_col = tcgemm_fragment_c_col(lane, 0);
        const int64_t row0 = (int64_t)tile.at.m * ROWS_D + first_row_of(warp);
        const int64_t col0 = (int64_t)tile.at.n * COLS_D + first_col_of(warp) +
                             (SWAP ? of_side_a(0, 0, c_row) : of_side_b(0, 0, c_col));
        double *const d = (double *)args.d + tile.batch * args.stride_d + row0 * args.ldd + col0;
        const double *const from =
            args.c ? (const double *)args.c + tile.batch * args.stride_c + row0 * args.ldc + col0
                   : NULL;
        scalar alpha, beta;
        scalars(args, &alpha, &beta);
        auto row_of = [&](int line) -> int64_t {
            return SWAP ? of_side_b(line / 4, line / 2 % 2, c_col + line % 2)
                        : of_side_a(line / 2, line % 2, c_row);
        };
        double2 old[2][AT_ONCE];
        auto fetch = [&](int first) {
#pragma unroll
            for (int p = first; p < first + AT_ONCE; ++p)
                old[first / AT_ONCE % 2][p - first] =
                    *(const double2 *)(from + row_of(p / IN_LINE) * args.ldc + p % IN_LINE * NEXT);
        };
        if (from)
            fetch(0);
#pragma unroll
        for (int first = 0; first < PAIRS; first += AT_ONCE) {
            if (from && first + AT_ONCE < PAIRS)
                fetch(first + AT_ONCE);
#pragma unroll
            for (int p = first; p < first + AT_ONCE; ++p) {
                const int line = p / IN_LINE, x = line % 2;
                const sum(&of_product)[SUMS] =
                    SWAP ? c[p % IN_LINE][line / 2] : c[line / 2][p % IN_LINE];
                double2 v = make_double2(alpha * of_product[SWAP ? x : 2 * x],
                                         alpha * of_product[SWAP ? x + 2 : 2 * x + 1]);
                if (from) {
                    v.x += beta * old[first / AT_ONCE % 2][p - first].x;
                    v.y += beta * old[first / AT_ONCE % 2][p - first].y;
                }
                *(double2 *)(d + row_of(line) * args.ldd + p % IN_LINE * NEXT) = v;
            }
        }
    }

    /* Whether all of a warp's part is inside D, and pairs are on 16-byte boundaries there and in C.
     */
    __device__ __forceinline__ bool has_pairs(const tcgemm_gpu_args_t &args) const {
        const tcgemm_tile_coord_t at = which_tile(args).at;
        const uint32_t warp = threadIdx.x / 32;
        return args.vector_d >= 16 && (!args.c || args.vector_c >= 16) &&
               (int64_t)at.m * ROWS_D + first_row_of(warp) + (SWAP ? WN : WM) <= args.m &&
               (int64_t)at.n * COLS_D + first_col_of(warp) + (SWAP ? WM : WN) <= args.n;
    }

    /* ---- the sums of all slices, in their order, become those of the first ---- */

    __device__ __forceinline__ void add_slices(sum *memory, uint32_t slice) {
        enum { COUNT = UNITS_M * 2 * UNITS_N * SUMS };
        static_assert((SLICES - 1) * COUNT * THREADS * sizeof(sum) <=
                          (size_t)SLICES * STAGES * STAGE_BYTES,
                      "the sums fit where the operands were");
        sum *const own = memory + threadIdx.x % THREADS;
        if (slice > 0)
#pragma unroll
            for (int i = 0; i < COUNT; ++i)
                own[((slice - 1) * COUNT + i) * THREADS] =
                    c[i / SUMS / (2 * UNITS_N)][i / SUMS % (2 * UNITS_N)][i % SUMS];
        __syncthreads();
        if (slice == 0)
#pragma unroll
            for (int other = 0; other < SLICES - 1; ++other)
#pragma unroll
                for (int i = 0; i < COUNT; ++i)
                    c[i / SUMS / (2 * UNITS_N)][i / SUMS % (2 * UNITS_N)][i % SUMS] +=
                        own[(other * COUNT + i) * THREADS];
        __syncthreads(); /* where they were, D is staged */
    }

    /* ---- one tile of D ---- */

    /* Elements from one k to the next. */
    static __device__ __forceinline__ int64_t k_step(int form, int64_t ld) {
        return form == TCGEMM_FORM_K ? 1 : ld;
    }

    /* The tile of this block. Worked out twice, so that nothing of it occupies registers meanwhile.
     */
    static __device__ __forceinline__ tcgemm_batch_tile_t
    which_tile(const tcgemm_gpu_args_t &args) {
        return tcgemm_batch_raster(&args.raster, tcgemm_block_index());
    }

    __device__ __forceinline__ void run(const tcgemm_gpu_args_t &args) {
        extern __shared__ __align__(1024) char memory[];
        const tcgemm_batch_tile_t tile = which_tile(args);
        const uint32_t lane = threadIdx.x % 32;
        const uint32_t warp = (SLICES > 1 ? threadIdx.x % THREADS : threadIdx.x) / 32;

        const uint32_t slice = SLICES > 1 ? threadIdx.x / THREADS : 0;
        smem = tcgemm_smem_address(memory) + slice * (STAGES * STAGE_BYTES);
        const tcgemm_part_t part = tcgemm_part_of_k(tile.batch, args.splits, args.k, args.split_k);
        blocks = tcgemm_pipeline_blocks(part.k, SLICES * BK);
        tail = (int32_t)(part.k - (int64_t)(blocks - 1) * (SLICES * BK));
        if (SLICES > 1) {
            tail -= (int32_t)slice * BK;
            tail = tail < BK ? tail : BK;
        }
        const int64_t first_k = part.first + slice * BK;
        const int64_t at_a =
            part.item * args.stride_a + first_k * k_step(SWAP ? B_FORM : A_FORM, args.lda);
        const int64_t at_b =
            part.item * args.stride_b + first_k * k_step(SWAP ? A_FORM : B_FORM, args.ldb);
        const char *const first = (const char *)args.a + at_a * ELEMENT_BYTES;
        const char *const other = (const char *)args.b + at_b * ELEMENT_BYTES;
        const int64_t m0 = (int64_t)tile.at.m * ROWS_D, n0 = (int64_t)tile.at.n * COLS_D;
        const bool whole = TYPE::WHOLE || (args.whole_a && args.whole_b);
        const bool halves = ELEMENT_BYTES == 8 && !whole; /* rows begin on 8 bytes at least */
        if (SWAP) {
            load_a.begin(other, args.ldb, n0, args.n - n0, halves);
            load_b.begin(first, args.lda, m0, args.m - m0, halves);
        } else {
            load_a.begin(first, args.lda, m0, args.m - m0, halves);
            load_b.begin(other, args.ldb, n0, args.n - n0, halves);
        }
        read_a.begin(lane, warp / WARPS_N * WM);
        read_b.begin(lane, warp % WARPS_N * WN);
#pragma unroll
        for (int i = 0; i < UNITS_M; ++i)
#pragma unroll
            for (int j = 0; j < 2 * UNITS_N; ++j)
#pragma unroll
                for (int r = 0; r < SUMS; ++r)
                    c[i][j][r] = 0;

        tcgemm_wait_for_grids();
        if (whole)
            run_aligned<false>();
        else if constexpr (ELEMENT_BYTES == 8)
            run_aligned<true>();
        else
            run_any(args.vector_a < args.vector_b ? args.vector_a : args.vector_b);

#if TCGEMM_HAVE_CP_ASYNC
        tcgemm_cp_async_wait<0>();
#endif
        __syncthreads();
        if (SLICES > 1) {
            add_slices((sum *)memory, slice);
            if (slice > 0)
                return;
        }
        tcgemm_let_next_grid_begin();
        if constexpr (TYPE::LONG)
            if (has_pairs(args)) {
                finish_pairs(args);
                return;
            }
        finish(args, memory);
    }
};

#endif
