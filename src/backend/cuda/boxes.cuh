/* Copies between two views by boxes: a chunk of every dimension, chosen such that a box is long
 * runs of neighbours in the input and in the output, each of one dimension or of several small
 * ones. A block loads a box in the input's order and stores it in the output's, by way of shared
 * memory where these differ. pack.cu launches it, and a test on the simulated GPU. */
#ifndef RUNG_BACKEND_CUDA_BOXES_CUH
#define RUNG_BACKEND_CUDA_BOXES_CUH

#include "backend/gpu.h"
#include "core/dimensions.h"

enum { PACK_THREADS = 256, PACK_ACROSS = 64, PACK_SHARED = 48 << 10 };

/* A box's elements are counted by digits, the nearest dimension of a side first: what a step of one
 * adds to the place in memory, to the place in shared memory, and to the coordinates, which are
 * fields of a word. A dimension may be two digits, and these may count beyond its chunk: `index` is
 * the place in that. */
struct pack_digit {
  uint32_t extent, index, field;
  uint32_t inverse; /* 2^32 / extent, rounded up: n / extent is the high word of n times that */
  int place, step;
};

/* A side's digits: those of `across`, which threads keep, and those of `down`. */
struct pack_order {
  int digits, inner;
  uint32_t across, down, step; /* step: lines of `across` that a block's threads are */
  uint32_t chunk;              /* of the dimension that is two digits */
  pack_digit digit[RUNG_MAX_DIMS + 1];
};

/* A dimension of more boxes than one. Boxes are all alike: where a dimension is not a multiple of
 * its chunk, the last one begins before the one before it ends. `common`: so many it does not
 * store, in the dimension's field. */
struct pack_dimension {
  uint32_t boxes, common;
  int64_t chunk, last; /* last: where the last one begins */
  int64_t to, from;    /* strides */
};

struct pack_boxes {
  uint32_t boxes;
  int dimensions;
  bool straight; /* the sides' orders are one */
  /* In bytes of shared memory: from an element to the output's next; where threads put what is no
   * element, each to a place of its own. */
  uint32_t between, spare;
  uint32_t guards; /* a bit above every field */
  pack_order load, store;
  pack_dimension dimension[RUNG_MAX_DIMS];
};

struct __align__(16) pack_entry {
  uint32_t offset, place, index, field;
};

struct pack_place {
  int64_t to, from;
  uint32_t common;
};

/* What digits first ... end - 1 add up to. */
static __device__ inline pack_entry pack_entry_of(const pack_order &order, int first, int end,
                                                  uint32_t number) {
  pack_entry entry = {0, 0, 0, 0};
#pragma unroll 1
  for (int k = first; k < end; k++) {
    const pack_digit &digit = order.digit[k];
    const uint32_t rest = __umulhi(number, digit.inverse), i = number - rest * digit.extent;
    entry.offset += i * (uint32_t)digit.step;
    entry.place += i * (uint32_t)digit.place;
    entry.index += i * digit.index;
    entry.field += i * digit.field;
    number = rest;
  }
  return entry;
}

static __device__ inline pack_place pack_find_box(const pack_boxes &s, uint32_t box) {
  pack_place at = {0, 0, 0};
#pragma unroll 1
  for (int k = 0; k < s.dimensions; k++) {
    const pack_dimension &dimension = s.dimension[k];
    const uint32_t rest = box / dimension.boxes, i = box - rest * dimension.boxes;
    const bool last = i == dimension.boxes - 1;
    const int64_t begin = last ? dimension.last : i * dimension.chunk;
    if (last) at.common |= dimension.common;
    at.to += begin * dimension.to;
    at.from += begin * dimension.from;
    box = rest;
  }
  return at;
}

/* N elements at once. */
template <typename Element, int N>
struct __align__(sizeof(Element) * N) pack_word {
  Element at[N];
};

/* Elements of a box that a thread has at most, or words of them, and blocks that a multiprocessor
 * is to have room for: what was fastest. */
template <typename Element>
static constexpr int pack_each = sizeof(Element) == 4 ? 16 : 8;
template <typename Element>
static constexpr int pack_resident = sizeof(Element) == 4   ? 2
                                     : sizeof(Element) == 8 ? 3
                                                            : 4;

/* A thread's lines of an order. */
struct pack_lines {
  const pack_entry *at;
  uint32_t first, step, down;
  pack_entry own; /* what they have in common */
};

static __device__ __forceinline__ pack_lines pack_lines_of(const pack_order &order,
                                                           const pack_entry *at) {
  const uint32_t thread = threadIdx.x, first = thread / order.across;
  const pack_entry own = pack_entry_of(order, 0, order.inner, thread - first * order.across);
  /* Too few threads may be left for another line. */
  return {at, first < order.step ? first : order.down, order.step, order.down, own};
}

