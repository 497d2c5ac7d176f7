/* What one access of a warp costs: sectors of global memory, passes over the banks of shared
 * memory, threads at one address. */
#include "backend/sim/sim.h"

enum { SECTOR = 32, BANKS = 32, BANK_BYTES = 4 };

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

/* The words a group of lanes wants, and the passes over the banks that takes: as many as different
 * words of one bank. */
static int passes_of(const sim_step *now, int from_lane, int to_lane) {
  uintptr_t words[SIM_WARP * 4];
  int in_bank[BANKS] = {0}, count = 0, most = 0;
  for (int i = 0; i < now->lanes; i++) {
    if (now->numbers[i] < from_lane || now->numbers[i] >= to_lane) continue;
    const uintptr_t from = now->events[i]->address / BANK_BYTES;
    const uintptr_t to = (now->events[i]->address + now->events[i]->bytes - 1) / BANK_BYTES;
    for (uintptr_t word = from; word <= to; word++) {
      int k = count;
      while (k > 0 && words[k - 1] != word) k--;
      if (k > 0 || count == SIM_WARP * 4) continue;
      words[count++] = word;
      const int here = ++in_bank[word % BANKS];
      if (most < here) most = here;
    }
  }
  return most;
}

int64_t sim_conflicts_of(const sim_step *now) {
  const int bytes = now->events[0]->bytes, group = bytes > 8 ? 8 : bytes > 4 ? 16 : 32;
  int64_t conflicts = 0;
  for (int from = 0; from < SIM_WARP; from += group) {
    const int passes = passes_of(now, from, from + group);
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
