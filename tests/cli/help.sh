#!/bin/sh
# Help, version, man pages and completions: on stdout, complete, and loadable.
set -eu
tool=${TCGEMM:?}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
    echo "FAIL: $*"
    exit 1
}

"$tool" --help > out 2> err
grep -q '^Usage: tcgemm' out || fail 'tcgemm --help'
[ -s err ] && fail 'tcgemm --help writes to stderr'
"$tool" --version > out 2> err
grep -q 'licence *MIT' out || fail 'tcgemm --version names no licence'
grep -q 'commit' out || fail 'tcgemm --version names no commit'
[ -s err ] && fail 'tcgemm --version writes to stderr'

for command in run verify bench plot explain info list; do
    "$tool" $command --help > out 2> err
    grep -q "^Usage: tcgemm $command" out || fail "tcgemm $command --help"
    grep -q 'Exit status' out || fail "tcgemm $command --help names no exit status"
    [ -s err ] && fail "tcgemm $command --help writes to stderr"
    "$tool" --generate man-$command > page
    grep -q '^\.SH OPTIONS' page || fail "the man page of $command"
    # Every long option of the help is in the man page and in the completion.
    "$tool" --generate bash > completion
    for option in $(grep -o -- '^ .*  --[a-z0-9-]*\|, --[a-z0-9-]*' out | grep -o -- '--[a-z0-9-]*'); do
        grep -q -- "$(printf '%s' "$option" | sed 's/-/\\\\-/g')" page ||
            fail "$option is not in the man page of $command"
        grep -q -- "$option" completion || fail "$option is not in the completion"
    done
done
"$tool" --generate man > page
grep -q '^\.TH tcgemm 1' page || fail 'the man page of tcgemm'
if command -v man > /dev/null && man -l page > out 2> err; then
    [ -s out ] || fail 'man shows nothing'
fi

for shell in bash zsh fish; do
    "$tool" --generate $shell > $shell.txt
    grep -q bf16_f32 $shell.txt || fail "the completion for $shell knows no types"
    if command -v $shell > /dev/null; then
        $shell -n $shell.txt || fail "$shell cannot read its completion"
    fi
done
if command -v bash > /dev/null; then
    # Debian's bash-completion is not needed: the function is called as bash would.
    answer=$(bash -c '. ./bash.txt; COMP_WORDS=(tcgemm run --order c); COMP_CWORD=3; _tcgemm
                      echo "${COMPREPLY[*]}"')
    [ "$answer" = col ] || fail "bash completes --order c as '$answer'"
    answer=$(bash -c '. ./bash.txt; COMP_WORDS=(tcgemm ver); COMP_CWORD=1; _tcgemm
                      echo "${COMPREPLY[*]}"')
    [ "$answer" = verify ] || fail "bash completes ver as '$answer'"
fi
if "$tool" --generate nonsense > out 2>&1; then
    fail '--generate nonsense'
fi
echo 'help, man pages and completions are complete'
