/* What a line comes to where the order is free: included by tile_of.h alone, where SCAN_FREE is a
 * vector of elements. Sums of integers modulo 2^bits, minima and maxima are the same in any order:
 * a vector's prefixes are found by shifts, one number goes from vector to vector, and rows need no
 * totals. */

enum { SCAN_NAME(scan_many) = sizeof(SCAN_FREE) / sizeof(SCAN_E) }; /* lanes */

LANES_INLINE SCAN_FREE SCAN_NAME(scan_free_all)(SCAN_T number) {
  return (__typeof__((SCAN_FREE){0}[0]))SCAN_FREE_OF(number) - (SCAN_FREE){0};
}
LANES_INLINE SCAN_FREE SCAN_NAME(scan_free_load)(const SCAN_E *from, const rung_key_code *key) {
  SCAN_FREE v;
  (void)key;
  memcpy(&v, from, sizeof v);
  return SCAN_FREE_LOAD(v, key);
}

#define SCAN_FREE_BACK(before, v, s) \
  LANES_SHUFFLE_TWO(before, v, ((SCAN_FREE_INTS){SCAN_FREE_LIST(SCAN_LANE_BACK, (s))}))
#define SCAN_FREE_STEP(s) \
  if ((s) < SCAN_NAME(scan_many)) v = SCAN_FREE_COMBINE(SCAN_FREE_BACK(none, v, s), v);
LANES_INLINE SCAN_FREE SCAN_NAME(scan_free_prefix)(SCAN_FREE v) {
  const SCAN_FREE none = SCAN_NAME(scan_free_all)(SCAN_IDENTITY);
  SCAN_FREE_STEP(1)
  SCAN_FREE_STEP(2)
  SCAN_FREE_STEP(4)
  SCAN_FREE_STEP(8)
  return v;
}
#undef SCAN_FREE_STEP

/* A key's code, of which the compiler knows what is left where elements are integers. */
LANES_INLINE rung_key_code SCAN_NAME(scan_free_code)(const rung_key_code *key, bool integers) {
  rung_key_code code = *key;
  if (integers) code.order = code.most = 0;
  return code;
}

LANES_INLINE SCAN_T SCAN_NAME(scan_free_total)(const SCAN_E *from, const rung_key_code *key,
                                               bool integers) {
  enum { MANY = SCAN_NAME(scan_many), CHAINS = 4 };
  const rung_key_code own = SCAN_NAME(scan_free_code)(key, integers);
  SCAN_FREE all[CHAINS];
  for (int c = 0; c < CHAINS; ++c) all[c] = SCAN_NAME(scan_free_all)(SCAN_IDENTITY);
  for (int k = 0; k < SCAN_TILE; k += CHAINS * MANY)
#pragma GCC unroll 4
    for (int c = 0; c < CHAINS; ++c) {
      const SCAN_FREE x = SCAN_NAME(scan_free_load)(from + k + c * MANY, &own);
      all[c] = SCAN_FREE_COMBINE(all[c], x);
    }
  all[0] = SCAN_FREE_COMBINE(all[0], all[1]);
  all[2] = SCAN_FREE_COMBINE(all[2], all[3]);
  all[0] = SCAN_FREE_COMBINE(all[0], all[2]);
  return (SCAN_T)SCAN_NAME(scan_free_prefix)(all[0])[MANY - 1];
}

/* Only the tile's is asked for here, as long as it is whole. */
static void SCAN_NAME(scan_totals)(const void *in, int rows, const rung_key_code *key, void *totals,
                                   void *total) {
  const SCAN_E *from = (const SCAN_E *)in;
  (void)totals;
  if (rows < SCAN_ROWS) return;
  *(SCAN_T *)total = key->order == 0 ? SCAN_NAME(scan_free_total)(from, key, true)
                                     : SCAN_NAME(scan_free_total)(from, key, false);
}

/* What a tile has come to: all lanes of `before` are that, `back` ends with it. */
typedef struct SCAN_NAME(scan_free_state) {
  SCAN_FREE before, back;
} SCAN_NAME(scan_free_state);

