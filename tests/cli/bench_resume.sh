#!/bin/sh
# What bench has measured is kept: rows come one by one, sizes are checked before the first, a signal loses
# nothing that is whole, and --resume goes on.
. "${TCGEMM_SOURCE_DIR:?}/tests/support/cli.sh"
fast='--samples 3 --min-seconds 0'

"$tool" bench $fast --shape 64,300000 --csv r.csv > out 2> err
[ $? -eq 5 ] || fail 'a shape beyond the memory'
grep -q 'matrices of f32_f32 300000 x 300000 x 300000 need' err || fail "the shape is not named: $(cat err)"
[ -s out ] && fail 'something was measured before the sizes were checked'
[ -e r.csv ] && fail 'a table without a row'

# started SHAPES OPTIONS...: a bench with its rows in r.csv, once it has written two of them.
started() {
    shapes=$1
    shift
    "$tool" bench --samples 3 --min-seconds 0.2 --shape "$shapes" "$@" > out 2> err &
    pid=$!
    tries=0
    while [ "$(cat r.csv 2> /dev/null | wc -l)" -lt 3 ] && [ $tries -lt 200 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    [ $tries -lt 200 ] || fail "no two rows in 20 seconds: $(cat err)"
}

shapes=30:110:10
rm -f r.csv
started $shapes --csv r.csv --format jsonl
kill -s INT $pid
wait $pid
status=$?
rows=$(($(wc -l < r.csv) - 1))
[ $status -eq 130 ] || fail "status $status after SIGINT"
[ "$rows" -ge 2 ] && [ "$rows" -lt 9 ] || fail "$rows rows after SIGINT"
[ "$(wc -l < out)" -eq "$rows" ] || fail "$(wc -l < out) rows on the screen, $rows in the file"
grep -q "$rows of 9 problems are measured, their rows are in r.csv" err || fail "not said: $(cat err)"
tail -n +2 r.csv | grep -qv ',20[0-9-]*T[0-9:]*Z$' && fail "a row is not whole: $(cat r.csv)"

# Killed in the middle of a line.
rm -f r.csv
started $shapes --csv r.csv --quiet
kill -s KILL $pid
wait $pid
cp r.csv killed.csv
whole=$(wc -l < r.csv)
tail -n 1 r.csv | cut -c 1-40 | tr -d '\n' >> r.csv
"$tool" bench $fast --shape $shapes --resume r.csv --format csv > out 2> err || fail "resume: $(cat err)"
[ "$(wc -l < r.csv)" -eq 10 ] || fail "$(wc -l < r.csv) lines after resume"
[ "$(cut -d, -f 4 r.csv | sort -u | wc -l)" -eq 10 ] || fail 'a problem is there twice'
head -n "$whole" r.csv | cmp -s - killed.csv || fail 'rows that were there have changed'
[ "$(($(wc -l < out) - 1 + whole))" -eq 10 ] || fail 'resume prints other rows than it measures'
grep -q "$((whole - 1)) rows of r.csv need no other measurement" err || fail "not said: $(cat err)"

# Nothing is left to do; another kernel, number of threads or peer is another measurement.
"$tool" bench $fast --shape $shapes --resume r.csv > out 2> err || fail 'resume of a whole table'
[ -s out ] && fail "rows that were there: $(cat out)"
"$tool" bench $fast --shape 30 --resume r.csv --algo reference,cpu --threads 1,2 > out 2> err ||
    fail "resume with other kernels and threads: $(cat err)"
[ "$(wc -l < r.csv)" -gt 12 ] || fail 'other kernels and threads are taken for measured'
for more in '--algo reference,cpu --threads 1,2' '--vs f32' '--trans-a --order col --batch 2'; do
    before=$(wc -l < r.csv)
    [ "$before" -gt 12 ] || continue
    # shellcheck disable=SC2086
    "$tool" bench $fast --shape 30 --resume r.csv $more > out 2> err || fail "resume $more: $(cat err)"
    case $more in
    --algo*) [ "$(wc -l < r.csv)" -eq "$before" ] || fail "resume $more has measured again" ;;
    *) [ "$(wc -l < r.csv)" -eq $((before + 1)) ] || fail "resume $more has measured nothing" ;;
    esac
done

"$tool" bench $fast --shape 8 --resume new.csv --quiet || fail 'resume of nothing'
[ "$(wc -l < new.csv)" -eq 2 ] || fail 'resume begins no table'
printf 'a,b\n1,2\n' > other.csv
"$tool" bench $fast --shape 8 --resume other.csv > out 2> err
[ $? -eq 3 ] || fail 'another table is resumed'
grep -q 'other.csv: its columns' err || fail "not said: $(cat err)"
[ "$(cat other.csv)" = "$(printf 'a,b\n1,2')" ] || fail 'another table was changed'
"$tool" bench $fast --shape 8 --resume r.csv --csv s.csv > out 2> err
[ $? -eq 2 ] || fail '--resume beside --csv'

# JSON is one document, also of what an interrupted run has measured.
rm -f r.csv
started $shapes --csv r.csv --format json
kill -s TERM $pid
wait $pid
grep -q '"schema": "tcgemm.bench/1"' out || fail 'no document of JSON'
[ "$(grep -c '"kernel"' out)" -eq $(($(wc -l < r.csv) - 1)) ] || fail 'JSON has other rows than the file'

# A name that is taken stays as it is, a dangling link too.
ln -s nowhere.csv link.csv
"$tool" bench $fast --shape 8 --csv link.csv > out 2> err
[ $? -eq 3 ] || fail 'a dangling link is replaced without --force'
[ -L link.csv ] && [ ! -e nowhere.csv ] || fail 'the link was changed'

[ $failures -eq 0 ] && echo 'what bench has measured is kept'
exit $((failures > 0))
