#!/usr/bin/env bash
# The manual and the command's help name the same verbs and options; completion offers them.
set -euo pipefail
[ -x "${RUNG:-}" ] || exit 77
root=$(cd "$(dirname "$0")/../.." && pwd)
page=$(sed 's/\\-/-/g; s/\\f[BIPR]//g' "$root/man/rung.1")
wrong=0
complain() {
  echo "manual: $1"
  wrong=1
}

options_of() {
  "$RUNG" "$1" --help | awk '/^Options:/ { on = 1; next } on && NF == 0 { exit }
    on { line = substr($0, 1, 26)
         while (match(line, /(^|[ ,])--?[a-z]+(-[a-z]+)*/)) {
           word = substr(line, RSTART, RLENGTH); gsub(/[ ,]/, "", word); print word
           line = substr(line, RSTART + RLENGTH) } }'
}

verbs=$("$RUNG" --help | awk '/^Verbs:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }')
[ -n "$verbs" ] || complain "rung --help lists no verbs"
everything=$'--help\n--version'
for verb in $verbs; do
  grep -qE "^\.(B|BR|BI) \"?$verb( |\"|$)" <<<"$page" || complain "the manual lacks the verb $verb"
  options=$(options_of "$verb")
  [ -n "$options" ] || complain "rung $verb --help lists no options"
  everything+=$'\n'$options
  for option in $options; do
    grep -qE "^\.(B|BR|BI) (.*[ ,\"])?$option( |\"|$)" <<<"$page" ||
      complain "the manual lacks $option of rung $verb"
  done
done
while read -r option; do
  grep -qxe "$option" <<<"$everything" || complain "no verb takes $option of the manual"
done < <(grep -oE -- '--[a-z]+(-[a-z]+)*' <<<"$page" | sort -u)

# Every operation stands in the manual, and its jobs' keys in the help.
operations=$("$RUNG" ladder | awk -F: '/^[a-z]+:/ { print $1 }')
[ -n "$operations" ] || complain "rung ladder lists no operations"
for operation in $operations; do
  grep -qw "$operation" <<<"$page" || complain "the manual lacks the operation $operation"
  "$RUNG" bench "$operation" --help | grep -F "Keys of a job of $operation" >/dev/null ||
    complain "rung bench $operation --help lists no keys"
done

# shellcheck source=/dev/null
source "$root/completions/rung.bash"
# completes EXPECTED WORD...: completing the last word offers EXPECTED, among others.
completes() {
  local expected=$1
  shift
  COMP_WORDS=("$RUNG" "$@") COMP_CWORD=$#
  _rung
  printf '%s\n' "${COMPREPLY[@]}" | grep -xe "$expected" >/dev/null ||
    complain "completing 'rung $*' does not offer $expected"
}
completes radiator rad
completes tour ""
completes --preset radiator --
completes -m radiator -
completes lammps pairs --format ""
completes --exclude-molecules pairs --
completes 2019 radiator --preset ""
completes cuda radiator --device c
completes stencil bench st
completes panel verify --rung pa
for operation in $operations; do
  for verb in ladder verify bench explain timeline; do completes "$operation" $verb ""; done
done
exit $wrong
