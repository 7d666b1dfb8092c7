#!/bin/sh
# A program in a German locale writes 0,5. What this library writes for machines, and its sentences,
# stay with the point.
set -eu
root=${TCGEMM_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TCGEMM_BUILD_DIR:-$root/build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

localedef -i de_DE -f UTF-8 "$tmp/de_DE.UTF-8" 2>/dev/null || [ -d "$tmp/de_DE.UTF-8" ] || {
    echo "skipped: no localedef that knows de_DE"
    exit 77
}
cat >"$tmp/host.c" <<'END'
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <tcgemm/tcgemm.h>

int main(void) {
    char half[8];
    char text[65536];
    tcgemm_problem_t p = tcgemm_problem(TCGEMM_S8_S32, 700, 700, 700);
    tcgemm_plan_t *plan;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") || tcgemm_plan_create(NULL, &p, NULL, &plan))
        return 1;
    tcgemm_plan_describe(plan, TCGEMM_FORMAT_JSON, text, sizeof text);
    puts(text);
    tcgemm_plan_describe(plan, TCGEMM_FORMAT_TEXT, text, sizeof text);
    puts(text);
    (void)tcgemm_run(plan, 0.5, text, text, 0, NULL, text);
    puts(tcgemm_last_error());
    tcgemm_plan_destroy(plan);
    (void)snprintf(half, sizeof half, "%g", 0.5); /* and the program's own locale is as it was */
    return strcmp(half, "0,5") != 0;
}
END
set -- -std=c17 -I"$root/include"
[ -z "${TCGEMM_SANITIZE-}" ] || set -- "$@" "-fsanitize=$TCGEMM_SANITIZE"
"${CC:-cc}" "$@" "$tmp/host.c" "$build/src/libtcgemm.a" -lm -pthread -o "$tmp/host"
LOCPATH=$tmp "$tmp/host" >"$tmp/out" || {
    echo "FAILED: the program in a German locale" >&2
    exit 1
}
if grep -nE '[0-9],[0-9]+[^0-9,x]*(e|"| s|\}| but)' "$tmp/out" >&2 || ! grep -q 'alpha is 0\.5,' "$tmp/out"; then
    echo "FAILED: a number with a comma, or none with a point" >&2
    tail -n 1 "$tmp/out" >&2
    exit 1
fi
echo "numbers have their point in every locale"
