/* Tiles, short lines and strips of numbers of 8 or 16 bits that need no more: included by tile_of.h
 * alone, where SCAN_NARROW is a vector of 16 bytes of them. Sums modulo 2^bits, minima and maxima
 * are the same in any order: a vector's prefixes are found by shifts, one number goes from vector
 * to vector, and rows need no totals. Widened to 32 bits first they would be four times as many
 * vectors. */

enum {
  SCAN_NAME(scan_many) = sizeof(SCAN_NARROW) / sizeof(SCAN_E), /* lanes */
  SCAN_NAME(scan_widest) = SCAN_NARROW_STRIP / sizeof(SCAN_E)
};

LANES_INLINE SCAN_NARROW SCAN_NAME(scan_narrow_all)(SCAN_T number) {
  return (__typeof__((SCAN_NARROW){0}[0]))SCAN_NARROW_OF(number) - (SCAN_NARROW){0};
}
LANES_INLINE SCAN_NARROW SCAN_NAME(scan_narrow_load)(const SCAN_E *from, const rung_key_code *key) {
  SCAN_NARROW v;
  (void)key;
  memcpy(&v, from, sizeof v);
  return SCAN_NARROW_LOAD(v, key);
}

#define SCAN_NARROW_BACK(before, v, s) \
  LANES_SHUFFLE_TWO(before, v, ((SCAN_NARROW_INTS){SCAN_NARROW_LIST(SCAN_LANE_BACK, (s))}))
#define SCAN_NARROW_STEP(s) \
  if ((s) < SCAN_NAME(scan_many)) v = SCAN_NARROW_COMBINE(SCAN_NARROW_BACK(none, v, s), v);
LANES_INLINE SCAN_NARROW SCAN_NAME(scan_narrow_prefix)(SCAN_NARROW v) {
  const SCAN_NARROW none = SCAN_NAME(scan_narrow_all)(SCAN_IDENTITY);
  SCAN_NARROW_STEP(1)
  SCAN_NARROW_STEP(2)
  SCAN_NARROW_STEP(4)
  SCAN_NARROW_STEP(8)
  return v;
}
#undef SCAN_NARROW_STEP

/* A key's code, of which the compiler knows what is left where elements are integers. */
LANES_INLINE rung_key_code SCAN_NAME(scan_narrow_code)(const rung_key_code *key, bool integers) {
  rung_key_code code = *key;
  if (integers) code.order = code.most = 0;
  return code;
}

LANES_INLINE SCAN_T SCAN_NAME(scan_narrow_total)(const SCAN_E *from, const rung_key_code *key,
                                                 bool integers) {
  enum { MANY = SCAN_NAME(scan_many), CHAINS = 4 };
  const rung_key_code own = SCAN_NAME(scan_narrow_code)(key, integers);
  SCAN_NARROW all[CHAINS];
  for (int c = 0; c < CHAINS; ++c) all[c] = SCAN_NAME(scan_narrow_all)(SCAN_IDENTITY);
  for (int k = 0; k < SCAN_TILE; k += CHAINS * MANY)
#pragma GCC unroll 4
    for (int c = 0; c < CHAINS; ++c) {
      const SCAN_NARROW x = SCAN_NAME(scan_narrow_load)(from + k + c * MANY, &own);
      all[c] = SCAN_NARROW_COMBINE(all[c], x);
    }
  all[0] = SCAN_NARROW_COMBINE(all[0], all[1]);
  all[2] = SCAN_NARROW_COMBINE(all[2], all[3]);
  all[0] = SCAN_NARROW_COMBINE(all[0], all[2]);
  return (SCAN_T)SCAN_NAME(scan_narrow_prefix)(all[0])[MANY - 1];
}

/* Only the tile's is asked for here, as long as it is whole. */
static void SCAN_NAME(scan_totals)(const void *in, int rows, const rung_key_code *key, void *totals,
                                   void *total) {
  const SCAN_E *from = (const SCAN_E *)in;
  (void)totals;
  if (rows < SCAN_ROWS) return;
  *(SCAN_T *)total = key->order == 0 ? SCAN_NAME(scan_narrow_total)(from, key, true)
                                     : SCAN_NAME(scan_narrow_total)(from, key, false);
}

/* What a tile has come to: all lanes of `before` are that, `back` ends with it. */
typedef struct SCAN_NAME(scan_narrow_state) {
  SCAN_NARROW before, back;
} SCAN_NAME(scan_narrow_state);

LANES_INLINE void SCAN_NAME(scan_narrow_step)(const SCAN_E *in, SCAN_E *out, bool exclusive,
                                              const rung_key_code *key,
                                              SCAN_NAME(scan_narrow_state) * at) {
  const SCAN_NARROW x = SCAN_NAME(scan_narrow_load)(in, key);
  const SCAN_NARROW prefix = SCAN_NAME(scan_narrow_prefix)(x);
  const SCAN_NARROW last =
      LANES_SHUFFLE(prefix, ((SCAN_NARROW_INTS){SCAN_NARROW_LIST(SCAN_LANE_LAST, 0)}));
  const SCAN_NARROW y = SCAN_NARROW_COMBINE(at->before, prefix);
  const SCAN_NARROW earlier = SCAN_NARROW_BACK(at->back, y, 1);
  const SCAN_NARROW result = SCAN_NARROW_STORE(exclusive ? earlier : y, key);
  memcpy(out, &result, sizeof result);
  at->before = SCAN_NARROW_COMBINE(at->before, last);
  at->back = y;
}
#undef SCAN_NARROW_BACK

