/* Products of few rows without any packing (matmul_thin): included by kernels_of.h alone, for the
 * types that have TURN. Of what has many columns every element is loaded once. */

/* Whether what has many columns comes from memory. */
LANES_INLINE bool NAME(is_far)(const matmul_thin *s) {
  return s->columns * s->k * (int64_t)sizeof(NUMBER) > MATMUL_FAR;
}

/* L of its rows, each a run of memory, on the chains of R rows, which stay in the first-level
 * cache; a few vectors at a time, so that a line is done with before rows as far apart as the cache
 * is large drive it out. What is `ahead` is asked for: of one row what goes on, of several the next
 * rows, as a strip of theirs is too short for hardware to see them coming. */
LANES_INLINE void NAME(strip_rows)(const int R, const int L, const NUMBER *few, int64_t few_row,
                                   int64_t few_step, const NUMBER *many, int64_t step, int64_t n,
                                   NUMBER *t, int64_t row, bool ahead) {
  const int V = R == 1 && L < 8 ? 4 : 2;
  const int64_t on = R == 1 ? 1024 / (int64_t)sizeof *t : L * step;
  LANES all[2][8];
  int64_t j = 0;
#pragma GCC unroll 2
  for (int i = 0; i < R; i++)
#pragma GCC unroll 8
    for (int l = 0; l < L; l++) all[i][l] = ALL(few[i * few_row + l * few_step]);
  for (; j + V * WIDTH <= n; j += V * WIDTH) {
    LANES chain[2][4];
#pragma GCC unroll 2
    for (int i = 0; i < R; i++)
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) chain[i][v] = LOAD(t + i * row + j + v * WIDTH);
#pragma GCC unroll 8
    for (int l = 0; l < L; l++)
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) {
        const LANES right = LOAD(many + l * step + j + v * WIDTH);
        if (R * L == 8 && ahead) __builtin_prefetch(many + l * step + j + v * WIDTH + on);
#pragma GCC unroll 2
        for (int i = 0; i < R; i++) chain[i][v] = FMA(all[i][l], right, chain[i][v]);
      }
#pragma GCC unroll 2
    for (int i = 0; i < R; i++)
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) STORE(t + i * row + j + v * WIDTH, chain[i][v]);
  }
  for (; j < n; j += WIDTH) {
    const int bytes = (int)(n - j < WIDTH ? n - j : WIDTH) * (int)sizeof *t;
    LANES chain[2];
#pragma GCC unroll 2
    for (int i = 0; i < R; i++) chain[i] = LOAD(t + i * row + j);
#pragma GCC unroll 8
    for (int l = 0; l < L; l++) {
      const LANES right = (LANES)load_some(many + l * step + j, bytes);
#pragma GCC unroll 2
      for (int i = 0; i < R; i++) chain[i] = FMA(all[i][l], right, chain[i]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < R; i++) STORE(t + i * row + j, chain[i]);
  }
}

#define STRIP_OF(R, L)                                                                             \
  LANES_OUTLINE void NAME(strip_##R##_##L)(const NUMBER *few, int64_t few_row, int64_t few_step,   \
                                           const NUMBER *many, int64_t step, int64_t n, NUMBER *t, \
                                           int64_t row, bool ahead) {                              \
    NAME(strip_rows)(R, L, few, few_row, few_step, many, step, n, t, row, ahead);                  \
  }
STRIP_OF(1, 8)
STRIP_OF(2, 4)
STRIP_OF(1, 4)
STRIP_OF(1, 1)
#undef STRIP_OF

/* Chains stay in registers where what is read by columns of tiles stays in a cache. */
static void NAME(strip_tiles)(const matmul_thin *s, const NUMBER *many, int64_t n, NUMBER *t,
                              int64_t row) {
  matmul_tile tile = {.rows = s->rows,
                      .k = s->k,
                      .a = s->few,
                      .a_row = s->few_row,
                      .a_step = s->few_step,
                      .b_step = s->many_step,
                      .to_row = row};
  for (int64_t j = 0; j < n; j += NAME(COLUMNS)) {
    const int64_t first = matmul_least(j, n - NAME(COLUMNS)); /* some are made twice */
    tile.b = many + first;
    tile.to = t + first;
    NAME(tile)(&tile);
  }
}

