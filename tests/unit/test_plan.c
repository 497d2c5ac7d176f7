/* The plan between a call and a rung, on a device of the test's own: memory apart from the host's,
 * so little of it that rows go in pieces, and a stream that does nothing before it is waited for.
 * What is not staged, packed, waited for and brought back as it must be comes out wrong. */
#include "unit/tiny_device.h"

/* ---- the arrays ------------------------------------------------------------------------------ */

enum { N = 100, M = 32, ROOM = 4 * N * M };
/* Alike to what a choice of rungs asks of addresses. */
static _Alignas(256) float source[ROOM], target[ROOM];
static float sums[2 * N];

/* `stride` of columns is 1, 2, -1 or N (transposed), with rows to match. */
static rung_view view(float *room, rung_place place, int64_t stride) {
  const int64_t shape[2] = {N, M};
  rung_view v = rung_view_compact(room, RUNG_F32, 2, shape);
  v.place = place;
  if (stride == 2) v.stride[0] = 2 * M;
  if (stride == -1) v.data += (ROOM / 2) * 4;
  if (stride == N) v.stride[0] = 1;
  v.stride[1] = stride;
  return v;
}

static rung_view vector(rung_place place, int64_t stride) {
  const int64_t shape[1] = {N};
  rung_view v = rung_view_compact(sums, RUNG_F32, 1, shape);
  v.place = place;
  v.stride[0] = stride;
  return v;
}

static float *element(const rung_view *v, int64_t i, int64_t j) {
  return (float *)v->data + i * v->stride[0] + j * v->stride[1];
}

static void check(const rung_view *out, const rung_view *all) {
  int64_t used = 0;
  for (int64_t i = 0; i < N; i++) {
    float sum = 0;
    for (int64_t j = 0; j < M; j++) {
      const float wanted = 10 * (float)(i * M + j) + (float)i;
      sum += wanted;
      if (*element(out, i, j) != wanted)
        fail_msg("(%ld, %ld) is %g, not %g", (long)i, (long)j, (double)*element(out, i, j),
                 (double)wanted);
    }
    if (all != NULL) assert_true(((float *)all->data)[i * all->stride[0]] == sum);
  }
  for (int64_t k = 0; k < ROOM; k++) used += target[k] != -1;
  assert_int_equal(used, N * M);
}

static void fill(const rung_view *in) {
  for (int64_t k = 0; k < ROOM; k++) source[k] = target[k] = -1;
  for (int64_t i = 0; i < N; i++)
    for (int64_t j = 0; j < M; j++) *element(in, i, j) = (float)(i * M + j);
}

static const int64_t strides[] = {1, 2, -1, N};

static int64_t given; /* bytes of the device */

/* A fresh device of so many bytes, once all of the last one's are back. */
static void reset(int64_t bytes) {
  if (context.scratch != NULL) release(&device_state, context.scratch);
  if (context.zeros != NULL) release(&device_state, context.zeros);
  free(context.chunks);
  free(context.host_scratch);
  assert_int_equal(device_state.available, given);
  given = bytes;
  memset(&device_state, 0, sizeof device_state);
  device_state.available = bytes;
  context = (rung_context){.backend = &backend,
                           .state = &device_state,
                           .device = {.kind = RUNG_CUDA, .name = "a tiny one", .capability = 90}};
}

#define OK(status) \
  if ((status) != RUNG_OK) fail_msg("%s", context.error.sentence)

/* The same, with a queue of copies. */
static void reset_beside(int64_t bytes) {
  reset(bytes);
  beside = with_copies();
  context.backend = &beside;
}

/* The same, work being quick and copies slow. */
static void reset_eager(int64_t bytes) {
  reset_beside(bytes);
  device_state.eager = true;
}

/* ---- host arrays ----------------------------------------------------------------------------- */

