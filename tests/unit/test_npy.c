/* .npy files: what numpy writes is read, what nobody should write is refused, and a damaged header
 * never does more than fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/array.h"
#include "files/npy.h"

static char folder[64], path[96];

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/rung-npy-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/a.npy", folder);
  return 0;
}

static int drop_folder(void **state) {
  (void)state;
  unlink(path);
  return rmdir(folder);
}

/* A new file each time: what is written over an old one, file systems put on the disk at once. */
static void put(const void *bytes, size_t count) {
  unlink(path);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  assert_int_equal(fclose(file), 0);
}

/* A whole file: magic, version, length, dictionary, data. Returns its bytes. */
static size_t build(unsigned char *to, int version, const char *dictionary, const void *data,
                    size_t bytes) {
  size_t length = strlen(dictionary), used = 8;
  memcpy(to, "\x93NUMPY", 6);
  to[6] = (unsigned char)version;
  to[7] = 0;
  for (int i = 0; i < (version == 1 ? 2 : 4); i++) to[used++] = (unsigned char)(length >> 8 * i);
  memcpy(to + used, dictionary, length);
  if (bytes > 0) memcpy(to + used + length, data, bytes);
  return used + length + bytes;
}

static void put_array(int version, const char *dictionary, const void *data, size_t bytes) {
  unsigned char file[4096];
  put(file, build(file, version, dictionary, data, bytes));
}

static void refused(rung_status wanted, const char *word) {
  file_array array;
  rung_error error = {0};
  memset(&array, 0x55, sizeof array);
  assert_int_equal(npy_read(path, &array, &error), wanted);
  assert_null(array.memory);
  assert_null(array.tensor.data);
  if (!strstr(error.sentence, word)) fail_msg("'%s' does not say '%s'", error.sentence, word);
  assert_non_null(strstr(error.sentence, path));
}

static void refused_header(const char *dictionary, const char *word) {
  for (int version = 1; version <= 3; version++) {
    put_array(version, dictionary, "0123456789abcdef", 16);
    refused(RUNG_BAD_FILE, word);
  }
}

/* Its tensor points into *array: it is filled where it is to stay. */
static void take(file_array *array) {
  rung_error error = {0};
  rung_status status = npy_read(path, array, &error);
  if (status) fail_msg("refused: %s", error.sentence);
}

#define DICT(descr, order, shape) \
  "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }      \n"

/* ---- what is read ------------------------------------------------------------------------- */

static void versions_and_types(void **state) {
  (void)state;
  static const struct {
    const char *descr;
    rung_dtype dtype;
  } types[] = {{"|u1", RUNG_U8},  {"<u2", RUNG_U16}, {"<i4", RUNG_I32}, {"<u4", RUNG_U32},
               {"<i8", RUNG_I64}, {"<u8", RUNG_U64}, {"<f4", RUNG_F32}, {"<f8", RUNG_F64},
               {"<u1", RUNG_U8},  {">u2", RUNG_U16}, {">i4", RUNG_I32}, {">u4", RUNG_U32},
               {"|i1", RUNG_I8},  {"<i2", RUNG_I16}, {"<f2", RUNG_F16}, {">f2", RUNG_F16},
               {">i8", RUNG_I64}, {">u8", RUNG_U64}, {">f4", RUNG_F32}, {">f8", RUNG_F64}};
  unsigned char data[48];
  for (int i = 0; i < 48; i++) data[i] = (unsigned char)(i * 5 + 1);
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    size_t size = rung_dtype_bytes(types[t].dtype);
    char dictionary[128];
    snprintf(dictionary, sizeof dictionary, DICT("%s", "False", "(2, 3)"), types[t].descr);
    for (int version = 1; version <= 3; version++) {
      put_array(version, dictionary, data, 6 * size);
      file_array array;
      take(&array);
      assert_int_equal(array.dtype, types[t].dtype);
      assert_int_equal(array.tensor.dtype.bits, 8 * size);
      assert_int_equal(array.tensor.ndim, 2);
      assert_int_equal(array.tensor.shape[0], 2);
      assert_int_equal(array.tensor.strides[0], 3);
      bool big = types[t].descr[0] == '>';
      for (size_t i = 0; i < 6 * size; i++) {
        size_t from = big ? i / size * size + (size - 1 - i % size) : i;
        assert_int_equal(((unsigned char *)array.tensor.data)[i], data[from]);
      }
      array_free(&array);
      assert_null(array.memory);
    }
  }
}

