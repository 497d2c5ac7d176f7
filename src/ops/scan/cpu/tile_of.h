/* The functions of tile.h for one scan_operator: included by tiles.c alone, once for each.
 *
 * A row's elements are parted into four: x[c][w] holds element c of LANES neighbouring groups, so
 * that the prefixes of groups are additions of whole vectors, and so are those of rows, but for
 * steps shorter than a vector. */

/* Where the order is free the vectors are those of numbers, but of narrow ones. */
#ifdef SCAN_ANY_ORDER
#define SCAN_FREE SCAN_V
#define SCAN_FREE_INTS SCAN_INTS
#define SCAN_FREE_LIST SCAN_LIST
#define SCAN_FREE_OF(number) (number)
#define SCAN_FREE_COMBINE SCAN_COMBINE
#define SCAN_FREE_LOAD(v, key) SCAN_LOAD(v, SCAN_NAME(scan_all)((SCAN_T)(key)->mask))
#define SCAN_FREE_STORE(v, key) SCAN_STORE(v, SCAN_NAME(scan_all)((SCAN_T)(key)->mask))
#endif

enum { SCAN_NAME(scan_wide) = SCAN_FAMILY / SCAN_LANES }; /* vectors that hold a row's groups */

LANES_INLINE SCAN_V SCAN_NAME(scan_all)(SCAN_T value) {
  return value - (SCAN_V){0};
}

/* What loads and stores need of a key, and elements to numbers and back: a vector's worth. `past`
 * the caches: to is aligned to a vector. */
#ifdef SCAN_LOAD_ONE
/* Whether elements are numbers as they are, and whether stores go past the caches. */
enum { SCAN_NAME(scan_plain) = 0, SCAN_NAME(scan_streams) = 0 };
/* Loads and stores one by one are much code: a row has one copy of it. */
#define SCAN_ROW_FUNCTION LANES_OUTLINE void
typedef rung_key_code SCAN_NAME(scan_code);

LANES_INLINE SCAN_NAME(scan_code) SCAN_NAME(scan_code_of)(const rung_key_code *key) {
  return *key;
}
LANES_INLINE SCAN_V SCAN_NAME(scan_load)(const SCAN_E *from, SCAN_NAME(scan_code) code) {
#ifdef SCAN_LOAD_ALL
  return SCAN_LOAD_ALL(from, &code);
#else
  SCAN_T numbers[SCAN_LANES];
  SCAN_V v;
  (void)code;
  for (int l = 0; l < SCAN_LANES; ++l) numbers[l] = SCAN_LOAD_ONE(from[l], &code);
  memcpy(&v, numbers, sizeof v);
  return v;
#endif
}
LANES_INLINE void SCAN_NAME(scan_store)(SCAN_E *to, SCAN_V v, SCAN_NAME(scan_code) code,
                                        bool past) {
  (void)code, (void)past;
#ifdef SCAN_STORE_ALL
  SCAN_STORE_ALL(to, v, &code);
#else
  SCAN_T numbers[SCAN_LANES];
  memcpy(numbers, &v, sizeof v);
  for (int l = 0; l < SCAN_LANES; ++l) to[l] = (SCAN_E)SCAN_STORE_ONE(numbers[l], &code);
#endif
}
/* What is turned into columns: numbers. */
#define SCAN_TAKE(v, code) (v)
#define SCAN_GIVE(v, code) (v)
LANES_INLINE SCAN_V SCAN_NAME(scan_raw)(const SCAN_E *from, SCAN_NAME(scan_code) code) {
  return SCAN_NAME(scan_load)(from, code);
}
LANES_INLINE void SCAN_NAME(scan_unraw)(SCAN_E *to, SCAN_V v, SCAN_NAME(scan_code) code) {
  SCAN_NAME(scan_store)(to, v, code, false);
}
#else
#define SCAN_E SCAN_T
enum { SCAN_NAME(scan_plain) = 1, SCAN_NAME(scan_streams) = LANES_BYTES > 16 };
#define SCAN_ROW_FUNCTION LANES_INLINE void
typedef SCAN_V SCAN_NAME(scan_code); /* the mask */

