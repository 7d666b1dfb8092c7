"""The Python package on a GPU: torch tensors and CuPy and JAX arrays, on streams, in graphs, and how fast.

Needs one NVIDIA GPU of compute capability 9.0, CMake, a C compiler, nvcc, and of Python packages what is to be tried:
torch, CuPy, JAX; each part is skipped where its package is missing, all of it without a GPU (exit status 77). Nothing
is downloaded. From the root of the repository, PYTHON being the interpreter with these packages and its headers:

    PYTHON=$(command -v python3.12)
    cmake -S . -B build-python -DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE=$PYTHON -DTCGEMM_BUILD_PYTHON=ON \
          -DTCGEMM_BUILD_CLI=OFF -DTCGEMM_BUILD_EMULATOR=OFF -DTCGEMM_INSTALL_DOCS=OFF \
          -DTCGEMM_CUDA=ON -DTCGEMM_CUDA_ARCHS=90a
    cmake --build build-python -j --target tcgemm_python_package tcgemm_static
    PYTHONPATH=build-python/python $PYTHON tests/python/device.py --build build-python \
          --log bench/results/python-device.log

Headers of any Python from 3.11 on will do, also those of another machine: the module is on the limited API, and the
folder build-python/python can be copied to where the GPU is. Without --build (where libtcgemm.a lies) the comparison
with C is skipped. Some three minutes; `--only WORD ...` runs the cases whose names contain a WORD, `--products N` sets
how many random products are made for each package, `--seed` which. `--cpu` runs on host tensors what makes sense there:
a check of this script on a machine without a GPU.

Random products have small whole numbers as elements, so that each has one right result, bit for bit; the reference is
made by torch or NumPy in float64. The last line counts; exit status 1 if something failed.
"""

import argparse
import ctypes
import functools
import gc
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings

import numpy as np
import tcgemm

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # torch and CuPy want memory, too
try:
    import jax
except ImportError:
    jax = None


class Skipped(Exception):
    pass


class Log:
    """Prints, to a file, too; counts cases and products."""

    def __init__(self, path):
        self.file = open(path, "w") if path else None
        self.passed = self.failed = self.skipped = self.products = self.missed = 0

    def __call__(self, text=""):
        print(text, flush=True)
        if self.file:
            self.file.write(text + "\n")
            self.file.flush()

    def goal(self, name, value, most, detail=""):
        """A figure with a goal: missing it is told and counted, but is no failure of a case."""
        met = value <= most
        self.missed += not met
        self(f"    {name:46} {value:7.3f}  goal <= {most:g}  {'met' if met else 'MISSED'}  {detail}")


CASES = []


def case(function):
    CASES.append(function)
    return function


# ---- random products ------------------------------------------------------------------------------------------


class Torch:
    """Tensors of torch, on the GPU or (--cpu) on the host."""

    name = "torch"
    kinds = ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "uint8"]

    def __init__(self, device):
        self.device = device

    def whole(self, shape, kind, low, high):
        x = torch.randint(low, high + 1, shape, device=self.device, dtype=torch.int32)
        return (
            x.to(torch.float32).to(getattr(torch, kind))
            if kind.startswith("float8")
            else x.to(getattr(torch, kind))
        )

    def empty(self, shape, kind):
        return torch.full(shape, 99, device=self.device, dtype=torch.float32).to(getattr(torch, kind))

    def place(self, x, big, index):
        """x copied into a part of a larger array, so that it has a leading dimension."""
        big[index].copy_(x)
        return big[index]

    def transpose(self, x):
        return x.transpose(-1, -2)

    def contiguous(self, x):
        return x.contiguous()

    def double(self, x):
        return x.to(torch.float32).to(torch.float64) if "float8" in str(x.dtype) else x.to(torch.float64)

    def host(self, x):
        return self.double(x).cpu().numpy()

    def round(self, values, kind):
        """Of float64 on the host, as the type's D would hold them, in float64 again."""
        return torch.from_numpy(values).to(getattr(torch, kind)).to(torch.float64).numpy()

    def on(self, stream):
        return torch.cuda.stream(stream)

    def streams(self, count):
        return [torch.cuda.Stream() for _ in range(count)] if self.device != "cpu" else []

    def wait(self):
        if self.device != "cpu":
            torch.cuda.synchronize()


class CuPy(Torch):
    name = "cupy"
    kinds = ["float64", "float32", "float16", "int8", "uint8"]

    def whole(self, shape, kind, low, high):
        if 0 in shape:
            return cupy.empty(shape, kind)
        return cupy.random.randint(low, high + 1, shape, dtype=cupy.int32).astype(kind)

    def empty(self, shape, kind):
        return cupy.full(shape, 99, dtype=kind)

    def place(self, x, big, index):
        big[index] = x
        return big[index]

    def transpose(self, x):
        return x.swapaxes(-1, -2)

    def contiguous(self, x):
        return cupy.ascontiguousarray(x)

    def host(self, x):
        return cupy.asnumpy(x).astype(np.float64)

    def round(self, values, kind):
        return values.astype(kind).astype(np.float64)

    def on(self, stream):
        return stream

    def streams(self, count):
        return [cupy.cuda.Stream(non_blocking=True) for _ in range(count)]

    def wait(self):
        cupy.cuda.Device().synchronize()


RESULTS = {
    "float64": "float64",
    "float32": "float32",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float8_e4m3fn": "bfloat16",
    "float8_e5m2": "bfloat16",
    "int8": "int32",
    "uint8": "int32",
}
ALIGNED = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "int8": 1,
    "uint8": 1,
}


def matrix(package, dice, shape, kind, low, high, may_turn=True):
    """A matrix or a batch, stored as it is, transposed, or as part of a larger one."""
    is_turned = may_turn and len(shape) >= 2 and dice.random() < 0.35
    stored = (*shape[:-2], shape[-1], shape[-2]) if is_turned else tuple(shape)
    x = package.whole(stored, kind, low, high)
    if len(stored) >= 2 and dice.random() < 0.35:
        before, after = (dice.choice([0, 0, 1, 4, 16]) for _ in range(2))
        wide = (*stored[:-1], stored[-1] + before + after)
        x = package.place(x, package.empty(wide, kind), (..., slice(before, before + stored[-1])))
    return package.transpose(x) if is_turned else x


