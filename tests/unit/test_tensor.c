/* The door for arrays: what a DLTensor may be, and what a view says of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/tensor.h"

enum { ALL_TYPES = (1 << RUNG_DTYPES) - 1 };

static float cells[64] __attribute__((aligned(64)));

static DLTensor tensor_of(void *data, int ndim, int64_t *shape, int64_t *strides) {
  return (DLTensor){.data = data,
                    .device = {kDLCPU, 0},
                    .ndim = ndim,
                    .dtype = {kDLFloat, 32, 1},
                    .shape = shape,
                    .strides = strides};
}

/* The tensor is refused with that status and a sentence that holds `word`; the view untouched. */
static void refused(const DLTensor *tensor, int ndim, rung_status status, const char *word) {
  rung_error error = {0};
  rung_view view, before;
  memset(&view, 0x5a, sizeof view);
  before = view;
  assert_int_equal(rung_view_of(&error, "in", tensor, RUNG_SINGLE_DOUBLE, ndim, &view), status);
  assert_int_equal(error.status, status);
  if (strstr(error.sentence, word) == NULL || strncmp(error.sentence, "in ", 3) != 0)
    fail_msg("the sentence is: %s", error.sentence);
  assert_memory_equal(&view, &before, sizeof view);
  assert_int_equal(rung_view_of(NULL, "in", tensor, RUNG_SINGLE_DOUBLE, ndim, &view), status);
}

static rung_view taken(const DLTensor *tensor, int ndim) {
  rung_error error = {0};
  rung_view view;
  if (rung_view_of(&error, "in", tensor, RUNG_SINGLE_DOUBLE, ndim, &view) != RUNG_OK)
    fail_msg("refused: %s", error.sentence);
  return view;
}

static void types_have_names_and_sizes(void **state) {
  (void)state;
  static const char *const names[] = {"u8",  "i8",  "u16", "i16",  "i32", "u32",
                                      "i64", "u64", "f16", "bf16", "f32", "f64"};
  static const size_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
  for (int d = 0; d < RUNG_DTYPES; d++) {
    assert_int_equal(rung_traits_of((rung_dtype)d)->dtype, d);
    rung_dtype found = RUNG_DTYPES;
    assert_string_equal(rung_dtype_name((rung_dtype)d), names[d]);
    assert_int_equal(rung_dtype_bytes((rung_dtype)d), bytes[d]);
    assert_true(rung_dtype_named(names[d], &found));
    assert_int_equal(found, d);
  }
  rung_dtype kept = RUNG_I64;
  assert_false(rung_dtype_named("f8", &kept));
  assert_false(rung_dtype_named("", &kept));
  assert_int_equal(kept, RUNG_I64);
}

static void compact_tensors_get_strides(void **state) {
  (void)state;
  int64_t shape[] = {2, 3, 4};
  DLTensor tensor = tensor_of(cells, 3, shape, NULL);
  tensor.byte_offset = 8;
  rung_view view = taken(&tensor, 3);
  assert_ptr_equal(view.data, cells + 2);
  assert_int_equal(view.count, 24);
  assert_int_equal(view.stride[0], 12);
  assert_int_equal(view.stride[1], 4);
  assert_int_equal(view.stride[2], 1);
  assert_int_equal(view.place, RUNG_HOST);
  assert_int_equal(rung_view_bytes(&view), 96);
  DLTensor scalar = tensor_of(cells, 0, NULL, NULL);
  assert_int_equal(taken(&scalar, 0).count, 1);
}

