/* What a report comes to, in words: a sentence an operation on a device, which leads to its
 * section, and behind it one a job. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"

/* A time that is too short is no wrong result: a busy minute makes such peaks. */
typedef struct tally {
  int verified, failed, too_fast;
} tally;

static tally tally_of(const report *r) {
  tally all = {0};
  for (int i = 0; i < r->records->count; i++)
    for (int k = 0; k < r->records->cases[i].count; k++) {
      const lab_read_candidate *c = &r->records->cases[i].candidates[k];
      const bool too_fast = strcmp(c->finding, "too-fast") == 0;
      if (strcmp(c->finding, "unsupported") == 0) continue;
      all.verified++;
      all.too_fast += too_fast;
      all.failed += !c->good && !too_fast;
    }
  return all;
}

/* ---- a job -------------------------------------------------------------------------------- */

static bool is_beside(const lab_read_candidate *c) {
  return c->peer && c->good && !c->program;
}

static void say_job(const report *r, const report_group *group) {
  const lab_read_case *of = report_largest(group);
  const lab_read_candidate *best = lab_read_best(of), *rungs[REPORT_RUNGS];
  char room[32];
  if (!best) return;
  const int count = report_rungs(of, rungs);
  fprintf(r->to, "<li><a href=\"#g%d\">", (int)(group - r->groups));
  report_job(r, of);
  fputs("</a>: <code>", r->to);
  html_text(r, best->rung);
  fprintf(r->to, "</code> takes %s", cli_time(best->time.median, room));
  if (report_gain(of) > 1)
    fprintf(r->to, ", %.3g times as fast as the first rung", report_gain(of));
  if (lab_read_part(of, best) >= 0.01)
    fprintf(r->to, ", %.0f %% of the peak", 100 * lab_read_part(of, best));
  for (int k = 0; k < count; k++)
    if (is_beside(rungs[k])) {
      fprintf(r->to, "; %.2f times as fast as ", rungs[k]->time.median / best->time.median);
      html_text(r, rungs[k]->peer);
    }
  fputs(".</li>\n", r->to);
}

/* ---- an operation ------------------------------------------------------------------------- */

enum { PEERS = 8 }; /* named in a sentence; the tables have all */

/* How many times as fast as a peer, from job to job. */
typedef struct ratios {
  const char *peer;
  double least, most;
  int jobs, behind;
} ratios;

static void add_ratio(ratios *list, int *count, const char *peer, double ratio) {
  int at = 0;
  while (at < *count && strcmp(list[at].peer, peer) != 0) at++;
  if (at == PEERS) return;
  if (at == *count) list[(*count)++] = (ratios){.peer = peer, .least = NAN, .most = NAN};
  report_range(&list[at].least, &list[at].most, ratio);
  list[at].jobs++;
  list[at].behind += ratio < 1;
}

/* Every case of a group is a job. */
static int ratios_of(const report_group *groups, int count, ratios list[PEERS]) {
  const lab_read_candidate *rungs[REPORT_RUNGS];
  int peers = 0;
  for (int g = 0; g < count; g++)
    for (int i = 0; i < groups[g].count; i++) {
      const lab_read_case *of = groups[g].cases[i];
      const lab_read_candidate *best = lab_read_best(of);
      const int known = best ? report_rungs(of, rungs) : 0;
      for (int k = 0; k < known; k++)
        if (is_beside(rungs[k]))
          add_ratio(list, &peers, rungs[k]->peer, rungs[k]->time.median / best->time.median);
    }
  return peers;
}

static void say_range(const report *r, double least, double most) {
  if (most - least < 0.005)
    fprintf(r->to, "%.2f", most);
  else
    fprintf(r->to, "%.2f to %.2f", least, most);
}

static int jobs_of(const report_group *groups, int count) {
  int jobs = 0;
  for (int g = 0; g < count; g++) jobs += groups[g].count;
  return jobs;
}

static void say_peak(const report *r, const report_group *groups, int count) {
  double least = NAN, most = NAN;
  for (int g = 0; g < count; g++)
    for (int i = 0; i < groups[g].count; i++) {
      const lab_read_case *of = groups[g].cases[i];
      const lab_read_candidate *best = lab_read_best(of);
      if (best) report_range(&least, &most, 100 * lab_read_part(of, best));
    }
  if (isnan(most)) return;
  fprintf(r->to, "; the fastest rung reaches %s%.0f %% of the peak",
          jobs_of(groups, count) > 1 ? "up to " : "", most);
}

/* Groups of one operation on devices of one name. */
static void say_operation(const report *r, int from, int to) {
  const report_group *groups = &r->groups[from];
  const int count = to - from, jobs = jobs_of(groups, count);
  ratios list[PEERS];
  const int peers = ratios_of(groups, count, list);
  fputs("<li><b>", r->to);
  html_text(r, groups->cases[0]->operation);
  fputs("</b> on ", r->to);
  html_text(r, report_device(groups->cases[0]));
  fprintf(r->to, ": %d job%s", jobs, jobs == 1 ? "" : "s");
  say_peak(r, groups, count);
  for (int p = 0; p < peers; p++) {
    fputs("; ", r->to);
    say_range(r, list[p].least, list[p].most);
    fputs(" times as fast as ", r->to);
    html_text(r, list[p].peer);
    if (list[p].behind > 0) fprintf(r->to, " (slower in %d of %d)", list[p].behind, list[p].jobs);
  }
  fputs(count == 1 ? ".\n<ul>\n" : ".\n<details><summary>Job by job</summary><ul>\n", r->to);
  for (int g = from; g < to; g++) say_job(r, &r->groups[g]);
  fputs(count == 1 ? "</ul></li>\n" : "</ul></details></li>\n", r->to);
}

/* The first group behind those of one operation on devices of one name. */
static int operation_end(const report *r, int group) {
  const lab_read_case *of = r->groups[group].cases[0];
  while (group < r->count && strcmp(r->groups[group].cases[0]->operation, of->operation) == 0 &&
         report_same_name(r->groups[group].cases[0], of))
    group++;
  return group;
}

void report_words(const report *r) {
  const tally all = tally_of(r);
  fputs("<section id=\"words\"><h2>In words</h2>\n<p>", r->to);
  fprintf(r->to, "%d results, each verified before and after it was timed: ", all.verified);
  if (all.failed == 0)
    fputs("all of them good.", r->to);
  else
    fprintf(r->to, "<strong>%d failed</strong>; the tables say why.", all.failed);
  if (all.too_fast > 0)
    fprintf(r->to, " Times not believed, for they are shorter than the measured peaks allow: %d.",
            all.too_fast);
  fputs(" <a href=\"#machines\">On which machines</a>.</p>\n", r->to);
  if (!r->charts)
    fputs(
        "<p>There are no charts, for gnuplot is not installed here (Debian: gnuplot-nox); the "
        "tables have all numbers.</p>\n",
        r->to);
  fputs("<ul>\n", r->to);
  for (int g = 0, next; g < r->count; g = next) {
    next = operation_end(r, g);
    say_operation(r, g, next);
  }
  fputs("</ul></section>\n", r->to);
}
