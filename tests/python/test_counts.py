"""Histograms and pairs, exact against NumPy."""
import ctypes

import numpy as np
import pytest
from producers import Producer

import rung
from rung.testing import assert_same_bits


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int16", "int32",
                                   "uint32", "int64"])
def test_histograms(draw, dtype):
    for _ in range(20):
        x = draw.array(dtype)
        if np.dtype(dtype).kind in "iu":
            x = x % 50
        bins = int(draw.random.integers(1, 12))
        limits = None if draw.random.random() < 0.3 else (-1.5, 20)
        counts, edges = rung.histogram(x, bins, limits)
        want, want_edges = np.histogram(x, bins, limits)
        assert np.array_equal(counts, want)
        assert_same_bits(edges, want_edges)
        rising = np.unique(draw.random.standard_normal(6))
        assert np.array_equal(rung.histogram(x, rising)[0], np.histogram(x, rising)[0])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_ranges_without_width(dtype):
    """numpy.histogram() gives them one; and a row of no library has the same edges."""
    for values, limits in ([3, 3, 3], None), ([1, 2, 3], (2, 2)), ([], None), ([2.5, -7, 65504], None):
        x = np.array(values, dtype)
        counts, edges = rung.histogram(x, 7, limits)
        want, want_edges = np.histogram(x, 7, limits)
        assert np.array_equal(counts, want)
        assert_same_bits(edges, want_edges)
        if len(values):
            plain = rung.histogram(memoryview(x), 7, limits)
            assert isinstance(plain[1], rung.Array)
            assert_same_bits(plain[0], counts)
            assert_same_bits(plain[1], edges)


def test_edges_of_16_bits(draw):
    """Rounded once, as NumPy does it, over all magnitudes that the type has."""
    for low, high in (0, 1e-7), (-6e-8, 6e-8), (0, 1e-4), (-65504, 65504), (1, 1.01), (-0.0, 3):
        for count in (1, 7, 64, 999):
            x = np.zeros(3, np.float16)
            assert_same_bits(rung.histogram(x, count, (low, high))[1],
                             np.linspace(low, high, count + 1).astype(np.float16))
    # bfloat16, which NumPy does not have: 1, 1.0078125, ... by DLPack.
    x = Producer((64,), dtype=(4, 16, 1))
    counts, edges = rung.histogram(x, 4, (1, 2))
    bits = ctypes.cast(edges.address, ctypes.POINTER(ctypes.c_uint16))
    assert edges.dtype == "bfloat16" and bits[:5] == [0x3F80, 0x3FA0, 0x3FC0, 0x3FE0, 0x4000]


def test_histogram_kinds(draw):
    bytes_ = draw.values(1000, "uint8")
    counts, edges = rung.histogram(bytes_, "bytes")
    assert np.array_equal(counts, np.bincount(bytes_, minlength=256)) and edges[-1] == 256
    signed = draw.values(100, "int32")
    assert np.array_equal(rung.histogram(signed, modulo=7)[0], np.bincount(signed % 7, minlength=7))
    x = np.array([[0.5, 2, np.nan], [-1, 0.2, 0.3]])
    counts, _, outside = rung.histogram(x, 2, (0, 1), rows=True, outside=True)
    assert counts.tolist() == [[0, 1], [2, 0]] and outside.tolist() == [[0, 1, 1], [1, 0, 0]]


def test_bincount(draw):
    for _ in range(20):
        x = draw.array("uint8", least=1, most=1)
        least = int(draw.random.integers(0, 300))
        assert np.array_equal(rung.bincount(x, least), np.bincount(x, minlength=least))
    for kind, most in ("uint8", 255), ("uint16", 65535), ("int8", 127), ("int16", 32767):
        for least in most - 1, most, most + 1, most + 2:  # the type alone may say that it is enough
            x = np.array([0, most, 1, most], kind)
            assert np.array_equal(rung.bincount(x, least), np.bincount(x, minlength=least))
    with pytest.raises(ValueError, match="-1; expected"):
        rung.bincount(np.array([-1], "int8"), 1000)
    assert rung.bincount(np.zeros(0, np.int64)).shape == (0,)
    for kind in ("int8", "int16", "int32", "int64"):
        with pytest.raises(ValueError, match="-3; expected: 0 ... 1048575"):
            rung.bincount(np.array([1, -3, 100], kind))
        assert rung.bincount(np.array([1, 100], kind)).sum() == 2
    for element, kind in (1 << 20, "int32"), (1 << 62, "int64"), ((1 << 64) - 1, "uint64"):
        with pytest.raises(ValueError, match=f"{element}; expected: 0 ... 1048575"):
            rung.bincount(np.array([element], kind))
    assert rung.bincount(np.array([(1 << 20) - 1])).size == 1 << 20
    for least in (-1, (1 << 20) + 1):
        with pytest.raises(ValueError, match="minlength"):
            rung.bincount(np.array([1]), least)
    with pytest.raises(TypeError):
        rung.bincount(np.array([1.0]))


