/* The functions of tile.h for one scan_source: included by tile.h alone, once for each.
 *
 * A row's elements are parted into four: x[c][w] holds element c of LANES neighbouring groups, so
 * that the prefixes of groups are additions of whole vectors, and so are those of rows, but for
 * steps shorter than a vector. */

enum { SCAN_NAME(scan_wide) = SCAN_FAMILY / SCAN_LANES }; /* vectors that hold a row's groups */

LANES_INLINE SCAN_V SCAN_NAME(scan_all)(SCAN_T value) {
  return value - (SCAN_V){0};
}

/* Every second lane of a and b. */
LANES_INLINE SCAN_V SCAN_NAME(scan_even)(SCAN_V a, SCAN_V b) {
  return __builtin_shuffle(a, b, (SCAN_INTS){SCAN_LIST(SCAN_LANE_EVEN, 0)});
}
LANES_INLINE SCAN_V SCAN_NAME(scan_odd)(SCAN_V a, SCAN_V b) {
  return __builtin_shuffle(a, b, (SCAN_INTS){SCAN_LIST(SCAN_LANE_ODD, 0)});
}
/* The lanes of a and b in turn: the lower halves', and the upper halves'. */
LANES_INLINE SCAN_V SCAN_NAME(scan_lower)(SCAN_V a, SCAN_V b) {
  return __builtin_shuffle(a, b, (SCAN_INTS){SCAN_LIST(SCAN_LANE_LOWER, 0)});
}
LANES_INLINE SCAN_V SCAN_NAME(scan_upper)(SCAN_V a, SCAN_V b) {
  return __builtin_shuffle(a, b, (SCAN_INTS){SCAN_LIST(SCAN_LANE_UPPER, 0)});
}

LANES_INLINE void SCAN_NAME(scan_part)(const SCAN_T *in, SCAN_V turn, SCAN_V x[4]) {
  SCAN_V v[4];
  (void)turn;
  for (int k = 0; k < 4; ++k) {
    SCAN_V element;
    memcpy(&element, in + k * SCAN_LANES, sizeof element);
    v[k] = SCAN_TAKE(element, turn);
  }
  const SCAN_V even[2] = {SCAN_NAME(scan_even)(v[0], v[1]), SCAN_NAME(scan_even)(v[2], v[3])};
  const SCAN_V odd[2] = {SCAN_NAME(scan_odd)(v[0], v[1]), SCAN_NAME(scan_odd)(v[2], v[3])};
  x[0] = SCAN_NAME(scan_even)(even[0], even[1]);
  x[1] = SCAN_NAME(scan_even)(odd[0], odd[1]);
  x[2] = SCAN_NAME(scan_odd)(even[0], even[1]);
  x[3] = SCAN_NAME(scan_odd)(odd[0], odd[1]);
}

/* `past` the caches: out is aligned to a vector. */
LANES_INLINE void SCAN_NAME(scan_unpart)(SCAN_T *out, const SCAN_V x[4], SCAN_V turn, bool past) {
  const SCAN_V even[2] = {SCAN_NAME(scan_lower)(x[0], x[2]), SCAN_NAME(scan_upper)(x[0], x[2])};
  const SCAN_V odd[2] = {SCAN_NAME(scan_lower)(x[1], x[3]), SCAN_NAME(scan_upper)(x[1], x[3])};
  (void)turn;
  for (int k = 0; k < 4; ++k) {
    const SCAN_V v = k % 2 == 0 ? SCAN_NAME(scan_lower)(even[k / 2], odd[k / 2])
                                : SCAN_NAME(scan_upper)(even[k / 2], odd[k / 2]);
    const SCAN_V given = SCAN_GIVE(v, turn);
    if (past)
      lanes_stream_f32((float *)(void *)(out + k * SCAN_LANES), (lanes_f32)given);
    else
      memcpy(out + k * SCAN_LANES, &given, sizeof given);
  }
}

/* The running result of t[0 ... count). */
static SCAN_T SCAN_NAME(scan_running)(const SCAN_T *t, int count) {
  SCAN_T all = SCAN_NONE;
  for (int i = 0; i < count; ++i) all = SCAN_JOIN_ONE(all, t[i]);
  return all;
}

