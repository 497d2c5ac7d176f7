# Reads the output of `ctest -V` and counts tests one by one: the tests inside an executable where
# it reports them as cmocka does, the executable itself where not. Writes
#
#   passed N
#   failed NAME: WHY      one line a test
#   skipped NAME: WHY     one line a test
#
# A test that began and did not end (a crash, a time-out) has failed; so has an executable that
# ended badly although its tests passed (a leak, say). cmocka repeats names at its end, so a name
# is looked up and lines are not counted.
function after(mark,   at) {
  at = index($0, mark)
  return at ? substr($0, at + length(mark)) : ""
}

/^[0-9]+: / {
  id = $1
  sub(/:$/, "", id)
  if (name = after("[ RUN      ] ")) {
    began[id, ++tests[id]] = name
  } else if (name = after("[       OK ] ")) {
    ok[id, name]++
  } else if ((name = after("[  FAILED  ] ")) && name !~ /^[0-9]+ test\(s\)/) {
    bad[id, name] = 1
  } else if ((name = after("[  SKIPPED ] ")) && name !~ /^[0-9]+ test\(s\)/) {
    skip[id, name] = 1
  }
  next
}

# " 3/17 Test  #3: unit/line ......***Failed    0.01 sec"
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
  line = $0
  sub(/^[^#]*#/, "", line)
  id = line + 0
  sub(/^[0-9]+: /, "", line)
  program = line
  sub(/ .*/, "", program)
  verdict = line
  sub(/^[^ ]+ *\.*/, "", verdict)
  sub(/^ *(\*\*\*)?/, "", verdict)
  sub(/ +[0-9.]+ sec.*/, "", verdict)
  seen++
  failures = 0
  for (t = 1; t <= tests[id]; t++) {
    name = began[id, t]
    if (bad[id, name]) {
      failures++
      print "failed " program ": " name
    } else if (skip[id, name]) {
      print "skipped " program ": " name
    } else if (ok[id, name]-- > 0) {
      passed++
    } else {
      failures++
      print "failed " program ": " name " did not end (" verdict ")"
    }
  }
  if (verdict ~ /Passed/) {
    if (!tests[id]) passed++
  } else if (verdict ~ /Skipped/) {
    if (!tests[id]) print "skipped " program
  } else if (!failures) {
    print "failed " program " (" verdict ")"
  }
}

END {
  print "passed " passed + 0
  if (!seen) print "failed ctest ran no tests"
}
