/* The functions of sum.h for one element type: included by sum.h and fold.h alone, once per type.
 * SUM_CONVERT(x): elements are no numbers that can be added, but become floats by it. */

#ifdef SUM_CONVERT

/* The sum of one tile of 1 ... RUNG_SUM_TILE elements: a row is converted, then added. */
static inline float SUM_NAME(reduce_sum_tile)(const SUM_ELEMENT *tile, int count) {
  float lanes[RUNG_SUM_LANES] __attribute__((aligned(64))), row[RUNG_SUM_LANES];
  for (int l = 0; l < RUNG_SUM_LANES && l < count; ++l) lanes[l] = SUM_CONVERT(tile[l]);
  for (int first = RUNG_SUM_LANES; first < count; first += RUNG_SUM_LANES) {
    const int left = count - first, n = left < RUNG_SUM_LANES ? left : RUNG_SUM_LANES;
    for (int l = 0; l < n; ++l) row[l] = SUM_CONVERT(tile[first + l]);
    for (int l = 0; l < n; ++l) lanes[l] += row[l];
  }
  return count < RUNG_SUM_LANES ? SUM_FOLD(lanes, count) : reduce_fold_all_lanes_f32(lanes);
}

#else

/* Adds `rows` >= 1 whole rows of lanes, strip by strip: eight vectors of sums at a time, which
 * leaves half of 16 registers to the loads under way. */
static inline void SUM_NAME(reduce_whole_rows)(const SUM_ELEMENT *tile, int rows,
                                               SUM_ELEMENT *lanes) {
  enum { VECTORS = 8, STRIP = VECTORS * SUM_WIDTH };
  for (int first = 0; first < RUNG_SUM_LANES; first += STRIP) {
    const SUM_ELEMENT *at = tile + first;
    SUM_NAME(lanes) sums[VECTORS];
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; ++v) sums[v] = SUM_NAME(lanes_load)(at + v * SUM_WIDTH);
    for (int row = 1; row < rows; ++row) {
      at += RUNG_SUM_LANES;
#pragma GCC unroll 8
      for (int v = 0; v < VECTORS; ++v) sums[v] += SUM_NAME(lanes_load)(at + v * SUM_WIDTH);
    }
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; ++v) SUM_NAME(lanes_store)(lanes + first + v * SUM_WIDTH, sums[v]);
  }
}

/* Folds the first `live` lanes by halves; the others are missing, so additions of them are left
 * out. */
static inline SUM_ELEMENT SUM_NAME(reduce_fold_lanes)(SUM_ELEMENT *lanes, int live) {
  for (int s = RUNG_SUM_LANES / 2; s > 0; s /= 2) {
    for (int l = 0; l < live - s; ++l) lanes[l] += lanes[l + s];
    if (live > s) live = s;
  }
  return lanes[0];
}

/* The same where no lane is missing: the first three halvings of a lane meet in registers. */
static inline SUM_ELEMENT SUM_NAME(reduce_fold_all_lanes)(SUM_ELEMENT *lanes) {
  enum { EIGHTH = RUNG_SUM_LANES / 8 };
  for (int l = 0; l < EIGHTH; l += SUM_WIDTH) {
    SUM_NAME(lanes) part[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) part[j] = SUM_NAME(lanes_load)(lanes + l + j * EIGHTH);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) part[j] += part[j + 4];
    part[0] += part[2];
    part[1] += part[3];
    SUM_NAME(lanes_store)(lanes + l, part[0] + part[1]);
  }
  for (int s = EIGHTH / 2; s >= SUM_WIDTH; s /= 2)
    for (int l = 0; l < s; l += SUM_WIDTH) {
      const SUM_NAME(lanes) low = SUM_NAME(lanes_load)(lanes + l);
      SUM_NAME(lanes_store)(lanes + l, low + SUM_NAME(lanes_load)(lanes + l + s));
    }
  return SUM_NAME(reduce_fold_lanes)(lanes, SUM_WIDTH);
}

/* The sum of one tile of 1 ... RUNG_SUM_TILE elements. */
static inline SUM_ELEMENT SUM_NAME(reduce_sum_tile)(const SUM_ELEMENT *tile, int count) {
  SUM_ELEMENT lanes[RUNG_SUM_LANES] __attribute__((aligned(64)));
  const int rows = count / RUNG_SUM_LANES, rest = count % RUNG_SUM_LANES;
  const SUM_ELEMENT *last = tile + rows * RUNG_SUM_LANES;
  if (rows == 0) {
    for (int l = 0; l < rest; ++l) lanes[l] = last[l];
    return SUM_NAME(reduce_fold_lanes)(lanes, rest);
  }
  SUM_NAME(reduce_whole_rows)(tile, rows, lanes);
  for (int l = 0; l < rest; ++l) lanes[l] += last[l];
  return SUM_NAME(reduce_fold_all_lanes)(lanes);
}

#endif

/* The sum of a line of any length. A line of more than one tile is cut into parts of `part` =
 * RUNG_SUM_TILE^k elements, so that their sums are the one tile of the highest level. */
static inline SUM_NUMBER SUM_NAME(reduce_sum)(const SUM_ELEMENT *line, int64_t n) {
  if (n <= RUNG_SUM_TILE) return SUM_NAME(reduce_sum_tile)(line, (int)n);
  SUM_NUMBER lanes[RUNG_SUM_LANES];
  int64_t part = RUNG_SUM_TILE;
  while ((n - 1) / RUNG_SUM_TILE >= part) part *= RUNG_SUM_TILE;
  int parts = 0;
  for (int64_t done = 0; done < n; done += part, ++parts) {
    const int64_t left = n - done;
    const SUM_NUMBER sum = SUM_NAME(reduce_sum)(line + done, left < part ? left : part);
    SUM_NUMBER *lane = &lanes[parts % RUNG_SUM_LANES];
    *lane = parts < RUNG_SUM_LANES ? sum : *lane + sum;
  }
  return SUM_FOLD(lanes, parts < RUNG_SUM_LANES ? parts : RUNG_SUM_LANES);
}
