/* Copies by boxes against a loop, where the simulated GPU watches every access and every barrier.
 */
#include "sim/board.h"
#include "sim/boxes.h"

#include "core/random.h"

static int64_t whole(rung_random *random, int64_t below) {
  return (int64_t)(rung_random_double(random) * (double)below);
}

/* Lays one side's dimensions out in a random order, with gaps, some backwards: returns how many
 * elements that takes. */
static int64_t lay_out(boxes_job *job, bool out, rung_random *random, bool gaps) {
  rung_dimensions *d = &job->dimensions;
  int order[RUNG_MAX_DIMS];
  int64_t step = 1, room = 1, *first = out ? &job->out_first : &job->in_first;
  for (int k = 0; k < d->count; k++) {
    const int j = (int)whole(random, k + 1);
    order[k] = order[j];
    order[j] = k;
  }
  *first = 0;
  for (int i = 0; i < d->count; i++) {
    rung_dimension *at = &d->at[order[i]];
    const bool back = gaps && rung_random_double(random) < 0.2;
    *(out ? &at->out : &at->in) = back ? -step : step;
    if (back) *first += (at->extent - 1) * step;
    room += (at->extent - 1) * step;
    step *= at->extent;
    if (gaps && rung_random_double(random) < 0.5) step += whole(random, 4);
  }
  return room;
}

static void copy_on_host(const boxes_job *job, const char *from, char *to) {
  const rung_dimensions *d = &job->dimensions;
  int64_t at[RUNG_MAX_DIMS] = {0}, count = 1;
  for (int k = 0; k < d->count; k++) count *= d->at[k].extent;
  for (int64_t n = 0; n < count; n++) {
    int64_t here = job->in_first, there = job->out_first;
    for (int k = 0; k < d->count; k++) {
      here += at[k] * d->at[k].in;
      there += at[k] * d->at[k].out;
    }
    memcpy(to + there * job->bytes, from + here * job->bytes, (size_t)job->bytes);
    for (int k = 0; k < d->count && ++at[k] == d->at[k].extent; k++) at[k] = 0;
  }
}

static void copy_once(boxes_job *job, rung_random *random, bool gaps) {
  const size_t in_bytes = (size_t)(lay_out(job, false, random, gaps) * job->bytes);
  const size_t out_bytes = (size_t)(lay_out(job, true, random, gaps) * job->bytes);
  char *in = malloc(in_bytes), *out = malloc(out_bytes), *wanted = malloc(out_bytes);
  for (size_t i = 0; i < in_bytes; i++) in[i] = (char)(i * 31 + i / 251);
  memset(out, 0xEE, out_bytes);
  memset(wanted, 0xEE, out_bytes);
  copy_on_host(job, in, wanted);
  run_on_board(ENTRIES_OF(boxes_copy), job, in, in_bytes, out, out_bytes);
  assert_memory_equal(out, wanted, out_bytes);
  free(in);
  free(out);
  free(wanted);
}

/* Few neighbours and many, boxes that end beyond their dimension, pairs, eight dimensions. */
static void elements_arrive_and_nothing_else_is_touched(void **unused) {
  (void)unused;
  if (!here.state) skip();
  static const int64_t shapes[][RUNG_MAX_DIMS] = {
      {2},         {700},        {3, 1500},         {70, 90},      {64, 130},
      {5, 40, 50}, {66, 34, 10}, {7, 3, 11, 2, 13}, {9, 2, 70, 4}, {2, 3, 2, 3, 2, 3, 5, 2}};
  rung_random random = {19};
  for (int i = 0; i < 80; i++) {
    boxes_job job = {.bytes = 1 << i % 4};
    const int64_t *shape = shapes[i / 4 % 10];
    for (int k = 0; k < RUNG_MAX_DIMS && shape[k] > 0; k++)
      job.dimensions.at[job.dimensions.count++].extent = shape[k];
    copy_once(&job, &random, i >= 40);
  }
}

/* Steps of any size, also such that a box reaches farther than 32 bits tell. */
static void boxes_of_any_steps_are_sound(void **unused) {
  (void)unused;
  if (!here.state) skip();
  /* The nearest dimension has the wider step on the other side. */
  boxes_job near = {{2, {{3564514, 3393936, 1}, {4, 1, 3564516}}}, .bytes = 1, .processors = 1};
  const rung_task first = {.problem = &near, .error = &here.error};
  must(ENTRIES_OF(boxes_plan)[here.device.kind == RUNG_SIM](&first));
  rung_random random = {20};
  for (int i = 0; i < 4000; i++) {
    boxes_job job = {.bytes = 1 << i % 4, .processors = i % 8 < 4 ? 1 : 132};
    const rung_task task = {.problem = &job, .error = &here.error};
    rung_dimensions *d = &job.dimensions;
    d->count = 1 + (int)whole(&random, 4);
    for (int k = 0; k < d->count; k++) {
      const int64_t extent = 2 + whole(&random, 1 << whole(&random, 22 / d->count));
      const int64_t far = INT64_C(1) << whole(&random, 34);
      d->at[k] = (rung_dimension){extent * 2, whole(&random, far) * 2, whole(&random, far) * 2 + 2};
    }
    d->at[0].in = 1;
    d->at[d->count - 1].out = 1;
    must(ENTRIES_OF(boxes_plan)[here.device.kind == RUNG_SIM](&task));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {EACH(elements_arrive_and_nothing_else_is_touched),
                                     EACH(boxes_of_any_steps_are_sound)};
  return cmocka_run_group_tests_name("copies by boxes", tests, NULL, NULL);
}
