#!/bin/sh
# tests/walkthrough/run.sh [STEP ...]: docs/walkthrough.md as the program that it is. `make walkthrough`.
#
#     diagrams   the SVG files are those that docs/walkthrough/draw.py draws
#     compile    cut the program out of the page and compile it with nvcc, for the GPU here or sm_80
#     refusals   every sentence and exit status that needs no GPU, and the plan of the report
#     run        on the GPU: the seven pairs, every tile, the transposes, several sizes
#     emulate    the same on the CPU: the kernel lane by lane (emulator/mma.h), its Python, too
#     faults     one fault at a time is planted in the kernel and has to be noticed (emulated)
#
# Without steps: compile, refusals, and run or, where there is no GPU, emulate. BUILD names the
# folder (build-walkthrough), STRICT=1 makes warnings of the compilers faults. Exit status 77: no nvcc.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build-walkthrough}
page=docs/walkthrough.md
nvcc=$(command -v nvcc || true)
if [ -z "$nvcc" ] && [ -x /usr/local/cuda/bin/nvcc ]; then nvcc=/usr/local/cuda/bin/nvcc; fi
if [ -z "$nvcc" ]; then
    echo "skipped: there is no nvcc here to compile $page with"
    exit 77
fi
include=$(dirname "$(dirname "$(readlink -f "$nvcc")")")/include
cxx=${CXX:-c++}
gpu=
if command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then gpu=yes; fi
if [ $# -gt 0 ]; then
    steps=$*
elif [ $gpu ]; then
    steps="compile refusals run"
else
    steps="compile refusals emulate"
fi

program=$build/walkthrough
emulated=$build/emulated
passed=0 failed=0 skipped=0
mkdir -p "$build"

pass() { passed=$((passed + 1)); }

fail() {
    echo "FAIL: $*"
    failed=$((failed + 1))
}

skip() {
    echo "skipped: $*"
    skipped=$((skipped + 1))
}

# expect STATUS PATTERN ARGUMENTS...: one sentence on stderr that matches.
expect() {
    status=$1 pattern=$2
    shift 2
    got=0
    CUDA_VISIBLE_DEVICES='' "$program" "$@" >"$build/out" 2>"$build/err" || got=$?
    if [ $got -ne "$status" ]; then
        fail "exit status $got, expected $status: walkthrough $*: $(cat "$build/err")"
    elif [ "$(wc -l <"$build/err")" -ne 1 ] || ! grep -q "^walkthrough: .*$pattern" "$build/err"; then
        fail "not one sentence with '$pattern': walkthrough $*: $(cat "$build/err")"
    elif [ "$status" -eq 2 ] && [ -s "$build/out" ]; then
        fail "something on stdout: walkthrough $*"
    else
        pass
    fi
}

# plan PATTERN ARGUMENTS...: the report says so before it looks for a GPU.
plan() {
    pattern=$1
    shift
    CUDA_VISIBLE_DEVICES='' "$program" "$@" >"$build/out" 2>"$build/err" || true
    if grep -q "$pattern" "$build/out"; then pass; else
        fail "the report lacks '$pattern': walkthrough $*"
    fi
}

# correct PROGRAM ARGUMENTS...: nothing is wrong.
correct() {
    if "$@" >"$build/out" 2>&1; then
        tail -n 1 "$build/out"
        pass
    else
        tail -n 5 "$build/out"
        fail "$*"
    fi
}

# ---- steps ------------------------------------------------------------------------------------

step_diagrams() {
    if ! command -v python3 >/dev/null; then
        skip "no python3"
    elif python3 docs/walkthrough/draw.py --check; then
        pass
    else
        fail "the diagrams are stale"
    fi
}

step_compile() {
    scripts/tangle cuda "$page" >"$program.cu"
    arch="arch=compute_80,code=[sm_80,compute_80]"
    if [ $gpu ]; then
        cc=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '. ')
        [ "$cc" -lt 80 ] || arch="arch=compute_$cc,code=sm_$cc"
    fi
    echo "compiling $page for $arch"
    if ! "$nvcc" -std=c++17 -O3 -Xcompiler -Wall,-Wextra,-pthread -gencode "$arch" -o "$program" \
        "$program.cu" >"$build/nvcc.log" 2>&1; then
        cat "$build/nvcc.log"
        fail "the page does not compile"
    elif [ "${STRICT:-0}" = 1 ] && [ -s "$build/nvcc.log" ]; then
        cat "$build/nvcc.log"
        fail "the compiler complains"
    else
        pass
    fi
}

