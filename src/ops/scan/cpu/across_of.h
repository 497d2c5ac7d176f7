/* Lines side by side for one scan_operator: included by tile_of.h alone. A lane has a line, so that
 * every step of the order is one of whole vectors. */

#ifndef SCAN_NARROW
enum { SCAN_NAME(scan_widest) = SCAN_STRIP_VECTORS * SCAN_LANES };
#endif

/* How a vector of a strip reaches its lines: straight, or lane by lane. */
typedef struct SCAN_NAME(scan_lanes) {
  const SCAN_E *in;
  SCAN_E *out;
  const int64_t *in_at, *out_at; /* NULL: straight */
  int count;
} SCAN_NAME(scan_lanes);

LANES_INLINE SCAN_V SCAN_NAME(scan_lanes_load)(const SCAN_NAME(scan_lanes) * of, int64_t at,
                                               SCAN_NAME(scan_code) code) {
  SCAN_E part[SCAN_LANES] = {0};
#ifdef SCAN_PARTS
  if (of->in_at == NULL && of->count < SCAN_LANES)
    return SCAN_NAME(scan_load_some)(of->in + at, of->count, code);
#endif
  if (of->in_at == NULL) return SCAN_NAME(scan_load)(of->in + at, code);
  for (int l = 0; l < of->count; ++l) part[l] = of->in[of->in_at[l] + at];
  return SCAN_NAME(scan_load)(part, code);
}

LANES_INLINE void SCAN_NAME(scan_lanes_store)(const SCAN_NAME(scan_lanes) * of, int64_t at,
                                              SCAN_V v, SCAN_NAME(scan_code) code, bool past) {
  SCAN_E part[SCAN_LANES];
#ifdef SCAN_PARTS
  if (of->out_at == NULL && of->count < SCAN_LANES) {
    SCAN_NAME(scan_store_some)(of->out + at, v, of->count, code);
    return;
  }
#endif
  if (of->out_at == NULL) {
    SCAN_NAME(scan_store)(of->out + at, v, code, past);
    return;
  }
  SCAN_NAME(scan_store)(part, v, code, false);
  for (int l = 0; l < of->count; ++l) of->out[of->out_at[l] + at] = part[l];
}

/* What will be read and written after: the same rows, `lines` vectors wide, from `in` and `out` on.
 * As many vectors ask for it, each for its part of the rows, so that memory gives neighbouring
 * lines together. NULL: it is not asked for, or written past the cache. */
typedef struct SCAN_NAME(scan_later) {
  const char *in, *out;
  int lines, part; /* 0 ... lines - 1 */
} SCAN_NAME(scan_later);

LANES_INLINE void SCAN_NAME(scan_lanes_ask)(const SCAN_NAME(scan_later) * later,
                                            const scan_strip *strip, int count, int row) {
  const int64_t bytes = SCAN_LANES * (int64_t)sizeof(SCAN_E), size = sizeof(SCAN_E);
  const int64_t turn = later->part * (int64_t)count + row;
  const int64_t place = later->lines > 1 ? turn / SCAN_STRIP_AHEAD : turn;
  const int64_t aside = later->lines > 1 ? turn % SCAN_STRIP_AHEAD * bytes : 0;
  if (later->in != NULL)
    __builtin_prefetch(later->in + place * strip->in_step * size + aside, 0, 2);
  if (later->out != NULL)
    __builtin_prefetch(later->out + place * strip->out_step * size + aside, 0, 2);
}

