/* Copying elements between views of any strides, at the speed of memory where it can be: runs of
 * neighbours, every second to fourth element, backwards, and turned, where what goes on in memory
 * here is not what goes on there. Values travel as integers: no NaN loses its payload. */
#include <assert.h>
#include <string.h>

#include "core/tensor.h"

typedef uint16_t __attribute__((may_alias)) two;
typedef uint32_t __attribute__((may_alias)) four;
typedef uint64_t __attribute__((may_alias)) eight;

/* ---- a row ------------------------------------------------------------------------------------
 */

/* Steps that are constants become vectors. */
#define COPY_BY(step) \
  for (int64_t i = 0; i < count; i++) out[i] = in[i * (step)]
#define COPY_ROW(name, type)                                                       \
  static void name(char *to, int64_t to_step, const char *from, int64_t from_step, \
                   int64_t count) {                                                \
    type *restrict out = (type *)to;                                               \
    const type *restrict in = (const type *)from;                                  \
    if (to_step == 1 && from_step == -1)                                           \
      COPY_BY(-1);                                                                 \
    else if (to_step == 1 && from_step == 2)                                       \
      COPY_BY(2);                                                                  \
    else if (to_step == 1 && from_step == 3)                                       \
      COPY_BY(3);                                                                  \
    else if (to_step == 1 && from_step == 4)                                       \
      COPY_BY(4);                                                                  \
    else                                                                           \
      for (int64_t i = 0; i < count; i++) out[i * to_step] = in[i * from_step];    \
  }
COPY_ROW(copy_ones, uint8_t)
COPY_ROW(copy_twos, two)
COPY_ROW(copy_fours, four)
COPY_ROW(copy_eights, eight)

/* The steps are in elements. */
static void copy_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count,
                     size_t element) {
  if (to_step == 1 && from_step == 1)
    memcpy(to, from, (size_t)count * element);
  else if (element == 1)
    copy_ones(to, to_step, from, from_step, count);
  else if (element == 2)
    copy_twos(to, to_step, from, from_step, count);
  else if (element == 4)
    copy_fours(to, to_step, from, from_step, count);
  else
    copy_eights(to, to_step, from, from_step, count);
}

/* ---- turned -----------------------------------------------------------------------------------
 */

enum { VECTOR = 16, LINE = 64, AHEAD = 6, BLOCKS = 8 };

#define PICK __builtin_shufflevector
#define LOW_1(a, b) PICK(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_1(a, b) PICK(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW_2(a, b) PICK(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_2(a, b) PICK(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_4(a, b) PICK(a, b, 0, 4, 1, 5)
#define HIGH_4(a, b) PICK(a, b, 2, 6, 3, 7)
#define LOW_8(a, b) PICK(a, b, 0, 2)
#define HIGH_8(a, b) PICK(a, b, 1, 3)

/* A square as wide as a vector, turned in registers: each round merges the first half of the
 * vectors with the second. The steps are in bytes. */
#define TURN_SQUARE(name, type, low, high)                                      \
  static void name(char *to, int64_t to_step, const char *from, int64_t step) { \
    enum { LANES = VECTOR / (int)sizeof(type) };                                \
    typedef type vector __attribute__((vector_size(VECTOR)));                   \
    vector v[LANES], merged[LANES];                                             \
    for (int k = 0; k < LANES; k++) memcpy(&v[k], from + k * step, VECTOR);     \
    for (int round = 1; round < LANES; round *= 2) {                            \
      for (int k = 0; k < LANES / 2; k++) {                                     \
        merged[2 * k] = low(v[k], v[k + LANES / 2]);                            \
        merged[2 * k + 1] = high(v[k], v[k + LANES / 2]);                       \
      }                                                                         \
      memcpy(v, merged, sizeof v);                                              \
    }                                                                           \
    for (int k = 0; k < LANES; k++) memcpy(to + k * to_step, &v[k], VECTOR);    \
  }
TURN_SQUARE(turn_ones, uint8_t, LOW_1, HIGH_1)
TURN_SQUARE(turn_twos, uint16_t, LOW_2, HIGH_2)
TURN_SQUARE(turn_fours, uint32_t, LOW_4, HIGH_4)
TURN_SQUARE(turn_eights, uint64_t, LOW_8, HIGH_8)

/* to[i, j] = from[j, i], of whole lines of memory both ways: these are read once and written once,
 * for rows a power of two apart share a few places of the caches. Steps in bytes from row to row.
 */
