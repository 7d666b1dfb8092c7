# tests/support/mutation.sh - plants defects in a copy of the tree, one at a time, and says which tests see
# them. The scripts tests/mutation*.sh set what is copied, built and run, then name the defects.
#
#     $folders    what of the tree is copied beside the CMake files
#     $options    of CMake
#     $tests      a regular expression of the tests to run, $not_tests of those not to
#     $below      the folder that the files of defects are in, such as src/; or empty
#
# A defect may name the tests that are to see it: then only these are built and run, and all of $tests
# only if fewer than two of them fail, or if the script is called with -a. A test counts when it passes
# without the defect, which is tried first, once. Ninja and ccache are used where they are. With -n
# nothing is built: each edit is only held against its file (the test `mutations`).
# shellcheck shell=sh disable=SC2154
source_dir=$(cd "$(dirname "$0")/.." && pwd)
keep=
all=
dry=
while :; do
    case ${1:-} in
    -k) keep=1 ;;
    -a) all=1 ;;
    -n) dry=1 ;;
    *) break ;;
    esac
    shift
done
pattern=${1:-.}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 1)}
status=0

fail() {
    echo "${0##*/}: $*" >&2
    exit 2
}

# With -n: the edit changes a line, and no more than a few.
hold() {
    changed=$(sed -e "$3" "$source_dir/$below$2" | diff "$source_dir/$below$2" - | grep -c '^>')
    [ "$changed" -ge 1 ] && [ "$changed" -le 3 ] && return
    echo "${0##*/}: the edit for '$1' changes $changed lines of $below$2"
    status=1
}
if [ "$dry" ]; then
    defect() { hold "$@"; }
    return
fi

work=$(mktemp -d)
[ "$keep" ] || trap 'rm -rf "$work"' EXIT
[ "$keep" ] && echo "building in $work"
: >"$work/sound"

# shellcheck disable=SC2086
(cd "$source_dir" && cp -r CMakeLists.txt cmake LICENSE README.md $folders "$work/")

# Each run builds in another folder: the cache is to take paths relative to it.
if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CCACHE_BASEDIR="$work" CCACHE_NOHASHDIR=1
fi
generator=
command -v ninja >/dev/null && generator='-G Ninja'

# shellcheck disable=SC2086
cmake -S "$work" -B "$work/build" $generator -DCMAKE_BUILD_TYPE=Release -DTCGEMM_BUILD_TESTS=ON \
      -DTCGEMM_INSTALL_DOCS=OFF $options >"$work/cmake.log" 2>&1 || fail "cmake failed, see $work/cmake.log"

# The tests whose names match, one a line.
list_tests() {
    ctest --test-dir "$work/build" -N -R "$1" -E "$not_tests" | sed -n 's/^ *Test *#[0-9]*: //p'
}

# What has to be built for tests: a program for each in C, the tool and its helpers for scripts.
list_targets() {
    for name in "$@"; do
        if [ -e "$source_dir/tests/${name%/*}/test_${name##*/}.c" ] || [ "${name%%/*}" = amx ]; then
            echo "test_$name" | tr / _
        else
            (cd "$source_dir/tests/cli" && ls ./*.c) | sed -n '/test_/!s/^\.\/\(.*\)\.c$/\1/p'
            echo tcgemm
            echo fake_openblas
        fi
    done | sort -u
}

build_tests() {
    # shellcheck disable=SC2046
    cmake --build "$work/build" -j "$jobs" --target $(list_targets "$@") >"$work/build.log" 2>&1
}

# Those of the tests that fail, one a line.
failing() {
    TCGEMM_TEST_LEVEL=sanitize ctest --test-dir "$work/build" --timeout 120 -j "$jobs" \
        -R "^($(echo "$*" | tr ' ' '|'))\$" >"$work/ctest.log" 2>&1
    sed -n 's/^[[:space:]]*[0-9]* - \([^ ]*\) (.*/\1/p' "$work/ctest.log"
}

# The tests pass as the tree is; each is tried once.
prove_sound() {
    # shellcheck disable=SC2046
    set -- $(printf '%s\n' "$@" | grep -vxF -f "$work/sound")
    [ $# -gt 0 ] || return 0
    build_tests "$@" || fail "the tree as it is does not build, see $work/build.log"
    broken=$(failing "$@" | tr '\n' ' ')
    [ -z "$broken" ] || fail "these tests fail without any defect: $broken"
    printf '%s\n' "$@" >>"$work/sound"
}

echo "| defect | caught by |"
echo "| --- | --- |"

# try NAME FILE SED-EXPRESSION TEST...: $caught is who sees the defect, one a line.
try() {
    name=$1 file=$work/$below$2 expression=$3
    shift 3
    prove_sound "$@"
    cp "$file" "$work/pristine"
    sed -i -e "$expression" "$file" || fail "sed failed for '$name'"
    cmp -s "$file" "$work/pristine" && fail "the edit for '$name' matches nothing in ${file#"$work/"}"
    build_tests "$@" || fail "'$name' does not build, see $work/build.log"
    caught=$(failing "$@")
    cp "$work/pristine" "$file"
    touch "$file"
}

# defect NAME FILE SED-EXPRESSION [TESTS, a regular expression of whole names]
defect() {
    echo "$1" | grep -q -- "$pattern" || return 0
    caught=
    # shellcheck disable=SC2046
    [ "$all" ] || [ -z "${4:-}" ] || try "$1" "$2" "$3" $(list_tests "^($4)\$")
    # shellcheck disable=SC2046
    [ "$(echo "$caught" | wc -l)" -ge 2 ] || {
        [ "$all" ] || echo "(of $4 only ${caught:-none} sees '$1': all are asked)" >&2
        try "$1" "$2" "$3" $(list_tests "$tests")
    }
    echo "| $1 | $(echo "${caught:-NOTHING}" | sed ':join; N; s/\n/, /; b join') |"
    [ "$(echo "$caught" | wc -l)" -ge 2 ] || status=1
}
