#!/bin/sh
# The bench: shapes from everywhere, peers, CSV with what a reader needs, and its refusals.
. "${TCGEMM_SOURCE_DIR:?}/tests/support/cli.sh"
fast='--samples 3 --min-seconds 0'

# count EXPECTED ARGUMENTS...: so many rows come out.
count() {
    expected=$1
    shift
    # shellcheck disable=SC2086
    rows=$("$tool" bench $fast --format csv "$@" 2> err | tail -n +2 | wc -l)
    [ "$rows" -eq "$expected" ] || fail "$rows rows, expected $expected: bench $* $(cat err)"
}

printf '# shapes\nNT,3,4,5\n\n7x8x9  # another\n TT , \n' > bad.txt
printf '# shapes\nNT,3,4,5\n\n7x8x9  # another\n' > shapes.txt
# shellcheck disable=SC2086
threads=$(OMP_NUM_THREADS=1 "$tool" bench $fast --format csv --shape 8 | tail -n 1 | cut -d, -f 10)
[ "$threads" = 1 ] || fail "OMP_NUM_THREADS=1 gives $threads threads"
count 2 --shapes shapes.txt
count 3 --shape 4,8x9x10,16
count 4 --shape 4:32:*2
count 6 -m 3,4 -n 5 -k 1:3:1
count 4 --shape 8,9 --type f32_f32,s8_s32
count 2 --shape 8 --threads 1,2
count 2 --shape 16 --kernel reference,cpu_any_f32_4x12
count 1 --shape 16 --tile 7x7x7,4x12x1
count 1 --shape 64 --cold
count 1 --shape 64 --vs f32 --type bf16_f32
count 1 --shape 20 --trans-a --trans-b --order col --alpha 2 --beta 3 --batch 3
# shellcheck disable=SC2086
"$tool" bench $fast --shapes bad.txt > out 2> err
[ $? -eq 3 ] || fail 'a bad file of shapes'
grep -q 'bad.txt: line 5' err || fail "the line is not named: $(cat err)"

# shellcheck disable=SC2086
"$tool" bench $fast --shape 32 --csv out.csv --quiet || fail 'bench --csv'
for column in commit cpu threads compiler date_utc time_median_seconds ratio_median; do
    head -n 1 out.csv | tr ',' '\n' | grep -qx $column || fail "out.csv has no column $column"
done
# shellcheck disable=SC2086
"$tool" bench $fast --shape 32 --csv out.csv --quiet 2> err
[ $? -eq 3 ] || fail 'out.csv is overwritten without --force'

# shellcheck disable=SC2086
"$tool" bench $fast --shape 64 --type f64_f64,s8_s32 --vs openblas --format tsv > out 2> err
case $? in
0)
    grep -q 'openblas dgemm' out || fail 'f64_f64 does not meet dgemm'
    grep -q 'openblas sgemm' out || fail 's8_s32 does not meet sgemm'
    ;;
4) grep -q 'not installed' err || fail "no peer, but not said so: $(cat err)" ;;
*) fail "bench --vs openblas: $(cat err)" ;;
esac

[ $failures -eq 0 ] && echo 'the bench counts right'
exit $((failures > 0))
