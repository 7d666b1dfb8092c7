#!/usr/bin/python3
"""Writes the seed files of the fuzzers: corpus/npy/*, corpus/safetensors/* and corpus/text/*.

The same files every time, each below 1 KiB. Good ones are called good_*, the rest is nasty.
Run it from anywhere: make_corpus.py [FOLDER]
"""
import io
import json
import pathlib
import struct
import sys

import numpy as np

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus")


def write(kind, name, data):
    assert len(data) < 1024, name
    folder = root / kind
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


# ---- .npy ----------------------------------------------------------------------------------------


def npy(text, data=b"", version=(1, 0), length=None):
    text = text if isinstance(text, bytes) else text.encode("latin-1")
    length = len(text) if length is None else length
    return (b"\x93NUMPY" + bytes(version)
            + struct.pack("<H" if version[0] == 1 else "<I", length) + text + data)


def literal(descr="'<f4'", order="False", shape="(1, 2)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


def npy_good():
    for code in "f2 f4 f8 i1 u1 i4".split():
        for order in "CF":
            file = io.BytesIO()
            np.save(file, np.array([[1, 2, 3], [4, 5, 6]], dtype=code, order=order))
            write("npy", f"good_{code}_{order}", file.getvalue())
    for version in (2, 3):
        write("npy", f"good_v{version}", npy(literal(), bytes(8), (version, 0)))
    for name, descr, size in (("bf16", "'<V2'", 4), ("v1", "'|V1'", 2), ("e5m2", "'<f1'", 2),
                              ("big", "'>f8'", 16), ("quotes", '"<f4"', 8)):
        write("npy", f"good_{name}", npy(literal(descr), bytes(size)))
    for name, shape, size in (("empty", "(0, 5)", 0), ("long", "(1L, 2L)", 8),
                              ("comma", "(1,2,)", 8)):
        write("npy", f"good_{name}", npy(literal(shape=shape), bytes(size)))
    write("npy", "good_key_order",
          npy("{'shape':(1,2),'fortran_order':True,'descr':'<f4'}", bytes(8)))


def npy_bad():
    good = npy(literal(), bytes(8))
    for cut in (0, 5, 6, 7, 8, 9, 10, 11, 30, len(good) - 9, len(good) - 1):
        write("npy", f"cut_{cut}", good[:cut])
    write("npy", "trailing", good + b"\0")
    write("npy", "magic", b"\x94" + good[1:])
    write("npy", "version_0", npy(literal(), bytes(8), (0, 0)))
    write("npy", "version_4", npy(literal(), bytes(8), (4, 0)))
    write("npy", "version_1_1", npy(literal(), bytes(8), (1, 1)))
    write("npy", "length_0", npy("", bytes(8)))
    write("npy", "length_max", npy(literal(), bytes(8), length=65535))
    write("npy", "length_max_v2", npy(literal(), bytes(8), (2, 0), length=2**32 - 1))
    write("npy", "huge", npy(literal("'<f8'", shape="(65536, 65536)").ljust(70)))
    shapes = ["()", "(3,)", "(3)", "3", "(1, 2, 3)", "(-1, 2)", "(1 2)", "(1,,2)", "(,)", "(1, 2",
              f"({2**63}, 1)", f"({2**64}, 1)", f"({2**63 - 1}, {2**63 - 1})", f"({2**63 - 1}, 0)",
              f"(0, {2**63 - 1})", f"({2**32}, {2**32})", "(1.0, 2)", "(1e2, 2)", "(0x1, 2)",
              "(True, 2)", "[1, 2]", "(" + "1, " * 33 + ")", "(" + "1, " * 65 + ")", "((1, 2))"]
    for i, shape in enumerate(shapes):
        write("npy", f"shape_{i}", npy(literal(shape=shape), bytes(8)))
    descrs = ["'|O'", "'<f3'", "'<f16'", "'<c8'", "'f4'", "'=f4'", "'|f4'", "'>V2'", "'<M8[ns]'",
              "'<U1'", "''", "'<'", "[('a', '<f4')]", "('<f4', (2,))", "{'names': ['a']}", "4",
              "None", "'<f4", "'\\x3cf4'", "'<f4\0'", "'\xff'", "'" + "<" * 100 + "'"]
    for i, descr in enumerate(descrs):
        write("npy", f"descr_{i}", npy(literal(descr), bytes(8)))
    texts = ["{}", "{", "}", "[]", "", "{,}", "{'descr': '<f4'}",
             "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), 'x': 1}",
             "{'descr': '<f4', 'fortran_order': False 'shape': (1, 2)}",
             "{'descr': '<f4', 'fortran_order': 0, 'shape': (1, 2)}",
             "{'descr': '<f4', 'fortran_order': Falsely, 'shape': (1, 2)}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)} + {}",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}\0",
             "\0" * 64, "\x1b[31m" + literal(), "{" * 500, "(" * 500]
    for i, text in enumerate(texts):
        write("npy", f"text_{i}", npy(text, bytes(8)))


# ---- .safetensors --------------------------------------------------------------------------------


