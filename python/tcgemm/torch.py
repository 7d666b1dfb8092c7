"""tcgemm in PyTorch: operators that torch.compile and autograd know, and nn.Linear layers that use them.

    import tcgemm.torch                                    # registers torch.ops.tcgemm
    d = torch.ops.tcgemm.mm(a, b)                          # a @ b, any type of tcgemm
    d = torch.ops.tcgemm.addmm(c, a, b, alpha=2, beta=0.5)
    tcgemm.torch.replace_linear(model)

Gradients are two more products of the same kind. `tcgemm.matmul` takes tensors, too, with less on the way; it
records no gradient, and says so.
"""

from typing import Any

import torch

from . import _core

__all__ = ["Linear", "replace_linear"]

_DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "s32": torch.int32,
    "s8": torch.int8,
    "u8": torch.uint8,
}
_RESULTS = {x["name"]: _DTYPES[x["d"]] for x in _core.types()}
_DEFAULTS = {
    (torch.float64, torch.float64): torch.float64,
    (torch.float32, torch.float32): torch.float32,
    (torch.float16, torch.float16): torch.float16,
    (torch.bfloat16, torch.bfloat16): torch.bfloat16,
    (torch.float8_e4m3fn, torch.float8_e4m3fn): torch.bfloat16,
    (torch.float8_e5m2, torch.float8_e5m2): torch.bfloat16,
    (torch.int8, torch.int8): torch.int32,
    (torch.uint8, torch.uint8): torch.int32,
    (torch.uint8, torch.int8): torch.int32,
    (torch.int8, torch.uint8): torch.int32,
}

_library = torch.library.Library("tcgemm", "FRAGMENT")  # keeps the registrations alive
_library.define("mm(Tensor a, Tensor b, *, str? type=None) -> Tensor")
_library.define(
    "addmm(Tensor c, Tensor a, Tensor b, *, float alpha=1.0, float beta=1.0, str? type=None) -> Tensor"
)


def _mm(a: torch.Tensor, b: torch.Tensor, *, type: str | None = None) -> torch.Tensor:
    return _core.matmul(a.detach().resolve_neg(), b.detach().resolve_neg(), type=type)


def _addmm(
    c: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    type: str | None = None,
) -> torch.Tensor:
    rows = c.detach().resolve_neg().expand(a.shape[0], b.shape[1]).contiguous()
    left, right = a.detach().resolve_neg(), b.detach().resolve_neg()
    return _core.matmul(left, right, rows, alpha=alpha, beta=beta, type=type)


def _result(a: torch.Tensor, b: torch.Tensor, type: str | None) -> torch.Tensor:
    """A tensor that only has the shape and the dtype of the product."""
    torch._check(a.dim() == 2 and b.dim() == 2, lambda: "tcgemm::mm takes two matrices")
    torch._check(a.shape[1] == b.shape[0], lambda: f"a is {tuple(a.shape)} and b is {tuple(b.shape)}")
    dtype = _RESULTS.get(type) if type is not None else _DEFAULTS.get((a.dtype, b.dtype))
    if dtype is None:
        raise TypeError(f"no type of tcgemm multiplies {a.dtype} and {b.dtype} as {type}")
    return a.new_empty((a.shape[0], b.shape[1]), dtype=dtype)


def _mm_fake(a: torch.Tensor, b: torch.Tensor, *, type: str | None = None) -> torch.Tensor:
    return _result(a, b, type)


def _addmm_fake(
    c: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    type: str | None = None,
) -> torch.Tensor:
    return _result(a, b, type)


for _name, _function in (("mm", _mm), ("addmm", _addmm)):
    for _key in ("CPU", "CUDA"):
        _library.impl(_name, _function, _key)
torch.library.register_fake("tcgemm::mm", _mm_fake, lib=_library)
torch.library.register_fake("tcgemm::addmm", _addmm_fake, lib=_library)


# ---- gradients: d = alpha * a @ b + beta * c, so grad_a = alpha * grad @ b^T, grad_b = alpha * a^T @ grad ----


