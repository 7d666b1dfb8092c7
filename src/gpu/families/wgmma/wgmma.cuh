/* wgmma.cuh - the production kernel of sm_90a.
 *
 * Products of whole warpgroups, wgmma, whose operands stay in shared memory, where the tensor
 * memory accelerator (TMA) puts them by box. One body for all types; rows.def names types and
 * tiles. On sm_90 the planner takes it for all but small and thin products whose operands would
 * have to be packed first (bytes, NN): these are for mma-pipelined. Where it stands beside
 * cuBLASLt, class by class: docs/kernels.md; what it misses: bench/results/notes.md.
 *
 *     grid        persistent: a block an SM (small tiles: two), tiles gridDim.x apart, in the order
 *                 of tile/raster.h
 *     block       a warpgroup, of which one thread fetches (of `warps` two, whose warps all do),
 *                 and one or two that multiply:
 *
 *     share  128 x 256 (224)            turns  128 x 128 (176, 192)       swap  32 x 128
 *     +---------------------------+     +-------------+-------------+     +------+------+
 *     | consumer 0: 64 x 256      |     | consumer 0: | consumer 1: |     | 0:   | 1:   |
 *     +---------------------------+     | this tile   | the next    |     | 32 x | 32 x |
 *     | consumer 1: 64 x 256      |     | 128 x 128   | 128 x 128   |     | 64   | 64   |
 *     +---------------------------+     +-------------+-------------+     +------+------+
 *     m64n256 x 32 bytes of k           two m64n128                       m64n32 of D transposed:
 *                                                                         few rows, no row idle
 *
 * A slot of the ring is one block of k, 128 bytes of it (64 f16, 128 s8, 32 tf32), four steps:
 *
 *     128 x 256   0        16384      49152         98304    147456   196608     229376     229456
 *                 | A slot 0 | B slot 0 | A, B slot 1 | slot 2 | slot 3 | places of | barriers |
 *                 | 16 KiB   | 32 KiB   |             |        |        | 8 warps   |
 *     128 x 128   0        16384      32768         65536  ..  163840   196608     229376    229488
 *                 | A slot 0 | B slot 0 | A, B slot 1 |  ..    | slot 5 | places of | barriers |
 *                 | 16 KiB   | 16 KiB   |             |        |        | 8 warps   |
 *
 * A slot has two barriers. `filled`: the producer arrives, and as many bytes as it announced;
 * consumers wait. `emptied`: each warp that reads the slot arrives once its products have ended;
 * the producer waits. In `turns` each consumer has one more: the other arrives when it has issued
 * the last products of its tile. Time in `turns`, tiles t of four blocks of k, 6 slots:
 *
 *     producer      t0 t0 t0 t0 t1 t1|t1 t1 t2 t2 ..    as slots become free
 *     consumer 0    | products of t0 | D of t0 ......... | products of t2 | D of t2
 *     consumer 1    | waits          | products of t1    | D of t1 ...... | products of t3
 *
 * While one writes D the other has the tensor cores. In `share` both write at once and the tensor
 * cores rest, but the ring fills up for the next tile meanwhile. One group of products is always
 * under way: the slot of block b - 1 is given back when those of block b have been issued.
 *
 * Layouts: a row of a box is 128 bytes of k, or 64 elements of m (n); the descriptor says which, so
 * 16-bit operands are read as they lie in all four layouts (but B with n contiguous by tiles of
 * whole boxes of 64 columns alone: shape.h). The instruction takes tf32 and bytes
 * with k contiguous alone, from shared memory; but its left operand may come from registers, which
 * are loaded from a box however it lies (`take`). So tf32 may have m contiguous in A, or n in B
 * where the tile is swapped:
 *
 *     consumer    | reads half 0 | reads half 1 | reads half 0 of the next block | ..
 *     its products               | half 0       | half 1         | half 0 ...
 *
 * The other operand of 16 bit, where its side of the tile is 16 rows or columns, may be brought by
 * threads (`gather`): element by element, so that layout, pitch and pointer do not matter, laid
 * down as a box would have it, k contiguous:
 *
 *     fetching thread    a box of the large operand                 -> filled, with its bytes
 *     warp b % 3 + 1     loads block b | waits for emptied | lays it down, fences | -> filled
 *
 * In tiles called `warps`, of 16 bit and tf32, warps bring both operands as they lie (lines.cuh),
 * for no box can fetch rows that begin anywhere: a line of 128 bytes is one cp.async of a warp, a
 * word a lane, from the word that it begins in. What begins or ends inside a word is moved to its
 * place, and filled up with zeros, once it is there; elements of 32 bits are rounded to tf32 then,
 * and turned round where k is not contiguous:
 *
 *     ring            slot 0    | slot 1    | slot 2    | slot 3    | slot 4
 *     warps 0 .. 3,   settle,   | under way | under way | bring     | wait for emptied
 *     32 lines of A   fence     |           |           |           |
 *     each; 4 .. 7    -> filled |           |           |           |
 *     of B (64 x 64: 0, 1; 2, 3)
 *
 * An SM has some 20 bytes a clock so, of 70 by boxes; but nothing has to be packed, which takes a
 * launch of its own, and three trips of each element to the memory instead of one.
 *
 * Bytes, and the other operand of tf32, are transposed while they are packed (steps/pack.cu). TMA
 * rounds f32 to tf32 (docs/numerics.md). fp8 comes packed as bf16, or, where a caller allows short
 * sums, as it is: they are brought to f32 block by block (`promote`).
 *
 * Edges: a box that crosses the end of m, n or k ends in zeros; a part of k is whole blocks
 * (tile/split.h). Pointers and rows must be on 16-byte boundaries, else they are packed first.
 *
 * D leaves by boxes, where its rows and those of C begin and end on 16 bytes. A warp has 16 rows of
 * a tile, and in shared memory two places of 16 rows (8 in 128 x 192) by 128 bytes:
 *
 *     lanes        lay box 0 in place 0 | box 1 in place 1 | box 2 in place 0 once it is read | ...
 *     lane 0                            | sends box 0      | sends box 1                      | ...
 *
 * C comes to the same places by boxes, the first two while the tile is multiplied, each next one
 * when D has left from there; the lanes add it where it lies:
 *
 *     lane 0       asks for C 0, 1 | products |        sends D 0, asks for C 2 | sends D 1 ..
 *     lanes                        | products | add C 0 | add C 1              | add C 2 ..
 *
 * Of 176 or 224 columns the last box begins inside the one before, and their elements leave twice,
 * the same; a C that D replaces has come to both boxes before the first of them leaves.
 *
 * Else D is laid down as boxes and leaves by pieces of rows, some at a time; what lies beyond the
 * edge is left out. Where registers are short (128 x 192; short sums), C is added in registers, two
 * elements at a time, if n is even and rows allow it; so D of all tiles without boxes leaves.
 *
 * In `cluster` a tile is summed up by the blocks of a cluster, its ranks, each of which multiplies
 * a share of the blocks of k. Every thread lays its sums down beside the ring, four at a time:
 * a piece is that of 128 threads. The ranks meet, and each takes every so many-th piece from
 * the shared memory of all of them, adds it up in the order of ranks and writes it to D:
 *
 *     rank 0      products | lays down | meets | adds pieces 0, 4, 8 .. | meets
 *     rank 1      products | lays down | meets | adds pieces 1, 5, 9 .. | meets
 *     ..
 *
 * Nobody leaves before all have read, hence the second meeting; D is written meanwhile.
 *
 * In pairs, clusters of two that a launch of tiles of 128 columns and more may ask for, rank r
 * takes row 2 p + r of tiles, and both want the same blocks of B. Each fetches half of them, for
 * both (multicast), so that an SM draws less from the L2. That pays where rows of the operands
 * begin inside its lines:
 *
 *     rank 0      waits for emptied | A of its tile | first half of B  -> both
 *     rank 1      waits for emptied | A of its tile | second half of B -> both
 *
 * So `filled` expects all of B, `emptied` counts the warps of both blocks, each of which arrives at
 * both, and the blocks meet before the first box and after the last.
 *
 * A launch may begin before the one ahead has ended: its barriers are made, then it waits
 * (ptx/griddepcontrol.cuh).
 *
 * Tried (H200, bf16_f32, NT; ratios to cuBLASLt 13.1 in the same run):
 *     first version, 128 x 256 share          0.92 at 8192^3, 0.85 at 4096^3
 *     turns, 128 x 128                        1.05 at 8192^3; at 4096^3 1.04 to 1.09, share 0.98
 *     pairs, where all rows are aligned       share 0.98 to 1.0, turns 1.01 against 1.05 without:
 *                                             no gain, and a block waits for another
 *     ... with a release fence an arrival     0.6
 *     24 registers for the producer           spills; 40 do not
 *     an epilogue that asks at each element   40 KB of code, fetched anew by each launch: 256^3 in
 *                                             8.8 us; straight code, four cases apart: 5.0, and
 *                                             4096^3 from 719 to 737 TFLOP/s
 *     L2 promotion to 256 bytes               341 TFLOP/s where rows are 16 bytes off a multiple of
 *                                             128; to 128, or none: 395; aligned: all the same
 *     rows 16 bytes off a multiple of 32      boxes come at half the speed: packed at 128 bytes
 *     D by boxes, not from registers          2048^3 30.0 to 25.9 us, 16384 x 256 x 256 10.8 to
 *                                             8.5; bf16 out 28.8 to 25.1, 11.0 to 6.4
 *     C by boxes, not by registers, H100      bf16 4096 x 4096 x 256 48 to 33 us, 4096^3 198 to
 *                                             183; in 128 x 192 ptxas spills, of e4m3 the loop
 *                                             is 7 % slower
 *     128 x 176 and 224, H100                 bf16 NT 512 x 28672 x 8192 380 to 346 and 358 us,
 *                                             5120^3 408 to 380 by 224; NN, whose boxes then begin
 *                                             inside lines of the L2, 377 to 430 and 377
 *     odd rows of D eight at a time           bf16 185^3 on 128 x 128 15.8 to 9.3 us, 1001^3 21 to
 *                                             15; in turns and always: 8191^3 2 to 4 % slower
 *     even ones in pairs, whole, H200         bf16 4096 x 4090 x 512 91 to 64 us, with C 4090^2 x
 *                                             4096 235 to 220; in 128 x 192, where C is not added
 *                                             by boxes, 4096 x 4096 x 256 66 to 124 (pairs, sums)
 *     C brought to the L2 beside products     4095^3 267 to 274; no gain but in 128 x 192
 *     tf32 by registers, beside a copy        NN 4096^3 410 to 371 us, 1024^3 16.1 to 11.7, 256 x
 *     of that operand                         65536 x 320 96 to 48; TT 4096^3 407 to 362
 *     a ring of all shared memory for few     bf16 1 x 4096 x 4096 14.4 to 11.3 us, 64 rows 15.7 to
 *     rows: a block has 104 KB under way      12.1, 16 x 4096 x 14336 44 to 31 (operands in no
 *                                             cache)
 *     fp8, two sets of short sums             4096^3 e4m3_bf16 1143 to 1196 TFLOP/s (packed to
 *                                             bf16: 540)
 *     threads that gather, waiting for each   4096 x 8 x 4096 NN 33.6 us; all 32 loads of a block
 *     chunk of a block, before the next       at once 20.5, two blocks a warp under way 18.5 (but
 *                                             30 KB of library a type); by boxes, NT, 11.7
 *     tiles of 128 x 128, 16 x 64 in clusters 512^2 x 32768 35 to 42 us, 16 x 4096 x 14336 30.7 to
 *                                             31.5: an H200 holds 15 clusters of 8, 30 of 4
 *     warps that bring both operands, H200    bf16 NN 110^3 * 1024 63 to 35 us, 612 x 100 x 362 *
 *                                             256 136 to 90, 360 x 2852 x 190 9.4 to 6.3, 254 x
 *                                             3080 x 67 6.9 to 5.5; 4094^3 512, packed 225
 *     ... each one side, every other line     1.09 times as fast in the mean of 550; 4096^3 559 to
 *     shifted alone; whole blocks apart       466, 1023^3 * 8 odd 1.1 times
 *     ... by pieces of 16 bytes to a ring     shared memory at its limit: 4094^3 577; 111^3 * 1024
 *     of their own, from there to the slots   48 to 43
 *     ... twelve warps, three blocks at once  4095^3 850 us, eight 647: few registers, no gain
 *     ... four warps, one tile a consumer     4094^3 710 us, eight 608, two slots to spare 512
 *     ... a tile of 64 x 64, two blocks       700 odd products 1.14 to 1.16 times as fast, tf32
 *                                             1.17; three blocks of four slots 0.95 of that
 *     ... rows of D without a C apart         128 x 128 1.017 times as fast, 64 x 64 1.005
 *     ... the last line with its own loads    a branch a line: 174^3 * 1024 265 us, without 136
 *     ... two pointers, no compare a line     4096^3 460 to 559 us: multiply-adds in their place
 *     launches that overlap                   512^3 4.57 to 3.81 us, 1024^3 6.93 to 6.33, 2048^3
 *                                             29.2 to 28.6
 */
