#!/bin/sh
# How many threads a product takes: the environment, the processors of the caller, the tool's limit.
. "${TCGEMM_SOURCE_DIR:?}/tests/support/cli.sh"

unset TCGEMM_NUM_THREADS OMP_NUM_THREADS

planned() { # planned [VARIABLE=VALUE ...]
    env "$@" "$tool" run --shape 700 --verify none | sed -n 's/^threads *\([0-9]*\).*/\1/p'
}

expect() { # expect NUMBER [VARIABLE=VALUE ...]
    expected=$1
    shift
    found=$(planned "$@")
    [ "$found" = "$expected" ] || fail "$found threads, not $expected, with: $*"
}

expect 3 OMP_NUM_THREADS=3
expect 3 OMP_NUM_THREADS=3,2
expect 5 TCGEMM_NUM_THREADS=5 OMP_NUM_THREADS=3
expect 3 TCGEMM_NUM_THREADS=none OMP_NUM_THREADS=3
expect 2 TCGEMM_NUM_THREADS=2
if taskset -c 0 true 2> /dev/null; then
    found=$(taskset -c 0 "$tool" run --shape 700 --verify none | sed -n 's/^threads *\([0-9]*\).*/\1/p')
    [ "$found" = 1 ] || fail "$found threads on one processor"
fi

found=$("$tool" run --shape 4 --threads 8 --verify none | sed -n 's/^threads *\([0-9]*\).*/\1/p')
[ "$found" = 1 ] || fail "$found threads for a product of 4 x 4 x 4"

# One limit for the tool and the library, and for both commands that check it.
for command in 'run --verify none' 'bench --samples 3 --min-seconds 0'; do
    # shellcheck disable=SC2086
    "$tool" $command --shape 8 --threads 4096 > out 2> err
    status=$?
    [ $status -eq 2 ] || fail "status $status for --threads 4096 of '$command'"
    grep -q 'more than 4095' err || fail "'$command' says of --threads 4096: $(cat err)"
done
"$tool" run --verify none --shape 8 --threads 4095 > out 2> err || fail "--threads 4095: $(cat err)"

[ $failures -eq 0 ] && echo 'threads are those asked for'
exit $((failures > 0))
