#include "core/random.h"

static const uint64_t step = UINT64_C(0x9E3779B97F4A7C15);

uint64_t rung_random_next(rung_random *random) {
  uint64_t z = random->state += step;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

void rung_random_skip(rung_random *random, uint64_t count) {
  random->state += step * count;
}

/* The high bits: as many as the significand holds, so that the product is exact. */
double rung_random_double(rung_random *random) {
  return (double)(rung_random_next(random) >> 11) * 0x1p-53;
}

float rung_random_float(rung_random *random) {
  return (float)(rung_random_next(random) >> 40) * 0x1p-24f;
}
