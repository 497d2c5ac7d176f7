"""python.py LIBRUNG: the library loaded into Python by ctypes after NumPy, and after PyTorch where
that is installed, from two threads."""
import ctypes
import sys
import threading
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "python"))
from producers import Device, Tensor, Type  # noqa: E402

try:
    import numpy
except ImportError:
    print("numpy is not there: install python3-numpy")
    sys.exit(77)
numpy.linalg.svd(numpy.ones((50, 50)))  # its own threads and libraries are up
loaded = f"numpy {numpy.__version__}"
try:
    import torch
    torch.linalg.svd(torch.ones((50, 50)))
    loaded += f", torch {torch.__version__}"
except ImportError:
    pass


def tensor(array):
    integers = ctypes.c_int64 * array.ndim
    strides = integers(*(s // array.itemsize for s in array.strides))
    return Tensor(array.ctypes.data, Device(1, 0), array.ndim, Type(2, 8 * array.itemsize, 1),
                  integers(*array.shape), strides, 0)


def sums():
    rung = ctypes.CDLL(sys.argv[1])
    rung.rung_last_error.restype = ctypes.c_char_p
    context = ctypes.c_void_p()
    if rung.rung_open(ctypes.byref(context), None) != 0:
        return rung.rung_last_error(context)
    rows = numpy.arange(300.0, dtype=numpy.float32).reshape(3, 100)[:, ::-2]
    out = numpy.zeros(3, numpy.float32)
    if rung.rung_reduce(context, 0, ctypes.byref(tensor(rows)), 1, ctypes.byref(tensor(out)), None):
        return rung.rung_last_error(context)
    rung.rung_close(context)
    return None if (out == rows.sum(1)).all() else f"{out} and not {rows.sum(1)}"


found = []
for turn in range(3):
    thread = threading.Thread(target=lambda: found.append(sums()))
    thread.start()
    thread.join()
    found.append(sums())
if any(found):
    sys.exit(f"numpy: {found}")
print(f"{loaded}: {len(found)} sums, in two threads")
