/* Inside the simulator: what its files share. One subject a file:
 *
 *   surface.h    CUDA's names for kernels           fibre.c      stacks and switching
 *   machine.h    what those names are built from    run.c        launches, blocks, threads
 *   sim.c        the backend's table                warp.c       what lanes do together
 *   memory.c     device memory and its guards       atomics.c    atomic operations
 *   texture.c    reads through texture objects      constant.c   constant memory
 *   watch.c      the compiler's call-backs          race.c       accesses without a barrier
 *   count.c      a warp's steps, in lockstep        access.c     its sectors, conflicts, depth
 *   lines.c      addresses into lines of source     flops.c      into floating-point operations
 */
#ifndef RUNG_BACKEND_SIM_SIM_H
#define RUNG_BACKEND_SIM_SIM_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/backend.h"
#include "backend/sim/fibre.h"
#include "backend/sim/machine.h"
#include "core/random.h"
#include "core/work.h"

enum {
  SIM_WARP = 32,
  SIM_SECTOR = 32,             /* bytes that memory moves at once */
  SIM_MOST_THREADS = 1024,     /* a block */
  SIM_PLAIN_SHARED = 48 << 10, /* bytes of dynamic shared memory without asking */
  SIM_MOST_WORKERS = 16,
  SIM_MARGIN = 4096, /* bytes beside shared and device memory that belong to nobody */
  SIM_POISON = 0xFF  /* in every byte of shared memory when a block begins */
};

typedef uintptr_t sim_pc; /* an address in a kernel's code */

/* ---- threads, blocks, workers: run.c -------------------------------------------------------- */

typedef enum sim_wait {
  SIM_READY,
  SIM_AT_BARRIER,
  SIM_IN_EXCHANGE,
  SIM_POLLING,
  SIM_ENDED
} sim_wait;

/* What a thread did, in order: kept while launches are counted. */
typedef enum sim_event_kind {
  SIM_STEP, /* a basic block begins */
  SIM_LOAD,
  SIM_STORE,
  SIM_ATOMIC,
  SIM_BARRIER,
  SIM_EXCHANGE,
  SIM_FMA,
  SIM_JOINED /* an access that was counted with one before it */
} sim_event_kind;

/* Of an asynchronous copy, which is a load and then a store: how it comes. */
typedef enum sim_copying {
  SIM_NO_COPY,
  SIM_COPY_CACHED, /* by way of the level 1 cache */
  SIM_COPY_SECTORS /* past it: sectors of global memory to sectors of shared memory */
} sim_copying;

typedef struct sim_event {
  sim_pc pc;
  uintptr_t address;
  uint8_t kind, bytes;
  bool shared;
  uint8_t copy; /* a sim_copying */
  uint32_t to;  /* SIM_COPY_SECTORS, the load: the sector of shared memory, its last bits */
} sim_event;

typedef struct sim_log {
  sim_event *events;
  int64_t count, room;
  sim_pc last; /* the last basic block played; 0: none yet */
} sim_log;

typedef struct sim_block sim_block;

typedef struct sim_thread {
  sim_block *block;
  rung_sim_index index;
  int number; /* in the block: lane number % 32 of warp number / 32 */
  sim_fibre *fibre;
  sim_wait wait;
  sim_pc pc; /* where it waits */
  /* in an exchange */
  rung_sim_exchange exchange;
  unsigned mask;
  int from;
  uint64_t value; /* what it brought, then what it got */
  bool watched;   /* accesses are looked at */
  bool awaited;   /* it has waited for the launch before */
  bool counted;   /* its launch is counted: what it does goes to the log */
  uint32_t clock; /* race.c: its own count of exchanges */
  sim_log log;    /* count.c */
} sim_thread;

typedef struct sim_worker sim_worker;

struct sim_block {
  sim_block *next;
  sim_worker *worker;
  rung_sim_index index;
  int64_t number;
  sim_thread threads[SIM_MOST_THREADS];
  int ready[SIM_MOST_THREADS], ready_count;
  int polling[SIM_MOST_THREADS], polling_count;
  int at_barrier, ended;
  rung_sim_vote
      vote; /* of this barrier: how many threads voted for, at how many places they wait */
  int votes, places, outcome; /* outcome: of the barrier before */
  sim_pc place;               /* the last thread's to come */
  uint32_t barriers;          /* passed: race.c's time */
  uint32_t stamp;             /* tells blocks apart in race.c's cells */
  uint32_t awaited;         /* barriers passed when one of its threads had; UINT32_MAX: none has */
  bool synchronised;        /* it has used an atomic on global memory */
  bool moved;               /* something else than polling happened since it was looked at */
  bool has_static_shared;   /* the process's static shared memory holds this block's */
  bool wants_static_shared; /* others have had it in between: it goes on with what it kept */
  struct sim_piece *static_saved;
  size_t static_count, static_room;
  char *shared, *shared_memory;
  size_t shared_room;
  uint64_t draw;         /* the state of the order's random numbers */
  struct sim_race *race; /* NULL: not examined */
};

