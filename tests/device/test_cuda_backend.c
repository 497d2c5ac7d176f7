/* The CUDA backend against the host, through backend.h alone: devices, memory, pack. The tests of
 * a GPU's absence run everywhere. */
#include "core/random.h"
#include "device/gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is here ---- */

static void counting_devices_says_how_many_or_why_none(void **unused) {
  (void)unused;
  if (!cuda) skip();
  int devices = -1;
  rung_error error = {RUNG_OK, ""};
  rung_status status = cuda->count(&devices, &error);
  if (devices > 0) {
    assert_int_equal(status, RUNG_OK);
    return;
  }
  assert_int_equal(devices, 0);
  assert_int_equal(status, RUNG_NO_DEVICE);
  assert_int_equal(error.status, RUNG_NO_DEVICE);
  assert_non_null(strstr(error.sentence, "CUDA"));
  assert_int_equal(cuda->count(&devices, NULL), RUNG_NO_DEVICE);
}

static void count_facts(void *to, const char *key, const char *value) {
  assert_true(key[0] != '\0' && value[0] != '\0');
  if (strcmp(key, "multiprocessors") == 0) assert_int_equal(atoi(value), device.processors);
  ++*(int *)to;
}

static void devices_that_are_not_there_are_refused(void **unused) {
  (void)unused;
  if (!cuda) skip();
  rung_device other;
  int facts = 0;
  FAILS(RUNG_NO_DEVICE, cuda->describe(-1, &other, &failure));
  FAILS(RUNG_NO_DEVICE, cuda->describe(4096, &other, &failure));
  FAILS(RUNG_NO_DEVICE, cuda->facts(4096, count_facts, &facts, &failure));
  assert_int_equal(facts, 0);
}

static void description_and_facts_are_plausible(void **unused) {
  (void)unused;
  NEED_DEVICE();
  assert_int_equal(device.kind, RUNG_CUDA);
  assert_true(device.name[0] != '\0');
  assert_non_null(strstr(device.identity, "GPU-"));
  assert_true(device.capability >= 75);
  assert_true(device.processors > 0 && device.threads >= 1024);
  assert_true(device.memory_bytes > 1 << 28 && device.cache_bytes > 0);
  assert_true(device.shared_bytes >= 48 << 10);
  assert_true(device.shared_processor_bytes >= device.shared_bytes);
  assert_true(device.registers >= 32768);
  int facts = 0;
  OK(cuda->facts(0, count_facts, &facts, &failure));
  assert_true(facts > 40);
}

/* ---- memory ---- */

static void copies_and_fills_arrive(void **unused) {
  (void)unused;
  NEED_DEVICE();
  enum { BYTES = 100003 };
  unsigned char *sent = malloc(BYTES), *got = malloc(BYTES);
  void *a, *b;
  for (int i = 0; i < BYTES; i++) sent[i] = (unsigned char)(i * 7 + i / 256);
  OK(cuda->allocate(gpu, BYTES, &a, &failure));
  OK(cuda->allocate(gpu, BYTES, &b, &failure));
  assert_int_equal((uintptr_t)a % 256, 0);
  OK(cuda->fill(gpu, b, 0xEE, BYTES, &failure));
  OK(cuda->copy(gpu, a, sent, BYTES, RUNG_TO_DEVICE, &failure));
  OK(cuda->copy(gpu, (char *)b + 1, (char *)a + 1, BYTES - 2, RUNG_ON_DEVICE, &failure));
  OK(cuda->copy(gpu, got, b, BYTES, RUNG_TO_HOST, &failure));
  OK(cuda->synchronize(gpu, &failure));
  assert_memory_equal(got + 1, sent + 1, BYTES - 2);
  assert_int_equal(got[0], 0xEE);
  assert_int_equal(got[BYTES - 1], 0xEE);
  cuda->release(gpu, a);
  cuda->release(gpu, b);
  cuda->release(gpu, NULL);
  free(sent);
  free(got);
}

