/* What a rung's outputs say of it: every element looked at once, then the operation's checker,
 * unless what has the very same bits was checked before. */
#include <math.h>
#include <string.h>

#include "lab/fixture.h"

/* ---- every element ------------------------------------------------------------------------ */

typedef struct look {
  uint64_t hash;
  int64_t poison; /* the first element of floats that is poison still; -1: none */
} look;

/* From `infinity` on, the bits of floats without their sign are a NaN; of integers none are. */
static inline look look_over(const char *data, int64_t count, size_t size, uint64_t infinity,
                             uint64_t hash) {
  const uint64_t poison = UINT64_MAX >> (64 - 8 * size), unsigned_part = poison >> 1;
  look found = {hash, -1};
  for (int64_t i = 0; i < count; ++i) {
    uint64_t element = 0;
    memcpy(&element, data + (size_t)i * size, size);
    if ((element & unsigned_part) > infinity) {
      if (element == poison && found.poison < 0) found.poison = i;
      element = UINT64_MAX;
    }
    found.hash = (found.hash ^ element) * UINT64_C(0x9e3779b97f4a7c15);
    found.hash ^= found.hash >> 32;
  }
  return found;
}

/* All bits of the outputs, any NaN as one, by elements: h = (h xor element) * 0x9e3779b97f4a7c15,
 * and then h xor h >> 32. No arithmetic on sane numbers makes poison of floats, so the lab refuses
 * it even where a checker would let it pass; integers may well be equal to it, and are the
 * checker's. */
static look look_at(const rung_view *output, uint64_t hash) {
  const rung_traits *traits = rung_traits_of(output->dtype);
  uint64_t infinity = UINT64_MAX;
  if (rung_dtype_is_float(output->dtype)) {
    infinity = 0;
    traits->store(&infinity, INFINITY);
  }
  switch (traits->bytes) { /* each a loop of its own */
    case 1:
      return look_over(output->data, output->count, 1, infinity, hash);
    case 2:
      return look_over(output->data, output->count, 2, infinity, hash);
    case 4:
      return look_over(output->data, output->count, 4, infinity, hash);
    default:
      return look_over(output->data, output->count, 8, infinity, hash);
  }
}

/* ---- what was checked before ---------------------------------------------------------------- */

/* Checkers judge by the order of arithmetic; of loose rungs each may have a bound of its own. */
static bool judged_alike(const rung_row *a, const rung_row *b) {
  return a == b || (a->order == RUNG_CANONICAL && b->order == RUNG_CANONICAL);
}

static const rung_comparison *known_of(const lab_known *known, const rung_row *row, uint64_t bits) {
  for (int i = 0; i < known->count; ++i)
    if (known->list[i].bits == bits && judged_alike(known->list[i].row, row))
      return &known->list[i].found;
  return NULL;
}

/* The oldest makes room. */
static void keep(lab_known *known, const rung_row *row, const lab_verdict *verdict) {
  known->list[known->next] =
      (lab_checked){.row = row, .bits = verdict->bits, .found = verdict->comparison};
  known->next = (known->next + 1) % LAB_KNOWN;
  if (known->count < LAB_KNOWN) known->count++;
}

/* ---- the verdict ---------------------------------------------------------------------------- */

/* A checker that passes what it counted against is not believed. */
static void judge(lab_verdict *verdict) {
  const rung_comparison *found = &verdict->comparison;
  if (!found->pass && found->unwritten > 0)
    lab_find(verdict, LAB_UNWRITTEN, "%s", found->sentence);
  else if (found->nans > 0)
    lab_find(verdict, LAB_NAN, "%s", found->sentence);
  else if (!found->pass || found->wrong > 0)
    lab_find(verdict, LAB_WRONG, "%s", found->sentence);
  else
    lab_find(verdict, LAB_GOOD, "%s", found->sentence);
}

void lab_check_outputs(const rung_case *test_case, lab_known *known, const rung_row *row,
                       const rung_view *outputs, lab_verdict *verdict) {
  look seen = {0, -1};
  int unwritten = -1;
  int64_t element = 0;
  for (int k = 0; k < test_case->outputs; ++k) {
    seen = look_at(&outputs[k], seen.hash);
    if (seen.poison < 0 || unwritten >= 0) continue;
    unwritten = k;
    element = seen.poison;
  }
  const rung_comparison *before = unwritten < 0 ? known_of(known, row, seen.hash) : NULL;
  if (before)
    verdict->comparison = *before;
  else
    test_case->cases->check(test_case, row, outputs, &verdict->comparison);
  if (unwritten >= 0)
    lab_find(verdict, LAB_UNWRITTEN, "%s was not written at element %lld of %lld",
             test_case->array_names[test_case->inputs + unwritten], (long long)element,
             (long long)outputs[unwritten].count);
  else
    judge(verdict);
  if (verdict->finding != LAB_GOOD) return;
  verdict->bits = seen.hash;
  if (!before) keep(known, row, verdict);
}
