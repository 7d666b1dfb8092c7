#!/bin/sh
# The tests with torch (tests/python/test_torch.py), which no other run has: its wheel takes gigabytes. Makes an
# environment of its own in the build folder, or takes the Python that TCGEMM_TORCH_PYTHON names; needs the package
# that `make test-python` leaves in BUILD/python.
#
#     sh tests/python/run_torch.sh [BUILD] [options of pytest]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
[ $# -eq 0 ] || shift
python=${TCGEMM_TORCH_PYTHON:-$build/torch-environment/bin/python}
if [ ! -x "$python" ]; then
    python3 -m venv "$build/torch-environment"
    "$python" -m pip install --quiet --disable-pip-version-check torch numpy pytest
fi
cd "$build"
PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 exec "$python" -m pytest -v -p no:cacheprovider --tb=short "$here/test_torch.py" "$@"
