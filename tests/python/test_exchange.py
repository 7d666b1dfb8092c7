"""DLPack and the CUDA array interface: read without copies, deleters called once, faults told."""

import ctypes
import gc
import sys

import numpy as np
import pytest
import tcgemm
from foreign import COMPLEX64, CUDA, FLOAT64, VULKAN, Foreign, exchange_class

ROWS = [[1.0, 2.0], [3.0, 4.0]]
SQUARE = [[7.0, 10.0], [15.0, 22.0]]


def listed(d):
    return d.tolist() if hasattr(d, "tolist") else np.from_dlpack(d).tolist()


@pytest.mark.parametrize("options", [
    {}, {"versioned": False}, {"versioned": False, "knows_versions": False}, {"readonly": True}, {"offset": 3},
    {"tight": True}, {"dtype": FLOAT64}, {"offset": 1, "dtype": FLOAT64, "tight": True},
])
def test_dlpack_is_read(options):
    x = Foreign(ROWS, **options)
    for _ in range(5):
        d = tcgemm.matmul(x, x)
        assert type(d) is tcgemm.Array and d.tolist() == SQUARE
    assert x.exported == 10 and x.deleted == 10


def test_dlpack_strides():
    x = Foreign(ROWS, strides=(1, 2))
    assert tcgemm.matmul(x, Foreign([[1.0, 0.0], [0.0, 1.0]])).tolist() == [[1.0, 3.0], [2.0, 4.0]]


@pytest.mark.parametrize("options, says", [
    ({"major": 2}, "speaks DLPack 2"), ({"device": VULKAN}, "device of kind 7"),
])
def test_dlpack_that_is_refused(options, says):
    x = Foreign(ROWS, **options)
    with pytest.raises(BufferError, match=says):
        tcgemm.matmul(x, x)
    assert x.exported == x.deleted == 1


def test_dlpack_of_other_dtypes():
    x = Foreign(ROWS, dtype=COMPLEX64)
    with pytest.raises(TypeError, match="of code 5, 64 bits"):
        tcgemm.matmul(x, x)
    assert x.exported == x.deleted == 2


def test_dlpack_errors_come_through():
    class Broken(Foreign):
        def __dlpack__(self, **options):
            raise RuntimeError("no tensor today")

    class Nonsense(Foreign):
        def __dlpack__(self, **options):
            return 3

    with pytest.raises(RuntimeError, match="no tensor today"):
        tcgemm.matmul(Broken(ROWS), Broken(ROWS))
    with pytest.raises(BufferError, match="gave 3, which is no tensor"):
        tcgemm.matmul(Nonsense(ROWS), Nonsense(ROWS))


def test_out_of_dlpack():
    x, out = Foreign(ROWS), Foreign([[0.0, 0.0], [0.0, 0.0]])
    assert tcgemm.matmul(x, x, out=out) is out
    assert list(out.memory) == [7, 10, 15, 22] and out.deleted == 1
    readonly = Foreign(ROWS, readonly=True)
    with pytest.raises(ValueError, match="out is read-only"):
        tcgemm.matmul(x, x, out=readonly)
    assert list(readonly.memory) == [1, 2, 3, 4] and readonly.deleted == 1


def test_gpu_arrays_without_gpu():
    """They are asked for with the stream of the call, and the sentence says what is missing."""
    x = Foreign(ROWS, device=CUDA)
    with pytest.raises(tcgemm.DeviceError, match="GPU"):
        tcgemm.matmul(x, x, out=x)
    assert x.streams[0] == 1 and x.exported == x.deleted
    with pytest.raises(tcgemm.DeviceError):
        tcgemm.matmul(x, x, out=x, stream=77)
    assert x.streams[-1] == 77 and x.exported == x.deleted
    with pytest.raises(ValueError, match="different devices"):
        tcgemm.matmul(x, Foreign(ROWS))


class Interface:
    def __init__(self, **changes):
        self.memory = np.ones((2, 2), np.float32)
        self.__cuda_array_interface__ = {
            "shape": (2, 2), "typestr": "<f4", "data": (self.memory.ctypes.data, False), "version": 3, **changes
        }


@pytest.mark.parametrize("changes, kind, says", [
    ({"mask": object()}, BufferError, "a has a mask"),
    ({"stream": 0}, BufferError, "names stream 0"),
    ({"stream": 9}, BufferError, "a is in use by stream 9: pass stream=9"),
    ({"typestr": "<c8"}, TypeError, "c8"),
    ({"typestr": ">f4"}, TypeError, ">f4"),
    ({"data": 5}, BufferError, "data is 5"),
    ({"shape": [2, 2]}, BufferError, "is no shape"),
    ({"strides": (4,)}, BufferError, "1 strides"),
    ({"data": None}, BufferError, "has no 'data'"),
])
def test_cuda_array_interface_faults(changes, kind, says):
    with pytest.raises(kind, match=says):
        tcgemm.matmul(Interface(**changes), Interface())


def test_cuda_array_interface_without_gpu():
    with pytest.raises(TypeError, match="pass out="):
        tcgemm.matmul(Interface(), Interface())
    for stream in (None, 9):
        with pytest.raises(tcgemm.DeviceError, match="GPU"):
            tcgemm.matmul(Interface(stream=stream), Interface(stream=stream), out=Interface(stream=stream), stream=stream)


# ---- the exchange table ----


def test_exchange_views():
    fast = exchange_class()
    x = fast(ROWS)
    d = tcgemm.matmul(x, x)
    assert type(d) is fast and list(d.memory) == [7, 10, 15, 22]
    assert fast.calls == ["view", "view", "allocate", "to_object", "view"] and x.exported == 0


