#include "core/banks.h"

#include <stdbool.h>
#include <string.h>

enum { LANES = 32 }; /* of a warp */

/* Whether all lanes in [from, to) want the same as the lane whose number differs in `bit`, if that
 * one wants anything. */
static bool want_alike(const rung_bank_access *accesses, int count, int from, int to, int bit) {
  for (int i = 0; i < count; i++) {
    const int lane = accesses[i].lane;
    if (lane < from || lane >= to) continue;
    for (int k = 0; k < i; k++)
      if (accesses[k].lane == (lane ^ bit) && accesses[k].address != accesses[i].address)
        return false;
  }
  return true;
}

int rung_bank_group(const rung_bank_access *accesses, int count, int from) {
  const int bytes = count > 0 ? accesses[0].bytes : 0;
  if (bytes <= 4) return LANES;
  const int two = bytes > 8 ? LANES / 2 : LANES, begin = from / two * two;
  return want_alike(accesses, count, begin, begin + two, 1) ||
                 want_alike(accesses, count, begin, begin + two, 2)
             ? two
             : two / 2;
}

int rung_bank_words(const rung_bank_access *accesses, int count, int from, int to,
                    int words[RUNG_BANKS]) {
  enum { MOST = LANES * 4 }; /* a range is longer than any load */
  uint64_t seen[MOST];
  int different = 0, most = 0;
  memset(words, 0, RUNG_BANKS * sizeof *words);
  for (int i = 0; i < count; i++) {
    if (accesses[i].lane < from || accesses[i].lane >= to) continue;
    const uint64_t first = accesses[i].address / RUNG_BANK_BYTES;
    const uint64_t last = (accesses[i].address + (uint64_t)accesses[i].bytes - 1) / RUNG_BANK_BYTES;
    for (uint64_t word = first; word <= last; word++) {
      int k = different;
      while (k > 0 && seen[k - 1] != word) k--;
      if (k > 0 || different == MOST) continue;
      seen[different++] = word;
      const int here = ++words[word % RUNG_BANKS];
      if (most < here) most = here;
    }
  }
  return most;
}
