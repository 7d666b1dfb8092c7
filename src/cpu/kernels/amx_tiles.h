/* amx_tiles.h - the instructions on matrix tiles, and their model in plain C.
 *
 * A tile is a register of 16 rows of 64 bytes; a thread has eight, once it has loaded a
 * configuration (Intel SDM vol. 1, chapter 18; vol. 2, TILELOADD, TDPBF16PS, TDPBSSD, ...):
 *
 *     TDPBF16PS c, a, b    c[i][j] += sum over pairs of bf16: a[i][p] . b[p][j]      p = 0 .. 15
 *     TDPFP16PS c, a, b    the same of pairs of f16
 *     TDPB??D   c, a, b    the same of quads of bytes, s or u, in 32 bits
 *
 * With TCGEMM_EMULATED_AMX, a build of this file for tests, the same names are functions in C, so
 * that the kernels can be tested where there are no tiles. Tiles are named by literal numbers. A
 * model that differs from the processor would prove nothing: tests/unit/cpu/test_amx.c compares
 * them bit by bit where there is one.
 */
#ifndef TCGEMM_CPU_KERNELS_AMX_TILES_H
#define TCGEMM_CPU_KERNELS_AMX_TILES_H

#include <stdint.h>

/* What LDTILECFG loads. */
typedef struct amx_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} amx_config_t;
_Static_assert(sizeof(amx_config_t) == 64, "the configuration is a line of memory");

#ifndef TCGEMM_EMULATED_AMX

#include <immintrin.h>

#define AMX_CONFIGURE(config)   _tile_loadconfig(config)
#define AMX_RELEASE()           _tile_release()
#define AMX_ZERO(t)             _tile_zero(t)
#define AMX_LOAD(t, p, stride)  _tile_loadd(t, p, stride)
#define AMX_STORE(t, p, stride) _tile_stored(t, p, stride)
#define AMX_STREAM(p, line)     _mm512_stream_si512((void *)(p), _mm512_load_si512(line))
#define AMX_FENCE()             _mm_sfence()
#define AMX_DOT_BF16(c, a, b)   _tile_dpbf16ps(c, a, b)
#define AMX_DOT_S8S8(c, a, b)   _tile_dpbssd(c, a, b)
#define AMX_DOT_S8U8(c, a, b)   _tile_dpbsud(c, a, b)
#define AMX_DOT_U8S8(c, a, b)   _tile_dpbusd(c, a, b)
#define AMX_DOT_U8U8(c, a, b)   _tile_dpbuud(c, a, b)

/* Compilers know TDPFP16PS since GCC 13, so by its bytes: VEX.128.F2.0F38.W0 5C /r, with c as the
 * register of ModRM, a as its second and b in the prefix, where it is inverted. */
#define AMX_DOT_F16(c, a, b)                                                                       \
    __asm__ volatile(".byte 0xC4, 0xE2, 0x7B - 8 * %c2, 0x5C, 0xC0 + 8 * %c0 + %c1" ::"i"(c),      \
                     "i"(a), "i"(b))

#else
#include "cpu/kernels/amx_model.h"

#define AMX_CONFIGURE(config)   amx_model_configure(config)
#define AMX_RELEASE()           amx_model_configure(NULL)
#define AMX_ZERO(t)             amx_model_zero(t)
#define AMX_LOAD(t, p, stride)  amx_model_load(t, p, stride)
#define AMX_STORE(t, p, stride) amx_model_store(t, p, stride)
#define AMX_STREAM(p, line)     memcpy(p, line, 64)
#define AMX_FENCE()             (void)0
#define AMX_DOT_BF16(c, a, b)   amx_model_dot_pairs(c, a, b, true)
#define AMX_DOT_F16(c, a, b)    amx_model_dot_pairs(c, a, b, false)
#define AMX_DOT_S8S8(c, a, b)   amx_model_dot_bytes(c, a, b, true, true)
#define AMX_DOT_S8U8(c, a, b)   amx_model_dot_bytes(c, a, b, true, false)
#define AMX_DOT_U8S8(c, a, b)   amx_model_dot_bytes(c, a, b, false, true)
#define AMX_DOT_U8U8(c, a, b)   amx_model_dot_bytes(c, a, b, false, false)

#endif
#endif
