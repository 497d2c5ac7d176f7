/* Under AddressSanitizer a kernel that touches one element too many ends the process, with a report
 * that names its line. Elsewhere there is nothing to see: overruns are the watched build's own. */
#include "sim/board.h"
#include "sim/strays.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct stray {
  const char *name;
  rung_launch *launch;
  const int *line;
} stray;

#ifdef __SANITIZE_ADDRESS__
/* In the child; returns only where nothing was noticed. */
static void touch(const stray *the) {
  int in[1] = {0}, out[32 * 2] = {0};
  if (open_board(RUNG_SIM) != 0) return;
  launch_once((rung_launch *const[]){NULL, the->launch}, NULL, in, sizeof in, out, sizeof out);
}

static void ends_the_process(void **state) {
  enum { ROOM = 1 << 16 };
  const stray *the = *state;
  static char said[ROOM];
  char place[64];
  int ends[2], status;
  size_t got = 0;
  ssize_t more;
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    touch(the);
    _exit(0);
  }
  close(ends[1]);
  while ((more = read(ends[0], said + got, ROOM - 1 - got)) > 0) got += (size_t)more;
  said[got] = '\0';
  close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) fail_msg("%s went unnoticed", the->name);
  snprintf(place, sizeof place, "strays.cu:%d", *the->line);
  if (!strstr(said, "ERROR: AddressSanitizer") && !strstr(said, "runtime error"))
    fail_msg("%s: no report of a sanitizer: %.2000s", the->name, said);
  if (!strstr(said, place)) fail_msg("%s: no %s in: %.4000s", the->name, place, said);
}
#else
static void ends_the_process(void **state) {
  const stray *the = *state;
  print_message("%s is not tried: this build has no AddressSanitizer\n", the->name);
  skip();
}
#endif

#define STRAY(name)                                       \
  {                                                       \
#name, ends_the_process, NULL, NULL, &(stray) {       \
#name, stray_##name##_sim, &stray_##name##_line_sim \
    }                                                     \
  }

int main(void) {
  const struct CMUnitTest tests[] = {STRAY(global), STRAY(dynamic), STRAY(static), STRAY(local)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
