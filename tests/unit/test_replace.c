/* Files are replaced whole or not at all, and nothing is left lying about. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/replace.h"

static char folder[64], path[96];

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/rung-replace-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/out", folder);
  return 0;
}

static int drop_folder(void **state) {
  (void)state;
  unlink(path);
  return rmdir(folder);
}

static int entries(void) {
  DIR *directory = opendir(folder);
  assert_non_null(directory);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(directory));)
    count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  closedir(directory);
  return count;
}

static void holds(const char *name, const char *text) {
  char found[64] = "";
  FILE *file = fopen(name, "r");
  assert_non_null(file);
  found[fread(found, 1, sizeof found - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(found, text);
}

static void write_text(const char *name, const char *text) {
  file_replace file;
  rung_error error = {0};
  assert_int_equal(file_replace_begin(&file, name, &error), RUNG_OK);
  fputs(text, file.stream);
  assert_int_equal(file_replace_commit(&file, &error), RUNG_OK);
  assert_null(file.stream);
}

static int mode_of(const char *name) {
  struct stat about;
  assert_int_equal(stat(name, &about), 0);
  return (int)(about.st_mode & 07777);
}

static void new_and_old(void **state) {
  (void)state;
  unlink(path);
  mode_t mask = umask(027);
  write_text(path, "one");
  umask(mask);
  holds(path, "one");
  assert_int_equal(mode_of(path), 0640);
  assert_int_equal(chmod(path, 0604), 0);
  file_replace file;
  assert_int_equal(file_replace_begin(&file, path, NULL), RUNG_OK);
  fputs("two", file.stream);
  fflush(file.stream);
  holds(path, "one"); /* until the commit */
  assert_int_equal(entries(), 2);
  assert_int_equal(file_replace_commit(&file, NULL), RUNG_OK);
  holds(path, "two");
  assert_int_equal(mode_of(path), 0604);
  assert_int_equal(entries(), 1);
}

static void abandoned(void **state) {
  (void)state;
  write_text(path, "old");
  file_replace file;
  assert_int_equal(file_replace_begin(&file, path, NULL), RUNG_OK);
  fputs("new", file.stream);
  file_replace_abandon(&file);
  holds(path, "old");
  assert_int_equal(entries(), 1);
  file_replace_abandon(&file);
  /* a slot is given back every time: far more files than there are slots */
  for (int i = 0; i < 100; i++) {
    assert_int_equal(file_replace_begin(&file, path, NULL), RUNG_OK);
    file_replace_abandon(&file);
    write_text(path, "old");
    assert_int_equal(file_replace_possible(path, NULL), RUNG_OK);
  }
  assert_int_equal(entries(), 1);
}

static void in_this_directory(void **state) {
  (void)state;
  char before[512];
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(folder), 0);
  write_text("out", "here");
  holds("out", "here");
  assert_int_equal(chdir(before), 0);
}

static void symbolic_link(void **state) {
  (void)state;
  char link[128];
  snprintf(link, sizeof link, "%s/link", folder);
  write_text(path, "old");
  assert_int_equal(symlink("out", link), 0);
  write_text(link, "through");
  holds(path, "through");
  struct stat about;
  assert_int_equal(lstat(link, &about), 0);
  assert_true(S_ISLNK(about.st_mode));
  unlink(link);
}

static void long_name(void **state) {
  (void)state;
  char name[400];
  snprintf(name, sizeof name, "%s/%0*d", folder, 255, 0);
  write_text(name, "long");
  holds(name, "long");
  unlink(name);
  snprintf(name, sizeof name, "%s/%0*d", folder, 256, 0);
  file_replace file;
  rung_error error = {0};
  assert_int_equal(file_replace_begin(&file, name, &error), RUNG_FILE_FAILED);
  assert_non_null(strstr(error.sentence, "too long"));
}

static void not_possible(const char *name, const char *word) {
  file_replace file;
  for (int only_ask = 0; only_ask < 2; only_ask++) {
    rung_error error = {0};
    rung_status status =
        only_ask ? file_replace_possible(name, &error) : file_replace_begin(&file, name, &error);
    assert_int_equal(status, RUNG_FILE_FAILED);
    if (!strstr(error.sentence, word)) fail_msg("'%s' does not say '%s'", error.sentence, word);
    if (!only_ask) assert_null(file.stream);
  }
}

static void bad_places(void **state) {
  (void)state;
  not_possible("", "empty");
  not_possible("/nowhere/at/all", "No such file");
  not_possible(folder, "directory");
  char name[128];
  snprintf(name, sizeof name, "%s/", folder);
  not_possible(name, "directory");
  snprintf(name, sizeof name, "%s/new/", folder);
  not_possible(name, "directory");
  snprintf(name, sizeof name, "%s/x", path);
  write_text(path, "a file");
  not_possible(name, "Not a directory");
  holds(path, "a file");
}

