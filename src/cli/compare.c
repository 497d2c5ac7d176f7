/* rung compare: is B as fast as A, with the same bits? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"

static const char verb[] = "compare";

/* Exit codes besides the command's own, for scripts to tell outcomes apart. */
static const int codes[LAB_OUTCOMES] = {[LAB_SAME] = CLI_DONE,
                                        [LAB_FASTER] = 10,
                                        [LAB_SLOWER] = 11,
                                        [LAB_UNSURE] = 12,
                                        [LAB_CLOCK] = 13};

typedef struct request {
  bool run;
  int64_t launches;
} request;

enum { RUN, LAUNCHES };
static const cli_option options[] = {
    {"run", 0, NULL, "A and B are commands that print records: launch them in turn"},
    {"launches", 0, "N", "launch each N times, an even number, 12 ... 512; default 16"},
    {0}};

static rung_status take(void *to, int index, const char *value, rung_error *error) {
  request *r = to;
  if (index == RUN) {
    r->run = true;
    return RUNG_OK;
  }
  const rung_status status =
      cli_int("--launches", value, 2 * LAB_BLOCKS_LEAST, 2 * LAB_BLOCKS_MOST, &r->launches, error);
  if (status || r->launches % 2 == 0) return status;
  return rung_fail(error, RUNG_BAD_ARGUMENT, "--launches '%.40s' is odd; expected: an even number",
                   value);
}

static const cli_usage usage = {
    .verb = verb,
    .synopsis = "A B | --run 'COMMAND A' 'COMMAND B' [OPTION]...",
    .about =
        "Two records, rung by rung: SAME, FASTER (B takes less time), SLOWER, UNSURE or CLOCK\n"
        "(the processor's clock was another), with the 95 % interval of the difference. A rung\n"
        "whose result has other bits fails. One run's own noise is not all there is: records of\n"
        "`rung bench --launches` know how far launches differ, and are held to it; --run\n"
        "launches two commands in turn, A B B A, and compares the launches. Records of two "
        "devices\n"
        "are compared, and it is said. The very same samples are SAME.\n"
        "Exit status: 0 all SAME, 1 a failure or other bits, 10 FASTER, 11 SLOWER, 12 UNSURE,\n"
        "13 CLOCK; of several the first of 1, 11, 13, 12, 10.",
    .example = "rung compare --run \"old/rung bench scan --json\" \"rung bench scan --json\"",
    .common = CLI_SEED | CLI_JSON,
    .options = options,
    .take = take,
    .least = 2,
    .most = 2};

/* ---- saying it ---------------------------------------------------------------------------- */

static const char *verdict_of(const compare_row *row) {
  return row->wrong ? "FAILED" : lab_outcome_name(row->found.outcome);
}

static double percent(double logarithm) {
  return 100 * expm1(logarithm);
}

/* Whether both records have launches, which then are compared. */
static bool of_launches(const compare_row *row) {
  return row->launches[0] > 1 && row->launches[1] > 1;
}

/* Whether A and B were measured on two devices. */
static bool elsewhere(const compare_row *row) {
  return strcmp(lab_read_text(row->of->device, "identity"),
                lab_read_text(row->b_of->device, "identity")) != 0;
}

/* What would settle it. */
static void print_more(const lab_judged *found) {
  if (found->outcome != LAB_UNSURE || isinf(found->time.low)) return;
  if (found->more <= 4 * LAB_BLOCKS_MOST)
    printf("; about %.0f more launches would settle it", found->more);
  else
    printf("; more than %d launches would settle it", 4 * LAB_BLOCKS_MOST);
}

static void print_row(const compare_row *row, int blocks) {
  char a[32], b[32];
  printf("%-7s ", verdict_of(row));
  cli_print(stdout, row->of->operation);
  putchar(' ');
  cli_print(stdout, row->of->label);
  fputs(", ", stdout);
  cli_print(stdout, row->a->rung);
  if (row->a->block > 0) printf(", block %d", row->a->block);
  fputs("\n        ", stdout);
  if (row->wrong) {
    cli_print(stdout, row->wrong);
    putchar('\n');
    return;
  }
  const lab_judged *found = &row->found;
  printf("%s -> %s, %+.1f %%", cli_time(row->a_ms, a), cli_time(row->b_ms, b),
         percent(found->time.estimate));
  if (isinf(found->time.low))
    printf(", too few %s for an interval", of_launches(row) ? "launches" : "samples");
  else
    printf(" [%+.1f, %+.1f]", percent(found->time.low), percent(found->time.high));
  printf(", margin %.1f %%", percent(found->margin));
  if (found->outcome == LAB_CLOCK) printf(", clock %+.1f %%", percent(row->clock));
  if (row->identical) fputs("; the very same samples", stdout);
  if (blocks > 0 || of_launches(row)) print_more(found);
  putchar('\n');
}

/* Of rows that were measured on two devices the first names both. */
static void print_devices(const compare *c) {
  const compare_row *first = NULL;
  int rows = 0;
  for (int r = c->count - 1; r >= 0; r--) {
    if (!elsewhere(&c->rows[r])) continue;
    first = &c->rows[r];
    rows++;
  }
  if (!first) return;
  printf("Two devices in %d of %d rows: A on ", rows, c->count);
  cli_print(stdout, lab_read_text(first->of->device, "identity"));
  fputs(", B on ", stdout);
  cli_print(stdout, lab_read_text(first->b_of->device, "identity"));
  fputs(". What differs may be theirs.\n", stdout);
}