static void NAME(strip)(const matmul_thin *s, const NUMBER *many, int64_t n, NUMBER *t,
                        int64_t row) {
  const NUMBER *few = (const NUMBER *)s->few;
  const int64_t of = s->few_row, by = s->few_step, step = s->many_step;
  const bool far = NAME(is_far)(s);
  if (s->rows > 1 && n >= NAME(COLUMNS) && n * s->k * (int64_t)sizeof *t <= MATMUL_NEAR) {
    NAME(strip_tiles)(s, many, n, t, row);
    return;
  }
  for (int64_t i = 0; i < s->rows; i++) memset(t + i * row, 0, (size_t)row * sizeof *t);
  for (int64_t l = 0, lines; l < s->k; l += lines, few += lines * by, many += lines * step) {
    const int64_t left = s->k - l;
    int64_t i = 0;
    lines = far && s->rows == 1 && left >= 8 ? 8 : left >= 4 ? 4 : 1;
    for (; lines == 4 && i + 2 <= s->rows; i += 2)
      NAME(strip_2_4)(few + i * of, of, by, many, step, n, t + i * row, row, far && i == 0);
    for (; i < s->rows; i++)
      (lines == 8   ? NAME(strip_1_8)
       : lines == 4 ? NAME(strip_1_4)
                    : NAME(strip_1_1))(few + i * of, of, by, many, step, n, t + i * row, row, far);
  }
}

/* What R rows or fewer go on with, `rows` of them: k l's of V vectors of columns, which go on in
 * memory. `line`: where each is. */
typedef struct NAME(turning) {
  const NUMBER *few;
  int64_t few_row, few_step, rows;
  const NUMBER *const *line;
  int64_t k;
  bool far; /* they come from memory */
  NUMBER *t;
  int64_t row;
} NAME(turning);

enum { NAME(TURNED_AHEAD) = 1024 / sizeof(NUMBER) };

/* A chain for each. A few l's of a vector of columns at a time are turned on their way into
 * registers. From memory, as each column is read in small pieces, what follows is asked for, a
 * quarter of the columns at a time. */
LANES_INLINE void NAME(turned_rows)(const int R, const int V, const NAME(turning) * s) {
  const int64_t step = s->few_step, k = s->k;
  const NUMBER *few[8], *const *line = s->line;
  LANES x[8][2];
  int64_t l = 0;
#pragma GCC unroll 8
  for (int r = 0; r < R; r++) {
    const int64_t real = r < s->rows ? r : 0;
    few[r] = s->few + real * s->few_row;
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) x[r][v] = LOAD(s->t + real * s->row + v * WIDTH);
  }
  for (int64_t q = 0; l + TURNS <= k; l += TURNS, q++) {
    const NUMBER *const *some = line + q % 4 * (V * WIDTH / 4);
    if (s->far)
#pragma GCC unroll 8
      for (int i = 0; i < V * WIDTH / 4; i++) __builtin_prefetch(some[i] + l + NAME(TURNED_AHEAD));
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) {
      LANES turned[TURNS];
      TURN(line + v * WIDTH, l, turned);
#pragma GCC unroll 4
      for (int i = 0; i < TURNS; i++)
#pragma GCC unroll 8
        for (int r = 0; r < R; r++) x[r][v] = FMA(ALL(few[r][(l + i) * step]), turned[i], x[r][v]);
    }
  }
  for (; l < k; l++)
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) {
      NUMBER numbers[WIDTH];
      for (int i = 0; i < WIDTH; i++) numbers[i] = line[v * WIDTH + i][l];
      const LANES turned = LOAD(numbers);
#pragma GCC unroll 8
      for (int r = 0; r < R; r++) x[r][v] = FMA(ALL(few[r][l * step]), turned, x[r][v]);
    }
#pragma GCC unroll 8
  for (int r = 0; r < R; r++)
#pragma GCC unroll 2
    for (int v = 0; v < V; v++)
      if (r < s->rows) STORE(s->t + r * s->row + v * WIDTH, x[r][v]);
}

#define TURNED_OF(R, V)                                                  \
  LANES_OUTLINE void NAME(turned_##R##_##V)(const NAME(turning) * s) {   \
    const NAME(turning) own = *s; /* which no store to a chain alters */ \
    NAME(turned_rows)(R, V, &own);                                       \
  }
TURNED_OF(2, 1)
TURNED_OF(2, 2)
TURNED_OF(4, 1)
TURNED_OF(4, 2)
#if LANES_REGISTERS == 32
TURNED_OF(8, 1)
TURNED_OF(8, 2)
enum { NAME(TURNED_ROWS) = 8 };
#else
enum { NAME(TURNED_ROWS) = 4 };
#define turned_8_1_f32 turned_4_1_f32
#define turned_8_2_f32 turned_4_2_f32
#define turned_8_1_f64 turned_4_1_f64
#define turned_8_2_f64 turned_4_2_f64
#endif
#undef TURNED_OF

