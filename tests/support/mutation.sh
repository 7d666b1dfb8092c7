# tests/support/mutation.sh - plants defects in a copy of the tree, one at a time, and says which tests see
# them. The scripts tests/mutation*.sh set what is copied, built and run, then name the defects.
#
#     $folders    what of the tree is copied beside the CMake files
#     $options    of CMake        $targets  to build; empty: all
#     $tests      a regular expression of the tests to run, $not_tests of those not to
#     $below      the folder that the files of defects are in, such as src/; or empty
# shellcheck shell=sh disable=SC2154
source_dir=$(cd "$(dirname "$0")/.." && pwd)
keep=
if [ "${1:-}" = -k ]; then
    keep=1
    shift
fi
pattern=${1:-.}
work=$(mktemp -d)
[ "$keep" ] || trap 'rm -rf "$work"' EXIT
[ "$keep" ] && echo "building in $work"

# shellcheck disable=SC2086
(cd "$source_dir" && cp -r CMakeLists.txt cmake LICENSE README.md $folders "$work/")

fail() {
    echo "${0##*/}: $*" >&2
    exit 2
}

build() {
    # shellcheck disable=SC2086
    cmake --build "$work/build" -j "${JOBS:-1}" ${targets:+--target $targets} >"$work/build.log" 2>&1
}

# shellcheck disable=SC2086
cmake -S "$work" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DTCGEMM_BUILD_TESTS=ON \
      -DTCGEMM_INSTALL_DOCS=OFF $options >"$work/cmake.log" 2>&1 || fail "cmake failed, see $work/cmake.log"
build || fail "the tree as it is does not build, see $work/build.log"

# The tests that fail now, as a list with commas.
failing_tests() {
    TCGEMM_TEST_LEVEL=sanitize ctest --test-dir "$work/build" --timeout 120 -j "${JOBS:-1}" \
        -R "$tests" -E "$not_tests" >"$work/ctest.log" 2>&1
    sed -n 's/^[[:space:]]*[0-9]* - \([^ ]*\) (.*/\1/p' "$work/ctest.log" | tr '\n' ',' |
        sed 's/,$//; s/,/, /g'
}

before=$(failing_tests)
[ -z "$before" ] || fail "these tests fail without any defect: $before"

echo "| defect | caught by |"
echo "| --- | --- |"
status=0

# defect NAME FILE SED-EXPRESSION
defect() {
    echo "$1" | grep -q -- "$pattern" || return 0
    file=$work/$below$2
    cp "$file" "$work/pristine"
    sed -i -e "$3" "$file" || fail "sed failed for '$1'"
    cmp -s "$file" "$work/pristine" && fail "the edit for '$1' matches nothing in $2"
    if build; then
        caught=$(failing_tests)
    else
        fail "'$1' does not build, see $work/build.log"
    fi
    echo "| $1 | ${caught:-NOTHING} |"
    case $caught in
    *,*) ;;
    *) status=1 ;;
    esac
    cp "$work/pristine" "$file"
    touch "$file"
}
