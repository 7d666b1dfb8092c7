"""Types, shapes, scalars, out: what is computed, against NumPy in float64 and whole numbers."""

import numpy as np
import pytest
import tcgemm

ml_dtypes = pytest.importorskip("ml_dtypes")

TYPES = {  # type: dtype of a, of b, of the result
    "f64_f64": (np.float64, np.float64, np.float64),
    "f32_f32": (np.float32, np.float32, np.float32),
    "tf32_f32": (np.float32, np.float32, np.float32),
    "f16_f16": (np.float16, np.float16, np.float16),
    "f16_f32": (np.float16, np.float16, np.float32),
    "bf16_bf16": (ml_dtypes.bfloat16, ml_dtypes.bfloat16, ml_dtypes.bfloat16),
    "bf16_f32": (ml_dtypes.bfloat16, ml_dtypes.bfloat16, np.float32),
    "e4m3_bf16": (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16),
    "e4m3_f32": (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fn, np.float32),
    "e5m2_bf16": (ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2, ml_dtypes.bfloat16),
    "e5m2_f32": (ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2, np.float32),
    "s8_s32": (np.int8, np.int8, np.int32),
    "u8_s32": (np.uint8, np.uint8, np.int32),
    "u8s8_s32": (np.uint8, np.int8, np.int32),
    "s8u8_s32": (np.int8, np.uint8, np.int32),
}
DEFAULTS = ("f64_f64 f32_f32 f16_f16 bf16_bf16 e4m3_bf16 e5m2_bf16 s8_s32 u8_s32 u8s8_s32 s8u8_s32").split()


def whole(rng, shape, dtype):
    """Small whole numbers, which every dtype holds and whose products are exact."""
    return rng.integers(0 if np.dtype(dtype) == np.uint8 else -2, 3, shape).astype(dtype)


def test_every_type_is_here():
    packed = {"s4_s32", "u4_s32", "b1_s32"}
    assert {x["name"] for x in tcgemm.types()} == set(TYPES) | packed


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 7), (17, 33, 9)])
def test_types(name, shape):
    m, n, k = shape
    rng = np.random.default_rng(1)
    of_a, of_b, of_d = TYPES[name]
    a, b = whole(rng, (m, k), of_a), whole(rng, (k, n), of_b)
    for named in [name] + [None] * (name in DEFAULTS):
        d = tcgemm.matmul(a, b, type=named)
        assert type(d) is np.ndarray and d.dtype == of_d and d.shape == (m, n)
        np.testing.assert_array_equal(d.astype(float), a.astype(float) @ b.astype(float))
        assert tcgemm.verify(a, b, d, type=named)


@pytest.mark.parametrize("name", ["bf16_bf16", "bf16_f32", "e4m3_bf16", "e5m2_f32"])
def test_raw_bits(name):
    """uint16 and uint8 stand for the bits; a bf16 result then is uint16, too."""
    rng = np.random.default_rng(2)
    of_a, of_b, of_d = TYPES[name]
    a, b = whole(rng, (4, 6), of_a), whole(rng, (6, 5), of_b)
    raw = "u2" if of_a == ml_dtypes.bfloat16 else "u1"
    d = tcgemm.matmul(a.view(raw), b.view(raw), type=name)
    assert d.dtype == (np.uint16 if of_d == ml_dtypes.bfloat16 else of_d)
    np.testing.assert_array_equal(d.view(of_d).astype(float), a.astype(float) @ b.astype(float))
    out = np.empty((4, 5), d.dtype)
    assert tcgemm.matmul(a.view(raw), b.view(raw), type=name, out=out) is out
    np.testing.assert_array_equal(out, d)