LANES_INLINE SCAN_NAME(scan_code) SCAN_NAME(scan_code_of)(const rung_key_code *key) {
  return SCAN_NAME(scan_all)((SCAN_T)key->mask);
}
LANES_INLINE SCAN_V SCAN_NAME(scan_load)(const SCAN_E *from, SCAN_NAME(scan_code) code) {
  SCAN_V v;
  (void)code;
  memcpy(&v, from, sizeof v);
  return SCAN_LOAD(v, code);
}
LANES_INLINE void SCAN_NAME(scan_store)(SCAN_E *to, SCAN_V v, SCAN_NAME(scan_code) code,
                                        bool past) {
  const SCAN_V stored = SCAN_STORE(v, code);
  (void)code;
  if (past)
    lanes_stream_f32((float *)(void *)to, (lanes_f32)stored);
  else
    memcpy(to, &stored, sizeof stored);
}
#if LANES_MASKS
#define SCAN_PARTS 1 /* rows need not be whole */
LANES_INLINE SCAN_V SCAN_NAME(scan_load_some)(const SCAN_E *from, int n,
                                              SCAN_NAME(scan_code) code) {
  const SCAN_V v = (SCAN_V)lanes_load_some(from, n * (int)sizeof *from);
  (void)code;
  return SCAN_LOAD(v, code);
}
LANES_INLINE void SCAN_NAME(scan_store_some)(SCAN_E *to, SCAN_V v, int n,
                                             SCAN_NAME(scan_code) code) {
  const SCAN_V stored = SCAN_STORE(v, code);
  (void)code;
  lanes_store_some(to, (lanes_i32)stored, n * (int)sizeof *to);
}
#endif
/* What is turned into columns: elements as they are. */
#define SCAN_TAKE SCAN_LOAD
#define SCAN_GIVE SCAN_STORE
LANES_INLINE SCAN_V SCAN_NAME(scan_raw)(const SCAN_E *from, SCAN_NAME(scan_code) code) {
  SCAN_V v;
  (void)code;
  memcpy(&v, from, sizeof v);
  return v;
}
LANES_INLINE void SCAN_NAME(scan_unraw)(SCAN_E *to, SCAN_V v, SCAN_NAME(scan_code) code) {
  (void)code;
  memcpy(to, &v, sizeof v);
}
#endif

/* The element that an exclusive scan begins with. */
LANES_INLINE SCAN_E SCAN_NAME(scan_empty)(SCAN_NAME(scan_code) code) {
  (void)code;
#if defined(SCAN_EMPTY)
  return SCAN_EMPTY;
#elif defined(SCAN_LOAD_ONE)
  return (SCAN_E)SCAN_STORE_ONE(code.most, &code);
#else
  SCAN_E stored[SCAN_LANES];
  SCAN_NAME(scan_store)(stored, SCAN_NAME(scan_all)(SCAN_IDENTITY), code, false);
  return stored[0];
#endif
}

/* Every second lane of a and b. */
LANES_INLINE SCAN_V SCAN_NAME(scan_even)(SCAN_V a, SCAN_V b) {
  return LANES_SHUFFLE_TWO(a, b, ((SCAN_INTS){SCAN_LIST(SCAN_LANE_EVEN, 0)}));
}
LANES_INLINE SCAN_V SCAN_NAME(scan_odd)(SCAN_V a, SCAN_V b) {
  return LANES_SHUFFLE_TWO(a, b, ((SCAN_INTS){SCAN_LIST(SCAN_LANE_ODD, 0)}));
}
/* The lanes of a and b in turn: the lower halves', and the upper halves'. */
LANES_INLINE SCAN_V SCAN_NAME(scan_lower)(SCAN_V a, SCAN_V b) {
  return LANES_SHUFFLE_TWO(a, b, ((SCAN_INTS){SCAN_LIST(SCAN_LANE_LOWER, 0)}));
}
LANES_INLINE SCAN_V SCAN_NAME(scan_upper)(SCAN_V a, SCAN_V b) {
  return LANES_SHUFFLE_TWO(a, b, ((SCAN_INTS){SCAN_LIST(SCAN_LANE_UPPER, 0)}));
}

