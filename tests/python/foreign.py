"""Arrays of a package that is not there: DLPack producers made with ctypes, whose deleters are counted."""

import ctypes as c

api = c.pythonapi
api.PyCapsule_New.restype = c.py_object
api.PyCapsule_New.argtypes = [c.c_void_p, c.c_char_p, c.c_void_p]
api.PyCapsule_IsValid.argtypes = [c.py_object, c.c_char_p]

CPU, CUDA, VULKAN = 1, 2, 7
FLOAT32, FLOAT64, COMPLEX64 = (2, 32), (2, 64), (5, 64)


class Tensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("device_type", c.c_int32),
        ("device_id", c.c_int32),
        ("ndim", c.c_int32),
        ("code", c.c_uint8),
        ("bits", c.c_uint8),
        ("lanes", c.c_uint16),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


class Versioned(c.Structure):
    _fields_ = [
        ("major", c.c_uint32),
        ("minor", c.c_uint32),
        ("manager", c.c_void_p),
        ("deleter", c.c_void_p),
        ("flags", c.c_uint64),
        ("tensor", Tensor),
    ]


class Old(c.Structure):
    _fields_ = [("tensor", Tensor), ("manager", c.c_void_p), ("deleter", c.c_void_p)]


DELETER = c.PYFUNCTYPE(None, c.c_void_p)


class Foreign:
    """A float matrix that only speaks DLPack, in the version and with the faults that a test wants."""

    def __init__(self, rows, *, major=1, versioned=True, readonly=False, offset=0, strides=None, tight=False,
                 device=CPU, dtype=FLOAT32, knows_versions=True):
        element = {32: c.c_float, 64: c.c_double}[dtype[1]]
        flat = [0.0] * offset + [x for row in rows for x in row]
        self.memory = (element * len(flat))(*flat)
        self.shape = (c.c_int64 * 2)(len(rows), len(rows[0]) if rows else 0)
        self.strides = (c.c_int64 * 2)(*(strides or (len(rows[0]) if rows else 0, 1)))
        self.major, self.versioned, self.flags = major, versioned, int(readonly)
        self.device, self.kind, self.knows_versions = device, dtype, knows_versions
        self.offset, self.tight = offset * c.sizeof(element), tight
        self.exported = self.deleted = 0
        self.held = []
        self.streams = []
        self.deleter = DELETER(self._delete)

    def _delete(self, _):
        self.deleted += 1

    def tensor(self):
        return Tensor(
            data=c.addressof(self.memory), device_type=self.device, device_id=0, ndim=2, code=self.kind[0],
            bits=self.kind[1], lanes=1, shape=self.shape, strides=None if self.tight else self.strides,
            byte_offset=self.offset,
        )

    def managed(self):
        self.exported += 1
        deleter = c.cast(self.deleter, c.c_void_p)
        made = (
            Versioned(major=self.major, minor=0, deleter=deleter, flags=self.flags, tensor=self.tensor())
            if self.versioned
            else Old(tensor=self.tensor(), deleter=deleter)
        )
        self.held.append(made)
        return c.addressof(made)

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **options):
        if "max_version" in options and not self.knows_versions:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.streams.append(options.get("stream"))
        name = b"dltensor_versioned" if self.versioned else b"dltensor"
        return api.PyCapsule_New(self.managed(), name, None)


class Header(c.Structure):
    pass


Header._fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("previous", c.POINTER(Header))]

ALLOCATE = c.PYFUNCTYPE(c.c_int, c.POINTER(Tensor), c.POINTER(c.c_void_p), c.c_void_p, c.c_void_p)
FROM_OBJECT = c.PYFUNCTYPE(c.c_int, c.py_object, c.POINTER(c.c_void_p))
TO_OBJECT = c.PYFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(c.c_void_p))
VIEW = c.PYFUNCTYPE(c.c_int, c.py_object, c.POINTER(Tensor))
STREAM = c.PYFUNCTYPE(c.c_int, c.c_int32, c.c_int32, c.POINTER(c.c_void_p))


class Table(c.Structure):
    _fields_ = [
        ("header", Header),
        ("allocate", ALLOCATE),
        ("from_object", FROM_OBJECT),
        ("to_object", TO_OBJECT),
        ("view_object", c.c_void_p),
        ("current_stream", STREAM),
    ]


def exchange_class(*, major=1, with_view=True, fails=False, older=None):
    """A class of arrays with an exchange table, and the calls that it got."""
    calls = []

    def allocate(prototype, out, context, set_error):
        calls.append("allocate")
        shape = [prototype[0].shape[i] for i in range(prototype[0].ndim)]
        made = Fast([[0.0] * shape[1] for _ in range(shape[0])])
        made.held.append(made)  # as the object of the tensor, until to_object
        address = made.managed()
        born[address] = made
        out[0] = address
        return 0

    def from_object(x, out):
        calls.append("from_object")
        if fails:
            return -1
        out[0] = x.managed()
        return 0

    def to_object(managed, out):
        calls.append("to_object")
        made = born.pop(managed)
        api.Py_IncRef(c.py_object(made))
        out[0] = id(made)
        return 0

    def view(x, out):
        calls.append("view")
        if fails:
            return -1
        out[0] = x.tensor()
        return 0

    def stream(device_type, device_id, out):
        calls.append("stream")
        out[0] = None
        return 0

    born = {}
    functions = (ALLOCATE(allocate), FROM_OBJECT(from_object), TO_OBJECT(to_object), VIEW(view), STREAM(stream))
    table = Table(
        header=Header(major=major, minor=3, previous=c.pointer(older.header) if older else None),
        allocate=functions[0], from_object=functions[1], to_object=functions[2],
        view_object=c.cast(functions[3], c.c_void_p) if with_view else None, current_stream=functions[4],
    )

    class Fast(Foreign):
        __dlpack_c_exchange_api__ = api.PyCapsule_New(c.addressof(table), b"dlpack_exchange_api", None)
        _kept = (table, functions, older)

    Fast.calls, Fast.table = calls, table
    return Fast
