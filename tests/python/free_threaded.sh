#!/bin/sh
# The module for a free-threaded Python, and its tests there without the GIL: builds it into build-free, makes an
# environment beside it, and fails if a test or an import turns the GIL on. No distribution of ours has such a Python
# as a package yet; one of CPython's sources takes ten minutes: ./configure --disable-gil --prefix=... && make install
#
#     sh tests/python/free_threaded.sh python3.13t [options of pytest]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=$(command -v "${1:-python3.13t}") || {
    echo "usage: free_threaded.sh PYTHON [options of pytest]" >&2
    exit 2
}
[ $# -eq 0 ] || shift
"$python" -c 'import sysconfig, sys; sys.exit(not sysconfig.get_config_var("Py_GIL_DISABLED"))' || {
    echo "$python has a GIL" >&2
    exit 2
}
cd "$here/../.."
build=$PWD/build-free
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DTCGEMM_BUILD_PYTHON=ON -DPython_EXECUTABLE="$python" \
      -DTCGEMM_BUILD_CLI=OFF -DTCGEMM_BUILD_EMULATOR=OFF -DTCGEMM_INSTALL_DOCS=OFF >"$build.log"
cmake --build "$build" -j "$(nproc)" --target tcgemm_python_package >>"$build.log"
environment=$build/environment
if [ ! -x "$environment/bin/pytest" ]; then
    "$python" -m venv "$environment"
    # The newest that PyPI has as wheels for it; mypy has no part in this.
    grep -vE '^#|^mypy' "$here/requirements.txt" |
        xargs "$environment/bin/pip" install --quiet --disable-pip-version-check --prefer-binary --only-binary :all:
fi
export PYTHON_GIL=0 PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1 TCGEMM_BUILD_DIR="$build"
"$environment/bin/python" -VV
# Without PYTHON_GIL a module that needs the GIL turns it on, with a warning.
env -u PYTHON_GIL "$environment/bin/python" -W error -c 'import sys, tcgemm; sys.exit(sys._is_gil_enabled())'
"$environment/bin/pip" list --disable-pip-version-check 2>/dev/null | grep -iE '^(numpy|ml|pytest|hypothesis|array)'
for name in matmul layout exchange plan process numpy_suite; do set -- "$@" "$here/test_$name.py"; done
exec "$environment/bin/python" -m pytest -q -p no:cacheprovider --tb=short "$@"