def _gradients(ctx: Any, grad: torch.Tensor, a: torch.Tensor, b: torch.Tensor, first: int) -> list[Any]:
    grads: list[Any] = [None, None]
    of_a = grad.to(a.dtype)
    if 0 in of_a.stride():  # of a sum: one element stands for all
        of_a = of_a.contiguous()
    if ctx.needs_input_grad[first]:
        grads[0] = torch.ops.tcgemm.mm(of_a, b.t(), type=ctx.type).to(a.dtype)
    if ctx.needs_input_grad[first + 1]:
        grads[1] = torch.ops.tcgemm.mm(a.t(), of_a, type=ctx.type).to(b.dtype)
    return grads


def _mm_save(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs)
    ctx.type = keyword_only_inputs["type"]


def _mm_backward(ctx: Any, grad: torch.Tensor) -> Any:
    a, b = ctx.saved_tensors
    return tuple(_gradients(ctx, grad, a, b, 0))


def _addmm_save(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
    c, a, b = inputs
    ctx.save_for_backward(a, b)
    ctx.c_shape, ctx.c_dtype = c.shape, c.dtype
    ctx.alpha, ctx.beta = keyword_only_inputs["alpha"], keyword_only_inputs["beta"]
    ctx.type = keyword_only_inputs["type"]


def _addmm_backward(ctx: Any, grad: torch.Tensor) -> Any:
    a, b = ctx.saved_tensors
    of_c = (ctx.beta * grad).sum_to_size(ctx.c_shape).to(ctx.c_dtype) if ctx.needs_input_grad[0] else None
    return (of_c, *_gradients(ctx, ctx.alpha * grad, a, b, 1))


torch.library.register_autograd("tcgemm::mm", _mm_backward, setup_context=_mm_save, lib=_library)
torch.library.register_autograd("tcgemm::addmm", _addmm_backward, setup_context=_addmm_save, lib=_library)


# ---- layers ----


class Linear(torch.nn.Linear):
    """torch.nn.Linear by tcgemm. On the CPU, and where no gradient is asked for, the weights are packed ahead;
    they are packed anew when they change."""

    _packed: Any = None
    _packed_of: Any = None

    def _ahead(self) -> Any:
        weight = self.weight.detach()
        of = (weight.data_ptr(), self.weight._version, tuple(weight.shape), weight.dtype)
        if self._packed_of != of:
            self._packed = _core.pack(weight, trans=True)
            self._packed_of = of
        return self._packed

    def _may_pack(self, rows: torch.Tensor) -> bool:
        needs_grad = torch.is_grad_enabled() and (rows.requires_grad or self.weight.requires_grad)
        return not needs_grad and rows.device.type == "cpu" and not torch.compiler.is_compiling()

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        rows = input.reshape(-1, self.in_features)
        result: torch.Tensor
        if self._may_pack(rows):
            result = _core.matmul(rows.detach().resolve_neg(), self._ahead())
            if self.bias is not None:
                result += self.bias.detach()
        elif self.bias is not None:
            result = torch.ops.tcgemm.addmm(self.bias, rows, self.weight.t())
        else:
            result = torch.ops.tcgemm.mm(rows, self.weight.t())
        return result.reshape(*input.shape[:-1], self.out_features)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_packed")}


def _of(layer: torch.nn.Linear) -> Linear:
    """The layer's parameters, hooks and mode, in a layer of ours."""
    made = Linear.__new__(Linear)
    made.__dict__.update(layer.__dict__)
    return made


def replace_linear(model: torch.nn.Module) -> torch.nn.Module:
    """Lets each torch.nn.Linear within the model multiply by tcgemm; parameters are shared with what was there.

    Returns the model, or if it is such a layer itself, the new layer. Subclasses of Linear are left alone.
    """
    if type(model) is torch.nn.Linear:
        return _of(model)
    for name, child in list(model.named_children()):
        if type(child) is torch.nn.Linear:
            setattr(model, name, _of(child))
        else:
            replace_linear(child)
    return model