static void every_type_is_told_from_the_others(void **state) {
  (void)state;
  static const DLDataType types[] = {{kDLUInt, 8, 1},    {kDLInt, 8, 1},    {kDLUInt, 16, 1},
                                     {kDLInt, 16, 1},    {kDLInt, 32, 1},   {kDLUInt, 32, 1},
                                     {kDLInt, 64, 1},    {kDLUInt, 64, 1},  {kDLFloat, 16, 1},
                                     {kDLBfloat, 16, 1}, {kDLFloat, 32, 1}, {kDLFloat, 64, 1}};
  int64_t shape[] = {4};
  for (int d = 0; d < RUNG_DTYPES; d++) {
    DLTensor tensor = tensor_of(cells, 1, shape, NULL);
    tensor.dtype = types[d];
    rung_view view;
    assert_int_equal(rung_view_of(NULL, "in", &tensor, ALL_TYPES, 1, &view), RUNG_OK);
    assert_int_equal(view.dtype, d);
    assert_memory_equal(&types[d], &(DLDataType[]){rung_dlpack_type((rung_dtype)d)}[0],
                        sizeof types[d]);
    unsigned others = ALL_TYPES & ~RUNG_TYPE(d);
    assert_int_equal(rung_view_of(NULL, "in", &tensor, others, 1, &view), RUNG_BAD_DTYPE);
  }
  DLTensor half = tensor_of(cells, 1, shape, NULL);
  half.dtype = (DLDataType){kDLFloat, 16, 1};
  refused(&half, 1, RUNG_BAD_DTYPE, "expected: f32 or f64");
  half.dtype = (DLDataType){kDLFloat, 32, 2};
  refused(&half, 1, RUNG_BAD_DTYPE, "2 lanes");
  half.dtype = (DLDataType){200, 32, 1};
  refused(&half, 1, RUNG_BAD_DTYPE, "code 200");
}

static void places(void **state) {
  (void)state;
  int64_t shape[] = {4};
  DLTensor tensor = tensor_of(cells, 1, shape, NULL);
  tensor.device = (DLDevice){kDLCUDAHost, 3};
  assert_int_equal(taken(&tensor, 1).place, RUNG_HOST);
  assert_int_equal(taken(&tensor, 1).device, 0);
  tensor.device = (DLDevice){kDLCUDA, 2};
  assert_int_equal(taken(&tensor, 1).place, RUNG_DEVICE);
  assert_int_equal(taken(&tensor, 1).device, 2);
  tensor.device = (DLDevice){kDLCUDAManaged, 1};
  assert_int_equal(taken(&tensor, 1).place, RUNG_DEVICE);
  assert_int_equal(taken(&tensor, 1).device, 1);
  tensor.device = (DLDevice){kDLCUDA, -1};
  refused(&tensor, 1, RUNG_BAD_PLACE, "device -1");
  tensor.device = (DLDevice){kDLROCM, 0};
  refused(&tensor, 1, RUNG_BAD_PLACE, "type 10");
}

static void bad_shapes(void **state) {
  (void)state;
  refused(NULL, 2, RUNG_BAD_ARGUMENT, "NULL");
  DLTensor no_shape = tensor_of(cells, 2, NULL, NULL);
  refused(&no_shape, 2, RUNG_BAD_SHAPE, "NULL shape");
  int64_t shape[] = {3, -1};
  DLTensor tensor = tensor_of(cells, 2, shape, NULL);
  refused(&tensor, 2, RUNG_BAD_SHAPE, "extent -1 in dimension 1");
  refused(&tensor, 1, RUNG_BAD_SHAPE, "2 dimensions; expected: 1");
  shape[1] = 4;
  tensor.data = NULL;
  refused(&tensor, 2, RUNG_BAD_ARGUMENT, "NULL data");
  tensor.byte_offset = 64; /* hides nothing */
  refused(&tensor, 2, RUNG_BAD_ARGUMENT, "NULL data");
  tensor.data = (char *)cells + 2;
  tensor.byte_offset = 0;
  refused(&tensor, 2, RUNG_BAD_ARGUMENT, "multiple of its element's 4");
  tensor.byte_offset = 2; /* both together are aligned */
  assert_ptr_equal(taken(&tensor, 2).data, cells + 1);
  tensor.byte_offset = UINT64_MAX - 1;
  refused(&tensor, 2, RUNG_TOO_LARGE, "byte_offset");
}

