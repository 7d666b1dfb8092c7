#!/bin/sh
# With little memory nothing is made up: what could not be measured is not told as a number.
. "${TCGEMM_SOURCE_DIR:?}/tests/support/cli.sh"

# A sanitizer's own memory does not fit below a limit.
[ -z "${TCGEMM_SANITIZE-}" ] || exit 77

# Enough for the tool and its threads, too little for the arrays that the memory is measured with.
(ulimit -v 120000 && "$tool" explain 100 100 100 --threads 1 --html page.html > out 2> err)
status=$?
[ $status -eq 0 ] || fail "status $status: $(cat err)"
grep -q 'could not be measured' out || fail "explain does not say that nothing was measured: $(cat out)"
grep -E '(^|[^0-9])0 GB/s|0\.0 operations|bounds it' out page.html && fail 'numbers of what was not measured'
(ulimit -v 120000 && "$tool" explain 100 100 100 --threads 1 --json > out 2> err) || fail "--json: $(cat err)"
grep -q '"bound_by": *null' out || fail "--json: $(grep bound_by out)"

# A product that does not fit says so, in a status and a sentence.
(ulimit -v 120000 && "$tool" run --shape 4000 --threads 1 > out 2> err)
status=$?
[ $status -eq 5 ] || fail "status $status for a product that does not fit: $(cat err)"
[ -s err ] || fail 'no sentence for a product that does not fit'

[ $failures -eq 0 ] && echo 'little memory, no nonsense'
exit $((failures > 0))
