"""tcgemm with torch: tensors in and out, operators, gradients, torch.compile, layers. Without torch this file is
left out: it is no part of requirements.txt (its wheel takes gigabytes). `tests/python/run_with.sh torch` makes room for it."""

import copy
import os
import pickle

import pytest

torch = pytest.importorskip("torch")

import tcgemm
import tcgemm.torch

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def whole(*shape, dtype=torch.float32, seed=0):
    return torch.randint(-2, 3, shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors(dtype):
    a, b = whole(5, 7, dtype=dtype), whole(7, 3, dtype=dtype, seed=1)
    expected = (a.double() @ b.double()).to(dtype)
    d = tcgemm.matmul(a, b)
    assert type(d) is torch.Tensor and d.dtype == dtype and torch.equal(d, expected)
    out = torch.empty(5, 3, dtype=dtype)
    assert tcgemm.matmul(a, b, out=out) is out and torch.equal(out, expected)
    assert torch.equal(tcgemm.matmul(a.t(), b.t(), trans_a=True, trans_b=True), expected)
    assert torch.equal(tcgemm.matmul(torch.stack([a, a]), b), torch.stack([expected] * 2))
    assert torch.equal(tcgemm.plan(a, b)(a, b), expected)
    assert torch.equal(tcgemm.matmul(a, tcgemm.pack(b)), expected)
    assert tcgemm.verify(a, b, d)


def test_fp8_and_integers():
    a, b = whole(4, 8), whole(8, 6, seed=1)
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        d = tcgemm.matmul(a.to(dtype), b.to(dtype))
        assert d.dtype == torch.bfloat16 and torch.equal(d.float(), a @ b)
    d = tcgemm.matmul(a.to(torch.int8), b.to(torch.int8))
    assert d.dtype == torch.int32 and torch.equal(d.float(), a @ b)


def test_storage_lives_as_long_as_the_result():
    results = [tcgemm.matmul(whole(40, 40), whole(40, 40, seed=1)) for _ in range(50)]
    expected = whole(40, 40) @ whole(40, 40, seed=1)
    assert all(torch.equal(d, expected) for d in results)


def test_gradients_are_not_dropped_in_silence():
    a = whole(3, 3).requires_grad_()
    with pytest.raises(BufferError, match="gradient"):
        tcgemm.matmul(a, a)


def test_what_memory_alone_does_not_tell():
    """A sign that is yet to be applied, memory that is not there, subclasses with either."""
    a = whole(3, 3)
    negative = torch.complex(a, a).conj().imag
    with pytest.raises(BufferError, match="negative view"):
        tcgemm.matmul(negative, a)
    with pytest.raises(BufferError, match="negative view"):
        tcgemm.matmul(a, a, out=negative)
    for view in (negative.t(), negative[:, :1].t(), negative[:1, :1].expand(3, 3)):
        assert view.is_neg()
        with pytest.raises(BufferError, match="negative view"):
            tcgemm.matmul(view, a)
    assert torch.equal(torch.ops.tcgemm.mm(negative, a), -(a @ a))
    kind = type("Mine", (torch.Tensor,), {"__module__": "mine"})
    with pytest.raises(BufferError, match="gradient"):
        tcgemm.matmul(a.clone().requires_grad_().as_subclass(kind), a.as_subclass(kind))
    for tensor in (torch.empty(3, 3, device="meta"), a.to_sparse(), a.to(torch.complex64)):
        with pytest.raises((RuntimeError, TypeError, BufferError)):
            tcgemm.matmul(tensor, tensor)


def test_calls_that_repeat():
    """The short way of shapes that were seen before: right for new numbers, and as careful as the long one."""
    for dtype in DTYPES:
        a, b = whole(9, 7, dtype=dtype), whole(5, 7, dtype=dtype, seed=1).t()
        out = torch.empty(9, 5, dtype=dtype)
        plan = tcgemm.plan(a, b)
        for turn in range(6):
            a.copy_(whole(9, 7, dtype=dtype, seed=turn))
            expected = (a.double() @ b.double()).to(dtype)
            assert torch.equal(tcgemm.matmul(a, b), expected) and torch.equal(plan(a, b), expected)
            assert tcgemm.matmul(a, b, out=out) is out and torch.equal(out, expected)
    a, out = whole(6, 6), torch.full((6, 6), 7.0)
    for _ in range(5):
        tcgemm.matmul(a, a, out=out)
    out.fill_(7)
    grown = a.clone().requires_grad_()
    for bad in ((grown, a, out), (a, grown, out), (a, a, grown)):
        with pytest.raises(BufferError, match="gradient"):
            tcgemm.matmul(*bad[:2], out=bad[2])
    with pytest.raises(ValueError, match="overlaps"):
        tcgemm.matmul(a, a, out=a)
    assert bool((out == 7).all())
    right, plain = whole(1, 6), whole(6, 12).as_strided((6, 1), (12, 2))
    negative = torch.complex(a, a).conj().imag[:, :1]
    assert negative.is_neg() and negative.stride() == plain.stride()
    for _ in range(5):
        tcgemm.matmul(plain, right, out=out)
    with pytest.raises(BufferError, match="negative view"):
        tcgemm.matmul(negative, right, out=out)


def test_operators():
    a, b, c = whole(5, 7), whole(7, 3, seed=1), whole(5, 3, seed=2)
    assert torch.equal(torch.ops.tcgemm.mm(a, b), a @ b)
    assert torch.equal(torch.ops.tcgemm.mm(a.half(), b.half(), type="f16_f32"), a @ b)
    assert torch.equal(torch.ops.tcgemm.addmm(c, a, b, alpha=2, beta=3), 2 * (a @ b) + 3 * c)
    assert torch.equal(torch.ops.tcgemm.addmm(c[0], a, b), a @ b + c[0])
    with pytest.raises(ValueError, match="do not meet"):
        torch.ops.tcgemm.mm(a, a)


@pytest.mark.parametrize("name", ["mm", "addmm"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_opcheck(name, dtype):
    a = torch.randn(5, 7, dtype=dtype, requires_grad=True)
    b = torch.randn(7, 3, dtype=dtype, requires_grad=True)
    c = torch.randn(3, dtype=dtype, requires_grad=True)
    arguments = (a, b) if name == "mm" else (c, a, b)
    torch.library.opcheck(getattr(torch.ops.tcgemm, name).default, arguments)


def test_gradients():
    a, b, c = (torch.randn(s, dtype=torch.float64, requires_grad=True) for s in ((4, 5), (5, 3), (4, 3)))
    assert torch.autograd.gradcheck(lambda x, y: torch.ops.tcgemm.mm(x, y), (a, b))
    assert torch.autograd.gradcheck(lambda z, x, y: torch.ops.tcgemm.addmm(z, x, y, alpha=2.0, beta=-1.5), (c, a, b))
    assert torch.autograd.gradgradcheck(lambda x, y: torch.ops.tcgemm.mm(x, y), (a, b))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile(backend):
    if backend == "inductor" and not __import__("shutil").which("g++"):
        pytest.skip("inductor wants a C++ compiler")

    def f(a, b, c):
        return torch.relu(torch.ops.tcgemm.addmm(c, a, b)).sum() + torch.ops.tcgemm.mm(a, b).mean()

    compiled = torch.compile(f, fullgraph=True, backend=backend)
    a, b, c = (torch.randn(s, requires_grad=True) for s in ((8, 16), (16, 4), (4,)))
    expected = torch.relu(a @ b + c).sum() + (a @ b).mean()
    got = compiled(a, b, c)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(torch.autograd.grad(got, (a, b, c)), torch.autograd.grad(expected, (a, b, c)), rtol=1e-4, atol=1e-4)
    for rows in (3, 20):
        more = torch.randn(rows, 16)
        torch.testing.assert_close(compiled(more, b, c), f(more, b, c), rtol=1e-4, atol=1e-4)


def encoder(dtype=torch.float32):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True, dtype=dtype)
    return torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def test_a_model_end_to_end():
    """torch's own transformer, random weights: the same outputs and gradients within the bound, packed and not."""
    model, x = encoder(), torch.randn(3, 10, 64)
    ours = tcgemm.torch.replace_linear(copy.deepcopy(model))
    assert sum(type(m) is tcgemm.torch.Linear for m in ours.modules()) == 4  # those of feed-forward
    for module in (model, ours):
        module.train()
    expected, got = model(x), ours(x)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)
    expected.square().mean().backward()
    got.square().mean().backward()
    for theirs, mine in zip(model.parameters(), ours.parameters()):
        torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-3, atol=1e-5)
    with torch.no_grad():
        torch.testing.assert_close(ours(x), model(x), rtol=1e-4, atol=1e-4)


