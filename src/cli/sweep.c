/* Lists and ranges of values: "n=1e3,2^10..2^20 type=f32,f64" is many jobs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "lab/line.h"

enum { LINE = 512, VALUE = 64, VALUES_MOST = 4096, JOBS_MOST = 4096 };

/* ---- one value ------------------------------------------------------------------------------ */

typedef struct range {
  int64_t first, last, factor, step; /* factor 0: steps are added */
} range;

/* FIRST..LAST, FIRST..LAST*FACTOR or FIRST..LAST+STEP, whole numbers, rising. */
static bool range_of(const char *text, const char *dots, range *found) {
  const char *end;
  *found = (range){.factor = 2};
  if (!rung_whole_number(text, &end, &found->first) || end != dots) return false;
  if (!rung_whole_number(dots + 2, &end, &found->last) || found->last < found->first) return false;
  if (*end == '*') {
    if (!rung_whole_number(end + 1, &end, &found->factor) || found->factor < 2) return false;
  } else if (*end == '+') {
    found->factor = 0;
    if (!rung_whole_number(end + 1, &end, &found->step) || found->step < 1) return false;
  }
  return *end == '\0' && (found->factor == 0 || found->first >= 1);
}

static bool next(const range *of, int64_t *at) {
  const bool over = of->factor ? __builtin_mul_overflow(*at, of->factor, at)
                               : __builtin_add_overflow(*at, of->step, at);
  return !over && *at <= of->last;
}

static rung_status each_of_range(const char *text, const range *of, cli_each *each, void *to,
                                 rung_error *error) {
  int64_t at = of->first;
  int count = 0;
  rung_status status;
  do {
    char one[VALUE];
    snprintf(one, sizeof one, "%" PRId64, at);
    if (++count > VALUES_MOST)
      return rung_fail(error, RUNG_BAD_ARGUMENT, "%.60s is a range of more than %d; expected: less",
                       text, VALUES_MOST);
    status = each(to, one, error);
  } while (!status && next(of, &at));
  return status;
}

/* One item of a list. */
static rung_status each_of_item(const char *item, cli_each *each, void *to, rung_error *error) {
  range found;
  const char *dots = strstr(item, "..");
  if (!dots) return each(to, item, error);
  if (!range_of(item, dots, &found))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "\"%.60s\" has no range that can be gone through; expected: FIRST..LAST of "
                     "whole numbers, rising, each twice the one before: 2^10..2^20; or in other "
                     "steps: 1..1000*10, 0..100+25",
                     item);
  return each_of_range(item, &found, each, to, error);
}

rung_status cli_each_value(const char *list, cli_each *each, void *to, rung_error *error) {
  rung_status status = RUNG_OK;
  for (const char *at = list; at && !status;) {
    char item[VALUE];
    const size_t length = strcspn(at, ",");
    if (length >= sizeof item)
      return rung_fail(error, RUNG_BAD_ARGUMENT, "\"%.60s...\" is too long for a value", at);
    memcpy(item, at, length);
    item[length] = '\0';
    if (length == 0)
      return rung_fail(error, RUNG_BAD_ARGUMENT,
                       "\"%.60s\" has a comma with nothing on one side of it; expected: values "
                       "with a comma between them",
                       list);
    status = each_of_item(item, each, to, error);
    at = at[length] == ',' ? at + length + 1 : NULL;
  }
  return status;
}

/* ---- one line ------------------------------------------------------------------------------- */

/* A line of which the words before `rest` are settled. */
typedef struct sweep {
  char settled[LINE];
  size_t used;
  const char *rest, *line;
  int *jobs;
  cli_each *each;
  void *to;
} sweep;

static rung_status settle(const sweep *before, rung_error *error);

static rung_status add_text(sweep *to, const char *text, size_t length, rung_error *error) {
  if (to->used + length >= sizeof to->settled)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "\"%.60s...\" is too long; expected: fewer than %d "
                     "characters",
                     to->line, LINE);
  memcpy(to->settled + to->used, text, length);
  to->used += length;
  to->settled[to->used] = '\0';
  return RUNG_OK;
}

/* The line with one of a word's values. */
static rung_status with_value(void *to, const char *value, rung_error *error) {
  sweep one = *(const sweep *)to;
  const rung_status status = add_text(&one, value, strlen(value), error);
  return status ? status : settle(&one, error);
}

/* Settles the next word in each way there is. */
static rung_status settle(const sweep *before, rung_error *error) {
  static const char blanks[] = " \t\n\r";
  sweep now = *before;
  char word[LINE];
  const char *at = now.rest + strspn(now.rest, blanks);
  const size_t length = strcspn(at, blanks);
  if (length == 0) {
    if (++*now.jobs > JOBS_MOST)
      return rung_fail(error, RUNG_BAD_ARGUMENT,
                       "\"%.60s\" stands for more than %d jobs; expected: fewer", now.line,
                       JOBS_MOST);
    return now.each(now.to, now.settled, error);
  }
  if (length >= sizeof word) return add_text(&now, at, length, error);
  memcpy(word, at, length);
  word[length] = '\0';
  now.rest = at + length;
  char *value = strchr(word, '=');
  rung_status status = now.used > 0 ? add_text(&now, " ", 1, error) : RUNG_OK;
  if (status) return status;
  if (!value || (!strchr(value, ',') && !strstr(value, ".."))) {
    status = add_text(&now, word, length, error);
    return status ? status : settle(&now, error);
  }
  status = add_text(&now, word, (size_t)(++value - word), error);
  return status ? status : cli_each_value(value, with_value, &now, error);
}

rung_status cli_sweep(const char *line, cli_each *each, void *to, rung_error *error) {
  int jobs = 0;
  const sweep all = {.rest = line, .line = line, .jobs = &jobs, .each = each, .to = to};
  return settle(&all, error);
}