static void print_identical(const compare *c) {
  int rows = 0;
  for (int r = 0; r < c->count; r++) rows += c->rows[r].identical && !c->rows[r].wrong;
  if (rows > 0)
    printf("%d of %d rows have the very same samples in A and B, one measurement twice: SAME.\n",
           rows, c->count);
}

static void print_summary(const compare *c) {
  int counts[LAB_OUTCOMES] = {0}, failed = 0, runs = 0;
  for (int r = 0; r < c->count; r++) {
    runs += !c->rows[r].wrong && !of_launches(&c->rows[r]);
    failed += c->rows[r].wrong != NULL;
    if (!c->rows[r].wrong) counts[c->rows[r].found.outcome]++;
  }
  printf("%d compared:", c->count);
  if (failed > 0) printf(" %d FAILED", failed);
  for (int o = 0; o < LAB_OUTCOMES; o++)
    if (counts[o] > 0) printf(" %d %s", counts[o], lab_outcome_name(o));
  if (c->only[0] + c->only[1] > 0) printf("; in A alone %d, in B alone %d", c->only[0], c->only[1]);
  putchar('\n');
  print_devices(c);
  print_identical(c);
  if (c->blocks > 0 || runs == 0) return;
  if (runs == c->count - failed)
    fputs("A run each", stdout);
  else
    printf("A run of A or B in %d rows", runs);
  fputs(
      ": how much launches differ is not in this; `rung bench --launches` or `rung compare --run` "
      "measures it.\n",
      stdout);
}

static json_t *row_json(const compare_row *row) {
  const lab_judged *found = &row->found;
  json_t *json = lab_object("{s:s, s:s, s:s, s:i, s:s, s:s?}", "operation", row->of->operation,
                            "job", row->of->label, "rung", row->a->rung, "block", row->a->block,
                            "verdict", verdict_of(row), "why", row->wrong);
  cli_set(&json, "other_device", json_boolean(elsewhere(row)));
  if (row->wrong) return json;
  cli_set(&json, "identical", json_boolean(row->identical));
  cli_set(&json, "a_ms", cli_real(row->a_ms));
  cli_set(&json, "b_ms", cli_real(row->b_ms));
  cli_set(&json, "a_launches", json_integer(row->launches[0]));
  cli_set(&json, "b_launches", json_integer(row->launches[1]));
  cli_set(&json, "ratio", cli_real(exp(found->time.estimate)));
  cli_set(&json, "low", cli_real(exp(found->time.low)));
  cli_set(&json, "high", cli_real(exp(found->time.high)));
  cli_set(&json, "margin", cli_real(found->margin));
  cli_set(&json, "clock_ratio", cli_real(exp(row->clock)));
  cli_set(&json, "more_launches", cli_real(found->more));
  return json;
}

static rung_status print_json(const compare *c, rung_error *error) {
  json_t *rows = json_array();
  for (int r = 0; r < c->count; r++) cli_append(&rows, row_json(&c->rows[r]));
  file_replace to = {.stream = stdout};
  return cli_results_json(
      &to,
      lab_object("{s:s, s:i, s:i, s:i, s:o}", "verb", verb, "launches", 2 * c->blocks, "only_a",
                 c->only[0], "only_b", c->only[1], "rows", rows),
      error);
}

static int code_of(const compare *c) {
  static const lab_outcome worst[] = {LAB_SLOWER, LAB_CLOCK, LAB_UNSURE, LAB_FASTER};
  for (int r = 0; r < c->count; r++)
    if (c->rows[r].wrong) return CLI_CHECK_FAILED;
  for (size_t w = 0; w < sizeof worst / sizeof *worst; w++)
    for (int r = 0; r < c->count; r++)
      if (c->rows[r].found.outcome == worst[w]) return codes[worst[w]];
  return codes[LAB_SAME];
}

int verb_compare(int argc, char **argv) {
  cli_common common;
  request r = {.launches = 16};
  int first, code;
  if (!cli_parse(&usage, argc, argv, &common, &r, &first, &code)) return code;
  const char *const names[] = {argv[first], argv[first + 1]};
  rung_error error = {0};
  compare c = {0};
  rung_status status = RUNG_OK;
  if (r.run) {
    status = compare_launch(&c, names, (int)r.launches / 2, common.seed, &common, &error);
  } else {
    for (int i = 0; i < 2 && !status; i++) status = lab_read_file(&c.records[i], names[i], &error);
    if (!status) status = compare_match(&c, names, &error);
    if (!status) status = compare_records(&c, &error);
  }
  if (!status && common.json) {
    status = print_json(&c, &error);
  } else if (!status) {
    for (int i = 0; i < c.count; i++) print_row(&c.rows[i], c.blocks);
    print_summary(&c);
  }
  code = status ? cli_end(verb, &error) : code_of(&c);
  compare_free(&c);
  return code;
}
