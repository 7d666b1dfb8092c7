#!/bin/sh
# One truth for index arithmetic: src/tile holds what kernels really use. Every header there is
# included by a file of src/gpu, and every function is called by a kernel, by the library, or by
# another function of src/tile.
set -eu
root=${TCGEMM_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$root/src"
failed=0
for header in tile/*.h; do
    [ "$header" = tile/hd.h ] && continue
    if ! grep -rqF "#include \"$header\"" gpu; then
        echo "FAILED: no file of src/gpu includes $header"
        failed=1
    fi
done
functions=$(sed -n 's/^TCGEMM_HD [a-z0-9_]* \(tcgemm_[a-z0-9_]*\)(.*/\1/p' tile/*.h)
for function in $functions; do
    uses=$(grep -rwF "$function" --include='*.[ch]' --include='*.cu' --include='*.cuh' . | wc -l)
    if [ "$uses" -lt 2 ]; then
        echo "FAILED: nobody but tests calls $function"
        failed=1
    fi
done
[ $failed -eq 0 ] && echo "$(echo "$functions" | wc -l) functions, each of them used"
exit $failed
