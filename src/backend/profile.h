/* What a device did while kernels ran: counts, by kernel and by line of source.
 *
 * The simulator counts every access of every thread; a GPU is asked for the same quantities
 * through its hardware counters. docs/SIMULATOR.md defines each count and sets the two beside one
 * another. A count that could not be had is RUNG_NOT_COUNTED. */
#ifndef RUNG_BACKEND_PROFILE_H
#define RUNG_BACKEND_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/* "Warp-level": one for all threads of a warp that do it together. */
typedef enum rung_counter {
  RUNG_GLOBAL_LOADS,        /* warp-level loads from global memory ("requests") */
  RUNG_GLOBAL_LOAD_BYTES,   /* bytes of it that any thread asked for, each counted once */
  RUNG_GLOBAL_LOAD_SECTORS, /* sectors of 32 bytes that had to move for it */
  RUNG_GLOBAL_STORES,       /* the same for stores */
  RUNG_GLOBAL_STORE_BYTES,
  RUNG_GLOBAL_STORE_SECTORS,
  RUNG_GLOBAL_ACCESSES,       /* loads, stores and atomics on global memory, thread by thread */
  RUNG_SHARED_LOADS,          /* warp-level loads from shared memory */
  RUNG_SHARED_LOAD_CONFLICTS, /* passes more than they need: two words of one bank at a time */
  RUNG_SHARED_STORES,
  RUNG_SHARED_STORE_CONFLICTS,
  RUNG_GLOBAL_ATOMICS,     /* warp-level */
  RUNG_SHARED_ATOMICS,     /* warp-level */
  RUNG_ATOMIC_DEPTH,       /* most threads of a warp that met at one address: the largest */
  RUNG_BARRIERS,           /* block barriers, counted once a warp */
  RUNG_EXCHANGES,          /* warp-level shuffles, votes, matches, reductions, __syncwarp */
  RUNG_STEPS,              /* basic blocks run by a warp */
  RUNG_PARTIAL_STEPS,      /* of those, with some of the warp's threads only */
  RUNG_DIVERGENT_BRANCHES, /* branches at which the threads of a warp parted */
  RUNG_FLOPS,              /* additions, multiplications, divisions, roots; an FMA counts 2 */
  RUNG_COUNTERS
} rung_counter;

#define RUNG_NOT_COUNTED INT64_MIN

typedef struct rung_counts {
  int64_t at[RUNG_COUNTERS];
} rung_counts;

typedef struct rung_profile_line {
  const char *file; /* as the compiler was given it; NULL: not known */
  int line;
  rung_counts counts;
} rung_profile_line;

enum {
  RUNG_KERNEL_NAME = 120,
  RUNG_LANES = 32,          /* of a warp */
  RUNG_KEPT_WARPS = 4,      /* of a block whose steps are kept, the first ones */
  RUNG_KEPT_STEPS = 1 << 14 /* of a kernel */
};

typedef enum rung_deed {
  RUNG_DID_WORK, /* a basic block with nothing of what follows, taken by part of a warp */
  RUNG_DID_LOAD,
  RUNG_DID_STORE,
  RUNG_DID_ATOMIC,
  RUNG_DID_BARRIER,
  RUNG_DID_EXCHANGE
} rung_deed;

/* What threads of a warp did together. */
typedef struct rung_profile_step {
  uint64_t place;   /* in the kernel's code: that of several warps is one step of the source */
  const char *file; /* as the compiler was given it; NULL: not known */
  int line, warp;
  int phase; /* how many barriers its block had passed */
  rung_deed deed;
  bool shared;                  /* memory of that kind */
  uint32_t lanes;               /* that took part, a bit each */
  uint32_t all;                 /* that the warp has */
  int bytes;                    /* of each lane's access */
  int sectors, moved;           /* of global loads and stores: their sectors, and bytes asked for */
  int conflicts;                /* of shared loads and stores: passes more than needed */
  int depth;                    /* of atomics: threads that met at one address, at most */
  uint64_t address[RUNG_LANES]; /* of each lane that took part */
} rung_profile_step;

/* All launches of one kernel. */
typedef struct rung_profile_kernel {
  char name[RUNG_KERNEL_NAME];
  int64_t launches, blocks, warps; /* sums over the launches */
  int threads;                     /* of a block, in the last launch */
  int64_t shared_bytes;            /* dynamic shared memory of a block, in the last launch */
  rung_counts total;
  rung_profile_line *lines; /* by file and line; none where the device cannot tell */
  int line_count;
  /* Where they were to be kept: the steps of the first warps of the first block of the first
   * launch. Between barriers each warp's stand behind one another; places rise with the source. */
  rung_profile_step *steps;
  int64_t step_count, steps_lost; /* lost: further ones, of which too many came */
} rung_profile_kernel;

typedef struct rung_profile {
  rung_profile_kernel *kernels; /* in the order of their first launch */
  int count;
  void *owned; /* the backend's own; rung_profile_free() frees it with the rest */
} rung_profile;

#ifdef __cplusplus
extern "C" {
#endif

/* "global_load_sectors": a counter's name in records. */
const char *rung_counter_name(rung_counter counter);
/* *sum takes `more` in: sums add up, depths take the larger; what is not counted in either is not
 * counted in the result. */
void rung_counts_add(rung_counts *sum, const rung_counts *more);
/* Frees what a backend's profile_end() made; leaves it empty. */
void rung_profile_free(rung_profile *profile);

#ifdef __cplusplus
}
#endif
#endif
