/* Lines side by side for one scan_operator: included by tile_of.h alone. A lane has a line, so that
 * every step of the order is one of whole vectors. */

/* Whether whole vectors may go past the caches. */
#define SCAN_PAST (SCAN_NAME(scan_streams) && LANES_BYTES == 64)
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

/* Lane by lane: much code, of which there is one copy. */
LANES_OUTLINE SCAN_V SCAN_NAME(scan_lanes_gather)(const SCAN_NAME(scan_lanes) * of, int64_t at,
                                                  SCAN_NAME(scan_code) code) {
  SCAN_E part[SCAN_LANES] = {0};
  for (int l = 0; l < of->count; ++l) part[l] = of->in[of->in_at[l] + at];
  return SCAN_NAME(scan_load)(part, code);
}
LANES_OUTLINE void SCAN_NAME(scan_lanes_scatter)(const SCAN_NAME(scan_lanes) * of, int64_t at,
                                                 SCAN_V v, SCAN_NAME(scan_code) code) {
  SCAN_E part[SCAN_LANES];
  SCAN_NAME(scan_store)(part, v, code, false);
  for (int l = 0; l < of->count; ++l) of->out[of->out_at[l] + at] = part[l];
}

LANES_INLINE SCAN_V SCAN_NAME(scan_lanes_load)(const SCAN_NAME(scan_lanes) * of, int64_t at,
                                               SCAN_NAME(scan_code) code) {
  if (of->in_at != NULL) return SCAN_NAME(scan_lanes_gather)(of, at, code);
#ifdef SCAN_PARTS
  if (of->count < SCAN_LANES) return SCAN_NAME(scan_load_some)(of->in + at, of->count, code);
#endif
  return SCAN_NAME(scan_load)(of->in + at, code);
}

/* Not past the caches. */
LANES_INLINE void SCAN_NAME(scan_lanes_store)(const SCAN_NAME(scan_lanes) * of, int64_t at,
                                              SCAN_V v, SCAN_NAME(scan_code) code) {
  if (of->out_at != NULL) {
    SCAN_NAME(scan_lanes_scatter)(of, at, v, code);
    return;
  }
#ifdef SCAN_PARTS
  if (of->count < SCAN_LANES) {
    SCAN_NAME(scan_store_some)(of->out + at, v, of->count, code);
    return;
  }
#endif
  SCAN_NAME(scan_store)(of->out + at, v, code, false);
}

/* Asks for the row that comes SCAN_STRIP_ROWS after this one, of this strip or the next: to be read
 * and, where it does not go past the cache, to be written. */
LANES_INLINE void SCAN_NAME(scan_strip_ask)(const scan_strip *strip, int64_t row, bool past) {
  const int64_t size = sizeof(SCAN_E);
  const char *in = strip->in, *out = strip->out;
  row += SCAN_STRIP_ROWS;
  if (row >= strip->columns) {
    row -= strip->columns;
    if (strip->next == NULL || row >= strip->columns) return;
    in = strip->next;
    out += in - strip->in;
  }
  scan_prefetch(in + row * strip->in_step * size, (size_t)(strip->count * size));
  if (!past) scan_prefetch(out + row * strip->out_step * size, (size_t)(strip->count * size));
}

