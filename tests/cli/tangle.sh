#!/bin/sh
# scripts/tangle: which lines it takes, where it says that they come from, what it refuses.
source=${TCGEMM_SOURCE_DIR:?}
tangle=$source/scripts/tangle
. "$source/tests/support/cli.sh"

# refuses STATUS PATTERN ARGUMENTS...
refuses() {
    status=$1 pattern=$2
    shift 2
    "$tangle" "$@" >out 2>err
    got=$?
    [ $got -eq "$status" ] || fail "exit status $got, expected $status: tangle $*"
    grep -q -e "$pattern" err || fail "'$pattern' is not said: tangle $*: $(cat err)"
}

cat >page.md <<'END'
# A page

Prose with ``` in it, and a command:

    ```c

```c
int one(void) {
```

```text
```c
not a program
```

```c
    return 1;
}
```
```cuda
int other;
```
END
# shellcheck disable=SC2016 # these are no commands
printf '```c  \nint two = "a number";\n```\n' >>page.md # blanks after the name
cat >expected <<'END'
#line 8 "page.md"
int one(void) {
#line 17 "page.md"
    return 1;
}
#line 24 "page.md"
int two = "a number";
END
"$tangle" c page.md >out || fail "exit status $?"
diff expected out || fail "other lines than expected"
"$tangle" cuda page.md | tail -n 1 | grep -q '^int other;$' || fail "the block of cuda is lost"

# A compiler names the line of the page.
LC_ALL=C "${CC:-cc}" -x c -fsyntax-only -Werror out 2>err && fail "the fault is not seen"
grep -q '^page\.md:24:' err || fail "the fault is not placed: $(cat err)"

refuses 1 'page.md has no block of fortran' fortran page.md
refuses 1 'cannot read nothere.md' c nothere.md
refuses 2 'usage' c
printf '# Page\n\n```c\nint x;\n' >open.md
refuses 1 'open.md:3: the block is not closed' c open.md

# Every #line of the real page tells the truth.
page=$source/docs/walkthrough.md
"$tangle" cuda "$page" >program || fail "docs/walkthrough.md: exit status $?"
awk -v page="$page" '
    BEGIN { while ((getline line <page) > 0) text[++n] = line }
    /^#line / { at = $2 - 1; blocks++; next }
    { at++; if ($0 != text[at]) { print "line " at " of the page is not: " $0; bad = 1; exit } }
    END { exit bad || blocks < 15 }' program || fail "docs/walkthrough.md: a wrong #line"

[ $failures -eq 0 ]