/* A thread's elements: offsets in memory, places in shared memory. Returns a bit for each that is
 * there. */
template <int EACH>
static __device__ __forceinline__ uint32_t pack_find(const pack_lines &lines, uint32_t chunk,
                                                     uint32_t spare, int (&offset)[EACH],
                                                     uint32_t (&place)[EACH]) {
  uint32_t there = 0;
#pragma unroll
  for (int u = 0; u < EACH; u++) {
    const uint32_t line = lines.first + u * lines.step;
    const pack_entry entry = lines.at[line < lines.down ? line : 0];
    const bool is = line < lines.down && lines.own.index + entry.index < chunk;
    if (is) there |= 1u << u;
    offset[u] = (int)(lines.own.offset + entry.offset);
    place[u] = is ? lines.own.place + entry.place : spare;
  }
  return there;
}

/* Which of them the box before has not: those whose coordinates are none below `common`. */
template <int EACH>
static __device__ __forceinline__ uint32_t pack_not_common(const pack_lines &lines, uint32_t common,
                                                           uint32_t guards) {
  uint32_t mask = 0;
#pragma unroll 4
  for (int u = 0; u < EACH; u++) {
    const uint32_t line = lines.first + u * lines.step;
    const uint32_t field = lines.own.field + lines.at[line < lines.down ? line : 0].field;
    if ((((field | guards) - common) & guards) == guards) mask |= 1u << u;
  }
  return mask;
}

/* Loads a thread's elements of a box. */
template <int EACH, typename Element, int N>
static __device__ __forceinline__ void pack_fetch(pack_word<Element, N> (&taken)[EACH],
                                                  const Element *in, const int (&offset)[EACH],
                                                  uint32_t there) {
  rung_keep_global(in);
#pragma unroll
  for (int u = 0; u < EACH; u++)
    if (there >> u & 1) taken[u] = *(const pack_word<Element, N> *)(in + offset[u]);
}

/* N is 1, or 2 of narrow elements: two are loaded at once, and stored, where both sides have them
 * next to each other and begin where two may. Where a thread's elements lie is the same in every
 * box, and is found once; all of its loads of a box are under way while it stores the one before.
 * Where a thread has fewer, what it has not goes to a place that nobody reads. */
template <typename Element, int N>
static __global__ void __launch_bounds__(PACK_THREADS, pack_resident<Element>)
    pack_by_boxes(Element *to, const Element *from, pack_boxes s) {
  typedef pack_word<Element, N> word;
  constexpr int EACH = pack_each<Element>, ONCE = 4;
  RUNG_DYNAMIC_SHARED(pack_entry, entries);
  __shared__ pack_place found[3];
  const uint32_t both = s.load.down + s.store.down;
  char *const tile = (char *)(entries + both);
  for (uint32_t y = threadIdx.x; y < both; y += PACK_THREADS) {
    const bool stores = y >= s.load.down;
    const pack_order &order = stores ? s.store : s.load;
    entries[y] = pack_entry_of(order, order.inner, order.digits, stores ? y - s.load.down : y);
  }
  if (threadIdx.x < 2) found[threadIdx.x] = pack_find_box(s, blockIdx.x + threadIdx.x * gridDim.x);
  __syncthreads();
  int load_offset[EACH], store_offset[EACH];
  uint32_t places[EACH], given_places[EACH];
  const pack_lines lines = pack_lines_of(s.store, entries + s.load.down);
  const uint32_t spare = s.spare + threadIdx.x * (uint32_t)sizeof(word);
  uint32_t loads =
      pack_find<EACH>(pack_lines_of(s.load, entries), s.load.chunk, spare, load_offset, places);
  uint32_t stores = pack_find<EACH>(lines, s.store.chunk, 0, store_offset, given_places);
#pragma unroll
  for (int u = 0; u < EACH; u++) places[u] |= given_places[u] << 16; /* one register for both */
  word taken[EACH];
  pack_fetch<EACH>(taken, from + found[0].from, load_offset, loads);
  int k = 0;
  for (uint32_t box = blockIdx.x; box < s.boxes; box += gridDim.x, k = k < 2 ? k + 1 : 0) {
    const uint32_t common = found[k].common;
    Element *out = to + found[k].to;
    rung_keep_global(out);
    /* What follows from these takes more registers than it takes time. */
    rung_keep(loads);
    rung_keep(stores);
#pragma unroll
    for (int u = 0; u < EACH; u++) {
      rung_keep(load_offset[u]);
      rung_keep(store_offset[u]);
      rung_keep(places[u]);
    }
    const uint32_t given_here =
        common == 0 ? stores : stores & pack_not_common<EACH>(lines, common, s.guards);
#pragma unroll
    for (int u = 0; u < EACH; u++)
      if (!s.straight)
        *(word *)(tile + (places[u] & 0xffff)) = taken[u];
      else if (given_here >> u & 1)
        *(word *)(out + store_offset[u]) = taken[u];
    __syncthreads();
    if (box + gridDim.x < s.boxes)
      pack_fetch<EACH>(taken, from + found[k < 2 ? k + 1 : 0].from, load_offset, loads);
    if (!s.straight) {
#pragma unroll
      for (int u = 0; u < EACH; u += ONCE) {
        word given[ONCE];
#pragma unroll
        for (int v = 0; v < ONCE; v++)
#pragma unroll
          for (int n = 0; n < N; n++)
            given[v].at[n] = *(const Element *)(tile + (places[u + v] >> 16) + n * s.between);
#pragma unroll
        for (int v = 0; v < ONCE; v++)
          if (given_here >> (u + v) & 1) *(word *)(out + store_offset[u + v]) = given[v];
      }
    }
    const uint32_t after = box + 2 * gridDim.x;
    if (threadIdx.x == 0 && after < s.boxes) found[k > 0 ? k - 1 : 2] = pack_find_box(s, after);
    __syncthreads();
  }
}

