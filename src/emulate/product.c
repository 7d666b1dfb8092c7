/* product.c - mma.sync: the registers of 32 lanes to two small matrices, their product, and back.
 * PTX ISA, "Matrix Fragments for mma"; g = lane / 4, q = lane % 4:
 *
 *     register       A                               B                    C, D
 *     16-bit         (g, 2q ..), (g+8, 2q ..), then  (2q .., g), then     (g, 2q), (g, 2q+1),
 *                    the same 8 k further            8 k further          (g+8, 2q), (g+8, 2q+1)
 *     tf32           one k, q; 4 further             q; 4 further
 *     8-bit, fp8     four k, 4q ..; 16 further       4q ..; 16 further
 *     f64            one k, q; 4, 8, 12 further      q; 4, 8, 12 further
 *
 * Products are exact; they and C are summed in f64 and rounded to nearest once an instruction (f64:
 * a chain of multiply-adds in the order of k, integers modulo 2^32). Tensor cores align the terms
 * to the largest and truncate: their results lie within the bound of docs/numerics.md, not on
 * these bits. Sums of FP8 are cut as the hardware does (short_sum.c).
 */
#include "base/dtype.h"
#include "emulate/machine.h"

enum { MAX_M = 16, N = 8, MAX_K = 32 };

/* ---- registers to matrices ---- */

/* Number `i` of those in a word. */
static double float_of(tcgemm_emulate_element_t type, uint32_t word, int i) {
    switch (type) {
    case TCGEMM_EMULATE_F16:
        return tcgemm_f32_of_f16((uint16_t)(word >> 16 * i));
    case TCGEMM_EMULATE_BF16:
        return tcgemm_f32_of_bf16((uint16_t)(word >> 16 * i));
    case TCGEMM_EMULATE_E4M3:
        return tcgemm_f32_of_e4m3((uint8_t)(word >> 8 * i));
    case TCGEMM_EMULATE_E5M2:
        return tcgemm_f32_of_e5m2((uint8_t)(word >> 8 * i));
    default: /* the low 13 bits do not count */
        return tcgemm_f32_of_bits(word & 0xFFFFE000u);
    }
}

static bool is_fp8(tcgemm_emulate_element_t type) {
    return type == TCGEMM_EMULATE_E4M3 || type == TCGEMM_EMULATE_E5M2;
}

static int32_t integer_of(tcgemm_emulate_element_t type, uint32_t word, int byte) {
    const uint8_t bits = (uint8_t)(word >> 8 * byte);
    return type == TCGEMM_EMULATE_S8 ? (int8_t)bits : bits;
}

typedef struct floats {
    double a[MAX_M][MAX_K];
    double b[MAX_K][N];
} floats_t;

/* A word holds `per` k, and the next one of the same row lies 4 * per k further. */
static void gather_floats(const thread_t *lanes, floats_t *x) {
    const request_t *first = &lanes[0].request;
    const tcgemm_emulate_element_t type = first->a_type;
    const int per = type == TCGEMM_EMULATE_TF32 ? 1 : is_fp8(type) ? 4 : 2;
    const int words = (int)first->k / (4 * per);
    for (int lane = 0; lane < LANES; ++lane) {
        const request_t *r = &lanes[lane].request;
        const int g = lane / 4, q = lane % 4;
        for (int w = 0; w < words; ++w)
            for (int i = 0; i < per; ++i) {
                const int k = (4 * w + q) * per + i;
                x->a[g][k] = float_of(type, r->a.u[2 * w], i);
                x->a[g + 8][k] = float_of(type, r->a.u[2 * w + 1], i);
                x->b[k][g] = float_of(type, r->b.u[w], i);
            }
    }
}

/* ---- products ---- */

static void multiply_floats(const floats_t *x, uint32_t k, double c[MAX_M][N]) {
    for (int i = 0; i < MAX_M; ++i)
        for (uint32_t p = 0; p < k; ++p) {
            const double a = x->a[i][p];
            for (int j = 0; j < N; ++j)
                c[i][j] += a * x->b[p][j];
        }
}

static void multiply_short(const floats_t *x, uint32_t k, double c[MAX_M][N]) {
    float sums[MAX_M][N];
    for (int i = 0; i < MAX_M; ++i)
        for (int j = 0; j < N; ++j)
            sums[i][j] = (float)c[i][j];
    tcgemm_machine_multiply_short(&(short_product_t){.a = x->a[0],
                                                     .b = x->b[0],
                                                     .sums = sums[0],
                                                     .rows = MAX_M,
                                                     .n = N,
                                                     .k = k,
                                                     .a_pitch = MAX_K,
                                                     .b_pitch = N,
                                                     .sums_pitch = N});
    for (int i = 0; i < MAX_M; ++i)
        for (int j = 0; j < N; ++j)
            c[i][j] = (double)sums[i][j];
}

