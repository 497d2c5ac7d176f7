#!/usr/bin/env bash
# packages.sh BUILD CC: makes Debian packages of the build, installs them into an empty root, runs
# the command and an example against them there, and removes them without a trace.
set -euo pipefail
build=$1 cc=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "packages: $1"
  exit 1
}

cpack -G DEB -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip -B "$work/packages" --config "$build/CPackConfig.cmake" >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
rm -rf "$work/packages/_CPack_Packages"
needs() { dpkg-deb -f "$work/packages/$1"_*.deb Depends | sed 's/ ([^)]*)//g'; }
[ "$(needs librung0)" = libc6 ] || fail "librung0 needs $(needs librung0)"
[[ $(needs rung) =~ ^librung0,\ libc6,\ libjansson4$ ]] || fail "rung needs $(needs rung)"
for mpi in openmpi mpich; do
  [ ! -e "$build/librung-mpi-$mpi.so" ] || [[ $(needs rung-$mpi) =~ ^rung,\ .*lib$mpi ]] ||
    fail "rung-$mpi needs $(needs rung-$mpi)"
done
[ "$(needs librung-dev)" = "librung0, libdlpack-dev" ] || fail "librung-dev needs $(needs librung-dev)"

# In the root there is no system to take part in: dependencies are the test's own, scripts run here,
# and ldconfig has nothing to do.
root=$work/root
mkdir -p "$root/var/lib/dpkg/"{info,updates,triggers} "$work/bin"
touch "$root/var/lib/dpkg/"{status,available}
for name in ldconfig start-stop-daemon; do
  printf '#!/bin/sh\n' >"$work/bin/$name"
  chmod +x "$work/bin/$name"
done
in_root() {
  PATH=$work/bin:$PATH:/usr/sbin:/sbin dpkg --root="$root" --log="$work/dpkg.log" \
    --force-depends,not-root,script-chrootless "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "dpkg $1"; }
}
names=$(for package in "$work"/packages/*.deb; do dpkg-deb -f "$package" Package; done)
in_root -i "$work"/packages/*.deb
export LD_LIBRARY_PATH=$root/usr/lib
mkdir "$work/tour"
found=$(XDG_CACHE_HOME=$work "$root/usr/bin/rung" tour scan --device cpu --quiet -o "$work/tour")
[[ $found =~ [1-9][0-9]*\ results\ verified,\ 0\ failed ]] || fail "the installed command says \"$found\""
grep -q "</html>" "$work/tour/rung-tour.html" || fail "the installed command's tour has no page"
if [[ $names == *librung-sim0* ]]; then
  "$root/usr/bin/rung" devices --device sim >/dev/null || fail "the installed simulator is not found"
fi
export PKG_CONFIG_PATH=$root/usr/lib/pkgconfig
# shellcheck disable=SC2046
"$cc" "$here/../../examples/sum.c" $(pkg-config --define-prefix --cflags --libs rung) -o "$work/sum"
[ "$("$work/sum")" = "the sum is 187500" ] || fail "an example does not run against the packages"

# shellcheck disable=SC2086
in_root --purge $names
left=$(find "$root" -not -path "$root/var/*" -type f)
[ -z "$left" ] || fail "what is left after removing: $left"
echo "packages: $(wc -w <<<"$names") made, installed, tried and removed"
