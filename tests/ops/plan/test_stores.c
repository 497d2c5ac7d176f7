/* Arrays in stores: the bits of arrays in memory, in little memory of their own, and what a store
 * that fails comes to. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ops/outside.h"

enum {
  ROWS = INSTRUMENTED ? 1000 : 3000,
  COLUMNS = 1000,
  COUNT = 3 << (INSTRUMENTED ? 19 : 20),
  BINS = 11,
  LIMIT = 2 << 20
};

/* Memory that is called a store. */
typedef struct stored {
  char *data;
  size_t bytes;
  atomic_long reads, writes;
  atomic_size_t moved;
  long fails_at;      /* this read or write fails; 0: none */
  atomic_bool beyond; /* something was asked for that is not there */
} stored;

static bool fails(stored *s, int64_t offset, size_t bytes, long number, char why[RUNG_TEXT]) {
  s->moved += bytes;
  const bool beyond = offset < 0 || (size_t)offset > s->bytes || bytes > s->bytes - (size_t)offset;
  if (beyond) s->beyond = true;
  if (s->fails_at == 0 || number != s->fails_at) return beyond;
  strcpy(why, "it is gone");
  return true;
}

static int read_stored(void *state, int64_t offset, size_t bytes, void *to, char why[RUNG_TEXT]) {
  stored *s = (stored *)state;
  if (fails(s, offset, bytes, ++s->reads, why)) return 1;
  memcpy(to, s->data + offset, bytes);
  return 0;
}

static int write_stored(void *state, int64_t offset, size_t bytes, const void *from,
                        char why[RUNG_TEXT]) {
  stored *s = (stored *)state;
  if (fails(s, offset, bytes, ++s->writes, why)) return 1;
  memcpy(s->data + offset, from, bytes);
  return 0;
}

static float *data, *wanted, *found;
static rung_context *plain;

typedef struct result {
  int64_t counts[BINS];
  float one, means[COLUMNS], row_means[ROWS];
} result;

static int open_all(void **state) {
  (void)state;
  data = malloc(COUNT * sizeof *data);
  wanted = malloc(COUNT * sizeof *wanted);
  found = malloc(COUNT * sizeof *found);
  if (data == NULL || wanted == NULL || found == NULL) return -1;
  uint32_t number = 1;
  for (int i = 0; i < COUNT; i++) {
    number = number * 1664525u + 1013904223u;
    data[i] = (float)(int32_t)number * 0x1p-29f;
  }
  data[COUNT / 3] = -0.0f;
  return rung_open(&plain, &(rung_options){.device = "cpu"}) != RUNG_OK;
}

static int close_all(void **state) {
  (void)state;
  rung_close(plain);
  free(data);
  free(wanted);
  free(found);
  return 0;
}

static rung_context *open_within(const char *device, const char *limit) {
  rung_context *made;
  if (limit != NULL) assert_int_equal(setenv("RUNG_MEMORY_LIMIT", limit, 1), 0);
  const rung_status status = rung_open(&made, &(rung_options){.device = device, .threads = 2});
  if (limit != NULL) assert_int_equal(unsetenv("RUNG_MEMORY_LIMIT"), 0);
  if (status == RUNG_OK) return made;
  rung_close(made);
  return NULL;
}

typedef struct ends {
  stored in, out;
  rung_store read_only, written;
} ends;

static void make_ends(ends *e, int64_t elements, float *to) {
  memset(e, 0, sizeof *e);
  e->in.data = (char *)data;
  e->out.data = (char *)to;
  e->in.bytes = e->out.bytes = (size_t)elements * sizeof *data;
  e->read_only = (rung_store){.size = sizeof e->read_only, .state = &e->in, .read = read_stored};
  e->written = e->read_only;
  e->written.state = &e->out;
  e->written.write = write_stored;
}

enum { SUM, MEAN, LEAST, DOWN, ACROSS, SCAN, SCANS, SCANS_DOWN, HISTOGRAM, STENCIL, JOBS };

