#include "core/part.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define SUFFIX ".so." TEXT(RUNG_VERSION_MAJOR)

enum { PATH_ROOM = 4096, REASON_ROOM = 300 };

extern const rung_backend rung_cpu_backend;

/* In a static program these are the parts themselves; in the shared library nothing has these
 * names. */
extern const rung_part rung_part_cuda __attribute__((weak, visibility("hidden")));
extern const rung_part rung_part_sim __attribute__((weak, visibility("hidden")));

/* Every kind's slot in rung_row.launch, and where its part is looked for. */
static const struct {
  const rung_part *linked;
  const char *file, *symbol, *what;
  int slot;
} places[RUNG_KINDS] = {
    [RUNG_CUDA] = {&rung_part_cuda, "librung-cuda" SUFFIX, "rung_part_cuda",
                   "the CUDA part of the library", 0},
    [RUNG_SIM] = {&rung_part_sim, "librung-sim" SUFFIX, "rung_part_sim", "the simulator", 1},
};

static _Atomic(const rung_backend *) opened[RUNG_KINDS];
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

/* The path of a file in the folder that the library, or the static program, was loaded from; false:
 * that is not known. */
static bool beside_library(const char *file, char *path, size_t room) {
  Dl_info here;
  if (dladdr((const void *)&rung_backend_of, &here) == 0 || here.dli_fname == NULL) return false;
  const char *slash = strrchr(here.dli_fname, '/');
  if (slash == NULL) return false;
  const int length =
      snprintf(path, room, "%.*s/%s", (int)(slash - here.dli_fname), here.dli_fname, file);
  return length > 0 && (size_t)length < room;
}

/* The part of a kind out of its file: the one beside the library or, where there is none, wherever
 * the loader looks. */
static const rung_part *load(rung_kind kind, rung_error *error) {
  const char *what = places[kind].what, *file = places[kind].file;
  char path[PATH_ROOM];
  if (!beside_library(file, path, sizeof path) || access(path, F_OK) != 0)
    snprintf(path, sizeof path, "%s", file);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const rung_part *part = handle != NULL ? dlsym(handle, places[kind].symbol) : NULL;
  /* Kept open: a part stays. */
  // cppcheck-suppress resourceLeak
  if (part != NULL) return part;
  const char *reason = dlerror();
  char kept[REASON_ROOM];
  snprintf(kept, sizeof kept, "cannot be loaded (%s)", reason ? reason : "no reason was given");
  /* What the loader says where there is no such file at all; not where another one is missing. */
  const size_t length = strlen(file);
  if (reason && strncmp(reason, file, length) == 0 && strstr(reason + length, "No such file"))
    snprintf(kept, sizeof kept, "is not here");
  if (handle != NULL) dlclose(handle);
  rung_fail(error, RUNG_NO_DEVICE,
            "device \"%s\" needs %s, %.80s, which %s; expected: that file of "
            "version " RUNG_VERSION " beside librung.so, or device \"cpu\"",
            rung_kind_name(kind), what, file, kept);
  return NULL;
}

static bool fits(rung_kind kind, const rung_part *part, rung_error *error) {
  const bool same_version = strcmp(part->version, RUNG_VERSION) == 0;
  if (same_version && part->layout == RUNG_PART_LAYOUT) return true;
  rung_fail(error, RUNG_NO_DEVICE,
            "device \"%s\" needs %s, and %s is of %s %.40s; expected: the file that was built with "
            "this library, version " RUNG_VERSION ", or device \"cpu\"",
            rung_kind_name(kind), places[kind].what, places[kind].file,
            same_version ? "another build of version" : "version", part->version);
  return false;
}

/* Gives every row that the part has a launch for that launch. */
static void fill_ladders(const rung_entry *entries, int slot) {
  for (const rung_entry *entry = entries; entry->operation != NULL; entry++) {
    const rung_operation *operation = rung_operation_named(entry->operation);
    for (int i = 0; operation != NULL && i < operation->count; i++) {
      rung_row *row = &operation->rows[i];
      if (row->family == RUNG_ON_GPU && strcmp(row->name, entry->rung) == 0)
        // cppcheck-suppress AssignmentAddressToInteger
        row->launch[slot] = entry->launch;
    }
  }
}

static const rung_backend *open_part(rung_kind kind, rung_error *error) {
  const rung_part *part = places[kind].linked;
  if (part == NULL) part = load(kind, error);
  if (part == NULL || !fits(kind, part, error)) return NULL;
  fill_ladders(part->entries, places[kind].slot);
  return part->backend;
}

const rung_backend *rung_backend_of(rung_kind kind, rung_error *error) {
  if (kind == RUNG_CPU) return &rung_cpu_backend;
  const rung_backend *backend = atomic_load_explicit(&opened[kind], memory_order_acquire);
  if (backend != NULL) return backend;
  pthread_mutex_lock(&opening);
  backend = atomic_load_explicit(&opened[kind], memory_order_relaxed);
  if (backend == NULL) {
    backend = open_part(kind, error);
    atomic_store_explicit(&opened[kind], backend, memory_order_release);
  }
  pthread_mutex_unlock(&opening);
  return backend;
}
