/* Counting what warps do. Every thread of a counted launch keeps a log of its basic blocks and its
 * accesses; at a block barrier, and when the block ends, the logs of a warp's threads are played
 * back in lockstep: of the places where threads stand, the one with the lowest address goes first,
 * with all threads that stand there. As compilers lay code out in the order of the source, threads
 * that parted meet again where their branch ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/sim/sim.h"

/* Bytes of a GPU's widest access, and of the least that are joined to such. */
enum { MOST_EVENTS = 1 << 22, WIDEST = 16, LEAST_JOINED = 4, MOST_JOINED = WIDEST / LEAST_JOINED };

/* The counts of one address in a kernel's code. */
typedef struct place {
  sim_pc pc; /* 0: free */
  /* Of runs in shared memory: where the first began, as its address is after the last multiple of
   * 16; and the bytes between whose multiples others began elsewhere, 0: none did. */
  bool begun;
  uint8_t first, apart;
  rung_counts counts;
} place;

typedef struct kernel {
  const void *function;
  rung_profile_kernel seen; /* without lines */
  place *places;            /* a hash table of `room`, a power of two */
  size_t used, room;
} kernel;

typedef struct sim_profile {
  kernel *kernels;
  int count;
  kernel *now; /* the launch that runs; NULL: between launches */
  bool no_memory, too_long;
  bool no_flops;
  bool keep;                /* steps of a block */
  rung_profile_step *begun; /* a basic block's, until it is seen what the block does */
} sim_profile;

/* ---- tables --------------------------------------------------------------------------------- */

