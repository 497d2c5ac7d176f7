/* The rungs `streamed` and `banded` on the simulated GPU, job by job drawn at random: every size of
 * kernel that the former takes, types, channels, edges, images that begin anywhere and are as wide
 * as its blocks, or nearly. The bits are those of the CPU's textbook. */
#include <math.h>
#include <stdlib.h>

#include "core/half.h"
#include "core/random.h"
#include "ops/context.h"

enum { TYPES = 4, EDGES = 6, JOBS = INSTRUMENTED ? 40 : 120, MOST = 1 << 20 };
static const DLDataType types[TYPES] = {
    {kDLUInt, 8, 1}, {kDLUInt, 16, 1}, {kDLFloat, 16, 1}, {kDLFloat, 32, 1}};
static const rung_edge edges[EDGES] = {RUNG_EDGE_CONSTANT, RUNG_EDGE_CONSTANT, RUNG_EDGE_NEAREST,
                                       RUNG_EDGE_REFLECT,  RUNG_EDGE_MIRROR,   RUNG_EDGE_WRAP};

static rung_random draw = {2013};
static int64_t within(int64_t least, int64_t most) {
  return least + (int64_t)(rung_random_next(&draw) % (uint64_t)(most - least + 1));
}

/* Numbers, of floats every hundredth one special. */
static void fill(int type, void *to, int64_t count) {
  static const float special[] = {NAN, INFINITY, -INFINITY, -0.0f, 0, 1e-45f, 3e38f, 60000};
  for (int64_t i = 0; i < count; i++) {
    const float x = within(0, 99) == 0 ? special[within(0, 7)] : (float)within(-4096, 4096) / 64;
    if (type == 0)
      ((uint8_t *)to)[i] = (uint8_t)within(0, 255);
    else if (type == 1)
      ((uint16_t *)to)[i] = (uint16_t)within(0, 65535);
    else if (type == 2)
      ((uint16_t *)to)[i] = rung_f32_to_f16(x);
    else
      ((float *)to)[i] = x;
  }
}

static double number(int type, const void *from, int64_t at) {
  return type == 0   ? ((const uint8_t *)from)[at]
         : type == 1 ? ((const uint16_t *)from)[at]
         : type == 2 ? rung_f16_to_f32(((const uint16_t *)from)[at])
                     : ((const float *)from)[at];
}

typedef struct job {
  int in, out;
  int64_t image[3], result[3], in_step[3], out_step[3], kernel[2], begin, out_begin;
  rung_filter_model model;
  float taps[256];
  int32_t integers[256];
  bool whole; /* taps are integers */
} job;

static job drawn(bool bytes) {
  job j = {.model.size = sizeof j.model};
  const int64_t channels = within(0, 2) ? 1 : within(2, 4);
  j.in = bytes ? 0 : (int)within(0, TYPES - 1);
  j.out = within(0, 1) ? j.in : (int)within(0, TYPES - 1);
  j.kernel[0] = within(1, channels > 1 ? 8 : 16);
  j.kernel[1] = channels > 1 ? 3 + 2 * within(0, 2) : within(1, 16);
  if (j.kernel[1] > 1 && j.kernel[1] <= 8 && j.kernel[0] > 8) j.kernel[0] -= 8;
  j.image[0] = within(0, 3) ? within(1, 40) : within(1, 3);
  j.image[1] = within(0, 1) ? within(1, 70) : within(508, 516) / channels;
  if (j.in == 0 && within(0, 2) == 0) j.image[1] = within(1020, 1030) / channels;
  j.image[2] = j.result[2] = channels;
  /* The image's rows begin where copies of 16 bytes may, or anywhere. */
  const int64_t of_image = j.image[1] * channels;
  j.begin = within(0, 1) ? 0 : within(0, 15);
  j.in_step[0] = within(0, 1) ? (of_image + 15) / 16 * 16 : of_image + within(0, 3);
  for (int d = 0; d < 2; d++) {
    const int64_t extent = j.kernel[d];
    j.model.origin[d] = within(0, 2) ? 0 : within(-(extent / 2), (extent - 1) / 2);
    j.model.region[d] = within(0, 2) ? 0 : within(0, j.image[d] - 1);
    j.result[d] = within(1, j.image[d] - j.model.region[d]);
    if (within(0, 2)) j.result[d] = j.image[d] - j.model.region[d];
  }
  j.out_step[0] = j.result[1] * channels + (within(0, 1) ? 0 : within(0, 9));
  j.out_begin = within(0, 1) ? 0 : within(0, 15);
  j.in_step[1] = j.out_step[1] = channels;
  j.in_step[2] = j.out_step[2] = 1;
  const int edge = (int)within(0, EDGES - 1);
  j.model.edge = edges[edge];
  j.model.edge_value = edge == 1 ? 3 : 0;
  j.whole = bytes || (j.in < 2 && within(0, 1));
  for (int i = 0; i < 256; i++) {
    j.taps[i] = (float)within(-1000, 1000) / 128;
    j.integers[i] = j.in == 0 ? (int32_t)within(-9, 9) : within(0, 3) == 0;
  }
  return j;
}

