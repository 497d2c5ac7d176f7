#!/usr/bin/env bash
# The manual and the command's help name the same verbs and options; completion offers them, in bash,
# and in zsh and fish where they are installed. The library's pages tell of all calls, members of
# structs and sections, and their examples compile. mandoc finds nothing to say of the manuals.
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

# The examples of librung(3) compile.
{
  cat <<'C'
#include <rung/ranks.h>
#include <stdio.h>
void print_fact(void *to, const char *key, const char *value);
rung_status examples(rung_context *c, float *data, float *gpu_data, int64_t thousand,
                     rung_managed *from_numpy, DLTensor x, DLTensor y, DLTensor means,
                     DLTensor turned, DLTensor square, DLTensor kernel, DLTensor counts,
                     DLTensor edges, DLTensor places, DLTensor part, DLTensor sums, DLTensor total,
                     rung_radiator_model radiator, rung_bins ten, const int64_t *counted, double n,
                     double volume, double *g);
rung_status examples(rung_context *c, float *data, float *gpu_data, int64_t thousand,
                     rung_managed *from_numpy, DLTensor x, DLTensor y, DLTensor means,
                     DLTensor turned, DLTensor square, DLTensor kernel, DLTensor counts,
                     DLTensor edges, DLTensor places, DLTensor part, DLTensor sums, DLTensor total,
                     rung_radiator_model radiator, rung_bins ten, const int64_t *counted, double n,
                     double volume, double *g) {
  struct { rung_ranks ranks; } mpi = {{0}};
  rung_rank_work *work = NULL;
  int (*read_file)(void *, int64_t, size_t, void *, char *) = NULL;
  rung_status bad = RUNG_OK;
C
  awk '/^\.SH CALLS/ { on = 1 } /^\.SH RETURN/ { on = 0 } !on { next }
    /^\.EX/ { print "  {"; code = 1; next } /^\.EE/ { print "  }"; code = 0 }
    code { gsub(/\\e/, "\\"); print }' "$root/man/librung.3"
  echo '  return bad; }'
} >"${TMPDIR:-/tmp}/examples-$$.c"
trap 'rm -f "${TMPDIR:-/tmp}/examples-$$.c"' EXIT
[ "$(grep -c '^  {' "${TMPDIR:-/tmp}/examples-$$.c")" -ge 28 ] || complain "librung(3) lacks examples"
"${CC:-cc}" -std=c17 -Wall -Wextra -Wno-unused -fsyntax-only -I "$root/include" \
  "${TMPDIR:-/tmp}/examples-$$.c" || complain "an example of librung(3) does not compile"

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
completes explain help exp
completes matmul tour scan ma
completes cpu bench reduce --device ""
completes --devices scan --
completes all reduce --devices ""
for operation in $operations; do
  for verb in tour ladder verify bench explain timeline; do completes "$operation" $verb ""; done
done
rungs=$(COMP_WORDS=("$RUNG" verify scan --rung "") COMP_CWORD=4 && _rung && echo "${COMPREPLY[*]}")
[[ " $rungs " == *" tiles "* && " $rungs " != *" panel "* ]] ||
  complain "completing 'rung verify scan --rung' offers $rungs"

# offers LINE WHOLE: Tab makes WHOLE of LINE, in the shells that are here.
PATH=$(dirname "$RUNG"):$PATH
offers() {
  local found
  if command -v zsh >/dev/null; then
    found=$(timeout 60 zsh -f "$root/tests/tools/completion.zsh" "$root/completions" "$1") || true
    [ "${found% }" = "$2" ] || complain "zsh makes '$found' of '$1'"
  fi
  if command -v fish >/dev/null; then
    found=$(fish --no-config -c "source $root/completions/rung.fish; complete -C '$1'" | cut -f1)
    [ "${1% *} $found" = "$2" ] || complain "fish offers '$found' for '$1'"
  fi
}
offers "rung rad" "rung radiator"
offers "rung help exp" "rung help explain"
offers "rung bench st" "rung bench stencil"
offers "rung tour scan mat" "rung tour scan matmul"
offers "rung verify stencil --rung pane" "rung verify stencil --rung panel"
offers "rung radiator --rung onc" "rung radiator --rung onchip"
offers "rung pairs --exc" "rung pairs --exclude-molecules"

# The library's other pages: their sections, and an EXAMPLE that is a program.
program=${TMPDIR:-/tmp}/program-$$.c
trap 'rm -f "${TMPDIR:-/tmp}/examples-$$.c" "$program"' EXIT
for path in "$root"/man/rung_*.3; do
  name=$(basename "$path")
  for section in NAME SYNOPSIS DESCRIPTION "RETURN VALUE" ERRORS EXAMPLE "SEE ALSO"; do
    grep -qx "\.SH $section" "$path" || complain "$name lacks the section $section"
  done
  awk '/^\.SH / { on = $0 == ".SH EXAMPLE" } !on { next }
    /^\.EX/ { code = 1; next } /^\.EE/ { code = 0 }
    code { gsub(/\\e/, "\\"); print }' "$path" >"$program"
  grep -q '^int main(' "$program" || complain "the example of $name is no program"
  compiler=${CC:-cc}
  if grep -q '<rung/mpi.h>' "$program"; then
    command -v mpicc >/dev/null || continue
    compiler=mpicc
  fi
  "$compiler" -std=c17 -Wall -Wextra -Werror -fsyntax-only -I "$root/include" "$program" ||
    complain "the example of $name does not compile"
done

# A page tells of every member of a struct, and of no other.
members() {
  awk -v name="$1" '$0 == "typedef struct " name " {" { on = 1; next } $0 ~ "^} " name ";" { exit }
    on' "$root"/include/rung/*.h | sed 's,/\*.*\*/,,' |
    awk '/\/\*/ { sub(/\/\*.*/, ""); print; comment = 1; next }
      comment { if (/\*\//) comment = 0; next } { print }' | tr '\n' ' ' | tr ';' '\n' |
    sed -E 's/\(\*([a-z_]+)\)\(.*/ \1/; s/\[[^]]*\]//g' | tr ',' '\n' |
    sed -nE 's/^(.*[ *])?([a-z_]+) *$/\2/p' | sort
}
told() {
  awk -v name="$1" '/^\.S[HS] / { on = $0 == ".SS Members of " name; depth = 0 } !on { next }
    /^\.RS/ { depth++ } /^\.RE/ { depth-- }
    tag && !depth { sub(/^\.IR? /, ""); gsub(/[",]/, ""); gsub(/ +/, "\n"); print }
    { tag = $0 == ".TP" }' "$root"/man/*.3 | sort
}
for struct in rung_options rung_call rung_filter_model rung_bins rung_stencil_model \
  rung_radiator_model rung_points rung_box rung_distances rung_ranks rung_parcel rung_mpi rung_store; do
  is=$(members "$struct")
  [ -n "$is" ] || complain "the headers have no struct $struct"
  differs=$(comm -3 <(echo "$is") <(told "$struct") | tr -s '\n\t' ' ')
  [ -z "$differs" ] || complain "the header and the manual differ in members of $struct: $differs"
done

# librung.3 tells of every function of the headers, and names every other page.
for path in "$root"/man/rung_*.3; do
  name=$(basename "$path" .3)
  grep -q "^\.BR $name (3)" "$root/man/librung.3" || complain "librung.3 does not name $name(3)"
  sed -n '/^set(rung_manual/,/)/p' "$root/cmake/install.cmake" | grep -qw "$name" ||
    complain "$name.3 is not installed"
done
for name in $(sed -n 's/^RUNG_API .*[ *]\(rung_[a-z_]*\)(.*/\1/p' "$root"/include/rung/*.h); do
  grep -qE "^\.BR .*\b$name\b" "$root/man/librung.3" || complain "librung.3 does not tell of $name"
done

if command -v mandoc >/dev/null; then
  found=$(mandoc -Tlint "$root"/man/*) || true
  [ -z "$found" ] || complain "mandoc says: $found"
fi
exit $wrong
