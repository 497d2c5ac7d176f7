"""Arrays in and out: nothing copied, nothing leaked."""
import array
import gc
import sys
import tracemalloc

import numpy as np
import pytest
from producers import Producer, exchanging

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
    for version in (), (1,), 5, "ab", (None, 0), ("1", 0):
        with pytest.raises(TypeError, match="max_version"):
            seen.__dlpack__(max_version=version)
    assert '"dltensor_versioned"' in repr(seen.__dlpack__(max_version=(1 << 80, 0)))

    class Doubt:
        def __bool__(self):
            raise LookupError("who knows")
    with pytest.raises(LookupError, match="who knows"):
        seen.__dlpack__(max_version=(1, 0), copy=Doubt())


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


def test_functions_in_c_are_asked_first():
    Quick = exchanging()
    x = Quick((2, 3), (10, 2), offset=4, version=1)
    assert memoryview(rung.cumsum(x)).tolist() == [[2, 6, 12], [12, 26, 42]]
    assert x.exported == 1 and x.deleted == 1 and x.asked == []
    out = Quick((3,), version=1, flags=1)
    with pytest.raises(ValueError, match="read-only"):
        rung.cumsum(Producer((3,)), out=out)
    assert out.exported == 1 and out.deleted == 1
    held = rung.Array(Quick((3,), version=1))
    assert rung.sum(held) == 6


def test_what_is_read_in_a_call_is_only_looked_at():
    Quick = exchanging(view=True)
    x = Quick((2, 3), (10, 2), offset=4, version=1)
    assert memoryview(rung.cumsum(x)).tolist() == [[2, 6, 12], [12, 26, 42]]
    assert x.viewed == 1 and x.exported == 0 and x.deleted == 0 and x.asked == []
    out = Quick((3,), version=1, flags=1)  # what is written is asked whether it may be
    with pytest.raises(ValueError, match="read-only"):
        rung.cumsum(Producer((3,)), out=out)
    assert out.viewed == 0 and out.exported == 1 and out.deleted == 1
    kept = Quick((3,), version=1, flags=1)
    held = rung.Array(kept)
    assert held.readonly and rung.sum(held) == 6
    assert kept.viewed == 0 and kept.exported == 1 and kept.deleted == 0
    del held
    gc.collect()
    assert kept.deleted == 1


@pytest.mark.parametrize("kind, lie", [
    (ValueError, {"shape": (-3,)}), (ValueError, {"ndim": 9}), (TypeError, {"dtype": (5, 64, 1)}),
    (ValueError, {"data": False}), (ValueError, {"device": (7, 0)})], ids=str)
def test_views_that_lie(kind, lie):
    x = exchanging(view=True)(**{"version": 1, **lie})
    with pytest.raises(kind, match="expected"):
        rung.sum(x)
    assert x.viewed == 1 and x.exported == 0 and x.deleted == 0
    x = exchanging(view=True, status=-1)((3,), version=1)
    with pytest.raises(BufferError, match="raised nothing"):
        rung.sum(x)


@pytest.mark.parametrize("kind, lie", [
    (BufferError, {"status": -1}), (BufferError, {"nothing": True})], ids=str)
def test_functions_in_c_that_fail(kind, lie):
    x = exchanging(**lie)((3,), version=1)
    for _ in range(3):
        with pytest.raises(kind, match="raised nothing"):
            rung.sum(x)
    assert x.exported == 3 and x.deleted == 0 and x.asked == []


@pytest.mark.parametrize("kind, lie", [
    (BufferError, {"version": 2}), (ValueError, {"shape": (-3,)}), (ValueError, {"ndim": 9}),
    (TypeError, {"dtype": (5, 64, 1)}), (ValueError, {"data": False}),
    (ValueError, {"device": (7, 0)})], ids=str)
def test_functions_in_c_that_lie(kind, lie):
    x = exchanging()(**{"version": 1, **lie})
    with pytest.raises(kind, match="expected"):
        rung.sum(x)
    assert x.exported == 1 and x.deleted == 1


def test_functions_in_c_of_other_versions():
    older = exchanging(versions=(1, 2))((3,), version=1)
    assert rung.sum(older) == 6 and older.exported == 1
    for other in exchanging(versions=(2, 3)), exchanging(name=b"another"):
        x = other((3,), version=1)
        assert rung.sum(x) == 6 and x.exported == 0 and len(x.asked) == 1


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