static void stage_host_arrays(void (*reset)(int64_t bytes)) {
  /* Room for all, for a few rows, for one row and nothing more. */
  static const int64_t memories[] = {1 << 20, 9000, 2500};
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++)
      for (int k = 0; k < 3; k++)
        for (int r = 0; r < 2; r++) {
          const rung_view in = view(source, RUNG_HOST, strides[a]);
          const rung_view out = view(target, RUNG_HOST, strides[b]);
          const rung_view sum = vector(RUNG_HOST, 1 + b % 2);
          reset(memories[k]);
          fill(&in);
          OK(number(rows[r].name, &in, &out, &sum));
          assert_int_equal(under_way(&device_state), 0);
          check(&out, &sum);
          assert_int_equal(device_state.packs, 0);
          assert_int_equal(device_state.copies_in, device_state.launches);
          assert_int_equal(device_state.copies_out, 2 * device_state.launches);
          assert_true(k == 0 ? device_state.launches == 1
                             : device_state.launches >= (k == 1 ? 4 : 25));
          if (k == 2) assert_true(device_state.most_rows <= 4);
        }
}

static void stages_host_arrays(void **unused) {
  (void)unused;
  stage_host_arrays(reset);
}

static void stages_beside_the_work(void **unused) {
  (void)unused;
  stage_host_arrays(reset_beside);
  stage_host_arrays(reset_eager);
}

/* A piece's inputs are queued before the results of the one before are waited for. */
static void copies_while_it_works(void **unused) {
  (void)unused;
  const rung_view in = view(source, RUNG_HOST, 1), out = view(target, RUNG_HOST, 1);
  reset_beside(9000);
  fill(&in);
  OK(number("apart", &in, &out, NULL));
  check(&out, NULL);
  const order_queue *copies = &device_state.queues[RUNG_COPIES];
  int first_out = 0, inputs = 0;
  while (copies->orders[first_out].what != COPY || copies->orders[first_out].from == NULL ||
         (const char *)copies->orders[first_out].to < (const char *)context.chunks ||
         (const char *)copies->orders[first_out].to >=
             (const char *)context.chunks + context.chunk_bytes)
    inputs += copies->orders[first_out++].what == COPY;
  assert_int_equal(inputs, 2);
}

/* ---- large host arrays: by chunks and by several threads, of one piece too
 * ---------------------------------------------------------------------------------------------- */

enum { ROWS = 300, COLUMNS = 9973, LARGE = ROWS * COLUMNS, CHUNKS = LARGE * 4 / RUNG_CHUNK + 1 };

/* Two arrays; every `step`-th column is the array's, 1 or 2. */
static void large(float *memory, int64_t step, rung_view *in, rung_view *out) {
  const int64_t shape[2] = {ROWS, COLUMNS};
  *in = rung_view_compact(memory, RUNG_F32, 2, shape);
  *out = rung_view_compact(memory + LARGE * step, RUNG_F32, 2, shape);
  in->stride[0] = out->stride[0] = COLUMNS * step;
  in->stride[1] = out->stride[1] = step;
  for (int64_t i = 0; i < 2 * LARGE * step; i++) memory[i] = -1;
  for (int64_t i = 0; i < LARGE; i++) memory[i * step] = (float)(i % 1000);
}

static void check_large(const float *memory, int64_t step) {
  for (int64_t i = 0; i < LARGE; i++) {
    const float *at = &memory[(LARGE + i) * step];
    assert_true(*at == 10 * (float)(i % 1000) + (float)(i / COLUMNS));
    if (step == 2) assert_true(at[1] == -1);
  }
}

/* Pinned ones without buffers. */
static void stages_large_arrays_by_chunks(void **unused) {
  (void)unused;
  float *memory = malloc(4 * sizeof *memory * LARGE);
  for (int way = 0; way < 8; way++) {
    rung_view in, out;
    const int64_t step = 1 + way / 4;
    large(memory, step, &in, &out);
    pinned = way == 1 || way == 3 ? in.data : NULL;
    reset_beside(way % 4 < 2 ? 1 << 26 : 3 << 20);
    OK(number("apart", &in, &out, NULL));
    check_large(memory, step);
    assert_true(way % 4 < 2 ? device_state.launches == 1 : device_state.launches > 10);
    if (way % 4 < 2) assert_int_equal(device_state.copies_in, pinned == NULL ? CHUNKS : 1);
    if (way % 4 < 2) assert_int_equal(device_state.copies_out, CHUNKS);
  }
  pinned = NULL;
  free(memory);
}

