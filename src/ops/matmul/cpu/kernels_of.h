/* The kernels of one type of sums; included once for each by kernels/kernels.c, which defines
 *   NUMBER       the type            LANES, WIDTH    its vector, and how many lanes that has
 *   NAME(x)      x of this type      FMA, LOAD, STORE, ALL: of vectors
 *   ELEMENT(at, view)                element `at` of an array as a NUMBER
 *   IS_PLAIN(p)                      whether elements are NUMBERs
 *   TURN(line, l, v), TURNS          lanes_turn_*(), or not defined
 *   LINE(line, apart, v), LINES      lanes_line_*(), likewise */

enum { NAME(COLUMNS) = 2 * WIDTH };

/* So many multiply-adds of each chain before its end the next tile's chains are fetched: sooner,
 * and what is read meanwhile would drive them out of the first-level cache. */
enum { NAME(LATE) = 48 };

/* R rows and V vectors are constants of every copy of these. A pointer serves three rows, at no,
 * one and two times their distance: one for all would need a register for each other multiple of
 * it. */
LANES_INLINE void NAME(run_steps)(const int R, const int V, const int64_t k, const NUMBER *a,
                                  int64_t a_row, int64_t a_step, const NUMBER *b, int64_t b_step,
                                  LANES x[ROWS][2]) {
  const NUMBER *rows[(ROWS + 2) / 3];
#pragma GCC unroll 4
  for (int i = 0; i < R; i += 3) {
    rows[i / 3] = a + i * a_row;
    if (!__builtin_constant_p(a_row)) __asm__("" : "+r"(rows[i / 3]));
  }
  for (int64_t l = 0; l < k; l++) {
    LANES right[2];
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) right[v] = LOAD(b + v * WIDTH);
#pragma GCC unroll 12
    for (int i = 0; i < R; i++) {
      const LANES all = ALL(rows[i / 3][i % 3 * a_row]);
#pragma GCC unroll 2
      for (int v = 0; v < V; v++) x[i][v] = FMA(all, right[v], x[i][v]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < R; i += 3) rows[i / 3] += a_step;
    b += b_step;
  }
}

LANES_INLINE void NAME(run_tile)(const int R, const int V, const matmul_tile *t, int64_t a_row,
                                 int64_t a_step) {
  const NUMBER *a = (const NUMBER *)t->a, *b = (const NUMBER *)t->b,
               *from = (const NUMBER *)t->from;
  NUMBER *to = (NUMBER *)t->to;
  const int64_t k = t->k, b_step = t->b_step;
  const int64_t early = t->below && k > NAME(LATE) ? k - NAME(LATE) : 0;
  LANES x[ROWS][2];
#pragma GCC unroll 12
  for (int i = 0; i < R; i++)
#pragma GCC unroll 2
    for (int v = 0; v < V; v++)
      x[i][v] = from != NULL ? LOAD(from + i * t->from_row + v * WIDTH) : (LANES){0};
  NAME(run_steps)(R, V, early, a, a_row, a_step, b, b_step, x);
  if (t->below)
#pragma GCC unroll 12
    for (int i = 0; i < R; i++) {
      __builtin_prefetch(to + (R + i) * t->to_row, 1);
      __builtin_prefetch(to + (R + i) * t->to_row + NAME(COLUMNS) - 1, 1);
    }
  NAME(run_steps)
  (R, V, k - early, a + early * a_step, a_row, a_step, b + early * b_step, b_step, x);
#pragma GCC unroll 12
  for (int i = 0; i < R; i++)
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) STORE(to + i * t->to_row + v * WIDTH, x[i][v]);
}

LANES_OUTLINE void NAME(tile_packed)(const matmul_tile *t) {
  NAME(run_tile)(ROWS, 2, t, 1, ROWS);
}
#define TILE_OF(R)                                            \
  LANES_OUTLINE void NAME(tile_##R)(const matmul_tile *t) {   \
    NAME(run_tile)(R, 2, t, t->a_row, t->a_step);             \
  }                                                           \
  LANES_OUTLINE void NAME(narrow_##R)(const matmul_tile *t) { \
    NAME(run_tile)(R, 1, t, t->a_row, t->a_step);             \
  }
