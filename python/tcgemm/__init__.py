"""Matrix multiply for every type, on the arrays of every package, with proven results.

>>> import numpy as np
>>> import tcgemm
>>> a = np.arange(6, dtype=np.float32).reshape(2, 3)
>>> b = np.ones((3, 2), dtype=np.float32)
>>> tcgemm.matmul(a, b)
array([[ 3.,  3.],
       [12., 12.]], dtype=float32)

matmul multiplies, plan does so often, pack brings weights into their final form once, verify proves a
result, tune measures which kernel is best, bench how fast they are, info tells of this machine.
`python -m tcgemm` multiplies files.
"""

from . import _core
from ._core import (
    Array,
    CopyWarning,
    DeviceError,
    Packed,
    PackedAhead,
    Plan,
    __version__,
    devices,
    kernels,
    known_gpus,
    machine,
    matmul,
    pack,
    plan,
    types,
)

__all__ = [
    "Array",
    "CopyWarning",
    "DeviceError",
    "Info",
    "Packed",
    "PackedAhead",
    "Plan",
    "Report",
    "__version__",
    "bench",
    "devices",
    "info",
    "kernels",
    "known_gpus",
    "machine",
    "matmul",
    "pack",
    "plan",
    "tune",
    "types",
    "verify",
]


class Report:
    """What `verify` found: true if no element is wrong.

    `max_ratio` is the largest error as a fraction of the bound that every right result obeys.
    """

    __slots__ = (
        "mode",
        "num_checked",
        "num_wrong",
        "wrong_index",
        "wrong_got",
        "wrong_expected",
        "max_ratio",
        "miss_probability",
        "seconds",
    )

    def __init__(self, found):
        for name in self.__slots__:
            if name != "wrong_index":
                setattr(self, name, found[name])
        wrong = (found["wrong_batch"], found["wrong_row"], found["wrong_col"])
        self.wrong_index = None if self.num_wrong == 0 else wrong

    def __bool__(self):
        return self.num_wrong == 0

    def __repr__(self):
        if self:
            return (
                f"<tcgemm.Report: right, {self.num_checked} elements compared ({self.mode}), "
                f"largest error {self.max_ratio:.3g} of its bound>"
            )
        return (
            f"<tcgemm.Report: WRONG, {self.num_wrong} of {self.num_checked} elements, first at {self.wrong_index}: "
            f"{self.wrong_got:g} instead of {self.wrong_expected:g}>"
        )


def verify(a, b, d, /, c=None, **options):
    """Compares d with alpha * a @ b + beta * c, computed in wider arithmetic, by the error bound of the type.

    Options are those of `matmul`, and mode ("auto", "sample", "full") and seed. c is what it was before.

    >>> import numpy as np
    >>> a = np.ones((4, 4), np.float32)
    >>> bool(verify(a, a, a @ a)), bool(verify(a, a, a @ a + 1))
    (True, False)
    """
    return Report(_core.verify(a, b, d, c, **options))


def tune(plan, /, *, top=4, seconds=0.05, progress=None):
    """Measures the kernels that the model likes best for a plan's problem, and returns a plan with the fastest.

    The operands are zeros of the plan's shapes; each kernel runs for about `seconds`. A bar on standard error tells how
    far it is while that is a terminal or a notebook; progress=False keeps quiet, a function gets (done, total, what).

    >>> tuned = tune(_core.plan(shape=(64, 64, 64), type="f32_f32"), top=2, seconds=0.001)
    >>> tuned.problem["m"]
    64
    """
    from ._bench import Progress, best_time, zeros

    arguments = plan.__reduce__()[0].keywords
    if arguments.get("gpu"):
        raise ValueError("a plan for a GPU that is not here cannot be measured")
    if plan.info["device_index"] >= 0:
        raise ValueError("tune measures plans of the CPU")
    of_type = next(x for x in types() if x["name"] == plan.type)
    operands = [zeros(shape, of_type[name]) for name, shape in zip("ab", arguments["shape"])]
    best, best_seconds = plan, float("inf")
    estimates = plan.estimates()[:top]
    bar = Progress(len(estimates), progress)
    try:
        for estimate in estimates:
            bar.step(estimate["kernel"])
            candidate = _core.plan(**{**arguments, "algo": None, "tile": None, "kernel": estimate["kernel"]})
            took = best_time(candidate, operands, seconds)
            if took < best_seconds:
                best, best_seconds = candidate, took
    finally:
        bar.end()
    return best


def bench(shapes, types=("f32_f32",), *, seconds=0.1, progress=None, **options):
    """Measures products on the CPU: each shape, (m, n, k) or one number for all three, in each type.

    The result is a list of dictionaries that prints as a table; in a notebook it shows itself as a plot. Options are
    those of `plan`, such as threads and kernel; progress is as of `tune`.

    >>> found = bench([16, (8, 16, 32)], ["f32_f32", "s8_s32"], seconds=0.001)
    >>> len(found), found[0]["type"], found[3]["k"]
    (4, 'f32_f32', 32)
    """
    from ._bench import bench as measure

    return measure(shapes, types, seconds, progress, **options)


class Info(dict):
    """What `info` found, as a dictionary that prints as a page."""

    def __str__(self):
        machine = self["machine"]
        lines = [
            f"tcgemm {self['version']}",
            f"processor: {machine['cpu']}, {machine['num_processors']} processors, kernels of {machine['isa']}",
        ]
        lines += [f"GPU {i}: {gpu['name']}" for i, gpu in enumerate(self["devices"])]
        lines += [f"no GPU: {self['device_reason']}"] if not self["devices"] else []
        lines.append("types: " + " ".join(x["name"] for x in self["types"]))
        return "\n".join(lines + [self["build"].rstrip()])


def info():
    """This library and this machine: version, processor, GPUs, types.

    >>> info()["version"] == __version__
    True
    """
    return Info(
        version=__version__,
        machine=machine(),
        devices=devices(),
        device_reason=_core.device_reason(),
        types=types(),
        build=_core.build_info(),
    )
