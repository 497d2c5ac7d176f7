/* The CPU backend through its table, as the lab and the doors use it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/cpu/cpu.h"
#include "core/context.h"

static const rung_backend *const cpu = &rung_cpu_backend;

static int open_plain(void **state) {
  rung_context *context = NULL;
  rung_options options = {.device = "cpu", .threads = 2, .isa = "baseline"};
  rung_status status = rung_open(&context, &options);
  *state = context;
  return status == RUNG_OK ? 0 : -1;
}

static int close_plain(void **state) {
  rung_close(*state);
  return 0;
}

static rung_state *state_of(void **state) {
  return ((rung_context *)*state)->state;
}

/* ---- what is here --------------------------------------------------------------------------- */

static void the_cpu_is_described(void **state) {
  (void)state;
  int devices = 0;
  assert_int_equal(cpu->count(&devices, NULL), RUNG_OK);
  assert_int_equal(devices, 1);
  rung_device device, again;
  assert_int_equal(cpu->describe(0, &device, NULL), RUNG_OK);
  assert_int_equal(device.kind, RUNG_CPU);
  assert_true(device.name[0] != '\0' && device.identity[0] != '\0');
  assert_true(device.processors >= 1 && device.threads >= 1);
  assert_true(device.memory_bytes > 1 << 24);
  assert_true(device.cache_bytes >= 1 << 15);
  assert_int_equal(cpu->describe(0, &again, NULL), RUNG_OK);
  assert_string_equal(again.identity, device.identity);
  assert_int_equal(cpu->describe(1, &again, NULL), RUNG_NO_DEVICE);
}

typedef struct heard {
  int facts;
  bool model, isa, memory, kernel;
} heard;

static void hear(void *to, const char *key, const char *value) {
  heard *ear = to;
  assert_true(key[0] != '\0' && value[0] != '\0');
  assert_null(strchr(value, '\n'));
  ear->facts++;
  ear->model |= strcmp(key, "model") == 0;
  ear->isa |= strcmp(key, "instruction sets") == 0 && strncmp(value, "baseline", 8) == 0;
  ear->memory |= strcmp(key, "memory") == 0;
  ear->kernel |= strcmp(key, "kernel") == 0;
}

static void facts_are_told(void **state) {
  (void)state;
  heard ear = {0};
  assert_int_equal(cpu->facts(0, hear, &ear, NULL), RUNG_OK);
  assert_true(ear.facts >= 8 && ear.model && ear.isa && ear.memory && ear.kernel);
  assert_int_equal(cpu->facts(7, hear, &ear, NULL), RUNG_NO_DEVICE);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void allocations(void **state) {
  rung_state *opened = state_of(state);
  static const size_t sizes[] = {0, 1, 255, 4096, (size_t)5 << 20};
  for (int i = 0; i < 5; i++) {
    void *memory = NULL;
    assert_int_equal(cpu->allocate(opened, sizes[i], &memory, NULL), RUNG_OK);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 256, 0);
    memset(memory, 1, sizes[i]);
    cpu->release(opened, memory);
  }
  int64_t available = 0;
  assert_int_equal(cpu->available(opened, &available, NULL), RUNG_OK);
  assert_true(available > 0);
  static const size_t huge[] = {SIZE_MAX, (size_t)INT64_MAX, (size_t)1 << 50};
  for (int i = 0; i < 3; i++) {
    rung_error error = {0};
    void *memory = opened;
    assert_int_equal(cpu->allocate(opened, huge[i], &memory, &error), RUNG_OUT_OF_MEMORY);
    assert_null(memory);
    assert_non_null(strstr(error.sentence, "are needed, and "));
    assert_non_null(strstr(error.sentence, "are available"));
  }
  /* Linux itself would grant all the memory there is, and kill the process that uses it. */
  rung_device device;
  assert_int_equal(cpu->describe(0, &device, NULL), RUNG_OK);
  size_t all = (size_t)device.memory_bytes - ((size_t)4 << 20);
  void *memory;
  assert_int_equal(cpu->allocate(opened, all, &memory, NULL), RUNG_OUT_OF_MEMORY);
}