LANES_INLINE void SCAN_NAME(scan_free_step)(const SCAN_E *in, SCAN_E *out, bool exclusive,
                                            const rung_key_code *key,
                                            SCAN_NAME(scan_free_state) * at) {
  const SCAN_FREE x = SCAN_NAME(scan_free_load)(in, key);
  const SCAN_FREE prefix = SCAN_NAME(scan_free_prefix)(x);
  const SCAN_FREE last =
      LANES_SHUFFLE(prefix, ((SCAN_FREE_INTS){SCAN_FREE_LIST(SCAN_LANE_LAST, 0)}));
  const SCAN_FREE y = SCAN_FREE_COMBINE(at->before, prefix);
  const SCAN_FREE earlier = SCAN_FREE_BACK(at->back, y, 1);
  const SCAN_FREE result = SCAN_FREE_STORE(exclusive ? earlier : y, key);
  memcpy(out, &result, sizeof result);
  at->before = SCAN_FREE_COMBINE(at->before, last);
  at->back = y;
}
#undef SCAN_FREE_BACK

/* `count` elements and their results; `next`: see scan_piece. */
LANES_INLINE void SCAN_NAME(scan_free_run)(const SCAN_E *in, SCAN_E *out, int count, bool exclusive,
                                           const rung_key_code *key, const char *next,
                                           SCAN_NAME(scan_free_state) * at) {
  enum { MANY = SCAN_NAME(scan_many) };
  SCAN_E end[MANY] = {0};
  int k = 0;
  for (; k + SCAN_ROW <= count; k += SCAN_ROW) {
    if (next != NULL) scan_prefetch(next + k * (int)sizeof(SCAN_E), SCAN_ROW * sizeof(SCAN_E));
    for (int v = k; v < k + SCAN_ROW; v += MANY)
      SCAN_NAME(scan_free_step)(in + v, out + v, exclusive, key, at);
  }
  for (; k + MANY <= count; k += MANY)
    SCAN_NAME(scan_free_step)(in + k, out + k, exclusive, key, at);
  if (k < count) {
    const size_t bytes = (size_t)(count - k) * sizeof(SCAN_E);
    memcpy(end, in + k, bytes);
    SCAN_NAME(scan_free_step)(end, end, exclusive, key, at);
    memcpy(out + k, end, bytes);
  }
}

#ifndef SCAN_NARROW
/* Results that go past the caches do so a row later, by way of one of two rows of a buffer; the
 * rung sees to it that they have arrived. */
LANES_INLINE void SCAN_NAME(scan_free_rows)(const scan_piece *piece, bool exclusive,
                                            SCAN_T before) {
  const rung_key_code key = piece->key;
  const SCAN_FREE first = SCAN_NAME(scan_free_all)(before);
  SCAN_NAME(scan_free_state) at = {first, first};
  const SCAN_E *in = (const SCAN_E *)piece->in;
  SCAN_E *out = (SCAN_E *)piece->out, rows_of[2][SCAN_ROW];
  const bool past = SCAN_NAME(scan_streams) && piece->past;
  int waiting = -1; /* the row that is in a buffer */
  for (int k = 0; k < piece->count; k += SCAN_ROW) {
    const int row = k / SCAN_ROW, left = piece->count - k;
    const bool whole = left >= SCAN_ROW;
    SCAN_E *const to = past && whole ? rows_of[row % 2] : out + k;
    const char *next = piece->next == NULL ? NULL : piece->next + k * (int)sizeof(SCAN_E);
    if (whole)
      SCAN_NAME(scan_free_run)(in + k, to, SCAN_ROW, exclusive, &key, next, &at);
    else
      SCAN_NAME(scan_free_run)(in + k, to, left, exclusive, &key, next, &at);
    if (exclusive && piece->begins && k == 0)
      to[0] = SCAN_NAME(scan_empty)(SCAN_NAME(scan_code_of)(&key));
    SCAN_NAME(scan_put_row)(out, rows_of, waiting);
    waiting = past && whole ? row : -1;
  }
  SCAN_NAME(scan_put_row)(out, rows_of, waiting);
}

static void SCAN_NAME(scan_tile)(const scan_piece *piece, const void *totals, const void *before) {
  (void)totals;
  if (piece->exclusive)
    SCAN_NAME(scan_free_rows)(piece, true, *(const SCAN_T *)before);
  else
    SCAN_NAME(scan_free_rows)(piece, false, *(const SCAN_T *)before);
}
#endif
