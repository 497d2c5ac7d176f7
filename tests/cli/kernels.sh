#!/bin/bash
# Kernels of users' own (rung/lab.h) beside the rungs: found good and timed, or wrong and named; a
# file or a table that is not as it should be is refused, with the kernel and its member.
. "$(dirname "$0")/common.bash"
tree=$(dirname "${BASH_SOURCE[0]}")/../..
# made NAME FILE...: the shared object NAME.so.
made() {
  cc -std=c11 -O2 -ffp-contract=off -Wall -Wextra -Wno-override-init -Wno-unused-function -Werror -shared -fPIC -I "$tree/include" \
    "${@:2}" -o "$1.so" -lm || fail "$1 cannot be compiled"
}
# table NAME ROWS: one of scans' kernels, `copies` being a function.
table() {
  printf '%s\n' '#include <rung/lab.h>' \
    'static const char *copies(const rung_lab_job *job) { return job->line ? NULL : "no line"; }' \
    "#define ROW .size = sizeof(rung_lab_kernel), .operation = \"scan\", .name = \"mine\", .launch = copies" \
    "RUNG_LAB_KERNELS = {$2};" >"$1.c"
  made "$1" "$1.c"
}
verify=("$RUNG" verify --device cpu)

# The example: bits that are the contract's, sums within the bound, and some that are not.
made kernels "$tree/examples/kernels.c"
expect 0 - "${verify[@]}" matmul --kernels kernels.so --rung rows-of-b
prints 'rows-of-b         ok'
prints 'it makes one A B alone'
expect 0 - "${verify[@]}" reduce --kernels ./kernels.so --rung one-by-one,serial
prints 'serial            ok'
prints 'one-by-one        ok'
expect 1 - "${verify[@]}" reduce --kernels kernels.so --rung all-but-one
prints 'all-but-one       FAILED'
expect 0 - "$RUNG" bench matmul --device cpu --kernels kernels.so --rung rows-of-b,loop-order \
  --sizes "n=20; n=9 type=f64" --samples 3 --hot --quiet -o record.json
grep -qE '^rows-of-b .* good$' stdout || fail "rows-of-b was not timed: $(cat stdout)"
prints 'it does not take f64'
expect 0 - "$RUNG" report record.json -o page.html --quiet
grep -q rows-of-b page.html || fail "the report lacks it"
rm -f page.html record.json

# Everything that a kernel may do wrong.
cat >wrong.c <<'C'
#include <rung/lab.h>
#include <math.h>
static float *out(const rung_lab_job *job) { return (float *)job->arrays[job->inputs].data; }
static int64_t all(const rung_lab_job *job) {
  int64_t count = 1;
  for (int d = 0; d < job->arrays[0].ndim; d++) count *= job->arrays[0].shape[d];
  return count;
}
static const char *fails(const rung_lab_job *job) { return job->outputs == 1 ? "no way" : NULL; }
static const char *writes_nothing(const rung_lab_job *job) { return all(job) < 0 ? "" : NULL; }
static const char *writes_nan(const rung_lab_job *job) {
  for (int64_t i = 0; i < all(job); i++) out(job)[i] = NAN;
  return NULL;
}
static const char *goes_beyond(const rung_lab_job *job) {
  for (int64_t i = 0; i <= all(job); i++) out(job)[i] = 0;
  return NULL;
}
static const char *changes_input(const rung_lab_job *job) {
  for (int64_t i = 0; i < all(job); i++) out(job)[i] = ((float *)job->arrays[0].data)[i] = 3;
  return NULL;
}
static const char *is_off(const rung_lab_job *job) { /* by an order that is not the contract's */
  const int64_t n = rung_lab_number(job, "n", -1);
  float sum = 0;
  for (int64_t i = 0; i < n; i++)
    out(job)[i] = sum = (float)((double)sum + ((const float *)job->arrays[0].data)[i] * 1.01);
  return NULL;
}
static size_t room(const rung_lab_job *job) { return (size_t)all(job) * sizeof(float); }
static const char *uses_scratch(const rung_lab_job *job) {
  float *sums = (float *)job->scratch;
  if ((uintptr_t)sums % 256 != 0 || job->threads < 1 || job->stream != NULL) return "a bad job";
  for (int64_t i = 0; i < all(job); i++)
    sums[i] = (i > 0 ? sums[i - 1] : 0) + ((const float *)job->arrays[0].data)[i];
  memcpy(out(job), sums, room(job));
  return NULL;
}
static const char *spoils_scratch(const rung_lab_job *job) {
  ((char *)job->scratch)[room(job)] = 1;
  return uses_scratch(job);
}
static const char *other_jobs(const rung_lab_job *job) {
  if (job->arrays[0].data != NULL) return "asked with data";
  return rung_lab_is(job, "op", "sum") && rung_lab_number(job, "exclusive", 1) == 0 &&
         rung_lab_number(job, "lines", 1) == 1 && rung_lab_number(job, "inner", 1) == 1 &&
         rung_lab_is(job, "data", "random") ? NULL : "another job";
}
#define SCAN(function) \
  .size = sizeof(rung_lab_kernel), .operation = "scan", .types = "f32", \
  .order = RUNG_LAB_OTHER_ORDER, .launch = function, .refuses = other_jobs
