#!/bin/sh
# The environment: what it sets, a note for what has no effect, and the man page that names it all.
. "${TCGEMM_SOURCE_DIR:?}/tests/support/cli.sh"
unset TCGEMM_VERBOSE TCGEMM_NUM_THREADS OMP_NUM_THREADS TCGEMM_ARCH TCGEMM_CUDA_ARCH TCGEMM_CUDA_MEMORY_LIMIT

# threads EXPECTED VARIABLE...: the plan of a large product has so many.
threads() {
    expected=$1
    shift
    got=$(env "$@" "$tool" run --shape 1000 --verify none --json 2> err | sed -n 's/.*"num_threads": \([0-9]*\).*/\1/p')
    [ "$got" = "$expected" ] || fail "$got threads, expected $expected, with $*"
    [ -s err ] && fail "something on stderr with $*: $(cat err)"
}
threads 1 OMP_NUM_THREADS=1
threads 3 OMP_NUM_THREADS=3
threads 3 OMP_NUM_THREADS=3,1
threads 2 TCGEMM_NUM_THREADS=2 OMP_NUM_THREADS=3

# noted VARIABLE=VALUE: one line on stderr says what it is not, stdout is what it is.
noted() {
    name=${1%%=*}
    env "$1" "$tool" list --format csv > out 2> err || fail "status $? with $1"
    "$tool" list --format csv | cmp -s - out || fail "$1 changes the list"
    [ "$(wc -l < err)" -eq 1 ] || fail "$(wc -l < err) lines on stderr with $1"
    grep -q "^tcgemm: note: $name is '${1#*=}', which is not " err || fail "not said of $1: $(cat err)"
    env "$1" "$tool" run --shape 4 --quiet > out 2> err || fail "--quiet with $1"
    [ -s err ] && fail "--quiet is not quiet with $1"
}
for value in abc 0 -1 5000 2x ''; do
    noted "TCGEMM_NUM_THREADS=$value"
    noted "OMP_NUM_THREADS=$value"
done
noted TCGEMM_ARCH=foo
noted TCGEMM_ARCH=AVX2
noted TCGEMM_CUDA_ARCH=sm_80
noted TCGEMM_CUDA_MEMORY_LIMIT=1GiB
for value in 2 yes 1, 1: 11 :file; do
    noted "TCGEMM_VERBOSE=$value"
done
for level in avx2 avx512 amx neon dotprod i8mm sve; do
    if "$tool" info -t f32_f32 --format csv | grep -q "^features,.*\b$level"; then
        env TCGEMM_ARCH=$level "$tool" list > out 2> err
        [ -s err ] && fail "a note about TCGEMM_ARCH=$level, which is there: $(cat err)"
    else
        noted TCGEMM_ARCH=$level
    fi
done
env TCGEMM_ARCH=any "$tool" info -t f32_f32 --format csv 2>&1 | grep -q '^features,.*avx' && fail 'any has avx'

"$tool" --generate man | sed 's/\\//g' > page
for name in TCGEMM_VERBOSE TCGEMM_NUM_THREADS OMP_NUM_THREADS TCGEMM_ARCH TCGEMM_CUDA_ARCH TCGEMM_CUDA_MEMORY_LIMIT; do
    grep -q "^.B $name$" page || fail "$name is in no man page"
done
# What the library reads is in the table.
for name in $(grep -rhoE 'getenv\("[A-Z_]+"|threads_of_variable\("[A-Z_]+"' "$TCGEMM_SOURCE_DIR/src" |
    grep -oE '[A-Z_]{4,}'); do
    grep -q "^.B $name$" page || fail "the library reads $name, which no man page names"
done

[ $failures -eq 0 ] && echo 'the environment does what it says'
exit $((failures > 0))
