#!/bin/sh
# kernel_mutation.sh - plants defects in the sources of GPU kernels, one at a time, and says how the
# emulator sees them.
#
#     tests/kernel_mutation.sh [-b BUILD] [pattern]    all defects, or those whose name matches
#     tests/kernel_mutation.sh -n                      only whether each edit still matches its source
#
# Needs a build with tests (default: build). Each defect is one sed edit of one file of src/gpu or
# src/tile (an edit that changes nothing is an error); one kernel file is compiled with it, for one
# architecture, with the very command of the build, and emulate/rows runs the rows that it holds (of
# steps, emulate/pack or plans with all kernels).
# What a sample of shapes does not notice is tried on all of them (level full). Exit status 1 if a
# defect is not noticed then. Takes several minutes; not part of CTest. Results:
# docs/testing.md.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build
only_edits=
if [ "${1:-}" = -n ]; then
    only_edits=yes
    shift
fi
if [ "${1:-}" = -b ]; then
    build=$(cd "$2" && pwd)
    shift 2
fi
pattern=${1:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/src" "$work/src"
mkdir "$work/modules"
: >"$work/sound"

fail() {
    echo "kernel_mutation.sh: $*" >&2
    exit 2
}

program=$build/tests/test_emulate_rows
packs=$build/tests/test_emulate_pack
hopper=$build/tests/test_emulate_hopper
machine=
if [ -z "$only_edits" ]; then
    for test in "$program" "$packs" "$hopper"; do
        [ -x "$test" ] || fail "$test is not built"
    done
    machine=$(find "$build" -path '*tcgemm_emulate_machine.dir*' -name '*.o')
    [ -n "$machine" ] || fail "no emulator in $build"
fi

# object FILE ARCH: a file in $work, as the build compiles it, to an object of the same name.
object() {
    python3 - "$build/compile_commands.json" "$1" "$2" "$root" "$work" >"$work/command" <<'PYTHON'
import json, re, shlex, sys
commands, name, arch, root, work = sys.argv[1:]
for c in json.load(open(commands)):
    words = c.get("arguments") or shlex.split(c["command"])
    if c["file"].endswith("/" + name) and "-D__CUDA_ARCH__=%s0" % arch in words:
        words[words.index("-o") + 1] = "%s/%s.o" % (work, name)
        print(shlex.join(w.replace(root + "/src", work + "/src") for w in words))
        break
PYTHON
    [ -s "$work/command" ] || fail "no command compiles $1 for sm_$2"
    sh "$work/command" >"$work/log" 2>&1
}

# compile FILE ARCH: the kernel file in $work to a module of its own, with the steps before and after it;
# the steps themselves with all kernels of the build.
compile() {
    object "$1" "$2" || return 1
    objects=$(find "$build" -path "*tcgemm_emulate_sm$2.dir*" -name '*.o')
    case $1 in
    reduce.cu) objects="$work/$1.o $(echo "$objects" | grep -v '/reduce[^/]*$')" ;;
    *)
        objects="$work/$1.o $(echo "$objects" | grep '/\(pack\|reduce\)[^/]*$')"
        if ! cmp -s "$root/src/$pack" "$work/src/$pack"; then
            object pack.cu "$2" || return 1
            objects="$work/pack.cu.o $(echo "$objects" | grep -v '/pack[^/]*$')"
        fi
        ;;
    esac
    names=$(grep -rhoE 'extern __shared__ .*\[\]' "$work/src/gpu" | sed 's/.*[ *]\([A-Za-z_0-9]*\)\[\]/\1/' | sort -u)
    symbols=
    for name in $names; do symbols="$symbols -Wl,--defsym=$name=tcgemm_emulate_shared"; done
    rm -f "$work"/modules/*
    # shellcheck disable=SC2086
    ${CC:-cc} -shared -o "$work/modules/emulate-sm$2.so" $objects $machine $symbols -lm -lpthread \
        >"$work/log" 2>&1
}

# run NAME ARCH: the tests of the rows named so, on that architecture; of boxes:NAME those of C by boxes; those of
# packing, or of the steps of plans, if these are named.
run() (
    export TCGEMM_EMULATOR="$work/modules"
    case $1 in
    packing) timeout 300 "$packs" >"$work/out" 2>&1 ;;
    boxes:*) TCGEMM_TEST_KERNEL=${1#boxes:} timeout 300 "$hopper" >"$work/out" 2>&1 ;;
    steps) timeout 300 "$program" steps_of_a_plan >"$work/out" 2>&1 ;;
    *) TCGEMM_TEST_KERNEL=$1 timeout 300 "$program" "rows_of_sm$2" >"$work/out" 2>&1 ;;
    esac
)

# How it was seen, in the words of the first failure that tells of a fault, else of any.
how() {
    fault=$(grep '^FAILED' "$work/out" | grep -v ' 0 faults' | grep -m 1 ' faults (' |
        sed 's/.* faults (//; s/^block [0-9]*\(, warp [0-9]*, lane [0-9]*, after .*:[0-9]*\)\{0,1\}: //; s/), [0-9]* wrong.*//; s/|/,/g')
    if [ -n "$fault" ]; then
        echo "$fault"
    elif grep -q '^FAILED tcgemm_.*, seed [0-9]*: ' "$work/out"; then # emulate/hopper
        grep -m 1 '^FAILED tcgemm_' "$work/out" |
            sed 's/.*, seed [0-9]*: //; s/^block [0-9]*, warp [0-9]*, lane [0-9]*, after [^ ]*: //; s/^D(.* is .*, not .*/wrong elements/'
    elif grep -q '^FAILED.* 0 faults' "$work/out"; then
        echo "wrong elements"
    else
        grep -q '^FAILED' "$work/out" && echo "damage" || echo "a crash"
    fi
}

