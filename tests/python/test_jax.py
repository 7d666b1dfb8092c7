"""tcgemm in JAX: jit, vmap, gradients, types, by XLA's custom call and by way of Python. Without jax this file is left
out: it is no part of requirements.txt. `tests/python/run_with.sh jax` makes room for it."""

import os
import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import tcgemm
import tcgemm.jax

BOTH = ["ffi", "callback"]


@pytest.fixture(params=BOTH, autouse=True)
def way(request, monkeypatch):
    """Each test by both ways; the first one needs a C++ compiler."""
    if request.param == "callback":
        monkeypatch.setattr(tcgemm.jax, "_is_called_by_xla", lambda: (False, "a test"))
    elif tcgemm.jax.mode() != "ffi":
        pytest.skip(tcgemm.jax.mode())
    jax.clear_caches()
    return request.param


def whole(*shape, dtype="float32", seed=0):
    low = 0 if dtype == "uint8" else -2
    return jnp.asarray(np.random.default_rng(seed).integers(low, 3, shape)).astype(dtype)


def double(x):
    return np.asarray(x.astype("float64"))


@pytest.mark.parametrize("a_type, b_type, result", [
    ("float64", "float64", "float64"), ("float32", "float32", "float32"), ("float16", "float16", "float16"),
    ("bfloat16", "bfloat16", "bfloat16"), ("float8_e4m3fn", "float8_e4m3fn", "bfloat16"), ("float8_e5m2", "float8_e5m2", "bfloat16"),
    ("int8", "int8", "int32"), ("uint8", "int8", "int32"), ("uint8", "uint8", "int32"),
])
def test_types(a_type, b_type, result):
    a, b = whole(5, 33, dtype=a_type), whole(33, 7, dtype=b_type, seed=1)
    d = tcgemm.jax.matmul(a, b)
    assert isinstance(d, jax.Array) and d.dtype == result and (double(d) == double(a) @ double(b)).all()
    assert (jax.jit(tcgemm.jax.matmul)(a, b) == d).all()


def test_named_types():
    a, b = whole(5, 33, dtype="bfloat16"), whole(33, 7, dtype="bfloat16", seed=1)
    d = tcgemm.jax.matmul(a, b, type="bf16_f32")
    assert d.dtype == "float32" and (double(d) == double(a) @ double(b)).all()
    with pytest.raises(TypeError, match="takes float16 and float16, but a is bfloat16"):
        tcgemm.jax.matmul(a, b, type="f16_f32")
    with pytest.raises(TypeError, match="in JAX there are"):
        tcgemm.jax.matmul(a, b, type="s4_s32")
    with pytest.raises(TypeError, match="no type multiplies"):
        tcgemm.jax.matmul(a, b.astype("float32"))


def test_scalars_and_transposes():
    a, b, c = whole(33, 5), whole(7, 33, seed=1), whole(5, 7, seed=2)
    f = jax.jit(lambda a, b, c: tcgemm.jax.matmul(a, b, c, alpha=2, beta=-0.5, trans_a=True, trans_b=True))
    assert (double(f(a, b, c)) == 2 * double(a).T @ double(b).T - 0.5 * double(c)).all()
    assert (double(tcgemm.jax.matmul(a, b, c[0], trans_a=True, trans_b=True)) == double(a).T @ double(b).T + double(c[0])).all()
    with pytest.raises(ValueError, match="beta is given"):
        tcgemm.jax.matmul(a, b, beta=2)


@pytest.mark.parametrize("left, right", [
    ((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((6, 3, 4), (4, 5)), ((3, 4), (6, 4, 5)), ((6, 3, 4), (6, 4, 5)),
    ((2, 1, 3, 4), (6, 4, 5)), ((2, 6, 3, 4), (1, 6, 4, 5)), ((2, 3, 1, 3, 4), (1, 3, 2, 4, 5)), ((2, 1, 2, 3, 4), (3, 1, 4, 5)),
    ((0, 4), (4, 5)), ((3, 0), (0, 5)), ((0, 3, 4), (4, 5)), ((1, 1, 3, 4), (2, 2, 4, 5)),
])
def test_shapes(left, right):
    a, b = whole(*left), whole(*right, seed=1)
    d = tcgemm.jax.matmul(a, b)
    assert d.shape == np.matmul(np.zeros(left), np.zeros(right)).shape and (double(d) == np.matmul(double(a), double(b))).all()


def test_shapes_that_do_not_meet():
    with pytest.raises(ValueError, match="3 columns do not meet 2 rows"):
        tcgemm.jax.matmul(whole(2, 3), whole(2, 3))
    with pytest.raises(ValueError, match="no axes"):
        tcgemm.jax.matmul(jnp.float32(1) + jnp.zeros(()), whole(2, 3))
    with pytest.raises(TypeError, match="not an array"):
        tcgemm.jax.matmul([[1.0]], whole(2, 3))


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0), (2, 1)])
def test_vmap(axes):
    a = whole(*([3, 4][: 0 if axes[0] == 0 else 2]), *((6, 3, 4) if axes[0] == 0 else (6,) if axes[0] == 2 else ()))
    b = whole(*((6, 4, 5) if axes[1] == 0 else (4, 6, 5) if axes[1] == 1 else (4, 5)), seed=1)
    got = jax.vmap(tcgemm.jax.matmul, axes)(a, b)
    assert (double(got) == double(jax.vmap(jnp.matmul, axes)(a, b))).all()
    twice = jax.jit(jax.vmap(jax.vmap(tcgemm.jax.matmul, (None, 0)), (0, None)))
    x, y = whole(2, 3, 4), whole(5, 4, 3, seed=1)
    assert (double(twice(x, y)) == np.einsum("amk,bkn->abmn", double(x), double(y))).all()


