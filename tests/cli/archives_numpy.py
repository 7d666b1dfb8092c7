"""Arrays of .npz files, as NumPy and zip write them - stored, deflated, ZIP64 - and archives that are damaged,
hostile, or hold nothing to multiply.
"""
import functools
import io
import os
import struct
import subprocess
import sys
import zipfile

import numpy as np

sys.path.insert(0, os.path.join(os.environ["TCGEMM_SOURCE_DIR"], "tests", "support"))
from cli import TOOL, check, run_tests  # noqa: E402
from cli import tool as run_tool  # noqa: E402

tool = functools.partial(run_tool, "run", text=False)
RANDOM = np.random.RandomState(4)


def product(*arguments, **more):
    tool(*arguments, "-o", "d.npy", "-f", **more)
    return np.load("d.npy")


def equal(got, expected, what):
    check(got.shape == expected.shape and np.array_equal(got, expected), f"{what}: {got} is not {expected}")


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def members():
    a, b = RANDOM.rand(30, 70), np.asfortranarray(RANDOM.rand(70, 20))
    np.save("b.npy", b)
    expected = None
    for save in (np.savez, np.savez_compressed):
        save("ab.npz", a=a, b=b)
        save("one.npz", b)
        got = product("ab.npz:a", "ab.npz:b", "--verify", "full")
        expected = got if expected is None else expected
        check(np.allclose(got, a @ b, rtol=1e-14), f"{save.__name__}: wrong values")
        equal(product("ab.npz:a.npy", "one.npz"), expected, "a member's whole name, the only array")
        equal(product("ab.npz:a", "one.npz:arr_0"), expected, "arr_0")
        os.rename("ab.npz", "ab.zip")
        equal(product("ab.zip:a", "b.npy"), expected, "an archive by its first bytes")
        with open("one.npz", "rb") as file:
            check(np.allclose(product("ab.zip:a", "-", input=file.read()), expected), "from a pipe")
    with zipfile.ZipFile("dir.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notes.txt", "no array")
        archive.writestr("layer:0/w.npy", npy(a))
        archive.writestr("four.npy", npy(np.array([[0x0F, 1], [7, 8]], "u1").view("V1")))
        with archive.open("big.npy", "w", force_zip64=True) as file:
            file.write(npy(b))
    equal(product("dir.npz:layer:0/w", "dir.npz:big"), expected, "names with ':' and '/', ZIP64")
    four = np.array([[-1, 1], [7, -8]], "i4")
    equal(product("dir.npz:four:int4", "dir.npz:four:int4"), four @ four, "a word for the elements")
    equal(product("dir.npz:four", "dir.npz:four", "--a-dtype", "int4", "--b-dtype", "int4"), four @ four, "--a-dtype")
    # The same with a stream's data descriptors, which say the sizes behind the data.
    stream = io.BytesIO()
    stream.seekable = lambda: False
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("w.npy", npy(b))
    with open("stream.npz", "wb") as file:
        file.write(stream.getvalue())
    equal(product("ab.zip:a", "stream.npz"), expected, "sizes behind the data")


def refusals():
    np.savez("ab.npz", a=np.eye(2), b=np.eye(2))
    np.save("b.npy", np.eye(2))
    tool("ab.npz", "b.npy", status=3, stderr="ab.npz: name an array as FILE:ARRAY, for there is not exactly one; it holds a, b")
    tool("ab.npz:c", "b.npy", status=3, stderr="ab.npz: no array 'c'; it holds a, b")
    tool("ab.npz:", "b.npy", status=3, stderr="ab.npz: no array ''; it holds a, b")
    tool("ab.npz:a:int5", "b.npy", status=3, stderr="ab.npz:a:int5: an .npy file holds one array without a name, and 'int5'")
    tool("none.npz:a", "b.npy", status=3, stderr="none.npz: No such file")
    tool("b.npy", "b.npy", "-o", "d.npz", status=2, stderr="ends in .npy or .safetensors")
    np.savez("s.npz", a=np.float32(1), text=np.array([["a"]]))
    tool("s.npz:a", "b.npy", status=3, stderr="s.npz:a: the array has 0 dimensions")
    tool("s.npz:text", "b.npy", status=3, stderr="s.npz:text: the type '<U1' is not one of")
    with zipfile.ZipFile("empty.npz", "w"):
        pass
    tool("empty.npz", "b.npy", status=3, stderr="it holds no arrays")
    with zipfile.ZipFile("lzma.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.npy", npy(np.eye(2)))
    tool("lzma.npz", "b.npy", status=3, stderr="'a.npy' is compressed by method 14; stored and deflated")
    with open("no.npz", "wb") as file:
        file.write(npy(np.eye(2)))
    tool("no.npz", "b.npy", status=3, stderr="no.npz: damaged .npz file")


def damages():
    """Each byte of an archive changed, or its end cut off: a sentence, or the right product; never a crash."""
    expected = np.eye(3) * 2
    np.save("b.npy", np.eye(3))
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", compression) as archive:
            archive.writestr("a.npy", npy(expected))
        raw = bytearray(buffer.getvalue())
        refused = 0
        places = list(range(0, 40)) + list(range(40, len(raw), 5))
        for at in places:
            for bad in (bytes(raw[:at]), bytes(raw[:at]) + bytes([raw[at] ^ 0x41]) + bytes(raw[at + 1:])):
                with open("bad.npz", "wb") as file:
                    file.write(bad)
                done = subprocess.run([TOOL, "run", "bad.npz", "b.npy", "-o", "d.npy", "-f", "-q"], capture_output=True, timeout=60)
                lines = done.stderr.decode().splitlines()
                refused += done.returncode == 3
                good = done.returncode == 3 and len(lines) == 1 and "bad.npz" in lines[0]
                good = good or (done.returncode == 0 and np.array_equal(np.load("d.npy"), expected))
                check(good, f"byte {at}: {done.returncode} {lines}")
        check(refused > len(places), f"only {refused} of {2 * len(places)} are refused")
    # What claims 2^40 bytes is not believed.
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("a.npy", "w", force_zip64=True) as file:
            file.write(npy(expected))
    raw = bytearray(buffer.getvalue())
    size = struct.pack("<I", len(npy(expected)))
    central = raw.rindex(b"PK\x01\x02")
    at = raw.index(size, central)
    raw[at:at + 4] = struct.pack("<I", 0xFFFFFFF0)
    with open("bad.npz", "wb") as file:
        file.write(raw)
    tool("bad.npz", "b.npy", status=3, stderr="bad.npz: 'a.npy' claims 4294967280 bytes, made of ")


def libzip():
    """77: the tool was built without it."""
    np.savez("a.npz", np.eye(2))
    probe = subprocess.run([TOOL, "run", "a.npz", "a.npz"], capture_output=True, text=True)
    if "built without libzip" not in probe.stderr:
        return None
    print("skipped: no libzip")
    return 77


if __name__ == "__main__":
    sys.exit(run_tests(libzip, members, refusals, damages))
