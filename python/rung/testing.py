"""Same bits, as a tool.

>>> import numpy as np
>>> from rung.testing import assert_same_bits
>>> assert_same_bits(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
>>> assert_same_bits(np.array([1.0, 2.0]), np.array([1.0, 2.0000000000000004]))
Traceback (most recent call last):
AssertionError: 1 of 2 float64 elements differ, the first at [1]: 2.0 and 2.0000000000000004, \
0x4000000000000000 and 0x4000000000000001, 1 unit in the last place apart
"""

from struct import unpack_from

from ._pairs import on_host

_MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}


def _width(dtype):
    return int(dtype.lstrip("abcdefghijklmnopqrstuvwxyz"))


def _bits(x, name):
    """(the array on the host, its elements as unsigned integers)"""
    view = on_host(x)
    if view.dtype == "bfloat16":
        raise TypeError(f"{name} is of bfloat16; expected: a view of it as integers of 16 bits")
    code = {8: "B", 16: "H", 32: "I", 64: "Q"}[_width(view.dtype)]
    return view, memoryview(memoryview(view).tobytes()).cast(code)


def _ordered(bits, width):
    """The bits of a float on a line on which neighbours are 1 apart; both zeros are 0."""
    sign = 1 << (width - 1)
    return -(bits & (sign - 1)) if bits & sign else bits


def units_apart(a, b, dtype):
    """How many units in the last place two elements are apart, given their bits; None: one of them
    is a NaN."""
    width = _width(dtype)
    if dtype not in _MANTISSA:
        return abs(a - b)
    infinity = ((1 << (width - 1 - _MANTISSA[dtype])) - 1) << _MANTISSA[dtype]
    largest = (1 << (width - 1)) - 1
    if any(bits & largest > infinity for bits in (a, b)):
        return None
    return abs(_ordered(a, width) - _ordered(b, width))


def _index(flat, shape):
    index = []
    for extent in reversed(shape):
        flat, at = divmod(flat, extent)
        index.insert(0, at)
    return index


def _is_nan(bits, dtype):
    return dtype in _MANTISSA and units_apart(bits, 0, dtype) is None


def assert_same_bits(a, b):
    """Asserts that two arrays have one type, one shape and the same bits; but a NaN is a NaN.

    a, b: arrays of any library, on any device; GPU arrays are copied to the host

    AssertionError: says the first index that differs, both values, both in hexadecimal, and how
    many units in the last place they are apart. TypeError: no arrays.
    """
    __tracebackhide__ = True
    (one, left), (two, right) = _bits(a, "a"), _bits(b, "b")
    if one.dtype != two.dtype:
        raise AssertionError(f"a is of {one.dtype}, b of {two.dtype}")
    if one.shape != two.shape:
        raise AssertionError(f"a has the shape {one.shape}, b {two.shape}")
    if left == right:
        return
    wrong = [i for i, (x, y) in enumerate(zip(left, right))
             if x != y and not (_is_nan(x, one.dtype) and _is_nan(y, one.dtype))]
    if not wrong:
        return
    first, width = wrong[0], left.itemsize * 2
    values = [unpack_from(memoryview(view).format, bits, first * left.itemsize)[0]
              for view, bits in ((one, left), (two, right))]
    apart = units_apart(left[first], right[first], one.dtype)
    distance = ("a NaN" if apart is None else
                f"{apart} unit{'s' * (apart != 1)} in the last place apart")
    raise AssertionError(
        f"{len(wrong)} of {len(left)} {one.dtype} elements differ, the first at "
        f"{_index(first, one.shape)}: {values[0]!r} and {values[1]!r}, 0x{left[first]:0{width}x} "
        f"and 0x{right[first]:0{width}x}, {distance}")
