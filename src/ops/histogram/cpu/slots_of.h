/* The functions of slots.c for one type: included by kernels/slots.c alone, once for each. rule.h
 * says why a guess is right; one that is off by more than half a bin is outside. HISTOGRAM_REST is
 * there for integers, HISTOGRAM_VALUE where an element is no number yet. */
#ifndef HISTOGRAM_VALUE
#define HISTOGRAM_VALUE(x) (x)
#endif

/* Both return the largest slot: HISTOGRAM_DOUBT where a guess proves nothing. */
static uint32_t HISTOGRAM_NAME(histogram_guess_single)(const histogram_rule *rule,
                                                       const HISTOGRAM_TYPE *x, int n,
                                                       uint32_t *slots) {
  const float low = rule->low_f, scale = rule->scale_f, within = rule->within_f;
  const float most = (float)rule->bins;
  const uint32_t bins = (uint32_t)rule->bins;
  uint32_t largest = 0;
  for (int i = 0; i < n; ++i) {
    const float f = ((float)HISTOGRAM_VALUE(x[i]) - low) * scale - 0.5f,
                moved = f + HISTOGRAM_MAGIC_F;
    const uint32_t k = histogram_bits_f(moved) - HISTOGRAM_MAGIC_F_BITS;
    const float rest = fabsf(f - (moved - HISTOGRAM_MAGIC_F));
    uint32_t slot = rest <= within ? k : HISTOGRAM_DOUBT;
    slot = k < bins ? slot : HISTOGRAM_DOUBT;
    slot = f < -1 ? bins + HISTOGRAM_BELOW : slot;
    slots[i] = slot = f > most ? bins + HISTOGRAM_ABOVE : slot;
    largest = slot > largest ? slot : largest;
  }
  return largest;
}

static uint32_t HISTOGRAM_NAME(histogram_guess_double)(const histogram_rule *rule,
                                                       const HISTOGRAM_TYPE *x, int n,
                                                       uint32_t *slots) {
  const double low = rule->low, scale = rule->scale, within = rule->within, most = rule->bins;
  const uint64_t bins = (uint64_t)rule->bins;
  uint32_t largest = 0;
  for (int i = 0; i < n; ++i) {
    const double f = ((double)HISTOGRAM_VALUE(x[i]) - low) * scale - 0.5,
                 moved = f + HISTOGRAM_MAGIC_D;
    const uint64_t k = histogram_bits_d(moved) - HISTOGRAM_MAGIC_D_BITS;
    const double rest = fabs(f - (moved - HISTOGRAM_MAGIC_D));
    uint64_t slot = rest <= within ? k : HISTOGRAM_DOUBT;
    slot = k < bins ? slot : HISTOGRAM_DOUBT;
    slot = f < -1 ? bins + HISTOGRAM_BELOW : slot;
    slots[i] = (uint32_t)(f > most ? bins + HISTOGRAM_ABOVE : slot);
    largest = slots[i] > largest ? slots[i] : largest;
  }
  return largest;
}

/* The few guesses that prove nothing one by one; of many, where elements lie on the edges as whole
 * numbers do, all of the strip by vectors. */
static void HISTOGRAM_NAME(histogram_settle_strip)(const histogram_rule *rule,
                                                   const HISTOGRAM_TYPE *x, int n,
                                                   uint32_t *slots) {
  enum { PART = 64 };
  double wide[HISTOGRAM_STRIP];
  int doubts[HISTOGRAM_STRIP / PART + 1] = {0}, all = 0;
  for (int p = 0; p * PART < n; ++p) {
    const int end = (p + 1) * PART < n ? (p + 1) * PART : n;
    int here = 0;
    for (int i = p * PART; i < end; ++i) here += slots[i] == HISTOGRAM_DOUBT;
    all += doubts[p] = here;
  }
  if (all > HISTOGRAM_STRIP / 32) {
    for (int i = 0; i < n; ++i) wide[i] = (double)HISTOGRAM_VALUE(x[i]);
    histogram_settle_wide(rule, wide, n, slots);
    return;
  }
  for (int p = 0; p * PART < n; ++p)
    for (int i = p * PART; i < n && doubts[p] > 0; ++i) {
      if (slots[i] != HISTOGRAM_DOUBT) continue;
      slots[i] = (uint32_t)histogram_settle(rule, (double)HISTOGRAM_VALUE(x[i]));
      --doubts[p];
    }
}