static void known_values(void **state) {
  (void)state;
  /* 1.5, -2 and 1e10 as big-endian doubles */
  static const unsigned char big[] = {0x3f, 0xf8, 0, 0, 0,    0, 0,    0,    0xc0, 0, 0, 0,
                                      0,    0,    0, 0, 0x42, 2, 0xa0, 0x5f, 0x20, 0, 0, 0};
  put_array(1, DICT(">f8", "False", "(3,)"), big, sizeof big);
  file_array array;
  take(&array);
  const double *value = array.tensor.data;
  assert_true(value[0] == 1.5 && value[1] == -2 && value[2] == 1e10);
  array_free(&array);
}

static void fortran_order(void **state) {
  (void)state;
  static const unsigned char data[24] = {0};
  put_array(1, DICT("|u1", "True", "(2, 3, 4)"), data, 24);
  file_array array;
  take(&array);
  assert_int_equal(array.tensor.strides[0], 1);
  assert_int_equal(array.tensor.strides[1], 2);
  assert_int_equal(array.tensor.strides[2], 6);
  array_free(&array);
}

static void empty_and_scalar(void **state) {
  (void)state;
  put_array(1, DICT("<f4", "False", "()"), "\0\0\x80\x3f", 4);
  file_array array;
  take(&array);
  assert_int_equal(array.tensor.ndim, 0);
  assert_true(*(float *)array.tensor.data == 1.0f);
  array_free(&array);
  put_array(1, DICT("<f4", "False", "(0,)"), "", 0);
  take(&array);
  assert_int_equal(array.tensor.shape[0], 0);
  array_free(&array);
  put_array(2, DICT("<f4", "True", "(5, 0, 3)"), "", 0);
  take(&array);
  assert_int_equal(array.tensor.ndim, 3);
  array_free(&array);
  put_array(1, DICT("|u1", "False", "(1, 1, 1, 1, 1, 1, 1, 2)"), "ab", 2);
  take(&array);
  assert_int_equal(array.tensor.ndim, 8);
  array_free(&array);
}

/* The same dictionary as other writers, and people, put it. */
static void other_spellings(void **state) {
  (void)state;
  static const char *const same[] = {
      "{'descr':'<u2','fortran_order':False,'shape':(2,4)}",
      "  {\t'shape' : ( 2 , 4 , ) ,\n 'fortran_order' : False , 'descr' : '<u2' , }\n",
      "{\"descr\": \"<u2\", \"fortran_order\": False, \"shape\": (2L, 4L), }\n",
      "{'descr': '=u2', 'fortran_order': False, 'shape': (2, 4), }\n"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    put_array(1, same[i], "0123456789abcdef", 16);
    file_array array;
    take(&array);
    assert_int_equal(array.dtype, RUNG_U16);
    assert_int_equal(array.tensor.ndim, 2);
    assert_int_equal(array.tensor.shape[1], 4);
    array_free(&array);
  }
}

/* ---- what is refused ---------------------------------------------------------------------- */

static void other_types(void **state) {
  (void)state;
  refused_header(DICT("|O", "False", "(2,)"), "pickled");
  refused_header(DICT("|b1", "False", "(16,)"), "booleans");
  refused_header(DICT("<c8", "False", "(2,)"), "complex");
  refused_header(DICT("<V2", "False", "(8,)"), "'<V2' (raw bytes, bf16 among them)");
  refused_header(DICT("<U4", "False", "(1,)"), "strings");
  refused_header(DICT("<M8[ns]", "False", "(2,)"), "dates");
  refused_header(DICT("|V8", "False", "(2,)"), "raw");
  refused_header(DICT("<f16", "False", "(1,)"), "f16");
  refused_header(DICT("|i4", "False", "(4,)"), "|i4");
  refused_header(DICT("i4", "False", "(4,)"), "'i4'");
  refused_header(DICT("", "False", "(4,)"), "''");
  refused_header("{'descr': [('x', '<f4'), ('y', '<f4')], 'fortran_order': False, 'shape': (2,), }",
                 "structured");
}

