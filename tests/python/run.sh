#!/bin/sh
# Runs tests of the Python module under pytest: run.sh [FILE or options of pytest ...]; "environment" alone
# makes the environment they run in and stops.
#
# The environment is a virtual one in the build folder, with the packages of requirements.txt from PyPI;
# it is made once and kept while that list and the Python stay the same. Where none can be made (no venv, no
# package index), this says so and is skipped. TCGEMM_BUILD_DIR, TCGEMM_PYTHON and PYTHONPATH come from CTest.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${TCGEMM_BUILD_DIR:-$here/../../build}
python=${TCGEMM_PYTHON:-python3}
folder=$build/python-environment
made_of=$("$python" -VV 2>&1; cat "$here/requirements.txt")

make_environment() {
    rm -rf "$folder"
    if ! "$python" -m venv "$folder" >"$build/python-environment.log" 2>&1; then
        echo "skipped: $python makes no virtual environment (Debian: python3-venv); see $build/python-environment.log"
        exit 77
    fi
    if ! "$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
        -r "$here/requirements.txt" >>"$build/python-environment.log" 2>&1; then
        echo "skipped: pip cannot install tests/python/requirements.txt; see $build/python-environment.log"
        exit 77
    fi
    printf '%s\n' "$made_of" >"$folder/made-of"
}

if [ "$(cat "$folder/made-of" 2>/dev/null || true)" != "$made_of" ]; then
    [ "${1:-}" = environment ] || [ -z "${TCGEMM_PYTHON_FIXTURE:-}" ] || {
        echo "skipped: there is no environment for these tests"
        exit 77
    }
    make_environment
fi
[ "${1:-}" != environment ] || exit 0
[ $# -gt 0 ] || set -- "$here"
exec "$folder/bin/python" -m pytest -q -p no:cacheprovider --tb=short "$@"
