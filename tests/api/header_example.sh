#!/bin/sh
# Compiles and runs the example at the top of tcgemm.h, word for word.
set -eu
root=${TCGEMM_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TCGEMM_BUILD_DIR:-$root/build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

sed -n '/^ \* @code$/,/^ \* @endcode$/p' "$root/include/tcgemm/tcgemm.h" |
    sed -e '/^ \* @/d' -e 's/^ \*     //' -e 's/^ \*$//' >"$tmp/product.c"
grep -q 'int main' "$tmp/product.c" || {
    echo "FAILED: no example between @code and @endcode" >&2
    exit 1
}

set -- -std=c17 -Wall -Wextra -Wpedantic -Werror -I"$root/include"
[ -z "${TCGEMM_SANITIZE-}" ] || set -- "$@" "-fsanitize=$TCGEMM_SANITIZE"
"${CC:-cc}" "$@" "$tmp/product.c" "$build/src/libtcgemm.a" -lm -pthread -o "$tmp/product"

found=$("$tmp/product")
expected='4 5
10 11'
if [ "$found" != "$expected" ]; then
    printf 'FAILED: the example printed\n%s\nnot\n%s\n' "$found" "$expected" >&2
    exit 1
fi
echo "the example prints the product"
