"""where.py PREFIX: tells CMake, as a list, where Python.h is and where packages go under PREFIX."""
import sys
import sysconfig

if sys.version_info < (3, 11):
    sys.exit(1)
version = f"python{sys.version_info.major}.{sys.version_info.minor}"
packages = f"lib/{version}/site-packages"
if "deb_system" in sysconfig.get_scheme_names():  # Debian's and Ubuntu's own
    folder = "python3" if sys.argv[1] == "/usr" else version
    packages = f"lib/{folder}/dist-packages"
print(sysconfig.get_path("include"), packages, sep=";")
