/* The functions of fold.h for one reduce_operator: included by fold.h alone, once for each. */

#if REDUCE_ORDERED

/* Lines side by side, of at most a tile: the lanes of all of them, and which rows they add up. */
typedef struct REDUCE_NAME(reduce_tile) {
  const REDUCE_IN *in;
  int64_t step;   /* from row to row */
  int apart;      /* lanes that the first fold leaves: an eighth, or 1 */
  int rows;       /* of a lane, */
  int live, more; /* which so many have; in eighths, and lanes of an eighth that are one more */
  int64_t piece;  /* numbers of each of the sums */
  bool far;       /* it comes from memory, so that the next lane's rows are asked for */
  REDUCE_PARTIAL *sums;
} REDUCE_NAME(reduce_tile);

#if REDUCE_CONVERTED
/* Rows one after the other. */
static void REDUCE_NAME(reduce_chain)(const REDUCE_IN *from, int64_t row, int rows, int64_t ahead,
                                      int n, REDUCE_PARTIAL *sum) {
  (void)ahead;
  REDUCE_NAME(reduce_widen)(from, n, sum);
  for (int r = 1; r < rows; ++r) REDUCE_NAME(reduce_add)(from + r * row, n, sum);
}
#endif

/* n numbers from `at` on, `live` of eight lanes that lie `apart` rows from each other having all
 * rows, the others one less. Row by row into a lane's sums, then the lanes' to one. */
static void REDUCE_NAME(reduce_piece)(const REDUCE_NAME(reduce_tile) * tile, int64_t at, int live,
                                      int n, REDUCE_PARTIAL *to) {
  const int64_t row = RUNG_SUM_LANES * tile->step, block = tile->apart * tile->step;
  const int all = tile->rows > 1 ? RUNG_SUM_LANES / tile->apart : live;
  const REDUCE_PARTIAL *lanes[8];
  for (int i = 0; i < all; ++i) {
    const REDUCE_IN *from = tile->in + at + i * block;
    const int rows = i < live ? tile->rows : tile->rows - 1;
#if !REDUCE_CONVERTED
    if (rows == 1) {
      lanes[i] = from;
      continue;
    }
#endif
    REDUCE_PARTIAL *sum = tile->sums + i * tile->piece;
    REDUCE_NAME(reduce_chain)(from, row, rows, tile->far && i + 1 < all ? block : 0, n, sum);
    lanes[i] = sum;
  }
  REDUCE_FOLDED(reduce_rows)(lanes, all, n, to);
}

/* The same of eight times as many lanes, `eighths` of which remain: at the places `first`, `first +
 * apart` ..., `unit` elements each. Lanes at places before `until` have one more to fold. */
static void REDUCE_NAME(reduce_pieces)(const REDUCE_NAME(reduce_tile) * tile, int eighths,
                                       int64_t unit, int first, int apart, int until, int n,
                                       REDUCE_PARTIAL *to) {
  REDUCE_PARTIAL *sums = tile->sums + 8 * tile->piece;
  const REDUCE_PARTIAL *lanes[8];
  for (int b = 0; b < eighths; ++b) {
    const int place = first + b * apart, live = tile->live + (place < until);
    REDUCE_PARTIAL *sum = eighths > 1 ? sums + b * tile->piece : to;
    REDUCE_NAME(reduce_piece)(tile, place * unit, live, n, sum);
    lanes[b] = sum;
  }
  if (eighths > 1) REDUCE_FOLDED(reduce_rows)(lanes, eighths, n, to);
}

static REDUCE_NAME(reduce_tile)
    REDUCE_NAME(reduce_tile_of)(const REDUCE_IN *in, int64_t step, int count, int width, bool far,
                                REDUCE_PARTIAL *room) {
  const int rows = (count + RUNG_SUM_LANES - 1) / RUNG_SUM_LANES;
  const int rest = count - (rows - 1) * RUNG_SUM_LANES;
  int lanes = 1;
  while (lanes < count && lanes < RUNG_SUM_LANES) lanes *= 2;
  const int apart = lanes > 8 ? lanes / 8 : 1;
  const int64_t piece = reduce_piece(count, width, sizeof *room);
  return (REDUCE_NAME(reduce_tile)){.in = in,
                                    .step = step,
                                    .apart = apart,
                                    .rows = rows,
                                    .live = rest / apart,
                                    .more = rest % apart,
                                    .piece = piece,
                                    .far = far,
                                    .sums = room};
}

/* Where rows follow each other without gaps, neighbouring lanes are as good as neighbouring lines:
 * the numbers from `first` to `end` of the row that `left` lanes of all lines make. */
