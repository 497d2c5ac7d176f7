"""Against NumPy: exact where exact, else within the contract's bound."""
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import rung
from rung.testing import assert_same_bits

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["uint8", "int8", "uint16", "int16", "int32", "uint32", "int64", "uint64"]


def close(found, exact, size, scale):
    """Within the bound of a tree of sums, or of a chain, of `size` numbers of that scale."""
    kind = np.asarray(found).dtype
    bound = (size + 2) * np.finfo(kind).eps * np.asarray(scale, np.float64) + np.finfo(kind).tiny
    with np.errstate(invalid="ignore"):
        error = np.abs(np.asarray(found, np.float64) - exact)
    assert np.all((error <= bound) | (np.isnan(found) & np.isnan(exact)) | (found == exact)), (
        found, exact)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_reductions(draw, dtype):
    for _ in range(40):
        x = draw.array(dtype)
        axis = None if x.ndim == 0 or draw.random.random() < 0.3 else int(
            draw.random.integers(-x.ndim, x.ndim))
        keep = bool(draw.random.integers(2))
        n = x.size if axis is None else x.shape[axis]
        total = rung.sum(x, axis, keep)
        want = x.sum(axis, keepdims=keep)
        assert np.shape(total) == np.shape(want)
        if dtype in INTEGERS:
            assert total.dtype == want.dtype
            assert np.array_equal(total, want)
        else:
            assert total.dtype == x.dtype
            wide = x.astype(np.float64)
            close(total, wide.sum(axis, keepdims=keep), n,
                  np.abs(wide).sum(axis, keepdims=keep))
        if n == 0 and np.size(want) > 0:
            with pytest.raises(ValueError):
                rung.min(x, axis)
        elif n > 0:
            for ours, theirs in ((rung.min, np.min), (rung.max, np.max)):
                found = ours(x, axis, keep)
                assert found.dtype == x.dtype
                assert np.array_equal(found, theirs(x, axis, keepdims=keep))


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_means(draw, dtype):
    for _ in range(20):
        x = draw.array(dtype, least=1, extents=(1, 7))
        if x.dtype.itemsize == 8 and dtype in INTEGERS:  # sums are modulo 2^64
            x = x // 8
        found, wide = rung.mean(x, -1), x.astype(np.float64)
        assert found.dtype == x.mean(-1).dtype and found.shape == x.shape[:-1]
        close(found, wide.mean(-1), x.shape[-1], np.abs(wide).mean(-1))
    assert np.isnan(rung.mean(np.zeros(0, dtype)))


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_scans(draw, dtype):
    for _ in range(30):
        x = draw.array(dtype, least=1)
        axis = int(draw.random.integers(-x.ndim, x.ndim))
        found = rung.cumsum(x, axis)
        assert found.dtype == x.dtype and found.shape == x.shape
        if dtype in INTEGERS:
            assert np.array_equal(found, np.cumsum(x, axis, dtype=x.dtype))
        else:
            wide = x.astype(np.float64)
            close(found, np.cumsum(wide, axis), x.shape[axis], np.cumsum(np.abs(wide), axis))
        assert np.array_equal(rung.cummin(x, axis), np.minimum.accumulate(x, axis))
        assert np.array_equal(rung.cummax(x, axis), np.maximum.accumulate(x, axis))


def test_exclusive_scans():
    x = np.array([[3, 1, 2], [4, 6, 5]], np.int32)
    assert rung.cumsum(x, exclusive=True).tolist() == [[0, 3, 4], [0, 4, 10]]
    assert rung.cumsum(x, axis=0, exclusive=True).tolist() == [[0, 0, 0], [3, 1, 2]]
    assert rung.cummin(x, exclusive=True)[0, 0] == np.iinfo(np.int32).max
    assert rung.cummax(np.float32([1]), exclusive=True)[0] == -np.inf


def test_scans_lie_in_memory_as_their_input(draw):
    """As NumPy's do: turned arrays are neither copied nor turned back."""
    whole = draw.values(2 * 3 * 5 * 4, "float32").reshape(2, 3, 5, 4)
    for order in itertools.permutations(range(4)):
        for x in (whole.transpose(order), whole[:, :1].transpose(order), whole[:, :, ::2].transpose(order),
                  whole[:, :0].transpose(order)):
            for axis in range(4):
                found = rung.cumsum(x, axis)
                want = rung.cumsum(np.ascontiguousarray(x), axis)
                assert_same_bits(np.ascontiguousarray(found), want)
                if x.size and min(x.shape) > 1:
                    assert found.strides == np.cumsum(x, axis).strides
    backwards = whole[::-1]
    assert rung.cumsum(backwards).flags.c_contiguous
    assert rung.cumsum(whole.T, out=np.empty_like(whole.T, order="C")).flags.c_contiguous


