/* The kernels of one type of sums; included once for each by kernels/kernels.c, which defines
 *   NUMBER       the type            LANES, WIDTH    its vector, and how many lanes that has
 *   NAME(x)      x of this type      FMA, LOAD, STORE, ALL, ONE: of vectors, and of single numbers
 *   ELEMENT(at, view)                element `at` of an array as a NUMBER
 *   IS_PLAIN(p)                      whether elements are NUMBERs
 *   TRANSPOSE(v)                     or not defined */

enum { NAME(COLUMNS) = 2 * WIDTH };

/* R is a constant of every copy of this. */
LANES_INLINE void NAME(run_tile)(const int R, const matmul_tile *t, const NUMBER *a, int64_t a_row,
                                 int64_t a_step, int64_t first) {
  const NUMBER *b = (const NUMBER *)t->b, *from = (const NUMBER *)t->from;
  NUMBER *to = (NUMBER *)t->to + first * t->to_row;
  LANES x[ROWS][2];
#pragma GCC unroll 12
  for (int i = 0; i < R; i++)
#pragma GCC unroll 2
    for (int v = 0; v < 2; v++)
      x[i][v] = from != NULL ? LOAD(from + (first + i) * t->from_row + v * WIDTH) : (LANES){0};
  for (int64_t l = 0; l < t->k; l++) {
    const LANES left = LOAD(b), right = LOAD(b + WIDTH);
#pragma GCC unroll 12
    for (int i = 0; i < R; i++) {
      const LANES all = ALL(a[i * a_row]);
      x[i][0] = FMA(all, left, x[i][0]);
      x[i][1] = FMA(all, right, x[i][1]);
    }
    a += a_step;
    b += t->b_step;
  }
#pragma GCC unroll 12
  for (int i = 0; i < R; i++)
#pragma GCC unroll 2
    for (int v = 0; v < 2; v++) STORE(to + i * t->to_row + v * WIDTH, x[i][v]);
}

__attribute__((noinline)) static void NAME(tile_packed)(const matmul_tile *t) {
  NAME(run_tile)(ROWS, t, (const NUMBER *)t->a, 1, ROWS, 0);
}
__attribute__((noinline)) static void NAME(tile_full)(const matmul_tile *t) {
  NAME(run_tile)(ROWS, t, (const NUMBER *)t->a, t->a_row, t->a_step, 0);
}
__attribute__((noinline)) static void NAME(tile_few)(const matmul_tile *t, int64_t first) {
  NAME(run_tile)(FEW, t, (const NUMBER *)t->a + first * t->a_row, t->a_row, t->a_step, first);
}
__attribute__((noinline)) static void NAME(tile_one)(const matmul_tile *t, int64_t first) {
  NAME(run_tile)(1, t, (const NUMBER *)t->a + first * t->a_row, t->a_row, t->a_step, first);
}

static void NAME(tile)(const matmul_tile *t) {
  int64_t i = 0;
  if (t->rows == ROWS) {
    if (t->a_row == 1 && t->a_step == ROWS)
      NAME(tile_packed)(t);
    else
      NAME(tile_full)(t);
    return;
  }
  for (; i + FEW <= t->rows; i += FEW) NAME(tile_few)(t, i);
  for (; i < t->rows; i++) NAME(tile_one)(t, i);
}

/* ---- packing ----------------------------------------------------------------------------------
 */

/* Panel p of `width` lines, of which there are `lines`, `line` apart, each with its l's `step`
 * apart: an l after the other. Elements of any type. */
static void NAME(pack_any)(const matmul_packing *what, const rung_dtype dtype, const char *from,
                           int64_t line, int64_t step, int64_t lines, int64_t width, NUMBER *to) {
  for (int64_t l = 0; l < what->k; l++)
    for (int64_t i = 0; i < width; i++)
      to[l * width + i] = i < lines ? ELEMENT(dtype, from, i * line + l * step) : 0;
}

/* The same of lines that lie side by side, a row of them after the other. */
static void NAME(pack_rows)(const matmul_packing *what, const NUMBER *from, int64_t step,
                            int64_t lines, int64_t width, NUMBER *to) {
  for (int64_t l = 0; l < what->k; l++, from += step, to += width) {
    if (lines == width) {
      memcpy(to, from, (size_t)width * sizeof *to);
      continue;
    }
    for (int64_t i = 0; i < width; i++) to[i] = i < lines ? from[i] : 0;
  }
}

#ifdef TRANSPOSE
/* The same of lines whose l's go on, as many as fill vectors, by squares that are transposed. Of a
 * width that is no multiple of vectors each row is stored a little too long, and the next one over
 * it. Returns how many l's are done. */