/* A launch as its workers share it. */
typedef struct sim_run {
  rung_state *state;
  const rung_sim_launch *launch;
  char kernel[RUNG_KERNEL_NAME]; /* its name without template arguments */
  int threads;                   /* a block */
  int64_t blocks;
  int workers, most_resident;
  uint64_t seed;
  uint32_t first_stamp;  /* of this launch's blocks; race.c */
  uint32_t stamp_before; /* of the launch before's */
  bool shuffled;         /* blocks in random order: block k is (k * stride + start) mod blocks */
  uint64_t stride, start;
  _Atomic int resident;  /* blocks begun and not ended, of all workers */
  _Atomic int64_t next;  /* block to hand out */
  _Atomic int64_t done;  /* blocks that ended: progress, seen from a stalled worker */
  _Atomic int64_t moves; /* anything that may end another worker's polling */
  _Atomic int working;   /* workers that have begun and not ended */
  _Atomic bool failed;   /* status and *error are written */
  rung_status status;
  pthread_mutex_t lock; /* of error */
  rung_error *error;
} sim_run;

/* One of a launch's host threads; kept from launch to launch for its fibres and blocks. */
struct sim_worker {
  rung_state *state;
  sim_run *run;
  int number;
  sim_shore shore;
  sim_fibre *free_fibres;
  sim_block *free_blocks, *resident;
  uint64_t clock;           /* between launches; during one it is in sim_steps */
  _Atomic int64_t tired_at; /* run->moves at which it has looked often enough; 0: not so */
};

/* The thread that runs on this host thread; NULL: none, the host's own code does. It is looked at
 * on every access that is simulated, and a call for each would be a sixth of all time. For it this
 * part's thread storage, less than 200 bytes, lies in what the loader keeps free for libraries that
 * come later, as libgomp's does. */
extern __thread sim_thread *sim_self __attribute__((tls_model("initial-exec")));
/* Beside it for the same reason, and for every basic block: the clock of the worker that runs on
 * this host thread, and whether its launch is counted. */
typedef struct sim_stepping {
  uint64_t clock;
  bool counted;
} sim_stepping;
extern __thread sim_stepping sim_steps __attribute__((tls_model("initial-exec")));

