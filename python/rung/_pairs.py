"""Distances of pairs of points, and the radial distribution function."""

import math
from array import array
from collections import namedtuple

from . import _rung
from ._counts import count_or_edges, doubles

_CUDA = 2  # DLPack's number


class RDF(namedtuple("RDF", "bins edges count rdf neighbours")):
    """A radial distribution function, of one value a bin (of edges one more).

    bins:       the middles of the bins, in the points' unit of length
    edges:      of the bins
    count:      how many pairs fall into each, over all frames, int64
    rdf:        g(r)
    neighbours: the running coordination number: neighbours nearer than the bin's upper edge

    All are NumPy's where NumPy is installed, else rung.Array.
    """
    __slots__ = ()

    def _repr_html_(self):
        from ._records import table
        rows = zip(*(memoryview(column) for column in (self.bins, self.rdf, self.neighbours)))
        return table("g(r)", ("r", "g(r)", "neighbours"),
                     [tuple(f"{value:.4g}" for value in row) for row in rows])


def _angles(box):
    """The cosines of the three angles, of right ones exactly 0, and the sine of the last."""
    cosines = [0.0 if degrees == 90 else math.cos(math.radians(degrees)) for degrees in box[3:]]
    sine = 1.0 if cosines[2] == 0 else math.sin(math.radians(box[5]))
    return (*cosines, sine)


def cell(box):
    """A box as nine doubles, the vectors of the cell; None: open space."""
    if box is None:
        return None
    rows = [list(row) if hasattr(row, "__len__") else row for row in box]
    if len(rows) == 3 and all(isinstance(row, list) and len(row) == 3 for row in rows):
        return doubles([value for row in rows for value in row], "box")
    if len(rows) not in (3, 6) or any(isinstance(row, list) for row in rows):
        raise ValueError(f"box is {box!r}; expected: 3 lengths, 3 lengths and 3 angles in degrees, "
                         "or 3 vectors")
    x, y, z = (float(value) for value in rows[:3])
    if len(rows) == 3:
        return array("d", [x, 0, 0, 0, y, 0, 0, 0, z])
    alpha, beta, gamma, sine = _angles([float(value) for value in rows])
    if sine == 0:
        raise ValueError(f"box is {box!r}; expected: vectors that lie in no plane")
    cy = (alpha - beta * gamma) / sine
    rest = 1 - beta * beta - cy * cy
    return array("d", [x, 0, 0, y * gamma, y * sine, 0, z * beta, z * cy,
                       z * math.sqrt(rest) if rest > 0 else 0.0])


def volume_of(vectors):
    a, b, c = vectors[:3], vectors[3:6], vectors[6:]
    return abs(a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
               + a[2] * (b[0] * c[1] - b[1] * c[0]))


def distance_bins(bins, limits, vectors):
    """(count, width or 0, edges for librung or None, edges for the caller)."""
    count, edges = count_or_edges(bins)
    if edges is not None:
        return 0, 0.0, edges, edges
    if limits is None and vectors is None:
        raise ValueError("range is None, and there is no box; expected: (nearest, farthest)")
    low, high = (0.0, _rung.box_reach(vectors)) if limits is None else map(float, limits)
    if not 0 <= low < high < math.inf:
        raise ValueError(f"range is {limits!r}; expected: 0 <= nearest < farthest")
    width = high / count
    if low == 0 and count * width <= high:
        return count, width, None, _rung.even_edges(count, 0.0, high)
    edges = _rung.even_edges(count, low, high)
    return 0, 0.0, edges, edges


