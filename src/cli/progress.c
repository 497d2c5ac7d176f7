/* Progress: one line on standard error, drawn by whoever does the work as it gets on, and, inside
 * one long call or a long read, by a thread that looks how far it is. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "files/ending.h"
#include "files/seen.h"
#include "lab/lab.h"

enum { BAR = 20, LINE = 160, TICK_NS = 100000000 };
static const double patience = 2;  /* seconds before a time left is told */
static const double between = 0.1; /* seconds: a bar must not cost the work it reports on */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows, and the line */
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static bool ticking;          /* the thread is there */
static cli_progress *watched; /* what it looks after; NULL: nothing */
static double began;          /* the work whose first part this step is, or belongs to */
static atomic_bool drawn;

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the line ------------------------------------------------------------------------------- */

static const char wipe[] = "\r\033[K";

static void wipe_on_signal(void) {
  if (atomic_load(&drawn) && write(STDERR_FILENO, wipe, sizeof wipe - 1) < 0) return;
}

/* "40 s left", "3 min left"; "" where it is too early to tell. */
static void time_left(double elapsed, double all, char *text, size_t size) {
  text[0] = '\0';
  if (elapsed < patience || !(all > 0.01)) return;
  const double left = elapsed * (1 - all) / all;
  if (left < 100)
    snprintf(text, size, ", %.0f s left", left);
  else
    snprintf(text, size, ", %.0f min left", left / 60);
}

static void put_line(const char *line) {
  const int columns = cli_columns(STDERR_FILENO);
  atomic_store(&drawn, true);
  fprintf(stderr, "\r%.*s\033[K", columns > 1 ? columns - 1 : LINE, line);
  fflush(stderr);
}

/* `all` of the work is done, of which nothing is told of the time left where `timed` is false. */
static void draw(cli_progress *progress, double all, bool timed, const char *what) {
  const double now = seconds_now();
  char bar[BAR + 1], left[32] = "", line[LINE];
  all = fmin(fmax(all, 0), 1);
  const int full = (int)(all * BAR);
  for (int i = 0; i < BAR; i++) bar[i] = i < full ? '#' : '.';
  bar[BAR] = '\0';
  if (timed) time_left(now - began, all, left, sizeof left);
  snprintf(line, sizeof line, "%s %3.0f %%%s %.12s %.40s", bar, floor(100 * all), left,
           progress->label, what);
  progress->last = now;
  put_line(line);
}

/* ---- long calls and reads ------------------------------------------------------------------- */

/* The part of the call that is done. A loop that comes after one that was seen is another pass:
 * how many there will be nobody knows, and so what is shown is the pass's own. */
static double look_inside(cli_progress *progress) {
  int64_t number = 0;
  double part = 0;
  lab_work(progress->context, &number, &part);
  if (number != progress->loop) {
    progress->passes += progress->seen;
    progress->seen = false;
    progress->loop = number;
  }
  progress->seen = progress->seen || part > 0;
  return part;
}

static void draw_call(cli_progress *progress) {
  char what[64];
  const double part = look_inside(progress);
  const bool one = progress->passes == 0;
  if (!progress->seen) return;
  snprintf(what, sizeof what, one ? "%.40s" : "%.40s pass %d", progress->what,
           progress->passes + 1);
  if (!one && progress->base + progress->share < 1) return; /* of several steps: as it was */
  draw(progress, progress->base + progress->share * part, one, what);
}

static void draw_read(cli_progress *progress) {
  int64_t all;
  char text[32], line[LINE];
  const int64_t bytes = seen_bytes(&all);
  if (all > 0) {
    draw(progress, (double)bytes / (double)all, true, progress->what);
  } else if (bytes > 0) {
    snprintf(line, sizeof line, "%s %s", progress->label, cli_bytes((double)bytes, text));
    put_line(line);
  }
}

static void *tick(void *unused) {
  (void)unused;
  pthread_mutex_lock(&lock);
  for (;;) {
    struct timespec next;
    if (!watched) {
      pthread_cond_wait(&turned, &lock);
      continue;
    }
    const cli_progress *const before = watched;
    clock_gettime(CLOCK_REALTIME, &next);
    next.tv_nsec += TICK_NS;
    next.tv_sec += next.tv_nsec / 1000000000;
    next.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&turned, &lock, &next);
    if (watched != before || !watched || !watched->inside) continue;
    if (watched->inside == CLI_INSIDE_CALL)
      draw_call(watched);
    else
      draw_read(watched);
  }
  return NULL;
}

/* Signals are for the program's first thread. Without a thread nothing is shown inside calls. */
static void start_ticking(void) {
  pthread_t thread;
  sigset_t all, before;
  if (ticking) return;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  ticking = pthread_create(&thread, NULL, tick, NULL) == 0;
  if (ticking) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* From now on the thread draws; from CLI_INSIDE_NOTHING on nothing is drawn but by those who work.
 */
static void look_after(cli_progress *progress, int inside, const rung_context *context) {
  if (!progress->shown) return;
  pthread_mutex_lock(&lock);
  progress->inside = inside;
  progress->context = context;
  progress->passes = 0;
  progress->seen = false;
  watched = inside ? progress : NULL;
  if (inside == CLI_INSIDE_CALL) look_inside(progress);
  if (inside) start_ticking();
  pthread_cond_signal(&turned);
  pthread_mutex_unlock(&lock);
}

/* ---- what verbs call ------------------------------------------------------------------------ */

void cli_progress_begin(cli_progress *progress, const cli_common *common) {
  const char *term = getenv("TERM");
  *progress = (cli_progress){.share = 1};
  progress->shown = !common->quiet && isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
  if (progress->shown) ending_undo(wipe_on_signal);
}

static void set_part(cli_progress *progress, double base, double share, const char *label) {
  if (progress->shown && base == 0) began = seconds_now();
  progress->base = base;
  progress->share = share;
  snprintf(progress->label, sizeof progress->label, "%s", label);
}

void cli_progress_part(cli_progress *progress, double base, double share, const char *label) {
  look_after(progress, CLI_INSIDE_NOTHING, NULL);
  set_part(progress, base, share, label);
  cli_progress_show(progress, 0, "");
}

void cli_progress_call(cli_progress *progress, double base, double share, const char *label,
                       const char *what, const rung_context *context) {
  look_after(progress, CLI_INSIDE_NOTHING, NULL);
  set_part(progress, base, share, label);
  snprintf(progress->what, sizeof progress->what, "%s", what);
  look_after(progress, CLI_INSIDE_CALL, context);
}

void cli_progress_read(cli_progress *progress, const char *what) {
  look_after(progress, CLI_INSIDE_NOTHING, NULL);
  set_part(progress, 0, 1, "reading");
  snprintf(progress->what, sizeof progress->what, "%s", what);
  look_after(progress, CLI_INSIDE_READ, NULL);
}

void cli_progress_show(void *to, double done, const char *what) {
  cli_progress *progress = to;
  if (!progress->shown) return;
  if (progress->inside) look_after(progress, CLI_INSIDE_NOTHING, NULL);
  if (seconds_now() - progress->last < between && done > 0) return;
  pthread_mutex_lock(&lock);
  draw(progress, progress->base + progress->share * done, true, what);
  pthread_mutex_unlock(&lock);
}

void cli_progress_end(cli_progress *progress) {
  if (!progress->shown) return;
  look_after(progress, CLI_INSIDE_NOTHING, NULL);
  if (atomic_exchange(&drawn, false)) fputs(wipe, stderr);
  progress->shown = false;
}