RUNG_LAB_KERNELS = {{SCAN(fails), .name = "fails"},
                    {SCAN(writes_nothing), .name = "writes-nothing"},
                    {SCAN(writes_nan), .name = "writes-nan"},
                    {SCAN(goes_beyond), .name = "goes-beyond"},
                    {SCAN(changes_input), .name = "changes-input"},
                    {SCAN(is_off), .name = "is-off"},
                    {SCAN(uses_scratch), .name = "uses-scratch", .scratch_bytes = room},
                    {SCAN(spoils_scratch), .name = "spoils-scratch", .scratch_bytes = room},
                    {0}};
C
made wrong wrong.c
expect 1 - "$RUNG" bench scan --device cpu --kernels wrong.so --sizes n=1000 --samples 1 --hot --quiet \
  --rung fails,writes-nothing,writes-nan,goes-beyond,changes-input,is-off,uses-scratch,spoils-scratch
while IFS='|' read -r kernel verdict; do
  grep -qE "^$kernel .* $verdict" stdout || fail "$kernel is not '$verdict': $(cat stdout)"
done <<'TABLE'
fails|launch-failed: fails: no way
writes-nothing|unwritten: 
writes-nan|nan: 
goes-beyond|overrun: 
changes-input|overrun: 
is-off|wrong: 
uses-scratch|good
spoils-scratch|overrun: 
TABLE
# Jobs that it refuses are told apart from those it fails.
expect 0 - "${verify[@]}" scan --kernels wrong.so --rung uses-scratch
prints 'uses-scratch      ok'
prints 'not supported'

# What a taps' kernel is to know, and what a stencil's.
cat >numbers.c <<'C'
#include <rung/lab.h>
static const char *one_tap(const rung_lab_job *job) {
  const DLTensor *in = &job->arrays[0], *out = &job->arrays[1];
  if (job->number_count != 1 || job->numbers == NULL) return "no tap";
  for (int64_t i = 0; i < in->shape[0] * in->shape[1]; i++)
    ((float *)out->data)[i] = ((const float *)in->data)[i] * (float)job->numbers[0] + 0.0f;
  return NULL;
}
static const char *no_step(const rung_lab_job *job) {
  const DLTensor *in = &job->arrays[0], *out = &job->arrays[1];
  if (job->number_count != 2 * rung_lab_number(job, "radius", -1) + 1) return "no weights";
  memcpy(out->data, in->data, (size_t)(in->shape[0] * in->shape[1]) * sizeof(float));
  return NULL;
}
static const char *more(const rung_lab_job *job) {
  if (rung_lab_is(job, "rows", "own") || job->arrays[2].ndim != 0) return "no input, or means";
  return rung_lab_number(job, "p", 0) == 0 ? NULL : "it makes no step";
}
static const char *larger(const rung_lab_job *job) {
  return rung_lab_number(job, "kernel", 0) == 1 ? NULL : "it knows one tap";
}
RUNG_LAB_KERNELS = {
    {.size = sizeof(rung_lab_kernel), .operation = "correlate", .name = "one-tap", .types = "f32",
     .launch = one_tap, .refuses = larger},
    {.size = sizeof(rung_lab_kernel), .operation = "stencil", .name = "no-step", .types = "f32",
     .launch = no_step, .refuses = more},
    {0}};
