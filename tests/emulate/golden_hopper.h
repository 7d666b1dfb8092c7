/* golden_hopper.h - what the emulator assumes of boxes and wgmma, as a list of kernels and what
 * each is given. Plain C for the recorder, which runs them on an sm_90 (record_hopper.cu), and for
 * the test, which runs them in the emulator (test_golden_hopper.c).
 *
 * A box: a tensor of 3 dimensions of which it covers a part, and parts that are not there; what
 * lies in shared memory then is the output. A product: 64 x n of 128 bytes of k, both operands
 * brought by boxes (of ..._registers A goes on to registers), added to numbers that tell threads
 * and registers apart; the registers are the output.
 *
 * The file golden/<name>.hopper: GOLDEN_HOPPER_MAGIC, then for each case of each list, for each
 * round, the words of the output. The inputs are made again from the numbers of case and round.
 */
#ifndef TCGEMM_TESTS_GOLDEN_HOPPER_H
#define TCGEMM_TESTS_GOLDEN_HOPPER_H

#include "emulate/golden.h"
#include "gpu/tensor_map.h"

#define GOLDEN_HOPPER_MAGIC "TCGEMM hopper 1\n"

enum {
    HOPPER_ROUNDS = 2, /* small whole numbers; any */
    HOPPER_THREADS = 128,
    HOPPER_BYTES = 65536,         /* of an operand, ... */
    HOPPER_WORDS = 64 * 256,      /* ... of the output */
    HOPPER_A = 16384,             /* the operands in shared memory: A at 0, B after it, ... */
    HOPPER_BARRIER = 49152 - 128, /* ... and the mbarrier */
    HOPPER_SMEM = 49152 - 64
};

typedef enum hopper_element {
    HOPPER_F16,
    HOPPER_BF16,
    HOPPER_F32, /* tf32, as wgmma takes it */
    HOPPER_E4M3,
    HOPPER_E5M2,
    HOPPER_S8,
    HOPPER_U8,
    HOPPER_ROUNDED, /* f32 that a box rounds to tf32 */
    HOPPER_PLAIN    /* f32 that it leaves alone */
} hopper_element_t;

static inline uint32_t hopper_bytes_of(hopper_element_t x) {
    switch (x) {
    case HOPPER_F16:
    case HOPPER_BF16:
        return 2;
    case HOPPER_F32:
    case HOPPER_ROUNDED:
    case HOPPER_PLAIN:
        return 4;
    default:
        return 1;
    }
}

/* ---- boxes: element, size of the tensor, lines and items of the box, where it begins: along a row
 * at multiples of 16 bytes, as kernels do ---- */

typedef struct hopper_box {
    hopper_element_t element;
    uint32_t size[3], lines, items;
    int32_t at[3];
} hopper_box_t;

static const hopper_box_t hopper_boxes[] = {
    {HOPPER_BF16, {64, 32, 1}, 32, 1, {0, 0, 0}},       /* all there */
    {HOPPER_BF16, {100, 50, 2}, 16, 1, {32, 7, 1}},     /* inside */
    {HOPPER_BF16, {100, 50, 2}, 32, 1, {64, 30, 1}},    /* over two edges */
    {HOPPER_BF16, {100, 50, 2}, 16, 1, {-8, -3, 0}},    /* before the start */
    {HOPPER_BF16, {100, 50, 2}, 8, 1, {0, 0, 2}},       /* beyond the last item */
    {HOPPER_BF16, {1, 1, 1}, 8, 1, {0, 0, 0}},          /* one element */
    {HOPPER_F16, {70, 9, 3}, 8, 2, {8, 4, 1}},          /* two items, both with lines missing */
    {HOPPER_S8, {200, 20, 1}, 16, 1, {80, 3, 0}},       /* 8 bit */
    {HOPPER_S8, {129, 20, 1}, 16, 1, {16, 5, 0}},       /* 8 bit, an odd edge */
    {HOPPER_PLAIN, {40, 20, 1}, 16, 1, {8, 5, 0}},      /* f32 */
    {HOPPER_ROUNDED, {40, 40, 1}, 32, 1, {0, 0, 0}},    /* ... rounded */
    {HOPPER_ROUNDED, {400, 40, 1}, 32, 1, {12, 17, 0}}, /* ... again, elsewhere */
};
enum { HOPPER_NUM_BOXES = sizeof hopper_boxes / sizeof hopper_boxes[0] };

/* ---- products: X(name, kind, element of A, of B, n, a_mn, b_mn, type of a sum) ---- */

#define HOPPER_PRODUCTS(X)                                                                         \
    X(f16, F16, F16, F16, 16, 0, 0, float)                                                         \
    X(bf16, BF16, BF16, BF16, 16, 0, 0, float)                                                     \
    X(tf32, TF32, F32, F32, 16, 0, 0, float)                                                       \
    X(e4m3, E4M3, E4M3, E4M3, 16, 0, 0, float)                                                     \
    X(e5m2, E5M2, E5M2, E5M2, 16, 0, 0, float)                                                     \
    X(s8, S8, S8, S8, 16, 0, 0, uint32_t)                                                          \
    X(u8, U8, U8, U8, 16, 0, 0, uint32_t)                                                          \
    X(u8s8, U8S8, U8, S8, 16, 0, 0, uint32_t)                                                      \
    X(s8u8, S8U8, S8, U8, 16, 0, 0, uint32_t)                                                      \
    X(bf16_nt, BF16, BF16, BF16, 96, 0, 0, float)                                                  \
    X(bf16_nn, BF16, BF16, BF16, 96, 0, 1, float)                                                  \
    X(bf16_tt, BF16, BF16, BF16, 32, 1, 0, float)                                                  \
    X(bf16_tn, BF16, BF16, BF16, 192, 1, 1, float)                                                 \
    X(tf32_wide, TF32, F32, F32, 128, 0, 0, float)                                                 \
    X(s8_wide, S8, S8, S8, 64, 0, 0, uint32_t)                                                     \
    X(tf32_registers, TF32_REGISTERS, F32, F32, 32, 0, 0, float)

