#!/bin/bash
# rung report in a browser: the page of all records is small, says the same without its script, fits
# every width, is legible in light and dark, and prints.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/common.bash"
. "$root/tests/cli/browser.bash"

page_of_all_records
[ "$(wc -c <page.html)" -lt 2000000 ] || fail "the page of all records has $(wc -c <page.html) bytes"
grep -q "could not draw" page.html && fail "a chart is missing"
grep -q '<th[^>]*></th>' page.html && fail "a column has no heading"
# What the other files of docs/results hold is there too: steps of blocks, when they ran, counts.
for word in '<g class="steps">' '<g class="blocks">' "reduce: what its kernels did" "Over several devices"; do
  grep -qF "$word" page.html || fail "the page of all records has no '$word'"
done
[ "$failures" -eq 0 ] || finish
need_browser

# Widths of a telephone, a tablet and a screen; light and dark. What is wider than the page, and
# words whose contrast to the paper is under 4.5; those of charts too, which other checkers pass by.
# And what the page says where its script may not run, as in the sandbox, and where it has run.
cat >frames.html <<'HTML'
<!DOCTYPE html><html><body><pre id="found"></pre><script>
'use strict';
function part(colour) {
  return colour.match(/[\d.]+/g).slice(0, 3).map(function (v) {
    v /= 255;
    return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
  });
}
function light(colour) { var p = part(colour); return 0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2]; }
function contrast(a, b) {
  var x = light(a), y = light(b);
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
function say(words) { document.getElementById('found').textContent += words + '\n'; }
function look(frame, width, theme) {
  var page = frame.contentDocument, root = page.documentElement, faint = 0, texts = 0;
  root.setAttribute('data-theme', theme);
  var paper = frame.contentWindow.getComputedStyle(root).backgroundColor;
  page.querySelectorAll('text').forEach(function (text) {
    texts++;
    if (contrast(frame.contentWindow.getComputedStyle(text).fill, paper) < 4.5) faint++;
  });
  say(width + ' ' + theme + ' wider: ' + (root.scrollWidth > width) + ' faint: ' + faint +
      ' texts: ' + (texts > 0) + ' paper: ' + paper);
}
function words(page) {
  page.querySelectorAll('#tools,button.c,script,style').forEach(function (one) { one.remove(); });
  return page.documentElement.textContent.replace(/\s+/g, ' ');
}
var pages = {};
function compare(width, page) {
  pages[width] = page;
  if (!pages[800] || !pages[0]) return;
  var themes = pages[800].body.textContent.indexOf('Theme: system') >= 0;
  var said = [800, 0].map(function (width) {
    return {ran: pages[width].querySelectorAll('button').length > 0, words: words(pages[width])};
  });
  say('ran: ' + said[0].ran + ' ' + said[1].ran + ' themes: ' + themes +
      ' long: ' + (said[1].words.length > 300000) + ' same: ' + (said[0].words === said[1].words));
}
[360, 800, 1400, 0].forEach(function (width) {
  var frame = document.createElement('iframe');
  frame.style.cssText = 'border:0;height:900px;width:' + (width || 800) + 'px';
  if (width === 0) frame.setAttribute('sandbox', 'allow-same-origin');
  frame.onload = function () {
    if (width > 0) { look(frame, width, 'light'); look(frame, width, 'dark'); }
    if (width === 0 || width === 800) compare(width, frame.contentDocument);
  };
  frame.src = 'page.html';
  document.body.appendChild(frame);
});
</script></body></html>
HTML
look frames.html --dump-dom
! console | grep -v "sandboxed" || fail "the page has errors"
grep -q "ran: true false themes: true long: true same: true" seen ||
  fail "the page says something else without its script: $(grep -o 'ran: .*same: [a-z]*' seen)"
texts=$(grep -q '<text' page.html && echo true || echo false)
for width in 360 800 1400; do
  for theme in "light rgb(255, 255, 255)" "dark rgb(13, 17, 23)"; do
    line="$width ${theme%% *} wider: false faint: 0 texts: $texts paper: ${theme#* }"
    grep -qF "$line" seen || fail "no '$line': $(grep "$width.*${theme%% *} wider" seen)"
  done
done

# On paper: many pages, their words, no buttons.
look page.html --no-pdf-header-footer --disable-pdf-tagging --print-to-pdf=page.pdf
quiet
[ "$(head -c 4 page.pdf)" = %PDF ] || fail "nothing is printed"
if command -v pdftotext >/dev/null; then
  pdftotext page.pdf printed
  for line in "Rung: what was measured" "In words" "The same bits" "Machine and provenance" "Made by rung"; do
    grep -qF "$line" printed || fail "'$line' is not printed"
  done
  grep -qE "Filter rows|Copy as CSV" printed && fail "buttons are printed"
  [ "$(grep -c $'\f' printed)" -gt 20 ] || fail "$(grep -c $'\f' printed) pages are printed"
fi

# An error of a page is seen: one that would run a script of its own.
expect 0 - "$RUNG" report "$root/docs/results/h200/reduce-f32.json" -o one.html
sed 's/<\/main>/<script>1<\/script>&/' one.html >other.html
look other.html --dump-dom
console >/dev/null || fail "an error of a page is not seen"
rm -f page.html frames.html one.html other.html page.pdf printed
leave_browser
only
finish