/* The elements of LANES groups, c of each in x[c]. Where SCAN_PARTS, `count` elements or more. */
LANES_INLINE void SCAN_NAME(scan_part)(const SCAN_E *in, int count, SCAN_NAME(scan_code) code,
                                       SCAN_V x[4]) {
  SCAN_V v[4];
  for (int k = 0; k < 4; ++k) {
    const int left = count - k * SCAN_LANES;
    v[k] = SCAN_NAME(scan_all)(SCAN_IDENTITY);
    if (left >= SCAN_LANES) v[k] = SCAN_NAME(scan_load)(in + k * SCAN_LANES, code);
#ifdef SCAN_PARTS
    else if (left > 0)
      v[k] = SCAN_NAME(scan_load_some)(in + k * SCAN_LANES, left, code);
#endif
  }
  const SCAN_V even[2] = {SCAN_NAME(scan_even)(v[0], v[1]), SCAN_NAME(scan_even)(v[2], v[3])};
  const SCAN_V odd[2] = {SCAN_NAME(scan_odd)(v[0], v[1]), SCAN_NAME(scan_odd)(v[2], v[3])};
  x[0] = SCAN_NAME(scan_even)(even[0], even[1]);
  x[1] = SCAN_NAME(scan_even)(odd[0], odd[1]);
  x[2] = SCAN_NAME(scan_odd)(even[0], even[1]);
  x[3] = SCAN_NAME(scan_odd)(odd[0], odd[1]);
}

LANES_INLINE void SCAN_NAME(scan_unpart)(SCAN_E *out, int count, const SCAN_V x[4],
                                         SCAN_NAME(scan_code) code) {
  const SCAN_V even[2] = {SCAN_NAME(scan_lower)(x[0], x[2]), SCAN_NAME(scan_upper)(x[0], x[2])};
  const SCAN_V odd[2] = {SCAN_NAME(scan_lower)(x[1], x[3]), SCAN_NAME(scan_upper)(x[1], x[3])};
  for (int k = 0; k < 4; ++k) {
    const SCAN_V v = k % 2 == 0 ? SCAN_NAME(scan_lower)(even[k / 2], odd[k / 2])
                                : SCAN_NAME(scan_upper)(even[k / 2], odd[k / 2]);
    const int left = count - k * SCAN_LANES;
    if (left >= SCAN_LANES) SCAN_NAME(scan_store)(out + k * SCAN_LANES, v, code, false);
#ifdef SCAN_PARTS
    else if (left > 0)
      SCAN_NAME(scan_store_some)(out + k * SCAN_LANES, v, left, code);
#endif
  }
}

/* Of results that go past the caches a row later, by way of one of two rows of a buffer: the row
 * that waits there; -1: none does. */
LANES_INLINE void SCAN_NAME(scan_put_row)(SCAN_E *out, SCAN_E (*rows_of)[SCAN_ROW], int waiting) {
  if (waiting >= 0)
    scan_put_past((char *)(out + waiting * SCAN_ROW), (const char *)rows_of[waiting % 2],
                  (int)sizeof rows_of[0]);
}

#ifndef SCAN_FREE
/* The running result of t[0 ... count). */
static SCAN_T SCAN_NAME(scan_running)(const SCAN_T *t, int count) {
  SCAN_T all = SCAN_IDENTITY;
  for (int i = 0; i < count; ++i) all = SCAN_COMBINE_ONE(all, t[i]);
  return all;
}

/* The totals of up to eight rows, in one go: neighbours fold, five times. */
LANES_INLINE void SCAN_NAME(scan_band)(const SCAN_E *in, int rows, SCAN_NAME(scan_code) code,
                                       SCAN_T *totals) {
  enum { WIDE = SCAN_NAME(scan_wide), MOST = SCAN_EIGHT * WIDE };
  SCAN_V t[MOST + 1];
  for (int k = rows * WIDE; k < MOST; ++k) t[k] = SCAN_NAME(scan_all)(SCAN_IDENTITY);
  for (int k = 0; k < rows * WIDE; ++k) {
    SCAN_V x[4];
    SCAN_NAME(scan_part)(in + k * 4 * SCAN_LANES, SCAN_ROW, code, x);
    const SCAN_V left = SCAN_COMBINE(x[0], x[1]), right = SCAN_COMBINE(x[2], x[3]);
    t[k] = SCAN_COMBINE(left, right);
  }
  for (int s = 1, count = MOST; s<SCAN_FAMILY; s *= 2, count = count> 1 ? count / 2 : 1)
    for (int k = 0; k < (count > 1 ? count / 2 : 1); ++k) {
      const SCAN_V a = t[2 * k], b = t[count > 1 ? 2 * k + 1 : 0];
      const SCAN_V even = SCAN_NAME(scan_even)(a, b), odd = SCAN_NAME(scan_odd)(a, b);
      t[k] = SCAN_COMBINE(even, odd);
    }
  memcpy(totals, t, SCAN_EIGHT * sizeof *totals);
}