typedef struct hopper_product {
    const char *name;
    hopper_element_t a, b;
    uint32_t n;
    int a_mn, b_mn;
} hopper_product_t;

#define HOPPER_PRODUCT(name, kind, a, b, n, a_mn, b_mn, sum)                                       \
    {"golden_wgmma_" #name, HOPPER_##a, HOPPER_##b, n, a_mn, b_mn},
static const hopper_product_t hopper_products[] = {HOPPER_PRODUCTS(HOPPER_PRODUCT)};
enum { HOPPER_NUM_PRODUCTS = sizeof hopper_products / sizeof hopper_products[0] };

/* ---- what they are given ---- */

/* Bits of -2 .. 3; unsigned: 0 .. 5. */
static inline uint32_t hopper_small(hopper_element_t x, uint32_t value) {
    static const uint16_t f16[] = {0xC000, 0xBC00, 0, 0x3C00, 0x4000, 0x4200};
    static const uint8_t e4m3[] = {0xC0, 0xB8, 0, 0x38, 0x40, 0x44};
    static const uint16_t bf16[] = {0xC000, 0xBF80, 0, 0x3F80, 0x4000, 0x4040};
    switch (x) {
    case HOPPER_F16:
        return f16[value];
    case HOPPER_E5M2:
        return f16[value] >> 8;
    case HOPPER_E4M3:
        return e4m3[value];
    case HOPPER_BF16:
        return bf16[value];
    case HOPPER_S8:
        return value - 2;
    case HOPPER_U8:
        return value;
    default:
        return (uint32_t)bf16[value] << 16;
    }
}

/* For rounding: ties and their neighbours, with all kinds of exponents. */
static inline uint32_t hopper_tie(uint64_t *state) {
    static const uint32_t low[] = {0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF};
    static const uint32_t odd[] = {0, 0x7F7FE000, 0x7F800000, 0x7FC00000, 0x00002000, 0x80000000};
    const uint64_t r = golden_random(state);
    const uint32_t high = r >> 60 == 0 ? odd[(r >> 8) % 6] : (uint32_t)(r >> 20);
    return (high & 0xFFFFE000u) | low[(r & 0xFF) % 6];
}

static inline uint32_t hopper_any(hopper_element_t x, uint64_t *state) {
    switch (x) {
    case HOPPER_F16:
        return (uint32_t)golden_float(3, 5, 10, state);
    case HOPPER_BF16:
        return (uint32_t)golden_float(3, 8, 7, state);
    case HOPPER_F32:
    case HOPPER_PLAIN:
        return (uint32_t)golden_float(3, 8, 23, state);
    case HOPPER_ROUNDED:
        return hopper_tie(state);
    case HOPPER_E4M3:
        return (uint32_t)golden_float(3, 4, 3, state);
    case HOPPER_E5M2:
        return (uint32_t)golden_float(3, 5, 2, state);
    default:
        return (uint32_t)golden_random(state) & 0xFF;
    }
}

/* An operand, HOPPER_BYTES of it. */
static inline void hopper_fill(hopper_element_t x, int seed, int round, uint8_t *to) {
    uint64_t state = (uint64_t)(seed * 2 + round + 1000);
    const uint32_t bytes = hopper_bytes_of(x);
    for (uint32_t i = 0; i < HOPPER_BYTES; i += bytes) {
        const uint32_t bits = round == 0
                                  ? hopper_small(x, (uint32_t)(golden_random(&state) >> 32) % 6)
                                  : hopper_any(x, &state);
        memcpy(to + i, &bits, bytes);
    }
}

/* ---- tensors: rows of whole 16 bytes ---- */

static inline tcgemm_tensor_t hopper_tensor(hopper_element_t x, const void *base, uint32_t width,
                                            uint32_t lines, uint32_t items, uint32_t box_lines,
                                            uint32_t box_items) {
    const uint32_t bytes = hopper_bytes_of(x), pitch = (width * bytes + 15) / 16 * 16;
    tcgemm_tensor_t t;
    memset(&t, 0, sizeof t);
    t.base = base;
    t.size[0] = width;
    t.size[1] = lines;
    t.size[2] = items;
    t.stride[0] = pitch;
    t.stride[1] = (uint64_t)pitch * lines;
    t.box[0] = 128 / bytes;
    t.box[1] = box_lines;
    t.box[2] = box_items;
    t.element_bytes = (uint16_t)bytes;
    t.rounds_to_tf32 = x == HOPPER_ROUNDED;
    return t;
}

static inline tcgemm_tensor_t hopper_tensor_of_box(const hopper_box_t *x, const void *base) {
    return hopper_tensor(x->element, base, x->size[0], x->size[1], x->size[2], x->lines, x->items);
}

/* Operand A (extent 64) or B of a product: 128 bytes of k of each row, or 64 k of `extent`
 * elements, of which a box covers 64. */
static inline tcgemm_tensor_t hopper_tensor_of_operand(hopper_element_t x, int mn, uint32_t extent,
                                                       const void *base) {
    if (mn)
        return hopper_tensor(x, base, extent, 64, 1, 64, 1);
    return hopper_tensor(x, base, 128 / hopper_bytes_of(x), extent, 1, extent, 1);
}

#endif