#ifndef TCGEMM_WGMMA_CUH
#define TCGEMM_WGMMA_CUH

#include "gpu/arch.cuh"
#include "gpu/elements.cuh"
#include "gpu/families/wgmma/lines.cuh"
#include "gpu/families/wgmma/shape.h"
#include "gpu/ptx/cluster.cuh"
#include "gpu/ptx/cp_async.cuh"
#include "gpu/ptx/griddepcontrol.cuh"
#include "gpu/ptx/ldmatrix.cuh"
#include "gpu/ptx/mbarrier.cuh"
#include "gpu/ptx/setmaxnreg.cuh"
#include "gpu/ptx/shared.cuh"
#include "gpu/ptx/tma.cuh"
#include "gpu/ptx/wgmma.cuh"
#include "gpu/tensor_map.h"
#include "tile/pipeline.h"
#include "tile/raster.h"
#include "tile/split.h"
#include "tile/swizzle.h"

/* TYPE, see wgmma_types.cuh:
 *     KIND, SWAPPED_KIND   of the instruction, and of the one for B^T A^T
 *     sum                  an accumulator: float or uint32_t
 *     scalar               alpha, beta and the arithmetic of D
 *     out                  an element of C and D
 *     ELEMENT_BYTES        of an element of A and B
 *     PROMOTES             1: the instruction's sums are short; those of a block of k are added up
 *     load(out), store(s)  conversions of an element of C and D
 *
 * LEFT x RIGHT is the tile as the instruction sees it: the tile of D, or with SWAP the tile of its
 * transpose, A standing for the columns of B and B for the rows of A. D leaves by boxes of BOX_ROWS
 * rows, if that is not 0. RANKS: the most blocks of a cluster, 1 without clusters.
 */
template <class TYPE, int LEFT, int RIGHT, int CONSUMERS, int TURNS, int STAGES, int RANKS,
          int LEFT_FORM, int RIGHT_FORM, int SWAP, int BOX_ROWS, int BY_WARPS>
struct wgmma_kernel {
    typedef typename TYPE::sum sum;
    typedef typename TYPE::scalar scalar;
    typedef typename TYPE::out out;
    enum {
        KIND = SWAP ? TYPE::SWAPPED_KIND : TYPE::KIND,
        ROW = 128, /* bytes */
        BK = ROW / TYPE::ELEMENT_BYTES,
        ATOM = ROW / TYPE::ELEMENT_BYTES, /* elements of a row where m (n) is contiguous */
        STEPS = 4,                        /* products of 32 bytes of k in a block */
        STEP_K = BK / STEPS,              /* elements of k of one */
        SHARERS = TURNS ? 1 : CONSUMERS,  /* warpgroups that share a tile */
        UNITS = LEFT / 64 / SHARERS,
        THREADS = TCGEMM_WGMMA_THREADS(LEFT, RIGHT, CONSUMERS, BY_WARPS),
        FETCHERS = THREADS / 32 - CONSUMERS * 4, /* warps */
        LEFT_BYTES = TCGEMM_WGMMA_LINES(LEFT) * ROW,
        RIGHT_BYTES = TCGEMM_WGMMA_LINES(RIGHT) * ROW,
        STAGE_BYTES = LEFT_BYTES + RIGHT_BYTES,
        PLACE_BYTES = BOX_ROWS * ROW,
        PLACES_AT = STAGES * STAGE_BYTES,
        PIECES = SHARERS * UNITS * RIGHT / 8, /* of four sums of each thread */
        PIECE_BYTES = 128 * 16,
        SUMS_AT = PLACES_AT + CONSUMERS * 4 * 2 * PLACE_BYTES,
        ENDS_AT = SUMS_AT + (RANKS > 1 ? PIECES * PIECE_BYTES : 0),
        SLOT_ENDS = STAGE_BYTES / ROW * 4, /* a word behind each line */
        BARRIERS_AT = ENDS_AT + TCGEMM_WGMMA_ENDS(LEFT, RIGHT, STAGES, BY_WARPS),
        SMEM_BYTES = BARRIERS_AT + TCGEMM_WGMMA_BARRIERS(CONSUMERS, STAGES),
        SUMS = UNITS * RIGHT / 2, /* of a thread */
        C_BOXES = BOX_ROWS > 0 && TCGEMM_WGMMA_C_BOXES(TYPE::PROMOTES, SUMS),
        /* It may be, the launch says. */
        PAIRED =
            TCGEMM_WGMMA_PAIRED(8 * TYPE::ELEMENT_BYTES, RIGHT, CONSUMERS, SWAP, RANKS, BY_WARPS),
        LEFT_ARRIVE = LEFT_FORM == TCGEMM_FORM_K ? LEFT * ROW : LEFT_BYTES,
        RIGHT_ARRIVE = RIGHT_FORM == TCGEMM_FORM_K ? RIGHT * ROW : RIGHT_BYTES,
        ATOM_BYTES = BK * ROW,
        PROMOTES = TYPE::PROMOTES,
        PARTS = PROMOTES * (UNITS * RIGHT <= 128 ? 2 : 1), /* sets of short sums */
        GATHERS = TCGEMM_WGMMA_GATHERS(8 * TYPE::ELEMENT_BYTES, RIGHT),
        MANY_REGISTERS = (1 + PARTS) * UNITS * RIGHT >= 256 && CONSUMERS == 2,
        /* How operands lie in shared memory; in memory it is LEFT_FORM and RIGHT_FORM. */
        TURNS_ROUND = BY_WARPS && TYPE::ELEMENT_BYTES == 4,
        LEFT_LIES = TURNS_ROUND ? (int)TCGEMM_FORM_K : LEFT_FORM,
        RIGHT_LIES = TURNS_ROUND ? (int)TCGEMM_FORM_K : RIGHT_FORM,
        BY_REGISTERS = LEFT_LIES == TCGEMM_FORM_MN && TYPE::ELEMENT_BYTES == 4,
        TURNED = BY_REGISTERS && SWAP, /* a lane has neighbours of a row of D */
        PIECE = TURNED ? 2 * UNITS : 1 /* so many */
    };
    static_assert(LEFT_FORM == TCGEMM_FORM_K || TYPE::ELEMENT_BYTES != 1, "no bytes by m");
    static_assert(!BY_REGISTERS || BOX_ROWS != 8, "16 rows of a warp lie together");
    static_assert(RIGHT_LIES == TCGEMM_FORM_K || TYPE::ELEMENT_BYTES == 2, "only 16 bit by n");
    static_assert(LEFT % (64 * SHARERS) == 0, "whole instructions");
    static_assert(!TURNS || (CONSUMERS == 2 && !PROMOTES), "one after the other");
    static_assert(RANKS == 1 || (!TURNS && sizeof(sum) == 4), "a tile at a time, of all threads");

