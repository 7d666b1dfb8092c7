"""Measurements: tcgemm.bench, its plot, and the progress bar of long work."""

import sys
from html import escape
from time import perf_counter
from typing import Any, Callable, Iterator, Sequence

from . import _core

_FORMATS = {"f64": ("d", 8), "f32": ("f", 4), "f16": ("H", 2), "bf16": ("H", 2), "s8": ("b", 1), "u8": ("B", 1)}


class Progress:
    """A bar on standard error while somebody looks at it; or calls `report(done, total, what)`."""

    def __init__(self, total: int, wanted: "bool | Callable[[int, int, str], Any] | None"):
        self.total, self.done = total, 0
        self.report = wanted if callable(wanted) else None
        is_seen = "ipykernel" in sys.modules or (hasattr(sys.stderr, "isatty") and sys.stderr.isatty())
        self.is_shown = not self.report and (is_seen if wanted is None else bool(wanted))
        self.width = 0

    def step(self, what: str) -> None:
        """Tells what is begun now; what was begun before is done."""
        if self.report:
            self.report(self.done, self.total, what)
        elif self.is_shown:
            filled = 24 * self.done // max(self.total, 1)
            line = f"[{'#' * filled}{'.' * (24 - filled)}] {self.done}/{self.total} {what}"
            sys.stderr.write("\r" + line.ljust(self.width))
            sys.stderr.flush()
            self.width = len(line)
        self.done += 1

    def end(self) -> None:
        if self.report:
            self.report(self.total, self.total, "")
        elif self.is_shown and self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()


def zeros(shape: Sequence[int], dtype: str) -> Any:
    """A buffer of zeros that the library takes as this dtype: packed elements and short floats by their bits."""
    count = 1
    for extent in shape:
        count *= extent
    if dtype in ("s4", "u4", "b1"):
        return _core.Packed(bytes(count), tuple(shape), dtype)  # type: ignore[arg-type]
    code, size = _FORMATS.get(dtype, ("B", 1))
    if count == 0:
        raise ValueError("a product without elements has nothing to measure")
    return memoryview(bytearray(count * size)).cast("B").cast(code, tuple(shape))  # type: ignore[call-overload]


def best_time(plan: Any, operands: Sequence[Any], seconds: float) -> float:
    """The least time of one run, of those that fit into `seconds`, at least one."""
    plan(*operands)  # the first run finds its memory
    took, end = float("inf"), perf_counter() + seconds
    while True:
        start = perf_counter()
        plan(*operands)
        now = perf_counter()
        took = min(took, now - start)
        if now >= end:
            return took


class Bench(Sequence[dict[str, Any]]):
    """What `bench` found: a list of dictionaries that prints as a table and shows itself as a plot in a notebook."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self._rows = list(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def __str__(self) -> str:
        lines = [f"{'type':10} {'m':>6} {'n':>6} {'k':>6} {'ms':>10} {'GFLOP/s':>9}  kernel"]
        for row in self._rows:
            lines.append(
                f"{row['type']:10} {row['m']:6} {row['n']:6} {row['k']:6} {row['seconds'] * 1e3:10.4f} "
                f"{row['gflops']:9.1f}  {row['kernel']}"
            )
        return "\n".join(lines)

    __repr__ = __str__

    def svg(self, width: int = 640, height: int = 360) -> str:
        """GFLOP/s over the size, the cube root of m n k, both in logarithms; a line for each type."""
        return _plot(self._rows, width, height)

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><td>{escape(row['type'])}<td>{row['m']} x {row['n']} x {row['k']}<td>{row['seconds'] * 1e3:.4f}"
            f"<td>{row['gflops']:.1f}<td>{escape(row['kernel'])}</tr>"
            for row in self._rows
        )
        head = "<tr><th>type<th>m x n x k<th>ms<th>GFLOP/s<th>kernel</tr>"
        return f"<div>{self.svg()}<details><summary>{len(self)} rows</summary><table>{head}{body}</table></details></div>"


_COLOURS = ("#2f6fb5", "#c0561f", "#3b8a4a", "#8a4fa3", "#a8832a", "#2a8f95", "#b03060", "#6b6b6b")


def _ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten; of many only the powers."""
    found, power = [], 10.0**-9
    while power <= high:
        found += [x * power for x in (1, 2, 5) if low <= x * power <= high]
        power *= 10
    return found if len(found) <= 8 else [x for x in found if f"{x:e}".startswith("1.0")]


