"""Bad input: the right exception, the library's sentence, nothing written, no crash."""
import array
import inspect
import threading

import numpy as np
import pytest
from producers import Producer

import rung

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("x", [
    None, 3, 2.5, "text", [1, 2], (1,), {}, object(), X.astype(complex), X.astype(">f4"),
    X.astype(object), X > 1, X.astype(np.longdouble), np.array(["a"]), np.zeros(2, "f4,i4"),
    np.ma.array([1.0, 2], mask=[0, 1]), X.astype("timedelta64[s]"), type, memoryview(X > 1)],
    ids=lambda x: type(x).__name__ + str(getattr(x, "dtype", "")))
def test_no_array(x):
    for call in (rung.sum, rung.cumsum, rung.Array, lambda x: rung.matmul(x, x),
                 lambda x: rung.histogram(x, 3, (0, 1)), lambda x: rung.stencil(x, [1, 1, 1]),
                 lambda x: rung.pair_histogram(x, bins=1, range=(0, 1))):
        with pytest.raises((TypeError, ValueError)) as refused:
            call(x)
        assert str(refused.value)


@pytest.mark.parametrize("kind, call", [
    (ValueError, lambda: rung.sum(X, 2)), (ValueError, lambda: rung.sum(X, -3)),
    (TypeError, lambda: rung.sum(X, 0.0)), (TypeError, lambda: rung.sum(X, (0, 1))),
    (ValueError, lambda: rung.sum(X, 1 << 80)), (ValueError, lambda: rung.sum(X[0, 0], 0)),
    (ValueError, lambda: rung.cumsum(np.float32(1))), (ValueError, lambda: rung.cumsum(X, 2)),
    (TypeError, lambda: rung.sum()), (TypeError, lambda: rung.sum(X, y=1)),
    (TypeError, lambda: rung.sum(X, x=X)), (TypeError, lambda: rung.sum(X, None, False, None, 1)),
    (ValueError, lambda: rung.sum(X, device="gpu")), (ValueError, lambda: rung.sum(X, device="")),
    (ValueError, lambda: rung.sum(X, device="cpu" * 20)),
    (TypeError, lambda: rung.sum(X, device=1)), (ValueError, lambda: rung.sum(X, device="cpu\0x")),
    (ValueError, lambda: rung.sum(X, rung="threads\0x")),
    (ValueError, lambda: rung.sum(X, threads=-1)), (ValueError, lambda: rung.sum(X, threads=5000)),
    (TypeError, lambda: rung.sum(X, threads="2")), (ValueError, lambda: rung.sum(X, rung="fast")),
    (TypeError, lambda: rung.sum(X, rung=1)), (TypeError, lambda: rung.sum(X, stream="s")),
    (ValueError, lambda: rung.matmul(X, X)), (TypeError, lambda: rung.matmul(X, X.T.astype("f8"))),
    (ValueError, lambda: rung.matmul(X, X[0, 0])),
    (ValueError, lambda: rung.matmul(X, X.T, beta=1)),
    (ValueError, lambda: rung.matmul(X, X.T, alpha=np.nan)),
    (TypeError, lambda: rung.matmul(X, X.T, alpha="1")),
    (ValueError, lambda: rung.matmul(X, X.T, np.zeros((2, 2, 2), np.float32))),
    (ValueError, lambda: rung.correlate(X, [[1, 2], [3]])),
    (ValueError, lambda: rung.correlate(X, [1, 2])), (ValueError, lambda: rung.correlate(X, [])),
    (TypeError, lambda: rung.correlate(X, [["a"]])),
    (TypeError, lambda: rung.correlate(X, [[1 << 40]])),
    (TypeError, lambda: rung.correlate(X.astype("i4"), [[1]])),
    (ValueError, lambda: rung.correlate(X, [[np.nan]])),
    (ValueError, lambda: rung.correlate(X, [[1]], "symmetric")),
    (TypeError, lambda: rung.correlate(X, [[1]], 3)),
    (ValueError, lambda: rung.correlate(X, [[1]], origin=1)),
    (ValueError, lambda: rung.correlate(X, [[1]], math="loose")),
    (TypeError, lambda: rung.convolve(X, [[1]], math=1)),
    (TypeError, lambda: rung.correlate(X, [[1]], region=3)),
    (TypeError, lambda: rung.correlate(X, [[1]], region=(slice(1), 3))),
    (TypeError, lambda: rung.correlate(X, [[1]], region=(slice("a"), slice(3)))),
    (ValueError, lambda: rung.correlate(X, [[1]], region=np.s_[::2, :])),
    (ValueError, lambda: rung.correlate(X, [[1]], region=np.s_[:, :1], out=X.copy())),
    (ValueError, lambda: rung.correlate(X, [[1]], out=X[:1].copy())),
    (ValueError, lambda: rung.correlate(X, [[1]], origin=(0, 0, 0))),
    (ValueError, lambda: rung.convolve(X[0, 0], [[1]])),
    (ValueError, lambda: rung.convolve(np.zeros((1,) * 8), np.zeros((1, 1, 1)))),
    (TypeError, lambda: rung.stencil(X.astype("i4"), [1, 1, 1])),
    (ValueError, lambda: rung.stencil(X, [1, 1])), (TypeError, lambda: rung.stencil(X, ["a"])),
    (ValueError, lambda: rung.stencil(X, [1] * 19)), (ValueError, lambda: rung.stencil(X, [])),
    (ValueError, lambda: rung.stencil(X, [1, 1, 1], edge="round")),
    (ValueError, lambda: rung.stencil(X, [1, 1, 1], steps=-1)),
    (ValueError, lambda: rung.stencil(X, [1, 1, 1], divide=0)),
    (ValueError, lambda: rung.stencil(X, [1, 1, 1], fixed=4)),
    (ValueError, lambda: rung.radiator(0, 8, 1)), (ValueError, lambda: rung.radiator(-1, 8, 1)),
    (ValueError, lambda: rung.radiator(8, 8, -1)), (ValueError, lambda: rung.radiator(8, 3, 1)),
    (ValueError, lambda: rung.radiator(8, 8, 1, preset="1999")),
    (ValueError, lambda: rung.radiator(8, 8, 1, dtype="float8")),
    (TypeError, lambda: rung.radiator(8, 8, 1, dtype="int32")),
    (TypeError, lambda: rung.radiator(8, 8, 1, colour=3)),
    (TypeError, lambda: rung.radiator(8, 8, 1, hot=1)),
    (ValueError, lambda: rung.ladder("sort")), (ValueError, lambda: rung.ladder("scan", "gpu")),
    (ValueError, lambda: rung.Context("abacus")), (ValueError, lambda: rung.Context(isa="mmx")),
    (ValueError, lambda: rung.Context(threads=-3)), (TypeError, lambda: rung.Context(1)),
    (ValueError, lambda: rung.Array(np.zeros((1,) * 9))),
    (ValueError, lambda: rung.sum(np.zeros(3, "f4,i1")["f0"])),
    ((MemoryError, ValueError), lambda: rung.radiator(1 << 40, 1 << 20, 1)),
    ((MemoryError, ValueError), lambda: rung._rung.radiator(
        1 << 40, 1 << 20, 1, rung._rung.radiator_preset("2019"), "float32", False, "rung")),
], ids=lambda value: "" if callable(value) else None)
def test_refusals(kind, call):
    with pytest.raises(kind) as refused:
        call()
    assert str(refused.value)


