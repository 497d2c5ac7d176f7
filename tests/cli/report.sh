#!/bin/bash
# rung report: one well-formed page that fetches nothing; charts where there is gnuplot, tables always;
# damaged and hostile records.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/common.bash"

# well FILE: it is well-formed, where xmllint is there to say so.
well() {
  ! command -v xmllint >/dev/null || xmllint --noout --nonet "$1" 2>problem || fail "$1: $(head -3 problem)"
  rm -f problem
}
holds() { grep -qF -- "$2" "$1" || fail "$1 does not hold '$2'"; }
lacks() { ! grep -qF -- "$2" "$1" || fail "$1 holds '$2'"; }

# Two sizes of an operation, so that there is a sweep.
job() {
  echo '{"operation":"reduce","job":{"n":'"$1"',"op":"sum"},"type":"f32","seed":"1","bytes":'"$1"'.0,"flops":5.0,"peak_ms":0.5,"peak_bound":"read","peak_level":"memory","caches":"cold","candidates":3}'
  for rung in serial lanes threads; do
    echo '{"rung":"'$rung'","idea":"one","order":"canonical","block":0,"before":{"finding":"good"},"bits":"0123456789abcdef","samples_ms":[1.5,2,'"$1"'],"clocks_mhz":[0,0,0],"stop":"steady"}'
  done
}
{
  echo '{"rung-records":3,"provenance":{"command":"rung bench reduce"},"rules":{"hot":false}}'
  echo '{"device":{"backend":"cpu","name":"a CPU","identity":"it","facts":{"cores":"2"}}}'
  echo '{"peaks":{"levels":[{"level":"memory","read_gb_per_s":10.5}],"fma32_g_per_s":100.0}}'
  job 1000
  job 4000
} >a.json
expect 0 - "$RUNG" report a.json -o page.html
well page.html
for word in "reduce on a CPU" "serial" "all of them good" "Time over size" "Measured peaks" \
  "Every sample" "rung bench reduce" "The same bits" "6 results" "Content-Security-Policy"; do holds page.html "$word"; done
