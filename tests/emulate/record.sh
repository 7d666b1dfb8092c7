#!/bin/sh
# record.sh - records on the GPU here what the emulator's models are held to (golden.h):
#
#     sh tests/emulate/record.sh      writes tests/emulate/golden/sm<cc>.bin, on an sm_90
#                                     also sm90.hopper; then: ctest -R emulate/golden
#
# Needs nvcc and a GPU of sm_80 or newer.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '. ')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code=$arch
[ "$arch" = 90 ] && code=90a

# compile NAME: tests/emulate/NAME.cu for the GPU here.
compile() {
    nvcc -std=c++17 -gencode "arch=compute_$code,code=sm_$code" -I"$root/src" -I"$root/tests" \
        -I"$root/tests/emulate" -o "$work/$1" "$root/tests/emulate/$1.cu"
}

compile record
mkdir -p "$root/tests/emulate/golden"
"$work/record" "$root/tests/emulate/golden/sm$arch.bin"
if [ "$arch" = 90 ]; then # golden_hopper.h
    compile record_hopper
    "$work/record_hopper" "$root/tests/emulate/golden/sm$arch.hopper"
fi
ls -l "$root/tests/emulate/golden"
