#!/usr/bin/env bash
# run.sh PYTHON PACKAGES: the tests of the Python package, which lies in PACKAGES.
set -euo pipefail
python=$1
for name in numpy pytest; do
  "$python" -c "import $name" 2>/dev/null || { echo "python3-$name is not there"; exit 77; }
done
cd "$(dirname "$0")"
PYTHONPATH=$2 PYTHONDONTWRITEBYTECODE=1 exec "$python" -m pytest -q -s -p no:cacheprovider \
  -p rung.pytest_plugin -W error::pytest.PytestUnraisableExceptionWarning .
