#!/bin/sh
# Measures what the planner's model of the GPU is fitted to, and fits it.
#     bash lab/model/run.sh sample [substring of kernel names]   on a machine with a GPU: CSV
#     bash lab/model/run.sh fit samples.csv                      anywhere: constants and errors
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build-gpu}
case ${1-} in
sample)
    shift
    cc -std=gnu17 -O2 -I"$root/include" -I"$root/cli" "$root/lab/model/sample.c" "$root/cli/gpu_clock.c" \
        "$build/src/libtcgemm.a" -lpthread -ldl -lm -o "$build/sample"
    exec "$build/sample" "$@"
    ;;
fit)
    shift
    exec python3 "$root/lab/model/fit.py" "$@"
    ;;
*)
    echo "usage: lab/model/run.sh sample | fit FILE" >&2
    exit 2
    ;;
esac
