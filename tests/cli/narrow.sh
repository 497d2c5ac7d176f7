#!/bin/bash
# A terminal of 40 columns: what verbs print fits, and says what it says where lines are whole.
. "$(dirname "$0")/common.bash"
has_terminals || { echo "skipped: no terminal is to be had" && exit 77; }

# same ARGUMENT...: of a verb that prints the same each time.
same() {
  on_terminal 40 "$@" >narrow
  eval "$RUNG $*" >whole 2>/dev/null </dev/null
  [ "$(widest <narrow)" -le 40 ] || fail "'$*' is $(widest <narrow) columns wide"
  [ "$(tr -s ' \n' '  ' <narrow)" = "$(tr -s ' \n' '  ' <whole)" ] || fail "'$*' says something else: $(cat narrow)"
  [ "$(widest <whole)" -gt 40 ] || fail "'$*' is short where lines are whole"
  rm -f narrow whole
}
# fits "WORD..." ARGUMENT...: of a verb that measures; those words are there, in that order.
fits() {
  on_terminal 40 "${@:2}" >narrow
  [ "$(widest <narrow)" -le 40 ] || fail "'${*:2}' is $(widest <narrow) columns wide"
  tr -s ' \n' '  ' <narrow | grep -qE "${1// /.*}" || fail "'${*:2}' says $(cat narrow)"
  rm -f narrow
}

fits "reduce n=64 rung block median verdict serial good threads good" \
  bench reduce --device cpu --rung serial,threads --samples 1 --sizes n=64
fits "auto takes first reduce: sum f32 n=2 auto without it" tune reduce --device cpu --threads 2 --sizes n=100 --budget 0.05
same tune --show
"$RUNG" bench reduce --device cpu --rung serial,threads --samples 1 --hot --sizes "n=64;n=128" -o record.json --quiet >stdout
if "$RUNG" devices --device sim >/dev/null 2>&1; then
  if [ -z "${SANITIZED:-}" ]; then # a sanitizer's kernels are not counted
    same explain reduce
    same explain reduce --rung strided
    same explain reduce --rung modulo --against strided
  fi
  # A chart is drawn for so many columns.
  on_terminal 40 timeline reduce --device sim --sizes "'n=128 op=min outer=9'" >narrow
  [ "$(widest <narrow)" -eq 40 ] || fail "timeline is $(widest <narrow) columns wide"
  [ "$(grep -cE '^ {13}[0-9]  [.0-9+]{24}$' narrow)" -eq 4 ] || fail "timeline draws: $(cat narrow)"
  grep -qE '^multiprocessor  0 +[1-9][0-9]* steps$' narrow || fail "timeline has no scale: $(cat narrow)"
fi

# A page is no text to be wrapped; written to a file, there is nothing else to say.
"$RUNG" report record.json >page.html 2>/dev/null
on_terminal 40 report record.json >narrow
cmp -s page.html narrow || fail "a page on a terminal is another"
[ -z "$(on_terminal 40 report record.json -o page.html)" ] || fail "report says something"
rm -f record.json page.html narrow stdout
only
finish
