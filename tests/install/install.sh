#!/bin/sh
# Installs into a folder, moves the folder, and uses it from outside: a C and a C++ program, through
# CMake and through pkg-config, with the shared and with the static library.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${TCGEMM_BUILD_DIR:-$here/../../build}
tmp=$(mktemp -d)
manifest=$build/install_manifest.txt
trap 'test ! -e "$tmp/manifest" || mv "$tmp/manifest" "$manifest"; rm -rf "$tmp"' EXIT

if [ -n "${TCGEMM_SANITIZE-}" ]; then
    echo "skipped: an outside program knows nothing of the sanitizer"
    exit 77
fi

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# check PROGRAM...: it multiplies and prints the product.
check() {
    expected='4 5
10 11'
    found=$("$@") || fail "$* failed"
    [ "$found" = "$expected" ] || fail "$* printed: $found"
    echo "ok: $*"
}

# ---- The shared library needs libc, libm and threads, nothing else ----------------------------

needed=$(LC_ALL=C objdump -p "$build/src/libtcgemm.so" | awk '$1 == "NEEDED" {print $2}')
for library in $needed; do
    case $library in
    libc.so.* | libm.so.* | libpthread.so.* | ld-linux*) ;;
    *) fail "libtcgemm.so needs $library" ;;
    esac
done
ldd "$build/src/libtcgemm.so" >"$tmp/ldd"
if grep -v -E 'linux-vdso|linux-gate|libc\.so|libm\.so|libpthread\.so|ld-linux' "$tmp/ldd"; then
    fail "ldd libtcgemm.so lists more than libc, libm and threads"
fi
objdump -p "$build/src/libtcgemm.so" | grep -q 'SONAME *libtcgemm\.so\.0$' || fail "SONAME"

# ---- DESTDIR and uninstall; the manifest of a real installation is kept -----------------------

[ ! -e "$manifest" ] || cp "$manifest" "$tmp/manifest"
DESTDIR="$tmp/dest" cmake --install "$build" --prefix /opt/tcgemm >"$tmp/log" || {
    cat "$tmp/log"
    fail "cmake --install with DESTDIR"
}
for header in tcgemm.h inspect.h; do
    [ -e "$tmp/dest/opt/tcgemm/include/tcgemm/$header" ] || fail "DESTDIR: no $header"
done
DESTDIR="$tmp/dest" cmake --build "$build" --target uninstall >"$tmp/log"
left=$(find "$tmp/dest" ! -type d)
[ -z "$left" ] || fail "uninstall left $left"
echo "ok: DESTDIR and uninstall"

# ---- Install, then move -----------------------------------------------------------------------

cmake --install "$build" --prefix "$tmp/first" >"$tmp/log"
mkdir "$tmp/a b" # a folder with a space in its name
mv "$tmp/first" "$tmp/a b/moved"
prefix="$tmp/a b/moved"
if grep -r -l -F "$tmp/first" "$prefix"; then
    fail "the installed tree names the folder that it was installed into"
fi
lib=$(dirname "$(find "$prefix" -name 'libtcgemm.so.0')")
[ -L "$lib/libtcgemm.so" ] || fail "no libtcgemm.so"
[ -e "$lib/libtcgemm.a" ] || fail "no libtcgemm.a"
if [ -x "$prefix/bin/tcgemm" ]; then
    "$prefix/bin/tcgemm" --version >/dev/null || fail "the installed tool does not start"
fi

# ---- CMake ------------------------------------------------------------------------------------

# C alone first (no C++ compiler needed), then both languages.
languages=C
command -v c++ >/dev/null && languages="C CXX"
for language in $languages; do
    cmake -S "$here/consumer" -B "$tmp/consumer-$language" -DLANGUAGE="$language" \
        -DCMAKE_PREFIX_PATH="$prefix" >"$tmp/log" 2>&1 ||
        { cat "$tmp/log"; fail "find_package(tcgemm) in $language"; }
    cmake --build "$tmp/consumer-$language" >"$tmp/log" 2>&1 ||
        { cat "$tmp/log"; fail "building against the package in $language"; }
    check "$tmp/consumer-$language/product-shared"
    check "$tmp/consumer-$language/product-static"
    ldd "$tmp/consumer-$language/product-shared" | grep -q 'libtcgemm\.so\.0 => ' ||
        fail "product-shared is not linked with libtcgemm.so.0"
    if ldd "$tmp/consumer-$language/product-static" | grep tcgemm; then
        fail "product-static is linked with the shared library"
    fi
done

# ---- pkg-config -------------------------------------------------------------------------------

# pkg-config escapes the space of the folder's name for a shell; eval is that shell.
export PKG_CONFIG_PATH="$lib/pkgconfig"
pkg-config --exists tcgemm || fail "pkg-config does not find tcgemm"
flags=$(pkg-config --cflags --libs tcgemm)
cp "$here/consumer/product.c" "$tmp/product.c"
cp "$here/consumer/product.c" "$tmp/product.cpp"
eval "${CC:-cc} -std=c17 -o '$tmp/pc-c' '$tmp/product.c' $flags"
LD_LIBRARY_PATH="$lib" check "$tmp/pc-c"
if command -v c++ >/dev/null; then
    eval "c++ -std=c++11 -o '$tmp/pc-c++' '$tmp/product.cpp' $flags"
    LD_LIBRARY_PATH="$lib" check "$tmp/pc-c++"
fi
rm "$lib"/libtcgemm.so* # only the static library is left
flags=$(pkg-config --static --cflags --libs tcgemm)
eval "${CC:-cc} -std=c17 -o '$tmp/pc-static' '$tmp/product.c' $flags"
check "$tmp/pc-static"
