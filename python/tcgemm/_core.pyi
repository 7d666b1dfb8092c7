"""Types of the extension module; import tcgemm instead."""

from typing import Any, Literal, TypeVar, final

_T = TypeVar("_T")
_Accuracy = Literal["full", "f16", "fast"]
_Activation = Literal["none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"]
_Packable = Literal["s4", "u4", "b1"]

__version__: str

class DeviceError(RuntimeError): ...

class CopyWarning(UserWarning): ...

@final
class Array:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    def tolist(self) -> Any: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

@final
class Packed:
    def __new__(cls, data: Any, /, shape: tuple[int, ...], dtype: _Packable) -> Packed: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def data(self) -> Any: ...

@final
class PackedAhead:
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def type(self) -> str: ...
    @property
    def kernel(self) -> str: ...
    @property
    def operand(self) -> str: ...

@final
class Plan:
    def __call__(
        self,
        a: _T,
        b: Any,
        c: Any = None,
        /,
        *,
        alpha: float | None = None,
        beta: float | None = None,
        out: Any = None,
        bias: Any = None,
        activation: _Activation | None = None,
        stream: Any = None,
    ) -> _T: ...
    @property
    def info(self) -> dict[str, Any]: ...
    @property
    def problem(self) -> dict[str, Any]: ...
    @property
    def type(self) -> str: ...
    @property
    def kernel(self) -> str: ...
    def describe(self, format: Literal["text", "json"] = "text") -> str: ...
    def explain(
        self,
        format: Literal["text", "json", "svg", "html", "html_part"] = "text",
        picture: str | None = None,
        scheme: Literal["auto", "light", "dark"] = "auto",
        width: int = 0,
        id: str | None = None,
    ) -> str: ...
    def estimates(self) -> list[dict[str, Any]]: ...
    def _repr_html_(self) -> str: ...

def matmul(
    a: _T,
    b: Any,
    /,
    c: Any = None,
    *,
    alpha: float = 1,
    beta: float | None = None,
    out: Any = None,
    type: str | None = None,
    trans_a: bool = False,
    trans_b: bool = False,
    accuracy: _Accuracy | None = None,
    reproducible: bool = False,
    xor: bool = False,
    bias: Any = None,
    activation: _Activation | None = None,
    scale_a: Any = None,
    scale_b: Any = None,
    algo: str | None = None,
    kernel: str | None = None,
    tile: str | None = None,
    device: int | str | None = None,
    stream: Any = None,
    threads: int | None = None,
) -> _T: ...
def plan(
    a: Any = None,
    b: Any = None,
    /,
    c: Any = None,
    *,
    shape: tuple[int, int, int] | tuple[tuple[int, ...], tuple[int, ...]] | None = None,
    alpha: float = 1,
    beta: float | None = None,
    out: Any = None,
    type: str | None = None,
    trans_a: bool = False,
    trans_b: bool = False,
    accuracy: _Accuracy | None = None,
    reproducible: bool = False,
    xor: bool = False,
    scale_a: Any = None,
    scale_b: Any = None,
    algo: str | None = None,
    kernel: str | None = None,
    tile: str | None = None,
    device: int | str | None = None,
    gpu: str | None = None,
    threads: int | None = None,
) -> Plan: ...
def pack(
    x: Any,
    /,
    *,
    operand: Literal["a", "b"] = "b",
    type: str | None = None,
    trans: bool = False,
    algo: str | None = None,
    kernel: str | None = None,
    tile: str | None = None,
    threads: int | None = None,
) -> PackedAhead: ...
def verify(a: Any, b: Any, d: Any, c: Any = None, /, **options: Any) -> dict[str, Any]: ...
def types() -> list[dict[str, str]]: ...
def kernels() -> list[dict[str, Any]]: ...
def machine() -> dict[str, Any]: ...
def devices() -> list[dict[str, Any]]: ...
def device_reason() -> str: ...
def known_gpus() -> list[str]: ...
def build_info() -> str: ...
def ffi_address() -> int: ...