static void nothing_can_be_allocated_copied_and_freed(void **unused) {
  (void)unused;
  NEED_DEVICE();
  void *memory = NULL;
  OK(cuda->allocate(gpu, 0, &memory, &failure));
  assert_non_null(memory);
  OK(cuda->fill(gpu, memory, 1, 0, &failure));
  OK(cuda->copy(gpu, memory, &device, 0, RUNG_TO_DEVICE, &failure));
  cuda->release(gpu, memory);
}

static void too_much_memory_is_refused_and_forgotten(void **unused) {
  (void)unused;
  NEED_DEVICE();
  int64_t free_bytes;
  OK(cuda->available(gpu, &free_bytes, &failure));
  assert_true(free_bytes > 0 && free_bytes <= device.memory_bytes);
  size_t sizes[] = {SIZE_MAX, (size_t)1 << 50, (size_t)device.memory_bytes};
  for (int i = 0; i < 3; i++) {
    void *memory = &device;
    FAILS(RUNG_OUT_OF_MEMORY, cuda->allocate(gpu, sizes[i], &memory, &failure));
    assert_null(memory);
    assert_non_null(strstr(failure.sentence, "free"));
  }
  void *memory;
  OK(cuda->allocate(gpu, 4096, &memory, &failure));
  OK(cuda->fill(gpu, memory, 1, 4096, &failure));
  OK(cuda->synchronize(gpu, &failure));
  cuda->release(gpu, memory);
  FAILS(RUNG_OUT_OF_MEMORY, cuda->allocate_pinned(gpu, (size_t)1 << 50, &memory, &failure));
  assert_null(memory);
}

/* ---- pack ---- */

/* Two equal stretches of GPU memory and the host's copy of the second. A view's origin lies in the
 * middle of its stretch; `room` counts elements. */
typedef struct bench {
  int64_t room;
  void *to, *from;
  char *host_from, *found, *wanted;
} bench;

static void bench_open(bench *b, int64_t room) {
  size_t all = (size_t)room * sizeof(double);
  b->room = room;
  b->host_from = malloc(all);
  b->found = malloc(all);
  b->wanted = malloc(all);
  for (size_t i = 0; i < all; i++) b->host_from[i] = (char)(i * 31 + i / 251);
  OK(cuda->allocate(gpu, all, &b->to, &failure));
  OK(cuda->allocate(gpu, all, &b->from, &failure));
  OK(cuda->copy(gpu, b->from, b->host_from, all, RUNG_TO_DEVICE, &failure));
}

static void bench_close(bench *b) {
  cuda->release(gpu, b->to);
  cuda->release(gpu, b->from);
  free(b->host_from);
  free(b->found);
  free(b->wanted);
}

static rung_view view_of(char *base, int64_t room, rung_dtype dtype, const int64_t *shape,
                         const int64_t *stride) {
  rung_view view = {0};
  view.dtype = dtype;
  view.place = RUNG_DEVICE;
  view.ndim = 2;
  view.count = shape[0] * shape[1];
  view.data = base + (size_t)room / 2 * rung_dtype_bytes(dtype);
  for (int i = 0; i < 2; i++) {
    view.shape[i] = shape[i];
    view.stride[i] = stride[i];
  }
  return view;
}

static void pack_on_host(const rung_view *to, const rung_view *from) {
  int64_t bytes = (int64_t)rung_dtype_bytes(to->dtype);
  for (int64_t r = 0; r < to->shape[0]; r++)
    for (int64_t c = 0; c < to->shape[1]; c++)
      memcpy(to->data + (r * to->stride[0] + c * to->stride[1]) * bytes,
             from->data + (r * from->stride[0] + c * from->stride[1]) * bytes, (size_t)bytes);
}

/* Ways a (rows, columns) view can lie; the first WRITABLE_WAYS touch no element twice. */
enum { PLAIN, UPSIDE_DOWN, MIRRORED, TRANSPOSED, TURNED_BACK, PADDED, SPREAD, WRITABLE_WAYS };
enum { SAME_ROW = WRITABLE_WAYS, SAME_COLUMN, ONE_ELEMENT, WAYS };

