/* The taps of p steps, by squaring and multiplying in extended precision, with a running bound of
 * what rounding and cutting leave out. */
#include "ops/stencil/composed.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = STENCIL_COMPOSED_TAPS, GUARD = 64 };

static const double unit = LDBL_EPSILON / 2;

typedef struct power {
  int count;
  int64_t first;
  double error; /* l1 distance from the exact taps, at most */
  long double taps[MOST];
} power;

static double mass_of(const long double *taps, int count) {
  long double mass = 0;
  for (int k = 0; k < count; k++) mass += fabsl(taps[k]);
  return (double)mass;
}

/* Takes over `count` new taps less what can be cut: from either end as much as sums to no more
 * than `cut` of all. False: too many are left. */
static bool take(power *p, const long double *taps, int count, double cut) {
  const double most = cut * mass_of(taps, count);
  long double gone[2] = {0, 0};
  int low = 0, high = count - 1;
  while (low < high && gone[0] + fabsl(taps[low]) <= most) gone[0] += fabsl(taps[low++]);
  while (low < high && gone[1] + fabsl(taps[high]) <= most) gone[1] += fabsl(taps[high--]);
  p->count = high - low + 1;
  p->first += low;
  p->error += (double)(gone[0] + gone[1]);
  if (p->count > MOST) return false;
  memmove(p->taps, taps + low, (size_t)p->count * sizeof *taps);
  return true;
}

/* Twice as many steps. Every tap is a sum of `count` products at most, each rounded once more than
 * the sums it goes through. */
static bool square(power *p, double cut) {
  long double made[2 * MOST];
  const int n = p->count;
  const double mass = mass_of(p->taps, n);
  for (int k = 0; k <= 2 * n - 2; k++) {
    long double sum = 0;
    for (int i = k < n ? 0 : k - n + 1; i < k - i; i++) sum += p->taps[i] * p->taps[k - i];
    made[k] = 2 * sum + (k % 2 ? 0 : p->taps[k / 2] * p->taps[k / 2]);
  }
  p->error = p->error * (2 * mass + 3 * p->error) + (n + 1) * unit * mass * mass;
  p->first *= 2;
  return take(p, made, 2 * n - 1, cut);
}

/* One step more. */
static bool step(power *p, const power *one, double cut) {
  long double made[MOST + STENCIL_TAPS];
  const int count = p->count + one->count - 1;
  const double mass = mass_of(p->taps, p->count), by = mass_of(one->taps, one->count);
  for (int k = 0; k < count; k++) made[k] = 0;
  for (int i = 0; i < p->count; i++)
    for (int k = 0; k < one->count; k++) made[i + k] += p->taps[i] * one->taps[k];
  p->error =
      p->error * (by + 2 * one->error) + mass * one->error + (one->count + 1) * unit * mass * by;
  p->first += one->first;
  return take(p, made, count, cut);
}

/* The p-th power of the weights: squared from the highest bit of p down. What is cut on the way
 * counts p times in the end, and is kept far below what is cut there. */
static bool raise(const stencil_problem *p, const power *one, double cut, power *made) {
  const double guard = cut / (GUARD * (double)p->steps);
  int bit = 62;
  while (!(p->steps >> bit & 1)) bit--;
  *made = *one;
  while (--bit >= 0) {
    if (!square(made, guard)) return false;
    if ((p->steps >> bit & 1) && !step(made, one, guard)) return false;
  }
  return take(made, made->taps, made->count, cut);
}

static double epsilon_of(const stencil_problem *p) {
  return rung_traits_of(p->dtype)->eps / 2;
}

/* Whether the row has an inside beside two stretches of 2 * reach columns; in this order, no
 * product overflows. */
static bool has_inside(const stencil_problem *p) {
  return p->steps <= p->columns && stencil_ends_of(p).from + p->steps * p->radius <
                                       stencil_ends_of(p).to - p->steps * p->radius;
}

