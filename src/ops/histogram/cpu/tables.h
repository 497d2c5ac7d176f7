/* A thread's private tables: counters of 32 bits, several of each so that equal neighbours do not
 * wait for each other's increments. Bytes are counted by value, whatever the bins: which slot a
 * value belongs to is asked once, when its count is added up. */
#ifndef RUNG_HISTOGRAM_CPU_TABLES_H
#define RUNG_HISTOGRAM_CPU_TABLES_H

#include <math.h>
#include <string.h>

#include "backend/cpu/lanes.h"
#include "ops/histogram/cpu/slots.h"
#include "ops/histogram/private.h"

typedef struct histogram_tables {
  const histogram_problem *problem;
  histogram_given given; /* of a search */
  histogram_private shape;
  uint32_t *counts;
} histogram_tables;

/* Where a row's results go. */
typedef struct histogram_row {
  uint64_t *counts, *outside; /* outside may be NULL */
} histogram_row;

static inline histogram_row histogram_row_of(const rung_task *task, int64_t row) {
  const rung_view *counts = &task->arrays[HISTOGRAM_COUNTS];
  const rung_view *outside = &task->arrays[HISTOGRAM_OUTSIDE];
  histogram_row at = {(uint64_t *)counts->data + row * counts->stride[0], NULL};
  if (outside->count > 0) at.outside = (uint64_t *)outside->data + row * outside->stride[0];
  return at;
}

static inline void histogram_clear_row(const histogram_problem *problem, const histogram_row *row) {
  memset(row->counts, 0, (size_t)problem->rule.bins * sizeof(uint64_t));
  if (row->outside != NULL) memset(row->outside, 0, HISTOGRAM_OUTER * sizeof(uint64_t));
}

/* The counter of a slot; NULL where nobody asked for it. */
static inline uint64_t *histogram_at(const histogram_problem *problem, const histogram_row *row,
                                     int slot) {
  if (slot < problem->rule.bins) return &row->counts[slot];
  return row->outside != NULL ? &row->outside[slot - problem->rule.bins] : NULL;
}

static inline void histogram_clear_tables(const histogram_tables *t) {
  memset(t->counts, 0, (size_t)histogram_counters(&t->shape) * sizeof(uint32_t));
}

/* Two words at a time, whose bytes go to the same tables in turn. */
static inline void histogram_count_bytes(const histogram_tables *t, const uint8_t *x, int64_t n) {
  enum { BYTES = sizeof(uint64_t) };
  _Static_assert((int)HISTOGRAM_BYTE_COPIES == (int)BYTES, "a table for each byte of a word");
  uint32_t(*const counts)[HISTOGRAM_BYTE_PITCH] = (uint32_t(*)[HISTOGRAM_BYTE_PITCH])t->counts;
  int64_t i = 0;
  for (; i + 2 * BYTES <= n; i += 2 * BYTES) {
    uint64_t one, two;
    memcpy(&one, x + i, sizeof one);
    memcpy(&two, x + i + BYTES, sizeof two);
    for (int b = 0; b < BYTES; ++b, one >>= 8) counts[b][(uint8_t)one] += 1;
    for (int b = 0; b < BYTES; ++b, two >>= 8) counts[b][(uint8_t)two] += 1;
  }
  for (; i < n; ++i) counts[0][x[i]] += 1;
}

/* A chunk. Of a word two pairs of neighbours and four bytes, so that pairs, whose counters come
 * from the second-level cache, and bytes, one of which is all that a cycle can write, hide each
 * other. */
static inline void histogram_count_mixed(const histogram_tables *t, const uint8_t *x) {
  uint32_t(*const counts)[HISTOGRAM_BYTE_PITCH] = (uint32_t(*)[HISTOGRAM_BYTE_PITCH])t->counts;
  uint32_t *const pairs = t->counts + t->shape.copies * t->shape.pitch;
  for (int64_t i = 0; i < HISTOGRAM_CHUNK; i += (int64_t)sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, x + i, sizeof word);
    pairs[(uint16_t)word] += 1;
    counts[2][(uint8_t)(word >> 16)] += 1;
    counts[3][(uint8_t)(word >> 24)] += 1;
    pairs[(uint16_t)(word >> 32)] += 1;
    counts[6][(uint8_t)(word >> 48)] += 1;
    counts[7][word >> 56] += 1;
  }
}

/* Whether bytes are such, as the first pairs of a chunk tell: of so many different cache lines of
 * counters that these are not in the first-level cache, and that few words are like those before.
 */
static inline bool histogram_is_mixed(const uint8_t *x) {
  enum { LOOKS = 128, MANY = 104, LINE = 16, WORD = 64 };
  uint64_t seen[HISTOGRAM_PAIRS / LINE / WORD] = {0};
  int lines = 0;
  for (int64_t look = 0; look < LOOKS; ++look) {
    uint16_t pair;
    memcpy(&pair, x + look * (int64_t)sizeof pair, sizeof pair);
    const int line = pair / LINE;
    lines += !(seen[line / WORD] >> line % WORD & 1);
    seen[line / WORD] |= UINT64_C(1) << line % WORD;
  }
  return lines > MANY;
}

