#!/bin/sh
# The tool and GPUs. Without a GPU: the exit statuses, the sentences, and `auto` on the CPU; the rest
# is skipped (77). With one: run, verify and bench on it.
# shellcheck disable=SC2086  # $small is several words
. "${TCGEMM_SOURCE_DIR:?}/tests/support/cli.sh"

# expect STATUS PATTERN ARGUMENTS...: the pattern must be in what the tool says, on either stream.
expect() {
    status=$1
    pattern=$2
    shift 2
    "$tool" "$@" > out 2> err
    got=$?
    if [ $got -ne "$status" ]; then
        fail "exit status $got, expected $status: tcgemm $*: $(cat err)"
    elif ! cat out err | grep -q -e "$pattern"; then
        fail "'$pattern' is not said: tcgemm $*"
    fi
}

small='-m 65 -n 33 -k 17'

# ---- the same on every machine ----
expect 0 'on device cpu' run $small --device cpu
expect 0 'transfer     none (CPU)' run $small --device cpu
expect 0 '"transfer_seconds": null' run $small --device cpu --json
expect 0 'CORRECT' run $small --device auto
expect 4 "has no tile '5x5x5'.*it has" run $small --device cpu --tile 5x5x5
expect 4 'GPU 4000 was asked for, but' run $small --device 4000
expect 2 'cublaslt runs on a GPU' bench --shape 8 --vs cublaslt
expect 0 '"gpus_reason"' info --type f32_f32 --json
expect 0 ',cpu,' list --format csv
"$tool" list --format csv | head -n 1 | grep -q 'kernel,algo,device,isa,' ||
    fail 'list has no column for the device'
"$tool" bench --shape 8 --min-seconds 0 --samples 1 --format csv | head -n 1 |
    grep -q ',device,driver,' || fail 'bench has no columns for the device and driver'

# ---- without a GPU ----
if "$tool" info --type f32_f32 | grep -q '^GPUs  *none: '; then
    reason=$("$tool" info --type f32_f32 | sed -n 's/^GPUs  *none: //p')
    [ -n "$reason" ] || fail 'info does not say why there is no GPU'
    for command in "run $small" 'verify --quick' 'bench --shape 8'; do
        expect 4 'GPU 0 was asked for, but' $command --device 0
        grep -q -F "$reason" err || fail "the sentence is not that of info: $(cat err)"
        [ -s out ] && fail "something on stdout: tcgemm $command --device 0"
    done
    expect 0 'on device cpu' run $small --device auto
    expect 0 'f32_f32' bench --shape 8 --min-seconds 0 --samples 1 --device auto
    "$tool" list --format csv | grep ',gpu,' | grep -q ',true,\|,yes,' &&
        fail 'a GPU kernel is said to run here'
    [ $failures -eq 0 ] || exit 1
    echo "skipped: no GPU here ($reason); what must hold without one does"
    exit 77
fi

# ---- with a GPU ----
for type in f16_f32 bf16_f32 s8_s32 f32_f32; do
    expect 0 'CORRECT' run $small --device 0 --type $type --alpha 2 --beta 3 --trans-b --verify full
done
expect 0 'registers per thread' run $small --device 0 --type f16_f32
expect 0 '"threads_per_block"' run $small --device 0 --type f16_f32 --json
expect 4 'it has' run $small --device 0 --type f16_f32 --algo wmma-direct --tile 5x5x5
expect 0 'instruction' run $small --device 0 --type f16_f32 --algo wmma-direct --tile 32x8x16
expect 0 'TFLOP/s' info --type f32_f32
expect 0 ' 0 failed' verify --device 0 --type f16_f32 --algo mma-pipelined
expect 0 'mma-pipelined' bench --device 0 --type f16_f32 --shape 512 --algo all --min-seconds 0.01
expect 2 'openblas runs on the CPU' bench --shape 8 --device 0 --vs openblas
[ $failures -eq 0 ] && echo 'the tool works on this GPU'
exit $((failures > 0))
