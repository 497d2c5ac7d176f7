/* Lines turned into columns and back, as many of both as a vector has lanes: in registers, by a
 * function of its own for each width, as it is much code. */
#ifndef RUNG_SCAN_CPU_TURN_H
#define RUNG_SCAN_CPU_TURN_H

#include "backend/cpu/lanes.h"

/* A square of elements of 32 or 64 bits, whose rows are `from_step` bytes apart, to its columns,
 * `to_step` bytes apart: those may be the same place. */
LANES_OUTLINE __attribute__((unused)) void turn_32(const void *from, int64_t from_step, void *to,
                                                   int64_t to_step) {
  lanes_f32 v[LANES_F32];
#pragma GCC unroll 16
  for (int l = 0; l < LANES_F32; ++l) memcpy(&v[l], (const char *)from + l * from_step, sizeof *v);
  lanes_transpose_f32(v);
#pragma GCC unroll 16
  for (int l = 0; l < LANES_F32; ++l) memcpy((char *)to + l * to_step, &v[l], sizeof *v);
}

LANES_OUTLINE __attribute__((unused)) void turn_64(const void *from, int64_t from_step, void *to,
                                                   int64_t to_step) {
  lanes_f64 v[LANES_F64];
#pragma GCC unroll 16
  for (int l = 0; l < LANES_F64; ++l) memcpy(&v[l], (const char *)from + l * from_step, sizeof *v);
  lanes_transpose_f64(v);
#pragma GCC unroll 16
  for (int l = 0; l < LANES_F64; ++l) memcpy((char *)to + l * to_step, &v[l], sizeof *v);
}

#endif
