"""Arrays that NumPy users have: what the tool makes of each element type, shape and container equals NumPy's
own product, or is refused with a sentence that names the array and the reason.
"""
import io
import json
import os
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.environ["TCGEMM_SOURCE_DIR"], "tests", "support"))
from cli import TOOL, check, run_tests, tool  # noqa: E402

RANDOM = np.random.RandomState(2)


def product(*arguments, **more):
    """What `run` writes; None if it failed."""
    if os.path.exists("d.npy"):
        os.remove("d.npy")
    tool("run", *arguments, "-o", "d.npy", **more)
    return np.load("d.npy") if os.path.exists("d.npy") else None


def equal(got, expected, what):
    check(got is not None and got.shape == expected.shape and np.array_equal(got, expected),
          f"{what}: {got} is not {expected}")


def save_raw(name, array, descr="<V1"):
    """As ml_dtypes saves its types: NumPy's header says no more than how many bytes."""
    with open(name, "wb") as file:
        order = bool(array.flags.f_contiguous and not array.flags.c_contiguous)
        np.lib.format.write_array_header_1_0(
            file, {"descr": descr, "fortran_order": order, "shape": array.shape})
        file.write(array.tobytes(order="F" if order else "C"))


def four_bits():
    """int4 and uint4 of ml_dtypes feed s4 and u4, in both orders and all transposes, odd sizes included."""
    for way in range(32):
        signed, fortran, trans_a, trans_b = bool(way & 1), bool(way & 2), bool(way & 4), bool(way & 8)
        m, n, k = (int(x) for x in RANDOM.randint(1, 20, 3))
        low, high, kind = (-8, 8, "s4") if signed else (0, 16, "u4")
        a = RANDOM.randint(low, high, (k, m) if trans_a else (m, k))
        b = RANDOM.randint(low, high, (n, k) if trans_b else (k, n))
        for name, values in (("a.npy", a), ("b.npy", b)):
            raw = (values & 15).astype("u1")
            save_raw(name, np.asfortranarray(raw) if fortran else raw, "|V1" if way & 16 else "<V1")
        expected = (a.T if trans_a else a) @ (b.T if trans_b else b)
        ops = ["--trans-a"] * trans_a + ["--trans-b"] * trans_b
        note = f"a.npy: '{'|V1' if way & 16 else '<V1'}' taken for {kind}"
        equal(product("a.npy", "b.npy", "--type", f"{kind}_s32", *ops, stderr=note), expected, f"{kind} by --type")
        word = "int4" if signed else "uint4"
        equal(product(f"a.npy:{word}", f"b.npy:{word}", *ops), expected, f"FILE:{word}")
        equal(product("a.npy", "b.npy", "--a-dtype", word, "--b-dtype", word, *ops), expected, "--a-dtype")
        wide = product(f"a.npy:{word}", f"b.npy:{word}", "--type", "f32_f32", *ops)
        equal(wide, expected.astype("f4"), f"{word} as f32")


def raw_bytes_are_never_guessed():
    save_raw("a.npy", np.array([[1, 14], [3, 4]], "u1"))
    save_raw("b.npy", np.array([[1, 0], [0, 1]], "u1"))
    for more in ([], ["--type", "f32_f32"], ["--type", "bf16_f32"]):
        tool("run", "a.npy", "b.npy", *more, status=3, stderr="the type '<V1' does not say what it holds")
    tool("run", "a.npy:e4m3", "b.npy", status=3, stderr="b.npy: the type '<V1' does not say")
    tool("run", "a.npy:int4", "b.npy:int4", "--a-dtype", "uint4", status=2, stderr="is said to hold s4 and u4")
    tool("run", "a.npy:f32", "b.npy:int4", status=3, stderr="the type '<V1' does not hold f32")
    np.save("c.npy", np.eye(2, dtype="f4"))
    tool("run", "c.npy", "c.npy", "--b-dtype", "e4m3", status=3, stderr="the type '<f4' is f32, not e4m3")
    tool("run", "-m", 2, "-n", 2, "-k", 2, "-o", "c.safetensors", "--quiet")
    tool("run", "c.safetensors", "c.npy", "--a-dtype", "bf16", status=3, stderr="the type 'F32' is f32, not bf16")
    one = np.full((2, 2), 0x38, "u1")  # 1 in e4m3
    save_raw("a.npy", one)
    save_raw("b.npy", one)
    equal(product("a.npy:e4m3", "b.npy:e4m3"), np.full((2, 2), 2, "f4"), "e4m3")
    equal(product("a.npy", "b.npy", "--type", "e4m3_f32", stderr="taken for e4m3"), np.full((2, 2), 2, "f4"), "e4m3")
    half = np.array([[0x80, 0x3F, 0, 0x40]], "u1").view("V2")  # 1 and 2 in bf16
    np.save("a.npy", half)
    save_raw("b.npy", half.reshape(2, 1), "<V2")
    tool("run", "a.npy", "b.npy", status=3, stderr="the type '|V2' does not say what it holds: add :bf16")
    equal(product("a.npy:bf16", "b.npy"), np.array([[5]], "f4"), "bf16")
    equal(product("a.npy", "b.npy", "--type", "bf16_f32", stderr="'|V2' taken for bf16"), np.array([[5]], "f4"), "bf16")


