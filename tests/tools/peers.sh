#!/usr/bin/env bash
# Peers of the CPU are built as their best users would: the parallel algorithms are vectorised only
# with -fopenmp-simd. The record has the flags that the compiler is given, and the program outside
# the laboratory is built with them too. A package without a library stands in for TBB, so that
# nothing need be installed; nothing is compiled.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v cmake >/dev/null && command -v g++ >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
fail() {
  echo "peers: $1"
  failures=1
}

mkdir "$folder/tbb"
cat >"$folder/tbb/TBBConfig.cmake" <<'CONFIG'
set(TBB_VERSION 0.0-none)
add_library(TBB::tbb INTERFACE IMPORTED)
CONFIG
cmake -S . -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DRUNG_PEERS=ON -DRUNG_CUDA=OFF -DRUNG_SIM=OFF \
  -DCMAKE_CXX_FLAGS=-fno-plt -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  -DTBB_DIR="$folder/tbb" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
line=$(grep -o '"command": .*peers/tbb/reduce\.cpp"' "$folder/build/compile_commands.json")
text=$(grep -oE 'RUNG_PEER_TBB=[^>]*0\.0-none[^>]*' <<<"$line" | sed 's/\\*" -D.*//; s/\\*" -I.*//')
flags=${line##* -I}
for flag in -fno-plt -std=c++17 -O3 -DNDEBUG -fopenmp-simd -march=native; do
  grep -qF -e " $flag " <<<"$flags" || fail "not compiled with $flag: $flags"
  grep -qF -e " $flag " <<<"${text/:/ }" || fail "the record does not say $flag: $text"
done
grep -qE ', [A-Za-z]+ [0-9]+\.[0-9]' <<<"$text" || fail "the record does not say which compiler: $text"
grep -qE -e '-march=native: [a-z]' <<<"$text" || fail "the record does not say what native is here: $text"
outside=$(sed -n 's/^ \* *g++ \(.*\) cpu\.cpp .*/\1/p' peers/outside/cpu.cpp)
for flag in -std=c++17 -O3 -fopenmp-simd -march=native; do
  grep -qF -e " $flag " <<<" $outside " || fail "peers/outside/cpu.cpp is built without $flag: $outside"
done
exit $failures
