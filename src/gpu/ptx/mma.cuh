/* mma.cuh - the warp-wide products mma.sync, one instruction each: c += a * b.
 * PTX ISA, Warp Level Matrix Multiply-Accumulate: "mma". Which lane owns what: tile/fragment.h.
 *
 *     from     instruction
 *     sm_75    f16 m16n8k8; 8-bit m8n8k16
 *     sm_80    f16 and bf16 m16n8k16, tf32 m16n8k8, 8-bit m16n8k32, f64 m8n8k4
 *     sm_89    fp8 m16n8k32
 *     sm_90    f64 m16n8k4, k8, k16
 *
 * Each c is read and written. Integer sums wrap modulo 2^32 (no .satfinite). Not volatile: the
 * compiler may move a product as it may move an addition.
 */
#ifndef TCGEMM_PTX_MMA_CUH
#define TCGEMM_PTX_MMA_CUH

#include <stdint.h>

/* ---- 16-bit ---- */

static __device__ __forceinline__ void tcgemm_mma_m16n8k16_f32_f16(float c[4], const uint32_t a[4],
                                                                   const uint32_t b[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ void tcgemm_mma_m16n8k8_f32_f16(float c[4], const uint32_t a[2],
                                                                  const uint32_t b[1]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

/* Accumulators in half precision: c[0] holds c0, c1 and c[1] holds c2, c3. */
static __device__ __forceinline__ void
tcgemm_mma_m16n8k16_f16_f16(uint32_t c[2], const uint32_t a[4], const uint32_t b[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
        "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
        : "+r"(c[0]), "+r"(c[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ void
tcgemm_mma_m16n8k8_f16_f16(uint32_t c[2], const uint32_t a[2], const uint32_t b[1]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 "
        "{%0, %1}, {%2, %3}, {%4}, {%0, %1};"
        : "+r"(c[0]), "+r"(c[1])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

static __device__ __forceinline__ void tcgemm_mma_m16n8k16_f32_bf16(float c[4], const uint32_t a[4],
                                                                    const uint32_t b[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* ---- tf32: the low 13 bits of a and b do not count ---- */

static __device__ __forceinline__ void tcgemm_mma_m16n8k8_f32_tf32(float c[4], const uint32_t a[4],
                                                                   const uint32_t b[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* ---- 8-bit ---- */

static __device__ __forceinline__ void tcgemm_mma_m16n8k32_s8_s8(uint32_t c[4], const uint32_t a[4],
                                                                 const uint32_t b[2]) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ void tcgemm_mma_m16n8k32_s8_u8(uint32_t c[4], const uint32_t a[4],
                                                                 const uint32_t b[2]) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ void tcgemm_mma_m16n8k32_u8_s8(uint32_t c[4], const uint32_t a[4],
                                                                 const uint32_t b[2]) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ void tcgemm_mma_m16n8k32_u8_u8(uint32_t c[4], const uint32_t a[4],
                                                                 const uint32_t b[2]) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ void tcgemm_mma_m8n8k16_s8_s8(uint32_t c[2], const uint32_t a[1],
                                                                const uint32_t b[1]) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 "
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(c[0]), "+r"(c[1])
        : "r"(a[0]), "r"(b[0]));
}

static __device__ __forceinline__ void tcgemm_mma_m8n8k16_s8_u8(uint32_t c[2], const uint32_t a[1],
                                                                const uint32_t b[1]) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 "
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(c[0]), "+r"(c[1])
        : "r"(a[0]), "r"(b[0]));
}

static __device__ __forceinline__ void tcgemm_mma_m8n8k16_u8_s8(uint32_t c[2], const uint32_t a[1],
                                                                const uint32_t b[1]) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 "
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(c[0]), "+r"(c[1])
        : "r"(a[0]), "r"(b[0]));
}

static __device__ __forceinline__ void tcgemm_mma_m8n8k16_u8_u8(uint32_t c[2], const uint32_t a[1],
                                                                const uint32_t b[1]) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 "
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(c[0]), "+r"(c[1])
        : "r"(a[0]), "r"(b[0]));
}

/* ---- fp8: 13 bits after the point of the largest term are kept (docs/numerics.md). PTX ISA 8.4;
 * for sm_90 and sm_100 to 110 ptxas makes two products of f16 of it ---- */

static __device__ __forceinline__ void tcgemm_mma_m16n8k32_f32_e4m3(float c[4], const uint32_t a[4],
                                                                    const uint32_t b[2]) {
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ void tcgemm_mma_m16n8k32_f32_e5m2(float c[4], const uint32_t a[4],
                                                                    const uint32_t b[2]) {
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* ---- f64 ---- */

static __device__ __forceinline__ void tcgemm_mma_m8n8k4_f64(double c[2], const double a[1],
                                                             const double b[1]) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(a[0]), "d"(b[0]));
}

static __device__ __forceinline__ void tcgemm_mma_m16n8k4_f64(double c[4], const double a[2],
                                                              const double b[1]) {
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(b[0]));
}

static __device__ __forceinline__ void tcgemm_mma_m16n8k8_f64(double c[4], const double a[4],
                                                              const double b[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

static __device__ __forceinline__ void tcgemm_mma_m16n8k16_f64(double c[4], const double a[8],
                                                               const double b[4]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, "
        "%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
          "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

#endif
