/* dots_f32_tmpl.h - dots_tmpl.h, inner_tmpl.h and across_tmpl.h for each type of lines whose sums
 * are f32, and the functions that choose among them. The includer defines, beside what these keep
 * for all types:
 *
 *   DOTS_F32, ACROSS_F32, INNER_F32     the names of these functions
 *   DOTS_SHORTS, DOTS_WIDEN(x)          a vector of DOTS_LANES f16, and these as f32
 *   SHORTS_OF(p), SOME_SHORTS(p, n)     such a vector, or n elements and zeros, from memory
 *   SOME_FLOATS(p, n)                   n f32 and zeros
 *   TF32_OF_FLOATS(x)                   a vector of f32, rounded: makes tf32_across
 *   ACROSS_TF32                         who takes lines across k that are rounded, that or another
 *   BF16_OF_SHORTS(x)                   a vector of bf16 as f32
 *   F32_STEPS, BF16_STEPS               of k that load_f32 and load_bf16 take at a time
 *   load_f32, load_bf16, load_f16       transpose lines into vectors; bf16 in pairs
 *   DOTS_LOADS_SOME                     if there are load_some_f32 and load_some_bf16
 *   step_bf16                           a step of bf16 as f32
 *   load_fp8                            the same of either format, as 16 steps of bf16
 *   DOTS_IN_A_CROWD, IS_FOR_A_CROWD(t)  who takes lines that are crowded, if that is somebody else,
 *                                       and which of them
 *   floats_of_fp8(is_e4m3, p, n)        n fp8, at most DOTS_LANES, and zeros as f32
 */

#define DOTS_NAME               f32_dots
#define DOTS_ELEMENT            float
#define DOTS_STEPS              F32_STEPS
#define DOTS_RAW                DOTS_VEC
#define DOTS_RAWS               F32_STEPS
#define DOTS_LOAD(line, p, raw) load_f32(line, p, raw)
#ifdef DOTS_LOADS_SOME
#define DOTS_LOAD_SOME load_some_f32
#endif
#define DOTS_STEP(raw, s) (raw)[s]
#define DOTS_ONE(x)       (x)
#define LINE_LOAD(p)      DOTS_GET(p)
#define LINE_SOME(p, n)   SOME_FLOATS(p, n)
#include "cpu/kernels/dots_tmpl.h"

#define PARTS_NAME f32_parts
#include "cpu/kernels/parts_tmpl.h"

#define INNER_NAME    f32_inner
#define INNER_ELEMENT float
#include "cpu/kernels/inner_tmpl.h"

#define ACROSS_NAME    f32_across
#define ACROSS_ELEMENT float
#define ACROSS_STORE   f32_dots_store
#include "cpu/kernels/across_tmpl.h"

#ifdef TF32_OF_FLOATS
#define LINE_LOAD(p)    TF32_OF_FLOATS(DOTS_GET(p))
#define LINE_SOME(p, n) TF32_OF_FLOATS(SOME_FLOATS(p, n))
#define ACROSS_NAME     tf32_across
#define ACROSS_IS_SLOW  1
#define ACROSS_ELEMENT  float
#define ACROSS_STORE    f32_dots_store
#include "cpu/kernels/across_tmpl.h"
#endif

#define DOTS_NAME               bf16_dots
#define DOTS_ELEMENT            uint16_t
#define DOTS_STEPS              BF16_STEPS
#define DOTS_RAW                DOTS_VEC
#define DOTS_RAWS               (BF16_STEPS / 2)
#define DOTS_LOAD(line, p, raw) load_bf16(line, p, raw)
#ifdef DOTS_LOADS_SOME
#define DOTS_LOAD_SOME load_some_bf16
#endif
#define DOTS_STEP(raw, s) step_bf16((raw)[(s) / 2], s)
#define DOTS_ONE(x)       tcgemm_f32_of_bf16(x)
#define LINE_LOAD(p)      BF16_OF_SHORTS(SHORTS_OF(p))
#define LINE_SOME(p, n)   BF16_OF_SHORTS(SOME_SHORTS(p, n))
#include "cpu/kernels/dots_tmpl.h"

