#!/bin/sh
# Builds the seed kernels for the GPU at hand (sm_90a unless ARCH says otherwise), checks and times them.
#     bash lab/seed/run.sh [check | time | all] [substring of kernel names]
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
arch=${ARCH:-90a}
out=${BUILD:-/tmp/tcgemm-seed-lab}
mkdir -p "$out"
lib=${LIB:-$root/build/src/libtcgemm.a} # of any build of the library: it knows the rows
cc -std=gnu17 -I"$root/src" -I"$root/include" "$root/lab/rows.c" "$lib" -lpthread -ldl -lm -o "$out/rows"
{ "$out/rows" wmma_direct wmma_shared simt_outer
  echo '#undef TCGEMM_GPU'; } >"$out/rows.h"
flags="-std=c++17 -O3 -I$root/src -I$root/include -I$out -gencode arch=compute_$arch,code=sm_$arch"
ls "$root"/src/gpu/families/wmma_*/*.cu "$root"/src/gpu/families/simt_outer/*.cu "$root"/lab/seed/seed_lab.cu |
    xargs -P "${JOBS:-$(nproc)}" -I{} sh -c "nvcc $flags -c {} -o $out/\$(basename {} .cu).o"
nvcc -gencode "arch=compute_$arch,code=sm_$arch" "$out"/*.o -o "$out/seed_lab"
nvcc -O3 -gencode "arch=compute_$arch,code=sm_$arch" "$root/lab/seed/peak_f64.cu" -o "$out/peak_f64"
"$out/peak_f64"
exec "$out/seed_lab" "$@"
