/* How a block that walks down the image has its next rows come into a ring in shared memory: what
 * of a row it needs, which thread brings which part of it, and what stands for elements beyond the
 * image's first and last column. */
#ifndef RUNG_CORRELATE_CUDA_RING_CUH
#define RUNG_CORRELATE_CUDA_RING_CUH

#include "ops/correlate/cuda/walk.cuh"

static constexpr int AHEAD = 3, SLOTS = AHEAD + 1;
static_assert((SLOTS & (SLOTS - 1)) == 0, "rows find their slots by their last bits");

/* What is inlined on a GPU, and on the simulator, whose code is large, there once a type. */
#ifdef __CUDACC__
#define ASIDE __forceinline__
#define ONCE
#else
#define ASIDE __attribute__((noinline))
#define ONCE ASIDE
#endif

/* Threads of a block. Of bytes whose multiply-adds take longer than memory a warp walks by itself:
 * it waits for no other, and what it has more of neighbours is paid by that. */
static constexpr int correlate_threads(int bytes, int columns, int kernel) {
  return bytes == 1 && columns == 16 && (kernel == 5 || kernel == 7) ? 32 : CORRELATE_STRIP_THREADS;
}

/* How a row lies in a slot of the ring, in elements of BYTES bytes: where a copy of 16 bytes may
 * begin in the image, it may in the slot, if the kernel's origin is its middle; where it may not,
 * the row lies so far behind the slot's begin as it does behind a word's in the image. STEP:
 * elements from one pixel to the next. */
template <int BYTES, int V, int G, int K, int STEP>
struct correlate_slot {
  static constexpr int RUN = 16 / BYTES, WORD = BYTES < 4 ? 4 / BYTES : 1; /* elements of these */
  static constexpr int LEFT = K / 2 * STEP, REACH = (K - 1) * STEP;
  static constexpr int FIRST = (LEFT + RUN - 1) / RUN * RUN - LEFT; /* the first thread's first */
  static constexpr int FROM = FIRST / V * V, SKIP = FIRST - FROM;   /* its loads begin before */
  static constexpr int WINDOW = (SKIP + V + REACH + V - 1) / V * V; /* what a thread loads */
  static constexpr int THREADS = correlate_threads(BYTES, V, K);
  static constexpr int GROUP = THREADS * V; /* from a thread's columns to its next */
  static constexpr int COPIES = (FROM + G * GROUP - V + WINDOW + RUN - 1) / RUN;
  static constexpr int LINE = COPIES * RUN, WORDS = LINE / WORD + 1;
  static constexpr int PITCH = (WORDS * WORD * BYTES + 127) / 128 * 128 / BYTES;
  static constexpr bool MENDS = BYTES == 1 && STEP == 1 && (K == 3 || K == 5 || K == 7);
  static_assert(RUN - 1 + 2 * REACH <= THREADS, "a thread fills one element of a row at most");
};

/* ---- rows into the ring -----------------------------------------------------------------------
 */

/* Elements of a slot: [from, until). */
struct correlate_span {
  int from, until;
};

/* What a block needs of a row that begins `left` columns from the image's first, of so many, for so
 * many results. */
template <typename Slot>
struct correlate_need {
  correlate_span inside; /* of the image, or just before and behind the slot */
  int end;               /* needed are [FIRST, end) */
  bool ragged;           /* not all of these may come by copies */

  __device__ __forceinline__ correlate_need(int64_t left, int64_t columns, int64_t results) {
    static constexpr int BEFORE = Slot::RUN - 1, BEHIND = Slot::LINE + Slot::RUN - 1;
    const int64_t until = columns - left;
    inside.from = left < -BEHIND ? BEHIND : left < BEFORE ? (int)-left : -BEFORE;
    inside.until = until > BEHIND ? BEHIND : until > inside.from ? (int)until : inside.from;
    end = Slot::FIRST + Slot::REACH +
          (results < Slot::LINE ? (int)results : Slot::LINE - Slot::FIRST - Slot::REACH);
    if (end > Slot::LINE) end = Slot::LINE;
    ragged = inside.from > Slot::FIRST - Slot::RUN || inside.until < end + Slot::RUN;
  }

  /* What copies of COPY elements bring of a row that begins `shift` behind one's begin: copies. */
  template <int COPY>
  __device__ __forceinline__ correlate_span copies(int shift) const {
    return {(inside.from + shift + COPY - 1) / COPY, (inside.until + shift) / COPY};
  }

  /* The thread's own element of those needed ones that they do not bring; from `end` on: none. */
  template <int COPY>
  __device__ __forceinline__ int other(correlate_span copies, int shift) const {
    const int first = copies.from * COPY - shift, behind = copies.until * COPY - shift;
    const int from = first > Slot::FIRST ? first : Slot::FIRST;
    const int until = behind > from ? behind : from;
    const int e = Slot::FIRST + threadIdx.x;
    return e < from ? e : e - from + until;
  }
};

/* An element that no copy brings and no copy of one could: loaded a row before it is stored, so
 * that nobody waits for it. */
template <typename E>
struct correlate_held {
  E value;
  int at = -1; /* where it goes in the ring; -1: nowhere */

  __device__ __forceinline__ void store(E *ring) {
    if constexpr (sizeof(E) < 4) {
      if (at >= 0) ring[at] = value;
      at = -1;
    }
  }