step_refusals() {
    types='f16_f32, f16_f16, u8_s32, s8_s32, bf16_f32, tf32_f32, f64_f64'
    expect 2 "no type 'f17'; the types are $types\$" --type f17
    for type in f16_f32 f16_f16 u8_s32 s8_s32 bf16_f32; do
        for tile in 16x16x8 8x8x4 16x16; do
            expect 2 "$type has no tile '$tile'; it has 16x16x16, 32x8x16, 8x32x16\$" \
                --type $type --tile $tile
        done
    done
    for tile in 16x16x16 32x8x16 8x32x16 8x8x4; do
        expect 2 "tf32_f32 has no tile '$tile'; it has 16x16x8\$" --type tf32_f32 --tile $tile
    done
    for tile in 16x16x16 32x8x16 8x32x16 16x16x8; do
        expect 2 "f64_f64 has no tile '$tile'; it has 8x8x4\$" --type f64_f64 --tile $tile
    done
    expect 2 "no type has a tile 'banana'" --tile banana
    for size in m n k; do
        for bad in 0 -3 1000001 12q 1.5 '' 99999999999999999999; do
            expect 2 "$size has to be a whole number from 1 to 1000000, not '$bad'" -$size "$bad"
        done
    done
    for scalar in alpha beta; do
        for bad in two nan inf 1000001 ''; do
            expect 2 "$scalar has to be a number from -1000000 to 1000000, not '$bad'" \
                --$scalar "$bad"
        done
        expect 2 's8_s32 has integer results' --type s8_s32 --$scalar 0.5
        expect 2 'u8_s32 has integer results' --all --$scalar 0.5
    done
    expect 2 '\-k wants a value' -k
    expect 2 "'--frobnicate' is not an option" --frobnicate
    expect 2 '\-\-print shows one product' --all --print
    expect 2 'leave --trans-a and --trans-b out' --all --trans-b
    expect 2 '\-\-print is for sizes up to 100' --print
    expect 4 'there is no GPU to run on' -m 257 -n 129 -k 93
    expect 4 'there is no GPU to run on' --all
    uneven='-m 257 -n 129 -k 93'
    # shellcheck disable=SC2086 # several words
    {
        plan 'padded to 272 x 144 x 96$' $uneven
        plan '^blocks       3 x 5 = 15$' $uneven
        plan '^threads      7 680 in 240 warps, of which 153 have a tile of D$' $uneven
        plan '^memory       204 408 bytes' $uneven
        plan '^total        6 223 512 eOPS, 30.45 eOPS per byte$' $uneven
        plan 'padded to 288 x 136 x 96$' $uneven --tile 32x8x16
        plan '^blocks       2 x 9 = 18$' $uneven --tile 8x32x16
        plan 'padded to 264 x 136 x 96$' $uneven --type f64_f64
        plan '^memory       337 020 bytes' $uneven --beta 1
        plan '^D = 2 \* A^T \* B^T + 3 \* C$' $uneven --alpha 2 --beta 3 --trans-a --trans-b
    }
    if "$program" --help | grep -q -e '--trans-a'; then pass; else fail "no help"; fi
}

