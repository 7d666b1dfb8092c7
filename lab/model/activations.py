"""Fits the polynomials of src/cpu/kernels/epilogue_tmpl.h, and says how far they are off.

    python3 lab/model/activations.py          (NumPy and SciPy)

Least squares whose weights are multiplied by the error until it is level (Lawson's method), relative to the
function, on Chebyshev points; the coefficients are then rounded to f32.
"""
import numpy as np
from scipy.special import erfcx


def chebyshev(low, high, count):
    k = np.arange(count)
    return 0.5 * (low + high) + 0.5 * (high - low) * np.cos(np.pi * (k + 0.5) / count)


def fit(powers, y, relative_to):
    weight = np.ones(len(y)) / len(y)
    for _ in range(200):
        root = np.sqrt(weight) / relative_to
        found = np.linalg.lstsq(powers * root[:, None], y * root, rcond=None)[0]
        error = np.abs((powers @ found - y) / relative_to)
        weight = weight * error
        weight /= weight.sum()
    rounded = found.astype(np.float32).astype(float)
    return rounded, np.abs((powers @ rounded - y) / relative_to).max()


def tell(name, result):
    coefficients, error = result
    print("%s: largest relative error %.1e" % (name, error))
    for c in coefficients:
        print("    %r" % float(c))


def main():
    # exp(r) = 1 + r + r^2 p(r)
    r = chebyshev(-0.34665, 0.34665, 400)
    tell("exp", fit(np.stack([r ** (2 + i) for i in range(5)], 1), np.exp(r) - 1 - r, np.exp(r)))
    # exp(a^2 / 2) erfc(a / sqrt 2) / 2 = s p(s), s = 1 / (1 + 0.35 a), a = 0 .. 15
    s = chebyshev(1 / (1 + 0.35 * 15), 1, 2000)
    a = (1 / s - 1) / 0.35
    y = 0.5 * erfcx(a / np.sqrt(2))
    tell("gelu", fit(np.stack([s ** (1 + i) for i in range(9)], 1), y, y))
    # tanh(x) = x + x^3 p(x^2)
    x = chebyshev(1e-3, 0.625, 400)
    y = np.tanh(x) / x
    tell("tanh", fit(np.stack([x ** (2 + 2 * i) for i in range(5)], 1), y - 1, y))


main()