/* ---- how boxes are chosen -----------------------------------------------------------------------
 */

static int64_t pack_parts_of(int64_t all, int64_t each) {
  return (all + each - 1) / each;
}

static int64_t pack_magnitude(int64_t stride) {
  return stride < 0 ? -stride : stride;
}

/* A view's boxes while they are chosen. Dimensions in the order of a side: the nearest first. */
struct pack_choice {
  const rung_dimensions *d;
  int in[RUNG_MAX_DIMS], out[RUNG_MAX_DIMS];
  int64_t chunk[RUNG_MAX_DIMS], most[RUNG_MAX_DIMS]; /* of a dimension */
  int64_t count;                                     /* elements of a box */
  int place[RUNG_MAX_DIMS];
  uint32_t step[RUNG_MAX_DIMS]; /* of the dimension's field; 0: it has none */
  int64_t bytes;
};

/* A dimension in which neighbours are one element over and over is the farthest. */
static void pack_sort(const rung_dimensions *d, bool out, int order[]) {
  for (int k = 0; k < d->count; k++) {
    const uint64_t step = (uint64_t)pack_magnitude(out ? d->at[k].out : d->at[k].in) - 1;
    int i = k;
    for (; i > 0; i--) {
      const rung_dimension *before = &d->at[order[i - 1]];
      if ((uint64_t)pack_magnitude(out ? before->out : before->in) - 1 <= step) break;
      order[i] = order[i - 1];
    }
    order[i] = k;
  }
}

/* So many neighbours of a side, or about so many. */
static void pack_choose_run(pack_choice *choice, const int order[], int64_t goal) {
  int64_t had = 1;
  for (int i = 0; i < choice->d->count; i++) {
    const int64_t extent = choice->d->at[order[i]].extent, most = choice->most[order[i]];
    int64_t *chunk = &choice->chunk[order[i]], wanted = most < goal / had ? most : goal / had;
    /* Alike, rather than a last one that is mostly empty. */
    const int64_t parts = pack_parts_of(extent, wanted);
    if (8 * (parts * wanted - extent) > extent) wanted = (pack_parts_of(extent, parts) + 1) / 2 * 2;
    if (wanted > *chunk) *chunk = wanted < most ? wanted : most;
    if (wanted < extent) return;
    had *= extent;
  }
}

/* Doubles what a box has of the nearest dimension of which it has not all. */
static bool pack_grow(pack_choice *choice, const int order[], int64_t count) {
  for (int i = 0; i < choice->d->count; i++) {
    const int64_t most = choice->most[order[i]];
    int64_t *chunk = &choice->chunk[order[i]];
    if (*chunk >= most) continue;
    const int64_t wanted = 2 * *chunk < most ? 2 * *chunk : most;
    if (choice->count / *chunk * wanted > count) return false;
    choice->count = choice->count / *chunk * wanted;
    *chunk = wanted;
    return true;
  }
  return false;
}

