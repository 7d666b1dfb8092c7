#!/bin/sh
# A program that is linked with -ffast-math runs with subnormals flushed to zero in every thread.
# Its products and verdicts are right all the same.
set -eu
root=${TCGEMM_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TCGEMM_BUILD_DIR:-$root/build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cat >"$tmp/host.c" <<'END'
#include <stdio.h>
#include <string.h>
#include <tcgemm/tcgemm.h>

int main(void) {
    const unsigned subnormal = 0x000AE398; /* 1e-39f, as bits: -ffast-math may drop the literal */
    const float one = 1;
    float a, d;
    unsigned bits;
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_F32_F32, 1, 1, 1);
    tcgemm_verify_report_t r = {.struct_size = sizeof r};
    tcgemm_plan_t *plan;
    memcpy(&a, &subnormal, sizeof a);
    if (tcgemm_gemm(&p, 1, &a, &one, 0, NULL, &d) || tcgemm_plan_create(NULL, &p, NULL, &plan))
        return 1;
    memcpy(&bits, &d, sizeof bits);
    d = 0;
    if (tcgemm_verify(plan, 1, &a, &one, 0, NULL, &d, TCGEMM_VERIFY_FULL, 0, &r))
        return 1;
    tcgemm_plan_destroy(plan);
    printf("%08x %d\n", bits, (int)r.num_wrong);
    return 0;
}
END
set -- -std=c17 -O2 -ffast-math -I"$root/include"
[ -z "${TCGEMM_SANITIZE-}" ] || set -- "$@" "-fsanitize=$TCGEMM_SANITIZE"
"${CC:-cc}" "$@" "$tmp/host.c" "$build/src/libtcgemm.a" -lm -pthread -o "$tmp/host"
found=$("$tmp/host")
if [ "$found" != '000ae398 1' ]; then
    echo "FAILED: a program with -ffast-math finds '$found', not '000ae398 1'" >&2
    exit 1
fi
echo "-ffast-math in the host changes nothing"