/* All rows with the columns of `line`, n of them. */
static void NAME(turned_all)(const matmul_thin *s, const NUMBER *const *line, int64_t l, int64_t k,
                             bool both, bool far, NUMBER *t, int64_t row) {
  static void (*const of[3][2])(const NAME(turning) *) = {{NAME(turned_2_1), NAME(turned_2_2)},
                                                          {NAME(turned_4_1), NAME(turned_4_2)},
                                                          {NAME(turned_8_1), NAME(turned_8_2)}};
  NAME(turning)
  some = {.few = (const NUMBER *)s->few + l * s->few_step,
          .few_row = s->few_row,
          .few_step = s->few_step,
          .line = line,
          .far = far,
          .k = k,
          .t = t,
          .row = row};
  for (int64_t left = s->rows; left > 0; left -= some.rows) {
    some.rows = matmul_least(left, NAME(TURNED_ROWS));
    of[some.rows > 4 ? 2 : some.rows > 2 ? 1 : 0][both](&some);
    some.few += some.rows * s->few_row;
    some.t += some.rows * row;
  }
}

/* One row and V vectors of columns: a line of the caches of each at a time, which is not read
 * again, k l's in all, whole lines. What follows is asked for where `ahead` is. Of 64-byte vectors
 * there are one or two, of narrower ones two or four, so that as many chains hide a multiply-add's
 * latency. */
enum {
  NAME(A_LINE) = 64 / sizeof(NUMBER),
  NAME(LINE_AHEAD) = 512 / sizeof(NUMBER),
  NAME(LINE_VECTORS) = LANES_BYTES == 64 ? 2 : 4
};

LANES_INLINE void NAME(lines_of)(const int V, const NUMBER *few, int64_t step, const NUMBER *many,
                                 int64_t column, int64_t k, bool ahead, NUMBER *t) {
  LANES x[NAME(LINE_VECTORS)];
  NUMBER own[NAME(A_LINE)];
#pragma GCC unroll 4
  for (int v = 0; v < V; v++) x[v] = LOAD(t + v * WIDTH);
  for (; k > 0; k -= NAME(A_LINE), many += NAME(A_LINE), few += NAME(A_LINE) * step) {
    const NUMBER *some = few;
    if (step != 1) {
      for (int i = 0; i < NAME(A_LINE); i++) own[i] = few[i * step];
      some = own;
    }
    for (int i = 0; i < V * WIDTH && ahead; i++)
      __builtin_prefetch(many + i * column + NAME(LINE_AHEAD));
#pragma GCC unroll 4
    for (int v = 0; v < V; v++)
      for (int at = 0; at < NAME(A_LINE); at += LINES) {
        LANES turned[LINES];
        __asm__("" : "+r"(some)); /* loaded again, rather than kept: registers are few */
        LINE(many + v * WIDTH * column + at, column, turned);
#pragma GCC unroll 16
        for (int i = 0; i < LINES; i++) x[v] = FMA(ALL(some[at + i]), turned[i], x[v]);
      }
  }
#pragma GCC unroll 4
  for (int v = 0; v < V; v++) STORE(t + v * WIDTH, x[v]);
}
#define LINES_OF(name, V)                                                            \
  LANES_OUTLINE void NAME(name)(const NUMBER *few, int64_t step, const NUMBER *many, \
                                int64_t column, int64_t k, bool ahead, NUMBER *t) {  \
    NAME(lines_of)(V, few, step, many, column, k, ahead, t);                         \
  }
LINES_OF(lines_wide, NAME(LINE_VECTORS))
LINES_OF(lines_narrow, NAME(LINE_VECTORS) / 2)
#undef LINES_OF

/* The same of one vector's l's from there on, fewer than k. Of those that are turned some have been
 * done with, or are not to be done: k is enough for all. */
LANES_OUTLINE void NAME(lines_some)(const NUMBER *few, int64_t step, const NUMBER *many,
                                    int64_t column, int64_t l, int64_t end, int64_t k, NUMBER *t) {
  LANES x = LOAD(t);
  while (l < end) {
    LANES turned[LINES];
    NUMBER numbers[LINES][WIDTH];
    const int64_t from = matmul_least(l, k - LINES), until = matmul_least(end, from + LINES);
    LINE(many + from, column, turned);
    memcpy(numbers, turned, sizeof numbers);
    for (; l < until; l++) x = FMA(ALL(few[l * step]), LOAD(numbers[l - from]), x);
  }
  STORE(t, x);
}

