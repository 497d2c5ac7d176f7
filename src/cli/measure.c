#include "cli/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
  if (part < 0.001) return "< 0.1";
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

/* ---- what disturbed it ---------------------------------------------------------------------- */

/* A clock that far below the highest seen is worth saying. */
static const double clock_least = 0.95;

/* The candidate that ran at the lowest clock, where that is low; *highest: any sample's. */
static const lab_candidate *slowed(const lab_bench *m, double *highest) {
  const lab_candidate *lowest = NULL;
  *highest = 0;
  for (int i = 0; i < m->count; i++) {
    const lab_candidate *c = &m->candidates[i];
    if (c->count == 0 || !(c->clock.median > 0)) continue;
    *highest = fmax(*highest, c->clock.max);
    if (!lowest || c->clock.median < lowest->clock.median) lowest = c;
  }
  return lowest && lowest->clock.median < clock_least * *highest ? lowest : NULL;
}

const char *measure_disturbed(const lab_bench *m, char *text, size_t room) {
  double highest;
  const lab_candidate *slow = slowed(m, &highest);
  lab_watch_text(&m->disturbed, (int)sysconf(_SC_NPROCESSORS_ONLN), text, room);
  const size_t used = strlen(text);
  if (slow)
    snprintf(text + used, room - used, "%s%s ran at %.0f MHz, and %.0f were seen",
             used > 0 ? "; " : "", slow->row->name, slow->clock.median, highest);
  return text;
}

static void print_disturbed(FILE *to, const lab_bench *m) {
  char text[256];
  if (measure_disturbed(m, text, sizeof text)[0])
    fprintf(to, "meanwhile %s: times may be too long\n", text);
}

/* ---- tables --------------------------------------------------------------------------------- */

/* What a row has, as texts. */
typedef struct cells {
  char block[16], median[32], least[32], q3[32], gain[16], bytes[16], flops[16], part[16],
      clock[16], launches[16], apart[16];
} cells;

static const char *rate_text(double work, double milliseconds, char text[16]) {
  const double rate = work / milliseconds * 1e-6;
  if (!(rate > 0) || !isfinite(rate)) return "-";
  snprintf(text, 16, rate < 10 ? "%.2f" : rate < 100 ? "%.1f" : "%.0f", rate);
  return text;
}

static void keep(char *to, size_t room, const char *text) {
  if (text != to) snprintf(to, room, "%s", text);
}

static void fill(const lab_bench *m, const lab_candidate *c, cells *of) {
  const rung_case *job = &m->test_case;
  const double ms = c->time.median;
  keep(of->block, sizeof of->block, block_text(c->block, of->block));
  cli_time(ms, of->median);
  cli_time(c->time.min, of->least);
  cli_time(c->time.q3, of->q3);
  keep(of->gain, sizeof of->gain, gain_text(lab_bench_gain(m, c), of->gain));
  keep(of->bytes, sizeof of->bytes, rate_text(job->bytes, ms, of->bytes));
  keep(of->flops, sizeof of->flops, rate_text(job->flops, ms, of->flops));
  keep(of->part, sizeof of->part, part_text(lab_part_of_peak(&m->limit, c), of->part));
  snprintf(of->clock, sizeof of->clock, "-");
  if (c->clock.median > 0) snprintf(of->clock, sizeof of->clock, "%.0f", c->clock.median);
  snprintf(of->launches, sizeof of->launches, "%d", c->launches);
  snprintf(of->apart, sizeof of->apart, c->launches > 1 ? "%.1f %%" : "-", 100 * c->apart);
}

