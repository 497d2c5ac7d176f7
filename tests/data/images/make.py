#!/usr/bin/env python3
"""Makes the images of this folder (Pillow, netpbm, libtiff-tools): one picture of 7 x 5 pixels, as
tests/unit/test_array.c works it out, in what Rung reads and does not write. Not needed by a test."""
import struct
import subprocess

import numpy as np
from PIL import Image, ImageCms, PngImagePlugin

y, x = np.mgrid[0:5, 0:7]
colours = np.stack([x * 30, y * 50, x * y * 7], -1).astype(np.uint8)
grey = (x * 11 + y * 37).astype(np.uint8)
bits = (x + y) % 3 == 0

palette = Image.fromarray((x + 7 * y).astype(np.uint8), "P")
palette.putpalette(colours.reshape(-1, 3).tobytes())
palette.save("palette.png")
palette.save("palette-alpha.png", transparency=bytes(range(100, 135)))
palette.save("palette.tiff")
few = Image.fromarray(((x + y) % 4).astype(np.uint8), "P")
few.putpalette([0, 0, 0, 30, 0, 0, 0, 50, 0, 90, 80, 70])
few.save("palette-2-bits.png", bits=2)
Image.fromarray(bits).save("bits.png")
Image.fromarray(bits).save("bits.tiff", compression="group4")
Image.fromarray(bits).save("bits.pbm")
Image.fromarray(colours).save("lzw.tiff", compression="tiff_lzw")
subprocess.run("tiffcp -t -w 16 -l 16 -c none lzw.tiff tiles.tiff", shell=True, check=True)
subprocess.run("tiffcp -B -c none lzw.tiff big-endian.tiff", shell=True, check=True)
subprocess.run("tiffcp -p separate -c none lzw.tiff apart.tiff", shell=True, check=True)
# A fax of 9223 by 65531 in 8 bytes.
tags = [(256, 3, 9223), (257, 4, 65531), (258, 3, 1), (259, 3, 4), (262, 3, 1), (273, 4, 8),
        (277, 3, 1), (278, 4, 65531), (279, 4, 8)]
with open("fax.tiff", "wb") as file:
    file.write(struct.pack("<2sHI8sH", b"II", 42, 16, b"\xff" * 8, len(tags)))
    for tag, kind, value in tags:
        file.write(struct.pack("<HHII", tag, kind, 1, value))
    file.write(bytes(4))

profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
notes = PngImagePlugin.PngInfo()
notes.add_text("Title", "seven by five")
notes.add_text("Comment", "packed " * 20, zip=True)
notes.add_itxt("Titre", "sept fois cinq \u00e9", "fr", "titre")
Image.fromarray(colours).save("notes.png", pnginfo=notes, icc_profile=profile)
Image.fromarray(colours).save("plain.ppm")
subprocess.run("pnmtopng -interlace plain.ppm >interlaced.png", shell=True, check=True)
subprocess.run("rm plain.ppm", shell=True, check=True)
for name, how in {"baseline": {}, "progressive": {"progressive": True}}.items():
    Image.fromarray(colours).save(name + ".jpg", quality=95, subsampling=0, icc_profile=profile,
                                **how)
Image.fromarray(grey).save("grey.jpg", quality=95)
