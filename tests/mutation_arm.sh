#!/bin/sh
# mutation_arm.sh - plants defects in the kernels for Arm, one at a time, and asks the tests of step
# `arm` of .ci/run which notice.
#
#     tests/mutation_arm.sh [pattern]    all defects, or those whose name matches
#
# Needs what `.ci/run arm` has built. Each defect is one sed edit of one file of a copy of src (an edit
# that changes nothing is an error). Exit status 1 if a defect is not noticed. Takes some minutes; not
# part of CTest. Results: docs/testing.md.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
pattern=${1:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/src" "$work/src"
library=$root/build-arm/src/libtcgemm.a
[ -e "$library" ] || { echo "mutation_arm.sh: run .ci/run arm first" >&2; exit 2; }

# build TARGET: the program, of the objects of the build with the one of the defect before the library.
build() {
    aarch64-linux-gnu-gcc -o "$work/$1" "$(find "$root/build-arm/tests/CMakeFiles/$1.dir" -name 'test_*.o')" \
        "$work/defect.o" \
        "$root/build-arm/tests/libtcgemm_test_support.a" "$work/library.a" \
        -L"$root/build-arm-sysroot/usr/lib/aarch64-linux-gnu" -lcmocka -lm -lpthread -ldl \
        -Wl,-rpath,"$root/build-arm-sysroot/usr/lib/aarch64-linux-gnu"
}

seen_by() { # seen_by LEVEL: the first program that fails there
    arch=$1 vectors=4
    case $1 in sve*) arch=sve ;; esac
    [ "$1" = sve256 ] && vectors=2
    for program in test_unit_cpu_tile test_unit_cpu_pack test_check_levels; do
        TCGEMM_TEST_LEVEL=sanitize TCGEMM_ARCH=$arch QEMU_CPU=max,sve-max-vq=$vectors timeout 100 \
            qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/$program" >/dev/null 2>&1 || { echo "$program"; return; }
    done
}

status=0
defect() { # defect NAME LEVEL FILE SED [FILE TO COMPILE]
    echo "$1" | grep -qE "$pattern" || return 0
    file=${5:-$3}
    sed "$4" "$root/src/$3" >"$work/src/$3"
    cmp -s "$root/src/$3" "$work/src/$3" && { echo "mutation_arm.sh: '$1' changes nothing" >&2; exit 2; }
    object=$(basename "$file").o
    python3 - "$root/build-arm/compile_commands.json" "$root" "$work" "$file" >"$work/command" <<'PYTHON'
import json, shlex, sys
commands, root, work, name = sys.argv[1:]
for c in json.load(open(commands)):
    if c["file"] == root + "/src/" + name:
        words = shlex.split(c["command"])
        words[words.index("-o") + 1] = work + "/defect.o"
        print(shlex.join(w.replace(root + "/src", work + "/src") for w in words if w != "-Werror"))
        break
PYTHON
    (cd "$root/build-arm/src" && sh "$work/command" 2>"$work/log") || exit 2
    cp "$library" "$work/library.a"
    aarch64-linux-gnu-ar d "$work/library.a" "$object"
    for program in test_unit_cpu_tile test_unit_cpu_pack test_check_levels; do build $program || exit 2; done
    seen=$(seen_by "$2")
    [ -n "$seen" ] || status=1
    echo "| $1 | \`$2\` | ${seen:-**not noticed**} |"
    cp "$root/src/$3" "$work/src/$3"
}

echo "| defect | level | first noticed by |"
echo "| --- | --- | --- |"
k=cpu/kernels
defect 'f32: the element beside' neon $k/neon.c '/fmla %0.4s/s/2.s\[0\]/2.s[1]/'
defect 's16: the high half is forgotten' neon $k/neon.c 's/(half, high, a, 1)/(half, high, a, 0)/'
defect 'b1: bytes are counted, half of them not' neon $k/neon.c 's/vpaddlq_u8(vcntq_u8(\(.*\))))/vmovl_u8(vget_low_u8(vcntq_u8(\1))))/'
defect 'mask: three lanes are read as four' neon $k/neon_access.h '/get_f32/,/^}/s/lanes >= 4/lanes >= 3/' $k/neon.c
defect 'mask: three lanes are written as four' neon $k/neon_access.h '/put_f64/,/^}/s/lanes >= 2/lanes >= 1/' $k/neon.c
defect 'UDOT for signed bytes' dotprod $k/neon_dotprod.c 's/sdot/udot/'
defect 'i8x4: unsigned A is not shifted' dotprod cpu/packing.c 's/x.flip_a = (uint8_t)x.za;/x.flip_a = 0;/'
defect 'i8x4: the sum of A as of u8' dotprod cpu/packing.c 's/sum_is_signed = family == TCGEMM_FAMILY_I8X4/sum_is_signed = false/'
defect 'i8x8: s8 x u8 is not turned back' i8mm $k/neon_i8mm.c '/row_of_transposed(x, y, r)/s/row_of_transposed/row_of/'
defect 'i8x8: u8 x s8 as u8 x u8' i8mm $k/neon_i8mm.c 's/        multiply_us(t)/        multiply_uu(t)/'
defect 'mmla: the last row of an odd tile is written' i8mm $k/neon_mmla_tmpl.h 's/if (i >= t->m)/if (i > t->m)/' $k/neon_i8mm.c
defect 'mmla: beta C is added to the wrong column' bf16 $k/neon_mmla_tmpl.h 's/t->ldc + column/t->ldc/' $k/neon_bf16.c
defect 'bf16: exact forgets the fourth element' bf16 $k/neon_bf16.c 's/b.element\[3\]), row, 3/b.element[2]), row, 3/'
defect 'bf16: subnormals are not reported' bf16 $k/neon_pack.c 's/return subnormal;/return false;/'
defect 'packing: the end of k is not cleared' bf16 $k/neon_pack.c '/memset(row + count, 0, (size_t)(4/d'
defect 'packing: transposed pairs are exchanged' bf16 $k/pack_tmpl.h 's/vzip1q_f64(r0, r1)/vzip1q_f64(r1, r0)/' $k/neon_pack.c
defect 'f16: alpha counts twice' neon $k/finish_tmpl.h 's/vmulq_n_f32(vld1q_f32(sums + j), alpha)/vmulq_n_f32(vmulq_n_f32(vld1q_f32(sums + j), alpha), alpha)/' $k/neon_pack.c
defect 'sve: the tail is a lane long' sve256 $k/sve_tmpl.h 's/svwhilelt_b32_s32(0, n)/svwhilelt_b32_s32(0, n + 1)/' $k/sve256.c
defect 'sve: f64 subtracts' sve512 $k/sve_tmpl.h '/TILE_MAC.*svmla_f64_x/s/svmla/svmls/' $k/sve512.c
exit $status
