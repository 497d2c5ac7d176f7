/* When each block of a rung ran and where, as the blocks themselves wrote it down. */
#include <inttypes.h>
#include <stdlib.h>

#include "lab/fixture.h"

static rung_status fetch(lab_fixture *fixture, lab_timeline *timeline, rung_error *error) {
  const rung_backend *backend = fixture->context->backend;
  const size_t bytes = (size_t)timeline->count * sizeof *timeline->blocks;
  timeline->blocks = malloc(bytes > 0 ? bytes : 1);
  if (!timeline->blocks)
    return rung_fail(error, RUNG_OUT_OF_MEMORY,
                     "no host memory for the times of %" PRId64 " blocks", timeline->count);
  rung_status status = backend->copy(fixture->context->state, timeline->blocks,
                                     fixture->arenas[LAB_SCRATCH].data, bytes, RUNG_TO_HOST, error);
  if (status == RUNG_OK) status = backend->synchronize(fixture->context->state, error);
  return status;
}

static void check(const lab_timeline *timeline, lab_verdict *verdict) {
  const uint64_t poison = UINT64_MAX;
  for (int64_t i = 0; i < timeline->count; ++i) {
    const rung_block_time *b = &timeline->blocks[i];
    if (b->start == poison || b->end == poison || b->processor == poison) {
      lab_find(verdict, LAB_UNWRITTEN, "block %" PRId64 " of %" PRId64 " did not write its times",
               i, timeline->count);
      return;
    }
    if (b->end >= b->start) continue;
    lab_find(verdict, LAB_WRONG, "block %" PRId64 " ends %" PRIu64 " before it starts", i,
             b->start - b->end);
    return;
  }
}

/* Once more, after a verification: nothing is watched, and the code is loaded. */
static rung_status run(lab_fixture *fixture, const rung_row *row, int block, lab_timeline *timeline,
                       lab_verdict *verdict, rung_error *error) {
  lab_shot shot;
  rung_error why = {0};
  rung_status status = lab_fixture_poison(fixture, error);
  if (status == RUNG_OK) status = lab_fixture_shot(fixture, row, block, &shot, error);
  if (status == RUNG_OK)
    status = fixture->context->backend->synchronize(fixture->context->state, error);
  if (status != RUNG_OK) return status;
  timeline->count = row->block_times(&shot.task);
  if (lab_fixture_launch(fixture, row, block, &why) != RUNG_OK) {
    lab_find_failure(verdict, &why);
    return RUNG_OK;
  }
  lab_fixture_check(fixture, row, verdict);
  if (verdict->finding != LAB_GOOD) return RUNG_OK;
  status = fetch(fixture, timeline, error);
  if (status == RUNG_OK) check(timeline, verdict);
  return status;
}

/* ---- a schedule ----------------------------------------------------------------------------- */

rung_status lab_timeline_schedule(lab_timeline *timeline, int processors, int resident,
                                  rung_error *error) {
  const int64_t all = (int64_t)processors * resident;
  const int64_t places = all < timeline->count ? all : timeline->count;
  uint64_t *free_at = calloc((size_t)places + 1, sizeof *free_at); /* multiprocessors in turn */
  if (!free_at)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory to place %" PRId64 " blocks",
                     timeline->count);
  for (int64_t i = 0; i < timeline->count; ++i) {
    rung_block_time *block = &timeline->blocks[i];
    int64_t place = 0;
    for (int64_t p = 1; p < places; ++p)
      if (free_at[p] < free_at[place]) place = p;
    const uint64_t lasted = block->end - block->start;
    block->start = free_at[place];
    block->end = free_at[place] += lasted;
    block->processor = (uint64_t)(place % processors);
  }
  free(free_at);
  return RUNG_OK;
}

static rung_status schedule(const rung_device *device, const rung_row *row, int block,
                            lab_timeline *timeline, rung_error *error) {
  enum { WARP = 32, MOST = 32, USUAL = 256 };
  const int threads = block > 0 ? block : row->blocks ? row->blocks[0] : USUAL;
  const int resident = device->threads / ((threads + WARP - 1) / WARP * WARP);
  return lab_timeline_schedule(timeline, device->processors,
                               resident > MOST ? MOST
                               : resident < 1  ? 1
                                               : resident,
                               error);
}

rung_status lab_timeline_of(rung_context *context, const rung_case *test_case, const rung_row *row,
                            int block, lab_timeline *timeline, lab_verdict *verdict,
                            rung_error *error) {
  *timeline = (lab_timeline){0};
  *verdict = (lab_verdict){.finding = LAB_GOOD};
  if (!row->block_times)
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "the blocks of rung %s do not write down when they ran", row->name);
  lab_fixture *fixture = NULL;
  rung_status status = lab_fixture_open(context, test_case, &fixture, error);
  if (status == RUNG_OK) lab_verify(fixture, row, block, verdict);
  if (status == RUNG_OK && verdict->finding == LAB_GOOD)
    status = run(fixture, row, block, timeline, verdict, error);
  if (status == RUNG_OK && verdict->finding == LAB_GOOD && context->device.kind == RUNG_SIM)
    status = schedule(&context->device, row, block, timeline, error);
  lab_fixture_close(fixture);
  /* That says nothing of the rung. */
  if (status == RUNG_OK && verdict->cause == RUNG_OUT_OF_MEMORY)
    status = rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: %s", row->name, verdict->sentence);
  if (status != RUNG_OK || verdict->finding != LAB_GOOD) lab_timeline_free(timeline);
  return status;
}