C
made numbers numbers.c
for job in 'correlate one-tap height=7 width=9 kernel=1 columns=1' 'stencil no-step n=5 m=9 p=0'; do
  read -r operation kernel line <<<"$job"
  expect 0 - "$RUNG" bench "$operation" --device cpu --kernels numbers.so --rung "$kernel" \
    --sizes "$line" --samples 1 --hot --quiet
  grep -qE "^$kernel .* good" stdout || fail "$kernel is not good: $(cat stdout)"
done

# Tables that are not as they should be, and files that are none.
while IFS='|' read -r rows words; do
  table bad "$rows"
  expect 2 "$words" "${verify[@]}" scan --kernels bad.so
done <<'TABLE'
{ROW, .size = 8}, {0}|kernel 0: size is 8; expected: sizeof(rung_lab_kernel)
{ROW}, {ROW, .name = "b", .size = 5}|kernel 1: size is 5; expected
{0}|its table rung_kernels is empty; expected
{ROW, .operation = "sort"}, {0}|kernel 0: operation is "sort"; expected: reduce, scan
{ROW, .operation = NULL}, {0}|kernel 0: operation is NULL; expected
{ROW, .name = NULL}, {0}|kernel 0: name is NULL; expected
{ROW, .name = ""}, {0}|kernel 0: name is ""; expected
{ROW, .name = "my own"}, {0}|kernel 0: name is "my own"; expected
{ROW, .name = "a-name-of-more-than-31-characters"}, {0}|expected: 1 to 31 letters
{ROW, .name = "serial"}, {0}|kernel 0: name is "serial"; expected: one that no rung
{ROW}, {ROW}, {0}|kernel 1: name is "mine"; expected
{ROW, .device = "gpu"}, {0}|kernel 0: device is "gpu"; expected: cpu or cuda
{ROW, .types = "f32,f31"}, {0}|kernel 0: types is "f32,f31"; expected
{ROW, .types = ""}, {0}|kernel 0: types is ""; expected
{ROW, .launch = NULL}, {0}|kernel 0: launch is NULL; expected: a function
{ROW, .order = (rung_lab_order)7}, {0}|kernel 0: order is 7; expected
TABLE
many=
for letter in a b c d e f g h i j k l m n o p q; do many="$many{ROW, .name = \"$letter\"}, "; done
table bad "$many{0}"
expect 2 'more than 16 kernels' "${verify[@]}" scan --kernels bad.so
table gpu '{ROW, .device = "cuda"}, {0}'
expect 2 'no kernel of reduce' "${verify[@]}" reduce --kernels gpu.so
expect 2 'nothing was verified' "${verify[@]}" scan --kernels gpu.so --rung mine
expect 3 'cannot be loaded' "${verify[@]}" scan --kernels none.so
expect 3 'cannot be loaded' "${verify[@]}" scan --kernels wrong.c
expect 3 'cannot be loaded' "${verify[@]}" scan --kernels "$(printf '%05000d' 0)"
echo 'int other;' >other.c
made other other.c
expect 3 'has no table rung_kernels' "${verify[@]}" scan --kernels other.so
finish