static void product_f32(thread_t *lanes) {
    floats_t x;
    double c[MAX_M][N];
    gather_floats(lanes, &x);
    for (int lane = 0; lane < LANES; ++lane)
        for (int i = 0; i < 4; ++i)
            c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] = (double)lanes[lane].request.c.f[i];
    if (is_fp8(lanes[0].request.a_type))
        multiply_short(&x, lanes[0].request.k, c);
    else
        multiply_floats(&x, lanes[0].request.k, c);
    for (int lane = 0; lane < LANES; ++lane)
        for (int i = 0; i < 4; ++i)
            lanes[lane].request.c.f[i] = (float)c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
}

static void product_f16(thread_t *lanes) {
    floats_t x;
    double c[MAX_M][N];
    gather_floats(lanes, &x);
    for (int lane = 0; lane < LANES; ++lane)
        for (int i = 0; i < 4; ++i)
            c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] =
                float_of(TCGEMM_EMULATE_F16, lanes[lane].request.c.u[i / 2], i % 2);
    multiply_floats(&x, lanes[0].request.k, c);
    for (int lane = 0; lane < LANES; ++lane)
        for (int i = 0; i < 2; ++i) {
            const double *two = &c[lane / 4 + i * 8][lane % 4 * 2];
            lanes[lane].request.c.u[i] = tcgemm_emulate_f16_of_f64(two[0]) |
                                         (uint32_t)tcgemm_emulate_f16_of_f64(two[1]) << 16;
        }
}

static void product_s32(thread_t *lanes) {
    const request_t *first = &lanes[0].request;
    const int halves = (int)first->rows / 8; /* of the rows, and of k */
    int32_t a[MAX_M][MAX_K], b[MAX_K][N];
    for (int lane = 0; lane < LANES; ++lane) {
        const request_t *r = &lanes[lane].request;
        const int g = lane / 4, q = lane % 4;
        for (int h = 0; h < halves; ++h)
            for (int i = 0; i < 4; ++i) {
                const int k = 16 * h + 4 * q + i;
                for (int m = 0; m < halves; ++m)
                    a[g + 8 * m][k] = integer_of(r->a_type, r->a.u[halves * h + m], i);
                b[k][g] = integer_of(r->b_type, r->b.u[h], i);
            }
    }
    for (int lane = 0; lane < LANES; ++lane)
        for (int i = 0; i < 2 * halves; ++i) {
            const int32_t *row = a[lane / 4 + i / 2 * 8];
            uint32_t sum = lanes[lane].request.c.u[i];
            for (int k = 0; k < 16 * halves; ++k)
                sum += (uint32_t)(row[k] * b[k][lane % 4 * 2 + i % 2]);
            lanes[lane].request.c.u[i] = sum;
        }
}

static void product_f64(thread_t *lanes) {
    const request_t *first = &lanes[0].request;
    const int halves = (int)first->rows / 8, k = (int)first->k;
    double a[MAX_M][MAX_K], b[MAX_K][N];
    for (int lane = 0; lane < LANES; ++lane) {
        const request_t *r = &lanes[lane].request;
        for (int w = 0; w < k / 4; ++w) {
            for (int m = 0; m < halves; ++m)
                a[lane / 4 + 8 * m][4 * w + lane % 4] = r->a.d[halves * w + m];
            b[4 * w + lane % 4][lane / 4] = r->b.d[w];
        }
    }
    for (int lane = 0; lane < LANES; ++lane)
        for (int i = 0; i < 2 * halves; ++i) {
            const double *row = a[lane / 4 + i / 2 * 8];
            double sum = lanes[lane].request.c.d[i];
            for (int p = 0; p < k; ++p)
                sum = __builtin_fma(row[p], b[p][lane % 4 * 2 + i % 2], sum);
            lanes[lane].request.c.d[i] = sum;
        }
}

void tcgemm_machine_product(thread_t *lanes) {
    const request_t *r = &lanes[0].request;
    tcgemm_emulate_launch_t *launch = tcgemm_machine.launch;
    launch->num_products += 1;
    launch->num_macs += (int64_t)r->rows * N * r->k;
    launch->operand_reads += (int64_t)(r->rows + N) * r->k;
    switch (r->op) {
    case OP_MMA_F32:
        product_f32(lanes);
        break;
    case OP_MMA_F16:
        product_f16(lanes);
        break;
    case OP_MMA_S32:
        product_s32(lanes);
        break;
    default:
        product_f64(lanes);
        break;
    }
}

