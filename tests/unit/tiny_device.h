/* A device of a test's own, and an operation for it: memory apart from the host's and little of it,
 * and queues that do nothing before somebody waits for them, and then no more than he must wait
 * for. What is not brought into order comes out wrong. */
#ifndef TESTS_UNIT_TINY_DEVICE_H
#define TESTS_UNIT_TINY_DEVICE_H

#include "core/plan.h"
#include "core/transfer.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the device ------------------------------------------------------------------------------ */

enum { QUEUE = 4096, BLOCKS = 64, ZEROS = 100 };

typedef struct order {
  enum { COPY, PACK, LAUNCH, AWAIT } what;
  void *to;
  const void *from;
  size_t bytes;
  rung_view to_view, from_view;
  rung_task task;
  int64_t first;    /* the piece's problem, as it was when it was queued */
  rung_queue other; /* what AWAIT waits for: so many orders of a queue */
  int orders;
} order;

typedef struct order_queue {
  order orders[QUEUE];
  int queued, done;
} order_queue;

struct rung_state {
  order_queue queues[2];
  struct {
    rung_queue queue;
    int orders;
  } events[RUNG_EVENTS];
  int launches, packs, copies_in, copies_out;
  int64_t available, most_rows;
  bool eager;       /* work is done as soon as it is queued, copies beside it are not */
  bool fail_launch; /* and leave a mark in the zeros */
  int fail_at;      /* so many calls from now one fails; 0: none */
};

static rung_state device_state;

/* What the test's operation does: out = 10 * in + the row's number, sums = the row's sum. */
typedef struct numbering {
  int64_t first, rows, columns;
} numbering;

enum { IN, OUT, SUMS };

static void number_rows(const rung_task *task, int64_t first) {
  const rung_view *in = &task->arrays[IN], *out = &task->arrays[OUT], *sums = &task->arrays[SUMS];
  for (int64_t i = 0; i < out->shape[0]; i++) {
    float sum = 0;
    for (int64_t j = 0; j < out->count / out->shape[0]; j++) {
      float *to = (float *)out->data + i * out->stride[0] + j;
      *to = 10 * ((const float *)in->data)[i * in->stride[0] + j] + (float)(first + i);
      sum += *to;
    }
    if (sums->count > 0) ((float *)sums->data)[i * sums->stride[0]] = sum;
  }
}

static order *enqueue(rung_state *state, rung_queue which) {
  order_queue *queue = &state->queues[which];
  assert_true(queue->queued < QUEUE);
  order *next = &queue->orders[queue->queued++];
  memset(next, 0, sizeof *next);
  return next;
}

static int under_way(const rung_state *state) {
  return state->queues[0].queued - state->queues[0].done + state->queues[1].queued -
         state->queues[1].done;
}

static bool fails(rung_state *state) {
  return state->fail_at > 0 && --state->fail_at == 0;
}

#define MAY_FAIL(state, error) \
  if (fails(state)) return rung_fail(error, RUNG_DEVICE_FAILED, "the device failed")

static void *stream(rung_state *state) {
  return state;
}

/* The queue's orders up to the one of that number. */
static void work_off(rung_state *state, rung_queue which, int orders) {
  order_queue *queue = &state->queues[which];
  while (queue->done < orders) {
    order *next = &queue->orders[queue->done++];
    if (next->what == COPY) memcpy(next->to, next->from, next->bytes);
    if (next->what == PACK) rung_view_copy(&next->to_view, &next->from_view);
    if (next->what == AWAIT) work_off(state, next->other, next->orders);
    if (next->what == LAUNCH) {
      number_rows(&next->task, next->first);
      memset(next->task.scratch, 0xee, 1000); /* the rung's own scratch is its own */
    }
  }
}