void lab_timeline_free(lab_timeline *timeline) {
  free(timeline->blocks);
  *timeline = (lab_timeline){0};
}

/* ---- places --------------------------------------------------------------------------------- */

typedef struct entry {
  const rung_block_time *block;
  int64_t number;
} entry;

static int compare(uint64_t a, uint64_t b) {
  return (a > b) - (a < b);
}

static int in_order(const void *left, const void *right) {
  const entry *a = left, *b = right;
  int order = compare(a->block->processor, b->block->processor);
  if (order == 0) order = compare(a->block->start, b->block->start);
  if (order == 0) order = compare(a->block->end, b->block->end);
  return order ? order : compare((uint64_t)a->number, (uint64_t)b->number);
}

int64_t *lab_timeline_places(const lab_timeline *timeline) {
  const size_t count = (size_t)timeline->count;
  int64_t *slots = malloc((count + 1) * sizeof *slots), used = 0;
  entry *entries = malloc((count + 1) * sizeof *entries);
  uint64_t *ends =
      malloc((count + 1) * sizeof *ends); /* of the processor under way, a place each */
  for (size_t i = 0; slots && entries && i < count; i++)
    entries[i] = (entry){&timeline->blocks[i], (int64_t)i};
  if (slots && entries && ends) {
    qsort(entries, count, sizeof *entries, in_order);
    for (size_t i = 0; i < count; i++) {
      const rung_block_time *block = entries[i].block;
      if (i > 0 && block->processor != entries[i - 1].block->processor) used = 0;
      int64_t slot = 0;
      while (slot < used && ends[slot] > block->start) slot++;
      if (slot == used) used++;
      ends[slot] = block->end;
      slots[entries[i].number] = slot;
    }
  } else {
    free(slots);
    slots = NULL;
  }
  free(entries);
  free(ends);
  return slots;
}

/* ---- figures -------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint64_t divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* A block that starts when another ends does not run beside it. */
static int64_t most_at_once(const uint64_t *starts, const uint64_t *ends, int64_t count) {
  int64_t most = 0;
  for (int64_t s = 0, e = 0; s < count; ++s) {
    while (e < s && ends[e] <= starts[s]) ++e;
    if (s + 1 - e > most) most = s + 1 - e;
  }
  return most;
}

static void count_processors(const uint64_t *processors, int64_t count,
                             lab_timeline_figures *figures) {
  for (int64_t i = 0, run = 0; i < count; ++i) {
    ++run;
    if (i + 1 < count && processors[i + 1] == processors[i]) continue;
    figures->processors += 1;
    if (figures->least == 0 || run < figures->least) figures->least = run;
    if (run > figures->most) figures->most = run;
    run = 0;
  }
}

static rung_status no_memory(int64_t count, rung_error *error) {
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory to look at %" PRId64 " blocks",
                   count);
}

rung_status lab_timeline_look(const lab_timeline *timeline, lab_timeline_figures *figures,
                              rung_error *error) {
  const int64_t count = timeline->count;
  const size_t each = (size_t)count * sizeof(uint64_t);
  uint64_t *starts = malloc(each), *ends = malloc(each), *processors = malloc(each);
  double *lasted = malloc((size_t)count * sizeof *lasted);
  *figures = (lab_timeline_figures){0};
  rung_status status = RUNG_OK;
  if (!starts || !ends || !processors || !lasted) {
    status = no_memory(count, error);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      const rung_block_time *b = &timeline->blocks[i];
      starts[i] = b->start;
      ends[i] = b->end;
      processors[i] = b->processor;
      lasted[i] = (double)(b->end - b->start);
    }
    qsort(starts, (size_t)count, sizeof *starts, by_value);
    qsort(ends, (size_t)count, sizeof *ends, by_value);
    qsort(processors, (size_t)count, sizeof *processors, by_value);
    figures->first = starts[0];
    figures->span = ends[count - 1] - starts[0];
    for (int64_t i = 0; i < count; ++i)
      figures->tick = divisor(divisor(figures->tick, starts[i] - starts[0]), ends[i] - starts[0]);
    figures->at_once = most_at_once(starts, ends, count);
    count_processors(processors, count, figures);
    figures->lasted = lab_stats_of(lasted, count < INT32_MAX ? (int)count : INT32_MAX);
    if (figures->lasted.count == 0) status = no_memory(count, error);
  }
  free(starts);
  free(ends);
  free(processors);
  free(lasted);
  return status;
}
