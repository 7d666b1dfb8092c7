#!/bin/sh
# Measures what the planner's models are fitted to, and fits them.
#     bash lab/model/run.sh sample [substring of kernel names]   on a machine with a GPU: CSV
#     bash lab/model/run.sh choices [problems [seed [milliseconds]]]   there, too: CSV
#     bash lab/model/run.sh fit samples.csv [--write src/gpu/measured/cost.def]
#     bash lab/model/run.sh sample-cpu [THREADS]                 on an idle machine: CSV
#     bash lab/model/run.sh fit-cpu samples.csv
# BUILD names the folder of the build whose library is measured (build-gpu, build).
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
task=${1-}
[ $# -eq 0 ] || shift
compile() { # compile BUILD NAME [FILE ...]
    build=$1 name=$2
    shift 2
    cc -std=gnu17 -O2 -I"$root/include" -I"$root/src" -I"$root/cli/bench" -I"$root/cli" -I"$root/tests/gpu" "$root/$name.c" "$@" \
        "$build/src/libtcgemm.a" -lpthread -ldl -lm -o "$build/${name##*/}"
}
case $task in
sample | choices)
    compile "${BUILD:-$root/build-gpu}" lab/model/$task "$root/cli/bench/gpu_clock.c"
    exec "$build/$task" "$@"
    ;;
sample-cpu)
    compile "${BUILD:-$root/build}" lab/model/sample_cpu
    exec "$build/sample_cpu" "$@"
    ;;
rechoose)
    compile "${BUILD:-$root/build}" lab/model/rechoose
    exec "$build/rechoose" "$@"
    ;;
fit)
    compile "${BUILD:-$root/build}" lab/rows
    "$build/rows" >"$build/rows.txt"
    exec python3 "$root/lab/model/fit.py" "$build/rows.txt" "$@"
    ;;
fit-cpu) exec python3 "$root/lab/model/fit_cpu.py" "$@" ;;
*)
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
