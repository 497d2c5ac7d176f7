#include "ops/matmul/grid.h"

/* Blocks of B have at least so many bytes, and so many columns, where B has; and blocks of C begin
 * at multiples of so many columns. */
enum { BLOCK = 16 << 20, COLUMNS = 64 };

/* What goes to a grid's ranks is packed first: its bytes count for so much more. */
static const double packed = 1.25;

/* An H200 beside others, by NVLink: multiply-adds of f32, and what it sends or receives. A part of
 * a server's processors, by a fast network or shared memory. */
static const matmul_rates of_gpus = {.madds = 25e12, .bytes = 400e9, .exchange = 50e-6};
static const matmul_rates of_hosts = {.madds = 200e9, .bytes = 10e9, .exchange = 20e-6};

const matmul_rates *matmul_rates_of(bool on_gpus) {
  return on_gpus ? &of_gpus : &of_hosts;
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

/* Part `index` of `parts` that are as even as can be: without overflow count * index / parts. */
static matmul_span part_of(int64_t count, int index, int parts) {
  const int64_t each = count / parts, rest = count % parts;
  const int64_t first = each * index + rest * index / parts;
  return (matmul_span){first, each * (index + 1) + rest * (index + 1) / parts - first};
}

static bool is_within(matmul_grid grid, int rank) {
  return rank < grid.down * grid.across;
}

matmul_span matmul_grid_rows(const matmul_shares *s, matmul_grid grid, int rank) {
  if (!is_within(grid, rank)) return (matmul_span){0, 0};
  return part_of(s->a_rows[s->ranks], rank / grid.across, grid.down);
}

static int64_t stripes_of(const matmul_shares *s) {
  return (s->n + COLUMNS - 1) / COLUMNS;
}

static matmul_span columns_at(const matmul_shares *s, matmul_grid grid, int j) {
  const matmul_span stripes = part_of(stripes_of(s), j, grid.across);
  const int64_t first = stripes.first * COLUMNS, left = s->n - first;
  const int64_t count = stripes.count * COLUMNS;
  return (matmul_span){first, count < left ? count : left};
}

matmul_span matmul_grid_columns(const matmul_shares *s, matmul_grid grid, int rank) {
  if (!is_within(grid, rank)) return (matmul_span){0, 0};
  return columns_at(s, grid, rank % grid.across);
}

matmul_span matmul_grid_common(const matmul_shares *s, matmul_span rows, int owner) {
  int64_t first = s->a_rows[owner], end = s->a_rows[owner + 1];
  if (first < rows.first) first = rows.first;
  if (end > rows.first + rows.count) end = rows.first + rows.count;
  return (matmul_span){first, end > first ? end - first : 0};
}

int64_t matmul_grid_step(int64_t n, int64_t k, int64_t element, int ranks) {
  const int64_t least = k == 0 ? n : BLOCK / element / k;
  int64_t columns = (n + ranks - 1) / ranks;
  if (columns < least) columns = least;
  columns = (columns + COLUMNS - 1) / COLUMNS * COLUMNS;
  return columns < n ? columns : n;
}

static int64_t steps_of(int64_t columns, int64_t step) {
  return step > 0 ? (columns + step - 1) / step : 0;
}

int64_t matmul_grid_steps(const matmul_shares *s, matmul_grid grid) {
  const int64_t step = matmul_grid_step(s->n, s->k, s->element, s->ranks);
  int64_t most = 0;
  if (grid.down == 0) return steps_of(s->n, step);
  for (int j = 0; j < grid.across; j++) {
    const int64_t steps = steps_of(columns_at(s, grid, j).count, step);
    if (steps > most) most = steps;
  }
  return most;
}

/* ---- the choice --------------------------------------------------------------------------------
 */

/* What one rank computes and moves. */
typedef struct load {
  double madds, bytes;
} load;

static load load_as_they_lie(const matmul_shares *s, int rank) {
  const double n = (double)s->n, k = (double)s->k;
  const double rows = (double)(s->a_rows[rank + 1] - s->a_rows[rank]);
  const double of_b = (double)(s->b_rows[rank + 1] - s->b_rows[rank]);
  return (load){rows * n * k, (of_b * (s->ranks - 1) + k - of_b) * n * (double)s->element};
}

/* Rows of A go to as many ranks as have a block of these rows, rows of B to as many as have one of
 * these columns, but to this rank itself. */
static load load_within(const matmul_shares *s, matmul_grid grid, int rank) {
  const double n = (double)s->n, k = (double)s->k;
  const matmul_span span = matmul_grid_rows(s, grid, rank);
  const double columns = (double)matmul_grid_columns(s, grid, rank).count;
  const double rows = (double)span.count, own = (double)matmul_grid_common(s, span, rank).count;
  const double has = (double)(s->a_rows[rank + 1] - s->a_rows[rank]);
  const double of_b = (double)(s->b_rows[rank + 1] - s->b_rows[rank]);
  const double a = (has * grid.across - own + rows - own) * k;
  const double b = of_b * (grid.down * n - columns) + (k - of_b) * columns;
  const double c = (has * n - own * columns + (rows - own) * columns) * (s->adds ? 2 : 1);
  const double bytes = (a + b) * (double)s->element + c * (double)s->result;
  return (load){rows * columns * k, packed * bytes};
}

/* Beside blocks of B: a word about memory, A to where it is used, C back, and before that there. */
static double exchanges_of(const matmul_shares *s, matmul_grid grid) {
  return (double)matmul_grid_steps(s, grid) + (grid.down > 0 ? 3 + s->adds : 0);
}

double matmul_grid_seconds(const matmul_shares *s, const matmul_rates *rates, matmul_grid grid) {
  load most = {0, 0};
  for (int r = 0; r < s->ranks; r++) {
    const load load = grid.down == 0 ? load_as_they_lie(s, r) : load_within(s, grid, r);
    if (load.madds > most.madds) most.madds = load.madds;
    if (load.bytes > most.bytes) most.bytes = load.bytes;
  }
  return most.madds / rates->madds + most.bytes / rates->bytes +
         exchanges_of(s, grid) * rates->exchange;
}

/* Of grids with as many rows of blocks, the one with most blocks; from many rows to few, those
 * alone that leave room for one more column of blocks. */
matmul_grid matmul_grid_of(const matmul_shares *s, const matmul_rates *rates) {
  const int64_t rows = s->a_rows[s->ranks], stripes = stripes_of(s);
  matmul_grid best = {0, 0};
  if (s->ranks == 1 || rows == 0 || s->n == 0 || s->k == 0) return best;
  double least = matmul_grid_seconds(s, rates, best);
  if (least <= (4 + s->adds) * rates->exchange) return best; /* no grid takes less: a short job */
  for (int down = rows < s->ranks ? (int)rows : s->ranks; down > 0;) {
    const int across = s->ranks / down;
    const matmul_grid grid = {down, across < stripes ? across : (int)stripes};
    const double seconds = matmul_grid_seconds(s, rates, grid);
    if (seconds < least) {
      least = seconds;
      best = grid;
    }
    down = s->ranks / (across + 1);
  }
  return best;
}