/* As many neighbours of either side, and more where they are the same. */
static void pack_choose_chunks(pack_choice *choice, int64_t in, int64_t out) {
  for (int k = 0; k < choice->d->count; k++) choice->chunk[k] = 1;
  pack_choose_run(choice, choice->out, out);
  pack_choose_run(choice, choice->in, in);
  choice->count = 1;
  for (int k = 0; k < choice->d->count; k++) choice->count *= choice->chunk[k];
  while (pack_grow(choice, choice->out, in * out) | pack_grow(choice, choice->in, in * out))
    continue;
}

/* The offsets within a box are to fit in 32 bits: where they do not, it gets half as much, an even
 * number, of the dimension that reaches farthest. */
static bool pack_choose_less(pack_choice *choice) {
  int64_t in = 0, out = 0, farthest = 0;
  int widest = 0;
  for (int k = 0; k < choice->d->count; k++) {
    const int64_t steps = choice->chunk[k] - 1;
    const int64_t here = steps * pack_magnitude(choice->d->at[k].in),
                  there = steps * pack_magnitude(choice->d->at[k].out);
    in += here;
    out += there;
    if (here <= farthest && there <= farthest) continue;
    farthest = here > there ? here : there;
    widest = k;
  }
  if (in <= INT32_MAX && out <= INT32_MAX) return false;
  const int64_t half = choice->chunk[widest] / 2;
  choice->most[widest] = half > 1 ? half - half % 2 : half;
  return true;
}

/* In shared memory a box lies in the input's order, but for gaps such that what a warp takes of the
 * output's order lies in different banks: neighbours a bank apart, or as many as come before them.
 * Returns how many bytes it takes. */
static int64_t pack_choose_places(pack_choice *choice) {
  const int64_t bytes = choice->bytes, bank = bytes < 4 ? 4 : bytes, banks = 128 / bank;
  int64_t wanted[RUNG_MAX_DIMS] = {0}, place = bytes, before = 1;
  for (int i = 0; i < choice->d->count && before < banks; i++) {
    wanted[choice->out[i]] = before * bank;
    before *= choice->chunk[choice->out[i]];
  }
  for (int i = 0; i < choice->d->count; i++) {
    const int k = choice->in[i];
    if (choice->chunk[k] == 1) continue;
    if (place > bytes && wanted[k] > 0) {
      /* Of so many neighbours that they fill the banks, an odd number of banks apart is enough. */
      const bool odd = wanted[k] == bank && choice->chunk[k] >= banks;
      const int64_t every = odd ? 2 * bank : 128;
      if (place >= every) place += ((wanted[k] - place) % every + every) % every;
    }
    choice->place[k] = (int)place;
    place *= choice->chunk[k];
  }
  return place;
}

static void pack_add_digit(pack_order *order, int64_t extent, pack_digit digit, bool across) {
  if (extent == 1) return;
  digit.extent = (uint32_t)extent;
  digit.inverse = (uint32_t)pack_parts_of(INT64_C(1) << 32, extent);
  order->digit[order->digits++] = digit;
  *(across ? &order->across : &order->down) *= (uint32_t)extent;
  if (across) order->inner++;
}

/* n: elements of the nearest dimension that go at once. */
static pack_order pack_order_of(const pack_choice *choice, bool out, int n) {
  const int *order = out ? choice->out : choice->in;
  pack_order made = {0, 0, 1, 1, 0, 1, {}};
  bool full = false;
  for (int i = 0; i < choice->d->count; i++) {
    const int k = order[i];
    const rung_dimension *dimension = &choice->d->at[k];
    const int64_t all = choice->chunk[k] / n, room = PACK_ACROSS / made.across;
    pack_digit digit = {0,
                        0,
                        (uint32_t)n * choice->step[k],
                        0,
                        n * choice->place[k],
                        n * (int)(out ? dimension->out : dimension->in)};
    if (choice->chunk[k] > 1) n = 1;
    if (full || all <= room) {
      pack_add_digit(&made, all, digit, !full);
      continue;
    }
    const int64_t low = pack_parts_of(all, pack_parts_of(all, room));
    digit.index = 1;
    pack_add_digit(&made, low, digit, true);
    digit.index = (uint32_t)low;
    digit.field *= (uint32_t)low;
    digit.place *= (int)low;
    digit.step *= (int)low;
    pack_add_digit(&made, pack_parts_of(all, low), digit, false);
    made.chunk = (uint32_t)all;
    full = true;
  }
  made.step = PACK_THREADS / made.across;
  return made;
}

/* Dimensions whose last box has elements in common with the one before have a field. The chunks of
 * a box, 4096 words at most, leave room for a bit above each in 32. */
