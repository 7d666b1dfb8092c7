/* kernels.h - what every kernel file needs, and the names it defines.
 *
 * Each kernel set is one or more files compiled for its instruction set; the names are computed
 * from cpu/rows.def: tcgemm_tile_<isa>_<family>[_strided|_exact].
 */
#ifndef TCGEMM_CPU_KERNELS_KERNELS_H
#define TCGEMM_CPU_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/dtype.h"
#include "base/num.h"
#include "cpu/kernels/ukernel.h"

#define TCGEMM_ALWAYS_INLINE inline __attribute__((always_inline))
#ifdef __clang__
#define TCGEMM_NEVER_INLINE __attribute__((noinline))
#else /* nor a copy for each call with constants */
#define TCGEMM_NEVER_INLINE __attribute__((noinline, noclone))
#endif
#define TCGEMM_SHORT_CODE        __attribute__((cold)) /* compiled for its size */
#define TCGEMM_PASTE_(x, y, z)   x##y##z
#define TCGEMM_PASTE(x, y, z)    TCGEMM_PASTE_(x, y, z)
#define TCGEMM_PREFETCH_WRITE(p) __builtin_prefetch((p), 1)
/* To the second level: lines a power of two apart want the same set of the first, where they would
 * not last until they are read. */
#define TCGEMM_PREFETCH_FAR(p) __builtin_prefetch((p), 0, 2)
#define TCGEMM_PRAGMA(text)    _Pragma(#text)
#ifdef __clang__
#define TCGEMM_UNROLL       _Pragma("clang loop unroll(full)")
#define TCGEMM_UNROLL_BY(n) TCGEMM_PRAGMA(clang loop unroll_count(n))
#else
#define TCGEMM_UNROLL       _Pragma("GCC unroll 16")
#define TCGEMM_UNROLL_BY(n) TCGEMM_PRAGMA(GCC unroll n)
#endif

#define TCGEMM_DECLARE_PACK(isa)                                                                   \
    tcgemm_pack_fn tcgemm_pack_##isa##_f32, tcgemm_pack_##isa##_f64, tcgemm_pack_##isa##_bf16,     \
        tcgemm_pack_##isa##_u8s8, tcgemm_pack_##isa##_s16, tcgemm_pack_##isa##_b1;                 \
    tcgemm_pack_rows_fn tcgemm_pack_rows_##isa##_f32, tcgemm_pack_rows_##isa##_u8s8,               \
        tcgemm_pack_rows_##isa##_s16, tcgemm_pack_rows_##isa##_bf16;                               \
    tcgemm_finish_fn tcgemm_finish_##isa;
TCGEMM_DECLARE_PACK(any)
TCGEMM_DECLARE_PACK(avx2)
TCGEMM_DECLARE_PACK(avx512)
TCGEMM_DECLARE_PACK(neon)
tcgemm_pack_fn tcgemm_pack_neon_i8x4, tcgemm_pack_neon_i8x8, tcgemm_pack_neon_bf16x4;
tcgemm_pack_fn tcgemm_pack_any_bf16x32, tcgemm_pack_any_f16x32, tcgemm_pack_any_i8x64;
tcgemm_pack_fn tcgemm_pack_amx_bf16x32, tcgemm_pack_amx_f16x32, tcgemm_pack_amx_i8x64;
tcgemm_pack_rows_fn tcgemm_pack_rows_amx_bf16x32; /* looks at them alone */
tcgemm_finish_fn tcgemm_finish_amx;

tcgemm_tile_fn tcgemm_tile_any_f32, tcgemm_tile_any_f32_strided;
tcgemm_tile_fn tcgemm_tile_any_f64, tcgemm_tile_any_f64_strided;
tcgemm_tile_fn tcgemm_tile_any_s16, tcgemm_tile_any_s16_strided, tcgemm_tile_any_b1;