static void REDUCE_NAME(reduce_long_row)(const REDUCE_NAME(reduce_tile) * tile, int left, int width,
                                         int first, int end, REDUCE_PARTIAL *to) {
  const int all = left * width, until = tile->more * width, cut = until % all;
  for (int at = first, n; at < end; at += n) {
    n = (at < cut && cut < end ? cut : end) - at;
    if (n > tile->piece) n = (int)tile->piece;
    REDUCE_NAME(reduce_pieces)(tile, tile->apart / left, 1, at, all, until, n, to + at);
  }
}

/* One tile: count <= RUNG_SUM_TILE. */
static void REDUCE_NAME(reduce_rows_of_tile)(const REDUCE_IN *in, int64_t step, int count,
                                             int width, bool far, REDUCE_PARTIAL *room,
                                             REDUCE_PARTIAL *to) {
  const REDUCE_NAME(reduce_tile) tile =
      REDUCE_NAME(reduce_tile_of)(in, step, count, width, far, room);
  const int left = reduce_left(count, width, sizeof *room);
  REDUCE_PARTIAL *folded = room + 16 * tile.piece, *first = left > 1 ? folded : to;
  if (step == width) {
    REDUCE_NAME(reduce_long_row)(&tile, left, width, 0, left * width, first);
  } else {
    for (int j = 0; j < left; ++j) {
      REDUCE_PARTIAL *sums = first + (int64_t)j * width;
      REDUCE_NAME(reduce_pieces)
      (&tile, tile.apart / left, step, j, left, tile.more, width, sums);
    }
  }
  REDUCE_FOLDED(reduce_fold_rows)(folded, left, width, to);
}

static void REDUCE_NAME(reduce_shares)(const void *in, int64_t n, int width, int64_t first,
                                       int64_t count, bool far, const rung_key_code *key,
                                       void *room, void *row) {
  const REDUCE_NAME(reduce_tile) tile = REDUCE_NAME(reduce_tile_of)(
      (const REDUCE_IN *)in, width, (int)n, width, far, (REDUCE_PARTIAL *)room);
  const int left = reduce_left(n, width, sizeof(REDUCE_PARTIAL));
  (void)key;
  REDUCE_NAME(reduce_long_row)
  (&tile, left, width, (int)first, (int)(first + count), (REDUCE_PARTIAL *)row);
}

static void REDUCE_NAME(reduce_across)(const void *in, int64_t step, int64_t n, int width, bool far,
                                       const rung_key_code *key, void *room, void *partials) {
  const REDUCE_IN *rows = (const REDUCE_IN *)in;
  REDUCE_PARTIAL *sums = (REDUCE_PARTIAL *)partials;
  (void)key;
  for (int w = 0; w < width && n == 0; ++w) sums[w] = 0;
  if (n == 0) return;
  REDUCE_NAME(reduce_rows_of_tile)(rows, step, (int)n, width, far, (REDUCE_PARTIAL *)room, sums);
}

#if REDUCE_CONVERTED
/* Lines short enough are made numbers first, as many as fit. */
static void REDUCE_NAME(reduce_lines)(const void *in, int64_t step, int count, int64_t n, bool far,
                                      const rung_key_code *key, void *partials) {
  enum { NUMBERS = 2 * RUNG_SUM_LANES };
  REDUCE_PARTIAL numbers[NUMBERS], *sums = (REDUCE_PARTIAL *)partials;
  const REDUCE_IN *line = (const REDUCE_IN *)in;
  (void)key;
  if (n == 0 || n > RUNG_SUM_LANES) {
    for (int l = 0; l < count; ++l, line += step)
      sums[l] = n > 0 ? REDUCE_NAME(reduce_sum)(line, n, far) : (REDUCE_PARTIAL)0;
    return;
  }
  const int most = NUMBERS / (int)n;
  for (int done = 0; done < count; done += most) {
    const int now = count - done < most ? count - done : most;
    const int pieces = step == n ? 1 : now, length = step == n ? now * (int)n : (int)n;
    for (int p = 0; p < pieces; ++p, line += step == n ? length : step)
      REDUCE_NAME(reduce_widen)(line, length, numbers + p * length);
    REDUCE_FOLDED(reduce_lines)(numbers, n, now, (int)n, sums + done);
  }
}
#else
static void REDUCE_NAME(reduce_lines_any)(const void *in, int64_t step, int count, int64_t n,
                                          bool far, const rung_key_code *key, void *partials) {
  const REDUCE_IN *line = (const REDUCE_IN *)in;
  REDUCE_PARTIAL *sums = (REDUCE_PARTIAL *)partials;
  (void)key;
  if (n == 1 && step == 1) {
    memcpy(sums, line, (size_t)count * sizeof *sums);
    return;
  }
  if (n > 0 && n <= RUNG_SUM_LANES) {
    REDUCE_FOLDED(reduce_lines)(line, step, count, (int)n, sums);
    return;
  }
  for (int l = 0; l < count; ++l, line += step)
    sums[l] = n > 0 ? REDUCE_NAME(reduce_sum)(line, n, far) : (REDUCE_PARTIAL)0;
}
#endif

