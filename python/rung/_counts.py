"""Bins: their number, or their edges."""

from array import array
from operator import index

from . import _rung


def doubles(values, name):
    """A row of doubles, which the extension reads."""
    try:
        if isinstance(values, (bytes, bytearray)):  # which would be taken for doubles themselves
            raise TypeError
        return array("d", values)
    except (TypeError, OverflowError):
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
