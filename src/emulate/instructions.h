/* instructions.h - what a kernel asks of the machine: the calls behind the CUDA built-ins and the
 * models of src/gpu/ptx/. Plain C; device/ wraps them in the names that kernels use.
 *
 * Registers travel by value, so that a thread's variables stay its own. Functions of a warp are
 * called by all of its lanes, from one place (emulate/machine.h, rendezvous).
 */
#ifndef TCGEMM_EMULATE_INSTRUCTIONS_H
#define TCGEMM_EMULATE_INSTRUCTIONS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tcgemm_emulate_dim {
    uint32_t x, y, z;
} tcgemm_emulate_dim_t;

/* A thread asks for its place as often as it likes: it never changes. */
tcgemm_emulate_dim_t tcgemm_emulate_thread_idx(void) __attribute__((const));
tcgemm_emulate_dim_t tcgemm_emulate_block_idx(void) __attribute__((const));
tcgemm_emulate_dim_t tcgemm_emulate_block_dim(void) __attribute__((const));
tcgemm_emulate_dim_t tcgemm_emulate_grid_dim(void) __attribute__((const));

/* ---- synchronisation ---- */

/* Where in the source the thread is: what the functions of a warp below are called from. */
void tcgemm_emulate_here(const char *file, uint32_t line);

void tcgemm_emulate_syncthreads(void);
void tcgemm_emulate_syncwarp(void);
uint32_t tcgemm_emulate_shfl(uint32_t mask, uint32_t value, uint32_t from);

/* ---- clusters (emulate/cluster.c) ---- */

uint32_t tcgemm_emulate_cluster_rank(void) __attribute__((const));
uint32_t tcgemm_emulate_cluster_ranks(void) __attribute__((const));
/* releases: what was written before may be read by others behind the barrier. */
void tcgemm_emulate_cluster_arrive(int releases);
void tcgemm_emulate_cluster_wait(void);

/* ---- shared memory by its 32-bit addresses ---- */

typedef struct tcgemm_emulate_u4 {
    uint32_t r[4];
} tcgemm_emulate_u4_t;
typedef struct tcgemm_emulate_u2 {
    uint32_t r[2];
} tcgemm_emulate_u2_t;
typedef struct tcgemm_emulate_d2 {
    double r[2];
} tcgemm_emulate_d2_t;

/* The block's one array of static shared memory. */
void *tcgemm_emulate_static_shared(uint32_t bytes) __attribute__((const));
uint32_t tcgemm_emulate_shared_address(const void *p);
uint32_t tcgemm_emulate_lds_32(uint32_t from);
tcgemm_emulate_u2_t tcgemm_emulate_lds_64(uint32_t from);
tcgemm_emulate_u4_t tcgemm_emulate_lds_128(uint32_t from);
tcgemm_emulate_d2_t tcgemm_emulate_lds_128_f64(uint32_t from);
void tcgemm_emulate_sts_32(uint32_t to, uint32_t value);
void tcgemm_emulate_sts_64(uint32_t to, tcgemm_emulate_u2_t value);
void tcgemm_emulate_sts_128(uint32_t to, tcgemm_emulate_u4_t value);
tcgemm_emulate_u4_t tcgemm_emulate_ldmatrix_x4(uint32_t from, int trans);

/* Of the shared memory of block `rank` of the cluster. */
tcgemm_emulate_u4_t tcgemm_emulate_cluster_lds_128(uint32_t from, uint32_t rank);

/* ---- cp.async ---- */

void tcgemm_emulate_cp_async(uint32_t to, const void *from, uint32_t size, uint32_t bytes);
void tcgemm_emulate_cp_async_commit(void);
void tcgemm_emulate_cp_async_wait(uint32_t pending);
void tcgemm_emulate_cp_async_arrive(uint32_t barrier);

/* ---- mbarriers (emulate/mbarrier.c) ---- */

void tcgemm_emulate_mbarrier_init(uint32_t at, uint32_t arrivals);
void tcgemm_emulate_mbarrier_fence_init(void);
void tcgemm_emulate_mbarrier_arrive(uint32_t at, uint32_t bytes);
/* At the barrier at this place of the shared memory of block `rank` of the cluster. */
void tcgemm_emulate_mbarrier_arrive_at(uint32_t at, uint32_t rank);
void tcgemm_emulate_mbarrier_wait(uint32_t at, uint32_t parity);

/* ---- boxes of a tensor, from gpu/tensor_map.h ---- */

typedef struct tcgemm_emulate_box {
    const void *base;
    uint64_t size[3];   /* elements */
    uint64_t stride[2]; /* bytes */
    uint32_t extent[3]; /* of the box */
    uint32_t element_bytes;
    int rounds_to_tf32;
    int32_t at[3]; /* its first element */
} tcgemm_emulate_box_t;

