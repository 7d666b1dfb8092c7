/* golden.h - what the emulator assumes of the hardware, as a list of kernels of one instruction
 * each (golden.cuh), and the registers that each is given. Plain C for the recorder, which runs
 * them on a GPU (record.cu), and for the test, which runs them in the emulator (test_golden.c).
 *
 * The file golden/<name>.bin: GOLDEN_MAGIC, then for each kernel of the list, for each case, the
 * output words of lanes 0 .. 31. The inputs are made again from the number of the kernel and the
 * case.
 */
#ifndef TCGEMM_TESTS_GOLDEN_H
#define TCGEMM_TESTS_GOLDEN_H

#include <stdint.h>
#include <string.h>

#define GOLDEN_MAGIC "TCGEMM golden 1\n"

enum { GOLDEN_LANES = 32, GOLDEN_CASES = 6, GOLDEN_MAX_WORDS = 40 };

/* What the words of a register are. */
typedef enum golden_kind {
    GOLDEN_F16,   /* two in a word */
    GOLDEN_BF16,  /* two in a word */
    GOLDEN_F32,   /* also tf32 */
    GOLDEN_F64,   /* two words, the low one first */
    GOLDEN_BYTES, /* any bits, compared bit by bit */
    GOLDEN_INDEX  /* the lane's number */
} golden_kind_t;

