/* The kernels of one type of sums; included once for each by kernels/sums.c, which defines
 *   NUMBER      the type             LANES, WIDTH    its vector, and how many lanes that has
 *   NAME(x)     x of this type       FMA, LOAD, STORE, STREAM, ALL: of vectors
 *   DTYPE       its name
 *   STORE_ONE   correlate_store_*()
 *   EACH_INPUT(of): of(dtype, type, conversion) for every type of an image
 *   WIDEN_HALVES(from, n, to)    f16 instead of by EACH_INPUT, or not defined */

/* A row of the image, from `in` on: tap row i serves the chains t[i]. So every vector that is
 * loaded serves G chains, and every tap V. */
LANES_INLINE void NAME(add_row)(const int G, const int V, const correlate_pass *s, const NUMBER *in,
                                LANES t[MOST_ROWS][MOST_VECTORS]) {
  const NUMBER *taps = (const NUMBER *)s->taps;
  const int64_t columns = s->taps_columns, step = s->step;
  for (int64_t j = 0; j < columns; j++) {
    const NUMBER *at = in + j * step;
    LANES few[MOST_ROWS];
    if (G <= V) { /* the fewer of the two stay in registers */
#pragma GCC unroll 6
      for (int i = 0; i < G; i++) few[i] = ALL(taps[i * columns + j]);
#pragma GCC unroll 8
      for (int v = 0; v < V; v++) {
        const LANES one = LOAD(at + v * WIDTH);
#pragma GCC unroll 6
        for (int i = 0; i < G; i++) t[i][v] = FMA(few[i], one, t[i][v]);
      }
    } else {
#pragma GCC unroll 8
      for (int v = 0; v < V; v++) few[v] = LOAD(at + v * WIDTH);
#pragma GCC unroll 6
      for (int i = 0; i < G; i++) {
        const LANES one = ALL(taps[i * columns + j]);
#pragma GCC unroll 8
        for (int v = 0; v < V; v++) t[i][v] = FMA(one, few[v], t[i][v]);
      }
    }
  }
}

/* Down a strip of V vectors of columns. After every row of the image the chains move on by one, the
 * last ones done, so a chain's taps come in the contract's order. Rows above the first make chains
 * that nobody stores, where none is resumed; so do those below the last, where none is kept. G and
 * V are constants of every copy. */
LANES_INLINE void NAME(run_strip)(const int G, const int V, const correlate_pass *s, int64_t x) {
  const NUMBER *in = (const NUMBER *)s->in + x;
  const NUMBER *sums = s->sums == NULL ? NULL : (const NUMBER *)s->sums + x;
  NUMBER *to = (NUMBER *)s->to + x;
  NUMBER *chains = s->chains == NULL ? NULL : (NUMBER *)s->chains + x;
  const int64_t before = s->resumed ? 0 : G - 1, rows = s->rows + before;
  const int64_t begun = s->kept ? rows : s->rows;
  const char *next = s->next == NULL ? NULL : s->next + x * s->next_size;
  LANES t[MOST_ROWS][MOST_VECTORS] = {{{0}}};
  const NUMBER *begin = sums; /* what the next chains begin with */
  if (s->resumed) {
#pragma GCC unroll 8
    for (int v = 0; v < V; v++)
#pragma GCC unroll 6
      for (int i = 0; i < G - 1; i++) t[i][v] = LOAD(chains + i * s->chains_row + v * WIDTH);
    begin = chains + (G - 1) * s->chains_row;
  } else if (sums != NULL) {
    sums += s->sums_row;
  }
  for (int64_t q = 0; q < rows; q++, in += s->in_row) {
#pragma GCC unroll 8
    for (int v = 0; v < V; v++) {
#pragma GCC unroll 6
      for (int i = G - 1; i > 0; i--) t[i][v] = t[i - 1][v];
      t[0][v] = (LANES){0};
    }
    if (sums != NULL && q < begun) {
#pragma GCC unroll 8
      for (int v = 0; v < V; v++) t[0][v] = LOAD(begin + v * WIDTH);
      begin = sums;
      sums += s->sums_row;
    }
    if (s->next != NULL) {
      for (int64_t b = 0; b < V * WIDTH * s->next_size; b += 64) __builtin_prefetch(next + b);
      next += s->next_row;
    }
    NAME(add_row)(G, V, s, in, t);
    if (q < before) continue;
    NUMBER *row = to + (q - before) * s->to_row;
    if (s->stream)
#pragma GCC unroll 8
      for (int v = 0; v < V; v++) STREAM(row + v * WIDTH, t[G - 1][v]);
    else
#pragma GCC unroll 8
      for (int v = 0; v < V; v++) STORE(row + v * WIDTH, t[G - 1][v]);
  }
  if (s->kept)
#pragma GCC unroll 8
    for (int v = 0; v < V; v++) {
#pragma GCC unroll 6
      for (int i = 0; i < G - 1; i++) STORE(chains + i * s->chains_row + v * WIDTH, t[i][v]);
      if (sums != NULL)
        STORE(chains + (G - 1) * s->chains_row + v * WIDTH, LOAD(begin + v * WIDTH));
    }
}

