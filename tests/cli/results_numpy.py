"""The files that `tcgemm run` writes equal NumPy's products; --print python can be pasted.

Small integers make every product exact in every type, so that equality is asked for; random floats
are compared within k rounding errors of sum |a||b|.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

TOOL = os.environ["TCGEMM"]
RANDOM = np.random.RandomState(1)

# type: how A, B and C, D are stored, as NumPy says it. bf16 is the upper half of an f32.
TYPES = {
    "f16_f32": ("f2", "f2", "f4"),
    "f16_f16": ("f2", "f2", "f2"),
    "bf16_f32": ("f4", "f4", "f4"),
    "tf32_f32": ("f4", "f4", "f4"),
    "f32_f32": ("f4", "f4", "f4"),
    "f64_f64": ("f8", "f8", "f8"),
    "s8_s32": ("i1", "i1", "i4"),
    "u8_s32": ("u1", "u1", "i4"),
    "u8s8_s32": ("u1", "i1", "i4"),
    "s8u8_s32": ("i1", "u1", "i4"),
    "e4m3_f32": ("f4", "f4", "f4"),
    "e5m2_f32": ("f4", "f4", "f4"),
}
DEDUCED = ["f16_f32", "f32_f32", "f64_f64", "s8_s32", "u8_s32", "u8s8_s32", "s8u8_s32"]
failures = 0


def tool(*arguments, status=0):
    global failures
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != status:
        failures += 1
        print("FAIL: status %d: tcgemm %s\n%s"
              % (done.returncode, " ".join(map(str, arguments)), done.stderr))
    return done


def check(good, what):
    global failures
    if not good:
        failures += 1
        print("FAIL:", what)


def small(shape, dtype):
    """Whole numbers that every type holds, e4m3 and e5m2 included."""
    low = 0 if dtype[-2] == "u" else -3
    return RANDOM.randint(low, 4, shape).astype(dtype)


def saved(name, array, fortran):
    np.save(name, np.asfortranarray(array) if fortran else np.ascontiguousarray(array))
    return name


def exact_products():
    """Types x transposes x orders of the files and of D, with alpha, beta and C."""
    for index, (name, (a_type, b_type, d_type)) in enumerate(TYPES.items()):
        for way in range(16):
            trans_a, trans_b = bool(way & 1), bool(way & 2)
            fortran_a, fortran_b = bool(way & 4), bool((way + index) & 8)
            m, n, k = [int(x) for x in RANDOM.randint(1, 40, 3)]
            a = small((k, m) if trans_a else (m, k), a_type)
            b = small((n, k) if trans_b else (k, n), b_type)
            c = small((m, n), d_type)
            alpha, beta = [(1, 0), (2, 3), (-1, 1), (1, -2)][(way + index) % 4]
            words = ["run", saved("a.npy", a, fortran_a), saved("b.npy", b, fortran_b),
                     "--type", name, "-o", "d.npy", "-f", "--alpha", alpha, "--beta", beta]
            words += ["--trans-a"] if trans_a else []
            words += ["--trans-b"] if trans_b else []
            words += ["--order", "col"] if way % 3 == 0 else []
            if beta != 0:
                words += ["-c", saved("c.npy", c, bool(way & 8))]
                words += ["--in-place"] if way & 1 else []
            tool(*words)
            wide = np.float64
            product = (a.T if trans_a else a).astype(wide) @ (b.T if trans_b else b).astype(wide)
            expected = alpha * product + beta * c.astype(wide)
            got = np.load("d.npy")
            check(got.dtype == np.dtype(d_type), "%s: D is %s" % (name, got.dtype))
            check(np.isfortran(got) == (way % 3 == 0) or 1 in got.shape, "the order of D")
            check(got.shape == (m, n) and np.array_equal(got.astype(wide), expected),
                  "tcgemm " + " ".join(map(str, words)))


def rounded_products():
    """Floats against f64, within the classical bound."""
    for name, unit in (("f32_f32", 2.0**-24), ("f64_f64", 2.0**-53), ("f16_f32", 2.0**-24)):
        dtype = TYPES[name][0]
        a = RANDOM.uniform(-1, 1, (123, 457)).astype(dtype)
        b = RANDOM.uniform(-1, 1, (457, 89)).astype(dtype)
        np.save("a.npy", a)
        np.save("b.npy", b)
        tool("run", "a.npy", "b.npy", "-o", "d.npy", "-f")
        wide = np.longdouble
        error = np.abs(np.load("d.npy") - a.astype(wide) @ b.astype(wide))
        bound = (457 + 2) * unit * (np.abs(a).astype(wide) @ np.abs(b).astype(wide))
        check(np.all(error <= bound), name + ": a rounding error beyond its bound")


def deduced_types():
    for name in DEDUCED:
        a_type, b_type, d_type = TYPES[name]
        np.save("a.npy", small((4, 5), a_type))
        np.save("b.npy", small((5, 6), b_type))
        text = tool("run", "a.npy", "b.npy", "--format", "csv").stdout
        check("problem.type,%s\n" % name in text, name + " does not follow from the files")


def conversions():
    """f4 files as bf16: to nearest, ties to even, and said so."""
    a = RANDOM.uniform(-1, 1, (30, 30)).astype("f4")
    np.save("a.npy", a)
    np.save("b.npy", np.eye(30, dtype="f4"))
    done = tool("run", "a.npy", "b.npy", "--type", "bf16_f32", "-o", "d.npy", "-f")
    check("note: a.npy: converted from f32 to bf16" in done.stderr, "no note of the conversion")
    bits = a.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32).view("f4")
    check(np.array_equal(np.load("d.npy"), rounded), "bf16 is not to nearest, ties to even")


def edges():
    np.save("a.npy", np.ones((3, 0), "f4"))
    np.save("b.npy", np.ones((0, 4), "f4"))
    np.save("c.npy", np.full((3, 4), 2, "f4"))
    tool("run", "a.npy", "b.npy", "-c", "c.npy", "--beta", 5, "-o", "d.npy", "-f")
    check(np.array_equal(np.load("d.npy"), np.full((3, 4), 10, "f4")), "k = 0 is not beta * C")
    np.save("b.npy", np.ones((0, 0), "f4"))
    tool("run", "a.npy", "b.npy", "-o", "d.npy", "-f")
    check(np.load("d.npy").shape == (3, 0), "an empty D")
    np.save("a.npy", np.array([[np.nan, 1], [np.inf, 0]], "f8"))
    np.save("b.npy", np.array([[1, 0], [1, 1]], "f8"))
    tool("run", "a.npy", "b.npy", "-o", "d.npy", "-f")
    check(np.array_equal(np.load("d.npy"), [[np.nan, np.nan], [np.inf, np.nan]], equal_nan=True),
          "NaN and infinity")


def numpy_operand(values, transposed):
    values = np.array(values, dtype=object)
    return np.swapaxes(values, -1, -2) if transposed else values


def printed_python():
    """What --print python prints is Python, for every type, and D is the product."""
    names = "f16_f32 f16_f16 bf16_f32 bf16_bf16 tf32_f32 f32_f32 f64_f64 s8_s32 u8_s32 u8s8_s32 " \
            "s8u8_s32 e4m3_f32 e5m2_f32 e4m3_bf16 e5m2_bf16 s4_s32 u4_s32 b1_s32"
    units = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-20, "f64": 2.0**-49}
    for index, name in enumerate(names.split()):
        words = ["run", "-m", 3, "-n", 4, "-k", 5, "--type", name, "--print", "python",
                 "--alpha", 2, "--beta", 3, "--seed", index]
        words += ["--trans-a"] if index & 1 else []
        words += ["--trans-b"] if index & 2 else []
        words += ["--order", "col"] if index & 4 else []
        words += ["--batch", 2] if index % 3 == 0 else []
        space = {}
        exec(compile(tool(*words).stdout, "printed", "exec"), space)
        a = numpy_operand(space["A"], index & 1)
        b = numpy_operand(space["B"], index & 2)
        items = [(a, b, space["C"], space["D"])]
        if index % 3 == 0:
            items = zip(a, b, space["C"], space["D"])
        for one_a, one_b, c, d in items:
            if name.startswith("tf32"):
                one_a, one_b = one_a.astype("f8"), one_b.astype("f8")
            expected = 2 * (one_a @ one_b) + 3 * np.array(c, dtype=object)
            if name.endswith("s32"):
                wrapped = (expected + 2**31) % 2**32 - 2**31
                good = np.array_equal(np.array(d, dtype=object), wrapped)
            else:
                unit = 2.0**-9 if name.startswith("tf32") else units[name.split("_")[1]]
                size = 2 * np.abs(one_a) @ np.abs(one_b) + 3 * np.abs(np.array(c, dtype=object))
                good = np.all(np.abs(np.array(d, dtype=object) - expected) <= unit * size)
            check(good, "tcgemm " + " ".join(map(str, words)))
    np.save("a.npy", np.array([[np.nan, np.inf, -np.inf, -0.0, 1e300]]))
    np.save("b.npy", np.eye(5)[:, :1])
    space = {}
    exec(tool("run", "a.npy", "b.npy", "--print", "python").stdout, space)
    check(repr(space["A"]) == "[[nan, inf, -inf, -0.0, 1e+300]]", "NaN or infinity in Python")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exact_products()
        rounded_products()
        deduced_types()
        conversions()
        edges()
        printed_python()
        os.chdir("/")
    print("%d failures" % failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
