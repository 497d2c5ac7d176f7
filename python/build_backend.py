"""The build backend of `pip install .`: CMake builds the package, this puts it into a wheel, with
librung and its parts beside the extension. It needs a compiler, CMake, Python's headers and
libdlpack-dev, and nothing from a network: pip would fetch setuptools for an isolated build.

RUNG_BUILD=<folder> in the environment takes a build that is there already.
"""

import base64
import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _built():
    folder = os.environ.get("RUNG_BUILD")
    if folder is not None:
        return Path(folder)
    folder = ROOT / "build" / "wheel"
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                    "-DRUNG_LAB=OFF", "-DRUNG_PYTHON=ON",
                    f"-DRUNG_PYTHON_COMMAND={sys.executable}"], check=True)
    subprocess.run(["cmake", "--build", folder, "--parallel", str(os.cpu_count())], check=True)
    return folder


def _files(build, stage):
    """(name in the wheel, file) of everything but the record."""
    subprocess.run(["cmake", "--install", build, "--component", "python", "--prefix", stage],
                   check=True, stdout=subprocess.DEVNULL)
    extension, = Path(stage).rglob("_rung.abi3.so")
    packages = extension.parent.parent
    found = [(str(path.relative_to(packages)), path) for path in sorted(packages.rglob("*"))
             if path.is_file()]
    # As the loader asks for them: librung.so.0, librung-sim.so.0 ...
    libraries = sorted(path for path in build.glob("librung*.so.*") if path.suffix[1:].isdigit()
                       and path.name.count(".") == 2)
    return found + [(f"rung/{path.name}", path.resolve()) for path in libraries]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"cp311-abi3-{platform}"
    with tempfile.TemporaryDirectory() as stage:
        files = _files(_built(), stage)
        information = next(name for name, _ in files if ".dist-info/" in name).partition("/")[0]
        contents = {name: path.read_bytes() for name, path in files}
    contents[f"{information}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: rung\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    lines = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in contents.items()]
    lines.append(f"{information}/RECORD,,")
    contents[f"{information}/RECORD"] = ("\n".join(lines) + "\n").encode()
    wheel = f"{information.removesuffix('.dist-info')}-{tag}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return wheel


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def build_sdist(sdist_directory, config_settings=None):
    header = (ROOT / "include/rung/rung.h").read_text()
    version = header.partition('#define RUNG_VERSION "')[2].partition('"')[0]
    name = f"rung-{version}"
    subprocess.run(["git", "archive", "--format=tar.gz", f"--prefix={name}/",
                    "-o", Path(sdist_directory).resolve() / f"{name}.tar.gz", "HEAD"], cwd=ROOT,
                   check=True)
    return f"{name}.tar.gz"