LANES_INLINE void SCAN_NAME(scan_narrow_of)(const scan_piece *piece, SCAN_E *out, bool exclusive,
                                            SCAN_T before, bool integers) {
  enum { MANY = SCAN_NAME(scan_many) };
  const rung_key_code key = SCAN_NAME(scan_narrow_code)(&piece->key, integers);
  const SCAN_E *in = (const SCAN_E *)piece->in;
  const SCAN_NARROW first = SCAN_NAME(scan_narrow_all)(before);
  SCAN_NAME(scan_narrow_state) at = {first, first};
  SCAN_E end[MANY] = {0};
  int k = 0;
  for (; k + SCAN_ROW <= piece->count; k += SCAN_ROW) {
    if (piece->next != NULL)
      scan_prefetch(piece->next + k * (int)sizeof(SCAN_E), SCAN_ROW * sizeof(SCAN_E));
    for (int v = k; v < k + SCAN_ROW; v += MANY)
      SCAN_NAME(scan_narrow_step)(in + v, out + v, exclusive, &key, &at);
  }
  for (; k + MANY <= piece->count; k += MANY)
    SCAN_NAME(scan_narrow_step)(in + k, out + k, exclusive, &key, &at);
  if (k < piece->count) {
    const size_t bytes = (size_t)(piece->count - k) * sizeof(SCAN_E);
    memcpy(end, in + k, bytes);
    SCAN_NAME(scan_narrow_step)(end, end, exclusive, &key, &at);
    memcpy(out + k, end, bytes);
  }
  if (exclusive && piece->begins) out[0] = SCAN_NAME(scan_empty)(piece->key);
}

LANES_INLINE void SCAN_NAME(scan_narrow_tile)(const scan_piece *piece, SCAN_E *out, bool exclusive,
                                              SCAN_T before) {
  if (piece->key.order == 0)
    SCAN_NAME(scan_narrow_of)(piece, out, exclusive, before, true);
  else
    SCAN_NAME(scan_narrow_of)(piece, out, exclusive, before, false);
}

/* Past the caches at once: a row of these would share too many lines with its neighbours. */
static void SCAN_NAME(scan_tile)(const scan_piece *piece, const void *totals, const void *before) {
  const int bytes = piece->count * (int)sizeof(SCAN_E);
  const bool past = piece->past && bytes >= SCAN_NARROW_PAST;
  SCAN_E results[SCAN_TILE], *const out = past ? results : (SCAN_E *)piece->out;
  (void)totals;
  if (piece->exclusive)
    SCAN_NAME(scan_narrow_tile)(piece, out, true, *(const SCAN_T *)before);
  else
    SCAN_NAME(scan_narrow_tile)(piece, out, false, *(const SCAN_T *)before);
  if (past) scan_put_past((char *)piece->out, (const char *)results, bytes);
}

/* Short lines, but of at least a vector, one after the other. */
static void SCAN_NAME(scan_narrow_lines)(const scan_short_lines *lines) {
  scan_piece piece = {.count = lines->columns, .key = lines->key, .begins = true};
  for (int64_t l = 0; l < lines->count; ++l) {
    SCAN_E *const out = (SCAN_E *)lines->out + l * lines->out_pitch;
    piece.in = (const SCAN_E *)lines->in + l * lines->in_pitch;
    if (lines->exclusive)
      SCAN_NAME(scan_narrow_tile)(&piece, out, true, SCAN_IDENTITY);
    else
      SCAN_NAME(scan_narrow_tile)(&piece, out, false, SCAN_IDENTITY);
  }
}

LANES_INLINE void SCAN_NAME(scan_narrow_down)(const SCAN_E *in, SCAN_E *out, bool exclusive,
                                              const rung_key_code *key, SCAN_NARROW *all) {
  const SCAN_NARROW x = SCAN_NAME(scan_narrow_load)(in, key), next = SCAN_NARROW_COMBINE(*all, x);
  const SCAN_NARROW result = SCAN_NARROW_STORE(exclusive ? *all : next, key);
  memcpy(out, &result, sizeof result);
  *all = next;
}

/* Lines that are neighbours: what each has come to goes down row by row. */
LANES_INLINE void SCAN_NAME(scan_narrow_strip)(const scan_strip *strip, bool exclusive) {
  enum { MANY = SCAN_NAME(scan_many), MOST = SCAN_NAME(scan_widest) / MANY, AHEAD = 8 };
  const rung_key_code key = strip->key;
  const int whole = strip->count / MANY;
  const size_t rest = (size_t)(strip->count % MANY) * sizeof(SCAN_E);
  SCAN_NARROW all[MOST + 1];
  for (int v = 0; v <= MOST; ++v) all[v] = SCAN_NAME(scan_narrow_all)(SCAN_IDENTITY);
  for (int64_t row = 0; row < strip->columns; ++row) {
    const SCAN_E *from = (const SCAN_E *)(const void *)strip->in + row * strip->in_step;
    SCAN_E *to = (SCAN_E *)(void *)strip->out + row * strip->out_step, end[MANY] = {0};
    if (row + AHEAD < strip->columns)
      scan_prefetch((const char *)(from + AHEAD * strip->in_step),
                    (size_t)strip->count * sizeof(SCAN_E));
    for (int v = 0; v < whole; ++v)
      SCAN_NAME(scan_narrow_down)(from + v * MANY, to + v * MANY, exclusive, &key, &all[v]);
    if (rest == 0) continue;
    memcpy(end, from + whole * MANY, rest);
    SCAN_NAME(scan_narrow_down)(end, end, exclusive, &key, &all[whole]);
    memcpy(to + whole * MANY, end, rest);
  }
}

static void SCAN_NAME(scan_narrow_across)(const scan_strip *strip) {
  if (strip->exclusive)
    SCAN_NAME(scan_narrow_strip)(strip, true);
  else
    SCAN_NAME(scan_narrow_strip)(strip, false);
}