static rung_status launch(const rung_task *task) {
  for (int i = 0; i < ZEROS && task->zeros != NULL; i++)
    assert_int_equal(((char *)task->zeros)[i], 0);
  if (device_state.fail_launch) {
    if (task->zeros != NULL) ((char *)task->zeros)[ZEROS - 1] = 1;
    return rung_fail(task->error, RUNG_DEVICE_FAILED, "the launch failed");
  }
  MAY_FAIL(&device_state, task->error);
  assert_ptr_equal(task->stream, &device_state);
  assert_int_equal((uintptr_t)task->scratch % 256, 0);
  if (task->arrays[OUT].shape[0] > device_state.most_rows)
    device_state.most_rows = task->arrays[OUT].shape[0];
  for (int a = 0; a < 3; a++) /* what rungs may rely on */
    if (task->arrays[a].count > 0) {
      assert_int_equal(task->arrays[a].place, RUNG_DEVICE);
      assert_true(rung_view_compact_rows(&task->arrays[a]) || task->arrays[a].ndim == 1);
    }
  device_state.launches++;
  order *next = enqueue(&device_state, RUNG_WORK);
  next->what = LAUNCH;
  next->task = *task;
  next->first = ((const numbering *)task->problem)->first;
  if (device_state.eager) work_off(&device_state, RUNG_WORK, device_state.queues[RUNG_WORK].queued);
  return RUNG_OK;
}

static rung_status synchronize(rung_state *state, rung_error *error) {
  (void)error;
  for (rung_queue q = RUNG_WORK; q <= RUNG_COPIES; q++) work_off(state, q, state->queues[q].queued);
  return RUNG_OK;
}

/* Several threads queue copies beside the work, and wait for them. */
static pthread_mutex_t one_by_one = PTHREAD_MUTEX_INITIALIZER;

static rung_status may_fail(rung_state *state, rung_error *error) {
  MAY_FAIL(state, error);
  return RUNG_OK;
}

static rung_status record(rung_state *state, rung_queue queue, int event, rung_error *error) {
  pthread_mutex_lock(&one_by_one);
  const rung_status status = may_fail(state, error);
  if (status == RUNG_OK) {
    state->events[event].queue = queue;
    state->events[event].orders = state->queues[queue].queued;
  }
  pthread_mutex_unlock(&one_by_one);
  return status;
}

static rung_status await(rung_state *state, rung_queue queue, int event, rung_error *error) {
  MAY_FAIL(state, error);
  order *next = enqueue(state, queue);
  next->what = AWAIT;
  next->other = state->events[event].queue;
  next->orders = state->events[event].orders;
  return RUNG_OK;
}

static rung_status wait_for(rung_state *state, int event, rung_error *error) {
  pthread_mutex_lock(&one_by_one);
  const rung_status status = may_fail(state, error);
  if (status == RUNG_OK) work_off(state, state->events[event].queue, state->events[event].orders);
  pthread_mutex_unlock(&one_by_one);
  return status;
}

static rung_status allocate(rung_state *state, size_t bytes, void **memory, rung_error *error) {
  *memory = NULL;
  MAY_FAIL(state, error);
  if ((int64_t)bytes > state->available)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "%zu bytes are more than there are", bytes);
  char *made = aligned_alloc(256, (bytes + 512) / 256 * 256); /* its size comes first */
  memcpy(made, &bytes, sizeof bytes);
  *memory = made + 256;
  memset(*memory, 0xee, bytes);
  state->available -= (int64_t)bytes;
  return RUNG_OK;
}

static void release(rung_state *state, void *memory) {
  size_t bytes;
  synchronize(state, NULL);
  memcpy(&bytes, (char *)memory - 256, sizeof bytes);
  state->available += (int64_t)bytes;
  free((char *)memory - 256);
}

static rung_status available(rung_state *state, int64_t *bytes, rung_error *error) {
  (void)error;
  *bytes = state->available;
  return RUNG_OK;
}

static rung_status copy_on(rung_state *state, rung_queue queue, void *to, const void *from,
                           size_t bytes, rung_copy way, rung_error *error) {
  MAY_FAIL(state, error);
  *(way == RUNG_TO_DEVICE ? &state->copies_in : &state->copies_out) += 1;
  order *next = enqueue(state, queue);
  *next = (order){.what = COPY, .to = to, .from = from, .bytes = bytes};
  return RUNG_OK;
}

static rung_status copy(rung_state *state, void *to, const void *from, size_t bytes, rung_copy way,
                        rung_error *error) {
  return copy_on(state, RUNG_WORK, to, from, bytes, way, error);
}

