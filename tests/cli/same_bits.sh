#!/bin/bash
# The same bits whatever computes them: 200 random jobs, each by the best instructions there are and
# by the baseline, by one thread and by three, and on the simulated GPU.
. "$(dirname "$0")/common.bash"
[ -z "${SANITIZED:-}" ] || exit 77 # each job runs five times

command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
# A line a job: its number and the command's words. Numbers are finite and of both signs, over 16
# binades, so that sums round; sizes are small ones, and some about a tile.
cat >jobs.py <<'JOBS'
import random, struct
draw = random.Random(20190)

def number(code):
    if code[1] in "iu":
        return draw.getrandbits(8 * int(code[2])).to_bytes(int(code[2]), "little")
    x = draw.uniform(-1, 1) * 2.0 ** draw.randint(-8, 8)
    return struct.pack({"2": "<e", "4": "<f", "8": "<d"}[code[2]], x)

def array(name, code, shape):
    count = 1
    for extent in shape:
        count *= extent
    words = "(%s,)" % ", ".join(map(str, shape))
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (code, words)
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117).encode() + b"\n")
        file.write(b"".join(number(code) for _ in range(count)))

def size():
    return draw.choice([1, 2, 3, 7, 31, 33, 64, 127, 130, 257, draw.randint(1, 700)])

for job in range(200):
    a, b = "%d-a.npy" % job, "%d-b.npy" % job
    reals = draw.choice(["<f2", "<f4", "<f8"])
    any_type = draw.choice([reals, "<f4", "<f8", "|u1", "|i1", "<i2", "<u2", "<i4", "<u4", "<i8"])
    verb = draw.choice(["reduce", "scan", "histogram", "matmul", "stencil", "pairs"])
    if verb == "reduce":
        array(a, any_type, [size(), size()])
        op = draw.choice(["sum", "min", "max", "mean"])
        axis = draw.choice(["", " --axis 0", " --axis 1"])
        words = "reduce %s --op %s%s" % (a, op, axis)
    elif verb == "scan":
        array(a, any_type, [draw.randint(1, 3), draw.choice([size(), 8191, 8193, 20000])])
        op = draw.choice(["sum", "min", "max"])
        words = "scan %s --op %s%s" % (a, op, draw.choice(["", " --exclusive"]))
    elif verb == "histogram":
        array(a, any_type, [size(), size()])
        words = "histogram %s --bins %d --range -3 100%s" % (a, size(), draw.choice(["", " --rows"]))
    elif verb == "matmul":
        m, n, k = (min(size(), 150) for _ in range(3))
        array(a, reals, [m, k])
        array(b, reals, [k, n])
        words = "matmul %s %s --alpha %g" % (a, b, draw.choice([1, -1, 0.3]))
    elif verb == "stencil":
        array(a, draw.choice(["<f4", "<f8"]), [size(), size() + 12])
        weights = " ".join("%g" % draw.uniform(-1, 1) for _ in range(draw.choice([3, 5, 7])))
        steps = str(draw.randint(1, 6))
        words = ["stencil", a, "--weights", weights, "--divide", "3.7", "--steps", steps]
    else:
        array(a, draw.choice(["<f4", "<f8"]), [min(size(), 300), 3])
        words = "pairs %s --width %g --max 40" % (a, draw.uniform(0.1, 9))
    # Parted by |, for weights are one word with spaces.
    print("|".join(words if verb == "stencil" else words.split()))
JOBS
python3 jobs.py >jobs || fail "the jobs were not made"

simulates=$("$RUNG" devices --device sim >/dev/null 2>&1 && echo yes)
done=0
# by NAME WORD...: runs the job so, into NAME.
by() {
  local name=$1
  shift
  "$RUNG" "${job[@]}" "$@" -o "$name" --quiet >stdout 2>stderr </dev/null ||
    fail "'${job[*]} $*' ended with $?: $(cat stderr)"
  [ "$name" = first.npy ] || cmp -s first.npy "$name" || fail "'${job[*]} $*' has other bits"
  [ "$name" = first.npy ] || rm -f "$name"
}
while IFS='|' read -ra job; do
  by first.npy --device cpu --threads 1
  by other.npy --device cpu --threads 3
  RUNG_ISA=baseline by other.npy --device cpu --threads 1
  RUNG_ISA=baseline by other.npy --device cpu --threads 3
  [ -z "$simulates" ] || by other.npy --device sim
  rm -f first.npy
  done=$((done + 1))
done <jobs
[ "$done" = 200 ] || fail "$done jobs, not 200"
finish
