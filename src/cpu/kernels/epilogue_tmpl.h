/* epilogue_tmpl.h - a bias and an activation for rows of D, compiled once for each instruction set
 * as finish_tmpl.h is, which includes it. The loops are plain C that compilers turn into vectors.
 *
 * Activations of f32 are within some units of the last place of what f64 would say:
 *
 *     exp(x)   = 2^n * p(x - n ln 2), n the nearest whole number, p of degree 6
 *     gelu(x)  = max(x, 0) - |x| q(|x|) with q(a) = erfc(a / sqrt 2) / 2 = exp(-a^2 / 2) r(a),
 *                r a polynomial of 1 / (1 + 0.35 a): nothing cancels, for either sign
 *     silu(x)  = x / (1 + exp(-x)), and gelu by tanh the same with another argument of exp
 *     tanh(x)  = x + x^3 q(x^2) where |x| < 0.625, else 1 - 2 / (1 + exp(2 |x|)) with x's sign
 *
 * The coefficients are minimax fits of ours (lab/model/activations.py says how).
 */

enum { EPILOGUE_CHUNK = 64 }; /* elements that wait in f32 to be narrowed */

static TCGEMM_ALWAYS_INLINE float epilogue_f32_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static TCGEMM_ALWAYS_INLINE uint32_t epilogue_bits_of_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* 0x1p-126 below -87.3, infinity above 88.4. */
static TCGEMM_ALWAYS_INLINE float exp_f32(float x) {
    const float to_integer = 0x1.8p23F; /* the sum's last bits are the whole number */
    x = x < -87.3F ? -87.3F : x;
    x = x > 89.0F ? 89.0F : x;
    const float n_and_bits = x * 0x1.715476p0F + to_integer;
    const float n = n_and_bits - to_integer;
    const float r = (x - n * 0.693359375F) - n * -2.12194440e-4F; /* ln 2 in two parts */
    const float p = 0.4999999403953552F +
                    r * (0.1666652113199234F +
                         r * (0.04166838899254799F +
                              r * (0.008368724957108498F + r * 0.0013814581325277686F)));
    const uint32_t exponent = epilogue_bits_of_f32(n_and_bits) - epilogue_bits_of_f32(to_integer);
    return (1.0F + (r + r * r * p)) * epilogue_f32_of_bits((exponent + 127u) << 23);
}

static TCGEMM_ALWAYS_INLINE float relu_f32(float x) {
    return x < 0.0F ? 0.0F : x;
}

static TCGEMM_ALWAYS_INLINE float gelu_f32(float x) {
    const float magnitude = x < 0.0F ? -x : x;
    const float a = magnitude > 14.0F ? 14.0F : magnitude; /* q(14) is below the smallest f32 */
    const float s = 1.0F / (1.0F + 0.35F * a);
    const float r =
        s *
        (0.13962125778198242F +
         s * (0.13986432552337646F +
              s * (0.11981557309627533F +
                   s * (0.10557447373867035F +
                        s * (-0.02326301671564579F +
                             s * (0.15939167141914368F +
                                  s * (-0.2559007406234741F +
                                       s * (0.14406023919582367F + s * -0.02916380763053894F))))))));
    return relu_f32(x) - a * (exp_f32(-0.5F * a * a) * r);
}

/* x / (1 + exp(-y)), zero where y is far below zero. */
static TCGEMM_ALWAYS_INLINE float times_sigmoid_f32(float x, float y) {
    const float quotient = x / (1.0F + exp_f32(-y));
    return y < -100.0F ? -0.0F : quotient;
}

static TCGEMM_ALWAYS_INLINE float gelu_tanh_f32(float x) {
    return times_sigmoid_f32(x, 0x1.988454p0F * (x + 0.044715F * x * x * x));
}

static TCGEMM_ALWAYS_INLINE float silu_f32(float x) {
    return times_sigmoid_f32(x, x);
}

static TCGEMM_ALWAYS_INLINE float sigmoid_f32(float x) {
    return times_sigmoid_f32(1.0F, x);
}

static TCGEMM_ALWAYS_INLINE float tanh_f32(float x) {
    const float a = x < 0.0F ? -x : x;
    const float u = x * x;
    const float near = x + x * u *
                               (-0.3333328068256378F +
                                u * (0.13331441581249237F +
                                     u * (-0.05373971536755562F +
                                          u * (0.0206390880048275F + u * -0.005704987328499556F))));
    const float far = 1.0F - 2.0F / (1.0F + exp_f32(2.0F * a));
    return a < 0.625F ? near : x < 0.0F ? -far : far;
}

static void activate_f32(tcgemm_activation_t activation, float *x, int64_t count) {
    switch (activation) {
    case TCGEMM_ACTIVATION_RELU:
        for (int64_t j = 0; j < count; ++j)
            x[j] = relu_f32(x[j]);
        break;
    case TCGEMM_ACTIVATION_GELU:
        for (int64_t j = 0; j < count; ++j)
            x[j] = gelu_f32(x[j]);
        break;
    case TCGEMM_ACTIVATION_GELU_TANH:
        for (int64_t j = 0; j < count; ++j)
            x[j] = gelu_tanh_f32(x[j]);
        break;
    case TCGEMM_ACTIVATION_SILU:
        for (int64_t j = 0; j < count; ++j)
            x[j] = silu_f32(x[j]);
        break;
    case TCGEMM_ACTIVATION_SIGMOID:
        for (int64_t j = 0; j < count; ++j)
            x[j] = sigmoid_f32(x[j]);
        break;
    case TCGEMM_ACTIVATION_TANH:
        for (int64_t j = 0; j < count; ++j)
            x[j] = tanh_f32(x[j]);
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
