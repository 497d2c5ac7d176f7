"""beside_torch.py: jobs drawn at random on a GPU, by the package and by PyTorch.

    PYTHONPATH=build/cuda/python python3 tests/python/beside_torch.py SEED SECONDS [OPERATION...]

Prints CSV, a row a job: microseconds of a call by either (the least of three rounds of calls in a
row, between two events; of small jobs that is the call's own time on the host), and their ratio,
above 1 where the package is faster. After the last job of an operation a line on standard error
says how many there were, the median of their ratios, and the least. OPERATION: reduce, scan,
matmul, rungs (matmul by every strict rung, small and thin products and batches), histogram,
correlate; all but rungs by default. Products are not rounded to TF32. Exit status 77: no GPU."""
import math
import random
import statistics
import sys
import time

import torch

import rung

TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
         "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8}
RUNGS = ["naive", "tiled", "column", "vector", "quads", "tensor", "batch", "strips", "chains"]


def time_of(call, seconds):
    """Microseconds of a call, of as many as take so long, three times."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def calls(count):
        begin.record()
        for _ in range(count):
            call()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) * 1e3 / count

    calls(2)
    count = max(2, min(200, int(seconds * 1e6 / max(calls(1), 5))))
    return min(calls(count) for _ in range(3))


def array(shape, dtype):
    kind = TYPES[dtype]
    if not kind.is_floating_point:
        return torch.randint(0, 100, shape, device="cuda", dtype=kind)
    return torch.rand(shape, device="cuda", dtype=torch.float64 if dtype == "f64" else torch.float32).to(kind)


def extents(draw, total, count):
    """So many factors of about `total`."""
    parts = [draw.random() for _ in range(count)]
    return [max(1, round(total ** (part / sum(parts)))) for part in parts]


def view(draw, shape, dtype):
    """Of this shape, lying in memory in one of several ways, and its name."""
    way = draw.random()
    if way < 0.5 or len(shape) < 2:
        return array(shape, dtype), "rows"
    if way < 0.6:
        return array((math.prod(shape) + 3,), dtype)[1:-2].reshape(shape), "unaligned"
    if way < 0.8:
        order = list(range(len(shape)))
        draw.shuffle(order)
        made = array([shape[axis] for axis in order], dtype)
        return made.permute([order.index(axis) for axis in range(len(shape))]), f"order {order}"
    axis, wider = draw.randrange(len(shape)), list(shape)
    wider[axis] += draw.choice([1, 5, 16, 64])
    return array(wider, dtype).narrow(axis, 0, shape[axis]), f"gaps along {axis}"


def reduce(draw):
    dtype = draw.choice(["f32", "f32", "f32", "f64", "f16", "bf16", "i32", "i64", "u8"])
    shape = extents(draw, 2 ** draw.uniform(14, 27), draw.choice([1, 2, 2, 3]))
    what = draw.choice(["sum", "sum", "max", "mean" if TYPES[dtype].is_floating_point else "max"])
    axis = draw.choice([None] + list(range(len(shape))))
    x, way = view(draw, shape, dtype)
    theirs = {"sum": torch.sum, "max": torch.amax, "mean": torch.mean}[what]
    job = f"{what} {dtype} {shape} axis {axis} {way}"
    if axis is None:
        return job, lambda: getattr(rung, what)(x), lambda: theirs(x)
    return job, lambda: getattr(rung, what)(x, axis=axis), lambda: theirs(x, axis)


def scan(draw):
    dtype = draw.choice(["f32", "f32", "f64", "i64", "f16"])
    shape = extents(draw, 2 ** draw.uniform(14, 27), draw.choice([1, 2, 2, 3]))
    axis = draw.randrange(len(shape))
    x, way = view(draw, shape, dtype)
    return (f"cumsum {dtype} {shape} axis {axis} {way}", lambda: rung.cumsum(x, axis=axis),
            lambda: torch.cumsum(x, axis))


def product(draw, most, many):
    """Operands and the job's name: of `most` multiply-adds, a batch so often."""
    m, n, k = (int(2 ** draw.uniform(0, 12.3)) for _ in range(3))
    batch = int(2 ** draw.uniform(1, 10)) if draw.random() < many else 1
    while m * n * k * batch > most:
        m, k, batch = max(1, m // 2), max(1, k // 2), max(1, batch // 2)
    dtype = draw.choice(["f32", "f32", "f64"])
    lead = (batch,) if batch > 1 else ()
    turned = draw.random() < 0.3, draw.random() < 0.3
    a = array(lead + ((k, m) if turned[0] else (m, k)), dtype)
    b = array(lead + ((n, k) if turned[1] else (k, n)), dtype)
    layout = ("t" if turned[0] else "n") + ("t" if turned[1] else "n")
    return (a.mT if turned[0] else a, b.mT if turned[1] else b,
            f"{dtype} batch={batch} m={m} n={n} k={k} {layout}")


def matmul(draw):
    a, b, job = product(draw, 2 ** 35, 0.25)
    return job, lambda: rung.matmul(a, b), lambda: torch.matmul(a, b)


def rungs(draw):
    while True:
        a, b, job = product(draw, 2 ** 33, 0.65)
        if a.dim() == 3 or min(a.shape[0], b.shape[1]) < 64:
            break
    by = [lambda name=name: rung.matmul(a, b, rung=name) for name in RUNGS]
    return job, lambda: rung.matmul(a, b), lambda: torch.matmul(a, b), by


def histogram(draw):
    dtype = draw.choice(["f32", "f64", "u8", "i32"])
    count, bins = int(2 ** draw.uniform(12, 27)), draw.choice([10, 100, 256, 1000, 4096, 30000])
    if TYPES[dtype].is_floating_point:
        x = draw.choice([torch.randn, torch.rand])(count, device="cuda", dtype=TYPES[dtype])
        return (f"{dtype} n={count} even bins={bins}", lambda: rung.histogram(x, bins, range=(-4.0, 4.0)),
                lambda: torch.histc(x, bins, -4, 4))
    x = torch.randint(0, min(bins, 250), (count,), device="cuda", dtype=TYPES[dtype])
    return (f"{dtype} n={count} whole bins={bins}", lambda: rung.bincount(x, minlength=bins),
            lambda: torch.bincount(x, minlength=bins))


def correlate(draw):
    height, width = (int(2 ** draw.uniform(5, 12.5)) for _ in range(2))
    kernel = torch.rand([draw.choice([1, 2, 3, 3, 4, 5, 7, 9, 11, 15]) for _ in range(2)])
    x, theirs = array((height, width), "f32"), kernel.cuda()[None, None]
    ours = kernel.double().numpy()
    return (f"f32 {height}x{width} by {kernel.shape[0]}x{kernel.shape[1]}",
            lambda: rung.correlate(x, ours, mode="constant"),
            lambda: torch.nn.functional.conv2d(x[None, None], theirs, padding="same"))


def least_of(call):
    """Empty: the rung cannot do the job."""
    try:
        return f"{time_of(call, 0.0006):.1f}"
    except rung.Error:
        return ""


def main(seed, seconds, *names):
    if not torch.cuda.is_available():
        return 77
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    print(f"# {torch.cuda.get_device_name()}; Rung {rung.__version__}, PyTorch {torch.__version__}; seed {seed}")
    print("operation,job,ours_us,torch_us,ratio" + "".join("," + name for name in RUNGS))
    for work in (reduce, scan, matmul, rungs, histogram, correlate):
        if work.__name__ not in (names or ("reduce", "scan", "matmul", "histogram", "correlate")):
            continue
        draw, ratios, end = random.Random(int(seed)), [], time.time() + float(seconds)
        while time.time() < end:
            job, ours, theirs, *by = work(draw)
            mine, other = time_of(ours, 0.002), time_of(theirs, 0.002)
            ratios.append(other / mine)
            columns = [least_of(call) for call in by[0]] if by else []
            print(work.__name__, job.replace(",", ""), f"{mine:.1f}", f"{other:.1f}", f"{ratios[-1]:.2f}",
                  *columns, sep=",", flush=True)
        print(f"{work.__name__}: {len(ratios)} jobs, median {statistics.median(ratios):.2f}, least {min(ratios):.2f}, "
              f"{sum(ratio < 1 for ratio in ratios)} below 1", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
