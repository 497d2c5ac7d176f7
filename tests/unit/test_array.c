/* Which format a file of an array has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/array.h"
#include "rung/rung.h"

static void names_say_the_format(void **state) {
  (void)state;
  static const char *const npy[] = {"-",       "a.npy",     "a.NPY", "plain", "/dev/full",
                                    "dir.d/a", "a.csv.npy", ".a",    "x/.a"};
  const array_format *format = NULL;
  for (size_t i = 0; i < sizeof npy / sizeof *npy; i++) {
    assert_int_equal(array_format_of("-o", npy[i], true, &format, NULL), RUNG_OK);
    assert_string_equal(format->name, "npy");
  }
  static const char *const other[] = {"a.csv", "a.npy.txt", "x.d/a.n", "a.npyx"};
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    rung_error error = {0};
    assert_int_equal(array_format_of("-o", other[i], true, &format, &error), RUNG_BAD_ARGUMENT);
    assert_non_null(strstr(error.sentence, other[i]));
    assert_non_null(strstr(error.sentence, "-o '"));
    assert_non_null(strstr(error.sentence, "expected: a name that ends in .npy"));
  }
}

static void what_is_refused_is_not_written(void **state) {
  (void)state;
  const int32_t numbers[] = {1, 2, 3};
  const int64_t count = 3;
  const DLTensor tensor = rung_array_i32(numbers, &count);
  char folder[] = "/tmp/rung-array-XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/a.csv", folder);
  assert_int_equal(array_possible("-o", path, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(array_write(path, &tensor, NULL), RUNG_BAD_ARGUMENT);
  assert_int_not_equal(access(path, F_OK), 0);
  snprintf(path, sizeof path, "%s/a.npy", folder);
  assert_int_equal(array_possible("-o", path, NULL), RUNG_OK);
  assert_int_equal(array_write(path, &tensor, NULL), RUNG_OK);
  file_array back;
  assert_int_equal(array_read(path, &back, NULL), RUNG_OK);
  assert_int_equal(back.dtype, RUNG_I32);
  assert_memory_equal(back.memory, numbers, sizeof numbers);
  array_free(&back);
  assert_null(back.memory);
  unlink(path);
  assert_int_equal(rmdir(folder), 0); /* nothing else is left */
}

static void types(void **state) {
  (void)state;
  for (int d = 0; d < RUNG_DTYPES; d++) {
    const DLDataType type = array_type_of((rung_dtype)d);
    double number = 0;
    rung_view view;
    const DLTensor tensor = rung_array(&number, type, 0, NULL);
    assert_int_equal(rung_view_of(NULL, "x", &tensor, RUNG_TYPE(d), 0, &view), RUNG_OK);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_say_the_format),
      cmocka_unit_test(what_is_refused_is_not_written),
      cmocka_unit_test(types),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
