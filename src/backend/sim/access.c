/* What one access of a warp costs: sectors of global memory, passes over the banks of shared
 * memory, threads at one address. */
#include "backend/sim/sim.h"
#include "core/banks.h"

enum { SECTOR = 32 };

static uint32_t bytes_within(uintptr_t sector, const sim_event *event) {
  const uintptr_t begin = sector * SECTOR, end = event->address + event->bytes;
  const unsigned first = event->address > begin ? (unsigned)(event->address - begin) : 0;
  const unsigned last = end - begin < SECTOR ? (unsigned)(end - begin) : SECTOR;
  const uint32_t below = last == SECTOR ? UINT32_MAX : (1u << last) - 1;
  return below & ~((1u << first) - 1);
}

sim_touched sim_touched_by(const sim_step *now) {
  uintptr_t sectors[SIM_WARP * 2];
  uint32_t bytes[SIM_WARP * 2]; /* of each sector, a bit a byte */
  sim_touched found = {0};
  for (int i = 0; i < now->lanes; i++) {
    const sim_event *event = now->events[i];
    const uintptr_t to = (event->address + event->bytes - 1) / SECTOR;
    for (uintptr_t sector = event->address / SECTOR; sector <= to; sector++) {
      int k = (int)found.sectors;
      while (k > 0 && sectors[k - 1] != sector) k--; /* mostly its neighbour's */
      if (k == 0) {
        if (found.sectors == SIM_WARP * 2) continue; /* a range longer than any load */
        k = (int)++found.sectors;
        sectors[k - 1] = sector;
        bytes[k - 1] = 0;
      }
      bytes[k - 1] |= bytes_within(sector, event);
    }
  }
  for (int k = 0; k < found.sectors; k++) found.bytes += __builtin_popcount(bytes[k]);
  return found;
}

int64_t sim_conflicts_of(const sim_step *now) {
  const int group = rung_bank_group(now->events[0]->bytes);
  rung_bank_access accesses[SIM_WARP];
  int words[RUNG_BANKS];
  int64_t conflicts = 0;
  for (int i = 0; i < now->lanes; i++)
    accesses[i] =
        (rung_bank_access){now->events[i]->address, now->events[i]->bytes, now->numbers[i]};
  for (int from = 0; from < SIM_WARP; from += group) {
    const int passes = rung_bank_words(accesses, now->lanes, from, from + group, words);
    conflicts += passes > 1 ? passes - 1 : 0;
  }
  return conflicts;
}

int64_t sim_depth_of(const sim_step *now) {
  int64_t most = 0;
  for (int i = 0; i < now->lanes; i++) {
    int64_t same = 0;
    for (int k = 0; k < now->lanes; k++) same += now->events[k]->address == now->events[i]->address;
    if (most < same) most = same;
  }
  return most;
}
