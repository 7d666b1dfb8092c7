/* epilogue_tmpl.h - a bias and an activation for rows of D, compiled once for each instruction set
 * as finish_tmpl.h is, which includes it.
 *
 * Activations of f32 are within some units of the last place of what f64 would say:
 *
 *     exp(x)   = 2^n * p(x - n ln 2), n the nearest whole number, p of degree 6
 *     gelu(x)  = max(x, 0) - |x| q(|x|) with q(a) = erfc(a / sqrt 2) / 2 = exp(-a^2 / 2) r(a),
 *                r a polynomial of 1 / (1 + 0.35 a): nothing cancels, for either sign
 *     silu(x)  = x / (1 + exp(-x)), and gelu by tanh the same with another argument of exp
 *     tanh(x)  = x + x^3 q(x^2) where |x| < 0.625, else 1 - 2 / (1 + exp(2 |x|)) with x's sign
 *
 * The coefficients are minimax fits of ours (lab/model/activations.py). They are written with the
 * vectors of GCC and Clang, whose comparisons are masks: compilers make branches of float ones.
 */

enum { EPILOGUE_CHUNK = 64 }; /* elements that wait in f32 to be narrowed */

#if defined(__AVX512F__)
enum { EPILOGUE_BYTES = 64 };
#elif defined(__AVX__)
enum { EPILOGUE_BYTES = 32 };
#else
enum { EPILOGUE_BYTES = 16 };
#endif
enum { EPILOGUE_LANES = EPILOGUE_BYTES / 4 };
typedef float lanes_f32_t __attribute__((vector_size(EPILOGUE_BYTES)));
typedef uint32_t lanes_u32_t __attribute__((vector_size(EPILOGUE_BYTES)));

/* x where the mask is all ones, else y. */
static TCGEMM_ALWAYS_INLINE lanes_f32_t choose_f32(lanes_u32_t mask, lanes_f32_t x, lanes_f32_t y) {
    return (lanes_f32_t)((mask & (lanes_u32_t)x) | (~mask & (lanes_u32_t)y));
}

static TCGEMM_ALWAYS_INLINE lanes_f32_t abs_f32(lanes_f32_t x) {
    return (lanes_f32_t)((lanes_u32_t)x & 0x7FFFFFFFu);
}

/* Zero where x is below it; a NaN stays. */
static TCGEMM_ALWAYS_INLINE lanes_f32_t relu_f32(lanes_f32_t x) {
    return (lanes_f32_t)(~(lanes_u32_t)(x < 0.0F) & (lanes_u32_t)x);
}

static TCGEMM_ALWAYS_INLINE lanes_f32_t at_least_f32(lanes_f32_t x, float least) {
    return choose_f32((lanes_u32_t)(x < least), (lanes_f32_t){0} + least, x);
}

static TCGEMM_ALWAYS_INLINE lanes_f32_t at_most_f32(lanes_f32_t x, float most) {
    return choose_f32((lanes_u32_t)(x > most), (lanes_f32_t){0} + most, x);
}

/* 0x1p-126 below -87.3, infinity above 88.4. */
static TCGEMM_ALWAYS_INLINE lanes_f32_t exp_f32(lanes_f32_t x) {
    const float to_integer = 0x1.8p23F; /* the sum's last bits are the whole number */
    x = at_most_f32(at_least_f32(x, -87.3F), 89.0F);
    const lanes_f32_t n_and_bits = x * 0x1.715476p0F + to_integer;
    const lanes_f32_t n = n_and_bits - to_integer;
    const lanes_f32_t r = (x - n * 0.693359375F) - n * -2.12194440e-4F; /* ln 2 in two parts */
    const lanes_f32_t p =
        0.4999999403953552F +
        r * (0.1666652113199234F +
             r * (0.04166838899254799F + r * (0.008368724957108498F + r * 0.0013814581325277686F)));
    const lanes_u32_t exponent = (lanes_u32_t)n_and_bits - 0x4B400000u; /* 0x1.8p23 */
    return (1.0F + (r + r * r * p)) * (lanes_f32_t)((exponent + 127u) << 23);
}

static TCGEMM_ALWAYS_INLINE lanes_f32_t gelu_f32(lanes_f32_t x) {
    const lanes_f32_t a = at_most_f32(abs_f32(x), 14.0F); /* q(14) is below the smallest f32 */
    const lanes_f32_t s = 1.0F / (1.0F + 0.35F * a);
    const lanes_f32_t r = s * (0.13962125778198242F +
                               s * (0.13986432552337646F +
                                    s * (0.11981557309627533F +
                                         s * (0.10557447373867035F +
                                              s * (-0.02326301671564579F +
                                                   s * (0.15939167141914368F +
                                                        s * (-0.2559007406234741F +
                                                             s * (0.14406023919582367F +
                                                                  s * -0.02916380763053894F))))))));
    return relu_f32(x) - a * (exp_f32(-0.5F * a * a) * r);
}

/* x / (1 + exp(-y)), zero where y is far below zero. */
static TCGEMM_ALWAYS_INLINE lanes_f32_t times_sigmoid_f32(lanes_f32_t x, lanes_f32_t y) {
    const lanes_f32_t quotient = x / (1.0F + exp_f32(-y));
    return (lanes_f32_t)(~(lanes_u32_t)(y < -100.0F) & (lanes_u32_t)quotient);
}