static void sizes_beyond_64_bits(void **state) {
  (void)state;
  int64_t shape[] = {INT64_C(1) << 32, INT64_C(1) << 31}, strides[] = {1, 1};
  DLTensor tensor = tensor_of(cells, 2, shape, NULL);
  refused(&tensor, 2, RUNG_TOO_LARGE, "64 bits"); /* the product */
  shape[1] = INT64_C(1) << 29;
  refused(&tensor, 2, RUNG_TOO_LARGE, "bytes do not fit"); /* times 4 */
  shape[1] = 3;
  shape[0] = 5;
  tensor.strides = strides;
  strides[0] = INT64_C(1) << 62;
  refused(&tensor, 2, RUNG_TOO_LARGE, "strides"); /* 4 * 2^62 */
  strides[0] = (INT64_C(1) << 59) - 1;            /* 4 * 4 * that is 2^63 - 16 */
  strides[1] = 2;                                 /* 2 * 4 * that is 16 */
  refused(&tensor, 2, RUNG_TOO_LARGE, "strides"); /* each alone fits */
  strides[0] = INT64_MIN;
  refused(&tensor, 2, RUNG_TOO_LARGE, "strides");
  strides[0] = -(INT64_C(1) << 58); /* fits in 64 bits, but ends below address 0 */
  strides[1] = 1;
  refused(&tensor, 2, RUNG_TOO_LARGE, "addresses");
  shape[0] = 1; /* a stride never taken */
  strides[0] = INT64_MAX;
  assert_int_equal(taken(&tensor, 2).count, 3);
}

static void empty_tensors(void **state) {
  (void)state;
  int64_t shape[] = {INT64_MAX, INT64_MAX, 0};
  DLTensor tensor = tensor_of(NULL, 3, shape, NULL);
  rung_view view = taken(&tensor, 3);
  assert_int_equal(view.count, 0);
  assert_int_equal(rung_view_writable(NULL, "out", &view), RUNG_OK);
  assert_false(rung_views_overlap(&view, &view));
  rung_view_copy(&view, &view);
}

static void extents(void **state) {
  (void)state;
  int64_t shape[] = {3, 4}, strides[] = {-8, 2};
  DLTensor tensor = tensor_of(cells + 20, 2, shape, strides);
  rung_view view = taken(&tensor, 2);
  uintptr_t low, high;
  rung_view_extent(&view, &low, &high);
  assert_int_equal(low, (uintptr_t)(cells + 4));
  assert_int_equal(high, (uintptr_t)(cells + 27));
  assert_false(rung_view_compact_rows(&view));

  int64_t row[] = {4};
  DLTensor before = tensor_of(cells, 1, row, NULL), touching = tensor_of(cells + 1, 1, row, NULL);
  DLTensor after = tensor_of(cells + 27, 1, row, NULL);
  rung_view a = taken(&before, 1), b = taken(&touching, 1), c = taken(&after, 1);
  assert_false(rung_views_overlap(&view, &a)); /* ends where the other begins */
  assert_true(rung_views_overlap(&view, &b));
  assert_true(rung_views_overlap(&b, &view));
  assert_false(rung_views_overlap(&view, &c));
  assert_true(rung_view_compact_rows(&a));
}

static void sameness(void **state) {
  (void)state;
  int64_t shape[] = {1, 4}, strides[] = {99, 1};
  DLTensor tensor = tensor_of(cells, 2, shape, NULL);
  rung_view a = taken(&tensor, 2);
  tensor.strides = strides; /* of an extent of 1: says nothing */
  rung_view b = taken(&tensor, 2);
  assert_true(rung_view_same(&a, &b));
  strides[1] = 2;
  rung_view c = taken(&tensor, 2);
  assert_false(rung_view_same(&a, &c));
  b.data += 4;
  assert_false(rung_view_same(&a, &b));
  rung_view d = a;
  d.shape[1] = 3;
  assert_false(rung_view_same(&a, &d));
}

static rung_status writable(int64_t rows, int64_t columns, int64_t row_stride, int64_t stride) {
  int64_t shape[] = {rows, columns}, strides[] = {row_stride, stride};
  DLTensor tensor = tensor_of(cells + 32, 2, shape, strides);
  rung_view view = taken(&tensor, 2);
  return rung_view_writable(NULL, "out", &view);
}

