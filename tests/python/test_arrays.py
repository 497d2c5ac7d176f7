"""Arrays in and out: nothing copied, nothing leaked."""
import array
import gc
import sys
import tracemalloc

import numpy as np
import pytest
from producers import Producer

import rung
from rung.testing import assert_same_bits


def test_numpy_is_not_copied(draw):
    for _ in range(40):
        x = draw.array("float32")
        seen = rung.Array(x)
        assert seen.address == x.ctypes.data and seen.shape == x.shape
        strides = zip(seen.strides, x.strides, x.shape)
        assert x.size == 0 or all(ours == its for ours, its, extent in strides if extent > 1)
        back = np.asarray(seen)
        assert back.ctypes.data == x.ctypes.data and np.array_equal(back, x, equal_nan=True)
        assert back.flags.writeable == x.flags.writeable


def test_out_is_not_copied():
    out = np.zeros(4)
    address = out.ctypes.data
    assert rung.cumsum(np.ones(4), out=out) is out and out.ctypes.data == address
    assert out.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", ["b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "f", "d"])
def test_plain_buffers(kind):
    x = array.array(kind, [1, 2, 3])
    total = rung.sum(x)
    assert total == 6 and type(total) is (float if kind in "fd" else int)
    scanned = rung.cumsum(memoryview(x)[::-1])
    assert isinstance(scanned, rung.Array) and memoryview(scanned).tolist() == [3, 5, 6]
    assert rung.sum(scanned) == 14
    assert np.asarray(scanned).dtype == np.dtype(kind)


def test_bytes():
    counts, edges = rung.histogram(b"abca", "bytes")
    assert memoryview(counts)[ord("a")] == 2 and memoryview(edges)[256] == 256


def test_dlpack_both_ways():
    x = np.arange(12, dtype=np.float64).reshape(3, 4)[:, ::2]
    back = np.from_dlpack(rung.Array(x))
    assert back.ctypes.data == x.ctypes.data and np.array_equal(back, x)
    fresh = rung.cumsum(rung.Array(x))
    assert np.array_equal(np.from_dlpack(fresh), np.cumsum(x, 1))
    kept = np.from_dlpack(fresh)
    del fresh
    gc.collect()
    assert np.array_equal(kept, np.cumsum(x, 1))
    assert rung.Array(x).__dlpack_device__() == (1, 0)


def test_dlpack_read_only():
    x = np.ones(3)
    x.flags.writeable = False
    seen = rung.Array(x)
    with pytest.raises(BufferError):
        seen.__dlpack__()
    assert '"dltensor_versioned"' in repr(seen.__dlpack__(max_version=(1, 0)))
    for options in ({"copy": True}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            seen.__dlpack__(max_version=(1, 0), **options)


@pytest.mark.parametrize("version", [None, 1])
def test_producers(version):
    x = Producer((2, 3), version=version)
    assert rung.sum(x) == 21 and x.deleted == 1
    assert len(x.asked) == (2 if version is None else 1)
    y = Producer((2, 3), (10, 2), offset=4, version=version)
    assert memoryview(rung.cumsum(y)).tolist() == [[2, 6, 12], [12, 26, 42]] and y.deleted == 1
    z = Producer((3,), version=version)
    held = rung.Array(z)
    assert z.deleted == 0 and rung.sum(held) == 6
    del held
    gc.collect()
    assert z.deleted == 1


@pytest.mark.parametrize("kind, lie", [
    (BufferError, {"name": b"dltensors"}), (BufferError, {"name": b"used_dltensor"}),
    (BufferError, {"version": 2}), (ValueError, {"shape": (-3,)}), (ValueError, {"ndim": -1}),
    (ValueError, {"ndim": 9}), (BufferError, {"shape": None, "ndim": 1}),
    (TypeError, {"dtype": (2, 32, 4)}), (TypeError, {"dtype": (5, 64, 1)}),
    (TypeError, {"dtype": (2, 24, 1)}), (BufferError, {"says": (2, 0)}),
    (ValueError, {"data": False}), (ValueError, {"shape": (1 << 40, 1 << 40)}),
    (ValueError, {"device": (7, 0)})], ids=str)
def test_lies(kind, lie):
    x = Producer(**lie)
    with pytest.raises(kind) as refused:
        rung.sum(x)
    assert str(refused.value)
    assert x.deleted == (0 if "name" in lie or lie.get("version") == 2 else 1)


class Raises:
    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        raise LookupError("not today")


class NoPlace:
    def __dlpack__(self, **options):
        return None

    def __dlpack_device__(self):
        return None


class NoCapsule(NoPlace):
    def __dlpack_device__(self):
        return 1, 0


def test_producers_that_raise():
    with pytest.raises(LookupError, match="not today"):
        rung.sum(Raises())
    with pytest.raises(TypeError):
        rung.sum(NoPlace())
    with pytest.raises(BufferError, match="capsule"):
        rung.sum(NoCapsule())


def test_written_producers():
    out = Producer((3,), version=1, flags=1)
    with pytest.raises(ValueError, match="read-only"):
        rung.cumsum(Producer((3,)), out=out)
    assert out.deleted == 1
    out = Producer((3,), version=1)
    assert rung.cumsum(Producer((3,)), out=out) is out
    assert list(out.values[:4]) == [1, 3, 6, 4]


class Interface:
    def __init__(self, **changes):
        self.__cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (4096, False),
                                         "strides": None, "version": 3, "stream": 1, **changes}


