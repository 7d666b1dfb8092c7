"""Arrays on a GPU: the module with the CUDA back end on the driver of tests/fake_driver, whose memory lies behind
pages that nobody may touch and whose streams run only when somebody waits. What kernels compute is proved elsewhere."""

import ctypes as c
import os

import numpy as np
import pytest

if "TCGEMM_FAKE_DRIVER" not in os.environ:
    pytest.skip("this is for the module built on the fake driver", allow_module_level=True)
cuda = c.CDLL(os.environ["TCGEMM_FAKE_DRIVER"], mode=c.RTLD_GLOBAL)  # before the library looks for a driver
cuda.fake_reach.restype = c.c_void_p
cuda.fake_count.restype = c.c_long
os.environ.pop("CUDA_VISIBLE_DEVICES", None)

import foreign
import tcgemm

STREAMS = []


def check(result):
    assert result == 0, f"CUDA error {result}"


def context():
    if not STREAMS:
        check(cuda.cuInit(0))
        made = c.c_void_p()
        check(cuda.cuDevicePrimaryCtxRetain(c.byref(made), 0))
        check(cuda.cuCtxPushCurrent_v2(made))
        STREAMS.append(None)


def new_stream():
    context()
    stream = c.c_void_p()
    check(cuda.cuStreamCreate(c.byref(stream), 1))  # not blocking the default stream
    STREAMS.append(stream)
    return stream


def reach(address, shape):
    """Memory of the GPU as an array of the host, behind the queue's back."""
    count = shape[0] * shape[1]
    host = cuda.fake_reach(c.c_void_p(address.value), c.c_size_t(4 * count))
    return np.ctypeslib.as_array((c.c_float * count).from_address(host)).reshape(shape)


def wait(stream=None):
    check(cuda.cuStreamSynchronize(stream))


class OnGpu(foreign.Foreign):
    """A float32 matrix on the GPU, by DLPack."""

    def __init__(self, values, **options):
        context()
        values = np.ascontiguousarray(values, np.float32)
        super().__init__([[0.0] * values.shape[1]] * values.shape[0], device=foreign.CUDA, **options)
        self.numbers = values.shape
        self.address = c.c_uint64()
        check(cuda.cuMemAlloc_v2(c.byref(self.address), c.c_size_t(values.nbytes)))
        reach(self.address, values.shape)[...] = values

    def tensor(self):
        tensor = super().tensor()
        tensor.data = self.address.value
        return tensor

    def numpy(self, stream=None):
        wait(stream)
        return reach(self.address, self.numbers).copy()


class ByInterface:
    def __init__(self, array, stream=None):
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.numbers, "typestr": "<f4", "data": (array.address.value, False), "version": 3, "stream": stream
        }


RNG = np.random.default_rng(0)
A, B = RNG.integers(-3, 4, (40, 24)).astype(np.float32), RNG.integers(-3, 4, (24, 32)).astype(np.float32)


def test_the_gpu_is_there():
    assert len(tcgemm.devices()) == 1 and tcgemm.devices()[0]["num_kernels"] > 0
    assert tcgemm.info()["device_reason"] == ""


def test_dlpack_in_the_default_stream():
    a, b, out = OnGpu(A), OnGpu(B), OnGpu(np.zeros((40, 32)))
    for _ in range(3):
        assert tcgemm.matmul(a, b, out=out) is out
    np.testing.assert_array_equal(out.numpy(), A @ B)
    assert a.streams == [1, 1, 1] and a.exported == a.deleted == 3 and out.exported == out.deleted == 3
    tcgemm.matmul(a, b, out, alpha=2, beta=3, out=out)
    np.testing.assert_array_equal(out.numpy(), 2 * (A @ B) + 3 * (A @ B))
    assert tcgemm.matmul(a, b, out=out, trans_a=False) is out


def test_a_stream_of_the_callers():
    """The product is done when that stream is, and no earlier: nobody waited."""
    stream = new_stream()
    a, b, out = OnGpu(A), OnGpu(B), OnGpu(np.full((40, 32), 7.0))
    check(cuda.cuCtxSynchronize())
    plan = tcgemm.plan(a, b)
    before = cuda.fake_count(b"cuStreamSynchronize") + cuda.fake_count(b"cuCtxSynchronize")
    tcgemm.matmul(a, b, out=out, stream=stream.value)
    plan(a, b, out=out, stream=stream.value)
    assert cuda.fake_count(b"cuStreamSynchronize") + cuda.fake_count(b"cuCtxSynchronize") == before
    assert a.streams[-2:] == [stream.value] * 2
    np.testing.assert_array_equal(out.numpy(stream), A @ B)

    class Stream:
        def __cuda_stream__(self):
            return 0, stream.value

    tcgemm.matmul(a, b, out=out, alpha=2, stream=Stream())
    np.testing.assert_array_equal(out.numpy(stream), 2 * (A @ B))


