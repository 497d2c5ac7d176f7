/* Lines turned into columns and back, as many of both as a vector has lanes: in registers, by a
 * function of its own for each width, as it is much code. */
#ifndef RUNG_SCAN_CPU_TURN_H
#define RUNG_SCAN_CPU_TURN_H

#include "backend/cpu/lanes.h"

/* A square of elements of 32 or 64 bits, whose rows are `from_step` bytes apart, to its columns,
 * `to_step` bytes apart: those may be the same place. */
#define TURN(bits, real, lanes)                                                               \
  LANES_OUTLINE __attribute__((unused)) void turn_##bits(const void *from, int64_t from_step, \
                                                         void *to, int64_t to_step) {         \
    lanes_##real v[lanes];                                                                    \
    _Pragma("GCC unroll 16") for (int l = 0; l < lanes; ++l)                                  \
        memcpy(&v[l], (const char *)from + l * from_step, sizeof *v);                         \
    lanes_transpose_##real(v);                                                                \
    _Pragma("GCC unroll 16") for (int l = 0; l < lanes; ++l)                                  \
        memcpy((char *)to + l * to_step, &v[l], sizeof *v);                                   \
  }
TURN(32, f32, LANES_F32)
TURN(64, f64, LANES_F64)
#undef TURN

#endif
