/* Any bytes as a .npy file: refused with a sentence, or read; what was read is written and read
 * again, and is the same. */
#include "files/npy.h"
#include "fuzz/fuzz.h"

static size_t bytes_of(const file_array *array) {
  size_t bytes = rung_dtype_bytes(array->dtype);
  for (int d = 0; d < array->tensor.ndim; d++) bytes *= (size_t)array->shape[d];
  return bytes;
}

static void write_and_read_again(const file_array *array) {
  rung_error error = {0};
  file_array again;
  char path[64];
  snprintf(path, sizeof path, "/tmp/rung-fuzz-%d.npy", (int)getpid());
  if (array_write(path, &array->tensor, &error) != RUNG_OK) fuzz_wrong("write: %s", error.sentence);
  if (npy_read(path, &again, &error) != RUNG_OK) fuzz_wrong("read again: %s", error.sentence);
  unlink(path);
  if (again.dtype != array->dtype || again.tensor.ndim != array->tensor.ndim ||
      bytes_of(&again) != bytes_of(array))
    fuzz_wrong("what was written is another array");
  for (int d = 0; d < array->tensor.ndim; d++)
    if (again.shape[d] != array->shape[d]) fuzz_wrong("extent %d is another one", d);
  array_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  rung_error error = {0};
  file_array array;
  char path[32];
  const int file = fuzz_file(data, size, path);
  const rung_status status = npy_read(path, &array, &error);
  if (status == RUNG_OK) {
    if (bytes_of(&array) > size) fuzz_wrong("more was read than there is");
    write_and_read_again(&array);
    array_free(&array);
  } else if (array.memory != NULL || error.sentence[0] == '\0') {
    fuzz_wrong("refused with status %d, \"%s\", memory %p", (int)status, error.sentence,
               array.memory);
  }
  close(file);
  return 0;
}