def distances(a, b, box):
    d = np.abs(a[:, None, :] - b[None, :, :])
    d = np.minimum(d, box - d)
    return np.sqrt((d * d).sum(-1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pairs(draw, dtype):
    a = draw.random.random((60, 3)).astype(dtype) * 10
    b = draw.random.random((40, 3)).astype(dtype) * 10
    wide = a.astype(float), b.astype(float)
    within = distances(wide[0], wide[0], 10)[np.triu_indices(60, 1)]
    counts, edges = rung.pair_histogram(a, bins=10, range=(0, 5), box=(10, 10, 10))
    assert np.array_equal(counts, np.histogram(within, edges)[0])
    counts, edges, apart = rung.pair_histogram(a, b, 7, (1, 4), box=[10, 10, 10, 90, 90, 90],
                                               outside=True)
    between = distances(*wide, 10)
    assert np.array_equal(counts, np.histogram(between, edges)[0])
    assert apart.tolist() == [(between < 1).sum(), (between > 4).sum(), 0]
    default = rung.pair_histogram(a, box=np.eye(3) * 10)
    assert default[1][-1] == 5 and default[0].sum() == (within < 5).sum()


def test_weights_and_molecules():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0]])
    weights = np.array([1.0, 10, 100])
    sums, _ = rung.pair_histogram(points, bins=3, range=(0, 3), weights=weights)
    assert sums.tolist() == [0, 10, 1100]
    counts, _ = rung.pair_histogram(points, bins=3, range=(0, 3), molecules=np.array([5, 5, 6]))
    assert counts.tolist() == [0, 0, 2]


def test_boxes():
    """A triclinic box by lengths and angles, and by its vectors."""
    points = np.random.default_rng(3).random((30, 3)) * 8
    a, b, c, alpha, gamma = 10, 11, 12, 80, 70
    cosine = np.cos(np.radians([alpha, 90, gamma]))
    sine = np.sin(np.radians(gamma))
    y = cosine[0] / sine
    vectors = np.array([[a, 0, 0], [b * cosine[2], b * sine, 0],
                        [0, c * y, c * np.sqrt(1 - y * y)]])
    one = rung.pair_histogram(points, bins=9, range=(0, 4), box=(a, b, c, alpha, 90, gamma))
    other = rung.pair_histogram(points, bins=9, range=(0, 4), box=vectors)
    assert np.array_equal(one[0], other[0]) and one[0].sum() > 0


def test_rdf_of_an_ideal_gas():
    points = np.random.default_rng(5).random((2000, 3)) * 10
    found = rung.rdf(points, bins=20, range=(0, 5), box=(10, 10, 10))
    assert np.all(np.abs(found.rdf[5:] - 1) < 0.05)
    assert abs(found.neighbours[-1] / (2000 / 1000 * 4 / 3 * np.pi * 125) - 1) < 0.02
    assert "<table>" in found._repr_html_()
    open_space = rung.rdf(points, bins=20, range=(0, 5), volume=1000)
    assert open_space.count.sum() < found.count.sum()


@pytest.mark.parametrize("call", [
    lambda x: rung.histogram(x, 0), lambda x: rung.histogram(x, 3, (2, 1)),
    lambda x: rung.histogram(x, "letters"), lambda x: rung.histogram(x, [3, 1]),
    lambda x: rung.histogram(x, 5, (0, np.inf)), lambda x: rung.histogram(x, 5, 3),
    lambda x: rung.histogram(x, 1 << 21), lambda x: rung.histogram(x, 1 << 80),
    lambda x: rung.histogram(x, 3, ("0", "1")), lambda x: rung.histogram(x, 3, (0, 1 << 2000)),
    lambda x: rung.histogram(x, 3, (0, 1, 2)), lambda x: rung.histogram(np.array([1, np.nan])),
    lambda x: rung.histogram(x, 3, {0: 1, 1: 2}), lambda x: rung.histogram(x, [1]),
    lambda x: rung.histogram(x.astype(int), modulo=0),
    lambda x: rung.histogram(x, 3, rows=True),
    lambda x: rung.pair_histogram(x, bins=3, range=(0, 1)),
    lambda x: rung.pair_histogram(np.zeros((2, 3)), bins=3),
    lambda x: rung.pair_histogram(np.zeros((2, 3)), bins=3, range=(0, 6), box=(10, 10, 10)),
    lambda x: rung.pair_histogram(np.zeros((2, 3)), bins=3, range=(0, 1), box=(10, 10)),
    lambda x: rung.pair_histogram(np.zeros((2, 3)), bins=3, range=(0, 1), box=(1, 1, 0)),
    lambda x: rung.pair_histogram(np.zeros((2, 3)), bins=0, range=(0, 1)),
    lambda x: rung.rdf(np.zeros((2, 3))), lambda x: rung.rdf(np.zeros((0, 3)), box=(50, 50, 50)),
], ids=range(24))
def test_refusals(call):
    with pytest.raises(ValueError) as refused:
        call(np.array([1.0, 2.0]))
    assert str(refused.value)


def test_too_few_edges():
    for edges in ([], [1.0]):
        with pytest.raises(ValueError, match=f"bins has {len(edges)} edges; expected: 2 or more"):
            rung.histogram(np.arange(3.0), edges)


@pytest.mark.parametrize("bins", [b"12345678abcdefgh", bytearray(24), object(), ["a"], [None, 1],
                                  [0, 1 << 2000], None, np.zeros((2, 2)), {"a": 1}], ids=repr)
def test_no_bins(bins):
    for call in (lambda: rung.histogram(np.arange(3.0), bins),
                 lambda: rung.pair_histogram(np.zeros((2, 3)), bins=bins, range=(0, 1)),
                 lambda: rung.rdf(np.zeros((2, 3)), bins=bins, range=(0, 1), volume=1)):
        with pytest.raises(TypeError, match="(?s)bins is .*; expected: a row of numbers"):
            call()
