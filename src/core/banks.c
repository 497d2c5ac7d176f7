#include "core/banks.h"

#include <string.h>

enum { LANES = 32 }; /* of a warp */

int rung_bank_group(int bytes) {
  return bytes > 8 ? LANES / 4 : bytes > 4 ? LANES / 2 : LANES;
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
