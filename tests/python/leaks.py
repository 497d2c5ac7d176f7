"""leaks.py: whether calls, and refusals, leave memory behind.

    PYTHONPATH=build/release/python python3 tests/python/leaks.py

Runs itself under valgrind with few turns and with many: what is lost must be the same. Fails with 1
where it is not; 77: valgrind or NumPy is not there. Run by hand: it takes a minute."""
import os
import re
import shutil
import subprocess
import sys


class Wrong:
    """A producer of DLPack that says where it is, or not, and gives no capsule."""
    place = (1, 0)

    def __dlpack_device__(self):
        return self.place

    def __dlpack__(self, **options):
        return None


def turns(count):
    import numpy as np
    import rung
    generator = np.random.default_rng(1)
    a = generator.random((7, 9), "f4")
    whole = generator.integers(0, 9, 50)
    points = generator.random((20, 3))
    wrong, odd = Wrong(), Wrong()
    wrong.place = (1 << 70, 0)
    refused = [lambda: rung.sum(np.array([object()])), lambda: rung.sum(a, 9),
               lambda: rung.matmul(a, a), lambda: rung.sum(a.astype(">f4")),
               lambda: rung.histogram(a, "words"), lambda: rung.sum(a, device="nowhere"),
               lambda: rung.pair_histogram(None, bins=10, range=(0, 1)),
               lambda: rung.histogram(a, [0, 2, 1]), lambda: rung.histogram(a, 3, (1, "2")),
               lambda: rung.bincount(-whole), lambda: rung.bincount(whole, -1),
               lambda: rung.sum(wrong), lambda: rung.Array(odd)]
    for _ in range(count):
        rung.sum(a)
        rung.sum(a, 0)
        rung.mean(a, 1, keepdims=True)
        rung.cumsum(a)
        rung.cummax(a[::-1], 0)
        rung.histogram(a, 5, (0, 1))
        rung.histogram(a, 5)
        rung.histogram(a.astype("f2"), [0, 0.5, 1], outside=True)
        rung.histogram(memoryview(a), 5, rows=True)
        rung.bincount(whole)
        rung.matmul(a, a.T)
        rung.correlate(a, np.ones((3, 3)))
        rung.pair_histogram(points, bins=10, range=(0, 1))
        rung.rdf(points, bins=10, range=(0, 0.5), box=(1, 1, 1))
        np.from_dlpack(rung.Array(a))
        for call in refused:
            try:
                call()
            except (TypeError, ValueError, BufferError, rung.Error):
                continue
            raise AssertionError("a call was not refused")


def lost(count):
    """Valgrind's lines of what is lost after so many turns, of kinds that cannot be in use."""
    environment = dict(os.environ, PYTHONMALLOC="malloc", OMP_NUM_THREADS="1")
    done = subprocess.run(["valgrind", "--leak-check=full", sys.executable, __file__, str(count)],
                          env=environment, stderr=subprocess.PIPE, text=True, check=True)
    return re.findall(r"(?:definitely|indirectly|possibly) lost: .*", done.stderr)


def main():
    if len(sys.argv) > 1:
        turns(int(sys.argv[1]))
        return 0
    try:
        import numpy  # noqa: F401
    except ImportError:
        return 77
    if not shutil.which("valgrind"):
        return 77
    few, many = lost(20), lost(120)
    for number, lines in ((20, few), (120, many)):
        print(f"{number} turns: " + "; ".join(lines))
    return 0 if few and few == many else 1


if __name__ == "__main__":
    sys.exit(main())