def _plot(rows: Sequence[dict[str, Any]], width: int, height: int) -> str:
    from math import log

    left, right, top, bottom = 64, 110, 16, 40
    points = [((row["m"] * row["n"] * row["k"]) ** (1 / 3), row["gflops"], row) for row in rows]
    if not points:
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"/>'
    x_low, x_high = min(x for x, _, _ in points) / 1.1, max(x for x, _, _ in points) * 1.1
    y_low, y_high = min(y for _, y, _ in points) / 1.3, max(y for _, y, _ in points) * 1.3

    def at_x(x: float) -> float:
        return left + (width - left - right) * log(x / x_low) / log(x_high / x_low)

    def at_y(y: float) -> float:
        return height - bottom - (height - top - bottom) * log(y / y_low) / log(y_high / y_low)

    made = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'fill="currentColor" font-family="sans-serif" font-size="12" role="img"><title>GFLOP/s over size</title>'
    ]
    grid = 'stroke="currentColor" stroke-opacity="0.2"'
    for x in _ticks(x_low, x_high):
        made.append(f'<path d="M{at_x(x):.1f} {top}V{height - bottom}" {grid}/>')
        made.append(f'<text x="{at_x(x):.1f}" y="{height - bottom + 16}" text-anchor="middle">{x:g}</text>')
    for y in _ticks(y_low, y_high):
        made.append(f'<path d="M{left} {at_y(y):.1f}H{width - right}" {grid}/>')
        made.append(f'<text x="{left - 6}" y="{at_y(y) + 4:.1f}" text-anchor="end">{y:g}</text>')
    made.append(f'<text x="{(left + width - right) / 2:.0f}" y="{height - 6}" text-anchor="middle">cube root of m n k</text>')
    made.append(f'<text transform="translate(14 {height / 2:.0f}) rotate(-90)" text-anchor="middle">GFLOP/s</text>')
    types = list(dict.fromkeys(row["type"] for row in rows))
    for i, name in enumerate(types):
        colour = _COLOURS[i % len(_COLOURS)]
        of_type = sorted((x, y, row["kernel"]) for x, y, row in points if row["type"] == name)
        line = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y, _ in of_type)
        made.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for x, y, kernel in of_type:
            made.append(
                f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="3.5" fill="{colour}">'
                f"<title>{escape(name)}, {x:.0f}: {y:.1f} GFLOP/s, {escape(kernel)}</title></circle>"
            )
        made.append(f'<text x="{width - right + 10}" y="{top + 14 + 18 * i}" fill="{colour}">{escape(name)}</text>')
    return "".join([*made, "</svg>"])


def bench(
    shapes: Sequence[Any],
    types: Sequence[str],
    seconds: float,
    progress: "bool | Callable[[int, int, str], Any] | None",
    **options: Any,
) -> Bench:
    known = {x["name"]: x for x in _core.types()}
    unknown = [x for x in types if x not in known]
    if unknown:
        raise TypeError(f"no type is called {unknown[0]!r}; see tcgemm.types()")
    sizes = [(x, x, x) if isinstance(x, int) else tuple(x) for x in shapes]
    if any(len(x) != 3 for x in sizes):
        raise ValueError("a shape is (m, n, k), or one number for all three")
    rows, bar = [], Progress(len(sizes) * len(types), progress)
    try:
        for name in types:
            for m, n, k in sizes:
                bar.step(f"{name} {m} x {n} x {k}")
                plan = _core.plan(shape=(m, n, k), type=name, **options)
                if plan.info["device_index"] >= 0 or options.get("gpu"):
                    raise ValueError("bench measures plans of the CPU; `tcgemm bench --device` those of a GPU")
                operands = zeros((m, k), known[name]["a"]), zeros((k, n), known[name]["b"])
                took = best_time(plan, operands, seconds)
                rows.append({"type": name, "m": m, "n": n, "k": k, "seconds": took,
                             "gflops": 2e-9 * m * n * k / took, "kernel": plan.kernel})  # fmt: skip
    finally:
        bar.end()
    return Bench(rows)
