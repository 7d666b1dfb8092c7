"""What a call from Python costs: tcgemm beside NumPy, and torch where it is, in one process.

    PYTHONPATH=build/python python3 bench/python_overhead.py [--csv FILE] [--wheel FILE.whl]

Each row is the best of several repeats, ours and theirs in turns, so that a slow or busy machine slows both. The
ratio is ours / theirs; the goal is that of the row, where it has one.
"""

import argparse
import csv
import os
import subprocess
import sys
import time

import numpy as np
import tcgemm


def best(calls, seconds=0.5, repeats=9):
    """Seconds of one call, the least of repeats; the calls take turns."""
    loops = []
    for call in calls:
        for _ in range(5):
            call()
        start = time.perf_counter()
        call()
        took = max(time.perf_counter() - start, 1e-7)
        loops.append(max(1, int(seconds / repeats / len(calls) / took)))
    least = [float("inf")] * len(calls)
    for _ in range(repeats):
        for i, (call, loop) in enumerate(zip(calls, loops)):
            steps = range(loop)
            start = time.perf_counter()
            for _ in steps:
                call()
            least[i] = min(least[i], (time.perf_counter() - start) / loop)
    return least


def empty_call():
    """What the loop and the lambda around each call cost."""
    return best([lambda: None])[0]


def pair(name, ours, theirs, goal, nothing):
    mine, other = (max(x - nothing, 1e-10) for x in best([ours, theirs]))
    return {"case": name, "ours_ns": round(mine * 1e9, 1), "theirs_ns": round(other * 1e9, 1),
            "ratio": round(mine / other, 4), "goal": goal}


def alone(name, call, goal_ns, nothing):
    mine = best([call])[0] - nothing
    return {"case": name, "ours_ns": round(mine * 1e9, 1), "theirs_ns": "", "ratio": "", "goal": f"{goal_ns} ns"}


def numpy_rows(nothing):
    for size, goal in ((4, ""), (8, 0.5), (16, ""), (32, ""), (64, 0.8), (128, "")):
        a = np.random.default_rng(0).standard_normal((size, size)).astype(np.float32)
        b, out = a.copy(), np.empty_like(a)
        plan = tcgemm.plan(a, b)
        yield pair(f"f32 {size}x{size} out=, numpy.matmul", lambda: tcgemm.matmul(a, b, out=out),
                   lambda: np.matmul(a, b, out=out), goal, nothing)
        if size == 8:
            yield pair("f32 8x8, numpy.matmul", lambda: tcgemm.matmul(a, b), lambda: np.matmul(a, b), "", nothing)
            yield pair("f32 8x8 out=, numpy.dot", lambda: tcgemm.matmul(a, b, out=out), lambda: np.dot(a, b, out), "", nothing)
            yield alone("plan(a, b, out=) f32 8x8", lambda: plan(a, b, out=out), 350, nothing)
    a = np.ones((1000, 16, 16), np.float32)
    yield pair("f32 1000 x 16^3, numpy.matmul", lambda: tcgemm.matmul(a, a), lambda: np.matmul(a, a), 0.33, nothing)


def low_precision_rows(nothing):
    import ml_dtypes

    rng = np.random.default_rng(0)
    for dtype in (ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e4m3fn, np.int8):
        a = rng.integers(-2, 3, (192, 192)).astype(dtype)
        name = np.dtype(dtype).name
        yield pair(f"{name} 192^3, numpy.matmul", lambda: tcgemm.matmul(a, a), lambda: np.matmul(a, a), 0.05, nothing)


def torch_rows(nothing):
    try:
        import torch
    except ImportError:
        return
    a = torch.randn(8, 8)
    out = torch.empty(8, 8)
    yield pair("torch f32 8x8, torch.mm", lambda: tcgemm.matmul(a, a), lambda: torch.mm(a, a), 0.5, nothing)
    yield pair("torch f32 8x8 out=, torch.mm", lambda: tcgemm.matmul(a, a, out=out), lambda: torch.mm(a, a, out=out), 0.5, nothing)


def import_row():
    code = "import time; t = time.perf_counter(); import tcgemm; print(time.perf_counter() - t)"
    least = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(15))
    return {"case": "import tcgemm", "ours_ns": round(least * 1e9), "theirs_ns": "", "ratio": "", "goal": "5000000 ns"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv")
    parser.add_argument("--wheel")
    found = parser.parse_args()
    nothing = empty_call()
    rows = [*numpy_rows(nothing), *low_precision_rows(nothing), *torch_rows(nothing), import_row()]
    if found.wheel:
        rows.append({"case": "bytes of the wheel", "ours_ns": os.path.getsize(found.wheel), "theirs_ns": "", "ratio": "", "goal": "1000000 bytes"})
    for row in rows:
        print(f"{row['case']:36} {row['ours_ns']:>12} {row['theirs_ns']:>12} {row['ratio']:>8}  goal {row['goal']}")
    if found.csv:
        with open(found.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, ["case", "ours_ns", "theirs_ns", "ratio", "goal"])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