static void put(const char *folder, const char *path, const char *text) {
  char name[256];
  for (const char *at = path; (at = strchr(at, '/')) != NULL; at++) {
    snprintf(name, sizeof name, "%s/%.*s", folder, (int)(at - path), path);
    (void)mkdir(name, 0700);
  }
  snprintf(name, sizeof name, "%s/%s", folder, path);
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void memory_left_is_the_least_limit(void **state) {
  (void)state;
  char folder[] = "/tmp/rung-memory-XXXXXX", command[64];
  assert_non_null(mkdtemp(folder));
  assert_true(rung_cpu_memory_available(folder) == INT64_MAX); /* nothing known */
  put(folder, "proc/meminfo", "MemTotal: 900 kB\nMemFree:  500 kB\n");
  assert_int_equal(rung_cpu_memory_available(folder), 500 * 1024);
  put(folder, "proc/meminfo", "MemTotal: 900 kB\nMemFree:  500 kB\nMemAvailable:   700 kB\n");
  assert_int_equal(rung_cpu_memory_available(folder), 700 * 1024);

  put(folder, "proc/self/cgroup", "10:cpu:/x\n0::/job/inner\n");
  put(folder, "sys/fs/cgroup/job/inner/memory.max", "max\n");
  put(folder, "sys/fs/cgroup/job/inner/memory.current", "1000\n");
  assert_int_equal(rung_cpu_memory_available(folder), 700 * 1024);
  put(folder, "sys/fs/cgroup/job/memory.max", "200000\n"); /* a group further up */
  put(folder, "sys/fs/cgroup/job/memory.current", "150000\n");
  assert_int_equal(rung_cpu_memory_available(folder), 50000);
  put(folder, "sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 30000\n");
  assert_int_equal(rung_cpu_memory_available(folder), 80000);
  put(folder, "sys/fs/cgroup/memory.max", "100\n"); /* what a container sees as its root */
  put(folder, "sys/fs/cgroup/memory.current", "150\n");
  assert_int_equal(rung_cpu_memory_available(folder), 0);

  put(folder, "proc/self/cgroup", "4:memory:/old\n");
  put(folder, "sys/fs/cgroup/memory/old/memory.limit_in_bytes", "5000\n");
  put(folder, "sys/fs/cgroup/memory/old/memory.usage_in_bytes", "4000\n");
  assert_int_equal(rung_cpu_memory_available(folder), 1000);

  struct rlimit was, limit; /* of addresses, and more than any sanitizer takes */
  assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
  limit = (struct rlimit){.rlim_cur = (rlim_t)1 << 46, .rlim_max = was.rlim_max};
  put(folder, "proc/self/cgroup", "");
  put(folder, "proc/meminfo", "MemAvailable: 9000000000000 kB\n");
  put(folder, "proc/self/statm", "10 5 1 1 0 1 0\n");
  assert_true(was.rlim_max >= limit.rlim_cur);
  assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
  const int64_t left = rung_cpu_memory_available(folder);
  assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
  assert_int_equal(left, ((int64_t)1 << 46) - 10 * sysconf(_SC_PAGESIZE));
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

/* ---- moving bytes --------------------------------------------------------------------------- */

static void copies_and_fills(void **state) {
  rung_state *opened = state_of(state);
  static const size_t sizes[] = {0, 1, 1000, (1 << 20) - 1, 1 << 20, (3 << 20) + 7};
  char *from = malloc(4 << 20), *to = malloc(4 << 20);
  for (size_t i = 0; i < (size_t)4 << 20; i++) from[i] = (char)(i * 31 + i / 4096);
  for (int i = 0; i < 6; i++) {
    size_t bytes = sizes[i];
    memset(to, 0x55, (size_t)4 << 20);
    assert_int_equal(cpu->copy(opened, to, from, bytes, RUNG_TO_DEVICE, NULL), RUNG_OK);
    assert_memory_equal(to, from, bytes);
    assert_int_equal(to[bytes], 0x55);
    assert_int_equal(cpu->fill(opened, to, 0xFB, bytes, NULL), RUNG_OK);
    for (size_t b = 0; b < bytes; b++) {
      if ((unsigned char)to[b] != 0xFB) fail_msg("byte %zu of %zu is not filled", b, bytes);
    }
    assert_int_equal(to[bytes], 0x55);
  }
  free(from);
  free(to);
}

/* Packs (rows, columns) between the strides given and looks at every element, and at the rest. */
static void pack_once(rung_state *opened, int ndim, const int64_t *shape, const int64_t *to_strides,
                      const int64_t *from_strides) {
  enum { CELLS = 1 << 19, MIDDLE = CELLS / 2 };
  static int32_t from[CELLS], to[CELLS];
  for (int32_t i = 0; i < CELLS; i++) from[i] = i;
  memset(to, 0xFF, sizeof to);
  rung_view source = rung_view_compact(from + MIDDLE, RUNG_I32, ndim, shape);
  rung_view target = rung_view_compact(to + MIDDLE, RUNG_I32, ndim, shape);
  memcpy(source.stride, from_strides, sizeof *from_strides * (size_t)ndim);
  memcpy(target.stride, to_strides, sizeof *to_strides * (size_t)ndim);
  assert_int_equal(cpu->pack(opened, &target, &source, NULL), RUNG_OK);
  int64_t rows = ndim == 2 ? shape[0] : 1, columns = ndim == 0 ? 1 : shape[ndim - 1], wrong = 0;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      int64_t source_at = ndim == 2 ? i * from_strides[0] + j * from_strides[1] : 0;
      int64_t target_at = ndim == 2 ? i * to_strides[0] + j * to_strides[1] : 0;
      if (ndim == 1) {
        source_at = j * from_strides[0];
        target_at = j * to_strides[0];
      }
      wrong += to[MIDDLE + target_at] != from[MIDDLE + source_at];
      to[MIDDLE + target_at] = -1;
    }
  }
  assert_int_equal(wrong, 0);
  for (int i = 0; i < CELLS; i++) wrong += to[i] != -1;
  assert_int_equal(wrong, 0);
}