static void strides_of(int way, const int64_t *shape, int64_t *stride) {
  int64_t rows = shape[0], columns = shape[1];
  const int64_t ways[WAYS][2] = {
      [PLAIN] = {columns, 1},      [UPSIDE_DOWN] = {-columns, 1}, [MIRRORED] = {columns, -1},
      [TRANSPOSED] = {1, rows},    [TURNED_BACK] = {-1, -rows},   [PADDED] = {columns + 3, 1},
      [SPREAD] = {2 * columns, 2}, [SAME_ROW] = {0, 1},           [SAME_COLUMN] = {columns, 0},
      [ONE_ELEMENT] = {0, 0}};
  stride[0] = ways[way][0];
  stride[1] = ways[way][1];
}

/* The whole stretch is compared: a pack must leave alone what lies between the elements. */
static void pack_once(bench *b, rung_dtype dtype, const int64_t *shape, int to_way, int from_way) {
  size_t all = (size_t)b->room * rung_dtype_bytes(dtype);
  int64_t to_stride[2], from_stride[2];
  strides_of(to_way, shape, to_stride);
  strides_of(from_way, shape, from_stride);
  rung_view to = view_of(b->to, b->room, dtype, shape, to_stride);
  rung_view from = view_of(b->from, b->room, dtype, shape, from_stride);
  OK(cuda->fill(gpu, b->to, 0xEE, all, &failure));
  OK(cuda->pack(gpu, &to, &from, &failure));
  OK(cuda->copy(gpu, b->found, b->to, all, RUNG_TO_HOST, &failure));
  OK(cuda->synchronize(gpu, &failure));

  memset(b->wanted, 0xEE, all);
  to = view_of(b->wanted, b->room, dtype, shape, to_stride);
  from = view_of(b->host_from, b->room, dtype, shape, from_stride);
  pack_on_host(&to, &from);
  if (memcmp(b->wanted, b->found, all) != 0)
    fail_msg("pack of (%d, %d) %s, strides way %d from way %d, differs from the host's",
             (int)shape[0], (int)shape[1], rung_dtype_name(dtype), to_way, from_way);
}

static void packs_any_strides_as_the_host_does(void **unused) {
  (void)unused;
  NEED_DEVICE();
  static const rung_dtype dtypes[] = {RUNG_U8, RUNG_U16, RUNG_F32, RUNG_F64};
  static const int64_t shapes[][2] = {{1, 1}, {1, 8000}, {8000, 1}, {33, 65}, {257, 3}, {0, 5}};
  bench b;
  bench_open(&b, 70000);
  for (int d = 0; d < 4; d++)
    for (int s = 0; s < 6; s++)
      for (int to = 0; to < WRITABLE_WAYS; to++)
        for (int from = 0; from < WAYS; from++) pack_once(&b, dtypes[d], shapes[s], to, from);
  bench_close(&b);
}