/* The totals of up to eight rows, in one go: neighbours fold, five times. */
LANES_INLINE void SCAN_NAME(scan_band)(const SCAN_T *in, int rows, SCAN_V turn, SCAN_T *totals) {
  enum { WIDE = SCAN_NAME(scan_wide), MOST = SCAN_EIGHT * WIDE };
  SCAN_V t[MOST + 1];
  for (int k = rows * WIDE; k < MOST; ++k) t[k] = SCAN_NAME(scan_all)(SCAN_NONE);
  for (int k = 0; k < rows * WIDE; ++k) {
    SCAN_V x[4];
    SCAN_NAME(scan_part)(in + k * 4 * SCAN_LANES, turn, x);
    const SCAN_V left = SCAN_JOIN(x[0], x[1]), right = SCAN_JOIN(x[2], x[3]);
    t[k] = SCAN_JOIN(left, right);
  }
  for (int s = 1, count = MOST; s<SCAN_FAMILY; s *= 2, count = count> 1 ? count / 2 : 1)
    for (int k = 0; k < (count > 1 ? count / 2 : 1); ++k) {
      const SCAN_V a = t[2 * k], b = t[count > 1 ? 2 * k + 1 : 0];
      const SCAN_V even = SCAN_NAME(scan_even)(a, b), odd = SCAN_NAME(scan_odd)(a, b);
      t[k] = SCAN_JOIN(even, odd);
    }
  memcpy(totals, t, SCAN_EIGHT * sizeof *totals);
}

/* The totals of a tile's first rows; where those are all, the tile's too. */
static void SCAN_NAME(scan_totals)(const void *in, int rows, int64_t turn, void *totals,
                                   void *total) {
  const SCAN_V turns = SCAN_NAME(scan_all)((SCAN_T)turn);
  SCAN_T *to = (SCAN_T *)totals, bands[SCAN_EIGHT];
  for (int r = 0; r < rows; r += SCAN_EIGHT) {
    const int some = rows - r < SCAN_EIGHT ? rows - r : SCAN_EIGHT;
    SCAN_NAME(scan_band)((const SCAN_T *)in + r * SCAN_ROW, some, turns, to + r);
  }
  if (rows < SCAN_ROWS) return;
  for (int b = 0; b < SCAN_EIGHT; ++b)
    bands[b] = SCAN_NAME(scan_running)(to + b * SCAN_EIGHT, SCAN_EIGHT);
  *(SCAN_T *)total = SCAN_NAME(scan_running)(bands, SCAN_EIGHT);
}

/* K of t[0 ... m), the last of it: only what it is made of. */
static void SCAN_NAME(scan_last)(const void *numbers, int m, void *last) {
  SCAN_T t[SCAN_FAMILY];
  memcpy(t, numbers, (size_t)m * sizeof *t);
  for (int s = 1; s < m; s *= 2)
    for (int i = m - 1; i >= s; i -= 2 * s) t[i] = SCAN_JOIN_ONE(t[i - s], t[i]);
  *(SCAN_T *)last = t[m - 1];
}

static void SCAN_NAME(scan_none)(void *value) {
  *(SCAN_T *)value = SCAN_NONE;
}

static void SCAN_NAME(scan_join)(void *all, const void *value) {
  *(SCAN_T *)all = SCAN_JOIN_ONE(*(SCAN_T *)all, *(const SCAN_T *)value);
}

/* Groups side by side, element c of each in x[c], to their prefixes. */
LANES_INLINE void SCAN_NAME(scan_groups)(const SCAN_V x[SCAN_GROUP], SCAN_V e[SCAN_GROUP]) {
  const SCAN_V first = x[0], both = SCAN_JOIN(x[0], x[1]), middle = SCAN_JOIN(x[1], x[2]),
               right = SCAN_JOIN(x[2], x[3]);
  e[0] = first;
  e[1] = both;
  e[2] = SCAN_JOIN(first, middle);
  e[3] = SCAN_JOIN(both, right);
}

/* Their results; `offset` is what comes before each. */
LANES_INLINE void SCAN_NAME(scan_results)(const SCAN_V e[SCAN_GROUP], SCAN_V offset, bool exclusive,
                                          SCAN_V y[SCAN_GROUP]) {
  for (int c = SCAN_GROUP - 1; c >= 0; --c) {
    if (exclusive && c == 0)
      y[c] = offset;
    else
      y[c] = SCAN_JOIN(offset, e[exclusive ? c - 1 : c]);
  }
}