/* A few columns more than whole vectors, or all of them where rows are short, as of several rows.
 */
static void NAME(lines_rest)(const matmul_thin *s, const NUMBER *many, int64_t n, NUMBER *t) {
  const NUMBER *line[WIDTH];
  for (int64_t i = 0; i < WIDTH; i++) line[i] = many + matmul_least(i, n - 1) * s->many_column;
  NAME(turned_all)(s, line, 0, s->k, false, false, t, 0);
}

/* From memory, or where columns share places of a cache, half as many at a time. Lines are those of
 * memory where all columns' are. */
static void NAME(lines)(const matmul_thin *s, const NUMBER *many, int64_t n, NUMBER *t) {
  enum { WIDE = NAME(LINE_VECTORS) * WIDTH };
  const int64_t size = sizeof *t, step = s->few_step, column = s->many_column, k = s->k;
  const bool far = NAME(is_far)(s);
  const int64_t most = far || column * size % (2 * MATMUL_MEETS) == 0 ? WIDE / 2 : WIDE;
  const NUMBER *few = (const NUMBER *)s->few;
  const int64_t head = column * size % 64 == 0 ? (int64_t)(-(uintptr_t)many % 64 / sizeof *t) : 0;
  const int64_t end = k - (k - head) % NAME(A_LINE);
  memset(t, 0, (size_t)((n + WIDTH - 1) / WIDTH * WIDTH) * sizeof *t);
  for (int64_t width; n > 0; n -= width, many += width * column, t += width) {
    width = n < most ? WIDE / 2 : most;
    if (n < width || k < head + NAME(A_LINE)) {
      width = matmul_least(n, WIDTH);
      NAME(lines_rest)(s, many, width, t);
      continue;
    }
    for (int64_t v = 0; v < width && head > 0; v += WIDTH)
      NAME(lines_some)(few, step, many + v * column, column, 0, head, k, t + v);
    (width == WIDE ? NAME(lines_wide) : NAME(lines_narrow))(few + head * step, step, many + head,
                                                            column, end - head, far, t);
    for (int64_t v = 0; v < width && end < k; v += WIDTH)
      NAME(lines_some)(few, step, many + v * column, column, end, k, k, t + v);
  }
}

/* More columns than the first-level cache has ways, a multiple of MATMUL_MEETS bytes apart, share a
 * few of its places, which would not keep them until they are read: their l's are copied, as many
 * as fill the room. */
static void NAME(turned)(const matmul_thin *s, const NUMBER *many, int64_t n, NUMBER *t,
                         int64_t row) {
  enum { EACH = 512 / sizeof(NUMBER), PITCH = EACH + WIDTH };
  NUMBER room[2 * WIDTH * PITCH];
  const bool meets = s->many_column * (int64_t)sizeof *t % MATMUL_MEETS == 0;
  const bool copies = 2 * WIDTH > 16 && meets;
  const bool far = NAME(is_far)(s);
  const int64_t each = copies ? EACH : s->rows > NAME(TURNED_ROWS) ? MATMUL_K : s->k;
  for (int64_t i = 0; i < s->rows; i++) memset(t + i * row, 0, (size_t)row * sizeof *t);
  for (int64_t j = 0; j < n; j += 2 * WIDTH) {
    const NUMBER *line[2 * WIDTH];
    const bool both = n - j > WIDTH;
    for (int64_t l = 0, k; l < s->k; l += k) {
      k = matmul_least(s->k - l, each);
      for (int64_t i = 0; i < (both ? 2 * WIDTH : WIDTH); i++) {
        line[i] = many + (j + i < n ? j + i : n - 1) * s->many_column + l;
        if (!copies) continue;
        for (int64_t b = 0; b < 512 && far; b += 64)
          __builtin_prefetch((const char *)(line[i] + k) + b, 0, 2);
        memcpy(room + i * PITCH, line[i], (size_t)k * sizeof *room);
        line[i] = room + i * PITCH;
      }
      NAME(turned_all)(s, line, l, k, both, far && !meets, t + j, row);
    }
  }
}

static void NAME(thin)(const matmul_thin *s, int64_t j, int64_t n, void *chains, int64_t row) {
  const NUMBER *many = (const NUMBER *)s->many + j * s->many_column;
  if (s->many_column == 1)
    NAME(strip)(s, many, n, (NUMBER *)chains, row);
  else if (s->rows == 1)
    NAME(lines)(s, many, n, (NUMBER *)chains);
  else
    NAME(turned)(s, many, n, (NUMBER *)chains, row);
}
