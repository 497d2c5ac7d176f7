/* Rung `widened`: f16 and bf16 become floats, which is exact, and the best rung of f32 multiplies
 * the copies: the same chains. Where C is of halves too that rung leaves the chains in scratch, and
 * a last launch ends and rounds them. */
#include "ops/matmul/cuda/matmul.cuh"
#include "ops/matmul/widened.h"

enum { THREADS = 256 };

template <typename T>
struct __align__(4 * sizeof(T)) matmul_quartet {
  T at[4];
};

/* How the lines of an array of halves lie: `rows` to a matrix. */
struct matmul_halves {
  int64_t rows, line, apart;
  bool wide; /* four elements can be moved at once */

  __device__ inline int64_t begin(int64_t number) const {
    const int64_t matrix = number < rows ? 0 : number / rows;
    return matrix * apart + (number - matrix * rows) * line;
  }
};

/* A copy: so many lines of so many fours, `length` elements of each line. */
struct matmul_fours {
  int64_t lines, fours, length;
};

static matmul_fours fours_of(const matmul_copy &copy) {
  const int64_t rows = copy.matrices * copy.rows;
  if (rows == 0) return {0, 1, 0};
  if (copy.whole) return {1, (rows * copy.columns + 3) / 4, rows * copy.columns};
  return {rows, copy.pitch / 4, copy.columns};
}

static matmul_halves lines_of(const rung_view *view, const matmul_copy &copy) {
  const matmul_steps steps = matmul_steps_of(view, false);
  const bool aligned = reinterpret_cast<uintptr_t>(view->data) % 8 == 0;
  if (copy.whole) return {1, 0, 0, aligned};
  const bool even = steps.batch == copy.rows * steps.row; /* from matrix to matrix as within one */
  return {even ? copy.matrices * copy.rows : copy.rows, steps.row, steps.batch,
          aligned && (copy.rows == 1 || steps.row % 4 == 0) && steps.batch % 4 == 0};
}

/* each(line, four) for all fours of a copy, by all threads. */
template <typename F>
static __device__ inline void walk(const matmul_fours &copy, const F &each) {
  const int64_t step = (int64_t)gridDim.x * THREADS, first = (int64_t)blockIdx.x * THREADS;
  const int64_t down = step / copy.fours, across = step % copy.fours;
  int64_t line = (first + threadIdx.x) / copy.fours, four = (first + threadIdx.x) % copy.fours;
  while (line < copy.lines) {
    each(line, four);
    line += down;
    four += across;
    if (four < copy.fours) continue;
    four -= copy.fours;
    line++;
  }
}

/* Those of four elements that are there, zeros for the others. */
template <typename T>
static __device__ inline matmul_quartet<T> quartet_of(const T *from, int64_t left, bool wide) {
  matmul_quartet<T> four = {};
  if (wide && left >= 4) return *reinterpret_cast<const matmul_quartet<T> *>(from);
#pragma unroll
  for (int e = 0; e < 4; e++)
    if (e < left) four.at[e] = from[e];
  return four;
}

/* ---- A and B ----------------------------------------------------------------------------------
 */

struct matmul_widening {
  const uint16_t *from;
  matmul_halves lines;
  matmul_fours copy;
  matmul_quartet<float> *to;
};

static __device__ inline void widen(const matmul_widening &of, bool bfloat) {
  walk(of.copy, [&](int64_t line, int64_t four) {
    const matmul_quartet<uint16_t> halves = quartet_of(of.from + of.lines.begin(line) + four * 4,
                                                       of.copy.length - four * 4, of.lines.wide);
    matmul_quartet<float> exact;
#pragma unroll
    for (int e = 0; e < 4; e++) exact.at[e] = rung_half_to_f32(halves.at[e], bfloat);
    of.to[line * of.copy.fours + four] = exact;
  });
}