def test_cuda_array_interface():
    a, b, out = OnGpu(A), OnGpu(B), OnGpu(np.zeros((40, 32)))
    tcgemm.matmul(ByInterface(a), ByInterface(b), out=ByInterface(out))
    np.testing.assert_array_equal(out.numpy(), A @ B)
    tcgemm.matmul(ByInterface(a, 1), ByInterface(b, 1), out=ByInterface(out, 1), alpha=2)
    np.testing.assert_array_equal(out.numpy(), 2 * (A @ B))
    stream = new_stream()
    same = [ByInterface(x, stream.value) for x in (a, b, out)]
    tcgemm.matmul(*same[:2], out=same[2], stream=stream.value)
    np.testing.assert_array_equal(out.numpy(stream), A @ B)
    with pytest.raises(BufferError, match="in use by stream"):
        tcgemm.matmul(*same[:2], out=same[2])


def test_what_a_gpu_product_refuses():
    a, b, out = OnGpu(A), OnGpu(B), OnGpu(np.zeros((40, 32)))
    with pytest.raises(ValueError, match="different devices"):
        tcgemm.matmul(a, type("OnHost", (foreign.Foreign,), {"__module__": __name__})(B.tolist()))
    with pytest.raises(BufferError, match="lies on a GPU; make it contiguous"):
        tcgemm.matmul(OnGpu(A, strides=(48, 2)), b, out=out)
    with pytest.raises(ValueError, match="D overlaps A"):
        square = OnGpu(np.eye(24))
        tcgemm.matmul(square, square, out=square)
    with pytest.raises(ValueError, match="CPU"):
        tcgemm.matmul(a, b, out=out, device="cpu")
    with pytest.raises(tcgemm.DeviceError, match="GPU 3"):
        tcgemm.matmul(a, b, out=out, device=3)
    np.testing.assert_array_equal(out.numpy(), np.zeros((40, 32)))
    assert a.exported == a.deleted and b.exported == b.deleted and out.exported == out.deleted


def test_host_arrays_by_way_of_the_gpu():
    np.testing.assert_array_equal(tcgemm.matmul(A, B, device="cuda"), A @ B)
    np.testing.assert_array_equal(tcgemm.matmul(A, B, device=0, algo="simt-outer"), A @ B)
    batch = np.stack([A, 2 * A])
    np.testing.assert_array_equal(tcgemm.matmul(batch, B, device="cuda:0"), batch @ B)
    plan = tcgemm.plan(A, B, device=0)
    assert plan.info["device_index"] == 0
    for _ in range(3):
        np.testing.assert_array_equal(plan(A, B), A @ B)
    assert tcgemm.verify(A, B, tcgemm.matmul(A, B, device=0))


def test_exchange_table_on_the_gpu():
    """The table says the stream, and results are allocated by it on the same GPU."""
    stream = new_stream()
    fast = foreign.exchange_class()

    class Fast(OnGpu):
        pass

    made = []

    def allocate(prototype, out, context_, set_error):
        assert prototype[0].device_type == foreign.CUDA and prototype[0].device_id == 0
        made.append(Fast(np.zeros((prototype[0].shape[0], prototype[0].shape[1]))))
        out[0] = made[-1].managed()
        return 0

    def to_object(managed, out):
        foreign.api.Py_IncRef(c.py_object(made[-1]))
        out[0] = id(made[-1])
        return 0

    def current(device_type, device_id, out):
        out[0] = stream.value
        return 0

    functions = foreign.ALLOCATE(allocate), foreign.TO_OBJECT(to_object), foreign.STREAM(current)
    table = foreign.Table(
        header=fast.table.header, allocate=functions[0], from_object=fast.table.from_object, to_object=functions[1],
        view_object=fast.table.view_object, current_stream=functions[2],
    )
    Fast.__dlpack_c_exchange_api__ = foreign.api.PyCapsule_New(c.addressof(table), b"dlpack_exchange_api", None)
    a, b = Fast(A), Fast(B)
    out, plan = Fast(np.zeros((40, 32))), tcgemm.plan(a, b)
    for turn in range(6):  # from the fourth one on by the short way
        reach(a.address, A.shape)[...] = A + turn
        d = tcgemm.matmul(a, b)
        assert type(d) is Fast
        tcgemm.matmul(a, b, out=out)
        made_by_plan = plan(a, b)
        np.testing.assert_array_equal(d.numpy(stream), (A + turn) @ B)
        np.testing.assert_array_equal(out.numpy(stream), (A + turn) @ B)
        np.testing.assert_array_equal(made_by_plan.numpy(stream), (A + turn) @ B)


def test_a_forked_child():
    """It has no GPU, says so, and computes on the CPU."""
    a, b, out = OnGpu(A), OnGpu(B), OnGpu(np.zeros((40, 32)))
    tcgemm.matmul(a, b, out=out)
    wait()
    pid = os.fork()
    if pid == 0:
        fine = bool((tcgemm.matmul(A, B) == A @ B).all())
        try:
            tcgemm.matmul(a, b, out=out)
            fine = False
        except tcgemm.DeviceError as error:
            fine = fine and error.status == "AFTER_FORK"
        finally:
            os._exit(0 if fine else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_nothing_is_left():
    """The driver has seen nothing that CUDA would refuse."""
    check(cuda.cuCtxSynchronize())
    assert cuda.fake_complaints() == 0
