#!/usr/bin/env python3
"""Our CPU products beside PyTorch's (oneDNN, MKL), in turn, with pauses in which its threads come to rest.

    bench/vs_torch.py build/cli/tcgemm OUT.csv                              bf16 and s8 on 1 and 2 threads
    bench/vs_torch.py build/cli/tcgemm OUT.csv --suite server --minutes 4   all types on 16, 1 and 4 threads
    bench/vs_torch.py build/cli/tcgemm OUT.csv --suite linear                few rows times weights along k
    bench/vs_torch.py build/cli/tcgemm OUT.csv --suite busy --threads 16    ours beside 16 that spin

What Python itself takes for a call of torch, a microsecond or two, counts as torch's: it shows at 64^3.
Row-major, alpha 1, beta 0; the best block of each counts, for who else is busy on the machine only
adds time. torch rounds D to bf16 or f16, so ours are bf16_bf16 and f16_f16; of bytes torch has s8 x s8
to s32. With --minutes, points whose turn does not come in time are left out and counted at the end.
"""
import argparse
import csv
import io
import subprocess
import sys
import time

try:
    import torch
except ImportError:
    torch = None  # the suite `busy` does without

SQUARES = [(s, s, s) for s in (256, 512, 1024, 2048, 4096)] + [(16, 4096, 4096)]
SERVER = [(s, s, s) for s in (4096, 2048, 1024, 512, 256, 128, 64)] + [(16, 4096, 4096), (1, 4096, 4096)]
LINEAR = [(m, 4096, 4096) for m in (1, 8, 16, 32, 64)]
BUSY = [(32, 32, 32), (128, 128, 128), (512, 512, 512), (16, 4096, 4096)]
ALL_TYPES = ["f32_f32", "f64_f64", "bf16_bf16", "f16_f16", "s8_s32"]
ALL_LAYOUTS = ["NN", "NT", "TN", "TT"]
SUITES = {
    "squares": {"shapes": SQUARES, "types": ["bf16_bf16", "s8_s32"], "layouts": ALL_LAYOUTS,
                "threads": [1, 2], "rounds": 3, "block": 0.25},
    "server": {"shapes": SERVER, "types": ALL_TYPES, "layouts": ["NN"], "threads": [16, 1, 4],
               "rounds": 2, "block": 0.12},
    "linear": {"shapes": LINEAR, "types": ALL_TYPES, "layouts": ["NT"], "threads": [1, 4, 16],
               "rounds": 2, "block": 0.12},
    "busy": {"shapes": BUSY, "types": ["f32_f32", "bf16_bf16"], "layouts": ["NN"], "threads": [2],
             "rounds": 3, "block": 0.25},
}
PAUSE_SECONDS = 0.3  # OpenMP's threads spin for 0.2 s
DTYPES = {"f32_f32": "float32", "f64_f64": "float64", "bf16_bf16": "bfloat16",
          "f16_f16": "float16"}


def measure_ours(tool, kind, shape, layout, threads, seconds, column="time_min_seconds"):
    """The seconds of one product by `tcgemm bench`: the best of its samples, or another column."""
    samples = 2 if shape[0] * shape[1] * shape[2] > 1e10 else 5
    words = [tool, "bench", "--shape", "%dx%dx%d" % shape, "-t", kind, "-j", str(threads), "--format", "csv",
             "--min-seconds", str(seconds), "--samples", str(samples), "--no-progress"]
    words += ["--trans-a"] * (layout[0] == "T") + ["--trans-b"] * (layout[1] == "T")
    out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return float(next(csv.DictReader(io.StringIO(out)))[column])


def make_operands(kind, shape, layout):
    """A and B as torch holds them, as whole numbers for s8, else normally distributed."""
    m, n, k = shape

    def make(rows, cols):
        if kind == "s8_s32":
            return torch.randint(-127, 127, (rows, cols), dtype=torch.int8)
        return torch.randn(rows, cols).to(getattr(torch, DTYPES[kind]))

    a = make(m, k) if layout[0] == "N" else make(k, m).t()
    b = make(k, n) if layout[1] == "N" else make(n, k).t()
    return a, b


