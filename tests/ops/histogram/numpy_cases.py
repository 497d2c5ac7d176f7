#!/usr/bin/env python3
"""Writes numpy_cases.h: small histograms as NumPy counts them.

    /usr/bin/python3 tests/ops/histogram/numpy_cases.py > tests/ops/histogram/numpy_cases.h

Made with NumPy 1.24.2. The numbers of a case are, in this order: of even bins and given edges every
edge, the number after it and the number before it (of integers edge + 1 and edge - 1); then 300 of a
generator; of floats then -0, NaN, +inf, -inf. test_numpy.c makes the same numbers."""
import numpy as np


def draw(n):
    x, out = 1, []
    for _ in range(n):
        x = (x * 1664525 + 1013904223) % 2**32
        out.append(x)
    return np.array(out, dtype=np.uint32)


def numbers(dtype, edges, low, high):
    r = draw(300)
    if np.issubdtype(dtype, np.floating):
        edges = edges.astype(dtype)
        sides = [edges, np.nextafter(edges, dtype(np.inf)), np.nextafter(edges, dtype(-np.inf))]
        more = low - 0.1 * (high - low) + 1.2 * (high - low) * (r.astype(np.float64) / 2.0**32)
        return np.concatenate([np.stack(sides, 1).ravel(), more.astype(dtype),
                               np.array([-0.0, np.nan, np.inf, -np.inf], dtype)])
    whole = np.floor(edges).astype(np.int64)
    sides = np.stack([whole, whole + 1, whole - 1], 1).ravel().astype(dtype)
    return np.concatenate([sides, r.astype(dtype)])


def text(values):
    return ", ".join(float(v).hex() if isinstance(v, (float, np.floating)) else str(int(v))
                     for v in values)


def case(kind, dtype, count, low, high, edges, counts, x):
    e0, e1 = edges[0], edges[-1]
    outside = [int(np.sum(x < e0)), int(np.sum(x > e1)), int(np.sum(x != x))]
    name = {np.uint8: "u8", np.uint16: "u16", np.int32: "i32", np.uint32: "u32", np.int64: "i64",
            np.float32: "f32", np.float64: "f64"}[dtype]
    assert int(np.sum(counts)) + sum(outside) == len(x)
    print(f"    {{RUNG_BINS_{kind}, {{kDL{'Float' if name[0] == 'f' else 'UInt' if name[0] == 'u' else 'Int'}, "
          f"{name[1:]}, 1}}, {count}, {float(low).hex()}, {float(high).hex()}, "
          f"(const double[]){{{text(np.asarray(edges, dtype=np.float64))}}}, "
          f"(const int64_t[]){{{text(counts)}, {text(outside)}}}}},")


print("/* Made by numpy_cases.py: see there. */\n/* clang-format off */")
print("static const numpy_case numpy_cases[] = {")
for dtype in (np.float32, np.float64):
    for count, low, high in ((1, -1, 1), (3, 0, 1), (7, -0.3, 0.9), (10, 0.1, 0.3), (33, 1000, 1001),
                             (12, -1e-3, 2e5), (5, 0, 1e-40), (10, 0, 49)):
        edges = np.histogram_bin_edges(np.zeros(1, dtype), count, (low, high))
        x = numbers(dtype, np.asarray(edges, dtype=np.float64), low, high)
        finite = x[np.isfinite(x)]
        counts, _ = np.histogram(finite, count, (low, high))
        case("EVEN", dtype, count, low, high, edges, counts, x)
    edges = np.array([-1.5, -0.1, 0.0, 0.1, 0.2, 0.7, 3.0], np.float64)
    x = numbers(dtype, edges, -1.5, 3.0)
    counts, _ = np.histogram(x[np.isfinite(x)], edges)
    case("EDGES", dtype, 6, -1.5, 3.0, edges, counts, x)
for dtype in (np.uint8, np.uint16, np.int32, np.uint32, np.int64):
    for count, low, high in ((10, 0, 100), (7, 0.5, 200.25), (33, 3, 250)):
        edges = np.histogram_bin_edges(np.zeros(1, dtype), count, (low, high))
        x = numbers(dtype, edges, low, high)
        counts, _ = np.histogram(x, count, (low, high))
        case("EVEN", dtype, count, low, high, edges, counts, x)
    edges = np.array([1, 2.5, 3, 77, 77.5, 180], np.float64)
    x = numbers(dtype, edges, 1, 180)
    place = np.digitize(x, edges)
    place[x == 180] = 5
    case("EDGES", dtype, 5, 1, 180, edges, np.bincount(place, minlength=7)[1:6], x)
    for count in (1, 8, 10):
        x = draw(300).astype(dtype)
        case("MODULO", dtype, count, 0, count, [-2**63, 2**63],
             np.bincount((x.astype(object) % count).astype(np.int64), minlength=count), x)
print("};")
