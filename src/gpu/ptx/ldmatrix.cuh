/* ldmatrix.cuh - reads of shared memory that deal out fragments, one instruction each.
 * PTX ISA, Warp Level Matrix Multiply-Accumulate: "ldmatrix" (sm_75); Data Movement: "ld.shared",
 * "st.shared", "prmt".
 *
 * ldmatrix reads four 8x8 matrices of 16-bit elements; lane l gives the address of row l % 8 of
 * matrix l / 8. Lane l receives of each matrix row l / 4, columns 2(l % 4) and the next; with
 * .trans rows and columns are exchanged.
 */
#ifndef TCGEMM_PTX_LDMATRIX_CUH
#define TCGEMM_PTX_LDMATRIX_CUH

#include <stdint.h>

static __device__ __forceinline__ void tcgemm_ldmatrix_x4(uint32_t r[4], uint32_t from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
}

static __device__ __forceinline__ void tcgemm_ldmatrix_x4_trans(uint32_t r[4], uint32_t from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
}

static __device__ __forceinline__ void tcgemm_lds_32(uint32_t *r, uint32_t from) {
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(*r) : "r"(from) : "memory");
}

static __device__ __forceinline__ void tcgemm_lds_64(uint32_t r[2], uint32_t from) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(from)
                 : "memory");
}

static __device__ __forceinline__ void tcgemm_lds_128(uint32_t r[4], uint32_t from) {
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
}

/* If it is `wanted`; r keeps its value otherwise. So ptxas gives r registers of its own, and does
 * not put the load off until others are done with them. */
static __device__ __forceinline__ void tcgemm_lds_128_f32_if(float r[4], uint32_t from,
                                                             bool wanted) {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.u32 p, %5, 0;\n"
                 "@p ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];\n"
                 "}"
                 : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])
                 : "r"(from), "r"((uint32_t)wanted)
                 : "memory");
}

static __device__ __forceinline__ void tcgemm_lds_128_f64_if(double r[2], uint32_t from,
                                                             bool wanted) {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.u32 p, %3, 0;\n"
                 "@p ld.shared.v2.f64 {%0, %1}, [%2];\n"
                 "}"
                 : "+d"(r[0]), "+d"(r[1])
                 : "r"(from), "r"((uint32_t)wanted)
                 : "memory");
}

static __device__ __forceinline__ void tcgemm_lds_64_f64_if(double *r, uint32_t from, bool wanted) {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.u32 p, %2, 0;\n"
                 "@p ld.shared.f64 %0, [%1];\n"
                 "}"
                 : "+d"(*r)
                 : "r"(from), "r"((uint32_t)wanted)
                 : "memory");
}

static __device__ __forceinline__ void tcgemm_sts_128(uint32_t to, uint4 v) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z),
                 "r"(v.w)
                 : "memory");
}

/* The bytes of (b, a), 7..4 and 3..0, that the four nibbles of `which` name. */
static __device__ __forceinline__ uint32_t tcgemm_prmt(uint32_t a, uint32_t b, uint32_t which) {
    uint32_t r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(which));
    return r;
}

#endif