def random_product(package, dice):
    """Arguments, options and the expected result (on the host) of one product."""
    kind = dice.choice(package.kinds)
    other = dice.choice(["int8", "uint8"]) if kind in ("int8", "uint8") else kind
    sizes = [1, 2, 3, 7, 8, 16, 17, 31, 32, 33, 48, 63, 64, 65, 96, 127, 128, 129, 200, 256, 257]
    m, n, k = (dice.choice(sizes) for _ in range(3))
    if dice.random() < 0.04:
        m, n, k = dice.choice([(0, n, k), (m, 0, k), (m, n, 0)])
    batch_a, batch_b, batch = dice.choice(
        [((), (), ())] * 6 + [((3,), (3,), (3,)), ((), (4,), (4,)), ((2, 1), (3,), (2, 3)), ((5,), (), (5,))]
    )
    low_a = 0 if kind == "uint8" else -3
    low_b = 0 if other == "uint8" else -3
    a = matrix(package, dice, (*batch_a, m, k), kind, low_a, 3)
    b = matrix(package, dice, (*batch_b, k, n), other, low_b, 3)
    if not batch and dice.random() < 0.06 and m * n * k:
        a, m_shape = (a[0], ()) if dice.random() < 0.5 else (a, (m,))
        shape = (*m_shape, n)
    else:
        shape = (*batch, m, n)
    options, expected = {}, package.host(a) @ package.host(b)
    result = RESULTS[kind]
    if kind in ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2") and dice.random() < 0.3:
        options["type"] = {
            "float16": "f16",
            "bfloat16": "bf16",
            "float8_e4m3fn": "e4m3",
            "float8_e5m2": "e5m2",
        }[kind] + "_f32"
        result = "float32"
    alpha = dice.choice([1, 1, 1, 2, -1] + ([0.5] if result != "int32" else []))
    arguments = [a, b]
    if alpha != 1:
        options["alpha"] = alpha
        expected = alpha * expected
    if len(shape) >= 2 and dice.random() < 0.3:
        c = matrix(package, dice, shape, result, -4, 4, may_turn=False)  # D and C lie alike
        beta = dice.choice([1, 2, -1])
        arguments.append(c)
        options["beta"] = beta
        expected = expected + beta * package.host(c)
    if dice.random() < 0.6:
        if len(shape) >= 2 and dice.random() < 0.3:
            wide = package.empty((*shape[:-1], shape[-1] + dice.choice([1, 8])), result)
            options["out"] = wide[..., : shape[-1]]
        else:
            options["out"] = package.empty(shape, result)
    return kind, arguments, options, package.round(np.asarray(expected), result)


def describe(kind, arguments, options):
    def strides(x):
        return tuple(x.stride()) if callable(getattr(x, "stride", None)) else tuple(x.strides)

    parts = [f"{tuple(x.shape)} strides {strides(x)}" for x in arguments]
    return f"{kind} {', '.join(parts)} {({key: value for key, value in options.items() if key != 'out'})}" + (
        " out" if "out" in options else ""
    )


def check_products(package, log, dice, count, streams=()):
    """Random products, each in a random one of the streams, compared bit for bit."""
    waiting = []

    def settle():
        package.wait()
        for text, d, out, expected in waiting:
            assert out is None or d is out, f"{text}: the result is not out"
            got = package.host(d)
            if got.shape != expected.shape or not np.array_equal(got, expected):
                where = (
                    np.argwhere(got != expected)[:1]
                    if got.shape == expected.shape
                    else (got.shape, expected.shape)
                )
                raise AssertionError(f"{text}: wrong, first at {where}")
            log.products += 1
        waiting.clear()

    by_plan = 0
    for _ in range(count):
        kind, arguments, options, expected = random_product(package, dice)
        if streams:
            package.wait()  # the operands were made in the current stream
        stream = dice.choice(streams) if streams else None
        try:
            if dice.random() < 0.3:
                plan_options = {x: options[x] for x in ("type", "alpha", "beta", "out") if x in options}
                plan = tcgemm.plan(*arguments, **plan_options)
                run = {"out": options["out"]} if "out" in options else {}
                call, by_plan = (lambda: plan(*arguments, **run)), by_plan + 1
            else:
                call = lambda: tcgemm.matmul(*arguments, **options)
            if stream is not None:
                with package.on(stream):
                    d = call()
            else:
                d = call()
        except Exception as error:
            raise AssertionError(
                f"{describe(kind, arguments, options)}: {type(error).__name__}: {error}"
            ) from error
        waiting.append((describe(kind, arguments, options), d, options.get("out"), expected))
        if len(waiting) >= 20:
            settle()
    settle()
    return f"{count} products, {by_plan} of them by a plan"


# ---- what a case has -------------------------------------------------------------------------------------------


class Run:
    def __init__(self, log, options):
        self.log, self.options, self.on_gpu = log, options, not options.cpu
        self.dice = random.Random(options.seed)
        if torch:
            torch.manual_seed(options.seed)

    def torch(self):
        if torch is None:
            raise Skipped("no torch")
        if self.on_gpu and not torch.cuda.is_available():
            raise Skipped("torch finds no GPU")
        return Torch("cuda" if self.on_gpu else "cpu")

    def torch_gpu(self):
        package = self.torch()
        if not self.on_gpu:
            raise Skipped("needs a GPU")
        return package

    def cupy(self):
        if not self.on_gpu:
            raise Skipped("needs a GPU")
        if cupy is None:
            raise Skipped("no CuPy")
        return CuPy("cuda")


