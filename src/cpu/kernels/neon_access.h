/* neon_access.h - the first lanes of a vector of 16 bytes, read from and written to matrices, and
 * what the registers of a tile are fed with; a "mask" is the number of lanes, 1 or more. */
#ifndef TCGEMM_CPU_KERNELS_NEON_ACCESS_H
#define TCGEMM_CPU_KERNELS_NEON_ACCESS_H

#include <arm_neon.h>

#include "cpu/kernels/kernels.h"

static TCGEMM_ALWAYS_INLINE uint32x4_t get_u32(const uint32_t *p, int lanes) {
    if (lanes >= 4)
        return vld1q_u32(p);
    const uint32x2_t none = vdup_n_u32(0);
    if (lanes == 3)
        return vcombine_u32(vld1_u32(p), vld1_lane_u32(p + 2, none, 0));
    return vcombine_u32(lanes == 2 ? vld1_u32(p) : vld1_lane_u32(p, none, 0), none);
}

static TCGEMM_ALWAYS_INLINE void put_u32(uint32_t *p, int lanes, uint32x4_t x) {
    if (lanes >= 4) {
        vst1q_u32(p, x);
        return;
    }
    if (lanes & 2)
        vst1_u32(p, vget_low_u32(x));
    if (lanes == 3)
        vst1q_lane_u32(p + 2, x, 2);
    else if (lanes == 1)
        vst1q_lane_u32(p, x, 0);
}

static TCGEMM_ALWAYS_INLINE float32x4_t get_f32(const float *p, int lanes) {
    if (lanes >= 4)
        return vld1q_f32(p);
    const float32x2_t none = vdup_n_f32(0.0f);
    if (lanes == 3)
        return vcombine_f32(vld1_f32(p), vld1_lane_f32(p + 2, none, 0));
    return vcombine_f32(lanes == 2 ? vld1_f32(p) : vld1_lane_f32(p, none, 0), none);
}

static TCGEMM_ALWAYS_INLINE void put_f32(float *p, int lanes, float32x4_t x) {
    if (lanes >= 4) {
        vst1q_f32(p, x);
        return;
    }
    if (lanes & 2)
        vst1_f32(p, vget_low_f32(x));
    if (lanes == 3)
        vst1q_lane_f32(p + 2, x, 2);
    else if (lanes == 1)
        vst1q_lane_f32(p, x, 0);
}

static TCGEMM_ALWAYS_INLINE float64x2_t get_f64(const double *p, int lanes) {
    return lanes >= 2 ? vld1q_f64(p) : vcombine_f64(vld1_f64(p), vdup_n_f64(0.0));
}

static TCGEMM_ALWAYS_INLINE void put_f64(double *p, int lanes, float64x2_t x) {
    if (lanes >= 2)
        vst1q_f64(p, x);
    else
        vst1_f64(p, vget_low_f64(x));
}

/* Four bytes as they are, alone in a vector register: what an instruction takes by element. */
static TCGEMM_ALWAYS_INLINE float load_word(const uint32_t *p) {
    float word;
    memcpy(&word, p, sizeof word);
    return word;
}

#endif
