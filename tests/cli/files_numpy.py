#!/usr/bin/python3
"""NumPy writes, tcgemm reads and writes, NumPy reads: nothing may change on the way.

usage: files_numpy.py [PATH/TO/file_roundtrip]

Without the program it takes the one in TCGEMM_BUILD_DIR/tests, or else compiles it with CC.
"""
import itertools
import json
import os
import pathlib
import shlex
import struct
import subprocess
import sys
import tempfile

import numpy as np

CODES = {"f8": "f64", "f4": "f32", "f2": "f16", "i4": "s32", "i1": "s8", "u1": "u8"}
SAFETENSORS = {"f8": "F64", "f4": "F32", "f2": "F16", "i4": "I32", "i1": "I8", "u1": "U8"}
SHAPES = [(0, 0), (0, 5), (5, 0), (1, 1), (1, 7), (7, 1), (3, 4), (33, 65), (300, 1100)]

rng = np.random.default_rng(20240229)
num_passed = num_failed = 0


def check(holds, what):
    global num_passed, num_failed
    if holds:
        num_passed += 1
    else:
        num_failed += 1
        print("FAILED", what)


def random_bits(code, shape):
    """Every bit pattern may come up: NaNs with payloads, infinities, negative zeros."""
    dtype = np.dtype(code)
    data = rng.integers(0, 256, size=int(np.prod(shape)) * dtype.itemsize, dtype=np.uint8)
    return data.view(dtype).reshape(shape)


def convey(program, pairs):
    """Runs the program over all pairs; returns its lines."""
    text = "".join(f"{source}\t{target}\n" for source, target in pairs)
    run = subprocess.run([program], input=text, capture_output=True, text=True)
    lines = run.stdout.splitlines()
    assert len(lines) == len(pairs), run
    return lines


