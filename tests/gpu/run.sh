#!/bin/sh
# tests/gpu/run.sh [STEP ...]: builds for the GPU of this machine and proves its kernels. `make test-gpu`.
#
#     build      configure and build into build-gpu (BUILD names another folder)
#     api        streams, graphs, host and GPU matrices, panels, forks, faults
#     kernels    every row against the reference: LEVEL=--full (default), --quick or --cover
#     older      the kernels of sm_80 and sm_75, through their PTX, on this device
#     verify     `tcgemm verify --full --device 0`, if the tool could be built (it needs jansson) or TOOL names it
#     speed      a table of all algorithms and types at 8192^3 (SIZE names another)
#     host       products of host matrices, pinned and pageable, against the speed of the bus
#     sanitize   compute-sanitizer memcheck, racecheck, initcheck, synccheck on small products of every row
#
# Without steps: all of them. Everything printed goes to bench/results/test-gpu.log, too (LOG names
# another). The last line counts. Exit status 77: no GPU or no nvcc here.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build-gpu}
log=${LOG:-bench/results/test-gpu.log}
level=${LEVEL:---full}
steps=${*:-build api kernels older verify speed host sanitize}
bin=$build/tests/gpu

if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L >/dev/null 2>&1; then
    echo "skipped: no NVIDIA GPU here"
    exit 77
fi

step_build() {
    cc=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '. ')
    [ "$cc" != 90 ] || cc=90a
    archs="$cc"
    # PTX of older architectures, for the step "older".
    for old in 80 75; do
        [ "${cc%a}" -le "$old" ] || archs="$archs;$old-virtual"
    done
    cli=ON
    pkg-config --exists jansson 2>/dev/null || cli=OFF
    generator=
    command -v ninja >/dev/null && generator=-GNinja
    cmake -S . -B "$build" $generator -DCMAKE_BUILD_TYPE=Release -DTCGEMM_CUDA=ON \
        "-DTCGEMM_CUDA_ARCHS=${ARCHS:-$archs}" -DTCGEMM_BUILD_GPU_TESTS=ON -DTCGEMM_BUILD_CLI=$cli \
        -DTCGEMM_INSTALL_DOCS=OFF >"$build/build.log" 2>&1 &&
        cmake --build "$build" -j "$(nproc)" >>"$build/build.log" 2>&1 || {
        tail -n 60 "$build/build.log"
        return 1
    }
    grep 'CUDA back end' "$build/build.log"
    grep -E 'warning' "$build/build.log" || true
    scripts/ptxas-table "$build/cuda" >"$build/ptxas.txt" || true
    grep -E 'FAULT|faults$' "$build/ptxas.txt" || true
}

step_api() { "$bin/test_cuda_api"; }

# A type keeps one core busy with its references, and little of the GPU: all types side by side.
step_kernels() {
    rm -rf "$build/kernels"
    mkdir -p "$build/kernels"
    status=0
    "$bin/test_cuda_kernels" --list | grep -oE '[a-z0-9]+_(f16|bf16|f32|f64|s32)_[0-9]+x' | sed 's/_[0-9]*x$//' |
        sort -u | xargs -P "${JOBS:-$(nproc)}" -n 1 sh -c '"$0" "$1" --type "$3" >"$2/kernels/$3" 2>&1' \
        "$bin/test_cuda_kernels" "$level" "$build" || status=1
    cat "$build"/kernels/*
    return $status
}

step_older() {
    for old in 80 75; do
        echo "-- as compute capability $old"
        TCGEMM_CUDA_ARCH=$old "$bin/test_cuda_kernels" --quick
    done
}

step_verify() {
    tool=${TOOL:-$build/cli/tcgemm}
    if [ ! -x "$tool" ]; then
        echo "skipped: the tool was not built (no jansson)"
        return 0
    fi
    for algo in wmma-direct wmma-shared simt-outer mma-pipelined wgmma stream batched; do
        echo "-- $algo"
        "$tool" verify --full --device 0 --algo "$algo" || return 1
    done
}

step_host() { "$bin/gpu_host_speed"; }

step_speed() { "$bin/gpu_speed" --size "${SIZE:-8192}"; }

step_sanitize() {
    if ! command -v compute-sanitizer >/dev/null; then
        echo "skipped: no compute-sanitizer"
        return 0
    fi
    mkdir -p "$build/sanitize"
    rm -f "$build"/sanitize/*
    # A sanitizer is slow and uses one core, so a row and a tool at a time, side by side.
    "$bin/test_cuda_kernels" --list | grep -E "${COVER:-.}" >"$build/sanitize.rows"
    for tool in ${TOOLS:-memcheck racecheck initcheck synccheck}; do
        sed "s/^/$tool /" "$build/sanitize.rows"
    done | xargs -P "${JOBS:-$(nproc)}" -n 2 sh -c '
        log=$1/sanitize/$2.$3
        compute-sanitizer --tool "$2" --error-exitcode 9 --print-limit 20 "$0" --cover --kernel "$3" \
            >"$log" 2>&1 && mv "$log" "$log.clean"' "$bin/test_cuda_kernels" "$build" || true
    for tool in ${TOOLS:-memcheck racecheck initcheck synccheck}; do
        clean=$(find "$build/sanitize" -name "$tool.*.clean" | wc -l)
        rows=$(wc -l <"$build/sanitize.rows")
        echo "-- $tool"
        cat "$build/sanitize/$tool".*.clean | grep -hE 'ERROR SUMMARY|RACECHECK SUMMARY' | sort | uniq -c
        for log in $(find "$build/sanitize" -name "$tool.*" ! -name '*.clean'); do
            tail -n 30 "$log"
        done
        echo "$clean passed, $((rows - clean)) failed"
    done
}

mkdir -p "$(dirname "$log")" "$build"
{
    echo "tcgemm $(git rev-parse --short HEAD 2>/dev/null || echo unknown), $(date -u +%Y-%m-%d)"
    nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader
    passed=0 failed=0
    for step in $steps; do
        echo "== $step"
        start=$(date +%s)
        ok=yes
        "step_$step" >"$build/step.log" 2>&1 || ok=no
        cat "$build/step.log"
        counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$build/step.log" || true)
        p=$(echo "$counts" | awk '{n += $1} END {print n + 0}')
        f=$(echo "$counts" | awk '{n += $3} END {print n + 0}')
        [ $ok = yes ] || [ "$f" -gt 0 ] || f=1
        [ -n "$counts" ] || [ $ok = no ] || p=1
        passed=$((passed + p)) failed=$((failed + f))
        echo "== $step: $ok, $(($(date +%s) - start)) s"
        [ "$step" != build ] || [ $ok = yes ] || break
    done
    echo "$passed passed, $failed failed"
} 2>&1 | tee "$log"
tail -n 1 "$log" | grep -q ' 0 failed'