#define PASS_OF(G, V)                                                              \
  LANES_OUTLINE void NAME(pass_##G)(const correlate_pass *s) {                     \
    const correlate_pass own = *s; /* which no store to a row alters */            \
    for (int64_t x = 0; x < own.n; x += (V)*WIDTH) NAME(run_strip)(G, V, &own, x); \
  }
EACH_GROUP(PASS_OF)
#undef PASS_OF

static void NAME(pass)(const correlate_pass *s) {
#define PASS_OF(G, V) NAME(pass_##G),
  static void (*const passes[])(const correlate_pass *) = {EACH_GROUP(PASS_OF)};
#undef PASS_OF
  passes[s->taps_rows - 1](s);
}

/* Every row that is loaded serves the chains of all rows of output that it is in, every tap
 * COLUMN_VECTORS. */
LANES_OUTLINE void NAME(columns)(const correlate_columns *s) {
  const NUMBER *taps = (const NUMBER *)s->taps;
  const int64_t count = s->count, rows = count + CORRELATE_HIGH - 1;
  for (int64_t x = 0; x < s->n; x += COLUMN_VECTORS * WIDTH) {
    LANES t[CORRELATE_HIGH][COLUMN_VECTORS] = {{{0}}};
    for (int64_t i = 0; i < rows; i++) {
      const NUMBER *row = (const NUMBER *)s->rows[i] + x;
      LANES one[COLUMN_VECTORS];
#pragma GCC unroll 8
      for (int v = 0; v < COLUMN_VECTORS; v++) one[v] = LOAD(row + v * WIDTH);
#pragma GCC unroll 8
      for (int r = 0; r < CORRELATE_HIGH; r++) {
        if (i < r || i - r >= count) continue;
        const LANES tap = ALL(taps[i - r]);
#pragma GCC unroll 8
        for (int v = 0; v < COLUMN_VECTORS; v++) t[r][v] = FMA(tap, one[v], t[r][v]);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < CORRELATE_HIGH; r++) {
      if (r >= s->high) break;
      NUMBER *to = (NUMBER *)s->to + r * s->to_row + x;
#pragma GCC unroll 8
      for (int v = 0; v < COLUMN_VECTORS; v++)
        if (s->stream)
          STREAM(to + v * WIDTH, t[r][v]);
        else
          STORE(to + v * WIDTH, t[r][v]);
    }
  }
}

static void NAME(widen)(rung_dtype in, const void *from, int64_t n, void *to) {
  NUMBER *restrict wide = (NUMBER *)to;
#ifdef WIDEN_HALVES
  if (in == RUNG_F16) {
    WIDEN_HALVES((const uint16_t *)from, n, wide);
    return;
  }
#endif
#define WIDEN(dtype, type, conversion) \
  if (in == (dtype))                   \
    for (int64_t i = 0; i < n; i++) wide[i] = conversion(((const type *)from)[i]);
  EACH_INPUT(WIDEN)
#undef WIDEN
}

static void NAME(finish)(rung_dtype out, const void *sums, int64_t n, void *to) {
  const NUMBER *restrict of = (const NUMBER *)sums;
#define FINISH(dtype) \
  if (out == (dtype)) \
    for (int64_t i = 0; i < n; i++) STORE_ONE(dtype, to, i, of[i]);
  FINISH(RUNG_U8) FINISH(RUNG_U16) FINISH(RUNG_F16) FINISH(RUNG_F32) FINISH(RUNG_F64)
#undef FINISH
}

static void NAME(set)(void *to, int64_t at, int64_t n, double value) {
  NUMBER *restrict numbers = (NUMBER *)to + at;
  const NUMBER number = (NUMBER)value;
  for (int64_t i = 0; i < n; i++) numbers[i] = number;
}

#define STRIP_OF(G, V) (V) * WIDTH,
static const int NAME(strips)[] = {EACH_GROUP(STRIP_OF)};
#undef STRIP_OF

const correlate_kernels RUNG_ENTRY(NAME(correlate_kernels)) = {
    DTYPE,         MOST_ROWS,   NAME(strips), NAME(pass), COLUMN_VECTORS *WIDTH,
    NAME(columns), NAME(widen), NAME(finish), NAME(set)};

#undef NUMBER
#undef DTYPE
#undef LANES
#undef WIDTH
#undef NAME
#undef FMA
#undef LOAD
#undef STORE
#undef STREAM
#undef ALL
#undef STORE_ONE
#undef EACH_INPUT
#undef WIDEN_HALVES
