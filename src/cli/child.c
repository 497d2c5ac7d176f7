/* A program run as a child: its input whole, its output kept. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "files/ending.h"

extern char **environ;

/* ---- what a signal ends --------------------------------------------------------------------- */

static atomic_int running; /* 0: none */

/* Async-signal-safe. It may have programs of its own to end, so that it is asked to. */
static void end_child(void) {
  const pid_t child = atomic_load(&running);
  if (child > 0) kill(child, SIGTERM);
}

rung_status cli_self(char path[CLI_SELF], const char *done, rung_error *error) {
  const ssize_t length = readlink("/proc/self/exe", path, CLI_SELF - 1);
  if (length < 0)
    return rung_fail(error, RUNG_UNSUPPORTED, "this program cannot find itself to be %s", done);
  path[length] = '\0';
  return RUNG_OK;
}

/* ---- running -------------------------------------------------------------------------------- */

/* Reads until the end; NULL: memory ran out, or there is more than `most`. */
static char *read_all(int descriptor, size_t most, size_t *length) {
  size_t room = 1 << 16;
  char *text = malloc(room);
  *length = 0;
  while (text) {
    const ssize_t got = read(descriptor, text + *length, room - *length - 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    *length += (size_t)got;
    if (room - *length > 1) continue;
    room *= 2;
    char *more = room <= 2 * most ? realloc(text, room) : NULL;
    if (!more) free(text);
    text = more;
  }
  if (text) text[*length] = '\0';
  return text;
}

/* A file in memory that holds the input, to be read from its beginning; -1: there is none. */
static int input_file(const char *input) {
  const int file = memfd_create("input", MFD_CLOEXEC);
  const size_t length = strlen(input);
  if (file >= 0 && write(file, input, length) == (ssize_t)length && lseek(file, 0, SEEK_SET) == 0)
    return file;
  if (file >= 0) close(file);
  return -1;
}

/* With the signals as they were: none is lost between its beginning and our knowing of it. */
static int spawn(char *const *argv, const posix_spawn_file_actions_t *actions, pid_t *child) {
  sigset_t all, old;
  posix_spawnattr_t how;
  ending_undo(end_child);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&how, &old);
  const int fault = posix_spawnp(child, argv[0], actions, &how, argv, environ);
  posix_spawnattr_destroy(&how);
  atomic_store(&running, fault ? 0 : *child);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return fault;
}

/* Whether it began; its output is to be read from *output. Its standard error goes to `errors`; -1:
 * to ours. */
static int start(char *const *argv, const char *input, int errors, pid_t *child, int *output) {
  int ends[2];
  const int from = input_file(input);
  if (from < 0) return errno;
  int fault = pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
  if (!fault) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (errors >= 0) posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    fault = spawn(argv, &actions, child);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *output = ends[0];
    if (fault) close(ends[0]);
  }
  close(from);
  return fault;
}

/* The last line of a file that is not empty, without what stands before and behind it. */
static void last_words(int file, char text[CLI_LAST_WORDS]) {
  const off_t size = lseek(file, 0, SEEK_END),
              from = size < CLI_LAST_WORDS ? 0 : size - CLI_LAST_WORDS + 1;
  const ssize_t got = pread(file, text, CLI_LAST_WORDS - 1, from);
  size_t length = got > 0 ? (size_t)got : 0;
  while (length > 0 && strchr(" \r\n", text[length - 1])) length--;
  text[length] = '\0';
  const char *line = strrchr(text, '\n');
  if (line) memmove(text, line + 1, strlen(line));
}

static int errors_file(cli_errors errors) {
  if (errors == CLI_ERRORS_SHOWN) return -1;
  return errors == CLI_ERRORS_KEPT ? memfd_create("errors", MFD_CLOEXEC)
                                   : open("/dev/null", O_WRONLY | O_CLOEXEC);
}

rung_status cli_child(char *const *argv, const char *input, cli_errors errors, size_t most,
                      cli_child_end *end, rung_error *error) {
  *end = (cli_child_end){0};
  pid_t child = 0;
  int output = -1, status = 0;
  const int complaints = errors_file(errors);
  const int fault = start(argv, input, complaints, &child, &output);
  if (fault && complaints >= 0) close(complaints);
  if (fault)
    return rung_fail(error, fault == ENOMEM ? RUNG_OUT_OF_MEMORY : RUNG_FILE_FAILED,
                     "%.60s cannot be run: %s", argv[0], strerror(fault));
  end->said = read_all(output, most, &end->length);
  close(output); /* a child that has more to say ends here */
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  atomic_store(&running, 0);
  end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end->code = end->signal ? 128 + end->signal : WEXITSTATUS(status);
  if (errors == CLI_ERRORS_KEPT) last_words(complaints, end->last);
  if (complaints >= 0) close(complaints);
  if (end->said) return RUNG_OK;
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for what %.60s prints", argv[0]);
}
