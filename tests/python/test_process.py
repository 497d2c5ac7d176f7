"""What the package does to a process: started, forked, interrupted, ended, without its library."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rung

HERE = Path(__file__).resolve().parent
PACKAGE = Path(rung.__file__).parent


def run(program, expect=0, **environment):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], text=True,
                          capture_output=True, timeout=120, env={**os.environ, **environment})
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout.strip()


def test_import_loads_no_more_than_it_needs():
    loaded = run("""
import array, sys, rung
assert rung.sum(array.array("d", [1, 2])) == 3
print([name for name in ("numpy", "torch", "subprocess", "json", "html") if name in sys.modules])
maps = open("/proc/self/maps").read()
print("librung.so" in maps, "librung-sim" in maps or "librung-cuda" in maps or "libcuda" in maps)
rung.devices()
print("librung-sim" in open("/proc/self/maps").read())
""")
    assert loaded.splitlines()[:2] == ["[]", "True False"]
    simulator = any(one["device"] == "sim" and one["usable"] for one in rung.devices())
    assert loaded.splitlines()[2] == str(simulator)


def test_exit_with_results_alive():
    assert run("""
import rung, numpy as np, sys, builtins
x = rung.cumsum(rung.Array(np.ones(1000)))
builtins.kept = [x, x.__dlpack__(), memoryview(x), np.from_dlpack(x), rung.Context("cpu"),
                 rung.sum(np.ones(5))]
sys.modules["kept"] = x
print("end")
""") == "end"


def test_exit_with_a_thread_at_work():
    assert run("""
import rung, numpy as np, threading
x = np.ones((3000, 1000))
def work():
    while True: rung.cumsum(x, 0)
threading.Thread(target=work, daemon=True).start()
rung.sum(x)
print("end")
""") == "end"


def test_fork():
    assert run("""
import os, rung, numpy as np
x = np.arange(100000.0)
want = rung.sum(x)
with rung.Context("cpu") as parents:
    child = os.fork()
    if child == 0:
        try:
            rung.sum(x, device=parents)
        except ValueError:
            os._exit(0 if rung.sum(x) == want else 3)
        os._exit(4)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), rung.sum(x) == want)
""") == "0 True"


def test_threads_compute_side_by_side():
    """Python's lock is released: while a call computes, another thread counts."""
    assert run("""
import rung, numpy as np, threading
x = np.random.default_rng(1).random((2000, 1000))
want, found, counted, done = rung.sum(x, 0), [], [0], threading.Event()
def count():
    while not done.is_set(): counted[0] += 1
def work():
    for _ in range(5): found.append((rung.sum(x, 0) == want).all())
    for _ in range(5): found.append((rung.cumsum(x, 0)[-1] > 0).all())
counter = threading.Thread(target=count)
workers = [threading.Thread(target=work) for _ in range(3)]
counter.start()
for worker in workers: worker.start()
for worker in workers: worker.join()
done.set()
counter.join()
print(all(found), len(found), counted[0] > 0)
""") == "True 30 True"


def test_interrupt():
    assert run("""
import os, rung, signal, threading, numpy as np
x = np.ones((1000, 1000))
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True: rung.stencil(x, [1, 2, 1], divide=4, steps=20)
except KeyboardInterrupt:
    print("interrupted", rung.sum(x))
""") == "interrupted 1000000.0"


def test_random_capsules_at_exit():
    """A consumer that outlives the package's module."""
    assert run("""
import rung, numpy as np
class Late:
    def __init__(self): self.array = np.from_dlpack(rung.cumsum(rung.Array(np.ones(9))))
    def __del__(self): self.array = None
import sys
sys.late = Late()
print("end")
""") == "end"


