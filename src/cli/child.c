/* A program run as a child: its input whole, its output kept. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

extern char **environ;

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

/* Whether it began; its output is to be read from *output. */
static int start(char *const *argv, const char *input, bool silent, pid_t *child, int *output) {
  int ends[2];
  const int from = input_file(input);
  if (from < 0) return errno;
  int fault = pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
  if (!fault) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (silent) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    fault = posix_spawnp(child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *output = ends[0];
    if (fault) close(ends[0]);
  }
  close(from);
  return fault;
}

rung_status cli_child(char *const *argv, const char *input, bool silent, size_t most,
                      cli_child_end *end, rung_error *error) {
  *end = (cli_child_end){0};
  pid_t child = 0;
  int output = -1, status = 0;
  const int fault = start(argv, input, silent, &child, &output);
  if (fault)
    return rung_fail(error, fault == ENOMEM ? RUNG_OUT_OF_MEMORY : RUNG_FILE_FAILED,
                     "%.60s cannot be run: %s", argv[0], strerror(fault));
  end->said = read_all(output, most, &end->length);
  close(output); /* a child that has more to say ends here */
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  end->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (end->said) return RUNG_OK;
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for what %.60s prints", argv[0]);
}