/* Rights mean nothing to root: as another user, in a child. */
static void no_rights(void **state) {
  (void)state;
  write_text(path, "old");
  assert_int_equal(chmod(path, 0444), 0);
  assert_int_equal(chmod(folder, 0777), 0);
  pid_t child = fork();
  if (child == 0) {
    rung_error error = {0};
    file_replace file;
    if (geteuid() == 0 && setuid(65534) != 0) _exit(9);
    if (file_replace_begin(&file, path, &error) != RUNG_FILE_FAILED) _exit(1);
    if (!strstr(error.sentence, "denied")) _exit(2);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(chmod(folder, 0555), 0);
  child = fork();
  if (child == 0) {
    rung_error error = {0};
    file_replace file;
    char name[128];
    if (geteuid() == 0 && setuid(65534) != 0) _exit(9);
    snprintf(name, sizeof name, "%s/new", folder);
    if (file_replace_begin(&file, name, &error) != RUNG_FILE_FAILED) _exit(1);
    if (!strstr(error.sentence, "denied")) _exit(2);
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(chmod(folder, 0700), 0);
  assert_int_equal(chmod(path, 0600), 0);
  assert_int_equal(entries(), 1);
}

static void full_disk(void **state) {
  (void)state;
  file_replace file;
  rung_error error = {0};
  assert_int_equal(file_replace_begin(&file, "/dev/full", &error), RUNG_OK);
  fputs("x", file.stream);
  assert_int_equal(file_replace_commit(&file, &error), RUNG_FILE_FAILED);
  assert_non_null(strstr(error.sentence, "No space left"));
  struct stat about;
  assert_int_equal(stat("/dev/full", &about), 0);
  assert_true(S_ISCHR(about.st_mode));
}

/* A file-size limit stands for a disk that fills up on the way. */
static void filling_disk(void **state) {
  (void)state;
  write_text(path, "old");
  pid_t child = fork();
  if (child == 0) {
    struct rlimit limit = {10000, 10000};
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
    file_replace file;
    rung_error error = {0};
    if (file_replace_begin(&file, path, &error) != RUNG_OK) _exit(1);
    for (int i = 0; i < 20000; i++) fputc('x', file.stream);
    if (file_replace_commit(&file, &error) != RUNG_FILE_FAILED) _exit(2);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  holds(path, "old");
  assert_int_equal(entries(), 1);
}

static void through_a_pipe(void **state) {
  (void)state;
  char name[128];
  snprintf(name, sizeof name, "%s/pipe", folder);
  assert_int_equal(mkfifo(name, 0600), 0);
  int reader = open(name, O_RDONLY | O_NONBLOCK);
  assert_true(reader >= 0);
  assert_int_equal(file_replace_possible(name, NULL), RUNG_OK);
  write_text(name, "piped");
  char found[8] = "";
  assert_int_equal(read(reader, found, sizeof found - 1), 5);
  assert_string_equal(found, "piped");
  close(reader);
  unlink(name);
}

/* A child that dies of `number` between begin and commit. */
static int killed_by(int number, bool ignored) {
  int ready[2];
  assert_int_equal(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    if (ignored) signal(number, SIG_IGN);
    file_replace file;
    if (file_replace_begin(&file, path, NULL) != RUNG_OK) _exit(1);
    fputs("new", file.stream);
    fflush(file.stream);
    if (write(ready[1], "r", 1) != 1) _exit(2);
    if (ignored) {
      raise(number);
      _exit(file_replace_commit(&file, NULL) == RUNG_OK ? 0 : 3);
    }
    for (;;) pause();
  }
  char byte;
  assert_int_equal(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  if (!ignored) {
    assert_int_equal(entries(), 2);
    kill(child, number);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void signals(void **state) {
  (void)state;
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  /* nohup; before this process itself has met the handlers */
  assert_int_equal(killed_by(SIGHUP, true), 0);
  holds(path, "new");
  write_text(path, "old");
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    int status = killed_by(numbers[i], false);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), numbers[i]);
    holds(path, "old");
    assert_int_equal(entries(), 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      /* first: the children of this process must set up their own signal handling */
      cmocka_unit_test(signals),       cmocka_unit_test(new_and_old),
      cmocka_unit_test(abandoned),     cmocka_unit_test(in_this_directory),
      cmocka_unit_test(symbolic_link), cmocka_unit_test(long_name),
      cmocka_unit_test(bad_places),    cmocka_unit_test(no_rights),
      cmocka_unit_test(full_disk),     cmocka_unit_test(filling_disk),
      cmocka_unit_test(through_a_pipe)};
  return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
