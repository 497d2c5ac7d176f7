/* The functions of line.h for one element type: included by line.h and fold.h alone, once per type.
 * SUM_BFLOAT, defined of halves alone, which are added up as floats: whether they are bf16. */

#ifdef SUM_BFLOAT

static inline void SUM_NAME(reduce_widen)(const SUM_ELEMENT *from, int n, float *to) {
  lanes_widen_halves(from, n, SUM_BFLOAT, to);
}
/* n halves added to as many floats. */
static inline void SUM_NAME(reduce_add)(const SUM_ELEMENT *from, int n, float *to) {
  int l = 0;
  for (; l + LANES_F32 <= n; l += LANES_F32)
    lanes_store_f32(to + l, lanes_load_f32(to + l) + lanes_of_half(from + l, SUM_BFLOAT));
  for (; l < n; ++l) to[l] += rung_half_to_f32(from[l], SUM_BFLOAT);
}

/* The sum of one tile of 1 ... RUNG_SUM_TILE elements. */
LANES_OUTLINE float SUM_NAME(reduce_sum_tile)(const SUM_ELEMENT *tile, int count, bool far) {
  (void)far;
  float lanes[RUNG_SUM_LANES] __attribute__((aligned(64)));
  SUM_NAME(reduce_widen)(tile, count < RUNG_SUM_LANES ? count : RUNG_SUM_LANES, lanes);
  for (int first = RUNG_SUM_LANES; first < count; first += RUNG_SUM_LANES) {
    const int left = count - first;
    SUM_NAME(reduce_add)(tile + first, left < RUNG_SUM_LANES ? left : RUNG_SUM_LANES, lanes);
  }
  return count < RUNG_SUM_LANES ? SUM_FOLD(lanes, count) : reduce_fold_all_lanes_f32(lanes);
}

#else

/* A vector of up to eight rows, `row` from each to the next, added to what is there. */
LANES_INLINE SUM_NAME(lanes) SUM_NAME(reduce_chain_at)(const SUM_ELEMENT *from, int64_t row,
                                                       int rows, bool more, const SUM_ELEMENT *to) {
  SUM_NAME(lanes) sum = SUM_NAME(lanes_load)(from);
  if (more) sum = SUM_NAME(lanes_load)(to) + sum;
  SUM_UNROLL
  for (int k = 1; k < rows; k++) sum += SUM_NAME(lanes_load)(from + k * row);
  return sum;
}

/* Adds `rows` of at least a vector's n numbers to what is there, or makes it, and asks for what
 * lies `ahead` of them, if not 0. Vectors lie to memory as its lines do: those at the ends, which
 * need not, are found before anything is stored, and stored last. */
LANES_INLINE void SUM_NAME(reduce_chain_of)(const SUM_ELEMENT *from, int64_t row, int rows,
                                            bool more, int64_t ahead, int n, SUM_ELEMENT *to) {
  const int last = n - SUM_WIDTH;
  const SUM_ELEMENT *next = from + ahead;
  const SUM_NAME(lanes) begins = SUM_NAME(reduce_chain_at)(from, row, rows, more, to);
  const SUM_NAME(lanes) ends = SUM_NAME(reduce_chain_at)(from + last, row, rows, more, to + last);
  for (int w = LANES_HEAD(from); w <= last; w += SUM_WIDTH) {
    SUM_UNROLL
    for (int k = 0; k < rows && ahead > 0; k++) __builtin_prefetch(next + k * row + w, 0, 2);
    SUM_NAME(lanes_store)(to + w, SUM_NAME(reduce_chain_at)(from + w, row, rows, more, to + w));
  }
  SUM_NAME(lanes_store)(to, begins);
  SUM_NAME(lanes_store)(to + last, ends);
}

/* Up to eight at a time: a few rows read side by side come faster than one after the other, and a
 * sum is loaded and stored once for all of them. */
