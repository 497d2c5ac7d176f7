"""tools/fixed_map: what it says of errors is exact, and its picture is one."""
import math
import shutil
from fractions import Fraction
from pathlib import Path
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest


@pytest.fixture(scope="module")
def tool():
    path = Path(__file__).resolve().parents[2] / "tools/fixed_map"
    made = ModuleType("fixed_map")
    made.__file__ = str(path)
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), made.__dict__)
    return made


def matrices(tool, data, shape):
    made = tool.DATA[data](np.random.default_rng(1), *shape)
    return [np.ascontiguousarray(x, np.float32) for x in made]


def test_exact_sums(tool):
    for data in tool.DATA:
        a, b = matrices(tool, data, (3, 2, 64))
        assert a.shape == (3, 64) and b.shape == (64, 2)
        elements, magnitudes = tool.exact(a, b, [2, 0], [1, 0])
        for at, (i, j) in enumerate(((2, 1), (0, 0))):
            terms = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[i], b[:, j])]
            assert elements[at] == float(sum(terms)) and magnitudes[at] == float(sum(map(abs, terms)))


def test_cancelling_is_what_it_says(tool):
    for k in (64, 1024, 16384):
        a, b = matrices(tool, "cancelling to 10^−6 of the terms", (16, 16, k))
        i, j = np.divmod(np.arange(256), 16)
        elements, magnitudes = tool.exact(a, b, i, j)
        assert 3e-7 < np.median(np.abs(elements) / magnitudes) < 3e-6


def test_errors(tool):
    elements, magnitudes = np.array([1.0, 0.0, -4.0]), np.array([2.0, 8.0, 4.0])
    c = np.array([[1.5, 2.0, -5.0]], np.float32)
    found = tool.errors_of(c, [0, 0, 0], [0, 1, 2], elements, magnitudes)
    assert found == [0.375, 0.5, 0.25, 0.25]  # 0.5, 0.25; 0.25 each: an element of 0 has no relative error
    c[0, 2] = math.nan
    assert all(map(math.isnan, tool.errors_of(c, [0, 0, 0], [0, 1, 2], elements, magnitudes)))


def test_picture(tool, tmp_path):
    if shutil.which("gnuplot") is None:
        pytest.skip("no gnuplot")
    record, svg = tmp_path / "times.csv", tmp_path / "map.svg"
    words = SimpleNamespace(record=record, svg=svg)
    with pytest.raises(tool.Refused):
        tool.picture(words)
    lines = ["# device: a GPU of no kind, driver 0", "m,n,k,candidate,ms,tflops"]
    record.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(tool.Refused):  # no times
        tool.picture(words)
    for shape in tool.JOBS:
        for at, name in enumerate([*tool.LINES, "cublas-sgemm"]):
            lines.append(",".join(map(str, (*shape, name, 1e-3 * (at + 1) + 1e-10 * math.prod(shape), 1))))
    record.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert tool.picture(words) == 0
    text = svg.read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    assert "a GPU of no kind" in text and "black" not in text and "rgb(" not in text
    for label, *_ in tool.LINES.values():
        assert f">{label}<" in text
