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
    grep -q ' $' out && fail "blanks end a line of tcgemm $command --help"
    awk 'length > 80 { exit 1 }' out || fail "a line of tcgemm $command --help is too wide"
    "$tool" help $command | cmp -s - out || fail "tcgemm help $command is another help"
    # Each example can be pasted: what is no command is a comment, and every word of it is understood.
    sed -n '/^Examples:/,/^$/p' out | sed 1d > examples
    wanted=$(grep -c '^  tcgemm' examples) || fail "tcgemm $command --help shows no example"
    : > pasted
    : > A.npy
    (
        tcgemm() {
            "$tool" "$@" --version > /dev/null && echo "$1" >> pasted
        }
        . ./examples
    ) 2> err || fail "an example of tcgemm $command --help: $(cat err)"
    [ -s err ] && fail "an example of tcgemm $command --help: $(cat err)"
    [ "$(grep -c "^$command\$" pasted)" -eq "$wanted" ] || fail "not every example of tcgemm $command can be pasted"
    # Every long option of the help is in the man page and in the completion.
    "$tool" --generate bash > completion
    for option in $(grep -o -- '^ .*  --[a-z0-9-]*\|, --[a-z0-9-]*' out | grep -o -- '--[a-z0-9-]*'); do
        grep -q -- "$(printf '%s' "$option" | sed 's/-/\\\\-/g')" page ||
            fail "$option is not in the man page of $command"
        grep -q -- "$option" completion || fail "$option is not in the completion"
    done
done
"$tool" help > out
"$tool" --help | cmp -s - out || fail 'tcgemm help is another help'
for command in verify list info plot; do
    "$tool" help $command | tr -s ' \n' ' ' | grep -q 'a list (default: all)' || fail "the default types of $command"
done
"$tool" help run | tr -s ' \n' ' ' | grep -q 'default: what the files hold, or f32_f32)' || fail 'the default type of run'
"$tool" help bench | tr -s ' \n' ' ' | grep -q 'a list, or all (default: f32_f32)' || fail 'the default type of bench'

# meant SENTENCE WORDS...: a usage error that suggests the word.
meant() {
    sentence=$1
    shift
    "$tool" "$@" > out 2> err && fail "tcgemm $* is accepted"
    grep -q -- "$sentence" err || fail "tcgemm $* does not say '$sentence': $(cat err)"
    [ -s out ] && fail "tcgemm $* writes to stdout"
    return 0
}
meant 'did you mean run?' runn
meant 'did you mean bench?' help benhc
meant 'did you mean bf16_f32?' run -m 3 -n 3 -k 3 --type bf16_f23
meant 'did you mean s8_s32?' bench --shape 8 --type f32_f32,s8_s23
meant 'did you mean reference?' run -m 3 -n 3 -k 3 --algo refrence
meant 'did you mean cpu_any_f32_4x12?' run -m 3 -n 3 -k 3 --kernel cpu_any_f32_4x21
meant 'did you mean rtx4090?' explain 64 --gpu rtx4900
meant 'Did you mean --trans-b?' run --trnas-b
meant 'Did you mean --min-seconds?' bench --min-secnods=3
for gpu in H200 h200 RTX4090 Orin; do
    "$tool" explain 64 --gpu $gpu > out || fail "--gpu $gpu"
done

# A GPU is offered if it can be explained, and only then.
"$tool" help explain | tr -s ' \n' ' ' | grep -o 'here or not: .* or rtx5090' | sed 's/here or not: //; s/ or / /; s/,//g' |
    tr ' ' '\n' > offered
[ "$(wc -l < offered)" -ge 12 ] || fail "the help offers $(wc -l < offered) GPUs"
while read -r gpu; do
    "$tool" explain 64 --type f16_f32 --gpu "$gpu" > out 2> err || fail "--gpu $gpu is offered: $(cat err)"
    "$tool" --generate bash | grep -q "compgen -W '[^']*\b$gpu\b" || fail "$gpu is not in the completion"
done < offered
for list in completion error; do
    case $list in
    completion) "$tool" --generate fish | sed -n 's/.*-l gpu -x -a .\([^\x27]*\).*/\1/p' ;;
    error) "$tool" explain 64 --gpu nosuchgpu 2>&1 | sed -n 's/.*only //p' | tr -d ',' ;;
    esac | tr ' ' '\n' | sort > named
    sort offered | cmp -s - named || fail "the $list offers $(tr '\n' ' ' < named)"
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