class Says:
    """A producer of what it is given."""

    def __init__(self, place, capsule=None):
        self.place, self.capsule = place, capsule

    def __dlpack_device__(self):
        if isinstance(self.place, BaseException):
            raise self.place
        return self.place

    def __dlpack__(self, **options):
        if isinstance(self.capsule, BaseException):
            raise self.capsule
        return self.capsule


class NoPlace:
    def __dlpack__(self, **options):
        raise AssertionError("it is asked where it is first")


class Property:
    def __init__(self, name, error):
        self.name, self.error = name, error

    def __getattr__(self, name):
        raise self.error if name == self.name else AttributeError(name)


RAISED = [LookupError("not today"), KeyboardInterrupt("k"), MemoryError("m"), TypeError("t"),
          BufferError("b"), SystemExit("s"), AttributeError("a"), RuntimeError("r")]


@pytest.mark.parametrize("error", RAISED, ids=repr)
def test_producers_that_raise(error):
    """Their exception comes through, wherever they raise it."""
    makers = [Says(error), Says((1, 0), error)]
    if not isinstance(error, AttributeError):
        makers += [Property("__dlpack__", error), Property("__cuda_array_interface__", error)]
    for maker in makers:
        for call in rung.sum, rung.Array, rung.histogram, lambda x: rung.matmul(np.ones(3), x):
            with pytest.raises(type(error)) as raised:
                call(maker)
            assert raised.value is error
    assert rung.sum(np.ones(3)) == 3


@pytest.mark.parametrize("place", [
    None, (), (1,), (1, 0, 0), [1, 0], ("1", 0), (1, "0"), (1.0, 0), (None, 0), {1: 0}, "ab", b"ab", 5,
    (1 << 32 | 1, 0), (1 << 70, 0), (1, 1 << 70), (-1, 0), (1 << 31, 0), (2, 0), (3, 0)], ids=repr)
def test_places_that_are_none(place):
    x = Producer((3,), version=1)
    x.device = place
    for turn in range(51):
        with pytest.raises(BufferError, match="__dlpack_device__|says that it is"):
            rung.sum(x)
        if turn == 0:
            before = sys.getrefcount(x), sys.getrefcount(place)
    assert x.deleted == len(x.asked)
    after = sys.getrefcount(x), sys.getrefcount(place)
    assert after[0] == before[0] and after[1] - before[1] < 25  # others too have references to None


def test_no_capsules():
    for capsule in None, 3, "dltensor", object(), (1, 2):
        with pytest.raises(BufferError, match="capsule"):
            rung.sum(Says((1, 0), capsule))
    with pytest.raises(TypeError, match="no __dlpack_device__"):
        rung.sum(NoPlace())
    x = Producer((3,))
    capsule = x.__dlpack__()
    assert rung.sum(Says((1, 0), capsule)) == 6 and x.deleted == 1
    with pytest.raises(BufferError, match="fresh"):  # the same once more
        rung.sum(Says((1, 0), capsule))
    assert x.deleted == 1


@pytest.mark.parametrize("lie", [
    {"shape": (-3,)}, {"shape": (1 << 40, 1 << 40)}, {"shape": (1 << 62,)}, {"data": False},
    {"device": (7, 0)}, {"device": (8, 0)}, {"device": (0, 0)}], ids=str)
@pytest.mark.parametrize("version", [None, 1])
def test_lies_are_not_passed_on(lie, version):
    """Nobody may get a buffer of them by rung.Array."""
    x = Producer(version=version, says=lie.get("device"), **lie)
    with pytest.raises(ValueError, match="expected"):
        rung.Array(x)
    assert x.deleted == 1
    assert rung.Array(Producer((0, 1 << 62, 4), data=False)).shape == (0, 1 << 62, 4)


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
    (ValueError, {"strides": (6,)}), (TypeError, {"shape": ("a",)}), (TypeError, {"stream": "no"}),
    (TypeError, {"typestr": "<f 4"}), (TypeError, {"typestr": "<f44"}), (TypeError, {"typestr": 4}),
    (ValueError, {"data": (4096,)}), (ValueError, {"data": ()}), (ValueError, {"data": (0, False)}),
    (ValueError, {"data": (1 << 70, False)}), (TypeError, {"data": ("a", False)}),
    (TypeError, {"data": (None, False)}), (ValueError, {"shape": (1 << 70,)}),
    (ValueError, {"shape": (-1,)}), (ValueError, {"shape": (1 << 62, 4)}),
    (ValueError, {"strides": (4, 4)}), (ValueError, {"strides": ()}), (ValueError, {"strides": 3}),
    (ValueError, {"strides": (1 << 70,)}), (TypeError, {"mask": object()})],
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