static void broken_dictionaries(void **state) {
  (void)state;
  static const struct {
    const char *text, *word;
  } bad[] = {
      {"", "'{'"},
      {"{}", "no 'descr'"},
      {"{'descr': '<f4', 'shape': (4,)}", "no 'fortran_order'"},
      {"{'descr': '<f4', 'fortran_order': False}", "no 'shape'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'descr': '<f4'}", "second"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'x': 1}", "unknown"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,)} x", "nothing more"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,)", "'}'"},
      {"{'descr': '<f4' 'fortran_order': False, 'shape': (4,)}", "','"},
      {"{'descr': '<f4', 'fortran_order': false, 'shape': (4,)}", "True or False"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (4,)}", "True or False"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4)}", "tuple"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': [4]}", "tuple"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", "number"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,,)}", "number"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4.0,)}", "','"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (04,)}", "leading"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-4,)}", "negative"},
      {"{'descr': '<f\\x34', 'fortran_order': False, 'shape': (4,)}", "ASCII"},
      {"{'descr': '<f4, 'fortran_order': False, 'shape': (4,)}", "'<f4, '"},
      {"{'d\xc3\xa9scr': '<f4', 'fortran_order': False, 'shape': (4,)}", "ASCII"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "64 bits"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "64 bits"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 0, "
       "9223372036854775807)}",
       "64 bits"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 4)}",
       "dimensions"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
       "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4)}",
       "dimensions"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused_header(bad[i].text, bad[i].word);
}

