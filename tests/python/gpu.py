"""gpu.py: the package on a GPU, with each of CuPy, PyTorch and JAX that is there.

    PYTHONPATH=build/cuda/python python3 tests/python/gpu.py

Needs no pytest. Prints a line a check; exits 1 where one failed, 77 where there is no GPU. Times at
the end are for reading, no check."""
import array
import gc
import importlib
import sys
import time
import traceback

import rung
from rung.testing import assert_same_bits

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def values(shape=(64, 300), seed=1):
    """The same floats in every library."""
    import numpy
    return numpy.random.default_rng(seed).standard_normal(shape).astype("float32")


class Cupy:
    def __init__(self):
        self.library = importlib.import_module("cupy")
        self.asynchronous = True

    def put(self, x):
        return self.library.asarray(x)

    def address(self, x):
        return x.data.ptr

    def stream(self):
        return self.library.cuda.Stream(non_blocking=True)

    def synchronize(self):
        self.library.cuda.Device().synchronize()

    def graph(self, work):
        stream = self.stream()
        with stream:
            stream.begin_capture()
            work()
            made = stream.end_capture()
        return lambda: made.launch(stream)


class Torch:
    def __init__(self):
        self.library = importlib.import_module("torch")
        self.asynchronous = True

    def put(self, x):
        return self.library.from_numpy(x.copy()).cuda()

    def address(self, x):
        return x.data_ptr()

    def stream(self):
        return self.library.cuda.Stream()

    def synchronize(self):
        self.library.cuda.synchronize()

    def graph(self, work):
        made = self.library.cuda.CUDAGraph()
        with self.library.cuda.graph(made):
            work()
        return made.replay


class Jax:
    def __init__(self):
        self.library = importlib.import_module("jax")
        self.asynchronous = False
        self.library.devices("gpu")

    def put(self, x):
        return self.library.device_put(x, self.library.devices("gpu")[0])

    def address(self, x):
        return x.unsafe_buffer_pointer()

    def synchronize(self):
        pass


def under(made, stream):
    """The library's own context of a current stream."""
    return stream if isinstance(made, Cupy) else made.library.cuda.stream(stream)


@check
def same_bits_as_the_cpu(made):
    import numpy as np
    host = values()
    x = made.put(host)
    calls = {
        "sum": rung.sum, "mean": lambda x: rung.mean(x, 1), "max": lambda x: rung.max(x, 0, True),
        "cumsum": rung.cumsum, "cumsum of columns": lambda x: rung.cumsum(x, 0),
        "matmul": lambda x: rung.matmul(x, x.T), "views": lambda x: rung.sum(x[::2, 3:-1], 0),
        "correlate": lambda x: rung.correlate(x, np.ones((3, 5))),
        "histogram": lambda x: rung.histogram(x, 9, (-2, 2))[0],
        "edges": lambda x: rung.histogram(x, 9)[1],
        "stencil": lambda x: rung.stencil(x, [1, 2, 1], divide=4, steps=5),
        "pairs": lambda x: rung.pair_histogram(x[:, :3], bins=20, range=(0, 3))[0],
        "rdf": lambda x: rung.rdf(x[:, :3], bins=20, range=(0, 3), volume=1000).rdf}
    for name, call in calls.items():
        try:
            found, want = call(x), call(host)
        except BaseException as error:
            raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error
        if name != "rdf":
            assert type(found) is type(x), (name, type(found))
        assert_same_bits(found, want)


@check
def nothing_is_copied(made):
    x = made.put(values())
    assert rung.Array(x).address == made.address(x)
    if isinstance(made, Jax):
        return
    out = made.put(values(seed=2))
    address = made.address(out)
    assert rung.cumsum(x, out=out) is out and made.address(out) == address
    assert_same_bits(out, rung.cumsum(values()))


@check
def host_arrays_through_the_gpu(made):
    host = values()
    assert_same_bits(rung.cumsum(host, device="cuda"), rung.cumsum(host, device="cpu"))


@check
def streams(made):
    """Work on the current stream comes after what is queued there, and before what follows."""
    if not made.asynchronous:
        return
    host, stream = values((1024, 4096)), made.stream()
    x, want = made.put(host), rung.cumsum(host * 16)
    made.synchronize()
    for _ in range(5):
        with under(made, stream):
            y = x * 1
            for _ in range(4):
                y = y * 2
            found = rung.cumsum(y)
            y *= 0  # comes later
            found = found * 1
        stream.synchronize()
        assert_same_bits(found, want)
    found = rung.cumsum(x * 16, stream=stream) if isinstance(made, Cupy) else None
    if found is not None:
        stream.synchronize()