EACH_ROW(TILE_OF)
#undef TILE_OF

/* Fewer rows than a tile has: the largest kernels that they fill, one after the other. */
static void NAME(tile)(const matmul_tile *t) {
#define KERNEL_OF(R) {R, {NAME(tile_##R), NAME(narrow_##R)}},
  static const struct {
    int64_t rows;
    void (*run[2])(const matmul_tile *);
  } kernels[] = {EACH_ROW(KERNEL_OF)};
#undef KERNEL_OF
  if (t->rows == ROWS) {
    const bool packed = t->a_row == 1 && t->a_step == ROWS && !t->narrow;
    (packed ? NAME(tile_packed) : kernels[0].run[t->narrow])(t);
    return;
  }
  matmul_tile rest = *t;
  for (int of = 0; rest.rows > 0; of++)
    for (const int64_t rows = kernels[of].rows; rest.rows >= rows; rest.rows -= rows) {
      kernels[of].run[t->narrow](&rest);
      rest.a = (const NUMBER *)rest.a + rows * rest.a_row;
      if (rest.from != NULL) rest.from = (const NUMBER *)rest.from + rows * rest.from_row;
      rest.to = (NUMBER *)rest.to + rows * rest.to_row;
    }
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

/* The same of lines that lie side by side, a row of them after the other; at most GROUP panels of
 * them, so that what is read of a row is several lines of memory. Rows to come are fetched
 * beforehand. */
enum { NAME(GROUP) = 4, NAME(AHEAD) = 8 };

static void NAME(pack_rows)(const matmul_packing *what, const NUMBER *from, int64_t step,
                            int64_t lines, int64_t width, NUMBER *to) {
  const int64_t panel = width * what->k;
  for (int64_t l = 0; l < what->k; l++, from += step, to += width) {
    for (int64_t i = 0; i < lines; i += 64 / sizeof *from)
      __builtin_prefetch(from + NAME(AHEAD) * step + i);
    for (int64_t p = 0; p * width < lines; p++) {
      const int64_t left = lines - p * width;
      if (left >= width) {
        memcpy(to + p * panel, from + p * width, (size_t)width * sizeof *to);
        continue;
      }
      for (int64_t i = 0; i < width; i++) to[p * panel + i] = i < left ? from[p * width + i] : 0;
    }
  }
}

#ifdef TURN
/* The same of lines whose l's go on, as many as fill vectors, by squares that are transposed. Of a
 * width that is no multiple of vectors each row is stored a little too long, and the next one over
 * it. The next panel is fetched beforehand. Returns how many l's are done. */
static int64_t NAME(pack_squares)(const matmul_packing *what, const NUMBER *from, int64_t line,
                                  int64_t width, NUMBER *to) {
  enum { GROUPS = (2 * WIDTH > ROWS ? 2 * WIDTH : ROWS + WIDTH - 1) / WIDTH };
  const int64_t groups = (width + WIDTH - 1) / WIDTH;
  const NUMBER *lines[GROUPS * WIDTH];
  int64_t l = 0;
  for (int64_t i = 0; i < groups * WIDTH; i++) lines[i] = from + (i < width ? i : 0) * line;
  for (; l + TURNS <= what->k; l += TURNS) {
    LANES turned[GROUPS][TURNS];
    for (int64_t g = 0; g < groups; g++) TURN(lines + g * WIDTH, l, turned[g]);
    for (int64_t i = 0; i < TURNS; i++)
      for (int64_t g = 0; g < groups; g++) STORE(to + (l + i) * width + g * WIDTH, turned[g][i]);
    if (l * (int64_t)sizeof *to % 64 == 0)
      for (int64_t i = 0; i < width; i++) __builtin_prefetch(lines[i] + width * line + l);
  }
  return l;
}
#endif

static void NAME(pack)(const matmul_packing *what, const char *array, int64_t line, int64_t step,
                       int64_t width) {
  const matmul_problem *p = what->at->p;
  const int64_t size = what->at->size;
  NUMBER *to = (NUMBER *)what->to;
  const bool rows = line == 1 && IS_PLAIN(p);
  const int64_t most = rows ? NAME(GROUP) * width : width;
  for (int64_t i = 0; i < what->count; i += most, to += most * what->k) {
    const int64_t left = what->count - i, lines = left < most ? left : most;
    const char *from = array + ((what->first + i) * line + what->from * step) * size;
    matmul_packing rest = *what;
    int64_t done = 0;
    if (rows) {
      NAME(pack_rows)(what, (const NUMBER *)from, step, lines, width, to);
      continue;
    }
#ifdef TURN
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

#ifdef TURN
#include "ops/matmul/cpu/thin_of.h"
#endif

#if LANES_BYTES > 16 && defined(TURN)
/* Four rows of C, the same one where there are fewer, each V vectors of chains, of whose last one
 * `bytes` are there. */
LANES_INLINE void NAME(few_rows)(const int V, int64_t k, int bytes, int64_t rows, const NUMBER *a,
                                 int64_t a_row, int64_t a_step, const NUMBER *b, int64_t b_row,
                                 NUMBER *c, int64_t c_row) {
  LANES x[4][2] = {{{0}}};
  int64_t row[4];
#pragma GCC unroll 4
  for (int r = 0; r < 4; r++) row[r] = r < rows ? r : rows - 1;
  for (int64_t l = 0; l < k; l++, a += a_step, b += b_row) {
    const LANES last = (LANES)load_some(b + (V - 1) * WIDTH, bytes), first = V > 1 ? LOAD(b) : last;
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++) {
      const LANES all = ALL(a[row[r] * a_row]);
      x[r][0] = FMA(all, last, x[r][0]);
      if (V > 1) x[r][1] = FMA(all, first, x[r][1]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; r++) {
    store_some(c + row[r] * c_row + (V - 1) * WIDTH, (lanes_i32)x[r][0], bytes);
    if (V > 1) STORE(c + row[r] * c_row, x[r][1]);
  }
}

LANES_INLINE void NAME(few_of)(const int V, const matmul_few *all) {
  const int bytes = (int)(all->n - (V - 1) * WIDTH) * (int)sizeof(NUMBER);
  const matmul_steps as = all->as, bs = all->bs, cs = all->cs;
  const NUMBER *a = (const NUMBER *)all->a, *b = (const NUMBER *)all->b;
  NUMBER *c = (NUMBER *)all->c;
  const int64_t m = all->m, k = all->k;
  for (int64_t left = all->count; left > 0; left--, a += as.batch, b += bs.batch, c += cs.batch)
    for (int64_t i = 0; i < m; i += 4) NAME(few_rows)
  (V, k, bytes, m - i, a + i * as.row, as.row, as.column, b, bs.row, c + i * cs.row, cs.row);
}

static void NAME(few)(const matmul_few *all) {
  if (all->n <= WIDTH)
    NAME(few_of)(1, all);
  else
    NAME(few_of)(2, all);
}
#endif

const matmul_kernels RUNG_ENTRY(NAME(matmul_kernels)) = {.size = sizeof(NUMBER),
                                                         .rows = ROWS,
                                                         .columns = NAME(COLUMNS),
                                                         .tile = NAME(tile),
                                                         .pack_a = NAME(pack_a),
#ifdef TURN
                                                         .thin = NAME(thin),
#if LANES_BYTES > 16
                                                         .few = NAME(few),
#endif
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
#undef ELEMENT
#undef IS_PLAIN
#undef TURN
#undef TURNS
#undef LINE
#undef LINES