/* One of the jobs, of `in`, to `out` where it has an array for a result. */
static rung_status run(rung_context *context, int job, DLTensor in, DLTensor out, result *to) {
  int64_t flat = COUNT, columns = COLUMNS, rows = ROWS, square[] = {ROWS, COLUMNS}, bins = BINS;
  DLTensor one = rung_number_f32(&to->one), down = rung_array_f32(to->means, &columns),
           across = rung_array_f32(to->row_means, &rows),
           counts = rung_array_i64(to->counts, &bins);
  const double weights[] = {1, 2, 1};
  const rung_stencil_model smooth = {
      .radius = 1, .weights = weights, .divide = 4, .steps = 7, .fixed = 2};
  const rung_bins even = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = -3, .high = 3};
  const bool is_flat = job <= LEAST || job == SCAN || job == HISTOGRAM;
  in.ndim = out.ndim = is_flat ? 1 : 2;
  in.shape = out.shape = is_flat ? &flat : square;
  switch (job) {
    case SUM:
      return rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &one, NULL);
    case MEAN:
      return rung_reduce(context, RUNG_MEAN, &in, RUNG_ALL, &one, NULL);
    case LEAST:
      return rung_reduce(context, RUNG_MIN, &in, RUNG_ALL, &one, NULL);
    case DOWN:
      return rung_reduce(context, RUNG_SUM, &in, 0, &down, NULL);
    case ACROSS:
      return rung_reduce(context, RUNG_SUM, &in, 1, &across, NULL);
    case SCAN:
      return rung_scan(context, RUNG_SUM, &in, 0, 1, &out, NULL);
    case SCANS:
      return rung_scan(context, RUNG_SUM, &in, 1, 0, &out, NULL);
    case SCANS_DOWN:
      return rung_scan(context, RUNG_MAX, &in, 0, 0, &out, NULL);
    case HISTOGRAM:
      return rung_histogram(context, &even, &in, &counts, NULL, NULL);
    default:
      return rung_stencil(context, &smooth, &in, &out, &across, NULL);
  }
}

static bool has_out(int job) {
  return job == STENCIL || (job >= SCAN && job <= SCANS_DOWN);
}

static DLTensor tensor_of(void *at, bool is_store) {
  const DLDataType type = rung_type(kDLFloat, 32);
  return is_store ? rung_stored(at, type, 0, NULL) : rung_array(at, type, 0, NULL);
}

static void compare(rung_context *context, int job, bool limited, const char *about) {
  result whole, parts;
  ends e;
  memset(&whole, 0x5a, sizeof whole);
  memset(&parts, 0x5a, sizeof parts);
  memset(wanted, 0x5a, COUNT * sizeof *wanted);
  memset(found, 0x5a, COUNT * sizeof *found);
  make_ends(&e, COUNT, found);
  assert_int_equal(run(plain, job, tensor_of(data, false), tensor_of(wanted, false), &whole),
                   RUNG_OK);
  const rung_status status =
      run(context, job, tensor_of(&e.read_only, true), tensor_of(&e.written, true), &parts);
  if (status != RUNG_OK) fail_msg("%s, job %d: %s", about, job, rung_last_error(context));
  if (memcmp(&whole, &parts, sizeof whole) != 0) fail_msg("%s, job %d: other bits", about, job);
  if (memcmp(wanted, found, COUNT * sizeof *found) != 0)
    fail_msg("%s, job %d: the store has other bits", about, job);
  assert_false(e.in.beyond || e.out.beyond);
  assert_true(e.in.reads > 0 && e.in.writes == 0 && (e.out.writes > 0) == has_out(job));
  if (limited) assert_true(e.in.reads >= COUNT * (long)sizeof(float) / LIMIT);
}

static void stores_have_the_bits_of_memory(void **state) {
  (void)state;
  static const struct {
    const char *device, *limit;
  } kinds[] = {{"cpu", NULL}, {"cpu", "2M"}, {"sim", NULL}, {"sim", "2M"}};
  for (int k = 0; k < 4; k++) {
    rung_context *context = open_within(kinds[k].device, kinds[k].limit);
    for (int job = 0; context != NULL && job < JOBS; job++)
      if (k < 2 || (job != STENCIL && job != SCANS_DOWN)) /* which take long there */
        compare(context, job, kinds[k].limit != NULL, kinds[k].device);
    rung_close(context);
  }
}

