#!/usr/bin/env bash
# Texts for users are in plain words: the README, the pages, the manuals, the help and the messages
# have none of those that tests/words lists.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs/*.md >"$folder/pages"
sed 's/\\-/-/g' man/* >"$folder/manuals"
# What stands in quotes, of lines that are no comment and include nothing.
find src include -name '*.[ch]' -exec cat {} + |
  grep -v -e '^ *[/ ]\*' -e '^#' | grep -oE '"([^"\\]|\\.)*"' >"$folder/messages"
if [ -x "${RUNG:-}" ]; then
  for verb in $("$RUNG" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    "$RUNG" help "$verb"
  done >"$folder/help"
fi
[ "$(wc -l <"$folder/messages")" -gt 1000 ] || { echo "words: no messages were found"; exit 1; }

wrong=0
while IFS=$'\t' read -r pattern better; do
  for text in "$folder"/*; do
    found=$(grep -nEi -e "$pattern" "$text") || continue
    wrong=1
    echo "$found" | cut -c1-150 | sed "s|^|words: in the ${text##*/}, better \"$better\": |"
  done
done < <(grep -v '^#' tests/words)
exit $wrong
