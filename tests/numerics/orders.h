/* The orders of arithmetic that lost against the contract's, for one type: included by errors.c
 * with REAL, FUSED (fmaf or fma) and NAME(x) defined. They are written apart from the library, so
 * that what is compared with it owes it nothing. */

/* One step of columns [from, to); `row` and `fresh` have `RADIUS` columns of wrap on both sides. */
INLINE void NAME(step)(order order, const REAL *w, int64_t from, int64_t to,
                       const REAL *restrict row, REAL *restrict fresh) {
  const REAL hundred = 100, five = 5;
  switch (order) {
    case GRID_FROM_LEFT:
    case ROUNDED_FROM_LEFT:
      for (int64_t j = from; j < to; j++) {
        REAL t = w[0] * row[j - 2];
#pragma GCC unroll 4
        for (int k = 1; k < TAPS; k++) t = FUSED(w[k], row[j + k - RADIUS], t);
        fresh[j] = t;
      }
      break;
    case TEXTBOOK:
      for (int64_t j = from; j < to; j++) {
        REAL t = w[0] * row[j - 2];
#pragma GCC unroll 4
        for (int k = 1; k < TAPS; k++) t += w[k] * row[j + k - RADIUS];
        fresh[j] = t / five;
      }
      break;
    default:
      for (int64_t j = from; j < to; j++) {
        REAL t = w[TAPS - 1] * row[j + RADIUS];
#pragma GCC unroll 4
        for (int k = TAPS - 2; k >= 0; k--) t = FUSED(w[k], row[j + k - RADIUS], t);
        fresh[j] = order == INTEGER_EACH ? t / hundred : t;
      }
  }
}

/* All steps of one row, which `a` holds at first and at last; `b` is a second one. */
INLINE void NAME(steps)(const test_case *test_case, order order, const REAL *w, REAL *a, REAL *b) {
  const int64_t m = COLUMNS;
  REAL held[2] = {a[0], a[1]}, *old = a, *fresh = b;
  REAL scale = 1;
  for (int s = 0; s < test_case->steps; s++) {
    for (int64_t k = 0; k < RADIUS; k++) {
      old[-1 - k] = old[m - 1 - k];
      old[m + k] = old[k];
    }
    NAME(step)(order, w, test_case->fixed, m, old, fresh);
    if (order == INTEGER_FIVE) {
      scale *= 100;
      if (s % 5 == 4 || s + 1 == test_case->steps) {
        for (int64_t j = test_case->fixed; j < m; j++) fresh[j] /= scale;
        scale = 1;
      }
    }
    for (int64_t j = 0; j < test_case->fixed; j++) fresh[j] = held[j] * scale;
    REAL *swap = old;
    old = fresh;
    fresh = swap;
  }
  if (old != a) memcpy(a, old, (size_t)m * sizeof *a);
}

/* The compiler's own fused multiply-add where the processor has one: a call of fma() a tap is
 * forty times slower. The bits are the same. */
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void NAME(steps_fused)(const test_case *test_case,
                                                                  order order, const REAL *w,
                                                                  REAL *a, REAL *b) {
  NAME(steps)(test_case, order, w, a, b);
}
#endif

static void NAME(other)(const test_case *test_case, order order, const double *weights,
                        const double *in, double *out) {
  REAL w[TAPS];
  for (int k = 0; k < TAPS; k++) w[k] = (REAL)weights[k];
  REAL *a = calloc(COLUMNS + 2 * RADIUS, sizeof *a), *b = calloc(COLUMNS + 2 * RADIUS, sizeof *b);
  if (a == NULL || b == NULL) abort();
  for (int64_t j = 0; j < COLUMNS; j++) a[j + RADIUS] = (REAL)in[j];
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    NAME(steps_fused)(test_case, order, w, a + RADIUS, b + RADIUS);
  else
#endif
    NAME(steps)(test_case, order, w, a + RADIUS, b + RADIUS);
  for (int64_t j = 0; j < COLUMNS; j++) out[j] = a[j + RADIUS];
  free(a);
  free(b);
}

/* The contract's order, by the library itself: whatever rung it finds best. */
static void NAME(ours)(const test_case *test_case, const double *in, double *out) {
  REAL row[COLUMNS];
  int64_t shape[] = {1, COLUMNS};
  DLTensor tensor = {.data = row,
                     .device = {kDLCPU, 0},
                     .ndim = 2,
                     .shape = shape,
                     .dtype = {kDLFloat, 8 * sizeof(REAL), 1}};
  const rung_stencil_model model = {.radius = RADIUS,
                                    .weights = test_case->model.weights,
                                    .divide = test_case->model.divide,
                                    .steps = test_case->steps,
                                    .fixed = test_case->fixed,
                                    .edge = RUNG_EDGE_WRAP};
  rung_context *context;
  for (int64_t j = 0; j < COLUMNS; j++) row[j] = (REAL)in[j];
  if (rung_open(&context, &(rung_options){.device = "cpu"}) != RUNG_OK ||
      rung_stencil(context, &model, &tensor, &tensor, NULL, NULL) != RUNG_OK) {
    fprintf(stderr, "errors: %s\n", rung_last_error(context));
    exit(1);
  }
  rung_close(context);
  for (int64_t j = 0; j < COLUMNS; j++) out[j] = row[j];
}