def half(*shape, dtype=None):
    return torch.randint(-2, 3, shape, device="cuda").to(dtype or torch.bfloat16)


def raises(kinds, words, call):
    try:
        call()
    except kinds as error:
        assert re.search(words, str(error)), f"another sentence: {error}"
        return
    raise AssertionError(f"nothing was raised; expected '{words}'")


# ---- torch ----------------------------------------------------------------------------------------------------


@case
def torch_random_products(run):
    return check_products(run.torch(), run.log, run.dice, run.options.products)


@case
def torch_random_products_on_streams(run):
    package = run.torch_gpu()
    return check_products(package, run.log, run.dice, run.options.products // 4, package.streams(4))


@case
def torch_order_and_no_waiting(run):
    """A call returns while the stream is still busy, and its product sees what was queued before."""
    run.torch_gpu()
    stream, late = torch.cuda.Stream(), 0
    a, b, out = half(512, 512), half(512, 512), torch.empty(512, 512, device="cuda", dtype=torch.bfloat16)
    source = half(512, 512)
    tcgemm.matmul(a, b, out=out)
    torch.cuda.synchronize()
    for turn in range(20):
        a.zero_(), out.zero_()
        torch.cuda.synchronize()
        done = torch.cuda.Event()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(60_000_000)  # some 30 ms
            a.copy_(source)
            start = time.perf_counter()
            if turn % 2:
                d = tcgemm.matmul(a, b)
            else:
                d = tcgemm.matmul(a, b, out=out)
            took = time.perf_counter() - start
            kept = d.clone()
            done.record()
        late += not done.query()
        assert took < 0.015, f"the call took {took * 1e3:.1f} ms: it waited for the stream"
        stream.synchronize()
        assert torch.equal(kept.double(), (source.double() @ b.double()).bfloat16().double()), f"turn {turn}"
    assert late == 20, f"the stream was idle in {20 - late} turns: nothing was shown"
    return "20 products behind 30 ms of work"


@case
def torch_stream_argument(run):
    """stream= names a stream by number or by object; torch's own stays as it is."""
    run.torch_gpu()
    stream = torch.cuda.Stream()
    a, b = half(300, 200, dtype=torch.float16), half(200, 100, dtype=torch.float16)
    out = torch.zeros(300, 100, device="cuda", dtype=torch.float16)
    for which in (stream, stream.cuda_stream):
        out.zero_()
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)
        tcgemm.matmul(a, b, out=out, stream=which)
        assert not stream.query() and torch.cuda.default_stream().query()
        stream.synchronize()
        assert torch.equal(out.double(), a.double() @ b.double())
    return "number and object"


@case
def torch_graphs(run):
    """Products captured, with results in the graph's pool and with out; played again with other numbers."""
    run.torch_gpu()
    count = 0
    for m, n, k, dtype in (
        (64, 64, 64, torch.bfloat16),
        (128, 257, 96, torch.float32),
        (512, 512, 512, torch.float16),
        (1000, 300, 77, torch.bfloat16),
        (33, 65, 4096, torch.float32),
    ):
        a, b, w = half(m, k, dtype=dtype), half(k, n, dtype=dtype), torch.eye(n, device="cuda", dtype=dtype)
        out = torch.empty(m, n, device="cuda", dtype=dtype)
        plan = tcgemm.plan(a, b)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # once before the capture: plans are made, kernels loaded
            tcgemm.matmul(a, b, out=out), plan(a, b, out=out), tcgemm.matmul(tcgemm.matmul(a, b), w)
            tcgemm.matmul(tcgemm.matmul(a, b), w, alpha=2)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            tcgemm.matmul(a, b, out=out)
            twice = tcgemm.matmul(tcgemm.matmul(a, b), w, alpha=2)
            planned = plan(a, b)
        for turn in range(10):
            a.copy_(half(m, k, dtype=dtype))
            if turn % 3 == 0:
                b.copy_(half(k, n, dtype=dtype))
            graph.replay()
            torch.cuda.synchronize()
            expected = (a.double() @ b.double()).to(dtype)
            assert torch.equal(out, expected) and torch.equal(
                planned, expected
            ), f"{m}x{n}x{k} {dtype}, turn {turn}"
            assert torch.equal(
                twice.double(), 2 * expected.double()
            ), f"the chain, {m}x{n}x{k} {dtype}, turn {turn}"
            count += 3
        del graph
    run.log.products += count
    return f"{count} replayed results"


