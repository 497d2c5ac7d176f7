"""The stencil, and the radiator that stands on it."""

from . import _rung
from ._counts import doubles

_EDGES = ("wrap", "constant", "nearest", "reflect", "mirror")
_MODEL = ("weights", "divide", "hot", "power", "fixed", "falling", "start")


def stencil(x, weights, *, divide=1.0, steps=1, fixed=0, edge="wrap", edge_value=0.0, means=False,
            out=None, device=None, rung=None, threads=0, math=None, stream=None):
    """A weighted stencil along the rows, applied `steps` times.

    x:          (rows, columns) or (columns), float32 or float64
    weights:    3, 5 ... 17 numbers, from the leftmost tap to the rightmost
    divide:     every weight is divided by it
    steps:      0 or more
    fixed:      the first so many columns keep their values
    edge:       what stands beyond the ends, as in scipy.ndimage: "wrap", "constant" (edge_value),
                "nearest", "reflect", "mirror"
    means:      the mean of every row is a second result
    out:        where the result goes; x itself is allowed

    Returns an array like x, or it and its means.

    TypeError: elements that are not taken; ValueError: weights, edge or `out` that do not fit.

    >>> import numpy as np, rung
    >>> rung.stencil(np.array([0., 0., 4., 0.]), [1, 2, 1], divide=4, edge="nearest").tolist()
    [0.0, 1.0, 2.0, 1.0]
    """
    if edge not in _EDGES:
        raise ValueError(f"edge is {edge!r}; expected: {', '.join(_EDGES)}")
    return _rung.stencil(x, doubles(weights, "weights"), divide, steps, fixed, _EDGES.index(edge),
                         edge_value, means, out, device=device, rung=rung, threads=threads,
                         math=math, stream=stream)


def _library():
    try:
        import numpy  # noqa: F401
        return "numpy"
    except ImportError:
        return "rung"


def radiator(rows, columns, steps, *, preset="2019", dtype="float32", means=False, out=None,
             device=None, rung=None, threads=0, math=None, stream=None, **changes):
    """Heat that flows through a radiator: a grid whose left columns are hot, after some steps.

    rows, columns: of the grid: 1 or more, 4 or more
    steps:   0 or more
    preset:  "2016", "2019", "2021", "2023" or "2025"
    dtype:   "float32" or "float64"
    means:   the mean of every row is a second result
    out:     (rows, columns), the array to write; its library and device are the result's
    changes: members of the preset that are others: weights (5 numbers), divide, hot (2 numbers),
             power (1 or 2), fixed (1 or 2), falling (0 or 1), start

    Returns the grid, NumPy's where NumPy is installed, else a rung.Array; or it and its means.

    TypeError, ValueError: a size, a preset or a change that is none.

    >>> import rung
    >>> grid, means = rung.radiator(8, 32, 100, means=True)
    >>> round(float(means[7]), 6)
    0.871595
    """
    model = dict(zip(_MODEL, _rung.radiator_preset(preset)))
    for name in changes:
        if name not in model:
            raise TypeError(f'radiator() has no argument "{name}"; expected: {", ".join(_MODEL)}')
    model.update(changes)
    model["weights"], model["hot"] = tuple(model["weights"]), tuple(model["hot"])
    return _rung.radiator(rows, columns, steps, tuple(model.values()), dtype, means,
                          "rung" if out is not None else _library(), out, device=device, rung=rung,
                          threads=threads, math=math, stream=stream)
