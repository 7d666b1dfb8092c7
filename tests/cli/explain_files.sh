#!/bin/sh
# The files that explain writes: six pictures and a page, whole or not at all, never over another
# file unasked, and nothing when the problem is refused.
. "${TCGEMM_SOURCE_DIR:?}/tests/support/cli.sh"

explain() { "$tool" explain "$@" > out 2> err; }

explain 300 200 100 --gpu h200 --svg pictures --html page.html || fail "explain: $(cat err)"
grep -q '^predicted ' out || fail 'no text beside the files'
for name in blocks warps walk edges memory roofline; do
    head -c 5 "pictures/$name.svg" 2> /dev/null | grep -q '<svg ' || fail "no picture $name"
    tail -n 1 "pictures/$name.svg" | grep -qx '</svg>' || fail "$name has no end"
done
[ "$(ls pictures | wc -l)" -eq 6 ] || fail "the folder holds $(ls pictures)"
[ "$(tail -n 1 page.html)" = '</html>' ] || fail 'the page has no end'

# The same facts, the same files.
explain 300 200 100 --gpu h200 --svg again --html again.html --quiet || fail 'explain --quiet'
[ -s out ] && fail '--quiet is not quiet'
diff -r pictures again || fail 'other pictures the second time'
cmp page.html again.html || fail 'another page the second time'

# Nothing is overwritten unasked.
echo precious > page.html
echo precious > pictures/walk.svg
explain 300 200 100 --gpu h200 --html page.html && fail 'a page was overwritten'
explain 300 200 100 --gpu h200 --svg pictures && fail 'pictures were overwritten'
grep -q 'exists already' err || fail "no sentence: $(cat err)"
[ "$(cat page.html pictures/walk.svg | sort -u)" = precious ] || fail 'a file was changed'
explain 300 200 100 --gpu h200 --html page.html --svg pictures --force || fail '--force'
cmp page.html again.html || fail 'another page with --force'

# Refusals leave nothing behind.
explain -- -1 2 3 --svg none --html none.html && fail 'a negative size'
explain 1 2 3 --gpu nonsense --svg none --html none.html && fail 'an unknown GPU'
explain 1 2 3 --html nowhere/page.html && fail 'a folder that is not there'
explain 1 2 3 --svg nowhere/pictures && fail 'a folder in a folder that is not there'
mkdir folder
explain 1 2 3 --html folder --force && fail 'a folder for a page'
grep -q 'could be replaced' err || fail "no sentence: $(cat err)"
[ -e none ] || [ -e none.html ] || [ -e nowhere ] && fail 'something was left behind'
ls -A | grep -q part && fail "a temporary file was left: $(ls -A)"

# Beside a page there may be any format on stdout.
explain 300 200 100 --gpu h200 --html json.html --json || fail 'explain --json --html'
grep -q '"tcgemm.explain/1"' out || fail 'no JSON beside the page'

[ $failures -eq 0 ]