if [ -z "$only_edits" ]; then
    echo "| defect | kernel | how it is seen |"
    echo "| --- | --- | --- |"
fi
status=0
count=0

# defect NAME FILE SED KERNEL_FILE ARCH ROWS; the kernel file may be a pattern.
defect() {
    echo "$1" | grep -q "$pattern" || return 0
    cp "$root/src/$2" "$work/src/$2"
    kernel=$(cd "$root/src" && find gpu -name "$4" | head -n 1)
    [ -n "$kernel" ] || fail "no kernel file $4"
    if [ -n "$only_edits" ]; then
        count=$((count + 1))
        sed -i "$3" "$work/src/$2" || fail "sed failed for '$1'"
        if cmp -s "$root/src/$2" "$work/src/$2"; then
            echo "the edit for '$1' matches nothing in $2"
            status=1
        fi
        cp "$root/src/$2" "$work/src/$2"
        return 0
    fi
    if ! grep -qxF "$kernel $5" "$work/sound"; then # without the defect all must be well
        compile "$(basename "$kernel")" "$5" && run "$6" "$5" && grep -qE '[1-9][0-9]* rows|PASSED' "$work/out" ||
            { tail -n 20 "$work/log" "$work/out" 2>/dev/null | cut -c1-300 >&2; fail "$kernel fails on sm_$5 as it is, or no row is named $6"; }
        echo "$kernel $5" >>"$work/sound"
    fi
    sed -i "$3" "$work/src/$2" || fail "sed failed for '$1'"
    cmp -s "$root/src/$2" "$work/src/$2" && fail "the edit for '$1' matches nothing in $2"
    if ! compile "$(basename "$kernel")" "$5"; then
        cat "$work/log"
        fail "'$1' does not build"
    fi
    if ! run "$6" "$5"; then
        seen=$(how)
    elif ! (export TCGEMM_TEST_LEVEL=full && run "$6" "$5"); then
        seen="$(how) (level full)"
    else
        seen="NOTHING"
        status=1
    fi
    count=$((count + 1))
    echo "| $1 | $(basename "$kernel" .cu), sm_$5 | $seen |"
    cp "$root/src/$2" "$work/src/$2"
}