    uint32_t smem;

    /* ---- the ring ---- */

    __device__ __forceinline__ uint32_t slot_at(uint32_t slot) const {
        return smem + slot * STAGE_BYTES;
    }
    __device__ __forceinline__ uint32_t filled(uint32_t slot) const {
        return smem + BARRIERS_AT + slot * 16;
    }
    __device__ __forceinline__ uint32_t emptied(uint32_t slot) const {
        return filled(slot) + 8;
    }

    /* Consumer 0 and 1 take turns with the tiles: the next may begin. */
    __device__ __forceinline__ uint32_t turn_of(uint32_t consumer) const {
        return smem + BARRIERS_AT + STAGES * 16 + consumer * 8;
    }

    /* A box of C has come to a place of the warp. */
    __device__ __forceinline__ uint32_t c_filled(uint32_t warp, uint32_t place) const {
        return smem + BARRIERS_AT + STAGES * 16 + CONSUMERS * 8 + (2 * warp + place) * 8;
    }

    /* A place in the ring, and how often it went round. */
    struct cursor {
        uint32_t slot, parity;
        __device__ __forceinline__ void skip(uint32_t blocks) {
            slot += blocks;
            parity ^= slot / STAGES & 1;
            slot %= STAGES;
        }
        __device__ __forceinline__ void advance(void) {
            if (++slot == STAGES) {
                slot = 0;
                parity ^= 1;
            }
        }
    };

    static __device__ __forceinline__ bool gathers(const tcgemm_gpu_args_t &args) {
        return GATHERS && args.gathers != 0;
    }

    __device__ __forceinline__ void make_barriers(const tcgemm_gpu_args_t &args) {
        for (uint32_t slot = 0; slot < STAGES; ++slot) {
            tcgemm_mbarrier_init(filled(slot), BY_WARPS ? FETCHERS : gathers(args) ? 2 : 1);
            tcgemm_mbarrier_init(emptied(slot), SHARERS * 4 * of_pair());
        }
        for (uint32_t consumer = 0; consumer < CONSUMERS; ++consumer)
            tcgemm_mbarrier_init(turn_of(consumer), 4);
        for (uint32_t place = 0; C_BOXES && place < 2 * 4 * CONSUMERS; ++place)
            tcgemm_mbarrier_init(c_filled(place / 2, place % 2), 1);
        tcgemm_mbarrier_fence_init();
    }

    /* ---- tiles ---- */

    /* Blocks that share their blocks of B: 2 in pairs. */
    static __device__ __forceinline__ uint32_t of_pair(void) {
        return PAIRED ? tcgemm_cluster_ranks() : 1;
    }

    struct work {
        uint32_t index;      /* of the matrix of D: item and part */
        uint32_t blocks;     /* of k, that this block multiplies */
        int32_t item, first; /* of the batch; element of k */
        int64_t left, right; /* first row and column */
        bool is_shaded; /* its D may take its time: the other consumer's products take longer */
    };

    static __device__ __forceinline__ uint32_t num_tiles(const tcgemm_gpu_args_t &args) {
        return args.raster.tiles.by * (uint32_t)args.batch * args.splits.by;
    }

    static __device__ __forceinline__ work find_work(const tcgemm_gpu_args_t &args, uint32_t tile) {
        const tcgemm_batch_tile_t at = tcgemm_batch_raster(&args.raster, tile);
        const tcgemm_part_t part = tcgemm_part_of_k(at.batch, args.splits, args.k, args.split_k);
        work w;
        w.index = at.batch;
        w.blocks = tcgemm_pipeline_blocks(part.k, BK);
        w.item = (int32_t)part.item;
        w.first = (int32_t)part.first;
        if (RANKS > 1) {
            const tcgemm_share_t share =
                tcgemm_share_of(w.blocks, tcgemm_cluster_rank(), tcgemm_cluster_ranks());
            w.first += (int32_t)share.first * BK;
            w.blocks = share.count;
        }
        const uint32_t row = PAIRED ? at.at.m * of_pair() + tcgemm_cluster_rank() : at.at.m;
        w.left = (int64_t)(SWAP ? at.at.n : row) * LEFT;
        w.right = (int64_t)(SWAP ? row : at.at.n) * RIGHT;
        w.is_shaded = false;
        return w;
    }

    /* Those of a block, of all blocks of a cluster the same, begin here and are so far apart. */
    static __device__ __forceinline__ uint32_t first_tile(void) {
        return PAIRED || RANKS > 1 ? blockIdx.x / tcgemm_cluster_ranks() : blockIdx.x;
    }
    static __device__ __forceinline__ uint32_t tile_step(void) {
        return PAIRED || RANKS > 1 ? gridDim.x / tcgemm_cluster_ranks() : gridDim.x;
    }

    /* ---- the warp that fetches ---- */

    /* One side of a block of k: one box, or one for each 64 m (n). */
    template <int FORM, int BYTES>
    static __device__ __forceinline__ void fetch(uint32_t to, const tcgemm_tensor_map_t *map,
                                                 uint32_t barrier, int32_t k, int32_t from,
                                                 int32_t item, uint64_t policy) {
        if (FORM == TCGEMM_FORM_K) {
            tcgemm_tma_load_by(to, map, barrier, k, from, item, policy);
        } else {
#pragma unroll
            for (int atom = 0; atom < BYTES / ATOM_BYTES; ++atom)
                tcgemm_tma_load_by(to + atom * ATOM_BYTES, map, barrier, from + atom * ATOM, k,
                                   item, policy);
        }
    }

    /* This rank's half of the right side, for both: half of its lines, or every other 64 n. */
    static __device__ __forceinline__ void fetch_half(uint32_t to, const tcgemm_tensor_map_t *map,
                                                      uint32_t barrier, int32_t k, int32_t from,
                                                      int32_t item) {
        const uint32_t rank = tcgemm_cluster_rank();
        if constexpr (RIGHT_FORM == TCGEMM_FORM_K) {
            tcgemm_tma_load_both(to + rank * (RIGHT / 2 * ROW), map, barrier, k,
                                 from + (int32_t)rank * (RIGHT / 2), item);
        } else {
#pragma unroll 1
            for (uint32_t atom = rank; atom < RIGHT_BYTES / ATOM_BYTES; atom += 2)
                tcgemm_tma_load_both(to + atom * ATOM_BYTES, map, barrier,
                                     from + (int32_t)atom * ATOM, k, item);
        }
    }

    static __device__ __forceinline__ void fetch_right(uint32_t to, const tcgemm_tensor_map_t *map,
                                                       uint32_t barrier, int32_t k, int32_t from,
                                                       int32_t item, uint64_t policy) {
        if (of_pair() > 1)
            fetch_half(to, map, barrier, k, from, item);
        else
            fetch<RIGHT_FORM, RIGHT_BYTES>(to, map, barrier, k, from, item, policy);
    }

    __device__ __forceinline__ void produce(const tcgemm_tensor_args_t &x) {
        const tcgemm_gpu_args_t &args = x.args;
        const tcgemm_tensor_map_t *left = SWAP ? &x.b : &x.a;
        const tcgemm_tensor_map_t *right = SWAP ? &x.a : &x.b;
        const bool left_varies = (SWAP ? args.stride_b : args.stride_a) != 0;
        const bool right_varies = (SWAP ? args.stride_a : args.stride_b) != 0;
        const uint32_t tiles = num_tiles(args);
        const uint64_t of_left = tcgemm_l2_policy(args.leaves_l2 >> (SWAP ? 1 : 0) & 1);
        const uint64_t of_right = tcgemm_l2_policy(args.leaves_l2 >> (SWAP ? 0 : 1) & 1);
        cursor at = {0, 0};
        tcgemm_tma_prefetch(left);
        if (!gathers(args))
            tcgemm_tma_prefetch(right);
        for (uint32_t tile = first_tile(); tile < tiles; tile += tile_step()) {
            const work w = find_work(args, tile);
            int32_t k = w.first;
#pragma unroll 1
            for (uint32_t block = 0; block < w.blocks; ++block) {
                tcgemm_mbarrier_wait(emptied(at.slot), at.parity ^ 1);
                tcgemm_mbarrier_arrive_expect(
                    filled(at.slot), gathers(args) ? LEFT_ARRIVE : LEFT_ARRIVE + RIGHT_ARRIVE);
                fetch<LEFT_FORM, LEFT_BYTES>(slot_at(at.slot), left, filled(at.slot), k,
                                             (int32_t)w.left, left_varies ? w.item : 0, of_left);
                if (!gathers(args))
                    fetch_right(slot_at(at.slot) + LEFT_BYTES, right, filled(at.slot), k,
                                (int32_t)w.right, right_varies ? w.item : 0, of_right);
                k += BK;
                at.advance();
            }
        }
    }

    /* ---- warps that gather ---- */

    /* A warp has every third block. Lane (r, c), c = lane % 8, has chunk c, 16 bytes of k, of every
     * fourth line from r on. */
    enum {
        GATHERERS = 3,
        CHUNK = 16 / TYPE::ELEMENT_BYTES, /* elements */
        CHUNKS = RIGHT / 4
    };
    typedef uint32_t picked[CHUNKS][CHUNK];