static void packs(void **state) {
  rung_state *opened = state_of(state);
  const int64_t wide[] = {300, 701}, tall[] = {70001, 3}, tiny[] = {1, 1}, row[] = {100003};
  pack_once(opened, 2, wide, (int64_t[]){701, 1}, (int64_t[]){800, 1});
  pack_once(opened, 2, wide, (int64_t[]){701, 1}, (int64_t[]){1, 300}); /* a transpose */
  pack_once(opened, 2, wide, (int64_t[]){1, 301}, (int64_t[]){-701, -1});
  pack_once(opened, 2, wide, (int64_t[]){701, 1}, (int64_t[]){0, 1}); /* one row to all */
  pack_once(opened, 2, tall, (int64_t[]){3, 1}, (int64_t[]){-3, 1});
  pack_once(opened, 2, tall, (int64_t[]){1, 70001}, (int64_t[]){3, 1});
  pack_once(opened, 2, tiny, (int64_t[]){9, 9}, (int64_t[]){9, 9});
  pack_once(opened, 1, row, (int64_t[]){1}, (int64_t[]){1});
  pack_once(opened, 1, row, (int64_t[]){2}, (int64_t[]){-1});
  pack_once(opened, 0, row, row, row);
  rung_view deep = rung_view_compact(NULL, RUNG_F32, 3, (int64_t[]){0, 0, 0});
  assert_int_equal(cpu->pack(opened, &deep, &deep, NULL), RUNG_BAD_SHAPE);
  rung_view empty = rung_view_compact(NULL, RUNG_F32, 2, (int64_t[]){0, 5});
  assert_int_equal(cpu->pack(opened, &empty, &empty, NULL), RUNG_OK);
}

/* ---- measuring ------------------------------------------------------------------------------ */

static void marks_tell_time(void **state) {
  rung_state *opened = state_of(state);
  double took = -1;
  assert_int_equal(cpu->elapsed(opened, &took, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(cpu->mark(opened, 2, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(cpu->mark(opened, 0, NULL), RUNG_OK);
  assert_int_equal(cpu->elapsed(opened, &took, NULL), RUNG_BAD_ARGUMENT);
  struct timespec from, to; /* around the marks: however long the sleep is, they lie within */
  clock_gettime(CLOCK_MONOTONIC_RAW, &from);
  assert_int_equal(cpu->mark(opened, 0, NULL), RUNG_OK);
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  assert_int_equal(cpu->mark(opened, 1, NULL), RUNG_OK);
  clock_gettime(CLOCK_MONOTONIC_RAW, &to);
  assert_int_equal(cpu->elapsed(opened, &took, NULL), RUNG_OK);
  assert_true(took >= 19.9 && took <= (double)(to.tv_sec - from.tv_sec) * 1e3 +
                                          (double)(to.tv_nsec - from.tv_nsec) * 1e-6);
}

static void the_clock_is_plausible(void **state) {
  rung_state *opened = state_of(state);
  double mhz = -1;
  assert_int_equal(cpu->clock_mhz(opened, &mhz, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(cpu->clock_begin(opened, NULL), RUNG_OK);
  assert_int_equal(cpu->clock_end(opened, NULL), RUNG_OK);
  assert_int_equal(cpu->clock_mhz(opened, &mhz, NULL), RUNG_OK);
  /* Low where additions are not in registers, or the machine is busy: never high. */
  if (!(mhz > 0 && mhz < 10000)) fail_msg("the clock is said to be %g MHz", mhz);
}

static void flushes_reuse_their_memory(void **state) {
  rung_state *opened = state_of(state);
  opened->cache_bytes = 3 << 19; /* as if: 1.5 MiB, to be quick */
  assert_int_equal(cpu->flush(opened, NULL), RUNG_OK);
  assert_int_equal(opened->spare_bytes, 3 << 20);
  const char *first = opened->spare;
  for (size_t i = 0; i < opened->spare_bytes; i += 4096) assert_int_equal(first[i], 1);
  assert_int_equal(cpu->flush(opened, NULL), RUNG_OK);
  assert_ptr_equal(opened->spare, first);
}

int main(void) {
#define WITH_STATE(test) cmocka_unit_test_setup_teardown(test, open_plain, close_plain)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_cpu_is_described),
      cmocka_unit_test(facts_are_told),
      WITH_STATE(allocations),
      cmocka_unit_test(memory_left_is_the_least_limit),
      WITH_STATE(copies_and_fills),
      WITH_STATE(packs),
      WITH_STATE(marks_tell_time),
      WITH_STATE(the_clock_is_plausible),
      WITH_STATE(flushes_reuse_their_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
