"""Arrays of one and of three dimensions: what `run` makes of them is what NumPy's matmul does, in values
and in the shape of D, for every order and transpose; what does not fit is refused in a sentence.
"""
import functools
import os
import re
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.environ["TCGEMM_SOURCE_DIR"], "tests", "support"))
from cli import check, run_tests  # noqa: E402
from cli import tool as run_tool  # noqa: E402

tool = functools.partial(run_tool, "run")
RANDOM = np.random.RandomState(3)


def product(*arguments, out="d.npy", **more):
    tool(*arguments, "-o", out, "-f", **more)
    return np.load(out) if out.endswith(".npy") else None


def equal(got, expected, what):
    good = got is not None and got.shape == expected.shape and np.array_equal(got, expected)
    check(good, f"{what}: {None if got is None else got.shape} is not {expected.shape}, or its values differ")


def array(shape, dtype="f4", order="C"):
    return np.array(RANDOM.randint(-4, 5, shape), dtype=dtype, order=order)


def turned(x):
    return np.swapaxes(x, -1, -2)


def random_shapes(m, n, k, t):
    """Shapes of op(A) and op(B): vectors, matrices, batches, batches of one."""
    a = [(k,), (m, k), (t, m, k), (1, m, k)][RANDOM.randint(4)]
    b = [(k,), (k, n), (t, k, n), (1, k, n)][RANDOM.randint(4)]
    return a, b


def shapes():
    """Everything against matmul: shapes, orders, transposes, types, C of each shape it may have, in place."""
    seen = set()
    for _ in range(160):
        m, n, k, t = (int(x) for x in RANDOM.randint(1, 9, 4))
        shape_a, shape_b = random_shapes(m, n, k, t)
        trans_a, trans_b, fortran_a, fortran_b, col, in_place = (bool(x) for x in RANDOM.randint(0, 2, 6))
        trans_a, trans_b = trans_a and len(shape_a) > 1, trans_b and len(shape_b) > 1
        dtype, kind = [("f4", "f32_f32"), ("f8", "f64_f64"), ("i1", "s8_s32")][RANDOM.randint(3)]
        a, b = array(shape_a, dtype), array(shape_b, dtype)
        expected = a.astype("f8") @ b.astype("f8")
        seen.add((len(shape_a), len(shape_b), fortran_a, fortran_b, col))
        np.save("a.npy", np.array(turned(a) if trans_a else a, order="F" if fortran_a else "C"))
        np.save("b.npy", np.array(turned(b) if trans_b else b, order="F" if fortran_b else "C"))
        words = ["a.npy", "b.npy", "--type", kind, "--verify", "full", "--order", "col" if col else "row"]
        words += ["--trans-a"] * trans_a + ["--trans-b"] * trans_b
        out = np.dtype("i4" if kind == "s8_s32" else dtype)
        equal(product(*words), np.asarray(expected, out), f"{shape_a} @ {shape_b} {words}")
        if expected.ndim == 0:
            continue
        batched = max(len(shape_a), len(shape_b)) == 3
        lead = [expected.shape]
        if batched:
            lead += [expected.shape[1:], (1,) + expected.shape[1:]]
        shape_c = lead[RANDOM.randint(len(lead))]
        if shape_c == ():
            continue
        c = array(shape_c, out, "F" if fortran_a else "C")
        np.save("c.npy", c)
        words += ["-c", "c.npy", "--beta", 3] + ["--in-place"] * in_place
        equal(product(*words), np.asarray(expected + 3 * c.astype("f8"), out), f"+ 3 C {shape_c}: {words}")
    check(len(seen) > 60, f"only {len(seen)} kinds of operands")


def other_elements():
    """Batches of big-endian, converted, bool and one-byte-a-value elements, in both orders."""
    for order in "CF":
        a, b = array((3, 4, 5), ">f4", order), array((5, 2), "<f8", order)
        np.save("a.npy", a)
        np.save("b.npy", b)
        equal(product("a.npy", "b.npy", "--type", "f32_f32"), (a @ b).astype("f4"), f"big-endian batch {order}")
        a, b = np.array(RANDOM.rand(3, 4, 5) < 0.5, order=order), np.array(RANDOM.rand(3, 5, 7) < 0.5, order=order)
        np.save("a.npy", a)
        np.save("b.npy", b)
        equal(product("a.npy", "b.npy"), a.astype("i4") @ b.astype("i4"), f"bool batch {order}")
    a = np.zeros((2, 3, 4), "i8")
    for order in "CF":
        a[1, 2, 0] = 2**53 + 1
        np.save("a.npy", np.array(a, order=order))
        tool("a.npy", "b.npy", status=3, stderr=f"a.npy: element [1][2][0] is {2**53 + 1}, which no type of ours")
        small = np.array(a, order=order)
        small[1, 2, 0] = 300
        np.save("a.npy", small)
        np.save("v.npy", np.array([1, 2, 3, 200], "i8"))
        tool("a.npy", "v.npy", "--type", "s8_s32", status=3, stderr="a.npy: element [1][2][0] is 300, which s8")
        tool("v.npy", "v.npy", "--type", "s8_s32", status=3, stderr="v.npy: element [3] is 200, which s8")