@pytest.mark.parametrize("kind, changes", [
    (TypeError, {"typestr": ">f4"}), (TypeError, {"typestr": "<c8"}),
    (TypeError, {"typestr": "<f3"}), (TypeError, {"typestr": ""}), (TypeError, {"typestr": "<"}),
    (ValueError, {"shape": 3}), (ValueError, {"shape": (1,) * 9}), (ValueError, {"data": None}),
    (ValueError, {"strides": (6,)}), (TypeError, {"shape": ("a",)}), (TypeError, {"stream": "no"})],
    ids=str)
def test_cuda_array_interface(kind, changes):
    with pytest.raises(kind):
        rung.Array(Interface(**changes))
    good = rung.Array(Interface(strides=(8,)))
    assert good.address == 4096 and good.strides == (8,) and good.__dlpack_device__() == (2, 0)
    with pytest.raises(BufferError):
        memoryview(good)
    with pytest.raises(TypeError, match="out"):
        rung.cumsum(good)
    with pytest.raises((ValueError, rung.Error)):  # nothing on the CPU may touch it
        rung.cumsum(good, out=Interface(data=(8192, False)), device="cpu")


def test_a_gpus_producer_is_asked_again():
    """It knows the consumer's stream; a rung.Array of its memory does not."""
    x = Producer((3,), device=(2, 0), says=(2, 0), version=1)
    seen = rung.Array(x)
    assert seen.__dlpack_device__() == (2, 0) and x.asked[0]["stream"] == 1
    seen.__dlpack__(stream=7, max_version=(1, 0))
    assert x.asked[1] == {"stream": 7, "max_version": (1, 0)}


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 4.0], "b": [1, 2, 3]})
    assert rung.sum(frame["a"]) == 7 and rung.mean(frame["b"]) == 2
    assert rung.cumsum(frame["b"]).tolist() == [1, 3, 6]
    assert rung.histogram(frame["a"], 2)[0].tolist() == [2, 1]
    with pytest.raises(TypeError):
        rung.sum(pandas.Series(["a", "b"]))


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_other_libraries(library):
    made = pytest.importorskip(library)
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = made.from_dlpack(values) if library == "torch" else made.numpy.asarray(values)
    for call in (lambda x: rung.sum(x, 0), rung.cumsum, rung.mean, lambda x: rung.matmul(x, x.T)):
        found = call(x)
        assert type(found) is type(x)
        assert_same_bits(found, np.asarray(call(values)))
    if library == "torch":
        assert rung.Array(x).address == x.data_ptr()


def calls():
    x = np.arange(12.0).reshape(3, 4)
    rung.sum(x), rung.sum(x, 0), rung.cumsum(x, 0), rung.matmul(x, x.T)
    rung.histogram(x, 4, outside=True), rung.bincount(np.array([1, 2]))
    rung.stencil(x, [1, 2, 1], means=True), rung.radiator(3, 8, 2, means=True)
    rung.pair_histogram(x[:, :3], bins=2, range=(0, 9), weights=np.ones(3), outside=True)
    rung.rdf(x[:, :3], bins=2, range=(0, 9), volume=1000)
    rung.Array(x).__dlpack__(), np.from_dlpack(rung.cumsum(rung.Array(x)))
    for wrong in (lambda: rung.sum(x, 5), lambda: rung.sum(x, out=x),
                  lambda: rung.sum(x, rung="no"), lambda: rung.matmul(x, x),
                  lambda: rung.sum(x, devise=1), lambda: rung.sum([]),
                  lambda: rung.histogram(x, [2, 1]), lambda: rung.sum(x > 1)):
        with pytest.raises((ValueError, TypeError, BufferError)):
            wrong()


def resident():
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * 4096


def test_memory_of_results_is_freed():
    x = array.array("d", bytes(2 << 20))
    rung.cumsum(x)
    before = resident()
    for _ in range(60):
        np.from_dlpack(rung.cumsum(x))
    assert resident() - before < 40 << 20


def test_nothing_leaks():
    x = np.arange(6.0)
    calls()
    before = sys.getrefcount(x), sys.getrefcount(np.dtype("float64")), sys.getrefcount(None)
    for _ in range(20):
        rung.sum(x), rung.cumsum(x), rung.Array(x)
        with pytest.raises(ValueError):
            rung.sum(x, 7)
    after = sys.getrefcount(x), sys.getrefcount(np.dtype("float64")), sys.getrefcount(None)
    assert before[0] == after[0] and after[1] - before[1] < 10 and abs(after[2] - before[2]) < 10
    for _ in range(3):
        calls()
    gc.collect()
    tracemalloc.start()
    try:
        calls()
        gc.collect()
        first = tracemalloc.get_traced_memory()[0]
        for _ in range(10):
            calls()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - first < 4096
    finally:
        tracemalloc.stop()