grep -oE '(src|href)=["'\'']?[^#"'\''][^" >]*' page.html && fail "the page fetches something"
[ "$(wc -l <page.html)" -gt 100 ] || fail "the page is short"

# The policy admits the script by its hash, and nothing else; it is small.
sed -n '/<script>/,/<\/script>/p' page.html | sed '1s/.*<script>//; $s/<\/script>.*//' | head -c -1 >script
hash=$(printf "$(sha256sum script | cut -c1-64 | sed 's/../\\x&/g')" | base64)
holds page.html "script-src 'sha256-$hash'"
[ "$(wc -c <script)" -lt 10000 ] || fail "the script has $(wc -c <script) bytes"
rm -f script page.html

# A line for every commit that was measured on a device, builds and facts that are the same once.
from() { sed 's/"command":"rung bench reduce"/"command":"'"$2"'","commit":"'"$1"'","flags":"'"$3"'"/; s/"identity":"it"/"identity":"'"$4"'"/; s/"cores":"2"/&,"UUID":"'"$4"'"/' a.json; }
{ from c0de first -O3 it && from c0de again -O3 it && from beef second -O2 it && from c0de third -O3 other; } >many.json
expect 0 - "$RUNG" report many.json -o page.html
well page.html
for row in '>c0de</th><td class="w"></td><td>1</td><td class="w"></td><td class="w j">first<' \
  '>beef</th><td class="w"></td><td>2</td><td class="w"></td><td class="w j">second<' \
  '>c0de</th><td class="w"></td><td>1</td><td class="w"></td><td class="w j">third<' '<td class="w">-O2</td>' \
  '<dl><dt>UUID</dt><dd>other</dd></dl>' '<dt>identity</dt><dd>other</dd>'; do holds page.html "$row"; done
lacks page.html 'class="w j">again<'
[ "$(grep -o '<td class="w">-O3</td>' page.html | wc -l)" -eq 1 ] || fail "a build is said more than once"
[ "$(grep -o '<dt>cores</dt>' page.html | wc -l)" -eq 1 ] || fail "a fact is said more than once"
rm -f many.json page.html

# What one command measured says it once; of many samples those of the section's chart are there.
both() { head -3 a.json && job 1000 && job 1000 | sed 's/"op":"sum"/"op":"min"/'; }
both >two.json
expect 0 - "$RUNG" report two.json -o page.html
[ "$(grep -c '^<h3 id="g[01]"><span class="j">n=1000 op=' page.html) $(grep -c 'Measured again by' page.html)" = "2 1" ] ||
  fail "a command is said more than once"
# In words: the operation's jobs together, and one by one, each with a link to its own place.
holds page.html '<li><b>reduce</b> on a CPU: 2 jobs'
for g in 0 1; do holds page.html "<li><a href=\"#g$g\"><span class=\"j\">n=1000 op="; done
samples() { sed -n '/<summary>Every sample/,/<\/details>/p' page.html; }
[ "$(samples | grep -c 'op=sum$\|op=min$')" -eq 2 ] || fail "samples are missing: $(samples)"
both | sed "s/1\.5,2,1000/$(yes 1 | head -n 7000 | paste -sd,)/; s/0,0,0/$(yes 0 | head -n 7000 | paste -sd,)/" >two.json
expect 0 - "$RUNG" report two.json -o page.html
well page.html
holds page.html "Every sample of the first ladder, in microseconds"
[ "$(samples | grep -o 'op=sum$\|op=min$')" = op=sum ] || fail "a page of many samples has other ones"
rm -f two.json page.html

# The same bits: a row a job, a column a device, and which rungs have them, have others or are not there.
{
  cat a.json && sed 's/"name":"a CPU","identity":"it"/"name":"a <b>GPU","identity":"other"/; s/"candidates":3/"candidates":1/; /"rung":"\(lanes\|threads\)"/d' a.json | sed '/"n":4000/,$d'
  sed 's/"name":"a CPU"/"name":"third"/; /"rung":"lanes"/s/0123456789abcdef/fedcba9876543210/' a.json
} >many.json
expect 0 - "$RUNG" report many.json -o page.html
well page.html
same='<td class="w">same: serial, lanes, threads</td>'
bad='<td class="w">same: serial, threads; <strong>DIFFERENT</strong>: lanes</td>'
for row in '<th>job</th><th>a CPU</th><th>a &#60;b&#62;GPU</th><th>third</th><th>hash</th>' \
  ">n=1000 op=sum</td>$same<td class=\"w\">same: serial</td>$bad<td class=\"w\">0123456789abcdef</td>" \
  ">n=4000 op=sum</td>$same<td class=\"w\">-</td>$bad<td class=\"w\">0123456789abcdef</td>"; do holds page.html "$row"; done
rm -f many.json page.html

# The points of a roofline: of the largest job, and of one whose rungs explain counted at their own place.
holds_points() {
  expect 0 - "$RUNG" report a.json "$@" -o page.html
  well page.html
  holds page.html '<th>job</th><th class="n">FLOP a byte</th><th class="n">serial</th><th class="n">lanes</th><th class="n">threads</th>'
  holds page.html '<th scope="row">n=4000 op=sum</th><td>0.00125</td><td>2.5e-06</td><td>2.5e-06</td><td>2.5e-06</td>'
}
holds_points
lacks page.html '<th scope="row">n=1000 op=sum</th>'
for device in sim cuda; do
  echo '{"verb":"explain","version":1,"device":"'$device'","operation":"reduce","job":"n=1000 op=sum","seed":1,"rungs":['
  echo '{"rung":"lanes","idea":"i","block":0,"finding":"good","meaning":[],"figures":{"sectors":'$([ $device = sim ] && echo 1 || echo 10)'},"kernels":[]}]}'
done | split -l 2 - counts.
for order in "counts.aa counts.ab" "counts.ab counts.aa"; do
  holds_points $order
  holds page.html '<th scope="row">n=1000 op=sum</th><td>0.005</td><td>2.5e-06</td><td>2.5e-06 at 0.01562</td><td>2.5e-06</td>'
done
rm -f counts.* page.html

# Sizes of an image are its height; the largest may come first, and its width grows with it.
image() { job "$1" | sed 's/"operation":"reduce","job":{"n":\([0-9]*\),/"operation":"correlate","job":{"height":\1,"width":\1,"kernel":5,/'; }
{ head -3 a.json && image 4096 && image 1024 && image 2048; } >images.json
expect 0 - "$RUNG" report images.json -o page.html
well page.html
holds page.html '<th class="n">height</th><th class="n">peak</th>'
[ "$(grep -cF '<caption>Time over size' page.html)" -eq 1 ] || fail "images of three sizes are not one sweep"
for size in 4096 1024 2048; do holds page.html "<th scope=\"row\" class=\"n\">$size</th>"; done
if command -v gnuplot >/dev/null; then holds page.html ">height</text>"; fi
rm -f images.json page.html

# A rung that is slower than the one below says why, where that is known; on a GPU, and only then.
steps() { sed 's/"backend":"cpu"/"backend":"'"$1"'"/; s/"rung":"lanes"/"rung":"shuffle"/; s/"rung":"threads"/"rung":"finish-host"/' a.json | sed '/"finish-host"/s/"samples_ms":\[[^]]*/"samples_ms":['"$2,$2,$2"'/'; }
steps cuda 5 >steps.json
expect 0 - "$RUNG" report steps.json -o page.html
well page.html
holds page.html '<th scope="row">finish-host</th><td class="w i">one; on an H200 slower than shuffle ('
lacks page.html "slower than unrolled"
for other in "cuda 1" "cpu 5"; do
  steps $other >steps.json
  expect 0 - "$RUNG" report steps.json -o page.html
  lacks page.html "on an H200"
done
rm -f steps.json page.html

# Without gnuplot, and with one that draws nothing or something else.
mkdir bin
expect 0 "gnuplot is not here" env PATH="$PWD/bin" "$RUNG" report a.json
mv stdout page.html
holds page.html "gnuplot is not installed here"
lacks page.html "<figure"
well page.html
expect 3 "--plots needs gnuplot" env PATH="$PWD/bin" "$RUNG" report a.json -o page.html --plots plots
for words in "echo '<svg><script>alert(1)</script></svg>'" "echo '<svg><g><ellipse/></g></svg>'" "kill -9 \$\$"; do
  printf '#!/bin/sh\n[ "$1" = --version ] && echo gnuplot 5 && exit 0\n%s\n' "$words" >bin/gnuplot
  chmod +x bin/gnuplot
  expect 0 - env PATH="$PWD/bin:$PATH" "$RUNG" report a.json -o page.html
  holds page.html "could not draw this chart"
  lacks page.html "alert"
  well page.html
done
rm -r bin page.html

# Names that would be markup, commands of gnuplot or paths.
hostile() {
  cat <<'EOF'
{"rung-records":3,"provenance":{"command":"</code><script>alert(1)</script>"},"rules":{"hot":false}}
{"device":{"backend":"cpu","name":"'\nsystem(\"touch pwned\")\n`touch pwned` @A ]]>","identity":"\"><b>","facts":{"<i>":"&amp;"}}}
{"peaks":{"levels":[{"level":"' ; !touch pwned","read_gb_per_s":10,"write_gb_per_s":null},7],"fma32_g_per_s":1e308}}
{"operation":"../../../etc/x","job":{"n":5,"op":"'\n!touch pwned\n"},"type":"f32","seed":"1","bytes":20.0,"flops":5.0,"peak_ms":1e-5,"peak_bound":"read","peak_level":"<x>","caches":"cold","candidates":3}
{"rung":"a' ; system('touch pwned') #","idea":"<img src=x onerror=alert(1)>","order":"canonical","block":32,"before":{"finding":"good"},"samples_ms":[1.5,2],"clocks_mhz":[0,0],"stop":"steady"}
{"rung":"a' ; system('touch pwned') #","idea":"%s%n\\","order":"canonical","block":64,"before":{"finding":"good"},"samples_ms":[1e300],"clocks_mhz":[0],"stop":"steady"}
{"rung":"EOD\nset output 'pwned'","peer":"\u0007\u0085<","idea":"x","order":"loose","block":0,"before":{"finding":"<u>","sentence":"\"'"},"samples_ms":[1e-300],"clocks_mhz":[0],"stop":"steady"}
EOF
}
hostile >c.json
expect 0 - "$RUNG" report c.json -o page.html
well page.html
for word in "<script>alert" "<img" "\"><b>" "<i>" "<u>" "onerror=alert(1)>" "<x>"; do lacks page.html "$word"; done
if command -v gnuplot >/dev/null; then
  holds page.html "<svg viewBox"
  holds page.html 'stroke="currentColor"'
  lacks page.html 'rgb('
  expect 0 - "$RUNG" report a.json -o page.html --plots plots
  for kind in svg png pdf; do ls plots/chart-01-ladder.$kind plots/chart-02-sizes.$kind >/dev/null || fail "no $kind"; done
  for chart in plots/*.svg; do well "$chart"; done
  grep -qE ' d="[^"]*[.]' plots/*.svg && fail "lines of charts have fractions"
  [ "$(head -c 4 plots/chart-01-ladder.pdf)" = %PDF ] || fail "no PDF"
  head -c 4 plots/chart-01-ladder.png | grep -q PNG || fail "no PNG"
  # Of many samples a symbol stands at some, so that lines can be told apart.
  sed "s/\"samples_ms\":\[1.5,2,[0-9]*/\"samples_ms\":[$(seq -s, 1 200)/; s/\"clocks_mhz\":\[0,0,0/\"clocks_mhz\":[$(seq -s, 1 200)/" a.json >many.json
  expect 0 - "$RUNG" report many.json -o page.html
  sed -n '/<title id="chart-[0-9]*-samples/,/<\/svg>/p' page.html | grep -o 'a30 30 0 1 0' >symbols
  [ "$(wc -l <symbols)" -gt 10 ] && [ "$(wc -l <symbols)" -lt 30 ] || fail "a line of 200 samples has $(wc -l <symbols) symbols"
  rm -f many.json symbols
  expect 3 "--plots 'a.json'" "$RUNG" report a.json -o page.html --plots a.json
  # The README's picture is what tools/picture draws, but for where gnuplot puts things.
  "$RUNG" report "$root/docs/results/h200/stencil-f32.json" --plots plots -o page.html --quiet
  told() { sed 's/<[^>]*>//g' "$1" | tr -s ' \n\t' ' '; }
  [ "$(told plots/chart-01-ladder.svg)" = "$(told "$root/docs/picture.svg")" ] ||
    fail "docs/picture.svg is out of date; run tools/picture"
  rm -r plots
fi
[ ! -e pwned ] || fail "a name was a command"
only a.json c.json page.html
rm page.html

# What old reports measured stands beside records of a GPU that hold the same jobs, and nowhere else.
# Of every file of docs/history that names a job its first row, as a record.
same_job() {
  local keys rungs names values job key
  job=$(sed -n '2s/# job: //p' "$1")
  IFS=, read -r -a names <<<"$(sed -n 3p "$1")"
  IFS=, read -r -a values <<<"$(sed -n 4p "$1")"
  echo '{"rung-records":3,"provenance":{"command":"rung bench"},"rules":{"hot":false}}'
  echo '{"device":{"backend":"'"$2"'","name":"a device","identity":"it","facts":{}}}'
  block=0
  for i in "${!names[@]}"; do
    job=${job//"{${names[i]}}"/${values[i]}}
    [ "${names[i]}" = block ] && block=${values[i]}
  done
  echo '{"operation":"'"${job%% *}"'","job":{'"$(sed 's/^[a-z]* //; s/\([a-z]*\)=\([^ ]*\)/"\1":"\2"/g; s/ /,/g' <<<"$job")"'},"type":"f32","seed":"1","bytes":1.0,"flops":5.0'"$3"',"candidates":2}'
  # Another block is another job to a file that has blocks, and no faster to one that has none.
  echo '{"rung":"'"${names[-1]}"'","idea":"one","order":"canonical","block":7,"before":{"finding":"good"},"samples_ms":['"$([ "$block" -gt 0 ] && echo 0.01 || echo 0.02)"'],"clocks_mhz":[0],"stop":"steady"}'
  echo '{"rung":"'"${names[-1]}"'","idea":"one","order":"canonical","block":'"$block"',"before":{"finding":"good"},"samples_ms":[0.0123,0.0123],"clocks_mhz":[0,0],"stop":"steady"}'
}
for file in "$root"/docs/history/*.csv; do
  grep -q '^# job: ' "$file" || continue
  same_job "$file" cuda "" >b.json
  expect 0 - "$RUNG" report b.json -o page.html
  well page.html
  caption=$(sed -n '1s/^# //p' "$file" | sed "s/'/\&#39;/g")
  for word in "Beside old reports" "<caption>$caption</caption>" "$(sed -n '3s/.*,//p' "$file"), old<"; do
    holds page.html "$word"
  done
  row=$(grep -F "<tr><th scope=\"row\">$(sed -n '4s/,.*//p' "$file")</th>" page.html | tail -1)
  value=$(sed -n '4s/.*,//p' "$file" | awk '{ printf $1 < 1000 ? "%.4g" : "%.0f", $1 }')
  case $row in *">$value</td><td>0.0123</td>"*) ;; *) fail "$file: the row is $row" ;; esac
  same_job "$file" cpu "" >b.json
  expect 0 - "$RUNG" report b.json -o page.html
  lacks page.html "Beside old reports"
  same_job "$file" cuda ',"memory":"pinned"' >b.json
  expect 0 - "$RUNG" report b.json -o page.html
  lacks page.html "Beside old reports"