/* A row of every lane's line, or what there is of the last one. */
LANES_INLINE SCAN_V SCAN_NAME(scan_lanes_row)(const SCAN_NAME(scan_lanes) * of,
                                              const scan_strip *strip, int64_t first, int count,
                                              bool past, SCAN_NAME(scan_code) code, SCAN_V before,
                                              const SCAN_NAME(scan_later) * later) {
  const SCAN_V identity = SCAN_NAME(scan_all)(SCAN_IDENTITY);
  const int groups = (count + SCAN_GROUP - 1) / SCAN_GROUP;
  SCAN_V e[SCAN_ROW], g[SCAN_FAMILY];
  g[0] = identity;
  for (int k = 0; k < groups; ++k) {
    SCAN_V x[SCAN_GROUP];
    for (int c = 0; c < SCAN_GROUP; ++c) {
      const int64_t at = (first + k * SCAN_GROUP + c) * strip->in_step;
      x[c] = identity;
      if (k * SCAN_GROUP + c < count) x[c] = SCAN_NAME(scan_lanes_load)(of, at, code);
      SCAN_NAME(scan_lanes_ask)(later, strip, count, k * SCAN_GROUP + c);
    }
    SCAN_NAME(scan_groups)(x, e + k * SCAN_GROUP);
    g[k] = e[k * SCAN_GROUP + SCAN_GROUP - 1];
  }
  for (int s = 1; s < groups; s *= 2)
    for (int k = groups - 1; k >= s; --k) g[k] = SCAN_COMBINE(g[k - s], g[k]);
  for (int k = 0; k < groups; ++k) {
    const SCAN_V back = k > 0 ? g[k - 1] : identity, offset = SCAN_COMBINE(before, back);
    SCAN_V y[SCAN_GROUP];
    SCAN_NAME(scan_results)(e + k * SCAN_GROUP, offset, strip->exclusive, y);
    for (int c = 0; c < SCAN_GROUP && k * SCAN_GROUP + c < count; ++c) SCAN_NAME(scan_lanes_store)
    (of, (first + k * SCAN_GROUP + c) * strip->out_step, y[c], code, past);
  }
  return g[groups - 1];
}

/* A number of every lane, of a strip's aggregates: that of vector v. */
LANES_INLINE SCAN_V *SCAN_NAME(scan_lanes_at)(const scan_strip *strip, int64_t aggregate, int v) {
  const int64_t vectors = (strip->count + SCAN_LANES - 1) / SCAN_LANES;
  return (SCAN_V *)(void *)strip->aggregates + aggregate * vectors + v;
}

/* The last of K of m aggregates from `first` on. */
static SCAN_V SCAN_NAME(scan_lanes_last)(const scan_strip *strip, int64_t first, int m, int v) {
  SCAN_V t[SCAN_FAMILY];
  t[0] = *SCAN_NAME(scan_lanes_at)(strip, first, v);
  for (int i = 1; i < m; ++i) t[i] = *SCAN_NAME(scan_lanes_at)(strip, first + i, v);
  for (int s = 1; s < m; s *= 2)
    for (int i = m - 1; i >= s; --i) t[i] = SCAN_COMBINE(t[i - s], t[i]);
  return t[m - 1];
}

/* Puts a tile's total in, and the aggregates of the families that it is the last of. */
static void SCAN_NAME(scan_lanes_leave)(const scan_strip *strip, int64_t tile, SCAN_V total,
                                        int v) {
  int64_t first = 0, count = scan_tiles(strip->columns), at = tile;
  for (;;) {
    *SCAN_NAME(scan_lanes_at)(strip, first + at, v) = total;
    if (at % SCAN_FAMILY != SCAN_FAMILY - 1) return;
    total = SCAN_NAME(scan_lanes_last)(strip, first + at - (SCAN_FAMILY - 1), SCAN_FAMILY, v);
    first += count;
    count /= SCAN_FAMILY;
    at /= SCAN_FAMILY;
  }
}

/* What all tiles before come to: the contract's P. */
static SCAN_V SCAN_NAME(scan_lanes_before)(const scan_strip *strip, int64_t tile, int v) {
  SCAN_V e[SCAN_LEVELS], p = SCAN_NAME(scan_all)(SCAN_IDENTITY);
  int64_t first = 0, count = scan_tiles(strip->columns);
  int levels = 0;
  for (int64_t at = tile; at > 0; ++levels, at /= SCAN_FAMILY) {
    const int number = (int)(at % SCAN_FAMILY);
    e[levels] = SCAN_NAME(scan_all)(SCAN_IDENTITY);
    if (number > 0) e[levels] = SCAN_NAME(scan_lanes_last)(strip, first + at - number, number, v);
    first += count;
    count /= SCAN_FAMILY;
  }
  while (--levels >= 0) p = SCAN_COMBINE(p, e[levels]);
  return p;
}

/* The vectors of a strip, and what each has come to. */
typedef struct SCAN_NAME(scan_state) {
  SCAN_NAME(scan_lanes) of;
  SCAN_V tiles, bands, rows; /* before the tile, of the tile's bands, of the band's rows */
} SCAN_NAME(scan_state);

