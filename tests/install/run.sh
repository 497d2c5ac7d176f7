#!/usr/bin/env bash
# run.sh BUILD CC CMAKE: installs the build into a prefix of its own, moves that, and builds a
# consumer against it: by pkg-config and by find_package, shared and static.
set -euo pipefail
build=$1 cc=$2 cmake=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset DESTDIR MAKEFLAGS

fail() {
  echo "install: $1"
  exit 1
}

"$cmake" --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log"; exit 1; }
mv "$work/first" "$work/usr"
prefix=$work/usr
library=$(find "$prefix" -name librung.so -print -quit)
[ -n "$library" ] || fail "there is no librung.so under the prefix"
libdir=$(dirname "$library")
for file in include/rung/rung.h include/rung/ranks.h include/rung/mpi.h include/rung/nccl.h \
  include/rung/lab.h; do
  [ -f "$prefix/$file" ] || fail "$file was not installed"
done
# Every page of the library, and one under each name that it lists.
for page in "$here"/../../man/*.3; do
  for name in "$(basename "$page" .3)" \
    $(sed -n '/^\.SH NAME/,/^\.SH SYN/p' "$page" | grep -o 'rung_[a-z_]*'); do
    [ -f "$prefix/share/man/man3/$name.3" ] || fail "share/man/man3/$name.3 was not installed"
  done
done
if [ -x "$build/rung" ]; then
  for file in bin/rung share/man/man1/rung.1 share/bash-completion/completions/rung \
    share/zsh/site-functions/_rung share/fish/vendor_completions.d/rung.fish; do
    [ -f "$prefix/$file" ] || fail "$file was not installed"
  done
  "$prefix/bin/rung" --version >/dev/null || fail "the installed rung --version fails"
fi

# names LIBRARY: what leaves it, and under which version.
names() { nm -D --defined-only --extern-only "$1" | awk '$3 ~ /@/ { print $3 }' | sort; }
# Every function of the headers, and nothing else, is there as RUNG_0; what the command's laboratory
# needs, as the tree lists it, is there as RUNG_PRIVATE.
listed=$here/../../cmake/librung.map.in
version=$(pkg-config --modversion "$libdir/pkgconfig/rung.pc")
{
  sed -n 's/^RUNG_API .*[ *]\(rung_[a-z_]*\)(.*/\1@@RUNG_0/p' "$prefix"/include/rung/*.h
  sed -n "/^RUNG_PRIVATE/,\$ s/^    \(rung_[a-z_]*\);/\1@@RUNG_PRIVATE_$version/p" "$listed"
} | sort >"$work/header"
names "$library" >"$work/library"
diff "$work/header" "$work/library" || fail "header (<) and librung.so (>) show different names"
for part in cuda sim; do
  [ -e "$libdir/librung-$part.so" ] || continue
  [ "$(names "$libdir/librung-$part.so")" = "rung_part_$part@@RUNG_0" ] ||
    fail "librung-$part.so shows $(names "$libdir/librung-$part.so")"
done
for shared in "$libdir"/librung*.so; do
  others=$(nm -D --defined-only --extern-only "$shared" | awk '$3 !~ /^(rung_|RUNG_)/ { print $3 }')
  [ -z "$others" ] || fail "$shared shows names that are not rung_*: ${others//$'\n'/ }"
done
# at_most MB FILE: stripped. The command would be larger with a rung linked into it.
at_most() {
  [ -e "$2" ] || return 0
  strip -o "$work/stripped" "$2"
  local bytes
  bytes=$(stat -c %s "$work/stripped")
  [ "$bytes" -le "$(($1 * 1000000))" ] || fail "$2 has $bytes bytes; expected: at most $1 MB"
}
if grep -q '^CMAKE_BUILD_TYPE:STRING=Release' "$build/CMakeCache.txt"; then
  at_most 4 "$library"
  # GPU code that is not to be run is neither optimised nor compressed.
  grep -q '^RUNG_CUDA_OPTIMISED:BOOL=OFF' "$build/CMakeCache.txt" || at_most 12 "$libdir/librung-cuda.so"
  at_most 5 "$libdir/librung-sim.so"
  at_most 1 "$prefix/bin/rung"
fi
needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|libpthread|libdl|ld-linux.*)\.so' || true)
[ -z "$needed" ] || fail "librung.so needs ${needed//$'\n'/ }"
readelf -d "$library" | grep -q 'SONAME.*\[librung\.so\.0\]' || fail "soname is not librung.so.0"

# The package for Python finds the library from where it lies.
package=$(find "$prefix" -name _rung.abi3.so -print -quit)
if [ -n "$package" ]; then
  packages=$(dirname "$(dirname "$package")")
  said=$(cd "$work" && PYTHONPATH=$packages /usr/bin/python3 -c \
    "import rung, importlib.metadata as m; print(rung.sum(b'ab'), m.version('rung'))")
  [ "$said" = "195 $version" ] || fail "the installed Python package says \"$said\""
fi

export PKG_CONFIG_PATH=$libdir/pkgconfig
strict="-std=c11 -Wall -Wextra -Werror"
# shellcheck disable=SC2046,SC2086
{
  "$cc" $strict "$here/consumer.c" $(pkg-config --cflags --libs rung) -Wl,-rpath,"$libdir" \
    -o "$work/by_pkg_config"
  mkdir "$work/archives" # where the linker has no choice
  ln -s "$libdir"/*.a "$work/archives"
  "$cc" $strict "$here/consumer.c" $(pkg-config --cflags rung) -L"$work/archives" \
    $(pkg-config --libs --static rung) -o "$work/by_pkg_config_static"
}
"$cmake" -S "$here" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$strict" >"$work/log" 2>&1 &&
  "$cmake" --build "$work/consumer" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

said="rung $(pkg-config --modversion rung)"
[ ! -e "$libdir/librung-sim.so" ] || said="$said and sim"
for program in by_pkg_config by_pkg_config_static consumer/with_rung consumer/with_rung_static; do
  [ "$("$work/$program")" = "$said" ] || fail "$program does not say \"$said\""
done
for program in by_pkg_config consumer/with_rung; do
  readelf -d "$work/$program" | grep -q 'NEEDED.*librung\.so\.0' || fail "$program is not shared"
done
for program in by_pkg_config_static consumer/with_rung_static; do
  ! readelf -d "$work/$program" | grep -q 'NEEDED.*librung' || fail "$program is not static"
done
echo "install: $(wc -l <"$work/library") names, soname librung.so.0, four consumers run"