/* Of views that are no runs, and of ones that begin within the store. */
static void stores_may_have_strides(void **state) {
  (void)state;
  int64_t shape[] = {400, 30, 20}, strides[] = {1, 2000, 50};
  rung_context *context = open_within("cpu", "600K");
  ends e;
  make_ends(&e, COUNT, found);
  float whole = 0, sum = 1;
  DLTensor out = rung_number_f32(&whole), in = rung_array(data, rung_type(kDLFloat, 32), 3, shape);
  in.strides = strides;
  in.byte_offset = 12;
  assert_int_equal(rung_reduce(plain, RUNG_SUM, &in, RUNG_ALL, &out, NULL), RUNG_OK);
  in.data = &e.read_only;
  in.device = rung_stored(NULL, in.dtype, 0, NULL).device;
  out = rung_number_f32(&sum);
  assert_int_equal(rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, NULL), RUNG_OK);
  assert_memory_equal(&sum, &whole, sizeof sum);
  assert_false(e.in.beyond);
  rung_close(context);
}

/* In its own place: every element is read before it is written. */
static void a_store_may_be_scanned_in_place(void **state) {
  (void)state;
  rung_context *context = open_within("cpu", "2M");
  result none;
  ends e;
  make_ends(&e, COUNT, found);
  memcpy(found, data, COUNT * sizeof *found);
  const DLTensor here = tensor_of(&e.written, true);
  assert_int_equal(run(plain, SCAN, tensor_of(data, false), tensor_of(wanted, false), &none),
                   RUNG_OK);
  assert_int_equal(run(context, SCAN, here, here, &none), RUNG_OK);
  assert_memory_equal(found, wanted, COUNT * sizeof *found);
  rung_close(context);
}

/* Of lines that fit once, but not twice, none is cut: it would be read twice. */
static void reading_ahead_costs_no_second_reading(void **state) {
  (void)state;
  int64_t lines[] = {3, COUNT / 3};
  rung_context *context = open_within("cpu", "10M");
  ends e;
  make_ends(&e, COUNT, found);
  DLTensor in = rung_array(data, rung_type(kDLFloat, 32), 2, lines), out = in;
  out.data = wanted;
  assert_int_equal(rung_scan(plain, RUNG_SUM, &in, 1, 0, &out, NULL), RUNG_OK);
  in.data = &e.read_only;
  out.data = &e.written;
  in.device = out.device = rung_stored(NULL, in.dtype, 0, NULL).device;
  assert_int_equal(rung_scan(context, RUNG_SUM, &in, 1, 0, &out, NULL), RUNG_OK);
  assert_int_equal(e.in.moved, e.in.bytes);
  assert_memory_equal(found, wanted, COUNT * sizeof *found);
  rung_close(context);
}

/* Two stores, of which the first piece's write waits until something behind the piece is read. */
typedef struct patient {
  stored *in, *out;
  atomic_long read_until;
  bool waited, in_vain;
} patient;

static int read_patient(void *state, int64_t offset, size_t bytes, void *to, char why[RUNG_TEXT]) {
  patient *p = (patient *)state;
  const long end = (long)offset + (long)bytes;
  long until = p->read_until;
  while (until < end && !atomic_compare_exchange_weak(&p->read_until, &until, end)) {
  }
  return read_stored(p->in, offset, bytes, to, why);
}

static int write_patient(void *state, int64_t offset, size_t bytes, const void *from,
                         char why[RUNG_TEXT]) {
  patient *p = (patient *)state;
  const long end = (long)offset + (long)bytes; /* of the piece, which is less than a chunk */
  if (offset == 0) {
    for (int ms = 0; p->read_until <= end && ms < 60000; ms++)
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    p->waited = true;
    p->in_vain = p->read_until <= end;
  }
  return write_stored(p->out, offset, bytes, from, why);
}

/* The next piece is read while one is computed and written. */
static void stores_are_read_ahead(void **state) {
  (void)state;
  rung_context *context = open_within("cpu", "2M");
  result whole, parts;
  ends e;
  patient both = {.in = &e.in, .out = &e.out};
  make_ends(&e, COUNT, found);
  e.read_only = (rung_store){.size = sizeof e.read_only, .state = &both, .read = read_patient};
  e.written = e.read_only;
  e.written.write = write_patient;
  assert_int_equal(run(plain, STENCIL, tensor_of(data, false), tensor_of(wanted, false), &whole),
                   RUNG_OK);
  const rung_status status =
      run(context, STENCIL, tensor_of(&e.read_only, true), tensor_of(&e.written, true), &parts);
  if (status != RUNG_OK) fail_msg("%s", rung_last_error(context));
  assert_true(both.waited && !both.in_vain);
  assert_memory_equal(found, wanted, COUNT * sizeof *found);
  rung_close(context);
}

