#!/bin/sh
# The binary interface of the public headers against the baseline tests/abi/libtcgemm.abi, by abidiff.
#
# Every function of the headers is compiled as an empty one with debug information, so that no build of the library
# with -g is needed; that the library has exactly these functions is the test `symbols`, that they have these types the
# compiler's work. Then some changes are planted in a copy of the headers, each of which abidiff must find.
#
#     tests/abi/abi.sh            check
#     tests/abi/abi.sh --update   write the baseline anew: after a change that is meant, in the same commit
#
# A struct that begins with struct_size may grow at its end, and enumerators may be added (docs/decisions/0012): renew
# the baseline. Anything else that is found breaks programs that are compiled already: SOVERSION has to change.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
baseline=$here/libtcgemm.abi
for tool in abidw abidiff; do
    command -v $tool >/dev/null || {
        echo "skipped: there is no $tool (Debian: abigail-tools)"
        exit 77
    }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# write_abi HEADERS OUTPUT
write_abi() {
    sed -e "/^#include .*inspect\.h/{r $1/tcgemm/inspect.h
        d}" "$1/tcgemm/tcgemm.h" | grep -v '^#include .*tcgemm\.h' >"$tmp/all.c"
    # A declaration becomes a definition; unused parameters and results do not matter.
    perl -0777 -pe 's/^(TCGEMM_API\b[^;{]*);/$1 { __builtin_trap(); }/msg' "$tmp/all.c" >"$tmp/abi.c"
    "${CC:-cc}" -std=c17 -g -gdwarf-4 -w -fPIC -shared -fvisibility=hidden "-I$1" -Wl,-soname,libtcgemm.so.0 \
        "-Wl,--version-script=$root/src/tcgemm.map" "$tmp/abi.c" -o "$tmp/libtcgemm.so"
    (cd "$tmp" && abidw --no-corpus-path --no-comp-dir-path --no-show-locs --type-id-style hash \
        libtcgemm.so) >"$2"
}

case $(uname -m) in
x86_64) ;;
*)
    echo "skipped: the baseline is that of x86-64"
    exit 77
    ;;
esac
write_abi "$root/include" "$tmp/found.abi"
if [ "${1-}" = --update ]; then
    cp "$tmp/found.abi" "$baseline"
    exit 0
fi

failed=0
if ! abidiff "$baseline" "$tmp/found.abi" >"$tmp/diff"; then
    echo "FAILED: the interface is not the baseline's (if that is meant: tests/abi/abi.sh --update)"
    cat "$tmp/diff"
    failed=1
fi

# plant WHAT PERL: the change must be one, and be found
plant() {
    rm -rf "$tmp/planted"
    cp -r "$root/include" "$tmp/planted"
    perl -0777 -pi -e "$2" "$tmp/planted/tcgemm/tcgemm.h"
    if cmp -s "$tmp/planted/tcgemm/tcgemm.h" "$root/include/tcgemm/tcgemm.h"; then
        echo "FAILED: nothing was planted: $1"
        failed=1
        return
    fi
    write_abi "$tmp/planted" "$tmp/planted.abi"
    if abidiff "$tmp/found.abi" "$tmp/planted.abi" >"$tmp/diff"; then
        echo "FAILED: not found: $1"
        failed=1
    fi
}

plant 'a field in the middle of a struct' 's/(typedef struct tcgemm_problem \{[^}]*?)(int64_t m\b)/$1int planted; $2/s'
plant 'a field of another type' 's/(typedef struct tcgemm_context_options \{[^}]*?)int num_threads/$1long num_threads/s'
plant 'an enumerator with another value' 's/(TCGEMM_STATUS_OK = )0,/${1}100,/'
plant 'a parameter of another type' 's/(TCGEMM_API[^;]*tcgemm_gemm\([^;]*?)double alpha/$1float alpha/s'
plant 'a function that is gone' 's/TCGEMM_API[^;]*tcgemm_plan_destroy\([^;]*;//s'
[ $failed -eq 0 ] && echo "the interface is the baseline's; 5 planted changes found"
exit $failed