def test_exchange_again_and_again():
    """From the fourth call of a shape on: a view of each, and what is made."""
    fast = exchange_class()
    x, out = fast(ROWS), fast([[0.0, 0.0], [0.0, 0.0]])
    plan = tcgemm.plan(x, x)
    for call in (tcgemm.matmul, plan):
        for _ in range(4):
            call(x, x)
        fast.calls.clear()
        d = call(x, x)
        assert type(d) is fast and list(d.memory) == [7, 10, 15, 22]
        assert fast.calls == ["view", "view", "allocate", "to_object", "view"]
    for _ in range(4):
        tcgemm.matmul(x, x, out=out)
    fast.calls.clear()
    x.memory[0] = 2.0
    assert tcgemm.matmul(x, x, out=out) is out and list(out.memory) == [10, 12, 18, 22]
    assert fast.calls == ["view"] * 3
    with pytest.raises(ValueError, match="overlaps"):
        tcgemm.matmul(x, x, out=x)
    turned = fast([[2.0, 3.0], [2.0, 4.0]], strides=(1, 2))  # the same matrix, another layout
    for _ in range(5):
        assert list(tcgemm.matmul(x, turned).memory) == [10, 12, 18, 22]


def test_exchange_without_views():
    fast = exchange_class(with_view=False)
    x = fast(ROWS)
    d = tcgemm.matmul(x, x)
    assert list(d.memory) == [7, 10, 15, 22] and x.exported == x.deleted == 2
    assert fast.calls[:2] == ["from_object", "from_object"]


def test_exchange_that_fails():
    fast = exchange_class(fails=True)
    with pytest.raises(BufferError, match="a cannot be exchanged"):
        tcgemm.matmul(fast(ROWS), fast(ROWS))


def test_exchange_of_a_newer_version():
    """A table of DLPack 2 that leads to one of DLPack 1 is followed; one that does not is left alone."""
    old = exchange_class()
    new = exchange_class(major=2, older=old.table)
    d = tcgemm.matmul(new(ROWS), new(ROWS))
    assert new.calls == [] and "view" in old.calls and list(d.memory) == [7, 10, 15, 22]
    only_new = exchange_class(major=2)
    x = only_new(ROWS)
    assert listed(tcgemm.matmul(x, x)) == SQUARE and only_new.calls == [] and x.exported == x.deleted == 2


def test_exchange_under_an_old_name():
    class Named(Foreign):
        __dlpack_c_exchange_api__ = 12345  # an int, as drafts had it

    x = Named(ROWS)
    assert tcgemm.matmul(x, x).tolist() == SQUARE and x.exported == 2


# ---- what we hand out ----


def made():
    left = memoryview(bytes([1, 2, 3, 4])).cast("B", (2, 2))
    return tcgemm.matmul(left, left)


def test_export_keeps_the_array_alive():
    x = made()
    start = sys.getrefcount(x)
    views = [np.from_dlpack(x) for _ in range(4)]
    assert sys.getrefcount(x) == start + 4
    assert all(view.tolist() == [[7, 10], [15, 22]] for view in views)
    last = views.pop()
    del views
    gc.collect()
    assert sys.getrefcount(x) == start + 1
    del x
    gc.collect()
    last[0, 0] = 5  # the memory is still there
    assert last.tolist() == [[5, 10], [15, 22]]


def test_capsules_that_nobody_takes():
    x = made()
    start = sys.getrefcount(x)
    new, old = x.__dlpack__(max_version=(1, 0)), x.__dlpack__()
    valid = ctypes.pythonapi.PyCapsule_IsValid
    assert valid(ctypes.py_object(new), b"dltensor_versioned") and valid(ctypes.py_object(old), b"dltensor")
    assert sys.getrefcount(x) == start + 2
    del new, old
    assert sys.getrefcount(x) == start


def test_export_options():
    x = made()
    assert x.__dlpack_device__() == (1, 0)
    x.__dlpack__(stream=None, dl_device=(1, 0), copy=False, max_version=(1, 3))
    for options, kind in [({"stream": 1}, BufferError), ({"dl_device": (2, 0)}, BufferError), ({"copy": True}, BufferError),
                          ({"max_version": 1}, TypeError), ({"dl_device": "cpu"}, TypeError)]:
        with pytest.raises(kind):
            x.__dlpack__(**options)


def test_buffer_of_an_array():
    x = made()
    view = memoryview(x)
    assert (view.format, view.shape, view.strides, view.readonly, view.c_contiguous) == ("i", (2, 2), (8, 4), False, True)
    assert np.asarray(x).base is not None and np.shares_memory(np.asarray(x), np.from_dlpack(x))


def test_array_api_strict():
    xp = pytest.importorskip("array_api_strict")
    a, b = xp.asarray(ROWS, dtype=xp.float32), xp.asarray(ROWS, dtype=xp.float32)
    d = tcgemm.matmul(a, b)
    assert type(d) is type(a) and np.from_dlpack(d).tolist() == SQUARE
    assert d.dtype == xp.float32
    batch = xp.reshape(xp.arange(24, dtype=xp.float64), (2, 3, 4))
    turned = xp.permute_dims(batch, (0, 2, 1))
    assert bool(xp.all(tcgemm.matmul(batch, turned) == xp.matmul(batch, turned)))
    one = xp.asarray(1.0, dtype=xp.float32)
    for bad in ((one, a), (a, one)):
        with pytest.raises(ValueError):
            tcgemm.matmul(*bad)
    with pytest.raises(TypeError, match="bring both to one package"):
        tcgemm.matmul(a, np.ones((2, 2), np.float32))