  /* Column `place` of the row to element `to` of the ring. */
  __device__ __forceinline__ void fill(E *ring, int to, const E *from, int place, E outside) {
    if (place == NOWHERE) {
      ring[to] = outside;
    } else if constexpr (sizeof(E) == 4) {
      rung_copy_async(ring + to, from + place);
    } else {
      value = from[place];
      at = to;
    }
  }
};

/* How far behind a word's begin an element lies, in elements. */
template <typename Slot, typename E>
static __device__ __forceinline__ int correlate_shift(const E *element) {
  return (int)((uintptr_t)element / sizeof(E)) & (Slot::WORD - 1);
}

/* What a thread does for every slot that copies of 16 bytes may fill: whether its copies are
 * inside, a bit each, and its other element and the column that stands for it; -1: it has none. */
struct correlate_share {
  unsigned copies;
  int at, place;
};

template <typename Slot>
static __device__ ASIDE correlate_share correlate_share_of(const correlate_need<Slot> &need,
                                                           const int *places) {
  correlate_share share = {};
  const correlate_span copies = need.template copies<Slot::RUN>(0);
#pragma unroll
  for (int c = 0; c * Slot::THREADS < Slot::COPIES; c++) {
    const int at = c * Slot::THREADS + threadIdx.x;
    if (at >= copies.from && at < copies.until && at < Slot::COPIES) share.copies |= 1u << c;
  }
  const int other = need.template other<Slot::RUN>(copies, 0);
  share.place = other < need.end ? places[other] : NOWHERE;
  share.at = share.place == NOWHERE ? -1 : other; /* what is outside stays what it was set to */
  rung_keep(share.copies);
  return share;
}

/* A slot by these, from `from` on; the thread's own runs lie `own` further. */
template <typename E, typename Slot>
static __device__ __forceinline__ void correlate_copy_runs(E *target, const E *from, int64_t own,
                                                           const correlate_share &share) {
  typedef correlate_run<E, Slot::RUN> run;
  const E *source = from + own;
#pragma unroll
  for (int c = 0; c * Slot::THREADS < Slot::COPIES; c++)
    if (share.copies >> c & 1)
      rung_copy_async_shared(reinterpret_cast<run *>(target) + c * Slot::THREADS,
                             reinterpret_cast<const run *>(source) + c * Slot::THREADS);
}

/* A slot whose row begins anywhere, by words. */
template <typename E, typename Slot>
static __device__ __forceinline__ void correlate_copy_words(E *slot, const E *from,
                                                            const correlate_need<Slot> &need) {
  const int shift = correlate_shift<Slot>(from);
  const correlate_span copies = need.template copies<Slot::WORD>(shift);
  const unsigned *source = reinterpret_cast<const unsigned *>(from - shift) + threadIdx.x;
  unsigned *target = reinterpret_cast<unsigned *>(slot) + threadIdx.x;
#pragma unroll
  for (int c = 0; c * Slot::THREADS < Slot::WORDS; c++) {
    const int at = c * Slot::THREADS + threadIdx.x;
    if (at >= copies.from && at < copies.until && at < Slot::WORDS)
      rung_copy_async(target + c * Slot::THREADS, source + c * Slot::THREADS);
  }
}

/* The thread's element that these do not bring, if it has one. */
template <typename E, typename Slot>
static __device__ __forceinline__ void correlate_fill_other(E *ring, int slot, const E *from,
                                                            bool wide, const correlate_share &share,
                                                            const correlate_need<Slot> &need,
                                                            const int *places,
                                                            correlate_held<E> &held, E outside) {
  if (wide) {
    if (share.at >= 0) held.fill(ring, slot + share.at, from, share.place, outside);
  } else if (need.ragged) {
    const int shift = correlate_shift<Slot>(from);
    const correlate_span copies = need.template copies<Slot::WORD>(shift);
    const int other = need.template other<Slot::WORD>(copies, shift);
    if (other < need.end) held.fill(ring, slot + shift + other, from, places[other], outside);
  }
}

/* What repeats pixels beyond the image's first and last column needs no copies where it lies in the
 * word before a thread's columns or in that behind, and what it repeats in theirs next to it: then
 * bytes of two words are all. Selectors of __byte_perm(); of all other threads those that change
 * nothing. */
struct correlate_mend {
  unsigned before, behind;
};
static constexpr unsigned AS_IT_IS = 0x3210;

/* Bytes of `word`, of which those that stand for others come from the word that begins at element
 * `next`. */
static __device__ ASIDE unsigned correlate_selector(const int *places, int word, int next) {
  unsigned selector = AS_IT_IS;
  for (int b = 0; b < 4; b++) {
    const int from = places[word + b] - next;
    if (from >= 0 && from < 4) selector += (4 + from - b) << 4 * b;
  }
  return selector;
}

/* The thread's selectors, and whether they bring its element of those that no copy does, of rows
 * whose results are all there. */
template <typename Slot, int V>
static __device__ ASIDE bool correlate_mends(const correlate_share &share, const int *places,
                                             correlate_mend &mend) {
  static constexpr int OWN = Slot::FIRST + Slot::LEFT, END = OWN + Slot::GROUP;
  mend.before = threadIdx.x == 0 ? correlate_selector(places, OWN - 4, OWN) : AS_IT_IS;
  mend.behind =
      threadIdx.x == Slot::THREADS - 1 ? correlate_selector(places, END, END - 4) : AS_IT_IS;
  const int from = share.place - (share.at < OWN ? OWN : END - 4);
  return share.at < 0 || ((share.at < OWN || share.at >= END) && from >= 0 && from < 4);
}

#endif
