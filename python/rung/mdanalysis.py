"""MDAnalysis' groups: g(r) over a trajectory, and an InterRDF that librung counts.

>>> from rung.mdanalysis import InterRDF                                  # doctest: +SKIP
>>> InterRDF(oxygens, oxygens, range=(0, 9)).run().results.rdf            # doctest: +SKIP
"""

from array import array

import numpy
from MDAnalysis.analysis import rdf as theirs
from MDAnalysis.lib.log import ProgressBar

from . import _rung
from ._pairs import cell, distance_bins, normalised, volume_of

_SAME = {"residue": "resindices", "segment": "segindices", "chain": "chainIDs"}


def box_of(timestep):
    """The frame's cell; None: it has none. Right angles are exact, others as MDAnalysis says."""
    box = timestep.dimensions
    if box is None or not numpy.any(box[:3]):
        return None
    return cell(box[:3] if numpy.all(box[3:] == 90) else timestep.triclinic_dimensions)


def _numbers(values):
    """Equal values as equal numbers, from 0 on: one array for several groups."""
    _, numbers = numpy.unique(numpy.concatenate(values), return_inverse=True)
    return numpy.split(numbers.astype(numpy.int64), numpy.cumsum([len(v) for v in values])[:-1])


def same(name, groups):
    """Which atoms are of one residue, segment or chain, as librung's molecules."""
    if name not in _SAME:
        raise ValueError(f"{name!r} is what pairs are not to share; expected: {', '.join(_SAME)}")
    return _numbers([getattr(group, _SAME[name]) for group in groups])


def _count(a, b, box, edges, molecules, where):
    return _rung.pairs(a.positions, None if b is None else b.positions, box, 0, 0.0, edges, None,
                       None, *molecules, **where)[0]


class InterRDF(theirs.InterRDF):
    """MDAnalysis.analysis.rdf.InterRDF, its arguments and its results, with the pairs counted by
    librung: exactly, where MDAnalysis' own distances are rounded to what they are computed in.

    device, rung, threads: as for every function of rung.

    ValueError: a range beyond what the box allows (where MDAnalysis would miss pairs).
    """

    def __init__(self, g1, g2, *arguments, device=None, rung=None, threads=0, **keywords):
        super().__init__(g1, g2, *arguments, **keywords)
        self._where = {"device": device, "rung": rung, "threads": threads}

    def _prepare(self):
        super()._prepare()
        self._rung_edges = array("d", self.results.edges)
        self._molecules = (None, None)
        if self._exclusion_block is not None:
            sizes = zip((self.g1, self.g2), self._exclusion_block)
            self._molecules = [numpy.arange(len(group)) // size for group, size in sizes]
        elif getattr(self, "exclude_same", None) is not None:
            self._molecules = same(self.exclude_same, (self.g1, self.g2))

    def _single_frame(self):
        self.results.count += _count(self.g1, self.g2, box_of(self._ts), self._rung_edges,
                                     self._molecules, self._where)
        if self.norm == "rdf":
            self.volume_cum += self._ts.volume


def rdf_of_groups(a, b, bins, limits, molecules, frames, progress, where):
    """rung.rdf() of atom groups: over the frames, each in its own box."""
    groups = [a] if b is None else [a, b]
    numbers = [None, None]
    if isinstance(molecules, str):
        numbers = (same(molecules, groups) + [None])[:2]
    elif molecules is not None:
        raise ValueError(f'molecules is {molecules!r}; expected: "residue", "segment" or "chain"')
    trajectory = a.universe.trajectory[slice(*frames)]
    total, edges, density = 0, None, 0.0
    for timestep in ProgressBar(trajectory, verbose=progress):
        box = box_of(timestep)
        if box is None:
            raise ValueError(f"frame {timestep.frame} has no box; expected: one, for the density")
        if edges is None:
            edges = distance_bins(bins, limits, box)[3]
        total = total + _count(a, b, box, edges, numbers, where)
        n = len(a)
        density += (n * (n - 1) / 2 if b is None else n * len(b)) / volume_of(box)
    if edges is None:
        raise ValueError("no frames; expected: one or more from `start` to `stop` by `step`")
    per = (2 if b is None else 1) / (len(a) * len(trajectory) or 1)
    return normalised(total, edges, density, per)
