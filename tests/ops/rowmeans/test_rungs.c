/* Every CPU rung, on every instruction set of this machine and several numbers of threads, against
 * the references: the cases' lines, and strides and alignments no case has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/context.h"
#include "core/random.h"
#include "ops/rowmeans/lab/cases.h"
#include "ops/rowmeans/rowmeans.h"

static const int thread_counts[] = {1, 2, 3, 7};
static rung_device cpu;

/* A body for each rung, instruction set and number of threads; threads only where it matters. */
static void each_rung(void (*body)(const rung_row *row, const rung_device *device, void *arg),
                      void *arg) {
  for (int r = 0; r < rowmeans_operation.count; ++r) {
    const rung_row *row = &rowmeans_operation.rows[r];
    if (row->family != RUNG_ON_CPU) continue;
    for (int isa = 0; isa <= (int)cpu.isa; ++isa)
      for (int t = 0; t < 4; ++t) {
        rung_device device = cpu;
        device.isa = (rung_isa)isa;
        device.threads = thread_counts[t];
        if (t > 0 && strcmp(row->name, "threads") != 0) continue;
        assert_non_null(rung_row_launch(row, &device));
        body(row, &device, arg);
      }
  }
}

/* Runs a rung with exactly the scratch it asked for. */
static void run(const rung_row *row, const rung_device *device, const rowmeans_problem *problem,
                const rung_view *in, const rung_view *means) {
  rung_error error = {0};
  rung_task task = {.problem = problem, .arrays = {*in, *means}, .device = device, .error = &error};
  assert_int_equal(rung_row_supports(row, &task, (rung_types)RUNG_ALIKE(problem->dtype), &error),
                   RUNG_OK);
  const size_t bytes = row->scratch_bytes == NULL ? 0 : row->scratch_bytes(&task);
  char *scratch = (char *)aligned_alloc(256, (bytes + 511) / 256 * 256);
  memset(scratch, RUNG_POISON_BYTE, bytes + 8);
  task.scratch = scratch;
  assert_int_equal(rung_row_launch(row, device)(&task), RUNG_OK);
  for (int b = 0; b < 8; ++b) assert_int_equal((unsigned char)scratch[bytes + b], RUNG_POISON_BYTE);
  free(scratch);
}

static void verify_one(const rung_row *row, const rung_device *device, void *arg) {
  const rung_case *test_case = (const rung_case *)arg;
  rung_view means = test_case->arrays[ROWMEANS_MEANS];
  const size_t bytes = rung_view_bytes(&means);
  means.data = (char *)malloc(bytes);
  memset(means.data, RUNG_POISON_BYTE, bytes);
  run(row, device, (const rowmeans_problem *)test_case->problem, &test_case->arrays[ROWMEANS_IN],
      &means);
  rung_comparison comparison;
  rowmeans_cases.check(test_case, row->order, &means, &comparison);
  if (!comparison.pass)
    fail_msg("%s, %s, %d threads: %s: %s", row->name, rung_isa_name(device->isa), device->threads,
             test_case->label, comparison.sentence);
  assert_true(comparison.worst <= comparison.bound || strstr(test_case->label, "special") != NULL);
  free(means.data);
}

static void verify_lines(void **state) {
  (void)state;
  for (int i = 0; rowmeans_cases.verify[i] != NULL; ++i) {
    rung_error error = {0};
    rung_case test_case;
    if (rowmeans_cases.make(rowmeans_cases.verify[i], 7 + (uint64_t)i, &test_case, &error) !=
        RUNG_OK)
      fail_msg("%s", error.sentence);
    assert_int_equal(rowmeans_cases.expect(&test_case, &error), RUNG_OK);
    each_rung(verify_one, &test_case);
    rowmeans_cases.drop(&test_case);
  }
}

/* ---- strides and alignment ------------------------------------------------------------------- */

enum { ROWS = 5, COLUMNS = 2051, ROOM = 3 * ROWS * (COLUMNS + 7) };

typedef struct layout {
  int64_t in_stride, mean_stride;
  int shift; /* elements that the data lie off a 64-byte boundary */
} layout;

static void fill(char *memory, rung_dtype dtype) {
  rung_random random = {3};
  for (int64_t i = 0; i < ROOM; ++i) {
    const double value = rung_random_double(&random) * 4 - 2;
    if (dtype == RUNG_F32)
      ((float *)memory)[i] = (float)value;
    else
      ((double *)memory)[i] = value;
  }
}

static void try_layout(const rung_row *row, const rung_device *device, rung_dtype dtype,
                       const layout *layout) {
  const size_t element = rung_dtype_bytes(dtype);
  char *memory = (char *)aligned_alloc(64, (ROOM * element + 63) / 64 * 64);
  char *output = (char *)malloc(4 * ROWS * element);
  fill(memory, dtype);
  memset(output, RUNG_POISON_BYTE, 4 * ROWS * element);
  rung_view in = rung_view_compact(NULL, dtype, 2, (int64_t[]){ROWS, COLUMNS});
  rung_view means = rung_view_compact(NULL, dtype, 1, (int64_t[]){ROWS});
  in.stride[0] = layout->in_stride;
  in.data = memory + (size_t)layout->shift * element;
  if (layout->in_stride < 0) in.data += (ROWS - 1) * -layout->in_stride * (int64_t)element;
  means.stride[0] = layout->mean_stride;
  means.data = output + (layout->mean_stride < 0 ? 3 * ROWS * element : 0);
  rowmeans_problem problem;
  assert_int_equal(rowmeans_problem_of(NULL, ROWS, COLUMNS, dtype, &problem), RUNG_OK);
  run(row, device, &problem, &in, &means);
  for (int64_t i = 0; i < ROWS; ++i) {
    double magnitude, strict_wide = 0;
    float strict_narrow = 0;
    const char *from = in.data + i * in.stride[0] * (int64_t)element;
    rowmeans_reference_strict(&problem, from,
                              dtype == RUNG_F32 ? (void *)&strict_narrow : (void *)&strict_wide);
    const double strict = dtype == RUNG_F32 ? (double)strict_narrow : strict_wide;
    const double wide = rowmeans_reference_wide(&problem, from, &magnitude);
    const char *to = means.data + i * means.stride[0] * (int64_t)element;
    const double found = dtype == RUNG_F32 ? (double)*(const float *)to : *(const double *)to;
    const double bound = COLUMNS * (dtype == RUNG_F32 ? 0x1p-23 : 0x1p-52) * magnitude;
    if (row->order == RUNG_CANONICAL)
      assert_true(found == strict);
    else
      assert_true(found - wide <= bound && wide - found <= bound);
  }
  free(memory);
  free(output);
}

static void try_layouts(const rung_row *row, const rung_device *device, void *arg) {
  (void)arg;
  static const layout layouts[] = {{COLUMNS, 1, 0},      {COLUMNS + 5, 1, 1}, {-COLUMNS, 1, 3},
                                   {-COLUMNS - 6, 3, 1}, {0, 1, 1},           {1, -2, 0},
                                   {-1, -3, 5},          {2 * COLUMNS, 2, 7}};
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i) {
    try_layout(row, device, RUNG_F32, &layouts[i]);
    try_layout(row, device, RUNG_F64, &layouts[i]);
  }
}

static void takes_any_layout(void **state) {
  (void)state;
  each_rung(try_layouts, NULL);
}

static int find_cpu(void **state) {
  (void)state;
  rung_error error;
  return rung_find_device("cpu", &cpu, &error) == RUNG_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(verify_lines),
      cmocka_unit_test(takes_any_layout),
  };
  return cmocka_run_group_tests(tests, find_cpu, NULL);
}
