#!/bin/sh
# Each kind of fault: its exit status, one sentence on stderr, nothing on stdout, no file left.
# shellcheck disable=SC2086  # $small is several words
. "${TCGEMM_SOURCE_DIR:?}/tests/support/cli.sh"

# expect STATUS PATTERN ARGUMENTS...: the first line on stderr must match the pattern.
expect() {
    status=$1
    pattern=$2
    shift 2
    "$tool" "$@" > out 2> err
    got=$?
    if [ $got -ne "$status" ]; then
        fail "exit status $got, expected $status: tcgemm $*"
    elif [ "$status" -ne 0 ] && [ -s out ]; then
        fail "something on stdout: tcgemm $*"
    elif [ "$status" -ne 0 ] && ! head -n 1 err | grep -q "^tcgemm: .*$pattern"; then
        fail "stderr does not say '$pattern': tcgemm $*: $(cat err)"
    fi
    rm -f out err
}

small='-m 3 -n 4 -k 5'
"$tool" run $small -o a.npy --quiet &&             # 3 x 4 f32
    "$tool" run -m 4 -n 5 -k 2 -o b.npy --quiet && # 4 x 5 f32
    "$tool" run -m 4 -n 5 -k 2 -o s32.npy --type s8_s32 --quiet &&
    "$tool" run -m 4 -n 5 -k 2 -o f64.npy --type f64_f64 --quiet || exit 1
head -c 100 b.npy > truncated.npy
head -c 140 b.npy > short.npy
printf 'not a matrix at all\n' > wrong.npy
: > empty.npy
printf '\377\377\377\177\0\0\0\0{}' > long.safetensors
before=$(ls)

expect 2 'which command'
expect 2 "no command 'frobnicate'" frobnicate
expect 2 "'--frobnicate' is not an option" --frobnicate
expect 2 "'--frobnicate'" run --frobnicate
expect 2 'alpha.*not a number' run $small --alpha two
expect 2 'order.*row|col' run $small --order diagonal
expect 2 'repeat' run $small --repeat 0
expect 2 'not a size' run -m 3q -n 4 -k 5
expect 2 'not a size' run -m -3 -n 4 -k 5
expect 2 'is a list' run -m 3,4 -n 4 -k 5
expect 2 '2^63-1' run -m 99999999999999999999 -n 4 -k 5
expect 2 'needed, or --shape, or A and B' run -m 3
expect 2 'needed, or --shape, or M N K' explain
expect 2 'unknown type' run $small --type f17
expect 2 'nosuch' run $small --algo nosuch
expect 2 'nosuch' run $small --kernel nosuch
expect 2 'device' run $small --device toaster
expect 2 'threads is 5000, more than 4095' run $small --threads 5000
expect 2 'threads is 4096, more than 4095' run $small --threads 4096
expect 2 'threads is 4096, more than 4095' bench --shape 8 --threads 1,4096
expect 2 'alpha is 0.5' run $small --type s8_s32 --alpha 0.5
expect 2 'XOR' run $small --xor
expect 2 'address space' run --shape 4000000000x4000000000x4000000000
expect 2 'one operand too many' run a.npy b.npy a.npy
expect 2 'no B' run a.npy
expect 2 'leave out' run a.npy b.npy -m 3
expect 2 'random data' run a.npy b.npy --batch 2
expect 2 'exclude' run $small --print python --json
expect 2 'exclude' verify --quick --full
expect 2 'which sizes' bench
expect 2 'never ends' bench --shape 1:8:0
expect 2 'has a step that is no whole number' bench --shape '64:128:*1.5'
expect 2 'nosuch' run a.npy b.npy -o D.nosuch
expect 3 'nothere.npy' run nothere.npy b.npy
expect 3 'truncated.npy' run a.npy truncated.npy
expect 3 'short.npy' run a.npy short.npy
expect 3 'wrong.npy' run a.npy wrong.npy
expect 3 'empty.npy' run empty.npy b.npy
expect 3 'long.safetensors' run long.safetensors b.npy
expect 3 'b.npy is 4 x 5 and a.npy is 3 x 4' run b.npy a.npy
expect 3 'b.npy is 4 x 5, but the product of a.npy and b.npy is 3 x 5' run a.npy b.npy -c b.npy --beta 1
expect 3 'no C' run a.npy b.npy --beta 5
expect 3 'give --type' run a.npy s32.npy
expect 3 'give --type' run a.npy f64.npy
expect 3 'nodir' run a.npy b.npy -o nodir/d.npy
expect 3 'b.npy' run a.npy b.npy -o b.npy
expect 3 'shapes.txt' bench --shapes shapes.txt
expect 4 '' run $small --device 7
expect 4 '' run $small --type s8_s32 --kernel cpu_any_f32_4x12
expect 5 'GiB' run --shape 1000000x1000000x1000000
expect 77 'skipped' verify --type f64_f64 --kernel cpu_any_f32_4x12
expect 0 '' run a.npy b.npy
expect 0 '' run a.npy b.npy -o d.npy
expect 0 '' run a.npy b.npy -o d.npy --force
expect 0 '' run -m 0 -n 0 -k 0
rm -f d.npy

after=$(ls)
if [ "$before" != "$after" ]; then
    fail "files are left: $after"
fi
[ $failures -eq 0 ] && echo 'all exit statuses are right'
exit $((failures > 0))
