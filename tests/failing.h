/* Memory that runs out on purpose. The linker's --wrap sends here what the project's own objects
 * ask the system for; what libraries ask for themselves is not meant, for libdw and Capstone do not
 * survive it. Of these requests the one numbered `failing_at` fails. What is taken and not given
 * back is counted, in `failing_held`. */
#ifndef TESTS_FAILING_H
#define TESTS_FAILING_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/types.h>

static atomic_long failing_at; /* 0: none */
static atomic_long failing_asked, failing_held;
static __thread bool failing_spared; /* requests of this thread are neither counted nor fail */

/* The blocks that are held, in short rows by their address; one that finds its row full is not
 * watched. */
enum { FAILING_ROWS = 4096, FAILING_PLACES = 16 };
static const void *failing_blocks[FAILING_ROWS][FAILING_PLACES];
static pthread_mutex_t failing_lock = PTHREAD_MUTEX_INITIALIZER;

static bool failing_replace(const void *old, const void *fresh, const void *block) {
  const void **row = failing_blocks[((uintptr_t)block >> 4) % FAILING_ROWS];
  bool found = false;
  pthread_mutex_lock(&failing_lock);
  for (int i = 0; i < FAILING_PLACES && !found; i++) {
    found = row[i] == old;
    if (found) row[i] = fresh;
  }
  pthread_mutex_unlock(&failing_lock);
  return found;
}

static void *failing_take(void *block) {
  if (block != NULL && failing_replace(NULL, block, block)) failing_held++;
  return block;
}

static void failing_give(const void *block) {
  if (block != NULL && failing_replace(block, NULL, block)) failing_held--;
}

static bool failing_now(void) {
  const bool now = !failing_spared && ++failing_asked == failing_at;
  if (now) errno = ENOMEM;
  return now;
}

/* From now on; 0: nothing fails. */
static inline void failing_begin(long request) {
  failing_asked = 0;
  failing_at = request;
}

/* How many requests there were. */
static inline long failing_end(void) {
  failing_at = 0;
  return failing_asked;
}

/* The request to fail after that one: the first `each` one by one, then ever fewer. */
static inline long failing_next(long request, long each) {
  return request + 1 + (request >= each ? request / 2 : 0);
}

/* cmake: FAILING_WRAPPED in tests/CMakeLists.txt lists the same names. */
#define FAILING_REAL(type, name, ...) \
  type __real_##name(__VA_ARGS__);    \
  type __wrap_##name(__VA_ARGS__);    \
  type __wrap_##name(__VA_ARGS__)

FAILING_REAL(void *, malloc, size_t bytes) {
  return failing_now() ? NULL : failing_take(__real_malloc(bytes));
}

FAILING_REAL(void *, calloc, size_t count, size_t bytes) {
  return failing_now() ? NULL : failing_take(__real_calloc(count, bytes));
}

FAILING_REAL(void *, realloc, void *block, size_t bytes) {
  if (failing_now()) return NULL;
  void *fresh = __real_realloc(block, bytes);
  if (fresh != NULL) failing_give(block);
  return failing_take(fresh);
}

FAILING_REAL(void *, aligned_alloc, size_t alignment, size_t bytes) {
  return failing_now() ? NULL : failing_take(__real_aligned_alloc(alignment, bytes));
}

FAILING_REAL(int, posix_memalign, void **block, size_t alignment, size_t bytes) {
  if (failing_now()) return ENOMEM;
  const int status = __real_posix_memalign(block, alignment, bytes);
  if (status == 0) failing_take(*block);
  return status;
}

FAILING_REAL(void, free, void *block) {
  failing_give(block);
  __real_free(block);
}

FAILING_REAL(char *, strdup, const char *text) {
  return failing_now() ? NULL : failing_take(__real_strdup(text));
}

FAILING_REAL(char *, realpath, const char *path, char *to) {
  if (failing_now()) return NULL;
  char *path_found = __real_realpath(path, to);
  return to == NULL ? failing_take(path_found) : path_found;
}

FAILING_REAL(ssize_t, getdelim, char **line, size_t *room, int end, FILE *from) {
  return failing_now() ? -1 : __real_getdelim(line, room, end, from);
}

FAILING_REAL(FILE *, fopen, const char *path, const char *mode) {
  return failing_now() ? NULL : failing_take(__real_fopen(path, mode));
}

FAILING_REAL(FILE *, fdopen, int descriptor, const char *mode) {
  return failing_now() ? NULL : failing_take(__real_fdopen(descriptor, mode));
}

FAILING_REAL(int, fclose, FILE *stream) {
  failing_give(stream);
  return __real_fclose(stream);
}

FAILING_REAL(void *, mmap, void *where, size_t bytes, int rights, int flags, int file, off_t at) {
  if (failing_now()) return MAP_FAILED;
  void *pages = __real_mmap(where, bytes, rights, flags, file, at);
  if (pages != MAP_FAILED) failing_take(pages);
  return pages;
}

FAILING_REAL(int, munmap, void *pages, size_t bytes) {
  failing_give(pages);
  return __real_munmap(pages, bytes);
}

FAILING_REAL(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes,
             void *(*start)(void *), void *argument) {
  return failing_now() ? EAGAIN : __real_pthread_create(thread, attributes, start, argument);
}

#endif