def pair_histogram(a, b=None, bins=100, range=None, *, box=None, weights=None, weights_b=None,
                   molecules=None, molecules_b=None, outside=False, device=None, rung=None,
                   threads=0, math=None, stream=None):
    """How many pairs of points are how far apart: `(counts, edges)`.

    a:         (n, 3), float32 or float64, in any unit of length
    b:         None: all pairs i < j of a; or (m, 3): every point of a with every one of b
    bins:      a number of even bins over `range`, or the edges, rising from 0 or more on
    range:     (nearest, farthest), in the points' unit; None: from 0 to what the box allows
    box:       None: open space; a periodic cell: 3 lengths, 3 lengths and 3 angles in degrees, or 3
               vectors. Distances are those of the nearest images.
    weights:   (n), float64: counts become sums of the products of weights; weights_b: b's, (m)
    molecules: (n), int64: pairs of the same number are left out; molecules_b: b's, (m)
    outside:   a third result: how many pairs are below, above, and NaN

    Returns counts, int64 and exact (of weights float64), and edges, float64, both of a's library
    and device.

    TypeError: points that are not taken; ValueError: bins beyond what the box allows, shapes that
    do not fit.

    >>> import numpy as np, rung
    >>> points = np.array([[0., 0, 0], [1, 0, 0], [0, 2, 0]])
    >>> rung.pair_histogram(points, bins=3, range=(0, 3))[0].tolist()
    [0, 1, 2]
    """
    vectors = cell(box)
    count, width, edges, said = distance_bins(bins, range, vectors)
    counts, apart, sums = _rung.pairs(
        a, b, vectors, count, width, edges, weights, weights_b, molecules, molecules_b, outside,
        device=device, rung=rung, threads=threads, math=math, stream=stream)
    result = counts if sums is None else sums
    made = _rung.row_like(said, result)
    return (result, made, apart) if outside else (result, made)


def on_host(x):
    """An array that has a buffer: of a GPU's array, a copy."""
    view = _rung.Array(x)
    if view.__dlpack_device__()[0] == _CUDA:
        for copy in ("get", "cpu"):  # CuPy's, PyTorch's
            if hasattr(x, copy):
                return _rung.Array(getattr(x, copy)())
        view = _rung.Array(__import__("numpy").asarray(x))
    return view


def normalised(counts, edges, density, per):
    """The RDF of counts over all frames; what density and per are, rung_pairs_rdf() says."""
    middles, g, neighbours = _rung.pairs_rdf(counts, edges, density, per)
    columns = (middles, edges, counts, g, neighbours)
    try:
        import numpy
    except ImportError:
        return RDF(*(_rung.Array(column) for column in columns))
    return RDF(*(numpy.asarray(column) for column in columns))


def rdf(a, b=None, bins=75, range=(0.0, 15.0), *, box=None, volume=None, molecules=None,
        molecules_b=None, start=None, stop=None, step=None, progress=False, device=None,
        rung=None, threads=0, math=None, stream=None):
    """The radial distribution function g(r) of points, or of MDAnalysis' groups: an `RDF`.

    a:         (n, 3), float32 or float64, in any unit of length; or an AtomGroup of MDAnalysis:
               then all frames of its trajectory, `start` to `stop` by `step`, in their own boxes;
               `progress` shows how far it is
    b:         None: pairs within a; or another set, of a's kind
    bins:      a number of even bins over `range`, or the edges
    range:     (nearest, farthest), in the points' unit
    box:       as for pair_histogram(); the density is taken from its volume
    volume:    without a box: of what the points fill
    molecules: (n), int64: pairs of the same number are left out; molecules_b: b's. Of AtomGroups
               "residue": pairs of the same residue.

    TypeError: points that are not taken; ValueError: no box and no volume, bins beyond what the
    box allows.

    >>> import numpy as np, rung
    >>> points = np.indices((6, 6, 6)).reshape(3, -1).T.astype(float)
    >>> found = rung.rdf(points, bins=4, range=(0, 2), box=(6, 6, 6))
    >>> found.count.tolist(), found.neighbours.tolist()
    ([0, 0, 1944, 864], [0.0, 0.0, 18.0, 26.0])
    """
    where = {"device": device, "rung": rung, "threads": threads, "math": math, "stream": stream}
    if hasattr(a, "universe") and hasattr(a, "positions"):
        from .mdanalysis import rdf_of_groups
        return rdf_of_groups(a, b, bins, range, molecules, (start, stop, step), progress, where)
    vectors = cell(box)
    if volume is None and vectors is None:
        raise ValueError("there is no box and no volume; expected: one of them")
    volume = volume_of(vectors) if volume is None else float(volume)
    count, width, edges, said = distance_bins(bins, range, vectors)
    counts = _rung.pairs(a, b, vectors, count, width, edges, None, None, molecules, molecules_b,
                         **where)[0]
    n = _rung.Array(a).shape[0]
    pairs, per = n * (n - 1) / 2, 2 / (n or 1)
    if b is not None:
        pairs, per = n * _rung.Array(b).shape[0], 1 / (n or 1)
    return normalised(on_host(counts), said, pairs / volume if volume > 0 else 0.0, per)