static void turn_block(char *to, int64_t to_step, const char *from, int64_t from_step,
                       int64_t element) {
  _Alignas(LINE) char block[LINE * LINE];
  const int64_t side = LINE / element, lanes = VECTOR / element;
  for (int64_t k = 0; k < side; k++) { /* of blocks further along `to` */
    __builtin_prefetch(from + (AHEAD * side + k) * from_step);
    __builtin_prefetch(to + k * to_step + LINE, 1);
  }
  for (int64_t j = 0; j < side; j += lanes)
    for (int64_t i = 0; i < side; i += lanes) {
      char *at = block + i * LINE + j * element;
      const char *source = from + j * from_step + i * element;
      if (element == 1)
        turn_ones(at, LINE, source, from_step);
      else if (element == 2)
        turn_twos(at, LINE, source, from_step);
      else if (element == 4)
        turn_fours(at, LINE, source, from_step);
      else
        turn_eights(at, LINE, source, from_step);
    }
  for (int64_t i = 0; i < side; i++) memcpy(to + i * to_step, block + i * LINE, LINE);
}

/* As copy_turned(), of rows or columns too few for a block: column by column, which goes on in
 * memory where it comes from. */
static void copy_few(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows,
                     int64_t columns, int64_t element) {
  for (int64_t j = 0; j < columns && rows > 0; j++)
    copy_row(to + j * element, to_step, from + j * from_step * element, 1, rows, (size_t)element);
}

/* A matrix whose rows go on in memory in `to`, and whose columns do in `from`; steps in elements,
 * from row to row of `to` and from column to column of `from`. */
static void copy_turned(char *to, int64_t to_step, const char *from, int64_t from_step,
                        int64_t rows, int64_t columns, int64_t element) {
  const int64_t side = LINE / element, down = rows / side * side, across = columns / side * side;
  for (int64_t first = 0; first < down; first += BLOCKS * side) {
    const int64_t end = down - first < BLOCKS * side ? down : first + BLOCKS * side;
    for (int64_t j = 0; j < across; j += side)
      for (int64_t i = first; i < end; i += side)
        turn_block(to + (i * to_step + j) * element, to_step * element,
                   from + (i + j * from_step) * element, from_step * element, element);
  }
  copy_few(to + across * element, to_step, from + across * from_step * element, from_step, down,
           columns - across, element);
  copy_few(to + down * to_step * element, to_step, from + down * element, from_step, rows - down,
           columns, element);
}

/* ---- views ------------------------------------------------------------------------------------
 */

/* The dimension whose elements are neighbours in memory; -1: there is none. */
static int run_of(const rung_view *view) {
  for (int d = view->ndim - 1; d >= 0; d--)
    if (view->stride[d] == 1 && view->shape[d] > 1) return d;
  return -1;
}

static void exchange(rung_view *view, int a, int b) {
  const int64_t shape = view->shape[a], stride = view->stride[a];
  view->shape[a] = view->shape[b];
  view->stride[a] = view->stride[b];
  view->shape[b] = shape;
  view->stride[b] = stride;
}

/* The dimensions may come in any order: last the one that goes on in `to`, before it the one that
 * goes on in `from` if that is another one. Returns whether it is. */
static bool arrange(rung_view *to, rung_view *from) {
  const int last = to->ndim - 1, written = run_of(to);
  if (written < 0) return false;
  exchange(to, written, last);
  exchange(from, written, last);
  const int read = run_of(from);
  if (read < 0 || read == last) return false;
  exchange(to, read, last - 1);
  exchange(from, read, last - 1);
  return true;
}

void rung_view_copy(const rung_view *out, const rung_view *in) {
  assert(out->ndim == in->ndim && out->dtype == in->dtype && out->count == in->count);
  if (out->count == 0) return;
  const int64_t element = (int64_t)rung_dtype_bytes(out->dtype);
  rung_view to = *out, from = *in;
  if (to.ndim == 0) {
    memcpy(to.data, from.data, (size_t)element);
    return;
  }
  const bool turned = arrange(&to, &from);
  const int last = to.ndim - 1, next = turned ? last - 2 : last - 1;
  int64_t index[RUNG_MAX_DIMS] = {0}, to_at = 0, from_at = 0;
  for (;;) {
    if (turned)
      copy_turned(to.data + to_at * element, to.stride[last - 1], from.data + from_at * element,
                  from.stride[last], to.shape[last - 1], to.shape[last], element);
    else
      copy_row(to.data + to_at * element, to.stride[last], from.data + from_at * element,
               from.stride[last], to.shape[last], (size_t)element);
    int d = next;
    for (; d >= 0 && ++index[d] == to.shape[d]; d--) {
      to_at -= to.stride[d] * (to.shape[d] - 1);
      from_at -= from.stride[d] * (to.shape[d] - 1);
      index[d] = 0;
    }
    if (d < 0) return;
    to_at += to.stride[d];
    from_at += from.stride[d];
  }
}
