"""Rung: data-parallel kernels with the same bits on every device, for the arrays of Python.

What comes in goes out: NumPy, CuPy, PyTorch and JAX arrays are taken without a copy (by the buffer
protocol, DLPack or the CUDA array interface), and results are arrays of the same library, on the
same device; on a GPU they are computed asynchronously on the library's current stream. Arrays of
other makers give `rung.Array`.

Every function takes

device:  None: where the arrays are. "cpu", "cuda", "cuda:0", "sim" (the simulated GPU), "auto", or
         a `rung.Context`: host arrays are computed there and come back.
rung:    a rung's name, as `rung.ladder(operation)` lists it; None: the best one whose results have
         the same bits everywhere.
threads: of the CPU; 0: as many as the process may use.
math:    None or "strict": the same bits everywhere; "fast": within a stated error bound, where a
         rung has one (docs/NUMERICS.md); "fixed": products in fixed point (docs/FIXED.md).
stream:  the CUDA stream to work on: an integer, or an object of CuPy, PyTorch or CUDA Python.

Python's lock is released while librung computes.

>>> import numpy as np, rung
>>> rung.sum(np.arange(5))
10
"""

try:
    from ._rung import (Array, Context, Error, bincount, cummax, cummin, cumsum, histogram, matmul,
                        max, mean, min, operations, sum)
    from ._rung import version as __version__
except ImportError as error:
    raise ImportError(f"{error}; expected: librung of the version of this package, beside it, "
                      "installed, or in a folder of LD_LIBRARY_PATH") from error
from . import _libraries  # a first call imports nothing: there may be no memory left for it
from ._filters import convolve, correlate
from ._grids import radiator, stencil
from ._pairs import RDF, pair_histogram, rdf
from ._records import Ladder, Record, bench, devices, explain, ladder

__all__ = ["Array", "Context", "Error", "Ladder", "RDF", "Record", "bench", "bincount", "convolve",
           "correlate", "cummax", "cummin", "cumsum", "devices", "explain", "histogram", "ladder",
           "matmul", "max", "mean", "min", "operations", "pair_histogram", "radiator", "rdf",
           "stencil", "sum"]