static int64_t NAME(pack_squares)(const matmul_packing *what, const NUMBER *from, int64_t line,
                                  int64_t width, NUMBER *to) {
  enum { GROUPS = (2 * WIDTH > ROWS ? 2 * WIDTH : ROWS + WIDTH - 1) / WIDTH };
  const int64_t groups = (width + WIDTH - 1) / WIDTH;
  int64_t l = 0;
  for (; l + WIDTH <= what->k; l += WIDTH) {
    LANES square[GROUPS][WIDTH];
    for (int64_t g = 0; g < groups; g++) {
      for (int64_t i = 0; i < WIDTH; i++) {
        const int64_t of = g * WIDTH + i;
        square[g][i] = LOAD(from + (of < width ? of : 0) * line + l);
      }
      TRANSPOSE(square[g]);
    }
    for (int64_t i = 0; i < WIDTH; i++)
      for (int64_t g = 0; g < groups; g++) STORE(to + (l + i) * width + g * WIDTH, square[g][i]);
  }
  return l;
}
#endif

static void NAME(pack)(const matmul_packing *what, const char *array, int64_t line, int64_t step,
                       int64_t width) {
  const matmul_problem *p = what->at->p;
  const int64_t size = what->at->size;
  NUMBER *to = (NUMBER *)what->to;
  for (int64_t i = 0; i < what->count; i += width, to += width * what->k) {
    const int64_t left = what->count - i, lines = left < width ? left : width;
    const char *from = array + ((what->first + i) * line + what->from * step) * size;
    matmul_packing rest = *what;
    int64_t done = 0;
    if (line == 1 && IS_PLAIN(p)) {
      NAME(pack_rows)(what, (const NUMBER *)from, step, lines, width, to);
      continue;
    }
#ifdef TRANSPOSE
    if (step == 1 && lines == width && IS_PLAIN(p))
      done = NAME(pack_squares)(what, (const NUMBER *)from, line, width, to);
#endif
    rest.k -= done;
    NAME(pack_any)
    (&rest, p->types.in, from + done * step * size, line, step, lines, width, to + done * width);
  }
}

static void NAME(pack_a)(const matmul_packing *what) {
  const matmul_at *at = what->at;
  NAME(pack)(what, at->a, at->as.row, at->as.column, ROWS);
}

static void NAME(pack_b)(const matmul_packing *what) {
  const matmul_at *at = what->at;
  NAME(pack)(what, at->b, at->bs.column, at->bs.row, NAME(COLUMNS));
}

/* ---- few rows ---------------------------------------------------------------------------------
 */

#ifdef TRANSPOSE
/* Four rows of B at a time, each a run of memory; the chains stay in the first-level cache. */
static void NAME(strip_row)(const NUMBER *a, int64_t a_step, const NUMBER *b, int64_t b_row,
                            int64_t n, NUMBER *t) {
  const NUMBER w = a[0], x = a[a_step], y = a[2 * a_step], z = a[3 * a_step];
  const LANES all_w = ALL(w), all_x = ALL(x), all_y = ALL(y), all_z = ALL(z);
  const NUMBER *second = b + b_row, *third = second + b_row, *fourth = third + b_row;
  int64_t j = 0;
  for (; j + WIDTH <= n; j += WIDTH) {
    LANES chain = FMA(all_w, LOAD(b + j), LOAD(t + j));
    chain = FMA(all_x, LOAD(second + j), chain);
    chain = FMA(all_y, LOAD(third + j), chain);
    STORE(t + j, FMA(all_z, LOAD(fourth + j), chain));
  }
  for (; j < n; j++)
    t[j] = ONE(z, fourth[j], ONE(y, third[j], ONE(x, second[j], ONE(w, b[j], t[j]))));
}

static void NAME(strip)(const matmul_at *at, int64_t j, int64_t n) {
  NUMBER t[MATMUL_THIN][MATMUL_STRIP];
  const NUMBER *a = (const NUMBER *)at->a, *b = (const NUMBER *)at->b + j;
  const int64_t m = at->p->m, k = at->p->k, step = at->as.column, row = at->bs.row;
  int64_t l = 0;
  for (int64_t i = 0; i < m; i++) memset(t[i], 0, (size_t)n * sizeof t[i][0]);
  for (; l + 4 <= k; l += 4)
    for (int64_t i = 0; i < m; i++)
      NAME(strip_row)(a + i * at->as.row + l * step, step, b + l * row, row, n, t[i]);
  for (; l < k; l++)
    for (int64_t i = 0; i < m; i++)
      for (int64_t x = 0; x < n; x++)
        t[i][x] = ONE(a[i * at->as.row + l * step], b[l * row + x], t[i][x]);
  for (int64_t i = 0; i < m; i++) matmul_finish_row(at, i, j, n, t[i]);
}
#endif

const matmul_kernels RUNG_ENTRY(NAME(matmul_kernels)) = {.size = sizeof(NUMBER),
                                                         .rows = ROWS,
                                                         .columns = NAME(COLUMNS),
                                                         .tile = NAME(tile),
                                                         .pack_a = NAME(pack_a),
#ifdef TRANSPOSE
                                                         .strip = NAME(strip),
#endif
                                                         .pack_b = NAME(pack_b)};

#undef NUMBER
#undef LANES
#undef WIDTH
#undef NAME
#undef FMA
#undef LOAD
#undef STORE
#undef ALL
#undef ONE
#undef ELEMENT
#undef IS_PLAIN
#undef TRANSPOSE
