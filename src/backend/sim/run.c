/* Launches: blocks on host threads, a block's threads as fibres.
 *
 * A worker runs one block until all its threads ended, and starts another only where every thread
 * of those it has polls for something: so that a block may wait for another as it may on a GPU. */
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cpu/parallel.h"
#include "backend/sim/sim.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define FORBID(from, bytes) __asan_poison_memory_region(from, bytes)
#define ALLOW(from, bytes) __asan_unpoison_memory_region(from, bytes)
#else
#define FORBID(from, bytes) ((void)(from), (void)(bytes))
#define ALLOW(from, bytes) ((void)(from), (void)(bytes))
#endif

__thread sim_thread *sim_self;
__thread sim_stepping sim_steps;

/* ---- failures ------------------------------------------------------------------------------- */

/* Of several the first. */
static void end_with(sim_run *run, rung_status status, const char *text) {
  pthread_mutex_lock(&run->lock);
  if (!run->failed) run->status = rung_fail(run->error, status, "kernel %s: %s", run->kernel, text);
  run->failed = true;
  pthread_mutex_unlock(&run->lock);
}

void sim_fail(sim_run *run, const char *format, ...) {
  char text[RUNG_SENTENCE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  end_with(run, RUNG_DEVICE_FAILED, text);
}

void sim_fail_memory(sim_run *run, const char *what) {
  char text[RUNG_REASON];
  snprintf(text, sizeof text, "no host memory for %s", what);
  end_with(run, RUNG_OUT_OF_MEMORY, text);
}

void sim_thread_text(const sim_thread *thread, char *text, size_t room) {
  const rung_sim_index *b = &thread->block->index, *t = &thread->index;
  snprintf(text, room, "thread (%u, %u, %u) of block (%u, %u, %u)", t->x, t->y, t->z, b->x, b->y,
           b->z);
}

/* ---- threads -------------------------------------------------------------------------------- */

/* Never inlined: the host thread may be another one after a switch. */
__attribute__((noinline)) static sim_thread *running(void) {
  return sim_self;
}

static void live(void) {
  sim_thread *self = running();
  const rung_sim_launch *launch = self->block->worker->run->launch;
  launch->call(launch->arguments);
  self->wait = SIM_ENDED;
}

void sim_yield(sim_thread *self) {
  sim_fibre_leave(self->fibre, &self->block->worker->shore);
}

void sim_wake(sim_thread *thread) {
  sim_block *block = thread->block;
  thread->wait = SIM_READY;
  block->ready[block->ready_count++] = thread->number;
}

static sim_fibre *take_fibre(sim_worker *worker) {
  sim_fibre *fibre = worker->free_fibres;
  if (fibre == NULL) return sim_fibre_make(live, &worker->shore);
  worker->free_fibres = fibre->next;
  return fibre;
}

static void give_fibre(sim_worker *worker, sim_thread *thread) {
  if (thread->fibre == NULL) return;
  thread->fibre->next = worker->free_fibres;
  worker->free_fibres = thread->fibre;
  thread->fibre = NULL;
}

static void resume(sim_worker *worker, sim_thread *thread) {
  sim_block *block = thread->block;
  if (thread->fibre == NULL) thread->fibre = take_fibre(worker);
  if (thread->fibre == NULL) {
    sim_fail_memory(worker->run, "the stack of a simulated thread");
    return;
  }
  sim_steps.clock++;
  sim_self = thread;
  sim_fibre_enter(thread->fibre, &worker->shore);
  sim_self = NULL;
  if (thread->wait == SIM_POLLING) {
    block->polling[block->polling_count++] = thread->number;
    return;
  }
  block->moved = true;
  if (thread->wait != SIM_ENDED) return;
  give_fibre(worker, thread);
  block->ended++;
  sim_settle_warp(block, thread->number / SIM_WARP);
}

/* ---- a block -------------------------------------------------------------------------------- */

/* All threads that have not begun, so that they come in rising order where order is not drawn. */
static void fill_threads(sim_block *block, const sim_run *run) {
  const rung_sim_index *shape = &run->launch->block;
  const bool watched = sim_is_watched(run->state), counted = run->state->profile != NULL;
  for (int i = 0; i < run->threads; i++) {
    sim_thread *thread = &block->threads[i];
    const sim_log log = thread->log; /* its memory is used again */
    *thread = (sim_thread){.block = block,
                           .number = i,
                           .watched = watched,
                           .counted = counted,
                           .clock = 1,
                           .log = log};
    thread->log.count = 0;
    thread->log.last = 0;
    thread->index.x = (unsigned)i % shape->x;
    thread->index.y = (unsigned)i / shape->x % shape->y;
    thread->index.z = (unsigned)i / shape->x / shape->y;
    block->ready[run->threads - 1 - i] = i;
  }
  block->ready_count = run->threads;
  block->polling_count = block->at_barrier = block->ended = block->votes = block->places = 0;
}

static bool make_shared(sim_block *block, size_t bytes) {
  if (block->shared_room < bytes || block->shared_memory == NULL) {
    free(block->shared_memory);
    block->shared_room = (bytes + 1023) / 1024 * 1024;
    block->shared_memory =
        aligned_alloc(SIM_MARGIN, (block->shared_room + SIM_MARGIN - 1) / SIM_MARGIN * SIM_MARGIN +
                                      2 * (size_t)SIM_MARGIN);
    if (block->shared_memory == NULL) return false;
  }
  block->shared = block->shared_memory + SIM_MARGIN;
  ALLOW(block->shared_memory, block->shared_room + 2 * (size_t)SIM_MARGIN);
  memset(block->shared, SIM_POISON, bytes);
  FORBID(block->shared_memory, SIM_MARGIN);
  FORBID(block->shared + bytes, block->shared_room - bytes + SIM_MARGIN);
  return true;
}

static sim_block *begin_block(sim_worker *worker, int64_t turn) {
  sim_run *run = worker->run;
  const rung_sim_index *grid = &run->launch->grid;
  sim_block *block = worker->free_blocks;
  if (block != NULL)
    worker->free_blocks = block->next;
  else
    block = calloc(1, sizeof *block);
  if (block == NULL) return NULL;
  block->worker = worker;
  block->number =
      run->shuffled
          ? (int64_t)(((__uint128_t)turn * run->stride + run->start) % (uint64_t)run->blocks)
          : turn;
  block->index.x = (unsigned)(block->number % grid->x);
  block->index.y = (unsigned)(block->number / grid->x % grid->y);
  block->index.z = (unsigned)(block->number / grid->x / grid->y);
  block->draw = run->seed ^ ((uint64_t)block->number * 0x9e3779b97f4a7c15u);
  block->barriers = 0;
  block->awaited = UINT32_MAX;
  block->synchronised = false;
  block->moved = true;
  block->has_static_shared = block->wants_static_shared = false;
  fill_threads(block, run);
  if (!make_shared(block, run->launch->shared_bytes) || !sim_race_begin(block)) {
    block->next = worker->free_blocks;
    worker->free_blocks = block;
    return NULL;
  }
  return block;
}

static void end_block(sim_block *block) {
  sim_worker *worker = block->worker;
  sim_run *run = worker->run;
  if (!run->failed) sim_count_block(block);
  for (int i = 0; i < run->threads; i++) { /* only where the launch failed */
    sim_thread *thread = &block->threads[i];
    if (thread->fibre != NULL) sim_fibre_reset(thread->fibre, live, &worker->shore);
    give_fibre(worker, thread);
  }
  sim_give_static(block, false);
  block->static_count = 0;
  block->next = worker->free_blocks;
  worker->free_blocks = block;
  run->resident--;
  run->done++;
  atomic_fetch_add_explicit(&run->state->work.done, 1, memory_order_relaxed);
  run->moves++;
}

/* One sentence about threads that all wait for one another, by the places where they wait. */
static void report_stuck(sim_block *block) {
  enum { PLACES = 4 };
  sim_run *run = block->worker->run;
  struct {
    sim_wait wait;
    char line[160];
    int first, count;
  } places[PLACES];
  int count = 0;
  for (int i = 0; i < run->threads; i++) {
    const sim_thread *thread = &block->threads[i];
    char line[160] = "";
    if (thread->wait != SIM_ENDED) sim_line_text(thread->pc, line, sizeof line);
    int k = 0;
    while (k < count && (places[k].wait != thread->wait || strcmp(places[k].line, line) != 0)) k++;
    if (k == PLACES) continue;
    if (k == count) {
      places[count].wait = thread->wait;
      memcpy(places[count].line, line, sizeof line);
      places[count].first = i;
      places[count++].count = 0;
    }
    places[k].count++;
  }
  char text[RUNG_SENTENCE];
  size_t used = 0;
  text[0] = '\0';
  for (int k = 0; k < count && used < sizeof text; k++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%d (the first is thread %d) %s%s",
                             k > 0 ? "; " : "", places[k].count, places[k].first,
                             places[k].wait == SIM_ENDED ? "have ended"
                             : places[k].wait == SIM_AT_BARRIER
                                 ? "wait at the barrier at "
                                 : "wait for other lanes of their warp at ",
                             places[k].line);
  const rung_sim_index *at = &block->index;
  sim_fail(run, "not all of the %d threads of block (%u, %u, %u) come together: %s", run->threads,
           at->x, at->y, at->z, text);
}

typedef enum outcome { ENDED, STALLED, FAILED } outcome;

static int pick(sim_block *block) {
  const int last = block->ready_count - 1;
  int at = last;
  if (block->worker->run->state->examined) {
    /* Drawn once a switch: Knuth's MMIX generator, of which the high half is good enough. */
    block->draw = block->draw * 6364136223846793005u + 1442695040888963407u;
    at = (int)((block->draw >> 32) * (uint64_t)block->ready_count >> 32);
  }
  const int number = block->ready[at];
  block->ready[at] = block->ready[last];
  block->ready_count = last;
  return number;
}

/* Runs a block's threads until all ended, or all that could run only poll. */
static outcome advance(sim_block *block) {
  sim_worker *worker = block->worker;
  sim_run *run = worker->run;
  if (block->wants_static_shared) sim_take_static(block);
  for (;;) {
    if (run->failed) return FAILED;
    if (block->ready_count > 0) {
      resume(worker, &block->threads[pick(block)]);
      continue;
    }
    if (block->ended == run->threads) return ENDED;
    if (block->polling_count == 0) {
      report_stuck(block);
      return FAILED;
    }
    while (block->polling_count > 0)
      sim_wake(&block->threads[block->polling[--block->polling_count]]);
    if (!block->moved) {
      sim_give_static(block, true);
      return STALLED;
    }
    block->moved = false;
    run->moves++;
  }
}

/* ---- a worker ------------------------------------------------------------------------------- */

enum { LOOKS = 1000 };

typedef struct patience {
  int64_t moves; /* when last looked at */
  time_t since;
  int looks;
} patience;

static bool all_are_tired(const sim_run *run, int64_t moves) {
  int tired = 0;
  for (int k = 0; k < run->workers; k++) tired += run->state->workers[k].tired_at == moves;
  return tired == run->working;
}

/* Nothing here can go on: perhaps another worker will change what is polled for. Where none does,
 * nobody will: for so many seconds, and by so many looks of every worker, for on a busy machine
 * seconds go by of which a worker has none. */
static void wait_for_others(sim_worker *worker, patience *waited) {
  sim_run *run = worker->run;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t moves = run->moves;
  if (waited->since == 0 || waited->moves != moves) *waited = (patience){moves, now.tv_sec, 0};
  if (waited->looks < LOOKS) waited->looks++;
  worker->tired_at = waited->looks == LOOKS ? moves : 0;
  if (now.tv_sec - waited->since >= run->state->patience && waited->looks == LOOKS &&
      all_are_tired(run, moves)) {
    char text[160];
    const sim_block *block = worker->resident;
    sim_line_text(block->threads[block->ready[0]].pc, text, sizeof text);
    sim_fail(run, "block (%u, %u, %u) has polled for %d s at %s, and nothing changes",
             block->index.x, block->index.y, block->index.z, run->state->patience, text);
  }
  sched_yield();
}

static bool start_another(sim_worker *worker) {
  sim_run *run = worker->run;
  if (run->next >= run->blocks) return false;
  const bool room = run->resident++ < run->most_resident;
  const int64_t turn = room ? run->next++ : run->blocks;
  if (turn >= run->blocks) {
    run->resident--;
    return false;
  }
  sim_block *block = begin_block(worker, turn);
  if (block == NULL) {
    sim_fail_memory(run, "a simulated block");
    return false;
  }
  block->next = worker->resident;
  worker->resident = block;
  return true;
}

static void work(void *arg, int64_t chunk, int thread) {
  (void)thread;
  sim_run *run = arg;
  sim_worker *worker = &run->state->workers[chunk];
  worker->run = run;
  worker->tired_at = 0;
  patience waited = {0};
  int resident = 0;
  run->working++;
  sim_steps = (sim_stepping){worker->clock, run->state->profile != NULL};
  while (!run->failed) {
    bool ended = false;
    for (sim_block **at = &worker->resident; *at != NULL && !run->failed;) {
      sim_block *block = *at;
      if (advance(block) != ENDED) {
        at = &block->next;
        continue;
      }
      *at = block->next;
      end_block(block);
      resident--;
      ended = true;
    }
    if (ended) continue;
    if (start_another(worker))
      resident++;
    else if (resident == 0)
      break;
    else
      wait_for_others(worker, &waited);
  }
  worker->tired_at = 0;
  run->working--;
  worker->clock = sim_steps.clock;
  sim_steps.counted = false;
  while (worker->resident != NULL) { /* the launch failed */
    sim_block *block = worker->resident;
    worker->resident = block->next;
    end_block(block);
  }
}

void sim_drop_worker(sim_worker *worker) {
  while (worker->free_fibres != NULL) {
    sim_fibre *fibre = worker->free_fibres;
    worker->free_fibres = fibre->next;
    sim_fibre_free(fibre);
  }
  while (worker->free_blocks != NULL) {
    sim_block *block = worker->free_blocks;
    worker->free_blocks = block->next;
    for (int i = 0; i < SIM_MOST_THREADS; i++) free(block->threads[i].log.events);
    sim_race_drop(block);
    free(block->static_saved);
    if (block->shared_memory != NULL)
      ALLOW(block->shared_memory, block->shared_room + 2 * (size_t)SIM_MARGIN);
    free(block->shared_memory);
    free(block);
  }
}

/* ---- launches ------------------------------------------------------------------------------- */

/* "(fold<T, 4>)" is kernel fold. */
static const char *plain_name(const char *written, char name[RUNG_KERNEL_NAME]) {
  const size_t skip = strspn(written, "( "), length = strcspn(written + skip, "<) ");
  snprintf(name, RUNG_KERNEL_NAME, "%.*s", (int)length, written + skip);
  return name;
}

static rung_status refuse(const rung_task *task, const rung_sim_launch *launch, const char *why) {
  char name[RUNG_KERNEL_NAME];
  return rung_fail(task->error, RUNG_DEVICE_FAILED, "kernel %s could not be launched: %s",
                   plain_name(launch->kernel, name), why);
}

static size_t permitted_shared(const rung_state *state, const void *function) {
  for (int i = 0; i < state->permit_count; i++)
    if (state->permits[i].function == function) return state->permits[i].bytes;
  return SIM_PLAIN_SHARED;
}

/* The limits of every GPU since capability 7.5, in CUDA's words and ours. */
static rung_status check(const rung_task *task, const rung_sim_launch *launch) {
  const rung_state *state = task->stream;
  const rung_sim_index *g = &launch->grid, *b = &launch->block;
  char why[RUNG_REASON];
  if (g->x == 0 || g->y == 0 || g->z == 0 || b->x == 0 || b->y == 0 || b->z == 0) {
    snprintf(why, sizeof why,
             "invalid configuration argument: a grid of (%u, %u, %u) blocks of "
             "(%u, %u, %u) threads",
             g->x, g->y, g->z, b->x, b->y, b->z);
    return refuse(task, launch, why);
  }
  if (g->x > INT32_MAX || g->y > 65535 || g->z > 65535) {
    snprintf(why, sizeof why,
             "invalid argument: a grid of (%u, %u, %u) blocks; expected: at most (%d, "
             "65535, 65535)",
             g->x, g->y, g->z, INT32_MAX);
    return refuse(task, launch, why);
  }
  const uint64_t threads = (uint64_t)b->x * b->y * b->z;
  if (b->x > 1024 || b->y > 1024 || b->z > 64 || threads > SIM_MOST_THREADS) {
    snprintf(why, sizeof why,
             "invalid configuration argument: a block of %" PRIu64
             " threads (%u, "
             "%u, %u); expected: at most 1024 (1024, 1024, 64)",
             threads, b->x, b->y, b->z);
    return refuse(task, launch, why);
  }
  if (launch->shared_bytes > permitted_shared(state, launch->function)) {
    snprintf(why, sizeof why,
             "invalid argument: %zu bytes of dynamic shared memory; up to %zu "
             "are allowed to this kernel",
             launch->shared_bytes, permitted_shared(state, launch->function));
    return refuse(task, launch, why);
  }
  return RUNG_OK;
}

static uint64_t divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* A seed for this launch, and an order of its blocks. */
static void draw_order(sim_run *run, rung_state *state) {
  rung_random random = {state->seed};
  run->seed = rung_random_next(&random);
  run->shuffled = state->examined && run->blocks > 1;
  run->start = rung_random_next(&random) % (uint64_t)run->blocks;
  run->stride = rung_random_next(&random) % (uint64_t)run->blocks;
  while (run->stride == 0 || divisor(run->stride, (uint64_t)run->blocks) != 1)
    run->stride = (run->stride + 1) % (uint64_t)run->blocks + (run->blocks == 1);
  state->seed = rung_random_next(&random);
}

/* All multiprocessors begin a launch at the same moment. */
static void align_clocks(rung_state *state) {
  uint64_t latest = 0;
  for (int i = 0; i < SIM_MOST_WORKERS; i++)
    if (state->workers[i].clock > latest) latest = state->workers[i].clock;
  for (int i = 0; i < SIM_MOST_WORKERS; i++) state->workers[i].clock = latest;
}

rung_status rung_sim_run(const rung_task *task, const rung_sim_launch *launch) {
  rung_state *state = task->stream;
  rung_status status = check(task, launch);
  if (status != RUNG_OK) return status;
  int resident = 0;
  sim_run run = {.state = state, .launch = launch, .error = task->error, .moves = 1};
  plain_name(launch->kernel, run.kernel);
  run.threads = (int)(launch->block.x * launch->block.y * launch->block.z);
  run.blocks = (int64_t)launch->grid.x * launch->grid.y * launch->grid.z;
  status = rung_sim_resident_blocks(task, run.threads, launch->shared_bytes, &resident);
  if (status != RUNG_OK) return status;
  /* What is examined or counted is to come out the same every time: one worker. */
  run.workers = sim_is_watched(state) ? 1 : state->host_threads;
  if (run.workers > SIM_MOST_WORKERS) run.workers = SIM_MOST_WORKERS;
  if (run.workers > run.blocks) run.workers = (int)run.blocks;
  run.most_resident = resident * state->device.processors;
  /* As many as there may be threads, of which fewer may be had. */
  if (run.most_resident < run.workers) run.most_resident = run.workers;
  run.first_stamp = state->stamps + 1;
  run.stamp_before = state->stamp_before;
  state->stamp_before = run.first_stamp;
  atomic_store(&state->work.done, 0);
  atomic_store(&state->work.blocks, run.blocks);
  atomic_fetch_add(&state->work.launches, 1);
  align_clocks(state);
  draw_order(&run, state);
  status = sim_count_begin(state, &run);
  if (status != RUNG_OK) return status;
  pthread_mutex_init(&run.lock, NULL);
  rung_parallel(run.workers, run.workers, work, &run);
  pthread_mutex_destroy(&run.lock);
  if (run.failed) return run.status;
  return sim_count_end(state, &run);
}

rung_status rung_sim_allow_shared(const rung_task *task, const char *kernel, const void *function,
                                  size_t bytes) {
  rung_state *state = task->stream;
  char name[RUNG_KERNEL_NAME];
  if ((int64_t)bytes > state->device.shared_bytes)
    return rung_fail(task->error, RUNG_DEVICE_FAILED,
                     "kernel %s may not be given %zu bytes of dynamic shared memory: invalid "
                     "argument; a block has %lld",
                     plain_name(kernel, name), bytes, (long long)state->device.shared_bytes);
  int i = 0;
  while (i < state->permit_count && state->permits[i].function != function) i++;
  if (i == state->permit_count) {
    sim_permit *more = realloc(state->permits, ((size_t)i + 1) * sizeof *more);
    if (more == NULL) return rung_fail(task->error, RUNG_OUT_OF_MEMORY, "out of host memory");
    state->permits = more;
    state->permit_count++;
  }
  state->permits[i] = (sim_permit){function, bytes > SIM_PLAIN_SHARED ? bytes : SIM_PLAIN_SHARED};
  return RUNG_OK;
}

/* By threads, shared memory and the number of blocks; registers are not known here. */
rung_status rung_sim_resident_blocks(const rung_task *task, int threads, size_t shared_bytes,
                                     int *blocks) {
  enum { MOST_BLOCKS = 32, RESERVED = 1024 };
  const rung_state *state = task->stream;
  const int whole = (threads + SIM_WARP - 1) / SIM_WARP * SIM_WARP;
  const int64_t by_shared =
      state->device.shared_processor_bytes / ((int64_t)shared_bytes + RESERVED);
  int64_t most = whole > 0 ? state->device.threads / whole : 0;
  if (most > by_shared) most = by_shared;
  *blocks = most > MOST_BLOCKS ? MOST_BLOCKS : (int)most;
  return RUNG_OK;
}

rung_status rung_sim_copy_on_device(const rung_task *task, void *to, const void *from,
                                    size_t bytes) {
  (void)task;
  memmove(to, from, bytes);
  return RUNG_OK;
}

/* ---- where a thread is ---------------------------------------------------------------------- */

rung_sim_index rung_sim_thread_index(void) {
  return sim_self->index;
}
rung_sim_index rung_sim_block_index(void) {
  return sim_self->block->index;
}
rung_sim_index rung_sim_block_shape(void) {
  return sim_self->block->worker->run->launch->block;
}
rung_sim_index rung_sim_grid_shape(void) {
  return sim_self->block->worker->run->launch->grid;
}
void *rung_sim_dynamic_shared(void) {
  return sim_self->block->shared;
}
unsigned rung_sim_processor(void) {
  return (unsigned)sim_self->block->worker->number;
}
uint64_t rung_sim_clock(void) {
  return sim_steps.clock;
}

/* ---- barriers and polling ------------------------------------------------------------------- */

/* A barrier in one branch met by a barrier in another is no barrier; copies the compiler made of
 * one line are one. */
static bool one_place(sim_block *block, const sim_thread *self) {
  const int threads = block->worker->run->threads;
  for (int i = 0; i < threads; i++) {
    const sim_thread *other = &block->threads[i];
    const char *here, *there;
    int line, other_line;
    if (other->pc == self->pc) continue;
    if (!sim_line_of(self->pc, &here, &line) || !sim_line_of(other->pc, &there, &other_line))
      continue;
    if (line != other_line || strcmp(here, there) != 0) return false;
  }
  return true;
}

static int outcome_of(const sim_block *block) {
  if (block->vote == RUNG_SIM_ALL) return block->votes == block->worker->run->threads;
  if (block->vote == RUNG_SIM_ANY) return block->votes > 0;
  return block->votes;
}

static void pass_barrier(sim_block *block, sim_thread *self) {
  const int threads = block->worker->run->threads;
  if (block->places > 1 && !one_place(block, self)) {
    report_stuck(block);
    return;
  }
  sim_count_block(block);
  block->outcome = outcome_of(block);
  block->at_barrier = block->votes = block->places = 0;
  block->barriers++;
  for (int i = threads - 1; i >= 0; i--) sim_wake(&block->threads[i]);
}

int rung_sim_barrier(rung_sim_vote vote, int predicate) {
  sim_thread *self = sim_self;
  sim_block *block = self->block;
  self->pc = (sim_pc)__builtin_return_address(0);
  self->wait = SIM_AT_BARRIER;
  block->places += block->at_barrier == 0 || vote != block->vote ||
                   (vote != RUNG_SIM_SIDES && self->pc != block->place);
  block->vote = vote;
  block->votes += predicate != 0;
  block->place = self->pc;
  if (self->counted) sim_note(self, SIM_BARRIER, self->pc);
  if (++block->at_barrier == block->worker->run->threads) pass_barrier(block, self);
  sim_yield(self);
  return block->outcome;
}

void rung_sim_poll(void) {
  sim_thread *self = sim_self;
  self->pc = (sim_pc)__builtin_return_address(0);
  self->wait = SIM_POLLING;
  sim_yield(self);
}

void rung_sim_await(void) {
  sim_thread *self = sim_self;
  self->awaited = true;
  if (self->block->awaited == UINT32_MAX) self->block->awaited = self->block->barriers;
}

void rung_sim_fence(void) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
