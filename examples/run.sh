#!/bin/sh
# Multiplies the matrices of this folder and says what came out: run.sh TOOL [OUTPUT_FOLDER]
# README.md tells where the data come from.
set -eu

tool=${1:?usage: run.sh TOOL [OUTPUT_FOLDER]}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
if [ $# -ge 2 ]; then
    out=$2
    mkdir -p "$out"
else
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    trap 'exit 130' INT TERM
fi

echo "== Reading 1797 handwritten digits with a linear classifier: digits * weights^T"
"$tool" run "$here/digits.npy" "$here/weights.npy" --trans-b --type f32_f32 --verify full \
    -o "$out/scores.npy" --force --print table --quiet > "$out/scores.txt"
# The table holds A, B and D below titles of their own; the rows of D are the scores.
# In any locale the numbers of the table have points.
LC_ALL=C awk '
    FNR == NR { label[FNR] = $1; next }
    /^[A-D] / { name = $1; row = 0; next }
    name == "D" && NF == 10 {
        best = 1
        for (i = 2; i <= 10; i++) if ($i + 0 > $best + 0) best = i
        if (++row > 1000) { unseen++; right += (best - 1 == label[row]) }
    }
    END {
        if (unseen != 797) { print "expected 797 unseen digits, saw " unseen + 0; exit 1 }
        printf "   %d of %d digits that it had never seen are read right (%.1f %%).\n",
               right, unseen, 100 * right / unseen
    }' "$here/labels.txt" "$out/scores.txt"

echo
echo "== How alike are any two of the digits: digits * digits^T"
"$tool" run "$here/digits.npy" "$here/digits.npy" --trans-b --verify full \
    -o "$out/similarity.npy" --force
