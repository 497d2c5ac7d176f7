/* Products of few rows without any packing (matmul_thin): included by kernels_of.h alone, for the
 * types that have TURN. Of what has many columns every element is loaded once. */

/* L of its rows, each a run of memory, on the chains of R rows, which stay in the first-level
 * cache; two vectors at a time, so that a line is done with before rows as far apart as the cache
 * is large drive it out. */
LANES_INLINE void NAME(strip_rows)(const int R, const int L, const NUMBER *few, int64_t few_row,
                                   int64_t few_step, const NUMBER *many, int64_t step, int64_t n,
                                   NUMBER *t, int64_t row) {
  LANES all[2][8];
  int64_t j = 0;
#pragma GCC unroll 2
  for (int i = 0; i < R; i++)
#pragma GCC unroll 8
    for (int l = 0; l < L; l++) all[i][l] = ALL(few[i * few_row + l * few_step]);
  for (; j + 2 * WIDTH <= n; j += 2 * WIDTH) {
    LANES chain[2][2];
#pragma GCC unroll 2
    for (int i = 0; i < R; i++)
#pragma GCC unroll 2
      for (int v = 0; v < 2; v++) chain[i][v] = LOAD(t + i * row + j + v * WIDTH);
#pragma GCC unroll 8
    for (int l = 0; l < L; l++)
#pragma GCC unroll 2
      for (int v = 0; v < 2; v++) {
        const LANES right = LOAD(many + l * step + j + v * WIDTH);
#pragma GCC unroll 2
        for (int i = 0; i < R; i++) chain[i][v] = FMA(all[i][l], right, chain[i][v]);
      }
#pragma GCC unroll 2
    for (int i = 0; i < R; i++)
#pragma GCC unroll 2
      for (int v = 0; v < 2; v++) STORE(t + i * row + j + v * WIDTH, chain[i][v]);
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
                                           int64_t row) {                                          \
    NAME(strip_rows)(R, L, few, few_row, few_step, many, step, n, t, row);                         \
  }
STRIP_OF(1, 8)
STRIP_OF(2, 4)
STRIP_OF(1, 4)
STRIP_OF(2, 1)
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
  if (n >= NAME(COLUMNS) && n * s->k * (int64_t)sizeof *t <= MATMUL_NEAR) {
    NAME(strip_tiles)(s, many, n, t, row);
    return;
  }
  for (int64_t i = 0; i < s->rows; i++) memset(t + i * row, 0, (size_t)row * sizeof *t);
  for (int64_t l = 0, lines; l < s->k; l += lines, few += lines * by, many += lines * step) {
    const int64_t left = s->k - l;
    int64_t i = 0;
    lines = s->rows == 1 && left >= 8 ? 8 : left >= 4 ? 4 : 1;
    for (; i + 2 <= s->rows; i += 2)
      (lines == 4 ? NAME(strip_2_4) : NAME(strip_2_1))(few + i * of, of, by, many, step, n,
                                                       t + i * row, row);
    if (i < s->rows)
      (lines == 8   ? NAME(strip_1_8)
       : lines == 4 ? NAME(strip_1_4)
                    : NAME(strip_1_1))(few + i * of, of, by, many, step, n, t + i * row, row);
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
TURNED_OF(1, 1)
TURNED_OF(1, 2)
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
  static void (*const of[4][2])(const NAME(turning) *) = {{NAME(turned_1_1), NAME(turned_1_2)},
                                                          {NAME(turned_2_1), NAME(turned_2_2)},
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
    of[some.rows > 4 ? 3 : some.rows > 2 ? 2 : some.rows > 1 ? 1 : 0][both](&some);
    some.few += some.rows * s->few_row;
    some.t += some.rows * row;
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
  const bool far = s->columns * s->k * (int64_t)sizeof *t > MATMUL_FAR;
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
  (s->many_column == 1 ? NAME(strip) : NAME(turned))(s, many, n, (NUMBER *)chains, row);
}
