"""NumPy's own tests of matmul, dot and einsum, with our matmul in the place of its.

The shim takes products of two arrays of f16, f32 or f64 and leaves the rest - whole numbers, complex
numbers, objects, lists, casts to other dtypes - to NumPy: these types are not ours. What differs by
design is named in DIFFERS.
"""

import numpy as np
import pytest
import tcgemm

test_multiarray = pytest.importorskip("numpy._core.tests.test_multiarray")
test_einsum = pytest.importorskip("numpy._core.tests.test_einsum")

OURS = (np.dtype("f2"), np.dtype("f4"), np.dtype("f8"))
TAKEN = {"matmul": 0}

DIFFERS = {
    "test_out_arg": "NumPy casts the result to the dtype of out; ours is exact",
    "test_matmul_axes": "axes= is NumPy's own",
    "test_empty_out": "the sentence differs: a shape that is not the result's is refused, too (test_matmul.py)",
    "test_huge_vectordot": "eight GB of memory",
}


def is_ours(x):
    return isinstance(x, np.ndarray) and type(x) is np.ndarray and x.dtype in OURS and x.dtype.isnative


def matmul(a, b, out=None, **options):
    if options or not (is_ours(a) and is_ours(b)) or a.dtype != b.dtype:
        return np.matmul(a, b, out=out, **options)
    if out is not None and (not is_ours(out) or out.dtype != a.dtype):
        return np.matmul(a, b, out=out)
    if out is not None and any(np.shares_memory(out, x) for x in (a, b)):
        return np.matmul(a, b, out=out)  # NumPy makes a copy then; we refuse
    TAKEN["matmul"] += 1
    d = tcgemm.matmul(a, b, out=out)
    return d[()] if d.ndim == 0 and out is None else d  # NumPy makes scalars of these


def dot(a, b, out=None):
    if not (is_ours(a) and is_ours(b)) or a.ndim not in (1, 2) or b.ndim not in (1, 2):
        return np.dot(a, b) if out is None else np.dot(a, b, out)
    if out is not None and not (out.flags.c_contiguous and out.flags.writeable and out.dtype == a.dtype):
        return np.dot(a, b, out)
    return matmul(a, b, out)


@pytest.fixture(autouse=True)
def in_place_of_numpy(monkeypatch, copies_allowed):
    from numpy._core import einsumfunc

    monkeypatch.setattr(test_multiarray, "dot", dot, raising=False)
    if hasattr(einsumfunc, "matmul"):
        monkeypatch.setattr(einsumfunc, "matmul", matmul)


def without(cls, name):
    return type(name, (cls,), {test: pytest.mark.skip(reason=why)(getattr(cls, test)) for test, why in DIFFERS.items()
                               if hasattr(cls, test)})


class TestMatmul(without(test_multiarray.TestMatmul, "Base")):
    matmul = staticmethod(matmul)


class TestDot(without(test_multiarray.TestDot, "Base")):
    pass


class TestEinsum:
    """The cases of NumPy's test that go through matmul: those with a path."""

    cases = [
        "ij,jk->ik", "ij,jk,kl->il", "bij,bjk->bik", "bij,jk->bik", "ijk,jil->kl", "ea,fb,abcd,gc,hd->efgh",
        "ab,cd,ef->abcdef", "abc,bca,c->", "ij,kj->ik", "ji,jk->ik", "a,ab,abc->abc", "bhqd,bhkd->bhqk",
    ]

    @pytest.mark.parametrize("subscripts", cases)
    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    def test_paths(self, subscripts, dtype):
        rng = np.random.default_rng(0)
        sizes = dict(zip("abcdefghijklqk", [2, 3, 4, 5, 2, 3, 2, 4, 3, 5, 4, 2, 3, 4]))
        operands = [rng.integers(-3, 4, [sizes[x] for x in term]).astype(dtype) for term in subscripts.split("->")[0].split(",")]
        expected = np.einsum(subscripts, *operands, optimize=False)
        np.testing.assert_allclose(np.einsum(subscripts, *operands, optimize=True), expected, rtol=1e-4)


def test_ours_was_asked():
    """Runs last: the shim has not sent everything to NumPy."""
    assert TAKEN["matmul"] > 100, TAKEN
