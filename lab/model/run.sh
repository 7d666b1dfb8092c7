#!/bin/sh
# Measures what the planner's models are fitted to, and fits them.
#     bash lab/model/run.sh sample [substring of kernel names]   on a machine with a GPU: CSV
#     bash lab/model/run.sh choices [problems [seed [milliseconds [regular | steady | @FILE]]]]   there, too: CSV
#     bash lab/model/run.sh fit src/gpu/measured/cost.def TABLE ...   anywhere: the new cost.def
#     bash lab/model/run.sh rechoose choices.csv                               and what would be chosen
#     bash lab/model/run.sh cpu fit FOLDER [COUNT]               on an idle machine: src/cpu/cost.def
#     bash lab/model/run.sh cpu judge FOLDER [COUNT [THREADS]]   and, once built, how well it predicts
#     bash lab/model/run.sh ways fit FOLDER                      on an idle machine: src/cpu/ways_*.def; ways.c names them
#     bash lab/model/run.sh ways judge FOLDER                    and, once built, what is chosen
# TCGEMM_ARCH=avx2: ways of short vectors, as on a processor that has no others.
# TYPE: the types that are drawn, by how their names begin (choices), or fitted, by a part of them (cpu).
# ADDS_C=1: choices of products with a C.
# Of the CPU COUNT random products of each type are timed for each of LEVELS ("amx avx512 avx2", values of
# TCGEMM_ARCH, and on other makers' than Intel's, which are fitted to src/cpu/cost_zen4.def or cost_zen5.def, "native
# avx2", the first of which hides nothing), those of the fit and those that judge it from different seeds.
# BUILD names the folder of the build whose library is measured (build-gpu, build), GPU the known GPU that tables for
# fit and rechoose are of (h200).
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
maker() { # which of the processors that have tables of their own this one is, or is most like
    grep -q GenuineIntel /proc/cpuinfo && echo xeon && return
    grep -q '^cpu family.*: 25$' /proc/cpuinfo && echo zen4 || echo zen5
}
processor() { # a virtual machine's name says little: the family and the model, too
    awk -F '[ \t]*: ' '{ if (!($1 in of)) of[$1] = $2 }
        END { printf "%s (family %s, model %s)\n", of["model name"], of["cpu family"], of["model"] }' /proc/cpuinfo
}
case $task in
sample | choices)
    compile "${BUILD:-$root/build-gpu}" lab/model/$task "$root/cli/bench/gpu_clock.c"
    exec "$build/$task" "$@"
    ;;
cpu)
    what=${1-} folder=${2:?'a folder for the samples'} count=${3-}
    mkdir -p "$folder"
    compile "${BUILD:-$root/build}" lab/model/sample_cpu
    costs=cost_$(maker).def levels="native avx2"
    [ "$(maker)" != xeon ] || costs=cost.def levels="amx avx512 avx2"
    for level in ${LEVELS:-$levels}; do
        case $what in
        fit) TCGEMM_ARCH=$level "$build/sample_cpu" 1 "${count:-150}" 1 "${TYPE:-_}" >"$folder/fit-$level.csv" ;;
        judge)
            TCGEMM_ARCH=$level "$build/sample_cpu" 2 "${count:-40}" "${4:-1}" "${TYPE:-_}" |
                cut -d, -f1-10 >"$folder/cpu-$level-model.csv"
            echo "$level:"
            python3 "$root/lab/model/fit_cpu.py" judge "$folder/cpu-$level-model.csv"
            ;;
        esac
    done
    [ "$what" != fit ] ||
        exec python3 "$root/lab/model/fit_cpu.py" fit "$root/src/cpu/$costs" "$(processor)" "$folder"/fit-*.csv
    ;;
ways)
    what=${1-} folder=${2:?'a folder for the samples'} seed=1
    [ "$what" != judge ] || seed=2
    mkdir -p "$folder"
    compile "${BUILD:-$root/build}" lab/model/ways
    for type in ${TYPE:-f32_f32 f64_f64 f16_f32 f16_f16 bf16_f32 bf16_bf16 u8s8_s32 s8_s32 u8_s32 s8u8_s32}; do
        "$build/ways" "$type" $seed >"$folder/ways-$what-$type.csv"
    done
    case $what in
    fit)
        ways=ways_$(maker).def
        [ "${TCGEMM_ARCH-}" != avx2 ] && grep -q avx512f /proc/cpuinfo || ways=ways_$(maker)_avx2.def
        exec python3 "$root/lab/model/fit_ways.py" fit "$root/src/cpu/$ways" "$(processor)" "$folder"/ways-fit-*.csv
        ;;
    judge) exec python3 "$root/lab/model/fit_ways.py" judge "$folder"/ways-judge-*.csv ;;
    esac
    ;;
fit | rechoose)
    compile "${BUILD:-$root/build}" lab/model/$task
    exec "$build/$task" "$@"
    ;;
*)
    sed -n '1d; /^#/!q; s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