static place *find_place(place *places, size_t room, sim_pc pc) {
  size_t at = (size_t)(pc * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
  while (places[at].pc != 0 && places[at].pc != pc) at = (at + 1) & (room - 1);
  return &places[at];
}

static bool grow(kernel *of) {
  const size_t room = of->room ? of->room * 2 : 256;
  place *more = calloc(room, sizeof *more);
  if (more == NULL) return false;
  for (size_t i = 0; i < of->room; i++)
    if (of->places[i].pc != 0) *find_place(more, room, of->places[i].pc) = of->places[i];
  free(of->places);
  of->places = more;
  of->room = room;
  return true;
}

static place *place_at(sim_profile *profile, sim_pc pc) {
  static _Thread_local place lost;
  kernel *of = profile->now;
  if (of->used * 2 >= of->room && !grow(of)) {
    profile->no_memory = true;
    return &lost;
  }
  place *found = find_place(of->places, of->room, pc);
  if (found->pc == 0) {
    found->pc = pc;
    of->used++;
  }
  return found;
}

static int64_t *counts_at(sim_profile *profile, sim_pc pc) {
  return place_at(profile, pc)->counts.at;
}

/* ---- one step of a warp --------------------------------------------------------------------- */

static void count_access(const sim_step *now, int64_t *counts) {
  const sim_event *one = now->events[0];
  const bool loads = one->kind == SIM_LOAD;
  if (!one->shared) counts[RUNG_GLOBAL_ACCESSES] += now->lanes;
  if (one->kind == SIM_ATOMIC) {
    const int64_t depth = sim_depth_of(now);
    counts[one->shared ? RUNG_SHARED_ATOMICS : RUNG_GLOBAL_ATOMICS]++;
    if (counts[RUNG_ATOMIC_DEPTH] < depth) counts[RUNG_ATOMIC_DEPTH] = depth;
  } else if (one->shared) {
    counts[loads ? RUNG_SHARED_LOADS : RUNG_SHARED_STORES]++;
    counts[loads ? RUNG_SHARED_LOAD_CONFLICTS : RUNG_SHARED_STORE_CONFLICTS] +=
        sim_conflicts_of(now);
  } else {
    const sim_touched found = sim_touched_by(now);
    counts[loads ? RUNG_GLOBAL_LOADS : RUNG_GLOBAL_STORES]++;
    counts[loads ? RUNG_GLOBAL_LOAD_BYTES : RUNG_GLOBAL_STORE_BYTES] += found.bytes;
    counts[loads ? RUNG_GLOBAL_LOAD_SECTORS : RUNG_GLOBAL_STORE_SECTORS] += found.sectors;
  }
}

/* The basic block a thread goes to next; 0: its log ends first. */
static sim_pc next_block(const sim_log *log, int64_t at) {
  while (at < log->count && log->events[at].kind != SIM_STEP) at++;
  return at < log->count ? log->events[at].pc : 0;
}

static bool part(const sim_step *now, const sim_thread *warp, const int64_t *heads) {
  sim_pc one = 0;
  for (int i = 0; i < now->lanes; i++) {
    const int lane = now->numbers[i];
    const sim_pc to = next_block(&warp[lane].log, heads[lane]);
    if (to == 0) continue;
    if (one != 0 && to != one) return true;
    one = to;
  }
  return false;
}

/* ---- keeping steps -------------------------------------------------------------------------- */

static bool is_kept(const sim_profile *profile, const sim_thread *warp) {
  return profile->keep && profile->now->seen.launches == 1 && warp->block->number == 0 &&
         warp->number < RUNG_KEPT_WARPS * SIM_WARP;
}

static rung_profile_step *new_step(sim_profile *profile) {
  rung_profile_kernel *seen = &profile->now->seen;
  const int64_t count = seen->step_count;
  profile->begun = NULL;
  if (count == RUNG_KEPT_STEPS) {
    seen->steps_lost++;
    return NULL;
  }
  if ((count & (count - 1)) == 0) { /* room for the next power of two */
    rung_profile_step *more =
        realloc(seen->steps, (count ? 2 * (size_t)count : 1) * sizeof *seen->steps);
    if (more == NULL) {
      profile->no_memory = true;
      return NULL;
    }
    seen->steps = more;
  }
  seen->step_count++;
  return &seen->steps[count];
}

static rung_deed deed_of(const sim_event *event) {
  static const rung_deed deeds[] = {
      [SIM_STEP] = RUNG_DID_WORK,       [SIM_LOAD] = RUNG_DID_LOAD,
      [SIM_STORE] = RUNG_DID_STORE,     [SIM_ATOMIC] = RUNG_DID_ATOMIC,
      [SIM_BARRIER] = RUNG_DID_BARRIER, [SIM_EXCHANGE] = RUNG_DID_EXCHANGE,
      [SIM_FMA] = RUNG_DID_WORK,        [SIM_JOINED] = RUNG_DID_WORK};
  return deeds[event->kind];
}

/* A basic block is told by what its threads do in it, and for itself only where they do nothing
 * that is told and others of their warp wait meanwhile. */
static void keep_step(sim_profile *profile, const sim_step *now, const sim_thread *warp,
                      int lanes) {
  const sim_event *one = now->events[0];
  const bool begins = one->kind == SIM_STEP;
  rung_profile_step made = {.place = one->pc,
                            .warp = warp->number / SIM_WARP,
                            .phase = (int)warp->block->barriers,
                            .deed = deed_of(one),
                            .shared = one->shared,
                            .all = UINT32_MAX >> (SIM_WARP - lanes),
                            .bytes = one->bytes};
  if (one->kind == SIM_FMA || one->kind == SIM_JOINED) return;
  for (int i = 0; i < now->lanes; i++) {
    made.lanes |= 1u << now->numbers[i];
    made.address[now->numbers[i]] = now->events[i]->address;
  }
  if (begins && made.lanes == made.all) {
    profile->begun = NULL;
    return;
  }
  if (one->kind == SIM_ATOMIC) {
    made.depth = (int)sim_depth_of(now);
  } else if (one->shared) {
    made.conflicts = (int)sim_conflicts_of(now);
  } else if (one->bytes > 0) {
    const sim_touched found = sim_touched_by(now);
    made.sectors = (int)found.sectors;
    made.moved = (int)found.bytes;
  }
  rung_profile_step *begun = profile->begun;
  const bool replaces = !begins && begun != NULL && begun->lanes == made.lanes;
  rung_profile_step *to = replaces ? begun : new_step(profile);
  if (to != NULL) *to = made;
  profile->begun = begins ? to : NULL;
}

static void count_step(sim_profile *profile, const sim_step *now, const sim_thread *warp,
                       const int64_t *heads, int lanes) {
  const sim_pc pc = now->events[0]->pc;
  int64_t *counts = counts_at(profile, pc);
  switch ((sim_event_kind)now->events[0]->kind) {
    case SIM_STEP: {
      const int flops = sim_flops_of(pc);
      counts[RUNG_STEPS]++;
      counts[RUNG_PARTIAL_STEPS] += now->lanes < lanes;
      counts[RUNG_DIVERGENT_BRANCHES] += part(now, warp, heads);
      if (flops < 0) profile->no_flops = true;
      if (flops < 0 && errno == ENOMEM) profile->no_memory = true;
      if (flops > 0) counts[RUNG_FLOPS] += (int64_t)flops * now->lanes;
      break;
    }
    case SIM_BARRIER:
      counts[RUNG_BARRIERS]++;
      break;
    case SIM_EXCHANGE:
      counts[RUNG_EXCHANGES]++;
      break;
    case SIM_FMA:
      counts[RUNG_FLOPS] += 2 * now->lanes;
      break;
    case SIM_JOINED:
      break;
    default:
      count_access(now, counts);
  }
}

/* Logs are played up to the block's barrier, where a thread's next basic block is not known yet: a
 * branch that comes first after it is counted when the threads have gone on, for the block with the
 * barrier. */
static void count_first_branch(sim_profile *profile, const sim_thread *warp, int lanes) {
  const int64_t heads[SIM_WARP] = {0};
  sim_step now = {0};
  sim_pc last = 0;
  for (int lane = 0; lane < lanes; lane++) {
    const sim_log *log = &warp[lane].log;
    if (log->last == 0 || log->count == 0) continue;
    if (last != 0 && log->last != last) return;
    last = log->last;
    now.numbers[now.lanes++] = lane;
  }
  if (now.lanes > 0) counts_at(profile, last)[RUNG_DIVERGENT_BRANCHES] += part(&now, warp, heads);
}

/* ---- accesses that a compiler joins ---------------------------------------------------------- */

/* Where in the thread's log, from `at` on, the same instruction goes on at that address with
 * nothing but basic blocks and arithmetic in between; -1: nowhere. */
static int64_t next_neighbour(const sim_log *log, int64_t at, const sim_event *one,
                              uintptr_t address) {
  while (at < log->count && (log->events[at].kind == SIM_FMA || log->events[at].kind == SIM_STEP))
    at++;
  if (at == log->count) return -1;
  const sim_event *next = &log->events[at];
  return next->pc == one->pc && next->kind == one->kind && next->shared &&
                 next->bytes == one->bytes && next->address == address
             ? at
             : -1;
}

static bool may_join(const sim_event *one) {
  return one->shared && (one->kind == SIM_LOAD || one->kind == SIM_STORE) &&
         one->bytes >= LEAST_JOINED && one->bytes < WIDEST;
}

/* Finds the instructions that go on for 8 or 16 bytes and begin now here, now there between
 * multiples of that: nvcc, which joins for all threads and all rounds or for none, does not join
 * those. */
static void find_apart(sim_profile *profile, const sim_log *log) {
  for (int64_t at = 0; at < log->count; at++) {
    const sim_event *one = &log->events[at];
    if (!may_join(one)) continue;
    uintptr_t end = one->address + one->bytes;
    for (int64_t next = at; (next = next_neighbour(log, next + 1, one, end)) >= 0; at = next)
      end += one->bytes;
    if (end - one->address == one->bytes) continue;
    place *of = place_at(profile, one->pc);
    if (!of->begun) of->first = one->address % WIDEST;
    of->begun = true;
    for (unsigned wide = WIDEST; wide > one->bytes; wide /= 2)
      if (end - one->address >= wide && (one->address - of->first) % wide != 0 &&
          (of->apart == 0 || of->apart > wide))
        of->apart = (uint8_t)wide;
  }
}

/* Whether every thread of the step goes on so, `count` times in all: where each does. */
static bool can_join(const sim_step *now, const sim_thread *warp, const int64_t *heads, int count,
                     int64_t found[SIM_WARP][MOST_JOINED]) {
  for (int i = 0; i < now->lanes; i++) {
    const sim_event *one = now->events[i];
    const int lane = now->numbers[i];
    int64_t at = heads[lane];
    for (int k = 1; k < count; k++) {
      at = found[i][k] =
          next_neighbour(&warp[lane].log, at, one, one->address + (uintptr_t)k * one->bytes);
      if (at++ < 0) return false;
    }
  }
  return true;
}

/* An instruction that goes on through shared memory from one round of a loop to the next, nothing
 * else touching memory in between, is one of 16 or of 8 bytes once nvcc has unrolled the loop,
 * where every thread stands at a multiple of that, if all begin alike. Neighbours that are two
 * instructions of the source are not: where they begin nvcc seldom knows. */
static void join(sim_profile *profile, const sim_step *now, sim_thread *warp,
                 const int64_t *heads) {
  const sim_event *one = now->events[0];
  const int bytes = one->bytes;
  int64_t found[SIM_WARP][MOST_JOINED];
  if (!may_join(one)) return;
  const int apart = place_at(profile, one->pc)->apart;
  for (int wide = apart ? apart / 2 : WIDEST; wide > bytes; wide /= 2) {
    bool fits = true;
    for (int i = 0; i < now->lanes && fits; i++)
      fits = now->events[i]->bytes == bytes && now->events[i]->address % (unsigned)wide == 0;
    if (!fits || !can_join(now, warp, heads, wide / bytes, found)) continue;
    for (int i = 0; i < now->lanes; i++) {
      sim_event *events = warp[now->numbers[i]].log.events;
      events[heads[now->numbers[i]] - 1].bytes = (uint8_t)wide;
      for (int k = 1; k < wide / bytes; k++) events[found[i][k]].kind = SIM_JOINED;
    }
    return;
  }
}

/* ---- playing back --------------------------------------------------------------------------- */

static void play_warp(sim_profile *profile, sim_thread *warp, int lanes) {
  int64_t heads[SIM_WARP] = {0};
  const bool kept = is_kept(profile, warp);
  profile->begun = NULL;
  count_first_branch(profile, warp, lanes);
  for (;;) {
    sim_step now = {0};
    sim_pc lowest = UINTPTR_MAX;
    for (int lane = 0; lane < lanes; lane++) {
      const sim_log *log = &warp[lane].log;
      if (heads[lane] < log->count && log->events[heads[lane]].pc < lowest)
        lowest = log->events[heads[lane]].pc;
    }
    if (lowest == UINTPTR_MAX) break;
    for (int lane = 0; lane < lanes; lane++) {
      const sim_log *log = &warp[lane].log;
      if (heads[lane] >= log->count || log->events[heads[lane]].pc != lowest) continue;
      const sim_event *event = &log->events[heads[lane]];
      /* The two sides of an asynchronous copy have one address. */
      if (now.lanes > 0 &&
          (event->kind != now.events[0]->kind || event->shared != now.events[0]->shared))
        continue;
      now.numbers[now.lanes] = lane;
      now.events[now.lanes++] = event;
      heads[lane]++;
      if (event->kind == SIM_STEP) warp[lane].log.last = lowest;
    }
    join(profile, &now, warp, heads);
    count_step(profile, &now, warp, heads, lanes);
    if (kept) keep_step(profile, &now, warp, lanes);
  }
  for (int lane = 0; lane < lanes; lane++) warp[lane].log.count = 0;
}

void sim_count_block(sim_block *block) {
  sim_profile *profile = block->worker->state->profile;
  const int threads = block->worker->run->threads;
  if (profile == NULL) return;
  for (int i = 0; i < threads; i++) find_apart(profile, &block->threads[i].log);
  for (int first = 0; first < threads; first += SIM_WARP)
    play_warp(profile, &block->threads[first],
              threads - first < SIM_WARP ? threads - first : SIM_WARP);
}

/* Room for one event more, of which every member is to be written; NULL: there is none. */
static sim_event *next_event(sim_thread *self) {
  sim_log *log = &self->log;
  if (log->count == log->room) {
    sim_profile *profile = self->block->worker->state->profile;
    const int64_t room = log->room ? log->room * 2 : 256;
    sim_event *more = NULL;
    if (room <= MOST_EVENTS) more = realloc(log->events, (size_t)room * sizeof *more);
    if (more == NULL) {
      *(room <= MOST_EVENTS ? &profile->no_memory : &profile->too_long) = true;
      return NULL;
    }
    log->events = more;
    log->room = room;
  }
  return &log->events[log->count++];
}

/* Member by member: a whole one, made elsewhere out of its parts, would wait for each of them. */
static void log_event(sim_thread *self, sim_event_kind kind, uintptr_t address, size_t bytes,
                      bool shared, sim_pc pc) {
  sim_event *event = next_event(self);
  if (event == NULL) return;
  event->pc = pc;
  event->address = address;
  event->kind = (uint8_t)kind;
  event->bytes = (uint8_t)bytes;
  event->shared = shared;
  event->copy = SIM_NO_COPY;
  event->to = 0;
}

/* A GPU's widest access has 16 bytes: a longer one of the source, of a structure, is several, each
 * as wide as its address and what is left allow. What is said of sectors holds for both: those of
 * global memory stay whole. */
void sim_count_log(sim_thread *self, sim_event_kind kind, const void *address, size_t bytes,
                   bool shared, sim_pc pc) {
  uintptr_t at = (uintptr_t)address;
  while (shared && bytes > WIDEST) {
    size_t piece = WIDEST;
    while (piece > 1 && at % piece != 0) piece /= 2;
    log_event(self, kind, at, piece, shared, pc);
    at += piece;
    bytes -= piece;
  }
  log_event(self, kind, at, bytes, shared, pc);
}

void sim_count_copy(sim_thread *self, sim_copying copy) {
  sim_event *load = &self->log.events[self->log.count - 2], *store = load + 1;
  load->copy = store->copy = (uint8_t)copy;
  if (copy == SIM_COPY_SECTORS) load->to = (uint32_t)(store->address / SIM_SECTOR);
}

/* ---- launches and profiles ------------------------------------------------------------------ */

rung_status sim_count_begin(rung_state *state, const sim_run *run) {
  sim_profile *profile = state->profile;
  const rung_sim_launch *launch = run->launch;
  if (profile == NULL) return RUNG_OK;
  int i = 0;
  while (i < profile->count && (profile->kernels[i].function != launch->function ||
                                strcmp(profile->kernels[i].seen.name, run->kernel) != 0))
    i++;
  if (i == profile->count) {
    kernel *more = realloc(profile->kernels, ((size_t)i + 1) * sizeof *more);
    if (more == NULL)
      return rung_fail(run->error, RUNG_OUT_OF_MEMORY, "no host memory for a kernel's counts");
    profile->kernels = more;
    memset(&more[i], 0, sizeof more[i]);
    more[i].function = launch->function;
    memcpy(more[i].seen.name, run->kernel, RUNG_KERNEL_NAME);
    profile->count++;
  }
  kernel *of = profile->now = &profile->kernels[i];
  of->seen.launches++;
  of->seen.blocks += run->blocks;
  of->seen.warps += run->blocks * ((run->threads + SIM_WARP - 1) / SIM_WARP);
  of->seen.threads = run->threads;
  of->seen.shared_bytes = (int64_t)launch->shared_bytes;
  return RUNG_OK;
}

rung_status sim_count_end(rung_state *state, const sim_run *run) {
  const sim_profile *profile = state->profile;
  if (profile == NULL) return RUNG_OK;
  if (profile->no_memory)
    return rung_fail(run->error, RUNG_OUT_OF_MEMORY, "no host memory to count kernel %s in",
                     run->kernel);
  if (profile->too_long)
    return rung_fail(
        run->error, RUNG_TOO_LARGE,
        "a thread of kernel %s does more than %d things between two barriers, too many "
        "to count; expected: a smaller size",
        run->kernel, MOST_EVENTS);
  return RUNG_OK;
}

rung_status sim_profile_begin(rung_state *state, bool keep, rung_error *error) {
  if (!sim_sees_accesses())
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "this build's simulator cannot count: its kernels are compiled for another "
                     "sanitizer; expected: a build with RUNG_SANITIZE empty");
  sim_profile_drop(state);
  state->profile = calloc(1, sizeof *state->profile);
  if (state->profile == NULL)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for a profile");
  state->profile->keep = keep;
  return RUNG_OK;
}

