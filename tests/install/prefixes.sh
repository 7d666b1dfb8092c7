#!/bin/sh
# make install and uninstall keep to their PREFIX, and a live system's loader hears of it. The build is taken
# as it is; ldconfig is one of our own.
set -eu
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
build=${TCGEMM_BUILD_DIR:-$source_dir/build}
tmp=$(mktemp -d)
manifest=$build/install_manifest.txt
trap 'test ! -e "$tmp/manifest" || mv "$tmp/manifest" "$manifest"; rm -rf "$tmp"' EXIT
[ ! -e "$manifest" ] || cp "$manifest" "$tmp/manifest"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# An ldconfig that knows what lies in the folders of $tmp/known, and says when it was called.
cat > "$tmp/ldconfig" <<END
#!/bin/sh
if [ "\${1-}" = -p ]; then
    for folder in \$(cat $tmp/known); do echo "libtcgemm.so.0 (libc6,x86-64) => \$folder/libtcgemm.so.0"; done
else
    echo called >> $tmp/calls
fi
END
chmod +x "$tmp/ldconfig"
: > "$tmp/known"
: > "$tmp/calls"

# CONFIGURE and COMPILE do nothing: the build folder is ready, and stays as it is.
run_make() {
    LDCONFIG="$tmp/ldconfig" make -s -C "$source_dir" BUILD="$build" CONFIGURE=: COMPILE=: "$@" > "$tmp/out" 2>&1
}

# README's first program, as it stands there, built as it says.
if [ -z "${TCGEMM_SANITIZE-}" ]; then
    cmake --install "$build" --prefix "$tmp/readme" > "$tmp/log" || fail 'install for the README'
    sed -n '/^```c$/,/^```$/p' "$source_dir/README.md" | sed '1d;$d' > "$tmp/product.c"
    grep -F -q 'cc product.c $(pkg-config --cflags --libs tcgemm)' "$source_dir/README.md" || fail 'how to build it'
    pc=$(find "$tmp/readme" -name pkgconfig -type d)
    # shellcheck disable=SC2046
    "${CC:-cc}" -o "$tmp/product" "$tmp/product.c" $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs tcgemm) ||
        fail 'the program of the README does not compile'
    found=$(LD_LIBRARY_PATH=${pc%/pkgconfig} "$tmp/product") || fail 'the program of the README fails'
    [ "$found" = "4 2
10 5" ] || fail "the program of the README prints $found"
fi

# The Makefile leaves the prefix to CONFIGURE, so the installs are cmake's.
for prefix in a b; do
    cmake --install "$build" --prefix "$tmp/$prefix" > "$tmp/log" || fail "install into $prefix"
done
run_make uninstall PREFIX="$tmp/a" || fail "uninstall from a: $(cat "$tmp/out")"
[ -z "$(find "$tmp/a" ! -type d)" ] || fail "left in a: $(find "$tmp/a" ! -type d)"
[ -z "$(find "$tmp/a" -type d -name tcgemm)" ] || fail "empty folders are left: $(find "$tmp/a" -name tcgemm)"
[ -e "$tmp/b/include/tcgemm/tcgemm.h" ] || fail 'uninstall from a has removed b'
if run_make uninstall PREFIX="$tmp/a"; then fail 'a second uninstall of a finds something'; fi
grep -q "nothing was installed into $tmp/a" "$tmp/out" || fail "not said: $(cat "$tmp/out")"
run_make uninstall PREFIX="$tmp/b" || fail 'uninstall from b'
[ -z "$(find "$tmp/b" ! -type d)" ] || fail 'left in b'

: > "$tmp/calls"
DESTDIR="$tmp/dest" cmake --install "$build" --prefix /opt/tcgemm > "$tmp/log"
touch "$tmp/dest/opt/tcgemm/include/tcgemm/mine.h"
run_make uninstall DESTDIR="$tmp/dest" PREFIX=/opt/tcgemm || fail 'uninstall below DESTDIR'
[ "$(find "$tmp/dest" ! -type d)" = "$tmp/dest/opt/tcgemm/include/tcgemm/mine.h" ] ||
    fail "left below DESTDIR: $(find "$tmp/dest" ! -type d)"
[ ! -s "$tmp/calls" ] || fail 'ldconfig was called for a DESTDIR'

# What `make install` runs last: only without DESTDIR.
make -n -C "$source_dir" install PREFIX=/opt/x DESTDIR= | grep -F -q 'scripts/tell-loader "/opt/x"' ||
    fail 'make install tells the loader nothing'
make -n -C "$source_dir" install PREFIX=/opt/x DESTDIR=/d | grep -q '\[ -n "/d" \] || scripts/tell-loader' ||
    fail 'make install with DESTDIR'
mkdir -p "$tmp/c/lib"
: > "$tmp/c/lib/libtcgemm.so.0"
LDCONFIG="$tmp/ldconfig" "$source_dir/scripts/tell-loader" "$tmp/c" > "$tmp/out"
grep -q "set LD_LIBRARY_PATH" "$tmp/out" || fail 'a loader that does not look there is not told of'
echo "$tmp/c/lib" > "$tmp/known"
[ -z "$(LDCONFIG="$tmp/ldconfig" "$source_dir/scripts/tell-loader" "$tmp/c")" ] || fail 'a hint without need'
[ "$(id -u)" -ne 0 ] || [ "$(wc -l < "$tmp/calls")" -eq 2 ] || fail 'ldconfig was not called'
echo 'each prefix has its own installation'
