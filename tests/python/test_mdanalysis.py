"""A box of water that GROMACS comes with, as MDAnalysis and as librung count it."""
import os
import warnings

import numpy as np
import pytest

import rung

WATER = "/usr/share/gromacs/top/spc216.gro"


@pytest.fixture(scope="module")
def water():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mda = pytest.importorskip("MDAnalysis")
        if not os.path.exists(WATER):
            pytest.skip(f"{WATER} is not there: gromacs-data")
        universe = mda.Universe(WATER)
        frames = np.stack([universe.atoms.positions + shift for shift in (0, 3, 7.5)])
        universe.load_new(frames, dimensions=universe.dimensions)
    return universe


@pytest.mark.parametrize("other, options", [
    ("name OW", {"exclusion_block": (1, 1)}), ("name OW", {}), ("name HW*", {}),
    ("name HW*", {"exclusion_block": (1, 2)}), ("name HW*", {"norm": "density"}),
    ("name HW*", {"norm": "none", "nbins": 31, "range": (1.0, 8.0)})], ids=str)
def test_inter_rdf(water, other, options):
    """The same results, but for pairs that lie on an edge within MDAnalysis' rounding."""
    from MDAnalysis.analysis import rdf as theirs

    from rung.mdanalysis import InterRDF
    options = {"range": (0.0, 9.0), **options}
    groups = water.select_atoms("name OW"), water.select_atoms(other)
    want = theirs.InterRDF(*groups, **options).run().results
    found = InterRDF(*groups, threads=1, **options).run().results
    assert np.array_equal(found.edges, want.edges) and np.array_equal(found.bins, want.bins)
    assert np.abs(found.count - want.count).max() <= 2 and want.count.sum() > 10000
    assert np.allclose(found.rdf * want.count, want.rdf * found.count, rtol=1e-12)


def test_a_trajectory(water):
    oxygens, hydrogens = water.select_atoms("name OW"), water.select_atoms("name HW*")
    found = rung.rdf(oxygens, range=(0, 9))
    assert 2.4 < found.rdf.max() < 3.1
    assert 2.65 < found.bins[found.rdf.argmax()] < 2.9
    one = rung.rdf(oxygens, range=(0, 9), stop=1)
    assert abs(one.neighbours[-1] - found.neighbours[-1]) < 0.1
    bonded = rung.rdf(oxygens, hydrogens, 90, (0, 9), start=1)
    free = rung.rdf(oxygens, hydrogens, 90, (0, 9), molecules="residue", start=1)
    assert bonded.count[:13].sum() == 2 * 432 and free.count[:13].sum() == 0
    for wrong in ({"molecules": "atom"}, {"start": 5}, {"range": (0, 15)}):
        with pytest.raises(ValueError):
            rung.rdf(oxygens, **{"range": (0, 9), **wrong})