/* X(name, kind of C and D, words of C, of D, kind of A and B, words of A, of B, terms of a sum) */
#define GOLDEN_LIST(X)                                                                             \
    X(mma_m16n8k16_f32_f16, GOLDEN_F32, 4, 4, GOLDEN_F16, 4, 2, 16)                                \
    X(mma_m16n8k8_f32_f16, GOLDEN_F32, 4, 4, GOLDEN_F16, 2, 1, 8)                                  \
    X(mma_m16n8k16_f16_f16, GOLDEN_F16, 2, 2, GOLDEN_F16, 4, 2, 16)                                \
    X(mma_m16n8k8_f16_f16, GOLDEN_F16, 2, 2, GOLDEN_F16, 2, 1, 8)                                  \
    X(mma_m16n8k16_f32_bf16, GOLDEN_F32, 4, 4, GOLDEN_BF16, 4, 2, 16)                              \
    X(mma_m16n8k8_f32_tf32, GOLDEN_F32, 4, 4, GOLDEN_F32, 4, 2, 8)                                 \
    X(mma_m16n8k32_s8_s8, GOLDEN_BYTES, 4, 4, GOLDEN_BYTES, 4, 2, 32)                              \
    X(mma_m16n8k32_s8_u8, GOLDEN_BYTES, 4, 4, GOLDEN_BYTES, 4, 2, 32)                              \
    X(mma_m16n8k32_u8_s8, GOLDEN_BYTES, 4, 4, GOLDEN_BYTES, 4, 2, 32)                              \
    X(mma_m16n8k32_u8_u8, GOLDEN_BYTES, 4, 4, GOLDEN_BYTES, 4, 2, 32)                              \
    X(mma_m8n8k16_s8_s8, GOLDEN_BYTES, 2, 2, GOLDEN_BYTES, 1, 1, 16)                               \
    X(mma_m8n8k16_s8_u8, GOLDEN_BYTES, 2, 2, GOLDEN_BYTES, 1, 1, 16)                               \
    X(mma_m8n8k16_u8_s8, GOLDEN_BYTES, 2, 2, GOLDEN_BYTES, 1, 1, 16)                               \
    X(mma_m8n8k16_u8_u8, GOLDEN_BYTES, 2, 2, GOLDEN_BYTES, 1, 1, 16)                               \
    X(mma_m8n8k4_f64, GOLDEN_F64, 4, 4, GOLDEN_F64, 2, 2, 4)                                       \
    X(mma_m16n8k4_f64, GOLDEN_F64, 8, 8, GOLDEN_F64, 4, 2, 4)                                      \
    X(mma_m16n8k8_f64, GOLDEN_F64, 8, 8, GOLDEN_F64, 8, 4, 8)                                      \
    X(mma_m16n8k16_f64, GOLDEN_F64, 8, 8, GOLDEN_F64, 16, 8, 16)                                   \
    X(wmma_f16_f32_16x16, GOLDEN_F32, 8, 8, GOLDEN_F16, 4, 4, 16)                                  \
    X(wmma_f16_f32_32x8, GOLDEN_F32, 8, 8, GOLDEN_F16, 8, 2, 16)                                   \
    X(wmma_f16_f32_8x32, GOLDEN_F32, 8, 8, GOLDEN_F16, 2, 8, 16)                                   \
    X(wmma_f16_f16_16x16, GOLDEN_F16, 4, 4, GOLDEN_F16, 4, 4, 16)                                  \
    X(wmma_f16_f16_32x8, GOLDEN_F16, 4, 4, GOLDEN_F16, 8, 2, 16)                                   \
    X(wmma_f16_f16_8x32, GOLDEN_F16, 4, 4, GOLDEN_F16, 2, 8, 16)                                   \
    X(wmma_bf16_f32_16x16, GOLDEN_F32, 8, 8, GOLDEN_BF16, 4, 4, 16)                                \
    X(wmma_bf16_f32_32x8, GOLDEN_F32, 8, 8, GOLDEN_BF16, 8, 2, 16)                                 \
    X(wmma_bf16_f32_8x32, GOLDEN_F32, 8, 8, GOLDEN_BF16, 2, 8, 16)                                 \
    X(wmma_tf32_f32_16x16, GOLDEN_F32, 8, 8, GOLDEN_F32, 4, 4, 8)                                  \
    X(wmma_s8_s32_16x16, GOLDEN_BYTES, 8, 8, GOLDEN_BYTES, 2, 2, 16)                               \
    X(wmma_s8_s32_32x8, GOLDEN_BYTES, 8, 8, GOLDEN_BYTES, 4, 1, 16)                                \
    X(wmma_s8_s32_8x32, GOLDEN_BYTES, 8, 8, GOLDEN_BYTES, 1, 4, 16)                                \
    X(wmma_u8_s32_16x16, GOLDEN_BYTES, 8, 8, GOLDEN_BYTES, 2, 2, 16)                               \
    X(wmma_u8_s32_32x8, GOLDEN_BYTES, 8, 8, GOLDEN_BYTES, 4, 1, 16)                                \
    X(wmma_u8_s32_8x32, GOLDEN_BYTES, 8, 8, GOLDEN_BYTES, 1, 4, 16)                                \
    X(wmma_f64_f64_8x8, GOLDEN_F64, 4, 4, GOLDEN_F64, 2, 2, 4)                                     \
    X(ldmatrix_x4, GOLDEN_BYTES, 4, 4, GOLDEN_INDEX, 1, 0, 0)                                      \
    X(ldmatrix_x4_trans, GOLDEN_BYTES, 4, 4, GOLDEN_INDEX, 1, 0, 0)                                \
    X(cp_async_zeros, GOLDEN_BYTES, 4, 4, GOLDEN_INDEX, 1, 0, 0)                                   \
    X(shfl, GOLDEN_BYTES, 2, 2, GOLDEN_INDEX, 1, 0, 0)                                             \
    X(prmt, GOLDEN_BYTES, 2, 4, GOLDEN_INDEX, 1, 0, 0)                                             \
    X(cvt_f16, GOLDEN_BYTES, 4, 4, GOLDEN_F16, 2, 2, 0)                                            \
    X(cvt_rn, GOLDEN_BYTES, 0, 8, GOLDEN_F32, 2, 2, 0)

typedef struct golden_case {
    const char *name;
    golden_kind_t c_kind;
    int c_words, d_words;
    golden_kind_t ab_kind;
    int a_words, b_words;
    int terms;
} golden_case_t;