void measure_print(FILE *to, const lab_bench *m) {
  print_heading(to, m);
  const bool launched = m->rules.launches > 0;
  fprintf(to, "%-17s %5s %12s %25s %8s %8s %8s %7s %6s %s%7s %-12s %s\n", "rung", "block", "median",
          "[min, q3]", "gain", "GB/s", "GFLOP/s", "% peak", "MHz",
          launched ? "launches   apart " : "", "samples", "stopped", "verdict");
  for (int i = 0; i < m->count; i++) {
    const lab_candidate *c = &m->candidates[i];
    const lab_verdict *verdict = lab_candidate_verdict(c);
    char range[80];
    cells of;
    fill(m, c, &of);
    fprintf(to, "%-17s %5s ", c->row->name, of.block);
    if (c->count == 0) {
      fprintf(to, "%s%s%s: %s\n", colour_of(to, verdict->finding),
              lab_finding_name(verdict->finding), cli_colour(to, CLI_PLAIN), verdict->sentence);
      continue;
    }
    snprintf(range, sizeof range, "[%s, %s]", of.least, of.q3);
    fprintf(to, "%12s %25s %8s %8s %8s %7s %6s ", of.median, range, of.gain, of.bytes, of.flops,
            of.part, of.clock);
    if (launched) fprintf(to, "%8s %7s ", of.launches, of.apart);
    fprintf(to, "%7d %-12s %s%s%s%s%s\n", c->count, lab_stop_text(c->stop),
            colour_of(to, verdict->finding), lab_finding_name(verdict->finding),
            cli_colour(to, CLI_PLAIN), verdict->sentence[0] ? ": " : "", verdict->sentence);
  }
  print_peers(to, m);
  print_disturbed(to, m);
}

/* A bar would end the cell. */
static void print_cell(FILE *to, const char *text) {
  fputs(" ", to);
  for (; *text; text++) fprintf(to, *text == '|' ? "\\|" : "%c", *text);
  fputs(" |", to);
}

void measure_markdown(FILE *to, const lab_bench *m) {
  char text[32];
  fprintf(to, "**%s** on %s, `%s`; peak %s, bound by %s%s%s; caches %s\n\n",
          m->test_case.operation->name, m->context->device.name, m->test_case.label,
          cli_time(m->limit.ms, text), m->limit.level, m->limit.level[0] ? " " : "", m->limit.bound,
          m->limit.caches);
  const bool launched = m->rules.launches > 0;
  fprintf(
      to,
      "| rung | block | median | min | q3 | gain | GB/s | GFLOP/s | %% of peak | MHz |%s samples "
      "| stopped | verdict |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|%s--:|---|---|\n",
      launched ? " launches | apart |" : "", launched ? "--:|--:|" : "");
  for (int i = 0; i < m->count; i++) {
    const lab_candidate *c = &m->candidates[i];
    const lab_verdict *verdict = lab_candidate_verdict(c);
    char samples[16], found[RUNG_SENTENCE + 32];
    cells of;
    fill(m, c, &of);
    snprintf(samples, sizeof samples, "%d", c->count);
    snprintf(found, sizeof found, "%s%s%s", lab_finding_name(verdict->finding),
             verdict->sentence[0] ? ": " : "", verdict->sentence);
    const char *const row[] = {c->row->name, of.block, of.median,
                               of.least,     of.q3,    of.gain,
                               of.bytes,     of.flops, of.part,
                               of.clock,     samples,  c->count ? lab_stop_text(c->stop) : "-",
                               found};
    fputc('|', to);
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
      if (k == 10 && launched) print_cell(to, of.launches);
      if (k == 10 && launched) print_cell(to, of.apart);
      print_cell(to, row[k]);
    }
    fputc('\n', to);
  }
  fputc('\n', to);
  print_peers(to, m);
  print_disturbed(to, m);
  fputc('\n', to);
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
  print_disturbed(to, m);
}

void measure_command(int argc, char **argv, char command[MEASURE_COMMAND]) {
  size_t used = (size_t)snprintf(command, MEASURE_COMMAND, "rung");
  for (int i = 0; i < argc && used < MEASURE_COMMAND; i++)
    if (strcmp(argv[i], "--resume") != 0)
      used += (size_t)snprintf(command + used, MEASURE_COMMAND - used,
                               strchr(argv[i], ' ') ? " \"%s\"" : " %s", argv[i]);
}

rung_status measure_records(const json_t *lines, rung_error *error) {
  char *text = lab_record_text(lines);
  if (!text) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the records");
  const bool written = fputs(text, stdout) >= 0;
  free(text);
  if (written) return RUNG_OK;
  return rung_fail(error, RUNG_FILE_FAILED, "the records cannot be written");
}
