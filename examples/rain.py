"""Sums, scans and histograms of NumPy arrays, with the same bits on every device.

    python3 rain.py
"""
import numpy as np

import rung
from rung.testing import assert_same_bits

rain = (np.arange(1000) * 37 % 101 / 100).astype(np.float32)
so_far = rung.cumsum(rain)
counts, edges = rung.histogram(rain, 4, (0, 1))
print(f"at most {rung.max(rain):.2f} a day, {so_far[-1]:.2f} in all; "
      f"days by quarters: {' '.join(map(str, counts))}")

for device in rung.devices():
    if device["usable"]:
        assert_same_bits(rung.cumsum(rain, device=device["device"]), so_far)
        print(f"the same bits on {device['kind']}")
