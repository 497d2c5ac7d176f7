/* A panel's way in and out, for one type: LANES rows turned on their side, so that cell[j] is a
 * vector that holds column j of all of them. Included with REAL, LANE, LANES and NAME(x) defined,
 * by the rungs that work on panels. */

/* `count` columns of LANES rows, from where each has the first of them. */
static void NAME(load_cells)(const REAL *const from[LANES], int64_t count, LANE *cell) {
  int64_t j = 0;
  for (; j + LANES <= count; j += LANES) {
    LANE block[LANES];
    for (int l = 0; l < LANES; l++) block[l] = NAME(lanes_load)(from[l] + j);
    NAME(lanes_transpose)(block);
    memcpy(cell + j, block, sizeof block);
  }
  for (; j < count; j++)
    for (int l = 0; l < LANES; l++) cell[j][l] = from[l][j];
}

/* LANES rows in: rows past the last are copies of it, computed and dropped. */
static void NAME(load_panel)(const rung_task *task, int64_t first_row, LANE *cell) {
  const stencil_problem *p = task->problem;
  const rung_view *in = &task->arrays[STENCIL_IN];
  const int64_t m = p->columns, last = p->rows - 1;
  int64_t row[LANES];
  for (int l = 0; l < LANES; l++) row[l] = first_row + l < last ? first_row + l : last;
  if (p->start.own) {
    for (int64_t j = 0; j < m; j++)
      for (int l = 0; l < LANES; l++)
        cell[j][l] = (REAL)stencil_start_value(&p->start, row[l], j, m);
    return;
  }
  const REAL *from[LANES];
  for (int l = 0; l < LANES; l++) from[l] = (const REAL *)in->data + row[l] * in->stride[0];
  NAME(load_cells)(from, m, cell);
}

/* Whether stores may go past the caches: whole aligned vectors, of more than the caches hold. */
static bool NAME(may_stream)(const rung_task *task, const rung_view *out) {
  const int64_t row = out->stride[0] * (int64_t)sizeof(REAL);
  return (uintptr_t)out->data % LANES_BYTES == 0 && row % LANES_BYTES == 0 &&
         out->count * (int64_t)sizeof(REAL) > task->device->cache_bytes;
}

static void NAME(store_panel)(const rung_task *task, int64_t first_row, const LANE *cell) {
  const stencil_problem *p = task->problem;
  const rung_view *out = &task->arrays[STENCIL_OUT];
  const int64_t m = p->columns, left = p->rows - first_row;
  const int rows = left < LANES ? (int)left : LANES;
  const bool stream = NAME(may_stream)(task, out);
  REAL *to = (REAL *)out->data + first_row * out->stride[0];
  int64_t j = 0;
  for (; j + LANES <= m; j += LANES) {
    LANE block[LANES];
    memcpy(block, cell + j, sizeof block);
    NAME(lanes_transpose)(block);
    if (stream)
      for (int l = 0; l < rows; l++) NAME(lanes_stream)(to + l * out->stride[0] + j, block[l]);
    else
      for (int l = 0; l < rows; l++) NAME(lanes_store)(to + l * out->stride[0] + j, block[l]);
  }
  for (; j < m; j++)
    for (int l = 0; l < rows; l++) to[l * out->stride[0] + j] = cell[j][l];
  if (stream) lanes_stream_end();
}

/* The canonical sums (core/sum.h) of all lanes' rows at once; spoils the cells. A missing element
 * is -0, which changes no sum: it is left out. */
static LANE NAME(sum_panel)(LANE *cell, int64_t m) {
  const int64_t lanes = RUNG_SUM_LANES, tile = lanes * RUNG_SUM_ROWS;
  while (m > 1) {
    const int64_t tiles = (m + tile - 1) / tile;
    for (int64_t t = 0; t < tiles; t++) {
      LANE *x = cell + t * tile;
      const int64_t count = m - t * tile < tile ? m - t * tile : tile;
      int64_t width = count < lanes ? count : lanes;
      for (int64_t l = 0; l < width; l++) {
        LANE sum = x[l];
        for (int64_t i = l + lanes; i < count; i += lanes) sum += x[i];
        x[l] = sum;
      }
      for (int64_t s = lanes / 2; s > 0; s /= 2) {
        for (int64_t l = 0; l < s && l + s < width; l++) x[l] += x[l + s];
        width = width < s ? width : s;
      }
      cell[t] = x[0];
    }
    m = tiles;
  }
  return cell[0];
}

/* The means of the panel's rows, where they are wanted; spoils the cells. */
static void NAME(mean_panel)(const rung_task *task, int64_t first_row, LANE *cell) {
  const stencil_problem *p = task->problem;
  const rung_view *means = &task->arrays[STENCIL_MEANS];
  if (means->count == 0) return;
  const LANE sum = NAME(sum_panel)(cell, p->columns);
  for (int l = 0; l < LANES && first_row + l < p->rows; l++)
    ((REAL *)means->data)[(first_row + l) * means->stride[0]] =
        (REAL)((double)sum[l] / (double)p->columns);
}