/* The totals of a tile's first rows; where those are all, the tile's too. */
static void SCAN_NAME(scan_totals)(const void *in, int rows, const rung_key_code *key, void *totals,
                                   void *total) {
  const SCAN_NAME(scan_code) code = SCAN_NAME(scan_code_of)(key);
  SCAN_T *to = (SCAN_T *)totals, bands[SCAN_EIGHT];
  for (int r = 0; r < rows; r += SCAN_EIGHT) {
    const int some = rows - r < SCAN_EIGHT ? rows - r : SCAN_EIGHT;
    SCAN_NAME(scan_band)((const SCAN_E *)in + r * SCAN_ROW, some, code, to + r);
  }
  if (rows < SCAN_ROWS) return;
  for (int b = 0; b < SCAN_EIGHT; ++b)
    bands[b] = SCAN_NAME(scan_running)(to + b * SCAN_EIGHT, SCAN_EIGHT);
  *(SCAN_T *)total = SCAN_NAME(scan_running)(bands, SCAN_EIGHT);
}

#endif

/* K of t[0 ... m), the last of it: only what it is made of. */
static void SCAN_NAME(scan_last)(const void *numbers, int m, void *last) {
  SCAN_T t[SCAN_FAMILY];
  memcpy(t, numbers, (size_t)m * sizeof *t);
  for (int s = 1; s < m; s *= 2)
    for (int i = m - 1; i >= s; i -= 2 * s) t[i] = SCAN_COMBINE_ONE(t[i - s], t[i]);
  *(SCAN_T *)last = t[m - 1];
}

static void SCAN_NAME(scan_identity)(void *value) {
  *(SCAN_T *)value = SCAN_IDENTITY;
}

static void SCAN_NAME(scan_combine)(void *all, const void *value) {
  *(SCAN_T *)all = SCAN_COMBINE_ONE(*(SCAN_T *)all, *(const SCAN_T *)value);
}

/* Groups side by side, element c of each in x[c], to their prefixes. */
LANES_INLINE void SCAN_NAME(scan_groups)(const SCAN_V x[SCAN_GROUP], SCAN_V e[SCAN_GROUP]) {
  const SCAN_V first = x[0], both = SCAN_COMBINE(x[0], x[1]), middle = SCAN_COMBINE(x[1], x[2]),
               right = SCAN_COMBINE(x[2], x[3]);
  e[0] = first;
  e[1] = both;
  e[2] = SCAN_COMBINE(first, middle);
  e[3] = SCAN_COMBINE(both, right);
}

/* Their results; `offset` is what comes before each. */
LANES_INLINE void SCAN_NAME(scan_results)(const SCAN_V e[SCAN_GROUP], SCAN_V offset, bool exclusive,
                                          SCAN_V y[SCAN_GROUP]) {
  for (int c = SCAN_GROUP - 1; c >= 0; --c) {
    if (exclusive && c == 0)
      y[c] = offset;
    else
      y[c] = SCAN_COMBINE(offset, e[exclusive ? c - 1 : c]);
  }
}

#ifdef SCAN_FREE
#include "ops/scan/cpu/free_of.h"
#endif
#ifdef SCAN_NARROW
#include "ops/scan/cpu/narrow_of.h"
#endif
#ifndef SCAN_FREE
#define SCAN_STEP(s)                                                                         \
  for (int w = WIDE - 1; w >= ((s) < SCAN_LANES ? 0 : (s) / SCAN_LANES); --w) {              \
    const SCAN_V before = w > 0 ? g[w - 1] : identity;                                       \
    const SCAN_V back =                                                                      \
        (s) < SCAN_LANES                                                                     \
            ? LANES_SHUFFLE_TWO(before, g[w], ((SCAN_INTS){SCAN_LIST(SCAN_LANE_BACK, (s))})) \
            : g[w - (s) / SCAN_LANES];                                                       \
    g[w] = SCAN_COMBINE(back, g[w]);                                                         \
  }

