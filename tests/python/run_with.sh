#!/bin/sh
# The tests with a package that no other run has, for its wheel is large: torch (tests/python/test_torch.py) or jax
# (test_jax.py). Makes an environment of its own in the build folder, or takes the Python that TCGEMM_WITH_PYTHON
# names; needs the package that `make test-python` leaves in BUILD/python.
#
#     sh tests/python/run_with.sh torch|jax [BUILD] [options of pytest]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
package=${1:-}
[ -f "$here/test_$package.py" ] || {
    echo "usage: run_with.sh torch|jax [BUILD] [options of pytest]" >&2
    exit 2
}
shift
build=$(cd "${1:-$here/../../build}" && pwd)
[ $# -eq 0 ] || shift
python=${TCGEMM_WITH_PYTHON:-$build/$package-environment/bin/python}
if [ ! -x "$python" ]; then
    python3 -m venv "$build/$package-environment"
    "$python" -m pip install --quiet --disable-pip-version-check "$package" numpy pytest ml_dtypes
fi
cd "$build"
PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 exec "$python" -m pytest -v -p no:cacheprovider --tb=short \
    "$here/test_$package.py" "$@"
