#include "lab/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSORS_MOST = 4096, TEXT = 1024 };
static const double shortest = 0.5; /* seconds */
/* What is less does not matter: of a processor, other programs; of one, its host. */
static const double others_least = 0.1, stolen_least = 0.02;

/* ---- what the system's files say ------------------------------------------------------------ */

bool lab_watch_stat(const char *text, double ticks, double *busy, double *stolen) {
  uint64_t user, nice, system, idle, wait, interrupts, soft, steal;
  const int found = sscanf(text,
                           "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                           " %" SCNu64 " %" SCNu64 " %" SCNu64,
                           &user, &nice, &system, &idle, &wait, &interrupts, &soft, &steal);
  if (found != 8 || !(ticks > 0)) return false;
  *busy = (double)(user + nice + system + interrupts + soft) / ticks;
  *stolen = (double)steal / ticks;
  return true;
}

int64_t lab_watch_quota(const char *text) {
  static const char key[] = "nr_throttled ";
  int64_t times = 0;
  const char *at = strstr(text, key);
  return at && sscanf(at + sizeof key - 1, "%" SCNd64, &times) == 1 && times > 0 ? times : 0;
}

/* The beginning of a file; "" where there is none. */
static const char *text_of(const char *path, char text[TEXT]) {
  FILE *file = fopen(path, "re");
  const size_t got = file ? fread(text, 1, TEXT - 1, file) : 0;
  text[got] = '\0';
  if (file) fclose(file);
  return text;
}

/* Of version 2's control groups ours is in the file's last line, "0::/a/b". */
static int64_t over_quota(void) {
  char text[TEXT], path[TEXT + 64];
  const char *group = strstr(text_of("/proc/self/cgroup", text), "0::/");
  const int length = group ? (int)strcspn(group + 3, "\n") : 0;
  snprintf(path, sizeof path, "/sys/fs/cgroup%.*s/cpu.stat", length, group ? group + 3 : "");
  const int64_t times = lab_watch_quota(text_of(path, text));
  return times > 0 ? times : lab_watch_quota(text_of("/sys/fs/cgroup/cpu/cpu.stat", text));
}

static int64_t too_hot(void) {
  int64_t all = 0;
  const long processors = sysconf(_SC_NPROCESSORS_CONF);
  for (long i = 0; i < processors && i < PROCESSORS_MOST; ++i) {
    char path[128], text[TEXT];
    int64_t times = 0;
    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu%ld/thermal_throttle/core_throttle_count", i);
    if (sscanf(text_of(path, text), "%" SCNd64, &times) != 1) break;
    all += times;
  }
  return all;
}

static double seconds_of(int who) {
  struct rusage used;
  if (getrusage(who, &used) != 0) return 0;
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* ---- two moments ---------------------------------------------------------------------------- */

lab_watch lab_watch_now(void) {
  char text[TEXT];
  struct timespec now;
  lab_watch found = {.throttled = over_quota() + too_hot()};
  found.known = lab_watch_stat(text_of("/proc/stat", text), (double)sysconf(_SC_CLK_TCK),
                               &found.busy, &found.stolen);
  found.own = seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN);
  clock_gettime(CLOCK_MONOTONIC, &now);
  found.at = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  return found;
}

lab_disturbance lab_watch_between(const lab_watch *from, const lab_watch *to) {
  const double seconds = to->at - from->at;
  lab_disturbance found = {NAN, NAN, to->throttled - from->throttled};
  if (found.throttled < 0) found.throttled = 0;
  if (!from->known || !to->known || !(seconds >= shortest)) return found;
  found.others = fmax(0, (to->busy - from->busy - (to->own - from->own)) / seconds);
  found.stolen = fmax(0, (to->stolen - from->stolen) / seconds);
  return found;
}

const char *lab_watch_text(const lab_disturbance *found, int processors, char *text, size_t room) {
  size_t used = 0;
  text[0] = '\0';
  if (found->others >= others_least)
    used +=
        (size_t)snprintf(text + used, room - used, "other programs kept %.1f of %d processors busy",
                         found->others, processors);
  if (found->stolen >= stolen_least && used < room)
    used += (size_t)snprintf(text + used, room - used,
                             "%sthe host of this virtual machine gave %.2f processors to others",
                             used > 0 ? "; " : "", found->stolen);
  if (found->throttled > 0 && used < room)
    snprintf(text + used, room - used, "%sprocessors were throttled %lld times",
             used > 0 ? "; " : "", (long long)found->throttled);
  return text;
}
