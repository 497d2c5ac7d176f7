"""What the tests share; and their results as cmocka reports them, which tools/count.awk counts."""
import numpy
import pytest


def pytest_runtest_logstart(nodeid, location):
    print(f"\n[ RUN      ] {location[2]}")


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        word = {"passed": "      OK", "failed": " FAILED ", "skipped": " SKIPPED"}[report.outcome]
        print(f"\n[ {word} ] {report.location[2]}")


class Draw:
    """Random arrays: any shape, order of axes, strides, offset; the same in every run."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)

    def values(self, shape, dtype):
        kind = numpy.dtype(dtype)
        if kind.kind == "f":
            return self.random.standard_normal(shape).astype(kind)
        limits = numpy.iinfo(kind)
        return self.random.integers(limits.min, limits.max, shape, kind, endpoint=True)

    def array(self, dtype, least=0, most=4, extents=(0, 7)):
        ndim = int(self.random.integers(least, most + 1))
        shape = self.random.integers(extents[0], extents[1] + 1, ndim)
        steps = self.random.choice([-3, -1, 1, 2], ndim)
        whole = self.values(tuple(n * abs(s) + 1 for n, s in zip(shape, steps)), dtype)
        made = whole[tuple(slice(None, n * abs(s), abs(s)) for n, s in zip(shape, steps))]
        made = made[tuple(slice(None, None, -1 if s < 0 else 1) for s in steps)]
        made = numpy.asarray(made).transpose(self.random.permutation(ndim))
        if ndim and self.random.random() < 0.1:
            made = numpy.broadcast_to(made[:1], made.shape)  # a stride of 0, read-only
        return numpy.asarray(made)


@pytest.fixture
def draw(request):
    return Draw(sum(request.node.name.encode()))
