/* What the peaks allow a job: every level of the memory hierarchy has to move the bytes that do not
 * lie nearer, and the slowest says how long that takes (the hierarchical roofline). */
#include <math.h>
#include <string.h>

#include "lab/fixture.h"

/* A peak is known to 2 %. */
static const double tolerance = 0.98;

/* `written` of `bytes` bytes are stores. Which bandwidth holds for the mix: a tenth of stores
 * among loads hardly matters, and so the other way about. */
static double moving_ms(const lab_bandwidth *peak, double bytes, double written,
                        const char **bound) {
  const double share = bytes > 0 ? written / bytes : 0;
  const bool reads = share <= 0.125, writes = share >= 0.875;
  *bound = reads ? "read" : writes ? "write" : "copy";
  return bytes / (reads ? peak->read : writes ? peak->write : peak->copy) * 1e-6;
}

static double written_bytes(const rung_case *test_case) {
  double bytes = 0;
  for (int i = test_case->inputs; i < test_case->inputs + test_case->outputs; ++i)
    if (test_case->arrays[i].count) bytes += (double)rung_view_bytes(&test_case->arrays[i]);
  return bytes < test_case->bytes ? bytes : test_case->bytes;
}

/* Of reads, what the cache may still hold when the clock starts; of writes, when it stops. */
static void find_memory_limit(const lab_peaks *peaks, const rung_case *test_case,
                              const rung_device *device, bool hot, lab_limit *limit) {
  const double written = written_bytes(test_case), read = test_case->bytes - written;
  double held_reads = 0, held_writes = 0; /* by the levels that are nearer */
  for (int level = 0; level < peaks->levels; ++level) {
    const double stores = fmax(0, written - held_writes), loads = fmax(0, read - held_reads);
    const char *bound;
    const double ms = moving_ms(&peaks->bandwidth[level], loads + stores, stores, &bound);
    if (ms >= limit->ms) { /* of equals the farther */
      limit->ms = limit->memory_ms = ms;
      limit->bound = bound;
      lab_level_name(device, level, limit->level);
    }
    if (level + 1 == peaks->levels) return;
    const int64_t bytes = device->caches[level].bytes;
    held_writes = fmax(held_writes, (double)bytes);
    if (hot || bytes > device->flush_bytes) held_reads = fmax(held_reads, (double)bytes);
  }
}

lab_limit lab_limit_of(const lab_peaks *peaks, const rung_case *test_case,
                       const rung_device *device, bool hot) {
  lab_limit limit = {
      .bound = "read", .caches = hot ? "hot" : "cold", .load = peaks->conditions.load};
  find_memory_limit(peaks, test_case, device, hot, &limit);
  for (int i = 0; i + 1 < peaks->levels && !hot; ++i)
    if (device->caches[i].bytes > device->flush_bytes &&
        test_case->bytes <= (double)device->caches[i].bytes)
      limit.caches = "not flushed";
  const rung_types types = test_case->types;
  /* Of products in whole numbers no peak is known. */
  if (!rung_dtype_is_float(types.in) ||
      (test_case->matrix && !rung_dtype_is_float(types.accumulate)))
    return limit;
  const bool wide = types.in == RUNG_F64 && !test_case->single;
  const double rate = !wide ? peaks->fma32 : test_case->matrix ? peaks->mma64 : peaks->fma64;
  const double arithmetic = test_case->flops / 2 / rate * 1e-6;
  if (arithmetic > limit.ms) {
    limit.ms = arithmetic;
    limit.bound = !wide ? "fma32" : test_case->matrix ? "mma64" : "fma64";
    limit.level[0] = '\0';
  }
  return limit;
}

static double least_ms(const lab_limit *limit, const lab_candidate *candidate) {
  return candidate->row->order == RUNG_LOOSE ? limit->memory_ms : limit->ms;
}

double lab_part_of_peak(const lab_limit *limit, const lab_candidate *candidate) {
  const bool loose = candidate->row->order == RUNG_LOOSE;
  if (!lab_candidate_good(candidate) || (loose && limit->ms > limit->memory_ms)) return NAN;
  return fmin(1, limit->ms / candidate->time.median);
}

bool lab_impossible(const lab_limit *limit, const lab_candidate *candidate) {
  return lab_candidate_good(candidate) &&
         !(candidate->time.median >= tolerance * least_ms(limit, candidate));
}

void lab_refuse_impossible(const lab_limit *limit, lab_candidate *candidates, int count) {
  for (int i = 0; i < count; ++i) {
    lab_candidate *candidate = &candidates[i];
    if (!lab_impossible(limit, candidate)) continue;
    const double least = least_ms(limit, candidate);
    const bool loose = candidate->row->order == RUNG_LOOSE;
    lab_find(&candidate->after, LAB_TOO_FAST,
             "the median of %.6g ms is below %.6g ms, the least that the peak of %s%s%s allows, "
             "measured at a load of %.2g tasks per processor",
             candidate->time.median, least, loose ? "" : limit->level,
             loose || !limit->level[0] ? "" : " ", loose ? "moving its bytes" : limit->bound,
             limit->load);
    candidate->stop = LAB_REFUSED;
  }
}
