/* Any bytes as a line of small numbers for the case of an operation, whatever keys it has: refused
 * with a sentence, or every rung of the CPU makes of it what the references say. */
#include "fuzz/fuzz.h"
#include "lab/lab.h"

enum { WORK = 500, LONG = 100 };

/* A default that would take long is not left to stand. */
static bool is_long(const rung_key *key) {
  return key->kind == RUNG_KEY_INTEGER && key->otherwise > LONG && key->otherwise < 1e6;
}

/* A key's value within its range; the integers of a line multiply to WORK at most. */
static int put_value(fuzz_input *input, const rung_key *key, int64_t *work, char *to, size_t room) {
  static const double reals[] = {0, 1, 0.5, 0.1, -1, 3, 7.25, 100};
  const char *const *names = key->names_of ? key->names_of() : key->names;
  int count = 0;
  switch (key->kind) {
    case RUNG_KEY_INTEGER: {
      const int64_t drawn = (int64_t)(fuzz_byte(input) << 8 | fuzz_byte(input)) % *work;
      const double value = key->least + (double)drawn;
      if (drawn > 0) *work /= drawn;
      *work += *work == 0;
      return snprintf(to, room, " %s=%.0f", key->name, value > key->most ? key->most : value);
    }
    case RUNG_KEY_REAL:
      return snprintf(to, room, " %s=%.17g", key->name, reals[fuzz_pick(input, 8)]);
    default:
      while (names[count] != NULL) count++;
      return snprintf(to, room, " %s=%s", key->name, names[fuzz_pick(input, count)]);
  }
}

static void make_line(fuzz_input *input, const rung_key *keys, char *line, size_t room) {
  int64_t work = WORK;
  size_t used = 0;
  line[0] = '\0';
  for (const rung_key *key = keys; key->name != NULL && used < room; key++)
    if (fuzz_pick(input, 4) > 0 || is_long(key))
      used += (size_t)put_value(input, key, &work, line + used, room - used);
}

static void verify(const rung_case *test_case, int threads) {
  const rung_options options = {.device = "cpu", .threads = threads};
  rung_context *context;
  lab_fixture *fixture = NULL;
  rung_error error = {0};
  if (rung_open(&context, &options) != RUNG_OK ||
      lab_fixture_open(context, test_case, &fixture, &error) != RUNG_OK)
    fuzz_wrong("%s %s", rung_last_error(context), error.sentence);
  for (int r = 0; r < test_case->operation->count; r++) {
    const rung_row *row = &test_case->operation->rows[r];
    lab_verdict verdict;
    if (row->family != RUNG_ON_CPU) continue;
    lab_verify(fixture, row, 0, &verdict);
    if (verdict.finding != LAB_GOOD && verdict.finding != LAB_UNSUPPORTED)
      fuzz_wrong("%s of \"%s\": %s", row->name, test_case->label, verdict.sentence);
  }
  lab_fixture_close(fixture);
  rung_close(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input input = {data, size};
  int operations = 0;
  while (rung_all_cases[operations] != NULL) operations++;
  const rung_cases *cases = rung_all_cases[fuzz_pick(&input, operations)];
  const int threads = 1 + fuzz_pick(&input, 4), seed = fuzz_byte(&input);
  char line[512];
  rung_case test_case;
  rung_error error = {0};
  make_line(&input, cases->keys, line, sizeof line);
  if (cases->make(line, (uint64_t)seed, &test_case, &error) != RUNG_OK) {
    if (error.sentence[0] == '\0') fuzz_wrong("\"%s\" is refused without a sentence", line);
    return 0;
  }
  if (cases->expect(&test_case, &error) != RUNG_OK) fuzz_wrong("\"%s\": %s", line, error.sentence);
  verify(&test_case, threads);
  cases->drop(&test_case);
  return 0;
}
