#!/bin/bash
# rung report has no faults of accessibility that axe-core calls serious: where RUNG_AXE is the path
# of its axe.min.js and chromium is here.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/common.bash"
. "$root/tests/cli/browser.bash"
if [ -z "${RUNG_AXE:-}" ]; then
  echo "skipped: RUNG_AXE is not set: the path of axe-core's axe.min.js"
  exit 77
fi
need_browser
page_of_all_records

# of PAGE: what is said of a copy of it that may run axe-core.
of() {
  {
    sed -e '/Content-Security-Policy/d' -e '/<\/body>/,$d' "$1"
    echo '<script>'
    cat "$RUNG_AXE"
    cat <<'HTML'
</script><script>
axe.run(document, {resultTypes: ['violations']}).then(function (found) {
  var said = document.createElement('pre');
  found.violations.forEach(function (v) {
    said.textContent += '\naxe: ' + v.impact + ': ' + v.id + ', ' + v.nodes.length + ': ' + v.nodes[0].html;
  });
  said.textContent += '\naxe: ' + found.passes.length + ' rules pass';
  document.body.appendChild(said);
});
</script></body></html>
HTML
  } >axe.html
  look axe.html --dump-dom
  grep -qE '^axe: [1-9][0-9]* rules pass' seen || fail "axe-core did not end: $(console | head -3)"
}

of page.html
! grep -E '^axe: (serious|critical)' seen || fail "axe-core found faults"
# A fault is seen: a picture without words.
cat >other.html <<'HTML'
<!DOCTYPE html><html lang="en"><head><title>A page</title></head><body><main><h1>A page</h1>
<img src="none.png"/></main>
</body></html>
HTML
of other.html
grep -q '^axe: critical: image-alt' seen || fail "a fault is not seen"
rm -f page.html other.html axe.html
leave_browser
only
finish
