/* What one access of a warp costs: sectors of global memory, passes over the banks of shared
 * memory, threads at one address. */
#include "backend/sim/sim.h"
#include "core/banks.h"

static uint32_t bytes_within(uintptr_t sector, const sim_event *event) {
  const uintptr_t begin = sector * SIM_SECTOR, end = event->address + event->bytes;
  const unsigned first = event->address > begin ? (unsigned)(event->address - begin) : 0;
  const unsigned last = end - begin < SIM_SECTOR ? (unsigned)(end - begin) : SIM_SECTOR;
  const uint32_t below = last == SIM_SECTOR ? UINT32_MAX : (1u << last) - 1;
  return below & ~((1u << first) - 1);
}

/* What a sector brings in an asynchronous copy past the level 1 cache goes to one sector of shared
 * memory; where its two halves go to two, it is asked for twice. */
static int64_t sectors_copied(const sim_step *now) {
  int64_t count = 0;
  for (int i = 0; i < now->lanes; i++) {
    const sim_event *event = now->events[i];
    int k = i - 1;
    while (k >= 0 && (now->events[k]->to != event->to ||
                      now->events[k]->address / SIM_SECTOR != event->address / SIM_SECTOR))
      k--;
    count += k < 0;
  }
  return count;
}

sim_touched sim_touched_by(const sim_step *now) {
  uintptr_t sectors[SIM_WARP * 2];
  uint32_t bytes[SIM_WARP * 2]; /* of each sector, a bit a byte */
  sim_touched found = {0};
  for (int i = 0; i < now->lanes; i++) {
    const sim_event *event = now->events[i];
    const uintptr_t to = (event->address + event->bytes - 1) / SIM_SECTOR;
    for (uintptr_t sector = event->address / SIM_SECTOR; sector <= to; sector++) {
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
  if (now->events[0]->copy == SIM_COPY_SECTORS) found.sectors = sectors_copied(now);
  return found;
}

int64_t sim_conflicts_of(const sim_step *now) {
  rung_bank_access accesses[SIM_WARP];
  int words[RUNG_BANKS];
  int64_t conflicts = 0;
  if (now->events[0]->copy != SIM_NO_COPY) return 0;
  for (int i = 0; i < now->lanes; i++)
    accesses[i] =
        (rung_bank_access){now->events[i]->address, now->events[i]->bytes, now->numbers[i]};
  for (int from = 0, to; from < SIM_WARP; from = to) {
    to = from + rung_bank_group(accesses, now->lanes, from);
    const int passes = rung_bank_words(accesses, now->lanes, from, to, words);
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