def test_special_values():
    nan, inf = np.nan, np.inf
    assert np.isnan(rung.max(np.array([1, nan, 3]))) and np.isnan(rung.min(np.array([nan, 1])))
    assert np.signbit(rung.min(np.array([0.0, -0.0]))) and not np.signbit(
        rung.max(np.array([-0.0, 0.0])))
    assert rung.sum(np.array([inf, 1.0])) == inf and not np.signbit(rung.sum(np.zeros(0)))


def test_out(draw):
    x = draw.values((4, 5), "float32")
    out = np.zeros(5, np.float32)
    assert rung.sum(x, 0, out=out) is out
    assert_same_bits(out, rung.sum(x, 0))
    kept = np.zeros((1, 5), np.float32)
    assert rung.sum(x, 0, True, kept) is kept
    assert_same_bits(kept[0], out)
    number = np.zeros((), np.float32)
    assert rung.sum(x, out=number) is number and number == rung.sum(x)
    turned = np.zeros((5, 4), np.float32).T
    assert rung.cumsum(x, 0, out=turned) is turned
    assert_same_bits(turned, rung.cumsum(x, 0))
    y = x.copy()
    assert rung.cumsum(y, out=y) is y
    assert_same_bits(y, rung.cumsum(x))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8"])
def test_matmul(draw, dtype):
    shapes = [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((0, 4), (4, 5)),
              ((3, 0), (0, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 1)),
              ((2, 3, 4), (4,)), ((4,), (2, 4, 5))]
    for of_a, of_b in shapes:
        a, b = draw.values(of_a, dtype), draw.values(of_b, dtype)
        b = np.ascontiguousarray(b.T).T
        found = rung.matmul(a, b)
        if dtype == "int8":
            assert found.dtype == np.int32
            assert np.array_equal(found, np.matmul(a.astype(np.int32), b.astype(np.int32)))
        else:
            wide = a.astype(np.float64), b.astype(np.float64)
            want, scale = np.matmul(*wide), np.matmul(*map(np.abs, wide))
            assert found.dtype == a.dtype and found.shape == want.shape
            close(found, want, a.shape[-1], scale)
    a, b, c = (draw.values((3, 3), "float64") for _ in range(3))
    want = 2 * (a @ b) - c
    assert rung.matmul(a, b, c, alpha=2, beta=-1) is c
    assert np.allclose(c, want)


# Of scipy.ndimage 1.10.1: correlate and convolve of IMAGE by KERNEL.
IMAGE = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])
KERNEL = [[1, -2, 0, 3], [0, 4, 1, -1]]
FILTERED = [
    ("reflect", [[47, 14, 36, 36], [11, 48, 19, 14], [26, 24, 28, 32]],
     [[16, 9, 15, 12], [31, 28, -3, 39], [25, 18, 32, 25]]),
    ("constant", [[32, 20, 40, 36], [38, 50, 21, 14], [36, 30, 40, 51]],
     [[30, 36, 33, 24], [31, 29, 24, 45], [25, 17, 40, 46]]),
    ("nearest", [[26, 16, 36, 36], [30, 44, 19, 14], [30, 26, 28, 32]],
     [[16, 9, 12, 6], [31, 28, 1, 16], [25, 18, 35, 40]]),
    ("mirror", [[14, 37, 34, 36], [35, 25, 23, 14], [25, 40, 35, 55]],
     [[14, 22, 17, 36], [31, 24, 24, 12], [25, 15, 20, 55]]),
    ("wrap", [[11, 25, 34, 36], [43, 51, 20, 14], [22, 4, 22, 30]],
     [[20, 38, 30, 14], [31, 27, 14, 8], [25, 15, 32, 58]]),
    ("mirror-edge", [[47, 14, 36, 36], [11, 48, 19, 14], [26, 24, 28, 32]],
     [[16, 9, 15, 12], [31, 28, -3, 39], [25, 18, 32, 25]]),
    ("opencv:reflect101", [[14, 37, 34, 36], [35, 25, 23, 14], [25, 40, 35, 55]],
     [[14, 22, 17, 36], [31, 24, 24, 12], [25, 15, 20, 55]]),
]

