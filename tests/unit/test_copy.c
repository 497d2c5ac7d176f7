/* Copies between views of any strides, element by element against index arithmetic: dimensions in
 * any order, with gaps, backwards, repeated. Every array lies alone in its memory, for sanitizers
 * to see a step beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/tensor.h"

enum { DIMS = 4, JOBS = 4000, GAP = 0xEE };

static const rung_dtype dtypes[] = {RUNG_U8, RUNG_F16, RUNG_F32, RUNG_F64};

/* A view, and the memory that its elements need. */
typedef struct array {
  rung_view view;
  unsigned char *memory;
  size_t bytes;
} array;

static int64_t draw(rung_random *random, int64_t below) {
  return (int64_t)(rung_random_next(random) % (uint64_t)below);
}

static int64_t extent(rung_random *random, int ndim) {
  static const int64_t chosen[] = {1, 2, 3, 15, 16, 17, 33, 64, 65, 130};
  return chosen[draw(random, ndim > 2 ? 6 : 10)];
}

/* `repeats`: a dimension may have a stride of 0. */
static array make(rung_random *random, rung_dtype dtype, int ndim, const int64_t *shape,
                  bool repeats) {
  const int64_t size = (int64_t)rung_dtype_bytes(dtype);
  array made = {.view = rung_view_compact(NULL, dtype, ndim, shape)};
  int order[DIMS] = {0, 1, 2, 3};
  int64_t step = draw(random, 3) == 0 ? 1 + draw(random, 5) : 1, first = 0, last = 0;
  for (int d = ndim - 1; d > 0 && draw(random, 2) == 0; d--) {
    const int with = (int)draw(random, d + 1), kept = order[d];
    order[d] = order[with];
    order[with] = kept;
  }
  for (int k = ndim - 1; k >= 0; k--) {
    const int d = order[k];
    const int64_t stride = repeats && draw(random, 12) == 0 ? 0 : step;
    const int64_t span = (shape[d] - 1) * stride;
    const bool backwards = draw(random, 4) == 0;
    made.view.stride[d] = backwards ? -stride : stride;
    if (backwards) first += span;
    last += span;
    if (stride > 0) step *= shape[d];
    if (draw(random, 3) == 0) step += draw(random, 4);
  }
  made.bytes = (size_t)((last + 1) * size);
  made.memory = malloc(made.bytes);
  assert_non_null(made.memory);
  made.view.data = (char *)made.memory + first * size;
  return made;
}

static void place(const rung_view *view, const int64_t *index, int64_t *at) {
  *at = 0;
  for (int d = 0; d < view->ndim; d++) *at += index[d] * view->stride[d];
}

/* As rung_view_copy(), into memory that begins elsewhere. */
static void copy_by_indices(const array *to, unsigned char *memory, const array *from) {
  const int64_t size = (int64_t)rung_dtype_bytes(to->view.dtype);
  const int64_t begin = (unsigned char *)to->view.data - to->memory;
  int64_t index[DIMS] = {0}, to_at, from_at;
  for (int64_t k = 0; k < to->view.count; k++) {
    int64_t rest = k;
    for (int d = to->view.ndim - 1; d >= 0; d--) {
      index[d] = rest % to->view.shape[d];
      rest /= to->view.shape[d];
    }
    place(&to->view, index, &to_at);
    place(&from->view, index, &from_at);
    memcpy(memory + begin + to_at * size, from->view.data + from_at * size, (size_t)size);
  }
}

static void every_element_lands_where_its_indices_say(void **state) {
  (void)state;
  rung_random random = {17};
  for (int job = 0; job < JOBS; job++) {
    const rung_dtype dtype = dtypes[draw(&random, 4)];
    const int ndim = (int)draw(&random, DIMS + 1);
    int64_t shape[DIMS];
    for (int d = 0; d < ndim; d++) shape[d] = extent(&random, ndim);
    array from = make(&random, dtype, ndim, shape, true);
    array to = make(&random, dtype, ndim, shape, false);
    for (size_t i = 0; i < from.bytes; i++)
      from.memory[i] = (unsigned char)rung_random_next(&random);
    unsigned char *wanted = malloc(to.bytes);
    assert_non_null(wanted);
    memset(wanted, GAP, to.bytes);
    memset(to.memory, GAP, to.bytes);
    copy_by_indices(&to, wanted, &from);
    rung_view_copy(&to.view, &from.view);
    if (memcmp(to.memory, wanted, to.bytes) != 0)
      fail_msg("job %d: %d dimensions of %d bytes", job, ndim, (int)rung_dtype_bytes(dtype));
    free(wanted);
    free(from.memory);
    free(to.memory);
  }
}

/* More rows than are turned at a time, and columns beside whole lines of memory. */
static void matrices_of_many_blocks_are_turned(void **state) {
  (void)state;
  for (int d = 0; d < 4; d++) {
    const int64_t size = (int64_t)rung_dtype_bytes(dtypes[d]), side = 64 / size;
    for (int64_t rows = 8 * side - 1; rows <= 9 * side + 1; rows += side + 1) {
      int64_t shape[2] = {rows, 2 * side + 3};
      const size_t bytes = (size_t)(rows * shape[1] * size);
      unsigned char *source = malloc(bytes), *found = malloc(bytes), *wanted = malloc(bytes);
      assert_true(source != NULL && found != NULL && wanted != NULL);
      for (size_t i = 0; i < bytes; i++) source[i] = (unsigned char)(i * 7 + i / 251);
      rung_view in = rung_view_compact(source, dtypes[d], 2, shape);
      const rung_view out = rung_view_compact(found, dtypes[d], 2, shape);
      in.stride[0] = 1;
      in.stride[1] = rows;
      for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < shape[1]; j++)
          memcpy(wanted + (i * shape[1] + j) * size, source + (i + j * rows) * size, (size_t)size);
      rung_view_copy(&out, &in);
      if (memcmp(found, wanted, bytes) != 0)
        fail_msg("%lld rows of %d bytes", (long long)rows, (int)size);
      free(source);
      free(found);
      free(wanted);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_element_lands_where_its_indices_say),
      cmocka_unit_test(matrices_of_many_blocks_are_turned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