/* ---- what kernels call: registers to the request, and from it ---- */

static request_t *request(tcgemm_emulate_element_t a, tcgemm_emulate_element_t b, uint32_t rows,
                          uint32_t k) {
    request_t *r = &self_thread()->request;
    r->a_type = a;
    r->b_type = b;
    r->rows = rows;
    r->k = k;
    return r;
}

tcgemm_emulate_f4_t tcgemm_emulate_mma_f32(tcgemm_emulate_element_t type, uint32_t k,
                                           tcgemm_emulate_f4_t c, tcgemm_emulate_u4_t a,
                                           tcgemm_emulate_u2_t b) {
    request_t *r = request(type, type, 16, k);
    memcpy(r->a.u, &a, sizeof a);
    memcpy(r->b.u, &b, sizeof b);
    memcpy(r->c.f, &c, sizeof c);
    tcgemm_machine_meet(OP_MMA_F32);
    memcpy(&c, r->c.f, sizeof c);
    return c;
}

tcgemm_emulate_u2_t tcgemm_emulate_mma_f16(uint32_t k, tcgemm_emulate_u2_t c, tcgemm_emulate_u4_t a,
                                           tcgemm_emulate_u2_t b) {
    request_t *r = request(TCGEMM_EMULATE_F16, TCGEMM_EMULATE_F16, 16, k);
    memcpy(r->a.u, &a, sizeof a);
    memcpy(r->b.u, &b, sizeof b);
    memcpy(r->c.u, &c, sizeof c);
    tcgemm_machine_meet(OP_MMA_F16);
    memcpy(&c, r->c.u, sizeof c);
    return c;
}

tcgemm_emulate_u4_t tcgemm_emulate_mma_s32(tcgemm_emulate_element_t a_type,
                                           tcgemm_emulate_element_t b_type, uint32_t rows,
                                           tcgemm_emulate_u4_t c, tcgemm_emulate_u4_t a,
                                           tcgemm_emulate_u2_t b) {
    request_t *r = request(a_type, b_type, rows, 2 * rows);
    memcpy(r->a.u, &a, sizeof a);
    memcpy(r->b.u, &b, sizeof b);
    memcpy(r->c.u, &c, sizeof c);
    tcgemm_machine_meet(OP_MMA_S32);
    memcpy(&c, r->c.u, sizeof c);
    return c;
}

tcgemm_emulate_d4_t tcgemm_emulate_mma_f64(uint32_t rows, uint32_t k, tcgemm_emulate_d4_t c,
                                           tcgemm_emulate_d8_t a, tcgemm_emulate_d4_t b) {
    request_t *r = request(TCGEMM_EMULATE_F64, TCGEMM_EMULATE_F64, rows, k);
    memcpy(r->a.d, &a, sizeof a);
    memcpy(r->b.d, &b, sizeof b);
    memcpy(r->c.d, &c, sizeof c);
    tcgemm_machine_meet(OP_MMA_F64);
    memcpy(&c, r->c.d, sizeof c);
    return c;
}

/* ---- one number ---- */

float tcgemm_emulate_f32_of_f16(uint16_t f16) {
    return tcgemm_f32_of_f16(f16);
}

/* f64 to f32, to odd: what is rounded again to fewer bits is as if it had been rounded once. */
static float odd_f32_of_f64(double x) {
    const float f = (float)x;
    uint32_t bits = tcgemm_bits_of_f32(f);
    if ((double)f == x || x != x || __builtin_isinf(x))
        return f;
    if (__builtin_fabs((double)f) > __builtin_fabs(x))
        bits -= 1;
    return tcgemm_f32_of_bits(bits | 1u);
}

uint16_t tcgemm_emulate_f16_of_e4m3(uint8_t e4m3) {
    return tcgemm_f16_of_f32(tcgemm_f32_of_e4m3(e4m3));
}

uint16_t tcgemm_emulate_f16_of_f64(double x) {
    return tcgemm_f16_of_f32(odd_f32_of_f64(x));
}

uint16_t tcgemm_emulate_bf16_of_f64(double x) {
    return tcgemm_bf16_of_f32(odd_f32_of_f64(x));
}

uint32_t tcgemm_emulate_tf32_of_f32(uint32_t f32_bits) {
    return tcgemm_bits_of_f32(tcgemm_tf32_of_f32(tcgemm_f32_of_bits(f32_bits)));
}
