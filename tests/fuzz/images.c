/* Any bytes as an image, of the format that its first ones say: refused with a sentence, or read,
 * and row by row the same as whole. */
#include "files/array.h"
#include "fuzz/fuzz.h"

enum { ROW = 1 << 24 };

static void read_by_rows(const char *path, const file_array *whole) {
  rung_error error = {0};
  array_reader *reader;
  if (array_open(&reader, path, &error) != RUNG_OK) fuzz_wrong("again: %s", error.sentence);
  const array_about *about = array_of(reader);
  if (about->dtype != whole->dtype || about->ndim != whole->tensor.ndim)
    fuzz_wrong("another array");
  char *row = malloc((size_t)about->row_bytes + 1);
  if (row == NULL) abort();
  for (int64_t y = 0; y < about->rows; y++) {
    if (array_rows(reader, 1, row, &error) != RUNG_OK) fuzz_wrong("row: %s", error.sentence);
    if (memcmp(row, (const char *)whole->memory + y * about->row_bytes, (size_t)about->row_bytes) !=
        0)
      fuzz_wrong("row %lld is another one", (long long)y);
  }
  free(row);
  array_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  rung_error error = {0};
  file_array array;
  char path[32];
  const int file = fuzz_file(data, size, path);
  const rung_status status = array_read(path, &array, &error);
  if (status == RUNG_OK) {
    if (array.tensor.ndim > 0 && array.shape[0] < ROW) read_by_rows(path, &array);
    array_free(&array);
  } else if (array.memory != NULL || error.sentence[0] == '\0') {
    fuzz_wrong("refused with status %d, \"%s\", memory %p", (int)status, error.sentence,
               array.memory);
  }
  close(file);
  return 0;
}