static void wrong_sizes(void **state) {
  (void)state;
  unsigned char file[256];
  size_t whole = build(file, 1, DICT("<f4", "False", "(4,)"), "0123456789abcdef", 16);
  for (size_t bytes = 0; bytes < whole; bytes++) {
    put(file, bytes);
    refused(RUNG_BAD_FILE, "truncated");
  }
  file[whole] = 'x';
  put(file, whole + 1);
  refused(RUNG_BAD_FILE, "more data");
  file[0] = 'P';
  put(file, whole);
  refused(RUNG_BAD_FILE, "no .npy file");
  file[0] = 0x93;
  file[6] = 4;
  put(file, whole);
  refused(RUNG_BAD_FILE, "version 4.0");
  /* headers that claim 4 GiB, and more than the file holds */
  put("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14);
  refused(RUNG_BAD_FILE, "4294967295");
  put("\x93NUMPY\x03\x00\x00\x00\x01\x00{}", 14);
  refused(RUNG_BAD_FILE, "truncated");
  /* a shape of 4 TiB over 16 bytes must be refused by its size, not by trying */
  put_array(1, DICT("<f4", "False", "(1099511627776,)"), "0123456789abcdef", 16);
  refused(RUNG_BAD_FILE, "truncated");
}

static void no_file(void **state) {
  (void)state;
  unlink(path);
  refused(RUNG_FILE_FAILED, "No such file");
  assert_int_equal(mkdir(path, 0700), 0);
  refused(RUNG_FILE_FAILED, "directory");
  assert_int_equal(rmdir(path), 0);
}

/* Reads what is in `path` as standard input through a pipe, where no size is known. */
static rung_status read_piped(file_array *array, rung_error *error) {
  char command[160];
  snprintf(command, sizeof command, "cat %s", path);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  int saved = dup(0);
  dup2(fileno(pipe), 0);
  clearerr(stdin);
  rung_status status = npy_read("-", array, error);
  dup2(saved, 0);
  close(saved);
  pclose(pipe);
  __fpurge(stdin);
  return status;
}

static void from_a_pipe(void **state) {
  (void)state;
  enum { COUNT = 5000000 };
  unsigned char header[128];
  size_t length = build(header, 1, DICT("|u1", "False", "(5000000,)"), "", 0);
  unsigned char *file = malloc(length + COUNT + 1);
  assert_non_null(file);
  memcpy(file, header, length);
  for (int i = 0; i <= COUNT; i++) file[length + i] = (unsigned char)(i * 7 + i / 251);
  file_array array;
  rung_error error = {0};
  put(file, length + COUNT);
  assert_int_equal(read_piped(&array, &error), RUNG_OK);
  assert_memory_equal(array.tensor.data, file + length, COUNT);
  array_free(&array);
  put(file, length + COUNT - 1);
  assert_int_equal(read_piped(&array, &error), RUNG_BAD_FILE);
  assert_non_null(strstr(error.sentence, "truncated"));
  put(file, length + COUNT + 1);
  assert_int_equal(read_piped(&array, &error), RUNG_BAD_FILE);
  assert_non_null(strstr(error.sentence, "more data"));
  free(file);
  /* a claim of 8 EiB with nothing behind it must cost nothing */
  put_array(1, DICT("|u1", "False", "(9223372036854775807,)"), "ab", 2);
  assert_int_equal(read_piped(&array, &error), RUNG_BAD_FILE);
  assert_non_null(strstr(error.sentence, "truncated"));
}

/* Mutations of good headers: bytes changed, removed, doubled, cut. Anything may come of it but a
 * crash, a leak or an array that is not all there. */
static void mutations(void **state) {
  (void)state;
  static const char *const seeds[] = {DICT("<f4", "False", "(4,)"), DICT(">f8", "True", "(2, 1)"),
                                      DICT("|u1", "False", "(2, 2, 4)"),
                                      DICT("<i8", "False", "()")};
  static const char spice[] = "'\"(){}[],:-0123456789LTF \n\\<>|=uif\xff\0";
  uint64_t random = 20240229;
  int good = 0;
  for (int round = 0; round < 20000; round++) {
    unsigned char file[512];
    const char *seed = seeds[round & 3];
    size_t bytes = build(file, 1 + round / 4 % 3, seed, "0123456789abcdef", 16);
    int changes = 1 + round % 3;
    for (int change = 0; change < changes; change++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      size_t at = (size_t)(random >> 33) % bytes;
      unsigned char byte = (unsigned char)(random >> 20);
      switch (random >> 60 & 3) {
        case 0:
          file[at] = byte;
          break;
        case 1:
          file[at] = (unsigned char)spice[byte % (sizeof spice - 1)];
          break;
        case 2:
          memmove(file + at, file + at + 1, --bytes - at);
          break;
        default:
          memmove(file + at + 1, file + at, bytes++ - at);
      }
    }
    put(file, bytes);
    file_array array;
    rung_error error = {0};
    rung_status status = npy_read(path, &array, &error);
    if (status == RUNG_OK) {
      int64_t count = 1;
      for (int i = 0; i < array.tensor.ndim; i++) count *= array.shape[i];
      unsigned char sum = 0;
      for (size_t i = 0; i < (size_t)count * rung_dtype_bytes(array.dtype); i++)
        sum ^= ((unsigned char *)array.memory)[i];
      good += sum < 255 ? 1 : 2;
      array_free(&array);
    } else {
      assert_int_equal(status, RUNG_BAD_FILE);
      assert_true(error.sentence[0] != '\0');
      assert_null(array.memory);
    }
  }
  assert_true(good > 100 && good < 19000);
}

/* ---- writing ------------------------------------------------------------------------------ */

static DLTensor tensor_of(void *data, int ndim, int64_t *shape, int64_t *strides, uint8_t code,
                          uint8_t bits) {
  return (DLTensor){.data = data,
                    .device = {kDLCPU, 0},
                    .ndim = ndim,
                    .dtype = {code, bits, 1},
                    .shape = shape,
                    .strides = strides};
}

/* To the byte what numpy.save writes. */
static void as_numpy_writes(void **state) {
  (void)state;
  float data[2] = {1.0f, -2.0f};
  int64_t shape[1] = {2};
  DLTensor tensor = tensor_of(data, 1, shape, NULL, kDLFloat, 32);
  rung_error error = {0};
  assert_int_equal(array_write(path, &tensor, &error), RUNG_OK);
  char wanted[136];
  memset(wanted, ' ', sizeof wanted);
  static const char text[] =
      "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  memcpy(wanted, text, sizeof text - 1);
  wanted[127] = '\n';
  memcpy(wanted + 128, "\0\0\x80\x3f\0\0\0\xc0", 8);
  char found[160];
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fread(found, 1, sizeof found, file), 136);
  fclose(file);
  assert_memory_equal(found, wanted, 136);
}