static bool is_composable(const stencil_problem *p, double mass, char why[RUNG_REASON]) {
  if (p->steps < STENCIL_COMPOSED_STEPS) {
    snprintf(why, RUNG_REASON, "it takes %d steps or more as one, and the steps are %lld",
             STENCIL_COMPOSED_STEPS, (long long)p->steps);
    return false;
  }
  if (!has_inside(p)) {
    snprintf(why, RUNG_REASON,
             "a row of %lld columns, %lld of them fixed, has no inside that %lld steps of radius "
             "%d do not reach from its ends: more than 4 * steps * radius columns are needed",
             (long long)p->columns, (long long)p->fixed, (long long)p->steps, p->radius);
    return false;
  }
  if (mass > 1 + 1e-6) {
    snprintf(why, RUNG_REASON,
             "the magnitudes of the weights sum to %.9g of `divide`: a row that may grow from step "
             "to step has no useful bound; up to 1 will do",
             mass);
    return false;
  }
  return true;
}

/* Multiply-adds a row, of the filter and of the short row, against those of the steps. */
static bool saves(const stencil_problem *p, int count, char why[RUNG_REASON]) {
  const stencil_ends e = stencil_ends_of(p);
  const double step = (double)p->steps * (2 * p->radius + 1);
  const double takes = (double)(e.columns - e.prefix) * step + (double)(e.to - e.from) * count;
  const double stepping = (double)(p->columns - p->fixed) * step;
  if (takes < stepping) return true;
  snprintf(why, RUNG_REASON,
           "%d taps inside and steps at the ends take %.4g multiply-adds a row, and steps alone "
           "%.4g: longer rows or more steps are needed",
           count, takes, stepping);
  return false;
}

bool stencil_compose(const stencil_problem *p, stencil_filter *filter, char why[RUNG_REASON]) {
  power one = {.count = 2 * p->radius + 1, .first = -p->radius}, made;
  for (int k = 0; k < one.count; k++)
    one.taps[k] = (long double)p->weights[k] / (long double)p->divide;
  const double mass = mass_of(one.taps, one.count), epsilon = epsilon_of(p);
  one.error = unit * mass;
  if (!is_composable(p, mass, why)) return false;
  if (!raise(p, &one, epsilon / 8, &made)) {
    snprintf(why, RUNG_REASON, "%lld steps make a filter of more than %d taps", (long long)p->steps,
             MOST);
    return false;
  }
  filter->count = made.count;
  filter->first = made.first;
  filter->error = made.error;
  filter->roundings = 0;
  for (int k = 0; k < made.count; k++) {
    filter->taps[k] = (double)made.taps[k];
    filter->roundings += fabs(filter->taps[k]) * (made.count - k + 1);
  }
  return saves(p, made.count, why);
}

double stencil_filter_bound(const stencil_problem *p, const stencil_filter *f, double size) {
  const double tiny = rung_traits_of(p->dtype)->tiny;
  const double second_order = 1.001; /* (1 + eps)^k - 1 is below 1.001 * k * eps for all k here */
  return second_order * (epsilon_of(p) * f->roundings + f->error) * size +
         f->count * tiny * (1 + size);
}

stencil_ends stencil_ends_of(const stencil_problem *p) {
  const int64_t r = p->radius;
  stencil_ends e = {.reach = p->steps * r};
  e.low = p->fixed > r ? p->fixed - r : 0; /* what lies left of it only a wrapped edge sees */
  e.prefix = e.low < r ? e.low : r;
  e.columns = e.prefix + 4 * e.reach;
  e.from = e.low + e.reach;
  e.to = p->columns - e.reach;
  return e;
}

stencil_problem stencil_ends_problem(const stencil_problem *p) {
  const stencil_ends e = stencil_ends_of(p);
  stencil_problem ends = *p;
  ends.columns = e.columns;
  ends.fixed = p->fixed - e.low + e.prefix;
  ends.start.own = false;
  return ends;
}

void stencil_ends_task(const rung_task *task, const stencil_problem *problem, void *data,
                       size_t offset, rung_task *ends) {
  const int64_t shape[] = {problem->rows, problem->columns};
  rung_view grid = rung_view_compact(data, problem->dtype, 2, shape);
  grid.place = task->arrays[STENCIL_OUT].place;
  grid.device = task->arrays[STENCIL_OUT].device;
  *ends = *task;
  ends->problem = problem;
  ends->block = 0;
  ends->arrays[STENCIL_IN] = ends->arrays[STENCIL_OUT] = grid;
  ends->arrays[STENCIL_MEANS] = (rung_view){0};
  ends->scratch = task->scratch == NULL ? NULL : (char *)task->scratch + offset;
}
