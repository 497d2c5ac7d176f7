#!/usr/bin/env bash
# parts.sh PROGRAM LIBRUNG SIM FOREIGN: a part that is missing, damaged, without its table or of
# another version is refused by a sentence that names the file and what is expected, and the CPU
# goes on; two versions of the library work in one process, each with its own part.
set -euo pipefail
program=$1 library=$2 sim=$3 foreign=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^#define RUNG_VERSION "\(.*\)"/\1/p' "$(dirname "$0")/../../include/rung/rung.h")
major=${version%%.*}
part=librung-sim.so.$major

fail() {
  echo "parts: $1"
  exit 1
}
# expect WHAT STATUS WORD...: the CPU works, and the sentence has every word.
expect() {
  local what=$1 status=$2
  shift 2
  said=$("$program" "$work/here/librung.so") || fail "$what: the program fails: $said"
  [[ $said == "$version: sim $status, cpu 0: "* ]] || fail "$what: $said"
  for word in "$@"; do [[ $said == *"$word"* ]] || fail "$what: no '$word' in: $said"; done
}

mkdir "$work/here"
cp -L "$library" "$work/here/librung.so"
expect missing 8 "$part" 'expected: that file' 'device "cpu"'
echo 'no shared object' >"$work/here/$part"
expect damaged 8 "$part" 'expected: that file'
cp -L "$library" "$work/here/$part"
expect 'without its table' 8 "$part" rung_part_sim
cp -L "$foreign" "$work/here/$part"
expect 'of another version' 8 "$part" 'version 7.7.7' "version $version"
cp -L "$sim" "$work/here/$part"
expect whole 0

# The same library with every mention of its version changed is another version's.
other=${version%?}9
[ "$other" != "$version" ] || other=${version%?}8
mkdir "$work/there"
for file in librung.so "$part"; do
  sed "s/${version//./\\.}/$other/g" "$work/here/$file" >"$work/there/$file"
done
said=$("$program" "$work/here/librung.so" "$work/there/librung.so") || fail "two versions: $said"
[ "$said" = "$version: sim 0, cpu 0: 
$other: sim 0, cpu 0: " ] || fail "two versions: $said"
cp "$work/there/$part" "$work/here/$part"
expect "the other version's" 8 "version $other"
echo "parts: five bad ones refused, two versions side by side"
