# What the tests of pages in a browser share; read after common.bash. Where there is none, or a
# sanitizer slows the command, whose page is the same, they are skipped.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)

# The page names its records: by paths that are the same wherever the sources are. Under a sanitizer
# it has no charts of gnuplot's, which begins anew for each of hundreds; cli/report has some of every
# kind.
page_of_all_records() {
  local records path=$PATH
  if [ -n "${SANITIZED:-}" ]; then
    path=$folder/nothing
  fi
  ln -s "$root/docs/results" results
  mapfile -t records < <(find results/ -name '*.json' | sort)
  expect 0 - env PATH="$path" "$RUNG" report "${records[@]}" -o page.html
  rm results
}

need_browser() {
  [ -z "${SANITIZED:-}" ] || exit 77
  [ -n "$browser" ] || { echo "skipped: no chromium is here" && exit 77; }
}

# look PAGE OPTION...: by a browser that reaches nothing and runs in this folder; what it prints is
# in `seen`.
look() {
  HOME=$folder "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
    --disable-background-networking --host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir="$folder/profile" \
    --allow-file-access-from-files --virtual-time-budget=60000 --enable-logging=stderr --v=0 "${@:2}" \
    "file://$folder/$1" >seen 2>said </dev/null || fail "the browser ended with $?: $(tail -3 said)"
}

# The errors that the last page looked at has, if any.
console() { grep CONSOLE said; }
quiet() { ! console || fail "the page has errors"; }

leave_browser() { rm -rf seen said profile .config .pki .local; }