/* Whichever chunk's copy fails, nothing is under way any more when the call returns. */
static void ends_well_whichever_chunk_fails(void **unused) {
  (void)unused;
  float *memory = malloc(2 * sizeof *memory * LARGE);
  rung_status status = RUNG_DEVICE_FAILED;
  int calls = 0;
  for (int at = 1; status != RUNG_OK; at++, calls++) {
    rung_view in, out;
    large(memory, 1, &in, &out);
    reset_beside(1 << 26);
    device_state.fail_at = at;
    status = number("apart", &in, &out, NULL);
    assert_int_equal(under_way(&device_state), 0);
    if (status == RUNG_OK) break;
    assert_int_equal(status, RUNG_DEVICE_FAILED);
    assert_string_equal(context.error.sentence, "the device failed");
  }
  check_large(memory, 1);
  assert_true(calls > 6 * CHUNKS); /* a copy, a record and a wait each, both ways */
  free(memory);
}

/* Whichever call of the device fails, nothing is lost and something said. */
static void ends_well_whatever_fails(void **unused) {
  (void)unused;
  const rung_view in = view(source, RUNG_HOST, 2), out = view(target, RUNG_HOST, -1);
  const rung_view sum = vector(RUNG_HOST, 2);
  for (int with = 0; with < 2; with++) {
    rung_status status = RUNG_DEVICE_FAILED;
    int calls = 0;
    for (int at = 1; status != RUNG_OK; at++, calls++) {
      (with ? reset_beside : reset)(9000);
      fill(&in);
      device_state.fail_at = at;
      status = number("counting", &in, &out, &sum);
      if (status == RUNG_OK) check(&out, &sum);
      if (status != RUNG_OK) assert_string_not_equal(context.error.sentence, "");
      if (status != RUNG_OK) assert_int_equal(under_way(&device_state), 0);
    }
    assert_true(calls > 10);
  }
}

/* RUNG_MEMORY_LIMIT: as if there were no more memory than that; and what is expected where it will
 * not. */
static void keeps_to_the_limit(void **unused) {
  (void)unused;
  const rung_view in = view(source, RUNG_HOST, 1), out = view(target, RUNG_HOST, 1);
  static const int64_t limits[] = {1 << 20, 9000, 4000, 2600, 1600};
  for (int with = 0; with < 2; with++)
    for (int k = 0; k < 5; k++) {
      (with ? reset_beside : reset)(1 << 20);
      context.memory_limit = limits[k];
      fill(&in);
      OK(number("apart", &in, &out, NULL));
      check(&out, NULL);
      assert_true((int64_t)context.scratch_bytes <= limits[k]);
      assert_true(k == 0 || device_state.launches > 1);
    }
  reset(1 << 20);
  context.memory_limit = 1500;
  fill(&in);
  assert_int_equal(number("apart", &in, &out, NULL), RUNG_OUT_OF_MEMORY);
  assert_non_null(strstr(context.error.sentence, "RUNG_MEMORY_LIMIT is 1500 bytes"));
  assert_non_null(strstr(context.error.sentence, "expected: at least 1536"));
  for (int64_t k = 0; k < ROOM; k++) assert_true(target[k] == -1);
  assert_int_equal(context.scratch_bytes, 0);
}

static void stages_in_place(void **unused) {
  (void)unused;
  for (int a = 0; a < 4; a++)
    for (int r = 0; r < 2; r++) {
      const rung_view both = view(target, RUNG_HOST, strides[a]);
      reset(9000);
      fill(&both);
      OK(number(rows[r].name, &both, &both, NULL));
      check(&both, NULL);
      assert_true(device_state.launches >= 4);
    }
}

