/* wgmma.cuh - products of a warpgroup (sm_90a), one instruction each. PTX ISA, Asynchronous
 * Warpgroup Level Matrix Multiply-Accumulate: "wgmma.mma_async", "wgmma.fence",
 * "wgmma.commit_group", "wgmma.wait_group", "Matrix descriptor".
 *
 * c (64 x N) = a (64 x 32 bytes of k) * b (32 bytes of k x N) [+ c], both operands in shared
 * memory. Lane l of warp w holds of c, for each column block j of 8:
 *
 *     c[4j]      row 16 w + l / 4        column 8 j + 2 (l % 4)         c[4j + 1]   the next column
 *     c[4j + 2]  row 16 w + l / 4 + 8    the same columns               c[4j + 3]
 *
 * Or a comes from registers; of tf32, whose 32 bytes are eight elements of k, a lane then has
 *
 *     a[0]  row 16 w + l / 4        k = l % 4        a[2]  the same row    k = l % 4 + 4
 *     a[1]  row 16 w + l / 4 + 8    k = l % 4        a[3]  the same row    k = l % 4 + 4
 *
 * The product runs on while the threads do: c may be touched again, and the operands overwritten,
 * registers among them, after a wait alone.
 */
#ifndef TCGEMM_PTX_WGMMA_CUH
#define TCGEMM_PTX_WGMMA_CUH

#include <stdint.h>

/* Where an operand lies: rows of 128 bytes in the 128-byte swizzle, eight rows (1024 bytes, at a
 * multiple of 1024) an atom.
 *
 *     k contiguous        a row is 128 bytes of k of one m (n)      group_bytes from 8 m to 8 m
 *     m, n contiguous     a row is 64 elements of one k             group_bytes from 8 k to 8 k,
 *                                                                   next_bytes from 64 m to 64 m
 */
static __device__ __forceinline__ uint64_t tcgemm_wgmma_operand(uint32_t at, uint32_t next_bytes,
                                                                uint32_t group_bytes) {
    return (uint64_t)(at >> 4 & 0x3FFF) | (uint64_t)(next_bytes >> 4) << 16 |
           (uint64_t)(group_bytes >> 4) << 32 | (uint64_t)1 << 62;
}

/* The operand `bytes` further on. */
static __device__ __forceinline__ uint64_t tcgemm_wgmma_advance(uint64_t operand, uint32_t bytes) {
    return operand + (bytes >> 4);
}

