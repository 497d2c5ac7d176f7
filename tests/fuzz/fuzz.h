/* What the fuzzing targets share: the input taken apart, and as a file. A target is a file with
 * LLVMFuzzerTestOneInput(), for libFuzzer and AFL++. Who finds something wrong that no sanitizer
 * sees calls fuzz_wrong(). */
#ifndef RUNG_TESTS_FUZZ_H
#define RUNG_TESTS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fuzz_wrong(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort())

/* Bytes yet to be taken; when there are none left, zeros come. */
typedef struct fuzz_input {
  const uint8_t *at;
  size_t left;
} fuzz_input;

static inline unsigned fuzz_byte(fuzz_input *input) {
  if (input->left == 0) return 0;
  input->left--;
  return *input->at++;
}

/* 0 ... count - 1 */
static inline int fuzz_pick(fuzz_input *input, int count) {
  return (int)(fuzz_byte(input) % (unsigned)count);
}

/* One chance in `in`; never when the input is at its end. */
static inline int fuzz_rarely(fuzz_input *input, int in) {
  return input->left > 0 && fuzz_pick(input, in) == in - 1;
}

static inline uint64_t fuzz_bits(fuzz_input *input) {
  uint64_t bits = 0;
  for (int k = 0; k < 8; k++) bits = bits << 8 | fuzz_byte(input);
  return bits;
}

/* The input as a file in memory, whose path is written; to be closed. */
static inline int fuzz_file(const uint8_t *data, size_t size, char path[32]) {
  const int file = memfd_create("fuzz", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
  snprintf(path, 32, "/proc/self/fd/%d", file);
  return file;
}

#endif