done
# Devices of one name are one there, and of their records of a job the newest counts.
dated() { sed 's/"identity":"it"/"identity":"'"$1"'"/; s/"seed":"1",/&"date":"'"$2"'",/; s/0\.0123/'"$3"'/g' b.json; }
same_job "$root/docs/history/scan.csv" cuda "" >b.json
{ dated one 2026-01-02 0.0134 && dated two 2026-01-03 0.0145 && dated three 2026-01-01 0.0156; } >three.json
expect 0 - "$RUNG" report three.json -o page.html
well page.html
sed -n '/Beside old reports/,/<\/section>/p' page.html >beside
[ "$(grep -c "<caption>" beside)" -eq "$(grep -lc '^# job: scan ' "$root"/docs/history/*.csv | wc -l)" ] ||
  fail "devices of one name have tables of their own: $(grep -c "<caption>" beside)"
holds beside "<td>0.0145</td>"
for word in 0.0134 0.0156; do lacks beside "<td>$word</td>"; done
rm -f three.json beside
expect 0 - "$RUNG" report a.json -o page.html
lacks page.html "Beside old reports"
expect 0 - "$RUNG" report "$root/docs/results/h200/histogram-u32.json" -o page.html
# The old report's own difference of 2^20, and a negative one of 8.
for word in ">0.9267</td>" ">-0.4024</td>"; do holds page.html "$word"; done
if command -v gnuplot >/dev/null; then
  for word in "shared minus global, old" "global minus shared"; do holds page.html ">$word"; done
