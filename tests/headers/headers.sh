#!/bin/sh
# Every public header compiles alone, in the C and C++ of old and new, with no warning at all.
set -eu
root=${TCGEMM_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
warnings="-Wall -Wextra -Wpedantic -Werror"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
count=0

# alone COMPILER STANDARD SUFFIX
alone() {
    for header in "$root"/include/tcgemm/*.h; do
        name=$(basename "$header")
        echo "#include <tcgemm/$name>" >"$tmp/one.$3"
        # Twice, because the include guard counts too.
        echo "#include <tcgemm/$name>" >>"$tmp/one.$3"
        # shellcheck disable=SC2086
        if ! "$1" "-std=$2" $warnings -I"$root/include" -c "$tmp/one.$3" -o "$tmp/one.o"; then
            echo "FAILED: $name with $1 -std=$2" >&2
            exit 1
        fi
        count=$((count + 1))
    done
}

for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    for standard in c99 c11 c17; do
        alone $compiler $standard c
    done
done
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || continue
    # clang++ may be there without a C++ library.
    echo '#include <cstdint>' >"$tmp/probe.cpp"
    $compiler -fsyntax-only "$tmp/probe.cpp" 2>/dev/null || continue
    for standard in c++11 c++17; do
        alone $compiler $standard cpp
    done
done
if [ "$count" -eq 0 ]; then # neither gcc nor clang by name: the compiler of the build
    for standard in c99 c11 c17; do
        alone "${CC:-cc}" $standard c
    done
fi
echo "$count compilations without a warning"
