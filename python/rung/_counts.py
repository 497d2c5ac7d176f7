"""Bins: their number, or their edges."""

from array import array
from operator import index

from . import _rung


def doubles(values, name):
    """A row of doubles, which the extension reads."""
    try:
        row = memoryview(values)
    except (TypeError, BufferError):
        row = values
    try:
        if row is not values and row.format == "d" and row.ndim == 1:
            made = array("d")
            made.frombytes(row.tobytes())
            return made
        if isinstance(values, (bytes, bytearray)):  # which would be taken for doubles themselves
            raise TypeError
        return array("d", values)
    except (TypeError, OverflowError):
        raise TypeError(f"{name} is {values!r}; expected: a row of numbers") from None
    except MemoryError:
        raise MemoryError(f"no memory for the numbers of {name}") from None


def count_or_edges(bins):
    """`bins` is a number of them: (count, None); or a row: (0, edges)."""
    try:
        count = index(bins)
    except TypeError:
        return 0, doubles(bins, "bins")
    if not 1 <= count <= _rung.MAX_BINS:
        raise ValueError(f"bins is {count}; expected: 1 ... {_rung.MAX_BINS}")
    return count, None
