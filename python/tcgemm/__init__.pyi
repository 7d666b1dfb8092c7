from typing import Any, Callable, Literal, Sequence

from ._bench import Bench
from ._core import (
    Array as Array,
    CopyWarning as CopyWarning,
    DeviceError as DeviceError,
    Packed as Packed,
    PackedAhead as PackedAhead,
    Plan as Plan,
    __version__ as __version__,
    devices as devices,
    kernels as kernels,
    known_gpus as known_gpus,
    machine as machine,
    matmul as matmul,
    pack as pack,
    plan as plan,
    types as types,
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
    mode: str
    num_checked: int
    num_wrong: int
    wrong_index: tuple[int, int, int] | None
    wrong_got: float
    wrong_expected: float
    max_ratio: float
    miss_probability: float
    seconds: float
    def __init__(self, found: dict[str, Any]) -> None: ...
    def __bool__(self) -> bool: ...

class Info(dict[str, Any]): ...

def verify(
    a: Any,
    b: Any,
    d: Any,
    /,
    c: Any = None,
    *,
    mode: Literal["auto", "sample", "full"] = "auto",
    seed: int = 0,
    alpha: float = 1,
    beta: float | None = None,
    type: str | None = None,
    trans_a: bool = False,
    trans_b: bool = False,
    xor: bool = False,
    threads: int | None = None,
) -> Report: ...
def tune(
    plan: Plan,
    /,
    *,
    top: int = 4,
    seconds: float = 0.05,
    progress: bool | Callable[[int, int, str], Any] | None = None,
) -> Plan: ...
def bench(
    shapes: Sequence[int | tuple[int, int, int]],
    types: Sequence[str] = ("f32_f32",),
    *,
    seconds: float = 0.1,
    progress: bool | Callable[[int, int, str], Any] | None = None,
    **options: Any,
) -> Bench: ...
def info() -> Info: ...