LANES_OUTLINE __attribute__((unused)) void SUM_NAME(reduce_chain)(const SUM_ELEMENT *from,
                                                                  int64_t row, int rows,
                                                                  int64_t ahead, int n,
                                                                  SUM_ELEMENT *to) {
#define SUM_CASE(rows)                                                                      \
  case rows:                                                                                \
    SUM_NAME(reduce_chain_of)(from, row, rows, r > 0, LANES_BYTES > 16 ? ahead : 0, n, to); \
    break;
  for (int w = 0; w < n && n < SUM_WIDTH; w++) {
    to[w] = from[w];
    for (int r = 1; r < rows; r++) to[w] += from[r * row + w];
  }
  for (int r = 0, now; r < rows && n >= SUM_WIDTH; r += now, from += now * row) {
    now = rows > 8 && r == 0 ? (rows + 1) / 2 : rows - r;
    switch (now) {
      SUM_CASE(1)
      SUM_CASE(2)
      SUM_CASE(3)
      SUM_CASE(4)
      SUM_CASE(5)
      SUM_CASE(6)
      SUM_CASE(7)
      SUM_CASE(8)
    }
  }
#undef SUM_CASE
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

/* The sum of one tile of 1 ... RUNG_SUM_TILE elements. The lanes lie to memory as the tile does. */
LANES_OUTLINE SUM_ELEMENT SUM_NAME(reduce_sum_tile)(const SUM_ELEMENT *tile, int count, bool far) {
  SUM_ELEMENT room[RUNG_SUM_LANES + SUM_WIDTH] __attribute__((aligned(64)));
  SUM_ELEMENT *const lanes = room + SUM_WIDTH - LANES_HEAD(tile);
  const int rows = count / RUNG_SUM_LANES, rest = count % RUNG_SUM_LANES;
  const SUM_ELEMENT *last = tile + rows * RUNG_SUM_LANES;
  if (rows == 0) {
    for (int l = 0; l < rest; ++l) lanes[l] = last[l];
    return SUM_NAME(reduce_fold_lanes)(lanes, rest);
  }
  const int64_t ahead = SUM_AHEAD((rows > 8 ? (rows + 1) / 2 : rows) * RUNG_SUM_LANES);
  SUM_NAME(reduce_chain)(tile, RUNG_SUM_LANES, rows, far ? ahead : 0, RUNG_SUM_LANES, lanes);
  for (int l = 0; l < rest && far; l += SUM_WIDTH)
    __builtin_prefetch(last + SUM_AHEAD(0) + l, 0, 2);
  for (int l = 0; l < rest; ++l) lanes[l] += last[l];
  return SUM_NAME(reduce_fold_all_lanes)(lanes);
}

#endif

/* The sum of a line of any length. A line of more than one tile is cut into parts of `part` =
 * RUNG_SUM_TILE^k elements, so that their sums are the one tile of the highest level. */
static inline SUM_NUMBER SUM_NAME(reduce_sum)(const SUM_ELEMENT *line, int64_t n, bool far) {
  if (n <= RUNG_SUM_TILE) return SUM_NAME(reduce_sum_tile)(line, (int)n, far);
  SUM_NUMBER lanes[RUNG_SUM_LANES];
  int64_t part = RUNG_SUM_TILE;
  while ((n - 1) / RUNG_SUM_TILE >= part) part *= RUNG_SUM_TILE;
  int parts = 0;
  for (int64_t done = 0; done < n; done += part, ++parts) {
    const int64_t left = n - done;
    const SUM_NUMBER sum = SUM_NAME(reduce_sum)(line + done, left < part ? left : part, far);
    SUM_NUMBER *lane = &lanes[parts % RUNG_SUM_LANES];
    *lane = parts < RUNG_SUM_LANES ? sum : *lane + sum;
  }
  return SUM_FOLD(lanes, parts < RUNG_SUM_LANES ? parts : RUNG_SUM_LANES);
}
