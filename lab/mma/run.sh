#!/bin/bash
# run.sh - builds mma_lab.cu once per type, in parallel, runs each and prints one table (TFLOP/s, TOP/s;
# layouts nn nt tn tt). TYPES="f16_f32 s8_s32" picks types; ARCH=80 or 75 runs the code of an older
# architecture on this GPU (75: its own kernels); WHAT=check or time does half. Logs also go to $OUT.
cd "$(dirname "$0")/../.." || exit 1
types=${TYPES:-f16_f32 f16_f16 bf16_f32 bf16_bf16 tf32_f32 s8_s32 u8_s32 u8s8_s32 s8u8_s32 f64_f64 f32_f32}
arch=${ARCH:-90a}
code=sm_90a
[ "$arch" = 90a ] || code=sm_90
[ "$arch" = 75 ] && turing=-DLAB_TURING
out=${OUT:-build/lab-mma}
work=$(mktemp -d)
mkdir -p "$out"
export PATH=$PATH:/usr/local/cuda/bin
for t in $types; do
  source=$(cd src && ls gpu/families/*/*_${t}.cu 2>/dev/null | head -1)
  nvcc -O2 -std=c++17 -Isrc -DLAB_TYPE=$t $turing -DLAB_SOURCE="\"$source\"" \
    -gencode arch=compute_$arch,code=$code lab/mma/mma_lab.cu -o "$work/lab_$t" \
    >"$work/$t.log" 2>&1 || { echo "build of $t failed"; head -5 "$work/$t.log"; } &
done
wait
for t in $types; do
  [ -x "$work/lab_$t" ] && timeout 60 "$work/lab_$t" $WHAT
done 2>&1 | tee "$out/mma_lab_$arch.txt"
rm -rf "$work"
