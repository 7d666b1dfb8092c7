"""Matrices as text: .csv, .tsv and .txt as NumPy and spreadsheets write them, Matrix Market's dense arrays;
whatever is ambiguous or damaged is refused with its line.
"""
import functools
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.environ["TCGEMM_SOURCE_DIR"], "tests", "support"))
from cli import check, run_tests  # noqa: E402
from cli import tool as run_tool  # noqa: E402

tool = functools.partial(run_tool, "run")
RANDOM = np.random.RandomState(5)


def write(name, text):
    with open(name, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def value_of(name, *more):
    """What the tool reads, bit by bit: the product with one."""
    tool(name, "one.npy", "-o", "d.npy", "-f", *more)
    return np.load("d.npy") if os.path.exists("d.npy") else np.zeros(0)


def reads(text, expected, name="a.csv", what=None):
    write(name, text)
    expected = np.array(expected, "f8")
    np.save("one.npy", np.eye(expected.shape[1]))
    got = value_of(name)
    check(np.array_equal(got, expected, equal_nan=True), f"{what or text!r}: {got}")


def rows():
    for text in ("1,2\n3,4\n", "1, 2\n3 ,4", "1;2\n3;4\n", "1 2\n3 4", "1\t2\r\n3\t4\r\n", "  1   2  \n\n\n3 4 # and\n",
                 "# a b\n1,2\n# c\n3,4\n\n", "\xef\xbb\xbf1,2\n3,4\n".encode("latin-1"), "1.0e0,+2\n.3e1,0x1p2\n"):
        reads(text, [[1, 2], [3, 4]])
    reads("1\n-2\n3", [[1], [-2], [3]])
    reads("5", [[5]], "a.txt")
    reads("1\t2\n", [[1, 2]], "a.tsv")
    reads("0.1,1e-300\n1e308," + "1" * 300 + "\n", [[0.1, 1e-300], [1e308, float("1" * 300)]])
    a = RANDOM.standard_normal((200, 30))
    b = RANDOM.standard_normal((30, 20))
    np.savetxt("a.txt", a)
    np.savetxt("a.csv", a, delimiter=",", fmt="%.17g")
    np.save("a.npy", a)
    np.save("b.npy", b)
    tool("a.npy", "b.npy", "-o", "d.npy", "-f")
    expected = np.load("d.npy")
    for name in ("a.txt", "a.csv"):
        tool(name, "b.npy", "-o", "e.npy", "-f")
        check(np.array_equal(np.load("e.npy"), expected) or name == "a.txt", f"savetxt's {name}")
        check(np.allclose(np.load("e.npy"), expected, rtol=1e-12), f"savetxt's {name}, roughly")
    tool("a.csv", "b.npy", "--type", "f32_f32", "-o", "e.npy", "-f", stderr="a.csv: converted from f64 to f32")
    check(np.allclose(np.load("e.npy"), a.astype("f4") @ b.astype("f4"), atol=1e-4), "as f32")
    write("n.csv", "nan,inf\n-inf,1\n")
    done = tool("n.csv", "n.csv", "--print", "python", "--verify", "full")
    check("float('nan')" in done.stdout and "float('-inf')" in done.stdout, "nan and inf")


def refused_rows():
    np.save("one.npy", np.eye(2))
    for text, said in (("1,5;2,5\n", "line 1 separates numbers by ';', what stands before by ','"),
                       ("1 2\n3,4\n", "line 2 separates numbers by ',', what stands before by ' '"),
                       ("1,2\n3 4\n", "line 2 separates numbers by ' ', what stands before by ','"),
                       ("1,,2\n", "line 1 has an empty field"), ("1,2,\n", "line 1 has an empty field"),
                       (",1\n", "line 1 has an empty field"), ("1,2\n3\n", "line 2 has 1 numbers, the first row 2"),
                       ("x,y\n1,2\n", "line 1 holds 'x', which is no number"),
                       ('"1","2"\n', "line 1 holds '\"1\"', which is no number"),
                       ("1,2x\n", "line 1 holds '2x', which is no number"), ("1e999,0\n", "'1e999', which is beyond the range"),
                       ("\n# nothing\n", "there are no numbers in it"), (b"1,\x00\n", "line 1 holds '', which is no number"),
                       ("1,2\r3,4\r", "line 1 holds a carriage return that ends no line"),
                       ("1," + "1" * 2000, "line 1 holds a number of more than 1023 characters")):
        write("a.csv", text)
        tool("a.csv", "one.npy", status=3, stderr=f"a.csv: {said}" if said[0] != "'" else said)
    write("a.csv", "1,2\n3,4\n")
    tool("a.csv:e4m3", "one.npy", status=3, stderr="a.csv: a text holds one matrix of f64, so 'e4m3' means nothing")
    tool("a.csv", "one.npy", "--a-dtype", "int4", status=3, stderr="a.csv: the numbers of a text are f64, not s4")
    tool("a.csv", "one.npy", "-o", "d.csv", status=2, stderr="ends in .npy or .safetensors")
    write("a.dat", "1,2\n3,4\n")
    tool("a.dat", "one.npy", status=3, stderr="of text, the name ends in .csv, .tsv or .txt")


def mtx():
    head = "%%MatrixMarket matrix array "
    reads(head + "real general\n% a remark\n2 3\n1\n2\n3.5\n4\n5\n6\n", [[1, 3.5, 5], [2, 4, 6]], "a.mtx")
    reads(head.upper() + "REAL GENERAL\n\n2 2\n\n1 2\n%x\n3\r\n4", [[1, 3], [2, 4]], "a.mtx")
    reads(head + "real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", [[1, 2, 3], [2, 4, 5], [3, 5, 6]], "a.mtx")
    reads(head + "real skew-symmetric\n3 3\n2\n3\n5\n", [[0, -2, -3], [2, 0, -5], [3, 5, 0]], "a.mtx")
    reads(head + "integer general\n1 2\n-7\n9007199254740992\n", [[-7, 2**53]], "a.mtx")
    write("noname", head + "real general\n1 1\n3\n")
    np.save("one.npy", np.eye(1))
    check(value_of("noname")[0, 0] == 3, "by its first bytes")
    write("a.mtx", head + "integer general\n1 2\n300\n1\n")
    write("b.mtx", head + "integer general\n2 1\n1\n1\n")
    tool("a.mtx", "b.mtx", "--type", "s8_s32", status=3, stderr="a.mtx: element [0][0] is 300, which s8 does not hold")
    write("e.mtx", head + "real general\n0 2\n")
    write("f.mtx", head + "real general\n2 3\n1\n1\n1\n1\n1\n1\n")
    tool("e.mtx", "f.mtx", "-o", "d.npy", "-f")
    check(np.load("d.npy").shape == (0, 3), "no rows")
    for text, said in (("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 3\n",
                        "a sparse matrix ('coordinate'); only dense ones ('array') are read"),
                       ("%%MatrixMarket tensor array real general\n", "the first line says 'tensor'"),
                       ("%%MatrixMarket matrix array complex general\n1 1\n1 0\n", "'complex', of which nothing but real and integer"),
                       ("%%MatrixMarket matrix array real hermitian\n", "'hermitian', of which nothing but general, symmetric"),
                       ("%%MatrixMarket matrix array real\n1 1\n1\n", "the first line says ''"),
                       (head + "real general\n2 2\n1\n2\n3\n", "the file ends before element [1][1] of 2 x 2"),
                       (head + "real general\n2 2\n1\n2\n3\n4\n5\n", "line 7 holds more than the 2 x 2 of the header"),
                       (head + "real general\n-1 2\n", "line 2 holds a size below 0"),
                       (head + "real general\n2.5 2\n", "line 2 holds '2.5', which is no whole number"),
                       (head + "real general\n2\n", "line 2 holds '', which is no whole number"),
                       (head + "real symmetric\n2 3\n1\n", "a symmetric matrix of 2 x 3"),
                       (head + "real general\n1000000 1000000\n1\n", "1000000 x 1000000, more than the file can hold"),
                       (head + "real general\n4611686018427387904 4611686018427387904\n1\n", "more than the file can hold"),
                       (head + "real general\n4611686018427387904 1\n1\n", "more than the file can hold"),
                       (head + "real skew-symmetric\n40000 40000\n1\n", "more than the file can hold"),
                       (head + "integer general\n1 1\n1.5\n", "line 3 holds '1.5', which is no whole number"),
                       (head + "integer general\n1 1\n9007199254740993\n", "line 3 holds '9007199254740993', which no type"),
                       (head + "integer general\n1 1\n9223372036854775808\n", "'9223372036854775808', which no type"),
                       ("hello\n", "not a Matrix Market file")):
        write("a.mtx", text)
        tool("a.mtx", "one.npy", status=3, stderr=said)


if __name__ == "__main__":
    sys.exit(run_tests(rows, refused_rows, mtx))