__global__ void __launch_bounds__(THREADS)
    matmul_widen(matmul_widening a, matmul_widening b, bool bfloat) {
  widen(a, bfloat);
  widen(b, bfloat);
}

static matmul_widening widening_of(const rung_view *view, const matmul_copy &copy) {
  return {reinterpret_cast<const uint16_t *>(view->data), lines_of(view, copy), fours_of(copy),
          reinterpret_cast<matmul_quartet<float> *>(copy.view.data)};
}

static unsigned grid_of(const rung_task *task, int64_t fours) {
  const int64_t blocks = (fours + THREADS - 1) / THREADS,
                most = (int64_t)task->device->processors * 8;
  return (unsigned)(blocks < most ? blocks : most);
}

static rung_status run_widening(const rung_task *task) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  const matmul_widened of = matmul_widened_of(task);
  const matmul_widening a = widening_of(&task->arrays[MATMUL_A], of.a),
                        b = widening_of(&task->arrays[MATMUL_B], of.b);
  const int64_t in_a = a.copy.lines * a.copy.fours, in_b = b.copy.lines * b.copy.fours;
  if (in_a + in_b == 0) return RUNG_OK; /* k is 0 */
  RUNG_LAUNCH(task, matmul_widen, grid_of(task, in_a > in_b ? in_a : in_b), THREADS, 0, a, b,
              p->types.in == RUNG_BF16);
  return RUNG_OK;
}

/* ---- C ----------------------------------------------------------------------------------------
 */

struct matmul_ending {
  const float *chains;
  matmul_fours copy;
  const uint16_t *added; /* or NULL */
  uint16_t *to;
  matmul_halves added_lines, lines;
  float alpha, beta;
  bool bfloat;
};

__global__ void __launch_bounds__(THREADS) matmul_end_halves(matmul_ending of) {
  rung_await_before();
  walk(of.copy, [&](int64_t line, int64_t four) {
    const int64_t left = of.copy.length - four * 4;
    const matmul_quartet<float> chains =
        quartet_of(of.chains + (line * of.copy.fours + four) * 4, left, true);
    const bool adds = of.added != nullptr, all = of.lines.wide && left >= 4;
    uint16_t *to = of.to + of.lines.begin(line) + four * 4;
    matmul_quartet<uint16_t> old = {}, now = {};
    if (adds)
      old = quartet_of(of.added + of.added_lines.begin(line) + four * 4, left, of.added_lines.wide);
#pragma unroll
    for (int e = 0; e < 4; e++)
      if (e < left)
        matmul_finish_half(chains.at[e], of.alpha, of.beta, of.bfloat, adds ? &old.at[e] : nullptr,
                           &now.at[e], 0);
    if (all) *reinterpret_cast<matmul_quartet<uint16_t> *>(to) = now;
#pragma unroll
    for (int e = 0; e < 4; e++)
      if (!all && e < left) to[e] = now.at[e];
  });
}

static rung_status run_end(const rung_task *task) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  const rung_view *added = &task->arrays[MATMUL_ADDED], *c = &task->arrays[MATMUL_C];
  const matmul_copy copy = matmul_chains_of(task);
  matmul_ending of = {};
  of.chains = reinterpret_cast<const float *>(task->arrays[MATMUL_A].data);
  of.copy = fours_of(copy);
  if (added->count > 0) of.added = reinterpret_cast<const uint16_t *>(added->data);
  of.to = reinterpret_cast<uint16_t *>(c->data);
  if (added->count > 0) of.added_lines = lines_of(added, copy);
  of.lines = lines_of(c, copy);
  of.alpha = (float)p->alpha;
  of.beta = (float)p->beta;
  of.bfloat = p->types.out == RUNG_BF16;
  RUNG_LAUNCH_NEXT(task, matmul_end_halves, grid_of(task, of.copy.lines * of.copy.fours), THREADS,
                   0, of);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(matmul_widened)(const rung_task *task) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  return p->types.in == RUNG_F32 ? run_end(task) : run_widening(task);
}