/* A row; or the `count` elements that its line ends with, where SCAN_PARTS. */
SCAN_ROW_FUNCTION SCAN_NAME(scan_row)(const SCAN_E *in, SCAN_E *out, int count, bool exclusive,
                                      SCAN_NAME(scan_code) code, SCAN_T before_row) {
  enum { WIDE = SCAN_NAME(scan_wide) };
  const SCAN_V identity = SCAN_NAME(scan_all)(SCAN_IDENTITY),
               base = SCAN_NAME(scan_all)(before_row);
  SCAN_V e[WIDE][4], g[WIDE];
#pragma GCC unroll 16
  for (int w = 0; w < WIDE; ++w) {
    SCAN_V x[4];
    SCAN_NAME(scan_part)(in + w * 4 * SCAN_LANES, count - w * 4 * SCAN_LANES, code, x);
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
    const SCAN_V back = LANES_SHUFFLE_TWO(w > 0 ? g[w - 1] : identity, g[w],
                                          ((SCAN_INTS){SCAN_LIST(SCAN_LANE_BACK, 1)}));
    const SCAN_V offset = SCAN_COMBINE(base, back);
    SCAN_V y[4];
    SCAN_NAME(scan_results)(e[w], offset, exclusive, y);
    SCAN_NAME(scan_unpart)(out + w * 4 * SCAN_LANES, count - w * 4 * SCAN_LANES, y, code);
  }
}
#undef SCAN_STEP

static void SCAN_NAME(scan_end)(const SCAN_E *in, SCAN_E *out, int count, bool exclusive,
                                SCAN_NAME(scan_code) code, SCAN_T before_row) {
#ifdef SCAN_PARTS
  SCAN_NAME(scan_row)(in, out, count, exclusive, code, before_row);
#else
  SCAN_E row[SCAN_ROW] = {0};
  memcpy(row, in, (size_t)count * sizeof *row);
  SCAN_NAME(scan_row)(row, row, SCAN_ROW, exclusive, code, before_row);
  memcpy(out, row, (size_t)count * sizeof *row);
#endif
}

/* Results that go past the caches do so a row later, by way of one of two rows of a buffer; the
 * rung sees to it that they have arrived. */
LANES_INLINE void SCAN_NAME(scan_rows)(const scan_piece *piece, bool exclusive,
                                       const SCAN_T *totals, SCAN_T before) {
  const SCAN_NAME(scan_code) code = SCAN_NAME(scan_code_of)(&piece->key);
  const SCAN_E *in = (const SCAN_E *)piece->in;
  SCAN_E *out = (SCAN_E *)piece->out, rows_of[2][SCAN_ROW];
  SCAN_T bands = SCAN_IDENTITY;
  const bool past = SCAN_NAME(scan_streams) && piece->past;
  int waiting = -1; /* the row that is in a buffer */
  for (int first = 0; first < piece->count; first += SCAN_BAND) {
    const SCAN_T offset = SCAN_COMBINE_ONE(before, bands);
    SCAN_T rows = SCAN_IDENTITY;
    for (int at = first; at < first + SCAN_BAND && at < piece->count; at += SCAN_ROW) {
      const SCAN_T before_row = SCAN_COMBINE_ONE(offset, rows);
      const int row = at / SCAN_ROW;
      if (piece->next != NULL)
        scan_prefetch(piece->next + at * (int)sizeof(SCAN_E), SCAN_ROW * sizeof(SCAN_E));
      const bool whole = at + SCAN_ROW <= piece->count;
      SCAN_E *const to = past && whole ? rows_of[row % 2] : out + at;
      if (whole)
        SCAN_NAME(scan_row)(in + at, to, SCAN_ROW, exclusive, code, before_row);
      else
        SCAN_NAME(scan_end)(in + at, to, piece->count - at, exclusive, code, before_row);
      if (exclusive && piece->begins && at == 0) to[0] = SCAN_NAME(scan_empty)(code);
      SCAN_NAME(scan_put_row)(out, rows_of, waiting);
      waiting = past && whole ? row : -1;
      if (at + SCAN_ROW < piece->count) rows = SCAN_COMBINE_ONE(rows, totals[row]);
    }
    bands = SCAN_COMBINE_ONE(bands, rows);
  }
  SCAN_NAME(scan_put_row)(out, rows_of, waiting);
}

static void SCAN_NAME(scan_tile)(const scan_piece *piece, const void *totals, const void *before) {
  const SCAN_T *rows = (const SCAN_T *)totals, offset = *(const SCAN_T *)before;
  if (piece->exclusive)
    SCAN_NAME(scan_rows)(piece, true, rows, offset);
  else
    SCAN_NAME(scan_rows)(piece, false, rows, offset);
}

#endif