/* A number of every lane, of a strip's aggregates: that of vector v. */
LANES_INLINE SCAN_V *SCAN_NAME(scan_lanes_at)(const scan_strip *strip, int64_t aggregate, int v) {
  return (SCAN_V *)(void *)strip->aggregates + aggregate * strip->vectors + v;
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

/* Puts a tile's totals in, of every vector one, and the aggregates of the families that it is the
 * last of. */
static void SCAN_NAME(scan_lanes_leave)(const scan_strip *strip, int64_t tile, SCAN_V *totals) {
  int64_t first = 0, count = scan_tiles(strip->columns), at = tile;
  for (;;) {
    for (int v = 0; v < strip->vectors; ++v)
      *SCAN_NAME(scan_lanes_at)(strip, first + at, v) = totals[v];
    if (strip->there != NULL)
      atomic_store_explicit(&strip->there[first + at], 1, memory_order_release);
    if (at % SCAN_FAMILY != SCAN_FAMILY - 1) return;
    const int64_t family = first + at - (SCAN_FAMILY - 1);
    scan_await(strip->there, family, SCAN_FAMILY);
    for (int v = 0; v < strip->vectors; ++v)
      totals[v] = SCAN_NAME(scan_lanes_last)(strip, family, SCAN_FAMILY, v);
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
    if (number > 0) {
      scan_await(strip->there, first + at - number, number);
      e[levels] = SCAN_NAME(scan_lanes_last)(strip, first + at - number, number, v);
    }
    first += count;
    count /= SCAN_FAMILY;
  }
  while (--levels >= 0) p = SCAN_COMBINE(p, e[levels]);
  return p;
}

/* The vectors of a strip. The first `whole` follow one another in every row, from `in` and `out`
 * on, and are full. */
typedef struct SCAN_NAME(scan_vectors) {
  SCAN_NAME(scan_lanes) of[SCAN_STRIP_VECTORS];
  const SCAN_E *in;
  SCAN_E *out;
  int count, whole;
} SCAN_NAME(scan_vectors);

#ifdef SCAN_FREE /* any order gives the same */
LANES_INLINE SCAN_V SCAN_NAME(scan_down)(SCAN_V x, bool exclusive, SCAN_V *all) {
  const SCAN_V before = *all, next = SCAN_COMBINE(before, x);
  *all = next;
  return exclusive ? before : next;
}

/* Any order gives the same: what each line has come to goes down with its rows. Vectors that are
 * not whole follow some rows later: what goes past the caches waits for what does not. */
LANES_INLINE void SCAN_NAME(scan_strip_rows)(const scan_strip *strip,
                                             const SCAN_NAME(scan_vectors) * vectors, bool past) {
  const SCAN_NAME(scan_code) code = SCAN_NAME(scan_code_of)(&strip->key);
  const bool exclusive = strip->exclusive;
  const int64_t in_step = strip->in_step, out_step = strip->out_step;
  SCAN_V all[SCAN_STRIP_VECTORS];
  for (int v = 0; v < vectors->count; ++v)
    all[v] = SCAN_NAME(scan_lanes_before)(strip, strip->begin / SCAN_TILE, v);
  for (int64_t first = strip->begin; first < strip->end; first += SCAN_ROW) {
    const int64_t left = strip->end - first, end = first + (left < SCAN_ROW ? left : SCAN_ROW);
    for (int64_t row = first; row < end; ++row) {
      const SCAN_E *in = vectors->in + row * in_step;
      SCAN_E *out = vectors->out + row * out_step;
      if (strip->asks) SCAN_NAME(scan_strip_ask)(strip, row, past);
      for (int v = 0; v < vectors->whole; ++v, in += SCAN_LANES, out += SCAN_LANES)
        SCAN_NAME(scan_store)
      (out, SCAN_NAME(scan_down)(SCAN_NAME(scan_load)(in, code), exclusive, &all[v]), code, past);
    }
    for (int v = vectors->whole; v < vectors->count; ++v) {
      const SCAN_NAME(scan_lanes) of = vectors->of[v];
      for (int64_t row = first; row < end; ++row) {
        const SCAN_V x = SCAN_NAME(scan_lanes_load)(&of, row * in_step, code);
        SCAN_NAME(scan_lanes_store)
        (&of, row * out_step, SCAN_NAME(scan_down)(x, exclusive, &all[v]), code);
      }
    }
  }
}

/* What a tile comes to, of every vector. */
static void SCAN_NAME(scan_strip_totals)(const scan_strip *strip,
                                         const SCAN_NAME(scan_vectors) * vectors, SCAN_V *totals) {
  const SCAN_NAME(scan_code) code = SCAN_NAME(scan_code_of)(&strip->key);
  for (int v = 0; v < vectors->count; ++v) totals[v] = SCAN_NAME(scan_all)(SCAN_IDENTITY);
  for (int64_t row = strip->begin; row < strip->end; ++row) {
    if (strip->asks) SCAN_NAME(scan_strip_ask)(strip, row, true);
    for (int v = 0; v < vectors->count; ++v) {
      const SCAN_V x = SCAN_NAME(scan_lanes_load)(&vectors->of[v], row * strip->in_step, code);
      totals[v] = SCAN_COMBINE(totals[v], x);
    }
  }
}
#else
/* What a vector of lines has come to. */
typedef struct SCAN_NAME(scan_state) {
  SCAN_V tiles, bands, rows; /* before the tile, of the tile's bands, of the band's rows */
  SCAN_V before, offset;     /* before the row, and before the next group of it */
  SCAN_V total;              /* of the row's groups so far */
  /* Of the groups before, what the step that looks s groups back needs of each of them: s numbers,
   * from s - 1 on. */
  SCAN_V back[SCAN_FAMILY - 1];
} SCAN_NAME(scan_state);

/* For group k of a row: where groups before it are too few, they are the identity. */
#define SCAN_STEP_BACK(s)                                       \
  if ((s) < groups) {                                           \
    SCAN_V *const seen = &at->back[(s)-1 + k % (s)], now = all; \
    all = SCAN_COMBINE(*seen, now);                             \
    *seen = now;                                                \
  }

/* Group k of `groups` of a row, of all lines of a vector, to its results. */
LANES_INLINE void SCAN_NAME(scan_state_group)(SCAN_NAME(scan_state) * at,
                                              const SCAN_V x[SCAN_GROUP], int k, int groups,
                                              bool exclusive, SCAN_V y[SCAN_GROUP]) {
  SCAN_V e[SCAN_GROUP];
  SCAN_NAME(scan_groups)(x, e);
  SCAN_NAME(scan_results)(e, at->offset, exclusive, y);
  SCAN_V all = e[SCAN_GROUP - 1];
  SCAN_STEP_BACK(1)
  SCAN_STEP_BACK(2)
  SCAN_STEP_BACK(4)
  SCAN_STEP_BACK(8)
  SCAN_STEP_BACK(16)
  at->total = all;
  at->offset = SCAN_COMBINE(at->before, all);
}
#undef SCAN_STEP_BACK

/* `whole` groups of a row from `first` on, of the vectors that are whole. */
LANES_INLINE void SCAN_NAME(scan_strip_whole)(const scan_strip *strip,
                                              const SCAN_NAME(scan_vectors) * vectors,
                                              SCAN_NAME(scan_state) * state, int64_t first,
                                              int whole, int groups, bool past) {
  const SCAN_NAME(scan_code) code = SCAN_NAME(scan_code_of)(&strip->key);
  for (int k = 0; k < whole; ++k) {
    const int64_t row = first + k * SCAN_GROUP, in_step = strip->in_step,
                  out_step = strip->out_step;
    const SCAN_E *in = vectors->in + row * in_step;
    SCAN_E *out = vectors->out + row * out_step;
    for (int c = 0; c < SCAN_GROUP && strip->asks; ++c)
      SCAN_NAME(scan_strip_ask)(strip, row + c, past);
    for (int v = 0; v < vectors->whole; ++v, in += SCAN_LANES, out += SCAN_LANES) {
      SCAN_V x[SCAN_GROUP], y[SCAN_GROUP];
      for (int c = 0; c < SCAN_GROUP; ++c) x[c] = SCAN_NAME(scan_load)(in + c * in_step, code);
      SCAN_NAME(scan_state_group)(&state[v], x, k, groups, strip->exclusive, y);
      for (int c = 0; c < SCAN_GROUP; ++c)
        SCAN_NAME(scan_store)(out + c * out_step, y[c], code, past);
    }
  }
}

/* A group of a row, or what there is of its last one, of lines that may lie anywhere. */
LANES_OUTLINE void SCAN_NAME(scan_strip_any)(const scan_strip *strip,
                                             const SCAN_NAME(scan_lanes) * of,
                                             SCAN_NAME(scan_state) * state, int64_t row, int rows,
                                             int k, int groups) {
  const SCAN_NAME(scan_code) code = SCAN_NAME(scan_code_of)(&strip->key);
  SCAN_V x[SCAN_GROUP], y[SCAN_GROUP];
  for (int c = 0; c < SCAN_GROUP; ++c) {
    x[c] = SCAN_NAME(scan_all)(SCAN_IDENTITY);
    if (c < rows) x[c] = SCAN_NAME(scan_lanes_load)(of, (row + c) * strip->in_step, code);
  }
  SCAN_NAME(scan_state_group)(state, x, k, groups, strip->exclusive, y);
  for (int c = 0; c < rows; ++c)
    SCAN_NAME(scan_lanes_store)(of, (row + c) * strip->out_step, y[c], code);
}

/* Before a row. */
LANES_INLINE void SCAN_NAME(scan_state_begin)(const scan_strip *strip, SCAN_NAME(scan_state) * at,
                                              int64_t first, int groups, int v) {
  const SCAN_V identity = SCAN_NAME(scan_all)(SCAN_IDENTITY);
  if (first % SCAN_BAND == 0) {
    const SCAN_V bands = SCAN_COMBINE(at->bands, at->rows);
    at->bands = bands;
    if (first % SCAN_TILE == 0) at->bands = identity;
    at->rows = identity;
  }
  if (first % SCAN_TILE == 0) at->tiles = SCAN_NAME(scan_lanes_before)(strip, first / SCAN_TILE, v);
  const SCAN_V offset = SCAN_COMBINE(at->tiles, at->bands);
  at->before = at->offset = SCAN_COMBINE(offset, at->rows);
  for (int s = 1; s < groups; s *= 2)
    for (int i = 0; i < s; ++i) at->back[s - 1 + i] = identity;
}

/* Group by group, all vectors of it: memory is read and written as it lies, and what a group needs
 * of those before it stays in the nearest cache. */
LANES_INLINE void SCAN_NAME(scan_strip_rows)(const scan_strip *strip,
                                             const SCAN_NAME(scan_vectors) * vectors, bool past) {
  SCAN_NAME(scan_state) state[SCAN_STRIP_VECTORS];
  const int count = vectors->count, full = vectors->whole;
  for (int v = 0; v < count; ++v)
    state[v].bands = state[v].rows = SCAN_NAME(scan_all)(SCAN_IDENTITY);
  for (int64_t first = strip->begin; first < strip->end; first += SCAN_ROW) {
    const int64_t left = strip->columns - first;
    const int now = left < SCAN_ROW ? (int)left : SCAN_ROW;
    const int groups = (now + SCAN_GROUP - 1) / SCAN_GROUP, whole = now / SCAN_GROUP;
    for (int v = 0; v < count; ++v) SCAN_NAME(scan_state_begin)(strip, &state[v], first, groups, v);
    if (LANES_BYTES > 16 && now == SCAN_ROW) SCAN_NAME(scan_strip_whole)
    (strip, vectors, state, first, SCAN_FAMILY, SCAN_FAMILY, past);
    else SCAN_NAME(scan_strip_whole)(strip, vectors, state, first, whole, groups, past);
    for (int v = 0; v < count; ++v)
      for (int k = v < full ? whole : 0; k < groups; ++k) SCAN_NAME(scan_strip_any)
    (strip, &vectors->of[v], &state[v], first + k * SCAN_GROUP,
     k < whole ? SCAN_GROUP : now % SCAN_GROUP, k, groups);
    SCAN_V totals[SCAN_STRIP_VECTORS];
    for (int v = 0; v < count; ++v) {
      SCAN_NAME(scan_state) *at = &state[v];
      at->rows = SCAN_COMBINE(at->rows, at->total);
      totals[v] = SCAN_COMBINE(at->bands, at->rows);
    }
    if (left > SCAN_ROW && (first + SCAN_ROW) % SCAN_TILE == 0 && strip->there == NULL)
      SCAN_NAME(scan_lanes_leave)(strip, first / SCAN_TILE, totals);
  }
}

/* What a tile comes to, of every vector: of a row neighbours fold, and what is on the left waits
 * for what is on the right. */
static void SCAN_NAME(scan_strip_totals)(const scan_strip *strip,
                                         const SCAN_NAME(scan_vectors) * vectors, SCAN_V *totals) {
  const SCAN_NAME(scan_code) code = SCAN_NAME(scan_code_of)(&strip->key);
  const SCAN_V identity = SCAN_NAME(scan_all)(SCAN_IDENTITY);
  SCAN_V waiting[SCAN_STRIP_VECTORS][6], rows[SCAN_STRIP_VECTORS];
  for (int v = 0; v < vectors->count; ++v) totals[v] = rows[v] = identity;
  for (int64_t first = strip->begin; first < strip->end; first += SCAN_ROW) {
    for (int k = 0; k < SCAN_FAMILY; ++k) {
      const int64_t row = first + k * SCAN_GROUP;
      for (int c = 0; c < SCAN_GROUP && strip->asks; ++c)
        SCAN_NAME(scan_strip_ask)(strip, row + c, true);
      for (int v = 0; v < vectors->count; ++v) {
        SCAN_V x[SCAN_GROUP];
        for (int c = 0; c < SCAN_GROUP; ++c)
          x[c] = SCAN_NAME(scan_lanes_load)(&vectors->of[v], (row + c) * strip->in_step, code);
        const SCAN_V left = SCAN_COMBINE(x[0], x[1]), right = SCAN_COMBINE(x[2], x[3]);
        SCAN_V all = SCAN_COMBINE(left, right);
        int s = 0;
        for (; k >> s & 1; ++s) all = SCAN_COMBINE(waiting[v][s], all);
        waiting[v][s] = all;
      }
    }
    for (int v = 0; v < vectors->count; ++v) {
      rows[v] = SCAN_COMBINE(rows[v], waiting[v][5]);
      if ((first + SCAN_ROW) % SCAN_BAND != 0) continue;
      totals[v] = SCAN_COMBINE(totals[v], rows[v]);
      rows[v] = identity;
    }
  }
}
#endif

/* Adds a vector of `count` lines from `first` on. */
LANES_INLINE void SCAN_NAME(scan_add_vector)(const scan_strip *strip, int first, int count,
                                             SCAN_NAME(scan_vectors) * vectors) {
  SCAN_NAME(scan_lanes) *of = &vectors->of[vectors->count++];
  of->in = (const SCAN_E *)(const void *)strip->in;
  of->out = (SCAN_E *)(void *)strip->out;
  of->count = count;
  if (strip->scattered) {
    of->in_at = strip->in_at + first;
    of->out_at = strip->out_at + first;
    return;
  }
  of->in += first;
  of->out += first;
#ifndef SCAN_PARTS
  if (count < SCAN_LANES) of->in_at = of->out_at = scan_neighbours;
#endif
}

static void SCAN_NAME(scan_across)(const scan_strip *strip) {
  SCAN_NAME(scan_vectors) vectors = {.whole = 0};
  SCAN_E *out = (SCAN_E *)(void *)strip->out;
#ifdef SCAN_NARROW
  if (!strip->scattered) {
    SCAN_NAME(scan_narrow_across)(strip);
    for (int l = 0; l < strip->count && strip->exclusive; ++l)
      out[l] = SCAN_NAME(scan_empty)(strip->key);
    return;
  }
#endif
  const int whole = (strip->count - strip->head) / SCAN_LANES;
  const int tail = strip->head + whole * SCAN_LANES;
  vectors.whole = strip->scattered ? 0 : whole;
  vectors.in = (const SCAN_E *)(const void *)strip->in + strip->head;
  vectors.out = out + strip->head;
  for (int v = 0; v < whole; ++v)
    SCAN_NAME(scan_add_vector)(strip, strip->head + v * SCAN_LANES, SCAN_LANES, &vectors);
  if (strip->head > 0) SCAN_NAME(scan_add_vector)(strip, 0, strip->head, &vectors);
  if (tail < strip->count) SCAN_NAME(scan_add_vector)(strip, tail, strip->count - tail, &vectors);
  if (strip->there != NULL && strip->end < strip->columns) {
    SCAN_V totals[SCAN_STRIP_VECTORS];
    SCAN_NAME(scan_strip_totals)(strip, &vectors, totals);
    SCAN_NAME(scan_lanes_leave)(strip, strip->begin / SCAN_TILE, totals);
  }
  if (SCAN_PAST && strip->past)
    SCAN_NAME(scan_strip_rows)(strip, &vectors, true);
  else
    SCAN_NAME(scan_strip_rows)(strip, &vectors, false);
  if (strip->past) lanes_stream_end();
  for (int l = 0; l < strip->count && strip->exclusive && strip->begin == 0; ++l)
    out[strip->scattered ? strip->out_at[l] : l] =
        SCAN_NAME(scan_empty)(SCAN_NAME(scan_code_of)(&strip->key));
}
#undef SCAN_PAST
