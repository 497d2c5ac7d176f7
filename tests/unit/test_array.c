/* Files of arrays: which format one has, and images of every format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/array.h"
#include "rung/rung.h"

static char path[64]; /* of a file in memory that the tests write */

static void names_say_the_format(void **state) {
  (void)state;
  static const char *const npy[] = {"-",       "a.npy",     "a.NPY", "plain", "/dev/full",
                                    "dir.d/a", "a.csv.npy", ".a",    "x/.a"};
  const array_format *format = NULL;
  for (size_t i = 0; i < sizeof npy / sizeof *npy; i++) {
    assert_int_equal(array_format_of("-o", npy[i], &format, NULL), RUNG_OK);
    assert_string_equal(array_format_name(format), "npy");
  }
  static const char *const other[] = {"a.csv", "a.npy.txt", "x.d/a.n", "a.npyx"};
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    rung_error error = {0};
    assert_int_equal(array_format_of("-o", other[i], &format, &error), RUNG_BAD_ARGUMENT);
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
  char folder[] = "/tmp/rung-array-XXXXXX", other[64];
  assert_non_null(mkdtemp(folder));
  snprintf(other, sizeof other, "%s/a.csv", folder);
  assert_int_equal(array_possible("-o", other, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(array_write(other, &tensor, NULL), RUNG_BAD_ARGUMENT);
  assert_int_not_equal(access(other, F_OK), 0);
  snprintf(other, sizeof other, "%s/a.npy", folder);
  assert_int_equal(array_possible("-o", other, NULL), RUNG_OK);
  assert_int_equal(array_write(other, &tensor, NULL), RUNG_OK);
  file_array back;
  assert_int_equal(array_read(other, &back, NULL), RUNG_OK);
  assert_int_equal(back.dtype, RUNG_I32);
  assert_memory_equal(back.memory, numbers, sizeof numbers);
  array_free(&back);
  assert_null(back.memory);
  unlink(other);
  assert_int_equal(rmdir(folder), 0); /* nothing else is left */
}

/* ---- images --------------------------------------------------------------------------------
 */

enum { HEIGHT = 5, WIDTH = 7, MOST = 1 << 16 };

/* The picture of tests/data/images. */
static int picture(const char *kind, int y, int x, int c) {
  const int colours[] = {x * 30, y * 50, x * y * 7 & 255, 100 + x + 7 * y};
  static const int few[4][3] = {{0, 0, 0}, {30, 0, 0}, {0, 50, 0}, {90, 80, 70}};
  if (strcmp(kind, "bits") == 0) return (x + y) % 3 == 0 ? 255 : 0;
  if (strcmp(kind, "grey") == 0) return x * 11 + y * 37;
  if (strcmp(kind, "few") == 0) return few[(x + y) % 4][c];
  return colours[c];
}

static const struct {
  const char *file, *kind;
  int channels, off; /* what may be lost to compression */
} images[] = {{"palette.png", "colours", 3, 0},
              {"palette-alpha.png", "colours", 4, 0},
              {"palette-2-bits.png", "few", 3, 0},
              {"interlaced.png", "colours", 3, 0},
              {"bits.png", "bits", 1, 0},
              {"notes.png", "colours", 3, 0},
              {"bits.pbm", "bits", 1, 0},
              {"baseline.jpg", "colours", 3, 12},
              {"progressive.jpg", "colours", 3, 12},
              {"grey.jpg", "grey", 1, 12},
              {"palette.tiff", "colours", 3, 0},
              {"bits.tiff", "bits", 1, 0},
              {"lzw.tiff", "colours", 3, 0},
              {"tiles.tiff", "colours", 3, 0},
              {"big-endian.tiff", "colours", 3, 0}};
enum { FILES = sizeof images / sizeof *images };

/* False: this build, or this machine, lacks the library. */
static bool read_image(const char *from, file_array *array) {
  rung_error error = {0};
  const rung_status status = array_read(from, array, &error);
  if (status != RUNG_OK && status != RUNG_UNSUPPORTED) fail_msg("%s", error.sentence);
  if (status == RUNG_UNSUPPORTED) print_message("%s\n", error.sentence);
  return status == RUNG_OK;
}

static void images_of_other_programs(void **state) {
  (void)state;
  for (int i = 0; i < FILES; i++) {
    char from[256];
    file_array array;
    snprintf(from, sizeof from, IMAGES "/%s", images[i].file);
    if (!read_image(from, &array)) continue;
    const int channels = images[i].channels;
    const uint8_t *at = array.memory;
    assert_int_equal(array.dtype, RUNG_U8);
    assert_int_equal(array.tensor.ndim, channels > 1 ? 3 : 2);
    assert_true(array.shape[0] == HEIGHT && array.shape[1] == WIDTH);
    if (channels > 1) assert_int_equal(array.shape[2], channels);
    for (int e = 0; e < HEIGHT * WIDTH * channels; e++) {
      const int wanted =
          picture(images[i].kind, e / channels / WIDTH, e / channels % WIDTH, e % channels);
      if (abs(at[e] - wanted) > images[i].off)
        fail_msg("%s: element %d is %d, not %d", images[i].file, e, at[e], wanted);
    }
    array_free(&array);
  }
}

static void put_file(const void *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  fclose(file);
}

/* Text, and what says other things than 8 bits. */
static void small_texts(void **state) {
  (void)state;
  static const struct {
    const char *text;
    rung_dtype dtype;
    int values[3];
  } files[] = {{"P2 # grey\n3 1 # one row\n255\n0 17 255", RUNG_U8, {0, 17, 255}},
               {"P3\n1\n1\n15\n0 3 15\n", RUNG_U8, {0, 51, 255}},
               {"P1\n3 1\n101", RUNG_U8, {0, 255, 0}},
               {"P2\n3 1\n1023\n0 1023 512", RUNG_U16, {0, 65535, 32800}},
               {"P5\n3 1\n65535\n\1\2\3\4\xff\xfe", RUNG_U16, {258, 772, 65534}},
               {"P5\n3 1\n100\n\x01\x32\x64", RUNG_U8, {3, 128, 255}},
               {"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\nabc",
                RUNG_U8,
                {'a', 'b', 'c'}}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    file_array array;
    put_file(files[i].text, strlen(files[i].text));
    assert_true(read_image(path, &array));
    assert_int_equal(array.dtype, files[i].dtype);
    for (int v = 0; v < 3; v++)
      assert_int_equal(rung_number_at(array.dtype, array.memory, v), files[i].values[v]);
    array_free(&array);
  }
}

/* The last row comes first; of both byte orders. */
static void float_maps(void **state) {
  (void)state;
  static const char big[] = "Pf\n1 2\n1.0\n\x40\0\0\0\xff\x80\0",
                    little[] = "Pf\n1 2\n-1.0\n\0\0\0\x40\0\0\x80\xff";
  for (int i = 0; i < 2; i++) {
    file_array array;
    put_file(i == 0 ? big : little, i == 0 ? sizeof big : sizeof little - 1);
    assert_true(read_image(path, &array));
    const float *value = array.memory;
    assert_true(value[0] == -INFINITY && value[1] == 2);
    array_free(&array);
  }
}

/* ---- what is written is what is read -------------------------------------------------------- */

static uint64_t next_random(void) {
  static uint64_t random = 14;
  random = random * 6364136223846793005u + 1442695040888963407u;
  return random >> 33;
}

/* Written in two pieces and read in two others: the bits are the same, of NaN too. False: this
 * format does not hold it. */
static bool comes_back(const char *name, rung_dtype dtype, int ndim, const int64_t *shape) {
  rung_error error = {0};
  array_about about;
  array_writer *writer;
  array_reader *reader;
  assert_int_equal(array_describe(&about, dtype, ndim, shape, &error), RUNG_OK);
  const size_t bytes = (size_t)(about.rows * about.row_bytes);
  static unsigned char data[MOST], back[MOST];
  assert_true(bytes <= MOST);
  for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)next_random();
  memset(back, 0, sizeof back);
  const rung_status status = array_create(&writer, name, &about, NULL, &error);
  if (status != RUNG_OK) {
    assert_non_null(strstr(error.sentence, name));
    assert_true(status == RUNG_BAD_DTYPE || status == RUNG_BAD_SHAPE || status == RUNG_UNSUPPORTED);
    assert_int_not_equal(access(name, F_OK), 0);
    return false;
  }
  const int64_t half = about.rows / 2;
  if (half > 0) assert_int_equal(array_put(writer, half, data, &error), RUNG_OK);
  assert_int_equal(array_put(writer, about.rows - half, data + half * about.row_bytes, &error),
                   RUNG_OK);
  assert_int_equal(array_finish(writer, &error), RUNG_OK);
  if (array_open(&reader, name, &error) != RUNG_OK) fail_msg("%s", error.sentence);
  assert_int_equal(array_of(reader)->dtype, dtype);
  assert_int_equal(array_of(reader)->ndim, ndim);
  assert_memory_equal(array_of(reader)->shape, shape, (size_t)ndim * sizeof *shape);
  assert_int_equal(array_rows(reader, 1, back, &error), RUNG_OK);
  if (about.rows > 1)
    assert_int_equal(array_rows(reader, about.rows - 1, back + about.row_bytes, &error), RUNG_OK);
  if (memcmp(data, back, bytes) != 0)
    fail_msg("%s: %s of %d dimensions comes back as something else", name, rung_dtype_name(dtype),
             ndim);
  array_close(reader);
  unlink(name);
  return true;
}

static void round_trips(void **state) {
  (void)state;
  static const struct {
    const char *extension;
    int forms; /* types times channels that it holds, of each size */
  } formats[] = {{"npy", 11 * 5}, {"png", 2 * 4}, {"pgm", 2 * 4},
                 {"pam", 2 * 4},  {"pfm", 2},     {"tiff", 11 * 4}};
  static const int64_t sizes[][2] = {{1, 1}, {5, 7}, {1, 300}, {131, 3}};
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
    char name[64];
    int held = 0;
    snprintf(name, sizeof name, "/tmp/rung-array-%d.%s", (int)getpid(), formats[f].extension);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
      for (int d = 0; d < RUNG_DTYPES; d++)
        for (int channels = 1; channels <= 5; channels++) {
          const int64_t shape[] = {sizes[s][0], sizes[s][1], channels};
          held += comes_back(name, (rung_dtype)d, channels > 1 ? 3 : 2, shape);
        }
    if (held > 0) assert_int_equal(held, 4 * formats[f].forms);
    if (held == 0) print_message("%s is not written by this build\n", formats[f].extension);
  }
}

