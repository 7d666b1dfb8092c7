#!/bin/sh
# The symbols of the two libraries.
#
#   shared   exactly the functions that the headers mark TCGEMM_API, at version TCGEMM_0; symbols.txt
#            is the same list, kept in the tree so that a change of the ABI is seen in a diff
#   static   every global name, internal ones too, begins with tcgemm_
#
#     tests/install/symbols.sh            check
#     tests/install/symbols.sh --update   write symbols.txt anew from the headers
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
lib=${TCGEMM_BUILD_DIR:-$root/build}/src
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

cat "$root"/include/tcgemm/*.h | tr '\n' ' ' | grep -o 'TCGEMM_API [^;(]*(' |
    grep -o 'tcgemm_[a-z0-9_]*(' | tr -d '(' | sort -u >"$tmp/header"
if [ "${1-}" = --update ]; then
    cp "$tmp/header" "$here/symbols.txt"
    exit 0
fi
if [ -n "${TCGEMM_SANITIZE-}" ]; then
    echo "skipped: a sanitizer adds symbols of its own"
    exit 77
fi

# same TITLE EXPECTED FOUND
same() {
    if ! diff -u "$2" "$3" >"$tmp/diff"; then
        echo "FAILED: $1"
        sed 1,2d "$tmp/diff"
        failed=1
    fi
}

same "symbols.txt is not the headers' list (if that is meant: symbols.sh --update)" \
    "$here/symbols.txt" "$tmp/header"

nm -D --defined-only "$lib/libtcgemm.so" | awk '{print $3}' | sort >"$tmp/all"
sed 's/$/@@TCGEMM_0/' "$tmp/header" >"$tmp/expected"
echo TCGEMM_0 >>"$tmp/expected"
sed 's/^TCGEMM_0@@TCGEMM_0$/TCGEMM_0/' "$tmp/all" | sort >"$tmp/found"
sort -o "$tmp/expected" "$tmp/expected"
same "the shared library does not export the headers' list" "$tmp/expected" "$tmp/found"

nm -g --defined-only "$lib/libtcgemm.a" 2>/dev/null | awk 'NF == 3 {print $3}' |
    grep -v '^tcgemm_' >"$tmp/strangers" || true
if [ -s "$tmp/strangers" ]; then
    echo "FAILED: global names in libtcgemm.a that do not begin with tcgemm_:"
    cat "$tmp/strangers"
    failed=1
fi

[ $failed -eq 0 ] && echo "$(wc -l <"$tmp/header") functions exported"
exit $failed
