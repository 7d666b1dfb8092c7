"""Strides: random views of random batches against NumPy, and that out's surroundings stay as they were."""

import numpy as np
import tcgemm
from hypothesis import given, settings
from hypothesis import strategies as st

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True, database=None)
DTYPES = [np.float64, np.float32, np.int8, np.float16]


@st.composite
def views(draw, shape, dtype, least_step=-2):
    """An array of this shape as a view of a larger one: steps, offsets, orders of axes, broadcast axes."""
    order = draw(st.permutations(range(len(shape))))
    base_shape, cut = [], []
    for axis in order:
        step = draw(st.sampled_from([1, 1, 1, 2, least_step]))
        before, after = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        length = shape[axis] * abs(step)
        base_shape.append(before + length + after)
        middle = slice(before, before + length)
        cut.append((middle, slice(None, None, step)))
    numbers = draw(st.integers(0, 2**32 - 1))
    base = np.random.default_rng(numbers).integers(-3, 4, base_shape).astype(dtype)
    view = base[tuple(c[0] for c in cut)][tuple(c[1] for c in cut)]
    view = view.transpose(np.argsort(order))
    assert view.shape == tuple(shape)
    return base, view


@st.composite
def problems(draw):
    m, n, k = (draw(st.sampled_from([0, 1, 2, 3, 5, 8, 17])) for _ in range(3))
    batch = draw(st.lists(st.sampled_from([1, 2, 3]), max_size=3))
    side = lambda: [x if draw(st.booleans()) else 1 for x in batch][draw(st.integers(0, len(batch))) :]
    dtype = draw(st.sampled_from(DTYPES))
    a = draw(views(side() + [m, k], dtype))[1]
    b = draw(views(side() + [k, n], dtype))[1]
    if draw(st.booleans()) and a.ndim > 2 and a.shape[0] == 1:
        a = np.broadcast_to(a[0], (3,) + a.shape[1:])
    return a, b


def expected_of(a, b):
    try:
        return np.matmul(a.astype(float), b.astype(float))
    except ValueError:
        return None


@SETTINGS
@given(problems())
def test_views(problem):
    import warnings

    a, b = problem
    expected = expected_of(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tcgemm.CopyWarning)
        if expected is None:
            try:
                tcgemm.matmul(a, b)
                raise AssertionError("batches that cannot be broadcast")
            except ValueError:
                return
        d = tcgemm.matmul(a, b)
        assert d.shape == expected.shape
        np.testing.assert_array_equal(d.astype(float), expected)
        assert tcgemm.verify(a, b, d)


@SETTINGS
@given(problems(), st.data())
def test_out_and_c(problem, data):
    import warnings

    a, b = problem
    product = expected_of(a, b)
    if product is None:
        return
    dtype = np.dtype(np.int32 if a.dtype == np.int8 else a.dtype)
    base, out = data.draw(views(product.shape, dtype))
    c_base, c = data.draw(views(product.shape, dtype))
    untouched = base.copy()
    marked = base.copy()
    expected = 2 * product + 3 * c.astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tcgemm.CopyWarning)
        assert tcgemm.matmul(a, b, c, alpha=2, beta=3, out=out) is out
    np.testing.assert_array_equal(out.astype(float), expected)
    # All but the elements of `out` is what it was.
    out[...] = 77
    marked = base == 77
    out_only = np.zeros(base.shape, bool)
    view = np.ndarray(out.shape, np.int8, out_only.view(np.int8), *offset_and_strides(base, out))
    view[...] = 1
    np.testing.assert_array_equal(base[~out_only], untouched[~out_only])
    assert marked[out_only].all()


def offset_and_strides(base, view):
    itemsize = base.itemsize
    offset = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return offset // itemsize if view.size else 0, [s // itemsize for s in view.strides]


def test_leading_dimensions_need_no_copy():
    """The fixture makes each copy an error."""
    rng = np.random.default_rng(0)
    wide = rng.integers(-3, 4, (20, 30)).astype(np.float32)
    for a in (wide[2:7, 3:9], wide.T[3:8, 2:8], wide[::2, 4:10][:5], wide[3:8][:, :6]):
        for b in (wide[:6, :7], wide.T[:6, 5:12], wide[6:12, 20:27]):
            for out in (np.zeros((5, 7), np.float32), np.zeros((7, 5), np.float32).T,
                        np.zeros((9, 9), np.float32)[2:7, 1:8], np.zeros((9, 9), np.float32)[2:9, 1:6].T):
                np.testing.assert_array_equal(tcgemm.matmul(a, b, out=out), a @ b)
    batch = rng.integers(-3, 4, (4, 5, 6)).astype(np.float64)
    for x in (batch, batch[::-1], batch[::2], batch.transpose(0, 2, 1), batch.transpose(1, 0, 2), batch[:, None]):
        y = np.ones(x.shape[:-2] + (x.shape[-1], 3))
        np.testing.assert_array_equal(tcgemm.matmul(x, y), x @ y)


def test_copies_are_told():
    import pytest

    a = np.ones((4, 8), np.float32)
    for view in (a[:, ::2], a[:, ::-1], a[::-1], np.broadcast_to(a[0], (4, 8)), np.frombuffer(bytes(33), np.uint8)[1:].view("f4").reshape(1, 8)):
        with pytest.warns(tcgemm.CopyWarning, match="a is copied"):
            tcgemm.matmul(view, np.ones((view.shape[1], 2), np.float32))
        with pytest.raises(tcgemm.CopyWarning):
            tcgemm.matmul(view, np.ones((view.shape[1], 2), np.float32))
    out = np.zeros((4, 4), np.float32)
    with pytest.warns(tcgemm.CopyWarning, match="out is copied"):
        tcgemm.matmul(a, np.ones((8, 2), np.float32), out=out[:, ::2])
    np.testing.assert_array_equal(out, np.tile(np.array([8, 0], np.float32), (4, 2)))