/* Every read and every write fails once, also where several threads read. */
static void a_store_may_fail_anywhere(void **state) {
  (void)state;
  static const int jobs[] = {SUM, SCAN, HISTOGRAM, STENCIL};
  rung_context *context = open_within("cpu", "2M");
  result none;
  for (int j = 0; j < 4; j++)
    for (int way = 0; way < 2; way++)
      for (long at = 1;; at += 1 + at / 3) {
        ends e;
        make_ends(&e, COUNT, found);
        (way == 0 ? &e.in : &e.out)->fails_at = at;
        const rung_status status = run(context, jobs[j], tensor_of(&e.read_only, true),
                                       tensor_of(&e.written, true), &none);
        if ((way == 0 ? e.in.reads : e.out.writes) < at) {
          assert_int_equal(status, RUNG_OK);
          break;
        }
        const char *wanted_text =
            way == 0 ? "a store cannot be read at byte " : "a store cannot be written at byte ";
        if (status != RUNG_FILE_FAILED ||
            strncmp(rung_last_error(context), wanted_text, strlen(wanted_text)) != 0 ||
            strstr(rung_last_error(context), ": it is gone") == NULL)
          fail_msg("job %d: %d \"%s\"", jobs[j], (int)status, rung_last_error(context));
      }
  rung_close(context);
}

static void refuse(rung_status status, rung_status expected, const char *part) {
  if (status != expected || strstr(rung_last_error(plain), part) == NULL)
    fail_msg("%d \"%s\"; expected: %s", (int)status, rung_last_error(plain), part);
}

static void what_is_no_store_is_refused(void **state) {
  (void)state;
  int64_t count = 100, square[] = {10, 10};
  float one = 5;
  ends e;
  make_ends(&e, 100, found);
  const DLDataType f32 = rung_type(kDLFloat, 32);
  DLTensor in = rung_stored(&e.read_only, f32, 1, &count), out = rung_number_f32(&one);
  DLTensor matrix = rung_stored(&e.read_only, f32, 2, square), host = matrix;
  host.data = data;
  host.device.device_type = kDLCPU;
  const rung_store none = {.size = sizeof none};
  DLTensor no_read = rung_stored(&none, f32, 1, &count),
           no_store = rung_stored(NULL, f32, 1, &count);
  refuse(rung_reduce(plain, RUNG_SUM, &no_read, RUNG_ALL, &out, NULL), RUNG_BAD_ARGUMENT,
         "in is a store without read()");
  refuse(rung_reduce(plain, RUNG_SUM, &no_store, RUNG_ALL, &out, NULL), RUNG_BAD_ARGUMENT,
         "in is NULL; expected: a rung_store");
  DLTensor of_others = in; /* memory of an extension of another library's, whatever it is */
  char memory = 1;
  of_others.data = &memory;
  of_others.device.device_id = 0;
  refuse(rung_reduce(plain, RUNG_SUM, &of_others, RUNG_ALL, &out, NULL), RUNG_BAD_PLACE,
         "DLPack device type 12");
  refuse(rung_scan(plain, RUNG_SUM, &in, 0, 0, &in, NULL), RUNG_BAD_ARGUMENT,
         "out is a store without write()");
  refuse(rung_matmul(plain, 1, &matrix, &host, 0, &host, NULL), RUNG_BAD_PLACE,
         "lies in memory of DLPack device type 12");
  const rung_points points = {.at = &matrix};
  const rung_distances bins = {.count = 1, .width = 1};
  refuse(rung_pairs(plain, &points, NULL, NULL, &bins, &out, NULL, NULL, NULL), RUNG_BAD_PLACE,
         "lies in memory of DLPack device type 12");
  assert_true(one == 5 && e.in.reads == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stores_have_the_bits_of_memory),
      cmocka_unit_test(stores_may_have_strides),
      cmocka_unit_test(a_store_may_be_scanned_in_place),
      cmocka_unit_test(reading_ahead_costs_no_second_reading),
      cmocka_unit_test(stores_are_read_ahead),
      cmocka_unit_test(a_store_may_fail_anywhere),
      cmocka_unit_test(what_is_no_store_is_refused),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