pack=gpu/steps/pack.cu
reduce=gpu/steps/reduce.cu
mma=gpu/families/mma_pipelined/mma_pipelined.cuh
copy=gpu/families/mma_pipelined/operand_copy.cuh
reader=gpu/families/mma_pipelined/operand_reader.cuh
shared=gpu/families/wmma_shared/wmma_shared.cuh
direct=gpu/families/wmma_direct/wmma_direct.cuh
stream=gpu/families/stream/stream.cuh
streams=gpu/families/stream/stream_types.cuh
wgmma=gpu/families/wgmma/wgmma.cuh
lines=gpu/families/wgmma/lines.cuh
batched=gpu/families/batched/batched.cuh
ffma=$(cd "$root/src" && ls gpu/families/simt_ffma/*f32_f32.cu)
boxes=$(cd "$root/src" && ls gpu/families/simt_tma/*.cu)
ring=$(cd "$root/src" && ls gpu/families/stream_tma/*.cu)
outer=$(cd "$root/src" && ls gpu/families/simt_outer/*.cu)

# Of packing; any kernel will do beside it.
packed() {
    defect "$1" $pack "$2" 'wgmma_tf32_f32.cu' 90 packing
}
packed "what lies behind a packed row is not cleared" 's/p + 1 < pieces ? PIECE : in_last/PIECE/'
packed "a packed row is taken for one that touches its neighbours" \
    's/rows_touch = args.lda == args.k || args.m == 1/rows_touch = true/'
packed "packed items are taken for those that touch" 's/items_touch = rows_touch && .*;/items_touch = rows_touch;/'
packed "pieces of a packed row are shifted by words too few" 's/by_one = off & 4/by_one = off \& 2/'
packed "of a long packed row pieces between two stretches are left out" \
    's/(unit - group \* cut.stretches) \* cut.across/(unit - group * cut.stretches) * (cut.across + 1)/'
packed "the last piece of a widened row is left out" 's/left |= (uint32_t)(p < pieces) << i/left |= (uint32_t)(p + 1 < pieces) << i/'
packed "groups of a turned tile are moved by another piece" \
    's|Turn::place(copied \* WORDS, c / COUNT)|Turn::place(copied * WORDS, c % COUNT)|'
packed "a turned tile is overwritten before all have read it" '/the tile before has been written out/d'
packed "all blocks take the first operand" 's/args(all.operand\[blockIdx.x >= all.first_blocks\])/args(all.operand[0])/'
packed "the blocks of the second operand are counted from the first's" \
    's/? blockIdx.x - all.first_blocks : blockIdx.x/? blockIdx.x : blockIdx.x/'
packed "rows that do not exist are turned" 's/i < rows ? length : 0)/length)/'

packed "two columns of halves are turned twice" 's/tcgemm_turn_halves(to + 2, row\[0\].y/tcgemm_turn_halves(to + 2, row[0].x/'

# Of sums of parts, behind the products of some plans.
added() {
    defect "$1" $reduce "$2" 'reduce.cu' 90 steps
}
added "a part too many is added up" 's/part < parts ? place/part <= parts ? place/'
added "a lane's parts are left out" 's/other = 1; other < lanes/other = 2; other < lanes/'
added "lanes' sums are added before they lie there" '/shared\[threadIdx.x\] = total;/{n;s/__syncthreads();//}'
added "sums are stored beyond the edge of D" 's/if (col + i < args.n)/if (true)/'
added "pieces are stored whole whatever the alignment of D" 's/ \&\& args.vector_d >= sizeof result//'
added "items of sums lie a part too near" 's/item \* args.splits.by \* in_part/item * (args.splits.by - 1) * in_part/'
added "C is read of another item" 's/(const out \*)args.c + item \* args.stride_c/(const out *)args.c/'

defect "halves of the epilogue are swapped" $mma \
    's/staged\[c_row \* pitch + col_of_unit(j, half, c_col)\]/staged[c_row * pitch + col_of_unit(j, 1 - half, c_col)]/' \
    'mma*_f16_f32*.cu' 80 mma_pipelined_f16_f32
defect "one row too many is copied" $copy \
    's/pass \* ROWS_A_PASS < whole_rows ? 16 : 0/pass * ROWS_A_PASS <= whole_rows ? 16 : 0/' \
    'mma*_f16_f32*.cu' 80 mma_pipelined_f16_f32
defect "one row too many is copied where rows are not aligned" $copy \
    's/return pass \* ROWS_A_PASS < rows_left ? bytes_left : 0;/return pass * ROWS_A_PASS <= rows_left ? bytes_left : 0;/' \
    'mma*_bf16_f32*.cu' 80 mma_pipelined_bf16_f32
defect "a chunk is swizzled to its neighbour's place" $copy \
    's/to = tcgemm_swizzle(FORM, ELEMENT_BYTES, PITCH, row, at \/ 16)/to = tcgemm_swizzle(FORM, ELEMENT_BYTES, PITCH, row, at \/ 16 ^ 1)/' \
    'mma*_tf32_f32*.cu' 80 mma_pipelined_tf32_f32
defect "the other piece of doubles goes where the first one is" $copy \
    's/tcgemm_cp_async_8(piece_to + FAR, from/tcgemm_cp_async_8(piece_to, from/' \
    'mma*_f64_f64*.cu' 80 mma_pipelined_f64_f64
defect "the other piece of doubles is copied where one alone is inside" $copy \
    's/bytes >= FAR + PIECE ? PIECE : 0/bytes >= PIECE ? PIECE : 0/' \
    'mma*_f64_f64*.cu' 80 mma_pipelined_f64_f64
defect "the other row of doubles is read where the first one is inside" $copy \
    's/pass \* ROWS_A_PASS + ROWS_BETWEEN < whole_rows;/pass * ROWS_A_PASS < whole_rows;/' \
    'mma*_f64_f64*.cu' 80 mma_pipelined_f64_f64
defect "the tail of k loses an element" $mma \
    's/block + 1 == blocks ? tail : 0;/block + 1 == blocks ? tail - 1 : 0;/' \
    'mma*_f16_f32*.cu' 80 mma_pipelined_f16_f32
defect "no __syncthreads when a block of k arrives" $mma \
    '/tcgemm_cp_async_wait<STAGES - 2>();/{n;n;s/__syncthreads();//}' \
    'mma*_f16_f32*.cu' 80 mma_pipelined_f16_f32
defect "no __syncthreads before the epilogue" $mma \
    '/tcgemm_cp_async_wait<0>();/{n;n;s/__syncthreads();//}' \
    'mma*_f16_f16*.cu' 80 mma_pipelined_f16_f16
defect "waits for one group too few" $mma \
    's/tcgemm_cp_async_wait<STAGES - 2>();/tcgemm_cp_async_wait<STAGES - 1>();/' \
    'mma*_s8_s32*.cu' 80 mma_pipelined_s8_s32
defect "no wait before the epilogue" $mma \
    's/tcgemm_cp_async_wait<0>();//' \
    'mma*_f16_f32*.cu' 80 mma_pipelined_f16_f32
defect "no __syncwarp before lines are staged" $mma \
    '/__syncwarp();/{N;s/__syncwarp();\n\( *\)stage(/\n\1stage(/}' \
    'mma*_f16_f32*.cu' 80 mma_pipelined_f16_f32
defect "no __syncwarp after lines are staged" $mma \
    '/stage(staged, PITCH, i, lane);/{n;s/__syncwarp();//}' \
    'mma*_f16_f32*.cu' 80 mma_pipelined_f16_f32
defect "the last group of the raster is taken for a whole one" tile/raster.h \
    's/first == r->last ? r->low : r->down;/r->down;/' \
    'wmma_direct_f16_f32.cu' 80 wmma_direct_f16_f32
defect "C is read though there is none" $mma \
    's/args.stride_c + col : NULL;/args.stride_c + col : d;/' \
    'mma*_f16_f32*.cu' 80 mma_pipelined_f16_f32
defect "what lies beyond k is NaN, not zero" $copy \
    's/uint32_t element = 0;/uint32_t element = 0x7FFF;/' \
    'mma*_f16_f32*.cu' 80 mma_pipelined_f16_f32
defect "words of a fragment in the order of the other side" $reader \
    's/return SIDE == TCGEMM_SIDE_A ? 2 \* k_half/return SIDE != TCGEMM_SIDE_A ? 2 * k_half/' \
    'mma*_s8_s32*.cu' 80 mma_pipelined_s8_s32
defect "one column too many is written" $mma \
    's/if (e < cols_left) {/if (e <= cols_left) {/' \
    'mma*_f16_f32*.cu' 80 mma_pipelined_f16_f32
defect "sm_90, f64: pairs of a line lie eight columns apart in the transposed product, too" $mma \
    's/NEXT = SWAP ? 16 : 8/NEXT = 8/' \
    'mma*_f64_f64*.cu' 90 mma_pipelined_f64_f64
defect "sm_90, f64: C of the next pairs comes into the place of these" $mma \
    's|old.first / AT_ONCE % 2..p - first. =$|old[0][p - first] =|' \
    'mma*_f64_f64*.cu' 90 mma_pipelined_f64_f64
defect "sm_90, f64: a warp at the edge writes pairs, too" $mma \
    's/first_col_of(warp) + (SWAP ? WM : WN) <= args.n/first_col_of(warp) <= args.n/' \
    'mma*_f64_f64*.cu' 90 mma_pipelined_f64_f64
defect "sm_90, f64: a piece of C is taken before it has come" $mma \
    's/tcgemm_cp_async_wait<AHEAD - 1>();/tcgemm_cp_async_wait<AHEAD>();/' \
    'mma*_f64_f64*.cu' 90 mma_pipelined_f64_f64
defect "C of one row is added to all that are loaded together" gpu/families/simt/finish.cuh \
    's/from + (first + i) \* args.ldc/from + first * args.ldc/' \
    'simt_ffma*.cu' 80 mma_pipelined_f32_f32
defect "pieces are stored whole whose last columns are beyond D" gpu/families/simt/finish.cuh \
    's/cols_left >= 16 \* PIECES - 12/cols_left >= 16 * PIECES - 14/' \
    'simt_ffma*.cu' 80 mma_pipelined_f32_f32
defect "D is stored wide whatever its alignment" $mma \
    's/args.vector_d >= sizeof(piece_t) &&/true \&\&/' \
    'mma*_f16_f32*.cu' 80 mma_pipelined_f16_f32
defect "a copy goes back one pass too few" $copy \
    's/rewind = SLICES \* BK \* ELEMENT_BYTES - PASSES \* pass_step;/rewind = SLICES * BK * ELEMENT_BYTES - (PASSES - 1) * pass_step;/' \
    'mma*_f16_f32*.cu' 80 mma_pipelined_f16_f32
defect "items of B lie as far apart as those of A" $mma \
    's/\* args.stride_b/* args.stride_a/' \
    'mma*_f16_f32*.cu' 80 mma_pipelined_f16_f32
defect "sm_75: stored into the slot that is being read" $mma \
    's/load_a.store(into, kept_a, step, PARTS);/load_a.store(slot, kept_a, step, PARTS);/' \
    'mma*_f16_f32*.cu' 75 mma_pipelined_f16_f32
defect "sm_90, f64: the two steps of B are mixed up" $mma \
    's/b\[w \/ 2 \* 4 + 2 \* half + w % 2\]/b[w \/ 2 * 4 + half + 2 * (w % 2)]/' \
    'mma*_f64_f64*.cu' 90 mma_pipelined_f64_f64
defect "sm_90, f64: a single word comes from the same half as the one before" $reader \
    's/FORM == TCGEMM_FORM_K ? 4 \* ELEMENT_BYTES : 8 \* ELEMENT_BYTES/0/' \
    'mma*_f64_f64*.cu' 90 mma_pipelined_f64_f64
defect "sm_90, f64: the next B comes before the products are done with this one" $mma \
    's/UNITS_M - 1 \&\& there % 2)/UNITS_M - 1 \&\& there % 2 == 0)/' \
    'mma*_f64_f64*.cu' 90 mma_pipelined_f64_f64
defect "a persistent block copies the wrong next tile" $shared \
    's/copy_tile += gridDim.x;/copy_tile += gridDim.x + 1;/' \
    'wmma_shared_f16_f32.cu' 80 wmma_shared_f16_f32
defect "a persistent block multiplies for the wrong next tile" $shared \
    's/tile < tiles; tile += gridDim.x)/tile < tiles; tile += gridDim.x + 1)/' \
    'wmma_shared_f16_f32.cu' 80 wmma_shared_f16_f32
defect "no __syncthreads between the stages of wmma-shared" $shared \
    's/__syncthreads(); \/\/ the stage is here/\/\/ the stage is here/' \
    'wmma_shared_bf16_f32.cu' 80 wmma_shared_bf16_f32
defect "columns of a lane are off by a block" $shared \
    's/const int place = (within + i) \/ b_t::GROUP;/const int place = 1 - (within + i) \/ b_t::GROUP;/' \
    'wmma_shared_f16_f16.cu' 80 wmma_shared_f16_f16
defect "the second exchange of f64 asks the wrong lane" $direct \
    's/second = first ^ 4;/second = first ^ 8;/' \
    'wmma_direct_f64_f64.cu' 80 wmma_direct_f64_f64
defect "turned rows are stored where they would lie unshifted" "$ffma" \
    's/(DOWN == 8 ? row : place(row, k0));/(DOWN == 8 ? row : place(row, 0));/' \
    "$(basename "$ffma")" 80 128x128x16_ffma
defect "the next block of k is read before it has arrived" "$ffma" \
    '/^                arrive();$/{N;s/\( *\)arrive();\n *read(into, 0);/\1read(into, 0);\n\1arrive();/}' \
    "$(basename "$ffma")" 80 128x128x16_ffma
defect "boxes come into a slot that is still read" "$boxes" \
    's/__syncthreads(); \/\* all have read this slot \*\///' \
    "$(basename "$boxes")" 90 128x128x32_tma
defect "the next slot is read before its boxes have come" "$boxes" \
    's/tcgemm_mbarrier_wait(filled(slot), parity);/;/' \
    "$(basename "$boxes")" 90 128x128x32_tma
defect "the second round of a ring waits for the first" "$boxes" \
    's/parity ^= 1;/parity ^= 0;/' \
    "$(basename "$boxes")" 90 128x128x32_tma
defect "a lane looks for its piece of A in the swizzle of another k" "$boxes" \
    's/a_at\[k % 8\]/a_at[k % 4]/' \
    "$(basename "$boxes")" 90 128x128x32_tma
defect "boxes of the next round come while a slot is read" "$ring" \
    's/tcgemm_mbarrier_wait(emptied(at.slot), at.parity ^ 1);//' \
    "$(basename "$ring")" 90 ring
defect "a slot is said to be empty while lanes read it" "$ring" \
    '/multiply(lane, at.slot \* SLOT_BYTES, sums);/,/mbarrier_arrive/s/__syncwarp();//' \
    "$(basename "$ring")" 90 ring
defect "a slot is said to be empty while loads from it are under way" "$ring" \
    's/tcgemm_tma_fence();//' \
    "$(basename "$ring")" 90 ring
defect "a slot is said to be filled before what was gathered is there" "$ring" \
    's/tcgemm_cp_async_arrive(filled(at.slot));/tcgemm_mbarrier_arrive(filled(at.slot));/' \
    "$(basename "$ring")" 90 ring
defect "what is gathered is not zero beyond k" "$ring" \
    's/from, atom + k < left);/from, left > 0);/' \
    "$(basename "$ring")" 90 ring
defect "sums are added before all warps have laid theirs" "$ring" \
    's/tcgemm_mbarrier_wait(laid(), parity);//' \
    "$(basename "$ring")" 90 ring
defect "the next tile's sums come while others add up these" "$ring" \
    's/tcgemm_mbarrier_wait(taken(), parity ^ 1);//' \
    "$(basename "$ring")" 90 ring
defect "every second line of a lane is looked for in the swizzle of the first" "$ring" \
    's/((piece ^ row % 8) \* 16)/((piece ^ row % 8 \/ 2 * 2) * 16)/' \
    "$(basename "$ring")" 90 ring
defect "the row after the last is read ahead" "$outer" \
    's/c_even = c\[i + 2 < BM ? 2 \* ROW : 0\];/c_even = c[2 * ROW];/' \
    "$(basename "$outer")" 80 simt_outer
defect "no __syncthreads before what is held is replaced" $stream \
    's/__syncthreads(); \/\* nobody reads what was held \*\///' \
    'stream_s8_s32.cu' 90 stream_s8_s32
defect "no __syncthreads between the warps' sums and their sum" $stream \
    '/^        sums.clear();$/{N;s/\n *__syncthreads();//}' \
    'stream_bf16_f32.cu' 90 stream_bf16_f32
defect "no __syncthreads before the next tile's sums" $stream \
    's/__syncthreads(); \/\* nobody reads the sums of the tile before \*\///' \
    'stream_bf16_f32.cu' 90 stream_bf16_f32
defect "halves of a step are not exchanged between odd and even g" $streams \
    's/threadIdx.x % 32 ^ 4)/threadIdx.x % 32 ^ 8)/' \
    'stream_bf16_f32.cu' 90 stream_bf16_f32
defect "lanes of odd g multiply the other half" $stream \
    's/((threadIdx.x \/ 4 + half) & 1) != 0/(half \& 1) != 0/' \
    'stream_f64_f64.cu' 90 stream_f64_f64
defect "lines that two tiles share are written by both" $stream \
    's/line < begin || //' \
    'stream_f16_f32.cu' 90 stream_f16_f32
defect "what is held for one item serves the next" $stream \
    's/held_index != index || //' \
    'stream_tf32_f32.cu' 90 stream_tf32_f32
defect "k of what is held is not looked at going back" $stream \
    's/base < held_base || //' \
    'stream_f32_f32.cu' 90 stream_f32_f32
defect "the next tile's first step is fetched from behind this one's last" $stream \
    's/fetch(is_last ? step_at(0) : at + ROUND_K);/fetch(at + ROUND_K);/' \
    'stream_s8_s32.cu' 90 stream_s8_s32
defect "bytes of two k are taken for one" gpu/words.cuh \
    's/low01 = __byte_perm(r0, r1, 0x5140)/low01 = __byte_perm(r0, r1, 0x5410)/' \
    'stream_u8_s32.cu' 90 stream_u8_s32
defect "beyond k the small operand is read on" $stream \
    's/i < pieces ? 16 : 0);/16);/;s/(i < pieces ? 16 \* i : 0)/16 * i/' \
    'stream_e4m3_f32.cu' 90 stream_e4m3_f32
defect "mma.sync: short sums go on from those before" gpu/families/mma/products.cuh \
    's/tcgemm_mma_m16n8k32_f32_e4m3(part, a, b);/tcgemm_mma_m16n8k32_f32_e4m3(c, a, b);/' \
    'mma_pipelined_e4m3_f32.cu' 90 'mma_pipelined_e4m3_f32_128x128x64_s4'
defect "mma.sync: of four short sums of a lane one is not added" gpu/families/mma/products.cuh \
    '/void promote/,/}/s/i < 4/i < 3/' \
    'mma_pipelined_e4m3_bf16.cu' 90 'mma_pipelined_e4m3_bf16_64x64x128_s3'
defect "mma.sync: e5m2 is multiplied as e4m3" gpu/families/mma/products.cuh \
    's/tcgemm_mma_m16n8k32_f32_e5m2(part, a, b);/tcgemm_mma_m16n8k32_f32_e4m3(part, a, b);/' \
    'mma_pipelined_e5m2_f32.cu' 90 'mma_pipelined_e5m2_f32_64x64x128_s3'
defect "short sums of a block go on from those before" $wgmma \
    's/multiply(part, at.slot, consumer, 0);/multiply(part, at.slot, consumer, 1);/' \
    'wgmma_e4m3_f32.cu' 90 'wgmma_e4m3_f32_128x128x128'
defect "short sums are added before their products have ended" $wgmma \
    's/end<1>(c, part\[1\], at);/end<2>(c, part[1], at);/' \
    'wgmma_e4m3_f32.cu' 90 'wgmma_e4m3_f32_64x64x128'
defect "the last block of k is not added" $wgmma \
    's/end<0>(c, part\[1\], at);/tcgemm_wgmma_wait<0>(); release(at.slot); at.advance();/' \
    'wgmma_e5m2_bf16.cu' 90 'wgmma_e5m2_bf16_64x128x128'
defect "a slot is given back before its products have ended" $wgmma \
    '/tcgemm_wgmma_wait<PENDING>();/{h;N;s/\(.*\)\n\(.*\)/\2\n\1/}' \
    'wgmma_e4m3_bf16.cu' 90 'wgmma_e4m3_bf16_128x192x128'
defect "blocks of a tile begin in the slot of the tile before" $wgmma \
    's/        cursor next = at;/        cursor next = {0, 0};/' \
    'wgmma_e5m2_f32.cu' 90 'wgmma_e5m2_f32_32x128x128'
defect "registers of an operand are loaded anew while they are multiplied" $wgmma \
    '/first_step + step > 0 || block > 0/,/wgmma_wait<1>/s/wgmma_wait<1>/wgmma_wait<2>/' \
    'wgmma_tf32_f32.cu' 90 'wgmma_tf32_f32_128x256x32'
defect "a slot is given back before all lanes have read it" $wgmma \
    '/if (BY_REGISTERS)/,/__syncwarp/s/__syncwarp();/;/' \
    'wgmma_tf32_f32.cu' 90 'wgmma_tf32_f32_64x64x32'
defect "lanes of odd k keep what they read first" $wgmma \
    's/\[half\] = odd ? second : first;/[half] = first;/' \
    'wgmma_tf32_f32.cu' 90 'wgmma_tf32_f32_16x64x32'
defect "neighbours of a turned row go to the next unit" $wgmma \
    's/return TURNED ? 2 \* unit + half/return TURNED ? unit + 2 * half/;s|c\[i / 2\]\[4 \* j + 2 \* (i % 2) + x\]|c[i % UNITS][4 * j + 2 * (i / UNITS) + x]|' \
    'wgmma_tf32_f32.cu' 90 'wgmma_tf32_f32_128x128x32_turns_swap'
defect "registers are multiplied without a fence" $wgmma \
    '/void multiply_half/,/wgmma_commit/s/tcgemm_wgmma_fence();//' \
    'wgmma_tf32_f32.cu' 90 'wgmma_tf32_f32_32x128x32'
defect "a turned piece is written where its row has ended" $wgmma \
    's/args.n % PIECE == 0 \&\& args.vector_d/args.vector_d/' \
    'wgmma_tf32_f32.cu' 90 'wgmma_tf32_f32_256x128x32'
defect "ranks read sums that may not lie there yet" $wgmma \
    's/^        tcgemm_cluster_arrive();$//;s/tcgemm_cluster_wait(); \/\* all sums lie there \*\///' \
    'wgmma_bf16_f32.cu' 90 'wgmma_bf16_f32_64x64x64_cluster'
defect "ranks arrive without releasing their sums" $wgmma \
    's/tcgemm_cluster_arrive();/tcgemm_cluster_arrive_relaxed();/' \
    'wgmma_bf16_f32.cu' 90 'wgmma_bf16_f32_64x64x64_cluster'
defect "a rank leaves before the others have read its sums" $wgmma \
    's/tcgemm_cluster_wait(); \/\* all have read \*\///' \
    'wgmma_bf16_f32.cu' 90 'wgmma_bf16_f32_64x64x64_cluster'
defect "a rank says that it has read before it does" $wgmma \
    's/^        tcgemm_cluster_arrive_relaxed();$//;s/\(tcgemm_cluster_wait();\) \/\* all sums lie there \*\//\1 tcgemm_cluster_arrive_relaxed();/' \
    'wgmma_bf16_f32.cu' 90 'wgmma_bf16_f32_64x64x64_cluster'
defect "two ranks add the same pieces" $wgmma \
    's/first = tcgemm_cluster_rank() + ranks/first = tcgemm_cluster_rank() \/ 2 * 2 + ranks/' \
    'wgmma_bf16_f32.cu' 90 'wgmma_bf16_f32_64x64x64_cluster'
defect "the last rank is not added" $wgmma \
    's/if (rank < ranks) {/if (rank + 1 < ranks || rank == 0) {/;s/if (rank < ranks)$/if (rank + 1 < ranks)/' \
    'wgmma_f16_f32.cu' 90 'wgmma_f16_f32_64x64x64_cluster'
defect "what was added up replaces sums that others read" $wgmma \
    's/tcgemm_sts_128(piece_at(piece), bits);/tcgemm_sts_128(piece_at(piece ^ 1), bits);/;s/tcgemm_lds_128(total, piece_at(piece));/tcgemm_lds_128(total, piece_at(piece ^ 1));/' \
    'wgmma_f16_f16.cu' 90 'wgmma_f16_f16_64x64x64_cluster'
defect "the next sums are laid down while lanes still write rows" $wgmma \
    '/write_some<1, IN_SHADE>(args/,/__syncwarp/s/__syncwarp();//' \
    'wgmma_bf16_bf16.cu' 90 'wgmma_bf16_bf16_128x192x64_turns'
defect "rows are read as if they lay in order" $wgmma \
    's/(from ^ i \* 16)/from/' \
    'wgmma_f16_f16.cu' 90 'wgmma_f16_f16_128x128x64_turns'
defect "rows beyond the edge are written, too" $wgmma \
    '/scalar, WIDTH> v;/,/to += args.ldd/s/if (i < here)/if (true)/' \
    'wgmma_s8_s32.cu' 90 'wgmma_s8_s32_64x64x128_share'
defect "gathered chunks lie in order" $wgmma \
    's/in_box(lane \/ 8 + 4 \* i, lane % 8 \* 16)/(lane \/ 8 + 4 * i) * ROW + lane % 8 * 16/' \
    'wgmma_bf16_f32.cu' 90 'wgmma_bf16_f32_64x16x64_deep'
defect "what is gathered is not fenced" $wgmma \
    '/lay(v, slot.slot);/,/__syncwarp/s/tcgemm_tma_fence();//' \
    'wgmma_f16_f16.cu' 90 'wgmma_f16_f16_16x64x64_swap'
defect "a block is gathered by nobody" $wgmma \
    's/go(args, at, GATHERERS, tiles/go(args, at, GATHERERS + 1, tiles/' \
    'wgmma_bf16_f32.cu' 90 'wgmma_bf16_f32_64x16x64_deep'
defect "elements beyond k are gathered" $wgmma \
    's/v\[i\]\[j\] = j < here/v[i][j] = here > 0/' \
    'wgmma_f16_f16.cu' 90 'wgmma_f16_f16_16x64x64_deep'
defect "what warps bring is not fenced" $wgmma \
    '/side::settle/,/__syncwarp/s/tcgemm_tma_fence();//' \
    'wgmma_bf16_f32.cu' 90 'wgmma_bf16_f32_128x128x64_warps'
defect "a warp hands over a block that is under way" $wgmma \
    's/tcgemm_cp_async_wait<UNDER_WAY - 1>/tcgemm_cp_async_wait<UNDER_WAY>/' \
    'wgmma_f16_f32.cu' 90 'wgmma_f16_f32_128x128x64_warps'
defect "a lane reads what another one waits for" $wgmma \
    's/__syncwarp(); .. what other lanes have waited for, too ..//' \
    'wgmma_f16_f16.cu' 90 'wgmma_f16_f16_128x128x64_warps'
defect "lines are taken to lie as the other operand's do" $wgmma \
    's/(is_right ? RIGHT_FORM : LEFT_FORM) == TCGEMM_FORM_K/(is_right ? LEFT_FORM : RIGHT_FORM) == TCGEMM_FORM_K/' \
    'wgmma_f16_f16.cu' 90 'wgmma_f16_f16_64x64x64_warps'
defect "rows are written as if there were no C" $wgmma \
    's/BY_WARPS \&\& !args.c/BY_WARPS/' \
    'wgmma_bf16_f32.cu' 90 'wgmma_bf16_f32_64x64x64_warps'
defect "lines stay where they have come to" $lines \
    's/__funnelshift_r(mine\[i\], next, 16)/mine[i]/' \
    'wgmma_bf16_bf16.cu' 90 'wgmma_bf16_bf16_128x128x64_warps'
defect "the word that a line ends in is read whole" $lines \
    's/lane() < count ? in_word(end) : 0/lane() < count ? 4 : 0/' \
    'wgmma_f16_f32.cu' 90 'wgmma_f16_f32_128x128x64_warps'
defect "lines that are not there are brought" $lines \
    's/lane() < (begin\[0\] + size) \/ 4 ? count : 0/lane() < (begin[0] + size) \/ 4 ? COUNT : 0/' \
    'wgmma_bf16_bf16.cu' 90 'wgmma_bf16_bf16_128x128x64_warps'
defect "elements that warps bring are not rounded" $lines \
    's/x\[i\] = tcgemm_cvt_rna_tf32(x\[i\]);//' \
    'wgmma_tf32_f32.cu' 90 'wgmma_tf32_f32_128x128x32_warps'
defect "lines that are turned round are laid down in order" $lines \
    's/(piece ^ lane() % 8) \* 16/piece * 16/' \
    'wgmma_tf32_f32.cu' 90 'wgmma_tf32_f32_128x128x32_warps'
defect "a block of a pair does not wait for the other to have read a slot" $wgmma \
    's/SHARERS \* 4 \* of_pair()/SHARERS * 4/;s/PAIRED \&\& threadIdx.x % 32 < of_pair())/PAIRED \&\& threadIdx.x % 32 == (of_pair() > 1 ? tcgemm_cluster_rank() : 0))/' \
    'wgmma_bf16_f32.cu' 90 'wgmma_bf16_f32_128x128x64_turns'
defect "a block of a pair expects its own half alone" $wgmma \
    's/LEFT_ARRIVE + RIGHT_ARRIVE);/LEFT_ARRIVE + RIGHT_ARRIVE \/ of_pair());/' \
    'wgmma_f16_f16.cu' 90 'wgmma_f16_f16_128x256x64_share'
defect "both blocks of a pair fetch the same half" $wgmma \
    's/const uint32_t rank = tcgemm_cluster_rank();/const uint32_t rank = 0;/' \
    'wgmma_tf32_f32.cu' 90 'wgmma_tf32_f32_128x192x32_turns'
defect "a block of a pair fetches for itself" $wgmma \
    's/tcgemm_tma_load_both(/tcgemm_tma_load(/' \
    'wgmma_s8_s32.cu' 90 'wgmma_s8_s32_128x256x128_share'
defect "boxes come before the other block's barriers are made" $wgmma \
    's/meet(); \/\* nothing may come.*//' \
    'wgmma_bf16_bf16.cu' 90 'wgmma_bf16_bf16_128x192x64_turns'
defect "a block of a pair ends before the other has arrived there" $wgmma \
    's/meet(); \/\* nor may anybody.*//' \
    'wgmma_bf16_bf16.cu' 90 'wgmma_bf16_bf16_128x192x64_turns'
defect "both blocks of a pair take the same row of tiles" $wgmma \
    's/of_pair() + tcgemm_cluster_rank() : at.at.m/of_pair() : at.at.m/' \
    'wgmma_e4m3_f32.cu' 90 'wgmma_e4m3_f32_128x192x128_share'
defect "a quotient lacks its first shift" tile/divide.h \
    's/((number - part) >> shift)/(number - part)/' \
    'wgmma_tf32_f32.cu' 90 'wgmma_tf32_f32_64x64x32_warps'
defect "C is read before its box has come" $wgmma \
    's/^ *wait_c(box);$//' \
    'wgmma_bf16_f32.cu' 90 'boxes:wgmma_bf16_f32_128x128x64_turns'
defect "the next box of C comes while D still leaves from there" $wgmma \
    '/ADDS && box + 2 < b::COUNT/{n;s/tcgemm_tma_wait_read<0>();//}' \
    'wgmma_f16_f32.cu' 90 'boxes:wgmma_f16_f32_128x256x64_share'
defect "the first box of C comes while the last of D still leaves" $wgmma \
    '/if (x.has_c && threadIdx.x % 32 == 0)/{n;s/tcgemm_tma_wait_read<0>();//}' \
    'wgmma_bf16_bf16.cu' 90 'boxes:wgmma_bf16_bf16_128x128x64_turns'
defect "an odd number of boxes of C leaves its barrier in the other phase" $wgmma \
    's/^ *end_c(box);$/(void)0;/' \
    'wgmma_s8_s32.cu' 90 'boxes:wgmma_s8_s32_64x64x128_share'
defect "C is added twice to columns in two boxes" $wgmma \
    's/|| col_in_box >= b::AGAIN/|| true/' \
    'wgmma_f16_f32.cu' 90 'boxes:wgmma_f16_f32_128x176x64_turns'
defect "both halves of a row in pairs come from one place" $wgmma \
    's/whole ? (int)lane \/ 16 :/whole ? 0 :/' \
    'wgmma_bf16_bf16.cu' 90 'wgmma_bf16_bf16_128x128x64_turns'
defect "shares of k overlap" tile/split.h \
    's/(rank + 1) \/ ranks)/(rank + 1) \/ ranks) + (rank + 1 < ranks)/' \
    'wgmma_bf16_bf16.cu' 90 'wgmma_bf16_bf16_64x64x64_cluster'
defect "slices' sums are added before they lie there" $mma \
    '/c\[i \/ SUMS \/ (2 \* UNITS_N)\]\[i \/ SUMS % (2 \* UNITS_N)\]\[i % SUMS\];/{n;s/__syncthreads();//}' \
    'mma_pipelined_f64_f64.cu' 90 mma_pipelined_f64_f64_32x32x64_k4
defect "the last block of k is a slice's alone" $mma \
    's/tail -= (int32_t)slice \* BK;//' \
    'mma_pipelined_f64_f64.cu' 90 mma_pipelined_f64_f64_32x32x64_k4
defect "slices' sums overwrite operands that are still read" "$ffma" \
    '/float4 \*const sums = (float4 \*)whole_memory/{n;s/__syncthreads();//}' \
    "$(basename "$ffma")" 90 32x32x128_k8
defect "no __syncwarp before the sums take the operands' place" $batched \
    's/__syncwarp(); \/\* nobody reads the operands any more \*\///' \
    'batched_f32_f32.cu' 80 batched_f32_f32
defect "a warp fetches into the stage that lanes still read" $batched \
    's/__syncwarp(); \/\* the stage may be filled again \*\///' \
    'batched_f64_f64.cu' 80 batched_f64_f64
defect "a warp waits for one group too few" $batched \
    's/tcgemm_cp_async_wait<1>();/tcgemm_cp_async_wait<2>();/' \
    'batched_f32_f32.cu' 80 batched_f32_f32
defect "what lies before the first item is read" $batched \
    's/if (at == 0 \&\& from < base) {/if (false) {/' \
    'batched_bf16_f32.cu' 80 batched_bf16_f32
defect "the last group of items is taken for a whole one" $batched \
    's/return left < group_items ? left : group_items;/return group_items;/' \
    'batched_s8_s32.cu' 80 batched_s8_s32
defect "the last part of k is as long as the others" $batched \
    's/return which + 1 < parts ? part : k - which \* part;/return part;/' \
    'batched_f16_f32.cu' 80 batched_f16_f32
defect "the last piece of a row that ends in zeros is not copied" $batched \
    's/(length(left) \* BYTES + unit - 1) \/ unit/length(left) * BYTES \/ unit/' \
    'batched_f32_f32.cu' 80 batched_f32_f32

echo "$count defects" >&2
exit $status