def bits_of(array):
    """The bytes in row-major, little-endian order."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes(order="C")


def read_safetensors(path):
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    assert length % 8 == 0, path
    return json.loads(raw[8:8 + length]), raw[8 + length:]


def write_safetensors(path, name, dtype, shape, data, pad=""):
    header = {name: {"dtype": dtype, "shape": shape, "data_offsets": [0, len(data)]}}
    text = json.dumps(header).encode() + pad.encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def npy_cases(program, folder):
    cases = []
    for code, shape, order, endian in itertools.product(CODES, SHAPES, "CF", "<>"):
        array = np.array(random_bits(code, shape), dtype=endian + code, order=order)
        stem = f"{code}-{shape[0]}x{shape[1]}-{order}-{'big' if endian == '>' else 'little'}"
        source, target = folder / f"{stem}.npy", folder / f"{stem}.out.npy"
        np.save(source, array)
        cases.append((code, array, source, target, endian))
    lines = convey(program, [(case[2], case[3]) for case in cases])
    for (code, array, source, target, endian), line in zip(cases, lines):
        order = "row" if array.flags.c_contiguous else "col"
        what = f"{source.name}: {line}"
        check(line == f"{CODES[code]} {array.shape[0]} {array.shape[1]} {order}", what)
        back = np.load(target)
        check(back.shape == array.shape and back.dtype == np.dtype("<" + code), what)
        check(bits_of(back) == bits_of(array), what)
        if endian == "<" or np.dtype(code).itemsize == 1:
            check(source.read_bytes() == target.read_bytes(), what + " (whole file)")


def raw_cases(program, folder):
    """bf16 and fp8 as ml_dtypes writes them: NumPy knows them as raw bytes, or not at all."""
    for descr, dtype, size in (("<V2", "bf16", 2), ("|V1", "e4m3", 1), ("|V1", "e5m2", 1),
                               ("<f1", "e5m2", 1)):
        for order in (False, True):
            source, target = folder / "raw.npy", folder / "raw.out.npy"
            with open(source, "wb") as file:
                np.lib.format.write_array_header_1_0(
                    file, {"descr": descr, "fortran_order": order, "shape": (5, 9)})
                file.write(rng.bytes(45 * size))
            word = f":{dtype}" if descr == "|V1" else ""
            (line,) = convey(program, [(f"{source}{word}", target)])
            check(line == f"{dtype} 5 9 {'col' if order else 'row'}", line)
            if (descr, dtype) != ("|V1", "e5m2"):
                check(source.read_bytes() == target.read_bytes(), f"{descr} (whole file)")
            if descr == "|V1":
                (line,) = convey(program, [(source, target)])
                check("does not say what it holds" in line, line)


def version_cases(program, folder):
    array = random_bits("f4", (3, 5))
    for version in ((1, 0), (2, 0), (3, 0)):
        source, target = folder / "version.npy", folder / "version.out.npy"
        with open(source, "wb") as file:
            np.lib.format.write_array(file, array, version=version)
        (line,) = convey(program, [(source, target)])
        check(line == "f32 3 5 row", f"version {version}: {line}")
        check(bits_of(np.load(target)) == bits_of(array), f"version {version}")


def safetensors_cases(program, folder):
    """Over and back: .npy to .safetensors (which turns columns into rows), and on to .npy."""
    cases = []
    for code, shape, order in itertools.product(CODES, SHAPES, "CF"):
        array = np.array(random_bits(code, shape), order=order)
        stem = f"st-{code}-{shape[0]}x{shape[1]}-{order}"
        source = folder / f"{stem}.npy"
        middle, target = folder / f"{stem}.safetensors", folder / f"{stem}.out.npy"
        np.save(source, array)
        cases.append((code, array, source, middle, target))
    convey(program, [(case[2], f"{case[3]}:w") for case in cases])
    lines = convey(program, [(f"{case[3]}:w", case[4]) for case in cases])
    for (code, array, source, middle, target), line in zip(cases, lines):
        what = f"{middle.name}: {line}"
        header, data = read_safetensors(middle)
        check(header == {"w": {"dtype": SAFETENSORS[code], "shape": list(array.shape),
                               "data_offsets": [0, array.nbytes]}}, what)
        check(data == bits_of(array), what)
        back = np.load(target)
        check(line == f"{CODES[code]} {array.shape[0]} {array.shape[1]} row", what)
        check(back.shape == array.shape and bits_of(back) == bits_of(array), what)


def narrow_safetensors_cases(program, folder):
    """What NumPy has no name for, at every misalignment that a header can cause."""
    for (dtype, ours, size), pad in itertools.product(
            (("BF16", "bf16", 2), ("F8_E4M3", "e4m3", 1), ("F8_E5M2", "e5m2", 1),
             ("F64", "f64", 8)), range(9)):
        source, target = folder / "narrow.safetensors", folder / "narrow.out.safetensors"
        data = rng.bytes(6 * size)
        write_safetensors(source, "d", dtype, [2, 3], data, " " * pad)
        (line,) = convey(program, [(source, target)])
        check(line == f"{ours} 2 3 row", line)
        check(read_safetensors(target)[1] == data, f"{dtype} after {pad} spaces")


def refusals(program, folder):
    arrays = {"scalar": np.float32(1), "four": np.zeros((1, 2, 3, 4)),
              "complex": np.zeros((2, 2), "c8"), "text": np.array([["a"]]),
              "date": np.zeros((1, 1), "M8[s]"),
              "object": np.array([[None]], dtype=object),
              "record": np.zeros((2, 2), dtype=[("x", "f4"), ("y", "f4")])}
    for name, array in arrays.items():
        source = folder / f"{name}.npy"
        np.save(source, array, allow_pickle=True)
        (line,) = convey(program, [(source, folder / "never.npy")])
        check(line.startswith("error 3: ") and f"{name}.npy: " in line, line)
    check(not (folder / "never.npy").exists(), "a refused file was written")


def find_program(folder):
    if len(sys.argv) > 1:
        return pathlib.Path(sys.argv[1]).resolve()
    built = pathlib.Path(os.environ.get("TCGEMM_BUILD_DIR", "")) / "tests" / "file_roundtrip"
    if "TCGEMM_BUILD_DIR" in os.environ and built.exists():
        return built
    root = pathlib.Path(__file__).resolve().parents[2]
    program = folder / "file_roundtrip"
    parts = "file_error destination element array_view npy npz mtx text_rows text_scan safetensors matrix_spec whole_file matrix matrix_save".split()
    subprocess.run(shlex.split(os.environ.get("CC", "cc"))
                   + ["-std=c17", "-D_GNU_SOURCE", "-O1", "-o", program]
                   + [f"-I{root / part}" for part in ("include", "src", "cli")]
                   + [root / "tests/cli/file_roundtrip.c"]
                   + [root / f"cli/files/{part}.c" for part in parts]
                   + [root / "src/base/dtype.c", root / "src/base/error.c", "-ljansson", "-lm"],
                   check=True)
    return program


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = find_program(folder)
        for cases in (npy_cases, raw_cases, version_cases, safetensors_cases,
                      narrow_safetensors_cases, refusals):
            cases(program, folder)
        check(not list(folder.glob(".*")), "temporary files are left")
    print(f"{num_passed} passed, {num_failed} failed")
    return 1 if num_failed else 0


if __name__ == "__main__":
    sys.exit(main())