void sim_profile_drop(rung_state *state) {
  sim_profile *profile = state->profile;
  if (profile == NULL) return;
  for (int i = 0; i < profile->count; i++) {
    free(profile->kernels[i].places);
    free(profile->kernels[i].seen.steps);
  }
  free(profile->kernels);
  free(profile);
  state->profile = NULL;
}

static int by_line(const void *a, const void *b) {
  const rung_profile_line *x = a, *y = b;
  if (x->file != y->file) {
    if (x->file == NULL || y->file == NULL) return x->file == NULL ? 1 : -1;
    const int order = strcmp(x->file, y->file);
    if (order != 0) return order;
  }
  return (x->line > y->line) - (x->line < y->line);
}

/* The steps and their lines; they are the profile's from now on. */
static bool gather_steps(kernel *from, rung_profile_kernel *to) {
  *to = from->seen;
  from->seen.steps = NULL;
  for (int64_t i = 0; i < to->step_count; i++) {
    rung_profile_step *step = &to->steps[i];
    if (sim_line_of(step->place, &step->file, &step->line)) continue;
    step->file = NULL;
    if (errno == ENOMEM) return false;
  }
  return true;
}

/* The places' counts, gathered by line. */
static bool gather_lines(const kernel *from, bool flops, rung_profile_kernel *to) {
  to->lines = calloc(from->used + 1, sizeof *to->lines);
  if (to->lines == NULL) return false;
  size_t count = 0;
  for (size_t i = 0; i < from->room; i++) {
    if (from->places[i].pc == 0) continue;
    rung_profile_line *line = &to->lines[count++];
    line->counts = from->places[i].counts;
    if (!flops) line->counts.at[RUNG_FLOPS] = RUNG_NOT_COUNTED;
    if (!sim_line_of(from->places[i].pc, &line->file, &line->line)) {
      line->file = NULL;
      if (errno == ENOMEM) return false;
    }
    rung_counts_add(&to->total, &line->counts);
  }
  qsort(to->lines, count, sizeof *to->lines, by_line);
  for (size_t i = 0; i < count; i++) {
    rung_profile_line *last = to->line_count > 0 ? &to->lines[to->line_count - 1] : NULL;
    if (last != NULL && by_line(last, &to->lines[i]) == 0)
      rung_counts_add(&last->counts, &to->lines[i].counts);
    else
      to->lines[to->line_count++] = to->lines[i];
  }
  return true;
}

rung_status sim_profile_end(rung_state *state, rung_profile *profile, rung_error *error) {
  sim_profile *made = state->profile;
  memset(profile, 0, sizeof *profile);
  if (made == NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "no profile was begun on the simulated GPU");
  profile->kernels = calloc((size_t)made->count + 1, sizeof *profile->kernels);
  bool good = profile->kernels != NULL;
  for (int i = 0; good && i < made->count; i++) {
    profile->count = i + 1;
    good = gather_steps(&made->kernels[i], &profile->kernels[i]) &&
           gather_lines(&made->kernels[i], !made->no_flops, &profile->kernels[i]);
  }
  sim_profile_drop(state);
  if (good) return RUNG_OK;
  rung_profile_free(profile);
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for a profile");
}