static void what_is_no_image(void **state) {
  (void)state;
  static const int64_t shapes[][4] = {{0, 3}, {3, 0}, {2, 2, 0}, {4}, {2, 2, 3, 1}};
  static const int dimensions[] = {2, 2, 3, 1, 4};
  char name[64];
  snprintf(name, sizeof name, "/tmp/rung-array-%d.ppm", (int)getpid());
  for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
    assert_false(comes_back(name, RUNG_U8, dimensions[i], shapes[i]));
}

/* ---- notes ---------------------------------------------------------------------------------- */

static void copy_image(const char *from, const char *to, file_notes *notes) {
  rung_error error = {0};
  array_reader *reader;
  array_writer *writer;
  static unsigned char data[MOST];
  assert_int_equal(array_open(&reader, from, &error), RUNG_OK);
  const array_about about = *array_of(reader);
  assert_int_equal(array_rows(reader, about.rows, data, &error), RUNG_OK);
  assert_int_equal(array_create(&writer, to, &about, array_notes(reader), &error), RUNG_OK);
  assert_int_equal(array_put(writer, about.rows, data, &error), RUNG_OK);
  assert_int_equal(array_finish(writer, &error), RUNG_OK);
  array_close(reader);
  assert_int_equal(array_open(&reader, to, &error), RUNG_OK);
  assert_int_equal(array_rows(reader, about.rows, data, &error), RUNG_OK);
  *notes = *array_notes(reader); /* to be looked at while the reader is there */
  for (int i = 0; i < notes->count; i++)
    if (strcmp(notes->texts[i].key, "Titre") == 0)
      assert_string_equal(notes->texts[i].text, "sept fois cinq \xc3\xa9");
  array_close(reader);
  unlink(to);
}

