#!/usr/bin/env python3
"""A suite of products of any size, drawn anew from each seed: those that nobody has tuned for.

    bench/random_suite.py gpu 77 >random.txt      then   tcgemm bench --suite random.txt --vs cublaslt
    bench/random_suite.py cpu 5 1 >random.txt            tcgemm bench --suite random.txt --vs openblas,blis,onednn,mkl

The first number is the seed; of the CPU, the second one is that of threads. Sizes are spread evenly over their
logarithms, in classes that say what kind of product it is; its types, layouts and gaps between rows are drawn,
too. None of the classes has a goal: what is worst in them says where to look next (bench/results/notes.md).
"""
import math
import random
import sys

HALVES = ["bf16_bf16", "f16_f32", "bf16_f32", "f16_f16"]
BYTES = ["s8_s32", "e4m3_bf16", "e4m3_f32"]
WIDE = ["tf32_f32", "f32_f32", "f64_f64"]
ON_CPU = ["f32_f32", "f32_f32", "f64_f64", "bf16_f32", "s8_s32", "u8s8_s32", "f16_f32"]
LAYOUTS = ("NN", "NT", "TN", "TT")


def size(low, high, step=1):
    drawn = math.exp(random.uniform(math.log(low), math.log(high)))
    return max(step, round(drawn / step) * step)


def some_type():
    return random.choice([random.choice(HALVES), random.choice(HALVES), random.choice(BYTES), *WIDE])


def unaligned_type():
    return random.choice(HALVES + WIDE)


def ops_of(kind, choice=LAYOUTS):
    return "NT" if kind in BYTES else random.choice(choice)  # the layout that cuBLASLt has bytes in


def bytes_of(kind, m, n, k, batch):
    each = 8 if kind == "f64_f64" else 4 if kind in WIDE or kind == "s8_s32" else 2
    return batch * (m * k + k * n + m * n) * each


class Suite:
    """Prints lines of a suite (cli/bench/suite.h)."""

    def __init__(self, device, seconds, most_bytes, most_work):
        print(f"device {device}\nseconds {seconds}\nsamples 5")
        self.most_bytes, self.most_work = most_bytes, most_work

    def begin(self, name, count, draw):
        """A class of `count` products, each drawn until it is small enough."""
        print(f"class {name}")
        for _ in range(count):
            while not self.line(*draw()):
                pass

    def line(self, kind, ops, m, n, k, batch=1, rest=""):
        if bytes_of(kind, m, n, k, batch) > self.most_bytes or 2.0 * m * n * k * batch > self.most_work:
            return False
        fast = " fast=yes" if kind.startswith("e4m3") else ""
        several = f" batch={batch}" if batch > 1 else ""
        print(f"  {kind} {ops} {m}x{n}x{k}{several}{rest}{fast}")
        return True


def wide_or_tall(a, b):
    return (a, b) if random.random() < 0.5 else (b, a)


def gpu():
    suite = Suite("gpu", 0.06, 3e9, math.inf)
    few = [1, 2, 3, 4, 6, 8, 12, 16, 20, 32, 48, 64, 96, 128]

    def aligned(low=64, high=8192, rest=""):
        kind = some_type()
        step = 64 if kind in BYTES else 32
        return kind, ops_of(kind), size(low, high, step), size(low, high, step), size(low, high, step), 1, rest

    def odd():
        kind = unaligned_type()
        return kind, ops_of(kind), size(50, 5000), size(50, 5000), size(50, 5000)

    def gaps():
        kind = unaligned_type()
        sizes = [size(64, 4096, 32) for _ in range(3)]
        return kind, ops_of(kind), *sizes, 1, f" pad={random.choice([1, 2, 4, 8])}"

    def rows():
        kind = some_type()
        sizes = random.choice(few), size(512, 16384, 64), size(512, 16384, 64)
        return kind, ops_of(kind, ("NN", "NT")), *sizes, 1, " cold=yes"

    def columns():
        kind = unaligned_type()
        sizes = size(512, 16384, 64), random.choice(few[:-3]), size(512, 16384, 64)
        return kind, ops_of(kind, ("NN", "NT", "TN")), *sizes, 1, " cold=yes"

    def deep():
        kind = some_type()
        return kind, ops_of(kind), size(16, 768, 16), size(16, 768, 16), size(4096, 200000, 64)

    def wide():
        kind = some_type()
        m, n = wide_or_tall(size(8192, 131072, 64), size(32, 512, 32))
        return kind, ops_of(kind), m, n, size(32, 768, 32)

    def batch():
        kind = some_type()
        m = size(8, 768, 16) if kind in BYTES else size(8, 768)
        is_cube = kind in BYTES or random.random() < 0.5
        n, k = (m, m) if is_cube else (size(8, 512), size(8, 512))
        return kind, ops_of(kind), m, n, k, random.choice([2, 4, 8, 16, 32, 64, 128, 256, 1024])

    suite.begin("any-aligned", 60, aligned)
    suite.begin("any-odd", 40, odd)
    suite.begin("any-gaps", 12, gaps)
    suite.begin("few-rows", 36, rows)
    suite.begin("few-columns", 24, columns)
    suite.begin("deep", 26, deep)
    suite.begin("wide", 26, wide)
    suite.begin("batch", 36, batch)
    suite.begin("adds", 20, lambda: aligned(64, 6144, " beta=1"))


def cpu(threads):
    suite = Suite("cpu", 0.004, 8e8, 3e9)
    few = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64]

    def drawn(m, n, k):
        gap = random.choice(["", "", "", " pad=1", " pad=8"])
        kind = random.choice(ON_CPU)
        return kind, random.choice(LAYOUTS), m, n, k, 1, f" threads={threads}{gap}"

    suite.begin("tiny", 24, lambda: drawn(size(1, 24), size(1, 24), size(1, 24)))
    suite.begin("small", 30, lambda: drawn(size(8, 128), size(8, 128), size(8, 128)))
    suite.begin("mid", 36, lambda: drawn(size(64, 800), size(64, 800), size(64, 800)))
    suite.begin("mid-even", 24, lambda: drawn(size(64, 1200, 8), size(64, 1200, 8), size(64, 1200, 8)))
    suite.begin("rows", 24, lambda: drawn(random.choice(few), size(64, 4096), size(64, 4096)))
    suite.begin("columns", 24, lambda: drawn(size(64, 4096), random.choice(few), size(64, 4096)))
    suite.begin("inner", 20, lambda: drawn(size(2, 96), size(2, 96), size(1000, 60000)))
    suite.begin("outer", 20, lambda: drawn(size(200, 3000), size(200, 3000), size(1, 64)))
    suite.begin("tall", 16, lambda: drawn(size(4000, 100000), size(3, 96), size(3, 96)))


def main():
    words = sys.argv[1:]
    is_right = len(words) in (2, 3) and words[0] in ("gpu", "cpu") and all(w.isdigit() for w in words[1:])
    if not is_right:
        sys.exit("usage: bench/random_suite.py gpu SEED | cpu SEED [THREADS]")
    random.seed(int(words[1]))
    if words[0] == "gpu":
        gpu()
    else:
        cpu(words[2] if len(words) == 3 else 1)


if __name__ == "__main__":
    main()