@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_gradients(trans_a, trans_b):
    """Against JAX's own, first and second, with batches that are shared."""
    rng = np.random.default_rng(0)
    a = jnp.asarray(rng.standard_normal((2, 5, 4) if trans_a else (2, 4, 5)))
    b = jnp.asarray(rng.standard_normal((3, 5) if trans_b else (5, 3)))
    c = jnp.asarray(rng.standard_normal((4, 3)))

    def ours(a, b, c):
        return jnp.sin(tcgemm.jax.matmul(a, b, c, alpha=1.5, beta=-2, trans_a=trans_a, trans_b=trans_b)).sum()

    def theirs(a, b, c):
        return jnp.sin(1.5 * (a.swapaxes(1, 2) if trans_a else a) @ (b.T if trans_b else b) - 2 * c).sum()

    for f, g in zip(jax.grad(ours, (0, 1, 2))(a, b, c), jax.grad(theirs, (0, 1, 2))(a, b, c)):
        np.testing.assert_allclose(f, g, rtol=1e-10, atol=1e-12)
    second = [jax.jit(jax.grad(lambda b, f=f: (jax.grad(f, 0)(a, b, c) ** 2).sum()))(b) for f in (ours, theirs)]
    np.testing.assert_allclose(*second, rtol=1e-9, atol=1e-10)
    mapped = [jax.vmap(jax.grad(f, 1), (None, 0, None))(a, jnp.stack([b, 2 * b]), c) for f in (ours, theirs)]
    np.testing.assert_allclose(*mapped, rtol=1e-10, atol=1e-12)


def test_gradients_keep_the_dtype():
    a, b = whole(4, 6, dtype="bfloat16"), whole(6, 3, dtype="bfloat16", seed=1)
    grads = jax.grad(lambda a, b: tcgemm.jax.matmul(a, b, type="bf16_f32").sum(), (0, 1))(a, b)
    assert [x.dtype for x in grads] == ["bfloat16"] * 2
    assert (double(grads[0]) == double(jnp.broadcast_to(b.astype("float64").sum(1), (4, 6)))).all()
    whole_numbers = jax.vjp(tcgemm.jax.matmul, whole(2, 3, dtype="int8"), whole(3, 2, dtype="int8"))[1]
    assert all(x.dtype == jax.dtypes.float0 for x in whole_numbers(np.zeros((2, 2), jax.dtypes.float0)))


def test_a_loop_under_jit():
    """Many calls in one program; a large one on several threads."""
    a = jnp.asarray(np.random.default_rng(0).standard_normal((300, 300)) / 20)

    @jax.jit
    def power(a):
        return jax.lax.fori_loop(0, 10, lambda i, x: tcgemm.jax.matmul(x, a), jnp.eye(300))

    np.testing.assert_allclose(power(a), np.linalg.matrix_power(np.asarray(a), 10), rtol=1e-9, atol=1e-12)


def test_a_layer_is_trained():
    """The same losses as with JAX's own product."""
    rng = np.random.default_rng(0)
    x, y = jnp.asarray(rng.standard_normal((64, 12))), jnp.asarray(rng.standard_normal((64, 2)))
    start = [jnp.asarray(rng.standard_normal(s)) / 4 for s in ((12, 32), (32, 2))]

    def losses(matmul):
        def loss(w):
            return ((matmul(jnp.tanh(matmul(x, w[0])), w[1]) - y) ** 2).mean()

        step, w, found = jax.jit(jax.value_and_grad(loss)), start, []
        for _ in range(20):
            value, grads = step(w)
            w = [p - 0.1 * g for p, g in zip(w, grads)]
            found.append(float(value))
        return found

    ours = losses(tcgemm.jax.matmul)
    np.testing.assert_allclose(ours, losses(jnp.matmul), rtol=1e-9)
    assert ours[-1] < ours[0]


def fresh(code, **environment):
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment})
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_the_handler_is_compiled_once(tmp_path, way):
    """Into a folder of the user's; without a compiler, or where it fails, Python's way is taken, and says why."""
    if way == "callback":
        pytest.skip("no handler there")
    code = "import tcgemm.jax, jax.numpy as j; print(tcgemm.jax.mode(), tcgemm.jax.matmul(j.ones((2, 3)), j.ones((3, 2)))[0, 0])"
    folder = tmp_path / "cache"
    for _ in range(2):
        assert fresh(code, TCGEMM_CACHE_DIR=str(folder)) == "ffi 3.0"
        assert len(list(folder.iterdir())) == 1
    assert fresh(code, TCGEMM_CACHE_DIR=str(folder), CXX="false", PATH="/nonexistent") == "ffi 3.0"
    assert "did not compile" in fresh(code, TCGEMM_CACHE_DIR=str(tmp_path / "other"), CXX="false")
    assert list((tmp_path / "other").iterdir()) == []
    assert "no C++ compiler" in fresh(code, TCGEMM_CACHE_DIR=str(tmp_path / "third"), PATH="/nonexistent", CXX="none")
    assert "asks for it" in fresh(code, TCGEMM_JAX="callback")
    folder.chmod(0o777)  # others may write there: it is not believed
    assert fresh(code, TCGEMM_CACHE_DIR=str(folder), PATH="/nonexistent", CXX="none").startswith("callback")
