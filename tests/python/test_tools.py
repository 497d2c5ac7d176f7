"""What comes with the package: same bits as a tool, the plug-in, records, stubs, wheel, pages."""
import ast
import doctest
import html
import inspect
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import rung
from rung.testing import assert_same_bits, units_apart

ROOT = Path(__file__).resolve().parents[2]


# ---- assert_same_bits ------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int64"])
def test_same_bits(draw, dtype):
    x = draw.values((3, 4), dtype)
    assert_same_bits(x, x.copy())
    assert_same_bits(x[:, ::-1], x[:, ::-1].copy())
    y = x.copy()
    y[2, 1] = np.nextafter(y[2, 1], y.dtype.type(9)) if "f" in dtype else y[2, 1] ^ 1
    with pytest.raises(AssertionError, match=r"1 of 12 .* \[2, 1\].* 1 unit in the last place"):
        assert_same_bits(x, y)


def test_zeros_and_nans():
    with pytest.raises(AssertionError, match="0x80000000 and 0x00000000, 0 units"):
        assert_same_bits(np.float32([-0.0]), np.float32([0]))
    nan = np.array([0x7FF8000000000001], np.uint64).view(np.float64)
    assert_same_bits(nan, np.array([-np.nan]))
    with pytest.raises(AssertionError, match="a NaN"):
        assert_same_bits(nan, np.array([1.0]))
    assert units_apart(0x80000001, 0x00000001, "float32") == 2
    for a, b in ((np.zeros(2), np.zeros(3)), (np.zeros(2), np.zeros(2, np.float32))):
        with pytest.raises(AssertionError):
            assert_same_bits(a, b)
    with pytest.raises(TypeError):
        assert_same_bits([1], [1])


def test_plug_in(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import rung\n"
        "def test_sum(rung_device):\n"
        "    assert rung.sum(b'abc', device=rung_device) == 294\n")
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "rung.pytest_plugin", "-p",
                          "no:cacheprovider", str(tmp_path)], capture_output=True, text=True,
                         timeout=120)
    there = sum(one["usable"] for one in rung.devices())
    assert run.returncode == 0 and f"{there} passed" in run.stdout, run.stdout + run.stderr


# ---- what is here ------------------------------------------------------------------------------

def test_answers():
    devices = rung.devices()
    assert devices[0]["device"] == "cpu" and devices[0]["usable"]
    assert "<table>" in devices._repr_html_()
    for operation, summary in rung.operations():
        ladder = rung.ladder(operation)
        assert summary and {"cpu", "gpu"} <= {one["on"] for one in ladder}
        assert sum(one["first"] for one in rung.ladder(operation, "cpu")) == 1
        shown = html.unescape(ladder._repr_html_())
        assert all(one["idea"] in shown for one in ladder)


