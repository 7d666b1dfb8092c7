/* epilogue.c - see epilogue.h. */
#include "base/epilogue.h"

#include <math.h>

static const double sqrt_half = 0x1.6a09e667f3bcdp-1;
static const double gelu_scale = 0x1.9884533d43651p-1; /* sqrt(2 / pi) */

/* x / (1 + exp(-y)) where y goes to -infinity with x: beyond this it is below the smallest f64, and
 * infinity / infinity would be a NaN. */
static double times_sigmoid(double x, double y) {
    return y < -800.0 ? -0.0 : x / (1.0 + exp(-y));
}

double tcgemm_activate(tcgemm_activation_t activation, double x) {
    switch (activation) {
    case TCGEMM_ACTIVATION_RELU:
        return x < 0.0 ? 0.0 : x;
    case TCGEMM_ACTIVATION_GELU:
        return x < -40.0 ? -0.0 : 0.5 * x * erfc(-sqrt_half * x);
    case TCGEMM_ACTIVATION_GELU_TANH:
        return times_sigmoid(x, 2.0 * gelu_scale * (x + 0.044715 * x * x * x));
    case TCGEMM_ACTIVATION_SILU:
        return times_sigmoid(x, x);
    case TCGEMM_ACTIVATION_SIGMOID:
        return 1.0 / (1.0 + exp(-x));
    case TCGEMM_ACTIVATION_TANH:
        return tanh(x);
    default:
        return x;
    }
}

double tcgemm_activation_slope(tcgemm_activation_t activation) {
    switch (activation) {
    case TCGEMM_ACTIVATION_GELU: /* 1.1289 at x = sqrt 2, and 1.1290 by tanh */
    case TCGEMM_ACTIVATION_GELU_TANH:
        return 1.13;
    case TCGEMM_ACTIVATION_SILU: /* 1.0998 at x = 2.4 */
        return 1.1;
    case TCGEMM_ACTIVATION_SIGMOID:
        return 0.25;
    default:
        return 1.0;
    }
}

const char *tcgemm_activation_name(tcgemm_activation_t activation) {
    static const char *const names[TCGEMM_NUM_ACTIVATIONS] = {
        "none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh",
    };
    const unsigned index = (unsigned)activation;
    return index < TCGEMM_NUM_ACTIVATIONS ? names[index] : NULL;
}
