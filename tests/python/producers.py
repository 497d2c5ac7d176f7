"""Makers of DLPack capsules that do what they are told, also what no maker should do."""
import ctypes


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32),
                ("dtype", Type), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Plain(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("context", ctypes.c_void_p), ("deleter", DELETER), ("flags", ctypes.c_uint64),
                ("tensor", Tensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Producer:
    """A row of float32 1, 2, 3 ... by DLPack alone; counts how often it was deleted."""

    def __init__(self, shape=(3,), strides=None, offset=0, version=None, flags=0, name=None,
                 dtype=(2, 32, 1), device=(1, 0), says=None, ndim=None, data=True):
        count = 64
        self.values = (ctypes.c_float * count)(*range(1, count + 1))
        self.shape = shape and (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self.strides = strides and (ctypes.c_int64 * len(strides))(*strides)
        self.deleted, self.asked = 0, []
        self.device = device if says is None else says
        tensor = Tensor(ctypes.addressof(self.values) if data else None, Device(*device),
                        len(shape) if ndim is None else ndim, Type(*dtype), self.shape or None,
                        self.strides or None, offset)
        self.deleter = DELETER(self.delete)
        self.version = version
        if version is None:
            self.managed = Plain(tensor, None, self.deleter)
        else:
            self.managed = Versioned(version, 0, None, self.deleter, flags, tensor)
        self.name = name or (b"dltensor" if version is None else b"dltensor_versioned")

    def delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        self.asked.append(options)
        if self.version is None and "max_version" in options:
            raise TypeError("no max_version in those days")
        return new_capsule(ctypes.addressof(self.managed), self.name, None)


class Exchange(ctypes.Structure):
    """The functions in C that a type of arrays may have beside __dlpack__()."""


EXPORT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
VIEW = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor))
CURRENT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32,
                            ctypes.POINTER(ctypes.c_void_p))
Exchange._fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                     ("before", ctypes.POINTER(Exchange)), ("allocate", ctypes.c_void_p),
                     ("export", EXPORT), ("to_object", ctypes.c_void_p),
                     ("view", ctypes.c_void_p), ("current_stream", CURRENT)]


def exchanging(status=0, nothing=False, versions=(1,), name=b"dlpack_exchange_api", view=False):
    """A type of producers with such functions, which count in `exported` how often they were asked;
    where `view`, with the one that only shows an array, counted in `viewed`."""
    def export(address, made):
        array = ctypes.cast(address, ctypes.py_object).value
        array.exported += 1
        if not nothing:
            made[0] = ctypes.addressof(array.managed)
        return status

    def show(address, to):
        array = ctypes.cast(address, ctypes.py_object).value
        array.viewed += 1
        to[0] = array.managed.tensor
        return status

    def current_stream(kind, index, stream):
        return -1  # nobody asks of the host's memory
    functions = EXPORT(export), CURRENT(current_stream), VIEW(show) if view else None
    tables = []
    for version in versions:  # the newest last
        before = ctypes.pointer(tables[-1]) if tables else None
        shown = ctypes.cast(functions[2], ctypes.c_void_p) if view else None
        tables.append(Exchange(version, 3, before, None, functions[0], None, shown, functions[1]))

    class Quick(Producer):
        alive = functions, tables
        exported = viewed = 0
        __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(tables[-1]), name, None)
    return Quick
