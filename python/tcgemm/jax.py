"""tcgemm in JAX: a product that jit, vmap and grad know.

    import tcgemm.jax
    d = tcgemm.jax.matmul(a, b)                            # a @ b, any type of tcgemm, on JAX's device
    d = jax.jit(tcgemm.jax.matmul)(a, b, c)
    jax.grad(lambda a: tcgemm.jax.matmul(a, b).sum())(a)

Gradients are two more products of the same kind; a mapped axis becomes a batch, which is not copied where only one
operand is mapped.

XLA calls the library itself, without Python on the way: its foreign function interface differs from one version of JAX
to the next, so a handler of some lines is compiled against the headers of the JAX that is installed, once, and kept in
~/.cache/tcgemm (TCGEMM_CACHE_DIR names another folder). That needs a C++ compiler (CXX, or c++). Where there is none,
products go through jax.pure_callback: the same results, by way of Python and of host memory. `mode()` says which way is
taken and why; TCGEMM_JAX=callback asks for the slow one.
"""

import ctypes
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from . import _core

__all__ = ["matmul", "mode"]

_NAMES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "e4m3": "float8_e4m3fn",
          "e5m2": "float8_e5m2", "s32": "int32", "s8": "int8", "u8": "uint8"}  # fmt: skip
_TYPES = {x["name"]: tuple(_NAMES[x[operand]] for operand in "abd") for x in _core.types()
          if all(x[operand] in _NAMES for operand in "abd")}  # fmt: skip
_DEFAULTS = {
    _TYPES[name][:2]: name
    for name in ("f64_f64", "f32_f32", "f16_f16", "bf16_bf16", "e4m3_bf16", "e5m2_bf16")
    + ("s8_s32", "u8_s32", "u8s8_s32", "s8u8_s32")
}


# ---- the handler ----


