/* neon_dotprod.c - 8-bit products with SDOT and UDOT: four products a lane, summed in 32 bits. Both
 * operands have one sign; where the matrices differ in it, packing shifts the unsigned one
 * (packing.h).
 */
#include "cpu/kernels/neon_access.h"

static TCGEMM_ALWAYS_INLINE uint32x4_t dot4_signed(uint32x4_t sum, float a, uint32x4_t b) {
    __asm__("sdot %0.4s, %1.16b, %2.4b[0]" : "+w"(sum) : "w"(b), "w"(a));
    return sum;
}

static TCGEMM_ALWAYS_INLINE uint32x4_t dot4_unsigned(uint32x4_t sum, float a, uint32x4_t b) {
    __asm__("udot %0.4s, %1.16b, %2.4b[0]" : "+w"(sum) : "w"(b), "w"(a));
    return sum;
}

#include "cpu/kernels/neon_s32_output.h"
#define TILE_PACKED         tcgemm_tile_neon_i8x4_signed
#define TILE_AVEC           float
#define TILE_BROADCAST(p)   load_word(p)
#define TILE_MAC(sum, a, b) dot4_signed(sum, a, b)
#include "cpu/kernels/tile_tmpl.h"

#include "cpu/kernels/neon_s32_output.h"
#define TILE_PACKED         tcgemm_tile_neon_i8x4_unsigned
#define TILE_AVEC           float
#define TILE_BROADCAST(p)   load_word(p)
#define TILE_MAC(sum, a, b) dot4_unsigned(sum, a, b)
#include "cpu/kernels/tile_tmpl.h"

void tcgemm_tile_neon_i8x4(const tcgemm_tile_t *t) {
    if (t->a_is_signed)
        tcgemm_tile_neon_i8x4_signed(t);
    else
        tcgemm_tile_neon_i8x4_unsigned(t);
}