@check
def graphs(made):
    """What is captured computes anew with what the inputs hold when it runs; a call beside it and
    a second graph change nothing."""
    import numpy as np
    if not made.asynchronous:
        return
    calls = {
        "sum": lambda x, out: rung.sum(x, 0, out=out), "max": lambda x, out: rung.max(x, 1, out=out),
        "cumsum": lambda x, out: rung.cumsum(x, out=out),
        "matmul": lambda x, out: rung.matmul(x, x.T, out=out),
        "correlate": lambda x, out: rung.correlate(x, np.ones((3, 5), "float32"), out=out),
        "stencil": lambda x, out: rung.stencil(x, [1, 2, 1], divide=4, steps=5, out=out)}
    for name, call in calls.items():
        host, other = values((300, 500)), values((300, 500), 2)
        x, want = made.put(host), [call(host, None), call(other, None)]
        outs = [made.put(np.zeros_like(want[0])) for _ in range(2)]
        call(x, outs[0])  # kernels are loaded
        made.synchronize()
        replays = [made.graph(lambda out=out: call(x, out)) for out in outs]
        for turn, source in enumerate((host, other)):
            x[:] = made.put(source)
            made.synchronize()
            for replay in replays:
                replay()
            beside = call(made.put(source), None)
            made.synchronize()
            for found in (*outs, beside):
                assert_same_bits(found, want[turn])
    if isinstance(made, Torch):  # results of its own too
        made.synchronize()
        results = []
        replay = made.graph(lambda: results.append(rung.sum(rung.cumsum(x), 0)))
        replay()
        made.synchronize()
        assert_same_bits(results[0], rung.sum(rung.cumsum(other), 0))


@check
def contexts(made):
    x, want = made.put(values()), rung.cumsum(values())
    with rung.Context("cuda:0") as context:
        assert_same_bits(rung.cumsum(x, device=context), want)
        context.synchronize()
    if made.asynchronous:
        stream = made.stream()
        with rung.Context("cuda:0", stream=stream) as context, under(made, stream):
            found = rung.cumsum(made.put(values()), device=context)
            stream.synchronize()
            assert_same_bits(found, want)


@check
def refusals(made):
    x = made.put(values())
    for kind, call in ((TypeError, lambda: rung.matmul(x, values())),
                       ((ValueError, rung.Error), lambda: rung.sum(x, device="cpu")),
                       (ValueError, lambda: rung.sum(x, 7)),
                       (ValueError, lambda: rung.sum(x, rung="no-such"))):
        try:
            call()
        except kind as error:
            assert str(error)
        else:
            raise AssertionError("not refused")


@check
def types(made):
    host = values() * 50
    for name in ("float16", "float32", "int8", "int32", "uint8"):
        kind = host.astype(name)
        assert_same_bits(rung.cumsum(made.put(kind)), rung.cumsum(kind))
    if isinstance(made, Torch):
        narrow = made.put(host).bfloat16()
        assert rung.sum(narrow).dtype == made.library.bfloat16
        assert rung.sum(made.put(host.astype("uint8"))).dtype == made.library.int64


@check
def nothing_leaks(made):
    if not isinstance(made, Torch):
        return
    x = made.put(values((1000, 1000)))

    def use():
        for _ in range(20):
            rung.cumsum(x), rung.sum(x, 0), rung.histogram(x, 5, (0, 1))
        gc.collect()
        made.synchronize()
        return made.library.cuda.memory_allocated()
    assert use() == use()


@check
def the_interface_alone(made):
    """An array that has the CUDA array interface and nothing else, as Numba's."""
    if not isinstance(made, Cupy):
        return

    class Bare:
        def __init__(self, of):
            self.of, self.__cuda_array_interface__ = of, of.__cuda_array_interface__
    x, out = made.put(values()), made.put(values(seed=2))
    rung.cumsum(Bare(x), out=Bare(out))
    made.synchronize()
    assert_same_bits(out, rung.cumsum(values()))


def times(made):
    x = made.put(values((1 << 28,) if made.asynchronous else (1 << 24,)))
    small = made.put(values((1000,)))
    for name, y in (("large", x), ("small", small)):
        for call in (rung.sum, rung.cumsum):
            call(y)
            made.synchronize()
            begun = time.perf_counter()
            for _ in range(20):
                call(y)
            queued = time.perf_counter()
            made.synchronize()
            print(f"  {call.__name__}, {name}: {(time.perf_counter() - begun) * 5e4:.1f} us, "
                  f"of the host {(queued - begun) * 5e4:.1f}")


def main():
    maps = open("/proc/self/maps").read()
    rung.sum(array.array("d", [1.0]))
    assert "librung-cuda" not in maps and "libcuda.so" not in maps
    gpus = [one for one in rung.devices() if one["kind"] == "cuda"]
    if not gpus[0]["usable"]:
        print(f"no GPU: {gpus[0]['why_not']}")
        return 77
    print(f"rung {rung.__version__}, Python {sys.version.split()[0]}, {gpus[0]['name']}")
    failed = 0
    for kind in (Cupy, Torch, Jax):
        try:
            made = kind()
        except (ImportError, RuntimeError) as error:
            print(f"skipped {kind.__name__}: {error}")
            continue
        for function in CHECKS:
            name = f"{kind.__name__} {made.library.__version__}: {function.__name__}"
            try:
                function(made)
                print(f"passed {name}")
            except Exception:
                failed += 1
                print(f"failed {name}")
                traceback.print_exc(file=sys.stdout)
        times(made)
    print(f"{failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