def measure_torch(kind, a, b, threads, seconds):
    """The seconds of torch's best call in a block of `seconds`; infinite if it has no such product."""
    torch.set_num_threads(threads)
    multiply = torch._int_mm if kind == "s8_s32" else torch.mm
    try:
        multiply(a, b)
    except RuntimeError:  # _int_mm wants more than 16 rows in some versions
        return float("inf")
    best, start = float("inf"), time.perf_counter()
    while time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        multiply(a, b)
        best = min(best, time.perf_counter() - begin)
    return best


def compare(tool, table, points, options):
    """A row for each point, as long as there is time; returns how many had none."""
    end = time.perf_counter() + 60 * options.minutes
    for done, (threads, kind, shape, layout) in enumerate(points):
        if time.perf_counter() > end:
            return len(points) - done
        a, b = make_operands(kind, shape, layout)
        mine = theirs = float("inf")
        for _ in range(options.rounds):
            mine = min(mine, measure_ours(tool, kind, shape, layout, threads, options.block))
            theirs = min(theirs, measure_torch(kind, a, b, threads, options.block))
            time.sleep(PAUSE_SECONDS)
        giga = 2e-9 * shape[0] * shape[1] * shape[2]
        table.write([threads, kind, layout, *shape, "%.1f" % (giga / mine),
                     "%.1f" % (giga / theirs), "%.2f" % (theirs / mine), torch.__version__])
    return 0


def beside_spinners(tool, table, points, options):
    """Ours alone: the median time quiet, and while as many processes spin as there are threads."""
    column = "time_median_seconds"
    for threads, kind, shape, layout in points:
        quiet, busy = [], []
        for _ in range(options.rounds):
            quiet.append(measure_ours(tool, kind, shape, layout, threads, options.block, column))
            spin = [sys.executable, "-c", "while True: pass"]
            spinners = [subprocess.Popen(spin) for _ in range(threads)]
            time.sleep(0.1)
            busy.append(measure_ours(tool, kind, shape, layout, threads, options.block, column))
            for spinner in spinners:
                spinner.kill()
                spinner.wait()
        table.write([threads, kind, layout, *shape, "%.3g" % (1e6 * min(quiet)),
                     "%.3g" % (1e6 * min(busy)), "%.2f" % (min(busy) / min(quiet))])
    return 0


class Table:
    """Rows for a CSV file, there as soon as they are written, and for whoever watches."""

    def __init__(self, file, columns):
        self.file = file
        self.csv = csv.writer(file, lineterminator="\n")
        self.write(columns)

    def write(self, row):
        """Adds one row."""
        self.csv.writerow(row)
        self.file.flush()
        print(*row, sep="\t", flush=True)


def read_options():
    """The command line, with the suite's own values where it says nothing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the program tcgemm")
    parser.add_argument("out", help="the CSV file to be written")
    parser.add_argument("--suite", choices=SUITES, default="squares")
    parser.add_argument("--threads", type=int, nargs="+", help="numbers of threads")
    parser.add_argument("--types", nargs="+", choices=ALL_TYPES)
    parser.add_argument("--layouts", nargs="+", choices=ALL_LAYOUTS)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop in time")
    options = parser.parse_args()
    for name, value in SUITES[options.suite].items():
        if getattr(options, name, None) is None:
            setattr(options, name, value)
    return options


def is_wanted(suite, threads, shape):
    """On a server one thread has squares of 2048, more have 4096."""
    return suite != "server" or shape != ((4096, 4096, 4096) if threads == 1 else (2048, 2048, 2048))


def main():
    options = read_options()
    points = [(t, kind, shape, layout) for t in options.threads for shape in options.shapes
              for kind in options.types for layout in options.layouts if is_wanted(options.suite, t, shape)]
    busy = options.suite == "busy"
    if not torch and not busy:
        sys.exit("vs_torch.py: PyTorch is not installed")
    columns = ["threads", "type", "ops", "m", "n", "k"]
    columns += ["quiet_us", "busy_us"] if busy else ["gflops", "torch_gflops"]
    columns += ["ratio"] if busy else ["ratio", "torch"]
    with open(options.out, "w", newline="") as file:
        measure = beside_spinners if busy else compare
        left = measure(options.tool, Table(file, columns), points, options)
    if left:
        sys.exit("vs_torch.py: no time was left for %d of %d points" % (left, len(points)))


main()