/* A short line a lane, element c of each in x[c], to their results. */
LANES_INLINE void SCAN_NAME(scan_columns)(SCAN_V *x, int n, bool exclusive,
                                          SCAN_NAME(scan_code) code) {
  const SCAN_V identity = SCAN_NAME(scan_all)(SCAN_IDENTITY);
  const int groups = (n + SCAN_GROUP - 1) / SCAN_GROUP;
  SCAN_V e[SCAN_ROW], g[SCAN_FAMILY], y[SCAN_GROUP];
  for (int k = 0; k < groups; ++k) {
    for (int c = 0; c < SCAN_GROUP; ++c) {
      y[c] = identity;
      if (k * SCAN_GROUP + c < n) y[c] = SCAN_TAKE(x[k * SCAN_GROUP + c], code);
    }
    SCAN_NAME(scan_groups)(y, e + k * SCAN_GROUP);
    g[k] = e[k * SCAN_GROUP + SCAN_GROUP - 1];
  }
  for (int s = 1; s < groups; s *= 2)
    for (int k = groups - 1; k >= s; --k) g[k] = SCAN_COMBINE(g[k - s], g[k]);
  for (int k = 0; k < groups; ++k) {
    SCAN_NAME(scan_results)(e + k * SCAN_GROUP, k > 0 ? g[k - 1] : identity, exclusive, y);
    for (int c = 0; c < SCAN_GROUP && k * SCAN_GROUP + c < n; ++c)
      x[k * SCAN_GROUP + c] = SCAN_GIVE(y[c], code);
  }
  (void)code;
}

/* Elements of a buffer that have yet to be put past the caches. That is done a little at a time, as
 * all at once it would wait for memory. */
typedef struct SCAN_NAME(scan_rest) {
  const SCAN_E *from;
  SCAN_E *to;
  int count;
} SCAN_NAME(scan_rest);

LANES_INLINE void SCAN_NAME(scan_put)(SCAN_NAME(scan_rest) * rest, int most) {
  const int now = most < rest->count ? most : rest->count;
  if (now > 0)
    scan_put_past((char *)rest->to, (const char *)rest->from, now * (int)sizeof *rest->to);
  rest->from += now;
  rest->to += now;
  rest->count -= now;
}

/* `now` lines of `columns` elements, or of a vector's if that is more, to columns; and back. Where
 * elements are turned as they are, and no line is missing, there is nothing in between. */
LANES_INLINE void SCAN_NAME(scan_columns_in)(const SCAN_E *in, int64_t pitch, int now, int columns,
                                             SCAN_NAME(scan_code) code, SCAN_V *x,
                                             SCAN_NAME(scan_rest) * rest) {
  const int last = columns > SCAN_LANES ? columns - SCAN_LANES : 0;
  for (int c = 0, at = 0; c == 0 || at < last; c += SCAN_LANES) {
    SCAN_V part[SCAN_LANES];
    at = c < last ? c : last;
    SCAN_NAME(scan_put)(rest, SCAN_LANES * SCAN_LANES);
    if (SCAN_NAME(scan_plain) && now == SCAN_LANES) {
      SCAN_TURN(in + at, pitch * (int64_t)sizeof *in, x + at, LANES_BYTES);
      continue;
    }
    for (int l = 0; l < SCAN_LANES; ++l)
      part[l] = SCAN_NAME(scan_raw)(in + (l < now ? l : 0) * pitch + at, code);
    SCAN_TURN(part, LANES_BYTES, x + at, LANES_BYTES);
  }
}

LANES_INLINE void SCAN_NAME(scan_columns_out)(SCAN_E *out, int64_t pitch, int now, int columns,
                                              SCAN_NAME(scan_code) code, const SCAN_V *x) {
  const int last = columns > SCAN_LANES ? columns - SCAN_LANES : 0;
  for (int c = 0, at = 0; c == 0 || at < last; c += SCAN_LANES) {
    SCAN_V part[SCAN_LANES];
    at = c < last ? c : last;
    if (SCAN_NAME(scan_plain) && now == SCAN_LANES) {
      SCAN_TURN(x + at, LANES_BYTES, out + at, pitch * (int64_t)sizeof *out);
      continue;
    }
    SCAN_TURN(x + at, LANES_BYTES, part, LANES_BYTES);
    for (int l = 0; l < now; ++l) SCAN_NAME(scan_unraw)(out + l * pitch + at, part[l], code);
  }
}

