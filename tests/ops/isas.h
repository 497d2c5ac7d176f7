/* The CPU's instruction sets, and which of them a test goes through: all that this machine has;
 * under a sanitizer the one that tests are run with alone, for no other is watched. */
#ifndef TESTS_OPS_ISAS_H
#define TESTS_OPS_ISAS_H

#include "core/context.h"
#include "ops/outside.h"

enum { ISAS = 3 };
static const char *const isas[ISAS] = {"baseline", "avx2", "avx512"};

/* ISAS: there is none of that name. */
static inline int isa_number(const char *name) {
  int i = 0;
  while (i < ISAS && strcmp(isas[i], name) != 0) i++;
  return i;
}

/* The last one. */
static inline int widest_isa(void) {
  const char *named = INSTRUMENTED ? getenv("RUNG_ISA") : NULL;
  rung_device device;
  rung_error error;
  if (named != NULL && isa_number(named) < ISAS) return isa_number(named);
  assert_int_equal(rung_find_device("cpu", &device, &error), RUNG_OK);
  return (int)device.isa;
}

/* Where tests begin that go through all of them. */
static inline int first_isa(void) {
  return INSTRUMENTED ? widest_isa() : 0;
}

#endif