static void strides_and_back(void **state) {
  (void)state;
  enum { ROWS = 5, COLUMNS = 20011 };
  static double data[COLUMNS * ROWS];
  for (int i = 0; i < ROWS * COLUMNS; i++) data[i] = i * 0.25;
  int64_t shape[2] = {ROWS, COLUMNS};
  /* transposed, and mirrored, and every element the same */
  int64_t strides[3][2] = {{1, ROWS}, {-COLUMNS, -1}, {0, 0}};
  int64_t offsets[3] = {0, ROWS * COLUMNS - 1, 7};
  for (int k = 0; k < 3; k++) {
    DLTensor tensor = tensor_of(data, 2, shape, strides[k], kDLFloat, 64);
    tensor.byte_offset = (uint64_t)offsets[k] * sizeof(double);
    rung_error error = {0};
    assert_int_equal(array_write(path, &tensor, &error), RUNG_OK);
    file_array array;
    take(&array);
    const double *back = array.tensor.data;
    for (int64_t i = 0; i < ROWS; i++)
      for (int64_t j = 0; j < COLUMNS; j++)
        if (back[i * COLUMNS + j] != data[offsets[k] + i * strides[k][0] + j * strides[k][1]])
          fail_msg("strides %d differ at %d, %d", k, (int)i, (int)j);
    array_free(&array);
  }
}

static void odd_shapes_and_back(void **state) {
  (void)state;
  uint16_t data[24];
  for (int i = 0; i < 24; i++) data[i] = (uint16_t)(i * 1111);
  int64_t shape[4] = {2, 3, 4, 0};
  rung_error error = {0};
  for (int ndim = 0; ndim <= 4; ndim++) {
    DLTensor tensor = tensor_of(data, ndim, shape, NULL, kDLUInt, 16);
    assert_int_equal(array_write(path, &tensor, &error), RUNG_OK);
    file_array array;
    take(&array);
    assert_int_equal(array.tensor.ndim, ndim);
    static const size_t counts[] = {1, 2, 6, 24, 0};
    assert_memory_equal(array.memory, data, counts[ndim] * sizeof *data);
    array_free(&array);
  }
}

static void write_failures(void **state) {
  (void)state;
  static float data[100000];
  int64_t shape[1] = {100000};
  DLTensor tensor = tensor_of(data, 1, shape, NULL, kDLFloat, 32);
  rung_error error = {0};
  assert_int_equal(array_write("/dev/full", &tensor, &error), RUNG_FILE_FAILED);
  assert_non_null(strstr(error.sentence, "No space left"));
  assert_int_equal(array_write("/nowhere/at/all.npy", &tensor, &error), RUNG_FILE_FAILED);
  assert_non_null(strstr(error.sentence, "/nowhere/at/all.npy"));
  tensor.device.device_type = kDLCUDA;
  assert_int_equal(array_write(path, &tensor, &error), RUNG_BAD_PLACE);
  tensor.device.device_type = kDLCPU;
  tensor.dtype = (DLDataType){kDLBfloat, 16, 1};
  assert_int_equal(array_write(path, &tensor, &error), RUNG_BAD_DTYPE);
  assert_non_null(strstr(error.sentence, "u64, f16, f32 or f64"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(versions_and_types),
                                     cmocka_unit_test(known_values),
                                     cmocka_unit_test(fortran_order),
                                     cmocka_unit_test(empty_and_scalar),
                                     cmocka_unit_test(other_spellings),
                                     cmocka_unit_test(other_types),
                                     cmocka_unit_test(broken_dictionaries),
                                     cmocka_unit_test(wrong_sizes),
                                     cmocka_unit_test(no_file),
                                     cmocka_unit_test(from_a_pipe),
                                     cmocka_unit_test(mutations),
                                     cmocka_unit_test(as_numpy_writes),
                                     cmocka_unit_test(strides_and_back),
                                     cmocka_unit_test(odd_shapes_and_back),
                                     cmocka_unit_test(write_failures)};
  return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