/* Rows that are runs of memory, as long as a few loads and longer, at any distance. */
static void packs_runs_wherever_they_begin(void **unused) {
  (void)unused;
  NEED_DEVICE();
  enum { ROWS = 3, MOST = 5000 };
  static const rung_dtype dtypes[] = {RUNG_U8, RUNG_U16, RUNG_F32, RUNG_F64};
  bench b;
  bench_open(&b, 2 * ROWS * MOST);
  for (int d = 0; d < 4; d++)
    for (int job = 0; job < 600; job++) {
      const int64_t shape[2] = {ROWS, job < 500 ? job * 3 / 4 + 1 : 3000 + job};
      const int64_t to_stride[2] = {shape[1] + job % 19, 1}, from_stride[2] = {MOST - job % 23, 1};
      rung_view to = view_of(b.to, 0, dtypes[d], shape, to_stride), wanted = to;
      rung_view from = view_of(b.from, 0, dtypes[d], shape, from_stride), source = from;
      const size_t bytes = rung_dtype_bytes(dtypes[d]), all = (size_t)b.room * bytes,
                   to_first = (size_t)(job % 17) * bytes,
                   from_first = (size_t)(job / 5 % 17) * bytes;
      to.data += to_first;
      from.data += from_first;
      OK(cuda->fill(gpu, b.to, 0xEE, all, &failure));
      OK(cuda->pack(gpu, &to, &from, &failure));
      OK(cuda->copy(gpu, b.found, b.to, all, RUNG_TO_HOST, &failure));
      OK(cuda->synchronize(gpu, &failure));
      memset(b.wanted, 0xEE, all);
      wanted.data = b.wanted + to_first;
      source.data = b.host_from + from_first;
      pack_on_host(&wanted, &source);
      if (memcmp(b.wanted, b.found, all) != 0)
        fail_msg("pack of rows of %d %s, job %d, differs from the host's", (int)shape[1],
                 rung_dtype_name(dtypes[d]), job);
    }
  bench_close(&b);
}

/* More than the blocks do in one round. */
static void packs_large_views_as_the_host_does(void **unused) {
  (void)unused;
  NEED_DEVICE();
  static const int64_t shape[2] = {2047, 2049}, row[2] = {1, 1200000};
  static const int64_t even[2] = {1022, 2050}, few[][2] = {{31, 70001}, {70001, 3}, {2, 65}};
  bench b;
  bench_open(&b, 5 * 2050 * 2052);
  pack_once(&b, RUNG_U8, shape, PLAIN, TRANSPOSED);
  pack_once(&b, RUNG_F32, shape, TRANSPOSED, UPSIDE_DOWN);
  pack_once(&b, RUNG_F32, shape, TURNED_BACK, TRANSPOSED);
  pack_once(&b, RUNG_U16, shape, PADDED, SPREAD);
  pack_once(&b, RUNG_F64, shape, MIRRORED, SAME_ROW);
  pack_once(&b, RUNG_U8, row, MIRRORED, PLAIN);
  pack_once(&b, RUNG_U8, even, PLAIN, TRANSPOSED); /* by pairs */
  pack_once(&b, RUNG_U16, even, TRANSPOSED, PLAIN);
  pack_once(&b, RUNG_U16, even, PLAIN, TRANSPOSED);
  for (int i = 0; i < 3; i++) {
    pack_once(&b, RUNG_U16, few[i], PLAIN, TRANSPOSED);
    pack_once(&b, RUNG_F32, few[i], TRANSPOSED, UPSIDE_DOWN);
    pack_once(&b, RUNG_F64, few[i], TRANSPOSED, PLAIN);
  }
  bench_close(&b);
}

static void packs_fewer_dimensions_too(void **unused) {
  (void)unused;
  NEED_DEVICE();
  static const int64_t shape[2] = {100, 1}, stride[2] = {-3, 0};
  bench b;
  bench_open(&b, 1000);
  for (int ndim = 0; ndim <= 1; ndim++) {
    rung_view to = view_of(b.to, b.room, RUNG_F32, shape, stride);
    rung_view from = view_of(b.from, b.room, RUNG_F32, shape, stride);
    to.ndim = from.ndim = ndim;
    to.stride[0] = 1;
    OK(cuda->pack(gpu, &to, &from, &failure));
    OK(cuda->copy(gpu, b.found, to.data, 400, RUNG_TO_HOST, &failure));
    OK(cuda->synchronize(gpu, &failure));
    for (int i = 0; i < (ndim ? 100 : 1); i++)
      assert_memory_equal(b.found + 4 * i, b.host_from + 4 * (500 - 3 * i), 4);
  }
  bench_close(&b);
}

/* Gives the view's dimensions a random order in memory, with gaps, some backwards. *first: where
 * its element 0 is among as many elements as that returns. `again`: a dimension may be one element
 * over and over. */
