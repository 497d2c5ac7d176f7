/* Shares of NPY files: any number of them, read and written, are the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/share.h"

static char folder[64], path[96], other[96];

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/rung-share-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/a.npy", folder);
  snprintf(other, sizeof other, "%s/b.npy", folder);
  return 0;
}

static int drop_folder(void **state) {
  (void)state;
  unlink(path);
  unlink(other);
  return rmdir(folder);
}

/* A file of `ndim` dimensions of f64: 0, 1, 2 ... in their order; returns how many. */
static int64_t put(int ndim, const int64_t *shape) {
  static double numbers[1000];
  int64_t count = 1, extents[RUNG_MAX_DIMS];
  for (int d = 0; d < ndim; d++) count *= extents[d] = shape[d];
  for (int64_t i = 0; i < count; i++) numbers[i] = (double)i;
  const DLTensor tensor = {.data = numbers,
                           .device = {kDLCPU, 0},
                           .ndim = ndim,
                           .dtype = {kDLFloat, 64, 1},
                           .shape = extents};
  assert_int_equal(array_write(path, &tensor, NULL), RUNG_OK);
  return count;
}

/* Bytes as they stand. */
static void put_bytes(const char *dictionary, const void *data, size_t bytes) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fwrite("\x93NUMPY\x01\x00", 1, 8, file);
  fputc((int)strlen(dictionary), file);
  fputc(0, file);
  fputs(dictionary, file);
  fwrite(data, 1, bytes, file);
  assert_int_equal(fclose(file), 0);
}

static void shares_are_the_whole(void **state) {
  (void)state;
  const int64_t shapes[][3] = {{1, 1, 1}, {7, 1, 1}, {0, 1, 1}, {5, 6, 7}, {3, 0, 2}};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (int ndim = s == 0 ? 0 : s < 3 ? 1 : 3, shares = 1; shares <= 9; shares++) {
      const int64_t count = put(ndim, shapes[s]);
      int64_t next = 0;
      for (int share = 0; share < shares; share++) {
        file_array array;
        share_file file;
        int64_t first;
        assert_int_equal(share_read(path, SHARE_ELEMENTS, share, shares, &array, &file, NULL),
                         RUNG_OK);
        assert_int_equal(share_of(&file.about, SHARE_ELEMENTS, share, shares, &first),
                         array.shape[0]);
        assert_int_equal(first, next);
        assert_int_equal(array.tensor.ndim, 1);
        for (int64_t i = 0; i < array.shape[0]; i++)
          assert_true(((const double *)array.tensor.data)[i] == (double)next++);
        array_free(&array);
      }
      assert_int_equal(next, count);
    }
}

/* Of rows: what belongs together stays so; of lines, where there are enough. */
static void rows_stay_whole(void **state) {
  (void)state;
  const int64_t shapes[][3] = {{5, 3, 1}, {3, 4, 2}, {0, 2, 2}, {9, 0, 2}};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (int cut = SHARE_ROWS; cut <= SHARE_LINES; cut++)
      for (int shares = 1; shares <= 9; shares++) {
        const int64_t *shape = shapes[s], count = put(3, shape);
        const bool lines = cut == SHARE_LINES && shape[2] > 1 && count / shape[2] >= shares;
        const int ndim = cut == SHARE_ROWS ? 3 : lines ? 2 : 1;
        int64_t next = 0, rows = 0;
        for (int share = 0; share < shares; share++) {
          file_array array;
          share_file file;
          int64_t first;
          assert_int_equal(share_read(path, (share_cut)cut, share, shares, &array, &file, NULL),
                           RUNG_OK);
          const int64_t found = share_of(&file.about, (share_cut)cut, share, shares, &first);
          int64_t elements = 1;
          assert_int_equal(array.tensor.ndim, ndim);
          for (int d = 0; d < ndim; d++) elements *= array.shape[d];
          assert_int_equal(elements, found);
          assert_true(found == 0 || first == next);
          if (cut == SHARE_ROWS)
            assert_true(array.shape[1] == shape[1] && array.shape[2] == shape[2]);
          if (lines) assert_int_equal(array.shape[1], shape[2]);
          for (int64_t i = 0; i < found; i++)
            assert_true(((const double *)array.tensor.data)[i] == (double)next++);
          rows += array.shape[0];
          array_free(&array);
        }
        assert_int_equal(next, count);
        if (cut == SHARE_ROWS) assert_int_equal(rows, shape[0]);
      }
}