    /* A place in the sequence of blocks that the ring takes. */
    struct walk {
        work w;
        uint32_t tile, block;
    };

    static __device__ __forceinline__ void go(const tcgemm_gpu_args_t &args, walk &at,
                                              uint32_t blocks, uint32_t tiles) {
        at.block += blocks;
        while (at.tile < tiles && at.block >= at.w.blocks) {
            at.block -= at.w.blocks;
            at.tile += tile_step();
            if (at.tile < tiles)
                at.w = find_work(args, at.tile);
        }
    }

    /* The lane's chunks of a block, an element a register so that no load waits for another one:
     * zeros beyond k, and beyond the last line. */
    static __device__ __forceinline__ void pick(picked &v, const tcgemm_gpu_args_t &args,
                                                const walk &at) {
        enum { BYTES = TYPE::ELEMENT_BYTES };
        const bool by_k = SWAP ? args.a_trans == 0 : args.b_trans != 0;
        const int64_t ld = SWAP ? args.lda : args.ldb;
        const int64_t to_k = (by_k ? 1 : ld) * BYTES, to_line = (by_k ? ld : 1) * BYTES;
        const int64_t line = at.w.right + threadIdx.x % 32 / 8;
        const int64_t k = at.w.first + (int64_t)at.block * BK + threadIdx.x % 8 * CHUNK;
        const int64_t lines = SWAP ? args.m : args.n;
        const int64_t item = at.w.item * (SWAP ? args.stride_a : args.stride_b);
        const char *const from =
            (const char *)(SWAP ? args.a : args.b) + item * BYTES + k * to_k + line * to_line;
        const int64_t to_end = args.k - k;
#pragma unroll
        for (int i = 0; i < CHUNKS; ++i) {
            const int32_t here = line + 4 * i >= lines ? 0
                                 : to_end < CHUNK      ? (int32_t)to_end
                                                       : (int32_t)CHUNK;
#pragma unroll
            for (int j = 0; j < CHUNK; ++j)
                v[i][j] = j < here ? *(const uint16_t *)(from + i * 4 * to_line + j * to_k) : 0;
        }
    }