#define SCAN_STEP(s)                                                                       \
  for (int w = WIDE - 1; w >= ((s) < SCAN_LANES ? 0 : (s) / SCAN_LANES); --w) {            \
    const SCAN_V before = w > 0 ? g[w - 1] : none;                                         \
    const SCAN_V back =                                                                    \
        (s) < SCAN_LANES                                                                   \
            ? __builtin_shuffle(before, g[w], (SCAN_INTS){SCAN_LIST(SCAN_LANE_BACK, (s))}) \
            : g[w - (s) / SCAN_LANES];                                                     \
    g[w] = SCAN_JOIN(back, g[w]);                                                          \
  }

/* One row; `offset` is what all rows before it come to. */
LANES_INLINE void SCAN_NAME(scan_row)(const SCAN_T *in, SCAN_T *out, bool exclusive, bool past,
                                      SCAN_V turn, SCAN_T before_row) {
  enum { WIDE = SCAN_NAME(scan_wide) };
  const SCAN_V none = SCAN_NAME(scan_all)(SCAN_NONE), base = SCAN_NAME(scan_all)(before_row);
  SCAN_V e[WIDE][4], g[WIDE];
#pragma GCC unroll 16
  for (int w = 0; w < WIDE; ++w) {
    SCAN_V x[4];
    SCAN_NAME(scan_part)(in + w * 4 * SCAN_LANES, turn, x);
    SCAN_NAME(scan_groups)(x, e[w]);
    g[w] = e[w][3];
  }
  SCAN_STEP(1)
  SCAN_STEP(2)
  SCAN_STEP(4)
  SCAN_STEP(8)
  SCAN_STEP(16)
#pragma GCC unroll 16
  for (int w = 0; w < WIDE; ++w) {
    const SCAN_V back =
        __builtin_shuffle(w > 0 ? g[w - 1] : none, g[w], (SCAN_INTS){SCAN_LIST(SCAN_LANE_BACK, 1)});
    const SCAN_V offset = SCAN_JOIN(base, back);
    SCAN_V y[4];
    SCAN_NAME(scan_results)(e[w], offset, exclusive, y);
    SCAN_NAME(scan_unpart)(out + w * 4 * SCAN_LANES, y, turn, past);
  }
}
#undef SCAN_STEP

/* A row that its line ends in. */
static void SCAN_NAME(scan_end)(const SCAN_T *in, SCAN_T *out, int count, bool exclusive,
                                SCAN_V turn, SCAN_T before_row) {
  SCAN_T row[SCAN_ROW];
  const SCAN_V none = SCAN_NAME(scan_all)(SCAN_NONE), missing = SCAN_GIVE(none, turn);
  for (int k = 0; k < SCAN_ROW; k += SCAN_LANES) memcpy(row + k, &missing, sizeof missing);
  memcpy(row, in, (size_t)count * sizeof *row);
  SCAN_NAME(scan_row)(row, row, exclusive, false, turn, before_row);
  memcpy(out, row, (size_t)count * sizeof *row);
}

LANES_INLINE void SCAN_NAME(scan_rows)(const scan_piece *piece, bool exclusive, bool past,
                                       const SCAN_T *totals, SCAN_T before) {
  const SCAN_V turn = SCAN_NAME(scan_all)((SCAN_T)piece->turn);
  const SCAN_T *in = (const SCAN_T *)piece->in;
  SCAN_T *out = (SCAN_T *)piece->out, bands = SCAN_NONE;
  for (int first = 0; first < piece->count; first += SCAN_BAND) {
    const SCAN_T offset = SCAN_JOIN_ONE(before, bands);
    SCAN_T rows = SCAN_NONE;
    for (int at = first; at < first + SCAN_BAND && at < piece->count; at += SCAN_ROW) {
      const SCAN_T before_row = SCAN_JOIN_ONE(offset, rows);
      if (piece->next != NULL)
        scan_ask_for(piece->next + at * (int)sizeof(SCAN_T), SCAN_ROW * sizeof(SCAN_T));
      if (at + SCAN_ROW <= piece->count)
        SCAN_NAME(scan_row)(in + at, out + at, exclusive, past, turn, before_row);
      else
        SCAN_NAME(scan_end)(in + at, out + at, piece->count - at, exclusive, turn, before_row);
      if (at + SCAN_ROW < piece->count) rows = SCAN_JOIN_ONE(rows, totals[at / SCAN_ROW]);
    }
    bands = SCAN_JOIN_ONE(bands, rows);
  }
}