static void written_shares_are_the_whole(void **state) {
  (void)state;
  const int64_t shapes[] = {0, 1, 7, 1000};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (int shares = 1; shares <= 5; shares++) {
      put(1, &shapes[s]);
      file_replace out;
      share_place place;
      array_about about = {.dtype = RUNG_F64, .ndim = 1, .shape = {shapes[s]}};
      assert_int_equal(share_create(&out, other, &about, &place, NULL), RUNG_OK);
      for (int share = shares; share-- > 0;) {
        file_array array;
        share_file file;
        int64_t first;
        assert_int_equal(share_read(path, SHARE_ELEMENTS, share, shares, &array, &file, NULL),
                         RUNG_OK);
        const int64_t count = share_of(&file.about, SHARE_ELEMENTS, share, shares, &first);
        assert_int_equal(share_write(&place, other, first, count, 8, array.memory, NULL), RUNG_OK);
        array_free(&array);
      }
      assert_int_equal(file_replace_commit(&out, NULL), RUNG_OK);
      file_array a, b;
      assert_int_equal(array_read(path, &a, NULL), RUNG_OK);
      assert_int_equal(array_read(other, &b, NULL), RUNG_OK);
      assert_int_equal(b.shape[0], shapes[s]);
      assert_memory_equal(a.memory, b.memory, (size_t)shapes[s] * 8);
      array_free(&a);
      array_free(&b);
    }
}

static void other_bytes_are_turned(void **state) {
  (void)state;
  const unsigned char data[] = {0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 5, 6};
  file_array array;
  share_file file;
  put_bytes("{'descr': '>i4', 'fortran_order': False, 'shape': (3,)}", data, sizeof data);
  assert_int_equal(share_read(path, SHARE_ELEMENTS, 1, 2, &array, &file, NULL), RUNG_OK);
  assert_int_equal(array.shape[0], 1);
  assert_int_equal(*(const int32_t *)array.memory, 0x506);
  array_free(&array);
}

static void refused(const char *name, rung_status wanted, const char *word) {
  file_array array;
  share_file file;
  rung_error error = {0};
  memset(&array, 0x55, sizeof array);
  assert_int_equal(share_read(name, SHARE_ELEMENTS, 0, 2, &array, &file, &error), wanted);
  assert_null(array.memory);
  if (!strstr(error.sentence, word)) fail_msg("'%s' does not say '%s'", error.sentence, word);
}

static void what_has_no_shares_is_refused(void **state) {
  (void)state;
  const char data[48] = "";
  refused("-", RUNG_BAD_ARGUMENT, "standard input comes to one rank");
  refused("/nowhere/a.npy", RUNG_FILE_FAILED, "/nowhere/a.npy: cannot be read");
  put_bytes("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3)}", data, 48);
  refused(path, RUNG_BAD_FILE, "is in Fortran order");
  put_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", data, 40);
  refused(path, RUNG_BAD_FILE, "truncated");
  FILE *image = fopen(path, "wb");
  fputs("P5\n2 2\n255\n....", image);
  fclose(image);
  refused(path, RUNG_BAD_FILE, "is Netpbm's format; expected: .npy");
  const array_about about = {.dtype = RUNG_F64, .ndim = 1, .shape = {3}};
  file_replace out;
  share_place place;
  rung_error error = {0};
  assert_int_equal(share_create(&out, "/dev/null", &about, &place, &error), RUNG_BAD_ARGUMENT);
  assert_non_null(strstr(error.sentence, "ranks can write together"));
  assert_null(out.stream);
}

/* A share that cannot be written says so, and nothing is there of the output. */
static void a_lost_place_is_said(void **state) {
  (void)state;
  const int64_t three = 3;
  double data[3] = {0};
  const array_about about = {.dtype = RUNG_F64, .ndim = 1, .shape = {three}};
  file_replace out;
  share_place place;
  rung_error error = {0};
  unlink(other);
  assert_int_equal(share_create(&out, other, &about, &place, NULL), RUNG_OK);
  file_replace_abandon(&out);
  assert_int_equal(share_write(&place, other, 0, 3, 8, data, &error), RUNG_FILE_FAILED);
  assert_non_null(strstr(error.sentence, "b.npy' cannot be written: No such file"));
  assert_int_not_equal(access(other, F_OK), 0);
}

static void changes_are_seen(void **state) {
  (void)state;
  const int64_t five = 5, six = 6;
  file_array array;
  share_file before, after;
  put(1, &five);
  assert_int_equal(share_read(path, SHARE_ELEMENTS, 0, 1, &array, &before, NULL), RUNG_OK);
  array_free(&array);
  memcpy(&after, &before, sizeof after);
  assert_int_equal(share_look(path, &after, NULL), RUNG_OK);
  assert_memory_equal(&before, &after, sizeof after);
  put(1, &six);
  assert_int_equal(share_look(path, &after, NULL), RUNG_OK);
  assert_int_not_equal(before.bytes, after.bytes);
  unlink(path);
  assert_int_equal(share_look(path, &after, NULL), RUNG_FILE_FAILED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_are_the_whole),
      cmocka_unit_test(rows_stay_whole),
      cmocka_unit_test(written_shares_are_the_whole),
      cmocka_unit_test(other_bytes_are_turned),
      cmocka_unit_test(what_has_no_shares_is_refused),
      cmocka_unit_test(a_lost_place_is_said),
      cmocka_unit_test(changes_are_seen),
  };
  return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