#if !REDUCE_CONVERTED
/* n numbers of a row of a tile's, to the lanes, whose first they are or to which they are added.
 * Steps that are constants become vectors. */
#define REDUCE_BY(step)                                                                          \
  do                                                                                             \
    for (int64_t i = 0; i < n; ++i) to[i] = first ? from[i * (step)] : to[i] + from[i * (step)]; \
  while (0)
LANES_INLINE void REDUCE_NAME(reduce_to_lanes)(const bool first, const REDUCE_IN *restrict from,
                                               int64_t step, int64_t n,
                                               REDUCE_PARTIAL *restrict to) {
  if (step == 1)
    REDUCE_BY(1);
  else if (step == 2)
    REDUCE_BY(2);
  else if (step == 3)
    REDUCE_BY(3);
  else if (step == 4)
    REDUCE_BY(4);
  else if (step == -1)
    REDUCE_BY(-1);
  else
    for (int64_t i = 0; i < n; ++i, from += step) {
      SUM_ONE_BY_ONE(from);
      to[i] = first ? *from : to[i] + *from;
    }
}
#undef REDUCE_BY

LANES_OUTLINE void REDUCE_NAME(reduce_run)(const void *in, int64_t step, int64_t n, int64_t at,
                                           const rung_key_code *key, void *state) {
  REDUCE_PARTIAL *lanes = (REDUCE_PARTIAL *)state;
  const REDUCE_IN *from = (const REDUCE_IN *)in;
  (void)key;
  for (int64_t now; n > 0; n -= now, at += now, from += now * step) {
    const int64_t lane = at % RUNG_SUM_LANES, room = RUNG_SUM_LANES - lane;
    now = n < room ? n : room;
    if (at < RUNG_SUM_LANES)
      REDUCE_NAME(reduce_to_lanes)(true, from, step, now, lanes + lane);
    else
      REDUCE_NAME(reduce_to_lanes)(false, from, step, now, lanes + lane);
  }
}

static void REDUCE_NAME(reduce_end_runs)(void *state, int64_t n, void *partial) {
  REDUCE_PARTIAL *lanes = (REDUCE_PARTIAL *)state;
  *(REDUCE_PARTIAL *)partial = n < RUNG_SUM_LANES ? REDUCE_FOLDED(reduce_fold_lanes)(lanes, (int)n)
                                                  : REDUCE_FOLDED(reduce_fold_all_lanes)(lanes);
}
#endif

#else

/* Of integers, in any order: the compiler's to make vectors of, of REDUCE_RUNNING numbers, unless
 * an operator has a way of its own to take a tile. */
#ifndef REDUCE_LOAD_NARROW
#define REDUCE_LOAD_NARROW REDUCE_LOAD
#endif
#ifndef REDUCE_TILE
LANES_OUTLINE REDUCE_RUNNING REDUCE_NAME(reduce_tile)(const REDUCE_IN *tile, int count,
                                                      const rung_key_code *code) {
  const rung_key_code key = *code;
  REDUCE_RUNNING all = REDUCE_NONE;
  (void)key;
  for (int k = 0; k < count; ++k) {
    const REDUCE_RUNNING x = REDUCE_LOAD_NARROW(tile[k], &key);
    all = REDUCE_COMBINE(all, x);
  }
  return all;
}
#define REDUCE_TILE(tile, count, key) REDUCE_NAME(reduce_tile)(tile, count, key)
#endif

/* A vector's worth of elements, of which the compiler makes one of numbers. */
LANES_INLINE REDUCE_VECTOR REDUCE_NAME(reduce_load)(const REDUCE_IN *from,
                                                    const rung_key_code *key) {
  REDUCE_PARTIAL numbers[REDUCE_WIDTH];
  REDUCE_VECTOR v;
  (void)key;
  for (int k = 0; k < REDUCE_WIDTH; ++k) numbers[k] = REDUCE_LOAD(from[k], key);
  memcpy(&v, numbers, sizeof v);
  return v;
}

