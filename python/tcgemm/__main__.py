"""python -m tcgemm: multiplies matrices from .npy files, or random ones, and proves the result.

python -m tcgemm A.npy B.npy -o D.npy
python -m tcgemm -m 1000 -n 1000 -k 1000 --type f32_f32
"""

import argparse
import sys
import time
from typing import Any

import tcgemm


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tcgemm", description="D = alpha * A @ B + beta * C, verified.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="A.npy B.npy [C.npy]; none: random matrices")
    parser.add_argument("-o", "--output", metavar="D.npy", help="where D goes")
    parser.add_argument("-m", type=int, default=1000, help="rows of a random A (1000)")
    parser.add_argument("-n", type=int, default=1000, help="columns of a random B (1000)")
    parser.add_argument("-k", type=int, default=1000, help="columns of a random A (1000)")
    parser.add_argument("--type", help="such as f32_f32; default: by the files, else f32_f32")
    parser.add_argument("--alpha", type=float, default=1.0)
    parser.add_argument("--beta", type=float)
    parser.add_argument("--trans-a", action="store_true")
    parser.add_argument("--trans-b", action="store_true")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--explain", action="store_true", help="print what the plan will do")
    parser.add_argument("--version", action="version", version="tcgemm " + tcgemm.__version__)
    found = parser.parse_args(arguments)
    if len(found.files) not in (0, 2, 3):
        parser.error("give A and B, and perhaps C; or no files for random matrices")
    if found.beta is not None and len(found.files) != 3:
        parser.error("--beta needs a file for C")
    return found


def random_operands(numpy: Any, found: argparse.Namespace) -> list[Any]:
    random = numpy.random.default_rng(0)
    name = found.type or "f32_f32"
    facts = next((x for x in tcgemm.types() if x["name"] == name), None)
    dtypes = {"f64": "f8", "f32": "f4", "f16": "f2", "s8": "i1", "u8": "u1"}
    if facts is None or facts["a"] not in dtypes:
        some = " ".join(x["name"] for x in tcgemm.types() if x["a"] in dtypes)
        raise ValueError(f"random matrices are of types {some}, not '{name}'")
    shapes = [(found.m, found.k), (found.k, found.n)]
    turned = [shape[::-1] if turn else shape for shape, turn in zip(shapes, (found.trans_a, found.trans_b))]
    return [
        (random.integers(0, 100, shape) if facts[side] in ("s8", "u8") else random.standard_normal(shape)).astype(
            dtypes[facts[side]]
        )
        for side, shape in zip("ab", turned)
    ]


def multiply(found: argparse.Namespace) -> int:
    import numpy

    operands = [numpy.load(name) for name in found.files] or random_operands(numpy, found)
    options = {
        "alpha": found.alpha,
        "beta": found.beta,
        "type": found.type,
        "trans_a": found.trans_a,
        "trans_b": found.trans_b,
    }
    plan = tcgemm.plan(*operands, threads=found.threads, **options)
    if found.explain:
        print(plan.describe())
    plan(*operands)
    start = time.perf_counter()
    d = plan(*operands)
    seconds = time.perf_counter() - start
    report = tcgemm.verify(operands[0], operands[1], d, *operands[2:], **options)
    if found.output:
        numpy.save(found.output, d)
    shape = plan.problem
    flop = 2.0 * shape["m"] * shape["n"] * shape["k"] * shape["batch"]
    print(
        f"{plan.type} {shape['m']} x {shape['n']} x {shape['k']}, kernel {plan.kernel}: "
        f"{seconds * 1e3:.3f} ms, {flop / seconds / 1e9:.1f} GFLOP/s"
    )
    print(report)
    print("CORRECT" if report else "WRONG")
    return 0 if report else 1


def main(arguments: list[str] | None = None) -> int:
    found = parse(arguments)
    try:
        return multiply(found)
    except ImportError:
        print("python -m tcgemm needs NumPy: pip install numpy", file=sys.stderr)
    except (OSError, TypeError, ValueError, MemoryError, RuntimeError) as error:
        print(f"tcgemm: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
