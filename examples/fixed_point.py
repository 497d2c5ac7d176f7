"""How far float32 products are from exact ones: a chain of floats, and fixed point of 31, 23 and 15
bits, as medians of relative errors. docs/FIXED.md has more of the kind.

    python3 fixed_point.py
"""
from fractions import Fraction

import numpy as np
import rung

K, SIDE = 1024, 12


def exact(a, b):
    left = [[Fraction(float(x)) for x in row] for row in a]
    right = [[Fraction(float(x)) for x in column] for column in b.T]
    return [[sum(x * y for x, y in zip(row, column)) for column in right] for row in left]


def median_error(found, true):
    errors = [abs(float((Fraction(float(found[i, j])) - true[i][j]) / true[i][j]))
              for i in range(SIDE) for j in range(SIDE)]
    return float(np.median(errors))


def matrices(kind):
    random = np.random.default_rng(1)
    a, b = random.uniform(-1, 1, (SIDE, K)), random.uniform(-1, 1, (K, SIDE))
    if kind == "spread over 2^±30":
        a, b = (x * 2.0 ** random.integers(-30, 31, x.shape) for x in (a, b))
    if kind == "a column of A 10^12 times the others, undone in B":
        a[:, 5] *= 1e12
        b[5] /= 1e12
    return a.astype(np.float32), b.astype(np.float32)


print("| elements | chain | 31 bits | 23 bits | 15 bits |\n|---|---|---|---|---|")
for kind in ("uniform, -1 to 1", "spread over 2^±30",
             "a column of A 10^12 times the others, undone in B"):
    a, b = matrices(kind)
    true = exact(a, b)
    results = [rung.matmul(a, b, device="cpu")]
    results += [rung.matmul(a, b, math="fixed", bits=bits, device="cpu") for bits in (31, 23, 15)]
    print(f"| {kind} | " + " | ".join(f"{median_error(c, true):.1e}" for c in results) + " |")
