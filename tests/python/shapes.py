"""shapes.py: reductions and scans of PyTorch's CUDA tensors by shape, beside PyTorch's own.

    PYTHONPATH=build/cuda/python python3 tests/python/shapes.py [-o FILE.csv] [--drawn 40]

Both are called as their users call them, in turns, on one stream; CUDA events time the device, after
a write of 256 MiB that leaves nothing of the input in a cache and keeps the device busy until the
call is queued. A row: the operation, its shape and axis, the medians in microseconds, how often
Rung's time PyTorch's is, and the least bytes over Rung's time as a fraction of what a copy (reading
for reductions: torch.sum of 4 GiB) reaches. Exits 77 where there is no GPU or no PyTorch."""
import argparse
import csv
import math
import random
import statistics
import sys

SHAPES = [((1 << 28,), 0), ((1 << 24,), 0), ((1 << 20,), 0), ((1 << 16,), 0),
          ((4096, 4096), 0), ((4096, 4096), 1), ((1024, 16384), 0), ((16384, 1024), 0),
          ((16384, 1024), 1), ((128, 1 << 20), 0), ((64, 64, 4096), 0), ((64, 64, 4096), 1),
          ((1 << 20, 128), 0), ((1 << 20, 128), 1), ((1 << 22, 8), 0), ((1 << 22, 8), 1),
          ((8, 1 << 22), 0), ((32768, 32768), 0), ((32768, 32768), 1), ((1 << 17, 1001), 1),
          ((1001, 1 << 17), 0), ((1 << 25, 3), 1), ((3, 1 << 25), 0), ((1 << 21, 33), 1),
          ((1 << 19, 257), 1), ((100, 1000, 1000), 1), ((1 << 15, 4095), 1), ((5000, 20011), 0),
          ((2, 1 << 26), 1), ((1 << 26, 2), 0), ((100000, 1000, 3), 1), ((32768, 2048), 0),
          ((500000, 8, 64), 1), ((1000, 10), 0), ((10, 1000), 1), ((300, 300), 0)]


def drawn(count, seed=1):
    """Shapes that nobody chose: two or three extents of 2^0 ... 2^24, together 2^12 ... 2^28."""
    draw = random.Random(seed)
    found = []
    while len(found) < count:
        shape = tuple(int(2 ** (24 * draw.random() ** 1.5)) for _ in range(draw.choice((2, 2, 3))))
        axis = draw.randrange(len(shape))
        if 1 << 12 <= math.prod(shape) <= 1 << 28 and shape[axis] > 1:
            found.append((shape, axis))
    return found


def median(torch, call, flush, most=15):
    """Of `most` times but the first two; of fewer where one takes long, and the second alone where it
    takes 20 ms."""
    found = []
    while len(found) < most and (len(found) < 3 or sum(found) < 5e4):
        flush.fill_(1)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) * 1e3)
        if len(found) > 1 and found[-1] > 2e4:
            return found[-1]
    return statistics.median(found[2:])


def main():
    try:
        import torch
        import rung
    except ImportError as error:
        print(error)
        return 77
    if not torch.cuda.is_available():
        print("no GPU")
        return 77
    options = argparse.ArgumentParser()
    options.add_argument("-o")
    options.add_argument("--types", default="float32")
    options.add_argument("--operations", default="sum,max,cumsum")
    options.add_argument("--drawn", type=int, default=0, help="so many random shapes instead")
    options.add_argument("--alone", action="store_true", help="without PyTorch's own times")
    given = options.parse_args()
    flush = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    large = torch.ones(1 << 30, device="cuda")
    target = torch.empty_like(large)
    read = 4 * large.numel() / median(torch, large.sum, flush)
    copy = 8 * large.numel() / median(torch, lambda: target.copy_(large), flush)
    del large, target
    rows = [["operation", "type", "shape", "axis", "rung_us", "torch_us", "ratio", "of_peak"]]
    for kind in given.types.split(","):
        for name in given.operations.split(","):
            for shape, axis in drawn(given.drawn) if given.drawn else SHAPES:
                x = torch.rand(shape, device="cuda").mul(100).to(getattr(torch, kind))
                scan = name.startswith("cum")
                mine = getattr(rung, name)
                theirs = {"sum": torch.sum, "max": torch.amax, "min": torch.amin,
                          "cumsum": torch.cumsum}[name]
                ours = median(torch, lambda: mine(x, axis), flush)
                other = median(torch, lambda: theirs(x, axis), flush) if not given.alone else 0
                size = x.numel() * x.element_size()
                moved = 2 * size if scan else size + size // shape[axis]
                rows.append([name, kind, "x".join(map(str, shape)), axis, f"{ours:.2f}",
                             f"{other:.2f}", f"{other / ours:.2f}",
                             f"{moved / ours / (copy if scan else read):.3f}"])
                print(",".join(map(str, rows[-1])), flush=True)
                del x
    if given.o:
        with open(given.o, "w", newline="") as file:
            file.write(f"# {torch.cuda.get_device_name()}; Rung {rung.__version__}, PyTorch "
                       f"{torch.__version__}; reading {read / 1e3:.0f} GB/s, a copy "
                       f"{copy / 1e3:.0f} GB/s, both measured; tests/python/shapes.py\n")
            csv.writer(file, lineterminator="\n").writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
