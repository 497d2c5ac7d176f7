# What the tests of the command share. Each is run with $RUNG, the command's path, works in a folder
# of its own, and ends with `finish`.
set -u
: "${RUNG:?is not set: the path of the command to test}"
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export XDG_CACHE_HOME="$folder/.cache"
[ -n "${SANITIZED:-}" ] || unset RUNG_ISA # sanitizers watch one instruction set, that of tools/check
# A start that looks for leaks at its end takes half as long again: AddressSanitizer does where much
# is refused or ended halfway, and in the library's tests.
case ${SANITIZED:-}/$(basename "$0" .sh) in
  address/bad_input | address/full_disk | address/hostile | address/interrupt | address/limits) ;;
  address/*) export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 ;;
esac
if [ -s "${PEAKS:-}" ]; then mkdir -p .cache/rung && cp "$PEAKS" .cache/rung/peaks.json; fi # peaks.sh
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

finish() {
  [ "$failures" -eq 0 ] && echo "all as it should be"
  exit $((failures > 0))
}

# expect CODE WORD COMMAND...: the exit code, and a word that standard error must hold (- none).
expect() {
  local code=$1 word=$2
  shift 2
  "$@" >stdout 2>stderr </dev/null
  local found=$?
  [ "$found" -eq "$code" ] || fail "'$*' ended with $found, not $code: $(cat stderr)"
  [ "$word" = - ] || grep -qiF -- "$word" stderr || fail "'$*' does not say '$word': $(cat stderr)"
  rm -f stderr
}

# prints WORD: standard output of the last expect() must hold it.
prints() {
  grep -qF -- "$1" stdout || fail "'$1' was not printed"
}

# only FILE...: nothing but these lies in the folder.
only() {
  local found
  rm -f stdout stderr
  found=$(find . -mindepth 1 -maxdepth 1 ! -name .cache -printf '%f\n' | sort | tr '\n' ' ')
  [ "$found" = "$(printf '%s\n' "$@" | sed '/^$/d' | sort | tr '\n' ' ')" ] ||
    fail "the folder holds: $found"
}

# npy DESCR SHAPE BYTES: a file of version 1.0 on standard output; BYTES as printf takes them.
npy() {
  local dictionary="{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$dictionary"
  printf "$3"
}

# floats FILE: the data of an .npy of f4, f8 as numbers on one line.
floats() {
  od -An -v -t "f${2:-4}" -j 128 -w65536 "$1" | tr -s ' ' | sed 's/^ //'
}

# on_terminal COLUMNS ARGUMENT...: standard output of the command on a terminal so wide, which takes
# its arguments as a shell does; without colours.
on_terminal() {
  script -qec "stty cols $1 rows 50 && $RUNG ${*:2} 2>/dev/null" /dev/null </dev/null | tr -d '\r' |
    sed 's/\x1b\[[0-9;]*m//g'
}
# What on_terminal() says, where there are such terminals.
has_terminals() { [ "$(on_terminal 80 --version)" = "$("$RUNG" --version)" ]; }
widest() { awk 'length($0) > most { most = length($0) } END { print most + 0 }'; }