def files():
    """Both containers, empty batches, batches of random data, and one matrix for all without a copy."""
    a, b = array((3, 4, 5)), array((5, 2))
    np.save("a.npy", a)
    np.save("b.npy", b)
    product("a.npy", "b.npy", out="d.safetensors")
    np.save("one.npy", np.eye(2, dtype="f4"))
    equal(product("d.safetensors", "one.npy"), a @ b, "a batch through safetensors")
    np.save("none.npy", a[:0])
    equal(product("none.npy", "b.npy"), a[:0] @ b, "an empty batch")
    for order in ("row", "col"):
        d = product("-m", 3, "-n", 4, "-k", 5, "--batch", 6, "--pad", 2, "--order", order)
        check(d.shape == (6, 3, 4), f"--batch 6 -o: {d.shape}")
    by_name = {"np": np}
    for words in (["a.npy", "b.npy"], ["b5.npy", "b.npy"], ["a.npy", "b5.npy"], ["b5.npy", "b5.npy"], ["a1.npy", "b.npy"]):
        np.save("b5.npy", array(5))
        np.save("a1.npy", a[:1])
        text = tool(*words, "--print", "python").stdout
        exec(text, by_name)
        got = [np.asarray(by_name[name]) for name in "ABD"]
        check(np.array_equal(got[0] @ got[1], got[2]) and got[2].shape == (got[0] @ got[1]).shape,
              f"--print python {words}: {text}")
    large = array((2000, 1, 30))
    np.save("a.npy", large)
    np.save("b.npy", array((30, 40)))
    report = tool("a.npy", "b.npy", "--json").stdout
    check(re.search(r'"batch": 2000', report) is not None, f"no batch in {report}")


def refusals():
    np.save("v.npy", array(5))
    np.save("a.npy", array((3, 4, 5)))
    np.save("b.npy", array((2, 5, 6)))
    np.save("m.npy", array((5, 6)))
    np.save("four.npy", array((1, 2, 3, 4)))
    np.save("scalar.npy", np.float32(3))
    tool("a.npy", "b.npy", status=3, stderr="a.npy holds 3 matrices and b.npy holds 2: as many, or one, would fit")
    tool("v.npy", "m.npy", "--trans-a", status=3, stderr="v.npy has one dimension, which --trans-a cannot transpose")
    tool("m.npy", "v.npy", "--trans-b", status=3, stderr="v.npy has one dimension, which --trans-b cannot transpose")
    tool("m.npy", "v.npy", status=3, stderr="m.npy is 5 x 6 and v.npy is (5,): 6 and 5 do not fit")
    tool("a.npy", "m.npy", "--trans-a", status=3, stderr="a.npy transposed is 3 x 5 x 4 and m.npy is 5 x 6: 4 and 5")
    tool("four.npy", "m.npy", status=3, stderr="four.npy: the array has 4 dimensions, shape 1 x 2 x 3 x 4, but a vector")
    tool("scalar.npy", "m.npy", status=3, stderr="scalar.npy: the array has 0 dimensions")
    for shape, said in (((4, 6), None), ((3, 4, 6), None), ((2, 4, 6), "2 x 4 x 6"), ((6,), "(6,)"), ((3, 6, 4), "3 x 6 x 4")):
        np.save("c.npy", array(shape))
        words = ["a.npy", "m.npy", "-c", "c.npy", "--beta", 1]
        if said:
            tool(*words, status=3, stderr=f"c.npy is {said}, but the product of a.npy and m.npy is 3 x 4 x 6")
        else:
            tool(*words)
    np.save("c.npy", array((2, 6)))
    tool("v.npy", "m.npy", "-c", "c.npy", "--beta", 1, status=3, stderr="c.npy is 2 x 6, but the product of v.npy and m.npy is (6,)")


def operations_are_counted():
    """m k products for alpha, 2 k - 1 operations for each sum, one for beta C and one to add it; for each item."""
    for m, n, k, batch in ((3, 5, 7, 1), (1, 1, 1, 1), (20, 3, 11, 4)):
        done = tool("-m", m, "-n", n, "-k", k, "--batch", batch, "--json")
        expected = batch * (m * k + (2 * k - 1) * m * n + 2 * m * n)
        check(f'"total_eops": {expected:.1f},' in done.stdout, f"{m} x {n} x {k} x {batch}: not {expected} operations")


if __name__ == "__main__":
    sys.exit(run_tests(operations_are_counted, shapes, other_elements, files, refusals))
