/* Random numbers that can be drawn again: the same seed gives the same numbers on every machine.
 * The generator is splitmix64 (Steele, Lea, Flood 2014): 64 bits of state, period 2^64. Good
 * enough for test data, no use for secrets. */
#ifndef RUNG_CORE_RANDOM_H
#define RUNG_CORE_RANDOM_H

#include <stdint.h>

typedef struct rung_random {
  uint64_t state; /* the seed, at first */
} rung_random;

#ifdef __cplusplus
extern "C" {
#endif

uint64_t rung_random_next(rung_random *random);

/* As if so many had been drawn. */
void rung_random_skip(rung_random *random, uint64_t count);

/* Uniform in [0, 1): a multiple of 2^-53. */
double rung_random_double(rung_random *random);

/* Uniform in [0, 1): a multiple of 2^-24. */
float rung_random_float(rung_random *random);

#ifdef __cplusplus
}
#endif
#endif