/* Before the first product, and after registers of c or a were written in any other way. */
static __device__ __forceinline__ void tcgemm_wgmma_fence(void) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/* Closes a group of products. */
static __device__ __forceinline__ void tcgemm_wgmma_commit(void) {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most PENDING of the newest groups are under way. */
template <int PENDING> static __device__ __forceinline__ void tcgemm_wgmma_wait(void) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

/* run(c, a, b, add): c += a * b, or c = a * b where `add` is 0. A_MN, B_MN: 1 where m (n) is
 * contiguous, for 16-bit types alone. */
enum tcgemm_wgmma_kind {
    TCGEMM_WGMMA_F16,
    TCGEMM_WGMMA_BF16,
    TCGEMM_WGMMA_TF32,
    TCGEMM_WGMMA_E4M3,
    TCGEMM_WGMMA_E5M2,
    TCGEMM_WGMMA_S8,
    TCGEMM_WGMMA_U8,
    TCGEMM_WGMMA_U8S8,
    TCGEMM_WGMMA_S8U8
};
template <int KIND, int N> struct tcgemm_wgmma;

/* run(c, a, b, add): the same, of a in registers. */
template <int KIND, int N> struct tcgemm_wgmma_registers;

/* ---- the registers of c: eight for each 16 columns ---- */

#define TCGEMM_WGMMA_R0       "%0, %1, %2, %3, %4, %5, %6, %7"
#define TCGEMM_WGMMA_R1       "%8, %9, %10, %11, %12, %13, %14, %15"
#define TCGEMM_WGMMA_R2       "%16, %17, %18, %19, %20, %21, %22, %23"
#define TCGEMM_WGMMA_R3       "%24, %25, %26, %27, %28, %29, %30, %31"
#define TCGEMM_WGMMA_R4       "%32, %33, %34, %35, %36, %37, %38, %39"
#define TCGEMM_WGMMA_R5       "%40, %41, %42, %43, %44, %45, %46, %47"
#define TCGEMM_WGMMA_R6       "%48, %49, %50, %51, %52, %53, %54, %55"
#define TCGEMM_WGMMA_R7       "%56, %57, %58, %59, %60, %61, %62, %63"
#define TCGEMM_WGMMA_R8       "%64, %65, %66, %67, %68, %69, %70, %71"
#define TCGEMM_WGMMA_R9       "%72, %73, %74, %75, %76, %77, %78, %79"
#define TCGEMM_WGMMA_R10      "%80, %81, %82, %83, %84, %85, %86, %87"
#define TCGEMM_WGMMA_R11      "%88, %89, %90, %91, %92, %93, %94, %95"
#define TCGEMM_WGMMA_R12      "%96, %97, %98, %99, %100, %101, %102, %103"
#define TCGEMM_WGMMA_R13      "%104, %105, %106, %107, %108, %109, %110, %111"
#define TCGEMM_WGMMA_R14      "%112, %113, %114, %115, %116, %117, %118, %119"
#define TCGEMM_WGMMA_R15      "%120, %121, %122, %123, %124, %125, %126, %127"
#define TCGEMM_WGMMA_LIST_16  TCGEMM_WGMMA_R0
#define TCGEMM_WGMMA_LIST_32  TCGEMM_WGMMA_LIST_16 ", " TCGEMM_WGMMA_R1
#define TCGEMM_WGMMA_LIST_48  TCGEMM_WGMMA_LIST_32 ", " TCGEMM_WGMMA_R2
#define TCGEMM_WGMMA_LIST_64  TCGEMM_WGMMA_LIST_48 ", " TCGEMM_WGMMA_R3
#define TCGEMM_WGMMA_LIST_80  TCGEMM_WGMMA_LIST_64 ", " TCGEMM_WGMMA_R4
#define TCGEMM_WGMMA_LIST_96  TCGEMM_WGMMA_LIST_80 ", " TCGEMM_WGMMA_R5
#define TCGEMM_WGMMA_LIST_112 TCGEMM_WGMMA_LIST_96 ", " TCGEMM_WGMMA_R6
#define TCGEMM_WGMMA_LIST_128 TCGEMM_WGMMA_LIST_112 ", " TCGEMM_WGMMA_R7
#define TCGEMM_WGMMA_LIST_144 TCGEMM_WGMMA_LIST_128 ", " TCGEMM_WGMMA_R8
#define TCGEMM_WGMMA_LIST_160 TCGEMM_WGMMA_LIST_144 ", " TCGEMM_WGMMA_R9
#define TCGEMM_WGMMA_LIST_176 TCGEMM_WGMMA_LIST_160 ", " TCGEMM_WGMMA_R10
#define TCGEMM_WGMMA_LIST_192 TCGEMM_WGMMA_LIST_176 ", " TCGEMM_WGMMA_R11
#define TCGEMM_WGMMA_LIST_208 TCGEMM_WGMMA_LIST_192 ", " TCGEMM_WGMMA_R12
#define TCGEMM_WGMMA_LIST_224 TCGEMM_WGMMA_LIST_208 ", " TCGEMM_WGMMA_R13
#define TCGEMM_WGMMA_LIST_240 TCGEMM_WGMMA_LIST_224 ", " TCGEMM_WGMMA_R14
#define TCGEMM_WGMMA_LIST_256 TCGEMM_WGMMA_LIST_240 ", " TCGEMM_WGMMA_R15

#define TCGEMM_WGMMA_8(how, i)                                                                     \
    how(c[8 * (i)]), how(c[8 * (i) + 1]), how(c[8 * (i) + 2]), how(c[8 * (i) + 3]),                \
        how(c[8 * (i) + 4]), how(c[8 * (i) + 5]), how(c[8 * (i) + 6]), how(c[8 * (i) + 7])
#define TCGEMM_WGMMA_REGISTERS_16(how)  TCGEMM_WGMMA_8(how, 0)
#define TCGEMM_WGMMA_REGISTERS_32(how)  TCGEMM_WGMMA_REGISTERS_16(how), TCGEMM_WGMMA_8(how, 1)
#define TCGEMM_WGMMA_REGISTERS_48(how)  TCGEMM_WGMMA_REGISTERS_32(how), TCGEMM_WGMMA_8(how, 2)
#define TCGEMM_WGMMA_REGISTERS_64(how)  TCGEMM_WGMMA_REGISTERS_48(how), TCGEMM_WGMMA_8(how, 3)
#define TCGEMM_WGMMA_REGISTERS_80(how)  TCGEMM_WGMMA_REGISTERS_64(how), TCGEMM_WGMMA_8(how, 4)
#define TCGEMM_WGMMA_REGISTERS_96(how)  TCGEMM_WGMMA_REGISTERS_80(how), TCGEMM_WGMMA_8(how, 5)
#define TCGEMM_WGMMA_REGISTERS_112(how) TCGEMM_WGMMA_REGISTERS_96(how), TCGEMM_WGMMA_8(how, 6)
#define TCGEMM_WGMMA_REGISTERS_128(how) TCGEMM_WGMMA_REGISTERS_112(how), TCGEMM_WGMMA_8(how, 7)
#define TCGEMM_WGMMA_REGISTERS_144(how) TCGEMM_WGMMA_REGISTERS_128(how), TCGEMM_WGMMA_8(how, 8)
#define TCGEMM_WGMMA_REGISTERS_160(how) TCGEMM_WGMMA_REGISTERS_144(how), TCGEMM_WGMMA_8(how, 9)
#define TCGEMM_WGMMA_REGISTERS_176(how) TCGEMM_WGMMA_REGISTERS_160(how), TCGEMM_WGMMA_8(how, 10)
#define TCGEMM_WGMMA_REGISTERS_192(how) TCGEMM_WGMMA_REGISTERS_176(how), TCGEMM_WGMMA_8(how, 11)
#define TCGEMM_WGMMA_REGISTERS_208(how) TCGEMM_WGMMA_REGISTERS_192(how), TCGEMM_WGMMA_8(how, 12)
#define TCGEMM_WGMMA_REGISTERS_224(how) TCGEMM_WGMMA_REGISTERS_208(how), TCGEMM_WGMMA_8(how, 13)
#define TCGEMM_WGMMA_REGISTERS_240(how) TCGEMM_WGMMA_REGISTERS_224(how), TCGEMM_WGMMA_8(how, 14)
#define TCGEMM_WGMMA_REGISTERS_256(how) TCGEMM_WGMMA_REGISTERS_240(how), TCGEMM_WGMMA_8(how, 15)

/* ---- the instruction for one kind and N; a, b, add, a_mn, b_mn number the operands after c ----
 */

#define TCGEMM_WGMMA_16_BIT(kind, N, k, types, a, b, add_, a_mn, b_mn)                             \
    template <> struct tcgemm_wgmma<kind, N> {                                                     \
        template <int A_MN, int B_MN>                                                              \
        static __device__ __forceinline__ void run(float (&c)[N / 2], uint64_t a_at,               \
                                                   uint64_t b_at, int add) {                       \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " add_ ", 0;\n"                         \
                         "wgmma.mma_async.sync.aligned.m64n" #N k "." types                        \
                         " {" TCGEMM_WGMMA_LIST_##N "}, " a ", " b ", p, 1, 1, " a_mn ", " b_mn    \
                                                    ";\n}"                                         \
                         : TCGEMM_WGMMA_REGISTERS_##N("+f")                                        \
                         : "l"(a_at), "l"(b_at), "r"(add), "n"(A_MN), "n"(B_MN));                  \
        }                                                                                          \
    };
#define TCGEMM_WGMMA_FLOAT(kind, N, k, types, a, b, add_)                                          \
    template <> struct tcgemm_wgmma<kind, N> {                                                     \
        template <int A_MN, int B_MN>                                                              \
        static __device__ __forceinline__ void run(float (&c)[N / 2], uint64_t a_at,               \
                                                   uint64_t b_at, int add) {                       \
            static_assert(A_MN == 0 && B_MN == 0, "k contiguous");                                 \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " add_ ", 0;\n"                         \
                         "wgmma.mma_async.sync.aligned.m64n" #N k "." types                        \
                         " {" TCGEMM_WGMMA_LIST_##N "}, " a ", " b ", p, 1, 1;\n}"                 \
                         : TCGEMM_WGMMA_REGISTERS_##N("+f")                                        \
                         : "l"(a_at), "l"(b_at), "r"(add));                                        \
        }                                                                                          \
    };
#define TCGEMM_WGMMA_INTEGER(kind, N, types, a, b, add_)                                           \
    template <> struct tcgemm_wgmma<kind, N> {                                                     \
        template <int A_MN, int B_MN>                                                              \
        static __device__ __forceinline__ void run(uint32_t (&c)[N / 2], uint64_t a_at,            \
                                                   uint64_t b_at, int add) {                       \
            static_assert(A_MN == 0 && B_MN == 0, "k contiguous");                                 \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " add_ ", 0;\n"                         \
                         "wgmma.mma_async.sync.aligned.m64n" #N "k32.s32." types                   \
                         " {" TCGEMM_WGMMA_LIST_##N "}, " a ", " b ", p;\n}"                       \
                         : TCGEMM_WGMMA_REGISTERS_##N("+r")                                        \
                         : "l"(a_at), "l"(b_at), "r"(add));                                        \
        }                                                                                          \
    };
#define TCGEMM_WGMMA_ALL(N, a, b, add, a_mn, b_mn)                                                 \
    TCGEMM_WGMMA_16_BIT(TCGEMM_WGMMA_F16, N, "k16", "f32.f16.f16", a, b, add, a_mn, b_mn)          \
    TCGEMM_WGMMA_16_BIT(TCGEMM_WGMMA_BF16, N, "k16", "f32.bf16.bf16", a, b, add, a_mn, b_mn)       \
    TCGEMM_WGMMA_FLOAT(TCGEMM_WGMMA_TF32, N, "k8", "f32.tf32.tf32", a, b, add)                     \
    TCGEMM_WGMMA_FLOAT(TCGEMM_WGMMA_E4M3, N, "k32", "f32.e4m3.e4m3", a, b, add)                    \
    TCGEMM_WGMMA_FLOAT(TCGEMM_WGMMA_E5M2, N, "k32", "f32.e5m2.e5m2", a, b, add)                    \
    TCGEMM_WGMMA_INTEGER(TCGEMM_WGMMA_S8, N, "s8.s8", a, b, add)                                   \
    TCGEMM_WGMMA_INTEGER(TCGEMM_WGMMA_U8, N, "u8.u8", a, b, add)                                   \
    TCGEMM_WGMMA_INTEGER(TCGEMM_WGMMA_U8S8, N, "u8.s8", a, b, add)                                 \
    TCGEMM_WGMMA_INTEGER(TCGEMM_WGMMA_S8U8, N, "s8.u8", a, b, add)

TCGEMM_WGMMA_ALL(16, "%8", "%9", "%10", "%11", "%12")
TCGEMM_WGMMA_ALL(32, "%16", "%17", "%18", "%19", "%20")
TCGEMM_WGMMA_ALL(64, "%32", "%33", "%34", "%35", "%36")
TCGEMM_WGMMA_ALL(96, "%48", "%49", "%50", "%51", "%52")
TCGEMM_WGMMA_ALL(128, "%64", "%65", "%66", "%67", "%68")
TCGEMM_WGMMA_ALL(176, "%88", "%89", "%90", "%91", "%92")
TCGEMM_WGMMA_ALL(192, "%96", "%97", "%98", "%99", "%100")
TCGEMM_WGMMA_ALL(224, "%112", "%113", "%114", "%115", "%116")
TCGEMM_WGMMA_ALL(256, "%128", "%129", "%130", "%131", "%132")

/* ---- the same for a in registers: a is four operands ---- */

#define TCGEMM_WGMMA_BY_REGISTERS(N, a0, a1, a2, a3, b, add_)                                      \
    template <> struct tcgemm_wgmma_registers<TCGEMM_WGMMA_TF32, N> {                              \
        static __device__ __forceinline__ void run(float (&c)[N / 2], const uint32_t (&a)[4],      \
                                                   uint64_t b_at, int add) {                       \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " add_ ", 0;\n"                         \
                         "wgmma.mma_async.sync.aligned.m64n" #N "k8.f32.tf32.tf32"                 \
                         " {" TCGEMM_WGMMA_LIST_##N "}, {" a0 ", " a1 ", " a2 ", " a3 "}, " b      \
                                                    ", p, 1, 1;\n}"                                \
                         : TCGEMM_WGMMA_REGISTERS_##N("+f")                                        \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b_at), "r"(add));       \
        }                                                                                          \
    };

TCGEMM_WGMMA_BY_REGISTERS(16, "%8", "%9", "%10", "%11", "%12", "%13")
TCGEMM_WGMMA_BY_REGISTERS(32, "%16", "%17", "%18", "%19", "%20", "%21")
TCGEMM_WGMMA_BY_REGISTERS(64, "%32", "%33", "%34", "%35", "%36", "%37")
TCGEMM_WGMMA_BY_REGISTERS(128, "%64", "%65", "%66", "%67", "%68", "%69")
TCGEMM_WGMMA_BY_REGISTERS(256, "%128", "%129", "%130", "%131", "%132", "%133")

#endif