static rung_status copy_beside(rung_state *state, void *to, const void *from, size_t bytes,
                               rung_copy way, rung_error *error) {
  pthread_mutex_lock(&one_by_one);
  const rung_status status = copy_on(state, RUNG_COPIES, to, from, bytes, way, error);
  pthread_mutex_unlock(&one_by_one);
  return status;
}

/* What the test says is. */
static const void *pinned;
static bool is_pinned(rung_state *state, const void *memory) {
  (void)state;
  return memory != NULL && memory == pinned;
}

static rung_status fill_with(rung_state *state, void *memory, unsigned char byte, size_t bytes,
                             rung_error *error) {
  (void)state;
  (void)error;
  memset(memory, byte, bytes); /* only ever of fresh memory, which nothing queued is at */
  return RUNG_OK;
}

static rung_status pack(rung_state *state, const rung_view *to, const rung_view *from,
                        rung_error *error) {
  MAY_FAIL(state, error);
  assert_true(to->ndim <= 2 && from->ndim == to->ndim); /* all that backends are asked for */
  state->packs++;
  order *next = enqueue(state, RUNG_WORK);
  *next = (order){.what = PACK, .to_view = *to, .from_view = *from};
  return RUNG_OK;
}

static const rung_backend backend = {.kind = RUNG_CUDA,
                                     .name = "tiny",
                                     .stream = stream,
                                     .synchronize = synchronize,
                                     .allocate = allocate,
                                     .release = release,
                                     .available = available,
                                     .copy = copy,
                                     .fill = fill_with,
                                     .pack = pack,
                                     .packs = 2};

/* The same with a queue of copies. */
static rung_backend with_copies(void) {
  rung_backend two = backend;
  two.copy_beside = copy_beside;
  two.record = record;
  two.await = await;
  two.wait = wait_for;
  two.is_pinned = is_pinned;
  return two;
}
static rung_backend beside;
static rung_context context;

/* ---- the operation --------------------------------------------------------------------------- */

static size_t own_scratch(const rung_task *task) {
  (void)task;
  return 1000;
}

static size_t own_zeros(const rung_task *task) {
  (void)task;
  return ZEROS;
}

static rung_row rows[] = {
    {.name = "either",
     .family = RUNG_ON_GPU,
     .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)),
     .in_place = true,
     .scratch_bytes = own_scratch,
     .launch = {launch}},
    {.name = "apart",
     .family = RUNG_ON_GPU,
     .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)),
     .scratch_bytes = own_scratch,
     .launch = {launch}},
    {.name = "counting",
     .family = RUNG_ON_GPU,
     .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)),
     .scratch_bytes = own_scratch,
     .zeroed_bytes = own_zeros,
     .launch = {launch}},
};
static const rung_operation operation = {.name = "number", .rows = rows, .count = 3};
static const char *const names[] = {"in", "out", "sums"};

static bool share_rows(const rung_piece *piece, const void *state, rung_share *share) {
  numbering *p = (numbering *)share->problem.bytes;
  (void)state;
  p->first += piece->first[0];
  p->rows = piece->count[0];
  for (int a = IN; a <= SUMS; a++)
    rung_view_narrow(&share->arrays[a], 0, piece->first[0], piece->count[0]);
  return true;
}

static const rung_cut cut = {.share = share_rows};

static rung_status number(const char *rung, const rung_view *in, const rung_view *out,
                          const rung_view *sums) {
  const numbering problem = {.rows = out->shape[0], .columns = out->shape[1]};
  rung_job job = {.operation = &operation,
                  .task = {.problem = &problem, .arrays = {*in, *out}},
                  .types = RUNG_ALIKE(RUNG_F32),
                  .inputs = 1,
                  .arrays = 3,
                  .names = names,
                  .problem_bytes = sizeof problem,
                  .cut = &cut,
                  .axes = 1,
                  .axis = {{.extent = problem.rows, .granule = 1}}};
  if (sums != NULL) job.task.arrays[SUMS] = *sums;
  rung_call call = {.rung = rung};
  rung_error_clear(&context.error);
  const rung_status status = rung_run(&context, &job, &call);
  if (status == RUNG_OK && rung != NULL) assert_string_equal(call.used, rung);
  return status;
}

#endif