/* Lines of at most REDUCE_FEW numbers, as many at a time as a vector has lanes: a vector of each,
 * and those fold together (tree.h). What a line's last vector reads beyond its end is the next
 * line's, and left out; where there is none, the line's end is copied before. */
static void REDUCE_NAME(reduce_few)(const REDUCE_IN *in, int64_t step, int count, int n,
                                    const rung_key_code *code, REDUCE_PARTIAL *all) {
  const rung_key_code key = *code;
  const REDUCE_IN *const end = in + (count - 1) * step + n;
  const int whole = n / REDUCE_WIDTH * REDUCE_WIDTH, rest = n - whole;
  const REDUCE_VECTOR identity = REDUCE_IDENTITY - (REDUCE_VECTOR){0};
  REDUCE_VECTOR live = {0};
  for (int k = 0; k < REDUCE_WIDTH; ++k) live[k] = -(REDUCE_PARTIAL)(k < rest);
  for (int at = 0; at < count; at += REDUCE_WIDTH) {
    REDUCE_VECTOR v[REDUCE_WIDTH];
    for (int l = 0; l < REDUCE_WIDTH; ++l) {
      const REDUCE_IN *line = in + (at + l < count ? at + l : at) * step;
      REDUCE_IN last[REDUCE_WIDTH] = {0};
      v[l] = identity;
      for (int k = 0; k < whole; k += REDUCE_WIDTH) {
        const REDUCE_VECTOR x = REDUCE_NAME(reduce_load)(line + k, &key);
        v[l] = REDUCE_COMBINE_ALL(v[l], x);
      }
      if (rest == 0) continue;
      line += whole;
      if (line + REDUCE_WIDTH > end) {
        for (int k = 0; k < rest; ++k) last[k] = line[k];
        line = last;
      }
      const REDUCE_VECTOR x = REDUCE_NAME(reduce_load)(line, &key);
      const REDUCE_VECTOR there = (x & live) | (identity & ~live);
      v[l] = REDUCE_COMBINE_ALL(v[l], there);
    }
    REDUCE_FOLD_ALL(v, REDUCE_COMBINE_ALL)
    if (at + REDUCE_WIDTH <= count)
      memcpy(all + at, &v[0], sizeof v[0]);
    else
      for (int l = 0; at + l < count; ++l) all[at + l] = v[0][l];
  }
}

/* `rows`, a constant of every copy, that are fewer than the following takes. */
LANES_INLINE void REDUCE_NAME(reduce_last_rows)(const int rows, const REDUCE_IN *restrict in,
                                                int64_t step, int width, rung_key_code key,
                                                REDUCE_PARTIAL *restrict all) {
  (void)key;
  for (int w = 0; w < width; ++w) {
    REDUCE_RUNNING x = REDUCE_LOAD_NARROW(in[w], &key);
#pragma GCC unroll 3
    for (int r = 1; r < rows; ++r) {
      const REDUCE_RUNNING next = REDUCE_LOAD_NARROW(in[r * step + w], &key);
      x = REDUCE_COMBINE(x, next);
    }
    all[w] = REDUCE_COMBINE(all[w], x);
  }
}

/* Four rows for each time that what is found so far is loaded and stored. */
LANES_OUTLINE void REDUCE_NAME(reduce_free_rows)(const REDUCE_IN *restrict in, int64_t step,
                                                 int64_t n, int width, const rung_key_code *code,
                                                 REDUCE_PARTIAL *restrict all) {
  const rung_key_code key = *code;
  (void)key;
  for (int w = 0; w < width; ++w) all[w] = REDUCE_IDENTITY;
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    const REDUCE_IN *a = in + k * step, *b = a + step, *c = b + step, *d = c + step;
    for (int w = 0; w < width; ++w) {
      const REDUCE_RUNNING p = REDUCE_LOAD_NARROW(a[w], &key), q = REDUCE_LOAD_NARROW(b[w], &key);
      const REDUCE_RUNNING r = REDUCE_LOAD_NARROW(c[w], &key), s = REDUCE_LOAD_NARROW(d[w], &key);
      const REDUCE_RUNNING one = REDUCE_COMBINE(p, q), two = REDUCE_COMBINE(r, s);
      const REDUCE_RUNNING four = REDUCE_COMBINE(one, two);
      all[w] = REDUCE_COMBINE(all[w], four);
    }
  }
  if (n - k == 3) REDUCE_NAME(reduce_last_rows)(3, in + k * step, step, width, key, all);
  if (n - k == 2) REDUCE_NAME(reduce_last_rows)(2, in + k * step, step, width, key, all);
  if (n - k == 1) REDUCE_NAME(reduce_last_rows)(1, in + k * step, step, width, key, all);
}