static void outputs_write_each_place_once(void **state) {
  (void)state;
  assert_int_equal(writable(3, 4, 4, 1), RUNG_OK);
  assert_int_equal(writable(3, 4, 3, 1), RUNG_BAD_SHAPE); /* a row's end is the next one's start */
  assert_int_equal(writable(3, 4, 1, 3), RUNG_OK);        /* column-major */
  assert_int_equal(writable(3, 4, 1, 2), RUNG_BAD_SHAPE);
  assert_int_equal(writable(3, 4, -4, -1), RUNG_OK);
  assert_int_equal(writable(3, 4, -3, 1), RUNG_BAD_SHAPE);
  assert_int_equal(writable(3, 4, 0, 1), RUNG_BAD_SHAPE);
  assert_int_equal(writable(3, 4, 4, 0), RUNG_BAD_SHAPE);
  assert_int_equal(writable(1, 4, 0, 1), RUNG_OK); /* a stride never taken */
  assert_int_equal(writable(3, 1, 1, 0), RUNG_OK);
  assert_int_equal(writable(2, 2, 1, 1), RUNG_BAD_SHAPE);
  rung_error error = {0};
  int64_t shape[] = {3, 4}, strides[] = {0, 1};
  DLTensor tensor = tensor_of(cells, 2, shape, strides);
  rung_view view = taken(&tensor, 2);
  rung_view_writable(&error, "out", &view);
  assert_non_null(strstr(error.sentence, "out has stride 0 in dimension 0"));
}

/* Every element of every dtype lands where its indices say, checked by plain index arithmetic. */
static void copies_land_in_place(void **state) {
  (void)state;
  static unsigned char from[4096], to[4096], wanted[4096];
  const int64_t shape[] = {3, 4, 5};
  const int64_t from_strides[] = {-40, 9, -2}, to_strides[] = {1, 20, 3};
  for (int d = 0; d < RUNG_DTYPES; d++) {
    int64_t size = (int64_t)rung_dtype_bytes((rung_dtype)d);
    for (size_t i = 0; i < sizeof from; i++) from[i] = (unsigned char)(i * 37 + i / 256);
    memset(to, 0xEE, sizeof to);
    memcpy(wanted, to, sizeof to);
    rung_view a = rung_view_compact(from + 100 * size, (rung_dtype)d, 3, shape);
    rung_view b = rung_view_compact(to + 8 * size, (rung_dtype)d, 3, shape);
    memcpy(a.stride, from_strides, sizeof from_strides);
    memcpy(b.stride, to_strides, sizeof to_strides);
    for (int64_t i = 0; i < 3; i++) {
      for (int64_t j = 0; j < 4; j++) {
        for (int64_t k = 0; k < 5; k++)
          memcpy(wanted + (8 + i + 20 * j + 3 * k) * size,
                 from + (100 - 40 * i + 9 * j - 2 * k) * size, (size_t)size);
      }
    }
    rung_view_copy(&b, &a);
    assert_memory_equal(to, wanted, sizeof to);
  }
}

static void products(void **state) {
  (void)state;
  int64_t product = 7;
  assert_true(rung_multiply(INT64_C(3037000499), INT64_C(3037000499), &product));
  assert_int_equal(product, INT64_C(9223372030926249001));
  assert_false(rung_multiply(INT64_C(3037000500), INT64_C(3037000500), &product));
  assert_false(rung_multiply(-1, 3, &product));
  assert_false(rung_multiply(0, -3, &product));
  assert_int_equal(product, INT64_C(9223372030926249001));
  assert_true(rung_multiply(INT64_MAX, 0, &product));
  assert_int_equal(product, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(types_have_names_and_sizes),
      cmocka_unit_test(compact_tensors_get_strides),
      cmocka_unit_test(every_type_is_told_from_the_others),
      cmocka_unit_test(places),
      cmocka_unit_test(bad_shapes),
      cmocka_unit_test(sizes_beyond_64_bits),
      cmocka_unit_test(empty_tensors),
      cmocka_unit_test(extents),
      cmocka_unit_test(sameness),
      cmocka_unit_test(outputs_write_each_place_once),
      cmocka_unit_test(copies_land_in_place),
      cmocka_unit_test(products),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