static int64_t lay_out(rung_view *view, rung_random *random, bool again, int64_t *first) {
  int order[RUNG_MAX_DIMS];
  int64_t step = 1, count = 1;
  *first = 0;
  for (int d = 0; d < view->ndim; d++) {
    const int k = (int)(rung_random_double(random) * (d + 1));
    order[d] = order[k];
    order[k] = d;
  }
  for (int i = view->ndim - 1; i >= 0; i--) {
    const int d = order[i];
    const double what = rung_random_double(random);
    const int64_t reach = (view->shape[d] - 1) * step;
    view->stride[d] = what < 0.2 ? -step : step;
    if (again && what > 0.95) view->stride[d] = 0;
    if (view->stride[d] < 0) *first += reach;
    count += reach;
    step = step * view->shape[d] + (what > 0.5 ? (int64_t)(4 * rung_random_double(random)) : 0);
  }
  return count;
}

static void pack_dimensions_on_host(const rung_view *to, const rung_view *from) {
  const int64_t bytes = (int64_t)rung_dtype_bytes(to->dtype);
  int64_t at[RUNG_MAX_DIMS] = {0};
  for (int64_t n = 0; n < to->count; n++) {
    int64_t there = 0, here = 0;
    for (int d = 0; d < to->ndim; d++) {
      there += at[d] * to->stride[d];
      here += at[d] * from->stride[d];
    }
    memcpy(to->data + there * bytes, from->data + here * bytes, (size_t)bytes);
    for (int d = to->ndim - 1; d >= 0 && ++at[d] == to->shape[d]; d--) at[d] = 0;
  }
}

/* Packs a view of this shape, of a random order in memory, from another one (see lay_out()). */
static void pack_dimensions_once(bench *b, rung_view to, rung_random *random, bool again, int job) {
  rung_view from = to, wanted;
  const size_t bytes = rung_dtype_bytes(to.dtype), all = (size_t)b->room * bytes;
  int64_t to_first, from_first;
  if (lay_out(&to, random, false, &to_first) > b->room ||
      lay_out(&from, random, again, &from_first) > b->room)
    return;
  wanted = to;
  to.data = b->to + (size_t)to_first * bytes;
  wanted.data = b->wanted + (size_t)to_first * bytes;
  from.data = b->from + (size_t)from_first * bytes;
  OK(cuda->fill(gpu, b->to, 0xEE, all, &failure));
  OK(cuda->pack(gpu, &to, &from, &failure));
  OK(cuda->copy(gpu, b->found, b->to, all, RUNG_TO_HOST, &failure));
  OK(cuda->synchronize(gpu, &failure));
  memset(b->wanted, 0xEE, all);
  from.data = b->host_from + (size_t)from_first * bytes;
  pack_dimensions_on_host(&wanted, &from);
  if (memcmp(b->wanted, b->found, all) != 0)
    fail_msg("pack of %d dimensions of %s, job %d, differs from the host's", to.ndim,
             rung_dtype_name(to.dtype), job);
}

static void packs_any_dimensions_as_the_host_does(void **unused) {
  (void)unused;
  NEED_DEVICE();
  enum { ROOM = 1 << 18, MOST = 1 << 15 };
  static const rung_dtype dtypes[] = {RUNG_U8, RUNG_U16, RUNG_F32, RUNG_F64};
  rung_random random = {17};
  bench b;
  bench_open(&b, ROOM);
  for (int job = 0; job < 3000; job++) {
    rung_view to = {.dtype = dtypes[job % 4], .place = RUNG_DEVICE, .count = 1};
    to.ndim = 1 + (int)(RUNG_MAX_DIMS * rung_random_double(&random));
    for (int d = 0; d < to.ndim; d++) {
      const double most = pow((double)(MOST / to.count), rung_random_double(&random));
      to.shape[d] = most < 1 ? 1 : (int64_t)most;
      to.count *= to.shape[d];
    }
    pack_dimensions_once(&b, to, &random, true, job);
  }
  bench_close(&b);
}

/* Enough for boxes of full size: few and many neighbours on either side, even counts of them, which
 * go by pairs, and others, and eight dimensions. */