/* Neighbours by pairs. A word like the one before is counted as one more of those, and by value
 * when there is another: where all elements are equal, increments of one counter would wait for
 * each other. */
static inline void histogram_count_pairs(const histogram_tables *t, const uint8_t *x, int64_t n) {
  enum { BYTES = sizeof(uint64_t) };
  uint32_t(*const counts)[HISTOGRAM_BYTE_PITCH] = (uint32_t(*)[HISTOGRAM_BYTE_PITCH])t->counts;
  uint32_t *const pairs = t->counts + t->shape.copies * t->shape.pitch;
  uint64_t last = 0, word;
  uint32_t more = 0;
  int64_t i = 0;
  for (; i + BYTES <= n; i += BYTES) {
    memcpy(&word, x + i, sizeof word);
    if (word == last) {
      ++more;
      continue;
    }
    for (int b = 0; b < BYTES && more > 0; ++b) counts[b][(uint8_t)(last >> 8 * b)] += more;
    more = 0;
    last = word;
    pairs[(uint16_t)word] += 1;
    pairs[(uint16_t)(word >> 16)] += 1;
    pairs[(uint16_t)(word >> 32)] += 1;
    pairs[word >> 48] += 1;
  }
  for (int b = 0; b < BYTES; ++b) counts[b][(uint8_t)(last >> 8 * b)] += more;
  for (; i < n; ++i) counts[0][x[i]] += 1;
}

/* Cores with AVX-512 are faster by pairs alone. */
static inline void histogram_count_values(const histogram_tables *t, const uint8_t *x, int64_t n) {
  if (t->shape.pairs == 0) {
    histogram_count_bytes(t, x, n);
    return;
  }
  for (; n > 0; n -= HISTOGRAM_CHUNK, x += HISTOGRAM_CHUNK) {
    if (LANES_BYTES < 64 && n >= HISTOGRAM_CHUNK && histogram_is_mixed(x))
      histogram_count_mixed(t, x);
    else
      histogram_count_pairs(t, x, n < HISTOGRAM_CHUNK ? n : HISTOGRAM_CHUNK);
  }
}

/* The counts of pairs to those of values, before the tables are added up. */
static inline void histogram_part_pairs(const histogram_tables *t) {
  enum { VALUES = 256 };
  const uint32_t *row = t->counts + t->shape.copies * t->shape.pitch;
  uint32_t *const first = t->counts, *const second = first + t->shape.pitch;
  for (int value = 0; value < VALUES && t->shape.pairs > 0; ++value, row += VALUES) {
    uint32_t sum = 0;
    for (int other = 0; other < VALUES; ++other) {
      sum += row[other];
      first[other] += row[other];
    }
    second[value] += sum;
  }
}

/* Strips from the one that is counted to the one that is asked for meanwhile. */
enum { HISTOGRAM_AHEAD = 3 };

/* Asks for the elements from `next` on, `bytes` each, as it goes: else memory would rest during the
 * increments, which read nothing. */
static inline void histogram_count_strip(const histogram_tables *t, const uint32_t *slots, int n,
                                         const char *next, int bytes) {
  enum { GROUP = 16 };
  uint32_t *const a = t->counts;
  int i = 0;
  if (t->shape.copies == HISTOGRAM_COPIES) {
    uint32_t *const b = a + t->shape.pitch, *const c = b + t->shape.pitch,
                    *const d = c + t->shape.pitch;
    for (; i + GROUP <= n; i += GROUP) {
      __builtin_prefetch(next + i * bytes);
      if (GROUP * bytes > 64) __builtin_prefetch(next + i * bytes + 64);
#pragma GCC unroll 4
      for (int k = 0; k < GROUP; k += 4) {
        const uint32_t *const at = slots + i + k;
        a[at[0]] += 1;
        b[at[1]] += 1;
        c[at[2]] += 1;
        d[at[3]] += 1;
      }
    }
  }
  for (; i < n; ++i) a[slots[i]] += 1;
}

/* Elements [at, at + n) of a row. */
static inline void histogram_count(const histogram_tables *t, const void *row, int64_t at,
                                   int64_t n) {
  const histogram_problem *p = t->problem;
  const int bytes = (int)rung_dtype_bytes(p->dtype);
  if (histogram_by_value(p)) {
    if (n > 0) histogram_count_values(t, (const uint8_t *)row + at, n);
    return;
  }
  histogram_slots *const slots_of = RUNG_ENTRY(histogram_slots_of)(p->dtype);
  for (int64_t done = 0; done < n; done += HISTOGRAM_STRIP) {
    const int now = n - done < HISTOGRAM_STRIP ? (int)(n - done) : HISTOGRAM_STRIP;
    uint32_t slots[HISTOGRAM_STRIP];
    slots_of(&p->rule, &t->given, row, at + done, now, slots);
    const int64_t next = n - done >= (HISTOGRAM_AHEAD + 1) * HISTOGRAM_STRIP
                             ? done + HISTOGRAM_AHEAD * HISTOGRAM_STRIP
                             : done;
    histogram_count_strip(t, slots, now, (const char *)row + (at + next) * bytes, bytes);
  }
}