#define GOLDEN_ROW(name, c_kind, c_words, d_words, ab_kind, a_words, b_words, terms)               \
    {"golden_" #name, c_kind, c_words, d_words, ab_kind, a_words, b_words, terms},
static const golden_case_t golden_cases[] = {GOLDEN_LIST(GOLDEN_ROW)};
enum { GOLDEN_NUM = sizeof golden_cases / sizeof golden_cases[0] };

static inline int golden_in_words(const golden_case_t *x) {
    return x->c_words + x->a_words + x->b_words;
}

/* ---- registers ---- */

static inline uint64_t golden_random(uint64_t *state) { /* splitmix64 */
    uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* A float of `exponent` and `fraction` bits. Cases: 0 and 1 between 1/2 and 2, either sign; 2 whole
 * numbers; 3 exponents far and wide; 4 subnormals among ordinary numbers; 5 with NaN and infinity.
 */
static inline uint64_t golden_float(int which, int exponent, int fraction, uint64_t *state) {
    const uint64_t r = golden_random(state), bias = (UINT64_C(1) << (exponent - 1)) - 1;
    const uint64_t sign = (r >> 63) << (exponent + fraction);
    const uint64_t bits = r & ((UINT64_C(1) << fraction) - 1);
    const uint64_t of_one = bias << fraction;
    switch (which) {
    case 2: /* 1, 2, 3: the fraction of 3 is one half */
        return sign | (r % 3 == 0   ? of_one
                       : r % 3 == 1 ? of_one + (UINT64_C(1) << fraction)
                                    : of_one + (UINT64_C(3) << (fraction - 1)));
    case 3:
        return sign | (bias - 6 + (r >> 40) % 12) << fraction | bits;
    case 4:
        return sign | ((r >> 40) % 4 ? of_one | bits : bits);
    case 5:
        if ((r >> 40) % 64 == 0)
            return sign | ((UINT64_C(1) << exponent) - 1) << fraction |
                   ((r >> 50) % 2 ? UINT64_C(1) << (fraction - 1) : 0);
        return sign | of_one | bits;
    default:
        return sign | (of_one - ((r >> 40) % 2 << fraction)) | bits;
    }
}

static inline void golden_words(golden_kind_t kind, int which, int lane, uint32_t *w, int count,
                                uint64_t *state) {
    for (int i = 0; i < count; ++i)
        switch (kind) {
        case GOLDEN_F16: {
            const uint32_t low = (uint32_t)golden_float(which, 5, 10, state);
            w[i] = low | (uint32_t)golden_float(which, 5, 10, state) << 16;
            break;
        }
        case GOLDEN_BF16: {
            const uint32_t low = (uint32_t)golden_float(which, 8, 7, state);
            w[i] = low | (uint32_t)golden_float(which, 8, 7, state) << 16;
            break;
        }
        case GOLDEN_F32:
            w[i] = (uint32_t)golden_float(which, 8, 23, state);
            break;
        case GOLDEN_F64: {
            const uint64_t x = golden_float(which, 11, 52, state);
            w[i] = (uint32_t)x;
            w[++i] = (uint32_t)(x >> 32);
            break;
        }
        case GOLDEN_BYTES:
            w[i] = (uint32_t)golden_random(state);
            break;
        default:
            w[i] = (uint32_t)lane;
            break;
        }
}

/* The registers of all lanes: of each C, then A, then B. */
static inline void golden_input(int index, int which, uint32_t *in) {
    const golden_case_t *x = &golden_cases[index];
    uint64_t state = (uint64_t)(index * 100 + which);
    for (int lane = 0; lane < GOLDEN_LANES; ++lane) {
        golden_words(x->c_kind, which, lane, in, x->c_words, &state);
        in += x->c_words;
        golden_words(x->ab_kind, which, lane, in, x->a_words + x->b_words, &state);
        in += x->a_words + x->b_words;
    }
}

#endif