#define INNER_NAME    bf16_inner
#define INNER_ELEMENT uint16_t
#include "cpu/kernels/inner_tmpl.h"

#define ACROSS_NAME    bf16_across
#define ACROSS_ELEMENT uint16_t
#define ACROSS_STORE   f32_dots_store
#include "cpu/kernels/across_tmpl.h"

static inline float f32_of_fp8(bool is_e4m3, uint8_t x) {
    return is_e4m3 ? tcgemm_f32_of_e4m3(x) : tcgemm_f32_of_e5m2(x);
}

#define IS_E4M3                 (t->dtype == TCGEMM_DTYPE_E4M3)
#define DOTS_NAME               fp8_dots
#define DOTS_ELEMENT            uint8_t
#define DOTS_STEPS              16
#define DOTS_RAW                DOTS_VEC
#define DOTS_RAWS               8
#define DOTS_LOAD(line, p, raw) load_fp8(IS_E4M3, line, p, raw)
#define DOTS_STEP(raw, s)       step_bf16((raw)[(s) / 2], s)
#define DOTS_ONE(x)             f32_of_fp8(IS_E4M3, x)
#define LINE_LOAD(p)            floats_of_fp8(IS_E4M3, p, DOTS_LANES)
#define LINE_SOME(p, n)         floats_of_fp8(IS_E4M3, p, n)
#include "cpu/kernels/dots_tmpl.h"

#define ACROSS_NAME    fp8_across
#define ACROSS_IS_SLOW 1
#define ACROSS_ELEMENT uint8_t
#define ACROSS_STORE   f32_dots_store
#include "cpu/kernels/across_tmpl.h"

#define DOTS_NAME               f16_dots
#define DOTS_ELEMENT            uint16_t
#define DOTS_STEPS              8
#define DOTS_RAW                DOTS_SHORTS
#define DOTS_RAWS               8
#define DOTS_LOAD(line, p, raw) load_f16(line, p, raw)
#define DOTS_STEP(raw, s)       DOTS_WIDEN((raw)[s])
#define DOTS_ONE(x)             _cvtsh_ss(x)
#define LINE_LOAD(p)            DOTS_WIDEN(SHORTS_OF(p))
#define LINE_SOME(p, n)         DOTS_WIDEN(SOME_SHORTS(p, n))
#include "cpu/kernels/dots_tmpl.h"

#define INNER_NAME    f16_inner
#define INNER_ELEMENT uint16_t
#include "cpu/kernels/inner_tmpl.h"

#define ACROSS_NAME    f16_across
#define ACROSS_ELEMENT uint16_t
#define ACROSS_STORE   f32_dots_store
#include "cpu/kernels/across_tmpl.h"

void DOTS_F32(const tcgemm_dots_t *t) {
#ifdef DOTS_IN_A_CROWD
    if (t->is_crowded && IS_FOR_A_CROWD(t)) {
        DOTS_IN_A_CROWD(t);
        return;
    }
#endif
    if (t->dtype == TCGEMM_DTYPE_F16)
        f16_dots(t);
    else if (t->dtype == TCGEMM_DTYPE_BF16)
        bf16_dots(t);
    else if (tcgemm_dtype_bits(t->dtype) == 8)
        fp8_dots(t);
    else
        (f32_parts_suit(t) ? f32_parts : f32_dots)(t);
}

void ACROSS_F32(const tcgemm_dots_t *t) {
    if (t->dtype == TCGEMM_DTYPE_F16)
        f16_across(t);
    else if (t->dtype == TCGEMM_DTYPE_BF16)
        bf16_across(t);
    else if (tcgemm_dtype_bits(t->dtype) == 8)
        fp8_across(t);
    else if (t->rounds_to_tf32)
        ACROSS_TF32(t);
    else
        f32_across(t);
}

void INNER_F32(const tcgemm_dots_t *t) {
    if (t->dtype == TCGEMM_DTYPE_F16)
        f16_inner(t);
    else if (t->dtype == TCGEMM_DTYPE_BF16)
        bf16_inner(t);
    else
        f32_inner(t);
}