def test_nothing_is_written():
    for out in (np.full((3, 3), 7, np.float32), np.full(3, 7, np.float64),
                np.full(4, 7, np.float32)):
        with pytest.raises((ValueError, TypeError)):
            rung.sum(X, 0, out=out)
        assert np.all(out == 7)
    x = X.copy()
    with pytest.raises(ValueError):
        rung.sum(x, 0, out=x[0])
    frozen = np.zeros(3, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        rung.sum(X, 0, out=frozen)
    with pytest.raises(ValueError, match="keepdims"):
        rung.sum(X, 0, True, out=np.zeros(3, np.float32))
    with pytest.raises(ValueError, match="expected: 1"):
        rung.sum(X, 0, True, out=np.zeros((2, 3), np.float32))
    assert np.array_equal(x, X) and not frozen.any()


def test_two_libraries():
    with pytest.raises(TypeError, match="numpy.*rung|rung.*numpy"):
        rung.matmul(X, rung.Array(X.T))
    with pytest.raises(TypeError, match="one library"):
        rung.sum(X, 0, out=array.array("f", [0, 0, 0]))


def test_closed_context():
    context = rung.Context("cpu", threads=1)
    assert rung.sum(X, device=context) == 15
    with pytest.raises(ValueError, match="threads"):
        rung.sum(X, device=context, threads=2)
    context.close()
    context.close()
    for call in (lambda: rung.sum(X, device=context), context.synchronize, context.__enter__):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_a_context_is_one_threads():
    """A call beside another's on the same context is refused; calls without one always go on."""
    x, wrong, refused, done = np.ones((1000, 1000)), [], [], threading.Event()

    def work(device):
        while not done.is_set():
            try:
                if rung.sum(x, device=device) != 1e6:
                    wrong.append(device)
            except ValueError as error:
                refused.append(str(error))
                done.set()
    with rung.Context("cpu", threads=1) as context:
        threads = [threading.Thread(target=work, args=(device,)) for device in (context, None) * 2]
        for thread in threads:
            thread.start()
        done.wait(60)
        done.set()
        for thread in threads:
            thread.join()
    assert not wrong and refused and all("another thread" in sentence for sentence in refused)


def test_two_devices():
    first, other = (Producer((2, 2), device=(2, k), says=(2, k), version=1) for k in (0, 1))
    with pytest.raises(ValueError, match="one device"):
        rung.matmul(first, other)
    with pytest.raises(ValueError, match="one device"):
        rung.matmul(first, Producer((2, 2)))
    assert first.deleted == 2 and other.deleted == 1


def test_a_device_that_is_absent():
    if any(one["kind"] == "cuda" and one["usable"] for one in rung.devices()):
        pytest.skip("there is a GPU")
    out = np.full((2, 3), 7, np.float32)
    there = Producer((2, 3), device=(2, 0), says=(2, 0), version=1)
    for call in (lambda: rung.sum(X, device="cuda"), lambda: rung.sum(X, device="cuda:0"),
                 lambda: rung.cumsum(X, out=out, device="cuda"), lambda: rung.sum(there, out=there),
                 lambda: rung.histogram(X, device="cuda"), lambda: rung.Context("cuda"),
                 lambda: rung.bincount(X.astype(int), device="cuda"),
                 lambda: rung.radiator(8, 8, 1, device="cuda")):
        for _ in range(2):
            with pytest.raises(rung.Error, match="cuda.*expected: "):
                call()
    assert np.all(out == 7) and there.deleted == len(there.asked)
    assert rung.sum(X) == 15 and rung.sum(X, device="auto") == 15


class Refuses:
    def __index__(self):
        raise LookupError("no")
    __float__ = __bool__ = __len__ = __iter__ = __index__


@pytest.mark.parametrize("error", [KeyboardInterrupt, LookupError])
def test_what_an_argument_raises_comes_through(error):
    class Raises:
        def __index__(self):
            raise error("no")
        __float__ = __bool__ = __index__
    for call in (lambda x: rung.sum(X, x), lambda x: rung.sum(X, keepdims=x),
                 lambda x: rung.sum(X, threads=x), lambda x: rung.matmul(X, X.T, alpha=x),
                 lambda x: rung.histogram(X, x), lambda x: rung.histogram(X, 3, (0, x)),
                 lambda x: rung.histogram(X, [0, x]), lambda x: rung.bincount(X.astype(int), x),
                 lambda x: rung.stencil(X, [1, x, 1]), lambda x: rung.correlate(X, [[1]], cval=x)):
        with pytest.raises(error, match="no"):
            call(Raises())


def test_any_value_for_any_argument():
    """One argument of a good call is replaced: it goes on or raises what the page names."""
    x, points = np.arange(12.0).reshape(3, 4), np.arange(9.0).reshape(3, 3)
    closed = rung.Context("cpu", threads=1)
    closed.close()
    good = {"sum": (x,), "mean": (x,), "cumsum": (x,), "matmul": (x, x.T), "histogram": (x,),
            "correlate": (x, [[1, 2]]), "bincount": (x.astype(int),), "stencil": (x, [1, 2, 1]),
            "radiator": (3, 8, 2), "pair_histogram": (points, None, 3, (0, 2)),
            "rdf": (points, None, 3, (0, 2)), "Array": (x,), "Context": ("cpu",),
            "ladder": ("scan",)}
    values = [None, -1, 0, 7, 1 << 70, -(1 << 70), np.nan, np.inf, 1e300, "x", "", "\0", "\ud800",
              b"", b"abc", [], [[]], [1, "a"], (), {}, object(), int, closed, rung.sum, x,
              x.astype(object), x[:0], np.float32(1), np.zeros((1,) * 9), True, slice(None),
              Refuses(), np.ma.array([1.0]), np.datetime64("2020"), rung]
    for name, given in good.items():
        call = getattr(rung, name)
        for changed in inspect.signature(call).parameters:
            for value in values if changed != "changes" else []:
                arguments = dict(zip(inspect.signature(call).parameters, given))
                try:
                    call(**{**arguments, changed: value})
                except (TypeError, ValueError, MemoryError, BufferError, rung.Error) as error:
                    assert str(error), (name, changed, value)
                except LookupError:
                    assert isinstance(value, Refuses), (name, changed, value)