LANES_INLINE void SCAN_NAME(scan_strip_rows)(const scan_strip *strip,
                                             SCAN_NAME(scan_state) * vectors, int count,
                                             bool past) {
  const SCAN_NAME(scan_code) code = SCAN_NAME(scan_code_of)(&strip->key);
  const SCAN_V identity = SCAN_NAME(scan_all)(SCAN_IDENTITY);
  for (int64_t first = 0; first < strip->columns; first += SCAN_ROW) {
    const int64_t left = strip->columns - first;
    const int now = left < SCAN_ROW ? (int)left : SCAN_ROW;
    for (int v = 0; v < count; ++v) {
      SCAN_NAME(scan_state) *at = &vectors[v];
      const bool quads = count % SCAN_STRIP_AHEAD == 0;
      const int begin = quads ? v / SCAN_STRIP_AHEAD * SCAN_STRIP_AHEAD : v;
      const int next = begin + SCAN_STRIP_AHEAD, then = next % count;
      const int64_t row = first + next / count * SCAN_ROW;
      SCAN_NAME(scan_later) later = {.lines = quads ? SCAN_STRIP_AHEAD : 1, .part = v - begin};
      if (row + now <= strip->columns) {
        later.in = (const char *)(vectors[then].of.in + row * strip->in_step);
        if (!past) later.out = (const char *)(vectors[then].of.out + row * strip->out_step);
      } else if (row == first + SCAN_ROW && strip->next != NULL) {
        later.in = strip->next + then * SCAN_LANES * (int)sizeof(SCAN_E);
      }
      if (at->of.in_at != NULL || !strip->asks) later.in = later.out = NULL;
      if (first % SCAN_BAND == 0) {
        const SCAN_V bands = SCAN_COMBINE(at->bands, at->rows);
        at->bands = bands;
        if (first % SCAN_TILE == 0) at->bands = identity;
        at->rows = identity;
      }
      if (first % SCAN_TILE == 0)
        at->tiles = SCAN_NAME(scan_lanes_before)(strip, first / SCAN_TILE, v);
      const SCAN_V offset = SCAN_COMBINE(at->tiles, at->bands),
                   before = SCAN_COMBINE(offset, at->rows);
      const SCAN_V total =
          SCAN_NAME(scan_lanes_row)(&at->of, strip, first, now, past, code, before, &later);
      at->rows = SCAN_COMBINE(at->rows, total);
      if (left > SCAN_ROW && (first + SCAN_ROW) % SCAN_TILE == 0) SCAN_NAME(scan_lanes_leave)
      (strip, first / SCAN_TILE, SCAN_COMBINE(at->bands, at->rows), v);
    }
  }
}

static void SCAN_NAME(scan_across)(const scan_strip *strip) {
  SCAN_NAME(scan_state) vectors[SCAN_STRIP_VECTORS] = {0};
  const SCAN_E *in = (const SCAN_E *)strip->in;
  SCAN_E *out = (SCAN_E *)strip->out;
  int count = 0;
#ifdef SCAN_NARROW
  if (!strip->scattered) {
    SCAN_NAME(scan_narrow_across)(strip);
    for (int l = 0; l < strip->count && strip->exclusive; ++l)
      out[l] = SCAN_NAME(scan_empty)(strip->key);
    return;
  }
#endif
  bool past = SCAN_NAME(scan_streams) && strip->past && LANES_BYTES == 64 &&
              (uintptr_t)out % LANES_BYTES == 0 &&
              (uint64_t)strip->out_step * sizeof(SCAN_E) % LANES_BYTES == 0;
  for (int first = 0; first < strip->count; first += SCAN_LANES, ++count) {
    const int left = strip->count - first, lanes = left < SCAN_LANES ? left : SCAN_LANES;
#ifdef SCAN_PARTS
    const bool straight = !strip->scattered;
#else
    const bool straight = !strip->scattered && lanes == SCAN_LANES;
#endif
    const int begin = strip->scattered ? 0 : first;
    const int64_t *from = strip->scattered ? strip->in_at + first : scan_neighbours,
                  *to = strip->scattered ? strip->out_at + first : scan_neighbours;
    vectors[count].of = (SCAN_NAME(scan_lanes)){.in = in + begin,
                                                .out = out + begin,
                                                .in_at = straight ? NULL : from,
                                                .out_at = straight ? NULL : to,
                                                .count = lanes};
  }
  if (past)
    SCAN_NAME(scan_strip_rows)(strip, vectors, count, true);
  else
    SCAN_NAME(scan_strip_rows)(strip, vectors, count, false);
  if (past) lanes_stream_end();
  for (int l = 0; l < strip->count && strip->exclusive; ++l)
    out[strip->scattered ? strip->out_at[l] : l] =
        SCAN_NAME(scan_empty)(SCAN_NAME(scan_code_of)(&strip->key));
}
