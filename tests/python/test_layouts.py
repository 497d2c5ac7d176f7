"""Random shapes and strides, negative and zero ones, offsets, no elements and no dimensions: the bits
of a contiguous copy; and what is exact, exact against NumPy."""
import numpy as np
import pytest

import rung
from rung.testing import assert_same_bits

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["uint8", "int8", "uint16", "int16", "int32", "uint32", "int64", "uint64"]
REFUSED = (TypeError, ValueError, rung.Error)


def outcome(call, arrays):
    try:
        found = call(*arrays)
    except REFUSED as error:
        return type(error)
    return tuple(found) if isinstance(found, tuple) else (found,)


def same_as_of_copies(call, *arrays):
    """Is refused or computed as contiguous arrays are, which are not touched; what it came to."""
    before = [np.array(x) for x in arrays]
    found, want = outcome(call, arrays), outcome(call, [np.array(x, order="C") for x in arrays])
    assert all(np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in zip(arrays, before))
    if not isinstance(want, tuple):
        assert found is want, (call, [(x.shape, x.strides, x.dtype) for x in arrays])
        return None
    for one, other in zip(found, want):
        if one is not None:
            assert_same_bits(np.asarray(one), np.asarray(other))
    return found


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_reductions_and_scans(draw, dtype):
    for _ in range(30):
        x = draw.array(dtype, most=5, extents=(0, int(draw.random.choice([2, 7, 12]))))
        axis = int(draw.random.integers(-x.ndim, x.ndim)) if x.ndim else None
        for name in ("sum", "min", "max", "mean"):
            same_as_of_copies(getattr(rung, name), x)
            same_as_of_copies(lambda x: getattr(rung, name)(x, axis, True), x)
        for name in ("cumsum", "cummin", "cummax"):
            for exclusive in False, True:
                same_as_of_copies(
                    lambda x: getattr(rung, name)(x, -1 if axis is None else axis, exclusive), x)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_results_of_any_strides(draw, dtype):
    """What lies between the elements of `out` is not written."""
    for _ in range(20):
        x = draw.array(dtype, least=1)
        block = draw.values(tuple(2 * n + 1 for n in x.shape), dtype)
        ways = [{2: slice(0, 2 * n, 2), 1: slice(0, n), -1: slice(2 * n, n, -1),
                 -2: slice(2 * n, 0, -2)} for n in x.shape]
        view = tuple(way[int(draw.random.choice([-2, -1, 1, 2]))] for way in ways)
        want, left = block.copy(), block[view]
        want[view] = rung.cumsum(np.array(x))
        assert left.shape == x.shape and rung.cumsum(x, out=left) is left
        assert_same_bits(block, want)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_counts(draw, dtype):
    for _ in range(20):
        x = draw.array(dtype, extents=(0, 9))
        for options in ({"range": (-1, 50)}, {"range": (-1, 50), "rows": True}, {},
                        {"modulo": 5}, {"bins": [-2, 0, 0.5, 40]}):
            same_as_of_copies(lambda x: rung.histogram(x, **{"bins": 7, **options}, outside=True), x)
        found = same_as_of_copies(rung.bincount, x)
        if dtype in ("uint8", "uint16"):
            assert np.array_equal(found[0], np.bincount(x.ravel()))


@pytest.mark.parametrize("dtype", FLOATS + ["int8"])
def test_products(draw, dtype):
    for _ in range(40):
        a = draw.array(dtype, least=1)
        b = np.swapaxes(a, -1, -2) if a.ndim > 1 and draw.random.random() < 0.6 else draw.array(
            dtype, least=1)
        found = same_as_of_copies(rung.matmul, a, b)
        if found is not None and dtype == "int8":
            assert np.array_equal(found[0], np.matmul(a.astype(np.int32), b.astype(np.int32)))


PADDED = {"reflect": "symmetric", "constant": "constant", "nearest": "edge", "mirror": "reflect",
          "wrap": "wrap"}


def correlated(x, kernel, mode):
    """Of integers, by NumPy: what is beyond the image is padded there."""
    up, left = kernel.shape[0] // 2, kernel.shape[1] // 2
    wide = np.pad(x.astype(np.int64), ((up, up), (left, left)), PADDED[mode])
    windows = np.lib.stride_tricks.sliding_window_view(wide, kernel.shape)
    sums = (windows[:x.shape[0], :x.shape[1]] * kernel.astype(np.int64)).sum((2, 3))
    limits = np.iinfo(x.dtype)
    return sums.clip(limits.min, limits.max).astype(x.dtype)


@pytest.mark.parametrize("mode", PADDED)
def test_filters(draw, mode):
    for _ in range(40):
        x = draw.array(draw.random.choice(FLOATS + ["uint8", "uint16"]), least=1, most=3,
                       extents=(0, 20))
        kernel = draw.array(draw.random.choice(["float32", "float64", "int8"]), least=2, most=3,
                            extents=(1, 5))
        origin = tuple(int(o) for o in draw.random.integers(-1, 2, 2))
        for function in rung.correlate, rung.convolve:
            same_as_of_copies(lambda x, kernel: function(x, kernel, mode, origin, 3), x, kernel)
        image = draw.array(draw.random.choice(["uint8", "uint16"]), least=2, most=2, extents=(6, 20))
        small = draw.values(tuple(draw.random.choice([1, 3, 5], 2)), "int8") % 3
        want = correlated(image, small, mode)
        assert np.array_equal(rung.correlate(image, small, mode), want)
        assert np.array_equal(rung.convolve(image, small[::-1, ::-1], mode), want)


def test_stencils(draw):
    for _ in range(60):
        x = draw.array(draw.random.choice(["float32", "float64"]), most=3, extents=(0, 20))
        edge = draw.random.choice(["wrap", "constant", "nearest", "reflect", "mirror"])
        steps, fixed = int(draw.random.integers(0, 6)), int(draw.random.integers(0, 3))
        same_as_of_copies(lambda x: rung.stencil(x, [1, 2, 1, 0.5, 0.25], divide=4, steps=steps,
                                                 fixed=fixed, edge=edge, edge_value=0.3, means=True),
                          x)


def test_pairs(draw):
    for _ in range(60):
        dtype = draw.random.choice(["float32", "float64"])
        a, b = (draw.array(dtype, least=2, most=2, extents=(least, 9))[:, :3] for least in (3, 0))
        weights = draw.array("float64", least=1, most=1, extents=(len(a), len(a)))
        molecules = draw.array("int64", least=1, most=1, extents=(len(a), len(a))) % 3
        same_as_of_copies(lambda a, weights, molecules: rung.pair_histogram(
            a, bins=5, range=(0, 3), weights=weights, molecules=molecules, outside=True),
            a, weights, molecules)
        same_as_of_copies(lambda a, b: rung.pair_histogram(a, b, 5, (0.5, 3), box=(7, 7, 7),
                                                           outside=True), a, b)
        same_as_of_copies(lambda a, b: rung.rdf(a, b, 5, (0.5, 3), box=(7, 7, 7)), a, b)
        found = same_as_of_copies(lambda a: rung.pair_histogram(a, bins=5, range=(0, 3)), a)
        wide = np.array(a, np.float64)
        d = (wide[:, None] - wide[None]) ** 2
        apart = np.sqrt((d[..., 0] + d[..., 1]) + d[..., 2])[np.triu_indices(len(a), 1)]
        numbers = np.floor(apart / (3 / 5))
        assert np.array_equal(found[0], [(numbers == k).sum() for k in range(5)])
