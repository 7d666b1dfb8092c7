#!/bin/sh
# Compiles and runs the examples of tcgemm.h, word for word: the program at the top, and the lines that
# pack B ahead in a program of the same matrices. Both print the product.
set -eu
root=${TCGEMM_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TCGEMM_BUILD_DIR:-$root/build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

example() { # example N: what stands between the N-th @code and its @endcode
    awk -v wanted="$1" '/^ \* @code$/ { ++n; inside = 1; next } /^ \* @endcode$/ { inside = 0 }
         inside && n == wanted' "$root/include/tcgemm/tcgemm.h" | sed -e 's/^ \*     //' -e 's/^ \*$//'
}

prints_the_product() { # prints_the_product NAME
    set -- "$1" -std=c17 -Wall -Wextra -Wpedantic -Werror -I"$root/include"
    [ -z "${TCGEMM_SANITIZE-}" ] || set -- "$@" "-fsanitize=$TCGEMM_SANITIZE"
    name=$1
    shift
    "${CC:-cc}" "$@" "$tmp/$name.c" "$build/src/libtcgemm.a" -lm -pthread -o "$tmp/$name"
    found=$("$tmp/$name")
    expected='4 5
10 11'
    if [ "$found" != "$expected" ]; then
        printf 'FAILED: the example "%s" printed\n%s\nnot\n%s\n' "$name" "$found" "$expected" >&2
        exit 1
    fi
}

example 1 >"$tmp/product.c"
grep -q 'int main' "$tmp/product.c" || {
    echo "FAILED: no example between @code and @endcode" >&2
    exit 1
}
prints_the_product product

example 2 >"$tmp/lines"
grep -q 'tcgemm_run(product' "$tmp/lines" || {
    echo "FAILED: no example of packing ahead" >&2
    exit 1
}
{
    cat <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <tcgemm/tcgemm.h>

int main(void) {
    const float a[2 * 3] = {1, 2, 3, 4, 5, 6};
    const float b[3 * 2] = {1, 0, 0, 1, 1, 1};
    float d[2 * 2] = {0};
    const tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 2, 2, 3);
    tcgemm_context_t *context = NULL;
    tcgemm_plan_t *packer = NULL;
    tcgemm_plan_t *product = NULL;
    tcgemm_plan_info_t info = {.struct_size = sizeof info};
    tcgemm_context_create(NULL, &context);
END
    cat "$tmp/lines"
    cat <<'END'
    printf("%g %g\n%g %g\n", d[0], d[1], d[2], d[3]);
    free(ahead);
    tcgemm_plan_destroy(product);
    tcgemm_plan_destroy(packer);
    tcgemm_context_destroy(context);
    return 0;
}
END
} >"$tmp/packed.c"
prints_the_product packed

echo "the examples print the product"