static void packs_many_elements_of_any_dimensions(void **unused) {
  (void)unused;
  NEED_DEVICE();
  static const rung_dtype dtypes[] = {RUNG_U8, RUNG_U16, RUNG_F32, RUNG_F64};
  static const int64_t shapes[][RUNG_MAX_DIMS] = {{1607, 571, 5},
                                                  {130, 190, 200},
                                                  {67, 258, 254},
                                                  {3, 1500000},
                                                  {24, 3, 260, 250},
                                                  {40, 2, 50, 10, 90},
                                                  {3, 3, 3, 3, 3, 3, 5, 1000},
                                                  {2, 4, 6, 8, 10, 12, 14, 7}};
  rung_random random = {18};
  bench b;
  bench_open(&b, 12 << 20);
  for (int job = 0; job < 64; job++) {
    rung_view to = {.dtype = dtypes[job % 4], .place = RUNG_DEVICE, .count = 1};
    const int64_t *shape = shapes[job / 4 % 8];
    for (; to.ndim < RUNG_MAX_DIMS && shape[to.ndim] > 0; to.ndim++)
      to.count *= to.shape[to.ndim] = shape[to.ndim];
    pack_dimensions_once(&b, to, &random, false, job);
  }
  bench_close(&b);
}

/* Turned, without gaps, from and to an even place: by pairs, as elements of twice the size, and one
 * by one. */