static void pack_cut(pack_choice *choice, pack_boxes *s) {
  int shift = 0;
  s->straight = true;
  s->boxes = 1;
  s->dimensions = 0;
  s->guards = 0;
  for (int i = 0; i < choice->d->count; i++) {
    const int k = choice->out[i];
    const rung_dimension *dimension = &choice->d->at[k];
    const int64_t chunk = choice->chunk[k], boxes = pack_parts_of(dimension->extent, chunk);
    const uint32_t common = (uint32_t)(boxes * chunk - dimension->extent);
    choice->step[k] = common > 0 ? UINT32_C(1) << shift : 0;
    if (chunk > 1 && choice->in[i] != k) s->straight = false;
    if (boxes > 1)
      s->dimension[s->dimensions++] = {(uint32_t)boxes, common * choice->step[k],
                                       chunk,           dimension->extent - chunk,
                                       dimension->out,  dimension->in};
    s->boxes *= (uint32_t)boxes;
    if (common == 0) continue;
    for (int64_t most = chunk - 1; most > 0; most /= 2) shift++;
    s->guards |= UINT32_C(1) << shift++;
  }
}

/* Whether a block's threads have as many elements at most as `each`. */
static bool pack_fits(const pack_order *order, int each) {
  return order->down <= (uint32_t)each * (PACK_THREADS / order->across);
}

/* What a launch needs to know. `n` elements of so many bytes go at once. */
struct pack_plan {
  pack_boxes boxes;
  int64_t bytes;
  int n;
  size_t shared; /* bytes of shared memory */
};

/* How many elements may go at once. Of steps no larger than this a box has more than 32, if it has
 * less than it might (pack_choose_less()), and an even number. */
static int pack_words_of(const pack_choice *choice, const void *to, const void *from) {
  enum { NEAR = 1 << 23 };
  const int in = choice->in[0], out = choice->out[0];
  const rung_dimensions *d = choice->d;
  if (choice->bytes > 2 || in == out || d->at[in].in != 1 || d->at[out].out != 1) return 1;
  int64_t odd = d->at[in].extent | d->at[out].extent;
  for (int k = 0; k < d->count; k++) {
    odd |= (k == in ? 0 : d->at[k].in) | (k == out ? 0 : d->at[k].out);
    if (pack_magnitude(d->at[k].in) > NEAR || pack_magnitude(d->at[k].out) > NEAR) return 1;
  }
  const bool even = ((uintptr_t)to | (uintptr_t)from) % (uintptr_t)(2 * choice->bytes) == 0;
  return odd % 2 == 0 && even ? 2 : 1;
}

/* Of `count` elements, whose dimensions are merged: as large boxes as a block's threads have, of
 * words of n elements; smaller ones where there would be too few for the device. */
static pack_plan pack_plan_of(const rung_dimensions *d, const void *to, const void *from,
                              int64_t count, int64_t bytes, int64_t processors) {
  const int each = bytes == 4 ? pack_each<uint32_t> : pack_each<uint64_t>;
  static_assert(pack_each<uint8_t> == pack_each<uint64_t>, "and of two bytes");
  pack_choice choice = {};
  pack_plan plan = {};
  pack_boxes *s = &plan.boxes;
  choice.d = d;
  choice.bytes = plan.bytes = bytes;
  for (int k = 0; k < d->count; k++) choice.most[k] = d->at[k].extent;
  pack_sort(d, false, choice.in);
  pack_sort(d, true, choice.out);
  plan.n = pack_words_of(&choice, to, from);
  int64_t out = PACK_ACROSS, in = each * PACK_THREADS / out * plan.n;
  while (out > 32 && count < processors * in * out) in = in > 32 ? in / 2 : in, out /= 2;
  for (;; in = in * 7 / 16 * 2, out = out * 7 / 16 * 2) {
    do pack_choose_chunks(&choice, in, out);
    while (pack_choose_less(&choice));
    const int64_t room = pack_choose_places(&choice);
    pack_cut(&choice, s);
    s->load = pack_order_of(&choice, false, plan.n);
    s->store = pack_order_of(&choice, true, plan.n);
    s->between = (uint32_t)choice.place[choice.out[0]];
    s->spare = (uint32_t)room;
    plan.shared = (s->load.down + s->store.down) * sizeof(pack_entry) +
                  (s->straight ? 0 : (size_t)(room + PACK_THREADS * plan.n * bytes));
    if (plan.shared <= PACK_SHARED && pack_fits(&s->load, each) && pack_fits(&s->store, each))
      return plan;
  }
}

/* As many blocks as are resident: they stride over the boxes. */
template <typename Element>
static unsigned pack_grid(const pack_plan *plan, int64_t processors) {
  const int64_t most = processors * pack_resident<Element>;
  return plan->boxes.boxes < most ? plan->boxes.boxes : (unsigned)most;
}

#endif