static void texts_and_profiles_stay(void **state) {
  (void)state;
  char png[64], tiff[64];
  file_notes notes;
  file_array array;
  snprintf(png, sizeof png, "/tmp/rung-array-%d.png", (int)getpid());
  snprintf(tiff, sizeof tiff, "/tmp/rung-array-%d.tiff", (int)getpid());
  if (!read_image(IMAGES "/notes.png", &array)) return;
  array_free(&array);
  copy_image(IMAGES "/notes.png", png, &notes);
  assert_int_equal(notes.count, 3);
  assert_true(notes.profile_bytes > 400);
  const uint32_t bytes = notes.profile_bytes;
  if (!read_image(IMAGES "/baseline.jpg", &array)) return;
  array_free(&array);
  copy_image(IMAGES "/baseline.jpg", png, &notes);
  assert_int_equal(notes.profile_bytes, bytes);
  if (!read_image(IMAGES "/lzw.tiff", &array)) return;
  array_free(&array);
  copy_image(IMAGES "/notes.png", tiff, &notes);
  assert_int_equal(notes.profile_bytes, bytes);
}

/* ---- hostile files -------------------------------------------------------------------------- */

/* Anything may come of it but a crash, a leak, an array that is not all there. */
static rung_status tried(void) {
  file_array array;
  rung_error error = {0};
  const rung_status status = array_read(path, &array, &error);
  if (status == RUNG_OK) {
    array_free(&array);
    return status;
  }
  assert_null(array.memory);
  assert_true(error.sentence[0] != '\0');
  if (status != RUNG_BAD_FILE && status != RUNG_UNSUPPORTED && status != RUNG_OUT_OF_MEMORY)
    fail_msg("status %d: %s", status, error.sentence);
  return status;
}

static size_t load(const char *name, unsigned char *to) {
  char from[256];
  snprintf(from, sizeof from, IMAGES "/%s", name);
  FILE *file = fopen(from, "rb");
  assert_non_null(file);
  const size_t bytes = fread(to, 1, MOST, file);
  fclose(file);
  return bytes;
}

