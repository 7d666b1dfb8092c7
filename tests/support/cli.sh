# tests/support/cli.sh - how the shell tests of the tool begin: . "${TCGEMM_SOURCE_DIR:?}/tests/support/cli.sh"
#
#     $tool       the tool          $dir        a scratch folder, current, gone at the end
#     $failures   how many there were; fail WORDS... tells one more
# shellcheck shell=sh disable=SC2034
set -u
tool=${TCGEMM:?}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}
