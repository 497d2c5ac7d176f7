"""call_cost.py: what a call costs in Python beyond the same call in C, beside NumPy's own.

    PYTHONPATH=build/release/python taskset -c 0 python3 tests/python/call_cost.py

A time is the least of many repetitions, all calls taking turns in one process; "own" is Python's
less C's. Needs NumPy and a C compiler; run by hand, on a machine that does nothing else."""
import ctypes
import os
import re
import subprocess
import sys
import tempfile
import timeit
from pathlib import Path

import numpy

import rung

ROOT = Path(__file__).resolve().parents[2]
#: (librung's job, elements, the call, NumPy's like it)
SMALL = [
    ("sum", 16, "rung.sum(a)", "numpy.sum(a)"),
    ("sum", 100, "rung.sum(a)", "numpy.sum(a)"),
    ("sum", 1000, "rung.sum(a)", "numpy.sum(a)"),
    ("sum", 16, "rung.sum(a, out=one)", "numpy.sum(a, out=one)"),
    ("sum", 100, "rung.sum(a, out=one)", "numpy.sum(a, out=one)"),
    ("sum", 1000, "rung.sum(a, out=one)", "numpy.sum(a, out=one)"),
    ("cumsum", 100, "rung.cumsum(a)", "numpy.cumsum(a)"),
    ("cumsum", 100, "rung.cumsum(a, out=c)", "numpy.cumsum(a, out=c)"),
    ("matmul", 4, "rung.matmul(a, b)", "numpy.matmul(a, b)"),
    ("matmul", 4, "rung.matmul(a, b, out=c)", "numpy.matmul(a, b, out=c)"),
    ("histogram", 100, "rung.histogram(a, 10, (0, 2))", "numpy.histogram(a, 10, (0, 2))"),
    ("", 100, "rung.bincount(i)", "numpy.bincount(i)")]
LARGE = [("sum", 1 << 24, "rung.sum(a)", "numpy.sum(a)"),
         ("cumsum", 1 << 24, "rung.cumsum(a, out=c)", "numpy.cumsum(a, out=c)"),
         ("matmul", 512, "rung.matmul(a, b, out=c)", "numpy.matmul(a, b, out=c)"),
         ("histogram", 1 << 22, "rung.histogram(a, 10, (0, 2))", None)]


def native(folder):
    """seconds_of() of call_cost.c, over the librung of this process."""
    loaded = re.search(r"/\S*librung\.so\S*", Path("/proc/self/maps").read_text()).group()
    made = os.path.join(folder, "call_cost.so")
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", f"-I{ROOT}/include",
                    "-o", made, ROOT / "tests/python/call_cost.c", loaded], check=True)
    function = ctypes.CDLL(made).seconds_of
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_char_p, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2]
    return function


class Row:
    """A call's least times, in seconds: in Python, in C, of NumPy."""

    def __init__(self, seconds_of, job, n, call, beside, calls):
        values = numpy.random.default_rng(1).random((3, n * n if job == "matmul" else n), "f4")
        shape = (n, n) if job == "matmul" else (n,)
        self.a, self.b, self.c = (row.reshape(shape) for row in values)
        known = {"rung": rung, "numpy": numpy, "a": self.a, "b": self.b, "c": self.c,
                 "one": numpy.zeros((), "f4"), "i": numpy.arange(n) % 10}
        self.name, self.n, self.calls = call, n, calls
        self.timers = [timeit.Timer(call, globals=known).timeit,
                       (lambda calls: self.checked(seconds_of, job, calls)) if job else None,
                       timeit.Timer(beside, globals=known).timeit if beside else None]
        self.least = [float("inf") if timer else float("nan") for timer in self.timers]

    def checked(self, seconds_of, job, calls):
        seconds = seconds_of(job.encode(), *(x.ctypes.data for x in (self.a, self.b, self.c)),
                             self.n, calls)
        assert seconds >= 0, job
        return seconds

    def turn(self, order):
        for i in order:
            if self.timers[i]:
                self.least[i] = min(self.least[i], self.timers[i](self.calls) / self.calls)


def table(rows, turns, unit, own):
    for row in rows:
        for turn in range(turns):  # each as often behind the other, which leaves it warm caches
            row.turn((1, 0, 2) if turn % 2 else (0, 1, 2))
        python, c, beside = (seconds * unit for seconds in row.least)
        print(f"| `{row.name}` | {row.n} | {python:.2f} | {c:.2f} | {own(python, c)} "
              f"| {beside:.2f} |".replace("nan", ""))


def main():
    with tempfile.TemporaryDirectory() as folder:
        seconds_of = native(folder)
        print(f"rung {rung.__version__}, NumPy {numpy.__version__}, Python {sys.version.split()[0]}")
        print("| microseconds | n | Python | C | own | NumPy's |")
        table([Row(seconds_of, *row, 2000) for row in SMALL], 200, 1e6, lambda p, c: f"{p - c:.2f}")
        print("| milliseconds | n | Python | C | own | NumPy's |")
        table([Row(seconds_of, *row, 1) for row in LARGE], 30, 1e3,
              lambda p, c: f"{100 * (p / c - 1):.1f} %")


if __name__ == "__main__":
    main()