/* ranks: bit r has it come to `to` of block r of the cluster, and counted by the barrier there. */
void tcgemm_emulate_box_load(uint32_t to, const tcgemm_emulate_box_t *box, uint32_t barrier,
                             uint32_t ranks);
void tcgemm_emulate_box_store(uint32_t from, const tcgemm_emulate_box_t *box);
void tcgemm_emulate_box_commit(void);
/* Until all but the newest `pending` groups have been read. */
void tcgemm_emulate_box_wait(uint32_t pending);
/* What the thread has written to shared memory may leave by boxes. */
void tcgemm_emulate_box_fence(void);

/* ---- products: c + a * b, m x n x k of one instruction (emulate/product.h) ---- */

typedef enum tcgemm_emulate_element {
    TCGEMM_EMULATE_F16,
    TCGEMM_EMULATE_BF16,
    TCGEMM_EMULATE_TF32,
    TCGEMM_EMULATE_S8,
    TCGEMM_EMULATE_U8,
    TCGEMM_EMULATE_F64,
    TCGEMM_EMULATE_E4M3,
    TCGEMM_EMULATE_E5M2
} tcgemm_emulate_element_t;

typedef struct tcgemm_emulate_f4 {
    float r[4];
} tcgemm_emulate_f4_t;
typedef struct tcgemm_emulate_d4 {
    double r[4];
} tcgemm_emulate_d4_t;
typedef struct tcgemm_emulate_d8 {
    double r[8];
} tcgemm_emulate_d8_t;

/* m16n8; k by the type, or half of it. */
tcgemm_emulate_f4_t tcgemm_emulate_mma_f32(tcgemm_emulate_element_t type, uint32_t k,
                                           tcgemm_emulate_f4_t c, tcgemm_emulate_u4_t a,
                                           tcgemm_emulate_u2_t b);
tcgemm_emulate_u2_t tcgemm_emulate_mma_f16(uint32_t k, tcgemm_emulate_u2_t c, tcgemm_emulate_u4_t a,
                                           tcgemm_emulate_u2_t b);
/* m16n8k32 or, with rows 8, m8n8k16. */
tcgemm_emulate_u4_t tcgemm_emulate_mma_s32(tcgemm_emulate_element_t a_type,
                                           tcgemm_emulate_element_t b_type, uint32_t rows,
                                           tcgemm_emulate_u4_t c, tcgemm_emulate_u4_t a,
                                           tcgemm_emulate_u2_t b);
/* m16n8k4, k8, k16; m8n8k4 with rows 8. */
tcgemm_emulate_d4_t tcgemm_emulate_mma_f64(uint32_t rows, uint32_t k, tcgemm_emulate_d4_t c,
                                           tcgemm_emulate_d8_t a, tcgemm_emulate_d4_t b);

/* ---- products of a warpgroup, m64 (emulate/wgmma.c) ---- */

typedef struct tcgemm_emulate_wgmma {
    tcgemm_emulate_element_t a_type, b_type;
    uint32_t n;
    int a_mn, b_mn; /* not 0: m (n) is contiguous */
    int add;
    uint64_t a, b;               /* descriptors */
    const uint32_t *a_registers; /* of the thread, four; or NULL: a is in shared memory */
} tcgemm_emulate_wgmma_t;

/* c: n / 2 words, floats or integers. */
void tcgemm_emulate_wgmma(void *c, tcgemm_emulate_wgmma_t x);
void tcgemm_emulate_wgmma_fence(void);
void tcgemm_emulate_wgmma_commit(void);
void tcgemm_emulate_wgmma_wait(uint32_t pending);
void tcgemm_emulate_setmaxnreg(uint32_t count, int more);

/* ---- one number ---- */

float tcgemm_emulate_f32_of_f16(uint16_t f16) __attribute__((const));
uint16_t tcgemm_emulate_f16_of_e4m3(uint8_t e4m3) __attribute__((const));
uint16_t tcgemm_emulate_f16_of_f64(double x) __attribute__((const));
uint16_t tcgemm_emulate_bf16_of_f64(double x) __attribute__((const));
uint32_t tcgemm_emulate_tf32_of_f32(uint32_t f32_bits) __attribute__((const));

/* Multiply-adds of the CUDA cores so far. An instruction of its own where it can be one, so that
 * it is no access to memory that the hooks would have to look at. */
extern uint64_t tcgemm_emulate_num_fma __attribute__((visibility("hidden")));
static inline __attribute__((always_inline)) void tcgemm_emulate_count_fma(void) {
#if defined(__x86_64__)
    __asm__ volatile("incq tcgemm_emulate_num_fma(%%rip)" ::: "cc");
#else
    ++tcgemm_emulate_num_fma;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
