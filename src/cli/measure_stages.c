/* The table of whole jobs, from host memory of one kind and back. */
#include <stdlib.h>

#include "cli/measure.h"

/* The median of a stage, as text; "-" where there is none. */
static const char *stage_text(const lab_candidate *c, lab_stage stage, char text[32]) {
  double *samples = c->count > 0 ? malloc((size_t)c->count * sizeof *samples) : NULL;
  if (!samples) return "-";
  for (int i = 0; i < c->count; i++) samples[i] = c->stages[i * LAB_STAGES + (int)stage];
  const lab_stats stats = lab_stats_of(samples, c->count);
  free(samples);
  return cli_time(stats.median, text);
}

static void print_row(FILE *to, const lab_candidate *c) {
  const lab_verdict *verdict = lab_candidate_verdict(c);
  char block[16] = "-", median[32], least[32], q3[32], range[80], stage[32];
  if (c->block > 0) snprintf(block, sizeof block, "%d", c->block);
  fprintf(to, "%-17s %5s ", c->row->name, block);
  if (c->count == 0 || !lab_candidate_good(c)) {
    fprintf(to, "%s: %s\n", lab_finding_name(verdict->finding), verdict->sentence);
    return;
  }
  snprintf(range, sizeof range, "[%s, %s]", cli_time(c->time.min, least), cli_time(c->time.q3, q3));
  fprintf(to, "%12s %25s", cli_time(c->time.median, median), range);
  for (lab_stage s = 0; s < LAB_STAGES; s++) fprintf(to, " %11s", stage_text(c, s, stage));
  fprintf(to, " %7d %s\n", c->count, lab_finding_name(verdict->finding));
}

void measure_stages(FILE *to, const lab_bench *m) {
  char text[256];
  fprintf(to, "%s%s on %s%s: %s\n", cli_colour(to, CLI_BOLD), m->test_case.operation->name,
          m->context->device.name, cli_colour(to, CLI_PLAIN), m->test_case.label);
  fprintf(to, "%s host memory, end to end: copy in, clear by a fill, kernel, copy out\n",
          lab_memory_name(m->rules.memory));
  fprintf(to, "%-17s %5s %12s %25s", "rung", "block", "end to end", "[min, q3]");
  for (lab_stage s = 0; s < LAB_STAGES; s++) fprintf(to, " %11s", lab_stage_name(s));
  fprintf(to, " %7s %s\n", "samples", "verdict");
  for (int i = 0; i < m->count; i++) print_row(to, &m->candidates[i]);
  if (measure_disturbed(m, text, sizeof text)[0])
    fprintf(to, "meanwhile %s: times may be too long\n", text);
}