@pytest.mark.parametrize("mode, correlated, convolved", FILTERED)
def test_filters(mode, correlated, convolved):
    for dtype in ("uint8", "uint16", "float16", "float32", "float64"):
        for kernel in (KERNEL, np.array(KERNEL, np.float32), np.array(KERNEL, np.int8)[:, ::1]):
            for function, want in (rung.correlate, correlated), (rung.convolve, convolved):
                x = IMAGE.astype(dtype)
                found = function(x, kernel, mode, (-1, 1), cval=7)
                if dtype[0] == "u":
                    want = np.clip(want, 0, None)
                assert found.dtype == dtype and np.array_equal(found, want)
    out = np.zeros((2, 3, 4, 2), np.float32)
    x = np.stack([IMAGE, 2 * IMAGE], 2).astype(np.uint8)
    assert rung.correlate(x, [KERNEL, KERNEL], mode, [-1, 1], 7, out) is out
    assert np.array_equal(out[0], out[1]) and np.array_equal(out[0, :, :, 0], correlated)
    for rows, columns in (slice(1, 3), slice(2, 4)), (slice(-1, None), slice(None)), \
            (slice(0, 99), slice(3, 1)):
        for several in False, True:
            region = rung.correlate(x, [KERNEL, KERNEL] if several else KERNEL, mode, [-1, 1], 7,
                                    region=(rows, columns))
            assert np.array_equal(region, out[:, rows, columns] if several
                                  else out[0, rows, columns])
    rows = rung.convolve(IMAGE.astype("f4"), KERNEL, mode, (-1, 1), 7, region=slice(1, 2))
    assert np.array_equal(rows, convolved[1:2])
    assert np.array_equal(rung.correlate(x[:, :, 0], KERNEL, mode, (-1, 1), 7, math="fast"),
                          np.clip(correlated, 0, None))


def test_filters_fast(draw):
    line = np.hanning(13)[1:-1]
    for dtype in ("float32", "float64"):
        x, kernel = draw.values((30, 50), dtype), np.outer(line, line)
        strict, fast = (rung.correlate(x, kernel, math=math) for math in ("strict", "fast"))
        bound = 200 * np.finfo(dtype).eps * rung.correlate(np.abs(x), kernel)
        assert np.all(np.abs(strict - fast) <= bound)
        assert not np.array_equal(strict, fast)
        assert np.array_equal(rung.convolve(x, kernel, math="fast", rung="separable"), fast)
        assert np.array_equal(rung.correlate(x, kernel), strict)
        with pytest.raises(rung.Error, match="not separable"):
            rung.correlate(x, np.arange(9.).reshape(3, 3), math="fast", rung="separable")


def test_stencil(draw):
    x = draw.values((3, 9), "float64")
    found, means = rung.stencil(x, [1, 2, 1], divide=4, steps=2, edge="mirror", means=True)
    want = x
    for _ in range(2):
        wide = np.pad(want, ((0, 0), (1, 1)), mode="reflect")
        want = (wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:]) / 4
    assert np.allclose(found, want) and np.allclose(means, want.mean(1))
    row, mean = rung.stencil(x[1], (1, 2, 1), divide=4, steps=2, edge="mirror", means=True)
    assert_same_bits(row, found[1])
    assert_same_bits(mean, means[1])
    y = x.copy()
    assert rung.stencil(y, [0, 1, 0], out=y) is y and np.array_equal(x, y)
    held = rung.stencil(x, [1, 0, 0], fixed=2, edge="constant", edge_value=7)
    assert np.array_equal(held[:, :2], x[:, :2]) and np.array_equal(held[:, 2:], x[:, 1:-1])


def test_radiator():
    grid, means = rung.radiator(8, 32, 100, means=True)
    assert grid.shape == (8, 32) and grid.dtype == np.float32
    assert f"{means[7]:.7f}" == "0.8715953"  # as examples/heat.c prints it
    out = np.zeros((8, 32), np.float32)
    assert rung.radiator(8, 32, 100, out=out) is out
    assert_same_bits(out, grid)
    assert rung.radiator(8, 32, 0, dtype="float64", hot=(3, 1))[7, 0] == 3


