#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

enum { BAR = 30 };

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_progress_begin(cli_progress *progress, const cli_common *common) {
  const char *term = getenv("TERM");
  *progress = (cli_progress){.share = 1};
  progress->shown = !common->quiet && isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

void cli_progress_part(cli_progress *progress, double base, double share, const char *label) {
  progress->base = base;
  progress->share = share;
  snprintf(progress->label, sizeof progress->label, "%s", label);
  cli_progress_show(progress, 0, "");
}

/* At most ten times a second: a bar must not cost the work it reports on. */
void cli_progress_show(void *to, double done, const char *what) {
  cli_progress *progress = to;
  double now = progress->shown ? seconds_now() : 0;
  if (!progress->shown || (now - progress->last < 0.1 && done > 0)) return;
  progress->last = now;
  double all = progress->base + progress->share * done;
  int full = (int)(all * BAR);
  char bar[BAR + 1];
  for (int i = 0; i < BAR; i++) bar[i] = i < full ? '#' : '.';
  bar[BAR] = '\0';
  fprintf(stderr, "\r%s %3.0f %% %.12s %.24s\033[K", bar, 100 * all, progress->label, what);
  fflush(stderr);
}

void cli_progress_end(cli_progress *progress) {
  if (progress->shown) fprintf(stderr, "\r\033[K");
  progress->shown = false;
}