/* Frees what a worker kept from launch to launch. */
void sim_drop_worker(sim_worker *worker);
/* Leaves the running thread, in the state it set, for others. */
void sim_yield(sim_thread *self);
/* Puts a thread among those that may run. */
void sim_wake(sim_thread *thread);
/* The launch fails; only the first failure's sentence is kept. */
void sim_fail(sim_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for want of memory: RUNG_OUT_OF_MEMORY. */
void sim_fail_memory(sim_run *run, const char *what);
/* "block (0, 0, 0), thread (3, 0, 0)" */
void sim_thread_text(const sim_thread *thread, char *text, size_t room);
/* After a lane ended: exchanges of its warp that waited for nobody else. warp.c */
void sim_settle_warp(sim_block *block, int warp);

/* ---- static shared memory: static.c --------------------------------------------------------- */

/* Waits for its turn. Whoever has it ends, or polls and gives it back, whatever others do. */
void sim_take_static(sim_block *block);
/* What the block wrote is kept for when it takes it again, or forgotten. */
void sim_give_static(sim_block *block, bool keep);

/* ---- device memory: memory.c ---------------------------------------------------------------- */

typedef struct sim_allocation {
  struct sim_allocation *next;
  char *memory;           /* as malloc gave it; what may be used begins a margin later */
  char *first, *end;      /* what may be used */
  char *open, *closed;    /* between these: not guarded */
  struct sim_cell *cells; /* race.c: one a 4-byte word; NULL until it is needed */
} sim_allocation;

rung_status sim_allocate(rung_state *state, size_t bytes, void **memory, rung_error *error);
void sim_release(rung_state *state, void *memory);
void sim_guard(rung_state *state, void *memory, size_t bytes, bool on);
/* The allocation an address lies in, its margins included; NULL: none. */
sim_allocation *sim_find_allocation(rung_state *state, const void *address);

/* ---- constant memory: constant.c ------------------------------------------------------------ */

/* What was copied to one symbol. */
typedef struct sim_constant {
  char *first, *end;
} sim_constant;

bool sim_is_constant(const char *address);
/* That which holds the address, else the nearest to it; NULL: nothing was copied. */
const sim_constant *sim_find_constant(const rung_state *state, const char *address);

/* ---- what is watched: watch.c, race.c, count.c ---------------------------------------------- */

/* What every access goes through: 1 a load, 2 a store, 3 an atomic. */
typedef enum sim_access { SIM_READS = 1, SIM_WRITES = 2, SIM_BOTH = 3 } sim_access;
void sim_touch(sim_thread *self, const void *address, size_t bytes, sim_access access, bool atomic,
               sim_pc pc);
/* A read through a texture, whose first element is at `texture`. */
void sim_touch_texel(sim_thread *self, const void *texture, const void *address, size_t bytes,
                     sim_pc pc);
/* Of a thread that is counted: a barrier, an exchange, a step or an FMA. */
void sim_note(sim_thread *self, sim_event_kind kind, sim_pc pc);
/* Whether kernels of this build call back: not where another sanitizer is built in. */
bool sim_sees_accesses(void);
bool sim_is_watched(const rung_state *state);

bool sim_race_begin(sim_block *block);
void sim_race_drop(sim_block *block);
void sim_race_exchange(sim_block *block, int warp, unsigned lanes);
void sim_race_shared(sim_thread *self, size_t offset, bool is_static, size_t bytes,
                     sim_access access, bool atomic, sim_pc pc);
void sim_race_global(sim_thread *self, sim_allocation *in, const char *address, size_t bytes,
                     sim_access access, bool atomic, sim_pc pc);
/* False: what is read through a texture was written in this launch, which is reported. */
bool sim_race_texel(sim_thread *self, const sim_allocation *in, const char *address, size_t bytes,
                    sim_pc pc);

/* A step of a warp: the threads that take it, and what each of them does. */
typedef struct sim_step {
  int lanes;
  const sim_event *events[SIM_WARP];
  int numbers[SIM_WARP]; /* the lanes' */
} sim_step;
/* The sectors a warp-level access touches, and how many of their bytes are asked for: what several
 * threads ask for moves once. A copy of whole sectors counts a sector once for every sector of
 * shared memory that has a part of it. access.c */
typedef struct sim_touched {
  int64_t sectors, bytes;
} sim_touched;
sim_touched sim_touched_by(const sim_step *now);
/* Passes over the banks beyond the one needed by each group of lanes (core/banks.h). An
 * asynchronous copy has none: its sectors are written one by one as they come. */
int64_t sim_conflicts_of(const sim_step *now);
/* The most threads that meet at one address. */
int64_t sim_depth_of(const sim_step *now);

/* Takes a block's logs in: at a barrier, and when it ends. */
void sim_count_block(sim_block *block);
/* Around a launch: which kernel its counts go to; whether all of them could be kept. */
rung_status sim_count_begin(rung_state *state, const sim_run *run);
rung_status sim_count_end(rung_state *state, const sim_run *run);
/* The last two events of a thread's log are a copy's two sides. */
void sim_count_copy(sim_thread *self, sim_copying copy);
void sim_count_log(sim_thread *self, sim_event_kind kind, const void *address, size_t bytes,
                   bool shared, sim_pc pc);
rung_status sim_profile_begin(rung_state *state, bool keep, rung_error *error);
rung_status sim_profile_end(rung_state *state, rung_profile *profile, rung_error *error);
void sim_profile_drop(rung_state *state);

/* The process's static shared memory: what kernels declare, gathered by the linker (shared.ld). */
extern char __start_rung_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_rung_shared[] __attribute__((weak, visibility("hidden")));
static inline size_t sim_static_bytes(void) {
  return (size_t)((uintptr_t)__stop_rung_shared - (uintptr_t)__start_rung_shared);
}

/* ---- lines of source: lines.c --------------------------------------------------------------- */

/* The line of an address in this program; false: not known, and errno is ENOMEM where only memory
 * is wanting. *file lives as long as the process. */
bool sim_has_lines(void);
bool sim_line_of(sim_pc pc, const char **file, int *line);
/* Additions, multiplications, divisions and roots of the basic block that begins at an address;
 * -1: not known, and errno as above. flops.c */
int sim_flops_of(sim_pc pc);
/* "src/ops/reduce/cuda/strided.cu:27", else the address. */
void sim_line_text(sim_pc pc, char *text, size_t room);

/* ---- the opened device: sim.c --------------------------------------------------------------- */

typedef struct sim_permit {
  const void *function;
  size_t bytes;
} sim_permit;

struct rung_state {
  rung_work work; /* first: core/work.h */
  rung_device device;
  int host_threads;
  sim_worker workers[SIM_MOST_WORKERS];
  sim_allocation *allocations;
  sim_permit *permits; /* kernels that may ask for more shared memory */
  int permit_count;
  rung_texture *textures; /* texture object k is number k - 1 */
  int texture_count;
  sim_constant *constants;
  int constant_count;
  bool examined;
  int patience;  /* seconds that blocks may poll and nothing changes, before it counts as a hang */
  uint64_t seed; /* of the next launch */
  uint32_t stamps;             /* given out to blocks; one worker when examined */
  uint32_t stamp_before;       /* the first of the launch before's */
  struct sim_profile *profile; /* NULL: launches are not counted */
  struct timespec marks[2];
  bool marked[2];
};

#endif