static rung_status filter(rung_context *on, const char *rung, job *j, char *image, void *result) {
  static const DLDataType i32 = {kDLInt, 32, 1}, f32 = {kDLFloat, 32, 1};
  DLTensor in =
      tensor(image + j->begin * (types[j->in].bits / 8), types[j->in], 3, j->image, j->in_step);
  DLTensor kernel = tensor(j->whole ? (void *)j->integers : (void *)j->taps, j->whole ? i32 : f32,
                           2, j->kernel, NULL);
  DLTensor out = tensor((char *)result + j->out_begin * (types[j->out].bits / 8), types[j->out], 3,
                        j->result, j->out_step);
  rung_call call = {.size = sizeof call, .rung = rung};
  return rung_correlate(on, &j->model, &in, &kernel, &out, &call);
}

/* The same numbers, and nothing written between the rows; a NaN is a NaN. */
static bool same(const job *j, const char *wanted, const char *found) {
  for (int64_t i = 0; i < j->out_begin + j->result[0] * j->out_step[0] + 16; i++) {
    const double a = number(j->out, wanted, i), b = number(j->out, found, i);
    if (!(isnan(a) && isnan(b)) && (a != b || signbit(a) != signbit(b))) return false;
  }
  return true;
}

static rung_context *simulated(void) {
  rung_context *sim = NULL;
  if (rung_open(&sim, &(rung_options){.device = "sim"}) == RUNG_OK) return sim;
  print_message("sim is not tried: %s\n", rung_last_error(sim));
  rung_close(sim);
  skip();
  return NULL;
}

/* Whether the rung takes the job; if so, it must give the bits that are wanted. */
static bool gives(rung_context *sim, const char *rung, int n, job *j, char *image,
                  const char *wanted, char *found) {
  memset(found, 1, MOST);
  const rung_status status = filter(sim, rung, j, image, found);
  if (status == RUNG_UNSUPPORTED) return false;
  if (status) fail_msg("%s", rung_last_error(sim));
  if (!same(j, wanted, found))
    fail_msg(
        "%s, job %d: %ld x %ld x %ld of type %d to %d, kernel %ld x %ld, edge %d, origin %ld %ld, "
        "region %ld %ld, line %ld, begin %ld: other bits",
        rung, n, (long)j->image[0], (long)j->image[1], (long)j->image[2], j->in, j->out,
        (long)j->kernel[0], (long)j->kernel[1], (int)j->model.edge, (long)j->model.origin[0],
        (long)j->model.origin[1], (long)j->model.region[0], (long)j->model.region[1],
        (long)j->in_step[0], (long)j->begin);
  return true;
}

/* Tries jobs, and how many of them the rungs take. */
static void try_jobs(bool bytes, int *streamed, int *banded) {
  rung_context *sim = simulated();
  char *image = NULL, *wanted = malloc(MOST), *found = malloc(MOST);
  assert_int_equal(posix_memalign((void **)&image, 16, MOST), 0);
  assert_true(wanted != NULL && found != NULL);
  *streamed = *banded = 0;
  for (int n = 0; n < JOBS; n++) {
    job j = drawn(bytes);
    fill(j.in, image, j.image[0] * j.in_step[0] + 16);
    memset(wanted, 1, MOST);
    if (filter(context, "direct", &j, image, wanted)) fail_msg("%s", rung_last_error(context));
    if (!bytes) *streamed += gives(sim, "streamed", n, &j, image, wanted, found);
    *banded += gives(sim, "banded", n, &j, image, wanted, found);
  }
  free(image);
  free(wanted);
  free(found);
  rung_close(sim);
}

