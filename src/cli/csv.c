/* Records as CSV: a row a candidate, one value a column. docs/RECORDS.md says what columns hold. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"

enum { KEYS = 64 };

/* The names of all jobs' keys, in the order they were met. */
typedef struct keys {
  const char *names[KEYS];
  int count;
} keys;

static void add_keys(const json_t *lines, keys *to) {
  for (size_t i = 0; i < json_array_size(lines); i++) {
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(json_array_get(lines, i), "job"), key, value) {
      int k = 0;
      while (k < to->count && strcmp(to->names[k], key) != 0) k++;
      if (k == to->count && k < KEYS) to->names[to->count++] = key;
    }
  }
}

/* ---- fields --------------------------------------------------------------------------------- */

void csv_text(FILE *to, const char *text) {
  fputc(',', to);
  if (!strpbrk(text, ",\"\r\n")) {
    fputs(text, to);
  } else {
    fputc('"', to);
    for (; *text; text++) fprintf(to, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', to);
  }
}

void csv_number(FILE *to, double value) {
  fputc(',', to);
  if (isfinite(value)) fprintf(to, "%.15g", value);
}

static void put_job(FILE *to, const lab_read_case *of, const keys *names) {
  for (int k = 0; k < names->count; k++) {
    const size_t length = strlen(names->names[k]);
    char value[RUNG_LABEL] = "";
    for (const char *at = of->label; at; at = strchr(at, ' '), at = at ? at + 1 : NULL)
      if (strncmp(at, names->names[k], length) == 0 && at[length] == '=')
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at + length + 1, " "), at + length + 1);
    csv_text(to, value);
  }
}

static void put_row(FILE *to, const lab_read_case *of, const lab_read_candidate *c,
                    const keys *names) {
  const double seconds = c->good ? 1e-3 * c->time.median : NAN;
  fputs(of->operation, to);
  csv_text(to, lab_read_text(of->device, "name"));
  put_job(to, of, names);
  csv_text(to, of->caches);
  csv_text(to, c->rung);
  csv_text(to, c->peer ? c->peer : "");
  csv_text(to, c->order);
  csv_number(to, c->block > 0 ? c->block : NAN);
  csv_number(to, c->time.median);
  csv_number(to, c->time.low);
  csv_number(to, c->time.high);
  csv_number(to, c->time.min);
  csv_number(to, c->time.q1);
  csv_number(to, c->time.q3);
  csv_number(to, c->time.max);
  csv_number(to, c->count);
  csv_text(to, c->stop);
  csv_number(to, of->bytes / seconds * 1e-9);
  csv_number(to, of->flops > 0 ? of->flops / seconds * 1e-9 : NAN);
  csv_number(to, lab_read_gain(of, c));
  csv_number(to, lab_read_part(of, c));
  csv_number(to, c->clock.median > 0 ? c->clock.median : NAN);
  csv_text(to, c->finding);
  csv_text(to, c->sentence);
  csv_text(to, c->bits ? c->bits : "");
  csv_number(to, of->load);
  csv_number(to, of->others);
  csv_text(to, of->date);
  csv_text(to, of->memory);
  csv_number(to, c->launches > 0 ? c->launches : NAN);
  csv_number(to, c->launches > 1 ? c->apart : NAN);
  fputc('\n', to);
}

static void put_all(FILE *to, const lab_records *records) {
  keys names = {.count = 0};
  add_keys(records->lines, &names);
  fputs("operation,device", to);
  for (int k = 0; k < names.count; k++) csv_text(to, names.names[k]);
  fputs(
      ",caches,rung,peer,order,block,median_ms,median_low_ms,median_high_ms,min_ms,q1_ms,q3_ms,"
      "max_ms,samples,stop,gb_per_s,gflop_per_s,gain,part_of_peak,clock_mhz,verdict,sentence,bits,"
      "load,others,date,memory,launches,launch_spread\n",
      to);
  for (int i = 0; i < records->count; i++)
    for (int k = 0; k < records->cases[i].count; k++)
      put_row(to, &records->cases[i], &records->cases[i].candidates[k], &names);
}

rung_status csv_write(const char *path, const json_t *lines, rung_error *error) {
  char *text = lab_record_text(lines);
  if (!text) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the records");
  lab_records records = {0};
  file_replace out = {0};
  rung_status status = lab_read(&records, "the record", text, strlen(text), error);
  if (!status) status = file_replace_begin(&out, path, error);
  if (!status) put_all(out.stream, &records);
  if (!status) status = file_replace_commit(&out, error);
  file_replace_abandon(&out);
  lab_records_free(&records);
  free(text);
  return status;
}