static void packs_permuted_views_as_the_host_does(void **unused) {
  (void)unused;
  NEED_DEVICE();
  static const rung_dtype dtypes[] = {RUNG_U8, RUNG_U16, RUNG_F32, RUNG_F64};
  static const int64_t shapes[][3] = {{160, 1311, 5}, {62, 132, 130}, {128, 256, 64},
                                      {33, 258, 66},  {200, 300, 4},  {5, 77, 1000}};
  static const int orders[][3] = {{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  bench b;
  bench_open(&b, 3 << 20);
  for (int job = 0; job < 4 * 6 * 5 * 2; job++) {
    rung_view to = {.dtype = dtypes[job % 4], .place = RUNG_DEVICE, .ndim = 3, .count = 1}, from,
              wanted;
    const int64_t *shape = shapes[job / 4 % 6];
    const int *order = orders[job / 24 % 5];
    const size_t bytes = rung_dtype_bytes(to.dtype), all = (size_t)b.room * bytes,
                 first = job < 120 ? 0 : bytes;
    for (int d = 2; d >= 0; d--) {
      to.shape[d] = shape[d];
      to.stride[d] = to.count;
      to.count *= shape[d];
    }
    from = to;
    for (int64_t k = 2, step = 1; k >= 0; step *= shape[order[k]], k--)
      from.stride[order[k]] = step;
    wanted = to;
    to.data = (char *)b.to + first;
    wanted.data = b.wanted + first;
    from.data = b.from;
    OK(cuda->fill(gpu, b.to, 0xEE, all, &failure));
    OK(cuda->pack(gpu, &to, &from, &failure));
    OK(cuda->copy(gpu, b.found, b.to, all, RUNG_TO_HOST, &failure));
    OK(cuda->synchronize(gpu, &failure));
    memset(b.wanted, 0xEE, all);
    from.data = b.host_from;
    pack_dimensions_on_host(&wanted, &from);
    if (memcmp(b.wanted, b.found, all) != 0)
      fail_msg("pack of (%d, %d, %d) %s, job %d, differs from the host's", (int)shape[0],
               (int)shape[1], (int)shape[2], rung_dtype_name(to.dtype), job);
  }
  bench_close(&b);
}

/* Few neighbours that are gigabytes apart, on either side. */
static void packs_what_lies_far_apart(void **unused) {
  (void)unused;
  NEED_DEVICE();
  enum { PLANES = 3, ROWS = 40, COLUMNS = 50, PLANE = ROWS * COLUMNS, ALL = PLANES * PLANE };
  static const int64_t far = (INT64_C(1) << 31) + 7;
  static char host[ALL], found[ALL];
  char *apart = NULL, *near;
  if (cuda->allocate(gpu, (size_t)(PLANES * far), (void **)&apart, &failure) != RUNG_OK) skip();
  OK(cuda->allocate(gpu, ALL, (void **)&near, &failure));
  for (int i = 0; i < ALL; i++) host[i] = (char)(i * 31 + i / 251);
  for (int p = 0; p < PLANES; p++)
    OK(cuda->copy(gpu, apart + p * far, host + p * PLANE, PLANE, RUNG_TO_DEVICE, &failure));
  rung_view from = {.dtype = RUNG_U8,
                    .place = RUNG_DEVICE,
                    .data = apart,
                    .ndim = 3,
                    .shape = {PLANES, ROWS, COLUMNS},
                    .stride = {far, COLUMNS, 1},
                    .count = ALL};
  rung_view to = from;
  to.data = near;
  to.stride[0] = 1; /* a pixel's planes are neighbours */
  to.stride[1] = COLUMNS * PLANES;
  to.stride[2] = PLANES;
  OK(cuda->pack(gpu, &to, &from, &failure));
  OK(cuda->copy(gpu, found, near, ALL, RUNG_TO_HOST, &failure));
  OK(cuda->synchronize(gpu, &failure));
  for (int i = 0; i < ALL; i++) assert_int_equal(found[i], host[i % PLANES * PLANE + i / PLANES]);
  for (int p = 0; p < PLANES; p++) OK(cuda->fill(gpu, apart + p * far, 0, PLANE, &failure));
  OK(cuda->pack(gpu, &from, &to, &failure));
  for (int p = 0; p < PLANES; p++)
    OK(cuda->copy(gpu, found + p * PLANE, apart + p * far, PLANE, RUNG_TO_HOST, &failure));
  OK(cuda->synchronize(gpu, &failure));
  assert_memory_equal(found, host, ALL);
  cuda->release(gpu, apart);
  cuda->release(gpu, near);
}

static void packs_of_unlike_views_are_refused(void **unused) {
  (void)unused;
  NEED_DEVICE();
  const int64_t shape[2] = {4, 4}, other[2] = {4, 5}, stride[2] = {5, 1};
  rung_view a = view_of(NULL, 0, RUNG_F32, shape, stride), b = a;
  b.shape[1] = other[1];
  FAILS(RUNG_BAD_SHAPE, cuda->pack(gpu, &a, &b, &failure));
  b = a;
  b.dtype = RUNG_I32;
  FAILS(RUNG_BAD_DTYPE, cuda->pack(gpu, &a, &b, &failure));
  b = a;
  b.ndim = 1;
  FAILS(RUNG_BAD_SHAPE, cuda->pack(gpu, &a, &b, &failure));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counting_devices_says_how_many_or_why_none),
      cmocka_unit_test(devices_that_are_not_there_are_refused),
      cmocka_unit_test(description_and_facts_are_plausible),
      cmocka_unit_test(copies_and_fills_arrive),
      cmocka_unit_test(nothing_can_be_allocated_copied_and_freed),
      cmocka_unit_test(too_much_memory_is_refused_and_forgotten),
      cmocka_unit_test(packs_any_strides_as_the_host_does),
      cmocka_unit_test(packs_runs_wherever_they_begin),
      cmocka_unit_test(packs_large_views_as_the_host_does),
      cmocka_unit_test(packs_fewer_dimensions_too),
      cmocka_unit_test(packs_any_dimensions_as_the_host_does),
      cmocka_unit_test(packs_many_elements_of_any_dimensions),
      cmocka_unit_test(packs_permuted_views_as_the_host_does),
      cmocka_unit_test(packs_what_lies_far_apart),
      cmocka_unit_test(packs_of_unlike_views_are_refused),
  };
  return cmocka_run_group_tests_name("cuda backend", tests, open_gpu, close_gpu);
}