static void SCAN_NAME(scan_tile)(const scan_piece *piece, const void *totals, const void *before) {
  const SCAN_T *rows = (const SCAN_T *)totals, offset = *(const SCAN_T *)before;
  const bool past = piece->past && (uintptr_t)piece->out % LANES_BYTES == 0;
  if (piece->exclusive && past)
    SCAN_NAME(scan_rows)(piece, true, true, rows, offset);
  else if (piece->exclusive)
    SCAN_NAME(scan_rows)(piece, true, false, rows, offset);
  else if (past)
    SCAN_NAME(scan_rows)(piece, false, true, rows, offset);
  else
    SCAN_NAME(scan_rows)(piece, false, false, rows, offset);
  if (past) lanes_stream_end();
#if SCAN_ADDS
  if (piece->exclusive && piece->begins) ((SCAN_T *)piece->out)[0] = 0;
#endif
}

/* LANES short lines side by side, element c of each in x[c], to their results. */
LANES_INLINE void SCAN_NAME(scan_columns)(SCAN_V x[SCAN_SHORT], int groups, bool exclusive) {
  const SCAN_V none = SCAN_NAME(scan_all)(SCAN_NONE);
  SCAN_V g[SCAN_SHORT / SCAN_GROUP];
  for (int k = 0; k < groups; ++k) {
    SCAN_V *const e = x + k * SCAN_GROUP;
    SCAN_NAME(scan_groups)(e, e);
    g[k] = e[3];
  }
  for (int s = 1; s < groups; s *= 2)
    for (int k = groups - 1; k >= s; --k) g[k] = SCAN_JOIN(g[k - s], g[k]);
  for (int k = 0; k < groups; ++k) {
    SCAN_V *const e = x + k * SCAN_GROUP;
    SCAN_NAME(scan_results)(e, k > 0 ? g[k - 1] : none, exclusive, e);
  }
}

/* Lines of at most SCAN_SHORT elements, as many at a time as a vector has lanes. */
static void SCAN_NAME(scan_short)(const scan_short_lines *lines) {
  const SCAN_V turn = SCAN_NAME(scan_all)((SCAN_T)lines->turn),
               none = SCAN_NAME(scan_all)(SCAN_NONE);
  const int columns = lines->columns, groups = (columns + SCAN_GROUP - 1) / SCAN_GROUP;
  SCAN_T part[SCAN_SHORT][SCAN_LANES] = {{0}};
  (void)turn;
  for (int64_t first = 0; first < lines->count; first += SCAN_LANES) {
    const int now = lines->count - first < SCAN_LANES ? (int)(lines->count - first) : SCAN_LANES;
    const SCAN_T *in = (const SCAN_T *)lines->in + first * lines->in_pitch;
    SCAN_T *out = (SCAN_T *)lines->out + first * lines->out_pitch;
    SCAN_V x[SCAN_SHORT];
    for (int l = 0; l < now; ++l, in += lines->in_pitch)
      for (int c = 0; c < columns; ++c) part[c][l] = in[c];
    for (int c = 0; c < groups * SCAN_GROUP; ++c) {
      SCAN_V element;
      memcpy(&element, part[c], sizeof element);
      x[c] = none;
      if (c < columns) x[c] = SCAN_TAKE(element, turn);
    }
    SCAN_NAME(scan_columns)(x, groups, lines->exclusive);
    for (int c = 0; c < columns; ++c) {
      const SCAN_V given = SCAN_GIVE(x[c], turn);
      memcpy(part[c], &given, sizeof given);
    }
#if SCAN_ADDS
    for (int l = 0; l < now && lines->exclusive; ++l) part[0][l] = 0;
#endif
    for (int l = 0; l < now; ++l, out += lines->out_pitch)
      for (int c = 0; c < columns; ++c) out[c] = part[c][l];
  }
}

#undef SCAN_NAME
#undef SCAN_T
#undef SCAN_V
#undef SCAN_NONE