def _cache_folder() -> pathlib.Path:
    """A folder that nobody else writes to; if there is none, one for this process."""
    named = os.environ.get("TCGEMM_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = pathlib.Path(named or os.path.join(base, "tcgemm"))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.stat()
        if facts.st_uid == os.getuid() and not facts.st_mode & 0o022 and os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return pathlib.Path(tempfile.mkdtemp(prefix="tcgemm-"))


def _compile() -> pathlib.Path:
    """The handler for this JAX: compiled now, or found where it was put the last time."""
    import jaxlib

    here = pathlib.Path(__file__).parent
    sources = here / "xla_ffi.cc", here / "ffi_call.h"
    compiler = shutil.which(os.environ.get("CXX") or "c++") or shutil.which("g++") or shutil.which("clang++")
    of = [jaxlib.__version__, jax.ffi.include_dir(), *(x.read_text() for x in sources)]
    folder = _cache_folder()
    made = folder / f"xla_ffi-{hashlib.sha256(chr(0).join(of).encode()).hexdigest()[:20]}.so"
    if made.exists():
        return made
    if not compiler:
        raise OSError("there is no C++ compiler")
    handle, name = tempfile.mkstemp(suffix=".so", dir=folder)  # renamed when it is whole: others may look for it
    os.close(handle)
    command = [compiler, "-std=c++17", "-O1", "-fPIC", "-shared", "-w", f"-I{here}", f"-I{jax.ffi.include_dir()}"]
    try:
        subprocess.run([*command, str(sources[0]), "-o", name], check=True, capture_output=True, text=True, timeout=300)
        os.replace(name, made)
    except (OSError, subprocess.SubprocessError) as error:
        os.unlink(name)
        output = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise OSError(f"{compiler} did not compile the handler: {output[0] if output else 'no reason given'}") from None
    return made


@functools.cache
def _connect() -> tuple[frozenset[str], str]:
    """The platforms that XLA calls the library on, and why not, if there are none."""
    if os.environ.get("TCGEMM_JAX") == "callback":
        return frozenset(), "TCGEMM_JAX asks for it"
    try:
        library = ctypes.CDLL(str(_compile()))
    except OSError as error:
        return frozenset(), str(error)
    library.tcgemm_ffi_connect.argtypes = [ctypes.c_void_p]
    library.tcgemm_ffi_connect.restype = None
    library.tcgemm_ffi_connect(_core.ffi_address())
    handlers = {"cpu": library.tcgemm_ffi_on_host}
    if "without a GPU back end" not in _core.device_reason():
        handlers["CUDA"] = library.tcgemm_ffi_on_gpu
    for platform, handler in handlers.items():
        jax.ffi.register_ffi_target("tcgemm_matmul", jax.ffi.pycapsule(handler), platform=platform)
    return frozenset(handlers), ""


def _is_called_by_xla() -> tuple[bool, str]:
    platforms, reason = _connect()
    backend = jax.default_backend()
    platform = "CUDA" if backend in ("gpu", "cuda") else backend
    if platform in platforms:
        return True, ""
    return False, reason or f"tcgemm was built without kernels for {platform}"


def mode() -> str:
    """How products are called: "ffi", or "callback: " and the reason.

    >>> mode().split(":")[0] in ("ffi", "callback")
    True
    """
    is_direct, reason = _is_called_by_xla()
    return "ffi" if is_direct else f"callback: {reason}"


# ---- the product ----


class _Options(NamedTuple):
    type: str
    alpha: float
    beta: float
    trans_a: bool
    trans_b: bool


def _extents(shape: tuple[int, ...], is_transposed: bool) -> tuple[int, int]:
    return (shape[-1], shape[-2]) if is_transposed else (shape[-2], shape[-1])


def _on_host(options: _Options, shape: tuple[int, ...], *operands: Any) -> Any:
    a, b, *c = (np.asarray(x) for x in operands)
    batch = shape[:-2]
    a, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
    c = [np.ascontiguousarray(np.broadcast_to(x, shape)) for x in c]
    scalars: dict[str, Any] = {"alpha": options.alpha, **({"beta": options.beta} if c else {})}
    return _core.matmul(a, b, *c, **scalars, type=options.type, trans_a=options.trans_a, trans_b=options.trans_b)


def _call(options: _Options, operands: tuple[Any, ...]) -> Any:
    """One product of arrays of as many axes each; axes of 1 in a batch are broadcast."""
    rows, _ = _extents(operands[0].shape, options.trans_a)
    _, cols = _extents(operands[1].shape, options.trans_b)
    batch = jnp.broadcast_shapes(*(x.shape[:-2] for x in operands))
    result = jax.ShapeDtypeStruct((*batch, rows, cols), jnp.dtype(_TYPES[options.type][2]))
    if _is_called_by_xla()[0]:
        call = jax.ffi.ffi_call("tcgemm_matmul", result, vmap_method="expand_dims")
        return call(*operands, type=options.type, alpha=np.float64(options.alpha), beta=np.float64(options.beta),
                    trans_a=np.bool_(options.trans_a), trans_b=np.bool_(options.trans_b))  # fmt: skip

    def on_host(*arrays: Any) -> Any:
        shapes = jnp.broadcast_shapes(*(x.shape[:-2] for x in arrays))
        return _on_host(options, (*shapes, rows, cols), *arrays)

    return jax.pure_callback(on_host, result, *operands, vmap_method="expand_dims")


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _product(options: _Options, operands: tuple[Any, ...]) -> Any:
    return _call(options, operands)


def _forward(options: _Options, operands: tuple[Any, ...]) -> Any:
    return _product(options, operands), operands


def _sum_to(x: Any, like: Any) -> Any:
    """The sum over the axes that were broadcast, in the dtype of the operand."""
    axes = tuple(i for i, extent in enumerate(like.shape) if extent == 1 and x.shape[i] != 1)
    return (jnp.sum(x, axes, keepdims=True) if axes else x).astype(like.dtype)


def _backward(options: _Options, operands: tuple[Any, ...], grad: Any) -> Any:
    """d = alpha A B + beta c: grad_A = alpha grad B^T, grad_B = alpha A^T grad, transposed as A and B are."""
    if not jnp.issubdtype(operands[0].dtype, jnp.inexact):
        return (tuple(np.zeros(x.shape, jax.dtypes.float0) for x in operands),)
    a, b, *c = operands
    of_a = grad.astype(a.dtype)

    def product(x: Any, y: Any, trans_x: bool, trans_y: bool) -> Any:
        return _product(_Options(options.type, options.alpha, 0.0, trans_x, trans_y), (x, y))

    if options.trans_a:
        grad_a = product(b, of_a, options.trans_b, True)
    else:
        grad_a = product(of_a, b, False, not options.trans_b)
    if options.trans_b:
        grad_b = product(of_a, a, True, options.trans_a)
    else:
        grad_b = product(a, of_a, not options.trans_a, False)
    return ((_sum_to(grad_a, a), _sum_to(grad_b, b), *(_sum_to(options.beta * grad, x) for x in c)),)


_product.defvjp(_forward, _backward)


# ---- the door ----


def _choose_type(a: Any, b: Any, asked: str | None) -> str:
    found = (a.dtype.name, b.dtype.name)
    if asked is None:
        name = _DEFAULTS.get(found)
        if name is None:
            raise TypeError(f"a is {found[0]} and b is {found[1]}: no type multiplies them; convert one, or see tcgemm.types()")
        return name
    if asked not in _TYPES:
        raise TypeError(f"type is {asked!r}: in JAX there are {', '.join(_TYPES)}")
    if _TYPES[asked][:2] != found:
        raise TypeError(f"type {asked} takes {' and '.join(_TYPES[asked][:2])}, but a is {found[0]} and b is {found[1]}")
    return asked


def _as_array(x: Any, name: str) -> Any:
    if not isinstance(x, (jax.Array, np.ndarray)):
        raise TypeError(f"{name} is a {type(x).__name__}, not an array of JAX")
    if x.ndim == 0:
        raise ValueError(f"{name} has no axes")
    return jnp.asarray(x)


def matmul(
    a: Any,
    b: Any,
    /,
    c: Any = None,
    *,
    alpha: float = 1.0,
    beta: float | None = None,
    type: str | None = None,
    trans_a: bool = False,
    trans_b: bool = False,
) -> jax.Array:
    """alpha * a @ b + beta * c, as tcgemm.matmul, within jit, vmap and grad.

    alpha, beta, type and the transposes are Python's, not traced. beta is 1 if c is given; c is broadcast to the result.

    >>> a = jnp.ones((2, 3), jnp.float32)
    >>> jax.jit(matmul)(a, a.T).tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    """
    a, b = _as_array(a, "a"), _as_array(b, "b")
    name = _choose_type(a, b, type)
    if beta is not None and c is None and beta != 0:
        raise ValueError("beta is given, but c is not")
    drops_row, drops_col = a.ndim == 1, b.ndim == 1
    left = a.reshape(a.shape[0], 1) if drops_row and trans_a else a.reshape(1, -1) if drops_row else a
    right = b.reshape(1, -1) if drops_col and trans_b else b.reshape(-1, 1) if drops_col else b
    m, k = _extents(left.shape, trans_a)
    inner, n = _extents(right.shape, trans_b)
    if k != inner:
        raise ValueError(f"a is {m} x {k} and b is {inner} x {n}: {k} columns do not meet {inner} rows")
    shape = (*jnp.broadcast_shapes(left.shape[:-2], right.shape[:-2]), m, n)
    operands = [left, right]
    if c is not None and beta != 0:
        c = _as_array(c, "c")
        if c.dtype.name != _TYPES[name][2]:
            raise TypeError(f"c is {c.dtype.name}, but type {name} makes {_TYPES[name][2]}")
        drops = tuple(axis for axis, drop in ((len(shape) - 2, drops_row), (len(shape) - 1, drops_col)) if drop)
        visible = tuple(extent for axis, extent in enumerate(shape) if axis not in drops)
        operands.append(jnp.broadcast_to(c, visible).reshape(shape))
    padded = tuple(x.reshape((1,) * (len(shape) - x.ndim) + x.shape) for x in operands)
    of_c = 0.0 if len(operands) == 2 else 1.0 if beta is None else float(beta)
    options = _Options(name, float(alpha), of_c, bool(trans_a), bool(trans_b))
    result = _product(options, padded)
    axes = tuple(axis for axis, drops in ((-2, drops_row), (-1, drops_col)) if drops)
    return jnp.squeeze(result, axes) if axes else result