#if defined(HISTOGRAM_GRID_INTEGERS)
/* HISTOGRAM_GRID_INTEGERS: the least number of the type, and the greatest. */
static bool HISTOGRAM_NAME(histogram_on_grid)(const histogram_rule *rule,
                                              const histogram_grid *grid, const HISTOGRAM_TYPE *x,
                                              int n, uint32_t *slots) {
  static const int64_t range[] = {HISTOGRAM_GRID_INTEGERS};
  const uint32_t bins = (uint32_t)rule->bins, from = (uint32_t)grid->low;
  const int shift = grid->shift;
  if (!grid->integers || grid->low > range[1] || grid->high < range[0]) return false;
  if (grid->high - grid->low > UINT32_MAX && grid->high <= range[1])
    return false; /* k would wrap */
  const HISTOGRAM_TYPE low = (HISTOGRAM_TYPE)(grid->low < range[0] ? range[0] : grid->low);
  const HISTOGRAM_TYPE high = (HISTOGRAM_TYPE)(grid->high > range[1] ? range[1] : grid->high);
  for (int i = 0; i < n; ++i) {
    const uint32_t k = ((uint32_t)x[i] - from) >> shift;
    uint32_t slot = k < bins ? k : bins - 1;
    slot = x[i] < low ? bins + HISTOGRAM_BELOW : slot;
    slots[i] = x[i] > high ? bins + HISTOGRAM_ABOVE : slot;
  }
  return true;
}
#elif defined(HISTOGRAM_GRID_FLOATS) && (defined(__SSE4_1__) || defined(__aarch64__))
/* HISTOGRAM_GRID_FLOATS(x): the greatest integer that is not above. Where a step is more than 1 the
 * edges are integers, and the elements may be made such: a product of powers of two and integers
 * does not underflow. */
static bool HISTOGRAM_NAME(histogram_on_grid)(const histogram_rule *rule,
                                              const histogram_grid *grid, const HISTOGRAM_TYPE *x,
                                              int n, uint32_t *slots) {
  const HISTOGRAM_TYPE first = (HISTOGRAM_TYPE)rule->first, last = (HISTOGRAM_TYPE)rule->last;
  const HISTOGRAM_TYPE inverse = (HISTOGRAM_TYPE)grid->inverse, at = (HISTOGRAM_TYPE)grid->at;
  const HISTOGRAM_TYPE end = (HISTOGRAM_TYPE)(rule->bins - 1);
  const uint32_t bins = (uint32_t)rule->bins;
  const bool wide = inverse < 1;
  if (!grid->floats) return false;
  for (int i = 0; i < n; ++i) {
    const HISTOGRAM_TYPE y = wide ? HISTOGRAM_GRID_FLOATS(x[i]) : x[i];
    HISTOGRAM_TYPE k = HISTOGRAM_GRID_FLOATS(y * inverse) - at;
    k = k > 0 ? k : 0; /* a NaN, too */
    k = k < end ? k : end;
    uint32_t slot = (uint32_t)(int32_t)k;
    slot = x[i] < first ? bins + HISTOGRAM_BELOW : slot;
    slot = x[i] > last ? bins + HISTOGRAM_ABOVE : slot;
    slots[i] = x[i] == x[i] ? slot : bins + HISTOGRAM_NAN;
  }
  return true;
}
#else
static bool HISTOGRAM_NAME(histogram_on_grid)(const histogram_rule *rule,
                                              const histogram_grid *grid, const HISTOGRAM_TYPE *x,
                                              int n, uint32_t *slots) {
  (void)rule, (void)grid, (void)x, (void)n, (void)slots;
  return false;
}
#endif

static void HISTOGRAM_NAME(histogram_slots)(const histogram_rule *rule,
                                            const histogram_given *given, const void *in,
                                            int64_t at, int n, uint32_t *slots) {
  const HISTOGRAM_TYPE *x = (const HISTOGRAM_TYPE *)in + at;
  double wide[HISTOGRAM_STRIP];
  switch (rule->way) {
    case HISTOGRAM_SINGLE:
      if (HISTOGRAM_NAME(histogram_on_grid)(rule, &given->grid, x, n, slots)) break;
      if (HISTOGRAM_NAME(histogram_guess_single)(rule, x, n, slots) == HISTOGRAM_DOUBT)
        HISTOGRAM_NAME(histogram_settle_strip)(rule, x, n, slots);
      break;
    case HISTOGRAM_DOUBLE:
      if (HISTOGRAM_NAME(histogram_on_grid)(rule, &given->grid, x, n, slots)) break;
      if (HISTOGRAM_NAME(histogram_guess_double)(rule, x, n, slots) == HISTOGRAM_DOUBT)
        HISTOGRAM_NAME(histogram_settle_strip)(rule, x, n, slots);
      break;
#ifdef HISTOGRAM_REST
    case HISTOGRAM_MODULO: {
      const histogram_rule own = *rule; /* no store to `slots` can change it */
      for (int i = 0; i < n; ++i) slots[i] = HISTOGRAM_REST(&own, x[i]);
      break;
    }
#endif
    default:
      for (int i = 0; i < n; ++i) wide[i] = (double)HISTOGRAM_VALUE(x[i]);
      histogram_search_strip(rule, given, wide, n, slots);
  }
}

#undef HISTOGRAM_NAME
#undef HISTOGRAM_TYPE
#undef HISTOGRAM_REST
#undef HISTOGRAM_VALUE
#undef HISTOGRAM_GRID_INTEGERS
#undef HISTOGRAM_GRID_FLOATS