def test_a_library_of_immutable_arrays():
    """What JAX asks for, by a stand-in: results are adopted, nothing of its own is written."""
    assert run("""
import sys, types, numpy as np
class Immutable:
    __module__ = "jaxlib.stand_in"
    def __init__(self, values): self.values = values
    def __dlpack__(self, **options): return self.values.__dlpack__()
    def __dlpack_device__(self): return self.values.__dlpack_device__()
    def __float__(self): return float(self.values)
jax = types.ModuleType("jax")
jax.numpy = types.SimpleNamespace(float32=np.float32, float64=np.float64, int64=np.int64,
                                  array=lambda values, kind, device:
                                      Immutable(np.array(values, kind)))
jax.dlpack = types.SimpleNamespace(from_dlpack=lambda x: Immutable(np.from_dlpack(x)))
class enable_x64:
    def __init__(self, on): pass
    def __enter__(self): pass
    def __exit__(self, *exception): pass
jax.enable_x64 = enable_x64
Immutable.device = "cpu"
sys.modules["jax"] = jax
import rung
x = Immutable(np.arange(6, dtype=np.float32))
print(type(rung.cumsum(x)).__name__, rung.cumsum(x).values.tolist(), rung.sum(x).values)
counts, edges = rung.histogram(x, 2)
print(type(counts).__name__, counts.values.tolist(), edges.values.tolist(), edges.values.dtype)
try: rung.cumsum(x, out=Immutable(np.zeros(6, np.float32)))
except TypeError as error: print(error)
""").splitlines() == [
        "Immutable [0.0, 1.0, 3.0, 6.0, 10.0, 15.0] 15.0",
        "Immutable [3, 3] [0.0, 2.5, 5.0] float32",
        "out is of jax, whose arrays never change; expected: no out"]


def test_libraries_that_are_met_at_once():
    """While one is asked for, another thread, or here the asking itself, meets others first."""
    assert run("""
import array, sys, types, rung, numpy as np
from rung import _libraries
def numpys(made=_libraries._MAKERS["numpy"], depth=[0]):
    depth[0] += 1
    if depth[0] == 1:
        print(rung.sum(array.array("d", [1, 2])), rung.sum(np.ones(3)), rung.cumsum(b"ab").dtype)
    return made()
_libraries._MAKERS["numpy"] = numpys
print(type(rung.sum(np.ones(3))).__name__, type(rung.cumsum(np.ones(3))).__name__,
      type(rung.sum(array.array("d", [1]))).__name__, type(rung.cumsum(b"a")).__name__)
""").splitlines() == ["3.0 3.0 uint8", "float64 ndarray float Array"]


def test_rows_on_a_gpu():
    """Edges are numbers that a GPU's library copies: by a stand-in for CuPy."""
    assert run(f"""
import sys, types
sys.path.insert(0, {str(HERE)!r})
from producers import Producer
class Device:
    def __enter__(self): used.append("device")
    def __exit__(self, *exception): pass
class Row(Producer):
    __module__ = "cupy.stand_in"
    def __init__(self): Producer.__init__(self, device=(2, 0), says=(2, 0), version=1)
    def __dlpack_device__(self): return 2, 0
used = []
cupy = types.ModuleType("cupy")
cupy.empty = None
cupy.array = lambda row: (row.tolist(), str(row.dtype))
cupy.cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=7))
sys.modules["cupy"] = cupy
import rung, array
x = Row()
x.device = Device()
print(rung._rung.row_like(array.array("d", [0, 0.1, 1]), x), used, x.asked[0]["stream"], x.deleted)
""") == "([0.0, 0.1, 1.0], 'float64') ['device'] 7 1"


def copy_of_package(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "rung", ignore=shutil.ignore_patterns("__pycache__"))
    extension = tmp_path / "rung" / "_rung.abi3.so"
    text = extension.read_bytes()
    return extension, text


def library_of_build():
    for folder in (PACKAGE, PACKAGE.parent.parent):
        if (folder / "librung.so.0").exists():
            return (folder / "librung.so.0").resolve()
    pytest.skip("librung.so.0 does not lie beside the build's package")


def test_without_librung(tmp_path):
    copy_of_package(tmp_path)
    said = run("""
try:
    import rung
except ImportError as error:
    print(error)
""", PYTHONPATH=str(tmp_path), LD_LIBRARY_PATH="")
    if "expected" not in said:
        pytest.skip("librung is installed where the loader looks")
    assert "librung.so.0" in said and "expected: librung" in said


def test_beside_its_library_and_another_version(tmp_path):
    library = library_of_build()
    copy_of_package(tmp_path)
    beside = tmp_path / "librung.so.0"
    shutil.copy(library, beside)
    program = """
try:
    import rung, array
    print(rung.__version__, rung.sum(array.array("d", [1, 2])))
except ImportError as error:
    print(error)
"""
    where = {"PYTHONPATH": str(tmp_path), "LD_LIBRARY_PATH": str(tmp_path)}
    version = rung.__version__
    assert run(program, **where) == f"{version} 3.0"
    other = version[:-1] + ("9" if version[-1] != "9" else "8")
    beside.write_bytes(library.read_bytes().replace(version.encode(), other.encode()))
    assert run(program, **where).startswith(f"librung is of version {other}; expected: {version}")
