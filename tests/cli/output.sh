#!/bin/sh
# Where results go: no partial file after a signal or a full disk, every format, quiet.
. "${TCGEMM_SOURCE_DIR:?}/tests/support/cli.sh"

# A signal at any moment leaves the whole file or none.
for wait in 0.02 0.1 0.2 0.4 0.7; do
    for signal in INT TERM; do
        timeout --preserve-status -s $signal $wait "$tool" run --shape 3000x3000x500 --verify none \
            --quiet -o d.npy
        status=$?
        left=$(ls)
        case "$status $left" in
        "130 " | "0 d.npy" | "130 d.npy") ;;
        "143 ") ;; # before the tool was ready for it
        *) fail "after $signal at $wait s: status $status, files '$left'" ;;
        esac
        if [ -e d.npy ] && [ "$(wc -c < d.npy)" -ne $((128 + 4 * 3000 * 3000)) ]; then
            fail "a partial d.npy after $signal at $wait s"
        fi
        rm -f d.npy
    done
done

if [ -e /dev/full ]; then
    for command in 'run -m 3 -n 4 -k 5' list '--version' '--help' 'run --help'; do
        # shellcheck disable=SC2086
        "$tool" $command > /dev/full 2> err
        status=$?
        [ $status -eq 3 ] || fail "status $status for 'tcgemm $command > /dev/full'"
        grep -q '^tcgemm: stdout: ' err || fail "no sentence for 'tcgemm $command > /dev/full'"
    done
fi
("$tool" list; echo $? > status) 2> err | true
# The list may fit into the pipe before its reader is gone; a longer one does not.
("$tool" run --shape 500x500x5 --print table; echo $? > status) 2> err | true
[ "$(cat status)" -eq 141 ] || fail "status $(cat status) for a closed pipe, not that of SIGPIPE"
[ -s err ] && fail "a closed pipe is spoken of: $(cat err)"
("$tool" bench --shape 8,9,10,11,12 --samples 3 --min-seconds 0; echo $? > status) 2> err | true
[ "$(cat status)" -eq 141 ] || fail "status $(cat status) for a bench into a closed pipe"

# A file that may not be overwritten stays as it was.
echo precious > d.npy
"$tool" run -m 2 -n 2 -k 2 -o d.npy > out 2> err
[ $? -eq 3 ] || fail 'an existing file is overwritten without --force'
[ "$(cat d.npy)" = precious ] || fail 'an existing file was changed'

# --force keeps the permissions of what it replaces, and writes through links, also to what is not there.
chmod 600 d.npy
ln -s d.npy link.npy
mkdir -p deep
ln -s ../deep/new.npy deep/dangling.npy
for name in link.npy deep/dangling.npy; do
    "$tool" run -m 2 -n 2 -k 2 -o $name --force --quiet || fail "--force through $name"
    [ -L $name ] || fail "$name was a link"
done
[ "$(stat -c %a d.npy)" = 600 ] || fail "0600 has become $(stat -c %a d.npy)"
[ "$(wc -c < d.npy)" -eq 144 ] && [ "$(wc -c < deep/new.npy)" -eq 144 ] || fail 'the links lead to no result'
"$tool" run -m 2 -n 2 -k 2 -o link.npy > out 2> err && fail 'a link is replaced without --force'
ln -s round.npy round.npy
"$tool" run -m 2 -n 2 -k 2 -o round.npy --force > out 2> err
[ $? -eq 3 ] || fail 'a link to itself is written'
: > page.html
chmod 640 page.html
ln -s page.html link.html
"$tool" explain 64 --gpu h200 --html link.html --force --quiet || fail '--html --force'
[ -L link.html ] && [ -s page.html ] && [ "$(stat -c %a page.html)" = 640 ] || fail 'a page is not written through a link'
ln -s nowhere.html gone.html
"$tool" explain 64 --gpu h200 --html gone.html > out 2> err
[ $? -eq 3 ] && [ -L gone.html ] || fail 'a dangling link is replaced without --force'

[ -z "$("$tool" run -m 2 -n 2 -k 2 --quiet 2>&1)" ] || fail '--quiet is not quiet'
for format in table md csv tsv json jsonl; do
    "$tool" run -m 20 -n 20 -k 20 --format $format > out 2> err || fail "run --format $format"
    grep -q CORRECT out || fail "run --format $format does not say CORRECT"
    [ -s err ] && fail "run --format $format writes to stderr"
    "$tool" list --format $format > out 2> err || fail "list --format $format"
    grep -q reference out || fail "list --format $format does not list the reference"
    "$tool" bench --shape 16 --samples 3 --min-seconds 0 --format $format > out 2> err ||
        fail "bench --format $format"
    grep -q f32_f32 out || fail "bench --format $format names no type"
done

width=$("$tool" run -m 10 -n 10 -k 10 --alpha -2 --beta 3 --trans-b | awk '{ if (length > w) w = length } END { print w }')
[ "$width" -le 100 ] || fail "the report is $width columns wide"

# The same seed gives the same data for every number of threads.
"$tool" run --shape 70x80x90 --type bf16_f32 --seed 7 --threads 1 -o one.npy --quiet
"$tool" run --shape 70x80x90 --type bf16_f32 --seed 7 --threads 2 -o two.npy --quiet
"$tool" run --shape 70x80x90 --type bf16_f32 --seed 8 -o other.npy --quiet
cmp -s one.npy two.npy || fail 'the same seed gives other data with other threads'
cmp -s one.npy other.npy && fail 'another seed gives the same data'

[ $failures -eq 0 ] && echo 'outputs are whole or absent'
exit $((failures > 0))