def integers():
    """Every integer and bool array, of either byte order, exact where it fits its type; bool feeds b1."""
    for code, kind in (("i8", "f64_f64"), ("u8", "f64_f64"), ("i4", "f64_f64"), ("u4", "f64_f64"), ("i2", "f32_f32"),
                       ("u2", "f32_f32"), ("i8", "s8_s32"), ("i4", "s8_s32"), ("i2", "bf16_f32"), ("u2", "u8_s32"),
                       ("i8", "f16_f32"), ("?", "f32_f32"), ("?", "s8_s32")):
        for endian in "<>":
            low, high = (0, 2) if code == "?" else (0 if code[0] == "u" else -100, 100)
            dtype = code if code == "?" else endian + code
            a = RANDOM.randint(low, high, (7, 9)).astype(dtype)
            b = RANDOM.randint(low, high, (9, 5)).astype(dtype)
            np.save("a.npy", np.asfortranarray(a) if endian == ">" else a)
            np.save("b.npy", b)
            got = product("a.npy", "b.npy", "--type", kind)
            equal(got, a.astype("f8") @ b.astype("f8"), f"{dtype} as {kind}")
    for way in range(8):
        a, b = RANDOM.rand(11, 37) < 0.5, RANDOM.rand(37, 6) < 0.5
        np.save("a.npy", np.asfortranarray(a.T) if way & 1 else np.asfortranarray(a) if way & 4 else a)
        np.save("b.npy", np.ascontiguousarray(b.T) if way & 2 else b)
        ops = ["--trans-a"] * (way & 1) + ["--trans-b"] * ((way & 2) // 2)
        equal(product("a.npy", "b.npy", *ops), a.astype("i4") @ b.astype("i4"), "bool feeds b1")


def integers_that_do_not_fit():
    np.save("b.npy", np.eye(2, dtype="i8"))
    a = np.array([[2**53, -(2**53)], [2**62, 1]], "i8")
    np.save("a.npy", a)
    equal(product("a.npy", "b.npy"), a.astype("f8"), "int64 is f64 if nobody says")
    a = np.array([[2**31 - 1, -(2**31)], [2**16 + 1, 1]], "i4")
    np.save("a.npy", a)
    equal(product("a.npy", "b.npy"), a.astype("f8"), "int32 is, too")
    equal(product("a.npy", "a.npy"), a.astype("f8") @ a.astype("f8"), "int32 by int32")
    for value, (row, col) in ((2**53 + 1, (1, 0)), (-(2**63) + 1, (0, 1)), (2**63 - 1, (1, 1))):
        a = np.zeros((2, 2), "i8")
        a[row, col] = value
        for order in (a, np.asfortranarray(a), a.astype(">i8")):
            np.save("a.npy", order)
            tool("run", "a.npy", "b.npy", status=3, stderr=f"a.npy: element [{row}][{col}] is {value}, which no type")
    np.save("a.npy", np.array([[2**64 - 2**11, 0]], "u8"))
    equal(product("a.npy", "b.npy"), np.array([[2.0**64 - 2**11, 0]]), "the largest uint64 of an f64")
    np.save("a.npy", np.array([[2**64 - 1, 0]], "u8"))
    tool("run", "a.npy", "b.npy", status=3, stderr="is 18446744073709551615, which no type")
    for values, kind, said in (([1, 300], "s8_s32", "[0][1] is 300, which s8"), ([-1, 3], "u8_s32", "[0][0] is -1, which u8"),
                               ([0, 2**24 + 1], "f32_f32", "[0][1] is 16777217, which f32"),
                               ([257, 0], "bf16_f32", "[0][0] is 257, which bf16"),
                               ([65536, 0], "f16_f32", "[0][0] is 65536, which f16")):
        for code in ("i4", "i8"):
            np.save("a.npy", np.array([values], code))
            tool("run", "a.npy", "b.npy", "--type", kind, status=3, stderr=f"a.npy: element {said} does not hold")
    np.save("a.npy", np.ones((2, 2), "i2"))
    np.save("c.npy", np.array([[2**31, 0], [0, 0]], "u4"))
    tool("run", "a.npy", "a.npy", "--type", "s8_s32", "-c", "c.npy", "--beta", 1, status=3, stderr="is 2147483648, which s32")
    tool("run", "a.npy", "a.npy", "--type", "s8_s32", "-c", "a.npy", stderr="note: beta is 0: a.npy is not read")


def losses_are_counted():
    for values, kind, said in (([300, -300, np.nan, 1.4, np.inf], "s8_s32", ": 3 clipped, 1 NaN lost\n"),
                               ([300000, 449, 1e9, np.nan, 17], "e4m3_f32", ": 2 overflowed\n"),
                               ([70000, -1e9, np.inf, np.nan, 1.0001], "f16_f32", ": 2 overflowed\n"),
                               ([1.5, 2.5, -128.4, 127.4, 0.1], "s8_s32", "ties to even\n"),
                               ([0.1, 1 / 3, 1e30, np.nan, np.inf], "bf16_f32", "ties to even\n")):
        np.save("a.npy", np.array([values], "f4"))
        np.save("b.npy", np.ones((5, 1), "f4"))
        done = tool("run", "a.npy", "b.npy", "--type", kind, "--verify", "none", stderr="note: a.npy: converted from f32")
        lines = [line for line in done.stderr.splitlines(True) if "a.npy: converted" in line]
        check(len(lines) == 1 and said in lines[0], f"{values} as {kind}: {lines}")


def arrays_of_other_things():
    """What NumPy saves and no product takes, each with its own sentence; bf16 goes out under its own name."""
    np.save("b.npy", np.ones((2, 2)))
    for array, said in ((np.array([[1, None]], object), "the array holds Python objects ('|O'), which are never read"),
                        (np.ones((1, 2), "c16"), "the type '<c16' is not one of f2 f4 f8, i1 i2 i4 i8 u1 u2 u4 u8, b1"),
                        (np.ones((1, 2), "U3"), "the type '<U3' is not one of"),
                        (np.ones((2, 2, 2, 2)), "the array has 4 dimensions, shape 2 x 2 x 2 x 2, but")):
        np.save("a.npy", array, allow_pickle=True)
        done = tool("run", "a.npy", "b.npy", status=3, stderr=f"a.npy: {said}")
        check(done.stderr.count("\n") == 1, f"more than a sentence: {done.stderr}")
    np.save("a.npy", np.array([[1, 2], [0, 3]], "f4"))
    product("a.npy", "b.npy", "--type", "bf16_bf16")
    with open("d.npy", "rb") as file:
        raw = file.read()
    check(b"'descr': '<V2'" in raw and raw[-8:] == bytes.fromhex("4040404040404040"), f"bf16: {raw}")


def bias_and_activation():
    """A bias from a row, a column, a text and at random; each activation; the report says what D is."""
    a, b, bias = RANDOM.rand(5, 7) - 0.5, RANDOM.rand(7, 3) - 0.5, RANDOM.rand(3) - 0.5
    np.save("a.npy", a)
    np.save("b.npy", b)
    x = a @ b + bias
    for name, values in (("row.npy", bias), ("column.npy", bias[:, None]), ("one.npy", bias[None, :]),
                         ("turned.npy", np.asfortranarray(bias[:, None]))):
        np.save(name, values)
        check(np.allclose(product("a.npy", "b.npy", "--bias", name), x), f"bias from {name}")
    np.savetxt("bias.txt", bias)
    check(np.allclose(product("a.npy", "b.npy", "--bias", "bias.txt", "--order", "col"), x), "bias from a text, D in columns")
    for name, f in (("none", lambda v: v), ("relu", lambda v: np.maximum(v, 0)), ("silu", lambda v: v / (1 + np.exp(-v))),
                    ("sigmoid", lambda v: 1 / (1 + np.exp(-v))), ("tanh", np.tanh),
                    ("gelu_tanh", lambda v: v / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3))))):
        check(np.allclose(product("a.npy", "b.npy", "--bias", "row.npy", "--activation", name), f(x)), f"activation {name}")
    done = tool("run", "-m", 30, "-n", 20, "-k", 10, "--bias", "random", "--activation", "gelu", "--beta", 2, "--type", "bf16_bf16")
    check(done.stdout.startswith("D = gelu(A * B + 2 * C + bias)\n") and "CORRECT" in done.stdout, done.stdout)
    done = tool("run", "-m", 30, "-n", 20, "-k", 10, "--bias", "random", "--activation", "relu", "--type", "u8s8_s32", "--format", "json")
    said = json.loads(done.stdout)
    check(said["problem"]["activation"] == "relu" and said["problem"]["bias"] == "random" and '"CORRECT"' in done.stdout,
          done.stdout)
    tool("run", "a.npy", "b.npy", "--bias", "a.npy", status=3, stderr="a.npy is 5 x 7, but a bias has 3 elements")
    tool("run", "a.npy", "b.npy", "--bias", "none.npy", status=3, stderr="none.npy")
    tool("run", "a.npy", "b.npy", "--activation", "swish", status=2, stderr="--activation is 'swish', not one of none|relu")
    tool("run", "-m", 3, "-n", 3, "-k", 3, "--type", "s8_s32", "--activation", "tanh", status=4, stderr="type s8_s32 has relu alone")