tcgemm_tile_fn tcgemm_tile_avx2_f32, tcgemm_tile_avx2_f32_strided;
tcgemm_tile_fn tcgemm_tile_avx2_f64, tcgemm_tile_avx2_f64_strided;
tcgemm_tile_fn tcgemm_tile_avx2_s16, tcgemm_tile_avx2_s16_strided, tcgemm_tile_avx2_u8s8,
    tcgemm_tile_avx2_u8s8_strided, tcgemm_tile_avx2_b1;

tcgemm_dots_fn tcgemm_dots_avx2_f32, tcgemm_dots_avx2_f64, tcgemm_dots_avx2_bytes,
    tcgemm_across_avx2_bytes;
tcgemm_dots_fn tcgemm_dots_avx512_f32, tcgemm_dots_avx512_f64;
tcgemm_dots_fn tcgemm_dots_avx512_pairs, tcgemm_dots_avx512_quads;
tcgemm_dots_fn tcgemm_dots_amx_bf16x32, tcgemm_dots_amx_f16x32, tcgemm_dots_amx_i8x64;
tcgemm_dots_fn tcgemm_dots_avx512_bytes;
tcgemm_dots_fn tcgemm_across_avx2_f32, tcgemm_across_avx2_f64;
tcgemm_dots_fn tcgemm_across_avx512_f32, tcgemm_across_avx512_f64;
tcgemm_dots_fn tcgemm_inner_avx2_f32, tcgemm_inner_avx2_f64;
tcgemm_dots_fn tcgemm_inner_avx512_f32, tcgemm_inner_avx512_f64;
tcgemm_turn_fn tcgemm_turn_avx2_f32, tcgemm_turn_avx2_f64;
tcgemm_turn_fn tcgemm_turn_avx512_f32, tcgemm_turn_avx512_f64;
tcgemm_dots_fn tcgemm_across_avx512_pairs, tcgemm_across_avx512_quads;

tcgemm_tile_fn tcgemm_tile_avx512_f32, tcgemm_tile_avx512_f32_strided;
tcgemm_tile_fn tcgemm_tile_avx512_f64, tcgemm_tile_avx512_f64_strided;
tcgemm_tile_fn tcgemm_tile_avx512_s16, tcgemm_tile_avx512_s16_strided;

tcgemm_tile_fn tcgemm_tile_avx512_bf16, tcgemm_tile_avx512_bf16_strided,
    tcgemm_tile_avx512_bf16_exact;
tcgemm_tile_fn tcgemm_tile_avx512_u8s8, tcgemm_tile_avx512_u8s8_strided;
tcgemm_tile_fn tcgemm_tile_avx512_b1;

tcgemm_tile_fn tcgemm_tile_amx_bf16x32, tcgemm_tile_amx_bf16x32_exact;
tcgemm_tile_fn tcgemm_tile_amx_f16x32, tcgemm_tile_amx_i8x64;

tcgemm_tile_fn tcgemm_tile_neon_f32, tcgemm_tile_neon_f32_strided;
tcgemm_tile_fn tcgemm_tile_neon_f64, tcgemm_tile_neon_f64_strided;
tcgemm_tile_fn tcgemm_tile_neon_s16, tcgemm_tile_neon_s16_strided, tcgemm_tile_neon_b1;
tcgemm_tile_fn tcgemm_tile_neon_i8x4, tcgemm_tile_neon_i8x4_signed, tcgemm_tile_neon_i8x4_unsigned;
tcgemm_tile_fn tcgemm_tile_neon_i8x8;
tcgemm_tile_fn tcgemm_tile_neon_bf16x4, tcgemm_tile_neon_bf16x4_exact;

tcgemm_tile_fn tcgemm_tile_sve256_f32, tcgemm_tile_sve256_f32_strided;
tcgemm_tile_fn tcgemm_tile_sve256_f64, tcgemm_tile_sve256_f64_strided;
tcgemm_tile_fn tcgemm_tile_sve512_f32, tcgemm_tile_sve512_f32_strided;
tcgemm_tile_fn tcgemm_tile_sve512_f64, tcgemm_tile_sve512_f64_strided;

void tcgemm_begin_amx(void);
void tcgemm_end_amx(void);

#endif