fi
# The radiator's, which have no sizes: bars, and a table of types.
expect 0 - "$RUNG" report "$root"/docs/results/h200/{stencil-f32,stencil-f64,rowmeans-15360}.json -o page.html
for word in '<th scope="row">f64</th><td>838338</td><td>-</td><td>710557</td><td>129.8</td><td>35525</td><td>-</td>' \
  '<th scope="row">f32</th><td>1059</td><td>-</td><td>83</td><td>0.7216</td><td class="w">block-per-row</td>'; do
  holds page.html "$word"
done
lacks page.html "difference, old"
if command -v gnuplot >/dev/null; then
  for word in "f64 fast, old" "f64 global" "f32 best measured" "903200 ms" "0.2129 ms"; do holds page.html ">$word<"; done
fi
rm -f b.json page.html

# ---- whole jobs, from host memory and back ---------------------------------------------------------
# whole N MEMORY MS COPY KERNEL: a job on a GPU; there N CPU_MS: the same on a CPU.
whole() {
  echo '{"operation":"reduce","job":{"n":'"$1"',"op":"sum"},"type":"f32","seed":"1","bytes":'"$1"'.0,"flops":5.0,"caches":"cold","memory":"'"$2"'","candidates":1}'
  echo '{"rung":"single-pass","idea":"one","order":"canonical","block":0,"before":{"finding":"good"},"samples_ms":['"$3"'],"stages_ms":{"copy_in":['"$4"'],"clear_fill":[0.01],"clear_copy":[0.02],"kernel":['"$5"'],"copy_out":[0.03]},"clocks_mhz":[0],"stop":"steady"}'
}
there() {
  echo '{"operation":"reduce","job":{"n":'"$1"',"op":"sum"},"type":"f32","seed":"1","bytes":'"$1"'.0,"flops":5.0,"caches":"cold","candidates":1}'
  echo '{"rung":"threads","idea":"one","order":"canonical","block":0,"before":{"finding":"good"},"samples_ms":['"$2"'],"clocks_mhz":[0],"stop":"steady"}'
}
device() {
  echo '{"rung-records":3,"provenance":{"command":"rung bench"},"rules":{"hot":false}}'
  echo '{"device":{"backend":"'"$1"'","name":"a '"$1"'","identity":"'"$1"'","facts":{}}}'
}
wholes() {
  device cuda
  for job in "1000 pageable 0.9 0.8 0.05" "1000 pinned 0.5 0.4 0.05" "4000 pageable 2 1.7 0.2" "4000 pinned 1.5 1.2 0.2"; do whole $job; done
  [ $# -eq 0 ] || device cpu
  [ $# -eq 0 ] || { there 1000 "$1" && there 4000 "$2"; }
}
# told CPU_MS CPU_MS WORDS: what is said of the size from which on it pays.
told() {
  wholes ${1:+"$1" "$2"} >b.json
  expect 0 - "$RUNG" report b.json -o page.html
  well page.html
  sed 's/<[^>]*>//g' page.html | grep -qF -- "$3" || fail "of $1 $2: no '$3'"
}
told "" "" "No record of a CPU holds these jobs"
told 0.3 3 "fastest rung on a cpu: from n=4000 op=sum (1.500 ms here, 3.000 ms there) on the GPU takes less time; up to n=1000 op=sum (0.500 ms here, 0.300 ms there) the CPU does."
told 0.6 3 "on a cpu: from n=1000 op=sum (0.500 ms here, 0.600 ms there) on the GPU takes less time."
told 0.3 1.4 "on a cpu: up to n=4000 op=sum (1.500 ms here, 1.400 ms there) the CPU does."
holds page.html '<td>1.5</td><td>1.2</td><td>0.01</td><td>0.02</td><td>0.2</td><td>0.03</td><td>13.33</td><td>1.4</td>'
if command -v gnuplot >/dev/null; then for word in "Copies and kernel: reduce" ">copy in<" ">pinned<"; do holds page.html "$word"; done; fi
sed 's/"copy_in":\[[^]]*\]/"copy_in":[1,2]/' b.json >cut.json
expect 3 "has not as many samples of every stage as samples_ms" "$RUNG" report cut.json -o page.html
sed 's/"copy_in":\[[^]]*\]/"copy_in":["x"]/' b.json >cut.json
expect 3 "has no number as copy_in[0]" "$RUNG" report cut.json -o page.html
sed 's/"copy_out":\[[^]]*\]/"other":[1]/' b.json >cut.json
expect 3 'has no "copy_out"' "$RUNG" report cut.json -o page.html
expect 0 - "$RUNG" report a.json -o page.html
lacks page.html "Copies and kernel"
# A time that is too short is not believed, and is no wrong result.
sed '0,/"finding":"good"/s//"finding":"too-fast","sentence":"short"/' a.json >b.json
expect 0 - "$RUNG" report b.json -o page.html
for word in "all of them good. Times not believed, for they are shorter than the measured peaks allow: 1."; do holds page.html "$word"; done
rm -f b.json cut.json page.html

# ---- what explain and timeline saw ----------------------------------------------------------------
# Of the simulator and of hardware, one above the other; what differs is bold.
counts() {
  sed 's/DEVICE/'"$1"'/; s/LOADS/'"$2"'/' <<'EOF'
{"verb":"explain","version":1,"device":"DEVICE","operation":"reduce","job":"n=64 <op>","seed":1,"rungs":[
{"rung":"one","idea":"<img src=x onerror=alert(1)>","block":64,"finding":"good","meaning":["</li><script>alert(1)</script>","second"],
 "figures":{"launches":1,"global_loads":LOADS,"global_stores":null},"kernels":[{"kernel":"]]><b>","threads":64,"steps_lost":7,"steps":[
 {"warp":0,"phase":0,"deed":"load","place":1,"file":"a<u>.cu","line":5,"shared":true,"lanes":3,"all":15,"bytes":4,"sectors":0,"depth":0,"addresses":[0,128]},
 {"warp":1,"phase":1,"deed":"barrier","place":2,"file":null,"line":0,"shared":false,"lanes":15,"all":15,"bytes":0,"sectors":0,"depth":0,"addresses":[]}]}]},
{"rung":"two","idea":"i","block":0,"finding":"unsupported","reason":"it <i>cannot</i>"}]}
EOF
}
times() {
  echo '{"verb":"timeline","version":1,"device":"cuda<b>","operation":"reduce","job":"n=64 <op>","rung":"</svg>","block_size":64,"unit":"ns","blocks":['
  echo '{"block":0,"multiprocessor":3,"start":5,"end":9},{"block":1,"multiprocessor":3,"start":7,"end":15}]}'
}
counts sim 100 >sim.json
counts cuda 101 >near.json
counts cuda 103 >far.json
times >times.json
# A rung of a job of its own is not held against another's, and its row says which it is.
sed 's/"rung":"one",/&"job":"n=8 <own>",/' far.json >own.json
expect 0 - "$RUNG" report own.json sim.json -o page.html
well page.html
holds page.html "good, of n=8 &#60;own&#62;"
lacks page.html "<b>103</b>"
sed 's/"rung":"one",/&"job":8,/' far.json >own.json
expect 3 'no good "job"; expected: text' "$RUNG" report own.json -o page.html
rm -f own.json
expect 0 - "$RUNG" report far.json sim.json times.json -o page.html
well page.html
for word in "reduce: what its kernels did" "<td><b>103</b></td>" "<td>100</td>" \
  "unsupported: it &#60;i&#62;cannot" "conflict 2-way" "7 further steps of these warps are left out" \
  "1,load shared 4 B,a&#60;u&#62;.cu:5,idle 2, -; conflict 2-way, -" "reduce on cuda&#60;b&#62;: when its blocks ran" \
  "0,3,0,4" "1,3,2,10" ".steps .conflict{" ".blocks .block rect{" "id=\"picture-03-t\""; do holds page.html "$word"; done
for word in "<script>alert" "<img" "<i>" "<u>" "<b>]]" "cuda<b>" "all of them good"; do lacks page.html "$word"; done
[ "$(grep -c '<tr><th scope="row">one</th>' page.html)" -eq 2 ] || fail "not a row for each device"
[ "$(grep -oF '.steps .conflict{' page.html | wc -l)" -eq 1 ] || fail "the pictures' style is there more than once"
[ "$(grep -o '<rect ' page.html | wc -l)" -eq 2 ] || fail "not two bars"
expect 0 - "$RUNG" report sim.json near.json a.json -o page.html
well page.html
lacks page.html "<b>101</b>"
for word in "<td>101</td>" "reduce on a CPU" "6 results"; do holds page.html "$word"; done
rm -f near.json far.json page.html

# How calls over several devices scale: a line a series, and whether the bits are those of one.
cat >scaling.json <<'EOF'
{"verb":"scaling","version":1,"rung":"0.2.0","device":"two <b>GPUs","calls":5,"jobs":[
{"operation":"reduce<i>","job":"n=64 '; quit","devices":1,"scaling":"strong","seconds":0.5,"ideal":1,"bits":"00ff"},
{"operation":"reduce<i>","job":"n=64 '; quit","devices":2,"scaling":"strong","seconds":0.3125,"ideal":0.8,"bits":"00ff"},
{"operation":"reduce<i>","job":"n=128","devices":2,"scaling":"weak","seconds":0.625,"ideal":0.8,"bits":"1234"},
{"operation":"scan","job":"n=9","devices":1,"scaling":"strong","seconds":1,"ideal":1,"bits":"00fe"},
{"operation":"scan","job":"n=9","devices":2,"scaling":"strong","seconds":0.25,"ideal":2,"bits":"00ff"}
]}
EOF
expect 0 - "$RUNG" report scaling.json -o page.html
well page.html
for word in "Over several devices: two &#60;b&#62;GPUs" '<th scope="row">reduce&#60;i&#62;</th>' \
  "<td>2</td><td class=\"w\">strong</td><td>0.3125</td><td>80</td><td class=\"w\">the same</td>" \
  "<td>2</td><td class=\"w\">weak</td><td>0.625</td><td>80</td><td class=\"w\">-</td>" \
  "<td>2</td><td class=\"w\">strong</td><td>0.25</td><td>200</td><td class=\"w\">DIFFERENT</td>"; do holds page.html "$word"; done
lacks page.html "<b>GPUs"
if command -v gnuplot >/dev/null; then holds page.html "% of the ideal"; fi
rm -f page.html
"$(dirname "$RUNG")/tests/scaling" cpu,cpu small >made.json || fail "scaling over two CPUs fails"
expect 0 - "$RUNG" report made.json -o page.html
for word in "Over several devices" "matmul" "radiator"; do holds page.html "$word"; done
lacks page.html "DIFFERENT"
rm -f page.html made.json

# Damaged ones; each change must be refused, by name.
while IFS='|' read -r file change words; do
  sed "$change" "$file" >cut.json
  cmp -s "$file" cut.json && fail "nothing is changed by $change"
  expect 3 "$words" "$RUNG" report cut.json -o page.html
done <<'CHANGES'
sim.json|$d|cut off or damaged
scaling.json|s/"version":1/"version":2/|"version"; expected: an integer, 1 ... 1
scaling.json|s/"seconds":0.5/"seconds":0/|"seconds"; expected: a number above 0
scaling.json|s/"ideal":0.8/"ideal":null/|"ideal"; expected: a number above 0
scaling.json|s/"devices":2/"devices":0/|"devices"; expected: an integer, 1 ... 4096
scaling.json|s/"scaling":"weak"/"scaled":"weak"/|"scaling"; expected: text
scaling.json|s/"scaling":"weak"/"scaling":"strange"/|"scaling"; expected: strong or weak
scaling.json|s/"bits":"1234"/"bits":1234/|"bits"; expected: text
scaling.json|s/"devices":1,/"devices":2,/|"devices"; expected: 1 of the first job
scaling.json|/^{"op/d|"jobs"; expected: an array of 1 ... 4096
sim.json|s/"version":1/"version":2/|"version"; expected: an integer, 1 ... 1
sim.json|s/"verb":"explain"/"verb":"devices"/|JSON of `rung devices`
sim.json|s/"verb":"explain"/"verb":7/|expected: records, or that of explain, timeline or scaling
sim.json|s/"global_loads":100/"global_loads":NaN/|cut off or damaged
sim.json|s/"global_loads":100/"global_loads":1e300/|"global_loads"; expected: a number
sim.json|s/"global_loads":100/"global_loads":-1/|"global_loads"; expected: a number
sim.json|s/"addresses":\[0,128\]/"addresses":[0]/|"addresses"; expected: an array of 2 ... 2
sim.json|s/"addresses":\[0,128\]/"addresses":[0,-4]/|"addresses"; expected: integers
sim.json|s/"lanes":3,/"lanes":17,/|"lanes"; expected: an integer, 0 ... 15
sim.json|s/"lanes":3,"all":15/"lanes":6,"all":9/|"lanes"; expected: some of those
sim.json|s/"warp":0/"warp":4/|"warp"; expected: an integer, 0 ... 3
sim.json|s/"phase":1/"phase":-1/|"phase"; expected
sim.json|s/"phase":0/"phase":2/|"phase"; expected: phases that rise
sim.json|s/"phase":1/"phase":0/; s/"steps":\[/&{"warp":1,"phase":0,"deed":"work","place":1,"line":0,"lanes":1,"all":1,"bytes":0,"sectors":0,"depth":0,"addresses":[]},/|"warp"; expected: a warp's steps
sim.json|s/"deed":"load"/"deed":"think"/|"deed"; expected: load, store
sim.json|s/"bytes":4/"bytes":4000/|"bytes"; expected
sim.json|s/"threads":64/"threads":0/|"threads"; expected: an integer, 1 ... 1024
sim.json|s/"kernel":"[^"]*",//|"kernel"; expected: text
sim.json|s/"rungs":\[/"rungs":[7,/|"rung"; expected: text
times.json|s/"start":7/"start":16/|"end"; expected: an integer, 16
times.json|s/"block":1/"block":2/|"block"; expected: an integer, 1 ... 1
times.json|s/"unit":"ns"/"unit":"weeks"/|"unit"; expected: ns or steps
times.json|s/"multiprocessor":3/"multiprocessor":1e9/|"multiprocessor"; expected
times.json|s/"end":15}/"end":15},{}/|"block"; expected
CHANGES
rm -f cut.json sim.json scaling.json times.json

# The simulator's own: the page has the very picture of --picture.
if "$RUNG" explain reduce --rung strided --json --picture one.svg -o one.json >/dev/null 2>&1; then
  "$RUNG" explain reduce --rung strided --json --picture two.svg -o two.json --quiet
  cmp one.json two.json || fail "the steps are others each time"
  "$RUNG" timeline reduce --device sim --picture blocks.svg --json -o blocks.json --quiet
  [ "$(wc -l <blocks.json)" -eq $(($(grep -o '"block":' blocks.json | wc -l) + 1)) ] || fail "not a block a line"
  # Indented, as it used to be written, it is the same.
  for file in one blocks; do sed 's/[[{]"/&\n  "/g; s/":/" : /g' $file.json | sed 's/\([[{]\)"$/\1/' >$file-old.json; done
  expect 0 - "$RUNG" report one-old.json blocks-old.json -o page.html
  mv page.html old.html
  expect 0 - "$RUNG" report one.json blocks.json -o page.html
  cmp page.html old.html || fail "an indented file is read as another"
  rm old.html
  well page.html
  for kind in steps blocks; do
    drawn() { sed 's/\(["#]picture\)-[0-9][0-9]-/\1-/g' "$1" | tr '\n' ' ' | grep -oE "<g class=\"$kind\">.*" | sed 's/<\/g><\/svg>.*//'; }
    [ "$kind" = steps ] && file=one.svg || file=blocks.svg
    [ "$(drawn $file | wc -c)" -gt 5000 ] || fail "$file is empty"
    case $(drawn page.html) in "$(drawn $file)"*) ;; *) fail "the page has another picture than $file" ;; esac
  done
  lacks one.json '"steps":[]'
  "$RUNG" explain reduce --rung strided --json -o one.json --quiet
  lacks one.json '"steps_lost"'
fi
rm -f one.* two.* blocks.* one-old.json blocks-old.json page.html

# What cannot be read, or written.
head -c -30 a.json >cut.json
expect 3 "is cut off" "$RUNG" report cut.json -o page.html
head -n -1 a.json >cut.json
expect 3 "rungs of its job are missing" "$RUNG" report cut.json -o page.html
sed '1s/"rung-records":3/"rung-records":4/' a.json >cut.json
expect 3 "version 4; expected: 3" "$RUNG" report cut.json -o page.html
sed 's/"samples_ms":\[[^,]*/"samples_ms":[NaN/' a.json >cut.json
expect 3 "is not a JSON object" "$RUNG" report cut.json -o page.html
echo '{"other": "explain"}' >cut.json
expect 3 "no beginning of a file of records" "$RUNG" report cut.json -o page.html
: >cut.json
expect 3 "holds no records" "$RUNG" report cut.json -o page.html
expect 3 "No such file" "$RUNG" report none.json -o page.html
expect 3 "No such file" "$RUNG" report a.json -o /nowhere/page.html
expect 2 "an argument is missing" "$RUNG" report -o page.html
mkfifo pipe
expect 3 "pipe cannot be read" "$RUNG" report pipe -o page.html
rm -f pipe cut.json

# Records of version 2 are told from damaged ones, and rewritten.
cat >old.json <<'EOF'
{"rung-records": 2, "records": [{"rung-record": 2, "operation": "reduce",
 "trial": {"label": "n=5 width=0.10000000000000001", "type": "f32", "seed": "1", "bytes": 20.0, "flops": 5.0},
 "provenance": {"date": "2026-01-02T03:04:05Z", "load": 0.5, "command": "rung bench"},
 "device": {"backend": "cpu", "name": "it", "identity": "it", "facts": {}}, "rules": {"hot": false},
 "candidates": [{"rung": "one", "idea": "i", "order": "canonical", "block": 0,
  "before": {"finding": "good", "sentence": "", "wrong": 0}, "after": {"finding": "good", "sentence": "", "wrong": 0},
  "samples_ms": [1.5, 2.5], "clocks_mhz": [1, 3], "stop": "steady",
  "time_ms": {"count": 2, "min": 1.5, "q1": 1.75, "median": 2.0, "q3": 2.25, "max": 2.5},
  "clock_mhz": {"count": 2, "min": 1, "q1": 1.5, "median": 2, "q3": 2.5, "max": 3}}]}]}
EOF
expect 3 "version 1 or 2; expected: 3" "$RUNG" report old.json -o page.html
if command -v python3 >/dev/null; then
  sed 's/"median": 2.0/"median": 2.1/' old.json >wrong.json
  expect 1 "is not that of the samples" python3 "$root/tools/records" wrong.json
  expect 0 - python3 "$root/tools/records" old.json
  expect 0 - "$RUNG" report old.json -o page.html
  holds page.html "n=5 width=0.1"
  holds page.html "one,0,1500,2500"
  rm -f wrong.json page.html
fi
only a.json c.json old.json
finish
