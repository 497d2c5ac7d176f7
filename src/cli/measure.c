#include "cli/measure.h"

#include <math.h>

#include "peers/peers.h"

static const lab_peers peers = {
    .of = rung_peers_of, .begin = rung_peers_begin, .end = rung_peers_end};

rung_status measure_open(lab_bench_set_up *set_up, const cli_common *common, const char *device,
                         cli_progress *progress, bool with_peers, rung_error *error) {
  rung_close(set_up->context);
  set_up->context = NULL;
  set_up->has_peaks = false;
  set_up->peers = with_peers ? &peers : NULL;
  set_up->progress = cli_progress_show;
  set_up->to = progress;
  return cli_open(common, device, &set_up->context, error);
}

/* ---- printing ----------------------------------------------------------------------------- */

static const char *colour_of(FILE *to, lab_finding finding) {
  if (finding == LAB_UNSUPPORTED) return "";
  return cli_colour(to, finding == LAB_GOOD ? CLI_GREEN : CLI_RED);
}

static const char *block_text(int block, char text[16]) {
  snprintf(text, 16, "%d", block);
  return block > 0 ? text : "-";
}

static const char *part_text(double part, char text[16]) {
  if (isnan(part)) return "-";
  snprintf(text, 16, "%.1f", 100 * part);
  return text;
}

static const char *gain_text(double gain, char text[16]) {
  if (isnan(gain)) return "-";
  snprintf(text, 16, gain < 10 ? "%.2f x" : "%.1f x", gain);
  return text;
}

static void print_heading(FILE *to, const lab_bench *m) {
  char text[32];
  fprintf(to, "%s%s on %s%s: %s\n", cli_colour(to, CLI_BOLD), m->test_case.operation->name,
          m->context->device.name, cli_colour(to, CLI_PLAIN), m->test_case.label);
  fprintf(to, "peak: %s, bound by %s%s%s; caches %s\n", cli_time(m->limit.ms, text), m->limit.level,
          m->limit.level[0] ? " " : "", m->limit.bound, m->limit.caches);
}

/* Ours against every peer, the same samples. */
static void print_peers(FILE *to, const lab_bench *m) {
  for (int i = 0; i < m->count; i++) {
    const lab_candidate *c = &m->candidates[i], *best = lab_bench_against(m, c);
    if (c->row->peer && lab_candidate_good(c) && best && best != c)
      fprintf(to, "%s against %s (%s): %.3g times as fast\n", best->row->name, c->row->name,
              c->row->peer, c->time.median / best->time.median);
  }
}

void measure_print(FILE *to, const lab_bench *m) {
  print_heading(to, m);
  fprintf(to, "%-17s %5s %12s %25s %8s %7s %6s %7s %-12s %s\n", "rung", "block", "median",
          "[min, q3]", "gain", "% peak", "MHz", "samples", "stopped", "verdict");
  for (int i = 0; i < m->count; i++) {
    const lab_candidate *c = &m->candidates[i];
    const lab_verdict *verdict = lab_candidate_verdict(c);
    char block[16], median[32], least[32], q3[32], gain[16], part[16], range[80], clock[16] = "-";
    fprintf(to, "%-17s %5s ", c->row->name, block_text(c->block, block));
    if (c->count == 0) {
      fprintf(to, "%s%s%s: %s\n", colour_of(to, verdict->finding),
              lab_finding_name(verdict->finding), cli_colour(to, CLI_PLAIN), verdict->sentence);
      continue;
    }
    snprintf(range, sizeof range, "[%s, %s]", cli_time(c->time.min, least),
             cli_time(c->time.q3, q3));
    if (c->clock.median > 0) snprintf(clock, sizeof clock, "%.0f", c->clock.median);
    fprintf(to, "%12s %25s %8s %7s %6s %7d %-12s %s%s%s%s%s\n", cli_time(c->time.median, median),
            range, gain_text(lab_bench_gain(m, c), gain),
            part_text(lab_part_of_peak(&m->limit, c), part), clock, c->count,
            lab_stop_text(c->stop), colour_of(to, verdict->finding),
            lab_finding_name(verdict->finding), cli_colour(to, CLI_PLAIN),
            verdict->sentence[0] ? ": " : "", verdict->sentence);
  }
  print_peers(to, m);
}

void measure_bars(FILE *to, const lab_bench *m) {
  enum { BAR = 24 };
  print_heading(to, m);
  fprintf(to, "  %-17s %12s %9s %7s\n", "rung", "median", "gain", "% peak");
  for (int i = 0; i < m->count; i++) {
    const lab_candidate *c = &m->candidates[i];
    const lab_verdict *verdict = lab_candidate_verdict(c);
    char median[32], gain[16], part[16], bar[BAR + 1] = "";
    if (!lab_candidate_good(c)) {
      fprintf(to, "  %-17s %s%s%s: %s\n", c->row->name, colour_of(to, verdict->finding),
              lab_finding_name(verdict->finding), cli_colour(to, CLI_PLAIN), verdict->sentence);
      continue;
    }
    const double reached = lab_part_of_peak(&m->limit, c);
    const int full = isnan(reached) ? 0 : (int)lrint(BAR * reached);
    for (int k = 0; k < full; k++) bar[k] = '#';
    fprintf(to, "  %-17s %12s %9s %7s %s\n", c->row->name, cli_time(c->time.median, median),
            gain_text(lab_bench_gain(m, c), gain), part_text(reached, part), bar);
  }
}