def test_layers():
    model = torch.nn.Sequential(torch.nn.Linear(12, 20), torch.nn.ReLU(), torch.nn.Linear(20, 5, bias=False))
    ours = tcgemm.torch.replace_linear(copy.deepcopy(model))
    x = torch.randn(2, 3, 12)
    with torch.no_grad():
        for _ in range(2):
            torch.testing.assert_close(ours(x), model(x))
        assert ours[0]._packed is not None and ours[0]._packed is ours[0]._ahead()
        for net in (model, ours):
            net[0].weight.mul_(2)  # the weights change: they are packed anew
        torch.testing.assert_close(ours(x), model(x))
        again = pickle.loads(pickle.dumps(ours))
        torch.testing.assert_close(again(x), model(x))
        torch.testing.assert_close(copy.deepcopy(ours)(x), model(x))
        ours.load_state_dict(model.state_dict())
        torch.testing.assert_close(ours(x), model(x))
        torch.testing.assert_close(ours.double()(x.double()), model.double()(x.double()))
    single = tcgemm.torch.replace_linear(torch.nn.Linear(3, 4))
    assert type(single) is tcgemm.torch.Linear and single(torch.randn(3)).shape == (4,)
    compiled = torch.compile(tcgemm.torch.replace_linear(torch.nn.Linear(3, 4)), fullgraph=True, backend="aot_eager")
    assert compiled(torch.randn(5, 3)).shape == (5, 4)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_results_of_calls_that_repeat():
    """Their memory is theirs alone, may be written, outlives the operands and is given back."""
    for dtype, made in ((torch.float32, torch.float32), (torch.float64, torch.float64), (torch.bfloat16, torch.bfloat16),
                        (torch.int8, torch.int32)):
        for m, n in ((8, 8), (1, 5), (5, 1), (200, 300)):
            a, b = torch.randint(-2, 3, (m, 7)).to(dtype), torch.randint(-2, 3, (7, n)).to(dtype)
            expected = (a.double() @ b.double()).to(made)
            kept = [tcgemm.matmul(a, b) for _ in range(6)]
            for d in kept[3:]:
                assert d.dtype == made and d.is_contiguous() and d.data_ptr() % 64 == 0
                d.add_(1)
            del a, b
            assert all(torch.equal(d, expected) for d in kept[:3]) and all(torch.equal(d, expected + 1) for d in kept[3:])
    a = torch.ones(128, 128)
    for _ in range(20):
        tcgemm.matmul(a, a)
    before = resident()
    for _ in range(2000):  # 131 MB, were they kept
        tcgemm.matmul(a, a)
    assert resident() - before < 16 << 20
