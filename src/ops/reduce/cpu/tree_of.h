/* The functions of tree.h for one type: included by tree.h alone, once for each. */

LANES_INLINE TREE_NAME(lanes)
    TREE_NAME(reduce_rows_at)(const TREE_NUMBER *const *row, int live, int w) {
  TREE_NAME(lanes) slot[8];
  SUM_UNROLL
  for (int i = 0; i < live; i++) slot[i] = TREE_NAME(lanes_load)(row[i] + w);
  TREE_SLOTS(slot, live);
  return slot[0];
}

/* `to` may be the first row. Vectors lie to memory as in line_of.h. */
LANES_INLINE void TREE_NAME(reduce_rows_of)(const TREE_NUMBER *const *rows, int live, int n,
                                            TREE_NUMBER *to) {
  const TREE_NUMBER *row[8]; /* no store to `to` can change these */
  const int last = n - TREE_WIDTH;
  SUM_UNROLL
  for (int i = 0; i < live; i++) row[i] = rows[i];
  if (last < 0) {
    TREE_NAME(lanes) slot[8];
    SUM_UNROLL
    for (int i = 0; i < live; i++) slot[i] = TREE_NAME(reduce_load_part)(row[i], n);
    TREE_SLOTS(slot, live);
    for (int l = 0; l < TREE_WIDTH - 1; l++)
      if (l < n) to[l] = slot[0][l];
    return;
  }
  const TREE_NAME(lanes) begins = TREE_NAME(reduce_rows_at)(row, live, 0);
  const TREE_NAME(lanes) ends = TREE_NAME(reduce_rows_at)(row, live, last);
  for (int w = LANES_HEAD(row[0]); w <= last; w += TREE_WIDTH)
    TREE_NAME(lanes_store)(to + w, TREE_NAME(reduce_rows_at)(row, live, w));
  TREE_NAME(lanes_store)(to, begins);
  TREE_NAME(lanes_store)(to + last, ends);
}

LANES_OUTLINE void TREE_NAME(reduce_rows)(const TREE_NUMBER *const *rows, int live, int n,
                                          TREE_NUMBER *to) {
#define TREE_CASE(live)                           \
  case live:                                      \
    TREE_NAME(reduce_rows_of)(rows, live, n, to); \
    break;
  switch (live) {
    TREE_CASE(1)
    TREE_CASE(2)
    TREE_CASE(3)
    TREE_CASE(4)
    TREE_CASE(5)
    TREE_CASE(6)
    TREE_CASE(7)
    default:
      TREE_NAME(reduce_rows_of)(rows, 8, n, to);
  }
#undef TREE_CASE
}

static inline void TREE_NAME(reduce_fold_rows)(TREE_NUMBER *rows, int apart, int width,
                                               TREE_NUMBER *to) {
  const TREE_NUMBER *at[8];
  while (apart > 1) {
    const int next = apart > 8 ? apart / 8 : 1, n = next * width, live = apart / next;
    for (int i = 0; i < live; i++) at[i] = rows + (int64_t)i * n;
    TREE_NAME(reduce_rows)(at, live, n, next > 1 ? rows : to);
    apart = next;
  }
}

/* ---- lines -------------------------------------------------------------------------------------
 */

/* A line of so many vectors, at most 16, the last of `last` numbers, as one vector. */
LANES_INLINE TREE_NAME(lanes)
    TREE_NAME(reduce_few)(const TREE_NUMBER *line, int vectors, int last) {
  const TREE_NAME(lanes) end = TREE_NAME(reduce_load_part)(line + (vectors - 1) * TREE_WIDTH, last);
  TREE_NAME(lanes) slot[8] = {end};
  SUM_UNROLL
  for (int v = 0; v < 8 && v < vectors; v++)
    slot[v] = v == vectors - 1 ? end : TREE_NAME(lanes_load)(line + v * TREE_WIDTH);
  SUM_UNROLL
  for (int v = 8; v < vectors; v++)
    slot[v - 8] += v == vectors - 1 ? end : TREE_NAME(lanes_load)(line + v * TREE_WIDTH);
  TREE_SLOTS(slot, vectors < 8 ? vectors : 8);
  return slot[0];
}

/* The first three halvings of a longer line: eight rows of `vectors` vectors, of which `live` are
 * whole and the next one has `more` numbers; what is missing is -0, which changes no sum. */
LANES_INLINE void TREE_NAME(reduce_eighths)(const TREE_NUMBER *line, int vectors, int live,
                                            int more, TREE_NAME(lanes) * to) {
  const int apart = vectors * TREE_WIDTH;
  for (int v = 0; v < vectors; v++, line += TREE_WIDTH) {
    const int left = more - v * TREE_WIDTH;
    TREE_NAME(lanes) slot[8] = {{0}};
    SUM_UNROLL
    for (int i = 0; i < live; i++) slot[i] = TREE_NAME(lanes_load)(line + i * apart);
    if (live < 8) {
      slot[live] = TREE_NAME(lanes_all)((TREE_NUMBER)-0.0);
      if (left >= TREE_WIDTH)
        slot[live] = TREE_NAME(lanes_load)(line + live * apart);
      else if (left > 0)
        slot[live] = TREE_NAME(reduce_load_part)(line + live * apart, left);
    }
    TREE_SLOTS(slot, live < 8 ? live + 1 : 8);
    to[v] = slot[0];
  }
}