def pack(x, bits):
    """Whole numbers as packed elements, row after row without gaps."""
    flat = np.asarray(x).reshape(-1).astype(np.int64) & ((1 << bits) - 1)
    flat = np.concatenate([flat, np.zeros(-len(flat) % (8 // bits), np.int64)]).reshape(-1, 8 // bits)
    return (flat << (bits * np.arange(8 // bits))).sum(1).astype(np.uint8)


@pytest.mark.parametrize("name, bits, low, high", [("s4_s32", 4, -8, 8), ("u4_s32", 4, 0, 16), ("b1_s32", 1, 0, 2)])
@pytest.mark.parametrize("shape", [(8, 16, 24), (3, 5, 7), (1, 9, 1), (0, 4, 3)])
def test_packed_elements(name, bits, low, high, shape):
    m, n, k = shape
    rng = np.random.default_rng(3)
    a, b = rng.integers(low, high, (m, k)), rng.integers(low, high, (k, n))
    pa, pb = pack(a, bits), pack(b, bits)
    d = tcgemm.matmul(tcgemm.Packed(pa, (m, k), name[:2]), tcgemm.Packed(pb, (k, n), name[:2]))
    np.testing.assert_array_equal(d, a @ b)
    if k % 8 == 0 and n % 8 == 0:  # rows that begin on a byte: arrays of bytes tell the shape
        per_byte = 8 // bits
        da = tcgemm.matmul(pa.reshape(m, k // per_byte), pb.reshape(k, n // per_byte), type=name)
        np.testing.assert_array_equal(da, a @ b)
        wide = np.zeros((m, k // per_byte + 3), np.uint8)
        wide[:, : k // per_byte] = pa.reshape(m, -1)
        np.testing.assert_array_equal(
            tcgemm.matmul(wide[:, : k // per_byte], pb.reshape(k, -1), type=name), a @ b
        )
    if name == "b1_s32":
        d = tcgemm.matmul(tcgemm.Packed(pa, (m, k), "b1"), tcgemm.Packed(pb, (k, n), "b1"), xor=True)
        np.testing.assert_array_equal(d, (a[:, :, None] ^ b[None]).sum(1))


def test_packed_that_is_not():
    with pytest.raises(ValueError, match="5 elements of 4 bits need 3"):
        tcgemm.Packed(bytes(2), (1, 5), "u4")
    with pytest.raises(ValueError, match="packed elements are"):
        tcgemm.Packed(bytes(2), (1, 2), "u8")
    with pytest.raises(ValueError, match="no memory holds it"):
        tcgemm.Packed(bytes(2), (1 << 40, 1 << 40), "u4")
    with pytest.raises(TypeError):
        tcgemm.Packed(3, (1, 2), "u4")


SHAPES = [
    ((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((6, 1, 2, 3), (5, 3, 4)), ((6, 5, 2, 3), (1, 3, 4)),
    ((7, 1, 2, 2), (1, 5, 2, 2)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,)), ((2, 1, 3, 1, 2, 3), (4, 1, 5, 3, 2)),
    ((0, 3), (3, 4)), ((2, 0), (0, 4)), ((2, 3), (3, 0)), ((0, 2, 3), (3, 4)), ((5, 2, 0), (0, 4)), ((0,), (0,)),
    ((0, 1, 2, 3), (4, 3, 2)),
]


@pytest.mark.parametrize("sa, sb", SHAPES)
def test_shapes(sa, sb):
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal(sa), rng.standard_normal(sb)
    expected = np.matmul(a, b)
    for _ in range(3):  # the third call takes the short way
        d = tcgemm.matmul(a, b)
        assert d.shape == expected.shape and d.dtype == np.float64
        np.testing.assert_allclose(d, expected, rtol=1e-13, atol=1e-14)
    out = np.full(expected.shape, np.nan)
    assert tcgemm.matmul(a, b, out=out) is out
    np.testing.assert_array_equal(out, d)
    assert tcgemm.verify(a, b, d)


@pytest.mark.parametrize("sa, sb, says", [
    ((2, 3), (2, 3), "a is 2 x 3 and b is 2 x 3: 3 columns do not meet 2 rows"),
    ((3,), (4,), "a is 1 x 3 and b is 4 x 1"),
    ((2, 2, 3), (3, 3, 4), "a has 2 matrices where b has 3"),
    ((), (3, 4), "a has no axes"),
    ((3, 4), (), "b has no axes"),
])
def test_shapes_that_do_not_fit(sa, sb, says):
    with pytest.raises(ValueError, match=says):
        tcgemm.matmul(np.zeros(sa, np.float32), np.zeros(sb, np.float32))


def test_broadcast_copies_nothing():
    """A batch of ten thousand that is one matrix: it would take 80 MB, and the warning is an error here."""
    a = np.ones((10_000, 1, 4))
    b = np.broadcast_to(np.eye(4), (10_000, 4, 4))
    assert b.strides[0] == 0
    np.testing.assert_array_equal(tcgemm.matmul(a, b), a)
    few, many = np.ones((100, 1, 2, 4)), np.ones((1, 50, 4, 3))
    np.testing.assert_array_equal(tcgemm.matmul(few, many), np.full((100, 50, 2, 3), 4.0))


def test_scalars_and_c():
    rng = np.random.default_rng(5)
    a, b, c = (rng.standard_normal(s) for s in ((3, 4), (4, 5), (3, 5)))
    product = a @ b
    near = lambda d, e: np.testing.assert_allclose(d, e, rtol=1e-12, atol=1e-13)
    near(tcgemm.matmul(a, b, c), product + c)
    near(tcgemm.matmul(a, b, c, alpha=2, beta=-3), 2 * product - 3 * c)
    near(tcgemm.matmul(a, b, c=c, beta=0), product)
    near(tcgemm.matmul(a, b, np.full((3, 5), np.nan), beta=0), product)
    near(tcgemm.matmul(a, b, alpha=0), 0 * product)
    np.testing.assert_array_equal(tcgemm.matmul(a, b, c, alpha=0, beta=1), c)
    d = c.copy()
    assert tcgemm.matmul(a, b, d, out=d) is d  # in place
    near(d, product + c)
    batch = np.stack([c, 2 * c])
    near(tcgemm.matmul(np.stack([a, a]), b, batch), product + batch)
    near(tcgemm.matmul(np.stack([a, a]), b, c), np.stack([product + c] * 2))  # c is shared by the batch
    with pytest.raises(ValueError, match="beta is given, but c is not"):
        tcgemm.matmul(a, b, beta=1)
    whole_numbers = np.ones((2, 2), np.int8)
    assert tcgemm.matmul(whole_numbers, whole_numbers, alpha=3).tolist() == [[6, 6], [6, 6]]
    with pytest.raises(ValueError, match="needs a whole number") as caught:
        tcgemm.matmul(whole_numbers, whole_numbers, alpha=0.5)
    assert caught.value.status == "BAD_SCALAR"


def test_c_is_broadcast_like_a_bias(copies_allowed):
    a, b = np.ones((3, 4), np.float32), np.ones((4, 2), np.float32)
    bias = np.array([10, 20], np.float32)
    np.testing.assert_array_equal(tcgemm.matmul(a, b, bias), a @ b + bias)
    with pytest.raises(ValueError, match="c has shape"):
        tcgemm.matmul(a, b, np.ones((4, 2), np.float32))


def test_transposes():
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((4, 3)), rng.standard_normal((5, 4))
    near = lambda d, e: np.testing.assert_allclose(d, e, rtol=1e-12, atol=1e-13)
    near(tcgemm.matmul(a, b, trans_a=True, trans_b=True), a.T @ b.T)
    near(tcgemm.matmul(a.T, b.T), a.T @ b.T)
    near(tcgemm.matmul(np.stack([a] * 3), b, trans_a=True, trans_b=True), np.stack([a.T @ b.T] * 3))
    with pytest.raises(ValueError, match="a is a vector, which has no transpose"):
        tcgemm.matmul(a[0], b, trans_a=True)


def test_out_is_exact():
    a, b = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    for out, kind, says in [
        (np.zeros((4, 2), np.float32), ValueError, r"out has shape \(4, 2\), but the product has \(2, 4\)"),
        (np.zeros((1, 2, 4), np.float32), ValueError, "out has shape"),
        (np.zeros((2, 4)), TypeError, "out is float64, but type f32_f32 makes float32"),
        (np.zeros((2, 4), np.int32), TypeError, "out is int32"),
    ]:
        before = out.copy()
        with pytest.raises(kind, match=says):
            tcgemm.matmul(a, b, out=out)
        np.testing.assert_array_equal(out, before)
    readonly = np.zeros((2, 4), np.float32)
    readonly.flags.writeable = False
    for _ in range(3):
        with pytest.raises(ValueError, match="out is read-only"):
            tcgemm.matmul(a, b, out=readonly)
    with pytest.raises(ValueError, match="out is read-only"):
        tcgemm.matmul(memoryview(bytes(4)).cast("B", (2, 2)), memoryview(bytes(4)).cast("B", (2, 2)),
                      out=memoryview(bytes(16)).cast("B").cast("i", (2, 2)))


def test_out_overlaps():
    x = np.ones((4, 4), np.float32)
    for _ in range(3):
        with pytest.raises(ValueError, match="D overlaps A") as caught:
            tcgemm.matmul(x, np.eye(4, dtype=np.float32), out=x)
        assert caught.value.status == "OVERLAP"
    np.testing.assert_array_equal(x, np.ones((4, 4)))
    batch = np.ones((6, 2, 4, 4))
    with pytest.raises(ValueError, match="out overlaps b"):
        tcgemm.matmul(np.ones((6, 1, 4, 4)), batch, out=batch)
    with pytest.raises(ValueError, match="out overlaps itself"):
        shared = np.lib.stride_tricks.as_strided(np.zeros((4, 4)), (3, 4, 4), (0, 32, 8))
        tcgemm.matmul(np.ones((3, 4, 4)), np.eye(4), out=shared)
    halves = np.ones((8, 16))
    tcgemm.matmul(halves[:, :8], np.eye(8) * 2, out=halves[:, 8:])  # beside each other: no overlap
    np.testing.assert_array_equal(halves[:, 8:], np.full((8, 8), 2.0))


@pytest.mark.parametrize("a, b, says", [
    (np.zeros((2, 2), np.float32), np.zeros((2, 2)), "a is float32 and b is float64"),
    (np.zeros((2, 2), complex), np.zeros((2, 2), complex), "complex128"),
    (np.zeros((2, 2), bool), np.zeros((2, 2), bool), "a is bool"),
    (np.zeros((2, 2), ">f4"), np.zeros((2, 2), ">f4"), ">f4"),
    (np.zeros((2, 2), np.int64), np.zeros((2, 2), np.int64), "int64"),
    (np.zeros((2, 2), np.uint16), np.zeros((2, 2), np.uint16), "bits of 16 need type="),
    (np.zeros((2, 2), object), np.zeros((2, 2), object), "object"),
    ([[1.0]], [[1.0]], "a is a list, not an array"),
    (np.zeros((2, 2)), 3.0, "b is a float, not an array"),
    (np.ma.zeros((2, 2)), np.zeros((2, 2)), "a is a MaskedArray, not an array"),
    (np.zeros((2, 2), np.uint8), memoryview(bytes(4)).cast("B", (2, 2)), "bring both to one package"),
])
def test_operands_that_are_refused(a, b, says):
    with pytest.raises(TypeError, match=says):
        tcgemm.matmul(a, b)


def test_arguments():
    a = np.ones((2, 2), np.float32)
    for options, kind, says in [
        ({"types": "f32_f32"}, TypeError, r"matmul\(\) has no keyword argument 'types'"),
        ({"type": "f32"}, TypeError, "f32_f32"),
        ({"type": 3}, TypeError, "type is 3, not a name"),
        ({"alpha": "2"}, TypeError, "alpha is '2', not a real number"),
        ({"trans_a": 1}, TypeError, "trans_a is 1, not True or False"),
        ({"threads": 0}, ValueError, "threads is 0, not within 1 .. 4095"),
        ({"threads": 2.0}, TypeError, "threads is 2.0, not a whole number"),
        ({"device": "gpu"}, ValueError, "use \"cpu\""),
        ({"device": "cuda"}, tcgemm.DeviceError, "GPU 0"),
        ({"device": 5}, tcgemm.DeviceError, "GPU 5"),
        ({"algo": "magic"}, ValueError, "unknown algo 'magic'"),
        ({"kernel": "none"}, ValueError, "none"),
        ({"tile": "1x2"}, ValueError, "1x2"),
        ({"accuracy": "low"}, ValueError, "accuracy is 'low'"),
        ({"accuracy": "fast"}, ValueError, "e4m3_"),
        ({"xor": True}, ValueError, "b1_s32"),
        ({"stream": "x"}, TypeError, "stream is 'x'"),
        ({"gpu": "h200"}, TypeError, "no keyword argument 'gpu'"),
    ]:
        with pytest.raises(kind, match=says):
            tcgemm.matmul(a, a, **options)
    with pytest.raises(TypeError, match="not 1 arrays"):
        tcgemm.matmul(a)
    with pytest.raises(TypeError, match="not 4 arrays"):
        tcgemm.matmul(a, a, a, a)
    with pytest.raises(TypeError, match="got 'c' twice"):
        tcgemm.matmul(a, a, a, c=a)


def test_options_that_are_taken():
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal((40, 40)).astype(np.float32) for _ in range(2))
    expected = a.astype(float) @ b
    for options in [{"threads": 1}, {"threads": 2}, {"device": "cpu"}, {"algo": "reference"}, {"algo": "cpu"},
                    {"reproducible": True}, {"type": "tf32_f32"}, {"accuracy": "full"}]:
        d = tcgemm.matmul(a, b, **options)
        np.testing.assert_allclose(d, expected, rtol=1e-2 if "type" in options else 1e-4, atol=0.1)
    eights = [np.full((3, 3), 0x38, np.uint8)] * 2  # e4m3: 1
    np.testing.assert_array_equal(tcgemm.matmul(*eights, type="e4m3_f32", accuracy="fast"), np.full((3, 3), 3.0))
    rows = tcgemm.matmul(a, b, reproducible=True)
    np.testing.assert_array_equal(tcgemm.matmul(a[7:8], b, reproducible=True)[0], rows[7])


def test_buffers_without_numpy():
    import array
    import mmap

    left = memoryview(array.array("d", [1, 2, 3, 4])).cast("B").cast("d", (2, 2))
    d = tcgemm.matmul(left, left)
    assert type(d) is tcgemm.Array and d.shape == (2, 2) and d.dtype == "float64" and d.nbytes == 32
    assert d.tolist() == [[7.0, 10.0], [15.0, 22.0]]
    assert tcgemm.matmul(d, d).tolist() == [[199.0, 290.0], [435.0, 634.0]]
    assert tcgemm.matmul(array.array("f", [1, 2]), array.array("f", [3, 4])).tolist() == 11.0
    page = mmap.mmap(-1, 64)
    page[:4] = bytes([1, 2, 3, 4])
    bytes_of = memoryview(page)[:4].cast("B", (2, 2))
    assert tcgemm.matmul(bytes_of, bytes_of).tolist() == [[7, 10], [15, 22]]
    bytes_of.release()
    page.close()  # raises if an export of it were left over
    bits = memoryview(array.array("H", [0x3F80, 0x4000])).cast("B").cast("H", (1, 2))
    d = tcgemm.matmul(bits, memoryview(array.array("H", [0x3F80, 0x4000])).cast("B").cast("H", (2, 1)), type="bf16_bf16")
    assert d.dtype == "bfloat16" and np.asarray(d).dtype == ml_dtypes.bfloat16 and float(np.asarray(d)[0, 0]) == 5.0
    with pytest.raises(BufferError, match="bfloat16 has no buffer format"):
        memoryview(d)


def _activated(name, x):
    """In f64, from the formulas."""
    from math import erf

    x = np.asarray(x, np.float64)
    gate = x + 0.044715 * x**3
    return {
        "none": x,
        "relu": np.maximum(x, 0),
        "gelu": x * 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2))),
        "gelu_tanh": x * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * gate)),
        "silu": x / (1 + np.exp(-x)),
        "sigmoid": 1 / (1 + np.exp(-x)),
        "tanh": np.tanh(x),
    }[name]


def test_bias_and_activation():
    rng = np.random.default_rng(3)
    a, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((5, 7), (7, 11), (5, 11)))
    bias = rng.standard_normal(11).astype(np.float32)
    for name in ("none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"):
        x = a.astype(np.float64) @ b + bias
        np.testing.assert_allclose(tcgemm.matmul(a, b, bias=bias, activation=name), _activated(name, x), rtol=1e-5, atol=1e-5)
    d = tcgemm.matmul(a, b, c, alpha=2, beta=-1, bias=bias)
    np.testing.assert_allclose(d, 2.0 * a @ b - c + bias, rtol=1e-4, atol=1e-5)
    out = np.empty((11, 5), np.float32).T  # by columns: the bias is still one number for each column
    assert tcgemm.matmul(a, b, out=out, bias=bias, activation="relu") is out
    np.testing.assert_allclose(out, np.maximum(a @ b + bias, 0), rtol=1e-4, atol=1e-5)
    many = rng.standard_normal((3, 5, 7)).astype(np.float32)
    np.testing.assert_allclose(tcgemm.matmul(many, b, bias=bias), many @ b + bias, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(tcgemm.matmul(a[0], b, bias=bias), a[0] @ b + bias, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(tcgemm.matmul(a, b), a @ b, rtol=1e-4, atol=1e-5)  # and nothing stays behind
    plan = tcgemm.plan(a, b)
    np.testing.assert_allclose(plan(a, b, bias=bias, activation="tanh"), np.tanh(a @ b + bias), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(plan(a, b), a @ b, rtol=1e-4, atol=1e-5)
    i = rng.integers(-9, 9, (4, 6)).astype(np.int8)
    whole = np.array([-100, 0, 5, 70], np.int32)
    x = i.astype(np.int32) @ i.T.astype(np.int32) + whole
    np.testing.assert_array_equal(tcgemm.matmul(i, i.T, bias=whole, activation="relu"), np.maximum(x, 0))
    report = tcgemm.verify(a, b, tcgemm.matmul(a, b, bias=bias, activation="gelu"), bias=bias, activation="gelu")
    assert report.num_wrong == 0 and report.num_checked == 55
    assert tcgemm.verify(a, b, tcgemm.matmul(a, b), bias=bias).num_wrong > 0


def test_bias_and_activation_refused():
    a, out = np.ones((3, 3), np.float32), np.full((3, 3), 7, np.float32)
    with pytest.raises(ValueError, match="activation is 'swish': the library knows"):
        tcgemm.matmul(a, a, out=out, activation="swish")
    with pytest.raises(TypeError, match="activation is 3, not a name"):
        tcgemm.matmul(a, a, out=out, activation=3)
    with pytest.raises(ValueError, match="bias has 1 dimensions of another length, not one of 3 elements"):
        tcgemm.matmul(a, a, out=out, bias=np.ones(4, np.float32))
    with pytest.raises(ValueError, match="bias has 2 dimensions, not one"):
        tcgemm.matmul(a, a, out=out, bias=a)
    with pytest.raises(TypeError, match="bias is float64, but type f32_f32 takes float32 there"):
        tcgemm.matmul(a, a, out=out, bias=np.ones(3))
    with pytest.raises(ValueError, match="bias must be contiguous"):
        tcgemm.matmul(a, a, out=out, bias=a[:, 0])
    with pytest.raises(ValueError, match="activation gelu is for floating-point types"):
        tcgemm.matmul(a.astype(np.int8), a.astype(np.int8), activation="gelu")
    assert (out == 7).all()


def test_what_no_kernel_serves_yet():
    """Known by name, and refused in the library's words, whatever else the call says."""
    a, out = np.ones((3, 3), np.float32), np.full((3, 3), 7, np.float32)
    for options, field in (({"scale_a": a[0]}, "row_scale"), ({"scale_b": 2.0}, "col_scale")):
        for call in (lambda: tcgemm.matmul(a, a, out=out, **options), lambda: tcgemm.plan(a, a, **options)):
            with pytest.raises(ValueError, match=f"data->{field} is set, but no kernel serves it yet") as caught:
                call()
            assert caught.value.status == "UNSUPPORTED"
    assert tcgemm.matmul(a, a, out=out, bias=None, activation=None, scale_a=None, scale_b=None) is out and (out == 3).all()
