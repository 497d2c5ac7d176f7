"""Memory that runs out: MemoryError with a sentence, nothing lost, and the next call goes on."""
import pytest
from test_process import run

#: A process that may have so much more address space than it has; memory of large blocks comes from
#: the system and goes back to it at once, so that no earlier call's is left over, nor the rest of a
#: large page.
SMALL = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536",
         "GLIBC_TUNABLES": "glibc.malloc.hugetlb=0"}
LIMITED = """
import array, os, resource, sys, numpy as np, rung
plain = array.array("f", bytes(16 << 20))
x = np.frombuffer(plain, "f4").reshape(2048, 2048)
x[:] = np.arange(2048)
out, many = np.zeros_like(x), np.arange(1 << 18)
points = np.random.default_rng(1).random((2000, 3))
edges = np.linspace(0, 2048, 1 << 18)
listed, text = edges.tolist(), bytes(plain)
small = np.ones(5)
rung.sum(small), rung.cumsum(plain[:9])  # which import what they need

def limited(kib, call):
    \"\"\"What the call comes to with so much more address space.\"\"\"
    with open("/proc/self/statm") as numbers:
        size = int(numbers.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (kib << 10), -1))
    try:
        result = call()
    except MemoryError as error:
        result = str(error)
        assert result, "a MemoryError without a sentence"
    finally:
        after = rung.sum(small)
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    assert after == 5
    return result
"""

CALLS = {
    "sum": "rung.sum(x, 0)", "cumsum": "rung.cumsum(x, 0)", "of_no_library": "rung.cumsum(plain)",
    "matmul": "rung.matmul(x.T, x[:, :64])", "histogram": "rung.histogram(x, 1 << 18, (0, 2048))",
    "edges": "rung.histogram(x, edges)", "listed": "rung.histogram(x, listed)",
    "bytes": "rung.histogram(text, 'bytes', outside=True)",
    "rows": "rung.histogram(x, 2000, rows=True)", "bincount": "rung.bincount(many)",
    "correlate": "rung.correlate(x, [[1, 2, 1]] * 3)",
    "convolve": "rung.convolve(x, np.ones((5, 5)), math='fast', out=out)",
    "stencil": "rung.stencil(x, [1, 2, 1], steps=2, means=True)",
    "radiator": "rung.radiator(2048, 2048, 2)",
    "pairs": "rung.pair_histogram(points, bins=1 << 18, range=(0, .5))",
    "rdf": "rung.rdf(points, bins=1 << 18, range=(0, .5), box=(1, 1, 1))"}


@pytest.mark.parametrize("name", CALLS)
def test_from_no_memory_to_enough(name):
    """With more and more of it, until the call is done: every failure says what there is not."""
    said = run(LIMITED + f"""
call = lambda: {CALLS[name]}
kib, failures, sentences = 0, 0, []
while True:
    result = limited(kib, call)
    if not isinstance(result, str):
        break
    failures += 1
    if result not in sentences: sentences.append(result)
    kib = kib * 3 // 2 + 100
first = result[0] if isinstance(result, tuple) else result
want = call()
want = want[0] if isinstance(want, tuple) else want
assert np.array_equal(np.asarray(first), np.asarray(want))
print(failures)
print(*sentences, sep="\\n")
""", **SMALL).splitlines()
    if name not in ("sum", "bytes", "convolve"):  # which need little or no more than their scratch
        assert int(said[0]) > 0
    assert all("memory" in line or "Unable to allocate" in line for line in said[1:]), said


def test_whose_sentences():
    said = run(LIMITED + """
print(limited(0, lambda: rung.cumsum(x)))
print(limited(0, lambda: rung.cumsum(plain)))
kib, found = 0, ""
while isinstance(found, str) and "thresholds" not in found:
    found = limited(kib, lambda: rung.pair_histogram(points, bins=1 << 18, range=(0, .5)))
    kib += 200
print(found)
""", **SMALL).splitlines()
    assert said == ["Unable to allocate 16.0 MiB for an array with shape (2048, 2048) and data type "
                    "float32", "no memory for an array of 16777216 bytes",
                    "no memory for 262145 thresholds"]


def test_refused_calls_keep_nothing():
    assert run(LIMITED + """
import gc
calls = [lambda: rung.cumsum(x), lambda: rung.cumsum(plain), lambda: rung.histogram(x, edges),
         lambda: rung.stencil(x, [1, 2, 1], means=True), lambda: rung.radiator(3000, 3000, 1),
         lambda: rung.pair_histogram(points, bins=1 << 18, range=(0, .5)),
         lambda: rung.matmul(x, x), lambda: rung.correlate(x, [[1]]),
         lambda: rung.bincount(many)]
def pages(): return int(open("/proc/self/statm").read().split()[0])
def turn():
    for call in calls: assert isinstance(limited(0, call), str)
for _ in range(3): turn()
gc.collect()
before = sys.getrefcount(x), sys.getrefcount(plain), sys.getrefcount(edges), pages()
for _ in range(50): turn()
gc.collect()
after = sys.getrefcount(x), sys.getrefcount(plain), sys.getrefcount(edges), pages()
print(before[:3] == after[:3], (after[3] - before[3]) * resource.getpagesize() < 1 << 20)
print(rung.sum(x) == 2048 * 2047 * 1024)
""", **SMALL) == "True True\nTrue"


def test_the_first_call_of_a_process():
    """A context, its threads and what is imported, where there is little room for them."""
    for kib in 0, 100, 1000, 10000, 100000:
        assert run(f"""
import array, resource, rung
x = array.array("f", range(1 << 18))
with open("/proc/self/statm") as numbers:
    size = int(numbers.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + ({kib} << 10), -1))
try:
    found = rung.cumsum(x)
except MemoryError:
    found = None
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
want = rung.cumsum(x)
print(found is None or memoryview(found) == memoryview(want))
""", **SMALL) == "True"