static void cut_everywhere(void **state) {
  (void)state;
  static unsigned char bytes[MOST];
  for (int i = 0; i < FILES; i++) {
    const size_t whole = load(images[i].file, bytes);
    const bool tiff = strstr(images[i].file, "tiff") != NULL;
    for (size_t count = 0; count < whole; count++) {
      put_file(bytes, count);
      /* Of a .tiff the last bytes may be a name of its tags, or nothing of the picture. */
      if (tried() == RUNG_OK && !tiff) fail_msg("%s of %zu bytes is read", images[i].file, count);
    }
  }
}

static void changed_everywhere(void **state) {
  (void)state;
  static unsigned char bytes[MOST];
  int good = 0;
  for (int i = 0; i < FILES; i++) {
    for (int round = 0; round < 150; round++) {
      const size_t whole = load(images[i].file, bytes);
      for (int change = 0; change <= round % 3; change++)
        bytes[next_random() % whole] = (unsigned char)next_random();
      put_file(bytes, whole);
      good += tried() == RUNG_OK;
    }
  }
  assert_in_range(good, 1, FILES * 150 - 1);
}

/* Claims of gigabytes in files of a few bytes cost nothing. */
static void large_claims(void **state) {
  (void)state;
  static const char *const texts[] = {
      "P5\n2147483647 2147483647\n255\nabc",
      "P6 2147483647 1 65535 abc",
      "P5 65536 65536 255 abc",
      "P4 2147483647 2147483647 abc",
      "P1 2147483647 2147483647 101",
      "P5 99999999999 1 255 abc",
      "P5 0 1 255 abc",
      "P5 -1 1 255 abc",
      "P5 2 2 65536 abcdabcd",
      "P5 2 2 0 abcd",
      "P5 2 2 9 abcd",
      "PF 2147483647 2147483647 -1.0 abc",
      "Pf 2 2 0 aaaabbbbccccdddd",
      "Pf 2 2 nan aaaabbbbccccdddd",
      "Pf 2 2 -1.0 aaaabbbbccccddd",
      "PF 0 2 -1.0 aaaa",
      "P7\nWIDTH 99999\nHEIGHT 99999\nDEPTH 4\nMAXVAL 65535\nENDHDR\nabc",
      "P7\nWIDTH 1\nHEIGHT 1\nDEPTH 5\nMAXVAL 255\nENDHDR\nabcde",
      "P7\nWIDTH 1\nHEIGHT 1\nMAXVAL 255\nENDHDR\nabcde"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    put_file(texts[i], strlen(texts[i]));
    if (tried() != RUNG_BAD_FILE) fail_msg("'%s' is read", texts[i]);
  }
  static const char *const jpegs[] = {"baseline.jpg", "progressive.jpg"};
  static unsigned char bytes[MOST];
  for (size_t i = 0; i < sizeof jpegs / sizeof *jpegs; i++) {
    rung_error error = {0};
    file_array array;
    const size_t whole = load(jpegs[i], bytes);
    for (size_t at = 2; at + 9 < whole; at++)
      if (bytes[at] == 0xff && (bytes[at + 1] == 0xc0 || bytes[at + 1] == 0xc2))
        memset(bytes + at + 5, 0xfe, 4);
    put_file(bytes, whole);
    const rung_status status = array_read(path, &array, &error);
    if (status != RUNG_UNSUPPORTED) assert_non_null(strstr(error.sentence, "cannot be in"));
    /* Samples that the library would make up. */
    load(jpegs[i], bytes);
    memcpy(bytes + whole - 14, "\xff\xd9", 2);
    put_file(bytes, whole);
    assert_int_not_equal(tried(), RUNG_OK);
  } /* Rows that the library would make up. */
  rung_error error = {0};
  file_array array;
  const rung_status status = array_read(IMAGES "/fax.tiff", &array, &error);
  if (status != RUNG_UNSUPPORTED)
    assert_non_null(strstr(error.sentence, "so many rows cannot be in"));
}

static void types(void **state) {
  (void)state;
  for (int d = 0; d < RUNG_DTYPES; d++) {
    const DLDataType type = rung_dlpack_type((rung_dtype)d);
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
      cmocka_unit_test(images_of_other_programs),
      cmocka_unit_test(small_texts),
      cmocka_unit_test(float_maps),
      cmocka_unit_test(round_trips),
      cmocka_unit_test(what_is_no_image),
      cmocka_unit_test(texts_and_profiles_stay),
      cmocka_unit_test(cut_everywhere),
      cmocka_unit_test(changed_everywhere),
      cmocka_unit_test(large_claims),
  };
  const int memory = memfd_create("array", 0);
  snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  close(memory);
  return failures;
}