static void says_what_does_not_fit(void **unused) {
  (void)unused;
  const rung_view in = view(source, RUNG_HOST, 1), out = view(target, RUNG_HOST, 1);
  reset(1200); /* less than a row in, a row out and the rung's own 1000 bytes */
  fill(&in);
  assert_int_equal(number("apart", &in, &out, NULL), RUNG_OUT_OF_MEMORY);
  for (int64_t k = 0; k < ROOM; k++) assert_true(target[k] == -1);
  reset(1 << 20);
  device_state.fail_launch = true;
  assert_int_equal(number("apart", &in, &out, NULL), RUNG_DEVICE_FAILED);
  for (int64_t k = 0; k < ROOM; k++) assert_true(target[k] == -1);
}

/* A launch that failed may have left anything in the zeros: the next one gets fresh ones. */
static void zeros_are_zero_after_a_failure(void **unused) {
  (void)unused;
  const rung_view in = view(source, RUNG_HOST, 1), out = view(target, RUNG_HOST, 1);
  reset(1 << 20);
  for (int fails = 0; fails < 4; fails++) {
    fill(&in);
    device_state.fail_launch = fails % 2;
    assert_int_equal(number("counting", &in, &out, NULL), fails % 2 ? RUNG_DEVICE_FAILED : RUNG_OK);
    assert_non_null(context.zeros);
    if (fails % 2 == 0) check(&out, NULL);
  }
}

/* ---- the device's own arrays ------------------------------------------------------------------
 */

static void takes_device_arrays_as_they_are(void **unused) {
  (void)unused;
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++) {
      const rung_view in = view(source, RUNG_DEVICE, strides[a]);
      const rung_view out = view(target, RUNG_DEVICE, strides[b]);
      const rung_view sum = vector(RUNG_DEVICE, 2);
      reset(1 << 20);
      fill(&in);
      OK(number("apart", &in, &out, &sum));
      assert_true(under_way(&device_state) > 0); /* asynchronous */
      synchronize(&device_state, NULL);
      check(&out, &sum);
      assert_int_equal(device_state.copies_in + device_state.copies_out, 0);
      assert_int_equal(device_state.packs, (a > 0) + (b > 0));
    }
}

/* A rung that cannot work in place gets a copy of its input; one that can gets the very array. */
static void works_in_place(void **unused) {
  (void)unused;
  for (int a = 0; a < 4; a++)
    for (int r = 0; r < 2; r++) {
      const rung_view both = view(target, RUNG_DEVICE, strides[a]);
      reset(1 << 20);
      fill(&both);
      OK(number(rows[r].name, &both, &both, NULL));
      synchronize(&device_state, NULL);
      check(&both, NULL);
      assert_int_equal(device_state.packs, a > 0 ? 2 : r);
      for (int k = 0; k < 1 && a == 0; k++) {
        const order *last =
            &device_state.queues[RUNG_WORK].orders[r]; /* after the pack, where there is one */
        assert_int_equal(last->what, LAUNCH);
        assert_true((last->task.arrays[IN].data == last->task.arrays[OUT].data) == (r == 0));
      }
    }
}

static int asked;

static bool counts_who_asks(const rung_task *task) {
  (void)task;
  asked++;
  return true;
}

/* Jobs of the same shapes, anywhere, ask no rung again, and their arrays are looked at all the
 * same. */
static void asks_rungs_once(void **unused) {
  (void)unused;
  const rung_view in = view(source, RUNG_DEVICE, 1), out = view(target, RUNG_DEVICE, 1);
  const rung_view apart = view(target, RUNG_DEVICE, 2), sum = vector(RUNG_DEVICE, 1);
  rung_view shifted = out;
  rows[2].pays = counts_who_asks;
  reset(1 << 20);
  asked = 0;
  for (int k = 0; k < 3; k++) {
    fill(&in);
    OK(number(NULL, &in, &out, NULL));
    synchronize(&device_state, NULL);
    check(&out, NULL);
  }
  assert_int_equal(asked, 1);
  fill(&out);
  OK(number(NULL, &out, &out, NULL)); /* the rung cannot work in place */
  synchronize(&device_state, NULL);
  check(&out, NULL);
  assert_int_equal(device_state.packs, 1);
  assert_int_equal(asked, 1);
  fill(&in);
  OK(number(NULL, &in, &out, &sum)); /* another array, */
  OK(number(NULL, &in, &out, &sum));
  assert_int_equal(asked, 2);
  shifted.data += 4;
  OK(number(NULL, &in, &shifted, NULL)); /* another alignment */
  assert_int_equal(asked, 3);
  OK(number(NULL, &in, &apart, NULL)); /* what is packed is not kept */
  OK(number(NULL, &in, &apart, NULL));
  assert_int_equal(asked, 5);
  OK(number("counting", &in, &out, NULL));
  OK(number(NULL, &in, &out, NULL)); /* those of before are still known */
  assert_int_equal(asked, 5);
  synchronize(&device_state, NULL);
  rows[2].pays = NULL;
}

