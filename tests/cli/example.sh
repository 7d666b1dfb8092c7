#!/bin/sh
# The main job on the data of examples/ ends with CORRECT and a conclusion that was seen before.
set -eu
out=$(sh "${TCGEMM_SOURCE_DIR:?}/examples/run.sh" "${TCGEMM:?}")
printf '%s\n' "$out" | grep -q '^CORRECT$'
printf '%s\n' "$out" | grep -q '711 of 797 digits'
echo 'the examples are right'