def st(header, data=b"", length=None):
    text = header if isinstance(header, (bytes, str)) else json.dumps(header)
    text = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype="F32", shape=(1, 2), begin=0, end=8):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def safetensors_good():
    bits = {"F64": 64, "F32": 32, "F16": 16, "BF16": 16, "F8_E4M3": 8, "F8_E5M2": 8, "I32": 32,
            "I8": 8, "U8": 8, "BOOL": 8, "I16": 16, "U64": 64, "F8_E8M0": 8, "F4": 4, "F6_E2M3": 6}
    for dtype, width in bits.items():
        size = 8 * width // 8
        write("safetensors", f"good_{dtype}", st({"a": entry(dtype, (2, 4), 0, size)}, bytes(size)))
    write("safetensors", "good_two", st({"b": entry(begin=8, end=16), "a": entry()}, bytes(16)))
    write("safetensors", "good_metadata",
          st({"__metadata__": {"format": "pt"}, "a": entry()}, bytes(8)))
    write("safetensors", "good_spaces", st(json.dumps({"a": entry()}) + "   ", bytes(8)))
    write("safetensors", "good_empty", st({"a": entry(shape=(0, 7), end=0)}))
    write("safetensors", "good_scalar",
          st({"a": entry(shape=(), end=4), "m": entry(begin=4, end=12)}, bytes(12)))
    write("safetensors", "good_none", st({}))
    write("safetensors", "good_name", st({"\u00e4/\"\\ \u4e2d": entry()}, bytes(8)))


def safetensors_bad():
    good = st({"a": entry()}, bytes(8))
    for cut in (0, 1, 7, 8, 9, 20, len(good) - 9, len(good) - 1):
        write("safetensors", f"cut_{cut}", good[:cut])
    write("safetensors", "trailing", good + b"\0")
    for length in (0, 1, 10**8, 10**8 + 1, 2**32 - 1, 2**63, 2**64 - 1, 2**64 - 8):
        write("safetensors", f"length_{length}", st({"a": entry()}, bytes(8), length))
    entries = [entry(end=4), entry(begin=1, end=9), entry(begin=8, end=0), entry(begin=-8, end=0),
               entry(shape=(-1, 2)), entry(shape=(2**62, 2**62)),
               entry(shape=(2**32, 2**32), end=0), entry(shape=(0, 2**63 - 1), end=0),
               entry(shape=(1,) * 65), entry(shape=(1, 2, 1)),
               entry("I4"), entry("f32"), entry("F4", (1, 1), 0, 0), entry("BOOL", (8, 1)),
               {"dtype": "F32", "shape": [1, 2]}, {**entry(), "x": 1}, {**entry(), "shape": 2},
               {**entry(), "shape": [1.0, 2]}, {**entry(), "dtype": 1}, {**entry(), "shape": "12"},
               {**entry(), "data_offsets": [0]}, {**entry(), "data_offsets": [0, 8, 8]},
               1, [], None, {**entry(), "shape": [[1], [2]]}, entry(begin=2**63 - 9, end=2**63 - 1)]
    for i, value in enumerate(entries):
        write("safetensors", f"entry_{i}", st({"a": value}, bytes(8)))
    two = [(0, 8, 9, 17), (0, 8, 4, 12), (0, 8, 0, 8), (0, 8, 16, 24)]
    for i, (b0, e0, b1, e1) in enumerate(two):
        write("safetensors", f"layout_{i}", st({"a": entry(begin=b0, end=e0),
                                                "b": entry(begin=b1, end=e1)}, bytes(16)))
    one = json.dumps(entry())
    texts = [f'{{"a":{one},"a":{one}}}', f' {{"a":{one}}}', f'{{"a":{one}}}x', f'{{"a":{one}}}\0',
             f'{{"a\\u0000":{one}}}', '{"__metadata__":1}', '{"__metadata__":{"a":1}}', "[]", "{",
             "{" * 400, "[" * 400, '{"a":' * 100 + "1" + "}" * 100, f'{{"a":{one[:-1]}',
             '{"a":{"dtype":"F32","dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}',
             f'{{"a":{one.replace("[1, 2]", "[1, 18446744073709551616]")}}}', "\ufeff{}", '{"',
             '{"\\']
    for i, text in enumerate(texts):
        write("safetensors", f"text_{i}", st(text, bytes(8)))
    write("safetensors", "utf8", st(b'{"\xff":' + one.encode() + b"}", bytes(8)))


# ---- text ----------------------------------------------------------------------------------------


def text():
    for name, lines in (("good_csv", "1,2.5\n-3e4,nan\n"), ("good_blanks", "# a\n 1\t2 \r\n3 4"), ("good_semicolons", "1;2\n"),
                        ("good_mark", "\ufeff0x1p3\n"), ("decimal_commas", "1,5;2,5\n"), ("empty_field", "1,,2\n"),
                        ("ragged", "1 2\n3\n"), ("word", "a,b\n"), ("digits", "1" * 1000), ("nul", "1\0,2"),
                        ("carriage", "1\r2\r")):
        write("text", name, lines.encode())
    head = "%%MatrixMarket matrix array "
    for name, rest in (("good_mtx", "real general\n% a\n2 2\n1\n2\n3\n4\n"), ("good_symmetric", "integer symmetric\n2 2\n1\n2\n3\n"),
                       ("good_skew", "real skew-symmetric\n2 2\n7\n"), ("few", "real general\n2 2\n1\n"),
                       ("many", "real general\n1 1\n1\n2\n"), ("huge", "real general\n4611686018427387904 2\n1\n"),
                       ("negative", "real general\n-1 -1\n"), ("no_sizes", "real general\n"), ("complex", "complex general\n1 1\n1 1\n")):
        write("text", name, (head + rest).encode())
    write("text", "coordinate", b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")


npy_good()
npy_bad()
safetensors_good()
safetensors_bad()
text()