def test_devices(draw, rung_device):
    """Every function has the same bits on every device."""
    x = draw.values((5, 40), "float32")
    for call in (lambda **on: rung.sum(x, **on), lambda **on: rung.mean(x, 1, **on),
                 lambda **on: rung.cumsum(x, 0, **on), lambda **on: rung.matmul(x, x.T, **on),
                 lambda **on: rung.histogram(x, 5, (-1, 1), **on)[0],
                 lambda **on: rung.correlate(x, x[:3, :5], **on),
                 lambda **on: rung.stencil(x, [1, 2, 1], divide=4, steps=3, **on),
                 lambda **on: rung.radiator(5, 8, 3, **on),
                 lambda **on: rung.pair_histogram(x[:, :3], bins=4, range=(0, 4), **on)[0]):
        here = call(device=rung_device)
        assert_same_bits(here, call(threads=1))
        assert isinstance(here, (np.ndarray, np.generic))


def test_rungs():
    x = np.arange(1000, dtype=np.float32)
    for one in rung.ladder("reduce", "cpu"):
        if one["available"]:
            assert rung.sum(x, rung=one["rung"]) == 499500
    with rung.Context("cpu", threads=1, isa="baseline") as context:
        assert rung.sum(x, device=context) == 499500
        context.synchronize()


def fixed_point(row, column, bits):
    """The contract's sum by fractions: docs/NUMERICS.md, In fixed point."""
    digits, whole, powers = (bits + 8) // 8, [], []
    for line in (row, column):
        largest = max(abs(float(x)) for x in line)
        power = 0 if largest == 0 else math.frexp(largest)[1]
        powers.append(power)
        whole.append([round(Fraction(float(x)) * Fraction(2) ** (bits - 1 - power))
                      * 2 ** (8 * digits - 1 - bits) for x in line])

    def digits_of(q):
        found = []
        for _ in range(digits):
            found.append((q + 128) % 256 - 128)
            q = (q - found[-1]) // 256
        return found
    total = sum(x * y * 256 ** (p + r - digits + 1)
                for a, b in zip(*whole)
                for p, x in enumerate(digits_of(a)) for r, y in enumerate(digits_of(b))
                if p + r >= digits - 1)
    return Fraction(total) * Fraction(2) ** (powers[0] + powers[1] - 8 * digits - 4)


def test_matmul_in_fixed_point():
    random = np.random.default_rng(3)
    a = (random.uniform(-1, 1, (5, 33)) * 2.0 ** random.integers(-9, 9, (5, 33))).astype("f4")
    b = random.uniform(-1, 1, (33, 4)).astype("f4")
    a[2] = 0
    for bits in (0, 31, 24, 23, 15, 8):
        found = rung.matmul(a, b, math="fixed", bits=bits, device="cpu")
        for i in range(5):
            for j in range(4):
                exact = fixed_point(a[i], b[:, j], bits or 31)
                near = [np.nextafter(found[i, j], np.float32(to)) for to in (-np.inf, np.inf)]
                off = abs(Fraction(float(found[i, j])) - exact)
                assert all(off <= abs(Fraction(float(x)) - exact) for x in near)
    with pytest.raises(ValueError, match="bits is 32; expected: 8"):
        rung.matmul(a, b, math="fixed", bits=32, device="cpu")
    with pytest.raises(ValueError, match="bits is 23; expected: 0"):
        rung.matmul(a, b, bits=23, device="cpu")


def test_every_function_takes_its_options():
    x, square = np.ones(5, np.float32), np.ones((4, 4), np.float32)
    points = np.random.default_rng(1).random((20, 3))
    calls = [lambda name=name, **options: getattr(rung, name)(x, **options)
             for name in ("sum", "min", "max", "mean", "cumsum", "cummin", "cummax")]
    calls += [lambda **options: rung.histogram(x, 3, (0, 2), **options),
              lambda **options: rung.bincount(np.arange(3), **options),
              lambda **options: rung.matmul(square, square, **options),
              lambda **options: rung.correlate(square, [[1, 2]], **options),
              lambda **options: rung.convolve(square, [[1, 2]], **options),
              lambda **options: rung.stencil(square, [1, 2, 1], **options),
              lambda **options: rung.radiator(4, 8, 2, **options),
              lambda **options: rung.pair_histogram(points, bins=3, range=(0, 1), **options),
              lambda **options: rung.rdf(points, bins=3, range=(0, .4), box=(1, 1, 1), **options)]
    for call in calls:
        for math in (None, "strict", "fast"):
            call(device="cpu", rung="auto", threads=1, math=math, stream=None)
        with pytest.raises(ValueError, match="math is 'quick'; expected"):
            call(math="quick")
        with pytest.raises(TypeError, match="math is 3; expected: text"):
            call(math=3)
    for call in calls[:9] + calls[10:]:
        with pytest.raises(ValueError, match="math is RUNG_MATH_FIXED"):
            call(math="fixed")