static void REDUCE_NAME(reduce_lines)(const void *in, int64_t step, int count, int64_t n, bool far,
                                      const rung_key_code *code, void *partials) {
  const rung_key_code key = *code;
  (void)far;
  if (n == 1 && step == 1) { /* side by side as much as one after the other */
    REDUCE_NAME(reduce_free_rows)
    ((const REDUCE_IN *)in, 0, 1, count, code, (REDUCE_PARTIAL *)partials);
    return;
  }
  if (n == 1) {
    for (int l = 0; l < count; ++l)
      ((REDUCE_PARTIAL *)partials)[l] = REDUCE_LOAD(((const REDUCE_IN *)in)[l * step], &key);
    return;
  }
  if (n > 0 && n <= REDUCE_FEW && count > 1) {
    REDUCE_NAME(reduce_few)
    ((const REDUCE_IN *)in, step, count, (int)n, code, (REDUCE_PARTIAL *)partials);
    return;
  }
  for (int l = 0; l < count; ++l) {
    REDUCE_PARTIAL all = REDUCE_IDENTITY;
    for (int64_t first = 0, now; first < n; first += now) {
      /* Of a long line the first piece ends where vectors of memory begin. */
      const REDUCE_IN *tile = (const REDUCE_IN *)in + l * step + first;
      const int head = LANES_HEAD(tile);
      const int left = n - first < RUNG_SUM_TILE ? (int)(n - first) : RUNG_SUM_TILE;
      now = head > 0 && left * (int)sizeof *tile >= REDUCE_LONG ? head : left;
      const REDUCE_PARTIAL piece = REDUCE_TILE(tile, (int)now, &key);
      all = REDUCE_COMBINE(all, piece);
    }
    ((REDUCE_PARTIAL *)partials)[l] = all;
  }
}

/* Rows that follow each other without gaps are as good as fewer and longer ones, whose ends are
 * folded by halves. */
static void REDUCE_NAME(reduce_across)(const void *in, int64_t step, int64_t n, int width, bool far,
                                       const rung_key_code *key, void *room, void *partials) {
  enum { MOST = REDUCE_PIECE / sizeof(REDUCE_PARTIAL) };
  const REDUCE_IN *rows = (const REDUCE_IN *)in;
  REDUCE_PARTIAL *all = (REDUCE_PARTIAL *)partials, some[MOST];
  (void)room;
  (void)far;
  for (int64_t left = n, now; left > 0; left -= now, rows += now * step) {
    int m = 1;
    while (step == width && 2 * m * width <= MOST && 8 * m < left) m *= 2;
    now = left / m * m;
    REDUCE_PARTIAL *const to = left == n && m == 1 ? all : some;
    REDUCE_NAME(reduce_free_rows)(rows, m * step, left / m, m * width, key, to);
    for (int half = m / 2 * width; half >= width; half /= 2)
      for (int w = 0; w < half; ++w) some[w] = REDUCE_COMBINE(some[w], some[w + half]);
    for (int w = 0; w < width && to == some; ++w)
      all[w] = left == n ? some[w] : REDUCE_COMBINE(all[w], some[w]);
  }
  for (int w = 0; w < width && n == 0; ++w) all[w] = REDUCE_IDENTITY;
}

static void REDUCE_NAME(reduce_run)(const void *in, int64_t step, int64_t n, int64_t at,
                                    const rung_key_code *code, void *state) {
  enum { PIECE = 4096 / sizeof(REDUCE_IN) }; /* which the first-level cache holds */
  const rung_key_code key = *code;
  const REDUCE_IN *from = (const REDUCE_IN *)in;
  REDUCE_PARTIAL *all = (REDUCE_PARTIAL *)state;
  REDUCE_IN some[PIECE];
  if (at == 0) *all = REDUCE_IDENTITY;
  for (int64_t now; n > 0; n -= now, from += now * step) {
    const int64_t most = step == 1 ? RUNG_SUM_TILE : PIECE;
    now = n < most ? n : most;
    if (step != 1) reduce_pick(sizeof *from, from, step, now, some);
    const REDUCE_PARTIAL piece = REDUCE_TILE(step == 1 ? from : some, (int)now, &key);
    *all = REDUCE_COMBINE(*all, piece);
  }
}

static void REDUCE_NAME(reduce_end_runs)(void *state, int64_t n, void *partial) {
  (void)n;
  memcpy(partial, state, sizeof(REDUCE_PARTIAL));
}

#undef REDUCE_TILE
#undef REDUCE_LOAD_NARROW
#endif

#undef REDUCE_NAME
#undef REDUCE_IN