# all PROGRAM SIZES...: every pair, tile and transposes, in random and in whole numbers.
all() {
    it=$1
    shift
    for size; do
        m=${size%%x*} n=${size#*x} k=${size##*x}
        n=${n%x*}
        correct "$it" --all -m "$m" -n "$n" -k "$k"
        correct "$it" --all -m "$m" -n "$n" -k "$k" --alpha 2 --beta 3
        correct "$it" --all -m "$m" -n "$n" -k "$k" --alpha -3 --beta 1 --whole
    done
}

step_run() {
    if [ ! $gpu ]; then
        skip "no GPU to run on; the program is compiled only"
        return
    fi
    all "$program" 1x1x1 16x16x16 64x128x192 257x129x93 1000x1001x999
    for type in f16_f32 f16_f16 u8_s32 s8_s32 bf16_f32 tf32_f32 f64_f64; do
        correct "$program" --type $type -m 4096 -n 4096 -k 4096
        grep -E '^(type|product)' "$build/out"
    done
}

# emulate SOURCE OPTIMISATION OUTPUT
compile_emulated() {
    "$cxx" -std=c++17 "$2" -Wall -Wextra -Wno-unknown-pragmas -Itests/walkthrough/emulator \
        -isystem "$include" -rdynamic -pthread -x c++ -o "$3" "$1" -x none -ldl
}

can_emulate() {
    if ! command -v "$cxx" >/dev/null || [ ! -e "$include/cuda_fp16.h" ]; then
        skip "emulating takes $cxx and the headers of CUDA"
        return 1
    fi
    [ -e "$program.cu" ] || scripts/tangle cuda "$page" >"$program.cu"
}

# NumPy has to agree with what --print says.
check_python() {
    python=
    for candidate in /usr/bin/python3 python3; do
        if "$candidate" -c 'import numpy' 2>/dev/null; then python=$candidate && break; fi
    done
    if [ -z "$python" ]; then
        skip "no python3 with numpy"
        return
    fi
    for type in f16_f32 f16_f16 u8_s32 s8_s32 bf16_f32 tf32_f32 f64_f64; do
        difference=$("$emulated" --print --type $type -m 19 -n 5 -k 18 --trans-a --alpha 2 --beta -1 |
            "$python" - || echo 9)
        if awk -v x="$difference" 'BEGIN { exit !(x + 0 <= 0.02 && x ~ /^[0-9]/) }'; then pass; else
            fail "NumPy differs by $difference for $type"
        fi
    done
}

step_emulate() {
    can_emulate || return 0
    echo "compiling $page for the emulator"
    if ! compile_emulated "$program.cu" -O1 "$emulated" >"$build/cxx.log" 2>&1 ||
        { [ "${STRICT:-0}" = 1 ] && [ -s "$build/cxx.log" ]; }; then
        cat "$build/cxx.log"
        fail "the page does not compile for the emulator"
        return
    fi
    for leader in first last; do
        EMULATOR_LEADER=$leader
        export EMULATOR_LEADER
        all "$emulated" 1x1x1 16x16x16 65x33x47 32x41x64
    done
    unset EMULATOR_LEADER
    check_python
}

# Runs the faulty program where padding, edges, alignment and rows read in place come together; both
# leaders, both kinds of data. True if all is said to be correct.
unnoticed() {
    for leader in first last; do
        for data in '' --whole; do
            for call in "-m 37 -n 41 -k 43 --alpha 2 --beta 3" "-m 16 -n 32 -k 16" "-m 32 -n 41 -k 64"; do
                # shellcheck disable=SC2086 # several words
                EMULATOR_LEADER=$leader "$build/fault" --all $call $data >"$build/out" 2>&1 ||
                    return 1
            done
        done
    done
}

# fault NAME SED: the edit has to match, and the program has to notice.
fault() {
    sed "$2" "$program.cu" >"$build/fault.cu"
    if cmp -s "$program.cu" "$build/fault.cu"; then
        fail "the edit for '$1' matches nothing"
        return
    fi
    if ! compile_emulated "$build/fault.cu" -O0 "$build/fault" >"$build/cxx.log" 2>&1; then
        fail "'$1' does not compile"
        return
    fi
    if unnoticed; then
        fail "not noticed: $1"
    else
        echo "noticed: $1"
        pass
    fi
}

step_faults() {
    can_emulate || return 0
    fault "lanes write before all have read" '/every lane has read/d'
    fault "lanes read before all have written" '/every element is there/d'
    fault "padded with ones" 's/ : T(0);/ : T(1);/'
    fault "the tail of k is dropped" 's/p < k; p += TK/p + TK <= k; p += TK/'
    fault "the edge of D is not looked at" 's/if (r < m && s < n)/if (r < m)/'
    fault "warps take each other's tiles" 's/warp % WARPS_N) \* TN/warp \/ WARPS_N) * TN/'
    fault "transposes exchanged" 's/<TRANS, wmma::col_major, wmma::row_major>/<!TRANS, wmma::col_major, wmma::row_major>/'
    fault "alpha is left out" 's/alpha \* sum;/sum;/'
    fault "C is read though beta is 0" 's/beta == 0 ? scaled/beta == 5 ? scaled/'
    fault "C is left out" 's/scaled + beta \* /scaled + 0 * /'
    fault "tf32 is not rounded" 's/wmma::__float_to_tf32(f.x\[i\])/f.x[i]/'
    fault "unaligned rows are read in place" 's/ && is_aligned<Fragment>(tile, cols)//'
}

for step in $steps; do
    case $step in
    diagrams | compile | refusals | run | emulate | faults) "step_$step" ;;
    *)
        echo "no step '$step'" >&2
        exit 2
        ;;
    esac
done
line="$passed passed, $failed failed"
[ $skipped -eq 0 ] || line="$line, $skipped skipped"
echo "$line"
[ $failed -eq 0 ]
