/* The functions of fold.h for one reduce_operator: included by fold.h alone, once for each. */

#if REDUCE_ORDERED

static void REDUCE_NAME(reduce_line)(const void *in, int64_t n, const rung_key_code *key,
                                     void *partial) {
  (void)key;
  *(REDUCE_PARTIAL *)partial =
      n > 0 ? REDUCE_NAME(reduce_sum)((const REDUCE_IN *)in, n) : (REDUCE_PARTIAL)0;
}

/* Lines side by side, and how they are summed: number `i` of level 0 is row i, of level 1 the sum
 * of tile i of the rows, of level 2 that of tile i of those sums ... */
typedef struct REDUCE_NAME(reduce_rows) {
  const REDUCE_IN *in;
  int64_t step, n; /* numbers of the level below `level` in all */
  int width;
} REDUCE_NAME(reduce_rows);

static void REDUCE_NAME(reduce_number)(const REDUCE_NAME(reduce_rows) * rows, int level, int64_t i,
                                       REDUCE_PARTIAL *sums);

/* What lane `lane` holds once the lanes of a tile were folded down to `apart`: it has taken in the
 * lanes `apart`, twice `apart` ... further on. Going down first and folding on the way back needs
 * one strip a halving, where folding level by level needs 2048. `first` and `count`: where the tile
 * lies among the numbers of the level below. */
static void REDUCE_NAME(reduce_lane)(const REDUCE_NAME(reduce_rows) * rows, int level,
                                     int64_t first, int64_t count, int lane, int apart,
                                     REDUCE_PARTIAL *sums) {
  REDUCE_PARTIAL more[REDUCE_STRIP];
  const int width = rows->width;
  if (apart == RUNG_SUM_LANES) {
    REDUCE_NAME(reduce_number)(rows, level - 1, first + lane, sums);
    for (int64_t k = lane + RUNG_SUM_LANES; k < count; k += RUNG_SUM_LANES) {
      REDUCE_NAME(reduce_number)(rows, level - 1, first + k, more);
      for (int w = 0; w < width; ++w) sums[w] += more[w];
    }
    return;
  }
  REDUCE_NAME(reduce_lane)(rows, level, first, count, lane, 2 * apart, sums);
  if (lane + apart >= count) return;
  REDUCE_NAME(reduce_lane)(rows, level, first, count, lane + apart, 2 * apart, more);
  for (int w = 0; w < width; ++w) sums[w] += more[w];
}

static void REDUCE_NAME(reduce_number)(const REDUCE_NAME(reduce_rows) * rows, int level, int64_t i,
                                       REDUCE_PARTIAL *sums) {
  if (level == 0) {
    const REDUCE_IN *row = rows->in + i * rows->step;
    for (int w = 0; w < rows->width; ++w) sums[w] = REDUCE_LOAD(row[w]);
    return;
  }
  int64_t below = rows->n;
  for (int l = 1; l < level; ++l) below = (below + RUNG_SUM_TILE - 1) / RUNG_SUM_TILE;
  const int64_t first = i * RUNG_SUM_TILE, left = below - first;
  const int64_t count = left < RUNG_SUM_TILE ? left : RUNG_SUM_TILE;
  REDUCE_NAME(reduce_lane)(rows, level, first, count, 0, 1, sums);
}

static void REDUCE_NAME(reduce_across)(const void *in, int64_t step, int64_t n, int width,
                                       const rung_key_code *key, void *partials) {
  const REDUCE_NAME(reduce_rows) rows = {(const REDUCE_IN *)in, step, n, width};
  REDUCE_PARTIAL *sums = (REDUCE_PARTIAL *)partials;
  int level = 0;
  (void)key;
  for (int w = 0; w < width && n == 0; ++w) sums[w] = 0;
  for (int64_t left = n; left > 1; left = (left + RUNG_SUM_TILE - 1) / RUNG_SUM_TILE) ++level;
  if (n > 0) REDUCE_NAME(reduce_number)(&rows, level, 0, sums);
}

#else

/* Of integers, in any order: the compiler's to make vectors of, unless an operator has a way of its
 * own to take a tile. */
#ifndef REDUCE_TILE
static inline REDUCE_RUNNING REDUCE_NAME(reduce_tile)(const REDUCE_IN *tile, int count,
                                                      const rung_key_code *code) {
  const rung_key_code key = *code;
  REDUCE_RUNNING all = REDUCE_IDENTITY;
  for (int k = 0; k < count; ++k) {
    const REDUCE_RUNNING x = REDUCE_LOAD(tile[k], &key);
    all = REDUCE_COMBINE(all, x);
  }
  return all;
}
#define REDUCE_TILE(tile, count, key) REDUCE_NAME(reduce_tile)(tile, count, key)
#endif

static void REDUCE_NAME(reduce_line)(const void *in, int64_t n, const rung_key_code *key,
                                     void *partial) {
  REDUCE_PARTIAL all = REDUCE_IDENTITY;
  for (int64_t first = 0; first < n; first += RUNG_SUM_TILE) {
    const REDUCE_IN *tile = (const REDUCE_IN *)in + first;
    const int64_t left = n - first;
    const int count = left < RUNG_SUM_TILE ? (int)left : RUNG_SUM_TILE;
    const REDUCE_PARTIAL piece = REDUCE_TILE(tile, count, key);
    all = REDUCE_COMBINE(all, piece);
  }
  *(REDUCE_PARTIAL *)partial = all;
}

static void REDUCE_NAME(reduce_across)(const void *in, int64_t step, int64_t n, int width,
                                       const rung_key_code *code, void *partials) {
  const rung_key_code key = *code;
  REDUCE_PARTIAL *all = (REDUCE_PARTIAL *)partials;
  (void)key;
  for (int w = 0; w < width; ++w) all[w] = REDUCE_IDENTITY;
  for (int64_t k = 0; k < n; ++k) {
    const REDUCE_IN *row = (const REDUCE_IN *)in + k * step;
    for (int w = 0; w < width; ++w) {
      const REDUCE_PARTIAL x = REDUCE_LOAD(row[w], &key);
      all[w] = REDUCE_COMBINE(all[w], x);
    }
  }
}

#undef REDUCE_TILE
#endif

#undef REDUCE_NAME
#undef REDUCE_IN