def pipes():
    """The standard input and output, named pipes, and a file on the standard input."""
    a, b = RANDOM.rand(300, 700), RANDOM.rand(700, 200)  # more than a pipe or a page holds
    np.save("a.npy", a)
    np.save("b.npy", b)
    expected = product("a.npy", "b.npy")
    with open("a.npy", "rb") as file:
        raw = file.read()
    done = tool("run", "-", "b.npy", "-o", "-", input=raw, text=False)
    equal(np.load(io.BytesIO(done.stdout)), expected, "run - B -o -")
    check(b"CORRECT" in done.stderr, "the report is not on stderr")
    done = tool("run", "-", "b.npy", "-o", "-", "--quiet", input=raw, text=False)
    check(done.stderr == b"", f"--quiet: {done.stderr}")
    with open("a.npy", "rb") as file:
        tool("run", "-", "b.npy", "-o", "d.npy", "-f", stdin=file)
    equal(np.load("d.npy"), expected, "run - < A")
    shell = '"$0" run <(cat a.npy) <(cat b.npy) -o >(cat > d2.npy) --quiet && wait'
    done = subprocess.run(["bash", "-c", shell, TOOL], capture_output=True, text=True, timeout=60)
    for _ in range(200):
        if os.path.exists("d2.npy") and os.path.getsize("d2.npy") == os.path.getsize("d.npy"):
            break
        time.sleep(0.05)
    check(done.returncode == 0 and not done.stderr, f"bash's <( ): {done.returncode} {done.stderr}")
    equal(np.load("d2.npy"), expected, "bash's <( )")
    save_raw("four.npy", (RANDOM.randint(-8, 8, (3, 3)) & 15).astype("u1"))
    with open("four.npy", "rb") as file:
        tool("run", "-", "four.npy:int4", "--a-dtype", "int4", stdin=file)
    tool("run", "-", "b.npy", status=3, stderr="-: there is nothing to read", input="")
    tool("run", "-", "b.npy", status=3, stderr="-: neither an .npy", input="no matrix")
    tool("run", "-", "b.npy", status=3, stderr="-: the header says 300 x 700 f64", input=raw[:-8], text=False)
    tool("run", "a.npy", "b.npy", "-o", "-", "--print", "table", status=2, stderr="both want the standard output")
    shell = '"$0" run a.npy b.npy -o - --quiet | head -c 10 > /dev/null; echo "${PIPESTATUS[0]}"'
    done = subprocess.run(["bash", "-c", shell, TOOL], capture_output=True, text=True, timeout=60)
    check(done.stdout == "141\n" and not done.stderr, f"a closed pipe: {done.stdout} {done.stderr}")


if __name__ == "__main__":
    sys.exit(run_tests(four_bits, raw_bytes_are_never_guessed, integers, integers_that_do_not_fit, losses_are_counted,
                       arrays_of_other_things, bias_and_activation, pipes))
