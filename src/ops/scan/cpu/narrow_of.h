/* Tiles, short lines and strips of numbers of 8 or 16 bits that need no more: included by tile_of.h
 * alone, behind free_of.h, where SCAN_NARROW is defined. Widened to 32 bits first they would be
 * four times as many vectors. */

enum { SCAN_NAME(scan_widest) = SCAN_NARROW_STRIP / sizeof(SCAN_E) };

LANES_INLINE void SCAN_NAME(scan_narrow_of)(const scan_piece *piece, SCAN_E *out, bool exclusive,
                                            SCAN_T before, bool integers) {
  const rung_key_code key = SCAN_NAME(scan_free_code)(&piece->key, integers);
  const SCAN_FREE first = SCAN_NAME(scan_free_all)(before);
  SCAN_NAME(scan_free_state) at = {first, first};
  SCAN_NAME(scan_free_run)
  ((const SCAN_E *)piece->in, out, piece->count, exclusive, &key, piece->next, &at);
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
                                              const rung_key_code *key, SCAN_FREE *all) {
  const SCAN_FREE x = SCAN_NAME(scan_free_load)(in, key), next = SCAN_FREE_COMBINE(*all, x);
  const SCAN_FREE result = SCAN_FREE_STORE(exclusive ? *all : next, key);
  memcpy(out, &result, sizeof result);
  *all = next;
}

/* Lines that are neighbours: what each has come to goes down row by row. */
LANES_INLINE void SCAN_NAME(scan_narrow_strip)(const scan_strip *strip, bool exclusive) {
  enum { MANY = SCAN_NAME(scan_many), MOST = SCAN_NAME(scan_widest) / MANY, AHEAD = 8 };
  const rung_key_code key = strip->key;
  const int whole = strip->count / MANY;
  const size_t rest = (size_t)(strip->count % MANY) * sizeof(SCAN_E);
  SCAN_FREE all[MOST + 1];
  for (int v = 0; v <= MOST; ++v) all[v] = SCAN_NAME(scan_free_all)(SCAN_IDENTITY);
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
