#!/usr/bin/env python3
"""Writes expected.h: small filtered images as SciPy has them.

    /usr/bin/python3 tests/ops/correlate/expected.py > tests/ops/correlate/expected.h

Made with SciPy 1.10.1. Images and kernels are of small whole numbers, so that every result is exact
in every type but u8, to which it saturates; test_values.c makes the same ones: of a generator, the
image's elements 0 ... 4, the kernel's -2 ... 2."""
import numpy as np
from scipy import ndimage

HEIGHT, WIDTH = 4, 5
KERNELS = ((3, 3), (4, 2), (1, 6), (9, 12))
MODES = (("WRAP", "wrap"), ("CONSTANT", "constant"), ("NEAREST", "nearest"),
         ("REFLECT", "reflect"), ("MIRROR", "mirror"))


def draw(n, sides):
    x, out = 1, []
    for _ in range(n):
        x = (x * 1664525 + 1013904223) % 2**32
        out.append((x >> 16) % sides)
    return np.array(out, dtype=np.float64)


print("/* Made by expected.py: see there. */\n/* clang-format off */")
print(f"enum {{ HEIGHT = {HEIGHT}, WIDTH = {WIDTH} }};")
print("static const expectation expectations[] = {")
image = draw(HEIGHT * WIDTH, 5).reshape(HEIGHT, WIDTH)
for rows, columns in KERNELS:
    kernel = draw(rows * columns, 5).reshape(rows, columns) - 2
    for edge, mode in MODES:
        for reversed_, function in ((0, ndimage.correlate), (1, ndimage.convolve)):
            for up, left in ((0, 0), (-(rows // 2), (columns - 1) // 2),
                             ((rows - 1) // 2, -(columns // 2))):
                result = function(image, kernel, mode=mode, cval=3, origin=(up, left))
                print(f"    {{RUNG_EDGE_{edge}, {reversed_}, {rows}, {columns}, {{{up}, {left}}}, "
                      f"{{{','.join(str(int(v)) for v in result.ravel())}}}}},")
print("};")
