#!/bin/sh
# TDPFP16PS is written by its bytes (amx_tiles.h), for compilers that do not know it: a disassembler
# that does must find the four products of a step, and no other, in the tile and among lines.
set -eu
export LC_ALL=C
library=${TCGEMM_BUILD_DIR:-build}/src/libtcgemm.a
expected="tmm6,tmm4,tmm0 tmm6,tmm5,tmm2 tmm7,tmm4,tmm1 tmm7,tmm5,tmm3"
code=$(mktemp)
trap 'rm -f "$code"' EXIT

if ! command -v objdump >/dev/null || ! printf '\304\342\143\134\312' >"$code" ||
    ! objdump -D -b binary -m i386:x86-64 "$code" | grep -q tdpfp16ps; then
    echo "skipped: no objdump that knows TDPFP16PS (binutils 2.40)"
    exit 77
fi
for function in tcgemm_tile_amx_f16x32 tcgemm_dots_amx_f16x32; do
    objdump -d --disassemble=$function "$library" >"$code"
    found=$(grep -o 'tdpfp16ps.*' "$code" | grep -o 'tmm.*' | tr -d '% ' | sort -u | tr '\n' ' ')
    if [ "$found" != "$expected " ]; then
        echo "FAILED: $function multiplies $found, not $expected"
        exit 1
    fi
done