/* Packing takes no more memory than there is, either. */
static void packs_in_pieces(void **unused) {
  (void)unused;
  const rung_view in = view(source, RUNG_DEVICE, N), out = view(target, RUNG_DEVICE, 2);
  reset(9000);
  fill(&in);
  OK(number("apart", &in, &out, NULL));
  synchronize(&device_state, NULL);
  check(&out, NULL);
  assert_true(device_state.launches >= 4);
}

/* ---- arrays without gaps ----------------------------------------------------------------------
 *
 * (N, 4, M / 4) in memory in another order, with gaps, backwards: what reaches the rung is compact.
 */

enum { FOUR = 4, REST = M / FOUR };

static rung_view cube(float *room, rung_place place, const int64_t stride[3]) {
  const int64_t shape[3] = {N, FOUR, REST};
  rung_view v = rung_view_compact(room + ROOM / 2, RUNG_F32, 3, shape);
  v.place = place;
  memcpy(v.stride, stride, 3 * sizeof *stride);
  return v;
}

static float *cell(const rung_view *v, int64_t i, int64_t j) {
  return (float *)v->data + i * v->stride[0] + j / REST * v->stride[1] + j % REST * v->stride[2];
}

static void run_cube(const rung_view *in, const rung_view *out, bool whole) {
  const numbering problem = {.rows = N, .columns = M};
  rung_job job = {.operation = &operation,
                  .task = {.problem = &problem, .arrays = {*in, *out}},
                  .types = RUNG_ALIKE(RUNG_F32),
                  .inputs = 1,
                  .arrays = 2,
                  .names = names,
                  .compact = 1u << IN | 1u << OUT,
                  .problem_bytes = sizeof problem,
                  .cut = &cut,
                  .axes = whole ? 0 : 1,
                  .axis = {{.extent = N, .granule = 1}}};
  for (int64_t k = 0; k < ROOM; k++) source[k] = target[k] = -1;
  for (int64_t i = 0; i < N; i++)
    for (int64_t j = 0; j < M; j++) *cell(in, i, j) = (float)(i * M + j);
  OK(rung_run(&context, &job, NULL));
  synchronize(&device_state, NULL);
  int64_t used = 0;
  for (int64_t i = 0; i < N; i++)
    for (int64_t j = 0; j < M; j++)
      if (*cell(out, i, j) != 10 * (float)(i * M + j) + (float)i)
        fail_msg("(%ld, %ld) is %g", (long)i, (long)j, (double)*cell(out, i, j));
  for (int64_t k = 0; k < ROOM; k++) used += target[k] != -1;
  assert_int_equal(used, N * M);
}