@case
def torch_threads(run):
    """Four threads, each in a stream of its own."""
    package, found = run.torch(), []
    each = max(20, run.options.products // 20)

    def work(seed):
        try:
            streams = package.streams(1)
            dice = random.Random(seed)
            log = Log(None)
            if streams:
                with torch.cuda.stream(streams[0]):
                    check_products(package, log, dice, each)
            else:
                check_products(package, log, dice, each)
            run.log.products += log.products
        except BaseException as error:
            found.append(error)

    threads = [threading.Thread(target=work, args=(run.options.seed + i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if found:
        raise found[0]
    return f"4 x {each} products"


@case
def torch_refusals(run):
    """What cannot be done is refused in words, and out keeps what it had."""
    run.torch_gpu()
    a, b = half(40, 24, dtype=torch.float32), half(24, 32, dtype=torch.float32)
    out = torch.full((40, 32), 7.0, device="cuda")
    raises(ValueError, "different devices", lambda: tcgemm.matmul(a, b.cpu()))
    raises(ValueError, "different devices", lambda: tcgemm.matmul(a, b, out=out.cpu()))
    raises(
        BufferError,
        "make it contiguous",
        lambda: tcgemm.matmul(half(40, 48, dtype=torch.float32)[:, ::2], b, out=out),
    )
    raises(ValueError, "CPU", lambda: tcgemm.matmul(a, b, out=out, device="cpu"))
    raises(ValueError, "do not meet", lambda: tcgemm.matmul(a, a, out=out))
    raises(TypeError, "no type multiplies", lambda: tcgemm.matmul(a, b.half(), out=out))
    raises(ValueError, "overlap", lambda: tcgemm.matmul(a[:24, :24], a[:24, :24], out=a[:24, :24]))
    raises(BufferError, "gradient", lambda: tcgemm.matmul(a.clone().requires_grad_(), b, out=out))
    raises(ValueError, "no algorithm|unknown|magic", lambda: tcgemm.matmul(a, b, out=out, algo="magic"))
    raises(tcgemm.DeviceError, "GPU 63", lambda: tcgemm.matmul(a, b, out=out, device=63))
    if cupy is not None:
        raises(TypeError, "one package", lambda: tcgemm.matmul(a, cupy.ones((24, 32), "f4"), out=out))
    torch.cuda.synchronize()
    assert bool((out == 7).all())
    return "each in its sentence"


@case
def torch_operators(run):
    """torch.ops.tcgemm: opcheck, gradients, torch.compile, on this device."""
    package = run.torch()
    import tcgemm.torch

    device, done = package.device, []
    for dtype in (torch.float64, torch.float32):
        x = [torch.randn(*s, device=device, dtype=dtype, requires_grad=True) for s in ((5, 7), (7, 3), (3,))]
        torch.library.opcheck(torch.ops.tcgemm.mm.default, tuple(x[:2]))
        torch.library.opcheck(torch.ops.tcgemm.addmm.default, (x[2], x[0], x[1]))
    done.append("opcheck")
    a, b, c = (
        torch.randn(*s, device=device, dtype=torch.float64, requires_grad=True)
        for s in ((4, 5), (5, 3), (4, 3))
    )
    assert torch.autograd.gradcheck(
        lambda z, x, y: torch.ops.tcgemm.addmm(z, x, y, alpha=2.0, beta=-1.5), (c, a, b)
    )
    done.append("gradcheck")

    def f(a, b, c):
        return torch.relu(torch.ops.tcgemm.addmm(c, a, b)).sum() + torch.ops.tcgemm.mm(a, b).mean()

    backends = ["aot_eager"]
    try:
        import triton  # noqa: F401

        backends.append("inductor")
    except ImportError:
        pass
    for backend in backends:
        torch._dynamo.reset()
        compiled = torch.compile(f, fullgraph=True, backend=backend)
        x = [torch.randn(*s, device=device, requires_grad=True) for s in ((8, 16), (16, 4), (4,))]
        expected = torch.relu(x[0] @ x[1] + x[2]).sum() + (x[0] @ x[1]).mean()
        got = compiled(*x)
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(
            torch.autograd.grad(got, x), torch.autograd.grad(expected, x), rtol=1e-4, atol=1e-4
        )
        done.append(backend)
    return ", ".join(done)


@case
def torch_model(run):
    """torch's own transformer with random weights: outputs and gradients with our layers, within the bound."""
    package = run.torch()
    import copy

    import tcgemm.torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).to(package.device)
    ours = tcgemm.torch.replace_linear(copy.deepcopy(model))
    x = torch.randn(4, 20, 128, device=package.device)
    expected, got = model(x), ours(x)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)
    expected.square().mean().backward()
    got.square().mean().backward()
    for theirs, mine in zip(model.parameters(), ours.parameters()):
        torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-3, atol=1e-5)
    with torch.no_grad():
        torch.testing.assert_close(ours(x), model(x), rtol=1e-4, atol=1e-4)
    return f"{sum(type(m) is tcgemm.torch.Linear for m in ours.modules())} layers"


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@case
def torch_leaks(run):
    """References, memory of torch's pool, of the GPU and of the process: as much after as before."""
    package = run.torch()
    a, b = package.whole((96, 64), "float32", -2, 2), package.whole((64, 80), "float32", -2, 2)
    out, plan = torch.empty(96, 80, device=package.device), tcgemm.plan(a, b)
    wrong = torch.empty(3, 3, device=package.device)

    def one():
        tcgemm.matmul(a, b)
        tcgemm.matmul(a, b, out=out)
        tcgemm.matmul(a.t(), b.t(), trans_a=True, trans_b=True, alpha=2)
        plan(a, b)
        plan(a, b, out=out)
        for bad in (
            lambda: tcgemm.matmul(a, b, out=wrong),
            lambda: tcgemm.matmul(a, wrong),
            lambda: tcgemm.matmul(a, b.double()),
        ):
            try:
                bad()
            except (TypeError, ValueError):
                pass

    def counts():
        gc.collect()
        package.wait()
        references = [sys.getrefcount(x) for x in (a, b, out, plan, type(a), a.dtype)]
        pool = torch.cuda.memory_allocated() if run.on_gpu else 0
        free = torch.cuda.mem_get_info()[0] if run.on_gpu else 0
        return references, pool, free

    for _ in range(300):
        one()
    before, size = counts(), resident()
    for _ in range(3000):
        one()
    after, grown = counts(), resident() - size
    assert before[0] == after[0], f"references {before[0]} became {after[0]}"
    assert before[1] == after[1], f"torch's pool: {before[1]} bytes became {after[1]}"
    assert after[2] >= before[2] - (4 << 20), f"the GPU has {before[2] - after[2]} bytes less"
    assert grown < 8 << 20, f"the process grew by {grown} bytes"
    big = tcgemm.matmul(
        package.whole((1024, 1024), "float32", -1, 1), package.whole((1024, 1024), "float32", -1, 1)
    )
    if run.on_gpu:
        package.wait()
        held = torch.cuda.memory_allocated()
        del big
        assert torch.cuda.memory_allocated() <= held - (
            4 << 20
        ), "the result's memory stays when the result is gone"
    return f"24000 calls, process {grown / 1024:+.0f} KiB"


@case
def torch_verify(run):
    """tcgemm.verify takes what lies on the host; the largest products are judged by it."""
    run.torch_gpu()
    for dtype, m, n, k in (
        (torch.bfloat16, 2048, 1536, 3000),
        (torch.float32, 1000, 2000, 1500),
        (torch.float64, 700, 800, 900),
    ):
        a, b = torch.randn(m, k, device="cuda", dtype=dtype), torch.randn(k, n, device="cuda", dtype=dtype)
        d = tcgemm.matmul(a, b)
        report = tcgemm.verify(a.cpu(), b.cpu(), d.cpu())
        assert report, report
    return "bf16, f32, f64 with real numbers"


@case
def a_forked_child(run):
    """It computes on the CPU; the GPU belongs to its parent, as it is told."""
    if not run.on_gpu:
        raise Skipped("needs a GPU")
    a = np.arange(64, dtype=np.float32).reshape(8, 8)
    tcgemm.matmul(a, a, device=0)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            fine = np.array_equal(tcgemm.matmul(a, a), a @ a)
            try:
                tcgemm.matmul(a, a, device=0)
            except tcgemm.DeviceError:
                status = 0 if fine else 2
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    return "CPU right, GPU refused"


@case
def host_arrays(run):
    """NumPy arrays computed on the GPU."""
    if not run.on_gpu:
        raise Skipped("needs a GPU")
    for dtype, m, n, k in (
        ("f4", 300, 200, 100),
        ("f8", 65, 700, 33),
        ("f2", 512, 512, 512),
        ("i1", 129, 257, 513),
    ):
        rng = np.random.default_rng(0)
        a, b = rng.integers(-2, 3, (m, k)).astype(dtype), rng.integers(-2, 3, (k, n)).astype(dtype)
        d = tcgemm.matmul(a, b, device=0)
        assert np.array_equal(d.astype(np.float64), a.astype(np.float64) @ b.astype(np.float64)), (
            dtype,
            m,
            n,
            k,
        )
        run.log.products += 1
    return "4 types"


# ---- CuPy -----------------------------------------------------------------------------------------------------


@case
def cupy_random_products(run):
    return check_products(run.cupy(), run.log, run.dice, run.options.products // 2)


@case
def cupy_random_products_on_streams(run):
    package = run.cupy()
    return check_products(package, run.log, run.dice, run.options.products // 8, package.streams(3))


@case
def cupy_streams(run):
    """CuPy's current stream is ours; nobody waits."""
    run.cupy()
    stream = cupy.cuda.Stream(non_blocking=True)
    a, b = cupy.ones((1024, 1024), "f4"), cupy.ones((1024, 1024), "f4")
    out = cupy.empty_like(a)
    big = cupy.ones((8192, 8192), "f4")
    tcgemm.matmul(a, b, out=out), tcgemm.matmul(big, big)
    cupy.cuda.Device().synchronize()
    with stream:
        for _ in range(4):
            tcgemm.matmul(big, big)  # some tens of ms
        a *= 2
        tcgemm.matmul(a, b, out=out)
        assert not stream.done, "the products were waited for"
    stream.synchronize()
    assert bool((out == 2048).all())
    out.fill(0)
    cupy.cuda.Device().synchronize()
    tcgemm.matmul(a, b, out=out, stream=stream)
    stream.synchronize()
    assert bool((out == 2048).all())
    return "current and named"


@case
def cupy_graph(run):
    run.cupy()
    stream = cupy.cuda.Stream(non_blocking=True)
    a, b = cupy.ones((200, 96), "f4"), cupy.ones((96, 144), "f4")
    out = cupy.empty((200, 144), "f4")
    plan = tcgemm.plan(a, b)
    with stream:
        tcgemm.matmul(a, b, out=out), plan(a, b, out=out)
        stream.synchronize()
        stream.begin_capture()
        tcgemm.matmul(a, b, out=out)
        plan(a, b, out=out)
        graph = stream.end_capture()
        for turn in range(1, 11):
            a.fill(turn)
            out.fill(0)
            graph.launch()
            stream.synchronize()
            assert bool((out == 96 * turn).all()), f"turn {turn}"
    run.log.products += 10
    return "10 replays"


@case
def cupy_by_interface(run):
    """The CUDA array interface alone, as Numba has it; bits of bf16 as uint16."""
    run.cupy()

    class ByInterface:
        def __init__(self, array):
            self.array, self.__cuda_array_interface__ = array, {
                **array.__cuda_array_interface__,
                "stream": None,
            }

    a = cupy.random.randint(-3, 4, (65, 33)).astype("f4")
    b, out = cupy.random.randint(-3, 4, (33, 40)).astype("f4"), cupy.zeros((65, 40), "f4")
    expected = cupy.asnumpy(a).astype("f8") @ cupy.asnumpy(b).astype("f8")
    cupy.cuda.Device().synchronize()
    tcgemm.matmul(ByInterface(a), ByInterface(b), out=ByInterface(out))
    cupy.cuda.Device().synchronize()
    assert np.array_equal(cupy.asnumpy(out), expected)
    bits = [(x.view("u4") >> 16).astype("u2") for x in (a, b)]
    d = tcgemm.matmul(*bits, type="bf16_f32")
    assert d.dtype == cupy.float32 and np.array_equal(cupy.asnumpy(d), expected)
    run.log.products += 2
    return "f32, bits of bf16"


@case
def cupy_leaks(run):
    run.cupy()
    a, b = cupy.ones((96, 64), "f4"), cupy.ones((64, 80), "f4")
    out, plan, pool = cupy.empty((96, 80), "f4"), tcgemm.plan(a, b), cupy.get_default_memory_pool()

    def one():
        tcgemm.matmul(a, b), tcgemm.matmul(a, b, out=out), plan(a, b, out=out)

    def counts():
        gc.collect()
        cupy.cuda.Device().synchronize()
        return [sys.getrefcount(x) for x in (a, b, out, plan)], pool.used_bytes()

    for _ in range(300):
        one()
    before, size = counts(), resident()
    for _ in range(3000):
        one()
    after, grown = counts(), resident() - size
    assert before == after, f"{before} became {after}"
    assert grown < 8 << 20, f"the process grew by {grown} bytes"
    return f"9000 calls, process {grown / 1024:+.0f} KiB"


# ---- JAX ------------------------------------------------------------------------------------------------------


def jax_parts(run):
    if jax is None:
        raise Skipped("no JAX")
    if run.on_gpu and jax.default_backend() != "gpu":
        raise Skipped("JAX finds no GPU")
    jax.config.update("jax_enable_x64", True)
    import tcgemm.jax as ours

    return jax.numpy, ours


@case
def jax_random_products(run):
    """tcgemm.jax under jit and without: types, batches, scalars, transposes, exactly."""
    jnp, ours = jax_parts(run)
    dice, rng, count = run.dice, np.random.default_rng(run.options.seed), run.options.products // 10
    assert ours.mode() == "ffi", ours.mode()
    for _ in range(count):
        kind = dice.choice(Torch.kinds)
        m, n, k = (dice.choice([1, 2, 7, 16, 33, 64, 128, 200]) for _ in range(3))
        left, right = dice.choice(
            [((), ())] * 3 + [((3,), (3,)), ((), (4,)), ((5,), ()), ((2, 1), (3,)), ((2, 1, 2), (3, 1))]
        )
        low, options = 0 if kind == "uint8" else -3, {}
        for name in ("trans_a", "trans_b"):
            options[name] = dice.random() < 0.3
        a = rng.integers(low, 4, (*left, *((k, m) if options["trans_a"] else (m, k)))).astype(np.float64)
        b = rng.integers(low, 4, (*right, *((n, k) if options["trans_b"] else (k, n)))).astype(np.float64)
        x, y = (jnp.asarray(v).astype(kind) for v in (a, b))
        options["alpha"] = dice.choice([1, 1, 2, -1])
        expected = options["alpha"] * (
            (a.swapaxes(-1, -2) if options["trans_a"] else a)
            @ (b.swapaxes(-1, -2) if options["trans_b"] else b)
        )
        operands = [x, y]
        if dice.random() < 0.3:
            c = rng.integers(-4, 5, expected.shape).astype(np.float64)
            operands.append(jnp.asarray(c).astype(RESULTS[kind]))
            options["beta"] = dice.choice([1, 2, -1])
            expected = expected + options["beta"] * c
        call = functools.partial(ours.matmul, **options)
        got = (jax.jit(call) if dice.random() < 0.5 else call)(*operands)
        rounded = np.asarray(jnp.asarray(expected).astype(RESULTS[kind]).astype("float64"))
        text = f"{kind} {x.shape} {y.shape} {options}"
        assert got.shape == rounded.shape and np.array_equal(np.asarray(got.astype("float64")), rounded), text
        run.log.products += 1
    return f"{count} products"


@case
def jax_transformations(run):
    """vmap, gradients, a loop within one program, beside JAX's own product."""
    jnp, ours = jax_parts(run)
    rng = np.random.default_rng(0)
    a, b = jnp.asarray(rng.standard_normal((6, 40, 50))), jnp.asarray(rng.standard_normal((50, 30)))
    mapped = [jax.jit(jax.vmap(f, (0, None)))(a, b) for f in (ours.matmul, jnp.matmul)]
    np.testing.assert_allclose(*mapped, rtol=1e-9, atol=1e-10)
    grads = [
        jax.jit(jax.grad(lambda x, y, f=f: jnp.sin(f(x, y)).sum(), (0, 1)))(a, b)
        for f in (ours.matmul, jnp.matmul)
    ]
    for mine, theirs in zip(*grads):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
    square = jnp.asarray(rng.standard_normal((300, 300)) / 20)
    power = jax.jit(lambda x: jax.lax.fori_loop(0, 10, lambda i, y: ours.matmul(y, x), jnp.eye(300)))(square)
    np.testing.assert_allclose(power, np.linalg.matrix_power(np.asarray(square), 10), rtol=1e-8, atol=1e-10)
    return "vmap, grad, fori_loop"


@case
def jax_time(run):
    """Many products in one program, beside JAX's own: bf16 on the GPU, f32 on the host."""
    jnp, ours = jax_parts(run)
    dtype = jnp.bfloat16 if run.on_gpu else jnp.float32
    for size in (128, 1024, 4096) if run.on_gpu else (128,):
        x = (jnp.ones((size, size)) / size).astype(dtype)
        programs = [
            jax.jit(lambda x, f=f: jax.lax.fori_loop(0, 50, lambda i, y: f(y, x), x))
            for f in (ours.matmul, jnp.matmul)
        ]
        best = [float("inf")] * 2
        for _ in range(8):
            for i, program in enumerate(programs):
                start = time.perf_counter()
                program(x).block_until_ready()
                best[i] = min(best[i], (time.perf_counter() - start) / 50)
        run.log(
            f"    {f'in a program of JAX, {size}^3 {dtype.__name__}':46} {best[0] / best[1]:7.3f}  {best[0] * 1e6:.2f} us, jnp.matmul {best[1] * 1e6:.2f}"
        )
    return ""


# ---- speed ----------------------------------------------------------------------------------------------------


def host_times(calls, count=200, rounds=31):
    """Seconds on the host of one call, the median of rounds in turns; the GPU is waited for outside the clock."""
    found = [[] for _ in calls]
    for _ in range(rounds + 1):
        for i, call in enumerate(calls):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(count):
                call()
            found[i].append((time.perf_counter() - start) / count)
    torch.cuda.synchronize()
    return [sorted(x[1:])[rounds // 2] for x in found]


def device_times(calls, count, rounds=15):
    """Seconds of one of `count` calls on end, by events of the stream; medians, in turns."""
    found = [[] for _ in calls]
    for _ in range(rounds + 1):
        for i, call in enumerate(calls):
            torch.cuda.synchronize()
            first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            first.record()
            for _ in range(count):
                call()
            last.record()
            last.synchronize()
            found[i].append(first.elapsed_time(last) * 1e-3 / count)
    return [sorted(x[1:])[rounds // 2] for x in found]


@case
def speed_host_time(run):
    """Goal: a call's time on the host at most 0.6 x torch.mm(out=)'s."""
    run.torch_gpu()
    for size, dtype in (
        (16, torch.bfloat16),
        (64, torch.bfloat16),
        (128, torch.bfloat16),
        (16, torch.float32),
        (128, torch.float16),
    ):
        a, b, out = (
            half(size, size, dtype=dtype),
            half(size, size, dtype=dtype),
            torch.empty(size, size, device="cuda", dtype=dtype),
        )
        plan = tcgemm.plan(a, b)
        ours, planned, theirs = host_times(
            [
                lambda: tcgemm.matmul(a, b, out=out),
                lambda: plan(a, b, out=out),
                lambda: torch.mm(a, b, out=out),
            ]
        )
        name = f"host, {size}^3 {str(dtype)[6:]} out="
        run.log.goal(
            name,
            ours / theirs,
            0.6,
            f"{ours * 1e6:.2f} us, plan {planned * 1e6:.2f}, torch.mm {theirs * 1e6:.2f}",
        )
        ours, theirs = host_times([lambda: tcgemm.matmul(a, b), lambda: torch.mm(a, b)])
        run.log(
            f"    {name[:-5] + ', new result':46} {ours / theirs:7.3f}  {ours * 1e6:.2f} us, torch.mm {theirs * 1e6:.2f}"
        )
    return ""


@case
def speed_small_products(run):
    """Goal: 128^3 bf16 at most 0.8 x torch.mm(out=), many on end."""
    run.torch_gpu()
    for size, goal in ((64, None), (128, 0.8), (256, None), (512, None)):
        a, b, out = (
            half(size, size),
            half(size, size),
            torch.empty(size, size, device="cuda", dtype=torch.bfloat16),
        )
        plan = tcgemm.plan(a, b)
        ours, planned, theirs = device_times(
            [
                lambda: tcgemm.matmul(a, b, out=out),
                lambda: plan(a, b, out=out),
                lambda: torch.mm(a, b, out=out),
            ],
            500,
        )
        text = f"{ours * 1e6:.2f} us, plan {planned * 1e6:.2f}, torch.mm {theirs * 1e6:.2f}"
        name = f"stream of {size}^3 bf16 out=, torch.mm"
        (
            run.log.goal(name, ours / theirs, goal, text)
            if goal
            else run.log(f"    {name:46} {ours / theirs:7.3f}  {text}")
        )
        graph_ours, graph_theirs = (
            captured(call) for call in (lambda: tcgemm.matmul(a, b, out=out), lambda: torch.mm(a, b, out=out))
        )
        ours, theirs = device_times([graph_ours, graph_theirs], 10)
        run.log(
            f"    {f'in a graph, {size}^3 bf16, torch.mm':46} {ours / theirs:7.3f}  {ours * 1e6 / 50:.2f} us, torch.mm {theirs * 1e6 / 50:.2f}"
        )
    return ""


def captured(call, count=50):
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            call()
    return graph.replay


C_LOOP = r"""
#include <tcgemm/tcgemm.h>

static tcgemm_context_t *context;
static tcgemm_plan_t *plan;

const char *loop_open(const char *type_name, long long m, long long n, long long k) {
    tcgemm_context_options_t where = tcgemm_context_options();
    tcgemm_plan_options_t how = tcgemm_plan_options();
    tcgemm_type_t type;
    where.device = 0;
    if (tcgemm_type_from_name(type_name, &type) != TCGEMM_STATUS_OK)
        return tcgemm_last_error();
    tcgemm_problem_t problem = tcgemm_problem(type, m, n, k);
    if (!context && tcgemm_context_create(&where, &context) != TCGEMM_STATUS_OK)
        return tcgemm_last_error();
    tcgemm_plan_destroy(plan);
    plan = NULL;
    return tcgemm_plan_create(context, &problem, &how, &plan) == TCGEMM_STATUS_OK ? NULL : tcgemm_last_error();
}

const char *loop_run(const void *a, const void *b, void *d, void *stream, int count) {
    for (int i = 0; i < count; ++i)
        if (tcgemm_run_async(plan, 1, a, b, 0, NULL, d, NULL, 0, stream) != TCGEMM_STATUS_OK)
            return tcgemm_last_error();
    return NULL;
}

const char *loop_kernel(void) {
    static tcgemm_plan_info_t info;
    info.struct_size = sizeof info;
    return tcgemm_plan_get_info(plan, &info) == TCGEMM_STATUS_OK ? info.kernel : "?";
}
"""


def c_loop(run):
    """A loop of calls in C, with the library of the same build."""
    if not run.options.build:
        raise Skipped("--build BUILD is not given")
    library = next(
        (
            x
            for x in (
                os.path.join(run.options.build, "src", "libtcgemm.a"),
                os.path.join(run.options.build, "libtcgemm.a"),
            )
            if os.path.exists(x)
        ),
        None,
    )
    if not library:
        raise Skipped(f"no libtcgemm.a in {run.options.build}")
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    folder = tempfile.mkdtemp()
    source, made = os.path.join(folder, "loop.c"), os.path.join(folder, "loop.so")
    with open(source, "w") as file:
        file.write(C_LOOP)
    includes = [f"-I{x}" for x in (os.path.join(root, "include"), os.path.join(run.options.build, "include"))]
    subprocess.run(
        [
            os.environ.get("CC", "cc"),
            "-O2",
            "-fPIC",
            "-shared",
            *includes,
            source,
            library,
            "-lm",
            "-lpthread",
            "-ldl",
            "-Wl,-Bsymbolic",
            "-Wl,--exclude-libs,ALL",
            "-o",
            made,
        ],
        check=True,
    )
    loop = ctypes.CDLL(made)
    loop.loop_open.restype = loop.loop_run.restype = loop.loop_kernel.restype = ctypes.c_char_p
    loop.loop_open.argtypes = [ctypes.c_char_p] + [ctypes.c_longlong] * 3
    loop.loop_run.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int]
    return loop


@case
def speed_against_c(run):
    """Goal: 99 % of the speed of a loop in C from 1024^3 on."""
    run.torch_gpu()
    loop = c_loop(run)
    stream = torch.cuda.current_stream().cuda_stream
    for type_name, dtype, result in (
        ("bf16_bf16", torch.bfloat16, torch.bfloat16),
        ("f16_f16", torch.float16, torch.float16),
        ("f32_f32", torch.float32, torch.float32),
        ("s8_s32", torch.int8, torch.int32),
        ("e4m3_bf16", torch.float8_e4m3fn, torch.bfloat16),
    ):
        for size in (1024, 2048, 4096, 8192):
            a, b = (torch.randint(-2, 3, (size, size), device="cuda").float().to(dtype) for _ in range(2))
            out = torch.empty(size, size, device="cuda", dtype=result)
            failed = loop.loop_open(type_name.encode(), size, size, size)
            assert not failed, failed
            addresses = a.data_ptr(), b.data_ptr(), out.data_ptr(), stream
            count = max(1, min(400, int(4e13 / (2.0 * size**3) / 4)))
            plan = tcgemm.plan(a, b)
            kernels = {plan.kernel, loop.loop_kernel().decode()}

            def in_c():
                failed = loop.loop_run(*addresses, count)
                assert not failed, failed

            def by_matmul():
                for _ in range(count):
                    tcgemm.matmul(a, b, out=out)

            def by_plan():
                for _ in range(count):
                    plan(a, b, out=out)

            c, ours, planned, again = (
                x / count for x in device_times([in_c, by_matmul, by_plan, in_c], 1, rounds=9)
            )
            flop, c = 2.0 * size**3, min(c, again)
            run.log.goal(
                f"{type_name} {size}^3, time / C",
                ours / c,
                1 / 0.99,
                f"{flop / ours * 1e-12:.1f} TFLOP/s, plan {flop / planned * 1e-12:.1f}, C {flop / c * 1e-12:.1f}, {' and '.join(kernels)}",
            )
    return ""


@case
def speed_against_cupy(run):
    run.cupy()
    if torch is None:
        raise Skipped("the clock is torch's")
    run.torch_gpu()
    for size in (16, 128):
        a, b = cupy.ones((size, size), "f4"), cupy.ones((size, size), "f4")
        out = cupy.empty_like(a)
        ours, theirs = host_times([lambda: tcgemm.matmul(a, b, out=out), lambda: cupy.matmul(a, b, out=out)])
        run.log(
            f"    {f'host, CuPy {size}^3 f32 out=, cupy.matmul':46} {ours / theirs:7.3f}  {ours * 1e6:.2f} us, cupy {theirs * 1e6:.2f}"
        )
    return ""


@case
def speed_against_nvmath(run):
    """Goal: at most 0.1 x the time of nvmath-python's function form."""
    run.torch_gpu()
    try:
        from nvmath.linalg.advanced import matmul as theirs
    except ImportError:
        raise Skipped("no nvmath-python")
    a, b = half(128, 128), half(128, 128)
    ours_s, theirs_s = host_times([lambda: tcgemm.matmul(a, b), lambda: theirs(a, b)], count=20)
    run.log.goal(
        "host, 128^3 bf16, nvmath's matmul()",
        ours_s / theirs_s,
        0.1,
        f"{ours_s * 1e6:.2f} us, nvmath {theirs_s * 1e6:.2f}",
    )
    return ""


# ---- all of them ----------------------------------------------------------------------------------------------


def header(log, options):
    root = os.path.dirname(os.path.abspath(__file__))
    commit = subprocess.run(
        ["git", "-C", root, "describe", "--always", "--dirty", "--abbrev=9"], capture_output=True, text=True
    )
    log(
        f"tests/python/device.py at {commit.stdout.strip() or 'an unknown commit'}, seed {options.seed}, {time.strftime('%Y-%m-%d')}"
    )
    versions = [f"Python {platform.python_version()}", f"NumPy {np.__version__}"]
    versions += [f"{x.__name__} {x.__version__}" for x in (torch, cupy, jax) if x is not None]
    log(", ".join(versions))
    for i, gpu in enumerate(tcgemm.devices()):
        log(f"GPU {i}: {gpu['name']}")
    log(str(tcgemm.info()))
    log()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", help="the build folder with libtcgemm.a, for the comparison with C")
    parser.add_argument("--log", help="a file for all that is printed")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="WORD", help="cases whose names contain one of these"
    )
    parser.add_argument("--products", type=int, default=2000, help="random products of a package (2000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cpu", action="store_true", help="on host tensors, where a case makes sense there")
    options = parser.parse_args()
    if not options.cpu and not tcgemm.devices():
        print(f"skipped: no GPU: {tcgemm.info()['device_reason']}")
        return 77
    warnings.simplefilter("error", tcgemm.CopyWarning)
    log = Log(options.log)
    header(log, options)
    for function in CASES:
        if options.only and not any(word in function.__name__ for word in options.only):
            continue
        start = time.perf_counter()
        try:
            text = function(Run(log, options))
            log.passed += 1
            log(f"ok    {function.__name__:36} {time.perf_counter() - start:6.1f} s  {text or ''}".rstrip())
        except Skipped as reason:
            log.skipped += 1
            log(f"skip  {function.__name__:36}           {reason}")
        except Exception as error:
            log.failed += 1
            log(
                f"FAIL  {function.__name__:36} {time.perf_counter() - start:6.1f} s  {type(error).__name__}: {error}"
            )
            log(traceback.format_exc())
    log(
        f"\n{log.passed} passed, {log.failed} failed, {log.skipped} skipped; {log.products} products compared; {log.missed} goals missed"
    )
    return 1 if log.failed else 0


if __name__ == "__main__":
    sys.exit(main())