static TCGEMM_ALWAYS_INLINE lanes_f32_t gelu_tanh_f32(lanes_f32_t x) {
    return times_sigmoid_f32(x, 0x1.988454p0F * (x + 0.044715F * x * x * x));
}

static TCGEMM_ALWAYS_INLINE lanes_f32_t silu_f32(lanes_f32_t x) {
    return times_sigmoid_f32(x, x);
}

static TCGEMM_ALWAYS_INLINE lanes_f32_t sigmoid_f32(lanes_f32_t x) {
    return times_sigmoid_f32((lanes_f32_t){0} + 1.0F, x);
}

static TCGEMM_ALWAYS_INLINE lanes_f32_t tanh_f32(lanes_f32_t x) {
    const lanes_f32_t a = abs_f32(x);
    const lanes_f32_t u = x * x;
    const lanes_f32_t near =
        x + x * u *
                (-0.3333328068256378F +
                 u * (0.13331441581249237F +
                      u * (-0.05373971536755562F +
                           u * (0.0206390880048275F + u * -0.005704987328499556F))));
    const lanes_f32_t far = 1.0F - 2.0F / (1.0F + exp_f32(2.0F * a));
    const lanes_u32_t sign = (lanes_u32_t)x & 0x80000000u;
    return choose_f32((lanes_u32_t)(a < 0.625F), near, (lanes_f32_t)((lanes_u32_t)far | sign));
}

/* f of `count` elements: whole vectors, and at last one that is filled up. */
#define EPILOGUE_FOR_ALL(f)                                                                        \
    do {                                                                                           \
        lanes_f32_t lanes;                                                                         \
        int64_t j = 0;                                                                             \
        for (; j + EPILOGUE_LANES <= count; j += EPILOGUE_LANES) {                                 \
            memcpy(&lanes, x + j, sizeof lanes);                                                   \
            lanes = f(lanes);                                                                      \
            memcpy(x + j, &lanes, sizeof lanes);                                                   \
        }                                                                                          \
        if (j < count) {                                                                           \
            lanes = (lanes_f32_t){0};                                                              \
            memcpy(&lanes, x + j, (size_t)(count - j) * sizeof *x);                                \
            lanes = f(lanes);                                                                      \
            memcpy(x + j, &lanes, (size_t)(count - j) * sizeof *x);                                \
        }                                                                                          \
    } while (0)

static void activate_f32(tcgemm_activation_t activation, float *x, int64_t count) {
    switch (activation) {
    case TCGEMM_ACTIVATION_RELU:
        EPILOGUE_FOR_ALL(relu_f32);
        break;
    case TCGEMM_ACTIVATION_GELU:
        EPILOGUE_FOR_ALL(gelu_f32);
        break;
    case TCGEMM_ACTIVATION_GELU_TANH:
        EPILOGUE_FOR_ALL(gelu_tanh_f32);
        break;
    case TCGEMM_ACTIVATION_SILU:
        EPILOGUE_FOR_ALL(silu_f32);
        break;
    case TCGEMM_ACTIVATION_SIGMOID:
        EPILOGUE_FOR_ALL(sigmoid_f32);
        break;
    case TCGEMM_ACTIVATION_TANH:
        EPILOGUE_FOR_ALL(tanh_f32);
        break;
    default:
        break;
    }
}

static void epilogue_row_f32(const tcgemm_epilogue_t *e, int64_t i, float *d, int64_t count) {
    const float *const bias = e->bias;
    if (bias && e->is_of_rows)
        for (int64_t j = 0; j < count; ++j)
            d[j] += bias[i];
    else if (bias)
        for (int64_t j = 0; j < count; ++j)
            d[j] += bias[j];
    activate_f32(e->activation, d, count);
}

/* By libm: who multiplies in f64 seldom activates. */
static void epilogue_row_f64(const tcgemm_epilogue_t *e, int64_t i, double *d, int64_t count) {
    const double *const bias = e->bias;
    if (bias)
        for (int64_t j = 0; j < count; ++j)
            d[j] += bias[e->is_of_rows ? i : j];
    if (e->activation == TCGEMM_ACTIVATION_RELU)
        for (int64_t j = 0; j < count; ++j)
            d[j] = d[j] < 0.0 ? 0.0 : d[j];
    else if (e->activation != TCGEMM_ACTIVATION_NONE)
        for (int64_t j = 0; j < count; ++j)
            d[j] = tcgemm_activate(e->activation, d[j]);
}

static void epilogue_row_s32(const tcgemm_epilogue_t *e, int64_t i, uint32_t *d, int64_t count) {
    const uint32_t *const bias = e->bias;
    if (bias)
        for (int64_t j = 0; j < count; ++j)
            d[j] += bias[e->is_of_rows ? i : j];
    if (e->activation == TCGEMM_ACTIVATION_RELU)
        for (int64_t j = 0; j < count; ++j)
            d[j] = d[j] >> 31 ? 0 : d[j];
}

/* `count` elements of a narrow bias, those of columns from j on, or all that of row i. */
static void load_bias(const tcgemm_epilogue_t *e, bool is_bf16, int64_t i, int64_t j, float *bias,
                      int64_t count) {
    for (int64_t at = 0; at < count; ++at) {
        const uint16_t x = ((const uint16_t *)e->bias)[e->is_of_rows ? i : j + at];
        bias[at] = is_bf16 ? tcgemm_f32_of_bf16(x) : tcgemm_f32_of_f16(x);
    }
}
