#!/usr/bin/env python3
"""Our CPU products beside PyTorch's (oneDNN, MKL), in turn, with pauses in which its threads come to rest.

    bench/vs_torch.py build/cli/tcgemm OUT.csv [THREADS ...]

Row-major, alpha 1, beta 0; the best block of each counts, for who else is busy on the machine only
adds time. torch rounds D to bf16, so ours is bf16_bf16; of bytes torch has s8 x s8 to s32.
"""
import csv
import io
import subprocess
import sys
import time

import torch

SHAPES = [(s, s, s) for s in (256, 512, 1024, 2048, 4096)] + [(16, 4096, 4096)]
ROUNDS, BLOCK_SECONDS, PAUSE_SECONDS = 3, 0.25, 0.3


def ours(tool, kind, shape, layout, threads):
    words = [tool, "bench", "--shape", "%dx%dx%d" % shape, "-t", kind, "-j", str(threads), "--format", "csv",
             "--min-seconds", str(BLOCK_SECONDS), "--samples", "5", "--no-progress"]
    words += ["--trans-a"] * (layout[0] == "T") + ["--trans-b"] * (layout[1] == "T")
    out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return float(next(csv.DictReader(io.StringIO(out)))["time_min_seconds"])


def operands(kind, shape, layout):
    m, n, k = shape

    def make(rows, cols):
        if kind == "s8_s32":
            return torch.randint(-127, 127, (rows, cols), dtype=torch.int8)
        return torch.randn(rows, cols).to(torch.bfloat16)

    a = make(m, k) if layout[0] == "N" else make(k, m).t()
    b = make(k, n) if layout[1] == "N" else make(n, k).t()
    return a, b


def peers(kind, a, b, threads):
    torch.set_num_threads(threads)
    multiply = torch._int_mm if kind == "s8_s32" else torch.mm
    multiply(a, b)
    best, start = float("inf"), time.perf_counter()
    while time.perf_counter() - start < BLOCK_SECONDS:
        begin = time.perf_counter()
        multiply(a, b)
        best = min(best, time.perf_counter() - begin)
    return best


def main():
    tool, path, threads = sys.argv[1], sys.argv[2], [int(x) for x in sys.argv[3:]] or [1, 2]
    with open(path, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["threads", "type", "ops", "m", "n", "k", "gflops", "torch_gflops", "ratio", "torch"])
        for count in threads:
            for kind in ("bf16_bf16", "s8_s32"):
                for shape in SHAPES:
                    for layout in ("NN", "NT", "TN", "TT"):
                        a, b = operands(kind, shape, layout)
                        mine = theirs = float("inf")
                        for _ in range(ROUNDS):
                            mine = min(mine, ours(tool, kind, shape, layout, count))
                            theirs = min(theirs, peers(kind, a, b, count))
                            time.sleep(PAUSE_SECONDS)
                        giga = 2e-9 * shape[0] * shape[1] * shape[2]
                        table.writerow([count, kind, layout, *shape, "%.0f" % (giga / mine), "%.0f" % (giga / theirs),
                                        "%.2f" % (theirs / mine), torch.__version__])
                        file.flush()


main()