static void have_the_bits_of_the_textbook(void **state) {
  (void)state;
  int streamed, banded;
  try_jobs(false, &streamed, &banded);
  assert_true(streamed > JOBS * 3 / 4 && banded > JOBS / 16);
}

/* Images of bytes by integers, which `banded` takes all of. */
static void have_them_of_bytes(void **state) {
  (void)state;
  int streamed, banded;
  try_jobs(true, &streamed, &banded);
  assert_int_equal(banded, JOBS);
}

/* Bytes that repeat others beyond the first and last of rows that fill whole blocks, or all but the
 * last word of one. */
static void bytes_are_repeated_at_the_ends_of_rows(void **state) {
  (void)state;
  rung_context *sim = simulated();
  char *image = NULL, *wanted = malloc(MOST), *found = malloc(MOST);
  assert_int_equal(posix_memalign((void **)&image, 16, MOST), 0);
  assert_true(wanted != NULL && found != NULL);
  int n = 0;
  for (int columns = 2; columns <= 7; columns++)
    for (int edge = 1; edge < EDGES; edge++)
      for (int width = 508; width <= 1024; width += width == 508 ? 4 : 512)
        for (int whole = 0; whole < 2; whole++) {
          job j = drawn(true);
          j.whole = whole;
          j.in = j.out = 0;
          j.kernel[0] = j.kernel[1] = columns;
          j.image[0] = j.result[0] = 3;
          j.image[1] = j.result[1] = width;
          j.image[2] = j.result[2] = j.in_step[1] = j.out_step[1] = 1;
          j.in_step[0] = j.out_step[0] = 1024;
          j.begin = j.out_begin = j.model.origin[0] = j.model.origin[1] = 0;
          j.model.region[0] = j.model.region[1] = 0;
          j.model.edge = edges[edge];
          /* The first and the last column alone, so that few sums are beyond a byte. */
          for (int i = 0; i < columns * columns; i++) {
            j.integers[i] = i == 0 || i == 2 * columns - 1;
            j.taps[i] = j.integers[i] ? 0.5f : 0;
          }
          fill(0, image, j.image[0] * j.in_step[0] + 16);
          memset(wanted, 1, MOST);
          if (filter(context, "direct", &j, image, wanted))
            fail_msg("%s", rung_last_error(context));
          assert_true(gives(sim, "streamed", n++, &j, image, wanted, found));
        }
  free(image);
  free(wanted);
  free(found);
  rung_close(sim);
}

/* Of taps that are no signed bytes `banded` says so. */
static void bands_are_of_bytes(void **state) {
  (void)state;
  rung_context *sim = simulated();
  uint8_t image[3] = {1, 2, 3}, result[3] = {9, 9, 9};
  job j = {.model.size = sizeof j.model,
           .image = {1, 3, 1},
           .result = {1, 3, 1},
           .in_step = {3, 1, 1},
           .out_step = {3, 1, 1},
           .kernel = {1, 1},
           .whole = true};
  const int32_t taps[] = {-129, -128, 127, 128};
  for (int t = 0; t < 4; t++) {
    j.integers[0] = taps[t];
    const rung_status status = filter(sim, "banded", &j, (char *)image, result);
    assert_int_equal(status, t % 3 ? RUNG_OK : RUNG_UNSUPPORTED);
    if (status) assert_non_null(strstr(rung_last_error(sim), t ? "is 128" : "is -129"));
  }
  rung_close(sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(have_the_bits_of_the_textbook),
                                     cmocka_unit_test(have_them_of_bytes),
                                     cmocka_unit_test(bytes_are_repeated_at_the_ends_of_rows),
                                     cmocka_unit_test(bands_are_of_bytes)};
  return cmocka_run_group_tests(tests, open_context, close_context);
}
