#!/bin/sh
# `tcgemm verify --quick`: every kernel row of this machine, and the closing line.
set -eu
tool=${TCGEMM:?}
out=$("$tool" verify --quick)
printf '%s\n' "$out" | tail -n 1 | grep -q '^[1-9][0-9]* passed, 0 failed$'
for type in f16_f32 f16_f16 bf16_f32 bf16_bf16 tf32_f32 f32_f32 f64_f64 s8_s32 u8_s32 u8s8_s32 \
    s8u8_s32 e4m3_f32 e5m2_f32 e4m3_bf16 e5m2_bf16 s4_s32 u4_s32 b1_s32; do
    printf '%s\n' "$out" | grep -q " $type " || {
        echo "FAIL: $type is not verified"
        exit 1
    }
done
"$tool" verify --quick --type f64_f64 --algo reference --format json | grep -q '"failures": 0'
printf '%s\n' "$out" | tail -n 1