    __device__ __forceinline__ void lay(const picked &v, uint32_t slot) const {
        enum { IN_WORD = 4 / TYPE::ELEMENT_BYTES };
        const uint32_t lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < CHUNKS; ++i) {
            uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
            for (int j = 0; j < CHUNK; ++j)
                words[j / IN_WORD] |= v[i][j] << j % IN_WORD * (8 * TYPE::ELEMENT_BYTES);
            tcgemm_sts_128(slot_at(slot) + LEFT_BYTES + in_box(lane / 8 + 4 * i, lane % 8 * 16),
                           make_uint4(words[0], words[1], words[2], words[3]));
        }
    }

    /* The narrow operand, where it lies as no box can bring it. What a warp lays down next is under
     * way while it waits for the slot. */
    __device__ __forceinline__ void gather(const tcgemm_gpu_args_t &args, uint32_t gatherer) {
        const uint32_t tiles = num_tiles(args);
        cursor slot = {0, 0};
        walk at;
        picked v;
        at.tile = first_tile();
        at.block = 0;
        if (at.tile >= tiles)
            return;
        at.w = find_work(args, at.tile);
        go(args, at, gatherer, tiles);
        slot.skip(gatherer);
        while (at.tile < tiles) {
            pick(v, args, at);
            tcgemm_mbarrier_wait(emptied(slot.slot), slot.parity ^ 1);
            lay(v, slot.slot);
            tcgemm_tma_fence();
            __syncwarp();
            if (threadIdx.x % 32 == 0)
                tcgemm_mbarrier_arrive(filled(slot.slot));
            go(args, at, GATHERERS, tiles);
            slot.skip(GATHERERS);
        }
    }

    /* ---- warps that bring both operands ---- */

    /* Blocks under way. A consumer that waits for the oldest still holds the slot before it, and
     * one slot more lets it work meanwhile. */
    enum { UNDER_WAY = STAGES - 2, LEFT_WARPS = LEFT / 32 };
    static_assert(!BY_WARPS || (UNDER_WAY <= 4 && !SWAP), "32 bits of notes; A is the left side");
    static_assert(!BY_WARPS || FETCHERS == LEFT_WARPS + RIGHT / 32, "32 lines a warp");

    /* Each of these warps brings its lines of all blocks of one side, as they lie, and hands them
     * over as they should lie. */
    __device__ __forceinline__ void bring(const tcgemm_gpu_args_t &args) const {
        typedef wgmma_lines<TYPE::ELEMENT_BYTES> side;
        const uint32_t fetcher = __shfl_sync(0xFFFFFFFF, threadIdx.x / 32, 0) - CONSUMERS * 4;
        const bool is_right = fetcher >= LEFT_WARPS;
        const uint32_t warp = is_right ? fetcher - LEFT_WARPS : fetcher;
        const bool by_k = (is_right ? RIGHT_FORM : LEFT_FORM) == TCGEMM_FORM_K;
        const void *const base = is_right ? args.b : args.a;
        const int64_t stride = is_right ? args.stride_b : args.stride_a;
        const int64_t ld = is_right ? args.ldb : args.lda;
        const int32_t extent = (int32_t)(is_right ? args.n : args.m);
        const uint32_t own = (is_right ? LEFT_BYTES : 0) + warp * (side::COUNT * ROW);
        const uint32_t ends = smem + ENDS_AT + own / ROW * 4;
        uint32_t under_way = 0, notes = 0; /* of blocks under way, the newest lowest */
        const uint32_t tiles = num_tiles(args);
        cursor at = {0, 0}, oldest = {0, 0};
        const auto hand_over_oldest = [&] {
            --under_way;
            __syncwarp(); /* what other lanes have waited for, too */
            side::settle(by_k, slot_at(oldest.slot) + own, ends + oldest.slot * SLOT_ENDS,
                         notes >> under_way * 8, (uint32_t)ld * TYPE::ELEMENT_BYTES);
            tcgemm_tma_fence();
            __syncwarp();
            if (threadIdx.x % 32 == 0)
                tcgemm_mbarrier_arrive(filled(oldest.slot));
            oldest.advance();
        };
        for (uint32_t tile = first_tile(); tile < tiles; tile += tile_step()) {
            const work w = find_work(args, tile);
            side lines(by_k, base, w.item * stride, ld, extent, (int32_t)args.k,
                       (int32_t)warp * side::COUNT, (int32_t)(is_right ? w.right : w.left),
                       w.first);
#pragma unroll 1
            for (uint32_t block = 0; block < w.blocks; ++block) {
                tcgemm_mbarrier_wait(emptied(at.slot), at.parity ^ 1);
                lines.bring(slot_at(at.slot) + own, ends + at.slot * SLOT_ENDS);
                tcgemm_cp_async_commit();
                notes = notes << 8 | lines.note();
                lines.advance();
                at.advance();
                if (++under_way == UNDER_WAY) {
                    tcgemm_cp_async_wait<UNDER_WAY - 1>();
                    hand_over_oldest();
                }
            }
        }
        tcgemm_cp_async_wait<0>();
        while (under_way > 0)
            hand_over_oldest();
    }

    /* ---- warpgroups that multiply ---- */

    static __device__ __forceinline__ uint64_t operand(int form, uint32_t at) {
        return form == TCGEMM_FORM_K ? tcgemm_wgmma_operand(at, 0, 8 * ROW)
                                     : tcgemm_wgmma_operand(at, ATOM_BYTES, 8 * ROW);
    }

    /* Bytes from one step of k to the next. */
    static __device__ __forceinline__ constexpr uint32_t step_bytes(int form) {
        return form == TCGEMM_FORM_K ? ROW / STEPS : STEP_K * ROW;
    }

    __device__ __forceinline__ void multiply(sum (&c)[UNITS][RIGHT / 2], uint32_t slot,
                                             uint32_t consumer, uint32_t block) {
        const uint64_t left = operand(LEFT_LIES, slot_at(slot) + consumer * (UNITS * 64 * ROW));
        const uint64_t right = operand(RIGHT_LIES, slot_at(slot) + LEFT_BYTES);
#pragma unroll
        for (int step = 0; step < STEPS; ++step)
#pragma unroll
            for (int unit = 0; unit < UNITS; ++unit)
                tcgemm_wgmma<KIND, RIGHT>::template run<LEFT_LIES, RIGHT_LIES>(
                    c[unit],
                    tcgemm_wgmma_advance(left, unit * 64 * ROW + step * step_bytes(LEFT_LIES)),
                    tcgemm_wgmma_advance(right, step * step_bytes(RIGHT_LIES)),
                    step > 0 || block > 0);
    }

    /* One arrival of each warp, at all who fetch for it; for what its lanes have read themselves,
     * too. */
    __device__ __forceinline__ void release(uint32_t slot) {
        if (BY_REGISTERS)
            __syncwarp();
        if (PAIRED && threadIdx.x % 32 < of_pair())
            tcgemm_mbarrier_arrive_at(emptied(slot), threadIdx.x % 32);
        if (!PAIRED && threadIdx.x % 32 == 0)
            tcgemm_mbarrier_arrive(emptied(slot));
    }

    /* The last products of a tile, which read slot `last`, have been issued. */
    __device__ __forceinline__ void end_products(uint32_t last, uint32_t blocks,
                                                 uint32_t consumer) {
        if (TURNS && threadIdx.x % 32 == 0)
            tcgemm_mbarrier_arrive(turn_of(consumer ^ 1));
        tcgemm_wgmma_wait<0>();
        if (RANKS == 1 || blocks > 0)
            release(last);
    }

    /* c = the products of all blocks of k. */
    __device__ __forceinline__ void accumulate(sum (&c)[UNITS][RIGHT / 2], uint32_t blocks,
                                               cursor &at, uint32_t consumer) {
        uint32_t before = 0;
#pragma unroll 1
        for (uint32_t block = 0; block < blocks; ++block) {
            tcgemm_mbarrier_wait(filled(at.slot), at.parity);
            tcgemm_wgmma_fence();
            multiply(c, at.slot, TURNS ? 0 : consumer, block);
            tcgemm_wgmma_commit();
            tcgemm_wgmma_wait<1>();
            if (block > 0)
                release(before);
            before = at.slot;
            at.advance();
        }
        end_products(before, blocks, consumer);
    }

    /* ---- the left operand by registers ---- */

    /* Rows of LEFT are no more than numbers to the instruction, so they are dealt out for the sake
     * of what comes before and after it. A lane, l / 4 = r, has of a unit the rows 2 r and 2 r + 1
     * of its warp's 16, side by side in a line of k; where D is turned, of all units together:
     *
     *     turned, two units    4 r, 4 r + 1 (unit 0), 4 r + 2, 4 r + 3 (unit 1) of 32: loads and
     *                          stores of 16 bytes
     */
    static __device__ __forceinline__ uint32_t left_of(uint32_t consumer) {
        const uint32_t warp = threadIdx.x / 32 % 4, r = threadIdx.x % 32 / 4;
        if (BY_REGISTERS)
            return consumer * (UNITS * 64) + (TURNED ? UNITS : 1) * (warp * 16 + 2 * r);
        return consumer * (UNITS * 64) + warp * 16 + r;
    }
    static __device__ __forceinline__ constexpr int left_of_unit(int unit, int half) {
        return TURNED ? 2 * unit + half : BY_REGISTERS ? unit * 64 + half : unit * 64 + half * 8;
    }

    enum { HALF = STEPS / 2 }; /* steps of a group of products: so many are in registers twice */
    typedef uint32_t fragments[HALF][UNITS][4];

    /* Lanes of even l read k = l % 4 of a step first, lanes of odd l k = l % 4 + 4, then the other:
     * so eight lanes (of 16 bytes; 16 of 8) meet all banks of the swizzle. */
    __device__ __forceinline__ void take(fragments &f, uint32_t slot, uint32_t consumer,
                                         int first_step) {
        const uint32_t odd = threadIdx.x % 2, k = threadIdx.x % 4 + 4 * odd;
        const uint32_t row = left_of(consumer), chunk = row % ATOM / 4;
        const uint32_t line = slot_at(slot) + row / ATOM * ATOM_BYTES + row % 4 * 4;
        const uint32_t near = line + k * ROW + (chunk ^ k) * 16;
        const uint32_t far = line + (k ^ 4) * ROW + (chunk ^ k ^ 4) * 16;
#pragma unroll
        for (int step = 0; step < HALF; ++step) {
            const uint32_t at = (uint32_t)(first_step + step) * STEP_K * ROW;
            uint32_t v[2][2 * UNITS]; /* of each k the rows of all units */
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const uint32_t from = (i == 0 ? near : far) + at;
                if constexpr (PIECE == 4) {
                    tcgemm_lds_128(v[i], from);
                } else {
#pragma unroll
                    for (int unit = 0; unit < UNITS; ++unit)
                        tcgemm_lds_64(v[i] + 2 * unit, from + unit * (64 / ATOM * ATOM_BYTES));
                }
            }
#pragma unroll
            for (int unit = 0; unit < UNITS; ++unit)
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const uint32_t first = v[0][2 * unit + half], second = v[1][2 * unit + half];
                    f[step][unit][half] = odd ? second : first;
                    f[step][unit][2 + half] = odd ? first : second;
                }
        }
    }

    /* c += the products of half a block, as a group. */
    __device__ __forceinline__ void multiply_half(sum (&c)[UNITS][RIGHT / 2], const fragments &f,
                                                  uint32_t slot, int first_step, uint32_t block) {
        const uint64_t right = operand(RIGHT_LIES, slot_at(slot) + LEFT_BYTES);
        tcgemm_wgmma_fence();
#pragma unroll
        for (int step = 0; step < HALF; ++step)
#pragma unroll
            for (int unit = 0; unit < UNITS; ++unit)
                tcgemm_wgmma_registers<KIND, RIGHT>::run(
                    c[unit], f[step][unit],
                    tcgemm_wgmma_advance(right, (first_step + step) * step_bytes(RIGHT_LIES)),
                    first_step + step > 0 || block > 0);
        tcgemm_wgmma_commit();
        tcgemm_wgmma_wait<1>();
    }

    /* accumulate() of such: while half a block is multiplied the next half is read. */
    __device__ __forceinline__ void accumulate_registers(sum (&c)[UNITS][RIGHT / 2],
                                                         uint32_t blocks, cursor &at,
                                                         uint32_t consumer) {
        fragments first, second;
        uint32_t before = 0;
#pragma unroll 1
        for (uint32_t block = 0; block < blocks; ++block) {
            tcgemm_mbarrier_wait(filled(at.slot), at.parity);
            take(first, at.slot, TURNS ? 0 : consumer, 0);
            multiply_half(c, first, at.slot, 0, block);
            if (block > 0)
                release(before);
            take(second, at.slot, TURNS ? 0 : consumer, HALF);
            multiply_half(c, second, at.slot, HALF, block);
            before = at.slot;
            at.advance();
        }
        end_products(before, blocks, consumer);
    }

    /* ---- sums that are short ---- */

    /* part = the products of one block, as a group. */
    __device__ __forceinline__ void begin(sum (&part)[UNITS][RIGHT / 2], cursor &at,
                                          uint32_t consumer) {
        tcgemm_mbarrier_wait(filled(at.slot), at.parity);
        tcgemm_wgmma_fence();
        multiply(part, at.slot, consumer, 0);
        tcgemm_wgmma_commit();
        at.advance();
    }

    /* c += the sums of one block, once no more than PENDING younger ones are under way. */
    template <int PENDING>
    __device__ __forceinline__ void end(sum (&c)[UNITS][RIGHT / 2],
                                        const sum (&part)[UNITS][RIGHT / 2], cursor &at) {
        tcgemm_wgmma_wait<PENDING>();
        release(at.slot);
        at.advance();
#pragma unroll
        for (int unit = 0; unit < UNITS; ++unit)
#pragma unroll
            for (int i = 0; i < RIGHT / 2; ++i)
                c[unit][i] += part[unit][i];
    }

    static __device__ __forceinline__ void clear(sum (&c)[UNITS][RIGHT / 2]) {
#pragma unroll
        for (int unit = 0; unit < UNITS; ++unit)
#pragma unroll
            for (int i = 0; i < RIGHT / 2; ++i)
                c[unit][i] = 0;
    }

    /* The same where sums of the instruction are short: those of each block begin anew and are
     * added to c, while the products of the next block, or of the other warpgroup, go on. */
    __device__ __forceinline__ void promote(sum (&c)[UNITS][RIGHT / 2], uint32_t blocks, cursor &at,
                                            uint32_t consumer) {
        sum part[PARTS][UNITS][RIGHT / 2];
        cursor next = at;
        uint32_t block = 0;
        clear(c);
        if constexpr (PARTS == 1) {
#pragma unroll 1
            for (; block < blocks; ++block) {
                begin(part[0], next, consumer);
                end<0>(c, part[0], at);
            }
        } else {
            begin(part[0], next, consumer);
#pragma unroll 1
            for (block = 1; block + 1 < blocks; block += 2) {
                begin(part[1], next, consumer);
                end<1>(c, part[0], at);
                begin(part[0], next, consumer);
                end<1>(c, part[1], at);
            }
            if (block < blocks) {
                begin(part[1], next, consumer);
                end<1>(c, part[0], at);
                end<0>(c, part[1], at);
            } else {
                end<0>(c, part[0], at);
            }
        }
    }

    __device__ __forceinline__ void consume(const tcgemm_tensor_args_t &x, uint32_t consumer) {
        const tcgemm_gpu_args_t &args = x.args;
        const uint32_t step = tile_step();
        uint32_t turn = consumer ^ 1;
        const uint32_t tiles = num_tiles(args);
        cursor at = {0, 0};
        sum c[UNITS][RIGHT / 2];
        uint32_t tile = first_tile();
        if (TURNS && consumer == 1 && tile < tiles) {
            at.skip(find_work(args, tile).blocks);
            tile += step;
        }
        while (tile < tiles) {
            work w = find_work(args, tile);
            w.is_shaded = TURNS && w.blocks >= SHADE && tile + step < tiles;
            begin_c(x, w, TURNS ? 0 : consumer);
            if (TURNS) {
                tcgemm_mbarrier_wait(turn_of(consumer), turn);
                turn ^= 1;
            }
            if constexpr (PROMOTES)
                promote(c, w.blocks, at, consumer);
            else if constexpr (BY_REGISTERS)
                accumulate_registers(c, w.blocks, at, consumer);
            else
                accumulate(c, w.blocks, at, consumer);
            if constexpr (RANKS > 1)
                lay_sums(consumer, w.blocks, c);
            else
                finish(x, w, TURNS ? 0 : consumer, c);
            tile += step;
            if (TURNS && tile < tiles) {
                at.skip(find_work(args, tile).blocks);
                tile += step;
            }
        }
        if (BOX_ROWS > 0 && threadIdx.x % 32 == 0)
            tcgemm_tma_wait_read<0>();
    }

    template <class T, int WIDTH> struct alignas(WIDTH * sizeof(T)) columns { T v[WIDTH]; };
    template <class T> using pair_of = columns<T, 2>;
    typedef pair_of<out> pair;

    /* ---- boxes: the sums of a warp, 16 rows of the tile, in shared memory ---- */

    /* Boxes of T: BOX_ROWS rows of 128 bytes, the rows of a unit one box or two. Where the columns
     * are no whole number of boxes the last one begins AGAIN columns early: these are in two. */
    template <class T> struct boxes {
        enum {
            ROWS = (int)BOX_ROWS,
            COLS = ROW / (int)sizeof(T),
            ACROSS = (RIGHT + COLS - 1) / COLS,
            AGAIN = ACROSS * COLS - RIGHT,
            COUNT = UNITS * ACROSS * (16 / ROWS)
        };
        static __device__ __forceinline__ constexpr bool is_last(int box) {
            return box % ACROSS == ACROSS - 1;
        }
        static __device__ __forceinline__ constexpr int col(int box) {
            return box % ACROSS * COLS - (is_last(box) ? AGAIN : 0);
        }
        static __device__ __forceinline__ constexpr int half(int box) {
            return box / ACROSS % (16 / ROWS);
        }
        static __device__ __forceinline__ constexpr int unit(int box) {
            return box / ACROSS / (16 / ROWS);
        }
        static __device__ __forceinline__ constexpr int row(int box) { /* from the warp's first */
            return unit(box) * 64 + half(box) * 8;
        }
    };

    /* Where a box has byte `at` of a row: in the 128-byte swizzle. */
    static __device__ __forceinline__ uint32_t in_box(uint32_t row, uint32_t at) {
        return row * ROW + ((at / 16 ^ row % 8) * 16 + at % 16);
    }

    /* A warp's two places for them. */
    __device__ __forceinline__ uint32_t place_of(int box) const {
        return smem + PLACES_AT + threadIdx.x / 32 * (2 * PLACE_BYTES) + box % 2 * PLACE_BYTES;
    }

    static __device__ __forceinline__ uint32_t top_of(const work &w, uint32_t consumer) {
        return (uint32_t)w.left + consumer * (UNITS * 64) + threadIdx.x / 32 % 4 * 16;
    }

    /* As D has it, or as it was computed. */
    template <class T> static __device__ __forceinline__ T element(scalar x) {
        if constexpr (sizeof(T) == sizeof(scalar))
            return x;
        else
            return TYPE::store(x);
    }

    template <class T>
    static __device__ __forceinline__ void lay_down(uint32_t at, const pair_of<T> &p) {
        if (sizeof p == 8) {
            uint2 bits;
            memcpy(&bits, &p, 8);
            tcgemm_sts_64(at, bits);
        } else {
            uint32_t bits;
            memcpy(&bits, &p, 4);
            tcgemm_sts_32(at, bits);
        }
    }

    template <class T, int WIDTH>
    static __device__ __forceinline__ void pick_up(uint32_t at, columns<T, WIDTH> &p) {
        uint32_t bits[2];
        if (sizeof p == 8)
            tcgemm_lds_64(bits, at);
        else
            bits[0] = tcgemm_lds_32(at);
        memcpy(&p, bits, sizeof p);
    }

    /* alpha * c, the elements of one box; ADDS: + beta * C, which lies there. */
    template <class T, bool ADDS>
    __device__ __forceinline__ void lay_box(const sum (&c)[UNITS][RIGHT / 2], int box, scalar alpha,
                                            scalar beta) const {
        typedef boxes<T> b;
        enum {
            GROUP = 8 * (int)sizeof(T), /* bytes of eight columns, 16 or 32 */
            GROUPS = ROW / GROUP,
            NEXT_ROW = left_of_unit(0, 1) /* of the lane, 8 on, or 1 */
        };
        const uint32_t own =
            place_of(box) + in_box(left_of(0) % 16, 2 * (threadIdx.x % 4) * sizeof(T));
        const sum(&v)[RIGHT / 2] = c[b::unit(box)];
#pragma unroll
        for (int half = 0; half < b::ROWS / 8; ++half)
#pragma unroll
            for (int group = 0; group < GROUPS; ++group) {
                const int j = 4 * (b::col(box) / 8 + group) + 2 * (b::half(box) + half);
                const uint32_t at = (own ^ group * GROUP ^ half * NEXT_ROW % 8 * 16) +
                                    half * NEXT_ROW * ROW; /* as in_box has it */
                pair_of<T> p;
                if constexpr (ADDS)
                    pick_up(at, p);
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    const scalar scaled = alpha * (scalar)v[j + i];
                    if constexpr (ADDS)
                        p.v[i] = TYPE::store(scaled + beta * TYPE::load(p.v[i]));
                    else
                        p.v[i] = element<T>(scaled);
                }
                lay_down(at, p);
            }
    }

    /* ---- epilogue: D = alpha * c + beta * C, by boxes ---- */

    static __device__ __forceinline__ int32_t box_row(const work &w, uint32_t consumer, int box) {
        typedef boxes<out> b;
        return (int32_t)top_of(w, consumer) + b::row(box);
    }

    /* One lane asks for a box of C, to where that of D will be laid down. */
    __device__ __forceinline__ void fetch_c(const tcgemm_tensor_args_t &x, const work &w,
                                            uint32_t consumer, int box) const {
        const uint32_t barrier = c_filled(threadIdx.x / 32, box % 2);
        tcgemm_mbarrier_arrive_expect(barrier, PLACE_BYTES);
        tcgemm_tma_load(place_of(box), &x.c, barrier, (int32_t)w.right + boxes<out>::col(box),
                        box_row(w, consumer, box), x.args.stride_c ? (int32_t)w.index : 0);
    }

    /* The first two boxes of C come while the tile is multiplied. */
    __device__ __forceinline__ void begin_c(const tcgemm_tensor_args_t &x, const work &w,
                                            uint32_t consumer) const {
        if constexpr (C_BOXES)
            if (x.has_c && threadIdx.x % 32 == 0) {
                tcgemm_tma_wait_read<0>();
                fetch_c(x, w, consumer, 0);
                if (boxes<out>::COUNT > 1)
                    fetch_c(x, w, consumer, 1);
            }
    }

    /* Of each tile the first box of a place ends phase 0 of its barrier, for a tile ends an even
     * number of them: after an odd number of boxes one that brings nothing. */
    __device__ __forceinline__ void wait_c(int box) const {
        tcgemm_mbarrier_wait(c_filled(threadIdx.x / 32, box % 2), box / 2 % 2);
    }
    __device__ __forceinline__ void end_c(int box) const {
        if (box / 2 % 2 == 0 && box + 2 >= boxes<out>::COUNT)
            tcgemm_mbarrier_arrive(c_filled(threadIdx.x / 32, box % 2));
    }

    /* Box by box: all lanes lay one down, one sends it off. One place is filled while the other is
     * read. Where C is added, which D may replace, a box whose columns are in two has come before
     * they leave for the first time. */
    template <bool ADDS>
    __device__ __forceinline__ void send(const tcgemm_tensor_args_t &x, const work &w,
                                         uint32_t consumer, const sum (&c)[UNITS][RIGHT / 2]) {
        typedef boxes<out> b;
        static_assert(!b::AGAIN || BOX_ROWS == 16, "the two follow one another");
        const uint32_t lane = threadIdx.x % 32;
        scalar alpha, beta;
        scalars(x.args, &alpha, &beta);
#pragma unroll
        for (int box = 0; box < b::COUNT; ++box) {
            if (ADDS) {
                wait_c(box);
                if (b::AGAIN && box + 1 < b::COUNT && b::is_last(box + 1))
                    wait_c(box + 1);
            } else {
                if (lane == 0) {
                    if (box == 0)
                        tcgemm_tma_wait_read<0>();
                    else
                        tcgemm_tma_wait_read<1>();
                }
                __syncwarp();
            }
            lay_box<out, ADDS>(c, box, alpha, beta);
            tcgemm_tma_fence();
            __syncwarp();
            if (lane == 0) {
                tcgemm_tma_store(&x.d, place_of(box), (int32_t)w.right + b::col(box),
                                 box_row(w, consumer, box), (int32_t)w.index);
                tcgemm_tma_commit();
                if (ADDS && box + 2 < b::COUNT) {
                    tcgemm_tma_wait_read<0>();
                    fetch_c(x, w, consumer, box + 2);
                }
                if (ADDS)
                    end_c(box);
            }
        }
    }

    /* ---- epilogue: D = alpha * c + beta * C, along rows ---- */

    enum {
        AT_ONCE = SUMS < 192 ? 8 : 4, /* rows, for want of registers */
        IN_SHADE = 4,
        SHADE = 32 /* blocks of k, whose products take longer than a tile's rows by so few */
    };

    /* Of ROWS rows of a box a lane has the WIDTH columns at `from`, which belong at `row` and `col`
     * of D. C of all is read before any is written, so that no row waits for the one before. */
    template <int WIDTH, int ROWS, bool MAY_ADD = true>
    static __device__ __forceinline__ void write_some(const tcgemm_gpu_args_t &args, uint32_t index,
                                                      int32_t row, int32_t col, uint32_t from) {
        const int32_t here = (int32_t)args.m - row;
        const bool adds = MAY_ADD && (C_BOXES || WIDTH == 1) && args.c; /* see finish */
        columns<out, WIDTH> added[ROWS] = {};
        if (adds) {
            const out *const old =
                (const out *)args.c + index * args.stride_c + row * args.ldc + col;
#pragma unroll
            for (int32_t i = 0; i < ROWS; ++i)
                if (i < here)
                    added[i] = *(const columns<out, WIDTH> *)(old + i * args.ldc);
        }
        out *to = (out *)args.d + index * args.stride_d + row * args.ldd + col;
        scalar alpha, beta;
        scalars(args, &alpha, &beta);
#pragma unroll
        for (int32_t i = 0; i < ROWS; ++i) {
            columns<scalar, WIDTH> v;
            columns<out, WIDTH> p;
            pick_up((from ^ i * 16) + i * ROW, v); /* as in_box has it */
#pragma unroll
            for (int x = 0; x < WIDTH; ++x) {
                const scalar scaled = alpha * v.v[x];
                p.v[x] = TYPE::store(adds ? scaled + beta * TYPE::load(added[i].v[x]) : scaled);
            }
            if (i < here)
                *(columns<out, WIDTH> *)to = p;
            to += args.ldd;
        }
    }

    /* Rows that begin anywhere: laid down as boxes of sums, one in each place, side by side, then a
     * warp takes some rows at a time, each whole (in pairs of columns of 16 bit) or box by box, so
     * that what memory has beside one another is wanted at about the same time. (From registers,
     * where a store meets half of a sector: 0.65 TB/s; all rows of a box first, C of 16 bit: 240
     * and 216 us, see notes.md.) In the shade of the other consumer's products few at a time: many
     * would hold these up. Tiles that warps bring have a way of their own where there is no C: rows
     * are most of what a tile of few blocks takes, and a third of that is to ask for C. */
    __device__ __forceinline__ void write_rows(const tcgemm_gpu_args_t &args, const work &w,
                                               uint32_t consumer, bool in_pairs,
                                               const sum (&c)[UNITS][RIGHT / 2]) {
        typedef boxes<scalar> b;
        static_assert(b::ACROSS % 2 == 0 || b::COUNT == b::ACROSS, "two boxes of the same rows");
        const bool whole = sizeof(out) == 2 && in_pairs;
        const uint32_t lane = threadIdx.x % 32;
        const uint32_t col_in_box = whole ? lane % 16 * 2 : lane;
        const int32_t some = w.is_shaded ? IN_SHADE : AT_ONCE, passes = whole ? 1 : 2;
#pragma unroll 1
        for (int box = 0; box < b::COUNT; box += 2) {
#pragma unroll
            for (int i = 0; i < b::COUNT; ++i) /* sums have numbers, not addresses */
                if (i / 2 == box / 2)
                    lay_box<scalar, false>(c, i, 1, 0);
            __syncwarp();
#pragma unroll 1
            for (int32_t i = 0; i < passes * b::ROWS / some; ++i) {
                const int which = box + (whole ? (int)lane / 16 : i % 2);
                const int32_t first = i / passes * some;
                const int32_t row = (int32_t)top_of(w, consumer) + b::row(box) + first;
                const int32_t col = (int32_t)(w.right + b::col(which) + col_in_box);
                const bool is_new = !b::AGAIN || !b::is_last(which) || col_in_box >= b::AGAIN;
                const uint32_t from = place_of(which) + in_box(first, 4 * col_in_box);
                if (which >= b::COUNT || col >= (int32_t)args.n || !is_new)
                    continue;
                if (BY_WARPS && !args.c && whole)
                    write_some<2, AT_ONCE, false>(args, w.index, row, col, from);
                else if (BY_WARPS && !args.c)
                    write_some<1, AT_ONCE, false>(args, w.index, row, col, from);
                else if (whole && some == AT_ONCE)
                    write_some<2, AT_ONCE>(args, w.index, row, col, from);
                else if (whole)
                    write_some<2, IN_SHADE>(args, w.index, row, col, from);
                else if (some == AT_ONCE)
                    write_some<1, AT_ONCE>(args, w.index, row, col, from);
                else
                    write_some<1, IN_SHADE>(args, w.index, row, col, from);
            }
            __syncwarp();
        }
    }

    /* ---- epilogue: D = alpha * c + beta * C, from registers ---- */

    enum { BATCH = UNITS * RIGHT > 256 ? 4 : RIGHT % 64 == 0 ? 8 : RIGHT / 8 }; /* pairs */

    /* v += beta * C, of the pairs at column `first` and every eighth from there. */
    template <bool PAIRS>
    static __device__ __forceinline__ void add(scalar (&v)[2 * BATCH], const out *old, int64_t step,
                                               int first, int32_t here, scalar beta) {
        pair p[BATCH] = {};
#pragma unroll
        for (int b = 0; b < BATCH; ++b) {
            const int at = first + 8 * b;
            if (PAIRS && at < here)
                p[b] = *(const pair *)(old + at);
#pragma unroll
            for (int x = 0; x < 2; ++x)
                if (!PAIRS && at + x < here)
                    p[b].v[x] = old[(at + x) * step];
        }
#pragma unroll
        for (int x = 0; x < 2 * BATCH; ++x)
            v[x] += beta * TYPE::load(p[x / 2].v[x % 2]);
    }

    template <bool PAIRS>
    static __device__ __forceinline__ void put(const scalar (&v)[2 * BATCH], out *to, int64_t step,
                                               int first, int32_t here) {
#pragma unroll
        for (int b = 0; b < BATCH; ++b) {
            const int at = first + 8 * b;
            const pair p = {{TYPE::store(v[2 * b]), TYPE::store(v[2 * b + 1])}};
            if (PAIRS && at < here)
                *(pair *)(to + at) = p;
#pragma unroll
            for (int x = 0; x < 2; ++x)
                if (!PAIRS && at + x < here)
                    to[(at + x) * step] = p.v[x];
        }
    }

    /* PAIRS: rows of C and D can be read and written two elements at a time; else one by one, or
     * the two lie in different rows (SWAP). ADDS: there is a C. Each in straight code of its own:
     * the instructions of an epilogue are fetched once a launch, which takes as long as they do. */
    template <bool PAIRS, bool ADDS>
    static __device__ __forceinline__ void finish_as(const tcgemm_gpu_args_t &args, const work &w,
                                                     uint32_t consumer,
                                                     const sum (&c)[UNITS][RIGHT / 2]) {
        const int64_t left = w.left + left_of(consumer);
        const int64_t right = w.right + 2 * (threadIdx.x % 4);
        const int64_t left_end = SWAP ? args.n : args.m;
        const int64_t right_left = (SWAP ? args.m : args.n) - right;
        const int32_t count = right_left < RIGHT ? (int32_t)right_left : RIGHT;
        const int64_t d_left = SWAP ? 1 : args.ldd, d_right = SWAP ? args.ldd : 1;
        const int64_t c_left = SWAP ? 1 : args.ldc, c_right = SWAP ? args.ldc : 1;
        out *const d = (out *)args.d + w.index * args.stride_d + left * d_left + right * d_right;
        const out *const from = (const out *)args.c + (ADDS ? w.index * args.stride_c : 0) +
                                left * c_left + right * c_right;
        scalar alpha, beta;
        scalars(args, &alpha, &beta);
#pragma unroll
        for (int unit = 0; unit < UNITS; ++unit)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int i = left_of_unit(unit, half);
                const int32_t here = left + i < left_end ? count : 0;
                out *const to = d + i * d_left;
                const out *const old = from + i * c_left;
#pragma unroll
                for (int j0 = 0; j0 < RIGHT / 8; j0 += BATCH) {
                    scalar v[2 * BATCH];
#pragma unroll
                    for (int x = 0; x < 2 * BATCH; ++x)
                        v[x] = 0;
                    if (ADDS)
                        add<PAIRS>(v, old, c_right, 8 * j0, here, beta);
#pragma unroll
                    for (int x = 0; x < 2 * BATCH; ++x) {
                        const scalar scaled =
                            alpha * (scalar)c[unit][4 * (j0 + x / 2) + 2 * half + x % 2];
                        v[x] = ADDS ? scaled + v[x] : scaled;
                    }
                    put<PAIRS>(v, to, d_right, 8 * j0, here);
                }
            }
    }

    /* ---- epilogue: D = alpha * c + beta * C, turned ---- */

    typedef columns<out, PIECE> piece;

    /* A lane has PIECE neighbours of each of its rows of D (left_of). WHOLE: they are read and
     * written as one, else one by one. */
    template <bool WHOLE, bool ADDS>
    static __device__ __forceinline__ void finish_turned(const tcgemm_gpu_args_t &args,
                                                         const work &w, uint32_t consumer,
                                                         const sum (&c)[UNITS][RIGHT / 2]) {
        const int64_t col = w.left + left_of(consumer), row = w.right + 2 * (threadIdx.x % 4);
        const int64_t rows_left = args.m - row, cols_left = args.n - col;
        const int32_t rows = rows_left < RIGHT ? (int32_t)rows_left : RIGHT;
        const int32_t cols = cols_left < PIECE ? (int32_t)cols_left : PIECE;
        out *to = (out *)args.d + w.index * args.stride_d + row * args.ldd + col;
        const out *old =
            (const out *)args.c + (ADDS ? w.index * args.stride_c + row * args.ldc + col : 0);
        scalar alpha, beta;
        scalars(args, &alpha, &beta);
#pragma unroll
        for (int j = 0; j < RIGHT / 8; ++j) {
#pragma unroll
            for (int x = 0; x < 2; ++x) {
                const int32_t here = 8 * j + x < rows ? cols : 0;
                piece p = {};
                if (ADDS && WHOLE && here > 0)
                    p = *(const piece *)old;
#pragma unroll
                for (int i = 0; i < PIECE; ++i) {
                    if (ADDS && !WHOLE && i < here)
                        p.v[i] = old[i];
                    const scalar scaled = alpha * (scalar)c[i / 2][4 * j + 2 * (i % 2) + x];
                    p.v[i] = TYPE::store(ADDS ? scaled + beta * TYPE::load(p.v[i]) : scaled);
                    if (!WHOLE && i < here)
                        to[i] = p.v[i];
                }
                if (WHOLE && here > 0)
                    *(piece *)to = p;
                to += x == 0 ? args.ldd : 7 * args.ldd;
                if (ADDS)
                    old += x == 0 ? args.ldc : 7 * args.ldc;
            }
        }
    }

    __device__ __forceinline__ void finish(const tcgemm_tensor_args_t &x, const work &w,
                                           uint32_t consumer, const sum (&c)[UNITS][RIGHT / 2]) {
        const tcgemm_gpu_args_t &args = x.args;
        const bool in_pairs = !SWAP && args.n % 2 == 0 && args.vector_d >= sizeof(pair) &&
                              (!args.c || args.vector_c >= sizeof(pair));
        if constexpr (C_BOXES)
            if (x.has_c)
                return send<true>(x, w, consumer, c);
        if constexpr (BOX_ROWS > 0) {
            if (x.has_d)
                return send<false>(x, w, consumer, c);
            if (C_BOXES || !args.c || !in_pairs)
                return write_rows(args, w, consumer, in_pairs, c);
        }
        if constexpr (TURNED) {
            const bool is_whole = args.n % PIECE == 0 && args.vector_d >= sizeof(piece) &&
                                  (!args.c || args.vector_c >= sizeof(piece));
            if (is_whole && !args.c)
                finish_turned<true, false>(args, w, consumer, c);
            else if (is_whole)
                finish_turned<true, true>(args, w, consumer, c);
            else if (!args.c)
                finish_turned<false, false>(args, w, consumer, c);
            else
                finish_turned<false, true>(args, w, consumer, c);
            return;
        }
        if (in_pairs && !args.c)
            finish_as<!SWAP, false>(args, w, consumer, c);
        else if (in_pairs)
            finish_as<!SWAP, true>(args, w, consumer, c);
        else if (!args.c)
            finish_as<false, false>(args, w, consumer, c);
        else
            finish_as<false, true>(args, w, consumer, c);
    }

    /* ---- epilogue: D = alpha * (sums of all ranks) + beta * C ---- */

    __device__ __forceinline__ uint32_t piece_at(uint32_t piece) const {
        return smem + SUMS_AT + piece * PIECE_BYTES + threadIdx.x % 128 * 16;
    }

    /* A rank that had no block of k, and so no products, lays down zeros. */
    __device__ __forceinline__ void lay_sums(uint32_t consumer, uint32_t blocks,
                                             const sum (&c)[UNITS][RIGHT / 2]) const {
        const uint32_t first = consumer * (UNITS * RIGHT / 8);
#pragma unroll
        for (int i = 0; i < UNITS * RIGHT / 8; ++i) {
            uint4 bits;
            memcpy(&bits, &c[i / (RIGHT / 8)][4 * (i % (RIGHT / 8))], 16);
            tcgemm_sts_128(piece_at(first + i), blocks > 0 ? bits : make_uint4(0, 0, 0, 0));
        }
    }

    /* The piece of all ranks, the first rank's first: the bits do not depend on who comes when. */
    __device__ __forceinline__ void add_ranks(sum (&total)[4], uint32_t piece,
                                              uint32_t ranks) const {
        sum part[RANKS][4];
#pragma unroll
        for (int rank = 0; rank < RANKS; ++rank)
            if (rank < ranks) {
                const uint4 bits = tcgemm_cluster_lds_128(piece_at(piece), rank);
                memcpy(part[rank], &bits, 16);
            }
#pragma unroll
        for (int i = 0; i < 4; ++i)
            total[i] = part[0][i];
#pragma unroll
        for (int rank = 1; rank < RANKS; ++rank)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (rank < ranks)
                    total[i] += part[rank][i];
    }

    /* Where a thread's first sum goes, and how far its tile reaches from there. */
    struct place {
        out *d;
        const out *c; /* or NULL */
        int64_t d_left, d_right, c_left, c_right;
        int32_t left, right; /* rows of the tile, and columns, up to the edge */
        bool in_pairs;       /* D can be written two elements at a time */
    };

    static __device__ __forceinline__ place find_place(const tcgemm_gpu_args_t &args) {
        const work w = find_work(args, first_tile());
        const int64_t left = w.left + left_of(0), right = w.right + 2 * (threadIdx.x % 4);
        const int64_t to_left = (SWAP ? args.n : args.m) - left;
        const int64_t to_right = (SWAP ? args.m : args.n) - right;
        place p;
        p.d_left = SWAP ? 1 : args.ldd;
        p.d_right = SWAP ? args.ldd : 1;
        p.c_left = SWAP ? 1 : args.ldc;
        p.c_right = SWAP ? args.ldc : 1;
        p.d = (out *)args.d + w.index * args.stride_d + left * p.d_left + right * p.d_right;
        p.c = !args.c ? NULL
                      : (const out *)args.c + w.index * args.stride_c + left * p.c_left +
                            right * p.c_right;
        p.left = to_left < SHARERS * LEFT ? (int32_t)to_left : SHARERS * LEFT;
        p.right = to_right < RIGHT ? (int32_t)to_right : RIGHT;
        p.in_pairs = !SWAP && args.vector_d >= sizeof(pair);
        return p;
    }

    /* The elements of D of a piece: two neighbours of a row of LEFT, and of another one. */
    static __device__ __forceinline__ void write_piece(const tcgemm_gpu_args_t &args,
                                                       const place &p, uint32_t piece,
                                                       const uint32_t (&bits)[4]) {
        const uint32_t unit = piece / (RIGHT / 8);
        const int32_t right = (int32_t)(piece % (RIGHT / 8)) * 8;
        scalar alpha, beta;
        sum total[4];
        memcpy(total, bits, 16);
        scalars(args, &alpha, &beta);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int32_t left =
                (int32_t)(unit / UNITS) * (UNITS * 64) + left_of_unit((int)(unit % UNITS), half);
            const int32_t here = left < p.left ? p.right : 0;
            const out *from = p.c + left * p.c_left + right * p.c_right;
            out *to = p.d + left * p.d_left + right * p.d_right;
            pair v;
#pragma unroll
            for (int x = 0; x < 2; ++x) {
                scalar s = alpha * (scalar)total[2 * half + x];
                if (p.c && right + x < here)
                    s += beta * TYPE::load(from[x * p.c_right]);
                v.v[x] = TYPE::store(s);
            }
            if (p.in_pairs && right + 1 < here)
                *(pair *)to = v;
#pragma unroll
            for (int x = 0; x < 2; ++x)
                if (!(p.in_pairs && right + 1 < here) && right + x < here)
                    to[x * p.d_right] = v.v[x];
        }
    }

    /* All threads of all blocks of the cluster. What a thread has added up takes the place of what
     * it laid down there, which nobody else reads, so that the others need not wait for D. */
    __device__ __forceinline__ void sum_up(const tcgemm_gpu_args_t &args, const place &p,
                                           uint32_t warpgroup) const {
        const uint32_t ranks = tcgemm_cluster_ranks(), step = ranks * (THREADS / 128);
        const uint32_t first = tcgemm_cluster_rank() + ranks * warpgroup;
        __syncwarp(); /* one lane has fetched, or gone ahead */
        tcgemm_cluster_arrive();
        tcgemm_cluster_wait(); /* all sums lie there */
#pragma unroll 1
        for (uint32_t piece = first; piece < PIECES; piece += step) {
            sum total[4];
            uint4 bits;
            add_ranks(total, piece, ranks);
            memcpy(&bits, total, 16);
            tcgemm_sts_128(piece_at(piece), bits);
        }
        __syncwarp();
        tcgemm_cluster_arrive_relaxed();
#pragma unroll 1
        for (uint32_t piece = first; piece < PIECES; piece += step) {
            uint32_t total[4];
            tcgemm_lds_128(total, piece_at(piece));
            write_piece(args, p, piece, total);
        }
        __syncwarp();
        tcgemm_cluster_wait(); /* all have read */
    }

    /* ---- roles ---- */

    /* A pair meets, all threads of it. */
    static __device__ __forceinline__ void meet(void) {
        if (of_pair() == 1)
            return;
        __syncwarp();
        tcgemm_cluster_arrive();
        tcgemm_cluster_wait();
    }

    __device__ __forceinline__ void run(const tcgemm_tensor_args_t &x) {
        extern __shared__ __align__(1024) char memory[];
        smem = tcgemm_smem_address(memory);
        /* The same in all lanes, and the compiler knows. */
        const uint32_t warpgroup = __shfl_sync(0xFFFFFFFF, threadIdx.x / 128, 0);
        if (threadIdx.x == 0)
            make_barriers(x.args);
        __syncthreads();
        meet(); /* nothing may come to barriers that are not made */
        tcgemm_wait_for_grids();
        tcgemm_let_next_grid_begin();
        if (BY_WARPS ? warpgroup >= CONSUMERS : warpgroup == CONSUMERS) {
            if (MANY_REGISTERS)
                tcgemm_registers_less<40>();
            if constexpr (BY_WARPS)
                bring(x.args);
            else if (threadIdx.x == CONSUMERS * 128)
                produce(x);
            if constexpr (GATHERS && !BY_WARPS) {
                const uint32_t warp = __shfl_sync(0xFFFFFFFF, threadIdx.x / 32 % 4, 0);
                if (gathers(x.args) && warp > 0)
                    gather(x.args, warp - 1);
            }
        } else {
            if (MANY_REGISTERS)
                tcgemm_registers_more<232>();
            consume(x, warpgroup);
        }
        meet(); /* nor may anybody arrive where a block has ended */
        if constexpr (RANKS > 1)
            sum_up(x.args, find_place(x.args), warpgroup);
    }
};

#endif