static void closes_gaps_in_any_dimension(void **unused) {
  (void)unused;
  static const int64_t orders[][3] = {{M, REST, 1},        {1, N, FOUR * N},     {-1, -N * REST, N},
                                      {FOUR, 1, FOUR * N}, {2 * M, 2 * REST, 2}, {M + 5, REST, 1}};
  /* One for every index of the dimension whose elements are no neighbours in either array; a single
   * one where neighbours merge to two dimensions or fewer. */
  static const int packs[] = {0, FOUR, FOUR, 1, 1, 1};
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++)
      for (int host = 0; host < 2; host++) {
        const rung_place place = host ? RUNG_HOST : RUNG_DEVICE;
        const rung_view in = cube(source, place, orders[a]), out = cube(target, place, orders[b]);
        reset(1 << 20);
        run_cube(&in, &out, false);
        assert_int_equal(device_state.launches, 1);
        assert_int_equal(device_state.packs, host ? 0 : packs[a] + packs[b]);
        reset(9000);
        run_cube(&in, &out, false);
        const int moved = host ? 2 : (a > 0) + (b > 0); /* arrays that must go in pieces */
        assert_true(device_state.launches >= (moved == 0 ? 1 : 2 * moved));
        reset(1 << 20);
        run_cube(&in, &out, true); /* not to be cut */
        assert_int_equal(device_state.launches, 1);
      }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void refuses_what_it_cannot_reach(void **unused) {
  (void)unused;
  const rung_view in = view(source, RUNG_DEVICE, 1);
  rung_view out = view(target, RUNG_DEVICE, 1);
  out.device = 1;
  reset(1 << 20);
  fill(&in);
  assert_int_equal(number("apart", &in, &out, NULL), RUNG_BAD_PLACE);
  assert_non_null(strstr(context.error.sentence, "out"));
  assert_non_null(strstr(context.error.sentence, "cuda:1"));
  assert_int_equal(under_way(&device_state) + (int)context.scratch_bytes, 0);
}

static void refuses_mixed_sides(void **unused) {
  (void)unused;
  const rung_view host = view(source, RUNG_HOST, 1), device = view(target, RUNG_DEVICE, 1);
  const rung_view none = {0};
  rung_error error = {0};
  assert_int_equal(rung_refuse_sides(&error, "out", &host, "in", &host), RUNG_OK);
  assert_int_equal(rung_refuse_sides(&error, "out", &device, "in", &device), RUNG_OK);
  assert_int_equal(rung_refuse_sides(&error, "out", &device, "in", &none), RUNG_OK);
  assert_int_equal(rung_refuse_sides(&error, "out", &host, "in", &device), RUNG_BAD_PLACE);
  assert_non_null(strstr(error.sentence, "out lies in host memory and in in device memory"));
}

static void refuses_overlap(void **unused) {
  (void)unused;
  const rung_view a = view(target, RUNG_HOST, 1), none = {0};
  rung_view b = a, far = view(source, RUNG_HOST, 1);
  rung_error error = {0};
  assert_int_equal(rung_refuse_overlap(&error, "out", &a, "in", &b, true), RUNG_OK);
  assert_int_equal(rung_refuse_overlap(&error, "out", &a, "in", &b, false), RUNG_OVERLAP);
  assert_int_equal(rung_refuse_overlap(&error, "out", &a, "in", &far, false), RUNG_OK);
  assert_int_equal(rung_refuse_overlap(&error, "out", &a, "in", &none, false), RUNG_OK);
  b.data += 4;
  assert_int_equal(rung_refuse_overlap(&error, "out", &a, "in", &b, true), RUNG_OVERLAP);
  assert_non_null(strstr(error.sentence, "out shares memory with in"));
}

static int finish(void **unused) {
  (void)unused;
  reset(0);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stages_host_arrays),
      cmocka_unit_test(stages_beside_the_work),
      cmocka_unit_test(copies_while_it_works),
      cmocka_unit_test(stages_large_arrays_by_chunks),
      cmocka_unit_test(ends_well_whichever_chunk_fails),
      cmocka_unit_test(ends_well_whatever_fails),
      cmocka_unit_test(keeps_to_the_limit),
      cmocka_unit_test(stages_in_place),
      cmocka_unit_test(says_what_does_not_fit),
      cmocka_unit_test(zeros_are_zero_after_a_failure),
      cmocka_unit_test(takes_device_arrays_as_they_are),
      cmocka_unit_test(works_in_place),
      cmocka_unit_test(asks_rungs_once),
      cmocka_unit_test(packs_in_pieces),
      cmocka_unit_test(closes_gaps_in_any_dimension),
      cmocka_unit_test(refuses_what_it_cannot_reach),
      cmocka_unit_test(refuses_mixed_sides),
      cmocka_unit_test(refuses_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, finish);
}
