"""The radial distribution function of points in a periodic box.

    python3 lattice.py
"""
import numpy as np

import rung

side = 10  # a simple cubic lattice of spacing 1
points = np.indices((side, side, side)).reshape(3, -1).T.astype(np.float64)
found = rung.rdf(points, bins=8, range=(0, 2), box=(side, side, side))
for low, high, count, g, near in zip(found.edges, found.edges[1:], found.count, found.rdf,
                                     found.neighbours):
    print(f"{low:.2f} ... {high:.2f}: {count:5d} pairs, g {g:5.2f}, {near:g} neighbours")