def test_records(tmp_path, monkeypatch):
    command = tmp_path / "rung"
    command.write_text("#!/bin/sh\n"
                       "case \"$*\" in *bad*) echo 'no such thing' >&2; exit 2;; esac\n"
                       "echo '{\"said\": \"'\"$*\"'\", \"rows\": [{\"rung\": \"<a>\"}]}'\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    record = rung.bench("reduce", "n=10", hot=True, threads=1, seconds=2)
    said = "bench reduce --json --quiet --sizes=n=10 --threads=1 --hot --time-out=2"
    assert record["said"] == said
    assert "&lt;a&gt;" in record._repr_html_()
    command.write_text("#!/bin/sh\necho '{\"device\": {\"name\": \"it\"}}'\n"
                       "echo '{\"operation\": \"scan\", \"candidates\": 1}'\n"
                       "echo '{\"rung\": \"warp\", \"samples_ms\": [1.5]}'\n")
    record = rung.bench("scan")
    assert record["device"]["name"] == "it"
    assert record["jobs"][0]["rungs"][0]["samples_ms"] == [1.5]
    command.write_text("#!/bin/sh\n"
                       "case \"$*\" in *bad*) echo 'no such thing' >&2; exit 2;; esac\n"
                       "echo '{\"said\": \"'\"$*\"'\"}'\n")
    assert rung.explain("scan", rung="warp")["said"] == "explain scan --json --quiet --rung=warp"
    with pytest.raises(ValueError, match="no such thing"):
        rung.bench("bad")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(rung.Error, match="PATH"):
        rung.bench("reduce")


def test_the_command_itself():
    """Its options are those that rung.bench() and rung.explain() give it."""
    if "RUNG" not in os.environ:
        pytest.skip("there is no command")
    for call, verb in ((rung.bench, "bench"), (rung.explain, "explain")):
        listed = subprocess.run([os.environ["RUNG"], verb, "--help"], capture_output=True,
                                text=True).stdout
        for name in call.__kwdefaults__ | {"json": None, "quiet": None}:
            assert f"--{ {'seconds': 'time-out'}.get(name, name)}" in listed, (verb, name)


# ---- stubs, wheel, pages -----------------------------------------------------------------------

def test_stubs_name_what_is_there():
    tree = ast.parse(Path(rung.__file__).with_suffix(".pyi").read_text())
    stubs = {node.name: node for node in tree.body
             if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert set(stubs) == set(rung.__all__)
    for name, node in stubs.items():
        doc = getattr(rung, name).__doc__
        assert doc and len(doc) > 20, name
        if isinstance(node, ast.FunctionDef):
            assert ">>>" in doc, name
            given = [a.arg for a in node.args.args + node.args.kwonlyargs]
            real = [p.name for p in inspect.signature(getattr(rung, name)).parameters.values()
                    if p.kind != p.VAR_KEYWORD]
            assert given == real, name


def test_wheel(tmp_path, monkeypatch):
    """What `pip install .` does, of the build that is there; the wheel works by itself."""
    build = Path(rung.__file__).parents[2]
    if not (build / "cmake_install.cmake").exists():
        pytest.skip("this package is not a build's")
    monkeypatch.setenv("RUNG_BUILD", str(build))
    monkeypatch.syspath_prepend(ROOT / "python")
    import build_backend
    name = build_backend.build_wheel(tmp_path)
    assert name.startswith(f"rung-{rung.__version__}-cp311-abi3-linux_")
    with zipfile.ZipFile(tmp_path / name) as wheel:
        names = wheel.namelist()
        wheel.extractall(tmp_path / "there")
    assert {"rung/_rung.abi3.so", "rung/librung.so.0", "rung/__init__.pyi", "rung/py.typed",
            "rung/pytest_plugin.py"} <= set(names)
    run = subprocess.run(
        [sys.executable, "-c", "import rung, importlib.metadata as m; "
         "print(rung.sum(b'ab'), rung.__file__, m.version('rung'), "
         "[e.value for e in m.entry_points(group='pytest11') if e.name == 'rung'], "
         "'there/rung/librung.so.0' in open('/proc/self/maps').read())"],
        env={"PYTHONPATH": str(tmp_path / "there"), "PATH": "/usr/bin:/bin"}, capture_output=True,
        text=True, timeout=60)
    assert run.stdout.split() == ["195", str(tmp_path / "there/rung/__init__.py"), rung.__version__,
                                  "['rung.pytest_plugin']", "True"], run.stdout + run.stderr


@pytest.mark.parametrize("name", ["rung", "rung._grids", "rung._pairs",
                                  "rung._records", "rung.testing"])
def test_examples_in_docstrings(name):
    __import__(name)
    assert doctest.testmod(sys.modules[name]).failed == 0


def test_examples_in_docstrings_of_the_extension():
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    for name in rung.__all__:
        for test in finder.find(getattr(rung, name), name, module=False, globs={}):
            runner.run(test)
    assert runner.tries > 20 and runner.failures == 0


def test_page():
    assert doctest.testfile(str(ROOT / "docs" / "PYTHON.md"), module_relative=False).failed == 0
    page = (ROOT / "docs" / "PYTHON.md").read_text()
    for name in rung.__all__:
        assert f"rung.{name}" in page, name


@pytest.mark.parametrize("name, words", [
    ("rain", "at most 1.00 a day, 500.10 in all; days by quarters: 248 247 247 258"),
    ("lattice", "1.25 ... 1.50:  6000 pairs, g  2.02, 18 neighbours")])
def test_examples(name, words):
    run = subprocess.run([sys.executable, str(ROOT / "examples" / f"{name}.py")],
                         capture_output=True, text=True, timeout=120)
    assert words in run.stdout, run.stdout + run.stderr
