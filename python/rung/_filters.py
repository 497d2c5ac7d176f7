"""Filters of images."""

from array import array
from operator import index

from . import _rung

_NAMES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant",
          "grid-wrap")


def _edge(mode):
    """SciPy's plain names first: "reflect" is no name of librung's, for it means two things."""
    if not isinstance(mode, str):
        raise TypeError(f"mode is {mode!r}; expected: a name")
    edge = _rung.edge_named(f"scipy:{mode}" if mode in _NAMES else mode)
    if edge is None:
        raise ValueError(f"mode is {mode!r}; expected: {', '.join(_NAMES)}, edge, mirror-edge, or "
                         "a name with its library's, such as opencv:reflect101")
    return edge


def _origins(origin):
    try:
        pair = (index(origin),) * 2
    except TypeError:
        pair = tuple(origin)
    if len(pair) != 2:
        raise ValueError(f"origin is {origin!r}; expected: a number, or one for rows and one for "
                         "columns")
    return pair


def _slices(region):
    if region is None:
        return None, None
    if isinstance(region, slice):
        return region, None
    try:
        rows, columns = region
    except (TypeError, ValueError):
        raise TypeError(f"region is {region!r}; expected: a slice of rows and one of "
                        "columns") from None
    return rows, columns


def _shape_of(values):
    if not isinstance(values, (list, tuple)):
        return ()
    inner = {_shape_of(row) for row in values}
    if len(inner) > 1:
        raise ValueError(f"kernel is {values!r}; expected: rows of one length")
    return (len(values), *(inner.pop() if inner else ()))


def _kernel(kernel):
    """An array as it is; of lists doubles, or integers where all of them are."""
    if not isinstance(kernel, (list, tuple)):
        return kernel
    shape, flat = _shape_of(kernel), kernel
    for _ in shape[1:]:
        flat = [value for row in flat for value in row]
    if not flat or len(shape) < 2:
        raise ValueError(f"kernel is {kernel!r}; expected: rows of numbers")
    kind = "i" if all(isinstance(value, int) for value in flat) else "d"
    try:
        return memoryview(array(kind, flat)).cast("B").cast(kind, shape)
    except (TypeError, OverflowError):
        raise TypeError(f"kernel is {kernel!r}; expected: rows of numbers") from None


def correlate(x, kernel, mode="reflect", origin=0, cval=0.0, out=None, *, region=None,
              device=None, rung=None, threads=0, math=None, stream=None):
    """An image filtered by a kernel: every element one chain of fused multiply-adds.

    x:          (height, width) or (height, width, channels) of 1 ... 4 channels; uint8, uint16,
                float16, float32 or float64. Channels are filtered each for itself
    kernel:     (rows, columns), or (count, rows, columns): several for one image. 1 ... 63 rows and
                columns in host memory, or lists; of integers and of uint8 or uint16 images the sums
                are exact
    mode:       what stands beyond the image: scipy.ndimage's names "reflect", "constant" (cval),
                "nearest", "mirror", "wrap"; or "edge", "mirror-edge", "opencv:reflect101",
                "torch:circular" and others of rung_edge_names()
    origin:     moves the kernel: a number, or one for rows and one for columns
    out:        where the result goes; uint8, uint16, float16, float32 or float64
    region:     a slice of rows and one of columns, as numpy.s_[10:20, :]: only these elements are
                computed. What surrounds them in the image is seen; `mode` rules beyond the image
    math:       "strict", or "fast": a kernel that is the product of a column and a row is taken in
                two passes, within the bound that docs/NUMERICS.md states; other kernels are
                filtered as ever

    Returns an array like x, of several kernels with `count` in front. Integers are rounded half to
    even and saturate.

    TypeError: elements that are not taken; ValueError: shapes, mode or origin that do not fit.

    >>> import numpy as np, rung
    >>> rung.correlate(np.array([[0., 3., 0.]]), [[1, 2, 3]]).tolist()
    [[9.0, 6.0, 3.0]]
    >>> rung.correlate(np.array([[0., 3., 0.]]), [[1, 2, 3]], region=np.s_[:, 1:]).tolist()
    [[6.0, 3.0]]
    """
    return _rung.correlate(x, _kernel(kernel), _edge(mode), *_origins(origin), cval,
                           *_slices(region), out, device=device, rung=rung,
                           threads=threads, math=math, stream=stream)


def convolve(x, kernel, mode="reflect", origin=0, cval=0.0, out=None, *, region=None,
             device=None, rung=None, threads=0, math=None, stream=None):
    """The same as correlate() with the kernel's rows and columns reversed, as
    scipy.ndimage.convolve() has it.

    >>> import numpy as np, rung
    >>> rung.convolve(np.array([[0., 3., 0.]]), [[1, 2, 3]]).tolist()
    [[3.0, 6.0, 9.0]]
    """
    return _rung.convolve(x, _kernel(kernel), _edge(mode), *_origins(origin), cval,
                          *_slices(region), out, device=device, rung=rung,
                          threads=threads, math=math, stream=stream)
