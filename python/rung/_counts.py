"""Histograms, as NumPy has them."""

from array import array
from operator import index

from . import _rung

_MODULO, _EVEN, _EDGES, _BYTES = range(4)
_FLOATS = ("float16", "bfloat16", "float32")


def _range_of(x, where):
    """(low, high) of the elements, as numpy.histogram() takes them."""
    whole = _rung.Array(x)
    if 0 in whole.shape:
        return 0.0, 1.0
    low, high = (float(find(x, **where)) for find in (_rung.min, _rung.max))
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def even_edges(count, low, high):
    """The edges of even bins: k * ((high - low) / count) + low, the last one high."""
    width = (high - low) / count
    if width == 0:
        return [k / count * (high - low) + low for k in range(count)] + [high]
    return [k * width + low for k in range(count)] + [high]


def doubles(values, name):
    """A row of doubles, which the extension reads."""
    try:
        return array("d", values)
    except TypeError:
        raise TypeError(f"{name} is {values!r}; expected: a row of numbers") from None


def count_or_edges(bins):
    """`bins` is a number of them: (count, None); or a row: (0, edges)."""
    try:
        count = index(bins)
    except TypeError:
        return 0, doubles(bins, "bins")
    if not 1 <= count <= _rung.MAX_BINS:
        raise ValueError(f"bins is {count}; expected: 1 ... {_rung.MAX_BINS}")
    return count, None


def _pair(values, name):
    try:
        low, high = (float(value) for value in values)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {values!r}; expected: (low, high)") from None
    return low, high


def _bins(x, bins, limits, modulo, where):
    """(kind, count, low, high, edges for librung, edges for the caller)."""
    if modulo is not None:
        return _MODULO, modulo, 0.0, 0.0, None, range(modulo + 1)
    if isinstance(bins, str):
        if bins != "bytes":
            raise ValueError(f'bins is "{bins}"; expected: a number, edges or "bytes"')
        return _BYTES, 256, 0.0, 0.0, None, range(257)
    count, edges = count_or_edges(bins)
    if edges is not None:
        return _EDGES, 0, 0.0, 0.0, edges, edges
    low, high = _range_of(x, where) if limits is None else _pair(limits, "range")
    return _EVEN, count, low, high, None, even_edges(count, low, high)


def histogram(x, bins=10, range=None, *, modulo=None, rows=False, outside=False, device=None,
              rung=None, threads=0, stream=None):
    """How many elements fall into each bin: `(counts, edges)`, as numpy.histogram() has them.

    x:       of integers or floats, 0 to 8 dimensions, any strides
    bins:    a number of even bins over `range`; or the edges, rising; or "bytes": of uint8, one
             for each value
    range:   (low, high), of which high is in the last bin; None: the least and the largest element
    modulo:  instead of bins: of integers, element e falls into bin e mod modulo
    rows:    of (n, m): a histogram of every row, (n, bins)
    outside: a third result: how many elements are below, above, and NaN

    Returns counts, int64, and edges, one more than bins, float64 or the type of float elements,
    both of x's library and device. Counts are exact.

    TypeError: elements that are not taken; ValueError: bins, range or edges that are none.

    >>> import numpy as np, rung
    >>> counts, edges = rung.histogram(np.array([1., 2., 2., 5.]), 4, (1, 5))
    >>> counts.tolist(), edges.tolist()
    ([1, 2, 0, 1], [1.0, 2.0, 3.0, 4.0, 5.0])
    >>> rung.histogram(np.array([3, -1, 8]), modulo=4)[0].tolist()
    [1, 0, 0, 2]
    """
    from ._libraries import copy_of
    where = {"device": device, "rung": None, "threads": threads, "stream": stream}
    kind, count, low, high, edges, said = _bins(x, bins, range, modulo, where)
    counts, apart = _rung.histogram(x, kind, count, low, high, edges, rows, outside, device=device,
                                    rung=rung, threads=threads, stream=stream)
    of = _rung.Array(x).dtype if kind == _EVEN else "float64"
    made = copy_of(list(said), of if of in _FLOATS else "float64", counts)
    return (counts, made, apart) if outside else (counts, made)


def bincount(x, minlength=0, *, device=None, rung=None, threads=0, stream=None):
    """How often each whole number occurs: counts, int64, of x's library and device.

    x:         of integers from 0 up, below rung.MAX_BINS
    minlength: the least length of the result, which else ends at x's largest element

    TypeError: no integers; ValueError: one that is negative or too large.

    >>> import numpy as np, rung
    >>> rung.bincount(np.array([0, 3, 3])).tolist()
    [1, 0, 0, 2]
    """
    from ._libraries import copy_of
    where = {"device": device, "threads": threads, "stream": stream}
    view = _rung.Array(x)
    if "int" not in view.dtype:
        raise TypeError(f"x is of {view.dtype}; expected: integers")
    if minlength < 0:
        raise ValueError(f"minlength is {minlength}; expected: 0 or more")
    length = minlength
    if 0 not in view.shape:
        least = 0 if "uint" in view.dtype else int(_rung.min(x, **where))
        if least < 0:
            raise ValueError(f"x has the element {least}; expected: 0 or more")
        length = max(minlength, int(_rung.max(x, **where)) + 1)
    if length == 0:
        return copy_of([], "int64", x)
    return _rung.histogram(x, _MODULO, length, rung=rung, **where)[0]
