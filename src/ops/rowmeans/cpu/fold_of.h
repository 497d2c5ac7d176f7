/* The functions of fold.h for one element type: included by fold.h alone, once per type. */

/* Adds `rows` >= 1 whole rows of lanes, strip by strip: eight vectors of sums at a time, which
 * leaves half of 16 registers to the loads under way. */
static inline void ROWMEANS_NAME(rowmeans_whole_rows)(const ROWMEANS_ELEMENT *tile, int rows,
                                                      ROWMEANS_ELEMENT *lanes) {
  enum { VECTORS = 8, STRIP = VECTORS * ROWMEANS_WIDTH };
  for (int first = 0; first < RUNG_SUM_LANES; first += STRIP) {
    const ROWMEANS_ELEMENT *at = tile + first;
    ROWMEANS_NAME(lanes) sums[VECTORS];
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; ++v) sums[v] = ROWMEANS_NAME(lanes_load)(at + v * ROWMEANS_WIDTH);
    for (int row = 1; row < rows; ++row) {
      at += RUNG_SUM_LANES;
#pragma GCC unroll 8
      for (int v = 0; v < VECTORS; ++v)
        sums[v] += ROWMEANS_NAME(lanes_load)(at + v * ROWMEANS_WIDTH);
    }
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; ++v)
      ROWMEANS_NAME(lanes_store)(lanes + first + v * ROWMEANS_WIDTH, sums[v]);
  }
}

/* Folds the first `live` lanes by halves; the others are missing, so additions of them are left
 * out. */
static inline ROWMEANS_ELEMENT ROWMEANS_NAME(rowmeans_fold)(ROWMEANS_ELEMENT *lanes, int live) {
  for (int s = RUNG_SUM_LANES / 2; s > 0; s /= 2) {
    for (int l = 0; l < live - s; ++l) lanes[l] += lanes[l + s];
    if (live > s) live = s;
  }
  return lanes[0];
}

/* The same where no lane is missing: the first three halvings of a lane meet in registers. */
static inline ROWMEANS_ELEMENT ROWMEANS_NAME(rowmeans_fold_all)(ROWMEANS_ELEMENT *lanes) {
  enum { EIGHTH = RUNG_SUM_LANES / 8 };
  for (int l = 0; l < EIGHTH; l += ROWMEANS_WIDTH) {
    ROWMEANS_NAME(lanes) part[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) part[j] = ROWMEANS_NAME(lanes_load)(lanes + l + j * EIGHTH);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) part[j] += part[j + 4];
    part[0] += part[2];
    part[1] += part[3];
    ROWMEANS_NAME(lanes_store)(lanes + l, part[0] + part[1]);
  }
  for (int s = EIGHTH / 2; s >= ROWMEANS_WIDTH; s /= 2)
    for (int l = 0; l < s; l += ROWMEANS_WIDTH) {
      const ROWMEANS_NAME(lanes) low = ROWMEANS_NAME(lanes_load)(lanes + l);
      ROWMEANS_NAME(lanes_store)(lanes + l, low + ROWMEANS_NAME(lanes_load)(lanes + l + s));
    }
  return ROWMEANS_NAME(rowmeans_fold)(lanes, ROWMEANS_WIDTH);
}

/* The sum of one tile of 1 ... RUNG_SUM_TILE elements. */
static inline ROWMEANS_ELEMENT ROWMEANS_NAME(rowmeans_tile)(const ROWMEANS_ELEMENT *tile,
                                                            int count) {
  ROWMEANS_ELEMENT lanes[RUNG_SUM_LANES] __attribute__((aligned(64)));
  const int rows = count / RUNG_SUM_LANES, rest = count % RUNG_SUM_LANES;
  const ROWMEANS_ELEMENT *last = tile + rows * RUNG_SUM_LANES;
  if (rows == 0) {
    for (int l = 0; l < rest; ++l) lanes[l] = last[l];
    return ROWMEANS_NAME(rowmeans_fold)(lanes, rest);
  }
  ROWMEANS_NAME(rowmeans_whole_rows)(tile, rows, lanes);
  for (int l = 0; l < rest; ++l) lanes[l] += last[l];
  return ROWMEANS_NAME(rowmeans_fold_all)(lanes);
}

/* The sum of a row of any length. A row of more than one tile is cut into parts of `part` =
 * RUNG_SUM_TILE^k elements, so that their sums are the one tile of the highest level. */
static inline ROWMEANS_ELEMENT ROWMEANS_NAME(rowmeans_sum)(const ROWMEANS_ELEMENT *row,
                                                           int64_t columns) {
  if (columns <= RUNG_SUM_TILE) return ROWMEANS_NAME(rowmeans_tile)(row, (int)columns);
  ROWMEANS_ELEMENT lanes[RUNG_SUM_LANES];
  int64_t part = RUNG_SUM_TILE;
  while ((columns - 1) / RUNG_SUM_TILE >= part) part *= RUNG_SUM_TILE;
  int parts = 0;
  for (int64_t done = 0; done < columns; done += part, ++parts) {
    const int64_t left = columns - done;
    const ROWMEANS_ELEMENT sum = ROWMEANS_NAME(rowmeans_sum)(row + done, left < part ? left : part);
    ROWMEANS_ELEMENT *lane = &lanes[parts % RUNG_SUM_LANES];
    *lane = parts < RUNG_SUM_LANES ? sum : *lane + sum;
  }
  return ROWMEANS_NAME(rowmeans_fold)(lanes, parts < RUNG_SUM_LANES ? parts : RUNG_SUM_LANES);
}

static inline ROWMEANS_ELEMENT ROWMEANS_NAME(rowmeans_mean)(ROWMEANS_ELEMENT sum, int64_t columns) {
  return (ROWMEANS_ELEMENT)((double)sum / (double)columns);
}
