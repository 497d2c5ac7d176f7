#include "peers/programs/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/ending.h"

extern char **environ;

const char *const program_names[PROGRAM_FILES] = {"points.gro", "edges.npy", "table.xvg", "output",
                                                  "errors"};

/* ---- the folder, and its end ------------------------------------------------------------------
 */

/* A handler reads these, on any thread. */
static char folder[PATH_MAX], paths[PROGRAM_FILES][PATH_MAX];
static atomic_bool opened;
static atomic_int running; /* the program under way, and the group that it leads; 0: none */

static void remove_files(void) {
  for (int i = 0; i < PROGRAM_FILES; i++) unlink(paths[i]);
  rmdir(folder);
}

/* Async-signal-safe. */
static void end_program(void) {
  const pid_t group = atomic_load(&running);
  if (group > 0 && kill(-group, SIGKILL) == 0)
    while (waitpid(group, NULL, 0) < 0 && errno == EINTR) continue;
  if (atomic_load(&opened)) remove_files();
}

static void hold_signals(sigset_t *old) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, old);
}

static void release_signals(const sigset_t *old) {
  pthread_sigmask(SIG_SETMASK, old, NULL);
}

/* ${TMPDIR}/rung-peers-XXXXXX and the files in it; no path is cut. */
static bool make_folder(const char *under) {
  if (snprintf(folder, sizeof folder, "%s/rung-peers-XXXXXX", under) >= PATH_MAX - 16) {
    errno = ENAMETOOLONG;
    return false;
  }
  if (!mkdtemp(folder)) return false;
  for (int i = 0; i < PROGRAM_FILES; i++) {
    const size_t length = strlen(folder);
    memcpy(paths[i], folder, length);
    snprintf(paths[i] + length, PATH_MAX - length, "/%s", program_names[i]);
  }
  return true;
}

rung_status program_open(rung_error *error) {
  const char *given = getenv("TMPDIR"), *under = given && *given ? given : "/tmp";
  sigset_t old;
  hold_signals(&old);
  const bool made = make_folder(under);
  const int cause = errno;
  if (made) {
    atomic_store(&opened, true);
    ending_undo(end_program);
  }
  release_signals(&old);
  if (made) return RUNG_OK;
  return rung_fail(error, RUNG_FILE_FAILED,
                   "no folder for the peers' files can be made in %.200s: %s; TMPDIR may name "
                   "another one",
                   under, strerror(cause));
}

void program_close(void) {
  sigset_t old;
  if (!program_is_open()) return;
  hold_signals(&old);
  remove_files();
  atomic_store(&opened, false);
  release_signals(&old);
}

bool program_is_open(void) {
  return atomic_load(&opened);
}

FILE *program_stream(program_file file, const char *mode) {
  return fopen(paths[file], mode);
}

/* ---- running ----------------------------------------------------------------------------------
 */

/* Leads a group of its own, so that what it starts can be ended with it, with the signals as they
 * were before. In the folder with its files, or where we are with `to` as its standard output. */
static int start(const char *const *words, int to, const sigset_t *mask, pid_t *child) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setsigmask(&how, mask);
  const int made = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (to < 0) {
    posix_spawn_file_actions_addchdir_np(&files, folder);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, program_names[PROGRAM_OUTPUT], made,
                                     0600);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, program_names[PROGRAM_ERRORS], made,
                                     0600);
  } else {
    posix_spawn_file_actions_adddup2(&files, to, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  const int failed = posix_spawn(child, words[0], &files, &how, (char *const *)words, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  return failed;
}

/* The last line that the program complained with: mostly its reason. GROMACS ends with where to
 * read more. */
static void last_words(char *text, size_t room) {
  char line[512];
  FILE *from = program_stream(PROGRAM_ERRORS, "re");
  text[0] = '\0';
  while (from && fgets(line, sizeof line, from)) {
    line[strcspn(line, "\r\n")] = '\0';
    if (strncmp(line, "For more information", 20) == 0) break;
    if (line[strspn(line, " \t-")] != '\0') snprintf(text, room, "%.*s", (int)room - 1, line);
  }
  if (from) fclose(from);
}

static rung_status refuse(const char *name, int ended, rung_error *error) {
  char said[200];
  last_words(said, sizeof said);
  const char *sep = said[0] ? ": " : "";
  if (WIFSIGNALED(ended))
    return rung_fail(error, RUNG_DEVICE_FAILED, "%s was killed by signal %d (%s)%s%s", name,
                     WTERMSIG(ended), strsignal(WTERMSIG(ended)), sep, said);
  return rung_fail(error, RUNG_DEVICE_FAILED, "%s ended with status %d%s%s", name,
                   WEXITSTATUS(ended), sep, said);
}

rung_status program_run(const char *name, const char *const *words, rung_error *error) {
  pid_t child = 0;
  int ended = 0;
  sigset_t old;
  for (int i = PROGRAM_TABLE; i < PROGRAM_FILES; i++) unlink(paths[i]);
  hold_signals(&old);
  const int failed = start(words, -1, &old, &child);
  if (!failed) atomic_store(&running, child);
  release_signals(&old);
  if (failed)
    return rung_fail(error, RUNG_DEVICE_FAILED, "%s cannot be started: %s", words[0],
                     strerror(failed));
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  atomic_store(&running, 0);
  if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return RUNG_OK;
  return refuse(name, ended, error);
}

/* ---- finding ----------------------------------------------------------------------------------
 */

bool program_ask(const char *const *words, char *text, size_t room) {
  int ends[2], ended = -1;
  pid_t child = 0;
  sigset_t mask;
  char rest[512];
  size_t used = 0;
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  const int failed = start(words, ends[1], &mask, &child);
  close(ends[1]);
  for (ssize_t got = 1; !failed && got > 0;) {
    const bool full = used + 1 >= room;
    got = read(ends[0], full ? rest : text + used, full ? sizeof rest : room - 1 - used);
    if (got < 0 && errno == EINTR)
      got = 1;
    else if (got > 0 && !full)
      used += (size_t)got;
  }
  text[used] = '\0';
  close(ends[0]);
  if (failed) return false;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

bool program_find(const char *name, bool (*accept)(const char *path), char path[PROGRAM_PATH]) {
  const char *at = getenv("PATH");
  for (; at && *at; at += strspn(at, ":")) {
    const int length = (int)strcspn(at, ":");
    const bool whole = snprintf(path, PROGRAM_PATH, "%.*s/%s", length, at, name) < PROGRAM_PATH;
    at += length;
    if (path[0] == '/' && whole && access(path, X_OK) == 0 && accept(path)) return true;
  }
  path[0] = '\0';
  return false;
}