/* Lines of at most SCAN_SHORT elements. As many as vectors have lanes are turned into columns, in
 * which every step of the order is one of whole vectors. Lines that follow each other without gaps
 * are taken several in one, by the number that fills vectors best. */
static void SCAN_NAME(scan_short)(const scan_short_lines *lines) {
#ifdef SCAN_NARROW
  if (lines->columns >= SCAN_NAME(scan_many)) {
    SCAN_NAME(scan_narrow_lines)(lines);
    return;
  }
#endif
  const SCAN_NAME(scan_code) code = SCAN_NAME(scan_code_of)(&lines->key);
  const SCAN_E empty = SCAN_NAME(scan_empty)(code);
  const int n = lines->columns;
  const bool gaps = lines->in_pitch != n || lines->out_pitch != n;
  const int each = scan_lines_in_one(n, SCAN_LANES, gaps);
  const bool past = SCAN_NAME(scan_streams) && lines->past && lines->out_pitch == n;
  SCAN_E rows[2][SCAN_LANES * (SCAN_SHORT + 1)], *row = rows[0];
  SCAN_NAME(scan_rest) rest = {0}; /* of the other one */
  for (int64_t first = 0, took = 0; first < lines->count; first += took) {
    const SCAN_E *in = (const SCAN_E *)lines->in + first * lines->in_pitch;
    SCAN_E *out = (SCAN_E *)lines->out + first * lines->out_pitch;
    const int64_t left = lines->count - first, whole = left / each;
    const int some = whole > 0 ? each : (int)left; /* lines in one */
    const int now = whole > SCAN_LANES ? SCAN_LANES : whole > 0 ? (int)whole : 1;
    const int columns = some * n;
    const bool buffer = n < SCAN_LANES && (gaps || columns < SCAN_LANES);
    SCAN_V x[SCAN_ROW + SCAN_LANES];
    took = (int64_t)now * some;
    if (buffer) {
      for (int c = 0; c < SCAN_LANES; ++c) row[now * columns + c] = empty;
      for (int l = 0; l < took; ++l)
        for (int c = 0; c < n; ++c) row[l * n + c] = in[l * lines->in_pitch + c];
    }
    if (!gaps && left >= 3 * took)
      scan_prefetch((const char *)(in + 2 * took * n), (size_t)took * (size_t)n * sizeof *in);
    const int64_t from = some > 1 || buffer ? columns : lines->in_pitch;
    SCAN_NAME(scan_columns_in)(buffer ? row : in, from, now, columns, code, x, &rest);
    SCAN_NAME(scan_put)(&rest, rest.count);
    for (int line = 0; line < some; ++line)
      SCAN_NAME(scan_columns)(x + line * n, n, lines->exclusive, code);
    SCAN_E *const to = buffer || past ? row : out;
    const int64_t pitch = some > 1 || buffer || past ? n : lines->out_pitch;
    SCAN_NAME(scan_columns_out)(to, pitch * some, now, columns, code, x);
    for (int l = 0; l < took && lines->exclusive; ++l) to[l * pitch] = empty;
    if (past) {
      rest = (SCAN_NAME(scan_rest)){row, out, (int)took * n};
      row = row == rows[0] ? rows[1] : rows[0];
    } else if (buffer) {
      for (int l = 0; l < took; ++l)
        for (int c = 0; c < n; ++c) out[l * lines->out_pitch + c] = row[l * n + c];
    }
  }
  if (!past) return;
  SCAN_NAME(scan_put)(&rest, rest.count);
  lanes_stream_end();
}

#include "ops/scan/cpu/across_of.h"

#undef SCAN_NAME
#undef SCAN_ROW_FUNCTION
#undef SCAN_E
#undef SCAN_T
#undef SCAN_V
#undef SCAN_IDENTITY
#undef SCAN_EMPTY
#undef SCAN_LOAD
#undef SCAN_STORE
#undef SCAN_LOAD_ONE
#undef SCAN_ANY_ORDER
#undef SCAN_NARROW
#undef SCAN_FREE
#undef SCAN_FREE_INTS
#undef SCAN_FREE_LIST
#undef SCAN_FREE_OF
#undef SCAN_FREE_COMBINE
#undef SCAN_FREE_LOAD
#undef SCAN_FREE_STORE
#undef SCAN_STORE_ONE
#undef SCAN_LOAD_ALL
#undef SCAN_STORE_ALL
#undef SCAN_PARTS
#undef SCAN_TAKE
#undef SCAN_GIVE