/* A line of more than 16 vectors, n <= RUNG_SUM_LANES: its numbers are the lanes. */
LANES_OUTLINE TREE_NAME(lanes) TREE_NAME(reduce_many)(const TREE_NUMBER *line, int n) {
  TREE_NAME(lanes) folded[RUNG_SUM_LANES / 4 / TREE_WIDTH]; /* twice what is needed: 1 at least */
  int vectors = 1;
  while (8 * vectors * TREE_WIDTH < n) vectors *= 2;
  const int live = n / (vectors * TREE_WIDTH), more = n % (vectors * TREE_WIDTH);
#define TREE_CASE(live)                                           \
  case live:                                                      \
    TREE_NAME(reduce_eighths)(line, vectors, live, more, folded); \
    break;
  switch (live) {
    TREE_CASE(4)
    TREE_CASE(5)
    TREE_CASE(6)
    TREE_CASE(7)
    default:
      TREE_NAME(reduce_eighths)(line, vectors, 8, 0, folded);
  }
#undef TREE_CASE
  for (int half = vectors / 2; half > 0; half /= 2)
    for (int v = 0; v < half; v++) folded[v] += folded[v + half];
  return folded[0];
}

/* As many lines at a time as a vector has lanes, of `vectors` each; 0: of more than 16. */
LANES_INLINE void TREE_NAME(reduce_lines_of)(const TREE_NUMBER *in, int64_t step, int count,
                                             int vectors, int n, TREE_NUMBER *sums) {
  const int last = n - (vectors - 1) * TREE_WIDTH;
  for (int at = 0; at < count; at += TREE_WIDTH) {
    const int left = count - at, lines = left < TREE_WIDTH ? left : TREE_WIDTH;
    TREE_NAME(lanes) v[TREE_WIDTH];
    if (vectors > 0 && vectors <= 4 && lines == TREE_WIDTH) {
#pragma GCC unroll 16
      for (int l = 0; l < TREE_WIDTH; l++, in += step)
        v[l] = TREE_NAME(reduce_few)(in, vectors, last);
      TREE_NAME(lanes_store)(sums + at, TREE_NAME(reduce_exchange)(v));
      continue;
    }
    for (int l = 0; l < lines; l++, in += step) {
      /* Memory gives the next line in its order, however this one is read meanwhile; one that would
       * fill half of the first-level cache, into the second. */
      const char *next = (const char *)(in + step);
      const int bytes = vectors == 0 && at + l + 1 < count ? n * (int)sizeof *in : 0;
      for (int b = 0; b < bytes && bytes <= TREE_NEAR; b += 64) __builtin_prefetch(next + b, 0, 3);
      for (int b = 0; b < bytes && bytes > TREE_NEAR; b += 64) __builtin_prefetch(next + b, 0, 2);
      v[l] = vectors > 0 ? TREE_NAME(reduce_few)(in, vectors, last) : TREE_NAME(reduce_many)(in, n);
    }
    for (int l = lines; l < TREE_WIDTH; l++) v[l] = v[0];
    const TREE_NAME(lanes) sum = TREE_NAME(reduce_exchange)(v);
    if (lines == TREE_WIDTH)
      TREE_NAME(lanes_store)(sums + at, sum);
    else
      for (int l = 0; l < lines; l++) sums[at + l] = sum[l];
  }
}

/* Lines of 2, 4 or 8 numbers, at most a vector's, without gaps between them, as many at a time as a
 * vector has lanes: their vectors hold nothing else. How many lines there were. */
LANES_INLINE int TREE_NAME(reduce_packed)(const TREE_NUMBER *in, int count, int n,
                                          TREE_NUMBER *sums) {
  int at = 0;
  for (; at + TREE_WIDTH <= count; at += TREE_WIDTH) {
    TREE_NAME(lanes) v[8];
    SUM_UNROLL
    for (int i = 0; i < n; i++, in += TREE_WIDTH) v[i] = TREE_NAME(lanes_load)(in);
    if (n == 8) TREE_HALVED(v, 4)
    if (n >= 4) TREE_HALVED(v, 2)
    TREE_HALVED(v, 1)
    TREE_NAME(lanes_store)(sums + at, v[0]);
  }
  return at;
}

static void TREE_NAME(reduce_lines)(const TREE_NUMBER *in, int64_t step, int count, int n,
                                    TREE_NUMBER *sums) {
  const bool packed = step == n && n <= TREE_WIDTH;
  int done = 0;
  if (packed && n == 2) done = TREE_NAME(reduce_packed)(in, count, 2, sums);
  if (packed && n == 4) done = TREE_NAME(reduce_packed)(in, count, 4, sums);
  if (packed && n == 8) done = TREE_NAME(reduce_packed)(in, count, 8, sums);
  in += done * step;
  sums += done;
  count -= done;
#define TREE_CASE(vectors)                                         \
  case vectors:                                                    \
    TREE_NAME(reduce_lines_of)(in, step, count, vectors, n, sums); \
    break;
  switch ((n + TREE_WIDTH - 1) / TREE_WIDTH) {
    TREE_CASE(1)
    TREE_CASE(2)
    TREE_CASE(3)
    TREE_CASE(4)
    TREE_CASE(5)
    TREE_CASE(6)
    TREE_CASE(7)
    TREE_CASE(8)
    TREE_CASE(9)
    TREE_CASE(10)
    TREE_CASE(11)
    TREE_CASE(12)
    TREE_CASE(13)
    TREE_CASE(14)
    TREE_CASE(15)
    TREE_CASE(16)
    default:
      TREE_NAME(reduce_lines_of)(in, step, count, 0, n, sums);
  }
#undef TREE_CASE
}