/* The slot of a table's entry. */
static inline int histogram_slot_of(const histogram_tables *t, int entry) {
  const histogram_rule *rule = &t->problem->rule;
  if (!histogram_by_value(t->problem)) return entry;
  const int value = t->problem->dtype == RUNG_I8 ? (int8_t)entry : entry;
  if (rule->way == HISTOGRAM_MODULO) return (int)histogram_rest_signed_32(rule, value);
  return histogram_find(rule, t->given.edges, value);
}

/* What the copies of an entry hold together. */
static inline uint64_t histogram_sum_of(const histogram_tables *t, int entry) {
  uint64_t sum = 0;
  for (int c = 0; c < t->shape.copies; ++c) sum += t->counts[c * t->shape.pitch + entry];
  return sum;
}

/* Adds entries [first, last) to a row's results, which nobody else touches. */
static inline void histogram_add_up(const histogram_tables *t, const histogram_row *row, int first,
                                    int last) {
  for (int entry = first; entry < last; ++entry) {
    const uint64_t sum = histogram_sum_of(t, entry);
    uint64_t *at = sum > 0 ? histogram_at(t->problem, row, histogram_slot_of(t, entry)) : NULL;
    if (at != NULL) *at += sum;
  }
}

/* Whether a row has so few elements that clearing tables and adding them up would take longer than
 * counting in the results themselves. */
static inline bool histogram_is_sparse(const histogram_problem *p) {
  enum { MANY = 1 << 16, TIMES = 4 };
  const int64_t slots = p->rule.slots;
  return !histogram_by_value(p) && p->columns <= (slots > MANY ? TIMES : 1) * slots;
}

static inline void histogram_count_sparse(const histogram_tables *t, const void *data,
                                          const histogram_row *row) {
  const histogram_problem *p = t->problem;
  histogram_slots *const slots_of = RUNG_ENTRY(histogram_slots_of)(p->dtype);
  for (int64_t done = 0; done < p->columns; done += HISTOGRAM_STRIP) {
    const int64_t left = p->columns - done;
    const int now = left < HISTOGRAM_STRIP ? (int)left : HISTOGRAM_STRIP;
    uint32_t slots[HISTOGRAM_STRIP];
    slots_of(&p->rule, &t->given, data, done, now, slots);
    for (int i = 0; i < now; ++i) {
      uint64_t *const at = histogram_at(p, row, (int)slots[i]);
      if (at != NULL) *at += 1;
    }
  }
}

/* A whole row, by one thread. */
static inline void histogram_do_row(const histogram_tables *t, const void *data,
                                    const histogram_row *row) {
  const histogram_problem *p = t->problem;
  histogram_clear_row(p, row);
  if (histogram_is_sparse(p)) {
    histogram_count_sparse(t, data, row);
    return;
  }
  for (int64_t at = 0; at < p->columns; at += p->flush) {
    const int64_t left = p->columns - at;
    histogram_clear_tables(t);
    histogram_count(t, data, at, left < p->flush ? left : p->flush);
    histogram_part_pairs(t);
    histogram_add_up(t, row, 0, t->shape.width);
  }
}

/* The edges of a search; padded ones and the guide are written to `room`. */
static inline histogram_given histogram_given_of(const rung_task *task, char *room) {
  const histogram_problem *p = (const histogram_problem *)task->problem;
  const histogram_rule *rule = &p->rule;
  histogram_given given = {.edges = (const double *)task->arrays[HISTOGRAM_EDGES].data,
                           .grid = histogram_grid_of(rule)};
  if (!histogram_has_guide(p)) return given;
  double *padded = (double *)room;
  uint32_t *guide = (uint32_t *)(padded + histogram_padded(p)), most = 0;
  for (int k = 0; k < histogram_padded(p); ++k)
    padded[k] = k < rule->bins ? histogram_edge(rule, given.edges, k) : (double)INFINITY;
  int k = 0;
  for (int cell = 0; cell <= rule->cells; ++cell) {
    while (k + 1 < rule->bins && histogram_cell(rule, padded[k + 1]) < cell) ++k;
    guide[cell] = (uint32_t)k;
    if (cell > 0 && guide[cell] - guide[cell - 1] > most) most = guide[cell] - guide[cell - 1];
  }
  for (; most > 0; most /= 2) ++given.steps;
  given.padded = padded;
  given.guide = guide;
  return given;
}

#endif
